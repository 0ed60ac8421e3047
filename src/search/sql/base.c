/* base.c - a problem as one SELECT.
 *
 * Positive literals are joined tables f0, f1, ... as far as SQLite joins them (64); what is left
 * only filters and becomes EXISTS. A variable is the first column that a joined literal gives it,
 * else a row of entities. Negated literals are NOT EXISTS, clauses AND and OR of such tests. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "search/sql/sql.h"

/* ---- base ----
 *
 * Facts into tables. */

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

/* ---- print ---- */

enum { MOST_JOINS = 60, COLUMN = 24 };

typedef struct statement {
    const acq_problem *problem;
    acq_text *out;
    char (*columns)[COLUMN]; /* of each variable; "": none yet */
    bool *is_joined;         /* by literal */
    uint32_t n_tables;       /* in FROM */
} statement;

static void put_place(statement *s, acq_place place)
{
    if (place.is_variable)
        acq_text_add(s->out, s->columns[place.id]);
    else
        acq_text_format(s->out, "%u", place.id);
}

/* Head and tail of the even relation. */
static acq_place head_of(const acq_literal *literal)
{
    return literal->relation % 2 == 0 ? literal->left : literal->right;
}

static acq_place tail_of(const acq_literal *literal)
{
    return literal->relation % 2 == 0 ? literal->right : literal->left;
}

static void bind_place(statement *s, acq_place place, uint32_t table, const char *column)
{
    if (place.is_variable && s->columns[place.id][0] == '\0')
        snprintf(s->columns[place.id], COLUMN, "f%u.%s", table, column);
}

static void put_table(statement *s, const char *name, const char *alias, uint32_t number)
{
    acq_text_format(s->out, "%s%s AS %s%u", s->n_tables++ == 0 ? " FROM " : ", ", name, alias,
                    number);
}

static bool binds_new(const statement *s, const acq_literal *literal)
{
    return (literal->left.is_variable && s->columns[literal->left.id][0] == '\0') ||
           (literal->right.is_variable && s->columns[literal->right.id][0] == '\0');
}

/* First the literals that bind a variable, then others while there is room. */
static void choose_joins(statement *s)
{
    const acq_problem *p = s->problem;
    uint32_t n = 0;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < p->n_literals && n < MOST_JOINS; i++) {
            const acq_literal *literal = &p->literals[i];
            if (literal->is_equality || literal->is_negated || s->is_joined[i] ||
                (round == 0 && !binds_new(s, literal)))
                continue;
            s->is_joined[i] = true;
            n++;
            bind_place(s, head_of(literal), i, "head");
            bind_place(s, tail_of(literal), i, "tail");
        }
}

static void mark(const acq_branch *branch, bool *occurs)
{
    if (branch->kind != ACQ_BRANCH_LITERAL) {
        for (uint32_t i = 0; i < branch->n_children; i++)
            mark(branch->children[i], occurs);
        return;
    }
    if (branch->literal.left.is_variable)
        occurs[branch->literal.left.id] = true;
    if (branch->literal.right.is_variable)
        occurs[branch->literal.right.id] = true;
}

static acq_status put_from(statement *s)
{
    const acq_problem *p = s->problem;
    bool *occurs = acq_zalloc(p->n_variables, sizeof *occurs);
    if (occurs == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < p->n_literals; i++)
        mark(&(acq_branch){.kind = ACQ_BRANCH_LITERAL, .literal = p->literals[i]}, occurs);
    for (uint32_t i = 0; i < p->n_clauses; i++)
        mark(p->clauses[i], occurs);
    for (uint32_t v = 0; v < p->n_free; v++)
        occurs[v] = true;
    for (uint32_t v = 0; v < p->n_variables; v++)
        if (occurs[v] && s->columns[v][0] == '\0')
            snprintf(s->columns[v], COLUMN, "e%u.id", v);
    acq_free(occurs);
    return ACQ_OK;
}

static void put_tables(statement *s)
{
    for (uint32_t i = 0; i < s->problem->n_literals; i++)
        if (s->is_joined[i])
            put_table(s, "facts", "f", i);
    for (uint32_t v = 0; v < s->problem->n_variables; v++)
        if (s->columns[v][0] == 'e')
            put_table(s, "entities", "e", v);
}

