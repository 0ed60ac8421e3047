/* result.c - what came out of a question, read by name. Evidence is in evidence.c. */
#include "library/parts.h"

#include <math.h>
#include <string.h>

#include "answer/explain.h"
#include "base/memory.h"
#include "calibrate/answer.h"

static acq_result_outcome get_public(acq_outcome outcome)
{
    switch (outcome) {
    case ACQ_ANSWERED:
        return ACQ_RESULT_ANSWERED;
    case ACQ_NONE:
        return ACQ_RESULT_NONE;
    case ACQ_UNDECIDED:
        break;
    }
    return ACQ_RESULT_UNDECIDED;
}

acq_result_outcome acq_result_get_outcome(const acq_result *result)
{
    return result == NULL ? ACQ_RESULT_UNDECIDED : get_public(result->search.outcome);
}

bool acq_result_is_complete(const acq_result *result)
{
    return result != NULL && result->search.complete;
}

const char *acq_result_get_spent(const acq_result *result)
{
    return result == NULL ? "" : acq_spent_name(result->search.spent);
}

const char *acq_result_get_note(const acq_result *result)
{
    return result == NULL || result->search.note == NULL ? "" : result->search.note;
}

uint64_t acq_result_get_nodes(const acq_result *result)
{
    return result == NULL ? 0 : result->search.effort.nodes;
}

void acq_result_get_stats(const acq_result *result, acq_result_stats *stats)
{
    acq_result_stats own = {0};
    if (result != NULL) {
        const acq_engine_result *search = &result->search;
        own = (acq_result_stats){.seconds = result->seconds,
                                 .nodes = search->effort.nodes,
                                 .revisions = search->effort.revisions,
                                 .memory_bytes = search->effort.memory_peak,
                                 .flops = search->effort.flops,
                                 .classes = search->effort.classes,
                                 .threshold = result->params.search.scoring.threshold,
                                 .n_candidates = search->n_candidates,
                                 .has_more = search->has_more,
                                 .is_by_rows = search->prepared != NULL,
                                 .facts = get_public(search->facts),
                                 .n_rows = search->n_rows,
                                 .n_rows_left = search->n_rows_left};
    }
    acq_sized_fill(stats, &own, sizeof own);
}

bool acq_result_has_probabilities(const acq_result *result)
{
    return result != NULL && result->has_p;
}

double acq_result_get_unsupported_probability(const acq_result *result)
{
    if (!acq_result_has_probabilities(result))
        return NAN;
    const acq_engine_result *search = &result->search;
    bool is_one =
        result->values != NULL || (result->query->n_free == 0 && result->params.prior < 0);
    if (!is_one) /* p_whole is that of any tuple */
        return NAN;
    bool is_proved = search->outcome == ACQ_NONE && search->complete && search->likeliest == NULL;
    if (!is_proved || result->params.has_threshold)
        return NAN;
    if (result->params.prior < 0)
        return search->p_whole > 0 ? search->p_whole : NAN;
    double p = acq_answer_get_unsupported_p(result->query, result->predictor, result->values,
                                            result->params.prior);
    return p > 0 && p < result->params.min_p ? p : NAN;
}

size_t acq_result_get_n_answers(const acq_result *result)
{
    return result == NULL ? 0 : result->search.n_answers;
}

const acq_engine_answer *acq_library_get_answer(const acq_result *result, size_t i)
{
    if (result == NULL)
        return NULL;
    if (i == ACQ_LIKELIEST)
        return result->search.likeliest;
    return i < result->search.n_answers ? &result->search.answers[i] : NULL;
}

double acq_result_get_score(const acq_result *result, size_t i_answer)
{
    const acq_engine_answer *answer = acq_library_get_answer(result, i_answer);
    return answer == NULL ? 0.0 : answer->score;
}

double acq_result_get_probability(const acq_result *result, size_t i_answer)
{
    const acq_engine_answer *answer = acq_library_get_answer(result, i_answer);
    return answer == NULL ? NAN : answer->p;
}

double acq_result_get_prior_probability(const acq_result *result, size_t i_answer)
{
    const acq_engine_answer *answer = acq_library_get_answer(result, i_answer);
    return answer == NULL ? NAN : answer->p_prior;
}

double acq_result_get_probability_if_answered(const acq_result *result, size_t i_answer)
{
    const acq_engine_answer *answer = acq_library_get_answer(result, i_answer);
    return answer == NULL ? NAN : answer->p_if_answered;
}

double acq_result_get_whole_probability(const acq_result *result)
{
    return acq_result_has_probabilities(result) ? result->search.p_whole : NAN;
}

double acq_result_get_best_probability(const acq_result *result)
{
    const acq_engine_answer *answer = acq_library_get_answer(result, ACQ_LIKELIEST);
    return answer == NULL ? NAN : acq_engine_get_decisive(&result->params, answer);
}

acq_ent acq_result_get_entity(const acq_result *result, size_t i_answer, size_t i_variable)
{
    const acq_engine_answer *answer = acq_library_get_answer(result, i_answer);
    if (answer == NULL || i_variable >= result->query->n_variables)
        return ACQ_NO_ID;
    return answer->values[i_variable];
}

const char *acq_result_get_value_at(const acq_result *result, size_t i_answer, size_t i_variable)
{
    acq_ent value = acq_result_get_entity(result, i_answer, i_variable);
    if (value == ACQ_NO_ID)
        return NULL;
    return acq_graph_get_entity_name(result->predictor->graph, value);
}

const char *acq_result_get_value(const acq_result *result, size_t i_answer, const char *variable)
{
    if (result == NULL || variable == NULL)
        return NULL;
    for (uint32_t i = 0; i < result->query->n_variables; i++) {
        if (strcmp(result->query->variables[i].text, variable) == 0)
            return acq_result_get_value_at(result, i_answer, i);
    }
    return NULL;
}

void acq_result_free(acq_result *result)
{
    if (result == NULL)
        return;
    acq_engine_result_deinit(&result->search);
    acq_free(result->values);
    acq_free(result);
}
