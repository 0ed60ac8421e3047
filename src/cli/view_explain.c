/* view_explain.c - what --explain and --trace tell a person. Why an answer holds:
 *
 *     y = Christopher Nolan
 *     directed("Christopher Nolan", "Oppenheimer")   observed
 *     !lives_in("Christopher Nolan", "London")       not observed, predicted 0.02
 *      -1.2  no other fact lives_in(..., London) is known
 *
 * ("predicted p 0.02" where scores are probabilities.) Atoms in one column and their facts in the
 * next where both fit; a longer atom gets lines of its own. Branches of an `or` that the answer
 * does not need are only counted. Why there is none:
 *
 *   none: proved, nothing reaches 0.5, 0 nodes, 0.0 ms
 *     no value fits both of these:
 *       directed(y, "Oppenheimer")
 *       born_in(y, x)
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/report.h"
#include "cli/table.h"
#include "cli/view.h"

enum { INDENT = 2, GAP = 2 };

static void add_fact(const acq_view *view, const acq_fact *fact, acq_text *out)
{
    const char *unit = acq_result_has_probabilities(view->result) ? "p " : "";
    switch (fact->kind) {
    case ACQ_FACT_OBSERVED:
        acq_text_add(out, fact->link > 0 ? "observed" : "observed, but held false");
        return;
    case ACQ_FACT_PREDICTED:
        acq_text_format(out, "%spredicted %s%.3g", fact->is_negated ? "not observed, " : "", unit,
                        fact->link);
        return;
    case ACQ_FACT_ABSENT:
        acq_text_add(out, "not observed");
        return;
    case ACQ_FACT_EQUALITY:
        break;
    }
    acq_text_add(out, fact->score > 0 ? "holds" : "fails");
}

/* Both texts of one line, made anew for each atom. */
typedef struct line {
    acq_text shown, fact;
} line;

static void make_line(const acq_view *view, const acq_fact *fact, line *l)
{
    acq_text_clear(&l->shown);
    acq_text_clear(&l->fact);
    acq_width_add(&l->shown, fact->text);
    add_fact(view, fact, &l->fact);
    l->fact.failed = l->fact.failed || l->shown.failed;
}

static size_t atom_width(const line *l)
{
    return acq_width_since(&l->shown, 0);
}

/* Width of the widest used atom that is at most `most` wide, and of the widest fact. */
static size_t widest_atom(const acq_view *view, const acq_evidence_list *support, size_t most,
                          line *l, size_t *widest_fact)
{
    size_t widest = 0;
    *widest_fact = 0;
    for (size_t i = 0; i < acq_evidence_list_get_n(support); i++) {
        const acq_fact *fact = acq_evidence_list_get(support, i);
        if (!fact->is_used)
            continue;
        make_line(view, fact, l);
        size_t width = atom_width(l), other = acq_width_since(&l->fact, 0);
        widest = width <= most && width > widest ? width : widest;
        *widest_fact = other > *widest_fact ? other : *widest_fact;
    }
    return widest;
}

/* Where the facts begin: after the widest atom that leaves room for the widest of them. */
static size_t measure(const acq_view *view, const acq_evidence_list *support, line *l)
{
    size_t fact, again;
    size_t widest = widest_atom(view, support, SIZE_MAX, l, &fact);
    size_t most = ACQ_COLUMNS - INDENT - GAP - fact;
    return widest <= most ? widest : widest_atom(view, support, most, l, &again);
}

static void print_line(const line *l, size_t column, acq_text *out)
{
    if (l->fact.failed) {
        out->failed = true;
        return;
    }
    size_t width = atom_width(l);
    acq_width_pad(out, INDENT);
    acq_width_wrap(out, l->shown.bytes, INDENT, 2 * INDENT, ACQ_COLUMNS);
    if (width <= column) {
        acq_width_pad(out, column - width + GAP);
    } else {
        acq_text_add_char(out, '\n');
        acq_width_pad(out, 2 * INDENT);
    }
    acq_text_format(out, "%s\n", l->fact.bytes);
}

