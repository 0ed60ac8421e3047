/* store_changes.c - facts added and removed, compactions, snapshots: a store does what a plain
 * model does. ACQ_STORE_STEPS: steps of the random histories, 400 if unset. */
#include "unit/store_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/database.h"
#include "store/format.h"

enum { MOST_FACTS = 12, STEPS_PER_HISTORY = 50 };

static char path[1024];

/* A graph as a store, its model, and a writer. */
typedef struct history {
    model model;
    acq_random random;
    acq_store_writer *writer;
    uint32_t n_new; /* names made up so far */
} history;

static history *begin(const case_shape *shape, uint64_t seed)
{
    history *h = test_malloc(sizeof *h);
    acq_graph *graph = case_make_graph(shape, seed);
    *h = (history){.random = acq_random_start(seed, 9)};
    model_take(&h->model, graph);
    snprintf(path, sizeof path, "%s", case_path("changes.acq"));
    case_write_store(graph, path);
    acq_graph_free(graph);
    OK(acq_store_writer_open(path, &h->writer, e));
    return h;
}

static void end(history *h)
{
    acq_store_writer_free(h->writer);
    test_free(h);
}

static void expect_model(const history *h)
{
    acq_graph *expected = model_make_graph(&h->model);
    case_expect_store(path, expected);
    acq_graph_free(expected);
}

static uint32_t below(history *h, uint64_t n)
{
    return (uint32_t)acq_random_below(&h->random, n);
}

/* A name that there is, by key, label or (relations) the end of the IRI; or a new one. */
static void pick_entity(history *h, bool may_be_new, char *out)
{
    const model *m = &h->model;
    const model_name *name = &m->entities[below(h, m->n_entities)];
    if (may_be_new && m->n_entities < MODEL_ENTITIES - 3 * MOST_FACTS && below(h, 12) == 0)
        snprintf(out, MODEL_NAME, "new thing %u", h->n_new++);
    else
        snprintf(out, MODEL_NAME, "%s",
                 name->label[0] != '\0' && below(h, 2) == 0 ? name->label : name->key);
}

static void pick_relation(history *h, bool may_be_new, char *out)
{
    const model *m = &h->model;
    const model_name *name = &m->relations[2 * below(h, m->n_pairs)];
    if (name[1].key[0] != '\0' && below(h, 2) == 0)
        name++;
    if (may_be_new && m->n_pairs < MODEL_RELATIONS - MOST_FACTS && below(h, 40) == 0)
        snprintf(out, MODEL_NAME, "new relation %u", h->n_new++);
    else if (m->is_rdf && strrchr(name->key, '/') != NULL && below(h, 3) == 0)
        snprintf(out, MODEL_NAME, "%s", strrchr(name->key, '/') + 1);
    else
        snprintf(out, MODEL_NAME, "%s",
                 name->label[0] != '\0' && below(h, 2) == 0 ? name->label : name->key);
}

typedef struct named_facts {
    char names[MOST_FACTS][3][MODEL_NAME];
    acq_store_fact facts[MOST_FACTS];
    size_t n;
} named_facts;

static void pick_facts(history *h, bool is_add, named_facts *out)
{
    out->n = 1 + below(h, MOST_FACTS);
    for (size_t i = 0; i < out->n; i++) {
        pick_entity(h, is_add, out->names[i][0]);
        pick_relation(h, is_add, out->names[i][1]);
        pick_entity(h, is_add, out->names[i][2]);
        out->facts[i] = (acq_store_fact){.head = out->names[i][0],
                                         .relation = out->names[i][1],
                                         .tail = out->names[i][2],
                                         .is_inverse = below(h, 4) == 0};
    }
}

static void change_at_random(history *h)
{
    named_facts picked;
    acq_store_report report = {.size = sizeof report}, expected = {0};
    size_t i_bad = 0;
    bool is_add = below(h, 5) < 3;
    pick_facts(h, is_add, &picked);
    for (size_t i = 0; i < picked.n; i++)
        assert_true(model_change(&h->model, &picked.facts[i], is_add, &expected));
    if (is_add)
        OK(acq_store_add(h->writer, picked.facts, picked.n, &report, &i_bad, e));
    else
        OK(acq_store_remove(h->writer, picked.facts, picked.n, &report, &i_bad, e));
    assert_int_equal(report.changed, expected.changed);
    assert_int_equal(report.unchanged, expected.unchanged);
    assert_int_equal(report.new_entities, expected.new_entities);
    assert_int_equal(report.new_relations, expected.new_relations);
    assert_int_equal(i_bad, picked.n);
}

