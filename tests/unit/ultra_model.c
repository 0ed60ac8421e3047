/* ultra_model.c - ULTRA's weights on disk, and graphs at the edge of what there is. */
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
#include "support/ultra_case.h"

enum { MOST = 64, MOST_BYTES = 1 << 20 };

typedef struct bytes {
    char *at;
    size_t n;
} bytes;

/* What acq_ultra_write makes of the model. */
static bytes write_model(const acq_ultra *model, const acq_metadata *metadata, size_t n)
{
    char path[] = "/tmp/acq-ultra-XXXXXX";
    bytes written = {.at = malloc(MOST_BYTES)};
    int file = mkstemp(path);
    assert_true(file >= 0 && written.at != NULL);
    close(file);
    assert_int_equal(acq_ultra_write(path, model, metadata, n, NULL), ACQ_OK);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    written.n = fread(written.at, 1, MOST_BYTES, stream);
    fclose(stream);
    unlink(path);
    return written;
}

/* Replaces text in the header by other text of the same length. */
static void replace(bytes file, const char *old, const char *new)
{
    size_t length = strlen(old);
    assert_int_equal(strlen(new), length);
    for (size_t i = 0; i + length < file.n; i++) {
        if (memcmp(file.at + i, old, length) == 0) {
            memcpy(file.at + i, new, length);
            return;
        }
    }
    fail_msg("%s is not in the file", old);
}

static void assert_refused(bytes file, const char *reason)
{
    acq_ultra *model = NULL;
    acq_error error = {0};
    assert_int_equal(acq_ultra_read_memory(file.at, file.n, "some.safetensors", &model, &error),
                     ACQ_ERR_INPUT);
    assert_null(model);
    if (strstr(error.message, reason) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, reason);
}

static void test_a_seed_fixes_the_weights_and_starts_as_pytorch(void **state)
{
    (void)state;
    acq_ultra *a, *b, *c;
    assert_int_equal(acq_ultra_new(3, &a, NULL), ACQ_OK);
    assert_int_equal(acq_ultra_new(3, &b, NULL), ACQ_OK);
    assert_int_equal(acq_ultra_new(4, &c, NULL), ACQ_OK);
    size_t length = a->parameters.n * sizeof(float);
    assert_memory_equal(a->parameters.values, b->parameters.values, length);
    assert_memory_not_equal(a->parameters.values, c->parameters.values, length);
    assert_int_equal(acq_parameters_count(&a->parameters), 168705);
    const float *gain = acq_ultra_get(a, acq_ultra_entity_tensor(5, ACQ_ULTRA_ENTITY_NORM_WEIGHT));
    const float *bias = acq_ultra_get(a, acq_ultra_entity_tensor(2, ACQ_ULTRA_ENTITY_LINEAR_BIAS));
    for (size_t i = 0; i < ACQ_ULTRA_WIDTH; i++) {
        assert_true(gain[i] == 1.0F);
        assert_true(bias[i] != 0.0F && fabsf(bias[i]) <= 1 / sqrtf(128));
    }
    acq_ultra_free(a);
    acq_ultra_free(b);
    acq_ultra_free(c);
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    for (int pair = 0; pair < 2; pair++) {
        acq_metadata metadata[] = {{"seed", "9"}};
        acq_ultra *model, *read;
        assert_int_equal(acq_ultra_new(9, &model, NULL), ACQ_OK);
        model->queries_pair = pair;
        bytes file = write_model(model, metadata, 1);
        assert_int_equal(acq_ultra_read_memory(file.at, file.n, "it", &read, NULL), ACQ_OK);
        assert_int_equal(read->queries_pair, pair);
        assert_memory_equal(read->parameters.values, model->parameters.values,
                            model->parameters.n * sizeof(float));
        free(file.at);
        acq_ultra_free(model);
        acq_ultra_free(read);
    }
}

static void test_other_files_are_refused_with_the_reason(void **state)
{
    (void)state;
    const char *const cases[][3] = {
        {"anycq-ultra-1", "anycq-ultra-9", "make some with anycq train ultra"},
        {"\"own\"", "\"any\"", "query \"any\""},
        {"entity.3.linear.bias", "entity.3.linear.bios", "entity.3.linear.bi"},
        {"\"shape\":[64,128]", "\"shape\":[128,64]", "64"}};
    acq_ultra *model;
    assert_int_equal(acq_ultra_new(1, &model, NULL), ACQ_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes file = write_model(model, NULL, 0);
        replace(file, cases[i][0], cases[i][1]);
        assert_refused(file, cases[i][2]);
        free(file.at);
    }
    *acq_ultra_get(model, ACQ_ULTRA_SCORE_2_BIAS) = NAN;
    bytes file = write_model(model, NULL, 0);
    assert_refused(file, "score.2.bias");
    file.n -= 4;
    assert_refused(file, "");
    free(file.at);
    acq_ultra_free(model);
}

