/* serve.c - `anycq serve`: the HTTP server until SIGINT or SIGTERM; SIGHUP opens the graphs anew.
 * `anycq mcp`: tools for assistants over standard input and output. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/interrupt.h"
#include "cli/report.h"
#include "cli/setup.h"
#include "server/http.h"

static acq_service_params read_service(const acq_options *options)
{
    return (acq_service_params){.paths = options->args.items,
                                .n_paths = options->args.n,
                                .predictor = options->predictor,
                                .seconds = options->serve_time,
                                .memory_bytes = options->serve_memory << 20,
                                .most_answers = options->most,
                                .is_writable = options->writable};
}

#ifdef ACQ_NO_HTTP

int acq_cli_serve(const acq_options *options)
{
    acq_error error = {0};
    acq_fail(&error, ACQ_ERR_USAGE,
             "this build has no HTTP server; take a package, or use anycq mcp");
    return acq_report_failure(options, &error);
}

#else

/* The first line of a file: a token on the command line would be seen by everybody. */
static acq_status read_token(const char *path, char *out, size_t size, acq_error *error)
{
    FILE *file = fopen(path, "rb");
    bool is_read = file != NULL && fgets(out, (int)size, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (is_read)
        out[strcspn(out, "\r\n")] = '\0';
    if (is_read && strlen(out) >= 16)
        return ACQ_OK;
    return acq_fail(error, is_read ? ACQ_ERR_INPUT : ACQ_ERR_IO,
                    is_read ? "the token in %.200s is too short; use 16 characters or more"
                            : "cannot read a token from %.200s",
                    path);
}

static void block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
}

/* ---- signals while graphs are opened, which may learn for minutes ---- */

typedef struct guard {
    acq_http *http; /* NULL: nothing is served yet */
    sigset_t set;
    pthread_t thread;
    bool is_there;
} guard;

static void *end_meanwhile(void *context)
{
    const guard *g = context;
    int signal;
    while (sigwait(&g->set, &signal) != 0)
        ;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    fprintf(stderr, "anycq: note: stopping\n");
    if (g->http != NULL)
        (void)acq_http_finish(g->http, 5);
    acq_interrupt_end(ACQ_EXIT_YES);
}

static void guard_begin(guard *g, acq_http *http)
{
    g->http = http;
    sigemptyset(&g->set);
    sigaddset(&g->set, SIGINT);
    sigaddset(&g->set, SIGTERM);
    g->is_there = pthread_create(&g->thread, NULL, end_meanwhile, g) == 0;
}

static void guard_end(guard *g)
{
    if (!g->is_there)
        return;
    pthread_cancel(g->thread);
    pthread_join(g->thread, NULL);
}

static void reload(acq_http *http)
{
    acq_error error = {0};
    guard g;
    guard_begin(&g, http);
    acq_status status = acq_http_reload(http, &error);
    guard_end(&g);
    if (status == ACQ_OK)
        fprintf(stderr, "anycq: note: the graphs were opened anew\n");
    else
        fprintf(stderr, "anycq: the graphs stay as they are: %s\n", error.message);
}

static int wait_and_serve(acq_http *http, const sigset_t *set)
{
    for (;;) {
        int signal;
        if (sigwait(set, &signal) != 0)
            continue;
        if (signal != SIGHUP)
            break;
        reload(http);
    }
    fprintf(stderr, "anycq: note: stopping\n");
    acq_http_stop(http, 5);
    return ACQ_EXIT_YES;
}

static acq_status start(const acq_options *options, const char *token, acq_http **http,
                        acq_error *error)
{
    unsigned port = 0;
    acq_http_params params = {.service = read_service(options),
                              .host = options->host,
                              .port = (unsigned)options->port,
                              .workers = (unsigned)options->workers,
                              .queue = (unsigned)options->queue,
                              .connections = 256,
                              .most_body = 1 << 20,
                              .read_seconds = 10,
                              .write_seconds = 30,
                              .origin = options->cors};
    params.service.warms = true;
    acq_status status = acq_predictor_check_spec(options->predictor, error);
    params.token = options->token_file == NULL ? NULL : token;
    bool is_local = strncmp(options->host, "127.", 4) == 0;
    if (status == ACQ_OK && !is_local && params.token == NULL)
        status = acq_fail(error, ACQ_ERR_USAGE,
                          "a server that others can reach needs a token: give --token-file FILE");
    if (status == ACQ_OK)
        status = acq_http_start(&params, http, &port, error);
    if (status == ACQ_OK)
        fprintf(stderr, "anycq: note: serving at http://%s:%u/\n", options->host, port);
    return status;
}

int acq_cli_serve(const acq_options *options)
{
    acq_error error = {0};
    acq_http *http = NULL;
    char token[512];
    sigset_t set;
    guard g;
    signal(SIGPIPE, SIG_IGN);
    /* The token may come from a pipe that nobody writes to: signals must still end that. */
    acq_status status = options->token_file == NULL
                            ? ACQ_OK
                            : read_token(options->token_file, token, sizeof token, &error);
    block_signals(&set);
    guard_begin(&g, NULL);
    if (status == ACQ_OK)
        status = start(options, token, &http, &error);
    guard_end(&g);
    if (status != ACQ_OK)
        return acq_report_failure(options, &error);
    return wait_and_serve(http, &set);
}

#endif

int acq_cli_mcp(const acq_options *options)
{
    acq_error error = {0};
    acq_service_params params = read_service(options);
    acq_served served;
    acq_status status = acq_predictor_check_spec(options->predictor, &error);
    if (status == ACQ_OK) {
        status = acq_served_init(&served, &params, &error);
        if (status == ACQ_OK)
            status = acq_mcp_serve(&served, &error);
        acq_served_deinit(&served);
    }
    return status == ACQ_OK ? ACQ_EXIT_YES : acq_report_failure(options, &error);
}
