/* meta.c - the rows of meta: one per field of acq_store_meta, and a checksum over them; see
 * format.h. A row that is not there reads as 0, so a field that came with a later format changes
 * no checksum of an earlier one. */
#include "store/format.h"

#include <string.h>

typedef enum field_kind { NUMBER, FLAG, TEXT } field_kind;

typedef struct meta_field {
    const char *name;
    field_kind kind;
    size_t offset;
} meta_field;

#define FIELD(name, kind, member)                                                                  \
    {                                                                                              \
        name, kind, offsetof(acq_store_meta, member)                                               \
    }

/* The order of the checksum. */
static const meta_field FIELDS[] = {
    FIELD("entities", NUMBER, n_entities),
    FIELD("entity_sum", NUMBER, entity_sum),
    FIELD("relations", NUMBER, n_relations),
    FIELD("facts", NUMBER, n_facts),
    FIELD("fact_sum", NUMBER, fact_sum),
    FIELD("changes", NUMBER, n_changes),
    FIELD("labels", NUMBER, n_labels),
    FIELD("relation_rows", NUMBER, relation_rows),
    FIELD("imported", NUMBER, imported),
    FIELD("rdf", FLAG, is_rdf),
    FIELD("sources", TEXT, sources),
};

enum { N_FIELDS = sizeof FIELDS / sizeof FIELDS[0] };

static uint64_t get_number(const acq_store_meta *meta, const meta_field *field)
{
    const char *at = (const char *)meta + field->offset;
    return field->kind == FLAG ? *(const bool *)at : *(const uint64_t *)(const void *)at;
}

static uint64_t checksum_of(const acq_store_meta *meta)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < N_FIELDS; i++) {
        const char *text = (const char *)meta + FIELDS[i].offset;
        if (FIELDS[i].kind == TEXT)
            hash = acq_hash_bytes(text, strlen(text), hash);
        else
            hash = acq_hash_word(hash, get_number(meta, &FIELDS[i]));
    }
    return acq_random_mix(hash);
}

uint64_t acq_meta_hash(const acq_store_meta *meta)
{
    const uint64_t numbers[] = {meta->n_entities, meta->entity_sum, meta->n_relations,
                                meta->n_facts, meta->fact_sum};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        hash = acq_hash_word(hash, numbers[i]);
    return acq_random_mix(hash);
}

void acq_meta_set_sources(acq_store_meta *meta, const char *sources)
{
    size_t length = strlen(sources), most = sizeof meta->sources - 1;
    if (length > most) {
        length = most;
        while (length > 0 && ((unsigned char)sources[length] & 0xc0) == 0x80)
            length--;
    }
    memset(meta->sources, 0, sizeof meta->sources);
    memcpy(meta->sources, sources, length);
}

/* The value of one row; false: it cannot be one of this field. */
static bool set_field(acq_store_meta *meta, const meta_field *field, sqlite3_stmt *row)
{
    char *at = (char *)meta + field->offset;
    if (sqlite3_column_type(row, 0) != (field->kind == TEXT ? SQLITE_TEXT : SQLITE_INTEGER))
        return false;
    if (field->kind == FLAG) {
        *(bool *)at = sqlite3_column_int64(row, 0) != 0;
    } else if (field->kind == NUMBER) {
        *(uint64_t *)(void *)at = acq_db_get_u64(row, 0);
    } else {
        const char *text = (const char *)sqlite3_column_text(row, 0);
        size_t length = (size_t)sqlite3_column_bytes(row, 0);
        if (text == NULL || length >= sizeof meta->sources)
            return false;
        memcpy(at, text, length);
    }
    return true;
}

/* Finds the row of a name; `statement` asks for one. */
static acq_status find_row(const acq_db *db, sqlite3_stmt *statement, const char *name,
                           bool *has_row, acq_error *error)
{
    sqlite3_reset(statement);
    acq_db_bind_text(statement, 1, name, strlen(name));
    return acq_db_step(db, statement, has_row, error);
}

static acq_status read_fields(const acq_db *db, sqlite3_stmt *statement, acq_store_meta *out,
                              acq_error *error)
{
    acq_status status = ACQ_OK;
    bool has_row = false;
    for (size_t i = 0; status == ACQ_OK && i < N_FIELDS; i++) {
        status = find_row(db, statement, FIELDS[i].name, &has_row, error);
        if (status == ACQ_OK && has_row && !set_field(out, &FIELDS[i], statement))
            status = acq_db_fail_damaged(db, "a value in meta has the wrong type", error);
    }
    if (status == ACQ_OK)
        status = find_row(db, statement, "checksum", &has_row, error);
    if (status == ACQ_OK && (!has_row || acq_db_get_u64(statement, 0) != checksum_of(out)))
        status = acq_db_fail_damaged(db, "meta does not match its checksum", error);
    return status;
}

static const char *check_ranges(const acq_store_meta *meta)
{
    if (meta->n_entities >= ACQ_NO_ID - 1 || meta->n_relations >= ACQ_NO_ID - 1)
        return "it counts too many names";
    if (meta->n_relations % 2 != 0)
        return "it has an odd number of relation ids";
    return NULL;
}

acq_status acq_meta_read(const acq_db *db, acq_store_meta *out, acq_error *error)
{
    sqlite3_stmt *statement = NULL;
    acq_store_meta meta = {0};
    acq_status status =
        acq_db_prepare(db, "SELECT value FROM meta WHERE name = ?1", &statement, error);
    if (status == ACQ_OK)
        status = read_fields(db, statement, &meta, error);
    sqlite3_finalize(statement);
    const char *reason = status == ACQ_OK ? check_ranges(&meta) : NULL;
    if (reason != NULL)
        status = acq_db_fail_damaged(db, reason, error);
    if (status == ACQ_OK)
        *out = meta;
    return status;
}

static void bind_field(sqlite3_stmt *statement, const acq_store_meta *meta, const meta_field *field)
{
    const char *text = (const char *)meta + field->offset;
    acq_db_bind_text(statement, 1, field->name, strlen(field->name));
    if (field->kind == TEXT)
        acq_db_bind_text(statement, 2, text, strlen(text));
    else
        acq_db_bind_u64(statement, 2, get_number(meta, field));
}

acq_status acq_meta_write(const acq_db *db, const acq_store_meta *meta, acq_error *error)
{
    sqlite3_stmt *statement = NULL;
    acq_status status =
        acq_db_prepare(db, "INSERT OR REPLACE INTO meta VALUES(?1, ?2)", &statement, error);
    for (size_t i = 0; status == ACQ_OK && i < N_FIELDS; i++) {
        bind_field(statement, meta, &FIELDS[i]);
        status = acq_db_finish(db, statement, error);
    }
    if (status == ACQ_OK) {
        acq_db_bind_text(statement, 1, "checksum", strlen("checksum"));
        acq_db_bind_u64(statement, 2, checksum_of(meta));
        status = acq_db_finish(db, statement, error);
    }
    sqlite3_finalize(statement);
    return status;
}
