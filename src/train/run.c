/* run.c - see options.h. */
#include "train/options.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"

enum { MOST_METADATA = 12, NUMBER_ROOM = 32, MOST_TEXT = 56 };

typedef struct run {
    const acq_train_run_params *params;
    acq_train_report *report;
    acq_train_settings train;
    const char *warm;        /* path; NULL: none */
    const char *rewards;     /* the same */
    bool resume, goes_on;    /* asked for; and there is a checkpoint */
    char *checkpoint;        /* of what has no seeds */
    acq_train_progress last; /* what was told last */
    acq_text text;           /* of the last progress of a policy */
    acq_text csv, svg;       /* paths */
    bool stopped;
    int64_t begin_ns;
    void *model;
} run;

/* What a kind does in its own way. */
typedef struct kind_ops {
    const char *unit;
    size_t most_graphs;
    acq_status (*train)(run *r, acq_error *error);
    acq_status (*write)(const run *r, const acq_metadata *metadata, size_t n, acq_error *error);
    void (*free)(void *model);
} kind_ops;

char *acq_train_copy_checkpoint(acq_train_kind kind, const char *output, uint64_t seed)
{
    size_t room = strlen(output) + 48;
    char *path = acq_alloc(room, 1);
    if (path != NULL && kind == ACQ_TRAIN_POLICY)
        snprintf(path, room, "%s.seed%" PRIu64 ".checkpoint", output, seed);
    else if (path != NULL)
        snprintf(path, room, "%s.checkpoint", output);
    return path;
}

static bool show(void *context, const acq_train_progress *now)
{
    run *r = context;
    r->last = *now;
    return r->params->progress == NULL || r->params->progress(r->params->context, now);
}

#define START(r, member)                                                                           \
    do {                                                                                           \
        (r)->train.member.checkpoint = (r)->checkpoint;                                            \
        (r)->train.member.resume = (r)->goes_on;                                                   \
        (r)->train.member.begin_ns = (r)->begin_ns;                                                \
        (r)->train.member.progress = show;                                                         \
        (r)->train.member.context = (r);                                                           \
        (r)->train.member.ranks = (r)->params->ranks;                                              \
    } while (0)

static acq_status train_complex(run *r, acq_error *error)
{
    acq_complex *warm = NULL, *model = NULL;
    const acq_graph *graph = r->params->graphs[0];
    acq_status status = r->warm == NULL ? ACQ_OK : acq_complex_read(r->warm, graph, &warm, error);
    START(r, complex);
    r->train.complex.warm = warm;
    if (status == ACQ_OK)
        status = acq_train_complex(graph, &r->train.complex, &model, error);
    acq_complex_free(warm);
    r->model = model;
    return status;
}

static acq_status write_complex(const run *r, const acq_metadata *metadata, size_t n,
                                acq_error *error)
{
    return acq_complex_write(r->params->output, r->model, r->params->graphs[0], metadata, n, error);
}

static void free_complex(void *model)
{
    acq_complex_free(model);
}

static acq_status train_networks(run *r, acq_error *error)
{
    acq_nbfnet *warm = NULL, *model = NULL;
    const acq_graph *graph = r->params->graphs[0];
    acq_status status = r->warm == NULL ? ACQ_OK : acq_nbfnet_read(r->warm, graph, &warm, error);
    START(r, nbfnet);
    r->train.nbfnet.warm = warm;
    if (status == ACQ_OK)
        status = r->params->kind == ACQ_TRAIN_GNNQE
                     ? acq_train_gnnqe(graph, &r->train.nbfnet, &model, error)
                     : acq_train_nbfnet(graph, &r->train.nbfnet, &model, error);
    acq_nbfnet_free(warm);
    r->model = model;
    return status;
}

static acq_status write_nbfnet(const run *r, const acq_metadata *metadata, size_t n,
                               acq_error *error)
{
    return acq_nbfnet_write(r->params->output, r->model, r->params->graphs[0], metadata, n, error);
}

static void free_nbfnet(void *model)
{
    acq_nbfnet_free(model);
}

