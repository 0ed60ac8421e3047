/* judge.c - what a calibrator makes of verified answers: their probabilities, and the decision by
 * them; see run.h. */
#include <math.h>
#include <stdlib.h>

#include "answer/answer.h"
#include "calibrate/answer.h"
#include "calibrate/worlds.h"
#include "engine/run.h"

/* ---- p ---- */

/* What one measurement may take: the same work on every machine, and no more than the time that is
 * left. */
static acq_budget make_budget(const acq_engine_run *run)
{
    const acq_search_params *search = &run->params.search;
    acq_budget budget;
    acq_budget_init(&budget, acq_run_get_seconds_left(run), 0);
    budget.work_left = ACQ_WORLDS_WORK;
    budget.stop = search->stop;
    return budget;
}

/* *p is left alone when time is up or a stop is wanted: then *spent says so. */
static acq_status measure(const acq_engine_run *run, acq_worlds *worlds, const acq_problem *problem,
                          const acq_ent *known, double *p, acq_spent *spent, acq_error *error)
{
    double found;
    acq_budget budget = make_budget(run);
    acq_status status = acq_worlds_measure(worlds, problem, known, &budget, &found, error);
    bool is_cut = budget.spent == ACQ_SPENT_TIME || budget.spent == ACQ_SPENT_INTERRUPT;
    if (status == ACQ_OK && !is_cut)
        *p = found;
    *spent = is_cut ? budget.spent : ACQ_SPENT_NOTHING;
    return status;
}

/* p of the tuple in values[0..n_free), the others being known to do. */
static acq_status measure_tuple(const acq_engine_run *run, acq_worlds *worlds,
                                const acq_ent *values, double *p, acq_spent *spent,
                                acq_error *error)
{
    acq_problem *fixed = NULL;
    acq_status status = acq_problem_new_fixed(
        run->query, acq_graph_get_n_entities(run->predictor->graph), values, &fixed, error);
    if (status == ACQ_OK)
        status = measure(run, worlds, fixed, values, p, spent, error);
    acq_problem_free(fixed);
    return status;
}

/* Adds what the field says, unless facts settle the answer or nobody asks. */
static acq_status describe_field(const acq_engine_run *run, float *features, acq_error *error)
{
    acq_answer_field *field = run->params.field;
    acq_status status = ACQ_OK;
    if (acq_answer_is_certain(features) ||
        !acq_answer_wants_field(acq_predictor_get_calibrator(run->predictor)))
        return ACQ_OK;
    if (!field->is_found)
        status = acq_engine_find_field(run->query, run->predictor, &run->params, field, error);
    if (status == ACQ_OK)
        acq_answer_describe_field(field, features);
    return status;
}

static acq_status rate_by_prior(const acq_engine_run *run, float *features,
                                acq_engine_answer *answer, acq_error *error)
{
    const acq_calibrator *calibrator = acq_predictor_get_calibrator(run->predictor);
    acq_status status = describe_field(run, features, error);
    if (status == ACQ_OK)
        answer->p_prior = acq_answer_get_prior_p(calibrator, features, run->params.prior);
    return status;
}

static acq_status rate(const acq_engine_run *run, acq_worlds *worlds, acq_engine_answer *answer,
                       acq_spent *spent, acq_error *error)
{
    const acq_scoring *scoring = &run->params.search.scoring;
    float features[ACQ_N_ANSWER_FEATURES];
    bool is_unknown = false;
    acq_status status = acq_prepare_denies_unknown(run, answer->values, &is_unknown, error);
    if (status != ACQ_OK || is_unknown)
        return status;
    status =
        acq_answer_describe(run->query, run->predictor, scoring, answer->values, features, error);
    if (status != ACQ_OK)
        return status;
    answer->score = acq_verify_score(run->query, run->predictor, scoring, answer->values);
    if (run->params.prior >= 0)
        status = rate_by_prior(run, features, answer, error);
    return worlds == NULL || status != ACQ_OK
               ? status
               : measure_tuple(run, worlds, answer->values, &answer->p, spent, error);
}

static bool wants_p(const acq_engine_run *run)
{
    return run->params.prior < 0 || !run->params.only_prior;
}

static acq_status open_worlds(const acq_engine_run *run, acq_worlds **out, acq_error *error)
{
    const acq_calibrator *calibrator = acq_predictor_get_calibrator(run->predictor);
    return wants_p(run) ? acq_worlds_new(run->predictor, calibrator->joint, out, error) : ACQ_OK;
}

/* Some answers have no p for want of time. */
static void note_spent(const acq_engine_run *run, acq_spent spent)
{
    if (spent == ACQ_SPENT_NOTHING)
        return;
    run->result->spent = spent;
    run->result->complete = false;
}

