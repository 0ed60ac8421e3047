/* body.h - the left side of a rule, and how many pairs of entities it links.
 *
 * A body of two hops links (x, y), x != y, by way of any z that is neither of them; so a link is
 * never part of a body that it is concluded from. Turned around, r2^-1(y, z) & r1^-1(z, x), it
 * links the same pairs. */
#ifndef ACQ_MODELS_RULES_BODY_H
#define ACQ_MODELS_RULES_BODY_H

#include "graph/graph.h"

typedef struct acq_body {
    acq_rel first, second; /* second ACQ_NO_ID: one hop */
} acq_body;

static inline uint64_t acq_body_get_key(acq_body body)
{
    return (uint64_t)body.first << 32 | body.second;
}

static inline acq_body acq_body_from_key(uint64_t key)
{
    return (acq_body){.first = (acq_rel)(key >> 32), .second = (acq_rel)key};
}

static inline acq_body acq_body_turn(acq_body body)
{
    if (body.second == ACQ_NO_ID)
        return (acq_body){.first = acq_inverse(body.first), .second = ACQ_NO_ID};
    return (acq_body){.first = acq_inverse(body.second), .second = acq_inverse(body.first)};
}

/* What one thread counts with. */
typedef struct acq_pair_counter {
    const acq_links *const *links;
    uint32_t *marks; /* by entity: the last head that reached it */
    uint32_t n_entities, mark;
} acq_pair_counter;

acq_status acq_pair_counter_init(acq_pair_counter *counter, const acq_links *const *links,
                                 uint32_t n_entities);
void acq_pair_counter_deinit(acq_pair_counter *counter);

/* Pairs that the body links. Bodies of more than `most_paths` paths: estimated, without bias, from
 * n_samples paths that depend on nothing but the seed and the body. */
double acq_pair_counter_count(acq_pair_counter *counter, acq_body body, uint64_t most_paths,
                              uint32_t n_samples, uint64_t seed);

#endif
