/* boost_tensors.c - trees as tensors of floats, and back with every number checked.
 *
 *   start       [3]                 number of features, log-odds before the first tree, knots
 *   splits      [trees, 2^d - 1]    feature, plus number of features: NaN to the second child
 *   thresholds  [trees, 2^d - 1]
 *   leaves      [trees, 2^d]
 *   curve       [28, 2]             knots, rising; unused ones are 0, 0 at the end
 *
 * Numbers of features are small, so floats hold them exactly. */
#include "calibrate/boost_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { START, SPLITS, THRESHOLDS, LEAVES, CURVE, N_TENSORS, MOST_NAME = 80 };

static const char *const names[N_TENSORS] = {"start", "splits", "thresholds", "leaves", "curve"};

size_t acq_boost_get_n_shapes(void)
{
    return N_TENSORS;
}

static void set_sizes(const acq_boost *boost, acq_shape *shapes)
{
    uint32_t n_nodes = acq_boost_count_nodes(boost);
    for (int i = SPLITS; i <= LEAVES; i++) {
        shapes[i].rows = boost->n_trees;
        shapes[i].cols = i == LEAVES ? n_nodes + 1 : n_nodes;
    }
    shapes[START].rows = 3;
    shapes[START].cols = 0;
    shapes[CURVE].rows = ACQ_BOOST_KNOTS;
    shapes[CURVE].cols = 2;
}

acq_status acq_boost_get_shapes(const acq_boost *boost, const char *prefix, acq_arena *arena,
                                acq_shape *out)
{
    char name[MOST_NAME];
    for (int i = 0; i < N_TENSORS; i++) {
        int length = snprintf(name, sizeof name, "%.60s.%s", prefix, names[i]);
        out[i].name = acq_arena_copy_string(arena, name, (size_t)length);
        if (out[i].name == NULL)
            return ACQ_ERR_MEMORY;
    }
    set_sizes(boost, out);
    return ACQ_OK;
}

void acq_boost_store(const acq_boost *boost, const acq_tensor *tensors, float *values)
{
    size_t n_nodes = (size_t)boost->n_trees * acq_boost_count_nodes(boost);
    size_t n_leaves = (size_t)boost->n_trees << boost->depth;
    for (size_t i = 0; i < n_nodes; i++) {
        const acq_boost_node *node = &boost->nodes[i];
        values[tensors[SPLITS].offset + i] = (float)node->column;
        values[tensors[THRESHOLDS].offset + i] = node->threshold;
    }
    memcpy(values + tensors[LEAVES].offset, boost->leaves, n_leaves * sizeof(float));
    values[tensors[START].offset] = (float)boost->n_features;
    values[tensors[START].offset + 1] = boost->start;
    values[tensors[START].offset + 2] = (float)boost->n_knots;
    for (uint32_t i = 0; i < boost->n_knots; i++) {
        values[tensors[CURVE].offset + 2 * i] = boost->knots[i].from;
        values[tensors[CURVE].offset + 2 * i + 1] = boost->knots[i].to;
    }
}

static acq_status fail_damaged(const char *prefix, const char *what, acq_error *error)
{
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the trees \"%.60s\" %s; the file is damaged, make it again", prefix, what);
}

/* Whole, and below `end`. */
static bool is_index(float value, uint32_t end)
{
    return value >= 0 && (double)value < (double)end && value == floorf(value);
}

/* d when n is 2^d - 1, else 0. */
static uint32_t get_depth(uint32_t n)
{
    uint32_t depth = 0;
    while (depth < ACQ_BOOST_MOST_DEPTH && (1U << depth) - 1 < n)
        depth++;
    return (1U << depth) - 1 == n ? depth : 0;
}

