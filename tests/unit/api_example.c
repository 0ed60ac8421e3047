/* api_example.c - the example of anycq.h, complete: compiled against that header alone and linked
 * to the shared library.
 *
 *   api_example GRAPH QUERY VARIABLE     prints the best value of the variable and its facts
 *
 * Exit code: 0 answered, 1 none, 3 undecided, 2 anything went wrong. */
#include <anycq.h>
#include <stdio.h>

static int print_facts(const acq_result *result, acq_error *error)
{
    acq_evidence_list *list;
    if (acq_result_explain(result, 0, &list, error) != ACQ_OK)
        return 2;
    for (size_t i = 0; i < acq_evidence_list_get_n(list); i++) {
        const acq_fact *fact = acq_evidence_list_get(list, i);
        printf("  %s%s(%s, %s) %.4g\n", fact->is_negated ? "!" : "", fact->relation, fact->head,
               fact->tail, fact->score);
    }
    printf("  %s\n", acq_evidence_list_is_observed(list) ? "observed" : "predicted");
    acq_evidence_list_free(list);
    return 0;
}

static int print_result(const acq_result *result, const char *variable, acq_error *error)
{
    static const int exit_codes[] = {0, 1, 3};
    acq_result_outcome outcome = acq_result_get_outcome(result);
    if (outcome != ACQ_RESULT_ANSWERED)
        return exit_codes[outcome];
    const char *value = acq_result_get_value(result, 0, variable);
    printf("%s = %s, score %.4g\n", variable, value == NULL ? "?" : value,
           acq_result_get_score(result, 0));
    return print_facts(result, error);
}

int main(int argc, char **argv)
{
    acq_error error = {0};
    acq_graph *graph = NULL;
    acq_query *query = NULL;
    acq_predictor *predictor = NULL;
    acq_result *result = NULL;
    int code = 2;
    if (argc == 4 && acq_graph_open(argv[1], NULL, &graph, &error) == ACQ_OK &&
        acq_query_new(graph, argv[2], &query, &error) == ACQ_OK &&
        acq_predictor_new(graph, "observed", NULL, &predictor, &error) == ACQ_OK &&
        acq_ask(query, predictor, NULL, &result, &error) == ACQ_OK)
        code = print_result(result, argv[3], &error);
    if (error.code != ACQ_OK)
        fprintf(stderr, "%s: %zu:%zu: %s\n", acq_status_name(error.code), error.line, error.column,
                error.message);
    acq_result_free(result);
    acq_predictor_free(predictor);
    acq_query_free(query);
    acq_graph_free(graph);
    return code;
}
