/* page.c - the files of the page (parts.h) in the program's read-only data, and the tools that it
 * needs besides those that everybody has:
 *
 *   query     a query taken apart, to be drawn     entity   what the graph knows of one entity
 *   trust     how true the predictor's p are */

#include <string.h>

#include "base/budget.h"
#include "server/parts.h"

/* ---- files ---- */

/* clang-format off */
#define PAGE_FILE(name, file)                                                                      \
    __asm__(".pushsection .rodata,\"a\",%progbits\n"                                               \
            ".hidden acq_page_" #name "\n.hidden acq_page_end_" #name "\n"                         \
            ".globl acq_page_" #name "\nacq_page_" #name ":\n"                                     \
            ".incbin \"" ACQ_PAGE file "\"\n"                                                      \
            ".globl acq_page_end_" #name "\nacq_page_end_" #name ":\n.byte 0\n.popsection\n");     \
    extern const char acq_page_##name[], acq_page_end_##name[];
/* clang-format on */

PAGE_FILE(index, "index.html")
PAGE_FILE(style, "page.css")
PAGE_FILE(main, "page.js")
PAGE_FILE(basics, "basics.js")
PAGE_FILE(formula, "formula.js")
PAGE_FILE(complete, "complete.js")
PAGE_FILE(ask, "ask.js")
PAGE_FILE(draw, "draw.js")
PAGE_FILE(build, "build.js")
PAGE_FILE(table, "table.js")
PAGE_FILE(views, "views.js")

/* Both hold. */
const char *const acq_page_policies[] = {
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:",
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'", NULL};

const acq_page_file *acq_page_find(const char *path)
{
    static const char script[] = "text/javascript; charset=utf-8";
    static const acq_page_file files[] = {
        {"/", "text/html; charset=utf-8", acq_page_index, acq_page_end_index},
        {"/page/page.css", "text/css; charset=utf-8", acq_page_style, acq_page_end_style},
        {"/page/page.js", script, acq_page_main, acq_page_end_main},
        {"/page/basics.js", script, acq_page_basics, acq_page_end_basics},
        {"/page/formula.js", script, acq_page_formula, acq_page_end_formula},
        {"/page/complete.js", script, acq_page_complete, acq_page_end_complete},
        {"/page/ask.js", script, acq_page_ask, acq_page_end_ask},
        {"/page/draw.js", script, acq_page_draw, acq_page_end_draw},
        {"/page/build.js", script, acq_page_build, acq_page_end_build},
        {"/page/table.js", script, acq_page_table, acq_page_end_table},
        {"/page/views.js", script, acq_page_views, acq_page_end_views},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].path, path) == 0)
            return &files[i];
    }
    return NULL;
}

static json_t *name_of(const acq_graph *graph, acq_ent entity)
{
    return acq_service_text(acq_graph_get_entity_name(graph, entity));
}

/* ---- query ---- */

/* {"variable": "x"}, or the name and key of an entity. */
static json_t *make_term(const acq_graph *graph, const acq_query *query, acq_ent entity,
                         size_t variable)
{
    if (variable != SIZE_MAX)
        return json_pack("{s:o}", "variable",
                         acq_service_text(acq_query_get_variable(query, variable)));
    return json_pack("{s:o,s:o}", "name", name_of(graph, entity), "key",
                     acq_service_text(acq_graph_get_entity_key(graph, entity)));
}

static json_t *make_atom(const acq_graph *graph, const acq_query *query, const acq_query_atom *atom)
{
    json_t *object = json_pack("{s:I,s:b,s:b,s:o,s:o}", "condition", (json_int_t)atom->condition,
                               "alone", atom->is_alone, "negated", atom->is_negated, "head",
                               make_term(graph, query, atom->head, atom->head_variable), "tail",
                               make_term(graph, query, atom->tail, atom->tail_variable));
    if (atom->relation == UINT32_MAX)
        return object;
    const char *name = acq_graph_get_relation_name(graph, atom->relation);
    const char *key = acq_graph_get_relation_key(graph, atom->relation);
    json_object_set_new(object, "relation", acq_service_text(name));
    json_object_set_new(object, "relation_key", acq_service_text(key));
    json_object_set_new(object, "inverse",
                        json_boolean(!acq_graph_is_named(graph, atom->relation)));
    return object;
}

