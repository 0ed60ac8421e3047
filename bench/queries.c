/* queries.c - see queries.h. */
#include "queries.h"

#include <stdio.h>
#include <string.h>

#include "common.h"

#include "graph/text/read.h"
#include "query/print.h"

acq_graph *bench_read_graph(const char *path)
{
    acq_graph *graph;
    acq_error error = {0};
    acq_read_params params = {.strict = true};
    bench_need(acq_graph_read(&path, 1, &params, &graph, NULL, &error), &error);
    return graph;
}

static void write_relation(FILE *stream, const acq_graph *graph, acq_rel relation)
{
    const acq_links *links;
    acq_error error = {0};
    bench_need(acq_graph_open_links(graph, relation, &links, &error), &error);
    for (uint32_t i = 0; i < links->n_heads; i++)
        for (uint32_t j = links->offsets[i]; j < links->offsets[i + 1]; j++)
            fprintf(stream, "%u\t%u\t%u\n", links->heads[i], relation, links->tails[j]);
}

void bench_write_facts(const acq_graph *graph, const char *path)
{
    FILE *stream = fopen(path, "w");
    if (stream == NULL)
        bench_die("cannot write %s", path);
    for (acq_rel i = 0; i < acq_graph_get_n_relations(graph); i++)
        write_relation(stream, graph, i);
    if (fclose(stream) != 0)
        bench_die("cannot write %s", path);
}

double bench_time_ask(const acq_query *query, const acq_predictor *predictor,
                      acq_engine_result *counters)
{
    double ms[BENCH_RUNS];
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    for (int i = -1; i < BENCH_RUNS; i++) {
        acq_engine_result result;
        acq_error error = {0};
        double begin = bench_now_ms();
        bench_need(acq_engine_ask(query, predictor, &params, &result, &error), &error);
        if (i >= 0)
            ms[i] = bench_now_ms() - begin;
        *counters = (acq_engine_result){.outcome = result.outcome, .effort = result.effort};
        acq_engine_result_deinit(&result);
    }
    return bench_median(ms, BENCH_RUNS);
}

/* The statement for one answer. DISTINCT is left out: it makes no difference to the first row, and
 * an engine that collects all rows before it removes duplicates would pay for it. */
static void make_sql(const acq_query *query, acq_text *out)
{
    static const char distinct[] = "SELECT DISTINCT ";
    acq_sql_params params = ACQ_SQL_DEFAULT;
    acq_error error = {0};
    acq_text all;
    acq_text_init(&all);
    params.use_ids = true;
    bench_need(acq_query_print_sql(query, &params, &all, &error), &error);
    bool is_distinct = strncmp(all.bytes, distinct, sizeof distinct - 1) == 0;
    acq_text_format(out, "%s%s LIMIT 1", is_distinct ? "SELECT " : "",
                    all.bytes + (is_distinct ? sizeof distinct - 1 : 0));
    bench_need(acq_text_finish(out, &error), &error);
    acq_text_deinit(&all);
}

void bench_print_query(const bench_query *query, const acq_predictor *observed)
{
    acq_engine_result counters;
    acq_text sql;
    acq_text_init(&sql);
    make_sql(query->query, &sql);
    double ms = bench_time_ask(query->query, observed, &counters);
    bench_print_line(json_pack(
        "{s:s, s:s, s:s, s:I, s:i, s:s, s:b, s:f}", "kind", "query", "graph", query->graph, "file",
        query->file, "instance", (json_int_t)query->number, "atoms", (int)query->query->n_atoms,
        "sql", sql.bytes, "answered", counters.outcome == ACQ_ANSWERED, "ms", ms));
    acq_text_deinit(&sql);
}
