/* state.h - where a search stands: a domain per node, a trail to undo, a queue of changes.
 *
 *   domains  node -> sorted values (in the arena), or "all entities" without a list
 *   trail    (node, old domain), newest last
 *   queue    nodes whose domain changed since their neighbours were revised
 *
 * Domains only shrink; shrinking writes a new list and keeps the old one for the trail, so undo
 * is a matter of pointers: reset the arena to its mark and pop the trail. A node is fixed when
 * its list has one value. */
#ifndef ACQ_SEARCH_EXACT_STATE_H
#define ACQ_SEARCH_EXACT_STATE_H

#include "search/exact/model.h"
#include "search/exact/sets.h"

typedef struct domain {
    const acq_ent *values;
    uint32_t n;
    bool is_all;
} domain;

typedef struct change {
    uint32_t node;
    domain old;
} change;

enum { ACQ_EXACT_LEVEL_BYTES = 88 }; /* about the size of a solve_level */

typedef struct state {
    const model *m;
    acq_cutoff cut;
    acq_arena *arena;
    domain *domains;
    change *trail;
    size_t n_trail, trail_capacity;
    uint32_t *queue;
    uint32_t n_queue;
    bool *queued;
    members members; /* scratch set of entities */
    uint32_t *marks; /* scratch stamp per node */
    uint32_t *clause_marks;
    uint32_t mark;           /* the latest stamp of both */
    uint32_t *order;         /* scratch list of nodes */
    uint32_t *counts;        /* scratch count per node */
    struct component *found; /* scratch of acq_exact_solve */
    size_t found_capacity;
    struct solve_level *levels; /* of acq_exact_solve */
    size_t n_levels, levels_capacity;
    size_t other_memory; /* bytes held elsewhere for the same search */
    acq_budget *budget;
    acq_status status; /* ACQ_ERR_MEMORY once an allocation failed */
    uint64_t nodes, revisions;
    acq_arena_mark base; /* where the arena stands before any search */
} state;

typedef struct state_mark {
    acq_arena_mark arena;
    size_t n_trail;
} state_mark;

/* Allocates what the state needs in `arena`; the trail is on the heap: deinit frees it. */
acq_status acq_exact_state_init(state *s, const model *m, acq_arena *arena, acq_budget *budget);
void acq_exact_state_deinit(state *s);

static inline bool is_fixed(const state *s, uint32_t node)
{
    return s->domains[node].n == 1 && !s->domains[node].is_all;
}

/* Bytes that count against the memory budget. */
size_t acq_exact_get_memory(const state *s);

/* False once the budget is spent or memory is out: every loop stops then. */
bool acq_exact_go_on(state *s, size_t work);

state_mark acq_exact_get_mark(const state *s);
void acq_exact_undo(state *s, state_mark mark);
void acq_exact_undo_all(state *s);

/* A list of up to n values to be filled, then shrunk by set_domain. NULL: memory is out. */
acq_ent *acq_exact_new_list(state *s, uint32_t n);

/* Empties s->members for up to n of them. False: memory is out. */
bool acq_exact_open_members(state *s, size_t n);

/* Makes list[0..n) the domain of node, records the old one and queues the node. list must come
 * from the latest new_list. False when n is 0 or memory is out. */
bool acq_exact_set_domain(state *s, uint32_t node, acq_ent *list, uint32_t n);

/* Fixes the node to one value. */
bool acq_exact_fix(state *s, uint32_t node, acq_ent value);

/* A new stamp for marks and clause_marks: nothing carries it. */
void acq_exact_renew_mark(state *s);

void acq_exact_enqueue(state *s, uint32_t node);

#endif
