/* retrieval.c - see parts.h. Questions are shared out among threads and kept in their order, so a
 * seed repeats at any number of threads. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "calibrate/answer.h"
#include "fit/parts.h"

enum {
    CANDIDATES = 20,  /* of a question, as an ask compares them */
    WORK = 1000000,   /* of a search */
    LEAST_CASES = 200 /* fewer teach nothing: the number of a check stays */
};

/* What a question comes to: the likeliest candidate, if facts do not settle it. */
typedef struct asked {
    float features[ACQ_N_RETRIEVAL_FEATURES];
    bool counts;  /* its answer is known: there is one, or none */
    bool is_open; /* it has a candidate that facts do not settle */
    bool is_true; /* of that candidate */
    bool is_answered;
} asked;

typedef struct retrieving {
    const acq_sampler *sampler;
    acq_trial_source source;
    const acq_fit_params *params;
    const acq_calibrator *calibrator;
    asked *questions;
} retrieving;

/* Is there an answer, or is it this one? Undecided counts as neither. */
static acq_status look(const retrieving *r, const acq_query *query, const acq_ent *values,
                       acq_outcome *out, acq_error *error)
{
    acq_engine_params engine = acq_trial_choose_search(r->source.truth, 1, r->source.work);
    acq_engine_result result;
    acq_status status =
        values == NULL ? acq_engine_ask(query, r->source.truth, &engine, &result, error)
                       : acq_engine_check(query, r->source.truth, values, &engine, &result, error);
    *out = status == ACQ_OK ? result.outcome : ACQ_UNDECIDED;
    acq_engine_result_deinit(&result);
    return status;
}

/* Keeps the likeliest so far; facts settle the question. */
static void keep(asked *out, const float *features, double *best, const acq_calibrator *calibrator,
                 bool *is_best)
{
    double p = acq_calibrator_get_prior_p(calibrator, features, .5);
    *is_best = p > *best || acq_answer_is_certain(features);
    if (!*is_best)
        return;
    *best = acq_answer_is_certain(features) ? INFINITY : p;
    out->is_open = !acq_answer_is_certain(features);
    acq_answer_fill_retrieval(calibrator, features, out->features);
}

static acq_status choose(const retrieving *r, const acq_query *query,
                         const acq_engine_result *result, asked *out, size_t *i_best,
                         acq_error *error)
{
    acq_engine_params engine =
        acq_trial_choose_search(r->source.completed, CANDIDATES, r->source.work);
    acq_answer_field field;
    float features[ACQ_N_ANSWER_FEATURES];
    double best = -INFINITY;
    acq_status status = acq_engine_find_field(query, r->source.completed, &engine, &field, error);
    for (size_t i = 0; i < result->n_answers && best < INFINITY && status == ACQ_OK; i++) {
        bool is_best = false;
        status = acq_answer_describe(query, r->source.completed, &engine.search.scoring, &field,
                                     result->answers[i].values, features, error);
        if (status == ACQ_OK)
            keep(out, features, &best, r->calibrator, &is_best);
        *i_best = is_best ? i : *i_best;
    }
    return status;
}

static acq_status ask(const retrieving *r, const acq_query *query, asked *out, acq_error *error)
{
    acq_engine_params engine =
        acq_trial_choose_search(r->source.completed, CANDIDATES, r->source.work);
    acq_engine_result result;
    acq_outcome outcome = ACQ_UNDECIDED;
    size_t i_best = 0;
    acq_status status = acq_engine_ask(query, r->source.completed, &engine, &result, error);
    if (status == ACQ_OK && result.n_answers > 0)
        status = choose(r, query, &result, out, &i_best, error);
    if (status == ACQ_OK && out->is_open)
        status = look(r, query, result.answers[i_best].values, &outcome, error);
    out->is_true = outcome == ACQ_ANSWERED;
    acq_engine_result_deinit(&result);
    return status;
}

static acq_status retrieve_item(void *context, size_t item, acq_error *error)
{
    const retrieving *r = context;
    asked *out = &r->questions[item];
    acq_query *query = NULL;
    acq_outcome outcome = ACQ_UNDECIDED;
    bool wants_answer = item % 2 == 0, is_hub = item / 2 % 4 != 0;
    if (acq_trial_source_is_late(&r->source))
        return ACQ_OK;
    acq_status status =
        acq_question_draw_to_retrieve(r->sampler, r->source.rest, is_hub, !wants_answer,
                                      r->params->seed ^ 0x52, item, &query, error);
    if (status == ACQ_OK && query != NULL && query->n_free > 0)
        status = look(r, query, NULL, &outcome, error);
    out->is_answered = outcome == ACQ_ANSWERED;
    out->counts = outcome == (wants_answer ? ACQ_ANSWERED : ACQ_NONE);
    if (status == ACQ_OK && out->counts)
        status = ask(r, query, out, error);
    acq_query_free(query);
    return status;
}

