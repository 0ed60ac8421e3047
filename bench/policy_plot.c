/* policy_plot.c - see policy_plot.h. The paper's figure shows the time of a step against the
 * variables of the query and divided by its variables, its literals and |y| + 2|Q|; the picture has
 * the time against variables and literals, the table the quotients. */
#include "policy_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "common.h"
#include "plot/plot.h"

enum { MOST_GRAPHS = 4, LEAST_IN_BIN = 3, MOST_BINS = 256 };

/* The queries of one graph. */
typedef struct cloud {
    const char *graph;
    double *variables, *literals, *ms; /* of the queries */
    size_t n;
} cloud;

static void cloud_init(cloud *c, const json_t *lines, const char *graph)
{
    size_t i, most = json_array_size(lines);
    json_t *line;
    *c = (cloud){.graph = graph};
    c->variables = acq_alloc(3 * most, sizeof *c->variables);
    if (c->variables == NULL)
        bench_die("out of memory");
    c->literals = c->variables + most;
    c->ms = c->literals + most;
    json_array_foreach(lines, i, line)
    {
        if (strcmp(bench_text(line, "kind"), "policy-steps") != 0 ||
            strcmp(bench_text(line, "graph"), graph) != 0)
            continue;
        c->variables[c->n] = bench_number(line, "variables");
        c->literals[c->n] = bench_number(line, "literals");
        c->ms[c->n++] = bench_number(line, "step_ms");
    }
}

/* The graphs, each once; returns their number. */
static size_t find_clouds(cloud clouds[MOST_GRAPHS], const json_t *lines)
{
    size_t i, n = 0;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        const char *graph = bench_text(line, "graph");
        size_t known = 0;
        if (strcmp(bench_text(line, "kind"), "policy-steps") != 0)
            continue;
        while (known < n && strcmp(clouds[known].graph, graph) != 0)
            known++;
        if (known == n && n < MOST_GRAPHS)
            cloud_init(&clouds[n++], lines, graph);
    }
    return n;
}

/* ---- the picture: points, and a line through their medians ---- */

/* One measure of size against the time of a step. */
typedef struct panel {
    const char *name;
    double bin; /* how many sizes share a median */
    acq_plot_axis x, y;
} panel;

static const double *get_sizes(const cloud *c, size_t i_panel)
{
    return i_panel == 0 ? c->variables : c->literals;
}

/* From 0 on, with about five ticks up to the largest value. */
static acq_plot_axis make_axis(double most, double begin, double end)
{
    double tick = acq_plot_choose_tick(most, 6);
    return (acq_plot_axis){ACQ_PLOT_LINEAR, 0, ceil(most / tick) * tick, begin, end};
}

static void list_panels(const cloud *clouds, size_t n, panel panels[2])
{
    double most[3] = {1e-9, 1e-9, 1e-9};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < clouds[i].n; j++) {
            most[0] = fmax(most[0], clouds[i].variables[j]);
            most[1] = fmax(most[1], clouds[i].literals[j]);
            most[2] = fmax(most[2], clouds[i].ms[j]);
        }
    acq_plot_axis y = make_axis(most[2], 342, 76);
    panels[0] = (panel){"variables", 2, make_axis(most[0], 64, 370), y};
    panels[1] = (panel){"literals", 10, make_axis(most[1], 398, 704), y};
}

/* The median time of the queries in bin b; NAN when they are too few. */
static double get_bin(const cloud *c, const double *sizes, double width, size_t b, double *room)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if ((size_t)(sizes[i] / width) == b)
            room[n++] = c->ms[i];
    return n < LEAST_IN_BIN ? (double)NAN : bench_median(room, n);
}

static void draw_medians(acq_plot *plot, const panel *p, const cloud *c, const double *sizes,
                         size_t series)
{
    acq_plot_spot spots[MOST_BINS];
    size_t n = 0;
    double *room = acq_alloc(c->n + 1, sizeof *room);
    if (room == NULL)
        bench_die("out of memory");
    for (size_t b = 0; b < MOST_BINS; b++) {
        double median = get_bin(c, sizes, p->bin, b, room);
        double middle = (double)b * p->bin + (p->bin - 1) / 2;
        if (!isnan(median))
            spots[n++] =
                (acq_plot_spot){acq_plot_place(&p->x, middle), acq_plot_place(&p->y, median)};
    }
    acq_plot_add_line(plot, spots, n, series);
    acq_free(room);
}

