/* api_case.c - see api_case.h. */
#include "support/api_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char facts[] = "Ada\tborn_in\tLondon\n"
                            "Bo\tborn_in\tParis\n"
                            "Ada\tlives_in\tParis\n"
                            "Bo\tlives_in\tParis\n"
                            "Ada\tknows\tBo\n"
                            "Bo\tknows\tCy\n"
                            "a line that is no triple\n";

const char *const api_chain = "Q(x) := exists y. knows(x, y) & born_in(y, \"Paris\")";

api_case f;

int api_set_up(void **state)
{
    (void)state;
    strcpy(f.path, "anycq-api-XXXXXX.tsv");
    int file = mkstemps(f.path, 4);
    if (file < 0 || write(file, facts, sizeof facts - 1) != (ssize_t)(sizeof facts - 1))
        return -1;
    close(file);
    return acq_graph_open(f.path, NULL, &f.graph, NULL) == ACQ_OK &&
                   acq_predictor_new(f.graph, "observed", NULL, &f.predictor, NULL) == ACQ_OK
               ? 0
               : -1;
}

int api_tear_down(void **state)
{
    (void)state;
    acq_predictor_free(f.predictor);
    acq_graph_free(f.graph);
    return unlink(f.path);
}

acq_query *api_read_query(const char *text)
{
    acq_query *query;
    acq_error error = {0};
    if (acq_query_new(f.graph, text, &query, &error) != ACQ_OK)
        fail_msg("%s: %s", text, error.message);
    return query;
}

acq_result *api_ask(const acq_query *query, const acq_ask_params *params)
{
    acq_result *result;
    acq_error error = {0};
    if (acq_ask(query, f.predictor, params, &result, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return result;
}

void api_make_store(char *path)
{
    strcpy(path, "anycq-api-XXXXXX.acq");
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    const char *sources[] = {f.path};
    acq_error error = {0};
    if (acq_store_create(sources, 1, path, NULL, &error) != ACQ_OK)
        fail_msg("%s", error.message);
}

void api_drop_store(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < 3; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}
