/* walk_labels.c - see walk.h.
 *
 * The values of a term that decide a literal (make it hold, or fail if it is negated) are a set:
 * a row of links for LE, the heads of all links for PE, one value for an equality. Every class
 * starts with the truth outside of the set; splitting by the set finds the classes inside. */
#include "search/policy/walk.h"

#include <string.h>

#include "base/memory.h"

enum { LE = 1, PE = 2 }; /* bits of a label */

typedef struct entity_set {
    const acq_ent *values;
    size_t n;
} entity_set;

static acq_status reserve_list(acq_walk *walk, size_t n)
{
    size_t before = walk->list_capacity;
    acq_status status = ACQ_RESERVE(walk->list, walk->list_capacity, n);
    walk->bytes += (walk->list_capacity - before) * sizeof *walk->list;
    return status;
}

/* The values whose score reaches the cut; scores NULL: all. */
static acq_status filter(acq_walk *walk, entity_set all, const float *scores, float cut,
                         entity_set *out)
{
    size_t n = 0;
    *out = all;
    if (scores == NULL)
        return ACQ_OK;
    if (reserve_list(walk, all.n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < all.n; i++) {
        walk->list[n] = all.values[i];
        n += scores[i] >= cut;
    }
    *out = (entity_set){.values = walk->list, .n = n};
    return ACQ_OK;
}

static acq_status find_loops(acq_walk *walk, const acq_links *links, float cut, entity_set *out)
{
    size_t n = 0;
    if (reserve_list(walk, links->n_heads) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        size_t j = acq_row_find(row, links->heads[i]);
        walk->list[n] = links->heads[i];
        n += j < row.n && (row.scores == NULL ? 1.0F : row.scores[j]) >= cut;
    }
    *out = (entity_set){.values = walk->list, .n = n};
    return ACQ_OK;
}

/* The values of the touch's term that decide its literal under the current assignment. */
static acq_status find_deciding(acq_walk *walk, const acq_board_touch *touch, entity_set *out)
{
    const acq_board_literal *l = &walk->board->literals[touch->literal];
    acq_ent other = walk->values[touch->other];
    if (l->left == l->right)
        return find_loops(walk, l->links, l->cut, out);
    if (l->literal.is_equality) {
        *out = (entity_set){.values = &walk->values[touch->other], .n = 1};
        return ACQ_OK;
    }
    const acq_links *links = touch->at_left ? l->inverse : l->links;
    acq_row row = other < links->n_entities ? acq_links_get_row(links, other) : (acq_row){0};
    return filter(walk, (entity_set){.values = row.tails, .n = row.n}, row.scores, l->cut, out);
}

/* The labels of a touch, one for each class: cells[class * stride]. Valid until the next split. */
typedef struct column {
    uint8_t *cells;
    size_t stride;
} column;

static column get_column(const acq_walk *walk, uint32_t term, uint32_t k)
{
    const acq_board *board = walk->board;
    uint32_t n = board->n_literal_edges[term];
    return k < n ? (column){.cells = walk->labels + k, .stride = board->most_edges}
                 : (column){.cells = walk->inner + (k - n), .stride = board->most_inner};
}

static void set_bit(uint8_t *label, unsigned bit, bool value)
{
    *label = (uint8_t)((*label & ~bit) | (value ? bit : 0));
}

/* Gives every class of the term this bit at the touch. */
static void set_column(acq_walk *walk, uint32_t term, uint32_t k, unsigned bit, bool value)
{
    column labels = get_column(walk, term, k);
    for (uint32_t c = term; c != ACQ_NO_ID; c = walk->next[c])
        set_bit(&labels.cells[c * labels.stride], bit, value);
}

/* The same for the classes of the set; it splits classes. */
static acq_status set_part(acq_walk *walk, uint32_t term, uint32_t k, entity_set set, unsigned bit,
                           bool value)
{
    uint32_t n_covered = 0;
    if (acq_walk_split(walk, term, set.values, set.n, &n_covered) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    column labels = get_column(walk, term, k);
    for (uint32_t i = 0; i < n_covered; i++)
        set_bit(&labels.cells[walk->covered[i] * labels.stride], bit, value);
    return ACQ_OK;
}

static bool is_stale(const acq_walk *walk, uint32_t term, const acq_board_touch *touch)
{
    return walk->changed[touch->other] && (touch->other != term || !walk->is_set);
}

static acq_status update_touch(acq_walk *walk, uint32_t term, uint32_t k)
{
    const acq_board_touch *touch = &walk->board->terms[term].touches[k];
    bool is_negated = walk->board->literals[touch->literal].literal.is_negated;
    entity_set set;
    if (!is_stale(walk, term, touch))
        return ACQ_OK;
    set_column(walk, term, k, LE, is_negated);
    if (find_deciding(walk, touch, &set) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    return set_part(walk, term, k, set, LE, !is_negated);
}

/* One bit of a clause at an edge of its term, class by class. */
typedef struct clause_edge {
    const acq_board_node *node;
    uint32_t term, edge;
    unsigned bit;
} clause_edge;

/* Leaves in their order, 0 or not. */
static bool evaluate(const acq_branch *branch, const uint8_t **leaf)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        return *(*leaf)++ != 0;
    bool is_and = branch->kind == ACQ_BRANCH_AND, result = is_and;
    for (uint32_t i = 0; i < branch->n_children; i++) {
        bool child = evaluate(branch->children[i], leaf);
        result = is_and ? result && child : result || child;
    }
    return result;
}

/* Its leaves with the term come from the labels of the class, the others are set. */
static bool evaluate_class(acq_walk *walk, const clause_edge *e, uint32_t c)
{
    const acq_board *board = walk->board;
    const uint8_t *leaf = walk->leaves;
    for (uint32_t i = board->first_leaves[e->edge]; i < board->first_leaves[e->edge + 1]; i++) {
        column labels = get_column(walk, e->term, board->edge_leaves[i].touch);
        walk->leaves[board->edge_leaves[i].leaf] = labels.cells[c * labels.stride] & e->bit;
    }
    return evaluate(e->node->tree, &leaf);
}

static void label_clause(acq_walk *walk, const clause_edge *e)
{
    const acq_board *board = walk->board;
    uint8_t *labels = walk->labels + (e->edge - board->first_edges[e->term]);
    for (uint32_t i = 0; i < e->node->n_leaves; i++) {
        uint32_t literal = e->node->leaves[i];
        walk->leaves[i] =
            e->bit == LE ? walk->holds[literal] : board->literals[literal].is_possible;
    }
    for (uint32_t c = e->term; c != ACQ_NO_ID; c = walk->next[c])
        set_bit(&labels[(size_t)c * board->most_edges], e->bit, evaluate_class(walk, e, c));
}

/* Has an end of a leaf changed? If not, classes keep the labels, and parts of them inherit. */
static bool is_clause_stale(const acq_walk *walk, const acq_board_node *node)
{
    for (uint32_t i = 0; i < node->n_leaves; i++) {
        const acq_board_literal *l = &walk->board->literals[node->leaves[i]];
        if (walk->changed[l->left] || walk->changed[l->right])
            return true;
    }
    return false;
}

/* One bit of the labels of the clauses at the first n terms. */
static void label_clauses(acq_walk *walk, uint32_t n_terms, unsigned bit)
{
    const acq_board *board = walk->board;
    for (uint32_t t = 0; t < n_terms; t++) {
        uint32_t first = board->first_edges[t] + board->n_literal_edges[t];
        for (uint32_t edge = first; edge < board->first_edges[t + 1]; edge++) {
            const acq_board_node *node = &board->nodes[board->edge_nodes[edge]];
            if (bit == PE || is_clause_stale(walk, node))
                label_clause(walk,
                             &(clause_edge){.node = node, .term = t, .edge = edge, .bit = bit});
        }
    }
}

acq_status acq_walk_update_labels(acq_walk *walk)
{
    const acq_board *board = walk->board;
    for (uint32_t t = 0; t < board->n_free_terms; t++)
        for (uint32_t k = 0; k < board->terms[t].n_touches; k++)
            if (update_touch(walk, t, k) != ACQ_OK)
                return ACQ_ERR_MEMORY;
    for (uint32_t t = board->n_free_terms; t < board->n_terms; t++)
        for (uint32_t k = 0; k < board->terms[t].n_touches; k++)
            set_column(walk, t, k, LE, walk->holds[board->terms[t].touches[k].literal]);
    label_clauses(walk, board->n_terms, LE);
    return ACQ_OK;
}

static const acq_links *get_support(const acq_walk *walk, const acq_board_touch *touch)
{
    const acq_board_literal *l = &walk->board->literals[touch->literal];
    return touch->at_left ? l->pe_links : l->pe_inverse;
}

/* PE of every value is 1, whatever the links. */
static bool is_always_potential(const acq_board_literal *l)
{
    return l->literal.is_equality || l->literal.is_negated;
}

/* Labels of an earlier touch of the term with the same support; false: there is none. */
static bool copy_support(acq_walk *walk, uint32_t term, uint32_t k)
{
    const acq_board *board = walk->board;
    const acq_board_touch *touches = board->terms[term].touches;
    uint32_t j = 0;
    while (j < k &&
           (get_support(walk, &touches[j]) != get_support(walk, &touches[k]) ||
            board->literals[touches[j].literal].literal.is_negated || touches[j].other == term))
        j++;
    if (j == k)
        return false;
    column from = get_column(walk, term, j), to = get_column(walk, term, k);
    for (uint32_t c = term; c != ACQ_NO_ID; c = walk->next[c])
        to.cells[c * to.stride] = from.cells[c * from.stride];
    return true;
}

static acq_status split_by_support(acq_walk *walk, uint32_t term, uint32_t k)
{
    const acq_board_touch *touch = &walk->board->terms[term].touches[k];
    const acq_board_literal *l = &walk->board->literals[touch->literal];
    const acq_links *links = get_support(walk, touch);
    entity_set set, heads = {.values = links->heads, .n = links->n_heads};
    acq_status status = touch->other == term ? find_loops(walk, links, l->cut, &set)
                                             : filter(walk, heads, links->best, l->cut, &set);
    if (status != ACQ_OK)
        return status;
    return set_part(walk, term, k, set, PE, true);
}

static acq_status add_support(acq_walk *walk, uint32_t term, uint32_t k)
{
    const acq_board_touch *touch = &walk->board->terms[term].touches[k];
    if (is_always_potential(&walk->board->literals[touch->literal])) {
        set_column(walk, term, k, PE, true);
        return ACQ_OK;
    }
    if (touch->other != term && copy_support(walk, term, k))
        return ACQ_OK;
    return split_by_support(walk, term, k);
}

static void label_constant(acq_walk *walk, uint32_t term)
{
    const acq_board *board = walk->board;
    uint32_t n_edges = board->first_edges[term + 1] - board->first_edges[term];
    for (uint32_t j = 0; j < n_edges; j++)
        walk->labels[(size_t)term * board->most_edges + j] =
            (uint8_t)(2 * acq_board_is_potential(board, term, j, board->terms[term].value));
}

acq_status acq_walk_add_potential(acq_walk *walk)
{
    const acq_board *board = walk->board;
    if (board->pe == ACQ_PE_NONE)
        return ACQ_OK;
    for (uint32_t t = 0; t < board->n_free_terms; t++)
        for (uint32_t k = 0; k < board->terms[t].n_touches; k++)
            if (add_support(walk, t, k) != ACQ_OK)
                return ACQ_ERR_MEMORY;
    label_clauses(walk, board->n_free_terms, PE);
    for (uint32_t t = board->n_free_terms; t < board->n_terms; t++)
        label_constant(walk, t);
    return ACQ_OK;
}
