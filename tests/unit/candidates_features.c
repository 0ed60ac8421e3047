/* candidates_features.c - candidates and their features against loops over the whole row, with row
 * models whose scores are hashes: one that scores both directions alike, one that does not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "calibrate/candidates_parts.h"
#include "graph/build.h"
#include "models/neighbours.h"

enum { N_ENTITIES = 40, N_RELATIONS = 4, N_CASES = 40 };

/* ---- a model of hashes ---- */

static float hash_score(bool is_symmetric, acq_ent head, acq_rel relation, acq_ent tail)
{
    if (is_symmetric && relation % 2 == 1) {
        acq_ent kept = head;
        head = tail;
        tail = kept;
        relation ^= 1;
    }
    acq_random random = acq_random_start(head * 1000 + tail, relation + (is_symmetric ? 7 : 0));
    return (float)(acq_random_unit(&random) * 8 - 5);
}

static acq_status open_scratch(const acq_row_model *self, void **out, acq_error *error)
{
    (void)self;
    *out = acq_alloc(1, 1);
    return *out == NULL ? acq_fail_memory(error) : ACQ_OK;
}

static void free_scratch(const acq_row_model *self, void *scratch)
{
    (void)self;
    acq_free(scratch);
}

static acq_status score(const acq_row_model *self, void *scratch, const acq_row_request *request,
                        acq_error *error)
{
    (void)scratch, (void)error;
    for (size_t i = 0; i < request->n_heads; i++)
        for (acq_ent t = 0; t < N_ENTITIES; t++)
            request->out[i * request->n_tails + t] =
                hash_score(self->is_symmetric, request->heads[i], request->relation, t);
    return ACQ_OK;
}

static const acq_row_model_ops hash_ops = {
    .open_scratch = open_scratch, .free_scratch = free_scratch, .score = score};

/* ---- a graph and its makers ---- */

typedef struct world {
    acq_graph *graph;
    acq_rules *rules;
    acq_row_model models[2];
    bool is_fact[N_RELATIONS][N_ENTITIES][N_ENTITIES];
} world;

