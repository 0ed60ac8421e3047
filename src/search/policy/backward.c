/* backward.c - the gradient of one step, see network.h; forward.c read from its end to its
 * beginning. dX stands for the gradient of the matrix X of network.h.
 *
 * Few rows win a maximum of a node, so the gradient of the values' messages is kept for those
 * rows only: they are compacted before their product. */
#include <string.h>

#include "base/memory.h"
#include "search/policy/network.h"

void acq_scratch_deinit(acq_scratch *scratch)
{
    acq_free(scratch->floats);
    acq_free(scratch->numbers);
    *scratch = (acq_scratch){0};
}

typedef struct pass {
    acq_step *s;
    const acq_policy *policy;
    const acq_kernels *k;
    size_t d;
    float *gradient;             /* of the parameters */
    float *dh, *dx, *dz, *a, *b; /* rows x d */
    float *dgi, *dgh;            /* rows x 3d */
    float *dm, *m0, *mx;         /* rows x 4d, 4d, d: of rows that won a node's maximum */
    float *m_stats;
    float *dnode_m, *node_a, *node_b; /* nodes x 4d, d, d */
    float *term_a, *term_b;           /* terms x d */
    uint32_t *slots, *winners;        /* of rows: place among the winners + 1; rows that won */
    uint32_t n_winners;
} pass;

static float *cut(float *block, size_t *used, size_t n)
{
    size_t begin = *used;
    *used += (n + 15) / 16 * 16;
    return block == NULL ? NULL : block + begin;
}

/* Floats needed; with a block, also points the matrices into it. */
static size_t lay_out(pass *p, float *block)
{
    size_t d = p->d, rows = p->s->n_rows, nodes = p->s->n_nodes, terms = p->s->n_terms, used = 0;
    p->dh = cut(block, &used, rows * d);
    p->dx = cut(block, &used, rows * d);
    p->dz = cut(block, &used, rows * d);
    p->a = cut(block, &used, rows * d);
    p->b = cut(block, &used, rows * d);
    p->dgi = cut(block, &used, rows * 3 * d);
    p->dgh = cut(block, &used, rows * 3 * d);
    p->dm = cut(block, &used, rows * 4 * d);
    p->m0 = cut(block, &used, rows * 4 * d);
    p->mx = cut(block, &used, rows * d);
    p->m_stats = cut(block, &used, rows * 2);
    p->dnode_m = cut(block, &used, nodes * 4 * d);
    p->node_a = cut(block, &used, nodes * d);
    p->node_b = cut(block, &used, nodes * d);
    p->term_a = cut(block, &used, terms * d);
    p->term_b = cut(block, &used, terms * d);
    return used;
}

