/* parts.h - what a set of rules is made of: shared by mining and applying. */
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

#endif
