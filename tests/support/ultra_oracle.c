/* ultra_oracle.c - see ultra_oracle.h. */
#include "support/ultra_oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 64, LAYERS = 6 };

typedef struct edge { /* to receives relation * state of from */
    size_t to, relation, from;
} edge;

typedef struct layer_input {
    size_t n_nodes;
    const edge *edges;
    size_t n_edges;
    const double *vectors; /* of the edges' relations */
    const double *boundary;
} layer_input;

static double *allocate(size_t n)
{
    double *block = calloc(n + 1, sizeof *block);
    if (block == NULL)
        abort();
    return block;
}

static const float *find(const acq_ultra *model, const char *net, size_t layer, const char *part)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%zu.%s", net, layer, part);
    for (size_t i = 0; i < model->parameters.n_tensors; i++)
        if (strcmp(model->parameters.tensors[i].name, name) == 0)
            return model->parameters.values + model->parameters.tensors[i].offset;
    abort();
}

/* y[outputs] = w[outputs x inputs] x + b */
static void linear(const float *w, const float *b, size_t outputs, size_t inputs, const double *x,
                   double *y)
{
    for (size_t o = 0; o < outputs; o++) {
        y[o] = b[o];
        for (size_t i = 0; i < inputs; i++)
            y[o] += (double)w[o * inputs + i] * x[i];
    }
}

