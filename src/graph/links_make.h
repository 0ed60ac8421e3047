/* links_make.h - the steps from a bag of links to sparse rows, for modules that store links.
 * Everybody else uses acq_links_new of graph/build.h, which does them all. */
#ifndef ACQ_GRAPH_LINKS_MAKE_H
#define ACQ_GRAPH_LINKS_MAKE_H

#include "graph/build.h"

/* Stable sort by (head, tail); scratch has room for n. O(n) passes over the used bits. */
void acq_links_sort(acq_link *links, acq_link *scratch, size_t n, uint32_t n_entities);

/* Keeps the largest score of each pair; links are sorted. Returns the number left. */
size_t acq_links_unique(acq_link *links, size_t n);

/* Rows of sorted, distinct links in one heap block. */
acq_status acq_links_new_sorted(const acq_link *links, size_t n, uint32_t n_entities, bool scored,
                                acq_links **out);

/* An empty frame for rows that the caller fills in: the arrays are writable through `parts`.
 * Set heads, offsets, tails and scores, then call acq_links_seal for best and the bitmap. */
typedef struct acq_links_parts {
    acq_links *links;
    acq_ent *heads;
    uint32_t *offsets;
    acq_ent *tails;
    float *scores;
    float *best;
    uint64_t *bits;
    uint32_t *ranks;
} acq_links_parts;

acq_status acq_links_parts_new(acq_links_parts *parts, size_t n_heads, size_t n_links,
                               uint32_t n_entities, bool scored);
void acq_links_seal(acq_links_parts *parts);

#endif