static void print_witness(const acq_view *view, size_t i_answer, acq_text *out)
{
    const acq_query *query = view->query;
    size_t first = acq_query_get_n_free(query), n = acq_query_get_n_variables(query);
    size_t name_width = 0;
    for (size_t v = first; v < n; v++) {
        size_t width = acq_width_of(acq_query_get_variable(query, v));
        name_width = width > name_width ? width : name_width;
    }
    acq_text value;
    acq_text_init(&value);
    for (size_t v = first; v < n; v++) {
        const char *name = acq_query_get_variable(query, v);
        acq_text_clear(&value);
        acq_width_add(&value, acq_result_get_value_at(view->result, i_answer, v));
        acq_width_pad(out, INDENT);
        acq_width_add(out, name);
        acq_width_pad_to(out, acq_width_of(name), name_width);
        acq_text_add(out, " = ");
        size_t at = INDENT + name_width + strlen(" = ");
        acq_width_wrap(out, value.bytes == NULL ? "" : value.bytes, at, at, ACQ_COLUMNS);
        acq_text_add_char(out, '\n');
    }
    out->failed = out->failed || value.failed;
    acq_text_deinit(&value);
}

static void print_unused(const acq_evidence_list *support, acq_text *out)
{
    size_t n = 0;
    for (size_t i = 0; i < acq_evidence_list_get_n(support); i++)
        n += !acq_evidence_list_get(support, i)->is_used;
    if (n == 0)
        return;
    acq_width_pad(out, INDENT);
    acq_text_format(out, "(%zu atom%s of other branches not needed)\n", n, n == 1 ? "" : "s");
}

void acq_view_print_support(const acq_view *view, size_t i_answer, const acq_evidence_list *support,
                            acq_text *out)
{
    line l;
    acq_text_init(&l.shown);
    acq_text_init(&l.fact);
    size_t column = measure(view, support, &l);
    print_witness(view, i_answer, out);
    for (size_t i = 0; i < acq_evidence_list_get_n(support); i++) {
        const acq_fact *fact = acq_evidence_list_get(support, i);
        if (!fact->is_used)
            continue;
        make_line(view, fact, &l);
        print_line(&l, column, out);
        if (fact->kind == ACQ_FACT_PREDICTED)
            acq_reason_view_print(view->reasons, fact->head_id, fact->relation_id, fact->tail_id,
                                  INDENT, out);
    }
    print_unused(support, out);
    acq_text_deinit(&l.shown);
    acq_text_deinit(&l.fact);
}

/* ---- why there is none ---- */

static const double MOST_SECONDS = 1.0;

acq_conflict *acq_view_find_conflict(const acq_view *view)
{
    acq_conflict *conflict;
    double left = view->params->seconds - view->stats.seconds;
    if (view->params->seconds > 0 && left <= 0)
        return NULL;
    double seconds = view->params->seconds > 0 && left < MOST_SECONDS ? left : MOST_SECONDS;
    bool is_found = acq_result_find_conflict(view->result, seconds, &conflict, NULL) == ACQ_OK;
    return is_found ? conflict : NULL;
}

void acq_view_print_conflict(const acq_view *view, acq_text *out)
{
    acq_conflict *conflict = acq_view_find_conflict(view);
    size_t n = conflict == NULL ? 0 : acq_conflict_get_n(conflict);
    const char *what = n == 1 ? "this" : n == 2 ? "both of these" : "all of these";
    acq_text text;
    acq_text_init(&text);
    if (n > 0 && acq_result_has_probabilities(view->result))
        acq_text_format(out, "  no value gives %s p >= %.4g:\n", what, view->stats.threshold);
    else if (n > 0)
        acq_text_format(out, "  no value fits %s:\n", what);
    for (size_t i = 0; i < n; i++) {
        acq_text_clear(&text);
        acq_width_add(&text, acq_conflict_get_text(conflict, i));
        acq_width_pad(out, 4);
        acq_width_wrap(out, text.bytes == NULL ? "" : text.bytes, 4, 6, ACQ_COLUMNS);
        acq_text_add_char(out, '\n');
    }
    out->failed = out->failed || text.failed;
    acq_text_deinit(&text);
    acq_conflict_free(conflict);
}

