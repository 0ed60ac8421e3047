/* start.c - starting domains, smallest first.
 *
 * What a node can be is offered by a constant's row, by the heads of a relation it must have, or
 * by the rows of a neighbour's values once that neighbour has a list. The node with the smallest
 * offer gets its list first: the offer, filtered by all other supports and by the node's own
 * literals. Then the lists that there are make each other arc consistent, and its neighbours get
 * new offers. So the cost follows the candidates around the constants, and a relation with
 * millions of links is listed only where nothing smaller leads to it.
 *
 * Where all supports are dense and nothing else is known, their bitmaps are intersected. */
#include <string.h>

#include "search/exact/state.h"

/* ---- where the first list of a node's values can come from, and how long it would be ----
 *
 *   a constant's row        r(x, c): the row of c
 *   the heads of a relation r(x, y), r(x, x): every x that has such a link
 *   a neighbour's rows      r(x, y): what the values of y are linked to, once y has a list */

typedef struct offer {
    uint32_t n;             /* at most this many values; UINT32_MAX: nothing restricts the node */
    const acq_ent *values;  /* a row or heads, unless they come from a neighbour */
    const acq_links *links; /* the values are their heads, or the rows are theirs; NULL: a row */
    const model_edge *edge; /* to the neighbour whose values have the rows; NULL: none */
    uint32_t n_supports, n_dense; /* relations whose heads were offered, and those with bitmaps */
    bool is_whole; /* once taken: each value of the neighbour has links, and all were kept */
} offer;

/* The links of atom i of the edge, seen from `node`. */
static const acq_links *links_from(const model_edge *edge, uint32_t i, uint32_t node)
{
    return edge->x == node ? edge->atoms[i].xy : edge->atoms[i].yx;
}

static uint32_t other_end(const model_edge *edge, uint32_t node)
{
    return edge->x == node ? edge->y : edge->x;
}

static void offer_heads(offer *o, const acq_links *links)
{
    o->n_supports++;
    o->n_dense += links->bits != NULL;
    if (links->n_heads < o->n) {
        o->n = links->n_heads;
        o->values = links->heads;
        o->links = links;
    }
}

/* The smallest of constants' rows and heads. O(literals of the node). */
static offer get_own_offer(const state *s, uint32_t index)
{
    const model_node *node = &s->m->nodes[index];
    offer o = {.n = UINT32_MAX};
    for (const model_unary *u = node->unaries; u != NULL; u = u->next) {
        if (u->kind == UNARY_LOOP)
            offer_heads(&o, u->links);
        else if (u->kind == UNARY_ROW && u->row.n < o.n)
            o = (offer){.n = (uint32_t)u->row.n, .values = u->row.tails};
    }
    for (uint32_t e = 0; e < node->n_edges && o.n > 0; e++)
        for (uint32_t i = 0; i < node->edges[e]->n_positive; i++)
            offer_heads(&o, links_from(node->edges[e], i, index));
    return o;
}

/* Length of the rows of all values together, or something not below `most`. */
static size_t count_links(const domain *d, const acq_links *links, size_t most)
{
    size_t n = 0;
    for (uint32_t i = 0; i < d->n && n < most; i++)
        n += acq_links_get_row(links, d->values[i]).n;
    return n;
}

/* Takes the rows of the neighbour at the other end of the edge if that has a list and they are
 * fewer than o->n. O(values of the neighbour). */
static void offer_rows(state *s, offer *o, const model_edge *edge, uint32_t index)
{
    uint32_t neighbour = other_end(edge, index);
    const domain *d = &s->domains[neighbour];
    for (uint32_t i = 0; i < edge->n_positive && !d->is_all && d->n < o->n; i++) {
        const acq_links *links = links_from(edge, i, neighbour);
        size_t n = count_links(d, links, o->n);
        s->budget->ticks_left -= d->n;
        if (n < o->n)
            *o = (offer){.n = (uint32_t)n, .links = links, .edge = edge};
    }
}

/* The smallest of all. */
static offer get_best_offer(state *s, uint32_t index)
{
    const model_node *node = &s->m->nodes[index];
    offer o = get_own_offer(s, index);
    for (uint32_t e = 0; e < node->n_edges && o.n > 0; e++)
        offer_rows(s, &o, node->edges[e], index);
    return o;
}

/* ---- lists ---- */

static bool supports(const state *s, const acq_links *links, acq_ent value)
{
    uint32_t row = acq_links_find(links, value);
    return row != ACQ_NO_ID && (links->best == NULL || acq_cutoff_holds(&s->cut, links->best[row]));
}

