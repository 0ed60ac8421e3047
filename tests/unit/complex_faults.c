/* complex_faults.c - ComplEx with its N-th allocation failing, for every N until it succeeds:
 * always ACQ_ERR_MEMORY, nothing handed out, nothing leaked (the address sanitizer looks). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "train/train.h"
#include "unit/complex_case.h"

#ifdef ACQ_FAULTS

#define PATH "model.safetensors"

enum { MOST_ALLOCATIONS = 2000 };

static char folder[] = "anycq-complex-XXXXXX";

typedef acq_status (*trial_fn)(const acq_graph *graph, acq_error *error);

static void try_all(trial_fn trial)
{
    acq_graph *graph = complex_case_ring(8);
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = trial(graph, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(error.code, status);
    }
    assert_int_equal(status, ACQ_OK);
    assert_true(n > 2);
    acq_graph_free(graph);
}

static acq_status try_training(const acq_graph *graph, acq_error *error)
{
    acq_train_complex_params params;
    acq_complex *model = NULL;
    acq_train_complex_params_init(&params);
    params.rank = 3;
    params.epochs = 2;
    params.batch = 5;
    params.candidates = 2;
    params.relation_weight = 1;
    params.n_threads = 1;
    params.checkpoint = PATH;
    params.checkpoint_seconds = 0;
    params.precision = ACQ_PRECISION_BF16; /* which needs more memory */
    acq_status status = acq_train_complex(graph, &params, &model, error);
    assert_true((model == NULL) == (status != ACQ_OK));
    acq_complex_free(model);
    return status;
}

static void test_training(void **state)
{
    (void)state;
    try_all(try_training);
}

static acq_status try_files(const acq_graph *graph, acq_error *error)
{
    acq_complex *model = NULL, *read = NULL;
    acq_status status = acq_complex_new(10, 4, 3, 1, 1, &model, error);
    if (status == ACQ_OK)
        status = acq_complex_write(PATH, model, graph, NULL, 0, error);
    if (status == ACQ_OK)
        status = acq_complex_read(PATH, graph, &read, error);
    acq_complex_free(model);
    acq_complex_free(read);
    return status;
}

static void test_files(void **state)
{
    (void)state;
    try_all(try_files);
}

static acq_status try_rows(const acq_graph *graph, acq_error *error)
{
    acq_complex *model = NULL;
    acq_row_model *rows = NULL;
    void *scratch = NULL;
    acq_status status = acq_complex_new(10, 4, 3, 1, 1, &model, error);
    if (status == ACQ_OK)
        status = acq_complex_new_row_model(model, graph, &rows, error);
    if (status == ACQ_OK)
        status = rows->ops->open_scratch(rows, &scratch, error);
    if (rows != NULL)
        rows->ops->free_scratch(rows, scratch);
    acq_row_model_free(rows);
    acq_complex_free(model);
    return status;
}

static void test_rows(void **state)
{
    (void)state;
    try_all(try_rows);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

int main(void)
{
    puts("skipped: built without ACQ_FAULTS");
    return 0;
}

#endif
