/* sparql_algebra.c - SPARQL's algebra, bottom up and without any index: groups by definitions 18.x
 * of SPARQL 1.1, EXISTS by substitution, paths as bags of pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/sparql_case.h"

static bool too_large; /* a case is left out when a bag would be huge */

static bag new_bag(void)
{
    return (bag){.rows = malloc(MOST_ROWS * sizeof(row))};
}

static void add(bag *b, row r)
{
    if (b->n == MOST_ROWS)
        too_large = true;
    else
        b->rows[b->n++] = r;
}

static bool compatible(row a, row b)
{
    for (int i = 0; i < VARS; i++) {
        if (a.v[i] != NONE && b.v[i] != NONE && a.v[i] != b.v[i])
            return false;
    }
    return true;
}

static row merge(row a, row b)
{
    for (int i = 0; i < VARS; i++)
        a.v[i] = a.v[i] == NONE ? b.v[i] : a.v[i];
    return a;
}

static bag join(bag a, bag b)
{
    bag out = new_bag();
    for (size_t i = 0; i < a.n; i++) {
        for (size_t j = 0; j < b.n && !too_large; j++) {
            if (compatible(a.rows[i], b.rows[j]))
                add(&out, merge(a.rows[i], b.rows[j]));
        }
    }
    free(a.rows);
    free(b.rows);
    return out;
}

row empty_row(void)
{
    row r;
    memset(r.v, NONE, sizeof r.v);
    return r;
}

/* The term of an end, or NONE for a variable that is not substituted. */
static int fixed(const world *w, int end)
{
    return end < POOL ? end : w->substitution.v[end - POOL];
}

/* Binds an end to a term in a row; false: it is another one. */
static bool bind(const world *w, row *r, int end, int value)
{
    if (fixed(w, end) != NONE)
        return fixed(w, end) == value;
    int8_t *cell = &r->v[end - POOL];
    if (*cell != NONE && *cell != value)
        return false;
    *cell = (int8_t)value;
    return true;
}

static bag match_triple(const world *w, const element *e)
{
    bag out = new_bag();
    for (int i = 0; i < w->g->n; i++) {
        const triple *t = &w->g->triples[i];
        row r = empty_row();
        if (bind(w, &r, e->s, t->s) && bind(w, &r, e->p, t->p) && bind(w, &r, e->o, t->o))
            add(&out, r);
    }
    return out;
}

/* ---- paths: counts of ways between terms ---- */

typedef struct pairs {
    int n[POOL][POOL];
} pairs;

static bool is_node(const graph *g, int t)
{
    for (int i = 0; i < g->n; i++) {
        if (g->triples[i].s == t || g->triples[i].o == t)
            return true;
    }
    return false;
}

static void add_zero(const graph *g, int from, int to, pairs *out)
{
    for (int t = 0; t < POOL; t++) {
        if (is_node(g, t) || t == from || t == to)
            out->n[t][t] = 1;
    }
}

static pairs path_pairs(const graph *g, const path *p, int from, int to);

/* Reachable in one or more steps; a step goes from a term, whatever it is. */
static pairs closure(const graph *g, const path *p)
{
    pairs out = {0}, steps[POOL];
    for (int t = 0; t < POOL; t++)
        steps[t] = path_pairs(g, p, t, NONE);
    for (int from = 0; from < POOL; from++) {
        bool done[POOL] = {0};
        int todo[POOL * POOL], n = 0;
        todo[n++] = from;
        for (int i = 0; i < n; i++) {
            for (int to = 0; to < POOL; to++) {
                if (steps[todo[i]].n[todo[i]][to] > 0 && !done[to]) {
                    done[to] = true;
                    out.n[from][to] = 1;
                    todo[n++] = to;
                }
            }
        }
    }
    return out;
}

static bool listed(const int *list, int n, int relation)
{
    for (int i = 0; i < n; i++) {
        if (list[i] == relation)
            return true;
    }
    return false;
}

