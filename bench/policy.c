/* policy.c - the policy search timed on queries of one graph, one thread, median of five.
 *
 *   bench_policy NAME OBSERVED PREDICTOR WEIGHTS N_EARLY N_ALL FILE...
 *
 * N_EARLY queries of each file with an answer and as many without one run as a user would run
 * them, and end when the score cannot improve; N_ALL of each are made to take all 200 steps. 0
 * leaves that part out. Before anything is timed the answers are checked: the engine's verifier
 * scores each again, and none may be better than what exact search proved to be the best. One
 * JSON object per line. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "gemm.h"
#include "peak.h"
#include "policy_cases.h"
#include "queries.h"

#include "base/memory.h"
#include "engine/open.h"

typedef struct bench {
    const char *graph_name, *world;
    policy_setting setting;
    size_t n_early, n_all;
    double peak; /* GFLOPS */
} bench;

static const double SAME_SCORE = 1e-9;

static void check(const bench *b, const policy_cases *cases, const policy_case *one)
{
    size_t i = (size_t)(one - cases->items);
    double score = policy_search(one, &b->setting, NULL).score;
    if (score > cases->best[i] + SAME_SCORE)
        bench_die("%s: query %zu scores %g, more than exact search proved possible (%g)",
                  cases->name, i + 1, score, cases->best[i]);
}

static void measure(const bench *b, const policy_cases *cases, bool all_steps, bool with_answer)
{
    size_t n;
    policy_setting setting = b->setting;
    const policy_case **list =
        policy_cases_pick(cases, with_answer, all_steps ? b->n_all : b->n_early, &n);
    setting.all_steps = all_steps;
    for (size_t i = 0; i < n; i++)
        check(b, cases, list[i]);
    if (n > 0) {
        policy_tally tally = policy_measure(list, n, &setting);
        json_t *line =
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:b, s:b, s:f}", "kind", "policy", "graph",
                      b->graph_name, "file", cases->name, "world", b->world, "weights",
                      setting.policy->name, "dim", (json_int_t)setting.policy->dim, "all_steps",
                      all_steps, "with_answer", with_answer, "peak", b->peak);
        json_object_update_new(line, policy_pack_tally(&tally));
        bench_print_line(line);
    }
    acq_free(list);
}

static void run_file(const bench *b, const char *path)
{
    policy_cases cases;
    policy_cases_init(&cases, path, b->setting.predictor);
    for (int all_steps = 0; all_steps < 2; all_steps++) {
        measure(b, &cases, all_steps, true);
        measure(b, &cases, all_steps, false);
    }
    policy_cases_deinit(&cases);
}

/* "perfect" of "perfect:FILE" */
static const char *name_world(char *spec, size_t size, const char *predictor)
{
    size_t length = strcspn(predictor, ":");
    if (length >= size)
        bench_die("%s is no predictor", predictor);
    memcpy(spec, predictor, length);
    spec[length] = '\0';
    return spec;
}

int main(int argc, char **argv)
{
    if (argc < 8)
        bench_die("bench_policy NAME OBSERVED PREDICTOR WEIGHTS N_EARLY N_ALL FILE...");
    acq_error error = {0};
    acq_predictor *predictor;
    acq_policy *policy;
    char world[32];
    acq_graph *observed = bench_read_graph(argv[2]);
    bench_need(acq_predictor_open(observed, argv[3], NULL, &predictor, NULL, &error), &error);
    bench_need(acq_policy_open(argv[4], 1, &policy, &error), &error);
    bench b = {.graph_name = argv[1],
               .world = name_world(world, sizeof world, argv[3]),
               .setting = {.predictor = predictor, .policy = policy},
               .n_early = strtoul(argv[5], NULL, 10),
               .n_all = strtoul(argv[6], NULL, 10),
               .peak = bench_measure_peak(policy->kernels)};
    bench_print_line(json_pack("{s:s, s:s, s:f, s:f}", "kind", "peak", "kernels",
                               policy->kernels->name, "gflops", b.peak, "machine",
                               gemm_get_peak()));
    for (int i = 7; i < argc; i++)
        run_file(&b, argv[i]);
    acq_policy_free(policy);
    acq_predictor_free(predictor);
    acq_graph_free(observed);
    return 0;
}
