/* boost_grow.c - a tree from histograms, level by level.
 *
 *   rows:   [ node | node   | node | node ]     the rows of a node lie side by side
 *   slots:  one histogram for each node of the level
 *
 * A level: find the split of each node, part its rows, then make the children's histograms: that
 * of the child with fewer rows from its rows, in a new slot, that of the other one by taking it
 * off the parent's, in the parent's slot. Work is handed out by node, or by node and group of
 * features, and each item writes its own place; so threads change nothing in the result.
 *
 * Splits are every cut of every feature, with the missing values on either side. With sums G and H
 * of the derivatives a leaf v changes the loss by G v + (H + l2) v^2 / 2: least at v = -G / (H +
 * l2), cut to what the node may say. A split's gain is what the two children take off the loss,
 * less what the node would. Of a rising feature only splits count whose lower child says no more
 * than the upper one; then neither side may cross the middle between them, nor may anything that
 * grows below: so the whole tree is monotone, not only the split. */
#include "calibrate/boost_parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

/* ---- the best split of a node ---- */

/* What is known of a node before it is split. */
typedef struct boost_region {
    acq_slope sum;    /* of its rows */
    double low, high; /* what its leaves may say: monotone splits above it */
} boost_region;

typedef struct boost_split {
    double gain; /* 0: there is none */
    uint32_t feature, bin;
    bool missing_above;        /* NaN goes with the bins above `bin` */
    boost_region below, above; /* rows up to `bin`, and the others */
} boost_split;

#define LEAST_GAIN 1e-9

/* Of the feature being looked at. */
typedef struct search {
    const acq_boost_splitter *splitter;
    const boost_region *region;
    uint32_t feature;
    double before; /* gain of the unsplit node */
    boost_split best;
} search;

/* What a leaf of these rows would say. */
static double get_leaf(const acq_boost_splitter *splitter, const boost_region *region)
{
    double g = (double)region->sum[0] * splitter->unit;
    double h = (double)region->sum[1] * splitter->unit + splitter->params->l2;
    double leaf = h > 0 ? -g / h : 0;
    return fmin(fmax(leaf, region->low), region->high);
}

/* Twice what a leaf takes off the loss. */
static double get_gain(const acq_boost_splitter *splitter, const boost_region *region, double leaf)
{
    double g = (double)region->sum[0] * splitter->unit;
    double h = (double)region->sum[1] * splitter->unit + splitter->params->l2;
    return -(2 * g + h * leaf) * leaf;
}

/* Narrows what the two sides may say; false when they are in the wrong order. */
static bool bound_sides(int direction, double below, double above, boost_split *split)
{
    double middle = (below + above) / 2;
    if (direction == 0)
        return true;
    if (direction > 0 ? below > above : below < above)
        return false;
    if (direction > 0) {
        split->below.high = middle;
        split->above.low = middle;
    } else {
        split->below.low = middle;
        split->above.high = middle;
    }
    return true;
}

static void try_split(search *at, uint32_t bin, bool missing_above, acq_slope below)
{
    const acq_boost_params *params = at->splitter->params;
    boost_split split = {.feature = at->feature,
                         .bin = bin,
                         .missing_above = missing_above,
                         .below = *at->region,
                         .above = *at->region};
    split.below.sum = below;
    split.above.sum = at->region->sum - below;
    int64_t least =
        split.below.sum[1] < split.above.sum[1] ? split.below.sum[1] : split.above.sum[1];
    if (least <= 0 || (double)least * at->splitter->unit < params->least_hessian)
        return;
    double low = get_leaf(at->splitter, &split.below);
    double high = get_leaf(at->splitter, &split.above);
    split.gain = get_gain(at->splitter, &split.below, low) +
                 get_gain(at->splitter, &split.above, high) - at->before;
    if (split.gain <= at->best.gain)
        return;
    /* At bin 0 there are only missing values below: they are no lower value. */
    int direction = params->monotone == NULL || bin == 0 ? 0 : params->monotone[at->feature];
    if (bound_sides(direction, low, high, &split))
        at->best = split;
}

