/* solve.c - components apart, trees without backtracking, the rest by branching.
 *
 * After propagation the open nodes fall into components that share no undecided constraint:
 * each is solved alone, and one that fails fails the whole at once. A component whose edges
 * form a tree of positive edges is satisfiable because it is arc consistent; its values are
 * read off from a root outwards. Otherwise the node with the smallest domain per constraint is
 * tried value by value, each followed by propagation. */
#include "search/exact/solve.h"

#include "search/exact/clause.h"
#include "search/exact/revise.h"

enum { DEEPEST = 20000 }; /* branching levels; bounds the machine stack */

typedef struct component {
    uint32_t *nodes;
    uint32_t n;
    uint32_t n_edges; /* between its open nodes */
    bool is_tree;     /* no negated-only edge and no undecided clause either */
} component;

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

/* The component of `start`, written to `room`. Marks must be fresh for the enclosing solve. */
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

static bool try_value(state *s, const component *rest, uint32_t node, acq_ent value)
{
    s->nodes++;
    return acq_exact_fix(s, node, value) && acq_exact_propagate(s) &&
           acq_exact_solve(s, rest->nodes, rest->n);
}

static bool branch(state *s, component c)
{
    if (s->depth >= DEEPEST) {
        s->budget->spent = ACQ_SPENT_MEMORY;
        return false;
    }
    uint32_t chosen = choose(s, &c), node = c.nodes[chosen];
    acq_ent value;
    bool found = false;
    c.nodes[chosen] = c.nodes[--c.n];
    value_cursor cursor = acq_exact_values(s, node);
    state_mark mark = acq_exact_get_mark(s);
    s->depth++;
    while (!found && acq_exact_go_on(s, 1) && acq_exact_next_value(s, &cursor, &value)) {
        found = try_value(s, &c, node, value);
        if (!found)
            acq_exact_undo(s, mark);
    }
    s->depth--;
    return found;
}

static bool solve_component(state *s, component c)
{
    bool listed = !s->domains[c.nodes[0]].is_all;
    if (c.is_tree && (c.n > 1 || listed))
        return read_off_tree(s, &c);
    return branch(s, c);
}

/* Components partition `room`, so the lists of those still to come stay untouched. */
bool acq_exact_solve(state *s, const uint32_t *nodes, uint32_t n)
{
    uint32_t *room = acq_arena_alloc(s->arena, n, sizeof *room);
    component *parts = acq_arena_alloc(s->arena, n, sizeof *parts);
    uint32_t used = 0, n_parts = 0;
    if (room == NULL || parts == NULL) {
        s->status = ACQ_ERR_MEMORY;
        return false;
    }
    s->mark++;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_open(s, nodes[i]) || s->marks[nodes[i]] == s->mark)
            continue;
        parts[n_parts] = find_component(s, nodes[i], room + used);
        used += parts[n_parts++].n;
    }
    for (uint32_t i = 0; i < n_parts; i++)
        if (!solve_component(s, parts[i]))
            return false;
    return true;
}
