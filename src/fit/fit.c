/* fit.c - the steps of fit.h, one after the other. */
#include "fit/fit.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "calibrate/calibrator.h"
#include "calibrate/learn.h"
#include "calibrate/quick.h"
#include "fit/parts.h"

static const double MISSING = 1; /* of a graph, for each fact held out; at most */

enum {
    CANDIDATES = 500000,      /* that trees learn from, besides the likely ones */
    SMALL_CANDIDATES = 60000, /* of a small graph */
    SOME_CANDIDATES = 150000, /* of a large graph, whose rows are a sample */
    SMALL_QUESTIONS = 3000,
    BAGS = 4,
    MANY_TREES = 240,   /* of a large graph: what is sure takes many steps to be said to be */
    FIXED_SEED = 1,     /* of what is drawn from a small graph: p depends on its facts alone */
    SAMPLES = 12,       /* of a small graph: each fact is held out once */
    TRAINED_SAMPLES = 4 /* when a model is trained for each */
};

void acq_fit_params_init(acq_fit_params *params)
{
    *params = (acq_fit_params){.use_complex = true,
                               .effort = ACQ_FIT_NORMAL,
                               .chooses = true,
                               .hold_share = ACQ_HELD_SHARE,
                               .hold = ACQ_HOLD_AUTO,
                               .floor = .002,
                               .top = 64,
                               .rows = ACQ_ROWS_BOTH,
                               .tails = ACQ_TAILS_ALL,
                               .use_rules = true,
                               .use_neighbours = true,
                               .use_lifts = true,
                               .n_questions = 20000,
                               .seed = 1,
                               .n_threads = acq_threads_available()};
    acq_train_complex_params_init(&params->complex);
    acq_train_nbfnet_params_init(&params->nbfnet);
    acq_train_rules_params_init(&params->rulebook);
}

typedef struct fit_run {
    const acq_graph *graph;
    const acq_fit_params *params;
    acq_fit_params inner; /* with the callbacks of the steps */
    acq_graph *rest;
    acq_predictor *truth; /* the whole graph, in the rest's ids */
    acq_fit_models models;
    bool is_small;
    double row_seconds;        /* in pieces: what a row takes; 0: not known */
    double missing;            /* facts that the graph lacks, over those held out of it */
    unsigned first, n_samples; /* the first sample that holds something out, and how many */
    acq_boost *prior;          /* of a small graph's trees; NULL: none */
    acq_link_due *dues;        /* of the pairs of relations (learn.h) */
    acq_fold_trees trees;
    acq_calibrator *calibrator;
    acq_link_progress progress;
    acq_fit_report *report;
    acq_ultra *shipped; /* weights, when none were given and they are used */
    int64_t begin;
    pthread_t owner;
    int64_t asked_ns;        /* when progress was */
    acq_train_progress last; /* what it was told */
    atomic_bool is_stopped;
} fit_run;

static bool is_over(void *context);

static bool tell(fit_run *run, const acq_train_progress *now)
{
    run->asked_ns = acq_clock_ns();
    run->last = *now;
    run->last.text = NULL;
    return run->params->progress == NULL || run->params->progress(run->params->context, now);
}

static double seconds_since(int64_t begin)
{
    return (double)(acq_clock_ns() - begin) * 1e-9;
}

static bool report_step(void *context, const char *phase, double done, double total)
{
    fit_run *run = context;
    acq_train_progress now = {
        .phase = phase, .done = done, .total = total, .seconds = seconds_since(run->begin)};
    return !is_over(run) && tell(run, &now);
}

/* What a training says, with the time of the whole run. */
static bool report_training(void *context, const acq_train_progress *training)
{
    fit_run *run = context;
    acq_train_progress now = *training;
    now.seconds = seconds_since(run->begin);
    return tell(run, &now);
}

/* ---- the folder ---- */

/* Tells weights apart; 0: none are used. */
static uint64_t hash_ultra(const acq_ultra *ultra)
{
    return ultra == NULL
               ? 0
               : acq_hash_bytes(ultra->parameters.values, ultra->parameters.n * sizeof(float), 1);
}

