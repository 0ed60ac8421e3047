/* nbfnet_train.c - the trainings of NBFNet, on links and inside GNN-QE's programs: the same weights
 * at any number of threads and after any interruption, batches that hide what they ask for, a rule
 * that is learned, options and graphs that are refused, and every allocation may fail. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/nbfnet_case.h"
#include "train/batch.h"
#include "train/gnnqe.h"

enum { BATCHES = 6, MOST_ALLOCATIONS = 5000 };

static nbfnet_case world;
static char folder[] = "/tmp/anycq-nbfnet-XXXXXX";
static char checkpoint[sizeof folder + 16];

static int set_up(void **state)
{
    (void)state;
    nbfnet_case_init(&world, 5, 30, 3, 80);
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    nbfnet_case_deinit(&world);
    unlink(checkpoint);
    return rmdir(folder); /* fails when something was left behind */
}

static acq_train_nbfnet_params get_params(void)
{
    acq_train_nbfnet_params params;
    acq_train_nbfnet_params_init(&params);
    params.batch = 5;
    params.negatives = 6;
    params.most_around = 0;
    params.most_entities = 14;
    params.batches = BATCHES;
    return params;
}

typedef acq_status (*train_fn)(const acq_graph *graph, const acq_train_nbfnet_params *params,
                               acq_nbfnet **out, acq_error *error);

static const train_fn trainings[] = {acq_train_nbfnet, acq_train_gnnqe};

enum { N_TRAININGS = 2 };

static acq_nbfnet *train_by(train_fn by, const acq_graph *graph,
                            const acq_train_nbfnet_params *params)
{
    acq_nbfnet *model = NULL;
    acq_error error = {0};
    if (by(graph, params, &model, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return model;
}

static acq_nbfnet *train(const acq_graph *graph, const acq_train_nbfnet_params *params)
{
    return train_by(acq_train_nbfnet, graph, params);
}

static void assert_same(acq_nbfnet *a, acq_nbfnet *b)
{
    assert_memory_equal(a->parameters.values, b->parameters.values,
                        a->parameters.n * sizeof(float));
    acq_nbfnet_free(a);
    acq_nbfnet_free(b);
}

static void test_threads_do_not_change_a_bit(void **state)
{
    (void)state;
    acq_train_nbfnet_params one = get_params(), three = get_params();
    three.n_threads = 3;
    for (size_t i = 0; i < N_TRAININGS; i++)
        assert_same(train_by(trainings[i], world.graph, &one),
                    train_by(trainings[i], world.graph, &three));
}

static void test_another_seed_gives_other_weights(void **state)
{
    (void)state;
    acq_train_nbfnet_params params = get_params();
    acq_nbfnet *a = train(world.graph, &params);
    params.seed = 2;
    acq_nbfnet *b = train(world.graph, &params);
    assert_true(memcmp(a->parameters.values, b->parameters.values, 4096) != 0);
    acq_nbfnet_free(a);
    acq_nbfnet_free(b);
}

static bool stop_at(void *context, const acq_train_progress *now)
{
    assert_true(now->total == BATCHES && now->done <= BATCHES && isfinite(now->loss));
    return now->done < *(const double *)context;
}

static void stop_and_go_on(train_fn by, double stop)
{
    acq_train_nbfnet_params params = get_params();
    acq_nbfnet *whole = train_by(by, world.graph, &params), *model = NULL;
    acq_error error = {0};
    params.checkpoint = checkpoint;
    params.progress = stop_at;
    params.context = &stop;
    assert_int_equal(by(world.graph, &params, &model, &error), ACQ_ERR_INTERRUPTED);
    assert_null(model);
    params.resume = true;
    params.progress = NULL;
    assert_same(train_by(by, world.graph, &params), whole);
}

static void test_a_stopped_training_goes_on_as_if_it_had_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_TRAININGS; i++)
        for (double stop = 1; stop < BATCHES; stop += 2) {
            stop_and_go_on(trainings[i], stop);
            unlink(checkpoint);
        }
}

static void assert_refused(const acq_graph *graph, const acq_train_nbfnet_params *params,
                           acq_status expected, const char *part)
{
    acq_nbfnet *model = NULL;
    acq_error error = {0};
    assert_int_equal(acq_train_nbfnet(graph, params, &model, &error), expected);
    assert_null(model);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
}

