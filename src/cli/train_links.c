/* train_links.c - `anycq train complex|nbfnet|ultra`: graphs in, a link predictor out.
 *
 *   MODEL              the weights, with how they came to be in the metadata
 *   MODEL.checkpoint   while it trains; taken away when MODEL is there
 *
 * An interrupt leaves the checkpoint, which --resume goes on with. A training that was interrupted
 * is not begun anew by accident: without --resume its checkpoint is in the way. */
#include "cli/train_links.h"

#include <stdio.h>
#include <unistd.h>

#include "base/threads.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/width.h"
#include "cli/train.h"
#include "cli/train_progress.h"
#include "base/file.h"

enum { STOP_SECONDS = 120 };

typedef struct training {
    const acq_options *options;
    acq_output *output;
    const acq_variant *variant;
    const acq_train_kind *kind;
    acq_train_graphs graphs;
    acq_train_task task;
    acq_text checkpoint; /* path */
    acq_text text;       /* the options that shape the run */
    acq_train_meter meter;
    void *model;
} training;

const acq_train_kind *acq_train_kind_get(acq_variant_id variant)
{
    switch (variant) {
    case ACQ_VARIANT_complex:
        return &acq_train_kind_complex;
    case ACQ_VARIANT_nbfnet:
        return &acq_train_kind_nbfnet;
    case ACQ_VARIANT_ultra:
        return &acq_train_kind_ultra;
    default:
        return NULL;
    }
}

static acq_status check_graphs(const training *job, acq_error *error)
{
    size_t n = job->options->args.n - 1;
    if (n <= job->kind->most_graphs)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "train %s takes one graph, and %.100s is another; merge them with anycq import "
                    "SOURCE... -o GRAPH",
                    job->variant->name, job->options->args.items[2]);
}

static acq_status check_checkpoint(training *job, acq_error *error)
{
    const char *path = job->checkpoint.bytes;
    job->task.goes_on = acq_file_get_kind(path) != ACQ_FILE_MISSING;
    return acq_train_check_resume(job->options, job->task.goes_on ? path : NULL, job->output,
                                  error);
}

static acq_status prepare(training *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_text_format(&job->checkpoint, "%s.checkpoint", options->output);
    job->kind->print_options(options, &job->text);
    if (job->checkpoint.failed || job->text.failed)
        return acq_fail_memory(error);
    acq_status status = check_graphs(job, error);
    if (status == ACQ_OK)
        status = job->kind->check(options, error);
    if (status == ACQ_OK)
        status = acq_train_check_file(options, options->output, error);
    if (status == ACQ_OK)
        status = acq_train_check_file(options, job->checkpoint.bytes, error);
    if (status == ACQ_OK)
        status = check_checkpoint(job, error);
    if (status == ACQ_OK)
        status = acq_train_graphs_init(&job->graphs, options, job->output, error);
    return status;
}

static acq_status train(training *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_output_relieve_notes(job->output);
    acq_train_meter_init(&job->meter, job->kind->unit, options->train_time);
    job->task.options = options;
    job->task.graphs = (const acq_graph *const *)job->graphs.items;
    job->task.n_graphs = job->graphs.n;
    job->task.checkpoint = job->checkpoint.bytes;
    job->task.n_threads = acq_options_has(options, train_threads) ? (unsigned)options->train_threads
                                                                  : acq_threads_available();
    job->task.progress = acq_train_meter_show;
    job->task.context = &job->meter;
    acq_interrupt_hold(NULL, 0);
    acq_interrupt_set_grace(STOP_SECONDS);
    acq_status status = job->kind->train(&job->task, &job->model, error);
    acq_interrupt_release();
    acq_train_meter_deinit(&job->meter);
    return status;
}

enum { N_METADATA = 8, NUMBER_SIZE = 32 };

