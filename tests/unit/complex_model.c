/* complex_model.c - rows of ComplEx against complex arithmetic, their symmetry to the last bit,
 * and model files: what is written is read, also by a graph that has grown, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "models/complex/model.h"
#include "unit/complex_case.h"

#define PATH "model.safetensors"

enum { MANY = 200 }; /* more than one block of heads and of tails */

static char folder[] = "anycq-complex-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(PATH);
    return chdir("..") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

static acq_complex *make_model(const acq_graph *graph, uint32_t rank)
{
    acq_complex *model = NULL;
    assert_int_equal(acq_complex_new(acq_graph_get_n_entities(graph),
                                     acq_graph_get_n_relations(graph), rank, .7, 3, &model, NULL),
                     ACQ_OK);
    return model;
}

typedef struct open_rows {
    acq_row_model *rows;
    void *scratch;
} open_rows;

static open_rows open_model(const acq_complex *model, const acq_graph *graph)
{
    open_rows open = {0};
    assert_int_equal(acq_complex_new_row_model(model, graph, &open.rows, NULL), ACQ_OK);
    assert_int_equal(open.rows->ops->open_scratch(open.rows, &open.scratch, NULL), ACQ_OK);
    return open;
}

static void close_model(open_rows open)
{
    open.rows->ops->free_scratch(open.rows, open.scratch);
    acq_row_model_free(open.rows);
}

/* Rows of heads 0, 1, ... n_heads - 1, on the heap. */
static float *score_rows(open_rows open, acq_rel relation, size_t n_heads, const acq_ent *tails,
                         size_t n_tails)
{
    acq_ent heads[MANY + 2];
    float *out = malloc(n_heads * n_tails * sizeof *out);
    for (acq_ent i = 0; i < n_heads; i++)
        heads[i] = i;
    acq_row_request request = {relation, heads, n_heads, tails, n_tails, out, {0}};
    assert_non_null(out);
    assert_int_equal(open.rows->ops->score(open.rows, open.scratch, &request, NULL), ACQ_OK);
    return out;
}

static void check_scores(const acq_complex *model, acq_rel relation, const float *out)
{
    size_t n = model->n_entities;
    for (size_t i = 0; i < n * n; i++) {
        double want = complex_case_score(acq_complex_get_entity(model, (acq_ent)(i / n)),
                                         acq_complex_get_relation(model, relation),
                                         acq_complex_get_entity(model, (acq_ent)(i % n)),
                                         model->rank, relation % 2 != 0 && !model->is_reciprocal);
        double one = acq_complex_score(model, (acq_ent)(i / n), relation, (acq_ent)(i % n));
        assert_true(fabs((double)out[i] - want) < 1e-6 * (10 + model->rank));
        assert_true(fabs(one - want) < 1e-12 * (10 + model->rank));
    }
}

static void test_scores_are_those_of_complex_numbers(void **state)
{
    (void)state;
    static const uint32_t ranks[] = {1, 7, 32, 300};
    acq_graph *graph = complex_case_ring(MANY);
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        acq_complex *model = make_model(graph, ranks[i]);
        open_rows open = open_model(model, graph);
        for (acq_rel relation = 0; relation < 4; relation++) {
            float *out = score_rows(open, relation, MANY + 2, NULL, MANY + 2);
            check_scores(model, relation, out);
            free(out);
        }
        close_model(open);
        acq_complex_free(model);
    }
    acq_graph_free(graph);
}

