/* answers.c - see answers.h. */
#include "server/answers.h"

#include <math.h>
#include <string.h>

void acq_answer_set_p(json_t *object, const char *name, double p)
{
    if (!isnan(p))
        json_object_set_new(object, name, json_real(p));
}

/* A name, and its key where that is another text. */
static void set_name(json_t *object, const char *name_member, const char *key_member,
                     const char *name, const char *key)
{
    json_object_set_new(object, name_member, acq_service_text(name));
    if (strcmp(name, key) != 0)
        json_object_set_new(object, key_member, acq_service_text(key));
}

static void set_value(const acq_served_graph *g, json_t *answer, const char *part,
                      const char *variable, acq_ent entity)
{
    const char *name = acq_graph_get_entity_name(g->graph, entity);
    const char *key = acq_graph_get_entity_key(g->graph, entity);
    json_object_set_new(json_object_get(answer, part), variable, acq_service_text(name));
    if (strcmp(name, key) != 0)
        json_object_set_new(json_object_get(answer, "keys"), variable, acq_service_text(key));
}

/* ---- atoms ---- */

json_t *acq_answer_make_reasons(const acq_served_graph *g, acq_ent head, acq_rel relation,
                                acq_ent tail)
{
    acq_reasons *reasons = NULL;
    json_t *list = json_array();
    if (acq_reasons_find(g->predictor, head, relation, tail, &reasons, NULL) != ACQ_OK)
        return list;
    for (size_t i = 0; i < acq_reasons_get_n(reasons); i++) {
        const acq_reason *reason = acq_reasons_get(reasons, i);
        json_array_append_new(list,
                              json_pack("{s:s,s:o,s:f}", "kind", reason->kind, "text",
                                        acq_service_text(reason->text), "weight", reason->weight));
    }
    acq_reasons_free(reasons);
    return list;
}

static json_t *make_atom(const acq_served_graph *g, const acq_fact *fact)
{
    static const char *const KINDS[] = {"observed", "predicted", "absent", "equality"};
    bool is_link = fact->kind != ACQ_FACT_EQUALITY;
    json_t *atom = json_pack("{s:o,s:s,s:b,s:b,s:b,s:f,s:f}", "text", acq_service_text(fact->text),
                             "kind", KINDS[fact->kind], "negated", fact->is_negated, "inverse",
                             is_link && fact->is_inverse, "used", fact->is_used, "link", fact->link,
                             "score", fact->score);
    set_name(atom, "head", "head_key", fact->head,
             acq_graph_get_entity_key(g->graph, fact->head_id));
    set_name(atom, "tail", "tail_key", fact->tail,
             acq_graph_get_entity_key(g->graph, fact->tail_id));
    if (is_link)
        set_name(atom, "relation", "relation_key", fact->relation,
                 acq_graph_get_relation_key(g->graph, fact->relation_id));
    if (fact->kind == ACQ_FACT_PREDICTED)
        json_object_set_new(
            atom, "reasons",
            acq_answer_make_reasons(g, fact->head_id, fact->relation_id, fact->tail_id));
    return atom;
}

static json_t *make_atoms(const acq_served_graph *g, const acq_evidence_list *list)
{
    json_t *atoms = json_array();
    for (size_t i = 0; i < acq_evidence_list_get_n(list); i++)
        json_array_append_new(atoms, make_atom(g, acq_evidence_list_get(list, i)));
    return atoms;
}

/* ---- answers ---- */

json_t *acq_answer_make(const acq_served_graph *g, const acq_query *query, const acq_result *result,
                        size_t i, bool explains)
{
    json_t *answer = json_pack("{s:{},s:{}}", "values", "keys");
    acq_evidence_list *list = NULL;
    size_t n_free = acq_query_get_n_free(query);
    for (size_t v = 0; v < n_free; v++)
        set_value(g, answer, "values", acq_query_get_variable(query, v),
                  acq_result_get_entity(result, i, v));
    if (explains)
        json_object_set_new(answer, "witness", json_object());
    for (size_t v = n_free; explains && v < acq_query_get_n_variables(query); v++)
        set_value(g, answer, "witness", acq_query_get_variable(query, v),
                  acq_result_get_entity(result, i, v));
    acq_answer_set_p(answer, "p", acq_result_get_probability(result, i));
    acq_answer_set_p(answer, "p_if_answered", acq_result_get_probability_if_answered(result, i));
    acq_answer_set_p(answer, "score", acq_result_get_score(result, i));
    if (acq_result_explain(result, i, &list, NULL) == ACQ_OK) {
        bool is_observed = acq_evidence_list_is_observed(list);
        json_object_set_new(answer, "kind", json_string(is_observed ? "observed" : "predicted"));
        if (explains)
            json_object_set_new(answer, "atoms", make_atoms(g, list));
        acq_evidence_list_free(list);
    }
    return answer;
}

