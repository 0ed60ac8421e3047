/* tools.c - the tools of service.h that read, and the table of all. */

#include <string.h>

#include "base/text.h"
#include "server/parts.h"

const acq_served_graph *acq_tools_find_graph(const acq_call *call, const json_t *arguments)
{
    return acq_service_find(call->service, acq_argument_get_text(arguments, "graph"));
}

static bool watch(void *context, const acq_progress *now)
{
    const acq_call *call = context;
    (void)now;
    return call->is_over == NULL || !call->is_over(call->context);
}

json_t *acq_tools_fail_name(const acq_graph *graph, const char *kind, const char *name, int *status)
{
    char message[400];
    bool is_entity = strcmp(kind, "entity") == 0;
    const char *near = is_entity ? acq_graph_suggest_entity(graph, name, strlen(name))
                                 : acq_graph_suggest_relation(graph, name, strlen(name));
    acq_format(message, sizeof message, "the graph has no %s \"%.100s\"%s%.100s%s", kind, name,
               near == NULL ? "" : "; did you mean \"", near == NULL ? "" : near,
               near == NULL ? "" : "\"?");
    return acq_service_fail(400, "unknown name", message, status);
}

/* `limit` as a number of things to list. */
static json_t *read_limit(const acq_call *call, const json_t *arguments, uint64_t *limit,
                          int *status)
{
    acq_error error = {0};
    if (acq_argument_get_count(arguments, "limit", (double)call->service->params.most_answers,
                               limit, &error))
        return NULL;
    return acq_service_fail_with(&error, status);
}

/* ---- check and explain ---- */

/* values: an array of names, or one text for one variable. */
static json_t *read_values(const json_t *arguments, const char **values, size_t most, size_t *n,
                           int *status)
{
    const json_t *given = json_object_get(arguments, "values");
    *n = json_is_array(given) ? json_array_size(given) : json_is_string(given);
    if (*n > most || (given != NULL && !json_is_array(given) && !json_is_string(given)))
        return acq_service_fail(400, "usage", "\"values\" is a list of up to 64 names", status);
    for (size_t i = 0; i < *n; i++) {
        values[i] = json_string_value(json_is_array(given) ? json_array_get(given, i) : given);
        if (values[i] == NULL)
            return acq_service_fail(400, "usage", "\"values\" are names: texts", status);
    }
    return NULL;
}

static json_t *make_verdict(const acq_served_graph *g, const acq_query *query,
                            const acq_result *result, const acq_ask_params *params, bool explains)
{
    static const char *const VERDICTS[] = {"yes", "no", "undecided"};
    json_t *answers = json_array(), *object;
    acq_text text = {0};
    for (size_t i = 0; i < acq_result_get_n_answers(result); i++) {
        acq_answer_write(g, query, result, i, explains, &text);
        json_array_append_new(answers, acq_answer_parse(&text));
    }
    acq_answer_write_end(g, query, result, params, explains, &text);
    object = acq_answer_parse(&text);
    acq_text_deinit(&text);
    json_object_set_new(object, "answers", answers);
    json_object_set_new(object, "verdict", json_string(VERDICTS[acq_result_get_outcome(result)]));
    acq_answer_set_p(object, "p", acq_result_get_whole_probability(result));
    return object;
}

static json_t *check(const acq_call *call, const json_t *arguments, bool explains, int *status)
{
    enum { MOST = 64 };
    const acq_served_graph *g = acq_tools_find_graph(call, arguments);
    const char *text = acq_argument_get_text(arguments, "query"), *values[MOST];
    size_t n;
    acq_error error = {0};
    acq_ask_params params;
    acq_query *query = NULL;
    acq_result *result = NULL;
    if (text == NULL)
        return acq_service_fail(400, "usage", "give the query as \"query\"", status);
    json_t *object = read_values(arguments, values, MOST, &n, status);
    if (object != NULL)
        return object;
    if (acq_service_read_ask(call, arguments, &params, &error) != ACQ_OK ||
        acq_query_new(g->graph, text, &query, &error) != ACQ_OK ||
        acq_check(query, g->predictor, values, n, &params, &result, &error) != ACQ_OK)
        object = acq_service_fail_with(&error, status);
    else
        object = make_verdict(g, query, result, &params, explains);
    acq_result_free(result);
    acq_query_free(query);
    return object;
}

