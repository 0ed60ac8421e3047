/* complex_gradient.c - one step of a ComplEx training against the loss written out in double.
 *
 * Adagrad starts from zero, so after one step its sums are the squares of the whole slope, N3
 * included, and every number has moved by the rate against the slope's sign. Slopes are
 * differences of
 *
 *   sum over facts, both directions, of  -log P(tail | head, relation)
 *     - weight log P(relation | head, tail) + n3 (|head|^3 + |relation|^3 + |tail|^3)
 *
 * where P(tail) weighs drawn entities by how many they stand for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "train/batch.h"
#include "unit/complex_case.h"

enum { ENTITIES = 9, NAMES = 3, MOST_RANK = 17, MOST = (ENTITIES + 2 * NAMES) * 2 * MOST_RANK };

static const acq_triple facts[] = {{0, 0, 1}, {0, 0, 2}, {0, 0, 3}, {1, 0, 2}, {2, 2, 0},
                                   {3, 2, 0}, {3, 2, 3}, {4, 2, 1}, {1, 4, 4}, {4, 4, 0},
                                   {5, 0, 1}, {5, 4, 5}, {6, 2, 5}};

typedef struct oracle {
    const acq_complex_trainer *trainer;
    double values[MOST]; /* entities, then relations */
    double n_near;
} oracle;

static const double *get_entity(const oracle *o, acq_ent entity)
{
    return o->values + entity * o->trainer->g.width;
}

static const double *get_relation(const oracle *o, acq_rel relation)
{
    acq_rel vector = o->trainer->params->reciprocal ? relation : relation / 2;
    return o->values + (ENTITIES + vector) * o->trainer->g.width;
}

/* Re sum h r conj(t), written out. */
static double score(const oracle *o, acq_ent head, acq_rel relation, acq_ent tail)
{
    const double *h = get_entity(o, head), *r = get_relation(o, relation);
    const double *t = get_entity(o, tail),
                 sign = relation % 2 == 0 || o->trainer->params->reciprocal ? 1 : -1;
    size_t d = o->trainer->g.rank;
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        double re = h[i] * r[i] - sign * h[d + i] * r[d + i];
        double im = sign * h[i] * r[d + i] + h[d + i] * r[i];
        sum += re * t[i] + im * t[d + i];
    }
    return sum;
}

/* Of the entities that are a tail of the batch's relations, but not of its rows. */
static size_t count_near(const acq_complex_trainer *t)
{
    size_t n = 0;
    for (acq_ent e = 0; e < ENTITIES; e++) {
        bool is_near = false, is_true = false;
        for (size_t i = 0; i < t->g.batch.n_rows; i++) {
            const acq_complex_row *row = &t->g.batch.rows[i];
            for (acq_ent h = 0; h < ENTITIES; h++)
                is_near |= acq_graph_has_fact(t->graph, h, row->relation, e);
            is_true |= acq_graph_has_fact(t->graph, row->head, row->relation, e);
        }
        n += is_near && !is_true;
    }
    return n;
}

static double sum_tails(const oracle *o, const acq_complex_row *row)
{
    const acq_complex_batch *batch = &o->trainer->g.batch;
    double sum = 0, near = o->n_near, far = ENTITIES - (double)batch->n_true - near;
    for (size_t i = 0; i < batch->n_softmax; i++) {
        double weight = i < batch->n_true                   ? 1
                        : i < batch->n_true + batch->n_near ? near / (double)batch->n_near
                                                            : far / (double)batch->n_far;
        sum += weight * exp(score(o, row->head, row->relation, batch->entities[i]));
    }
    return sum;
}

static double sum_relations(const oracle *o, acq_ent head, acq_ent tail)
{
    double sum = 0;
    for (acq_rel r = 0; r < 2 * NAMES; r++)
        sum += exp(score(o, head, r, tail));
    return sum;
}

static double norm(const oracle *o, const double *vector)
{
    size_t d = o->trainer->g.rank;
    double sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += pow(vector[i] * vector[i] + vector[d + i] * vector[d + i], 1.5);
    return sum;
}

static double get_loss(const oracle *o, bool with_n3)
{
    const acq_train_complex_params *params = o->trainer->params;
    const acq_complex_batch *batch = &o->trainer->g.batch;
    double loss = 0;
    for (size_t i = 0; i < batch->n_rows; i++) {
        const acq_complex_row *row = &batch->rows[i];
        double tails = log(sum_tails(o, row));
        for (size_t j = 0; j < row->n_tails; j++) {
            acq_ent tail = row->tails[j];
            double own = score(o, row->head, row->relation, tail);
            loss += tails - own;
            if (params->relation_weight > 0)
                loss += params->relation_weight * (log(sum_relations(o, row->head, tail)) - own);
            if (with_n3)
                loss += params->n3 *
                        (norm(o, get_entity(o, row->head)) +
                         norm(o, get_relation(o, row->relation)) + norm(o, get_entity(o, tail)));
        }
    }
    return loss;
}

static double get_slope(oracle *o, size_t i)
{
    const double step = 1e-5;
    double kept = o->values[i], up, down;
    o->values[i] = kept + step;
    up = get_loss(o, true);
    o->values[i] = kept - step;
    down = get_loss(o, true);
    o->values[i] = kept;
    return (up - down) / (2 * step);
}

