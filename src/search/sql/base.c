/* base.c - facts into tables. */
#include <string.h>

#include "base/memory.h"
#include "search/sql/parts.h"

static acq_status fail(const acq_sql_base *base, const char *what, acq_error *error)
{
    return acq_fail(error, ACQ_ERR_INTERNAL, "SQLite cannot %s: %.200s", what,
                    sqlite3_errmsg(base->database));
}

void acq_sql_base_free(acq_sql_base *base)
{
    if (base == NULL)
        return;
    sqlite3_close(base->database);
    acq_duckdb_close(base->duckdb);
    pthread_mutex_destroy(&base->lock);
    acq_free(base);
}

static acq_status run(const acq_sql_base *base, const char *sql, acq_error *error)
{
    return sqlite3_exec(base->database, sql, NULL, NULL, NULL) == SQLITE_OK
               ? ACQ_OK
               : fail(base, "make its tables", error);
}

/* A row of a table: `insert` is SQLite's statement, DuckDB needs none. */
static acq_status insert_row(const acq_sql_base *base, sqlite3_stmt *insert, const char *table,
                             const uint32_t *values, unsigned n, acq_error *error)
{
    if (base->duckdb != NULL)
        return acq_duckdb_append(base->duckdb, table, values, n, error);
    for (unsigned i = 0; i < n; i++)
        sqlite3_bind_int64(insert, (int)i + 1, values[i]);
    bool is_done = sqlite3_step(insert) == SQLITE_DONE;
    sqlite3_reset(insert);
    return is_done ? ACQ_OK : fail(base, "keep a row", error);
}

static acq_status insert_relation(const acq_sql_base *base, sqlite3_stmt *insert,
                                  const acq_links *links, acq_rel relation, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        for (size_t j = 0; j < row.n && status == ACQ_OK; j++) {
            const uint32_t values[] = {relation, links->heads[i], row.tails[j]};
            if (row.scores != NULL && row.scores[j] < 1.0F)
                return acq_fail(error, ACQ_ERR_USAGE,
                                "the engine sql knows facts only; use --predictor observed or "
                                "perfect:GRAPH");
            status = insert_row(base, insert, "facts", values, 3, error);
        }
    }
    return status;
}

static acq_status prepare(const acq_sql_base *base, const char *sql, sqlite3_stmt **out,
                          acq_error *error)
{
    *out = NULL;
    if (base->duckdb != NULL || sqlite3_prepare_v2(base->database, sql, -1, out, NULL) == SQLITE_OK)
        return ACQ_OK;
    return fail(base, "keep rows", error);
}

static acq_status end_insert(const acq_sql_base *base, sqlite3_stmt *insert, acq_status status,
                             acq_error *error)
{
    sqlite3_finalize(insert);
    if (base->duckdb == NULL)
        return status;
    acq_status ended = acq_duckdb_end_append(base->duckdb, error);
    return status == ACQ_OK ? ended : status;
}

static acq_status insert_facts(const acq_sql_base *base, const acq_predictor *predictor,
                               acq_error *error)
{
    sqlite3_stmt *insert;
    acq_status status =
        prepare(base, "INSERT OR IGNORE INTO facts VALUES (?1, ?2, ?3)", &insert, error);
    for (acq_rel r = 0; r < acq_graph_get_n_relations(predictor->graph) && status == ACQ_OK;
         r += 2) {
        const acq_links *links;
        status = acq_predictor_open_links(predictor, r, &links, error);
        if (status == ACQ_OK)
            status = insert_relation(base, insert, links, r, error);
    }
    return end_insert(base, insert, status, error);
}

static acq_status insert_entities(const acq_sql_base *base, uint32_t n, acq_error *error)
{
    sqlite3_stmt *insert;
    acq_status status = prepare(base, "INSERT INTO entities VALUES (?1)", &insert, error);
    for (uint32_t e = 0; e < n && status == ACQ_OK; e++)
        status = insert_row(base, insert, "entities", &e, 1, error);
    return end_insert(base, insert, status, error);
}

/* "observed" and "perfect:..." are 0/1 by their nature. A model would make rows for hours first. */
static acq_status check_predictor(const acq_predictor *predictor, acq_error *error)
{
    if (!acq_predictor_makes_rows(predictor) && strncmp(predictor->name, "completion:", 11) != 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "the engine sql knows facts only; use --predictor observed or perfect:GRAPH");
}

/* DuckDB finds its way without an index, and one thread is what everybody else has. */
static acq_status fill_duckdb(const acq_sql_base *base, const acq_predictor *predictor,
                              acq_error *error)
{
    static const char *const before[] = {
        "SET threads = 1", "CREATE TABLE facts(relation INTEGER, head INTEGER, tail INTEGER)",
        "CREATE TABLE entities(id INTEGER)"};
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < sizeof before / sizeof *before && status == ACQ_OK; i++)
        status = acq_duckdb_run(base->duckdb, before[i], error);
    if (status == ACQ_OK)
        status = insert_facts(base, predictor, error);
    if (status == ACQ_OK)
        status = insert_entities(base, acq_graph_get_n_entities(predictor->graph), error);
    return status == ACQ_OK ? acq_duckdb_run(base->duckdb, "ANALYZE", error) : status;
}

static acq_status fill_sqlite(const acq_sql_base *base, const acq_predictor *predictor,
                              acq_error *error)
{
    acq_status status =
        run(base,
            "CREATE TABLE facts(relation INTEGER, head INTEGER, tail INTEGER, PRIMARY KEY"
            "(relation, head, tail)) WITHOUT ROWID; CREATE TABLE entities(id INTEGER PRIMARY KEY);"
            "BEGIN",
            error);
    if (status == ACQ_OK)
        status = insert_facts(base, predictor, error);
    if (status == ACQ_OK)
        status = insert_entities(base, acq_graph_get_n_entities(predictor->graph), error);
    if (status == ACQ_OK)
        status =
            run(base, "COMMIT; CREATE INDEX back ON facts(relation, tail, head); ANALYZE", error);
    return status;
}

static acq_status open_sqlite(acq_sql_base *base, acq_error *error)
{
    if (sqlite3_open_v2(":memory:", &base->database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return fail(base, "open a database in memory", error);
    return fill_sqlite(base, base->predictor, error);
}

static acq_status open_duckdb(acq_sql_base *base, const char *library, acq_error *error)
{
    acq_status status = acq_duckdb_open(library, &base->duckdb, error);
    return status == ACQ_OK ? fill_duckdb(base, base->predictor, error) : status;
}

acq_status acq_sql_base_new(const acq_predictor *predictor, const char *library, acq_sql_base **out,
                            acq_error *error)
{
    acq_status status = check_predictor(predictor, error);
    if (status != ACQ_OK)
        return status;
    acq_sql_base *base = acq_zalloc(1, sizeof *base);
    if (base == NULL)
        return acq_fail_memory(error);
    pthread_mutex_init(&base->lock, NULL);
    base->predictor = predictor;
    status = library == NULL ? open_sqlite(base, error) : open_duckdb(base, library, error);
    if (status == ACQ_OK)
        *out = base;
    else
        acq_sql_base_free(base);
    return status;
}
