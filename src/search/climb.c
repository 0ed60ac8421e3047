/* climb.c - two searches that guess: uniform random assignments, the simplest search there is and
 * the floor that every other one must clear (the paper names it as a baseline to come); and hill
 * climbing over satisfied constraints, with noise and restarts (min-conflicts).
 *
 * Climbing: a constraint is a literal or a clause of the problem; it is satisfied when its score
 * reaches the threshold. Each step takes a random unsatisfied constraint, one of its variables, and
 * gives that variable the candidate value that satisfies most of the variable's constraints.
 * Candidates come from the rows of the variable's atoms under the current values of their other
 * ends, so they are likely to fit, plus one uniform entity, so every value can be reached. After
 * STALL steps without progress the search starts again from a random assignment. */
#include <string.h>

#include "search/literal.h"
#include "search/search.h"

enum { MOST_CANDIDATES = 48, ROW_SAMPLES = 8, STALL_BASE = 50, NOISE_PERCENT = 4 };

typedef struct constraint {
    acq_branch branch; /* a literal, or a copy of the clause's root */
    uint32_t *variables;
    uint32_t n_variables;
} constraint;

typedef struct climber {
    acq_guess guess;
    constraint *constraints;
    uint32_t n_constraints;
    uint32_t **of_variable; /* constraint numbers */
    uint32_t *n_of_variable;
    uint32_t *open; /* scratch: unsatisfied constraints */
    uint32_t n_open;
    uint32_t *stamps; /* scratch: the last constraint that a variable was seen in */
    uint32_t stalled, fewest_open;
} climber;

static bool is_satisfied(const climber *c, uint32_t i)
{
    const acq_guess *g = &c->guess;
    const acq_scoring *scoring = &g->params->scoring;
    return acq_search_score_branch(&c->constraints[i].branch, g->predictor, scoring, g->values) >=
           scoring->threshold;
}

/* Lists the variables of a branch, each once: stamps tell. */
static void visit_variables(climber *c, const acq_branch *branch, uint32_t *list, uint32_t *n)
{
    if (branch->kind != ACQ_BRANCH_LITERAL) {
        for (uint32_t i = 0; i < branch->n_children; i++)
            visit_variables(c, branch->children[i], list, n);
        return;
    }
    const acq_place places[] = {branch->literal.left, branch->literal.right};
    for (int i = 0; i < 2; i++)
        if (places[i].is_variable && c->stamps[places[i].id] != c->n_constraints) {
            c->stamps[places[i].id] = c->n_constraints;
            list[(*n)++] = places[i].id;
        }
}

static acq_status add_constraint(climber *c, const acq_branch *branch, uint32_t *room)
{
    constraint *added = &c->constraints[c->n_constraints++];
    uint32_t n = 0;
    *added = (constraint){.branch = *branch};
    visit_variables(c, branch, room, &n);
    added->variables = acq_arena_alloc(&c->guess.result->arena, n, sizeof *room);
    if (added->variables == NULL)
        return ACQ_ERR_MEMORY;
    memcpy(added->variables, room, n * sizeof *room);
    added->n_variables = n;
    for (uint32_t i = 0; i < n; i++)
        c->n_of_variable[room[i]]++;
    return ACQ_OK;
}

static acq_status index_constraints(climber *c)
{
    acq_arena *arena = &c->guess.result->arena;
    uint32_t n = c->guess.problem->n_variables;
    for (uint32_t v = 0; v < n; v++) {
        c->of_variable[v] = acq_arena_alloc(arena, c->n_of_variable[v], sizeof(uint32_t));
        if (c->of_variable[v] == NULL)
            return ACQ_ERR_MEMORY;
        c->n_of_variable[v] = 0;
    }
    for (uint32_t i = 0; i < c->n_constraints; i++)
        for (uint32_t k = 0; k < c->constraints[i].n_variables; k++) {
            uint32_t v = c->constraints[i].variables[k];
            c->of_variable[v][c->n_of_variable[v]++] = i;
        }
    return ACQ_OK;
}

