/* quantise.c - see quantise.h. */
#include "predict/quantise.h"

#include <math.h>

#include "predict/predictor.h"

/* logit(0.9999) spread over the codes above one half. */
static const double STEP = 9.21024036697585 / (ACQ_CODE_PREDICTED - ACQ_CODE_HALF);

float acq_score_decode(uint16_t code)
{
    if (code == 0)
        return 0.0F;
    if (code == ACQ_CODE_CERTAIN)
        return 1.0F;
    if (code == ACQ_CODE_PREDICTED)
        return ACQ_SCORE_UNOBSERVED_MOST;
    double logit = ((int)code - ACQ_CODE_HALF) * STEP;
    return (float)(1.0 / (1.0 + exp(-logit)));
}

uint16_t acq_score_encode(float score)
{
    if (score >= 1.0F)
        return ACQ_CODE_CERTAIN;
    if (score >= ACQ_SCORE_UNOBSERVED_MOST)
        return ACQ_CODE_PREDICTED;
    if (!(score > 0.0F))
        return 0;
    double logit = log((double)score / (1.0 - (double)score));
    double code = ACQ_CODE_HALF + nearbyint(logit / STEP);
    return (uint16_t)(code < ACQ_CODE_LEAST       ? ACQ_CODE_LEAST
                      : code > ACQ_CODE_PREDICTED ? ACQ_CODE_PREDICTED
                                                  : code);
}

uint16_t acq_score_encode_floor(double floor)
{
    uint32_t low = ACQ_CODE_LEAST, high = ACQ_CODE_CERTAIN;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (acq_score_decode((uint16_t)middle) < (float)floor)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint16_t)low;
}
