/* boost_model.h - inside the boost: trees as flat arrays of one depth.
 *
 *         0            node i has the children 2i + 1 (below the threshold) and 2i + 2;
 *      1     2         the leaves of depth d count on from 2^d - 1
 *     3 4   5 6
 *
 * A node that does not split has the same leaf everywhere below it. */
#ifndef ACQ_CALIBRATE_BOOST_MODEL_H
#define ACQ_CALIBRATE_BOOST_MODEL_H

#include "calibrate/boost.h"

enum { ACQ_BOOST_MOST_DEPTH = 8, ACQ_BOOST_MOST_FEATURES = 256, ACQ_BOOST_KNOTS = 28 };

typedef struct acq_boost_node {
    float threshold; /* at least this: the second child */
    uint32_t column; /* of a spread row: feature, plus n_features when NaN goes to the second */
} acq_boost_node;

/* Of the curve that bends the trees' log-odds; both coordinates rise from knot to knot. */
typedef struct acq_boost_knot {
    float from, to;
} acq_boost_knot;

struct acq_boost {
    uint32_t n_features;
    uint32_t n_trees;
    uint32_t depth;
    float start;
    acq_boost_node *nodes; /* n_trees times 2^depth - 1 */
    float *leaves;         /* n_trees times 2^depth */
    acq_boost_knot knots[ACQ_BOOST_KNOTS];
    uint32_t n_knots; /* 0: no curve */
};

/* Room for the trees; every node splits nothing and every leaf is 0. */
acq_status acq_boost_new(uint32_t n_features, uint32_t n_trees, uint32_t depth, acq_boost **out,
                         acq_error *error);

/* What the trees' log-odds are worth by the curve. */
float acq_boost_bend(const acq_boost *boost, float log_odds);

static inline uint32_t acq_boost_count_nodes(const acq_boost *boost)
{
    return (1U << boost->depth) - 1;
}

#endif
