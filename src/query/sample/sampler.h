/* sampler.h - training queries drawn from a graph: small shapes and hub-like queries.
 *
 * Every query is read off facts of the graph, so it has an answer there; negated atoms are drawn
 * so that the answer it was read off stays one. Variables are all existential: a training query
 * asks for any satisfying assignment. Several graphs may be mixed: each query comes from one.
 *
 *   1p 2p 3p 2i 3i 2in 3in inp pin     as in the paper, table "Simple query types";
 *   pi ip                              these two it only asks
 *   hub                                a random connected set of entities around a few hubs, all
 *                                      facts among them (or a share), leaves likely constants
 *                                      (paper, "Base large query generation", any size) */
#ifndef ACQ_QUERY_SAMPLE_SAMPLER_H
#define ACQ_QUERY_SAMPLE_SAMPLER_H

#include "base/hash.h"
#include "graph/graph.h"
#include "query/problem.h"

/* name, positive atoms, negated atoms */
#define ACQ_SHAPES(X)                                                                              \
    X(1p, 1, 0)                                                                                    \
    X(2p, 2, 0)                                                                                    \
    X(3p, 3, 0)                                                                                    \
    X(2i, 2, 0)                                                                                    \
    X(3i, 3, 0)                                                                                    \
    X(2in, 1, 1)                                                                                   \
    X(3in, 2, 1)                                                                                   \
    X(inp, 2, 1)                                                                                   \
    X(pin, 2, 1)                                                                                   \
    X(pi, 3, 0)                                                                                    \
    X(ip, 3, 0)

enum { ACQ_N_TRAINING_SHAPES = 9 }; /* the first ones, on which the paper trains */

/* How often a training asks for each of the first nine shapes: all alike, or as BetaE's files have
 * them, ten of each positive one for one of each negated one. */
typedef enum acq_shape_mix { ACQ_MIX_EVEN, ACQ_MIX_BETAE } acq_shape_mix;

typedef enum acq_shape_id {
#define ACQ_SHAPE_ID(name, n_positive, n_negated) ACQ_SHAPE_##name,
    ACQ_SHAPES(ACQ_SHAPE_ID)
#undef ACQ_SHAPE_ID
        ACQ_N_SHAPES
} acq_shape_id;

const char *acq_shape_get_name(acq_shape_id shape);
acq_shape_id acq_shape_draw(acq_shape_mix mix, acq_random *random); /* a training shape */

enum { ACQ_HUB_MOST_TERMS = 1000 };

/* How hub-like queries are drawn. */
typedef struct acq_hub_params {
    uint32_t least_terms, most_terms; /* entities in the pattern: 2 to ACQ_HUB_MOST_TERMS */
    uint32_t most_hubs;
    double constants;  /* a leaf-like entity w becomes a constant with this / degree(w)^2 */
    double leaves_out; /* probability that an entity with one neighbour is not taken */
    uint32_t most_atoms;
} acq_hub_params;

#define ACQ_HUB_DEFAULT                                                                            \
    ((acq_hub_params){.least_terms = 3,                                                            \
                      .most_terms = 14,                                                            \
                      .most_hubs = 4,                                                              \
                      .constants = .6,                                                             \
                      .leaves_out = .9,                                                            \
                      .most_atoms = 100})

typedef struct acq_sampler acq_sampler;

/* Opens all relations of the graph, which must outlive the sampler and have a fact. O(facts). */
acq_status acq_sampler_new(const acq_graph *graph, acq_sampler **out, acq_error *error);
void acq_sampler_free(acq_sampler *sampler);

/* A query, from the random numbers alone: the same numbers, the same query, at any thread. When a
 * shape does not fit the place that was drawn, another place is tried; a graph that has no such
 * query at all gives a smaller shape (a graph with one fact: 1p). *out freed by
 * acq_problem_free. answer, if not NULL, has room for most_terms or 4 values and gets the
 * assignment that the query was read off. */
acq_status acq_sampler_draw_shape(const acq_sampler *sampler, acq_shape_id shape,
                                  acq_random *random, acq_problem **out, acq_ent *answer,
                                  acq_error *error);
acq_status acq_sampler_draw_hub(const acq_sampler *sampler, const acq_hub_params *params,
                                acq_random *random, acq_problem **out, acq_ent *answer,
                                acq_error *error);

#endif
