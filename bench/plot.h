/* plot.h - a line chart with two logarithmic axes as an SVG file.
 *
 * Colours follow the reader's light or dark scheme; each line is named at its right end, so that
 * no legend is needed and no colour has to be told from another. */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include <stdio.h>

enum { PLOT_MOST_POINTS = 16 };

typedef struct plot_series {
    const char *label;
    double y[PLOT_MOST_POINTS]; /* above 0 */
} plot_series;

typedef struct plot {
    const char *title, *x_label, *y_label;
    size_t n_points; /* at least 2 */
    double x[PLOT_MOST_POINTS];
    const plot_series *series;
    size_t n_series;
} plot;

/* Ends the program when the file cannot be written. */
void plot_write(const plot *p, const char *path);

/* The style sheet of our pictures: lines of class l, grid g, title t, and the strokes s0 to s3 and
 * fills p0 to p3 of the series. */
void plot_write_style(FILE *f);

#endif
