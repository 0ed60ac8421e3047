/* solve.c - components apart, trees without backtracking, the rest by branching.
 *
 * After propagation the open nodes fall into components that share no undecided constraint:
 * each is solved alone, and one that fails fails the whole at once. A component whose edges
 * form a tree of positive edges is satisfiable because it is arc consistent; its values are
 * read off from a root outwards. Otherwise the node with the smallest domain per constraint is
 * tried value by value, each followed by propagation.
 *
 * The stack of levels is on the heap, so depth is bounded by the memory budget alone:
 *
 *   level: parts of the open nodes, the part in work ── branching: node, values left, mark
 *     └─ level: parts of what is left of that part after fixing the node ... */
#include "search/exact/state.h"

#include <string.h>

#include "base/memory.h"

struct component {
    uint32_t *nodes; /* a piece of the caller's list, which may be reordered */
    uint32_t n;
    uint32_t n_edges; /* between its open nodes */
    bool is_tree;     /* no negated-only edge and no undecided clause either */
};

typedef struct component component;
typedef struct solve_level solve_level;

struct solve_level {
    component *parts;
    uint32_t n_parts, i_part;
    bool is_branching;
    value_cursor cursor; /* of the node that the part in work branches on */
    state_mark mark;
};

uint32_t *acq_exact_list_nodes(state *s, uint32_t *n)
{
    uint32_t *nodes = acq_arena_alloc(s->arena, s->m->n_nodes, sizeof *nodes);
    *n = 0;
    if (nodes == NULL)
        s->status = ACQ_ERR_MEMORY;
    for (uint32_t i = 0; nodes != NULL && i < s->m->n_nodes; i++)
        if (!s->m->nodes[i].is_leaf)
            nodes[(*n)++] = i;
    return nodes;
}

value_cursor acq_exact_values(const state *s, uint32_t node)
{
    return (value_cursor){.node = node, .values = s->domains[node]};
}

bool acq_exact_next_value(const state *s, value_cursor *cursor, acq_ent *value)
{
    while (cursor->next < cursor->values.n) {
        uint32_t i = cursor->next++;
        *value = cursor->values.is_all ? i : cursor->values.values[i];
        if (!cursor->values.is_all || acq_exact_allows(s, cursor->node, *value))
            return true;
    }
    return false;
}

static bool is_open(const state *s, uint32_t node)
{
    return !s->m->nodes[node].is_leaf && !is_fixed(s, node);
}

static void reach(state *s, component *c, uint32_t node)
{
    if (is_open(s, node) && s->marks[node] != s->mark) {
        s->marks[node] = s->mark;
        c->nodes[c->n++] = node;
    }
}

/* Adds to the component what `index` touches. */
static void expand(state *s, component *c, uint32_t index)
{
    const model_node *node = &s->m->nodes[index];
    for (uint32_t i = 0; i < node->n_edges; i++) {
        const model_edge *edge = node->edges[i];
        uint32_t other = edge->x == index ? edge->y : edge->x;
        if (!is_open(s, other))
            continue;
        c->n_edges += index < other;
        c->is_tree = c->is_tree && edge->n_positive > 0;
        reach(s, c, other);
    }
    for (uint32_t i = 0; i < node->n_clauses; i++) {
        const model_clause *clause = &s->m->clauses[node->clauses[i]];
        if (s->clause_marks[node->clauses[i]] == s->mark)
            continue;
        s->clause_marks[node->clauses[i]] = s->mark;
        if (acq_exact_clause_is_certain(s, clause))
            continue;
        for (uint32_t k = 0; k < clause->n_nodes; k++) {
            if (clause->nodes[k] != index && is_open(s, clause->nodes[k])) {
                c->is_tree = false;
                reach(s, c, clause->nodes[k]);
            }
        }
    }
}

/* The component of `start`, written to `room`. */
static component find_component(state *s, uint32_t start, uint32_t *room)
{
    component c = {.nodes = room, .is_tree = true};
    reach(s, &c, start);
    for (uint32_t i = 0; i < c.n; i++)
        expand(s, &c, c.nodes[i]);
    c.is_tree = c.is_tree && c.n_edges + 1 == c.n;
    return c;
}

