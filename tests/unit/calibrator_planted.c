/* calibrator_planted.c - stated probabilities against true ones, in worlds where these are known.
 *
 * Trees: rows whose label is drawn with a known probability, of which the true ones are all kept
 * and the false ones by a known share, weighted up.
 *
 * Links: entities have a group, and a link of relation r between groups a and b is there with
 * probability W[r][a][b], whatever else is there. Each link of the world is hidden with a known
 * rate h. So a link that is not observed is true with probability
 *
 *     q = W h / (1 - W + W h)
 *
 * given everything observed, whether the calibrator finds it likely or not. Two laws follow:
 * among links of which p is stated, q must be p on average; and within a cell (r, a, b) p must
 * not be larger for hidden links than for false ones, or the label has leaked into it.
 *
 * Answers: questions that lack a fact, read off the world and answered over the completion of
 * what is observed, which the fit has never seen the difference of. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "calibrate/boost.h"
#include "calibrate/learn.h"
#include "fit/parts.h"
#include "graph/build.h"
#include "predict/completion.h"
#include "support/scale.h"

static const acq_link_progress silent = {0};

/* ---- stated and true in bins of what is stated ---- */

/* over: the most by which a bin of at least this weight may state more than is true; under: less.
 */
static void check_bins(const acq_reliability *table, const char *what, double least, double over,
                       double under)
{
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        const acq_reliability_bin *bin = &table->bins[i];
        double stated = bin->stated / bin->weight, truth = bin->truth / bin->weight;
        if (bin->weight < least)
            continue;
        print_message("%s: %6.0f in [%g, %g): stated %.4f true %.4f\n", what, bin->weight, bin->low,
                      bin->high, stated, truth);
        if (stated - truth > over || truth - stated > under)
            fail_msg("%s: stated %.4f, true %.4f", what, stated, truth);
    }
}

/* A weighted mean of true probabilities instead of labels. */
static void add_known(acq_reliability *table, double p, double q)
{
    acq_reliability_add(table, p, true, q, .5);
    acq_reliability_add(table, p, false, 1 - q, .5);
}

/* ---- trees ---- */

enum { TREE_ROWS = 12000, TREE_FEATURES = 4 };
#define KEPT .2 /* of the false rows */

typedef struct drawn_rows {
    float x[TREE_ROWS][TREE_FEATURES], weights[TREE_ROWS];
    double q[TREE_ROWS];
    uint8_t labels[TREE_ROWS], folds[TREE_ROWS];
    size_t n;
} drawn_rows;

/* The odds follow the first two features; the others are noise, to be tempted by. */
static drawn_rows *draw_rows(void)
{
    drawn_rows *rows = acq_zalloc(1, sizeof *rows);
    for (uint64_t i = 0; rows->n < TREE_ROWS; i++) {
        acq_random random = acq_random_start(11, i);
        float *x = rows->x[rows->n];
        for (int j = 0; j < TREE_FEATURES; j++)
            x[j] = (float)acq_random_unit(&random);
        double q = acq_boost_to_probability(-4 + 3 * (double)x[0] + (x[1] > .5F ? 2 : 0));
        bool label = acq_random_unit(&random) < q;
        if (!label && acq_random_unit(&random) >= KEPT)
            continue;
        rows->q[rows->n] = q;
        rows->labels[rows->n] = label;
        rows->weights[rows->n] = label ? 1 : (float)(1 / KEPT);
        rows->folds[rows->n++] = (uint8_t)acq_random_below(&random, 2);
    }
    return rows;
}

static double get_loss(double p, bool label)
{
    return -log(label ? p : 1 - p);
}

