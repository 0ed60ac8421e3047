/* complex_train.c - trainings of ComplEx on small graphs: what they learn, the same bits at any
 * number of threads and after an interruption, and the options that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tensor/safetensors.h"
#include "train/train.h"
#include "unit/complex_case.h"

#define PATH "complex.checkpoint"

enum { RING = 12 };

static char folder[] = "anycq-complex-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(PATH);
    return chdir("..") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

static acq_train_complex_params get_params(void)
{
    acq_train_complex_params params;
    acq_train_complex_params_init(&params);
    params.rank = 16;
    params.batch = 7;
    params.candidates = 5;
    params.epochs = 40;
    params.n3 = 1e-3;
    params.relation_weight = 1;
    params.seed = 9;
    params.n_threads = 1;
    return params;
}

static acq_complex *train(const acq_graph *graph, const acq_train_complex_params *params)
{
    acq_complex *model = NULL;
    acq_error error = {0};
    if (acq_train_complex(graph, params, &model, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < model->parameters.n; i++)
        assert_true(isfinite(model->parameters.values[i]));
    return model;
}

static double get_score(const acq_complex *model, acq_ent head, acq_rel relation, acq_ent tail)
{
    return complex_case_score(acq_complex_get_entity(model, head),
                              acq_complex_get_relation(model, relation),
                              acq_complex_get_entity(model, tail), model->rank, relation % 2 != 0);
}

static acq_ent find_best(const acq_complex *model, acq_ent head, acq_rel relation)
{
    acq_ent best = 0;
    for (acq_ent t = 1; t < model->n_entities; t++)
        if (get_score(model, head, relation, t) > get_score(model, head, relation, best))
            best = t;
    return best;
}

static void assert_same_bits(const acq_complex *a, const acq_complex *b)
{
    assert_int_equal(a->parameters.n, b->parameters.n);
    assert_memory_equal(a->parameters.values, b->parameters.values,
                        a->parameters.n * sizeof(float));
}

static void test_the_tails_of_a_ring_are_learnt(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(RING);
    for (uint32_t candidates = 0; candidates <= 5; candidates += 5) {
        acq_train_complex_params params = get_params();
        params.candidates = candidates;
        acq_complex *model = train(graph, &params);
        for (acq_ent i = 0; i < RING; i++) {
            assert_int_equal(find_best(model, i, 0), (i + 1) % RING);
            assert_int_equal(find_best(model, i, 1), (i + RING - 1) % RING);
            assert_int_equal(find_best(model, i, 2), (i + 2) % RING);
        }
        acq_complex_free(model);
    }
    acq_graph_free(graph);
}

static void test_threads_do_not_change_a_bit(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(60);
    acq_train_complex_params params = get_params();
    params.rank = 130; /* several blocks of components */
    params.batch = 110;
    params.epochs = 4;
    acq_complex *by_precision[2];
    for (size_t i = 0; i < 2; i++) {
        params.precision = i == 0 ? ACQ_PRECISION_F32 : ACQ_PRECISION_BF16;
        params.n_threads = 1;
        by_precision[i] = train(graph, &params);
        for (params.n_threads = 2; params.n_threads < 4; params.n_threads++) {
            acq_complex *more = train(graph, &params);
            assert_same_bits(by_precision[i], more);
            acq_complex_free(more);
        }
    }
    params.seed++;
    acq_complex *other = train(graph, &params);
    assert_true(get_score(by_precision[0], 0, 0, 1) != get_score(by_precision[1], 0, 0, 1));
    assert_true(get_score(by_precision[1], 0, 0, 1) != get_score(other, 0, 0, 1));
    acq_complex_free(by_precision[0]);
    acq_complex_free(by_precision[1]);
    acq_complex_free(other);
    acq_graph_free(graph);
}

