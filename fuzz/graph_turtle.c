/* graph_turtle.c - the reader of Turtle and TriG on any bytes. The first byte chooses: 1 TriG,
 * 2 literals are entities, 4 a base for relative IRIs. */
#include "graph_properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t choice = size == 0 ? 0 : data[0];
    acq_memory_source source = {.name = "input.ttl",
                                .bytes = size == 0 ? "" : (const char *)data + 1,
                                .length = size == 0 ? 0 : size - 1,
                                .syntax = (choice & 1) != 0 ? ACQ_TRIG : ACQ_TURTLE};
    acq_read_params params = {.literals = (choice & 2) != 0,
                              .base = (choice & 4) != 0 ? "http://base.org/a/b" : NULL};
    check_source_with(&source, params);
    return 0;
}
