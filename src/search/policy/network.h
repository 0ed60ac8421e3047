/* network.h - one step of the policy network on classes of values, forward and backward.
 *
 * A row is a class. Rows of several walks stand one after the other in one batch, and so do
 * their terms and nodes, so that small queries share products. With W = x w', all of it is
 *   x = E([h, assigned])        m = M_V(x)                                    rows
 *   y(node) = max over (row, edge) of m(row, label)      n = M_R(y)           nodes
 *   y(row)  = max over its edges of n(node, label)       z = U_V(x + y) + x   rows
 *   t = U_X(max over the rows of a term of z)                                 terms
 *   h' = G(h, z + t)            o = O(h')                                     rows
 * Max over a class needs one member; sizes enter in the softmax only. */
#ifndef ACQ_SEARCH_POLICY_NETWORK_H
#define ACQ_SEARCH_POLICY_NETWORK_H

#include "search/policy/model.h"
#include "search/policy/walk.h"

/* Where the rows, terms and nodes of each walk are in a batch, and their labels. */
typedef struct acq_rows {
    size_t n_rows, n_terms, n_nodes;
    size_t rows_capacity, terms_capacity, edges_capacity;
    uint32_t *terms;        /* of each row */
    uint32_t *origins;      /* of each row: row of the step before; ACQ_NO_ID: the start */
    const uint8_t **labels; /* of each row, borrowed from the walk until its next set */
    uint8_t *assigned;      /* of each row */
    uint32_t *first_edges;  /* of each term, n_terms + 1 */
    uint32_t *edge_nodes;
    size_t n_edges;
} acq_rows;

void acq_rows_deinit(acq_rows *batch);
void acq_rows_clear(acq_rows *batch);
/* Appends the rows of a walk; its row 0 had the number first_before in the step before
 * (ACQ_NO_ID: there was none). Its first row here is n_rows before the call. */
acq_status acq_rows_add(acq_rows *batch, const acq_walk *walk, uint32_t first_before);

/* What one step computes; kept for backward when the step is recorded. */
typedef struct acq_step acq_step;

acq_status acq_step_new(acq_step **out);
void acq_step_free(acq_step *step);

/* Memory that the backward passes of one thread share; zeroed before its first use. */
typedef struct acq_scratch {
    float *floats;
    size_t capacity;
    uint32_t *numbers;
    size_t numbers_capacity;
} acq_scratch;

void acq_scratch_deinit(acq_scratch *scratch);

/* before: the step that the origins refer to; NULL in the first step. keep: backward will come.
 * A step is never its own `before`. */
acq_status acq_step_forward(acq_step *step, const acq_policy *policy, const acq_rows *batch,
                            const acq_step *before, bool keep);

const float *acq_step_get_logits(const acq_step *step); /* raw, one per row */
size_t acq_step_get_bytes(const acq_step *step);
double acq_step_count_flops(const acq_policy *policy, const acq_rows *batch);

/* dlogits per row; the gradient of h' that later steps left is taken into account; that of h is
 * left in `before` (or in the gradient of start). Rows whose origin is ACQ_NO_ID began here. Adds
 * to gradient[parameters.n]. Steps go backward in reverse order, each once. */
acq_status acq_step_backward(acq_step *step, const acq_policy *policy, acq_step *before,
                             const float *dlogits, float *gradient, acq_scratch *scratch);

/* ---- the matrices of a step: for forward.c and backward.c ----
 *
 * One block of memory, cut into matrices of n_rows, n_nodes or n_terms rows. A step that is not
 * kept for backward does without the inputs of layer norms and the places of maxima. */

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