static void draw_panel(acq_plot *plot, const panel *p, const cloud *clouds, size_t n,
                       size_t i_panel)
{
    double x_tick = acq_plot_choose_tick(p->x.high, 6), y_tick = acq_plot_choose_tick(p->y.high, 6);
    for (double value = 0; value <= p->y.high * 1.0001; value += y_tick)
        acq_plot_add_level(plot, &p->x, &p->y, value, i_panel == 0);
    for (double value = 0; value <= p->x.high * 1.0001; value += x_tick)
        acq_plot_add_column(plot, &p->x, &p->y, value, false);
    acq_plot_add_x_name(plot, &p->x, 386, p->name);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < clouds[i].n; j++) {
            acq_plot_spot at = {acq_plot_place(&p->x, get_sizes(&clouds[i], i_panel)[j]),
                                acq_plot_place(&p->y, clouds[i].ms[j])};
            acq_plot_add_mark(plot, at, i, true);
        }
    for (size_t i = 0; i < n; i++)
        draw_medians(plot, p, &clouds[i], get_sizes(&clouds[i], i_panel), i);
}

/* Marks and what they are, in a line below the title. */
static void draw_legend(acq_plot *plot, const cloud *clouds, size_t n)
{
    double x = 69;
    for (size_t i = 0; i < n; i++) {
        acq_plot_add_mark(plot, (acq_plot_spot){x, 52}, i, false);
        acq_plot_add_text(plot, x + 10, 56, clouds[i].graph);
        x += 34 + 8 * (double)strlen(clouds[i].graph);
    }
    acq_plot_add_text(plot, x, 56, "lines: medians");
}

static void draw(const cloud *clouds, size_t n, const char *path)
{
    acq_plot plot;
    panel panels[2];
    acq_error error = {0};
    list_panels(clouds, n, panels);
    acq_plot_begin(&plot, 720, 400,
                   "What a step of the policy search takes, by the size of the query", NULL);
    acq_plot_add_y_name(&plot, &panels[0].y, 18, "milliseconds a step");
    draw_legend(&plot, clouds, n);
    for (size_t i = 0; i < 2; i++)
        draw_panel(&plot, &panels[i], clouds, n, i);
    bench_need(acq_plot_finish(&plot, path, "the picture", &error), &error);
}

/* ---- the table: queries by their number of variables, three at a time ---- */

enum { STEP = 3, MOST = 21 };

static void print_range(const cloud *c, unsigned from)
{
    double n = 0, ms = 0, per_variable = 0, per_literal = 0, per_both = 0;
    for (size_t i = 0; i < c->n; i++) {
        double variables = c->variables[i], literals = c->literals[i];
        if (variables < from || variables >= from + STEP)
            continue;
        n++;
        ms += c->ms[i];
        per_variable += 1e3 * c->ms[i] / variables;
        per_literal += 1e3 * c->ms[i] / literals;
        per_both += 1e3 * c->ms[i] / (variables + 2 * literals);
    }
    if (n > 0)
        printf("| %s | %u to %u | %.0f | %.3f | %.1f | %.1f | %.1f |\n", c->graph, from,
               from + STEP - 1, n, ms / n, per_variable / n, per_literal / n, per_both / n);
}

static void print_ranges(const cloud *clouds, size_t n)
{
    printf("\n### What a step takes by the size of the query: hub-like queries of 3 to 20 terms, "
           "all 200 steps\n\n| graph | variables | queries | ms a step | us by variables | us by "
           "literals | us by variables + 2 literals |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++)
        for (unsigned from = 1; from < MOST; from += STEP)
            print_range(&clouds[i], from);
}

void policy_plot_write(const json_t *lines, const char *path)
{
    cloud clouds[MOST_GRAPHS];
    size_t n = find_clouds(clouds, lines);
    if (n == 0)
        return;
    print_ranges(clouds, n);
    draw(clouds, n, path);
    for (size_t i = 0; i < n; i++)
        acq_free(clouds[i].variables);
}
