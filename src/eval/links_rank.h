/* links_rank.h - the filtered rank of true tails in one row of scores; see links.h for the rule. */
#ifndef ACQ_EVAL_LINKS_RANK_H
#define ACQ_EVAL_LINKS_RANK_H

#include "graph/build.h"

/* What is left out of a ranking: what is true, observed, or known to hold besides. Sorted rows that
 * may share tails. */
enum { ACQ_RANK_FILTERS = 3 };
typedef struct acq_rank_filter {
    acq_row rows[ACQ_RANK_FILTERS];
} acq_rank_filter;

typedef struct acq_link_rank {
    double rank;   /* from 1 */
    bool is_known; /* the predictor has a score for it */
} acq_link_rank;

/* links: n of one row, their tails all filtered. scores: one per entity, finite; the
 * filtered ones are lost. O(entities) for each link. */
void acq_rank_dense(float *scores, size_t n_entities, const acq_rank_filter *filter,
                    const acq_triple *links, size_t n, acq_link_rank *out);

/* row: what the predictor scores. kept: room for row.n floats. */
void acq_rank_sparse(acq_row row, size_t n_entities, const acq_rank_filter *filter,
                     const acq_triple *links, size_t n, float *kept, acq_link_rank *out);

#endif
