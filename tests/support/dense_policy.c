/* dense_policy.c - see dense_policy.h. A step goes over the tiles three times:
 *
 *   1  x = E([h, assigned])   m = M_V(x)   y(node) = max m            then n = M_R(y(node))
 *   2  y = max n   z = U_V(x + y) + x      y(term) = max z            then t = U_X(y(term))
 *   3  h = G(h, z + t)        o = O(h)
 *
 * Only h, x and z are kept for all values. Maxima are kept per place in the tile and joined at the
 * end; a value without the label in question takes part with minus infinity added. */
#include "support/dense_policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_THIS_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define FOR_THIS_MACHINE
#endif
#define INLINE static inline __attribute__((always_inline))

enum { LANES = 8, TILE_LANES = DENSE_TILE / LANES };

typedef float lane __attribute__((vector_size(LANES * sizeof(float)), may_alias));

struct dense_policy {
    const dense_weights *weights;
    const dense_graph *graph;
    size_t d, n_tiles;
    uint32_t *tile_terms, *tile_firsts; /* term, first value in its domain */
    float *hidden, *x, *z;              /* n_tiles tiles of d features */
    float *node_best, *term_best;       /* a tile of d features each */
    float *node_messages;               /* n_nodes x 4 d */
    float *term_states;                 /* n_terms x d */
    float *scratch[3];                  /* tiles of 4 d features */
    float *logits;
};

/* Labels of one edge in a tile. */
typedef struct tile_labels {
    float only[4][DENSE_TILE]; /* per label: 0 where a value has it, else minus infinity */
    bool is_there[4];
} tile_labels;

static float *take_floats(size_t n)
{
    size_t bytes = (n * sizeof(float) + 63) / 64 * 64;
    float *block = aligned_alloc(64, bytes == 0 ? 64 : bytes);
    if (block == NULL)
        abort();
    memset(block, 0, bytes);
    return block;
}

/* out[n][tile] = w[n x k] in[k][tile] + bias; four outputs of two lanes at a time. ldw may exceed
 * k: further columns are somebody else's. bias may be NULL. */
INLINE void linear(const float *w, size_t ldw, const float *bias, size_t n, size_t k,
                   const float *in, float *out)
{
    const lane *x = (const lane *)in;
    lane *y = (lane *)out;
    for (size_t o = 0; o < n; o += 4)
        for (size_t c = 0; c < TILE_LANES; c += 2) {
            lane sums[4][2];
            for (size_t j = 0; j < 4; j++)
                sums[j][0] = sums[j][1] = (lane){0} + (bias == NULL ? 0 : bias[o + j]);
            for (size_t i = 0; i < k; i++)
                for (size_t j = 0; j < 4; j++) {
                    sums[j][0] += w[(o + j) * ldw + i] * x[i * TILE_LANES + c];
                    sums[j][1] += w[(o + j) * ldw + i] * x[i * TILE_LANES + c + 1];
                }
            for (size_t j = 0; j < 4; j++) {
                y[(o + j) * TILE_LANES + c] = sums[j][0];
                y[(o + j) * TILE_LANES + c + 1] = sums[j][1];
            }
        }
}

