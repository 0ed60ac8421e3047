/* split.h - a graph without the links that calibrators learn from.
 *
 * The rest has the ids of the whole: the same entities and relations, fewer facts. */
#ifndef ACQ_CALIBRATE_SPLIT_H
#define ACQ_CALIBRATE_SPLIT_H

#include "graph/graph.h"

typedef enum acq_hold {
    ACQ_HOLD_LINKS,
    ACQ_HOLD_PAIRS /* only links of entities that no other link joins then */
} acq_hold;

typedef struct acq_split_params {
    double share; /* of the facts */
    acq_hold hold;
    uint64_t seed;
    unsigned fold, n_folds; /* several samples that share as little as they can; 0, 0: one */
} acq_split_params;

/* The facts of `whole` that `earlier` has too (by name). */
acq_status acq_split_by_earlier(const acq_graph *whole, const acq_graph *earlier, acq_graph **out,
                                acq_error *error);

/* Without a share of the facts, drawn by their hash. As every entity of a graph has facts, those of
 * the rest must: a drawn fact stays when all facts of one of its ends are drawn. Pairs: also when
 * another one links the same two entities and stays. Where (nearly) all facts of a relation come
 * both ways, r(a, b) and r(b, a), the two go together: what the graph lacks of such a relation it
 * lacks in pairs, else there were single ones. So many are drawn that the share goes, if it
 * can. A graph whose rest would be empty is refused, and one that nothing can be held out of. */
acq_status acq_split_by_share(const acq_graph *whole, const acq_split_params *params,
                              acq_graph **out, acq_error *error);

#endif
