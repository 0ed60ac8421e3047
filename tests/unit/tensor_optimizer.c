/* tensor_optimizer.c - the parameter block, and updates against the formulas in double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "tensor/parameters.h"

enum { N = 37, STEPS = 200 };

/* ---- parameters ---- */

static void test_tensors_start_aligned_and_zeroed(void **state)
{
    (void)state;
    const acq_shape shapes[] = {{"a", 3, 5}, {"b", 1, 0}, {"c", 16, 1}, {"d", 0, 0}, {"e", 2, 2}};
    acq_parameters parameters;
    assert_int_equal(acq_parameters_init(&parameters, shapes, 5), ACQ_OK);
    assert_int_equal(acq_parameters_count(&parameters), 15 + 1 + 16 + 0 + 4);
    assert_int_equal(parameters.n, 16 + 16 + 16 + 0 + 16);
    assert_int_equal((uintptr_t)parameters.values % 64, 0);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(parameters.tensors[i].offset % 16, 0);
        assert_ptr_equal(parameters.tensors[i].name, shapes[i].name);
    }
    for (size_t i = 0; i < parameters.n; i++)
        assert_true(parameters.values[i] == 0);
    acq_parameters_deinit(&parameters);
    acq_parameters_deinit(&parameters);
}

static void test_a_block_too_large_to_address_is_out_of_memory(void **state)
{
    (void)state;
    const acq_shape shapes[] = {
        {"a", UINT32_MAX, UINT32_MAX}, {"b", UINT32_MAX, UINT32_MAX}, {"c", 1, 1}};
    acq_parameters parameters;
    for (size_t n = 1; n <= 3; n++)
        assert_int_equal(acq_parameters_init(&parameters, shapes, n), ACQ_ERR_MEMORY);
    assert_null(parameters.values);
}

static void test_no_tensors_are_a_block_too(void **state)
{
    (void)state;
    acq_parameters parameters;
    assert_int_equal(acq_parameters_init(&parameters, NULL, 0), ACQ_OK);
    assert_int_equal(acq_parameters_count(&parameters), 0);
    acq_parameters_deinit(&parameters);
}

/* ---- the optimizer against its formulas ---- */

typedef struct reference {
    acq_optimizer_params params;
    double w[N], m[N], v[N], sum_kept[N], kept; /* average: sum of keep^(t-s) w_s over its weight */
    int t;
} reference;

static double model_norm(const double *g)
{
    double sum = 0;
    for (int i = N; i-- > 0;)
        sum += g[i] * g[i];
    return sqrt(sum);
}

/* Textbook form: plain moments, corrected copies, weight decay on its own. */
static void model_update(reference *model, double progress, const double *gradient)
{
    const acq_optimizer_params *p = &model->params;
    double rate = (1 - progress) * p->rate + progress * p->last_rate;
    double norm = model_norm(gradient);
    double factor = p->clip > 0 && norm > p->clip ? p->clip / norm : 1;
    model->t++;
    model->kept = p->average * model->kept + 1;
    for (int i = 0; i < N; i++) {
        double g = gradient[i] * factor;
        model->m[i] = p->beta1 * model->m[i] + (1 - p->beta1) * g;
        model->v[i] = p->beta2 * model->v[i] + (1 - p->beta2) * g * g;
        double m = model->m[i] / (1 - pow(p->beta1, model->t));
        double v = model->v[i] / (1 - pow(p->beta2, model->t));
        model->w[i] = model->w[i] * (1 - rate * p->decay) - rate * m / (sqrt(v) + 1e-8);
        model->sum_kept[i] = p->average * model->sum_kept[i] + model->w[i];
    }
}

static double draw(acq_random *random)
{
    return 2 * acq_random_unit(random) - 1;
}

static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance * (1 + fabs(expected))))
        fail_msg("%.9g instead of %.9g", found, expected);
}

static void compare(const acq_optimizer_params *params, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 0);
    acq_optimizer optimizer;
    reference model = {.params = *params};
    float weights[N], gradient[N], average[N];
    double exact[N];
    for (int i = 0; i < N; i++)
        model.w[i] = weights[i] = (float)draw(&random);
    assert_int_equal(acq_optimizer_init(&optimizer, params, weights, N, NULL), ACQ_OK);
    for (int t = 0; t < STEPS; t++) {
        double progress = (double)t / STEPS, size = pow(10, 3 * draw(&random));
        for (int i = 0; i < N; i++)
            exact[i] = gradient[i] = (float)(i == 5 ? 0 : draw(&random) * size);
        double norm = acq_optimizer_update(&optimizer, progress, gradient, weights);
        assert_near(norm, model_norm(exact), 1e-12);
        model_update(&model, progress, exact);
        acq_optimizer_copy_average(&optimizer, weights, average);
        for (int i = 0; i < N; i++) {
            assert_near(weights[i], model.w[i], 2e-5);
            assert_near(average[i], model.sum_kept[i] / model.kept, 2e-5);
        }
    }
    assert_int_equal(optimizer.step, STEPS);
    acq_optimizer_deinit(&optimizer);
}

