/* generate.c - `anycq generate`: a benchmark from two graphs, and what is in it. */
#include <jansson.h>
#include <string.h>

#include "base/budget.h"
#include "cli/eval.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/setup.h"
#include "cli/table.h"

typedef struct generate_job {
    const acq_options *options;
    acq_output output;
    acq_graph *observed, *complete;
    acq_generate_params params;
    acq_generate_report report;
    double seconds;
} generate_job;

static acq_status check_given(const acq_options *options, acq_error *error)
{
    if (options->observed == NULL || options->complete_graph == NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "name both graphs: --observed GRAPH --complete GRAPH");
    if (options->output == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "say where to write: -o FILE");
    return acq_setup_check_outputs(options, error);
}

static void read_params(generate_job *job)
{
    const acq_options *options = job->options;
    acq_generate_params *params = &job->params;
    acq_generate_params_init(params);
    params->kind = options->args.items[0];
    params->type = options->type;
    params->hubs = (uint32_t)options->split_hubs;
    params->free_variables = (uint32_t)options->free_variables;
    params->count = options->count;
    params->seed = options->generate_seed;
    params->terms = (uint32_t)options->terms;
    if (acq_options_has(options, constant_share))
        params->constants = options->constant_share;
    if (acq_options_has(options, leaf_share))
        params->leaves = options->leaf_share;
    params->from_unobserved = options->from_unobserved;
    params->one_per_pair = options->one_per_pair;
    params->published_sets = options->published_sets;
    params->near_negatives = options->near_negatives;
    params->answers = options->answers;
    params->form = options->form;
    params->threads = (unsigned)options->generate_threads;
    params->seconds = options->generate_time;
}

/* The complete graph is a folder's latest split, whatever --split says of the observed one. */
static acq_status read_graphs(generate_job *job, acq_error *error)
{
    acq_options whole = *job->options;
    whole.split = "latest";
    whole.given[ACQ_OPTION_split] = false;
    acq_status status = acq_setup_read_graph(job->options, job->options->observed, &job->output,
                                             &job->observed, NULL, error);
    return status == ACQ_OK ? acq_setup_read_graph(&whole, job->options->complete_graph,
                                                   &job->output, &job->complete, NULL, error)
                            : status;
}

static acq_status run(generate_job *job, acq_error *error)
{
    acq_status status = check_given(job->options, error);
    read_params(job);
    if (status == ACQ_OK)
        status = acq_shard_parse(job->options->work_shard, &job->params.part, &job->params.of_parts,
                                 error);
    if (status == ACQ_OK)
        status = read_graphs(job, error);
    if (status != ACQ_OK)
        return status;
    acq_bar bar;
    acq_bar_init(&bar, job->options->args.items[0]);
    job->params.progress = acq_eval_show;
    job->params.context = &bar;
    job->params.ranks = acq_ranks_get();
    job->params.shards = job->options->work_merge.items;
    job->params.n_shards = job->options->work_merge.n;
    job->report.size = sizeof job->report;
    int64_t begin = acq_clock_ns();
    status = acq_generate(job->observed, job->complete, job->options->output, &job->params,
                          &job->report, error);
    job->seconds = (double)(acq_clock_ns() - begin) * 1e-9;
    acq_bar_deinit(&bar);
    return status;
}

static double percent(uint64_t n, uint64_t all)
{
    return all == 0 ? 0.0 : 100.0 * (double)n / (double)all;
}

static bool has_sets(const generate_job *job)
{
    return strcmp(job->params.kind, "qac") == 0 || strcmp(job->params.kind, "small") == 0;
}

