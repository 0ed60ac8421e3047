/* answers.c - see parts.h. */
#include "server/parts.h"

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

static void write_string(const char *text, acq_text *out)
{
    acq_text_add_json(out, text, strlen(text));
}

/* Named values of an answer; `keys` gets those whose key is another text. */
typedef struct value_list {
    const acq_served_graph *g;
    acq_text *out, keys;
    bool is_first;
} value_list;

static void begin_values(value_list *list, const char *member)
{
    acq_text_add(list->out, member);
    list->is_first = true;
}

static void add_value(value_list *list, const char *variable, const char *name, const char *key)
{
    acq_text_add(list->out, list->is_first ? "" : ",");
    write_string(variable, list->out);
    acq_text_add_char(list->out, ':');
    write_string(name, list->out);
    list->is_first = false;
    if (name == key || strcmp(name, key) == 0)
        return;
    acq_text_add(&list->keys, list->keys.length == 0 ? "" : ",");
    write_string(variable, &list->keys);
    acq_text_add_char(&list->keys, ':');
    write_string(key, &list->keys);
}

static void add_entity(value_list *list, const char *variable, acq_ent entity)
{
    add_value(list, variable, acq_graph_get_entity_name(list->g->graph, entity),
              acq_graph_get_entity_key(list->g->graph, entity));
}

static void end_keys(value_list *list)
{
    acq_text_add(list->out, ",\"keys\":{");
    if (list->keys.length > 0)
        acq_text_add_bytes(list->out, list->keys.bytes, list->keys.length);
    acq_text_add_char(list->out, '}');
    list->out->failed |= list->keys.failed;
    acq_text_deinit(&list->keys);
}

static void write_number(const char *name, double number, acq_text *out)
{
    if (isnan(number))
        return;
    acq_text_add(out, name);
    if (number == 1)
        acq_text_add(out, "1.0");
    else
        acq_text_format(out, "%.6g", number);
}

static void write_object(const char *name, json_t *object, acq_text *out)
{
    char *dumped = object == NULL ? NULL : json_dumps(object, ACQ_SERVICE_STYLE);
    if (dumped == NULL)
        out->failed = true;
    else
        acq_text_format(out, ",\"%s\":%s", name, dumped);
    free(dumped);
    json_decref(object);
}

/* What is made of facts has p 1; without probabilities the evidence tells. */
static void write_evidence(const acq_served_graph *g, const acq_result *result, size_t i,
                           bool explains, acq_text *out)
{
    acq_evidence_list *list = NULL;
    double p = acq_result_get_probability(result, i);
    bool is_known = !isnan(p) || g->is_observed;
    bool is_observed = isnan(p) || p >= 1;
    if (explains || !is_known) {
        if (acq_result_explain(result, i, &list, NULL) != ACQ_OK) {
            out->failed = true;
            return;
        }
        is_observed = acq_evidence_list_is_observed(list);
    }
    acq_text_add(out, is_observed ? ",\"kind\":\"observed\"" : ",\"kind\":\"predicted\"");
    if (explains)
        write_object("atoms", make_atoms(g, list), out);
    acq_evidence_list_free(list);
}

void acq_answer_write(const acq_served_graph *g, const acq_query *query, const acq_result *result,
                      size_t i, bool explains, acq_text *out)
{
    value_list list = {.g = g, .out = out};
    size_t n_free = acq_query_get_n_free(query), n = acq_query_get_n_variables(query);
    begin_values(&list, "{\"values\":{");
    for (size_t v = 0; v < n_free; v++)
        add_entity(&list, acq_query_get_variable(query, v), acq_result_get_entity(result, i, v));
    acq_text_add_char(out, '}');
    if (explains) {
        begin_values(&list, ",\"witness\":{");
        for (size_t v = n_free; v < n; v++)
            add_entity(&list, acq_query_get_variable(query, v),
                       acq_result_get_entity(result, i, v));
        acq_text_add_char(out, '}');
    }
    end_keys(&list);
    write_number(",\"p\":", acq_result_get_probability(result, i), out);
    write_number(",\"p_if_answered\":", acq_result_get_probability_if_answered(result, i), out);
    write_number(",\"score\":", acq_result_get_score(result, i), out);
    write_evidence(g, result, i, explains, out);
    acq_text_add_char(out, '}');
}

json_t *acq_answer_parse(acq_text *text)
{
    json_t *value = text->failed ? NULL : json_loadb(text->bytes, text->length, 0, NULL);
    acq_text_clear(text);
    return value;
}

static const char *outcome_of(const acq_result *result)
{
    static const char *const NAMES[] = {"answered", "none", "undecided"};
    return NAMES[acq_result_get_outcome(result)];
}

