/* worlds.c - p of random queries against a plain count: in every world every assignment is tried,
 * with entities that nobody has named among them, and the query's tree is read off link by link.
 *
 * What single links do is tested apart: as many worlds as their p says, independent of each other
 * outside the joint worlds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/worlds.h"
#include "support/case.h"
#include "support/scale.h"

enum { N_CASES = SCALE(3000, 300), MOST_ENTITIES = 9, WORDS = ACQ_N_WORLDS / 64 };

typedef struct bits {
    uint64_t words[WORDS];
} bits;

static test_case c;
/* Worlds of every link; the last entity stands for any that nobody has named. */
static bits table[CASE_MOST_RELATIONS][MOST_ENTITIES + 1][MOST_ENTITIES + 1];

static void fill_table(acq_worlds *worlds)
{
    memset(table, 0, sizeof table);
    for (uint32_t r = 0; r < c.n_relations; r++)
        for (uint32_t h = 0; h <= c.n_entities; h++)
            for (uint32_t t = 0; t <= c.n_entities; t++) {
                bits *set = &table[r][h][t];
                set->words[0] = 1;
                if (h == c.n_entities || t == c.n_entities)
                    continue;
                for (uint32_t w = 1; w < ACQ_N_WORLDS && c.table[r][h][t] > 0; w++)
                    if (acq_worlds_has(worlds, h, r, t, w))
                        set->words[w / 64] |= (uint64_t)1 << w % 64;
            }
}

static acq_ent value_of(acq_term term, const acq_ent *values)
{
    return term.is_variable ? values[term.id] : c.query->constants[term.id].id;
}

static uint32_t to_row(acq_ent value)
{
    return value < c.n_entities ? value : c.n_entities;
}

static bits read_tree(const acq_node *node, const acq_ent *values)
{
    bits set;
    memset(&set, node->kind == ACQ_NODE_OR ? 0 : 0xff, sizeof set);
    if (node->kind == ACQ_NODE_EQUAL &&
        value_of(node->left, values) != value_of(node->right, values))
        memset(&set, 0, sizeof set);
    if (node->kind == ACQ_NODE_ATOM)
        set = table[c.query->relations[node->relation].id][to_row(value_of(node->left, values))]
                   [to_row(value_of(node->right, values))];
    for (uint32_t i = 0; i < node->n_children; i++) {
        bits child = read_tree(node->children[i], values);
        for (int w = 0; w < WORDS; w++)
            set.words[w] = node->kind == ACQ_NODE_AND  ? set.words[w] & child.words[w]
                           : node->kind == ACQ_NODE_OR ? set.words[w] | child.words[w]
                                                       : ~child.words[w];
    }
    return set;
}

/* Joins the worlds of all assignments of the variables from `next` on. */
static void try_all(uint32_t next, acq_ent *values, bits *out)
{
    if (next == c.query->n_variables) {
        bits set = read_tree(c.query->root, values);
        bool has_unnamed = false;
        for (uint32_t v = 0; v < next; v++)
            has_unnamed = has_unnamed || values[v] >= c.n_entities;
        for (int w = 0; w < WORDS; w++) /* which there are in world 0 alone */
            out->words[w] |= has_unnamed ? set.words[w] & (w == 0) : set.words[w];
        return;
    }
    for (acq_ent e = 0; e < c.n_entities + c.query->n_variables; e++) {
        values[next] = e;
        try_all(next + 1, values, out);
    }
}

static double count(const bits *set)
{
    double n = 0;
    for (int w = 0; w < WORDS; w++)
        n += __builtin_popcountll(set->words[w]);
    return n / ACQ_N_WORLDS;
}

static double measure(acq_worlds *worlds, const acq_query *query, const acq_ent *values)
{
    acq_problem *problem;
    acq_budget budget;
    double p = NAN;
    acq_budget_init(&budget, 0, 0);
    assert_int_equal(acq_problem_new_fixed(query, c.n_entities, values, &problem, NULL), ACQ_OK);
    assert_int_equal(acq_worlds_measure(worlds, problem, NULL, &budget, &p, NULL), ACQ_OK);
    assert_int_equal(budget.spent, ACQ_SPENT_NOTHING);
    acq_problem_free(problem);
    return p;
}

static void test_p_is_the_share_of_worlds_with_an_assignment(void **state)
{
    (void)state;
    int n_done = 0, n_open = 0;
    for (uint64_t seed = 1; n_done < N_CASES; seed++) {
        acq_worlds *worlds;
        acq_random random = acq_random_start(seed, 5);
        acq_ent values[CASE_MOST_VARIABLES] = {0};
        bits set = {{0}};
        case_init(&c, seed);
        if (c.n_entities <= MOST_ENTITIES &&
            pow(c.n_entities + c.query->n_variables, c.query->n_variables) < 3e3) {
            bool is_open = acq_random_below(&random, 2) == 0;
            double joint = (double)acq_random_below(&random, 5) / 4;
            assert_int_equal(acq_worlds_new(&c.predictor, joint, &worlds, NULL), ACQ_OK);
            fill_table(worlds);
            for (uint32_t i = 0; i < c.query->n_free; i++)
                values[i] = (acq_ent)acq_random_below(&random, c.n_entities);
            try_all(is_open ? 0 : c.query->n_free, values, &set);
            double p = measure(worlds, c.query, is_open ? NULL : values);
            if (p != count(&set))
                fail_msg("seed %llu: p %g, counted %g", (unsigned long long)seed, p, count(&set));
            acq_worlds_free(worlds);
            n_done++;
            n_open += is_open;
        }
        case_deinit(&c);
    }
    assert_true(n_open > N_CASES / 3 && n_open < N_CASES * 2 / 3);
}

