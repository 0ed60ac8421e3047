/* nbfnet_model.c - NBFNet's files and rows: what is written is read, other relations, other
 * shapes, damage and numbers that are none are refused with a remedy; graphs of one relation, of
 * isolated entities and of nothing; every allocation may fail. */
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
#include "models/nbfnet/nbfnet.h"
#include "support/nbfnet_case.h"

enum { MOST_ALLOCATIONS = 2000, N = 12 };

static char folder[] = "/tmp/anycq-nbfnet-XXXXXX";
static char path[sizeof folder + 8];

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/model", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails when something was left behind */
}

static acq_nbfnet *new_model(const acq_graph *graph, uint64_t seed)
{
    acq_nbfnet *model = NULL;
    assert_int_equal(acq_nbfnet_new(acq_graph_get_n_relations(graph), seed, &model, NULL), ACQ_OK);
    return model;
}

static void write_model(const acq_graph *graph, uint64_t seed)
{
    const acq_metadata metadata[] = {{"data", "a test"}};
    acq_nbfnet *model = new_model(graph, seed);
    assert_int_equal(acq_nbfnet_write(path, model, graph, metadata, 1, NULL), ACQ_OK);
    acq_nbfnet_free(model);
}

static void assert_refused(const acq_graph *graph, const char *part)
{
    acq_nbfnet *model = NULL;
    acq_error error = {0};
    assert_int_equal(acq_nbfnet_read(path, graph, &model, &error), ACQ_ERR_INPUT);
    assert_null(model);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    nbfnet_case c;
    nbfnet_case_init(&c, 1, N, 2, 20);
    acq_nbfnet *model = new_model(c.graph, 7), *read = NULL;
    write_model(c.graph, 7);
    assert_int_equal(acq_nbfnet_read(path, c.graph, &read, NULL), ACQ_OK);
    assert_int_equal(read->parameters.n, model->parameters.n);
    assert_memory_equal(read->parameters.values, model->parameters.values,
                        model->parameters.n * sizeof(float));
    acq_nbfnet_free(model);
    acq_nbfnet_free(read);
    nbfnet_case_deinit(&c);
}

static void test_a_file_says_the_shape_of_its_model(void **state)
{
    (void)state;
    const acq_nbfnet_shape shapes[] = {{.layers = 2, .sums = true},
                                       {.layers = 6, .weighs = true, .visit = {.1F, .07F}},
                                       {.layers = 8, .sums = true, .weighs = true}};
    nbfnet_case c;
    nbfnet_case_init(&c, 1, N, 2, 20);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        acq_nbfnet *model = NULL, *read = NULL;
        assert_int_equal(acq_nbfnet_new_shaped(4, &shapes[i], 3, &model, NULL), ACQ_OK);
        assert_int_equal(acq_nbfnet_write(path, model, c.graph, NULL, 0, NULL), ACQ_OK);
        assert_int_equal(acq_nbfnet_read(path, c.graph, &read, NULL), ACQ_OK);
        assert_true(read->shape.layers == shapes[i].layers && read->shape.sums == shapes[i].sums &&
                    read->shape.weighs == shapes[i].weighs &&
                    read->shape.visit.nodes == shapes[i].visit.nodes &&
                    read->shape.visit.edges == shapes[i].visit.edges);
        assert_memory_equal(read->parameters.values, model->parameters.values,
                            model->parameters.n * sizeof(float));
        acq_nbfnet_free(model);
        acq_nbfnet_free(read);
    }
    nbfnet_case_deinit(&c);
}

static void test_other_relations_are_refused_and_other_entities_are_not(void **state)
{
    (void)state;
    nbfnet_case c, fewer, larger;
    nbfnet_case_init(&c, 1, N, 3, 20);
    nbfnet_case_init(&fewer, 1, N, 2, 20);
    nbfnet_case_init(&larger, 2, 2 * N, 3, 20);
    write_model(c.graph, 1);
    assert_refused(fewer.graph, "other relations (6 of them, here 4); train one on this graph");
    acq_nbfnet *model = NULL;
    assert_int_equal(acq_nbfnet_read(path, larger.graph, &model, NULL), ACQ_OK);
    acq_nbfnet_free(model);
    nbfnet_case_deinit(&c);
    nbfnet_case_deinit(&fewer);
    nbfnet_case_deinit(&larger);
}

