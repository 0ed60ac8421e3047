/* models.h - inside fit: the predictors of one graph, trained or read back, and their evidence. */
#ifndef ACQ_FIT_MODELS_H
#define ACQ_FIT_MODELS_H

#include "fit/fit.h"
#include "models/model.h"

typedef struct acq_fit_models {
    acq_complex *complex;
    acq_nbfnet *nbfnet;
    acq_row_model *rows[ACQ_CANDIDATES_MODELS];
    size_t n_rows;
    acq_rules *rules;
    acq_candidates_maker *maker;
} acq_fit_models;

/* Of a graph that facts of `whole` were held out of. name: of the files in the folder. What the
 * folder has already is read and not made again. */
acq_status acq_fit_models_make(const acq_graph *rest, const acq_graph *whole, const char *name,
                               const acq_fit_params *params, acq_fit_models *out, acq_error *error);

/* The same for the whole graph, a part of which `trained` knows: ComplEx starts from there. */
acq_status acq_fit_models_grow(const acq_graph *whole, const char *name,
                               const acq_fit_params *params, const acq_fit_models *trained,
                               acq_fit_models *out, acq_error *error);
void acq_fit_models_deinit(acq_fit_models *models);

/* "complex", "complex+ultra", ...: which models the evidence comes from. */
void acq_fit_print_models(const acq_fit_params *params, char *out, size_t size);

/* FOLDER/NAME.KIND; *out freed with acq_free. */
char *acq_fit_make_path(const acq_fit_params *params, const char *name, const char *kind);

#endif
