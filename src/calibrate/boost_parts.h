/* boost_parts.h - inside the boost: trees as flat arrays, features as bytes, one tree growing. */
#ifndef ACQ_CALIBRATE_BOOST_PARTS_H
#define ACQ_CALIBRATE_BOOST_PARTS_H

#include "calibrate/boost.h"

/* ---- trees of one depth ----
 *
 *         0            node i has the children 2i + 1 (below the threshold) and 2i + 2;
 *      1     2         the leaves of depth d count on from 2^d - 1
 *     3 4   5 6
 *
 * A node that does not split has the same leaf everywhere below it. */

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
    uint32_t n_given; /* of these, the first ones: a prior's */
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

static inline uint32_t acq_boost_count_nodes(const acq_boost *boost)
{
    return (1U << boost->depth) - 1;
}

/* ---- bins ----
 *
 * A feature's cuts are quantiles, half of them of the rows with label 0 and half of those with
 * label 1, so that there are cuts where the rare label lives. Bin b holds the values from cut b - 1
 * up to below cut b; missing values have the last code. The first cut is -FLT_MAX: splitting there
 * parts missing values from all others.
 *
 *   codes:  group 0: row 0 [8 bytes], row 1 [8 bytes], ...   group 1: row 0 [8 bytes], ... */

enum {
    ACQ_BOOST_BINS = 256,
    ACQ_BOOST_MISSING = 255, /* the code of NaN */
    ACQ_BOOST_CUTS = 254,    /* most cuts of a feature */
    ACQ_BOOST_GROUP = 8      /* features side by side */
};

typedef struct acq_boost_bins {
    size_t n_rows;
    uint32_t n_features, n_groups;
    uint8_t *codes;   /* n_groups times n_rows times ACQ_BOOST_GROUP */
    float *cuts;      /* n_features times ACQ_BOOST_CUTS, rising */
    uint32_t *n_cuts; /* of each feature */
} acq_boost_bins;

static inline const float *acq_boost_get_cuts(const acq_boost_bins *bins, uint32_t feature)
{
    return bins->cuts + (size_t)feature * ACQ_BOOST_CUTS;
}

/* Codes of all rows in a group of features. */
static inline const uint8_t *acq_boost_get_codes(const acq_boost_bins *bins, uint32_t group)
{
    return bins->codes + (size_t)group * bins->n_rows * ACQ_BOOST_GROUP;
}

/* ---- growing ----
 *
 * Sums of the loss's first and second derivatives are whole numbers (derivatives times a power of
 * two), so that they do not depend on their order, and a parent minus one child is exactly the
 * other child. */

/* [0]: first derivative, [1]: second. */
typedef int64_t acq_slope __attribute__((vector_size(16)));

typedef struct acq_boost_splitter {
    const acq_boost_bins *bins;
    const acq_boost_params *params;
    double unit; /* a derivative is its whole number times this */
} acq_boost_splitter;

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