static void test_too_many_metadata_are_refused(void **state)
{
    (void)state;
    acq_metadata metadata[40];
    acq_ultra *model;
    for (size_t i = 0; i < 40; i++)
        metadata[i] = (acq_metadata){"key", "value"};
    assert_int_equal(acq_ultra_new(1, &model, NULL), ACQ_OK);
    assert_int_equal(acq_ultra_write("/nowhere/file", model, metadata, 40, NULL), ACQ_ERR_LIMIT);
    acq_ultra_free(model);
}

/* One row of every relation; returns what scoring says. */
static acq_status ask_all(const ultra_case *c, float *out, acq_error *error)
{
    acq_row_model *rows;
    void *scratch;
    acq_status status = ACQ_OK;
    size_t n = acq_graph_get_n_entities(c->graph);
    acq_ent head = (acq_ent)n - 1;
    assert_int_equal(acq_ultra_new_row_model(c->model, c->graph, &rows, NULL), ACQ_OK);
    assert_string_equal(rows->kind, "ultra");
    assert_int_equal(rows->ops->open_scratch(rows, &scratch, NULL), ACQ_OK);
    for (acq_rel r = 0; r < c->oracle.n_relations && status == ACQ_OK; r++) {
        acq_row_request request = {r, &head, 1, NULL, n, out, {0}};
        status = rows->ops->score(rows, scratch, &request, error);
    }
    rows->ops->free_scratch(rows, scratch);
    rows->ops->free_scratch(rows, NULL);
    acq_row_model_free(rows);
    return status;
}

static void test_graphs_without_facts_or_with_one_entity_have_rows(void **state)
{
    (void)state;
    const uint32_t sizes[][3] = {{1, 1, 0}, {1, 1, 1}, {9, 1, 0}, {9, 1, 1}, {MOST, 1, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ultra_case c;
        float scores[MOST];
        ultra_case_init(&c, i, sizes[i][0], sizes[i][1], sizes[i][2]);
        assert_int_equal(ask_all(&c, scores, NULL), ACQ_OK);
        for (size_t e = 0; e < sizes[i][0]; e++)
            assert_true(isfinite(scores[e]));
        ultra_case_deinit(&c);
    }
}

static void test_entities_that_nothing_tells_apart_score_the_same(void **state)
{
    (void)state;
    ultra_case c;
    float scores[MOST];
    ultra_case_init(&c, 1, MOST, 1, 0);
    assert_int_equal(ask_all(&c, scores, NULL), ACQ_OK);
    for (size_t e = 1; e + 1 < MOST; e++)
        assert_true(scores[e] == scores[0]);
    assert_true(scores[MOST - 1] != scores[0]);
    ultra_case_deinit(&c);
}

static void test_scores_that_are_not_finite_are_an_error(void **state)
{
    (void)state;
    ultra_case c;
    float scores[MOST];
    acq_error error = {0};
    ultra_case_init(&c, 1, MOST, 2, 100);
    for (size_t i = 0; i < 128; i++)
        acq_ultra_get(c.model, ACQ_ULTRA_SCORE_2_WEIGHT)[i] = 3e38F;
    assert_int_equal(ask_all(&c, scores, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "not finite"));
    ultra_case_deinit(&c);
}

#ifdef ACQ_FAULTS
static acq_status read_and_ask(bytes file, const acq_graph *graph, acq_error *error)
{
    acq_ultra *model = NULL;
    acq_row_model *rows = NULL;
    void *scratch = NULL;
    acq_status status = acq_ultra_read_memory(file.at, file.n, "it", &model, error);
    if (status == ACQ_OK)
        status = acq_ultra_new_row_model(model, graph, &rows, error);
    if (status == ACQ_OK)
        status = rows->ops->open_scratch(rows, &scratch, error);
    if (rows != NULL)
        rows->ops->free_scratch(rows, scratch);
    acq_row_model_free(rows);
    acq_ultra_free(model);
    return status;
}

static void test_every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    ultra_case c;
    ultra_case_init(&c, 2, 20, 2, 30);
    bytes file = write_model(c.model, NULL, 0);
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (; status != ACQ_OK && n < 2000; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = read_and_ask(file, c.graph, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(error.code, status);
    }
    assert_int_equal(status, ACQ_OK);
    assert_true(n > 50);
    free(file.at);
    ultra_case_deinit(&c);
}

static void test_new_weights_survive_failed_allocations(void **state)
{
    (void)state;
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t n = 1; status != ACQ_OK && n < 10; n++) {
        acq_ultra *model = NULL;
        acq_faults_fail_at(n);
        status = acq_ultra_new(1, &model, NULL);
        acq_faults_fail_at(0);
        assert_true((status == ACQ_OK) == (model != NULL));
        acq_ultra_free(model);
    }
    assert_int_equal(status, ACQ_OK);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_seed_fixes_the_weights_and_starts_as_pytorch),
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_other_files_are_refused_with_the_reason),
        cmocka_unit_test(test_too_many_metadata_are_refused),
        cmocka_unit_test(test_graphs_without_facts_or_with_one_entity_have_rows),
        cmocka_unit_test(test_entities_that_nothing_tells_apart_score_the_same),
        cmocka_unit_test(test_scores_that_are_not_finite_are_an_error),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_an_error),
        cmocka_unit_test(test_new_weights_survive_failed_allocations),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
