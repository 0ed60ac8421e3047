/* syntax.h - a SPARQL query as it is written: a tree without a meaning yet.
 *
 *   SELECT ?x WHERE { ?x ex:knows/ex:knows ?y FILTER(?y != ex:ada) MINUS { ?x a ex:Robot } }
 *
 *   group ─┬─ TRIPLE ?x, path, ?y
 *          ├─ FILTER expression
 *          └─ MINUS ── group
 *
 * Two readers take it on: formula.c makes an existential formula of what has one, for the engine;
 * sparql/ evaluates all of it over observed facts. Lists are linked by `next`; everything lives in
 * the query's arena. Blank nodes of patterns are variables that cannot be selected. */
#ifndef ACQ_QUERY_SPARQL_SYNTAX_H
#define ACQ_QUERY_SPARQL_SYNTAX_H

#include "base/memory.h"
#include "query/input.h"
#include "query/query.h"

enum {
    ACQ_SPARQL_MOST_ELEMENTS = 500000, /* parts of the tree of one query */
    ACQ_SPARQL_MOST_NESTING = 1000,    /* of groups, paths and brackets */
    ACQ_SPARQL_MOST_DEPTH = 2000,      /* of the tree of an expression, with what EXISTS holds */
};

/* A variable, or a constant by its key: an IRI as it is, a literal as N-Triples spells it. */
typedef struct acq_sparql_term {
    bool is_variable;
    bool is_literal;
    bool is_undef; /* VALUES: UNDEF; of a variable: some row has it */
    uint32_t variable;
    const char *key;
    size_t length;
    acq_input_place place;
    struct acq_sparql_term *next;
} acq_sparql_term;

typedef enum acq_path_kind {
    ACQ_PATH_LINK,        /* iri */
    ACQ_PATH_VARIABLE,    /* a variable in its place */
    ACQ_PATH_INVERSE,     /* ^ one child */
    ACQ_PATH_SEQUENCE,    /* children, at least two; the same of ALTERNATIVE */
    ACQ_PATH_ALTERNATIVE, /* */
    ACQ_PATH_OPTIONAL,    /* ? one child */
    ACQ_PATH_ANY,         /* * */
    ACQ_PATH_SOME,        /* + */
    ACQ_PATH_NEGATED,     /* ! children are LINK or INVERSE of LINK */
} acq_path_kind;

typedef struct acq_sparql_path {
    acq_path_kind kind;
    acq_sparql_term term; /* LINK, VARIABLE */
    acq_input_place place;
    struct acq_sparql_path *children, *next;
} acq_sparql_path;

/* Operators and functions of expressions: id, how it is written, least and most arguments. */
#define ACQ_SPARQL_FUNCTIONS(X)                                                                    \
    X(STR, "STR", 1, 1)                                                                            \
    X(LANG, "LANG", 1, 1)                                                                          \
    X(LANGMATCHES, "LANGMATCHES", 2, 2)                                                            \
    X(DATATYPE, "DATATYPE", 1, 1)                                                                  \
    X(BOUND, "BOUND", 1, 1)                                                                        \
    X(SAMETERM, "SAMETERM", 2, 2)                                                                  \
    X(ISIRI, "ISIRI", 1, 1)                                                                        \
    X(ISURI, "ISURI", 1, 1)                                                                        \
    X(ISBLANK, "ISBLANK", 1, 1)                                                                    \
    X(ISLITERAL, "ISLITERAL", 1, 1)                                                                \
    X(ISNUMERIC, "ISNUMERIC", 1, 1)                                                                \
    X(REGEX, "REGEX", 2, 3)                                                                        \
    X(STRLEN, "STRLEN", 1, 1)                                                                      \
    X(CONTAINS, "CONTAINS", 2, 2)                                                                  \
    X(STRSTARTS, "STRSTARTS", 2, 2)                                                                \
    X(STRENDS, "STRENDS", 2, 2)                                                                    \
    X(LCASE, "LCASE", 1, 1)                                                                        \
    X(UCASE, "UCASE", 1, 1)

typedef enum acq_sparql_op {
    ACQ_SPARQL_OP_TERM, /* a variable or constant */
    ACQ_SPARQL_OP_OR,   /* any number of children from two on; the same of AND */
    ACQ_SPARQL_OP_AND,
    ACQ_SPARQL_OP_NOT,
    ACQ_SPARQL_OP_EQUAL,
    ACQ_SPARQL_OP_DIFFER,
    ACQ_SPARQL_OP_LESS,
    ACQ_SPARQL_OP_GREATER,
    ACQ_SPARQL_OP_LESS_EQUAL,
    ACQ_SPARQL_OP_GREATER_EQUAL,
    ACQ_SPARQL_OP_IN, /* the first child in the others */
    ACQ_SPARQL_OP_NOT_IN,
    ACQ_SPARQL_OP_ADD,
    ACQ_SPARQL_OP_SUBTRACT,
    ACQ_SPARQL_OP_MULTIPLY,
    ACQ_SPARQL_OP_DIVIDE,
    ACQ_SPARQL_OP_PLUS,
    ACQ_SPARQL_OP_MINUS,
    ACQ_SPARQL_OP_EXISTS,
    ACQ_SPARQL_OP_NOT_EXISTS,
    ACQ_SPARQL_OP_CAST, /* to the datatype in `term` */
#define ACQ_SPARQL_FUNCTION_ID(id, name, least, most) ACQ_SPARQL_OP_##id,
    ACQ_SPARQL_FUNCTIONS(ACQ_SPARQL_FUNCTION_ID)
#undef ACQ_SPARQL_FUNCTION_ID
} acq_sparql_op;

