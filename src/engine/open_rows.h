/* open_rows.h - row models (models/model.h) from their files, as predictors that own them. */
#ifndef ACQ_ENGINE_OPEN_ROWS_H
#define ACQ_ENGINE_OPEN_ROWS_H

#include "engine/open.h"

typedef acq_status acq_open_rows_fn(const acq_graph *graph, const char *spec, const char *path,
                                    const acq_open_params *params, acq_predictor **out,
                                    acq_error *error);

/* The weights are read at once, which finds a bad file; what they need of the graph is made with
 * the first row. path NULL: the shipped weights of ULTRA with their calibrator. */
acq_open_rows_fn acq_open_complex, acq_open_nbfnet, acq_open_ultra;

#endif