static void test_trees_of_the_other_fold_state_true_probabilities(void **state)
{
    (void)state;
    drawn_rows *rows = draw_rows();
    acq_boost_data data = {rows->x[0], rows->labels, rows->weights, rows->n, TREE_FEATURES, NULL};
    acq_boost_params params = ACQ_BOOST_DEFAULT;
    acq_fold_trees trees;
    acq_reliability judged, all;
    double stated = 0, truth = 0, weight = 0;
    params.n_trees = 100;
    acq_reliability_init(&judged);
    acq_reliability_init(&all);
    assert_int_equal(acq_fold_trees_fit(&data, rows->folds, &params, NULL, NULL, &trees, NULL),
                     ACQ_OK);
    for (size_t i = 0; i < rows->n; i++) {
        double p = acq_fold_trees_judge(&trees, rows->folds[i], rows->x[i]);
        double w = (double)rows->weights[i];
        acq_reliability_add(&judged, p, rows->labels[i], w, .5);
        add_known(&all, acq_boost_to_probability(acq_boost_score(trees.all, rows->x[i])),
                  rows->q[i]);
        stated += w * get_loss(p, rows->labels[i]);
        truth += w * get_loss(rows->q[i], rows->labels[i]);
        weight += w;
    }
    print_message("log-loss %.4f, of the truth %.4f\n", stated / weight, truth / weight);
    /* Nobody can know more than the truth does, but for the luck of these labels. */
    assert_true(stated > truth);
    assert_true(stated / weight < truth / weight + .03);
    check_bins(&judged, "judged", 1000, .04, .04);
    check_bins(&all, "trees of all rows", 1000, .08, .08);
    acq_fold_trees_deinit(&trees);
    acq_free(rows);
}

/* ---- a world of groups ---- */

enum { ENTITIES = 144, GROUPS = 8, PAIRS = 3, QUESTIONS = 300 };

/* What fits hold out; a large share moves the evidence most. */
static const double shares[] = {.25, .1};
enum { SHARES = sizeof shares / sizeof *shares };

/* The rate at which facts are hidden, so that as many are as will be held out. */
static double get_hidden(double share)
{
    return share / (1 + share);
}

/* Tolerances. Trees that were fitted on the rest judge the whole graph, whose evidence is stronger
 * than what they know: its likely links and answers are stated too low, by up to a quarter in these
 * worlds, which lack a fifth of their links. Too high they are never stated. */
#define TOO_SURE .06
#define TOO_SHY  .25

typedef struct world {
    acq_graph *truth, *observed; /* the same ids */
} world;

static unsigned get_group(acq_ent entity)
{
    return entity % GROUPS;
}

static double get_rate(acq_rel relation, acq_ent head, acq_ent tail)
{
    static const double rates[] = {0, 0, .9, 0, .02, 0, 0, .6, 0, 0, .3, 0, 0, 0, .1, 0};
    if (relation % 2 == 1)
        return get_rate(relation ^ 1, tail, head);
    return rates[(3 * get_group(head) + 5 * get_group(tail) + 4 * relation) % 16];
}

/* Of a link that is not observed. */
static double get_truth(acq_rel relation, acq_ent head, acq_ent tail, double hidden)
{
    double rate = get_rate(relation, head, tail);
    return rate * hidden / (1 - rate + rate * hidden);
}

