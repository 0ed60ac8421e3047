/* nbfnet_case.c - see nbfnet_case.h. */
#include "support/nbfnet_case.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static void add_names(acq_graph_builder *builder, uint32_t n_entities, uint32_t n_names)
{
    char name[32];
    uint32_t id;
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < n_entities && status == ACQ_OK; i++) {
        snprintf(name, sizeof name, "e%u", i);
        status = acq_graph_builder_add_entity(builder, name, strlen(name), &id);
    }
    for (uint32_t i = 0; i < n_names && status == ACQ_OK; i++) {
        snprintf(name, sizeof name, "r%u", i);
        status = acq_graph_builder_add_relation(builder, name, strlen(name), &id);
    }
    assert(status == ACQ_OK);
}

/* Every id twice as likely to be in the first half, none of the last two. */
static acq_ent draw_entity(acq_random *random, uint32_t n)
{
    uint32_t used = n > 4 ? n - 2 : n;
    acq_ent entity = (acq_ent)acq_random_below(random, used);
    return acq_random_unit(random) < 0.5 ? entity / 2 : entity;
}

static void list_facts(nbfnet_case *c)
{
    uint32_t n = acq_graph_get_n_entities(c->graph);
    c->facts = calloc(2 * acq_graph_get_n_facts(c->graph) + 1, sizeof *c->facts);
    assert(c->facts != NULL);
    for (acq_rel r = 0; r < acq_graph_get_n_relations(c->graph); r++)
        for (acq_ent h = 0; h < n; h++)
            for (acq_ent t = 0; t < n; t++)
                if (acq_graph_has_fact(c->graph, h, r, t))
                    c->facts[c->n_facts++] = (acq_triple){h, r, t};
}

void nbfnet_case_init(nbfnet_case *c, uint64_t seed, uint32_t n_entities, uint32_t n_names,
                      size_t n_facts)
{
    acq_random random = acq_random_start(seed, 77);
    acq_graph_builder *builder = acq_graph_builder_new();
    *c = (nbfnet_case){0};
    assert(builder != NULL);
    add_names(builder, n_entities, n_names);
    for (size_t i = 0; i < n_facts; i++) {
        acq_rel relation = 2 * (acq_rel)acq_random_below(&random, n_names);
        acq_ent head = draw_entity(&random, n_entities), tail = draw_entity(&random, n_entities);
        acq_status status = acq_graph_builder_add_fact(builder, head, relation, tail);
        assert(status == ACQ_OK);
        (void)status;
    }
    acq_status status = acq_graph_builder_finish(builder, &c->graph, NULL);
    assert(status == ACQ_OK);
    (void)status;
    acq_graph_builder_free(builder);
    list_facts(c);
}

void nbfnet_case_deinit(nbfnet_case *c)
{
    acq_graph_free(c->graph);
    free(c->facts);
}