/* ---- trees ---- */

typedef struct rows {
    float *x, *weights;
    uint8_t *labels, *folds;
    size_t n;
} rows;

static void rows_deinit(rows *all)
{
    acq_free(all->x);
    acq_free(all->weights);
    acq_free(all->labels);
    acq_free(all->folds);
}

/* Questions with an answer together weigh as much as those without. */
static acq_status gather(const asked *questions, size_t n, rows *out)
{
    size_t n_kind[2] = {0, 0};
    for (size_t q = 0; q < n; q++)
        n_kind[questions[q].is_answered] += questions[q].counts;
    *out = (rows){.x = acq_alloc(n * ACQ_N_RETRIEVAL_FEATURES + 1, sizeof(float)),
                  .weights = acq_alloc(n + 1, sizeof(float)),
                  .labels = acq_alloc(n + 1, 1),
                  .folds = acq_alloc(n + 1, 1)};
    if (out->x == NULL || out->weights == NULL || out->labels == NULL || out->folds == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t q = 0; q < n; q++) {
        if (!questions[q].counts || !questions[q].is_open)
            continue;
        memcpy(out->x + out->n * ACQ_N_RETRIEVAL_FEATURES, questions[q].features,
               sizeof questions[q].features);
        out->weights[out->n] = (float)n / 2 / (float)n_kind[questions[q].is_answered];
        out->folds[out->n] = (uint8_t)(q / 2 % 2);
        out->labels[out->n++] = questions[q].is_true;
    }
    return ACQ_OK;
}

static acq_status fit_trees(const rows *all, const acq_fit_params *params,
                            acq_calibrator *calibrator, acq_error *error)
{
    acq_boost_params boost = ACQ_BOOST_DEFAULT;
    acq_fold_trees trees;
    boost.monotone = acq_retrieval_monotone;
    boost.depth = 3;
    boost.n_trees = 60;
    boost.least_hessian = 3;
    boost.seed = params->seed;
    boost.n_threads = params->n_threads;
    acq_boost_data data = {.x = all->x,
                           .labels = all->labels,
                           .weights = all->weights,
                           .n = all->n,
                           .n_features = ACQ_N_RETRIEVAL_FEATURES};
    acq_status status = acq_fold_trees_fit(&data, all->folds, &boost, NULL, NULL, &trees, error);
    if (status != ACQ_OK)
        return status;
    calibrator->retrieval = trees.all;
    trees.all = NULL;
    acq_fold_trees_deinit(&trees);
    return ACQ_OK;
}

static acq_status learn(const asked *questions, size_t n, const acq_fit_params *params,
                        acq_calibrator *calibrator, acq_error *error)
{
    rows all;
    acq_status status = gather(questions, n, &all);
    if (status != ACQ_OK)
        acq_fail_memory(error);
    if (status == ACQ_OK && all.n >= LEAST_CASES)
        status = fit_trees(&all, params, calibrator, error);
    rows_deinit(&all);
    return status;
}

static uint64_t choose_work(const acq_fit_params *params)
{
    uint64_t work = acq_fit_get_work(params);
    return work > 0 && work < WORK ? work : WORK;
}

acq_status acq_fit_retrieval(const acq_graph *rest, const acq_graph *whole,
                             const acq_predictor *completed, const acq_predictor *truth,
                             const acq_fit_params *params, const acq_link_progress *progress,
                             acq_calibrator *calibrator, acq_error *error)
{
    size_t n = params->n_questions / 2, n_done = 0;
    double seconds = acq_fit_get_seconds(params, ACQ_FIT_QUESTIONS);
    acq_sampler *sampler = NULL;
    if (calibrator->balanced == NULL)
        return ACQ_OK;
    retrieving r = {
        .source = {.rest = rest,
                   .completed = completed,
                   .truth = truth,
                   .work = choose_work(params),
                   .deadline_ns = params->seconds > 0 ? acq_clock_get_deadline(seconds) : 0},
        .params = params,
        .calibrator = calibrator,
        .questions = acq_zalloc(n + 1, sizeof(asked))};
    acq_status status = r.questions == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = acq_sampler_new(whole, &sampler, error);
    r.sampler = sampler;
    if (status == ACQ_OK)
        status = acq_questions_run(&(acq_questions_job){"retrieving answers", n, params->n_threads,
                                                        retrieve_item, &r, seconds},
                                   progress, &n_done, error);
    if (status == ACQ_OK)
        status = learn(r.questions, n_done, params, calibrator, error);
    acq_sampler_free(sampler);
    acq_free(r.questions);
    return status;
}
