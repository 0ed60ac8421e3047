/* row_double.h - a row model whose scores stand in a table, for tests of what is made of rows. */
#ifndef ACQ_TESTS_SUPPORT_ROW_DOUBLE_H
#define ACQ_TESTS_SUPPORT_ROW_DOUBLE_H

#include "models/model.h"

enum { ROW_DOUBLE_ENTITIES = 12, ROW_DOUBLE_RELATIONS = 4 };

typedef struct row_double {
    acq_row_model base;
    float raw[ROW_DOUBLE_RELATIONS][ROW_DOUBLE_ENTITIES][ROW_DOUBLE_ENTITIES];
    size_t n_rows; /* asked for so far; with one thread */
    size_t n_open; /* scratches */
} row_double;

/* Scores from N(0,1)-like draws; symmetric: both directions of a link score the same. */
void row_double_init(row_double *model, const acq_graph *graph, uint64_t seed, bool symmetric);

/* A graph of that size with about `share` of all facts. */
acq_graph *row_double_make_graph(uint64_t seed, double share);

#endif
