/* parts.h - what the files of the server share. */
#ifndef ACQ_SERVER_PARTS_H
#define ACQ_SERVER_PARTS_H

#include "base/text.h"
#include "server/service.h"

/* ---- answers ----
 *
 * Results as JSON: the members that `anycq ask --json` has, as far as a client of the server needs
 * them. docs/server.md lists them. */

/* Appends an answer as JSON: values, keys (where they differ), p, p_if_answered, score, kind; with
 * `explains` also witness and atoms, each with its reasons. As text, since there may be many. */
void acq_answer_write(const acq_served_graph *g, const acq_query *query, const acq_result *result,
                      size_t i, bool explains, acq_text *out);

/* The same of a row of SPARQL. */
void acq_answer_write_row(const acq_served_graph *g, const acq_solutions *solutions, size_t row,
                          acq_text *out);

/* A text of JSON as a value; NULL: out of memory. The text is emptied. */
json_t *acq_answer_parse(acq_text *text);

/* Everything but the answers: outcome, complete, spent, note, p_any, best_p, likeliest and conflict
 * (with `explains`), facts, ms, engine, predictor. */
void acq_answer_write_end(const acq_served_graph *g, const acq_query *query,
                          const acq_result *result, const acq_ask_params *params, bool explains,
                          acq_text *out);
void acq_answer_write_row_end(const acq_served_graph *g, const acq_solutions *solutions,
                              acq_text *out);

/* Of a predicted link: kind, text, weight each. */
json_t *acq_answer_make_reasons(const acq_served_graph *g, acq_ent head, acq_rel relation,
                                acq_ent tail);
void acq_answer_set_p(json_t *object, const char *name, double p); /* NaN: no member */

/* ---- tools ----
 *
 * Inside the room: the tools that service.h lists, one function each, and how their
 * arguments are checked. */

typedef json_t *(*acq_tool_fn)(const acq_call *call, const json_t *arguments, int *status);

json_t *acq_tools_ask(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_add(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_remove(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_query(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_entity(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_examples(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_trust(const acq_call *call, const json_t *arguments, int *status);

/* The graph that the arguments name, which acq_tools_check_arguments has found. */
const acq_served_graph *acq_tools_find_graph(const acq_call *call, const json_t *arguments);

/* NULL, or what is wrong: an argument that the tool does not have, or no such graph. */
json_t *acq_tools_check_arguments(const char *tool, const acq_served_graph *g,
                                  const json_t *arguments, int *status);

/* "the graph has no entity ...; did you mean ...?" */
json_t *acq_tools_fail_name(const acq_graph *graph, const char *kind, const char *name,
                            int *status);

/* ---- results ----
 *
 * Solutions of SPARQL in the formats of its standards. */

typedef enum acq_result_format {
    ACQ_FORMAT_SPARQL_JSON, /* SELECT, ASK */
    ACQ_FORMAT_SPARQL_XML,
    ACQ_FORMAT_SPARQL_CSV,
    ACQ_FORMAT_SPARQL_TSV,
    ACQ_FORMAT_SPARQL_NT, /* CONSTRUCT; N-Triples is Turtle too */
    ACQ_FORMAT_SPARQL_TURTLE,
    ACQ_FORMAT_SPARQL_NO, /* nothing that the client accepts */
} acq_result_format;

/* The best format for an Accept header (NULL: none was sent) and a form of query. */
acq_result_format acq_results_choose(const char *accept, acq_solutions_form form);
const char *acq_results_get_type(acq_result_format format);

/* Appends the whole document. In JSON the member "anycq" beside "results", which other programs do
 * not read, has p and kind of each row, and of the first predicted ones the links that they rest
 * on, with reasons: as many as `reason_seconds` allow. */
void acq_results_write(const acq_served_graph *g, const acq_solutions *solutions,
                       acq_result_format format, double reason_seconds, acq_text *out);

/* ---- protocol ----
 *
 * The SPARQL 1.1 Protocol: a query and an Accept header in, a document out. */

/* What goes back: text, or where there is something wrong the object. */
typedef struct acq_reply {
    int status;
    const char *type;
    acq_text text;
    json_t *failure; /* NULL: text */
} acq_reply;

typedef struct acq_protocol_request {
    const json_t *arguments; /* query, time, min_p, ...; others are not heeded */
    const char *graph;       /* name; NULL: the first */
    const char *accept;      /* NULL: none was sent */
    const char *host;        /* as the client calls the server; NULL: not known */
    bool is_get;             /* without a query it asks for the description of the service */
} acq_protocol_request;

void acq_protocol_answer(const acq_call *call, const acq_protocol_request *request,
                         acq_reply *reply);

/* ---- lines ----
 *
 * A response that grows: one thread asks and writes lines, the connection's thread sends
 * them. So a slow client keeps nobody's place, and the lines come as they are found. */

typedef struct acq_lines acq_lines;

typedef struct acq_lines_params {
    bool (*is_over)(void *context); /* asked now and then; true ends the question */
    void (*end)(void *context);     /* told by the thread that asked, when it has */
    void *context;
} acq_lines_params;

/* Takes arguments and a use of the service, also on failure: then *failure and *status tell. */
acq_lines *acq_lines_new(acq_service *service, acq_served *served, json_t *arguments,
                         const acq_lines_params *params, json_t **failure, int *status);

/* Waits for bytes: how many, 0 at the end. */
size_t acq_lines_read(acq_lines *lines, char *out, size_t room);

/* Ends the question. */
void acq_lines_free(acq_lines *lines);

/* ---- openapi ----
 *
 * What the server offers, for programs: /openapi.json. */

extern const char acq_openapi_document[];

/* ---- page ----
 *
 * The files of the page, which are part of the program. */

typedef struct acq_page_file {
    const char *path; /* "/", "/page/ask.js" */
    const char *type;
    const char *begin, *end;
} acq_page_file;

/* What a browser may do with the page (Content-Security-Policy), up to NULL: nothing but what comes
 * from this server. */
extern const char *const acq_page_policies[];

/* NULL: the page has no such file. */
const acq_page_file *acq_page_find(const char *path);

#endif
