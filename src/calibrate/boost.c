/* boost.c - fitted trees: their scores, the curve after them, and the tensors they are kept in.
 *
 * Scoring: a block of rows goes through one tree after the other, so that both stay in the cache;
 * the walks of neighbouring rows are independent and overlap. Sums are floats, added in the order
 * of the trees: adding keeps order, so monotone trees stay monotone.
 *
 * The curve, rising, says what the trees' log-odds are worth on rows they have not seen. Trees that
 * have learnt their rows too well state odds that are too far out. Rows that trees of another fold
 * scored tell how far: per step of half a log-odds the share of true rows, drawn towards what was
 * stated as long as there are few, then made rising by pooling neighbours that are in the wrong
 * order. From pool to pool the curve is straight. Along a pool, and beyond the last one, it rises
 * hardly or not at all: the rows there have proved that higher odds are worth nothing, or there are
 * none to prove that they are worth more. Below the first it runs parallel to no change.
 *
 * Tensors, all of floats, which hold the small numbers of features exactly:
 *   start       [4]                 number of features, log-odds before the first tree, knots,
 *                                   trees of a prior; before 0.2 without the last
 *   splits      [trees, 2^d - 1]    feature, plus number of features: NaN to the second child
 *   thresholds  [trees, 2^d - 1]
 *   leaves      [trees, 2^d]
 *   curve       [28, 2]             knots, rising; unused ones are 0, 0 at the end */
#include "calibrate/boost_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* Rows that are scored together, and floats that their features take: stacks may be small. */
enum { BLOCK = 32, MOST_SPREAD = 4096 };

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

uint32_t acq_boost_get_n_trees(const acq_boost *boost)
{
    return boost->n_trees;
}

uint32_t acq_boost_get_n_features(const acq_boost *boost)
{
    return boost->n_features;
}

/* ---- the curve ---- */

static const double FIRST = -8, STEP = .5;
static const double DOUBT = 20; /* rows that speak for what was stated */
static const double RISE =
    .1; /* of a log-odds where it is worth nothing: keeps most of the order */
static const double BEYOND = 40;     /* log-odds that nothing exceeds the last pool by */
static const double MOST_P = .99;    /* that can be told from held-out rows */
enum { BINS = ACQ_BOOST_KNOTS - 1 }; /* a pool of several has two knots, and one is beyond */

typedef struct curve_bin {
    double weight, rows, log_odds, stated, truth; /* sums, weighted */
    double low, high;                             /* mean log-odds of the first and the last bin */
} curve_bin;                                      /* stated: shares of label 1 */

static size_t find_bin(double log_odds)
{
    double bin = floor((log_odds - FIRST) / STEP);
    return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : (size_t)bin;
}

static void fill_curve(const float *log_odds, const acq_boost_data *data, double missing,
                       curve_bin *bins)
{
    for (size_t i = 0; i < data->n; i++) {
        double weight = data->weights == NULL ? 1.0 : (double)data->weights[i];
        curve_bin *bin = &bins[find_bin((double)log_odds[i])];
        bin->rows++;
        bin->weight += weight;
        bin->log_odds += weight * (double)log_odds[i];
        bin->stated += weight * acq_boost_get_label_share(
                                    missing, acq_boost_to_probability((double)log_odds[i]));
        bin->truth += data->labels[i] ? weight : 0;
    }
}

/* Share of true rows, drawn towards the stated one. */
static double get_share(const curve_bin *bin)
{
    double doubt = DOUBT * bin->weight / bin->rows;
    return (bin->truth + doubt * bin->stated / bin->weight) / (bin->weight + doubt);
}

static void pool(curve_bin *into, const curve_bin *from)
{
    into->weight += from->weight;
    into->rows += from->rows;
    into->log_odds += from->log_odds;
    into->stated += from->stated;
    into->truth += from->truth;
    into->high = from->high;
}

