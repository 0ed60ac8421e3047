/* dense_policy.h - the policy network over all value nodes in single precision, for full graphs:
 * every value of every term is computed, nothing is shared or left out. Plain loops, written from
 * the equations like dense_tape.h.
 *
 * Values of a term stand in tiles of DENSE_TILE, features above one another:
 *
 *   tile   [ feature 0: value 0 .. 31 | feature 1: value 0 .. 31 | ... ]
 *
 * so that compilers turn the loops over a tile into vector instructions. The last tile of a term
 * is filled up with copies of values that take part in no maximum. */
#ifndef ACQ_TESTS_SUPPORT_DENSE_POLICY_H
#define ACQ_TESTS_SUPPORT_DENSE_POLICY_H

#include "support/dense_graph.h"
#include "support/dense_weights.h"

enum { DENSE_TILE = 32 };

typedef struct dense_policy dense_policy;

/* All hidden states are at the start. Graph and weights must outlive it. */
dense_policy *dense_policy_new(const dense_weights *weights, const dense_graph *graph);
void dense_policy_free(dense_policy *policy);

/* One step under the graph's labels. */
void dense_policy_step(dense_policy *policy);

/* Raw logits, one per value node. */
const float *dense_policy_get_logits(const dense_policy *policy);

/* p(value) from logits: clipped within each term's domain; one per value node. */
void dense_get_probabilities(const dense_graph *graph, const float *logits, double *p);

#endif
