/* doors.c - one question, one answer: 100 queries through the command, the JSON API, its lines, the
 * SPARQL Protocol and the Model Context Protocol (over HTTP and over standard input) give the same
 * tuples with the same p, on a made-up company with facts hidden. Also: facts that are added
 * through one door are seen through the others, names that hold HTML and terminal escapes come back
 * as data, and the OpenAPI document names what is there.
 *
 * usage: doors PROGRAM MAKE_WORLD
 *        doors --queries MAKE_WORLD FOLDER    only makes the world and queries.txt, for other doors */
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/http_client.h"

enum { N_QUERIES = 100, MOST_FACTS = 4000, LIMIT = 5 };

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

typedef struct fact {
    char head[100], relation[60], tail[100];
} fact;

static fact facts[MOST_FACTS];
static size_t n_facts;
static char queries[N_QUERIES][1200];
static unsigned seed = 1;
static int n_failed, n_predicted, n_answers;

static void fail(const char *what, size_t i)
{
    printf("FAILED: query %zu, %s: %s\n", i, what, queries[i]);
    n_failed++;
}

static void check(bool is_good, const char *what)
{
    if (is_good)
        return;
    printf("FAILED: %s\n", what);
    n_failed++;
}

/* ---- queries ---- */

static void read_facts(const char *path)
{
    FILE *file = fopen(path, "r");
    while (file != NULL && n_facts < MOST_FACTS &&
           fscanf(file, " %99[^\t] %59[^\t] %99[^\n]", facts[n_facts].head, facts[n_facts].relation,
                  facts[n_facts].tail) == 3)
        n_facts++;
    check(n_facts > 100, "the world has no facts");
    if (file != NULL)
        fclose(file);
}

static const fact *draw(void)
{
    seed = seed * 1664525u + 1013904223u;
    return &facts[(seed >> 8) % n_facts];
}

/* A fact about the entity at its head, or any. */
static const fact *draw_of(const char *head)
{
    for (size_t i = 0; i < n_facts; i++) {
        const fact *f = draw();
        if (strcmp(f->head, head) == 0)
            return f;
    }
    return draw();
}

/* <urn:anycq:NAME>; four at a time. */
static const char *iri(const char *name)
{
    static char rooms[4][400];
    static int which;
    char *out = rooms[which = (which + 1) % 4], *at = out + sprintf(out, "<urn:anycq:");
    for (; *name != '\0'; name++)
        at += sprintf(at, "%%%02X", (unsigned char)*name);
    strcpy(at, ">");
    return out;
}

static void make_query(char *out, size_t room, size_t i)
{
    const fact *a = draw(), *b = draw_of(a->head), *c = draw_of(a->tail);
    switch (i % 10) {
    case 0:
        snprintf(out, room, "Q(x) := %s(\"%s\", x)", a->relation, a->head);
        return;
    case 1:
        snprintf(out, room, "%s(x, \"%s\")", a->relation, a->tail);
        return;
    case 2:
        snprintf(out, room, "Q(x) := exists y. %s(\"%s\", y) & %s(y, x)", a->relation, a->head,
                 c->relation);
        return;
    case 3:
        snprintf(out, room, "Q(x) := %s(x, \"%s\") & %s(x, \"%s\")", a->relation, a->tail,
                 b->relation, b->tail);
        return;
    case 4:
        snprintf(out, room, "Q(x) := %s(x, \"%s\") & !%s(x, \"%s\")", a->relation, a->tail,
                 b->relation, b->tail);
        return;
    case 5:
        snprintf(out, room, "Q(x) := %s(x, \"%s\") | %s(x, \"%s\")", a->relation, a->tail,
                 b->relation, b->tail);
        return;
    case 6:
        snprintf(out, room, "SELECT ?x { ?x %s %s }", iri(a->relation), iri(a->tail));
        return;
    case 7:
        snprintf(out, room, "SELECT DISTINCT ?x { %s %s/%s ?x }", iri(a->head), iri(a->relation),
                 iri(c->relation));
        return;
    case 8:
        snprintf(out, room, "SELECT ?x ?y { %s %s ?x . ?y %s ?x }", iri(a->head), iri(a->relation),
                 iri(a->relation));
        return;
    default:
        snprintf(out, room, "Q() := exists y. %s(\"%s\", y) & %s(y, \"%s\")", a->relation, a->head,
                 c->relation, c->tail);
    }
}

