/* set.h - ULTRA's entity network with a fuzzy set in place of the head, as UltraQuery runs it: the
 * boundary of entity i is degrees[i] times the query relation's vector, added again in each layer.
 *
 *   h_0(v) = degrees[v] q      m_l(v) = degrees[v] q + sum over edges of vectors_l[r] * h_l[source]
 *
 * All entities are run, each by itself: equal ones (nodes.h) may have different degrees. Per pass:
 * 6 products of 128 x 64 for each entity, 6 times 64 additions for each edge. */
#ifndef ACQ_MODELS_ULTRA_SET_H
#define ACQ_MODELS_ULTRA_SET_H

#include "models/ultra/pass.h"

/* Of one thread. */
typedef struct acq_ultra_set {
    float *states, *next; /* [entities x 64] */
    uint32_t *nodes;      /* 0, 1, ... */
    void *block;
} acq_ultra_set;

acq_status acq_ultra_set_init(acq_ultra_set *set, uint32_t n_entities);
void acq_ultra_set_deinit(acq_ultra_set *set); /* a zeroed one is legal */

/* vectors: every relation's; projected: the same as each layer uses them; score_bias: of the query
 * relation. edges: of all entities. */
typedef struct acq_ultra_set_run {
    const acq_ultra_network *network;
    const acq_edges *edges;
    const float *query; /* [64] */
    float *const *projected;
    const float *score_bias;
    const float *degrees; /* [entities] */
} acq_ultra_set_run;

/* out: the raw score of each entity as tail. */
void acq_ultra_set_score(acq_ultra_set *set, const acq_ultra_set_run *run, float *out);

#endif
