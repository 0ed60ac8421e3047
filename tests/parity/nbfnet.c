/* nbfnet.c - NBFNet against an independent network in double precision (support/nbfnet_oracle.h):
 * scores of rows and of fuzzy sets, and the gradient of a batch, of links or of GNN-QE's programs,
 * against finite differences of that network's loss, tensor by tensor, along random directions.
 *
 * Equal messages do not disturb the differences: they come from entities in the same position,
 * whose states move together. ACQ_CASES in the environment changes the number of cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/nbfnet_case.h"
#include "support/nbfnet_oracle.h"
#include "support/scale.h"
#include "train/batch.h"
#include "train/gnnqe.h"

enum { CASES = SCALE(12, 3), MOST_ENTITIES = 24, DIRECTIONS = 2, QUERIES = 2 };

static const double SCORE_TOLERANCE = 2e-4, SLOPE_TOLERANCE = 5e-3, STEP = 1e-6;

static void draw_case(nbfnet_case *c, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 5);
    uint32_t n_entities = 3 + (uint32_t)acq_random_below(&random, MOST_ENTITIES - 3);
    uint32_t n_names = 1 + (uint32_t)acq_random_below(&random, 4);
    nbfnet_case_init(c, seed, n_entities, n_names, 2 + acq_random_below(&random, 60));
}

static acq_nbfnet *new_shaped(const acq_graph *graph, uint64_t seed, acq_nbfnet_shape shape)
{
    acq_nbfnet *model = NULL;
    assert_int_equal(
        acq_nbfnet_new_shaped(acq_graph_get_n_relations(graph), &shape, seed, &model, NULL),
        ACQ_OK);
    return model;
}

/* Every third with 2 to 6 layers, every fifth with sums. */
static acq_nbfnet *new_model(const acq_graph *graph, uint64_t seed)
{
    acq_nbfnet_shape shape = {.layers = seed % 3 == 1 ? 2 + (unsigned)(seed % 5) : 4,
                              .sums = seed % 5 == 2};
    return new_shaped(graph, seed, shape);
}

static void assert_scores(const float *found, const double *expected, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fabs((double)found[i] - expected[i]) > SCORE_TOLERANCE * (1 + fabs(expected[i])))
            fail_msg("score %zu is %.7g, not %.7g", i, (double)found[i], expected[i]);
}

typedef struct row_case {
    nbfnet_case c;
    acq_nbfnet *model;
    acq_row_model *rows;
    void *scratch;
    nbfnet_oracle oracle;
    uint32_t n;
} row_case;

static void row_case_init(row_case *r, uint64_t seed)
{
    draw_case(&r->c, seed);
    r->model = new_model(r->c.graph, seed);
    r->n = acq_graph_get_n_entities(r->c.graph);
    assert_int_equal(acq_nbfnet_new_row_model(r->model, r->c.graph, &r->rows, NULL), ACQ_OK);
    assert_int_equal(r->rows->ops->open_scratch(r->rows, &r->scratch, NULL), ACQ_OK);
    r->oracle = (nbfnet_oracle){.model = r->model,
                                .parameters = nbfnet_oracle_copy_parameters(r->model),
                                .n_entities = r->n,
                                .facts = r->c.facts,
                                .n_facts = r->c.n_facts};
}

static void row_case_deinit(row_case *r)
{
    r->rows->ops->free_scratch(r->rows, r->scratch);
    acq_row_model_free(r->rows);
    acq_nbfnet_free(r->model);
    free(r->oracle.parameters);
    nbfnet_case_deinit(&r->c);
}

static void score(const row_case *r, acq_row_request request)
{
    assert_int_equal(r->rows->ops->score(r->rows, r->scratch, &request, NULL), ACQ_OK);
}

