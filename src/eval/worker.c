/* worker.c - what both tasks share: the state of a thread, grounding, timing. */
#include "eval/decide.h"

#include "query/benchmark/parse.h"

void acq_eval_worker_init(acq_eval_worker *worker, const acq_eval_params *params,
                          const acq_bench_file *file)
{
    *worker = (acq_eval_worker){.params = params, .file = file, .i_formula = SIZE_MAX};
    worker->atoms = params->has_atoms ? params->atoms : acq_bench_file_get_atoms(file);
}

void acq_eval_worker_deinit(acq_eval_worker *worker)
{
    acq_query_free(worker->query);
    worker->query = NULL;
}

/* The reading is applied once per formula: it depends on the terms, not on their ids. */
static acq_status take_formula(acq_eval_worker *worker, uint32_t i_formula, acq_error *error)
{
    acq_query *query;
    acq_error why = {0};
    if (worker->i_formula == i_formula)
        return ACQ_OK;
    acq_status status = acq_query_apply_reading(worker->file->formulas[i_formula].query,
                                                worker->atoms, &query, &why);
    if (status != ACQ_OK) {
        acq_fail(error, status, "formula %u: %.400s", i_formula + 1, why.message);
        acq_error_set_file(error, worker->file->path);
        return status;
    }
    acq_query_free(worker->query);
    worker->query = query;
    worker->i_formula = i_formula;
    return ACQ_OK;
}

acq_status acq_eval_worker_ground(acq_eval_worker *worker, const acq_bench_instance *instance,
                                  double *ms, acq_error *error)
{
    const acq_bench_formula *formula = &worker->file->formulas[instance->formula];
    acq_status status = take_formula(worker, instance->formula, error);
    if (status != ACQ_OK)
        return status;
    int64_t begin = acq_clock_ns();
    status = acq_query_ground_pairs(worker->query, formula->names, instance->ids, formula->n_names,
                                    error);
    *ms = (double)(acq_clock_ns() - begin) * 1e-6;
    return status;
}

size_t acq_eval_count_decisions(const acq_bench_file *file, const acq_bench_instance *instance)
{
    return file->task == ACQ_TASK_QAC ? instance->correct.n + instance->wrong.n : 1;
}

void acq_eval_note_result(acq_decision *decision, const acq_engine_result *result, double ms)
{
    decision->is_undecided = result->outcome == ACQ_UNDECIDED;
    if (result->likeliest != NULL)
        decision->rank = result->likeliest->p;
    else
        decision->rank = result->n_answers > 0 ? result->answers[0].score : 0.0;
    decision->ms = ms;
    decision->nodes = result->effort.nodes;
    decision->revisions = result->effort.revisions;
    decision->classes = result->effort.classes;
    decision->flops = result->effort.flops;
}
