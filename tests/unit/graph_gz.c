/* graph_gz.c - compressed sources: what comes out is what went in, however it was packed, and
 * whatever is damaged is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/text.h"
#include "graph/text/reader.h"

/* Appends one member. */
static void pack(acq_text *out, const char *bytes, size_t length, int level)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, length) + 32;
    char *packed = malloc(room);
    assert_non_null(packed);
    z.next_in = (Bytef *)bytes;
    z.avail_in = (uInt)length;
    z.next_out = (Bytef *)packed;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    acq_text_add_bytes(out, packed, z.total_out);
    deflateEnd(&z);
    free(packed);
}

static void write_triples(acq_text *text, uint64_t seed, size_t n, acq_text_syntax syntax)
{
    acq_random random = acq_random_start(seed, 2);
    acq_text_init(text);
    for (size_t i = 0; i < n; i++) {
        unsigned a = (unsigned)acq_random_below(&random, 5000);
        unsigned b = (unsigned)acq_random_below(&random, 5000);
        if (syntax == ACQ_TABS)
            acq_text_format(text, "e%u\tr%u\te%u\n", a, b % 11, b);
        else if (syntax == ACQ_COMMAS)
            acq_text_format(text, "e%u,r%u,\"e%u\"\n", a, b % 11, b);
        else
            acq_text_format(text, "<http://e/%u> <http://r/%u> <http://e/%u> .\n", a, b % 11, b);
    }
}

static bool note_stage(void *context, const acq_progress *now)
{
    uint64_t *done = context;
    assert_true(now->done >= *done && now->done <= now->total);
    *done = now->done;
    return true;
}

static acq_status read_bytes(const char *name, const acq_text *bytes, acq_text_syntax syntax,
                             acq_graph **graph, acq_error *error)
{
    uint64_t done = 0;
    acq_memory_source source = {.name = name,
                                .bytes = bytes->bytes,
                                .length = bytes->length,
                                .syntax = syntax,
                                .piece_bytes = 10000};
    acq_read_params params = {.threads = 2, .progress = note_stage, .context = &done};
    acq_status status = acq_graph_read_memory(&source, &params, graph, NULL, error);
    assert_true(status != ACQ_OK || done == bytes->length);
    return status;
}

static void expect_same(const acq_text *plain, const acq_text *packed, acq_text_syntax syntax)
{
    acq_graph *a = NULL, *b = NULL;
    acq_error error = {0};
    assert_int_equal(read_bytes("plain", plain, syntax, &a, NULL), ACQ_OK);
    if (read_bytes("packed.gz", packed, syntax, &b, &error) != ACQ_OK)
        fail_msg("%zu:%zu: %s", error.line, error.column, error.message);
    assert_true(acq_graph_get_fingerprint(a) == acq_graph_get_fingerprint(b));
    acq_graph_free(a);
    acq_graph_free(b);
}

static void test_every_format_is_read_from_gz(void **state)
{
    (void)state;
    static const acq_text_syntax all[] = {ACQ_TABS,   ACQ_COMMAS, ACQ_NTRIPLES,
                                          ACQ_NQUADS, ACQ_TURTLE, ACQ_TRIG};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        acq_text plain, packed;
        write_triples(&plain, i + 1, 8000, all[i]);
        for (int level = 0; level < 10; level += 3) {
            acq_text_init(&packed);
            pack(&packed, plain.bytes, plain.length, level);
            expect_same(&plain, &packed, all[i]);
            acq_text_deinit(&packed);
        }
        acq_text_deinit(&plain);
    }
}

