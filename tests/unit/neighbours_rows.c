/* neighbours_rows.c - rows of what similar entities have, against loops over all facts in double.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "graph/build.h"
#include "models/neighbours.h"
#include "support/scale.h"

enum { MOST_ENTITIES = 14, MOST_RELATIONS = 6, N_GRAPHS = SCALE(300, 100) };

typedef struct world {
    uint32_t n_entities, n_relations;
    bool is_fact[MOST_RELATIONS][MOST_ENTITIES][MOST_ENTITIES];
    acq_graph *graph;
    acq_row_model *rows;
    void *scratch;
} world;

static void add_relation(world *w, acq_graph_builder *builder, acq_rel r, double density,
                         acq_random *random)
{
    char name[16];
    acq_rel id;
    snprintf(name, sizeof name, "r%u", r);
    assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
    for (acq_ent x = 0; x < w->n_entities; x++)
        for (acq_ent y = 0; y < w->n_entities; y++) {
            bool is_fact = acq_random_unit(random) < density;
            w->is_fact[r][x][y] = w->is_fact[r + 1][y][x] = is_fact;
            if (is_fact)
                assert_int_equal(acq_graph_builder_add_fact(builder, x, id, y), ACQ_OK);
        }
}

/* Everything follows from the seed: from no facts at all to nearly all of them. */
static void world_init(world *w, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 0);
    acq_graph_builder *builder = acq_graph_builder_new();
    memset(w, 0, sizeof *w);
    w->n_entities = 2 + (uint32_t)acq_random_below(&random, MOST_ENTITIES - 1);
    w->n_relations = 2 * (1 + (uint32_t)acq_random_below(&random, MOST_RELATIONS / 2));
    double density = seed == 0 ? 0 : acq_random_unit(&random) * acq_random_unit(&random);
    for (uint32_t e = 0; e < w->n_entities; e++) {
        char name[16];
        acq_ent id;
        snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (acq_rel r = 0; r < w->n_relations; r += 2)
        add_relation(w, builder, r, density, &random);
    assert_int_equal(acq_graph_builder_finish(builder, &w->graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    assert_int_equal(acq_neighbours_new_row_model(w->graph, &w->rows, NULL), ACQ_OK);
    assert_int_equal(w->rows->ops->open_scratch(w->rows, &w->scratch, NULL), ACQ_OK);
}

static void world_deinit(world *w)
{
    w->rows->ops->free_scratch(w->rows, w->scratch);
    acq_row_model_free(w->rows);
    acq_graph_free(w->graph);
}

/* weight^2 summed over the facts that both have. */
static double multiply(const world *w, acq_ent a, acq_ent b)
{
    double sum = 0;
    for (acq_rel r = 0; r < w->n_relations; r++)
        for (acq_ent x = 0; x < w->n_entities; x++) {
            double n = 0;
            for (acq_ent e = 0; e < w->n_entities; e++)
                n += w->is_fact[r][e][x];
            if (w->is_fact[r][a][x] && w->is_fact[r][b][x])
                sum += pow(log(w->n_entities / n), 2);
        }
    return sum;
}

static double get_like(const world *w, acq_ent a, acq_ent b)
{
    double product = multiply(w, a, b);
    return product == 0 ? 0 : product / sqrt(multiply(w, a, a) * multiply(w, b, b));
}

static double get_score(const world *w, acq_ent head, acq_rel r, acq_ent tail)
{
    double with_tail = 0, with_any = 0;
    for (acq_ent g = 0; g < w->n_entities; g++) {
        bool has_any = false;
        for (acq_ent t = 0; t < w->n_entities; t++)
            has_any = has_any || w->is_fact[r][g][t];
        double like = g == head ? 0 : pow(get_like(w, head, g), 2);
        with_any += has_any ? like : 0;
        with_tail += w->is_fact[r][g][tail] ? like : 0;
    }
    return log(1e-4 + (with_any > 0 ? with_tail / with_any : 0));
}

static void ask(const world *w, acq_row_request request)
{
    assert_int_equal(w->rows->ops->score(w->rows, w->scratch, &request, NULL), ACQ_OK);
}

static void test_rows_are_those_of_the_definition(void **state)
{
    (void)state;
    static world w;
    for (uint64_t seed = 0; seed < N_GRAPHS; seed++) {
        float row[MOST_ENTITIES];
        world_init(&w, seed);
        for (acq_rel r = 0; r < w.n_relations; r++)
            for (acq_ent h = 0; h < w.n_entities; h++) {
                ask(&w, (acq_row_request){r, &h, 1, NULL, w.n_entities, row, {0}});
                for (acq_ent t = 0; t < w.n_entities; t++)
                    assert_true(fabs((double)row[t] - get_score(&w, h, r, t)) < 1e-3);
            }
        world_deinit(&w);
    }
}

/* The row of a few tails, written over a row of `nothing`, is the whole row to the bit. */
static void check_few(const world *w, acq_rel r, acq_ent h)
{
    float whole[MOST_ENTITIES], row[MOST_ENTITIES];
    const acq_ent *few = NULL;
    size_t n = 0;
    ask(w, (acq_row_request){r, &h, 1, NULL, w->n_entities, whole, {0}});
    for (acq_ent t = 0; t < w->n_entities; t++)
        row[t] = w->rows->nothing;
    assert_int_equal(w->rows->ops->score_few(w->rows, w->scratch, r, h, row, &few, &n, NULL),
                     ACQ_OK);
    assert_memory_equal(row, whole, w->n_entities * sizeof *row);
    for (size_t i = 0; i < n; i++)
        row[few[i]] = w->rows->nothing;
    for (acq_ent t = 0; t < w->n_entities; t++)
        assert_true(row[t] == w->rows->nothing);
}

static void test_few_tails_are_those_of_the_whole_row(void **state)
{
    (void)state;
    static world w;
    for (uint64_t seed = 0; seed < N_GRAPHS / 3; seed++) {
        world_init(&w, seed);
        for (acq_rel r = 0; r < w.n_relations; r++)
            for (acq_ent h = 0; h < w.n_entities; h++)
                check_few(&w, r, h);
        world_deinit(&w);
    }
}

static void check_nearest(const world *w, acq_ent head, acq_rel r, acq_ent tail)
{
    enum { MOST = 3 };
    acq_neighbour nearest[MOST];
    size_t n = 99, n_with = 0;
    assert_int_equal(acq_neighbours_find(w->rows, head, r, tail, nearest, MOST, &n, NULL), ACQ_OK);
    double last = n == MOST ? (double)nearest[MOST - 1].like : 0;
    for (acq_ent g = 0; g < w->n_entities; g++) {
        bool has_any = false, is_listed = false;
        for (acq_ent t = 0; t < w->n_entities; t++)
            has_any = has_any || w->is_fact[r][g][t];
        for (size_t i = 0; i < n; i++)
            is_listed = is_listed || nearest[i].entity == g;
        double like = g == head || !has_any ? 0 : pow(get_like(w, head, g), 2);
        n_with += like > 1e-6;
        assert_true(is_listed || like <= last + 1e-4);
    }
    assert_true(n == (n_with < MOST ? n_with : MOST));
    for (size_t i = 0; i < n; i++) {
        acq_ent g = nearest[i].entity;
        assert_int_equal(nearest[i].has_tail, w->is_fact[r][g][tail]);
        assert_true(fabs((double)nearest[i].like - pow(get_like(w, head, g), 2)) < 1e-4);
        assert_true(i == 0 || nearest[i - 1].like >= nearest[i].like);
    }
}

static void test_the_nearest_are_those_of_the_definition(void **state)
{
    (void)state;
    static world w;
    for (uint64_t seed = 0; seed < N_GRAPHS / 3; seed++) {
        world_init(&w, seed);
        for (acq_rel r = 0; r < w.n_relations; r++)
            for (acq_ent h = 0; h < w.n_entities; h++)
                check_nearest(&w, h, r, (h + r) % w.n_entities);
        world_deinit(&w);
    }
}

/* A fact that thousands share says nothing: rows are as if it were not there. */
static void test_facts_that_very_many_share_are_left_out(void **state)
{
    (void)state;
    enum { CROWD = 2100 };
    float rows[2][4];
    for (int has_crowd = 0; has_crowd < 2; has_crowd++) {
        acq_graph_builder *builder = acq_graph_builder_new();
        acq_graph *graph;
        acq_row_model *model;
        void *scratch;
        acq_rel likes, is;
        for (acq_ent e = 0; e < CROWD; e++) {
            char name[16];
            acq_ent id;
            snprintf(name, sizeof name, "e%u", e);
            assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id),
                             ACQ_OK);
        }
        assert_int_equal(acq_graph_builder_add_relation(builder, "likes", 5, &likes), ACQ_OK);
        assert_int_equal(acq_graph_builder_add_relation(builder, "is", 2, &is), ACQ_OK);
        const acq_ent facts[][2] = {{4, 0}, {4, 1}, {5, 0}, {5, 2}, {6, 3}};
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
            assert_int_equal(acq_graph_builder_add_fact(builder, facts[i][0], likes, facts[i][1]),
                             ACQ_OK);
        for (acq_ent e = 4; e < CROWD && has_crowd; e++)
            assert_int_equal(acq_graph_builder_add_fact(builder, e, is, 0), ACQ_OK);
        assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
        acq_graph_builder_free(builder);
        assert_int_equal(acq_neighbours_new_row_model(graph, &model, NULL), ACQ_OK);
        assert_int_equal(model->ops->open_scratch(model, &scratch, NULL), ACQ_OK);
        const acq_ent head = 4, tails[] = {0, 1, 2, 3};
        acq_row_request request = {likes, &head, 1, tails, 4, rows[has_crowd], {0}};
        assert_int_equal(model->ops->score(model, scratch, &request, NULL), ACQ_OK);
        model->ops->free_scratch(model, scratch);
        acq_row_model_free(model);
        acq_graph_free(graph);
    }
    assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
    assert_true(rows[0][2] > -.1F && rows[0][3] < -9.0F); /* only entity 5 is like the head */
}

