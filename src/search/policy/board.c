/* board.c - making a board, its links, its bound, and labels from the definition. */
#include "search/policy/walk.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "search/literal.h"

/* Does a link of this score make the literal hold, or fail if it is negated? Monotone. */
static bool decides(const acq_scoring *scoring, bool is_negated, double link)
{
    return (acq_search_score_link(scoring, is_negated, link) >= scoring->threshold) != is_negated;
}

static float get_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The least float that decides; bit patterns of positive floats ascend with them. A link of
 * score 1 always decides, one of score 0 never. */
static float find_cut(const acq_scoring *scoring, bool is_negated)
{
    const float one = 1.0F;
    uint32_t bits, end;
    memcpy(&end, &one, sizeof end);
    ACQ_SEARCH(bits, 1, end, !decides(scoring, is_negated, (double)get_float(bits)));
    return get_float(bits);
}

static bool is_head(const acq_links *links, uint32_t row, float cut)
{
    return links->best == NULL || links->best[row] >= cut;
}

static bool has_head(const acq_links *links, float cut)
{
    for (uint32_t i = 0; i < links->n_heads; i++)
        if (is_head(links, i, cut))
            return true;
    return false;
}

static acq_status open_pair(const acq_board *board, acq_board_literal *l, acq_error *error)
{
    acq_rel relation = l->literal.relation;
    const acq_graph *graph = board->predictor->graph;
    acq_status status = acq_predictor_open_links(board->predictor, relation, &l->links, error);
    if (status == ACQ_OK)
        status =
            acq_predictor_open_links(board->predictor, acq_inverse(relation), &l->inverse, error);
    if (board->pe == ACQ_PE_EXACT) {
        l->pe_links = l->links;
        l->pe_inverse = l->inverse;
    }
    if (status != ACQ_OK || board->pe != ACQ_PE_OBSERVED)
        return status;
    status = acq_graph_open_links(graph, relation, &l->pe_links, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(graph, acq_inverse(relation), &l->pe_inverse, error);
    return status;
}

static acq_status open_links(acq_board *board, acq_error *error)
{
    const float cuts[] = {find_cut(&board->scoring, false), find_cut(&board->scoring, true)};
    for (uint32_t i = 0; i < board->n_literals; i++) {
        acq_board_literal *l = &board->literals[i];
        l->cut = cuts[l->literal.is_negated];
        acq_status status = l->literal.is_equality ? ACQ_OK : open_pair(board, l, error);
        if (status != ACQ_OK)
            return status;
        l->is_possible =
            board->pe != ACQ_PE_NONE &&
            (l->literal.is_equality || l->literal.is_negated || has_head(l->pe_links, l->cut));
    }
    return ACQ_OK;
}

/* ---- the most that any assignment can score, from single literals ----
 *
 *   r(x,y)   the best link of r; of the row of a constant; between constants the link itself
 *   !r(x,y)  1; between constants its score
 *   x = y    1
 * and the trees of clauses over these. O(heads) for a relation with scores, else O(1). */

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
    if (l->literal.is_equality || (l->literal.is_negated && !is_ground(board, l)))
        return 1.0;
    return acq_search_score_link(&board->scoring, l->literal.is_negated, get_best_score(board, l));
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

static void add_bound(acq_board *board)
{
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
}

acq_status acq_board_new(const acq_problem *problem, const acq_predictor *predictor,
                         const acq_scoring *scoring, acq_pe pe, acq_board **out, acq_error *error)
{
    acq_board *board = acq_zalloc(1, sizeof *board);
    if (board == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&board->arena);
    board->predictor = predictor;
    board->scoring = *scoring;
    board->pe = pe;
    board->n_entities = problem->n_entities;
    board->n_variables = problem->n_variables;
    acq_status status = acq_board_build(problem, board) == ACQ_OK ? open_links(board, error)
                                                                  : acq_fail_memory(error);
    if (status != ACQ_OK) {
        acq_board_free(board);
        return status;
    }
    add_bound(board);
    *out = board;
    return ACQ_OK;
}

void acq_board_free(acq_board *board)
{
    if (board == NULL)
        return;
    acq_arena_deinit(&board->arena);
    acq_free(board);
}

static bool has_link(const acq_links *links, acq_ent head, acq_ent tail, float cut)
{
    return head < links->n_entities && acq_links_get_score(links, head, tail) >= cut;
}

bool acq_board_holds(const acq_board *board, uint32_t literal, acq_ent left, acq_ent right)
{
    const acq_board_literal *l = &board->literals[literal];
    bool is_decided =
        l->literal.is_equality ? left == right : has_link(l->links, left, right, l->cut);
    return is_decided != l->literal.is_negated;
}

static bool is_literal_potential(const acq_board *board, uint32_t literal, uint32_t term, acq_ent a)
{
    const acq_board_literal *l = &board->literals[literal];
    if (l->literal.is_equality || l->literal.is_negated || (l->left != term && l->right != term))
        return l->is_possible;
    if (l->left == l->right)
        return has_link(l->pe_links, a, a, l->cut);
    const acq_links *links = l->left == term ? l->pe_links : l->pe_inverse;
    uint32_t row = a < links->n_entities ? acq_links_find(links, a) : ACQ_NO_ID;
    return row != ACQ_NO_ID && is_head(links, row, l->cut);
}

/* A clause at a value of a term; leaf counts the leaves passed. */
typedef struct clause_view {
    const acq_board *board;
    const acq_board_node *node;
    uint32_t term, leaf;
    acq_ent value;
} clause_view;

static bool is_branch_potential(clause_view *view, const acq_branch *branch)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        return is_literal_potential(view->board, view->node->leaves[view->leaf++], view->term,
                                    view->value);
    bool is_and = branch->kind == ACQ_BRANCH_AND, result = is_and;
    for (uint32_t i = 0; i < branch->n_children; i++) {
        bool child = is_branch_potential(view, branch->children[i]);
        result = is_and ? result && child : result || child;
    }
    return result;
}

bool acq_board_is_potential(const acq_board *board, uint32_t term, uint32_t j, acq_ent a)
{
    const acq_board_node *node = &board->nodes[board->edge_nodes[board->first_edges[term] + j]];
    clause_view view = {.board = board, .node = node, .term = term, .value = a};
    if (board->pe == ACQ_PE_NONE)
        return false;
    return node->tree == NULL ? is_literal_potential(board, node->literal, term, a)
                              : is_branch_potential(&view, node->tree);
}