static void world_init(world *w, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 1);
    char name[16];
    acq_graph_builder *builder = acq_graph_builder_new();
    memset(w, 0, sizeof *w);
    for (acq_ent e = 0, id; e < N_ENTITIES; e++) {
        snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (acq_rel r = 0, id; r < N_RELATIONS; r += 2) {
        snprintf(name, sizeof name, "r%u", r);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
        for (int i = 0; i < 40; i++) {
            acq_ent h = (acq_ent)acq_random_below(&random, N_ENTITIES / 2);
            acq_ent t = (acq_ent)acq_random_below(&random, N_ENTITIES);
            assert_int_equal(acq_graph_builder_add_fact(builder, h, r, t), ACQ_OK);
            w->is_fact[r][h][t] = w->is_fact[r + 1][t][h] = true;
        }
    }
    assert_int_equal(acq_graph_builder_finish(builder, &w->graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    acq_rules_params rules = ACQ_RULES_DEFAULT;
    assert_int_equal(acq_rules_mine(w->graph, &rules, &w->rules, NULL), ACQ_OK);
    for (int m = 0; m < 2; m++)
        w->models[m] = (acq_row_model){.ops = &hash_ops,
                                       .graph = w->graph,
                                       .kind = m == 0 ? "alike" : "apart",
                                       .batch = 3,
                                       .is_symmetric = m == 0};
}

static void world_deinit(world *w)
{
    acq_rules_free(w->rules);
    acq_graph_free(w->graph);
}

static acq_candidates_params make_params(const world *w, unsigned n_threads)
{
    return (acq_candidates_params){.models = {&w->models[0], &w->models[1]},
                                   .n_models = 2,
                                   .rules = w->rules,
                                   .top = 5,
                                   .n_threads = n_threads};
}

static uint32_t find_feature(const acq_candidates_maker *maker, const char *name)
{
    for (uint32_t i = 0; i < acq_candidates_get_n_features(maker); i++)
        if (strcmp(acq_candidates_get_feature_name(maker, i), name) == 0)
            return i;
    fail_msg("no feature %s", name);
    return 0;
}

/* ---- by definition ---- */

typedef struct row_facts {
    double log_sum, observed, best;
    size_t n_observed, n_heads;
} row_facts;

static row_facts describe_row(const world *w, bool is_symmetric, acq_ent head, acq_rel relation)
{
    row_facts facts = {.best = -INFINITY};
    double sum = 0, observed = 0;
    for (acq_ent t = 0; t < N_ENTITIES; t++) {
        double z = (double)hash_score(is_symmetric, head, relation, t);
        sum += exp(z);
        if (w->is_fact[relation][head][t]) {
            observed += z;
            facts.n_observed++;
        } else if (z > facts.best) {
            facts.best = z;
        }
    }
    facts.log_sum = log(sum);
    facts.observed = observed / (double)facts.n_observed;
    return facts;
}

static size_t find_rank(const world *w, bool is_symmetric, acq_ent head, acq_rel relation,
                        acq_ent tail)
{
    float z = hash_score(is_symmetric, head, relation, tail);
    size_t rank = 0;
    for (acq_ent t = 0; t < N_ENTITIES; t++)
        rank += !w->is_fact[relation][head][t] && hash_score(is_symmetric, head, relation, t) > z;
    return rank;
}

static void check_near(double got, double expected)
{
    if (fabs(got - expected) > 1e-4 * (1 + fabs(expected)))
        fail_msg("%g is not %g", got, expected);
}

static void check_row_half(const acq_candidates_maker *maker, const world *w, const char *prefix,
                           bool is_symmetric, acq_ent head, acq_rel relation, acq_ent tail,
                           const float *x)
{
    char name[64];
    row_facts row = describe_row(w, is_symmetric, head, relation);
    double z = (double)hash_score(is_symmetric, head, relation, tail);
    size_t rank = find_rank(w, is_symmetric, head, relation, tail), top = 5 + row.n_observed;
    const struct {
        const char *name;
        double value;
    } expected[] = {{"score", z},
                    {"mass", z - row.log_sum},
                    {"expected", z - row.log_sum + log1p((double)row.n_observed)},
                    {"rank", log1p((double)(rank < top ? rank : top))},
                    {"to_mean", z - row.observed},
                    {"to_best", z - row.best}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        snprintf(name, sizeof name, "%s.%s", prefix, expected[i].name);
        check_near((double)x[find_feature(maker, name)], expected[i].value);
    }
}

/* What rules say of a tail; where facts were held out, as if they were there. */
static size_t check_rules(const acq_candidates_maker *maker, const world *w, double held,
                          acq_rules_scratch *scratch, acq_ent head, acq_rel relation, acq_ent tail,
                          const float *x)
{
    const acq_rule_evidence none = {0}, *all, *own = &none;
    size_t n;
    assert_int_equal(acq_rules_apply(w->rules, head, relation, scratch, &all, &n, NULL), ACQ_OK);
    for (size_t i = 0; i < n; i++)
        own = all[i].tail == tail ? &all[i] : own;
    const struct {
        const char *name;
        float value;
    } expected[] = {{"rules.one_hop", own->one_hop},
                    {"rules.two_hop", own->two_hop},
                    {"rules.noisy_or", own->noisy_or}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        double value = (double)expected[i].value / (1 - held);
        check_near((double)x[find_feature(maker, expected[i].name)],
                   held > 0 ? fmin(.999, value) : value);
    }
    check_near((double)x[find_feature(maker, "rules.fired")], own->n);
    return own->n;
}

/* From four on a number of facts is what it would be if none were held out. */
static double log_facts(const world *w, acq_rel relation, acq_ent head, double held)
{
    double n = 0;
    for (acq_ent t = 0; t < N_ENTITIES; t++)
        n += w->is_fact[relation][head][t];
    return n == 0 ? 0 : log(n >= 4 ? n / (1 - held) : n);
}

static bool is_head(const world *w, acq_rel relation, acq_ent entity)
{
    for (acq_ent t = 0; t < N_ENTITIES; t++)
        if (w->is_fact[relation][entity][t])
            return true;
    return false;
}

static bool is_in_top(const world *w, bool is_symmetric, acq_ent head, acq_rel relation,
                      acq_ent tail)
{
    row_facts row = describe_row(w, is_symmetric, head, relation);
    return is_head(w, relation, head) &&
           find_rank(w, is_symmetric, head, relation, tail) < 5 + row.n_observed;
}

static const float *find_candidate(const acq_candidates_maker *maker, const acq_candidates *found,
                                   acq_ent head, acq_ent tail)
{
    for (size_t i = 0; i < found->n; i++)
        if (found->heads[i] == head && found->tails[i] == tail)
            return found->features + i * acq_candidates_get_n_features(maker);
    return NULL;
}

/* ---- tests ---- */

static size_t check_relation(const world *w, const acq_candidates_maker *maker, double held,
                             acq_rel r)
{
    acq_candidates found;
    acq_rules_scratch *scratch;
    size_t n_fired = 0;
    assert_int_equal(acq_rules_scratch_new(w->rules, &scratch, NULL), ACQ_OK);
    assert_int_equal(acq_candidates_collect(maker, r, &found, NULL), ACQ_OK);
    for (size_t i = 0; i < found.n; i++) {
        acq_ent h = found.heads[i], t = found.tails[i];
        assert_false(w->is_fact[r][h][t]);
        assert_true(i == 0 || found.heads[i - 1] < h ||
                    (found.heads[i - 1] == h && found.tails[i - 1] < t));
        const float *x = found.features + i * acq_candidates_get_n_features(maker);
        assert_int_equal(x[find_feature(maker, "head_seen")] > 0, is_head(w, r, h));
        assert_int_equal(x[find_feature(maker, "tail_seen")] > 0, is_head(w, r + 1, t));
        if (is_head(w, r, h))
            check_row_half(maker, w, "alike.row", true, h, r, t, x);
        check_near((double)x[find_feature(maker, "tails")], log_facts(w, r, h, held));
        check_near((double)x[find_feature(maker, "heads")], log_facts(w, r + 1, t, held));
        if (is_head(w, r, h))
            n_fired += check_rules(maker, w, held, scratch, h, r, t, x);
        if (is_head(w, r + 1, t))
            check_row_half(maker, w, "alike.back", true, t, r + 1, h, x);
        if (!isnan(x[find_feature(maker, "apart.row.score")]))
            check_row_half(maker, w, "apart.row", false, h, r, t, x);
        if (!isnan(x[find_feature(maker, "apart.back.score")]))
            check_row_half(maker, w, "apart.back", false, t, r + 1, h, x);
    }
    for (acq_ent h = 0; h < N_ENTITIES; h++)
        for (acq_ent t = 0; t < N_ENTITIES; t++) {
            bool is_due = is_in_top(w, true, h, r, t) || is_in_top(w, false, h, r, t) ||
                          is_in_top(w, true, t, r + 1, h) || is_in_top(w, false, t, r + 1, h);
            if (is_due && !w->is_fact[r][h][t])
                assert_non_null(find_candidate(maker, &found, h, t));
        }
    acq_rules_scratch_free(scratch);
    acq_candidates_deinit(&found);
    return n_fired;
}

static void test_features_are_those_of_the_definition(void **state)
{
    (void)state;
    static world w;
    size_t n_fired[2] = {0};
    for (uint64_t seed = 0; seed < N_CASES; seed++) {
        acq_candidates_maker *maker;
        world_init(&w, seed);
        acq_candidates_params params = make_params(&w, 1);
        params.is_rest = seed % 2 == 1;
        params.held_share = params.is_rest ? .2 : 0;
        assert_int_equal(acq_candidates_maker_new(w.graph, &params, &maker, NULL), ACQ_OK);
        for (acq_rel r = 0; r < N_RELATIONS; r += 2)
            n_fired[seed % 2] += check_relation(&w, maker, params.held_share, r);
        acq_candidates_maker_free(maker);
        world_deinit(&w);
    }
    assert_true(n_fired[0] > 100 && n_fired[1] > 100);
}

static void check_equal(const acq_candidates *a, const acq_candidates *b, size_t n_features)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->heads, b->heads, a->n * sizeof *a->heads);
    assert_memory_equal(a->tails, b->tails, a->n * sizeof *a->tails);
    assert_memory_equal(a->features, b->features, a->n * n_features * sizeof *a->features);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    static world w;
    world_init(&w, 3);
    acq_candidates found[2];
    uint32_t n_features = 0;
    for (unsigned i = 0; i < 2; i++) {
        acq_candidates_maker *maker;
        acq_candidates_params params = make_params(&w, 1 + 3 * i);
        assert_int_equal(acq_candidates_maker_new(w.graph, &params, &maker, NULL), ACQ_OK);
        assert_int_equal(acq_candidates_collect(maker, 0, &found[i], NULL), ACQ_OK);
        n_features = acq_candidates_get_n_features(maker);
        acq_candidates_maker_free(maker);
    }
    check_equal(&found[0], &found[1], n_features);
    acq_candidates_deinit(&found[0]);
    acq_candidates_deinit(&found[1]);
    world_deinit(&w);
}

