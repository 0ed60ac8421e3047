/* evidence.c - what came out of a question: why an answer holds, and why there is none: facts and
 * conditions as texts that the query language reads back. */
#include "library/parts.h"

#include <math.h>
#include <string.h>

#include "answer/answer.h"
#include "base/memory.h"
#include "base/text.h"
#include "calibrate/answer.h"
#include "calibrate/worlds.h"
#include "query/print.h"

/* ---- result ----
 *
 * What came out of a question, read by name. */

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

/* ---- evidence ---- */

struct acq_evidence_list {
    acq_arena arena; /* owns facts */
    acq_fact *facts;
    size_t n;
    bool is_observed;
};

struct acq_conflict {
    acq_arena arena; /* owns texts */
    const char **texts;
    size_t *conditions; /* of the query */
    size_t n;
};

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

/* Entities are always quoted, so that the atom can be pasted into a query. */
static void add_atom(const acq_fact *fact, acq_text *out)
{
    if (fact->kind != ACQ_FACT_EQUALITY) {
        acq_text_add(out, fact->is_negated ? "!" : "");
        acq_query_print_fact(out, fact->relation, fact->is_inverse, fact->head, fact->tail);
        return;
    }
    acq_text_add_quoted(out, fact->head, strlen(fact->head));
    acq_text_add(out, fact->is_negated ? " != " : " = ");
    acq_text_add_quoted(out, fact->tail, strlen(fact->tail));
}

static acq_fact make_fact(const acq_result *result, const acq_evidence *evidence)
{
    const acq_graph *graph = result->predictor->graph;
    bool is_calibrated =
        acq_predictor_is_calibrated(result->predictor) && evidence->kind != ACQ_EVIDENCE_EQUALITY;
    acq_fact fact = {.relation = "",
                     .head = acq_graph_get_entity_name(graph, evidence->left),
                     .tail = acq_graph_get_entity_name(graph, evidence->right),
                     .is_negated = evidence->is_negated,
                     .kind = fact_kind(evidence->kind),
                     .link = is_calibrated ? acq_worlds_get_link_p(evidence->link) : evidence->link,
                     .score = evidence->score,
                     .is_used = evidence->used,
                     .relation_id = ACQ_NO_ID,
                     .head_id = evidence->left,
                     .tail_id = evidence->right};
    if (fact.kind != ACQ_FACT_EQUALITY) {
        fact.relation_id = result->query->relations[evidence->node->relation].id;
        fact.relation = acq_graph_get_relation_name(graph, fact.relation_id);
        fact.is_inverse = !acq_graph_is_named(graph, fact.relation_id);
    }
    return fact;
}

static acq_status copy_text(acq_arena *arena, acq_text *text, const char **out)
{
    *out = text->failed ? NULL : acq_arena_copy_string(arena, text->bytes, text->length);
    acq_text_clear(text);
    return *out == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

static acq_status fill_list(const acq_result *result, const acq_engine_answer *answer,
                            acq_evidence_list *list, acq_error *error)
{
    acq_evidence *evidence;
    acq_text text;
    acq_status status =
        acq_explain(result->query, result->predictor, &result->params.search.scoring,
                    answer->values, &list->arena, &evidence, &list->n, error);
    if (status != ACQ_OK)
        return status;
    list->facts = acq_arena_alloc(&list->arena, list->n, sizeof *list->facts);
    if (list->facts == NULL)
        return acq_fail_memory(error);
    acq_text_init(&text);
    for (size_t i = 0; i < list->n && status == ACQ_OK; i++) {
        list->facts[i] = make_fact(result, &evidence[i]);
        add_atom(&list->facts[i], &text);
        status = copy_text(&list->arena, &text, &list->facts[i].text);
    }
    acq_text_deinit(&text);
    list->is_observed =
        isnan(answer->p) ? acq_explain_is_observed(evidence, list->n) : answer->p >= 1;
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

acq_status acq_result_explain(const acq_result *result, size_t i_answer, acq_evidence_list **out,
                              acq_error *error)
{
    ACQ_REQUIRE(result, error);
    ACQ_REQUIRE(out, error);
    const acq_engine_answer *answer = acq_library_get_answer(result, i_answer);
    if (answer == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "there is no answer %zu: the result has %zu",
                        i_answer, result->search.n_answers);
    acq_evidence_list *list = acq_zalloc(1, sizeof *list);
    if (list == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&list->arena);
    acq_status status = fill_list(result, answer, list, error);
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

/* ---- conflicts ---- */

static const double CONFLICT_SECONDS = 1.0; /* unless the caller says otherwise */

static size_t find_condition(const acq_query *query, const acq_node *node)
{
    size_t i = 0;
    if (query->root->kind == ACQ_NODE_AND) {
        while (i < query->root->n_children && query->root->children[i] != node)
            i++;
    }
    return i;
}

static acq_status fill_conflict(const acq_result *result, double seconds, acq_conflict *conflict,
                                acq_error *error)
{
    const acq_node **nodes;
    size_t n;
    acq_text text;
    acq_status status =
        acq_engine_find_core(result->query, result->predictor, result->values, &result->params,
                             seconds, &conflict->arena, &nodes, &n, error);
    if (status != ACQ_OK)
        return status;
    conflict->texts = acq_arena_alloc(&conflict->arena, n, sizeof *conflict->texts);
    conflict->conditions = acq_arena_alloc(&conflict->arena, n, sizeof *conflict->conditions);
    if (conflict->texts == NULL || conflict->conditions == NULL)
        return acq_fail_memory(error);
    acq_text_init(&text);
    for (; conflict->n < n && status == ACQ_OK; conflict->n++) {
        conflict->conditions[conflict->n] = find_condition(result->query, nodes[conflict->n]);
        acq_query_print_node(result->query, nodes[conflict->n], &text);
        status = copy_text(&conflict->arena, &text, &conflict->texts[conflict->n]);
    }
    acq_text_deinit(&text);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

acq_status acq_result_find_conflict(const acq_result *result, double seconds, acq_conflict **out,
                                    acq_error *error)
{
    ACQ_REQUIRE(result, error);
    ACQ_REQUIRE(out, error);
    if (!(seconds >= 0))
        return acq_fail(error, ACQ_ERR_USAGE, "%s: seconds %g is no time limit; 0 means one second",
                        __func__, seconds);
    acq_conflict *conflict = acq_zalloc(1, sizeof *conflict);
    if (conflict == NULL)
        return acq_fail_memory(error);
    const acq_engine_result *search = &result->search;
    bool is_proved = search->outcome == ACQ_NONE && search->complete && search->likeliest == NULL &&
                     !result->is_new;
    acq_status status = ACQ_OK;
    acq_arena_init(&conflict->arena);
    if (is_proved)
        status = fill_conflict(result, seconds > 0 ? seconds : CONFLICT_SECONDS, conflict, error);
    if (status == ACQ_OK)
        *out = conflict;
    else
        acq_conflict_free(conflict);
    return status;
}

size_t acq_conflict_get_n(const acq_conflict *conflict)
{
    return conflict == NULL ? 0 : conflict->n;
}

const char *acq_conflict_get_text(const acq_conflict *conflict, size_t i)
{
    return conflict != NULL && i < conflict->n ? conflict->texts[i] : NULL;
}

size_t acq_conflict_get_condition(const acq_conflict *conflict, size_t i)
{
    return conflict != NULL && i < conflict->n ? conflict->conditions[i] : SIZE_MAX;
}

void acq_conflict_free(acq_conflict *conflict)
{
    if (conflict == NULL)
        return;
    acq_arena_deinit(&conflict->arena);
    acq_free(conflict);
}
