/* guess.h - what the incomplete searches share: a current assignment, the best one so far, and
 * the way they end. They answer or stay undecided; only a score at
 * the bound is known to be the best. */
#ifndef ACQ_SEARCH_GUESS_H
#define ACQ_SEARCH_GUESS_H

#include "base/random.h"
#include "search/search.h"

enum { ACQ_GUESS_STEPS = 10000 }; /* when the caller gives none */

typedef struct acq_guess {
    const acq_problem *problem;
    const acq_predictor *predictor;
    const acq_search_params *params;
    acq_search_result *result;
    acq_budget budget;
    acq_random random;
    uint64_t steps_left;
    size_t n_literals; /* of the problem, those in clauses too: the work of one step */
    acq_ent *values;   /* the current assignment */
    acq_ent *best;     /* the best one so far */
    double score, best_score;
    double bound; /* no assignment scores more: 1 until something better is known */
} acq_guess;

/* Initialises *result too. Memory comes from the result's arena. */
acq_status acq_guess_init(acq_guess *guess, const acq_problem *problem,
                          const acq_predictor *predictor, const acq_search_params *params,
                          acq_search_result *result, acq_error *error);

/* A new assignment, every variable uniform over all entities. */
void acq_guess_draw(acq_guess *guess);

/* Scores the current assignment and keeps it if it is the best. Counts one step; false: stop. */
bool acq_guess_step(acq_guess *guess);

/* Fills the result from the best assignment. */
acq_status acq_guess_finish(acq_guess *guess, acq_error *error);

#endif
