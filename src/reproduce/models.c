/* models.c - see models.h. */
#include "reproduce/models.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/budget.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

const char *acq_repro_print(acq_repro_plan *plan, const char *format, ...)
{
    char buffer[2048];
    va_list args;
    va_start(args, format);
    int n = acq_format_list(buffer, sizeof buffer, format, args);
    va_end(args);
    return n < 0 ? NULL
                 : acq_arena_copy_string(&plan->folder.arena, buffer,
                                         (size_t)n < sizeof buffer ? (size_t)n : sizeof buffer - 1);
}

/* ---- the open graph ---- */

void acq_repro_models_init(acq_repro_models *models, acq_repro_plan *plan)
{
    double seconds = plan->settings->seconds;
    *models = (acq_repro_models){.plan = plan, .deadline_ns = acq_clock_get_deadline(seconds)};
}

void acq_repro_models_deinit(acq_repro_models *models)
{
    acq_graph_free(models->observed);
    acq_graph_free(models->complete);
    models->observed = models->complete = NULL;
    models->subject = NULL;
}

bool acq_repro_models_is_late(const acq_repro_models *models)
{
    return acq_clock_ns() >= models->deadline_ns;
}

bool acq_repro_models_progress(void *context, const acq_progress *now)
{
    acq_repro_models *models = context;
    const acq_repro_settings *settings = models->plan->settings;
    acq_repro_news news = {.what = models->busy,
                           .done = models->jobs_done,
                           .total = models->plan->n_jobs,
                           .seconds = -1,
                           .left = -1,
                           .inner = now};
    return settings->tell == NULL || settings->tell(settings->context, &news);
}

bool acq_repro_models_make_on(void *context, const acq_progress *now)
{
    return !acq_repro_models_is_late(context) && acq_repro_models_progress(context, now);
}

static acq_status open_graph(acq_repro_models *models, const acq_repro_subject *subject,
                             const char *split, acq_graph **out, acq_error *error)
{
    acq_graph_params params;
    acq_graph_params_init(&params);
    params.split = split;
    params.threads = models->plan->settings->threads;
    const char *name = acq_repro_print(models->plan, "%s %s", subject->name, split);
    if (name == NULL)
        return acq_fail_memory(error);
    acq_status status = acq_graph_open(subject->folder, &params, out, error);
    return status == ACQ_OK ? acq_repro_plan_add_input(models->plan, "graph", name,
                                                       acq_graph_get_fingerprint(*out), error)
                            : status;
}

acq_status acq_repro_models_turn(acq_repro_models *models, const acq_repro_subject *subject,
                                 acq_error *error)
{
    if (models->subject == subject)
        return ACQ_OK;
    acq_repro_models_deinit(models);
    acq_status status =
        open_graph(models, subject, subject->observed_split, &models->observed, error);
    if (status == ACQ_OK)
        models->subject = subject;
    return status;
}

/* ---- files ---- */

acq_status acq_repro_make_folder(const char *path, acq_error *error)
{
    char *copy = acq_copy_string(path);
    if (copy == NULL)
        return acq_fail_memory(error);
    bool is_made = true;
    for (char *c = copy + 1; is_made; c++) {
        if (*c != '/' && *c != '\0')
            continue;
        char kept = *c;
        *c = '\0';
        is_made = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *c = kept;
        if (kept == '\0')
            break;
    }
    if (is_made && acq_file_get_kind(path) != ACQ_FILE_FOLDER) {
        is_made = false;
        errno = ENOTDIR;
    }
    acq_free(copy);
    if (is_made)
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_IO, "cannot make this folder for the outputs: %s", strerror(errno));
    acq_error_set_file(error, path);
    return ACQ_ERR_IO;
}

/* A link in the folder of the outputs may lead to what is read, and would be followed. */
acq_status acq_repro_check_place(const char *path, acq_error *error)
{
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode))
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_USAGE, "an output would go where this link leads; remove the link");
    acq_error_set_file(error, path);
    return ACQ_ERR_USAGE;
}

acq_status acq_repro_write(const char *path, const char *what, const acq_text *text,
                           acq_error *error)
{
    acq_status status = acq_repro_check_place(path, error);
    return status == ACQ_OK ? acq_new_file_write(path, what, text->bytes, text->length, error)
                            : status;
}

static const char *get_own_root(acq_repro_plan *plan)
{
    return acq_repro_print(plan, "%s/models%s", plan->settings->output,
                           plan->settings->quick ? "-quick" : "");
}

