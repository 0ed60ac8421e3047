/* train.c - `anycq train complex|nbfnet|gnnqe|ultra|rules|policy`: graphs in, a model out.
 *
 * What is trained and written stands in train/options.h. An interrupt leaves the checkpoint, which
 * --resume goes on with; a second one takes away what is half written and leaves at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/setup.h"
#include "cli/table.h"
#include "train/options.h"

enum { STOP_SECONDS = 120, NUMBER_ROOM = 32, N_NAMED = ACQ_N_OPTIONS };

typedef struct training {
    const acq_options *options;
    acq_output *output;
    acq_train_kind kind;
    acq_graph **graphs;
    size_t n_graphs;                 /* opened so far */
    acq_train_option given[N_NAMED]; /* options of the training */
    char (*numbers)[NUMBER_ROOM];    /* their values, where these are numbers */
    size_t n_given;
    uint32_t n_seeds, n_judged;
    char **held; /* half-written files, for a second interrupt */
    size_t n_held;
    acq_train_meter meter;
    acq_trained *trained;
    acq_train_summary summary; /* of it */
} training;

static acq_status check(const acq_options *options, acq_error *error)
{
    const char *kind = options->args.items[0];
    if (acq_train_kind_find(kind) == ACQ_N_TRAIN_KINDS)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "no model \"%.100s\" to train; use train complex, nbfnet, gnnqe, ultra, "
                        "rules or policy",
                        kind);
    if (options->args.n < 2)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "train needs a graph to train on: anycq train %s GRAPH... -o MODEL", kind);
    if (options->output == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "train needs a file to write: -o MODEL");
    return ACQ_OK;
}

/* Is the option one of the trainings' own? */
static bool is_of_training(size_t i)
{
    static const enum acq_option_id ids[] = {
#define ID(field, ...) ACQ_OPTION_##field,
        ACQ_TRAIN_OPTIONS(ID, ID, ID, ID, ID)
#undef ID
    };
    for (size_t j = 0; j < sizeof ids / sizeof *ids; j++)
        if (ids[j] == i)
            return true;
    return false;
}

/* What the command line gives, as names and values. */
static void take_option(training *job, const acq_option *option)
{
    const void *field = (const char *)job->options + option->offset;
    acq_train_option *given = &job->given[job->n_given];
    char *number = job->numbers[job->n_given++];
    *given = (acq_train_option){.name = option->name, .value = number};
    switch (option->kind) {
    case ACQ_KIND_FLAG:
        given->value = NULL;
        break;
    case ACQ_KIND_COUNT:
        snprintf(number, NUMBER_ROOM, "%llu", (unsigned long long)*(const uint64_t *)field);
        break;
    case ACQ_KIND_TEXT:
        given->value = *(const char *const *)field;
        break;
    default:
        acq_format(number, NUMBER_ROOM, "%.17g", *(const double *)field);
    }
}

static acq_status take_options(training *job, acq_error *error)
{
    job->numbers = acq_zalloc(N_NAMED, sizeof *job->numbers);
    if (job->numbers == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++)
        if (job->options->given[i] && is_of_training(i))
            take_option(job, acq_option_get(i));
    return ACQ_OK;
}

static acq_status open_graphs(training *job, acq_error *error)
{
    const acq_options *options = job->options;
    size_t n = options->args.n - 1;
    job->graphs = acq_zalloc(n, sizeof *job->graphs);
    if (job->graphs == NULL)
        return acq_fail_memory(error);
    while (job->n_graphs < n) {
        acq_status status =
            acq_setup_read_graph(options, options->args.items[job->n_graphs + 1], job->output,
                                 &job->graphs[job->n_graphs], NULL, error);
        if (status != ACQ_OK)
            return status;
        job->n_graphs++;
    }
    return ACQ_OK;
}