/* Two buckets at a time see every fact, also those within a bucket; on the disk floats or halves. */
static void test_buckets_learn_a_ring(void **state)
{
    (void)state;
    enum { LARGE = 31 };
    acq_graph *graph = complex_case_ring(LARGE);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t n = 2 + i % 4;
        acq_train_complex_params params = get_params();
        params.buckets = n;
        params.half_buckets = i >= 4;
        params.rank -= i >= 4; /* odd */
        params.epochs = 60;
        params.relation_weight = n == 2 ? -1 : 1;
        acq_complex *model = train(graph, &params);
        size_t n_right = 0;
        for (acq_ent e = 0; e < LARGE; e++) {
            n_right += find_best(model, e, 0) == (e + 1) % LARGE;
            n_right += find_best(model, e, 1) == (e + LARGE - 1) % LARGE;
        }
        if (n_right < 2 * LARGE - 2)
            fail_msg("%u buckets, halves %d: %zu of %d are learnt", n, params.half_buckets, n_right,
                     2 * LARGE);
        acq_complex_free(model);
    }
    acq_graph_free(graph);
}

static void test_threads_do_not_change_a_bit_of_buckets(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(31);
    acq_train_complex_params params = get_params();
    params.buckets = 3;
    params.epochs = 2;
    for (int half = 0; half < 2; half++) {
        params.half_buckets = half == 1;
        params.n_threads = 1;
        acq_complex *one = train(graph, &params);
        params.n_threads = 3;
        acq_complex *more = train(graph, &params);
        assert_same_bits(one, more);
        acq_complex_free(one);
        acq_complex_free(more);
    }
    acq_graph_free(graph);
}

static void test_so_many_buckets_fit_the_memory(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(1000);
    uint64_t n = acq_graph_get_n_entities(graph);
    uint64_t all = n * 64 * 2 * 2 * sizeof(float); /* vectors and sums */
    assert_int_equal(acq_train_complex_count_buckets(graph, 64, 4 * all), 1);
    assert_int_equal(acq_train_complex_count_buckets(graph, 64, 2 * all), 1);
    assert_int_equal(acq_train_complex_count_buckets(graph, 64, all), 4);
    assert_int_equal(acq_train_complex_count_buckets(graph, 64, all / 2), 8);
    assert_int_equal(acq_train_complex_count_buckets(graph, 64, 1), 64);
    acq_graph_free(graph);
}

static bool stop_later(void *context, const acq_train_progress *now)
{
    size_t *left = context;
    assert_true(now->done <= now->total && now->seconds >= 0);
    return (*left)-- > 0;
}

static void check_resumed(uint32_t n_buckets, bool half_buckets)
{
    acq_graph *graph = complex_case_ring(RING);
    acq_train_complex_params params = get_params();
    params.buckets = n_buckets;
    params.half_buckets = half_buckets;
    acq_complex *whole = train(graph, &params), *model = NULL;
    acq_status status = ACQ_ERR_INTERRUPTED;
    size_t left, n_runs = 0;
    params.progress = stop_later;
    params.context = &left;
    params.checkpoint = PATH;
    for (; status == ACQ_ERR_INTERRUPTED; n_runs++) {
        left = 61; /* not at the end of an epoch */
        status = acq_train_complex(graph, &params, &model, NULL);
        params.resume = true;
    }
    assert_int_equal(status, ACQ_OK);
    assert_true(n_runs > 3);
    assert_same_bits(whole, model);
    remove(PATH);
    acq_complex_free(whole);
    acq_complex_free(model);
    acq_graph_free(graph);
}

static void test_a_resumed_training_gives_the_same_bits(void **state)
{
    (void)state;
    check_resumed(1, false);
    check_resumed(3, false);
    check_resumed(3, true);
}

