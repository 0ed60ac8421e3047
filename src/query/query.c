/* query.c - the entry for query text, which picks the syntax; and names to ids: of unknown names
 * the one that stands first in the text is reported. */
#include "query/query.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "graph/text/rdf.h"
#include "query/builder.h"

void acq_query_free(acq_query *query)
{
    if (query == NULL)
        return;
    acq_arena_deinit(&query->arena);
    acq_free(query);
}

/* Blanks and comments, which both syntaxes share. */
static size_t skip_blanks(const char *text, size_t length, size_t at)
{
    while (at < length && strchr(" \t\r\n#", text[at]) != NULL) {
        if (text[at] == '#') {
            const char *end = memchr(text + at, '\n', length - at);
            at = end == NULL ? length : (size_t)(end - text);
        } else {
            at++;
        }
    }
    return at;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* A relation or a head may be called `select` or `ask`: then "(", a comparison, ":=" or ":-"
 * follows. But SELECT ( before a "?" or "*" is SPARQL with an expression, which its parser
 * explains. */
static bool is_text_after(const char *text, size_t length, size_t next)
{
    if (next + 1 < length && text[next] == ':' && strchr("=-", text[next + 1]) != NULL)
        return true;
    if (next == length || strchr("(=!&|,", text[next]) == NULL)
        return false;
    while (next < length && strchr("?$*),\"<", text[next]) == NULL)
        next = skip_blanks(text, length, next + 1);
    return next == length || strchr("?$*", text[next]) == NULL;
}

bool acq_query_is_sparql(const char *text, size_t length)
{
    static const char *const FORMS[] = {
        "SELECT", "ASK",   "CONSTRUCT", "DESCRIBE", "PREFIX", "BASE", "VERSION", "INSERT", "DELETE",
        "LOAD",   "CLEAR", "CREATE",    "DROP",     "COPY",   "MOVE", "ADD",     "WITH"};
    size_t start = skip_blanks(text, length, 0), end = start;
    while (end < length && is_word_char(text[end]))
        end++;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        size_t n = strlen(FORMS[i]);
        if (n == end - start && acq_is_same_word(FORMS[i], text + start, n))
            return !is_text_after(text, length, skip_blanks(text, length, end));
    }
    return false;
}

acq_status acq_query_parse(const char *text, size_t length, acq_query **out, acq_error *error)
{
    acq_status status = acq_input_check(text, length, error);
    if (status != ACQ_OK)
        return status;
    if (acq_query_is_sparql(text, length))
        return acq_query_parse_sparql(text, length, out, error);
    return acq_query_parse_text(text, length, out, error);
}

/* ---- names to ids ---- */

typedef struct tag_search {
    const acq_graph *graph;
    const char *key;
    size_t length;
    acq_ent found;
} tag_search;

static bool compare_tag(void *context, acq_ent entity, const char *name, size_t length)
{
    tag_search *search = context;
    if (length == search->length && acq_is_same_word(name, search->key, length) &&
        strcmp(acq_graph_get_entity_key(search->graph, entity), name) == 0)
        search->found = entity;
    return search->found == ACQ_NO_ID;
}

/* A literal with a language: EN is en (RDF 1.1, section 3.3). The text stays as it is spelled. */
static acq_ent find_tagged(const acq_graph *graph, const char *key, size_t length)
{
    const char *tag = key[0] == '"' ? strrchr(key, '@') : NULL;
    tag_search search = {.graph = graph, .key = key, .length = length, .found = ACQ_NO_ID};
    if (tag == NULL || tag[-1] != '"')
        return ACQ_NO_ID;
    acq_status status = acq_graph_each_name(graph, key, (size_t)(tag + 1 - key), compare_tag,
                                            &search, NULL);
    return status == ACQ_OK ? search.found : ACQ_NO_ID;
}

static uint32_t find_exact(const acq_graph *graph, const char *key, size_t length,
                           bool is_relation)
{
    if (is_relation) {
        acq_rel id = acq_graph_find_relation(graph, key, length);
        bool is_label = id != ACQ_NO_ID && acq_graph_is_rdf(graph) &&
                        strcmp(acq_graph_get_relation_key(graph, id), key) != 0;
        return is_label ? ACQ_NO_ID : id;
    }
    acq_ent id = acq_graph_find_entity(graph, key, length);
    if (!acq_graph_is_rdf(graph) ||
        (id != ACQ_NO_ID && strcmp(acq_graph_get_entity_key(graph, id), key) == 0))
        return id;
    return find_tagged(graph, key, length);
}

/* Also by the IRI that stands for a plain name, as results of plain graphs have it. */
static uint32_t find_key(const acq_graph *graph, const char *key, size_t length, bool is_relation)
{
    uint32_t found = find_exact(graph, key, length, is_relation);
    acq_text name;
    if (found != ACQ_NO_ID || !acq_iri_is_plain_name(key, length))
        return found;
    acq_text_init(&name);
    if (acq_iri_decode_plain_name(&name, key, length) && !name.failed && name.length > 0)
        found = find_exact(graph, name.bytes, name.length, is_relation);
    acq_text_deinit(&name);
    return found;
}

acq_ent acq_query_find_key(const acq_graph *graph, const char *key, size_t length)
{
    return find_key(graph, key, length, false);
}

acq_rel acq_query_find_relation_key(const acq_graph *graph, const char *key, size_t length)
{
    return find_key(graph, key, length, true);
}

static acq_ent find_entity(const acq_graph *graph, const acq_query_name *name, bool is_by_key)
{
    return is_by_key ? acq_query_find_key(graph, name->text, name->length)
                     : acq_graph_find_entity(graph, name->text, name->length);
}

static acq_rel find_relation(const acq_graph *graph, const acq_query_name *name, bool is_by_key)
{
    acq_rel id = is_by_key ? acq_query_find_relation_key(graph, name->text, name->length)
                           : acq_graph_find_relation(graph, name->text, name->length);
    return id != ACQ_NO_ID && name->is_inverse ? acq_inverse(id) : id;
}

typedef uint32_t (*find_fn)(const acq_graph *graph, const acq_query_name *name, bool is_by_key);

/* Fills the ids; returns the first name without one, or NULL. */
static acq_query_name *bind_names(const acq_query *query, bool are_relations,
                                  const acq_graph *graph, uint32_t n_ids)
{
    acq_query_name *names = are_relations ? query->relations : query->constants;
    uint32_t n = are_relations ? query->n_relations : query->n_constants;
    find_fn find = are_relations ? find_relation : find_entity;
    acq_query_name *unknown = NULL;
    for (uint32_t i = 0; i < n; i++) {
        bool bad;
        if (names[i].is_id) {
            bad = names[i].id >= n_ids;
        } else {
            names[i].id = find(graph, &names[i], query->is_by_key);
            bad = names[i].id == ACQ_NO_ID;
        }
        if (bad && unknown == NULL)
            unknown = &names[i];
    }
    return unknown;
}

static void unbind_names(acq_query_name *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!names[i].is_id)
            names[i].id = ACQ_NO_ID;
    }
}