acq_status acq_judge_rate(const acq_engine_run *run, acq_engine_answer *answers, size_t n,
                          acq_error *error)
{
    acq_worlds *worlds = NULL;
    acq_spent spent = ACQ_SPENT_NOTHING;
    acq_status status = open_worlds(run, &worlds, error);
    for (size_t i = 0; i < n && status == ACQ_OK && spent == ACQ_SPENT_NOTHING; i++)
        status = rate(run, worlds, &answers[i], &spent, error);
    acq_worlds_free(worlds);
    note_spent(run, spent);
    return status;
}

/* ---- the question as a whole ---- */

/* p that there is any answer, at least that of the likeliest one. */
static acq_status measure_any(const acq_engine_run *run, acq_worlds *worlds, double *p_any,
                              acq_spent *spent, acq_error *error)
{
    const acq_engine_result *result = run->result;
    const acq_ent *known = result->n_candidates > 0 ? result->answers[0].values : NULL;
    acq_problem *open = NULL;
    acq_status status =
        acq_problem_new(run->query, acq_graph_get_n_entities(run->predictor->graph), &open, error);
    if (status == ACQ_OK)
        status = measure(run, worlds, open, known, p_any, spent, error);
    acq_problem_free(open);
    return status;
}

static void rate_if_answered(const acq_engine_run *run, double p_any)
{
    const acq_calibrator *calibrator = acq_predictor_get_calibrator(run->predictor);
    const acq_engine_result *result = run->result;
    for (size_t i = 0; i < result->n_candidates; i++) {
        acq_engine_answer *answer = &result->answers[i];
        answer->p_if_answered = acq_calibrator_get_p_if_answered(calibrator, answer->p, p_any);
    }
}

static acq_status rate_whole(const acq_engine_run *run, acq_error *error)
{
    acq_engine_result *result = run->result;
    acq_worlds *worlds = NULL;
    acq_spent spent = ACQ_SPENT_NOTHING;
    double p_any = NAN;
    bool is_boolean = run->query->n_free == 0;
    bool is_sure = result->n_candidates > 0 && result->answers[0].p >= 1;
    acq_status status = open_worlds(run, &worlds, error);
    bool is_open = run->values == NULL && !is_boolean;
    if (status == ACQ_OK && !is_open && result->n_candidates > 0)
        result->p_whole = result->answers[0].p;
    else if (status == ACQ_OK && !is_open)
        status = measure(run, worlds, run->problem, NULL, &result->p_whole, &spent, error);
    if (is_sure)
        p_any = 1;
    else if (status == ACQ_OK && spent == ACQ_SPENT_NOTHING && !is_boolean)
        status = measure_any(run, worlds, &p_any, &spent, error);
    if (is_open)
        result->p_whole = p_any;
    if (!isnan(p_any) && !is_boolean)
        rate_if_answered(run, p_any);
    acq_worlds_free(worlds);
    return status;
}

/* ---- the decision ---- */

typedef struct order {
    const acq_engine_params *params;
    uint32_t n_variables;
} order;

/* Equal ones by values, so that the order does not depend on the sorting. */
static int compare_answers(const void *left, const void *right, void *context)
{
    const acq_engine_answer *a = left, *b = right;
    const order *by = context;
    double p = acq_engine_get_decisive(by->params, a), q = acq_engine_get_decisive(by->params, b);
    if (p != q)
        return p > q ? -1 : 1;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    for (uint32_t i = 0; i < by->n_variables; i++) {
        if (a->values[i] != b->values[i])
            return a->values[i] < b->values[i] ? -1 : 1;
    }
    return 0;
}

/* Leaves the answers that have a p. */
static size_t keep_rated(const acq_engine_run *run)
{
    acq_engine_result *result = run->result;
    size_t n = 0;
    for (size_t i = 0; i < result->n_answers; i++)
        if (!isnan(acq_engine_get_decisive(&run->params, &result->answers[i])))
            result->answers[n++] = result->answers[i];
    return n;
}

acq_status acq_judge_decide(const acq_engine_run *run, acq_error *error)
{
    acq_engine_result *result = run->result;
    uint64_t limit = run->params.search.limit;
    order by = {&run->params, run->query->n_variables};
    size_t n = keep_rated(run), n_kept = 0;
    if (n > 0)
        qsort_r(result->answers, n, sizeof *result->answers, compare_answers, &by);
    while (n_kept < n && (limit == 0 || n_kept < limit) &&
           acq_engine_get_decisive(&run->params, &result->answers[n_kept]) >= run->params.min_p)
        n_kept++;
    bool had_answers = result->n_answers > 0;
    result->n_candidates = n;
    result->likeliest = n > 0 ? &result->answers[0] : NULL;
    result->n_answers = n_kept;
    if (n_kept == 0 && had_answers)
        result->outcome = result->complete ? ACQ_NONE : ACQ_UNDECIDED;
    return wants_p(run) ? rate_whole(run, error) : ACQ_OK;
}