static void test_a_checkpoint_of_other_options_is_refused(void **state)
{
    (void)state;
    acq_train_nbfnet_params params = get_params();
    params.checkpoint = checkpoint;
    acq_nbfnet_free(train(world.graph, &params));
    params.resume = true;
    params.negatives = 7;
    assert_refused(world.graph, &params, ACQ_ERR_INPUT, "negatives 6, not 7");
    params.checkpoint = NULL;
    assert_refused(world.graph, &params, ACQ_ERR_USAGE, "path of a checkpoint");
}

/* A rate of 0 leaves the weights where they start. */
static void test_a_warm_start_begins_at_other_weights(void **state)
{
    (void)state;
    acq_train_nbfnet_params params = get_params();
    acq_nbfnet *warm = train(world.graph, &params);
    params.warm = warm;
    params.optimizer.rate = params.optimizer.last_rate = 0;
    params.seed = 9;
    assert_same(train(world.graph, &params), warm);
    assert_int_equal(acq_nbfnet_new(2, 1, &warm, NULL), ACQ_OK);
    params.warm = warm;
    assert_refused(world.graph, &params, ACQ_ERR_INPUT, "has 2 relations and the graph 6");
    acq_nbfnet_free(warm);
}

static void test_bad_options_are_refused(void **state)
{
    (void)state;
    acq_train_nbfnet_params params = get_params();
    params.batch = 0;
    assert_refused(world.graph, &params, ACQ_ERR_USAGE, "a query per batch");
    params = get_params();
    params.batches = 0;
    assert_refused(world.graph, &params, ACQ_ERR_USAGE, "batches or a time");
    params = get_params();
    params.temperature = (double)NAN;
    assert_refused(world.graph, &params, ACQ_ERR_USAGE, "temperature");
    params = get_params();
    params.edge_dropout = 1.5;
    assert_refused(world.graph, &params, ACQ_ERR_USAGE, "edge dropout");
    params = get_params();
    params.visit_nodes = 1.5;
    assert_refused(world.graph, &params, ACQ_ERR_USAGE, "share from 0 to 1");
    params = get_params();
    params.layers = 1;
    assert_refused(world.graph, &params, ACQ_ERR_USAGE, "2 to 8 layers");
}

/* Shapes come from the options, or from the model to start from. */
static void test_all_shapes_are_trained(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        acq_train_nbfnet_params params = get_params();
        params.layers = i % 3 == 0 ? 0 : 1 + i;
        params.sums = i % 2 == 1;
        params.visit_nodes = i < 2 ? 0 : .3;
        params.visit_edges = i < 3 ? 0 : .4;
        params.most_around = i == 4 ? 9 : 0;
        params.batches = 2;
        acq_nbfnet *model = train(world.graph, &params);
        assert_int_equal(model->shape.layers, i % 3 == 0 ? 4 : 1 + i);
        assert_true(model->shape.sums == params.sums && model->shape.weighs == (i >= 2));
        params.warm = model;
        params.layers = 0;
        params.visit_nodes = params.visit_edges = 0;
        acq_nbfnet *more = train(world.graph, &params);
        assert_int_equal(memcmp(&more->shape, &model->shape, sizeof model->shape), 0);
        params.layers = 7;
        assert_refused(world.graph, &params, ACQ_ERR_USAGE, "leave --layers and --sum out");
        acq_nbfnet_free(model);
        acq_nbfnet_free(more);
    }
}

static void test_threads_do_not_change_a_bit_of_pruned_rows(void **state)
{
    (void)state;
    acq_train_nbfnet_params one = get_params(), three = get_params();
    one.visit_nodes = three.visit_nodes = .4;
    one.visit_edges = three.visit_edges = .3;
    one.negatives = three.negatives = 0;
    three.n_threads = 3;
    assert_same(train(world.graph, &one), train(world.graph, &three));
}

