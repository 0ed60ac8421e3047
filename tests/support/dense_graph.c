/* dense_graph.c - see dense_graph.h. */
#include "support/dense_graph.h"

#include <stdlib.h>

static void *take(size_t n, size_t size)
{
    void *block = calloc(n == 0 ? 1 : n, size);
    if (block == NULL)
        abort();
    return block;
}

static double score_literal(const acq_scoring *scoring, const acq_literal *literal, double link)
{
    if (scoring->binarize > 0)
        link = link >= scoring->binarize ? 1 : 0;
    if (!literal->is_negated)
        return link;
    if (scoring->negation_threshold >= 0)
        return link < scoring->negation_threshold ? 1 : 0;
    volatile float complement = (float)(1 - link);
    return complement;
}

/* Does an atom hold whose link has this score? */
static bool lets_hold(const dense_graph *g, const acq_literal *literal, double link)
{
    return score_literal(&g->scoring, literal, link) >= g->scoring.threshold;
}

static acq_ent value_at(const dense_graph *g, acq_place place)
{
    return place.is_variable ? g->values[g->variable_terms[place.id]] : place.id;
}

static bool literal_holds(const dense_graph *g, const acq_literal *literal)
{
    acq_ent left = value_at(g, literal->left), right = value_at(g, literal->right);
    if (literal->is_equality)
        return (left == right) != literal->is_negated;
    return lets_hold(g, literal, acq_links_get_score(g->links[literal->relation], left, right));
}

static bool tree_holds(const dense_graph *g, const acq_branch *tree)
{
    if (tree->kind == ACQ_BRANCH_LITERAL)
        return literal_holds(g, &tree->literal);
    bool is_or = tree->kind == ACQ_BRANCH_OR;
    for (uint32_t i = 0; i < tree->n_children; i++)
        if (tree_holds(g, tree->children[i]) == is_or)
            return is_or;
    return !is_or;
}

static bool row_lets_hold(const dense_graph *g, const acq_literal *literal, acq_row row)
{
    for (size_t i = 0; i < row.n; i++)
        if (lets_hold(g, literal, row.scores == NULL ? 1 : row.scores[i]))
            return true;
    return false;
}

static bool some_link_lets_hold(const dense_graph *g, const acq_literal *literal)
{
    const acq_links *links = g->pe_links[literal->relation];
    for (uint32_t i = 0; i < links->n_heads; i++)
        if (row_lets_hold(g, literal, acq_links_get_row_at(links, i)))
            return true;
    return false;
}

static bool is_term(const dense_term *term, acq_place place)
{
    return place.is_variable == term->is_variable && place.id == term->id;
}

static bool literal_is_potential(const dense_graph *g, const acq_literal *literal,
                                 const dense_term *term, acq_ent a)
{
    if (literal->is_negated || literal->is_equality)
        return true;
    bool is_left = is_term(term, literal->left), is_right = is_term(term, literal->right);
    const acq_links *links = g->pe_links[literal->relation];
    if (is_left && is_right)
        return lets_hold(g, literal, acq_links_get_score(links, a, a));
    if (is_left)
        return row_lets_hold(g, literal, acq_links_get_row(links, a));
    if (is_right)
        return row_lets_hold(g, literal,
                             acq_links_get_row(g->pe_links[acq_inverse(literal->relation)], a));
    return some_link_lets_hold(g, literal);
}

static bool tree_is_potential(const dense_graph *g, const acq_branch *tree, const dense_term *term,
                              acq_ent a)
{
    if (tree->kind == ACQ_BRANCH_LITERAL)
        return literal_is_potential(g, &tree->literal, term, a);
    bool is_or = tree->kind == ACQ_BRANCH_OR;
    for (uint32_t i = 0; i < tree->n_children; i++)
        if (tree_is_potential(g, tree->children[i], term, a) == is_or)
            return is_or;
    return !is_or;
}

