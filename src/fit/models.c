/* models.c - see parts.h. */
#include "fit/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/memory.h"
#include "calibrate/quick.h"
#include "models/neighbours.h"

static const double WARM_SHARE = .3; /* of a training, when it starts from a trained model */

char *acq_fit_make_path(const acq_fit_params *params, const char *name, const char *kind)
{
    size_t size = strlen(params->folder) + strlen(name) + strlen(kind) + 3;
    char *path = acq_alloc(size, 1);
    if (path != NULL)
        snprintf(path, size, "%s/%s.%s", params->folder, name, kind);
    return path;
}

void acq_fit_print_models(const acq_fit_params *params, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s%s%s", params->use_complex ? "+complex" : "",
             params->use_nbfnet ? "+nbfnet" : "", params->use_ultra ? "+ultra" : "",
             params->use_rulebook ? "+rulebook" : "", params->use_neighbours ? "+neighbours" : "");
    memmove(out, out + 1, strlen(out));
}

acq_status acq_fit_choose_hold(const acq_graph *graph, const acq_fit_params *params, acq_hold *out,
                               acq_error *error)
{
    bool is_plain = acq_quick_is_small(graph) || params->earlier != NULL;
    *out = params->hold != ACQ_HOLD_AUTO ? params->hold : ACQ_HOLD_LINKS;
    return params->hold == ACQ_HOLD_AUTO && !is_plain ? acq_split_choose_hold(graph, out, error)
                                                      : ACQ_OK;
}

/* ---- shares of the time ---- */

static const double SHARED = .8; /* of the time; steps may take a little longer, and tables do */

double acq_fit_get_seconds(const acq_fit_params *params, acq_fit_step step)
{
    static const double shares[] = {
        [ACQ_FIT_MODELS] = .2,   [ACQ_FIT_LINKS] = .35,   [ACQ_FIT_QUESTIONS] = .4,
        [ACQ_FIT_ANSWERS] = .25, [ACQ_FIT_AT_LARGE] = .5, [ACQ_FIT_WHOLE] = .5};
    static const double pieces[] = {[ACQ_FIT_MODELS] = .35, [ACQ_FIT_LINKS] = .65};
    double spent = (double)(acq_clock_ns() - params->begin_ns) * 1e-9;
    double left = SHARED * params->seconds - spent - params->kept;
    double share = params->in_pieces && step <= ACQ_FIT_LINKS ? pieces[step] : shares[step];
    return params->seconds > 0 ? fmax(share * left, .02) : 0;
}

uint64_t acq_fit_get_work(const acq_fit_params *params)
{
    static const double PER_SECOND = 40000, LEAST = 200000;
    double work = fmax(PER_SECOND * params->seconds, LEAST);
    return params->seconds > 0 && work < 2e7 ? (uint64_t)work : 0;
}

/* ---- what an effort is ---- */

enum {
    QUICK_ROUNDS = 8, /* of learning rules */
    QUICK_QUESTIONS = 6000,
    BEST_ROUNDS = 60,
    BEST_RANK = 512,
    BEST_BATCH = 1000,
    MOST_ULTRA_FACTS = 500000 /* more have rows that cost too much */
};

static const double BEST_N3 = .05, BEST_WEIGHT = 2; /* of ComplEx, of its loss of relations */
/* Facts times entities, from which on a softmax over all entities costs too much. */
static const double MOST_SOFTMAX = 2e10;

static void choose_best_complex(const acq_graph *graph, acq_train_complex_params *complex)
{
    double n_facts = (double)acq_graph_get_n_facts(graph);
    double n_entities = (double)acq_graph_get_n_entities(graph);
    complex->rank = complex->rank > 0 ? complex->rank : BEST_RANK;
    if (n_facts * n_entities > MOST_SOFTMAX)
        return;
    complex->candidates = 0;
    complex->batch = BEST_BATCH;
    complex->n3 = BEST_N3;
    complex->relation_weight = 2 * n_facts >= 10 * n_entities ? BEST_WEIGHT : 0;
}

