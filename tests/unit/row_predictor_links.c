/* row_predictor_links.c - the links of a row predictor against the definitions: the published
 * scales, which links there are, both directions, single rows, the memory budget. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "calibrate/rows.h"
#include "predict/rows.h"
#include "support/row_double.h"

enum { N = ROW_DOUBLE_ENTITIES, N_GRAPHS = 30 };

typedef struct setting {
    acq_graph *graph;
    row_double model;
    acq_published_params params;
    acq_predictor *predictor;
} setting;

static void init(setting *s, uint64_t seed, double share, acq_published_params params)
{
    s->graph = row_double_make_graph(seed, share);
    row_double_init(&s->model, s->graph, seed, false);
    s->params = params;
    s->params.model = &s->model.base;
    assert_int_equal(
        acq_predictor_new_published(s->graph, "double:x", &s->params, &s->predictor, NULL), ACQ_OK);
}

static void deinit(setting *s)
{
    acq_predictor_free(s->predictor);
    assert_int_equal(s->model.n_open, 0);
    acq_graph_free(s->graph);
}

static bool is_fact(const setting *s, acq_rel r, acq_ent h, acq_ent t)
{
    return acq_graph_has_fact(s->graph, h, r, t);
}

static size_t count_tails(const setting *s, acq_rel r, acq_ent h)
{
    size_t n = 0;
    for (acq_ent t = 0; t < N; t++)
        n += is_fact(s, r, h, t);
    return n;
}

/* The row's own score, from the equations. */
static double scale(const setting *s, acq_rel r, acq_ent h, acq_ent t)
{
    const float *raw = s->model.raw[r][h];
    double all = 0.0, seen = 0.0, n = (double)count_tails(s, r, h);
    if (s->params.scale == ACQ_SCALE_SIGMOID)
        return 1.0 / (1.0 + exp(-(double)raw[t]));
    for (acq_ent e = 0; e < N; e++) {
        all += exp(20.0 * (double)raw[e]);
        seen += is_fact(s, r, h, e) ? exp(20.0 * (double)raw[e]) : 0.0;
    }
    double p = exp(20.0 * (double)raw[t]) / all;
    if (n == 0)
        return p;
    return s->params.scale == ACQ_SCALE_QTO ? n * p : n * p / (seen / all);
}

/* What the row (r, h) says about t; 0 when it does not propose it. */
static double get_row_score(const setting *s, acq_rel r, acq_ent h, acq_ent t)
{
    bool is_head_seen = count_tails(s, r, h) > 0;
    bool is_tail_seen = count_tails(s, r ^ 1U, t) > 0;
    bool must_be_seen = !is_head_seen || s->params.tails == ACQ_TAILS_SEEN;
    double score = fmin(scale(s, r, h, t), 0.9999);
    if (is_fact(s, r, h, t))
        return 1.0;
    return score < s->params.limits.floor || (must_be_seen && !is_tail_seen) ? 0.0 : score;
}

static double get_link_score(const setting *s, acq_rel r, acq_ent h, acq_ent t)
{
    double on = count_tails(s, r, h) > 0 ? get_row_score(s, r, h, t) : 0.0;
    double back = count_tails(s, r ^ 1U, t) > 0 ? get_row_score(s, r ^ 1U, t, h) : 0.0;
    if (s->params.direction == ACQ_DIRECTION_BOTH)
        return fmax(on, back);
    return r % 2 == 0 ? on : back;
}

static void check_links(const setting *s)
{
    for (acq_rel r = 0; r < ROW_DOUBLE_RELATIONS; r++) {
        const acq_links *links = NULL;
        const char *reason = "";
        assert_int_equal(acq_predictor_open_links(s->predictor, r, &links, NULL), ACQ_OK);
        assert_true(acq_links_check(links, &reason));
        for (acq_ent h = 0; h < N; h++) {
            for (acq_ent t = 0; t < N; t++) {
                double got = (double)acq_links_get_score(links, h, t);
                assert_true(fabs(got - get_link_score(s, r, h, t)) < 1e-5);
                assert_true(is_fact(s, r, h, t) == (got == 1.0));
                assert_true(acq_predictor_get_score(s->predictor, t, r ^ 1U, h) == (float)got);
            }
        }
    }
}

