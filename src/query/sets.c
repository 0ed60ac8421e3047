/* sets.c - see sets.h. From a problem: a walk from the free variable along the literals; the other
 * way round: a formula of the benchmark, printed and parsed. */
#include "query/sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "query/query.h"

acq_status acq_set_tree_new_empty(acq_set_tree **out, acq_error *error)
{
    acq_set_tree *tree = acq_zalloc(1, sizeof *tree);
    if (tree == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&tree->arena);
    *out = tree;
    return ACQ_OK;
}

void acq_set_tree_free(acq_set_tree *tree)
{
    if (tree == NULL)
        return;
    acq_arena_deinit(&tree->arena);
    acq_free(tree);
}

acq_set_node *acq_set_tree_add(acq_set_tree *tree, acq_set_kind kind, uint32_t id,
                               uint32_t n_children)
{
    acq_set_node *node = acq_arena_zalloc(&tree->arena, 1, sizeof *node);
    acq_set_node **children = acq_arena_zalloc(&tree->arena, n_children, sizeof *children);
    if (node == NULL || children == NULL)
        return NULL;
    *node = (acq_set_node){.kind = kind,
                           .id = id,
                           .variable = ACQ_NO_ID,
                           .children = children,
                           .n_children = n_children};
    return node;
}

static void number_nodes(acq_set_tree *tree, acq_set_node *node)
{
    for (uint32_t i = 0; i < node->n_children; i++)
        number_nodes(tree, node->children[i]);
    node->number = tree->n_nodes++;
}

void acq_set_tree_finish(acq_set_tree *tree, acq_set_node *root)
{
    tree->root = root;
    tree->n_nodes = 0;
    number_nodes(tree, root);
}

/* ---- from a problem ---- */

enum { MOST_DEPTH = 500 }; /* of variables below each other: the walk is on the stack */

typedef struct walk {
    const acq_problem *problem;
    const char *engine;
    acq_set_tree *tree;
    bool *is_seen; /* by variable */
    bool *is_used; /* by literal */
    uint32_t n_used, depth;
    acq_error *error;
} walk;

static acq_status refuse(const walk *w, const char *what)
{
    return acq_fail(w->error, ACQ_ERR_INPUT,
                    "the engine %s cannot answer this query: %s; use --engine exact", w->engine,
                    what);
}

/* The relation that leads from the other end of a literal to the variable. */
static acq_rel lead(const acq_literal *literal, bool is_left)
{
    return is_left ? acq_inverse(literal->relation) : literal->relation;
}

static bool is_at(acq_place place, uint32_t variable)
{
    return place.is_variable && place.id == variable;
}

static acq_status add_variable(walk *w, uint32_t variable, acq_set_node **out);

/* PROJECT, or NOT of it, of what stands at the other end. */
static acq_status add_literal(walk *w, const acq_literal *literal, uint32_t variable,
                              acq_set_node **out)
{
    bool is_left = is_at(literal->left, variable);
    acq_place other = is_left ? literal->right : literal->left;
    acq_set_node *project =
        acq_set_tree_add(w->tree, ACQ_SET_PROJECT, lead(literal, is_left), 1);
    acq_set_node *negation =
        literal->is_negated ? acq_set_tree_add(w->tree, ACQ_SET_NOT, 0, 1) : project;
    if (project == NULL || negation == NULL)
        return acq_fail_memory(w->error);
    if (literal->is_equality)
        return refuse(w, "it has an equality");
    project->variable = negation->variable = variable;
    *out = negation;
    if (literal->is_negated)
        negation->children[0] = project;
    if (other.is_variable)
        return add_variable(w, other.id, &project->children[0]);
    project->children[0] = acq_set_tree_add(w->tree, ACQ_SET_ENTITY, other.id, 0);
    return project->children[0] == NULL ? acq_fail_memory(w->error) : ACQ_OK;
}

