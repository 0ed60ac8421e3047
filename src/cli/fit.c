/* fit.c - `anycq fit`: from facts to calibrated scored links.
 *
 * Without -o COMPLETION is where ask finds it: GRAPH.completion, or `completion` in a folder.
 *
 *   COMPLETION        the links with their probabilities, and what calibrates answers
 *   COMPLETION.svg    how good the probabilities are
 *   COMPLETION.fit    a folder with what is done so far; taken away at the end
 *
 * An interrupt leaves the folder, which --resume goes on with. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/file.h"
#include "cli/eval.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/setup.h"
#include "cli/table.h"

enum { STOP_SECONDS = 120 };

typedef struct fit_job {
    const acq_options *options;
    acq_output output;
    acq_graph *graph, *earlier;
    acq_text path, folder, svg;
    bool is_found; /* path is where ask looks for the completion of this graph */
    acq_fit_completion_params params;
    acq_train_meter meter;
    acq_fit_completion_report report;
    json_t *relations; /* quality of each */
    json_t *parts;     /* of the evidence: what each is worth */
} fit_job;

/* ---- options ---- */

/* What is given replaces the default. */
static void take_given(const acq_options *options, acq_fit_completion_params *params)
{
#define TAKE(option, member, type)                                                                 \
    if (acq_options_has(options, option))                                                          \
    params->member = (type)options->option
    TAKE(hold_share, hold_share, double);
    TAKE(links_floor, floor, double);
    TAKE(fit_top, top, uint32_t);
    TAKE(fit_time, seconds, double);
    TAKE(tune, tune_seconds, double);
    TAKE(epochs, epochs, double);
    TAKE(rank, rank, uint32_t);
    TAKE(train_threads, threads, unsigned);
#undef TAKE
    params->models = options->fit_predictor;
    params->seed = options->train_seed;
    params->hold = options->hold;
    params->rows = options->rows;
    params->tails = options->tails;
    params->ultra = options->ultra;
    params->no_rules = options->no_rules;
    params->no_neighbours = options->no_neighbours;
    params->no_lifts = options->no_lifts;
    params->pieces = options->pieces;
    params->f32 = options->f32;
    params->resume = options->resume;
    params->effort = options->effort;
    params->keep = options->keep;
    params->ranks = acq_ranks_get();
}

static acq_status read_params(const acq_options *options, acq_fit_completion_params *params,
                              acq_error *error)
{
    const char *names = options->fit_predictor;
    acq_fit_completion_params_init(params);
    take_given(options, params);
    acq_status status = acq_setup_check_candidates(options, error);
    bool is_of_ultra = options->ultra != NULL || acq_options_has(options, tune);
    if (status == ACQ_OK && is_of_ultra && strstr(names, "ultra") == NULL &&
        strstr(names, "all") == NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --%s is for --predictor ultra or all, not %.100s",
                        options->ultra != NULL ? "ultra" : "tune", names);
    return status == ACQ_OK ? acq_fit_completion_check(params, error) : status;
}

/* ---- the run ---- */

/* Can the file be written? */
static acq_status check_file(const char *path, acq_error *error)
{
    acq_new_file probe;
    acq_status status = acq_new_file_init(&probe, path, "the file", error);
    acq_new_file_deinit(&probe);
    return status;
}

static acq_status check_folder(fit_job *job, acq_error *error)
{
    const char *folder = job->folder.bytes;
    bool is_there = acq_file_get_kind(folder) != ACQ_FILE_MISSING;
    if (!is_there && job->options->resume)
        acq_report_note(&job->output, "%s is not there: the fit begins anew", folder);
    if (!is_there || job->options->resume)
        return ACQ_OK;
    acq_fail(
        error, ACQ_ERR_USAGE,
        "this is of a fit that has not ended; go on with --resume, or remove it to begin anew");
    acq_error_set_file(error, folder);
    return ACQ_ERR_USAGE;
}

