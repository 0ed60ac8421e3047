/* calibrator.h - a calibrator with known decisions, for tests of answers with a probability. */
#ifndef ACQ_TESTS_SUPPORT_CALIBRATOR_H
#define ACQ_TESTS_SUPPORT_CALIBRATOR_H

#include "calibrate/calibrator.h"

/* With a prior an answer is likely (p about 0.98) when the least of its links scores at least
 * `balanced`, and unlikely (p about 0.02) otherwise. A negative bar turns the test round: likely
 * below minus it. NULL when memory is out. */
acq_calibrator *acq_test_calibrator(double balanced);

#endif