static json_t *run_check(const acq_call *call, const json_t *arguments, int *status)
{
    return check(call, arguments, false, status);
}

static json_t *run_explain(const acq_call *call, const json_t *arguments, int *status)
{
    return check(call, arguments, true, status);
}

/* ---- links ---- */

/* One link as text of the query language has it: predict's own relation may be an inverse. */
static json_t *make_link(const acq_served_graph *g, const acq_prediction *link, acq_ent entity,
                         acq_rel relation, bool explains)
{
    bool is_calibrated = acq_predictor_is_calibrated(g->predictor);
    json_t *object =
        json_pack("{s:o,s:o,s:f,s:s}", "name",
                  acq_service_text(acq_graph_get_entity_name(g->graph, link->entity)), "key",
                  acq_service_text(acq_graph_get_entity_key(g->graph, link->entity)),
                  is_calibrated ? "p" : "score", link->score, "kind",
                  link->is_observed ? "observed" : "predicted");
    if (explains && !link->is_observed)
        json_object_set_new(object, "reasons",
                            acq_answer_make_reasons(g, entity, relation, link->entity));
    return object;
}

/* entity, relation, inverse: the links relation(entity, ?), or relation(?, entity) */
static json_t *run_predict(const acq_call *call, const json_t *arguments, int *status)
{
    const acq_served_graph *g = acq_tools_find_graph(call, arguments);
    const char *entity = acq_argument_get_text(arguments, "entity");
    const char *relation = acq_argument_get_text(arguments, "relation");
    uint64_t top = 10;
    double min_p = 0;
    acq_error error = {0};
    acq_predict_params params;
    acq_predictions *found = NULL;
    if (entity == NULL || relation == NULL)
        return acq_service_fail(400, "usage", "give \"entity\" and \"relation\"", status);
    json_t *failure = read_limit(call, arguments, &top, status);
    if (failure != NULL)
        return failure;
    acq_ent head = acq_graph_find_entity(g->graph, entity, strlen(entity));
    acq_rel r = acq_graph_find_relation(g->graph, relation, strlen(relation));
    if (head == UINT32_MAX || r == UINT32_MAX)
        return head == UINT32_MAX ? acq_tools_fail_name(g->graph, "entity", entity, status)
                                  : acq_tools_fail_name(g->graph, "relation", relation, status);
    acq_predict_params_init(&params);
    params.seconds = call->service->params.seconds;
    params.progress = watch;
    params.context = (void *)call;
    r = acq_argument_is_true(arguments, "inverse") ? r ^ 1U : r;
    if (!acq_argument_get_number(arguments, "min_p", 0, 1, &min_p, &error) ||
        acq_predict_within(g->predictor, head, r, &params, &found, &error) != ACQ_OK)
        return acq_service_fail_with(&error, status);
    json_t *links = json_array();
    bool explains = acq_argument_is_true(arguments, "explain");
    bool is_new = acq_argument_is_true(arguments, "new");
    for (size_t i = 0; i < acq_predictions_get_n(found); i++) {
        const acq_prediction *link = acq_predictions_get(found, i);
        if (link->score >= min_p && !(is_new && link->is_observed) && json_array_size(links) < top)
            json_array_append_new(links, make_link(g, link, head, r, explains));
    }
    acq_predictions_free(found);
    return json_pack("{s:o,s:o}", "links", links, "predictor",
                     acq_service_text(acq_predictor_get_name(g->predictor)));
}

/* ---- suggestions ---- */

static json_t *make_quality(const acq_served_graph *g, acq_rel relation)
{
    acq_relation_quality quality = {.size = sizeof quality};
    if (!acq_predictor_get_quality(g->predictor, relation, &quality))
        return NULL;
    return json_pack("{s:I,s:f,s:f}", "held", (json_int_t)quality.held, "said", quality.said,
                     "right", quality.right);
}