static const char *outcome_of(const acq_result *result)
{
    static const char *const NAMES[] = {"answered", "none", "undecided"};
    return NAMES[acq_result_get_outcome(result)];
}

/* Of a proved none: the conditions that cannot hold together. */
static void set_conflict(const acq_result *result, json_t *object)
{
    acq_conflict *conflict = NULL;
    if (acq_result_get_outcome(result) != ACQ_RESULT_NONE || !acq_result_is_complete(result) ||
        acq_result_find_conflict(result, 0, &conflict, NULL) != ACQ_OK)
        return;
    json_t *list = json_array(), *conditions = json_array();
    for (size_t i = 0; i < acq_conflict_get_n(conflict); i++) {
        json_array_append_new(list, acq_service_text(acq_conflict_get_text(conflict, i)));
        json_array_append_new(conditions,
                              json_integer((json_int_t)acq_conflict_get_condition(conflict, i)));
    }
    json_object_set_new(object, "conflict", list);
    json_object_set_new(object, "conditions", conditions);
    acq_conflict_free(conflict);
}

json_t *acq_answer_make_end(const acq_served_graph *g, const acq_query *query,
                            const acq_result *result, const acq_ask_params *params, bool explains)
{
    acq_result_stats stats = {.size = sizeof stats};
    double best = acq_result_get_best_probability(result);
    json_t *object = json_pack("{s:s,s:b}", "outcome", outcome_of(result), "complete",
                               acq_result_is_complete(result));
    if (acq_result_get_spent(result)[0] != '\0')
        json_object_set_new(object, "spent", json_string(acq_result_get_spent(result)));
    if (acq_result_get_note(result)[0] != '\0')
        json_object_set_new(object, "note", acq_service_text(acq_result_get_note(result)));
    acq_answer_set_p(object, "best_p", best);
    if (acq_query_get_n_free(query) > 0)
        acq_answer_set_p(object, "p_any", acq_result_get_whole_probability(result));
    if (explains && acq_result_get_n_answers(result) == 0 && !isnan(best))
        json_object_set_new(object, "likeliest",
                            acq_answer_make(g, query, result, ACQ_LIKELIEST, true));
    if (explains)
        set_conflict(result, object);
    acq_result_get_stats(result, &stats);
    if (stats.facts != ACQ_RESULT_UNDECIDED)
        json_object_set_new(object, "facts",
                            json_string(stats.facts == ACQ_RESULT_NONE ? "none" : "answered"));
    json_object_set_new(object, "ms", json_real(stats.seconds * 1e3));
    json_object_set_new(object, "engine", json_string(params->engine));
    json_object_set_new(object, "predictor",
                        acq_service_text(acq_predictor_get_name(g->predictor)));
    return object;
}

/* ---- rows of SPARQL ---- */

json_t *acq_answer_make_row(const acq_served_graph *g, const acq_solutions *s, size_t row)
{
    json_t *answer = json_pack("{s:{},s:{}}", "values", "keys");
    for (size_t v = 0; v < acq_solutions_get_n_variables(s); v++) {
        acq_rdf_value value = acq_solutions_get_term(s, row, v);
        const char *variable = acq_solutions_get_variable(s, v);
        if (value.kind != ACQ_RDF_UNBOUND && value.entity != UINT32_MAX)
            set_value(g, answer, "values", variable, value.entity);
        else if (value.kind != ACQ_RDF_UNBOUND)
            json_object_set_new(json_object_get(answer, "values"), variable,
                                acq_service_text(value.key));
    }
    acq_answer_set_p(answer, "p", acq_solutions_get_probability(s, row));
    bool is_predicted = acq_solutions_is_predicted(s, row);
    json_object_set_new(answer, "kind", json_string(is_predicted ? "predicted" : "observed"));
    return answer;
}

json_t *acq_answer_make_row_end(const acq_served_graph *g, const acq_solutions *s)
{
    const char *spent = acq_solutions_get_spent(s);
    const char *outcome = acq_solutions_get_n(s) > 0 ? "answered"
                          : spent[0] != '\0'         ? "undecided"
                                                     : "none";
    json_t *object = json_pack("{s:s,s:b,s:o}", "outcome", outcome, "complete", spent[0] == '\0',
                               "predictor", acq_service_text(acq_predictor_get_name(g->predictor)));
    if (spent[0] != '\0')
        json_object_set_new(object, "spent", json_string(spent));
    if (acq_solutions_get_note(s)[0] != '\0')
        json_object_set_new(object, "note", acq_service_text(acq_solutions_get_note(s)));
    if (acq_solutions_get_warning(s)[0] != '\0')
        json_object_set_new(object, "warning", acq_service_text(acq_solutions_get_warning(s)));
    return object;
}
