/* replace.c - see import_replace.h. */
#include "store/import/replace.h"

#include "store/file.h"
#include "store/format.h"

enum { PAGES_PER_STEP = 1024 };

static acq_status fail(const char *output, const char *message, acq_error *error)
{
    acq_fail(error, ACQ_ERR_USAGE, "%s", message);
    acq_error_set_file(error, output);
    return ACQ_ERR_USAGE;
}

/* In one transaction, or another writer could change the tables in between. */
static acq_status read_meta(const acq_db *db, acq_store_meta *out, acq_error *error)
{
    uint32_t format = 0;
    acq_status status = acq_db_run(db, "BEGIN", error);
    if (status == ACQ_OK)
        status = acq_format_check(db, &format, error);
    if (status == ACQ_OK)
        status = acq_meta_read(db, out, error);
    acq_db_roll_back(db);
    return status;
}

/* A damaged store is said to need another import, and that would end here once more: so here the
 * remedy is another one. */
static acq_status fail_unreadable(const char *output, const acq_error *reason, acq_error *error)
{
    if (reason->code == ACQ_ERR_INPUT)
        acq_fail(
            error, ACQ_ERR_INPUT,
            "a store that cannot be read is in the way; move it, or name another file (%.300s)",
            reason->message);
    else
        acq_fail(error, reason->code, "%s", reason->message);
    acq_error_set_file(error, output);
    return reason->code;
}

acq_status acq_replace_check(const char *output, bool with_changes, acq_error *error)
{
    acq_error reason = {0};
    acq_store_meta meta;
    acq_db db;
    acq_status status = acq_file_check(output, &reason);
    if (status == ACQ_ERR_INPUT)
        return fail(output,
                    "there is a file of this name, and it is not a store; name another file, or "
                    "move it away",
                    error);
    if (status == ACQ_OK)
        status = acq_db_open(&db, output, ACQ_DB_READ, &reason);
    if (status != ACQ_OK)
        return fail_unreadable(output, &reason, error);
    status = read_meta(&db, &meta, &reason);
    acq_db_close(&db);
    if (status != ACQ_OK)
        return fail_unreadable(output, &reason, error);
    if (!with_changes && acq_meta_is_changed(&meta))
        return fail(output,
                    "facts were added to this store or removed since it was imported; export them "
                    "first and import with --replace, or name another file",
                    error);
    return ACQ_OK;
}

static acq_status report(const acq_replace_params *params, sqlite3_backup *backup, acq_error *error)
{
    int total = sqlite3_backup_pagecount(backup);
    int done = total - sqlite3_backup_remaining(backup);
    acq_stage now = {.phase = "replacing",
                     .done = (uint64_t)done,
                     .total = (uint64_t)total,
                     .facts = params->n_facts};
    if (params->progress == NULL || params->progress(params->context, &now))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INTERRUPTED, "the import was interrupted");
}

/* A step without pages locks the output, so what it holds then is what will be lost: that is
 * looked at once more. */
static acq_status copy(const acq_replace_params *params, const acq_db *to, sqlite3_backup *backup,
                       acq_error *error)
{
    int code = sqlite3_backup_step(backup, 0);
    acq_status status = ACQ_OK;
    if (code == SQLITE_OK)
        status = acq_replace_check(params->output, params->with_changes, error);
    acq_db_sync_log_name(to);
    while (status == ACQ_OK && code == SQLITE_OK) {
        status = report(params, backup, error);
        if (status == ACQ_OK)
            code = sqlite3_backup_step(backup, PAGES_PER_STEP);
    }
    return status == ACQ_OK && code != SQLITE_DONE ? acq_db_fail(to, code, error) : status;
}

static acq_status copy_all(const acq_replace_params *params, const acq_db *from, const acq_db *to,
                           acq_error *error)
{
    sqlite3_backup *backup = sqlite3_backup_init(to->handle, "main", from->handle, "main");
    if (backup == NULL)
        return acq_db_fail(to, sqlite3_errcode(to->handle), error);
    acq_status status = copy(params, to, backup, error);
    sqlite3_backup_finish(backup);
    return status;
}

/* Moves the new pages from the log into the file, unless readers still need the old ones: then a
 * later writer does it. */
static void clear_log(const acq_db *db)
{
    acq_db_set_patient(db, false);
    (void)sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

acq_status acq_replace(const acq_replace_params *params, acq_error *error)
{
    acq_db from, to;
    acq_status status = acq_db_open(&from, params->from, ACQ_DB_IMMUTABLE, error);
    if (status != ACQ_OK)
        return status;
    status = acq_db_open(&to, params->output, ACQ_DB_WRITE, error);
    if (status == ACQ_OK) {
        status = acq_db_run(&to, "PRAGMA synchronous = FULL", error);
        if (status == ACQ_OK)
            status = copy_all(params, &from, &to, error);
        if (status == ACQ_OK)
            clear_log(&to);
        acq_db_close(&to);
    }
    acq_db_close(&from);
    return status;
}