/* All heads of one relation at once, then one of them for some of the tails. */
static void check_rows(const row_case *r, acq_rel relation)
{
    float all[MOST_ENTITIES * MOST_ENTITIES], some[MOST_ENTITIES];
    acq_ent heads[MOST_ENTITIES], tails[MOST_ENTITIES];
    size_t n_tails = 0;
    for (acq_ent e = 0; e < r->n; e++)
        heads[e] = e;
    for (acq_ent e = relation % 3; e < r->n; e += 3)
        tails[n_tails++] = e;
    score(r, (acq_row_request){relation, heads, r->n, NULL, r->n, all, {0}});
    for (acq_ent h = 0; h < r->n; h++) {
        double weights[MOST_ENTITIES] = {0}, expected[MOST_ENTITIES];
        weights[h] = 1;
        nbfnet_oracle_score(&r->oracle, relation, weights, expected);
        assert_scores(all + h * r->n, expected, r->n);
    }
    acq_ent head = relation % r->n;
    score(r, (acq_row_request){relation, &head, 1, tails, n_tails, some, {0}});
    for (size_t i = 0; i < n_tails; i++)
        assert_true(some[i] == all[head * r->n + tails[i]]);
}

static void test_rows_are_those_of_the_equations(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < count_cases(CASES); seed++) {
        row_case r;
        row_case_init(&r, seed);
        for (acq_rel relation = 0; relation < r.model->n_relations; relation++)
            check_rows(&r, relation);
        row_case_deinit(&r);
    }
}

/* ---- rows on the entities around the head ---- */

/* Facts between the nodes, and the scales of the whole graph. */
static nbfnet_oracle restrict_oracle(const row_case *r, const acq_ent *nodes, size_t n,
                                     acq_triple *facts, float *scales)
{
    nbfnet_oracle oracle = r->oracle;
    bool is_node[MOST_ENTITIES] = {0};
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        is_node[nodes[i]] = true;
    oracle.facts = facts;
    oracle.n_facts = 0;
    oracle.scales = scales;
    for (acq_ent e = 0; e < r->n; e++)
        scales[e] = 0;
    for (size_t i = 0; i < r->c.n_facts; i++) {
        acq_triple f = r->c.facts[i];
        scales[f.head]++;
        if (is_node[f.head] && is_node[f.tail])
            facts[oracle.n_facts++] = f;
    }
    for (acq_ent e = 0; e < r->n; e++)
        sum += log((double)scales[e] + 1) / r->n;
    for (acq_ent e = 0; e < r->n; e++)
        scales[e] = (float)(log((double)scales[e] + 1) / sum);
    return oracle;
}

static void check_near_row(const row_case *r, acq_rel relation, acq_ent head)
{
    float scores[MOST_ENTITIES], scales[MOST_ENTITIES], found[MOST_ENTITIES];
    double weights[MOST_ENTITIES] = {0}, all[MOST_ENTITIES], expected[MOST_ENTITIES];
    const acq_ent *nodes;
    size_t n;
    assert_int_equal(
        r->rows->ops->score_few(r->rows, r->scratch, relation, head, scores, &nodes, &n, NULL),
        ACQ_OK);
    acq_triple *facts = calloc(r->c.n_facts + 1, sizeof *facts);
    assert_non_null(facts);
    nbfnet_oracle oracle = restrict_oracle(r, nodes, n, facts, scales);
    weights[head] = 1;
    nbfnet_oracle_score(&oracle, relation, weights, all);
    for (size_t i = 0; i < n; i++) {
        found[i] = scores[nodes[i]];
        expected[i] = all[nodes[i]];
    }
    assert_scores(found, expected, n);
    free(facts);
}

static void open_near(row_case *r, uint32_t most_nodes)
{
    acq_around_params params = {.most_nodes = most_nodes};
    r->rows->ops->free_scratch(r->rows, r->scratch);
    acq_row_model_free(r->rows);
    assert_int_equal(acq_nbfnet_new_near_row_model(r->model, r->c.graph, &params, &r->rows, NULL),
                     ACQ_OK);
    assert_int_equal(r->rows->ops->open_scratch(r->rows, &r->scratch, NULL), ACQ_OK);
}