/* A call in which the last fact is bad changes nothing. */
static void change_badly(history *h)
{
    named_facts picked;
    size_t i_bad = 0;
    acq_error error = {0};
    bool is_add = below(h, 2) == 0;
    pick_facts(h, is_add, &picked);
    picked.facts[picked.n - 1].tail = is_add ? "\xff" : "unknown to the store";
    acq_status status =
        is_add ? acq_store_add(h->writer, picked.facts, picked.n, NULL, &i_bad, &error)
               : acq_store_remove(h->writer, picked.facts, picked.n, NULL, &i_bad, &error);
    assert_int_equal(status, is_add ? ACQ_ERR_USAGE : ACQ_ERR_NAME);
    assert_int_equal(error.code, status);
    assert_int_equal(i_bad, picked.n - 1);
}

static void step(history *h)
{
    uint32_t kind = below(h, 20);
    acq_store_info info;
    uint64_t n_folded = 0;
    if (kind == 0) {
        OK(acq_store_read_info(path, &info, e));
        OK(acq_store_compact(h->writer, &n_folded, e));
        assert_int_equal(n_folded, info.n_changes);
        OK(acq_store_read_info(path, &info, e));
        assert_int_equal(info.n_changes, 0);
    } else if (kind == 1) {
        acq_store_writer_free(h->writer);
        OK(acq_store_writer_open(path, &h->writer, e));
    } else if (kind == 2) {
        change_badly(h);
    } else {
        change_at_random(h);
    }
    expect_model(h);
}

static void test_random_histories_follow_the_model(void **state)
{
    (void)state;
    const char *wanted = getenv("ACQ_STORE_STEPS");
    unsigned long steps = wanted == NULL ? 400 : strtoul(wanted, NULL, 10);
    for (uint64_t seed = 1; seed <= (steps + STEPS_PER_HISTORY - 1) / STEPS_PER_HISTORY; seed++) {
        case_shape shape = case_random_shape(1000 + seed);
        history *h = begin(&shape, seed);
        for (int i = 0; i < STEPS_PER_HISTORY; i++)
            step(h);
        end(h);
    }
}

static void test_an_addition_taken_back_leaves_no_change(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 5, .n_relations = 1, .n_facts = 3};
    history *h = begin(&shape, 1);
    acq_store_fact fact = {.head = "a", .relation = "b", .tail = "c"};
    acq_store_info info;
    OK(acq_store_add(h->writer, &fact, 1, NULL, NULL, e));
    OK(acq_store_read_info(path, &info, e));
    assert_int_equal(info.n_changes, 1);
    OK(acq_store_remove(h->writer, &fact, 1, NULL, NULL, e));
    OK(acq_store_read_info(path, &info, e));
    assert_int_equal(info.n_changes, 0);
    acq_store_fact inverse = {.head = "c", .relation = "b", .tail = "a", .is_inverse = true};
    OK(acq_store_add(h->writer, &fact, 1, NULL, NULL, e));
    OK(acq_store_remove(h->writer, &inverse, 1, NULL, NULL, e));
    OK(acq_store_read_info(path, &info, e));
    assert_int_equal(info.n_changes, 0);
    end(h);
}

static void test_the_inverse_of_a_benchmark_has_a_name_of_its_own(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 4, .n_relations = 2, .n_facts = 0, .names_inverses = true};
    history *h = begin(&shape, 1);
    acq_store_fact fact = {.head = h->model.entities[1].key,
                           .relation = h->model.relations[3].key,
                           .tail = h->model.entities[2].key};
    acq_graph *graph = NULL;
    OK(acq_store_add(h->writer, &fact, 1, NULL, NULL, e));
    OK(acq_store_open(path, &graph, e));
    assert_true(acq_graph_has_fact(graph, 1, 3, 2));
    assert_true(acq_graph_has_fact(graph, 2, 2, 1));
    acq_graph_free(graph);
    fact.is_inverse = true; /* inverse(inverse-rel)(x, y) is rel(x, y) */
    OK(acq_store_add(h->writer, &fact, 1, NULL, NULL, e));
    OK(acq_store_open(path, &graph, e));
    assert_true(acq_graph_has_fact(graph, 1, 2, 2));
    acq_graph_free(graph);
    end(h);
}