static json_t *make_suggestion(const acq_served_graph *g, const acq_suggestion *s)
{
    json_t *fact =
        json_pack("{s:o,s:o,s:o,s:f,s:o}", "relation",
                  acq_service_text(acq_graph_get_relation_name(g->graph, s->relation)), "head",
                  acq_service_text(acq_graph_get_entity_name(g->graph, s->head)), "tail",
                  acq_service_text(acq_graph_get_entity_name(g->graph, s->tail)), "p", s->p,
                  "reasons", acq_answer_make_reasons(g, s->head, s->relation, s->tail));
    if (acq_graph_is_rdf(g->graph)) {
        json_object_set_new(fact, "relation_key",
                            acq_service_text(acq_graph_get_relation_key(g->graph, s->relation)));
        json_object_set_new(fact, "head_key",
                            acq_service_text(acq_graph_get_entity_key(g->graph, s->head)));
        json_object_set_new(fact, "tail_key",
                            acq_service_text(acq_graph_get_entity_key(g->graph, s->tail)));
    }
    json_t *quality = make_quality(g, s->relation);
    if (quality != NULL)
        json_object_set_new(fact, "quality", quality);
    return fact;
}

static json_t *make_suggestions(const acq_served_graph *g, const acq_suggestions *list)
{
    acq_suggest_report report = {.size = sizeof report};
    json_t *facts = json_array();
    acq_suggestions_get_report(list, &report);
    for (size_t i = 0; i < acq_suggestions_get_n(list); i++)
        json_array_append_new(facts, make_suggestion(g, acq_suggestions_get(list, i)));
    return json_pack("{s:o,s:I,s:f,s:I,s:I,s:s,s:o}", "facts", facts, "found",
                     (json_int_t)report.found, "expected", report.expected, "rows",
                     (json_int_t)report.rows, "rows_done", (json_int_t)report.rows_done, "spent",
                     report.spent, "predictor",
                     acq_service_text(acq_predictor_get_name(g->predictor)));
}

static json_t *run_suggest(const acq_call *call, const json_t *arguments, int *status)
{
    const acq_served_graph *g = acq_tools_find_graph(call, arguments);
    const char *relation = acq_argument_get_text(arguments, "relation");
    acq_error error = {0};
    acq_suggest_params params;
    acq_suggestions *list = NULL;
    acq_suggest_params_init(&params);
    params.seconds = call->service->params.seconds;
    json_t *failure = read_limit(call, arguments, &params.top, status);
    if (failure != NULL)
        return failure;
    if (!acq_argument_get_number(arguments, "min_p", 0, 1, &params.min_p, &error) ||
        !acq_argument_get_number(arguments, "time", 0.001, params.seconds, &params.seconds, &error))
        return acq_service_fail_with(&error, status);
    if (relation != NULL) {
        params.relation = acq_graph_find_relation(g->graph, relation, strlen(relation));
        if (params.relation == UINT32_MAX)
            return acq_tools_fail_name(g->graph, "relation", relation, status);
    }
    params.progress = watch;
    params.context = (void *)call;
    if (acq_suggest(g->predictor, &params, &list, &error) != ACQ_OK)
        return acq_service_fail_with(&error, status);
    json_t *object = make_suggestions(g, list);
    acq_suggestions_free(list);
    return object;
}

/* ---- names ---- */

typedef struct name_list {
    const acq_graph *graph;
    json_t *names;
    size_t most;
} name_list;

static bool add_name(void *context, acq_ent entity, const char *name, size_t length)
{
    name_list *list = context;
    (void)name;
    (void)length;
    json_array_append_new(
        list->names,
        json_pack("{s:o,s:o}", "name",
                  acq_service_text(acq_graph_get_entity_name(list->graph, entity)), "key",
                  acq_service_text(acq_graph_get_entity_key(list->graph, entity))));
    return json_array_size(list->names) < list->most;
}