/* The same number of relations, another name. */
static void test_a_renamed_relation_is_another_one(void **state)
{
    (void)state;
    nbfnet_case c;
    acq_graph *renamed = NULL;
    acq_ent entity;
    acq_rel relation;
    nbfnet_case_init(&c, 1, N, 1, 20);
    acq_graph_builder *builder = acq_graph_builder_new();
    assert_int_equal(acq_graph_builder_add_entity(builder, "e", 1, &entity), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "other", 5, &relation), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_fact(builder, entity, relation, entity), ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &renamed, NULL), ACQ_OK);
    write_model(c.graph, 1);
    assert_refused(renamed, "other relations");
    acq_graph_builder_free(builder);
    acq_graph_free(renamed);
    nbfnet_case_deinit(&c);
}

static void test_other_files_and_damage_are_refused(void **state)
{
    (void)state;
    nbfnet_case c;
    nbfnet_case_init(&c, 1, N, 2, 20);
    acq_nbfnet *model = new_model(c.graph, 1);
    const acq_metadata policy[] = {{"format", "anycq-policy-1"}};
    assert_int_equal(acq_safetensors_write(path, &model->parameters, policy, 1, NULL), ACQ_OK);
    assert_refused(c.graph, "no NBFNet model of anycq");
    acq_nbfnet_get(model, ACQ_NBFNET_SCORE_0)[5] = NAN;
    assert_int_equal(acq_nbfnet_write(path, model, c.graph, NULL, 0, NULL), ACQ_OK);
    assert_refused(c.graph, "score.0.weight");
    write_model(c.graph, 1);
    assert_int_equal(truncate(path, 5000), 0);
    acq_nbfnet *read = NULL;
    acq_error error = {0};
    assert_int_equal(acq_nbfnet_read(path, c.graph, &read, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.file, "model"));
    acq_nbfnet_free(model);
    nbfnet_case_deinit(&c);
}

static void score_row(const nbfnet_case *c, const acq_nbfnet *model, acq_ent head, float *out)
{
    acq_row_model *rows;
    void *scratch;
    uint32_t n = acq_graph_get_n_entities(c->graph);
    acq_row_request request = {.heads = &head, .n_heads = 1, .n_tails = n, .out = out};
    assert_int_equal(acq_nbfnet_new_row_model(model, c->graph, &rows, NULL), ACQ_OK);
    assert_int_equal(rows->ops->open_scratch(rows, &scratch, NULL), ACQ_OK);
    assert_int_equal(rows->ops->score(rows, scratch, &request, NULL), ACQ_OK);
    rows->ops->free_scratch(rows, scratch);
    rows->ops->free_scratch(rows, NULL);
    acq_row_model_free(rows);
}

static void test_one_relation_and_isolated_entities_have_scores(void **state)
{
    (void)state;
    static const size_t n_facts[] = {0, 1, 30};
    for (size_t i = 0; i < 3; i++) {
        nbfnet_case c;
        float out[N];
        nbfnet_case_init(&c, i, N, 1, n_facts[i]);
        acq_nbfnet *model = new_model(c.graph, i);
        for (acq_ent head = 0; head < N; head += N - 1) { /* the last one has no fact */
            score_row(&c, model, head, out);
            for (size_t e = 0; e < N; e++)
                assert_true(isfinite(out[e]));
        }
        acq_nbfnet_free(model);
        nbfnet_case_deinit(&c);
    }
}

static void test_a_graph_without_relations_is_refused(void **state)
{
    (void)state;
    acq_nbfnet *model = NULL;
    acq_error error = {0};
    assert_int_equal(acq_nbfnet_new(0, 1, &model, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "import facts first"));
    error = (acq_error){0};
    assert_int_equal(acq_nbfnet_new(UINT32_MAX, 1, &model, &error), ACQ_ERR_LIMIT);
    assert_null(model);
}

