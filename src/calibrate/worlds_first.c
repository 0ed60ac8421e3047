/* worlds_first.c - world 0. All links are true there, and variables may stand for entities that the
 * graph does not have. So only denials and equalities count: variables that must be equal are
 * joined, with an entity where one is named, and whatever must differ is looked at in the end. */
#include "calibrate/worlds.h"

#include <string.h>

enum { MOST_DEPTH = 100 }; /* conditions within each other: more would need a large stack */

typedef struct walk {
    uint32_t n_variables;
    acq_arena *arena;
    acq_budget *budget;
    bool has_memory;
    unsigned depth;
} walk;

typedef struct noted {
    const acq_literal *literal; /* left != right */
    const struct noted *next;
} noted;

typedef struct pending {
    const acq_branch *branch;
    const struct pending *next;
} pending;

typedef struct equalities {
    uint32_t *parents;
    acq_ent *entities; /* of roots; ACQ_NO_ID: any */
} equalities;

/* A root, or an entity behind all variables. */
static uint32_t find_term(const walk *w, const equalities *e, acq_place place)
{
    uint32_t root = place.is_variable ? acq_first_find_root(e->parents, place.id) : 0;
    if (!place.is_variable)
        return w->n_variables + place.id;
    return e->entities[root] == ACQ_NO_ID ? root : w->n_variables + e->entities[root];
}

static bool join_terms(const walk *w, equalities *e, const acq_literal *literal)
{
    uint32_t a = find_term(w, e, literal->left), b = find_term(w, e, literal->right);
    if (a == b)
        return true;
    if (a >= w->n_variables && b >= w->n_variables)
        return false;
    uint32_t variable = a < w->n_variables ? a : b, other = a < w->n_variables ? b : a;
    if (other < w->n_variables)
        e->parents[variable] = other;
    else
        e->entities[variable] = other - w->n_variables;
    return true;
}

static bool differ(const walk *w, const equalities *e, const noted *list)
{
    for (; list != NULL; list = list->next)
        if (find_term(w, e, list->literal->left) == find_term(w, e, list->literal->right))
            return false;
    return true;
}

static bool copy_equalities(walk *w, const equalities *from, equalities *to)
{
    size_t bytes = w->n_variables * sizeof(uint32_t);
    *to = (equalities){acq_arena_alloc(w->arena, bytes, 1), acq_arena_alloc(w->arena, bytes, 1)};
    w->has_memory = w->has_memory && to->parents != NULL && to->entities != NULL;
    if (w->has_memory && from != NULL) {
        memcpy(to->parents, from->parents, bytes);
        memcpy(to->entities, from->entities, bytes);
    }
    return w->has_memory;
}

static bool can_hold(walk *w, equalities *e, const noted *list, const pending *todo);

static bool can_hold_literal(walk *w, equalities *e, const noted *list, const pending *todo)
{
    const acq_literal *literal = &todo->branch->literal;
    noted one = {literal, list};
    if (!literal->is_equality)
        return !literal->is_negated && can_hold(w, e, list, todo->next);
    if (literal->is_negated)
        return can_hold(w, e, &one, todo->next);
    return join_terms(w, e, literal) && can_hold(w, e, list, todo->next);
}

static bool can_hold_any(walk *w, const equalities *e, const noted *list, const pending *todo)
{
    bool holds = false;
    for (uint32_t i = 0; i < todo->branch->n_children && !holds; i++) {
        acq_arena_mark mark = acq_arena_get_mark(w->arena);
        pending child = {todo->branch->children[i], todo->next};
        equalities copy;
        if (!acq_budget_tick(w->budget, 1) || !copy_equalities(w, e, &copy))
            return false;
        holds = can_hold(w, &copy, list, &child);
        acq_arena_reset(w->arena, mark);
    }
    return holds;
}

static bool can_hold_all(walk *w, equalities *e, const noted *list, const pending *todo)
{
    uint32_t n = todo->branch->n_children;
    const pending *next = todo->next;
    pending *children = acq_arena_alloc(w->arena, n, sizeof *children);
    w->has_memory = w->has_memory && children != NULL;
    for (uint32_t i = 0; i < n && w->has_memory; i++) {
        children[i] = (pending){todo->branch->children[i], next};
        next = &children[i];
    }
    return w->has_memory && can_hold(w, e, list, next);
}

static bool can_hold(walk *w, equalities *e, const noted *list, const pending *todo)
{
    bool holds = false;
    if (todo == NULL)
        return differ(w, e, list);
    if (++w->depth > MOST_DEPTH)
        w->budget->spent = ACQ_SPENT_STEPS;
    else if (todo->branch->kind == ACQ_BRANCH_LITERAL)
        holds = can_hold_literal(w, e, list, todo);
    else if (todo->branch->kind == ACQ_BRANCH_OR)
        holds = can_hold_any(w, e, list, todo);
    else
        holds = can_hold_all(w, e, list, todo);
    w->depth--;
    return holds;
}

/* The literals of the conjunction one after the other, then its clauses. */
static bool holds(walk *w, const acq_problem *problem)
{
    equalities e;
    noted *list = acq_arena_alloc(w->arena, problem->n_literals, sizeof *list);
    pending *todo = acq_arena_alloc(w->arena, problem->n_clauses, sizeof *todo);
    uint32_t n_noted = 0;
    w->has_memory = list != NULL && todo != NULL;
    if (!copy_equalities(w, NULL, &e))
        return false;
    for (uint32_t v = 0; v < w->n_variables; v++) {
        e.parents[v] = v;
        e.entities[v] = ACQ_NO_ID;
    }
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *literal = &problem->literals[i];
        if (literal->is_equality && literal->is_negated) {
            list[n_noted] = (noted){literal, n_noted == 0 ? NULL : &list[n_noted - 1]};
            n_noted++;
        } else if (literal->is_negated || (literal->is_equality && !join_terms(w, &e, literal))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < problem->n_clauses; i++)
        todo[i] = (pending){problem->clauses[i], i == 0 ? NULL : &todo[i - 1]};
    return can_hold(w, &e, n_noted == 0 ? NULL : &list[n_noted - 1],
                    problem->n_clauses == 0 ? NULL : &todo[problem->n_clauses - 1]);
}

bool acq_first_holds(const acq_problem *problem, acq_arena *arena, acq_budget *budget,
                     bool *has_memory)
{
    walk w = {.n_variables = problem->n_variables, .arena = arena, .budget = budget};
    acq_arena_mark mark = acq_arena_get_mark(arena);
    bool is_true = holds(&w, problem);
    acq_arena_reset(arena, mark);
    *has_memory = w.has_memory;
    return is_true;
}
