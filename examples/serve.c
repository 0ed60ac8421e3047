/* serve.c - a server: one query a line on stdin, one line of answer on stdout, until the end.
 *
 *   serve GRAPH [PREDICTOR]
 *
 * The graph and the predictor are opened once and shared by all questions (threads may share them
 * too). A bad query is an answer as well, and the next one is read: the error is cleared, since the
 * first message wins. Of a store, facts added later are seen when it is opened anew. */
#include <anycq.h>
#include <stdio.h>
#include <string.h>

static void print_result(const acq_query *query, const acq_result *result)
{
    size_t n = acq_result_get_n_answers(result), n_free = acq_query_get_n_free(query);
    switch (acq_result_get_outcome(result)) {
    case ACQ_RESULT_NONE:
        printf("none");
        break;
    case ACQ_RESULT_UNDECIDED:
        printf("undecided %s", acq_result_get_spent(result));
        break;
    case ACQ_RESULT_ANSWERED:
        printf(n_free == 0 ? "yes" : "");
        for (size_t i = 0; i < n; i++) {
            for (size_t v = 0; v < n_free; v++)
                printf("%s%s",
                       v > 0   ? ", "
                       : i > 0 ? " | "
                               : "",
                       acq_result_get_value_at(result, i, v));
        }
    }
    putchar('\n');
}

static void answer(const acq_graph *graph, const acq_predictor *predictor, const char *text,
                   acq_error *error)
{
    acq_query *query = NULL;
    acq_result *result = NULL;
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.limit = 100;
    params.seconds = 2; /* nobody waits longer for a line */
    if (acq_query_new(graph, text, &query, error) == ACQ_OK &&
        acq_ask(query, predictor, &params, &result, error) == ACQ_OK)
        print_result(query, result);
    else
        printf("error %s\n", error->message);
    fflush(stdout);
    acq_result_free(result);
    acq_query_free(query);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: serve GRAPH [PREDICTOR]\n");
        return 2;
    }
    acq_error error = {0};
    acq_graph *graph = NULL;
    acq_predictor *predictor = NULL;
    char line[65536];
    int code = 2;
    if (acq_graph_open(argv[1], NULL, &graph, &error) == ACQ_OK &&
        acq_predictor_new(graph, argc == 3 ? argv[2] : "observed", NULL, &predictor, &error) ==
            ACQ_OK) {
        while (fgets(line, sizeof line, stdin) != NULL) {
            line[strcspn(line, "\n")] = '\0';
            answer(graph, predictor, line, &error);
            acq_error_clear(&error);
        }
        code = 0;
    } else {
        fprintf(stderr, "%s: %s\n", argv[1], error.message);
    }
    acq_predictor_free(predictor);
    acq_graph_free(graph);
    return code;
}
