/* layout.h - places for the nodes of a small graph: springs along its edges, repulsion between all
 * nodes (Fruchterman and Reingold 1991), cooled in a fixed number of rounds from a circle, so that
 * equal graphs look alike. O(rounds * nodes^2): for hundreds of nodes. */
#ifndef ACQ_PLOT_LAYOUT_H
#define ACQ_PLOT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "plot/plot.h"

typedef struct acq_plot_edge {
    uint32_t from, to;
} acq_plot_edge;

typedef struct acq_plot_box {
    double left, top, right, bottom;
} acq_plot_box;

/* spots: room for n. */
void acq_plot_lay_out(const acq_plot_edge *edges, size_t n_edges, size_t n, acq_plot_box box,
                      acq_plot_spot *spots);

#endif
