/* view_json.c - a result for a program: one object on one line.
 *
 *   query, line (with --queries), outcome answered|none|undecided, verdict yes|no|undecided
 *   (check), reason (null, or what ran out: time, memory, steps; paper: the paper's rule),
 *   complete, conflict (with --explain, of a proved none), answers, engine, predictor,
 *   threshold, nodes, revisions, ms, memory (bytes); with the policy search also weights, classes
 *   (of values, at the end), flops, and with --trace trace: step, score, best, classes, ms, flops;
 *   note, where the search has something to say; with a calibrator prior (null: the natural one),
 *   min_p, candidates (whose p was compared), likeliest (of these, where none is an answer), p (of
 *   a check that no link speaks for)
 *
 * An answer: values of the free variables, witness (the other ones), keys (of the variables whose
 * value is shown by a label: the IRI), p (with a calibrator), score, kind, atoms: text, relation,
 * inverse, head, tail, negated, kind observed|predicted|absent|equality, link, score, used; and
 * relation_key, head_key, tail_key where they differ from what is shown. */
#include <math.h>
#include <string.h>

#include "cli/report.h"
#include "cli/view.h"
#include "search/policy/model.h"

static json_t *make_values(const acq_view *view, size_t i, uint32_t first, uint32_t last)
{
    json_t *values = json_object();
    for (uint32_t v = first; v < last; v++)
        json_object_set_new(values, view->query->variables[v].text,
                            acq_json_text(acq_view_get_value(view, i, v)));
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
    const acq_graph *graph = view->predictor->graph;
    if (!acq_graph_is_rdf(graph))
        return;
    json_t *keys = json_object();
    for (uint32_t v = 0; v < view->query->n_variables; v++) {
        acq_ent value = view->result->answers[i].values[v];
        set_key(keys, view->query->variables[v].text, acq_graph_get_entity_key(graph, value),
                acq_view_get_value(view, i, v));
    }
    json_object_set_new(answer, "keys", keys);
}

static void set_atom_keys(const acq_view *view, const acq_evidence *evidence, json_t *atom)
{
    const acq_graph *graph = view->predictor->graph;
    if (!acq_graph_is_rdf(graph))
        return;
    if (evidence->kind != ACQ_EVIDENCE_EQUALITY) {
        acq_rel relation = view->query->relations[evidence->node->relation].id;
        set_key(atom, "relation_key", acq_graph_get_relation_key(graph, relation),
                acq_graph_get_relation_name(graph, relation));
    }
    set_key(atom, "head_key", acq_graph_get_entity_key(graph, evidence->left),
            acq_graph_get_entity_name(graph, evidence->left));
    set_key(atom, "tail_key", acq_graph_get_entity_key(graph, evidence->right),
            acq_graph_get_entity_name(graph, evidence->right));
}

static const char *kind_name(acq_evidence_kind kind)
{
    static const char *const names[] = {
        [ACQ_EVIDENCE_OBSERVED] = "observed",
        [ACQ_EVIDENCE_PREDICTED] = "predicted",
        [ACQ_EVIDENCE_ABSENT] = "absent",
        [ACQ_EVIDENCE_EQUALITY] = "equality",
    };
    return names[kind];
}

static json_t *make_atom_text(const acq_view *view, const acq_evidence *evidence)
{
    acq_text text;
    acq_text_init(&text);
    acq_view_add_atom(view, evidence, &text);
    json_t *value = text.failed ? NULL : acq_json_text(text.bytes);
    acq_text_deinit(&text);
    return value;
}

static json_t *make_atom(const acq_view *view, const acq_evidence *evidence)
{
    const acq_graph *graph = view->predictor->graph;
    json_t *atom = json_object();
    json_object_set_new(atom, "text", make_atom_text(view, evidence));
    if (evidence->kind == ACQ_EVIDENCE_EQUALITY) {
        json_object_set_new(atom, "relation", json_null());
        json_object_set_new(atom, "inverse", json_false());
    } else {
        acq_rel relation = view->query->relations[evidence->node->relation].id;
        json_object_set_new(atom, "relation",
                            acq_json_text(acq_graph_get_relation_name(graph, relation)));
        json_object_set_new(atom, "inverse", json_boolean(!acq_graph_is_named(graph, relation)));
    }
    json_object_set_new(atom, "head",
                        acq_json_text(acq_graph_get_entity_name(graph, evidence->left)));
    json_object_set_new(atom, "tail",
                        acq_json_text(acq_graph_get_entity_name(graph, evidence->right)));
    json_object_set_new(atom, "negated", json_boolean(evidence->is_negated));
    json_object_set_new(atom, "kind", json_string(kind_name(evidence->kind)));
    json_object_set_new(atom, "link", json_real(evidence->link));
    json_object_set_new(atom, "score", json_real(evidence->score));
    json_object_set_new(atom, "used", json_boolean(evidence->used));
    set_atom_keys(view, evidence, atom);
    return atom;
}