static void check_rows(const setting *s)
{
    acq_ent heads[N];
    acq_scored_row rows[N];
    for (acq_ent h = 0; h < N; h++)
        heads[h] = h;
    for (acq_rel r = 0; r < ROW_DOUBLE_RELATIONS; r++) {
        assert_int_equal(
            s->predictor->ops->copy_rows(
                s->predictor, &(acq_row_want){.relation = r, .heads = heads, .n = N}, rows, NULL),
            ACQ_OK);
        for (acq_ent h = 0; h < N; h++) {
            acq_row row = {.tails = rows[h].tails, .scores = rows[h].scores, .n = rows[h].n};
            for (acq_ent t = 0; t < N; t++) {
                size_t i = acq_row_find(row, t);
                double got = i == row.n ? 0.0 : (double)row.scores[i];
                assert_true(fabs(got - get_row_score(s, r, h, t)) < 1e-5);
            }
            acq_scored_row_deinit(&rows[h]);
        }
    }
}

static void test_links_and_rows_are_those_of_the_definitions(void **state)
{
    (void)state;
    static const acq_row_scale scales[] = {ACQ_SCALE_SIGMOID, ACQ_SCALE_QTO, ACQ_SCALE_FIT};
    for (uint64_t seed = 1; seed <= N_GRAPHS; seed++) {
        setting s;
        acq_published_params params = {.scale = scales[seed % 3],
                                       .limits.floor = seed % 2 == 0 ? 0.05 : 0.4,
                                       .direction = seed % 5 == 0 ? ACQ_DIRECTION_FORWARD
                                                                  : ACQ_DIRECTION_BOTH};
        params.tails = seed % 4 == 0 ? ACQ_TAILS_SEEN : ACQ_TAILS_ALL;
        params.n_threads = 1 + (unsigned)(seed % 2);
        init(&s, seed, seed % 3 == 0 ? 0.02 : 0.1, params);
        assert_true(acq_predictor_makes_rows(s.predictor) == (seed % 5 != 0));
        if (seed % 5 != 0)
            check_rows(&s);
        check_links(&s);
        deinit(&s);
    }
}

static void test_top_keeps_the_best_of_a_row(void **state)
{
    (void)state;
    setting s;
    acq_published_params params = {.scale = ACQ_SCALE_SIGMOID, .top = 2};
    acq_scored_row row;
    init(&s, 3, 0.1, params);
    for (acq_ent h = 0; h < N; h++) {
        size_t n_facts = count_tails(&s, 0, h);
        assert_int_equal(acq_predictor_copy_row(s.predictor, 0, h, &row, NULL), ACQ_OK);
        float least = 1.0F;
        size_t n_better = 0;
        for (size_t i = 0; i < row.n; i++)
            least = fminf(least, row.scores[i]);
        for (acq_ent t = 0; t < N; t++)
            n_better += get_row_score(&s, 0, h, t) > (double)least + 1e-6;
        if (n_facts > 0)
            assert_int_equal(row.n, n_facts + 2 + n_facts < N ? 2 + 2 * n_facts : N);
        assert_true(n_better < row.n || row.n == 0);
        acq_scored_row_deinit(&row);
    }
    deinit(&s);
}

