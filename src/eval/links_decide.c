/* links_decide.c - see links_decide.h. Each thread has a query of its own, which it grounds anew
 * for every link. */
#include "eval/links_decide.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "eval/links_plan.h"
#include "calibrate/calibrator.h"
#include "query/benchmark/parse.h"

enum { CHUNK = 32 }; /* links that a thread takes at once */

typedef struct worker {
    acq_query *query;
    acq_error error;
} worker;

typedef struct decision {
    bool is_yes, is_undecided;
} decision;

typedef struct deciding {
    const acq_links_decide_params *params;
    unsigned n_threads;
    acq_links_plan plan; /* of the links to decide, one direction */
    decision *decisions;
    worker *workers;
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

static acq_status decide_link(const deciding *run, worker *me, const acq_triple *link,
                              decision *out)
{
    static const char *const names[] = {"r1", "s1"};
    const uint32_t ids[] = {link->relation, link->head};
    acq_engine_result result = {0};
    acq_status status = acq_query_ground_pairs(me->query, names, ids, 2, &me->error);
    if (status != ACQ_OK)
        return status;
    status = acq_engine_check(me->query, run->params->predictor, &link->tail, &run->params->engine,
                              &result, &me->error);
    *out = (decision){.is_yes = result.outcome == ACQ_ANSWERED,
                      .is_undecided = result.outcome == ACQ_UNDECIDED};
    acq_engine_result_deinit(&result);
    return status;
}

static acq_status decide_chunk(void *context, size_t item, unsigned thread)
{
    deciding *run = context;
    size_t begin = item * CHUNK, end = begin + CHUNK < run->plan.n ? begin + CHUNK : run->plan.n;
    acq_status status = ACQ_OK;
    for (size_t i = begin; i < end && status == ACQ_OK; i++)
        status = decide_link(run, &run->workers[thread], &run->plan.links[i], &run->decisions[i]);
    return status;
}

static acq_status open_workers(deciding *run, acq_error *error)
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

static acq_status run_threads(deciding *run, acq_error *error)
{
    size_t n_chunks = (run->plan.n + CHUNK - 1) / CHUNK;
    acq_status status = acq_threads_run(run->n_threads, n_chunks, decide_chunk, run);
    for (unsigned i = 0; i < run->n_threads; i++) {
        if (error != NULL && error->code == ACQ_OK && run->workers[i].error.code == status)
            *error = run->workers[i].error;
    }
    return status;
}

static acq_status prepare(deciding *run, const acq_predictor *links, acq_error *error)
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
    return status == ACQ_OK ? open_workers(run, error) : status;
}

/* Observed links are left out, which sets of answers are not. */
static double choose_prior(const acq_links_decide_params *params)
{
    const acq_calibrator *calibrator = acq_predictor_get_calibrator(params->predictor);
    double prior = params->engine.prior;
    return calibrator == NULL || prior < 0 ? prior
                                           : acq_calibrator_get_open_prior(calibrator, prior);
}

/* The links of `links` that are not observed: how many, and how many of them are said yes to. */
static acq_status decide_all(const acq_links_decide_params *params, const acq_predictor *links,
                             uint64_t *n, uint64_t *n_yes, uint64_t *n_undecided, acq_error *error)
{
    deciding run = {.params = params, .n_threads = params->n_threads > 0 ? params->n_threads : 1};
    acq_status status = prepare(&run, links, error);
    if (status == ACQ_OK)
        status = run_threads(&run, error);
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
    acq_status status =
        decide_all(&settled, params->truth, &all.n_true, &all.true_yes, &all.n_undecided, error);
    if (status == ACQ_OK)
        status = decide_all(&settled, params->negatives, &all.n_false, &all.false_yes,
                            &all.n_undecided, error);
    if (status != ACQ_OK)
        return status;
    uint64_t n = all.n_true + all.n_false, n_right = all.true_yes + all.n_false - all.false_yes;
    all.accuracy = n == 0 ? 0.0 : (double)n_right / (double)n;
    *out = all;
    return ACQ_OK;
}
