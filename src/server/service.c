/* service.c - see service.h. */
#include "server/service.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

json_t *acq_service_text(const char *text)
{
    json_t *made = json_string(text);
    return made != NULL ? made : json_string("(not UTF-8)");
}

/* ---- graphs ---- */

static acq_status open_graph(const acq_service_params *params, const char *path,
                             acq_served_graph *out, acq_error *error)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    acq_graph_params read;
    acq_predictor_params predict;
    acq_graph_params_init(&read);
    acq_predictor_params_init(&predict);
    read.literals = true;
    predict.graph_path = path;
    out->name = acq_copy_string(name);
    if (out->name == NULL)
        return acq_fail_memory(error);
    char *dot = strchr(out->name + (out->name[0] == '.'), '.');
    if (dot != NULL)
        *dot = '\0';
    acq_status status = acq_graph_open(path, &read, &out->graph, error);
    if (status == ACQ_OK)
        status = acq_predictor_new(out->graph, params->predictor, &predict, &out->predictor, error);
    return status;
}

acq_status acq_service_open(const acq_service_params *params, acq_service **out, acq_error *error)
{
    acq_service *service = acq_zalloc(1, sizeof *service);
    if (service == NULL)
        return acq_fail_memory(error);
    service->params = *params;
    service->users = 1;
    service->graphs = acq_zalloc(params->n_paths, sizeof *service->graphs);
    acq_status status = service->graphs == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < params->n_paths; i++) {
        acq_served_graph *graph = &service->graphs[service->n++];
        status = open_graph(params, params->paths[i], graph, error);
        for (size_t j = 0; status == ACQ_OK && j < i; j++) {
            if (strcmp(service->graphs[j].name, graph->name) == 0)
                status = acq_fail(error, ACQ_ERR_USAGE,
                                  "two graphs are called \"%.100s\"; rename one of the files",
                                  graph->name);
        }
    }
    if (status == ACQ_OK)
        *out = service;
    else
        acq_service_leave(service);
    return status;
}

void acq_service_leave(acq_service *service)
{
    if (service == NULL || atomic_fetch_sub(&service->users, 1) > 1)
        return;
    for (size_t i = 0; i < service->n; i++) {
        acq_predictor_free(service->graphs[i].predictor);
        acq_graph_free(service->graphs[i].graph);
        acq_free(service->graphs[i].name);
    }
    acq_free(service->graphs);
    acq_free(service);
}

const acq_served_graph *acq_service_find(const acq_service *service, const char *name)
{
    if (name == NULL || name[0] == '\0')
        return &service->graphs[0];
    for (size_t i = 0; i < service->n; i++) {
        if (strcmp(service->graphs[i].name, name) == 0)
            return &service->graphs[i];
    }
    return NULL;
}

/* ---- errors ---- */

json_t *acq_service_fail(int status, const char *code, const char *message, int *out)
{
    *out = status;
    return json_pack("{s:{s:s,s:o}}", "error", "code", code, "message",
                     acq_service_text(message));
}

json_t *acq_service_fail_with(const acq_error *error, int *status)
{
    *status = error->code == ACQ_ERR_LIMIT                                      ? 413
              : error->code == ACQ_ERR_MEMORY                                   ? 503
              : error->code == ACQ_ERR_IO || error->code == ACQ_ERR_INTERNAL    ? 500
                                                                                : 400;
    json_t *object = json_pack("{s:{s:s,s:o}}", "error", "code", acq_status_name(error->code),
                               "message", acq_service_text(error->message));
    if (error->line > 0) {
        json_t *inner = json_object_get(object, "error");
        json_object_set_new(inner, "line", json_integer((json_int_t)error->line));
        json_object_set_new(inner, "column", json_integer((json_int_t)error->column));
    }
    return object;
}

/* ---- arguments ---- */

static const char *get_text(const json_t *arguments, const char *name)
{
    return json_string_value(json_object_get(arguments, name));
}