/* Cut anywhere, also inside a line; empty members and zeros at the end change nothing. */
static void test_members_join(void **state)
{
    (void)state;
    acq_text plain;
    acq_random random = acq_random_start(1, 1);
    write_triples(&plain, 7, 3000, ACQ_TABS);
    for (size_t step = 1 << 17; step > 40; step /= 5) {
        acq_text packed;
        acq_text_init(&packed);
        for (size_t at = 0; at < plain.length;) {
            size_t n = 1 + acq_random_below(&random, step), left = plain.length - at;
            pack(&packed, plain.bytes + at, n < left ? n : left, 6);
            at += n < left ? n : left;
            if (n % 7 == 0)
                pack(&packed, "", 0, 6);
        }
        acq_text_add_bytes(&packed, "\0\0\0\0\0\0\0\0", 8);
        expect_same(&plain, &packed, ACQ_TABS);
        acq_text_deinit(&packed);
    }
    acq_text_deinit(&plain);
}

static void test_a_text_of_one_letter_unpacks_in_bounded_steps(void **state)
{
    (void)state;
    acq_text plain, packed;
    acq_text_init(&plain);
    acq_text_init(&packed);
    acq_text_add(&plain, "a\tr\tb\n");
    for (int i = 0; i < 3000000; i++)
        acq_text_add_bytes(&plain, "\n", 1);
    pack(&packed, plain.bytes, plain.length, 9);
    assert_true(packed.length < 5000);
    expect_same(&plain, &packed, ACQ_TABS);
    acq_text_deinit(&plain);
    acq_text_deinit(&packed);
}

/* The checksum of a member covers it all: any cut and any flipped bit but in the header's unused
 * fields is an error, or leaves the text as it was. */
static void test_cuts_and_flips_are_noticed(void **state)
{
    (void)state;
    acq_text plain, packed;
    acq_graph *graph = NULL, *found;
    acq_random random = acq_random_start(3, 3);
    size_t refused = 0;
    acq_text_init(&packed);
    write_triples(&plain, 3, 300, ACQ_TABS);
    pack(&packed, plain.bytes, plain.length, 6);
    assert_int_equal(read_bytes("whole.gz", &packed, ACQ_TABS, &graph, NULL), ACQ_OK);
    for (int i = 0; i < 1500; i++) {
        acq_text bad;
        acq_error error = {0};
        bool is_cut = i % 3 == 0;
        size_t at = acq_random_below(&random, packed.length);
        acq_text_init(&bad);
        acq_text_add_bytes(&bad, packed.bytes, is_cut ? at : packed.length);
        if (!is_cut)
            bad.bytes[at] ^= (char)(1U << acq_random_below(&random, 8));
        found = NULL;
        acq_status status = read_bytes("bad.gz", &bad, ACQ_TABS, &found, &error);
        if (status == ACQ_OK) {
            assert_true(!is_cut && at < 10);
            assert_true(acq_graph_get_fingerprint(graph) == acq_graph_get_fingerprint(found));
            acq_graph_free(found);
        } else {
            assert_int_equal(status, ACQ_ERR_INPUT);
            assert_string_equal(error.file, "bad.gz");
            refused++;
        }
        acq_text_deinit(&bad);
    }
    assert_true(refused > 1400);
    acq_graph_free(graph);
    acq_text_deinit(&plain);
    acq_text_deinit(&packed);
}

static void test_a_pipe_may_be_compressed(void **state)
{
    (void)state;
    int ends[2];
    char path[64];
    acq_text packed;
    acq_graph *graph = NULL;
    acq_text_init(&packed);
    pack(&packed, "a\tr\tb\nc\tr\td\n", 12, 6);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], packed.bytes, packed.length), (ssize_t)packed.length);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const char *const paths[] = {path};
    assert_int_equal(acq_graph_read(paths, 1, NULL, &graph, NULL, NULL), ACQ_OK);
    assert_int_equal(acq_graph_get_n_facts(graph), 2);
    acq_graph_free(graph);
    acq_text_deinit(&packed);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_is_read_from_gz),
        cmocka_unit_test(test_members_join),
        cmocka_unit_test(test_a_text_of_one_letter_unpacks_in_bounded_steps),
        cmocka_unit_test(test_cuts_and_flips_are_noticed),
        cmocka_unit_test(test_a_pipe_may_be_compressed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