static bool unary_allows(const state *s, const model_unary *unary, acq_ent value)
{
    float score;
    switch (unary->kind) {
    case UNARY_NOT_VALUE:
        return unary->value != value;
    case UNARY_LOOP:
    case UNARY_NOT_LOOP:
        score = acq_links_get_score(unary->links, value, value);
        return unary->kind == UNARY_LOOP ? acq_cutoff_holds(&s->cut, score)
                                         : acq_cutoff_holds_negated(&s->cut, score);
    case UNARY_ROW:
    case UNARY_NOT_ROW:
        break;
    }
    size_t i = acq_row_find(unary->row, value);
    score = i == unary->row.n ? 0.0F : unary->row.scores == NULL ? 1.0F : unary->row.scores[i];
    return unary->kind == UNARY_ROW ? acq_cutoff_holds(&s->cut, score)
                                    : acq_cutoff_holds_negated(&s->cut, score);
}

bool acq_exact_allows(const state *s, uint32_t node, acq_ent value)
{
    for (const model_unary *u = s->m->nodes[node].unaries; u != NULL; u = u->next)
        if (!unary_allows(s, u, value))
            return false;
    return true;
}

/* Does every positive atom of the node have a link from this value? */
static bool is_supported(const state *s, uint32_t index, acq_ent value)
{
    const model_node *node = &s->m->nodes[index];
    for (uint32_t e = 0; e < node->n_edges; e++)
        for (uint32_t i = 0; i < node->edges[e]->n_positive; i++)
            if (!supports(s, links_from(node->edges[e], i, index), value))
                return false;
    return true;
}

/* ---- one node ---- */

/* The values of one word of a bitmap, in order. */
static inline uint32_t list_word(uint64_t word, size_t index, acq_ent *out)
{
    uint32_t n = 0;
    for (; word != 0; word &= word - 1)
        out[n++] = (acq_ent)(index * 64 + (size_t)__builtin_ctzll(word));
    return n;
}

/* The intersection of all supports, from their bitmaps. */
static uint32_t intersect_bitmaps(const state *s, uint32_t index, const uint64_t **maps,
                                  acq_ent *out)
{
    const model_node *node = &s->m->nodes[index];
    size_t n_words = (size_t)s->m->n_entities / 64 + (s->m->n_entities % 64 != 0);
    uint32_t n = 0, n_maps = 0;
    for (uint32_t e = 0; e < node->n_edges; e++)
        for (uint32_t i = 0; i < node->edges[e]->n_positive; i++)
            maps[n_maps++] = links_from(node->edges[e], i, index)->bits;
    for (size_t w = 0; w < n_words; w++) {
        uint64_t word = maps[0][w];
        for (uint32_t i = 1; i < n_maps && word != 0; i++)
            word &= maps[i][w];
        n += list_word(word, w, out + n);
    }
    return n;
}

/* Brings gathered values, which are the members, in order; out of memory shows in the state. Where
 * the bitmap is short beside them it has them in order. */
static void sort_list(state *s, acq_ent *list, uint32_t n)
{
    enum { WORDS_A_VALUE = 8 };
    size_t n_words = (size_t)s->m->n_entities / 64 + 1;
    if (s->members.bits != NULL && n_words / WORDS_A_VALUE < n) {
        for (size_t w = 0; w < n_words; w++)
            list += list_word(s->members.bits[w], w, list);
        return;
    }
    acq_arena_mark mark = acq_arena_get_mark(s->arena);
    acq_ent *scratch = acq_exact_new_list(s, n);
    if (scratch != NULL)
        acq_exact_sort(list, scratch, n);
    acq_arena_reset(s->arena, mark);
}

/* The distinct tails of the rows of a neighbour's values, in order. */
static uint32_t gather_rows(state *s, offer *o, const domain *d, acq_ent *out)
{
    uint32_t n = 0;
    o->is_whole = true;
    if (d->n == 1)
        return acq_exact_copy_row(acq_links_get_row(o->links, d->values[0]), &s->cut, out);
    if (!acq_exact_open_members(s, o->n))
        return 0;
    for (uint32_t i = 0; i < d->n; i++) {
        acq_row row = acq_links_get_row(o->links, d->values[i]);
        o->is_whole &= row.n > 0 && row.scores == NULL;
        for (size_t k = 0; k < row.n; k++) {
            bool holds = row.scores == NULL || acq_cutoff_holds(&s->cut, row.scores[k]);
            if (holds && !members_has(&s->members, row.tails[k])) {
                members_add(&s->members, row.tails[k]);
                out[n++] = row.tails[k];
            }
        }
    }
    sort_list(s, out, n);
    return n;
}

