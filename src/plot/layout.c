/* layout.c - see layout.h. Works in a unit square and stretches the result to the box. */
#include "plot/layout.h"

#include <math.h>

enum { ROUNDS = 600 };

static const double LEAST_DISTANCE = 1e-3;
static const double GRAVITY = 0.02; /* keeps parts that hang on nothing in the picture */

/* On a circle, one node after the other by steps of 3, so that neighbours do not all touch. */
static void place_on_circle(acq_plot_spot *spots, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double angle = 2 * 3.14159265358979 * (double)(i * 3 % n + (i * 3 / n) * 0.31) / (double)n;
        spots[i] = (acq_plot_spot){.5 + .4 * cos(angle), .5 + .4 * sin(angle)};
    }
}

typedef struct forces {
    const acq_plot_edge *edges;
    size_t n_edges, n;
    double ideal; /* length of an edge */
    acq_plot_spot *spots;
} forces;

static acq_plot_spot push(const forces *f, size_t i)
{
    acq_plot_spot sum = {(.5 - f->spots[i].x) * GRAVITY, (.5 - f->spots[i].y) * GRAVITY};
    for (size_t j = 0; j < f->n; j++) {
        double x = f->spots[i].x - f->spots[j].x, y = f->spots[i].y - f->spots[j].y;
        double d2 = fmax(x * x + y * y, LEAST_DISTANCE * LEAST_DISTANCE);
        if (j == i)
            continue;
        sum.x += x / d2 * f->ideal * f->ideal;
        sum.y += y / d2 * f->ideal * f->ideal;
    }
    return sum;
}

static acq_plot_spot pull(const forces *f, size_t i)
{
    acq_plot_spot sum = {0, 0};
    for (size_t k = 0; k < f->n_edges; k++) {
        size_t from = f->edges[k].from, to = f->edges[k].to;
        if ((from != i && to != i) || from == to)
            continue;
        size_t other = from == i ? to : from;
        double x = f->spots[other].x - f->spots[i].x, y = f->spots[other].y - f->spots[i].y;
        double distance = sqrt(x * x + y * y);
        sum.x += x * distance / f->ideal;
        sum.y += y * distance / f->ideal;
    }
    return sum;
}

/* Node by node: each sees where those before it have gone. */
static void relax(const forces *f, double step)
{
    for (size_t i = 0; i < f->n; i++) {
        acq_plot_spot a = push(f, i), b = pull(f, i);
        double x = a.x + b.x, y = a.y + b.y, length = sqrt(x * x + y * y);
        double scale = length > step ? step / length : 1.0;
        f->spots[i].x += x * scale;
        f->spots[i].y += y * scale;
    }
}

static void stretch(acq_plot_spot *spots, size_t n, acq_plot_box box)
{
    acq_plot_box from = {1e9, 1e9, -1e9, -1e9};
    for (size_t i = 0; i < n; i++) {
        from.left = fmin(from.left, spots[i].x);
        from.right = fmax(from.right, spots[i].x);
        from.top = fmin(from.top, spots[i].y);
        from.bottom = fmax(from.bottom, spots[i].y);
    }
    double width = fmax(from.right - from.left, LEAST_DISTANCE);
    double height = fmax(from.bottom - from.top, LEAST_DISTANCE);
    for (size_t i = 0; i < n; i++) {
        spots[i].x = box.left + (spots[i].x - from.left) / width * (box.right - box.left);
        spots[i].y = box.top + (spots[i].y - from.top) / height * (box.bottom - box.top);
    }
}

void acq_plot_lay_out(const acq_plot_edge *edges, size_t n_edges, size_t n, acq_plot_box box,
                      acq_plot_spot *spots)
{
    forces f = {edges, n_edges, n, .7 / sqrt((double)(n > 0 ? n : 1)), spots};
    place_on_circle(spots, n);
    for (int round = 0; round < ROUNDS; round++)
        relax(&f, .1 * (1.0 - (double)round / ROUNDS) + 1e-4);
    stretch(spots, n, box);
}
