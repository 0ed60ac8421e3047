/* sql.c - the SQL that we print means what the query means: on random graphs of plain facts SQLite
 * gives the same answers as brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include <cmocka.h>

#include "query/print.h"
#include "support/case.h"

static void run(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s in: %s", message, sql);
}

/* Facts of even relations, as users store them; odd ones too, so that inverses are found. */
static sqlite3 *load(const test_case *c)
{
    sqlite3 *db = NULL;
    char sql[128];
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    run(db, "CREATE TABLE facts(head, relation, tail); CREATE TABLE entities(name)");
    for (uint32_t e = 0; e < c->n_entities; e++) {
        sqlite3_snprintf(sizeof sql, sql, "INSERT INTO entities VALUES(%u)", e);
        run(db, sql);
    }
    for (uint32_t r = 0; r < c->n_relations; r++)
        for (uint32_t h = 0; h < c->n_entities; h++)
            for (uint32_t t = 0; t < c->n_entities; t++)
                if (c->table[r][h][t] > 0) {
                    sqlite3_snprintf(sizeof sql, sql, "INSERT INTO facts VALUES(%u,%u,%u)", h, r,
                                     t);
                    run(db, sql);
                }
    return db;
}

static size_t tuple_index(const test_case *c, sqlite3_stmt *statement)
{
    size_t index = 0;
    for (uint32_t i = c->query->n_free; i-- > 0;)
        index = index * c->n_entities + (size_t)sqlite3_column_int(statement, (int)i);
    return index;
}

static void compare(const test_case *c, uint64_t seed, const char *sql, sqlite3_stmt *statement)
{
    case_tuple *tuples;
    size_t n = case_brute_force(c, &tuples), expected = 0, found = 0;
    for (size_t i = 0; i < n; i++)
        expected += tuples[i].score >= 1.0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (c->query->n_free == 0) {
            found = (size_t)sqlite3_column_int(statement, 0);
            continue;
        }
        size_t index = tuple_index(c, statement);
        if (tuples[index].score < 1.0)
            fail_msg("seed %lu: tuple %zu is no answer of %s", seed, index, sql);
        found++;
    }
    if (found != expected)
        fail_msg("seed %lu: %zu answers, not %zu: %s", seed, found, expected, sql);
    free(tuples);
}

/* Parsed queries have this: free variables occur in the body. */
static bool occurs(const acq_node *node, uint32_t variable)
{
    for (uint32_t i = 0; i < node->n_children; i++)
        if (occurs(node->children[i], variable))
            return true;
    bool is_leaf = node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_EQUAL;
    return is_leaf && ((node->left.is_variable && node->left.id == variable) ||
                       (node->right.is_variable && node->right.id == variable));
}

static bool is_comparable(const test_case *c)
{
    for (uint32_t v = 0; v < c->query->n_free; v++)
        if (!occurs(c->query->root, v))
            return false;
    return !c->features[CASE_SCORED] && c->n_entities <= 6;
}

static void test_sqlite_agrees_with_brute_force(void **unused)
{
    size_t n_compared = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        test_case c;
        acq_text sql;
        acq_sql_params params = ACQ_SQL_DEFAULT;
        case_init(&c, seed);
        acq_text_init(&sql);
        c.scoring = ACQ_SCORING_DEFAULT;
        if (is_comparable(&c)) {
            sqlite3 *db = load(&c);
            sqlite3_stmt *statement = NULL;
            assert_int_equal(acq_query_print_sql(c.query, &params, &sql, NULL), ACQ_OK);
            if (sqlite3_prepare_v2(db, sql.bytes, -1, &statement, NULL) != SQLITE_OK)
                fail_msg("seed %lu: %s in: %s", seed, sqlite3_errmsg(db), sql.bytes);
            compare(&c, seed, sql.bytes, statement);
            sqlite3_finalize(statement);
            sqlite3_close(db);
            n_compared++;
        }
        acq_text_deinit(&sql);
        case_deinit(&c);
    }
    assert_true(n_compared > 700);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sqlite_agrees_with_brute_force)};
    return cmocka_run_group_tests_name("SQL", tests, NULL, NULL);
}