static bool is_before(const acq_query_name *a, const acq_query_name *b)
{
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

static acq_status fail_id(const acq_query_name *name, const char *kind, uint32_t n_ids,
                          acq_error *error)
{
    return acq_fail_at(error, ACQ_ERR_NAME, name->line, name->column,
                       "%s '%s' is grounded to id %u, but the graph has only %u; is this the graph "
                       "the grounding was made for?",
                       kind, acq_input_show(name->text, name->length).text, name->id, n_ids);
}

static acq_status fail_unknown(const acq_query_name *name, const char *kind, const char *near,
                               acq_error *error)
{
    acq_shown shown = acq_input_show(name->text, name->length);
    char hint[128] = "check the spelling";
    if (near != NULL)
        snprintf(hint, sizeof hint, "did you mean \"%.100s\"?", near);
    const char *bare = name->is_bare ? " (a bare word that neither the head nor exists lists is a "
                                       "name; list it to make it a variable)"
                                     : "";
    return acq_fail_at(error, ACQ_ERR_NAME, name->line, name->column,
                       "the graph has no %s \"%s\"; %s%s", kind, shown.text, hint, bare);
}

static void write_hint(const acq_query *query, const acq_graph *graph, char *hint, size_t size)
{
    if (hint == NULL || size == 0)
        return;
    hint[0] = '\0';
    for (uint32_t i = 0; i < query->n_variables; i++) {
        const acq_query_name *name = &query->variables[i];
        if (!name->is_bare || find_entity(graph, name, false) == ACQ_NO_ID)
            continue;
        acq_shown shown = acq_input_show(name->text, name->length);
        snprintf(hint, size,
                 "'%s' is a variable here, but also the name of an entity; write \"%s\" in quotes "
                 "to mean the entity",
                 shown.text, shown.text);
        return;
    }
}

acq_status acq_query_bind(acq_query *query, const acq_graph *graph, char *hint, size_t hint_size,
                          acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(graph);
    uint32_t n_relations = acq_graph_get_n_relations(graph);
    const acq_query_name *entity =
        bind_names(query, false, graph, n_entities);
    const acq_query_name *relation =
        bind_names(query, true, graph, n_relations);
    write_hint(query, graph, hint, hint_size);
    bool is_bound = entity == NULL && relation == NULL;
    query->graph = is_bound ? graph : NULL;
    if (is_bound)
        return ACQ_OK;
    acq_status failed = acq_graph_get_failure(graph, error);
    unbind_names(query->constants, query->n_constants);
    unbind_names(query->relations, query->n_relations);
    if (failed != ACQ_OK)
        return failed;
    bool is_relation = entity == NULL || (relation != NULL && is_before(relation, entity));
    const acq_query_name *name = is_relation ? relation : entity;
    const char *kind = is_relation ? "relation" : "entity";
    if (name->is_id)
        return fail_id(name, kind, is_relation ? n_relations : n_entities, error);
    const char *near = is_relation ? acq_graph_suggest_relation(graph, name->text, name->length)
                                   : acq_graph_suggest_entity(graph, name->text, name->length);
    failed = acq_graph_get_failure(graph, error); /* the search for a near name reads on */
    return failed != ACQ_OK ? failed : fail_unknown(name, kind, near, error);
}

/* ---- the tuple of a check, from names to entities ---- */

/* "x, y, z", cut with an ellipsis when the buffer is too small. */
static void list_free_variables(const acq_query *query, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (uint32_t i = 0; i < query->n_free; i++) {
        const acq_query_name *name = &query->variables[i];
        if (used + name->length + 8 > size) {
            snprintf(buffer + used, size - used, ", ...");
            return;
        }
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%s", i == 0 ? "" : ", ", name->text);
    }
}

static acq_status fail_count(const acq_query *query, size_t n_names, acq_error *error)
{
    char list[256];
    list_free_variables(query, list, sizeof list);
    if (query->n_free == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the query has no free variable and takes no value, but %zu %s given",
                        n_names, n_names == 1 ? "was" : "were");
    return acq_fail(error, ACQ_ERR_USAGE,
                    "the query has %u free variable%s (%s), but %zu value%s %s given",
                    query->n_free, query->n_free == 1 ? "" : "s", list, n_names,
                    n_names == 1 ? "" : "s", n_names == 1 ? "was" : "were");
}

static acq_status fail_unknown_value(const acq_query *query, uint32_t i, const acq_graph *graph,
                                     const char *name, acq_error *error)
{
    const char *near = acq_graph_suggest_entity(graph, name, strlen(name));
    acq_status failed = acq_graph_get_failure(graph, error);
    if (failed != ACQ_OK)
        return failed;
    if (near == NULL)
        return acq_fail(error, ACQ_ERR_NAME, "no entity \"%.160s\" for %.60s in this graph", name,
                        query->variables[i].text);
    return acq_fail(error, ACQ_ERR_NAME,
                    "no entity \"%.160s\" for %.60s in this graph; did you mean \"%.160s\"?", name,
                    query->variables[i].text, near);
}

/* A value is a name as it stands, or in brackets as queries have it. */
static acq_ent find_value(const acq_graph *graph, const char *name)
{
    size_t length = strlen(name);
    acq_ent found = acq_graph_find_entity(graph, name, length);
    bool has_brackets = length > 2 && name[0] == '<' && name[length - 1] == '>';
    return found == ACQ_NO_ID && has_brackets ? acq_graph_find_entity(graph, name + 1, length - 2)
                                              : found;
}

acq_status acq_query_find_values(const acq_query *query, const acq_graph *graph,
                                 const char *const *names, size_t n_names, acq_ent *out,
                                 acq_error *error)
{
    if (n_names != query->n_free)
        return fail_count(query, n_names, error);
    for (uint32_t i = 0; i < query->n_free; i++) {
        out[i] = find_value(graph, names[i]);
        if (out[i] == ACQ_NO_ID)
            return fail_unknown_value(query, i, graph, names[i], error);
    }
    return ACQ_OK;
}
