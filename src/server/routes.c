/* routes.c - what the paths of the HTTP server answer: arguments of URL and body in, responses out.
 */
#include "server/routes.h"

#include <string.h>

#include "base/budget.h"
#include "base/memory.h"

typedef struct request_lines {
    acq_connection *from;
    acq_lines *lines;
} request_lines;

/* ---- responses ---- */

static void add_headers(acq_request *r, int status, const char *type, struct MHD_Response *response)
{
    acq_http *http = r->from->http;
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (http->params.origin != NULL) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", http->params.origin);
        MHD_add_response_header(response, "Access-Control-Allow-Headers",
                                "Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, "
                                "Mcp-Name");
        MHD_add_response_header(response, "Vary", "Origin");
    }
    if (status == 503)
        MHD_add_response_header(response, "Retry-After", "1");
    if (status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (status == 405)
        MHD_add_response_header(response, "Allow", r->is_post_only ? "POST" : "GET, POST");
    if (r->is_too_large || r->must_close || http->is_stopping)
        MHD_add_response_header(response, "Connection", "close");
}

/* The response is taken. */
static enum MHD_Result send_response(acq_request *r, struct MHD_Connection *to, int status,
                                     const char *type, struct MHD_Response *response)
{
    if (response == NULL)
        return MHD_NO;
    add_headers(r, status, type, response);
    r->from->http->errors += status >= 500;
    acq_connection_set_phase(r->from, ACQ_WRITING);
    enum MHD_Result queued = MHD_queue_response(to, (unsigned)status, response);
    MHD_destroy_response(response);
    return queued;
}

/* Takes the bytes of the text. */
enum MHD_Result acq_send_bytes(acq_request *r, struct MHD_Connection *to, int status,
                               const char *type, acq_text *text)
{
    if (text->failed) {
        acq_text_clear(text);
        status = 503;
    }
    bool has_bytes = text->length > 0;
    struct MHD_Response *response =
        has_bytes ? MHD_create_response_from_buffer_with_free_callback(text->length, text->bytes,
                                                                       acq_free)
                  : MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
    if (response != NULL && has_bytes)
        *text = (acq_text){0};
    return send_response(r, to, status, type, response);
}

/* Takes the object. Most are small, and are written without a detour. */
static enum MHD_Result send_json(acq_request *r, struct MHD_Connection *to, int status,
                                 json_t *object)
{
    enum { SMALL = 16384 };
    char small[SMALL], *bytes = small;
    size_t n = object == NULL ? 0 : json_dumpb(object, small, SMALL - 1, ACQ_SERVICE_STYLE);
    bool is_small = n > 0 && n < SMALL;
    if (!is_small && object != NULL)
        bytes = json_dumps(object, ACQ_SERVICE_STYLE);
    json_decref(object);
    if (n == 0 || bytes == NULL)
        return acq_send_bytes(r, to, 503, "application/json", &(acq_text){0});
    if (is_small)
        bytes[n] = '\n';
    struct MHD_Response *response = MHD_create_response_from_buffer(
        is_small ? n + 1 : n, bytes, is_small ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_MUST_FREE);
    if (response == NULL && !is_small)
        free(bytes);
    return send_response(r, to, status, "application/json", response);
}

enum MHD_Result acq_send_error(acq_request *r, struct MHD_Connection *to, int status,
                               const char *message)
{
    int out;
    return send_json(r, to, status, acq_service_fail(status, "request", message, &out));
}

/* ---- arguments ---- */

static bool is_list(const char *key)
{
    return strcmp(key, "values") == 0 || strcmp(key, "default-graph-uri") == 0 ||
           strcmp(key, "named-graph-uri") == 0;
}

/* NULL: not UTF-8. Our own check looks at many bytes at a time. */
static json_t *make_text(const char *value)
{
    size_t length = strlen(value);
    bool is_good = acq_utf8_check(value, length) == length;
    return is_good ? json_stringn_nocheck(value, length) : NULL;
}

/* The member "" says that something is wrong. Lists may come again. */
static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    (void)kind;
    json_t *text = make_text(value == NULL ? "" : value), *all = json_object_get(context, key);
    if (text == NULL || (all != NULL && !is_list(key))) {
        json_decref(text);
        json_object_set_new(context, "", json_true());
    } else if (!is_list(key)) {
        if (json_object_set_new(context, key, text) != 0)
            json_object_set_new(context, "", json_true());
    } else if (json_is_array(all)) {
        json_array_append_new(all, text);
    } else {
        json_object_set_new(context, key, json_pack("[o]", text));
    }
    return MHD_YES;
}