/* Neighbours in the wrong order become one; returns how many are left. */
static size_t pool_wrong_order(curve_bin *bins, size_t n)
{
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        if (bins[i].weight <= 0) /* no rows, or none that count */
            continue;
        bins[n_left] = bins[i];
        bins[n_left].low = bins[n_left].high = bins[i].log_odds / bins[i].weight;
        n_left++;
        while (n_left > 1 && get_share(&bins[n_left - 1]) <= get_share(&bins[n_left - 2])) {
            pool(&bins[n_left - 2], &bins[n_left - 1]);
            n_left--;
        }
    }
    return n_left;
}

static void add_knot(acq_boost *boost, double from, double to)
{
    acq_boost_knot knot = {.from = (float)from, .to = (float)to};
    if (boost->n_knots > 0) {
        const acq_boost_knot *last = &boost->knots[boost->n_knots - 1];
        if (knot.from <= last->from) /* means that rounding made one */
            return;
        knot.to = fmaxf(knot.to, last->to);
    }
    boost->knots[boost->n_knots++] = knot;
}

/* p of rows of which this share is labelled 1. */
static double find_probability(double share, double missing)
{
    double p = share * (1 + missing);
    return fmin(fmax(p, 1e-7), missing > 0 ? MOST_P : 1 - 1e-7);
}

void acq_boost_straighten(acq_boost *boost, const float *log_odds, const acq_boost_data *data,
                          double missing)
{
    curve_bin bins[BINS] = {0};
    fill_curve(log_odds, data, missing, bins);
    size_t n = pool_wrong_order(bins, BINS);
    boost->n_knots = 0;
    for (size_t i = 0; i < n; i++) {
        const curve_bin *bin = &bins[i];
        double share = find_probability(get_share(bin), missing);
        double middle = bin->log_odds / bin->weight, to = log(share / (1 - share));
        add_knot(boost, bin->low, to - RISE * (middle - bin->low));
        if (bin->high > bin->low)
            add_knot(boost, bin->high, to + RISE * (bin->high - middle));
        if (i + 1 == n)
            add_knot(boost, bin->high + BEYOND, to + RISE * (bin->high + BEYOND - middle));
    }
}

/* What the trees' log-odds are worth by the curve. */
static float bend(const acq_boost *boost, float log_odds)
{
    const acq_boost_knot *knots = boost->knots;
    uint32_t n = boost->n_knots, i = 0;
    if (n == 0)
        return log_odds;
    while (i < n && knots[i].from <= log_odds)
        i++;
    if (i == 0)
        return knots[0].to + (log_odds - knots[0].from);
    if (i == n)
        return knots[n - 1].to + (log_odds - knots[n - 1].from);
    float along = (log_odds - knots[i - 1].from) / (knots[i].from - knots[i - 1].from);
    float between = knots[i - 1].to + along * (knots[i].to - knots[i - 1].to);
    return fminf(between, knots[i].to); /* rounding must not make it fall at the next knot */
}

/* ---- scores ---- */

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

