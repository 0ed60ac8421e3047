/* sparql_case.c - random graphs and queries, and queries as text; see sparql_case.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/sparql_case.h"

#define X "http://www.w3.org/2001/XMLSchema#"

/* 0..5 entities (5 is in no graph), 6..8 relations, the rest literals (16, 17 in no graph). */
const term POOL_OF[POOL] = {
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

const int NAME_OF[GRAPHS] = {0, 1, 5};

/* ---- random ones, by a counter ---- */

static uint64_t state;

unsigned draw(unsigned n)
{
    state += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return (unsigned)((z ^ (z >> 31)) >> 33) % n;
}

static char pool[1 << 20], text[1 << 16];
static size_t used, length;

void start_case(unsigned seed)
{
    state = seed * 1000003ULL;
    used = length = 0;
}

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
        e->pattern = draw_group(draw(4) == 0, false);
    } else {
        expression **parts[] = {&e->a, &e->b, &e->c};
        for (int i = 0; i < 3; i++) {
            *parts[i] = make(sizeof *e);
            (*parts[i])->kind = OP_TERM;
            (*parts[i])->end = i == 0 || draw(2) == 0 ? POOL + (int)draw(VARS) : (int)draw(POOL);
        }
        if (e->kind == OP_IN) /* of a list of 0, 1 or 2 */
            e->n_listed = (int)draw(3);
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
    static const element_kind kinds[] = {TRIPLE, TRIPLE, TRIPLE, TRIPLE, TRIPLE, PATH, PATH,
                                         VALUES, FILTER, GROUP,  UNION,  UNION,  MINUS, GRAPH};
    e->kind = kinds[draw(depth > 0 ? 14 : 9)];
    if (e->kind == MINUS && !may_minus)
        e->kind = TRIPLE;
    e->s = draw_end(true);
    e->o = draw_end(false);
    e->p = draw(4) == 0 ? POOL + (int)draw(VARS) : 6 + (int)draw(3);
    if (e->kind == PATH)
        e->path = draw_path(2);
    if (e->kind == GRAPH && e->s < POOL)
        e->s = NAME_OF[draw(GRAPHS)];
    if (e->kind == GROUP || e->kind == UNION || e->kind == MINUS || e->kind == GRAPH) {
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

group *draw_group(int depth, bool may_minus)
{
    group *g = make(sizeof *g);
    g->n = 1 + (int)draw(depth > 1 ? 4 : 3);
    for (int i = 0; i < g->n; i++)
        draw_element(&g->elements[i], depth, may_minus);
    return g;
}

void draw_graph(graph *g)
{
    g->n = draw(20) == 0 ? 0 : 8 + (int)draw(MOST_TRIPLES - 7);
    for (int i = 0; i < g->n; i++) {
        triple t = {(int)draw(5), 6 + (int)draw(3), (int)draw(2) ? (int)draw(5) : (int)draw(16)};
        if (t.o == 5)
            t.o = 6; /* a relation may be a node */
        g->triples[i] = t;
        g->in[i] = draw(4) == 0 ? 0 : draw(1 << GRAPHS) | draw(1 << GRAPHS);
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

const char *get_text(void)
{
    return text;
}

void put(const char *format, ...)
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
        for (int i = 0; i < e->n_listed; i++) {
            put(i > 0 ? ", " : "");
            put_expression(i == 0 ? e->b : e->c);
        }
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
    case GRAPH:
        put("GRAPH ");
        put_end(e->s);
        put_group(e->a);
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

void put_group(const group *g)
{
    put("{ ");
    for (int i = 0; i < g->n; i++)
        put_element(&g->elements[i]);
    put("} ");
}
