/* view_json.c - a result for a program: one object on one line.
 *
 *   query, line (with --queries), outcome answered|none|undecided, verdict yes|no|undecided
 *   (check), reason (null, or what ran out: time, memory, steps; paper: the paper's rule),
 *   complete, conflict (with --explain, of a proved none), answers, engine, predictor,
 *   threshold, nodes, revisions, ms, memory (bytes); with the policy search also weights, classes
 *   (of values, at the end), flops, and with --trace trace: step, score, best, classes, ms, flops;
 *   note, where the search has something to say; with a calibrator prior (null: none, p decides),
 *   min_p, candidates (whose p was compared), likeliest (of these, where none is an answer), p_any
 *   (that there is an answer, of an ask with free variables), p (of a check without support)
 *
 * An answer: values of the free variables, witness (the other ones), keys (of the variables whose
 * value is shown by a label: the IRI), p (with a calibrator), p_if_answered, p_prior, score, kind,
 * atoms: text, relation, inverse, head, tail, negated, kind observed|predicted|absent|equality,
 * link, score, used; and relation_key, head_key, tail_key where they differ from what is shown; of
 * a predicted one, with --explain, reasons (view.h). */
#include <math.h>
#include <string.h>

#include "cli/report.h"
#include "cli/view.h"

static json_t *make_values(const acq_view *view, size_t i, size_t first, size_t last)
{
    json_t *values = json_object();
    for (size_t v = first; v < last; v++)
        json_object_set_new(values, acq_query_get_variable(view->query, v),
                            acq_json_text(acq_result_get_value_at(view->result, i, v)));
    return values;
}

static void set_key(json_t *object, const char *member, const char *key, const char *shown)
{
    if (strcmp(key, shown) != 0)
        json_object_set_new(object, member, acq_json_text(key));
}

/* Labels are for people; programs rely on keys. */
static void set_keys(const acq_view *view, size_t i, json_t *answer)
{
    if (!acq_graph_is_rdf(view->graph))
        return;
    json_t *keys = json_object();
    for (size_t v = 0; v < acq_query_get_n_variables(view->query); v++)
        set_key(keys, acq_query_get_variable(view->query, v),
                acq_graph_get_entity_key(view->graph, acq_result_get_entity(view->result, i, v)),
                acq_result_get_value_at(view->result, i, v));
    json_object_set_new(answer, "keys", keys);
}

static void set_atom_keys(const acq_view *view, const acq_fact *fact, json_t *atom)
{
    const acq_graph *graph = view->graph;
    if (!acq_graph_is_rdf(graph))
        return;
    if (fact->kind != ACQ_FACT_EQUALITY)
        set_key(atom, "relation_key", acq_graph_get_relation_key(graph, fact->relation_id),
                fact->relation);
    set_key(atom, "head_key", acq_graph_get_entity_key(graph, fact->head_id), fact->head);
    set_key(atom, "tail_key", acq_graph_get_entity_key(graph, fact->tail_id), fact->tail);
}

static const char *kind_name(acq_fact_kind kind)
{
    static const char *const names[] = {
        [ACQ_FACT_OBSERVED] = "observed",
        [ACQ_FACT_PREDICTED] = "predicted",
        [ACQ_FACT_ABSENT] = "absent",
        [ACQ_FACT_EQUALITY] = "equality",
    };
    return names[kind];
}

static json_t *make_atom(const acq_view *view, const acq_fact *fact)
{
    bool is_link = fact->kind != ACQ_FACT_EQUALITY;
    json_t *atom = json_object();
    json_object_set_new(atom, "text", acq_json_text(fact->text));
    json_object_set_new(atom, "relation", is_link ? acq_json_text(fact->relation) : json_null());
    json_object_set_new(atom, "inverse", json_boolean(is_link && fact->is_inverse));
    json_object_set_new(atom, "head", acq_json_text(fact->head));
    json_object_set_new(atom, "tail", acq_json_text(fact->tail));
    json_object_set_new(atom, "negated", json_boolean(fact->is_negated));
    json_object_set_new(atom, "kind", json_string(kind_name(fact->kind)));
    json_object_set_new(atom, "link", json_real(fact->link));
    json_object_set_new(atom, "score", json_real(fact->score));
    json_object_set_new(atom, "used", json_boolean(fact->is_used));
    set_atom_keys(view, fact, atom);
    if (view->options->explain && fact->kind == ACQ_FACT_PREDICTED)
        json_object_set_new(atom, "reasons",
                            acq_reason_view_make_json(view->reasons, fact->head_id,
                                                      fact->relation_id, fact->tail_id));
    return atom;
}

