/* scale_table.c - the results of bench/scale as a Markdown table and a plot.
 *
 *   bench_scale_table PLOT.svg RESULTS.jsonl...
 *
 * Both axes of the plot are logarithmic; flat lines mean that a query costs the same in a graph a
 * hundred times as large. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

enum {
    MOST_SIZES = 16,
    WIDTH = 640,
    HEIGHT = 400,
    LEFT = 70,
    RIGHT = 150,
    TOP = 20,
    BOTTOM = 50,
};

typedef struct size_row {
    const json_t *import, *queries;
} size_row;

typedef struct series {
    const char *name, *object, *field, *colour;
} series;

static const series drawn[] = {
    {"first query", "first", "p50", "#c2571a"},
    {"warm, p99", "warm", "p99", "#7a4fb5"},
    {"warm, median", "warm", "p50", "#1f77b4"},
    {"opening", "open", "p50", "#3a8f3a"},
};
enum { N_DRAWN = sizeof drawn / sizeof *drawn };

static double part(const json_t *line, const char *object, const char *field)
{
    return bench_number(json_object_get(line, object), field);
}

static bool has_kind(const json_t *line, const char *kind)
{
    return strcmp(bench_text(line, "kind"), kind) == 0;
}

/* One row for each import line, with the query line that follows it. */
static size_t find_rows(const json_t *lines, size_row *rows)
{
    size_t i, n = 0;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (has_kind(line, "import") && n < MOST_SIZES)
            rows[n++] = (size_row){.import = line};
        if (has_kind(line, "queries") && n > 0)
            rows[n - 1].queries = line;
    }
    if (n == 0 || rows[n - 1].queries == NULL)
        bench_die("there are no results");
    return n;
}

static void print_machine(const json_t *lines)
{
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (has_kind(line, "machine"))
            printf("%s, %s cores, load %s at the start; %s; commit %s.\n\n",
                   bench_text(line, "cpu"), bench_text(line, "cores"), bench_text(line, "load"),
                   bench_text(line, "system"), bench_text(line, "commit"));
    }
}

static void print_table(const size_row *rows, size_t n)
{
    printf("| entities | facts | import, M triples/s | CPU s | peak MB | file MB | open ms | first "
           "query ms, median / max | from disk | warm ms, median / p99 / max | memory of a query, "
           "MB, median / max |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++) {
        const json_t *import = rows[i].import, *queries = rows[i].queries;
        printf("| %.0f | %.0f | %.2f | %.1f | %.0f | %.0f | %.1f | %.0f / %.0f | %.0f / %.0f | "
               "%.2f / %.1f / %.1f | %.2f / %.1f |\n",
               bench_number(import, "entities"), bench_number(import, "facts"),
               bench_number(import, "facts") / bench_number(import, "seconds") / 1e6,
               bench_number(import, "cpu_seconds"), bench_number(import, "peak_mb"),
               bench_number(import, "file_mb"), part(queries, "open", "p50"),
               part(queries, "first", "p50"), part(queries, "first", "max"),
               part(queries, "first_cold", "p50"), part(queries, "first_cold", "max"),
               part(queries, "warm", "p50"), part(queries, "warm", "p99"),
               part(queries, "warm", "max"), part(queries, "memory_mb", "p50"),
               part(queries, "memory_mb", "max"));
    }
    printf("\n%.0f queries a size, %.0f of them with a planted answer, all decided rightly.\n",
           bench_number(rows[n - 1].queries, "queries"),
           bench_number(rows[n - 1].queries, "planted"));
}

/* ---- the plot ---- */

typedef struct axes {
    double x_low, x_high, y_low, y_high; /* powers of ten */
} axes;

static double place_x(const axes *a, double value)
{
    return LEFT + (log10(value) - a->x_low) / (a->x_high - a->x_low) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const axes *a, double value)
{
    return HEIGHT - BOTTOM -
           (log10(value) - a->y_low) / (a->y_high - a->y_low) * (HEIGHT - TOP - BOTTOM);
}

static axes find_axes(const size_row *rows, size_t n)
{
    axes a = {.x_low = INFINITY, .x_high = -INFINITY, .y_low = INFINITY, .y_high = -INFINITY};
    for (size_t i = 0; i < n; i++) {
        double x = log10(bench_number(rows[i].import, "entities"));
        a.x_low = fmin(a.x_low, x - 0.15);
        a.x_high = fmax(a.x_high, x + 0.15);
        for (size_t s = 0; s < N_DRAWN; s++) {
            double y = log10(part(rows[i].queries, drawn[s].object, drawn[s].field));
            a.y_low = fmin(a.y_low, floor(y));
            a.y_high = fmax(a.y_high, ceil(y));
        }
    }
    return a;
}

static void draw_axes(FILE *out, const axes *a, const size_row *rows, size_t n)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    for (double power = a->y_low; power <= a->y_high; power++) {
        double y = place_y(a, pow(10, power));
        fprintf(out,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#333333\">%g ms</text>\n",
                LEFT, WIDTH - RIGHT, y, y, LEFT - 8, y + 4, pow(10, power));
    }
    for (size_t i = 0; i < n; i++) {
        double entities = bench_number(rows[i].import, "entities");
        double x = place_x(a, entities);
        const char *unit = entities >= 1e6 ? "M" : "k";
        fprintf(out,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#dddddd\"/>\n"
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#333333\">%g %s</text>\n",
                x, x, TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 18,
                entities >= 1e6 ? entities / 1e6 : entities / 1e3, unit);
    }
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#333333\">entities</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10);
}

static void draw_series(FILE *out, const axes *a, const size_row *rows, size_t n, const series *s)
{
    double y = 0;
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", s->colour);
    for (size_t i = 0; i < n; i++) {
        y = place_y(a, part(rows[i].queries, s->object, s->field));
        fprintf(out, "%.1f,%.1f ", place_x(a, bench_number(rows[i].import, "entities")), y);
    }
    fprintf(out, "\"/>\n");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n",
                place_x(a, bench_number(rows[i].import, "entities")),
                place_y(a, part(rows[i].queries, s->object, s->field)), s->colour);
    fprintf(out, "<text x=\"%d\" y=\"%.1f\" fill=\"%s\">%s</text>\n", WIDTH - RIGHT + 6, y + 4,
            s->colour, s->name);
}

static void draw(const char *path, const size_row *rows, size_t n)
{
    FILE *out = fopen(path, "w");
    if (out == NULL)
        bench_die("cannot write %s", path);
    axes a = find_axes(rows, n);
    draw_axes(out, &a, rows, n);
    for (size_t s = 0; s < N_DRAWN; s++)
        draw_series(out, &a, rows, n, &drawn[s]);
    fprintf(out, "</svg>\n");
    if (fclose(out) != 0)
        bench_die("cannot write %s", path);
}

int main(int argc, char **argv)
{
    size_row rows[MOST_SIZES];
    if (argc < 3)
        bench_die("bench_scale_table PLOT.svg RESULTS.jsonl...");
    json_t *lines = json_array();
    for (int i = 2; i < argc; i++) {
        json_t *more = bench_load_lines(argv[i]);
        json_array_extend(lines, more);
        json_decref(more);
    }
    size_t n = find_rows(lines, rows);
    print_machine(lines);
    print_table(rows, n);
    draw(argv[1], rows, n);
    json_decref(lines);
    return 0;
}
