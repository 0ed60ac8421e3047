/* open.c - see open.h.
 *
 * The weights of a row model (models/model.h) are read at once, which finds a bad file; what they
 * need of the graph is made with the first row. */
#include "engine/open.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "calibrate/quick.h"
#include "calibrate/rows.h"
#include "calibrate/calibrator.h"
#include "models/complex/model.h"
#include "models/nbfnet/nbfnet.h"
#include "models/neighbours.h"
#include "models/rulebook/rulebook.h"
#include "store/store.h"

/* Where learning would take many seconds, `auto` goes by rows around the question's entities. */
static const uint64_t AUTO_MOST_FACTS = 2000000;

/* Links that score less are left out. */
static const double CALIBRATED_FLOOR = 0.002;
static const double SOFTMAX_FLOOR = 0.01;
static const double SIGMOID_FLOOR = 0.1; /* ULTRA's and NBFNet's sigmoids are large for many */

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
    "use auto, observed, perfect:GRAPH, completion:FILE, complex:MODEL, nbfnet:MODEL, "            \
    "rules:MODEL, ultra or ultra:MODEL"

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
    ACQ_REQUIRE(spec, error);
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

/* ---- row models ---- */

/* What a row predictor owns: one of the models, and what is made of it. */
typedef struct row_parts {
    const acq_graph *graph;
    unsigned n_threads;
    acq_complex *complex;
    acq_nbfnet *nbfnet;
    acq_ultra *ultra;
    acq_rulebook *book;
    acq_around_params around; /* of networks */
    acq_row_model *model;
    acq_quick_evidence evidence; /* of what a graph teaches itself, in place of all these */
    char *kept;                  /* file with what it has learnt; NULL: nowhere */
    bool learnt_earlier;         /* see acq_open_params */
} row_parts;

static void free_parts(void *owned)
{
    row_parts *parts = owned;
    acq_quick_evidence_deinit(&parts->evidence);
    acq_free(parts->kept);
    acq_row_model_free(parts->model);
    acq_complex_free(parts->complex);
    acq_nbfnet_free(parts->nbfnet);
    acq_ultra_free(parts->ultra);
    acq_rulebook_free(parts->book);
    acq_free(parts);
}

static acq_status make_model(row_parts *parts, acq_error *error)
{
    if (parts->model != NULL)
        return ACQ_OK;
    if (parts->complex != NULL)
        return acq_complex_new_row_model(parts->complex, parts->graph, &parts->model, error);
    if (parts->nbfnet != NULL)
        return acq_nbfnet_new_near_row_model(parts->nbfnet, parts->graph, &parts->around,
                                             &parts->model, error);
    if (parts->book != NULL)
        return acq_rulebook_new_row_model(parts->book, parts->graph, &parts->model, error);
    return acq_ultra_new_near_row_model(parts->ultra, parts->graph, &parts->around, &parts->model,
                                        error);
}

static acq_status load_published(void *owned, const acq_row_model **out, acq_error *error)
{
    row_parts *parts = owned;
    acq_status status = make_model(parts, error);
    *out = parts->model;
    return status;
}

static acq_around_params choose_around(const acq_graph *graph, double visit)
{
    uint32_t n = acq_graph_get_n_entities(graph);
    if (visit > 0)
        return (acq_around_params){.most_nodes = (uint32_t)ceil(visit * (double)n)};
    return acq_around_choose(acq_graph_get_n_facts(graph), n);
}

static acq_status new_parts(const acq_graph *graph, const acq_open_params *params, row_parts **out,
                            acq_error *error)
{
    row_parts *parts = acq_zalloc(1, sizeof *parts);
    if (parts == NULL)
        return acq_fail_memory(error);
    parts->graph = graph;
    parts->n_threads = params->n_threads > 0 ? params->n_threads : 1;
    parts->around = choose_around(graph, params->visit);
    parts->learnt_earlier = params->learnt_earlier;
    *out = parts;
    return ACQ_OK;
}

static acq_row_limits get_limits(const acq_open_params *params, double floor)
{
    return (acq_row_limits){.floor = params->floor > 0 ? params->floor : floor,
                            .memory_bytes = params->memory_bytes};
}

