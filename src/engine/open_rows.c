/* open_rows.c - see open_rows.h. */
#include "engine/open_rows.h"

#include "base/memory.h"
#include "models/complex/model.h"
#include "models/nbfnet/nbfnet.h"
#include "models/neighbours.h"
#include "calibrate/shipped.h"

/* Links that score less are left out. */
static const double CALIBRATED_FLOOR = 0.002;
static const double SOFTMAX_FLOOR = 0.01;
static const double SIGMOID_FLOOR = 0.1; /* ULTRA's and NBFNet's sigmoids are large for many */
enum { CANDIDATES = 40 };                /* of a row, for the calibrator */

/* What a row predictor owns: one of the models, and what is made of it. */
typedef struct row_parts {
    const acq_graph *graph;
    unsigned n_threads;
    acq_complex *complex;
    acq_nbfnet *nbfnet;
    acq_ultra *ultra;
    acq_calibrator *calibrator; /* NULL: a published scale */
    acq_row_model *model;
    acq_row_model *neighbours; /* beside it, for the calibrator */
    acq_rules *rules;
} row_parts;

static void free_parts(void *owned)
{
    row_parts *parts = owned;
    acq_rules_free(parts->rules);
    acq_row_model_free(parts->neighbours);
    acq_row_model_free(parts->model);
    acq_calibrator_free(parts->calibrator);
    acq_complex_free(parts->complex);
    acq_nbfnet_free(parts->nbfnet);
    acq_ultra_free(parts->ultra);
    acq_free(parts);
}

static acq_status make_model(row_parts *parts, acq_error *error)
{
    if (parts->model != NULL)
        return ACQ_OK;
    if (parts->complex != NULL)
        return acq_complex_new_row_model(parts->complex, parts->graph, &parts->model, error);
    if (parts->nbfnet != NULL)
        return acq_nbfnet_new_row_model(parts->nbfnet, parts->graph, &parts->model, error);
    return acq_ultra_new_row_model(parts->ultra, parts->graph, &parts->model, error);
}

static acq_status mine_rules(row_parts *parts, acq_error *error)
{
    acq_rules_params params = ACQ_RULES_DEFAULT;
    params.n_threads = parts->n_threads;
    if (parts->calibrator == NULL || parts->rules != NULL)
        return ACQ_OK;
    return acq_rules_mine(parts->graph, &params, &parts->rules, error);
}

static acq_status make_neighbours(row_parts *parts, acq_error *error)
{
    if (parts->calibrator == NULL || parts->neighbours != NULL)
        return ACQ_OK;
    return acq_neighbours_new_row_model(parts->graph, &parts->neighbours, error);
}

static acq_status load(void *owned, acq_evidence_params *evidence, acq_error *error)
{
    row_parts *parts = owned;
    acq_status status = make_model(parts, error);
    if (status == ACQ_OK)
        status = make_neighbours(parts, error);
    if (status == ACQ_OK)
        status = mine_rules(parts, error);
    evidence->models[0] = parts->model;
    evidence->models[1] = parts->neighbours;
    evidence->n_models = parts->neighbours == NULL ? 1 : 2;
    evidence->rules = parts->rules;
    return status;
}

static acq_status new_parts(const acq_graph *graph, const acq_open_params *params, row_parts **out,
                            acq_error *error)
{
    row_parts *parts = acq_zalloc(1, sizeof *parts);
    if (parts == NULL)
        return acq_fail_memory(error);
    parts->graph = graph;
    parts->n_threads = params->n_threads > 0 ? params->n_threads : 1;
    *out = parts;
    return ACQ_OK;
}

/* Takes over the parts, also on failure. */
static acq_status make_predictor(row_parts *parts, const char *spec, const acq_open_params *params,
                                 acq_row_scale scale, double floor, acq_predictor **out,
                                 acq_error *error)
{
    acq_row_predictor_params rows = {
        .evidence = {.rows = params->rows, .tails = params->tails, .n_threads = parts->n_threads},
        .calibrator = parts->calibrator,
        .scale = scale,
        .direction = params->direction,
        .floor = params->floor > 0 ? params->floor : floor,
        .memory_bytes = params->memory_bytes,
        .load = load,
        .owned = parts,
        .free_owned = free_parts};
    rows.evidence.top = scale == ACQ_SCALE_CALIBRATED ? CANDIDATES : 0;
    return acq_predictor_new_rows(parts->graph, spec, &rows, out, error);
}

acq_status acq_open_complex(const acq_graph *graph, const char *spec, const char *path,
                            const acq_open_params *params, acq_predictor **out, acq_error *error)
{
    row_parts *parts = NULL;
    acq_row_scale scale = params->is_qto ? ACQ_SCALE_QTO : ACQ_SCALE_FIT;
    acq_status status = new_parts(graph, params, &parts, error);
    if (status != ACQ_OK)
        return status;
    status = acq_complex_read(path, graph, &parts->complex, error);
    if (status == ACQ_OK)
        return make_predictor(parts, spec, params, scale, SOFTMAX_FLOOR, out, error);
    free_parts(parts);
    return status;
}

acq_status acq_open_nbfnet(const acq_graph *graph, const char *spec, const char *path,
                           const acq_open_params *params, acq_predictor **out, acq_error *error)
{
    row_parts *parts = NULL;
    acq_status status = new_parts(graph, params, &parts, error);
    if (status != ACQ_OK)
        return status;
    status = acq_nbfnet_read(path, graph, &parts->nbfnet, error);
    if (status == ACQ_OK)
        return make_predictor(parts, spec, params, ACQ_SCALE_SIGMOID, SIGMOID_FLOOR, out, error);
    free_parts(parts);
    return status;
}

static acq_status read_ultra(row_parts *parts, const char *path, acq_error *error)
{
    if (path != NULL)
        return acq_ultra_read(path, &parts->ultra, error);
    acq_status status = acq_ultra_new_shipped(&parts->ultra, error);
    return status == ACQ_OK ? acq_calibrator_new_shipped(&parts->calibrator, error) : status;
}

acq_status acq_open_ultra(const acq_graph *graph, const char *spec, const char *path,
                          const acq_open_params *params, acq_predictor **out, acq_error *error)
{
    row_parts *parts = NULL;
    acq_open_params chosen = *params;
    acq_status status = new_parts(graph, params, &parts, error);
    if (status != ACQ_OK)
        return status;
    status = read_ultra(parts, path, error);
    bool is_calibrated = parts->calibrator != NULL;
    if (is_calibrated)
        chosen.rows = ACQ_ROWS_SMALLER; /* as the shipped calibrator was fitted */
    if (status == ACQ_OK)
        return make_predictor(parts, spec, &chosen,
                              is_calibrated ? ACQ_SCALE_CALIBRATED : ACQ_SCALE_SIGMOID,
                              is_calibrated ? CALIBRATED_FLOOR : SIGMOID_FLOOR, out, error);
    free_parts(parts);
    return status;
}