static float log_tails(const world *w, acq_rel r, acq_ent head)
{
    const acq_links *links;
    assert_int_equal(acq_graph_open_links(w->graph, r, &links, NULL), ACQ_OK);
    size_t n = acq_links_get_row(links, head).n;
    return n == 0 ? 0 : logf((float)n);
}

/* A relation is described by the counts of another graph, its heads and tails by their own. */
static void test_counts_can_be_of_another_graph(void **state)
{
    (void)state;
    static const char *const counts[] = {"links", "tails_per_head", "heads_per_tail",
                                         "_due",  "_fits",          ".due"};
    static world w, earlier;
    world_init(&w, 7);
    world_init(&earlier, 8);
    acq_candidates found[2];
    acq_candidates_maker *maker = NULL;
    for (unsigned i = 0; i < 2; i++) {
        acq_candidates_maker_free(maker);
        acq_candidates_params params = make_params(&w, 1);
        params.counted = i == 0 ? NULL : earlier.graph;
        assert_int_equal(acq_candidates_maker_new(w.graph, &params, &maker, NULL), ACQ_OK);
        assert_int_equal(acq_candidates_collect(maker, 0, &found[i], NULL), ACQ_OK);
    }
    uint32_t n = acq_candidates_get_n_features(maker), tails = find_feature(maker, "tails");
    uint32_t heads = find_feature(maker, "heads"), n_other = 0;
    for (size_t i = 0; i < found[1].n; i++) {
        float *x = found[1].features + i * n, *plain = found[0].features + i * n;
        assert_true(x[tails] == log_tails(&w, 0, found[1].heads[i]));
        assert_true(x[heads] == log_tails(&w, 1, found[1].tails[i]));
        for (size_t j = 0; j < n * sizeof counts / sizeof *counts; j++) {
            uint32_t feature = (uint32_t)(j % n);
            if (strstr(acq_candidates_get_feature_name(maker, feature), counts[j / n]) == NULL)
                continue;
            n_other += x[feature] != plain[feature];
            x[feature] = plain[feature];
        }
    }
    assert_true(found[1].n > 0 && n_other > found[1].n);
    check_equal(&found[0], &found[1], n);
    acq_candidates_deinit(&found[0]);
    acq_candidates_deinit(&found[1]);
    acq_candidates_maker_free(maker);
    world_deinit(&w);
    world_deinit(&earlier);
}

