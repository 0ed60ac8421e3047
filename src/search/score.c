/* score.c - see score.h. Cost: one link look-up per literal. */
#include "search/score.h"

#include <math.h>

static acq_ent value_at(acq_place place, const acq_ent *values)
{
    return place.is_variable ? values[place.id] : place.id;
}

double acq_search_score_literal(const acq_literal *literal, const acq_predictor *predictor,
                                const acq_scoring *scoring, const acq_ent *values)
{
    acq_ent left = value_at(literal->left, values), right = value_at(literal->right, values);
    if (literal->is_equality)
        return (left == right) != literal->is_negated ? 1.0 : 0.0;
    double score = (double)acq_predictor_get_score(predictor, left, literal->relation, right);
    if (scoring->binarize > 0)
        score = score >= scoring->binarize ? 1.0 : 0.0;
    if (!literal->is_negated)
        return score;
    if (scoring->negation_threshold > 0)
        return score < scoring->negation_threshold ? 1.0 : 0.0;
    return acq_scoring_round_one(1.0 - score);
}

typedef struct scorer {
    const acq_predictor *predictor;
    const acq_scoring *scoring;
    const acq_ent *values;
} scorer;

static double score_branch(const scorer *s, const acq_branch *branch)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        return acq_search_score_literal(&branch->literal, s->predictor, s->scoring, s->values);
    bool is_and = branch->kind == ACQ_BRANCH_AND;
    double result = is_and ? 1.0 : 0.0;
    for (uint32_t i = 0; i < branch->n_children; i++) {
        double score = score_branch(s, branch->children[i]);
        result = is_and ? fmin(result, score) : fmax(result, score);
    }
    return result;
}

double acq_search_score(const acq_problem *problem, const acq_predictor *predictor,
                        const acq_scoring *scoring, const acq_ent *values)
{
    scorer s = {.predictor = predictor, .scoring = scoring, .values = values};
    double result = 1.0;
    for (uint32_t i = 0; i < problem->n_literals && result > 0; i++)
        result = fmin(result,
                      acq_search_score_literal(&problem->literals[i], predictor, scoring, values));
    for (uint32_t i = 0; i < problem->n_clauses && result > 0; i++)
        result = fmin(result, score_branch(&s, problem->clauses[i]));
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
