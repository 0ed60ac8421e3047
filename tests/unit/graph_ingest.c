/* graph_ingest.c - reading in parallel: whatever the number of threads and the size of the pieces,
 * the sink sees the same names, ids, facts, bad lines and errors in the same order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/text.h"
#include "graph/text/reader.h"

/* Everything that comes out of a reading, as text. */
typedef struct record {
    acq_dictionary dictionary;
    acq_text facts, bad;
    size_t n_stages;
    uint64_t last_done;
    size_t stop_at; /* the call of the progress function that says stop; 0: none */
} record;

static acq_status note_facts(void *self, const acq_triple *facts, size_t n, acq_error *error)
{
    record *r = self;
    for (size_t i = 0; i < n; i++)
        acq_text_format(&r->facts, "%u %u %u\n", facts[i].head, facts[i].relation, facts[i].tail);
    return acq_text_finish(&r->facts, error);
}

static void note_bad(void *context, const acq_error *bad)
{
    record *r = context;
    acq_text_format(&r->bad, "%s:%zu:%zu: %s\n", bad->file, bad->line, bad->column, bad->message);
}

static bool note_stage(void *context, const acq_progress *now)
{
    record *r = context;
    assert_string_equal(now->phase, "reading");
    assert_true(now->done >= r->last_done && (now->total == 0 || now->done <= now->total));
    r->last_done = now->done;
    return ++r->n_stages != r->stop_at;
}

static void init_record(record *r)
{
    *r = (record){0};
    acq_dictionary_init(&r->dictionary);
    acq_text_init(&r->facts);
    acq_text_init(&r->bad);
    acq_text_add(&r->facts, "");
    acq_text_add(&r->bad, "");
}

static void free_record(record *r)
{
    acq_dictionary_deinit(&r->dictionary);
    acq_text_deinit(&r->facts);
    acq_text_deinit(&r->bad);
}

typedef struct setting {
    unsigned threads;
    size_t piece_bytes;
    bool strict;
} setting;

static acq_status ingest(const acq_memory_source *source, setting how, record *r,
                         acq_read_report *report, acq_error *error)
{
    acq_memory_source cut = *source;
    acq_sink sink = {.dictionary = &r->dictionary, .add_facts = note_facts, .self = r};
    acq_read_params params = {.strict = how.strict,
                              .bad_line = note_bad,
                              .progress = note_stage,
                              .context = r,
                              .threads = how.threads};
    cut.piece_bytes = how.piece_bytes;
    return acq_ingest_memory(&cut, &params, &sink, report, error);
}

static void expect_same_names(const acq_names *a, const acq_names *b)
{
    assert_int_equal(a->n_ids, b->n_ids);
    for (uint32_t id = 0; id < a->n_ids; id++) {
        const char *x = acq_names_get(a, id), *y = acq_names_get(b, id);
        assert_true((x == NULL) == (y == NULL));
        if (x != NULL)
            assert_string_equal(x, y);
    }
}

static void expect_same_labels(const acq_dictionary *a, const acq_dictionary *b)
{
    assert_int_equal(a->is_rdf, b->is_rdf);
    expect_same_names(&a->labelled, &b->labelled);
    for (size_t i = 0; i < a->labelled.n_ids; i++) {
        const acq_raw_label *x = &a->labels[i], *y = &b->labels[i];
        assert_int_equal(x->rank, y->rank);
        assert_int_equal(x->length, y->length);
        assert_memory_equal(a->label_text + x->start, b->label_text + y->start, x->length);
    }
}

static void expect_same(const acq_memory_source *source, setting one, setting two)
{
    record a, b;
    acq_read_report ra = {0}, rb = {0};
    acq_error ea = {0}, eb = {0};
    init_record(&a);
    init_record(&b);
    acq_status status = ingest(source, one, &a, &ra, &ea);
    assert_int_equal(ingest(source, two, &b, &rb, &eb), status);
    assert_int_equal(ea.line, eb.line);
    assert_int_equal(ea.column, eb.column);
    assert_string_equal(ea.message, eb.message);
    assert_memory_equal(&ra, &rb, sizeof ra);
    assert_string_equal(a.bad.bytes, b.bad.bytes);
    if (status == ACQ_OK) {
        expect_same_names(&a.dictionary.entities, &b.dictionary.entities);
        expect_same_names(&a.dictionary.relations, &b.dictionary.relations);
        expect_same_labels(&a.dictionary, &b.dictionary);
        assert_string_equal(a.facts.bytes, b.facts.bytes);
        assert_int_equal(b.last_done, source->length);
    }
    free_record(&a);
    free_record(&b);
}

