/* link_list.h - a growing list of scored links of one relation, and both directions made of it. */
#ifndef ACQ_PREDICT_LINK_LIST_H
#define ACQ_PREDICT_LINK_LIST_H

#include "graph/build.h"

typedef struct acq_link_list {
    acq_link *links;
    size_t n, capacity;
} acq_link_list;

void acq_link_list_deinit(acq_link_list *list);

acq_status acq_link_list_add(acq_link_list *list, acq_ent head, acq_ent tail, float score);

/* All links of a row or of a relation; those without scores score 1. */
acq_status acq_link_list_add_row(acq_link_list *list, acq_ent head, acq_row row);
acq_status acq_link_list_add_all(acq_link_list *list, const acq_links *links);

/* Heads and tails of links[from..n) change places. */
void acq_link_list_turn(acq_link_list *list, size_t from);

/* The list as links and, turned around, as the links of the inverse; of a pair that is there more
 * than once the largest score counts. Sorts the list and leaves it turned. */
acq_status acq_link_list_make_both(acq_link_list *list, uint32_t n_entities, acq_links **on,
                                   acq_links **back, acq_error *error);

#endif
