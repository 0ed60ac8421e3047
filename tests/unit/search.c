/* search.c - budgets, set operations, the simple searches, and failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "answer/answer.h"
#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"
#include "search/exact/state.h"
#include "search/search.h"
#include "support/case.h"

/* A predictor with one relation pair over random links. */
typedef struct field {
    acq_predictor predictor;
    acq_links *links[2];
} field;

static acq_status open_field(const acq_predictor *self, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    (void)error;
    *out = ((const field *)self)->links[relation];
    return ACQ_OK;
}

static const acq_predictor_ops FIELD_OPS = {.open_links = open_field};

/* Symmetric, without loops: a random graph of the given density. */
static void field_init(field *f, uint32_t n, double density)
{
    acq_random random = acq_random_start(7, n);
    acq_link *links = malloc(2 * sizeof *links * n * n), *mirror = links + (size_t)n * n;
    size_t total = 0;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < a; b++)
            if (acq_random_unit(&random) < density) {
                links[total++] = (acq_link){a, b, 1};
                links[total++] = (acq_link){b, a, 1};
            }
    memcpy(mirror, links, total * sizeof *links);
    *f = (field){.predictor = {.ops = &FIELD_OPS, .name = "field"}};
    assert_int_equal(acq_links_new(links, total, n, false, &f->links[0]), ACQ_OK);
    assert_int_equal(acq_links_new(mirror, total, n, false, &f->links[1]), ACQ_OK);
    free(links);
}

static void field_deinit(field *f)
{
    acq_links_free(f->links[0]);
    acq_links_free(f->links[1]);
}

/* "There is a clique of k": all pairs of k variables are linked. */
static acq_problem clique(uint32_t k, uint32_t n_entities)
{
    acq_problem p = {.n_variables = k, .n_free = 1, .n_entities = n_entities};
    p.literals = calloc((size_t)k * k, sizeof *p.literals);
    for (uint32_t a = 0; a < k; a++)
        for (uint32_t b = 0; b < a; b++)
            p.literals[p.n_literals++] =
                (acq_literal){.left = {true, a}, .right = {true, b}, .relation = 0};
    return p;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLACK_MS = 500 };
#else
enum { SLACK_MS = 50 };
#endif

/* Processor time of this thread: what a search spends, whatever else the machine is doing. */
static int64_t cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void test_deadline_ends_a_hard_search_as_undecided(void **unused)
{
    field f;
    acq_search_result result;
    acq_search_params params = ACQ_SEARCH_DEFAULT;
    (void)unused;
    field_init(&f, 400, 0.6);
    acq_problem p = clique(40, 400);
    params.seconds = 0.2;
    for (uint64_t limit = 0; limit < 2; limit++) {
        params.limit = limit;
        int64_t begin = cpu_ms();
        assert_int_equal(acq_search_exact(&p, &f.predictor, &params, &result, NULL), ACQ_OK);
        int64_t ms = cpu_ms() - begin;
        assert_int_equal(result.outcome, ACQ_UNDECIDED);
        assert_int_equal(result.spent, ACQ_SPENT_TIME);
        assert_false(result.complete);
        assert_in_range(ms, 0, 200 + SLACK_MS);
        acq_search_result_deinit(&result);
    }
    free(p.literals);
    field_deinit(&f);
}

static double draw_threshold(acq_random *random)
{
    static const double often[] = {1e-6, 0.25, 0.5, 0.9999, 1.0};
    size_t i = acq_random_below(random, 8);
    double drawn = i < 5 ? often[i] : 0.01 + 0.98 * acq_random_unit(random);
    return acq_scoring_round_one(drawn);
}

/* A literal's score, its truth at a threshold, and the verifier's own rule, which shares no code.
 */
static void test_the_literal_rules_agree(void **unused)
{
    acq_random random = acq_random_start(5, 1);
    (void)unused;
    for (int i = 0; i < 200000; i++) {
        acq_scoring scoring = {
            .threshold = draw_threshold(&random),
            .binarize = acq_random_below(&random, 2) ? 0.0 : draw_threshold(&random),
            .negation_threshold = acq_random_below(&random, 2) ? -1.0 : draw_threshold(&random)};
        float link = acq_random_below(&random, 4) ? (float)draw_threshold(&random) : 0.0F;
        acq_cutoff cut = acq_cutoff_at(&scoring, scoring.threshold);
        for (int negated = 0; negated < 2; negated++) {
            double score = acq_search_score_link(&scoring, negated, (double)link);
            bool holds =
                negated ? acq_cutoff_holds_negated(&cut, link) : acq_cutoff_holds(&cut, link);
            assert_true(score == acq_verify_score_literal(&scoring, negated, (double)link));
            assert_int_equal(holds, score >= scoring.threshold);
        }
    }
}

