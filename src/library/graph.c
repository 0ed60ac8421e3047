/* graph.c - graphs: sources in, handles out. What a graph answers is in graph/graph.c. */
#include "library/parts.h"

#include <string.h>

#include "store/store.h"
#include "tensor/kernels.h"

const char *acq_get_version(void)
{
    return ACQ_VERSION;
}

acq_status acq_limit_instructions(const char *set, acq_error *error)
{
    ACQ_REQUIRE(set, error);
    if (strcmp(set, "auto") == 0)
        return ACQ_OK;
    acq_cpu_level level = acq_cpu_level_find(set);
    if (level != ACQ_N_CPU_LEVELS)
        return acq_cpu_limit(level, error);
    return acq_fail(error, ACQ_ERR_USAGE,
                    "no instructions \"%.100s\"; use auto, generic, avx2, avx512, avx512-bf16 or "
                    "amx",
                    set);
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
