/* parts.h - what the files of a rulebook share: walks along the body of a cycle, and the graph's
 * links as a learner and a row model need them. */
#ifndef ACQ_MODELS_RULEBOOK_PARTS_H
#define ACQ_MODELS_RULEBOOK_PARTS_H

#include "base/hash.h"
#include "models/rulebook/rulebook.h"
#include "models/rules/parts.h"

/* ---- bodies ---- */

static inline unsigned acq_learnt_rule_get_hops(const acq_rel *body)
{
    return body[1] == ACQ_NO_ID ? 1 : body[2] == ACQ_NO_ID ? 2 : 3;
}

/* The body that links the same pairs the other way round. */
static inline void acq_learnt_rule_turn(const acq_rel *body, acq_rel *out)
{
    unsigned n = acq_learnt_rule_get_hops(body);
    for (unsigned i = 0; i < ACQ_RULEBOOK_HOPS; i++)
        out[i] = i < n ? acq_inverse(body[n - 1 - i]) : ACQ_NO_ID;
}

/* By head, then by constant, most confident first, and by the body where all these are equal. */
int acq_learnt_rule_compare(const void *a, const void *b);

/* All links of a graph, by relation; borrowed from it. *out is freed with acq_free. */
acq_status acq_rulebook_open_links(const acq_graph *graph, const acq_links ***out,
                                   acq_error *error);

/* The numbers below n, each once, in an order that follows from the random numbers. */
typedef struct acq_stride {
    uint64_t n, start, step;
} acq_stride;

acq_stride acq_stride_draw(acq_random *random, uint64_t n); /* n > 0 */

static inline uint64_t acq_stride_get(const acq_stride *stride, uint64_t i)
{
    return (uint64_t)((stride->start + (unsigned __int128)i * stride->step) % stride->n);
}

/* ---- walks ---- */

/* Where a body leads from a head: entities that a path of different entities reaches. The entities
 * of each hop are a set, so the work is that of the links and not of the paths; only the third hop
 * needs to know the ways to the second one, and two of them are enough. Bodies that begin alike
 * share their first hops when one is followed after the other. */
typedef struct acq_walk_hop {
    acq_ent *ends;
    size_t n;
    acq_rel relation; /* that led here; ACQ_NO_ID: the hop is not made */
    bool is_cut;      /* the work was too much: there may be more ends */
} acq_walk_hop;

typedef struct acq_walker {
    const acq_links *const *links;
    uint32_t n_entities;
    acq_ent head;
    acq_walk_hop hops[ACQ_RULEBOOK_HOPS];
    uint32_t *marks[ACQ_RULEBOOK_HOPS]; /* by entity: the last set that it was put in */
    uint32_t last[ACQ_RULEBOOK_HOPS];   /* of these sets */
    acq_ent *before;                    /* by entity of the second hop: one before it */
    bool *has_others;                   /* and whether there is another */
    uint64_t most;                      /* links that one body may look at */
    uint64_t work;                      /* links looked at so far */
} acq_walker;

acq_status acq_walker_init(acq_walker *walker, const acq_links *const *links, uint32_t n_entities,
                           uint64_t most);
void acq_walker_deinit(acq_walker *walker); /* a zeroed one is legal */

void acq_walker_start(acq_walker *walker, acq_ent head);

/* The ends of the body from the head, borrowed until the next body; in no order. */
const acq_ent *acq_walker_follow(acq_walker *walker, const acq_rel *body, size_t *n);

/* ---- counting ---- */

/* Support and pairs of a cycle whose head and body are filled in, from at most `heads` heads of the
 * body and some thousand pairs; which ones depends on seed, head and body. */
void acq_walker_count(acq_walker *walker, acq_learnt_rule *rule, uint32_t heads, uint64_t seed);

/* Of a rule with constants, h(X, c) <= b(X, d): all X but c and d with the body. */
uint32_t acq_rulebook_count_pairs(const acq_links *const *links, acq_rel body, acq_ent constant,
                                  acq_ent other);
/* h(X, c) <= b(X, A): all X but c that have an A but c. */
uint32_t acq_rulebook_count_any(const acq_links *const *links, acq_rel body, acq_ent constant);

/* ---- learner ----
 *
 * Inside a learner: what it knows of each pair of relations. */

typedef struct acq_learnt_list {
    acq_learnt_rule *rules;
    size_t n, room;
} acq_learnt_list;

typedef struct acq_rule_subject {
    acq_learnt_list cycles;       /* all that were counted, bad ones too */
    acq_learnt_list constants[2]; /* of both directions */
    uint64_t *seen;               /* bodies that were counted, sorted when a round begins */
    size_t n_seen, seen_room;
} acq_rule_subject;

struct acq_rule_learner {
    const acq_graph *graph;
    acq_rulebook_params params;
    const acq_links **links;
    uint32_t n_entities, n_relations;
    acq_adjacency adjacency;
    acq_rule_subject *subjects; /* n_relations / 2 */
    acq_rel *order;             /* even relations, those with most facts first */
    struct acq_rule_worker *workers;
    unsigned n_workers;
    uint64_t round;
};

/* Is the rule right often enough? */
bool acq_rule_learner_keeps(const acq_rule_learner *learner, const acq_learnt_rule *rule);

#endif
