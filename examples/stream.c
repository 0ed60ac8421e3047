/* stream.c - answers as they are found, until there are no more, N of them, or Ctrl-C.
 *
 *   stream GRAPH QUERY [N]
 *
 * A signal handler may do next to nothing, so it only sets a flag; the progress callback, which the
 * library calls a few times a second while it searches, passes the wish on. */
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

static bool go_on(void *context, const acq_progress *now)
{
    (void)context;
    (void)now;
    return !is_interrupted;
}

/* Prints up to `most` answers. The cursor may be freed at any time: nobody has to take all. */
static acq_status print_answers(acq_cursor *cursor, const acq_query *query, unsigned long most,
                                acq_error *error)
{
    const acq_result *answer = NULL;
    acq_status status = ACQ_OK;
    for (unsigned long n = 0; n < most && !is_interrupted; n++) {
        status = acq_cursor_next(cursor, &answer, error);
        if (status != ACQ_OK || answer == NULL)
            break;
        for (size_t v = 0; v < acq_query_get_n_free(query); v++)
            printf("%s%s", v == 0 ? "" : "\t", acq_result_get_value_at(answer, 0, v));
        putchar('\n');
        fflush(stdout); /* whoever reads sees it now, not when a buffer is full */
    }
    return status;
}

static void print_end(const acq_cursor *cursor)
{
    const acq_result *result = acq_cursor_get_result(cursor);
    if (result == NULL)
        fprintf(stderr, "there may be more\n");
    else if (acq_result_is_complete(result))
        fprintf(stderr, "these are all\n");
    else
        fprintf(stderr, "there may be more: %s\n", acq_result_get_spent(result));
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: stream GRAPH QUERY [N]\n");
        return 2;
    }
    unsigned long most = argc == 4 ? strtoul(argv[3], NULL, 10) : (unsigned long)-1;
    acq_error error = {0};
    acq_graph *graph = NULL;
    acq_query *query = NULL;
    acq_predictor *predictor = NULL;
    acq_cursor *cursor = NULL;
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.limit = 0; /* all */
    params.progress = go_on;
    signal(SIGINT, interrupt);
    if (acq_graph_open(argv[1], NULL, &graph, &error) == ACQ_OK &&
        acq_query_new(graph, argv[2], &query, &error) == ACQ_OK &&
        acq_predictor_new(graph, "observed", NULL, &predictor, &error) == ACQ_OK &&
        acq_cursor_open(query, predictor, &params, &cursor, &error) == ACQ_OK &&
        print_answers(cursor, query, most, &error) == ACQ_OK)
        print_end(cursor);
    else
        fprintf(stderr, "%s: %s\n", acq_status_name(error.code), error.message);
    acq_cursor_free(cursor);
    acq_predictor_free(predictor);
    acq_query_free(query);
    acq_graph_free(graph);
    return error.code == ACQ_OK ? 0 : 2;
}
