/* format.c - schema, creation, upgrade and recognition of stores; see format.h.
 *
 * A new store has exactly the schema text that an upgraded one has, so one table of expected texts
 * serves creation and checks; tests/unit/store_upgrade.c compares the two. */
#include "store/format.h"

#include <stdio.h>
#include <string.h>

#include "store/file.h"

typedef struct schema_object {
    const char *name;
    const char *sql[ACQ_STORE_FORMAT]; /* by format - 1; NULL: not there */
    bool is_index;
} schema_object;

#define ENTITY_COLUMNS                                                                             \
    "CREATE TABLE entity(id INTEGER PRIMARY KEY, key TEXT NOT NULL, checksum INTEGER NOT NULL"
#define RELATION_COLUMNS                                                                           \
    "CREATE TABLE relation(id INTEGER PRIMARY KEY, key TEXT, inverse_key TEXT, "                   \
    "links INTEGER NOT NULL, heads INTEGER NOT NULL, inverse_heads INTEGER NOT NULL, "             \
    "parts INTEGER NOT NULL, inverse_parts INTEGER NOT NULL, parts_sum INTEGER NOT NULL, "         \
    "inverse_parts_sum INTEGER NOT NULL, changes INTEGER NOT NULL, "                               \
    "changes_sum INTEGER NOT NULL, checksum INTEGER NOT NULL"
#define SAME(text)                                                                                 \
    {                                                                                              \
        text, text                                                                                 \
    }

/* In order of name, as acq_format_check meets them. */
static const schema_object SCHEMA[] = {
    {"change",
     SAME("CREATE TABLE change(relation INTEGER NOT NULL, head INTEGER NOT NULL, "
          "tail INTEGER NOT NULL, added INTEGER NOT NULL, PRIMARY KEY(relation, head, tail)) "
          "WITHOUT ROWID"),
     false},
    {"entity", {ENTITY_COLUMNS ")", ENTITY_COLUMNS ", label TEXT)"}, false},
    {"entity_key", SAME("CREATE UNIQUE INDEX entity_key ON entity(key)"), true},
    {"entity_label",
     {NULL, "CREATE UNIQUE INDEX entity_label ON entity(label) WHERE label IS NOT NULL"},
     true},
    {"links", SAME("CREATE TABLE links(id INTEGER PRIMARY KEY, body BLOB NOT NULL)"), false},
    {"meta", SAME("CREATE TABLE meta(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID"), false},
    {"relation",
     {RELATION_COLUMNS ")", RELATION_COLUMNS ", label TEXT, inverse_label TEXT)"},
     false},
};

enum { N_OBJECTS = sizeof SCHEMA / sizeof SCHEMA[0] };

static acq_status create(const acq_db *db, bool is_index, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < N_OBJECTS; i++) {
        if (SCHEMA[i].is_index == is_index)
            status = acq_db_run(db, SCHEMA[i].sql[ACQ_STORE_FORMAT - 1], error);
    }
    return status;
}

static acq_status set_marks(const acq_db *db, acq_error *error)
{
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             ACQ_STORE_APPLICATION, ACQ_STORE_FORMAT);
    return acq_db_run(db, sql, error);
}

acq_status acq_format_create_tables(const acq_db *db, acq_error *error)
{
    acq_status status = create(db, false, error);
    return status == ACQ_OK ? set_marks(db, error) : status;
}

acq_status acq_format_create_indexes(const acq_db *db, acq_error *error)
{
    return create(db, true, error);
}

acq_status acq_format_upgrade(const acq_db *db, acq_error *error)
{
    acq_status status = acq_db_run(db,
                                   "ALTER TABLE entity ADD COLUMN label TEXT;"
                                   "CREATE UNIQUE INDEX entity_label ON entity(label) WHERE label "
                                   "IS NOT NULL;"
                                   "ALTER TABLE relation ADD COLUMN label TEXT;"
                                   "ALTER TABLE relation ADD COLUMN inverse_label TEXT",
                                   error);
    return status == ACQ_OK ? set_marks(db, error) : status;
}

static acq_status check_marks(const acq_db *db, uint32_t *format, acq_error *error)
{
    int64_t application = 0, version = 0;
    acq_status status = acq_db_read_number(db, "PRAGMA application_id", &application, error);
    if (status == ACQ_OK)
        status = acq_db_read_number(db, "PRAGMA user_version", &version, error);
    if (status != ACQ_OK)
        return status;
    if (application != ACQ_STORE_APPLICATION)
        return acq_file_fail_foreign(db->path, error);
    if (version > ACQ_STORE_FORMAT) {
        status = acq_fail(error, ACQ_ERR_INPUT,
                          "the store was made by a newer anycq (format %lld; this one reads up to "
                          "%d); upgrade anycq",
                          (long long)version, ACQ_STORE_FORMAT);
        acq_error_set_file(error, db->path);
        return status;
    }
    if (version < 1)
        return acq_db_fail_damaged(db, "it has no format version", error);
    *format = (uint32_t)version;
    return ACQ_OK;
}

/* The next object of the schema of a format, from i on. */
static size_t skip_absent(size_t i, uint32_t format)
{
    while (i < N_OBJECTS && SCHEMA[i].sql[format - 1] == NULL)
        i++;
    return i;
}

static acq_status check_object(const acq_db *db, sqlite3_stmt *row, size_t i, uint32_t format,
                               acq_error *error)
{
    const char *name, *sql;
    size_t name_length, sql_length;
    acq_status status = acq_db_read_text(db, row, 0, &name, &name_length, error);
    if (status == ACQ_OK)
        status = acq_db_read_text(db, row, 1, &sql, &sql_length, error);
    if (status != ACQ_OK)
        return status;
    if (i == N_OBJECTS || name == NULL || sql == NULL || strcmp(name, SCHEMA[i].name) != 0 ||
        strcmp(sql, SCHEMA[i].sql[format - 1]) != 0)
        return acq_db_fail_damaged(db, "its tables are not those of a store", error);
    return ACQ_OK;
}

static acq_status check_schema(const acq_db *db, uint32_t format, acq_error *error)
{
    sqlite3_stmt *row = NULL;
    bool has_row = false;
    size_t i = skip_absent(0, format);
    /* Indexes that SQLite makes by itself have no text; statistics (ANALYZE) do no harm. */
    acq_status status = acq_db_prepare(db,
                                       "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL "
                                       "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
                                       &row, error);
    if (status == ACQ_OK)
        status = acq_db_step(db, row, &has_row, error);
    while (status == ACQ_OK && has_row) {
        status = check_object(db, row, i, format, error);
        i = skip_absent(i + 1, format);
        if (status == ACQ_OK)
            status = acq_db_step(db, row, &has_row, error);
    }
    sqlite3_finalize(row);
    if (status == ACQ_OK && i < N_OBJECTS)
        status = acq_db_fail_damaged(db, "a table or index is missing", error);
    return status;
}

acq_status acq_format_check(const acq_db *db, uint32_t *format, acq_error *error)
{
    acq_status status = check_marks(db, format, error);
    return status == ACQ_OK ? check_schema(db, *format, error) : status;
}
