/* links.h - inside fit: the link calibrator and the completion that it gives.
 *
 * Candidates come relation by relation (calibrate/candidates.h). To learn, all likely candidates
 * are kept and a share of the others, weighted up; to complete, every candidate gets its p. */
#ifndef ACQ_FIT_LINKS_H
#define ACQ_FIT_LINKS_H

#include "fit/fit.h"
#include "calibrate/boost.h"
#include "predict/predictor.h"

typedef struct acq_link_progress {
    bool (*report)(void *context, const char *phase, double done, double total);
    void *context;
} acq_link_progress;

/* truth: 1 for links that hold, in the ids of the maker's graph. Fills the report's link table,
 * candidates, held and covered. */
acq_status acq_fit_link_trees(const acq_candidates_maker *maker, const acq_graph *graph,
                              const acq_predictor *truth, const acq_fit_params *params,
                              const acq_link_progress *progress, acq_fold_trees *out,
                              acq_fit_report *report, acq_error *error);

/* Every candidate of the maker's graph with its p, and the observed facts. crossed: by the other
 * fold's trees. calibrator: what is put inside, may be NULL. */
acq_status acq_fit_write_links(const acq_candidates_maker *maker, const acq_graph *graph,
                               const acq_fold_trees *trees, bool crossed,
                               const acq_calibrator *calibrator, const acq_fit_params *params,
                               const acq_link_progress *progress, const char *path,
                               acq_fit_report *report, acq_error *error);

#endif