/* a=b&c=d of a form, decoded in place. */
static void add_form(json_t *arguments, char *form)
{
    for (char *next; form != NULL && *form != '\0'; form = next) {
        next = strchr(form, '&');
        if (next != NULL)
            *next++ = '\0';
        char *value = strchr(form, '=');
        if (value != NULL)
            *value++ = '\0';
        for (char *at = value; at != NULL && *at != '\0'; at++) {
            if (*at == '+')
                *at = ' ';
        }
        MHD_http_unescape(form);
        if (value != NULL)
            MHD_http_unescape(value);
        add_argument(arguments, MHD_POSTDATA_KIND, form, value);
    }
}

static void add_members(json_t *arguments, json_t *body)
{
    const char *name;
    json_t *value;
    json_object_foreach(body, name, value)
    {
        bool is_new = json_object_get(arguments, name) == NULL;
        json_object_set(arguments, is_new ? name : "", value);
    }
}

static bool is_type(struct MHD_Connection *from, const char *type)
{
    const char *given = MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Content-Type");
    size_t n = strlen(type);
    return given != NULL && strncasecmp(given, type, n) == 0 &&
           (given[n] == '\0' || given[n] == ';' || given[n] == ' ');
}

static char *get_body(acq_request *r)
{
    acq_text_add_bytes(&r->body, "", 0);
    return r->body.bytes == NULL ? (char *)"" : r->body.bytes;
}

/* Arguments of the URL and the body; NULL with an error sent. */
static json_t *read_arguments(acq_request *r, struct MHD_Connection *from, int *status,
                              const char **problem)
{
    json_t *arguments = json_object();
    MHD_get_connection_values(from, MHD_GET_ARGUMENT_KIND, add_argument, arguments);
    *status = 200;
    if (r->body.length > 0 && memchr(r->body.bytes, '\0', r->body.length) != NULL) {
        *status = 400;
        *problem = "the body holds a NUL byte";
    } else if (is_type(from, "application/x-www-form-urlencoded")) {
        add_form(arguments, get_body(r));
    } else if (is_type(from, "application/json")) {
        json_t *body = json_loadb(get_body(r), r->body.length, JSON_REJECT_DUPLICATES, NULL);
        if (!json_is_object(body)) {
            *status = 400;
            *problem = "the body is not a JSON object in UTF-8";
        } else {
            add_members(arguments, body);
        }
        json_decref(body);
    } else if (is_type(from, "application/sparql-query")) {
        add_argument(arguments, MHD_POSTDATA_KIND, "query", get_body(r));
    } else if (is_type(from, "application/sparql-update")) {
        *status = 403;
        *problem = "updates are not supported; POST /api/add takes facts where it is allowed";
    } else if (r->body.length > 0) {
        *status = 415;
        *problem = "send a form, JSON or application/sparql-query";
    }
    if (*status == 200 && json_object_get(arguments, "") != NULL) {
        *status = 400;
        *problem = "an argument is not UTF-8, has no name, or comes twice";
    }
    return arguments;
}

/* ---- routes ---- */

static enum MHD_Result run_sparql(acq_request *r, struct MHD_Connection *to, const acq_call *call,
                                  const json_t *arguments, const char *graph, bool is_get)
{
    acq_reply reply;
    acq_protocol_request asked = {.arguments = arguments,
                                  .graph = graph,
                                  .accept =
                                      MHD_lookup_connection_value(to, MHD_HEADER_KIND, "Accept"),
                                  .host = MHD_lookup_connection_value(to, MHD_HEADER_KIND, "Host"),
                                  .is_get = is_get};
    acq_protocol_answer(call, &asked, &reply);
    enum MHD_Result sent = reply.failure != NULL
                               ? send_json(r, to, reply.status, reply.failure)
                               : acq_send_bytes(r, to, reply.status, reply.type, &reply.text);
    acq_text_deinit(&reply.text);
    return sent;
}

/* ---- lines ---- */

static void end_lines(void *context)
{
    acq_http_give_place(((acq_connection *)context)->http);
}

static ssize_t read_lines(void *context, uint64_t position, char *out, size_t room)
{
    request_lines *lines = context;
    (void)position;
    acq_connection_set_phase(lines->from, ACQ_WORKING);
    size_t n = acq_lines_read(lines->lines, out, room);
    acq_connection_set_phase(lines->from, ACQ_WRITING);
    return n == 0 ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)n;
}

static void free_lines(void *context)
{
    request_lines *lines = context;
    acq_lines_free(lines->lines);
    acq_free(lines);
}

