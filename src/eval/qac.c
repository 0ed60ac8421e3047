/* qac.c - query answer classification: each candidate of a set is checked on its own; the policy
 * search checks them side by side, with the same results.
 *
 * The seen-test (SPEC, the QAC trap): a candidate is seen when the observed graph shows it at its
 * end of every positive atom of the reading in force, that is, it has some link there, to whom
 * ever. Wrong candidates of the published files all pass it, so correct ones must too before
 * the two can be compared. No decision uses it. */
#include "eval/decide.h"

#include "answer/shown.h"
#include "base/memory.h"

typedef struct candidates {
    size_t n;
    const acq_ent **tuples; /* the correct ones first */
    acq_engine_result *results;
    double ground_ms; /* share of each */
} candidates;

static void candidates_deinit(candidates *set)
{
    acq_free(set->tuples);
    acq_free(set->results);
}

static acq_status candidates_init(candidates *set, const acq_bench_instance *instance,
                                  size_t n_free, acq_error *error)
{
    size_t n_correct = instance->correct.n, n = n_correct + instance->wrong.n;
    *set = (candidates){.n = n,
                        .tuples = acq_alloc(n, sizeof *set->tuples),
                        .results = acq_alloc(n, sizeof *set->results)};
    if (set->tuples == NULL || set->results == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n_correct; i++)
        set->tuples[i] = instance->correct.values + i * n_free;
    for (size_t i = 0; i < instance->wrong.n; i++)
        set->tuples[n_correct + i] = instance->wrong.values + i * n_free;
    return ACQ_OK;
}

static void note_decision(const acq_eval_worker *worker, const acq_ent *tuple,
                          const acq_engine_result *result, double ms, acq_decision *out)
{
    const acq_graph *observed = worker->params->predictor->graph;
    acq_eval_note_result(out, result, ms);
    out->is_yes = result->outcome == ACQ_ANSWERED;
    out->is_seen = acq_answer_is_shown(worker->query, observed, tuple);
}

/* Candidates first .. first + n in one go, whose time they share. */
static acq_status decide(acq_eval_worker *worker, const candidates *set, size_t first, size_t n,
                         acq_decision *out, acq_error *error)
{
    acq_engine_params engine = acq_eval_get_engine(worker->params);
    engine.search.stream = worker->stream + first;
    const acq_ent *const *tuples = set->tuples + first;
    acq_engine_result *results = set->results + first;
    int64_t begin = acq_clock_ns();
    acq_status status = acq_engine_check_many(worker->query, worker->params->predictor, tuples, n,
                                              &engine, results, error);
    double ms = set->ground_ms + (double)(acq_clock_ns() - begin) * 1e-6 / (double)n;
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        note_decision(worker, tuples[i], &results[i], ms, &out[first + i]);
    for (size_t i = 0; i < n; i++)
        acq_engine_result_deinit(&results[i]);
    return status;
}

static acq_status decide_all(acq_eval_worker *worker, const candidates *set, acq_decision *out,
                             acq_error *error)
{
    bool is_batch = worker->params->engine.engine == ACQ_ENGINE_policy;
    size_t at_once = is_batch ? set->n : 1;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < set->n && status == ACQ_OK; i += at_once)
        status = decide(worker, set, i, at_once, out, error);
    return status;
}

acq_status acq_eval_decide_qac(acq_eval_worker *worker, const acq_bench_instance *instance,
                               acq_decision *out, acq_error *error)
{
    candidates set = {0};
    double ground_ms;
    acq_status status = acq_eval_worker_ground(worker, instance, &ground_ms, error);
    if (status == ACQ_OK)
        status = candidates_init(&set, instance, worker->query->n_free, error);
    if (status == ACQ_OK) {
        set.ground_ms = ground_ms / (double)set.n;
        status = decide_all(worker, &set, out, error);
    }
    for (size_t i = 0; i < set.n; i++)
        out[i].is_correct = i < instance->correct.n;
    candidates_deinit(&set);
    return status;
}
