/* table.c - the lines of the benchmark programs as Markdown tables and as one JSON document.
 *
 *   bench_table OUT.json LIMIT_SECONDS RESULTS.jsonl...
 *
 * Ratios are peer time over our time on the same queries in the same run: the geometric mean over
 * the queries that the peer finished, and the ratio of the sums over all, in which a query that
 * the peer did not finish counts the time limit, so that this one is a lower bound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static bool is_kind(const json_t *line, const char *kind)
{
    return strcmp(bench_text(line, "kind"), kind) == 0;
}

static bool same(const json_t *a, const json_t *b, const char *name)
{
    return json_equal(json_object_get(a, name), json_object_get(b, name));
}

static void print_machine(const json_t *lines)
{
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (is_kind(line, "machine"))
            printf("%s, %s cores, load %s at the start, %s, commit %s; one thread, median of five "
                   "runs.\n",
                   bench_text(line, "cpu"), bench_text(line, "cores"), bench_text(line, "load"),
                   bench_text(line, "system"), bench_text(line, "commit"));
        if (is_kind(line, "note"))
            printf("%s\n", bench_text(line, "text"));
    }
}

static void print_goal(const json_t *line)
{
    double goal = bench_number(line, "goal");
    if (isnan(goal))
        printf(" | - |\n");
    else
        printf(" | %.2f, max 10: %s |\n", goal,
               bench_number(line, "mean") <= goal && bench_number(line, "max") < 10.0 ? "met"
                                                                                      : "missed");
}

/* File name without .json. */
static void print_file(const json_t *line)
{
    const char *name = bench_text(line, "file"), *dot = strrchr(name, '.');
    printf("| %s | %.*s |", bench_text(line, "graph"),
           (int)(dot == NULL ? strlen(name) : (size_t)(dot - name)), name);
}

static void print_exact(const json_t *lines)
{
    size_t i;
    json_t *line;
    printf("\n### Exact search, ms per query\n\n"
           "| graph | file | world | queries | f1 | mean | p50 | p99 | max | nodes | revisions | "
           "goal |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    json_array_foreach(lines, i, line)
    {
        if (!is_kind(line, "exact"))
            continue;
        print_file(line);
        printf(" %s | %.0f |", bench_text(line, "world"), bench_number(line, "queries"));
        if (isnan(bench_number(line, "f1")))
            printf(" - |");
        else
            printf(" %.1f |", bench_number(line, "f1"));
        printf(" %.3f | %.3f | %.3f | %.3f | %.1f | %.1f", bench_number(line, "mean"),
               bench_number(line, "p50"), bench_number(line, "p99"), bench_number(line, "max"),
               bench_number(line, "nodes"), bench_number(line, "revisions"));
        print_goal(line);
    }
}

typedef struct comparison {
    size_t n, n_finished;
    double ours, theirs, logs;
} comparison;

/* The peer's line for a query, NULL when it has none. */
static const json_t *find_peer(const json_t *lines, const json_t *query, const char *peer)
{
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (is_kind(line, "peer") && strcmp(bench_text(line, "peer"), peer) == 0 &&
            same(line, query, "graph") && same(line, query, "file") &&
            same(line, query, "instance"))
            return line;
    }
    return NULL;
}

static void add_query(comparison *sum, const json_t *query, const json_t *answer)
{
    double ours = bench_number(query, "ms"), theirs = bench_number(answer, "ms");
    bool is_late = json_is_true(json_object_get(answer, "late"));
    sum->n++;
    sum->ours += ours;
    sum->theirs += theirs;
    sum->n_finished += !is_late;
    sum->logs += is_late ? 0.0 : log(theirs / ours);
}

static void print_comparison(const json_t *file, const char *peer, const comparison *sum)
{
    bool is_bound = sum->n_finished < sum->n;
    print_file(file);
    printf(" %s | %zu | %zu | %.3f | %s%.1f |", peer, sum->n, sum->n_finished,
           sum->ours / (double)sum->n, is_bound ? ">= " : "", sum->theirs / (double)sum->n);
    if (sum->n_finished == 0)
        printf(" - |");
    else
        printf(" %.0f |", exp(sum->logs / (double)sum->n_finished));
    printf(" %s%.0f |\n", is_bound ? ">= " : "", sum->theirs / sum->ours);
}

/* One row for the queries of `file` (an "exact" line) and this peer. */
static void compare_file(const json_t *lines, const json_t *file, const char *peer)
{
    comparison sum = {0};
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (!is_kind(line, "query") || !same(line, file, "graph") || !same(line, file, "file"))
            continue;
        const json_t *answer = find_peer(lines, line, peer);
        if (answer != NULL)
            add_query(&sum, line, answer);
    }
    if (sum.n > 0)
        print_comparison(file, peer, &sum);
}

/* Each peer once. */
static void print_versions(const json_t *lines)
{
    size_t i;
    json_t *line;
    const char *last = "";
    json_array_foreach(lines, i, line)
    {
        if (!is_kind(line, "version") || strcmp(bench_text(line, "peer"), last) == 0)
            continue;
        printf("%s%s %s", last[0] == '\0' ? "" : ", ", bench_text(line, "peer"),
               bench_text(line, "version"));
        last = bench_text(line, "peer");
    }
    printf(".\n");
}

static void print_peers(const json_t *lines, const char *limit)
{
    size_t i, j;
    json_t *version, *line;
    printf("\n### The same queries in SQL, closed world, ms per query, limit %s s\n\n"
           "| graph | file | peer | queries | finished | ours | peer | ratio (finished) | ratio of "
           "sums |\n|---|---|---|---|---|---|---|---|---|\n",
           limit);
    json_array_foreach(lines, j, version)
    {
        if (!is_kind(version, "version"))
            continue;
        json_array_foreach(lines, i, line)
        {
            if (is_kind(line, "exact") && strcmp(bench_text(line, "world"), "closed") == 0 &&
                same(line, version, "graph"))
                compare_file(lines, line, bench_text(version, "peer"));
        }
    }
    printf("\n");
    print_versions(lines);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        bench_die("bench_table OUT.json LIMIT_SECONDS RESULTS.jsonl...");
    json_t *lines = bench_load_files(argv + 3, argc - 3);
    print_machine(lines);
    print_exact(lines);
    print_peers(lines, argv[2]);
    if (json_dump_file(lines, argv[1], JSON_INDENT(1) | JSON_REAL_PRECISION(9)) != 0)
        bench_die("cannot write %s", argv[1]);
    json_decref(lines);
    return 0;
}