/* What shapes the models that are kept, a line for the graph and one for each model: a run is only
 * gone on with under the same. */
static void print_options(const fit_run *run, acq_text *out)
{
    const acq_fit_params *p = &run->inner;
    char models[64];
    acq_fit_print_models(p, models, sizeof models);
    acq_text_format(
        out, "graph %016llx rest %016llx earlier %016llx hold-share %g hold %d seed %llu\n",
        (unsigned long long)acq_graph_get_fingerprint(run->graph),
        (unsigned long long)acq_graph_get_fingerprint(run->rest),
        (unsigned long long)(p->earlier == NULL ? 0 : acq_graph_get_fingerprint(p->earlier)),
        run->params->hold_share, (int)p->hold, (unsigned long long)run->params->seed);
    if (p->use_complex)
        acq_text_format(out,
                        "complex rank %u epochs %g precision %d batch %u candidates %u n3 %g "
                        "relations %g rate %g\n",
                        p->complex.rank, p->complex.epochs, (int)p->complex.precision,
                        p->complex.batch, p->complex.candidates, p->complex.n3,
                        p->complex.relation_weight, p->complex.rate);
    if (p->use_nbfnet)
        acq_text_format(out, "nbfnet batch %u negatives %u batches %llu\n", p->nbfnet.batch,
                        p->nbfnet.negatives, (unsigned long long)p->nbfnet.batches);
    if (p->use_ultra && p->tune_seconds > 0)
        acq_text_format(out, "ultra %016llx tune %g\n", (unsigned long long)hash_ultra(p->ultra),
                        p->tune_seconds);
    if (p->use_rulebook)
        acq_text_format(out, "rules rounds %llu\n", (unsigned long long)p->rulebook.batches);
    if (p->in_pieces) /* here what was learnt is kept too */
        acq_text_format(out, "pieces of %s floor %g top %u tails %d rules %d\n", models, p->floor,
                        p->top, (int)p->tails, p->use_rules);
}

/* The line that begins with the same word; NULL: none does. */
static const char *find_line(const char *text, const char *line)
{
    size_t n = strcspn(line, " ") + 1;
    while (*text != '\0' && strncmp(text, line, n) != 0)
        text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
    return *text == '\0' ? NULL : text;
}

static bool is_same_line(const char *a, const char *b)
{
    size_t n = strcspn(a, "\n");
    return n == strcspn(b, "\n") && memcmp(a, b, n) == 0;
}

/* The first option in which two lines of names and values differ. */
static void print_difference(const char *kept, const char *own, char *out, size_t size)
{
    size_t i = 0, name = 0, value = 0;
    for (; kept[i] == own[i] && kept[i] != '\n'; i++) {
        if (kept[i] == ' ') {
            name = value;
            value = i + 1;
        }
    }
    acq_format(out, size, "%.*s %.*s, not %.*s", (int)strcspn(kept + name, " \n"), kept + name,
               (int)strcspn(kept + value, " \n"), kept + value, (int)strcspn(own + value, " \n"),
               own + value);
}

static acq_status read_options(const char *path, acq_text *out, acq_error *error)
{
    char kept[2048] = {0};
    FILE *file = fopen(path, "r");
    if (file != NULL && fread(kept, 1, sizeof kept - 1, file) < sizeof kept - 1)
        acq_text_add(out, kept);
    if (file != NULL)
        fclose(file);
    return out->failed ? acq_fail_memory(error) : ACQ_OK;
}

/* Adds lines of models that the folder knows and this run does not use. */
static acq_status check_options(const char *path, acq_text *options, acq_error *error)
{
    acq_text kept = {0};
    acq_status status = read_options(path, &kept, error);
    const char *text = kept.length == 0 ? "" : kept.bytes;
    char difference[160] = "another graph";
    bool is_same = find_line(text, options->bytes) != NULL; /* that of the graph is the first */
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        const char *own = find_line(options->bytes, line);
        if (is_same && own != NULL && !is_same_line(own, line)) {
            print_difference(line, own, difference, sizeof difference);
            is_same = false;
        }
        if (own == NULL)
            acq_text_format(options, "%.*s\n", (int)strcspn(line, "\n"), line);
    }
    acq_text_deinit(&kept);
    if (status != ACQ_OK || (is_same && !options->failed))
        return status;
    acq_fail(error, ACQ_ERR_USAGE,
             "what is kept here was made with %s; give the same options, or remove the folder",
             difference);
    acq_error_set_file(error, path);
    return ACQ_ERR_USAGE;
}