static json_t *run_names(const acq_call *call, const json_t *arguments, int *status)
{
    const acq_served_graph *g = acq_tools_find_graph(call, arguments);
    const char *prefix = acq_argument_get_text(arguments, "prefix");
    uint64_t most = 20;
    acq_error error = {0};
    if (prefix == NULL || prefix[0] == '\0')
        return acq_service_fail(400, "usage", "give the beginning of a name as \"prefix\"", status);
    json_t *failure = read_limit(call, arguments, &most, status);
    if (failure != NULL)
        return failure;
    name_list list = {.graph = g->graph, .names = json_array(), .most = most};
    if (acq_graph_each_name(g->graph, prefix, strlen(prefix), add_name, &list, &error) != ACQ_OK) {
        json_decref(list.names);
        return acq_service_fail_with(&error, status);
    }
    json_t *object = json_pack("{s:o}", "names", list.names);
    bool looks_further = json_array_size(list.names) == 0 && /* which reads all names */
                         !acq_argument_is_true(arguments, "exact");
    const char *near = looks_further
                           ? acq_graph_suggest_entity(g->graph, prefix, strlen(prefix))
                           : NULL;
    if (near != NULL)
        json_object_set_new(object, "nearest", acq_service_text(near));
    return object;
}

/* ---- the graph ---- */

static json_t *make_relation(const acq_served_graph *g, acq_rel r)
{
    acq_relation_counts counts = {.size = sizeof counts};
    if (!acq_graph_is_named(g->graph, r) ||
        acq_graph_count_relation(g->graph, r, &counts, NULL) != ACQ_OK)
        return NULL;
    json_t *object = json_pack("{s:o,s:o,s:I,s:I,s:I}", "name",
                               acq_service_text(acq_graph_get_relation_name(g->graph, r)), "key",
                               acq_service_text(acq_graph_get_relation_key(g->graph, r)), "facts",
                               (json_int_t)counts.facts, "heads", (json_int_t)counts.heads, "tails",
                               (json_int_t)counts.tails);
    json_t *quality = make_quality(g, r);
    if (quality != NULL)
        json_object_set_new(object, "quality", quality);
    return object;
}

static json_t *run_graph(const acq_call *call, const json_t *arguments, int *status)
{
    const acq_served_graph *g = acq_tools_find_graph(call, arguments);
    json_t *relations = json_array(), *graphs = json_array(), *one;
    uint64_t most = 1000;
    json_t *failure = read_limit(call, arguments, &most, status);
    for (acq_rel r = 0; failure == NULL && r < acq_graph_get_n_relations(g->graph) &&
                        json_array_size(relations) < most;
         r++) {
        if ((one = make_relation(g, r)) != NULL)
            json_array_append_new(relations, one);
    }
    for (size_t i = 0; i < call->service->n; i++)
        json_array_append_new(graphs, acq_service_text(call->service->graphs[i]->name));
    json_t *object = json_pack(
        "{s:o,s:I,s:I,s:I,s:b,s:o,s:o,s:b,s:b,s:o}", "name", acq_service_text(g->name), "entities",
        (json_int_t)acq_graph_get_n_entities(g->graph), "facts",
        (json_int_t)acq_graph_get_n_facts(g->graph), "n_relations",
        (json_int_t)acq_graph_get_n_relations(g->graph) / 2, "rdf", acq_graph_is_rdf(g->graph),
        "relations", relations, "predictor", acq_service_text(acq_predictor_get_name(g->predictor)),
        "calibrated", acq_predictor_is_calibrated(g->predictor), "writable",
        call->service->params.is_writable && acq_store_is_database(g->path), "graphs", graphs);
    const char *note = acq_predictor_get_note(g->predictor);
    if (note != NULL && note[0] != '\0')
        json_object_set_new(object, "note", acq_service_text(note));
    if (failure == NULL)
        return object;
    json_decref(object);
    return failure;
}

/* ---- the table ---- */

#define QUESTION "query", "limit", "min_p", "time", "explain", "engine", "new", "steps", "seed"