/* ---- what a door says: tuples with p, in an order of their own ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One text of all answers; the reference is stolen. */
static char *canonical(json_t *answers)
{
    size_t n = json_array_size(answers), used = 0;
    char **texts = calloc(n + 1, sizeof *texts), *all = calloc(1, 1 << 20);
    for (size_t i = 0; i < n; i++) {
        const json_t *answer = json_array_get(answers, i);
        const json_t *p = json_object_get(answer, "p");
        json_t *kept = json_pack("{s:O,s:f}", "values", json_object_get(answer, "values"), "p",
                                 json_is_number(p) ? json_number_value(p) : -1.0);
        texts[i] = json_dumps(kept, JSON_COMPACT | JSON_SORT_KEYS);
        json_decref(kept);
    }
    qsort(texts, n, sizeof *texts, compare_texts);
    for (size_t i = 0; i < n; i++) {
        used += (size_t)snprintf(all + used, (1 << 20) - used, "%s\n", texts[i]);
        free(texts[i]);
    }
    free(texts);
    json_decref(answers);
    return all;
}

static void compare(const char *door, size_t i, const char *expected, json_t *answers)
{
    char *got = canonical(answers);
    if (strcmp(expected, got) != 0) {
        fail(door, i);
        printf("  the command:\n%s  %s:\n%s", expected, door, got);
    }
    free(got);
}

static json_t *make_arguments(size_t i)
{
    return json_pack("{s:s,s:i,s:f}", "query", queries[i], "limit", LIMIT, "min_p", 0.1);
}

static json_t *ask_api(size_t i)
{
    int status;
    json_t *arguments = make_arguments(i);
    char *body = json_dumps(arguments, 0), *answer = http_client_ask("/api/ask", "", body, &status);
    json_t *whole = json_loads(answer, 0, NULL);
    json_t *answers = json_incref(json_object_get(whole, "answers"));
    if (status != 200)
        printf("status %d: %s\n", status, answer);
    json_decref(whole);
    json_decref(arguments);
    free(answer);
    free(body);
    return answers;
}

static json_t *ask_lines(size_t i)
{
    int status;
    bool has_result = false;
    json_t *arguments = make_arguments(i), *answers = json_array();
    char *body = json_dumps(arguments, 0), *rest = NULL;
    char *text = http_client_ask("/api/ask", "Accept: application/x-ndjson\r\n", body, &status);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        json_t *object = json_loads(line, 0, NULL);
        json_t *answer = json_object_get(object, "answer");
        if (answer != NULL)
            json_array_append(answers, answer);
        has_result = has_result || json_object_get(object, "result") != NULL;
        json_decref(object);
    }
    if (!has_result)
        fail("the lines have no result", i);
    json_decref(arguments);
    free(text);
    free(body);
    return answers;
}

/* The tool's result in a response. */
static json_t *take_structured(const char *text, const char *member)
{
    json_t *whole = json_loads(text, 0, NULL);
    json_t *content = json_object_get(json_object_get(whole, "result"), "structuredContent");
    json_t *taken = json_incref(json_object_get(content, member));
    json_decref(whole);
    return taken;
}

static char *make_call(size_t i, bool is_new)
{
    json_t *arguments = make_arguments(i);
    char *given = json_dumps(arguments, JSON_COMPACT), *call = malloc(strlen(given) + 400);
    sprintf(call,
            "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"tools/call\",\"params\":{%s"
            "\"name\":\"ask\",\"arguments\":%s}}",
            i, is_new ? META "," : "", given);
    free(given);
    json_decref(arguments);
    return call;
}

static json_t *ask_mcp(size_t i)
{
    int status;
    char *call = make_call(i, true);
    char *answer = http_client_ask("/mcp",
                                   "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                                   "Mcp-Name: ask\r\n",
                                   call, &status);
    json_t *answers = take_structured(answer, "answers");
    free(answer);
    free(call);
    return answers;
}

/* Bindings with the names that the IRIs stand for. */
static json_t *ask_sparql(size_t i)
{
    int status;
    json_t *arguments = json_pack("{s:s,s:f}", "query", queries[i], "min_p", 0.1);
    char *body = json_dumps(arguments, 0);
    char *text =
        http_client_ask("/sparql", "Accept: application/sparql-results+json\r\n", body, &status);
    json_t *whole = json_loads(text, 0, NULL), *answers = json_array();
    json_t *rows = json_object_get(json_object_get(whole, "results"), "bindings");
    json_t *extra = json_object_get(json_object_get(whole, "anycq"), "rows");
    for (size_t r = 0; r < json_array_size(rows) && r < LIMIT; r++) {
        const char *name;
        json_t *term, *values = json_object();
        json_object_foreach(json_array_get(rows, r), name, term)
        {
            char plain[200], *to = plain;
            const char *at =
                json_string_value(json_object_get(term, "value")) + strlen("urn:anycq:");
            for (; *at != '\0'; at++) {
                unsigned code;
                if (*at == '%' && sscanf(at + 1, "%2X", &code) == 1)
                    at += 2;
                else
                    code = (unsigned char)*at;
                *to++ = (char)code;
            }
            *to = '\0';
            json_object_set_new(values, name, json_string(plain));
        }
        json_array_append_new(answers, json_pack("{s:o,s:O}", "values", values, "p",
                                                 json_object_get(json_array_get(extra, r), "p")));
    }
    json_decref(whole);
    json_decref(arguments);
    free(text);
    free(body);
    return answers;
}

