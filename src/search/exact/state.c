/* state.c - domains, trail and queue; see state.h. */
#include "search/exact/state.h"

#include <string.h>

#include "base/memory.h"

acq_status acq_exact_state_init(state *s, const model *m, acq_arena *arena, acq_budget *budget)
{
    *s = (state){.m = m, .arena = arena, .budget = budget};
    s->domains = acq_arena_alloc(arena, m->n_nodes, sizeof *s->domains);
    s->queue = acq_arena_alloc(arena, m->n_nodes, sizeof *s->queue);
    s->queued = acq_arena_zalloc(arena, m->n_nodes, sizeof *s->queued);
    s->marks = acq_arena_zalloc(arena, m->n_nodes, sizeof *s->marks);
    s->clause_marks = acq_arena_zalloc(arena, m->n_clauses, sizeof *s->clause_marks);
    s->order = acq_arena_alloc(arena, m->n_nodes, sizeof *s->order);
    s->counts = acq_arena_zalloc(arena, m->n_nodes, sizeof *s->counts);
    acq_exact_members_init(&s->members, m->n_entities);
    if (s->domains == NULL || s->queue == NULL || s->queued == NULL || s->marks == NULL ||
        s->clause_marks == NULL || s->order == NULL || s->counts == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < m->n_nodes; i++)
        s->domains[i] = (domain){.n = m->n_entities, .is_all = true};
    s->base = acq_arena_get_mark(arena);
    return ACQ_OK;
}

void acq_exact_state_deinit(state *s)
{
    acq_free(s->trail);
    acq_exact_members_deinit(&s->members);
    acq_free(s->found);
    acq_free(s->levels);
    s->found = NULL;
    s->levels = NULL;
    s->trail = NULL;
}

size_t acq_exact_get_memory(const state *s)
{
    return s->other_memory + s->arena->reserved + acq_exact_members_get_memory(&s->members) +
           s->trail_capacity * sizeof *s->trail +
           (s->levels_capacity + s->found_capacity) * ACQ_EXACT_LEVEL_BYTES;
}

bool acq_exact_go_on(state *s, size_t work)
{
    return s->status == ACQ_OK && acq_budget_tick(s->budget, work);
}

state_mark acq_exact_get_mark(const state *s)
{
    return (state_mark){.arena = acq_arena_get_mark(s->arena), .n_trail = s->n_trail};
}

void acq_exact_undo(state *s, state_mark mark)
{
    while (s->n_trail > mark.n_trail) {
        s->n_trail--;
        s->domains[s->trail[s->n_trail].node] = s->trail[s->n_trail].old;
    }
    acq_arena_reset(s->arena, mark.arena);
    while (s->n_queue > 0)
        s->queued[s->queue[--s->n_queue]] = false;
}

void acq_exact_undo_all(state *s)
{
    acq_exact_undo(s, (state_mark){.arena = s->base, .n_trail = 0});
    s->n_levels = 0;
}

acq_ent *acq_exact_new_list(state *s, uint32_t n)
{
    acq_ent *list = acq_arena_alloc(s->arena, n, sizeof *list);
    if (list == NULL)
        s->status = ACQ_ERR_MEMORY;
    else
        acq_budget_check_memory(s->budget, acq_exact_get_memory(s));
    return list;
}

bool acq_exact_open_members(state *s, size_t n)
{
    if (acq_exact_members_open(&s->members, n) != ACQ_OK)
        s->status = ACQ_ERR_MEMORY;
    else
        acq_budget_check_memory(s->budget, acq_exact_get_memory(s));
    return s->status == ACQ_OK;
}

void acq_exact_renew_mark(state *s)
{
    if (++s->mark != 0)
        return;
    memset(s->marks, 0, s->m->n_nodes * sizeof *s->marks);
    memset(s->clause_marks, 0, s->m->n_clauses * sizeof *s->clause_marks);
    s->mark = 1;
}

void acq_exact_enqueue(state *s, uint32_t node)
{
    if (s->queued[node])
        return;
    s->queued[node] = true;
    s->queue[s->n_queue++] = node;
}

bool acq_exact_set_domain(state *s, uint32_t node, acq_ent *list, uint32_t n)
{
    acq_arena_trim(s->arena, list, n * sizeof *list);
    if (n == 0)
        return false;
    if (ACQ_RESERVE(s->trail, s->trail_capacity, s->n_trail + 1) != ACQ_OK) {
        s->status = ACQ_ERR_MEMORY;
        return false;
    }
    s->trail[s->n_trail++] = (change){.node = node, .old = s->domains[node]};
    s->domains[node] = (domain){.values = list, .n = n};
    acq_exact_enqueue(s, node);
    return true;
}

bool acq_exact_fix(state *s, uint32_t node, acq_ent value)
{
    acq_ent *list = acq_exact_new_list(s, 1);
    if (list == NULL)
        return false;
    list[0] = value;
    return acq_exact_set_domain(s, node, list, 1);
}