/* The listed values, in order, that are heads of the links. */
static uint32_t filter_by_links(const state *s, const acq_links *links, acq_ent *list, uint32_t n)
{
    uint32_t kept = 0;
    if (links->bits == NULL) {
        acq_row heads = {.tails = links->heads, .scores = links->best, .n = links->n_heads};
        return acq_exact_keep_row(list, n, heads, &s->cut, list);
    }
    for (uint32_t k = 0; k < n; k++)
        if (supports(s, links, list[k]))
            list[kept++] = list[k];
    return kept;
}

static uint32_t filter_supports(const state *s, uint32_t index, const acq_links *skip,
                                acq_ent *list, uint32_t n)
{
    const model_node *node = &s->m->nodes[index];
    for (uint32_t e = 0; e < node->n_edges && n > 0; e++)
        for (uint32_t i = 0; i < node->edges[e]->n_positive; i++) {
            const acq_links *links = links_from(node->edges[e], i, index);
            if (links != skip || links->best != NULL) /* NOLINT: links are never NULL */
                n = filter_by_links(s, links, list, n);
        }
    return n;
}

static uint32_t filter_by_unary(const state *s, const model_unary *unary, acq_ent *list, uint32_t n)
{
    uint32_t kept = 0;
    if (unary->kind == UNARY_ROW)
        return acq_exact_keep_row(list, n, unary->row, &s->cut, list);
    if (unary->kind == UNARY_NOT_ROW)
        return acq_exact_drop_row(list, n, unary->row, &s->cut, list);
    for (uint32_t k = 0; k < n; k++)
        if (unary_allows(s, unary, list[k]))
            list[kept++] = list[k];
    return kept;
}

static uint32_t filter_unaries(const state *s, uint32_t index, const acq_ent *skip, acq_ent *list,
                               uint32_t n)
{
    for (const model_unary *u = s->m->nodes[index].unaries; u != NULL && n > 0; u = u->next)
        if (u->kind != UNARY_ROW || u->row.tails != skip || u->row.scores != NULL)
            n = filter_by_unary(s, u, list, n);
    return n;
}

static bool is_dense(const state *s, uint32_t index, const offer *o)
{
    return o->links != NULL && o->edge == NULL && o->n_supports > 1 &&
           o->n_dense == o->n_supports && o->n > s->m->n_entities / 32 &&
           s->m->nodes[index].unaries == NULL;
}

/* What the values of the offer have for sure: links to where they were found. */
static const acq_links *get_known_support(const offer *o, uint32_t index)
{
    if (o->edge == NULL)
        return o->links;
    return is_simple(o->edge) ? links_from(o->edge, 0, index) : NULL;
}

/* Gives the node the values of an offer that pass all its literals. */
static bool take_offer(state *s, uint32_t index, offer *o)
{
    bool dense = is_dense(s, index, o);
    const uint64_t **maps = NULL;
    if (dense && (maps = acq_arena_alloc(s->arena, o->n_supports, sizeof *maps)) == NULL)
        s->status = ACQ_ERR_MEMORY;
    acq_ent *list = acq_exact_new_list(s, o->n);
    if (list == NULL || s->status != ACQ_OK)
        return false;
    uint32_t n = o->n;
    if (dense)
        n = intersect_bitmaps(s, index, maps, list);
    else if (o->edge != NULL)
        n = gather_rows(s, o, &s->domains[other_end(o->edge, index)], list);
    else if (n > 0)
        memcpy(list, o->values, n * sizeof *list);
    uint32_t n_found = n;
    if (!dense || !s->m->is_binary)
        n = filter_supports(s, index, dense ? NULL : get_known_support(o, index), list, n);
    n = filter_unaries(s, index, o->values, list, n);
    o->is_whole = o->is_whole && n == n_found;
    return acq_exact_set_domain(s, index, list, n) && acq_exact_go_on(s, o->n);
}

/* Nothing that hangs on the node can lose a value by the list it has just got: it came along the
 * node's only edge, and whole. Then the node need not wait for its turn. */
static void settle(state *s, uint32_t index, const offer *o)
{
    const model_node *node = &s->m->nodes[index];
    bool is_settled = o->edge != NULL && o->is_whole && is_simple(o->edge) && s->m->is_binary &&
                      node->n_edges == 1 && node->n_clauses == 0;
    if (is_settled && s->n_queue > 0 && s->queue[s->n_queue - 1] == index)
        s->queued[s->queue[--s->n_queue]] = false;
}