/* ---- the steps of the policy search ---- */

void acq_trace_init(acq_trace *trace, acq_output *output, bool is_json)
{
    *trace = (acq_trace){.output = output, .is_json = is_json};
}

void acq_trace_deinit(acq_trace *trace)
{
    acq_free(trace->steps);
    *trace = (acq_trace){0};
}

static void keep(acq_trace *trace, const acq_trace_step *step)
{
    if (ACQ_RESERVE(trace->steps, trace->capacity, trace->n + 1) == ACQ_OK)
        trace->steps[trace->n] = *step;
    else
        trace->output->data.failed = true;
}

static void print(acq_trace *trace, const acq_trace_step *step)
{
    acq_text *notes = &trace->output->notes;
    if (trace->n == 0)
        acq_text_format(notes, "%8s%10s%10s%10s%10s%10s\n", "step", "score", "best", "classes",
                        "ms", "MFLOP");
    acq_text_format(notes, "%8llu%10.4g%10.4g%10u%10.3f%10.3f\n", (unsigned long long)step->step,
                    step->score, step->best, step->n_classes, step->ms, step->flops / 1e6);
    acq_output_relieve_notes(trace->output);
}

void acq_trace_add(void *context, const acq_trace_step *step)
{
    acq_trace *trace = context;
    if (trace->output->data.failed)
        return;
    if (trace->is_json)
        keep(trace, step);
    else
        print(trace, step);
    trace->n += !trace->output->data.failed;
    trace->last = *step;
    trace->ms += step->ms;
    trace->flops += step->flops;
}

void acq_trace_finish(acq_trace *trace)
{
    if (trace->is_json || trace->n == 0)
        return;
    uint64_t n = trace->last.step;
    double mflop = trace->flops / 1e6;
    acq_text_format(&trace->output->notes,
                    "   total  %llu step%s, best %.4g, %.1f ms, %.1f MFLOP, %.1f GFLOP/s\n",
                    (unsigned long long)n, n == 1 ? "" : "s", trace->last.best, trace->ms, mflop,
                    trace->ms > 0 ? mflop / trace->ms : 0.0);
}

static json_t *make_step(const acq_trace_step *step)
{
    json_t *object = json_object();
    json_object_set_new(object, "step", acq_json_count(step->step));
    json_object_set_new(object, "score", json_real(step->score));
    json_object_set_new(object, "best", json_real(step->best));
    json_object_set_new(object, "classes", acq_json_count(step->n_classes));
    json_object_set_new(object, "ms", json_real(step->ms));
    json_object_set_new(object, "flops", json_real(step->flops));
    return object;
}

json_t *acq_trace_make_json(const acq_trace *trace)
{
    json_t *list = json_array();
    for (size_t i = 0; i < trace->n; i++)
        json_array_append_new(list, make_step(&trace->steps[i]));
    return list;
}

/* ---- reasons ---- */

/* NULL: there are none. The note says why, where reasons could be expected. */
static acq_reasons *find(acq_reason_view *view, acq_ent head, acq_rel relation, acq_ent tail)
{
    acq_error error = {0};
    acq_reasons *reasons = NULL;
    if (!acq_predictor_is_calibrated(view->predictor))
        return NULL;
    if (acq_reasons_find(view->predictor, head, relation, tail, &reasons, &error) != ACQ_OK)
        snprintf(view->note, sizeof view->note, "%.120s", error.message);
    else if (acq_reasons_get_note(reasons)[0] != '\0')
        snprintf(view->note, sizeof view->note, "%.120s", acq_reasons_get_note(reasons));
    return reasons;
}

