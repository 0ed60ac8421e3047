/* eval_links.c - `anycq eval links`: a predictor of links judged by the links that it did not see;
 * and reliability tables, as eval links and fit show them.
 *
 * complex:, nbfnet: and ultra: are judged by their raw scores of all entities, any other predictor
 * by the scores of its links, and where it has a calibrator these as probabilities too. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/eval.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "cli/width.h"
#include "eval/decide.h"
#include "eval/links.h"
#include "models/complex/model.h"
#include "models/nbfnet/nbfnet.h"
#include "models/ultra/ultra.h"

/* ---- a trained model by its name, for its raw scores ---- */

typedef struct named_model {
    acq_complex *complex;
    acq_nbfnet *nbfnet;
    acq_ultra *ultra;
    acq_row_model *rows;
} named_model;

static acq_status open_complex(named_model *model, const char *path, const acq_graph *graph,
                               acq_error *error)
{
    acq_status status = acq_complex_read(path, graph, &model->complex, error);
    return status == ACQ_OK ? acq_complex_new_row_model(model->complex, graph, &model->rows, error)
                            : status;
}

static acq_status open_nbfnet(named_model *model, const char *path, const acq_graph *graph,
                              acq_error *error)
{
    acq_status status = acq_nbfnet_read(path, graph, &model->nbfnet, error);
    return status == ACQ_OK ? acq_nbfnet_new_row_model(model->nbfnet, graph, &model->rows, error)
                            : status;
}

static acq_status open_ultra(named_model *model, const char *path, const acq_graph *graph,
                             acq_error *error)
{
    acq_status status = acq_ultra_read(path, &model->ultra, error);
    return status == ACQ_OK ? acq_ultra_new_row_model(model->ultra, graph, &model->rows, error)
                            : status;
}

typedef struct model_kind {
    const char *prefix;
    acq_status (*open)(named_model *model, const char *path, const acq_graph *graph,
                       acq_error *error);
} model_kind;

/* NULL: no model; *path is what follows the prefix. */
static const model_kind *find_kind(const char *spec, const char **path)
{
    static const model_kind kinds[] = {
        {"complex:", open_complex}, {"nbfnet:", open_nbfnet}, {"ultra:", open_ultra}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].prefix);
        *path = spec + length;
        if (strncmp(spec, kinds[i].prefix, length) == 0 && **path != '\0')
            return &kinds[i];
    }
    return NULL;
}

/* Is the spec that of a model with raw scores: complex:FILE, nbfnet:FILE, ultra:FILE? */
static bool named_model_is_one(const char *spec)
{
    const char *path;
    return find_kind(spec, &path) != NULL;
}

/* spec is one. Deinit also after an error. */
static acq_status named_model_init(named_model *model, const char *spec, const acq_graph *graph,
                                   acq_error *error)
{
    const char *path;
    *model = (named_model){0};
    return find_kind(spec, &path)->open(model, path, graph, error);
}

static void named_model_deinit(named_model *model)
{
    acq_row_model_free(model->rows);
    acq_complex_free(model->complex);
    acq_nbfnet_free(model->nbfnet);
    acq_ultra_free(model->ultra);
    *model = (named_model){0};
}

/* ---- reliability tables ---- */

enum { LEAST = 200 }; /* candidates of a bin whose gap counts */

/* The table is printed to a stream; this one is in memory. */
static void print_table(const acq_reliability *table, acq_text *out)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&bytes, &length);
    if (stream == NULL) {
        out->failed = true;
        return;
    }
    acq_reliability_print(table, stream);
    bool is_written = fclose(stream) == 0;
    if (is_written)
        acq_text_add(out, bytes);
    out->failed = out->failed || !is_written;
    free(bytes);
}

static double get_mean(double sum, const acq_reliability *table)
{
    return table->weight > 0 ? sum / table->weight : 0.0;
}

