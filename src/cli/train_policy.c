/* train_policy.c - `anycq train policy`: graphs in, weights out, with their curve.
 *
 *   MODEL                      the weights, with how they came to be in the metadata
 *   MODEL.csv, MODEL.svg       the curve
 *   MODEL.seedN.checkpoint     while it trains, one per seed; taken away when MODEL is there
 *
 * An interrupt leaves the checkpoints and the curve so far, which --resume goes on with. A training
 * that was interrupted is not begun anew by accident: without --resume its checkpoints are in
 * the way. */
#include "cli/train.h"

#include <stdio.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/setup.h"
#include "cli/width.h"
#include "cli/train_common.h"
#include "cli/train_options.h"
#include "cli/train_policy_progress.h"
#include "base/file.h"

enum { OPTIONS_SIZE = 2048, STOP_SECONDS = 120 };

typedef struct training {
    const acq_options *options;
    acq_output *output;
    acq_train_graphs graphs;
    acq_train_policy_params params;
    acq_train_policy_result result;
    bool goes_on;            /* there are checkpoints to resume from */
    acq_text csv, svg;       /* paths */
    char text[OPTIONS_SIZE]; /* the options that shape the run */
} training;

static void add_seed_path(const training *job, uint32_t i_seed, acq_text *out)
{
    acq_text_clear(out);
    acq_text_format(out, "%s.seed%llu.checkpoint", job->options->output,
                    (unsigned long long)(job->params.seed + i_seed));
}

static bool has_file(const acq_text *path)
{
    return !path->failed && acq_file_get_kind(path->bytes) != ACQ_FILE_MISSING;
}

/* Checkpoints that are there, and the path of one of them. */
static size_t count_checkpoints(const training *job, acq_text *found)
{
    acq_text path;
    size_t n = 0;
    acq_text_init(&path);
    for (uint32_t i = 0; i < job->params.n_seeds; i++) {
        add_seed_path(job, i, &path);
        if (!has_file(&path))
            continue;
        if (n++ == 0)
            acq_text_add(found, path.bytes);
    }
    acq_text_deinit(&path);
    return n;
}

static acq_status check_checkpoints(training *job, acq_error *error)
{
    acq_text found;
    acq_text_init(&found);
    size_t n = count_checkpoints(job, &found);
    job->goes_on = n > 0;
    const char *path = found.failed ? job->options->output : found.bytes;
    acq_status status =
        acq_train_check_resume(job->options, n > 0 ? path : NULL, job->output, error);
    acq_text_deinit(&found);
    return status;
}

/* MODEL.csv may be a table that has nothing to do with a training. */
static acq_status check_files(const training *job, acq_error *error)
{
    const char *csv = job->csv.bytes;
    acq_status status = acq_train_check_file(job->options, job->options->output, error);
    if (status == ACQ_OK)
        status = acq_train_check_file(job->options, csv, error);
    if (status == ACQ_OK)
        status = acq_train_check_file(job->options, job->svg.bytes, error);
    if (status == ACQ_OK && acq_file_get_size(csv) > 0 && !acq_curve_is_one(csv))
        return acq_train_refuse_file(csv, "this is not the curve of a training and would be lost",
                                     error);
    return status;
}

static acq_status prepare(training *job, acq_error *error)
{
    const char *model = job->options->output;
    acq_text_format(&job->csv, "%s.csv", model);
    acq_text_format(&job->svg, "%s.svg", model);
    if (job->csv.failed || job->svg.failed)
        return acq_fail_memory(error);
    acq_status status = acq_train_read_params(job->options, &job->params, error);
    if (status == ACQ_OK)
        status = acq_train_policy_print_options(&job->params, job->text, sizeof job->text);
    if (status == ACQ_OK)
        status = check_files(job, error);
    if (status == ACQ_OK)
        status = check_checkpoints(job, error);
    if (status == ACQ_OK)
        status = acq_train_graphs_init(&job->graphs, job->options, job->output, error);
    return status;
}

/* Did this run pass the place of an earlier run's point again? */
static bool is_passed_again(const acq_curve *curve, const acq_curve_point *point)
{
    for (size_t i = 0; i < curve->n; i++) {
        if (curve->points[i].seed == point->seed && curve->points[i].batch <= point->batch)
            return true;
    }
    return false;
}

