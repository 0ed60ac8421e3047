/* revise.c - arc revision and its fixpoint (AC-3, smallest changed domain first).
 *
 * An edge is one constraint: all its atoms are judged on the same pair of values, so that for a
 * tree of edges arc consistency alone decides satisfiability. */
#include "search/exact/state.h"

/* One direction of an edge. */
typedef struct arc {
    const model_edge *edge;
    bool from_x;
    uint32_t target;
} arc;

static const acq_links *source_links(const arc *a, uint32_t i)
{
    return a->from_x ? a->edge->atoms[i].xy : a->edge->atoms[i].yx;
}

static const acq_links *target_links(const arc *a, uint32_t i)
{
    return a->from_x ? a->edge->atoms[i].yx : a->edge->atoms[i].xy;
}

static uint32_t remove_value(acq_ent *list, uint32_t n, acq_ent value)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (list[i] != value)
            list[kept++] = list[i];
    return kept;
}

/* The target's values that go with one value of the source. */
static uint32_t filter_by_value(const state *s, const arc *a, acq_ent value, acq_ent *list)
{
    const domain *target = &s->domains[a->target];
    const acq_ent *from = target->values;
    uint32_t n = target->n, i = 0;
    for (; i < a->edge->n_positive; i++) {
        acq_row row = acq_links_get_row(source_links(a, i), value);
        n = acq_exact_keep_row(from, n, row, &s->cut, list);
        from = list;
    }
    for (; i < a->edge->n_positive + a->edge->n_negated; i++) {
        acq_row row = acq_links_get_row(source_links(a, i), value);
        n = acq_exact_drop_row(from, n, row, &s->cut, list);
        from = list;
    }
    if (!a->edge->differ)
        return n;
    for (uint32_t k = 0; from != list && k < n; k++)
        list[k] = from[k];
    return remove_value(list, n, value);
}

static bool revise_by_value(state *s, const arc *a, acq_ent value)
{
    const domain *target = &s->domains[a->target];
    acq_ent *list = acq_exact_new_list(s, target->n);
    if (list == NULL)
        return false;
    uint32_t n = filter_by_value(s, a, value, list);
    if (n == target->n) {
        acq_arena_trim(s->arena, list, 0);
        return acq_exact_go_on(s, n);
    }
    return acq_exact_set_domain(s, a->target, list, n) && acq_exact_go_on(s, n);
}

/* The rows of all atoms of an edge for one value of one side, fetched once and then asked about
 * many values of the other side. Atoms past MOST_ROWS are looked up each time. */
enum { MOST_ROWS = 4 };

typedef struct bundle {
    const model_edge *edge;
    bool from_x;
    acq_ent value;
    acq_row rows[MOST_ROWS];
    uint32_t shortest; /* of the positive rows */
} bundle;

static const acq_links *bundle_links(const bundle *b, uint32_t i)
{
    return b->from_x ? b->edge->atoms[i].xy : b->edge->atoms[i].yx;
}

static acq_row bundle_row(const bundle *b, uint32_t i)
{
    return i < MOST_ROWS ? b->rows[i] : acq_links_get_row(bundle_links(b, i), b->value);
}

/* False: a positive atom has no row at all. */
static bool bundle_open(bundle *b, const model_edge *edge, bool from_x, acq_ent value)
{
    uint32_t n = edge->n_positive + edge->n_negated;
    b->edge = edge;
    b->from_x = from_x;
    b->value = value;
    b->shortest = 0;
    for (uint32_t i = 0; i < n && i < MOST_ROWS; i++) {
        b->rows[i] = acq_links_get_row(bundle_links(b, i), value);
        if (i < edge->n_positive && b->rows[i].n < b->rows[b->shortest].n)
            b->shortest = i;
        if (b->rows[b->shortest].n == 0)
            return false;
    }
    return true;
}

/* Do the atoms other than the shortest hold with `other`? */
static bool bundle_holds(const state *s, const bundle *b, acq_ent other)
{
    const model_edge *edge = b->edge;
    if (edge->differ && b->value == other)
        return false;
    for (uint32_t i = 0; i < edge->n_positive + edge->n_negated; i++) {
        if (i == b->shortest)
            continue;
        acq_row row = bundle_row(b, i);
        size_t at = acq_row_find(row, other);
        float score = at == row.n ? 0.0F : row.scores == NULL ? 1.0F : row.scores[at];
        bool holds = i < edge->n_positive ? acq_cutoff_holds(&s->cut, score)
                                          : acq_cutoff_holds_negated(&s->cut, score);
        if (!holds)
            return false;
    }
    return true;
}