static bool mentions(const acq_branch *tree, const dense_term *term)
{
    if (tree->kind == ACQ_BRANCH_LITERAL)
        return is_term(term, tree->literal.left) || is_term(term, tree->literal.right);
    for (uint32_t i = 0; i < tree->n_children; i++)
        if (mentions(tree->children[i], term))
            return true;
    return false;
}

static void make_nodes(dense_graph *g)
{
    const acq_problem *problem = g->problem;
    g->literals = take(problem->n_literals, sizeof *g->literals);
    g->nodes = take(problem->n_literals + problem->n_clauses, sizeof *g->nodes);
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        g->literals[i] = (acq_branch){.kind = ACQ_BRANCH_LITERAL, .literal = problem->literals[i]};
        g->nodes[g->n_nodes++] = &g->literals[i];
    }
    for (uint32_t i = 0; i < problem->n_clauses; i++)
        if (problem->clauses[i]->n_children > 0)
            g->nodes[g->n_nodes++] = problem->clauses[i];
}

/* A term is listed when some node mentions it; entities that do not occur are no terms. */
static void add_term(dense_graph *g, bool is_variable, uint32_t id)
{
    dense_term term = {.is_variable = is_variable, .id = id, .first_value = g->n_values};
    term.edges = take(g->n_nodes, sizeof *term.edges);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (mentions(g->nodes[i], &term))
            term.edges[term.n_edges++] = i;
    if (term.n_edges == 0) {
        free(term.edges);
        return;
    }
    term.n_values = is_variable ? g->problem->n_entities : 1;
    if (is_variable)
        g->variable_terms[id] = g->n_terms;
    g->values[g->n_terms] = is_variable ? 0 : id;
    g->terms[g->n_terms++] = term;
    g->n_values += term.n_values;
}

static bool has_constant(const dense_graph *g, uint32_t id)
{
    for (uint32_t i = 0; i < g->n_terms; i++)
        if (!g->terms[i].is_variable && g->terms[i].id == id)
            return true;
    return false;
}

static void add_constants(dense_graph *g, const acq_branch *tree)
{
    for (uint32_t i = 0; i < tree->n_children; i++)
        add_constants(g, tree->children[i]);
    if (tree->kind != ACQ_BRANCH_LITERAL)
        return;
    const acq_place places[] = {tree->literal.left, tree->literal.right};
    for (int i = 0; i < 2; i++)
        if (!places[i].is_variable && !has_constant(g, places[i].id))
            add_term(g, false, places[i].id);
}

static size_t count_leaves(const acq_branch *tree)
{
    size_t n = tree->kind == ACQ_BRANCH_LITERAL;
    for (uint32_t i = 0; i < tree->n_children; i++)
        n += count_leaves(tree->children[i]);
    return n;
}

static void make_terms(dense_graph *g)
{
    size_t most = g->problem->n_variables;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        most += 2 * count_leaves(g->nodes[i]);
    g->terms = take(most, sizeof *g->terms);
    g->values = take(most, sizeof *g->values);
    g->variable_terms = take(g->problem->n_variables, sizeof *g->variable_terms);
    for (uint32_t i = 0; i < g->problem->n_variables; i++) {
        g->variable_terms[i] = ACQ_NO_ID;
        add_term(g, true, i);
    }
    for (uint32_t i = 0; i < g->n_nodes; i++)
        add_constants(g, g->nodes[i]);
    g->firsts = take(g->n_terms + 1, sizeof *g->firsts);
    for (uint32_t i = 0; i < g->n_terms; i++)
        g->firsts[i] = g->terms[i].first_value;
    g->firsts[g->n_terms] = g->n_values;
}

static uint32_t last_relation(const acq_branch *tree)
{
    uint32_t last = 0;
    if (tree->kind == ACQ_BRANCH_LITERAL)
        return tree->literal.is_equality ? 0 : tree->literal.relation | 1U;
    for (uint32_t i = 0; i < tree->n_children; i++) {
        uint32_t of_child = last_relation(tree->children[i]);
        last = of_child > last ? of_child : last;
    }
    return last;
}

