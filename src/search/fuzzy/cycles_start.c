/* cycles_start.c - what of a query needs no solving: constants, loops and clauses make the sets of
 * their variables, values that cannot have a degree are left out, the bound is taken. See fuzzy.h.
 */
#include "search/fuzzy/cycles.h"

#include "base/memory.h"

enum { ROUNDS = 3 }; /* of leaving values out */

static acq_status refuse(const char *what, acq_error *error)
{
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the engine fit cannot answer this query: %s; use --engine exact", what);
}

static acq_status check_literals(const acq_fuzzy_cycles *c, acq_error *error)
{
    if (c->problem->n_free != 1)
        return refuse("it has not one free variable", error);
    for (uint32_t i = 0; i < c->problem->n_literals; i++)
        if (c->problem->literals[i].is_equality)
            return refuse("it has an equality", error);
    return ACQ_OK;
}

/* Relations are opened whole; rows are then looked up. */
static acq_status open_relation(const acq_fuzzy_cycles *c, acq_rel relation, acq_error *error)
{
    const acq_links *links;
    acq_status status = acq_predictor_open_links(c->predictor, relation, &links, error);
    return status == ACQ_OK && acq_cycles_must_end(c) ? ACQ_CYCLES_SPENT : status;
}

/* The set that a clause about one variable allows. */
static acq_status make_branch(const acq_fuzzy_cycles *c, const acq_branch *branch,
                              uint32_t variable, acq_fuzzy_set *out, acq_error *error)
{
    if (branch->kind == ACQ_BRANCH_LITERAL) {
        const acq_literal *l = &branch->literal;
        acq_place other = acq_cycles_is_at(l->left, variable) ? l->right : l->left;
        if (l->is_equality)
            return refuse("it has an equality", error);
        if (other.is_variable ||
            !(acq_cycles_is_at(l->left, variable) || acq_cycles_is_at(l->right, variable)))
            return refuse("an \"or\" is over several variables", error);
        acq_status status = open_relation(c, l->relation, error);
        return status == ACQ_OK
                   ? acq_cycles_make_row(c, other.id,
                                         acq_inverse(acq_cycles_lead_from(l, variable)),
                                         l->is_negated, out)
                   : status;
    }
    bool is_and = branch->kind == ACQ_BRANCH_AND;
    acq_status status = acq_fuzzy_set_init(out, 0);
    out->rest = is_and ? 1 : 0;
    for (uint32_t i = 0; i < branch->n_children && status == ACQ_OK; i++) {
        acq_fuzzy_set child = {0}, joined = {0};
        status = make_branch(c, branch->children[i], variable, &child, error);
        if (status == ACQ_OK)
            status = acq_fuzzy_set_join(&c->params, is_and, out, &child, &joined);
        acq_fuzzy_set_deinit(&child);
        if (status == ACQ_OK) {
            acq_fuzzy_set_deinit(out);
            *out = joined;
        }
    }
    return status;
}

/* Of a clause: any variable in it. */
static uint32_t find_variable(const acq_branch *branch)
{
    uint32_t found = ACQ_NO_ID;
    if (branch->kind == ACQ_BRANCH_LITERAL)
        return branch->literal.left.is_variable ? branch->literal.left.id
                                                : branch->literal.right.id;
    for (uint32_t i = 0; i < branch->n_children && found == ACQ_NO_ID; i++)
        found = find_variable(branch->children[i]);
    return found;
}

static bool is_ground(const acq_branch *branch)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        return !branch->literal.left.is_variable && !branch->literal.right.is_variable;
    for (uint32_t i = 0; i < branch->n_children; i++)
        if (!is_ground(branch->children[i]))
            return false;
    return true;
}

