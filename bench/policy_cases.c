/* policy_cases.c - see policy_cases.h. */
#include "policy_cases.h"

#include <string.h>

#include "base/memory.h"
#include "common.h"
#include "eval/files.h"
#include "query/query.h"

static void allocate(policy_cases *cases, size_t n)
{
    cases->n = n;
    cases->items = acq_zalloc(n, sizeof *cases->items);
    cases->best = acq_zalloc(n, sizeof *cases->best);
    if (cases->items == NULL || cases->best == NULL)
        bench_die("out of memory");
}

static acq_query *ground(const acq_bench_file *file, const acq_bench_instance *instance)
{
    const acq_bench_formula *formula = &file->formulas[instance->formula];
    acq_query *query;
    acq_error error = {0};
    bench_need(acq_query_apply_reading(formula->query, ACQ_ATOMS_WRITTEN, &query, &error), &error);
    bench_need(
        acq_query_ground_pairs(query, formula->names, instance->ids, formula->n_names, &error),
        &error);
    return query;
}

static void load_benchmark(policy_cases *cases, const char *path, const acq_graph *graph)
{
    acq_bench_file *file;
    acq_error error = {0};
    acq_bench_limits limits = {acq_graph_get_n_entities(graph), acq_graph_get_n_relations(graph)};
    bench_need(acq_bench_file_read(path, ACQ_TASK_QAR, limits, &file, &error), &error);
    allocate(cases, file->n_instances);
    for (size_t i = 0; i < cases->n; i++)
        cases->items[i].query = ground(file, &file->instances[i]);
    acq_bench_file_free(file);
}

static void load_lines(policy_cases *cases, const char *path, const acq_graph *graph)
{
    bench_lines lines;
    acq_error error = {0};
    bench_lines_init(&lines, path);
    allocate(cases, lines.n);
    for (size_t i = 0; i < cases->n; i++) {
        const char *text = lines.items[i].text;
        acq_query **query = &cases->items[i].query;
        bench_need(acq_query_parse(text, strlen(text), query, &error), &error);
        bench_need(acq_query_bind(*query, graph, NULL, 0, &error), &error);
    }
    bench_lines_deinit(&lines);
}

static double find_best(const acq_query *query, const acq_predictor *predictor)
{
    acq_engine_params exact = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    acq_error error = {0};
    bench_need(acq_engine_ask(query, predictor, &exact, &result, &error), &error);
    if (!result.complete)
        bench_die("exact search leaves a query undecided");
    double score = result.outcome == ACQ_ANSWERED ? result.answers[0].score : 0;
    acq_engine_result_deinit(&result);
    return score;
}

void policy_cases_init(policy_cases *cases, const char *path, const acq_predictor *predictor)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    *cases = (policy_cases){.name = slash == NULL ? path : slash + 1};
    if (dot != NULL && strcmp(dot, ".json") == 0)
        load_benchmark(cases, path, predictor->graph);
    else
        load_lines(cases, path, predictor->graph);
    for (size_t i = 0; i < cases->n; i++) {
        cases->items[i].stream = i;
        cases->best[i] = find_best(cases->items[i].query, predictor);
    }
}

void policy_cases_deinit(policy_cases *cases)
{
    for (size_t i = 0; i < cases->n; i++)
        acq_query_free(cases->items[i].query);
    acq_free(cases->items);
    acq_free(cases->best);
}

const policy_case **policy_cases_pick(const policy_cases *cases, bool with_answer, size_t most,
                                      size_t *n)
{
    const policy_case **list = acq_alloc(cases->n, sizeof *list);
    size_t n_all = 0;
    if (list == NULL)
        bench_die("out of memory");
    for (size_t i = 0; i < cases->n; i++)
        if ((cases->best[i] > 0) == with_answer)
            list[n_all++] = &cases->items[i];
    *n = n_all < most ? n_all : most;
    for (size_t i = 0; i < *n; i++)
        list[i] = list[i * n_all / *n];
    return list;
}
