/* format.c - schema, creation, upgrade and recognition of stores; see format.h.
 *
 * A new store has exactly the schema text that an upgraded one has, so one table of expected texts
 * serves creation and checks; tests/unit/store_upgrade.c compares the two. */
#include "store/format.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "store/database.h"

typedef struct schema_object {
    const char *name;
    const char *sql[ACQ_STORE_FORMAT_GRAPHS]; /* by format - 1; NULL: not there */
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
        text, text, text, text                                                                     \
    }

#define LABELLED(first, later)                                                                     \
    {                                                                                              \
        first, later, later, later                                                                 \
    }

/* In order of name, as acq_format_check meets them. */
static const schema_object SCHEMA[] = {
    {"change",
     SAME("CREATE TABLE change(relation INTEGER NOT NULL, head INTEGER NOT NULL, "
          "tail INTEGER NOT NULL, added INTEGER NOT NULL, PRIMARY KEY(relation, head, tail)) "
          "WITHOUT ROWID"),
     false},
    {"entity", LABELLED(ENTITY_COLUMNS ")", ENTITY_COLUMNS ", label TEXT)"), false},
    {"entity_key", SAME("CREATE UNIQUE INDEX entity_key ON entity(key)"), true},
    {"entity_label",
     LABELLED(NULL, "CREATE UNIQUE INDEX entity_label ON entity(label) WHERE label IS NOT NULL"),
     true},
    {"graph",
     {NULL, NULL, NULL,
      "CREATE TABLE graph(id INTEGER PRIMARY KEY, name TEXT NOT NULL, body BLOB NOT NULL, "
      "checksum INTEGER NOT NULL)"},
     false},
    {"links", SAME("CREATE TABLE links(id INTEGER PRIMARY KEY, body BLOB NOT NULL)"), false},
    {"meta", SAME("CREATE TABLE meta(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID"), false},
    {"relation",
     LABELLED(RELATION_COLUMNS ")", RELATION_COLUMNS ", label TEXT, inverse_label TEXT)"), false},
};

enum { N_OBJECTS = sizeof SCHEMA / sizeof SCHEMA[0] };

static acq_status create(const acq_db *db, bool is_index, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < N_OBJECTS; i++) {
        const char *sql = SCHEMA[i].sql[ACQ_STORE_FORMAT - 1];
        if (SCHEMA[i].is_index == is_index && sql != NULL)
            status = acq_db_run(db, sql, error);
    }
    return status;
}

static acq_status set_marks(const acq_db *db, int format, acq_error *error)
{
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             ACQ_STORE_APPLICATION, format);
    return acq_db_run(db, sql, error);
}

acq_status acq_format_create_tables(const acq_db *db, acq_error *error)
{
    acq_status status = create(db, false, error);
    return status == ACQ_OK ? set_marks(db, ACQ_STORE_FORMAT, error) : status;
}

acq_status acq_format_add_graphs(const acq_db *db, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < N_OBJECTS; i++) {
        if (SCHEMA[i].sql[ACQ_STORE_FORMAT - 1] == NULL)
            status = acq_db_run(db, SCHEMA[i].sql[ACQ_STORE_FORMAT_GRAPHS - 1], error);
    }
    return status == ACQ_OK ? set_marks(db, ACQ_STORE_FORMAT_GRAPHS, error) : status;
}

acq_status acq_format_create_indexes(const acq_db *db, acq_error *error)
{
    return create(db, true, error);
}

