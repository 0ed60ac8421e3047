/* duckdb.c - DuckDB by its C interface, loaded when it is asked for: nothing of it is needed to
 * build.
 *
 * Its statements are ended from a second thread, which looks every few milliseconds whether the
 * time is over, and interrupts until the statement has ended: an interrupt before it began is lost.
 */
#include <dlfcn.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "search/sql/sql.h"

enum { LOOK_NS = 3000000, SUCCESS = 0 };

/* As in duckdb.h: callers hand out the memory of a result. */
typedef struct duckdb_result {
    uint64_t n_columns, n_rows, n_changed;
    void *columns;
    char *error;
    void *internal;
} duckdb_result;

/* name, result, parameters */
#define FUNCTIONS(X)                                                                               \
    X(open, int, (const char *path, void **database))                                              \
    X(close, void, (void **database))                                                              \
    X(connect, int, (void *database, void **connection))                                           \
    X(disconnect, void, (void **connection))                                                       \
    X(interrupt, void, (void *connection))                                                         \
    X(query, int, (void *connection, const char *sql, duckdb_result *result))                      \
    X(destroy_result, void, (duckdb_result * result))                                              \
    X(result_error, const char *, (duckdb_result * result))                                        \
    X(row_count, uint64_t, (duckdb_result * result))                                               \
    X(column_count, uint64_t, (duckdb_result * result))                                            \
    X(value_int64, int64_t, (duckdb_result * result, uint64_t column, uint64_t row))               \
    X(appender_create, int,                                                                        \
      (void *connection, const char *schema, const char *table, void **appender))                  \
    X(append_int32, int, (void *appender, int32_t value))                                          \
    X(appender_end_row, int, (void *appender))                                                     \
    X(appender_destroy, int, (void **appender))

