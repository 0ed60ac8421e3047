/* api_scored.h - a predictor that believes more than the facts, for tests of the public library. */
#ifndef ACQ_TESTS_SUPPORT_API_SCORED_H
#define ACQ_TESTS_SUPPORT_API_SCORED_H

#include <stdbool.h>

/* A completion of f.graph that believes born_in(Cy, Paris) with 0.8 and born_in(Cy, London) with
 * 0.3. Calibrated: with a prior answers are likely from 0.2 on. */
void api_write_scored(const char *path, bool is_calibrated);

#endif