static acq_graph *draw_graph(uint64_t seed, double hidden)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph;
    char name[16];
    uint32_t id;
    for (int i = 0; i < ENTITIES; i++) {
        snprintf(name, sizeof name, "e%d", i);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (int i = 0; i < PAIRS; i++) {
        snprintf(name, sizeof name, "r%d", i);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (acq_rel r = 0; r < 2 * PAIRS; r += 2)
        for (acq_ent h = 0; h < ENTITIES; h++)
            for (acq_ent t = 0; t < ENTITIES; t++) {
                acq_random random = acq_random_start(seed, ((uint64_t)h * ENTITIES + t) * 8 + r);
                bool is_there = acq_random_unit(&random) < get_rate(r, h, t);
                if (is_there && acq_random_unit(&random) >= hidden)
                    assert_int_equal(acq_graph_builder_add_fact(builder, h, r, t), ACQ_OK);
            }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static void world_init(world *w, uint64_t seed, double hidden)
{
    w->truth = draw_graph(seed, 0);
    w->observed = draw_graph(seed, hidden);
}

static void world_deinit(world *w)
{
    acq_graph_free(w->observed);
    acq_graph_free(w->truth);
}

static acq_fit_params choose_params(double share)
{
    acq_fit_params params;
    acq_fit_params_init(&params);
    params.use_complex = false;
    params.hold_share = share;
    params.floor = .01;
    params.n_questions = QUESTIONS;
    params.n_threads = 2;
    return params;
}

/* ---- links ---- */

/* What was stated of the links of one cell. */
typedef struct cell {
    double hidden, n_hidden, wrong, n_wrong;
} cell;

typedef struct link_sums {
    acq_reliability table;
    cell cells[PAIRS][GROUPS][GROUPS];
    double miss; /* sum of |p - q| */
    double n;
} link_sums;

static void add_link(link_sums *sums, acq_rel r, acq_ent h, acq_ent t, double p, double q,
                     bool is_hidden)
{
    cell *c = &sums->cells[r / 2][get_group(h)][get_group(t)];
    add_known(&sums->table, p, q);
    sums->miss += fabs(p - q);
    sums->n++;
    c->hidden += is_hidden ? p : 0;
    c->n_hidden += is_hidden;
    c->wrong += is_hidden ? 0 : p;
    c->n_wrong += !is_hidden;
}

/* All links that `observed` lacks, by the p that the completion states; `hidden` is the rate at
 * which those of `truth` were taken out. */
static void sum_links(link_sums *sums, const acq_predictor *completed, const acq_graph *observed,
                      const acq_graph *truth, double hidden)
{
    for (acq_rel r = 0; r < 2 * PAIRS; r += 2)
        for (acq_ent h = 0; h < ENTITIES; h++)
            for (acq_ent t = 0; t < ENTITIES; t++) {
                double p = (double)acq_predictor_get_score(completed, h, r, t);
                if (p > 0 && !acq_graph_has_fact(observed, h, r, t))
                    add_link(sums, r, h, t, p, get_truth(r, h, t, hidden),
                             acq_graph_has_fact(truth, h, r, t));
            }
}

/* How much larger p is for hidden links than for false ones of the same cell, over all cells. */
static double get_leak(const link_sums *sums)
{
    const cell *cells = &sums->cells[0][0][0];
    double leak = 0, n = 0;
    for (size_t i = 0; i < PAIRS * GROUPS * GROUPS; i++) {
        const cell *c = &cells[i];
        if (c->n_hidden < 5 || c->n_wrong < 5)
            continue;
        leak += c->n_hidden * (c->hidden / c->n_hidden - c->wrong / c->n_wrong);
        n += c->n_hidden;
    }
    return leak / n;
}

static void check_links(const link_sums *sums, const char *what, double under, double miss)
{
    print_message("%s: mean miss %.4f, leak %.4f of %.0f links\n", what, sums->miss / sums->n,
                  get_leak(sums), sums->n);
    check_bins(&sums->table, what, 300, TOO_SURE, under);
    assert_true(sums->miss / sums->n < miss);
    assert_true(fabs(get_leak(sums)) < .02);
}

static void fit_sample(const acq_fit_models *models, const acq_predictor *truth,
                       const acq_learn_params *learn, acq_fold_trees *trees,
                       acq_boost_shift *shifts, acq_reliability *table)
{
    acq_link_sample *sample;
    uint32_t n_relations = acq_graph_get_n_relations(truth->graph);
    assert_true(n_relations / 2 <= PAIRS + 1);
    assert_int_equal(acq_link_sample_new(models->maker, n_relations, learn, &sample, NULL), ACQ_OK);
    assert_int_equal(acq_link_sample_collect(sample, models->maker, truth, NULL), ACQ_OK);
    assert_int_equal(acq_link_sample_fit(sample, trees, shifts, table, NULL, NULL), ACQ_OK);
    acq_link_sample_free(sample);
}

/* Labels that know half of the truth: links are stated as often as both halves are true. */
static void check_missing(const acq_fit_models *models, const acq_predictor *truth)
{
    acq_learn_params learn = {
        .rows = 500000, .n_samples = 1, .seed = 1, .n_threads = 2, .missing = 1};
    acq_fold_trees trees;
    acq_reliability table;
    acq_boost_shift shifts[PAIRS + 1];
    double stated = 0, true_ones = 0;
    fit_sample(models, truth, &learn, &trees, shifts, &table);
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        stated += table.bins[i].stated;
        true_ones += table.bins[i].truth;
    }
    print_message("half of the truth: %.0f stated, %.0f true\n", stated, true_ones);
    assert_true(fabs(stated / true_ones - 1) < .1);
    check_bins(&table, "half of the truth", 300, .08, .08);
    acq_fold_trees_deinit(&trees);
}

/* A prior that is sure of everything: labels speak against it wherever there are any. */
static void check_wrong_prior(const acq_fit_models *models, const acq_predictor *truth)
{
    acq_learn_params learn = {
        .rows = 20000, .n_samples = 1, .seed = 1, .n_threads = 2, .missing = 1};
    acq_boost_params all_true = ACQ_BOOST_DEFAULT;
    acq_link_sample *sample;
    acq_boost *prior = NULL;
    acq_fold_trees trees;
    acq_reliability table;
    acq_boost_shift shifts[PAIRS + 1];
    uint32_t n_relations = acq_graph_get_n_relations(truth->graph);
    assert_int_equal(acq_link_sample_new(models->maker, n_relations, &learn, &sample, NULL),
                     ACQ_OK);
    assert_int_equal(acq_link_sample_collect(sample, models->maker, truth, NULL), ACQ_OK);
    acq_boost_data data = acq_link_sample_get_data(sample, NULL);
    uint8_t *labels = acq_alloc(data.n, 1);
    memset(labels, 1, data.n);
    labels[0] = 0;
    data.labels = labels;
    all_true.n_trees = 5;
    assert_int_equal(acq_boost_fit(&data, &all_true, &prior, NULL), ACQ_OK);
    acq_free(labels);
    acq_link_sample_free(sample);
    learn.prior = prior;
    fit_sample(models, truth, &learn, &trees, shifts, &table);
    uint32_t n_refused = 0;
    for (uint32_t i = 0; i < n_relations / 2; i++)
        n_refused += shifts[i].given == ACQ_BOOST_NOT_GIVEN;
    assert_int_equal(n_refused, n_relations / 2);
    acq_fold_trees_deinit(&trees);
    acq_boost_free(prior);
}

/* The links that fit itself holds out, by trees of the other fold: what answers are learnt over. */
static void check_rest(double share)
{
    link_sums *sums = acq_zalloc(1, sizeof *sums);
    acq_reliability_init(&sums->table);
    for (uint64_t seed = 1; seed < SCALE(3, 2); seed++) {
        acq_graph *whole = draw_graph(seed, 0), *rest;
        acq_fit_params params = choose_params(share);
        acq_predictor *truth, *completed;
        acq_fit_models models;
        acq_fold_trees trees;
        acq_fit_report report = {0};
        const char *path = "planted.rest";
        assert_int_equal(
            acq_split_by_share(
                whole, &(acq_split_params){.share = share, .hold = ACQ_HOLD_LINKS, .seed = seed},
                &rest, NULL),
            ACQ_OK);
        assert_int_equal(acq_predictor_new_observed(whole, &truth, NULL), ACQ_OK);
        assert_int_equal(acq_fit_models_make(rest, whole, "rest", &params, &models, NULL), ACQ_OK);
        /* The planted graph is all there is: nothing is missing besides. */
        acq_learn_params learn = {.rows = 500000, .n_samples = 1, .seed = seed, .n_threads = 2};
        acq_boost_shift shifts[PAIRS + 1];
        fit_sample(&models, truth, &learn, &trees, shifts, &report.link_table);
        if (seed == 1)
            check_missing(&models, truth);
        if (seed == 1)
            check_wrong_prior(&models, truth);
        acq_link_rule rule = {.trees = &trees, .shifts = shifts, .crossed = true};
        assert_int_equal(acq_fit_write_links(models.maker, rest, &rule, NULL, &params, &silent,
                                             path, &report, NULL),
                         ACQ_OK);
        assert_int_equal(acq_predictor_new_completion(rest, path, &completed, NULL), ACQ_OK);
        double held =
            1 - (double)acq_graph_get_n_facts(rest) / (double)acq_graph_get_n_facts(whole);
        sum_links(sums, completed, rest, whole, held);
        check_bins(&report.link_table, "fit's own table", 300, .08, .08);
        acq_predictor_free(completed);
        acq_fold_trees_deinit(&trees);
        acq_fit_models_deinit(&models);
        acq_predictor_free(truth);
        acq_graph_free(rest);
        acq_graph_free(whole);
        unlink(path);
    }
    check_links(sums, "links of the rest", TOO_SURE, .06);
    acq_free(sums);
}

static void test_links_of_the_rest_have_their_true_probability(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCALE(SHARES, 1); i++)
        check_rest(shares[i]);
}