static void test_graphs_without_facts_are_refused(void **state)
{
    (void)state;
    acq_train_nbfnet_params params = get_params();
    nbfnet_case empty;
    nbfnet_case_init(&empty, 1, 4, 1, 0);
    assert_refused(empty.graph, &params, ACQ_ERR_INPUT, "no facts to learn from");
    nbfnet_case_deinit(&empty);
    nbfnet_case_init(&empty, 1, 0, 0, 0);
    assert_refused(empty.graph, &params, ACQ_ERR_INPUT, "no facts to learn from");
    nbfnet_case_deinit(&empty);
}

static void test_the_smallest_graphs_are_trained_on(void **state)
{
    (void)state;
    acq_train_nbfnet_params params = get_params();
    for (uint32_t n = 1; n < 4; n++) { /* with one entity there is no negative */
        nbfnet_case small;
        nbfnet_case_init(&small, n, n, 1, 2);
        for (size_t t = 0; t < N_TRAININGS; t++) {
            acq_nbfnet *model = train_by(trainings[t], small.graph, &params);
            for (size_t i = 0; i < model->parameters.n; i++)
                assert_true(isfinite(model->parameters.values[i]));
            acq_nbfnet_free(model);
        }
        nbfnet_case_deinit(&small);
    }
}

static void test_time_ends_a_training(void **state)
{
    (void)state;
    acq_train_nbfnet_params params = get_params();
    params.batches = 0;
    params.seconds = 0.05;
    acq_nbfnet_free(train(world.graph, &params));
}

static bool has_edge(const acq_nbfnet_batch *batch, acq_ent head, acq_rel relation, acq_ent tail)
{
    const uint32_t *local = batch->subgraph.local;
    return acq_edges_has(&batch->subgraph.edges, local[head], relation, local[tail]);
}

static void check_batch(const acq_nbfnet_batch *batch)
{
    for (size_t i = 0; i < batch->params->batch; i++) {
        const acq_nbfnet_query *query = &batch->queries[i];
        acq_ent head = batch->heads[i];
        assert_true(query->n_positives > 0);
        for (size_t t = 0; t < query->n_targets; t++) {
            acq_ent tail = batch->subgraph.entities[query->targets[t]];
            assert_true(acq_graph_has_fact(world.graph, head, query->relation, tail) ==
                        (t < query->n_positives));
            if (t >= query->n_positives)
                continue;
            for (acq_rel r = 0; r < 6; r++)
                if (r == query->relation || batch->params->drops_pairs) {
                    assert_false(has_edge(batch, head, r, tail));
                    assert_false(has_edge(batch, tail, acq_inverse(r), head));
                }
        }
    }
}

/* The same of queries on what is around their heads. */
static void check_near_query(const acq_nbfnet_batch *batch, size_t i, const float *scales)
{
    const acq_nbfnet_query *query = &batch->queries[i];
    const acq_around *around = &batch->arounds[i];
    acq_ent head = batch->heads[i];
    assert_true(query->n_positives > 0 && query->edges == &around->edges);
    assert_int_equal(around->entities[query->head], head);
    for (uint32_t v = 0; v < around->n; v++)
        assert_true(query->scales[v] == scales[around->entities[v]]);
    for (size_t t = 0; t < query->n_targets; t++) {
        uint32_t node = query->targets[t];
        bool is_positive = t < query->n_positives;
        assert_true(node < around->n);
        assert_true(acq_graph_has_fact(world.graph, head, query->relation,
                                       around->entities[node]) == is_positive);
        for (acq_rel r = 0; r < 6 && is_positive; r++)
            if (r == query->relation || batch->params->drops_pairs) {
                assert_false(acq_edges_has(query->edges, query->head, r, node));
                assert_false(acq_edges_has(query->edges, node, acq_inverse(r), query->head));
            }
    }
}

