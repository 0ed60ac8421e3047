/* policy_walk.c - walks against the definition of labels and classes, value by value, on random
 * cases and random assignments; drawing, copying, and every allocation failing once.
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
#include "search/policy/walk.h"
#include "support/label_case.h"

enum {
    CASES = 2500,
    FAULT_CASES = 25,
    MOST_STEPS = 12,
    MOST_ALLOCATIONS = 2000,
    MOST_TERMS = 24,
    LEAST_PER_FEATURE = 100
};

static const acq_pe modes[] = {ACQ_PE_EXACT, ACQ_PE_EXACT, ACQ_PE_OBSERVED, ACQ_PE_NONE};

/* What the definition says of every value of every term. */
typedef struct history {
    const label_case *c;
    const acq_board *board;
    acq_ent values[CASE_MOST_VARIABLES]; /* of the problem's variables */
    bool is_set;
    uint32_t groups[MOST_TERMS][CASE_MOST_ENTITIES];  /* values with equal histories */
    uint32_t classes[MOST_TERMS][CASE_MOST_ENTITIES]; /* of the walk at the step before */
} history;

static uint8_t label_of(const history *h, uint32_t term, uint32_t edge, acq_ent a)
{
    acq_branch node = label_case_get_branch(h->board, h->board->edge_nodes[edge]);
    acq_place z = label_case_get_place(h->board, term);
    bool is_light = h->is_set && label_case_is_light(h->c, &node, z, a, h->values);
    return (uint8_t)(2 * label_case_is_potential(h->c, h->board->pe, &node, z, a) + is_light);
}

static bool is_assigned(const history *h, uint32_t term, acq_ent a)
{
    acq_place z = label_case_get_place(h->board, term);
    return !z.is_variable || (h->is_set && h->values[z.id] == a);
}

/* The values of a term in order; a constant has one. */
static acq_ent value_at(const history *h, uint32_t term, uint32_t i)
{
    acq_place z = label_case_get_place(h->board, term);
    return z.is_variable ? i : z.id;
}

static uint32_t count_values(const history *h, uint32_t term)
{
    return term < h->board->n_free_terms ? h->c->base.n_entities : 1;
}

static void check_labels(const history *h, const acq_walk *walk, uint32_t term)
{
    const acq_board *board = h->board;
    uint32_t first = board->first_edges[term], end = board->first_edges[term + 1];
    for (uint32_t i = 0; i < count_values(h, term); i++) {
        acq_ent a = value_at(h, term, i);
        uint32_t c = acq_walk_find_class(walk, term, a);
        assert_int_equal(walk->class_terms[c], term);
        assert_int_equal(walk->assigned[c], is_assigned(h, term, a));
        for (uint32_t e = first; e < end; e++)
            assert_int_equal(walk->labels[(size_t)c * board->most_edges + e - first],
                             label_of(h, term, e, a));
    }
}

static bool look_alike(const history *h, uint32_t term, acq_ent a, acq_ent b)
{
    if (is_assigned(h, term, a) != is_assigned(h, term, b))
        return false;
    for (uint32_t e = h->board->first_edges[term]; e < h->board->first_edges[term + 1]; e++)
        if (label_of(h, term, e, a) != label_of(h, term, e, b))
            return false;
    return true;
}

/* The group of a value is the first value with the same history. */
static void refine(history *h, uint32_t term)
{
    uint32_t n = count_values(h, term), groups[CASE_MOST_ENTITIES];
    for (uint32_t i = 0; i < n; i++) {
        groups[i] = i;
        for (uint32_t j = 0; j < i && groups[i] == i; j++)
            if (groups[j] == j && h->groups[term][i] == h->groups[term][j] &&
                look_alike(h, term, value_at(h, term, i), value_at(h, term, j)))
                groups[i] = j;
    }
    memcpy(h->groups[term], groups, n * sizeof *groups);
}

/* One class, one history; and the other way round where no clause is in play. */
static void check_partition(const history *h, const acq_walk *walk, uint32_t term)
{
    uint32_t n = count_values(h, term);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++) {
            bool is_one_class =
                acq_walk_find_class(walk, term, i) == acq_walk_find_class(walk, term, j);
            bool is_one_group = h->groups[term][i] == h->groups[term][j];
            if (h->c->problem->n_clauses == 0)
                assert_int_equal(is_one_class, is_one_group);
            else
                assert_true(!is_one_class || is_one_group);
        }
}

