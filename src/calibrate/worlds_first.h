/* worlds_first.h - inside worlds: does a problem hold in world 0? */
#ifndef ACQ_CALIBRATE_WORLDS_FIRST_H
#define ACQ_CALIBRATE_WORLDS_FIRST_H

#include "base/budget.h"
#include "base/memory.h"
#include "query/problem.h"

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
