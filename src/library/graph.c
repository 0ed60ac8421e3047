/* graph.c - graphs and stores: sources in, handles out. What a graph answers is in graph/graph.c,
 * changes of a store in store/. */
#include "library/parts.h"

#include "store/import/import.h"

const char *acq_get_version(void)
{
    return ACQ_VERSION;
}

void acq_graph_params_init_sized(acq_graph_params *params, size_t size)
{
    acq_graph_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

acq_status acq_library_read_params(const char *function, const acq_graph_params *given,
                                   acq_read_params *out, acq_read_report **report, acq_error *error)
{
    acq_graph_params params = {0};
    acq_status status = acq_sized_read(function, given, &params, sizeof params, error);
    *out = (acq_read_params){.split = params.split,
                             .format = params.format,
                             .strict = params.strict,
                             .no_header = params.no_header,
                             .note = params.note,
                             .bad_line = params.left_out,
                             .progress = params.progress,
                             .context = params.context,
                             .threads = params.threads,
                             .base = params.base,
                             .literals = params.literals};
    *report = params.report;
    return status;
}

acq_status acq_graph_open(const char *path, const acq_graph_params *given, acq_graph **out,
                          acq_error *error)
{
    ACQ_REQUIRE(path, error);
    ACQ_REQUIRE(out, error);
    acq_read_params read;
    acq_read_report *wanted, report = {0};
    acq_status status = acq_library_read_params(__func__, given, &read, &wanted, error);
    if (status == ACQ_OK)
        status = acq_graph_open_path(path, &read, out, &report, error);
    if (status == ACQ_OK)
        acq_sized_fill(wanted, &report, sizeof report);
    return status;
}

void acq_store_params_init_sized(acq_store_params *params, size_t size)
{
    acq_store_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

acq_status acq_store_create(const char *const *sources, size_t n_sources, const char *path,
                            const acq_store_params *given, acq_error *error)
{
    ACQ_REQUIRE(sources, error);
    ACQ_REQUIRE(path, error);
    for (size_t i = 0; i < n_sources; i++)
        ACQ_REQUIRE(sources[i], error);
    acq_store_params params = {0};
    acq_import_params import = {0};
    acq_import_report report;
    acq_read_report *wanted;
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = acq_library_read_params(__func__, params.read, &import.read, &wanted, error);
    if (status != ACQ_OK)
        return status;
    import.memory_bytes = (size_t)params.memory_bytes;
    import.replace = params.replace;
    status = acq_import(sources, n_sources, path, &import, &report, error);
    if (status == ACQ_OK)
        acq_sized_fill(wanted, &report.read, sizeof report.read);
    return status;
}
