/* store_seal.c - see store_seal.h. */
#include "unit/store_seal.h"

#include <stdlib.h>
#include <string.h>

#include "store/format.h"
#include "unit/store_case.h"

enum { MOST_NUMBERS = 16 };

static size_t read_list(const char *text, uint32_t *out)
{
    size_t n = 0;
    for (char *end = NULL; *text != '\0' && n < MOST_NUMBERS; text = *end == ',' ? end + 1 : end)
        out[n++] = (uint32_t)strtoul(text, &end, 10);
    return n;
}

/* Builds the arrays by hand: acq_part_add would not take them if they are wrong. */
static void make_part(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    static uint32_t heads[MOST_NUMBERS], lengths[MOST_NUMBERS], tails[MOST_NUMBERS];
    acq_part part = {.directed = (acq_rel)sqlite3_value_int64(values[0]),
                     .number = (uint32_t)sqlite3_value_int64(values[1]),
                     .heads = heads,
                     .lengths = lengths,
                     .tails = tails};
    uint64_t checksum = 0;
    (void)n_values;
    part.n_heads = read_list((const char *)sqlite3_value_text(values[2]), heads);
    assert_int_equal(read_list((const char *)sqlite3_value_text(values[3]), lengths), part.n_heads);
    part.n_links = read_list((const char *)sqlite3_value_text(values[4]), tails);
    assert_int_equal(acq_part_encode(&part, &checksum), ACQ_OK);
    sqlite3_result_blob(context, part.body, (int)part.body_length, SQLITE_TRANSIENT);
    part.heads = part.lengths = part.tails = NULL;
    acq_part_deinit(&part);
}

static const char *text_of(sqlite3_value *value)
{
    return (const char *)sqlite3_value_text(value);
}

static void make_checksum(sqlite3_context *context, int n_values, sqlite3_value **values)
{
    (void)n_values;
    const char *key = text_of(values[1]), *label = text_of(values[2]);
    size_t key_length = (size_t)sqlite3_value_bytes(values[1]);
    size_t label_length = label == NULL ? 0 : (size_t)sqlite3_value_bytes(values[2]);
    acq_store_entity row = {.id = (acq_ent)sqlite3_value_int64(values[0]),
                            .key = key,
                            .label = label,
                            .key_length = key_length,
                            .label_length = label_length};
    sqlite3_result_int64(context, acq_entity_checksum(0, &row));
}

void seal_add_functions(sqlite3 *db)
{
    assert_int_equal(
        sqlite3_create_function(db, "part", 5, SQLITE_UTF8, NULL, make_part, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_create_function(db, "entity_checksum", 3, SQLITE_UTF8, NULL,
                                             make_checksum, NULL, NULL),
                     SQLITE_OK);
}

static sqlite3_stmt *ask(const acq_db *db, const char *sql, int64_t value)
{
    sqlite3_stmt *statement = NULL;
    OK(acq_db_prepare(db, sql, &statement, e));
    sqlite3_bind_int64(statement, 1, value);
    return statement;
}

static uint64_t sum_parts(const acq_db *db, acq_rel directed)
{
    sqlite3_stmt *rows = ask(db, "SELECT body FROM links WHERE id >> 24 = ?1", directed);
    uint64_t sum = 0, checksum;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        if (sqlite3_column_bytes(rows, 0) < ACQ_PART_HEADER)
            continue;
        memcpy(&checksum, (const char *)sqlite3_column_blob(rows, 0) + 24, sizeof checksum);
        sum += le64toh(checksum);
    }
    sqlite3_finalize(rows);
    return sum;
}

static void sum_changes(const acq_db *db, acq_store_pair *pair)
{
    sqlite3_stmt *rows =
        ask(db, "SELECT head, tail, added FROM change WHERE relation = ?1", pair->relation);
    pair->n_changes = pair->changes_sum = 0;
    for (; sqlite3_step(rows) == SQLITE_ROW; pair->n_changes++)
        pair->changes_sum += acq_change_hash(pair->relation, (acq_ent)sqlite3_column_int64(rows, 0),
                                             (acq_ent)sqlite3_column_int64(rows, 1),
                                             sqlite3_column_int64(rows, 2) != 0);
    sqlite3_finalize(rows);
}

static acq_pair_name get_name(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return (acq_pair_name){.text = text, .length = (size_t)sqlite3_column_bytes(row, column)};
}

static acq_store_pair get_pair(sqlite3_stmt *row)
{
    return (acq_store_pair){
        .relation = (acq_rel)sqlite3_column_int64(row, 0),
        .keys = {get_name(row, 1), get_name(row, 2)},
        .labels = {get_name(row, 13), get_name(row, 14)},
        .n_links = acq_db_get_u64(row, 3),
        .n_heads = {acq_db_get_u64(row, 4), acq_db_get_u64(row, 5)},
        .n_parts = {(uint32_t)acq_db_get_u64(row, 6), (uint32_t)acq_db_get_u64(row, 7)},
        .parts_sum = {acq_db_get_u64(row, 8), acq_db_get_u64(row, 9)},
        .n_changes = acq_db_get_u64(row, 10),
        .changes_sum = acq_db_get_u64(row, 11),
    };
}

static uint64_t seal_pairs(const acq_db *db, seal_depth depth)
{
    sqlite3_stmt *rows = ask(db, "SELECT * FROM relation WHERE id >= ?1", 0), *write = NULL;
    uint64_t sum = 0;
    OK(acq_pair_prepare_write(db, &write, e));
    while (sqlite3_step(rows) == SQLITE_ROW) {
        acq_store_pair pair = get_pair(rows);
        for (acq_rel side = 0; depth >= SEAL_PARTS && side < 2; side++)
            pair.parts_sum[side] = sum_parts(db, pair.relation + side);
        if (depth == SEAL_CHANGES)
            sum_changes(db, &pair);
        sum += acq_pair_checksum(&pair);
        OK(acq_pair_write(db, write, &pair, e));
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(write);
    return sum;
}

static uint64_t get_meta(const acq_db *db, const char *name)
{
    sqlite3_stmt *row = NULL;
    OK(acq_db_prepare(db, "SELECT value FROM meta WHERE name = ?1", &row, e));
    acq_db_bind_text(row, 1, name, strlen(name));
    uint64_t value = sqlite3_step(row) == SQLITE_ROW ? acq_db_get_u64(row, 0) : 0;
    sqlite3_finalize(row);
    return value;
}

void seal(const acq_db *db, seal_depth depth)
{
    acq_store_meta meta = {
        .n_entities = get_meta(db, "entities"),
        .entity_sum = get_meta(db, "entity_sum"),
        .n_relations = get_meta(db, "relations"),
        .n_facts = get_meta(db, "facts"),
        .fact_sum = get_meta(db, "fact_sum"),
        .n_changes = get_meta(db, "changes"),
        .n_labels = get_meta(db, "labels"),
        .imported = get_meta(db, "imported"),
        .relation_rows = seal_pairs(db, depth),
    };
    OK(acq_meta_write(db, &meta, e));
}