static void test_smaller_side_alone_is_asked_for(void **state)
{
    (void)state;
    setting s;
    acq_published_params params = {
        .scale = ACQ_SCALE_SIGMOID, .rows = ACQ_ROWS_SMALLER, .n_threads = 1};
    const acq_links *on = NULL, *back = NULL, *made = NULL;
    init(&s, 5, 0.05, params);
    assert_int_equal(acq_graph_open_links(s.graph, 0, &on, NULL), ACQ_OK);
    assert_int_equal(acq_graph_open_links(s.graph, 1, &back, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_open_links(s.predictor, 1, &made, NULL), ACQ_OK);
    assert_int_equal(s.model.n_rows, on->n_heads < back->n_heads ? on->n_heads : back->n_heads);
    assert_int_equal(acq_predictor_open_links(s.predictor, 0, &made, NULL), ACQ_OK);
    assert_int_equal(s.model.n_rows, on->n_heads < back->n_heads ? on->n_heads : back->n_heads);
    acq_predictor_forget_links(s.predictor, 1);
    acq_predictor_forget_links(s.predictor, 2);
    assert_int_equal(acq_predictor_open_links(s.predictor, 0, &made, NULL), ACQ_OK);
    assert_int_equal(s.model.n_rows,
                     2 * (on->n_heads < back->n_heads ? on->n_heads : back->n_heads));
    deinit(&s);
}

static void test_rows_are_made_once(void **state)
{
    (void)state;
    setting s;
    acq_scored_row row, again;
    init(&s, 7, 0.1, (acq_published_params){.scale = ACQ_SCALE_FIT, .limits.floor = 0.01});
    assert_int_equal(acq_predictor_copy_row(s.predictor, 2, 4, &row, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_copy_row(s.predictor, 2, 4, &again, NULL), ACQ_OK);
    assert_int_equal(s.model.n_rows, 1);
    assert_int_equal(row.n, again.n);
    assert_memory_equal(row.scores, again.scores, row.n * sizeof *row.scores);
    acq_row_cache_counts counts = acq_row_predictor_get_counts(s.predictor);
    assert_int_equal(counts.hits, 1);
    assert_int_equal(counts.misses, 1);
    acq_scored_row_deinit(&row);
    acq_scored_row_deinit(&again);
    deinit(&s);
}

static void test_scores_that_are_not_finite_are_an_error(void **state)
{
    (void)state;
    setting s;
    acq_scored_row row;
    for (int i = 0; i < 2; i++) {
        acq_error error = {0};
        init(&s, 9, 0.1, (acq_published_params){.scale = ACQ_SCALE_FIT});
        for (acq_ent t = 0; t < N; t++)
            s.model.raw[0][2][t] = t != 3 ? 1.0F : i == 0 ? NAN : INFINITY;
        assert_int_equal(acq_predictor_copy_row(s.predictor, 0, 2, &row, &error), ACQ_ERR_INPUT);
        assert_non_null(strstr(error.message, "model gives scores that are not finite"));
        deinit(&s);
    }
}

/* Of an entity that came after the training: its row has its facts only, on every scale, and it is
 * predicted nowhere. The other tails are scored as if it were not there. */
static void test_tails_without_a_score_are_no_links(void **state)
{
    (void)state;
    static const acq_row_scale scales[] = {ACQ_SCALE_FIT, ACQ_SCALE_QTO, ACQ_SCALE_SIGMOID};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        setting s;
        acq_scored_row row;
        init(&s, 9, 0.1, (acq_published_params){.scale = scales[i]});
        for (acq_ent t = 0; t < N; t++) {
            s.model.raw[0][2][t] = ACQ_NO_SCORE;
            s.model.raw[0][4][t] = t == 3 ? ACQ_NO_SCORE : 5.0F;
        }
        assert_int_equal(acq_predictor_copy_row(s.predictor, 0, 2, &row, NULL), ACQ_OK);
        assert_int_equal(row.n, count_tails(&s, 0, 2));
        acq_scored_row_deinit(&row);
        bool is_fact = acq_graph_has_fact(s.graph, 4, 0, 3);
        assert_int_equal(acq_predictor_copy_row(s.predictor, 0, 4, &row, NULL), ACQ_OK);
        for (size_t j = 0; j < row.n; j++)
            assert_true(row.tails[j] != 3 || is_fact);
        acq_scored_row_deinit(&row);
        deinit(&s);
    }
}

static void test_links_past_the_memory_budget_are_an_error(void **state)
{
    (void)state;
    setting s;
    const acq_links *links = NULL;
    acq_error error = {0};
    init(&s, 2, 0.2, (acq_published_params){.scale = ACQ_SCALE_SIGMOID, .limits.memory_bytes = 64});
    assert_int_equal(acq_predictor_open_links(s.predictor, 0, &links, &error), ACQ_ERR_MEMORY);
    assert_non_null(strstr(error.message, "anycq complete"));
    deinit(&s);
}

static void test_wrong_settings_are_refused(void **state)
{
    (void)state;
    acq_graph *graph = row_double_make_graph(1, 0.1);
    acq_predictor *predictor = NULL;
    acq_published_params none = {.scale = ACQ_SCALE_FIT};
    acq_calibrated_params bare = {0};
    assert_int_equal(acq_predictor_new_published(graph, "x", &none, &predictor, NULL),
                     ACQ_ERR_USAGE);
    assert_int_equal(acq_predictor_new_calibrated(graph, "x", &bare, &predictor, NULL),
                     ACQ_ERR_USAGE);
    acq_graph_free(graph);
    setting s;
    const acq_links *links = NULL;
    init(&s, 1, 0.1, (acq_published_params){.scale = ACQ_SCALE_SIGMOID});
    assert_int_equal(acq_predictor_open_links(s.predictor, ROW_DOUBLE_RELATIONS, &links, NULL),
                     ACQ_ERR_USAGE);
    deinit(&s);
}

static acq_status add_rows(acq_row_view *view, acq_rel relation, const acq_ent *heads, size_t n,
                           acq_error *error)
{
    acq_row_want want = {.relation = relation, .heads = heads, .n = n};
    return acq_row_view_add(view, &want, error);
}

/* A view holds the larger of what its rows say, in both directions. */
static void test_a_view_joins_rows_of_both_ends(void **state)
{
    (void)state;
    setting s;
    acq_row_view *view = NULL;
    const acq_ent heads[] = {2, 5};
    init(&s, 6, 0.15, (acq_published_params){.scale = ACQ_SCALE_SIGMOID, .limits.floor = 0.3});
    assert_int_equal(acq_row_view_new(s.predictor, &view, NULL), ACQ_OK);
    const acq_predictor *predictor = acq_row_view_get_predictor(view);
    assert_true(acq_predictor_get_floor(predictor) == 0.3);
    assert_int_equal(add_rows(view, 0, heads, 2, NULL), ACQ_OK);
    assert_int_equal(add_rows(view, 1, heads, 2, NULL), ACQ_OK);
    assert_int_equal(add_rows(view, 1, heads, 1, NULL), ACQ_OK);
    assert_int_equal(acq_row_view_count(view), 4);
    assert_true(acq_row_view_has(view, 1, 5) && !acq_row_view_has(view, 2, 5));
    for (acq_ent h = 0; h < N; h++) {
        for (acq_ent t = 0; t < N; t++) {
            double on = h == 2 || h == 5 ? get_row_score(&s, 0, h, t) : 0.0;
            double back = t == 2 || t == 5 ? get_row_score(&s, 1, t, h) : 0.0;
            double want = is_fact(&s, 0, h, t) ? 1.0 : fmax(on, back);
            assert_true(fabs((double)acq_predictor_get_score(predictor, h, 0, t) - want) < 1e-5);
            assert_true(acq_predictor_get_score(predictor, h, 0, t) ==
                        acq_predictor_get_score(predictor, t, 1, h));
            assert_true(acq_predictor_get_score(predictor, h, 2, t) ==
                        (is_fact(&s, 2, h, t) ? 1.0F : 0.0F));
        }
    }
    acq_row_view_free(view);
    deinit(&s);
}

/* Trees that tell the upper half of the raw scores from the lower, for the features of `maker`. */
static acq_calibrator *fit_calibrator(const acq_candidates_maker *maker, const char *kind)
{
    acq_candidates all;
    uint32_t n_features = acq_candidates_get_n_features(maker);
    assert_int_equal(acq_candidates_collect(maker, 0, &all, NULL), ACQ_OK);
    uint8_t *labels = acq_zalloc(all.n, sizeof *labels);
    for (size_t i = 0; i < all.n; i++)
        labels[i] = i % 3 == 0;
    acq_boost_params params = ACQ_BOOST_DEFAULT;
    params.n_trees = 10;
    params.least_hessian = 0.1;
    params.n_threads = 1;
    acq_boost_data data = {
        .x = all.features, .labels = labels, .n = all.n, .n_features = n_features};
    acq_calibrator *calibrator = acq_zalloc(1, sizeof *calibrator);
    snprintf(calibrator->models, sizeof calibrator->models, "%s", kind);
    assert_int_equal(acq_boost_fit(&data, &params, &calibrator->link, NULL), ACQ_OK);
    acq_free(labels);
    acq_candidates_deinit(&all);
    return calibrator;
}

/* What the predictor says of candidates that were collected apart from it. */
static void check_candidates(const setting *s, const acq_candidates *all, uint32_t n_features,
                             bool is_row)
{
    acq_scored_row copy = {0};
    if (is_row)
        assert_int_equal(acq_predictor_copy_row(s->predictor, all->relation, 4, &copy, NULL),
                         ACQ_OK);
    acq_row row = {.tails = copy.tails, .scores = copy.scores, .n = copy.n};
    const acq_boost *trees = acq_predictor_get_calibrator(s->predictor)->link;
    size_t n_kept = 0;
    for (size_t i = 0; i < all->n; i++) {
        double p = acq_boost_to_probability(acq_boost_score(trees, all->features + i * n_features));
        bool is_kept =
            p >= s->params.limits.floor && (count_tails(s, all->relation, all->heads[i]) > 0 ||
                                            count_tails(s, all->relation ^ 1U, all->tails[i]) > 0);
        size_t at = is_row ? acq_row_find(row, all->tails[i]) : 0;
        double got = is_row ? at == row.n ? 0.0 : (double)row.scores[at]
                            : (double)acq_predictor_get_score(s->predictor, all->heads[i],
                                                              all->relation, all->tails[i]);
        assert_true(fabs(got - (is_kept ? fmin(p, 0.9999) : 0.0)) < 1e-5);
        n_kept += is_kept;
    }
    if (is_row)
        assert_int_equal(row.n, n_kept + count_tails(s, all->relation, 4));
    acq_scored_row_deinit(&copy);
}

static void test_calibrated_links_are_what_the_trees_say(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        setting s = {.graph = row_double_make_graph(seed, 0.1)};
        acq_candidates_maker *maker = NULL;
        acq_candidates all;
        row_double_init(&s.model, s.graph, seed, seed % 2 == 0);
        s.params.limits.floor = 0.3;
        acq_calibrated_params params = {
            .limits = s.params.limits,
            .candidates = {.models = {&s.model.base},
                           .n_models = 1,
                           .rows = seed % 3 == 0 ? ACQ_ROWS_SMALLER : ACQ_ROWS_BOTH,
                           .top = 3,
                           .n_threads = 1}};
        assert_int_equal(acq_candidates_maker_new(s.graph, &params.candidates, &maker, NULL),
                         ACQ_OK);
        uint32_t n_features = acq_candidates_get_n_features(maker);
        params.calibrator = fit_calibrator(maker, s.model.base.kind);
        assert_int_equal(
            acq_predictor_new_calibrated(s.graph, "double", &params, &s.predictor, NULL), ACQ_OK);
        assert_ptr_equal(acq_predictor_get_calibrator(s.predictor), params.calibrator);
        for (acq_rel r = 0; r < ROW_DOUBLE_RELATIONS; r += 2) {
            assert_int_equal(acq_candidates_collect(maker, r, &all, NULL), ACQ_OK);
            check_candidates(&s, &all, n_features, false);
            acq_candidates_deinit(&all);
            assert_int_equal(acq_candidates_collect_row(maker, r + 1, 4, &all, NULL), ACQ_OK);
            check_candidates(&s, &all, n_features, true);
            acq_candidates_deinit(&all);
        }
        acq_candidates_maker_free(maker);
        deinit(&s);
    }
}

