/* store_reader.c - a stored graph answers as the same graph in memory does. */
#include "unit/store_case.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/import/write.h"

enum { SEEDS = 60 };

static void test_random_graphs_come_back_as_they_were(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        case_shape shape = case_random_shape(seed);
        acq_graph *graph = case_make_graph(&shape, seed);
        case_write_store(graph, case_path("random.acq"));
        case_expect_store(case_path("random.acq"), graph);
        acq_graph_free(graph);
    }
}

static void test_opening_and_closing_leaves_one_file(void **state)
{
    (void)state;
    case_shape shape = case_random_shape(7);
    acq_graph *graph = case_make_graph(&shape, 7), *stored = NULL;
    case_write_store(graph, case_path("tidy.acq"));
    acq_graph_free(graph);
    OK(acq_store_open(case_path("tidy.acq"), &stored, e));
    acq_graph_free(stored);
    assert_int_equal(access(case_path("tidy.acq-wal"), F_OK), -1);
    assert_int_equal(access(case_path("tidy.acq-shm"), F_OK), -1);
}

typedef struct collected {
    char text[1 << 14];
    size_t length;
    size_t n, most;
} collected;

static bool collect(void *context, acq_ent entity, const char *name, size_t length)
{
    collected *c = context;
    assert_int_equal(strlen(name), length);
    c->length +=
        (size_t)snprintf(c->text + c->length, sizeof c->text - c->length, "%u=%s;", entity, name);
    return ++c->n < c->most;
}

static void expect_names(const acq_graph *graph, const char *prefix, size_t most,
                         const char *expected)
{
    collected c = {.most = most};
    OK(acq_graph_each_name(graph, prefix, strlen(prefix), collect, &c, e));
    assert_string_equal(c.text, expected);
}

static acq_graph *make_cities(void)
{
    static const char *const keys[] = {"Paris", "Pa", "Berlin", "Par\xc3\xads", "P\xff", "Pari"};
    acq_bulk *bulk = NULL;
    acq_graph *graph = NULL;
    acq_pair_name names[2] = {{"near", 4}, {0}}, none[2] = {{0}};
    unlink(case_path("cities.acq"));
    OK(acq_bulk_open(case_path("cities.acq"), NULL, &bulk, e));
    for (size_t i = 0; i < 6; i++) {
        acq_bulk_entity entity = {{keys[i], strlen(keys[i])}, {0}};
        if (i == 2 || i == 5)
            entity.label =
                i == 2 ? (acq_pair_name){"Parliament seat", 15} : (acq_pair_name){"Zoo", 3};
        OK(acq_bulk_add_entities(bulk, &entity, 1, e));
    }
    OK(acq_bulk_add_pair(bulk, names, none, e));
    OK(acq_bulk_finish(bulk, "", false, e));
    acq_bulk_free(bulk);
    OK(acq_store_open(case_path("cities.acq"), &graph, e));
    return graph;
}

static void test_names_by_prefix_come_in_byte_order_keys_then_labels(void **state)
{
    (void)state;
    acq_graph *graph = make_cities();
    expect_names(graph, "Par", 100, "5=Pari;0=Paris;3=Par\xc3\xads;2=Parliament seat;");
    expect_names(graph, "Par", 2, "5=Pari;0=Paris;");
    expect_names(graph, "Par", 4, "5=Pari;0=Paris;3=Par\xc3\xads;2=Parliament seat;");
    expect_names(graph, "Paris", 100, "0=Paris;");
    expect_names(graph, "P\xff", 100, "4=P\xff;");
    expect_names(graph, "\xff", 100, "");
    expect_names(graph, "Z", 100, "5=Zoo;");
    expect_names(graph, "", 100,
                 "0=Paris;1=Pa;2=Berlin;2=Parliament seat;3=Par\xc3\xads;4=P\xff;5=Pari;5=Zoo;");
    expect_names(graph, "", 3, "0=Paris;1=Pa;2=Berlin;");
    assert_int_equal(acq_graph_find_entity(graph, "Zoo", 3), 5);
    assert_string_equal(acq_graph_get_entity_name(graph, 5), "Zoo");
    assert_string_equal(acq_graph_get_entity_key(graph, 5), "Pari");
    assert_string_equal(acq_graph_suggest_entity(graph, "Pariss", 6), "Paris");
    acq_graph_free(graph);
}