static void test_near_rows_are_those_of_the_links_between_their_nodes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < count_cases(CASES); seed++) {
        row_case r;
        row_case_init(&r, seed);
        open_near(&r, 1 + (uint32_t)(seed % 8));
        for (acq_rel relation = 0; relation < r.model->n_relations && r.rows->is_sparse; relation++)
            check_near_row(&r, relation, (acq_ent)((seed + relation) % r.n));
        row_case_deinit(&r);
    }
}

static void test_near_rows_of_all_entities_are_whole_rows(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < count_cases(CASES); seed++) {
        row_case r;
        float whole[MOST_ENTITIES], near[MOST_ENTITIES];
        acq_ent head = 0;
        row_case_init(&r, seed);
        score(&r, (acq_row_request){1, &head, 1, NULL, r.n, whole, {0}});
        open_near(&r, r.n);
        score(&r, (acq_row_request){1, &head, 1, NULL, r.n, near, {0}});
        assert_memory_equal(whole, near, r.n * sizeof *whole);
        row_case_deinit(&r);
    }
}

/* ---- rows whose layers visit a part ---- */

enum { VISIT_CASES = SCALE(40, 8) };

static acq_nbfnet_shape draw_visit(uint64_t seed)
{
    acq_random random = acq_random_start(seed, 11);
    return (acq_nbfnet_shape){
        .layers = 3 + (unsigned)(seed % 2),
        .sums = seed % 4 == 1,
        .weighs = seed % 3 > 0,
        .visit = {(float)(.1 + .9 * acq_random_unit(&random)),
                  seed % 5 == 0 ? 0 : (float)(.1 + .9 * acq_random_unit(&random))}};
}

/* Against sorting and messages one by one; false: which nodes are chosen hangs on a rounding. */
static bool check_visit_row(row_case *r, acq_rel relation, acq_ent head)
{
    nbfnet_choice choice = {0};
    double weights[MOST_ENTITIES] = {0}, expected[MOST_ENTITIES];
    float found[MOST_ENTITIES];
    weights[head] = 1;
    r->oracle.choice = &choice;
    nbfnet_oracle_score(&r->oracle, relation, weights, expected);
    r->oracle.choice = NULL;
    if (choice.is_doubtful)
        return false;
    score(r, (acq_row_request){relation, &head, 1, NULL, r->n, found, {0}});
    assert_scores(found, expected, r->n);
    return true;
}

static void reshape(row_case *r, acq_nbfnet_shape shape, uint64_t seed)
{
    r->rows->ops->free_scratch(r->rows, r->scratch);
    acq_row_model_free(r->rows);
    acq_nbfnet_free(r->model);
    free(r->oracle.parameters);
    r->model = new_shaped(r->c.graph, seed, shape);
    assert_int_equal(acq_nbfnet_new_row_model(r->model, r->c.graph, &r->rows, NULL), ACQ_OK);
    assert_int_equal(r->rows->ops->open_scratch(r->rows, &r->scratch, NULL), ACQ_OK);
    r->oracle.model = r->model;
    r->oracle.parameters = nbfnet_oracle_copy_parameters(r->model);
}

static void test_pruned_rows_are_those_of_the_equations(void **state)
{
    (void)state;
    size_t n_checked = 0, n_rows = 0;
    for (uint64_t seed = 0; seed < count_cases(VISIT_CASES); seed++) {
        row_case r;
        row_case_init(&r, seed);
        reshape(&r, draw_visit(seed), seed);
        for (acq_rel relation = 0; relation < r.model->n_relations; relation++, n_rows++)
            n_checked += check_visit_row(&r, relation, (acq_ent)((seed + relation) % r.n));
        row_case_deinit(&r);
    }
    assert_true(2 * n_checked > n_rows);
}

static void test_rows_pruned_to_everything_are_whole_rows_to_the_bit(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < count_cases(CASES); seed++) {
        row_case r;
        float whole[MOST_ENTITIES], pruned[MOST_ENTITIES], some[2];
        acq_ent head = 0, tails[2] = {2, 0};
        row_case_init(&r, seed);
        score(&r, (acq_row_request){1, &head, 1, NULL, r.n, whole, {0}});
        r.model->shape.visit = (acq_nbfnet_visit){1, 1};
        score(&r, (acq_row_request){1, &head, 1, NULL, r.n, pruned, {0}});
        assert_memory_equal(whole, pruned, r.n * sizeof *whole);
        score(&r, (acq_row_request){1, &head, 1, tails, 2, some, {0}});
        assert_true(some[0] == whole[2] && some[1] == whole[0]);
        row_case_deinit(&r);
    }
}

