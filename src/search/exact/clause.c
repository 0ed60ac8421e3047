/* clause.c - see clause.h. Cost of a revision: (values of open nodes) x (size of the clause). */
#include "search/exact/state.h"

#include <string.h>

/* What is known about a place: its value, if it has one. `trial` stands in for one open node. */
typedef struct trial {
    uint32_t node; /* ACQ_NO_ID: none */
    acq_ent value;
} trial;

static const trial NO_TRIAL = {.node = ACQ_NO_ID};

static acq_ent value_of(const state *s, acq_place place, trial t)
{
    if (!place.is_variable)
        return place.id;
    if (place.id == t.node)
        return t.value;
    return is_fixed(s, place.id) ? s->domains[place.id].values[0] : ACQ_NO_ID;
}

static bool row_holds(const state *s, const acq_links *links, acq_ent head)
{
    uint32_t row = acq_links_find(links, head);
    return row != ACQ_NO_ID && (links->best == NULL || acq_cutoff_holds(&s->cut, links->best[row]));
}

static bool ground_holds(const state *s, const model_literal *l, acq_ent left, acq_ent right)
{
    if (l->is_equality)
        return (left == right) != l->is_negated;
    float score = acq_links_get_score(l->forward, left, right);
    return l->is_negated ? acq_cutoff_holds_negated(&s->cut, score)
                         : acq_cutoff_holds(&s->cut, score);
}

static bool literal_possible(const state *s, const model_literal *l, trial t)
{
    acq_ent left = value_of(s, l->left, t), right = value_of(s, l->right, t);
    if (left != ACQ_NO_ID && right != ACQ_NO_ID)
        return ground_holds(s, l, left, right);
    if (l->is_negated || l->is_equality || (left == ACQ_NO_ID && right == ACQ_NO_ID))
        return true;
    return left != ACQ_NO_ID ? row_holds(s, l->forward, left) : row_holds(s, l->backward, right);
}

static bool possible(const state *s, const model_branch *b, trial t)
{
    if (b->kind == ACQ_BRANCH_LITERAL)
        return literal_possible(s, &b->literal, t);
    bool is_and = b->kind == ACQ_BRANCH_AND;
    for (uint32_t i = 0; i < b->n_children; i++)
        if (possible(s, b->children[i], t) != is_and)
            return !is_and;
    return is_and;
}

static bool certain(const state *s, const model_branch *b)
{
    if (b->kind == ACQ_BRANCH_LITERAL) {
        acq_ent left = value_of(s, b->literal.left, NO_TRIAL);
        acq_ent right = value_of(s, b->literal.right, NO_TRIAL);
        return left != ACQ_NO_ID && right != ACQ_NO_ID && ground_holds(s, &b->literal, left, right);
    }
    bool is_and = b->kind == ACQ_BRANCH_AND;
    for (uint32_t i = 0; i < b->n_children; i++)
        if (certain(s, b->children[i]) != is_and)
            return !is_and;
    return is_and;
}

bool acq_exact_clause_is_certain(const state *s, const model_clause *clause)
{
    return certain(s, clause->root);
}

/* A set of values that a branch allows a node; is_all: no restriction. */
typedef struct allowance {
    acq_ent *values;
    uint32_t n;
    bool is_all;
} allowance;

static const allowance ALLOW_ALL = {.is_all = true};
static const allowance ALLOW_NONE = {.is_all = false};

static allowance allow_row(state *s, acq_row row)
{
    acq_ent *list = acq_exact_new_list(s, (uint32_t)row.n);
    if (list == NULL)
        return ALLOW_NONE;
    return (allowance){.values = list, .n = acq_exact_copy_row(row, &s->cut, list)};
}

static allowance allow_heads(state *s, const acq_links *links)
{
    acq_ent *list = acq_exact_new_list(s, links->n_heads);
    uint32_t n = 0;
    for (uint32_t i = 0; list != NULL && i < links->n_heads; i++)
        if (links->best == NULL || acq_cutoff_holds(&s->cut, links->best[i]))
            list[n++] = links->heads[i];
    return (allowance){.values = list, .n = n};
}

static allowance allow_value(state *s, acq_ent value)
{
    acq_ent *list = acq_exact_new_list(s, 1);
    if (list == NULL)
        return ALLOW_NONE;
    list[0] = value;
    return (allowance){.values = list, .n = 1};
}

static allowance literal_allows(state *s, const model_literal *l, uint32_t node)
{
    bool at_left = l->left.is_variable && l->left.id == node;
    bool at_right = l->right.is_variable && l->right.id == node;
    if (!literal_possible(s, l, NO_TRIAL))
        return ALLOW_NONE;
    if (at_left == at_right || l->is_negated)
        return ALLOW_ALL;
    acq_ent other = value_of(s, at_left ? l->right : l->left, NO_TRIAL);
    if (l->is_equality)
        return other == ACQ_NO_ID ? ALLOW_ALL : allow_value(s, other);
    if (other == ACQ_NO_ID)
        return allow_heads(s, at_left ? l->forward : l->backward);
    return allow_row(s, acq_links_get_row(at_left ? l->backward : l->forward, other));
}

