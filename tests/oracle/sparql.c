/* sparql.c - SPARQL's algebra written down plainly, bottom up and without any index, against
 * acq_solve: the same bag of solutions on random graphs and queries. Shares no code with it: terms
 * are numbers of a small pool whose values are in a table, groups are evaluated by definitions 18.x
 * of SPARQL 1.1, EXISTS by substitution, paths as bags of pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "anycq.h"

enum { N_CASES = 6000, VARS = 5, POOL = 18, MOST_TRIPLES = 24, MOST_ROWS = 60000, NONE = -1 };

/* ---- terms ---- */

typedef enum sort { IRI, NUMBER, STRING, TAGGED, BOOLEAN, UNKNOWN } sort;

typedef struct term {
    const char *text; /* in queries and files */
    sort kind;
    double number; /* NUMBER, BOOLEAN; STRING: its rank */
} term;

#define X "http://www.w3.org/2001/XMLSchema#"

/* 0..5 entities (5 is in no graph), 6..8 relations, the rest literals (16, 17 in no graph). */
static const term POOL_OF[POOL] = {
    {"<http://e/a>", IRI, 0},
    {"<http://e/b>", IRI, 0},
    {"<http://e/c>", IRI, 0},
    {"<http://e/d>", IRI, 0},
    {"<http://e/e>", IRI, 0},
    {"<http://e/none>", IRI, 0},
    {"<http://e/p>", IRI, 0},
    {"<http://e/q>", IRI, 0},
    {"<http://e/r>", IRI, 0},
    {"\"1\"^^<" X "integer>", NUMBER, 1},
    {"\"01\"^^<" X "integer>", NUMBER, 1},
    {"\"1.0\"^^<" X "decimal>", NUMBER, 1},
    {"\"2.5e0\"^^<" X "double>", NUMBER, 2.5},
    {"\"x\"", STRING, 1},
    {"\"x\"@en", TAGGED, 0},
    {"\"true\"^^<" X "boolean>", BOOLEAN, 1},
    {"\"y\"", STRING, 2},
    {"\"z\"^^<http://e/type>", UNKNOWN, 0},
};

/* ---- graphs, queries ---- */

typedef struct triple {
    int s, p, o;
} triple;

typedef struct graph {
    triple triples[MOST_TRIPLES];
    int n;
} graph;

typedef enum path_kind { LINK, INVERSE, SEQUENCE, CHOICE, MAYBE, STAR, PLUS, NOT_IN } path_kind;

typedef struct path {
    path_kind kind;
    int relation;
    int forward[2], backward[2], n_forward, n_backward; /* NOT_IN */
    struct path *a, *b;
} path;

/* An end: 0..POOL-1 a term, POOL + v a variable. */
typedef enum element_kind { TRIPLE, PATH, GROUP, UNION, MINUS, FILTER, VALUES } element_kind;
typedef enum op {
    OP_TERM, OP_EQUAL, OP_DIFFER, OP_LESS, OP_AND, OP_OR, OP_NOT, OP_BOUND, OP_SAME, OP_IS_IRI,
    OP_IN, OP_EXISTS, OP_NOT_EXISTS, OP_ADD
} op;

typedef struct group group;

typedef struct expression {
    op kind;
    int end;
    struct expression *a, *b, *c;
    group *pattern;
} expression;

typedef struct element {
    element_kind kind;
    int s, p, o;
    path *path;
    group *a, *b;
    expression *filter;
    int columns[2], n_columns, values[3][2], n_values;
} element;

struct group {
    element elements[6];
    int n;
};

/* ---- random ones, by a counter ---- */

static uint64_t state;

static unsigned draw(unsigned n)
{
    state += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return (unsigned)((z ^ (z >> 31)) >> 33) % n;
}

static char pool[1 << 20];
static size_t used;

static void *make(size_t size)
{
    used = (used + 15) & ~(size_t)15;
    assert_true(used + size < sizeof pool);
    void *memory = pool + used;
    memset(memory, 0, size);
    used += size;
    return memory;
}

static int draw_end(bool is_subject)
{
    if (draw(10) < 8)
        return POOL + (int)draw(VARS);
    return (int)draw(is_subject ? 6 : POOL);
}