/* ---- the command and its assistants' server, by way of files ---- */

static FILE *run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static FILE *run(const char *format, ...)
{
    char command[2000];
    va_list list;
    va_start(list, format);
    vsnprintf(command, sizeof command, format, list);
    va_end(list);
    return popen(command, "r");
}

static void write_lines(const char *path, bool is_mcp)
{
    FILE *file = fopen(path, "w");
    for (size_t i = 0; i < N_QUERIES; i++) {
        char *line = is_mcp ? make_call(i, i % 2 == 0) : strdup(queries[i]);
        fprintf(file, "%s\n", line);
        free(line);
    }
    fclose(file);
}

static void take_lines(FILE *from, char *(*take)(const char *line), char **out)
{
    char *line = NULL;
    size_t room = 0, n = 0;
    while (n < N_QUERIES && getline(&line, &room, from) > 0)
        out[n++] = take(line);
    check(n == N_QUERIES, "too few lines of output");
    for (; n < N_QUERIES; n++)
        out[n] = calloc(1, 1);
    free(line);
    pclose(from);
}

static char *take_command(const char *line)
{
    json_t *object = json_loads(line, 0, NULL);
    json_t *answers = json_incref(json_object_get(object, "answers"));
    for (size_t i = 0; i < json_array_size(answers); i++) {
        const json_t *kind = json_object_get(json_array_get(answers, i), "kind");
        n_predicted += strcmp(json_string_value(kind), "predicted") == 0;
        n_answers++;
    }
    json_decref(object);
    return canonical(answers);
}

static char *take_mcp(const char *line)
{
    return canonical(take_structured(line, "answers"));
}

/* ---- other facts about the doors ---- */

static char *get(const char *path)
{
    int status;
    char *text = http_client_ask(path, "", NULL, &status);
    if (status == 200)
        return text;
    printf("FAILED: %s gave %d: %s\n", path, status, text);
    n_failed++;
    return text;
}