/* Of a proved none: the conditions that cannot hold together. */
static void write_conflict(const acq_result *result, acq_text *out)
{
    acq_conflict *conflict = NULL;
    if (acq_result_get_outcome(result) != ACQ_RESULT_NONE || !acq_result_is_complete(result) ||
        acq_result_find_conflict(result, 0, &conflict, NULL) != ACQ_OK)
        return;
    acq_text_add(out, ",\"conflict\":[");
    for (size_t i = 0; i < acq_conflict_get_n(conflict); i++) {
        acq_text_add(out, i == 0 ? "" : ",");
        write_string(acq_conflict_get_text(conflict, i), out);
    }
    acq_text_add(out, "],\"conditions\":[");
    for (size_t i = 0; i < acq_conflict_get_n(conflict); i++)
        acq_text_format(out, "%s%zu", i == 0 ? "" : ",", acq_conflict_get_condition(conflict, i));
    acq_text_add_char(out, ']');
    acq_conflict_free(conflict);
}

static void write_text(const char *name, const char *text, acq_text *out)
{
    if (text[0] == '\0')
        return;
    acq_text_add(out, name);
    write_string(text, out);
}

/* What only an explanation has: the likeliest candidate, and the conflict, where there is no
 * answer. */
static void write_why(const acq_served_graph *g, const acq_query *query, const acq_result *result,
                      acq_text *out)
{
    if (acq_result_get_n_answers(result) == 0 && !isnan(acq_result_get_best_probability(result))) {
        acq_text_add(out, ",\"likeliest\":");
        acq_answer_write(g, query, result, ACQ_LIKELIEST, true, out);
    }
    write_conflict(result, out);
}

void acq_answer_write_end(const acq_served_graph *g, const acq_query *query,
                          const acq_result *result, const acq_ask_params *params, bool explains,
                          acq_text *out)
{
    acq_result_stats stats = {.size = sizeof stats};
    acq_result_get_stats(result, &stats);
    acq_text_add(out, "{\"outcome\":");
    write_string(outcome_of(result), out);
    acq_text_add(out,
                 acq_result_is_complete(result) ? ",\"complete\":true" : ",\"complete\":false");
    write_text(",\"spent\":", acq_result_get_spent(result), out);
    write_text(",\"note\":", acq_result_get_note(result), out);
    write_number(",\"best_p\":", acq_result_get_best_probability(result), out);
    if (acq_query_get_n_free(query) > 0)
        write_number(",\"p_any\":", acq_result_get_whole_probability(result), out);
    if (explains)
        write_why(g, query, result, out);
    if (stats.facts != ACQ_RESULT_UNDECIDED)
        write_text(",\"facts\":", stats.facts == ACQ_RESULT_NONE ? "none" : "answered", out);
    write_number(",\"ms\":", stats.seconds * 1e3, out);
    write_text(",\"engine\":", params->engine, out);
    write_text(",\"predictor\":", acq_predictor_get_name(g->predictor), out);
    acq_text_add_char(out, '}');
}

/* ---- rows of SPARQL ---- */

void acq_answer_write_row(const acq_served_graph *g, const acq_solutions *s, size_t row,
                          acq_text *out)
{
    value_list list = {.g = g, .out = out};
    begin_values(&list, "{\"values\":{");
    for (size_t v = 0; v < acq_solutions_get_n_variables(s); v++) {
        acq_rdf_value value = acq_solutions_get_term(s, row, v);
        const char *variable = acq_solutions_get_variable(s, v);
        if (value.kind != ACQ_RDF_UNBOUND && value.entity != UINT32_MAX)
            add_entity(&list, variable, value.entity);
        else if (value.kind != ACQ_RDF_UNBOUND)
            add_value(&list, variable, value.key, value.key);
    }
    acq_text_add_char(out, '}');
    end_keys(&list);
    write_number(",\"p\":", acq_solutions_get_probability(s, row), out);
    acq_text_add(out, acq_solutions_is_predicted(s, row) ? ",\"kind\":\"predicted\"}"
                                                         : ",\"kind\":\"observed\"}");
}

void acq_answer_write_row_end(const acq_served_graph *g, const acq_solutions *s, acq_text *out)
{
    const char *spent = acq_solutions_get_spent(s);
    acq_text_add(out, "{\"outcome\":");
    write_string(acq_solutions_get_n(s) > 0 ? "answered"
                 : spent[0] != '\0'         ? "undecided"
                                            : "none",
                 out);
    acq_text_add(out, spent[0] == '\0' ? ",\"complete\":true" : ",\"complete\":false");
    write_text(",\"spent\":", spent, out);
    write_text(",\"note\":", acq_solutions_get_note(s), out);
    write_text(",\"warning\":", acq_solutions_get_warning(s), out);
    write_text(",\"predictor\":", acq_predictor_get_name(g->predictor), out);
    acq_text_add_char(out, '}');
}