void acq_fit_choose(const acq_graph *graph, acq_fit_params *params)
{
    acq_train_complex_params usual;
    bool is_best = params->effort == ACQ_FIT_BEST, is_quick = params->effort == ACQ_FIT_QUICK;
    bool is_small = acq_quick_is_small(graph);
    acq_train_complex_params_init(&usual);
    if (params->chooses && !(is_small && params->use_neighbours)) {
        params->use_complex = !is_quick;
        params->use_rulebook = !is_small;
        params->use_ultra = is_best && acq_graph_get_n_facts(graph) <= MOST_ULTRA_FACTS;
    } else if (params->chooses) {
        params->use_complex = params->use_rulebook = params->use_ultra = false;
    }
    if (is_quick) {
        params->rulebook.batches = QUICK_ROUNDS;
        params->n_questions =
            params->n_questions < QUICK_QUESTIONS ? params->n_questions : QUICK_QUESTIONS;
    } else if (is_best) {
        params->rulebook.batches = BEST_ROUNDS;
        choose_best_complex(graph, &params->complex);
    }
    params->complex.rank = params->complex.rank > 0 ? params->complex.rank : usual.rank;
    params->complex.epochs = params->complex.epochs > 0 ? params->complex.epochs : usual.epochs;
}

static void add_part(acq_text *out, bool is_used, const char *text)
{
    if (is_used)
        acq_text_format(out, "%s%s", out->length == 0 ? "" : ", ", text);
}

acq_status acq_fit_print_plan(const acq_graph *graph, const acq_fit_params *params, acq_text *out,
                              acq_error *error)
{
    static const char *const efforts[] = {"quick", "normal", "best"};
    acq_fit_params own = *params;
    acq_text parts = {0};
    acq_hold hold = params->hold;
    acq_status status = ACQ_OK;
    acq_fit_choose(graph, &own);
    if (own.in_pieces || acq_fit_is_large(graph)) {
        own.note = NULL;
        acq_fit_plan_pieces(graph, &own);
    }
    if (own.use_complex)
        acq_text_format(&parts, "ComplEx of rank %u for %g epochs", own.complex.rank,
                        own.complex.epochs);
    add_part(&parts, own.use_nbfnet, "NBFNet");
    add_part(&parts, own.use_ultra, "ULTRA");
    add_part(&parts, own.use_rulebook, "learnt rules");
    add_part(&parts, own.use_rules, "short rules");
    add_part(&parts, own.use_neighbours, "similar entities");
    if (hold == ACQ_HOLD_AUTO)
        status = acq_fit_choose_hold(graph, &own, &hold, error);
    acq_text_format(out, "%s effort: %s; %s", efforts[own.effort],
                    parts.length > 0 ? parts.bytes : "no evidence",
                    own.earlier != NULL      ? "learns from what was added"
                    : hold == ACQ_HOLD_PAIRS ? "holds out pairs"
                                             : "holds out links");
    if (status == ACQ_OK && (out->failed || parts.failed))
        status = acq_fail_memory(error);
    acq_text_deinit(&parts);
    return status;
}

void acq_fit_models_deinit(acq_fit_models *models)
{
    acq_candidates_maker_free(models->maker);
    for (size_t i = 0; i < models->n_rows; i++)
        acq_row_model_free(models->rows[i]);
    acq_rules_free(models->rules);
    acq_complex_free(models->complex);
    acq_nbfnet_free(models->nbfnet);
    acq_ultra_free(models->ultra);
    acq_rulebook_free(models->rulebook);
    *models = (acq_fit_models){0};
}

/* The paths of a trained model: the file, and what an interrupted training left. */
typedef struct model_files {
    char *model, *checkpoint;
} model_files;

static acq_status model_files_init(model_files *files, const acq_fit_params *params,
                                   const char *name, const char *kind, acq_error *error)
{
    char ending[64];
    snprintf(ending, sizeof ending, "%s.checkpoint", kind);
    files->model = acq_fit_make_path(params, name, kind);
    files->checkpoint = acq_fit_make_path(params, name, ending);
    return files->model == NULL || files->checkpoint == NULL ? acq_fail_memory(error) : ACQ_OK;
}

static void model_files_deinit(model_files *files)
{
    acq_free(files->model);
    acq_free(files->checkpoint);
}

/* Ranks train together: what depends on a clock or on the folder is that of the first. */
static acq_status share_start(const acq_fit_params *params, double *seconds, bool *resume,
                              acq_error *error)
{
    acq_status status = acq_ranks_follow(params->ranks, seconds, sizeof *seconds, error);
    return status == ACQ_OK ? acq_ranks_follow(params->ranks, resume, sizeof *resume, error)
                            : status;
}

