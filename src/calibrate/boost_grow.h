/* boost_grow.h - inside the boost: one tree, level by level. */
#ifndef ACQ_CALIBRATE_BOOST_GROW_H
#define ACQ_CALIBRATE_BOOST_GROW_H

#include "calibrate/boost_model.h"
#include "calibrate/boost_split.h"

typedef struct acq_boost_grower acq_boost_grower;

/* The splitter is borrowed. */
acq_status acq_boost_grower_new(const acq_boost_splitter *splitter, acq_boost_grower **out);
void acq_boost_grower_free(acq_boost_grower *grower); /* NULL is legal */

/* Fills the tree's nodes and leaves. slopes: of all rows of the bins. The rows are put into another
 * order. */
void acq_boost_grow(acq_boost_grower *grower, const acq_slope *slopes, uint32_t *rows, size_t n,
                    acq_boost *boost, uint32_t tree);

/* Adds what the tree grown last says of rows begin to end - 1, drawn for it or not. */
void acq_boost_grower_add(const acq_boost_grower *grower, size_t begin, size_t end, float *sums);

#endif