/* Does the link at place i of the shortest row, and all else that the edge asks, hold? */
static inline bool holds_at(const state *s, const bundle *b, acq_row row, size_t i)
{
    if (row.scores != NULL && !acq_cutoff_holds(&s->cut, row.scores[i]))
        return false;
    return is_simple(b->edge) || bundle_holds(s, b, row.tails[i]);
}

/* Is a value of the source, all of which are marked, linked to this value of the target? */
static bool has_support(state *s, const arc *a, const domain *source, acq_ent value)
{
    bundle b;
    if (!bundle_open(&b, a->edge, !a->from_x, value))
        return false;
    acq_row row = b.rows[b.shortest];
    uint32_t n = (uint32_t)row.n, at = 0;
    if (acq_exact_is_far_longer(n, source->n)) {
        for (uint32_t i = 0; i < source->n && at < n; i++) {
            at = acq_exact_seek(row.tails, at, n, source->values[i]);
            if (at < n && row.tails[at] == source->values[i] && holds_at(s, &b, row, at))
                return true;
        }
        return false;
    }
    s->budget->ticks_left -= n / 8;
    for (; at < n; at++)
        if (members_has(&s->members, row.tails[at]) && holds_at(s, &b, row, at))
            return true;
    return false;
}

/* Marks the source's domain, then looks for a marked neighbour of each target value. */
static uint32_t filter_backward(state *s, const arc *a, const domain *source, acq_ent *list)
{
    const domain target = s->domains[a->target];
    uint32_t n = 0;
    if (!acq_exact_open_members(s, source->n))
        return 0;
    for (uint32_t i = 0; i < source->n; i++)
        members_add(&s->members, source->values[i]);
    for (uint32_t i = 0; i < target.n; i++) {
        if (has_support(s, a, source, target.values[i]))
            list[n++] = target.values[i];
        if (!acq_exact_go_on(s, 4))
            break;
    }
    return n;
}

/* Marks what one value of the source is linked to, or only that of it which is in the target
 * where that is much less. */
static void mark_neighbours(state *s, const arc *a, acq_ent value)
{
    const domain *target = &s->domains[a->target];
    bundle b;
    if (!bundle_open(&b, a->edge, a->from_x, value))
        return;
    acq_row row = b.rows[b.shortest];
    uint32_t n = (uint32_t)row.n, at = 0;
    if (acq_exact_is_far_longer(n, target->n)) {
        for (uint32_t i = 0; i < target->n && at < n; i++) {
            at = acq_exact_seek(row.tails, at, n, target->values[i]);
            if (at < n && row.tails[at] == target->values[i] && holds_at(s, &b, row, at))
                members_add(&s->members, target->values[i]);
        }
        return;
    }
    s->budget->ticks_left -= n / 8;
    for (; at < n; at++)
        if (!members_has(&s->members, row.tails[at]) && holds_at(s, &b, row, at))
            members_add(&s->members, row.tails[at]);
}

/* Marks all neighbours of the source's domain, n_marks at most, then keeps the marked target
 * values. */
static uint32_t filter_forward(state *s, const arc *a, const domain *source, size_t n_marks,
                               acq_ent *list)
{
    const domain target = s->domains[a->target];
    uint32_t n = 0;
    if (!acq_exact_open_members(s, n_marks))
        return 0;
    for (uint32_t i = 0; i < source->n && acq_exact_go_on(s, 4); i++)
        mark_neighbours(s, a, source->values[i]);
    for (uint32_t i = 0; i < target.n; i++)
        if (members_has(&s->members, target.values[i]))
            list[n++] = target.values[i];
    return n;
}

static double mean_row(const acq_links *links)
{
    return links->n_heads == 0 ? 0.0 : (double)links->n_links / links->n_heads;
}

static uint32_t smallest_atom(const model_edge *edge)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < edge->n_positive; i++)
        if (edge->atoms[i].xy->n_links < edge->atoms[best].xy->n_links)
            best = i;
    return best;
}

/* The links that mark_neighbours would look at, or something not below `most`. */
static size_t count_marks(const state *s, const arc *a, const domain *source, size_t most)
{
    size_t n = 0, most_of_row = ACQ_EXACT_FAR * ((size_t)s->domains[a->target].n + 1);
    for (uint32_t i = 0; i < source->n && n < most; i++) {
        bundle b;
        if (!bundle_open(&b, a->edge, a->from_x, source->values[i]))
            continue;
        acq_row row = b.rows[b.shortest];
        n += row.n < most_of_row ? row.n : most_of_row;
    }
    return n;
}

/* Is it better to go forward than backward, where a row ends at its first marked member? The mean
 * of the rows is asked first, then their lengths, because a few rows can be longer than all the
 * others together. */
