/* train_shared.c - queries drawn from the published FB15k-237 training graph, where it is present:
 * $ACQ_SHARED/data or ../shared/data beside the sources. Prints what they look like and how long
 * they take. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/budget.h"
#include "graph/text/read.h"
#include "query/sample/sampler.h"

enum { SMALL = 3000, HUBS = 500, MOST_RELATIONS = 1000 };

typedef struct fixture {
    acq_graph *graph;
    acq_sampler *sampler;
} fixture;

/* Leaves both NULL when the graph is not there. */
static int set_up(void **state)
{
    static fixture f;
    char path[4096];
    const char *shared = getenv("ACQ_SHARED");
    snprintf(path, sizeof path, "%s/data/FB15k-237",
             shared != NULL ? shared : ACQ_SOURCE_DIR "/../shared");
    *state = &f;
    if (access(path, R_OK) != 0) {
        print_message("skipped: %s is not there\n", path);
        return 0;
    }
    const char *const paths[] = {path};
    acq_read_params params = {.split = "train"};
    return acq_graph_read(paths, 1, &params, &f.graph, NULL, NULL) != ACQ_OK ||
           acq_sampler_new(f.graph, &f.sampler, NULL) != ACQ_OK;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    acq_sampler_free(f->sampler);
    acq_graph_free(f->graph);
    return 0;
}

static acq_ent get_value(acq_place place, const acq_ent *answer)
{
    return place.is_variable ? answer[place.id] : place.id;
}

static void check(const fixture *f, const acq_problem *problem, const acq_ent *answer)
{
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *l = &problem->literals[i];
        acq_ent left = get_value(l->left, answer), right = get_value(l->right, answer);
        assert_true(acq_graph_has_fact(f->graph, left, l->relation, right) != l->is_negated);
    }
}

/* In bits. */
static double compute_entropy(const double *counts, size_t n)
{
    double total = 0, entropy = 0;
    for (size_t i = 0; i < n; i++)
        total += counts[i];
    for (size_t i = 0; i < n; i++)
        entropy -= counts[i] > 0 ? counts[i] / total * log2(counts[i] / total) : 0;
    return entropy;
}

static double compute_entropy_of_facts(const acq_graph *graph)
{
    double counts[MOST_RELATIONS] = {0};
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++) {
        const acq_links *links = NULL;
        assert_int_equal(acq_graph_open_links(graph, r, &links, NULL), ACQ_OK);
        counts[r] = links->n_links;
    }
    return compute_entropy(counts, acq_graph_get_n_relations(graph));
}

/* Every shape fits somewhere in this graph, so none falls back to a smaller one. */
static void test_small_queries_are_true_and_varied(void **state)
{
    const fixture *f = *state;
    static const uint32_t n_atoms[] = {
#define N_ATOMS(name, n_positive, n_negated) n_positive + n_negated,
        ACQ_SHAPES(N_ATOMS)};
    double counts[MOST_RELATIONS] = {0};
    if (f->sampler == NULL)
        return;
    for (uint64_t i = 0; i < SMALL; i++) {
        acq_random random = acq_random_start(1, i);
        acq_shape_id shape = (acq_shape_id)(i % ACQ_N_SHAPES);
        acq_problem *problem = NULL;
        acq_ent answer[4];
        assert_int_equal(acq_sampler_draw_shape(f->sampler, shape, &random, &problem, answer, NULL),
                         ACQ_OK);
        check(f, problem, answer);
        assert_int_equal(problem->n_literals, n_atoms[shape]);
        for (uint32_t k = 0; k < problem->n_literals; k++)
            counts[problem->literals[k].relation]++;
        acq_problem_free(problem);
    }
    double drawn = compute_entropy(counts, acq_graph_get_n_relations(f->graph));
    double facts = compute_entropy_of_facts(f->graph);
    print_message("entropy of relations: %.2f bits in queries, %.2f in facts\n", drawn, facts);
    assert_true(drawn > facts);
}

static void test_hub_queries_are_true_and_of_their_size(void **state)
{
    const fixture *f = *state;
    acq_hub_params params = ACQ_HUB_DEFAULT;
    double n_atoms = 0, n_variables = 0;
    params.least_terms = 12;
    params.most_terms = 16;
    if (f->sampler == NULL)
        return;
    for (uint64_t i = 0; i < HUBS; i++) {
        acq_random random = acq_random_start(2, i);
        acq_problem *problem = NULL;
        acq_ent answer[16];
        assert_int_equal(acq_sampler_draw_hub(f->sampler, &params, &random, &problem, answer, NULL),
                         ACQ_OK);
        check(f, problem, answer);
        n_atoms += problem->n_literals;
        n_variables += problem->n_variables;
        acq_problem_free(problem);
    }
    print_message("hub-like queries of 12 to 16 terms: %.1f atoms, %.1f variables\n",
                  n_atoms / HUBS, n_variables / HUBS);
    assert_true(n_atoms / HUBS > 15 && n_atoms / HUBS < 50);
    assert_true(n_variables / HUBS > 8 && n_variables / HUBS < 15);
}

static void test_queries_take_microseconds(void **state)
{
    const fixture *f = *state;
    acq_hub_params params = ACQ_HUB_DEFAULT;
    params.least_terms = params.most_terms;
    if (f->sampler == NULL)
        return;
    for (int is_hub = 0; is_hub < 2; is_hub++) {
        int64_t start = acq_clock_ns();
        for (uint64_t i = 0; i < HUBS; i++) {
            acq_random random = acq_random_start(3, i);
            acq_shape_id shape = (acq_shape_id)(i % ACQ_N_SHAPES);
            acq_problem *problem = NULL;
            acq_status status =
                is_hub ? acq_sampler_draw_hub(f->sampler, &params, &random, &problem, NULL, NULL)
                       : acq_sampler_draw_shape(f->sampler, shape, &random, &problem, NULL, NULL);
            assert_int_equal(status, ACQ_OK);
            acq_problem_free(problem);
        }
        print_message("%s: %.1f us a query\n", is_hub ? "hub-like, 14 terms" : "small",
                      (double)(acq_clock_ns() - start) / 1e3 / HUBS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_queries_are_true_and_varied),
        cmocka_unit_test(test_hub_queries_are_true_and_of_their_size),
        cmocka_unit_test(test_queries_take_microseconds),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