/* The same bits whatever was asked before, beside it, and of which tails. */
static void test_rows_do_not_depend_on_others(void **state)
{
    (void)state;
    static world w;
    for (uint64_t seed = 1; seed < 40; seed++) {
        float all[MOST_ENTITIES * MOST_ENTITIES], some[MOST_ENTITIES];
        acq_ent heads[MOST_ENTITIES], tails[MOST_ENTITIES];
        size_t n_tails = 0;
        world_init(&w, seed);
        for (acq_ent e = 0; e < w.n_entities; e++) {
            heads[e] = w.n_entities - 1 - e;
            if (e % 2 == 1)
                tails[n_tails++] = e;
        }
        for (acq_rel r = 0; r < w.n_relations; r++) {
            ask(&w, (acq_row_request){r, heads, w.n_entities, NULL, w.n_entities, all, {0}});
            for (acq_ent i = 0; i < w.n_entities; i++) {
                ask(&w, (acq_row_request){r ^ 1, &heads[i / 2], 1, tails, n_tails, some, {0}});
                ask(&w, (acq_row_request){r, &heads[i], 1, tails, n_tails, some, {0}});
                for (size_t j = 0; j < n_tails; j++)
                    assert_memory_equal(&some[j], &all[i * w.n_entities + tails[j]], sizeof *some);
            }
        }
        world_deinit(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_those_of_the_definition),
        cmocka_unit_test(test_few_tails_are_those_of_the_whole_row),
        cmocka_unit_test(test_the_nearest_are_those_of_the_definition),
        cmocka_unit_test(test_facts_that_very_many_share_are_left_out),
        cmocka_unit_test(test_rows_do_not_depend_on_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
