/* row_predictor_likely.c - ULTRA's rows as probabilities, as large graphs are answered with:
 * against their definition (predict/rows.h, tools/fit_near_scale), and asked from both ends. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "predict/rows.h"
#include "support/ultra_case.h"

enum { CASES = 6, MOST = 120, TAILS = 20 };

static const double FLOOR = 1e-5;

typedef struct world {
    ultra_case c;
    acq_row_model *model;
    acq_predictor *predictor;
    void *scratch;
} world;

static void open_world(world *w, uint64_t seed)
{
    acq_around_params around = {.most_nodes = 60};
    ultra_case_init(&w->c, seed, MOST, 3, 150);
    assert_int_equal(acq_ultra_new_near_row_model(w->c.model, w->c.graph, &around, &w->model, NULL),
                     ACQ_OK);
    assert_int_equal(w->model->ops->open_scratch(w->model, &w->scratch, NULL), ACQ_OK);
    acq_published_params params = {
        .limits.floor = FLOOR, .model = w->model, .scale = ACQ_SCALE_LOGISTIC, .n_threads = 2};
    assert_int_equal(acq_predictor_new_published(w->c.graph, "ultra", &params, &w->predictor, NULL),
                     ACQ_OK);
}

static void close_world(world *w)
{
    acq_predictor_free(w->predictor);
    w->model->ops->free_scratch(w->model, w->scratch);
    acq_row_model_free(w->model);
    ultra_case_deinit(&w->c);
}

static const acq_links *open_links(const world *w, acq_rel relation)
{
    const acq_links *links;
    assert_int_equal(acq_graph_open_links(w->c.graph, relation, &links, NULL), ACQ_OK);
    return links;
}

static acq_rel find_side(const world *w, acq_rel relation)
{
    acq_rel even = relation & ~1U;
    return open_links(w, even)->n_heads >= open_links(w, even + 1)->n_heads ? even : even + 1;
}

/* By the definition: expected[t] = p of the tail, 0 where there is none. */
static void compute(const world *w, acq_rel relation, acq_ent head, double *expected)
{
    float scores[MOST];
    const acq_ent *tails;
    size_t n, rank = 0;
    double sum = 0;
    acq_row observed = acq_links_get_row(open_links(w, relation), head);
    assert_int_equal(
        w->model->ops->score_few(w->model, w->scratch, relation, head, scores, &tails, &n, NULL),
        ACQ_OK);
    for (size_t i = 0; i < n; i++)
        sum += exp((double)scores[tails[i]]);
    for (acq_ent t = 0; t < MOST; t++)
        expected[t] = 0;
    for (; rank < TAILS; rank++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (acq_row_find(observed, tails[i]) == observed.n && expected[tails[i]] == 0 &&
                (best == n || scores[tails[i]] > scores[tails[best]]))
                best = i;
        if (best == n)
            break;
        double score = (double)scores[tails[best]], seen = log((double)observed.n + 1);
        double share = score - log(sum) + seen;
        double x = .9010 + 1.6559 * share - .8982 * (share > -1 ? share + 1 : 0) - .3803 * score -
                   .1062 * log((double)rank + 1) - .0582 * seen;
        expected[tails[best]] = 1 / (1 + exp(-x));
    }
    for (acq_ent t = 0; t < MOST; t++)
        if (expected[t] < FLOOR ||
            (observed.n == 0 && acq_links_find(open_links(w, relation ^ 1U), t) == ACQ_NO_ID))
            expected[t] = 0;
}

static void test_links_have_the_p_of_their_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        world w;
        open_world(&w, seed);
        for (acq_rel r = 0; r < w.c.oracle.n_relations; r++) {
            acq_rel side = find_side(&w, r);
            for (acq_ent head = 0; head < MOST && side == r; head += 7) {
                acq_scored_row row = {0};
                double expected[MOST];
                size_t n = 0;
                compute(&w, r, head, expected);
                assert_int_equal(acq_predictor_copy_row(w.predictor, r, head, &row, NULL), ACQ_OK);
                for (size_t i = 0; i < row.n; i++)
                    assert_true(row.scores[i] == 1.0F ||
                                fabs((double)row.scores[i] - expected[row.tails[i]]) < 1e-5);
                for (acq_ent t = 0; t < MOST; t++)
                    n += expected[t] > 0;
                n += acq_links_get_row(open_links(&w, r), head).n; /* the facts */
                assert_int_equal(row.n, n);
                acq_scored_row_deinit(&row);
            }
        }
        close_world(&w);
    }
}

/* What the other end finds of a link is its number; it may miss some. */
static void test_a_link_has_one_p_from_both_ends(void **state)
{
    size_t n_found = 0;
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        world w;
        open_world(&w, seed);
        for (acq_rel r = 0; r < w.c.oracle.n_relations; r++)
            for (acq_ent tail = 0; tail < MOST && find_side(&w, r) != r; tail += 11) {
                acq_scored_row row = {0};
                assert_int_equal(acq_predictor_copy_row(w.predictor, r, tail, &row, NULL), ACQ_OK);
                for (size_t i = 0; i < row.n; i++) {
                    double expected[MOST];
                    if (row.scores[i] == 1.0F)
                        continue;
                    n_found++;
                    compute(&w, acq_inverse(r), row.tails[i], expected);
                    assert_true(fabs((double)row.scores[i] - expected[tail]) < 1e-5);
                }
                acq_scored_row_deinit(&row);
            }
        close_world(&w);
    }
    assert_true(n_found > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_have_the_p_of_their_definition),
        cmocka_unit_test(test_a_link_has_one_p_from_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
