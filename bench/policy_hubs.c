/* policy_hubs.c - the policy search on hub-like queries drawn from a graph (query/sample/sampler.h).
 *
 *   bench_policy_hubs steps NAME GRAPH WEIGHTS N
 *   bench_policy_hubs answers NAME GRAPH WEIGHTS N
 *
 * steps: N queries of each size from 3 to 20 terms take all 200 steps; one line per query says
 * what a step takes. answers: N queries of 12 to 18 terms run until they are solved; one line sums
 * them up. Every query has the answer that it was read off, which is checked first, as is every
 * answer that the search gives, literal by literal. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common.h"
#include "policy_run.h"

#include "base/memory.h"
#include "store/store.h"
#include "query/sample/sampler.h"

enum { LEAST_TERMS = 3, MOST_TERMS = 20, ANSWERS_LEAST = 12, ANSWERS_MOST = 18, SEED = 7 };

typedef struct bench {
    const char *graph_name;
    acq_graph *graph;
    acq_predictor *predictor;
    acq_sampler *sampler;
    acq_policy *policy;
    size_t n;
} bench;

static acq_ent get_value(acq_place place, const acq_ent *values)
{
    return place.is_variable ? values[place.id] : place.id;
}

static void check_answer(const bench *b, const acq_problem *problem, const acq_ent *values,
                         const char *whose)
{
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *literal = &problem->literals[i];
        float score = acq_predictor_get_score(b->predictor, get_value(literal->left, values),
                                              literal->relation, get_value(literal->right, values));
        if ((score > 0) == literal->is_negated)
            bench_die("%s answer does not satisfy literal %u", whose, i + 1);
    }
}

static policy_case draw(const bench *b, uint32_t least, uint32_t most, uint64_t number)
{
    acq_hub_params params = ACQ_HUB_DEFAULT;
    acq_ent values[MOST_TERMS];
    acq_error error = {0};
    policy_case one = {.stream = number};
    acq_random random = acq_random_start(SEED, number);
    params.least_terms = least;
    params.most_terms = most;
    bench_need(acq_sampler_draw_hub(b->sampler, &params, &random, &one.problem, values, &error),
               &error);
    check_answer(b, one.problem, values, "the planted");
    return one;
}

/* As a user would run it. */
static void check_search(const bench *b, const policy_case *one)
{
    acq_ent values[MOST_TERMS];
    policy_setting setting = {.predictor = b->predictor, .policy = b->policy};
    if (policy_search(one, &setting, values).answered)
        check_answer(b, one->problem, values, "the search's");
}

static json_t *pack_head(const bench *b, const char *kind)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:s, s:I}", "kind", kind, "graph", b->graph_name,
                     "entities", (json_int_t)acq_graph_get_n_entities(b->graph), "facts",
                     (json_int_t)acq_graph_get_n_facts(b->graph), "weights", b->policy->name, "dim",
                     (json_int_t)b->policy->dim);
}

static void measure_steps(const bench *b, uint32_t terms)
{
    policy_setting setting = {b->predictor, b->policy, .all_steps = true};
    for (size_t i = 0; i < b->n; i++) {
        policy_case one = draw(b, terms, terms, terms * b->n + i);
        const policy_case *list = &one;
        check_search(b, &one);
        policy_tally tally = policy_measure(&list, 1, &setting);
        json_t *line = pack_head(b, "policy-steps");
        json_object_update_new(line, json_pack("{s:I, s:I, s:I}", "terms", (json_int_t)terms,
                                               "variables", (json_int_t)one.problem->n_variables,
                                               "literals", (json_int_t)one.problem->n_literals));
        json_object_update_new(line, policy_pack_tally(&tally));
        if (tally.steps > 0)
            bench_print_line(line);
        else
            json_decref(line);
        acq_problem_free(one.problem);
    }
}

static double get_process_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1e-3;
}

static void measure_answers(const bench *b)
{
    policy_setting setting = {.predictor = b->predictor, .policy = b->policy};
    policy_case *cases = acq_alloc(b->n, sizeof *cases);
    const policy_case **list = acq_alloc(b->n, sizeof *list);
    if (cases == NULL || list == NULL)
        bench_die("out of memory");
    for (size_t i = 0; i < b->n; i++) {
        cases[i] = draw(b, ANSWERS_LEAST, ANSWERS_MOST, i);
        list[i] = &cases[i];
        check_search(b, &cases[i]);
    }
    policy_tally tally = policy_measure(list, b->n, &setting);
    json_t *line = pack_head(b, "policy-large");
    json_object_update_new(line, policy_pack_tally(&tally));
    json_object_set_new(line, "process_mb", json_real(get_process_mb()));
    bench_print_line(line);
    for (size_t i = 0; i < b->n; i++)
        acq_problem_free(cases[i].problem);
    acq_free(cases);
    acq_free(list);
}

int main(int argc, char **argv)
{
    bool is_steps = argc == 6 && strcmp(argv[1], "steps") == 0;
    if (argc != 6 || (!is_steps && strcmp(argv[1], "answers") != 0))
        bench_die("bench_policy_hubs steps|answers NAME GRAPH WEIGHTS N");
    acq_error error = {0};
    acq_read_params read = {.strict = true};
    bench b = {.graph_name = argv[2], .n = strtoul(argv[5], NULL, 10)};
    bench_need(acq_graph_open_path(argv[3], &read, &b.graph, NULL, &error), &error);
    bench_need(acq_predictor_new_observed(b.graph, &b.predictor, &error), &error);
    bench_need(acq_sampler_new(b.graph, &b.sampler, &error), &error);
    bench_need(acq_policy_open(argv[4], 1, &b.policy, &error), &error);
    for (uint32_t terms = LEAST_TERMS; is_steps && terms <= MOST_TERMS; terms++)
        measure_steps(&b, terms);
    if (!is_steps && b.n > 0)
        measure_answers(&b);
    acq_policy_free(b.policy);
    acq_sampler_free(b.sampler);
    acq_predictor_free(b.predictor);
    acq_graph_free(b.graph);
    return 0;
}