static void expect_same_everywhere(const acq_memory_source *source)
{
    static const unsigned threads[] = {1, 2, 5};
    static const size_t pieces[] = {1, 7, 64, 1000, 0};
    for (int strict = 0; strict < 2; strict++) {
        for (size_t i = 0; i < 3; i++) {
            for (size_t j = 0; j < 5; j++)
                expect_same(source, (setting){1, 0, strict},
                            (setting){threads[i], pieces[j], strict});
        }
    }
}

/* Lines of a small world, a few of them bad, ended in all the ways that lines end. */
static void write_lines(acq_text *text, acq_random *random, size_t n, unsigned bad_in)
{
    static const char *const bad[] = {"one field",  "a\tb",    "\tr\tx",    "a\tr\tb\tc",
                                      "a\tr\t\xff", "a\t\t\t", "a\t\xc3\tb"};
    for (size_t i = 0; i < n; i++) {
        uint32_t kind = acq_random_below(random, 40);
        if (bad_in > 0 && acq_random_below(random, bad_in) == 0)
            acq_text_add(text, bad[acq_random_below(random, 7)]);
        else
            acq_text_format(
                text, "entity %u\tr%u\tentit\xc3\xa9 %u", (unsigned)acq_random_below(random, 300),
                (unsigned)acq_random_below(random, 9), (unsigned)acq_random_below(random, 300));
        acq_text_add(text, kind == 0 ? "\r\n" : kind == 1 ? "\n\n\r\n" : "\n");
    }
}

static void test_triples_do_not_depend_on_threads_or_pieces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        acq_random random = acq_random_start(seed, 5);
        acq_text text;
        acq_text_init(&text);
        if (seed % 2 == 0)
            acq_text_add(&text, "\xEF\xBB\xBF");
        write_lines(&text, &random, 400, seed == 1 ? 0 : (unsigned)seed * 20);
        if (seed == 3)
            acq_text_add(&text, "the last\tline\thas no end");
        acq_memory_source source = {
            .name = "lines", .bytes = text.bytes, .length = text.length, .syntax = ACQ_TABS};
        expect_same_everywhere(&source);
        acq_text_deinit(&text);
    }
}

static void test_ids_do_not_depend_on_threads_or_pieces(void **state)
{
    (void)state;
    const char *index = "{\"e\": {\"a\": 0, \"b\": 1, \"c\": 2}, \"r\": {\"+r\": 0, \"-r\": 1}}";
    acq_random random = acq_random_start(9, 9);
    acq_text text;
    acq_text_init(&text);
    for (int i = 0; i < 500; i++)
        acq_text_format(&text, i % 90 == 89 ? "%u\t%u\t9%u\n" : "%u\t%u\t%u\n",
                        (unsigned)acq_random_below(&random, 3),
                        (unsigned)acq_random_below(&random, 2),
                        (unsigned)acq_random_below(&random, 3));
    acq_memory_source source = {.name = "ids",
                                .bytes = text.bytes,
                                .length = text.length,
                                .index = index,
                                .index_length = strlen(index)};
    expect_same_everywhere(&source);
    acq_text_deinit(&text);
}

