/* ultra_gradient.c - the gradient that ULTRA is trained with against differences of its loss.
 *
 * The loss is written here in double from the equations, straight from a table of facts: no edges
 * by node, no groups, no products of matrices. Both networks, the projections and the score are in
 * it; the weights of the negatives are those of the unchanged parameters, as the training takes
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/build.h"
#include "models/ultra/pass.h"
#include "support/scale.h"
#include "train/batch.h"

enum {
    D = ACQ_ULTRA_WIDTH,
    LAYERS = ACQ_ULTRA_LAYERS,
    MOST_ENTITIES = 14,
    MOST_RELATIONS = 6,
    MOST_FACTS = 80,
    MOST_CANDIDATES = 8,
};

typedef struct fact {
    uint32_t head, relation, tail;
} fact;

typedef struct test_case {
    uint32_t n_entities, n_relations, n_facts;
    fact facts[MOST_FACTS]; /* of the whole graph, even relations */
    fact asked;             /* the query: not an edge of the entity net */
    uint32_t candidates[MOST_CANDIDATES];
    size_t n_candidates;
    double shares[MOST_CANDIDATES]; /* of the loss: a half to the first, the rest to the others */
    acq_ultra *model;
    double *values; /* the parameters, in double */
} test_case;

typedef double vector[D];

static const double *get(const test_case *c, size_t tensor)
{
    return c->values + c->model->parameters.tensors[tensor].offset;
}

/* out = W in + b; W is [n_out x n_in]. */
static void affine(const test_case *c, size_t tensor, size_t n_out, size_t n_in, const double *in,
                   double *out)
{
    const double *w = get(c, tensor), *b = get(c, tensor + 1);
    for (size_t i = 0; i < n_out; i++) {
        out[i] = b[i];
        for (size_t j = 0; j < n_in; j++)
            out[i] += w[i * n_in + j] * in[j];
    }
}

static void rectify(size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

static void normalise(const test_case *c, size_t tensor, vector x)
{
    const double *gain = get(c, tensor), *shift = get(c, tensor + 1);
    double mean = 0, variance = 0;
    for (size_t i = 0; i < D; i++)
        mean += x[i] / D;
    for (size_t i = 0; i < D; i++)
        variance += (x[i] - mean) * (x[i] - mean) / D;
    for (size_t i = 0; i < D; i++)
        x[i] = (x[i] - mean) / sqrt(variance + 1e-5) * gain[i] + shift[i];
}

/* state' = state + ReLU(norm(linear [state, messages])), for all n nodes; linear is the tensor. */
static void update(const test_case *c, size_t n, size_t linear, vector *states,
                   const vector *messages)
{
    for (size_t v = 0; v < n; v++) {
        double in[2 * D];
        vector out;
        memcpy(in, states[v], sizeof(vector));
        memcpy(in + D, messages[v], sizeof(vector));
        affine(c, linear, D, 2 * D, in, out);
        normalise(c, linear + 2, out);
        rectify(D, out);
        for (size_t i = 0; i < D; i++)
            states[v][i] += out[i];
    }
}

static void add_product(double *to, const double *x, const double *y)
{
    for (size_t i = 0; i < D; i++)
        to[i] += x[i] * y[i];
}

/* Is entity e the head (or the tail) of some fact of relation r, odd ones included? */
static bool has_end(const test_case *c, uint32_t r, bool at_head, uint32_t e)
{
    for (uint32_t i = 0; i < c->n_facts; i++) {
        const fact *f = &c->facts[i];
        bool takes_head = at_head == (r % 2 == 0);
        if (f->relation == r / 2 * 2 && (takes_head ? f->head : f->tail) == e)
            return true;
    }
    return false;
}

/* Do relations a and b share an entity? Kinds: head-head, tail-tail, head-tail, tail-head. */
static bool shares_entity(const test_case *c, size_t kind, uint32_t a, uint32_t b)
{
    bool a_head = kind == 0 || kind == 2, b_head = kind == 0 || kind == 3;
    for (uint32_t e = 0; e < c->n_entities; e++)
        if (has_end(c, a, a_head, e) && has_end(c, b, b_head, e))
            return true;
    return false;
}

typedef bool relation_table[4][MOST_RELATIONS][MOST_RELATIONS];

static void fill_table(const test_case *c, relation_table table)
{
    for (size_t k = 0; k < 4; k++)
        for (uint32_t a = 0; a < c->n_relations; a++)
            for (uint32_t b = 0; b < c->n_relations; b++)
                table[k][a][b] = shares_entity(c, k, a, b);
}

static void run_relation_net(const test_case *c, relation_table table, vector *out)
{
    size_t n = c->n_relations;
    memset(out, 0, n * sizeof(vector));
    for (size_t i = 0; i < D; i++)
        out[c->asked.relation][i] = 1;
    for (size_t l = 0; l < LAYERS; l++) {
        vector messages[MOST_RELATIONS] = {{0}};
        const double *vectors = get(c, acq_ultra_relation_tensor(l, ACQ_ULTRA_RELATIONS));
        for (size_t i = 0; i < D; i++)
            messages[c->asked.relation][i] = 1;
        for (size_t k = 0; k < 4; k++)
            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++)
                    if (table[k][a][b])
                        add_product(messages[a], vectors + k * D, out[b]);
        update(c, n, acq_ultra_relation_tensor(l, ACQ_ULTRA_RELATION_LINEAR_WEIGHT), out, messages);
    }
}