/* None: no member. */
static void set_probability(json_t *object, const char *name, double p)
{
    if (!isnan(p))
        json_object_set_new(object, name, json_real(p));
}

static json_t *make_answer(const acq_view *view, size_t i)
{
    size_t n_free = acq_query_get_n_free(view->query);
    acq_evidence_list *support = acq_view_explain(view, i);
    if (support == NULL)
        return NULL;
    json_t *atoms = json_array();
    for (size_t k = 0; k < acq_evidence_list_get_n(support); k++)
        json_array_append_new(atoms, make_atom(view, acq_evidence_list_get(support, k)));
    json_t *answer = json_object();
    json_object_set_new(answer, "values", make_values(view, i, 0, n_free));
    json_object_set_new(answer, "witness",
                        make_values(view, i, n_free, acq_query_get_n_variables(view->query)));
    set_keys(view, i, answer);
    set_probability(answer, "p", acq_result_get_probability(view->result, i));
    set_probability(answer, "p_if_answered",
                    acq_result_get_probability_if_answered(view->result, i));
    set_probability(answer, "p_prior", acq_result_get_prior_probability(view->result, i));
    json_object_set_new(answer, "score", json_real(acq_result_get_score(view->result, i)));
    json_object_set_new(
        answer, "kind",
        json_string(acq_evidence_list_is_observed(support) ? "observed" : "predicted"));
    json_object_set_new(answer, "atoms", atoms);
    acq_evidence_list_free(support);
    return answer;
}

static json_t *make_reason(const acq_view *view)
{
    bool is_complete = acq_result_is_complete(view->result);
    const char *spent = acq_result_get_spent(view->result);
    bool is_none = acq_result_get_outcome(view->result) == ACQ_RESULT_NONE;
    if (is_none && !is_complete && !acq_view_is_exact(view))
        return json_string("paper");
    return is_complete || spent[0] == '\0' ? json_null() : json_string(spent);
}

static void add_outcome(const acq_view *view, json_t *object)
{
    static const char *const outcomes[] = {"answered", "none", "undecided"};
    static const char *const verdicts[] = {"yes", "no", "undecided"};
    acq_result_outcome outcome = acq_result_get_outcome(view->result);
    json_object_set_new(object, "outcome", json_string(outcomes[outcome]));
    if (view->is_check)
        json_object_set_new(object, "verdict", json_string(verdicts[outcome]));
    json_object_set_new(object, "reason", make_reason(view));
    json_object_set_new(object, "complete", json_boolean(acq_result_is_complete(view->result)));
}

/* With --explain, of a proved none: the conditions that cannot hold together. */
static void add_conflict(const acq_view *view, json_t *object)
{
    bool is_proved = acq_result_get_outcome(view->result) == ACQ_RESULT_NONE &&
                     acq_result_is_complete(view->result) && !acq_view_has_likeliest(view);
    if (!is_proved || !view->options->explain)
        return;
    json_t *list = json_array();
    acq_conflict *conflict = acq_view_find_conflict(view);
    for (size_t i = 0; conflict != NULL && i < acq_conflict_get_n(conflict); i++)
        json_array_append_new(list, acq_json_text(acq_conflict_get_text(conflict, i)));
    json_object_set_new(object, "conflict", list);
    acq_conflict_free(conflict);
}

static json_t *make_begin(const acq_view *view)
{
    json_t *object = json_object();
    json_object_set_new(object, "query", acq_json_text(view->text));
    if (view->line > 0)
        json_object_set_new(object, "line", acq_json_count(view->line));
    add_outcome(view, object);
    add_conflict(view, object);
    return object;
}