static acq_status write_options(const char *path, const char *options, acq_error *error)
{
    FILE *file = fopen(path, "w");
    bool is_written = file != NULL && fputs(options, file) >= 0;
    if (file != NULL && fclose(file) == 0 && is_written)
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_IO, "cannot be written: %s", strerror(errno));
    acq_error_set_file(error, path);
    return ACQ_ERR_IO;
}

static acq_status open_folder(const fit_run *run, acq_error *error)
{
    const acq_fit_params *params = run->params;
    acq_text options = {0};
    char *path = acq_fit_make_path(params, "fit", "options");
    print_options(run, &options);
    if (path == NULL || options.failed) {
        acq_free(path);
        acq_text_deinit(&options);
        return acq_fail_memory(error);
    }
    acq_status status = ACQ_OK;
    if (access(path, F_OK) == 0 && params->resume) {
        status = check_options(path, &options, error);
    } else if (mkdir(params->folder, 0777) != 0 && errno != EEXIST) {
        status = acq_fail(error, ACQ_ERR_IO, "the folder cannot be made: %s", strerror(errno));
        acq_error_set_file(error, params->folder);
    }
    if (status == ACQ_OK)
        status = write_options(path, options.bytes, error);
    acq_text_deinit(&options);
    acq_free(path);
    return status;
}

/* Names of a sample's files: that of the first one is what answers are learnt over. */
static void name_sample(unsigned i, char *out, size_t size)
{
    snprintf(out, size, i == 0 ? "rest" : "rest%u", i);
}

static void remove_file(const acq_fit_params *params, const char *name, const char *kind)
{
    char *path = acq_fit_make_path(params, name, kind);
    if (path != NULL)
        unlink(path);
    acq_free(path);
}

