/* cover.h - sets that contain the true entity with a stated probability: split conformal
 * prediction.
 *
 * Every entity e in the place of ? of relation(head, ?) has a score, the lower the likelier:
 *
 *   1 - p            where the completion has the link; equal ones are told apart by a drawn number
 *   1 + place / n    else where e is seen there: its place among the n seen ones, frequent ones
 * first 2 + place / n    else: its place among all entities, those with many facts first
 *
 * A fit holds links out, and has the scores of these by models and trees that do not know them. The
 * set of level c is every e whose score is at most the ceil((n + 1) c)-th of n such scores. So it
 * contains a missing link's true end with probability c, if missing links are like held-out ones
 * (Vovk and others 2005; per relation and direction where LEAST_OWN links were held out, else
 * pooled over all relations). With scores by p the sets are the smallest on average (Sadinle and
 * others 2019). */
#ifndef ACQ_CALIBRATE_COVER_H
#define ACQ_CALIBRATE_COVER_H

#include "predict/predictor.h"

enum { ACQ_COVER_LEAST_OWN = 20, ACQ_COVER_MOST_KEPT = 256 };

/* Scores of held-out links, sorted; of more than MOST_KEPT every so-manieth. */
typedef struct acq_cover_list {
    uint32_t n;      /* held out */
    uint32_t n_kept; /* scores */
    float *scores;
} acq_cover_list;

typedef struct acq_cover {
    uint32_t n_relations;  /* ids */
    acq_cover_list *lists; /* by relation; behind them the pools of even and of odd ones */
} acq_cover;

void acq_cover_deinit(acq_cover *cover); /* a zeroed one is legal */

/* Learns from the facts of `whole` that the predictor's graph lacks; ids are the same. */
acq_status acq_cover_learn(const acq_predictor *predictor, const acq_graph *whole, acq_cover *out,
                           acq_error *error);

/* The largest score of a member; INFINITY: too few links were held out for this level. *list: what
 * it was learnt from. */
double acq_cover_get_bound(const acq_cover *cover, acq_rel relation, double level,
                           const acq_cover_list **list);

/* Scores of entities in the place of ?, for one predictor. */
typedef struct acq_cover_scorer acq_cover_scorer;
acq_status acq_cover_scorer_new(const acq_predictor *predictor, acq_cover_scorer **out,
                                acq_error *error);
void acq_cover_scorer_free(acq_cover_scorer *scorer);

/* Chooses the relation; then scores of its links. Not shared between threads. */
acq_status acq_cover_scorer_choose(acq_cover_scorer *scorer, acq_rel relation, acq_error *error);
double acq_cover_scorer_score(const acq_cover_scorer *scorer, acq_ent head, acq_ent tail);

#endif