void acq_reason_view_print(acq_reason_view *view, acq_ent head, acq_rel relation, acq_ent tail,
                           size_t indent, acq_text *out)
{
    enum { WEIGHT = 7 };
    acq_reasons *reasons = find(view, head, relation, tail);
    acq_text text;
    acq_text_init(&text);
    for (size_t i = 0; i < acq_reasons_get_n(reasons); i++) {
        const acq_reason *reason = acq_reasons_get(reasons, i);
        acq_text_clear(&text);
        acq_width_add(&text, reason->text);
        acq_width_pad(out, indent);
        acq_text_format(out, "%+5.1f  ", reason->weight);
        acq_width_wrap(out, text.bytes == NULL ? "" : text.bytes, indent + WEIGHT, indent + WEIGHT,
                       ACQ_COLUMNS);
        acq_text_add_char(out, '\n');
    }
    out->failed = out->failed || text.failed;
    acq_text_deinit(&text);
    acq_reasons_free(reasons);
}

static void set_count(json_t *object, const char *member, uint64_t n)
{
    if (n > 0)
        json_object_set_new(object, member, acq_json_count(n));
}

static json_t *make_rules(const acq_reason *reason)
{
    json_t *rules = json_array();
    for (size_t i = 0; i < reason->n_rules; i++) {
        const acq_reason_rule *rule = &reason->rules[i];
        json_t *object = json_object();
        json_object_set_new(object, "body", acq_json_text(rule->body));
        if (rule->middle[0] != '\0')
            json_object_set_new(object, "middle", acq_json_text(rule->middle));
        json_object_set_new(object, "support", acq_json_count(rule->support));
        json_object_set_new(object, "cases", acq_json_count(rule->cases));
        json_array_append_new(rules, object);
    }
    return rules;
}

static json_t *make_entities(const acq_reason *reason, const acq_graph *graph)
{
    json_t *names = json_array();
    for (size_t i = 0; i < reason->n_entities; i++)
        json_array_append_new(names,
                              acq_json_text(acq_graph_get_entity_name(graph, reason->entities[i])));
    return names;
}

static json_t *make_reason(const acq_reason *reason, const acq_graph *graph)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(reason->kind));
    json_object_set_new(object, "text", acq_json_text(reason->text));
    json_object_set_new(object, "weight", json_real(reason->weight));
    if (strcmp(reason->kind, "rules") == 0)
        json_object_set_new(object, "rules", make_rules(reason));
    if (strcmp(reason->kind, "similar") == 0)
        json_object_set_new(object, "entities", make_entities(reason, graph));
    if (reason->model[0] != '\0')
        json_object_set_new(object, "model", json_string(reason->model));
    set_count(object, "rank", reason->rank);
    set_count(object, "of", reason->of);
    set_count(object, "back_rank", reason->back_rank);
    set_count(object, "back_of", reason->back_of);
    if (strcmp(reason->kind, "rank") != 0) {
        json_object_set_new(object, "count", acq_json_count(reason->count));
        json_object_set_new(object, "total", acq_json_count(reason->total));
    }
    return object;
}

json_t *acq_reason_view_make_json(acq_reason_view *view, acq_ent head, acq_rel relation,
                                  acq_ent tail)
{
    acq_reasons *reasons = find(view, head, relation, tail);
    json_t *list = json_array();
    for (size_t i = 0; i < acq_reasons_get_n(reasons); i++)
        json_array_append_new(list, make_reason(acq_reasons_get(reasons, i), view->graph));
    acq_reasons_free(reasons);
    return list;
}

void acq_reason_view_note(const acq_reason_view *view, acq_output *output)
{
    if (view->note[0] != '\0')
        acq_report_note(output, "no reasons: %s", view->note);
}
