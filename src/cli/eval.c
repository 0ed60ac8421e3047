/* eval.c - `anycq eval qac|qar` (links: eval_links.c): an engine and a predictor judged on
 * benchmark query files.
 *
 * The predictor must be named: a result without it cannot be repeated. Everything a number
 * depends on is said: the reading of parallel atoms on stderr and in each JSON line, the row of
 * the always-yes answerer beside every QAC row (a note with --json). */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "eval/eval.h"
#include "eval/print.h"
#include "cli/eval.h"
#include "cli/progress.h"
#include "cli/setup.h"

typedef struct eval_job {
    const acq_options *options;
    acq_output output;
    acq_setup setup;
    acq_predictor *truth;
    acq_bench_file **files;
    acq_eval_row *rows; /* one per file and the total */
    size_t n_files;     /* read so far */
    acq_eval_params params;
} eval_job;

static acq_status read_task(const acq_options *options, acq_bench_task *out, acq_error *error)
{
    const char *task = options->args.items[0];
    if (strcmp(task, "qac") != 0 && strcmp(task, "qar") != 0)
        return acq_fail(error, ACQ_ERR_USAGE, "no task \"%.100s\"; use eval qac, qar or links",
                        task);
    *out = strcmp(task, "qac") == 0 ? ACQ_TASK_QAC : ACQ_TASK_QAR;
    return ACQ_OK;
}

static acq_status check_given(const acq_options *options, acq_error *error)
{
    if (options->observed == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "name the observed graph: --observed GRAPH");
    if (options->queries.n == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "name the query files: --queries FILE...");
    if (!acq_options_has(options, predictor) || strcmp(options->predictor, "auto") == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "eval wants its predictor named: --predictor observed, perfect:GRAPH or "
                        "completion:FILE");
    return ACQ_OK;
}

static acq_status read_atoms(const acq_options *options, acq_eval_params *params, acq_error *error)
{
    params->has_atoms = options->atoms != NULL;
    if (!params->has_atoms)
        return ACQ_OK;
    params->atoms = acq_atoms_reading_find(options->atoms);
    if (params->atoms == ACQ_N_ATOMS_READINGS)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "no reading \"%.100s\" of the atoms; use --atoms written, pair or "
                        "ordered-pair",
                        options->atoms);
    return ACQ_OK;
}

static acq_status read_params(eval_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_eval_params *params = &job->params;
    *params = ACQ_EVAL_DEFAULT;
    acq_status status = read_task(options, &params->task, error);
    if (status == ACQ_OK)
        status = check_given(options, error);
    if (status == ACQ_OK)
        status = read_atoms(options, params, error);
    if (status == ACQ_OK)
        status = acq_setup_read_params(options, &params->engine, error);
    if (acq_options_has(options, prior))
        params->prior = options->prior;
    params->first = (size_t)options->first;
    params->n_threads = (unsigned)options->threads;
    params->is_perfect = strncmp(options->predictor, "perfect:", strlen("perfect:")) == 0;
    return status;
}

/* ---- the truth ---- */

static acq_status take_names(const acq_graph *observed, const acq_graph *graph, const char *option,
                             const char *path, acq_output *output, acq_predictor **out,
                             acq_error *error)
{
    acq_perfect_report report;
    acq_predictor *truth;
    acq_status status = acq_predictor_new_perfect(observed, graph, path, &truth, &report, error);
    if (status != ACQ_OK)
        return status;
    if (report.dropped_facts == acq_graph_get_n_facts(graph)) {
        acq_predictor_free(truth);
        return acq_fail(error, ACQ_ERR_INPUT,
                        "no fact of --%s %s is about the observed graph's entities", option, path);
    }
    if (report.unknown_entities > 0)
        acq_report_note(output,
                        "%llu entities of %s are not in the observed graph; %llu facts left out",
                        (unsigned long long)report.unknown_entities, path,
                        (unsigned long long)report.dropped_facts);
    *out = truth;
    return ACQ_OK;
}

acq_status acq_eval_open_truth(const acq_options *options, const char *option, const char *path,
                               const acq_graph *observed, acq_output *output, acq_predictor **out,
                               acq_error *error)
{
    acq_graph *graph;
    acq_options whole = *options;
    whole.split = ACQ_SPLIT_LATEST;
    whole.given[ACQ_OPTION_split] = false;
    acq_status status = acq_setup_read_graph(&whole, path, output, &graph, NULL, error);
    if (status != ACQ_OK)
        return status;
    status = take_names(observed, graph, option, path, output, out, error);
    acq_graph_free(graph);
    return status;
}

static acq_status open_truth(eval_job *job, acq_error *error)
{
    if (job->options->truth == NULL)
        return ACQ_OK;
    acq_status status = acq_eval_open_truth(job->options, "truth", job->options->truth,
                                            job->setup.graph, &job->output, &job->truth, error);
    job->params.truth = job->truth;
    return status;
}