static bool is_stopped(void *context)
{
    return ++*(int *)context > 2;
}

/* Random and climbing searches stop as well: whatever they have found by then is the answer. */
static void test_a_stop_ends_every_search_as_an_interrupt(void **unused)
{
    const acq_search_fn searches[] = {acq_search_exact, acq_search_random, acq_search_climb};
    field f;
    acq_search_params params = ACQ_SEARCH_DEFAULT;
    (void)unused;
    field_init(&f, 400, 0.6);
    acq_problem p = clique(40, 400);
    params.seconds = 0;
    params.steps = UINT64_MAX;
    for (size_t i = 0; i < sizeof searches / sizeof searches[0]; i++) {
        acq_search_result result;
        int n_calls = 0;
        params.stop = (acq_stop){.is_wanted = is_stopped, .context = &n_calls};
        assert_int_equal(searches[i](&p, &f.predictor, &params, &result, NULL), ACQ_OK);
        assert_int_equal(result.outcome, ACQ_UNDECIDED);
        assert_int_equal(result.spent, ACQ_SPENT_INTERRUPT);
        assert_int_equal(n_calls, 3);
        acq_search_result_deinit(&result);
    }
    free(p.literals);
    field_deinit(&f);
}

static void test_memory_limit_ends_a_search_as_undecided(void **unused)
{
    field f;
    acq_search_result result;
    acq_search_params params = ACQ_SEARCH_DEFAULT;
    (void)unused;
    field_init(&f, 400, 0.6);
    acq_problem p = clique(40, 400);
    params.memory_bytes = 20000;
    assert_int_equal(acq_search_exact(&p, &f.predictor, &params, &result, NULL), ACQ_OK);
    assert_int_equal(result.outcome, ACQ_UNDECIDED);
    assert_int_equal(result.spent, ACQ_SPENT_MEMORY);
    acq_search_result_deinit(&result);
    free(p.literals);
    field_deinit(&f);
}

/* x0 != x1 & x1 != x2 & ...: as many levels of branching as variables. */
static acq_problem chain(uint32_t n, uint32_t n_entities, bool is_free)
{
    acq_problem p = {.n_variables = n, .n_free = is_free ? n : 0, .n_entities = n_entities};
    p.literals = calloc(n, sizeof *p.literals);
    for (uint32_t v = 0; v + 1 < n; v++)
        p.literals[p.n_literals++] = (acq_literal){
            .is_equality = true, .is_negated = true, .left = {true, v}, .right = {true, v + 1}};
    return p;
}

static void test_depth_is_not_bounded_by_the_stack(void **unused)
{
    field f;
    acq_search_result result;
    acq_search_params params = ACQ_SEARCH_DEFAULT;
    (void)unused;
    field_init(&f, 30, 0.5);
    for (int is_free = 0; is_free < 2; is_free++) {
        acq_problem p = chain(40000, 30, is_free);
        params.limit = is_free ? 2 : 1;
        params.seconds = 0.3;
        int64_t begin = cpu_ms();
        assert_int_equal(acq_search_exact(&p, &f.predictor, &params, &result, NULL), ACQ_OK);
        assert_in_range(cpu_ms() - begin, 0, 300 + 2 * SLACK_MS);
        assert_int_not_equal(result.outcome, ACQ_NONE);
        acq_search_result_deinit(&result);
        free(p.literals);
    }
    acq_problem p = chain(3000, 30, false);
    params.limit = 1;
    params.seconds = 60;
    assert_int_equal(acq_search_exact(&p, &f.predictor, &params, &result, NULL), ACQ_OK);
    assert_int_equal(result.outcome, ACQ_ANSWERED);
    acq_search_result_deinit(&result);
    free(p.literals);
    field_deinit(&f);
}

