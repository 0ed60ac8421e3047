/* server_graph.h - a small RDF graph that the fuzzers of the server ask, opened once. */
#ifndef ACQ_FUZZ_SERVER_GRAPH_H
#define ACQ_FUZZ_SERVER_GRAPH_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/service.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char FUZZ_GRAPH[] =
    "@prefix : <http://e/> . @prefix x: <http://www.w3.org/2001/XMLSchema#> .\n"
    ":a :p :b , :c . :b :p :c ; :q \"1\"^^x:integer , \"x\"@en , \"2.5\"^^x:decimal . :c :p :a ;\n"
    ":r _:n . _:n :q \"<b>&\\u001B[31m\" , true . :d :q \"2020-01-01T00:00:00Z\"^^x:dateTime .\n"
    ":g { :a :p :b . :b :p :d . } :h { :a :p :b . :b :q \"x\"@en . } _:g { :c :p :a } :i {}\n";

/* Into a file of its own; the path is the caller's. */
static inline void fuzz_write_graph(char *path)
{
    int file = mkstemps(path, 5);
    bool is_written = write(file, FUZZ_GRAPH, sizeof FUZZ_GRAPH - 1) == sizeof FUZZ_GRAPH - 1;
    assert(is_written);
    close(file);
}

static inline acq_service_params fuzz_params(const char *const *path)
{
    return (acq_service_params){.paths = path,
                                .n_paths = 1,
                                .predictor = "observed",
                                .seconds = 0.25,
                                .memory_bytes = 64 << 20,
                                .most_answers = 100};
}

static inline acq_served *fuzz_served(void)
{
    static acq_served served;
    static bool is_open;
    static char path[64] = "/tmp/anycq-fuzz-XXXXXX.trig";
    static const char *paths[1] = {path};
    if (is_open)
        return &served;
    acq_service_params params = fuzz_params(paths);
    acq_error error = {0};
    fuzz_write_graph(path);
    is_open = acq_served_init(&served, &params, &error) == ACQ_OK;
    assert(is_open);
    unlink(path);
    return &served;
}

#endif