/* Takes over the parts, also on failure. */
static acq_status make_published(row_parts *parts, const char *spec, const acq_open_params *params,
                                 acq_row_scale scale, acq_predictor **out, acq_error *error)
{
    acq_published_params rows = {
        .limits = get_limits(params, scale == ACQ_SCALE_SIGMOID ? SIGMOID_FLOOR : SOFTMAX_FLOOR),
        .scale = scale,
        .direction = params->direction,
        .rows = params->rows,
        .tails = params->tails,
        .n_threads = parts->n_threads,
        .load = load_published,
        .owned = parts,
        .free_owned = free_parts};
    return acq_predictor_new_published(parts->graph, spec, &rows, out, error);
}

/* ---- what a graph teaches itself ---- */

static acq_status load_quick(void *owned, acq_candidates_params *candidates, acq_error *error)
{
    row_parts *parts = owned;
    acq_quick_evidence_deinit(&parts->evidence); /* of a try that was stopped */
    return acq_quick_evidence_init(&parts->evidence, parts->graph, candidates, error);
}

/* Read back where it was kept, else learnt and kept. */
static acq_status learn_quick(void *owned, acq_stop stop, acq_calibrator *calibrator,
                              acq_error *error)
{
    const row_parts *parts = owned;
    if (parts->kept != NULL &&
        acq_quick_get(parts->kept, parts->graph, parts->learnt_earlier, calibrator))
        return ACQ_OK;
    acq_status status = acq_quick_learn(parts->graph, parts->n_threads, stop, calibrator, error);
    if (status == ACQ_OK && parts->kept != NULL)
        acq_quick_put(parts->kept, calibrator);
    return status;
}

/* The shipped calibrator without its link trees: what it knows about answers. */
static acq_status open_answers(acq_calibrator **out, acq_error *error)
{
    if (!acq_shipped_has_ultra())
        *out = acq_calibrator_new();
    else if (acq_calibrator_new_shipped(out, error) != ACQ_OK)
        return error == NULL ? ACQ_ERR_MEMORY : error->code;
    if (*out == NULL)
        return acq_fail_memory(error);
    acq_boost_free((*out)->link);
    (*out)->link = NULL;
    return ACQ_OK;
}

/* Where learnt trees are kept: beside the graph, if that is a file or a folder. */
static acq_status name_kept(const char *graph_path, char **out, acq_error *error)
{
    acq_text path;
    if (graph_path == NULL || acq_file_get_kind(graph_path) == ACQ_FILE_MISSING)
        return ACQ_OK;
    acq_text_init(&path);
    acq_text_format(&path, "%s%scalibrator", graph_path,
                    acq_file_get_kind(graph_path) == ACQ_FILE_FOLDER ? "/" : ".");
    *out = path.failed ? NULL : acq_copy_string(path.bytes);
    acq_text_deinit(&path);
    return *out == NULL ? acq_fail_memory(error) : ACQ_OK;
}

/* What takes long is said before it starts. */
static const char *get_quick_note(const acq_graph *graph, const char *kept)
{
    if (acq_quick_is_small(graph))
        return acq_quick_get_note(graph);
    if (kept == NULL)
        return "before it predicts, anycq learns from this graph for a few seconds";
    return acq_file_get_kind(kept) != ACQ_FILE_MISSING
               ? NULL
               : "at first use anycq learns from this graph for a few seconds, and keeps that";
}

static acq_status open_quick(const acq_graph *graph, const char *spec,
                             const acq_open_params *params, acq_predictor **out, acq_error *error)
{
    row_parts *parts = NULL;
    acq_status status = new_parts(graph, params, &parts, error);
    if (status != ACQ_OK)
        return status;
    acq_calibrated_params rows = {.limits = get_limits(params, CALIBRATED_FLOOR),
                                  .candidates =
                                      acq_quick_choose(graph, params->tails, parts->n_threads),
                                  .load = load_quick,
                                  .learn = learn_quick,
                                  .owned = parts,
                                  .free_owned = free_parts};
    status = name_kept(params->graph_path, &parts->kept, error);
    rows.limits.note = get_quick_note(graph, parts->kept);
    if (status == ACQ_OK)
        status = open_answers(&rows.calibrator, error);
    if (status == ACQ_OK)
        return acq_predictor_new_calibrated(graph, spec, &rows, out, error);
    free_parts(parts);
    return status;
}