/* r(x0, y) | r(x1, y) | ... with n variables: a clause that costs n at every look. */
static void test_deadline_holds_inside_a_wide_clause(void **unused)
{
    enum { N = 20000 };
    field f;
    acq_search_result result;
    acq_search_params params = ACQ_SEARCH_DEFAULT;
    acq_branch *leaves = calloc(N, sizeof *leaves), **children = calloc(N, sizeof *children);
    acq_branch root = {.kind = ACQ_BRANCH_OR, .children = children, .n_children = N};
    acq_branch *clauses[] = {&root};
    acq_problem p = {.n_variables = 2 * N, .n_entities = 300, .clauses = clauses, .n_clauses = 1};
    static const acq_search_fn searches[] = {acq_search_exact, acq_search_random, acq_search_climb};
    (void)unused;
    field_init(&f, 300, 0.02);
    for (uint32_t i = 0; i < N; i++) {
        leaves[i] = (acq_branch){.kind = ACQ_BRANCH_LITERAL,
                                 .literal = {.left = {true, 2 * i}, .right = {true, 2 * i + 1}}};
        children[i] = &leaves[i];
    }
    params.seconds = 0.2;
    params.steps = UINT64_MAX;
    for (int k = 0; k < 3; k++) {
        int64_t begin = cpu_ms();
        assert_int_equal(searches[k](&p, &f.predictor, &params, &result, NULL), ACQ_OK);
        assert_in_range(cpu_ms() - begin, 0, 200 + 2 * SLACK_MS);
        acq_search_result_deinit(&result);
    }
    free(leaves);
    free(children);
    field_deinit(&f);
}

static void test_a_clique_is_found_and_a_larger_one_is_disproved(void **unused)
{
    field f;
    acq_search_result result;
    acq_search_params params = ACQ_SEARCH_DEFAULT;
    (void)unused;
    field_init(&f, 30, 0.5);
    for (uint32_t k = 4; k <= 10; k += 6) {
        acq_problem p = clique(k, 30);
        assert_int_equal(acq_search_exact(&p, &f.predictor, &params, &result, NULL), ACQ_OK);
        assert_true(result.complete);
        assert_int_equal(result.outcome, k == 4 ? ACQ_ANSWERED : ACQ_NONE);
        acq_search_result_deinit(&result);
        free(p.literals);
    }
    field_deinit(&f);
}

static void test_thresholds_outside_their_range_are_refused(void **unused)
{
    test_case c;
    acq_problem *p = NULL;
    acq_search_result result;
    static const acq_scoring bad[] = {{0.0, 0, -1}, {1.5, 0, -1}, {0.5, 2, -1}, {0.5, 0, 0}};
    static const acq_search_fn searches[] = {acq_search_exact, acq_search_random, acq_search_climb};
    (void)unused;
    case_init(&c, 3);
    assert_int_equal(acq_problem_new(c.query, c.n_entities, &p, NULL), ACQ_OK);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 3; k++) {
            acq_error error = {0};
            acq_search_params params = ACQ_SEARCH_DEFAULT;
            params.scoring = bad[i];
            assert_int_equal(searches[k](p, &c.predictor, &params, &result, &error), ACQ_ERR_USAGE);
            assert_non_null(strstr(error.message, "threshold"));
            acq_search_result_deinit(&result);
        }
    acq_problem_free(p);
    case_deinit(&c);
}

static int compare_entities(const void *a, const void *b)
{
    acq_ent x = *(const acq_ent *)a, y = *(const acq_ent *)b;
    return x < y ? -1 : x > y;
}

static uint32_t random_set(acq_random *random, uint32_t n, acq_ent *out)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = (acq_ent)acq_random_below(random, 3000);
    qsort(out, n, sizeof *out, compare_entities);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || out[i] != out[kept - 1])
            out[kept++] = out[i];
    return kept;
}

