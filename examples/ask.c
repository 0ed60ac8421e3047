/* ask.c - the answers of one query.
 *
 *   ask GRAPH QUERY [PREDICTOR]     PREDICTOR: observed unless another is named
 *
 * Exit code: 0 answered, 1 none, 3 undecided, 2 an error, told on stderr. */
#include <anycq.h>
#include <math.h>
#include <stdio.h>

static void print_answer(const acq_query *query, const acq_result *result, size_t i)
{
    for (size_t v = 0; v < acq_query_get_n_free(query); v++)
        printf("%s = %s  ", acq_query_get_variable(query, v),
               acq_result_get_value_at(result, i, v));
    double p = acq_result_get_probability(result, i);
    if (!isnan(p))
        printf("p %.3f  ", p);
    printf("score %.4g\n", acq_result_get_score(result, i));
}

static int print_result(const acq_query *query, const acq_result *result)
{
    if (acq_result_get_note(result)[0] != '\0')
        fprintf(stderr, "note: %s\n", acq_result_get_note(result));
    switch (acq_result_get_outcome(result)) {
    case ACQ_RESULT_ANSWERED:
        for (size_t i = 0; i < acq_result_get_n_answers(result); i++)
            print_answer(query, result, i);
        return 0;
    case ACQ_RESULT_NONE:
        puts("none");
        return 1;
    case ACQ_RESULT_UNDECIDED:
        break;
    }
    printf("undecided: the %s ran out\n", acq_result_get_spent(result));
    return 3;
}

/* Places are counted from 1; 0 means that there is none to name. */
static void report(const acq_error *error)
{
    if (error->file[0] != '\0')
        fprintf(stderr, "%s: ", error->file);
    if (error->line > 0)
        fprintf(stderr, "%zu:%zu: ", error->line, error->column);
    fprintf(stderr, "%s\n", error->message);
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: ask GRAPH QUERY [PREDICTOR]\n");
        return 2;
    }
    /* Everything is NULL until it is made, and freeing NULL is legal: one way out for all. */
    acq_error error = {0};
    acq_graph *graph = NULL;
    acq_query *query = NULL;
    acq_predictor *predictor = NULL;
    acq_result *result = NULL;
    acq_ask_params params;
    int code = 2;
    acq_ask_params_init(&params);
    params.limit = 10;
    if (acq_graph_open(argv[1], NULL, &graph, &error) == ACQ_OK &&
        acq_query_new(graph, argv[2], &query, &error) == ACQ_OK &&
        acq_predictor_new(graph, argc == 4 ? argv[3] : "observed", NULL, &predictor, &error) ==
            ACQ_OK &&
        acq_ask(query, predictor, &params, &result, &error) == ACQ_OK)
        code = print_result(query, result);
    else
        report(&error);
    acq_result_free(result);
    acq_predictor_free(predictor);
    acq_query_free(query);
    acq_graph_free(graph);
    return code;
}
