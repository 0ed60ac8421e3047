/* links.h - link prediction judged: filtered MRR and Hits@k, and how good the probabilities are.
 *
 * Every link of `truth` that `observed` lacks is asked in both directions: (h, r, ?) for each
 * directed id. Filter: other tails that are observed, true in `truth` or in `filter`, are left out
 * of the ranking. Ties: the rank is the mean of the best and the worst rank among equals. A
 * predictor that has no row for (h, r), or no score for t, ties t with all entities that have none.
 * The same is said of each of four cases: are h and t seen, that is, has `observed` a fact of r
 * with h as its head, and one with t as its tail?
 *
 * Ranks go to their own slots and are summed up in the order of the links, so everything but the
 * time is the same at any number of threads. */
#ifndef ACQ_EVAL_LINKS_H
#define ACQ_EVAL_LINKS_H

#include "calibrate/calibrator.h"
#include "graph/build.h"
#include "models/model.h"
#include "predict/predictor.h"

typedef struct acq_eval_links_params {
    const acq_predictor *truth;     /* 0/1 in the observed graph's ids: acq_predictor_new_perfect */
    const acq_predictor *filter;    /* more links that hold, not asked for; NULL: none are known */
    const acq_predictor *predictor; /* a completion or any other: ranks by its scores */
    const acq_row_model *model;     /* or raw scores: ranks by these; then predictor may be NULL */
    bool with_table;                /* judge the predictor's scores as probabilities */
    uint64_t first;                 /* at most so many links, drawn by hash; 0: all */
    unsigned n_threads;
    bool (*progress)(void *context, double done); /* share; may be NULL; false: stop */
    void *context;
} acq_eval_links_params;

typedef acq_links_report acq_eval_links_result; /* public: anycq.h; without decisions */

acq_status acq_eval_links(const acq_eval_links_params *params, acq_eval_links_result *out,
                          acq_error *error);

/* The links that an evaluation asks for, cut into pieces of work.
 *
 *   links  [ r0 h0 t1 | r0 h0 t4 | r0 h3 t2 | r1 h1 t0 | ... ]   by relation, head, tail
 *   items  [ 0                              | 3        | ... ]   each of one relation, with at most
 *                                                                `most_rows` heads */
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