/* Where no value is missing, one that turns up later goes with the larger side. */
static void try_cut(search *at, uint32_t bin, acq_slope below, acq_slope missing)
{
    if (missing[1] == 0) {
        try_split(at, bin, 2 * below[1] < at->region->sum[1], below);
        return;
    }
    try_split(at, bin, false, below + missing);
    try_split(at, bin, true, below);
}

static void search_feature(search *at, const acq_slope *histogram)
{
    acq_slope missing = histogram[ACQ_BOOST_MISSING], below = {0, 0};
    uint32_t n_cuts = at->splitter->bins->n_cuts[at->feature];
    for (uint32_t bin = 0; bin < n_cuts; bin++) {
        below += histogram[bin];
        if (bin == 0 || histogram[bin][1] != 0)
            try_cut(at, bin, below, missing);
    }
}

/* histogram: n_features times ACQ_BOOST_BINS, the sums of each feature and bin. */
static boost_split find_split(const acq_boost_splitter *splitter, const boost_region *region,
                              const acq_slope *histogram)
{
    double leaf = get_leaf(splitter, region);
    search at = {.splitter = splitter,
                 .region = region,
                 .before = get_gain(splitter, region, leaf) + LEAST_GAIN};
    for (uint32_t f = 0; f < splitter->bins->n_features; f++) {
        at.feature = f;
        search_feature(&at, histogram + (size_t)f * ACQ_BOOST_BINS);
    }
    return at.best;
}

/* ---- growing ---- */

enum { MOST_NODES = 1 << ACQ_BOOST_MOST_DEPTH };

/* One node of the level that grows. */
typedef struct twig {
    boost_region region;
    size_t begin, end; /* of its rows */
    uint32_t place;    /* in the tree */
    uint32_t slot;     /* of its histogram */
    size_t middle;     /* after the split: where the rows above begin */
    boost_split split;
} twig;

/* A node as codes are walked: a row goes on to the second child when code + shift > bin, modulo
 * 256. A shift of 1 makes the code of missing values the least. */
typedef struct step {
    const uint8_t *codes; /* of the feature, ACQ_BOOST_GROUP bytes from row to row */
    uint8_t shift, bin;
} step;

struct acq_boost_grower {
    const acq_boost_splitter *splitter;
    size_t n_slot;    /* slopes of a slot */
    acq_slope *slots; /* 2^(depth - 1) */
    uint32_t n_used;
    uint32_t *spare; /* room for all rows */
    twig now[MOST_NODES], next[MOST_NODES];
    uint32_t n_now, n_next;
    step steps[MOST_NODES];
    /* of the tree at hand */
    const acq_slope *slopes;
    uint32_t *rows;
    acq_boost *boost;
    uint32_t tree;
};

acq_status acq_boost_grower_new(const acq_boost_splitter *splitter, acq_boost_grower **out)
{
    acq_boost_grower *grower = acq_zalloc(1, sizeof *grower);
    if (grower == NULL)
        return ACQ_ERR_MEMORY;
    grower->splitter = splitter;
    grower->n_slot = (size_t)splitter->bins->n_groups * ACQ_BOOST_GROUP * ACQ_BOOST_BINS;
    grower->slots =
        acq_alloc((size_t)1 << (splitter->params->depth - 1), grower->n_slot * sizeof(acq_slope));
    grower->spare = acq_alloc(splitter->bins->n_rows, sizeof *grower->spare);
    if (grower->slots == NULL || grower->spare == NULL) {
        acq_boost_grower_free(grower);
        return ACQ_ERR_MEMORY;
    }
    *out = grower;
    return ACQ_OK;
}

void acq_boost_grower_free(acq_boost_grower *grower)
{
    if (grower == NULL)
        return;
    acq_free(grower->slots);
    acq_free(grower->spare);
    acq_free(grower);
}

/* The part of a slot that a group of features has. */
static acq_slope *get_histogram(const acq_boost_grower *grower, uint32_t slot, size_t group)
{
    return grower->slots + slot * grower->n_slot + group * ACQ_BOOST_GROUP * ACQ_BOOST_BINS;
}