/* Facts of a chain: n0 -> n1 -> n2 ..., from `first` on. */
static void add_chain(acq_store_writer *writer, uint32_t first, uint32_t n,
                      acq_store_report *report)
{
    char(*names)[16] = test_malloc((n + 1) * sizeof *names);
    acq_store_fact *facts = test_malloc(n * sizeof *facts);
    for (uint32_t i = 0; i <= n; i++)
        snprintf(names[i], sizeof names[i], "n%u", first + i);
    for (uint32_t i = 0; i < n; i++)
        facts[i] = (acq_store_fact){.head = names[i], .relation = "next", .tail = names[i + 1]};
    OK(acq_store_add(writer, facts, n, report, NULL, e));
    test_free(facts);
    test_free(names);
}

static void test_many_changes_are_folded_in_by_themselves(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 5, .n_relations = 1, .n_facts = 3};
    history *h = begin(&shape, 1);
    acq_store_report report = {.size = sizeof report};
    acq_store_info info;
    add_chain(h->writer, 0, 1000, &report);
    assert_false(report.is_compacted);
    assert_int_equal(report.new_entities, 1001);
    OK(acq_store_read_info(path, &info, e));
    assert_int_equal(info.n_changes, 1000);
    add_chain(h->writer, 1000, 1, &report);
    assert_true(report.is_compacted);
    OK(acq_store_read_info(path, &info, e));
    assert_int_equal(info.n_changes, 0);
    OK(acq_store_verify(path, NULL, NULL, e));
    end(h);
}

/* A reader keeps what it opened on, whatever it had loaded by then. */
static void test_a_snapshot_does_not_change(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 50, .n_relations = 6, .n_facts = 500, .is_rdf = true};
    history *h = begin(&shape, 4);
    acq_graph *before = model_make_graph(&h->model), *snapshots[3] = {NULL};
    const acq_links *links = NULL;
    for (int i = 0; i < 3; i++)
        OK(acq_store_open(path, &snapshots[i], e));
    OK(acq_graph_open_links(snapshots[0], 2, &links, e));
    for (int i = 0; i < 30; i++)
        change_at_random(h);
    case_expect_same(snapshots[0], before);
    OK(acq_store_compact(h->writer, NULL, e));
    case_expect_same(snapshots[1], before);
    for (int i = 0; i < 30; i++)
        change_at_random(h);
    acq_graph *after = model_make_graph(&h->model), *now = NULL;
    OK(acq_store_open(path, &now, e));
    case_expect_same(snapshots[2], before);
    case_expect_same(now, after);
    for (int i = 0; i < 3; i++)
        acq_graph_free(snapshots[i]);
    acq_graph_free(now);
    acq_graph_free(before);
    acq_graph_free(after);
    end(h);
}

static uint64_t wal_bytes(void)
{
    acq_store_info info;
    OK(acq_store_read_info(path, &info, e));
    return info.wal_bytes;
}

static void test_what_changes_nothing_writes_nothing(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 5, .n_relations = 1, .n_facts = 3};
    history *h = begin(&shape, 1);
    acq_store_fact fact = {.head = "a", .relation = "b", .tail = "c"};
    acq_store_report report = {.size = sizeof report};
    OK(acq_store_add(h->writer, &fact, 1, NULL, NULL, e));
    uint64_t before = wal_bytes();
    OK(acq_store_add(h->writer, &fact, 1, &report, NULL, e));
    assert_int_equal(report.unchanged, 1);
    fact.tail = "a";
    OK(acq_store_remove(h->writer, &fact, 1, &report, NULL, e));
    assert_int_equal(report.unchanged, 1);
    assert_int_equal(wal_bytes(), before);
    fact.relation = "d";
    OK(acq_store_add(h->writer, &fact, 1, NULL, NULL, e));
    assert_true(wal_bytes() > before);
    end(h);
}

static void test_two_writers_take_turns(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 20, .n_relations = 3, .n_facts = 60};
    history *h = begin(&shape, 6);
    acq_store_writer *one = h->writer, *two = NULL;
    OK(acq_store_writer_open(path, &two, e));
    for (int i = 0; i < 30; i++) {
        h->writer = i % 2 == 0 ? one : two;
        change_at_random(h);
        if (i % 10 == 9)
            OK(acq_store_compact(h->writer, NULL, e));
    }
    expect_model(h);
    acq_store_writer_free(two);
    h->writer = one;
    end(h);
}

