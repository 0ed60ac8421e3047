/* Ranks of links against their definition, on random graphs: every entity is compared with the true
 * tail, one by one. A predictor's sparse rows and a model's dense ones go different ways. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "eval/eval.h"
#include "unit/completion_case.h"

enum { N_SEEDS = 20, N_FACTS = 120, N_NEW = 90, BATCH = 3 };

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-12)

typedef struct world {
    acq_graph *observed, *complete, *more;
    acq_predictor *truth, *scored, *filter; /* more facts that hold */
} world;

static void make_world(world *all, uint64_t seed)
{
    all->observed = completion_make_graph(seed, N_FACTS);
    all->complete = completion_make_graph(seed + 1000, N_NEW);
    all->scored = case_make_predictor(all->observed, seed, 200);
    assert_int_equal(acq_predictor_new_perfect(all->observed, all->complete, "complete",
                                               &all->truth, NULL, NULL),
                     ACQ_OK);
    all->more = completion_make_graph(seed + 2000, N_NEW);
    assert_int_equal(
        acq_predictor_new_perfect(all->observed, all->more, "more", &all->filter, NULL, NULL),
        ACQ_OK);
}

static void free_world(world *all)
{
    acq_predictor_free(all->truth);
    acq_predictor_free(all->scored);
    acq_predictor_free(all->filter);
    acq_graph_free(all->more);
    acq_graph_free(all->observed);
    acq_graph_free(all->complete);
}

/* A model whose scores are few whole numbers, so that there are many ties. */
static float get_model_score(acq_rel relation, acq_ent head, acq_ent tail)
{
    uint64_t key = ((uint64_t)relation * CASE_ENTITIES + head) * CASE_ENTITIES + tail;
    return (float)(acq_random_mix(key) % 9) - 4.0F;
}

static acq_status open_scratch(const acq_row_model *self, void **out, acq_error *error)
{
    (void)self;
    (void)error;
    *out = NULL;
    return ACQ_OK;
}

static void free_scratch(const acq_row_model *self, void *scratch)
{
    (void)self;
    (void)scratch;
}

static acq_status score(const acq_row_model *self, void *scratch, const acq_row_request *request,
                        acq_error *error)
{
    (void)scratch;
    (void)error;
    assert_true(request->n_heads >= 1 && request->n_heads <= BATCH);
    assert_null(request->tails);
    for (size_t i = 0; i < request->n_heads; i++) {
        for (acq_ent t = 0; t < request->n_tails; t++)
            request->out[i * request->n_tails + t] =
                get_model_score(request->relation, request->heads[i], t);
    }
    if (strcmp(self->kind, "damaged") == 0)
        request->out[0] = NAN;
    return ACQ_OK;
}

static const acq_row_model_ops ops = {
    .open_scratch = open_scratch, .free_scratch = free_scratch, .score = score};

static acq_row_model make_model(const acq_graph *graph, const char *kind)
{
    return (acq_row_model){.ops = &ops, .graph = graph, .kind = kind, .batch = BATCH};
}

static double get_score(const world *all, bool by_model, acq_rel r, acq_ent h, acq_ent t)
{
    return by_model ? (double)get_model_score(r, h, t)
                    : (double)acq_predictor_get_score(all->scored, h, r, t);
}

static bool is_true(const world *all, acq_rel r, acq_ent h, acq_ent t)
{
    return acq_predictor_get_score(all->truth, h, r, t) > 0;
}

/* By every observed fact of the relation. */
static size_t find_case(const world *all, acq_rel r, acq_ent h, acq_ent t)
{
    bool head = false, tail = false;
    for (acq_ent e = 0; e < CASE_ENTITIES; e++) {
        head = head || acq_graph_has_fact(all->observed, h, r, e);
        tail = tail || acq_graph_has_fact(all->observed, e, r, t);
    }
    return (head ? ACQ_LINKS_HEAD_SEEN : 0) + (tail ? ACQ_LINKS_TAIL_SEEN : 0);
}

