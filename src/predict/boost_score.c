/* boost_score.c - walking the trees. A block of rows goes through one tree after the other, so that
 * both stay in the cache; the walks of neighbouring rows are independent and overlap. Sums are
 * floats, added in the order of the trees: adding keeps order, so monotone trees stay monotone. */
#include "predict/boost_model.h"

#include "base/memory.h"

enum { BLOCK = 64 };

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

static inline uint32_t get_child(const acq_boost_node *node, const float *x)
{
    float value = x[node->feature];
    uint32_t is_missing = value != value;
    return (uint32_t)(value >= node->threshold) | (is_missing & node->missing_child);
}

/* Inlined with a constant depth. */
static inline void add_rows(const acq_boost *boost, uint32_t tree, uint32_t depth, const float *x,
                            size_t n, float *sums)
{
    uint32_t n_nodes = (1U << depth) - 1;
    const acq_boost_node *nodes = boost->nodes + (size_t)tree * n_nodes;
    const float *leaves = boost->leaves + ((size_t)tree << depth);
    for (size_t i = 0; i < n; i++, x += boost->n_features) {
        uint32_t at = 0;
        for (uint32_t level = 0; level < depth; level++)
            at = 2 * at + 1 + get_child(&nodes[at], x);
        sums[i] += leaves[at - n_nodes];
    }
}

void acq_boost_add_tree(const acq_boost *boost, uint32_t tree, const float *x, size_t n,
                        float *sums)
{
    switch (boost->depth) {
    case 4:
        add_rows(boost, tree, 4, x, n, sums);
        break;
    case 5:
        add_rows(boost, tree, 5, x, n, sums);
        break;
    case 6:
        add_rows(boost, tree, 6, x, n, sums);
        break;
    default:
        add_rows(boost, tree, boost->depth, x, n, sums);
        break;
    }
}

void acq_boost_score_many(const acq_boost *boost, const float *x, size_t n, float *out)
{
    for (size_t begin = 0; begin < n; begin += BLOCK) {
        size_t length = n - begin < BLOCK ? n - begin : BLOCK;
        for (size_t i = 0; i < length; i++)
            out[begin + i] = boost->start;
        for (uint32_t tree = 0; tree < boost->n_trees; tree++)
            acq_boost_add_tree(boost, tree, x + begin * boost->n_features, length, out + begin);
    }
}

double acq_boost_score(const acq_boost *boost, const float *x)
{
    float sum;
    acq_boost_score_many(boost, x, 1, &sum);
    return (double)sum;
}
