/* boost_curve.c - the last step of a score: a rising curve that says what the trees' log-odds are
 * worth on rows they have not seen.
 *
 * Trees that have learnt their rows too well state odds that are too far out. Rows that trees of
 * another fold scored tell how far: per step of half a log-odds the share of true rows, drawn
 * towards what was stated as long as there are few, then made rising by pooling neighbours that are
 * in the wrong order. From pool to pool the curve is straight. Along a pool, and beyond the last
 * one, it rises hardly or not at all: the rows there have shown that higher odds are worth nothing,
 * or nobody has shown that they are worth more. Below the first it runs parallel to no change. */
#include "calibrate/boost_model.h"

#include <math.h>

static const double FIRST = -8, STEP = .5;
static const double DOUBT = 20; /* rows that speak for what was stated */
static const double RISE =
    .1; /* of a log-odds where it is worth nothing: keeps most of the order */
static const double BEYOND = 40;     /* log-odds that nothing exceeds the last pool by */
enum { BINS = ACQ_BOOST_KNOTS - 1 }; /* a pool of several has two knots, and one is beyond */

typedef struct curve_bin {
    double weight, rows, log_odds, stated, truth; /* sums, weighted */
    double low, high;                             /* mean log-odds of the first and the last bin */
} curve_bin;

static size_t find_bin(double log_odds)
{
    double bin = floor((log_odds - FIRST) / STEP);
    return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : (size_t)bin;
}

static void fill_bins(const float *log_odds, const acq_boost_data *data, curve_bin *bins)
{
    for (size_t i = 0; i < data->n; i++) {
        double weight = data->weights == NULL ? 1.0 : (double)data->weights[i];
        curve_bin *bin = &bins[find_bin((double)log_odds[i])];
        bin->rows++;
        bin->weight += weight;
        bin->log_odds += weight * (double)log_odds[i];
        bin->stated += weight * acq_boost_to_probability((double)log_odds[i]);
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

void acq_boost_straighten(acq_boost *boost, const float *log_odds, const acq_boost_data *data)
{
    curve_bin bins[BINS] = {0};
    fill_bins(log_odds, data, bins);
    size_t n = pool_wrong_order(bins, BINS);
    boost->n_knots = 0;
    for (size_t i = 0; i < n; i++) {
        const curve_bin *bin = &bins[i];
        double share = fmin(fmax(get_share(bin), 1e-7), 1 - 1e-7);
        double middle = bin->log_odds / bin->weight, to = log(share / (1 - share));
        add_knot(boost, bin->low, to - RISE * (middle - bin->low));
        if (bin->high > bin->low)
            add_knot(boost, bin->high, to + RISE * (bin->high - middle));
        if (i + 1 == n)
            add_knot(boost, bin->high + BEYOND, to + RISE * (bin->high + BEYOND - middle));
    }
}

float acq_boost_bend(const acq_boost *boost, float log_odds)
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
