/* search.c - what all searches share: their results, and the score of an assignment. */
#include "search/search.h"

#include <math.h>

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