/* What every path of the document says of GET and POST is so. */
static void check_openapi(void)
{
    char *text = get("/openapi.json");
    json_t *whole = json_loads(text, 0, NULL), *item;
    const char *path;
    json_object_foreach(json_object_get(whole, "paths"), path, item)
    {
        int get_status, post_status;
        char real[200];
        snprintf(real, sizeof real, "%s", strstr(path, "{graph}") != NULL ? "/sparql/g" : path);
        free(http_client_ask(real, "", NULL, &get_status));
        free(http_client_ask(real, "", "{}", &post_status));
        bool has_get = json_object_get(item, "get") != NULL;
        bool is_file = strcmp(path, "/") == 0 || strcmp(path, "/healthz") == 0 ||
                       strcmp(path, "/metrics") == 0 || strcmp(path, "/openapi.json") == 0;
        bool has_post = json_object_get(item, "post") != NULL || is_file;
        if ((get_status == 405 || get_status == 404) == has_get ||
            (post_status == 405) == has_post) {
            printf("FAILED: OpenAPI is wrong about %s: GET %d, POST %d\n", path, get_status,
                   post_status);
            n_failed++;
        }
    }
    json_decref(whole);
    free(text);
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* One door writes, the others see it; escapes and HTML are data everywhere. */
static void check_writes(void)
{
    static const char fact_text[] =
        "{\"facts\":[{\"head\":\"<script>alert(1)</script>\\u001b[31m\",\"relation\":\"member_of\","
        "\"tail\":\"a \\\"b\\\" & <i>\"}]}";
    int status;
    char *said = http_client_ask(
        "/api/ask", "", "{\"query\":\"member_of(x, y)\",\"new\":true,\"limit\":5,\"min_p\":0.01}",
        &status);
    check(status == 200 && has(said, "predicted") && !has(said, "\"kind\":\"observed\""), "new");
    free(said);
    said = http_client_ask("/api/add", "", fact_text, &status);
    check(status == 200 && has(said, "\"added\":1") && has(said, "\\u001B"), "add");
    free(said);
    said = http_client_ask("/api/add", "",
                           "{\"known\":true,\"facts\":[{\"head\":\"Nobody\","
                           "\"relation\":\"member_of\",\"tail\":\"x\"}]}",
                           &status);
    check(status == 400 && has(said, "Nobody"), "add with known");
    free(said);
    said = http_client_ask(
        "/api/ask", "", "{\"query\":\"member_of(x, \\\"a \\\\\\\"b\\\\\\\" & <i>\\\")\"}", &status);
    check(status == 200 && has(said, "<script>alert(1)</script>\\u001B[31m"), "ask sees the fact");
    free(said);
    const char *const accepts[] = {"application/sparql-results+json",
                                   "application/sparql-results+xml", "text/csv",
                                   "text/tab-separated-values"};
    for (size_t i = 0; i < 4; i++) {
        char header[200];
        snprintf(header, sizeof header, "Accept: %s\r\n", accepts[i]);
        said = http_client_ask("/sparql", header,
                               "{\"query\":\"SELECT ?x { ?x <urn:anycq:member_of> "
                               "<urn:anycq:a%20%22b%22%20%26%20%3Ci%3E> }\"}",
                               &status);
        check(status == 200 && has(said, "%3Cscript%3E") && !has(said, "<script>") &&
                  !has(said, "\x1b"),
              accepts[i]);
        free(said);
    }
    said = http_client_ask("/mcp", "MCP-Protocol-Version: 2025-11-25\r\n",
                           "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                           "\"name\":\"remove\",\"arguments\":{\"facts\":[{\"head\":"
                           "\"<script>alert(1)</script>\\u001b[31m\",\"relation\":\"member_of\","
                           "\"tail\":\"a \\\"b\\\" & <i>\"}]}}}",
                           &status);
    check(status == 200 && has(said, "\"removed\":1") && !has(said, "\x1b"),
          "remove by an assistant");
    free(said);
    said = http_client_ask("/api/remove", "", fact_text, &status);
    check(status == 400 || has(said, "\"not_there\":1"), "remove again");
    free(said);
}

static void check_queries(const char *program, const char *store)
{
    char *expected[N_QUERIES], *assistant[N_QUERIES];
    write_lines("queries.txt", false);
    write_lines("calls.txt", true);
    take_lines(run("%s ask %s --queries queries.txt --json --limit %d --min-p 0.1 2>/dev/null",
                   program, store, LIMIT),
               take_command, expected);
    take_lines(run("%s mcp %s <calls.txt 2>/dev/null", program, store), take_mcp, assistant);
    for (size_t i = 0; i < N_QUERIES; i++) {
        compare("the JSON API", i, expected[i], ask_api(i));
        compare("its lines", i, expected[i], ask_lines(i));
        compare("MCP over HTTP", i, expected[i], ask_mcp(i));
        if (strncmp(queries[i], "SELECT", 6) == 0 && i % 10 != 8)
            compare("SPARQL", i, expected[i], ask_sparql(i));
        if (strcmp(expected[i], assistant[i]) != 0)
            fail("MCP over standard input", i);
        free(expected[i]);
        free(assistant[i]);
    }
    printf("%d answers, %d predicted\n", n_answers, n_predicted);
    check(n_answers > 100 && n_predicted > 10, "too few answers to tell");
}

static void make_queries(const char *make_world)
{
    char command[2000];
    snprintf(command, sizeof command, "%s company 500 3 . >/dev/null", make_world);
    check(system(command) == 0, "no world was made");
    read_facts("observed.tsv");
    for (size_t i = 0; i < N_QUERIES; i++)
        make_query(queries[i], sizeof queries[i], i);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/acq_doors_XXXXXX", command[2000];
    const char *const options[] = {"--writable", NULL};
    if (argc == 4 && strcmp(argv[1], "--queries") == 0 && chdir(argv[3]) == 0) {
        make_queries(argv[2]);
        write_lines("queries.txt", false);
        return n_failed > 0;
    }
    if (argc != 3 || mkdtemp(folder) == NULL || chdir(folder) != 0)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    make_queries(argv[2]);
    snprintf(command, sizeof command, "%s import observed.tsv -o g.acq >/dev/null 2>&1", argv[1]);
    check(system(command) == 0, "no store was made");
    pid_t child = http_client_start(argv[1], "g.acq", options);
    check_queries(argv[1], "g.acq");
    check_openapi();
    check_writes();
    int status = -1;
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the server did not end well");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    check(system(command) == 0, "the folder stays");
    return n_failed > 0;
}
