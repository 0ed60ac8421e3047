/* open_path.c - what GRAPH means: a store, or text read on the fly. */
#include "store/store.h"

#include "store/file.h"

acq_status acq_graph_open_path(const char *path, const acq_read_params *params, acq_graph **out,
                               acq_read_report *report, acq_error *error)
{
    bool is_store = false;
    acq_status status = acq_file_is_database(path, &is_store, error);
    if (status != ACQ_OK)
        return status;
    if (!is_store)
        return acq_graph_read(&path, 1, params, out, report, error);
    if (report != NULL)
        *report = (acq_read_report){0};
    return acq_store_open(path, out, error);
}