static pairs path_pairs(const graph *g, const path *p, int from, int to)
{
    pairs out = {0}, a, b;
    switch (p->kind) {
    case LINK:
        for (int i = 0; i < g->n; i++)
            out.n[g->triples[i].s][g->triples[i].o] += g->triples[i].p == p->relation;
        break;
    case NOT_IN:
        for (int i = 0; i < g->n; i++) {
            const triple *t = &g->triples[i];
            if (p->n_forward > 0 && !listed(p->forward, p->n_forward, t->p))
                out.n[t->s][t->o]++;
            if (p->n_backward > 0 && !listed(p->backward, p->n_backward, t->p))
                out.n[t->o][t->s]++;
        }
        break;
    case INVERSE:
        a = path_pairs(g, p->a, to, from);
        for (int i = 0; i < POOL; i++) {
            for (int j = 0; j < POOL; j++)
                out.n[i][j] = a.n[j][i];
        }
        break;
    case SEQUENCE:
        a = path_pairs(g, p->a, from, NONE);
        b = path_pairs(g, p->b, NONE, to);
        for (int i = 0; i < POOL; i++) {
            for (int k = 0; k < POOL; k++) {
                for (int j = 0; a.n[i][k] > 0 && j < POOL; j++)
                    out.n[i][j] += a.n[i][k] * b.n[k][j];
            }
        }
        break;
    case CHOICE:
        a = path_pairs(g, p->a, from, to);
        b = path_pairs(g, p->b, from, to);
        for (int i = 0; i < POOL; i++) {
            for (int j = 0; j < POOL; j++)
                out.n[i][j] = a.n[i][j] + b.n[i][j];
        }
        break;
    case MAYBE:
        a = path_pairs(g, p->a, from, to);
        for (int i = 0; i < POOL; i++) {
            for (int j = 0; j < POOL; j++)
                out.n[i][j] = a.n[i][j] > 0;
        }
        add_zero(g, from, to, &out);
        break;
    case STAR:
    case PLUS:
        out = closure(g, p->a);
        for (int i = 0; i < POOL; i++) { /* a walk begins at a node or at a term of the pattern */
            for (int j = 0; j < POOL && !is_node(g, i) && i != from && i != to; j++)
                out.n[i][j] = 0;
        }
        if (p->kind == STAR)
            add_zero(g, from, to, &out);
    }
    return out;
}

static bag match_path(const world *w, const element *e)
{
    bag out = new_bag();
    pairs all = path_pairs(w->g, e->path, fixed(w, e->s), fixed(w, e->o));
    for (int i = 0; i < POOL; i++) {
        for (int j = 0; j < POOL; j++) {
            for (int n = 0; n < all.n[i][j]; n++) {
                row r = empty_row();
                if (bind(w, &r, e->s, i) && bind(w, &r, e->o, j))
                    add(&out, r);
            }
        }
    }
    return out;
}

/* ---- expressions: 1, 0, -1 for an error ---- */

static bag evaluate(const world *w, const group *g);

/* A number that no term stands for: the value of a + b. */
typedef struct value {
    int term; /* NONE: a number */
    bool is_error;
    double number;
} value;

static value get(const world *w, const expression *e, row r)
{
    value out = {.term = NONE};
    if (e->kind == OP_ADD) {
        value a = get(w, e->a, r), b = get(w, e->b, r);
        out.is_error = a.is_error || b.is_error || POOL_OF[a.term].kind != NUMBER ||
                       POOL_OF[b.term].kind != NUMBER;
        out.number = out.is_error ? 0 : POOL_OF[a.term].number + POOL_OF[b.term].number;
        return out;
    }
    out.term = fixed(w, e->end);
    if (out.term == NONE)
        out.term = r.v[e->end - POOL];
    out.is_error = out.term == NONE;
    return out;
}

static sort sort_of(value v)
{
    return v.term == NONE ? NUMBER : POOL_OF[v.term].kind;
}

static double number_of(value v)
{
    return v.term == NONE ? v.number : POOL_OF[v.term].number;
}

static int equal(value a, value b)
{
    if (a.is_error || b.is_error)
        return -1;
    sort x = sort_of(a), y = sort_of(b);
    if (x == NUMBER && y == NUMBER)
        return number_of(a) == number_of(b);
    if (a.term == b.term)
        return 1;
    if (x == IRI || y == IRI || x == TAGGED || y == TAGGED)
        return 0;
    return x == UNKNOWN || y == UNKNOWN ? -1 : 0;
}

static int less(value a, value b)
{
    if (a.is_error || b.is_error || sort_of(a) != sort_of(b) || sort_of(a) == IRI ||
        sort_of(a) == TAGGED || sort_of(a) == UNKNOWN)
        return -1;
    return number_of(a) < number_of(b);
}

