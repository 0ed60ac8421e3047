/* store_case.c - see store_case.h. */
#include "unit/store_case.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "store/import/write.h"

static char folder[512];

int case_make_folder(void **state)
{
    (void)state;
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/acq-store-XXXXXX", temporary == NULL ? "/tmp" : temporary);
    return mkdtemp(folder) == NULL ? -1 : 0;
}

int case_remove_folder(void **state)
{
    (void)state;
    DIR *open = opendir(folder);
    if (open == NULL)
        return -1;
    for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
        if (entry->d_name[0] != '.')
            remove(case_path(entry->d_name));
    }
    closedir(open);
    return rmdir(folder);
}

const char *case_path(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_store(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    char name[1024];
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static void put_part(acq_bulk *bulk, acq_bulk_part *part)
{
    if (part->part.n_links == 0)
        return;
    assert_int_equal(acq_bulk_part_encode(part), ACQ_OK);
    OK(acq_bulk_put_part(bulk, part, e));
}

static void put_links(acq_bulk *bulk, const acq_graph *graph, acq_rel directed, size_t most_links)
{
    const acq_links *links = NULL;
    acq_bulk_part part = {0};
    uint32_t number = 0;
    OK(acq_graph_open_links(graph, directed, &links, e));
    acq_bulk_part_begin(&part, directed, number, ACQ_NO_ID);
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        for (size_t j = 0; j < row.n; j++) {
            if (part.part.n_links == most_links) {
                put_part(bulk, &part);
                acq_bulk_part_begin(&part, directed, ++number, part.last_head);
            }
            assert_int_equal(acq_bulk_part_add(&part, links->heads[i], row.tails[j]), ACQ_OK);
        }
    }
    put_part(bulk, &part);
    acq_bulk_part_deinit(&part);
}

static acq_pair_name name_of(const char *text)
{
    return (acq_pair_name){.text = text, .length = strlen(text)};
}

static void put_pair(acq_bulk *bulk, const acq_graph *graph, acq_rel even)
{
    acq_pair_name keys[2] = {{0}}, labels[2] = {{0}};
    for (acq_rel side = 0; side < 2; side++) {
        const char *key = acq_graph_get_relation_key(graph, even + side);
        const char *shown = acq_graph_get_relation_name(graph, even + side);
        if (!acq_graph_is_named(graph, even + side))
            continue;
        keys[side] = name_of(key);
        if (strcmp(key, shown) != 0)
            labels[side] = name_of(shown);
    }
    OK(acq_bulk_add_pair(bulk, keys, labels, e));
}

void case_write_store(const acq_graph *graph, const char *path)
{
    case_write_parts(graph, path, ACQ_PART_MOST_LINKS);
}

void case_write_parts(const acq_graph *graph, const char *path, size_t most_links)
{
    acq_bulk *bulk = NULL;
    remove_store(path);
    OK(acq_bulk_open(path, NULL, &bulk, e));
    for (acq_ent id = 0; id < acq_graph_get_n_entities(graph); id++) {
        const char *key = acq_graph_get_entity_key(graph, id);
        const char *shown = acq_graph_get_entity_name(graph, id);
        bool has_label = strcmp(key, shown) != 0;
        acq_bulk_entity entity = {{key, strlen(key)}, {0}};
        if (has_label)
            entity.label = (acq_pair_name){shown, strlen(shown)};
        OK(acq_bulk_add_entities(bulk, &entity, 1, e));
    }
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++)
        put_links(bulk, graph, r, most_links);
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r += 2)
        put_pair(bulk, graph, r);
    OK(acq_bulk_finish(bulk, "a graph in memory", acq_graph_is_rdf(graph), e));
    acq_bulk_free(bulk);
}

/* Names of all lengths and bytes that a name may have, distinct by their number. */
static void make_name(const case_shape *shape, const char *kind, uint32_t number, char *out,
                      size_t room)
{
    static const char *const tails[] = {"", " (city)", "\xc3\xa9t\xc3\xa9", "'\"\\%_",
                                        "\xf0\x9f\x8c\x8d and more, \n a line"};
    if (shape->is_rdf)
        snprintf(out, room, "http://example.org/%s/%u", kind, number);
    else
        snprintf(out, room, "%s%u%s", kind, number, tails[number % 5]);
}

static void add_label(acq_graph_builder *builder, const char *key, uint32_t number)
{
    char label[64];
    acq_dictionary *dictionary = acq_graph_builder_get_dictionary(builder);
    if (number % 3 == 0)
        return;
    snprintf(label, sizeof label, "The Label %u", number % 7 == 0 ? 7 : number);
    assert_int_equal(acq_dictionary_add_label(dictionary, key, strlen(key), label, strlen(label),
                                              ACQ_LABEL_PLAIN),
                     ACQ_OK);
}

static void add_names(acq_graph_builder *builder, const case_shape *shape)
{
    char name[128];
    for (acq_ent id = 0; id < shape->n_entities; id++) {
        make_name(shape, "thing", id, name, sizeof name);
        OK(acq_graph_builder_set_entity(builder, id, name, strlen(name), e));
        if (shape->is_rdf)
            add_label(builder, name, id);
    }
    for (uint32_t pair = 0; pair < shape->n_relations; pair++) {
        make_name(shape, "rel", pair, name, sizeof name);
        OK(acq_graph_builder_set_relation(builder, 2 * pair, name, strlen(name), e));
        if (shape->is_rdf)
            add_label(builder, name, 1000 + pair);
        if (!shape->names_inverses)
            continue;
        make_name(shape, "inverse-rel", pair, name, sizeof name);
        OK(acq_graph_builder_set_relation(builder, 2 * pair + 1, name, strlen(name), e));
    }
}

