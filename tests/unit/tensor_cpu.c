/* tensor_cpu.c - a limit on instructions holds for the process, is settled once, and reaches every
 * choice of kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tensor/bf16.h"
#include "tensor/kernels.h"

static void test_levels_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < ACQ_N_CPU_LEVELS; i++)
        assert_int_equal(acq_cpu_level_find(acq_cpu_level_get_name((acq_cpu_level)i)), i);
    assert_int_equal(acq_cpu_level_find("sse"), ACQ_N_CPU_LEVELS);
}

static void test_the_first_limit_holds(void **state)
{
    (void)state;
    acq_error error = {0};
    assert_int_equal(acq_cpu_limit(ACQ_N_CPU_LEVELS, NULL), ACQ_ERR_USAGE);
    assert_int_equal(acq_cpu_limit(ACQ_CPU_GENERIC, NULL), ACQ_OK);
    assert_int_equal(acq_cpu_limit(ACQ_CPU_GENERIC, NULL), ACQ_OK);
    assert_int_equal(acq_cpu_limit(ACQ_CPU_AMX, &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message, "instructions up to generic are in use already; limit them "
                                       "to amx before anything else is called");
    assert_false(acq_cpu_has_avx2() || acq_cpu_has_avx512() || acq_cpu_has_avx512_bf16() ||
                 acq_cpu_has_amx_bf16());
    assert_string_equal(acq_kernels_get_best()->name, "generic");
    assert_null(acq_kernels_find("avx2"));
    assert_false(acq_bf16_is_fast());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_have_names),
        cmocka_unit_test(test_the_first_limit_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
