/* trials.h - inside fit: the candidates that a question is tried with, true and wrong ones.
 *
 * One free variable: as the paper makes its sets for classification. Up to ten true ones, each of
 * them with two chances in three one that the facts of the rest do not give, as far as there are
 * both; as many wrong ones, drawn among the entities that the rest shows at the variable's end of
 * every positive atom. Questions whose answers all follow from the rest's facts have no trials.
 * Since wrong ones are all shown, nothing may be learnt from true ones that are not: they are
 * there to be judged: where F1 is best depends on them.
 *
 * Several: true answers as the search finds them, and the best ones by the completion. */
#ifndef ACQ_FIT_TRIALS_H
#define ACQ_FIT_TRIALS_H

#include "base/random.h"
#include "engine/engine.h"

enum { ACQ_TRIAL_MOST_FREE = 3, ACQ_TRIAL_MOST = 24 };

typedef struct acq_trial_source {
    const acq_graph *rest;
    const acq_predictor *observed;  /* the rest's facts */
    const acq_predictor *completed; /* its links with their p */
    const acq_predictor *truth;     /* 1 for links that hold; the rest's ids */
} acq_trial_source;

typedef struct acq_trial {
    acq_ent values[ACQ_TRIAL_MOST_FREE];
    bool is_true;
    bool is_shown;
    double stands_for; /* candidates of the query, of those that could have been drawn */
} acq_trial;

typedef struct acq_trials {
    acq_trial items[ACQ_TRIAL_MOST];
    size_t n, n_true;
} acq_trials;

/* How fit searches: by work, not by the clock, so that a run repeats. */
acq_engine_params acq_trial_choose_search(const acq_predictor *predictor, uint64_t limit);

/* out->n is 0 where the question is of no use, as one with fewer answers than `least`. */
acq_status acq_trials_draw(const acq_trial_source *source, const acq_query *query, size_t least,
                           acq_random *random, acq_trials *out, acq_error *error);

#endif