/* A number, also one in a text, as URLs have it. */
static bool get_number(const json_t *arguments, const char *name, double low, double high,
                       double *out, acq_error *error)
{
    const json_t *value = json_object_get(arguments, name);
    const char *text = json_string_value(value);
    char *end = NULL;
    if (value == NULL)
        return true;
    double number = json_is_number(value) ? json_number_value(value)
                    : text != NULL        ? acq_read_double(text, &end)
                                          : (double)NAN;
    bool is_number = json_is_number(value) || (text != NULL && end != text && *end == '\0');
    if (is_number && number >= low && number <= high) {
        *out = number;
        return true;
    }
    acq_fail(error, ACQ_ERR_USAGE, "\"%s\" is a number from %g to %g", name, low, high);
    return false;
}

static bool watch(void *context, const acq_progress *now)
{
    const acq_call *call = context;
    (void)now;
    return call->is_over == NULL || !call->is_over(call->context);
}

acq_status acq_service_read_ask(const acq_call *call, const json_t *arguments, acq_ask_params *out,
                                acq_error *error)
{
    const acq_service_params *params = &call->service->params;
    double limit = 10, seconds = params->seconds, min_p = -1;
    acq_ask_params_init(out);
    if (!get_number(arguments, "limit", 1, (double)params->most_answers, &limit, error) ||
        !get_number(arguments, "time", 0.001, params->seconds, &seconds, error) ||
        !get_number(arguments, "min_p", 0, 1, &min_p, error))
        return ACQ_ERR_USAGE;
    out->limit = (uint64_t)limit;
    out->seconds = seconds;
    out->memory_bytes = params->memory_bytes;
    if (min_p >= 0)
        out->min_p = min_p;
    out->progress = watch;
    out->context = (void *)call;
    return ACQ_OK;
}

/* ---- answers ---- */

static void set_p(json_t *object, const char *name, double p)
{
    if (!isnan(p))
        json_object_set_new(object, name, json_real(p));
}

static void set_value(const acq_served_graph *g, json_t *answer, const char *variable,
                      acq_ent entity)
{
    const char *name = acq_graph_get_entity_name(g->graph, entity);
    const char *key = acq_graph_get_entity_key(g->graph, entity);
    json_object_set_new(json_object_get(answer, "values"), variable, acq_service_text(name));
    if (strcmp(name, key) != 0)
        json_object_set_new(json_object_get(answer, "keys"), variable, acq_service_text(key));
}

static json_t *make_reasons(const acq_served_graph *g, const acq_fact *fact)
{
    acq_reasons *reasons = NULL;
    json_t *list = json_array();
    if (acq_reasons_find(g->predictor, fact->head_id, fact->relation_id, fact->tail_id, &reasons,
                         NULL) != ACQ_OK)
        return list;
    for (size_t i = 0; i < acq_reasons_get_n(reasons); i++) {
        const acq_reason *reason = acq_reasons_get(reasons, i);
        json_array_append_new(list, json_pack("{s:s,s:o,s:f}", "kind", reason->kind, "text",
                                              acq_service_text(reason->text), "weight",
                                              reason->weight));
    }
    acq_reasons_free(reasons);
    return list;
}

static json_t *make_atoms(const acq_served_graph *g, const acq_evidence_list *list, bool explains)
{
    static const char *const KINDS[] = {"observed", "predicted", "absent", "equality"};
    json_t *atoms = json_array();
    for (size_t i = 0; i < acq_evidence_list_get_n(list); i++) {
        const acq_fact *fact = acq_evidence_list_get(list, i);
        json_t *atom = json_pack("{s:o,s:b,s:s,s:f}", "text", acq_service_text(fact->text),
                                 "negated", fact->is_negated, "kind", KINDS[fact->kind], "link",
                                 fact->link);
        if (explains && fact->kind == ACQ_FACT_PREDICTED)
            json_object_set_new(atom, "reasons", make_reasons(g, fact));
        json_array_append_new(atoms, atom);
    }
    return atoms;
}