static void remove_models(const acq_fit_params *params, const char *name)
{
    static const char *const kinds[] = {
        "complex", "complex.checkpoint", "nbfnet",           "nbfnet.checkpoint", "ultra",
        "rules",   "ultra.checkpoint",   "rules.checkpoint", "completion",        "calibrator",
        "pieces"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        remove_file(params, name, kinds[i]);
}

static void remove_folder(const acq_fit_params *params)
{
    char name[16];
    remove_file(params, "rest", "completion");
    remove_file(params, "answers", "completion");
    remove_file(params, "rest", "calibrator");
    remove_file(params, "whole", "pieces");
    if (params->keeps)
        return;
    for (unsigned i = 0; i < SAMPLES; i++) {
        name_sample(i, name, sizeof name);
        remove_models(params, name);
    }
    remove_models(params, "whole");
    remove_file(params, "fit", "options");
    rmdir(params->folder);
}

/* ---- steps ---- */

static acq_status split_sample(const fit_run *run, unsigned i, acq_graph **out, acq_error *error)
{
    const acq_fit_params *params = run->params;
    acq_split_params split = {.share = params->hold_share,
                              .hold = run->inner.hold,
                              .seed = run->inner.seed,
                              .fold = i,
                              .n_folds = SAMPLES};
    return params->earlier != NULL ? acq_split_by_earlier(run->graph, params->earlier, out, error)
                                   : acq_split_by_share(run->graph, &split, out, error);
}

/* Of a very small graph not every sample has a fact that can go. */
static acq_status split_first(fit_run *run, acq_error *error)
{
    acq_error first = {0};
    acq_status status = split_sample(run, 0, &run->rest, &first);
    while (status == ACQ_ERR_INPUT && run->params->earlier == NULL && ++run->first < SAMPLES)
        status = split_sample(run, run->first, &run->rest, NULL);
    return status == ACQ_OK ? ACQ_OK : acq_fail(error, status, "%s", first.message);
}

static acq_status split_graph(fit_run *run, acq_error *error)
{
    acq_status status = acq_fit_choose_hold(run->graph, run->params, &run->inner.hold, error);
    run->report->hold = run->inner.hold == ACQ_HOLD_PAIRS ? "pairs" : "links";
    if (status == ACQ_OK)
        status = split_first(run, error);
    if (status == ACQ_OK)
        status = acq_predictor_new_observed(run->graph, &run->truth, error);
    if (status != ACQ_OK)
        return status;
    double n = (double)acq_graph_get_n_facts(run->graph);
    run->report->held = acq_graph_get_n_facts(run->graph) - acq_graph_get_n_facts(run->rest);
    run->inner.hold_share = (double)run->report->held / n; /* what it came to */
    return ACQ_OK;
}

/* Few relations and facts: training has nothing to tell that counting does not. */
static void choose_models(fit_run *run)
{
    acq_fit_params *inner = &run->inner;
    run->is_small = acq_quick_is_small(run->graph);
    acq_fit_choose(run->graph, inner);
    inner->in_pieces = inner->in_pieces || acq_fit_is_large(run->graph);
    if (inner->in_pieces)
        acq_fit_plan_pieces(run->graph, inner);
    run->is_small = run->is_small && !inner->in_pieces;
    bool is_trained =
        inner->use_complex || inner->use_nbfnet || inner->use_ultra || inner->use_rulebook;
    run->n_samples = !run->is_small || inner->earlier != NULL ? 1
                     : is_trained                             ? TRAINED_SAMPLES
                                                              : SAMPLES;
    if (!run->is_small)
        return;
    inner->seed = FIXED_SEED;                     /* but of the trainings, which have theirs */
    inner->complex.precision = ACQ_PRECISION_F32; /* the same on every processor */
    inner->n_questions =
        inner->n_questions < SMALL_QUESTIONS ? inner->n_questions : SMALL_QUESTIONS;
}

/* What is learnt over the rest's completion. like_whole: the same links, for trees that are asked
 * in the whole graph; NULL: they learn over the first. */
static acq_status learn_answers(fit_run *run, const acq_predictor *completed,
                                const acq_predictor *like_whole, acq_error *error)
{
    acq_calibrator *calibrator = run->calibrator;
    acq_status status = acq_fit_answer_trees(
        run->rest, run->graph, like_whole == NULL ? completed : like_whole, run->truth, &run->inner,
        &run->progress, calibrator, run->report, error);
    if (status == ACQ_OK)
        status = acq_fit_at_large(run->rest, completed, run->truth, &run->inner, &run->progress,
                                  calibrator, run->report, error);
    if (status == ACQ_OK) {
        calibrator->cover = acq_zalloc(1, sizeof *calibrator->cover);
        status = calibrator->cover == NULL
                     ? acq_fail_memory(error)
                     : acq_cover_learn(completed, run->graph, calibrator->cover, error);
    }
    return status;
}

/* Where it was measured to serve (docs/decisions.md). */
static bool learns_like_whole(const fit_run *run)
{
    return run->inner.use_rulebook && !run->is_small;
}

/* Answers over the rest's completion: written, opened, asked. */
static acq_status fit_answers(fit_run *run, acq_error *error)
{
    acq_predictor *completed = NULL, *like_whole = NULL;
    char *path = acq_fit_make_path(run->params, "rest", "completion");
    char *as_whole = acq_fit_make_path(run->params, "answers", "completion");
    acq_link_rule rule = {.trees = &run->trees,
                          .shifts = run->calibrator->shifts,
                          .crossed = true,
                          .missing = run->missing,
                          .as_whole = learns_like_whole(run) ? as_whole : NULL};
    acq_status status = path == NULL || as_whole == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = acq_fit_write_links(run->models.maker, run->rest, &rule, NULL, &run->inner,
                                     &run->progress, path, run->report, error);
    if (status == ACQ_OK)
        status = acq_predictor_new_completion(run->rest, path, &completed, error);
    if (status == ACQ_OK && rule.as_whole != NULL)
        status = acq_predictor_new_completion(run->rest, as_whole, &like_whole, error);
    if (status == ACQ_OK)
        status = learn_answers(run, completed, like_whole, error);
    acq_predictor_free(completed);
    acq_predictor_free(like_whole);
    acq_free(path);
    acq_free(as_whole);
    return status;
}

static acq_status collect_first(fit_run *run, acq_link_sample **out, acq_error *error)
{
    const acq_fit_params *params = &run->inner;
    acq_learn_params learn = {.missing = MISSING,
                              .rows = run->is_small       ? SMALL_CANDIDATES
                                      : params->in_pieces ? SOME_CANDIDATES
                                                          : CANDIDATES,
                              .n_samples = run->n_samples,
                              .n_bags = run->is_small ? BAGS : 1,
                              .n_trees = params->in_pieces ? MANY_TREES : 0,
                              .seed = params->seed,
                              .n_threads = params->n_threads,
                              .report = run->progress.report,
                              .context = run->progress.context};
    acq_status status = ACQ_OK;
    if (run->is_small)
        status = acq_quick_open_prior(run->models.maker, &run->prior, error);
    learn.prior = run->prior;
    if (status == ACQ_OK)
        status = acq_link_sample_new(run->models.maker, acq_graph_get_n_relations(run->graph),
                                     &learn, out, error);
    return status == ACQ_OK ? acq_link_sample_collect(*out, run->models.maker, run->truth, error)
                            : status;
}

/* Other facts held out, with models of their own. */
static acq_status collect_next(fit_run *run, unsigned i, acq_link_sample *sample, acq_error *error)
{
    char name[16];
    acq_graph *rest = NULL;
    acq_fit_models models = {0};
    name_sample(i, name, sizeof name);
    acq_error none = {0};
    acq_status status = split_sample(run, i, &rest, &none);
    if (status == ACQ_ERR_INPUT)
        return ACQ_OK;
    if (status != ACQ_OK)
        return acq_fail(error, status, "%s", none.message);
    if (status == ACQ_OK)
        status = acq_fit_models_make(rest, run->graph, name, &run->inner, &models, error);
    if (status == ACQ_OK) {
        run->report->held += acq_graph_get_n_facts(run->graph) - acq_graph_get_n_facts(rest);
        status = acq_link_sample_collect(sample, models.maker, run->truth, error);
    }
    acq_fit_models_deinit(&models);
    acq_graph_free(rest);
    return status;
}

static void tell_quality(const fit_run *run, const acq_link_quality *quality)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(run->graph); r += 2) {
        acq_fit_relation one = {.name = acq_graph_get_relation_name(run->graph, r),
                                .held = quality[r / 2].held,
                                .said = quality[r / 2].said,
                                .right = quality[r / 2].right};
        if (run->params->relation != NULL)
            run->params->relation(run->params->relation_context, &one);
    }
}

