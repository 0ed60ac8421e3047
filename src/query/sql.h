/* sql.h - a query as one SQL statement over facts(head, relation, tail) and entities(name).
 *
 *   Q(x) := exists y. directed(y, "Oppenheimer") & !born_in(y, x)
 *
 *   SELECT DISTINCT e1.name AS "x" FROM facts AS f1, entities AS e1
 *   WHERE f1.relation = 'directed' AND f1.tail = 'Oppenheimer' AND NOT EXISTS (SELECT 1 ...)
 *
 * One alias per positive atom of a conjunction; entities serves the variables that no such atom
 * binds. An existential that occurs in one disjunction only is quantified inside its branches.
 * Runs unchanged in SQLite and DuckDB. */
#ifndef ACQ_QUERY_SQL_H
#define ACQ_QUERY_SQL_H

#include "base/text.h"
#include "query/query.h"

typedef struct acq_sql_params {
    const char *facts;    /* table names, put in quotes as needed */
    const char *entities; /* */
    bool use_ids;         /* names that have an id are written as integers; else as strings,
                             except grounded ones, which have no name */
    uint32_t most_tables; /* in one FROM; SQLite's limit is 64; 0: no limit */
} acq_sql_params;

#define ACQ_SQL_DEFAULT                                                                            \
    ((acq_sql_params){.facts = "facts", .entities = "entities", .most_tables = 64})

/* Appends one statement, without a semicolon. Atoms past most_tables that bind nothing new become
 * EXISTS; if that does not help, ACQ_ERR_LIMIT. *out is as before on failure. A query without
 * free variables gives one row with one truth value. params may be NULL. */
acq_status acq_query_print_sql(const acq_query *query, const acq_sql_params *params, acq_text *out,
                               acq_error *error);

#endif
