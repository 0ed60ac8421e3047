/* catalog.c - reads the small tables; see catalog.h. */
#include "store/catalog.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/format.h"

uint32_t acq_entity_checksum(uint64_t salt, const acq_store_entity *entity)
{
    uint64_t hash = acq_hash_name(entity->id, entity->key, entity->key_length);
    if (entity->label != NULL)
        hash = acq_hash_bytes(entity->label, entity->label_length, hash);
    if (salt != 0)
        hash = acq_hash_word(hash, salt);
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

static acq_status put_name(const acq_db *db, acq_names *names, acq_rel id,
                           const acq_pair_name *name, acq_error *error)
{
    if (name->text == NULL)
        return ACQ_OK;
    if (acq_names_find(names, name->text, name->length) != ACQ_NO_ID)
        return acq_db_fail_damaged(db, "two relations have the same name", error);
    acq_status status = acq_names_put(names, id, name->text, name->length);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(error);
    return status == ACQ_OK ? ACQ_OK
                            : acq_db_fail_damaged(db, "a relation's name is not valid", error);
}

static const char *check_pair(const acq_store_pair *pair, const acq_catalog *catalog)
{
    if (pair->keys[0].text == NULL && pair->keys[1].text == NULL)
        return "a relation has no name";
    if (pair->n_links >= UINT32_MAX || pair->n_links > catalog->file_bytes / sizeof(acq_ent))
        return "a relation counts more links than the file can hold";
    if (pair->n_changes > catalog->file_bytes)
        return "a relation counts more changes than the file can hold";
    for (int i = 0; i < 2; i++) {
        if (pair->n_heads[i] > pair->n_links || pair->n_parts[i] > pair->n_links ||
            pair->n_parts[i] >> ACQ_STORE_PART_BITS != 0)
            return "a relation counts more rows than links";
    }
    return NULL;
}

static acq_status take_pair(const acq_db *db, acq_catalog *catalog, const acq_store_pair *pair,
                            acq_error *error)
{
    const char *reason = check_pair(pair, catalog);
    if (reason != NULL)
        return acq_db_fail_damaged(db, reason, error);
    if (ACQ_RESERVE(catalog->pairs, catalog->pairs_capacity, catalog->n_pairs + 1) != ACQ_OK)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (acq_rel side = 0; status == ACQ_OK && side < 2; side++) {
        acq_rel id = pair->relation + side;
        status = put_name(db, &catalog->relations, id, &pair->keys[side], error);
        if (status == ACQ_OK)
            status = put_name(db, &catalog->relation_labels, id, &pair->labels[side], error);
    }
    acq_store_pair *kept = &catalog->pairs[catalog->n_pairs++];
    *kept = *pair;
    for (int side = 0; side < 2; side++)
        kept->keys[side] = kept->labels[side] = (acq_pair_name){0};
    return status;
}

/* Rows come as 0, 2, 4, ... and their checksums add up to what meta says. */
static acq_status read_rows(const acq_db *db, sqlite3_stmt *rows, acq_catalog *out,
                            acq_error *error)
{
    uint64_t sum = 0, expected = 0;
    bool has_row = false;
    acq_status status = acq_db_step(db, rows, &has_row, error);
    for (; status == ACQ_OK && has_row; expected += 2) {
        acq_store_pair pair;
        status = read_pair(db, rows, out->format, &pair, error);
        if (status == ACQ_OK && pair.relation != expected)
            status = acq_db_fail_damaged(db, "a relation is missing", error);
        if (status == ACQ_OK)
            status = take_pair(db, out, &pair, error);
        if (status == ACQ_OK) {
            sum += acq_pair_checksum(&pair);
            status = acq_db_step(db, rows, &has_row, error);
        }
    }
    if (status == ACQ_OK && (expected != out->meta.n_relations || sum != out->meta.relation_rows))
        status = acq_db_fail_damaged(db, "the relations do not match their checksum", error);
    return status;
}

static acq_status read_pairs(const acq_db *db, acq_catalog *out, acq_error *error)
{
    sqlite3_stmt *rows = NULL;
    acq_status status = acq_db_prepare(
        db,
        out->format == 1 ? "SELECT " COLUMNS " FROM relation ORDER BY id"
                         : "SELECT " COLUMNS ", label, inverse_label FROM relation ORDER BY id",
        &rows, error);
    if (status == ACQ_OK)
        status = read_rows(db, rows, out, error);
    sqlite3_finalize(rows);
    return status;
}

static acq_status read_size(const acq_db *db, uint64_t *out, acq_error *error)
{
    int64_t n_pages = 0, page_size = 0;
    acq_status status = acq_db_read_number(db, "PRAGMA page_count", &n_pages, error);
    if (status == ACQ_OK)
        status = acq_db_read_number(db, "PRAGMA page_size", &page_size, error);
    if (status == ACQ_OK)
        *out = (uint64_t)n_pages * (uint64_t)page_size;
    return status;
}

/* That meta counts the same is what ends a compaction. */
static uint64_t count_changes(const acq_catalog *catalog)
{
    uint64_t n = 0;
    for (size_t i = 0; i < catalog->n_pairs; i++)
        n += catalog->pairs[i].n_changes;
    return n;
}

acq_status acq_catalog_read(const acq_db *db, acq_catalog *out, acq_error *error)
{
    *out = (acq_catalog){0};
    acq_status status = acq_format_check(db, &out->format, error);
    if (status == ACQ_OK)
        status = acq_meta_read(db, &out->meta, error);
    if (status == ACQ_OK)
        status = read_size(db, &out->file_bytes, error);
    if (status == ACQ_OK && out->meta.n_entities > out->file_bytes)
        status = acq_db_fail_damaged(db, "it counts more entities than the file can hold", error);
    if (status == ACQ_OK)
        status = read_pairs(db, out, error);
    if (status == ACQ_OK && count_changes(out) != out->meta.n_changes)
        status = acq_db_fail_damaged(db, "its relations have more or fewer changes than it counts",
                                     error);
    if (status != ACQ_OK)
        acq_catalog_deinit(out);
    return status;
}

void acq_catalog_deinit(acq_catalog *catalog)
{
    acq_names_deinit(&catalog->relations);
    acq_names_deinit(&catalog->relation_labels);
    acq_free(catalog->pairs);
    *catalog = (acq_catalog){0};
}

static acq_pair_name name_of(const acq_names *names, acq_rel id)
{
    const char *text = acq_names_get(names, id);
    return text == NULL ? (acq_pair_name){0}
                        : (acq_pair_name){.text = text, .length = names->entries[id].length};
}

acq_store_pair acq_catalog_get_pair(const acq_catalog *catalog, size_t i)
{
    acq_store_pair pair = catalog->pairs[i];
    for (acq_rel side = 0; side < 2; side++) {
        pair.keys[side] = name_of(&catalog->relations, pair.relation + side);
        pair.labels[side] = name_of(&catalog->relation_labels, pair.relation + side);
    }
    return pair;
}