static acq_status learn_trees(fit_run *run, acq_link_sample *sample, acq_error *error)
{
    acq_link_quality *quality = acq_zalloc(run->calibrator->n_shifts + 1, sizeof *quality);
    if (quality == NULL)
        return acq_fail_memory(error);
    acq_link_sample_set_seconds(sample, acq_fit_get_seconds(&run->inner, ACQ_FIT_LINKS));
    acq_status status = acq_link_sample_fit(sample, &run->trees, run->calibrator->shifts,
                                            &run->report->link_table, quality, error);
    run->missing = acq_link_sample_get_missing(sample);
    if (status == ACQ_OK) {
        acq_link_sample_get_dues(sample, run->dues);
        uint32_t n = run->report->n_trees = acq_boost_get_n_trees(run->trees.all);
        run->report->all_trees = run->params->seconds > 0 ? acq_link_sample_count_trees(sample) : n;
        status =
            acq_calibrator_set_quality(run->calibrator, quality, run->calibrator->n_shifts, error);
    }
    run->calibrator->reliability = run->report->link_table;
    if (status == ACQ_OK)
        tell_quality(run, quality);
    acq_free(quality);
    return status;
}

/* Two completions take this evidence again, of the rest and of the whole graph, and so does every
 * further sample, and the sums of p. */