/* Statements of a small world: facts, blank nodes, labels, literals, and a few bad lines. */
static void write_statements(acq_text *text, acq_random *random, size_t n)
{
    static const char *const bad[] = {"<a> <b>", "<http://e/ a> <http://r> <http://b> .", "\xff",
                                      "<http://a> <http://r> \"x\\q\" ."};
    for (size_t i = 0; i < n; i++) {
        unsigned a = (unsigned)acq_random_below(random, 99);
        unsigned b = (unsigned)acq_random_below(random, 99);
        switch (acq_random_below(random, 12)) {
        case 0:
            acq_text_add(text, bad[acq_random_below(random, 4)]);
            break;
        case 1:
        case 2:
            acq_text_format(text,
                            "<http://e/%u> <http://www.w3.org/2000/01/rdf-schema#label> "
                            "\"Name \\u00E9 %u\"%s .",
                            a, b,
                            b % 3 == 0   ? "@en"
                            : b % 3 == 1 ? "@de"
                                         : "");
            break;
        case 3:
            acq_text_format(text, "<http://e/%u> <http://r/%u> \"%u\" . # left out", a, b % 7, b);
            break;
        case 4:
            acq_text_format(text, "_:n%u <http://r/%u> _:n%u .", a, b % 7, b);
            break;
        default:
            acq_text_format(text, "<http://e/%u> <http://r/%u> <http://e/\\u00C9%u> .", a, b % 7,
                            b);
        }
        acq_text_add(text, i % 17 == 0 ? "\r\n# comment\n\n" : "\n");
    }
}

static void test_statements_do_not_depend_on_threads_or_pieces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        acq_random random = acq_random_start(seed, 6);
        acq_text text;
        acq_text_init(&text);
        write_statements(&text, &random, 400);
        acq_memory_source source = {.name = "statements",
                                    .bytes = text.bytes,
                                    .length = text.length,
                                    .syntax = seed == 1 ? ACQ_NQUADS : ACQ_NTRIPLES};
        expect_same_everywhere(&source);
        acq_text_deinit(&text);
    }
}

static void test_utf16_is_refused_at_the_start_only(void **state)
{
    (void)state;
    acq_memory_source wide = {.name = "wide",
                              .bytes = "\xFF\xFE"
                                       "a\n\xFF\xFE\n",
                              .length = 7};
    acq_memory_source later = {.name = "later",
                               .bytes = "a\tb\tc\n\xFF\xFE\n\xEF\xBB\xBF"
                                        "x\ty\tz\n",
                               .length = 18};
    expect_same_everywhere(&wide);
    expect_same_everywhere(&later);
}

static void test_the_caller_may_stop_the_reading(void **state)
{
    (void)state;
    acq_random random = acq_random_start(4, 4);
    acq_text text;
    acq_text_init(&text);
    write_lines(&text, &random, 2000, 0);
    acq_memory_source source = {.name = "lines", .bytes = text.bytes, .length = text.length};
    for (unsigned threads = 1; threads <= 3; threads++) {
        for (size_t stop = 1; stop <= 5; stop++) {
            record r;
            acq_error error = {0};
            init_record(&r);
            r.stop_at = stop;
            assert_int_equal(ingest(&source, (setting){threads, 500, false}, &r, NULL, &error),
                             ACQ_ERR_INTERRUPTED);
            assert_int_equal(r.n_stages, stop);
            assert_string_equal(error.message, "reading was interrupted");
            free_record(&r);
        }
    }
    acq_text_deinit(&text);
}

static acq_status refuse_facts(void *self, const acq_triple *facts, size_t n, acq_error *error)
{
    size_t *left = self;
    (void)facts;
    if (*left < n)
        return acq_fail(error, ACQ_ERR_IO, "the sink is full");
    *left -= n;
    return ACQ_OK;
}

static void test_a_failing_sink_ends_the_reading(void **state)
{
    (void)state;
    acq_random random = acq_random_start(5, 4);
    acq_text text;
    acq_text_init(&text);
    write_lines(&text, &random, 3000, 0);
    acq_memory_source source = {
        .name = "lines", .bytes = text.bytes, .length = text.length, .piece_bytes = 300};
    for (unsigned threads = 1; threads <= 4; threads++) {
        acq_dictionary dictionary;
        size_t left = 1000;
        acq_sink sink = {.dictionary = &dictionary, .add_facts = refuse_facts, .self = &left};
        acq_read_params params = {.threads = threads};
        acq_error error = {0};
        acq_dictionary_init(&dictionary);
        assert_int_equal(acq_ingest_memory(&source, &params, &sink, NULL, &error), ACQ_ERR_IO);
        assert_string_equal(error.message, "the sink is full");
        acq_dictionary_deinit(&dictionary);
    }
    acq_text_deinit(&text);
}

