/* open_path.c - what GRAPH means: a store, or text read on the fly. */
#include "store/store.h"

acq_status acq_graph_open_path(const char *path, const acq_read_params *params, acq_graph **out,
                               acq_read_report *report, acq_error *error)
{
    if (!acq_store_is_database(path))
        return acq_graph_read(&path, 1, params, out, report, error);
    if (report != NULL)
        *report = (acq_read_report){0};
    return acq_store_open(path, out, error);
}