/* The curve of the runs before comes first; one that cannot be read is not worth a failure. */
static acq_status join_curves(training *job, acq_error *error)
{
    acq_curve before = {0}, *now = &job->result.curve;
    acq_status status = ACQ_OK;
    size_t n = 0;
    if (!job->goes_on || acq_curve_read_csv(&before, job->csv.bytes, NULL) != ACQ_OK)
        before.n = 0;
    for (size_t i = 0; i < before.n; i++) {
        if (!is_passed_again(now, &before.points[i]))
            before.points[n++] = before.points[i];
    }
    before.n = n;
    for (size_t i = 0; i < now->n && status == ACQ_OK; i++)
        status = acq_curve_add(&before, &now->points[i]);
    acq_curve_deinit(status == ACQ_OK ? now : &before);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    *now = before;
    return ACQ_OK;
}

static bool should_stop(void *context)
{
    (void)context;
    return acq_interrupt_is_asked();
}

static acq_status train(training *job, acq_error *error)
{
    acq_policy_progress progress;
    acq_output_relieve_notes(job->output);
    acq_policy_progress_init(&progress, &job->params);
    job->params.checkpoint = job->options->output;
    job->params.progress = acq_policy_progress_show;
    job->params.should_stop = should_stop;
    job->params.context = &progress;
    acq_interrupt_hold(NULL, 0);
    acq_interrupt_set_grace(STOP_SECONDS);
    acq_status status = acq_train_policy((const acq_graph *const *)job->graphs.items, job->graphs.n,
                                         &job->params, &job->result, error);
    acq_interrupt_release();
    acq_policy_progress_deinit(&progress);
    return status == ACQ_OK ? join_curves(job, error) : status;
}

static void add_held(const training *job, acq_text *out)
{
    for (uint32_t i = 0; i < job->params.n_seeds; i++)
        acq_text_format(out, "%sseed %llu: %.2f%%", i == 0 ? "" : ", ",
                        (unsigned long long)(job->params.seed + i),
                        100 * job->result.seeds_held[i]);
}

enum { N_NUMBERS = 5, N_TEXTS = 5, NUMBER_SIZE = 32 };

/* The metadata that are numbers, as texts. */
static void format_numbers(const training *job, char (*texts)[NUMBER_SIZE], acq_metadata *out)
{
    static const char *const keys[N_NUMBERS] = {"seed", "episodes", "batches", "threads",
                                                "seconds"};
    const acq_train_policy_result *result = &job->result;
    const uint64_t counts[] = {result->seed, result->episodes, result->batches,
                               job->params.n_threads};
    for (size_t i = 0; i < N_NUMBERS - 1; i++)
        snprintf(texts[i], NUMBER_SIZE, "%llu", (unsigned long long)counts[i]);
    snprintf(texts[N_NUMBERS - 1], NUMBER_SIZE, "%.1f", result->seconds);
    for (size_t i = 0; i < N_NUMBERS; i++)
        out[i] = (acq_metadata){keys[i], texts[i]};
}

static acq_status write_model(const training *job, acq_error *error)
{
    acq_text data, held;
    char texts[N_NUMBERS][NUMBER_SIZE];
    acq_metadata metadata[N_NUMBERS + N_TEXTS];
    acq_text_init(&data);
    acq_text_init(&held);
    acq_train_graphs_print(&job->graphs, job->options, &data);
    add_held(job, &held);
    format_numbers(job, texts, metadata);
    metadata[N_NUMBERS] = (acq_metadata){"data", data.bytes};
    metadata[N_NUMBERS + 1] = (acq_metadata){"held", held.bytes};
    metadata[N_NUMBERS + 2] = (acq_metadata){"options", job->text};
    metadata[N_NUMBERS + 3] = (acq_metadata){"version", ACQ_VERSION};
    metadata[N_NUMBERS + 4] = (acq_metadata){"commit", acq_commit};
    acq_status status = data.failed || held.failed
                            ? acq_fail_memory(error)
                            : acq_policy_write(job->result.policy, job->options->output, metadata,
                                               N_NUMBERS + N_TEXTS, error);
    acq_text_deinit(&data);
    acq_text_deinit(&held);
    return status;
}

/* The curve is written in either case: --resume reads it back. */
static acq_status save(const training *job, acq_error *error)
{
    acq_status status = acq_curve_write_csv(&job->result.curve, job->csv.bytes, error);
    if (job->result.stopped && status == ACQ_OK)
        return acq_fail(error, ACQ_ERR_INTERRUPTED,
                        "interrupted after %llu episodes; the same command with --resume goes on",
                        (unsigned long long)job->result.episodes);
    if (status == ACQ_OK)
        status =
            acq_curve_write_svg(&job->result.curve, job->options->output, job->svg.bytes, error);
    if (status == ACQ_OK)
        status = write_model(job, error);
    if (status == ACQ_OK)
        acq_train_policy_remove_checkpoints(&job->params);
    return status;
}

