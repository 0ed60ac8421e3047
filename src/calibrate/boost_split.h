/* boost_split.h - inside the boost: the best way to part the rows of a node.
 *
 * A histogram has, for each feature and bin, the sum of the loss's first and second derivatives.
 * They are whole numbers (derivatives times a power of two), so that sums do not depend on their
 * order, and a parent minus one child is exactly the other child. */
#ifndef ACQ_CALIBRATE_BOOST_SPLIT_H
#define ACQ_CALIBRATE_BOOST_SPLIT_H

#include "calibrate/boost_bins.h"

/* [0]: first derivative, [1]: second. */
typedef int64_t acq_slope __attribute__((vector_size(16)));

/* What is known of a node before it is split. */
typedef struct acq_boost_region {
    acq_slope sum;    /* of its rows */
    double low, high; /* what its leaves may say: monotone splits above it */
} acq_boost_region;

typedef struct acq_boost_split {
    double gain; /* 0: there is none */
    uint32_t feature, bin;
    bool missing_above;            /* NaN goes with the bins above `bin` */
    acq_boost_region below, above; /* rows up to `bin`, and the others */
} acq_boost_split;

typedef struct acq_boost_splitter {
    const acq_boost_bins *bins;
    const acq_boost_params *params;
    double unit; /* a derivative is its whole number times this */
} acq_boost_splitter;

/* What a leaf of these rows would say. */
double acq_boost_get_leaf(const acq_boost_splitter *splitter, const acq_boost_region *region);

/* histogram: n_features times ACQ_BOOST_BINS. */
acq_boost_split acq_boost_find_split(const acq_boost_splitter *splitter,
                                     const acq_boost_region *region, const acq_slope *histogram);

#endif