static void put_literal(statement *s, const acq_literal *literal)
{
    if (literal->is_equality) {
        put_place(s, literal->left);
        acq_text_add(s->out, literal->is_negated ? " <> " : " = ");
        put_place(s, literal->right);
        return;
    }
    acq_text_format(s->out, "%sEXISTS (SELECT 1 FROM facts WHERE relation = %u AND head = ",
                    literal->is_negated ? "NOT " : "", literal->relation & ~1U);
    put_place(s, head_of(literal));
    acq_text_add(s->out, " AND tail = ");
    put_place(s, tail_of(literal));
    acq_text_add(s->out, ")");
}

static void put_branch(statement *s, const acq_branch *branch)
{
    bool is_and = branch->kind == ACQ_BRANCH_AND;
    if (branch->kind == ACQ_BRANCH_LITERAL) {
        put_literal(s, &branch->literal);
        return;
    }
    acq_text_add(s->out, branch->n_children == 0 ? (is_and ? "(1" : "(0") : "(");
    for (uint32_t i = 0; i < branch->n_children; i++) {
        acq_text_add(s->out, i == 0 ? "" : is_and ? " AND " : " OR ");
        put_branch(s, branch->children[i]);
    }
    acq_text_add(s->out, ")");
}

/* Unless the column is the one that the variable was bound to. */
static void put_end(statement *s, uint32_t i, const char *column, acq_place place)
{
    char own[COLUMN];
    snprintf(own, COLUMN, "f%u.%s", i, column);
    if (place.is_variable && strcmp(s->columns[place.id], own) == 0)
        return;
    acq_text_format(s->out, " AND %s = ", own);
    put_place(s, place);
}

static void put_join(statement *s, uint32_t i)
{
    const acq_literal *literal = &s->problem->literals[i];
    acq_text_format(s->out, " AND f%u.relation = %u", i, literal->relation & ~1U);
    put_end(s, i, "head", head_of(literal));
    put_end(s, i, "tail", tail_of(literal));
}

static void put_where(statement *s, const acq_sql_wish *wish)
{
    const acq_problem *p = s->problem;
    acq_text_add(s->out, " WHERE 1");
    for (uint32_t v = 0; wish->values != NULL && v < p->n_free; v++)
        acq_text_format(s->out, " AND %s = %u", s->columns[v], wish->values[v]);
    for (uint32_t i = 0; i < p->n_literals; i++) {
        if (s->is_joined[i]) {
            put_join(s, i);
            continue;
        }
        acq_text_add(s->out, " AND ");
        put_literal(s, &p->literals[i]);
    }
    for (uint32_t i = 0; i < p->n_clauses; i++) {
        acq_text_add(s->out, " AND ");
        put_branch(s, p->clauses[i]);
    }
    if (wish->limit > 0)
        acq_text_format(s->out, " LIMIT %llu", (unsigned long long)wish->limit);
}

static void put_columns(statement *s, bool is_distinct)
{
    uint32_t n = is_distinct ? s->problem->n_free : s->problem->n_variables;
    acq_text_add(s->out, is_distinct ? "SELECT DISTINCT " : "SELECT ");
    for (uint32_t v = 0; v < n; v++)
        acq_text_format(s->out, "%s%s", v == 0 ? "" : ", ",
                        s->columns[v][0] == '\0' ? "0" : s->columns[v]);
    acq_text_add(s->out, n == 0 ? "1" : "");
}

acq_status acq_sql_print(const acq_problem *problem, const acq_sql_wish *wish, acq_text *out,
                         acq_error *error)
{
    statement s = {.problem = problem, .out = out};
    s.columns = acq_zalloc(problem->n_variables, sizeof *s.columns);
    s.is_joined = acq_zalloc(problem->n_literals, sizeof *s.is_joined);
    bool ok = s.columns != NULL && s.is_joined != NULL;
    if (ok) {
        choose_joins(&s);
        ok = put_from(&s) == ACQ_OK;
    }
    if (ok) {
        put_columns(&s, wish->is_distinct);
        put_tables(&s);
        put_where(&s, wish);
    }
    acq_free(s.columns);
    acq_free(s.is_joined);
    return ok ? acq_text_finish(out, error) : acq_fail_memory(error);
}
