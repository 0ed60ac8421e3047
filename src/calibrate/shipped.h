/* shipped.h - what zero-shot prediction needs and the library brings along: ULTRA's weights and a
 * calibrator of their evidence, models/ultra-anycq.safetensors and
 * models/ultra-anycq-calibrator.safetensors as they were when the library was built; and the trees
 * that a graph's own calibrator starts from, models/anycq-prior.safetensors. */
#ifndef ACQ_CALIBRATE_SHIPPED_H
#define ACQ_CALIBRATE_SHIPPED_H

#include "calibrate/calibrator.h"
#include "models/ultra/ultra.h"

bool acq_shipped_has_ultra(void); /* false: this library was built without the two files */

/* ACQ_ERR_USAGE with the remedy when there are none. */
acq_status acq_ultra_new_shipped(acq_ultra **out, acq_error *error);
acq_status acq_calibrator_new_shipped(acq_calibrator **out, acq_error *error);

/* Trees over the features of candidates.h with similar entities as the only model; see
 * tools/make_prior.c. NULL: this library was built without them. */
acq_status acq_prior_new_shipped(acq_boost **out, acq_error *error);

#endif
