/* fit.c - probabilities learnt from a graph's own facts, with progress; then a question.
 *
 *   fit GRAPH COMPLETION QUERY [SECONDS]
 *
 * Ctrl-C stops the fit; the same command goes on where it was. */
#include <anycq.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    is_interrupted = 1;
}

static bool show(void *context, const acq_progress *now)
{
    (void)context;
    if (now->total > 0)
        fprintf(stderr, "\r%-40s %3.0f %%", now->phase,
                100.0 * (double)now->done / (double)now->total);
    return !is_interrupted;
}

static acq_status fit(const acq_graph *graph, const char *path, double seconds, acq_error *error)
{
    acq_fit_completion_report report = {.size = sizeof report};
    acq_fit_completion_params params;
    acq_fit_completion_params_init(&params);
    params.seconds = seconds;
    params.resume = true; /* go on where an interrupted fit was, or begin */
    params.progress = show;
    params.report = &report;
    acq_status status = acq_fit_completion(graph, path, &params, error);
    fputc('\n', stderr);
    if (status == ACQ_OK)
        printf("%llu links held out, %llu of them proposed\n", (unsigned long long)report.held,
               (unsigned long long)report.covered);
    return status;
}

static acq_status ask(const acq_graph *graph, const char *path, const char *text, acq_error *error)
{
    char spec[4096];
    acq_predictor *predictor = NULL;
    acq_query *query = NULL;
    acq_result *result = NULL;
    snprintf(spec, sizeof spec, "completion:%s", path);
    acq_status status = acq_predictor_new(graph, spec, NULL, &predictor, error);
    if (status == ACQ_OK)
        status = acq_query_new(graph, text, &query, error);
    if (status == ACQ_OK)
        status = acq_ask(query, predictor, NULL, &result, error);
    if (status == ACQ_OK && acq_result_get_n_answers(result) > 0)
        printf("%s, p %.2f\n", acq_result_get_value_at(result, 0, 0),
               acq_result_get_probability(result, 0));
    else if (status == ACQ_OK)
        puts("none");
    acq_result_free(result);
    acq_query_free(query);
    acq_predictor_free(predictor);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5) {
        fprintf(stderr, "usage: fit GRAPH COMPLETION QUERY [SECONDS]\n");
        return 2;
    }
    acq_error error = {0};
    acq_graph *graph = NULL;
    acq_status status = acq_graph_open(argv[1], NULL, &graph, &error);
    signal(SIGINT, interrupt);
    if (status == ACQ_OK)
        status = fit(graph, argv[2], argc == 5 ? atof(argv[4]) : 0, &error);
    if (status == ACQ_OK)
        status = ask(graph, argv[2], argv[3], &error);
    if (status == ACQ_ERR_INTERRUPTED)
        fprintf(stderr, "stopped; the same command goes on\n");
    else if (status != ACQ_OK)
        fprintf(stderr, "%s: %s\n", acq_status_name(error.code), error.message);
    acq_graph_free(graph);
    return status == ACQ_OK ? 0 : 2;
}