/* Wrong options are told before a large graph is read. */
static acq_status check_options(training *job, acq_error *error)
{
    acq_train_settings params;
    acq_train_options_init(job->kind, &params);
    acq_status status = acq_train_options_set(job->kind, job->given, job->n_given, &params, error);
    job->n_seeds = job->kind == ACQ_TRAIN_POLICY ? params.policy.n_seeds : 1;
    job->n_judged = job->kind == ACQ_TRAIN_POLICY ? params.policy.held_queries : 0;
    return status;
}

static char *copy_checkpoint(const training *job, uint32_t i)
{
    return acq_train_copy_checkpoint(job->kind, job->options->output, job->options->train_seed + i);
}

static bool has_checkpoint(const training *job)
{
    bool found = false;
    for (uint32_t i = 0; i < job->n_seeds && !found; i++) {
        char *path = copy_checkpoint(job, i);
        found = path != NULL && acq_file_get_kind(path) != ACQ_FILE_MISSING;
        acq_free(path);
    }
    return found;
}

/* The files that may be half written when a second interrupt comes. */
static acq_status hold_files(training *job, acq_error *error)
{
    uint32_t n_seeds = job->n_seeds;
    job->held = acq_zalloc(n_seeds + 3, sizeof *job->held);
    if (job->held == NULL)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < n_seeds + 3; i++) {
        static const char *const endings[] = {"", ".csv", ".svg"};
        acq_text path;
        acq_text_init(&path);
        char *checkpoint = i < n_seeds ? copy_checkpoint(job, i) : NULL;
        if (i >= n_seeds)
            acq_text_format(&path, "%s%s", job->options->output, endings[i - n_seeds]);
        else if (checkpoint != NULL)
            acq_text_add(&path, checkpoint);
        char *held =
            path.bytes == NULL || path.failed ? NULL : acq_new_file_copy_temporary(path.bytes);
        acq_free(checkpoint);
        acq_text_deinit(&path);
        if (held == NULL)
            return acq_fail_memory(error);
        job->held[job->n_held++] = held;
    }
    return ACQ_OK;
}

static acq_status train(training *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_train_params params;
    acq_train_params_init(&params);
    params.options = job->given;
    params.n_options = job->n_given;
    params.names = options->args.items + 1;
    params.commit = acq_commit;
    params.seconds_before = 1e-9 * (double)(acq_clock_ns() - options->begin_ns);
    params.progress = acq_train_meter_show;
    params.context = &job->meter;
    params.ranks = acq_ranks_get();
    acq_output_relieve_notes(job->output);
    acq_train_meter_init(&job->meter, options->train_time);
    acq_interrupt_hold((const char *const *)job->held, job->n_held);
    acq_interrupt_set_grace(STOP_SECONDS);
    acq_status status =
        acq_train(acq_train_kind_get_name(job->kind), (const acq_graph *const *)job->graphs,
                  job->n_graphs, options->output, &params, &job->trained, error);
    acq_interrupt_release();
    acq_train_meter_deinit(&job->meter);
    /* A full disk does not lose what was trained. */
    if ((status == ACQ_ERR_IO || status == ACQ_ERR_MEMORY || status == ACQ_ERR_USAGE) &&
        job->meter.done > 0 && has_checkpoint(job))
        acq_report_note(job->output, "%s kept: the same command with --resume goes on from there",
                        job->kind == ACQ_TRAIN_POLICY ? "checkpoints are" : "a checkpoint is");
    return status;
}

static acq_status run(training *job, acq_error *error)
{
    acq_status status = take_options(job, error);
    if (status == ACQ_OK)
        status = check_options(job, error);
    if (status == ACQ_OK && job->options->resume && !has_checkpoint(job))
        acq_report_note(job->output, "%s has no checkpoint: the training begins anew",
                        job->options->output);
    if (status == ACQ_OK)
        status = open_graphs(job, error);
    if (status == ACQ_OK)
        status = hold_files(job, error);
    if (status == ACQ_OK)
        status = train(job, error);
    job->summary.size = sizeof job->summary;
    acq_trained_get(job->trained, &job->summary);
    return status;
}

