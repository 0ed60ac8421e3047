/* server_http.c - any bytes at the socket of the HTTP server, "\n" standing for the end of a line
 * in the head: it answers or closes, and then it answers an honest request. */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/text.h"
#include "server/http.h"
#include "server_graph.h"

static unsigned port;

static void start(void)
{
    static char path[64] = "/tmp/anycq-fuzz-XXXXXX.trig";
    static const char *paths[1] = {path};
    static acq_http *http;
    acq_error error = {0};
    acq_http_params params = {.service = fuzz_params(paths),
                              .host = "127.0.0.1",
                              .workers = 2,
                              .queue = 64,
                              .connections = 64,
                              .most_body = 1 << 16,
                              .read_seconds = 10, /* a busy machine may look away for one */
                              .write_seconds = 10};
    fuzz_write_graph(path);
    acq_status status = acq_http_start(&params, &http, &port, &error);
    assert(status == ACQ_OK);
    unlink(path);
}

static int open_socket(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    bool is_there = connect(s, (struct sockaddr *)&to, sizeof to) == 0;
    assert(is_there);
    return s;
}

/* What comes within the time, up to the room. */
static size_t receive(int s, char *out, size_t room, int milliseconds)
{
    struct pollfd ask = {.fd = s, .events = POLLIN};
    size_t n = 0;
    while (n < room && poll(&ask, 1, n == 0 ? milliseconds : 1) > 0) {
        ssize_t got = recv(s, out + n, room - n, 0);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    return n;
}

static void check_honest(void)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char answer[512] = "";
    int s = open_socket();
    ssize_t sent = send(s, request, sizeof request - 1, MSG_NOSIGNAL);
    size_t n = receive(s, answer, sizeof answer - 1, 20000);
    assert(sent == (ssize_t)sizeof request - 1 && n > 12);
    assert(memcmp(answer, "HTTP/1.1 200", 12) == 0);
    close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    acq_text text = {0};
    char answer[4096];
    static unsigned n_inputs;
    if (port == 0)
        start();
    for (size_t i = 0, is_head = 1; i < size; i++) {
        if (is_head && data[i] == '\n')
            acq_text_add_char(&text, '\r');
        acq_text_add_char(&text, (char)data[i]);
        is_head = is_head && !(data[i] == '\n' && i > 0 && data[i - 1] == '\n');
    }
    int s = open_socket();
    if (text.length > 0)
        (void)!send(s, text.bytes, text.length, MSG_NOSIGNAL);
    size_t n = receive(s, answer, sizeof answer, 3);
    assert(n < 12 || memcmp(answer, "HTTP/1.", 7) == 0);
    shutdown(s, SHUT_WR); /* the server is through with it when it closes, too */
    while (receive(s, answer, sizeof answer, 5000) > 0)
        continue;
    close(s);
    acq_text_deinit(&text);
    if (n_inputs++ % 16 == 0)
        check_honest();
    return 0;
}
