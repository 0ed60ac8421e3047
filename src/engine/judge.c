/* judge.c - what a calibrator makes of verified answers: their probabilities, and the decision by
 * them; see run.h. */
#include <stdlib.h>

#include "answer/verify.h"
#include "calibrate/answer.h"
#include "engine/run.h"

acq_status acq_judge_rate(const acq_engine_run *run, acq_engine_answer *answers, size_t n,
                          acq_error *error)
{
    const acq_calibrator *calibrator = acq_predictor_get_calibrator(run->predictor);
    const acq_scoring *scoring = &run->params.search.scoring;
    for (size_t i = 0; i < n; i++) {
        acq_engine_answer *answer = &answers[i];
        float features[ACQ_N_ANSWER_FEATURES];
        acq_status status = acq_answer_describe(run->query, run->predictor, scoring, answer->values,
                                                features, error);
        if (status != ACQ_OK)
            return status;
        answer->score = acq_verify_score(run->query, run->predictor, scoring, answer->values);
        answer->p = acq_answer_get_p(calibrator, features, run->params.prior);
    }
    return ACQ_OK;
}

/* Equal ones by values, so that the order does not depend on the sorting. */
static int compare_answers(const void *left, const void *right, void *context)
{
    const acq_engine_answer *a = left, *b = right;
    const uint32_t *n = context;
    if (a->p != b->p)
        return a->p > b->p ? -1 : 1;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    for (uint32_t i = 0; i < *n; i++) {
        if (a->values[i] != b->values[i])
            return a->values[i] < b->values[i] ? -1 : 1;
    }
    return 0;
}

void acq_judge_decide(const acq_engine_run *run)
{
    acq_engine_result *result = run->result;
    uint64_t limit = run->params.search.limit;
    uint32_t n_variables = run->query->n_variables;
    size_t n = result->n_answers, n_kept = 0;
    if (n == 0)
        return;
    qsort_r(result->answers, n, sizeof *result->answers, compare_answers, &n_variables);
    while (n_kept < n && (limit == 0 || n_kept < limit) &&
           result->answers[n_kept].p >= run->params.min_p)
        n_kept++;
    result->n_candidates = n;
    result->likeliest = &result->answers[0];
    result->n_answers = n_kept;
    if (n_kept == 0)
        result->outcome = result->complete ? ACQ_NONE : ACQ_UNDECIDED;
}
