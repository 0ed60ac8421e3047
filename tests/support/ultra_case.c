/* ultra_case.c - see ultra_case.h. */
#include "support/ultra_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

static void check(acq_status status)
{
    if (status != ACQ_OK)
        abort();
}

void ultra_case_shake(acq_ultra *model, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 7);
    for (size_t t = 0; t < model->parameters.n_tensors; t++) {
        const acq_tensor *tensor = &model->parameters.tensors[t];
        float *values = model->parameters.values + tensor->offset;
        for (size_t i = 0; i < acq_tensor_get_length(tensor); i++)
            values[i] += (float)(0.2 * (acq_random_unit(&random) - 0.5));
    }
}

static acq_graph *build(uint64_t seed, uint32_t n_entities, uint32_t n_tails, uint32_t n_pairs,
                        size_t n_facts)
{
    acq_random random = acq_random_start(seed, 8);
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    char name[16];
    uint32_t id;
    if (builder == NULL)
        abort();
    for (uint32_t e = 0; e < n_entities; e++)
        check(
            acq_graph_builder_add_entity(builder, name, (size_t)snprintf(name, 16, "e%u", e), &id));
    for (uint32_t r = 0; r < n_pairs; r++)
        check(acq_graph_builder_add_relation(builder, name, (size_t)snprintf(name, 16, "r%u", r),
                                             &id));
    for (size_t i = 0; i < n_facts; i++) {
        acq_ent head = (acq_ent)acq_random_below(&random, n_entities);
        acq_rel relation = 2 * (acq_rel)acq_random_below(&random, n_pairs);
        acq_ent tail = (acq_ent)acq_random_below(&random, n_tails);
        check(acq_graph_builder_add_fact(builder, head, relation, tail));
    }
    check(acq_graph_builder_finish(builder, &graph, NULL));
    acq_graph_builder_free(builder);
    return graph;
}

static oracle_graph list_facts(const acq_graph *graph)
{
    oracle_graph list = {.n_entities = acq_graph_get_n_entities(graph),
                         .n_relations = acq_graph_get_n_relations(graph)};
    acq_triple *facts = NULL;
    size_t room = 0;
    for (acq_rel r = 0; r < list.n_relations; r++) {
        const acq_links *links;
        check(acq_graph_open_links(graph, r, &links, NULL));
        for (uint32_t i = 0; i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            check(ACQ_RESERVE(facts, room, list.n_facts + row.n));
            for (size_t j = 0; j < row.n; j++)
                facts[list.n_facts++] = (acq_triple){links->heads[i], r, row.tails[j]};
        }
    }
    list.facts = facts;
    return list;
}

void ultra_case_init(ultra_case *c, uint64_t seed, uint32_t n_entities, uint32_t n_pairs,
                     size_t n_facts)
{
    ultra_case_init_hubs(c, seed, n_entities, n_entities, n_pairs, n_facts);
}

void ultra_case_init_hubs(ultra_case *c, uint64_t seed, uint32_t n_entities, uint32_t n_hubs,
                          uint32_t n_pairs, size_t n_facts)
{
    c->graph = build(seed, n_entities, n_hubs, n_pairs, n_facts);
    c->oracle = list_facts(c->graph);
    check(acq_ultra_new(seed, &c->model, NULL));
    ultra_case_shake(c->model, seed);
    c->model->queries_pair = seed / 10 % 2 == 1;
}

void ultra_case_deinit(ultra_case *c)
{
    acq_graph_free(c->graph);
    acq_ultra_free(c->model);
    acq_free((void *)c->oracle.facts);
}
