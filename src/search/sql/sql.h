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

typedef struct acq_sql_base acq_sql_base;

/* The links of a 0/1 predictor. ACQ_ERR_USAGE for a predictor with other scores: SQL knows facts.
 * library: DuckDB's, libduckdb.so; NULL: SQLite. O(facts): about a microsecond for each. */
acq_status acq_sql_base_new(const acq_predictor *predictor, const char *library, acq_sql_base **out,
                            acq_error *error);
void acq_sql_base_free(acq_sql_base *base);

#endif