#ifdef ACQ_FAULTS
static acq_status use_everything(const acq_graph *graph, row_double *model, acq_error *error)
{
    acq_published_params params = {.scale = ACQ_SCALE_SIGMOID, .limits.floor = 0.2};
    acq_predictor *predictor = NULL;
    acq_row_view *view = NULL;
    const acq_links *links = NULL;
    const acq_ent heads[] = {1, 4};
    params.model = &model->base;
    acq_status status = acq_predictor_new_published(graph, "x", &params, &predictor, error);
    if (status == ACQ_OK)
        status = acq_row_view_new(predictor, &view, error);
    if (status == ACQ_OK)
        status = add_rows(view, 0, heads, 2, error);
    if (status == ACQ_OK)
        status = acq_predictor_open_links(acq_row_view_get_predictor(view), 1, &links, error);
    if (status == ACQ_OK)
        status = acq_predictor_open_links(predictor, 3, &links, error);
    acq_row_view_free(view);
    acq_predictor_free(predictor);
    return status;
}

static void test_every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    acq_graph *graph = row_double_make_graph(8, 0.1);
    row_double model;
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 0;
    row_double_init(&model, graph, 8, true);
    while (status != ACQ_OK) {
        acq_error error = {0};
        acq_faults_fail_at(++n);
        status = use_everything(graph, &model, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(error.code, status);
        assert_int_equal(model.n_open, 0);
    }
    assert_true(n > 20);
    acq_graph_free(graph);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_and_rows_are_those_of_the_definitions),
        cmocka_unit_test(test_top_keeps_the_best_of_a_row),
        cmocka_unit_test(test_smaller_side_alone_is_asked_for),
        cmocka_unit_test(test_rows_are_made_once),
        cmocka_unit_test(test_scores_that_are_not_finite_are_an_error),
        cmocka_unit_test(test_tails_without_a_score_are_no_links),
        cmocka_unit_test(test_links_past_the_memory_budget_are_an_error),
        cmocka_unit_test(test_wrong_settings_are_refused),
        cmocka_unit_test(test_a_view_joins_rows_of_both_ends),
        cmocka_unit_test(test_calibrated_links_are_what_the_trees_say),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_an_error),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
