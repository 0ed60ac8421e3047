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
    pthread_mutex_destroy(&base->lock);
    acq_free(base);
}

static acq_status run(const acq_sql_base *base, const char *sql, acq_error *error)
{
    return sqlite3_exec(base->database, sql, NULL, NULL, NULL) == SQLITE_OK
               ? ACQ_OK
               : fail(base, "make its tables", error);
}

static acq_status insert_relation(const acq_sql_base *base, sqlite3_stmt *insert,
                                  const acq_links *links, acq_rel relation, acq_error *error)
{
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        for (size_t j = 0; j < row.n; j++) {
            if (row.scores != NULL && row.scores[j] < 1.0F)
                return acq_fail(error, ACQ_ERR_USAGE,
                                "the engine sql knows facts only; use --predictor observed or "
                                "perfect:GRAPH");
            sqlite3_bind_int64(insert, 1, relation);
            sqlite3_bind_int64(insert, 2, links->heads[i]);
            sqlite3_bind_int64(insert, 3, row.tails[j]);
            if (sqlite3_step(insert) != SQLITE_DONE)
                return fail(base, "keep a fact", error);
            sqlite3_reset(insert);
        }
    }
    return ACQ_OK;
}

static acq_status insert_facts(const acq_sql_base *base, const acq_predictor *predictor,
                               acq_error *error)
{
    sqlite3_stmt *insert;
    acq_status status = ACQ_OK;
    if (sqlite3_prepare_v2(base->database, "INSERT OR IGNORE INTO facts VALUES (?1, ?2, ?3)", -1,
                           &insert, NULL) != SQLITE_OK)
        return fail(base, "keep facts", error);
    for (acq_rel r = 0; r < acq_graph_get_n_relations(predictor->graph) && status == ACQ_OK;
         r += 2) {
        const acq_links *links;
        status = acq_predictor_open_links(predictor, r, &links, error);
        if (status == ACQ_OK)
            status = insert_relation(base, insert, links, r, error);
    }
    sqlite3_finalize(insert);
    return status;
}

static acq_status insert_entities(const acq_sql_base *base, uint32_t n, acq_error *error)
{
    sqlite3_stmt *insert;
    acq_status status = ACQ_OK;
    if (sqlite3_prepare_v2(base->database, "INSERT INTO entities VALUES (?1)", -1, &insert, NULL) !=
        SQLITE_OK)
        return fail(base, "keep entities", error);
    for (uint32_t e = 0; e < n && status == ACQ_OK; e++) {
        sqlite3_bind_int64(insert, 1, e);
        status = sqlite3_step(insert) == SQLITE_DONE ? ACQ_OK : fail(base, "keep an entity", error);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return status;
}

/* "observed" and "perfect:..." are 0/1 by their nature. A model would make rows for hours first. */
static acq_status check_predictor(const acq_predictor *predictor, acq_error *error)
{
    if (!acq_predictor_makes_rows(predictor) && strncmp(predictor->name, "completion:", 11) != 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "the engine sql knows facts only; use --predictor observed or perfect:GRAPH");
}

static acq_status fill(const acq_sql_base *base, const acq_predictor *predictor, acq_error *error)
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
        status = run(base, "COMMIT; CREATE INDEX back ON facts(relation, tail, head); ANALYZE",
                     error);
    return status;
}

acq_status acq_sql_base_new(const acq_predictor *predictor, acq_sql_base **out, acq_error *error)
{
    acq_status status = check_predictor(predictor, error);
    if (status != ACQ_OK)
        return status;
    acq_sql_base *base = acq_zalloc(1, sizeof *base);
    if (base == NULL)
        return acq_fail_memory(error);
    pthread_mutex_init(&base->lock, NULL);
    base->predictor = predictor;
    if (sqlite3_open_v2(":memory:", &base->database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        status = fail(base, "open a database in memory", error);
    if (status == ACQ_OK)
        status = fill(base, predictor, error);
    if (status == ACQ_OK)
        *out = base;
    else
        acq_sql_base_free(base);
    return status;
}
