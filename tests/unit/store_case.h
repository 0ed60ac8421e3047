/* store_case.h - what the tests of the store share: a folder for files, stores made of graphs in
 * memory through the bulk writer, random graphs, and a comparison of two graphs to the last bit. */
#ifndef TEST_STORE_CASE_H
#define TEST_STORE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "graph/build.h"
#include "store/store.h"

/* Fails the test with the message unless a call returned ACQ_OK. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        acq_error error_ = {0}, *e = &error_;                                                      \
        if ((call) != ACQ_OK)                                                                      \
            fail_msg("%s: %s: %s", #call, e->file, e->message);                                    \
    } while (0)

/* A path in a folder of this process; the buffer is static, so copy what must last. */
const char *case_path(const char *name);
int case_make_folder(void **state);   /* group setup */
int case_remove_folder(void **state); /* group teardown: the folder with all in it */

/* Writes `graph` as a new store at `path`; what was there is gone. */
void case_write_store(const acq_graph *graph, const char *path);

/* The same with parts of so many links, however long a row is. */
void case_write_parts(const acq_graph *graph, const char *path, size_t most_links);

/* What a random graph has. Names repeat between seeds; ids are dense. */
typedef struct case_shape {
    uint32_t n_entities, n_relations; /* pairs */
    uint32_t n_facts;                 /* at most */
    bool names_inverses;              /* as benchmarks do */
    bool is_rdf;                      /* IRIs; some entities and relations have labels */
} case_shape;

acq_graph *case_make_graph(const case_shape *shape, uint64_t seed);

/* A small shape that follows from the seed. */
case_shape case_random_shape(uint64_t seed);

/* All that a graph answers: names, look-ups, links, counts and fingerprints. */
void case_expect_same(const acq_graph *stored, const acq_graph *expected);

/* The store at `path` is the same as `expected` and passes its own verification. */
void case_expect_store(const char *path, const acq_graph *expected);

/* Runs SQL on a file; for tampering. */
void case_run_sql(const char *path, const char *sql);

/* Copies a file byte by byte. */
void case_copy(const char *from, const char *to);

#endif
