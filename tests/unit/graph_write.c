/* graph_write.c - graphs as text: the bytes of every format, what cannot be written, what a sink
 * or an allocation that fails does, and that reading gives the graph back. */
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
#include "base/memory.h"
#include "base/text.h"
#include "graph/build.h"
#include "graph/text/read.h"

#define FOAF       "http://xmlns.com/foaf/0.1/"
#define RDFS_LABEL "http://www.w3.org/2000/01/rdf-schema#label"

typedef struct triple {
    const char *head, *relation, *tail;
} triple;

static acq_graph *make_graph(const triple *facts, size_t n, bool is_rdf)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    acq_dictionary *names = acq_graph_builder_get_dictionary(builder);
    names->is_rdf = is_rdf;
    for (size_t i = 0; i < n; i++) {
        acq_ent h, t;
        acq_rel r;
        const triple *f = &facts[i];
        assert_int_equal(acq_graph_builder_add_entity(builder, f->head, strlen(f->head), &h), 0);
        assert_int_equal(
            acq_graph_builder_add_relation(builder, f->relation, strlen(f->relation), &r), 0);
        assert_int_equal(acq_graph_builder_add_entity(builder, f->tail, strlen(f->tail), &t), 0);
        assert_int_equal(acq_graph_builder_add_fact(builder, h, r, t), ACQ_OK);
    }
    if (is_rdf) {
        const char *const labels[][2] = {{"http://x/ada", "Ada \"the first\""},
                                         {"http://x/bo", "Bo"},
                                         {"_:b1", "Bo"},
                                         {FOAF "knows", "knows"}};
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(acq_dictionary_add_label(names, labels[i][0], strlen(labels[i][0]),
                                                      labels[i][1], strlen(labels[i][1]),
                                                      ACQ_LABEL_PLAIN),
                             ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static const triple plain[] = {
    {"Ada", "knows", "Bo, the second"},
    {"Ada", "knows", "C\xc3\xa9line \"C\""},
    {"Bo, the second", "born in", "http://x/London"},
    {"_:x", "born in", "\"quoted\""},
    {"urn:anycq:Ada", "knows", "Ada"},
};

static const triple rdf[] = {
    {"http://x/ada", FOAF "knows", "http://x/bo"},
    {"http://x/ada", FOAF "name", "\"Ada\"@en-GB"},
    {"_:b1", FOAF "knows", "http://x/ada"},
    {"http://x/bo", FOAF "age", "\"41\"^^<http://www.w3.org/2001/XMLSchema#integer>"},
    {"\"no subject\"", FOAF "knows", "\"not closed"},
};

static acq_status put_text(void *self, const char *bytes, size_t length, acq_error *error)
{
    acq_text_add_bytes(self, bytes, length);
    return acq_text_finish(self, error);
}

static void assert_written(const acq_graph *graph, acq_write_format format, const char *wanted)
{
    acq_text out;
    acq_text_init(&out);
    acq_write_params params = {.format = format};
    acq_text_sink sink = {put_text, &out};
    acq_error error = {0};
    if (acq_text_write(graph, &params, &sink, NULL, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    assert_string_equal(out.bytes, wanted);
    acq_text_deinit(&out);
}

static void test_plain_names_in_every_format(void **state)
{
    (void)state;
    acq_graph *graph = make_graph(plain, 5, false);
    assert_written(graph, ACQ_FORMAT_TSV,
                   "Ada\tknows\tBo, the second\n"
                   "Ada\tknows\tC\xc3\xa9line \"C\"\n"
                   "urn:anycq:Ada\tknows\tAda\n"
                   "Bo, the second\tborn in\thttp://x/London\n"
                   "_:x\tborn in\t\"quoted\"\n");
    assert_written(graph, ACQ_FORMAT_CSV,
                   "Ada,knows,\"Bo, the second\"\n"
                   "Ada,knows,\"C\xc3\xa9line \"\"C\"\"\"\n"
                   "urn:anycq:Ada,knows,Ada\n"
                   "\"Bo, the second\",born in,http://x/London\n"
                   "_:x,born in,\"\"\"quoted\"\"\"\n");
    assert_written(graph, ACQ_FORMAT_NT,
                   "<urn:anycq:Ada> <urn:anycq:knows> <urn:anycq:Bo%2C%20the%20second> .\n"
                   "<urn:anycq:Ada> <urn:anycq:knows> <urn:anycq:C%C3%A9line%20%22C%22> .\n"
                   "<urn:anycq:urn%3Aanycq%3AAda> <urn:anycq:knows> <urn:anycq:Ada> .\n"
                   "<urn:anycq:Bo%2C%20the%20second> <urn:anycq:born%20in> <http://x/London> .\n"
                   "<urn:anycq:_%3Ax> <urn:anycq:born%20in> <urn:anycq:%22quoted%22> .\n");
    acq_graph_free(graph);
}

static void test_rdf_keeps_its_terms_and_labels(void **state)
{
    (void)state;
    acq_graph *graph = make_graph(rdf, 5, true);
    assert_written(graph, ACQ_FORMAT_NT,
                   "<http://x/ada> <" FOAF "knows> <http://x/bo> .\n"
                   "_:b1 <" FOAF "knows> <http://x/ada> .\n"
                   "<urn:anycq:%22no%20subject%22> <" FOAF "knows> <urn:anycq:%22not%20closed> .\n"
                   "<http://x/ada> <" FOAF "name> \"Ada\"@en-GB .\n"
                   "<http://x/bo> <" FOAF
                   "age> \"41\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"
                   "<" FOAF "knows> <" RDFS_LABEL "> \"knows\" .\n"
                   "<http://x/ada> <" RDFS_LABEL "> \"Ada \\\"the first\\\"\" .\n"
                   "<http://x/bo> <" RDFS_LABEL "> \"Bo\" .\n"
                   "_:b1 <" RDFS_LABEL "> \"Bo\" .\n");
    acq_graph_free(graph);
}

static void test_a_tab_or_line_end_is_refused_in_tsv_only(void **state)
{
    (void)state;
    const char *const names[] = {"a\tb", "a\nb", "a\rb"};
    for (size_t i = 0; i < 3; i++) {
        triple fact = {"x", "r", names[i]};
        acq_graph *graph = make_graph(&fact, 1, false);
        acq_text out;
        acq_text_init(&out);
        acq_text_sink sink = {put_text, &out};
        acq_error error = {0};
        acq_write_params params = {.format = ACQ_FORMAT_TSV};
        assert_int_equal(acq_text_write(graph, &params, &sink, NULL, &error), ACQ_ERR_INPUT);
        assert_non_null(strstr(error.message, "write nt or csv instead"));
        assert_int_equal(out.length, 0);
        params.format = ACQ_FORMAT_CSV;
        assert_int_equal(acq_text_write(graph, &params, &sink, NULL, NULL), ACQ_OK);
        acq_text_deinit(&out);
        acq_graph_free(graph);
    }
}

/* Fails once `left` calls have been served. */
typedef struct short_sink {
    size_t left;
} short_sink;

static acq_status put_short(void *self, const char *bytes, size_t length, acq_error *error)
{
    (void)bytes;
    (void)length;
    short_sink *sink = self;
    if (sink->left-- == 0)
        return acq_fail(error, ACQ_ERR_IO, "the sink is full");
    return ACQ_OK;
}

static bool stop_at_once(void *context, const acq_progress *now)
{
    ++*(int *)context;
    assert_string_equal(now->phase, "writing");
    return false;
}

static void test_a_full_sink_and_a_stop_are_errors(void **state)
{
    (void)state;
    acq_graph *graph = make_graph(plain, 5, false);
    short_sink full = {0}, roomy = {1};
    acq_text_sink sink = {put_short, &full};
    acq_write_params params = {.format = ACQ_FORMAT_TSV};
    acq_error error = {0};
    assert_int_equal(acq_text_write(graph, &params, &sink, NULL, &error), ACQ_ERR_IO);
    int n_calls = 0;
    sink.self = &roomy;
    params.progress = stop_at_once;
    params.context = &n_calls;
    assert_int_equal(acq_text_write(graph, &params, &sink, NULL, NULL), ACQ_ERR_INTERRUPTED);
    assert_int_equal(n_calls, 1);
    acq_graph_free(graph);
}

static acq_status put_stream(void *self, const char *bytes, size_t length, acq_error *error)
{
    return fwrite(bytes, 1, length, self) == length ? ACQ_OK : acq_fail(error, ACQ_ERR_IO, "full");
}

static acq_graph *write_and_read(const acq_graph *graph, acq_write_format format,
                                 const char *ending, bool literals)
{
    char path[64];
    snprintf(path, sizeof path, "anycq-write-XXXXXX%s", ending);
    FILE *file = fdopen(mkstemps(path, (int)strlen(ending)), "w");
    assert_non_null(file);
    acq_write_params params = {.format = format};
    acq_text_sink sink = {put_stream, file};
    acq_write_report report;
    assert_int_equal(acq_text_write(graph, &params, &sink, &report, NULL), ACQ_OK);
    assert_int_equal(report.facts, acq_graph_get_n_facts(graph));
    fclose(file);
    const char *paths[] = {path};
    acq_read_params read = {.strict = true, .literals = literals};
    acq_graph *back = NULL;
    acq_error error = {0};
    if (acq_graph_read(paths, 1, &read, &back, NULL, &error) != ACQ_OK)
        fail_msg("%s:%zu:%zu: %s", error.file, error.line, error.column, error.message);
    unlink(path);
    return back;
}

static acq_ent find_same(const acq_graph *graph, acq_ent entity, const acq_graph *other)
{
    const char *key = acq_graph_get_entity_key(graph, entity);
    acq_ent found = acq_graph_find_entity(other, key, strlen(key));
    if (found == ACQ_NO_ID)
        fail_msg("no entity %s came back", key);
    assert_string_equal(acq_graph_get_entity_name(other, found),
                        acq_graph_get_entity_name(graph, entity));
    return found;
}

static void assert_same(const acq_graph *graph, const acq_graph *other)
{
    assert_int_equal(acq_graph_get_n_facts(graph), acq_graph_get_n_facts(other));
    assert_int_equal(acq_graph_get_n_entities(graph), acq_graph_get_n_entities(other));
    assert_int_equal(acq_graph_get_n_relations(graph), acq_graph_get_n_relations(other));
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r += 2) {
        const acq_links *links;
        const char *key = acq_graph_get_relation_key(graph, r);
        acq_rel s = acq_graph_find_relation(other, key, strlen(key));
        assert_int_equal(acq_graph_open_links(graph, r, &links, NULL), ACQ_OK);
        for (uint32_t i = 0; i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            acq_ent head = find_same(graph, links->heads[i], other);
            for (size_t j = 0; j < row.n; j++)
                assert_true(
                    acq_graph_has_fact(other, head, s, find_same(graph, row.tails[j], other)));
        }
    }
}

static void assert_comes_back(const triple *facts, size_t n, bool is_rdf, bool literals)
{
    static const struct {
        acq_write_format format;
        const char *ending;
    } cases[] = {{ACQ_FORMAT_NT, ".nt"}, {ACQ_FORMAT_TSV, ".tsv"}, {ACQ_FORMAT_CSV, ".csv"}};
    acq_graph *graph = make_graph(facts, n, is_rdf);
    for (size_t i = 0; i < (is_rdf ? 1 : sizeof cases / sizeof *cases); i++) {
        acq_graph *back = write_and_read(graph, cases[i].format, cases[i].ending, literals);
        assert_same(graph, back);
        acq_graph_free(back);
    }
    acq_graph_free(graph);
}

static void test_reading_gives_the_graph_back(void **state)
{
    (void)state;
    static const triple nodes[] = {
        {"http://x/ada", FOAF "knows", "http://x/bo"},
        {"_:b1", FOAF "knows", "http://x/ada"},
        {"http://x/bo", FOAF "likes", "\"not closed"},
        {"a plain name", "a plain relation", "urn:anycq:%"},
        {"http://x/a%20b", FOAF "knows", "C\xc3\xa9line"},
    };
    static const triple with_literals[] = {
        {"http://x/ada", FOAF "name", "\"Ada \\\"A\\\"\\n\"@en-GB"},
        {"http://x/bo", FOAF "age", "\"41\"^^<http://www.w3.org/2001/XMLSchema#integer>"},
        {"http://x/bo", FOAF "knows", "_:b1"},
        {"http://x/ada", RDFS_LABEL, "\"Ada \\\"the first\\\"\""},
        {"http://x/bo", RDFS_LABEL, "\"Bo\""},
        {"_:b1", RDFS_LABEL, "\"Bo\""},
        {FOAF "knows", RDFS_LABEL, "\"knows\""},
    };
    assert_comes_back(plain, 5, false, false);
    assert_comes_back(nodes, 5, true, false);
    assert_comes_back(with_literals, 7, true, true);
}

/* Names of up to 7 pieces that some format has to treat with care. */
static void make_name(uint64_t *seed, char *name)
{
    static const char *const pieces[] = {"a",         "B",          "7",
                                         " ",         "\"",         "<",
                                         ">",         "\\",         "%",
                                         "%4",        ":",          "_:",
                                         ",",         "urn:anycq:", "\t",
                                         "\n",        "\r",         "\x7f",
                                         "#",         "\xc3\xa9",   "\xe6\x9d\xb1",
                                         "?",         "^^",         "@",
                                         "http://x/", ".",          "\xf0\x9f\x8e\xac"};
    name[0] = '\0';
    size_t n = 1 + (*seed = acq_random_mix(*seed)) % 7;
    for (size_t i = 0; i < n; i++) {
        *seed = acq_random_mix(*seed + 1);
        strcat(name, pieces[*seed % (sizeof pieces / sizeof *pieces)]);
    }
}

static void test_any_name_comes_back(void **state)
{
    (void)state;
    enum { GRAPHS = 40, FACTS = 25, NAME = 96 };
    uint64_t seed = 20;
    for (int g = 0; g < GRAPHS; g++) {
        char names[FACTS][3][NAME];
        triple facts[FACTS];
        for (int i = 0; i < FACTS; i++) {
            for (int k = 0; k < 3; k++)
                make_name(&seed, names[i][k]);
            facts[i] = (triple){names[i][0], names[i][1], names[i][2]};
        }
        acq_graph *graph = make_graph(facts, FACTS, false);
        acq_graph *nt = write_and_read(graph, ACQ_FORMAT_NT, ".nt", false);
        assert_same(graph, nt);
        acq_graph *csv = write_and_read(graph, ACQ_FORMAT_CSV, ".csv", false);
        assert_same(graph, csv);
        acq_graph_free(csv);
        acq_graph_free(nt);
        acq_graph_free(graph);
    }
}

#ifdef ACQ_FAULTS
static acq_status put_nowhere(void *self, const char *bytes, size_t length, acq_error *error)
{
    (void)self;
    (void)bytes;
    (void)length;
    (void)error;
    return ACQ_OK;
}

static void test_writing_survives_every_failed_allocation(void **state)
{
    (void)state;
    acq_graph *graph = make_graph(rdf, 5, true);
    acq_text_sink sink = {put_nowhere, NULL};
    acq_write_params params = {.format = ACQ_FORMAT_NT};
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (; status != ACQ_OK && n < 1000; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_text_write(graph, &params, &sink, NULL, &error);
        acq_faults_fail_at(0);
        if (status != ACQ_OK)
            assert_int_equal(error.code, ACQ_ERR_MEMORY);
    }
    assert_int_equal(status, ACQ_OK);
    assert_true(n > 4);
    acq_graph_free(graph);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_names_in_every_format),
        cmocka_unit_test(test_rdf_keeps_its_terms_and_labels),
        cmocka_unit_test(test_a_tab_or_line_end_is_refused_in_tsv_only),
        cmocka_unit_test(test_a_full_sink_and_a_stop_are_errors),
        cmocka_unit_test(test_reading_gives_the_graph_back),
        cmocka_unit_test(test_any_name_comes_back),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_writing_survives_every_failed_allocation),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
