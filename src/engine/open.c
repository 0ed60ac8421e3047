/* open.c - see open.h. */
#include "engine/open.h"

#include <string.h>

#include "store/store.h"

enum predictor_id {
#define PREDICTOR_ID(name, needs_file, present) PREDICTOR_##name,
    ACQ_PREDICTORS(PREDICTOR_ID)
#undef PREDICTOR_ID
        N_PREDICTORS
};

typedef struct predictor_entry {
    const char *name;
    bool needs_file;
    bool is_present;
} predictor_entry;

static const predictor_entry predictors[N_PREDICTORS] = {
#define PREDICTOR_ENTRY(name, needs_file, present) {#name, needs_file, present},
    ACQ_PREDICTORS(PREDICTOR_ENTRY)
#undef PREDICTOR_ENTRY
};

#define KNOWN "use auto, observed, perfect:GRAPH or completion:FILE"

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
    if (!entry->is_present)
        return acq_fail(error, ACQ_ERR_USAGE, "predictor \"%s\" is not in this version; " KNOWN,
                        entry->name);
    bool has_file = file != NULL && file[0] != '\0';
    if (entry->needs_file && !has_file)
        return acq_fail(error, ACQ_ERR_USAGE, "predictor \"%s\" needs a file: %s:PATH", entry->name,
                        entry->name);
    if (!entry->needs_file && file != NULL)
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

acq_status acq_predictor_open(const acq_graph *graph, const char *spec, const acq_read_params *read,
                              acq_predictor **out, acq_perfect_report *report, acq_error *error)
{
    if (acq_predictor_check_spec(spec, error) != ACQ_OK)
        return ACQ_ERR_USAGE;
    acq_perfect_report unread;
    report = report == NULL ? &unread : report;
    *report = (acq_perfect_report){0};
    const char *file;
    enum predictor_id id = find(spec, &file);
    if (id == PREDICTOR_perfect)
        return open_perfect(graph, spec, file, read, out, report, error);
    if (id == PREDICTOR_completion)
        return acq_predictor_new_completion(graph, file, out, error);
    return acq_predictor_new_observed(graph, out, error);
}