static void check_fuzzy_set(const row_case *r, acq_rel relation, uint64_t seed)
{
    acq_random random = acq_random_start(seed, relation);
    float weights[MOST_ENTITIES], out[MOST_ENTITIES];
    double same[MOST_ENTITIES], expected[MOST_ENTITIES];
    double share = acq_random_unit(&random); /* of entities in the set */
    for (acq_ent e = 0; e < r->n; e++) {
        bool is_in = acq_random_unit(&random) < share;
        weights[e] = is_in ? (float)acq_random_unit(&random) : 0;
        same[e] = (double)weights[e];
    }
    assert_int_equal(acq_nbfnet_project(r->rows, r->scratch, relation, weights, out, NULL), ACQ_OK);
    nbfnet_oracle_score(&r->oracle, relation, same, expected);
    assert_scores(out, expected, r->n);
}

static void test_fuzzy_sets_are_boundaries(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < count_cases(CASES); seed++) {
        row_case r;
        row_case_init(&r, seed);
        for (acq_rel relation = 0; relation < r.model->n_relations; relation++)
            check_fuzzy_set(&r, relation, seed);
        row_case_deinit(&r);
    }
}

static void test_one_entity_as_a_set_is_its_row(void **state)
{
    (void)state;
    row_case r;
    row_case_init(&r, 3);
    float row[MOST_ENTITIES], projected[MOST_ENTITIES], weights[MOST_ENTITIES] = {0};
    acq_ent head = 1;
    weights[head] = 1;
    score(&r, (acq_row_request){0, &head, 1, NULL, r.n, row, {0}});
    assert_int_equal(acq_nbfnet_project(r.rows, r.scratch, 0, weights, projected, NULL), ACQ_OK);
    assert_memory_equal(row, projected, r.n * sizeof *row);
    row_case_deinit(&r);
}

/* A batch with the network in double on the same subgraph. */
typedef struct gradient_case {
    nbfnet_case c;
    acq_nbfnet *model;
    acq_train_nbfnet_params params;
    acq_edges world;
    float scales[MOST_ENTITIES];
    acq_nbfnet_batch batch;
    acq_nbfnet_gradient gradient;
    acq_around_index index;
    double *parameters;
    nbfnet_oracle oracles[QUERIES]; /* on the edges of each query */
    nbfnet_choice choices[QUERIES];
    acq_triple *facts[QUERIES];
    double (*weights)[MOST_ENTITIES + ACQ_NBFNET_MOST_POSITIVES]; /* of targets in the loss */
} gradient_case;

static void list_edges(gradient_case *g, size_t i_query)
{
    const acq_nbfnet_query *query = &g->batch.queries[i_query];
    const acq_edges *edges = query->edges == NULL ? &g->batch.subgraph.edges : query->edges;
    acq_triple *facts = calloc(edges->n_edges + 1, sizeof *facts);
    size_t n = 0;
    assert_non_null(facts);
    for (uint32_t v = 0; v < edges->n_nodes; v++)
        for (uint32_t i = edges->rows[v]; i < edges->rows[v + 1]; i++)
            for (uint32_t s = edges->begins[i]; s < edges->begins[i + 1]; s++)
                facts[n++] = (acq_triple){v, edges->relations[i], edges->sources[s]};
    g->facts[i_query] = facts;
    g->oracles[i_query] =
        (nbfnet_oracle){.model = g->model,
                        .parameters = g->parameters,
                        .n_entities = edges->n_nodes,
                        .facts = facts,
                        .n_facts = n,
                        .scales = query->edges == NULL ? g->batch.scales : query->scales,
                        .targets = query->targets,
                        .n_targets = query->n_targets};
    if (g->model->shape.weighs || g->model->shape.visit.nodes > 0)
        g->oracles[i_query].choice = &g->choices[i_query];
}

