/* board_bound.c - the most that any assignment can score, from single literals.
 *
 *   r(x,y)   the best link of r; of the row of a constant; between constants the link itself
 *   !r(x,y)  1; between constants its score
 *   x = y    1
 * and the trees of clauses over these. O(heads) for a relation with scores, else O(1). */
#include "search/policy/board_build.h"

#include <math.h>

static double get_best_of_row(const acq_links *links, acq_ent head)
{
    uint32_t row = head < links->n_entities ? acq_links_find(links, head) : ACQ_NO_ID;
    if (row == ACQ_NO_ID)
        return 0.0;
    return links->best == NULL ? 1.0 : (double)links->best[row];
}

static double get_best_link(const acq_links *links)
{
    float best = 0.0F;
    if (links->best == NULL)
        return links->n_links > 0 ? 1.0 : 0.0;
    for (uint32_t i = 0; i < links->n_heads; i++)
        best = links->best[i] > best ? links->best[i] : best;
    return (double)best;
}

static double get_best_score(const acq_board *board, const acq_board_literal *l)
{
    const acq_board_term *left = &board->terms[l->left], *right = &board->terms[l->right];
    bool is_left_fixed = left->variable == ACQ_NO_ID, is_right_fixed = right->variable == ACQ_NO_ID;
    if (is_left_fixed && is_right_fixed)
        return left->value < l->links->n_entities
                   ? (double)acq_links_get_score(l->links, left->value, right->value)
                   : 0.0;
    if (is_left_fixed)
        return get_best_of_row(l->links, left->value);
    if (is_right_fixed)
        return get_best_of_row(l->inverse, right->value);
    return get_best_link(l->links);
}

static bool is_ground(const acq_board *board, const acq_board_literal *l)
{
    return l->left >= board->n_free_terms && l->right >= board->n_free_terms;
}

static double bound_literal(const acq_board *board, const acq_board_literal *l)
{
    const acq_scoring *scoring = &board->scoring;
    if (l->literal.is_equality || (l->literal.is_negated && !is_ground(board, l)))
        return 1.0;
    double score = get_best_score(board, l);
    if (scoring->binarize > 0)
        score = score >= scoring->binarize ? 1.0 : 0.0;
    if (!l->literal.is_negated)
        return score;
    if (scoring->negation_threshold > 0)
        return score < scoring->negation_threshold ? 1.0 : 0.0;
    return acq_scoring_round_one(1.0 - score);
}

static double bound_branch(const acq_board *board, const acq_branch *branch, const uint32_t **leaf)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        return bound_literal(board, &board->literals[*(*leaf)++]);
    bool is_and = branch->kind == ACQ_BRANCH_AND;
    double result = is_and ? 1.0 : 0.0;
    for (uint32_t i = 0; i < branch->n_children; i++) {
        double bound = bound_branch(board, branch->children[i], leaf);
        result = is_and ? fmin(result, bound) : fmax(result, bound);
    }
    return result;
}

acq_status acq_board_add_bound(acq_board_builder *b)
{
    acq_board *board = b->board;
    board->bound = 1.0;
    board->why = ACQ_NO_ID;
    for (uint32_t i = 0; i < board->n_nodes; i++) {
        const acq_board_node *node = &board->nodes[i];
        const uint32_t *leaf = node->leaves;
        double bound = node->tree == NULL ? bound_literal(board, &board->literals[node->literal])
                                          : bound_branch(board, node->tree, &leaf);
        if (bound >= board->bound)
            continue;
        board->bound = bound;
        board->why = bound < board->scoring.threshold ? node->literal : ACQ_NO_ID;
    }
    return ACQ_OK;
}
