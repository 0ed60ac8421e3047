/* guess.c - see guess.h. */
#include "search/guess.h"

#include <math.h>
#include <string.h>

#include "search/literal.h"

static size_t count_literals(const acq_branch *branch)
{
    size_t n = branch->kind == ACQ_BRANCH_LITERAL;
    for (uint32_t i = 0; i < branch->n_children; i++)
        n += count_literals(branch->children[i]);
    return n;
}

acq_status acq_guess_init(acq_guess *guess, const acq_problem *problem,
                          const acq_predictor *predictor, const acq_search_params *params,
                          acq_search_result *result, acq_error *error)
{
    *result = (acq_search_result){0};
    acq_arena_init(&result->arena);
    *guess = (acq_guess){.problem = problem,
                         .predictor = predictor,
                         .params = params,
                         .result = result,
                         .bound = 1.0,
                         .random = acq_random_start(params->seed, params->stream),
                         .steps_left = params->steps == 0 ? ACQ_GUESS_STEPS : params->steps};
    acq_status status = acq_search_check_scoring(&params->scoring, error);
    if (status != ACQ_OK)
        return status;
    acq_budget_init(&guess->budget, params->seconds, params->memory_bytes);
    guess->budget.stop = params->stop;
    guess->values = acq_arena_alloc(&result->arena, problem->n_variables, sizeof *guess->values);
    guess->best = acq_arena_alloc(&result->arena, problem->n_variables, sizeof *guess->best);
    if (guess->values == NULL || guess->best == NULL)
        return acq_fail_memory(error);
    guess->n_literals = problem->n_literals;
    for (uint32_t i = 0; i < problem->n_clauses; i++)
        guess->n_literals += count_literals(problem->clauses[i]);
    for (uint32_t v = 0; v < problem->n_variables; v++)
        guess->values[v] = guess->best[v] = ACQ_NO_ID;
    return ACQ_OK;
}

void acq_guess_draw(acq_guess *guess)
{
    for (uint32_t v = guess->problem->n_fixed; v < guess->problem->n_variables; v++)
        guess->values[v] = (acq_ent)acq_random_below(&guess->random, guess->problem->n_entities);
}

bool acq_guess_step(acq_guess *guess)
{
    const acq_problem *problem = guess->problem;
    double score =
        acq_search_score(problem, guess->predictor, &guess->params->scoring, guess->values);
    guess->score = score;
    guess->result->effort.nodes++;
    if (score > guess->best_score) {
        guess->best_score = score;
        memcpy(guess->best, guess->values, problem->n_variables * sizeof *guess->best);
    }
    if (guess->best_score >= guess->bound)
        return false;
    if (--guess->steps_left == 0) {
        guess->budget.spent = ACQ_SPENT_STEPS;
        return false;
    }
    return acq_budget_tick(&guess->budget, 20 + 4 * guess->n_literals);
}

acq_status acq_guess_finish(acq_guess *guess, acq_error *error)
{
    acq_search_result *result = guess->result;
    bool found = guess->best_score >= guess->params->scoring.threshold;
    bool one = guess->params->limit == 1 || guess->problem->n_free == 0;
    bool is_best = found && guess->best_score >= guess->bound;
    result->outcome = found ? ACQ_ANSWERED : ACQ_UNDECIDED;
    result->complete = is_best && one;
    result->spent = guess->budget.spent == ACQ_SPENT_NOTHING && !is_best ? ACQ_SPENT_STEPS
                                                                         : guess->budget.spent;
    if (result->effort.memory_peak < result->arena.reserved)
        result->effort.memory_peak = result->arena.reserved;
    if (!found)
        return ACQ_OK;
    result->answers = acq_arena_alloc(&result->arena, 1, sizeof *result->answers);
    if (result->answers == NULL)
        return acq_fail_memory(error);
    result->answers[0] = (acq_assignment){.score = guess->best_score, .values = guess->best};
    result->n_answers = 1;
    return ACQ_OK;
}
