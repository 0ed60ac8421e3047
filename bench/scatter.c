/* scatter.c - see scatter.h. */
#include "scatter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "common.h"
#include "plot.h"

enum {
    WIDTH = 720,
    HEIGHT = 400,
    LEFT = 64,
    RIGHT = 16,
    GAP = 28,
    TOP = 76,
    BOTTOM = 58,
    LEAST_IN_BIN = 3,
    MOST_BINS = 256,
};

/* From 0 to `high` on the pixels begin to end, with a mark at every multiple of `tick`. */
typedef struct axis {
    double high, tick;
    double begin, end;
} axis;

static double place(const axis *a, double value)
{
    return a->begin + value / a->high * (a->end - a->begin);
}

/* A tick of 1, 2 or 5 times a power of ten, about five of them up to `most`. */
static axis make_axis(double most, double begin, double end)
{
    double power = pow(10.0, floor(log10(most / 5.0))), tick = power;
    if (most / tick > 12)
        tick = 5.0 * power;
    else if (most / tick > 6)
        tick = 2.0 * power;
    return (axis){.high = ceil(most / tick) * tick, .tick = tick, .begin = begin, .end = end};
}

static double get_most(const scatter *s, const double *(*get)(const scatter_series *, size_t),
                       size_t panel)
{
    double most = 1e-9;
    for (size_t i = 0; i < s->n_series; i++)
        for (size_t j = 0; j < s->series[i].n; j++)
            most = fmax(most, get(&s->series[i], panel)[j]);
    return most;
}

static const double *get_x(const scatter_series *series, size_t panel)
{
    return series->x[panel];
}

static const double *get_y(const scatter_series *series, size_t panel)
{
    (void)panel;
    return series->y;
}

static axis get_x_axis(const scatter *s, size_t panel)
{
    double n = (double)s->n_panels, width = (WIDTH - LEFT - RIGHT - GAP * (n - 1)) / n;
    double begin = LEFT + (double)panel * (width + GAP);
    return make_axis(get_most(s, get_x, panel), begin, begin + width);
}

static void write_marker(FILE *f, size_t series, double x, double y)
{
    static const char *const shapes[SCATTER_MOST_SERIES] = {"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
                                                            "m0-4l4 4l-4 4l-4-4z", "m-3-3h6v6h-6z",
                                                            "m0-4l4 7h-8z"};
    fprintf(f, "<path class='p%zu' d='M%.1f %.1f%s'/>\n", series, x, y, shapes[series]);
}

static void write_axes(const scatter *s, size_t panel, const axis *x, const axis *y, FILE *f)
{
    for (double value = 0; value <= y->high * 1.0001; value += y->tick) {
        fprintf(f, "<path class='g' d='M%.1f %.1fH%.1f'/>\n", x->begin, place(y, value), x->end);
        if (panel == 0)
            fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>%g</text>\n", LEFT - 8,
                    place(y, value) + 4, value);
    }
    for (double value = 0; value <= x->high * 1.0001; value += x->tick)
        fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%g</text>\n", place(x, value),
                HEIGHT - BOTTOM + 20, value);
    fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%s</text>\n", (x->begin + x->end) / 2,
            HEIGHT - 14, s->x_labels[panel]);
}

/* The median of y over the points with x in bin b; NAN when they are too few. */
static double get_bin(const scatter_series *series, size_t panel, double width, size_t b,
                      double *room)
{
    size_t n = 0;
    for (size_t i = 0; i < series->n; i++)
        if ((size_t)(series->x[panel][i] / width) == b)
            room[n++] = series->y[i];
    return n < LEAST_IN_BIN ? (double)NAN : bench_median(room, n);
}

static void write_medians(const scatter *s, size_t i, size_t panel, const axis *x, const axis *y,
                          FILE *f)
{
    double width = s->bins[panel], *room = acq_alloc(s->series[i].n + 1, sizeof *room);
    char command = 'M';
    if (room == NULL)
        bench_die("out of memory");
    fprintf(f, "<path class='l s%zu' d='", i);
    for (size_t b = 0; b < MOST_BINS; b++) {
        double median = get_bin(&s->series[i], panel, width, b, room);
        double middle = (double)b * width + (width - 1) / 2;
        if (isnan(median))
            continue;
        fprintf(f, "%c%.1f %.1f", command, place(x, middle), place(y, median));
        command = 'L';
    }
    fputs("'/>\n", f);
    acq_free(room);
}

static void write_panel(const scatter *s, size_t panel, const axis *y, FILE *f)
{
    axis x = get_x_axis(s, panel);
    write_axes(s, panel, &x, y, f);
    fputs("<g opacity='.45'>\n", f);
    for (size_t i = 0; i < s->n_series; i++)
        for (size_t j = 0; j < s->series[i].n; j++)
            write_marker(f, i, place(&x, s->series[i].x[panel][j]), place(y, s->series[i].y[j]));
    fputs("</g>\n", f);
    for (size_t i = 0; i < s->n_series; i++)
        write_medians(s, i, panel, &x, y, f);
}

/* Points and what they are, in a line below the title. */
static void write_legend(const scatter *s, FILE *f)
{
    double x = LEFT + 5;
    for (size_t i = 0; i < s->n_series; i++) {
        write_marker(f, i, x, 46);
        fprintf(f, "<text x='%.1f' y='50'>%s</text>\n", x + 10, s->series[i].label);
        x += 34 + 8 * (double)strlen(s->series[i].label);
    }
    fprintf(f, "<path class='l g' d='M%.1f 46h22'/><text x='%.1f' y='50'>median</text>\n", x,
            x + 28);
}

void scatter_write(const scatter *s, const char *path)
{
    axis y = make_axis(get_most(s, get_y, 0), HEIGHT - BOTTOM, TOP);
    FILE *f = fopen(path, "w");
    if (f == NULL)
        bench_die("cannot write %s: %s", path, strerror(errno));
    fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d'>\n", WIDTH, HEIGHT);
    plot_write_style(f);
    fprintf(f, "<text class='t' x='%d' y='24'>%s</text>\n", LEFT, s->title);
    fprintf(f, "<text transform='translate(18 %g)rotate(-90)' text-anchor='middle'>%s</text>\n",
            (y.begin + y.end) / 2, s->y_label);
    write_legend(s, f);
    for (size_t panel = 0; panel < s->n_panels; panel++)
        write_panel(s, panel, &y, f);
    fputs("</svg>\n", f);
    if (fclose(f) != 0)
        bench_die("cannot write %s: %s", path, strerror(errno));
}
