/* generate.c - benchmarks made from two graphs (generate/generate.h), for programs. */
#include "generate/generate.h"

#include "library/parts.h"

void acq_generate_params_init_sized(acq_generate_params *params, size_t size)
{
    acq_generate_params own = {.seed = 1, .constants = -1, .leaves = -1};
    acq_sized_init(params, size, &own, sizeof own);
}

acq_status acq_generate(const acq_graph *observed, const acq_graph *complete, const char *path,
                        const acq_generate_params *given, acq_generate_report *report,
                        acq_error *error)
{
    ACQ_REQUIRE(observed, error);
    ACQ_REQUIRE(complete, error);
    ACQ_REQUIRE(path, error);
    acq_generate_params params = {.seed = 1, .constants = -1, .leaves = -1};
    acq_generate_report own = {0};
    acq_graph *aligned = NULL;
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = acq_generate_settle(&params, error);
    if (status == ACQ_OK)
        status = acq_generate_align(observed, complete, &aligned, error);
    if (status == ACQ_OK)
        status = acq_generate_run(observed, aligned != NULL ? aligned : complete, path, &params,
                                  &own, error);
    acq_graph_free(aligned);
    if (report != NULL)
        acq_sized_fill(report, &own, sizeof own);
    return status;
}
