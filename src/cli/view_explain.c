/* view_explain.c - what --explain and --trace tell a person. Why an answer holds:
 *
 *     y = Christopher Nolan
 *     directed("Christopher Nolan", "Oppenheimer")   observed
 *     !lives_in("Christopher Nolan", "London")       not observed, predicted 0.02
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
#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "cli/report.h"
#include "cli/view.h"
#include "cli/width.h"
#include "engine/engine.h"
#include "query/print.h"

enum { INDENT = 2, GAP = 2 };

static bool is_bare_word(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    return *name == '\0';
}

static void add_quoted(acq_text *out, const char *name)
{
    acq_text_add_char(out, '"');
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            acq_text_add_char(out, '\\');
        acq_text_add_char(out, *c);
    }
    acq_text_add_char(out, '"');
}

/* Entities are always quoted, so that an atom can be pasted into a query. */
static void add_relation(const acq_graph *graph, acq_rel relation, acq_text *out)
{
    bool is_named = acq_graph_is_named(graph, relation);
    const char *name = acq_graph_get_relation_name(graph, relation);
    acq_text_add(out, is_named ? "" : "inverse(");
    if (is_bare_word(name))
        acq_text_add(out, name);
    else
        add_quoted(out, name);
    acq_text_add(out, is_named ? "" : ")");
}

void acq_view_add_atom(const acq_view *view, const acq_evidence *evidence, acq_text *out)
{
    const acq_graph *graph = view->predictor->graph;
    const char *left = acq_graph_get_entity_name(graph, evidence->left);
    const char *right = acq_graph_get_entity_name(graph, evidence->right);
    if (evidence->kind == ACQ_EVIDENCE_EQUALITY) {
        add_quoted(out, left);
        acq_text_add(out, evidence->is_negated ? " != " : " = ");
        add_quoted(out, right);
        return;
    }
    acq_text_add(out, evidence->is_negated ? "!" : "");
    add_relation(graph, view->query->relations[evidence->node->relation].id, out);
    acq_text_add_char(out, '(');
    add_quoted(out, left);
    acq_text_add(out, ", ");
    add_quoted(out, right);
    acq_text_add_char(out, ')');
}

static void add_fact(const acq_view *view, const acq_evidence *evidence, acq_text *out)
{
    const char *unit = acq_view_has_p(view) ? "p " : "";
    switch (evidence->kind) {
    case ACQ_EVIDENCE_OBSERVED:
        acq_text_add(out, evidence->link > 0 ? "observed" : "observed, but held false");
        return;
    case ACQ_EVIDENCE_PREDICTED:
        acq_text_format(out, "%spredicted %s%.4g", evidence->is_negated ? "not observed, " : "",
                        unit, evidence->link);
        return;
    case ACQ_EVIDENCE_ABSENT:
        acq_text_add(out, "not observed");
        return;
    case ACQ_EVIDENCE_EQUALITY:
        break;
    }
    acq_text_add(out, evidence->score > 0 ? "holds" : "fails");
}

/* Both texts of one line, made anew for each atom. */
typedef struct line {
    acq_text atom, shown, fact;
} line;

static void make_line(const acq_view *view, const acq_evidence *evidence, line *l)
{
    acq_text_clear(&l->atom);
    acq_text_clear(&l->shown);
    acq_text_clear(&l->fact);
    acq_view_add_atom(view, evidence, &l->atom);
    acq_width_add(&l->shown, l->atom.failed ? "" : l->atom.bytes);
    add_fact(view, evidence, &l->fact);
    l->fact.failed = l->fact.failed || l->shown.failed || l->atom.failed;
}

static size_t atom_width(const line *l)
{
    return acq_width_since(&l->shown, 0);
}

/* Width of the widest used atom that is at most `most` wide, and of the widest fact. */
static size_t widest_atom(const acq_view *view, const acq_support *support, size_t most, line *l,
                          size_t *widest_fact)
{
    size_t widest = 0;
    *widest_fact = 0;
    for (size_t i = 0; i < support->n; i++) {
        if (!support->evidence[i].used)
            continue;
        make_line(view, &support->evidence[i], l);
        size_t width = atom_width(l), fact = acq_width_since(&l->fact, 0);
        widest = width <= most && width > widest ? width : widest;
        *widest_fact = fact > *widest_fact ? fact : *widest_fact;
    }
    return widest;
}