/* The thread that asks gives the worker's place back. */
static enum MHD_Result run_lines(acq_request *r, struct MHD_Connection *to, json_t *arguments)
{
    acq_http *http = r->from->http;
    acq_lines_params params = {
        .is_over = acq_connection_is_over, .end = end_lines, .context = r->from};
    json_t *failure = NULL;
    int status = 200;
    request_lines *lines = acq_zalloc(1, sizeof *lines);
    if (lines == NULL) {
        json_decref(arguments);
        return acq_send_error(r, to, 503, "out of memory");
    }
    lines->from = r->from;
    lines->lines = acq_lines_new(acq_served_join(&http->served), &http->served, arguments, &params,
                                 &failure, &status);
    if (lines->lines == NULL) {
        acq_free(lines);
        return send_json(r, to, status, failure);
    }
    r->is_place_taken = true;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_lines, lines, free_lines);
    if (response == NULL)
        free_lines(lines);
    return send_response(r, to, 200, "application/x-ndjson", response);
}

static enum MHD_Result run_ask(acq_request *r, struct MHD_Connection *to, const acq_call *call,
                               const json_t *arguments)
{
    json_t *failure;
    int status;
    acq_asking *asking = acq_asking_new(call, arguments, &failure, &status);
    if (asking == NULL)
        return send_json(r, to, status, failure);
    acq_text text = {0};
    acq_asking_write(asking, &text, &status);
    enum MHD_Result sent = acq_send_bytes(r, to, status, "application/json", &text);
    acq_text_deinit(&text);
    acq_asking_free(asking);
    return sent;
}

static bool wants_lines(struct MHD_Connection *from, const json_t *arguments)
{
    const char *accept = MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Accept");
    return (acq_argument_is_true(arguments, "stream") ||
            (accept != NULL && (strstr(accept, "application/x-ndjson") != NULL ||
                                strstr(accept, "application/jsonl") != NULL)));
}

static enum MHD_Result run_mcp(acq_request *r, struct MHD_Connection *to, const acq_call *call)
{
    acq_text text = {0};
    acq_mcp_request asked = {
        .message = get_body(r),
        .length = r->body.length,
        .is_http = true,
        .version = MHD_lookup_connection_value(to, MHD_HEADER_KIND, "MCP-Protocol-Version"),
        .method = MHD_lookup_connection_value(to, MHD_HEADER_KIND, "Mcp-Method"),
        .name = MHD_lookup_connection_value(to, MHD_HEADER_KIND, "Mcp-Name")};
    int status;
    char *answer = acq_mcp_answer(call, &asked, &status);
    if (answer != NULL)
        acq_text_format(&text, "%s\n", answer);
    enum MHD_Result sent =
        acq_send_bytes(r, to, answer == NULL ? 202 : status, "application/json", &text);
    free(answer);
    acq_text_deinit(&text);
    return sent;
}

static enum MHD_Result send_metrics(acq_request *r, struct MHD_Connection *to)
{
    acq_http *http = r->from->http;
    acq_text text = {0};
    pthread_mutex_lock(&http->lock);
    unsigned working = http->working, waiting = http->waiting;
    pthread_mutex_unlock(&http->lock);
    acq_text_format(&text,
                    "# TYPE anycq_requests_total counter\nanycq_requests_total %llu\n"
                    "# TYPE anycq_refused_total counter\nanycq_refused_total %llu\n"
                    "# TYPE anycq_errors_total counter\nanycq_errors_total %llu\n"
                    "# TYPE anycq_seconds_total counter\nanycq_seconds_total %.6f\n"
                    "# TYPE anycq_working gauge\nanycq_working %u\n"
                    "# TYPE anycq_waiting gauge\nanycq_waiting %u\n",
                    (unsigned long long)http->requests, (unsigned long long)http->refused,
                    (unsigned long long)http->errors, (double)http->served_ns * 1e-9, working,
                    waiting);
    enum MHD_Result sent = acq_send_bytes(r, to, 200, "text/plain; version=0.0.4", &text);
    acq_text_deinit(&text);
    return sent;
}

static enum MHD_Result run_api(acq_request *r, struct MHD_Connection *to, const acq_call *call,
                               const char *path, const char *method)
{
    const char *problem = "";
    int status;
    bool is_get = strcmp(method, "POST") != 0, is_sparql = strncmp(path, "/sparql", 7) == 0;
    enum MHD_Result sent;
    json_t *arguments = read_arguments(r, to, &status, &problem);
    if (status != 200) {
        sent = acq_send_error(r, to, status, problem);
    } else if (is_sparql) {
        const char *graph = path[7] == '/' ? path + 8 : NULL;
        sent = run_sparql(r, to, call, arguments, graph, is_get);
    } else if (strcmp(path, "/api/ask") == 0) {
        if (wants_lines(to, arguments) && strcmp(method, "HEAD") != 0)
            return run_lines(r, to, arguments);
        sent = run_ask(r, to, call, arguments);
    } else {
        json_t *object = acq_service_run(call, path + 5, arguments, &status);
        sent = send_json(r, to, status, object);
    }
    json_decref(arguments);
    return sent;
}

