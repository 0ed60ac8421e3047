/* eval.c - `anycq eval qac|qar` (links: eval_links.c): an engine and a predictor judged on
 * benchmark query files.
 *
 * The predictor must be named: a result without it cannot be repeated. Everything a number
 * depends on is said: the reading of parallel atoms on stderr and in each JSON line, the row of
 * the always-yes answerer beside every QAC row (a note with --json, csv and tsv). */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "cli/eval.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "cli/table.h"
#include "base/file.h"
#include "reproduce/reproduce.h"

typedef struct eval_job {
    const acq_options *options;
    acq_output output;
    acq_setup setup;
    acq_predictor *truth;
    acq_bench_task task;
    acq_ask_params ask;
    acq_evaluate_params params;
    acq_evaluation *evaluation;
    acq_shared_work shared;
} eval_job;

static acq_status read_task(const acq_options *options, acq_bench_task *out, acq_error *error)
{
    const char *task = options->args.items[0];
    if (strcmp(task, "qac") != 0 && strcmp(task, "qar") != 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "no task or folder \"%.100s\"; use eval qac, qar, cqa, links or a FOLDER",
                        task);
    *out = strcmp(task, "qac") == 0 ? ACQ_TASK_QAC : ACQ_TASK_QAR;
    return ACQ_OK;
}

/* What it is to be named. */
static acq_status fail_unnamed(const char *engine, acq_error *error)
{
    static const char *const runs_on[][2] = {{"sql", "observed"},
                                             {"qto", "complex:MODEL"},
                                             {"fit", "complex:MODEL"},
                                             {"gnnqe", "nbfnet:MODEL"},
                                             {"ultraquery", "ultra:MODEL"}};
    for (size_t i = 0; i < sizeof runs_on / sizeof *runs_on; i++)
        if (strcmp(engine, runs_on[i][0]) == 0)
            return acq_fail(error, ACQ_ERR_USAGE,
                            "eval wants its predictor named: the engine %s runs on --predictor %s",
                            engine, runs_on[i][1]);
    return acq_fail(error, ACQ_ERR_USAGE,
                    "eval wants its predictor named: --predictor observed, perfect:GRAPH or "
                    "completion:FILE");
}

acq_status acq_eval_check_given(const acq_options *options, acq_error *error)
{
    if (options->observed == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "name the observed graph: --observed GRAPH");
    if (options->queries.n == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "name the query files: --queries FILE...");
    if (!acq_options_has(options, predictor) || strcmp(options->predictor, "auto") == 0)
        return fail_unnamed(options->engine, error);
    return ACQ_OK;
}

static acq_status read_params(eval_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_evaluate_params *params = &job->params;
    acq_status status = read_task(options, &job->task, error);
    if (status == ACQ_OK)
        status = acq_eval_check_given(options, error);
    if (status == ACQ_OK)
        status = acq_setup_read_ask(options, &job->ask, error);
    if (status != ACQ_OK)
        return status;
    acq_evaluate_params_init(params);
    params->ask = &job->ask;
    params->atoms = options->atoms;
    params->first = options->first;
    params->threads = (unsigned)options->threads;
    return acq_evaluate_check(params, error);
}

/* ---- the truth ---- */

static acq_status take_names(const acq_graph *observed, const acq_graph *graph, const char *option,
                             const char *path, acq_output *output, acq_predictor **out,
                             acq_error *error)
{
    acq_predictor_report report = {.size = sizeof report};
    acq_predictor *truth;
    acq_status status = acq_predictor_new_of_facts(observed, graph, path, &truth, &report, error);
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
    whole.split = "latest";
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
    return acq_eval_open_truth(job->options, "truth", job->options->truth, job->setup.graph,
                               &job->output, &job->truth, error);
}

/* One note for each reading in use, with the files that have it. */
static void note_reading(eval_job *job, const char *reading)
{
    acq_text names;
    size_t n = 0;
    acq_text_init(&names);
    for (size_t i = 0; i + 1 < acq_evaluation_get_n(job->evaluation); i++) {
        const acq_eval_row *row = acq_evaluation_get(job->evaluation, i);
        if (strcmp(row->atoms, reading) == 0)
            acq_text_format(&names, "%s%s%s", n++ == 0 ? "" : ", ", row->file,
                            row->says_atoms ? " (as it says itself)" : "");
    }
    if (n > 0 && acq_text_finish(&names, NULL) == ACQ_OK)
        acq_report_note(&job->output, "atoms read as %s, which --atoms changes: %s", reading,
                        names.bytes);
    acq_text_deinit(&names);
}