static void check_origins(history *h, const acq_walk *walk, uint32_t term)
{
    for (uint32_t i = 0; i < count_values(h, term); i++) {
        uint32_t c = acq_walk_find_class(walk, term, value_at(h, term, i));
        if (h->is_set)
            assert_int_equal(walk->origins[c], h->classes[term][i]);
        h->classes[term][i] = c;
    }
}

static void check_walk(history *h, const acq_walk *walk)
{
    const char *why = acq_walk_check(walk);
    if (why != NULL)
        fail_msg("%s", why);
    for (uint32_t t = 0; t < h->board->n_terms; t++) {
        check_labels(h, walk, t);
        refine(h, t);
        check_partition(h, walk, t);
        check_origins(h, walk, t);
    }
}

/* Some variables move, sometimes none, sometimes back to where they were. */
static void draw_values(const acq_walk *walk, acq_random *random, acq_ent *values)
{
    acq_ent fresh[CASE_MOST_VARIABLES];
    uint64_t way = acq_random_below(random, 4);
    acq_walk_draw_uniform(walk, random, fresh);
    for (uint32_t t = 0; t < walk->board->n_free_terms; t++)
        if (!walk->is_set || way == 0 || acq_random_below(random, way) == 0)
            values[t] = fresh[t];
}

static void step(history *h, acq_walk *walk, acq_random *random, acq_ent *values)
{
    acq_ent assignment[CASE_MOST_VARIABLES];
    uint32_t n_before = walk->n_classes;
    draw_values(walk, random, values);
    assert_int_equal(acq_walk_set(walk, values), ACQ_OK);
    assert_int_equal(walk->n_before, n_before);
    acq_walk_get_assignment(walk, assignment);
    for (uint32_t t = 0; t < h->board->n_free_terms; t++) {
        h->values[h->board->terms[t].variable] = values[t];
        assert_int_equal(assignment[h->board->terms[t].variable], values[t]);
    }
    h->is_set = true;
    check_walk(h, walk);
}

/* What the cases have to contain. */
typedef struct coverage {
    size_t n_features[CASE_N_FEATURES];
    size_t n_equal, n_nested, n_fixed, n_sizes[CASE_MOST_ENTITIES + 1];
} coverage;

static bool has_and(const acq_branch *branch)
{
    for (uint32_t i = 0; i < branch->n_children; i++)
        if (branch->children[i]->kind == ACQ_BRANCH_AND || has_and(branch->children[i]))
            return true;
    return false;
}

static void note_case(coverage *seen, const label_case *c)
{
    bool is_equal = false, is_nested = false;
    for (int i = 0; i < CASE_N_FEATURES; i++)
        seen->n_features[i] += c->base.features[i];
    for (uint32_t i = 0; i < c->problem->n_literals; i++)
        is_equal |= c->problem->literals[i].is_equality && !c->problem->literals[i].is_negated;
    for (uint32_t i = 0; i < c->problem->n_clauses; i++)
        is_nested |= has_and(c->problem->clauses[i]);
    seen->n_equal += is_equal;
    seen->n_nested += is_nested;
    seen->n_fixed += c->problem->n_fixed > 0;
    seen->n_sizes[c->base.n_entities]++;
}

static void check_coverage(const coverage *seen)
{
    for (int i = 0; i < CASE_N_FEATURES; i++)
        assert_true(seen->n_features[i] >= LEAST_PER_FEATURE);
    assert_true(seen->n_equal >= LEAST_PER_FEATURE);
    assert_true(seen->n_nested >= LEAST_PER_FEATURE);
    assert_true(seen->n_fixed >= LEAST_PER_FEATURE);
    for (int n = 1; n <= 30; n++)
        assert_true(seen->n_sizes[n] > 0);
}

static void test_labels_classes_and_origins_are_those_of_the_definition(void **state)
{
    (void)state;
    static label_case c;
    coverage seen = {0};
    uint64_t n_cases = label_case_count(CASES);
    for (uint64_t seed = 1; seed <= n_cases; seed++) {
        acq_random random = acq_random_start(seed, 3);
        label_case_init(&c, seed);
        note_case(&seen, &c);
        acq_board *board = label_case_new_board(&c, modes[seed % 4]);
        static history h;
        h = (history){.c = &c, .board = board};
        acq_ent values[CASE_MOST_VARIABLES] = {0};
        acq_walk walk;
        assert_int_equal(acq_walk_init(&walk, board), ACQ_OK);
        assert_int_equal(walk.n_before, 0);
        check_walk(&h, &walk);
        uint64_t n_steps = 2 + acq_random_below(&random, MOST_STEPS - 1);
        for (uint64_t i = 0; i < n_steps; i++)
            step(&h, &walk, &random, values);
        acq_walk_deinit(&walk);
        acq_board_free(board);
        label_case_deinit(&c);
    }
    if (n_cases >= CASES)
        check_coverage(&seen);
}