acq_graph *case_make_graph(const case_shape *shape, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 1);
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    assert_non_null(builder);
    acq_graph_builder_get_dictionary(builder)->is_rdf = shape->is_rdf;
    add_names(builder, shape);
    for (uint32_t i = 0; shape->n_relations > 0 && i < shape->n_facts; i++) {
        acq_ent head = (acq_ent)acq_random_below(&random, shape->n_entities);
        acq_ent tail =
            (acq_ent)acq_random_below(&random, 1 + acq_random_below(&random, shape->n_entities));
        acq_rel relation = 2 * (acq_rel)acq_random_below(&random, shape->n_relations);
        assert_int_equal(acq_graph_builder_add_fact(builder, head, relation, tail), ACQ_OK);
        /* Where inverses have names, facts come in both directions. */
        if (shape->names_inverses)
            assert_int_equal(acq_graph_builder_add_fact(builder, tail, relation + 1, head), ACQ_OK);
    }
    OK(acq_graph_builder_finish(builder, &graph, e));
    acq_graph_builder_free(builder);
    return graph;
}

case_shape case_random_shape(uint64_t seed)
{
    acq_random random = acq_random_start(seed, 2);
    case_shape shape = {.n_entities = 1 + (uint32_t)acq_random_below(&random, 60),
                        .n_relations = 1 + (uint32_t)acq_random_below(&random, 6)};
    uint64_t kind = acq_random_below(&random, 3);
    shape.n_facts = (uint32_t)acq_random_below(&random, 400);
    shape.names_inverses = kind == 1;
    shape.is_rdf = kind == 2;
    return shape;
}

static void expect_same_links(const acq_graph *stored, const acq_graph *expected, acq_rel r)
{
    const acq_links *a = NULL, *b = NULL;
    const char *reason = "";
    OK(acq_graph_open_links(stored, r, &a, e));
    OK(acq_graph_open_links(expected, r, &b, e));
    assert_true(acq_links_check(a, &reason));
    assert_int_equal(a->n_entities, b->n_entities);
    assert_int_equal(a->n_heads, b->n_heads);
    assert_int_equal(a->n_links, b->n_links);
    assert_memory_equal(a->heads, b->heads, a->n_heads * sizeof *a->heads);
    assert_memory_equal(a->offsets, b->offsets, (a->n_heads + 1) * sizeof *a->offsets);
    assert_memory_equal(a->tails, b->tails, a->n_links * sizeof *a->tails);
    assert_null(a->scores);
}

static void expect_same_entities(const acq_graph *stored, const acq_graph *expected)
{
    for (acq_ent id = 0; id < acq_graph_get_n_entities(expected); id++) {
        const char *key = acq_graph_get_entity_key(expected, id);
        const char *name = acq_graph_get_entity_name(expected, id);
        assert_string_equal(acq_graph_get_entity_key(stored, id), key);
        assert_string_equal(acq_graph_get_entity_name(stored, id), name);
        assert_int_equal(acq_graph_find_entity(stored, key, strlen(key)), id);
        assert_int_equal(acq_graph_find_entity(stored, name, strlen(name)), id);
    }
    assert_int_equal(acq_graph_find_entity(stored, "nobody", 6), ACQ_NO_ID);
}

static void expect_same_relations(const acq_graph *stored, const acq_graph *expected)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(expected); r++) {
        const char *name = acq_graph_get_relation_name(expected, r);
        assert_string_equal(acq_graph_get_relation_key(stored, r),
                            acq_graph_get_relation_key(expected, r));
        assert_string_equal(acq_graph_get_relation_name(stored, r), name);
        assert_int_equal(acq_graph_is_named(stored, r), acq_graph_is_named(expected, r));
        assert_int_equal(acq_graph_find_relation(stored, name, strlen(name)),
                         acq_graph_find_relation(expected, name, strlen(name)));
        expect_same_links(stored, expected, r);
    }
}

void case_expect_same(const acq_graph *stored, const acq_graph *expected)
{
    acq_error failure = {0};
    assert_int_equal(acq_graph_get_n_entities(stored), acq_graph_get_n_entities(expected));
    assert_int_equal(acq_graph_get_n_relations(stored), acq_graph_get_n_relations(expected));
    assert_int_equal(acq_graph_get_n_facts(stored), acq_graph_get_n_facts(expected));
    assert_int_equal(acq_graph_is_rdf(stored), acq_graph_is_rdf(expected));
    assert_true(acq_graph_get_dictionary_fingerprint(stored) ==
                acq_graph_get_dictionary_fingerprint(expected));
    assert_true(acq_graph_get_fingerprint(stored) == acq_graph_get_fingerprint(expected));
    expect_same_entities(stored, expected);
    expect_same_relations(stored, expected);
    if (acq_graph_get_failure(stored, &failure) != ACQ_OK)
        fail_msg("%s: %s", failure.file, failure.message);
}

void case_expect_store(const char *path, const acq_graph *expected)
{
    acq_graph *stored = NULL;
    OK(acq_store_open(path, &stored, e));
    case_expect_same(stored, expected);
    acq_graph_free(stored);
    OK(acq_store_verify(path, NULL, NULL, e));
}

void case_run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

void case_copy(const char *from, const char *to)
{
    char bytes[1 << 14];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    for (size_t n = fread(bytes, 1, sizeof bytes, in); n > 0; n = fread(bytes, 1, sizeof bytes, in))
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}