static acq_status train_ultra(run *r, acq_error *error)
{
    acq_ultra *warm = NULL, *model = NULL;
    acq_status status = r->warm == NULL ? ACQ_OK : acq_ultra_read(r->warm, &warm, error);
    START(r, ultra);
    r->train.ultra.warm = warm;
    if (status == ACQ_OK)
        status =
            acq_train_ultra(r->params->graphs, r->params->n_graphs, &r->train.ultra, &model, error);
    acq_ultra_free(warm);
    r->model = model;
    return status;
}

static acq_status write_ultra(const run *r, const acq_metadata *metadata, size_t n,
                              acq_error *error)
{
    return acq_ultra_write(r->params->output, r->model, metadata, n, error);
}

static void free_ultra(void *model)
{
    acq_ultra_free(model);
}

static acq_status train_rules(run *r, acq_error *error)
{
    acq_rulebook *model = NULL;
    r->train.rules.checkpoint = r->checkpoint;
    r->train.rules.resume = r->goes_on;
    r->train.rules.begin_ns = r->begin_ns;
    r->train.rules.progress = show;
    r->train.rules.context = r;
    acq_status status = acq_train_rules(r->params->graphs[0], &r->train.rules, &model, error);
    r->report->n_rules = model == NULL ? 0 : model->n_cycles + model->n_constants;
    r->model = model;
    return status;
}

static acq_status write_rules(const run *r, const acq_metadata *metadata, size_t n,
                              acq_error *error)
{
    return acq_rulebook_write(r->params->output, r->model, r->params->graphs[0], metadata, n,
                              error);
}

static void free_rules(void *model)
{
    acq_rulebook_free(model);
}

/* "seed 1  1.23M episodes  5012/s  solved 97.1%  hub 84%  reward 8.3" */
static void print_point(const acq_curve_point *point, acq_text *out)
{
    double n = (double)point->episodes;
    acq_text_clear(out);
    acq_text_format(out, "seed %" PRIu64 "  ", point->seed);
    if (n < 1e5)
        acq_text_format(out, "%.0f episodes", n);
    else
        acq_text_format(out, "%.2fM episodes", n / 1e6);
    acq_text_format(out, "  %.0f/s  solved %.3g%%", point->seconds > 0 ? n / point->seconds : 0,
                    100 * point->solved);
    if (!isnan(point->hub_solved))
        acq_text_format(out, "  hub %.3g%%", 100 * point->hub_solved);
    if (out->length < MOST_TEXT)
        acq_text_format(out, "  reward %.2g", point->reward);
}

static void take_point(void *context, const acq_curve_point *point)
{
    run *r = context;
    if (isnan(point->solved)) /* no episode since the point before */
        return;
    print_point(point, &r->text);
    r->last = (acq_train_progress){.phase = "training",
                                   .done = (double)point->batch,
                                   .total = (double)r->train.policy.batches,
                                   .loss = point->loss,
                                   .seconds = point->seconds,
                                   .text = r->text.failed ? NULL : r->text.bytes};
}

static bool should_stop(void *context)
{
    acq_train_progress now = ((run *)context)->last;
    return !show(context, &now);
}

/* Did this run pass the place of an earlier run's point again? */
static bool is_passed_again(const acq_curve *curve, const acq_curve_point *point)
{
    for (size_t i = 0; i < curve->n; i++)
        if (curve->points[i].seed == point->seed && curve->points[i].batch <= point->batch)
            return true;
    return false;
}

/* The curve of the runs before comes first; one that cannot be read is not worth a failure. */
static acq_status join_curves(const run *r, acq_curve *now, acq_error *error)
{
    acq_curve before = {0};
    acq_status status = ACQ_OK;
    size_t n = 0;
    if (!r->goes_on || acq_curve_read_csv(&before, r->csv.bytes, NULL) != ACQ_OK)
        before.n = 0;
    for (size_t i = 0; i < before.n; i++)
        if (!is_passed_again(now, &before.points[i]))
            before.points[n++] = before.points[i];
    before.n = n;
    for (size_t i = 0; i < now->n && status == ACQ_OK; i++)
        status = acq_curve_add(&before, &now->points[i]);
    acq_curve_deinit(status == ACQ_OK ? now : &before);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    *now = before;
    return ACQ_OK;
}