/* ROOT/set/split/name or, for weights of any graph, ROOT/name, with either ending. */
static const char *find_below(acq_repro_plan *plan, const char *root,
                              const acq_repro_subject *subject, const char *name)
{
    static const char *const endings[] = {"", ".safetensors"};
    for (size_t i = 0; i < 2 && root != NULL; i++) {
        const char *path = subject == NULL
                               ? acq_repro_print(plan, "%s/%s%s", root, name, endings[i])
                               : acq_repro_print(plan, "%s/%s/%s/%s%s", root, subject->name,
                                                 subject->observed_split, name, endings[i]);
        if (path != NULL && acq_file_get_kind(path) == ACQ_FILE_REGULAR)
            return path;
    }
    return NULL;
}

static const char *find_given(acq_repro_plan *plan, const acq_repro_subject *subject,
                              const char *name)
{
    const char *beside = acq_repro_print(plan, "%s/models", plan->settings->folder);
    const char *path = find_below(plan, plan->settings->models, subject, name);
    return path != NULL ? path : find_below(plan, beside, subject, name);
}

static acq_status hash_model(acq_repro_models *models, const char *path, uint64_t *out,
                             acq_error *error)
{
    acq_status status = acq_repro_hash_file(path, out, error);
    return status == ACQ_OK ? acq_repro_plan_add_input(models->plan, "model", path, *out, error)
                            : status;
}

/* ---- made ---- */

static bool is_made_of(const char *path, const char *description)
{
    char *bytes;
    size_t length;
    if (acq_file_read(path, &bytes, &length, NULL) != ACQ_OK)
        return false;
    size_t n = strlen(description);
    bool is_same = length > n && memcmp(bytes, description, n) == 0 && bytes[n] == '\n';
    acq_free(bytes);
    return is_same;
}

/* Is the failure about this one thing, so that the rest can go on? */
static bool is_local(acq_status status)
{
    return status != ACQ_ERR_INTERRUPTED && status != ACQ_ERR_IO && status != ACQ_ERR_MEMORY;
}

typedef struct made {
    const char *path; /* NULL: it could not be made */
    const char *why_not;
    uint64_t hash;
    bool is_given;
} made;

static acq_status get(acq_repro_models *models, acq_repro_thing t, made *out, acq_error *error);

static const char TOO_LATE[] = "the time was over before its model was made";
static const char TOO_SLOW[] = "its links take too long for --quick";

/* Not there, or of something else: made now, if there is time. */
static acq_status get_own(acq_repro_models *models, acq_repro_thing t, const made *from, made *out,
                          acq_error *error)
{
    acq_repro_plan *plan = models->plan;
    acq_text description;
    const char *folder = acq_repro_print(plan, "%s/%s/%s", get_own_root(plan),
                                         models->subject->name, models->subject->observed_split);
    const char *path = acq_repro_print(plan, "%s/%s", folder, acq_repro_thing_get_name(t));
    const char *note = acq_repro_print(plan, "%s.made", path);
    if (folder == NULL || path == NULL || note == NULL)
        return acq_fail_memory(error);
    acq_text_init(&description);
    acq_repro_thing_describe(models, t, from->hash, &description);
    acq_status status = acq_text_finish(&description, error);
    bool is_there = status == ACQ_OK && acq_file_get_kind(path) == ACQ_FILE_REGULAR &&
                    is_made_of(note, description.bytes);
    if (status == ACQ_OK && !is_there && acq_repro_models_is_late(models)) {
        out->why_not = TOO_LATE;
    } else if (status == ACQ_OK) {
        acq_error own = {0};
        if (!is_there)
            status = acq_repro_make_folder(folder, &own);
        if (!is_there && status == ACQ_OK)
            status = acq_repro_thing_make(models, t, path, from->path, &description, &own);
        out->path = status == ACQ_OK ? path : NULL;
        bool is_slow = status == ACQ_ERR_INTERRUPTED && models->is_slow;
        bool is_late = status == ACQ_ERR_INTERRUPTED && acq_repro_models_is_late(models);
        models->is_slow = false;
        if (is_late || is_slow || (status != ACQ_OK && is_local(status))) {
            out->why_not =
                is_late   ? TOO_LATE
                : is_slow ? TOO_SLOW
                          : acq_repro_print(plan, "%s: %s", acq_repro_thing_get_name(t), own.message);
            status = ACQ_OK;
        } else if (status != ACQ_OK && error != NULL) {
            *error = own;
        }
    }
    acq_text_deinit(&description);
    return status == ACQ_OK && out->path != NULL ? hash_model(models, path, &out->hash, error)
                                                 : status;
}