static json_t *make_answer(const acq_served_graph *g, const acq_query *query,
                           const acq_result *result, size_t i, bool explains)
{
    json_t *answer = json_pack("{s:{},s:{}}", "values", "keys");
    acq_evidence_list *list = NULL;
    for (size_t v = 0; v < acq_query_get_n_free(query); v++)
        set_value(g, answer, acq_query_get_variable(query, v), acq_result_get_entity(result, i, v));
    set_p(answer, "p", acq_result_get_probability(result, i));
    set_p(answer, "score", acq_result_get_score(result, i));
    if (acq_result_explain(result, i, &list, NULL) == ACQ_OK) {
        bool is_observed = acq_evidence_list_is_observed(list);
        json_object_set_new(answer, "kind", json_string(is_observed ? "observed" : "predicted"));
        if (explains)
            json_object_set_new(answer, "atoms", make_atoms(g, list, true));
        acq_evidence_list_free(list);
    }
    return answer;
}

static const char *outcome_of(const acq_result *result)
{
    static const char *const NAMES[] = {"answered", "none", "undecided"};
    return NAMES[acq_result_get_outcome(result)];
}

static json_t *make_result(const acq_served_graph *g, const acq_query *query,
                           const acq_result *result, bool explains)
{
    json_t *object = json_object(), *answers = json_array();
    for (size_t i = 0; i < acq_result_get_n_answers(result); i++)
        json_array_append_new(answers, make_answer(g, query, result, i, explains));
    json_object_set_new(object, "outcome", json_string(outcome_of(result)));
    json_object_set_new(object, "complete", json_boolean(acq_result_is_complete(result)));
    if (acq_result_get_spent(result)[0] != '\0')
        json_object_set_new(object, "spent", json_string(acq_result_get_spent(result)));
    json_object_set_new(object, "answers", answers);
    set_p(object, "best_p", acq_result_get_best_probability(result));
    if (acq_result_get_note(result)[0] != '\0')
        json_object_set_new(object, "note", acq_service_text(acq_result_get_note(result)));
    json_object_set_new(object, "predictor",
                        acq_service_text(acq_predictor_get_name(g->predictor)));
    return object;
}

/* ---- tools ---- */

static bool is_true(const json_t *arguments, const char *name)
{
    const char *text = get_text(arguments, name);
    return json_is_true(json_object_get(arguments, name)) ||
           (text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0));
}

static json_t *make_solutions(const acq_served_graph *g, const acq_solutions *s)
{
    json_t *answers = json_array();
    size_t n = acq_solutions_get_n(s);
    for (size_t i = 0; i < n; i++) {
        json_t *answer = json_pack("{s:{},s:{}}", "values", "keys");
        for (size_t v = 0; v < acq_solutions_get_n_variables(s); v++) {
            acq_rdf_value value = acq_solutions_get_term(s, i, v);
            const char *variable = acq_solutions_get_variable(s, v);
            if (value.kind != ACQ_RDF_UNBOUND && value.entity != UINT32_MAX)
                set_value(g, answer, variable, value.entity);
            else if (value.kind != ACQ_RDF_UNBOUND)
                json_object_set_new(json_object_get(answer, "values"), variable,
                                    acq_service_text(value.key));
        }
        set_p(answer, "p", acq_solutions_get_probability(s, i));
        json_object_set_new(answer, "kind",
                            json_string(acq_solutions_is_predicted(s, i) ? "predicted"
                                                                         : "observed"));
        json_array_append_new(answers, answer);
    }
    const char *spent = acq_solutions_get_spent(s);
    json_t *object =
        json_pack("{s:s,s:b,s:o,s:o}", "outcome",
                  n > 0             ? "answered"
                  : spent[0] != '\0' ? "undecided"
                                     : "none",
                  "complete", spent[0] == '\0', "answers", answers, "predictor",
                  acq_service_text(acq_predictor_get_name(g->predictor)));
    if (spent[0] != '\0')
        json_object_set_new(object, "spent", json_string(spent));
    if (acq_solutions_get_note(s)[0] != '\0')
        json_object_set_new(object, "note", acq_service_text(acq_solutions_get_note(s)));
    if (acq_solutions_get_warning(s)[0] != '\0')
        json_object_set_new(object, "warning", acq_service_text(acq_solutions_get_warning(s)));
    return object;
}

