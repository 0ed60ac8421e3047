/* generate.h - benchmarks from two graphs: queries drawn from the complete one, labelled in both.
 *
 *   place drawn ─▶ draft ─▶ answers in both graphs ─▶ labels ─▶ every label checked ─▶ item
 *
 * Try number i has random numbers of its own, and items are taken in the order of their tries, so
 * the file does not depend on the number of threads. */
#ifndef ACQ_GENERATE_GENERATE_H
#define ACQ_GENERATE_GENERATE_H

#include "graph/graph.h"

/* See acq_generate in anycq.h: parameters are settled, both graphs have one dictionary. */
acq_status acq_generate_run(const acq_graph *observed, const acq_graph *complete, const char *path,
                            const acq_generate_params *params, acq_generate_report *report,
                            acq_error *error);

/* Defaults in place of what was not given; ACQ_ERR_USAGE for what cannot be. */
acq_status acq_generate_settle(acq_generate_params *params, acq_error *error);

/* The complete graph in the ids of the observed one, by name; facts about entities or relations
 * that the observed graph lacks are left out. *own: to be freed by the caller; NULL: `complete`
 * serves as it is. */
acq_status acq_generate_align(const acq_graph *observed, const acq_graph *complete, acq_graph **own,
                              acq_error *error);

#endif
