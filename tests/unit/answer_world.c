/* answer_world.c - see answer_world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/build.h"
#include "unit/answer_world.h"

static const char *const entities[] = {"Ada", "Bo", "Cy", "Di", "London", "Paris", "Rome"};
static const char *const relations[] = {"born_in", "lives_in", "knows"};

typedef struct belief {
    acq_ent head;
    acq_rel relation;
    acq_ent tail;
    float score;
} belief;

static const belief beliefs[] = {
    {ADA, BORN_IN, LONDON, 1},    {BO, BORN_IN, PARIS, 1},      {ADA, LIVES_IN, PARIS, 1},
    {BO, LIVES_IN, PARIS, 1},     {ADA, KNOWS, BO, 1},          {BO, KNOWS, CY, 1},
    {CY, KNOWS, DI, 1},           {CY, BORN_IN, LONDON, 0.75F}, {DI, BORN_IN, ROME, 0.625F},
    {ADA, LIVES_IN, ROME, 0.25F}, {DI, KNOWS, ADA, 0.5F},
};

enum { N_BELIEFS = sizeof beliefs / sizeof *beliefs };

static acq_status open_links(const acq_predictor *self, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    (void)error;
    const small_world *world =
        (const small_world *)((const char *)self - offsetof(small_world, predicted));
    *out = world->links[relation];
    return ACQ_OK;
}

static const acq_predictor_ops predicted_ops = {.open_links = open_links};

static void build_graph(small_world *world)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    assert_non_null(builder);
    uint32_t id;
    for (size_t i = 0; i < SMALL_N_ENTITIES; i++)
        assert_int_equal(
            acq_graph_builder_add_entity(builder, entities[i], strlen(entities[i]), &id), ACQ_OK);
    for (size_t i = 0; i < SMALL_N_RELATIONS / 2; i++)
        assert_int_equal(
            acq_graph_builder_add_relation(builder, relations[i], strlen(relations[i]), &id),
            ACQ_OK);
    for (size_t i = 0; i < N_BELIEFS; i++) {
        const belief *b = &beliefs[i];
        if (b->score == 1)
            assert_int_equal(acq_graph_builder_add_fact(builder, b->head, b->relation, b->tail),
                             ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_finish(builder, &world->graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
}

static void build_links(small_world *world, acq_rel relation)
{
    acq_link links[N_BELIEFS];
    size_t n = 0;
    for (size_t i = 0; i < N_BELIEFS; i++) {
        const belief *b = &beliefs[i];
        if (b->relation == relation)
            links[n++] = (acq_link){b->head, b->tail, b->score};
        else if (acq_inverse(b->relation) == relation)
            links[n++] = (acq_link){b->tail, b->head, b->score};
    }
    assert_int_equal(acq_links_new(links, n, SMALL_N_ENTITIES, true, &world->links[relation]),
                     ACQ_OK);
}

void small_world_init(small_world *world)
{
    build_graph(world);
    for (acq_rel r = 0; r < SMALL_N_RELATIONS; r++)
        build_links(world, r);
    assert_int_equal(acq_predictor_new_observed(world->graph, &world->observed, NULL), ACQ_OK);
    world->predicted =
        (acq_predictor){.ops = &predicted_ops, .graph = world->graph, .name = "small"};
}

void small_world_deinit(small_world *world)
{
    acq_predictor_free(world->observed);
    for (acq_rel r = 0; r < SMALL_N_RELATIONS; r++)
        acq_links_free(world->links[r]);
    acq_graph_free(world->graph);
}

acq_query *small_world_read(const small_world *world, const char *text)
{
    acq_error error = {0};
    acq_query *query;
    if (acq_query_parse(text, strlen(text), &query, &error) != ACQ_OK ||
        acq_query_bind(query, world->graph, NULL, 0, &error) != ACQ_OK)
        fail_msg("%s: %s", text, error.message);
    return query;
}
