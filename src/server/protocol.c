/* protocol.c - see parts.h. */

#include <string.h>

#include "base/memory.h"
#include "server/parts.h"

#define RDF_TYPE     "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
#define SD(name)     "<http://www.w3.org/ns/sparql-service-description#" name ">"
#define FORMAT(name) "<http://www.w3.org/ns/formats/" name ">"

static const double REASON_SECONDS = 1.0; /* to look for the reasons of predicted rows */

static void fail(acq_reply *reply, int status, const char *message)
{
    reply->failure = acq_service_fail(status, "request", message, &reply->status);
}

/* ---- the description of the service ---- */

/* The endpoint's own address, if the client's name for the server is one. */
static void add_endpoint(const acq_protocol_request *r, acq_text *out)
{
    const char *host = r->host == NULL ? "" : r->host;
    size_t plain = strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                ".-:[]");
    bool is_name = plain > 0 && host[plain] == '\0';
    acq_text_format(out, "<http://%s/sparql", is_name ? host : "127.0.0.1");
    for (const char *at = r->graph == NULL ? "" : r->graph; *at != '\0'; at++)
        acq_text_format(out, "%s%%%02X", at == r->graph ? "/" : "", (unsigned char)*at);
    acq_text_add_char(out, '>');
}

/* N-Triples, which are Turtle too. */
static void describe(const acq_served_graph *g, const acq_protocol_request *r, acq_text *out)
{
    static const char *const FORMATS[] = {
        FORMAT("SPARQL_Results_JSON"), FORMAT("SPARQL_Results_XML"), FORMAT("SPARQL_Results_CSV"),
        FORMAT("SPARQL_Results_TSV"),  FORMAT("N-Triples"),          FORMAT("Turtle")};
    acq_text_add(out, "_:service " RDF_TYPE " " SD("Service") " .\n_:service " SD("endpoint") " ");
    add_endpoint(r, out);
    acq_text_add(out, " .\n_:service " SD("supportedLanguage") " " SD("SPARQL11Query") " .\n");
    acq_text_add(out, "_:service " SD("feature") " " SD("UnionDefaultGraph") " .\n");
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        acq_text_format(out, "_:service " SD("resultFormat") " %s .\n", FORMATS[i]);
    acq_text_format(
        out,
        "_:service " SD(
            "defaultDataset") " _:dataset .\n"
                              "_:dataset " RDF_TYPE
                              " " SD("Dataset") " .\n"
                                                "_:dataset " SD(
                                                    "defaultGraph") " _:graph .\n"
                                                                    "_:graph " RDF_TYPE " " SD(
                                                                        "Graph") " .\n"
                                                                                 "_:graph "
                                                                                 "<http://rdfs.org/"
                                                                                 "ns/void#triples> "
                                                                                 "\"%llu\"^^<http:/"
                                                                                 "/www.w3.org/2001/"
                                                                                 "XMLSchema#"
                                                                                 "integer> .\n",
        (unsigned long long)acq_graph_get_n_facts(g->graph));
}

static void answer_description(const acq_served_graph *g, const acq_protocol_request *r,
                               acq_reply *reply)
{
    acq_result_format format = acq_results_choose(r->accept, ACQ_SOLUTIONS_STATEMENTS);
    if (format == ACQ_FORMAT_SPARQL_NO) {
        fail(reply, 406, "this service is described in Turtle and N-Triples; to ask, give a query");
        return;
    }
    reply->type = acq_results_get_type(format);
    describe(g, r, &reply->text);
}

/* ---- queries ---- */

static bool are_texts(const json_t *list)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
        if (!json_is_string(one))
            return false;
    }
    return list == NULL || json_is_array(list);
}

/* The texts of a list, which stay its own; freed by the caller. NULL: out of memory, or none. */
static const char *const *list_texts(const json_t *list, size_t *n)
{
    const char **texts = acq_alloc(json_array_size(list), sizeof *texts);
    *n = texts == NULL ? 0 : json_array_size(list);
    for (size_t i = 0; i < *n; i++)
        texts[i] = json_string_value(json_array_get(list, i));
    return texts;
}

