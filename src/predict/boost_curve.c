/* boost_curve.c - the last step of a score: a rising curve that says what the trees' log-odds are
 * worth on rows they have not seen.
 *
 * Trees that have learnt their rows too well state odds that are too far out. Rows that trees of
 * another fold scored tell how far: per step of half a log-odds the share of true rows, drawn
 * towards what was stated as long as there are few, then made rising by pooling neighbours that are
 * in the wrong order. In between the curve is straight, beyond its ends it runs parallel to no
 * change. */
#include "predict/boost_model.h"

#include <math.h>

static const double FIRST = -8, STEP = .5;
static const double DOUBT = 20; /* rows that speak for what was stated */

typedef struct curve_bin {
    double weight, rows, log_odds, stated, truth; /* sums, weighted */
} curve_bin;

static size_t find_bin(double log_odds)
{
    double bin = floor((log_odds - FIRST) / STEP);
    return bin < 0 ? 0 : bin >= ACQ_BOOST_KNOTS ? ACQ_BOOST_KNOTS - 1 : (size_t)bin;
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
}

/* Neighbours in the wrong order become one; returns how many are left. */
static size_t pool_wrong_order(curve_bin *bins, size_t n)
{
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        if (bins[i].weight <= 0) /* no rows, or none that count */
            continue;
        bins[n_left++] = bins[i];
        while (n_left > 1 && get_share(&bins[n_left - 1]) <= get_share(&bins[n_left - 2])) {
            pool(&bins[n_left - 2], &bins[n_left - 1]);
            n_left--;
        }
    }
    return n_left;
}

void acq_boost_straighten(acq_boost *boost, const float *log_odds, const acq_boost_data *data)
{
    curve_bin bins[ACQ_BOOST_KNOTS] = {0};
    fill_bins(log_odds, data, bins);
    boost->n_knots = (uint32_t)pool_wrong_order(bins, ACQ_BOOST_KNOTS);
    for (uint32_t i = 0; i < boost->n_knots; i++) {
        double share = fmin(fmax(get_share(&bins[i]), 1e-7), 1 - 1e-7);
        boost->knots[i] = (acq_boost_knot){.from = (float)(bins[i].log_odds / bins[i].weight),
                                           .to = (float)log(share / (1 - share))};
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
