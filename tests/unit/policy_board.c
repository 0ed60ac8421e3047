/* policy_board.c - the board of a problem: its parts against the problem itself on random cases,
 * the bound against brute force, and every allocation failing once.
 * ACQ_CASES in the environment changes the number of cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "graph/build.h"
#include "search/literal.h"
#include "support/label_case.h"

enum { CASES = 2500, FAULT_CASES = 40, MOST_ALLOCATIONS = 500 };

static const acq_pe modes[] = {ACQ_PE_EXACT, ACQ_PE_OBSERVED, ACQ_PE_NONE};

static bool is_same_place(acq_place a, acq_place b)
{
    return a.is_variable == b.is_variable && a.id == b.id;
}

static bool says_the_same(const acq_literal *a, const acq_literal *b)
{
    bool straight = is_same_place(a->left, b->left) && is_same_place(a->right, b->right);
    bool crossed = is_same_place(a->left, b->right) && is_same_place(a->right, b->left);
    if (a->is_negated != b->is_negated || a->is_equality != b->is_equality)
        return false;
    if (a->is_equality)
        return straight || crossed;
    return (straight && a->relation == b->relation) ||
           (crossed && a->relation == acq_inverse(b->relation));
}

static void visit_leaves(const acq_branch *branch, const acq_literal **list, size_t *n)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        list[(*n)++] = &branch->literal;
    for (uint32_t i = 0; i < branch->n_children; i++)
        visit_leaves(branch->children[i], list, n);
}

static void check_terms(const acq_board *board)
{
    for (uint32_t t = 0; t < board->n_terms; t++) {
        assert_int_equal(t < board->n_free_terms, board->terms[t].variable != ACQ_NO_ID);
        for (uint32_t s = 0; s < t; s++)
            assert_false(
                is_same_place(label_case_get_place(board, t), label_case_get_place(board, s)));
        assert_true(board->terms[t].n_touches > 0);
        assert_true(board->first_edges[t + 1] > board->first_edges[t]);
    }
}

static void check_literals(const acq_board *board)
{
    for (uint32_t i = 0; i < board->n_literals; i++) {
        const acq_board_literal *l = &board->literals[i];
        assert_true(is_same_place(label_case_get_place(board, l->left), l->literal.left));
        assert_true(is_same_place(label_case_get_place(board, l->right), l->literal.right));
        for (uint32_t j = 0; j < i; j++)
            assert_false(says_the_same(&l->literal, &board->literals[j].literal));
    }
}

/* Every literal of the problem has one node, and clauses have the leaves of their trees. */
static void check_nodes(const acq_board *board, const acq_problem *problem)
{
    assert_int_equal(board->n_nodes, board->n_literal_nodes + problem->n_clauses);
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        uint32_t n_same = 0;
        for (uint32_t j = 0; j < board->n_literal_nodes; j++)
            n_same += says_the_same(&board->literals[board->nodes[j].literal].literal,
                                    &problem->literals[i]);
        assert_int_equal(n_same, 1);
    }
    for (uint32_t i = 0; i < problem->n_clauses; i++) {
        const acq_board_node *node = &board->nodes[board->n_literal_nodes + i];
        const acq_literal *leaves[64];
        size_t n = 0;
        assert_ptr_equal(node->tree, problem->clauses[i]);
        visit_leaves(node->tree, leaves, &n);
        assert_int_equal(node->n_leaves, n);
        for (size_t j = 0; j < n; j++)
            assert_true(says_the_same(leaves[j], &board->literals[node->leaves[j]].literal));
    }
}

