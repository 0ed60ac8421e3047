/* base.h - base queries: the paper's "Base large query generation", step by step.
 *
 *   1. an entity v, uniformly (or, as the published scripts do, at an end of an unobserved fact)
 *   2. n_hub hubs, uniformly from the entities at most two steps from v
 *   3. D: v, the hubs and all their neighbours
 *   4. a leaf of D (one neighbour within D) leaves it with probability p_out
 *   5. D': n_min entities of D, uniformly among the choices that make D', hubs and v connected. All
 *      facts among these must not be observed already
 *   6. an entity of D' other than v and the hubs becomes a constant with p_const / degree^2
 *   7. each fact among them is an atom, v the free variable
 *
 * Step 5 draws sets until one is connected, a number of times, and then begins anew at step 1.
 * query/sample/hub.c draws alike for training, in bounded time at any degree; here the procedure is
 * the published one. Cost of a try: the facts within two steps of v. */
#ifndef ACQ_GENERATE_BASE_H
#define ACQ_GENERATE_BASE_H

#include "generate/draft.h"
#include "query/sample/sampler.h"

typedef struct acq_base_params {
    uint32_t n_hubs; /* besides v */
    uint32_t n_min;  /* entities of D' */
    double p_const, p_out;
    bool from_unobserved; /* v is an end of a fact that is not observed */
    bool one_per_pair;    /* of the atoms between two terms only one */
} acq_base_params;

/* What a thread needs for drawing. */
typedef struct acq_base_room acq_base_room;

acq_status acq_base_room_new(const acq_sampler *complete, const acq_graph *observed,
                             acq_base_room **out, acq_error *error);
void acq_base_room_free(acq_base_room *room);

/* One try. *is_drawn false: the place that was drawn does not fit; else *out is to be deinited. The
 * random numbers alone decide. */
acq_status acq_base_draw(acq_base_room *room, const acq_base_params *params, acq_random *random,
                         bool *is_drawn, acq_draft *out, acq_error *error);

#endif