/* The smaller side's rows, one by one, are what collecting that side gives. */
static void test_rows_one_by_one(void **state)
{
    (void)state;
    static world w;
    world_init(&w, 5);
    acq_candidates_maker *maker;
    acq_candidates_params params = make_params(&w, 2);
    params.rows = ACQ_ROWS_SMALLER;
    params.tails = ACQ_TAILS_SEEN;
    assert_int_equal(acq_candidates_maker_new(w.graph, &params, &maker, NULL), ACQ_OK);
    acq_candidates all;
    assert_int_equal(acq_candidates_collect(maker, 2, &all, NULL), ACQ_OK);
    size_t at = 0, width = acq_candidates_get_n_features(maker);
    uint64_t n_rows = 0;
    for (acq_ent h = 0; h < N_ENTITIES; h++) {
        if (!is_head(&w, all.relation, h))
            continue;
        acq_candidates row;
        n_rows++;
        assert_int_equal(acq_candidates_collect_row(maker, all.relation, h, &row, NULL), ACQ_OK);
        for (size_t i = 0; i < row.n; i++, at++) {
            assert_int_equal(row.tails[i], all.tails[at]);
            assert_true(is_head(&w, all.relation ^ 1, row.tails[i]));
            assert_memory_equal(row.features + i * width, all.features + at * width,
                                width * sizeof(float));
        }
        acq_candidates_deinit(&row);
    }
    assert_int_equal(at, all.n);
    assert_int_equal(n_rows, acq_candidates_count_rows(maker, 2));
    acq_candidates_deinit(&all);
    acq_candidates_maker_free(maker);
    world_deinit(&w);
}

