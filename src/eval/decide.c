/* decide.c - see eval.h: grounding and timing, then classification, retrieval and single links.
 *
 * Classification: each candidate of a set is checked on its own; the policy search checks them
 * side by side, with the same results. A candidate is "seen" when the observed graph has it, with
 * whomever, at its end of every positive atom of the reading in force. Wrong candidates of the
 * published files all are, so correct ones must be too before the two can be compared. No
 * decision uses it.
 *
 * Retrieval: the best tuple or None, judged by the file's list and, where a truth graph is given,
 * by an exact check there, which does not trust the label. */
#include "eval/eval.h"

#include <math.h>
#include <string.h>

#include "answer/answer.h"
#include "base/memory.h"
#include "base/threads.h"
#include "calibrate/calibrator.h"
#include "query/query.h"

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
        acq_fail(error, status, "formula %zu: %.400s", worker->file->formulas[i_formula].number,
                 why.message);
        acq_error_set_file(error, worker->file->path);
        return status;
    }
    acq_query_free(worker->query);
    worker->query = query;
    worker->i_formula = i_formula;
    return ACQ_OK;
}

static acq_status ground(acq_eval_worker *worker, const acq_bench_instance *instance, double *ms,
                         acq_error *error)
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

static void note_result(acq_decision *decision, const acq_engine_params *engine,
                        const acq_engine_result *result, double ms)
{
    const acq_engine_answer *likeliest = result->likeliest;
    double p = likeliest == NULL ? NAN : acq_engine_get_decisive(engine, likeliest);
    decision->is_undecided = result->outcome == ACQ_UNDECIDED;
    if (likeliest != NULL)
        decision->rank = isnan(p) ? likeliest->score : p; /* without p of a fuzzy engine */
    else
        decision->rank = result->n_answers > 0 ? result->answers[0].score : 0.0;
    decision->ms = ms;
    decision->nodes = result->effort.nodes;
    decision->revisions = result->effort.revisions;
    decision->classes = result->effort.classes;
    decision->flops = result->effort.flops;
}

/* ---- classification ---- */

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
    acq_engine_params engine = acq_eval_get_engine(worker->params);
    note_result(out, &engine, result, ms);
    out->is_yes = result->outcome == ACQ_ANSWERED;
    out->is_seen = acq_explain_is_seen(worker->query, observed, tuple);
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
    acq_engine_id engine = worker->params->engine.engine;
    bool is_batch = engine == ACQ_ENGINE_policy || acq_engine_is_fuzzy(engine);
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
    acq_status status = ground(worker, instance, &ground_ms, error);
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

/* ---- retrieval ---- */

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
    acq_status status = ground(worker, instance, &ground_ms, error);
    if (status != ACQ_OK)
        return status;
    out->item.type = instance->type;
    engine.search.limit = 1;
    engine.search.stream = worker->stream;
    int64_t begin = acq_clock_ns();
    status = acq_engine_ask(worker->query, params->predictor, &engine, &result, error);
    if (status == ACQ_OK) {
        note_result(out, &engine, &result, ground_ms + (double)(acq_clock_ns() - begin) * 1e-6);
        if (result.outcome == ACQ_ANSWERED)
            status = judge(worker, instance, result.answers[0].values, out, error);
    }
    acq_engine_result_deinit(&result);
    return status;
}

/* ---- single links ----
 *
 * Each thread has a query of its own, which it grounds anew for every link. */

enum { CHUNK = 32 }; /* links that a thread takes at once */

typedef struct link_worker {
    acq_query *query;
    acq_error error;
} link_worker;

typedef struct link_decision {
    bool is_yes, is_undecided;
} link_decision;

typedef struct deciding {
    const acq_links_decide_params *params;
    unsigned n_threads;
    acq_links_plan plan; /* of the links to decide, one direction */
    link_decision *decisions;
    link_worker *workers;
} deciding;

/* Drops the other direction of every link. */
static void keep_even(acq_links_plan *plan)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        if (plan->links[i].relation % 2 == 0)
            plan->links[n++] = plan->links[i];
    }
    plan->n = n;
}

static acq_status decide_link(const deciding *run, link_worker *me, const acq_triple *link,
                              link_decision *out)
{
    static const char *const names[] = {"r1", "s1"};
    const uint32_t ids[] = {link->relation, link->head};
    acq_engine_result result = {0};
    acq_status status = acq_query_ground_pairs(me->query, names, ids, 2, &me->error);
    if (status != ACQ_OK)
        return status;
    status = acq_engine_check(me->query, run->params->predictor, &link->tail, &run->params->engine,
                              &result, &me->error);
    *out = (link_decision){.is_yes = result.outcome == ACQ_ANSWERED,
                           .is_undecided = result.outcome == ACQ_UNDECIDED};
    acq_engine_result_deinit(&result);
    return status;
}

