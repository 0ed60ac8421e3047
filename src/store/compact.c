/* compact.c - folds the changes of relations into their links; see store.h.
 *
 * Each relation is folded for itself and the graph does not change, so a transaction ends whenever
 * enough was written: others get a turn, and the -wal file can be begun anew. It grows to what the
 * largest relation takes, if that is more. */
#include "store/writer.h"

#include <string.h>

#include "base/memory.h"
#include "graph/build.h"
#include "store/database.h"
#include "store/format.h"

enum { ENOUGH_BYTES = 64 << 20 };

/* A compaction in one transaction. */
typedef struct folding {
    acq_store_writer *writer;
    sqlite3_stmt *put_part, *drop_parts, *drop_changes;
    acq_part part;
    uint64_t n_bytes;  /* written */
    uint64_t n_folded; /* changes */
    bool is_stopped;   /* by whoever watches */
} folding;

static acq_status prepare(folding *f, acq_error *error)
{
    const acq_db *db = &f->writer->db;
    acq_status status =
        acq_db_prepare(db, "INSERT OR REPLACE INTO links VALUES(?1, ?2)", &f->put_part, error);
    if (status == ACQ_OK)
        status = acq_db_prepare(db, "DELETE FROM links WHERE id >= ?1 AND id < ?2", &f->drop_parts,
                                error);
    if (status == ACQ_OK)
        status =
            acq_db_prepare(db, "DELETE FROM change WHERE relation = ?1", &f->drop_changes, error);
    return status;
}

static void deinit(folding *f)
{
    sqlite3_finalize(f->put_part);
    sqlite3_finalize(f->drop_parts);
    sqlite3_finalize(f->drop_changes);
    acq_part_deinit(&f->part);
}

static acq_status put_part(folding *f, acq_store_pair *pair, acq_error *error)
{
    acq_part *part = &f->part;
    unsigned side = part->directed & 1;
    uint64_t checksum = 0;
    if (acq_part_encode(part, &checksum) != ACQ_OK)
        return acq_fail_memory(error);
    sqlite3_bind_int64(f->put_part, 1, acq_part_id(part->directed, part->number));
    sqlite3_bind_blob64(f->put_part, 2, part->body, part->body_length, SQLITE_STATIC);
    f->n_bytes += part->body_length;
    pair->parts_sum[side] += checksum;
    pair->n_parts[side] = part->number + 1;
    acq_part_begin(part, part->directed, part->number + 1);
    return acq_db_finish(&f->writer->db, f->put_part, error);
}

static acq_status put_row(folding *f, acq_store_pair *pair, acq_ent head, acq_row row,
                          acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < row.n; i++) {
        if (f->part.n_links == ACQ_PART_LINKS)
            status = put_part(f, pair, error);
        if (status == ACQ_OK && acq_part_add(&f->part, head, row.tails[i]) != ACQ_OK)
            status = acq_fail_memory(error);
    }
    return status;
}

/* The new parts of a direction over the old ones; what is left of those goes. */
static acq_status put_links(folding *f, acq_store_pair *pair, acq_rel directed,
                            const acq_links *links, acq_error *error)
{
    unsigned side = directed & 1;
    acq_status status = ACQ_OK;
    pair->n_links = links->n_links;
    pair->n_heads[side] = links->n_heads;
    pair->n_parts[side] = 0;
    pair->parts_sum[side] = 0;
    acq_part_begin(&f->part, directed, 0);
    for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++)
        status = put_row(f, pair, links->heads[i], acq_links_get_row_at(links, i), error);
    if (status == ACQ_OK && f->part.n_links > 0)
        status = put_part(f, pair, error);
    if (status != ACQ_OK)
        return status;
    sqlite3_bind_int64(f->drop_parts, 1, acq_part_id(directed, pair->n_parts[side]));
    sqlite3_bind_int64(f->drop_parts, 2, acq_part_id(directed + 1, 0));
    return acq_db_finish(&f->writer->db, f->drop_parts, error);
}

static acq_status fold_direction(folding *f, acq_store_pair *pair, acq_rel directed,
                                 acq_error *error)
{
    const acq_loader loader = {.db = &f->writer->db, .catalog = &f->writer->catalog};
    acq_links *links = NULL;
    acq_status status = acq_load_links(&loader, directed, &links, error);
    if (status == ACQ_OK)
        status = put_links(f, pair, directed, links, error);
    acq_links_free(links);
    return status;
}

