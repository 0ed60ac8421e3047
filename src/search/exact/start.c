/* start.c - starting domains. The smallest row or support is the base list, the rest filters it.
 * Where all supports are dense their bitmaps are intersected word by word instead. */
#include <string.h>

#include "search/exact/revise.h"
#include "search/exact/sets.h"

/* The links of atom i of the edge, seen from `node`. */
static const acq_links *links_from(const model_edge *edge, uint32_t i, uint32_t node)
{
    return edge->x == node ? edge->atoms[i].xy : edge->atoms[i].yx;
}

static bool supports(const state *s, const acq_links *links, acq_ent value)
{
    uint32_t row = acq_links_find(links, value);
    return row != ACQ_NO_ID && (links->best == NULL || positive_holds(&s->cut, links->best[row]));
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
        return unary->kind == UNARY_LOOP ? positive_holds(&s->cut, score)
                                         : negated_holds(&s->cut, score);
    case UNARY_ROW:
    case UNARY_NOT_ROW:
        break;
    }
    size_t i = acq_row_find(unary->row, value);
    score = i == unary->row.n ? 0.0F : unary->row.scores == NULL ? 1.0F : unary->row.scores[i];
    return unary->kind == UNARY_ROW ? positive_holds(&s->cut, score)
                                    : negated_holds(&s->cut, score);
}

bool acq_exact_allows(const state *s, uint32_t node, acq_ent value)
{
    for (const model_unary *u = s->m->nodes[node].unaries; u != NULL; u = u->next)
        if (!unary_allows(s, u, value))
            return false;
    return true;
}

typedef struct base {
    const acq_ent *values;
    uint32_t n;             /* UINT32_MAX: nothing restricts the node */
    const acq_links *links; /* the base is their heads; NULL: a row */
    uint32_t n_supports, n_dense;
} base;

static void offer_links(base *b, const acq_links *links)
{
    b->n_supports++;
    b->n_dense += links->bits != NULL;
    if (links->n_heads < b->n)
        *b = (base){links->heads, links->n_heads, links, b->n_supports, b->n_dense};
}

static base smallest_base(const model_node *node, uint32_t index)
{
    base b = {.n = UINT32_MAX};
    for (const model_unary *u = node->unaries; u != NULL; u = u->next) {
        if (u->kind == UNARY_ROW && u->row.n < b.n)
            b = (base){u->row.tails, (uint32_t)u->row.n, NULL, b.n_supports, b.n_dense};
        else if (u->kind == UNARY_LOOP)
            offer_links(&b, u->links);
        if (b.n == 0)
            return b;
    }
    for (uint32_t e = 0; e < node->n_edges; e++)
        for (uint32_t i = 0; i < node->edges[e]->n_positive; i++)
            offer_links(&b, links_from(node->edges[e], i, index));
    return b;
}

/* The intersection of all supports, from their bitmaps. */
static uint32_t intersect_bitmaps(const state *s, uint32_t index, acq_ent *out)
{
    const model_node *node = &s->m->nodes[index];
    size_t n_words = (size_t)s->m->n_entities / 64 + (s->m->n_entities % 64 != 0);
    uint32_t n = 0;
    memset(s->bits, 0xff, n_words * sizeof *s->bits);
    for (uint32_t e = 0; e < node->n_edges; e++)
        for (uint32_t i = 0; i < node->edges[e]->n_positive; i++) {
            const uint64_t *restrict from = links_from(node->edges[e], i, index)->bits;
            uint64_t *restrict to = s->bits;
            for (size_t w = 0; w < n_words; w++)
                to[w] &= from[w];
        }
    for (size_t w = 0; w < n_words; w++) {
        for (uint64_t word = s->bits[w]; word != 0; word &= word - 1)
            out[n++] = (acq_ent)(w * 64 + (size_t)__builtin_ctzll(word));
        s->bits[w] = 0;
    }
    return n;
}

static uint32_t filter_supports(const state *s, uint32_t index, const acq_links *skip,
                                acq_ent *list, uint32_t n)
{
    const model_node *node = &s->m->nodes[index];
    for (uint32_t e = 0; e < node->n_edges && n > 0; e++)
        for (uint32_t i = 0; i < node->edges[e]->n_positive; i++) {
            const acq_links *links = links_from(node->edges[e], i, index);
            uint32_t kept = 0;
            if (links == skip && links->best == NULL)
                continue;
            for (uint32_t k = 0; k < n; k++)
                if (supports(s, links, list[k]))
                    list[kept++] = list[k];
            n = kept;
        }
    return n;
}

static uint32_t filter_unaries(const state *s, uint32_t index, acq_ent *list, uint32_t n)
{
    uint32_t kept = 0;
    if (s->m->nodes[index].unaries == NULL)
        return n;
    for (uint32_t k = 0; k < n; k++)
        if (acq_exact_allows(s, index, list[k]))
            list[kept++] = list[k];
    return kept;
}

static bool start_node(state *s, uint32_t index)
{
    base b = smallest_base(&s->m->nodes[index], index);
    if (b.n == UINT32_MAX)
        return s->m->n_entities > 0;
    bool dense = b.links != NULL && b.n_supports > 1 && b.n_dense == b.n_supports &&
                 b.n > s->m->n_entities / 32 && s->m->nodes[index].unaries == NULL;
    acq_ent *list = acq_exact_new_list(s, b.n);
    if (list == NULL)
        return false;
    uint32_t n = b.n;
    if (dense)
        n = intersect_bitmaps(s, index, list);
    else if (n > 0)
        memcpy(list, b.values, n * sizeof *list);
    if (!dense || !s->m->is_binary)
        n = filter_supports(s, index, dense ? NULL : b.links, list, n);
    n = filter_unaries(s, index, list, n);
    return acq_exact_set_domain(s, index, list, n) && acq_exact_go_on(s, b.n);
}

bool acq_exact_restrict(state *s, uint32_t node, acq_ent value)
{
    const domain *d = &s->domains[node];
    acq_row row = {.tails = d->values, .n = d->is_all ? 0 : d->n};
    bool member = d->is_all ? acq_exact_allows(s, node, value) : acq_row_find(row, value) < row.n;
    return member && acq_exact_fix(s, node, value);
}

bool acq_exact_start(state *s)
{
    for (uint32_t i = 0; i < s->m->n_nodes; i++)
        s->domains[i] = (domain){.n = s->m->n_entities, .is_all = true};
    for (uint32_t i = 0; i < s->m->n_nodes; i++)
        if (!s->m->nodes[i].is_leaf && !start_node(s, i))
            return false;
    return true;
}