/* The candidates of one tail are those that the rows of all heads have for it. */
static void check_tail(const acq_candidates *all, const acq_candidates *found, acq_ent tail)
{
    size_t n = 0, width = all->n_features;
    for (size_t i = 0; i < all->n; i++) {
        if (all->tails[i] != tail)
            continue;
        assert_true(n < found->n && found->heads[n] == all->heads[i] && found->tails[n] == tail);
        assert_memory_equal(found->features + n * width, all->features + i * width,
                            width * sizeof(float));
        n++;
    }
    assert_int_equal(n, found->n);
}

static void test_the_candidates_of_a_tail_are_those_of_all_rows(void **state)
{
    (void)state;
    static world w;
    size_t n_met = 0;
    for (uint64_t seed = 1; seed <= N_CASES; seed++) {
        acq_candidates_maker *maker;
        acq_candidates_session *session;
        acq_row_model *neighbours;
        world_init(&w, seed);
        acq_candidates_params params = make_params(&w, 2);
        assert_int_equal(acq_neighbours_new_row_model(w.graph, &neighbours, NULL), ACQ_OK);
        params.models[0] = neighbours;
        params.n_models = 1;
        params.rows = ACQ_ROWS_LARGER;
        params.is_thorough = true;
        assert_int_equal(acq_candidates_maker_new(w.graph, &params, &maker, NULL), ACQ_OK);
        assert_int_equal(acq_candidates_session_new(maker, &session, NULL), ACQ_OK);
        for (acq_rel r = 0; r < N_RELATIONS; r += 2) {
            acq_candidates all;
            assert_int_equal(acq_candidates_collect(maker, r, &all, NULL), ACQ_OK);
            assert_int_equal(all.relation, acq_candidates_find_side(maker, r));
            n_met += all.n;
            for (acq_ent t = 0; t < N_ENTITIES; t++) {
                acq_candidates found;
                assert_int_equal(acq_candidates_session_collect_tail(session, all.relation, t,
                                                                     N_ENTITIES, (acq_stop){0},
                                                                     &found, NULL),
                                 ACQ_OK);
                check_tail(&all, &found, t);
                acq_candidates_deinit(&found);
            }
            acq_candidates_deinit(&all);
        }
        acq_candidates_session_free(session);
        acq_candidates_maker_free(maker);
        acq_row_model_free(neighbours);
        world_deinit(&w);
    }
    assert_true(n_met > 100 * N_CASES);
}