static path *draw_path(int depth)
{
    path *p = make(sizeof *p);
    p->kind = depth == 0 ? LINK : (path_kind)draw(8);
    p->relation = 6 + (int)draw(3);
    if (p->kind == NOT_IN) {
        p->n_forward = (int)draw(3);
        p->n_backward = (int)draw(p->n_forward == 0 ? 2 : 3);
        if (p->n_forward + p->n_backward == 0)
            p->n_forward = 1;
        for (int i = 0; i < 2; i++) {
            p->forward[i] = 6 + (int)draw(3);
            p->backward[i] = 6 + (int)draw(3);
        }
    } else if (p->kind != LINK) {
        p->a = draw_path(depth - 1);
        p->b = draw_path(depth - 1);
    }
    return p;
}

static group *draw_group(int depth, bool may_minus);

static expression *draw_expression(int depth)
{
    expression *e = make(sizeof *e);
    static const op leaves[] = {OP_EQUAL, OP_DIFFER, OP_LESS, OP_BOUND, OP_SAME, OP_IS_IRI, OP_IN};
    static const op inner[] = {OP_AND, OP_OR, OP_NOT, OP_EXISTS, OP_NOT_EXISTS, OP_EQUAL};
    e->kind = depth == 0 || draw(2) == 0 ? leaves[draw(7)] : inner[draw(6)];
    if (e->kind == OP_AND || e->kind == OP_OR || e->kind == OP_NOT) {
        e->a = draw_expression(depth - 1);
        e->b = draw_expression(depth - 1);
    } else if (e->kind == OP_EXISTS || e->kind == OP_NOT_EXISTS) {
        e->pattern = draw_group(0, false);
    } else {
        expression **parts[] = {&e->a, &e->b, &e->c};
        for (int i = 0; i < 3; i++) {
            *parts[i] = make(sizeof *e);
            (*parts[i])->kind = OP_TERM;
            (*parts[i])->end = i == 0 || draw(2) == 0 ? POOL + (int)draw(VARS) : (int)draw(POOL);
        }
        if (e->kind == OP_LESS && draw(3) == 0) { /* a + 1 < b */
            expression *sum = make(sizeof *sum);
            *sum = (expression){.kind = OP_ADD, .a = e->a, .b = make(sizeof *sum)};
            sum->b->kind = OP_TERM;
            sum->b->end = 9;
            e->a = sum;
        }
    }
    return e;
}

static void draw_element(element *e, int depth, bool may_minus)
{
    static const element_kind kinds[] = {TRIPLE, TRIPLE, TRIPLE, TRIPLE, TRIPLE, PATH,  PATH,
                                         VALUES, FILTER, GROUP,  UNION,  UNION,  MINUS};
    e->kind = kinds[draw(depth > 0 ? 13 : 9)];
    if (e->kind == MINUS && !may_minus)
        e->kind = TRIPLE;
    e->s = draw_end(true);
    e->o = draw_end(false);
    e->p = draw(4) == 0 ? POOL + (int)draw(VARS) : 6 + (int)draw(3);
    if (e->kind == PATH)
        e->path = draw_path(2);
    if (e->kind == GROUP || e->kind == UNION || e->kind == MINUS) {
        e->a = draw_group(depth - 1, may_minus);
        e->b = draw_group(depth - 1, may_minus);
    }
    if (e->kind == FILTER)
        e->filter = draw_expression(2);
    if (e->kind == VALUES) {
        e->n_columns = 1 + (int)draw(2);
        e->columns[0] = (int)draw(VARS);
        e->columns[1] = (e->columns[0] + 1) % VARS;
        e->n_values = draw(10) == 0 ? 0 : 2 + (int)draw(2);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 2; j++)
                e->values[i][j] = draw(3) == 0 ? NONE : (int)draw(draw(2) ? 5 : POOL);
        }
    }
}

static group *draw_group(int depth, bool may_minus)
{
    group *g = make(sizeof *g);
    g->n = 1 + (int)draw(depth > 1 ? 4 : 3);
    for (int i = 0; i < g->n; i++)
        draw_element(&g->elements[i], depth, may_minus);
    return g;
}

static void draw_graph(graph *g)
{
    g->n = draw(20) == 0 ? 0 : 8 + (int)draw(MOST_TRIPLES - 7);
    for (int i = 0; i < g->n; i++) {
        triple t = {(int)draw(5), 6 + (int)draw(3), (int)draw(2) ? (int)draw(5) : (int)draw(16)};
        if (t.o == 5)
            t.o = 6; /* a relation may be a node */
        g->triples[i] = t;
        for (int j = 0; j < i; j++) {
            if (memcmp(&g->triples[j], &t, sizeof t) == 0) {
                g->n--; /* a graph is a set */
                i--;
                break;
            }
        }
    }
}

/* ---- as text ---- */

static char text[1 << 16];
static size_t length;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    length += (size_t)vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
    assert_true(length < sizeof text);
}

