/* result.c - what came out of a question, read by name: answers and their evidence. */
#include "library/parts.h"

#include <math.h>
#include <string.h>

#include "answer/explain.h"
#include "base/memory.h"

struct acq_evidence_list {
    acq_arena arena; /* owns facts */
    acq_fact *facts;
    size_t n;
    bool is_observed;
};

acq_result_outcome acq_result_get_outcome(const acq_result *result)
{
    if (result == NULL)
        return ACQ_RESULT_UNDECIDED;
    switch (result->search.outcome) {
    case ACQ_ANSWERED:
        return ACQ_RESULT_ANSWERED;
    case ACQ_NONE:
        return ACQ_RESULT_NONE;
    case ACQ_UNDECIDED:
        break;
    }
    return ACQ_RESULT_UNDECIDED;
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

size_t acq_result_get_n_answers(const acq_result *result)
{
    return result == NULL ? 0 : result->search.n_answers;
}

double acq_result_get_score(const acq_result *result, size_t i_answer)
{
    return i_answer < acq_result_get_n_answers(result) ? result->search.answers[i_answer].score
                                                       : 0.0;
}

double acq_result_get_probability(const acq_result *result, size_t i_answer)
{
    return i_answer < acq_result_get_n_answers(result) ? result->search.answers[i_answer].p : NAN;
}

double acq_result_get_best_probability(const acq_result *result)
{
    return result == NULL || result->search.likeliest == NULL ? NAN : result->search.likeliest->p;
}

acq_ent acq_result_get_entity(const acq_result *result, size_t i_answer, size_t i_variable)
{
    if (i_answer >= acq_result_get_n_answers(result) || i_variable >= result->query->n_variables)
        return ACQ_NO_ID;
    return result->search.answers[i_answer].values[i_variable];
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
    acq_free(result);
}

static acq_fact_kind fact_kind(acq_evidence_kind kind)
{
    switch (kind) {
    case ACQ_EVIDENCE_OBSERVED:
        return ACQ_FACT_OBSERVED;
    case ACQ_EVIDENCE_PREDICTED:
        return ACQ_FACT_PREDICTED;
    case ACQ_EVIDENCE_ABSENT:
        return ACQ_FACT_ABSENT;
    case ACQ_EVIDENCE_EQUALITY:
        break;
    }
    return ACQ_FACT_EQUALITY;
}

static acq_fact make_fact(const acq_result *result, const acq_evidence *evidence)
{
    const acq_graph *graph = result->predictor->graph;
    bool is_atom = evidence->kind != ACQ_EVIDENCE_EQUALITY;
    acq_fact fact = {.relation = "",
                     .head = acq_graph_get_entity_name(graph, evidence->left),
                     .tail = acq_graph_get_entity_name(graph, evidence->right),
                     .is_negated = evidence->is_negated,
                     .kind = fact_kind(evidence->kind),
                     .link = evidence->link,
                     .score = evidence->score,
                     .is_used = evidence->used};
    if (is_atom) {
        acq_rel relation = result->query->relations[evidence->node->relation].id;
        fact.relation = acq_graph_get_relation_name(graph, relation);
        fact.is_inverse = !acq_graph_is_named(graph, relation);
    }
    return fact;
}

static acq_status fill_list(const acq_result *result, size_t i_answer, acq_evidence_list *list,
                            acq_error *error)
{
    acq_evidence *evidence;
    acq_status status = acq_explain(result->query, result->predictor, &result->scoring,
                                    result->search.answers[i_answer].values, &list->arena,
                                    &evidence, &list->n, error);
    if (status != ACQ_OK)
        return status;
    list->facts = acq_arena_alloc(&list->arena, list->n, sizeof *list->facts);
    if (list->facts == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < list->n; i++)
        list->facts[i] = make_fact(result, &evidence[i]);
    list->is_observed = acq_explain_is_observed(evidence, list->n);
    return ACQ_OK;
}

acq_status acq_result_explain(const acq_result *result, size_t i_answer, acq_evidence_list **out,
                              acq_error *error)
{
    ACQ_REQUIRE(result, error);
    ACQ_REQUIRE(out, error);
    if (i_answer >= result->search.n_answers)
        return acq_fail(error, ACQ_ERR_USAGE, "there is no answer %zu: the result has %zu",
                        i_answer, result->search.n_answers);
    acq_evidence_list *list = acq_zalloc(1, sizeof *list);
    if (list == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&list->arena);
    acq_status status = fill_list(result, i_answer, list, error);
    if (status != ACQ_OK) {
        acq_evidence_list_free(list);
        return status;
    }
    *out = list;
    return ACQ_OK;
}

size_t acq_evidence_list_get_n(const acq_evidence_list *list)
{
    return list == NULL ? 0 : list->n;
}

const acq_fact *acq_evidence_list_get(const acq_evidence_list *list, size_t i)
{
    return list != NULL && i < list->n ? &list->facts[i] : NULL;
}

bool acq_evidence_list_is_observed(const acq_evidence_list *list)
{
    return list != NULL && list->is_observed;
}

void acq_evidence_list_free(acq_evidence_list *list)
{
    if (list == NULL)
        return;
    acq_arena_deinit(&list->arena);
    acq_free(list);
}
