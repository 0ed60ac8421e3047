/* completion_damage.c - damaged files: every bit flipped, every length cut, and files whose
 * checksums are right but whose content is wrong. Always an error, never a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "predict/completion_file.h"
#include "unit/completion_case.h"

typedef struct damage {
    acq_graph *graph;
    acq_calibrator *calibrator; /* NULL: a file of version 1 */
    char path[64];
    char *bytes;
    size_t length;
} damage;

static int set_up(void **state)
{
    damage *d = calloc(1, sizeof *d);
    d->graph = completion_make_graph(21, 12);
    case_name_file(d->path, sizeof d->path);
    acq_predictor *scored = case_make_predictor(d->graph, 21, 10);
    if (case_write(d->path, scored, 0.0, NULL) != ACQ_OK)
        return -1;
    acq_predictor_free(scored);
    d->bytes = case_read_file(d->path, &d->length);
    *state = d;
    return 0;
}

/* A file of version 2, with a calibrator. */
static int set_up_calibrated(void **state)
{
    if (set_up(state) != 0)
        return -1;
    damage *d = *state;
    d->calibrator = case_make_calibrator();
    acq_predictor *scored = case_make_predictor(d->graph, 21, 10);
    acq_calibrator_lend(d->calibrator, scored);
    if (case_write(d->path, scored, 0.0, NULL) != ACQ_OK)
        return -1;
    acq_predictor_free(scored);
    free(d->bytes);
    d->bytes = case_read_file(d->path, &d->length);
    return 0;
}

static int tear_down(void **state)
{
    damage *d = *state;
    unlink(d->path);
    acq_graph_free(d->graph);
    acq_calibrator_free(d->calibrator);
    free(d->bytes);
    free(d);
    return 0;
}

/* Opens the file and all relations; the first error. */
static acq_status open_all(const damage *d, acq_error *error)
{
    acq_predictor *predictor = NULL;
    acq_status status = acq_calibrator_open_completion(d->graph, d->path, &predictor, error);
    for (acq_rel r = 0; status == ACQ_OK && r < CASE_RELATIONS; r++) {
        const acq_links *links = NULL;
        status = acq_predictor_open_links(predictor, r, &links, error);
    }
    acq_predictor_free(predictor);
    return status;
}

static void test_a_whole_file_opens(void **state)
{
    damage *d = *state;
    assert_int_equal(open_all(d, NULL), ACQ_OK);
}

static void test_every_changed_byte_is_noticed(void **state)
{
    damage *d = *state;
    for (size_t i = 0; i < d->length; i++) {
        acq_error error = {0};
        char old = d->bytes[i];
        d->bytes[i] = (char)(old ^ (1 << (i % 8)));
        case_write_file(d->path, d->bytes, d->length);
        d->bytes[i] = old;
        if (open_all(d, &error) != ACQ_ERR_INPUT)
            fail_msg("byte %zu of %zu: %s", i, d->length, error.message);
        assert_string_equal(error.file, d->path);
    }
}

static void test_every_cut_is_noticed(void **state)
{
    damage *d = *state;
    for (size_t n = 0; n < d->length; n++) {
        case_write_file(d->path, d->bytes, n);
        acq_error error = {0};
        assert_int_equal(open_all(d, &error), ACQ_ERR_INPUT);
    }
    char *longer = malloc(d->length + 8);
    memcpy(longer, d->bytes, d->length);
    memset(longer + d->length, 0, 8);
    case_write_file(d->path, longer, d->length + 8);
    free(longer);
    acq_error error = {0};
    assert_int_equal(open_all(d, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "bytes after its end"));
}

/* Pointers into the bytes, for changes that keep the checksums right. */
typedef struct view {
    acq_completion_header *header;
    acq_completion_entry *entries;
    char *bytes;
    uint64_t blocks_end, calibrator_length; /* as they were */
} view;

static view look(const damage *d)
{
    acq_completion_header *header = (acq_completion_header *)(void *)d->bytes;
    uint64_t calibrator = d->calibrator == NULL ? 0 : header->calibrator_length;
    return (view){.header = header,
                  .entries = (acq_completion_entry *)(void *)(d->bytes + header->directory_offset),
                  .bytes = d->bytes,
                  .blocks_end = header->directory_offset - acq_pad8(calibrator),
                  .calibrator_length = calibrator};
}

static void repair(view v)
{
    uint64_t end = v.blocks_end;
    for (uint32_t r = 0; r < CASE_RELATIONS; r++) {
        acq_completion_entry *entry = &v.entries[r];
        if (entry->length <= end && entry->offset <= end - entry->length)
            entry->checksum =
                acq_completion_block_checksum(v.bytes + entry->offset, entry->length, r);
    }
    v.header->directory_checksum = acq_completion_directory_checksum(v.entries, CASE_RELATIONS);
    if (v.calibrator_length > 0)
        v.header->calibrator_checksum =
            acq_completion_attached_checksum(v.bytes + end, v.calibrator_length);
    v.header->checksum = acq_completion_header_checksum(
        v.header, v.bytes + acq_completion_get_header_size(v.header));
}

static void expect(damage *d, const char *message)
{
    acq_error error = {0};
    case_write_file(d->path, d->bytes, d->length);
    if (open_all(d, &error) != ACQ_ERR_INPUT || strstr(error.message, message) == NULL)
        fail_msg("\"%s\", expected \"%s\"", error.message, message);
}