static void add_dirt(acq_text *text, size_t n, const char *one, const char *many)
{
    if (n > 0)
        acq_text_format(text, "%s%zu %s", text->length == 0 ? "" : ", ", n, n == 1 ? one : many);
}

/* One note for all that is odd in the files. */
static void note_dirt(eval_job *job, const acq_eval_row *total)
{
    acq_text text;
    acq_text_init(&text);
    add_dirt(&text, total->n_extra, "grounding with unused names", "groundings with unused names");
    add_dirt(&text, total->n_answerless, "positive without an answer",
             "positives without an answer");
    add_dirt(&text, total->n_denied, "negative with answers", "negatives with answers");
    add_dirt(&text, total->n_repeated, "repeated instance", "repeated instances");
    add_dirt(&text, total->n_replaced, "name given twice", "names given twice");
    if (text.length > 0 && acq_text_finish(&text, NULL) == ACQ_OK)
        acq_report_note(&job->output, "scored as published: %s", text.bytes);
    acq_text_deinit(&text);
    if (total->n_left_out > 0)
        acq_report_note(&job->output, "%zu instance%s without a meaning left out; the first: %s",
                        total->n_left_out, total->n_left_out == 1 ? "" : "s", total->why_out);
}

static void note_files(eval_job *job, const acq_eval_row *total)
{
    static const char *const readings[] = {"written", "pair", "ordered-pair"};
    for (size_t i = 0; i < 3 && job->options->atoms == NULL; i++)
        note_reading(job, readings[i]);
    note_dirt(job, total);
    if (total->n_doubles > 0)
        acq_report_note(&job->output,
                        "%zu tuple%s listed as both correct and wrong; each counts as both",
                        total->n_doubles, total->n_doubles == 1 ? " is" : "s are");
    if (total->n_unlisted > 0)
        acq_report_note(&job->output,
                        "%zu answers counted as wrong because a list of %d answers lacks them; "
                        "--truth GRAPH decides",
                        total->n_unlisted, ACQ_BENCH_LIST_END);
}

bool acq_eval_show(void *context, const acq_progress *now)
{
    acq_bar_show(context, (size_t)now->done, (size_t)now->total);
    return true;
}

static acq_status evaluate(eval_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_bar progress;
    acq_bar_init(&progress, options->args.items[0]);
    job->ask.policy = job->setup.policy;
    job->params.truth = job->truth;
    job->params.ranks = acq_shared_work_get_ranks(&job->shared);
    job->params.progress = acq_eval_show;
    double left = acq_options_get_seconds_left(options);
    if (!isinf(left)) /* printing takes some time too */
        job->params.seconds = fmax(.97 * left - .02, 1e-3);
    job->params.context = &progress;
    acq_status status = acq_evaluate(job->setup.predictor, job->task, options->queries.items,
                                     options->queries.n, &job->params, &job->evaluation, error);
    acq_bar_deinit(&progress);
    return status;
}

static void print_rows(eval_job *job)
{
    const acq_evaluation *evaluation = job->evaluation;
    size_t n = acq_evaluation_get_n(evaluation);
    note_files(job, acq_evaluation_get(evaluation, n - 1));
    bool is_json = job->options->json || job->options->separator != '\0';
    if (!is_json)
        acq_text_add(&job->output.data, acq_evaluation_get_table(evaluation));
    for (size_t i = 0; i < n && is_json; i++) {
        const acq_eval_row *row = acq_evaluation_get(evaluation, i);
        acq_text_add(&job->output.data, acq_evaluation_get_json(evaluation, i));
        if (row->task == ACQ_TASK_QAC && isfinite(row->always_yes.f1_matched))
            acq_report_note(&job->output, "%s: always yes scores f1 %.1f, f1_matched %.1f",
                            row->file, row->always_yes.f1, row->always_yes.f1_matched);
    }
    acq_table_from_json(&job->output.data, job->options->separator);
}

static acq_status run(eval_job *job, acq_error *error)
{
    acq_status status = read_params(job, error);
    if (status == ACQ_OK)
        status =
            acq_setup_init(&job->setup, job->options, job->options->observed, &job->output, error);
    if (status == ACQ_OK)
        status = acq_shared_work_init(&job->shared, job->options, job->setup.graph, error);
    if (status == ACQ_OK)
        status = open_truth(job, error);
    if (status == ACQ_OK)
        status = acq_setup_check_calibrator(job->options, job->setup.predictor, error);
    if (status == ACQ_OK)
        status = evaluate(job, error);
    if (status == ACQ_OK)
        status = acq_graph_get_failure(job->setup.graph, error);
    if (status == ACQ_OK && job->shared.is_shard)
        return acq_shared_work_finish(&job->shared, job->options, &job->output, error);
    if (status == ACQ_OK)
        print_rows(job);
    return status;
}

