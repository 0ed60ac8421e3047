/* info.c - what a store says of itself without being searched; see store.h. */
#include "store/store.h"

#include <string.h>

#include "store/catalog.h"
#include "store/file.h"
#include "store/open.h"

acq_status acq_store_read_info(const char *path, acq_store_info *out, acq_error *error)
{
    acq_db db;
    acq_catalog catalog;
    acq_store_info info = {0};
    acq_status status = acq_open_to_read(&db, path, error);
    if (status != ACQ_OK)
        return status;
    status = acq_catalog_read(&db, &catalog, error);
    if (status == ACQ_OK && acq_db_check_unchanged(&db, error) != ACQ_OK) {
        acq_catalog_deinit(&catalog);
        status = ACQ_ERR_IO;
    }
    acq_db_close(&db);
    if (status != ACQ_OK)
        return status;
    info.format = catalog.format;
    info.n_changes = catalog.meta.n_changes;
    info.is_rdf = catalog.meta.is_rdf;
    memcpy(info.sources, catalog.meta.sources, sizeof info.sources);
    acq_catalog_deinit(&catalog);
    status = acq_file_sizes(path, &info.file_bytes, &info.wal_bytes, error);
    if (status == ACQ_OK)
        *out = info;
    return status;
}
