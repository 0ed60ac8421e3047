/* policy_table.c - the lines of bench/policy as Markdown tables, a plot and one JSON document.
 *
 *   bench_policy_table OUT.json PLOT.svg RESULTS.jsonl...
 *
 * Times are held against the bars of the project where a table has such a column: on FB15k-237 a
 * query with an answer takes at most 30 ms in the mean (goal 10), all 200 steps at most 300 ms
 * (goal 100), on NELL at most twice that; with d = 128 all steps at most 2.5 s; training takes at
 * least 2,000 episodes a second (goal 5,000). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "policy_plot.h"

typedef struct bar {
    double bar, goal; /* 0: none */
    bool is_least;
} bar;

static bool is_kind(const json_t *line, const char *kind)
{
    return strcmp(bench_text(line, "kind"), kind) == 0;
}

static bool is_true(const json_t *line, const char *name)
{
    return json_is_true(json_object_get(line, name));
}

static void print_bar(double value, bar b)
{
    if (b.bar == 0) {
        printf(" - |\n");
        return;
    }
    bool is_met = b.is_least ? value >= b.bar : value <= b.bar;
    bool is_goal = b.is_least ? value >= b.goal : value <= b.goal;
    printf(" %s %g: %s", b.is_least ? "at least" : "at most", b.bar, is_met ? "met" : "missed");
    if (b.goal > 0)
        printf(", goal %g: %s", b.goal, is_goal ? "met" : "missed");
    printf(" |\n");
}

/* The bar of a line of benchmark queries. */
static bar get_bar(const json_t *line)
{
    const char *graph = bench_text(line, "graph");
    bool is_nell = strcmp(graph, "NELL") == 0, is_fb = strcmp(graph, "FB15k-237") == 0;
    double factor = is_nell ? 2 : 1;
    if ((!is_nell && !is_fb) || strcmp(bench_text(line, "world"), "perfect") != 0)
        return (bar){0};
    if (bench_number(line, "dim") > 100)
        return (bar){.bar = is_fb && is_true(line, "all_steps") ? 2500 : 0};
    if (is_true(line, "all_steps"))
        return (bar){.bar = 300 * factor, .goal = 100 * factor};
    return (bar){.bar = 30 * factor, .goal = 10 * factor};
}

/* File name without its ending. */
static void print_place(const json_t *line)
{
    const char *name = bench_text(line, "file"), *dot = strrchr(name, '.');
    printf("| %s | %.*s | %s | %.0f |", bench_text(line, "graph"),
           (int)(dot == NULL ? strlen(name) : (size_t)(dot - name)), name,
           bench_text(line, "world"), bench_number(line, "dim"));
}

static void print_number(double value, int digits)
{
    if (isnan(value))
        printf(" - |");
    else
        printf(" %.*f |", digits, value);
}

static void print_field(const json_t *line, const char *name, int digits)
{
    print_number(bench_number(line, name), digits);
}

static double get_share(const json_t *line)
{
    return 100.0 * bench_number(line, "answered") / bench_number(line, "queries");
}

static void print_classes(const json_t *line)
{
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(line, "classes"), i, value)
        print_number(json_is_number(value) ? json_number_value(value) : (double)NAN, 0);
}

static void print_answered(const json_t *line)
{
    print_place(line);
    print_field(line, "queries", 0);
    print_number(get_share(line), 1);
    print_field(line, "mean", 2);
    print_field(line, "p50", 2);
    print_field(line, "p99", 2);
    print_field(line, "max", 1);
    print_field(line, "cpu_ms", 2);
    print_field(line, "setup_ms", 2);
    print_field(line, "steps", 1);
    print_field(line, "last_classes", 0);
    print_bar(bench_number(line, "mean"), get_bar(line));
}

static void print_unanswered(const json_t *line)
{
    print_place(line);
    print_field(line, "queries", 0);
    print_field(line, "answered", 0);
    print_field(line, "at_once", 0);
    print_field(line, "mean", 2);
    print_field(line, "p50", 2);
    print_field(line, "p99", 2);
    print_field(line, "max", 1);
    printf("\n");
}

static void print_all_steps(const json_t *line)
{
    print_place(line);
    printf(" %s |", is_true(line, "with_answer") ? "yes" : "no");
    print_field(line, "queries", 0);
    print_field(line, "mean", 1);
    print_field(line, "max", 1);
    print_field(line, "cpu_ms", 1);
    print_field(line, "setup_ms", 2);
    print_field(line, "step_ms", 3);
    print_classes(line);
    print_field(line, "gflop", 2);
    print_field(line, "gflops", 1);
    print_number(100.0 * bench_number(line, "gflops") / bench_number(line, "peak"), 0);
    print_bar(bench_number(line, "mean"), get_bar(line));
}

static void print_large(const json_t *line)
{
    printf("| %s |", bench_text(line, "graph"));
    print_field(line, "entities", 0);
    print_field(line, "facts", 0);
    print_field(line, "queries", 0);
    print_number(get_share(line), 1);
    print_field(line, "mean", 2);
    print_field(line, "p50", 2);
    print_field(line, "p99", 2);
    print_field(line, "cpu_ms", 2);
    print_field(line, "setup_ms", 2);
    print_field(line, "steps", 1);
    print_field(line, "step_ms", 3);
    print_field(line, "last_classes", 0);
    print_field(line, "memory_mb", 1);
    print_field(line, "process_mb", 0);
    printf("\n");
}