static void build_histogram(const acq_boost_grower *grower, const uint32_t *rows, size_t n,
                            uint32_t group, acq_slope *histogram)
{
    const uint8_t *codes = acq_boost_get_codes(grower->splitter->bins, group);
    memset(histogram, 0, ACQ_BOOST_GROUP * ACQ_BOOST_BINS * sizeof *histogram);
    for (size_t i = 0; i < n; i++) {
        acq_slope slope = grower->slopes[rows[i]];
        const uint8_t *code = codes + (size_t)rows[i] * ACQ_BOOST_GROUP;
        for (uint32_t f = 0; f < ACQ_BOOST_GROUP; f++)
            histogram[f * ACQ_BOOST_BINS + code[f]] += slope;
    }
}

static acq_status build_root(void *context, size_t group, unsigned thread)
{
    const acq_boost_grower *grower = context;
    const twig *root = &grower->now[0];
    (void)thread;
    build_histogram(grower, grower->rows, root->end, (uint32_t)group,
                    get_histogram(grower, 0, group));
    return ACQ_OK;
}

/* Item: a pair of children and a group of features. */
static acq_status build_children(void *context, size_t item, unsigned thread)
{
    const acq_boost_grower *grower = context;
    size_t n_groups = grower->splitter->bins->n_groups, group = item % n_groups;
    const twig *fewer = &grower->next[item / n_groups * 2], *more = fewer + 1;
    (void)thread;
    if (fewer->slot < more->slot) {
        more = fewer;
        fewer++;
    }
    acq_slope *built = get_histogram(grower, fewer->slot, group);
    acq_slope *rest = get_histogram(grower, more->slot, group);
    build_histogram(grower, grower->rows + fewer->begin, fewer->end - fewer->begin, (uint32_t)group,
                    built);
    for (size_t i = 0; i < (size_t)ACQ_BOOST_GROUP * ACQ_BOOST_BINS; i++)
        rest[i] -= built[i];
    return ACQ_OK;
}

static step make_step(const acq_boost_grower *grower, const boost_split *split)
{
    const uint8_t *codes =
        acq_boost_get_codes(grower->splitter->bins, split->feature / ACQ_BOOST_GROUP);
    uint8_t shift = !split->missing_above;
    return (step){.codes = codes + split->feature % ACQ_BOOST_GROUP,
                  .shift = shift,
                  .bin = (uint8_t)(split->bin + shift)};
}

static bool goes_above(const step *at, size_t row)
{
    return (uint8_t)(at->codes[row * ACQ_BOOST_GROUP] + at->shift) > at->bin;
}

/* Rows below first, then those above, each in the order they had. */
static void part_rows(const acq_boost_grower *grower, twig *node)
{
    step at = make_step(grower, &node->split);
    uint32_t *rows = grower->rows, *spare = grower->spare + node->begin;
    size_t n_below = node->begin, n_above = 0;
    for (size_t i = node->begin; i < node->end; i++) {
        uint32_t row = rows[i];
        bool is_above = goes_above(&at, row);
        rows[n_below] = row; /* both are written, one of them counts */
        spare[n_above] = row;
        n_below += !is_above;
        n_above += is_above;
    }
    memcpy(rows + n_below, spare, n_above * sizeof *rows);
    node->middle = n_below;
}

static acq_status split_node(void *context, size_t item, unsigned thread)
{
    acq_boost_grower *grower = context;
    twig *node = &grower->now[item];
    (void)thread;
    node->split = find_split(grower->splitter, &node->region, get_histogram(grower, node->slot, 0));
    if (node->split.gain > 0)
        part_rows(grower, node);
    return ACQ_OK;
}

/* All leaves below the node say the same. */
static void end_node(const acq_boost_grower *grower, const twig *node, uint32_t level)
{
    const acq_boost *boost = grower->boost;
    uint32_t length = 1U << (boost->depth - level);
    uint32_t first = (node->place + 1) * length - (1U << boost->depth);
    float *leaves = boost->leaves + ((size_t)grower->tree << boost->depth) + first;
    double leaf = get_leaf(grower->splitter, &node->region);
    for (uint32_t i = 0; i < length; i++)
        leaves[i] = (float)(leaf * grower->splitter->params->rate);
}

