/* eval_links.c - see eval_links.h.
 *
 * complex:, nbfnet: and ultra: are judged by their raw scores of all entities, any other predictor
 * by the scores of its links, and where it has a calibrator these as probabilities too. */
#include "cli/eval_links.h"

#include <math.h>
#include <string.h>

#include "cli/eval_links_model.h"
#include "cli/eval_truth.h"
#include "cli/progress.h"
#include "cli/setup.h"

#define DEFAULT_PRIOR 0.5

typedef struct links_job {
    const acq_options *options;
    acq_output output;
    acq_setup setup; /* without a predictor where a model is judged */
    acq_named_model model;
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
    if (options->negatives != NULL && acq_named_model_is_one(options->predictor))
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
    bool is_model = acq_named_model_is_one(options->predictor);
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
        status = acq_named_model_init(&job->model, options->predictor, job->setup.graph, error);
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
    acq_links_view view = {.observed = options->observed,
                           .truth = options->truth,
                           .filter = options->filter,
                           .predictor = options->predictor,
                           .is_model = job->model.rows != NULL,
                           .decisions = job->negatives == NULL ? NULL : &job->decisions,
                           .prior = job->prior};
    if (options->json)
        acq_links_view_print_json(&view, &job->result, &job->output.data);
    else
        acq_links_view_print(&view, &job->result, &job->output.data);
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
    acq_named_model_deinit(&job.model);
    acq_predictor_free(job.truth);
    acq_predictor_free(job.filter);
    acq_predictor_free(job.negatives);
    acq_setup_deinit(&job.setup);
    return acq_output_finish(&job.output, code);
}
