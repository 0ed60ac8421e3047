/* random.c - uniform random assignments, the simplest search there is: the floor that every
 * other search must clear (the paper names it as a baseline to come). */
#include "search/guess.h"

acq_status acq_search_random(const acq_problem *problem, const acq_predictor *predictor,
                             const acq_search_params *params, acq_search_result *result,
                             acq_error *error)
{
    acq_guess guess;
    acq_status status = acq_guess_init(&guess, problem, predictor, params, result, error);
    if (status != ACQ_OK)
        return status;
    do
        acq_guess_draw(&guess);
    while (problem->n_entities > 0 && acq_guess_step(&guess));
    return acq_guess_finish(&guess, error);
}