static int test(const world *w, const expression *e, row r)
{
    int a, b;
    switch (e->kind) {
    case OP_EQUAL:
    case OP_DIFFER:
        a = equal(get(w, e->a, r), get(w, e->b, r));
        return a < 0 || e->kind == OP_EQUAL ? a : !a;
    case OP_LESS:
        return less(get(w, e->a, r), get(w, e->b, r));
    case OP_BOUND:
        return !get(w, e->a, r).is_error;
    case OP_IS_IRI:
        return get(w, e->a, r).is_error ? -1 : sort_of(get(w, e->a, r)) == IRI;
    case OP_SAME:
        return get(w, e->a, r).is_error || get(w, e->b, r).is_error
                   ? -1
                   : get(w, e->a, r).term == get(w, e->b, r).term;
    case OP_IN:
        if (get(w, e->a, r).is_error)
            return -1;
        a = e->n_listed > 0 ? equal(get(w, e->a, r), get(w, e->b, r)) : 0;
        b = e->n_listed > 1 ? equal(get(w, e->a, r), get(w, e->c, r)) : 0;
        return a == 1 || b == 1 ? 1 : a < 0 || b < 0 ? -1 : 0;
    case OP_NOT:
        a = test(w, e->a, r);
        return a < 0 ? -1 : !a;
    case OP_AND:
    case OP_OR:
        a = test(w, e->a, r);
        b = test(w, e->b, r);
        if (a == (e->kind == OP_OR) || b == (e->kind == OP_OR))
            return e->kind == OP_OR;
        return a < 0 || b < 0 ? -1 : e->kind == OP_AND;
    default: {
        world inner = *w;
        inner.substitution = merge(w->substitution, r);
        bag found = evaluate(&inner, e->pattern);
        free(found.rows);
        return (found.n > 0) == (e->kind == OP_EXISTS);
    }
    }
}

static bag filter(const world *w, bag all, const expression *e)
{
    size_t n = 0;
    for (size_t i = 0; i < all.n && !too_large; i++) {
        if (test(w, e, all.rows[i]) == 1)
            all.rows[n++] = all.rows[i];
    }
    all.n = n;
    return all;
}

static bag minus(bag a, bag b)
{
    size_t n = 0;
    for (size_t i = 0; i < a.n; i++) {
        bool is_removed = false;
        for (size_t j = 0; j < b.n && !is_removed; j++) {
            bool shares = false;
            for (int v = 0; v < VARS; v++)
                shares |= a.rows[i].v[v] != NONE && b.rows[j].v[v] != NONE;
            is_removed = shares && compatible(a.rows[i], b.rows[j]);
        }
        if (!is_removed)
            a.rows[n++] = a.rows[i];
    }
    a.n = n;
    free(b.rows);
    return a;
}

static bag table(const world *w, const element *e)
{
    bag out = new_bag();
    for (int i = 0; i < e->n_values; i++) {
        row r = empty_row();
        bool fits = true;
        for (int j = 0; j < e->n_columns; j++) {
            if (e->values[i][j] != NONE)
                fits &= bind(w, &r, POOL + e->columns[j], e->values[i][j]);
        }
        if (fits)
            add(&out, r);
    }
    return out;
}

graph get_part(const graph *whole, unsigned graphs)
{
    graph part = {.n = 0};
    for (int i = 0; i < whole->n; i++) {
        if (whole->in[i] & graphs)
            part.triples[part.n++] = whole->triples[i];
    }
    return part;
}

/* The pattern in each named graph that there is, joined with its name. */
static bag match_graph(const world *w, const element *e)
{
    bag out = new_bag();
    for (int k = 0; k < GRAPHS; k++) {
        graph part = get_part(w->whole, w->named & 1U << k);
        row name = empty_row();
        if (part.n == 0 || !bind(w, &name, e->s, NAME_OF[k]))
            continue;
        world inner = *w;
        inner.g = &part;
        bag found = evaluate(&inner, e->a);
        for (size_t i = 0; i < found.n; i++) {
            if (compatible(found.rows[i], name))
                add(&out, merge(found.rows[i], name));
        }
        free(found.rows);
    }
    return out;
}

static bag evaluate_element(const world *w, const element *e)
{
    if (e->kind == TRIPLE)
        return match_triple(w, e);
    if (e->kind == PATH)
        return match_path(w, e);
    if (e->kind == VALUES)
        return table(w, e);
    if (e->kind == GRAPH)
        return match_graph(w, e);
    bag out = evaluate(w, e->a);
    if (e->kind == UNION) {
        bag b = evaluate(w, e->b);
        for (size_t i = 0; i < b.n; i++)
            add(&out, b.rows[i]);
        free(b.rows);
    }
    return out;
}

static bag evaluate(const world *w, const group *g)
{
    bag all = new_bag();
    add(&all, empty_row());
    for (int i = 0; i < g->n && !too_large; i++) {
        const element *e = &g->elements[i];
        if (e->kind == MINUS)
            all = minus(all, evaluate(w, e->a));
        else if (e->kind != FILTER)
            all = join(all, evaluate_element(w, e));
    }
    for (int i = 0; i < g->n && !too_large; i++) {
        if (g->elements[i].kind == FILTER)
            all = filter(w, all, g->elements[i].filter);
    }
    return all;
}

bag get_solutions(const world *w, const group *g, bool *is_too_large)
{
    too_large = false;
    bag all = evaluate(w, g);
    *is_too_large = too_large;
    return all;
}
