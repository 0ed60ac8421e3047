/* sparql_case.h - a random graph and a random SPARQL query over a small pool of terms, and the bag
 * of solutions that the algebra, written down plainly, gives. See sparql.c. */
#ifndef TEST_ORACLE_SPARQL_CASE_H
#define TEST_ORACLE_SPARQL_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VARS = 5, POOL = 18, MOST_TRIPLES = 24, MOST_ROWS = 60000, NONE = -1, GRAPHS = 3 };

/* ---- terms ---- */

typedef enum sort { IRI, NUMBER, STRING, TAGGED, BOOLEAN, UNKNOWN } sort;

typedef struct term {
    const char *text; /* in queries and files */
    sort kind;
    double number; /* NUMBER, BOOLEAN; STRING: its rank */
} term;

extern const term POOL_OF[POOL];
extern const int NAME_OF[GRAPHS]; /* terms that name graphs */

/* ---- graphs, queries ---- */

typedef struct triple {
    int s, p, o;
} triple;

typedef struct graph {
    triple triples[MOST_TRIPLES];
    unsigned in[MOST_TRIPLES]; /* bits of the named graphs that it stands in */
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
typedef enum element_kind {
    TRIPLE,
    PATH,
    GROUP,
    UNION,
    MINUS,
    FILTER,
    VALUES,
    GRAPH /* s: its name */
} element_kind;
typedef enum op {
    OP_TERM,
    OP_EQUAL,
    OP_DIFFER,
    OP_LESS,
    OP_AND,
    OP_OR,
    OP_NOT,
    OP_BOUND,
    OP_SAME,
    OP_IS_IRI,
    OP_IN,
    OP_EXISTS,
    OP_NOT_EXISTS,
    OP_ADD
} op;

typedef struct group group;

typedef struct expression {
    op kind;
    int end;
    struct expression *a, *b, *c;
    int n_listed; /* of IN: b, then c */
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

/* ---- random ones, by a counter (sparql_case.c) ---- */

void start_case(unsigned seed); /* forgets the case before */
unsigned draw(unsigned n);
void draw_graph(graph *g);
group *draw_group(int depth, bool may_minus);

/* The query as text. */
const char *get_text(void);
void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
void put_group(const group *g);

/* ---- the algebra (sparql_algebra.c) ---- */

typedef struct row {
    int8_t v[VARS];
} row;

typedef struct bag {
    row *rows;
    size_t n;
} bag;

typedef struct world {
    const graph *g;     /* what patterns match */
    const graph *whole; /* */
    unsigned named;     /* bits of the graphs that GRAPH ranges over */
    row substitution;   /* of the EXISTS around */
} world;

/* The triples of some named graphs. */
graph get_part(const graph *whole, unsigned graphs);

row empty_row(void);

/* *too_large: a bag became huge, and the result means nothing. Freed by the caller. */
bag get_solutions(const world *w, const group *g, bool *too_large);

#endif
