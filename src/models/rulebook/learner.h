/* learner.h - inside a learner: what it knows of each pair of relations. */
#ifndef ACQ_MODELS_RULEBOOK_LEARNER_H
#define ACQ_MODELS_RULEBOOK_LEARNER_H

#include "models/rulebook/parts.h"
#include "models/rules/parts.h"

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
