/* pair.c - checksums of entities and the rows of relation; see format.h. */
#include "store/format.h"

#include <stdio.h>
#include <string.h>

uint32_t acq_entity_checksum(acq_ent id, const char *key, size_t key_length, const char *label,
                             size_t label_length)
{
    uint64_t hash = acq_hash_name(id, key, key_length);
    if (label != NULL)
        hash = acq_hash_bytes(label, label_length, hash);
    return (uint32_t)(hash >> 32);
}

static uint64_t hash_name(uint64_t hash, const acq_pair_name *name)
{
    return name->text == NULL ? acq_hash_word(hash, 0)
                              : acq_hash_bytes(name->text, name->length, hash);
}

/* Without labels the same as in format 1, which had none. */
uint64_t acq_pair_checksum(const acq_store_pair *pair)
{
    const uint64_t numbers[] = {pair->n_links,      pair->n_heads[0], pair->n_heads[1],
                                pair->n_parts[0],   pair->n_parts[1], pair->parts_sum[0],
                                pair->parts_sum[1], pair->n_changes,  pair->changes_sum};
    uint64_t hash = acq_random_mix(pair->relation);
    hash = hash_name(hash, &pair->keys[0]);
    hash = hash_name(hash, &pair->keys[1]);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        hash = acq_hash_word(hash, numbers[i]);
    for (size_t i = 0; i < 2; i++) {
        if (pair->labels[i].text != NULL)
            hash = hash_name(hash + i + 1, &pair->labels[i]);
    }
    return acq_random_mix(hash);
}

#define COLUMNS                                                                                    \
    "id, key, inverse_key, links, heads, inverse_heads, parts, inverse_parts, parts_sum, "         \
    "inverse_parts_sum, changes, changes_sum, checksum"

acq_status acq_pair_prepare_write(const acq_db *db, sqlite3_stmt **out, acq_error *error)
{
    return acq_db_prepare(db,
                          "INSERT OR REPLACE INTO relation(" COLUMNS ", label, inverse_label) "
                          "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
                          "?15)",
                          out, error);
}

acq_status acq_pair_write(const acq_db *db, sqlite3_stmt *statement, const acq_store_pair *pair,
                          acq_error *error)
{
    const uint64_t numbers[] = {pair->n_links,          pair->n_heads[0], pair->n_heads[1],
                                pair->n_parts[0],       pair->n_parts[1], pair->parts_sum[0],
                                pair->parts_sum[1],     pair->n_changes,  pair->changes_sum,
                                acq_pair_checksum(pair)};
    acq_db_bind_u64(statement, 1, pair->relation);
    for (int i = 0; i < 2; i++) {
        acq_db_bind_text(statement, 2 + i, pair->keys[i].text, pair->keys[i].length);
        acq_db_bind_text(statement, 14 + i, pair->labels[i].text, pair->labels[i].length);
    }
    for (int i = 0; i < (int)(sizeof numbers / sizeof numbers[0]); i++)
        acq_db_bind_u64(statement, 4 + i, numbers[i]);
    return acq_db_finish(db, statement, error);
}

static acq_status read_names(const acq_db *db, sqlite3_stmt *row, uint32_t format,
                             acq_store_pair *pair, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (int i = 0; status == ACQ_OK && i < 2; i++) {
        acq_pair_name *key = &pair->keys[i], *label = &pair->labels[i];
        status = acq_db_read_text(db, row, 1 + i, &key->text, &key->length, error);
        if (status == ACQ_OK && format > 1)
            status = acq_db_read_text(db, row, 13 + i, &label->text, &label->length, error);
    }
    return status;
}

static acq_status read_pair(const acq_db *db, sqlite3_stmt *row, uint32_t format,
                            acq_store_pair *pair, acq_error *error)
{
    *pair = (acq_store_pair){
        .relation = (acq_rel)acq_db_get_u64(row, 0),
        .n_links = acq_db_get_u64(row, 3),
        .n_heads = {acq_db_get_u64(row, 4), acq_db_get_u64(row, 5)},
        .n_parts = {(uint32_t)acq_db_get_u64(row, 6), (uint32_t)acq_db_get_u64(row, 7)},
        .parts_sum = {acq_db_get_u64(row, 8), acq_db_get_u64(row, 9)},
        .n_changes = acq_db_get_u64(row, 10),
        .changes_sum = acq_db_get_u64(row, 11),
    };
    acq_status status = read_names(db, row, format, pair, error);
    if (status == ACQ_OK && acq_pair_checksum(pair) != acq_db_get_u64(row, 12))
        status = acq_db_fail_damaged(db, "a relation does not match its checksum", error);
    return status;
}

/* Rows come as 0, 2, 4, ... and their checksums add up to what meta says. */
static acq_status read_rows(const acq_db *db, sqlite3_stmt *rows, uint32_t format,
                            const acq_store_meta *meta, acq_pair_fn take, void *context,
                            acq_error *error)
{
    uint64_t sum = 0, expected = 0;
    bool has_row = false;
    acq_status status = acq_db_step(db, rows, &has_row, error);
    for (; status == ACQ_OK && has_row; expected += 2) {
        acq_store_pair pair;
        status = read_pair(db, rows, format, &pair, error);
        if (status == ACQ_OK && pair.relation != expected)
            status = acq_db_fail_damaged(db, "a relation is missing", error);
        if (status == ACQ_OK)
            status = take(context, &pair, error);
        if (status == ACQ_OK) {
            sum += acq_pair_checksum(&pair);
            status = acq_db_step(db, rows, &has_row, error);
        }
    }
    if (status == ACQ_OK && (expected != meta->n_relations || sum != meta->relation_rows))
        status = acq_db_fail_damaged(db, "the relations do not match their checksum", error);
    return status;
}

acq_status acq_pairs_read(const acq_db *db, uint32_t format, const acq_store_meta *meta,
                          acq_pair_fn take, void *context, acq_error *error)
{
    sqlite3_stmt *rows = NULL;
    acq_status status = acq_db_prepare(
        db,
        format == 1 ? "SELECT " COLUMNS " FROM relation ORDER BY id"
                    : "SELECT " COLUMNS ", label, inverse_label FROM relation ORDER BY id",
        &rows, error);
    if (status == ACQ_OK)
        status = read_rows(db, rows, format, meta, take, context, error);
    sqlite3_finalize(rows);
    return status;
}