/* ---- the whole fit ---- */

typedef struct fitted {
    world w;
    acq_fit_report report;
    acq_predictor *completed; /* of what is observed, with the calibrator */
} fitted;

static void fitted_init(fitted *f, uint64_t seed, double share)
{
    acq_fit_params params = choose_params(share);
    const char *path = "planted.completion";
    params.folder = "planted.fit";
    world_init(&f->w, seed, get_hidden(share));
    assert_int_equal(acq_fit(f->w.observed, path, &params, &f->report, NULL), ACQ_OK);
    assert_int_equal(acq_calibrator_open_completion(f->w.observed, path, &f->completed, NULL),
                     ACQ_OK);
    unlink(path);
}

static void fitted_deinit(fitted *f)
{
    acq_predictor_free(f->completed);
    world_deinit(&f->w);
}

static bool is_true(const acq_query *query, const acq_predictor *truth, const acq_ent *values)
{
    acq_engine_params engine = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    engine.search.seconds = 0;
    assert_int_equal(acq_engine_check(query, truth, values, &engine, &result, NULL), ACQ_OK);
    bool holds = result.outcome == ACQ_ANSWERED;
    acq_engine_result_deinit(&result);
    return holds;
}

/* The likeliest answers of a question, but for those that facts give. */
static void check_answers(const acq_query *query, const fitted *f, const acq_predictor *truth,
                          acq_reliability *table)
{
    acq_engine_params engine = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    engine.search.seconds = 0;
    engine.search.limit = 12;
    engine.min_p = 0;
    assert_int_equal(acq_engine_ask(query, f->completed, &engine, &result, NULL), ACQ_OK);
    for (size_t i = 0; i < result.n_answers; i++) {
        const acq_engine_answer *answer = &result.answers[i];
        if (answer->p < 1)
            acq_reliability_add(table, answer->p, is_true(query, truth, answer->values), 1, .5);
    }
    acq_engine_result_deinit(&result);
}