/* SPARQL that is more than a formula. */
static json_t *solve(const acq_served_graph *g, const char *text, const acq_ask_params *ask,
                     int *status)
{
    acq_solve_params params;
    acq_solutions *solutions = NULL;
    acq_error error = {0};
    acq_solve_params_init(&params);
    params.ask = ask;
    params.most = ask->limit;
    if (acq_solve(g->graph, text, g->predictor, &params, &solutions, &error) != ACQ_OK)
        return acq_service_fail_with(&error, status);
    json_t *object = make_solutions(g, solutions);
    acq_solutions_free(solutions);
    return object;
}

static json_t *run_ask(const acq_call *call, const acq_served_graph *g, const json_t *arguments,
                       int *status)
{
    const char *text = get_text(arguments, "query");
    acq_error error = {0};
    acq_ask_params params;
    acq_query *query = NULL;
    acq_result *result = NULL;
    json_t *object = NULL;
    if (text == NULL)
        return acq_service_fail(400, "usage", "give the query as \"query\"", status);
    if (acq_service_read_ask(call, arguments, &params, &error) != ACQ_OK)
        return acq_service_fail_with(&error, status);
    acq_status read = acq_query_new(g->graph, text, &query, &error);
    bool is_refused = error.code == ACQ_ERR_PARSE || error.code == ACQ_ERR_NAME;
    if (acq_is_sparql(text) && (read == ACQ_OK ? acq_query_needs_solve(query) : is_refused))
        object = solve(g, text, &params, status);
    else if (read != ACQ_OK || acq_ask(query, g->predictor, &params, &result, &error) != ACQ_OK)
        object = acq_service_fail_with(&error, status);
    else
        object = make_result(g, query, result, is_true(arguments, "explain"));
    acq_result_free(result);
    acq_query_free(query);
    return object;
}

/* values: an array of names, or one text for one variable. */
static json_t *run_check(const acq_call *call, const acq_served_graph *g, const json_t *arguments,
                         bool explains, int *status)
{
    enum { MOST = 64 };
    const char *text = get_text(arguments, "query"), *values[MOST];
    const json_t *given = json_object_get(arguments, "values");
    size_t n = json_is_array(given) ? json_array_size(given) : json_is_string(given);
    acq_error error = {0};
    acq_ask_params params;
    acq_query *query = NULL;
    acq_result *result = NULL;
    if (text == NULL || n > MOST)
        return acq_service_fail(400, "usage", "give \"query\" and up to 64 \"values\"", status);
    for (size_t i = 0; i < n; i++) {
        values[i] = json_string_value(json_is_array(given) ? json_array_get(given, i) : given);
        if (values[i] == NULL)
            return acq_service_fail(400, "usage", "\"values\" are names: texts", status);
    }
    json_t *object;
    if (acq_service_read_ask(call, arguments, &params, &error) != ACQ_OK ||
        acq_query_new(g->graph, text, &query, &error) != ACQ_OK ||
        acq_check(query, g->predictor, values, n, &params, &result, &error) != ACQ_OK) {
        object = acq_service_fail_with(&error, status);
    } else {
        static const char *const VERDICTS[] = {"yes", "no", "undecided"};
        object = make_result(g, query, result, explains);
        json_object_set_new(object, "verdict",
                            json_string(VERDICTS[acq_result_get_outcome(result)]));
        set_p(object, "p", acq_result_get_whole_probability(result));
    }
    acq_result_free(result);
    acq_query_free(query);
    return object;
}

static json_t *fail_name(const acq_graph *graph, const char *kind, const char *name, int *status)
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