/* Without -o the completion goes where ask, check and predict find it by themselves. */
static acq_status make_paths(fit_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    char found[PATH_MAX];
    acq_status status =
        acq_completion_find_path(options->args.items[0], found, sizeof found, error);
    if (status != ACQ_OK)
        return status;
    acq_text_add(&job->path, options->output != NULL ? options->output : found);
    job->is_found = !job->path.failed && strcmp(job->path.bytes, found) == 0;
    if (job->path.failed)
        return acq_fail_memory(error);
    acq_text_format(&job->folder, "%s.fit", job->path.bytes);
    if (options->svg != NULL)
        acq_text_add(&job->svg, options->svg);
    else
        acq_text_format(&job->svg, "%s.svg", job->path.bytes);
    return job->folder.failed || job->svg.failed ? acq_fail_memory(error) : ACQ_OK;
}

static acq_status check(fit_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_status status = read_params(options, &job->params, error);
    if (status == ACQ_OK)
        status = make_paths(job, error);
    if (status == ACQ_OK)
        status = acq_setup_check_output(options, job->path.bytes, error);
    if (status == ACQ_OK)
        status = check_file(job->path.bytes, error);
    if (status == ACQ_OK)
        status = check_file(job->svg.bytes, error);
    if (status == ACQ_OK)
        status = check_folder(job, error);
    return status;
}

/* path NULL: none is asked for. */
static acq_status read_graph(fit_job *job, const char *path, acq_graph **out, acq_error *error)
{
    return path == NULL ? ACQ_OK
                        : acq_setup_read_graph(job->options, path, &job->output, out, NULL, error);
}

static acq_status open_inputs(fit_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_status status = read_graph(job, options->args.items[0], &job->graph, error);
    if (status == ACQ_OK)
        status = read_graph(job, options->earlier, &job->earlier, error);
    job->params.earlier = job->earlier;
    return status;
}

static void add_relation(void *context, const acq_fit_relation *quality)
{
    json_t *one = json_object();
    json_object_set_new(one, "relation", acq_json_text(quality->name));
    json_object_set_new(one, "held", acq_json_count(quality->held));
    json_object_set_new(one, "said", json_real(quality->said));
    json_object_set_new(one, "right", json_real(quality->right));
    json_array_append_new(context, one);
}

static void note(void *context, const char *text)
{
    acq_report_note(context, "%s", text);
}

static void add_part(void *context, const acq_fit_part *part)
{
    json_t *one = json_object();
    json_object_set_new(one, "part", acq_json_text(part->name));
    json_object_set_new(one, "worth", json_real(part->worth));
    json_array_append_new(context, one);
}

static acq_status tell_plan(fit_job *job, acq_error *error)
{
    char plan[512];
    acq_status status = acq_fit_completion_plan(job->graph, &job->params, plan, sizeof plan, error);
    if (status == ACQ_OK)
        acq_text_format(&job->output.notes, "anycq: %s\n", plan);
    acq_output_relieve_notes(&job->output);
    return status;
}

static acq_status fit(fit_job *job, acq_error *error)
{
    acq_status told = tell_plan(job, error);
    if (told != ACQ_OK)
        return told;
    acq_train_meter_init(&job->meter, job->params.seconds);
    job->params.svg = job->svg.bytes;
    job->params.progress = acq_train_meter_show;
    job->params.context = &job->meter;
    job->params.report = &job->report;
    job->params.relation = add_relation;
    job->params.relation_context = job->relations = json_array();
    job->params.note = note;
    job->params.note_context = &job->output;
    job->params.part = add_part;
    job->params.part_context = job->parts = json_array();
    job->report.size = sizeof job->report;
    job->params.seconds_before = 1e-9 * (double)(acq_clock_ns() - job->options->begin_ns);
    acq_interrupt_hold(NULL, 0);
    acq_interrupt_set_grace(STOP_SECONDS);
    acq_status status = acq_fit_completion(job->graph, job->path.bytes, &job->params, error);
    acq_interrupt_release();
    acq_train_meter_deinit(&job->meter);
    if (status != ACQ_ERR_INTERRUPTED)
        return status;
    *error = (acq_error){0};
    return acq_fail(error, status,
                    "interrupted after %.0f s; the same command with --resume goes on",
                    job->meter.seconds);
}