/* Arc consistent tree: any value of the root extends outwards. */
static bool read_off_tree(state *s, const component *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t index = c->nodes[i];
        const model_node *node = &s->m->nodes[index];
        if (!is_fixed(s, index) && !acq_exact_fix(s, index, s->domains[index].values[0]))
            return false;
        for (uint32_t k = 0; k < node->n_edges; k++)
            if (!acq_exact_revise(s, node->edges[k], index))
                return false;
    }
    while (s->n_queue > 0)
        s->queued[s->queue[--s->n_queue]] = false;
    return true;
}

static uint32_t count_open(const state *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->m->n_nodes; i++)
        n += is_open(s, i);
    return n;
}

static bool is_listed(const state *s, const component *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (s->domains[c->nodes[i]].is_all)
            return false;
    return true;
}

/* The edge from a node of the tree to one before it. */
static tree_step find_step(const state *s, const component *c, uint32_t i)
{
    const model_node *node = &s->m->nodes[c->nodes[i]];
    for (uint32_t e = 0; e < node->n_edges; e++) {
        const model_edge *edge = node->edges[e];
        uint32_t other = edge->x == c->nodes[i] ? edge->y : edge->x;
        for (uint32_t k = 0; k < i; k++)
            if (c->nodes[k] == other)
                return (tree_step){.edge = edge, .from = other, .to = c->nodes[i]};
    }
    return (tree_step){.edge = NULL};
}

tree_plan acq_exact_plan_tree(state *s, uint32_t node)
{
    enum { MOST_NODES = 64 }; /* find_step looks at all before it */
    tree_plan plan = {.root = node};
    if (s->m->n_clauses > 0 || !s->m->is_binary || s->n_queue > 0)
        return plan;
    acq_exact_renew_mark(s);
    component c = find_component(s, node, s->order);
    if (!c.is_tree || c.n > MOST_NODES || c.n != count_open(s) || !is_listed(s, &c))
        return plan;
    tree_step *steps = acq_arena_alloc(s->arena, c.n, sizeof *steps);
    if (steps == NULL) {
        s->status = ACQ_ERR_MEMORY;
        return plan;
    }
    for (uint32_t i = 1; i < c.n; i++)
        steps[plan.n_steps++] = find_step(s, &c, i);
    plan.steps = steps;
    return plan;
}

bool acq_exact_follow_tree(state *s, const tree_plan *plan, acq_ent value)
{
    bool is_good = acq_exact_fix(s, plan->root, value);
    for (uint32_t i = 0; i < plan->n_steps && is_good; i++) {
        tree_step step = plan->steps[i];
        is_good = acq_exact_find_support(s, step.edge, step.from, s->domains[step.from].values[0],
                                         &value) &&
                  acq_exact_fix(s, step.to, value);
    }
    while (s->n_queue > 0)
        s->queued[s->queue[--s->n_queue]] = false;
    return is_good;
}

static uint32_t degree(const state *s, uint32_t index)
{
    return 1 + s->m->nodes[index].n_edges + s->m->nodes[index].n_clauses;
}

/* Smallest domain over degree; ties go to the earlier node. */
static uint32_t choose(const state *s, const component *c)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < c->n; i++) {
        double a = (double)s->domains[c->nodes[i]].n / degree(s, c->nodes[i]);
        double b = (double)s->domains[c->nodes[best]].n / degree(s, c->nodes[best]);
        if (a < b)
            best = i;
    }
    return best;
}

/* Finds the components of nodes[0..n) and reorders the list: component by component, then the
 * fixed nodes. The components go to s->found; returns how many, or ACQ_NO_ID: memory is out. */
