/* worlds.h - p of a query from the probabilities of its links: the share of possible worlds in
 * which it holds.
 *
 * Every graph has the same 2,048 worlds. An observed fact is true in all of them; a missing link of
 * probability p in 2048 p of them, rounded, at least one and not all. Which ones follows from
 * the link alone, so every query meets the same worlds, and its p is the number of worlds in
 * which it holds: a measure, whence all laws of probability hold between queries, to the bit.
 *
 *   world 0          every missing link is true, and there are entities that nobody has named
 *   worlds 1 .. J-1  joint: links come true together, the likeliest first, as if one cause decided
 *   worlds J ..      each link for itself
 *
 * The share J of joint worlds is the calibrator's (`joint`): independent links state too little
 * for conjunctions, and too much for many weak alternatives.
 *
 * A set of worlds is 256 bytes. Literals meet in intersections, values and disjuncts in unions,
 * parts that share no variable apart from each other; what could add no world is not tried. */
#ifndef ACQ_CALIBRATE_WORLDS_H
#define ACQ_CALIBRATE_WORLDS_H

#include "base/budget.h"
#include "base/memory.h"
#include "predict/predictor.h"
#include "query/problem.h"

enum {
    ACQ_N_WORLDS = 2048,
    ACQ_WORLDS_WORK = 4000000, /* of one query: some tens of milliseconds */
};

/* p of a link by its score: that of a query which asks for this link alone. */
double acq_worlds_get_link_p(double score);

/* Worlds of one predictor, whose scores are probabilities; for one thread at a time. joint: share
 * of joint worlds, in [0, 1]. */
typedef struct acq_worlds acq_worlds;
acq_status acq_worlds_new(const acq_predictor *predictor, double joint, acq_worlds **out,
                          acq_error *error);
void acq_worlds_free(acq_worlds *worlds); /* NULL is legal */

/* Is the link true in a world, 0 .. ACQ_N_WORLDS - 1? For tests, and whoever wants to see. */
bool acq_worlds_has(acq_worlds *worlds, acq_ent head, acq_rel relation, acq_ent tail,
                    uint32_t world);

/* The share of worlds in which some values of the problem's variables satisfy it. known: values
 * that do in many worlds, one for each variable, from which the walk begins; NULL: none. When the
 * budget ends first, or a query is nested too deeply, budget->spent says so and *p is what was
 * found so far: p is at least that. Cost: the rows of the problem's variables, about 0.1
 * microseconds for each link met. */
acq_status acq_worlds_measure(acq_worlds *worlds, const acq_problem *problem, const acq_ent *known,
                              acq_budget *budget, double *p, acq_error *error);

/* ---- first ----
 *
 * Inside worlds: does a problem hold in world 0? */

/* Scratch is in the arena; *has_memory becomes false when it runs out. */
bool acq_first_holds(const acq_problem *problem, acq_arena *arena, acq_budget *budget,
                     bool *has_memory);

/* Union-find: the root of i; parents on the way come nearer to it. */
static inline uint32_t acq_first_find_root(uint32_t *parents, uint32_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

#endif
