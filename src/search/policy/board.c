/* board.c - building a board pass by pass, its links, and labels from the definition. */
#include "search/policy/board.h"

#include <string.h>

#include "base/memory.h"
#include "search/policy/board_build.h"

/* Does a link of this score make the literal hold, or fail if it is negated? Monotone. */
static bool decides(const acq_scoring *scoring, bool is_negated, double score)
{
    if (scoring->binarize > 0)
        score = score >= scoring->binarize ? 1.0 : 0.0;
    if (!is_negated)
        return score >= scoring->threshold;
    if (scoring->negation_threshold > 0)
        return score >= scoring->negation_threshold;
    return acq_scoring_round_one(1.0 - score) < scoring->threshold;
}

/* The least float that decides; bit patterns of positive floats ascend with them. A link of
 * score 1 always decides, one of score 0 never. */
static float find_cut(const acq_scoring *scoring, bool is_negated)
{
    const float one = 1.0F;
    float middle = one;
    uint32_t low = 0, high = 0;
    memcpy(&high, &one, sizeof high);
    while (high - low > 1) {
        uint32_t bits = low + (high - low) / 2;
        memcpy(&middle, &bits, sizeof middle);
        if (decides(scoring, is_negated, (double)middle))
            high = bits;
        else
            low = bits;
    }
    memcpy(&middle, &high, sizeof middle);
    return middle;
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

acq_status acq_board_open_links(acq_board_builder *b)
{
    const acq_board *board = b->board;
    const float cuts[] = {find_cut(&board->scoring, false), find_cut(&board->scoring, true)};
    for (uint32_t i = 0; i < board->n_literals; i++) {
        acq_board_literal *l = &board->literals[i];
        l->cut = cuts[l->literal.is_negated];
        acq_status status = l->literal.is_equality ? ACQ_OK : open_pair(board, l, b->error);
        if (status != ACQ_OK)
            return status;
        l->is_possible =
            board->pe != ACQ_PE_NONE &&
            (l->literal.is_equality || l->literal.is_negated || has_head(l->pe_links, l->cut));
    }
    return ACQ_OK;
}

static acq_status build(acq_board_builder *b)
{
    acq_status (*const passes[])(acq_board_builder *) = {
        acq_board_add_terms, acq_board_add_literals, acq_board_add_nodes, acq_board_add_touches,
        acq_board_add_edges, acq_board_open_links,   acq_board_add_bound};
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        acq_status status = passes[i](b);
        if (status != ACQ_OK)
            return status == ACQ_ERR_MEMORY ? acq_fail_memory(b->error) : status;
    }
    return ACQ_OK;
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
    acq_board_builder builder = {.problem = problem, .board = board, .error = error};
    acq_status status = build(&builder);
    if (status != ACQ_OK) {
        acq_board_free(board);
        return status;
    }
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
