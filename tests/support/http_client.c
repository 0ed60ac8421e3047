/* http_client.c - see http_client.h. */
#include "support/http_client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 40 };

static unsigned port;

pid_t http_client_start(const char *program, const char *graph, const char *const *options)
{
    int pipes[2];
    char line[256] = "", *at;
    const char *arguments[MOST_ARGUMENTS] = {program, "serve", graph, "--port", "0"};
    for (size_t i = 0; i + 6 < MOST_ARGUMENTS && options[i] != NULL; i++)
        arguments[i + 5] = options[i];
    if (pipe(pipes) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], 2);
        close(pipes[0]);
        execv(program, (char *const *)arguments);
        _exit(127);
    }
    close(pipes[1]);
    FILE *out = fdopen(pipes[0], "r");
    while (fgets(line, sizeof line, out) != NULL && strstr(line, "serving at") == NULL)
        ;
    at = strrchr(line, ':');
    port = at == NULL ? 0 : (unsigned)strtoul(at + 1, NULL, 10);
    if (port == 0) {
        fprintf(stderr, "FAILED: the server did not start: %s\n", line);
        exit(1);
    }
    return child; /* the pipe stays open: the server may write notes */
}

int http_client_open(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) != 0) {
        perror("connect");
        exit(1);
    }
    return s;
}

void http_client_send(int s, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(s, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the server has had enough */
        bytes += sent;
        n -= (size_t)sent;
    }
}

int http_client_read(int s, char *body, size_t room)
{
    char text[65536];
    size_t n = 0;
    struct pollfd ask = {.fd = s, .events = POLLIN};
    while (n + 1 < sizeof text && poll(&ask, 1, n == 0 ? 4000 : 200) > 0) {
        ssize_t got = recv(s, text + n, sizeof text - 1 - n, 0);
        if (got <= 0)
            break;
        n += (size_t)got;
        text[n] = '\0';
        const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "Content-Length:");
        if (end != NULL && length != NULL &&
            n >= (size_t)(end + 4 - text) + strtoul(length + 15, NULL, 10))
            break;
    }
    text[n] = '\0';
    if (body != NULL) {
        size_t kept = n < room ? n : room - 1;
        memcpy(body, text, kept);
        body[kept] = '\0';
    }
    return strncmp(text, "HTTP/1.", 7) == 0 ? (int)strtol(text + 9, NULL, 10) : 0;
}

/* Chunks put together in place. */
static void join_chunks(char *body)
{
    char *to = body, *at = body;
    for (size_t n; (n = strtoul(at, &at, 16)) > 0; at += n + 2) {
        at += 2;
        memmove(to, at, n);
        to += n;
    }
    *to = '\0';
}

char *http_client_ask(const char *path, const char *headers, const char *json, int *status)
{
    size_t n = json == NULL ? 0 : strlen(json), used = 0, room = 1 << 16;
    char *text = malloc(n + strlen(path) + strlen(headers) + 300), *all = malloc(room);
    int head = sprintf(text, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s",
                       json == NULL ? "GET" : "POST", path, headers);
    if (json != NULL)
        head +=
            sprintf(text + head, "Content-Type: application/json\r\nContent-Length: %zu\r\n", n);
    sprintf(text + head, "\r\n%s", json == NULL ? "" : json);
    int s = http_client_open();
    http_client_send(s, text, strlen(text));
    for (ssize_t got; (got = recv(s, all + used, room - used - 1, 0)) > 0;) {
        used += (size_t)got;
        if (used + 1 == room)
            all = realloc(all, room *= 2);
    }
    close(s);
    free(text);
    all[used] = '\0';
    *status = strncmp(all, "HTTP/1.", 7) == 0 ? (int)strtol(all + 9, NULL, 10) : 0;
    char *body = strstr(all, "\r\n\r\n");
    if (body == NULL)
        return all;
    *body = '\0';
    const char *chunked = strcasestr(all, "\r\nTransfer-Encoding: chunked");
    memmove(all, body + 4, used - (size_t)(body + 4 - all) + 1);
    if (chunked != NULL)
        join_chunks(all);
    return all;
}

double http_client_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
