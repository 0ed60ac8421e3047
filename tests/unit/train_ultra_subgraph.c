/* train_ultra_subgraph.c - edges by node and the subgraphs that queries are trained on, against the
 * plain table of facts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "train/batch.h"
#include "unit/train_case.h"

enum { CASES = 60, MOST_LINKS = 6, MOST_ALLOCATIONS = 1000 };

static void test_edges_are_the_facts_both_ways(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        train_case c;
        acq_edges edges;
        uint32_t n = 0;
        train_case_init_random(&c, seed);
        assert_int_equal(acq_edges_init(&edges, c.graph, NULL), ACQ_OK);
        for (acq_ent h = 0; h < c.n_entities; h++)
            for (acq_rel r = 0; r < c.n_relations; r++)
                for (acq_ent t = 0; t < c.n_entities; t++) {
                    bool has = train_case_has(&c, h, r, t);
                    assert_int_equal(acq_edges_has(&edges, h, r, t), has);
                    n += has;
                }
        assert_int_equal(edges.n_edges, n);
        for (uint32_t g = 0; g < edges.n_groups; g++) {
            assert_int_equal(edges.reversed[g], acq_inverse(edges.relations[g]));
            assert_true(edges.begins[g] < edges.begins[g + 1]);
        }
        acq_edges_deinit(&edges);
        train_case_deinit(&c);
    }
}

/* A case with its edges and links that are facts of it. */
typedef struct drawn_case {
    train_case c;
    acq_edges world;
    acq_query_link links[MOST_LINKS];
    size_t n_links;
    acq_random random;
} drawn_case;

static void add_link(drawn_case *d)
{
    uint32_t at = (uint32_t)acq_random_below(&d->random, d->world.n_edges), i = 0;
    for (acq_ent h = 0; h < d->c.n_entities; h++)
        for (uint32_t g = d->world.rows[h]; g < d->world.rows[h + 1]; g++)
            for (uint32_t s = d->world.begins[g]; s < d->world.begins[g + 1]; s++)
                if (i++ == at)
                    d->links[d->n_links++] =
                        (acq_query_link){h, d->world.relations[g], d->world.sources[s]};
}

static void drawn_init(drawn_case *d, uint64_t seed)
{
    *d = (drawn_case){.random = acq_random_start(seed, 9)};
    train_case_init_random(&d->c, seed);
    assert_int_equal(acq_edges_init(&d->world, d->c.graph, NULL), ACQ_OK);
    size_t n = d->world.n_edges == 0 ? 0 : 1 + acq_random_below(&d->random, MOST_LINKS);
    while (d->n_links < n)
        add_link(d);
}

static void drawn_deinit(drawn_case *d)
{
    acq_edges_deinit(&d->world);
    train_case_deinit(&d->c);
}

static bool is_own(const drawn_case *d, acq_ent h, acq_rel r, acq_ent t)
{
    for (size_t i = 0; i < d->n_links; i++) {
        const acq_query_link *l = &d->links[i];
        if ((l->head == h && l->relation == r && l->tail == t) ||
            (l->head == t && l->relation == acq_inverse(r) && l->tail == h))
            return true;
    }
    return false;
}

/* Sources of a subgraph are not sorted. */
static bool has_edge(const acq_edges *edges, uint32_t node, acq_rel relation, uint32_t source)
{
    size_t n;
    const uint32_t *sources = acq_edges_find(edges, node, relation, &n);
    for (size_t i = 0; i < n; i++)
        if (sources[i] == source)
            return true;
    return false;
}

/* Every edge is a fact that is not asked for, its inverse is there too, and unless edges were
 * thinned out no other fact is missing. */
static void check_edges(const drawn_case *d, const acq_subgraph *s, bool is_thinned)
{
    for (uint32_t a = 0; a < s->n; a++)
        for (acq_rel r = 0; r < d->c.n_relations; r++)
            for (uint32_t b = 0; b < s->n; b++) {
                acq_ent h = s->entities[a], t = s->entities[b];
                bool is_cut = s->is_cut && (a < s->n_near) != (b < s->n_near);
                bool wanted = train_case_has(&d->c, h, r, t) && !is_own(d, h, r, t) && !is_cut;
                bool has = has_edge(&s->edges, a, r, b);
                assert_true(is_thinned ? wanted || !has : wanted == has);
                assert_int_equal(has, has_edge(&s->edges, b, acq_inverse(r), a));
            }
}

static void check_entities(const drawn_case *d, const acq_subgraph *s)
{
    assert_int_equal(s->edges.n_nodes, s->n);
    for (uint32_t v = 0; v < s->n; v++)
        assert_int_equal(s->local[s->entities[v]], v);
    for (size_t i = 0; i < d->n_links; i++) {
        assert_true(s->local[d->links[i].head] < s->n);
        assert_true(s->local[d->links[i].tail] < s->n);
    }
}