/* Where the facts begin: after the widest atom that leaves room for the widest of them. */
static size_t measure(const acq_view *view, const acq_support *support, line *l)
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
    size_t name_width = 0;
    for (uint32_t v = query->n_free; v < query->n_variables; v++) {
        size_t width = acq_width_of(query->variables[v].text);
        name_width = width > name_width ? width : name_width;
    }
    acq_text value;
    acq_text_init(&value);
    for (uint32_t v = query->n_free; v < query->n_variables; v++) {
        const char *name = query->variables[v].text;
        acq_text_clear(&value);
        acq_width_add(&value, acq_view_get_value(view, i_answer, v));
        acq_width_pad(out, INDENT);
        acq_width_add(out, name);
        acq_width_pad(out, name_width - acq_width_of(name));
        acq_text_add(out, " = ");
        size_t at = INDENT + name_width + strlen(" = ");
        acq_width_wrap(out, value.bytes == NULL ? "" : value.bytes, at, at, ACQ_COLUMNS);
        acq_text_add_char(out, '\n');
    }
    out->failed = out->failed || value.failed;
    acq_text_deinit(&value);
}

static void print_unused(const acq_support *support, acq_text *out)
{
    size_t n = 0;
    for (size_t i = 0; i < support->n; i++)
        n += !support->evidence[i].used;
    if (n == 0)
        return;
    acq_width_pad(out, INDENT);
    acq_text_format(out, "(%zu atom%s of other branches not needed)\n", n, n == 1 ? "" : "s");
}

void acq_view_print_support(const acq_view *view, size_t i_answer, const acq_support *support,
                            acq_text *out)
{
    line l;
    acq_text_init(&l.atom);
    acq_text_init(&l.shown);
    acq_text_init(&l.fact);
    size_t column = measure(view, support, &l);
    print_witness(view, i_answer, out);
    for (size_t i = 0; i < support->n; i++) {
        if (!support->evidence[i].used)
            continue;
        make_line(view, &support->evidence[i], &l);
        print_line(&l, column, out);
    }
    print_unused(support, out);
    acq_text_deinit(&l.atom);
    acq_text_deinit(&l.shown);
    acq_text_deinit(&l.fact);
}

/* ---- why there is none ---- */

static const double MOST_SECONDS = 1.0;

static acq_status copy_texts(const acq_view *view, const acq_node **nodes, size_t n,
                             acq_arena *arena, const char **out)
{
    acq_text text;
    acq_status status = ACQ_OK;
    acq_text_init(&text);
    for (size_t i = 0; status == ACQ_OK && i < n; i++) {
        acq_text_clear(&text);
        acq_query_print_node(view->query, nodes[i], &text);
        status = acq_text_finish(&text, NULL);
        out[i] = status == ACQ_OK ? acq_arena_copy_string(arena, text.bytes, text.length) : NULL;
        if (out[i] == NULL)
            status = ACQ_ERR_MEMORY;
    }
    acq_text_deinit(&text);
    return status;
}

acq_status acq_view_get_core(const acq_view *view, acq_arena *arena, const char ***out,
                             size_t *n_out)
{
    const acq_node **nodes;
    size_t n;
    double left = view->options->time - view->ms / 1000;
    if (view->options->time > 0 && left <= 0) {
        *n_out = 0;
        return ACQ_OK;
    }
    double seconds = view->options->time > 0 && left < MOST_SECONDS ? left : MOST_SECONDS;
    acq_status status = acq_engine_find_core(view->query, view->predictor, view->values,
                                             view->params, seconds, arena, &nodes, &n, NULL);
    if (status != ACQ_OK)
        return status;
    const char **texts = acq_arena_alloc(arena, n, sizeof *texts);
    if (texts == NULL)
        return ACQ_ERR_MEMORY;
    status = copy_texts(view, nodes, n, arena, texts);
    *out = texts;
    *n_out = n;
    return status;
}

void acq_view_print_core(const acq_view *view, acq_text *out)
{
    acq_arena arena;
    const char **texts;
    size_t n;
    acq_arena_init(&arena);
    if (acq_view_get_core(view, &arena, &texts, &n) != ACQ_OK) {
        out->failed = true;
        n = 0;
    }
    if (n > 0)
        acq_text_format(out, "  no value fits %s:\n",
                        n == 1   ? "this"
                        : n == 2 ? "both of these"
                                 : "all of these");
    for (size_t i = 0; i < n; i++) {
        acq_width_pad(out, 4);
        acq_width_wrap(out, texts[i], 4, 6, ACQ_COLUMNS);
        acq_text_add_char(out, '\n');
    }
    acq_arena_deinit(&arena);
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