enum MHD_Result acq_send_page(acq_request *r, struct MHD_Connection *to, const acq_page_file *file)
{
    size_t length = (size_t)(file->end - file->begin);
    union {
        const char *kept;
        void *given; /* which is not written to */
    } bytes = {.kept = file->begin};
    struct MHD_Response *response =
        MHD_create_response_from_buffer(length, bytes.given, MHD_RESPMEM_PERSISTENT);
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", file->type);
    for (size_t i = 0; acq_page_policies[i] != NULL; i++)
        MHD_add_response_header(response, "Content-Security-Policy", acq_page_policies[i]);
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", "no-cache");
    acq_connection_set_phase(r->from, ACQ_WRITING);
    enum MHD_Result queued = MHD_queue_response(to, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return queued;
}

/* What asks the engine; a worker's place is held. */
static enum MHD_Result run_route(acq_request *r, struct MHD_Connection *to, const char *path,
                                 const char *method)
{
    acq_http *http = r->from->http;
    acq_service *service = acq_served_join(&http->served);
    acq_call call = {.service = service,
                     .served = &http->served,
                     .is_over = acq_connection_is_over,
                     .context = r->from};
    enum MHD_Result sent =
        strcmp(path, "/mcp") == 0 ? run_mcp(r, to, &call) : run_api(r, to, &call, path, method);
    acq_service_leave(service);
    return sent;
}

/* A page of another site can make a browser send a form, but no JSON without asking first. */
static int check_write(acq_request *r, struct MHD_Connection *from, const char *path,
                       const char *method, const char **problem)
{
    bool is_mcp = strcmp(path, "/mcp") == 0;
    r->is_post_only = true;
    if (strcmp(method, "POST") != 0) {
        *problem = is_mcp ? "assistants POST one message here" : "facts are changed by POST";
        return 405;
    }
    if (!is_type(from, "application/json")) {
        *problem = "send application/json";
        return 415;
    }
    return 200;
}

static enum MHD_Result send_text(acq_request *r, struct MHD_Connection *to, int status,
                                 const char *type, const char *words)
{
    acq_text text = {0};
    acq_text_add(&text, words);
    enum MHD_Result sent = acq_send_bytes(r, to, status, type, &text);
    acq_text_deinit(&text);
    return sent;
}

/* What is served without asking the engine. NULL path of `sent`: nothing of these. */
static bool send_simple(acq_request *r, struct MHD_Connection *to, const char *path,
                        enum MHD_Result *sent)
{
    bool is_stopping = r->from->http->is_stopping;
    if (strcmp(path, "/healthz") == 0)
        *sent = send_text(r, to, is_stopping ? 503 : 200, "text/plain",
                          is_stopping ? "stopping\n" : "ok\n");
    else if (strcmp(path, "/metrics") == 0)
        *sent = send_metrics(r, to);
    else if (strcmp(path, "/openapi.json") == 0)
        *sent = send_text(r, to, 200, "application/json", acq_openapi_document);
    else
        return false;
    return true;
}

enum MHD_Result acq_route(acq_request *r, struct MHD_Connection *to, const char *path,
                          const char *method)
{
    acq_http *http = r->from->http;
    enum MHD_Result sent;
    const char *problem = "";
    bool is_tool = strncmp(path, "/api/", 5) == 0;
    bool is_mcp = strcmp(path, "/mcp") == 0;
    if (send_simple(r, to, path, &sent))
        return sent;
    if (is_tool && acq_service_writes(path + 5) && !http->params.service.is_writable)
        return acq_send_error(r, to, 403,
                              "this server is read-only; --writable lets it change facts");
    is_tool = is_tool && acq_service_has(&http->params.service, path + 5);
    if (!is_tool && !is_mcp && strcmp(path, "/sparql") != 0 && strncmp(path, "/sparql/", 8) != 0)
        return acq_send_error(r, to, 404,
                              "there is nothing here; /openapi.json lists what is served");
    int status = is_mcp || (is_tool && acq_service_writes(path + 5))
                     ? check_write(r, to, path, method, &problem)
                     : 200;
    if (status != 200)
        return acq_send_error(r, to, status, problem);
    if (!acq_http_take_place(http)) {
        http->refused++;
        return acq_send_error(r, to, 503, "too many questions wait already; try again");
    }
    int64_t start = acq_clock_ns();
    sent = run_route(r, to, path, method);
    http->served_ns += (uint64_t)(acq_clock_ns() - start);
    if (!r->is_place_taken)
        acq_http_give_place(http);
    return sent;
}