typedef struct ranking {
    bool by_model, is_filtered; /* by what `more` has, too */
} ranking;

static double find_rank(const world *all, ranking rule, acq_rel r, acq_ent h, acq_ent t)
{
    bool by_model = rule.by_model;
    double own = get_score(all, by_model, r, h, t), rank = 1;
    for (acq_ent e = 0; e < CASE_ENTITIES; e++) {
        if (is_true(all, r, h, e) || acq_graph_has_fact(all->observed, h, r, e) ||
            (rule.is_filtered && acq_predictor_get_score(all->filter, h, r, e) > 0))
            continue;
        double other = get_score(all, by_model, r, h, e);
        rank += other > own ? 1 : other == own ? 0.5 : 0;
    }
    return rank;
}

static void define(const world *all, ranking rule, acq_eval_links_result *out)
{
    *out = (acq_eval_links_result){0};
    for (acq_rel r = 0; r < CASE_RELATIONS; r++) {
        for (acq_ent h = 0; h < CASE_ENTITIES; h++) {
            for (acq_ent t = 0; t < CASE_ENTITIES; t++) {
                if (!is_true(all, r, h, t) || acq_graph_has_fact(all->observed, h, r, t))
                    continue;
                double rank = find_rank(all, rule, r, h, t);
                acq_links_case *sums = &out->cases[find_case(all, r, h, t)];
                sums->n_links++;
                sums->n_ranked += rule.by_model || get_score(all, false, r, h, t) > 0;
                sums->mrr += 1 / rank;
                sums->hits1 += rank <= 1;
                sums->hits3 += rank <= 3;
                sums->hits10 += rank <= 10;
            }
        }
    }
}

/* The sums of the four cases, as those of all links. */
static void add_up(acq_eval_links_result *out)
{
    for (size_t i = 0; i < ACQ_LINKS_CASES; i++) {
        const acq_links_case *one = &out->cases[i];
        out->n_links += one->n_links;
        out->n_ranked += one->n_ranked;
        out->mrr += one->mrr;
        out->hits1 += one->hits1;
        out->hits3 += one->hits3;
        out->hits10 += one->hits10;
    }
}

static void assert_defined(const acq_eval_links_result *got, const acq_eval_links_result *sums)
{
    double n = (double)sums->n_links;
    assert_int_equal(got->n_links, sums->n_links);
    assert_int_equal(got->n_ranked, sums->n_ranked);
    assert_near(got->mrr, sums->mrr / n);
    assert_near(got->hits1, sums->hits1 / n);
    assert_near(got->hits3, sums->hits3 / n);
    assert_near(got->hits10, sums->hits10 / n);
}

static void assert_cases_defined(const acq_eval_links_result *got,
                                 const acq_eval_links_result *sums)
{
    for (size_t i = 0; i < ACQ_LINKS_CASES; i++) {
        const acq_links_case *one = &got->cases[i], *defined = &sums->cases[i];
        double n = defined->n_links == 0 ? 1 : (double)defined->n_links;
        assert_int_equal(one->n_links, defined->n_links);
        assert_int_equal(one->n_ranked, defined->n_ranked);
        assert_near(one->mrr, defined->mrr / n);
        assert_near(one->hits1, defined->hits1 / n);
        assert_near(one->hits3, defined->hits3 / n);
        assert_near(one->hits10, defined->hits10 / n);
    }
}

