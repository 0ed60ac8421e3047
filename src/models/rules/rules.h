/* rules.h - mined one- and two-hop rules: what else links two entities when r does.
 *
 *   r'(x, y)            => r(x, y)        one hop (r' may be an inverse, also that of r)
 *   r1(x, z) & r2(z, y) => r(x, y)        two hops
 *
 * where z is neither x nor y, so a fact never supports itself: its own link is no part of the
 * body. Confidence: (support - 1/2) / (pairs of the body + 5), where support counts body pairs
 * (x, y), x != y, that r links. Relations with many facts are mined on a sample of them, and
 * bodies with many paths counted on a sample of these. The most confident rules of each relation
 * are kept. Deterministic for a seed at any number of threads. */
#ifndef ACQ_PREDICT_RULES_H
#define ACQ_PREDICT_RULES_H

#include "base/budget.h"
#include "graph/graph.h"

typedef struct acq_rule {
    acq_rel first, second; /* second ACQ_NO_ID: one hop */
    float confidence;
    uint32_t support;
} acq_rule;

typedef struct acq_rules acq_rules;

typedef struct acq_rules_params {
    uint32_t most; /* rules kept per relation */
    uint32_t least_support;
    double least_confidence;
    uint32_t facts; /* most facts of a relation whose paths are counted */
    uint32_t walks; /* most paths followed from one fact, or from one head by one rule */
    uint64_t seed;
    unsigned n_threads;
    acq_stop stop; /* asked from any thread */
} acq_rules_params;

#define ACQ_RULES_DEFAULT                                                                          \
    ((acq_rules_params){.most = 60,                                                                \
                        .least_support = 2,                                                        \
                        .least_confidence = .005,                                                  \
                        .facts = 20000,                                                            \
                        .walks = 2000,                                                             \
                        .seed = 1})

/* The graph must outlive the rules: applying them reads its links. */
acq_status acq_rules_mine(const acq_graph *graph, const acq_rules_params *params, acq_rules **out,
                          acq_error *error);
void acq_rules_free(acq_rules *rules); /* NULL is legal */

/* Rules that were mined before: lists[i] has n[i] rules of relation 2i, as acq_rules_get gave them,
 * and relations behind the n_lists-th pair have none. ACQ_ERR_INPUT for a relation that the graph
 * does not have. */
acq_status acq_rules_new(const acq_graph *graph, const acq_rule *const *lists, const size_t *n,
                         size_t n_lists, acq_rules **out, acq_error *error);

/* Rules of a relation, most confident first. Those of inverse(r) are the same, turned around. */
const acq_rule *acq_rules_get(const acq_rules *rules, acq_rel relation, size_t *n);

/* The pairs that the rule's body links, of which `support` have the relation: what its confidence
 * was made of. */
uint32_t acq_rule_count_pairs(const acq_rule *rule);

/* A rule whose body links two entities. */
typedef struct acq_fired_rule {
    const acq_rule *rule;
    acq_ent middle; /* of two hops: one entity on the way; ACQ_NO_ID: one hop */
} acq_fired_rule;

/* The first `most` rules that conclude relation(head, tail), most confident first; *n_all counts
 * all that do. Returns how many were written. */
size_t acq_rules_find_fired(const acq_rules *rules, acq_ent head, acq_rel relation, acq_ent tail,
                            acq_fired_rule *out, size_t most, size_t *n_all);

/* What the rules say about one (head, relation): one entry per tail that some body reaches. */
typedef struct acq_rule_evidence {
    acq_ent tail;
    float one_hop; /* largest confidence of a one-hop rule that fires, 0: none */
    float two_hop;
    float noisy_or; /* of all that fire */
    uint32_t n;     /* rules that fire */
} acq_rule_evidence;

typedef struct acq_rules_scratch acq_rules_scratch; /* one per thread */
acq_status acq_rules_scratch_new(const acq_rules *rules, acq_rules_scratch **out, acq_error *error);
void acq_rules_scratch_free(acq_rules_scratch *scratch);

/* Entries sorted by tail, borrowed from the scratch until the next call; observed tails of
 * (head, relation) and head itself are left in. At most `walks` paths per rule are followed. */
acq_status acq_rules_apply(const acq_rules *rules, acq_ent head, acq_rel relation,
                           acq_rules_scratch *scratch, const acq_rule_evidence **out, size_t *n,
                           acq_error *error);

#endif