INLINE void relu(size_t n, float *x)
{
    for (size_t i = 0; i < n * DENSE_TILE; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

INLINE void layer_norm(size_t n, const float *gain, const float *shift, float *x)
{
    float mean[DENSE_TILE] = {0}, factor[DENSE_TILE] = {0};
    for (size_t k = 0; k < n; k++)
        for (size_t b = 0; b < DENSE_TILE; b++)
            mean[b] += x[k * DENSE_TILE + b];
    for (size_t b = 0; b < DENSE_TILE; b++)
        mean[b] /= (float)n;
    for (size_t k = 0; k < n; k++)
        for (size_t b = 0; b < DENSE_TILE; b++)
            factor[b] += (x[k * DENSE_TILE + b] - mean[b]) * (x[k * DENSE_TILE + b] - mean[b]);
    for (size_t b = 0; b < DENSE_TILE; b++)
        factor[b] = 1 / sqrtf(factor[b] / (float)n + 1e-5F);
    for (size_t k = 0; k < n; k++)
        for (size_t b = 0; b < DENSE_TILE; b++)
            x[k * DENSE_TILE + b] =
                (x[k * DENSE_TILE + b] - mean[b]) * factor[b] * gain[k] + shift[k];
}

/* Linear(d, d) ReLU Linear(d, n, no bias) LayerNorm */
typedef struct layers {
    const float *w1, *b1, *w2, *gain, *shift;
} layers;

INLINE void run_layers(const layers *l, size_t d, size_t n, const float *in, float *inner,
                       float *out)
{
    linear(l->w1, d, l->b1, d, d, in, inner);
    relu(d, inner);
    linear(l->w2, d, NULL, n, d, inner, out);
    layer_norm(n, l->gain, l->shift, out);
}

/* x = exp(x) for a tile's width, relative error below 3e-7: 2^n times a polynomial, in loops that
 * compilers vectorise. */
INLINE void exponentials(float *x)
{
    int32_t bits[DENSE_TILE];
    float powers[DENSE_TILE];
    for (size_t b = 0; b < DENSE_TILE; b++)
        x[b] = x[b] < 87 ? x[b] : 87;
    for (size_t b = 0; b < DENSE_TILE; b++)
        x[b] = x[b] > -87 ? x[b] : -87;
    for (size_t b = 0; b < DENSE_TILE; b++) {
        float n = (x[b] * 1.442695041F + 12582912.0F) - 12582912.0F;
        float r = (x[b] - n * 0.693359375F) + n * 2.12194440e-4F, sum = 1 / 5040.0F;
        sum = sum * r + 1 / 720.0F;
        sum = sum * r + 1 / 120.0F;
        sum = sum * r + 1 / 24.0F;
        sum = sum * r + 1 / 6.0F;
        x[b] = ((sum * r + 0.5F) * r + 1) * r + 1;
        bits[b] = ((int32_t)n + 127) * (1 << 23);
    }
    memcpy(powers, bits, sizeof powers);
    for (size_t b = 0; b < DENSE_TILE; b++)
        x[b] *= powers[b];
}

INLINE void sigmoids(float *x)
{
    for (size_t b = 0; b < DENSE_TILE; b++)
        x[b] = -x[b];
    exponentials(x);
    for (size_t b = 0; b < DENSE_TILE; b++)
        x[b] = 1 / (1 + x[b]);
}

INLINE void hyperbolic_tangents(float *x)
{
    for (size_t b = 0; b < DENSE_TILE; b++)
        x[b] *= 2;
    exponentials(x);
    for (size_t b = 0; b < DENSE_TILE; b++)
        x[b] = 1 - 2 / (x[b] + 1);
}

INLINE float greater(float a, float b)
{
    return a > b ? a : b;
}

#define W(field) p->weights->tensors[ACQ_POLICY_##field]

static uint32_t place_of(const dense_policy *p, size_t tile, size_t b)
{
    const dense_term *term = &p->graph->terms[p->tile_terms[tile]];
    uint32_t value = p->tile_firsts[tile] + (uint32_t)b;
    return value < term->n_values ? value : term->n_values - 1;
}

static bool is_filler(const dense_policy *p, size_t tile, size_t b)
{
    return p->tile_firsts[tile] + b >= p->graph->terms[p->tile_terms[tile]].n_values;
}

/* with_fillers: they get a label too, that of the last value. */
static void read_labels(const dense_policy *p, size_t tile, uint32_t edge, bool with_fillers,
                        tile_labels *out)
{
    const dense_term *term = &p->graph->terms[p->tile_terms[tile]];
    const uint8_t *labels = term->labels + (size_t)edge * term->n_values;
    for (int label = 0; label < 4; label++) {
        out->is_there[label] = false;
        for (size_t b = 0; b < DENSE_TILE; b++)
            out->only[label][b] = -INFINITY;
    }
    for (size_t b = 0; b < DENSE_TILE; b++) {
        uint8_t label = labels[place_of(p, tile, b)];
        if (is_filler(p, tile, b) && !with_fillers)
            continue;
        out->only[label][b] = 0;
        out->is_there[label] = true;
    }
}

INLINE void raise_node(size_t d, const float *message, const float *only, float *best)
{
    for (size_t k = 0; k < d; k++)
        for (size_t b = 0; b < DENSE_TILE; b++)
            best[k * DENSE_TILE + b] =
                greater(best[k * DENSE_TILE + b], message[k * DENSE_TILE + b] + only[b]);
}

INLINE void raise_values(size_t d, const float *message, const float *only, float *best)
{
    for (size_t k = 0; k < d; k++)
        for (size_t b = 0; b < DENSE_TILE; b++)
            best[k * DENSE_TILE + b] = greater(best[k * DENSE_TILE + b], message[k] + only[b]);
}

/* First Linear of E: the last column is for "assigned". */
INLINE void encode(const dense_policy *p, size_t tile, const float *h, float *inner, float *x)
{
    size_t d = p->d;
    uint32_t term = p->tile_terms[tile];
    size_t chosen = dense_graph_get_chosen(p->graph, term) - p->graph->terms[term].first_value;
    linear(W(e1_w), d + 1, W(e1_b), d, d, h, inner);
    if (chosen >= p->tile_firsts[tile] && chosen < p->tile_firsts[tile] + DENSE_TILE)
        for (size_t k = 0; k < d; k++)
            inner[k * DENSE_TILE + chosen - p->tile_firsts[tile]] += W(e1_w)[k * (d + 1) + d];
    relu(d, inner);
    linear(W(e2_w), d, NULL, d, d, inner, x);
    layer_norm(d, W(e_g), W(e_s), x);
}

FOR_THIS_MACHINE static void send_to_nodes(dense_policy *p, size_t tile)
{
    size_t d = p->d, size = d * DENSE_TILE;
    const dense_term *term = &p->graph->terms[p->tile_terms[tile]];
    float *x = p->x + tile * size, *messages = p->scratch[1];
    tile_labels labels;
    encode(p, tile, p->hidden + tile * size, p->scratch[0], x);
    linear(W(v_w), d, NULL, 4 * d, d, x, messages);
    layer_norm(4 * d, W(v_g), W(v_s), messages);
    for (uint32_t e = 0; e < term->n_edges; e++) {
        read_labels(p, tile, e, false, &labels);
        for (size_t label = 0; label < 4; label++)
            if (labels.is_there[label])
                raise_node(d, messages + label * size, labels.only[label],
                           p->node_best + term->edges[e] * size);
    }
}

FOR_THIS_MACHINE static void update_values(dense_policy *p, size_t tile)
{
    const layers u = {W(u1_w), W(u1_b), W(u2_w), W(u_g), W(u_s)};
    size_t d = p->d, size = d * DENSE_TILE;
    const dense_term *term = &p->graph->terms[p->tile_terms[tile]];
    float *x = p->x + tile * size, *z = p->z + tile * size, *y = p->scratch[0];
    tile_labels labels;
    for (size_t i = 0; i < size; i++)
        y[i] = -INFINITY;
    for (uint32_t e = 0; e < term->n_edges; e++) {
        read_labels(p, tile, e, true, &labels);
        for (size_t label = 0; label < 4; label++)
            if (labels.is_there[label])
                raise_values(d, p->node_messages + (term->edges[e] * 4 + label) * d,
                             labels.only[label], y);
    }
    for (size_t i = 0; i < size; i++)
        y[i] += x[i];
    run_layers(&u, d, d, y, p->scratch[1], z);
    for (size_t i = 0; i < size; i++)
        z[i] += x[i];
    float *best = p->term_best + p->tile_terms[tile] * size;
    for (size_t k = 0; k < d; k++)
        for (size_t b = 0; b < DENSE_TILE; b++)
            if (!is_filler(p, tile, b))
                best[k * DENSE_TILE + b] = greater(best[k * DENSE_TILE + b], z[k * DENSE_TILE + b]);
}

/* One feature of PyTorch's GRU cell; gi = W_i z + b_i, gh = W_h h + b_h, both r, u, n. */
INLINE void gru(size_t size, const float *gi, const float *gh, float *h)
{
    float r[DENSE_TILE], u[DENSE_TILE], n[DENSE_TILE];
    for (size_t b = 0; b < DENSE_TILE; b++)
        r[b] = gi[b] + gh[b];
    for (size_t b = 0; b < DENSE_TILE; b++)
        u[b] = gi[size + b] + gh[size + b];
    sigmoids(r);
    sigmoids(u);
    for (size_t b = 0; b < DENSE_TILE; b++)
        n[b] = gi[2 * size + b] + r[b] * gh[2 * size + b];
    hyperbolic_tangents(n);
    for (size_t b = 0; b < DENSE_TILE; b++)
        h[b] = (1 - u[b]) * n[b] + u[b] * h[b];
}

FOR_THIS_MACHINE static void update_hidden(dense_policy *p, size_t tile)
{
    size_t d = p->d, size = d * DENSE_TILE;
    float *h = p->hidden + tile * size, *input = p->scratch[0];
    const float *z = p->z + tile * size, *state = p->term_states + p->tile_terms[tile] * d;
    for (size_t k = 0; k < d; k++)
        for (size_t b = 0; b < DENSE_TILE; b++)
            input[k * DENSE_TILE + b] = z[k * DENSE_TILE + b] + state[k];
    linear(W(gi_w), d, W(gi_b), 3 * d, d, input, p->scratch[1]);
    linear(W(gh_w), d, W(gh_b), 3 * d, d, h, p->scratch[2]);
    for (size_t i = 0; i < size; i += DENSE_TILE)
        gru(size, p->scratch[1] + i, p->scratch[2] + i, h + i);
}

FOR_THIS_MACHINE static void make_logits(dense_policy *p, size_t tile)
{
    size_t d = p->d, size = d * DENSE_TILE;
    float *normal = p->scratch[0], *inner = p->scratch[1], sums[DENSE_TILE] = {0};
    memcpy(normal, p->hidden + tile * size, size * sizeof *normal);
    layer_norm(d, W(o_g), W(o_s), normal);
    linear(W(o1_w), d, W(o1_b), d, d, normal, inner);
    relu(d, inner);
    for (size_t k = 0; k < d; k++)
        for (size_t b = 0; b < DENSE_TILE; b++)
            sums[b] += W(o2_w)[k] * inner[k * DENSE_TILE + b];
    for (size_t b = 0; b < DENSE_TILE; b++)
        if (!is_filler(p, tile, b))
            p->logits[p->graph->terms[p->tile_terms[tile]].first_value + place_of(p, tile, b)] =
                sums[b];
}

/* Joins the places of a maximum and puts the result in all of them. */
static void join(size_t d, float *best)
{
    for (size_t k = 0; k < d; k++) {
        float most = -INFINITY;
        for (size_t b = 0; b < DENSE_TILE; b++)
            most = greater(most, best[k * DENSE_TILE + b]);
        for (size_t b = 0; b < DENSE_TILE; b++)
            best[k * DENSE_TILE + b] = most;
    }
}

static void clear(float *best, size_t n)
{
    for (size_t i = 0; i < n; i++)
        best[i] = -INFINITY;
}

/* Runs layers on the joined maxima; out[i x n] gets one place of each. */
static void run_joined(const dense_policy *p, const layers *l, float *best, size_t n_best, size_t n,
                       float *out)
{
    for (size_t i = 0; i < n_best; i++) {
        join(p->d, best + i * p->d * DENSE_TILE);
        run_layers(l, p->d, n, best + i * p->d * DENSE_TILE, p->scratch[0], p->scratch[1]);
        for (size_t k = 0; k < n; k++)
            out[i * n + k] = p->scratch[1][k * DENSE_TILE];
    }
}

void dense_policy_step(dense_policy *p)
{
    const layers r = {W(r1_w), W(r1_b), W(r2_w), W(r_g), W(r_s)};
    const layers x = {W(x1_w), W(x1_b), W(x2_w), W(x_g), W(x_s)};
    size_t size = p->d * DENSE_TILE;
    clear(p->node_best, p->graph->n_nodes * size);
    clear(p->term_best, p->graph->n_terms * size);
    for (size_t tile = 0; tile < p->n_tiles; tile++)
        send_to_nodes(p, tile);
    run_joined(p, &r, p->node_best, p->graph->n_nodes, 4 * p->d, p->node_messages);
    for (size_t tile = 0; tile < p->n_tiles; tile++)
        update_values(p, tile);
    run_joined(p, &x, p->term_best, p->graph->n_terms, p->d, p->term_states);
    for (size_t tile = 0; tile < p->n_tiles; tile++) {
        update_hidden(p, tile);
        make_logits(p, tile);
    }
}

static void make_tiles(dense_policy *p)
{
    size_t most = p->graph->n_values / DENSE_TILE + p->graph->n_terms;
    p->tile_terms = calloc(most + 1, sizeof *p->tile_terms);
    p->tile_firsts = calloc(most + 1, sizeof *p->tile_firsts);
    if (p->tile_terms == NULL || p->tile_firsts == NULL)
        abort();
    for (uint32_t i = 0; i < p->graph->n_terms; i++)
        for (uint32_t a = 0; a < p->graph->terms[i].n_values; a += DENSE_TILE) {
            p->tile_terms[p->n_tiles] = i;
            p->tile_firsts[p->n_tiles++] = a;
        }
}

dense_policy *dense_policy_new(const dense_weights *weights, const dense_graph *graph)
{
    dense_policy *p = calloc(1, sizeof *p);
    if (p == NULL || weights->dim % 4 != 0)
        abort();
    *p = (dense_policy){.weights = weights, .graph = graph, .d = weights->dim};
    make_tiles(p);
    size_t size = p->d * DENSE_TILE;
    p->hidden = take_floats(p->n_tiles * size);
    p->x = take_floats(p->n_tiles * size);
    p->z = take_floats(p->n_tiles * size);
    p->node_best = take_floats(graph->n_nodes * size);
    p->term_best = take_floats(graph->n_terms * size);
    p->node_messages = take_floats(graph->n_nodes * 4 * p->d);
    p->term_states = take_floats(graph->n_terms * p->d);
    p->logits = take_floats(graph->n_values);
    for (int i = 0; i < 3; i++)
        p->scratch[i] = take_floats(4 * size);
    for (size_t i = 0; i < p->n_tiles * size; i++)
        p->hidden[i] = W(start)[i / DENSE_TILE % p->d];
    return p;
}

void dense_policy_free(dense_policy *p)
{
    free(p->tile_terms);
    free(p->tile_firsts);
    free(p->hidden);
    free(p->x);
    free(p->z);
    free(p->node_best);
    free(p->term_best);
    free(p->node_messages);
    free(p->term_states);
    free(p->logits);
    for (int i = 0; i < 3; i++)
        free(p->scratch[i]);
    free(p);
}

const float *dense_policy_get_logits(const dense_policy *p)
{
    return p->logits;
}

static void softmax(const float *logits, size_t n, double *p)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, logits[i]);
    for (size_t i = 0; i < n; i++)
        sum += p[i] = exp(fmax(logits[i] - most, -100));
    for (size_t i = 0; i < n; i++)
        p[i] /= sum;
}

void dense_get_probabilities(const dense_graph *graph, const float *logits, double *p)
{
    for (uint32_t i = 0; i < graph->n_terms; i++)
        softmax(logits + graph->firsts[i], graph->terms[i].n_values, p + graph->firsts[i]);
}