struct acq_duckdb {
    void *library, *database, *connection, *appender;
#define MEMBER(name, type, parameters) type(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

void acq_duckdb_close(acq_duckdb *duckdb)
{
    if (duckdb == NULL)
        return;
    if (duckdb->appender != NULL)
        (void)duckdb->appender_destroy(&duckdb->appender);
    if (duckdb->connection != NULL)
        duckdb->disconnect(&duckdb->connection);
    if (duckdb->database != NULL)
        duckdb->close(&duckdb->database);
    if (duckdb->library != NULL)
        (void)dlclose(duckdb->library);
    acq_free(duckdb);
}

static acq_status find_function(acq_duckdb *duckdb, const char *path, const char *name, void *to,
                                acq_error *error)
{
    void *found = dlsym(duckdb->library, name);
    memcpy(to, &found, sizeof found);
    return found != NULL ? ACQ_OK
                         : acq_fail(error, ACQ_ERR_USAGE,
                                    "%.200s is no library of DuckDB: it lacks %s", path, name);
}

static acq_status find_functions(acq_duckdb *duckdb, const char *path, acq_error *error)
{
    acq_status status = ACQ_OK;
#define FIND(name, type, parameters)                                                               \
    if (status == ACQ_OK)                                                                          \
        status = find_function(duckdb, path, "duckdb_" #name, &duckdb->name, error);
    FUNCTIONS(FIND)
#undef FIND
    return status;
}

acq_status acq_duckdb_open(const char *path, acq_duckdb **out, acq_error *error)
{
    acq_duckdb *duckdb = acq_zalloc(1, sizeof *duckdb);
    if (duckdb == NULL)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    duckdb->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (duckdb->library == NULL)
        status = acq_fail(error, ACQ_ERR_USAGE,
                          "DuckDB cannot be loaded (%.200s); --sql-library is its libduckdb.so, or "
                          "leave it out for SQLite",
                          dlerror());
    if (status == ACQ_OK)
        status = find_functions(duckdb, path, error);
    if (status == ACQ_OK && (duckdb->open(NULL, &duckdb->database) != SUCCESS ||
                             duckdb->connect(duckdb->database, &duckdb->connection) != SUCCESS))
        status = acq_fail(error, ACQ_ERR_INTERNAL, "DuckDB cannot open a database in memory");
    if (status == ACQ_OK)
        *out = duckdb;
    else
        acq_duckdb_close(duckdb);
    return status;
}

static acq_status fail(acq_duckdb *duckdb, duckdb_result *result, acq_error *error)
{
    const char *why = duckdb->result_error(result);
    return acq_fail(error, ACQ_ERR_INTERNAL, "DuckDB: %.300s", why == NULL ? "no reason" : why);
}

acq_status acq_duckdb_run(acq_duckdb *duckdb, const char *sql, acq_error *error)
{
    duckdb_result result = {0};
    acq_status status = duckdb->query(duckdb->connection, sql, &result) == SUCCESS
                            ? ACQ_OK
                            : fail(duckdb, &result, error);
    duckdb->destroy_result(&result);
    return status;
}

acq_status acq_duckdb_append(acq_duckdb *duckdb, const char *table, const uint32_t *values,
                             unsigned n, acq_error *error)
{
    int code = SUCCESS;
    if (duckdb->appender == NULL)
        code = duckdb->appender_create(duckdb->connection, NULL, table, &duckdb->appender);
    for (unsigned i = 0; i < n && code == SUCCESS; i++)
        code = duckdb->append_int32(duckdb->appender, (int32_t)values[i]);
    if (code == SUCCESS)
        code = duckdb->appender_end_row(duckdb->appender);
    return code == SUCCESS
               ? ACQ_OK
               : acq_fail(error, ACQ_ERR_INTERNAL, "DuckDB cannot keep a row of %s", table);
}

acq_status acq_duckdb_end_append(acq_duckdb *duckdb, acq_error *error)
{
    int code = duckdb->appender == NULL ? SUCCESS : duckdb->appender_destroy(&duckdb->appender);
    duckdb->appender = NULL;
    return code == SUCCESS ? ACQ_OK : acq_fail(error, ACQ_ERR_INTERNAL, "DuckDB cannot keep rows");
}

/* ---- a statement with an end ---- */

typedef struct watch {
    acq_duckdb *duckdb;
    const acq_sql_rows *rows;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_ended, was_cut;
} watch;

static void *look(void *context)
{
    watch *w = context;
    struct timespec at;
    pthread_mutex_lock(&w->lock);
    while (!w->has_ended) {
        if (w->rows->is_over(w->rows->context)) {
            w->was_cut = true;
            w->duckdb->interrupt(w->duckdb->connection);
        }
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_nsec += LOOK_NS;
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&w->changed, &w->lock, &at);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void end(watch *w, pthread_t thread)
{
    pthread_mutex_lock(&w->lock);
    w->has_ended = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    (void)pthread_join(thread, NULL);
}

static acq_status take_rows(acq_duckdb *duckdb, duckdb_result *result, const acq_sql_rows *rows,
                            acq_error *error)
{
    uint64_t n_rows = duckdb->row_count(result), n_columns = duckdb->column_count(result);
    acq_status status = ACQ_OK;
    for (uint64_t i = 0; i < n_rows && status == ACQ_OK; i++) {
        for (uint64_t c = 0; c < n_columns && c < rows->n_values; c++)
            rows->values[c] = (acq_ent)duckdb->value_int64(result, c, i);
        status = rows->take(rows->context) == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
    }
    return status;
}

acq_status acq_duckdb_select(acq_duckdb *duckdb, const char *sql, const acq_sql_rows *rows,
                             acq_error *error)
{
    watch w = {.duckdb = duckdb, .rows = rows};
    duckdb_result result = {0};
    pthread_t thread;
    acq_status status = ACQ_OK;
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.changed, NULL);
    if (pthread_create(&thread, NULL, look, &w) != 0) {
        status = acq_fail(error, ACQ_ERR_IO, "no thread can be started to keep the time limit");
    } else {
        int code = duckdb->query(duckdb->connection, sql, &result);
        end(&w, thread);
        if (code == SUCCESS)
            status = take_rows(duckdb, &result, rows, error);
        else if (!w.was_cut)
            status = fail(duckdb, &result, error);
        duckdb->destroy_result(&result);
    }
    pthread_cond_destroy(&w.changed);
    pthread_mutex_destroy(&w.lock);
    return status;
}