static acq_status open_complex(const acq_graph *graph, const char *spec, const char *path,
                               const acq_open_params *params, acq_predictor **out, acq_error *error)
{
    row_parts *parts = NULL;
    acq_row_scale scale = params->is_qto ? ACQ_SCALE_QTO : ACQ_SCALE_FIT;
    acq_status status = new_parts(graph, params, &parts, error);
    if (status != ACQ_OK)
        return status;
    status = acq_complex_read(path, graph, &parts->complex, error);
    if (status == ACQ_OK)
        return make_published(parts, spec, params, scale, out, error);
    free_parts(parts);
    return status;
}

/* Rows of a model with priorities visit a share of the nodes in each layer, and of the edges in
 * the proportion that it was trained with; in others that share is chosen around the head. */
static void set_visit(row_parts *parts, double visit)
{
    acq_nbfnet_shape *shape = &parts->nbfnet->shape;
    if (!shape->weighs || visit <= 0)
        return;
    float times = shape->visit.nodes > 0 ? (float)visit / shape->visit.nodes : 1;
    bool is_whole = visit >= 1;
    shape->visit.nodes = is_whole ? 0 : (float)visit;
    shape->visit.edges = is_whole ? 0 : fminf(1, shape->visit.edges * times);
    parts->around = (acq_around_params){0};
}

static acq_status open_nbfnet(const acq_graph *graph, const char *spec, const char *path,
                              const acq_open_params *params, acq_predictor **out, acq_error *error)
{
    row_parts *parts = NULL;
    acq_status status = new_parts(graph, params, &parts, error);
    if (status != ACQ_OK)
        return status;
    status = acq_nbfnet_read(path, graph, &parts->nbfnet, error);
    if (status == ACQ_OK)
        set_visit(parts, params->visit);
    if (status == ACQ_OK)
        return make_published(parts, spec, params, ACQ_SCALE_SIGMOID, out, error);
    free_parts(parts);
    return status;
}

static acq_status open_rules(const acq_graph *graph, const char *spec, const char *path,
                             const acq_open_params *params, acq_predictor **out, acq_error *error)
{
    row_parts *parts = NULL;
    acq_status status = new_parts(graph, params, &parts, error);
    if (status != ACQ_OK)
        return status;
    status = acq_rulebook_read(path, graph, &parts->book, error);
    if (status == ACQ_OK)
        return make_published(parts, spec, params, ACQ_SCALE_SIGMOID, out, error);
    free_parts(parts);
    return status;
}

/* path NULL: what the graph teaches itself; "shipped": the network that the library brings along.
 */
static acq_status open_ultra(const acq_graph *graph, const char *spec, const char *path,
                             const acq_open_params *params, acq_predictor **out, acq_error *error)
{
    row_parts *parts = NULL;
    if (path == NULL)
        return open_quick(graph, spec, params, out, error);
    acq_status status = new_parts(graph, params, &parts, error);
    if (status != ACQ_OK)
        return status;
    status = strcmp(path, "shipped") == 0 ? acq_ultra_new_shipped(&parts->ultra, error)
                                          : acq_ultra_read(path, &parts->ultra, error);
    if (status == ACQ_OK)
        return make_published(parts, spec, params, ACQ_SCALE_SIGMOID, out, error);
    free_parts(parts);
    return status;
}

