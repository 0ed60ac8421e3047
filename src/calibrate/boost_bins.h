/* boost_bins.h - inside the boost: features as bytes.
 *
 * A feature's cuts are quantiles, half of them of the rows with label 0 and half of those with
 * label 1, so that there are cuts where the rare label lives. Bin b holds the values from cut b - 1
 * up to below cut b; missing values have the last code. The first cut is -FLT_MAX: splitting there
 * parts missing values from all others.
 *
 *   codes:  group 0: row 0 [8 bytes], row 1 [8 bytes], ...   group 1: row 0 [8 bytes], ... */
#ifndef ACQ_CALIBRATE_BOOST_BINS_H
#define ACQ_CALIBRATE_BOOST_BINS_H

#include "calibrate/boost.h"

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

/* Deinit also after an error. */
acq_status acq_boost_bins_init(acq_boost_bins *bins, const acq_boost_data *data,
                               unsigned n_threads);
void acq_boost_bins_deinit(acq_boost_bins *bins);

static inline const float *acq_boost_get_cuts(const acq_boost_bins *bins, uint32_t feature)
{
    return bins->cuts + (size_t)feature * ACQ_BOOST_CUTS;
}

/* Codes of all rows in a group of features. */
static inline const uint8_t *acq_boost_get_codes(const acq_boost_bins *bins, uint32_t group)
{
    return bins->codes + (size_t)group * bins->n_rows * ACQ_BOOST_GROUP;
}

#endif