static void print_decision(const acq_fit_decision *decision, const char *queries, acq_text *out)
{
    if (decision->p > 0)
        acq_text_format(out, "%-14s--min-p %.2f   F1 %.1f, with 0.50 %.1f\n", queries, decision->p,
                        100 * decision->f1, 100 * decision->f1_half);
}

static void print_decisions(const acq_fit_completion_report *report, acq_text *out)
{
    if (report->small.p <= 0 && report->hub.p <= 0)
        return;
    acq_text_add(out, "\nwhere a yes serves F1 best, on generated queries with --prior 0.5:\n");
    print_decision(&report->small, "small queries", out);
    print_decision(&report->hub, "large queries", out);
}

static double get_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Which relations can be trusted: where something is said, and is right. */
static void print_relations(const json_t *relations, acq_text *out)
{
    static const double FEW = 3, GOOD = .7;
    size_t i;
    json_t *one;
    acq_text_format(out, "\n%-32s %9s %9s %9s\n", "relation, p >= 0.5", "held out", "said",
                    "right");
    json_array_foreach(relations, i, one)
    {
        double said = get_number(one, "said"), right = get_number(one, "right");
        acq_text_format(out, "%-32.32s %9.0f %9.1f %9.1f  %s\n",
                        json_string_value(json_object_get(one, "relation")),
                        get_number(one, "held"), said, fmin(said, right),
                        said < FEW            ? "hardly ever said"
                        : right < GOOD * said ? "not to be trusted"
                                              : "can be trusted");
    }
}

static const char *print_part(const char *name)
{
    static const char *const names[][2] = {{"complex", "ComplEx"},
                                           {"nbfnet", "NBFNet"},
                                           {"ultra", "ULTRA"},
                                           {"rulebook", "learnt rules"},
                                           {"neighbours", "similar entities"},
                                           {"rules", "rules of one and two hops"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i][0]) == 0)
            return names[i][1];
    return name;
}

static void print_parts(const json_t *parts, acq_text *out)
{
    size_t i;
    json_t *one;
    if (json_array_size(parts) > 0)
        acq_text_add(out, "\nlog-loss of held-out links, when trees learn without\n");
    json_array_foreach(parts, i, one) acq_text_format(
        out, "%-32s %+8.1f %%\n", print_part(json_string_value(json_object_get(one, "part"))),
        100 * get_number(one, "worth"));
}

static void print_answers(const acq_fit_completion_report *report, acq_text *out)
{
    acq_reliability_view_print(&report->answer_table,
                               "answers of generated queries, by the stated probability:", out);
    acq_reliability_view_print_gap(&report->denial_table, "gap, negated", out);
    acq_reliability_view_print_gap(&report->if_table, "gap, if any", out);
}

static void print(const fit_job *job, acq_text *out)
{
    const acq_fit_completion_report *report = &job->report;
    acq_size_print_text(out, "completion", job->path.bytes);
    acq_size_print_count(out, "links", report->links);
    acq_size_print_count(out, "held out", report->held);
    if (strcmp(report->hold, "pairs") == 0)
        acq_size_print_text(out, "... of those", "that join entities which nothing else joins");
    acq_size_print_count(out, report->all_rows > 0 ? "... in a sample" : "... proposed",
                         report->covered);
    acq_size_print_text(out, "picture", job->svg.bytes);
    acq_text_format(out, "%-*s%.1f s\n", ACQ_SIZE_LABEL, "time", report->seconds);
    if (report->n_rows < report->all_rows)
        acq_text_format(out, "%-*s%llu of %llu rows, which fit --time\n", ACQ_SIZE_LABEL, "scored",
                        (unsigned long long)report->n_rows, (unsigned long long)report->all_rows);
    if (report->n_trees < report->all_trees || report->n_questions < report->all_questions)
        acq_text_format(out,
                        "%-*s%llu of %llu questions and %llu of %llu trees, which fit --time\n",
                        ACQ_SIZE_LABEL, "made of", (unsigned long long)report->n_questions,
                        (unsigned long long)report->all_questions,
                        (unsigned long long)report->n_trees, (unsigned long long)report->all_trees);
    if (job->is_found)
        acq_text_format(out, "%-*sask, check and predict find it by themselves\n", ACQ_SIZE_LABEL,
                        "use it");
    else
        acq_text_format(out, "%-*s--predictor completion:%s\n", ACQ_SIZE_LABEL, "use it",
                        job->path.bytes);
    acq_reliability_view_print(&report->link_table,
                               "links, by the probability that trees stated which had not seen "
                               "them:",
                               out);
    print_parts(job->parts, out);
    print_relations(job->relations, out);
    if (report->answer_table.weight > 0)
        print_answers(report, out);
    print_decisions(report, out);
}

