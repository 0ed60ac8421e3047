/* step.h - inside the policy search: the matrices of one step of the network.
 *
 * One block of memory, cut into matrices of n_rows, n_nodes or n_terms rows. A step that is not
 * kept for backward does without the inputs of layer norms and the places of maxima. */
#ifndef ACQ_SEARCH_POLICY_STEP_H
#define ACQ_SEARCH_POLICY_STEP_H

#include "search/policy/network.h"

/* name, count of rows, columns in terms of d; what every step has */
#define ACQ_STEP_MATRICES(X)                                                                       \
    X(h, rows, d)      /* state before */                                                          \
    X(e1, rows, d)     /* E: hidden layer */                                                       \
    X(x, rows, d)      /* E */                                                                     \
    X(m, rows, 4 * d)  /* M_V: four messages */                                                    \
    X(y, rows, d)      /* x + maximum of the literals' messages */                                 \
    X(u1, rows, d)     /* U_V: hidden layer */                                                     \
    X(z, rows, d)      /* U_V + x, then + the term's */                                            \
    X(gi, rows, 3 * d) /* GRU: from the input */                                                   \
    X(gh, rows, 3 * d) /* GRU: from the state */                                                   \
    X(out, rows, d)    /* state after */                                                           \
    X(o0, rows, d)     /* O: layer norm */                                                         \
    X(o1, rows, d)     /* O: hidden layer */                                                       \
    X(logits, rows, 1)                                                                             \
    X(node_y, nodes, d)     /* maximum of the values' messages */                                  \
    X(node_1, nodes, d)     /* M_R: hidden layer */                                                \
    X(node_m, nodes, 4 * d) /* M_R: four messages */                                               \
    X(term_y, terms, d)     /* maximum of z */                                                     \
    X(term_1, terms, d)     /* U_X: hidden layer */                                                \
    X(term_z, terms, d)     /* U_X */

/* What backward needs besides. */
#define ACQ_STEP_KEPT(X)                                                                           \
    X(e2, rows, d) /* before layer norms ... */                                                    \
    X(m0, rows, 4 * d)                                                                             \
    X(u2, rows, d)                                                                                 \
    X(node_2, nodes, 4 * d)                                                                        \
    X(term_2, terms, d)                                                                            \
    X(e_stats, rows, 2) /* ... and their means and deviations */                                   \
    X(m_stats, rows, 2)                                                                            \
    X(u_stats, rows, 2)                                                                            \
    X(o_stats, rows, 2)                                                                            \
    X(node_stats, nodes, 2)                                                                        \
    X(term_stats, terms, 2)                                                                        \
    X(gates, rows, 3 * d)                                                                          \
    X(dout, rows, d) /* gradient of out, from later steps */

/* Places of maxima: for a row node * 4 + label, for a node row * 4 + label, for a term a row. */
#define ACQ_STEP_PLACES(X)                                                                         \
    X(row_from, rows, d)                                                                           \
    X(node_from, nodes, d)                                                                         \
    X(term_from, terms, d)                                                                         \
    X(row_terms, rows, 1) /* copies of the batch, which changes before backward comes */           \
    X(origins, rows, 1)                                                                            \
    X(assigned, rows, 1)

struct acq_step {
    size_t n_rows, n_nodes, n_terms;
    float *block;
    size_t capacity; /* floats */
#define ACQ_STEP_FLOATS(name, count, columns) float *name;
    ACQ_STEP_MATRICES(ACQ_STEP_FLOATS)
    ACQ_STEP_KEPT(ACQ_STEP_FLOATS)
#undef ACQ_STEP_FLOATS
#define ACQ_STEP_NUMBERS(name, count, columns) uint32_t *name;
    ACQ_STEP_PLACES(ACQ_STEP_NUMBERS)
#undef ACQ_STEP_NUMBERS
};

#endif