static void relu(size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

static void norm(const float *gain, const float *shift, double *x)
{
    double mean = 0, variance = 0;
    for (size_t i = 0; i < D; i++)
        mean += x[i] / D;
    for (size_t i = 0; i < D; i++)
        variance += (x[i] - mean) * (x[i] - mean) / D;
    for (size_t i = 0; i < D; i++)
        x[i] = (x[i] - mean) / sqrt(variance + 1e-5) * gain[i] + shift[i];
}

static void run_layer(const acq_ultra *model, const char *net, size_t l, const layer_input *in,
                      double *states)
{
    double *messages = allocate(in->n_nodes * D);
    memcpy(messages, in->boundary, in->n_nodes * D * sizeof *messages);
    for (size_t e = 0; e < in->n_edges; e++)
        for (size_t i = 0; i < D; i++)
            messages[in->edges[e].to * D + i] +=
                in->vectors[in->edges[e].relation * D + i] * states[in->edges[e].from * D + i];
    for (size_t v = 0; v < in->n_nodes; v++) {
        double x[2 * D], y[D];
        memcpy(x, states + v * D, D * sizeof *x);
        memcpy(x + D, messages + v * D, D * sizeof *x);
        linear(find(model, net, l, "linear.weight"), find(model, net, l, "linear.bias"), D, 2 * D,
               x, y);
        norm(find(model, net, l, "norm.weight"), find(model, net, l, "norm.bias"), y);
        relu(D, y);
        for (size_t i = 0; i < D; i++)
            states[v * D + i] += y[i];
    }
    free(messages);
}

static bool is_at(const acq_triple *fact, acq_rel relation, bool tail, acq_ent entity)
{
    return fact->relation == relation && (tail ? fact->tail : fact->head) == entity;
}

bool oracle_is_edge(const oracle_graph *graph, unsigned kind, acq_rel row, acq_rel column)
{
    const bool row_tail[] = {false, true, false, true};
    const bool column_tail[] = {false, true, true, false};
    for (acq_ent e = 0; e < graph->n_entities; e++) {
        bool in_row = false, in_column = false;
        for (size_t i = 0; i < graph->n_facts; i++) {
            in_row |= is_at(&graph->facts[i], row, row_tail[kind], e);
            in_column |= is_at(&graph->facts[i], column, column_tail[kind], e);
        }
        if (in_row && in_column)
            return true;
    }
    return false;
}

static size_t list_relation_edges(const oracle_graph *graph, edge *out)
{
    size_t n = 0;
    for (unsigned kind = 0; kind < 4; kind++)
        for (acq_rel row = 0; row < graph->n_relations; row++)
            for (acq_rel column = 0; column < graph->n_relations; column++)
                if (oracle_is_edge(graph, kind, row, column))
                    out[n++] = (edge){row, kind, column};
    return n;
}

void oracle_compute_vectors(const acq_ultra *model, const oracle_graph *graph, acq_rel query,
                            double *vectors)
{
    size_t n = graph->n_relations;
    edge *edges = calloc(4 * n * n + 1, sizeof *edges);
    double *boundary = allocate(n * D), kinds[4 * D];
    if (edges == NULL)
        abort();
    for (size_t i = 0; i < D; i++)
        boundary[query * D + i] = 1;
    memcpy(vectors, boundary, n * D * sizeof *vectors);
    layer_input in = {n, edges, list_relation_edges(graph, edges), kinds, boundary};
    for (size_t l = 0; l < LAYERS; l++) {
        const float *from = find(model, "relation", l, "relations");
        for (size_t i = 0; i < 4 * D; i++)
            kinds[i] = from[i];
        run_layer(model, "relation", l, &in, vectors);
    }
    free(edges);
    free(boundary);
}

static void project(const acq_ultra *model, size_t l, size_t n, const double *vectors, double *out)
{
    for (size_t r = 0; r < n; r++) {
        double hidden[D];
        linear(find(model, "entity", l, "project.0.weight"),
               find(model, "entity", l, "project.0.bias"), D, D, vectors + r * D, hidden);
        relu(D, hidden);
        linear(find(model, "entity", l, "project.2.weight"),
               find(model, "entity", l, "project.2.bias"), D, D, hidden, out + r * D);
    }
}

static double score_state(const acq_ultra *model, const double *state, const double *query)
{
    double x[2 * D], hidden[2 * D], score;
    memcpy(x, state, D * sizeof *x);
    memcpy(x + D, query, D * sizeof *x);
    linear(find(model, "score", 0, "weight"), find(model, "score", 0, "bias"), 2 * D, 2 * D, x,
           hidden);
    relu(2 * D, hidden);
    linear(find(model, "score", 2, "weight"), find(model, "score", 2, "bias"), 1, 2 * D, hidden,
           &score);
    return score;
}

void oracle_score_set(const acq_ultra *model, const oracle_graph *graph, const double *degrees,
                      acq_rel relation, oracle_direction direction, double *scores)
{
    size_t n = graph->n_entities, n_relations = graph->n_relations;
    double *vectors = allocate(n_relations * D), *projected = allocate(n_relations * D);
    double *boundary = allocate(n * D), *states = allocate(n * D);
    edge *edges = calloc(graph->n_facts + 1, sizeof *edges);
    if (edges == NULL)
        abort();
    for (size_t i = 0; i < graph->n_facts; i++) {
        acq_triple f = graph->facts[i];
        bool to_head = direction == ORACLE_TAIL_TO_HEAD;
        edges[i] = (edge){to_head ? f.head : f.tail, f.relation, to_head ? f.tail : f.head};
    }
    oracle_compute_vectors(model, graph, model->queries_pair ? relation / 2 * 2 : relation,
                           vectors);
    for (size_t v = 0; v < n; v++)
        for (size_t i = 0; i < D; i++)
            boundary[v * D + i] = degrees[v] * vectors[(size_t)relation * D + i];
    memcpy(states, boundary, n * D * sizeof *states);
    layer_input in = {n, edges, graph->n_facts, projected, boundary};
    for (size_t l = 0; l < LAYERS; l++) {
        project(model, l, n_relations, vectors, projected);
        run_layer(model, "entity", l, &in, states);
    }
    for (size_t v = 0; v < n; v++)
        scores[v] = score_state(model, states + v * D, vectors + (size_t)relation * D);
    free(vectors);
    free(projected);
    free(boundary);
    free(states);
    free(edges);
}

void oracle_score(const acq_ultra *model, const oracle_graph *graph, acq_ent head, acq_rel relation,
                  oracle_direction direction, double *scores)
{
    double *degrees = allocate(graph->n_entities);
    degrees[head] = 1;
    oracle_score_set(model, graph, degrees, relation, direction, scores);
    free(degrees);
}

/* ---- on some entities ---- */

typedef struct near_state {
    const acq_ultra *model;
    const oracle_graph *graph;
    const acq_ent *nodes;
    size_t n;
    acq_ent *drawn; /* most for each relation, as many as n_drawn says */
    size_t *n_drawn, most;
    double *projected, *usual; /* [relations x D] of this layer */
    double *states, *drawn_states;
} near_state;

static void draw_near(near_state *s)
{
    for (acq_rel r = 0; r < s->graph->n_relations; r++) {
        size_t n_links = 0, first = 0;
        for (size_t i = 0; i < s->graph->n_facts; i++) {
            first = s->graph->facts[i].relation < r ? i + 1 : first;
            n_links += s->graph->facts[i].relation == r;
        }
        s->n_drawn[r] = n_links < s->most ? n_links : s->most;
        for (size_t i = 0; i < s->n_drawn[r]; i++)
            s->drawn[r * s->most + i] =
                s->graph->facts[first + (2 * i + 1) * n_links / (2 * s->n_drawn[r])].tail;
    }
}

/* usual = projected times the mean state of the drawn ones. */
static void average_near(const near_state *s)
{
    for (size_t r = 0; r < s->graph->n_relations; r++)
        for (size_t d = 0; d < D; d++) {
            double sum = 0;
            for (size_t i = 0; i < s->n_drawn[r]; i++)
                sum += s->drawn_states[(r * s->most + i) * D + d];
            s->usual[r * D + d] =
                s->n_drawn[r] == 0 ? 0 : s->projected[r * D + d] * sum / (double)s->n_drawn[r];
        }
}

static size_t find_node(const near_state *s, acq_ent entity)
{
    size_t i = 0;
    while (i < s->n && s->nodes[i] != entity)
        i++;
    return i;
}

/* Messages along the facts of an entity; with is_drawn all of them are usual ones. */
static void send_near(const near_state *s, acq_ent entity, bool is_drawn, double *out)
{
    for (size_t i = 0; i < s->graph->n_facts; i++) {
        acq_triple f = s->graph->facts[i];
        size_t at = is_drawn || f.head != entity ? s->n : find_node(s, f.tail);
        for (size_t d = 0; d < D && f.head == entity; d++)
            out[d] += at == s->n ? s->usual[f.relation * D + d]
                                 : s->projected[f.relation * D + d] * s->states[at * D + d];
    }
}

static void run_near_layer(const near_state *s, size_t l, size_t head, const double *query)
{
    size_t n_slots = s->graph->n_relations * s->most;
    double *messages = allocate(s->n * D), *of_drawn = allocate(n_slots * D);
    memcpy(messages + head * D, query, D * sizeof *messages);
    for (size_t v = 0; v < s->n; v++)
        send_near(s, s->nodes[v], false, messages + v * D);
    for (size_t i = 0; i < n_slots; i++)
        if (i % s->most < s->n_drawn[i / s->most])
            send_near(s, s->drawn[i], true, of_drawn + i * D);
    run_layer(s->model, "entity", l, &(layer_input){.n_nodes = s->n, .boundary = messages},
              s->states);
    run_layer(s->model, "entity", l, &(layer_input){.n_nodes = n_slots, .boundary = of_drawn},
              s->drawn_states);
    free(messages);
    free(of_drawn);
}

void oracle_score_near(const acq_ultra *model, const oracle_graph *graph, const acq_ent *nodes,
                       size_t n, size_t most, acq_ent head, acq_rel relation, double *scores)
{
    size_t n_relations = graph->n_relations;
    near_state s = {.model = model,
                    .graph = graph,
                    .nodes = nodes,
                    .n = n,
                    .most = most,
                    .drawn = calloc(n_relations * most, sizeof *s.drawn),
                    .n_drawn = calloc(n_relations, sizeof *s.n_drawn),
                    .projected = allocate(n_relations * D),
                    .usual = allocate(n_relations * D),
                    .states = allocate(n * D),
                    .drawn_states = allocate(n_relations * most * D)};
    double *vectors = allocate(n_relations * D);
    const double *query = vectors + (size_t)relation * D;
    if (s.drawn == NULL || s.n_drawn == NULL)
        abort();
    draw_near(&s);
    oracle_compute_vectors(model, graph, model->queries_pair ? relation / 2 * 2 : relation,
                           vectors);
    memcpy(s.states + find_node(&s, head) * D, query, D * sizeof *s.states);
    for (size_t l = 0; l < LAYERS; l++) {
        project(model, l, n_relations, vectors, s.projected);
        average_near(&s);
        run_near_layer(&s, l, find_node(&s, head), query);
    }
    for (size_t v = 0; v < n; v++)
        scores[v] = score_state(model, s.states + v * D, query);
    free(vectors);
    free(s.drawn);
    free(s.n_drawn);
    free(s.projected);
    free(s.usual);
    free(s.states);
    free(s.drawn_states);
}