static void open_relation(dense_graph *g, const acq_predictor *predictor, acq_rel relation)
{
    acq_status status = acq_predictor_open_links(predictor, relation, &g->links[relation], NULL);
    g->pe_links[relation] = g->links[relation];
    if (status == ACQ_OK && g->pe == DENSE_PE_OBSERVED)
        status = acq_graph_open_links(predictor->graph, relation, &g->pe_links[relation], NULL);
    if (status != ACQ_OK)
        abort();
}

static void open_relations(dense_graph *g, const acq_predictor *predictor, const acq_branch *tree)
{
    for (uint32_t i = 0; i < tree->n_children; i++)
        open_relations(g, predictor, tree->children[i]);
    if (tree->kind != ACQ_BRANCH_LITERAL || tree->literal.is_equality)
        return;
    open_relation(g, predictor, tree->literal.relation);
    open_relation(g, predictor, acq_inverse(tree->literal.relation));
}

static void make_links(dense_graph *g, const acq_predictor *predictor)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        uint32_t of_node = last_relation(g->nodes[i]);
        last = of_node > last ? of_node : last;
    }
    g->links = take(last + 1, sizeof *g->links);
    g->pe_links = take(last + 1, sizeof *g->pe_links);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        open_relations(g, predictor, g->nodes[i]);
}

static void make_labels(dense_graph *g, dense_term *term)
{
    size_t n = (size_t)term->n_edges * term->n_values;
    term->potentials = take(n, 1);
    term->labels = take(n, 1);
    for (uint32_t e = 0; e < term->n_edges && g->pe != DENSE_PE_NONE; e++)
        for (uint32_t a = 0; a < term->n_values; a++)
            term->potentials[(size_t)e * term->n_values + a] = tree_is_potential(
                g, g->nodes[term->edges[e]], term, term->is_variable ? a : term->id);
}

dense_graph *dense_graph_new(const acq_problem *problem, const acq_predictor *predictor,
                             const acq_scoring *scoring, dense_pe pe)
{
    dense_graph *g = take(1, sizeof *g);
    g->problem = problem;
    g->scoring = *scoring;
    g->pe = pe;
    make_nodes(g);
    make_terms(g);
    make_links(g, predictor);
    for (uint32_t i = 0; i < g->n_terms; i++)
        make_labels(g, &g->terms[i]);
    return g;
}

void dense_graph_free(dense_graph *g)
{
    for (uint32_t i = 0; i < g->n_terms; i++) {
        free(g->terms[i].edges);
        free(g->terms[i].potentials);
        free(g->terms[i].labels);
    }
    free(g->terms);
    free(g->values);
    free(g->variable_terms);
    free(g->nodes);
    free(g->literals);
    free(g->firsts);
    free(g->links);
    free(g->pe_links);
    free(g);
}

/* Labels of one term: its value is changed, all others stay. */
static void update_labels(dense_graph *g, uint32_t i)
{
    dense_term *term = &g->terms[i];
    acq_ent current = g->values[i];
    for (uint32_t e = 0; e < term->n_edges; e++)
        for (uint32_t a = 0; a < term->n_values; a++) {
            size_t at = (size_t)e * term->n_values + a;
            g->values[i] = term->is_variable ? a : term->id;
            term->labels[at] =
                (uint8_t)(2 * term->potentials[at] + tree_holds(g, g->nodes[term->edges[e]]));
        }
    g->values[i] = current;
}

void dense_graph_assign(dense_graph *g, const acq_ent *values)
{
    for (uint32_t i = 0; i < g->n_terms; i++)
        if (g->terms[i].is_variable)
            g->values[i] = values[g->terms[i].id];
    for (uint32_t i = 0; i < g->n_terms; i++)
        update_labels(g, i);
}

size_t dense_graph_get_value(const dense_graph *g, uint32_t term, acq_ent entity)
{
    return g->terms[term].first_value + (g->terms[term].is_variable ? entity : 0);
}

size_t dense_graph_get_chosen(const dense_graph *g, uint32_t term)
{
    return dense_graph_get_value(g, term, g->values[term]);
}
