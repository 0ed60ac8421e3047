/* dense.c - the two dense networks, single precision in tiles and double on a tape, are written
 * apart and agree on random small cases; the labels they run on agree with the brute force. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/case.h"
#include "support/dense_policy.h"
#include "support/dense_tape.h"

enum { CASES = 150, STEPS = 8, LABEL_CASES = 2000 };

static const uint32_t dims[] = {4, 8, 16, 20, 32};

static void draw_values(const test_case *c, acq_random *random, acq_ent *values)
{
    for (uint32_t i = 0; i < c->query->n_variables; i++)
        values[i] = (acq_ent)acq_random_below(random, c->n_entities);
}

static void compare_steps(test_case *c, dense_graph *graph, const dense_weights *weights,
                          uint64_t seed)
{
    acq_random random = acq_random_start(seed, 5);
    acq_ent values[CASE_MOST_VARIABLES];
    dense_policy *policy = dense_policy_new(weights, graph);
    dense_tape t;
    dense_tape_init(&t, weights, graph);
    for (int step = 0; step < STEPS; step++) {
        draw_values(c, &random, values);
        dense_graph_assign(graph, values);
        dense_policy_step(policy);
        const double *wanted = tape_get(t.tape, dense_tape_step(&t));
        for (size_t i = 0; i < graph->n_values; i++)
            if (fabs(dense_policy_get_logits(policy)[i] - wanted[i]) > 1e-4)
                fail_msg("seed %lu, d = %u, step %d, value %zu: %g, not %g", seed, weights->dim,
                         step, i, (double)dense_policy_get_logits(policy)[i], wanted[i]);
    }
    dense_tape_deinit(&t);
    dense_policy_free(policy);
}

static void test_the_two_dense_networks_agree(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        test_case c;
        acq_problem *problem = NULL;
        dense_weights weights;
        case_init(&c, seed);
        assert_int_equal(acq_problem_new(c.query, c.n_entities, &problem, NULL), ACQ_OK);
        dense_graph *graph = dense_graph_new(problem, &c.predictor, &c.scoring, DENSE_PE_EXACT);
        dense_weights_init_random(&weights, dims[seed % 5], seed, 1);
        compare_steps(&c, graph, &weights, seed);
        dense_weights_deinit(&weights);
        dense_graph_free(graph);
        acq_problem_free(problem);
        case_deinit(&c);
    }
}

/* The query holds when every node does; a node says so at any of its edges. */
static bool all_nodes_hold(const dense_graph *graph)
{
    for (uint32_t i = 0; i < graph->n_terms; i++) {
        const dense_term *term = &graph->terms[i];
        size_t a = dense_graph_get_chosen(graph, i) - term->first_value;
        for (uint32_t e = 0; e < term->n_edges; e++)
            if ((term->labels[(size_t)e * term->n_values + a] & 1) == 0)
                return false;
    }
    return true;
}

/* What may hold under this assignment has potential. */
static bool potentials_are_sound(const dense_graph *graph)
{
    for (uint32_t i = 0; i < graph->n_terms; i++)
        for (size_t k = 0; k < (size_t)graph->terms[i].n_edges * graph->terms[i].n_values; k++)
            if (graph->terms[i].labels[k] == 1)
                return false;
    return true;
}

static bool has_false_clause(const acq_problem *problem)
{
    return problem->n_clauses > 0 && problem->clauses[0]->n_children == 0;
}

static void test_labels_agree_with_brute_force(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= LABEL_CASES; seed++) {
        test_case c;
        acq_problem *problem = NULL;
        acq_random random = acq_random_start(seed, 6);
        acq_ent values[CASE_MOST_VARIABLES];
        case_init(&c, seed);
        assert_int_equal(acq_problem_new(c.query, c.n_entities, &problem, NULL), ACQ_OK);
        dense_graph *graph = dense_graph_new(problem, &c.predictor, &c.scoring, DENSE_PE_EXACT);
        for (int k = 0; k < 10; k++) {
            draw_values(&c, &random, values);
            dense_graph_assign(graph, values);
            bool holds = case_score(&c, values) >= c.scoring.threshold;
            if (holds != (all_nodes_hold(graph) && !has_false_clause(problem)))
                fail_msg("seed %lu: labels say %d", seed, !holds);
            if (!potentials_are_sound(graph))
                fail_msg("seed %lu: a value without potential lets a node hold", seed);
        }
        dense_graph_free(graph);
        acq_problem_free(problem);
        case_deinit(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels_agree_with_brute_force),
        cmocka_unit_test(test_the_two_dense_networks_agree),
    };
    return cmocka_run_group_tests_name("dense networks", tests, NULL, NULL);
}
