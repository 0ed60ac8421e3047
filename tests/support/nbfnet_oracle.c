/* nbfnet_oracle.c - see nbfnet_oracle.h. */
#include "support/nbfnet_oracle.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 32, LAYERS = 4 };

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

/* inputs [416]: own state, then mean, max, min, std times 1, s and 1/s. */
static void fill_inputs(const nbfnet_oracle *o, acq_ent entity, const state *x,
                        const state *vectors, const state boundary, double *inputs)
{
    double s = get_scale(o, entity), scales[3] = {1, s, 1 / fmax(s, 0.01)};
    for (size_t c = 0; c < D; c++) {
        double sum = boundary[c], squares = boundary[c] * boundary[c], n = 1;
        double high = boundary[c], low = boundary[c];
        for (size_t i = 0; i < o->n_facts; i++) {
            if (o->facts[i].head != entity)
                continue;
            double message = x[o->facts[i].tail][c] * vectors[o->facts[i].relation][c];
            sum += message, squares += message * message, n++;
            high = fmax(high, message), low = fmin(low, message);
        }
        double mean = sum / n, variance = fmax(squares / n - mean * mean, 1e-6);
        const double aggregates[4] = {mean, high, low, sqrt(variance)};
        inputs[c] = x[entity][c];
        for (size_t k = 0; k < 3; k++)
            for (size_t a = 0; a < 4; a++)
                inputs[D + k * 4 * D + a * D + c] = scales[k] * aggregates[a];
    }
}

static void run_entity(const nbfnet_oracle *o, int layer, const double *inputs, const state own,
                       state out)
{
    const double *w = find_of_layer(o, layer, "linear.weight");
    const double *bias = find_of_layer(o, layer, "linear.bias");
    const double *gain = find_of_layer(o, layer, "norm.weight");
    const double *shift = find_of_layer(o, layer, "norm.bias");
    state y;
    double mean = 0, variance = 0;
    for (size_t c = 0; c < D; c++) {
        y[c] = multiply(w + c * 13 * D, inputs, 13 * (size_t)D) + bias[c];
        mean += y[c] / D;
    }
    for (size_t c = 0; c < D; c++)
        variance += (y[c] - mean) * (y[c] - mean) / D;
    for (size_t c = 0; c < D; c++)
        out[c] = own[c] + fmax(0, (y[c] - mean) / sqrt(variance + 1e-5) * gain[c] + shift[c]);
}

static void run_layer(const nbfnet_oracle *o, int layer, const double *query, const state *boundary,
                      const state *x, state *out)
{
    state *vectors = calloc(o->model->n_relations, sizeof *vectors);
    double inputs[13 * D];
    assert(vectors != NULL);
    for (acq_rel r = 0; r < o->model->n_relations; r++)
        get_vector(o, layer, r, query, vectors[r]);
    for (acq_ent e = 0; e < o->n_entities; e++) {
        fill_inputs(o, e, x, (const state *)vectors, boundary[e], inputs);
        run_entity(o, layer, inputs, x[e], out[e]);
    }
    free(vectors);
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
    for (int l = 0; l < LAYERS; l++) {
        run_layer(oracle, l, query, (const state *)boundary, (const state *)x, next);
        memcpy(x, next, n * sizeof *x);
    }
    for (acq_ent e = 0; e < n; e++)
        scores[e] = score_state(oracle, x[e], query);
    free(boundary);
    free(x);
    free(next);
}
