/* search.c - what all searches share: their results, the score of an
 * assignment, the best answers so far, and what the incomplete ones do alike. */
#include "search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/literal.h"

void acq_search_result_deinit(acq_search_result *result)
{
    acq_arena_deinit(&result->arena);
    *result = (acq_search_result){0};
}

static acq_ent value_at(acq_place place, const acq_ent *values)
{
    return place.is_variable ? values[place.id] : place.id;
}

static double score_literal(const acq_literal *literal, const acq_predictor *predictor,
                            const acq_scoring *scoring, const acq_ent *values)
{
    acq_ent left = value_at(literal->left, values), right = value_at(literal->right, values);
    if (literal->is_equality)
        return (left == right) != literal->is_negated ? 1.0 : 0.0;
    float link = acq_predictor_get_score(predictor, left, literal->relation, right);
    return acq_search_score_link(scoring, literal->is_negated, (double)link);
}

double acq_search_score_branch(const acq_branch *branch, const acq_predictor *predictor,
                               const acq_scoring *scoring, const acq_ent *values)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        return score_literal(&branch->literal, predictor, scoring, values);
    bool is_and = branch->kind == ACQ_BRANCH_AND;
    double result = is_and ? 1.0 : 0.0;
    for (uint32_t i = 0; i < branch->n_children; i++) {
        double score = acq_search_score_branch(branch->children[i], predictor, scoring, values);
        result = is_and ? fmin(result, score) : fmax(result, score);
    }
    return result;
}

double acq_search_score(const acq_problem *problem, const acq_predictor *predictor,
                        const acq_scoring *scoring, const acq_ent *values)
{
    double result = 1.0;
    for (uint32_t i = 0; i < problem->n_literals && result > 0; i++)
        result = fmin(result, score_literal(&problem->literals[i], predictor, scoring, values));
    for (uint32_t i = 0; i < problem->n_clauses && result > 0; i++)
        result =
            fmin(result, acq_search_score_branch(problem->clauses[i], predictor, scoring, values));
    return result;
}

acq_status acq_search_check_scoring(const acq_scoring *scoring, acq_error *error)
{
    if (!(scoring->threshold > 0.0 && scoring->threshold <= 1.0))
        return acq_fail(error, ACQ_ERR_USAGE, "the threshold must be above 0 and at most 1, not %g",
                        scoring->threshold);
    if (!(scoring->binarize >= 0.0 && scoring->binarize <= 1.0))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the binarize threshold must lie between 0 (off) and 1, not %g",
                        scoring->binarize);
    if (!(scoring->negation_threshold < 0.0 ||
          (scoring->negation_threshold > 0.0 && scoring->negation_threshold <= 1.0)))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the negation threshold must be above 0 and at most 1, not %g",
                        scoring->negation_threshold);
    return ACQ_OK;
}

/* ---- collect ---- */

void acq_collector_init(acq_collector *collector, acq_search_result *result, uint32_t n_variables,
                        uint64_t limit)
{
    *collector = (acq_collector){.result = result, .n_variables = n_variables, .limit = limit};
}

void acq_collector_deinit(acq_collector *collector)
{
    acq_free(collector->answers);
    collector->answers = NULL;
}

static bool is_full(const acq_collector *c)
{
    return c->limit != 0 && c->result->n_answers >= c->limit;
}

double acq_collector_get_bar(const acq_collector *collector, double floor)
{
    if (!is_full(collector))
        return floor;
    return fmax(floor, nextafter(collector->answers[0].score, INFINITY));
}

static void swap(acq_assignment *a, acq_assignment *b)
{
    acq_assignment copy = *a;
    *a = *b;
    *b = copy;
}

static void sift_up(acq_assignment *heap, size_t i)
{
    for (; i > 0 && heap[i].score < heap[(i - 1) / 2].score; i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(acq_assignment *heap, size_t n, size_t i)
{
    for (;;) {
        size_t least = i, left = 2 * i + 1, right = left + 1;
        if (left < n && heap[left].score < heap[least].score)
            least = left;
        if (right < n && heap[right].score < heap[least].score)
            least = right;
        if (least == i)
            return;
        swap(&heap[i], &heap[least]);
        i = least;
    }
}

acq_status acq_collector_offer(acq_collector *collector, const acq_ent *values, double score)
{
    acq_search_result *result = collector->result;
    size_t bytes = collector->n_variables * sizeof *values;
    if (is_full(collector)) {
        if (score <= collector->answers[0].score)
            return ACQ_OK;
        collector->answers[0].score = score;
        memcpy(collector->answers[0].values, values, bytes);
        sift_down(collector->answers, result->n_answers, 0);
        return ACQ_OK;
    }
    acq_ent *copy = acq_arena_alloc(&result->arena, collector->n_variables, sizeof *copy);
    if (copy == NULL ||
        ACQ_RESERVE(collector->answers, collector->capacity, result->n_answers + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    memcpy(copy, values, bytes);
    collector->answers[result->n_answers++] = (acq_assignment){.score = score, .values = copy};
    sift_up(collector->answers, result->n_answers - 1);
    return ACQ_OK;
}

static int compare(const void *left, const void *right, void *context)
{
    const acq_assignment *a = left, *b = right;
    const uint32_t *n = context;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    for (uint32_t i = 0; i < *n; i++)
        if (a->values[i] != b->values[i])
            return a->values[i] < b->values[i] ? -1 : 1;
    return 0;
}

acq_status acq_collector_finish(acq_collector *collector)
{
    acq_search_result *result = collector->result;
    size_t n = result->n_answers;
    result->answers = acq_arena_alloc(&result->arena, n, sizeof *result->answers);
    if (result->answers == NULL) {
        result->n_answers = 0;
        return ACQ_ERR_MEMORY;
    }
    if (n > 0) {
        memcpy(result->answers, collector->answers, n * sizeof *result->answers);
        qsort_r(result->answers, n, sizeof *result->answers, compare, &collector->n_variables);
    }
    return ACQ_OK;
}

/* ---- guess ---- */

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