static void score_query(const gradient_case *g, size_t i, double *scores)
{
    const acq_nbfnet_query *query = &g->batch.queries[i];
    double weights[MOST_ENTITIES] = {0}, all[MOST_ENTITIES];
    weights[query->head] = 1;
    nbfnet_oracle_score(&g->oracles[i], query->relation, weights, all);
    for (size_t t = 0; t < query->n_targets; t++)
        scores[t] = all[query->targets[t]];
}

/* Weights of the negatives at the start: they are constants of the loss. */
static void fix_weights(gradient_case *g)
{
    g->weights = calloc(g->params.batch, sizeof *g->weights);
    assert_non_null(g->weights);
    for (size_t i = 0; i < g->params.batch; i++) {
        const acq_nbfnet_query *query = &g->batch.queries[i];
        double scores[MOST_ENTITIES + ACQ_NBFNET_MOST_POSITIVES], sum = 0;
        score_query(g, i, scores);
        for (size_t t = 0; t < query->n_targets; t++) {
            bool is_positive = t < query->n_positives;
            g->weights[i][t] =
                is_positive ? 0.5 / (double)query->n_positives : exp(scores[t] / g->params.temperature);
            sum += is_positive ? 0 : g->weights[i][t];
        }
        for (size_t t = query->n_positives; t < query->n_targets; t++)
            g->weights[i][t] *= 0.5 / sum;
    }
}

static double get_loss(const void *context)
{
    const gradient_case *g = context;
    double loss = 0;
    for (size_t i = 0; i < g->params.batch; i++) {
        const acq_nbfnet_query *query = &g->batch.queries[i];
        double scores[MOST_ENTITIES + ACQ_NBFNET_MOST_POSITIVES];
        score_query(g, i, scores);
        for (size_t t = 0; t < query->n_targets; t++) {
            double sign = t < query->n_positives ? -1 : 1;
            loss += g->weights[i][t] * log(1 + exp(sign * scores[t])) / g->params.batch;
        }
    }
    return loss;
}

/* shape NULL: nothing is pruned. */
static void gradient_case_init(gradient_case *g, uint64_t seed, const acq_nbfnet_shape *shape)
{
    draw_case(&g->c, seed);
    g->model = shape == NULL ? new_model(g->c.graph, seed) : new_shaped(g->c.graph, seed, *shape);
    acq_train_nbfnet_params_init(&g->params);
    g->params.batch = QUERIES;
    g->params.most_around = seed % 3 == 2 ? 1 + (uint32_t)(seed % 9) : 0;
    g->params.negatives = 1 + seed % 5;
    g->params.most_entities = seed % 2 == 0 ? 0 : 8;
    g->params.drops_pairs = seed % 3 == 0;
    g->params.n_threads = 1 + seed % 2;
    g->params.seed = seed;
    assert_int_equal(acq_edges_init(&g->world, g->c.graph, NULL), ACQ_OK);
    acq_nbfnet_fill_scales(&g->world, g->scales);
    assert_int_equal(acq_nbfnet_batch_init(&g->batch, &g->params, &g->world, g->scales, NULL),
                     ACQ_OK);
    acq_nbfnet_gradient_params params = {.batch = g->params.batch,
                                         .most_targets =
                                             g->params.negatives + ACQ_NBFNET_MOST_POSITIVES,
                                         .temperature = g->params.temperature,
                                         .n_threads = g->params.n_threads};
    assert_int_equal(acq_nbfnet_gradient_init(&g->gradient, g->model, &params, NULL), ACQ_OK);
    assert_int_equal(acq_around_index_init(&g->index, g->c.graph, NULL), ACQ_OK);
    if (g->params.most_around > 0)
        assert_int_equal(acq_nbfnet_batch_init_near(&g->batch, &g->index, NULL), ACQ_OK);
    assert_int_equal(acq_nbfnet_batch_draw(&g->batch, seed, NULL), ACQ_OK);
    g->parameters = nbfnet_oracle_copy_parameters(g->model);
    for (size_t i = 0; i < QUERIES; i++)
        list_edges(g, i);
    fix_weights(g);
}