/* The curve is written also where the run was stopped: a resumed one reads it back. */
static acq_status save_curve(run *r, acq_train_policy_result *result, acq_error *error)
{
    acq_status status = join_curves(r, &result->curve, error);
    if (status == ACQ_OK)
        status = acq_curve_write_csv(&result->curve, r->csv.bytes, error);
    if (status == ACQ_OK && result->stopped)
        return acq_fail(error, ACQ_ERR_INTERRUPTED,
                        "interrupted after %" PRIu64
                        " episodes; the same command with --resume goes on",
                        result->episodes);
    if (status == ACQ_OK)
        status = acq_curve_write_svg(&result->curve, r->params->output, r->svg.bytes, error);
    return status;
}

static void take_result(run *r, acq_train_policy_result *result)
{
    acq_train_report *report = r->report;
    report->seed = result->seed;
    report->done = (double)result->batches;
    report->loss = 0;
    report->seconds = result->seconds;
    report->episodes = result->episodes;
    report->held_solved = result->held_solved;
    report->n_seeds = r->train.policy.n_seeds;
    report->first_seed = r->train.policy.seed;
    report->seeds_held = result->seeds_held;
    report->n_held_hubs = result->n_held_hubs;
    report->dim = result->policy->dim;
    report->uses_pe = result->policy->uses_pe;
    r->model = result->policy;
    result->policy = NULL;
    result->seeds_held = NULL;
}

static acq_status train_policy(run *r, acq_error *error)
{
    acq_train_policy_result result;
    acq_train_policy_params *params = &r->train.policy;
    acq_complex *rewards = NULL;
    if (r->rewards != NULL && r->params->n_graphs > 1)
        return acq_fail(error, ACQ_ERR_USAGE, "the model of --rewards knows one graph; name one");
    acq_status status = r->rewards == NULL
                            ? ACQ_OK
                            : acq_complex_read(r->rewards, r->params->graphs[0], &rewards, error);
    if (status != ACQ_OK)
        return status;
    params->rewards = rewards;
    params->checkpoint = r->params->output;
    params->resume = r->goes_on;
    params->begin_ns = r->begin_ns;
    params->progress = take_point;
    params->should_stop = should_stop;
    params->context = r;
    params->ranks = r->params->ranks;
    status = acq_train_policy(r->params->graphs, r->params->n_graphs, params, &result, error);
    if (status == ACQ_OK) {
        if (acq_ranks_is_first(r->params->ranks))
            status = save_curve(r, &result, error);
        take_result(r, &result);
    }
    r->stopped = status == ACQ_ERR_INTERRUPTED;
    params->rewards = NULL;
    acq_complex_free(rewards);
    acq_train_policy_result_deinit(&result);
    return status;
}

static acq_status write_policy(const run *r, const acq_metadata *metadata, size_t n,
                               acq_error *error)
{
    return acq_policy_write(r->model, r->params->output, metadata, n, error);
}

static void free_policy(void *model)
{
    acq_policy_free(model);
}

static const kind_ops kinds[ACQ_N_TRAIN_KINDS] = {
    [ACQ_TRAIN_COMPLEX] = {"epochs", 1, train_complex, write_complex, free_complex},
    [ACQ_TRAIN_NBFNET] = {"batches", 1, train_networks, write_nbfnet, free_nbfnet},
    [ACQ_TRAIN_GNNQE] = {"batches", 1, train_networks, write_nbfnet, free_nbfnet},
    [ACQ_TRAIN_ULTRA] = {"batches", SIZE_MAX, train_ultra, write_ultra, free_ultra},
    [ACQ_TRAIN_RULES] = {"batches", 1, train_rules, write_rules, free_rules},
    [ACQ_TRAIN_POLICY] = {"batches", SIZE_MAX, train_policy, write_policy, free_policy},
};

static acq_status fail_file(const char *path, const char *message, acq_error *error)
{
    acq_fail(error, ACQ_ERR_USAGE, "%s", message);
    acq_error_set_file(error, path);
    return ACQ_ERR_USAGE;
}

