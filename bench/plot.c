/* plot.c - see plot.h. */
#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

enum { WIDTH = 720, HEIGHT = 400, LEFT = 76, RIGHT = 150, TOP = 52, BOTTOM = 58, LINE = 17 };

/* A range of one axis in powers of ten, and the pixels it is drawn on. */
typedef struct axis {
    double low, high; /* logarithms */
    double begin, end;
} axis;

static double place(const axis *a, double value)
{
    return a->begin + (log10(value) - a->low) / (a->high - a->low) * (a->end - a->begin);
}

static axis get_x_axis(const plot *p)
{
    double margin = 0.04 * log10(p->x[p->n_points - 1] / p->x[0]);
    return (axis){.low = log10(p->x[0]) - margin,
                  .high = log10(p->x[p->n_points - 1]) + margin,
                  .begin = LEFT,
                  .end = WIDTH - RIGHT};
}

static axis get_y_axis(const plot *p)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t s = 0; s < p->n_series; s++)
        for (size_t i = 0; i < p->n_points; i++) {
            low = fmin(low, log10(p->series[s].y[i]));
            high = fmax(high, log10(p->series[s].y[i]));
        }
    return (axis){.low = floor(low),
                  .high = fmax(ceil(high), floor(low) + 1),
                  .begin = HEIGHT - BOTTOM,
                  .end = TOP};
}

void plot_write_style(FILE *f)
{
    static const char *const light[] = {"#0b62c4", "#b34a00", "#1a7f37", "#8250df"};
    static const char *const dark[] = {"#58a6ff", "#f0883e", "#3fb950", "#d2a8ff"};
    fputs(
        "<style>text{font:13px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600;font-size:15px}"
        ".g{stroke:#8c959f;stroke-opacity:.35}.l{fill:none;stroke-width:2.2}",
        f);
    for (int i = 0; i < 4; i++)
        fprintf(f, ".s%d{stroke:%s}.p%d{fill:%s}", i, light[i], i, light[i]);
    fputs("@media(prefers-color-scheme:dark){text{fill:#e6edf3}", f);
    for (int i = 0; i < 4; i++)
        fprintf(f, ".s%d{stroke:%s}.p%d{fill:%s}", i, dark[i], i, dark[i]);
    fputs("}</style>\n", f);
}

/* 50 k, 5 M; 0.01, 100. */
static void format_number(double value, char out[32])
{
    if (value >= 1e6)
        snprintf(out, 32, "%g M", value / 1e6);
    else if (value >= 1e4)
        snprintf(out, 32, "%g k", value / 1e3);
    else
        snprintf(out, 32, "%g", value);
}

static void write_axes(const plot *p, const axis *x, const axis *y, FILE *f)
{
    char text[32];
    for (double power = y->low; power <= y->high; power++) {
        double at = place(y, pow(10.0, power));
        format_number(pow(10.0, power), text);
        fprintf(f,
                "<path class='g' d='M%g %.1fH%g'/><text x='%d' y='%.1f' text-anchor='end'>%s"
                "</text>\n",
                x->begin, at, x->end, LEFT - 8, at + 4, text);
    }
    for (size_t i = 0; i < p->n_points; i++) {
        format_number(p->x[i], text);
        fprintf(f,
                "<path class='g' d='M%.1f %gV%g'/><text x='%.1f' y='%d' text-anchor='middle'>%s"
                "</text>\n",
                place(x, p->x[i]), y->begin, y->end, place(x, p->x[i]), HEIGHT - BOTTOM + 20, text);
    }
    fprintf(f, "<text class='t' x='%d' y='24'>%s</text>\n", LEFT, p->title);
    fprintf(f, "<text x='%g' y='%d' text-anchor='middle'>%s</text>\n", (x->begin + x->end) / 2,
            HEIGHT - 14, p->x_label);
    fprintf(f, "<text transform='translate(20 %g)rotate(-90)' text-anchor='middle'>%s</text>\n",
            (y->begin + y->end) / 2, p->y_label);
}

static void write_series(const plot *p, size_t s, const axis *x, const axis *y, FILE *f)
{
    fprintf(f, "<path class='l s%zu' d='", s % 4);
    for (size_t i = 0; i < p->n_points; i++)
        fprintf(f, "%c%.1f %.1f", i == 0 ? 'M' : 'L', place(x, p->x[i]),
                place(y, p->series[s].y[i]));
    fputs("'/>\n", f);
    for (size_t i = 0; i < p->n_points; i++)
        fprintf(f, "<circle class='p%zu' r='3.5' cx='%.1f' cy='%.1f'/>\n", s % 4, place(x, p->x[i]),
                place(y, p->series[s].y[i]));
}

/* Where the name of series s stands: beside its last point, but clear of the names above it. */
static double label_place(const plot *p, size_t s, const axis *y, double above)
{
    double at = place(y, p->series[s].y[p->n_points - 1]) + 4;
    return at < above + LINE ? above + LINE : at;
}

/* From the highest last point down. */
static void write_labels(const plot *p, const axis *x, const axis *y, FILE *f)
{
    double above = -INFINITY, limit = INFINITY;
    for (size_t written = 0; written < p->n_series; written++) {
        size_t next = 0;
        double most = -INFINITY;
        for (size_t s = 0; s < p->n_series; s++) {
            double last = p->series[s].y[p->n_points - 1];
            if (last < limit && last > most) {
                most = last;
                next = s;
            }
        }
        limit = most;
        above = label_place(p, next, y, above);
        fprintf(f, "<text x='%.1f' y='%.1f'>%s</text>\n", x->end + 8, above, p->series[next].label);
    }
}

void plot_write(const plot *p, const char *path)
{
    axis x = get_x_axis(p), y = get_y_axis(p);
    FILE *f = fopen(path, "w");
    if (f == NULL)
        bench_die("cannot write %s: %s", path, strerror(errno));
    fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d'>\n", WIDTH, HEIGHT);
    plot_write_style(f);
    write_axes(p, &x, &y, f);
    for (size_t s = 0; s < p->n_series; s++)
        write_series(p, s, &x, &y, f);
    write_labels(p, &x, &y, f);
    fputs("</svg>\n", f);
    if (fclose(f) != 0)
        bench_die("cannot write %s: %s", path, strerror(errno));
}
