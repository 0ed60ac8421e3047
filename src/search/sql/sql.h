/* sql.h - the facts of a graph in SQLite or DuckDB, in memory, and queries as one SELECT over them:
 * the closed-world baseline of the paper.
 *
 *   facts(relation, head, tail)   even relations only; an odd one is read from tail to head
 *   entities(id)                  for variables that no positive atom binds
 *
 * A base is shared between threads: one statement runs at a time. */
#ifndef ACQ_SEARCH_SQL_SQL_H
#define ACQ_SEARCH_SQL_SQL_H

#include "search/search.h"
#include "base/text.h"
#include <pthread.h>
#include <sqlite3.h>

typedef struct acq_sql_base acq_sql_base;

/* The links of a 0/1 predictor. ACQ_ERR_USAGE for a predictor with other scores: SQL knows facts.
 * library: DuckDB's, libduckdb.so; NULL: SQLite. O(facts): about a microsecond for each. */
acq_status acq_sql_base_new(const acq_predictor *predictor, const char *library, acq_sql_base **out,
                            acq_error *error);
void acq_sql_base_free(acq_sql_base *base);

/* ---- inside: the base as the files of search/sql see it, and statements from problems ----
 *
 * Inside search/sql: the base as its files see it, and statements from problems. */

typedef struct acq_duckdb acq_duckdb;

struct acq_sql_base {
    sqlite3 *database; /* or */
    acq_duckdb *duckdb;
    const acq_predictor *predictor; /* whose facts it has */
    pthread_mutex_t lock;
};

/* SELECT of every variable's value, in their order (0 for one that does not occur), or with
 * is_distinct of the free ones alone, each tuple once. values: fixes the free variables; NULL: does
 * not. limit 0: all rows. */
typedef struct acq_sql_wish {
    bool is_distinct;
    const acq_ent *values;
    uint64_t limit;
} acq_sql_wish;

acq_status acq_sql_print(const acq_problem *problem, const acq_sql_wish *wish, acq_text *out,
                         acq_error *error);

/* What is done with the rows of a SELECT. */
typedef struct acq_sql_rows {
    int (*is_over)(void *context); /* shall it end? Asked now and then, from any thread */
    acq_status (*take)(void *context);
    void *context;
    acq_ent *values; /* the columns of a row, as many as there is room for */
    uint32_t n_values;
} acq_sql_rows;

/* ACQ_ERR_USAGE: there is no such library. */
acq_status acq_duckdb_open(const char *path, acq_duckdb **out, acq_error *error);
void acq_duckdb_close(acq_duckdb *duckdb); /* NULL is legal */
acq_status acq_duckdb_run(acq_duckdb *duckdb, const char *sql, acq_error *error);
/* A row of a table; end_append before anything else is done. */
acq_status acq_duckdb_append(acq_duckdb *duckdb, const char *table, const uint32_t *values,
                             unsigned n, acq_error *error);
acq_status acq_duckdb_end_append(acq_duckdb *duckdb, acq_error *error);
acq_status acq_duckdb_select(acq_duckdb *duckdb, const char *sql, const acq_sql_rows *rows,
                             acq_error *error);

#endif