static acq_status check_graphs(const run *r, acq_error *error)
{
    const acq_train_run_params *params = r->params;
    if (params->n_graphs == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "train needs a graph to train on");
    if (params->n_graphs > kinds[params->kind].most_graphs)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "train %s takes one graph, and %.100s is another; merge them with anycq "
                        "import SOURCE... -o GRAPH",
                        acq_train_kind_get_name(params->kind),
                        params->names == NULL ? "the second" : params->names[1]);
    for (size_t i = 0; i < params->n_graphs; i++) {
        if (acq_graph_get_n_facts(params->graphs[i]) > 0)
            continue;
        acq_fail(error, ACQ_ERR_INPUT, "the graph has no facts to train on");
        if (params->names != NULL)
            acq_error_set_file(error, params->names[i]);
        return ACQ_ERR_INPUT;
    }
    return ACQ_OK;
}

/* Can it be written? Better now than after an hour. */
static acq_status check_file(const char *path, acq_error *error)
{
    acq_new_file probe;
    acq_status status = acq_new_file_init(&probe, path, "the file", error);
    acq_new_file_deinit(&probe);
    return status;
}

/* MODEL.csv may be a table that has nothing to do with a training. */
static acq_status check_files(const run *r, acq_error *error)
{
    const char *csv = r->csv.bytes;
    acq_status status = check_file(r->params->output, error);
    if (r->params->kind != ACQ_TRAIN_POLICY)
        return status == ACQ_OK ? check_file(r->checkpoint, error) : status;
    if (status == ACQ_OK)
        status = check_file(csv, error);
    if (status == ACQ_OK)
        status = check_file(r->svg.bytes, error);
    if (status == ACQ_OK && acq_file_get_size(csv) > 0 && !acq_curve_is_one(csv))
        return fail_file(csv,
                         "this is not the curve of a training and would be lost; name another "
                         "model with -o",
                         error);
    return status;
}

/* A checkpoint is gone on with, or in the way without "resume". */
static acq_status check_checkpoint(run *r, uint64_t seed, acq_error *error)
{
    char *path = acq_train_copy_checkpoint(r->params->kind, r->params->output, seed);
    acq_status status = path == NULL ? acq_fail_memory(error) : ACQ_OK;
    bool is_there = path != NULL && acq_file_get_kind(path) != ACQ_FILE_MISSING;
    r->goes_on = r->goes_on || is_there;
    if (is_there && !r->resume)
        status = fail_file(path,
                           "this is of a training that has not ended; go on with --resume, or "
                           "remove it to begin anew",
                           error);
    acq_free(path);
    return status;
}

/* Is `name` that of a checkpoint of BASE, whatever the seed? */
static bool is_of_a_seed(const char *name, const char *base)
{
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || strncmp(name + length, ".seed", 5) != 0)
        return false;
    const char *digits = name + length + 5;
    size_t n = strspn(digits, "0123456789");
    return n > 0 && strcmp(digits + n, ".checkpoint") == 0;
}

/* None of the asked seeds has a checkpoint: has another one? */
static acq_status check_other_seeds(const run *r, acq_error *error)
{
    const char *output = r->params->output, *slash = strrchr(output, '/');
    const char *base = slash == NULL ? output : slash + 1;
    acq_text path = {0};
    acq_status status = ACQ_OK;
    acq_text_format(&path, "%.*s", (int)(base - output), output);
    DIR *entries = path.failed ? NULL : opendir(base == output ? "." : path.bytes);
    for (struct dirent *e; entries != NULL && status == ACQ_OK && (e = readdir(entries)) != NULL;) {
        if (!is_of_a_seed(e->d_name, base))
            continue;
        acq_text_add(&path, e->d_name);
        status = fail_file(path.failed ? e->d_name : path.bytes,
                           "the checkpoint is of another --seed; give the same options, or remove "
                           "it to begin anew",
                           error);
    }
    if (entries != NULL)
        closedir(entries);
    acq_text_deinit(&path);
    return status;
}

