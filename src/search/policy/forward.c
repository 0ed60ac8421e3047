/* forward.c - one step of the network, see network.h; the letters are those of its matrices.
 *
 * Cost per row and step: d (15 d + 1) multiply-adds in products (E 2, M_V 4, U_V 2, G 6, O 1),
 * and d maxima for each of its edges, twice. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "search/policy/network.h"
#include "search/policy/walk.h"

/* ---- the rows, terms and nodes of several walks in one numbering ---- */

void acq_rows_deinit(acq_rows *batch)
{
    acq_free(batch->terms);
    acq_free(batch->origins);
    acq_free(batch->labels);
    acq_free(batch->assigned);
    acq_free(batch->first_edges);
    acq_free(batch->edge_nodes);
    *batch = (acq_rows){0};
}

void acq_rows_clear(acq_rows *batch)
{
    batch->n_rows = batch->n_terms = batch->n_nodes = batch->n_edges = 0;
}

/* All arrays of one length share a capacity: the last one reserved moves it. */
static acq_status reserve_rows(acq_rows *batch, size_t rows, size_t terms, size_t edges)
{
    size_t old = batch->rows_capacity, c1 = old, c2 = old, c3 = old;
    if (ACQ_RESERVE(batch->terms, c1, rows) != ACQ_OK ||
        ACQ_RESERVE(batch->origins, c2, rows) != ACQ_OK ||
        ACQ_RESERVE(batch->labels, c3, rows) != ACQ_OK ||
        ACQ_RESERVE(batch->assigned, batch->rows_capacity, rows) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (ACQ_RESERVE(batch->first_edges, batch->terms_capacity, terms + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    return ACQ_RESERVE(batch->edge_nodes, batch->edges_capacity, edges);
}

static void add_rows(acq_rows *batch, const acq_walk *walk, uint32_t first_before)
{
    size_t row = batch->n_rows;
    for (uint32_t c = 0; c < walk->n_classes; c++, row++) {
        batch->terms[row] = (uint32_t)batch->n_terms + walk->class_terms[c];
        batch->origins[row] =
            first_before == ACQ_NO_ID ? ACQ_NO_ID : first_before + walk->origins[c];
        batch->labels[row] = walk->labels + (size_t)c * walk->board->most_edges;
        batch->assigned[row] = walk->assigned[c];
    }
    batch->n_rows = row;
}

acq_status acq_rows_add(acq_rows *batch, const acq_walk *walk, uint32_t first_before)
{
    const acq_board *board = walk->board;
    uint32_t n_edges = board->first_edges[board->n_terms];
    if (reserve_rows(batch, batch->n_rows + walk->n_classes, batch->n_terms + board->n_terms,
                     batch->n_edges + n_edges) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    add_rows(batch, walk, first_before);
    for (uint32_t t = 0; t <= board->n_terms; t++)
        batch->first_edges[batch->n_terms + t] = (uint32_t)batch->n_edges + board->first_edges[t];
    for (uint32_t e = 0; e < n_edges; e++)
        batch->edge_nodes[batch->n_edges + e] = (uint32_t)batch->n_nodes + board->edge_nodes[e];
    batch->n_terms += board->n_terms;
    batch->n_nodes += board->n_nodes;
    batch->n_edges += n_edges;
    return ACQ_OK;
}

/* ---- one step ---- */

acq_status acq_step_new(acq_step **out)
{
    acq_step *step = acq_zalloc(1, sizeof *step);
    if (step == NULL)
        return ACQ_ERR_MEMORY;
    *out = step;
    return ACQ_OK;
}

void acq_step_free(acq_step *step)
{
    if (step == NULL)
        return;
    acq_free(step->block);
    acq_free(step);
}

size_t acq_step_get_bytes(const acq_step *step)
{
    return sizeof *step + step->capacity * sizeof *step->block;
}

const float *acq_step_get_logits(const acq_step *step)
{
    return step->logits;
}

double acq_step_count_flops(const acq_policy *policy, const acq_rows *batch)
{
    double d = policy->dim;
    return 2.0 * d *
           ((15.0 * d + 1.0) * (double)batch->n_rows + 5.0 * d * (double)batch->n_nodes +
            2.0 * d * (double)batch->n_terms);
}

enum { ALIGN = 16 }; /* floats */

static size_t round_up(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* Floats of all matrices; with a block, also points the matrices into it. */
static size_t cut(acq_step *step, size_t d, bool keep, float *block)
{
    const size_t rows = step->n_rows, nodes = step->n_nodes, terms = step->n_terms;
    size_t used = 0;
#define PLACE(name, count, columns)                                                                \
    if (block != NULL)                                                                             \
        step->name = (void *)(block + used);                                                       \
    used += round_up((count) * (columns));
    ACQ_STEP_MATRICES(PLACE)
    if (!keep)
        return used;
    ACQ_STEP_KEPT(PLACE)
    ACQ_STEP_PLACES(PLACE)
#undef PLACE
    return used;
}

/* h of every row: that of its origin, or the start. */
static void take_states(acq_step *step, const acq_policy *policy, const acq_rows *batch,
                        const float *before)
{
    size_t d = policy->dim;
    const float *start = acq_policy_get(policy, ACQ_POLICY_start);
    for (size_t r = 0; r < batch->n_rows; r++) {
        uint32_t origin = batch->origins[r];
        const float *from = origin == ACQ_NO_ID ? start : before + origin * d;
        memcpy(step->h + r * d, from, d * sizeof *from); /* NOLINT: the first step has no origins */
    }
}

static acq_status reserve(acq_step *step, size_t need)
{
    if (need + ALIGN <= step->capacity)
        return ACQ_OK;
    size_t capacity = need + need / 4 + ALIGN;
    float *block = acq_alloc(capacity, sizeof *block);
    if (block == NULL)
        return ACQ_ERR_MEMORY;
    acq_free(step->block);
    step->block = block;
    step->capacity = capacity;
    return ACQ_OK;
}

static acq_status prepare(acq_step *step, const acq_policy *policy, const acq_rows *batch,
                          const acq_step *before, bool keep)
{
    step->n_rows = batch->n_rows;
    step->n_nodes = batch->n_nodes;
    step->n_terms = batch->n_terms;
    if (reserve(step, cut(step, policy->dim, keep, NULL)) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    uintptr_t line = ALIGN * sizeof *step->block, begin = (uintptr_t)step->block;
    cut(step, policy->dim, keep, step->block + (line - begin % line) % line / sizeof(float));
    take_states(step, policy, batch, before == NULL ? NULL : before->out);
    return ACQ_OK;
}

static void product(const acq_policy *policy, size_t m, const float *in, acq_policy_tensor weights,
                    const float *bias, unsigned flags, float *out)
{
    const acq_packed *packed = &policy->forward[weights];
    policy->kernels->gemm(m, in, packed->k, packed, bias, flags, out, packed->n);
}

static void normalise(const acq_policy *policy, size_t m, size_t n, const float *in,
                      acq_policy_tensor gain, float *out, float *stats)
{
    policy->kernels->layer_norm(m, n, in, acq_policy_get(policy, gain),
                                acq_policy_get(policy, gain + 1), out, stats);
}

/* Linear ReLU Linear LayerNorm from tensor `first` on: weights, bias, weights, gain, shift.
 * in [m x d], hidden [m x d], raw and out [m x n]; raw may be out. */
static void run_mlp(const acq_policy *policy, size_t m, const float *in, acq_policy_tensor first,
                    float *hidden, float *raw, float *out, float *stats)
{
    size_t n = policy->forward[first + 2].n;
    product(policy, m, in, first, acq_policy_get(policy, first + 1), ACQ_GEMM_RELU, hidden);
    product(policy, m, hidden, first + 2, NULL, 0, raw);
    normalise(policy, m, n, raw, first + 3, out, stats);
}

/* x = E([h, assigned]): the last column of the first weights counts for assigned rows only. */
static void encode(acq_step *s, const acq_policy *policy, const acq_rows *batch, bool keep)
{
    size_t d = policy->dim, m = s->n_rows;
    const float *weights = acq_policy_get(policy, ACQ_POLICY_e1_w);
    float *raw = keep ? s->e2 : s->x;
    product(policy, m, s->h, ACQ_POLICY_e1_w, acq_policy_get(policy, ACQ_POLICY_e1_b), 0, s->e1);
    for (size_t r = 0; r < m; r++)
        for (size_t i = 0; batch->assigned[r] && i < d; i++)
            s->e1[r * d + i] += weights[i * (d + 1) + d];
    policy->kernels->relu(m * d, s->e1);
    product(policy, m, s->e1, ACQ_POLICY_e2_w, NULL, 0, raw);
    normalise(policy, m, d, raw, ACQ_POLICY_e_g, s->x, keep ? s->e_stats : NULL);
}

/* Places NULL: they are not kept. What is no number (weights can be too large) is never greater,
 * and leaves a place as it was: one that exists. */
static void begin_maxima(float *values, uint32_t *places, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = -FLT_MAX;
    if (places != NULL)
        memset(places, 0, n * sizeof *places);
}

static void gather_nodes(acq_step *s, const acq_policy *policy, const acq_rows *batch, bool keep)
{
    const acq_kernels *k = policy->kernels;
    size_t d = policy->dim;
    begin_maxima(s->node_y, keep ? s->node_from : NULL, s->n_nodes * d);
    for (size_t r = 0; r < s->n_rows; r++) {
        uint32_t first = batch->first_edges[batch->terms[r]];
        uint32_t n = batch->first_edges[batch->terms[r] + 1] - first;
        for (uint32_t j = 0; j < n; j++) {
            size_t node = batch->edge_nodes[first + j];
            uint8_t label = batch->labels[r][j];
            const float *message = s->m + (r * 4 + label) * d;
            if (keep)
                k->max_index(d, message, (uint32_t)r * 4 + label, s->node_y + node * d,
                             s->node_from + node * d);
            else
                k->max(d, message, s->node_y + node * d);
        }
    }
}

/* y = x + maximum over the row's nodes. */
static void gather_rows(acq_step *s, const acq_policy *policy, const acq_rows *batch, bool keep)
{
    const acq_kernels *k = policy->kernels;
    size_t d = policy->dim;
    begin_maxima(s->y, keep ? s->row_from : NULL, s->n_rows * d);
    for (size_t r = 0; r < s->n_rows; r++) {
        uint32_t first = batch->first_edges[batch->terms[r]];
        uint32_t n = batch->first_edges[batch->terms[r] + 1] - first;
        for (uint32_t j = 0; j < n; j++) {
            uint32_t place = batch->edge_nodes[first + j] * 4 + batch->labels[r][j];
            if (keep)
                k->max_index(d, s->node_m + place * d, place, s->y + r * d, s->row_from + r * d);
            else
                k->max(d, s->node_m + place * d, s->y + r * d);
        }
        k->add(d, s->x + r * d, s->y + r * d);
    }
}

static void gather_terms(acq_step *s, const acq_policy *policy, const acq_rows *batch, bool keep)
{
    const acq_kernels *k = policy->kernels;
    size_t d = policy->dim;
    begin_maxima(s->term_y, keep ? s->term_from : NULL, s->n_terms * d);
    for (size_t r = 0; r < s->n_rows; r++) {
        size_t t = batch->terms[r];
        if (keep)
            k->max_index(d, s->z + r * d, (uint32_t)r, s->term_y + t * d, s->term_from + t * d);
        else
            k->max(d, s->z + r * d, s->term_y + t * d);
    }
}

static void update_states(acq_step *s, const acq_policy *policy, const acq_rows *batch, bool keep)
{
    const acq_kernels *k = policy->kernels;
    size_t d = policy->dim, m = s->n_rows;
    for (size_t r = 0; r < m; r++)
        k->add(d, s->term_z + batch->terms[r] * d, s->z + r * d);
    product(policy, m, s->z, ACQ_POLICY_gi_w, acq_policy_get(policy, ACQ_POLICY_gi_b), 0, s->gi);
    product(policy, m, s->h, ACQ_POLICY_gh_w, acq_policy_get(policy, ACQ_POLICY_gh_b), 0, s->gh);
    k->gru(m, d, s->gi, s->gh, s->h, s->out, keep ? s->gates : NULL);
}

static void score(acq_step *s, const acq_policy *policy, bool keep)
{
    size_t d = policy->dim, m = s->n_rows;
    normalise(policy, m, d, s->out, ACQ_POLICY_o_g, s->o0, keep ? s->o_stats : NULL);
    product(policy, m, s->o0, ACQ_POLICY_o1_w, acq_policy_get(policy, ACQ_POLICY_o1_b),
            ACQ_GEMM_RELU, s->o1);
    policy->kernels->dot_rows(m, d, s->o1, d, acq_policy_get(policy, ACQ_POLICY_o2_w), s->logits);
}

static void copy_batch(acq_step *s, const acq_rows *batch, size_t d)
{
    if (s->n_rows == 0)
        return;
    memcpy(s->row_terms, batch->terms, s->n_rows * sizeof *s->row_terms);
    memcpy(s->origins, batch->origins, s->n_rows * sizeof *s->origins);
    for (size_t r = 0; r < s->n_rows; r++)
        s->assigned[r] = batch->assigned[r];
    memset(s->dout, 0, s->n_rows * d * sizeof *s->dout);
}

acq_status acq_step_forward(acq_step *s, const acq_policy *policy, const acq_rows *batch,
                            const acq_step *before, bool keep)
{
    size_t d = policy->dim, m = batch->n_rows;
    if (prepare(s, policy, batch, before, keep) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    encode(s, policy, batch, keep);
    product(policy, m, s->x, ACQ_POLICY_v_w, NULL, 0, keep ? s->m0 : s->m);
    normalise(policy, m, 4 * d, keep ? s->m0 : s->m, ACQ_POLICY_v_g, s->m,
              keep ? s->m_stats : NULL);
    gather_nodes(s, policy, batch, keep);
    run_mlp(policy, s->n_nodes, s->node_y, ACQ_POLICY_r1_w, s->node_1, keep ? s->node_2 : s->node_m,
            s->node_m, keep ? s->node_stats : NULL);
    gather_rows(s, policy, batch, keep);
    run_mlp(policy, m, s->y, ACQ_POLICY_u1_w, s->u1, keep ? s->u2 : s->z, s->z,
            keep ? s->u_stats : NULL);
    policy->kernels->add(m * d, s->x, s->z);
    gather_terms(s, policy, batch, keep);
    run_mlp(policy, s->n_terms, s->term_y, ACQ_POLICY_x1_w, s->term_1, keep ? s->term_2 : s->term_z,
            s->term_z, keep ? s->term_stats : NULL);
    update_states(s, policy, batch, keep);
    score(s, policy, keep);
    if (keep)
        copy_batch(s, batch, d);
    return ACQ_OK;
}

/* ---- choice ---- */

static const double CLIP = -100.0;

static double get_weight(float logit, double most)
{
    return exp(fmax((double)logit - most, CLIP));
}

/* totals: first the largest logit of each term, then the sum of size * weight. */
void acq_choice_get_probabilities(const acq_walk *walk, const float *logits, double *p,
                                  double *totals)
{
    uint32_t n_terms = walk->board->n_terms;
    for (uint32_t t = 0; t < n_terms; t++)
        totals[t] = -INFINITY;
    for (uint32_t c = 0; c < walk->n_classes; c++)
        totals[walk->class_terms[c]] = fmax(totals[walk->class_terms[c]], (double)logits[c]);
    for (uint32_t c = 0; c < walk->n_classes; c++)
        p[c] = get_weight(logits[c], totals[walk->class_terms[c]]);
    for (uint32_t t = 0; t < n_terms; t++)
        totals[t] = 0;
    for (uint32_t c = 0; c < walk->n_classes; c++)
        totals[walk->class_terms[c]] += walk->sizes[c] * p[c];
    for (uint32_t c = 0; c < walk->n_classes; c++)
        p[c] /= totals[walk->class_terms[c]];
}

/* One pass over the classes serves all terms: class c of a term is chosen when the running sum
 * first passes the term's number u; rounding may leave a term open, whose last class then is it. */
static void choose_classes(const acq_walk *walk, const double *p, double *left, uint32_t *chosen)
{
    uint32_t n_free = walk->board->n_free_terms;
    for (uint32_t c = 0; c < walk->n_classes; c++) {
        uint32_t t = walk->class_terms[c];
        if (t >= n_free || left[t] < 0)
            continue;
        chosen[t] = c;
        left[t] -= walk->sizes[c] * p[c];
    }
}

void acq_choice_draw(const acq_walk *walk, const double *p, uint64_t seed, uint64_t stream,
                     uint64_t step, acq_ent *values, uint32_t *chosen, double *room)
{
    uint32_t n_free = walk->board->n_free_terms;
    uint64_t key = acq_random_start(seed, stream).key;
    for (uint32_t t = 0; t < n_free; t++) {
        acq_random random = acq_random_start(key ^ (step << 1 | 1), t);
        room[t] = acq_random_unit(&random);
    }
    choose_classes(walk, p, room, chosen);
    for (uint32_t t = 0; t < n_free; t++) {
        acq_random random = acq_random_start(key ^ (step << 1 | 1), t);
        acq_random_next(&random); /* the one that chose the class */
        values[t] = acq_walk_draw_member(walk, chosen[t], &random);
    }
}

double acq_choice_get_log(const acq_walk *walk, const double *p, const uint32_t *chosen,
                          double floor)
{
    double sum = 0;
    for (uint32_t t = 0; t < walk->board->n_free_terms; t++)
        sum += log(p[chosen[t]] + floor);
    return sum;
}

/* d log(p + f) / d o(c) = p / (p + f) * ([c chosen] - size(c) p(c)), 0 where the clip holds c.
 * A clipped class neither gives nor takes, so what it would have taken is the maximum's: the
 * maximum is subtracted from every logit, and only from the clipped ones without effect. */
void acq_choice_backward(const acq_walk *walk, const float *logits, const double *p,
                         const uint32_t *chosen, double floor, double weight, double *room,
                         float *dlogits)
{
    uint32_t n_terms = walk->board->n_terms, n_free = walk->board->n_free_terms;
    double *factors = room, *most = room + n_terms, *missing = room + 2 * (size_t)n_terms;
    for (uint32_t t = 0; t < n_terms; t++) {
        most[t] = -INFINITY;
        missing[t] = 0;
        factors[t] = t < n_free ? weight * p[chosen[t]] / (p[chosen[t]] + floor) : 0;
    }
    for (uint32_t c = 0; c < walk->n_classes; c++)
        most[walk->class_terms[c]] = fmax(most[walk->class_terms[c]], (double)logits[c]);
    for (uint32_t c = 0; c < walk->n_classes; c++) {
        uint32_t t = walk->class_terms[c];
        if (t >= n_free)
            continue;
        double slope = factors[t] * ((chosen[t] == c) - walk->sizes[c] * p[c]);
        if ((double)logits[c] - most[t] < CLIP)
            missing[t] += slope;
        else
            dlogits[c] += (float)slope;
    }
    for (uint32_t c = 0; c < walk->n_classes; c++) {
        uint32_t t = walk->class_terms[c];
        if (t < n_free && missing[t] != 0 && (double)logits[c] == most[t]) {
            dlogits[c] += (float)missing[t];
            missing[t] = 0;
        }
    }
}