/* An unseen side may never speak for a link: the features that show it can only raise the odds. */
static void test_seen_can_only_help(void **state)
{
    (void)state;
    static world w;
    world_init(&w, 1);
    acq_candidates_maker *maker;
    acq_candidates_params params = make_params(&w, 1);
    assert_int_equal(acq_candidates_maker_new(w.graph, &params, &maker, NULL), ACQ_OK);
    const char *const names[] = {"head_seen", "tail_seen"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(acq_candidates_get_monotone(maker)[find_feature(maker, names[i])], 1);
    acq_candidates_maker_free(maker);
    world_deinit(&w);
}

static acq_candidates_maker *make_maker(const world *w, size_t n_models)
{
    acq_candidates_params params = make_params(w, 1);
    acq_candidates_maker *maker;
    params.n_models = n_models;
    assert_int_equal(acq_candidates_maker_new(w->graph, &params, &maker, NULL), ACQ_OK);
    return maker;
}

/* Heads are half of the entities here: the rows of heads are the smaller side. */
static void test_costly_models_ask_the_smaller_side(void **state)
{
    (void)state;
    world w;
    world_init(&w, 3);
    w.models[1].is_costly = true;
    acq_candidates_maker *maker = make_maker(&w, 2);
    uint32_t row = find_feature(maker, "apart.row.score");
    uint32_t back = find_feature(maker, "apart.back.score");
    uint32_t other = find_feature(maker, "alike.back.score");
    size_t n_row = 0, n_other = 0;
    for (acq_rel r = 0; r < N_RELATIONS; r += 2) {
        acq_candidates all;
        assert_int_equal(acq_candidates_collect(maker, r, &all, NULL), ACQ_OK);
        for (size_t i = 0; i < all.n; i++) {
            const float *f = all.features + i * acq_candidates_get_n_features(maker);
            assert_true(isnan(f[back]));
            n_row += !isnan(f[row]);
            n_other += !isnan(f[other]);
        }
        acq_candidates_deinit(&all);
    }
    assert_true(n_row > 0 && n_other > 0);
    acq_candidates_maker_free(maker);
    world_deinit(&w);
}

static void test_sparse_models_propose_what_something_speaks_for(void **state)
{
    (void)state;
    world w;
    world_init(&w, 4);
    w.models[1].is_sparse = true;
    w.models[1].nothing = 1e9F; /* there is evidence for nothing */
    acq_candidates_maker *both = make_maker(&w, 2), *one = make_maker(&w, 1);
    for (acq_rel r = 0; r < N_RELATIONS; r += 2) {
        acq_candidates a, b;
        assert_int_equal(acq_candidates_collect(both, r, &a, NULL), ACQ_OK);
        assert_int_equal(acq_candidates_collect(one, r, &b, NULL), ACQ_OK);
        assert_int_equal(a.n, b.n);
        assert_memory_equal(a.heads, b.heads, a.n * sizeof *a.heads);
        assert_memory_equal(a.tails, b.tails, a.n * sizeof *a.tails);
        acq_candidates_deinit(&a);
        acq_candidates_deinit(&b);
    }
    acq_candidates_maker_free(both);
    acq_candidates_maker_free(one);
    world_deinit(&w);
}

#ifdef ACQ_FAULTS
static void test_collecting_survives_every_failed_allocation(void **state)
{
    (void)state;
    static world w;
    world_init(&w, 2);
    acq_candidates_params params = make_params(&w, 1);
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t n = 1; status != ACQ_OK && n < 5000; n++) {
        acq_candidates_maker *maker = NULL;
        acq_candidates found = {0};
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_candidates_maker_new(w.graph, &params, &maker, &error);
        if (status == ACQ_OK)
            status = acq_candidates_collect(maker, 0, &found, &error);
        acq_faults_fail_at(0);
        if (status != ACQ_OK)
            assert_int_equal(error.code, ACQ_ERR_MEMORY);
        acq_candidates_deinit(&found);
        acq_candidates_maker_free(maker);
    }
    assert_int_equal(status, ACQ_OK);
    world_deinit(&w);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costly_models_ask_the_smaller_side),
        cmocka_unit_test(test_sparse_models_propose_what_something_speaks_for),
        cmocka_unit_test(test_features_are_those_of_the_definition),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_counts_can_be_of_another_graph),
        cmocka_unit_test(test_rows_one_by_one),
        cmocka_unit_test(test_the_candidates_of_a_tail_are_those_of_all_rows),
        cmocka_unit_test(test_seen_can_only_help),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_collecting_survives_every_failed_allocation),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