static acq_status get(acq_repro_models *models, acq_repro_thing t, made *out, acq_error *error)
{
    made from = {0};
    *out = (made){.path = find_given(models->plan, models->subject, acq_repro_thing_get_name(t))};
    if (out->path != NULL) {
        out->is_given = true;
        return hash_model(models, out->path, &out->hash, error);
    }
    if (acq_repro_thing_get_source(t) != ACQ_THING_NO_THING) {
        acq_status status = get(models, acq_repro_thing_get_source(t), &from, error);
        if (status != ACQ_OK || from.path == NULL) {
            out->why_not = from.why_not;
            return status;
        }
    }
    if (t == ACQ_THING_ULTRA_LINKS) { /* weights that are given, else those that ship */
        from.path = find_given(models->plan, NULL, "ultra");
        acq_status status =
            from.path == NULL ? ACQ_OK : hash_model(models, from.path, &from.hash, error);
        if (status != ACQ_OK)
            return status;
    }
    return get_own(models, t, &from, out, error);
}

/* ---- links ---- */

static void take(acq_repro_models *models, const made *what, const char *spec, const char *how,
                 acq_repro_source *out)
{
    out->hash = what->hash;
    out->why_not = what->why_not;
    if (what->path == NULL)
        return;
    out->spec = acq_repro_print(models->plan, "%s:%s", spec, what->path);
    out->how = acq_repro_print(models->plan, "%s, %s", how,
                               what->is_given ? "a model that was given" : "trained here");
}

/* Rows as the questions need them, chosen as the completion chooses them. They have both
 * directions: one alone is made of all rows of a relation. */
static void choose_rows(const acq_repro_models *models, acq_repro_source *out,
                        acq_repro_thing links)
{
    acq_repro_source all = acq_repro_thing_get_links(models, links);
    out->rows = all.rows;
    out->tails = all.tails;
    out->floor = all.floor;
    out->visit = all.visit;
}

/* Links of a model: all of them written once. Where that would take too long, rows, as always of
 * ComplEx with --quick: a row costs little, and the completion needs every one. */
static acq_status get_model(acq_repro_models *models, acq_repro_thing model, acq_repro_thing links,
                            const char *how, acq_repro_source *out, acq_error *error)
{
    made what = {0};
    acq_status status = ACQ_OK;
    bool has_rows = models->plan->settings->quick && links == ACQ_THING_COMPLEX_LINKS;
    if (!has_rows) {
        status = get(models, links, &what, error);
        has_rows = status == ACQ_OK && what.path == NULL && what.why_not == TOO_SLOW;
    }
    if (has_rows && status == ACQ_OK)
        status = get(models, model, &what, error);
    if (status == ACQ_OK)
        take(models, &what,
             has_rows ? acq_repro_thing_get_links(models, links).spec : "completion", how, out);
    if (has_rows)
        choose_rows(models, out, links);
    return status;
}

/* Rows of ComplEx, each as its head and relation say, inverse relations like any other: the link
 * matrices of QTO and FIT. */
static acq_status get_matrices(acq_repro_models *models, const char *scaling, acq_repro_source *out,
                               acq_error *error)
{
    made what = {0};
    acq_status status = get(models, ACQ_THING_COMPLEX, &what, error);
    if (status == ACQ_OK)
        take(models, &what, "complex", "ComplEx", out);
    out->scaling = scaling;
    return status;
}

static acq_status get_ultra(acq_repro_models *models, acq_repro_source *out, acq_error *error)
{
    made what = {0};
    const char *given = find_given(models->plan, NULL, "ultra");
    const char *how = given == NULL ? "the weights that ship" : "weights that were given";
    acq_status status = ACQ_OK;
    out->how = acq_repro_print(models->plan, "ULTRA, %s", how);
    if (models->plan->settings->quick) {
        choose_rows(models, out, ACQ_THING_ULTRA_LINKS);
        out->spec = acq_repro_print(models->plan, "ultra:%s", given == NULL ? "shipped" : given);
        return given == NULL ? ACQ_OK : hash_model(models, given, &out->hash, error);
    }
    status = get(models, ACQ_THING_ULTRA_LINKS, &what, error);
    out->hash = what.hash;
    out->why_not = what.why_not;
    if (status == ACQ_OK && what.path != NULL)
        out->spec = acq_repro_print(models->plan, "completion:%s", what.path);
    return status;
}

/* Of what enters a pass of weights that saw no query. UltraQuery's paper has 0.8 for the published
 * ones; those that ship have lower scores (docs/decisions.md). */
static const double SHIPPED_THRESHOLD = 0.5;

