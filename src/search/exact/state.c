/* state.c - see state.h. Two lists cost O(small log(large / small)), or O(small + large) when
 * alike. */
#include "search/exact/state.h"

#include <string.h>

#include "base/memory.h"
#include "base/search.h"

/* ---- members ---- */

static size_t count_words(uint32_t n_entities)
{
    return (size_t)n_entities / 64 + 1;
}

void acq_exact_members_init(members *set, uint32_t n_entities)
{
    *set = (members){.n_entities = n_entities};
}

void acq_exact_members_deinit(members *set)
{
    acq_free(set->bits);
    acq_free(set->touched);
    acq_free(set->slots);
    *set = (members){0};
}

static acq_status open_bitmap(members *set)
{
    size_t n_words = count_words(set->n_entities);
    while (set->n_touched > 0)
        set->bits[set->touched[--set->n_touched]] = 0;
    if (set->touched == NULL)
        set->touched = acq_alloc(n_words, sizeof *set->touched);
    if (set->bits == NULL)
        set->bits = acq_zalloc(n_words, sizeof *set->bits);
    return set->bits == NULL || set->touched == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

acq_status acq_exact_members_open(members *set, size_t n)
{
    size_t n_slots = 16;
    if (set->n_entities <= ACQ_EXACT_BITMAP_ENTITIES)
        return open_bitmap(set);
    while (n_slots < 2 * n)
        n_slots *= 2;
    if (n_slots - 1 > UINT32_MAX || ACQ_RESERVE(set->slots, set->capacity, n_slots) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    set->mask = (uint32_t)(n_slots - 1);
    memset(set->slots, 0, n_slots * sizeof *set->slots);
    return ACQ_OK;
}

static size_t members_get_memory(const members *set)
{
    if (set->bits != NULL)
        return count_words(set->n_entities) * (sizeof *set->bits + sizeof *set->touched);
    return set->capacity * sizeof *set->slots;
}

/* ---- lists ---- */

/* Doubles the step until it is too far, then halves. */
uint32_t acq_exact_seek(const acq_ent *values, uint32_t from, uint32_t n, acq_ent wanted)
{
    uint32_t step = 1, low = from;
    while (low + step < n && values[low + step] < wanted) {
        low += step;
        step *= 2;
    }
    uint32_t high = low + step < n ? low + step : n;
    uint32_t i;
    ACQ_SEARCH(i, low, high, values[i] < wanted);
    return i;
}

static bool link_holds(acq_row row, uint32_t i, const acq_cutoff *cut)
{
    return row.scores == NULL || acq_cutoff_holds(cut, row.scores[i]);
}

static uint32_t keep_by_set(const acq_ent *set, uint32_t n, acq_row row, const acq_cutoff *cut,
                            acq_ent *out)
{
    uint32_t kept = 0, j = 0, m = (uint32_t)row.n;
    for (uint32_t i = 0; i < n; i++) {
        acq_ent value = set[i];
        j = acq_exact_seek(row.tails, j, m, value);
        if (j == m)
            break;
        if (row.tails[j] == value && link_holds(row, j, cut))
            out[kept++] = value;
    }
    return kept;
}

static uint32_t keep_by_row(const acq_ent *set, uint32_t n, acq_row row, const acq_cutoff *cut,
                            acq_ent *out)
{
    uint32_t kept = 0, i = 0, m = (uint32_t)row.n;
    for (uint32_t j = 0; j < m; j++) {
        acq_ent value = row.tails[j];
        i = acq_exact_seek(set, i, n, value);
        if (i == n)
            break;
        if (set[i] == value && link_holds(row, j, cut))
            out[kept++] = value;
    }
    return kept;
}

static uint32_t keep_by_merge(const acq_ent *set, uint32_t n, acq_row row, const acq_cutoff *cut,
                              acq_ent *out)
{
    uint32_t kept = 0, i = 0, j = 0, m = (uint32_t)row.n;
    while (i < n && j < m) {
        acq_ent a = set[i], b = row.tails[j];
        if (a == b && link_holds(row, j, cut))
            out[kept++] = a;
        i += a <= b;
        j += b <= a;
    }
    return kept;
}

uint32_t acq_exact_keep_row(const acq_ent *set, uint32_t n, acq_row row, const acq_cutoff *cut,
                            acq_ent *out)
{
    if (acq_exact_is_far_longer(row.n, n))
        return keep_by_set(set, n, row, cut, out);
    if (acq_exact_is_far_longer(n, row.n))
        return keep_by_row(set, n, row, cut, out);
    return keep_by_merge(set, n, row, cut, out);
}

uint32_t acq_exact_drop_row(const acq_ent *set, uint32_t n, acq_row row, const acq_cutoff *cut,
                            acq_ent *out)
{
    uint32_t kept = 0, j = 0, m = (uint32_t)row.n;
    for (uint32_t i = 0; i < n; i++) {
        acq_ent value = set[i];
        j = acq_exact_seek(row.tails, j, m, value);
        bool linked = j < m && row.tails[j] == value;
        if (!linked || acq_cutoff_holds_negated(cut, row.scores == NULL ? 1.0F : row.scores[j]))
            out[kept++] = value;
    }
    return kept;
}

uint32_t acq_exact_copy_row(acq_row row, const acq_cutoff *cut, acq_ent *out)
{
    uint32_t kept = 0, m = (uint32_t)row.n;
    if (row.scores == NULL) {
        if (m > 0)
            memcpy(out, row.tails, m * sizeof *out);
        return m;
    }
    for (uint32_t j = 0; j < m; j++)
        if (acq_cutoff_holds(cut, row.scores[j]))
            out[kept++] = row.tails[j];
    return kept;
}

uint32_t acq_exact_unite(const acq_ent *a, uint32_t n, const acq_ent *b, uint32_t m, acq_ent *out)
{
    uint32_t i = 0, j = 0, total = 0;
    while (i < n && j < m) {
        out[total++] = a[i] <= b[j] ? a[i] : b[j];
        bool step_a = a[i] <= b[j], step_b = b[j] <= a[i];
        i += step_a;
        j += step_b;
    }
    while (i < n)
        out[total++] = a[i++];
    while (j < m)
        out[total++] = b[j++];
    return total;
}

static void sort_few(acq_ent *set, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        acq_ent value = set[i];
        uint32_t k = i;
        for (; k > 0 && set[k - 1] > value; k--)
            set[k] = set[k - 1];
        set[k] = value;
    }
}

/* Stable by one byte of the values. */
static void sort_byte(const acq_ent *from, acq_ent *to, uint32_t n, unsigned shift)
{
    uint32_t ends[256] = {0}, sum = 0;
    for (uint32_t i = 0; i < n; i++)
        ends[(from[i] >> shift) & 255]++;
    for (uint32_t d = 0; d < 256; d++) {
        sum += ends[d];
        ends[d] = sum;
    }
    for (uint32_t i = n; i-- > 0;)
        to[--ends[(from[i] >> shift) & 255]] = from[i];
}

void acq_exact_sort(acq_ent *set, acq_ent *scratch, uint32_t n)
{
    enum { FEW = 48 };
    acq_ent all = 0, *from = set, *to = scratch;
    if (n <= FEW) {
        sort_few(set, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        all |= set[i];
    for (unsigned shift = 0; shift < 32 && all >> shift != 0; shift += 8) {
        sort_byte(from, to, n, shift);
        acq_ent *other = from;
        from = to;
        to = other;
    }
    if (from != set)
        memcpy(set, from, n * sizeof *set);
}

/* ---- state ----
 *
 * Domains, trail and queue; see state.h. */

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
    return s->other_memory + s->arena->reserved + members_get_memory(&s->members) +
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
