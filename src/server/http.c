/* http.c - see http.h. libmicrohttpd with a thread for each connection, which waits for one of the
 * workers' places before it asks the engine anything.
 *
 *   read the request ─▶ token, size, route ─▶ queue (or 503) ─▶ answer ─▶ send
 *         └ watchdog: clients that take too long are cut off
 *
 * A client that goes away ends its question: the engine asks is_over now and then. */
#include "server/http.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/text.h"
#include "server/parts.h"

typedef enum phase { READING, WORKING, WRITING } phase;

typedef struct connection {
    acq_http *http;
    int socket;
    struct sockaddr_in client; /* at the other end of it */
    _Atomic(phase) phase;
    _Atomic int64_t since_ns;
    bool is_cut;
    struct connection *next, *previous;
} connection;

struct acq_http {
    acq_http_params params;
    acq_served served;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t is_free;
    unsigned working, waiting;
    connection *connections;
    pthread_t watchdog;
    atomic_bool is_stopping, must_end;
    _Atomic uint64_t requests, refused, errors, served_ns;
};

/* One request. */
typedef struct request {
    connection *from;
    acq_text body;
    bool is_begun, is_too_large;
    bool has_nul; /* in its URL */
    bool is_post_only;
    bool is_place_taken; /* a worker's, by a stream of lines, which gives it back */
} request;

typedef struct request_lines {
    connection *from;
    acq_lines *lines;
} request_lines;

/* ---- places for workers ---- */

static bool take_place(acq_http *http)
{
    pthread_mutex_lock(&http->lock);
    bool is_full = http->working >= http->params.workers && http->waiting >= http->params.queue;
    if (!is_full) {
        http->waiting++;
        while (http->working >= http->params.workers)
            pthread_cond_wait(&http->is_free, &http->lock);
        http->waiting--;
        http->working++;
    }
    pthread_mutex_unlock(&http->lock);
    return !is_full;
}

static void give_place(acq_http *http)
{
    pthread_mutex_lock(&http->lock);
    http->working--;
    pthread_cond_signal(&http->is_free);
    pthread_mutex_unlock(&http->lock);
}

/* ---- connections ---- */

static void set_phase(connection *c, phase now)
{
    c->since_ns = acq_clock_ns();
    c->phase = now;
}

static bool find_client(int socket, struct sockaddr_in *out)
{
    socklen_t n = sizeof *out;
    return getpeername(socket, (struct sockaddr *)out, &n) == 0;
}

/* MHD closes a socket some time before it says so; its number may be another client's by then. */
static void cut_off(connection *c)
{
    struct sockaddr_in client = {0};
    c->is_cut = true;
    if (find_client(c->socket, &client) && client.sin_port == c->client.sin_port &&
        client.sin_addr.s_addr == c->client.sin_addr.s_addr)
        shutdown(c->socket, SHUT_RDWR);
}

static void notify_connection(void *context, struct MHD_Connection *connected,
                              void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    acq_http *http = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connected, MHD_CONNECTION_INFO_CONNECTION_FD);
        connection *c = acq_zalloc(1, sizeof *c);
        *socket_context = c;
        if (c == NULL)
            return;
        c->http = http;
        c->socket = info->connect_fd;
        (void)find_client(c->socket, &c->client);
        set_phase(c, READING);
        pthread_mutex_lock(&http->lock);
        c->next = http->connections;
        if (c->next != NULL)
            c->next->previous = c;
        http->connections = c;
        pthread_mutex_unlock(&http->lock);
        return;
    }
    connection *c = *socket_context;
    if (c == NULL)
        return;
    pthread_mutex_lock(&http->lock);
    if (c->next != NULL)
        c->next->previous = c->previous;
    if (c->previous != NULL)
        c->previous->next = c->next;
    else
        http->connections = c->next;
    pthread_mutex_unlock(&http->lock);
    acq_free(c);
    *socket_context = NULL;
}