static void check_refused(const acq_graph *graph, const acq_train_complex_params *params,
                          acq_status code, const char *words)
{
    acq_complex *model = NULL;
    acq_error error = {0};
    assert_int_equal(acq_train_complex(graph, params, &model, &error), code);
    assert_null(model);
    if (strstr(error.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
}

static void test_checkpoints_of_other_trainings_are_refused(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(RING), *other = complex_case_ring(RING + 1);
    acq_train_complex_params params = get_params();
    size_t left = 3;
    params.progress = stop_later;
    params.context = &left;
    params.checkpoint = PATH;
    check_refused(graph, &params, ACQ_ERR_INTERRUPTED, "interrupted");
    params.resume = true;
    check_refused(other, &params, ACQ_ERR_INPUT, "made with graphs ");
    params.rate = .2;
    check_refused(graph, &params, ACQ_ERR_INPUT, "made with --rate 0.1, not 0.2");
    params.rate = .1;
    params.precision = ACQ_PRECISION_F32;
    check_refused(graph, &params, ACQ_ERR_INPUT, "made with --f32 no, not yes");
    params.precision = ACQ_PRECISION_AUTO;
    params.buckets = 4;
    check_refused(graph, &params, ACQ_ERR_INPUT, "made with --buckets 1, not 4");
    params = get_params();
    params.resume = true;
    check_refused(graph, &params, ACQ_ERR_USAGE, "path of a checkpoint");
    acq_graph_free(graph);
    acq_graph_free(other);
}

static void test_options_are_checked(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(RING);
    acq_train_complex_params params = get_params();
#define REFUSED(field, value, words)                                                               \
    params = get_params();                                                                         \
    params.field = value;                                                                          \
    check_refused(graph, &params, ACQ_ERR_USAGE, words)
    REFUSED(rank, 0, "a rank of 1 to");
    REFUSED(batch, 0, "at least one row");
    REFUSED(candidates, 1, "at least two");
    REFUSED(rate, 0, "the rate");
    REFUSED(last_rate, -1, "the last rate");
    REFUSED(scale, NAN, "the scale");
    REFUSED(epochs, 0, "epochs");
    REFUSED(n3, -1, "N3");
    REFUSED(relation_weight, INFINITY, "relations");
    REFUSED(seconds, -1, "the time");
    REFUSED(buckets, RING, "use fewer");
#undef REFUSED
    acq_graph_free(graph);
}

static void test_small_graphs(void **state)
{
    (void)state;
    const acq_triple facts[] = {{1, 0, 2}, {2, 0, 0}};
    acq_train_complex_params params = get_params();
    acq_graph *none = complex_case_build(3, 1, NULL, 0);
    check_refused(none, &params, ACQ_ERR_INPUT, "no facts");
    for (size_t n = 1; n <= 2; n++) { /* one fact; one relation; one entity of four alone */
        acq_graph *graph = complex_case_build(4, 1, facts, n);
        acq_complex *model = train(graph, &params);
        assert_int_equal(find_best(model, 1, 0), 2);
        assert_int_equal(find_best(model, 2, 1), 1);
        acq_complex_free(model);
        acq_graph_free(graph);
    }
    acq_graph *loop = complex_case_build(1, 1, (acq_triple[]){{0, 0, 0}}, 1);
    acq_complex_free(train(loop, &params));
    acq_graph_free(loop);
    acq_graph_free(none);
}

static void test_a_warm_start_keeps_what_was_learnt(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(RING);
    const acq_triple facts[] = {{0, 0, RING + 2}};
    acq_graph *grown = complex_case_build(RING + 3, 2, facts, 1);
    acq_train_complex_params params = get_params();
    acq_complex *first = train(graph, &params);
    params.warm = first;
    params.epochs = 2;
    acq_complex *second = train(graph, &params);
    for (acq_ent i = 0; i < RING; i++)
        assert_int_equal(find_best(second, i, 0), (i + 1) % RING);
    acq_complex *third = train(grown, &params);
    assert_int_equal(third->n_entities, RING + 3);
    params.rank = 8;
    check_refused(graph, &params, ACQ_ERR_USAGE, "rank 16, not 8");
    params.rank = 16;
    params.warm = third;
    check_refused(graph, &params, ACQ_ERR_USAGE, "larger graph");
    acq_complex_free(first);
    acq_complex_free(second);
    acq_complex_free(third);
    acq_graph_free(graph);
    acq_graph_free(grown);
}

static void test_the_time_ends_a_training(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(RING);
    acq_train_complex_params params = get_params();
    params.epochs = 1e9;
    params.seconds = .05;
    acq_complex_free(train(graph, &params));
    acq_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_tails_of_a_ring_are_learnt),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_buckets_learn_a_ring),
        cmocka_unit_test(test_threads_do_not_change_a_bit_of_buckets),
        cmocka_unit_test(test_so_many_buckets_fit_the_memory),
        cmocka_unit_test(test_a_resumed_training_gives_the_same_bits),
        cmocka_unit_test(test_checkpoints_of_other_trainings_are_refused),
        cmocka_unit_test(test_options_are_checked),
        cmocka_unit_test(test_small_graphs),
        cmocka_unit_test(test_a_warm_start_keeps_what_was_learnt),
        cmocka_unit_test(test_the_time_ends_a_training),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