static void project(const test_case *c, size_t l, const vector *vectors, vector *out)
{
    for (size_t r = 0; r < c->n_relations; r++) {
        vector hidden;
        affine(c, acq_ultra_entity_tensor(l, ACQ_ULTRA_PROJECT_0_WEIGHT), D, D, vectors[r], hidden);
        rectify(D, hidden);
        affine(c, acq_ultra_entity_tensor(l, ACQ_ULTRA_PROJECT_2_WEIGHT), D, D, hidden, out[r]);
    }
}

static bool is_asked(const test_case *c, const fact *f)
{
    const fact *a = &c->asked;
    bool turned = a->relation % 2 == 1;
    return f->relation == a->relation / 2 * 2 && f->head == (turned ? a->tail : a->head) &&
           f->tail == (turned ? a->head : a->tail);
}

static void run_entity_net(const test_case *c, const vector *vectors, vector *out)
{
    const double *boundary = vectors[c->asked.relation];
    memset(out, 0, c->n_entities * sizeof(vector));
    memcpy(out[c->asked.head], boundary, sizeof(vector));
    for (size_t l = 0; l < LAYERS; l++) {
        vector projected[MOST_RELATIONS], messages[MOST_ENTITIES] = {{0}};
        project(c, l, vectors, projected);
        memcpy(messages[c->asked.head], boundary, sizeof(vector));
        for (uint32_t i = 0; i < c->n_facts; i++) {
            const fact *f = &c->facts[i];
            if (is_asked(c, f))
                continue;
            add_product(messages[f->head], projected[f->relation], out[f->tail]);
            add_product(messages[f->tail], projected[f->relation + 1], out[f->head]);
        }
        update(c, c->n_entities, acq_ultra_entity_tensor(l, ACQ_ULTRA_ENTITY_LINEAR_WEIGHT), out,
               messages);
    }
}

static void get_scores(const test_case *c, double *scores)
{
    relation_table table;
    vector vectors[MOST_RELATIONS], states[MOST_ENTITIES];
    fill_table(c, table);
    run_relation_net(c, table, vectors);
    run_entity_net(c, vectors, states);
    for (size_t i = 0; i < c->n_candidates; i++) {
        double in[2 * D], hidden[2 * D];
        memcpy(in, states[c->candidates[i]], sizeof(vector));
        memcpy(in + D, vectors[c->asked.relation], sizeof(vector));
        affine(c, ACQ_ULTRA_SCORE_0_WEIGHT, 2 * D, 2 * D, in, hidden);
        rectify(2 * D, hidden);
        affine(c, ACQ_ULTRA_SCORE_2_WEIGHT, 1, 2 * D, hidden, &scores[i]);
    }
}

static double get_loss(const test_case *c)
{
    double scores[MOST_CANDIDATES], loss = 0;
    get_scores(c, scores);
    for (size_t i = 0; i < c->n_candidates; i++)
        loss += c->shares[i] * log1p(exp(i == 0 ? -scores[i] : scores[i]));
    return loss;
}

/* The negatives' shares: softmax of their scores. */
static void set_shares(test_case *c, double temperature)
{
    double scores[MOST_CANDIDATES], sum = 0;
    get_scores(c, scores);
    for (size_t i = 1; i < c->n_candidates; i++)
        sum += exp(temperature * scores[i]);
    c->shares[0] = .5;
    for (size_t i = 1; i < c->n_candidates; i++)
        c->shares[i] = .5 * exp(temperature * scores[i]) / sum;
}

