/* writer.c - the handle and its transactions; see writer.h. */
#include "store/writer.h"

#include "base/memory.h"
#include "graph/build.h"
#include "store/database.h"

enum {
    PAGES_PER_FOLD = 1000,    /* in the log; SQLite's own default */
    PAGES_PER_RESTART = 4096, /* 64 MB */
    MOMENT_MS = 500,
};

static acq_status prepare(acq_store_writer *writer, acq_error *error)
{
    const acq_db *db = &writer->db;
    acq_status status =
        acq_entity_finder_init(&writer->finder, db, &writer->catalog.meta, ACQ_STORE_FORMAT, error);
    if (status == ACQ_OK)
        status = acq_db_prepare(db,
                                "SELECT added FROM change WHERE relation = ?1 AND head = ?2 AND "
                                "tail = ?3",
                                &writer->find_change, error);
    if (status == ACQ_OK)
        status = acq_db_prepare(db, "INSERT INTO change VALUES(?1, ?2, ?3, ?4)",
                                &writer->put_change, error);
    if (status == ACQ_OK)
        status = acq_db_prepare(db,
                                "DELETE FROM change WHERE relation = ?1 AND head = ?2 AND tail = "
                                "?3",
                                &writer->drop_change, error);
    if (status == ACQ_OK)
        status = acq_db_prepare(db, "INSERT INTO entity(id, key, checksum) VALUES(?1, ?2, ?3)",
                                &writer->put_entity, error);
    if (status == ACQ_OK)
        status = acq_pair_prepare_write(db, &writer->put_pair, error);
    return status;
}

static void finalize(acq_store_writer *writer)
{
    acq_entity_finder_deinit(&writer->finder);
    sqlite3_finalize(writer->find_change);
    sqlite3_finalize(writer->put_change);
    sqlite3_finalize(writer->drop_change);
    sqlite3_finalize(writer->put_entity);
    sqlite3_finalize(writer->put_pair);
    writer->find_change = writer->put_change = writer->drop_change = NULL;
    writer->put_entity = writer->put_pair = NULL;
}

static acq_status check_writable(const acq_db *db, acq_error *error)
{
    return sqlite3_db_readonly(db->handle, "main") == 1 ? acq_db_fail(db, SQLITE_READONLY, error)
                                                        : ACQ_OK;
}

/* Refuses what is not a store before anything is changed. Its tables are read in one transaction,
 * or another writer could change them in between. */
static acq_status check_store(const acq_db *db, acq_error *error)
{
    acq_catalog catalog;
    acq_status status = acq_db_run(db, "BEGIN", error);
    if (status != ACQ_OK)
        return status;
    status = acq_catalog_read(db, &catalog, error);
    if (status == ACQ_OK)
        acq_catalog_deinit(&catalog);
    acq_db_roll_back(db);
    return status;
}

/* After each commit: what SQLite does by itself, and the length of the log is noted. */
static int note_log(void *context, sqlite3 *handle, const char *name, int n_pages)
{
    acq_store_writer *writer = context;
    writer->n_logged = n_pages;
    if (n_pages >= PAGES_PER_FOLD)
        (void)sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK;
}

/* The log begins anew only at a moment when nobody reads from it. Readers that always overlap
 * would let it grow for ever, so each time that it has grown by so much, the writer waits a moment
 * for those that are there: new ones read the file itself. */
static void restart_log(const acq_store_writer *writer, int n_written)
{
    int n = writer->n_logged;
    if (n / PAGES_PER_RESTART == (n - n_written) / PAGES_PER_RESTART)
        return;
    sqlite3_busy_timeout(writer->db.handle, MOMENT_MS);
    (void)sqlite3_wal_checkpoint_v2(writer->db.handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                    NULL);
    acq_db_set_patient(&writer->db, true);
}

/* Pages that this connection has written since it was asked last. */
static int count_written(const acq_store_writer *writer)
{
    int n = 0, ignored = 0;
    (void)sqlite3_db_status(writer->db.handle, SQLITE_DBSTATUS_CACHE_WRITE, &n, &ignored, 1);
    return n;
}