static acq_eval_links_result run(const acq_eval_links_params *params)
{
    acq_eval_links_result result;
    acq_error error = {0};
    if (acq_eval_links(params, &result, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return result;
}

static void test_ranks_follow_from_the_definition(void **state)
{
    (void)state;
    uint64_t n_of_case[ACQ_LINKS_CASES] = {0};
    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        world all;
        acq_eval_links_result sums;
        make_world(&all, seed);
        acq_row_model model = make_model(all.observed, "table");
        for (unsigned i = 0; i < 4; i++) {
            ranking rule = {.by_model = i % 2, .is_filtered = i / 2};
            acq_eval_links_params params = {.truth = all.truth,
                                            .filter = rule.is_filtered ? all.filter : NULL,
                                            .predictor = rule.by_model ? NULL : all.scored,
                                            .model = rule.by_model ? &model : NULL};
            acq_eval_links_result result = run(&params);
            define(&all, rule, &sums);
            add_up(&sums);
            assert_true(sums.n_links > 50 && sums.n_ranked > 0);
            assert_true(rule.by_model == (sums.n_ranked == sums.n_links));
            assert_defined(&result, &sums);
            assert_cases_defined(&result, &sums);
        }
        for (size_t i = 0; i < ACQ_LINKS_CASES; i++)
            n_of_case[i] += sums.cases[i].n_links;
        free_world(&all);
    }
    for (size_t i = 0; i < ACQ_LINKS_CASES; i++)
        assert_true(n_of_case[i] > 0);
}

static void test_threads_change_nothing(void **state)
{
    (void)state;
    world all;
    make_world(&all, 7);
    acq_row_model model = make_model(all.observed, "table");
    acq_eval_links_params params = {.truth = all.truth, .model = &model, .n_threads = 1};
    acq_eval_links_result one = run(&params);
    params.n_threads = 4;
    acq_eval_links_result four = run(&params);
    one.seconds = four.seconds = 0;
    assert_memory_equal(&one, &four, sizeof one);
    free_world(&all);
}

static void test_the_first_are_drawn_and_stay_the_same(void **state)
{
    (void)state;
    world all;
    make_world(&all, 8);
    acq_eval_links_params params = {.truth = all.truth, .predictor = all.scored};
    acq_eval_links_result whole = run(&params);
    params.first = 20;
    acq_eval_links_result some = run(&params), again = run(&params);
    assert_int_equal(some.n_links, 20);
    assert_true(some.mrr == again.mrr && some.mrr != whole.mrr);
    params.first = whole.n_links;
    assert_true(run(&params).mrr == whole.mrr);
    free_world(&all);
}

typedef struct table_sums {
    double n, n_true, loss;
} table_sums;

static void count_candidate(const world *all, acq_rel r, acq_ent h, acq_ent t, table_sums *sums)
{
    double p = get_score(all, false, r, h, t);
    bool holds = is_true(all, r, h, t);
    if (p <= 0 || acq_graph_has_fact(all->observed, h, r, t) ||
        (!holds && acq_predictor_get_score(all->filter, h, r, t) > 0))
        return;
    for (size_t i = 0; i < 2; i++) {
        table_sums *own = i == 0 ? &sums[ACQ_LINKS_CASES] : &sums[find_case(all, r, h, t)];
        own->n++;
        own->n_true += holds;
        own->loss -= log(holds ? p : 1 - p);
    }
}

/* Returns the stated sum. */
static double assert_table_defined(const acq_reliability *table, const table_sums *sums)
{
    double stated = 0, truth = 0;
    for (size_t i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        stated += table->bins[i].stated;
        truth += table->bins[i].truth;
    }
    assert_near(table->weight, sums->n);
    assert_near(truth, sums->n_true);
    assert_true(fabs(table->log_loss - sums->loss) <= 1e-6 * sums->loss);
    return stated;
}

static void test_the_table_counts_every_unobserved_link_once(void **state)
{
    (void)state;
    world all;
    make_world(&all, 9);
    acq_eval_links_params params = {
        .truth = all.truth, .filter = all.filter, .predictor = all.scored, .with_table = true};
    acq_eval_links_result result = run(&params);
    table_sums sums[ACQ_LINKS_CASES + 1] = {{0}}; /* the last: of all */
    for (acq_rel r = 0; r < CASE_RELATIONS; r += 2)
        for (acq_ent h = 0; h < CASE_ENTITIES; h++)
            for (acq_ent t = 0; t < CASE_ENTITIES; t++)
                count_candidate(&all, r, h, t, sums);
    const table_sums *whole = &sums[ACQ_LINKS_CASES];
    assert_true(result.has_table && whole->n > 50 && whole->n_true > 0);
    double stated = assert_table_defined(&result.table, whole), of_cases = 0, base = 0;
    for (size_t i = 0; i < ACQ_LINKS_CASES; i++) {
        assert_true(sums[i].n > 0);
        of_cases += assert_table_defined(&result.cases[i].table, &sums[i]);
        base += result.cases[i].table.base_log_loss;
    }
    assert_true(stated > 0);
    assert_near(stated, of_cases);
    assert_true(fabs(result.table.base_log_loss - base) < 1e-9 * base);
    assert_true(result.table.base_log_loss < result.table.log_loss); /* its scores mean nothing */
    free_world(&all);
}

static void test_scores_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    world all;
    acq_eval_links_result result;
    acq_error error = {0};
    make_world(&all, 10);
    acq_row_model model = make_model(all.observed, "damaged");
    acq_eval_links_params params = {.truth = all.truth, .model = &model, .n_threads = 2};
    assert_int_equal(acq_eval_links(&params, &result, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "is not a finite number"));
    free_world(&all);
}