/* ---- cqa ----
 *
 * `anycq eval cqa`: hard answers ranked, a row for each type of query. */

typedef struct cqa_job {
    const acq_options *options;
    acq_output output;
    acq_setup setup;
    acq_ask_params ask;
    acq_evaluate_params params;
} cqa_job;

static acq_status read_cqa_params(cqa_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_status status = acq_eval_check_given(options, error);
    if (status == ACQ_OK)
        status = acq_setup_read_ask(options, &job->ask, error);
    if (status != ACQ_OK)
        return status;
    acq_evaluate_params_init(&job->params);
    job->params.ask = &job->ask;
    job->params.first = options->first;
    job->params.threads = (unsigned)options->threads;
    return acq_evaluate_check(&job->params, error);
}

static json_t *share(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static void print_json(cqa_job *job, const char *path, const acq_cqa_row *row)
{
    json_t *object = json_object();
    json_object_set_new(object, "task", json_string("cqa"));
    json_object_set_new(object, "file", acq_json_text(path));
    json_object_set_new(object, "type", acq_json_text(row->type));
    json_object_set_new(object, "engine", acq_json_text(job->options->engine));
    json_object_set_new(object, "predictor",
                        acq_json_text(acq_predictor_get_name(job->setup.predictor)));
    json_object_set_new(object, "queries", acq_json_count(row->n_queries));
    json_object_set_new(object, "hard", acq_json_count(row->n_hard));
    json_object_set_new(object, "unranked", acq_json_count(row->n_unranked));
    json_object_set_new(object, "mrr", share(row->mrr));
    json_object_set_new(object, "hits1", share(row->hits1));
    json_object_set_new(object, "hits3", share(row->hits3));
    json_object_set_new(object, "hits10", share(row->hits10));
    json_object_set_new(object, "ms", json_real(row->ms));
    acq_json_add_line(&job->output.data, object);
}

static void add_share(acq_text *out, double value)
{
    if (isnan(value))
        acq_text_format(out, "%8s", "-");
    else
        acq_text_format(out, "%8.2f", value);
}

static void print_row(acq_text *out, const acq_cqa_row *row)
{
    acq_text_format(out, "%-8.40s%8zu%8zu", row->type, row->n_queries, row->n_hard);
    add_share(out, row->mrr);
    add_share(out, row->hits1);
    add_share(out, row->hits3);
    add_share(out, row->hits10);
    acq_text_format(out, "%9zu%10.2f\n", row->n_unranked, row->ms);
}

static void print(cqa_job *job, const char *path, const acq_ranking *ranking)
{
    const char *why;
    bool is_json = job->options->json || job->options->separator != '\0';
    size_t n_left_out = acq_ranking_get_left_out(ranking, &why);
    if (n_left_out > 0)
        acq_report_note(&job->output, "%s: %zu queries left out; the first: %s", path, n_left_out,
                        why);
    if (!is_json)
        acq_text_format(&job->output.data, "%-8s%8s%8s%8s%8s%8s%8s%9s%10s\n", "type", "queries",
                        "hard", "MRR", "hits@1", "hits@3", "hits@10", "unranked", "ms");
    for (size_t i = 0; i < acq_ranking_get_n(ranking); i++) {
        if (is_json)
            print_json(job, path, acq_ranking_get(ranking, i));
        else
            print_row(&job->output.data, acq_ranking_get(ranking, i));
    }
}

static acq_status rank_file(cqa_job *job, const char *path, acq_error *error)
{
    acq_ranking *ranking;
    acq_bar bar;
    acq_bar_init(&bar, "cqa");
    job->params.progress = acq_eval_show;
    job->params.context = &bar;
    double left = acq_options_get_seconds_left(job->options);
    if (!isinf(left))
        job->params.seconds = fmax(.97 * left - .02, 1e-3);
    acq_status status = acq_rank_file(job->setup.predictor, path, &job->params, &ranking, error);
    acq_bar_deinit(&bar);
    if (status != ACQ_OK)
        return status;
    print(job, path, ranking);
    acq_ranking_free(ranking);
    return ACQ_OK;
}

static acq_status run_cqa(cqa_job *job, acq_error *error)
{
    acq_status status = read_cqa_params(job, error);
    if (status == ACQ_OK)
        status =
            acq_setup_init(&job->setup, job->options, job->options->observed, &job->output, error);
    for (size_t i = 0; status == ACQ_OK && i < job->options->queries.n; i++)
        status = rank_file(job, job->options->queries.items[i], error);
    if (status == ACQ_OK)
        acq_table_from_json(&job->output.data, job->options->separator);
    return status;
}

static int run_cqa_command(const acq_options *options)
{
    cqa_job job = {.options = options};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    acq_output_init(&job.output);
    if (run_cqa(&job, &error) != ACQ_OK)
        code = acq_report_error(&job.output, options, &error, NULL);
    acq_setup_deinit(&job.setup);
    return acq_output_finish(&job.output, code);
}

/* ---- the command ---- */

static void close_job(eval_job *job)
{
    acq_evaluation_free(job->evaluation);
    acq_predictor_free(job->truth);
    acq_shared_work_deinit(&job->shared);
    acq_setup_deinit(&job->setup);
    job->evaluation = NULL;
    job->truth = NULL;
    job->setup = (acq_setup){0};
}

/* ---- a folder alone ---- */

typedef struct folder_job {
    const acq_options *options;
    acq_output *output;
} folder_job;

/* One task over the files of a data set; without --predictor observed facts, or its completion. */
static acq_status eval_files(const folder_job *all, const acq_repro_questions *questions,
                             const char *task, const char **files, size_t n, acq_error *error)
{
    acq_options options = *all->options;
    eval_job job = {.options = &options, .output = *all->output};
    bool is_plain = job.output.data.length == 0 && !options.json && options.separator == '\0';
    options.args = (acq_words){.items = &task, .n = 1};
    options.observed = questions->folder;
    options.split = questions->observed_split;
    options.queries = (acq_words){.items = files, .n = n};
    options.given[ACQ_OPTION_predictor] = true;
    if (n == 0)
        return ACQ_OK;
    acq_report_note(&job.output, "%s, %s: %s of %zu files, predictor %s", questions->name,
                    questions->split, task, n, options.predictor);
    if (!options.json && options.separator == '\0')
        acq_text_format(&job.output.data, "%s%s, %s\n", is_plain ? "" : "\n", questions->name,
                        questions->split);
    acq_status status = run(&job, error);
    close_job(&job);
    *all->output = job.output;
    return status;
}

static acq_status eval_set(void *context, const acq_repro_questions *questions, acq_error *error)
{
    acq_status status =
        eval_files(context, questions, "qac", questions->qac, questions->n_qac, error);
    return status == ACQ_OK
               ? eval_files(context, questions, "qar", questions->qar, questions->n_qar, error)
               : status;
}

static int eval_folder(const acq_options *options)
{
    acq_output output;
    acq_error error = {0};
    acq_options own = *options;
    folder_job all = {.options = &own, .output = &output};
    int code = ACQ_EXIT_YES;
    if (!acq_options_has(options, predictor))
        own.predictor = "observed";
    acq_output_init(&output);
    bool is_shared =
        options->work_shard != NULL || options->work_merge.n > 0 || options->output != NULL;
    if (is_shared)
        acq_fail(&error, ACQ_ERR_USAGE,
                 "a folder has several tables; --shard, --merge and -o are for "
                 "one: eval qac, eval qar or eval links");
    if (is_shared || acq_repro_each(options->args.items[0], eval_set, &all, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, NULL);
    return acq_output_finish(&output, code);
}

static bool is_folder(const acq_options *options)
{
    return acq_options_get_variant(options) == ACQ_N_VARIANTS &&
           acq_file_get_kind(options->args.items[0]) == ACQ_FILE_FOLDER;
}

int acq_cli_eval(const acq_options *options)
{
    if (acq_options_get_variant(options) == ACQ_VARIANT_links)
        return acq_eval_links_command(options);
    if (acq_options_get_variant(options) == ACQ_VARIANT_cqa)
        return run_cqa_command(options);
    if (is_folder(options))
        return eval_folder(options);
    eval_job job = {.options = options};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    acq_output_init(&job.output);
    if (run(&job, &error) != ACQ_OK)
        code = acq_report_error(&job.output, options, &error, NULL);
    close_job(&job);
    return acq_output_finish(&job.output, code);
}