static const char *find_problem(const json_t *arguments, int *status)
{
    const char *query = acq_argument_get_text(arguments, "query");
    *status = 400;
    if (json_object_get(arguments, "update") != NULL) {
        *status = 403;
        return "updates are not supported; POST /api/add takes facts where it is allowed";
    }
    if (!are_texts(json_object_get(arguments, "default-graph-uri")) ||
        !are_texts(json_object_get(arguments, "named-graph-uri")))
        return "give URIs of graphs as texts";
    if (query == NULL)
        return "give the SPARQL query as \"query\"";
    return acq_is_sparql(query) ? NULL : "this is no SPARQL query; /api/ask takes other syntaxes";
}

static void write_solutions(const acq_served_graph *g, const acq_protocol_request *r,
                            const acq_solutions *solutions, acq_reply *reply)
{
    const char *spent = acq_solutions_get_spent(solutions);
    acq_result_format format = acq_results_choose(r->accept, acq_solutions_get_form(solutions));
    if (strcmp(spent, "most") == 0) {
        fail(reply, 413, "the query has more solutions than may be sent; add LIMIT");
    } else if (spent[0] != '\0' && strcmp(spent, "rows") != 0) {
        fail(reply, 503, "the query takes more time or memory than it may");
    } else if (format == ACQ_FORMAT_SPARQL_NO) {
        fail(reply, 406, "no format of this result is accepted");
    } else {
        reply->type = acq_results_get_type(format);
        acq_results_write(g, solutions, format, REASON_SECONDS, &reply->text);
    }
}

/* The solutions of a query; NULL with the failure in the reply. */
static acq_solutions *solve(const acq_call *call, const acq_served_graph *g,
                            const json_t *arguments, acq_reply *reply)
{
    acq_solve_params params;
    acq_ask_params ask;
    acq_solutions *solutions = NULL;
    acq_error error = {0};
    const json_t *merged = json_object_get(arguments, "default-graph-uri");
    const json_t *named = json_object_get(arguments, "named-graph-uri");
    acq_solve_params_init(&params);
    params.ask = &ask;
    params.most = call->service->params.most_answers;
    params.default_graphs = list_texts(merged, &params.n_default_graphs);
    params.named_graphs = list_texts(named, &params.n_named_graphs);
    acq_status status = params.n_default_graphs == json_array_size(merged) &&
                                params.n_named_graphs == json_array_size(named)
                            ? acq_service_read_ask(call, arguments, &ask, &error)
                            : acq_fail_memory(&error);
    if (status == ACQ_OK)
        status = acq_solve(g->graph, acq_argument_get_text(arguments, "query"), g->predictor,
                           &params, &solutions, &error);
    if (status != ACQ_OK)
        reply->failure = acq_service_fail_with(&error, &reply->status);
    acq_free((void *)params.default_graphs);
    acq_free((void *)params.named_graphs);
    return status == ACQ_OK ? solutions : NULL;
}

void acq_protocol_answer(const acq_call *call, const acq_protocol_request *r, acq_reply *reply)
{
    const acq_served_graph *g = acq_service_find(call->service, r->graph);
    *reply = (acq_reply){.status = 200};
    if (g == NULL) {
        fail(reply, 404, "no graph of this name is served");
        return;
    }
    if (r->is_get && json_object_size(r->arguments) == 0) {
        answer_description(g, r, reply);
        return;
    }
    int status;
    const char *problem = find_problem(r->arguments, &status);
    if (problem != NULL) {
        fail(reply, status, problem);
        return;
    }
    acq_solutions *solutions = solve(call, g, r->arguments, reply);
    if (solutions != NULL)
        write_solutions(g, r, solutions, reply);
    acq_solutions_free(solutions);
}