static void write_node(acq_boost_grower *grower, const twig *node)
{
    const boost_split *split = &node->split;
    const acq_boost_bins *bins = grower->splitter->bins;
    size_t first = (size_t)grower->tree * acq_boost_count_nodes(grower->boost);
    grower->steps[node->place] = make_step(grower, split);
    grower->boost->nodes[first + node->place] =
        (acq_boost_node){.threshold = acq_boost_get_cuts(bins, split->feature)[split->bin],
                         .column = split->feature + (split->missing_above ? bins->n_features : 0)};
}

/* The child with more rows takes over its parent's slot. */
static void add_children(acq_boost_grower *grower, const twig *node)
{
    bool more_below = node->middle - node->begin >= node->end - node->middle;
    uint32_t slot = grower->n_used++;
    grower->next[grower->n_next++] = (twig){.region = node->split.below,
                                            .begin = node->begin,
                                            .end = node->middle,
                                            .place = 2 * node->place + 1,
                                            .slot = more_below ? node->slot : slot};
    grower->next[grower->n_next++] = (twig){.region = node->split.above,
                                            .begin = node->middle,
                                            .end = node->end,
                                            .place = 2 * node->place + 2,
                                            .slot = more_below ? slot : node->slot};
}

static void grow_level(acq_boost_grower *grower, uint32_t level)
{
    const acq_boost_params *params = grower->splitter->params;
    (void)acq_threads_run(params->n_threads, grower->n_now, split_node, grower);
    grower->n_next = 0;
    for (uint32_t i = 0; i < grower->n_now; i++) {
        if (grower->now[i].split.gain > 0) {
            write_node(grower, &grower->now[i]);
            add_children(grower, &grower->now[i]);
        } else {
            end_node(grower, &grower->now[i], level);
        }
    }
    if (level + 1 < params->depth)
        (void)acq_threads_run(params->n_threads,
                              (size_t)grower->n_next / 2 * grower->splitter->bins->n_groups,
                              build_children, grower);
    memcpy(grower->now, grower->next, grower->n_next * sizeof *grower->now);
    grower->n_now = grower->n_next;
}

void acq_boost_grow(acq_boost_grower *grower, const acq_slope *slopes, uint32_t *rows, size_t n,
                    acq_boost *boost, uint32_t tree)
{
    const acq_boost_params *params = grower->splitter->params;
    acq_slope sum = {0, 0};
    for (size_t i = 0; i < n; i++)
        sum += slopes[rows[i]];
    grower->slopes = slopes;
    grower->rows = rows;
    grower->boost = boost;
    grower->tree = tree;
    for (uint32_t i = 0; i < acq_boost_count_nodes(boost); i++) /* where nothing splits: any way */
        grower->steps[i] = (step){.codes = grower->splitter->bins->codes};
    grower->n_used = 1;
    grower->n_now = 1;
    grower->now[0] = (twig){.region = {.sum = sum, .low = -INFINITY, .high = INFINITY}, .end = n};
    (void)acq_threads_run(params->n_threads, grower->splitter->bins->n_groups, build_root, grower);
    for (uint32_t level = 0; level < params->depth; level++)
        grow_level(grower, level);
    for (uint32_t i = 0; i < grower->n_now; i++)
        end_node(grower, &grower->now[i], params->depth);
}

void acq_boost_grower_add(const acq_boost_grower *grower, size_t begin, size_t end, float *sums)
{
    const acq_boost *boost = grower->boost;
    const float *leaves = boost->leaves + ((size_t)grower->tree << boost->depth);
    uint32_t n_nodes = acq_boost_count_nodes(boost);
    for (size_t row = begin; row < end; row++) {
        uint32_t at = 0;
        for (uint32_t level = 0; level < boost->depth; level++)
            at = 2 * at + 1 + goes_above(&grower->steps[at], row);
        sums[row] += leaves[at - n_nodes];
    }
}