/* Prints a line of the table and releases its text. */
static void print_line(acq_text *out, const char *label, acq_text *text)
{
    acq_size_print_text(out, label, text->bytes == NULL ? "" : text->bytes);
    out->failed = out->failed || text->failed;
    acq_text_deinit(text);
}

static void print_path(const training *job, const char *label, const char *ending, acq_text *out)
{
    acq_text path = {0};
    acq_text_format(&path, "%s%s", job->options->output, ending);
    print_line(out, label, &path);
}

static void print_policy(const training *job, acq_text *out)
{
    const acq_train_summary *r = &job->summary;
    acq_text quality = {0}, cost = {0};
    print_path(job, "curve", ".csv", out);
    print_path(job, "picture", ".svg", out);
    acq_text_format(&quality, "solves %.2f%% of generated queries kept aside (seed %llu)",
                    100 * r->held_solved, (unsigned long long)r->seed);
    for (uint32_t i = 0; i < r->n_seeds && r->n_seeds > 1; i++)
        acq_text_format(&quality, "%sseed %llu: %.2f%%", i == 0 ? "; " : ", ",
                        (unsigned long long)(r->first_seed + i), 100 * r->seeds_held[i]);
    if (r->held_queries < job->n_judged)
        acq_text_format(&quality, "; judged by %llu of %llu queries, which fit --time",
                        (unsigned long long)r->held_queries, (unsigned long long)job->n_judged);
    print_line(out, "quality", &quality);
    acq_text_format(&cost, "%llu episodes in %.0f batch%s, %.1f s, %.0f episodes/s",
                    (unsigned long long)r->episodes, r->done, r->done == 1 ? "" : "es", r->seconds,
                    r->seconds > 0 ? (double)r->episodes / r->seconds : 0.0);
    print_line(out, "cost", &cost);
}

static void print(const training *job, acq_text *out)
{
    const acq_train_summary *r = &job->summary;
    acq_text cost = {0}, use = {0};
    acq_size_print_text(out, "model", job->options->output);
    if (job->kind == ACQ_TRAIN_POLICY) {
        print_policy(job, out);
        acq_text_format(&use, "--engine policy --weights %s", job->options->output);
    } else {
        acq_text_format(&cost, "%.4g %s, %.1f s, ", r->done, r->unit, r->seconds);
        if (job->kind == ACQ_TRAIN_RULES)
            acq_text_format(&cost, "%llu rules", (unsigned long long)r->n_rules);
        else
            acq_text_format(&cost, "loss %.4g", r->loss);
        print_line(out, "training", &cost);
        bool is_gnnqe = job->kind == ACQ_TRAIN_GNNQE; /* whose model is an NBFNet */
        acq_text_format(&use, "%s--predictor %s:%s", is_gnnqe ? "--engine gnnqe " : "",
                        is_gnnqe ? "nbfnet" : acq_train_kind_get_name(job->kind),
                        job->options->output);
    }
    print_line(out, "use it", &use);
}

static json_t *make_graphs(const training *job)
{
    json_t *list = json_array();
    for (size_t i = 0; i < job->n_graphs; i++) {
        const acq_graph *graph = job->graphs[i];
        json_t *one = json_object();
        json_object_set_new(one, "graph", acq_json_text(job->options->args.items[i + 1]));
        json_object_set_new(one, "fingerprint", acq_json_hash(acq_graph_get_fingerprint(graph)));
        json_object_set_new(one, "facts", acq_json_count(acq_graph_get_n_facts(graph)));
        json_array_append_new(list, one);
    }
    return list;
}

static void set_path(const training *job, const char *key, const char *ending, json_t *object)
{
    acq_text path = {0};
    acq_text_format(&path, "%s%s", job->options->output, ending);
    json_object_set_new(object, key, path.failed ? NULL : acq_json_text(path.bytes));
    acq_text_deinit(&path);
}

