/* network.h - projections by a network, as UltraQuery makes them over ULTRA.
 *
 * One projection is one pass for all heads at once: the boundary of entity n is the degree of n
 * times the query's vector, and the sigmoid of the last layer is the degree of each tail. There is
 * no maximum over heads, and observed facts are not set to 1. Degrees below `least` may be left
 * out of the boundary (UltraQuery with plain ULTRA weights: 0.8; with its own: 0). */
#ifndef ACQ_SEARCH_FUZZY_NETWORK_H
#define ACQ_SEARCH_FUZZY_NETWORK_H

#include "search/fuzzy/fuzzy.h"

typedef struct acq_fuzzy_network acq_fuzzy_network;

/* The model must have score_set (models/model.h) and outlive the network, which is for one thread. */
acq_status acq_fuzzy_network_new(const acq_row_model *model, double least, acq_fuzzy_network **out,
                                 acq_error *error);
void acq_fuzzy_network_free(acq_fuzzy_network *network);

/* For acq_fuzzy_params: project, with the network as context. */
acq_status acq_fuzzy_network_project(acq_fuzzy_run *run, acq_rel relation,
                                     const acq_fuzzy_set *from, acq_fuzzy_set *out,
                                     acq_error *error);

#endif