/* Number i of the trainer's entities and relations, or of its sums of squares. */
static float get(const acq_complex_trainer *t, size_t i, bool squares)
{
    size_t n = ENTITIES * t->g.width;
    if (i < n)
        return squares ? t->squares[i] : t->g.entities[i];
    size_t at = t->model->parameters.tensors[1].offset + i - n;
    return squares ? t->squares[at] : t->g.relations[i - n];
}

static void draw(acq_complex_trainer *t, oracle *o)
{
    size_t n = (ENTITIES + t->g.n_vectors) * t->g.width;
    acq_random random = acq_random_start(5, t->g.rank);
    for (size_t i = 0; i < n; i++) {
        float value = 1.6f * (float)acq_random_unit(&random) - .8f;
        if (i < ENTITIES * t->g.width)
            t->g.entities[i] = value;
        else
            t->g.relations[i - ENTITIES * t->g.width] = value;
        o->values[i] = (double)value;
    }
}

/* Products of bfloat16 have three digits. */
static void check_step(acq_complex_trainer *t, oracle *o)
{
    const double rate = .125, digits = t->g.is_half ? 2e-2 : 2e-5;
    size_t n = (ENTITIES + t->g.n_vectors) * t->g.width;
    double tails = 0, relations = 0;
    assert_int_equal(acq_complex_choose(t, 0), ACQ_OK);
    o->n_near = t->params->candidates == 0 ? 0 : (double)count_near(t); /* all are far */
    assert_int_equal(acq_complex_gradient_compute(&t->g, &tails, &relations), ACQ_OK);
    double loss = tails + relations;
    assert_true(fabs(loss - get_loss(o, false)) < digits / 2 * loss);
    acq_complex_update(t, rate);
    for (size_t i = 0; i < n; i++) {
        double slope = get_slope(o, i), got = sqrt((double)get(t, i, true));
        double moved = (double)get(t, i, false) - o->values[i];
        if (!(fabs(got - fabs(slope)) < digits * (1 + fabs(slope))))
            fail_msg("number %zu: slope %.7g, not %.7g", i, got, slope);
        if (fabs(slope) > 50 * digits)
            assert_true(fabs(moved + copysign(rate, slope)) < 1e-5);
    }
    acq_complex_forget(t);
}

static void check_params(const acq_train_complex_params *params)
{
    acq_graph *graph = complex_case_build(ENTITIES, NAMES, facts, sizeof facts / sizeof *facts);
    acq_complex_trainer trainer;
    oracle o = {.trainer = &trainer};
    assert_int_equal(acq_complex_trainer_init(&trainer, graph, params, NULL), ACQ_OK);
    draw(&trainer, &o);
    check_step(&trainer, &o);
    acq_complex_trainer_deinit(&trainer);
    acq_graph_free(graph);
}

static acq_train_complex_params get_params(uint32_t rank)
{
    acq_train_complex_params params;
    acq_train_complex_params_init(&params);
    params.rank = rank;
    params.precision = ACQ_PRECISION_F32;
    params.candidates = 0;
    params.n3 = .05;
    params.batch = 100; /* all rows: facts in both directions */
    return params;
}

static void test_all_losses_over_all_facts(void **state)
{
    (void)state;
    static const uint32_t ranks[] = {1, 3, 8, 17};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        acq_train_complex_params params = get_params(ranks[i]);
        params.relation_weight = 4;
        check_params(&params);
        params.n3 = 0;
        params.relation_weight = .5;
        check_params(&params);
    }
}

static void test_reciprocal_relations_have_slopes_of_their_own(void **state)
{
    (void)state;
    static const uint32_t ranks[] = {1, 3, 8, 17};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        acq_train_complex_params params = get_params(ranks[i]);
        params.reciprocal = true;
        params.relation_weight = 4;
        check_params(&params);
        params.relation_weight = 0;
        params.batch = 2;
        params.candidates = 4;
        check_params(&params);
        params.candidates = 0;
        params.batch = 100;
        params.relation_weight = .5;
        params.precision = ACQ_PRECISION_BF16;
        check_params(&params);
    }
}

static void test_drawn_candidates_stand_for_the_others(void **state)
{
    (void)state;
    for (uint32_t candidates = 2; candidates < 6; candidates++) {
        acq_train_complex_params params = get_params(5);
        params.relation_weight = 0;
        params.batch = 2;
        params.candidates = candidates;
        for (params.seed = 0; params.seed < 5; params.seed++)
            check_params(&params);
    }
}

static void test_products_of_bfloat16_change_the_third_digit(void **state)
{
    (void)state;
    for (uint32_t rank = 1; rank <= MOST_RANK; rank++) {
        acq_train_complex_params params = get_params(rank);
        params.precision = ACQ_PRECISION_BF16;
        params.relation_weight = 1;
        check_params(&params);
        params.n_threads = 3;
        params.batch = 3;
        params.relation_weight = 0;
        check_params(&params);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_losses_over_all_facts),
        cmocka_unit_test(test_reciprocal_relations_have_slopes_of_their_own),
        cmocka_unit_test(test_drawn_candidates_stand_for_the_others),
        cmocka_unit_test(test_products_of_bfloat16_change_the_third_digit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
