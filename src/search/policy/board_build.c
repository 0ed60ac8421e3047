/* board_build.c - terms, distinct literals, nodes and edges of a board.
 *
 * Every occurrence of a literal gets a key that is the same for two ways to say the same:
 * relation pairs are turned to their even side, equalities to ascending terms. Sorting the keys
 * finds the distinct ones; they are numbered by their first occurrence, so that those at the top
 * level come first. O(n log n) in the occurrences.
 *
 * Touches and edges of a term ascend by literal and by node; top-level literals come first in
 * both, so touch j and edge j are the same literal until the clauses begin. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "search/policy/walk.h"

typedef struct builder {
    const acq_problem *problem;
    acq_board *board;
    uint32_t n_occurrences;   /* of literals: the top-level ones, then the leaves of the clauses */
    uint32_t *variable_terms; /* term of each variable of the problem */
    uint32_t *numbers;        /* of the literal of each occurrence */
} builder;

typedef struct occurrence {
    const acq_literal *literal;
    uint32_t index;
    uint32_t kind; /* positive, negated; of a relation, of an equality */
    acq_rel relation;
    uint32_t left, right; /* terms, in the order of the key */
} occurrence;

typedef void (*visit_fn)(void *context, const acq_literal *literal);

static void visit_leaves(const acq_branch *branch, visit_fn visit, void *context)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        visit(context, &branch->literal);
    for (uint32_t i = 0; i < branch->n_children; i++)
        visit_leaves(branch->children[i], visit, context);
}

static void visit_all(const acq_problem *problem, visit_fn visit, void *context)
{
    for (uint32_t i = 0; i < problem->n_literals; i++)
        visit(context, &problem->literals[i]);
    for (uint32_t i = 0; i < problem->n_clauses; i++)
        visit_leaves(problem->clauses[i], visit, context);
}

static void count_one(void *context, const acq_literal *literal)
{
    (void)literal;
    ++*(uint32_t *)context;
}

/* What the first pass over the literals finds. */
typedef struct places {
    uint32_t *variable_terms; /* 0: occurs */
    acq_ent *constants;
    size_t n_constants;
} places;

static void note_place(places *p, acq_place place)
{
    if (place.is_variable)
        p->variable_terms[place.id] = 0;
    else
        p->constants[p->n_constants++] = place.id;
}

static void note_places(void *context, const acq_literal *literal)
{
    note_place(context, literal->left);
    note_place(context, literal->right);
}

static int compare_entities(const void *left, const void *right)
{
    acq_ent a = *(const acq_ent *)left, b = *(const acq_ent *)right;
    return a < b ? -1 : a > b;
}

static size_t make_distinct(acq_ent *list, size_t n)
{
    size_t kept = 0;
    if (n > 1)
        qsort(list, n, sizeof *list, compare_entities);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || list[i] != list[i - 1])
            list[kept++] = list[i];
    return kept;
}

static void number_variables(builder *b)
{
    acq_board *board = b->board;
    for (uint32_t v = 0; v < board->n_variables; v++)
        if (b->variable_terms[v] != ACQ_NO_ID) {
            board->terms[board->n_terms] = (acq_board_term){.variable = v, .value = ACQ_NO_ID};
            b->variable_terms[v] = board->n_terms++;
        }
    board->n_free_terms = board->n_terms;
}

static acq_status add_terms(builder *b)
{
    acq_board *board = b->board;
    visit_all(b->problem, count_one, &b->n_occurrences);
    places p = {
        .variable_terms = acq_arena_alloc(&board->arena, board->n_variables, sizeof(uint32_t)),
        .constants = acq_arena_alloc(&board->arena, 2 * (size_t)b->n_occurrences, sizeof(acq_ent))};
    board->terms =
        acq_arena_alloc(&board->arena, 2 * (size_t)b->n_occurrences, sizeof *board->terms);
    if (p.variable_terms == NULL || p.constants == NULL || board->terms == NULL)
        return ACQ_ERR_MEMORY;
    memset(p.variable_terms, 0xff, board->n_variables * sizeof *p.variable_terms);
    visit_all(b->problem, note_places, &p);
    b->variable_terms = p.variable_terms;
    number_variables(b);
    p.n_constants = make_distinct(p.constants, p.n_constants);
    for (size_t i = 0; i < p.n_constants; i++)
        board->terms[board->n_terms++] =
            (acq_board_term){.variable = ACQ_NO_ID, .value = p.constants[i]};
    return ACQ_OK;
}

/* Constants are the terms from n_free_terms on, by ascending entity. */
static uint32_t find_term(const builder *b, acq_place place)
{
    const acq_board *board = b->board;
    uint32_t i;
    if (place.is_variable)
        return b->variable_terms[place.id];
    ACQ_SEARCH(i, board->n_free_terms, board->n_terms, board->terms[i].value < place.id);
    return i;
}

typedef struct occurrences {
    const builder *b;
    occurrence *list;
    uint32_t n;
} occurrences;

