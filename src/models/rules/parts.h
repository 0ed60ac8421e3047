/* parts.h - what mining and applying rules share: a set of rules, the left sides (bodies), all
 * links of an entity, and counts of bodies.
 *
 * A body of two hops links (x, y), x != y, by way of any z that is neither of them; so a link is
 * never part of a body that it is concluded from. Turned around, r2^-1(y, z) & r1^-1(z, x), it
 * links the same pairs. */
#ifndef ACQ_MODELS_RULES_PARTS_H
#define ACQ_MODELS_RULES_PARTS_H

#include "models/rules/rules.h"

typedef struct acq_rule_list {
    acq_rule *rules;
    size_t n;
} acq_rule_list;

struct acq_rules {
    const acq_links **links; /* of the graph, by relation; borrowed */
    acq_rule_list *lists;    /* by relation */
    uint32_t n_relations, n_entities;
    uint32_t walks;
    uint64_t seed;
};

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

/* All links of an entity, whatever the relation, grouped by the other end: where two such lists
 * meet are the paths of two hops between two entities. */
typedef struct acq_adjacent {
    acq_ent entity;
    acq_rel relation; /* from the list's owner to the entity */
} acq_adjacent;

typedef struct acq_adjacency {
    size_t *offsets;   /* n_entities + 1 */
    acq_adjacent *all; /* lists sorted by entity */
} acq_adjacency;

/* links[0..n_relations) of one graph, closed under inverses. O(links), and so is its memory. */
acq_status acq_adjacency_init(acq_adjacency *adjacency, const acq_links *const *links,
                              uint32_t n_relations, uint32_t n_entities);
void acq_adjacency_deinit(acq_adjacency *adjacency);

/* One entity z that x and y are both linked to: the links of either to it. */
typedef struct acq_meeting {
    const acq_adjacent *of_x, *of_y;
    uint32_t n_x, n_y;
} acq_meeting;

typedef struct acq_meetings {
    acq_meeting *all;
    size_t n, capacity;
    uint64_t n_paths; /* sum of n_x * n_y */
} acq_meetings;

/* All meetings of x and y but x and y themselves. O(shorter list * log) or O(both lists). */
acq_status acq_adjacency_meet(const acq_adjacency *adjacency, acq_ent x, acq_ent y,
                              acq_meetings *out);

/* The links from x to y; how many. */
uint32_t acq_adjacency_between(const acq_adjacency *adjacency, acq_ent x, acq_ent y,
                               const acq_adjacent **out);

/* How many facts of a relation each body links: a hash table from bodies to counts, in which a body
 * counts once per fact however many paths it has. */
typedef struct acq_tally_entry {
    uint64_t key; /* of the body */
    uint32_t hits;
    uint32_t last; /* the fact that was counted last; 0: the place is free */
} acq_tally_entry;

typedef struct acq_tally {
    acq_tally_entry *entries;
    size_t n, capacity; /* a power of two */
} acq_tally;

void acq_tally_deinit(acq_tally *tally);

/* Forgets all counts; the memory stays. */
void acq_tally_clear(acq_tally *tally);

/* fact counts from 1 and does not fall. */
acq_status acq_tally_add(acq_tally *tally, acq_body body, uint32_t fact);

#endif