static acq_status make_complex(const acq_graph *graph, const acq_fit_params *params,
                               const acq_complex *warm, const model_files *files,
                               acq_fit_models *out, acq_error *error)
{
    acq_train_complex_params train = params->complex;
    if (params->resume && access(files->model, R_OK) == 0)
        return acq_complex_read(files->model, graph, &out->complex, error);
    train.warm = warm;
    train.epochs *= warm == NULL ? 1.0 : WARM_SHARE;
    train.seconds = acq_fit_get_seconds(params, warm == NULL ? ACQ_FIT_MODELS : ACQ_FIT_WHOLE);
    train.begin_ns = acq_clock_ns();
    if (warm == NULL && params->use_nbfnet)
        train.seconds /= 2;
    train.checkpoint = files->checkpoint;
    train.resume = params->resume && access(files->checkpoint, R_OK) == 0;
    train.ranks = params->ranks;
    acq_status status = share_start(params, &train.seconds, &train.resume, error);
    if (status == ACQ_OK)
        status = acq_train_complex(graph, &train, &out->complex, error);
    if (!acq_ranks_is_first(params->ranks))
        return status;
    if (status == ACQ_OK)
        status = acq_complex_write(files->model, out->complex, graph, NULL, 0, error);
    if (status == ACQ_OK)
        unlink(files->checkpoint);
    return status;
}

static acq_status make_nbfnet(const acq_graph *graph, const acq_fit_params *params, bool is_whole,
                              const model_files *files, acq_fit_models *out, acq_error *error)
{
    acq_train_nbfnet_params train = params->nbfnet;
    train.seconds = acq_fit_get_seconds(params, is_whole ? ACQ_FIT_WHOLE : ACQ_FIT_MODELS);
    train.begin_ns = acq_clock_ns();
    if (params->resume && access(files->model, R_OK) == 0)
        return acq_nbfnet_read(files->model, graph, &out->nbfnet, error);
    train.checkpoint = files->checkpoint;
    train.resume = params->resume && access(files->checkpoint, R_OK) == 0;
    train.ranks = params->ranks;
    acq_status status = share_start(params, &train.seconds, &train.resume, error);
    if (status == ACQ_OK)
        status = acq_train_nbfnet(graph, &train, &out->nbfnet, error);
    if (!acq_ranks_is_first(params->ranks))
        return status;
    if (status == ACQ_OK)
        status = acq_nbfnet_write(files->model, out->nbfnet, graph, NULL, 0, error);
    if (status == ACQ_OK)
        unlink(files->checkpoint);
    return status;
}

/* Rules are learnt by the first rank alone; the others read them. */
static acq_status wait_for_rulebook(const acq_graph *graph, const acq_fit_params *params,
                                    const model_files *files, acq_fit_models *out, acq_error *error)
{
    bool is_there = true;
    acq_status status = acq_ranks_follow(params->ranks, &is_there, sizeof is_there, error);
    if (acq_ranks_is_first(params->ranks) || status != ACQ_OK)
        return status;
    return acq_rulebook_read(files->model, graph, &out->rulebook, error);
}

static acq_status make_rulebook(const acq_graph *graph, const acq_fit_params *params, bool is_whole,
                                const model_files *files, acq_fit_models *out, acq_error *error)
{
    acq_train_rules_params train = params->rulebook;
    train.seconds = acq_fit_get_seconds(params, is_whole ? ACQ_FIT_WHOLE : ACQ_FIT_MODELS);
    train.begin_ns = acq_clock_ns();
    if (params->resume && access(files->model, R_OK) == 0)
        return acq_rulebook_read(files->model, graph, &out->rulebook, error);
    train.checkpoint = files->checkpoint;
    train.resume = params->resume && access(files->checkpoint, R_OK) == 0;
    acq_status status = acq_train_rules(graph, &train, &out->rulebook, error);
    if (status == ACQ_OK)
        status = acq_rulebook_write(files->model, out->rulebook, graph, NULL, 0, error);
    if (status == ACQ_OK)
        unlink(files->checkpoint);
    return status;
}