static void test_queries_around_their_heads_hide_what_they_ask_for(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        acq_train_nbfnet_params params = get_params();
        acq_nbfnet_batch batch;
        acq_edges edges = {0};
        acq_around_index index;
        float scales[30];
        params.most_around = i % 2 == 0 ? 5 : 40; /* 40: all */
        params.drops_pairs = i % 4 < 2;
        assert_int_equal(acq_edges_init(&edges, world.graph, NULL), ACQ_OK);
        assert_int_equal(acq_around_index_init(&index, world.graph, NULL), ACQ_OK);
        acq_nbfnet_fill_scales(&edges, scales);
        assert_int_equal(acq_nbfnet_batch_init(&batch, &params, &edges, scales, NULL), ACQ_OK);
        assert_int_equal(acq_nbfnet_batch_init_near(&batch, &index, NULL), ACQ_OK);
        for (uint64_t number = 0; number < 20; number++) {
            assert_int_equal(acq_nbfnet_batch_draw(&batch, number, NULL), ACQ_OK);
            for (size_t q = 0; q < params.batch; q++)
                check_near_query(&batch, q, scales);
        }
        acq_nbfnet_batch_deinit(&batch);
        acq_around_index_deinit(&index);
        acq_edges_deinit(&edges);
    }
}

/* Without a number of negatives each node is a target, but for the tails that are not asked for. */
static void test_all_false_tails_are_targets(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        acq_train_nbfnet_params params = get_params();
        acq_nbfnet_batch batch;
        acq_edges edges = {0};
        float scales[30];
        params.most_entities = 0;
        params.negatives = 0;
        params.most_counted = i;
        assert_int_equal(acq_edges_init(&edges, world.graph, NULL), ACQ_OK);
        acq_nbfnet_fill_scales(&edges, scales);
        assert_int_equal(acq_nbfnet_batch_init(&batch, &params, &edges, scales, NULL), ACQ_OK);
        assert_int_equal(acq_nbfnet_batch_draw(&batch, 1, NULL), ACQ_OK);
        for (size_t q = 0; q < params.batch; q++) {
            const acq_nbfnet_query *query = &batch.queries[q];
            size_t n;
            acq_edges_find(&edges, batch.heads[q], query->relation, &n);
            assert_int_equal(query->n_targets - query->n_positives, 30 - n);
        }
        acq_nbfnet_batch_deinit(&batch);
        acq_edges_deinit(&edges);
    }
}

/* With one tail of each that counts, rows are drawn alike. */
static void test_questions_are_drawn_by_the_tails_that_count(void **state)
{
    (void)state;
    enum { DRAWN = 4000 };
    acq_train_nbfnet_params params = get_params();
    acq_nbfnet_batch batch;
    acq_edges edges = {0};
    float scales[30];
    uint32_t counts[30][6] = {{0}};
    params.most_entities = 0;
    params.most_counted = 1;
    params.batch = 10;
    assert_int_equal(acq_edges_init(&edges, world.graph, NULL), ACQ_OK);
    acq_nbfnet_fill_scales(&edges, scales);
    assert_int_equal(acq_nbfnet_batch_init(&batch, &params, &edges, scales, NULL), ACQ_OK);
    for (uint64_t number = 0; number < DRAWN / params.batch; number++) {
        assert_int_equal(acq_nbfnet_batch_draw(&batch, number, NULL), ACQ_OK);
        for (size_t q = 0; q < params.batch; q++)
            counts[batch.heads[q]][batch.queries[q].relation]++;
    }
    double expected = (double)DRAWN / edges.n_groups;
    for (uint32_t v = 0; v < 30; v++)
        for (acq_rel r = 0; r < 6; r++) {
            size_t n;
            acq_edges_find(&edges, v, r, &n);
            assert_true(n == 0 ? counts[v][r] == 0
                               : fabs(counts[v][r] - expected) < 6 * sqrt(expected));
        }
    acq_nbfnet_batch_deinit(&batch);
    acq_edges_deinit(&edges);
}

static void test_threads_do_not_change_a_bit_around_heads(void **state)
{
    (void)state;
    acq_train_nbfnet_params one = get_params(), three = get_params();
    one.most_around = three.most_around = 6;
    three.n_threads = 3;
    assert_same(train(world.graph, &one), train(world.graph, &three));
}

static void test_batches_hide_what_they_ask_for(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        acq_train_nbfnet_params params = get_params();
        acq_nbfnet_batch batch;
        acq_edges edges = {0};
        float scales[30];
        params.most_entities = i % 2 == 0 ? 14 : 0;
        params.drops_pairs = i % 4 < 2;
        assert_int_equal(acq_edges_init(&edges, world.graph, NULL), ACQ_OK);
        acq_nbfnet_fill_scales(&edges, scales);
        assert_int_equal(acq_nbfnet_batch_init(&batch, &params, &edges, scales, NULL), ACQ_OK);
        for (uint64_t number = 0; number < 20; number++) {
            assert_int_equal(acq_nbfnet_batch_draw(&batch, number, NULL), ACQ_OK);
            check_batch(&batch);
        }
        acq_nbfnet_batch_deinit(&batch);
        acq_edges_deinit(&edges);
    }
}