static bool has_fact(const test_case *c, uint32_t head, uint32_t relation, uint32_t tail)
{
    bool turned = relation % 2 == 1;
    for (uint32_t i = 0; i < c->n_facts; i++)
        if (c->facts[i].relation == relation / 2 * 2 &&
            c->facts[i].head == (turned ? tail : head) &&
            c->facts[i].tail == (turned ? head : tail))
            return true;
    return false;
}

static void draw_facts(test_case *c, acq_random *random)
{
    c->n_entities = 8 + (uint32_t)acq_random_below(random, MOST_ENTITIES - 8 + 1);
    c->n_relations = 2 * (1 + (uint32_t)acq_random_below(random, MOST_RELATIONS / 2));
    uint32_t wanted = 10 + (uint32_t)acq_random_below(random, 20);
    while (c->n_facts < wanted) {
        fact f = {(uint32_t)acq_random_below(random, c->n_entities),
                  2 * (uint32_t)acq_random_below(random, c->n_relations / 2),
                  (uint32_t)acq_random_below(random, c->n_entities)};
        if (!has_fact(c, f.head, f.relation, f.tail))
            c->facts[c->n_facts++] = f;
        else if (acq_random_below(random, 50) == 0)
            wanted = c->n_facts;
    }
}

static void draw_query(test_case *c, acq_random *random)
{
    c->asked = c->facts[acq_random_below(random, c->n_facts)];
    if (acq_random_below(random, 2) == 0)
        c->asked = (fact){c->asked.tail, c->asked.relation + 1, c->asked.head};
    c->candidates[0] = c->asked.tail;
    c->n_candidates = 1;
    for (uint32_t e = 0; e < c->n_entities && c->n_candidates < MOST_CANDIDATES; e++)
        if (!has_fact(c, c->asked.head, c->asked.relation, e))
            c->candidates[c->n_candidates++] = e;
}

/* Initial weights, with gains and shifts that are not all the same. */
static void draw_model(test_case *c, uint64_t seed, acq_random *random)
{
    acq_error error = {0};
    assert_int_equal(acq_ultra_new(seed, &c->model, &error), ACQ_OK);
    const acq_parameters *parameters = &c->model->parameters;
    for (size_t t = 0; t < parameters->n_tensors; t++)
        for (size_t i = 0; i < acq_tensor_get_length(&parameters->tensors[t]); i++)
            parameters->values[parameters->tensors[t].offset + i] +=
                (float)(.1 * (acq_random_unit(random) - .5));
    c->values = calloc(parameters->n, sizeof *c->values);
    for (size_t i = 0; i < parameters->n; i++)
        c->values[i] = parameters->values[i];
}

static acq_graph *build_graph(const test_case *c)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    acq_error error = {0};
    uint32_t id;
    char name[16];
    for (uint32_t i = 0; i < c->n_entities; i++)
        assert_int_equal(acq_graph_builder_add_entity(
                             builder, name, (size_t)snprintf(name, sizeof name, "e%u", i), &id),
                         ACQ_OK);
    for (uint32_t i = 0; i < c->n_relations / 2; i++)
        assert_int_equal(acq_graph_builder_add_relation(
                             builder, name, (size_t)snprintf(name, sizeof name, "r%u", i), &id),
                         ACQ_OK);
    for (uint32_t i = 0; i < c->n_facts; i++)
        assert_int_equal(acq_graph_builder_add_fact(builder, c->facts[i].head, c->facts[i].relation,
                                                    c->facts[i].tail),
                         ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &graph, &error), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

