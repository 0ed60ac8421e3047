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
#include "server/mcp.h"
#include "server/openapi.h"
#include "server/results.h"

typedef enum phase { READING, WORKING, WRITING } phase;

typedef struct connection {
    acq_http *http;
    int socket;
    _Atomic(phase) phase;
    _Atomic int64_t since_ns;
    bool is_cut;
    struct connection *next, *previous;
} connection;

struct acq_http {
    acq_http_params params;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t is_free;
    unsigned working, waiting;
    acq_service *service;
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
} request;

/* ---- places for workers ---- */

static bool take_place(acq_http *http)
{
    pthread_mutex_lock(&http->lock);
    bool is_full =
        http->working >= http->params.workers && http->waiting >= http->params.queue;
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

static acq_service *join_service(acq_http *http)
{
    pthread_mutex_lock(&http->lock);
    acq_service *service = http->service;
    atomic_fetch_add(&service->users, 1);
    pthread_mutex_unlock(&http->lock);
    return service;
}

/* ---- connections ---- */

static void set_phase(connection *c, phase now)
{
    c->since_ns = acq_clock_ns();
    c->phase = now;
}

static void notify_connection(void *context, struct MHD_Connection *connected, void **socket_context,
                              enum MHD_ConnectionNotificationCode code)
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
            if (!c->is_cut && (double)(now - c->since_ns) * 1e-9 > most) {
                c->is_cut = true;
                shutdown(c->socket, SHUT_RDWR);
            }
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
    return poll(&ask, 1, 0) > 0 && (ask.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* ---- responses ---- */

static enum MHD_Result send_bytes(request *r, struct MHD_Connection *to, int status,
                                  const char *type, acq_text *text)
{
    acq_http *http = r->from->http;
    if (text->failed) {
        acq_text_clear(text);
        status = 503;
    }
    size_t length = text->length;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(length, length == 0 ? (void *)"" : text->bytes,
                                        MHD_RESPMEM_MUST_COPY);
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (http->params.origin != NULL) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", http->params.origin);
        MHD_add_response_header(response, "Access-Control-Allow-Headers",
                                "Authorization, Content-Type");
        MHD_add_response_header(response, "Vary", "Origin");
    }
    if (status == 503)
        MHD_add_response_header(response, "Retry-After", "1");
    if (status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (status == 405)
        MHD_add_response_header(response, "Allow", "GET, POST");
    if (r->is_too_large || http->is_stopping)
        MHD_add_response_header(response, "Connection", "close");
    http->errors += status >= 500;
    set_phase(r->from, WRITING);
    enum MHD_Result queued = MHD_queue_response(to, (unsigned)status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result send_json(request *r, struct MHD_Connection *to, int status, json_t *object)
{
    acq_text text = {0};
    char *dumped = object == NULL ? NULL : json_dumps(object, JSON_COMPACT);
    if (dumped == NULL)
        text.failed = true;
    else
        acq_text_format(&text, "%s\n", dumped);
    free(dumped);
    json_decref(object);
    enum MHD_Result sent = send_bytes(r, to, status, "application/json", &text);
    acq_text_deinit(&text);
    return sent;
}

static enum MHD_Result send_error(request *r, struct MHD_Connection *to, int status,
                                  const char *message)
{
    int out;
    return send_json(r, to, status, acq_service_fail(status, "request", message, &out));
}

/* ---- arguments ---- */

static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    (void)kind;
    json_t *text = json_string(value == NULL ? "" : value);
    if (text == NULL || json_object_set_new(context, key, text) != 0)
        json_object_set_new(context, "", json_true()); /* no UTF-8 */
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
            json_object_update(arguments, body);
        }
        json_decref(body);
    } else if (is_type(from, "application/sparql-query")) {
        add_argument(arguments, MHD_POSTDATA_KIND, "query", get_body(r));
    } else if (r->body.length > 0) {
        *status = 415;
        *problem = "send a form, JSON or application/sparql-query";
    }
    if (*status == 200 && json_object_get(arguments, "") != NULL) {
        *status = 400;
        *problem = "an argument is not UTF-8, or has no name";
    }
    return arguments;
}

/* ---- routes ---- */

static enum MHD_Result run_sparql(request *r, struct MHD_Connection *to, const acq_call *call,
                                  const json_t *arguments, const char *graph)
{
    const char *query = json_string_value(json_object_get(arguments, "query"));
    const acq_served_graph *g = acq_service_find(call->service, graph);
    acq_solve_params params;
    acq_ask_params ask;
    acq_solutions *solutions = NULL;
    acq_error error = {0};
    int status;
    if (json_object_get(arguments, "update") != NULL)
        return send_error(r, to, 403, "updates are not supported: this server is read-only");
    if (json_object_get(arguments, "default-graph-uri") != NULL ||
        json_object_get(arguments, "named-graph-uri") != NULL)
        return send_error(r, to, 400, "graphs of a query cannot be chosen: leave the URIs out");
    if (g == NULL || query == NULL)
        return send_error(r, to, g == NULL ? 404 : 400,
                          g == NULL ? "no graph of this name is served"
                                    : "give the SPARQL query as \"query\"");
    if (!acq_is_sparql(query))
        return send_error(r, to, 400, "this is no SPARQL query; /api/ask takes other syntaxes");
    acq_solve_params_init(&params);
    if (acq_service_read_ask(call, arguments, &ask, &error) != ACQ_OK)
        return send_json(r, to, 400, acq_service_fail_with(&error, &status));
    params.ask = &ask;
    params.most = call->service->params.most_answers;
    if (acq_solve(g->graph, query, g->predictor, &params, &solutions, &error) != ACQ_OK) {
        json_t *object = acq_service_fail_with(&error, &status);
        return send_json(r, to, status, object);
    }
    acq_text text = {0};
    const char *spent = acq_solutions_get_spent(solutions);
    acq_result_format format =
        acq_results_choose(MHD_lookup_connection_value(to, MHD_HEADER_KIND, "Accept"),
                           acq_solutions_get_form(solutions));
    enum MHD_Result sent;
    if (strcmp(spent, "time") == 0 || strcmp(spent, "memory") == 0) {
        sent = send_error(r, to, 503, "the query takes more time or memory than it may");
    } else if (strcmp(spent, "most") == 0) {
        sent = send_error(r, to, 413, "the query has more solutions than may be sent; add LIMIT");
    } else if (format == ACQ_FORMAT_SPARQL_NO) {
        sent = send_error(r, to, 406, "no format of this result is accepted");
    } else {
        acq_results_write(solutions, format, &text);
        sent = send_bytes(r, to, 200, acq_results_get_type(format), &text);
    }
    acq_text_deinit(&text);
    acq_solutions_free(solutions);
    return sent;
}

static enum MHD_Result run_mcp(request *r, struct MHD_Connection *to, const acq_call *call)
{
    acq_text text = {0};
    char *answer = acq_mcp_answer(call, get_body(r), r->body.length);
    if (answer != NULL)
        acq_text_format(&text, "%s\n", answer);
    enum MHD_Result sent =
        send_bytes(r, to, answer == NULL ? 202 : 200, "application/json", &text);
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

/* What asks the engine; a worker's place is held. */
static enum MHD_Result run_route(request *r, struct MHD_Connection *to, const char *path,
                                 const char *method)
{
    const char *problem = "";
    int status;
    acq_service *service = join_service(r->from->http);
    acq_call call = {.service = service, .is_over = is_over, .context = r->from};
    enum MHD_Result sent;
    if (strcmp(path, "/mcp") == 0) {
        sent = strcmp(method, "POST") == 0
                   ? run_mcp(r, to, &call)
                   : send_error(r, to, 405, "assistants POST one message here");
    } else {
        json_t *arguments = read_arguments(r, to, &status, &problem);
        if (status != 200) {
            sent = send_error(r, to, status, problem);
        } else if (strncmp(path, "/sparql", 7) == 0) {
            sent = run_sparql(r, to, &call, arguments, path[7] == '/' ? path + 8 : NULL);
        } else {
            json_t *object = acq_service_run(&call, path + 5, arguments, &status);
            sent = send_json(r, to, status, object);
        }
        json_decref(arguments);
    }
    acq_service_leave(service);
    return sent;
}

static enum MHD_Result route(request *r, struct MHD_Connection *to, const char *path,
                             const char *method)
{
    acq_http *http = r->from->http;
    acq_text text = {0};
    bool is_api = strncmp(path, "/api/", 5) == 0 && acq_service_has(path + 5);
    bool is_sparql = strcmp(path, "/sparql") == 0 || strncmp(path, "/sparql/", 8) == 0;
    if (strcmp(path, "/healthz") == 0) {
        acq_text_add(&text, http->is_stopping ? "stopping\n" : "ok\n");
        enum MHD_Result sent =
            send_bytes(r, to, http->is_stopping ? 503 : 200, "text/plain", &text);
        acq_text_deinit(&text);
        return sent;
    }
    if (strcmp(path, "/metrics") == 0)
        return send_metrics(r, to);
    if (strcmp(path, "/openapi.json") == 0) {
        acq_text_add(&text, acq_openapi_document);
        enum MHD_Result sent = send_bytes(r, to, 200, "application/json", &text);
        acq_text_deinit(&text);
        return sent;
    }
    if (!is_api && !is_sparql && strcmp(path, "/mcp") != 0)
        return send_error(r, to, 404, "there is nothing here; /openapi.json lists what is served");
    if (!take_place(http)) {
        http->refused++;
        return send_error(r, to, 503, "too many questions wait already; try again");
    }
    int64_t start = acq_clock_ns();
    enum MHD_Result sent = run_route(r, to, path, method);
    http->served_ns += (uint64_t)(acq_clock_ns() - start);
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
    acq_service_leave(http->service);
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
        MHD_OPTION_URI_LOG_CALLBACK, begin, http, MHD_OPTION_NOTIFY_COMPLETED, complete, http, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
    if (http->daemon == NULL)
        return acq_fail(error, ACQ_ERR_IO, "cannot listen at %.100s:%u; is the port taken?",
                        p->host, p->port);
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
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
    acq_status status = acq_service_open(&params->service, &http->service, error);
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
    acq_service *fresh, *old;
    acq_status status = acq_service_open(&http->params.service, &fresh, error);
    if (status != ACQ_OK)
        return status;
    pthread_mutex_lock(&http->lock);
    old = http->service;
    http->service = fresh;
    pthread_mutex_unlock(&http->lock);
    acq_service_leave(old);
    return ACQ_OK;
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
