/* models.h - inside fit: the predictors of one graph, trained or read back, and their evidence. */
#ifndef ACQ_FIT_MODELS_H
#define ACQ_FIT_MODELS_H

#include "fit/fit.h"
#include "predict/row_model.h"

typedef struct acq_fit_models {
    acq_complex *complex;
    acq_nbfnet *nbfnet;
    acq_row_model *rows[ACQ_EVIDENCE_MODELS];
    size_t n_rows;
    acq_rules *rules;
    acq_evidence_maker *maker;
} acq_fit_models;

/* name: of the files in the folder, "rest" or "whole". warm: a model to start from, may be NULL;
 * share: how much of the training that the options ask for is done, when there is one. What the
 * folder has already is read and not made again. */
acq_status acq_fit_models_make(const acq_graph *graph, const char *name,
                               const acq_fit_params *params, const acq_complex *warm, double share,
                               acq_fit_models *out, acq_error *error);
void acq_fit_models_deinit(acq_fit_models *models);

/* "complex", "complex+ultra", ...: which models the evidence comes from. */
void acq_fit_print_models(const acq_fit_params *params, char *out, size_t size);

/* FOLDER/NAME.KIND; *out freed with acq_free. */
char *acq_fit_make_path(const acq_fit_params *params, const char *name, const char *kind);

#endif