static acq_status get_ultraquery(acq_repro_models *models, acq_repro_source *out, acq_error *error)
{
    const char *given = find_given(models->plan, NULL, "ultraquery");
    if (given == NULL) {
        out->spec = "ultra:shipped";
        out->input_threshold = SHIPPED_THRESHOLD;
        out->how = "ULTRA's weights that ship, which saw no query; tools/convert_ultra makes "
                   "DIR/ultraquery of the published ones, for --models DIR";
        return ACQ_OK;
    }
    out->spec = acq_repro_print(models->plan, "ultra:%s", given);
    out->how = "weights that were given";
    return hash_model(models, given, &out->hash, error);
}

static acq_status get_fitted(acq_repro_models *models, acq_repro_source *out, acq_error *error)
{
    made what = {0};
    if (models->plan->settings->quick) {
        what.path = find_given(models->plan, models->subject,
                               acq_repro_thing_get_name(ACQ_THING_FIT_LINKS));
        what.is_given = true;
        if (what.path == NULL) {
            out->spec = "ultra";
            out->how = "what the graph teaches about its links, without a fit";
            return ACQ_OK;
        }
        acq_status status = hash_model(models, what.path, &what.hash, error);
        take(models, &what, "completion", "links of anycq fit", out);
        return status;
    }
    acq_status status = get(models, ACQ_THING_FIT_LINKS, &what, error);
    if (status == ACQ_OK)
        take(models, &what, "completion", "links of anycq fit", out);
    return status;
}

static acq_status get_perfect(acq_repro_models *models, const acq_repro_subject *subject,
                              acq_repro_source *out, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (models->complete == NULL)
        status = open_graph(models, subject, subject->split, &models->complete, error);
    if (status != ACQ_OK)
        return status;
    out->spec = "perfect";
    out->how = "the complete graph";
    out->hash = acq_graph_get_fingerprint(models->complete);
    return ACQ_OK;
}

acq_status acq_repro_models_get_links(acq_repro_models *models, const acq_repro_subject *subject,
                                      acq_repro_links links, acq_repro_source *out,
                                      acq_error *error)
{
    made what = {0};
    *out = (acq_repro_source){.how = "observed facts"};
    acq_status status = acq_repro_models_turn(models, subject, error);
    if (status != ACQ_OK)
        return status;
    switch (links) {
    case ACQ_REPRO_OBSERVED:
        out->spec = "observed";
        return ACQ_OK;
    case ACQ_REPRO_PERFECT:
        return get_perfect(models, subject, out, error);
    case ACQ_REPRO_COMPLEX:
        return get_model(models, ACQ_THING_COMPLEX, ACQ_THING_COMPLEX_LINKS, "ComplEx", out, error);
    case ACQ_REPRO_COMPLEX_QTO:
        return get_matrices(models, "qto", out, error);
    case ACQ_REPRO_COMPLEX_FIT:
        return get_matrices(models, "fit", out, error);
    case ACQ_REPRO_NBFNET:
        return get_model(models, ACQ_THING_NBFNET, ACQ_THING_NBFNET_LINKS, "NBFNet", out, error);
    case ACQ_REPRO_GNNQE:
        status = get(models, ACQ_THING_GNNQE, &what, error);
        take(models, &what, "nbfnet", "GNN-QE", out);
        return status;
    case ACQ_REPRO_ULTRA:
        return get_ultra(models, out, error);
    case ACQ_REPRO_ULTRAQUERY:
        return get_ultraquery(models, out, error);
    default:
        return get_fitted(models, out, error);
    }
}

/* ---- weights of the search ---- */

acq_status acq_repro_models_get_weights(acq_repro_models *models, const acq_repro_subject *trained,
                                        acq_repro_weights weights, acq_repro_source *out,
                                        acq_error *error)
{
    made what = {0};
    bool is_made = weights == ACQ_WEIGHTS_EACH || weights == ACQ_WEIGHTS_NO_PE;
    *out = (acq_repro_source){.spec = weights == ACQ_WEIGHTS_UNTRAINED ? "untrained" : "shipped"};
    if (!is_made)
        return ACQ_OK;
    const acq_repro_subject *before = models->subject;
    acq_status status = acq_repro_models_turn(models, trained, error);
    if (status == ACQ_OK)
        status =
            get(models, weights == ACQ_WEIGHTS_EACH ? ACQ_THING_POLICY : ACQ_THING_POLICY_NO_PE,
                &what, error);
    *out = (acq_repro_source){.spec = what.path, .why_not = what.why_not, .hash = what.hash};
    return status == ACQ_OK && before != NULL ? acq_repro_models_turn(models, before, error)
                                              : status;
}