static acq_status add_complex(const acq_graph *graph, const char *name,
                              const acq_fit_params *params, const acq_complex *warm,
                              acq_fit_models *out, acq_error *error)
{
    model_files files = {0};
    acq_status status = model_files_init(&files, params, name, "complex", error);
    if (status == ACQ_OK)
        status = make_complex(graph, params, warm, &files, out, error);
    if (status == ACQ_OK)
        status = acq_complex_new_row_model(out->complex, graph, &out->rows[out->n_rows], error);
    out->n_rows += status == ACQ_OK;
    model_files_deinit(&files);
    return status;
}

/* Of a large graph: the vectors that were trained on the rest serve the whole too. */
static acq_status lend_complex(const acq_graph *graph, const acq_complex *trained,
                               acq_fit_models *out, acq_error *error)
{
    acq_status status = acq_complex_new_row_model(trained, graph, &out->rows[out->n_rows], error);
    out->n_rows += status == ACQ_OK;
    return status;
}

static acq_status add_nbfnet(const acq_graph *graph, const char *name, const acq_fit_params *params,
                             acq_fit_models *out, acq_error *error)
{
    acq_around_params around = acq_around_choose(0, acq_graph_get_n_entities(graph));
    model_files files = {0};
    acq_status status = model_files_init(&files, params, name, "nbfnet", error);
    if (status == ACQ_OK)
        status = make_nbfnet(graph, params, strcmp(name, "whole") == 0, &files, out, error);
    if (status == ACQ_OK)
        status = acq_nbfnet_new_near_row_model(out->nbfnet, graph, &around, &out->rows[out->n_rows],
                                               error);
    out->n_rows += status == ACQ_OK;
    model_files_deinit(&files);
    return status;
}

/* As evidence it goes by another name than the rules that are mined (models/rules). */
static acq_status add_rulebook(const acq_graph *graph, const char *name,
                               const acq_fit_params *params, acq_fit_models *out, acq_error *error)
{
    model_files files = {0};
    acq_status status = model_files_init(&files, params, name, "rules", error);
    if (status == ACQ_OK && acq_ranks_is_first(params->ranks))
        status = make_rulebook(graph, params, strcmp(name, "whole") == 0, &files, out, error);
    if (status == ACQ_OK)
        status = wait_for_rulebook(graph, params, &files, out, error);
    if (status == ACQ_OK)
        status = acq_rulebook_new_row_model(out->rulebook, graph, &out->rows[out->n_rows], error);
    if (status == ACQ_OK)
        out->rows[out->n_rows++]->kind = "rulebook";
    model_files_deinit(&files);
    return status;
}

static acq_status tune_ultra(const acq_graph *graph, const acq_fit_params *params,
                             const model_files *files, acq_ultra **out, acq_error *error)
{
    acq_train_ultra_params train;
    if (params->resume && access(files->model, R_OK) == 0)
        return acq_ultra_read(files->model, out, error);
    acq_train_ultra_tune_init(&train, graph, params->ultra);
    double most = acq_fit_get_seconds(params, ACQ_FIT_MODELS);
    train.seconds = most > 0 && most < params->tune_seconds ? most : params->tune_seconds;
    train.begin_ns = acq_clock_ns();
    train.seed = params->seed;
    train.n_threads = params->n_threads;
    train.progress = params->complex.progress;
    train.context = params->complex.context;
    train.checkpoint = files->checkpoint;
    train.resume = params->resume && access(files->checkpoint, R_OK) == 0;
    train.ranks = params->ranks;
    acq_status status = share_start(params, &train.seconds, &train.resume, error);
    if (status == ACQ_OK)
        status = acq_train_ultra(&graph, 1, &train, out, error);
    if (!acq_ranks_is_first(params->ranks))
        return status;
    if (status == ACQ_OK)
        status = acq_ultra_write(files->model, *out, NULL, 0, error);
    if (status == ACQ_OK)
        unlink(files->checkpoint);
    return status;
}

/* Weights know no entity: those tuned on the rest serve the whole graph as well. */
static acq_status add_ultra(const acq_graph *graph, const char *name, const acq_fit_params *params,
                            const acq_fit_models *trained, acq_fit_models *out, acq_error *error)
{
    const acq_ultra *ultra =
        trained == NULL || trained->ultra == NULL ? params->ultra : trained->ultra;
    acq_around_params around = acq_around_choose(0, acq_graph_get_n_entities(graph));
    model_files files = {0};
    acq_status status = model_files_init(&files, params, name, "ultra", error);
    if (status == ACQ_OK && trained == NULL && params->tune_seconds > 0) {
        status = tune_ultra(graph, params, &files, &out->ultra, error);
        ultra = out->ultra;
    }
    if (status == ACQ_OK)
        status =
            acq_ultra_new_near_row_model(ultra, graph, &around, &out->rows[out->n_rows], error);
    out->n_rows += status == ACQ_OK;
    model_files_deinit(&files);
    return status;
}