/* Sizes from 0 to 2,000 on both sides reach the merging and both galloping ways. */
static void test_sets_equal_their_definition(void **unused)
{
    static acq_ent a[2000], b[2000], out[4000];
    static float scores[2000];
    acq_random random = acq_random_start(11, 0);
    acq_cutoff cut = {.positive = 0.5, .negated = 0.5};
    (void)unused;
    for (int round = 0; round < 400; round++) {
        uint32_t sizes[] = {0, 1, 3, 20, 200, 2000};
        uint32_t n = random_set(&random, sizes[acq_random_below(&random, 6)], a);
        uint32_t m = random_set(&random, sizes[acq_random_below(&random, 6)], b);
        for (uint32_t i = 0; i < m; i++)
            scores[i] = (float)acq_random_unit(&random);
        acq_row row = {.tails = b, .scores = round % 2 ? scores : NULL, .n = m};
        uint32_t kept = acq_exact_keep_row(a, n, row, &cut, out), k = 0;
        for (uint32_t i = 0; i < n; i++) {
            size_t at = acq_row_find(row, a[i]);
            if (at < m && (row.scores == NULL || scores[at] >= 0.5F))
                assert_true(k < kept && out[k++] == a[i]);
        }
        assert_int_equal(k, kept);
        kept = acq_exact_drop_row(a, n, row, &cut, out);
        k = 0;
        for (uint32_t i = 0; i < n; i++) {
            size_t at = acq_row_find(row, a[i]);
            if (at == m || (row.scores != NULL && 1.0 - (double)scores[at] >= 0.5))
                assert_true(k < kept && out[k++] == a[i]);
        }
        assert_int_equal(k, kept);
        kept = acq_exact_unite(a, n, b, m, out);
        for (uint32_t i = 1; i < kept; i++)
            assert_true(out[i - 1] < out[i]);
        for (uint32_t i = 0; i < n; i++)
            assert_non_null(bsearch(&a[i], out, kept, sizeof *out, compare_entities));
        for (uint32_t i = 0; i < m; i++)
            assert_non_null(bsearch(&b[i], out, kept, sizeof *out, compare_entities));
    }
}

static void test_sorting_orders_any_values(void **unused)
{
    static acq_ent set[3000], scratch[3000];
    acq_random random = acq_random_start(12, 0);
    (void)unused;
    for (int round = 0; round < 300; round++) {
        uint32_t n = (uint32_t)acq_random_below(&random, round % 2 ? 100 : 3000);
        unsigned shift = (unsigned)acq_random_below(&random, 64);
        uint64_t sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            set[i] = (acq_ent)(acq_random_next(&random) >> shift);
            sum += set[i];
        }
        acq_exact_sort(set, scratch, n);
        for (uint32_t i = 0; i < n; i++) {
            assert_true(i == 0 || set[i - 1] <= set[i]);
            sum -= set[i];
        }
        assert_int_equal(sum, 0);
    }
}

/* n_entities decides between bitmap and table. */
static void use_members(uint32_t n_entities, uint32_t range)
{
    static bool is_in[1000];
    acq_random random = acq_random_start(13, n_entities);
    members set;
    acq_exact_members_init(&set, n_entities);
    for (int round = 0; round < 50; round++) {
        uint32_t n = (uint32_t)acq_random_below(&random, 300);
        memset(is_in, 0, sizeof is_in);
        assert_int_equal(acq_exact_members_open(&set, n), ACQ_OK);
        for (uint32_t i = 0; i < n; i++) {
            acq_ent e = (acq_ent)acq_random_below(&random, range);
            members_add(&set, n_entities - 1 - e);
            is_in[e] = true;
        }
        for (uint32_t e = 0; e < range; e++)
            assert_int_equal(members_has(&set, n_entities - 1 - e), is_in[e]);
    }
    acq_exact_members_deinit(&set);
}

static void test_a_scratch_set_has_its_members_and_starts_empty(void **unused)
{
    (void)unused;
    use_members(1000, 1000);
    use_members(ACQ_EXACT_BITMAP_ENTITIES, 1000);
    use_members(ACQ_EXACT_BITMAP_ENTITIES + 1, 1000);
    use_members(UINT32_MAX - 1, 1000);
}

/* One long chain. Whatever its length, a walk along it from a constant looks at one entity a
 * step. */