static void check_case(uint64_t seed, const acq_subgraph_params *params)
{
    drawn_case d;
    acq_subgraph s;
    drawn_init(&d, seed);
    assert_int_equal(acq_subgraph_init(&s, &d.world, params, NULL), ACQ_OK);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(acq_subgraph_draw(&s, d.links, d.n_links, &d.random, NULL), ACQ_OK);
        check_entities(&d, &s);
        check_edges(&d, &s, params->most_edges > 0);
        if (params->most_entities == 0)
            assert_int_equal(s.n, d.c.n_entities);
        else
            assert_true(s.n <= params->most_entities || s.n <= 2 * d.n_links);
    }
    acq_subgraph_deinit(&s);
    drawn_deinit(&d);
}

static void test_a_subgraph_has_all_facts_but_those_asked_for(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        check_case(seed, &(acq_subgraph_params){0});
        check_case(seed, &(acq_subgraph_params){.most_entities = 1 + (uint32_t)seed % 40});
        check_case(seed, &(acq_subgraph_params){.most_entities = 30, .most_near = 3});
        check_case(seed, &(acq_subgraph_params){.most_entities = 30, .most_edges = 20});
    }
}

static void test_edges_are_thinned_out_to_about_the_limit(void **state)
{
    (void)state;
    train_case c;
    acq_edges world;
    acq_subgraph s;
    acq_random random = acq_random_start(1, 1);
    train_case_init_dense(&c, 300, 3, 20000);
    assert_int_equal(acq_edges_init(&world, c.graph, NULL), ACQ_OK);
    acq_subgraph_params params = {.most_entities = 300, .most_edges = 10000};
    assert_int_equal(acq_subgraph_init(&s, &world, &params, NULL), ACQ_OK);
    acq_query_link link = {0, world.relations[0], world.sources[0]};
    assert_int_equal(acq_subgraph_draw(&s, &link, 1, &random, NULL), ACQ_OK);
    assert_in_range(s.edges.n_edges, 9000, 11000);
    acq_subgraph_deinit(&s);
    acq_edges_deinit(&world);
    train_case_deinit(&c);
}

static void check_negatives(const drawn_case *d, const acq_subgraph *s, acq_random *random)
{
    uint32_t *out = malloc((s->n + 1) * sizeof *out);
    bool *seen = calloc(s->n + 1, sizeof *seen);
    acq_ent head = d->links[0].head;
    acq_rel relation = d->links[0].relation;
    size_t wanted = 0, n = acq_subgraph_draw_negatives(s, head, relation, s->n, random, out);
    for (uint32_t v = 0; v < s->n; v++)
        wanted += !train_case_has(&d->c, head, relation, s->entities[v]);
    assert_int_equal(n, wanted);
    for (size_t i = 0; i < n; i++) {
        assert_true(out[i] < s->n && !seen[out[i]]);
        assert_false(train_case_has(&d->c, head, relation, s->entities[out[i]]));
        seen[out[i]] = true;
    }
    assert_int_equal(acq_subgraph_draw_negatives(s, head, relation, 2, random, out),
                     wanted < 2 ? wanted : 2);
    free(out);
    free(seen);
}

static void test_negatives_are_strict_and_distinct(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        drawn_case d;
        acq_subgraph s;
        acq_subgraph_params params = {.most_entities = 20};
        drawn_init(&d, seed);
        assert_int_equal(acq_subgraph_init(&s, &d.world, &params, NULL), ACQ_OK);
        assert_int_equal(acq_subgraph_draw(&s, d.links, d.n_links, &d.random, NULL), ACQ_OK);
        if (d.n_links > 0)
            check_negatives(&d, &s, &d.random);
        acq_subgraph_deinit(&s);
        drawn_deinit(&d);
    }
}

#ifdef ACQ_FAULTS
static acq_status make_and_draw(const drawn_case *d, acq_error *error)
{
    acq_edges world = {0};
    acq_subgraph s = {0};
    acq_random random = acq_random_start(1, 2);
    acq_status status = acq_edges_init(&world, d->c.graph, error);
    if (status == ACQ_OK)
        status = acq_subgraph_init(&s, &world, &(acq_subgraph_params){.most_entities = 20}, error);
    if (status == ACQ_OK)
        status = acq_subgraph_draw(&s, d->links, d->n_links, &random, error);
    acq_subgraph_deinit(&s);
    acq_edges_deinit(&world);
    return status;
}

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    drawn_case d;
    drawn_init(&d, 3);
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t i = 1; status != ACQ_OK && i < MOST_ALLOCATIONS; i++) {
        acq_error error = {0};
        acq_faults_fail_at(i);
        status = make_and_draw(&d, &error);
        acq_faults_fail_at(0);
        assert_int_equal(status, error.code);
    }
    assert_int_equal(status, ACQ_OK);
    drawn_deinit(&d);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges_are_the_facts_both_ways),
        cmocka_unit_test(test_a_subgraph_has_all_facts_but_those_asked_for),
        cmocka_unit_test(test_edges_are_thinned_out_to_about_the_limit),
        cmocka_unit_test(test_negatives_are_strict_and_distinct),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