static acq_status use_clauses(acq_fuzzy_cycles *c, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < c->problem->n_clauses && status == ACQ_OK; i++) {
        const acq_branch *clause = c->problem->clauses[i];
        acq_fuzzy_set set = {0};
        if (clause->n_children == 0) { /* false */
            c->start.factor = 0;
            continue;
        }
        if (is_ground(clause))
            return refuse("an \"or\" is over constants alone", error);
        uint32_t variable = find_variable(clause);
        status = make_branch(c, clause, variable, &set, error);
        c->occurs[variable] = true;
        if (status == ACQ_OK)
            status = acq_cycles_join(c, &c->start.sets[variable], &set);
        else
            acq_fuzzy_set_deinit(&set);
    }
    return status;
}

/* r(x, x): what a value says of itself. */
static acq_status use_loop(acq_fuzzy_cycles *c, const acq_literal *l)
{
    acq_fuzzy_set set = {0};
    for (acq_ent e = 0; e < c->n_entities; e++)
        acq_cycles_touch(c, e, acq_cycles_judge(c, l, e, e));
    acq_status status = acq_cycles_gather(c, &set);
    return status == ACQ_OK ? acq_cycles_join(c, &c->start.sets[l->left.id], &set) : status;
}

static acq_status use_literal(acq_fuzzy_cycles *c, const acq_literal *l, acq_error *error)
{
    acq_fuzzy_set row = {0};
    acq_status status = open_relation(c, l->relation, error);
    if (l->left.is_variable)
        c->occurs[l->left.id] = true;
    if (l->right.is_variable)
        c->occurs[l->right.id] = true;
    if (status != ACQ_OK ||
        (l->left.is_variable && l->right.is_variable && l->left.id != l->right.id))
        return status;
    if (l->left.is_variable && l->right.is_variable)
        return use_loop(c, l);
    if (!l->left.is_variable && !l->right.is_variable) {
        double degree = acq_cycles_judge(c, l, l->left.id, l->right.id);
        c->start.factor = acq_fuzzy_join(&c->params, true, c->start.factor, degree);
        return ACQ_OK;
    }
    acq_place variable = l->left.is_variable ? l->left : l->right;
    acq_ent constant = l->left.is_variable ? l->right.id : l->left.id;
    acq_rel relation = l->left.is_variable ? acq_inverse(l->relation) : l->relation;
    status = acq_cycles_make_row(c, constant, relation, l->is_negated, &row);
    return status == ACQ_OK ? acq_cycles_join(c, &c->start.sets[variable.id], &row) : status;
}

static acq_status use_literals(acq_fuzzy_cycles *c, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < c->problem->n_literals && status == ACQ_OK; i++)
        status = use_literal(c, &c->problem->literals[i], error);
    for (uint32_t v = 0; v < c->n_variables; v++)
        c->start.is_open[v] = c->occurs[v] || v == 0;
    return status;
}

/* Entities that the literal leads to from a set, or from anywhere, have the degree 1 in `out`. */
static acq_status find_reach(acq_fuzzy_cycles *c, const acq_literal *l, uint32_t from,
                             acq_fuzzy_set *out)
{
    const acq_fuzzy_set *set = &c->start.sets[from];
    const acq_links *back;
    acq_rel relation = acq_cycles_lead_from(l, from);
    for (uint32_t i = 0; set->rest == 0 && i < set->n; i++) {
        acq_row row = acq_predictor_get_row(c->predictor, set->entities[i], relation);
        for (size_t j = 0; set->degrees[i] > 0 && j < row.n; j++)
            acq_cycles_touch(c, row.tails[j], 1);
    }
    if (set->rest > 0 &&
        acq_predictor_open_links(c->predictor, acq_inverse(relation), &back, NULL) == ACQ_OK)
        for (uint32_t i = 0; i < back->n_heads; i++)
            acq_cycles_touch(c, back->heads[i], 1);
    return acq_cycles_gather(c, out);
}

