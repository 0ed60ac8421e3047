/* check.c - is this tuple an answer, and why?
 *
 *   check GRAPH QUERY VALUE...
 *
 * A yes comes with one fact for each atom of the query, a proved no with conditions that cannot
 * hold together. Exit code: 0 yes, 1 no, 3 undecided, 2 an error, told on stderr. */
#include <anycq.h>
#include <stdio.h>

static const char *describe(const acq_fact *fact)
{
    switch (fact->kind) {
    case ACQ_FACT_OBSERVED:
        return "observed";
    case ACQ_FACT_PREDICTED:
        return "predicted";
    case ACQ_FACT_ABSENT:
        return "not observed";
    case ACQ_FACT_EQUALITY:
        break;
    }
    return "holds";
}

static acq_status print_evidence(const acq_result *result, acq_error *error)
{
    acq_evidence_list *list;
    acq_status status = acq_result_explain(result, 0, &list, error);
    if (status != ACQ_OK)
        return status;
    for (size_t i = 0; i < acq_evidence_list_get_n(list); i++) {
        const acq_fact *fact = acq_evidence_list_get(list, i);
        if (fact->is_used) /* not a branch of an `or` that the answer does without */
            printf("  %s  %s\n", fact->text, describe(fact));
    }
    acq_evidence_list_free(list);
    return ACQ_OK;
}

static acq_status print_conflict(const acq_result *result, acq_error *error)
{
    acq_conflict *conflict;
    acq_status status = acq_result_find_conflict(result, 1.0, &conflict, error);
    if (status != ACQ_OK)
        return status;
    for (size_t i = 0; i < acq_conflict_get_n(conflict); i++)
        printf("  %s\n", acq_conflict_get_text(conflict, i));
    acq_conflict_free(conflict);
    return ACQ_OK;
}

static int print_result(const acq_result *result, acq_error *error)
{
    switch (acq_result_get_outcome(result)) {
    case ACQ_RESULT_ANSWERED:
        puts("yes:");
        return print_evidence(result, error) == ACQ_OK ? 0 : 2;
    case ACQ_RESULT_NONE:
        puts("no, these cannot hold together:");
        return print_conflict(result, error) == ACQ_OK ? 1 : 2;
    case ACQ_RESULT_UNDECIDED:
        break;
    }
    puts("undecided");
    return 3;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: check GRAPH QUERY VALUE...\n");
        return 2;
    }
    acq_error error = {0};
    acq_graph *graph = NULL;
    acq_query *query = NULL;
    acq_predictor *predictor = NULL;
    acq_result *result = NULL;
    const char *const *values = (const char *const *)argv + 3;
    int code = 2;
    if (acq_graph_open(argv[1], NULL, &graph, &error) == ACQ_OK &&
        acq_query_new(graph, argv[2], &query, &error) == ACQ_OK &&
        acq_predictor_new(graph, "observed", NULL, &predictor, &error) == ACQ_OK &&
        acq_check(query, predictor, values, (size_t)argc - 3, NULL, &result, &error) == ACQ_OK)
        code = print_result(result, &error);
    if (error.code != ACQ_OK)
        fprintf(stderr, "%s: %s\n", acq_status_name(error.code), error.message);
    acq_result_free(result);
    acq_predictor_free(predictor);
    acq_query_free(query);
    acq_graph_free(graph);
    return code;
}
