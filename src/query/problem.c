/* problem.c - from a query's tree to the normal form of problem.h.
 *
 * One pass pushes negations to the literals (De Morgan), replaces fixed variables by their
 * values, decides ground equalities and flattens nested ANDs and ORs. The result is never larger
 * than the query: disjunctions stay trees. Recursion is bounded by ACQ_MOST_NESTING. */
#include "query/problem.h"

#include "base/memory.h"

typedef struct builder {
    const acq_query *query;
    const acq_ent *fixed; /* values of the free variables, or NULL */
    acq_arena *arena;
} builder;

static acq_place resolve(const builder *b, acq_term term)
{
    if (!term.is_variable)
        return (acq_place){.is_variable = false, .id = b->query->constants[term.id].id};
    if (b->fixed != NULL && term.id < b->query->n_free)
        return (acq_place){.is_variable = false, .id = b->fixed[term.id]};
    return (acq_place){.is_variable = true, .id = term.id};
}

static acq_branch *new_branch(const builder *b, acq_branch_kind kind, uint32_t room)
{
    acq_branch *branch = acq_arena_zalloc(b->arena, 1, sizeof *branch);
    if (branch == NULL)
        return NULL;
    branch->kind = kind;
    if (kind != ACQ_BRANCH_LITERAL) {
        branch->children = acq_arena_alloc(b->arena, room, sizeof *branch->children);
        if (branch->children == NULL)
            return NULL;
    }
    return branch;
}

/* An AND or OR without children: true or false. */
static acq_branch *truth(const builder *b, bool value)
{
    return new_branch(b, value ? ACQ_BRANCH_AND : ACQ_BRANCH_OR, 0);
}

static acq_branch *convert_literal(const builder *b, const acq_node *node, bool negated)
{
    acq_literal literal = {.is_equality = node->kind == ACQ_NODE_EQUAL,
                           .is_negated = negated,
                           .left = resolve(b, node->left),
                           .right = resolve(b, node->right)};
    if (literal.is_equality) {
        bool same_kind = literal.left.is_variable == literal.right.is_variable;
        bool same = same_kind && literal.left.id == literal.right.id;
        if (same || !(literal.left.is_variable || literal.right.is_variable))
            return truth(b, same != negated);
    } else {
        literal.relation = b->query->relations[node->relation].id;
    }
    acq_branch *branch = new_branch(b, ACQ_BRANCH_LITERAL, 0);
    if (branch != NULL)
        branch->literal = literal;
    return branch;
}

static acq_branch *convert(const builder *b, const acq_node *node, bool negated);

static bool is_truth(const acq_branch *branch, acq_branch_kind kind)
{
    return branch->kind == kind && branch->n_children == 0;
}

/* The children of `node` as one AND or OR; a neutral child vanishes, an absorbing one decides. */
static acq_branch *convert_list(const builder *b, const acq_node *node, bool negated)
{
    acq_branch_kind kind = (node->kind == ACQ_NODE_AND) != negated ? ACQ_BRANCH_AND : ACQ_BRANCH_OR;
    acq_branch_kind other = kind == ACQ_BRANCH_AND ? ACQ_BRANCH_OR : ACQ_BRANCH_AND;
    acq_branch **parts = acq_arena_alloc(b->arena, node->n_children, sizeof *parts);
    size_t n_flat = 0;
    if (parts == NULL)
        return NULL;
    for (uint32_t i = 0; i < node->n_children; i++) {
        parts[i] = convert(b, node->children[i], negated);
        if (parts[i] == NULL)
            return NULL;
        if (is_truth(parts[i], other))
            return parts[i];
        n_flat += parts[i]->kind == kind ? parts[i]->n_children : 1;
    }
    if (n_flat == 1 && node->n_children == 1)
        return parts[0];
    acq_branch *list = new_branch(b, kind, (uint32_t)n_flat);
    if (list == NULL)
        return NULL;
    for (uint32_t i = 0; i < node->n_children; i++) {
        if (parts[i]->kind != kind) {
            list->children[list->n_children++] = parts[i];
            continue;
        }
        for (uint32_t j = 0; j < parts[i]->n_children; j++)
            list->children[list->n_children++] = parts[i]->children[j];
    }
    return list->n_children == 1 ? list->children[0] : list;
}

static acq_branch *convert(const builder *b, const acq_node *node, bool negated)
{
    switch (node->kind) {
    case ACQ_NODE_ATOM:
    case ACQ_NODE_EQUAL:
        return convert_literal(b, node, negated);
    case ACQ_NODE_NOT:
        return convert(b, node->children[0], !negated);
    case ACQ_NODE_AND:
    case ACQ_NODE_OR:
        break;
    }
    return convert_list(b, node, negated);
}

/* Splits the top-level conjunction into literals and clauses. */
static acq_status collect(acq_problem *problem, acq_branch *root)
{
    acq_branch **parts = root->kind == ACQ_BRANCH_AND ? root->children : &root;
    uint32_t n = root->kind == ACQ_BRANCH_AND ? root->n_children : 1;
    problem->literals = acq_arena_alloc(&problem->arena, n, sizeof *problem->literals);
    problem->clauses = acq_arena_alloc(&problem->arena, n, sizeof *problem->clauses);
    if (problem->literals == NULL || problem->clauses == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i]->kind == ACQ_BRANCH_LITERAL)
            problem->literals[problem->n_literals++] = parts[i]->literal;
        else
            problem->clauses[problem->n_clauses++] = parts[i];
    }
    return ACQ_OK;
}

static acq_status build(acq_problem *problem, const acq_query *query, const acq_ent *values)
{
    builder b = {.query = query, .fixed = values, .arena = &problem->arena};
    acq_branch *root = convert(&b, query->root, false);
    return root == NULL ? ACQ_ERR_MEMORY : collect(problem, root);
}

acq_status acq_problem_new_fixed(const acq_query *query, uint32_t n_entities, const acq_ent *values,
                                 acq_problem **out, acq_error *error)
{
    acq_problem *problem = acq_zalloc(1, sizeof *problem);
    if (problem == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&problem->arena);
    problem->n_variables = query->n_variables;
    problem->n_free = values == NULL ? query->n_free : 0;
    problem->n_fixed = values == NULL ? 0 : query->n_free;
    problem->n_entities = n_entities;
    if (build(problem, query, values) != ACQ_OK) {
        acq_problem_free(problem);
        return acq_fail_memory(error);
    }
    *out = problem;
    return ACQ_OK;
}

acq_status acq_problem_new(const acq_query *query, uint32_t n_entities, acq_problem **out,
                           acq_error *error)
{
    return acq_problem_new_fixed(query, n_entities, NULL, out, error);
}

acq_status acq_problem_new_literals(uint32_t n_variables, uint32_t n_entities,
                                    const acq_literal *literals, uint32_t n_literals,
                                    acq_problem **out, acq_error *error)
{
    acq_problem *problem = acq_zalloc(1, sizeof *problem);
    if (problem == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&problem->arena);
    problem->n_variables = n_variables;
    problem->n_entities = n_entities;
    problem->literals = acq_arena_alloc(&problem->arena, n_literals, sizeof *literals);
    if (problem->literals == NULL) {
        acq_problem_free(problem);
        return acq_fail_memory(error);
    }
    for (uint32_t i = 0; i < n_literals; i++)
        problem->literals[i] = literals[i];
    problem->n_literals = n_literals;
    *out = problem;
    return ACQ_OK;
}

void acq_problem_free(acq_problem *problem)
{
    if (problem == NULL)
        return;
    acq_arena_deinit(&problem->arena);
    acq_free(problem);
}
