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
#include "server/routes.h"

/* ---- places for workers ---- */

bool acq_http_take_place(acq_http *http)
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

void acq_http_give_place(acq_http *http)
{
    pthread_mutex_lock(&http->lock);
    http->working--;
    pthread_cond_signal(&http->is_free);
    pthread_mutex_unlock(&http->lock);
}

/* ---- connections ---- */

void acq_connection_set_phase(acq_connection *c, acq_phase now)
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
static void cut_off(acq_connection *c)
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
        acq_connection *c = acq_zalloc(1, sizeof *c);
        *socket_context = c;
        if (c == NULL)
            return;
        c->http = http;
        c->socket = info->connect_fd;
        (void)find_client(c->socket, &c->client);
        acq_connection_set_phase(c, ACQ_READING);
        pthread_mutex_lock(&http->lock);
        c->next = http->connections;
        if (c->next != NULL)
            c->next->previous = c;
        http->connections = c;
        pthread_mutex_unlock(&http->lock);
        return;
    }
    acq_connection *c = *socket_context;
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
        for (acq_connection *c = http->connections; c != NULL; c = c->next) {
            double most = c->phase == ACQ_READING   ? http->params.read_seconds
                          : c->phase == ACQ_WRITING ? http->params.write_seconds
                                                    : 1e9;
            if (!c->is_cut && (double)(now - c->since_ns) * 1e-9 > most)
                cut_off(c);
        }
        pthread_mutex_unlock(&http->lock);
    }
    return NULL;
}

/* Has the client gone, or the server been told to end? */
bool acq_connection_is_over(void *context)
{
    const acq_connection *c = context;
    struct pollfd ask = {.fd = c->socket, .events = POLLRDHUP};
    if (c->http->must_end)
        return true;
    if (acq_clock_ns() - c->since_ns < 2000000)
        return false; /* it has only begun: most questions are over before a look pays */
    return poll(&ask, 1, 0) > 0 && (ask.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
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
    if (host[0] == '[') {
        const char *end = strchr(host, ']');
        return end != NULL && (end[1] == '\0' || end[1] == ':');
    }
    return dots == 0 || letters == 0 || is_local;
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

/* ---- requests ---- */

/* Headers that say where a request ends and whom it is for. */
typedef struct framing {
    unsigned n_hosts, n_lengths, n_codings;
    bool is_coding_unknown;
} framing;

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    framing *f = context;
    (void)kind;
    f->n_hosts += strcasecmp(key, "Host") == 0;
    f->n_lengths += strcasecmp(key, "Content-Length") == 0;
    if (strcasecmp(key, "Transfer-Encoding") == 0) {
        f->n_codings++;
        f->is_coding_unknown |= value == NULL || strcasecmp(value, "chunked") != 0;
    }
    return MHD_YES;
}

/* What a proxy before this server may read in another way than it does, so that one client's bytes
 * become another's request. NULL: nothing. */
static const char *find_fault(struct MHD_Connection *from)
{
    framing f = {0};
    MHD_get_connection_values(from, MHD_HEADER_KIND, count_header, &f);
    if (f.n_hosts > 1)
        return "there is more than one Host header";
    if (f.n_lengths + f.n_codings > 1)
        return "the length of the body is said more than once";
    return f.is_coding_unknown ? "the only transfer coding here is chunked" : NULL;
}

/* The URL as it was sent: decoded, what follows a %00 would not be seen. */
static void *begin(void *context, const char *url, struct MHD_Connection *from)
{
    acq_request *r = acq_zalloc(1, sizeof *r);
    (void)context;
    (void)from;
    if (r != NULL)
        r->has_nul = strstr(url, "%00") != NULL;
    return r;
}

/* The whole request is there. */
static enum MHD_Result answer(acq_http *http, acq_request *r, struct MHD_Connection *from,
                              const char *path, const char *method)
{
    acq_connection_set_phase(r->from, ACQ_WORKING);
    http->requests++;
    bool is_get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    if (r->is_too_large)
        return acq_send_error(r, from, 413, "the body is too large");
    if (r->has_nul)
        return acq_send_error(r, from, 400, "the URL holds a NUL byte");
    if (strcmp(method, "OPTIONS") == 0 && http->params.origin != NULL) {
        acq_text nothing = {0};
        return acq_send_bytes(r, from, 204, "text/plain", &nothing);
    }
    if (!is_get && strcmp(method, "POST") != 0)
        return acq_send_error(r, from, 405, "use GET or POST");
    if (!is_trusted(http, from))
        return acq_send_error(r, from, 403,
                              "call this server by its address; a page of another "
                              "origin needs --cors, another name --token-file");
    const acq_page_file *file = is_get ? acq_page_find(path) : NULL;
    if (file != NULL) /* it holds nothing secret, and asks its reader for the token */
        return acq_send_page(r, from, file);
    if (strcmp(path, "/healthz") != 0 && !has_token(http, from))
        return acq_send_error(r, from, 401, "this server wants a bearer token");
    return acq_route(r, from, path, method);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *from, const char *path,
                              const char *method, const char *version, const char *data,
                              size_t *n_data, void **request_context)
{
    acq_http *http = context;
    acq_request *r = *request_context;
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
        const char *fault = find_fault(from);
        r->must_close = fault != NULL;
        return fault == NULL ? MHD_YES : acq_send_error(r, from, 400, fault);
    }
    if (*n_data > 0) {
        r->is_too_large |= r->body.length + *n_data > http->params.most_body;
        if (!r->is_too_large)
            acq_text_add_bytes(&r->body, data, *n_data);
        *n_data = 0;
        return MHD_YES;
    }
    return answer(http, r, from, path, method);
}

static void complete(void *context, struct MHD_Connection *from, void **request_context,
                     enum MHD_RequestTerminationCode code)
{
    acq_request *r = *request_context;
    (void)context;
    (void)from;
    (void)code;
    if (r == NULL)
        return;
    if (r->from != NULL)
        acq_connection_set_phase(r->from, ACQ_READING);
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
        (size_t)32768, MHD_OPTION_NOTIFY_CONNECTION, notify_connection, http,
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
    return acq_served_reload(&http->served, NULL, 0, error);
}

static bool is_idle(acq_http *http)
{
    bool is_idle = true;
    pthread_mutex_lock(&http->lock);
    for (const acq_connection *c = http->connections; c != NULL; c = c->next)
        is_idle &= c->phase == ACQ_READING;
    pthread_mutex_unlock(&http->lock);
    return is_idle;
}

int acq_http_finish(acq_http *http, double grace)
{
    int64_t deadline = acq_clock_get_deadline(grace);
    http->is_stopping = true;
    MHD_socket listener = MHD_quiesce_daemon(http->daemon);
    while (!is_idle(http) && acq_clock_ns() < deadline) {
        struct timespec pause = {.tv_nsec = 20000000};
        nanosleep(&pause, NULL);
    }
    return listener;
}

void acq_http_stop(acq_http *http, double grace)
{
    MHD_socket listener = acq_http_finish(http, grace);
    http->must_end = true;
    MHD_stop_daemon(http->daemon);
    if (listener != MHD_INVALID_SOCKET)
        close(listener);
    pthread_join(http->watchdog, NULL);
    free_http(http);
}