static void test_compaction_gives_room_back(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 5, .n_relations = 1, .n_facts = 3};
    history *h = begin(&shape, 1);
    acq_store_info info;
    uint64_t n_folded = 0;
    add_chain(h->writer, 0, 60000, NULL);
    char(*names)[16] = test_malloc(60001 * sizeof *names);
    acq_store_fact *facts = test_malloc(60000 * sizeof *facts);
    for (int i = 0; i <= 60000; i++)
        snprintf(names[i], sizeof names[i], "n%d", i);
    for (int i = 0; i < 60000; i++)
        facts[i] = (acq_store_fact){.head = names[i], .relation = "next", .tail = names[i + 1]};
    OK(acq_store_read_info(path, &info, e));
    OK(acq_store_remove(h->writer, facts, 60000, NULL, NULL, e));
    OK(acq_store_compact(h->writer, &n_folded, e));
    assert_int_equal(n_folded, 0); /* the removal did it already */
    acq_store_info after;
    OK(acq_store_read_info(path, &after, e));
    assert_int_equal(after.wal_bytes, 0);
    assert_int_equal(after.n_changes, 0);
    OK(acq_store_verify(path, NULL, NULL, e));
    test_free(facts);
    test_free(names);
    end(h);
}

/* SQLite's files, except that nameless ones, which would be in /tmp, cannot be opened. */
static sqlite3_vfs strict_files, *real_files;

static int open_named(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    if (name != NULL)
        return real_files->xOpen(real_files, name, file, flags, out);
    file->pMethods = NULL;
    return SQLITE_CANTOPEN;
}

static uint64_t file_bytes(void)
{
    acq_store_info info;
    OK(acq_store_read_info(path, &info, e));
    return info.file_bytes;
}

static void test_a_store_is_written_anew_in_its_own_folder(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 5, .n_relations = 1, .n_facts = 3};
    history *h = begin(&shape, 1);
    add_chain(h->writer, 0, 60000, NULL); /* more than SQLite copies in memory */
    OK(acq_store_compact(h->writer, NULL, e));
    uint64_t before = file_bytes();
    case_run_sql(path, "CREATE TABLE waste(body); INSERT INTO waste VALUES(zeroblob(6000000)); "
                       "DROP TABLE waste");
    real_files = sqlite3_vfs_find(NULL);
    strict_files = *real_files;
    strict_files.zName = "named files only";
    strict_files.xOpen = open_named;
    assert_int_equal(sqlite3_vfs_register(&strict_files, 1), SQLITE_OK);
    acq_store_writer_free(h->writer);
    OK(acq_store_writer_open(path, &h->writer, e));
    OK(acq_store_compact(h->writer, NULL, e));
    sqlite3_vfs_unregister(&strict_files);
    sqlite3_vfs_register(real_files, 1);
    assert_true(before > (3 << 20) && file_bytes() <= before + (1 << 20));
    OK(acq_store_verify(path, NULL, NULL, e));
    end(h);
}

/* Parts are as long as an import's, so that loading is as good as before. */
static void test_compaction_writes_parts_like_an_import(void **state)
{
    (void)state;
    enum { N = ACQ_PART_LINKS + 10 };
    case_shape shape = {.n_entities = 5, .n_relations = 1, .n_facts = 3};
    history *h = begin(&shape, 1);
    acq_db db;
    int64_t n_parts = 0;
    add_chain(h->writer, 0, N, NULL);
    OK(acq_store_compact(h->writer, NULL, e));
    OK(acq_db_open(&db, path, ACQ_DB_READ, e));
    OK(acq_db_read_number(&db, "SELECT sum(parts) FROM relation", &n_parts, e));
    acq_db_close(&db);
    assert_int_equal(n_parts, 1 + 2);
    OK(acq_store_verify(path, NULL, NULL, e));
    end(h);
}

static void expect_refused(history *h, acq_store_fact fact, acq_status code, const char *message)
{
    acq_store_fact facts[2] = {{.head = "x", .relation = "y", .tail = "z"}, fact};
    acq_error error = {0};
    acq_store_report report = {.size = sizeof report, .changed = 77};
    size_t i_bad = 9;
    assert_int_equal(acq_store_add(h->writer, facts, 2, &report, &i_bad, &error), code);
    assert_string_equal(error.message, message);
    assert_int_equal(i_bad, 1);
    assert_int_equal(report.changed, 77);
}