/* Scores, loss and gradient as the training has them. */
static double run_training(const test_case *c, double temperature, float *scores, float *gradient)
{
    acq_error error = {0};
    acq_graph *graph = build_graph(c);
    acq_ultra_network network;
    acq_edges world, kinds;
    acq_subgraph subgraph;
    acq_ultra_relations relations;
    acq_ultra_judge judge;
    acq_query_link link = {c->asked.head, c->asked.relation, c->asked.tail};
    acq_random random = acq_random_start(1, 1);
    assert_int_equal(acq_ultra_network_init(&network, c->model, true, NULL), ACQ_OK);
    assert_int_equal(acq_edges_init(&world, graph, &error), ACQ_OK);
    assert_int_equal(acq_ultra_relation_edges_init(&kinds, graph, &error), ACQ_OK);
    assert_int_equal(acq_subgraph_init(&subgraph, &world, &(acq_subgraph_params){0}, &error),
                     ACQ_OK);
    assert_int_equal(acq_subgraph_draw(&subgraph, &link, 1, &random, &error), ACQ_OK);
    assert_int_equal(acq_ultra_relations_init(&relations, &network, kinds.n_nodes, &error), ACQ_OK);
    acq_ultra_judge_init(&judge, &network);
    assert_int_equal(acq_ultra_judge_reserve(&judge, subgraph.n, c->n_candidates, &error), ACQ_OK);
    acq_ultra_query query = {.edges = &subgraph.edges,
                             .head = c->asked.head,
                             .relation = c->asked.relation,
                             .candidates = c->candidates,
                             .n_positives = 1,
                             .n_candidates = c->n_candidates,
                             .temperature = temperature,
                             .weight = 1};
    acq_ultra_relations_forward(&relations, &kinds, c->asked.relation);
    acq_ultra_query_forward(&judge, &query, &relations);
    memcpy(scores, judge.scores, c->n_candidates * sizeof *scores);
    double loss = acq_ultra_query_backward(&judge, &query, &relations, gradient);
    acq_ultra_relations_backward(&relations, &kinds, c->asked.relation, gradient);
    acq_ultra_judge_deinit(&judge);
    acq_ultra_relations_deinit(&relations);
    acq_subgraph_deinit(&subgraph);
    acq_edges_deinit(&kinds);
    acq_edges_deinit(&world);
    acq_ultra_network_deinit(&network);
    acq_graph_free(graph);
    return loss;
}

static double get_slope(test_case *c, size_t i)
{
    const double step = 1e-6;
    double kept = c->values[i];
    c->values[i] = kept + step;
    double up = get_loss(c);
    c->values[i] = kept - step;
    double down = get_loss(c);
    c->values[i] = kept;
    return (up - down) / (2 * step);
}

static void check_slopes(test_case *c, const float *gradient, acq_random *random)
{
    const acq_parameters *parameters = &c->model->parameters;
    for (size_t t = 0; t < parameters->n_tensors; t++) {
        const acq_tensor *tensor = &parameters->tensors[t];
        double largest = 0;
        for (size_t i = 0; i < acq_tensor_get_length(tensor); i++)
            largest = fmax(largest, fabs(gradient[tensor->offset + i]));
        for (size_t k = 0; k < 2; k++) {
            size_t i = tensor->offset + acq_random_below(random, acq_tensor_get_length(tensor));
            double want = get_slope(c, i);
            if (!(fabs(gradient[i] - want) <= 1e-3 * largest + 1e-6))
                fail_msg("%s: %.9g is not %.9g", tensor->name, gradient[i], want);
        }
    }
}

static void check_case(uint64_t seed)
{
    test_case c = {0};
    float scores[MOST_CANDIDATES];
    double plain[MOST_CANDIDATES], temperature = seed % 3 == 0 ? 0 : 1;
    acq_random random = acq_random_start(seed, 0);
    draw_facts(&c, &random);
    draw_query(&c, &random);
    draw_model(&c, seed, &random);
    float *gradient = calloc(c.model->parameters.n, sizeof *gradient);
    double loss = run_training(&c, temperature, scores, gradient);
    set_shares(&c, temperature);
    get_scores(&c, plain);
    for (size_t i = 0; i < c.n_candidates; i++)
        if (!(fabs(scores[i] - plain[i]) <= 1e-4 * (1 + fabs(plain[i]))))
            fail_msg("seed %d: score %.9g is not %.9g", (int)seed, scores[i], plain[i]);
    assert_true(fabs(loss - get_loss(&c)) <= 1e-4 * (1 + loss));
    check_slopes(&c, gradient, &random);
    free(gradient);
    free(c.values);
    acq_ultra_free(c.model);
}

static void test_scores_loss_and_gradient_are_those_of_the_equations(void **state)
{
    (void)state;
    for (uint64_t seed = 1, n = count_cases(SCALE(6, 3)); seed <= n; seed++)
        check_case(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores_loss_and_gradient_are_those_of_the_equations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
