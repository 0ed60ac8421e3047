/* row_predictor_parts.h - inside a row predictor: the predictor and the two ways to its rows. */
#ifndef ACQ_PREDICT_ROW_PREDICTOR_PARTS_H
#define ACQ_PREDICT_ROW_PREDICTOR_PARTS_H

#include <pthread.h>

#include "predict/link_list.h"
#include "predict/row_predictor.h"

typedef struct acq_row_predictor {
    acq_predictor base;
    acq_row_predictor_params params;
    char *name;
    pthread_mutex_t lock; /* guards all below */
    bool is_loaded;
    acq_evidence_maker *maker; /* calibrated scale */
    acq_evidence_session *session;
    struct acq_published_worker *workers; /* published scales: one per thread, kept */
    unsigned n_workers;
    acq_links **links; /* by relation; NULL: not made yet */
    size_t n_bytes;    /* of these */
    acq_row_cache *cache;
} acq_row_predictor;

/* The unobserved links of an even relation that reach the floor, in any order; one that was found
 * from both sides is there twice. */
typedef acq_status acq_find_links_fn(acq_row_predictor *self, acq_rel relation, acq_link_list *out,
                                     acq_error *error);
/* Those of some rows of any relation, by head, then by tail. */
typedef acq_status acq_find_rows_fn(acq_row_predictor *self, acq_rel relation, const acq_ent *heads,
                                    size_t n, acq_link_list *out, acq_error *error);

/* A score as that of a link that is not observed. */
static inline float acq_row_clip(float score)
{
    return score < ACQ_SCORE_UNOBSERVED_MOST ? score : ACQ_SCORE_UNOBSERVED_MOST;
}

acq_find_links_fn acq_published_find_links, acq_calibrated_find_links;
acq_find_rows_fn acq_published_find_rows, acq_calibrated_find_rows;

void acq_published_free_workers(acq_row_predictor *self);

#endif