typedef struct acq_sparql_group acq_sparql_group;

typedef struct acq_sparql_expression {
    acq_sparql_op op;
    acq_input_place place;
    acq_sparql_term term;
    acq_sparql_group *group; /* EXISTS, NOT_EXISTS */
    uint32_t depth;          /* of the tree, with the groups in it */
    struct acq_sparql_expression *children, *next;
} acq_sparql_expression;

typedef struct acq_sparql_row {
    acq_sparql_term *values; /* one for each variable */
    struct acq_sparql_row *next;
} acq_sparql_row;

typedef enum acq_element_kind {
    ACQ_ELEMENT_TRIPLE,
    ACQ_ELEMENT_GROUP,
    ACQ_ELEMENT_UNION,
    ACQ_ELEMENT_MINUS,
    ACQ_ELEMENT_FILTER,
    ACQ_ELEMENT_VALUES,
    ACQ_ELEMENT_GRAPH,
} acq_element_kind;

typedef struct acq_sparql_element {
    acq_element_kind kind;
    acq_input_place place;
    acq_sparql_term subject, object;   /* TRIPLE; GRAPH: subject is the name of the graph */
    acq_sparql_path *path;             /* TRIPLE */
    acq_sparql_group *groups;          /* GROUP, MINUS, GRAPH: one; UNION: two or more */
    acq_sparql_expression *expression; /* FILTER */
    acq_sparql_term *variables;        /* VALUES; no variable twice */
    acq_sparql_row *rows;              /* VALUES */
    struct acq_sparql_element *next;
} acq_sparql_element;

struct acq_sparql_group {
    acq_input_place place;
    acq_sparql_element *elements; /* none: one empty solution */
    uint32_t depth;               /* of the deepest expression in it */
    acq_sparql_group *next;       /* of a UNION */
};

typedef struct acq_sparql_order {
    bool is_descending;
    acq_sparql_expression *expression;
    struct acq_sparql_order *next;
} acq_sparql_order;

typedef struct acq_sparql_name {
    const char *text; /* without ? */
    size_t length;
    acq_input_place place;
    bool is_blank; /* a blank node of a pattern, or made for a path */
} acq_sparql_name;

/* FROM and FROM NAMED: the graphs that a query is about; none: all of them. */
typedef struct acq_sparql_source {
    bool is_named;
    acq_sparql_term graph;
    struct acq_sparql_source *next;
} acq_sparql_source;

typedef enum acq_sparql_form {
    ACQ_FORM_SELECT,
    ACQ_FORM_ASK,
    ACQ_FORM_CONSTRUCT,
} acq_sparql_form;

typedef struct acq_sparql_query {
    acq_arena arena;
    acq_sparql_form form;
    acq_input_place place; /* of SELECT, ASK, CONSTRUCT */
    bool is_distinct, is_star;
    acq_sparql_term *selected;     /* SELECT: in order; of a star those of patterns, as they occur */
    acq_sparql_element *construct; /* CONSTRUCT: TRIPLE elements whose path is LINK or VARIABLE */
    acq_sparql_source *sources;
    bool has_graphs; /* FROM or GRAPH occurs */
    acq_input_place graphs_place;
    acq_sparql_group *where;
    acq_sparql_order *order;
    bool has_limit;
    uint64_t limit, offset;
    acq_sparql_name *names; /* of variables */
    uint32_t n_variables;
    size_t variables_capacity;
} acq_sparql_query;

/* text has passed acq_input_check. What SPARQL has and anycq does not is ACQ_ERR_PARSE with the
 * construct's name. Linear in the text. */
acq_status acq_sparql_parse(const char *text, size_t length, acq_sparql_query **out,
                            acq_error *error);
void acq_sparql_query_free(acq_sparql_query *query);

/* ---- formula ----
 *
 * The existential formula of a SPARQL query, where it has one.
 *
 * SPARQL's variables may be unbound in a solution, ours never are. The two agree when every
 * variable that is selected or filtered is bound by a pattern in every solution of its group; what
 * does not agree is ACQ_ERR_PARSE, and the message names it. */

/* What the formula's answers, which are a set, leave open of SPARQL's solutions. */
typedef struct acq_formula_traits {
    bool may_repeat;  /* SPARQL may give a solution several times */
    bool is_negated;  /* NOT EXISTS, MINUS or != occurs */
    bool is_compared; /* two variables are compared: among literals values count, not spellings */
} acq_formula_traits;

/* Of the pattern and the selection; order, limit and offset are left to the caller. */
acq_status acq_sparql_make_formula(const acq_sparql_query *query, acq_query **out,
                                   acq_formula_traits *traits, acq_error *error);

#endif