/* Questions at large, judged by what is hidden: the fit has never seen these facts. */
static void sum_answers(const fitted *f, acq_reliability *table)
{
    acq_sampler *sampler;
    acq_predictor *truth;
    assert_int_equal(acq_sampler_new(f->w.observed, &sampler, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new_observed(f->w.truth, &truth, NULL), ACQ_OK);
    for (uint64_t key = 0; key < QUESTIONS; key++) {
        acq_query *query;
        assert_int_equal(acq_question_draw_at_large(sampler, f->w.observed, 78, key, &query, NULL),
                         ACQ_OK);
        if (query != NULL)
            check_answers(query, f, truth, table);
        acq_query_free(query);
    }
    acq_predictor_free(truth);
    acq_sampler_free(sampler);
}

/* One of a set in which true and wrong candidates weigh the same: p where half of them is true. */
static void check_trial(const acq_query *query, const fitted *f, const acq_trial *trial,
                        double weight, acq_reliability *table)
{
    acq_engine_params engine = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    engine.search.seconds = 0;
    engine.prior = .5;
    engine.min_p = 0;
    assert_int_equal(acq_engine_check(query, f->completed, trial->values, &engine, &result, NULL),
                     ACQ_OK);
    if (result.n_answers > 0) /* one without any support has no features to judge it by */
        acq_reliability_add(table, result.answers[0].p_prior, trial->is_true, weight, .5);
    acq_engine_result_deinit(&result);
}

static void sum_balanced(const fitted *f, acq_reliability *table)
{
    acq_sampler *sampler;
    acq_predictor *observed, *truth;
    assert_int_equal(acq_sampler_new(f->w.truth, &sampler, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new_observed(f->w.observed, &observed, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new_observed(f->w.truth, &truth, NULL), ACQ_OK);
    acq_trial_source source = {f->w.observed, observed, f->completed, truth, 0, 0};
    acq_random random = acq_random_start(5, 5);
    for (uint64_t key = 0; key < QUESTIONS; key++) {
        acq_query *query;
        acq_trials trials = {.n = 0};
        assert_int_equal(
            acq_question_draw(sampler, f->w.observed, false, false, 79, key, &query, NULL), ACQ_OK);
        if (query != NULL)
            assert_int_equal(acq_trials_draw(&source, query, 1, &random, &trials, NULL), ACQ_OK);
        size_t n_seen[2] = {0};
        for (size_t i = 0; i < trials.n; i++)
            n_seen[trials.items[i].is_true] += trials.items[i].is_seen;
        for (size_t i = 0; i < trials.n && n_seen[0] > 0 && n_seen[1] > 0; i++)
            if (trials.items[i].is_seen)
                check_trial(query, f, &trials.items[i],
                            10. / (double)n_seen[trials.items[i].is_true], table);
        acq_query_free(query);
    }
    acq_predictor_free(truth);
    acq_predictor_free(observed);
    acq_sampler_free(sampler);
}

static void check_fit(uint64_t seed, double share)
{
    fitted f;
    link_sums *sums = acq_zalloc(1, sizeof *sums);
    acq_reliability answers, balanced;
    acq_reliability_init(&sums->table);
    acq_reliability_init(&answers);
    acq_reliability_init(&balanced);
    fitted_init(&f, seed, share);
    sum_links(sums, f.completed, f.w.observed, f.w.truth, get_hidden(share));
    sum_answers(&f, &answers);
    sum_balanced(&f, &balanced);
    check_bins(&f.report.answer_table, "fit's own table of answers", 300, .12, .12);
    fitted_deinit(&f);
    check_links(sums, "links of the whole", TOO_SHY, .09);
    check_bins(&answers, "answers", 300, TOO_SURE, TOO_SHY);
    check_bins(&balanced, "balanced sets", 300, TOO_SURE, TOO_SHY);
    acq_free(sums);
}

static void test_a_fit_states_true_probabilities_of_links_and_answers(void **state)
{
    (void)state;
    if (SCALE(false, true)) /* minutes; other tests fit with sanitizers */
        skip();
    for (size_t i = 0; i < SHARES; i++)
        check_fit(11 + i, shares[i]);
}

/* The first argument: run only the tests with such names. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees_of_the_other_fold_state_true_probabilities),
        cmocka_unit_test(test_links_of_the_rest_have_their_true_probability),
        cmocka_unit_test(test_a_fit_states_true_probabilities_of_links_and_answers),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
