/* store.c - any bytes as a store: opened, read, verified and changed.
 *
 * Whatever the bytes are, links that are handed out keep their invariants; and a store that passes
 * its verification can be read whole, takes a fact, and passes again. The corpus has stores of both
 * formats with small pages. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/build.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Nothing here has to survive a power failure. */
int fsync(int file)
{
    (void)file;
    return 0;
}

int fdatasync(int file)
{
    (void)file;
    return 0;
}

static char path[64];

static void remove_files(void)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char name[96];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static void write_input(const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert(file != NULL);
    assert(fwrite(data, 1, size, file) == size);
    assert(fclose(file) == 0);
}

static bool visit(void *context, acq_ent entity, const char *name, size_t length)
{
    (void)entity;
    assert(strlen(name) == length);
    return ++*(size_t *)context < 10000;
}

/* Everything that a graph says; false when there was an error. */
static bool read_all(const acq_graph *graph)
{
    bool is_good = true;
    const acq_links *links = NULL;
    const char *reason = NULL;
    size_t n = 0;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++) {
        if (acq_graph_open_links(graph, r, &links, NULL) == ACQ_OK)
            assert(acq_links_check(links, &reason));
        else
            is_good = false;
    }
    for (acq_ent id = 0; id < acq_graph_get_n_entities(graph) && id < 1000; id++) {
        const char *name = acq_graph_get_entity_name(graph, id);
        acq_graph_find_entity(graph, name, strlen(name));
    }
    is_good = acq_graph_each_name(graph, "", 0, visit, &n, NULL) == ACQ_OK && is_good;
    is_good = acq_graph_each_name(graph, "a", 1, visit, &n, NULL) == ACQ_OK && is_good;
    return acq_graph_get_failure(graph, NULL) == ACQ_OK && is_good;
}

static bool read_store(void)
{
    acq_graph *graph = NULL;
    if (acq_store_open(path, &graph, NULL) != ACQ_OK)
        return false;
    bool is_good = read_all(graph);
    acq_graph_free(graph);
    return is_good;
}

/* Adds, removes and compacts; true when all of it worked. */
static bool change_store(void)
{
    acq_store_fact facts[] = {{.head = "a", .relation = "likes", .tail = "new"},
                              {.head = "new", .relation = "new", .tail = "a"}};
    acq_store_writer *writer = NULL;
    if (acq_store_writer_open(path, &writer, NULL) != ACQ_OK)
        return false;
    bool is_good = acq_store_add(writer, facts, 2, NULL, NULL, NULL) == ACQ_OK;
    is_good = acq_store_remove(writer, facts, 1, NULL, NULL, NULL) == ACQ_OK && is_good;
    is_good = acq_store_compact(writer, NULL, NULL) == ACQ_OK && is_good;
    acq_store_writer_free(writer);
    return is_good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    snprintf(path, sizeof path, "/tmp/acq-fuzz-%ld", (long)getpid());
    remove_files();
    write_input(data, size);
    bool is_read = read_store();
    bool is_verified = acq_store_verify(path, NULL, NULL, NULL) == ACQ_OK;
    assert(is_read || !is_verified);
    bool is_changed = change_store();
    assert(!(is_verified && is_changed) || acq_store_verify(path, NULL, NULL, NULL) == ACQ_OK);
    remove_files();
    return 0;
}
