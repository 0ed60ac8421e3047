/* links_plan.h - the links that an evaluation asks for, cut into pieces of work.
 *
 *   links  [ r0 h0 t1 | r0 h0 t4 | r0 h3 t2 | r1 h1 t0 | ... ]   by relation, head, tail
 *   items  [ 0                              | 3        | ... ]   each of one relation, with at most
 *                                                                `most_rows` heads */
#ifndef ACQ_EVAL_LINKS_PLAN_H
#define ACQ_EVAL_LINKS_PLAN_H

#include "graph/build.h"
#include "predict/predictor.h"

typedef struct acq_links_plan {
    acq_triple *links;
    size_t n, room;
    size_t *items; /* n_items + 1 */
    size_t n_items;
} acq_links_plan;

/* The links of `truth` that its graph lacks, at most `first` of them (0: all), drawn by hash.
 * Deinit also after an error. */
acq_status acq_links_plan_init(acq_links_plan *plan, const acq_predictor *truth, uint64_t first,
                               size_t most_rows, acq_error *error);
/* Keeps `first` of the links, drawn by hash, in their order; fewer than there are, at least 1. The
 * items are not those of what is left. */
acq_status acq_links_plan_draw(acq_links_plan *plan, size_t first, acq_error *error);
void acq_links_plan_deinit(acq_links_plan *plan);

#endif
