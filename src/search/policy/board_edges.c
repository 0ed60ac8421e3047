/* board_edges.c - which literals touch a term, and which nodes it has edges to.
 *
 * Touches and edges of a term ascend by literal and by node; top-level literals come first in
 * both, so touch j and edge j are the same literal until the clauses begin. */
#include "search/policy/board_build.h"

static bool is_loop(const acq_board_literal *literal)
{
    return literal->left == literal->right;
}

static acq_status allot_touches(acq_board *board)
{
    for (uint32_t i = 0; i < board->n_literals; i++) {
        board->terms[board->literals[i].left].n_touches++;
        if (!is_loop(&board->literals[i]))
            board->terms[board->literals[i].right].n_touches++;
    }
    for (uint32_t t = 0; t < board->n_terms; t++) {
        acq_board_term *term = &board->terms[t];
        term->touches = acq_arena_alloc(&board->arena, term->n_touches, sizeof *term->touches);
        if (term->touches == NULL)
            return ACQ_ERR_MEMORY;
        term->n_touches = 0;
    }
    return ACQ_OK;
}

static void add_touch(acq_board_term *term, acq_board_touch touch)
{
    ((acq_board_touch *)term->touches)[term->n_touches++] = touch;
}

acq_status acq_board_add_touches(acq_board_builder *b)
{
    acq_board *board = b->board;
    if (allot_touches(board) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < board->n_literals; i++) {
        const acq_board_literal *literal = &board->literals[i];
        uint32_t left = literal->left, right = literal->right;
        add_touch(&board->terms[left],
                  (acq_board_touch){.literal = i, .other = right, .at_left = true});
        if (!is_loop(literal))
            add_touch(&board->terms[right],
                      (acq_board_touch){.literal = i, .other = left, .at_left = false});
    }
    return ACQ_OK;
}

/* The pairs (term, node), each once, with the leaves of the node at the term. */
typedef struct edges {
    acq_board *board;
    uint32_t *latest;  /* of each term: 1 + the node of its latest edge */
    uint32_t *n_edges; /* of each term so far */
    uint32_t *first;   /* NULL: only count */
} edges;

static void add_edge(edges *e, uint32_t term, uint32_t node)
{
    if (e->latest[term] == node + 1)
        return;
    e->latest[term] = node + 1;
    if (e->first != NULL)
        e->board->edge_nodes[e->first[term] + e->n_edges[term]] = node;
    e->n_edges[term]++;
}

static void add_ends(edges *e, uint32_t literal, uint32_t node)
{
    add_edge(e, e->board->literals[literal].left, node);
    add_edge(e, e->board->literals[literal].right, node);
}

static void add_all_edges(edges *e)
{
    acq_board *board = e->board;
    for (uint32_t t = 0; t < board->n_terms; t++)
        e->latest[t] = e->n_edges[t] = 0;
    for (uint32_t i = 0; i < board->n_literal_nodes; i++)
        add_ends(e, i, i);
    for (uint32_t t = 0; t < board->n_terms; t++)
        board->n_literal_edges[t] = e->n_edges[t];
    for (uint32_t i = board->n_literal_nodes; i < board->n_nodes; i++)
        for (uint32_t j = 0; j < board->nodes[i].n_leaves; j++)
            add_ends(e, board->nodes[i].leaves[j], i);
}

static void sum_edges(acq_board *board, const uint32_t *n_edges)
{
    board->first_edges[0] = 0;
    for (uint32_t t = 0; t < board->n_terms; t++) {
        board->first_edges[t + 1] = board->first_edges[t] + n_edges[t];
        uint32_t n_inner = board->terms[t].n_touches - board->n_literal_edges[t];
        board->most_edges = n_edges[t] > board->most_edges ? n_edges[t] : board->most_edges;
        board->most_inner = n_inner > board->most_inner ? n_inner : board->most_inner;
    }
}

/* Touches ascend by literal. */
static uint32_t find_touch(const acq_board_term *term, uint32_t literal)
{
    uint32_t low = 0, high = term->n_touches;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (term->touches[middle].literal <= literal)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t find_edge(const acq_board *board, uint32_t term, uint32_t node)
{
    uint32_t low = board->first_edges[term], high = board->first_edges[term + 1];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (board->edge_nodes[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

typedef void (*leaf_fn)(acq_board *board, uint32_t term, uint32_t node, uint32_t leaf);

static void visit_leaf_ends(acq_board *board, leaf_fn visit)
{
    for (uint32_t i = board->n_literal_nodes; i < board->n_nodes; i++)
        for (uint32_t j = 0; j < board->nodes[i].n_leaves; j++) {
            const acq_board_literal *literal = &board->literals[board->nodes[i].leaves[j]];
            visit(board, literal->left, i, j);
            if (!is_loop(literal))
                visit(board, literal->right, i, j);
        }
}

/* Counts one place further on, so that the sums end up as first places. */
static void count_leaf(acq_board *board, uint32_t term, uint32_t node, uint32_t leaf)
{
    (void)leaf;
    board->first_leaves[find_edge(board, term, node) + 2]++;
}

static void put_leaf(acq_board *board, uint32_t term, uint32_t node, uint32_t leaf)
{
    uint32_t touch = find_touch(&board->terms[term], board->nodes[node].leaves[leaf]);
    uint32_t place = board->first_leaves[find_edge(board, term, node) + 1]++;
    board->edge_leaves[place] = (acq_board_leaf){.leaf = leaf, .touch = touch};
}

static acq_status add_leaves(acq_board *board)
{
    size_t n_edges = board->first_edges[board->n_terms];
    board->first_leaves = acq_arena_zalloc(&board->arena, n_edges + 2, sizeof(uint32_t));
    if (board->first_leaves == NULL)
        return ACQ_ERR_MEMORY;
    visit_leaf_ends(board, count_leaf);
    for (size_t e = 1; e < n_edges + 2; e++)
        board->first_leaves[e] += board->first_leaves[e - 1];
    board->edge_leaves = acq_arena_alloc(&board->arena, board->first_leaves[n_edges + 1],
                                         sizeof *board->edge_leaves);
    if (board->edge_leaves == NULL)
        return ACQ_ERR_MEMORY;
    visit_leaf_ends(board, put_leaf);
    return ACQ_OK;
}

acq_status acq_board_add_edges(acq_board_builder *b)
{
    acq_board *board = b->board;
    size_t n = board->n_terms;
    edges e = {.board = board,
               .latest = acq_arena_alloc(&board->arena, n, sizeof *e.latest),
               .n_edges = acq_arena_alloc(&board->arena, n, sizeof *e.n_edges)};
    board->n_literal_edges = acq_arena_alloc(&board->arena, n, sizeof(uint32_t));
    board->first_edges = acq_arena_alloc(&board->arena, n + 1, sizeof(uint32_t));
    if (e.latest == NULL || e.n_edges == NULL || board->n_literal_edges == NULL ||
        board->first_edges == NULL)
        return ACQ_ERR_MEMORY;
    add_all_edges(&e);
    sum_edges(board, e.n_edges);
    board->edge_nodes = acq_arena_alloc(&board->arena, board->first_edges[n], sizeof(uint32_t));
    if (board->edge_nodes == NULL)
        return ACQ_ERR_MEMORY;
    e.first = board->first_edges;
    add_all_edges(&e);
    return add_leaves(board);
}
