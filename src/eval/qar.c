/* qar.c - query answer retrieval: the best tuple or None, judged by the file's list and, where a
 * truth graph is given, by an exact check there, which does not trust the label. */
#include "eval/decide.h"

/* Does this judge's graph satisfy the query at this tuple? An undecided check is a no. */
static acq_status holds(const acq_eval_worker *worker, const acq_predictor *judge,
                        const acq_ent *tuple, bool *out, acq_error *error)
{
    acq_engine_params exact = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    exact.search.seconds = worker->params->engine.search.seconds;
    exact.search.memory_bytes = worker->params->engine.search.memory_bytes;
    acq_status status = acq_engine_check(worker->query, judge, tuple, &exact, &result, error);
    if (status == ACQ_OK)
        *out = result.outcome == ACQ_ANSWERED;
    acq_engine_result_deinit(&result);
    return status;
}

static acq_status judge(const acq_eval_worker *worker, const acq_bench_instance *instance,
                        const acq_ent *tuple, acq_decision *out, acq_error *error)
{
    const acq_eval_params *params = worker->params;
    bool is_right = acq_bench_tuples_contain(&instance->correct, tuple, worker->query->n_free);
    bool is_missing = !is_right && instance->correct.n >= ACQ_BENCH_LIST_END, is_true = false;
    const acq_predictor *by = params->truth;
    if (by == NULL && is_missing && params->is_perfect)
        by = params->predictor;
    acq_status status = by == NULL ? ACQ_OK : holds(worker, by, tuple, &is_true, error);
    if (status != ACQ_OK)
        return status;
    out->item.verified = is_true ? ACQ_QAR_RIGHT : ACQ_QAR_WRONG;
    out->item.listed = is_right || (is_missing && is_true) ? ACQ_QAR_RIGHT : ACQ_QAR_WRONG;
    out->is_unlisted = is_missing && by == NULL;
    return ACQ_OK;
}

acq_status acq_eval_decide_qar(acq_eval_worker *worker, const acq_bench_instance *instance,
                               acq_decision *out, acq_error *error)
{
    const acq_eval_params *params = worker->params;
    acq_engine_params engine = acq_eval_get_engine(params);
    acq_engine_result result;
    double ground_ms;
    acq_status status = acq_eval_worker_ground(worker, instance, &ground_ms, error);
    if (status != ACQ_OK)
        return status;
    out->item.type = instance->type;
    engine.search.limit = 1;
    engine.search.stream = worker->stream;
    int64_t begin = acq_clock_ns();
    status = acq_engine_ask(worker->query, params->predictor, &engine, &result, error);
    if (status == ACQ_OK) {
        acq_eval_note_result(out, &result, ground_ms + (double)(acq_clock_ns() - begin) * 1e-6);
        if (result.outcome == ACQ_ANSWERED)
            status = judge(worker, instance, result.answers[0].values, out, error);
    }
    acq_engine_result_deinit(&result);
    return status;
}