static void check_same(const acq_walk *a, const acq_walk *b)
{
    const acq_board *board = a->board;
    size_t n = a->n_classes;
    assert_int_equal(b->n_classes, n);
    assert_int_equal(a->n_before, b->n_before);
    assert_memory_equal(a->class_terms, b->class_terms, n * sizeof *a->class_terms);
    assert_memory_equal(a->sizes, b->sizes, n * sizeof *a->sizes);
    assert_memory_equal(a->origins, b->origins, n * sizeof *a->origins);
    assert_memory_equal(a->assigned, b->assigned, n);
    assert_memory_equal(a->labels, b->labels, n * board->most_edges);
    for (uint32_t c = 0; c < n; c++)
        for (uint64_t i = 0; i < 3; i++) {
            acq_random one = acq_random_start(i, c), other = one;
            assert_int_equal(acq_walk_draw_member(a, c, &one), acq_walk_draw_member(b, c, &other));
        }
}

static void test_a_copy_goes_the_way_of_the_original(void **state)
{
    (void)state;
    static label_case c;
    uint64_t n_cases = label_case_count(CASES);
    for (uint64_t seed = 1; seed <= n_cases / 4; seed++) {
        acq_random random = acq_random_start(seed, 4);
        label_case_init(&c, seed);
        acq_board *board = label_case_new_board(&c, modes[seed % 4]);
        acq_ent values[CASE_MOST_VARIABLES] = {0};
        acq_walk walk, copy;
        assert_int_equal(acq_walk_init(&walk, board), ACQ_OK);
        assert_int_equal(acq_walk_init_copy(&copy, &walk), ACQ_OK);
        for (int i = 0; i < 4; i++) {
            check_same(&walk, &copy);
            draw_values(&walk, &random, values);
            assert_int_equal(acq_walk_set(&walk, values), ACQ_OK);
            assert_int_equal(acq_walk_set(&copy, values), ACQ_OK);
        }
        assert_null(acq_walk_check(&copy));
        acq_walk_deinit(&walk);
        acq_walk_deinit(&copy);
        acq_board_free(board);
        label_case_deinit(&c);
    }
}

/* Draws 100 a member, and asks for a chi-square within six deviations of its mean. */
static void check_uniform(const acq_walk *walk, uint32_t class_number, uint32_t *counts)
{
    uint32_t n = walk->sizes[class_number], term = walk->class_terms[class_number];
    acq_random random = acq_random_start(class_number, n);
    double chi = 0;
    memset(counts, 0, walk->board->n_entities * sizeof *counts);
    for (uint32_t i = 0; i < 100 * n; i++) {
        acq_ent value = acq_walk_draw_member(walk, class_number, &random);
        assert_int_equal(acq_walk_find_class(walk, term, value), class_number);
        counts[value]++;
    }
    for (acq_ent e = 0; e < walk->board->n_entities; e++)
        if (counts[e] > 0)
            chi += (counts[e] - 100.0) * (counts[e] - 100.0) / 100.0;
        else if (term < walk->board->n_free_terms)
            chi += acq_walk_find_class(walk, term, e) == class_number ? 100.0 : 0.0;
    assert_true(chi < n - 1 + 6 * sqrt(2.0 * n) + 6);
}

static void test_members_are_drawn_uniformly_from_their_class(void **state)
{
    (void)state;
    static label_case c;
    uint32_t counts[CASE_MOST_ENTITIES];
    for (uint64_t seed = 1; seed <= 120; seed++) {
        acq_random random = acq_random_start(seed, 5);
        label_case_init(&c, seed);
        acq_board *board = label_case_new_board(&c, modes[seed % 4]);
        acq_ent values[CASE_MOST_VARIABLES] = {0};
        acq_walk walk;
        assert_int_equal(acq_walk_init(&walk, board), ACQ_OK);
        for (int i = 0; i < 3; i++) {
            draw_values(&walk, &random, values);
            assert_int_equal(acq_walk_set(&walk, values), ACQ_OK);
        }
        for (uint32_t i = 0; i < walk.n_classes; i++)
            check_uniform(&walk, i, counts);
        acq_walk_deinit(&walk);
        acq_board_free(board);
        label_case_deinit(&c);
    }
}

/* r(x, y) where all entities but n_rest are heads: the rest of x is rare among thousands. */
typedef struct sparse_world {
    acq_predictor predictor;
    acq_links *links[2];
    acq_literal literal;
    acq_problem problem;
} sparse_world;

