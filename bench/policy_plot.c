/* policy_plot.c - see policy_plot.h. The paper's figure shows the time of a step against the
 * variables of the query and divided by its variables, its literals and |y| + 2|Q|; the picture has
 * the time against variables and literals, the table the quotients. */
#include "policy_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "common.h"
#include "scatter.h"

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
static size_t find_clouds(cloud clouds[SCATTER_MOST_SERIES], const json_t *lines)
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
        if (known == n && n < SCATTER_MOST_SERIES)
            cloud_init(&clouds[n++], lines, graph);
    }
    return n;
}

static void draw(const cloud *clouds, size_t n, const char *path)
{
    scatter_series series[SCATTER_MOST_SERIES];
    for (size_t i = 0; i < n; i++)
        series[i] = (scatter_series){.label = clouds[i].graph,
                                     .x = {clouds[i].variables, clouds[i].literals},
                                     .y = clouds[i].ms,
                                     .n = clouds[i].n};
    scatter s = {.title = "What a step of the policy search takes, by the size of the query",
                 .y_label = "milliseconds a step",
                 .x_labels = {"variables", "literals"},
                 .bins = {2, 10},
                 .n_panels = 2,
                 .series = series,
                 .n_series = n};
    scatter_write(&s, path);
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
    cloud clouds[SCATTER_MOST_SERIES];
    size_t n = find_clouds(clouds, lines);
    if (n == 0)
        return;
    print_ranges(clouds, n);
    draw(clouds, n, path);
    for (size_t i = 0; i < n; i++)
        acq_free(clouds[i].variables);
}
