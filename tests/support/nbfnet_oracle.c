/* nbfnet_oracle.c - see nbfnet_oracle.h. */
#include "support/nbfnet_oracle.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 32 };

typedef double state[D];

double *nbfnet_oracle_copy_parameters(const acq_nbfnet *model)
{
    double *copy = calloc(model->parameters.n, sizeof *copy);
    assert(copy != NULL);
    for (size_t i = 0; i < model->parameters.n; i++)
        copy[i] = (double)model->parameters.values[i];
    return copy;
}

static const double *find(const nbfnet_oracle *o, const char *name)
{
    const acq_parameters *all = &o->model->parameters;
    for (size_t i = 0; i < all->n_tensors; i++)
        if (strcmp(all->tensors[i].name, name) == 0)
            return o->parameters + all->tensors[i].offset;
    assert(!"a tensor of that name");
    return NULL;
}

static const double *find_of_layer(const nbfnet_oracle *o, int layer, const char *part)
{
    char name[64];
    snprintf(name, sizeof name, "layer.%d.%s", layer, part);
    return find(o, name);
}

static double multiply(const double *row, const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += row[i] * x[i];
    return sum;
}

static void get_vector(const nbfnet_oracle *o, int layer, acq_rel relation, const double *query,
                       state out)
{
    const double *w = find_of_layer(o, layer, "relations.weight");
    const double *bias = find_of_layer(o, layer, "relations.bias");
    for (size_t c = 0; c < D; c++) {
        size_t row = (size_t)relation * D + c;
        out[c] = multiply(w + row * D, query, D) + bias[row];
    }
}

static size_t get_degree(const nbfnet_oracle *o, acq_ent entity)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_facts; i++)
        n += o->facts[i].head == entity;
    return n;
}

static double get_scale(const nbfnet_oracle *o, acq_ent entity)
{
    double sum = 0;
    if (o->scales != NULL)
        return (double)o->scales[entity];
    for (acq_ent e = 0; e < o->n_entities; e++)
        sum += log((double)get_degree(o, e) + 1);
    return log((double)get_degree(o, entity) + 1) / (sum / o->n_entities);
}

/* What a layer runs on. */
typedef struct layer_input {
    int layer;
    const state *x, *vectors;
    const double *weights; /* of the messages, by source; 0: it does not send */
    const state *boundary;
} layer_input;

static double get_message(const layer_input *in, acq_triple fact, size_t c)
{
    return in->weights[fact.tail] * in->x[fact.tail][c] * in->vectors[fact.relation][c];
}

/* inputs [416]: own state, then mean, max, min, std times 1, s and 1/s; of sums [64]. */
static size_t fill_inputs(const nbfnet_oracle *o, acq_ent entity, const layer_input *in,
                          double *inputs)
{
    double s = get_scale(o, entity), scales[3] = {1, s, 1 / fmax(s, 0.01)};
    bool sums = o->model->shape.sums;
    for (size_t c = 0; c < D; c++) {
        double start = in->boundary[entity][c];
        double sum = start, squares = start * start, n = 1, high = start, low = start;
        for (size_t i = 0; i < o->n_facts; i++) {
            if (o->facts[i].head != entity || in->weights[o->facts[i].tail] == 0)
                continue;
            double message = get_message(in, o->facts[i], c);
            sum += message, squares += message * message, n++;
            high = fmax(high, message), low = fmin(low, message);
        }
        double mean = sum / n, variance = fmax(squares / n - mean * mean, 1e-6);
        const double aggregates[4] = {mean, high, low, sqrt(variance)};
        inputs[c] = in->x[entity][c];
        inputs[D + c] = sum;
        for (size_t k = 0; k < 3 && !sums; k++)
            for (size_t a = 0; a < 4; a++)
                inputs[D + k * 4 * D + a * D + c] = scales[k] * aggregates[a];
    }
    return sums ? 2 * (size_t)D : 13 * (size_t)D;
}

static void run_entity(const nbfnet_oracle *o, acq_ent entity, const layer_input *in, state out)
{
    int layer = in->layer;
    double inputs[13 * D];
    size_t n_inputs = fill_inputs(o, entity, in, inputs);
    const double *w = find_of_layer(o, layer, "linear.weight");
    const double *bias = find_of_layer(o, layer, "linear.bias");
    const double *gain = find_of_layer(o, layer, "norm.weight");
    const double *shift = find_of_layer(o, layer, "norm.bias");
    state y;
    double mean = 0, variance = 0;
    for (size_t c = 0; c < D; c++) {
        y[c] = multiply(w + c * n_inputs, inputs, n_inputs) + bias[c];
        mean += y[c] / D;
    }
    for (size_t c = 0; c < D; c++)
        variance += (y[c] - mean) * (y[c] - mean) / D;
    for (size_t c = 0; c < D; c++)
        out[c] =
            in->x[entity][c] + fmax(0, (y[c] - mean) / sqrt(variance + 1e-5) * gain[c] + shift[c]);
}

static double score_state(const nbfnet_oracle *o, const state x, const double *query)
{
    double inputs[2 * D], sum = find(o, "score.2.bias")[0];
    memcpy(inputs, x, D * sizeof *inputs);
    memcpy(inputs + D, query, D * sizeof *inputs);
    for (size_t i = 0; i < 2 * (size_t)D; i++) {
        double hidden = multiply(find(o, "score.0.weight") + i * 2 * D, inputs, 2 * (size_t)D) +
                        find(o, "score.0.bias")[i];
        sum += find(o, "score.2.weight")[i] * fmax(0, hidden);
    }
    return sum;
}