static void add_policy(const acq_view *view, json_t *object)
{
    if (view->params->policy == NULL)
        return;
    json_object_set_new(object, "weights",
                        acq_json_text(acq_policy_get_name(view->params->policy)));
    json_object_set_new(object, "classes", acq_json_count(view->stats.classes));
    json_object_set_new(object, "flops", json_real(view->stats.flops));
    if (view->trace != NULL)
        json_object_set_new(object, "trace", acq_trace_make_json(view->trace));
}

static void add_probability(const acq_view *view, json_t *object)
{
    double prior = view->params->prior;
    if (!acq_result_has_probabilities(view->result))
        return;
    json_object_set_new(object, "prior", prior < 0 ? json_null() : json_real(prior));
    json_object_set_new(object, "min_p", json_real(view->params->min_p));
    json_object_set_new(object, "candidates", acq_json_count(view->stats.n_candidates));
    if (acq_view_has_likeliest(view) && acq_result_get_n_answers(view->result) == 0)
        json_object_set_new(object, "likeliest", make_answer(view, ACQ_LIKELIEST));
    if (!view->is_check && acq_query_get_n_free(view->query) > 0)
        set_probability(object, "p_any", acq_result_get_whole_probability(view->result));
    set_probability(object, prior < 0 ? "p" : "p_prior",
                    acq_result_get_unsupported_probability(view->result));
}

/* What observed facts alone say, and how much was predicted for the question. */
static void add_facts(const acq_view *view, json_t *object)
{
    const acq_result_stats *stats = &view->stats;
    bool is_undecided = acq_result_get_outcome(view->result) == ACQ_RESULT_UNDECIDED;
    if (is_undecided && stats->facts != ACQ_RESULT_UNDECIDED)
        json_object_set_new(object, "facts",
                            json_string(stats->facts == ACQ_RESULT_NONE ? "none" : "answered"));
    if (stats->n_rows_left == 0)
        return;
    json_t *rows = json_object();
    json_object_set_new(rows, "made", acq_json_count(stats->n_rows));
    json_object_set_new(rows, "wanted", acq_json_count(stats->n_rows + stats->n_rows_left));
    json_object_set_new(object, "rows", rows);
}

static json_t *make_end(const acq_view *view)
{
    const char *note = acq_result_get_note(view->result);
    json_t *object = json_object();
    json_object_set_new(object, "engine", json_string(view->params->engine));
    json_object_set_new(object, "predictor",
                        acq_json_text(acq_predictor_get_name(view->predictor)));
    json_object_set_new(object, "threshold", json_real(view->stats.threshold));
    add_probability(view, object);
    json_object_set_new(object, "nodes", acq_json_count(view->stats.nodes));
    json_object_set_new(object, "revisions", acq_json_count(view->stats.revisions));
    json_object_set_new(object, "ms", json_real(view->stats.seconds * 1e3));
    json_object_set_new(object, "memory", acq_json_count(view->stats.memory_bytes));
    add_policy(view, object);
    add_facts(view, object);
    if (note[0] != '\0')
        json_object_set_new(object, "note", acq_json_text(note));
    return object;
}

static void add_answers(const acq_view *view, acq_output *output)
{
    size_t n = acq_result_get_n_answers(view->result);
    for (size_t i = 0; i < n && !output->data.failed; i++) {
        acq_text_add(&output->data, i == 0 ? "" : ",");
        acq_json_add(&output->data, make_answer(view, i));
        acq_output_relieve(output);
    }
}

/* The answers may be many, so they are written one by one between the members before and after
 * them: the two objects lose the brace that faces the answers. */
void acq_view_print_json(const acq_view *view, acq_output *output)
{
    acq_text *out = &output->data;
    acq_text end;
    acq_text_init(&end);
    acq_json_add_line(&end, make_end(view));
    acq_json_add(out, make_begin(view));
    if (!out->failed && !end.failed) {
        out->length--;
        acq_text_add(out, ",\"answers\":[");
        add_answers(view, output);
        acq_text_add(out, "],");
        acq_text_add(out, end.bytes + 1);
    }
    out->failed = out->failed || end.failed;
    acq_text_deinit(&end);
}
