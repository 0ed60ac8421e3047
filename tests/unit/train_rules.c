/* train_rules.c - rules learnt in the trainer's loop: stopped at any batch and resumed, by other
 * options, from damaged checkpoints, within a time, of graphs that teach nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"
#include "train/train.h"

#define PATH "rules.checkpoint"

enum { N_ENTITIES = 40, N_RELATIONS = 4, N_FACTS = 400, N_BATCHES = 12 };

static char folder[] = "anycq-train-rules-XXXXXX";

static acq_graph *make_graph(size_t n_facts)
{
    acq_random random = acq_random_start(7, 0);
    acq_graph_builder *builder = acq_graph_builder_new();
    char name[16];
    uint32_t id;
    for (uint32_t e = 0; e < N_ENTITIES; e++) {
        snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (uint32_t r = 0; r < N_RELATIONS; r++) {
        snprintf(name, sizeof name, "r%u", r);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (size_t i = 0; i < n_facts; i++)
        assert_int_equal(
            acq_graph_builder_add_fact(builder, (acq_ent)acq_random_below(&random, N_ENTITIES),
                                       2 * (acq_rel)acq_random_below(&random, N_RELATIONS),
                                       (acq_ent)acq_random_below(&random, N_ENTITIES)),
            ACQ_OK);
    acq_graph *graph = NULL;
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static acq_train_rules_params choose_params(void)
{
    acq_train_rules_params params;
    acq_train_rules_params_init(&params);
    params.learn.facts = 20;
    params.learn.walks = 2;
    params.learn.tries = 5;
    params.learn.most = 50;
    params.batches = N_BATCHES;
    params.n_threads = 2;
    params.checkpoint = PATH;
    params.checkpoint_seconds = 1e9;
    return params;
}

static void assert_same(const acq_rulebook *a, const acq_rulebook *b)
{
    assert_int_equal(a->n_cycles, b->n_cycles);
    assert_int_equal(a->n_constants, b->n_constants);
    assert_memory_equal(a->cycles, b->cycles, a->n_cycles * sizeof *a->cycles);
    assert_memory_equal(a->constants, b->constants, a->n_constants * sizeof *a->constants);
}

/* Stops before batch *context. */
static bool stop_at(void *context, const acq_train_progress *now)
{
    return now->done < *(double *)context;
}

static void test_resumed_at_any_batch_gives_the_same_rules(void **state)
{
    (void)state;
    acq_graph *graph = make_graph(N_FACTS);
    acq_rulebook *whole = NULL;
    acq_train_rules_params params = choose_params();
    params.checkpoint = NULL;
    assert_int_equal(acq_train_rules(graph, &params, &whole, NULL), ACQ_OK);
    assert_true(whole->n_cycles > 50 && whole->n_constants > 50);
    for (double at = 0; at < N_BATCHES; at += 3) {
        acq_rulebook *book = NULL;
        params = choose_params();
        params.progress = stop_at;
        params.context = &at;
        assert_int_equal(acq_train_rules(graph, &params, &book, NULL), ACQ_ERR_INTERRUPTED);
        assert_null(book);
        params.progress = NULL;
        params.resume = true;
        params.n_threads = 1;
        assert_int_equal(acq_train_rules(graph, &params, &book, NULL), ACQ_OK);
        assert_same(whole, book);
        acq_rulebook_free(book);
        (void)unlink(PATH);
    }
    acq_rulebook_free(whole);
    acq_graph_free(graph);
}

static void test_other_options_and_damage_are_refused(void **state)
{
    (void)state;
    acq_graph *graph = make_graph(N_FACTS);
    acq_rulebook *book = NULL;
    acq_train_rules_params params = choose_params();
    acq_error error = {0};
    double at = 4;
    char *bytes;
    size_t length;
    params.progress = stop_at;
    params.context = &at;
    assert_int_equal(acq_train_rules(graph, &params, &book, NULL), ACQ_ERR_INTERRUPTED);
    params.progress = NULL;
    params.resume = true;
    params.learn.walks = 3;
    assert_int_equal(acq_train_rules(graph, &params, &book, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "--walks 2, not 3"));
    params.learn.walks = 2;
    assert_int_equal(acq_file_read(PATH, &bytes, &length, NULL), ACQ_OK);
    bytes[length - 5] ^= 1;
    assert_int_equal(acq_new_file_write(PATH, "it", bytes, length, NULL), ACQ_OK);
    assert_int_equal(acq_train_rules(graph, &params, &book, NULL), ACQ_ERR_INPUT);
    assert_int_equal(acq_new_file_write(PATH, "it", bytes, length - 40, NULL), ACQ_OK);
    assert_int_equal(acq_train_rules(graph, &params, &book, NULL), ACQ_ERR_INPUT);
    assert_null(book);
    acq_free(bytes);
    (void)unlink(PATH);
    acq_graph_free(graph);
}

static void test_time_ends_it(void **state)
{
    (void)state;
    acq_graph *graph = make_graph(N_FACTS);
    acq_rulebook *book = NULL;
    acq_train_rules_params params = choose_params();
    params.batches = 0;
    params.seconds = .2;
    params.learn.facts = 1; /* so many rounds that all facts are never seen */
    assert_int_equal(acq_train_rules(graph, &params, &book, NULL), ACQ_OK);
    assert_non_null(book);
    acq_rulebook_free(book);
    (void)unlink(PATH);
    acq_graph_free(graph);
}

/* One fact supports no rule: a book without any is written, read and used. */
static void test_a_graph_that_teaches_nothing(void **state)
{
    (void)state;
    acq_graph *graph = make_graph(1);
    acq_rulebook *book = NULL, *read = NULL;
    acq_row_model *model = NULL;
    acq_train_rules_params params = choose_params();
    assert_int_equal(acq_train_rules(graph, &params, &book, NULL), ACQ_OK);
    assert_int_equal(book->n_cycles + book->n_constants, 0);
    assert_int_equal(acq_rulebook_write("empty.rules", book, graph, NULL, 0, NULL), ACQ_OK);
    assert_int_equal(acq_rulebook_read("empty.rules", graph, &read, NULL), ACQ_OK);
    assert_int_equal(acq_rulebook_new_row_model(read, graph, &model, NULL), ACQ_OK);
    acq_row_model_free(model);
    acq_rulebook_free(book);
    acq_rulebook_free(read);
    (void)unlink(PATH);
    (void)unlink("empty.rules");
    acq_graph_free(graph);
}

#ifdef ACQ_FAULTS

static void test_every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    acq_graph *graph = make_graph(30);
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t n = 1; status != ACQ_OK && n < 20000; n++) {
        acq_error error = {0};
        acq_rulebook *book = NULL;
        acq_train_rules_params params = choose_params();
        params.n_threads = 1;
        params.batches = 2;
        params.checkpoint_seconds = 0;
        params.resume = true;
        acq_faults_fail_at(n);
        status = acq_train_rules(graph, &params, &book, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(error.code, status);
        acq_rulebook_free(book);
    }
    assert_int_equal(status, ACQ_OK);
    (void)unlink(PATH);
    acq_graph_free(graph);
}

#endif

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("..") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resumed_at_any_batch_gives_the_same_rules),
        cmocka_unit_test(test_other_options_and_damage_are_refused),
        cmocka_unit_test(test_time_ends_it),
        cmocka_unit_test(test_a_graph_that_teaches_nothing),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_an_error),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