static acq_status open_writer(acq_store_writer *writer, const char *path, acq_error *error)
{
    acq_status status = acq_store_file_check(path, error);
    if (status == ACQ_OK)
        status = acq_db_open(&writer->db, path, ACQ_DB_WRITE, error);
    if (status == ACQ_OK)
        status = check_writable(&writer->db, error);
    if (status == ACQ_OK)
        status = check_store(&writer->db, error);
    if (status == ACQ_OK)
        status =
            acq_db_run(&writer->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", error);
    if (status == ACQ_OK) {
        acq_db_sync_log_name(&writer->db);
        sqlite3_wal_hook(writer->db.handle, note_log, writer);
    }
    return status;
}

acq_status acq_store_writer_open(const char *path, acq_store_writer **out, acq_error *error)
{
    ACQ_REQUIRE(path, error);
    ACQ_REQUIRE(out, error);
    acq_store_writer *writer = acq_zalloc(1, sizeof *writer);
    if (writer == NULL)
        return acq_fail_memory(error);
    acq_status status = open_writer(writer, path, error);
    if (status == ACQ_OK)
        *out = writer;
    else
        acq_store_writer_free(writer);
    return status;
}

void acq_store_writer_free(acq_store_writer *writer)
{
    if (writer == NULL)
        return;
    finalize(writer);
    for (size_t i = 0; i < writer->n_bases; i++)
        acq_links_free(writer->bases[i].links);
    acq_free(writer->bases);
    acq_free(writer->is_touched);
    acq_catalog_deinit(&writer->catalog);
    acq_db_close(&writer->db);
    acq_free(writer);
}

/* Room in the arrays by pair, empty where it is new. */
static acq_status make_room(acq_store_writer *writer, acq_error *error)
{
    size_t n = writer->catalog.n_pairs;
    if (ACQ_RESERVE(writer->bases, writer->bases_capacity, n) != ACQ_OK ||
        ACQ_RESERVE(writer->is_touched, writer->touched_capacity, n) != ACQ_OK)
        return acq_fail_memory(error);
    for (; writer->n_bases < n; writer->n_bases++)
        writer->bases[writer->n_bases] = (acq_writer_base){0};
    return ACQ_OK;
}

static acq_status read_catalog(acq_store_writer *writer, acq_error *error)
{
    acq_catalog *catalog = &writer->catalog;
    acq_status status = acq_catalog_read(&writer->db, catalog, error);
    if (status == ACQ_OK && catalog->format < ACQ_STORE_FORMAT) {
        status = acq_format_upgrade(&writer->db, catalog->format, error);
        catalog->format = ACQ_STORE_FORMAT;
    }
    if (status == ACQ_OK)
        status = make_room(writer, error);
    for (size_t i = 0; status == ACQ_OK && i < catalog->n_pairs; i++)
        writer->is_touched[i] = false;
    writer->is_changed = false;
    return status;
}

acq_status acq_writer_begin(acq_store_writer *writer, acq_error *error)
{
    acq_status status = acq_db_run(&writer->db, "BEGIN IMMEDIATE", error);
    if (status != ACQ_OK)
        return status;
    status = read_catalog(writer, error);
    if (status == ACQ_OK && writer->put_pair == NULL)
        status = prepare(writer, error);
    return status == ACQ_OK ? ACQ_OK : acq_writer_end(writer, status, error);
}

void acq_writer_touch(acq_store_writer *writer, size_t i_pair)
{
    if (writer->is_touched[i_pair])
        return;
    acq_store_pair pair = acq_catalog_get_pair(&writer->catalog, i_pair);
    writer->catalog.meta.relation_rows -= acq_pair_checksum(&pair);
    writer->is_touched[i_pair] = true;
    writer->is_changed = true;
}

static acq_status write_catalog(acq_store_writer *writer, acq_error *error)
{
    acq_catalog *catalog = &writer->catalog;
    acq_status status = ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < catalog->n_pairs; i++) {
        if (!writer->is_touched[i])
            continue;
        acq_store_pair pair = acq_catalog_get_pair(catalog, i);
        catalog->meta.relation_rows += acq_pair_checksum(&pair);
        status = acq_pair_write(&writer->db, writer->put_pair, &pair, error);
    }
    return status == ACQ_OK ? acq_meta_write(&writer->db, &catalog->meta, error) : status;
}

acq_status acq_writer_end(acq_store_writer *writer, acq_status status, acq_error *error)
{
    if (status == ACQ_OK && writer->is_changed)
        status = write_catalog(writer, error);
    if (status == ACQ_OK)
        status = acq_db_run(&writer->db, "COMMIT", error);
    int n_written = count_written(writer);
    if (status == ACQ_OK && n_written > 0)
        restart_log(writer, n_written);
    if (status != ACQ_OK) {
        acq_db_roll_back(&writer->db);
        finalize(writer); /* they may have been made for tables that are gone again */
    }
    acq_catalog_deinit(&writer->catalog);
    return status;
}

acq_status acq_writer_add_pair(acq_store_writer *writer, const char *key, size_t length,
                               acq_error *error)
{
    acq_catalog *catalog = &writer->catalog;
    acq_rel id = (acq_rel)catalog->meta.n_relations;
    if (catalog->meta.n_relations + 2 >= ACQ_NO_ID - 1)
        return acq_fail(error, ACQ_ERR_LIMIT, "the store has as many relations as it can hold");
    if (ACQ_RESERVE(catalog->pairs, catalog->pairs_capacity, catalog->n_pairs + 1) != ACQ_OK ||
        acq_names_put(&catalog->relations, id, key, length) != ACQ_OK)
        return acq_fail_memory(error);
    catalog->pairs[catalog->n_pairs++] = (acq_store_pair){.relation = id};
    catalog->meta.n_relations += 2;
    writer->is_changed = true;
    acq_status status = make_room(writer, error);
    if (status == ACQ_OK)
        writer->is_touched[catalog->n_pairs - 1] = true;
    return status;
}

acq_status acq_writer_open_base(acq_store_writer *writer, size_t i_pair, const acq_links **out,
                                acq_error *error)
{
    const acq_store_pair *pair = &writer->catalog.pairs[i_pair];
    acq_writer_base *base = &writer->bases[i_pair];
    if (base->links != NULL &&
        (base->sum != pair->parts_sum[0] || base->links->n_links != pair->n_links)) {
        acq_links_free(base->links);
        base->links = NULL;
    }
    if (base->links == NULL) {
        const acq_loader loader = {.db = &writer->db, .catalog = &writer->catalog};
        acq_status status = acq_load_parts(&loader, pair->relation, &base->links, error);
        if (status != ACQ_OK)
            return status;
        base->sum = pair->parts_sum[0];
    }
    *out = base->links;
    return ACQ_OK;
}
