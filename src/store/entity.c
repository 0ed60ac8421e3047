/* entity.c - finding entities; see entity.h. What the index says is compared with the row it
 * points to, whose checksum covers id, key and label. */
#include "store/entity.h"

#include <string.h>

acq_status acq_entity_take(const acq_db *db, sqlite3_stmt *statement, uint64_t n_entities,
                           acq_entity_row *out, acq_error *error)
{
    uint64_t id = acq_db_get_u64(statement, 0);
    acq_status status = acq_db_read_text(db, statement, 1, &out->key, &out->key_length, error);
    if (status == ACQ_OK)
        status = acq_db_read_text(db, statement, 3, &out->label, &out->label_length, error);
    if (status != ACQ_OK)
        return status;
    if (id >= n_entities)
        return acq_db_fail_damaged(db, "an entity's id is out of range", error);
    out->id = (acq_ent)id;
    if (out->key == NULL || acq_entity_checksum(out->id, out->key, out->key_length, out->label,
                                                out->label_length) != acq_db_get_u64(statement, 2))
        return acq_db_fail_damaged(db, "an entity does not match its checksum", error);
    if (strlen(out->key) != out->key_length ||
        (out->label != NULL && strlen(out->label) != out->label_length))
        return acq_db_fail_damaged(db, "a name holds a NUL byte", error);
    return ACQ_OK;
}

acq_status acq_entity_finder_init(acq_entity_finder *finder, const acq_db *db, uint32_t format,
                                  acq_error *error)
{
    bool has_labels = format > 1;
    *finder = (acq_entity_finder){.db = db};
    acq_status status = acq_db_prepare(db,
                                       has_labels ? ACQ_ENTITY_SELECT "WHERE id = ?1"
                                                  : ACQ_ENTITY_SELECT_FIRST "WHERE id = ?1",
                                       &finder->by_id, error);
    if (status == ACQ_OK)
        status = acq_db_prepare(db,
                                has_labels ? ACQ_ENTITY_SELECT "WHERE key = ?1"
                                           : ACQ_ENTITY_SELECT_FIRST "WHERE key = ?1",
                                &finder->by_key, error);
    if (status == ACQ_OK && has_labels)
        status = acq_db_prepare(db, ACQ_ENTITY_SELECT "WHERE label = ?1", &finder->by_label, error);
    if (status != ACQ_OK)
        acq_entity_finder_deinit(finder);
    return status;
}

void acq_entity_finder_deinit(acq_entity_finder *finder)
{
    sqlite3_finalize(finder->by_id);
    sqlite3_finalize(finder->by_key);
    sqlite3_finalize(finder->by_label);
    *finder = (acq_entity_finder){0};
}

acq_status acq_entity_read(const acq_entity_finder *finder, acq_ent id, uint64_t n_entities,
                           acq_entity_row *out, acq_error *error)
{
    bool has_row = false;
    sqlite3_reset(finder->by_id);
    acq_db_bind_u64(finder->by_id, 1, id);
    acq_status status = acq_db_step(finder->db, finder->by_id, &has_row, error);
    if (status == ACQ_OK && !has_row)
        return acq_db_fail_damaged(finder->db, "an entity is missing", error);
    if (status == ACQ_OK)
        status = acq_entity_take(finder->db, finder->by_id, n_entities, out, error);
    if (status == ACQ_OK && out->id != id)
        status = acq_db_fail_damaged(finder->db, "an entity is in another's place", error);
    return status;
}

static bool equals(const char *text, size_t text_length, const char *name, size_t length)
{
    return text != NULL && text_length == length && memcmp(text, name, length) == 0;
}

static acq_status find_by(const acq_entity_finder *finder, sqlite3_stmt *statement,
                          const char *name, size_t length, uint64_t n_entities, acq_ent *out,
                          acq_error *error)
{
    acq_entity_row row;
    bool has_row = false;
    *out = ACQ_NO_ID;
    acq_db_bind_text(statement, 1, name, length);
    acq_status status = acq_db_step(finder->db, statement, &has_row, error);
    if (status == ACQ_OK && has_row) {
        status = acq_entity_take(finder->db, statement, n_entities, &row, error);
        if (status == ACQ_OK && !equals(row.key, row.key_length, name, length) &&
            !equals(row.label, row.label_length, name, length))
            status = acq_db_fail_damaged(finder->db, "its index of names is wrong", error);
        if (status == ACQ_OK)
            *out = row.id;
    }
    sqlite3_reset(statement);
    return status;
}

acq_status acq_entity_find(const acq_entity_finder *finder, const char *name, size_t length,
                           uint64_t n_entities, acq_ent *out, acq_error *error)
{
    acq_status status = find_by(finder, finder->by_key, name, length, n_entities, out, error);
    if (status == ACQ_OK && *out == ACQ_NO_ID && finder->by_label != NULL)
        status = find_by(finder, finder->by_label, name, length, n_entities, out, error);
    return status;
}
