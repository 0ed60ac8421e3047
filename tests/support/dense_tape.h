/* dense_tape.h - the policy network over all value nodes in double, on a tape: gradients through
 * time by autodiff.h. Written from the equations (paper, appendix "Architecture", with the layers
 * its authors used); for small graphs. */
#ifndef ACQ_TESTS_SUPPORT_DENSE_TAPE_H
#define ACQ_TESTS_SUPPORT_DENSE_TAPE_H

#include "support/autodiff.h"
#include "support/dense_graph.h"
#include "support/dense_weights.h"

typedef struct dense_tape {
    tape *tape;
    const dense_graph *graph;
    const dense_weights *given;
    uint32_t dim;
    tape_var weights[ACQ_N_POLICY_TENSORS];
    tape_var hidden; /* values x d */
} dense_tape;

/* Graph and weights must outlive it. */
void dense_tape_init(dense_tape *t, const dense_weights *weights, const dense_graph *graph);
void dense_tape_deinit(dense_tape *t);

/* One step under the graph's labels; returns the logits, one row per value node. */
tape_var dense_tape_step(dense_tape *t);

/* A new tape that goes on from the hidden states: for long searches without gradients. */
void dense_tape_forget(dense_tape *t);

/* log p of every value, clipped within each term's domain. */
tape_var dense_tape_get_log_p(dense_tape *t, tape_var logits);

/* sum over variables of log(p(value) + floor) for the graph's current assignment. */
tape_var dense_tape_get_log_choice(dense_tape *t, tape_var log_p, double floor);

#endif