/* A clause about one variable and constants. */
static acq_status add_branch(walk *w, const acq_branch *branch, uint32_t variable,
                             acq_set_node **out)
{
    if (branch->kind == ACQ_BRANCH_LITERAL) {
        bool is_left = is_at(branch->literal.left, variable);
        acq_place other = is_left ? branch->literal.right : branch->literal.left;
        if (other.is_variable || (!is_left && !is_at(branch->literal.right, variable)))
            return refuse(w, "an \"or\" is over several variables");
        return add_literal(w, &branch->literal, variable, out);
    }
    bool is_and = branch->kind == ACQ_BRANCH_AND;
    acq_set_node *node =
        acq_set_tree_add(w->tree, is_and ? ACQ_SET_AND : ACQ_SET_OR, 0, branch->n_children);
    if (node == NULL)
        return acq_fail_memory(w->error);
    acq_status status = ACQ_OK;
    node->variable = variable;
    for (uint32_t i = 0; i < branch->n_children && status == ACQ_OK; i++)
        status = add_branch(w, branch->children[i], variable, &node->children[i]);
    *out = node;
    return status;
}

static bool mentions(const acq_branch *branch, uint32_t variable)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        return is_at(branch->literal.left, variable) || is_at(branch->literal.right, variable);
    for (uint32_t i = 0; i < branch->n_children; i++)
        if (mentions(branch->children[i], variable))
            return true;
    return false;
}

static uint32_t count_parts(const walk *w, uint32_t variable)
{
    const acq_problem *p = w->problem;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_literals; i++)
        n += !w->is_used[i] && (is_at(p->literals[i].left, variable) ||
                                is_at(p->literals[i].right, variable));
    for (uint32_t i = 0; i < p->n_clauses; i++)
        n += mentions(p->clauses[i], variable);
    return n;
}

/* A literal leads on, unless its other end was met before: then there is a cycle. */
static acq_status take_literal(walk *w, uint32_t i, uint32_t variable, acq_set_node **out)
{
    const acq_literal *literal = &w->problem->literals[i];
    acq_place other = is_at(literal->left, variable) ? literal->right : literal->left;
    w->is_used[i] = true;
    w->n_used++;
    if (other.is_variable && w->is_seen[other.id])
        return refuse(w, "its atoms form a cycle");
    return add_literal(w, literal, variable, out);
}

static acq_status fill_parts(walk *w, uint32_t variable, acq_set_node *node)
{
    const acq_problem *p = w->problem;
    acq_status status = ACQ_OK;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_literals && status == ACQ_OK; i++)
        if (!w->is_used[i] && (is_at(p->literals[i].left, variable) ||
                               is_at(p->literals[i].right, variable)))
            status = take_literal(w, i, variable, &node->children[n++]);
    for (uint32_t i = 0; i < p->n_clauses && status == ACQ_OK; i++)
        if (mentions(p->clauses[i], variable))
            status = add_branch(w, p->clauses[i], variable, &node->children[n++]);
    return status;
}

static acq_status add_variable(walk *w, uint32_t variable, acq_set_node **out)
{
    uint32_t n = count_parts(w, variable);
    if (w->depth == MOST_DEPTH)
        return refuse(w, "it has a path of more than 500 atoms");
    w->depth++;
    w->is_seen[variable] = true;
    acq_set_node *node =
        acq_set_tree_add(w->tree, n == 0 ? ACQ_SET_ALL : ACQ_SET_AND, 0, n);
    if (node == NULL)
        return acq_fail_memory(w->error);
    node->variable = variable;
    acq_status status = fill_parts(w, variable, node);
    w->depth--;
    *out = n == 1 ? node->children[0] : node;
    return status;
}

static acq_status walk_problem(walk *w)
{
    const acq_problem *p = w->problem;
    acq_set_node *root = NULL;
    if (p->n_free != 1)
        return refuse(w, "it has not one free variable");
    acq_status status = add_variable(w, 0, &root);
    if (status != ACQ_OK)
        return status;
    for (uint32_t v = 0; v < p->n_variables; v++)
        if (!w->is_seen[v] && count_parts(w, v) > 0)
            return refuse(w, "its parts do not hang together");
    if (w->n_used < p->n_literals)
        return refuse(w, "it has an atom between two constants");
    acq_set_tree_finish(w->tree, root);
    return ACQ_OK;
}

acq_status acq_set_tree_new(const acq_problem *problem, const char *engine, acq_set_tree **out,
                            acq_error *error)
{
    walk w = {.problem = problem, .engine = engine, .error = error};
    acq_status status = acq_set_tree_new_empty(&w.tree, error);
    if (status != ACQ_OK)
        return status;
    w.is_seen = acq_zalloc(problem->n_variables, sizeof *w.is_seen);
    w.is_used = acq_zalloc(problem->n_literals, sizeof *w.is_used);
    status =
        w.is_seen == NULL || w.is_used == NULL ? acq_fail_memory(error) : walk_problem(&w);
    acq_free(w.is_seen);
    acq_free(w.is_used);
    if (status == ACQ_OK)
        *out = w.tree;
    else
        acq_set_tree_free(w.tree);
    return status;
}