static allowance join(state *s, allowance a, allowance b, bool is_and)
{
    if (a.is_all || b.is_all)
        return is_and ? (a.is_all ? b : a) : ALLOW_ALL;
    if (is_and) {
        acq_row row = {.tails = b.values, .n = b.n};
        a.n = acq_exact_keep_row(a.values, a.n, row, &s->cut, a.values);
        return a;
    }
    acq_ent *list = acq_exact_new_list(s, a.n + b.n);
    if (list == NULL)
        return ALLOW_NONE;
    return (allowance){.values = list, .n = acq_exact_unite(a.values, a.n, b.values, b.n, list)};
}

static allowance branch_allows(state *s, const model_branch *b, uint32_t node)
{
    if (b->kind == ACQ_BRANCH_LITERAL)
        return literal_allows(s, &b->literal, node);
    bool is_and = b->kind == ACQ_BRANCH_AND;
    allowance sum = is_and ? ALLOW_ALL : ALLOW_NONE;
    for (uint32_t i = 0; i < b->n_children && (is_and || !sum.is_all); i++)
        sum = join(s, sum, branch_allows(s, b->children[i], node), is_and);
    return sum;
}

static bool filter_node(state *s, const model_clause *clause, uint32_t node)
{
    const domain old = s->domains[node];
    acq_ent *list = acq_exact_new_list(s, old.n);
    uint32_t n = 0;
    for (uint32_t i = 0; list != NULL && i < old.n; i++) {
        if (possible(s, clause->root, (trial){.node = node, .value = old.values[i]}))
            list[n++] = old.values[i];
        if (!acq_exact_go_on(s, clause->n_literals))
            return false;
    }
    if (list == NULL)
        return false;
    if (n == old.n) {
        acq_arena_trim(s->arena, list, 0);
        return true;
    }
    return acq_exact_set_domain(s, node, list, n);
}

/* The node leaves "all entities": what was skipped for it so far is applied now, its own unary
 * literals and clauses here and its fixed neighbours by queueing them again. */
static bool give_list(state *s, const model_clause *clause, uint32_t node)
{
    acq_arena_mark mark = acq_arena_get_mark(s->arena);
    allowance allowed = branch_allows(s, clause->root, node);
    if (allowed.is_all || s->status != ACQ_OK) {
        acq_arena_reset(s->arena, mark);
        return acq_exact_go_on(s, clause->n_literals);
    }
    acq_ent *list = acq_exact_new_list(s, allowed.n);
    uint32_t n = 0;
    for (uint32_t i = 0; list != NULL && i < allowed.n; i++)
        if (acq_exact_allows(s, node, allowed.values[i]))
            list[n++] = allowed.values[i];
    if (list == NULL || !acq_exact_set_domain(s, node, list, n))
        return false;
    const model_node *m = &s->m->nodes[node];
    for (uint32_t i = 0; i < m->n_edges; i++) {
        uint32_t other = m->edges[i]->x == node ? m->edges[i]->y : m->edges[i]->x;
        if (is_fixed(s, other))
            acq_exact_enqueue(s, other);
    }
    for (uint32_t i = 0; i < m->n_clauses; i++)
        if (!filter_node(s, &s->m->clauses[m->clauses[i]], node))
            return false;
    return true;
}

/* Adds one to the count of each open node of the branch, once: marks tell. */
static void count_nodes(state *s, const model_branch *b)
{
    if (b->kind != ACQ_BRANCH_LITERAL) {
        for (uint32_t i = 0; i < b->n_children; i++)
            count_nodes(s, b->children[i]);
        return;
    }
    const acq_place places[] = {b->literal.left, b->literal.right};
    for (int i = 0; i < 2; i++)
        if (places[i].is_variable && s->marks[places[i].id] != s->mark) {
            s->marks[places[i].id] = s->mark;
            s->counts[places[i].id]++;
        }
}

/* The disjuncts that are still possible, each with its nodes counted: only a node that all of
 * them mention can be restricted by the clause. */
static uint32_t count_possible(state *s, const model_clause *clause)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < clause->n_nodes; i++)
        s->counts[clause->nodes[i]] = 0;
    for (uint32_t i = 0; i < clause->root->n_children; i++)
        if (possible(s, clause->root->children[i], NO_TRIAL)) {
            acq_exact_renew_mark(s);
            count_nodes(s, clause->root->children[i]);
            n++;
        }
    return n;
}

bool acq_exact_revise_clause(state *s, const model_clause *clause)
{
    s->revisions++;
    uint32_t n_possible = count_possible(s, clause);
    if (n_possible == 0 || !acq_exact_go_on(s, clause->n_literals))
        return false;
    if (certain(s, clause->root))
        return true;
    for (uint32_t i = 0; i < clause->n_nodes; i++) {
        uint32_t node = clause->nodes[i];
        if (is_fixed(s, node) || s->counts[node] < n_possible)
            continue;
        bool ok =
            s->domains[node].is_all ? give_list(s, clause, node) : filter_node(s, clause, node);
        if (!ok)
            return false;
    }
    return acq_exact_go_on(s, 1);
}

bool acq_exact_start_clauses(state *s)
{
    for (uint32_t i = 0; i < s->m->n_ground; i++) {
        const model_literal *l = &s->m->ground[i];
        if (!ground_holds(s, l, l->left.id, l->right.id))
            return false;
    }
    for (uint32_t i = 0; i < s->m->n_clauses; i++)
        if (!acq_exact_revise_clause(s, &s->m->clauses[i]))
            return false;
    return true;
}
