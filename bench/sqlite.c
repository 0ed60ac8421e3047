/* sqlite.c - the same queries answered by SQLite, one thread, graph in memory.
 *
 *   bench_sqlite QUERIES.jsonl NAME OBSERVED SECONDS
 *
 * facts(head, relation, tail) is clustered by (relation, head, tail) with a covering index on
 * (relation, tail, head), and ANALYZE has run. Time is prepare plus the first row, as ours is
 * normal form plus search. Median of five runs, fewer when they would take more than SECONDS
 * together; a run over SECONDS is stopped and counts as not answered in time. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "queries.h"

enum { PROGRESS_STEPS = 10000 };

static void execute(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        bench_die("SQLite: %s in %.100s", sqlite3_errmsg(db), sql);
}

static void insert(sqlite3 *db, sqlite3_stmt *statement, acq_ent head, acq_rel relation,
                   acq_ent tail)
{
    sqlite3_bind_int64(statement, 1, head);
    sqlite3_bind_int64(statement, 2, relation);
    sqlite3_bind_int64(statement, 3, tail);
    if (sqlite3_step(statement) != SQLITE_DONE)
        bench_die("SQLite: %s", sqlite3_errmsg(db));
    sqlite3_reset(statement);
}

static void insert_relation(sqlite3 *db, sqlite3_stmt *statement, const acq_graph *graph,
                            acq_rel relation)
{
    const acq_links *links;
    acq_error error = {0};
    bench_need(acq_graph_open_links(graph, relation, &links, &error), &error);
    for (uint32_t i = 0; i < links->n_heads; i++)
        for (uint32_t j = links->offsets[i]; j < links->offsets[i + 1]; j++)
            insert(db, statement, links->heads[i], relation, links->tails[j]);
}

static sqlite3 *load(const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    acq_graph *graph = bench_read_graph(path);
    char sql[256];
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        bench_die("SQLite does not open");
    execute(db, "CREATE TABLE facts(head INTEGER, relation INTEGER, tail INTEGER, PRIMARY KEY"
                "(relation, head, tail)) WITHOUT ROWID; CREATE TABLE entities(name INTEGER "
                "PRIMARY KEY); BEGIN");
    if (sqlite3_prepare_v2(db, "INSERT INTO facts VALUES (?, ?, ?)", -1, &statement, NULL) !=
        SQLITE_OK)
        bench_die("SQLite: %s", sqlite3_errmsg(db));
    for (acq_rel i = 0; i < acq_graph_get_n_relations(graph); i++)
        insert_relation(db, statement, graph, i);
    sqlite3_finalize(statement);
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %u) "
             "INSERT INTO entities SELECT i FROM n",
             acq_graph_get_n_entities(graph));
    execute(db, sql);
    execute(db, "COMMIT; CREATE INDEX backwards ON facts(relation, tail, head); ANALYZE");
    acq_graph_free(graph);
    return db;
}

static int is_late(void *context)
{
    return bench_now_ms() > *(const double *)context;
}

/* SQLITE_ROW, SQLITE_DONE or SQLITE_INTERRUPT. */
static int run(sqlite3 *db, const char *sql, double limit_ms, double *ms)
{
    sqlite3_stmt *statement;
    double begin = bench_now_ms(), deadline = begin + limit_ms;
    sqlite3_progress_handler(db, PROGRESS_STEPS, is_late, &deadline);
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK)
        bench_die("SQLite: %s in %.200s", sqlite3_errmsg(db), sql);
    code = sqlite3_step(statement);
    *ms = bench_now_ms() - begin;
    sqlite3_finalize(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE && code != SQLITE_INTERRUPT)
        bench_die("SQLite: error %d in %.200s", code, sql);
    return code;
}

static void answer(sqlite3 *db, const json_t *query, double limit_ms)
{
    double ms[BENCH_RUNS], spent = 0.0;
    size_t n = 0;
    int code;
    do {
        code = run(db, bench_text(query, "sql"), limit_ms, &ms[n]);
        spent += ms[n++];
    } while (n < BENCH_RUNS && code != SQLITE_INTERRUPT && spent + spent / (double)n < limit_ms);
    bool is_answered = code == SQLITE_ROW, is_late_now = code == SQLITE_INTERRUPT;
    if (!is_late_now && is_answered != json_is_true(json_object_get(query, "answered")))
        bench_die("SQLite and exact search disagree on query %g of %s",
                  bench_number(query, "instance"), bench_text(query, "file"));
    bench_print_line(json_pack("{s:s, s:s, s:s, s:s, s:O, s:b, s:f}", "kind", "peer", "peer",
                               "SQLite", "graph", bench_text(query, "graph"), "file",
                               bench_text(query, "file"), "instance",
                               json_object_get(query, "instance"), "late", is_late_now, "ms",
                               is_late_now ? limit_ms : bench_median(ms, n)));
}

int main(int argc, char **argv)
{
    if (argc != 5)
        bench_die("bench_sqlite QUERIES.jsonl NAME OBSERVED SECONDS");
    json_t *queries = bench_load_lines(argv[1]), *query;
    sqlite3 *db = load(argv[3]);
    size_t i;
    bench_print_line(json_pack("{s:s, s:s, s:s, s:s}", "kind", "version", "peer", "SQLite", "graph",
                               argv[2], "version", sqlite3_libversion()));
    json_array_foreach(queries, i, query)
    {
        if (strcmp(bench_text(query, "kind"), "query") == 0 &&
            strcmp(bench_text(query, "graph"), argv[2]) == 0 && bench_text(query, "sql")[0] != '\0')
            answer(db, query, atof(argv[4]) * 1000.0);
    }
    sqlite3_close(db);
    json_decref(queries);
    return 0;
}
