/* abuse.c - hostile requests, one table: each gets its status, or its connection is closed, and the
 * next honest request is served at once.
 *
 * usage: abuse PROGRAM GRAPH      GRAPH has the fact knows(Ann, Bob) */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/http_client.h"

enum { REFUSED = -1 }; /* any status from 400 on, or no response at all */

static int n_run, n_failed;

static void check_honest(const char *after)
{
    static const char request[] = "GET /api/ask?query=knows(%22Ann%22,y) HTTP/1.1\r\nHost: x\r\n"
                                  "Authorization: Bearer 0123456789abcdef\r\n\r\n";
    char body[4096];
    double begun = http_client_now();
    int s = http_client_open();
    http_client_send(s, request, sizeof request - 1);
    int status = http_client_read(s, body, sizeof body);
    close(s);
    if (status == 200 && strstr(body, "Bob") != NULL && http_client_now() - begun < 2)
        return;
    printf("FAILED: after %s an honest request got %d in %.2f s\n", after, status,
           http_client_now() - begun);
    n_failed++;
}

static void run_raw(const char *name, const char *bytes, size_t n, int expected)
{
    int s = http_client_open();
    http_client_send(s, bytes, n);
    int status = http_client_read(s, NULL, 0);
    close(s);
    n_run++;
    bool is_good = expected == REFUSED ? status == 0 || status >= 400 : status == expected;
    if (!is_good) {
        printf("FAILED: %s got %d, not %d\n", name, status, expected);
        n_failed++;
    }
    check_honest(name);
}

static void run_text(const char *name, const char *text, int expected)
{
    run_raw(name, text, strlen(text), expected);
}

#define BODY(literal) literal, sizeof(literal) - 1