static void set_table(json_t *object, const char *name, const acq_reliability *table)
{
    json_t *one = json_object();
    acq_reliability_view_set(one, table);
    json_object_set_new(object, name, one);
}

static void set_decision(json_t *object, const char *name, const acq_fit_decision *decision)
{
    if (decision->p <= 0) {
        json_object_set_new(object, name, json_null());
        return;
    }
    json_t *one = json_object();
    json_object_set_new(one, "min_p", json_real(decision->p));
    json_object_set_new(one, "f1", json_real(100 * decision->f1));
    json_object_set_new(one, "f1_half", json_real(100 * decision->f1_half));
    json_object_set_new(object, name, one);
}

static void print_json(const fit_job *job, acq_text *out)
{
    const acq_fit_completion_report *report = &job->report;
    json_t *object = json_object();
    json_object_set_new(object, "completion", acq_json_text(job->path.bytes));
    json_object_set_new(object, "picture", acq_json_text(job->svg.bytes));
    json_object_set_new(object, "graph", acq_json_text(job->options->args.items[0]));
    json_object_set_new(object, "fingerprint",
                        acq_json_hash(acq_graph_get_fingerprint(job->graph)));
    json_object_set_new(object, "held", acq_json_count(report->held));
    json_object_set_new(object, "covered", acq_json_count(report->covered));
    json_object_set_new(object, "candidates", acq_json_count(report->candidates));
    json_object_set_new(object, "links", acq_json_count(report->links));
    set_table(object, "link_table", &report->link_table);
    set_table(object, "answer_table", &report->answer_table);
    set_table(object, "denial_table", &report->denial_table);
    set_table(object, "if_answered_table", &report->if_table);
    json_object_set(object, "relations", job->relations);
    if (report->all_rows > 0) {
        json_object_set_new(object, "rows", acq_json_count(report->n_rows));
        json_object_set_new(object, "all_rows", acq_json_count(report->all_rows));
    }
    set_decision(object, "small_queries", &report->small);
    set_decision(object, "large_queries", &report->hub);
    json_object_set(object, "parts", job->parts);
    json_object_set_new(object, "hold", acq_json_text(report->hold));
    json_object_set_new(object, "seconds", json_real(report->seconds));
    acq_json_add_line(out, object);
}

static void fit_job_deinit(fit_job *job)
{
    acq_graph_free(job->graph);
    acq_graph_free(job->earlier);
    json_decref(job->relations);
    json_decref(job->parts);
    acq_text_deinit(&job->path);
    acq_text_deinit(&job->folder);
    acq_text_deinit(&job->svg);
}

int acq_cli_fit(const acq_options *options)
{
    fit_job job = {.options = options};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    acq_output_init(&job.output);
    acq_text_init(&job.path);
    acq_text_init(&job.folder);
    acq_text_init(&job.svg);
    job.output.streams = true;
    acq_status status = check(&job, &error);
    if (status == ACQ_OK)
        status = open_inputs(&job, &error);
    if (status == ACQ_OK)
        status = fit(&job, &error);
    if (status != ACQ_OK)
        code = acq_report_error(&job.output, options, &error, NULL);
    if (error.code == ACQ_ERR_LIMIT)
        code = ACQ_EXIT_UNDECIDED;
    else if (status != ACQ_OK)
        code = acq_report_get_exit_code(status);
    else if (options->json || options->separator != '\0')
        print_json(&job, &job.output.data);
    else
        print(&job, &job.output.data);
    if (status == ACQ_OK)
        acq_table_from_json(&job.output.data, options->separator);
    fit_job_deinit(&job);
    return acq_output_finish(&job.output, code);
}