void acq_reliability_view_print(const acq_reliability *table, const char *title, acq_text *out)
{
    acq_text_format(out, "\n%s\n", title);
    print_table(table, out);
    acq_text_format(out, "%-*s%.4f at most, in bins of %d or more\n", ACQ_SIZE_LABEL, "gap",
                    acq_reliability_get_gap(table, LEAST), LEAST);
}

static json_t *make_bins(const acq_reliability *table)
{
    json_t *bins = json_array();
    for (size_t i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        const acq_reliability_bin *bin = &table->bins[i];
        json_t *one = json_object();
        json_object_set_new(one, "low", json_real(bin->low));
        json_object_set_new(one, "high", json_real(bin->high));
        json_object_set_new(one, "n", acq_json_count(bin->n));
        if (bin->weight > 0) {
            json_object_set_new(one, "stated", json_real(bin->stated / bin->weight));
            json_object_set_new(one, "true", json_real(bin->truth / bin->weight));
        }
        json_array_append_new(bins, one);
    }
    return bins;
}

void acq_reliability_view_set(json_t *object, const acq_reliability *table)
{
    json_object_set_new(object, "log_loss", json_real(get_mean(table->log_loss, table)));
    json_object_set_new(object, "base_log_loss", json_real(get_mean(table->base_log_loss, table)));
    json_object_set_new(object, "gap", json_real(acq_reliability_get_gap(table, LEAST)));
    json_object_set_new(object, "bins", make_bins(table));
}

/* ---- the result, for people and for programs ----
 *
 * What a rank means is said with it: numbers of other rules do not compare. */

/* What is printed besides the result. */
typedef struct links_view {
    const char *observed, *truth, *filter, *predictor; /* as on the command line */
    bool is_model; /* ranks are by raw scores of all entities; else by the scores of links */
    const acq_links_decisions *decisions; /* NULL: none were asked for */
    double prior;                         /* of the decisions; NAN: they are by score */
} links_view;

static void print_share(acq_text *out, const char *label, double share)
{
    acq_text_format(out, "%-*s%.2f%%\n", ACQ_SIZE_LABEL, label, 100 * share);
}

static void print_links(const links_view *view, const acq_eval_links_result *result, acq_text *out)
{
    char text[128];
    snprintf(text, sizeof text, "%llu, both directions; %llu have a score",
             (unsigned long long)result->n_links, (unsigned long long)result->n_ranked);
    acq_size_print_text(out, "predictor", view->predictor);
    acq_size_print_text(out, "new links", text);
}

static void print_rules(const links_view *view, acq_text *out)
{
    char text[512];
    snprintf(text, sizeof text,
             "other tails that are observed%s true%s%.300s are left out of a ranking",
             view->filter == NULL ? " or" : ",", view->filter == NULL ? "" : " or in ",
             view->filter == NULL ? "" : view->filter);
    acq_size_print_text(out, "filter", text);
    acq_size_print_text(out, "ties",
                        view->is_model
                            ? "the mean of the best and the worst rank among equals"
                            : "the mean of the best and the worst rank among equals; links without "
                              "a score are equal, behind all others");
}

static void print_decisions(const acq_links_decisions *all, double prior, acq_text *out)
{
    acq_text_format(out, "\n%-*s%.2f%% of yes or no, ", ACQ_SIZE_LABEL, "accuracy",
                    100 * all->accuracy);
    if (isnan(prior))
        acq_text_add(out, "by a score of 0.5: there is no calibrator\n");
    else
        acq_text_format(out, "at --prior %g\n", prior);
    acq_text_format(out, "%-*s%llu, %llu of them yes\n", ACQ_SIZE_LABEL, "true links",
                    (unsigned long long)all->n_true, (unsigned long long)all->true_yes);
    acq_text_format(out, "%-*s%llu, %llu of them yes\n", ACQ_SIZE_LABEL, "false links",
                    (unsigned long long)all->n_false, (unsigned long long)all->false_yes);
    if (all->n_undecided > 0)
        acq_size_print_count(out, "undecided", all->n_undecided);
}