static void set_policy(const training *job, json_t *object)
{
    const acq_train_summary *r = &job->summary;
    json_t *seeds = json_array();
    for (uint32_t i = 0; i < r->n_seeds; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "seed", acq_json_count(r->first_seed + i));
        json_object_set_new(one, "held_solved", json_real(r->seeds_held[i]));
        json_array_append_new(seeds, one);
    }
    set_path(job, "curve", ".csv", object);
    set_path(job, "picture", ".svg", object);
    json_object_set_new(object, "dim", acq_json_count(r->dim));
    json_object_set_new(object, "labels", json_string(r->uses_pe ? "PE LE" : "LE"));
    json_object_set_new(object, "seed", acq_json_count(r->seed));
    json_object_set_new(object, "held_solved", json_real(r->held_solved));
    json_object_set_new(object, "seeds", seeds);
    json_object_set_new(object, "episodes", acq_json_count(r->episodes));
    json_object_set_new(object, "batches", acq_json_count((uint64_t)r->done));
}

static void print_json(const training *job, acq_text *out)
{
    const acq_train_summary *r = &job->summary;
    json_t *object = json_object();
    json_object_set_new(object, "model", acq_json_text(job->options->output));
    if (job->kind == ACQ_TRAIN_POLICY) {
        set_policy(job, object);
    } else {
        json_object_set_new(object, "kind", json_string(acq_train_kind_get_name(job->kind)));
        json_object_set_new(object, "seed", acq_json_count(r->seed));
        if (job->kind == ACQ_TRAIN_RULES)
            json_object_set_new(object, "rules", acq_json_count(r->n_rules));
        else
            json_object_set_new(object, "loss", json_real(r->loss));
        json_object_set_new(object, r->unit, json_real(r->done));
    }
    json_object_set_new(object, "seconds", json_real(r->seconds));
    json_object_set_new(object, "threads", acq_json_count(r->threads));
    json_object_set_new(object, "options", acq_json_text(r->options));
    json_object_set_new(object, "graphs", make_graphs(job));
    acq_json_add_line(out, object);
}

static void training_deinit(training *job)
{
    for (size_t i = 0; i < job->n_graphs; i++)
        acq_graph_free(job->graphs[i]);
    for (size_t i = 0; i < job->n_held; i++)
        acq_free(job->held[i]);
    acq_free(job->held);
    acq_free(job->graphs);
    acq_free(job->numbers);
    acq_trained_free(job->trained);
}

static int run_command(const acq_options *options, acq_output *output)
{
    training job = {
        .options = options, .output = output, .kind = acq_train_kind_find(options->args.items[0])};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    output->streams = true;
    if (run(&job, &error) != ACQ_OK)
        code = acq_report_error(output, options, &error, NULL);
    else if (options->json)
        print_json(&job, &output->data);
    else
        print(&job, &output->data);
    training_deinit(&job);
    return code;
}

int acq_cli_train(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_output_init(&output);
    int code = check(options, &error) == ACQ_OK ? run_command(options, &output)
                                                : acq_report_error(&output, options, &error, NULL);
    return acq_output_finish(&output, code);
}

static void print_set(const char *title, acq_train_kind kind, const acq_train_settings *params,
                      acq_text *out)
{
    enum { INDENT = 2 };
    acq_text text = {0};
    acq_train_options_print(kind, params, &text);
    acq_text_format(out, "\n%s\n", title);
    acq_width_pad(out, INDENT);
    acq_width_wrap(out, text.bytes == NULL ? "" : text.bytes, INDENT, INDENT, ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
    out->failed = out->failed || text.failed;
    acq_text_deinit(&text);
}

void acq_train_print_defaults(const char *kind_name, acq_text *out)
{
    acq_train_kind kind = acq_train_kind_find(kind_name);
    acq_train_settings params;
    if (kind == ACQ_N_TRAIN_KINDS)
        return;
    acq_train_options_init(kind, &params);
    print_set("Defaults:", kind, &params, out);
    if (kind != ACQ_TRAIN_POLICY)
        return;
    acq_train_policy_params_init_paper(&params.policy);
    print_set("With --paper:", kind, &params, out);
}