static acq_status decide_link_chunk(void *context, size_t item, unsigned thread)
{
    deciding *run = context;
    size_t begin = item * CHUNK, end = begin + CHUNK < run->plan.n ? begin + CHUNK : run->plan.n;
    acq_status status = ACQ_OK;
    for (size_t i = begin; i < end && status == ACQ_OK; i++)
        status = decide_link(run, &run->workers[thread], &run->plan.links[i], &run->decisions[i]);
    if (status != ACQ_OK || thread != 0 || run->params->progress == NULL ||
        run->params->progress(run->params->context, (double)end / (double)run->plan.n))
        return status;
    return acq_fail(&run->workers[thread].error, ACQ_ERR_INTERRUPTED, "interrupted");
}

static acq_status open_link_workers(deciding *run, acq_error *error)
{
    static const char formula[] = "r1(s1,f1)";
    acq_status status = ACQ_OK;
    run->workers = acq_zalloc(run->n_threads, sizeof *run->workers);
    if (run->workers == NULL)
        return acq_fail_memory(error);
    for (unsigned i = 0; i < run->n_threads && status == ACQ_OK; i++)
        status = acq_query_parse_benchmark(formula, strlen(formula), &run->workers[i].query, error);
    return status;
}

static acq_status run_link_threads(deciding *run, acq_error *error)
{
    size_t n_chunks = (run->plan.n + CHUNK - 1) / CHUNK;
    acq_status status = acq_threads_run(run->n_threads, n_chunks, decide_link_chunk, run);
    for (unsigned i = 0; i < run->n_threads; i++) {
        if (error != NULL && error->code == ACQ_OK && run->workers[i].error.code == status)
            *error = run->workers[i].error;
    }
    return status;
}

static acq_status prepare_links(deciding *run, const acq_predictor *links, acq_error *error)
{
    acq_status status = acq_links_plan_init(&run->plan, links, 0, CHUNK, error);
    if (status != ACQ_OK)
        return status;
    keep_even(&run->plan);
    if (run->params->first > 0 && run->params->first < run->plan.n)
        status = acq_links_plan_draw(&run->plan, (size_t)run->params->first, error);
    run->decisions = acq_zalloc(run->plan.n, sizeof *run->decisions);
    if (status == ACQ_OK && run->decisions == NULL)
        status = acq_fail_memory(error);
    return status == ACQ_OK ? open_link_workers(run, error) : status;
}

/* Observed links are left out, which sets of answers are not. */
static double choose_prior(const acq_links_decide_params *params)
{
    return acq_calibrator_get_open_prior(acq_predictor_get_calibrator(params->predictor),
                                         params->engine.prior);
}

/* The links of `links` that are not observed: how many, and how many of them are said yes to. */
static acq_status decide_links(const acq_links_decide_params *params, const acq_predictor *links,
                               uint64_t *n, uint64_t *n_yes, uint64_t *n_undecided,
                               acq_error *error)
{
    deciding run = {.params = params, .n_threads = params->n_threads > 0 ? params->n_threads : 1};
    acq_status status = prepare_links(&run, links, error);
    if (status == ACQ_OK)
        status = run_link_threads(&run, error);
    for (size_t i = 0; i < run.plan.n && status == ACQ_OK; i++) {
        *n_yes += run.decisions[i].is_yes;
        *n_undecided += run.decisions[i].is_undecided;
    }
    *n = run.plan.n;
    for (unsigned i = 0; run.workers != NULL && i < run.n_threads; i++)
        acq_query_free(run.workers[i].query);
    acq_free(run.workers);
    acq_free(run.decisions);
    acq_links_plan_deinit(&run.plan);
    return status;
}

acq_status acq_links_decide(const acq_links_decide_params *params, acq_links_decisions *out,
                            acq_error *error)
{
    acq_links_decisions all = {0};
    acq_links_decide_params settled = *params;
    settled.engine.prior = choose_prior(params);
    settled.engine.only_prior = settled.engine.prior >= 0;
    acq_status status =
        decide_links(&settled, params->truth, &all.n_true, &all.true_yes, &all.n_undecided, error);
    if (status == ACQ_OK)
        status = decide_links(&settled, params->negatives, &all.n_false, &all.false_yes,
                              &all.n_undecided, error);
    if (status != ACQ_OK)
        return status;
    uint64_t n = all.n_true + all.n_false, n_right = all.true_yes + all.n_false - all.false_yes;
    all.accuracy = n == 0 ? 0.0 : (double)n_right / (double)n;
    *out = all;
    return ACQ_OK;
}