static void check_edges(const acq_board *board)
{
    for (uint32_t t = 0; t < board->n_terms; t++) {
        uint32_t edge = board->first_edges[t];
        for (uint32_t i = 0; i < board->n_nodes; i++) {
            acq_branch branch = label_case_get_branch(board, i);
            if (!label_case_mentions(&branch, label_case_get_place(board, t)))
                continue;
            assert_int_equal(board->edge_nodes[edge], i);
            if (edge - board->first_edges[t] < board->n_literal_edges[t])
                assert_int_equal(board->terms[t].touches[edge - board->first_edges[t]].literal,
                                 board->nodes[i].literal);
            edge++;
        }
        assert_int_equal(edge, board->first_edges[t + 1]);
        assert_true(edge - board->first_edges[t] <= board->most_edges);
    }
}

static void check_truths(const acq_board *board, const label_case *c)
{
    for (uint32_t i = 0; i < board->n_literals; i++)
        for (acq_ent h = 0; h < c->base.n_entities; h++)
            for (acq_ent t = 0; t < c->base.n_entities; t++)
                assert_int_equal(acq_board_holds(board, i, h, t),
                                 label_case_holds(c, &board->literals[i].literal, h, t));
}

static void check_potential(const acq_board *board, const label_case *c)
{
    for (uint32_t t = 0; t < board->n_terms; t++)
        for (uint32_t e = board->first_edges[t]; e < board->first_edges[t + 1]; e++) {
            acq_branch branch = label_case_get_branch(board, board->edge_nodes[e]);
            for (acq_ent a = 0; a < c->base.n_entities; a++)
                assert_int_equal(acq_board_is_potential(board, t, e - board->first_edges[t], a),
                                 label_case_is_potential(c, board->pe, &branch,
                                                         label_case_get_place(board, t), a));
        }
}

static void test_a_board_says_what_the_problem_says(void **state)
{
    (void)state;
    static label_case c;
    uint64_t n_cases = label_case_count(CASES);
    for (uint64_t seed = 1; seed <= n_cases; seed++) {
        label_case_init(&c, seed);
        acq_board *board = label_case_new_board(&c, modes[seed % 3]);
        check_terms(board);
        check_literals(board);
        check_nodes(board, c.problem);
        check_edges(board);
        check_truths(board, &c);
        check_potential(board, &c);
        acq_board_free(board);
        label_case_deinit(&c);
    }
}

static double find_best(const label_case *c)
{
    case_tuple *tuples;
    double best = 0;
    size_t n = case_brute_force(&c->base, &tuples);
    for (size_t i = 0; i < n; i++)
        best = tuples[i].score > best ? tuples[i].score : best;
    free(tuples);
    return best;
}

/* How often it is reached shows that it is not just large. */
static void test_no_assignment_scores_more_than_the_bound(void **state)
{
    (void)state;
    static label_case c;
    size_t n_met = 0, n_below_one = 0, n_proved = 0;
    uint64_t n_cases = label_case_count(CASES);
    for (uint64_t seed = 1; seed <= n_cases; seed++) {
        label_case_init(&c, seed);
        if (c.problem->n_fixed == 0 && c.base.n_entities <= 9) {
            acq_board *board = label_case_new_board(&c, ACQ_PE_EXACT);
            double best = find_best(&c);
            assert_true(best <= board->bound);
            n_met += best == board->bound;
            n_below_one += best == board->bound && best < 1;
            n_proved += board->bound < board->scoring.threshold;
            if (board->why != ACQ_NO_ID)
                assert_true(board->bound < board->scoring.threshold);
            acq_board_free(board);
        }
        label_case_deinit(&c);
    }
    assert_true(n_met > 300);
    assert_true(n_below_one > 50);
    assert_true(n_proved > 20);
}

/* r(i, 0) has score i of a list; r is relation 0. */
typedef struct scored_world {
    acq_predictor predictor;
    acq_links *links[2];
} scored_world;

static acq_status open_links(const acq_predictor *self, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    (void)error;
    *out = ((const scored_world *)self)->links[relation];
    return ACQ_OK;
}