static acq_status keep_time(fit_run *run, acq_error *error)
{
    acq_fit_params *inner = &run->inner;
    double seconds = run->report->collect_seconds, spent = seconds_since(inner->begin_ns);
    double passes = run->is_small ? 4.2 : 3.0, again = passes + 1.2 * (double)(run->n_samples - 1);
    while (inner->seconds > 0 && run->n_samples > 1 &&
           spent + again * seconds > .5 * inner->seconds)
        again = passes + 1.2 * (double)(--run->n_samples - 1);
    inner->kept = passes * seconds;
    if (inner->seconds <= 0 || spent + inner->kept < inner->seconds)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_LIMIT,
                    "the time does not suffice: evidence took %.1f s and is needed twice "
                    "more; go on with --resume --time %.0f or more",
                    seconds, ceil(1.2 * (spent + inner->kept) + 1));
}

/* Trees that tell held-out links from the other candidates. */
static acq_status fit_links(fit_run *run, acq_error *error)
{
    acq_link_sample *sample = NULL;
    acq_calibrator *calibrator = run->calibrator;
    calibrator->n_shifts = acq_graph_get_n_relations(run->graph) / 2;
    calibrator->shifts = acq_zalloc(calibrator->n_shifts, sizeof *calibrator->shifts);
    run->dues = acq_alloc(calibrator->n_shifts, sizeof *run->dues);
    if (calibrator->shifts == NULL || run->dues == NULL)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    if (run->inner.in_pieces)
        status = acq_fit_draw_rows(run->models.maker, acq_graph_get_n_relations(run->graph),
                                   &run->inner, &run->row_seconds, error);
    int64_t before = acq_clock_ns();
    if (status == ACQ_OK)
        status = collect_first(run, &sample, error);
    run->report->collect_seconds = seconds_since(before);
    if (status == ACQ_OK && !run->inner.in_pieces)
        status = keep_time(run, error);
    for (unsigned i = run->first + 1; i < run->n_samples && status == ACQ_OK; i++)
        status = collect_next(run, i, sample, error);
    if (status == ACQ_OK)
        status = learn_trees(run, sample, error);
    if (status == ACQ_OK)
        status = acq_fit_judge_parts(sample, &run->models, &run->inner, error);
    if (status == ACQ_OK) {
        run->report->covered = acq_link_sample_count_true(sample);
        run->report->candidates = acq_link_sample_count(sample);
    }
    acq_link_sample_free(sample);
    return status;
}

/* The other ranks need not make rows any longer. */
static acq_status dismiss(const fit_run *run, const acq_fit_models *models, acq_error *error)
{
    return run->inner.ranks == NULL ? ACQ_OK : acq_candidates_dismiss(models->maker, error);
}

static acq_status fit_calibrator(fit_run *run, acq_error *error)
{
    acq_calibrator *calibrator = run->calibrator = acq_calibrator_new();
    if (calibrator == NULL)
        return acq_fail_memory(error);
    acq_fit_print_models(&run->inner, calibrator->models, sizeof calibrator->models);
    acq_status status =
        acq_fit_models_make(run->rest, run->graph, "rest", &run->inner, &run->models, error);
    if (status == ACQ_OK)
        status = fit_links(run, error);
    run->inner.kept = 1.6 * run->report->collect_seconds; /* the whole graph's completion */
    if (status == ACQ_OK && !run->inner.in_pieces)
        status = fit_answers(run, error);
    if (status == ACQ_OK)
        status = dismiss(run, &run->models, error);
    if (status == ACQ_OK) {
        calibrator->link = run->trees.all;
        run->trees.all = NULL;
        acq_link_shifts_move(calibrator->shifts, calibrator->n_shifts, run->missing);
    }
    return status;
}

/* In pieces the calibrator is kept: with it a resume goes straight on to the links. */
static acq_status fit_or_read_calibrator(fit_run *run, acq_error *error)
{
    if (!run->inner.in_pieces)
        return fit_calibrator(run, error);
    char *path = acq_fit_make_path(run->params, "rest", "calibrator");
    if (path == NULL)
        return acq_fail_memory(error);
    bool is_there = run->params->resume && access(path, R_OK) == 0;
    acq_status status = ACQ_OK;
    if (is_there) {
        status = acq_calibrator_read(path, &run->calibrator, error);
        if (status == ACQ_OK)
            status = acq_fit_models_read(run->rest, "rest", &run->inner, &run->models, error);
        if (status == ACQ_OK)
            run->report->link_table = run->calibrator->reliability;
        if (status == ACQ_OK && run->calibrator->quality != NULL)
            tell_quality(run, run->calibrator->quality);
    } else {
        status = fit_calibrator(run, error);
        if (status == ACQ_OK)
            status = acq_calibrator_write(path, run->calibrator, error);
    }
    acq_free(path);
    return status;
}

