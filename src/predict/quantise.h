/* quantise.h - scores in 16 bits, even on the logit scale.
 *
 *   code   0       1        ...   39320   ...   65534    65535
 *   score  absent  0.000001       0.5           0.9999   1
 *
 * Between 1 and 65534 the logit grows by 0.000351 a code, so a score of 0.003 is kept to within
 * 0.0000006, and 0.5, 0.9999 and 1 are exact. Codes and scores grow together. */
#ifndef ACQ_PREDICT_QUANTISE_H
#define ACQ_PREDICT_QUANTISE_H

#include "base/types.h"

enum {
    ACQ_CODE_LEAST = 1,
    ACQ_CODE_HALF = 39320,
    ACQ_CODE_PREDICTED = 65534, /* 0.9999 */
    ACQ_CODE_CERTAIN = 65535,   /* 1 */
    ACQ_CODES = 65536
};

/* Score of a code; 0 for code 0. */
float acq_score_decode(uint16_t code);

/* Nearest code of a score in (0, 1]; a score in (0.9999, 1) becomes 0.9999. */
uint16_t acq_score_encode(float score);

/* The lowest code that scores at least `floor`; 1 for floors below the least score. */
uint16_t acq_score_encode_floor(double floor);

#endif