/* The neighbours that have lists did not see this node before. Values that came along a simple
 * edge need no second look at it. */
static bool revise_from_neighbours(state *s, uint32_t index, const model_edge *taken)
{
    const model_node *node = &s->m->nodes[index];
    for (uint32_t e = 0; e < node->n_edges; e++) {
        const model_edge *edge = node->edges[e];
        if (taken != NULL && edge == taken && is_simple(edge))
            continue;
        if (!acq_exact_revise(s, edge, other_end(edge, index)))
            return false;
    }
    return true;
}

bool acq_exact_restrict(state *s, uint32_t node, acq_ent value)
{
    const domain *d = &s->domains[node];
    acq_row row = {.tails = d->values, .n = d->is_all ? 0 : d->n};
    bool member = d->is_all ? acq_exact_allows(s, node, value) && is_supported(s, node, value)
                            : acq_row_find(row, value) < row.n;
    return member && acq_exact_fix(s, node, value);
}

/* ---- all nodes ---- */

/* A heap of nodes by the size of an offer. A node that got a better one is in it twice. */
typedef struct waiting {
    uint32_t n, node;
} waiting;

typedef struct waiting_list {
    waiting *items;
    size_t n;
    uint32_t *sizes; /* of the best offer to each node so far */
} waiting_list;

static bool is_before(const waiting_list *list, size_t a, size_t b)
{
    return list->items[a].n < list->items[b].n;
}

static void swap(waiting_list *list, size_t a, size_t b)
{
    waiting item = list->items[a];
    list->items[a] = list->items[b];
    list->items[b] = item;
}

static void push(waiting_list *list, uint32_t node, uint32_t size)
{
    size_t i = list->n++;
    list->sizes[node] = size;
    list->items[i] = (waiting){.n = size, .node = node};
    for (; i > 0 && is_before(list, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(list, i, (i - 1) / 2);
}

static uint32_t pop(waiting_list *list)
{
    uint32_t first = list->items[0].node;
    swap(list, 0, --list->n);
    for (size_t i = 0, child = 1; child < list->n; i = child, child = 2 * i + 1) {
        if (child + 1 < list->n && is_before(list, child + 1, child))
            child++;
        if (!is_before(list, child, i))
            break;
        swap(list, child, i);
    }
    return first;
}

/* Room for every node, and for each end of every edge once more. */
static bool open_list(state *s, waiting_list *list)
{
    size_t most = (size_t)s->m->n_nodes + 2 * (size_t)s->m->n_edges;
    *list = (waiting_list){.items = acq_arena_alloc(s->arena, most, sizeof *list->items),
                           .sizes = acq_arena_alloc(s->arena, s->m->n_nodes, sizeof *list->sizes)};
    if (list->items == NULL || list->sizes == NULL)
        s->status = ACQ_ERR_MEMORY;
    return s->status == ACQ_OK;
}

/* The node has a list now: its neighbours without one may have a better offer. */
static void offer_to_neighbours(state *s, uint32_t index, waiting_list *list)
{
    const model_node *node = &s->m->nodes[index];
    for (uint32_t e = 0; e < node->n_edges && !s->domains[index].is_all; e++) {
        uint32_t neighbour = other_end(node->edges[e], index);
        if (s->m->nodes[neighbour].is_leaf || !s->domains[neighbour].is_all)
            continue;
        offer o = {.n = list->sizes[neighbour]};
        offer_rows(s, &o, node->edges[e], neighbour);
        if (o.n < list->sizes[neighbour])
            push(list, neighbour, o.n);
    }
}

static bool start_node(state *s, uint32_t index)
{
    offer o = get_best_offer(s, index);
    if (o.n == UINT32_MAX)
        return s->m->n_entities > 0;
    if (!take_offer(s, index, &o))
        return false;
    settle(s, index, &o);
    return revise_from_neighbours(s, index, o.edge) && acq_exact_propagate_edges(s);
}

bool acq_exact_start(state *s)
{
    waiting_list list;
    if (!open_list(s, &list))
        return false;
    for (uint32_t i = 0; i < s->m->n_nodes; i++)
        if (!s->m->nodes[i].is_leaf && s->domains[i].is_all)
            push(&list, i, get_own_offer(s, i).n);
    for (uint32_t i = 0; i < s->m->n_nodes; i++)
        offer_to_neighbours(s, i, &list);
    while (list.n > 0) {
        uint32_t node = pop(&list);
        if (!s->domains[node].is_all)
            continue;
        if (!start_node(s, node))
            return false;
        offer_to_neighbours(s, node, &list);
    }
    return true;
}