static void test_updates_follow_the_formulas(void **state)
{
    (void)state;
    acq_optimizer_params cases[7];
    for (int i = 0; i < 7; i++)
        cases[i] = ACQ_OPTIMIZER_DEFAULT;
    cases[1].clip = 0;
    cases[2].decay = .1;
    cases[3].average = .9;
    cases[4].average = .9999;
    cases[5] = (acq_optimizer_params){.rate = .01, .last_rate = .02, .beta1 = 0, .beta2 = .5};
    cases[6].rate = cases[6].last_rate = 0;
    for (uint64_t i = 0; i < 7; i++)
        compare(&cases[i], i);
}

static void test_the_schedule_is_linear_and_stops_at_its_ends(void **state)
{
    (void)state;
    const double progress[] = {-1, 0, .25, 1, 7, NAN}, rates[] = {1, 1, .775, .1, .1, 1};
    acq_optimizer_params params = {.rate = 1, .last_rate = .1, .beta1 = .9, .beta2 = .999};
    for (int i = 0; i < 6; i++) {
        acq_optimizer optimizer;
        float weight = 0, gradient = 1; /* the first step of Adam has the size of the rate */
        assert_int_equal(acq_optimizer_init(&optimizer, &params, &weight, 1, NULL), ACQ_OK);
        acq_optimizer_update(&optimizer, progress[i], &gradient, &weight);
        assert_near(weight, -rates[i], 1e-6);
        acq_optimizer_deinit(&optimizer);
    }
}

static void test_clipping_scales_the_gradient_to_the_norm(void **state)
{
    (void)state;
    acq_optimizer_params params = ACQ_OPTIMIZER_DEFAULT;
    acq_optimizer optimizer;
    float weights[2] = {0, 0}, large[2] = {30, -40}, small[2] = {.3F, .4F};
    params.clip = 5;
    assert_int_equal(acq_optimizer_init(&optimizer, &params, weights, 2, NULL), ACQ_OK);
    assert_near(acq_optimizer_update(&optimizer, 0, large, weights), 50, 1e-12);
    assert_near(large[0], 3, 1e-7);
    assert_near(large[1], -4, 1e-7);
    assert_near(acq_optimizer_update(&optimizer, 0, small, weights), .5, 1e-7);
    assert_true(small[0] == .3F && small[1] == .4F);
    acq_optimizer_deinit(&optimizer);
}

/* Everything that an update could change, to compare bytes. */
typedef struct snapshot {
    uint64_t step;
    float first[N], second[N], average[N], weights[N], gradient[N];
} snapshot;

static void take(snapshot *out, const acq_optimizer *optimizer, const float *weights,
                 const float *gradient)
{
    memset(out, 0, sizeof *out);
    out->step = optimizer->step;
    memcpy(out->first, optimizer->first, sizeof out->first);
    memcpy(out->second, optimizer->second, sizeof out->second);
    memcpy(out->average, optimizer->average, sizeof out->average);
    memcpy(out->weights, weights, sizeof out->weights);
    memcpy(out->gradient, gradient, sizeof out->gradient);
}

static void test_a_gradient_that_is_not_finite_changes_nothing(void **state)
{
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY, 1e30F};
    for (int clipped = 0; clipped < 2; clipped++) {
        acq_optimizer_params params = ACQ_OPTIMIZER_DEFAULT;
        acq_optimizer optimizer;
        float weights[N], gradient[N];
        params.clip = clipped;
        params.average = .5;
        for (int i = 0; i < N; i++)
            weights[i] = (float)i, gradient[i] = 1;
        assert_int_equal(acq_optimizer_init(&optimizer, &params, weights, N, NULL), ACQ_OK);
        acq_optimizer_update(&optimizer, 0, gradient, weights);
        for (int i = 0; i < 4 - clipped; i++) { /* 1e30 is finite: only too large unclipped */
            snapshot before, after;
            gradient[N - 1] = bad[i];
            take(&before, &optimizer, weights, gradient);
            double norm = acq_optimizer_update(&optimizer, 0, gradient, weights);
            assert_true(!isfinite(norm) || norm >= 1e29);
            take(&after, &optimizer, weights, gradient);
            assert_memory_equal(&before, &after, sizeof before);
        }
        acq_optimizer_deinit(&optimizer);
    }
}

static void test_gaps_stay_zero(void **state)
{
    (void)state;
    acq_optimizer_params params = ACQ_OPTIMIZER_DEFAULT;
    acq_optimizer optimizer;
    float weights[2] = {1, 0}, gradient[2] = {1, 0};
    params.decay = .1;
    params.average = .9;
    assert_int_equal(acq_optimizer_init(&optimizer, &params, weights, 2, NULL), ACQ_OK);
    for (int t = 0; t < 10; t++)
        acq_optimizer_update(&optimizer, 0, gradient, weights);
    assert_true(weights[1] == 0 && optimizer.average[1] == 0 && optimizer.first[1] == 0);
    acq_optimizer_deinit(&optimizer);
}

