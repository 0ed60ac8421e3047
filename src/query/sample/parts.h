/* parts.h - what the two kinds of queries share: the facts of each entity, by relation.
 *
 *   first_run  [ 0 | 2 | 2 | 3 ]              by entity: its runs are first_run[e] .. [e+1]
 *   runs       [ r0 row | r4 row | r1 row ]   by relation: a row of that relation's links
 *
 * The neighbours themselves stay in the graph's links, so the sampler needs 12 bytes for each pair
 * of an entity and a relation at it, not for each fact. Relations of both directions are there:
 * whoever has a fact can be left and reached along it. */
#ifndef ACQ_QUERY_SAMPLE_PARTS_H
#define ACQ_QUERY_SAMPLE_PARTS_H

#include "query/sample/sampler.h"

typedef struct acq_sample_run {
    acq_rel relation;
    uint32_t row;    /* of links[relation] */
    uint32_t before; /* facts of the entity in the runs before this one */
} acq_sample_run;

struct acq_sampler {
    const acq_links **links; /* of each relation, borrowed from the graph */
    acq_sample_run *runs;
    uint32_t *first_run;
    acq_ent *entities; /* those with a fact */
    uint32_t n_entities, n_relations, n_with_facts;
};

/* A fact as it is met at `from`. */
typedef struct acq_sampler_step {
    acq_ent from;
    acq_rel relation;
    acq_ent to;
} acq_sampler_step;

static inline acq_row acq_sampler_get_row(const acq_sampler *sampler, const acq_sample_run *run)
{
    return acq_links_get_row_at(sampler->links[run->relation], run->row);
}

static inline bool acq_sampler_has_fact(const acq_sampler *sampler, acq_sampler_step fact)
{
    return acq_links_get_score(sampler->links[fact.relation], fact.from, fact.to) > 0;
}

/* Any entity with a fact, all alike. */
static inline acq_ent acq_sampler_draw_entity(const acq_sampler *sampler, acq_random *random)
{
    return sampler->entities[acq_random_below(random, sampler->n_with_facts)];
}

static inline acq_ent acq_row_draw(acq_row row, acq_random *random)
{
    return row.tails[acq_random_below(random, row.n)];
}

/* A fact at `from`: first one of its relations, all alike, then one of the facts of that. */
static inline acq_sampler_step acq_sampler_draw_step(const acq_sampler *sampler, acq_ent from,
                                                     acq_random *random)
{
    uint32_t begin = sampler->first_run[from];
    uint32_t n_runs = sampler->first_run[from + 1] - begin;
    const acq_sample_run *run = &sampler->runs[begin + acq_random_below(random, n_runs)];
    acq_ent to = acq_row_draw(acq_sampler_get_row(sampler, run), random);
    return (acq_sampler_step){.from = from, .relation = run->relation, .to = to};
}

static inline uint32_t acq_sampler_count_facts(const acq_sampler *sampler, acq_ent entity)
{
    const acq_sample_run *last = &sampler->runs[sampler->first_run[entity + 1] - 1];
    return last->before + (uint32_t)acq_sampler_get_row(sampler, last).n;
}

/* The i-th fact at `entity`, by relation and neighbour. O(log relations). */
acq_sampler_step acq_sampler_get_fact(const acq_sampler *sampler, acq_ent entity, uint32_t i);

#endif