static acq_status check_checkpoints(run *r, acq_error *error)
{
    acq_status status = ACQ_OK;
    bool has_seeds = r->params->kind == ACQ_TRAIN_POLICY;
    uint32_t n = has_seeds ? r->train.policy.n_seeds : 1;
    for (uint32_t i = 0; i < n && status == ACQ_OK; i++)
        status = check_checkpoint(r, has_seeds ? r->train.policy.seed + i : 0, error);
    return status == ACQ_OK && has_seeds && !r->goes_on ? check_other_seeds(r, error) : status;
}

static unsigned *get_threads(run *r)
{
    unsigned *const threads[] = {&r->train.complex.n_threads, &r->train.nbfnet.n_threads,
                                 &r->train.nbfnet.n_threads,  &r->train.ultra.n_threads,
                                 &r->train.rules.n_threads,   &r->train.policy.n_threads};
    return threads[r->params->kind];
}

static uint64_t get_seed(const run *r)
{
    const uint64_t seeds[] = {r->train.complex.seed, r->train.nbfnet.seed, r->train.nbfnet.seed,
                              r->train.ultra.seed,   r->train.rules.seed,  r->train.policy.seed};
    return seeds[r->params->kind];
}

static acq_status read_options(run *r, acq_error *error)
{
    const acq_train_run_params *params = r->params;
    const acq_train_option *options = params->options;
    const char *flag = NULL;
    acq_train_options_init(params->kind, &r->train);
    *get_threads(r) = acq_threads_available();
    r->resume = acq_train_options_find(options, params->n_options, "resume", &flag) &&
                (flag == NULL || strcmp(flag, "no") != 0);
    (void)acq_train_options_find(options, params->n_options, "warm", &r->warm);
    (void)acq_train_options_find(options, params->n_options, "rewards", &r->rewards);
    return acq_train_options_set(params->kind, options, params->n_options, &r->train, error);
}

static acq_status prepare(run *r, acq_error *error)
{
    const acq_train_run_params *params = r->params;
    acq_status status = read_options(r, error);
    if (status != ACQ_OK)
        return status;
    acq_train_options_print(params->kind, &r->train, &r->report->options);
    if (params->kind == ACQ_TRAIN_COMPLEX)
        acq_text_format(&r->report->options, " products=%s",
                        acq_train_complex_is_half(&r->train.complex) ? "bf16" : "f32");
    r->report->unit = kinds[params->kind].unit;
    r->report->n_threads = *get_threads(r);
    r->report->seed = get_seed(r);
    acq_text_format(&r->csv, "%s.csv", params->output);
    acq_text_format(&r->svg, "%s.svg", params->output);
    r->checkpoint = acq_train_copy_checkpoint(params->kind, params->output, 0);
    if (r->csv.failed || r->svg.failed || r->checkpoint == NULL || r->report->options.failed)
        return acq_fail_memory(error);
    status = check_graphs(r, error);
    if (status == ACQ_OK)
        status = check_files(r, error);
    return status == ACQ_OK ? check_checkpoints(r, error) : status;
}

/* The last two parts of a path say which graph it was, and not where somebody keeps it. */
static const char *get_short_path(const char *path)
{
    const char *at = path + strlen(path);
    for (size_t n = 0; at > path; at--)
        if (at[-1] == '/' && at[0] != '\0' && ++n == 2)
            break;
    return at;
}

static void print_data(const acq_train_run_params *params, acq_text *out)
{
    for (size_t i = 0; i < params->n_graphs; i++)
        acq_text_format(out, "%s%s%s%016" PRIx64, i == 0 ? "" : ", ",
                        params->names == NULL ? "" : get_short_path(params->names[i]),
                        params->names == NULL ? "" : " ",
                        acq_graph_get_fingerprint(params->graphs[i]));
}

static void print_held(const acq_train_report *report, acq_text *out)
{
    for (uint32_t i = 0; i < report->n_seeds; i++)
        acq_text_format(out, "%sseed %" PRIu64 ": %.2f%%", i == 0 ? "" : ", ",
                        report->first_seed + i, 100 * report->seeds_held[i]);
}

typedef struct metadata {
    acq_metadata items[MOST_METADATA];
    char numbers[MOST_METADATA][NUMBER_ROOM];
    size_t n;
} metadata;

