/* predict_quantise.c - the 16-bit scale: exact points, order, resolution, floors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "predict/completion_file.h"
#include "predict/predictor.h"

static void test_the_named_scores_are_exact(void **state)
{
    (void)state;
    const float exact[] = {0.0F, 0.5F, 0.9999F, 1.0F};
    const uint16_t codes[] = {0, ACQ_CODE_HALF, ACQ_CODE_PREDICTED, ACQ_CODE_CERTAIN};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(acq_score_encode(exact[i]), codes[i]);
        assert_true(acq_score_decode(codes[i]) == exact[i]);
    }
    assert_true(ACQ_SCORE_UNOBSERVED_MOST == 0.9999F);
}

static void test_scores_grow_with_codes(void **state)
{
    (void)state;
    for (uint32_t code = 1; code < ACQ_CODES; code++) {
        float below = acq_score_decode((uint16_t)(code - 1)),
              score = acq_score_decode((uint16_t)code);
        assert_true(below <= score);
        assert_true(score > 0.0F && score <= 1.0F);
        if (score < 0.99F)
            assert_true(below < score);
    }
    assert_true(acq_score_decode(ACQ_CODE_LEAST) < 1.01e-6F);
}

static void test_a_score_comes_back_within_its_step(void **state)
{
    (void)state;
    acq_random random = acq_random_start(9, 9);
    for (int i = 0; i < 200000; i++) {
        double logit = -13.0 + 22.0 * acq_random_unit(&random);
        float score = (float)(1.0 / (1.0 + exp(-logit)));
        float back = acq_score_decode(acq_score_encode(score));
        double allowed = 1.8e-4 * (double)score * (1.0 - (double)score) + 1e-7 * (double)score;
        assert_true(fabs((double)back - (double)score) <= allowed);
        assert_int_equal(acq_score_encode(back),
                         acq_score_encode(acq_score_decode(acq_score_encode(back))));
    }
    float small = acq_score_decode(acq_score_encode(0.003F));
    assert_true(fabsf(small - 0.003F) < 6e-7F);
}

static void test_encoding_keeps_the_order(void **state)
{
    (void)state;
    acq_random random = acq_random_start(10, 1);
    for (int i = 0; i < 200000; i++) {
        float a = (float)acq_random_unit(&random), b = (float)acq_random_unit(&random);
        if (a <= b)
            assert_true(acq_score_encode(a) <= acq_score_encode(b));
    }
}

static void test_scores_above_the_unobserved_most_are_lowered(void **state)
{
    (void)state;
    assert_int_equal(acq_score_encode(0.99995F), ACQ_CODE_PREDICTED);
    assert_int_equal(acq_score_encode(nextafterf(1.0F, 0.0F)), ACQ_CODE_PREDICTED);
    assert_int_equal(acq_score_encode(1e-30F), ACQ_CODE_LEAST);
    assert_int_equal(acq_score_encode(-1.0F), 0);
    assert_int_equal(acq_score_encode(NAN), 0);
}

static void test_the_floor_code_is_the_lowest_at_or_above(void **state)
{
    (void)state;
    const double floors[] = {0.0, 1e-9, 1e-6, 0.001, 0.003, 0.1, 0.5, 0.9, 0.9999, 0.99995, 1.0};
    for (size_t i = 0; i < sizeof floors / sizeof floors[0]; i++) {
        uint16_t code = acq_score_encode_floor(floors[i]);
        assert_true(code >= ACQ_CODE_LEAST);
        assert_true(acq_score_decode(code) >= (float)floors[i]);
        if (code > ACQ_CODE_LEAST)
            assert_true(acq_score_decode((uint16_t)(code - 1)) < (float)floors[i]);
    }
    assert_true(acq_score_decode(acq_score_encode_floor(0.9999)) == 0.9999F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_named_scores_are_exact),
        cmocka_unit_test(test_scores_grow_with_codes),
        cmocka_unit_test(test_a_score_comes_back_within_its_step),
        cmocka_unit_test(test_encoding_keeps_the_order),
        cmocka_unit_test(test_scores_above_the_unobserved_most_are_lowered),
        cmocka_unit_test(test_the_floor_code_is_the_lowest_at_or_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