static acq_status read_files(eval_job *job, acq_error *error)
{
    size_t n = job->options->queries.n;
    acq_bench_limits limits = {acq_graph_get_n_entities(job->setup.graph),
                               acq_graph_get_n_relations(job->setup.graph)};
    job->files = acq_zalloc(n, sizeof *job->files);
    job->rows = acq_zalloc(n + 1, sizeof *job->rows);
    if (job->files == NULL || job->rows == NULL)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        status = acq_bench_file_read(job->options->queries.items[i], job->params.task, limits,
                                     &job->files[i], error);
        job->n_files += status == ACQ_OK;
    }
    return status;
}

/* One note for each reading in use, with the files that have it. */
static void note_reading(eval_job *job, acq_atoms_reading reading)
{
    acq_text names;
    size_t n = 0;
    acq_text_init(&names);
    for (size_t i = 0; i < job->n_files; i++) {
        const acq_bench_file *file = job->files[i];
        if (acq_bench_file_get_atoms(file) != reading)
            continue;
        acq_text_format(&names, "%s%s%s", n++ == 0 ? "" : ", ", acq_bench_file_get_name(file),
                        file->has_atoms ? " (as it says itself)" : "");
    }
    if (n > 0 && acq_text_finish(&names, NULL) == ACQ_OK)
        acq_report_note(&job->output, "atoms read as %s, which --atoms changes: %s",
                        acq_atoms_reading_get_name(reading), names.bytes);
    acq_text_deinit(&names);
}

static void note_atoms(eval_job *job)
{
    static const acq_atoms_reading readings[] = {ACQ_ATOMS_WRITTEN, ACQ_ATOMS_PAIR,
                                                 ACQ_ATOMS_ORDERED_PAIR};
    for (size_t i = 0; i < 3 && !job->params.has_atoms; i++)
        note_reading(job, readings[i]);
}

static void note_doubles(eval_job *job)
{
    size_t n = 0;
    for (size_t i = 0; i < job->n_files; i++)
        n += job->files[i]->n_doubles;
    if (n > 0)
        acq_report_note(&job->output,
                        "%zu tuple%s listed as both correct and wrong; each counts as both", n,
                        n == 1 ? " is" : "s are");
}

static acq_status evaluate(eval_job *job, acq_error *error)
{
    acq_bar progress;
    acq_bar_init(&progress, acq_bench_task_get_name(job->params.task));
    job->params.predictor = job->setup.predictor;
    job->params.engine.search.policy.policy = job->setup.policy;
    job->params.progress = acq_bar_show;
    job->params.context = &progress;
    acq_status status = acq_eval_run(&job->params, (const acq_bench_file *const *)job->files,
                                     job->n_files, job->rows, error);
    acq_bar_deinit(&progress);
    return status;
}

static void print_rows(eval_job *job)
{
    const acq_eval_row *total = &job->rows[job->n_files];
    if (total->n_unlisted > 0)
        acq_report_note(&job->output,
                        "%zu answers counted as wrong because a list of %d answers lacks them; "
                        "--truth GRAPH decides",
                        total->n_unlisted, ACQ_BENCH_LIST_END);
    if (!job->options->json) {
        acq_eval_print_table(&job->output.data, job->rows, job->n_files + 1);
        return;
    }
    for (size_t i = 0; i <= job->n_files; i++) {
        const acq_eval_row *row = &job->rows[i];
        acq_eval_print_json(&job->output.data, row);
        if (row->task == ACQ_TASK_QAC && isfinite(row->always_yes.f1_matched))
            acq_report_note(&job->output, "%s: always yes scores f1 %.1f, f1_matched %.1f",
                            row->file, row->always_yes.f1, row->always_yes.f1_matched);
    }
}

static acq_status run(eval_job *job, acq_error *error)
{
    acq_status status = read_params(job, error);
    if (status == ACQ_OK)
        status =
            acq_setup_init(&job->setup, job->options, job->options->observed, &job->output, error);
    if (status == ACQ_OK)
        status = open_truth(job, error);
    if (status == ACQ_OK)
        status = read_files(job, error);
    if (status != ACQ_OK)
        return status;
    note_atoms(job);
    note_doubles(job);
    status = acq_setup_check_calibrator(job->options, job->setup.predictor, error);
    if (status == ACQ_OK)
        status = evaluate(job, error);
    if (status == ACQ_OK)
        status = acq_graph_get_failure(job->setup.graph, error);
    if (status == ACQ_OK)
        print_rows(job);
    return status;
}

int acq_cli_eval(const acq_options *options)
{
    if (acq_options_get_variant(options) == ACQ_VARIANT_links)
        return acq_eval_links_command(options);
    eval_job job = {.options = options};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    acq_output_init(&job.output);
    if (run(&job, &error) != ACQ_OK)
        code = acq_report_error(&job.output, options, &error, NULL);
    for (size_t i = 0; i < job.n_files; i++)
        acq_bench_file_free(job.files[i]);
    acq_free(job.files);
    acq_free(job.rows);
    acq_predictor_free(job.truth);
    acq_setup_deinit(&job.setup);
    return acq_output_finish(&job.output, code);
}