/* What a graph of millions is answered with before it is fitted. */
static acq_status open_large(const acq_graph *graph, const acq_open_params *params,
                             acq_predictor **out, acq_error *error)
{
    row_parts *parts = NULL;
    acq_calibrator *answers = NULL;
    acq_status status = new_parts(graph, params, &parts, error);
    if (status != ACQ_OK)
        return status;
    if (params->visit <= 0 || parts->around.most_nodes >= acq_graph_get_n_entities(graph))
        parts->around = (acq_around_params){.most_nodes = 2048, .most_edges = 131072};
    status = acq_ultra_new_shipped(&parts->ultra, error);
    if (status == ACQ_OK)
        status = open_answers(&answers, error);
    if (status != ACQ_OK) {
        free_parts(parts);
        return status;
    }
    acq_published_params rows = {.limits = get_limits(params, CALIBRATED_FLOOR),
                                 .scale = ACQ_SCALE_LOGISTIC,
                                 .tails = params->tails,
                                 .n_threads = parts->n_threads,
                                 .load = load_published,
                                 .owned = parts,
                                 .free_owned = free_parts};
    rows.limits.note = "the graph is large: reading it first takes seconds; anycq fit makes better "
                       "predictions";
    status = acq_predictor_new_published(graph, "ultra", &rows, out, error);
    if (status == ACQ_OK)
        acq_calibrator_attach(answers, *out);
    else
        acq_calibrator_free(answers);
    return status;
}

/* ---- by name ---- */

void acq_open_name_completion(const char *graph_path, acq_text *out)
{
    bool is_folder = acq_file_get_kind(graph_path) == ACQ_FILE_FOLDER;
    acq_text_format(out, "%s%scompletion", graph_path, is_folder ? "/" : ".");
}

/* A pipe would be waited for, a folder or device read in vain. */
static acq_status check_file(const char *path, const char *what, acq_error *error)
{
    acq_file_kind kind = acq_file_get_kind(path);
    if (kind != ACQ_FILE_FOLDER && kind != ACQ_FILE_STREAM && kind != ACQ_FILE_DEVICE)
        return ACQ_OK; /* whoever opens it tells what is wrong with a missing one */
    acq_status status = acq_fail(error, ACQ_ERR_INPUT, "%s must be a regular file, not a %s", what,
                                 kind == ACQ_FILE_FOLDER   ? "folder"
                                 : kind == ACQ_FILE_STREAM ? "pipe"
                                                           : "device");
    acq_error_set_file(error, path);
    return status;
}

static acq_status open_auto(const acq_graph *graph, const acq_open_params *params,
                            acq_predictor **out, acq_error *error)
{
    acq_text path;
    acq_text_init(&path);
    if (params->graph_path != NULL)
        acq_open_name_completion(params->graph_path, &path);
    bool has_completion =
        path.length > 0 && !path.failed && acq_file_get_kind(path.bytes) != ACQ_FILE_MISSING;
    acq_status status = path.failed ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK && has_completion)
        status = check_file(path.bytes, "the graph's completion", error);
    if (status == ACQ_OK && has_completion)
        status = acq_calibrator_open_completion(graph, path.bytes, out, error);
    else if (status == ACQ_OK && acq_graph_get_n_facts(graph) <= AUTO_MOST_FACTS)
        status = open_ultra(graph, "ultra", NULL, params, out, error);
    else if (status == ACQ_OK && acq_shipped_has_ultra())
        status = open_large(graph, params, out, error);
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
    enum predictor_id id = find(spec, &file);
    acq_status status = ACQ_OK;
    bool is_shipped = id == PREDICTOR_ultra && file != NULL && strcmp(file, "shipped") == 0;
    if (file != NULL && id != PREDICTOR_perfect && !is_shipped)
        status = check_file(file, id == PREDICTOR_completion ? "a completion" : "a model", error);
    if (status != ACQ_OK)
        return status;
    switch (id) {
    case PREDICTOR_perfect:
        return open_perfect(graph, spec, file, params->read, out, report, error);
    case PREDICTOR_completion:
        return acq_calibrator_open_completion(graph, file, out, error);
    case PREDICTOR_complex:
        return open_complex(graph, spec, file, params, out, error);
    case PREDICTOR_nbfnet:
        return open_nbfnet(graph, spec, file, params, out, error);
    case PREDICTOR_rules:
        return open_rules(graph, spec, file, params, out, error);
    case PREDICTOR_ultra:
        return open_ultra(graph, spec, file, params, out, error);
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