static void test_scores_that_are_no_numbers_are_an_error(void **state)
{
    (void)state;
    nbfnet_case c;
    acq_row_model *rows;
    void *scratch;
    float out[N], weights[N] = {1, NAN};
    acq_error error = {0};
    nbfnet_case_init(&c, 1, N, 1, 20);
    acq_nbfnet *model = new_model(c.graph, 1);
    for (size_t i = 0; i < ACQ_NBFNET_HIDDEN; i++)
        acq_nbfnet_get(model, ACQ_NBFNET_SCORE_2)[i] = 3e38F;
    for (size_t i = 0; i < ACQ_NBFNET_HIDDEN; i++)
        acq_nbfnet_get(model, ACQ_NBFNET_SCORE_0_BIAS)[i] = 3e38F;
    assert_int_equal(acq_nbfnet_new_row_model(model, c.graph, &rows, NULL), ACQ_OK);
    assert_int_equal(rows->ops->open_scratch(rows, &scratch, NULL), ACQ_OK);
    acq_ent head = 0;
    acq_row_request request = {.heads = &head, .n_heads = 1, .n_tails = N, .out = out};
    assert_int_equal(rows->ops->score(rows, scratch, &request, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "no numbers"));
    error = (acq_error){0};
    assert_int_equal(acq_nbfnet_project(rows, scratch, 0, weights, out, &error), ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "entity 1"));
    rows->ops->free_scratch(rows, scratch);
    acq_row_model_free(rows);
    acq_nbfnet_free(model);
    nbfnet_case_deinit(&c);
}

static void test_a_model_of_another_graph_makes_no_rows(void **state)
{
    (void)state;
    nbfnet_case c, other;
    acq_row_model *rows = NULL;
    acq_error error = {0};
    nbfnet_case_init(&c, 1, N, 1, 20);
    nbfnet_case_init(&other, 1, N, 2, 20);
    acq_nbfnet *model = new_model(c.graph, 1);
    assert_int_equal(acq_nbfnet_new_row_model(model, other.graph, &rows, &error), ACQ_ERR_INPUT);
    assert_int_equal(acq_nbfnet_write(path, model, other.graph, NULL, 0, NULL), ACQ_ERR_INTERNAL);
    assert_null(rows);
    acq_nbfnet_free(model);
    nbfnet_case_deinit(&c);
    nbfnet_case_deinit(&other);
}

#ifdef ACQ_FAULTS

/* Reads a model and scores a row with it. */
static acq_status use_model(const nbfnet_case *c, acq_error *error)
{
    acq_nbfnet *model = NULL;
    acq_row_model *rows = NULL;
    void *scratch = NULL;
    float out[N];
    acq_ent head = 1;
    acq_row_request request = {.heads = &head, .n_heads = 1, .n_tails = N, .out = out};
    acq_status status = acq_nbfnet_read(path, c->graph, &model, error);
    if (status == ACQ_OK)
        status = acq_nbfnet_new_row_model(model, c->graph, &rows, error);
    if (status == ACQ_OK)
        status = rows->ops->open_scratch(rows, &scratch, error);
    if (status == ACQ_OK)
        status = rows->ops->score(rows, scratch, &request, error);
    if (rows != NULL)
        rows->ops->free_scratch(rows, scratch);
    acq_row_model_free(rows);
    acq_nbfnet_free(model);
    return status;
}

static void test_every_failed_allocation_is_survived(void **state)
{
    (void)state;
    nbfnet_case c;
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    nbfnet_case_init(&c, 1, N, 2, 20);
    write_model(c.graph, 1);
    for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = use_model(&c, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(error.code, status);
    }
    assert_int_equal(status, ACQ_OK);
    assert_true(n > 30);
    nbfnet_case_deinit(&c);
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
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_a_file_says_the_shape_of_its_model),
        cmocka_unit_test(test_other_relations_are_refused_and_other_entities_are_not),
        cmocka_unit_test(test_a_renamed_relation_is_another_one),
        cmocka_unit_test(test_other_files_and_damage_are_refused),
        cmocka_unit_test(test_one_relation_and_isolated_entities_have_scores),
        cmocka_unit_test(test_a_graph_without_relations_is_refused),
        cmocka_unit_test(test_scores_that_are_no_numbers_are_an_error),
        cmocka_unit_test(test_a_model_of_another_graph_makes_no_rows),
        cmocka_unit_test(test_every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
