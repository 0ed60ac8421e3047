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

#endif
