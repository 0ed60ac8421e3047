/* store_damage.c - a store with any byte changed, or cut off anywhere: what it says is right, or it
 * says that it is damaged. ACQ_STORE_FLIPS: bytes to change in each store, 150 if unset. */
#include "unit/store_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[1024], damaged_path[1024];

/* A store to damage, and the graph that it holds. */
typedef struct victim {
    acq_graph *graph;
    unsigned char *bytes;
    size_t length;
} victim;

static void read_file(victim *v)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    v->length = (size_t)ftell(file);
    rewind(file);
    v->bytes = test_malloc(v->length);
    assert_int_equal(fread(v->bytes, 1, v->length, file), v->length);
    fclose(file);
}

/* Writes the first bytes of the victim, as they are now. */
static void write_file(const victim *v, size_t length)
{
    FILE *file = fopen(damaged_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(v->bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* With changes that wait, folded ones, and rows of many parts. */
static void make_victim(victim *v, const case_shape *shape, uint32_t n_changes)
{
    acq_graph *graph = case_make_graph(shape, 21);
    acq_store_writer *writer = NULL;
    snprintf(path, sizeof path, "%s", case_path("whole.acq"));
    snprintf(damaged_path, sizeof damaged_path, "%s", case_path("damaged.acq"));
    case_write_parts(graph, path, 700);
    acq_graph_free(graph);
    OK(acq_store_writer_open(path, &writer, e));
    for (uint32_t i = 0; i < n_changes; i++) {
        char head[32], relation[32];
        snprintf(head, sizeof head, "new %u", i % 50);
        snprintf(relation, sizeof relation, "new relation %u", i % 3);
        acq_store_fact fact = {.head = head, .relation = relation, .tail = "new 0"};
        OK(acq_store_add(writer, &fact, 1, NULL, NULL, e));
        if (i == n_changes / 2)
            OK(acq_store_compact(writer, NULL, e));
    }
    acq_store_writer_free(writer);
    OK(acq_store_open(path, &v->graph, e));
    read_file(v);
}

static void free_victim(victim *v)
{
    acq_graph_free(v->graph);
    test_free(v->bytes);
}

/* An error that a user can act upon: not a bug of ours. */
static void expect_clear(const acq_error *error)
{
    if ((error->code != ACQ_ERR_INPUT && error->code != ACQ_ERR_IO) || strlen(error->message) < 20)
        fail_msg("error %d: %s", error->code, error->message);
}

/* Each check returns false when it met an error. */
static bool check_names(const acq_graph *damaged, const acq_graph *whole)
{
    acq_error failure = {0};
    for (acq_ent id = 0; id < acq_graph_get_n_entities(whole); id++) {
        const char *key = acq_graph_get_entity_key(whole, id);
        const char *name = acq_graph_get_entity_name(whole, id);
        const char *got_key = acq_graph_get_entity_key(damaged, id);
        const char *got_name = acq_graph_get_entity_name(damaged, id);
        acq_ent found = acq_graph_find_entity(damaged, key, strlen(key));
        if (found == ACQ_NO_ID) /* whoever cannot find a name asks for a near one */
            acq_graph_suggest_entity(damaged, key, strlen(key));
        if (strcmp(key, got_key) == 0 && strcmp(name, got_name) == 0 && found == id)
            continue;
        if (acq_graph_get_failure(damaged, &failure) == ACQ_OK)
            fail_msg("entity %u is %s (%s), found as %u, without an error", id, got_key, got_name,
                     found);
        expect_clear(&failure);
        return false;
    }
    return true;
}

static bool check_relations(const acq_graph *damaged, const acq_graph *whole)
{
    bool is_whole = true;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(whole); r++) {
        const acq_links *a = NULL, *b = NULL;
        acq_error error = {0};
        assert_string_equal(acq_graph_get_relation_key(damaged, r),
                            acq_graph_get_relation_key(whole, r));
        assert_string_equal(acq_graph_get_relation_name(damaged, r),
                            acq_graph_get_relation_name(whole, r));
        OK(acq_graph_open_links(whole, r, &b, e));
        if (acq_graph_open_links(damaged, r, &a, &error) != ACQ_OK) {
            expect_clear(&error);
            is_whole = false;
            continue;
        }
        assert_int_equal(a->n_heads, b->n_heads);
        assert_int_equal(a->n_links, b->n_links);
        assert_memory_equal(a->heads, b->heads, a->n_heads * sizeof *a->heads);
        assert_memory_equal(a->offsets, b->offsets, (a->n_heads + 1) * sizeof *a->offsets);
        assert_memory_equal(a->tails, b->tails, a->n_links * sizeof *a->tails);
    }
    return is_whole;
}

typedef struct walked {
    const acq_graph *whole;
    size_t n;
} walked;

static bool check_visit(void *context, acq_ent entity, const char *name, size_t length)
{
    walked *w = context;
    assert_int_equal(acq_graph_find_entity(w->whole, name, length), entity);
    w->n++;
    return true;
}

static bool check_walks(const acq_graph *damaged, const acq_graph *whole)
{
    walked all = {.whole = whole}, expected = {.whole = whole}, some = {.whole = whole};
    acq_error error = {0};
    OK(acq_graph_each_name(whole, "", 0, check_visit, &expected, e));
    if (acq_graph_each_name(damaged, "", 0, check_visit, &all, &error) != ACQ_OK) {
        expect_clear(&error);
        return false;
    }
    assert_int_equal(all.n, expected.n);
    if (acq_graph_each_name(damaged, "http://example.org/thing/1", 26, check_visit, &some,
                            &error) != ACQ_OK)
        expect_clear(&error);
    return error.code == ACQ_OK;
}

typedef struct tally {
    size_t n_refused, n_read, n_verified;
} tally;

/* Everything that the damaged file says is what the whole one says, or an error. */
static void check_damaged(const victim *v, tally *t)
{
    acq_graph *graph = NULL;
    acq_error error = {0};
    if (acq_store_open(damaged_path, &graph, &error) != ACQ_OK) {
        expect_clear(&error);
        assert_null(graph);
        t->n_refused++;
        return;
    }
    assert_int_equal(acq_graph_get_n_entities(graph), acq_graph_get_n_entities(v->graph));
    assert_int_equal(acq_graph_get_n_relations(graph), acq_graph_get_n_relations(v->graph));
    assert_int_equal(acq_graph_get_n_facts(graph), acq_graph_get_n_facts(v->graph));
    assert_true(acq_graph_get_fingerprint(graph) == acq_graph_get_fingerprint(v->graph));
    bool is_whole = check_names(graph, v->graph);
    is_whole = check_relations(graph, v->graph) && is_whole;
    is_whole = check_walks(graph, v->graph) && is_whole;
    acq_graph_free(graph);
    bool is_verified = acq_store_verify(damaged_path, NULL, NULL, NULL) == ACQ_OK;
    assert_true(is_whole || !is_verified);
    t->n_read++;
    t->n_verified += is_verified;
}

static unsigned long n_flips(void)
{
    const char *wanted = getenv("ACQ_STORE_FLIPS");
    return wanted == NULL ? 150 : strtoul(wanted, NULL, 10);
}

static void flip_bytes(const case_shape *shape, uint32_t n_changes, uint64_t seed)
{
    victim v;
    tally t = {0};
    acq_random random = acq_random_start(seed, 3);
    make_victim(&v, shape, n_changes);
    for (unsigned long i = 0; i < n_flips(); i++) {
        size_t at = (size_t)acq_random_below(&random, v.length);
        /* Half of the time where most meaning is: the first pages, the ends of all pages. */
        if (i % 4 == 0)
            at %= 4096;
        else if (i % 4 == 1)
            at = at - at % 16384 + (size_t)acq_random_below(&random, 24);
        at = at < v.length ? at : v.length - 1;
        unsigned char change = (unsigned char)(1 + acq_random_below(&random, 255));
        v.bytes[at] ^= change;
        write_file(&v, v.length);
        check_damaged(&v, &t);
        v.bytes[at] ^= change;
    }
    print_message("%lu bytes changed: %zu refused, %zu read, of these %zu found whole\n", n_flips(),
                  t.n_refused, t.n_read, t.n_verified);
    free_victim(&v);
}

static void test_a_changed_byte_in_a_small_store(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 30, .n_relations = 3, .n_facts = 100, .is_rdf = true};
    flip_bytes(&shape, 40, 1);
}

static void test_a_changed_byte_in_a_larger_store(void **state)
{
    (void)state;
    case_shape shape = {.n_entities = 1500, .n_relations = 12, .n_facts = 20000, .is_rdf = true};
    flip_bytes(&shape, 20, 2);
}

static void test_a_store_that_is_cut_off(void **state)
{
    (void)state;
    victim v;
    tally t = {0};
    acq_random random = acq_random_start(4, 3);
    case_shape shape = {.n_entities = 900, .n_relations = 5, .n_facts = 6000, .is_rdf = true};
    make_victim(&v, &shape, 20);
    for (size_t at = 0; at < v.length; at += 16384) {
        write_file(&v, at);
        check_damaged(&v, &t);
        write_file(&v, at + 1 + (size_t)acq_random_below(&random, 16383));
        check_damaged(&v, &t);
    }
    for (size_t at = 1; at < 120; at += 3) {
        write_file(&v, at);
        check_damaged(&v, &t);
    }
    write_file(&v, v.length - 1);
    check_damaged(&v, &t);
    assert_int_equal(t.n_read, 0);
    assert_int_equal(t.n_verified, 0);
    free_victim(&v);
}

/* The file as it was some changes ago, page by page: pages of two times do not mix unnoticed. */
static void test_pages_of_two_times(void **state)
{
    (void)state;
    victim old, now;
    tally t = {0};
    case_shape shape = {.n_entities = 400, .n_relations = 4, .n_facts = 2000, .is_rdf = true};
    make_victim(&old, &shape, 20);
    acq_store_writer *writer = NULL;
    OK(acq_store_writer_open(path, &writer, e));
    for (int i = 0; i < 30; i++) {
        char head[96], tail[96];
        snprintf(head, sizeof head, "http://example.org/thing/%d", i);
        snprintf(tail, sizeof tail, "newer %d", i);
        acq_store_fact fact = {.head = head, .relation = "new relation 1", .tail = tail};
        OK(acq_store_add(writer, &fact, 1, NULL, NULL, e));
    }
    OK(acq_store_compact(writer, NULL, e));
    acq_store_writer_free(writer);
    OK(acq_store_open(path, &now.graph, e));
    read_file(&now);
    for (size_t at = 0; at < now.length && at < old.length; at += 16384) {
        unsigned char page[16384];
        memcpy(page, now.bytes + at, sizeof page);
        memcpy(now.bytes + at, old.bytes + at, sizeof page);
        write_file(&now, now.length);
        if (memcmp(page, now.bytes + at, sizeof page) != 0 && at > 0)
            check_damaged(&now, &t);
        memcpy(now.bytes + at, page, sizeof page);
    }
    free_victim(&old);
    free_victim(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_changed_byte_in_a_small_store),
        cmocka_unit_test(test_a_changed_byte_in_a_larger_store),
        cmocka_unit_test(test_a_store_that_is_cut_off),
        cmocka_unit_test(test_pages_of_two_times),
    };
    return cmocka_run_group_tests(tests, case_make_folder, case_remove_folder);
}
