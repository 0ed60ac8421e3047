/* scatter.h - points in panels side by side as an SVG file, with a line through their medians.
 *
 * Axes are linear and begin at 0. The series differ in the shape of their points too, so that no
 * colour has to be told from another; colours follow the reader's light or dark scheme. */
#ifndef BENCH_SCATTER_H
#define BENCH_SCATTER_H

#include <stddef.h>

enum { SCATTER_MOST_SERIES = 4, SCATTER_MOST_PANELS = 2 };

typedef struct scatter_series {
    const char *label;
    const double *x[SCATTER_MOST_PANELS]; /* n whole numbers for each panel */
    const double *y;
    size_t n;
} scatter_series;

typedef struct scatter {
    const char *title, *y_label;
    const char *x_labels[SCATTER_MOST_PANELS];
    double bins[SCATTER_MOST_PANELS]; /* how many values of x share a median */
    size_t n_panels;
    const scatter_series *series;
    size_t n_series;
} scatter;

/* Ends the program when the file cannot be written. */
void scatter_write(const scatter *s, const char *path);

#endif
