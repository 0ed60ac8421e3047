/* dense_graph.h - the computational graph of a query as the paper draws it (section 4.1): a node
 * for every value of every term, and edge labels value by value, from their definitions.
 *
 * Nothing of src/search is used: this and dense_policy.h are the oracle of the policy search.
 *   terms   the variables that occur, by number, then the constants, each entity once
 *   nodes   one per top-level literal as it is written, and one per clause; "false" has none
 *   PE      can the node hold with z = a? A positive atom: a is at that end of some link that lets
 *           it hold (r(z,z): r(a,a) does); without z: some link does. Negated atoms and
 *           (in)equalities: 1. A clause: its tree over these.
 *   LE      does the node hold when z alone is changed to a?
 * A literal holds when its score reaches the threshold (predict/predictor.h). */
#ifndef ACQ_TESTS_SUPPORT_DENSE_GRAPH_H
#define ACQ_TESTS_SUPPORT_DENSE_GRAPH_H

#include "predict/predictor.h"
#include "query/problem.h"

typedef enum dense_pe { DENSE_PE_EXACT, DENSE_PE_OBSERVED, DENSE_PE_NONE } dense_pe;

typedef struct dense_term {
    bool is_variable;
    uint32_t id; /* of the variable or the entity */
    uint32_t n_values;
    size_t first_value; /* values of all terms have one numbering */
    uint32_t n_edges;
    uint32_t *edges;              /* nodes that mention the term */
    uint8_t *potentials, *labels; /* n_edges x n_values: PE; 2 PE + LE */
} dense_term;

typedef struct dense_graph {
    const acq_problem *problem;
    acq_scoring scoring;
    dense_pe pe;
    uint32_t n_terms;
    dense_term *terms;
    acq_ent *values;          /* of the terms: the assignment */
    uint32_t *variable_terms; /* of the problem's variables; ACQ_NO_ID: does not occur */
    uint32_t n_nodes;
    const acq_branch **nodes;
    acq_branch *literals;                /* the nodes of top-level literals */
    size_t n_values;                     /* value nodes */
    size_t *firsts;                      /* first value of each term; n_terms + 1 */
    const acq_links **links, **pe_links; /* by relation */
} dense_graph;

/* Problem and predictor must outlive it. Memory: a byte or two per edge and value. */
dense_graph *dense_graph_new(const acq_problem *problem, const acq_predictor *predictor,
                             const acq_scoring *scoring, dense_pe pe);
void dense_graph_free(dense_graph *graph);

/* Assigns the variables; values are numbered like the problem's. */
void dense_graph_assign(dense_graph *graph, const acq_ent *values);

/* Value number of the entity that a term stands for now. */
size_t dense_graph_get_chosen(const dense_graph *graph, uint32_t term);

/* The value number of an entity in the domain of a term. */
size_t dense_graph_get_value(const dense_graph *graph, uint32_t term, acq_ent entity);

#endif
