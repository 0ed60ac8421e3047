/* http_ceiling.c - the least that a server on libmicrohttpd does: the same threads as anycq serve, and
 * a fixed response of the size that is given. Prints its port and serves until it is killed.
 *
 * usage: http_ceiling BYTES */
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct body {
    char *bytes;
    size_t n;
} body;

static enum MHD_Result answer(void *context, struct MHD_Connection *to, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *n_data, void **seen)
{
    static int once;
    const body *b = context;
    (void)url;
    (void)method;
    (void)version;
    (void)data;
    (void)n_data;
    if (*seen == NULL) {
        *seen = &once;
        return MHD_YES;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(b->n, b->bytes, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result queued = MHD_queue_response(to, 200, response);
    MHD_destroy_response(response);
    return queued;
}

int main(int argc, char **argv)
{
    body b = {.n = argc > 1 ? strtoul(argv[1], NULL, 10) : 500};
    b.bytes = malloc(b.n + 1);
    if (b.bytes == NULL)
        return 1;
    memset(b.bytes, 'x', b.n);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL,
        NULL, answer, &b, MHD_OPTION_END);
    if (daemon == NULL)
        return 1;
    printf("%u\n", (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    for (;;)
        pause();
}
