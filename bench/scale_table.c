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
#include "plot/plot.h"

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

/* ---- the picture ---- */

static const row drawn[] = {
    {.label = "first query", .field = "first", .part = "p50"},
    {.label = "opening", .field = "open", .part = "p50"},
    {.label = "warm query, p99", .field = "warm", .part = "p99"},
    {.label = "warm query, median", .field = "warm", .part = "p50"},
};

enum { N_DRAWN = sizeof drawn / sizeof drawn[0], MOST_SIZES = 16 };

/* Powers of ten that hold all that is drawn. */
static acq_plot_axis get_y_axis(const json_t *sizes)
{
    double low = INFINITY, high = -INFINITY;
    size_t i;
    json_t *line;
    json_array_foreach(sizes, i, line)
    {
        for (size_t s = 0; s < N_DRAWN; s++) {
            double y = log10(get(line, drawn[s].field, drawn[s].part));
            low = fmin(low, floor(y));
            high = fmax(high, ceil(y));
        }
    }
    high = fmax(high, low + 1);
    return (acq_plot_axis){ACQ_PLOT_LOG, pow(10, low), pow(10, high), 342, 52};
}

static acq_plot_axis get_x_axis(const json_t *sizes)
{
    double first = bench_number(json_array_get(sizes, 0), "entities");
    double last = bench_number(json_array_get(sizes, json_array_size(sizes) - 1), "entities");
    double margin = pow(last / first, .04);
    return (acq_plot_axis){ACQ_PLOT_LOG, first / margin, last * margin, 76, 570};
}

static void draw_line(acq_plot *plot, const acq_plot_axis *x, const acq_plot_axis *y,
                      const json_t *sizes, size_t s, acq_plot_label *label)
{
    acq_plot_spot spots[MOST_SIZES];
    size_t n = json_array_size(sizes);
    for (size_t i = 0; i < n; i++) {
        const json_t *line = json_array_get(sizes, i);
        spots[i].x = acq_plot_place(x, bench_number(line, "entities"));
        spots[i].y = acq_plot_place(y, get(line, drawn[s].field, drawn[s].part));
    }
    acq_plot_add_line(plot, spots, n, s);
    for (size_t i = 0; i < n; i++)
        acq_plot_add_disc(plot, spots[i], 3.5, s, NULL);
    *label = (acq_plot_label){.end = spots[n - 1], .series = s};
    snprintf(label->text, sizeof label->text, "%s", drawn[s].label);
}

static void draw(const json_t *sizes, const char *path)
{
    acq_plot plot;
    acq_plot_label labels[N_DRAWN];
    acq_error error = {0};
    if (json_array_size(sizes) < 2 || json_array_size(sizes) > MOST_SIZES)
        return;
    acq_plot_axis x = get_x_axis(sizes), y = get_y_axis(sizes);
    acq_plot_begin(&plot, 720, 400, "What a query takes in graphs of growing size", NULL);
    for (double power = y.low; power <= y.high * 1.001; power *= 10)
        acq_plot_add_level(&plot, &x, &y, power, true);
    for (size_t i = 0; i < json_array_size(sizes); i++)
        acq_plot_add_column(&plot, &x, &y, bench_number(json_array_get(sizes, i), "entities"),
                            true);
    acq_plot_add_x_name(&plot, &x, 386, "entities, with four facts each");
    acq_plot_add_y_name(&plot, &y, 20, "milliseconds");
    for (size_t s = 0; s < N_DRAWN; s++)
        draw_line(&plot, &x, &y, sizes, s, &labels[s]);
    acq_plot_add_labels(&plot, labels, N_DRAWN, &x, &y);
    bench_need(acq_plot_finish(&plot, path, "the picture", &error), &error);
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