static void gradient_case_deinit(gradient_case *g)
{
    acq_nbfnet_gradient_deinit(&g->gradient);
    acq_nbfnet_batch_deinit(&g->batch);
    acq_edges_deinit(&g->world);
    acq_around_index_deinit(&g->index);
    acq_nbfnet_free(g->model);
    nbfnet_case_deinit(&g->c);
    free(g->parameters);
    for (size_t i = 0; i < QUERIES; i++)
        free(g->facts[i]);
    free(g->weights);
}

/* What is compared: a gradient and the loss as a function of the oracle's parameters. */
typedef struct slope_case {
    const float *values;
    double *parameters;
    double (*get_loss)(const void *g);
    const void *g;
} slope_case;

static void move(const slope_case *c, const acq_tensor *tensor, const double *direction,
                 double step)
{
    for (size_t i = 0; i < acq_tensor_get_length(tensor); i++)
        c->parameters[tensor->offset + i] += step * direction[i];
}

/* Half of the numbers move by +-1. */
static void draw_direction(acq_random *random, size_t n, double *direction)
{
    for (size_t i = 0; i < n; i++)
        direction[i] =
            (double)acq_random_below(random, 2) * (acq_random_unit(random) < .5 ? -1 : 1);
}

static void check_tensor(const slope_case *c, const acq_tensor *tensor, acq_random *random)
{
    size_t n = acq_tensor_get_length(tensor);
    const float *values = c->values + tensor->offset;
    double *direction = calloc(n, sizeof *direction), slope = 0, size = 0;
    assert_non_null(direction);
    draw_direction(random, n, direction);
    for (size_t i = 0; i < n; i++) {
        slope += (double)values[i] * direction[i];
        size += (double)values[i] * (double)values[i];
    }
    move(c, tensor, direction, STEP);
    double high = c->get_loss(c->g);
    move(c, tensor, direction, -2 * STEP);
    double difference = (high - c->get_loss(c->g)) / (2 * STEP);
    move(c, tensor, direction, STEP);
    if (fabs(slope - difference) > SLOPE_TOLERANCE * (sqrt(size) + fabs(difference)) + 1e-6)
        fail_msg("%s: the slope is %.7g, the difference says %.7g", tensor->name, slope,
                 difference);
    free(direction);
}

static void check_slopes(const slope_case *c, const acq_nbfnet *model, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 9);
    for (size_t t = 0; t < model->parameters.n_tensors; t++)
        for (int i = 0; i < DIRECTIONS; i++)
            check_tensor(c, &model->parameters.tensors[t], &random);
}

/* False: nothing was checked, as a choice hangs on a rounding. */
static bool check_gradient(uint64_t seed, const acq_nbfnet_shape *shape)
{
    gradient_case g = {0};
    bool is_doubtful = false;
    gradient_case_init(&g, seed, shape);
    for (size_t i = 0; i < QUERIES; i++)
        is_doubtful = is_doubtful || g.choices[i].is_doubtful;
    if (!is_doubtful) {
        double loss;
        assert_int_equal(acq_nbfnet_gradient_compute(&g.gradient, &g.batch.subgraph.edges,
                                                     g.batch.scales, g.batch.queries, &loss, NULL),
                         ACQ_OK);
        double expected = get_loss(&g);
        assert_true(fabs(loss - expected) <= SCORE_TOLERANCE * (1 + expected));
        slope_case c = {g.gradient.values, g.parameters, get_loss, &g};
        check_slopes(&c, g.model, seed);
    }
    gradient_case_deinit(&g);
    return !is_doubtful;
}

static void test_the_gradient_is_the_slope_of_the_loss(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < count_cases(CASES); seed++)
        assert_true(check_gradient(seed, NULL));
}

