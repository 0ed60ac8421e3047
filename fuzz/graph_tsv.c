/* graph_tsv.c - the reader of tab-separated triples on any bytes. */
#include "graph_properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    acq_memory_source source = {
        .name = "input.tsv", .bytes = (const char *)data, .length = size, .syntax = ACQ_TABS};
    check_source_with(&source, (acq_read_params){0});
    return 0;
}