acq_status acq_format_upgrade(const acq_db *db, uint32_t format, acq_error *error)
{
    acq_status status =
        format > 1 ? ACQ_OK
                   : acq_db_run(db,
                                "ALTER TABLE entity ADD COLUMN label TEXT;"
                                "CREATE UNIQUE INDEX entity_label ON entity(label) WHERE label "
                                "IS NOT NULL;"
                                "ALTER TABLE relation ADD COLUMN label TEXT;"
                                "ALTER TABLE relation ADD COLUMN inverse_label TEXT",
                                error);
    return status == ACQ_OK ? set_marks(db, ACQ_STORE_FORMAT, error) : status;
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
        return acq_store_file_fail_foreign(db->path, error);
    if (version > ACQ_STORE_FORMAT_GRAPHS) {
        status = acq_fail(error, ACQ_ERR_INPUT,
                          "the store was made by a newer anycq (format %lld; this one reads up to "
                          "%d); upgrade anycq",
                          (long long)version, ACQ_STORE_FORMAT_GRAPHS);
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
    FIELD("entities", NUMBER, n_entities),   FIELD("entity_sum", NUMBER, entity_sum),
    FIELD("relations", NUMBER, n_relations), FIELD("facts", NUMBER, n_facts),
    FIELD("fact_sum", NUMBER, fact_sum),     FIELD("changes", NUMBER, n_changes),
    FIELD("labels", NUMBER, n_labels),       FIELD("relation_rows", NUMBER, relation_rows),
    FIELD("imported", NUMBER, imported),     FIELD("rdf", FLAG, is_rdf),
    FIELD("sources", TEXT, sources),         FIELD("salt", NUMBER, salt),
    FIELD("graph_rows", NUMBER, graph_rows),
};

enum { N_FIELDS = sizeof FIELDS / sizeof FIELDS[0] };

static uint64_t get_number(const acq_store_meta *meta, const meta_field *field)
{
    const char *at = (const char *)meta + field->offset;
    return field->kind == FLAG ? *(const bool *)at : *(const uint64_t *)(const void *)at;
}

/* The last two are of newer stores, and of those with graphs. */
static bool is_absent(const acq_store_meta *meta, size_t i)
{
    return i >= N_FIELDS - 2 && get_number(meta, &FIELDS[i]) == 0;
}

static uint64_t checksum_of(const acq_store_meta *meta)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (is_absent(meta, i))
            continue;
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
        if (is_absent(meta, i))
            continue;
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

/* ---- part ----
 *
 * Links to bytes and the checks on the way back; see format.h.
 *
 * The checksum chains acq_hash_bytes over the numbers of the header, heads, lengths and tails, so
 * that a reader can take the arrays to where they belong and still verify them. */

static const char MAGIC[4] = {'A', 'C', 'Q', 'L'};

enum { WORD = sizeof(uint32_t) };

void acq_part_begin(acq_part *part, acq_rel directed, uint32_t number)
{
    part->directed = directed;
    part->number = number;
    part->n_heads = 0;
    part->n_links = 0;
}

void acq_part_deinit(acq_part *part)
{
    acq_free(part->heads);
    acq_free(part->lengths);
    acq_free(part->tails);
    acq_free(part->body);
    *part = (acq_part){0};
}

acq_status acq_part_add(acq_part *part, acq_ent head, acq_ent tail)
{
    if (part->n_links == part->tails_capacity &&
        ACQ_RESERVE(part->tails, part->tails_capacity, part->n_links + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (part->n_heads == 0 || part->heads[part->n_heads - 1] != head) {
        if (ACQ_RESERVE(part->heads, part->heads_capacity, part->n_heads + 1) != ACQ_OK ||
            ACQ_RESERVE(part->lengths, part->lengths_capacity, part->n_heads + 1) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        part->heads[part->n_heads] = head;
        part->lengths[part->n_heads++] = 0;
    }
    part->lengths[part->n_heads - 1]++;
    part->tails[part->n_links++] = tail;
    return ACQ_OK;
}

void acq_part_swap(uint32_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        numbers[i] = le32toh(numbers[i]);
}

uint64_t acq_part_checksum(const acq_part_header *header, const void *heads, const void *lengths,
                           const void *tails)
{
    uint64_t hash = acq_hash_word(header->directed, header->number);
    hash = acq_hash_word(hash, header->n_heads);
    hash = acq_hash_word(hash, header->n_links);
    hash = acq_hash_bytes(heads, (size_t)header->n_heads * WORD, hash);
    hash = acq_hash_bytes(lengths, (size_t)header->n_heads * WORD, hash);
    return acq_hash_bytes(tails, (size_t)header->n_links * WORD, hash);
}

static unsigned char *put_array(unsigned char *at, uint32_t *numbers, size_t n)
{
    acq_part_swap(numbers, n);
    if (n > 0)
        memcpy(at, numbers, n * WORD);
    return at + n * WORD;
}

static void put_header(unsigned char *at, const acq_part_header *header)
{
    uint32_t numbers[5] = {header->directed, header->number, header->n_heads, header->n_links, 0};
    uint64_t checksum = htole64(header->checksum);
    acq_part_swap(numbers, 5);
    memcpy(at, MAGIC, sizeof MAGIC);
    memcpy(at + sizeof MAGIC, numbers, sizeof numbers);
    memcpy(at + sizeof MAGIC + sizeof numbers, &checksum, sizeof checksum);
}

acq_status acq_part_encode(acq_part *part, uint64_t *checksum)
{
    size_t length = ACQ_PART_HEADER + WORD * (2 * part->n_heads + part->n_links);
    if (ACQ_RESERVE(part->body, part->body_capacity, length) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_part_header header = {.directed = part->directed,
                              .number = part->number,
                              .n_heads = (uint32_t)part->n_heads,
                              .n_links = (uint32_t)part->n_links};
    unsigned char *heads = part->body + ACQ_PART_HEADER;
    unsigned char *lengths = put_array(heads, part->heads, part->n_heads);
    unsigned char *tails = put_array(lengths, part->lengths, part->n_heads);
    put_array(tails, part->tails, part->n_links);
    header.checksum = acq_part_checksum(&header, heads, lengths, tails);
    put_header(part->body, &header);
    part->body_length = length;
    *checksum = header.checksum;
    return ACQ_OK;
}

const char *acq_part_read_header(const unsigned char bytes[ACQ_PART_HEADER], uint64_t body_length,
                                 acq_part_header *out)
{
    uint32_t numbers[5];
    uint64_t checksum;
    memcpy(numbers, bytes + sizeof MAGIC, sizeof numbers);
    memcpy(&checksum, bytes + sizeof MAGIC + sizeof numbers, sizeof checksum);
    acq_part_swap(numbers, 5);
    *out = (acq_part_header){.directed = numbers[0],
                             .number = numbers[1],
                             .n_heads = numbers[2],
                             .n_links = numbers[3],
                             .checksum = le64toh(checksum)};
    if (memcmp(bytes, MAGIC, sizeof MAGIC) != 0 || numbers[4] != 0)
        return "a part of the links has no mark";
    if (out->n_heads == 0 || out->n_heads > out->n_links || out->n_links > ACQ_PART_MOST_LINKS ||
        body_length != ACQ_PART_HEADER + (uint64_t)WORD * (2ULL * out->n_heads + out->n_links))
        return "a part of the links has the wrong length";
    return NULL;
}

uint64_t acq_graph_row_checksum(int64_t id, const char *name, size_t length, const void *body,
                                size_t body_length)
{
    uint64_t hash = acq_hash_bytes(name, length, acq_hash_word(length, (uint64_t)id));
    return acq_random_mix(acq_hash_bytes(body, body_length, hash));
}