static void test_the_gradient_of_pruned_rows_is_the_slope_of_the_loss(void **state)
{
    (void)state;
    size_t n_checked = 0, n = count_cases(2 * CASES);
    for (uint64_t seed = 0; seed < n; seed++) {
        acq_nbfnet_shape shape = draw_visit(seed);
        n_checked += check_gradient(seed, &shape);
    }
    assert_true(3 * n_checked > n);
}

/* ---- GNN-QE: the same for programs, whose input sets are constants ---- */

enum { PROGRAMS = 3, PROGRAM_CASES = SCALE(6, 2) };

typedef struct program_case {
    nbfnet_case c;
    acq_nbfnet *model;
    acq_train_nbfnet_params params;
    acq_edges world;
    float scales[MOST_ENTITIES];
    acq_sampler *sampler;
    acq_gnnqe_batch batch;
    acq_nbfnet_gradient gradient;
    nbfnet_oracle oracle, fixed; /* fixed: of the parameters at the start */
    double weights[PROGRAMS][MOST_ENTITIES], signs[PROGRAMS][MOST_ENTITIES];
} program_case;

/* Degrees of a set; what a projection begins with is of the fixed parameters. */
static void fill_set(const program_case *g, const nbfnet_oracle *oracle, const acq_set_node *node,
                     double *out)
{
    double child[MOST_ENTITIES];
    uint32_t n = g->oracle.n_entities;
    for (uint32_t e = 0; e < n; e++)
        out[e] = node->kind == ACQ_SET_ENTITY ? e == node->id : 1;
    for (uint32_t c = 0; c < node->n_children; c++) {
        bool is_project = node->kind == ACQ_SET_PROJECT;
        fill_set(g, is_project ? &g->fixed : oracle, node->children[c], child);
        if (is_project)
            nbfnet_oracle_score(oracle, node->id, child, out);
        for (uint32_t e = 0; e < n; e++)
            out[e] = is_project                  ? 1 / (1 + exp(-out[e]))
                     : node->kind == ACQ_SET_NOT ? 1 - child[e]
                                                 : out[e] * child[e];
    }
}

/* The answers that facts give. */
static void fill_truth(const program_case *g, const acq_set_node *node, bool *out)
{
    bool child[MOST_ENTITIES];
    uint32_t n = g->oracle.n_entities;
    for (uint32_t e = 0; e < n; e++)
        out[e] = node->kind == ACQ_SET_ENTITY    ? e == node->id
                 : node->kind == ACQ_SET_PROJECT ? false
                                                 : true;
    for (uint32_t c = 0; c < node->n_children; c++) {
        fill_truth(g, node->children[c], child);
        for (uint32_t e = 0; e < n && node->kind != ACQ_SET_PROJECT; e++)
            out[e] = node->kind == ACQ_SET_NOT ? !child[e] : out[e] && child[e];
        for (size_t i = 0; i < g->c.n_facts && node->kind == ACQ_SET_PROJECT; i++)
            if (g->c.facts[i].relation == node->id && child[g->c.facts[i].head])
                out[g->c.facts[i].tail] = true;
    }
}

static double get_logit(double p)
{
    return log((p + 1e-10) / (1 - p + 1e-10));
}

static void fix_program_weights(program_case *g, uint32_t i)
{
    const acq_set_node *root = g->batch.queries[i].tree->root;
    double degrees[MOST_ENTITIES], sum = 0, n_true = 0;
    bool truth[MOST_ENTITIES];
    fill_set(g, &g->fixed, root, degrees);
    fill_truth(g, root, truth);
    for (uint32_t e = 0; e < g->oracle.n_entities; e++) {
        g->signs[i][e] = truth[e] ? -1 : 1;
        n_true += truth[e];
        sum += truth[e] ? 0 : exp(get_logit(degrees[e]) / 0.2);
    }
    assert_true(n_true > 0);
    for (uint32_t e = 0; e < g->oracle.n_entities; e++)
        g->weights[i][e] = 0.5 * (truth[e] ? 1 / n_true : exp(get_logit(degrees[e]) / 0.2) / sum);
}

