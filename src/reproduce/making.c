/* making.c - see models.h. What can be made stands in one table of recipes. */
#include "reproduce/models.h"

#include <string.h>

#include "base/budget.h"
#include "base/file.h"
#include "base/text.h"

enum { MOST_OPTIONS = 8, QUICK_NODES = 1500 }; /* entities that a row visits with --quick */

static const double FULL_SECONDS = 720, QUICK_SECONDS = 30, QUICK_LINKS_SHARE = .12;

/* A completion shows after so many seconds how long it will take. */
static const double SHOWING_SECONDS = 4;

/* A training, or the completion of a model. */
static const struct {
    const char *name;
    const char *train;                    /* the kind; NULL: a completion, or a fit */
    double share;                         /* of the time for a model */
    acq_repro_thing from;                 /* warm start, or the model to complete */
    const char *spec;                     /* of the predictor to complete */
    const char *rows, *tails, *direction; /* of a completion */
    double floor;
    bool visits; /* its rows may be made on the entities around their head */
    acq_train_option options[MOST_OPTIONS]; /* besides time, seed, resume and warm */
} recipes[ACQ_THING_NO_THING] = {
    [ACQ_THING_COMPLEX] = {.name = "complex",
                           .train = "complex",
                           .share = 1,
                           .from = ACQ_THING_NO_THING},
    [ACQ_THING_COMPLEX_LINKS] = {.name = "complex.completion",
                                 .from = ACQ_THING_COMPLEX,
                                 .spec = "complex",
                                 .direction = "forward",
                                 .floor = 0.01},
    [ACQ_THING_NBFNET_BEGIN] = {.name = "nbfnet-begin",
                                .train = "nbfnet",
                                .share = .63,
                                .from = ACQ_THING_NO_THING},
    [ACQ_THING_NBFNET] = {.name = "nbfnet",
                          .train = "nbfnet",
                          .share = .37,
                          .from = ACQ_THING_NBFNET_BEGIN,
                          .options = {{"around", "0"},
                                      {"entities", "0"},
                                      {"near", "0"},
                                      {"rate", "0.001"},
                                      {"average", "0.99"}}},
    [ACQ_THING_NBFNET_LINKS] = {.name = "nbfnet.completion",
                                .from = ACQ_THING_NBFNET,
                                .spec = "nbfnet",
                                .rows = "smaller",
                                .tails = "seen",
                                .floor = 0.4,
                                .visits = true},
    [ACQ_THING_GNNQE] = {.name = "gnnqe",
                         .train = "gnnqe",
                         .share = 1,
                         .from = ACQ_THING_NBFNET_BEGIN,
                         .options = {{"entities", "0"}, {"near", "0"}, {"batch", "8"}}},
    [ACQ_THING_ULTRA_LINKS] = {.name = "ultra.completion",
                               .from = ACQ_THING_NO_THING,
                               .spec = "ultra",
                               .rows = "smaller",
                               .tails = "seen",
                               .floor = 0.4,
                               .visits = true},
    [ACQ_THING_FIT_LINKS] = {.name = "fit.completion", .share = 1, .from = ACQ_THING_NO_THING},
    [ACQ_THING_POLICY] = {.name = "policy",
                          .train = "policy",
                          .share = .5,
                          .from = ACQ_THING_NO_THING},
    [ACQ_THING_POLICY_NO_PE] = {.name = "policy-no-pe",
                                .train = "policy",
                                .share = .5,
                                .from = ACQ_THING_NO_THING,
                                .options = {{"no-pe", "yes"}}},
};

const char *acq_repro_thing_get_name(acq_repro_thing t)
{
    return recipes[t].name;
}

acq_repro_thing acq_repro_thing_get_source(acq_repro_thing t)
{
    return recipes[t].from;
}

static double get_visit(const acq_repro_models *models, acq_repro_thing t)
{
    if (!recipes[t].visits || !models->plan->settings->quick)
        return 0;
    double share = QUICK_NODES / (double)acq_graph_get_n_entities(models->observed);
    return share < 1 ? share : 0;
}

acq_repro_source acq_repro_thing_get_links(const acq_repro_models *models, acq_repro_thing t)
{
    return (acq_repro_source){.spec = recipes[t].spec,
                              .visit = get_visit(models, t),
                              .direction = recipes[t].direction,
                              .rows = recipes[t].rows,
                              .tails = recipes[t].tails,
                              .floor = recipes[t].floor};
}

double acq_repro_get_model_seconds(const acq_repro_settings *settings)
{
    if (settings->model_seconds > 0)
        return settings->model_seconds;
    return settings->quick ? QUICK_SECONDS : FULL_SECONDS;
}

double acq_repro_get_links_seconds(const acq_repro_settings *settings)
{
    return settings->quick ? QUICK_LINKS_SHARE * settings->seconds : 0;
}

/* What a thing is made of and how, as one line; the identity of what was made. */
void acq_repro_thing_describe(const acq_repro_models *models, acq_repro_thing t, uint64_t from_hash,
                              acq_text *out)
{
    const acq_repro_settings *settings = models->plan->settings;
    acq_text_format(out, "anycq %s, %s, graph %016llx, from %016llx, seed %llu, %g s", ACQ_VERSION,
                    recipes[t].name,
                    (unsigned long long)acq_graph_get_fingerprint(models->observed),
                    (unsigned long long)from_hash, (unsigned long long)settings->seed,
                    recipes[t].share * acq_repro_get_model_seconds(settings));
    if (get_visit(models, t) > 0)
        acq_text_format(out, " visit=%g", get_visit(models, t));
    for (const acq_train_option *o = recipes[t].options; o->name != NULL; o++)
        acq_text_format(out, " %s=%s", o->name, o->value);
}

