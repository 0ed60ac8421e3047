/* completion.c - the reader of completion files on any bytes.
 *
 * The first byte of the input says whether the target repairs the checksums first (odd), so that
 * the fuzzer gets past them, and fits the fingerprints to the graph. The rest is the file. What
 * opens must give links that pass acq_links_check and score the same in both directions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calibrate/calibrator.h"
#include "graph/build.h"
#include "predict/completion_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENTITIES = 6, RELATIONS = 4 };

static void must(bool truth)
{
    if (!truth)
        abort();
}

static acq_graph *make_graph(void)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    uint32_t id;
    for (char c = 'a'; c < 'a' + ENTITIES; c++)
        must(acq_graph_builder_add_entity(builder, &c, 1, &id) == ACQ_OK);
    must(acq_graph_builder_add_relation(builder, "r", 1, &id) == ACQ_OK);
    must(acq_graph_builder_add_relation(builder, "s", 1, &id) == ACQ_OK);
    must(acq_graph_builder_add_fact(builder, 0, 0, 1) == ACQ_OK);
    must(acq_graph_builder_add_fact(builder, 2, 0, 1) == ACQ_OK);
    must(acq_graph_builder_finish(builder, &graph, NULL) == ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static void repair_directory(acq_completion_header *header, char *bytes, size_t size)
{
    acq_completion_entry entries[RELATIONS];
    if (header->n_relations != RELATIONS || header->directory_offset > size ||
        size - header->directory_offset < sizeof entries)
        return;
    memcpy(entries, bytes + header->directory_offset, sizeof entries);
    for (uint32_t r = 0; r < RELATIONS; r++) {
        acq_completion_entry *entry = &entries[r];
        if (entry->offset <= size && entry->length <= size - entry->offset)
            entry->checksum =
                acq_completion_block_checksum(bytes + entry->offset, entry->length, r);
    }
    memcpy(bytes + header->directory_offset, entries, sizeof entries);
    header->directory_checksum = acq_completion_directory_checksum(entries, RELATIONS);
}

/* What lies before *end, which becomes its begin. */
static void repair_attached(const char *bytes, uint64_t length, uint64_t *end, uint64_t *checksum)
{
    if (length > *end || acq_pad8(length) > *end)
        return;
    *end -= acq_pad8(length);
    *checksum = acq_completion_attached_checksum(bytes + *end, length);
}

static void repair_calibrator(acq_completion_header *header, const char *bytes, size_t size)
{
    uint64_t end = header->directory_offset;
    if (end > size)
        return;
    repair_attached(bytes, header->reasons_length, &end, &header->reasons_checksum);
    repair_attached(bytes, header->calibrator_length, &end, &header->calibrator_checksum);
}

static void repair(const acq_graph *graph, char *bytes, size_t size)
{
    acq_completion_header header = {0};
    if (size < sizeof header)
        return;
    memcpy(&header, bytes, sizeof header);
    uint32_t header_size = acq_completion_get_header_size(&header);
    memset((char *)&header + header_size, 0, sizeof header - header_size);
    header.dictionary_fingerprint = acq_graph_get_dictionary_fingerprint(graph);
    repair_directory(&header, bytes, size);
    repair_calibrator(&header, bytes, size);
    if (acq_pad8(header.name_length) <= size - header_size)
        header.checksum = acq_completion_header_checksum(&header, bytes + header_size);
    memcpy(bytes, &header, header_size);
}

static void check_links(const acq_predictor *predictor, acq_rel relation)
{
    const acq_links *links = NULL, *inverse = NULL;
    const char *reason = "";
    acq_error error = {0};
    acq_status status = acq_predictor_open_links(predictor, relation, &links, &error);
    must(status == error.code);
    if (status != ACQ_OK)
        return;
    must(acq_links_check(links, &reason));
    must(acq_predictor_open_links(predictor, acq_inverse(relation), &inverse, NULL) == ACQ_OK);
    for (acq_ent h = 0; h < ENTITIES; h++) {
        for (acq_ent t = 0; t < ENTITIES; t++) {
            float score = acq_links_get_score(links, h, t);
            must(score == acq_links_get_score(inverse, t, h));
            if (acq_graph_has_fact(predictor->graph, h, relation, t))
                must(score == 1.0F);
        }
    }
}

static void check_file(const acq_graph *graph, const char *bytes, size_t size)
{
    int file = memfd_create("completion", 0);
    char path[64];
    must(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    acq_predictor *predictor = NULL;
    acq_error error = {0};
    acq_status status = acq_calibrator_open_completion(graph, path, &predictor, &error);
    must(status == error.code && (status == ACQ_OK) == (predictor != NULL));
    for (acq_rel r = 0; status == ACQ_OK && r < RELATIONS; r++)
        check_links(predictor, r);
    acq_predictor_free(predictor);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    acq_graph *graph = make_graph();
    char *bytes = malloc(size);
    must(bytes != NULL);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1U)
        repair(graph, bytes, size - 1);
    check_file(graph, bytes, size - 1);
    free(bytes);
    acq_graph_free(graph);
    return 0;
}