static bool forward_is_cheaper(const state *s, const arc *a, const domain *source, size_t *n_marks)
{
    uint32_t smallest = smallest_atom(a->edge);
    const acq_links *ahead = source_links(a, smallest), *back = target_links(a, smallest);
    double until_hit = 1.0 + (double)ahead->n_heads / source->n;
    double row = mean_row(back), cost = is_simple(a->edge) ? 1.5 : 4.0;
    double most = s->domains[a->target].n * (row < until_hit ? row : until_hit) / cost;
    if (source->n * mean_row(ahead) >= most)
        return false;
    *n_marks = count_marks(s, a, source, (size_t)most + 1);
    return *n_marks < (size_t)most + 1;
}

/* Every head of the relation still stands in the source: nothing can have lost its support. */
static bool source_is_full(const state *s, const arc *a, const domain *source)
{
    return is_simple(a->edge) && s->m->is_binary && source->n == source_links(a, 0)->n_heads;
}

static bool revise_by_list(state *s, const arc *a, const domain *source)
{
    if (a->edge->n_positive == 0 || source_is_full(s, a, source))
        return true;
    uint32_t old = s->domains[a->target].n;
    acq_ent *list = acq_exact_new_list(s, old);
    if (list == NULL)
        return false;
    size_t n_marks;
    uint32_t n = forward_is_cheaper(s, a, source, &n_marks)
                     ? filter_forward(s, a, source, n_marks, list)
                     : filter_backward(s, a, source, list);
    if (!acq_exact_go_on(s, old))
        return false;
    if (n == old) {
        acq_arena_trim(s->arena, list, 0);
        return true;
    }
    return acq_exact_set_domain(s, a->target, list, n);
}

bool acq_exact_find_support(state *s, const model_edge *edge, uint32_t node, acq_ent value,
                            acq_ent *out)
{
    bundle b;
    const domain *d = &s->domains[edge->x == node ? edge->y : edge->x];
    if (!bundle_open(&b, edge, edge->x == node, value))
        return false;
    acq_row row = b.rows[b.shortest];
    uint32_t n = (uint32_t)row.n, i = 0, at = 0;
    while (i < d->n && at < n && acq_exact_go_on(s, 1)) {
        i = acq_exact_seek(d->values, i, d->n, row.tails[at]);
        bool is_there = i < d->n && d->values[i] == row.tails[at];
        if (is_there && holds_at(s, &b, row, at)) {
            *out = row.tails[at];
            return true;
        }
        i += is_there;
        if (i < d->n)
            at = acq_exact_seek(row.tails, at, n, d->values[i]);
    }
    return false;
}

/* A fixed target needs one value of the source, which is mostly the first that is looked at. */
static bool revise_fixed(state *s, const arc *a)
{
    acq_ent support;
    return a->edge->n_positive == 0 ||
           acq_exact_find_support(s, a->edge, a->target, s->domains[a->target].values[0], &support);
}

bool acq_exact_revise(state *s, const model_edge *edge, uint32_t source)
{
    arc a = {.edge = edge, .from_x = edge->x == source};
    const domain from = s->domains[source];
    a.target = a.from_x ? edge->y : edge->x;
    if (s->m->nodes[a.target].is_leaf || s->domains[a.target].is_all || from.is_all)
        return true;
    s->revisions++;
    if (from.n == 1)
        return revise_by_value(s, &a, from.values[0]);
    return is_fixed(s, a.target) ? revise_fixed(s, &a) : revise_by_list(s, &a, &from);
}

enum { LOOK_AHEAD = 64 }; /* queued nodes compared; all of them in a query of common size */

static uint32_t pop_smallest(state *s)
{
    uint32_t first = s->n_queue > LOOK_AHEAD ? s->n_queue - LOOK_AHEAD : 0, best = first;
    for (uint32_t i = first + 1; i < s->n_queue; i++)
        if (s->domains[s->queue[i]].n < s->domains[s->queue[best]].n)
            best = i;
    uint32_t node = s->queue[best];
    s->queue[best] = s->queue[--s->n_queue];
    s->queued[node] = false;
    return node;
}

static bool propagate(state *s, bool with_clauses)
{
    while (s->n_queue > 0) {
        uint32_t index = pop_smallest(s);
        const model_node *node = &s->m->nodes[index];
        if (!acq_exact_go_on(s, 4 + node->n_edges))
            return false;
        for (uint32_t i = 0; i < node->n_edges; i++)
            if (!acq_exact_revise(s, node->edges[i], index))
                return false;
        for (uint32_t i = 0; with_clauses && is_fixed(s, index) && i < node->n_clauses; i++)
            if (!acq_exact_revise_clause(s, &s->m->clauses[node->clauses[i]]))
                return false;
    }
    return acq_exact_go_on(s, 1);
}

bool acq_exact_propagate(state *s)
{
    return propagate(s, true);
}

bool acq_exact_propagate_edges(state *s)
{
    return propagate(s, false);
}
