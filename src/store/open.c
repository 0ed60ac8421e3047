/* open.c - opening for reading, also where SQLite cannot make its -shm file; see open.h. */
#include "store/open.h"

/* BEGIN alone reads nothing: the snapshot is taken by the first look at the file. */
static acq_status begin(const acq_db *db, acq_error *error)
{
    int64_t ignored;
    acq_status status = acq_db_run(db, "BEGIN", error);
    return status == ACQ_OK
               ? acq_db_read_number(db, "SELECT count(*) FROM sqlite_schema", &ignored, error)
               : status;
}

/* watched NULL: locks see to it that the snapshot stays. */
static acq_status open_as(acq_db *db, const char *path, acq_db_mode mode,
                          const acq_file_state *watched, acq_error *error)
{
    acq_status status = acq_db_open(db, path, mode, error);
    if (status != ACQ_OK)
        return status;
    db->is_watched = watched != NULL;
    if (watched != NULL)
        db->opened = *watched;
    status = begin(db, error);
    if (status != ACQ_OK)
        acq_db_close(db);
    return status;
}

acq_status acq_open_to_read(acq_db *db, const char *path, acq_error *error)
{
    bool is_fixed = false;
    acq_error first = {0};
    acq_file_state state = acq_file_get_state(path); /* before it is known that no log is there */
    acq_status status = acq_file_check(path, error);
    if (status == ACQ_OK)
        status = acq_file_is_fixed(path, &is_fixed, error);
    if (status != ACQ_OK)
        return status;
    status = open_as(db, path, ACQ_DB_READ, NULL, &first);
    if (status == ACQ_ERR_IO && is_fixed)
        return open_as(db, path, ACQ_DB_IMMUTABLE, &state, error);
    if (status != ACQ_OK) {
        acq_fail(error, first.code, "%s", first.message);
        acq_error_set_file(error, first.file);
    }
    return status;
}