static void add_metadata(metadata *m, const char *key, const char *value)
{
    if (value != NULL)
        m->items[m->n++] = (acq_metadata){key, value};
}

static void add_count(metadata *m, const char *key, uint64_t value)
{
    snprintf(m->numbers[m->n], NUMBER_ROOM, "%" PRIu64, value);
    add_metadata(m, key, m->numbers[m->n]);
}

/* How the weights came to be. */
static void fill_metadata(const run *r, const char *data, const char *held, metadata *m)
{
    const acq_train_report *report = r->report;
    bool is_policy = r->params->kind == ACQ_TRAIN_POLICY;
    add_metadata(m, "data", data);
    add_count(m, "seed", report->seed);
    if (is_policy) {
        add_count(m, "episodes", report->episodes);
        add_count(m, "batches", (uint64_t)report->done);
        add_metadata(m, "held", held);
        if (r->rewards != NULL)
            add_metadata(m, "rewards", "complex");
    } else {
        add_metadata(m, "warm", r->warm == NULL ? "no" : "yes");
    }
    add_count(m, "threads", report->n_threads);
    acq_format(m->numbers[m->n], NUMBER_ROOM, "%.1f", report->seconds);
    add_metadata(m, "seconds", m->numbers[m->n]);
    add_metadata(m, "options", report->options.bytes);
    add_metadata(m, "version", r->params->version);
    add_metadata(m, "commit", r->params->commit);
}

static acq_status write_model(const run *r, acq_error *error)
{
    acq_text data, held;
    metadata m = {0};
    acq_text_init(&data);
    acq_text_init(&held);
    print_data(r->params, &data);
    print_held(r->report, &held);
    fill_metadata(r, data.bytes, held.bytes, &m);
    acq_status status = data.failed || held.failed
                            ? acq_fail_memory(error)
                            : kinds[r->params->kind].write(r, m.items, m.n, error);
    acq_text_deinit(&data);
    acq_text_deinit(&held);
    return status;
}

static void remove_checkpoints(run *r)
{
    if (r->params->kind == ACQ_TRAIN_POLICY)
        acq_train_policy_remove_checkpoints(&r->train.policy);
    else
        (void)unlink(r->checkpoint);
}

static acq_status train_and_save(run *r, acq_error *error)
{
    bool is_policy = r->params->kind == ACQ_TRAIN_POLICY;
    acq_status status = kinds[r->params->kind].train(r, error);
    if (!is_policy) {
        r->report->done = r->last.done;
        r->report->loss = r->last.loss;
        r->report->seconds = r->last.seconds;
    }
    if (status == ACQ_ERR_INTERRUPTED && !is_policy) {
        if (error != NULL)
            *error = (acq_error){0};
        return acq_fail(error, status,
                        "interrupted after %.3g of %.3g %s; the same command with --resume goes on",
                        r->last.done, r->last.total, r->report->unit);
    }
    if (!acq_ranks_is_first(r->params->ranks))
        return status;
    if (status == ACQ_OK)
        status = write_model(r, error);
    if (status == ACQ_OK)
        remove_checkpoints(r);
    return status;
}

acq_status acq_train_run(const acq_train_run_params *params, acq_train_report *report,
                         acq_error *error)
{
    run r = {.params = params, .report = report, .last = {.phase = "training"}};
    r.begin_ns = params->begin_ns > 0 ? params->begin_ns : acq_clock_ns();
    *report = (acq_train_report){0};
    acq_status status = prepare(&r, error);
    if (status == ACQ_OK) /* nobody writes before all have looked */
        status = acq_ranks_follow(params->ranks, &r.goes_on, sizeof r.goes_on, error);
    if (status == ACQ_OK)
        status = train_and_save(&r, error);
    kinds[params->kind].free(r.model);
    acq_text_deinit(&r.text);
    acq_text_deinit(&r.csv);
    acq_text_deinit(&r.svg);
    acq_free(r.checkpoint);
    return status;
}

void acq_train_report_deinit(acq_train_report *report)
{
    acq_text_deinit(&report->options);
    acq_free(report->seeds_held);
    *report = (acq_train_report){0};
}
