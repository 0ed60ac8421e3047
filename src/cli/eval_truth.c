/* eval_truth.c - see eval_truth.h. */
#include "cli/eval_truth.h"

#include "cli/setup.h"

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
