/* pass.h - the six layers that both networks of ULTRA consist of, forward and backward.
 *
 * On n nodes, with the first state h_0 = boundary (one vector at one node, 0 elsewhere):
 *
 *   m_l = boundary + sum over edges of vectors_l[relation] * h_l[source]       [n x 64]
 *   z_l = linear [h_l, m_l] + bias    y_l = ReLU(norm(z_l))    h_{l+1} = h_l + y_l
 *
 * h and m of a layer lie side by side in x_l [n x 128], so that linear is one product. Backward
 * walks the reversed edges, whose gradient is a sum by receiving nodes again.
 *
 * Two layers are smaller than n nodes: in the first, all nodes but the start and its neighbours
 * have h = m = 0, so that one row stands for them; of the last, only the wanted nodes are computed.
 * Their rows are gathered into a compact matrix, and what comes back is scattered. Everything is
 * done in the order of the edges by one thread, so it repeats to the last bit. */
#ifndef ACQ_MODELS_ULTRA_PASS_H
#define ACQ_MODELS_ULTRA_PASS_H

#include "models/edges.h"
#include "models/ultra/ultra.h"

/* The weights of a model laid out for products, in both directions. */
typedef struct acq_ultra_packed {
    acq_packed linear[2][ACQ_ULTRA_LAYERS], linear_back[2][ACQ_ULTRA_LAYERS]; /* relation, entity */
    acq_packed project_0[ACQ_ULTRA_LAYERS], project_0_back[ACQ_ULTRA_LAYERS];
    acq_packed project_2[ACQ_ULTRA_LAYERS], project_2_back[ACQ_ULTRA_LAYERS];
    acq_packed score_0, score_0_back;
} acq_ultra_packed;

acq_status acq_ultra_packed_init(acq_ultra_packed *packed);
void acq_ultra_packed_deinit(acq_ultra_packed *packed);
void acq_ultra_packed_fill(acq_ultra_packed *packed, const acq_ultra *model);

typedef enum acq_ultra_net { ACQ_RELATION_NET, ACQ_ENTITY_NET } acq_ultra_net;

/* What a forward pass keeps for its backward pass. */
typedef struct acq_ultra_stack {
    const acq_kernels *kernels;
    const acq_ultra *model;
    const acq_ultra_packed *packed;
    acq_ultra_net net;
    size_t most;                /* nodes there is room for */
    float *x[ACQ_ULTRA_LAYERS]; /* [n x 128] */
    float *first, *last;        /* compact rows of the first and the last x */
    float *z[ACQ_ULTRA_LAYERS], *y[ACQ_ULTRA_LAYERS], *stats[ACQ_ULTRA_LAYERS];
    float *out;          /* [wanted x 64], the last states */
    float *dout;         /* [wanted x 64], the gradient by them: the caller's */
    float *dh, *dz, *dx; /* [n x 64], [n + 1 x 64], [n x 128] */
    float *dcompact;     /* [n + 1 x 128] */
    uint32_t *reached;   /* by the first layer: the start and its neighbours */
    size_t n_reached;
    uint8_t *is_reached;
    void *block;
} acq_ultra_stack;

/* One run of the layers. */
typedef struct acq_ultra_run {
    const acq_edges *edges;
    const float *vectors[ACQ_ULTRA_LAYERS]; /* [relations of edges x 64] */
    float *dvectors[ACQ_ULTRA_LAYERS];      /* added to by backward */
    uint32_t start;                         /* where the boundary is */
    const float *boundary;                  /* [64] */
    float *dboundary;                       /* [64], added to by backward; NULL: not wanted */
    const uint32_t *wanted;                 /* distinct nodes whose last states matter */
    size_t n_wanted;
} acq_ultra_run;

acq_status acq_ultra_stack_reserve(acq_ultra_stack *stack, size_t n_nodes, acq_error *error);
void acq_ultra_stack_deinit(acq_ultra_stack *stack); /* a zeroed one is legal */

void acq_ultra_stack_forward(acq_ultra_stack *stack, const acq_ultra_run *run); /* fills out */

/* Of dout; gradient has the layout of the parameters. */
void acq_ultra_stack_backward(acq_ultra_stack *stack, const acq_ultra_run *run, float *gradient);

#endif