static void put_end(int end)
{
    if (end >= POOL)
        put("?v%d ", end - POOL);
    else
        put("%s ", POOL_OF[end].text);
}

static void put_path(const path *p)
{
    static const char *const marks[] = {[MAYBE] = "?", [STAR] = "*", [PLUS] = "+"};
    put("(");
    if (p->kind == LINK) {
        put("%s", POOL_OF[p->relation].text);
    } else if (p->kind == NOT_IN) {
        put("!(");
        for (int i = 0; i < p->n_forward; i++)
            put("%s%s", i > 0 ? "|" : "", POOL_OF[p->forward[i]].text);
        for (int i = 0; i < p->n_backward; i++)
            put("%s^%s", i + p->n_forward > 0 ? "|" : "", POOL_OF[p->backward[i]].text);
        put(")");
    } else {
        put(p->kind == INVERSE ? "^" : "");
        put_path(p->a);
        if (p->kind == SEQUENCE || p->kind == CHOICE) {
            put(p->kind == SEQUENCE ? "/" : "|");
            put_path(p->b);
        } else if (p->kind != INVERSE) {
            put("%s", marks[p->kind]);
        }
    }
    put(")");
}

static void put_group(const group *g);

static void put_expression(const expression *e)
{
    static const char *const between[] = {
        [OP_EQUAL] = " = ", [OP_DIFFER] = " != ", [OP_LESS] = " < ",
        [OP_AND] = " && ",  [OP_OR] = " || ",     [OP_ADD] = " + "};
    switch (e->kind) {
    case OP_TERM:
        put_end(e->end);
        return;
    case OP_NOT:
        put("!(");
        put_expression(e->a);
        put(")");
        return;
    case OP_BOUND:
    case OP_IS_IRI:
        put(e->kind == OP_BOUND ? "bound(" : "isIRI(");
        put_expression(e->a);
        put(")");
        return;
    case OP_SAME:
        put("sameTerm(");
        put_expression(e->a);
        put(", ");
        put_expression(e->b);
        put(")");
        return;
    case OP_IN:
        put_expression(e->a);
        put(" IN (");
        put_expression(e->b);
        put(", ");
        put_expression(e->c);
        put(")");
        return;
    case OP_EXISTS:
    case OP_NOT_EXISTS:
        put(e->kind == OP_EXISTS ? "EXISTS " : "NOT EXISTS ");
        put_group(e->pattern);
        return;
    default:
        put("(");
        put_expression(e->a);
        put("%s", between[e->kind]);
        put_expression(e->b);
        put(")");
    }
}

static void put_element(const element *e)
{
    switch (e->kind) {
    case TRIPLE:
    case PATH:
        put_end(e->s);
        if (e->kind == TRIPLE)
            put_end(e->p);
        else
            put_path(e->path);
        put(" ");
        put_end(e->o);
        put(". ");
        break;
    case GROUP:
    case UNION:
        put_group(e->a);
        if (e->kind == UNION) {
            put("UNION ");
            put_group(e->b);
        }
        break;
    case MINUS:
        put("MINUS ");
        put_group(e->a);
        break;
    case FILTER:
        put("FILTER (");
        put_expression(e->filter);
        put(") ");
        break;
    case VALUES:
        put("VALUES (");
        for (int i = 0; i < e->n_columns; i++)
            put("?v%d ", e->columns[i]);
        put(") { ");
        for (int i = 0; i < e->n_values; i++) {
            put("(");
            for (int j = 0; j < e->n_columns; j++)
                put("%s ", e->values[i][j] == NONE ? "UNDEF" : POOL_OF[e->values[i][j]].text);
            put(") ");
        }
        put("} ");
    }
}

static void put_group(const group *g)
{
    put("{ ");
    for (int i = 0; i < g->n; i++)
        put_element(&g->elements[i]);
    put("} ");
}

/* ---- the algebra ---- */

typedef struct row {
    int8_t v[VARS];
} row;

typedef struct bag {
    row *rows;
    size_t n;
} bag;

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

static row empty_row(void)
{
    row r;
    memset(r.v, NONE, sizeof r.v);
    return r;
}

typedef struct world {
    const graph *g;
    row substitution; /* of the EXISTS around */
} world;

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
        a = equal(get(w, e->a, r), get(w, e->b, r));
        b = equal(get(w, e->a, r), get(w, e->c, r));
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
        world inner = {.g = w->g, .substitution = merge(w->substitution, r)};
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