/* Keeps the members that are reached, with their degrees. */
static acq_status keep_reached(acq_fuzzy_set *set, acq_fuzzy_set *reached)
{
    acq_fuzzy_set kept;
    uint32_t n = 0;
    acq_status status = acq_fuzzy_set_copy(reached, &kept);
    for (uint32_t i = 0; status == ACQ_OK && i < reached->n; i++) {
        kept.entities[n] = reached->entities[i];
        kept.degrees[n] = acq_fuzzy_set_get(set, reached->entities[i]);
        n += kept.degrees[n] > 0;
    }
    acq_fuzzy_set_deinit(reached);
    if (status != ACQ_OK)
        return status;
    kept.n = n;
    acq_fuzzy_set_deinit(set);
    *set = kept;
    return ACQ_OK;
}

/* Values without a link to any member of a neighbour's set are left out. */
static acq_status leave_out(acq_fuzzy_cycles *c)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < ROUNDS * c->problem->n_literals && status == ACQ_OK; i++) {
        const acq_literal *l = &c->problem->literals[i % c->problem->n_literals];
        if (l->is_negated || !l->left.is_variable || !l->right.is_variable ||
            l->left.id == l->right.id)
            continue;
        for (int side = 0; side < 2 && status == ACQ_OK; side++) {
            uint32_t from = side == 0 ? l->left.id : l->right.id;
            uint32_t to = side == 0 ? l->right.id : l->left.id;
            acq_fuzzy_set reached = {0};
            status = acq_cycles_must_end(c) ? ACQ_CYCLES_SPENT : find_reach(c, l, from, &reached);
            if (status == ACQ_OK)
                status = keep_reached(&c->start.sets[to], &reached);
        }
    }
    return status;
}

static acq_status allocate(acq_fuzzy_cycles *c)
{
    uint32_t n = c->n_variables;
    c->occurs = acq_zalloc(n, sizeof *c->occurs);
    c->sizes = acq_zalloc(n, sizeof *c->sizes);
    c->start.sets = acq_zalloc(n, sizeof *c->start.sets);
    c->start.is_open = acq_zalloc(n, sizeof *c->start.is_open);
    c->best = acq_zalloc(c->n_entities, sizeof *c->best);
    c->touched = acq_alloc(c->n_entities, sizeof *c->touched);
    if (c->occurs == NULL || c->sizes == NULL || c->start.sets == NULL ||
        c->start.is_open == NULL || c->best == NULL || c->touched == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t v = 0; v < n; v++) {
        if (acq_fuzzy_set_init(&c->start.sets[v], 0) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        c->start.sets[v].rest = 1;
    }
    return ACQ_OK;
}

acq_status acq_fuzzy_cycles_new(const acq_problem *problem, const acq_predictor *predictor,
                                const acq_fuzzy_params *params, acq_fuzzy_cycles **out,
                                bool *is_done, acq_error *error)
{
    acq_fuzzy_cycles *c = acq_zalloc(1, sizeof *c);
    acq_error why = {0};
    *is_done = false;
    if (c == NULL)
        return acq_fail_memory(error);
    *c = (acq_fuzzy_cycles){.problem = problem,
                            .predictor = predictor,
                            .params = *params,
                            .n_variables = problem->n_variables,
                            .n_entities = problem->n_entities,
                            .start = {.factor = 1}};
    acq_status status = allocate(c);
    if (status == ACQ_OK)
        status = check_literals(c, &why);
    if (status == ACQ_OK)
        status = use_clauses(c, &why);
    if (status == ACQ_OK)
        status = use_literals(c, &why);
    if (status == ACQ_OK)
        status = leave_out(c);
    if (status == ACQ_OK)
        status = acq_cycles_measure(c);
    if (status != ACQ_OK && status != ACQ_CYCLES_SPENT && status != ACQ_ERR_MEMORY && error != NULL)
        *error = why;
    status = acq_cycles_settle(status, is_done, error);
    if (status == ACQ_OK)
        *out = c;
    else
        acq_fuzzy_cycles_free(c);
    return status;
}
