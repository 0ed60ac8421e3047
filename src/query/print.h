/* print.h - a query written back in any of the syntaxes, so that parsing gives the same tree.
 *
 * text       names in quotes; cannot say LIMIT, nor a variable called like a reserved word
 * benchmark  names of the form r1 s1 e1 f1 are kept; a kind with other names is numbered anew in
 *            the order of its table (relation i becomes r<i+1>); cannot say equality or LIMIT
 * sparql     cannot say a variable that no positive part binds (see docs/grammar.md) */
#ifndef ACQ_QUERY_PRINT_H
#define ACQ_QUERY_PRINT_H

#include "base/text.h"
#include "query/query.h"

typedef enum acq_syntax {
    ACQ_SYNTAX_TEXT,
    ACQ_SYNTAX_BENCHMARK,
    ACQ_SYNTAX_SPARQL,
    ACQ_N_SYNTAXES
} acq_syntax;

const char *acq_syntax_get_name(acq_syntax syntax); /* "text", "benchmark", "sparql" */

/* Appends to *out. What the syntax cannot say is ACQ_ERR_INPUT with a message that says what;
 * *out is as before on failure. */
acq_status acq_query_print(const acq_query *query, acq_syntax syntax, acq_text *out,
                           acq_error *error);

/* Appends one node in the text syntax, as a conjunct of the query; failures show in *out. */
void acq_query_print_node(const acq_query *query, const acq_node *node, acq_text *out);

/* Appends an atom without variables in the text syntax. */
void acq_query_print_fact(acq_text *out, const char *relation, bool is_inverse, const char *head,
                          const char *tail);

/* ---- printers ----
 *
 * what the printers of print.h share; each appends to printer->out, whose failures
 * are checked once at the end. */

typedef struct acq_printer {
    const acq_query *query;
    acq_text *out;
    acq_error *error;
    uint32_t depth, deepest; /* as the parser of the syntax counts */
} acq_printer;

void acq_printer_enter(acq_printer *printer);
void acq_printer_leave(acq_printer *printer);

/* Shortens `out` to `length` after a failure and forgets that it failed. */
void acq_printer_cut(acq_text *out, size_t length);

acq_status acq_query_print_text(acq_printer *printer);
acq_status acq_query_print_benchmark(acq_printer *printer);
acq_status acq_query_print_sparql(acq_printer *printer);

/* ---- sql ----
 *
 * A query as one SQL statement over facts(head, relation, tail) and entities(name).
 *
 *   Q(x) := exists y. directed(y, "Oppenheimer") & !born_in(y, x)
 *
 *   SELECT DISTINCT e1.name AS "x" FROM facts AS f1, entities AS e1
 *   WHERE f1.relation = 'directed' AND f1.tail = 'Oppenheimer' AND NOT EXISTS (SELECT 1 ...)
 *
 * One alias per positive atom of a conjunction; entities serves the variables that no such atom
 * binds. An existential that occurs in one disjunction only is quantified inside its branches.
 * Runs unchanged in SQLite and DuckDB. */

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