static bag evaluate_element(const world *w, const element *e)
{
    if (e->kind == TRIPLE)
        return match_triple(w, e);
    if (e->kind == PATH)
        return match_path(w, e);
    if (e->kind == VALUES)
        return table(w, e);
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

/* ---- the comparison ---- */

static int find_term(const acq_rdf_value *v)
{
    for (int t = 0; t < POOL; t++) {
        const char *s = POOL_OF[t].text;
        size_t n = strlen(s);
        if (POOL_OF[t].kind == IRI ? v->kind == ACQ_RDF_IRI && strncmp(v->text, s + 1, n - 2) == 0 &&
                                         v->text[n - 2] == '\0'
                                   : strcmp(v->key, s) == 0)
            return t;
    }
    return NONE;
}

static int compare_rows(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(row));
}

static size_t unique(row *rows, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || memcmp(&rows[i], &rows[kept - 1], sizeof *rows) != 0)
            rows[kept++] = rows[i];
    }
    return kept;
}

static acq_graph *write_graph(const graph *g, const char *file_name)
{
    acq_graph_params params;
    acq_graph *out = NULL;
    acq_error error = {0};
    FILE *file = fopen(file_name, "w");
    assert_non_null(file);
    for (int i = 0; i < g->n; i++)
        fprintf(file, "%s %s %s .\n", POOL_OF[g->triples[i].s].text,
                POOL_OF[g->triples[i].p].text, POOL_OF[g->triples[i].o].text);
    fclose(file);
    acq_graph_params_init(&params);
    params.literals = true;
    params.strict = true;
    params.threads = 1;
    if (acq_graph_open(file_name, &params, &out, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return out;
}

static void run_case(unsigned seed, const char *file_name, size_t *n_rows, size_t *n_left_out)
{
    graph g;
    world w = {.g = &g, .substitution = empty_row()};
    acq_solutions *solutions = NULL;
    acq_error error = {0};
    state = seed * 1000003ULL;
    used = length = 0;
    too_large = false;
    draw_graph(&g);
    group *where = draw_group(2, true);
    bool is_distinct = draw(4) == 0;
    unsigned n_selected = 1 + draw(VARS);
    put("SELECT %s", is_distinct ? "DISTINCT " : "");
    for (unsigned v = 0; v < n_selected; v++)
        put("?v%u ", v);
    put_group(where);
    bag expected = evaluate(&w, where);
    if (too_large) {
        ++*n_left_out;
        free(expected.rows);
        return;
    }
    for (size_t i = 0; i < expected.n; i++) {
        for (unsigned v = n_selected; v < VARS; v++)
            expected.rows[i].v[v] = NONE;
    }
    acq_graph *facts = write_graph(&g, file_name);
    if (acq_solve(facts, text, NULL, NULL, &solutions, &error) != ACQ_OK)
        fail_msg("case %u: %zu:%zu: %s\n%s", seed, error.line, error.column, error.message, text);
    size_t n = acq_solutions_get_n(solutions);
    row *got = malloc((n + 1) * sizeof *got);
    for (size_t i = 0; i < n; i++) {
        got[i] = empty_row();
        for (unsigned v = 0; v < n_selected; v++) {
            acq_rdf_value found = acq_solutions_get_term(solutions, i, v);
            if (found.kind != ACQ_RDF_UNBOUND)
                got[i].v[v] = (int8_t)find_term(&found);
        }
    }
    qsort(expected.rows, expected.n, sizeof(row), compare_rows);
    qsort(got, n, sizeof(row), compare_rows);
    if (is_distinct)
        expected.n = unique(expected.rows, expected.n);
    if (n != expected.n || memcmp(got, expected.rows, n * sizeof(row)) != 0)
        fail_msg("case %u: %zu solutions, expected %zu\n%s\ngraph: %s", seed, n, expected.n, text,
                 file_name);
    *n_rows += n > 0;
    free(got);
    free(expected.rows);
    acq_solutions_free(solutions);
    acq_graph_free(facts);
}

static void test_solutions_are_those_of_the_algebra(void **unused)
{
    char file_name[] = "/tmp/acq_sparql_XXXXXX.nt";
    size_t n_rows = 0, n_left_out = 0;
    (void)unused;
    int file = mkstemps(file_name, 3);
    assert_true(file >= 0);
    close(file);
    for (unsigned seed = 1; seed <= N_CASES; seed++)
        run_case(seed, file_name, &n_rows, &n_left_out);
    print_message("%d cases, %zu left out, %zu with solutions\n", N_CASES, n_left_out, n_rows);
    assert_true(n_left_out * 10 < N_CASES && n_rows * 10 > N_CASES * 3);
    unlink(file_name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solutions_are_those_of_the_algebra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
