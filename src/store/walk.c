/* walk.c - names by batches: rows are copied while the lock is held and visited without it, so
 * that a visit may ask the graph again; see walk.h. */
#include "store/walk.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "store/entity.h"

enum { BATCH = 1024 };

typedef enum walk_order { BY_KEY, BY_LABEL, BY_ID } walk_order;

typedef struct batch_name {
    acq_ent entity;
    size_t start, length;
} batch_name;

typedef struct walk {
    const acq_walk_params *params;
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
static void put_row(walk *w, const acq_entity_row *row)
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
        acq_entity_row row;
        status = acq_db_step(db, w->rows, &has_row, error);
        w->is_done = !has_row;
        if (status == ACQ_OK && has_row)
            status = acq_entity_take(db, w->rows, w->params->catalog->meta.n_entities, &row, error);
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

acq_status acq_walk_names(const acq_walk_params *params, const char *prefix, size_t length,
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
