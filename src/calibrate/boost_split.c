/* boost_split.c - every cut of every feature, with the missing values on either side.
 *
 * With sums G and H of the derivatives a leaf v changes the loss by G v + (H + l2) v^2 / 2: least
 * at v = -G / (H + l2), cut to what the node may say. A split's gain is what the two children take
 * off the loss, less what the node would. Of a rising feature only splits count whose lower child
 * says no more than the upper one; then neither side may cross the middle between them, nor may
 * anything that grows below: so the whole tree is monotone, not only the split. */
#include "calibrate/boost_split.h"

#include <math.h>

#define LEAST_GAIN 1e-9

/* Of the feature being looked at. */
typedef struct search {
    const acq_boost_splitter *splitter;
    const acq_boost_region *region;
    uint32_t feature;
    double before; /* gain of the unsplit node */
    acq_boost_split best;
} search;

double acq_boost_get_leaf(const acq_boost_splitter *splitter, const acq_boost_region *region)
{
    double g = (double)region->sum[0] * splitter->unit;
    double h = (double)region->sum[1] * splitter->unit + splitter->params->l2;
    double leaf = h > 0 ? -g / h : 0;
    return fmin(fmax(leaf, region->low), region->high);
}

/* Twice what a leaf takes off the loss. */
static double get_gain(const acq_boost_splitter *splitter, const acq_boost_region *region,
                       double leaf)
{
    double g = (double)region->sum[0] * splitter->unit;
    double h = (double)region->sum[1] * splitter->unit + splitter->params->l2;
    return -(2 * g + h * leaf) * leaf;
}

/* Narrows what the two sides may say; false when they are in the wrong order. */
static bool bound_sides(int direction, double below, double above, acq_boost_split *split)
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
    acq_boost_split split = {.feature = at->feature,
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
    double low = acq_boost_get_leaf(at->splitter, &split.below);
    double high = acq_boost_get_leaf(at->splitter, &split.above);
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

acq_boost_split acq_boost_find_split(const acq_boost_splitter *splitter,
                                     const acq_boost_region *region, const acq_slope *histogram)
{
    double leaf = acq_boost_get_leaf(splitter, region);
    search at = {.splitter = splitter,
                 .region = region,
                 .before = get_gain(splitter, region, leaf) + LEAST_GAIN};
    for (uint32_t f = 0; f < splitter->bins->n_features; f++) {
        at.feature = f;
        search_feature(&at, histogram + (size_t)f * ACQ_BOOST_BINS);
    }
    return at.best;
}
