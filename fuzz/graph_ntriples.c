/* graph_ntriples.c - the reader of N-Triples and N-Quads on any bytes. The first byte chooses:
 * 1 quads, 2 literals are entities, 4 a base for relative IRIs. What it accepts, the reader of
 * Turtle, which shares no code with it but that of escapes, reads in the same way: N-Triples is a
 * part of Turtle. */
#include "graph_properties.h"

/* Blank nodes like _:b1 are left out: in Turtle brackets have those names. */
static void check_against_turtle(const acq_memory_source *source, acq_read_params params)
{
    acq_memory_source turtle = *source;
    acq_graph *graph = NULL, *other = NULL;
    params.strict = true;
    turtle.syntax = ACQ_TURTLE;
    if (memmem(source->bytes, source->length, "_:b", 3) == NULL &&
        acq_graph_read_memory(source, &params, &graph, NULL, NULL) == ACQ_OK) {
        must(acq_graph_read_memory(&turtle, &params, &other, NULL, NULL) == ACQ_OK);
        must(acq_graph_get_fingerprint(graph) == acq_graph_get_fingerprint(other));
    }
    acq_graph_free(graph);
    acq_graph_free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t choice = size == 0 ? 0 : data[0];
    acq_memory_source source = {.name = "input.nt",
                                .bytes = size == 0 ? "" : (const char *)data + 1,
                                .length = size == 0 ? 0 : size - 1,
                                .syntax = (choice & 1) != 0 ? ACQ_NQUADS : ACQ_NTRIPLES};
    acq_read_params params = {.literals = (choice & 2) != 0,
                              .base = (choice & 4) != 0 ? "http://base.org/a/b" : NULL};
    check_source_with(&source, params);
    if (source.syntax == ACQ_NTRIPLES)
        check_against_turtle(&source, params);
    return 0;
}
