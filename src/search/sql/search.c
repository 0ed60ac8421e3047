/* search.c - the search `sql`: one statement, and for several answers one more for each witness.
 *
 * SQLite asks a handler every few thousand of its steps, which ends it when the time is over; of
 * DuckDB see duckdb.c. */
#include <string.h>

#include "base/memory.h"
#include "search/search.h"
#include "search/sql/sql.h"

enum { STEPS_BETWEEN_LOOKS = 5000 };

typedef struct sql_run {
    acq_sql_base *base;
    const acq_problem *problem;
    const acq_search_params *params;
    acq_collector answers;
    acq_spent spent;
    int64_t deadline_ns; /* INT64_MAX: none */
    acq_ent *tuples;     /* distinct ones, n_free values each */
    size_t n_tuples, capacity;
    acq_ent *values; /* of one row */
} sql_run;

static int is_over(void *context)
{
    sql_run *run = context;
    if (acq_stop_is_wanted(run->params->stop))
        run->spent = ACQ_SPENT_INTERRUPT;
    else if (acq_clock_ns() >= run->deadline_ns)
        run->spent = ACQ_SPENT_TIME;
    return run->spent != ACQ_SPENT_NOTHING;
}

/* What is done with a row; the columns are in run->values. */
typedef acq_status (*row_fn)(void *run);

static acq_status step_rows(sql_run *run, sqlite3_stmt *statement, row_fn take, acq_error *error)
{
    int code;
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement) && run->problem->n_variables > 0; i++)
            run->values[i] = (acq_ent)sqlite3_column_int64(statement, i);
        status = take(run) == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
    }
    if (status != ACQ_OK || code == SQLITE_DONE || code == SQLITE_INTERRUPT)
        return status;
    if (code == SQLITE_NOMEM)
        return acq_fail_memory(error);
    return acq_fail(error, ACQ_ERR_INTERNAL, "SQLite: %.200s", sqlite3_errmsg(run->base->database));
}

static acq_status select_in_sqlite(sql_run *run, const acq_text *sql, row_fn take, acq_error *error)
{
    sqlite3_stmt *statement = NULL;
    acq_status status = ACQ_OK;
    if (sqlite3_prepare_v2(run->base->database, sql->bytes, (int)sql->length, &statement, NULL) !=
        SQLITE_OK)
        status = acq_fail(error, ACQ_ERR_LIMIT, "SQLite does not take this query: %.200s",
                          sqlite3_errmsg(run->base->database));
    if (status == ACQ_OK)
        status = step_rows(run, statement, take, error);
    sqlite3_finalize(statement);
    return status;
}

static acq_status select_rows(sql_run *run, const acq_sql_wish *wish, row_fn take, acq_error *error)
{
    acq_text text;
    acq_sql_rows rows = {.is_over = is_over,
                         .take = take,
                         .context = run,
                         .values = run->values,
                         .n_values = run->problem->n_variables};
    acq_text_init(&text);
    acq_status status = acq_sql_print(run->problem, wish, &text, error);
    if (status == ACQ_OK)
        status = run->base->duckdb == NULL
                     ? select_in_sqlite(run, &text, take, error)
                     : acq_duckdb_select(run->base->duckdb, text.bytes, &rows, error);
    acq_text_deinit(&text);
    return status;
}

static acq_status take_answer(void *context)
{
    sql_run *run = context;
    return acq_collector_offer(&run->answers, run->values, 1.0);
}

static acq_status take_tuple(void *context)
{
    sql_run *run = context;
    size_t n_free = run->problem->n_free;
    if (ACQ_RESERVE(run->tuples, run->capacity, (run->n_tuples + 1) * n_free) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    memcpy(run->tuples + run->n_tuples++ * n_free, run->values, n_free * sizeof *run->tuples);
    return ACQ_OK;
}

static acq_status find_several(sql_run *run, acq_error *error)
{
    acq_sql_wish tuples = {.is_distinct = true, .limit = run->params->limit};
    acq_status status = select_rows(run, &tuples, take_tuple, error);
    for (size_t i = 0; i < run->n_tuples && status == ACQ_OK; i++) {
        acq_sql_wish witness = {.values = run->tuples + i * run->problem->n_free, .limit = 1};
        status = select_rows(run, &witness, take_answer, error);
    }
    return status;
}

static acq_status find(sql_run *run, acq_error *error)
{
    bool is_one = run->problem->n_free == 0 || run->params->limit == 1;
    acq_sql_wish one = {.limit = 1};
    pthread_mutex_lock(&run->base->lock);
    run->deadline_ns = acq_clock_get_deadline(run->params->seconds); /* not while it waits */
    if (run->base->database != NULL)
        sqlite3_progress_handler(run->base->database, STEPS_BETWEEN_LOOKS, is_over, run);
    acq_status status =
        is_one ? select_rows(run, &one, take_answer, error) : find_several(run, error);
    if (run->base->database != NULL)
        sqlite3_progress_handler(run->base->database, 0, NULL, NULL);
    pthread_mutex_unlock(&run->base->lock);
    return status;
}

static acq_status finish(sql_run *run, acq_search_result *result, acq_error *error)
{
    if (acq_collector_finish(&run->answers) != ACQ_OK)
        return acq_fail_memory(error);
    result->spent = run->spent;
    result->complete = run->spent == ACQ_SPENT_NOTHING;
    result->outcome = result->n_answers > 0 ? ACQ_ANSWERED
                      : result->complete    ? ACQ_NONE
                                            : ACQ_UNDECIDED;
    return ACQ_OK;
}

static acq_status search(sql_run *run, acq_search_result *result, acq_error *error)
{
    acq_status status = ACQ_OK;
    run->values = acq_zalloc(run->problem->n_variables, sizeof *run->values);
    acq_collector_init(&run->answers, result, run->problem->n_variables, run->params->limit);
    status = run->values == NULL ? acq_fail_memory(error) : find(run, error);
    if (status == ACQ_OK)
        status = finish(run, result, error);
    acq_collector_deinit(&run->answers);
    acq_free(run->values);
    acq_free(run->tuples);
    return status;
}

acq_status acq_search_sql(const acq_problem *problem, const acq_predictor *predictor,
                          const acq_search_params *params, acq_search_result *result,
                          acq_error *error)
{
    acq_sql_base *own = NULL, *base = params->sql;
    *result = (acq_search_result){.outcome = ACQ_UNDECIDED};
    acq_arena_init(&result->arena);
    acq_status status = ACQ_OK;
    if (base == NULL || base->predictor != predictor) {
        status = acq_sql_base_new(predictor, params->sql_library, &own, error);
        base = own;
    }
    sql_run run = {.base = base, .problem = problem, .params = params};
    if (status == ACQ_OK)
        status = search(&run, result, error);
    acq_sql_base_free(own);
    return status;
}