/* Cuts off who takes too long to send or to receive. The socket is closed by its thread. */
static void *watch(void *context)
{
    acq_http *http = context;
    while (!http->must_end) {
        struct timespec pause = {.tv_nsec = 200000000};
        nanosleep(&pause, NULL);
        int64_t now = acq_clock_ns();
        pthread_mutex_lock(&http->lock);
        for (connection *c = http->connections; c != NULL; c = c->next) {
            double most = c->phase == READING   ? http->params.read_seconds
                          : c->phase == WRITING ? http->params.write_seconds
                                                : 1e9;
            if (!c->is_cut && (double)(now - c->since_ns) * 1e-9 > most)
                cut_off(c);
        }
        pthread_mutex_unlock(&http->lock);
    }
    return NULL;
}

/* Has the client gone, or the server been told to end? */
static bool is_over(void *context)
{
    const connection *c = context;
    struct pollfd ask = {.fd = c->socket, .events = POLLRDHUP};
    if (c->http->must_end)
        return true;
    if (acq_clock_ns() - c->since_ns < 2000000)
        return false; /* it has only begun: most questions are over before a look pays */
    return poll(&ask, 1, 0) > 0 && (ask.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* ---- responses ---- */

static void add_headers(request *r, int status, const char *type, struct MHD_Response *response)
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
    if (r->is_too_large || http->is_stopping)
        MHD_add_response_header(response, "Connection", "close");
}

/* The response is taken. */
static enum MHD_Result send_response(request *r, struct MHD_Connection *to, int status,
                                     const char *type, struct MHD_Response *response)
{
    if (response == NULL)
        return MHD_NO;
    add_headers(r, status, type, response);
    r->from->http->errors += status >= 500;
    set_phase(r->from, WRITING);
    enum MHD_Result queued = MHD_queue_response(to, (unsigned)status, response);
    MHD_destroy_response(response);
    return queued;
}

/* Takes the bytes of the text. */
static enum MHD_Result send_bytes(request *r, struct MHD_Connection *to, int status,
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
static enum MHD_Result send_json(request *r, struct MHD_Connection *to, int status, json_t *object)
{
    enum { SMALL = 16384 };
    char small[SMALL], *bytes = small;
    size_t n = object == NULL ? 0 : json_dumpb(object, small, SMALL - 1, ACQ_SERVICE_STYLE);
    bool is_small = n > 0 && n < SMALL;
    if (!is_small && object != NULL)
        bytes = json_dumps(object, ACQ_SERVICE_STYLE);
    json_decref(object);
    if (n == 0 || bytes == NULL)
        return send_bytes(r, to, 503, "application/json", &(acq_text){0});
    if (is_small)
        bytes[n] = '\n';
    struct MHD_Response *response = MHD_create_response_from_buffer(
        is_small ? n + 1 : n, bytes, is_small ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_MUST_FREE);
    if (response == NULL && !is_small)
        free(bytes);
    return send_response(r, to, status, "application/json", response);
}

static enum MHD_Result send_error(request *r, struct MHD_Connection *to, int status,
                                  const char *message)
{
    int out;
    return send_json(r, to, status, acq_service_fail(status, "request", message, &out));
}

/* ---- arguments ---- */

/* The member "" says that something is wrong. `values` may come again: it is a list. */
static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    (void)kind;
    json_t *text = json_string(value == NULL ? "" : value), *all = json_object_get(context, key);
    if (text == NULL || (all != NULL && strcmp(key, "values") != 0)) {
        json_decref(text);
        json_object_set_new(context, "", json_true());
    } else if (strcmp(key, "values") != 0) {
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

static char *get_body(request *r)
{
    acq_text_add_bytes(&r->body, "", 0);
    return r->body.bytes == NULL ? (char *)"" : r->body.bytes;
}

/* Arguments of the URL and the body; NULL with an error sent. */
static json_t *read_arguments(request *r, struct MHD_Connection *from, int *status,
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

static enum MHD_Result run_sparql(request *r, struct MHD_Connection *to, const acq_call *call,
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
                               : send_bytes(r, to, reply.status, reply.type, &reply.text);
    acq_text_deinit(&reply.text);
    return sent;
}

/* ---- lines ---- */

static void end_lines(void *context)
{
    give_place(((connection *)context)->http);
}

static ssize_t read_lines(void *context, uint64_t position, char *out, size_t room)
{
    request_lines *lines = context;
    (void)position;
    set_phase(lines->from, WORKING);
    size_t n = acq_lines_read(lines->lines, out, room);
    set_phase(lines->from, WRITING);
    return n == 0 ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)n;
}

static void free_lines(void *context)
{
    request_lines *lines = context;
    acq_lines_free(lines->lines);
    acq_free(lines);
}

/* The thread that asks gives the worker's place back. */
static enum MHD_Result run_lines(request *r, struct MHD_Connection *to, json_t *arguments)
{
    acq_http *http = r->from->http;
    acq_lines_params params = {.is_over = is_over, .end = end_lines, .context = r->from};
    json_t *failure = NULL;
    int status = 200;
    request_lines *lines = acq_zalloc(1, sizeof *lines);
    if (lines == NULL) {
        json_decref(arguments);
        return send_error(r, to, 503, "out of memory");
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

static enum MHD_Result run_ask(request *r, struct MHD_Connection *to, const acq_call *call,
                               const json_t *arguments)
{
    json_t *failure;
    int status;
    acq_asking *asking = acq_asking_new(call, arguments, &failure, &status);
    if (asking == NULL)
        return send_json(r, to, status, failure);
    acq_text text = {0};
    acq_asking_write(asking, &text, &status);
    enum MHD_Result sent = send_bytes(r, to, status, "application/json", &text);
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

static enum MHD_Result run_mcp(request *r, struct MHD_Connection *to, const acq_call *call)
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
        send_bytes(r, to, answer == NULL ? 202 : status, "application/json", &text);
    free(answer);
    acq_text_deinit(&text);
    return sent;
}

static enum MHD_Result send_metrics(request *r, struct MHD_Connection *to)
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
    enum MHD_Result sent = send_bytes(r, to, 200, "text/plain; version=0.0.4", &text);
    acq_text_deinit(&text);
    return sent;
}

static enum MHD_Result run_api(request *r, struct MHD_Connection *to, const acq_call *call,
                               const char *path, const char *method)
{
    const char *problem = "";
    int status;
    bool is_get = strcmp(method, "POST") != 0, is_sparql = strncmp(path, "/sparql", 7) == 0;
    enum MHD_Result sent;
    json_t *arguments = read_arguments(r, to, &status, &problem);
    if (status != 200) {
        sent = send_error(r, to, status, problem);
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

static enum MHD_Result send_page(request *r, struct MHD_Connection *to, const acq_page_file *file)
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
    set_phase(r->from, WRITING);
    enum MHD_Result queued = MHD_queue_response(to, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return queued;
}

/* What asks the engine; a worker's place is held. */
static enum MHD_Result run_route(request *r, struct MHD_Connection *to, const char *path,
                                 const char *method)
{
    acq_http *http = r->from->http;
    acq_service *service = acq_served_join(&http->served);
    acq_call call = {
        .service = service, .served = &http->served, .is_over = is_over, .context = r->from};
    enum MHD_Result sent =
        strcmp(path, "/mcp") == 0 ? run_mcp(r, to, &call) : run_api(r, to, &call, path, method);
    acq_service_leave(service);
    return sent;
}

/* A page of another site can make a browser send a form, but no JSON without asking first. */
static int check_write(request *r, struct MHD_Connection *from, const char *path,
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

static enum MHD_Result send_text(request *r, struct MHD_Connection *to, int status,
                                 const char *type, const char *words)
{
    acq_text text = {0};
    acq_text_add(&text, words);
    enum MHD_Result sent = send_bytes(r, to, status, type, &text);
    acq_text_deinit(&text);
    return sent;
}

/* What is served without asking the engine. NULL path of `sent`: nothing of these. */
static bool send_simple(request *r, struct MHD_Connection *to, const char *path,
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

static enum MHD_Result route(request *r, struct MHD_Connection *to, const char *path,
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
        return send_error(r, to, 403, "this server is read-only; --writable lets it change facts");
    is_tool = is_tool && acq_service_has(&http->params.service, path + 5);
    if (!is_tool && !is_mcp && strcmp(path, "/sparql") != 0 && strncmp(path, "/sparql/", 8) != 0)
        return send_error(r, to, 404, "there is nothing here; /openapi.json lists what is served");
    int status = is_mcp || (is_tool && acq_service_writes(path + 5))
                     ? check_write(r, to, path, method, &problem)
                     : 200;
    if (status != 200)
        return send_error(r, to, status, problem);
    if (!take_place(http)) {
        http->refused++;
        return send_error(r, to, 503, "too many questions wait already; try again");
    }
    int64_t start = acq_clock_ns();
    sent = run_route(r, to, path, method);
    http->served_ns += (uint64_t)(acq_clock_ns() - start);
    if (!r->is_place_taken)
        give_place(http);
    return sent;
}

/* As long for a wrong token as for the right one. */
static bool has_token(const acq_http *http, struct MHD_Connection *from)
{
    const char *token = http->params.token;
    const char *given = MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Authorization");
    unsigned char differs = 0;
    if (token == NULL)
        return true;
    if (given == NULL || strncasecmp(given, "Bearer ", 7) != 0)
        return false;
    size_t n = strlen(token), m = strlen(given + 7);
    for (size_t i = 0; i < m; i++)
        differs |= (unsigned char)(given[7 + i] ^ token[i % n]);
    return differs == 0 && n == m;
}

/* A web page whose name was made to mean this machine ("DNS rebinding") must not read what is
 * served here without a token: so a request must call the server by an address, or by a name of
 * this machine, and must not come from a page of another origin. */
static bool is_own_name(const char *host)
{
    size_t n = strcspn(host, ":"), dots = 0, letters = 0;
    for (size_t i = 0; i < n; i++) {
        dots += host[i] == '.';
        letters += host[i] != '.' && (host[i] < '0' || host[i] > '9');
    }
    bool is_local = n >= 10 && strncasecmp(host + n - 10, ".localhost", 10) == 0;
    return host[0] == '[' || dots == 0 || letters == 0 || is_local;
}

static bool is_trusted(const acq_http *http, struct MHD_Connection *from)
{
    const char *host = MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Origin");
    if (http->params.token != NULL)
        return true;
    if (host != NULL && !is_own_name(host))
        return false;
    if (origin == NULL || (http->params.origin != NULL && strcmp(origin, http->params.origin) == 0))
        return true;
    const char *name = strstr(origin, "://");
    return name != NULL && host != NULL && strcasecmp(name + 3, host) == 0;
}

/* The URL as it was sent: decoded, what follows a %00 would not be seen. */
static void *begin(void *context, const char *url, struct MHD_Connection *from)
{
    request *r = acq_zalloc(1, sizeof *r);
    (void)context;
    (void)from;
    if (r != NULL)
        r->has_nul = strstr(url, "%00") != NULL;
    return r;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *from, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *n_data, void **request_context)
{
    acq_http *http = context;
    request *r = *request_context;
    (void)version;
    if (r == NULL)
        return MHD_NO;
    if (!r->is_begun) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(from, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
        if (info == NULL || info->socket_context == NULL)
            return MHD_NO;
        r->from = info->socket_context;
        r->is_begun = true;
        return MHD_YES;
    }
    if (*n_data > 0) {
        r->is_too_large |= r->body.length + *n_data > http->params.most_body;
        if (!r->is_too_large)
            acq_text_add_bytes(&r->body, data, *n_data);
        *n_data = 0;
        return MHD_YES;
    }
    set_phase(r->from, WORKING);
    http->requests++;
    bool is_get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (r->is_too_large)
        return send_error(r, from, 413, "the body is too large");
    if (r->has_nul)
        return send_error(r, from, 400, "the URL holds a NUL byte");
    if (strcmp(method, "OPTIONS") == 0 && http->params.origin != NULL) {
        acq_text nothing = {0};
        return send_bytes(r, from, 204, "text/plain", &nothing);
    }
    if (!is_get && strcmp(method, "POST") != 0)
        return send_error(r, from, 405, "use GET or POST");
    if (!is_trusted(http, from))
        return send_error(r, from, 403,
                          "call this server by its address; a page of another "
                          "origin needs --cors, another name --token-file");
    const acq_page_file *file = is_get ? acq_page_find(path) : NULL;
    if (file != NULL) /* it holds nothing secret, and asks its reader for the token */
        return send_page(r, from, file);
    if (strcmp(path, "/healthz") != 0 && !has_token(http, from))
        return send_error(r, from, 401, "this server wants a bearer token");
    return route(r, from, path, method);
}

static void complete(void *context, struct MHD_Connection *from, void **request_context,
                     enum MHD_RequestTerminationCode code)
{
    request *r = *request_context;
    (void)context;
    (void)from;
    (void)code;
    if (r == NULL)
        return;
    if (r->from != NULL)
        set_phase(r->from, READING);
    acq_text_deinit(&r->body);
    acq_free(r);
    *request_context = NULL;
}

/* ---- start and stop ---- */

static void free_http(acq_http *http)
{
    acq_served_deinit(&http->served);
    pthread_mutex_destroy(&http->lock);
    pthread_cond_destroy(&http->is_free);
    acq_free(http);
}

static acq_status listen_at(acq_http *http, unsigned *port, acq_error *error)
{
    const acq_http_params *p = &http->params;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p->port)};
    if (inet_pton(AF_INET, p->host, &address.sin_addr) != 1)
        return acq_fail(error, ACQ_ERR_USAGE, "\"%.100s\" is no IPv4 address; use 127.0.0.1",
                        p->host);
    http->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
            MHD_USE_ITC,
        (uint16_t)p->port, NULL, NULL, handle, http, MHD_OPTION_SOCK_ADDR, &address,
        MHD_OPTION_CONNECTION_LIMIT, p->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)65536, MHD_OPTION_NOTIFY_CONNECTION, notify_connection, http,
        MHD_OPTION_URI_LOG_CALLBACK, begin, http, MHD_OPTION_NOTIFY_COMPLETED, complete, http,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (http->daemon == NULL)
        return acq_fail(error, ACQ_ERR_IO, "cannot listen at %.100s:%u; is the port taken?",
                        p->host, p->port);
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
    *port = info == NULL ? p->port : info->port;
    return ACQ_OK;
}

acq_status acq_http_start(const acq_http_params *params, acq_http **out, unsigned *port,
                          acq_error *error)
{
    acq_http *http = acq_zalloc(1, sizeof *http);
    if (http == NULL)
        return acq_fail_memory(error);
    http->params = *params;
    pthread_mutex_init(&http->lock, NULL);
    pthread_cond_init(&http->is_free, NULL);
    acq_status status = acq_served_init(&http->served, &params->service, error);
    if (status == ACQ_OK)
        status = listen_at(http, port, error);
    if (status == ACQ_OK && pthread_create(&http->watchdog, NULL, watch, http) != 0) {
        MHD_stop_daemon(http->daemon);
        status = acq_fail(error, ACQ_ERR_IO, "cannot start a thread");
    }
    if (status != ACQ_OK) {
        free_http(http);
        return status;
    }
    *out = http;
    return ACQ_OK;
}

acq_status acq_http_reload(acq_http *http, acq_error *error)
{
    return acq_served_reload(&http->served, NULL, error);
}

static bool is_idle(acq_http *http)
{
    bool is_idle = true;
    pthread_mutex_lock(&http->lock);
    for (const connection *c = http->connections; c != NULL; c = c->next)
        is_idle &= c->phase == READING;
    pthread_mutex_unlock(&http->lock);
    return is_idle;
}

void acq_http_stop(acq_http *http, double grace)
{
    int64_t deadline = acq_clock_get_deadline(grace);
    http->is_stopping = true;
    MHD_socket listener = MHD_quiesce_daemon(http->daemon);
    while (!is_idle(http) && acq_clock_ns() < deadline) {
        struct timespec pause = {.tv_nsec = 20000000};
        nanosleep(&pause, NULL);
    }
    http->must_end = true;
    MHD_stop_daemon(http->daemon);
    if (listener != MHD_INVALID_SOCKET)
        close(listener);
    pthread_join(http->watchdog, NULL);
    free_http(http);
}
