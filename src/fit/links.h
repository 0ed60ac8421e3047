/* links.h - inside fit: the completion that a link calibrator gives. */
#ifndef ACQ_FIT_LINKS_H
#define ACQ_FIT_LINKS_H

#include "fit/fit.h"
#include "calibrate/boost.h"
#include "predict/predictor.h"

typedef struct acq_link_progress {
    bool (*report)(void *context, const char *phase, double done, double total);
    void *context;
} acq_link_progress;

/* How candidates get their p. */
typedef struct acq_link_rule {
    const acq_fold_trees *trees;
    const float *shifts; /* by pair of relations */
    /* Of the rest: by the other fold's trees, and as the probability that the link was held out;
     * facts that the graph lacks besides are no facts there. `missing`: as in boost.h. */
    bool crossed;
    double missing;
} acq_link_rule;

/* Every candidate of the maker's graph with its p, and the observed facts. calibrator: what is put
 * inside, may be NULL. */
acq_status acq_fit_write_links(const acq_candidates_maker *maker, const acq_graph *graph,
                               const acq_link_rule *rule, const acq_calibrator *calibrator,
                               const acq_fit_params *params, const acq_link_progress *progress,
                               const char *path, acq_fit_report *report, acq_error *error);

#endif
