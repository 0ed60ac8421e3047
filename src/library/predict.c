/* predict.c - predictors: opened by their spec, and what they say of themselves. */
#include "library/parts.h"

#include <string.h>

#include "base/threads.h"
#include "engine/open.h"
#include "predict/completion.h"

static acq_predictor_params get_defaults(void)
{
    return (acq_predictor_params){
        .direction = "both", .scaling = "fit", .rows = "both", .tails = "all"};
}

void acq_predictor_params_init_sized(acq_predictor_params *params, size_t size)
{
    acq_predictor_params own = get_defaults();
    acq_sized_init(params, size, &own, sizeof own);
}

/* *out is true for `second`. */
static acq_status choose(const char *field, const char *word, const char *first, const char *second,
                         bool *out, acq_error *error)
{
    *out = word != NULL && strcmp(word, second) == 0;
    return *out || word == NULL || strcmp(word, first) == 0
               ? ACQ_OK
               : acq_fail(error, ACQ_ERR_USAGE, "no %s \"%.100s\"; use %s or %s", field, word,
                          first, second);
}

static acq_status make_open_params(const acq_predictor_params *params, acq_open_params *out,
                                   acq_error *error)
{
    bool is_forward, is_qto, is_smaller, is_seen;
    acq_status status =
        choose("direction", params->direction, "both", "forward", &is_forward, error);
    if (status == ACQ_OK)
        status = choose("scaling", params->scaling, "fit", "qto", &is_qto, error);
    if (status == ACQ_OK)
        status = choose("rows", params->rows, "both", "smaller", &is_smaller, error);
    if (status == ACQ_OK)
        status = choose("tails", params->tails, "all", "seen", &is_seen, error);
    if (status == ACQ_OK && !(params->floor >= 0 && params->floor <= 1))
        status = acq_fail(error, ACQ_ERR_USAGE, "floor %g is not between 0 and 1", params->floor);
    if (status != ACQ_OK)
        return status;
    *out = (acq_open_params){.graph_path = params->graph_path,
                             .direction = is_forward ? ACQ_DIRECTION_FORWARD : ACQ_DIRECTION_BOTH,
                             .is_qto = is_qto,
                             .rows = is_smaller ? ACQ_ROWS_SMALLER : ACQ_ROWS_BOTH,
                             .tails = is_seen ? ACQ_TAILS_SEEN : ACQ_TAILS_ALL,
                             .floor = params->floor,
                             .memory_bytes = (size_t)params->memory_bytes,
                             .n_threads =
                                 params->threads > 0 ? params->threads : acq_threads_available()};
    return ACQ_OK;
}

/* New facts win over a completion that was made before them. */
static bool is_outdated(const acq_predictor *predictor)
{
    static const char prefix[] = "completion:";
    acq_completion_info info;
    return strncmp(predictor->name, prefix, sizeof prefix - 1) == 0 &&
           acq_completion_read_info(predictor->name + sizeof prefix - 1, &info, NULL) == ACQ_OK &&
           info.graph_fingerprint != acq_graph_get_fingerprint(predictor->graph);
}

static void fill_report(const acq_predictor *predictor, const acq_perfect_report *perfect,
                        acq_predictor_report *out)
{
    acq_predictor_report own = {.unknown_entities = perfect->unknown_entities,
                                .dropped_facts = perfect->dropped_facts,
                                .denied_facts = perfect->denied_facts};
    if (out == NULL)
        return;
    own.is_outdated = is_outdated(predictor);
    acq_sized_fill(out, &own, sizeof own);
}

acq_status acq_predictor_new(const acq_graph *graph, const char *spec,
                             const acq_predictor_params *given, acq_predictor **out,
                             acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(spec, error);
    ACQ_REQUIRE(out, error);
    acq_predictor_params params = get_defaults();
    acq_open_params open;
    acq_read_params read;
    acq_read_report *unused;
    acq_perfect_report perfect;
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = make_open_params(&params, &open, error);
    if (status == ACQ_OK)
        status = acq_library_read_params(__func__, params.read, &read, &unused, error);
    if (status != ACQ_OK)
        return status;
    open.read = &read;
    status = acq_predictor_open_with(graph, spec, &open, out, &perfect, error);
    if (status == ACQ_OK)
        fill_report(*out, &perfect, params.report);
    return status;
}

const char *acq_predictor_get_name(const acq_predictor *predictor)
{
    return predictor == NULL ? "" : predictor->name;
}

bool acq_predictor_is_calibrated(const acq_predictor *predictor)
{
    return predictor != NULL && acq_predictor_get_calibrator(predictor) != NULL;
}