static void test_a_link_and_its_inverse_score_the_same_bits(void **state)
{
    (void)state;
    const size_t n = MANY + 2;
    acq_graph *graph = complex_case_ring(MANY);
    acq_complex *model = make_model(graph, 321);
    open_rows open = open_model(model, graph);
    assert_true(open.rows->is_symmetric);
    float *there = score_rows(open, 2, n, NULL, n), *back = score_rows(open, 3, n, NULL, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            assert_memory_equal(&there[i * n + j], &back[j * n + i], sizeof *there);
    free(there);
    free(back);
    close_model(open);
    acq_complex_free(model);
    acq_graph_free(graph);
}

static void test_rows_do_not_depend_on_their_company(void **state)
{
    (void)state;
    const size_t n = MANY + 2;
    const acq_ent some[] = {0, 3, 17, 64, 191, 192, 201};
    enum { N_SOME = sizeof some / sizeof *some };
    acq_graph *graph = complex_case_ring(MANY);
    acq_complex *model = make_model(graph, 33);
    open_rows open = open_model(model, graph);
    for (acq_rel relation = 0; relation < 4; relation++) {
        float *all = score_rows(open, relation, n, NULL, n);
        float *one = score_rows(open, relation, 1, NULL, n);
        float *few = score_rows(open, relation, 70, some, N_SOME);
        assert_memory_equal(one, all, n * sizeof *one);
        for (size_t i = 0; i < (size_t)70 * N_SOME; i++)
            assert_memory_equal(&few[i], &all[i / N_SOME * n + some[i % N_SOME]], sizeof *few);
        free(all);
        free(one);
        free(few);
    }
    close_model(open);
    acq_complex_free(model);
    acq_graph_free(graph);
}

static void test_a_row_model_needs_the_graph_of_its_model(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(5), *other = complex_case_ring(6);
    acq_complex *model = make_model(graph, 2);
    acq_row_model *rows = NULL;
    acq_error error = {0};
    assert_int_equal(acq_complex_new_row_model(model, other, &rows, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "the model has 7 entities"));
    acq_complex_free(model);
    acq_graph_free(graph);
    acq_graph_free(other);
}

static void test_reciprocal_models_have_vectors_for_inverses(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(MANY);
    acq_complex *model = NULL, *read = NULL;
    assert_int_equal(
        acq_complex_new_reciprocal(acq_graph_get_n_entities(graph), 4, 7, .7, 3, &model, NULL),
        ACQ_OK);
    assert_int_equal(acq_complex_write(PATH, model, graph, NULL, 0, NULL), ACQ_OK);
    assert_int_equal(acq_complex_read(PATH, graph, &read, NULL), ACQ_OK);
    assert_true(read->is_reciprocal && read->n_relations == 4);
    assert_memory_equal(read->parameters.values, model->parameters.values,
                        model->parameters.n * sizeof(float));
    assert_memory_not_equal(acq_complex_get_relation(model, 0), acq_complex_get_relation(model, 1),
                            14 * sizeof(float));
    open_rows open = open_model(read, graph);
    assert_false(open.rows->is_symmetric);
    for (acq_rel relation = 0; relation < 4; relation++) {
        float *out = score_rows(open, relation, MANY + 2, NULL, MANY + 2);
        check_scores(read, relation, out);
        free(out);
    }
    close_model(open);
    acq_complex_free(model);
    acq_complex_free(read);
    acq_graph_free(graph);
}

static void test_sizes_are_checked(void **state)
{
    (void)state;
    acq_complex *model = NULL;
    assert_int_equal(acq_complex_new(3, 2, 0, 1, 1, &model, NULL), ACQ_ERR_USAGE);
    assert_int_equal(acq_complex_new(3, 3, 1, 1, 1, &model, NULL), ACQ_ERR_USAGE);
    assert_int_equal(acq_complex_new(3, 2, ACQ_COMPLEX_RANK_MOST + 1, 1, 1, &model, NULL),
                     ACQ_ERR_USAGE);
    assert_null(model);
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    const acq_metadata metadata[] = {{"seed", "3"}};
    acq_graph *graph = complex_case_ring(5);
    acq_complex *model = make_model(graph, 6), *read = NULL;
    assert_int_equal(acq_complex_write(PATH, model, graph, metadata, 1, NULL), ACQ_OK);
    assert_int_equal(acq_complex_read(PATH, graph, &read, NULL), ACQ_OK);
    assert_true(read->rank == 6 && read->n_entities == 7 && read->n_relations == 4);
    assert_memory_equal(read->parameters.values, model->parameters.values,
                        model->parameters.n * sizeof(float));
    acq_complex_free(model);
    acq_complex_free(read);
    acq_graph_free(graph);
}

/* Entities from 4 on and relations from 4 on came after the training. */
static void check_unknown(const acq_complex *model, const acq_graph *graph)
{
    static const acq_ent heads[] = {1, 5}, tails[] = {0, 3, 4, 5};
    float out[8];
    acq_row_model *rows = NULL;
    void *scratch = NULL;
    assert_int_equal(acq_complex_new_row_model(model, graph, &rows, NULL), ACQ_OK);
    assert_int_equal(rows->ops->open_scratch(rows, &scratch, NULL), ACQ_OK);
    for (acq_rel relation = 0; relation < 6; relation++) {
        acq_row_request request = {relation, heads, 2, tails, 4, out, {0}};
        assert_int_equal(rows->ops->score(rows, scratch, &request, NULL), ACQ_OK);
        for (size_t i = 0; i < 8; i++) {
            bool is_known = relation < 4 && i < 2;
            assert_true((out[i] == ACQ_NO_SCORE) == !is_known);
        }
    }
    rows->ops->free_scratch(rows, scratch);
    acq_row_model_free(rows);
}

static void test_weights_that_overflow_are_an_error(void **state)
{
    (void)state;
    const acq_triple facts[] = {{0, 0, 1}};
    acq_graph *graph = complex_case_build(4, 2, facts, 1);
    acq_complex *model = make_model(graph, 3);
    acq_row_model *rows = NULL;
    void *scratch = NULL;
    float out[4];
    acq_ent head = 1;
    acq_error error = {0};
    for (size_t i = 0; i < 6; i++) {
        acq_complex_get_entity(model, 1)[i] = acq_complex_get_relation(model, 0)[i] = 1e20F;
        acq_complex_get_entity(model, 2)[i] = i % 2 == 0 ? 1e20F : -1e20F;
    }
    assert_int_equal(acq_complex_new_row_model(model, graph, &rows, NULL), ACQ_OK);
    assert_int_equal(rows->ops->open_scratch(rows, &scratch, NULL), ACQ_OK);
    acq_row_request request = {0, &head, 1, NULL, 4, out, {0}};
    assert_int_equal(rows->ops->score(rows, scratch, &request, &error), ACQ_ERR_INPUT);
    assert_string_equal(error.message,
                        "the ComplEx model gives scores that are not finite; train it anew");
    rows->ops->free_scratch(rows, scratch);
    acq_row_model_free(rows);
    acq_complex_free(model);
    acq_graph_free(graph);
}

static void test_a_graph_that_has_grown_is_served(void **state)
{
    (void)state;
    const acq_triple facts[] = {{0, 0, 1}};
    acq_graph *graph = complex_case_build(4, 2, facts, 1);
    acq_graph *grown = complex_case_build(6, 3, facts, 1);
    acq_complex *model = make_model(graph, 3), *read = NULL;
    assert_int_equal(acq_complex_write(PATH, model, graph, NULL, 0, NULL), ACQ_OK);
    assert_int_equal(acq_complex_read(PATH, grown, &read, NULL), ACQ_OK);
    assert_true(read->n_entities == 6 && read->n_relations == 6);
    assert_memory_equal(acq_complex_get_entity(read, 0), acq_complex_get_entity(model, 0),
                        sizeof(float) * 4 * 6);
    assert_memory_equal(acq_complex_get_relation(read, 0), acq_complex_get_relation(model, 0),
                        sizeof(float) * 2 * 6);
    for (size_t i = 0; i < 6; i++) {
        assert_true(acq_complex_get_entity(read, 4)[i] == 0);
        assert_true(acq_complex_get_entity(read, 5)[i] == 0);
        assert_true(acq_complex_get_relation(read, 4)[i] == 0);
    }
    check_unknown(read, grown);
    acq_complex_free(model);
    acq_complex_free(read);
    acq_graph_free(graph);
    acq_graph_free(grown);
}

/* Reading must fail with these words and the name of the file. */
static void check_refused(const acq_graph *graph, const char *words)
{
    acq_complex *read = NULL;
    acq_error error = {0};
    assert_int_equal(acq_complex_read(PATH, graph, &read, &error), ACQ_ERR_INPUT);
    assert_null(read);
    assert_string_equal(error.file, PATH);
    if (strstr(error.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
}

static void write_tensors(const acq_shape shapes[2], float value, const acq_metadata *metadata)
{
    acq_parameters parameters;
    assert_int_equal(acq_parameters_init(&parameters, shapes, 2), ACQ_OK);
    parameters.values[0] = value;
    assert_int_equal(acq_safetensors_write(PATH, &parameters, metadata, 2, NULL), ACQ_OK);
    acq_parameters_deinit(&parameters);
}

static void test_other_models_are_refused(void **state)
{
    (void)state;
    acq_graph *graph = complex_case_ring(5), *smaller = complex_case_ring(4);
    acq_complex *model = make_model(graph, 6);
    char hash[20];
    acq_metadata metadata[] = {{"format", "anycq-complex-1"}, {"dictionary", hash}};
    snprintf(hash, sizeof hash, "%016llx",
             (unsigned long long)acq_graph_get_dictionary_fingerprint(graph));
    assert_int_equal(acq_complex_write(PATH, model, graph, NULL, 0, NULL), ACQ_OK);
    check_refused(smaller, "trained on other names (7 entities, 2 relations; the graph has 6 and");
    write_tensors((acq_shape[]){{"entities", 7, 4}, {"relations", 2, 6}}, 0, metadata);
    check_refused(graph, "has 4 columns and \"relations\" 6");
    write_tensors((acq_shape[]){{"entities", 7, 3}, {"relations", 2, 3}}, 0, metadata);
    check_refused(graph, "twice the rank");
    write_tensors((acq_shape[]){{"entities", 7, 4}, {"others", 2, 4}}, 0, metadata);
    check_refused(graph, "\"relations\"");
    write_tensors((acq_shape[]){{"entities", 6, 4}, {"relations", 2, 4}}, 0, metadata);
    check_refused(graph, "trained on other names (6 entities");
    write_tensors((acq_shape[]){{"entities", 7, 4}, {"relations", 2, 4}}, NAN, metadata);
    check_refused(graph, "finite");
    metadata[1].value = "none";
    write_tensors((acq_shape[]){{"entities", 7, 4}, {"relations", 2, 4}}, 0, metadata);
    check_refused(graph, "does not say which names");
    metadata[0].value = "anycq-policy-1";
    write_tensors((acq_shape[]){{"entities", 7, 4}, {"relations", 2, 4}}, 0, metadata);
    check_refused(graph, "no ComplEx model");
    remove(PATH);
    check_refused(graph, "no such file");
    acq_complex_free(model);
    acq_graph_free(graph);
    acq_graph_free(smaller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores_are_those_of_complex_numbers),
        cmocka_unit_test(test_a_link_and_its_inverse_score_the_same_bits),
        cmocka_unit_test(test_rows_do_not_depend_on_their_company),
        cmocka_unit_test(test_a_row_model_needs_the_graph_of_its_model),
        cmocka_unit_test(test_reciprocal_models_have_vectors_for_inverses),
        cmocka_unit_test(test_sizes_are_checked),
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_a_graph_that_has_grown_is_served),
        cmocka_unit_test(test_weights_that_overflow_are_an_error),
        cmocka_unit_test(test_other_models_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