static void view_print(const links_view *view, const acq_eval_links_result *result, acq_text *out)
{
    print_links(view, result, out);
    acq_text_format(out, "%-*s%.4f\n", ACQ_SIZE_LABEL, "MRR", result->mrr);
    print_share(out, "Hits@1", result->hits1);
    print_share(out, "Hits@3", result->hits3);
    print_share(out, "Hits@10", result->hits10);
    print_rules(view, out);
    if (result->has_table)
        acq_reliability_view_print(
            &result->table,
            "links with a score that are not observed, by stated probability;\n"
            "log-loss beside that of each relation's true share of these:",
            out);
    if (view->decisions != NULL)
        print_decisions(view->decisions, view->prior, out);
}

static void set_decisions(json_t *object, const acq_links_decisions *all, double prior)
{
    json_object_set_new(object, "prior", isnan(prior) ? json_null() : json_real(prior));
    json_object_set_new(object, "accuracy", json_real(100 * all->accuracy));
    json_object_set_new(object, "true_links", acq_json_count(all->n_true));
    json_object_set_new(object, "true_yes", acq_json_count(all->true_yes));
    json_object_set_new(object, "false_links", acq_json_count(all->n_false));
    json_object_set_new(object, "false_yes", acq_json_count(all->false_yes));
    json_object_set_new(object, "undecided", acq_json_count(all->n_undecided));
}

static void view_print_json(const links_view *view, const acq_eval_links_result *result,
                            acq_text *out)
{
    json_t *object = json_object();
    json_object_set_new(object, "task", json_string("links"));
    json_object_set_new(object, "observed", acq_json_text(view->observed));
    json_object_set_new(object, "truth", acq_json_text(view->truth));
    json_object_set_new(object, "predictor", acq_json_text(view->predictor));
    json_object_set_new(object, "links", acq_json_count(result->n_links));
    json_object_set_new(object, "ranked", acq_json_count(result->n_ranked));
    json_object_set_new(object, "mrr", json_real(result->mrr));
    json_object_set_new(object, "hits1", json_real(100 * result->hits1));
    json_object_set_new(object, "hits3", json_real(100 * result->hits3));
    json_object_set_new(object, "hits10", json_real(100 * result->hits10));
    json_object_set_new(
        object, "filter",
        json_string(view->filter == NULL ? "observed and true" : "observed, true and known"));
    json_object_set_new(object, "ties", json_string("mean"));
    if (result->has_table)
        acq_reliability_view_set(object, &result->table);
    if (view->decisions != NULL)
        set_decisions(object, view->decisions, view->prior);
    json_object_set_new(object, "seconds", json_real(result->seconds));
    acq_json_add_line(out, object);
}

/* ---- the command ---- */

#define DEFAULT_PRIOR 0.5

typedef struct links_job {
    const acq_options *options;
    acq_output output;
    acq_setup setup; /* without a predictor where a model is judged */
    named_model model;
    acq_predictor *truth, *filter, *negatives;
    double prior; /* of the decisions; NAN: by score */
    acq_eval_links_result result;
    acq_links_decisions decisions;
    acq_bar progress;
} links_job;

static acq_status check_given(const acq_options *options, acq_error *error)
{
    if (options->observed == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "name the observed graph: --observed GRAPH");
    if (options->truth == NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "name the graph that has the links to predict: --truth GRAPH");
    if (!acq_options_has(options, predictor) || strcmp(options->predictor, "auto") == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "eval wants its predictor named: --predictor completion:FILE, "
                        "complex:MODEL, nbfnet:MODEL or ultra:MODEL");
    if (options->negatives != NULL && named_model_is_one(options->predictor))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "raw scores decide nothing: --negatives needs --predictor completion:FILE");
    if (acq_options_has(options, prior) && options->negatives == NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --prior of eval links needs --negatives FILE");
    return ACQ_OK;
}