static acq_status write_links(fit_run *run, const acq_fit_models *whole, const char *output,
                              acq_error *error)
{
    acq_fold_trees trees = {.all = run->calibrator->link};
    acq_link_rule rule = {.trees = &trees, .shifts = run->calibrator->shifts};
    acq_pieces_job job = {.maker = whole->maker,
                          .graph = run->graph,
                          .rule = &rule,
                          .calibrator = run->calibrator,
                          .params = &run->inner,
                          .progress = &run->progress,
                          .row_seconds = run->row_seconds,
                          .report = run->report};
    return run->inner.in_pieces
               ? acq_fit_write_pieces(&job, output, error)
               : acq_fit_write_links(whole->maker, run->graph, &rule, run->calibrator, &run->inner,
                                     &run->progress, output, run->report, error);
}

static acq_status complete(fit_run *run, const char *output, acq_error *error)
{
    acq_fit_models whole = {0};
    acq_status status = acq_fit_models_grow(run->graph, run->rest, "whole", &run->inner,
                                            &run->models, &whole, error);
    if (status == ACQ_OK && run->is_small && run->inner.earlier == NULL)
        status = acq_fit_balance_links(&whole, run->graph, run->dues, &run->inner, run->calibrator,
                                       error);
    if (status == ACQ_OK)
        status = write_links(run, &whole, output, error);
    if (status == ACQ_OK)
        status = dismiss(run, &whole, error);
    acq_fit_models_deinit(&whole);
    return status;
}

static bool is_late(const fit_run *run)
{
    double spent = (double)(acq_clock_ns() - run->inner.begin_ns) * 1e-9;
    return run->params->seconds > 0 && spent > run->params->seconds;
}

/* Asked from any thread; progress only from the caller's, some times a second. */
static bool is_over(void *context)
{
    fit_run *run = context;
    enum { ASK_NS = 100000000 };
    if (pthread_equal(pthread_self(), run->owner) && acq_clock_ns() - run->asked_ns > ASK_NS &&
        !tell(run, &run->last))
        atomic_store(&run->is_stopped, true);
    return is_late(run) || atomic_load(&run->is_stopped);
}

static void set_callbacks(fit_run *run)
{
    acq_fit_params *inner = &run->inner;
    *inner = *run->params;
    inner->n_threads = inner->n_threads < 1 ? 1 : inner->n_threads;
    inner->complex.n_threads = inner->nbfnet.n_threads = inner->rulebook.n_threads =
        inner->n_threads;
    inner->complex.seed = inner->nbfnet.seed = inner->rulebook.seed = inner->seed;
    inner->complex.progress = inner->nbfnet.progress = inner->rulebook.progress = report_training;
    inner->complex.context = inner->nbfnet.context = inner->rulebook.context = run;
    run->progress = (acq_link_progress){report_step, run};
    inner->begin_ns = inner->begin_ns > 0 ? inner->begin_ns : run->begin;
    inner->stop = (acq_stop){is_over, run};
}

static acq_status open_weights(fit_run *run, acq_error *error)
{
    if (!run->inner.use_ultra || run->params->ultra != NULL)
        return ACQ_OK;
    acq_status status = acq_ultra_new_shipped(&run->shipped, error);
    run->inner.ultra = run->shipped;
    return status;
}

/* ---- ranks ----
 *
 * All train together; the first alone does the rest, with its clock, and asks the others for rows
 * of the rest and then of the whole graph. A small graph is fitted by the first. */