static acq_status add_neighbours(const acq_graph *graph, acq_fit_models *out, acq_error *error)
{
    acq_status status = acq_neighbours_new_row_model(graph, &out->rows[out->n_rows], error);
    out->n_rows += status == ACQ_OK;
    return status;
}

/* The graph is a rest of the other one, or the other is its rest. */
static acq_status add_evidence(const acq_graph *graph, const acq_graph *other, bool is_rest,
                               const acq_fit_params *params, acq_fit_models *out, acq_error *error)
{
    acq_rules_params rules = ACQ_RULES_DEFAULT;
    rules.seed = params->seed;
    rules.n_threads = params->n_threads;
    rules.stop = params->stop;
    acq_status status = ACQ_OK;
    if (params->use_rules)
        status = acq_rules_mine(graph, &rules, &out->rules, error);
    if (status != ACQ_OK)
        return status;
    acq_candidates_params evidence = {.n_models = out->n_rows,
                                      .rules = out->rules,
                                      .rows = params->rows,
                                      .tails = params->tails,
                                      .top = params->top,
                                      .counted = is_rest ? other : NULL,
                                      .is_thorough = acq_quick_is_small(graph) || params->in_pieces,
                                      .is_pruned = params->in_pieces,
                                      .held_share = params->hold_share,
                                      .is_rest = is_rest,
                                      .rest = params->in_pieces && !is_rest ? other : NULL,
                                      .n_threads = params->n_threads,
                                      .stop = params->stop,
                                      .ranks = params->ranks};
    for (size_t i = 0; i < out->n_rows; i++)
        evidence.models[i] = out->rows[i];
    return acq_candidates_maker_new(graph, &evidence, &out->maker, error);
}

/* trained NULL: of a rest, and facts were held out of `other`; else the graph is whole, and `other`
 * its rest. */
static acq_status make_models(const acq_graph *graph, const acq_graph *other, const char *name,
                              const acq_fit_params *params, const acq_fit_models *trained,
                              acq_fit_models *out, acq_error *error)
{
    acq_status status = ACQ_OK;
    *out = (acq_fit_models){0};
    if (params->use_complex && params->in_pieces && trained != NULL)
        status = lend_complex(graph, trained->complex, out, error);
    else if (params->use_complex)
        status =
            add_complex(graph, name, params, trained == NULL ? NULL : trained->complex, out, error);
    if (status == ACQ_OK && params->use_nbfnet)
        status = add_nbfnet(graph, name, params, out, error);
    if (status == ACQ_OK && params->use_ultra)
        status = add_ultra(graph, name, params, trained, out, error);
    if (status == ACQ_OK && params->use_rulebook)
        status = add_rulebook(graph, name, params, out, error);
    if (status == ACQ_OK && params->use_neighbours)
        status = add_neighbours(graph, out, error);
    if (status == ACQ_OK)
        status = add_evidence(graph, other, trained == NULL, params, out, error);
    if (status != ACQ_OK)
        acq_fit_models_deinit(out);
    return status;
}

acq_status acq_fit_models_make(const acq_graph *rest, const acq_graph *whole, const char *name,
                               const acq_fit_params *params, acq_fit_models *out, acq_error *error)
{
    return make_models(rest, whole, name, params, NULL, out, error);
}

acq_status acq_fit_models_grow(const acq_graph *whole, const acq_graph *rest, const char *name,
                               const acq_fit_params *params, const acq_fit_models *trained,
                               acq_fit_models *out, acq_error *error)
{
    return make_models(whole, rest, name, params, trained, out, error);
}

acq_status acq_fit_models_read(const acq_graph *rest, const char *name,
                               const acq_fit_params *params, acq_fit_models *out, acq_error *error)
{
    *out = (acq_fit_models){0};
    if (!params->use_complex)
        return ACQ_OK;
    char *path = acq_fit_make_path(params, name, "complex");
    acq_status status =
        path == NULL ? acq_fail_memory(error) : acq_complex_read(path, rest, &out->complex, error);
    acq_free(path);
    return status;
}