static void test_an_anchored_query_costs_its_candidates_not_the_graph(void **unused)
{
    enum { N_STEPS = 12 };
    static const uint32_t sizes[] = {1000, 400000};
    uint64_t revisions[2];
    (void)unused;
    for (int k = 0; k < 2; k++) {
        uint32_t n = sizes[k];
        acq_link *links = malloc(2 * sizeof *links * n), *mirror = links + n;
        for (uint32_t i = 0; i + 1 < n; i++) {
            links[i] = (acq_link){i, i + 1, 1};
            mirror[i] = (acq_link){i + 1, i, 1};
        }
        field f = {.predictor = {.ops = &FIELD_OPS, .name = "chain"}};
        assert_int_equal(acq_links_new(links, n - 1, n, false, &f.links[0]), ACQ_OK);
        assert_int_equal(acq_links_new(mirror, n - 1, n, false, &f.links[1]), ACQ_OK);
        free(links);
        acq_literal walk[N_STEPS + 1];
        for (uint32_t i = 0; i < N_STEPS; i++)
            walk[i] = (acq_literal){.left = {true, i}, .right = {true, i + 1}};
        walk[N_STEPS] = (acq_literal){.left = {false, n / 2}, .right = {true, N_STEPS / 2}};
        acq_problem p = {.n_variables = N_STEPS + 1,
                         .n_free = 1,
                         .n_entities = n,
                         .literals = walk,
                         .n_literals = N_STEPS + 1};
        acq_search_params params = ACQ_SEARCH_DEFAULT;
        acq_search_result result;
        assert_int_equal(acq_search_exact(&p, &f.predictor, &params, &result, NULL), ACQ_OK);
        assert_int_equal(result.outcome, ACQ_ANSWERED);
        assert_int_equal(result.answers[0].values[0], n / 2 + 1 - N_STEPS / 2);
        assert_in_range(result.effort.memory_peak, 1, 100000);
        revisions[k] = result.effort.revisions;
        acq_search_result_deinit(&result);
        field_deinit(&f);
    }
    assert_int_equal(revisions[0], revisions[1]);
}

/* Whatever a simple search answers is true, and it never claims that there is none. */
/* 1 and 2 are linked to 0, and each to one more, of which one is not wanted. */
static void test_a_value_goes_with_all_that_its_list_drops(void **unused)
{
    enum { N = 300, N_PAIRS = N - 1 };
    acq_link pairs[N_PAIRS] = {{0, 1, 1}, {0, 2, 1}, {1, 3, 1}, {2, 4, 1}};
    acq_link links[2 * N_PAIRS], mirror[2 * N_PAIRS];
    (void)unused;
    for (uint32_t i = 4; i < N_PAIRS; i++)
        pairs[i] = (acq_link){i + 1, 5 + (i + 1) % (N - 5), 1};
    for (size_t i = 0; i < N_PAIRS; i++) {
        links[2 * i] = pairs[i];
        links[2 * i + 1] = (acq_link){pairs[i].tail, pairs[i].head, 1};
    }
    memcpy(mirror, links, sizeof mirror);
    field f = {.predictor = {.ops = &FIELD_OPS, .name = "pairs"}};
    assert_int_equal(acq_links_new(links, 2 * N_PAIRS, N, false, &f.links[0]), ACQ_OK);
    assert_int_equal(acq_links_new(mirror, 2 * N_PAIRS, N, false, &f.links[1]), ACQ_OK);
    acq_literal literals[] = {
        {.left = {false, 0}, .right = {true, 0}},
        {.left = {true, 0}, .right = {true, 1}},
        {.is_equality = true, .is_negated = true, .left = {true, 1}, .right = {false, 0}},
        {.is_equality = true, .is_negated = true, .left = {true, 1}, .right = {false, 3}}};
    acq_problem p = {
        .n_variables = 2, .n_free = 1, .n_entities = N, .literals = literals, .n_literals = 4};
    for (uint64_t limit = 0; limit < 3; limit++) {
        acq_search_params params = ACQ_SEARCH_DEFAULT;
        acq_search_result result;
        params.limit = limit;
        assert_int_equal(acq_search_exact(&p, &f.predictor, &params, &result, NULL), ACQ_OK);
        assert_int_equal(result.n_answers, 1);
        assert_int_equal(result.answers[0].values[0], 2);
        assert_int_equal(result.answers[0].values[1], 4);
        acq_search_result_deinit(&result);
    }
    field_deinit(&f);
}