static void print_training(const json_t *line)
{
    bool is_shown = strcmp(bench_text(line, "graph"), "FB15k-237") == 0;
    bar b = {.bar = is_shown ? 2000 : 0, .goal = 5000, .is_least = true};
    printf("| %s |", bench_text(line, "graph"));
    print_field(line, "dim", 0);
    print_field(line, "threads", 0);
    print_field(line, "seeds", 0);
    print_field(line, "batches", 0);
    print_field(line, "episodes", 0);
    print_field(line, "first_rate", 0);
    print_field(line, "rate", 0);
    print_number(100.0 * bench_number(line, "solved"), 1);
    print_bar(bench_number(line, "rate"), b);
}

/* ---- the tables ---- */

static bool is_answered(const json_t *line)
{
    return is_kind(line, "policy") && !is_true(line, "all_steps") && is_true(line, "with_answer");
}

static bool is_unanswered(const json_t *line)
{
    return is_kind(line, "policy") && !is_true(line, "all_steps") && !is_true(line, "with_answer");
}

static bool is_all_steps(const json_t *line)
{
    return is_kind(line, "policy") && is_true(line, "all_steps");
}

static bool is_large(const json_t *line)
{
    return is_kind(line, "policy-large");
}

static bool is_training(const json_t *line)
{
    return is_kind(line, "policy-train");
}

typedef struct table {
    const char *title;
    const char *columns; /* "a | b" */
    bool (*is_row)(const json_t *line);
    void (*print_row)(const json_t *line);
} table;

static const table tables[] = {
    {"Queries with an answer, ms per query, early stop",
     "graph | file | links | d | queries | solved % | mean | p50 | p99 | max | cpu | set-up | "
     "steps | "
     "classes at the end | bar",
     is_answered, print_answered},
    {"Queries without an answer, ms per query: most end at once, where the links of one atom say "
     "so",
     "graph | file | links | d | queries | answered | at once | mean | p50 | p99 | max",
     is_unanswered, print_unanswered},
    {"All 200 steps, ms per query",
     "graph | file | links | d | has an answer | queries | mean | max | cpu | set-up | ms a step | "
     "classes at step 1 | 15 | 50 | 100 | 200 | GFLOP | GFLOPS | % of peak | bar",
     is_all_steps, print_all_steps},
    {"Hub-like queries of 12 to 18 terms drawn from a graph, ms per query, early stop",
     "graph | entities | facts | queries | solved % | mean | p50 | p99 | cpu | set-up | steps | ms "
     "a "
     "step | classes at the end | MB a query | MB of the process",
     is_large, print_large},
    {"Training on the nine small shapes, episodes a second",
     "graph | d | threads | seeds | batches of a seed | episodes | first 100 batches | all | "
     "solved at the end % | bar",
     is_training, print_training},
};

enum { N_TABLES = sizeof tables / sizeof tables[0] };

static void print_head(const table *t)
{
    printf("\n### %s\n\n| %s |\n|", t->title, t->columns);
    printf("---|");
    for (const char *at = t->columns; *at != '\0'; at++)
        if (*at == '|')
            printf("---|");
    printf("\n");
}

static void print_table(const table *t, const json_t *lines)
{
    size_t i;
    json_t *line;
    bool is_begun = false;
    json_array_foreach(lines, i, line)
    {
        if (!t->is_row(line))
            continue;
        if (!is_begun)
            print_head(t);
        is_begun = true;
        t->print_row(line);
    }
}

/* ---- before and after ---- */

static void print_machine(const json_t *lines)
{
    size_t i;
    json_t *line;
    double low = INFINITY, high = 0, machine = 0;
    const char *kernels = "";
    json_array_foreach(lines, i, line)
    {
        if (is_kind(line, "machine"))
            printf("%s, %s cores, load %s at the start, %s, commit %s; one thread, median of five "
                   "runs.\n",
                   bench_text(line, "cpu"), bench_text(line, "cores"), bench_text(line, "load"),
                   bench_text(line, "system"), bench_text(line, "commit"));
        if (is_kind(line, "note"))
            printf("%s\n", bench_text(line, "text"));
        if (is_kind(line, "peak")) {
            low = fmin(low, bench_number(line, "gflops"));
            high = fmax(high, bench_number(line, "gflops"));
            machine = fmax(machine, bench_number(line, "machine"));
            kernels = bench_text(line, "kernels");
        }
    }
    if (high > 0)
        printf("Peak of our matrix products (%s) in these runs: %.0f to %.0f GFLOPS; of "
               "multiply-adds in registers: %.0f.\n",
               kernels, low, high, machine);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        bench_die("bench_policy_table OUT.json PLOT.svg RESULTS.jsonl...");
    json_t *lines = bench_load_files(argv + 3, argc - 3);
    print_machine(lines);
    for (size_t i = 0; i < N_TABLES; i++)
        print_table(&tables[i], lines);
    policy_plot_write(lines, argv[2]);
    if (json_dump_file(lines, argv[1], JSON_INDENT(1) | JSON_REAL_PRECISION(9)) != 0)
        bench_die("cannot write %s", argv[1]);
    json_decref(lines);
    return 0;
}
