/* graph_benchmark.c - a kgindex.json and lines of ids, from one input: the index ends at the
 * first byte 0x1e (record separator), which neither part can hold. */
#include "graph_properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size == 0 ? "" : (const char *)data;
    const char *separator = size == 0 ? NULL : memchr(text, 0x1e, size);
    size_t index_length = separator == NULL ? size : (size_t)(separator - text);
    const char *lines = separator == NULL ? "" : separator + 1;
    acq_memory_source source = {.name = "train_kg.tsv",
                                .bytes = lines,
                                .length = separator == NULL ? 0 : size - index_length - 1,
                                .index = text,
                                .index_length = index_length};
    check_source_with(&source, (acq_read_params){0});
    return 0;
}
