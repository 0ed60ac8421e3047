/* fit_table.c - the results of bench/fits as a Markdown table and a plot.
 *
 *   bench_fit_table PLOT.svg RESULTS.jsonl
 *
 * One line of JSON for each size, in the order of the sizes: what a fit took and how good it is.
 * The plot has two panels over the number of entities: costs, both axes logarithmic, where a
 * straight line of slope one is a cost that is linear; and shares, where flat lines are a quality
 * that does not fall. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "plot/plot.h"

typedef struct row {
    const char *label, *field;
    double unit; /* what is shown is the number times this */
    int digits;
} row;

static const row rows[] = {
    {"facts seen", "facts", 1, 0},
    {"hidden between known entities", "hidden", 1, 0},
    {"`--time`, s", "limit", 1, 0},
    {"wall clock, s", "seconds", 1, 0},
    {"processor time, s", "cpu_seconds", 1, 0},
    {"peak memory, MB", "peak_mb", 1, 0},
    {"disk besides the store, MB", "disk_mb", 1, 0},
    {"rows scored", "rows", 1, 0},
    {"... of", "all_rows", 1, 0},
    {"filtered MRR", "mrr", 1, 3},
    {"p >= 0.5: said", "said", 1, 0},
    {"... right, %", "right", 100, 1},
    {"... of the hidden links, %", "recall", 100, 1},
    {"largest gap, bins of 200 or more", "gap", 1, 3},
};

enum { N_ROWS = sizeof rows / sizeof rows[0], MOST_SIZES = 16, WIDTH = 720 };

static void print_entities(double n)
{
    if (n >= 1e6)
        printf(" %.3g M |", n / 1e6);
    else
        printf(" %.3g k |", n / 1e3);
}

static void print_table(const json_t *sizes)
{
    size_t i;
    json_t *line;
    printf("| entities |");
    json_array_foreach(sizes, i, line) print_entities(bench_number(line, "entities"));
    printf("\n|---|");
    for (i = 0; i < json_array_size(sizes); i++)
        printf("---|");
    printf("\n");
    for (size_t r = 0; r < N_ROWS; r++) {
        printf("| %s |", rows[r].label);
        json_array_foreach(sizes, i, line)
            printf(" %.*f |", rows[r].digits, bench_number(line, rows[r].field) * rows[r].unit);
        printf("\n");
    }
}

/* ---- the picture ---- */

typedef struct panel {
    const char *name;
    const row *drawn;
    size_t n;
    acq_plot_axis y;
} panel;

static const row costs[] = {{"processor seconds", "cpu_seconds", 1, 0},
                            {"peak memory, MB", "peak_mb", 1, 0},
                            {"disk, MB", "disk_mb", 1, 0}};
static const row qualities[] = {{"right, of p >= 0.5", "right", 100, 0},
                                {"filtered MRR", "mrr", 100, 0},
                                {"found with p >= 0.5", "recall", 100, 0},
                                {"largest gap", "gap", 100, 0}};

static acq_plot_axis get_x_axis(const json_t *sizes)
{
    double first = bench_number(json_array_get(sizes, 0), "entities");
    double last = bench_number(json_array_get(sizes, json_array_size(sizes) - 1), "entities");
    double margin = pow(last / first, .04);
    return (acq_plot_axis){ACQ_PLOT_LOG, first / margin, last * margin, 76, 540};
}

/* Powers of ten that hold all that is drawn. */
static void fit_y_axis(panel *p, const json_t *sizes)
{
    double low = INFINITY, high = -INFINITY;
    size_t i;
    json_t *line;
    json_array_foreach(sizes, i, line) for (size_t s = 0; s < p->n; s++)
    {
        double y = log10(fmax(1, bench_number(line, p->drawn[s].field)));
        low = fmin(low, floor(y));
        high = fmax(high, ceil(y));
    }
    p->y.low = pow(10, low);
    p->y.high = pow(10, fmax(high, low + 1));
}

static void add_levels(acq_plot *plot, const acq_plot_axis *x, const panel *p)
{
    if (p->y.scale == ACQ_PLOT_LOG)
        for (double power = p->y.low; power <= p->y.high * 1.001; power *= 10)
            acq_plot_add_level(plot, x, &p->y, power, true);
    else
        for (double share = p->y.low; share <= p->y.high; share += 20)
            acq_plot_add_level(plot, x, &p->y, share, true);
}

static void add_line(acq_plot *plot, const acq_plot_axis *x, const panel *p, const json_t *sizes,
                     size_t s, acq_plot_label *label)
{
    acq_plot_spot spots[MOST_SIZES];
    size_t n = json_array_size(sizes);
    for (size_t i = 0; i < n; i++) {
        const json_t *line = json_array_get(sizes, i);
        double value = bench_number(line, p->drawn[s].field) * p->drawn[s].unit;
        spots[i].x = acq_plot_place(x, bench_number(line, "entities"));
        spots[i].y = acq_plot_place(&p->y, fmax(value, p->y.low));
    }
    acq_plot_add_line(plot, spots, n, s);
    for (size_t i = 0; i < n; i++)
        acq_plot_add_disc(plot, spots[i], 3.5, s, NULL);
    *label = (acq_plot_label){.end = spots[n - 1], .series = s};
    snprintf(label->text, sizeof label->text, "%s", p->drawn[s].label);
}

static void draw_panel(acq_plot *plot, panel *p, const json_t *sizes)
{
    acq_plot_label labels[sizeof qualities / sizeof qualities[0]];
    acq_plot_axis x = get_x_axis(sizes);
    add_levels(plot, &x, p);
    for (size_t i = 0; i < json_array_size(sizes); i++)
        acq_plot_add_column(plot, &x, &p->y, bench_number(json_array_get(sizes, i), "entities"),
                            true);
    acq_plot_add_y_name(plot, &p->y, 20, p->name);
    for (size_t s = 0; s < p->n; s++)
        add_line(plot, &x, p, sizes, s, &labels[s]);
    acq_plot_add_labels(plot, labels, p->n, &x, &p->y);
}

static void draw(const json_t *sizes, const char *path)
{
    acq_plot plot;
    acq_error error = {0};
    panel cost = {"cost", costs, sizeof costs / sizeof costs[0], {ACQ_PLOT_LOG, 1, 10, 270, 52}};
    panel quality = {"percent",
                     qualities,
                     sizeof qualities / sizeof qualities[0],
                     {ACQ_PLOT_LINEAR, 0, 100, 560, 320}};
    if (json_array_size(sizes) < 2 || json_array_size(sizes) > MOST_SIZES)
        return;
    fit_y_axis(&cost, sizes);
    acq_plot_axis x = get_x_axis(sizes);
    acq_plot_begin(&plot, WIDTH, 620, "A fit in pieces of made-up worlds of growing size", NULL);
    draw_panel(&plot, &cost, sizes);
    draw_panel(&plot, &quality, sizes);
    acq_plot_add_x_name(&plot, &x, 604, "entities, with some five facts each");
    bench_need(acq_plot_finish(&plot, path, "the picture", &error), &error);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        bench_die("bench_fit_table PLOT.svg RESULTS.jsonl");
    json_t *lines = bench_load_lines(argv[2]);
    if (json_array_size(lines) == 0)
        bench_die("there are no results");
    print_table(lines);
    draw(lines, argv[1]);
    json_decref(lines);
    return 0;
}