static const struct {
    const char *name;
    acq_tool_fn run;
    bool writes;
    const char *arguments[16]; /* besides "graph" */
} TOOLS[] = {
    {"ask", acq_tools_ask, false, {QUESTION, "trace", "stream"}},
    {"check", run_check, false, {QUESTION, "values"}},
    {"explain", run_explain, false, {QUESTION, "values"}},
    {"predict",
     run_predict,
     false,
     {"entity", "relation", "inverse", "limit", "min_p", "new", "explain"}},
    {"suggest", run_suggest, false, {"relation", "limit", "min_p", "time"}},
    {"names", run_names, false, {"prefix", "limit", "exact"}},
    {"graph", run_graph, false, {"limit"}},
    {"query", acq_tools_query, false, {"query"}},
    {"entity", acq_tools_entity, false, {"entity"}},
    {"examples", acq_tools_examples, false, {NULL}},
    {"trust", acq_tools_trust, false, {NULL}},
    {"add", acq_tools_add, true, {"facts", "known"}},
    {"remove", acq_tools_remove, true, {"facts"}},
};

static size_t find_tool(const char *name)
{
    size_t i = 0, n = sizeof TOOLS / sizeof *TOOLS;
    while (i < n && strcmp(TOOLS[i].name, name) != 0)
        i++;
    return i;
}

bool acq_service_writes(const char *tool)
{
    size_t i = find_tool(tool);
    return i < sizeof TOOLS / sizeof *TOOLS && TOOLS[i].writes;
}

bool acq_service_has(const acq_service_params *params, const char *tool)
{
    size_t i = find_tool(tool);
    return i < sizeof TOOLS / sizeof *TOOLS && (!TOOLS[i].writes || params->is_writable);
}

static bool takes(size_t tool, const char *argument)
{
    if (strcmp(argument, "graph") == 0)
        return true;
    for (size_t i = 0; i < 16 && TOOLS[tool].arguments[i] != NULL; i++) {
        if (strcmp(TOOLS[tool].arguments[i], argument) == 0)
            return true;
    }
    return false;
}

static bool is_flag(const json_t *value)
{
    const char *text = json_string_value(value);
    return json_is_boolean(value) ||
           (text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0 ||
                             strcmp(text, "false") == 0 || strcmp(text, "0") == 0));
}

/* What the value of an argument must be; numbers are checked where they are read. NULL: it is. */
static const char *find_fault(const char *argument, const json_t *value)
{
    static const char *const FLAGS[] = {"explain", "new", "trace", "stream", "inverse", "known", "exact"};
    static const char *const NUMBERS[] = {"limit", "min_p", "time", "steps", "seed"};
    const char *text = json_string_value(value);
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
        if (strcmp(FLAGS[i], argument) == 0)
            return is_flag(value) ? NULL : "true or false";
    }
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        if (strcmp(NUMBERS[i], argument) == 0)
            return NULL;
    }
    if (strcmp(argument, "values") == 0 || strcmp(argument, "facts") == 0)
        return NULL;
    return text != NULL ? NULL : "a text";
}

json_t *acq_tools_check_arguments(const char *tool, const acq_served_graph *g,
                                  const json_t *arguments, int *status)
{
    const char *name;
    json_t *value;
    char message[200];
    if (g == NULL)
        return acq_service_fail(404, "unknown name", "no graph of this name is served", status);
    json_object_foreach((json_t *)arguments, name, value)
    {
        const char *fault = find_fault(name, value);
        bool is_taken = takes(find_tool(tool), name);
        if (is_taken && fault == NULL)
            continue;
        acq_format(message, sizeof message,
                   is_taken ? "%s: \"%.60s\" is %s" : "%s has no argument \"%.60s\"", tool, name,
                   fault);
        return acq_service_fail(400, "usage", message, status);
    }
    return NULL;
}

json_t *acq_service_run(const acq_call *call, const char *tool, const json_t *arguments,
                        int *status)
{
    *status = 200;
    json_t *failure =
        acq_tools_check_arguments(tool, acq_tools_find_graph(call, arguments), arguments, status);
    return failure != NULL ? failure : TOOLS[find_tool(tool)].run(call, arguments, status);
}