/* Changes a copy of the file, repairs its checksums unless told not to, expects the message. */
#define CHANGE(change, message)                                                                    \
    do {                                                                                           \
        char *whole = malloc(d->length);                                                           \
        memcpy(whole, d->bytes, d->length);                                                        \
        view v = look(d);                                                                          \
        change;                                                                                    \
        repair(v);                                                                                 \
        expect(d, message);                                                                        \
        memcpy(d->bytes, whole, d->length);                                                        \
        free(whole);                                                                               \
    } while (0)

static void test_wrong_headers_with_right_checksums_are_refused(void **state)
{
    damage *d = *state;
    CHANGE(v.bytes[0] = 'x', "this is not a completion file");
    CHANGE(v.header->version = 4, "newer version");
    CHANGE(v.header->version ^= 3, "header is damaged");
    CHANGE(v.header->version = 0, "version number is 0");
    CHANGE(v.header->n_relations ^= 1, "directory is misplaced");
    CHANGE((v.header->n_relations--, v.header->directory_offset += sizeof *v.entries),
           "odd number of relations");
    CHANGE(v.header->floor = -0.5, "floor is not a score");
    CHANGE(v.header->floor = 0.0 / 0.0, "floor is not a score");
    CHANGE(v.header->n_links++, "number of links is wrong");
    CHANGE(v.bytes[acq_completion_get_header_size(v.header)] = '\0', "holds a NUL byte");
    CHANGE(v.header->dictionary_fingerprint++, "belongs to another graph");
    CHANGE(v.header->n_entities++, "belongs to another graph");
    CHANGE(v.header->file_length--, "bytes after its end");
    CHANGE(v.header->file_length++, "cut off");
    CHANGE(v.header->header_length += 8, "header is damaged");
}

static void test_wrong_directories_with_right_checksums_are_refused(void **state)
{
    damage *d = *state;
    assert_int_not_equal(look(d).entries[0].n_links, look(d).entries[2].n_links);
    CHANGE(v.entries[1] = v.entries[2], "differ in size");
    CHANGE((v.entries[2] = v.entries[0], v.entries[3] = v.entries[1]), "do not fill the file");
    CHANGE(v.entries[0].n_links = UINT32_MAX, "impossible counts");
    CHANGE(v.entries[0].n_heads = v.entries[0].n_links + 1, "impossible counts");
    CHANGE(v.entries[0].n_links += 4, "length does not fit");
    CHANGE(v.entries[1].length += 8, "length does not fit");
    CHANGE(v.entries[2].offset += 4, "outside the file");
    CHANGE(v.entries[2].offset = 0, "outside the file");
    CHANGE(v.entries[2].offset = UINT64_MAX - 7, "outside the file");
    CHANGE(v.entries[2].offset = d->length & ~(size_t)7, "outside the file");
}

/* Arrays of the block of relation 0. */
static uint32_t *heads(view v)
{
    return (uint32_t *)(void *)(v.bytes + v.entries[0].offset);
}

static uint32_t *offsets(view v)
{
    return heads(v) + v.entries[0].n_heads;
}

static uint32_t *tails(view v)
{
    return offsets(v) + v.entries[0].n_heads + 1;
}

static uint16_t *codes(view v)
{
    return (uint16_t *)(tails(v) + v.entries[0].n_links);
}

static void test_wrong_blocks_with_right_checksums_are_refused(void **state)
{
    damage *d = *state;
    CHANGE(heads(v)[0] = CASE_ENTITIES, "a head is out of range");
    CHANGE(heads(v)[1] = heads(v)[0], "heads are not sorted");
    CHANGE(offsets(v)[0] = 1, "the first row does not start at 0");
    CHANGE(offsets(v)[1] = 0, "a row is empty");
    CHANGE(offsets(v)[1] = UINT32_MAX, "");
    CHANGE(offsets(v)[v.entries[0].n_heads] = 0, "the last row does not end");
    CHANGE(tails(v)[0] = CASE_ENTITIES, "out of range");
    CHANGE(codes(v)[0] = 0, "a score is not in (0, 1]");
    CHANGE(codes(v)[0] ^= 1, "the two directions of a relation differ");
    CHANGE(tails(v)[v.entries[0].n_links - 1] ^= 1, "");
}

static void test_wrong_attachments_with_right_checksums_are_refused(void **state)
{
    damage *d = *state;
    CHANGE(v.header->calibrator_length += 8, "outside the file");
    CHANGE(v.header->calibrator_length -= 8, "do not fill the file");
    CHANGE(v.header->calibrator_length = d->length, "does not fit into the file");
    CHANGE(v.header->calibrator_length = UINT64_MAX, "does not fit into the file");
    CHANGE(v.header->shard_part = 1, "impossible shard");
    CHANGE(v.header->shard_of = 1, "impossible shard");
    CHANGE((v.header->shard_of = 2, v.header->shard_part = 2), "impossible shard");
    CHANGE(v.header->shard_of = 2, "this is shard 1 of 2");
    CHANGE(v.bytes[v.blocks_end + 8] = 'x', "not a safetensors file");
    CHANGE(v.bytes[v.blocks_end + 30] ^= 1, "");
}

#define BOTH(test)                                                                                 \
    cmocka_unit_test_setup_teardown(test, set_up, tear_down),                                      \
        cmocka_unit_test_setup_teardown(test, set_up_calibrated, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_a_whole_file_opens),
        BOTH(test_every_changed_byte_is_noticed),
        BOTH(test_every_cut_is_noticed),
        BOTH(test_wrong_headers_with_right_checksums_are_refused),
        BOTH(test_wrong_directories_with_right_checksums_are_refused),
        BOTH(test_wrong_blocks_with_right_checksums_are_refused),
        cmocka_unit_test_setup_teardown(test_wrong_attachments_with_right_checksums_are_refused,
                                        set_up_calibrated, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