static void test_simple_searches_answer_or_stay_undecided(void **unused)
{
    static const acq_search_fn searches[] = {acq_search_random, acq_search_climb};
    size_t answered[2] = {0, 0}, answerable = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        test_case c;
        acq_problem *p = NULL;
        acq_search_result exact;
        acq_search_params params = ACQ_SEARCH_DEFAULT;
        case_init(&c, seed);
        params.scoring = c.scoring;
        params.steps = 300;
        assert_int_equal(acq_problem_new(c.query, c.n_entities, &p, NULL), ACQ_OK);
        assert_int_equal(acq_search_exact(p, &c.predictor, &params, &exact, NULL), ACQ_OK);
        answerable += exact.outcome == ACQ_ANSWERED;
        for (int k = 0; k < 2; k++) {
            acq_search_result r;
            assert_int_equal(searches[k](p, &c.predictor, &params, &r, NULL), ACQ_OK);
            assert_int_not_equal(r.outcome, ACQ_NONE);
            if (r.outcome == ACQ_ANSWERED) {
                assert_true(r.answers[0].score == case_score(&c, r.answers[0].values));
                assert_true(r.answers[0].score <= exact.answers[0].score);
                answered[k]++;
            }
            acq_search_result_deinit(&r);
        }
        acq_search_result_deinit(&exact);
        acq_problem_free(p);
        case_deinit(&c);
    }
    print_message("%zu answerable, random finds %zu, climb %zu\n", answerable, answered[0],
                  answered[1]);
    assert_true(answered[1] * 100 >= answerable * 97);
}

static void test_a_seed_fixes_the_run(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        test_case c;
        acq_problem *p = NULL;
        acq_search_result a, b;
        acq_search_params params = ACQ_SEARCH_DEFAULT;
        case_init(&c, seed);
        params.steps = 100;
        params.seed = seed;
        assert_int_equal(acq_problem_new(c.query, c.n_entities, &p, NULL), ACQ_OK);
        assert_int_equal(acq_search_climb(p, &c.predictor, &params, &a, NULL), ACQ_OK);
        assert_int_equal(acq_search_climb(p, &c.predictor, &params, &b, NULL), ACQ_OK);
        assert_int_equal(a.effort.nodes, b.effort.nodes);
        assert_int_equal(a.n_answers, b.n_answers);
        acq_search_result_deinit(&a);
        acq_search_result_deinit(&b);
        acq_problem_free(p);
        case_deinit(&c);
    }
}

#ifdef ACQ_FAULTS
static acq_status run_with_fault(const test_case *c, acq_search_fn search, uint64_t limit, size_t n)
{
    acq_problem *p = NULL;
    acq_search_result result;
    acq_error error = {0};
    acq_search_params params = ACQ_SEARCH_DEFAULT;
    params.scoring = c->scoring;
    params.limit = limit;
    params.steps = 20;
    acq_faults_fail_at(n);
    acq_status status = acq_problem_new(c->query, c->n_entities, &p, &error);
    if (status == ACQ_OK) {
        status = search(p, &c->predictor, &params, &result, &error);
        acq_search_result_deinit(&result);
    }
    acq_problem_free(p);
    if (status != ACQ_OK)
        assert_int_equal(error.code, ACQ_ERR_MEMORY);
    return status;
}

static void test_every_failed_allocation_is_reported(void **unused)
{
    static const acq_search_fn searches[] = {acq_search_exact, acq_search_random, acq_search_climb};
    (void)unused;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        test_case c;
        case_init(&c, seed);
        if (c.n_entities > 9) { /* the same code, only more values */
            case_deinit(&c);
            continue;
        }
        for (int k = 0; k < 3; k++)
            for (uint64_t limit = 0; limit < 2; limit++) {
                size_t n = 1;
                while (run_with_fault(&c, searches[k], limit, n) != ACQ_OK)
                    assert_true(++n < 1000);
            }
        acq_faults_fail_at(0);
        case_deinit(&c);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deadline_ends_a_hard_search_as_undecided),
        cmocka_unit_test(test_the_literal_rules_agree),
        cmocka_unit_test(test_a_stop_ends_every_search_as_an_interrupt),
        cmocka_unit_test(test_memory_limit_ends_a_search_as_undecided),
        cmocka_unit_test(test_depth_is_not_bounded_by_the_stack),
        cmocka_unit_test(test_deadline_holds_inside_a_wide_clause),
        cmocka_unit_test(test_a_clique_is_found_and_a_larger_one_is_disproved),
        cmocka_unit_test(test_thresholds_outside_their_range_are_refused),
        cmocka_unit_test(test_sets_equal_their_definition),
        cmocka_unit_test(test_sorting_orders_any_values),
        cmocka_unit_test(test_a_scratch_set_has_its_members_and_starts_empty),
        cmocka_unit_test(test_an_anchored_query_costs_its_candidates_not_the_graph),
        cmocka_unit_test(test_a_value_goes_with_all_that_its_list_drops),
        cmocka_unit_test(test_simple_searches_answer_or_stay_undecided),
        cmocka_unit_test(test_a_seed_fixes_the_run),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