static acq_status prepare(pass *p, acq_scratch *scratch)
{
    size_t need = lay_out(p, NULL), rows = p->s->n_rows;
    if (need > scratch->capacity) {
        float *floats = acq_alloc(need + need / 4, sizeof *floats);
        if (floats == NULL)
            return ACQ_ERR_MEMORY;
        acq_free(scratch->floats);
        scratch->floats = floats;
        scratch->capacity = need + need / 4;
    }
    if (ACQ_RESERVE(scratch->numbers, scratch->numbers_capacity, 2 * rows) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    lay_out(p, scratch->floats);
    p->slots = scratch->numbers;
    p->winners = scratch->numbers + rows;
    return ACQ_OK;
}

static float *grad(const pass *p, acq_policy_tensor tensor)
{
    return p->gradient + p->policy->parameters.tensors[tensor].offset;
}

/* y = in w' (+ bias): adds to the gradients of w and bias; din, if asked for, = dy w. */
static void product_backward(const pass *p, size_t m, const float *in, acq_policy_tensor weights,
                             bool has_bias, const float *dy, unsigned flags, float *din)
{
    const acq_packed *packed = &p->policy->backward[weights];
    size_t n_out = packed->k, n_in = packed->n;
    size_t ldw = p->policy->parameters.tensors[weights].cols;
    p->k->gemm_weights(m, n_out, n_in, dy, n_out, in, n_in, grad(p, weights), ldw);
    if (has_bias)
        p->k->sum_rows(m, n_out, dy, n_out, grad(p, weights + 1));
    if (din != NULL)
        p->k->gemm(m, dy, n_out, packed, NULL, flags, din, n_in);
}

static void normalise_backward(const pass *p, size_t m, size_t n, const float *in,
                               acq_policy_tensor gain, const float *stats, const float *dy,
                               float *din)
{
    p->k->layer_norm_backward(m, n, in, acq_policy_get(p->policy, gain), stats, dy, din,
                              grad(p, gain), grad(p, gain + 1));
}

/* Of run_mlp: dy [m x n] is overwritten, room is [m x d]; din = gradient of `in`. */
static void mlp_backward(const pass *p, size_t m, const float *in, acq_policy_tensor first,
                         const float *hidden, const float *raw, const float *stats, float *dy,
                         float *room, float *din)
{
    normalise_backward(p, m, p->policy->forward[first + 2].n, raw, first + 3, stats, dy, dy);
    product_backward(p, m, hidden, first + 2, false, dy, 0, room);
    p->k->relu_backward(m * p->d, hidden, room);
    product_backward(p, m, in, first, true, room, 0, din);
}

/* O: what the logits add to dout. */
static void score_backward(const pass *p, const float *dlogits)
{
    acq_step *s = p->s;
    size_t d = p->d, m = s->n_rows;
    const float *last = acq_policy_get(p->policy, ACQ_POLICY_o2_w);
    float *dlast = grad(p, ACQ_POLICY_o2_w);
    for (size_t r = 0; r < m; r++)
        for (size_t i = 0; i < d; i++) {
            p->a[r * d + i] = s->o1[r * d + i] > 0 ? dlogits[r] * last[i] : 0;
            dlast[i] += dlogits[r] * s->o1[r * d + i];
        }
    product_backward(p, m, s->o0, ACQ_POLICY_o1_w, true, p->a, 0, p->b);
    normalise_backward(p, m, d, s->out, ACQ_POLICY_o_g, s->o_stats, p->b, p->a);
    p->k->add(m * d, p->a, s->dout);
}

/* G: dh and dz; s->z is the GRU's input. */
static void update_backward(const pass *p)
{
    acq_step *s = p->s;
    size_t m = s->n_rows;
    p->k->gru_backward(m, p->d, s->gates, s->gh, s->h, s->dout, p->dgi, p->dgh, p->dh);
    product_backward(p, m, s->z, ACQ_POLICY_gi_w, true, p->dgi, 0, p->dz);
    product_backward(p, m, s->h, ACQ_POLICY_gh_w, true, p->dgh, ACQ_GEMM_ADD, p->dh);
}

static void terms_backward(const pass *p)
{
    acq_step *s = p->s;
    size_t d = p->d;
    memset(p->term_a, 0, s->n_terms * d * sizeof *p->term_a);
    for (size_t r = 0; r < s->n_rows; r++)
        p->k->add(d, p->dz + r * d, p->term_a + s->row_terms[r] * d);
    mlp_backward(p, s->n_terms, s->term_y, ACQ_POLICY_x1_w, s->term_1, s->term_2, s->term_stats,
                 p->term_a, p->term_b, p->term_a);
    for (size_t t = 0; t < s->n_terms; t++)
        for (size_t i = 0; i < d; i++)
            p->dz[s->term_from[t * d + i] * d + i] += p->term_a[t * d + i];
}

/* z = U_V(y) + x, y = x + messages: dx, and dy in a. */
static void values_backward(const pass *p)
{
    acq_step *s = p->s;
    size_t d = p->d, m = s->n_rows;
    memcpy(p->dx, p->dz, m * d * sizeof *p->dx);
    mlp_backward(p, m, s->y, ACQ_POLICY_u1_w, s->u1, s->u2, s->u_stats, p->dz, p->b, p->a);
    p->k->add(m * d, p->a, p->dx);
}

static void nodes_backward(const pass *p)
{
    acq_step *s = p->s;
    size_t d = p->d;
    memset(p->dnode_m, 0, s->n_nodes * 4 * d * sizeof *p->dnode_m);
    for (size_t r = 0; r < s->n_rows; r++)
        for (size_t i = 0; i < d; i++)
            p->dnode_m[s->row_from[r * d + i] * d + i] += p->a[r * d + i];
    mlp_backward(p, s->n_nodes, s->node_y, ACQ_POLICY_r1_w, s->node_1, s->node_2, s->node_stats,
                 p->dnode_m, p->node_b, p->node_a);
}

/* Copies what the layer norm and the product of a row need next to those of other winners. */
static uint32_t add_winner(pass *p, uint32_t row)
{
    const acq_step *s = p->s;
    size_t d = p->d, slot = p->n_winners++;
    p->winners[slot] = row;
    p->slots[row] = (uint32_t)slot + 1;
    memset(p->dm + slot * 4 * d, 0, 4 * d * sizeof *p->dm);
    memcpy(p->m0 + slot * 4 * d, s->m0 + row * 4 * d, 4 * d * sizeof *p->m0);
    memcpy(p->mx + slot * d, s->x + row * d, d * sizeof *p->mx);
    memcpy(p->m_stats + slot * 2, s->m_stats + row * 2, 2 * sizeof *p->m_stats);
    return (uint32_t)slot;
}

static void messages_backward(pass *p)
{
    acq_step *s = p->s;
    size_t d = p->d;
    memset(p->slots, 0, s->n_rows * sizeof *p->slots);
    for (size_t n = 0; n < s->n_nodes; n++)
        for (size_t i = 0; i < d; i++) {
            uint32_t row = s->node_from[n * d + i] / 4, label = s->node_from[n * d + i] % 4;
            size_t slot = p->slots[row] > 0 ? p->slots[row] - 1 : add_winner(p, row);
            p->dm[(slot * 4 + label) * d + i] += p->node_a[n * d + i];
        }
    normalise_backward(p, p->n_winners, 4 * d, p->m0, ACQ_POLICY_v_g, p->m_stats, p->dm, p->dm);
    product_backward(p, p->n_winners, p->mx, ACQ_POLICY_v_w, false, p->dm, 0, p->b);
    for (size_t slot = 0; slot < p->n_winners; slot++)
        p->k->add(d, p->b + slot * d, p->dx + p->winners[slot] * d);
}

/* E: adds to dh. */
static void encode_backward(const pass *p)
{
    acq_step *s = p->s;
    size_t d = p->d, m = s->n_rows;
    float *dweights = grad(p, ACQ_POLICY_e1_w);
    normalise_backward(p, m, d, s->e2, ACQ_POLICY_e_g, s->e_stats, p->dx, p->dx);
    product_backward(p, m, s->e1, ACQ_POLICY_e2_w, false, p->dx, 0, p->a);
    p->k->relu_backward(m * d, s->e1, p->a);
    product_backward(p, m, s->h, ACQ_POLICY_e1_w, true, p->a, ACQ_GEMM_ADD, p->dh);
    for (size_t r = 0; r < m; r++)
        for (size_t i = 0; s->assigned[r] && i < d; i++)
            dweights[i * (d + 1) + d] += p->a[r * d + i];
}

static void hand_back(const pass *p, acq_step *before)
{
    size_t d = p->d;
    float *dstart = grad(p, ACQ_POLICY_start);
    for (size_t r = 0; r < p->s->n_rows; r++) {
        uint32_t origin = p->s->origins[r];
        p->k->add(d, p->dh + r * d, origin == ACQ_NO_ID ? dstart : before->dout + origin * d);
    }
}

acq_status acq_step_backward(acq_step *step, const acq_policy *policy, acq_step *before,
                             const float *dlogits, float *gradient, acq_scratch *scratch)
{
    pass p = {
        .s = step, .policy = policy, .k = policy->kernels, .d = policy->dim, .gradient = gradient};
    if (prepare(&p, scratch) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    score_backward(&p, dlogits);
    update_backward(&p);
    terms_backward(&p);
    values_backward(&p);
    nodes_backward(&p);
    messages_backward(&p);
    encode_backward(&p);
    hand_back(&p, before);
    return ACQ_OK;
}