static void print(const generate_job *job, acq_text *out)
{
    const acq_generate_report *r = &job->report;
    acq_size_print_text(out, "queries", job->options->output);
    acq_size_print_count(out, "queries", r->n_queries);
    if (r->n_negative > 0)
        acq_size_print_count(out, "negative", r->n_negative);
    acq_size_print_count(out, "trivial", r->n_trivial);
    acq_size_print_count(out, has_sets(job) ? "candidates" : "answers", r->n_candidates);
    if (r->n_easy + r->n_hard > 0)
        acq_text_format(out, "%-*s%.1f %% easy, %.1f %% hard, %.1f %% wrong\n", ACQ_SIZE_LABEL,
                        "shares", percent(r->n_easy, r->n_candidates),
                        percent(r->n_hard, r->n_candidates), percent(r->n_wrong, r->n_candidates));
    if (has_sets(job))
        acq_size_print_count(out, "not seen", r->n_unseen);
    acq_size_print_count(out, "labels checked", r->n_checked);
    acq_text_format(out, "%-*s%.1f terms, %.1f atoms, %.1f constants\n", ACQ_SIZE_LABEL, "mean",
                    r->terms, r->atoms, r->constants);
    acq_text_format(out,
                    "%-*s%llu: %llu do not fit, %llu without hard answers, %llu too costly, %llu "
                    "without candidates\n",
                    ACQ_SIZE_LABEL, "places tried", (unsigned long long)r->n_tries,
                    (unsigned long long)r->n_unfit, (unsigned long long)r->n_easy_only,
                    (unsigned long long)r->n_costly, (unsigned long long)r->n_no_set);
    acq_text_format(out, "%-*s%.1f s\n", ACQ_SIZE_LABEL, "time", job->seconds);
}

static void print_json(const generate_job *job, acq_text *out)
{
    const acq_generate_report *r = &job->report;
    json_t *object = json_object();
    json_object_set_new(object, "kind", acq_json_text(job->params.kind));
    json_object_set_new(object, "file", acq_json_text(job->options->output));
    json_object_set_new(object, "queries", acq_json_count(r->n_queries));
    json_object_set_new(object, "negative", acq_json_count(r->n_negative));
    json_object_set_new(object, "trivial", acq_json_count(r->n_trivial));
    json_object_set_new(object, "candidates", acq_json_count(r->n_candidates));
    json_object_set_new(object, "easy", json_real(percent(r->n_easy, r->n_candidates)));
    json_object_set_new(object, "hard", json_real(percent(r->n_hard, r->n_candidates)));
    json_object_set_new(object, "wrong", json_real(percent(r->n_wrong, r->n_candidates)));
    json_object_set_new(object, "unseen", acq_json_count(r->n_unseen));
    json_object_set_new(object, "capped", acq_json_count(r->n_capped));
    json_object_set_new(object, "checked", acq_json_count(r->n_checked));
    json_object_set_new(object, "terms", json_real(r->terms));
    json_object_set_new(object, "atoms", json_real(r->atoms));
    json_object_set_new(object, "constants", json_real(r->constants));
    json_object_set_new(object, "tries", acq_json_count(r->n_tries));
    json_object_set_new(object, "unfit", acq_json_count(r->n_unfit));
    json_object_set_new(object, "easy_only", acq_json_count(r->n_easy_only));
    json_object_set_new(object, "costly", acq_json_count(r->n_costly));
    json_object_set_new(object, "no_set", acq_json_count(r->n_no_set));
    json_object_set_new(object, "seconds", json_real(job->seconds));
    acq_json_add_line(out, object);
}

static void note_left_out(generate_job *job)
{
    unsigned long long n = job->report.n_left_out;
    if (n > 0)
        acq_report_note(&job->output,
                        "%llu %s of the complete graph %s the observed one lacks; left out", n,
                        n == 1 ? "fact" : "facts", n == 1 ? "names what" : "name what");
}

static void note_missing(generate_job *job)
{
    const acq_generate_report *r = &job->report;
    uint64_t wanted = job->options->count;
    bool is_all_types = strcmp(job->params.kind, "cqa") == 0 && job->options->type == NULL;
    wanted *= strcmp(job->params.kind, "qar") == 0 ? 2 : is_all_types ? 14 : 1;
    if (r->n_queries < wanted && job->params.of_parts == 0)
        acq_report_note(&job->output,
                        "%llu of %llu queries: the graph, or the time, has no more of them",
                        (unsigned long long)r->n_queries, (unsigned long long)wanted);
}

int acq_cli_generate(const acq_options *options)
{
    generate_job job = {.options = options};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    acq_output_init(&job.output);
    acq_status status = run(&job, &error);
    note_left_out(&job);
    if (status != ACQ_OK) {
        code = acq_report_stop(&job.output, options, &error);
    } else {
        note_missing(&job);
        if (options->json)
            print_json(&job, &job.output.data);
        else
            print(&job, &job.output.data);
    }
    acq_graph_free(job.observed);
    acq_graph_free(job.complete);
    return acq_output_finish(&job.output, code);
}