/* ---- single links ---- */

enum { PEOPLE = 40 };
static acq_links *drawn[2];

static acq_status open_drawn(const acq_predictor *self, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    (void)self;
    (void)error;
    *out = drawn[relation];
    return ACQ_OK;
}

static const acq_predictor_ops drawn_ops = {.open_links = open_drawn};

static void draw(float score)
{
    acq_link list[PEOPLE * PEOPLE];
    for (uint32_t turn = 0; turn < 2; turn++) {
        size_t n = 0;
        for (acq_ent h = 0; h < PEOPLE; h++)
            for (acq_ent t = 0; t < PEOPLE; t++)
                list[n++] = (acq_link){h, t, score};
        assert_int_equal(acq_links_new(list, n, PEOPLE, true, &drawn[turn]), ACQ_OK);
    }
}

static void test_a_link_is_true_in_as_many_worlds_as_its_p_says(void **state)
{
    (void)state;
    static const float scores[] = {.0001F, .002F, .1F, .25F, .5F, .77F, .999F, .9999F};
    acq_predictor predictor = {.ops = &drawn_ops};
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++)
        for (int joint = 0; joint <= 10; joint++) {
            acq_worlds *worlds;
            double n = 0;
            draw(scores[i]);
            assert_int_equal(acq_worlds_new(&predictor, joint / 10.0, &worlds, NULL), ACQ_OK);
            for (uint32_t w = 0; w < ACQ_N_WORLDS; w++) {
                bool has = acq_worlds_has(worlds, 3, 0, 7, w);
                assert_int_equal(has, acq_worlds_has(worlds, 7, 1, 3, w));
                n += has;
            }
            assert_true(n / ACQ_N_WORLDS == acq_worlds_get_link_p((double)scores[i]));
            assert_true(fabs(n - fmin(fmax((double)scores[i] * ACQ_N_WORLDS, 1), 2047)) <= .5001);
            assert_true(acq_worlds_has(worlds, 3, 0, 7, 0));
            acq_worlds_free(worlds);
            acq_links_free(drawn[0]);
            acq_links_free(drawn[1]);
        }
}

/* Two and three links of p 1/2 at once: 1/4 and 1/8 of the worlds when independent, on average over
 * links to a thousandth; 1/2 when joint. */
static void test_links_are_independent_outside_joint_worlds(void **state)
{
    (void)state;
    acq_predictor predictor = {.ops = &drawn_ops};
    draw(.5F);
    for (int joint = 0; joint <= 1; joint++) {
        acq_worlds *worlds;
        double pairs = 0, triples = 0, square = 0;
        uint32_t n = 0;
        assert_int_equal(acq_worlds_new(&predictor, joint, &worlds, NULL), ACQ_OK);
        for (acq_ent i = 0; i + 2 < PEOPLE; i++)
            for (acq_ent j = 0; j + 2 < PEOPLE; j += 4, n++) {
                double both = 0, all = 0;
                for (uint32_t w = 0; w < ACQ_N_WORLDS; w++) {
                    bool two = acq_worlds_has(worlds, i, 0, j, w) &&
                               acq_worlds_has(worlds, i + 1, 0, j + 1, w);
                    both += two;
                    all += two && acq_worlds_has(worlds, i + 2, 0, j + 2, w);
                }
                pairs += both / ACQ_N_WORLDS;
                triples += all / ACQ_N_WORLDS;
                square += pow(both / ACQ_N_WORLDS - .25, 2);
            }
        assert_true(fabs(pairs / n - (joint ? .5 : .25)) < .002);
        assert_true(fabs(triples / n - (joint ? .5 : .125)) < .002);
        if (!joint) /* chance alone: sqrt(1/16 / 2048) = .0055 */
            assert_true(sqrt(square / n) < .009);
        acq_worlds_free(worlds);
    }
    acq_links_free(drawn[0]);
    acq_links_free(drawn[1]);
}

/* A walk of six links in a dense graph: p is near 1, and far from it after little work. */
static void test_work_that_runs_out_gives_less(void **state)
{
    (void)state;
    acq_predictor predictor = {.ops = &drawn_ops};
    acq_literal walk[6];
    acq_problem *problem;
    acq_worlds *worlds;
    double whole = 0, p = 0;
    for (uint32_t i = 0; i < 6; i++)
        walk[i] = (acq_literal){.left = {.is_variable = i > 0, .id = i}, .right = {true, i + 1}};
    draw(.03F);
    assert_int_equal(acq_problem_new_literals(7, PEOPLE, walk, 6, &problem, NULL), ACQ_OK);
    assert_int_equal(acq_worlds_new(&predictor, 0, &worlds, NULL), ACQ_OK);
    acq_budget budget;
    acq_budget_init(&budget, 0, 0);
    budget.work_left = ACQ_WORLDS_WORK;
    assert_int_equal(acq_worlds_measure(worlds, problem, NULL, &budget, &whole, NULL), ACQ_OK);
    acq_budget_init(&budget, 0, 0);
    budget.work_left = 10000;
    assert_int_equal(acq_worlds_measure(worlds, problem, NULL, &budget, &p, NULL), ACQ_OK);
    assert_int_equal(budget.spent, ACQ_SPENT_STEPS);
    assert_true(p > 0 && p < whole && whole <= 1);
    acq_problem_free(problem);
    acq_worlds_free(worlds);
    acq_links_free(drawn[0]);
    acq_links_free(drawn[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_p_is_the_share_of_worlds_with_an_assignment),
        cmocka_unit_test(test_a_link_is_true_in_as_many_worlds_as_its_p_says),
        cmocka_unit_test(test_links_are_independent_outside_joint_worlds),
        cmocka_unit_test(test_work_that_runs_out_gives_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
