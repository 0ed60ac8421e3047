/* store_model.c - see store_model.h. */
#include "unit/store_model.h"

#include <stdio.h>
#include <string.h>

static model_name take_name(const char *key, const char *shown)
{
    model_name name = {.label = ""};
    snprintf(name.key, sizeof name.key, "%s", key);
    if (strcmp(key, shown) != 0)
        snprintf(name.label, sizeof name.label, "%s", shown);
    return name;
}

void model_take(model *m, const acq_graph *graph)
{
    memset(m, 0, sizeof *m);
    m->n_entities = acq_graph_get_n_entities(graph);
    m->n_pairs = acq_graph_get_n_relations(graph) / 2;
    m->is_rdf = acq_graph_is_rdf(graph);
    for (acq_ent id = 0; id < m->n_entities; id++)
        m->entities[id] =
            take_name(acq_graph_get_entity_key(graph, id), acq_graph_get_entity_name(graph, id));
    for (acq_rel r = 0; r < 2 * m->n_pairs; r++) {
        if (acq_graph_is_named(graph, r))
            m->relations[r] = take_name(acq_graph_get_relation_key(graph, r),
                                        acq_graph_get_relation_name(graph, r));
        for (acq_ent h = 0; r % 2 == 0 && h < m->n_entities; h++)
            for (acq_ent t = 0; t < m->n_entities; t++)
                m->facts[r / 2][h][t] = acq_graph_has_fact(graph, h, r, t);
    }
}

static void put_label(acq_graph_builder *builder, const model_name *name)
{
    if (name->label[0] != '\0')
        assert_int_equal(acq_dictionary_add_label(acq_graph_builder_get_dictionary(builder),
                                                  name->key, strlen(name->key), name->label,
                                                  strlen(name->label), ACQ_LABEL_PLAIN),
                         ACQ_OK);
}

static void put_facts(const model *m, acq_graph_builder *builder, uint32_t pair)
{
    bool has_inverses = false; /* then facts come in both directions */
    for (uint32_t i = 0; i < m->n_pairs; i++)
        has_inverses = has_inverses || m->relations[2 * i + 1].key[0] != '\0';
    for (acq_ent h = 0; h < m->n_entities; h++) {
        for (acq_ent t = 0; t < m->n_entities; t++) {
            if (!m->facts[pair][h][t])
                continue;
            assert_int_equal(acq_graph_builder_add_fact(builder, h, 2 * pair, t), ACQ_OK);
            if (has_inverses)
                assert_int_equal(acq_graph_builder_add_fact(builder, t, 2 * pair + 1, h), ACQ_OK);
        }
    }
}

acq_graph *model_make_graph(const model *m)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    acq_graph_builder_get_dictionary(builder)->is_rdf = m->is_rdf;
    for (acq_ent id = 0; id < m->n_entities; id++) {
        const model_name *name = &m->entities[id];
        OK(acq_graph_builder_set_entity(builder, id, name->key, strlen(name->key), e));
        put_label(builder, name);
    }
    for (acq_rel r = 0; r < 2 * m->n_pairs; r++) {
        const model_name *name = &m->relations[r];
        if (name->key[0] != '\0')
            OK(acq_graph_builder_set_relation(builder, r, name->key, strlen(name->key), e));
        put_label(builder, name);
    }
    for (uint32_t pair = 0; pair < m->n_pairs; pair++)
        put_facts(m, builder, pair);
    OK(acq_graph_builder_finish(builder, &graph, e));
    acq_graph_builder_free(builder);
    return graph;
}

static uint32_t find(const model_name *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(names[i].key, name) == 0)
            return i;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(names[i].label, name) == 0)
            return i;
    }
    return UINT32_MAX;
}

uint32_t model_find_entity(const model *m, const char *name)
{
    return find(m->entities, m->n_entities, name);
}

uint32_t model_find_relation(const model *m, const char *name)
{
    uint32_t found = find(m->relations, 2 * m->n_pairs, name), n = 0;
    if (found != UINT32_MAX || !m->is_rdf)
        return found;
    for (uint32_t r = 0; r < 2 * m->n_pairs; r++) {
        const char *slash = strrchr(m->relations[r].key, '/');
        if (slash == NULL || strcmp(slash + 1, name) != 0)
            continue;
        found = r;
        n++;
    }
    return n == 1 ? found : UINT32_MAX;
}

static uint32_t know_entity(model *m, const char *name, acq_store_report *report)
{
    uint32_t id = model_find_entity(m, name);
    if (id != UINT32_MAX)
        return id;
    assert_true(m->n_entities < MODEL_ENTITIES);
    snprintf(m->entities[m->n_entities].key, MODEL_NAME, "%s", name);
    report->new_entities++;
    return m->n_entities++;
}

static uint32_t know_relation(model *m, const char *name, acq_store_report *report)
{
    uint32_t id = model_find_relation(m, name);
    if (id != UINT32_MAX)
        return id;
    assert_true(m->n_pairs < MODEL_RELATIONS);
    snprintf(m->relations[2 * m->n_pairs].key, MODEL_NAME, "%s", name);
    report->new_relations++;
    return 2 * m->n_pairs++;
}

bool model_change(model *m, const acq_store_fact *fact, bool is_add, acq_store_report *report)
{
    if (!is_add && (model_find_entity(m, fact->head) == UINT32_MAX ||
                    model_find_entity(m, fact->tail) == UINT32_MAX ||
                    model_find_relation(m, fact->relation) == UINT32_MAX))
        return false;
    uint32_t head = know_entity(m, fact->head, report);
    uint32_t relation = know_relation(m, fact->relation, report);
    uint32_t tail = know_entity(m, fact->tail, report);
    bool swaps = (relation % 2 != 0) != fact->is_inverse;
    bool *bit = swaps ? &m->facts[relation / 2][tail][head] : &m->facts[relation / 2][head][tail];
    if (*bit == is_add)
        report->unchanged++;
    else
        report->changed++;
    *bit = is_add;
    return true;
}
