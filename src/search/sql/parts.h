/* parts.h - inside search/sql: the base as its files see it, and statements from problems. */
#ifndef ACQ_SEARCH_SQL_PARTS_H
#define ACQ_SEARCH_SQL_PARTS_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/text.h"
#include "search/sql/sql.h"

struct acq_sql_base {
    sqlite3 *database;
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

#endif
