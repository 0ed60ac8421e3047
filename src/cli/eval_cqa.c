/* eval_cqa.c - `anycq eval cqa`: hard answers ranked, a row for each type of query. */
#include <jansson.h>
#include <math.h>

#include "cli/eval.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "cli/table.h"

typedef struct cqa_job {
    const acq_options *options;
    acq_output output;
    acq_setup setup;
    acq_ask_params ask;
    acq_evaluate_params params;
} cqa_job;

static acq_status read_params(cqa_job *job, acq_error *error)
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

static acq_status run(cqa_job *job, acq_error *error)
{
    acq_status status = read_params(job, error);
    if (status == ACQ_OK)
        status =
            acq_setup_init(&job->setup, job->options, job->options->observed, &job->output, error);
    for (size_t i = 0; status == ACQ_OK && i < job->options->queries.n; i++)
        status = rank_file(job, job->options->queries.items[i], error);
    if (status == ACQ_OK)
        acq_table_from_json(&job->output.data, job->options->separator);
    return status;
}

int acq_eval_cqa_command(const acq_options *options)
{
    cqa_job job = {.options = options};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    acq_output_init(&job.output);
    if (run(&job, &error) != ACQ_OK)
        code = acq_report_error(&job.output, options, &error, NULL);
    acq_setup_deinit(&job.setup);
    return acq_output_finish(&job.output, code);
}
