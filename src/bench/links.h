/* links.h - link prediction judged: filtered MRR and Hits@k, and how good the probabilities are.
 *
 * Every link of `truth` that `observed` lacks is asked in both directions: (h, r, ?) for each
 * directed id. Filter: other tails that are true in `truth` are left out of the ranking. Ties: the
 * rank is the mean of the best and the worst rank among equals. A predictor that has no row for (h,
 * r), or no score for t, ties t with all entities that have none. */
#ifndef ACQ_BENCH_LINKS_H
#define ACQ_BENCH_LINKS_H

#include "predict/reliability.h"
#include "predict/row_model.h"
#include "predict/predictor.h"

typedef struct acq_eval_links_params {
    const acq_graph *truth;         /* same ids as the observed graph */
    const acq_predictor *predictor; /* a completion or any other: ranks by its scores */
    const acq_row_model *model;     /* or raw scores: ranks by these */
    uint64_t first;                 /* at most so many links, drawn by hash; 0: all */
    unsigned n_threads;
    bool (*progress)(void *context, double done);
    void *context;
} acq_eval_links_params;

typedef struct acq_eval_links_result {
    uint64_t n_links;  /* directed */
    uint64_t n_ranked; /* of these, with a score of the predictor's own */
    double mrr, hits1, hits3, hits10;
    bool has_table;
    acq_reliability table; /* candidates: every link with a score above 0 that is not observed */
    double seconds;
} acq_eval_links_result;

acq_status acq_eval_links(const acq_eval_links_params *params, acq_eval_links_result *out,
                          acq_error *error);

#endif
