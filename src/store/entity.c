/* entity.c - finding entities; see catalog.h. What the index says is compared with the row it
 * points to, whose checksum covers id, key and label. */
#include "store/catalog.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

acq_status acq_entity_take(const acq_db *db, sqlite3_stmt *statement, const acq_store_meta *meta,
                           acq_store_entity *out, acq_error *error)
{
    uint64_t id = acq_db_get_u64(statement, 0);
    acq_status status = acq_db_read_text(db, statement, 1, &out->key, &out->key_length, error);
    if (status == ACQ_OK)
        status = acq_db_read_text(db, statement, 3, &out->label, &out->label_length, error);
    if (status != ACQ_OK)
        return status;
    if (id >= meta->n_entities)
        return acq_db_fail_damaged(db, "an entity's id is out of range", error);
    out->id = (acq_ent)id;
    if (out->key == NULL || acq_entity_checksum(meta->salt, out) != acq_db_get_u64(statement, 2))
        return acq_db_fail_damaged(db, "an entity does not match its checksum", error);
    if (strlen(out->key) != out->key_length ||
        (out->label != NULL && strlen(out->label) != out->label_length))
        return acq_db_fail_damaged(db, "a name holds a NUL byte", error);
    return ACQ_OK;
}

acq_status acq_entity_finder_init(acq_entity_finder *finder, const acq_db *db,
                                  const acq_store_meta *meta, uint32_t format, acq_error *error)
{
    bool has_labels = format > 1;
    *finder = (acq_entity_finder){.db = db, .meta = meta};
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

acq_status acq_entity_read(const acq_entity_finder *finder, acq_ent id, acq_store_entity *out,
                           acq_error *error)
{
    bool has_row = false;
    sqlite3_reset(finder->by_id);
    acq_db_bind_u64(finder->by_id, 1, id);
    acq_status status = acq_db_step(finder->db, finder->by_id, &has_row, error);
    if (status == ACQ_OK && !has_row)
        return acq_db_fail_damaged(finder->db, "an entity is missing", error);
    if (status == ACQ_OK)
        status = acq_entity_take(finder->db, finder->by_id, finder->meta, out, error);
    if (status == ACQ_OK && out->id != id)
        status = acq_db_fail_damaged(finder->db, "an entity is in another's place", error);
    return status;
}

static bool equals(const char *text, size_t text_length, const char *name, size_t length)
{
    return text != NULL && text_length == length && memcmp(text, name, length) == 0;
}

static acq_status find_by(const acq_entity_finder *finder, sqlite3_stmt *statement,
                          const char *name, size_t length, acq_ent *out, acq_error *error)
{
    acq_store_entity row;
    bool has_row = false;
    *out = ACQ_NO_ID;
    acq_db_bind_text(statement, 1, name, length);
    acq_status status = acq_db_step(finder->db, statement, &has_row, error);
    if (status == ACQ_OK && has_row) {
        status = acq_entity_take(finder->db, statement, finder->meta, &row, error);
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
                           acq_ent *out, acq_error *error)
{
    acq_status status = find_by(finder, finder->by_key, name, length, out, error);
    if (status == ACQ_OK && *out == ACQ_NO_ID && finder->by_label != NULL)
        status = find_by(finder, finder->by_label, name, length, out, error);
    return status;
}

enum { BATCH = 1024 };

typedef enum walk_order { BY_KEY, BY_LABEL, BY_ID } walk_order;

typedef struct batch_name {
    acq_ent entity;
    size_t start, length;
} batch_name;

typedef struct walk {
    const acq_names_visit *params;
    walk_order order;
    const char *prefix;
    size_t prefix_length;
    sqlite3_stmt *rows;
    acq_text text; /* names of the batch, each with its NUL */
    batch_name names[2 * BATCH];
    size_t n_names;
    uint64_t n_rows, n_labels;
    bool is_done;    /* no more rows to ask for */
    bool is_stopped; /* the visitor had enough */
} walk;

static acq_status prepare(walk *w, acq_error *error)
{
    static const char *const statements[][2] = {
        [BY_KEY] = {ACQ_ENTITY_SELECT_FIRST "WHERE key >= ?1 ORDER BY key",
                    ACQ_ENTITY_SELECT "WHERE key >= ?1 ORDER BY key"},
        [BY_LABEL] = {NULL, ACQ_ENTITY_SELECT "WHERE label >= ?1 ORDER BY label"},
        [BY_ID] = {ACQ_ENTITY_SELECT_FIRST "ORDER BY id", ACQ_ENTITY_SELECT "ORDER BY id"}};
    const acq_db *db = w->params->db;
    acq_status status =
        acq_db_prepare(db, statements[w->order][w->params->catalog->format > 1], &w->rows, error);
    if (status == ACQ_OK && w->order != BY_ID)
        acq_db_bind_text(w->rows, 1, w->prefix, w->prefix_length);
    return status;
}

static void put_name(walk *w, acq_ent entity, const char *name, size_t length)
{
    w->names[w->n_names++] =
        (batch_name){.entity = entity, .start = w->text.length, .length = length};
    acq_text_add_bytes(&w->text, name, length);
    acq_text_add_char(&w->text, '\0');
}

/* Copies the names of a row; with a prefix the first one without it ends the walk. */
static void put_row(walk *w, const acq_store_entity *row)
{
    const char *name = w->order == BY_LABEL ? row->label : row->key;
    size_t length = w->order == BY_LABEL ? row->label_length : row->key_length;
    if (length < w->prefix_length || memcmp(name, w->prefix, w->prefix_length) != 0) {
        w->is_done = true;
        return;
    }
    put_name(w, row->id, name, length);
    w->n_rows++;
    if (w->order == BY_ID && row->label != NULL) {
        put_name(w, row->id, row->label, row->label_length);
        w->n_labels++;
    }
}

static acq_status fill_batch(walk *w, acq_error *error)
{
    const acq_db *db = w->params->db;
    acq_status status = ACQ_OK;
    bool has_row = false;
    w->n_names = 0;
    acq_text_clear(&w->text);
    for (int i = 0; status == ACQ_OK && !w->is_done && i < BATCH; i++) {
        acq_store_entity row;
        status = acq_db_step(db, w->rows, &has_row, error);
        w->is_done = !has_row;
        if (status == ACQ_OK && has_row)
            status = acq_entity_take(db, w->rows, &w->params->catalog->meta, &row, error);
        if (status == ACQ_OK && has_row)
            put_row(w, &row);
    }
    return status == ACQ_OK ? acq_text_finish(&w->text, error) : status;
}

static void visit_batch(walk *w)
{
    for (size_t i = 0; !w->is_stopped && i < w->n_names; i++) {
        const batch_name *name = &w->names[i];
        w->is_stopped = !w->params->visit(w->params->context, name->entity,
                                          w->text.bytes + name->start, name->length);
    }
}

static acq_status run(walk *w, acq_error *error)
{
    pthread_mutex_lock(w->params->lock);
    acq_status status = prepare(w, error);
    pthread_mutex_unlock(w->params->lock);
    while (status == ACQ_OK && !w->is_done && !w->is_stopped) {
        pthread_mutex_lock(w->params->lock);
        status = fill_batch(w, error);
        pthread_mutex_unlock(w->params->lock);
        if (status == ACQ_OK)
            status = acq_db_check_unchanged(w->params->db, error);
        if (status == ACQ_OK)
            visit_batch(w);
    }
    pthread_mutex_lock(w->params->lock);
    sqlite3_finalize(w->rows);
    pthread_mutex_unlock(w->params->lock);
    w->rows = NULL;
    return status;
}

static acq_status run_all(walk *w, acq_error *error)
{
    const acq_store_meta *meta = &w->params->catalog->meta;
    w->order = BY_ID;
    acq_status status = run(w, error);
    if (status == ACQ_OK && !w->is_stopped &&
        (w->n_rows != meta->n_entities || w->n_labels != meta->n_labels))
        status = acq_db_fail_damaged(w->params->db, "an entity is missing", error);
    return status;
}

static acq_status run_prefix(walk *w, acq_error *error)
{
    w->order = BY_KEY;
    acq_status status = run(w, error);
    if (status != ACQ_OK || w->is_stopped || w->params->catalog->format == 1)
        return status;
    w->order = BY_LABEL;
    w->is_done = false;
    return run(w, error);
}

acq_status acq_entity_visit_names(const acq_names_visit *params, const char *prefix, size_t length,
                                  acq_error *error)
{
    walk *w = acq_zalloc(1, sizeof *w); /* too large for the stack of a small thread */
    if (w == NULL)
        return acq_fail_memory(error);
    w->params = params;
    w->prefix = prefix;
    w->prefix_length = length;
    acq_text_init(&w->text);
    acq_status status = length == 0 ? run_all(w, error) : run_prefix(w, error);
    acq_text_deinit(&w->text);
    acq_free(w);
    return status;
}
