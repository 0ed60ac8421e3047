/* offer.c - see offer.h. */
#include "search/exact/offer.h"

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

offer acq_exact_get_own_offer(const state *s, uint32_t index)
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

void acq_exact_offer_rows(state *s, offer *o, const model_edge *edge, uint32_t index)
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

offer acq_exact_get_best_offer(state *s, uint32_t index)
{
    const model_node *node = &s->m->nodes[index];
    offer o = acq_exact_get_own_offer(s, index);
    for (uint32_t e = 0; e < node->n_edges && o.n > 0; e++)
        acq_exact_offer_rows(s, &o, node->edges[e], index);
    return o;
}