/* A request with a body. */
static void run_post(const char *name, const char *path, const char *type, const char *body,
                     size_t n, int expected)
{
    char *text = malloc(n + 1000);
    int head = snprintf(text, 1000,
                        "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        path, type, n);
    memcpy(text + head, body, n);
    run_raw(name, text, (size_t)head + n, expected);
    free(text);
}

/* ---- tables ---- */

static void run_methods(void)
{
    static const char *const methods[] = {"PUT",     "DELETE", "PATCH", "TRACE",
                                          "OPTIONS", "FOO",    "get"};
    static const char *const paths[] = {"/sparql", "/api/ask", "/mcp", "/healthz"};
    for (size_t i = 0; i < 7; i++) {
        for (size_t j = 0; j < 4; j++) {
            char text[200];
            snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", methods[i], paths[j]);
            run_text(text, text, 405);
        }
    }
    run_text("GET /mcp", "GET /mcp HTTP/1.1\r\nHost: x\r\n\r\n", 405);
}

static void run_paths(void)
{
    static const char *const paths[] = {"/../etc/passwd",
                                        "/%2e%2e/%2e%2e/etc/passwd",
                                        "/api/../../etc/passwd",
                                        "//etc/passwd",
                                        "/sparql/../g",
                                        "/sparql/%2fetc%2fpasswd",
                                        "/sparql/g.tsv",
                                        "/api/ask/..",
                                        "/api/",
                                        "/api/nope",
                                        "/api/ask%00",
                                        "/sparql/..%5c..%5cwindows",
                                        "/.git/config",
                                        "/page",
                                        "/page/../page.c",
                                        "/favicon.ico",
                                        "/api/ask/extra",
                                        "/SPARQL",
                                        "/openapi.json/..",
                                        "/~root",
                                        "/cgi-bin/x"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char text[300];
        snprintf(text, sizeof text, "GET %s?query=ASK%%7B%%7D HTTP/1.1\r\nHost: x\r\n\r\n",
                 paths[i]);
        run_text(paths[i], text, strstr(paths[i], "%00") != NULL ? 400 : 404);
    }
}

static void run_bodies(void)
{
    static const struct {
        const char *name, *body;
    } rows[] = {
        {"no json", "{"},
        {"json array", "[]"},
        {"json text", "\"x\""},
        {"json number", "1"},
        {"json null", "null"},
        {"json twice", "{} {}"},
        {"no query", "{}"},
        {"query number", "{\"query\":1}"},
        {"query list", "{\"query\":[]}"},
        {"same name twice", "{\"query\":\"a\",\"query\":\"b\"}"},
        {"bad utf-8", "{\"query\":\"\xff\xfe\"}"},
        {"lone surrogate", "{\"query\":\"\\ud800\"}"},
        {"json nul", "{\"query\":\"knows(x,y)\\u0000\"}"},
        {"limit text", "{\"query\":\"knows(x,y)\",\"limit\":\"many\"}"},
        {"limit zero", "{\"query\":\"knows(x,y)\",\"limit\":0}"},
        {"limit huge", "{\"query\":\"knows(x,y)\",\"limit\":1e18}"},
        {"time huge", "{\"query\":\"knows(x,y)\",\"time\":1e9}"},
        {"time negative", "{\"query\":\"knows(x,y)\",\"time\":-1}"},
        {"min_p two", "{\"query\":\"knows(x,y)\",\"min_p\":2}"},
        {"unknown relation", "{\"query\":\"nope(x,y)\"}"},
        {"unknown entity", "{\"query\":\"knows(x,\\\"nobody\\\")\"}"},
        {"bad query", "{\"query\":\"knows(x\"}"},
        {"empty query", "{\"query\":\"\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_post(rows[i].name, "/api/ask", "application/json", rows[i].body, strlen(rows[i].body),
                 400);
    run_post("wrong type", "/api/ask", "text/plain", BODY("x"), 415);
    run_post("no such graph", "/api/ask", "application/json",
             BODY("{\"query\":\"knows(x,y)\",\"graph\":\"x\"}"), REFUSED);
    run_post("nul body", "/sparql", "application/sparql-query", BODY("ASK {}\0"), 400);
    run_post("check values", "/api/check", "application/json",
             BODY("{\"query\":\"knows(x,y)\",\"values\":[1,2]}"), 400);
    run_post("check too few", "/api/check", "application/json",
             BODY("{\"query\":\"knows(x,y)\",\"values\":[\"Ann\"]}"), 400);
    run_post("update", "/sparql", "application/x-www-form-urlencoded", BODY("update=DROP+ALL"),
             403);
    run_post("dataset", "/sparql", "application/x-www-form-urlencoded",
             BODY("query=ASK+%7B%7D&default-graph-uri=x"), 200); /* there is no such graph */
    run_post("dataset of no text", "/sparql", "application/json",
             BODY("{\"query\":\"ASK {}\",\"named-graph-uri\":[1]}"), 400);
    run_post("file as a graph", "/sparql", "application/sparql-query",
             BODY("SELECT * FROM <file:///etc/passwd> { ?s ?p ?o }"), 200); /* nor is it read */
}

static void run_queries(void)
{
    static const char *const bad[] = {
        "SELECT",
        "SELECT *",
        "SELECT * {",
        "SELECT * { ?x",
        "ASK { ?x <knows> \"a }",
        "SELECT ?x {",
        "ASK { FILTER(",
        "ASK { ?x <knows> ?y OPTIONAL { ?y ?p ?o } }",
        "DROP ALL",
        "INSERT DATA {}",
        "SELECT (COUNT(*) AS ?n) {}",
        "ASK { SERVICE <http://x> {} }",
        "LOAD <file:///etc/passwd>",
        "ASK { BIND(1 AS ?x) }",
        "ASK { ?x <knows> ?y FILTER(regex(?x, \"(?<=a)b\", \"zz\") && NOFUNCTION(?x)) }",
        "PREFIX a: <b> ASK { c:d a:b ?x }",
        "ASK { ?x <http://a b> ?y }",
        "\xff\xfe",
        "ASK { << ?a ?b ?c >> ?d ?e }",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        run_post(bad[i], "/sparql", "application/sparql-query", bad[i], strlen(bad[i]), 400);
    static const char *const good[] = {
        "SELECT * { ?x <knows> ?y } LIMIT 1000000000000000000",
        "SELECT * { ?x <knows> ?y } OFFSET 18446744073709551615 LIMIT 18446744073709551615",
        "SELECT * { ?x <knows> ?y } LIMIT 0",
        "ASK {}",
        "SELECT * {}",
        "SELECT ?x { ?x <no such relation> ?y }",
        "SELECT * { ?x <knows> ?y FILTER(regex(str(?x), \"((a+)+)+$\")) }",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        run_post(good[i], "/sparql", "application/sparql-query", good[i], strlen(good[i]), 200);
}

/* Bombs: a piece many times over. */
static void run_bomb(const char *name, const char *before, const char *piece, size_t times,
                     const char *after, int expected)
{
    size_t n = strlen(piece), at = strlen(before);
    char *text = malloc(at + n * times + strlen(after) + 1);
    strcpy(text, before);
    for (size_t i = 0; i < times; i++, at += n)
        memcpy(text + at, piece, n);
    strcpy(text + at, after);
    run_post(name, "/sparql", "application/sparql-query", text, strlen(text), expected);
    free(text);
}

static void run_bombs(void)
{
    char ends[991] = "";
    memset(ends, '}', 990);
    run_bomb("as deep as may be", "ASK ", "{", 990, ends, 200);
    run_bomb("nested groups", "ASK ", "{", 100000, "", 413);
    run_bomb("nested brackets", "ASK { FILTER(", "(", 100000, "", 413);
    run_bomb("nested blanks", "ASK { ?x ?p ", "[ ?p ", 100000, "", 413);
    run_bomb("nested lists", "ASK { ?x ?p ", "( ", 100000, "", 413);
    run_bomb("nested paths", "ASK { ?x ", "(", 100000, "", 413);
    run_bomb("long sum", "ASK { FILTER(1", "+1", 100000, " > 0) }", 413);
    run_bomb("nots", "ASK { FILTER(", "!", 100000, "true) }", 413);
    run_bomb("exists", "ASK ", "{ FILTER EXISTS ", 20000, "{}", 413);
    run_bomb("20,000 atoms", "ASK { ", "?a <knows> ?b . ", 20000, "}", 200);
    run_bomb("a million atoms", "ASK { ", "?a <knows> ?b . ", 1000000, "}", 413);
    run_bomb("long name", "ASK { ?x <", "aaaaaaaaaa", 50000, "> ?y }", 413);
    run_bomb("cross product", "SELECT * { ", "?a?p?b.", 1,
             "?c?q?d. ?e?r?f. ?g?s?h. ?i?t?j. ?k?u?l. "
             "?m?v?n. ?o?w?z. ?aa?ab?ac. ?ad?ae?af }",
             REFUSED);
    run_bomb("regex bomb", "ASK { VALUES ?x { \"", "a", 40,
             "b\" } FILTER(regex(?x, \"^(a|a)*$\")) }", REFUSED);
}

static void run_wire(void)
{
    static const struct {
        const char *name, *text;
        int expected;
    } rows[] = {
        {"garbage", "\x16\x03\x01\x02garbage\r\n\r\n", REFUSED},
        {"no version", "GET /healthz\r\n\r\n", REFUSED},
        {"version 9", "GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n", REFUSED},
        {"no host", "GET /healthz HTTP/1.1\r\n\r\n", REFUSED},
        {"two lengths",
         "POST /api/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
         "Content-Length: 20\r\n\r\n{}",
         400},
        {"two lengths, the shorter one last",
         "POST /api/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
         "Content-Length: 29\r\nContent-Length: 23\r\n\r\n{\"query\":\"knows(x, y)\"}GET /x",
         400},
        {"a length and chunks",
         "POST /api/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
         "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         400},
        {"an unknown coding",
         "POST /api/ask HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
         400},
        {"two codings",
         "POST /api/ask HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
         "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         400},
        {"two hosts", "GET /api/graph HTTP/1.1\r\nHost: x\r\nHost: evil.example.com\r\n\r\n", 400},
        {"negative length", "POST /api/ask HTTP/1.1\r\nHost: x\r\nContent-Length: -2\r\n\r\n{}",
         REFUSED},
        {"length no number", "POST /api/ask HTTP/1.1\r\nHost: x\r\nContent-Length: two\r\n\r\n{}",
         REFUSED},
        {"length overflow",
         "POST /api/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n{}",
         REFUSED},
        {"bad chunk",
         "POST /api/ask HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", REFUSED},
        {"empty chunks",
         "POST /api/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
         "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         400},
        {"space in path", "GET /api/ask ?query=x HTTP/1.1\r\nHost: x\r\n\r\n", REFUSED},
        {"bad percent", "GET /api/ask?query=%zz%1 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"bad utf-8 argument", "GET /api/ask?query=%ff%fe HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"nameless argument", "GET /api/ask?=x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"accept nothing",
         "GET /sparql?query=ASK%7B%7D HTTP/1.1\r\nHost: x\r\nAccept: image/png\r\n"
         "\r\n",
         406},
        {"accept nonsense",
         "GET /sparql?query=ASK%7B%7D HTTP/1.1\r\nHost: x\r\nAccept: ;;,,q=\r\n"
         "\r\n",
         406},
        {"head", "HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 200},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_text(rows[i].name, rows[i].text, rows[i].expected);
    char *large = malloc(300000);
    memset(large, 'a', 300000);
    memcpy(large, "GET /healthz HTTP/1.1\r\nHost: x\r\nX: ", 35);
    memcpy(large + 299990, "\r\n\r\n", 5);
    run_raw("huge header", large, 299994, REFUSED);
    memset(large, 'a', 300000);
    memcpy(large, "GET /api/ask?query=", 19);
    memcpy(large + 299950, " HTTP/1.1\r\nHost: x\r\n\r\n", 22);
    run_raw("long url", large, 299972, REFUSED);
    free(large);
}

/* Clients that say half and wait, or go. */
static void run_gone(void)
{
    static const char *const halves[] = {
        "GET /api/ask?query=knows(x,y) HTTP/1.1\r\nHost: x\r\n",
        ("POST /api/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
         "100"
         "\r\n\r\n{\"query\":"),
        "POST /api/ask HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "G",
        "",
    };
    int waiting[50];
    static const char lines[] =
        "GET /api/ask?query=knows(x,y)&stream=1 HTTP/1.1\r\nHost: x\r\n\r\n";
    for (size_t i = 0; i < 20; i++) {
        waiting[i] = http_client_open();
        http_client_send(waiting[i], lines, sizeof lines - 1);
        close(waiting[i]);
        n_run++;
    }
    check_honest("20 clients that take no line");
    for (size_t i = 0; i < 50; i++) {
        waiting[i] = http_client_open();
        http_client_send(waiting[i], halves[i % 5], strlen(halves[i % 5]));
        n_run++;
    }
    check_honest("50 clients that wait");
    for (size_t i = 0; i < 50; i++)
        close(waiting[i]);
    check_honest("50 clients that went");
    int s = http_client_open();
    char *flood = malloc(500 * 64), *at = flood;
    for (int i = 0; i < 500; i++)
        at += sprintf(at, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    http_client_send(s, flood, (size_t)(at - flood));
    check_honest("a flood of pipelined requests");
    close(s);
    free(flood);
    n_run++;
}

/* Who sends a byte now and then is cut off, however long that is kept up. */
static void run_slow(void)
{
    double begun = http_client_now();
    int s = http_client_open();
    http_client_send(s, "GET /healthz HTTP/1.1\r\nX: ", 26);
    struct pollfd ask = {.fd = s, .events = POLLIN | POLLRDHUP};
    bool is_cut = false;
    while (!is_cut && http_client_now() - begun < 20) {
        http_client_send(s, "a", 1);
        char byte;
        is_cut = poll(&ask, 1, 500) > 0 && recv(s, &byte, 1, 0) <= 0;
    }
    close(s);
    n_run++;
    if (!is_cut || http_client_now() - begun > 15) {
        printf("FAILED: a slow client was not cut off in 15 s\n");
        n_failed++;
    }
    check_honest("a slow client");
}

/* What is no message has 400; an error before the revision of 2026 is a response like any other. */
static void run_assistants(void)
{
    static const struct {
        const char *text;
        int expected;
    } rows[] = {
        {"", 400},
        {"{", 400},
        {"[]", 400},
        {"{}", 400},
        {"1", 400},
        {"null", 400},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", 400},
        {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", 400},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", 400},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}", 200},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", 200},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[]}", 400},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"add\"}}",
         200},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}", 400},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
         "\"io.modelcontextprotocol/protocolVersion\":\"1999\"}}}",
         400},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
         "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
         "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
         400},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_post(rows[i].text, "/mcp", "application/json", rows[i].text, strlen(rows[i].text),
                 rows[i].expected);
    run_post("an assistant's form", "/mcp", "application/x-www-form-urlencoded", BODY("a=b"), 415);
}

/* Pages of other sites, other names of this machine, writes where there are none. */
static void run_strangers(void)
{
    static const struct {
        const char *name, *text;
        int expected;
    } rows[] = {
        {"a foreign name", "GET /api/graph HTTP/1.1\r\nHost: evil.example.com\r\n\r\n", 403},
        {"a foreign name behind an address",
         "GET /api/graph HTTP/1.1\r\nHost: [::1].example.com\r\n\r\n", 403},
        {"an address", "GET /api/graph HTTP/1.1\r\nHost: [::1]:8321\r\n\r\n", 200},
        {"a foreign name with a port", "GET /api/graph HTTP/1.1\r\nHost: a.b:80\r\n\r\n", 403},
        {"a page of another site",
         "GET /api/graph HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example.com\r\n\r\n",
         403},
        {"a page without a site",
         "GET /api/graph HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n", 403},
        {"a page of this server",
         "GET /api/graph HTTP/1.1\r\nHost: localhost:1\r\nOrigin: http://localhost:1\r\n\r\n", 200},
        {"a write by GET", "GET /api/add HTTP/1.1\r\nHost: x\r\n\r\n", 403},
        {"no such argument", "GET /api/graph?minp=1 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"an argument twice", "GET /api/names?prefix=A&prefix=B HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"a query twice", "GET /sparql?query=ASK%7B%7D&query=ASK%7B%7D HTTP/1.1\r\nHost: x\r\n\r\n",
         400},
        {"half a number", "GET /api/names?prefix=A&limit=1.5 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"no flag", "GET /api/ask?query=knows(x,y)&explain=yes HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"no engine", "GET /api/ask?query=knows(x,y)&engine=rm HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        {"lines of a bad query", "GET /api/ask?query=knows(x&stream=1 HTTP/1.1\r\nHost: x\r\n\r\n",
         400},
        {"a description as a picture",
         "GET /sparql HTTP/1.1\r\nHost: x\r\nAccept: image/png\r\n\r\n", 406},
        {"a description", "GET /sparql HTTP/1.1\r\nHost: x\r\nAccept: text/turtle\r\n\r\n", 200},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_text(rows[i].name, rows[i].text, rows[i].expected);
    run_post("a write", "/api/remove", "application/json", BODY("{\"facts\":[]}"), 403);
    run_post("an update", "/sparql", "application/sparql-update", BODY("DROP ALL"), 403);
}

static void run_tokens(void)
{
    static const struct {
        const char *header;
        int expected;
    } rows[] = {
        {"", 401},
        {"Authorization: Bearer \r\n", 401},
        {"Authorization: Bearer 0123456789abcde\r\n", 401},
        {"Authorization: Bearer 0123456789abcdef0\r\n", 401},
        {"Authorization: Bearer 0123456789abcdeg\r\n", 401},
        {"Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n", 401},
        {"Authorization: Basic 0123456789abcdef\r\n", 401},
        {"Authorization: 0123456789abcdef\r\n", 401},
        {"X-Authorization: Bearer 0123456789abcdef\r\n", 401},
        {"authorization: bearer 0123456789abcdef\r\n", 200},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[500];
        snprintf(text, sizeof text, "GET /api/graph HTTP/1.1\r\nHost: x\r\n%s\r\n", rows[i].header);
        run_text(rows[i].header, text, rows[i].expected);
    }
}

/* Ends the server; it must end by itself, in time and with 0. */
static void stop(pid_t child)
{
    int status = -1;
    double begun = http_client_now();
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || http_client_now() - begun > 8) {
        printf("FAILED: the server ended with %d after %.1f s\n", status,
               http_client_now() - begun);
        n_failed++;
    }
}

int main(int argc, char **argv)
{
    char token[] = "/tmp/acq_token_XXXXXX";
    if (argc != 3)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    const char *options[] = {"--predictor", "observed", "--time", "2", "--token-file", token, NULL};
    options[4] = NULL;
    pid_t child = http_client_start(argv[1], argv[2], options);
    check_honest("the start");
    run_methods();
    run_paths();
    run_bodies();
    run_queries();
    run_bombs();
    run_wire();
    run_assistants();
    run_strangers();
    run_gone();
    run_slow();
    stop(child);
    int file = mkstemp(token);
    if (file < 0 || write(file, "0123456789abcdef\n", 17) != 17)
        return 1;
    close(file);
    options[4] = "--token-file";
    child = http_client_start(argv[1], argv[2], options);
    run_tokens();
    stop(child);
    unlink(token);
    printf("%d hostile requests, %d failures\n", n_run, n_failed);
    return n_failed > 0 || n_run < 120;
}
