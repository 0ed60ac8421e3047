/* scale_table.c - the results of bench/scale as a Markdown table and a plot.
 *
 *   bench_scale_table PLOT.svg RESULTS.jsonl
 *
 * One column per size; the goals, for 5 million entities and 20 million facts, are held against
 * the last. Both axes of the plot are logarithmic: flat lines mean that a query costs the same in
 * a graph a hundred times as large. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "plot.h"

typedef struct row {
    const char *label;
    const char *field, *part; /* lines[field][part], or lines[field] when part is NULL */
    double unit;              /* what is shown is the number times this */
    int digits;
    double goal; /* 0: none */
    bool is_least;
} row;

static const row rows[] = {
    {"facts, M", "facts", NULL, 1e-6, 1, 0, false},
    {"import, M facts/s", "rate", NULL, 1e-6, 2, 0.7, true},
    {"import, processor s", "cpu_seconds", NULL, 1, 1, 0, false},
    {"import, peak memory, MB", "peak_mb", NULL, 1, 0, 4000, false},
    {"file, MB", "file_mb", NULL, 1, 0, 1500, false},
    {"opening, median ms", "open", "p50", 1, 1, 50, false},
    {"opening, largest", "open", "max", 1, 1, 50, false},
    {"first query, median ms", "first", "p50", 1, 1, 300, false},
    {"first query, largest", "first", "max", 1, 1, 0, false},
    {"first query, processor ms", "first_cpu", "p50", 1, 1, 0, false},
    {"first query, file not in memory", "first_cold", "p50", 1, 1, 0, false},
    {"warm query, median ms", "warm", "p50", 1, 3, 5, false},
    {"warm query, p99", "warm", "p99", 1, 3, 50, false},
    {"warm query, largest", "warm", "max", 1, 3, 0, false},
    {"memory of a query, median MB", "memory_mb", "p50", 1, 3, 0, false},
    {"memory of a query, largest", "memory_mb", "max", 1, 3, 0, false},
    {"values tried per query", "nodes", NULL, 1, 3, 0, false},
    {"revisions per query", "revisions", NULL, 1, 1, 0, false},
    {"queries, planted and answered", "planted", NULL, 1, 0, 0, false},
    {"queries in all", "queries", NULL, 1, 0, 0, false},
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

static double get(const json_t *line, const char *field, const char *part)
{
    return part == NULL ? bench_number(line, field)
                        : bench_number(json_object_get(line, field), part);
}

static void print_entities(double n)
{
    if (n >= 1e6)
        printf(" %g M |", n / 1e6);
    else
        printf(" %g k |", n / 1e3);
}

static void print_row(const row *r, const json_t *sizes)
{
    size_t i;
    json_t *line;
    double last = NAN;
    printf("| %s |", r->label);
    json_array_foreach(sizes, i, line)
    {
        last = get(line, r->field, r->part) * r->unit;
        printf(" %.*f |", r->digits, last);
    }
    if (r->goal == 0)
        printf(" |\n");
    else
        printf(" %s %g: %s |\n", r->is_least ? "at least" : "under", r->goal,
               (r->is_least ? last >= r->goal : last < r->goal) ? "met" : "missed");
}

static void print_table(const json_t *sizes)
{
    size_t i;
    json_t *line;
    printf("\n| entities |");
    json_array_foreach(sizes, i, line) print_entities(bench_number(line, "entities"));
    printf(" goal |\n|---|");
    for (i = 0; i < json_array_size(sizes); i++)
        printf("---|");
    printf("---|\n");
    for (size_t r = 0; r < N_ROWS; r++)
        print_row(&rows[r], sizes);
}

static void draw(const json_t *sizes, const char *path)
{
    static const row drawn[] = {
        {.label = "first query", .field = "first", .part = "p50"},
        {.label = "opening", .field = "open", .part = "p50"},
        {.label = "warm query, p99", .field = "warm", .part = "p99"},
        {.label = "warm query, median", .field = "warm", .part = "p50"},
    };
    enum { N_DRAWN = sizeof drawn / sizeof drawn[0] };
    plot_series series[N_DRAWN];
    plot p = {.title = "What a query takes in graphs of growing size",
              .x_label = "entities, with four facts each",
              .y_label = "milliseconds",
              .n_points = json_array_size(sizes),
              .series = series,
              .n_series = N_DRAWN};
    if (p.n_points < 2 || p.n_points > PLOT_MOST_POINTS)
        return;
    for (size_t i = 0; i < p.n_points; i++) {
        const json_t *line = json_array_get(sizes, i);
        p.x[i] = bench_number(line, "entities");
        for (size_t s = 0; s < N_DRAWN; s++) {
            series[s].label = drawn[s].label;
            series[s].y[i] = get(line, drawn[s].field, drawn[s].part);
        }
    }
    plot_write(&p, path);
}

static void print_machine(const json_t *line)
{
    printf("%s, %s cores, load %s at the start; %s; commit %s.\n", bench_text(line, "cpu"),
           bench_text(line, "cores"), bench_text(line, "load"), bench_text(line, "system"),
           bench_text(line, "commit"));
}

/* One object per size: an import and the queries after it. */
static json_t *join_lines(const json_t *lines)
{
    json_t *sizes = json_array(), *line, *imported = NULL;
    size_t i;
    json_array_foreach(lines, i, line)
    {
        const char *kind = bench_text(line, "kind");
        double rate = bench_number(line, "facts") / bench_number(line, "seconds");
        if (strcmp(kind, "machine") == 0)
            print_machine(line);
        else if (strcmp(kind, "import") == 0 &&
                 json_object_set_new(line, "rate", json_real(rate)) == 0)
            imported = line;
        else if (imported != NULL && json_object_update_missing(line, imported) == 0)
            json_array_append(sizes, line);
    }
    return sizes;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        bench_die("bench_scale_table PLOT.svg RESULTS.jsonl");
    json_t *lines = bench_load_lines(argv[2]), *sizes = join_lines(lines);
    if (json_array_size(sizes) == 0)
        bench_die("there are no results");
    print_table(sizes);
    draw(sizes, argv[1]);
    json_decref(sizes);
    json_decref(lines);
    return 0;
}