static void test_the_loss_has_the_slopes_it_says(void **state)
{
    (void)state;
    const float scores[] = {1.5F, -0.5F, 2, -30, 40};
    float slopes[5];
    double loss = acq_nbfnet_loss(scores, 2, 5, 0, slopes);
    double expected = (log1p(exp(-1.5)) + log1p(exp(.5))) / 4 + (log1p(exp(2.0)) + 40) / 6;
    assert_true(fabs(loss - expected) < 1e-9);
    assert_true(fabs((double)slopes[0] + 0.25 / (1 + exp(1.5))) < 1e-7);
    assert_true(fabs((double)slopes[4] - 1.0 / 6) < 1e-7);
    acq_nbfnet_loss(scores, 2, 5, 0.2, slopes); /* the largest negative has all the weight */
    assert_true(fabs((double)slopes[4] - 0.5) < 1e-7 && slopes[2] < 1e-20F);
    assert_true(isfinite(acq_nbfnet_loss(scores, 2, 2, 0.2, slopes)));
}

/* r0 is a ring of n entities, r1 says the same, r2 is what two steps of r0 do. */
static acq_graph *new_ring(uint32_t n)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    char name[16];
    uint32_t id;
    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "e%u", i);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (uint32_t r = 0; r < 3; r++) {
        snprintf(name, sizeof name, "r%u", r);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(acq_graph_builder_add_fact(builder, i, 2 * r, (i + 1 + (r == 2)) % n),
                             ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static bool keep_loss(void *context, const acq_train_progress *now)
{
    *(double *)context = now->loss;
    return true;
}

static void test_rules_of_a_ring_are_learned(void **state)
{
    (void)state;
    acq_graph *graph = new_ring(40);
    acq_train_nbfnet_params params = get_params();
    double loss = 1;
    params.most_entities = 0;
    params.negatives = 20;
    params.batches = 250;
    params.drops_pairs = false;
    params.progress = keep_loss;
    params.context = &loss;
    acq_nbfnet_free(train(graph, &params));
    assert_true(loss < 0.15); /* 0.69 at the start */
    acq_graph_free(graph);
}

/* Several steps, intersections and negations of it too. */
static void test_programs_over_a_ring_are_learned(void **state)
{
    (void)state;
    acq_graph *graph = new_ring(40);
    acq_train_nbfnet_params params = get_params();
    double loss = 1;
    params.most_entities = 0;
    params.batches = 120;
    params.progress = keep_loss;
    params.context = &loss;
    acq_nbfnet_free(train_by(acq_train_gnnqe, graph, &params));
    assert_true(loss < 0.3);
    acq_graph_free(graph);
}

/* Edges of the first pass that its traversal walks along, with an end that has others, and how many
 * of these it does not see. Every other edge is there. */
static void count_hidden(const acq_gnnqe_batch *batch, const acq_set_node *node, double *walked,
                         double *hidden)
{
    const acq_edges *all = batch->world, *seen = &batch->rooms[0]->edges[0];
    const uint8_t *from = batch->rooms[0]->truths[node->children[0]->number];
    for (uint32_t v = 0; v < all->n_nodes; v++)
        for (uint32_t g = all->rows[v]; g < all->rows[v + 1]; g++)
            for (uint32_t i = all->begins[g]; i < all->begins[g + 1]; i++) {
                acq_rel relation = all->relations[g];
                uint32_t source = all->sources[i];
                bool is_seen = acq_edges_has(seen, v, relation, source);
                bool is_walked = (relation == node->id && from[v]) ||
                                 (relation == acq_inverse(node->id) && from[source]);
                assert_true(is_walked || is_seen);
                *walked += is_walked;
                *hidden += !is_seen;
            }
}

static const acq_set_node *find_first_pass(const acq_set_node *node)
{
    while (node->kind != ACQ_SET_PROJECT || node->children[0]->kind != ACQ_SET_ENTITY)
        node = node->children[0];
    return node;
}

static void test_walked_edges_are_hidden_in_their_share(void **state)
{
    (void)state;
    double walked = 0, hidden = 0, loss;
    acq_train_nbfnet_params params = get_params();
    acq_nbfnet_gradient_params of_gradient = {.batch = ACQ_GNNQE_MOST_PASSES};
    acq_nbfnet_gradient gradient;
    acq_gnnqe_batch batch;
    acq_edges edges = {0};
    acq_sampler *sampler;
    acq_nbfnet *model;
    float scales[30];
    params.batch = 1;
    params.most_entities = 0;
    assert_int_equal(acq_edges_init(&edges, world.graph, NULL), ACQ_OK);
    acq_nbfnet_fill_scales(&edges, scales);
    assert_int_equal(acq_nbfnet_new(6, 1, &model, NULL), ACQ_OK);
    assert_int_equal(acq_nbfnet_gradient_init(&gradient, model, &of_gradient, NULL), ACQ_OK);
    assert_int_equal(acq_sampler_new(world.graph, &sampler, NULL), ACQ_OK);
    assert_int_equal(acq_gnnqe_batch_init(&batch, &params, &edges, scales, sampler, NULL), ACQ_OK);
    for (uint64_t number = 0; number < 250; number++) {
        assert_int_equal(acq_gnnqe_batch_draw(&batch, number, NULL), ACQ_OK);
        assert_int_equal(acq_gnnqe_batch_compute(&batch, &gradient, &loss, NULL), ACQ_OK);
        count_hidden(&batch, find_first_pass(batch.queries[0].tree->root), &walked, &hidden);
    }
    if (!(walked > 1000 && fabs(hidden / walked - 0.25) < 0.04))
        fail_msg("%g of %g walked edges are hidden", hidden, walked);
    acq_gnnqe_batch_deinit(&batch);
    acq_nbfnet_gradient_deinit(&gradient);
    acq_nbfnet_free(model);
    acq_sampler_free(sampler);
    acq_edges_deinit(&edges);
}

#ifdef ACQ_FAULTS

static void survive(train_fn by)
{
    acq_train_nbfnet_params params = get_params();
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    params.batch = 3;
    params.batches = 1;
    params.checkpoint = checkpoint;
    for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_nbfnet *model = NULL;
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = by(world.graph, &params, &model, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(error.code, status);
        acq_nbfnet_free(model);
    }
    assert_int_equal(status, ACQ_OK);
    assert_true(n > 50);
}

static void test_every_failed_allocation_is_survived(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_TRAININGS; i++)
        survive(trainings[i]);
}

#else

static void test_every_failed_allocation_is_survived(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_another_seed_gives_other_weights),
        cmocka_unit_test(test_a_stopped_training_goes_on_as_if_it_had_not),
        cmocka_unit_test(test_a_checkpoint_of_other_options_is_refused),
        cmocka_unit_test(test_a_warm_start_begins_at_other_weights),
        cmocka_unit_test(test_bad_options_are_refused),
        cmocka_unit_test(test_graphs_without_facts_are_refused),
        cmocka_unit_test(test_the_smallest_graphs_are_trained_on),
        cmocka_unit_test(test_time_ends_a_training),
        cmocka_unit_test(test_batches_hide_what_they_ask_for),
        cmocka_unit_test(test_queries_around_their_heads_hide_what_they_ask_for),
        cmocka_unit_test(test_threads_do_not_change_a_bit_around_heads),
        cmocka_unit_test(test_threads_do_not_change_a_bit_of_pruned_rows),
        cmocka_unit_test(test_all_shapes_are_trained),
        cmocka_unit_test(test_all_false_tails_are_targets),
        cmocka_unit_test(test_questions_are_drawn_by_the_tails_that_count),
        cmocka_unit_test(test_the_loss_has_the_slopes_it_says),
        cmocka_unit_test(test_rules_of_a_ring_are_learned),
        cmocka_unit_test(test_programs_over_a_ring_are_learned),
        cmocka_unit_test(test_walked_edges_are_hidden_in_their_share),
        cmocka_unit_test(test_every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