static void print_quality(const training *job, acq_text *out)
{
    acq_text text;
    acq_text_init(&text);
    acq_text_format(&text, "solves %.2f%% of generated queries kept aside (seed %llu)",
                    100 * job->result.held_solved, (unsigned long long)job->result.seed);
    if (job->params.n_seeds > 1) {
        acq_text_add(&text, "; ");
        add_held(job, &text);
    }
    acq_train_print_line(out, "quality", &text);
}

static void print_cost(const acq_train_policy_result *result, acq_text *out)
{
    acq_text text;
    double rate = result->seconds > 0 ? (double)result->episodes / result->seconds : 0.0;
    acq_text_init(&text);
    acq_text_format(&text, "%llu episodes in %llu batch%s, %.1f s, %.0f episodes/s",
                    (unsigned long long)result->episodes, (unsigned long long)result->batches,
                    result->batches == 1 ? "" : "es", result->seconds, rate);
    acq_train_print_line(out, "cost", &text);
}

static void print(const training *job, acq_text *out)
{
    acq_text use;
    acq_text_init(&use);
    acq_size_print_text(out, "model", job->options->output);
    acq_size_print_text(out, "curve", job->csv.bytes);
    acq_size_print_text(out, "picture", job->svg.bytes);
    print_quality(job, out);
    print_cost(&job->result, out);
    acq_text_format(&use, "--engine policy --weights %s", job->options->output);
    acq_train_print_line(out, "use it", &use);
}

static json_t *make_seeds(const training *job)
{
    json_t *seeds = json_array();
    for (uint32_t i = 0; i < job->params.n_seeds; i++) {
        json_t *one = json_object();
        json_object_set_new(one, "seed", acq_json_count(job->params.seed + i));
        json_object_set_new(one, "held_solved", json_real(job->result.seeds_held[i]));
        json_array_append_new(seeds, one);
    }
    return seeds;
}

static void print_json(const training *job, acq_text *out)
{
    const acq_train_policy_result *result = &job->result;
    json_t *object = json_object();
    json_object_set_new(object, "model", acq_json_text(job->options->output));
    json_object_set_new(object, "curve", acq_json_text(job->csv.bytes));
    json_object_set_new(object, "picture", acq_json_text(job->svg.bytes));
    json_object_set_new(object, "dim", acq_json_count(result->policy->dim));
    json_object_set_new(object, "labels", json_string(result->policy->uses_pe ? "PE LE" : "LE"));
    json_object_set_new(object, "seed", acq_json_count(result->seed));
    json_object_set_new(object, "held_solved", json_real(result->held_solved));
    json_object_set_new(object, "seeds", make_seeds(job));
    json_object_set_new(object, "episodes", acq_json_count(result->episodes));
    json_object_set_new(object, "batches", acq_json_count(result->batches));
    json_object_set_new(object, "seconds", json_real(result->seconds));
    json_object_set_new(object, "threads", acq_json_count(job->params.n_threads));
    json_object_set_new(object, "options", acq_json_text(job->text));
    json_object_set_new(object, "graphs", acq_train_graphs_make_json(&job->graphs, job->options));
    acq_json_add_line(out, object);
}

static void training_deinit(training *job)
{
    acq_train_policy_result_deinit(&job->result);
    acq_train_graphs_deinit(&job->graphs);
    acq_text_deinit(&job->csv);
    acq_text_deinit(&job->svg);
}

/* A full disk does not lose what was trained. */
static void note_checkpoints(const training *job)
{
    acq_text found;
    acq_text_init(&found);
    if (count_checkpoints(job, &found) > 0)
        acq_report_note(job->output,
                        "checkpoints are kept: the same command with --resume goes on from there");
    acq_text_deinit(&found);
}

static acq_status train_and_save(training *job, acq_error *error)
{
    acq_status status = train(job, error);
    bool is_trained = status == ACQ_OK;
    if (is_trained)
        status = save(job, error);
    bool is_lost = is_trained ? status != ACQ_OK && status != ACQ_ERR_INTERRUPTED
                              : status == ACQ_ERR_IO || status == ACQ_ERR_MEMORY;
    if (is_lost)
        note_checkpoints(job);
    return status;
}

int acq_train_policy_command(const acq_options *options, acq_output *output)
{
    training job = {.options = options, .output = output};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    output->streams = true;
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
