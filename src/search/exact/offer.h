/* offer.h - where the first list of a node's values can come from, and how long it would be.
 *
 *   a constant's row        r(x, c): the row of c
 *   the heads of a relation r(x, y), r(x, x): every x that has such a link
 *   a neighbour's rows      r(x, y): what the values of y are linked to, once y has a list */
#ifndef ACQ_SEARCH_EXACT_OFFER_H
#define ACQ_SEARCH_EXACT_OFFER_H

#include "search/exact/state.h"

typedef struct offer {
    uint32_t n;             /* at most this many values; UINT32_MAX: nothing restricts the node */
    const acq_ent *values;  /* a row or heads, unless they come from a neighbour */
    const acq_links *links; /* the values are their heads, or the rows are theirs; NULL: a row */
    const model_edge *edge; /* to the neighbour whose values have the rows; NULL: none */
    uint32_t n_supports, n_dense; /* relations whose heads were offered, and those with bitmaps */
} offer;

/* The smallest of constants' rows and heads. O(literals of the node). */
offer acq_exact_get_own_offer(const state *s, uint32_t index);

/* Takes the rows of the neighbour at the other end of the edge if that has a list and they are
 * fewer than o->n. O(values of the neighbour). */
void acq_exact_offer_rows(state *s, offer *o, const model_edge *edge, uint32_t index);

/* The smallest of all. */
offer acq_exact_get_best_offer(state *s, uint32_t index);

/* The links of atom i of the edge, seen from `node`. */
static inline const acq_links *links_from(const model_edge *edge, uint32_t i, uint32_t node)
{
    return edge->x == node ? edge->atoms[i].xy : edge->atoms[i].yx;
}

static inline uint32_t other_end(const model_edge *edge, uint32_t node)
{
    return edge->x == node ? edge->y : edge->x;
}

#endif
