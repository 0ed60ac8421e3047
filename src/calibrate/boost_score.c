/* boost_score.c - walking the trees. A block of rows goes through one tree after the other, so that
 * both stay in the cache; the walks of neighbouring rows are independent and overlap. Sums are
 * floats, added in the order of the trees: adding keeps order, so monotone trees stay monotone. */
#include "calibrate/boost_model.h"

#include <math.h>

#include "base/memory.h"

enum { BLOCK = 32 };

acq_status acq_boost_new(uint32_t n_features, uint32_t n_trees, uint32_t depth, acq_boost **out,
                         acq_error *error)
{
    acq_boost *boost = acq_zalloc(1, sizeof *boost);
    if (boost == NULL)
        return acq_fail_memory(error);
    *boost = (acq_boost){.n_features = n_features, .n_trees = n_trees, .depth = depth};
    boost->nodes = acq_zalloc((size_t)n_trees * acq_boost_count_nodes(boost), sizeof *boost->nodes);
    boost->leaves = acq_zalloc((size_t)n_trees << depth, sizeof *boost->leaves);
    if (boost->nodes == NULL || boost->leaves == NULL) {
        acq_boost_free(boost);
        return acq_fail_memory(error);
    }
    *out = boost;
    return ACQ_OK;
}

void acq_boost_free(acq_boost *boost)
{
    if (boost == NULL)
        return;
    acq_free(boost->nodes);
    acq_free(boost->leaves);
    acq_free(boost);
}

uint32_t acq_boost_get_n_features(const acq_boost *boost)
{
    return boost->n_features;
}

/* Each feature twice: a missing value once as one below, once as one above every threshold. */
static void spread_row(const float *x, uint32_t n, float *out)
{
    for (uint32_t f = 0; f < n; f++) {
        out[f] = isnan(x[f]) ? -INFINITY : x[f];
        out[n + f] = isnan(x[f]) ? INFINITY : x[f];
    }
}

/* Adds what one tree says of n spread rows. Inlined with a constant depth. */
static inline void add_tree(const acq_boost *boost, uint32_t tree, uint32_t depth, const float *x,
                            size_t n, float *sums)
{
    uint32_t n_nodes = (1U << depth) - 1;
    const acq_boost_node *nodes = boost->nodes + (size_t)tree * n_nodes;
    const float *leaves = boost->leaves + ((size_t)tree << depth);
    for (size_t i = 0; i < n; i++, x += 2 * (size_t)boost->n_features) {
        uint32_t at = 0;
        for (uint32_t level = 0; level < depth; level++)
            at = 2 * at + 1 + (x[nodes[at].column] >= nodes[at].threshold);
        sums[i] += leaves[at - n_nodes];
    }
}

static void add_trees(const acq_boost *boost, const float *x, size_t n, float *sums)
{
    for (uint32_t tree = 0; tree < boost->n_trees; tree++) {
        switch (boost->depth) {
        case 5:
            add_tree(boost, tree, 5, x, n, sums);
            break;
        case 6:
            add_tree(boost, tree, 6, x, n, sums);
            break;
        default:
            add_tree(boost, tree, boost->depth, x, n, sums);
            break;
        }
    }
}

void acq_boost_score_many(const acq_boost *boost, const float *x, size_t n, float *out)
{
    float spread[BLOCK * 2 * ACQ_BOOST_MOST_FEATURES];
    uint32_t n_features = boost->n_features;
    for (size_t begin = 0; begin < n; begin += BLOCK) {
        size_t length = n - begin < BLOCK ? n - begin : BLOCK;
        for (size_t i = 0; i < length; i++) {
            spread_row(x + (begin + i) * n_features, n_features, spread + i * 2 * n_features);
            out[begin + i] = boost->start;
        }
        add_trees(boost, spread, length, out + begin);
        for (size_t i = 0; i < length; i++)
            out[begin + i] = acq_boost_bend(boost, out[begin + i]);
    }
}

double acq_boost_score(const acq_boost *boost, const float *x)
{
    float sum;
    acq_boost_score_many(boost, x, 1, &sum);
    return (double)sum;
}