/* entity, relation, inverse: the links relation(entity, ?), or relation(?, entity) */
static json_t *run_predict(const acq_call *call, const acq_served_graph *g,
                           const json_t *arguments, int *status)
{
    const char *entity = get_text(arguments, "entity"), *relation = get_text(arguments, "relation");
    double top = 10;
    acq_error error = {0};
    acq_predict_params params;
    acq_predictions *found = NULL;
    if (entity == NULL || relation == NULL)
        return acq_service_fail(400, "usage", "give \"entity\" and \"relation\"", status);
    if (!get_number(arguments, "limit", 1, (double)call->service->params.most_answers, &top,
                    &error))
        return acq_service_fail_with(&error, status);
    acq_ent head = acq_graph_find_entity(g->graph, entity, strlen(entity));
    acq_rel r = acq_graph_find_relation(g->graph, relation, strlen(relation));
    if (head == UINT32_MAX || r == UINT32_MAX)
        return head == UINT32_MAX ? fail_name(g->graph, "entity", entity, status)
                                  : fail_name(g->graph, "relation", relation, status);
    acq_predict_params_init(&params);
    params.seconds = call->service->params.seconds;
    params.progress = watch;
    params.context = (void *)call;
    if (acq_predict_within(g->predictor, head, is_true(arguments, "inverse") ? r ^ 1U : r, &params,
                           &found, &error) != ACQ_OK)
        return acq_service_fail_with(&error, status);
    json_t *links = json_array();
    for (size_t i = 0; i < acq_predictions_get_n(found) && (double)i < top; i++) {
        const acq_prediction *link = acq_predictions_get(found, i);
        json_array_append_new(
            links, json_pack("{s:o,s:o,s:f,s:s}", "name",
                             acq_service_text(acq_graph_get_entity_name(g->graph, link->entity)),
                             "key", acq_service_text(acq_graph_get_entity_key(g->graph, link->entity)),
                             acq_predictor_is_calibrated(g->predictor) ? "p" : "score", link->score,
                             "kind", link->is_observed ? "observed" : "predicted"));
    }
    acq_predictions_free(found);
    return json_pack("{s:o}", "links", links);
}

static json_t *run_suggest(const acq_call *call, const acq_served_graph *g,
                           const json_t *arguments, int *status)
{
    const char *relation = get_text(arguments, "relation");
    double top = 10, min_p = 0;
    acq_error error = {0};
    acq_suggest_params params;
    acq_suggestions *list = NULL;
    acq_suggest_params_init(&params);
    if (!get_number(arguments, "limit", 1, (double)call->service->params.most_answers, &top,
                    &error) ||
        !get_number(arguments, "min_p", 0, 1, &min_p, &error))
        return acq_service_fail_with(&error, status);
    if (relation != NULL) {
        params.relation = acq_graph_find_relation(g->graph, relation, strlen(relation));
        if (params.relation == UINT32_MAX)
            return fail_name(g->graph, "relation", relation, status);
    }
    params.top = (uint64_t)top;
    params.min_p = min_p;
    params.seconds = call->service->params.seconds;
    params.progress = watch;
    params.context = (void *)call;
    if (acq_suggest(g->predictor, &params, &list, &error) != ACQ_OK)
        return acq_service_fail_with(&error, status);
    json_t *facts = json_array();
    for (size_t i = 0; i < acq_suggestions_get_n(list); i++) {
        const acq_suggestion *s = acq_suggestions_get(list, i);
        acq_fact fact = {.head_id = s->head, .relation_id = s->relation, .tail_id = s->tail};
        json_array_append_new(
            facts, json_pack("{s:o,s:o,s:o,s:f,s:o}", "relation",
                             acq_service_text(acq_graph_get_relation_name(g->graph, s->relation)),
                             "head", acq_service_text(acq_graph_get_entity_name(g->graph, s->head)),
                             "tail", acq_service_text(acq_graph_get_entity_name(g->graph, s->tail)),
                             "p", s->p, "reasons", make_reasons(g, &fact)));
    }
    acq_suggestions_free(list);
    return json_pack("{s:o}", "facts", facts);
}

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