static acq_status prepare(climber *c)
{
    const acq_problem *p = c->guess.problem;
    acq_arena *arena = &c->guess.result->arena;
    uint32_t total = p->n_literals + p->n_clauses;
    uint32_t *room = acq_arena_alloc(arena, p->n_variables + 1, sizeof *room);
    c->constraints = acq_arena_alloc(arena, total, sizeof *c->constraints);
    c->of_variable = acq_arena_alloc(arena, p->n_variables, sizeof *c->of_variable);
    c->n_of_variable = acq_arena_zalloc(arena, p->n_variables, sizeof *c->n_of_variable);
    c->open = acq_arena_alloc(arena, total, sizeof *c->open);
    c->stamps = acq_arena_zalloc(arena, p->n_variables, sizeof *c->stamps);
    if (room == NULL || c->constraints == NULL || c->of_variable == NULL ||
        c->n_of_variable == NULL || c->open == NULL || c->stamps == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < total; i++) {
        acq_branch literal = {.kind = ACQ_BRANCH_LITERAL};
        if (i < p->n_literals)
            literal.literal = p->literals[i];
        const acq_branch *branch = i < p->n_literals ? &literal : p->clauses[i - p->n_literals];
        if (add_constraint(c, branch, room) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
    return index_constraints(c);
}

static void find_open(climber *c)
{
    c->n_open = 0;
    for (uint32_t i = 0; i < c->n_constraints; i++)
        if (!is_satisfied(c, i))
            c->open[c->n_open++] = i;
}

typedef struct candidates {
    acq_ent values[MOST_CANDIDATES];
    uint32_t n;
} candidates;

static void offer(candidates *list, acq_ent value)
{
    if (list->n < MOST_CANDIDATES)
        list->values[list->n++] = value;
}

/* Some members of the row that a positive atom allows the variable. */
static void offer_row(climber *c, const acq_literal *l, uint32_t variable, candidates *list)
{
    if (l->is_negated)
        return;
    bool at_left = l->left.is_variable && l->left.id == variable;
    acq_place other = at_left ? l->right : l->left;
    acq_ent value = other.is_variable ? c->guess.values[other.id] : other.id;
    if (l->is_equality) {
        offer(list, value);
        return;
    }
    acq_rel relation = at_left ? acq_inverse(l->relation) : l->relation;
    acq_row row = acq_predictor_get_row(c->guess.predictor, value, relation);
    if (row.n <= ROW_SAMPLES) {
        for (size_t i = 0; i < row.n; i++)
            offer(list, row.tails[i]);
        return;
    }
    for (int i = 0; i < ROW_SAMPLES; i++)
        offer(list, row.tails[acq_random_below(&c->guess.random, row.n)]);
}

static void offer_branch(climber *c, const acq_branch *branch, uint32_t variable, candidates *list)
{
    if (branch->kind == ACQ_BRANCH_LITERAL) {
        const acq_literal *l = &branch->literal;
        if ((l->left.is_variable && l->left.id == variable) ||
            (l->right.is_variable && l->right.id == variable))
            offer_row(c, l, variable, list);
        return;
    }
    for (uint32_t i = 0; i < branch->n_children; i++)
        offer_branch(c, branch->children[i], variable, list);
}

static uint32_t count_satisfied(const climber *c, uint32_t variable)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_of_variable[variable]; i++)
        n += is_satisfied(c, c->of_variable[variable][i]);
    return n;
}

static void improve(climber *c, uint32_t variable)
{
    acq_guess *g = &c->guess;
    candidates list = {.n = 0};
    uint32_t best = 0, ties = 0;
    acq_ent chosen = g->values[variable];
    offer(&list, (acq_ent)acq_random_below(&g->random, g->problem->n_entities));
    uint32_t first = (uint32_t)acq_random_below(&g->random, c->n_of_variable[variable]);
    for (uint32_t i = 0; i < c->n_of_variable[variable]; i++) {
        uint32_t k = (first + i) % c->n_of_variable[variable];
        offer_branch(c, &c->constraints[c->of_variable[variable][k]].branch, variable, &list);
    }
    bool noise = acq_random_below(&g->random, 100) < NOISE_PERCENT;
    for (uint32_t i = 0; i < list.n; i++) {
        g->values[variable] = list.values[i];
        if (!acq_budget_tick(&g->budget, 8 * (size_t)c->n_of_variable[variable]))
            break;
        uint32_t n = noise ? 0 : count_satisfied(c, variable);
        if (n > best)
            ties = 0;
        if (n >= best && acq_random_below(&g->random, ++ties) == 0)
            chosen = list.values[i];
        best = n > best ? n : best;
    }
    g->values[variable] = chosen;
}

static void restart(climber *c)
{
    acq_guess_draw(&c->guess);
    c->stalled = 0;
    c->fewest_open = UINT32_MAX;
}

static void move(climber *c)
{
    find_open(c);
    acq_budget_tick(&c->guess.budget, 4 * c->guess.n_literals);
    if (c->n_open < c->fewest_open) {
        c->fewest_open = c->n_open;
        c->stalled = 0;
    } else if (++c->stalled > STALL_BASE + 4 * c->guess.problem->n_variables) {
        restart(c);
        find_open(c);
    }
    if (c->n_open == 0) { /* an answer, but not a perfect one: look elsewhere for a better */
        restart(c);
        return;
    }
    uint32_t which = c->open[acq_random_below(&c->guess.random, c->n_open)];
    const constraint *picked = &c->constraints[which];
    if (picked->n_variables > 0)
        improve(c, picked->variables[acq_random_below(&c->guess.random, picked->n_variables)]);
}

acq_status acq_search_climb(const acq_problem *problem, const acq_predictor *predictor,
                            const acq_search_params *params, acq_search_result *result,
                            acq_error *error)
{
    climber c = {0};
    acq_status status = acq_guess_init(&c.guess, problem, predictor, params, result, error);
    if (status != ACQ_OK)
        return status;
    if (problem->n_entities == 0)
        return acq_guess_finish(&c.guess, error);
    if (prepare(&c) != ACQ_OK)
        return acq_fail_memory(error);
    restart(&c);
    while (acq_guess_step(&c.guess))
        move(&c);
    return acq_guess_finish(&c.guess, error);
}

acq_status acq_search_random(const acq_problem *problem, const acq_predictor *predictor,
                             const acq_search_params *params, acq_search_result *result,
                             acq_error *error)
{
    acq_guess guess;
    acq_status status = acq_guess_init(&guess, problem, predictor, params, result, error);
    if (status != ACQ_OK)
        return status;
    do
        acq_guess_draw(&guess);
    while (problem->n_entities > 0 && acq_guess_step(&guess));
    return acq_guess_finish(&guess, error);
}