static json_t *make_answer(const acq_view *view, size_t i, acq_arena *arena)
{
    const acq_query *query = view->query;
    acq_support support;
    if (acq_view_get_support(view, i, arena, &support) != ACQ_OK)
        return NULL;
    json_t *atoms = json_array();
    for (size_t k = 0; k < support.n; k++)
        json_array_append_new(atoms, make_atom(view, &support.evidence[k]));
    json_t *answer = json_object();
    json_object_set_new(answer, "values", make_values(view, i, 0, query->n_free));
    json_object_set_new(answer, "witness", make_values(view, i, query->n_free, query->n_variables));
    set_keys(view, i, answer);
    if (acq_view_has_p(view))
        json_object_set_new(answer, "p", json_real(view->result->answers[i].p));
    json_object_set_new(answer, "score", json_real(view->result->answers[i].score));
    json_object_set_new(answer, "kind",
                        json_string(support.is_observed ? "observed" : "predicted"));
    json_object_set_new(answer, "atoms", atoms);
    return answer;
}

static json_t *make_reason(const acq_view *view)
{
    const acq_engine_result *result = view->result;
    bool is_rule = result->outcome == ACQ_NONE && !result->complete &&
                   !acq_engine_is_complete(view->params->engine);
    if (is_rule)
        return json_string("paper");
    if (result->complete || result->spent == ACQ_SPENT_NOTHING)
        return json_null();
    return json_string(acq_spent_name(result->spent));
}

static void add_outcome(const acq_view *view, json_t *object)
{
    static const char *const outcomes[] = {"answered", "none", "undecided"};
    static const char *const verdicts[] = {"yes", "no", "undecided"};
    json_object_set_new(object, "outcome", json_string(outcomes[view->result->outcome]));
    if (view->is_check)
        json_object_set_new(object, "verdict", json_string(verdicts[view->result->outcome]));
    json_object_set_new(object, "reason", make_reason(view));
    json_object_set_new(object, "complete", json_boolean(view->result->complete));
}

/* With --explain, of a proved none: the conditions that cannot hold together. */
static void add_conflict(const acq_view *view, json_t *object)
{
    bool is_proved = view->result->outcome == ACQ_NONE && view->result->complete &&
                     view->result->likeliest == NULL;
    if (!is_proved || !view->options->explain)
        return;
    acq_arena arena;
    const char **texts;
    size_t n;
    json_t *list = json_array();
    acq_arena_init(&arena);
    if (acq_view_get_core(view, &arena, &texts, &n) != ACQ_OK)
        n = 0;
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, acq_json_text(texts[i]));
    json_object_set_new(object, "conflict", list);
    acq_arena_deinit(&arena);
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
    const acq_engine_result *result = view->result;
    if (view->params->engine != ACQ_ENGINE_policy)
        return;
    json_object_set_new(object, "weights", acq_json_text(view->params->search.policy.policy->name));
    json_object_set_new(object, "classes", acq_json_count(result->effort.classes));
    json_object_set_new(object, "flops", json_real(result->effort.flops));
    if (view->trace != NULL)
        json_object_set_new(object, "trace", acq_trace_make_json(view->trace));
}

static json_t *make_likeliest(const acq_view *view)
{
    acq_arena arena;
    acq_arena_init(&arena);
    json_t *answer = make_answer(view, 0, &arena);
    acq_arena_deinit(&arena);
    return answer;
}

static void add_probability(const acq_view *view, json_t *object)
{
    const acq_engine_result *result = view->result;
    double prior = view->params->prior;
    if (!acq_view_has_p(view))
        return;
    json_object_set_new(object, "prior", prior < 0 ? json_null() : json_real(prior));
    json_object_set_new(object, "min_p", json_real(view->params->min_p));
    json_object_set_new(object, "candidates", acq_json_count(result->n_candidates));
    if (result->likeliest != NULL && result->n_answers == 0)
        json_object_set_new(object, "likeliest", make_likeliest(view));
    double unsupported_p = acq_view_get_unsupported_p(view);
    if (!isnan(unsupported_p))
        json_object_set_new(object, "p", json_real(unsupported_p));
}

static json_t *make_end(const acq_view *view)
{
    const acq_engine_result *result = view->result;
    json_t *object = json_object();
    json_object_set_new(object, "engine", json_string(acq_engine_get_name(view->params->engine)));
    json_object_set_new(object, "predictor", acq_json_text(view->predictor->name));
    json_object_set_new(object, "threshold", json_real(view->params->search.scoring.threshold));
    add_probability(view, object);
    json_object_set_new(object, "nodes", acq_json_count(result->effort.nodes));
    json_object_set_new(object, "revisions", acq_json_count(result->effort.revisions));
    json_object_set_new(object, "ms", json_real(view->ms));
    json_object_set_new(object, "memory", acq_json_count(result->effort.memory_peak));
    add_policy(view, object);
    if (result->note != NULL)
        json_object_set_new(object, "note", acq_json_text(result->note));
    return object;
}

static void add_answers(const acq_view *view, acq_output *output)
{
    acq_arena arena;
    acq_arena_init(&arena);
    acq_arena_mark mark = acq_arena_get_mark(&arena);
    for (size_t i = 0; i < view->result->n_answers && !output->data.failed; i++) {
        acq_text_add(&output->data, i == 0 ? "" : ",");
        acq_json_add(&output->data, make_answer(view, i, &arena));
        acq_arena_reset(&arena, mark);
        acq_output_relieve(output);
    }
    acq_arena_deinit(&arena);
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