static void test_the_average_is_the_weights_when_off(void **state)
{
    (void)state;
    acq_optimizer_params params = ACQ_OPTIMIZER_DEFAULT;
    acq_optimizer optimizer;
    float weights[2] = {1, 2}, gradient[2] = {1, -1}, out[2];
    assert_int_equal(acq_optimizer_init(&optimizer, &params, weights, 2, NULL), ACQ_OK);
    acq_optimizer_update(&optimizer, 0, gradient, weights);
    acq_optimizer_copy_average(&optimizer, weights, out);
    assert_memory_equal(out, weights, sizeof out);
    acq_optimizer_deinit(&optimizer);
}

static void test_before_the_first_update_the_average_is_the_start(void **state)
{
    (void)state;
    acq_optimizer_params params = ACQ_OPTIMIZER_DEFAULT;
    acq_optimizer optimizer;
    float weights[2] = {1, 2}, out[2];
    params.average = .99;
    assert_int_equal(acq_optimizer_init(&optimizer, &params, weights, 2, NULL), ACQ_OK);
    acq_optimizer_copy_average(&optimizer, weights, out);
    assert_memory_equal(out, weights, sizeof out);
    acq_optimizer_deinit(&optimizer);
}

static void test_parameters_out_of_range_are_refused(void **state)
{
    (void)state;
    const acq_optimizer_params bad[] = {
        {.rate = -1},   {.rate = NAN},    {.last_rate = INFINITY}, {.beta1 = 1}, {.beta1 = -.1},
        {.beta2 = 1},   {.beta2 = NAN},   {.decay = -1},           {.clip = -1}, {.clip = NAN},
        {.average = 1}, {.average = -.5}, {.decay = INFINITY}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        acq_optimizer optimizer;
        acq_error error = {0};
        float weight = 0;
        assert_int_equal(acq_optimizer_init(&optimizer, &bad[i], &weight, 1, &error),
                         ACQ_ERR_USAGE);
        assert_int_equal(error.code, ACQ_ERR_USAGE);
        acq_optimizer_deinit(&optimizer);
    }
}

/* Minimises the distance to a point: Adam must get there. */
static void test_a_bowl_is_descended(void **state)
{
    (void)state;
    acq_optimizer_params params = ACQ_OPTIMIZER_DEFAULT;
    acq_optimizer optimizer;
    float weights[N] = {0}, gradient[N];
    params.rate = .05;
    params.last_rate = .0005;
    assert_int_equal(acq_optimizer_init(&optimizer, &params, weights, N, NULL), ACQ_OK);
    for (int t = 0; t < 2000; t++) {
        for (int i = 0; i < N; i++)
            gradient[i] = weights[i] - (float)i / N;
        acq_optimizer_update(&optimizer, t / 2000.0, gradient, weights);
    }
    for (int i = 0; i < N; i++)
        assert_near(weights[i], (double)i / N, 1e-3);
    acq_optimizer_deinit(&optimizer);
}

#ifdef ACQ_FAULTS
static void test_failed_allocations_are_reported(void **state)
{
    (void)state;
    const acq_shape shapes[] = {{"a", 3, 5}};
    acq_optimizer_params params = ACQ_OPTIMIZER_DEFAULT;
    float weights[N] = {0};
    for (size_t n = 1; n <= 3; n++) {
        acq_optimizer optimizer;
        acq_error error = {0};
        acq_faults_fail_at(n);
        assert_int_equal(acq_optimizer_init(&optimizer, &params, weights, N, &error),
                         ACQ_ERR_MEMORY);
        assert_int_equal(error.code, ACQ_ERR_MEMORY);
    }
    for (size_t n = 1; n <= 2; n++) {
        acq_parameters parameters;
        acq_faults_fail_at(n);
        assert_int_equal(acq_parameters_init(&parameters, shapes, 1), ACQ_ERR_MEMORY);
        assert_null(parameters.tensors);
    }
    acq_faults_fail_at(0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors_start_aligned_and_zeroed),
        cmocka_unit_test(test_a_block_too_large_to_address_is_out_of_memory),
        cmocka_unit_test(test_no_tensors_are_a_block_too),
        cmocka_unit_test(test_updates_follow_the_formulas),
        cmocka_unit_test(test_the_schedule_is_linear_and_stops_at_its_ends),
        cmocka_unit_test(test_clipping_scales_the_gradient_to_the_norm),
        cmocka_unit_test(test_a_gradient_that_is_not_finite_changes_nothing),
        cmocka_unit_test(test_gaps_stay_zero),
        cmocka_unit_test(test_the_average_is_the_weights_when_off),
        cmocka_unit_test(test_before_the_first_update_the_average_is_the_start),
        cmocka_unit_test(test_parameters_out_of_range_are_refused),
        cmocka_unit_test(test_a_bowl_is_descended),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_failed_allocations_are_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