static acq_status train(acq_repro_models *models, acq_repro_thing t, const char *path,
                        const char *warm, acq_error *error)
{
    const acq_repro_settings *settings = models->plan->settings;
    char seconds[32], seed[32], checkpoint[4096];
    acq_train_option options[MOST_OPTIONS + 4];
    size_t n = 0;
    acq_format(seconds, sizeof seconds, "%g",
               recipes[t].share * acq_repro_get_model_seconds(settings));
    acq_format(seed, sizeof seed, "%llu", (unsigned long long)settings->seed);
    acq_format(checkpoint, sizeof checkpoint, "%s.checkpoint", path);
    for (; recipes[t].options[n].name != NULL; n++)
        options[n] = recipes[t].options[n];
    options[n++] = (acq_train_option){"time", seconds};
    options[n++] = (acq_train_option){"seed", seed};
    if (warm != NULL)
        options[n++] = (acq_train_option){"warm", warm};
    if (acq_file_get_kind(checkpoint) == ACQ_FILE_REGULAR)
        options[n++] = (acq_train_option){"resume", "yes"};
    acq_train_params params;
    acq_train_params_init(&params);
    params.options = options;
    params.n_options = n;
    params.names = &models->subject->name;
    params.commit = settings->commit;
    params.progress = acq_repro_models_make_on;
    params.context = models;
    const acq_graph *graph = models->observed;
    return acq_train(recipes[t].train, &graph, 1, path, &params, NULL, error);
}

/* Stops what will take longer than it may. */
static bool complete_on(void *context, const acq_progress *now)
{
    acq_repro_models *models = context;
    double most = acq_repro_get_links_seconds(models->plan->settings);
    double seconds = 1e-9 * (double)(acq_clock_ns() - models->begin_ns);
    double share = now->total == 0 ? 0 : (double)now->done / (double)now->total;
    models->is_slow = most > 0 && seconds >= SHOWING_SECONDS && seconds > most * share;
    return !models->is_slow && acq_repro_models_make_on(context, now);
}

static acq_status complete(acq_repro_models *models, acq_repro_thing t, const char *path,
                           const char *model, acq_error *error)
{
    const acq_repro_settings *settings = models->plan->settings;
    acq_predictor_params how;
    acq_predictor_params_init(&how);
    how.rows = recipes[t].rows;
    how.tails = recipes[t].tails;
    how.direction = recipes[t].direction;
    how.floor = recipes[t].floor;
    how.visit = get_visit(models, t);
    how.threads = settings->threads;
    const char *spec =
        acq_repro_print(models->plan, "%s:%s", recipes[t].spec, model == NULL ? "shipped" : model);
    acq_complete_params params;
    acq_complete_params_init(&params);
    params.progress = complete_on;
    params.context = models;
    models->begin_ns = acq_clock_ns();
    acq_predictor *predictor = NULL;
    acq_status status = spec == NULL
                            ? acq_fail_memory(error)
                            : acq_predictor_new(models->observed, spec, &how, &predictor, error);
    if (status == ACQ_OK)
        status = acq_complete(predictor, path, &params, error);
    acq_predictor_free(predictor);
    return status;
}

static acq_status fit(acq_repro_models *models, const char *path, acq_error *error)
{
    const acq_repro_settings *settings = models->plan->settings;
    acq_fit_completion_params params;
    char folder[4096], svg[4096];
    acq_fit_completion_params_init(&params);
    acq_format(folder, sizeof folder, "%s.fit", path);
    acq_format(svg, sizeof svg, "%s.svg", path);
    params.seconds = acq_repro_get_model_seconds(settings);
    params.seed = settings->seed;
    params.threads = settings->threads;
    params.resume = acq_file_get_kind(folder) == ACQ_FILE_FOLDER;
    params.hold = models->subject->paper == 0 ? "pairs" : "links";
    params.svg = svg;
    params.progress = acq_repro_models_make_on;
    params.context = models;
    return acq_fit_completion(models->observed, path, &params, error);
}

static acq_status make(acq_repro_models *models, acq_repro_thing t, const char *path,
                       const char *from, acq_error *error)
{
    models->busy = acq_repro_print(models->plan, "%s, %s: making %s", models->subject->name,
                                   models->subject->observed_split, recipes[t].name);
    if (models->busy == NULL)
        return acq_fail_memory(error);
    acq_status status = acq_repro_check_place(path, error);
    if (status != ACQ_OK)
        return status;
    if (t == ACQ_THING_FIT_LINKS)
        return fit(models, path, error);
    return recipes[t].train != NULL ? train(models, t, path, from, error)
                                    : complete(models, t, path, from, error);
}

static acq_status write_note(acq_repro_models *models, const char *path, acq_text *description,
                             double seconds, acq_error *error)
{
    acq_text_format(description, "\nmade in %.1f s by commit %s\n", seconds,
                    models->plan->settings->commit);
    acq_status status = acq_text_finish(description, error);
    return status == ACQ_OK ? acq_repro_write(path, "the note on a model", description, error)
                            : status;
}

acq_status acq_repro_thing_make(acq_repro_models *models, acq_repro_thing t, const char *path,
                                const char *from, acq_text *description, acq_error *error)
{
    acq_error own = {0};
    int64_t begin = acq_clock_ns();
    const char *note = acq_repro_print(models->plan, "%s.made", path);
    if (note == NULL)
        return acq_fail_memory(error);
    acq_status status = make(models, t, path, from, &own);
    if (status == ACQ_OK) {
        models->n_made++;
        double seconds = 1e-9 * (double)(acq_clock_ns() - begin);
        return write_note(models, note, description, seconds, error);
    }
    if (error != NULL)
        *error = own;
    return status;
}