static void test_names_are_checked(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 5, .n_relations = 1, .n_facts = 3};
    history *h = begin(&shape, 1);
    char *longest = test_malloc(ACQ_NAME_MOST + 2);
    memset(longest, 'a', ACQ_NAME_MOST + 1);
    longest[ACQ_NAME_MOST + 1] = '\0';
    expect_refused(h, (acq_store_fact){.head = "", .relation = "r", .tail = "t"}, ACQ_ERR_USAGE,
                   "the head has no name; give one");
    expect_refused(h, (acq_store_fact){.head = "h", .relation = "", .tail = "t"}, ACQ_ERR_USAGE,
                   "the relation has no name; give one");
    expect_refused(h, (acq_store_fact){.head = "h", .relation = "r", .tail = "\xc0\x80"},
                   ACQ_ERR_USAGE,
                   "the name of the tail is not UTF-8; convert it, for example with iconv");
    expect_refused(h, (acq_store_fact){.head = longest, .relation = "r", .tail = "t"},
                   ACQ_ERR_LIMIT,
                   "the name of the head has 65536 bytes, more than 65535; use a shorter one");
    expect_model(h);
    longest[ACQ_NAME_MOST] = '\0';
    acq_store_fact fact = {.head = longest, .relation = longest, .tail = longest};
    OK(acq_store_add(h->writer, &fact, 1, NULL, NULL, e));
    OK(acq_store_compact(h->writer, NULL, e));
    OK(acq_store_verify(path, NULL, NULL, e));
    acq_graph *graph = NULL;
    OK(acq_store_open(path, &graph, e));
    assert_true(acq_graph_has_fact(graph, 5, 2, 5));
    assert_string_equal(acq_graph_get_entity_name(graph, 5), longest);
    acq_graph_free(graph);
    test_free(longest);
    end(h);
}

static void expect_unknown(history *h, acq_store_fact fact, const char *message)
{
    acq_error error = {0};
    assert_int_equal(acq_store_remove(h->writer, &fact, 1, NULL, NULL, &error), ACQ_ERR_NAME);
    assert_string_equal(error.message, message);
}

static void test_removing_an_unknown_name_suggests_a_known_one(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 3, .n_relations = 1, .n_facts = 3};
    history *h = begin(&shape, 1);
    acq_store_fact fact = {.head = "Paris", .relation = "capital_of", .tail = "France"};
    OK(acq_store_add(h->writer, &fact, 1, NULL, NULL, e));
    expect_unknown(h, (acq_store_fact){.head = "Pariss", .relation = "rel0", .tail = "France"},
                   "the store has no entity \"Pariss\"; did you mean \"Paris\"?");
    expect_unknown(h, (acq_store_fact){.head = "Paris", .relation = "capitalof", .tail = "France"},
                   "the store has no relation \"capitalof\"; did you mean \"capital_of\"?");
    expect_unknown(h, (acq_store_fact){.head = "Paris", .relation = "rel0", .tail = "Qqqqqqqqq"},
                   "the store has no entity \"Qqqqqqqqq\"");
    end(h);
}

static void test_a_first_fact_into_an_empty_store(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 1, .n_relations = 0};
    history *h = begin(&shape, 1);
    acq_store_fact fact = {.head = "a", .relation = "b", .tail = "a"};
    acq_store_report report = {.size = sizeof report};
    expect_model(h);
    assert_true(model_change(&h->model, &fact, true, &report));
    OK(acq_store_add(h->writer, &fact, 1, NULL, NULL, e));
    expect_model(h);
    OK(acq_store_add(h->writer, NULL, 0, &report, NULL, e));
    assert_int_equal(report.changed, 0);
    expect_model(h);
    end(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_histories_follow_the_model),
        cmocka_unit_test(test_an_addition_taken_back_leaves_no_change),
        cmocka_unit_test(test_the_inverse_of_a_benchmark_has_a_name_of_its_own),
        cmocka_unit_test(test_many_changes_are_folded_in_by_themselves),
        cmocka_unit_test(test_a_snapshot_does_not_change),
        cmocka_unit_test(test_what_changes_nothing_writes_nothing),
        cmocka_unit_test(test_two_writers_take_turns),
        cmocka_unit_test(test_compaction_gives_room_back),
        cmocka_unit_test(test_a_store_is_written_anew_in_its_own_folder),
        cmocka_unit_test(test_compaction_writes_parts_like_an_import),
        cmocka_unit_test(test_names_are_checked),
        cmocka_unit_test(test_removing_an_unknown_name_suggests_a_known_one),
        cmocka_unit_test(test_a_first_fact_into_an_empty_store),
    };
    return cmocka_run_group_tests(tests, case_make_folder, case_remove_folder);
}