static double get_program_loss(const void *context)
{
    const program_case *g = context;
    double loss = 0, degrees[MOST_ENTITIES];
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        fill_set(g, &g->oracle, g->batch.queries[i].tree->root, degrees);
        for (uint32_t e = 0; e < g->oracle.n_entities; e++)
            loss +=
                g->weights[i][e] * log1p(exp(g->signs[i][e] * get_logit(degrees[e]))) / PROGRAMS;
    }
    return loss;
}

static void program_case_init(program_case *g, uint64_t seed)
{
    draw_case(&g->c, seed);
    g->model = new_model(g->c.graph, seed);
    acq_train_gnnqe_params_init(&g->params);
    g->params.batch = PROGRAMS;
    g->params.most_entities = 0;
    g->params.edge_dropout = 0;
    g->params.n_threads = 1 + seed % 2;
    g->params.seed = seed;
    assert_int_equal(acq_edges_init(&g->world, g->c.graph, NULL), ACQ_OK);
    acq_nbfnet_fill_scales(&g->world, g->scales);
    assert_int_equal(acq_sampler_new(g->c.graph, &g->sampler, NULL), ACQ_OK);
    assert_int_equal(
        acq_gnnqe_batch_init(&g->batch, &g->params, &g->world, g->scales, g->sampler, NULL),
        ACQ_OK);
    acq_nbfnet_gradient_params params = {.batch = PROGRAMS * ACQ_GNNQE_MOST_PASSES,
                                         .n_threads = g->params.n_threads};
    assert_int_equal(acq_nbfnet_gradient_init(&g->gradient, g->model, &params, NULL), ACQ_OK);
    assert_int_equal(acq_gnnqe_batch_draw(&g->batch, seed, NULL), ACQ_OK);
    g->oracle = (nbfnet_oracle){.model = g->model,
                                .parameters = nbfnet_oracle_copy_parameters(g->model),
                                .n_entities = g->world.n_nodes,
                                .facts = g->c.facts,
                                .n_facts = g->c.n_facts};
    g->fixed = g->oracle;
    g->fixed.parameters = nbfnet_oracle_copy_parameters(g->model);
    for (uint32_t i = 0; i < PROGRAMS; i++)
        fix_program_weights(g, i);
}

static void program_case_deinit(program_case *g)
{
    acq_nbfnet_gradient_deinit(&g->gradient);
    acq_gnnqe_batch_deinit(&g->batch);
    acq_sampler_free(g->sampler);
    acq_edges_deinit(&g->world);
    acq_nbfnet_free(g->model);
    nbfnet_case_deinit(&g->c);
    free(g->oracle.parameters);
    free(g->fixed.parameters);
}

static void test_programs_teach_their_last_projections(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < count_cases(PROGRAM_CASES); seed++) {
        program_case *g = calloc(1, sizeof *g);
        assert_non_null(g);
        program_case_init(g, seed);
        double loss, expected = get_program_loss(g);
        assert_int_equal(acq_gnnqe_batch_compute(&g->batch, &g->gradient, &loss, NULL), ACQ_OK);
        assert_true(fabs(loss - expected) <= SCORE_TOLERANCE * (1 + expected));
        slope_case c = {g->gradient.values, g->oracle.parameters, get_program_loss, g};
        check_slopes(&c, g->model, seed);
        program_case_deinit(g);
        free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_those_of_the_equations),
        cmocka_unit_test(test_near_rows_are_those_of_the_links_between_their_nodes),
        cmocka_unit_test(test_near_rows_of_all_entities_are_whole_rows),
        cmocka_unit_test(test_fuzzy_sets_are_boundaries),
        cmocka_unit_test(test_one_entity_as_a_set_is_its_row),
        cmocka_unit_test(test_pruned_rows_are_those_of_the_equations),
        cmocka_unit_test(test_rows_pruned_to_everything_are_whole_rows_to_the_bit),
        cmocka_unit_test(test_the_gradient_is_the_slope_of_the_loss),
        cmocka_unit_test(test_the_gradient_of_pruned_rows_is_the_slope_of_the_loss),
        cmocka_unit_test(test_programs_teach_their_last_projections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