json_t *acq_tools_query(const acq_call *call, const json_t *arguments, int *status)
{
    enum { MOST_ATOMS = 400 };
    const acq_served_graph *g = acq_tools_find_graph(call, arguments);
    const char *text = acq_argument_get_text(arguments, "query");
    acq_error error = {0};
    acq_query *query = NULL;
    if (text == NULL)
        return acq_service_fail(400, "usage", "give the query as \"query\"", status);
    if (acq_query_new(g->graph, text, &query, &error) != ACQ_OK)
        return acq_service_fail_with(&error, status);
    json_t *variables = json_array(), *atoms = json_array();
    for (size_t i = 0; i < acq_query_get_n_variables(query); i++)
        json_array_append_new(variables, acq_service_text(acq_query_get_variable(query, i)));
    acq_query_atom atom = {.size = sizeof atom};
    for (size_t i = 0; i < MOST_ATOMS && acq_query_get_atom(query, i, &atom); i++)
        json_array_append_new(atoms, make_atom(g->graph, query, &atom));
    json_t *object = json_pack("{s:o,s:I,s:o,s:I,s:o}", "variables", variables, "free",
                               (json_int_t)acq_query_get_n_free(query), "atoms", atoms, "n_atoms",
                               (json_int_t)acq_query_get_n_atoms(query), "hint",
                               acq_service_text(acq_query_get_hint(query)));
    acq_query_free(query);
    return object;
}

/* ---- entity ---- */

/* Facts of an entity in one direction of a relation, of which the first are named. */
static json_t *make_links(const acq_served_graph *g, acq_ent entity, acq_rel relation)
{
    enum { MOST = 8 };
    acq_predictions *found = NULL;
    if (acq_predict(g->observed, entity, relation, &found, NULL) != ACQ_OK)
        return NULL;
    size_t n = acq_predictions_get_n(found);
    json_t *names = json_array();
    for (size_t i = 0; i < n && i < MOST; i++)
        json_array_append_new(names, name_of(g->graph, acq_predictions_get(found, i)->entity));
    acq_predictions_free(found);
    if (n > 0)
        return json_pack("{s:o,s:b,s:I,s:o}", "relation",
                         acq_service_text(acq_graph_get_relation_name(g->graph, relation & ~1U)),
                         "inverse", (relation & 1U) != 0, "count", (json_int_t)n, "names", names);
    json_decref(names);
    return NULL;
}

json_t *acq_tools_entity(const acq_call *call, const json_t *arguments, int *status)
{
    const acq_served_graph *g = acq_tools_find_graph(call, arguments);
    const char *name = acq_argument_get_text(arguments, "entity");
    acq_ent entity =
        name == NULL ? UINT32_MAX : acq_graph_find_entity(g->graph, name, strlen(name));
    int64_t deadline = acq_clock_get_deadline(call->service->params.seconds / 2);
    if (name == NULL)
        return acq_service_fail(400, "usage", "give a name as \"entity\"", status);
    if (entity == UINT32_MAX)
        return acq_tools_fail_name(g->graph, "entity", name, status);
    json_t *links = json_array();
    acq_rel n = acq_graph_get_n_relations(g->graph), r = 0;
    for (; r < n && acq_clock_ns() < deadline; r++) {
        json_t *some = make_links(g, entity, r);
        if (some != NULL)
            json_array_append_new(links, some);
    }
    return json_pack("{s:o,s:o,s:o,s:b}", "name", name_of(g->graph, entity), "key",
                     acq_service_text(acq_graph_get_entity_key(g->graph, entity)), "links", links,
                     "complete", r == n);
}

/* ---- trust ---- */

static json_t *make_bins(const acq_reliability *table)
{
    json_t *bins = json_array();
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        const acq_reliability_bin *bin = &table->bins[i];
        if (bin->weight > 0)
            json_array_append_new(bins, json_pack("{s:f,s:f,s:f,s:f,s:f}", "low", bin->low, "high",
                                                  bin->high, "weight", bin->weight, "stated",
                                                  bin->stated / bin->weight, "true",
                                                  bin->truth / bin->weight));
    }
    return bins;
}

static json_t *make_qualities(const acq_served_graph *g)
{
    json_t *relations = json_array();
    for (acq_rel r = 0; r < acq_graph_get_n_relations(g->graph); r++) {
        acq_relation_quality quality = {.size = sizeof quality};
        if (acq_graph_is_named(g->graph, r) &&
            acq_predictor_get_quality(g->predictor, r, &quality) && quality.held > 0)
            json_array_append_new(
                relations,
                json_pack("{s:o,s:I,s:f,s:f}", "name",
                          acq_service_text(acq_graph_get_relation_name(g->graph, r)), "held",
                          (json_int_t)quality.held, "said", quality.said, "right", quality.right));
    }
    return relations;
}

json_t *acq_tools_trust(const acq_call *call, const json_t *arguments, int *status)
{
    const acq_served_graph *g = acq_tools_find_graph(call, arguments);
    acq_reliability table;
    (void)status;
    bool is_calibrated = acq_predictor_is_calibrated(g->predictor);
    json_t *object = json_pack("{s:o,s:b,s:o}", "predictor",
                               acq_service_text(acq_predictor_get_name(g->predictor)), "calibrated",
                               is_calibrated, "relations", make_qualities(g));
    if (acq_predictor_get_reliability(g->predictor, &table))
        json_object_set_new(object, "bins", make_bins(&table));
    return object;
}
