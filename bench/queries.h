/* queries.h - single queries: read, timed, handed to the peers as SQL. */
#ifndef BENCH_QUERIES_H
#define BENCH_QUERIES_H

#include "engine/engine.h"
#include "graph/graph.h"

enum { BENCH_RUNS = 5 };

typedef struct bench_query {
    const char *graph, *file; /* names */
    size_t number;            /* in the file, from 1 */
    const acq_query *query;   /* bound to the predictor's graph */
} bench_query;

acq_graph *bench_read_graph(const char *path);

/* head, relation, tail as ids, tab between: what the peers load. */
void bench_write_facts(const acq_graph *graph, const char *path);

/* Median time of an ask in ms, after one run to warm up; the counters are those of one run. */
double bench_time_ask(const acq_query *query, const acq_predictor *predictor,
                      acq_engine_result *counters);

/* One "query" line: SQL, our answer and our time, in the closed world. */
void bench_print_query(const bench_query *query, const acq_predictor *observed);

#endif