/* ---- to a query ---- */

/* The formula, and the id of each name: relation r<i> has relations[i - 1]. */
typedef struct printer {
    acq_text text;
    uint32_t *relations, *constants;
    uint32_t n_relations, n_constants, n_variables;
    acq_error *error;
} printer;

static void put_variable(printer *p, uint32_t variable)
{
    if (variable == 0)
        acq_text_add(&p->text, "f1");
    else
        acq_text_format(&p->text, "e%u", variable);
}

static acq_status put_set(printer *p, const acq_set_node *node, uint32_t variable, bool in_not);

/* r(constant, variable), or r(new, variable) and what the new one is in. */
static acq_status put_project(printer *p, const acq_set_node *node, uint32_t variable, bool in_not)
{
    const acq_set_node *from = node->children[0];
    bool is_constant = from->kind == ACQ_SET_ENTITY;
    p->relations[p->n_relations++] = node->id;
    if (in_not && !is_constant)
        return acq_fail(p->error, ACQ_ERR_INPUT,
                        "a negated path of several steps is no existential query");
    uint32_t inner = is_constant ? 0 : ++p->n_variables;
    acq_text_format(&p->text, "(r%u(", p->n_relations);
    if (is_constant) {
        p->constants[p->n_constants++] = from->id;
        acq_text_format(&p->text, "s%u", p->n_constants);
    } else {
        put_variable(p, inner);
    }
    acq_text_add(&p->text, ",");
    put_variable(p, variable);
    acq_text_add(&p->text, "))");
    if (is_constant || from->kind == ACQ_SET_ALL)
        return ACQ_OK;
    acq_text_add(&p->text, "&");
    return put_set(p, from, inner, in_not);
}

static acq_status put_set(printer *p, const acq_set_node *node, uint32_t variable, bool in_not)
{
    acq_status status = ACQ_OK;
    if (node->kind == ACQ_SET_ENTITY || node->kind == ACQ_SET_ALL)
        return acq_fail(p->error, ACQ_ERR_INPUT, "a set without an atom is no query");
    acq_text_add(&p->text, node->kind == ACQ_SET_NOT ? "(!" : "(");
    if (node->kind == ACQ_SET_PROJECT)
        status = put_project(p, node, variable, in_not);
    for (uint32_t i = 0; i < node->n_children && node->kind != ACQ_SET_PROJECT && status == ACQ_OK;
         i++) {
        acq_text_add(&p->text, i == 0 ? "" : node->kind == ACQ_SET_AND ? "&" : "|");
        status = put_set(p, node->children[i], variable, in_not || node->kind == ACQ_SET_NOT);
    }
    acq_text_add(&p->text, ")");
    return status;
}

static void ground(const printer *p, acq_query *query)
{
    for (uint32_t i = 0; i < query->n_relations; i++) {
        query->relations[i].is_id = true;
        query->relations[i].id =
            p->relations[strtoul(query->relations[i].text + 1, NULL, 10) - 1];
    }
    for (uint32_t i = 0; i < query->n_constants; i++) {
        query->constants[i].is_id = true;
        query->constants[i].id =
            p->constants[strtoul(query->constants[i].text + 1, NULL, 10) - 1];
    }
}

acq_status acq_set_tree_make_query(const acq_set_tree *tree, acq_query **out, acq_error *error)
{
    printer p = {.error = error};
    acq_query *query = NULL;
    acq_text_init(&p.text);
    p.relations = acq_alloc(tree->n_nodes, sizeof *p.relations);
    p.constants = acq_alloc(tree->n_nodes, sizeof *p.constants);
    acq_status status =
        p.relations == NULL || p.constants == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = put_set(&p, tree->root, 0, false);
    if (status == ACQ_OK)
        status = acq_text_finish(&p.text, error);
    if (status == ACQ_OK)
        status = acq_query_parse_benchmark(p.text.bytes, p.text.length, &query, error);
    if (status == ACQ_OK) {
        ground(&p, query);
        *out = query;
    }
    acq_free(p.relations);
    acq_free(p.constants);
    acq_text_deinit(&p.text);
    return status;
}