/* Does this fit go on from a calibrator that is kept? By the first rank. */
static acq_status share_resume(fit_run *run, bool *has_calibrator, acq_error *error)
{
    char *path = acq_fit_make_path(run->params, "rest", "calibrator");
    if (path == NULL)
        return acq_fail_memory(error);
    *has_calibrator = run->inner.in_pieces && run->params->resume && access(path, R_OK) == 0;
    acq_free(path);
    return acq_ranks_follow(run->inner.ranks, has_calibrator, sizeof *has_calibrator, error);
}

static acq_status serve_rest(fit_run *run, acq_error *error)
{
    bool has_calibrator;
    acq_status status = share_resume(run, &has_calibrator, error);
    if (status != ACQ_OK)
        return status;
    if (has_calibrator)
        return acq_fit_models_read(run->rest, "rest", &run->inner, &run->models, error);
    status = acq_fit_models_make(run->rest, run->graph, "rest", &run->inner, &run->models, error);
    return status == ACQ_OK ? acq_candidates_serve(run->models.maker, error) : status;
}

static acq_status serve(fit_run *run, acq_error *error)
{
    acq_fit_models whole = {0};
    acq_status status = serve_rest(run, error);
    if (status == ACQ_OK)
        status = acq_fit_models_grow(run->graph, run->rest, "whole", &run->inner, &run->models,
                                     &whole, error);
    if (status == ACQ_OK)
        status = acq_candidates_serve(whole.maker, error);
    acq_fit_models_deinit(&whole);
    return status;
}

/* ---- all of it ---- */

static acq_status fit_alone_or_lead(fit_run *run, const char *output, acq_error *error)
{
    const acq_fit_params *params = run->params;
    bool has_calibrator;
    acq_status status = open_folder(run, error);
    if (status == ACQ_OK)
        status = share_resume(run, &has_calibrator, error);
    if (status == ACQ_OK)
        status = fit_or_read_calibrator(run, error);
    if (status == ACQ_OK)
        status = complete(run, output, error);
    if (status == ACQ_OK && params->svg != NULL && run->report->link_table.weight > 0)
        status = acq_reliability_write_svg(
            &run->report->link_table, "Links: stated and true probability", params->svg, error);
    if (status == ACQ_OK)
        remove_folder(params);
    return status;
}

static acq_status fit_or_serve(fit_run *run, const char *output, acq_error *error)
{
    bool is_first = acq_ranks_is_first(run->params->ranks);
    if (run->is_small)
        run->inner.ranks = NULL;
    if (is_first)
        return fit_alone_or_lead(run, output, error);
    return run->is_small ? ACQ_OK : serve(run, error);
}

acq_status acq_fit(const acq_graph *graph, const char *output, const acq_fit_params *params,
                   acq_fit_report *report, acq_error *error)
{
    fit_run run = {.graph = graph, .params = params, .report = report, .begin = acq_clock_ns()};
    run.owner = pthread_self();
    run.last.phase = "fitting";
    atomic_init(&run.is_stopped, false);
    *report = (acq_fit_report){0};
    acq_reliability_init(&report->link_table);
    acq_reliability_init(&report->answer_table);
    set_callbacks(&run);
    choose_models(&run);
    acq_status status = open_weights(&run, error);
    if (status == ACQ_OK)
        status = split_graph(&run, error);
    if (status == ACQ_OK) /* nobody writes before all have looked at the folder */
        status = acq_ranks_join(params->ranks, &(uint8_t){0}, 1, 1, error);
    if (status == ACQ_OK)
        status = fit_or_serve(&run, output, error);
    report->seconds = seconds_since(run.begin);
    if (status == ACQ_ERR_INTERRUPTED && is_late(&run) && error != NULL) {
        *error = (acq_error){0};
        status = acq_fail(error, ACQ_ERR_LIMIT,
                          "the time ran out while %.40s; more --time and --resume go on",
                          run.last.phase);
    }
    acq_fit_models_deinit(&run.models);
    acq_fold_trees_deinit(&run.trees);
    acq_boost_free(run.prior);
    acq_free(run.dues);
    acq_calibrator_free(run.calibrator);
    acq_predictor_free(run.truth);
    acq_graph_free(run.rest);
    acq_ultra_free(run.shipped);
    return status;
}
