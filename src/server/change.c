/* change.c - the tools `add` and `remove`: facts into and out of a store that is served.
 *
 *   {"facts": [{"head": "Barbie", "relation": "released_in", "tail": "2023"}], "known": true}
 *
 * All facts of a request are one transaction. When the response goes out they are durable, and the
 * next request sees them. A misspelled name makes a new entity, so new names are told with what
 * they resemble; with "known" they are refused. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "server/parts.h"

enum { MOST_FACTS = 1000, MOST_NEW_NAMES = 20 };

typedef struct change {
    const acq_call *call;
    const acq_served_graph *g;
    acq_store_fact *facts;
    size_t n;
    bool is_removal;
    acq_store_report report;
    json_t *new_names;
} change;

static const char *read_fact(const json_t *given, acq_store_fact *out)
{
    const char *name;
    json_t *value;
    *out = (acq_store_fact){.head = acq_argument_get_text(given, "head"),
                            .relation = acq_argument_get_text(given, "relation"),
                            .tail = acq_argument_get_text(given, "tail"),
                            .is_inverse = json_is_true(json_object_get(given, "inverse"))};
    json_object_foreach((json_t *)given, name, value)
    {
        if (strcmp(name, "head") != 0 && strcmp(name, "relation") != 0 &&
            strcmp(name, "tail") != 0 && (strcmp(name, "inverse") != 0 || !json_is_boolean(value)))
            return "a fact has head, relation, tail, and perhaps inverse (true or false)";
    }
    if (out->head == NULL || out->relation == NULL || out->tail == NULL)
        return "each fact needs head, relation and tail: texts";
    if (out->head[0] == '\0' || out->relation[0] == '\0' || out->tail[0] == '\0')
        return "a name is empty";
    return NULL;
}

static json_t *read_facts(change *c, const json_t *arguments, int *status)
{
    const json_t *list = json_object_get(arguments, "facts");
    size_t n = json_array_size(list);
    if (n == 0 || n > MOST_FACTS)
        return acq_service_fail(400, "usage", "give 1 to 1,000 \"facts\" as a list", status);
    c->facts = acq_zalloc(n, sizeof *c->facts);
    if (c->facts == NULL)
        return acq_service_fail(503, "memory", "out of memory", status);
    for (; c->n < n; c->n++) {
        const char *problem = read_fact(json_array_get(list, c->n), &c->facts[c->n]);
        if (problem != NULL)
            return acq_service_fail(400, "usage", problem, status);
    }
    return NULL;
}

static bool is_listed(const json_t *list, const char *name, const char *kind)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (strcmp(acq_argument_get_text(one, "name"), name) == 0 &&
            strcmp(acq_argument_get_text(one, "kind"), kind) == 0)
            return true;
    }
    return false;
}

static void look_at(change *c, const char *name, const char *kind)
{
    size_t length = strlen(name);
    bool is_entity = strcmp(kind, "entity") == 0;
    uint32_t id = is_entity ? acq_graph_find_entity(c->g->graph, name, length)
                            : acq_graph_find_relation(c->g->graph, name, length);
    if (id != UINT32_MAX || json_array_size(c->new_names) == MOST_NEW_NAMES ||
        is_listed(c->new_names, name, kind))
        return;
    const char *near = is_entity ? acq_graph_suggest_entity(c->g->graph, name, length)
                                 : acq_graph_suggest_relation(c->g->graph, name, length);
    json_t *one = json_pack("{s:o,s:s}", "name", acq_service_text(name), "kind", kind);
    if (near != NULL)
        json_object_set_new(one, "near", acq_service_text(near));
    json_array_append_new(c->new_names, one);
}

static json_t *check_names(change *c, bool wants_known, int *status)
{
    for (size_t i = 0; i < c->n; i++) {
        look_at(c, c->facts[i].head, "entity");
        look_at(c, c->facts[i].relation, "relation");
        look_at(c, c->facts[i].tail, "entity");
    }
    const json_t *first = json_array_get(c->new_names, 0);
    if (first == NULL || (!wants_known && !c->is_removal))
        return NULL;
    return acq_tools_fail_name(c->g->graph, acq_argument_get_text(first, "kind"),
                               acq_argument_get_text(first, "name"), status);
}

/* The writer goes before the graph is opened anew. */
static acq_status apply(change *c, acq_error *error)
{
    acq_store_writer *writer = NULL;
    acq_status status = acq_store_writer_open(c->g->path, &writer, error);
    c->report.size = sizeof c->report;
    if (status == ACQ_OK && c->is_removal)
        status = acq_store_remove(writer, c->facts, c->n, &c->report, NULL, error);
    else if (status == ACQ_OK)
        status = acq_store_add(writer, c->facts, c->n, &c->report, NULL, error);
    acq_store_writer_free(writer);
    return status;
}

/* What is durable stays so when the graph cannot be opened anew: then the response says so. */
static json_t *make_report(change *c, int *status)
{
    acq_error error = {0};
    if (acq_served_reload(c->call->served, c->g->name, c->report.changed, &error) != ACQ_OK) {
        char message[600];
        acq_format(message, sizeof message,
                   "the facts are in the store, but it could not be opened anew: %.400s",
                   error.message);
        return acq_service_fail(500, "reload", message, status);
    }
    json_t *object =
        json_pack("{s:s,s:I,s:I}", "graph", c->g->name, c->is_removal ? "removed" : "added",
                  (json_int_t)c->report.changed, c->is_removal ? "not_there" : "there_already",
                  (json_int_t)c->report.unchanged);
    if (!c->is_removal) {
        json_object_set_new(object, "new_entities",
                            json_integer((json_int_t)c->report.new_entities));
        json_object_set_new(object, "new_relations",
                            json_integer((json_int_t)c->report.new_relations));
        json_object_set(object, "new_names", c->new_names);
    }
    return object;
}

static json_t *change_facts(const acq_call *call, const json_t *arguments, bool is_removal,
                            int *status)
{
    change c = {.call = call,
                .g = acq_service_find(call->service, acq_argument_get_text(arguments, "graph")),
                .is_removal = is_removal,
                .new_names = json_array()};
    acq_error error = {0};
    json_t *object = NULL;
    if (!acq_store_is_database(c.g->path))
        object = acq_service_fail(409, "read-only",
                                  "this graph is no store; anycq import makes one", status);
    if (object == NULL)
        object = read_facts(&c, arguments, status);
    if (object == NULL)
        object = check_names(&c, acq_argument_is_true(arguments, "known"), status);
    if (object == NULL)
        object = apply(&c, &error) == ACQ_OK ? make_report(&c, status)
                                             : acq_service_fail_with(&error, status);
    acq_free(c.facts);
    json_decref(c.new_names);
    return object;
}

json_t *acq_tools_add(const acq_call *call, const json_t *arguments, int *status)
{
    return change_facts(call, arguments, false, status);
}

json_t *acq_tools_remove(const acq_call *call, const json_t *arguments, int *status)
{
    return change_facts(call, arguments, true, status);
}