static acq_status open_all(links_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    bool is_model = named_model_is_one(options->predictor);
    acq_status status =
        is_model ? acq_setup_read_graph(options, options->observed, &job->output, &job->setup.graph,
                                        NULL, error)
                 : acq_setup_init(&job->setup, options, options->observed, &job->output, error);
    if (status == ACQ_OK)
        status = acq_eval_open_truth(options, "truth", options->truth, job->setup.graph,
                                     &job->output, &job->truth, error);
    if (status == ACQ_OK && options->filter != NULL)
        status = acq_eval_open_truth(options, "filter", options->filter, job->setup.graph,
                                     &job->output, &job->filter, error);
    if (status == ACQ_OK && options->negatives != NULL)
        status = acq_eval_open_truth(options, "negatives", options->negatives, job->setup.graph,
                                     &job->output, &job->negatives, error);
    if (status == ACQ_OK && is_model)
        status = named_model_init(&job->model, options->predictor, job->setup.graph, error);
    return status;
}

static bool show(void *context, double done)
{
    enum { STEPS = 1000 };
    acq_bar_show(context, (size_t)(done * STEPS), STEPS);
    return true;
}

static acq_status evaluate(links_job *job, acq_error *error)
{
    const acq_predictor *predictor = job->setup.predictor;
    acq_eval_links_params params = {.truth = job->truth,
                                    .filter = job->filter,
                                    .predictor = predictor,
                                    .model = job->model.rows,
                                    .with_table = predictor != NULL &&
                                                  acq_predictor_get_calibrator(predictor) != NULL,
                                    .first = job->options->first,
                                    .n_threads = (unsigned)job->options->threads,
                                    .progress = show,
                                    .context = &job->progress};
    acq_bar_init(&job->progress, "links");
    acq_status status = acq_eval_links(&params, &job->result, error);
    acq_bar_deinit(&job->progress);
    return status == ACQ_OK ? acq_graph_get_failure(job->setup.graph, error) : status;
}

/* The decision that `check` makes, with half of the links true unless --prior says otherwise. */
static acq_status decide(links_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_links_decide_params params = {.predictor = job->setup.predictor,
                                      .truth = job->truth,
                                      .negatives = job->negatives,
                                      .first = options->first,
                                      .n_threads = (unsigned)options->threads};
    if (job->negatives == NULL)
        return ACQ_OK;
    acq_status status = acq_setup_read_params(options, &params.engine, error);
    if (status == ACQ_OK && !acq_options_has(options, prior))
        params.engine.prior = DEFAULT_PRIOR;
    job->prior = acq_engine_gives_p(&params.engine, params.predictor) ? params.engine.prior : NAN;
    return status == ACQ_OK ? acq_links_decide(&params, &job->decisions, error) : status;
}

static void print(links_job *job)
{
    const acq_options *options = job->options;
    links_view view = {.observed = options->observed,
                       .truth = options->truth,
                       .filter = options->filter,
                       .predictor = options->predictor,
                       .is_model = job->model.rows != NULL,
                       .decisions = job->negatives == NULL ? NULL : &job->decisions,
                       .prior = job->prior};
    if (options->json)
        view_print_json(&view, &job->result, &job->output.data);
    else
        view_print(&view, &job->result, &job->output.data);
}

int acq_eval_links_command(const acq_options *options)
{
    links_job job = {.options = options};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    acq_output_init(&job.output);
    acq_status status = check_given(options, &error);
    if (status == ACQ_OK)
        status = open_all(&job, &error);
    if (status == ACQ_OK)
        status = evaluate(&job, &error);
    if (status == ACQ_OK)
        status = decide(&job, &error);
    if (status == ACQ_OK)
        print(&job);
    else
        code = acq_report_error(&job.output, options, &error, NULL);
    named_model_deinit(&job.model);
    acq_predictor_free(job.truth);
    acq_predictor_free(job.filter);
    acq_predictor_free(job.negatives);
    acq_setup_deinit(&job.setup);
    return acq_output_finish(&job.output, code);
}