/* Asks the graph itself during a visit: no lock may be held. */
static bool ask_again(void *context, acq_ent entity, const char *name, size_t length)
{
    const acq_graph *graph = context;
    assert_int_equal(acq_graph_find_entity(graph, name, length), entity);
    assert_non_null(acq_graph_get_entity_name(graph, entity));
    return true;
}

static void test_a_visit_may_ask_the_graph(void **state)
{
    (void)state;
    acq_graph *graph = make_cities();
    OK(acq_graph_each_name(graph, "", 0, ask_again, graph, e));
    OK(acq_graph_each_name(graph, "P", 1, ask_again, graph, e));
    acq_graph_free(graph);
}

static void test_long_walks_cross_batches(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 5000, .n_relations = 1, .n_facts = 10, .is_rdf = true};
    acq_graph *graph = case_make_graph(&shape, 3), *stored = NULL;
    case_write_store(graph, case_path("many.acq"));
    OK(acq_store_open(case_path("many.acq"), &stored, e));
    OK(acq_graph_each_name(stored, "", 0, ask_again, stored, e));
    OK(acq_graph_each_name(stored, "http", 4, ask_again, stored, e));
    case_expect_same(stored, graph);
    acq_graph_free(stored);
    acq_graph_free(graph);
}

static void test_a_row_may_span_parts(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 40, .n_relations = 2, .n_facts = 900};
    acq_graph *graph = case_make_graph(&shape, 8);
    for (size_t most_links = 1; most_links < 40; most_links++) {
        case_write_parts(graph, case_path("parts.acq"), most_links);
        case_expect_store(case_path("parts.acq"), graph);
    }
    acq_graph_free(graph);
}

typedef struct shared_graph {
    const acq_graph *graph, *expected;
    uint32_t n_relations;
    const acq_links *seen[16]; /* by this thread */
    uint64_t seed;
} shared_graph;

static void *read_at_random(void *context)
{
    shared_graph *s = context;
    acq_random random = acq_random_start(s->seed, 5);
    for (int i = 0; i < 400; i++) {
        acq_rel r = (acq_rel)acq_random_below(&random, s->n_relations);
        acq_ent id = (acq_ent)acq_random_below(&random, acq_graph_get_n_entities(s->expected));
        const acq_links *links = NULL;
        acq_error error = {0};
        const char *key = acq_graph_get_entity_key(s->expected, id);
        if (acq_graph_open_links(s->graph, r, &links, &error) != ACQ_OK ||
            (s->seen[r] != NULL && s->seen[r] != links) ||
            strcmp(acq_graph_get_entity_key(s->graph, id), key) != 0 ||
            acq_graph_find_entity(s->graph, key, strlen(key)) != id)
            return s;
        s->seen[r] = links;
    }
    return NULL;
}