static void test_nothing_to_predict_is_an_error(void **state)
{
    (void)state;
    world all;
    acq_eval_links_result result;
    acq_error error = {0};
    acq_predictor *same;
    make_world(&all, 11);
    assert_int_equal(acq_predictor_new_observed(all.observed, &same, NULL), ACQ_OK);
    acq_eval_links_params params = {.truth = same, .predictor = all.scored};
    assert_int_equal(acq_eval_links(&params, &result, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "nothing to predict"));
    acq_predictor_free(same);
    free_world(&all);
}

static bool stop(void *context, double done)
{
    (void)done;
    ++*(int *)context;
    return false;
}

static void test_progress_can_stop(void **state)
{
    (void)state;
    world all;
    acq_eval_links_result result;
    acq_error error = {0};
    int n_calls = 0;
    make_world(&all, 12);
    acq_eval_links_params params = {
        .truth = all.truth, .predictor = all.scored, .progress = stop, .context = &n_calls};
    assert_int_equal(acq_eval_links(&params, &result, &error), ACQ_ERR_INTERRUPTED);
    assert_int_equal(n_calls, 1);
    free_world(&all);
}

#ifdef ACQ_FAULTS
static void test_every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    world all;
    make_world(&all, 13);
    acq_row_model model = make_model(all.observed, "table");
    for (int by_model = 0; by_model < 2; by_model++) {
        acq_status status = ACQ_ERR_MEMORY;
        size_t n = 1;
        for (; status != ACQ_OK && n < 1000; n++) {
            acq_eval_links_params params = {.truth = all.truth,
                                            .predictor = all.scored,
                                            .model = by_model ? &model : NULL,
                                            .with_table = true,
                                            .first = 30};
            acq_eval_links_result result;
            acq_error error = {0};
            acq_faults_fail_at(n);
            status = acq_eval_links(&params, &result, &error);
            acq_faults_fail_at(0);
            assert_int_equal(error.code, status);
            assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        }
        assert_true(n > 5 && status == ACQ_OK);
    }
    free_world(&all);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_follow_from_the_definition),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_the_first_are_drawn_and_stay_the_same),
        cmocka_unit_test(test_the_table_counts_every_unobserved_link_once),
        cmocka_unit_test(test_scores_that_are_no_numbers_are_refused),
        cmocka_unit_test(test_nothing_to_predict_is_an_error),
        cmocka_unit_test(test_progress_can_stop),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_an_error),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