static void scored_world_init(scored_world *world, const float *scores, uint32_t n)
{
    static const acq_predictor_ops ops = {.open_links = open_links};
    acq_link links[64];
    *world = (scored_world){.predictor = {.ops = &ops, .name = "scored"}};
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < n; i++)
            links[i] = (acq_link){
                .head = side == 0 ? i : 0, .tail = side == 0 ? 0 : i, .score = scores[i]};
        assert_int_equal(acq_links_new(links, n, n, true, &world->links[side]), ACQ_OK);
    }
}

static void scored_world_deinit(scored_world *world)
{
    acq_links_free(world->links[0]);
    acq_links_free(world->links[1]);
}

/* The floats around a cut and around its complement. */
static uint32_t list_scores(float cut, float *scores)
{
    uint32_t n = 0;
    for (int side = 0; side < 2; side++) {
        float score = side == 0 ? cut : 1.0F - cut;
        for (int i = 0; i < 4; i++)
            score = nextafterf(score, 0.0F);
        for (int i = 0; i < 9; i++, score = nextafterf(score, 2.0F))
            if (score > 0.0F && score <= 1.0F)
                scores[n++] = score;
    }
    scores[n++] = 1.0F;
    return n;
}

static void check_scores(const acq_scoring *scoring, float cut)
{
    float scores[64];
    scored_world world;
    uint32_t n = list_scores(cut, scores);
    scored_world_init(&world, scores, n);
    acq_place x = {.is_variable = true, .id = 0}, y = {.is_variable = true, .id = 1};
    acq_literal literals[] = {{.left = x, .right = y}, {.is_negated = true, .left = x, .right = y}};
    acq_problem problem = {
        .n_variables = 2, .n_entities = n, .literals = literals, .n_literals = 2};
    acq_board *board = NULL;
    assert_int_equal(acq_board_new(&problem, &world.predictor, scoring, ACQ_PE_EXACT, &board, NULL),
                     ACQ_OK);
    for (uint32_t l = 0; l < 2; l++)
        for (acq_ent i = 0; i < n; i++) {
            acq_ent values[] = {i, 0};
            acq_branch branch = {.kind = ACQ_BRANCH_LITERAL, .literal = literals[l]};
            double score = acq_search_score_branch(&branch, &world.predictor, scoring, values);
            assert_int_equal(acq_board_holds(board, l, i, 0), score >= scoring->threshold);
        }
    acq_board_free(board);
    scored_world_deinit(&world);
}

static void test_literals_hold_from_the_very_float_on_that_scoring_says(void **state)
{
    (void)state;
    for (int i = 1; i <= 200; i++) {
        double cut = i / 200.0;
        acq_scoring plain = {.threshold = cut, .negation_threshold = -1};
        acq_scoring rounded = acq_scoring_round(plain);
        acq_scoring binarized = {.threshold = 0.3, .binarize = cut, .negation_threshold = -1};
        acq_scoring negation = {.threshold = 0.7, .negation_threshold = cut};
        check_scores(&plain, (float)cut);
        check_scores(&rounded, (float)cut);
        check_scores(&binarized, (float)cut);
        check_scores(&negation, (float)cut);
    }
}

#ifdef ACQ_FAULTS
static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    static label_case c;
    for (uint64_t seed = 1; seed <= FAULT_CASES; seed++) {
        acq_status status = ACQ_ERR_MEMORY;
        label_case_init(&c, seed);
        for (size_t n = 1; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
            acq_board *board = NULL;
            acq_error error = {0};
            acq_faults_fail_at(n);
            status = acq_board_new(c.problem, &c.base.predictor, &c.base.scoring, ACQ_PE_OBSERVED,
                                   &board, &error);
            acq_faults_fail_at(0);
            assert_int_equal(error.code, status);
            assert_int_equal(board == NULL, status != ACQ_OK);
            acq_board_free(board);
        }
        assert_int_equal(status, ACQ_OK);
        label_case_deinit(&c);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_board_says_what_the_problem_says),
        cmocka_unit_test(test_no_assignment_scores_more_than_the_bound),
        cmocka_unit_test(test_literals_hold_from_the_very_float_on_that_scoring_says),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
