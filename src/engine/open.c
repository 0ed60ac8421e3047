/* open.c - see open.h. */
#include "engine/open.h"

#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "engine/open_rows.h"
#include "base/file.h"
#include "calibrate/shipped.h"
#include "store/store.h"

/* Where a row of ULTRA would take seconds, `auto` stays with the facts. */
static const uint64_t AUTO_MOST_FACTS = 2000000;

enum predictor_id {
#define PREDICTOR_ID(name, file) PREDICTOR_##name,
    ACQ_PREDICTORS(PREDICTOR_ID)
#undef PREDICTOR_ID
        N_PREDICTORS
};

typedef struct predictor_entry {
    const char *name;
    acq_spec_file file;
} predictor_entry;

static const predictor_entry predictors[N_PREDICTORS] = {
#define PREDICTOR_ENTRY(name, file) {#name, file},
    ACQ_PREDICTORS(PREDICTOR_ENTRY)
#undef PREDICTOR_ENTRY
};

#define KNOWN                                                                                      \
    "use auto, observed, perfect:GRAPH, completion:FILE, complex:MODEL, nbfnet:MODEL, ultra or "   \
    "ultra:MODEL"

/* Splits "name:file"; *file is NULL without a colon. N_PREDICTORS when the name is unknown. */
static enum predictor_id find(const char *spec, const char **file)
{
    const char *colon = strchr(spec, ':');
    size_t length = colon == NULL ? strlen(spec) : (size_t)(colon - spec);
    *file = colon == NULL ? NULL : colon + 1;
    unsigned i = 0;
    while (i < N_PREDICTORS &&
           (strlen(predictors[i].name) != length || strncmp(predictors[i].name, spec, length) != 0))
        i++;
    return (enum predictor_id)i;
}

acq_status acq_predictor_check_spec(const char *spec, acq_error *error)
{
    const char *file;
    enum predictor_id id = find(spec, &file);
    if (id == N_PREDICTORS)
        return acq_fail(error, ACQ_ERR_USAGE, "no predictor \"%s\"; " KNOWN, spec);
    const predictor_entry *entry = &predictors[id];
    bool has_file = file != NULL && file[0] != '\0';
    bool lacks_file = entry->file == ACQ_SPEC_FILE || (entry->file != ACQ_SPEC_NO_FILE && file);
    if (lacks_file && !has_file)
        return acq_fail(error, ACQ_ERR_USAGE, "predictor \"%s\" needs a file: %s:PATH", entry->name,
                        entry->name);
    if (entry->file == ACQ_SPEC_NO_FILE && file != NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "predictor \"%s\" takes no file", entry->name);
    return ACQ_OK;
}

static acq_status open_perfect(const acq_graph *graph, const char *spec, const char *path,
                               const acq_read_params *read, acq_predictor **out,
                               acq_perfect_report *report, acq_error *error)
{
    acq_read_params params = read == NULL ? (acq_read_params){0} : *read;
    params.split = ACQ_SPLIT_LATEST;
    acq_graph *complete;
    acq_status status = acq_graph_open_path(path, &params, &complete, NULL, error);
    if (status != ACQ_OK)
        return status;
    status = acq_predictor_new_perfect(graph, complete, spec, out, report, error);
    if (status == ACQ_OK && report->dropped_facts == acq_graph_get_n_facts(complete)) {
        acq_predictor_free(*out);
        *out = NULL;
        status = acq_fail(error, ACQ_ERR_INPUT,
                          "no fact of this graph is about entities and relations of the observed "
                          "one; is it the complete version of it?");
        acq_error_set_file(error, path);
    }
    acq_graph_free(complete);
    return status;
}

/* Where the completion of a graph would be. */
static void name_completion(const char *graph_path, acq_text *out)
{
    bool is_folder = acq_file_get_kind(graph_path) == ACQ_FILE_FOLDER;
    acq_text_format(out, "%s%scompletion", graph_path, is_folder ? "/" : ".");
}

static acq_status open_auto(const acq_graph *graph, const acq_open_params *params,
                            acq_predictor **out, acq_error *error)
{
    acq_text path;
    acq_text_init(&path);
    if (params->graph_path != NULL)
        name_completion(params->graph_path, &path);
    bool has_completion =
        path.length > 0 && !path.failed && acq_file_get_kind(path.bytes) != ACQ_FILE_MISSING;
    acq_status status = path.failed ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK && has_completion)
        status = acq_predictor_new_completion(graph, path.bytes, out, error);
    else if (status == ACQ_OK && acq_shipped_has_ultra() &&
             acq_graph_get_n_facts(graph) <= AUTO_MOST_FACTS)
        status = acq_open_ultra(graph, "ultra", NULL, params, out, error);
    else if (status == ACQ_OK)
        status = acq_predictor_new_observed(graph, out, error);
    acq_text_deinit(&path);
    return status;
}

static acq_status open_known(const acq_graph *graph, const char *spec,
                             const acq_open_params *params, acq_predictor **out,
                             acq_perfect_report *report, acq_error *error)
{
    const char *file;
    switch (find(spec, &file)) {
    case PREDICTOR_perfect:
        return open_perfect(graph, spec, file, params->read, out, report, error);
    case PREDICTOR_completion:
        return acq_predictor_new_completion(graph, file, out, error);
    case PREDICTOR_complex:
        return acq_open_complex(graph, spec, file, params, out, error);
    case PREDICTOR_nbfnet:
        return acq_open_nbfnet(graph, spec, file, params, out, error);
    case PREDICTOR_ultra:
        return acq_open_ultra(graph, spec, file, params, out, error);
    case PREDICTOR_auto:
        return open_auto(graph, params, out, error);
    case PREDICTOR_observed:
    case N_PREDICTORS:
        break;
    }
    return acq_predictor_new_observed(graph, out, error);
}

acq_status acq_predictor_open_with(const acq_graph *graph, const char *spec,
                                   const acq_open_params *params, acq_predictor **out,
                                   acq_perfect_report *report, acq_error *error)
{
    if (acq_predictor_check_spec(spec, error) != ACQ_OK)
        return ACQ_ERR_USAGE;
    acq_perfect_report unread;
    report = report == NULL ? &unread : report;
    *report = (acq_perfect_report){0};
    return open_known(graph, spec, params, out, report, error);
}

acq_status acq_predictor_open(const acq_graph *graph, const char *spec, const acq_read_params *read,
                              acq_predictor **out, acq_perfect_report *report, acq_error *error)
{
    acq_open_params params = {.read = read, .n_threads = acq_threads_available()};
    return acq_predictor_open_with(graph, spec, &params, out, report, error);
}
