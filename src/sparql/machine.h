/* machine.h - inside the room: the plan of a query, and what runs it.
 *
 * A plan is a list of steps for each group. Evaluation is depth first: a step binds variables of
 * the one row there is, hands on to the next step, and takes the bindings back. So memory is that
 * of the row, and a LIMIT ends the work early. What cannot be pushed a row into (MINUS, and groups
 * whose filters must not see the variables outside) is evaluated once and kept.
 *
 *   row    [ ?x | ?y | ... ]   a term each, or ACQ_NO_ID: unbound
 *   base   what row is at the start of a group: nothing, or inside EXISTS the solution at hand */
#ifndef ACQ_SPARQL_MACHINE_H
#define ACQ_SPARQL_MACHINE_H

#include "base/budget.h"
#include "base/text.h"
#include "base/types.h"
#include "query/sparql/syntax.h"
#include "sparql/evaluate.h"
#include "sparql/value.h"

/* ---- expression ----
 *
 * Expressions of SPARQL, evaluated for one solution. */

/* ---- pattern ----
 *
 * Regular expressions of XPath, which SPARQL's regex takes, by way of PCRE2.
 *
 * The pattern is read by XPath's grammar and written anew for PCRE2, so that both mean the same:
 * what XPath does not have ((?...), \b, ...) is an error of the pattern, what PCRE2 cannot say
 * (classes that are subtracted, \i, \c, blocks) is refused. */

typedef struct acq_pattern acq_pattern;

/* *out NULL with ACQ_OK: pattern or flags are no XPath. ACQ_ERR_LIMIT: refused, *reason says what;
 * lives for ever. */
acq_status acq_pattern_new(const char *text, size_t length, const char *flags, size_t n_flags,
                           acq_pattern **out, const char **reason);
void acq_pattern_free(acq_pattern *pattern);

/* Was it made of these? */
bool acq_pattern_is(const acq_pattern *pattern, const char *text, size_t length, const char *flags,
                    size_t n_flags);

/* 1: it matches somewhere, 0: it does not, -1: it takes too long to tell. */
int acq_pattern_match(acq_pattern *pattern, const char *text, size_t length);

/* ---- expression ---- */

/* Where an expression finds values, and whether a pattern has a solution. */
typedef struct acq_expression_scope {
    acq_value_room room;
    /* The value of a variable or constant; ERROR: unbound. */
    acq_value (*get_term)(void *context, const acq_sparql_term *term);
    bool (*exists)(void *context, const acq_sparql_expression *e);
    void *context;
    acq_pattern *pattern; /* the last one used, owned; NULL: none */
} acq_expression_scope;

/* scope->room.failed tells whether the result may be used. */
acq_value acq_expression_evaluate(acq_expression_scope *scope, const acq_sparql_expression *e);
void acq_expression_scope_deinit(acq_expression_scope *scope);

/* ---- machine ---- */

enum { ACQ_PLAN_MOST_STEPS = 4000 }; /* evaluation recurs once for each */

typedef struct acq_plan_end {
    bool is_variable;
    uint32_t id; /* variable, or term */
} acq_plan_end;

typedef struct acq_plan_path {
    acq_path_kind kind;
    acq_rel relation;                  /* LINK; ACQ_NO_ID: the graph has none */
    acq_plan_end variable;             /* VARIABLE */
    struct acq_plan_path *children;    /* */
    struct acq_plan_path *next, *last; /* of the parent's children; last: of own ones */
    struct acq_plan_path *previous;
} acq_plan_path;

/* Solutions that were kept: n rows of the variables `columns`. */
typedef struct acq_plan_rows {
    uint32_t *cells;
    size_t n, capacity;
    uint64_t epoch; /* base that they belong to; 0: not made */
} acq_plan_rows;

typedef struct acq_plan_group acq_plan_group;

