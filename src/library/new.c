/* new.c - only answers that facts do not give: those by facts alone are counted first, so that many
 * more are asked for, and then left out.
 *
 * A tuple is given by facts when its support is observed facts and nothing else; an answer that
 * denies a link is never certain, and so is new. */
#include "library/parts.h"

#include <math.h>

#include "answer/answer.h"
#include "base/memory.h"

/* Does the answer rest on observed facts, none of them denied? */
static acq_status judge(const acq_result *result, const acq_engine_answer *answer, bool *is_given,
                        acq_error *error)
{
    acq_evidence *evidence;
    acq_arena arena;
    size_t n = 0;
    acq_arena_init(&arena);
    acq_status status =
        acq_explain(result->query, result->predictor, &result->params.search.scoring,
                    answer->values, &arena, &evidence, &n, error);
    *is_given = true;
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        *is_given = *is_given && (!evidence[i].used || evidence[i].kind == ACQ_EVIDENCE_EQUALITY ||
                                  (evidence[i].kind == ACQ_EVIDENCE_OBSERVED &&
                                   !evidence[i].is_negated && evidence[i].link > 0));
    acq_arena_deinit(&arena);
    return status;
}

/* Moves the answers that facts do not give to the front; the others are forgotten. */
static acq_status leave_out_given(acq_result *result, size_t *n_given, acq_error *error)
{
    acq_engine_result *search = &result->search;
    acq_status status = ACQ_OK;
    size_t n = 0;
    *n_given = 0;
    for (size_t i = 0; i < search->n_answers && status == ACQ_OK; i++) {
        bool is_given = false;
        status = judge(result, &search->answers[i], &is_given, error);
        *n_given += is_given;
        if (!is_given)
            search->answers[n++] = search->answers[i];
    }
    search->n_answers = n;
    return status;
}

/* How many answers facts give. *is_over: it was not found out within the budget. */
static acq_status count_given(const acq_library_question *question, size_t *n, bool *is_over,
                              double *seconds, acq_error *error)
{
    acq_library_question facts = *question;
    acq_predictor *observed = NULL;
    acq_result *result = NULL;
    acq_status status = acq_predictor_new_observed(question->predictor->graph, &observed, error);
    if (status != ACQ_OK)
        return status;
    facts.predictor = observed;
    facts.params.search.limit = 0;
    facts.params.search.scoring.threshold = 1;
    status = acq_library_answer(&facts, NULL, 0, &result, error);
    if (status == ACQ_OK) {
        *is_over = !result->search.complete;
        *seconds = result->seconds;
        status = leave_out_given(result, n, error);
    }
    acq_result_free(result);
    acq_predictor_free(observed);
    return status;
}

/* Without answers that are left the outcome is none, or undecided where more could be found. */
static void finish(acq_result *result, uint64_t limit)
{
    acq_engine_result *search = &result->search;
    if (limit > 0 && search->n_answers > limit)
        search->n_answers = (size_t)limit;
    search->likeliest = search->n_answers > 0 ? &search->answers[0] : NULL;
    if (search->n_answers == 0 && search->outcome == ACQ_ANSWERED)
        search->outcome = search->complete ? ACQ_NONE : ACQ_UNDECIDED;
    result->is_new = true;
}

acq_status acq_library_ask_new(const acq_library_question *question, acq_result **out,
                               acq_error *error)
{
    acq_library_question wider = *question;
    uint64_t *limit = &wider.params.search.limit;
    size_t n_given = 0;
    bool is_over = false;
    double seconds = 0;
    acq_result *result = NULL;
    if (!acq_engine_is_complete(question->params.engine))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "new answers alone need the engine exact, which finds more than one");
    acq_status status = ACQ_OK;
    if (*limit > 0)
        status = count_given(question, &n_given, &is_over, &seconds, error);
    *limit = *limit > 0 && !is_over ? *limit + n_given : 0;
    if (wider.params.search.seconds > 0)
        wider.params.search.seconds = fmax(1e-3, wider.params.search.seconds - seconds);
    if (status == ACQ_OK)
        status = acq_library_answer(&wider, NULL, 0, &result, error);
    if (status == ACQ_OK)
        status = leave_out_given(result, &n_given, error);
    if (status != ACQ_OK) {
        acq_result_free(result);
        return status;
    }
    finish(result, question->params.search.limit);
    *out = result;
    return ACQ_OK;
}