static acq_status write_model(const training *job, acq_error *error)
{
    acq_text data;
    char seed[NUMBER_SIZE], seconds[NUMBER_SIZE], threads[NUMBER_SIZE];
    acq_text_init(&data);
    acq_train_graphs_print(&job->graphs, job->options, &data);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)job->options->train_seed);
    snprintf(seconds, sizeof seconds, "%.1f", job->meter.last.seconds);
    snprintf(threads, sizeof threads, "%u", job->task.n_threads);
    const char *warm = job->options->warm;
    const acq_metadata metadata[N_METADATA] = {
        {"data", data.bytes},         {"seed", seed},
        {"options", job->text.bytes}, {"seconds", seconds},
        {"threads", threads},         {"version", ACQ_VERSION},
        {"commit", acq_commit},       {"warm", warm == NULL ? "no" : "yes"}};
    acq_status status = data.failed
                            ? acq_fail_memory(error)
                            : job->kind->write(&job->task, job->model, metadata, N_METADATA, error);
    acq_text_deinit(&data);
    return status;
}

static acq_status refuse_interrupted(const training *job, acq_error *error)
{
    const acq_train_progress *last = &job->meter.last;
    *error = (acq_error){0};
    return acq_fail(error, ACQ_ERR_INTERRUPTED,
                    "interrupted after %.3g of %.3g %s; the same command with --resume goes on",
                    last->done, last->total, job->kind->unit);
}

static acq_status train_and_save(training *job, acq_error *error)
{
    acq_status status = train(job, error);
    if (status == ACQ_ERR_INTERRUPTED)
        return refuse_interrupted(job, error);
    if (status == ACQ_OK)
        status = write_model(job, error);
    if (status == ACQ_OK)
        (void)unlink(job->checkpoint.bytes);
    else if ((status == ACQ_ERR_IO || status == ACQ_ERR_MEMORY) &&
             acq_file_get_kind(job->checkpoint.bytes) != ACQ_FILE_MISSING)
        acq_report_note(job->output,
                        "a checkpoint is kept: the same command with --resume goes on from there");
    return status;
}

static void print(const training *job, acq_text *out)
{
    const acq_train_progress *last = &job->meter.last;
    acq_text cost, use;
    acq_text_init(&cost);
    acq_text_init(&use);
    acq_size_print_text(out, "model", job->options->output);
    acq_text_format(&cost, "%.4g %s, %.1f s, loss %.4g", last->done, job->kind->unit, last->seconds,
                    last->loss);
    acq_train_print_line(out, "training", &cost);
    acq_text_format(&use, "--predictor %s:%s", job->variant->name, job->options->output);
    acq_train_print_line(out, "use it", &use);
}

static void print_json(const training *job, acq_text *out)
{
    const acq_train_progress *last = &job->meter.last;
    json_t *object = json_object();
    json_object_set_new(object, "model", acq_json_text(job->options->output));
    json_object_set_new(object, "kind", json_string(job->variant->name));
    json_object_set_new(object, "seed", acq_json_count(job->options->train_seed));
    json_object_set_new(object, "loss", json_real(last->loss));
    json_object_set_new(object, job->kind->unit, json_real(last->done));
    json_object_set_new(object, "seconds", json_real(last->seconds));
    json_object_set_new(object, "threads", acq_json_count(job->task.n_threads));
    json_object_set_new(object, "options", acq_json_text(job->text.bytes));
    json_object_set_new(object, "graphs", acq_train_graphs_make_json(&job->graphs, job->options));
    acq_json_add_line(out, object);
}

static void training_deinit(training *job)
{
    job->kind->free(job->model);
    acq_train_graphs_deinit(&job->graphs);
    acq_text_deinit(&job->checkpoint);
    acq_text_deinit(&job->text);
}

int acq_train_links_command(const acq_options *options, acq_output *output)
{
    acq_variant_id variant = acq_options_get_variant(options);
    training job = {.options = options,
                    .output = output,
                    .variant = acq_variant_get(variant),
                    .kind = acq_train_kind_get(variant)};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    output->streams = true;
    acq_text_init(&job.checkpoint);
    acq_text_init(&job.text);
    acq_status status = prepare(&job, &error);
    if (status == ACQ_OK)
        status = train_and_save(&job, &error);
    if (status != ACQ_OK)
        code = acq_report_error(output, options, &error, NULL);
    else if (options->json)
        print_json(&job, &output->data);
    else
        print(&job, &output->data);
    training_deinit(&job);
    return code;
}
