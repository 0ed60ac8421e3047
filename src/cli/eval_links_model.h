/* eval_links_model.h - a trained model by its name on the command line, for its raw scores. */
#ifndef ACQ_CLI_EVAL_LINKS_MODEL_H
#define ACQ_CLI_EVAL_LINKS_MODEL_H

#include "models/complex/model.h"
#include "models/nbfnet/nbfnet.h"
#include "models/ultra/ultra.h"

typedef struct acq_named_model {
    acq_complex *complex;
    acq_nbfnet *nbfnet;
    acq_ultra *ultra;
    acq_row_model *rows;
} acq_named_model;

/* Is the spec that of a model with raw scores: complex:FILE, nbfnet:FILE, ultra:FILE? */
bool acq_named_model_is_one(const char *spec);

/* spec is one. Deinit also after an error. */
acq_status acq_named_model_init(acq_named_model *model, const char *spec, const acq_graph *graph,
                                acq_error *error);
void acq_named_model_deinit(acq_named_model *model);

#endif