static void add_occurrence(void *context, const acq_literal *literal)
{
    occurrences *all = context;
    uint32_t left = find_term(all->b, literal->left), right = find_term(all->b, literal->right);
    bool swap = literal->is_equality ? left > right : (literal->relation & 1U) != 0;
    all->list[all->n] = (occurrence){.literal = literal,
                                     .index = all->n,
                                     .kind = 2U * literal->is_equality + literal->is_negated,
                                     .relation = literal->is_equality ? 0 : literal->relation & ~1U,
                                     .left = swap ? right : left,
                                     .right = swap ? left : right};
    all->n++;
}

static int compare_keys(const occurrence *a, const occurrence *b)
{
    if (a->left != b->left)
        return a->left < b->left ? -1 : 1;
    if (a->right != b->right)
        return a->right < b->right ? -1 : 1;
    if (a->relation != b->relation)
        return a->relation < b->relation ? -1 : 1;
    return a->kind == b->kind ? 0 : a->kind < b->kind ? -1 : 1;
}

static int compare_occurrences(const void *left, const void *right)
{
    const occurrence *a = left, *b = right;
    int order = compare_keys(a, b);
    return order != 0 ? order : a->index < b->index ? -1 : a->index > b->index;
}

/* numbers[i]: at first the occurrence that says the same first, then its literal's number. */
static void number_literals(builder *b, const occurrence *sorted, const occurrences *all)
{
    acq_board *board = b->board;
    uint32_t first = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        if (i == 0 || compare_keys(&sorted[i], &sorted[i - 1]) != 0)
            first = sorted[i].index;
        b->numbers[sorted[i].index] = first;
    }
    for (uint32_t i = 0; i < all->n; i++) {
        const acq_literal *literal = all->list[i].literal;
        if (b->numbers[i] != i) {
            b->numbers[i] = b->numbers[b->numbers[i]];
            continue;
        }
        board->literals[board->n_literals] =
            (acq_board_literal){.literal = *literal,
                                .left = find_term(b, literal->left),
                                .right = find_term(b, literal->right)};
        b->numbers[i] = board->n_literals++;
    }
}

static acq_status add_literals(builder *b)
{
    acq_board *board = b->board;
    uint32_t n = b->n_occurrences;
    occurrence *sorted = acq_arena_alloc(&board->arena, n, sizeof *sorted);
    occurrences all = {.b = b, .list = acq_arena_alloc(&board->arena, n, sizeof *all.list)};
    b->numbers = acq_arena_alloc(&board->arena, n, sizeof *b->numbers);
    board->literals = acq_arena_alloc(&board->arena, n, sizeof *board->literals);
    if (sorted == NULL || all.list == NULL || b->numbers == NULL || board->literals == NULL)
        return ACQ_ERR_MEMORY;
    visit_all(b->problem, add_occurrence, &all);
    if (n > 0)
        memcpy(sorted, all.list, n * sizeof *sorted);
    if (n > 1)
        qsort(sorted, n, sizeof *sorted, compare_occurrences);
    number_literals(b, sorted, &all);
    return ACQ_OK;
}

static void count_literal_nodes(builder *b)
{
    for (uint32_t i = 0; i < b->problem->n_literals; i++)
        if (b->numbers[i] >= b->board->n_literal_nodes)
            b->board->n_literal_nodes = b->numbers[i] + 1;
}

static acq_status add_nodes(builder *b)
{
    acq_board *board = b->board;
    const acq_problem *problem = b->problem;
    count_literal_nodes(b);
    size_t n = (size_t)board->n_literal_nodes + problem->n_clauses;
    board->nodes = acq_arena_alloc(&board->arena, n, sizeof *board->nodes);
    if (board->nodes == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < board->n_literal_nodes; i++)
        board->nodes[board->n_nodes++] = (acq_board_node){.literal = i};
    const uint32_t *leaves = b->numbers + problem->n_literals;
    for (uint32_t i = 0; i < problem->n_clauses; i++) {
        acq_board_node *node = &board->nodes[board->n_nodes++];
        *node =
            (acq_board_node){.tree = problem->clauses[i], .literal = ACQ_NO_ID, .leaves = leaves};
        visit_leaves(node->tree, count_one, &node->n_leaves);
        leaves += node->n_leaves;
        if (node->n_leaves > board->most_leaves)
            board->most_leaves = node->n_leaves;
    }
    return ACQ_OK;
}

/* ---- touches and edges ---- */

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

static acq_status add_touches(builder *b)
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
    uint32_t i;
    ACQ_SEARCH(i, 1, term->n_touches, term->touches[i].literal <= literal);
    return i - 1;
}

static uint32_t find_edge(const acq_board *board, uint32_t term, uint32_t node)
{
    uint32_t first = board->first_edges[term], n = board->first_edges[term + 1] - first;
    return first + acq_search_last(board->edge_nodes + first, n, node);
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

static acq_status add_edges(builder *b)
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

acq_status acq_board_build(const acq_problem *problem, acq_board *board)
{
    acq_status (*const passes[])(builder *) = {add_terms, add_literals, add_nodes, add_touches,
                                               add_edges};
    builder b = {.problem = problem, .board = board};
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < sizeof passes / sizeof passes[0] && status == ACQ_OK; i++)
        status = passes[i](&b);
    return status;
}