static uint32_t find_components(state *s, uint32_t *nodes, uint32_t n)
{
    uint32_t used = 0, n_parts = 0, end = n;
    acq_exact_renew_mark(s);
    for (uint32_t i = 0; i < n; i++) {
        if (!is_open(s, nodes[i])) {
            s->order[--end] = nodes[i];
        } else if (s->marks[nodes[i]] != s->mark) {
            if (ACQ_RESERVE(s->found, s->found_capacity, n_parts + 1) != ACQ_OK)
                return ACQ_NO_ID;
            s->found[n_parts] = find_component(s, nodes[i], s->order + used);
            s->found[n_parts].nodes = nodes + used;
            used += s->found[n_parts++].n;
        }
    }
    if (n > 0)
        memcpy(nodes, s->order, n * sizeof *nodes);
    return n_parts;
}

/* Opens a level for nodes[0..n). */
static bool push_level(state *s, uint32_t *nodes, uint32_t n)
{
    if (!acq_exact_go_on(s, n / 4))
        return false;
    uint32_t n_parts = find_components(s, nodes, n);
    solve_level level = {.n_parts = n_parts};
    if (n_parts != ACQ_NO_ID)
        level.parts = acq_arena_alloc(s->arena, n_parts, sizeof *level.parts);
    if (level.parts == NULL ||
        ACQ_RESERVE(s->levels, s->levels_capacity, s->n_levels + 1) != ACQ_OK) {
        s->status = ACQ_ERR_MEMORY;
        return false;
    }
    if (n_parts > 0)
        memcpy(level.parts, s->found, n_parts * sizeof *level.parts);
    s->levels[s->n_levels++] = level;
    acq_budget_check_memory(s->budget, acq_exact_get_memory(s));
    return true;
}

typedef enum step { STEP_TRUE, STEP_FALSE, STEP_DEEPER } step;

/* The next value of the node that the level branches on. The chosen node is the part's last. */
static step try_values(state *s, solve_level *level)
{
    component *part = &level->parts[level->i_part];
    acq_ent value;
    while (acq_exact_go_on(s, 1) && acq_exact_next_value(s, &level->cursor, &value)) {
        s->nodes++;
        if (acq_exact_fix(s, level->cursor.node, value) && acq_exact_propagate(s) &&
            push_level(s, part->nodes, part->n - 1))
            return STEP_DEEPER;
        acq_exact_undo(s, level->mark);
    }
    return STEP_FALSE;
}

static step start_branching(state *s, solve_level *level)
{
    component *part = &level->parts[level->i_part];
    uint32_t chosen = choose(s, part), node = part->nodes[chosen];
    part->nodes[chosen] = part->nodes[part->n - 1];
    part->nodes[part->n - 1] = node;
    level->is_branching = true;
    level->cursor = acq_exact_values(s, node);
    level->mark = acq_exact_get_mark(s);
    return try_values(s, level);
}

/* Works on the level's parts until one needs a deeper level. */
static step work(state *s, solve_level *level)
{
    for (; level->i_part < level->n_parts; level->i_part++) {
        component *part = &level->parts[level->i_part];
        bool is_listed = !s->domains[part->nodes[0]].is_all;
        if (!part->is_tree || (part->n == 1 && !is_listed))
            return start_branching(s, level);
        if (!read_off_tree(s, part))
            return STEP_FALSE;
    }
    return STEP_TRUE;
}

/* What a deeper level came to decides how the one above goes on. */
static step resume(state *s, solve_level *level, bool found)
{
    if (!found) {
        acq_exact_undo(s, level->mark);
        return try_values(s, level);
    }
    level->is_branching = false;
    level->i_part++;
    return work(s, level);
}

bool acq_exact_solve(state *s, uint32_t *nodes, uint32_t n)
{
    size_t base = s->n_levels;
    if (!push_level(s, nodes, n))
        return false;
    step outcome = work(s, &s->levels[s->n_levels - 1]);
    for (;;) {
        if (outcome == STEP_DEEPER) {
            outcome = work(s, &s->levels[s->n_levels - 1]);
            continue;
        }
        if (--s->n_levels == base)
            return outcome == STEP_TRUE;
        outcome = resume(s, &s->levels[s->n_levels - 1], outcome == STEP_TRUE);
    }
}
