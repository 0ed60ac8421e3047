/* query_file.c - any bytes as a benchmark query file of either task. What is accepted must keep
 * its promises: ids below the limits, every instance can be grounded, under every reading that
 * applies. The first byte chooses the task. */
#include <assert.h>
#include <stdlib.h>

#include "eval/files.h"
#include "query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const acq_bench_limits limits = {.n_entities = 1000, .n_relations = 100};

static void check_tuples(const acq_bench_tuples *tuples, uint32_t n_free)
{
    for (size_t i = 0; i < tuples->n * n_free; i++)
        assert(tuples->values[i] < limits.n_entities);
    if (tuples->n > 0)
        assert(acq_bench_tuples_contain(tuples, tuples->values, n_free));
}

static void check_instance(const acq_bench_file *file, size_t i)
{
    const acq_bench_instance *instance = &file->instances[i];
    assert(instance->formula < file->n_formulas);
    const acq_bench_formula *formula = &file->formulas[instance->formula];
    assert(i >= formula->first && i < formula->first + formula->n);
    for (size_t j = 0; j < formula->n_names; j++)
        assert(instance->ids[j] < limits.n_entities);
    check_tuples(&instance->correct, formula->query->n_free);
    check_tuples(&instance->wrong, formula->query->n_free);
    for (int reading = 0; reading < ACQ_N_ATOMS_READINGS; reading++) {
        acq_query *query;
        if (acq_query_apply_reading(formula->query, (acq_atoms_reading)reading, &query, NULL) !=
            ACQ_OK)
            continue;
        acq_status status =
            acq_query_ground_pairs(query, formula->names, instance->ids, formula->n_names, NULL);
        assert(status == ACQ_OK);
        (void)status;
        acq_query_free(query);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    acq_bench_file *file = NULL;
    acq_error error = {0};
    if (size == 0)
        return 0;
    acq_bench_task task = data[0] % 2 == 0 ? ACQ_TASK_QAC : ACQ_TASK_QAR;
    acq_status status = acq_bench_file_parse((const char *)data + 1, size - 1, "fuzz.json", task,
                                             limits, &file, &error);
    if (status != ACQ_OK) {
        assert(file == NULL && error.code == status && error.message[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < file->n_instances; i++)
        check_instance(file, i);
    acq_bench_file_free(file);
    return 0;
}