/* Room for the trees that the file says it has. */
static acq_status new_from_file(const acq_safetensors *file, const char *prefix, acq_boost **out,
                                acq_error *error)
{
    char start[MOST_NAME], splits[MOST_NAME];
    float head[3];
    uint32_t n_trees = 0, n_nodes = 0;
    snprintf(start, sizeof start, "%.60s.%s", prefix, names[START]);
    snprintf(splits, sizeof splits, "%.60s.%s", prefix, names[SPLITS]);
    acq_status status = acq_safetensors_copy_tensor(file, &(acq_shape){start, 3, 0}, head, error);
    if (status != ACQ_OK)
        return status;
    if (!acq_safetensors_get_shape(file, splits, &n_trees, &n_nodes) || get_depth(n_nodes) == 0)
        return fail_damaged(prefix, "have no splits, or no depth from 1 to 8", error);
    if (!is_index(head[0], ACQ_BOOST_MOST_FEATURES + 1) || (head[0] == 0 && n_trees > 0))
        return fail_damaged(prefix, "have an impossible number of features", error);
    if (!is_index(head[2], ACQ_BOOST_KNOTS + 1))
        return fail_damaged(prefix, "have an impossible curve", error);
    status = acq_boost_new((uint32_t)head[0], n_trees, get_depth(n_nodes), out, error);
    if (status == ACQ_OK) {
        (*out)->start = head[1];
        (*out)->n_knots = (uint32_t)head[2];
    }
    return status;
}

static acq_status load_curve(const acq_safetensors *file, const acq_shape *shape,
                             const char *prefix, acq_boost *boost, acq_error *error)
{
    float values[2 * ACQ_BOOST_KNOTS];
    acq_status status = acq_safetensors_copy_tensor(file, shape, values, error);
    for (uint32_t i = 0; i < boost->n_knots && status == ACQ_OK; i++) {
        acq_boost_knot knot = {.from = values[2 * i], .to = values[2 * i + 1]};
        if (i > 0 && (knot.from <= boost->knots[i - 1].from || knot.to < boost->knots[i - 1].to))
            return fail_damaged(prefix, "have a curve that falls", error);
        boost->knots[i] = knot;
    }
    return status;
}

/* Nodes and leaves into a boost that has room for them; values: room for all nodes. */
static acq_status load_trees(const acq_safetensors *file, const acq_shape *shapes,
                             const char *prefix, acq_boost *boost, float *values, acq_error *error)
{
    size_t n_nodes = (size_t)boost->n_trees * acq_boost_count_nodes(boost);
    acq_status status = acq_safetensors_copy_tensor(file, &shapes[SPLITS], values, error);
    for (size_t i = 0; i < n_nodes && status == ACQ_OK; i++) {
        if (!is_index(values[i], 2 * boost->n_features))
            return fail_damaged(prefix, "split by a feature that there is not", error);
        boost->nodes[i].column = (uint32_t)values[i];
    }
    if (status == ACQ_OK)
        status = acq_safetensors_copy_tensor(file, &shapes[THRESHOLDS], values, error);
    for (size_t i = 0; i < n_nodes && status == ACQ_OK; i++)
        boost->nodes[i].threshold = values[i];
    if (status == ACQ_OK)
        status = acq_safetensors_copy_tensor(file, &shapes[LEAVES], boost->leaves, error);
    return status == ACQ_OK ? load_curve(file, &shapes[CURVE], prefix, boost, error) : status;
}

static acq_status load_into(const acq_safetensors *file, const char *prefix, acq_boost *boost,
                            acq_error *error)
{
    acq_shape shapes[N_TENSORS];
    acq_arena arena;
    acq_arena_init(&arena);
    size_t n_nodes = (size_t)boost->n_trees * acq_boost_count_nodes(boost);
    float *values = acq_alloc(n_nodes, sizeof *values);
    acq_status status = acq_boost_get_shapes(boost, prefix, &arena, shapes);
    if (values == NULL || status != ACQ_OK)
        status = acq_fail_memory(error);
    else
        status = load_trees(file, shapes, prefix, boost, values, error);
    acq_free(values);
    acq_arena_deinit(&arena);
    return status;
}

acq_status acq_boost_load(const acq_safetensors *file, const char *prefix, acq_boost **out,
                          acq_error *error)
{
    acq_boost *boost = NULL;
    acq_status status = new_from_file(file, prefix, &boost, error);
    if (status == ACQ_OK)
        status = load_into(file, prefix, boost, error);
    if (status != ACQ_OK) {
        acq_boost_free(boost);
        return status;
    }
    *out = boost;
    return ACQ_OK;
}
