/* neighbours.h - what entities like the head have: a row model without any training.
 *
 * An entity is described by its facts, (relation, other end), rare ones weighing more; two are as
 * like as the cosine of their descriptions. The share of an entity's likes that have a tail says
 * how well it would suit:
 *
 *   weight(r, x)    = log(entities / heads of (r, x))
 *   like(h, g)      = sum of weight^2 over the facts that both have / (length(h) length(g))
 *   score(h, r, t)  = log(least + sum of like^2 over g with (g, r, t)
 *                                / sum of like^2 over g with any (g, r, .))
 *
 * Facts that more than 2,000 entities share say little and are left out of descriptions.
 *
 * In paths: h -a-> x <-a- g -r-> t for all relations a at once, where rules end at two steps. A
 * head that is like no one with the relation has the same score, log(least), everywhere. */
#ifndef ACQ_MODELS_NEIGHBOURS_H
#define ACQ_MODELS_NEIGHBOURS_H

#include "models/model.h"

acq_status acq_neighbours_new_row_model(const acq_graph *graph, acq_row_model **out,
                                        acq_error *error);

/* Entities like a head, for people to read. */
typedef struct acq_neighbour {
    acq_ent entity;
    float like;    /* squared, as in the score */
    bool has_tail; /* (entity, relation, tail) is a fact */
} acq_neighbour;

/* Of the entities that have any fact of the relation, the `most` that are most like the head, most
 * like first, then by id. model: made by the function above. O(a row). */
acq_status acq_neighbours_find(const acq_row_model *model, acq_ent head, acq_rel relation,
                               acq_ent tail, acq_neighbour *out, size_t most, size_t *n,
                               acq_error *error);

/* Entities that are like any of `heads`, in no order, `like` summed over them: where those have a
 * tail, the entities whose rows propose it. memory: the model's scratch. *out is the caller's. */
acq_status acq_neighbours_find_like_any(const acq_row_model *model, void *memory,
                                        const acq_ent *heads, size_t n_heads, acq_neighbour **out,
                                        size_t *n, acq_error *error);

#endif
