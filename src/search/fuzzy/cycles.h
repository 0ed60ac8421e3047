/* cycles.h - inside search/fuzzy: FIT on cycles (fuzzy.h), before it starts and while it solves. */
#ifndef ACQ_SEARCH_FUZZY_CYCLES_H
#define ACQ_SEARCH_FUZZY_CYCLES_H

#include "search/fuzzy/fuzzy.h"

/* Inside: the time is over. Never leaves these files. */
#define ACQ_CYCLES_SPENT ACQ_ERR_INTERRUPTED

/* What is left of the query: variables with their sets. */
typedef struct acq_cycles_state {
    acq_fuzzy_set *sets; /* by variable */
    bool *is_open;       /* by variable: still to be dealt with */
    double factor;       /* parts that hang together with nothing */
} acq_cycles_state;

struct acq_fuzzy_cycles {
    const acq_problem *problem;
    const acq_predictor *predictor;
    acq_fuzzy_params params;
    uint32_t n_variables, n_entities;
    bool *occurs;
    double *sizes; /* candidates of each variable before anything is tried: the order of cutting */
    acq_cycles_state start;
    acq_fuzzy_set root;
    double bound;
    double *best; /* scratch: n_entities zeros, and which of them are not */
    acq_ent *touched;
    uint32_t n_touched;
};

static inline bool acq_cycles_is_at(acq_place place, uint32_t variable)
{
    return place.is_variable && place.id == variable;
}

/* The relation that leads from the value of `from` to the other end. */
static inline acq_rel acq_cycles_lead_from(const acq_literal *l, uint32_t from)
{
    return acq_cycles_is_at(l->left, from) ? l->relation : acq_inverse(l->relation);
}

/* What a literal says of two values. */
double acq_cycles_judge(const acq_fuzzy_cycles *c, const acq_literal *l, acq_ent left,
                        acq_ent right);

bool acq_cycles_must_end(const acq_fuzzy_cycles *c);

/* Sets are gathered in scratch: touch keeps an entity's largest degree, gather takes them all. */
void acq_cycles_touch(acq_fuzzy_cycles *c, acq_ent entity, double degree);
acq_status acq_cycles_gather(acq_fuzzy_cycles *c, acq_fuzzy_set *out);

/* to = to and from; `from` is used up. */
acq_status acq_cycles_join(const acq_fuzzy_cycles *c, acq_fuzzy_set *to, acq_fuzzy_set *from);

/* Where a relation leads from one value, or the rest of it. */
acq_status acq_cycles_make_row(const acq_fuzzy_cycles *c, acq_ent head, acq_rel relation,
                               bool is_negated, acq_fuzzy_set *out);

/* The sizes of the sets, and the bound that follows from them. */
acq_status acq_cycles_measure(acq_fuzzy_cycles *c);

/* The time being over is no error. */
acq_status acq_cycles_settle(acq_status status, bool *is_done, acq_error *error);

#endif
