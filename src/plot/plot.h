/* plot.h - axes, marks and text of every SVG picture that the project draws.
 *
 * A picture is text that grows: begin, add what is in it from the back to the front, finish. Text
 * stays text, so a picture can be searched. Colours follow the reader's light or dark scheme.
 * Series differ in dash and in the shape of their marks too, so that nobody has to tell colours
 * apart. What a picture means stays with its owner: a training curve, a reliability table. */
#ifndef ACQ_PLOT_PLOT_H
#define ACQ_PLOT_PLOT_H

#include "base/text.h"

typedef struct acq_plot {
    acq_text text;
} acq_plot;

/* Any title: markup is escaped, what XML cannot hold is replaced, what is too long is cut where it
 * is seen. subtitle: a line below the title; may be NULL. */
void acq_plot_begin(acq_plot *plot, int width, int height, const char *title, const char *subtitle);
/* Writes the picture whole or not at all and frees it. what: its name in error messages. */
acq_status acq_plot_finish(acq_plot *plot, const char *path, const char *what, acq_error *error);

/* ---- axes ---- */

typedef enum acq_plot_scale { ACQ_PLOT_LINEAR, ACQ_PLOT_LOG, ACQ_PLOT_LOGIT } acq_plot_scale;

typedef struct acq_plot_axis {
    acq_plot_scale scale;
    double low, high;  /* the values at both ends */
    double begin, end; /* their pixels */
} acq_plot_axis;

/* The pixel of a value; values beyond an end are drawn there. */
double acq_plot_place(const acq_plot_axis *axis, double value);

/* 1, 2 or 5 times a power of ten, so that at most `most` of them are in `range`. */
double acq_plot_choose_tick(double range, double most);

/* A line across the picture at one value of y, or of x, with its number (50 k, 5 M) beside it. */
void acq_plot_add_level(acq_plot *plot, const acq_plot_axis *x, const acq_plot_axis *y,
                        double value, bool has_number);
void acq_plot_add_column(acq_plot *plot, const acq_plot_axis *x, const acq_plot_axis *y,
                         double value, bool has_line);
/* What the axes are; below x and left of y. */
void acq_plot_add_x_name(acq_plot *plot, const acq_plot_axis *x, double at, const char *name);
void acq_plot_add_y_name(acq_plot *plot, const acq_plot_axis *y, double at, const char *name);

/* ---- marks; all places are pixels ---- */

enum { ACQ_PLOT_STYLES = 6 }; /* of series; later ones begin again */

typedef struct acq_plot_spot {
    double x, y;
} acq_plot_spot;

void acq_plot_add_text(acq_plot *plot, double x, double y, const char *text);
/* A line in the style of a series, or straight in grey with other dashes. */
void acq_plot_add_line(acq_plot *plot, const acq_plot_spot *spots, size_t n, size_t series);
void acq_plot_add_guide(acq_plot *plot, acq_plot_spot from, acq_plot_spot to);
/* A disc; title: what a pointer over it reads, may be NULL. */
void acq_plot_add_disc(acq_plot *plot, acq_plot_spot at, double radius, size_t series,
                       const char *title);
/* The same as a square of this half side. */
void acq_plot_add_square(acq_plot *plot, acq_plot_spot at, double half, size_t series,
                         const char *title);
/* From one node to another, which stand off by so many pixels; dashed: not so. */
void acq_plot_add_arrow(acq_plot *plot, acq_plot_spot from, acq_plot_spot to, double off,
                        bool is_dashed);
/* A small mark in the shape of its series, faint where many lie over each other. */
void acq_plot_add_mark(acq_plot *plot, acq_plot_spot at, size_t series, bool is_faint);
/* From one height to another: what chance allows. */
void acq_plot_add_bar(acq_plot *plot, double x, double from, double to);

/* The name of a line, near to its end. */
typedef struct acq_plot_label {
    char text[40];
    acq_plot_spot end;
    size_t series;
    double at; /* its height, when it is placed */
} acq_plot_label;

/* Names right of x's end, moved apart so that none touches another, each tied to its line. Puts
 * the labels in order. */
void acq_plot_add_labels(acq_plot *plot, acq_plot_label *labels, size_t n, const acq_plot_axis *x,
                         const acq_plot_axis *y);

#endif