/* ---- who sends and who receives ---- */

static bool comes_first(const double *priorities, size_t a, size_t b)
{
    return priorities[a] > priorities[b] || (priorities[a] == priorities[b] && a < b);
}

/* Entities by priority: an insertion sort. */
static void sort_entities(const double *priorities, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && comes_first(priorities, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void note_cut(nbfnet_choice *choice, const double *priorities, size_t in, size_t out)
{
    double gap = fabs(priorities[in] - priorities[out]);
    if (gap > 0 && gap < 1e-4 * (1 + fabs(priorities[in])))
        choice->is_doubtful = true;
}

static size_t count_received(const nbfnet_oracle *o, int layer, acq_ent entity)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_facts; i++)
        n += o->facts[i].head == entity && o->choice->sends[layer][o->facts[i].tail];
    return n;
}

static bool is_target(const nbfnet_oracle *o, int layer, acq_ent entity)
{
    bool found = o->targets == NULL || layer + 1 < (int)o->model->shape.layers;
    for (size_t i = 0; i < o->n_targets && !found; i++)
        found = o->targets[i] == entity;
    return found;
}

static double get_part(float share, size_t n)
{
    return share == 0 ? (double)n : ceil((double)share * (double)n);
}

static void choose(const nbfnet_oracle *o, int layer, const double *priorities)
{
    size_t order[NBFNET_ORACLE_NODES], n = o->n_entities, last = 0;
    acq_nbfnet_visit visit = o->model->shape.visit;
    nbfnet_choice *choice = o->choice;
    double budget = get_part(visit.edges, o->n_facts);
    bool any = false;
    sort_entities(priorities, n, order);
    for (size_t i = 0; i < n; i++)
        choice->sends[layer][order[i]] = (double)i < get_part(visit.nodes, n);
    for (size_t i = 1; i < n; i++)
        if (choice->sends[layer][order[i - 1]] && !choice->sends[layer][order[i]])
            note_cut(choice, priorities, order[i - 1], order[i]);
    for (size_t i = 0; i < n; i++) {
        acq_ent entity = (acq_ent)order[i];
        size_t received = count_received(o, layer, entity);
        if (!is_target(o, layer, entity) || (received == 0 && get_degree(o, entity) > 0))
            continue;
        if (any)
            note_cut(choice, priorities, last, entity);
        if ((double)received > budget)
            break;
        budget -= (double)received;
        choice->receives[layer][entity] = any = true;
        last = entity;
    }
}

static void fill_weights(const nbfnet_oracle *o, int layer, const state *x, const double *query,
                         double *weights)
{
    double priorities[NBFNET_ORACLE_NODES];
    for (acq_ent e = 0; e < o->n_entities; e++)
        weights[e] = 1;
    if (layer == 0 || o->choice == NULL)
        return;
    for (acq_ent e = 0; e < o->n_entities; e++)
        priorities[e] = score_state(o, x[e], query);
    if (!o->choice->is_made)
        choose(o, layer, priorities);
    for (acq_ent e = 0; e < o->n_entities; e++) {
        double weight = o->model->shape.weighs ? 1 / (1 + exp(-priorities[e])) : 1;
        weights[e] = o->choice->sends[layer][e] ? weight : 0;
    }
}

static void run_layer(const nbfnet_oracle *o, int layer, const double *query, const state *boundary,
                      const state *x, state *out)
{
    state *vectors = calloc(o->model->n_relations, sizeof *vectors);
    double *weights = calloc(o->n_entities, sizeof *weights);
    assert(vectors != NULL && weights != NULL);
    for (acq_rel r = 0; r < o->model->n_relations; r++)
        get_vector(o, layer, r, query, vectors[r]);
    fill_weights(o, layer, x, query, weights);
    layer_input in = {layer, x, (const state *)vectors, weights, boundary};
    for (acq_ent e = 0; e < o->n_entities; e++)
        if (layer == 0 || o->choice == NULL || o->choice->receives[layer][e])
            run_entity(o, e, &in, out[e]);
        else
            memcpy(out[e], x[e], sizeof out[e]);
    free(vectors);
    free(weights);
}

void nbfnet_oracle_score(const nbfnet_oracle *oracle, acq_rel relation, const double *weights,
                         double *scores)
{
    const double *query = find(oracle, "query") + (size_t)relation * D;
    uint32_t n = oracle->n_entities;
    state *boundary = calloc(n, sizeof *boundary), *x = calloc(n, sizeof *x);
    state *next = calloc(n, sizeof *next);
    assert(boundary != NULL && x != NULL && next != NULL);
    for (acq_ent e = 0; e < n; e++)
        for (size_t c = 0; c < D; c++)
            x[e][c] = boundary[e][c] = weights[e] * query[c];
    for (int l = 0; l < (int)oracle->model->shape.layers; l++) {
        run_layer(oracle, l, query, (const state *)boundary, (const state *)x, next);
        memcpy(x, next, n * sizeof *x);
    }
    if (oracle->choice != NULL)
        oracle->choice->is_made = true;
    for (acq_ent e = 0; e < n; e++)
        scores[e] = score_state(oracle, x[e], query);
    free(boundary);
    free(x);
    free(next);
}