static json_t *run_names(const acq_call *call, const acq_served_graph *g, const json_t *arguments,
                         int *status)
{
    const char *prefix = get_text(arguments, "prefix");
    double most = 20;
    acq_error error = {0};
    name_list list = {.graph = g->graph, .names = json_array()};
    if (prefix == NULL || prefix[0] == '\0') {
        json_decref(list.names);
        return acq_service_fail(400, "usage", "give the beginning of a name as \"prefix\"", status);
    }
    bool is_good = get_number(arguments, "limit", 1, (double)call->service->params.most_answers,
                              &most, &error);
    list.most = (size_t)most;
    if (!is_good || acq_graph_each_name(g->graph, prefix, strlen(prefix), add_name, &list,
                                        &error) != ACQ_OK) {
        json_decref(list.names);
        return acq_service_fail_with(&error, status);
    }
    json_t *object = json_pack("{s:o}", "names", list.names);
    const char *near = json_array_size(list.names) == 0
                           ? acq_graph_suggest_entity(g->graph, prefix, strlen(prefix))
                           : NULL;
    if (near != NULL)
        json_object_set_new(object, "nearest", acq_service_text(near));
    return object;
}

static json_t *run_graph(const acq_call *call, const acq_served_graph *g)
{
    json_t *relations = json_array(), *graphs = json_array();
    size_t most = 1000;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(g->graph) && most > 0; r++) {
        acq_relation_counts counts = {.size = sizeof counts};
        if (!acq_graph_is_named(g->graph, r) ||
            acq_graph_count_relation(g->graph, r, &counts, NULL) != ACQ_OK)
            continue;
        json_array_append_new(
            relations,
            json_pack("{s:o,s:o,s:I}", "name",
                      acq_service_text(acq_graph_get_relation_name(g->graph, r)), "key",
                      acq_service_text(acq_graph_get_relation_key(g->graph, r)), "facts",
                      (json_int_t)counts.facts));
        most--;
    }
    for (size_t i = 0; i < call->service->n; i++)
        json_array_append_new(graphs, acq_service_text(call->service->graphs[i].name));
    return json_pack("{s:o,s:I,s:I,s:I,s:b,s:o,s:o,s:o}", "name", acq_service_text(g->name),
                     "entities", (json_int_t)acq_graph_get_n_entities(g->graph), "facts",
                     (json_int_t)acq_graph_get_n_facts(g->graph), "n_relations",
                     (json_int_t)acq_graph_get_n_relations(g->graph) / 2, "rdf",
                     acq_graph_is_rdf(g->graph), "relations", relations, "predictor",
                     acq_service_text(acq_predictor_get_name(g->predictor)), "graphs", graphs);
}

static const char *const TOOLS[] = {"ask", "check", "explain", "predict", "suggest", "names",
                                    "graph"};

bool acq_service_has(const char *tool)
{
    for (size_t i = 0; i < sizeof TOOLS / sizeof *TOOLS; i++) {
        if (strcmp(tool, TOOLS[i]) == 0)
            return true;
    }
    return false;
}

json_t *acq_service_run(const acq_call *call, const char *tool, const json_t *arguments,
                        int *status)
{
    const acq_served_graph *g = acq_service_find(call->service, get_text(arguments, "graph"));
    *status = 200;
    if (g == NULL)
        return acq_service_fail(404, "unknown name", "no graph of this name is served", status);
    if (strcmp(tool, "ask") == 0)
        return run_ask(call, g, arguments, status);
    if (strcmp(tool, "check") == 0 || strcmp(tool, "explain") == 0)
        return run_check(call, g, arguments, tool[0] == 'e', status);
    if (strcmp(tool, "predict") == 0)
        return run_predict(call, g, arguments, status);
    if (strcmp(tool, "suggest") == 0)
        return run_suggest(call, g, arguments, status);
    if (strcmp(tool, "names") == 0)
        return run_names(call, g, arguments, status);
    return run_graph(call, g);
}