typedef struct acq_plan_step {
    acq_element_kind kind;
    acq_plan_end subject, object;            /* TRIPLE; GRAPH: subject is its name */
    acq_plan_path *path;                     /* TRIPLE */
    acq_plan_group *groups;                  /* GROUP, UNION, MINUS, GRAPH */
    bool is_pushed;                          /* GROUP, UNION, GRAPH: rows go through it */
    const acq_sparql_expression *expression; /* FILTER */
    acq_plan_group *exists;                  /* FILTER: patterns in it, in a list */
    uint32_t *columns;                       /* VALUES: variables, and rows of terms */
    uint32_t n_columns;
    acq_plan_rows rows;
    struct acq_plan_step *next;
} acq_plan_step;

struct acq_plan_group {
    acq_plan_step *steps;
    uint64_t *certain, *possible; /* variables that its solutions bind, always and at all */
    uint32_t *columns;            /* the possible ones */
    uint32_t n_columns;
    const acq_plan_end *graph;               /* of a GRAPH: its name; else NULL */
    const acq_sparql_expression *expression; /* of an EXISTS */
    uint32_t *base;                          /* of an EXISTS: room for the solution at hand */
    acq_plan_rows rows;                      /* when it is kept */
    acq_plan_group *next;
};

/* The facts that patterns are matched with: those of some named graphs, or all. */
typedef struct acq_active {
    bool is_all;
    const uint32_t *graphs; /* in the names of quads */
    size_t n;
} acq_active;

/* Where a group goes on when its steps are through. */
typedef struct acq_plan_after {
    const acq_plan_step *step;
    const struct acq_plan_after *outer;
    const acq_active *active; /* behind a GRAPH: what is matched there; else NULL: no other */
    uint64_t epoch;           /* behind a GRAPH */
    bool (*sink)(void *context); /* not NULL: a whole solution is there; false ends the work */
    void *context;
} acq_plan_after;

typedef struct acq_machine {
    const acq_sparql_query *query;
    const acq_graph *graph;
    acq_terms *terms;
    acq_arena arena;   /* of the plan */
    acq_arena scratch; /* of expressions */
    acq_budget budget;
    acq_error *error;
    acq_status status; /* not ACQ_OK: the work has ended with it */
    acq_expression_scope scope;
    acq_plan_group *where, *exists; /* all EXISTS of the query are in a list */
    uint32_t *row, *base;
    uint32_t n_variables, n_words; /* of a set of variables */
    uint64_t epoch, n_epochs;
    size_t kept_bytes;
    const acq_quads *quads;      /* NULL: names of graphs were not kept */
    acq_active active, named;    /* named: what GRAPH ranges over */
    uint64_t *nodes;             /* entities that have a fact; NULL: not asked for yet */
    const uint32_t *nodes_of;    /* active.graphs that they were asked for */
    size_t n_steps;
    bool in_pushed;    /* the groups inside the one at hand are known to take rows of the outside */
    acq_text *warning; /* the first unknown name goes here */
} acq_machine;

/* plan.c */

/* The graph of this name, also by the IRI that stands for a plain name; ACQ_NO_ID: none. */
uint32_t acq_machine_find_graph(const acq_machine *machine, const char *key, size_t length);
acq_status acq_plan_make(acq_machine *machine);
void acq_plan_deinit(acq_machine *machine);

/* match.c: binds what a triple finds and goes on; false: the work has ended. */
bool acq_machine_match(acq_machine *machine, const acq_plan_step *step,
                       const acq_plan_after *after);

/* evaluate.c */
bool acq_machine_run(acq_machine *machine, const acq_plan_step *step, const acq_plan_after *after);
bool acq_machine_fail(acq_machine *machine, acq_status status); /* false */

static inline bool acq_bits_has(const uint64_t *bits, uint32_t i)
{
    return (bits[i >> 6] >> (i & 63) & 1) != 0;
}

static inline void acq_bits_set(uint64_t *bits, uint32_t i)
{
    bits[i >> 6] |= 1ULL << (i & 63);
}

#endif
