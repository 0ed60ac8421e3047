/* rules.c - a set of rules: looking up and letting go. Making is mine.c, using is apply.c. */
#include "models/rules/rules.h"

#include "base/memory.h"
#include "models/rules/parts.h"

const acq_rule *acq_rules_get(const acq_rules *rules, acq_rel relation, size_t *n)
{
    *n = rules->lists[relation].n;
    return rules->lists[relation].rules;
}

void acq_rules_free(acq_rules *rules)
{
    if (rules == NULL)
        return;
    for (acq_rel r = 0; rules->lists != NULL && r < rules->n_relations; r++)
        acq_free(rules->lists[r].rules);
    acq_free(rules->lists);
    acq_free(rules->links);
    acq_free(rules);
}