/* Trees begin to end - 1. */
static void add_trees(const acq_boost *boost, uint32_t begin, uint32_t end, const float *x,
                      size_t n, float *sums)
{
    for (uint32_t tree = begin; tree < end; tree++) {
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

/* A block of rows: what the prior's trees say, then what all say. */
static void score_block(const acq_boost *boost, const float *x, size_t n, float *given, float *out)
{
    float spread[MOST_SPREAD];
    uint32_t n_features = boost->n_features;
    spread[0] = 0; /* all there is without features */
    for (size_t i = 0; i < n; i++) {
        spread_row(x + i * n_features, n_features, spread + i * 2 * n_features);
        out[i] = boost->start;
    }
    add_trees(boost, 0, boost->n_given, spread, n, out);
    memcpy(given, out, n * sizeof *given);
    add_trees(boost, boost->n_given, boost->n_trees, spread, n, out);
    for (size_t i = 0; i < n; i++)
        out[i] = bend(boost, out[i]);
}

static size_t choose_block(const acq_boost *boost)
{
    size_t room = MOST_SPREAD / (2 * (size_t)(boost->n_features + (boost->n_features == 0)));
    return room < BLOCK ? room : BLOCK;
}

void acq_boost_score_many(const acq_boost *boost, const float *x, size_t n, float *out)
{
    acq_boost_judge_many((acq_boost_judge){boost, {0, ACQ_BOOST_NOT_GIVEN}}, x, n, out);
}

void acq_boost_judge_many(acq_boost_judge judge, const float *x, size_t n, float *out)
{
    const acq_boost *boost = judge.trees;
    acq_boost_shift shift = judge.shift;
    float given[BLOCK];
    size_t block = choose_block(boost);
    bool has_given = boost->n_given > 0 && shift.given > ACQ_BOOST_NOT_GIVEN;
    for (size_t begin = 0; begin < n; begin += block) {
        size_t length = n - begin < block ? n - begin : block;
        score_block(boost, x + begin * boost->n_features, length, given, out + begin);
        for (size_t i = 0; i < length; i++) {
            float *odds = &out[begin + i];
            *odds += shift.learnt;
            if (has_given && given[i] >= ACQ_BOOST_SURE)
                *odds = fmaxf(*odds, given[i] + shift.given);
        }
    }
}

double acq_boost_judge_one(acq_boost_judge judge, const float *x)
{
    float odds;
    acq_boost_judge_many(judge, x, 1, &odds);
    return (double)odds;
}

double acq_boost_score_given(const acq_boost *boost, const float *x)
{
    float given, all;
    score_block(boost, x, 1, &given, &all);
    return boost->n_given > 0 && given >= ACQ_BOOST_SURE ? (double)given : -INFINITY;
}

double acq_boost_score(const acq_boost *boost, const float *x)
{
    float sum;
    acq_boost_score_many(boost, x, 1, &sum);
    return (double)sum;
}

/* ---- tensors ---- */

enum { START, SPLITS, THRESHOLDS, LEAVES, CURVE, N_TENSORS, MOST_NAME = 80 };
enum { N_HEAD = 4, N_OLD_HEAD = 3 }; /* numbers in "start" */

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
    shapes[START].rows = N_HEAD;
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
    values[tensors[START].offset + 3] = (float)boost->n_given;
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
    float head[N_HEAD] = {0};
    uint32_t n_trees = 0, n_nodes = 0, n_head = 0, cols;
    snprintf(start, sizeof start, "%.60s.%s", prefix, names[START]);
    snprintf(splits, sizeof splits, "%.60s.%s", prefix, names[SPLITS]);
    if (!acq_safetensors_get_shape(file, start, &n_head, &cols) || n_head != N_OLD_HEAD)
        n_head = N_HEAD;
    acq_status status =
        acq_safetensors_copy_tensor(file, &(acq_shape){start, n_head, 0}, head, error);
    if (status != ACQ_OK)
        return status;
    if (!acq_safetensors_get_shape(file, splits, &n_trees, &n_nodes) || get_depth(n_nodes) == 0)
        return fail_damaged(prefix, "have no splits, or no depth from 1 to 8", error);
    if (!is_index(head[0], ACQ_BOOST_MOST_FEATURES + 1) || (head[0] == 0 && n_trees > 0))
        return fail_damaged(prefix, "have an impossible number of features", error);
    if (!is_index(head[2], ACQ_BOOST_KNOTS + 1))
        return fail_damaged(prefix, "have an impossible curve", error);
    if (!is_index(head[3], n_trees + 1))
        return fail_damaged(prefix, "have more trees of a prior than trees", error);
    status = acq_boost_new((uint32_t)head[0], n_trees, get_depth(n_nodes), out, error);
    if (status == ACQ_OK) {
        (*out)->start = head[1];
        (*out)->n_knots = (uint32_t)head[2];
        (*out)->n_given = (uint32_t)head[3];
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