static acq_status fold_pair(folding *f, size_t i_pair, acq_error *error)
{
    acq_catalog *catalog = &f->writer->catalog;
    acq_store_pair folded = catalog->pairs[i_pair];
    acq_status status = fold_direction(f, &folded, folded.relation, error);
    if (status == ACQ_OK)
        status = fold_direction(f, &folded, acq_inverse(folded.relation), error);
    if (status != ACQ_OK)
        return status;
    acq_writer_touch(f->writer, i_pair);
    f->n_folded += folded.n_changes;
    catalog->meta.n_changes -= folded.n_changes;
    folded.n_changes = folded.changes_sum = 0;
    catalog->pairs[i_pair] = folded;
    acq_db_bind_u64(f->drop_changes, 1, folded.relation);
    return acq_db_finish(&f->writer->db, f->drop_changes, error);
}

/* before: changes that other transactions have folded. */
static bool goes_on(folding *f, uint64_t before)
{
    const acq_store_writer *writer = f->writer;
    acq_progress now = {.phase = "compacting", .done = before + f->n_folded};
    now.total = now.done + writer->catalog.meta.n_changes;
    f->is_stopped = writer->progress != NULL && !writer->progress(writer->context, &now);
    return !f->is_stopped;
}

/* One transaction; *has_more: changes are left. What was folded stays so when it is stopped. */
static acq_status fold_some(acq_store_writer *writer, uint64_t *n_folded, bool *has_more,
                            acq_error *error)
{
    folding f = {.writer = writer};
    acq_status status = acq_writer_begin(writer, error);
    if (status != ACQ_OK)
        return status;
    status = prepare(&f, error);
    for (size_t i = 0; status == ACQ_OK && i < writer->catalog.n_pairs && !f.is_stopped; i++) {
        if (writer->catalog.pairs[i].n_changes > 0 && f.n_bytes < ENOUGH_BYTES &&
            goes_on(&f, *n_folded))
            status = fold_pair(&f, i, error);
    }
    *has_more = writer->catalog.meta.n_changes > 0;
    deinit(&f);
    status = acq_writer_end(writer, status, error);
    if (status != ACQ_OK)
        return status;
    *n_folded += f.n_folded;
    return f.is_stopped ? acq_fail(error, ACQ_ERR_INTERRUPTED,
                                   "stopped while compacting; what was folded in stays so")
                        : ACQ_OK;
}

acq_status acq_writer_fold(acq_store_writer *writer, uint64_t *n_folded, acq_error *error)
{
    acq_status status = ACQ_OK;
    bool has_more = true;
    while (status == ACQ_OK && has_more)
        status = fold_some(writer, n_folded, &has_more, error);
    return status;
}

/* More than a quarter of the file unused: worth writing it anew. */
static bool wants_vacuum(const acq_db *db)
{
    int64_t n_pages = 0, n_free = 0;
    return acq_db_read_number(db, "PRAGMA page_count", &n_pages, NULL) == ACQ_OK &&
           acq_db_read_number(db, "PRAGMA freelist_count", &n_free, NULL) == ACQ_OK &&
           n_free > n_pages / 4;
}

/* SQLite first makes a copy of all that stays, as a temporary file: by a connection of its own,
 * so that the copy is beside the store, which has room for it or not, and not in /tmp. */
static acq_status vacuum(const acq_db *db, const char *folder)
{
    acq_temporary_vfs *vfs = NULL;
    acq_db own;
    acq_status status = acq_temporary_vfs_new(folder, &vfs);
    if (status != ACQ_OK)
        return status;
    status = acq_db_open_vfs(&own, db->path, ACQ_DB_WRITE, acq_temporary_vfs_get_name(vfs), NULL);
    if (status == ACQ_OK) {
        acq_db_set_patient(&own, false);
        status = acq_db_run(&own, "VACUUM", NULL);
        acq_db_close(&own);
    }
    acq_temporary_vfs_free(vfs);
    return status;
}

static void vacuum_beside(const acq_db *db)
{
    const char *path = sqlite3_db_filename(db->handle, "main"); /* symbolic links followed */
    char *folder = path == NULL ? NULL : acq_copy_string(path);
    if (folder == NULL)
        return;
    *strrchr(folder, '/') = '\0';
    (void)vacuum(db, folder);
    acq_free(folder);
}

/* As far as the disk and others let us: nothing depends on it, and a reader may stay for hours. */
static void give_back(const acq_db *db)
{
    acq_db_set_patient(db, false);
    if (wants_vacuum(db))
        vacuum_beside(db);
    (void)acq_db_run(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL);
    acq_db_set_patient(db, true);
}

void acq_store_writer_watch(acq_store_writer *writer, acq_progress_fn progress, void *context)
{
    if (writer == NULL)
        return;
    writer->progress = progress;
    writer->context = context;
}

acq_status acq_store_compact(acq_store_writer *writer, uint64_t *n_folded, acq_error *error)
{
    uint64_t n = 0;
    ACQ_REQUIRE(writer, error);
    acq_status status = acq_writer_fold(writer, &n, error);
    if (status != ACQ_OK)
        return status;
    give_back(&writer->db);
    if (n_folded != NULL)
        *n_folded = n;
    return ACQ_OK;
}
