/* query.h - a query as the user wrote it: one tree for every syntax.
 *
 *   Q(x) := exists y. directed(y, "Oppenheimer") & !born_in(y, x)
 *
 *   variables  x y           free ones first, in the head's order, then the others as they occur
 *   constants  Oppenheimer   names, with the entity id once bound to a graph
 *   relations  directed, born_in
 *   root       AND ─┬─ ATOM directed(y, #0)
 *                   └─ NOT ── ATOM born_in(y, x)
 *
 * Everything lives in the query's arena. Nodes keep the place in the text they came from. */
#ifndef ACQ_QUERY_QUERY_H
#define ACQ_QUERY_QUERY_H

#include "base/memory.h"
#include "graph/graph.h"

enum {
    ACQ_MOST_ATOMS = 100000,  /* atoms in one query */
    ACQ_MOST_NESTING = 1000,  /* depth of parentheses and negations */
    ACQ_MOST_TEXT = 16 << 20, /* bytes of query text */
};

typedef enum acq_node_kind {
    ACQ_NODE_ATOM,  /* relation(left, right) */
    ACQ_NODE_EQUAL, /* left = right; x != y is NOT of this */
    ACQ_NODE_NOT,   /* one child */
    ACQ_NODE_AND,   /* any number of children; none: true */
    ACQ_NODE_OR,    /* any number of children; none: false */
} acq_node_kind;

typedef struct acq_term {
    bool is_variable;
    uint32_t id; /* index into variables or constants of the query */
} acq_term;

typedef struct acq_node {
    acq_node_kind kind;
    uint32_t line, column;
    uint32_t relation; /* ATOM: index into relations */
    acq_term left, right;
    struct acq_node **children;
    uint32_t n_children;
} acq_node;

typedef struct acq_query_name {
    const char *text; /* as the user means it: unquoted, unescaped */
    size_t length;
    uint32_t line, column; /* first occurrence */
    bool is_inverse;       /* relations: written inverse(name) */
    bool is_bare;          /* constants: written as a bare word at its first occurrence */
    bool is_id;            /* benchmark groundings: `id` is given and needs no name */
    uint32_t id; /* entity or relation id once bound (inverse applied); ACQ_NO_ID before */
} acq_query_name;

typedef struct acq_query {
    acq_arena arena;
    const char *name; /* "Q" unless the head says otherwise */
    acq_query_name *variables;
    uint32_t n_variables, n_free;
    acq_query_name *constants;
    uint32_t n_constants;
    acq_query_name *relations;
    uint32_t n_relations;
    acq_node *root;
    uint64_t limit;         /* SPARQL LIMIT; 0: none given */
    uint32_t n_atoms;       /* ATOM and EQUAL nodes */
    bool may_repeat;        /* SPARQL gives more than this set of answers */
    bool is_compared;       /* SPARQL compares two variables by value */
    bool is_by_key;         /* SPARQL: names are keys, never labels */
    const char *hint;       /* for the user, from binding, in the arena; NULL: none */
    const acq_graph *graph; /* that it was bound to; NULL: none, or its ids come from a benchmark */
} acq_query;

/* Is it SPARQL, by its first words? */
bool acq_query_is_sparql(const char *text, size_t length);

/* By its key, which ends with a NUL: in RDF no label counts. ACQ_NO_ID: unknown. */
acq_ent acq_query_find_key(const acq_graph *graph, const char *key, size_t length);
acq_rel acq_query_find_relation_key(const acq_graph *graph, const char *key, size_t length);

/* Parses the text syntax or SPARQL (told apart by the first word: SELECT, ASK, PREFIX, BASE). */
acq_status acq_query_parse(const char *text, size_t length, acq_query **out, acq_error *error);
void acq_query_free(acq_query *query);

/* Looks every name up in the graph, which then is query->graph. An unknown one is ACQ_ERR_NAME with
 * its place and the nearest known name. A variable that happens to be written like a known entity
 * gets `hint` filled, if hint is not NULL, with one sentence (caller's buffer), else it is emptied.
 */
acq_status acq_query_bind(acq_query *query, const acq_graph *graph, char *hint, size_t hint_size,
                          acq_error *error);

/* The tuple of a check: one name per free variable, as it stands or in < >, into out[0..n_free). A
 * wrong number of names is ACQ_ERR_USAGE and lists the free variables; an unknown name is
 * ACQ_ERR_NAME with the nearest known one. */
acq_status acq_query_find_values(const acq_query *query, const acq_graph *graph,
                                 const char *const *names, size_t n_names, acq_ent *out,
                                 acq_error *error);

/* ---- benchmark syntax ----
 *
 * The formula syntax of the published query files, and its groundings.
 *
 *   ((r1(s1,e1))&(r2(e1,f1)))&(!(r3(s2,f1)))      {"r1": 12, "r2": 7, "r3": 30, "s1": 5, "s2": 5}
 *
 * r relation, s constant, e existential, f free; a number follows. Names stay symbolic until a
 * grounding gives them ids, which costs one look-up per name and can be repeated at will. */

/* Free variables come in the order of their numbers, existential ones as they occur. */
acq_status acq_query_parse_benchmark(const char *formula, size_t length, acq_query **out,
                                     acq_error *error);

/* Sets is_id and id of every constant and relation, from parallel arrays of a handful of names
 * (each look-up is a linear scan). Any query can be grounded, again and again; two names may get
 * the same id. A name without an id is ACQ_ERR_NAME, and the query keeps its earlier grounding.
 * acq_query_bind then checks the ids against a graph. */
acq_status acq_query_ground_pairs(acq_query *query, const char *const *names, const uint32_t *ids,
                                  size_t n, acq_error *error);

/* ---- readings ----
 *
 * Which of several parallel atoms count: the three readings of a benchmark formula.
 *
 *   r1(x,y) & r2(y,x) & r3(x,y)     written        all three
 *                                   pair           r3(x,y): the last of the unordered pair {x,y}
 *                                   ordered-pair   r2(y,x) & r3(x,y): the last of each (head, tail)
 *
 * A negated atom is an atom of its pair too. Terms are the formula's own: s1 and s2 differ even
 * when both are grounded to one id. Equalities are no atoms and all stay. */

typedef enum acq_atoms_reading {
    ACQ_ATOMS_WRITTEN,
    ACQ_ATOMS_PAIR,
    ACQ_ATOMS_ORDERED_PAIR,
    ACQ_N_ATOMS_READINGS
} acq_atoms_reading;

/* "written", "pair", "ordered-pair"; ACQ_N_ATOMS_READINGS when unknown. */
acq_atoms_reading acq_atoms_reading_find(const char *name);
const char *acq_atoms_reading_get_name(acq_atoms_reading reading);

/* Is the reading defined for this query? ACQ_ERR_INPUT otherwise, with the place. */
acq_status acq_query_check_reading(const acq_query *query, acq_atoms_reading reading,
                                   acq_error *error);

/* A new query with the atoms that count; groundings and bound ids are kept. The last two readings
 * exist only for conjunctions of atoms, negated atoms and equalities (ACQ_ERR_INPUT otherwise).
 * Expected cost: linear in the number of atoms. */
acq_status acq_query_apply_reading(const acq_query *query, acq_atoms_reading reading,
                                   acq_query **out, acq_error *error);

#endif