static void test_a_file_without_line_ends_is_no_text(void **state)
{
    (void)state;
    size_t length = 2 * ACQ_LINE_MOST + 10;
    char *bytes = malloc(length);
    assert_non_null(bytes);
    memset(bytes, 'x', length);
    acq_memory_source source = {.name = "binary", .bytes = bytes, .length = length};
    record r;
    acq_error error = {0};
    init_record(&r);
    assert_int_equal(ingest(&source, (setting){2, 0, false}, &r, NULL, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "is this a text file"));
    assert_string_equal(error.file, "binary");
    assert_int_equal(error.line, 1);
    free_record(&r);
    free(bytes);
}

/* Bad with its place, while the lines around it are read. */
static void test_a_line_that_is_too_long_is_a_bad_line(void **state)
{
    (void)state;
    acq_text text;
    char *filling = malloc(ACQ_LINE_MOST + 1);
    assert_non_null(filling);
    memset(filling, 'x', ACQ_LINE_MOST + 1);
    acq_text_init(&text);
    acq_text_add(&text, "a\tr\tb\n");
    acq_text_add_bytes(&text, filling, ACQ_LINE_MOST + 1);
    acq_text_add(&text, "\nb\tr\tc\nc\tr\td\n");
    acq_text_add_bytes(&text, filling, ACQ_LINE_MOST - 1); /* too few fields, yet not too long */
    acq_text_add(&text, "\nd\tr\te");
    acq_memory_source source = {.name = "lines", .bytes = text.bytes, .length = text.length};
    record r;
    acq_read_report report;
    acq_error error = {0};
    init_record(&r);
    assert_int_equal(ingest(&source, (setting){2, 0, false}, &r, &report, &error), ACQ_OK);
    assert_string_equal(r.facts.bytes, "0 0 1\n1 0 2\n2 0 3\n3 0 4\n");
    assert_int_equal(report.lines, 6);
    assert_int_equal(report.bad, 2);
    assert_ptr_equal(strstr(r.bad.bytes, "lines:2:1: the line has more than 16 MB"), r.bad.bytes);
    assert_non_null(strstr(r.bad.bytes, "lines:5:"));
    free_record(&r);
    expect_same(&source, (setting){1, 0, false}, (setting){5, 0, false});
    expect_same(&source, (setting){1, 0, true}, (setting){5, 1000, true});
    acq_text_deinit(&text);
    free(filling);
}

/* A pipe gives as many bytes as it likes, and nobody knows how many come. */
static void test_standard_input_is_read_as_it_comes(void **state)
{
    (void)state;
    int ends[2], kept = dup(STDIN_FILENO);
    const char *const paths[] = {"-"};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "a\tr\tb\nc\tr\td", 11), 11);
    close(ends[1]);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    record r;
    init_record(&r);
    acq_sink sink = {.dictionary = &r.dictionary, .add_facts = note_facts, .self = &r};
    acq_read_params params = {.progress = note_stage, .context = &r};
    assert_int_equal(acq_ingest(paths, 1, &params, &sink, NULL, NULL), ACQ_OK);
    assert_string_equal(r.facts.bytes, "0 0 1\n2 0 3\n");
    assert_int_equal(r.last_done, 11);
    free_record(&r);
    assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    close(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triples_do_not_depend_on_threads_or_pieces),
        cmocka_unit_test(test_ids_do_not_depend_on_threads_or_pieces),
        cmocka_unit_test(test_statements_do_not_depend_on_threads_or_pieces),
        cmocka_unit_test(test_utf16_is_refused_at_the_start_only),
        cmocka_unit_test(test_the_caller_may_stop_the_reading),
        cmocka_unit_test(test_a_failing_sink_ends_the_reading),
        cmocka_unit_test(test_a_file_without_line_ends_is_no_text),
        cmocka_unit_test(test_a_line_that_is_too_long_is_a_bad_line),
        cmocka_unit_test(test_standard_input_is_read_as_it_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
