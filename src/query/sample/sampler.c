/* sampler.c - collects for each entity the rows in which it is the head: counts them, makes room,
 * fills them in. Two passes over the heads of all relations; the facts are not touched. */
#include "query/sample/sampler.h"

#include "base/memory.h"
#include "base/search.h"
#include "query/sample/parts.h"

const char *acq_shape_get_name(acq_shape_id shape)
{
    static const char *const names[] = {
#define ACQ_SHAPE_NAME(name, n_positive, n_negated) #name,
        ACQ_SHAPES(ACQ_SHAPE_NAME)
#undef ACQ_SHAPE_NAME
    };
    return names[shape];
}

void acq_sampler_free(acq_sampler *sampler)
{
    if (sampler == NULL)
        return;
    acq_free(sampler->links);
    acq_free(sampler->runs);
    acq_free(sampler->first_run);
    acq_free(sampler->entities);
    acq_free(sampler);
}

static acq_status open_links(acq_sampler *sampler, const acq_graph *graph, acq_error *error)
{
    sampler->n_relations = acq_graph_get_n_relations(graph);
    sampler->links = acq_zalloc(sampler->n_relations, sizeof *sampler->links);
    if (sampler->links == NULL)
        return acq_fail_memory(error);
    for (acq_rel r = 0; r < sampler->n_relations; r++) {
        acq_status status = acq_graph_open_links(graph, r, &sampler->links[r], error);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

/* first_run[e + 1] becomes the number of runs up to and with those of e. */
static acq_status count_runs(acq_sampler *sampler, acq_error *error)
{
    uint64_t n_runs = 0;
    for (acq_rel r = 0; r < sampler->n_relations; r++) {
        const acq_links *links = sampler->links[r];
        n_runs += links->n_heads;
        for (uint32_t i = 0; i < links->n_heads; i++)
            sampler->first_run[links->heads[i] + 1]++;
    }
    if (n_runs == 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the graph has no facts to read queries off; train on one that has");
    if (n_runs > UINT32_MAX)
        return acq_fail(error, ACQ_ERR_LIMIT,
                        "the graph is too large to train on; take a part of its facts");
    for (uint32_t e = 0; e < sampler->n_entities; e++) {
        sampler->n_with_facts += sampler->first_run[e + 1] > 0;
        sampler->first_run[e + 1] += sampler->first_run[e];
    }
    return ACQ_OK;
}

/* Uses first_run[e] as the place of the next run of e, then moves the array back by one entity. */
static void fill_runs(acq_sampler *sampler)
{
    uint32_t *next = sampler->first_run;
    for (acq_rel r = 0; r < sampler->n_relations; r++) {
        const acq_links *links = sampler->links[r];
        for (uint32_t i = 0; i < links->n_heads; i++)
            sampler->runs[next[links->heads[i]]++] = (acq_run){.relation = r, .row = i};
    }
    for (uint32_t e = sampler->n_entities; e > 0; e--)
        next[e] = next[e - 1];
    next[0] = 0;
}

static void count_facts(acq_sampler *sampler)
{
    uint32_t n = 0;
    for (acq_ent e = 0; e < sampler->n_entities; e++) {
        uint32_t before = 0;
        if (sampler->first_run[e] < sampler->first_run[e + 1])
            sampler->entities[n++] = e;
        for (uint32_t i = sampler->first_run[e]; i < sampler->first_run[e + 1]; i++) {
            sampler->runs[i].before = before;
            before += (uint32_t)acq_sampler_get_row(sampler, &sampler->runs[i]).n;
        }
    }
}

static acq_status build(acq_sampler *sampler, const acq_graph *graph, acq_error *error)
{
    sampler->n_entities = acq_graph_get_n_entities(graph);
    sampler->first_run = acq_zalloc((size_t)sampler->n_entities + 1, sizeof(uint32_t));
    if (sampler->first_run == NULL)
        return acq_fail_memory(error);
    acq_status status = open_links(sampler, graph, error);
    if (status == ACQ_OK)
        status = count_runs(sampler, error);
    if (status != ACQ_OK)
        return status;
    sampler->runs = acq_alloc(sampler->first_run[sampler->n_entities], sizeof(acq_run));
    sampler->entities = acq_alloc(sampler->n_with_facts, sizeof(acq_ent));
    if (sampler->runs == NULL || sampler->entities == NULL)
        return acq_fail_memory(error);
    fill_runs(sampler);
    count_facts(sampler);
    return ACQ_OK;
}

acq_status acq_sampler_new(const acq_graph *graph, acq_sampler **out, acq_error *error)
{
    acq_sampler *sampler = acq_zalloc(1, sizeof *sampler);
    if (sampler == NULL)
        return acq_fail_memory(error);
    acq_status status = build(sampler, graph, error);
    if (status != ACQ_OK) {
        acq_sampler_free(sampler);
        return status;
    }
    *out = sampler;
    return ACQ_OK;
}

acq_sampler_step acq_sampler_get_fact(const acq_sampler *sampler, acq_ent entity, uint32_t i)
{
    const acq_run *first = sampler->runs + sampler->first_run[entity];
    const acq_run *end = sampler->runs + sampler->first_run[entity + 1], *run;
    ACQ_SEARCH(run, first + 1, end, run->before <= i);
    run--;
    acq_ent to = acq_sampler_get_row(sampler, run).tails[i - run->before];
    return (acq_sampler_step){.from = entity, .relation = run->relation, .to = to};
}