static acq_status open_links(const acq_predictor *self, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    (void)error;
    *out = ((const sparse_world *)self)->links[relation];
    return ACQ_OK;
}

static void sparse_world_init(sparse_world *world, uint32_t n_entities, uint32_t n_rest)
{
    static const acq_predictor_ops ops = {.open_links = open_links};
    acq_link *links = calloc(n_entities, sizeof *links);
    uint32_t n = n_entities - n_rest;
    *world = (sparse_world){.predictor = {.ops = &ops},
                            .literal = {.left = {.is_variable = true, .id = 0},
                                        .right = {.is_variable = true, .id = 1}}};
    world->problem = (acq_problem){
        .n_variables = 2, .n_entities = n_entities, .literals = &world->literal, .n_literals = 1};
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < n; i++)
            links[i] = side == 0 ? (acq_link){.head = i, .tail = 0, .score = 1}
                                 : (acq_link){.head = 0, .tail = i, .score = 1};
        assert_int_equal(acq_links_new(links, n, n_entities, false, &world->links[side]), ACQ_OK);
    }
    free(links);
}

static void test_a_rare_rest_is_drawn_uniformly_too(void **state)
{
    (void)state;
    static const uint32_t rests[] = {0, 1, 2, 3, 40, 2999};
    static uint32_t counts[3000];
    acq_scoring scoring = ACQ_SCORING_DEFAULT;
    for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
        sparse_world world;
        acq_board *board = NULL;
        acq_walk walk;
        sparse_world_init(&world, 3000, rests[i]);
        assert_int_equal(
            acq_board_new(&world.problem, &world.predictor, &scoring, ACQ_PE_EXACT, &board, NULL),
            ACQ_OK);
        assert_int_equal(acq_walk_init(&walk, board), ACQ_OK);
        assert_null(acq_walk_check(&walk));
        assert_int_equal(walk.n_classes, rests[i] == 0 ? 3 : 4);
        for (uint32_t c = 0; c < walk.n_classes; c++)
            check_uniform(&walk, c, counts);
        acq_walk_deinit(&walk);
        acq_board_free(board);
        acq_links_free(world.links[0]);
        acq_links_free(world.links[1]);
    }
}

#ifdef ACQ_FAULTS
static acq_status run_all(const acq_board *board, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 6);
    acq_ent values[CASE_MOST_VARIABLES] = {0};
    acq_walk walk, copy = {0};
    acq_status status = acq_walk_init(&walk, board);
    if (status == ACQ_OK)
        status = acq_walk_init_copy(&copy, &walk);
    for (int i = 0; status == ACQ_OK && i < 10; i++) {
        draw_values(&copy, &random, values);
        status = acq_walk_set(&copy, values);
    }
    acq_walk_deinit(&walk);
    acq_walk_deinit(&copy);
    return status;
}

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    static label_case c;
    for (uint64_t seed = 1; seed <= FAULT_CASES; seed++) {
        acq_status status = ACQ_ERR_MEMORY;
        label_case_init(&c, seed);
        acq_board *board = label_case_new_board(&c, ACQ_PE_EXACT);
        for (size_t n = 1; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
            acq_faults_fail_at(n);
            status = run_all(board, seed);
            acq_faults_fail_at(0);
            assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        }
        assert_int_equal(status, ACQ_OK);
        acq_board_free(board);
        label_case_deinit(&c);
    }
}

/* Training copies a walk for every rollout. */
static void test_a_copy_takes_few_allocations(void **state)
{
    (void)state;
    static label_case c;
    for (uint64_t seed = 1; seed <= FAULT_CASES; seed++) {
        label_case_init(&c, seed);
        acq_board *board = label_case_new_board(&c, ACQ_PE_EXACT);
        acq_walk walk, copy;
        assert_int_equal(acq_walk_init(&walk, board), ACQ_OK);
        acq_faults_fail_at(0);
        assert_int_equal(acq_walk_init_copy(&copy, &walk), ACQ_OK);
        assert_true(acq_faults_count() <= 3 + board->n_free_terms);
        acq_walk_deinit(&walk);
        acq_walk_deinit(&copy);
        acq_board_free(board);
        label_case_deinit(&c);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels_classes_and_origins_are_those_of_the_definition),
        cmocka_unit_test(test_a_copy_goes_the_way_of_the_original),
        cmocka_unit_test(test_members_are_drawn_uniformly_from_their_class),
        cmocka_unit_test(test_a_rare_rest_is_drawn_uniformly_too),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
        cmocka_unit_test(test_a_copy_takes_few_allocations),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
