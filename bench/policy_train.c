/* policy_train.c - how many episodes a second the training of the policy takes.
 *
 *   bench_policy_train NAME GRAPH BATCHES THREADS SEEDS
 *
 * The shipped configuration on the nine small shapes, without the queries kept aside that choose
 * the best weights. At first nothing is solved and every episode takes all its steps, so the first
 * hundred batches of a seed are reported apart from the whole. One JSON line. */
#include <math.h>
#include <stdlib.h>

#include "common.h"
#include "queries.h"

#include "train/train.h"

enum { FIRST_BATCHES = 100 };

/* Before every batch of every seed the training asks whether to stop: a clock. */
typedef struct stopwatch {
    uint64_t n_seeds, n_asked;
    double first, marked, last; /* ms */
} stopwatch;

static bool note_batch(void *context)
{
    stopwatch *watch = context;
    watch->last = bench_now_ms();
    if (watch->n_asked++ == 0)
        watch->first = watch->last;
    if (watch->n_asked == FIRST_BATCHES * watch->n_seeds + 1)
        watch->marked = watch->last;
    return false;
}

static acq_train_policy_params make_params(stopwatch *watch, uint64_t batches, unsigned threads)
{
    acq_train_policy_params params;
    acq_train_policy_params_init(&params);
    params.n_seeds = (uint32_t)watch->n_seeds;
    params.n_threads = threads;
    params.batches = batches;
    params.hub_share = 0;
    params.held_queries = params.held_steps = 1;
    params.should_stop = note_batch;
    params.context = watch;
    return params;
}

/* Share of the episodes solved at the end, mean over the seeds. */
static double get_last_solved(const acq_train_policy_result *result, size_t n_seeds)
{
    const acq_curve *curve = &result->curve;
    double sum = 0;
    for (size_t i = 0; i < n_seeds; i++) {
        double last = NAN;
        for (size_t j = 0; j < curve->n; j++)
            if (curve->points[j].seed == i + 1 && !isnan(curve->points[j].solved))
                last = curve->points[j].solved;
        sum += last;
    }
    return sum / (double)n_seeds;
}

/* Episodes a second of n batches in some milliseconds. */
static double get_rate(const acq_train_policy_result *result, uint64_t n_batches, double ms)
{
    double per_batch = (double)result->episodes / (double)result->batches;
    return (double)n_batches * per_batch / ms * 1e3;
}

/* The last batch of each seed is not followed by a question: it is not timed. */
static void print_result(const char *graph_name, const acq_train_policy_params *params,
                         const acq_train_policy_result *result, const stopwatch *watch)
{
    double rate = get_rate(result, watch->n_asked - watch->n_seeds, watch->last - watch->first);
    double first = get_rate(result, FIRST_BATCHES * watch->n_seeds, watch->marked - watch->first);
    bench_print_line(json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:f, s:f}", "kind",
                               "policy-train", "graph", graph_name, "dim", (json_int_t)params->dim,
                               "threads", (json_int_t)params->n_threads, "seeds",
                               (json_int_t)watch->n_seeds, "batches", (json_int_t)params->batches,
                               "episodes", (json_int_t)result->episodes, "rate", rate, "first_rate",
                               watch->marked > 0 ? json_real(first) : json_null(), "seconds",
                               result->seconds, "solved", get_last_solved(result, watch->n_seeds)));
}

int main(int argc, char **argv)
{
    if (argc != 6)
        bench_die("bench_policy_train NAME GRAPH BATCHES THREADS SEEDS");
    acq_error error = {0};
    acq_train_policy_result result;
    stopwatch watch = {.n_seeds = strtoul(argv[5], NULL, 10)};
    unsigned threads = (unsigned)strtoul(argv[4], NULL, 10);
    acq_train_policy_params params = make_params(&watch, strtoull(argv[3], NULL, 10), threads);
    acq_graph *graph = bench_read_graph(argv[2]);
    const acq_graph *graphs[] = {graph};
    bench_need(acq_train_policy(graphs, 1, &params, &result, &error), &error);
    print_result(argv[1], &params, &result, &watch);
    acq_train_policy_result_deinit(&result);
    acq_graph_free(graph);
    return 0;
}