static void test_many_threads_load_each_relation_once(void **state)
{
    (void)state;
    enum { THREADS = 8, ROUNDS = 10 };
    case_shape shape = {.n_entities = 300, .n_relations = 8, .n_facts = 4000};
    acq_graph *graph = case_make_graph(&shape, 11), *stored = NULL;
    case_write_store(graph, case_path("shared.acq"));
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        shared_graph shared[THREADS];
        OK(acq_store_open(case_path("shared.acq"), &stored, e));
        for (int i = 0; i < THREADS; i++) {
            shared[i] = (shared_graph){.graph = stored,
                                       .expected = graph,
                                       .n_relations = 16,
                                       .seed = (uint64_t)(round * THREADS + i)};
            assert_int_equal(pthread_create(&threads[i], NULL, read_at_random, &shared[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            void *result = NULL;
            pthread_join(threads[i], &result);
            assert_null(result);
            for (acq_rel r = 0; r < 16; r++)
                assert_ptr_equal(shared[i].seen[r], shared[0].seen[r]);
        }
        acq_graph_free(stored);
    }
    acq_graph_free(graph);
}

static void test_paths_that_sqlite_takes_for_something_else(void **state)
{
    (void)state;
    static const char *const names[] = {"a?mode=memory", "a#b",    "100%41",
                                        ":memory:",      "file:x", "sp ace\xc3\xa9"};
    case_shape shape = case_random_shape(5);
    acq_graph *graph = case_make_graph(&shape, 5);
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(case_path("")), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        case_write_store(graph, names[i]);
        assert_int_equal(access(names[i], F_OK), 0);
        case_expect_store(names[i], graph);
        assert_int_equal(unlink(names[i]), 0);
    }
    assert_int_equal(chdir(before), 0);
    acq_graph_free(graph);
}

static void test_a_path_is_a_store_or_text(void **state)
{
    (void)state;
    case_shape shape = case_random_shape(9);
    acq_graph *graph = case_make_graph(&shape, 9), *opened = NULL;
    acq_read_report report = {.lines = 99};
    case_write_store(graph, case_path("either"));
    assert_true(acq_store_is_database(case_path("either")));
    OK(acq_graph_open_path(case_path("either"), NULL, &opened, &report, e));
    assert_int_equal(report.lines, 0);
    case_expect_same(opened, graph);
    acq_graph_free(opened);
    acq_graph_free(graph);
    acq_read_params params = {0};
    const char *text = ACQ_SOURCE_DIR "/tests/data/graph/good/two.tsv";
    assert_false(acq_store_is_database(text));
    assert_false(acq_store_is_database(ACQ_SOURCE_DIR));
    assert_false(acq_store_is_database("/nowhere/at/all"));
    OK(acq_graph_open_path(text, &params, &opened, &report, e));
    assert_true(report.lines > 0);
    acq_graph_free(opened);
}

static void test_info_tells_what_a_store_is(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 10, .n_relations = 2, .n_facts = 20, .is_rdf = true};
    acq_graph *graph = case_make_graph(&shape, 2);
    acq_store_info info;
    case_write_store(graph, case_path("info.acq"));
    OK(acq_store_read_info(case_path("info.acq"), &info, e));
    assert_int_equal(info.format, ACQ_STORE_FORMAT);
    assert_int_equal(info.n_changes, 0);
    assert_int_equal(info.wal_bytes, 0);
    assert_true(info.file_bytes > 0 && info.file_bytes % 16384 == 0);
    assert_true(info.is_rdf);
    assert_string_equal(info.sources, "a graph in memory");
    acq_graph_free(graph);
}

typedef struct stopping {
    int calls, stop_at;
    char phases[256];
} stopping;

static bool stop(void *context, const acq_progress *now)
{
    stopping *s = context;
    if (strstr(s->phases, now->phase) == NULL)
        strcat(strcat(s->phases, now->phase), ";");
    assert_true(now->total == 0 || now->done <= now->total);
    return ++s->calls != s->stop_at;
}

static void test_verification_can_be_stopped_at_any_time(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 100, .n_relations = 3, .n_facts = 500, .is_rdf = true};
    acq_graph *graph = case_make_graph(&shape, 12);
    stopping all = {0};
    case_write_store(graph, case_path("verify.acq"));
    acq_graph_free(graph);
    OK(acq_store_verify(case_path("verify.acq"), stop, &all, e));
    assert_string_equal(all.phases, "checking pages;checking links;");
    for (int at = 1; at <= all.calls; at++) {
        stopping s = {.stop_at = at};
        acq_error error = {0};
        assert_int_equal(acq_store_verify(case_path("verify.acq"), stop, &s, &error),
                         ACQ_ERR_INTERRUPTED);
        assert_int_equal(error.code, ACQ_ERR_INTERRUPTED);
    }
}

static void test_long_sources_are_cut_between_characters(void **state)
{
    (void)state;
    acq_store_meta meta = {0};
    char sources[700];
    for (size_t i = 0; i + 2 < sizeof sources; i += 2)
        memcpy(sources + i, "\xc3\xa9", 2);
    sources[sizeof sources - 2] = '\0';
    acq_meta_set_sources(&meta, sources);
    assert_int_equal(strlen(meta.sources), sizeof meta.sources - 2);
    assert_memory_equal(meta.sources, sources, sizeof meta.sources - 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs_come_back_as_they_were),
        cmocka_unit_test(test_opening_and_closing_leaves_one_file),
        cmocka_unit_test(test_names_by_prefix_come_in_byte_order_keys_then_labels),
        cmocka_unit_test(test_a_visit_may_ask_the_graph),
        cmocka_unit_test(test_long_walks_cross_batches),
        cmocka_unit_test(test_a_row_may_span_parts),
        cmocka_unit_test(test_many_threads_load_each_relation_once),
        cmocka_unit_test(test_paths_that_sqlite_takes_for_something_else),
        cmocka_unit_test(test_a_path_is_a_store_or_text),
        cmocka_unit_test(test_info_tells_what_a_store_is),
        cmocka_unit_test(test_verification_can_be_stopped_at_any_time),
        cmocka_unit_test(test_long_sources_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, case_make_folder, case_remove_folder);
}
