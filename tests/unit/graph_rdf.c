/* graph_rdf.c - what RDF files mean: IRIs, blank nodes, literals, labels, graphs, plain names. */
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
#include "graph/text/rdf.h"
#include "graph/text/read.h"
#include "graph/text/reader.h"

#define E     "http://e.org/"
#define RDF   "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
#define XSD   "http://www.w3.org/2001/XMLSchema#"
#define LABEL "<http://www.w3.org/2000/01/rdf-schema#label>"
#define PREFIX                                                                                     \
    "@prefix e: <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"

static acq_status read_text(const char *text, acq_text_syntax syntax, const acq_read_params *params,
                            acq_graph **graph, acq_read_report *report, acq_error *error)
{
    acq_memory_source source = {
        .name = "text", .bytes = text, .length = strlen(text), .syntax = syntax};
    return acq_graph_read_memory(&source, params, graph, report, error);
}

static acq_graph *must_read(const char *text, acq_text_syntax syntax, bool literals,
                            acq_read_report *report)
{
    acq_graph *graph = NULL;
    acq_error error = {0};
    acq_read_params params = {.strict = true, .literals = literals};
    if (read_text(text, syntax, &params, &graph, report, &error) != ACQ_OK)
        fail_msg("%zu:%zu: %s in %s", error.line, error.column, error.message, text);
    return graph;
}

static acq_ent find(const acq_graph *graph, const char *name)
{
    return acq_graph_find_entity(graph, name, strlen(name));
}

/* Does the graph hold this fact, by keys? */
static void expect_fact(const acq_graph *graph, const char *head, const char *rel, const char *tail)
{
    acq_ent h = find(graph, head), t = find(graph, tail);
    acq_rel r = acq_graph_find_relation(graph, rel, strlen(rel));
    if (h == ACQ_NO_ID || r == ACQ_NO_ID || t == ACQ_NO_ID || !acq_graph_has_fact(graph, h, r, t))
        fail_msg("%s %s %s is missing", head, rel, tail);
    assert_string_equal(acq_graph_get_entity_key(graph, h), head);
    assert_string_equal(acq_graph_get_relation_key(graph, r), rel);
    assert_string_equal(acq_graph_get_entity_key(graph, t), tail);
}

static void expect_name(const acq_graph *graph, const char *key, const char *name)
{
    acq_ent entity = find(graph, key);
    assert_int_not_equal(entity, ACQ_NO_ID);
    assert_string_equal(acq_graph_get_entity_key(graph, entity), key);
    assert_string_equal(acq_graph_get_entity_name(graph, entity), name);
    assert_int_equal(find(graph, name), entity);
}

static void test_terms_become_keys(void **state)
{
    (void)state;
    acq_read_report report;
    acq_graph *graph = must_read("# a comment\n"
                                 "<" E "a> <" E "r> <" E "b> . # another\r\n"
                                 "\t<" E "a><" E "r>_:x.y.\n\n"
                                 "_:x.y <" E "r> <urn:isbn:1> .\n"
                                 "<" E "caf\\u00E9> <" E "r> <" E "caf\xc3\xa9\\U0001F600> .\n",
                                 ACQ_NTRIPLES, false, &report);
    expect_fact(graph, E "a", E "r", E "b");
    expect_fact(graph, E "a", E "r", "_:x.y");
    expect_fact(graph, "_:x.y", E "r", "urn:isbn:1");
    expect_fact(graph, E "caf\xc3\xa9", E "r", E "caf\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(acq_graph_get_n_facts(graph), 4);
    assert_int_equal(report.lines, 4);
    assert_true(acq_graph_is_rdf(graph));
    acq_graph_free(graph);
}

static void test_turtle_prefixes_and_bases_expand(void **state)
{
    (void)state;
    acq_graph *graph = must_read("@prefix e: <" E "> .\r\nPREFIX : <" E "x#>\r\n"
                                 "@base <" E "dir/file> .\r\n"
                                 "e:a a :T ; e:r <b>, <../c>, <#d>, <> .\r\n"
                                 "BASE <other/>\n<z> <r> e:a\\,b .\n"
                                 "@prefix e: <" E "second/> . e:a e:r :T .\n",
                                 ACQ_TURTLE, false, NULL);
    expect_fact(graph, E "a", RDF "type", E "x#T");
    expect_fact(graph, E "a", E "r", E "dir/b");
    expect_fact(graph, E "a", E "r", E "c");
    expect_fact(graph, E "a", E "r", E "dir/file#d");
    expect_fact(graph, E "a", E "r", E "dir/file");
    expect_fact(graph, E "dir/other/z", E "dir/other/r", E "a,b");
    expect_fact(graph, E "second/a", E "second/r", E "x#T");
    assert_int_equal(acq_graph_get_n_facts(graph), 7);
    acq_graph_free(graph);
}

static void test_turtle_brackets_become_blank_nodes(void **state)
{
    (void)state;
    acq_read_report report;
    acq_graph *graph = must_read(PREFIX "e:a e:r [ e:s e:b ; e:t [] ] .\n( e:x e:y ) e:r () .\n"
                                        "_:n e:r _:m, _:n .\n",
                                 ACQ_TURTLE, false, &report);
    assert_int_equal(acq_graph_get_n_facts(graph), 3 + 5 + 2);
    assert_int_equal(report.lines, 10);
    assert_int_equal(find(graph, RDF "nil") != ACQ_NO_ID, true);
    expect_fact(graph, "_:n", E "r", "_:m");
    expect_fact(graph, "_:n", E "r", "_:n");
    /* a, b, x, y, nil, n, m, the bracket in a bracket, and two cells of the list */
    assert_int_equal(acq_graph_get_n_entities(graph), 11);
    acq_graph_free(graph);
}

static void test_named_graphs_merge(void **state)
{
    (void)state;
    acq_graph *trig = must_read("@prefix e: <" E "> .\ne:g { e:a e:r e:b }\n"
                                "GRAPH _:h { e:b e:r e:c . e:c e:r e:d }\n{ e:d e:r e:e }\n"
                                "e:e e:r e:f .\n",
                                ACQ_TRIG, false, NULL);
    acq_graph *quads = must_read("<" E "a> <" E "r> <" E "b> <" E "g> .\n"
                                 "<" E "b> <" E "r> <" E "c> _:h .\n"
                                 "<" E "c> <" E "r> <" E "d> _:h.\n"
                                 "<" E "d> <" E "r> <" E "e>.\n"
                                 "<" E "e> <" E "r> <" E "f> <" E "g>.# last\n",
                                 ACQ_NQUADS, false, NULL);
    assert_int_equal(acq_graph_get_n_facts(trig), 5);
    assert_true(acq_graph_get_fingerprint(trig) == acq_graph_get_fingerprint(quads));
    acq_graph_free(trig);
    acq_graph_free(quads);
}

/* What has escapes is kept apart until the end of the statement. */
static void test_every_term_of_a_quad_may_have_escapes(void **state)
{
    (void)state;
    acq_graph *graph = must_read("<" E "\\u0061> <" E "\\u0072> \"\\u0076\"^^<" E "\\u0074> "
                                 "<" E "\\u0067raph/with/a/name> .\n",
                                 ACQ_NQUADS, true, NULL);
    expect_fact(graph, E "a", E "r", "\"v\"^^<" E "t>");
    acq_graph_free(graph);
}

static void test_literals_are_left_out_and_counted(void **state)
{
    (void)state;
    acq_read_report report;
    acq_graph *graph = must_read(PREFIX "e:a e:r e:b ; e:s 1, 2.5, true, \"x\", \"y\"@en ;\n"
                                        " rdfs:label \"A\" .",
                                 ACQ_TURTLE, false, &report);
    assert_int_equal(report.lines, 7);
    assert_int_equal(report.literals, 5);
    assert_int_equal(report.labels, 1);
    assert_int_equal(acq_graph_get_n_entities(graph), 2);
    assert_int_equal(acq_graph_get_n_relations(graph), 2);
    expect_name(graph, E "a", "A");
    acq_graph_free(graph);
}

static void test_literals_are_entities_if_asked(void **state)
{
    (void)state;
    acq_read_report report;
    const char *const keys[] = {"\"1\"^^<" XSD "integer>",
                                "\"2.5\"^^<" XSD "decimal>",
                                "\"1e3\"^^<" XSD "double>",
                                "\"true\"^^<" XSD "boolean>",
                                "\"x\"",
                                "\"typed\"",
                                "\"y\"@en-GB",
                                "\"\"",
                                "\"a\\\"b\\\\c\\nd\te\"",
                                "\"long \\\"one\\\"\"",
                                "\"own\"^^<" E "type>",
                                "\"-5\"^^<" XSD "integer>",
                                "\"5\"",
                                "\"A\""};
    acq_graph *graph =
        must_read(PREFIX "e:a e:r 1, 2.5, 1e3, true, \"x\", \"typed\"^^<" XSD "string>,\n"
                         "\"y\"@en-GB, '', \"a\\\"b\\\\c\\nd\\te\", '''long \"one\"''',\n"
                         "\"own\"^^e:type, -5. e:a e:r '5'. e:a rdfs:label \"A\" .",
                  ACQ_TURTLE, true, &report);
    assert_int_equal(report.literals, 0);
    assert_int_equal(report.labels, 1);
    assert_int_equal(acq_graph_get_n_facts(graph), sizeof keys / sizeof keys[0]);
    for (size_t i = 0; i + 1 < sizeof keys / sizeof keys[0]; i++)
        expect_fact(graph, E "a", E "r", keys[i]);
    expect_fact(graph, E "a", "http://www.w3.org/2000/01/rdf-schema#label", "\"A\"");
    expect_name(graph, E "a", "A");
    acq_graph_free(graph);
}

static void test_the_best_label_is_shown(void **state)
{
    (void)state;
    acq_read_report report;
    acq_graph *graph =
        must_read("<" E "a> " LABEL " \"Paris (fr)\"@fr .\n" /* before its first fact */
                  "<" E "a> <" E "r> <" E "b> .\n"
                  "<" E "a> " LABEL " \"Paris (en)\"@en .\n"
                  "<" E "a> " LABEL " \"Paris (GB)\"@en-GB .\n"
                  "<" E "b> " LABEL " \"Stadt\"@de .\n"
                  "<" E "b> " LABEL " \"ville\"@fr .\n"
                  "<" E "c> <" E "r> <" E "d> .\n"
                  "<" E "c> " LABEL " \"english\"@EN .\n"
                  "<" E "c> " LABEL " \"plain\" .\n"
                  "<" E "c> " LABEL " \"typed\"^^<" XSD "string> .\n"
                  "<" E "d> " LABEL " \"d\\u00E9j\\u00e0 \\\"vu\\\"\" .\n"
                  "<" E "r> " LABEL " \"relates to\" .\n"
                  "<" E "unused> " LABEL " \"nobody\" .\n"
                  "<" E "e> " LABEL " \"\" .\n"
                  "<" E "e> <" E "r> <" E "a> .\n",
                  ACQ_NTRIPLES, false, &report);
    assert_int_equal(report.labels, 12);
    assert_int_equal(acq_graph_get_n_facts(graph), 3);
    expect_name(graph, E "a", "Paris (en)");
    expect_name(graph, E "b", "Stadt");
    expect_name(graph, E "c", "plain");
    expect_name(graph, E "d", "d\xc3\xa9j\xc3\xa0 \"vu\"");
    expect_name(graph, E "e", E "e");
    assert_string_equal(acq_graph_get_relation_name(graph, 0), "relates to");
    assert_string_equal(acq_graph_get_relation_name(graph, 1), "relates to");
    assert_int_equal(acq_graph_find_relation(graph, "relates to", 10), 0);
    assert_int_equal(acq_graph_find_relation(graph, E "r", strlen(E "r")), 0);
    assert_int_equal(acq_graph_find_relation(graph, "r", 1), 0);
    assert_int_equal(find(graph, "nobody"), ACQ_NO_ID);
    acq_graph_free(graph);
}

static void test_labels_that_are_not_alone_name_their_key(void **state)
{
    (void)state;
    acq_graph *graph = must_read(
        PREFIX "e:a e:r e:b, e:c, e:d, e:f, e:g, <urn:anycq:Paris> .\n"
               "e:a rdfs:label \"Paris\" .\n"                        /* the key of another */
               "e:b rdfs:label \"same\" . e:c rdfs:label \"same\" ." /* shared */
               "e:d rdfs:label \"http://e.org/d\" ."                 /* its own key */
               "e:f rdfs:label \"same <http://e.org/b>\" ."          /* what b would get */
               "e:g rdfs:label \"r\" . e:r rdfs:label \"r\" .",      /* an entity, a relation */
        ACQ_TURTLE, false, NULL);
    expect_name(graph, E "a", "Paris <http://e.org/a>");
    expect_name(graph, "Paris", "Paris");
    expect_name(graph, E "b", E "b");
    expect_name(graph, E "c", "same <http://e.org/c>");
    expect_name(graph, E "d", E "d");
    expect_name(graph, E "f", "same <http://e.org/b>");
    expect_name(graph, E "g", "r");
    assert_string_equal(acq_graph_get_relation_name(graph, 0), "r");
    acq_graph_free(graph);
}

static void test_a_label_that_is_no_literal_is_a_fact(void **state)
{
    (void)state;
    acq_read_report report;
    acq_graph *graph = must_read("<" E "a> " LABEL " <" E "b> .\n", ACQ_NTRIPLES, false, &report);
    expect_fact(graph, E "a", "http://www.w3.org/2000/01/rdf-schema#label", E "b");
    assert_int_equal(report.labels, 0);
    acq_graph_free(graph);
}

static void test_plain_names_come_back_from_rdf(void **state)
{
    (void)state;
    acq_graph *graph = must_read("<urn:anycq:New%20York> <urn:anycq:in%2Fof> <urn:anycq:a%25b> .\n"
                                 "<urn:anycq:caf%C3%A9> <urn:anycq:in%2fof> <urn:anycq:_%3Ax> .\n",
                                 ACQ_NTRIPLES, false, NULL);
    expect_fact(graph, "New York", "in/of", "a%b");
    expect_fact(graph, "caf\xc3\xa9", "in/of", "_:x");
    assert_false(acq_graph_is_rdf(graph));
    acq_graph_free(graph);
}

static void test_a_base_may_come_from_outside(void **state)
{
    (void)state;
    acq_read_params params = {.strict = true, .base = "http://b.org/dir/x"};
    acq_graph *lines = NULL, *turtle = NULL;
    assert_int_equal(read_text("<a> <../r> <#c> .\n", ACQ_NTRIPLES, &params, &lines, NULL, NULL),
                     ACQ_OK);
    assert_int_equal(read_text("<a> <../r> <#c> .\n", ACQ_TURTLE, &params, &turtle, NULL, NULL),
                     ACQ_OK);
    expect_fact(lines, "http://b.org/dir/a", "http://b.org/r", "http://b.org/dir/x#c");
    assert_true(acq_graph_get_fingerprint(lines) == acq_graph_get_fingerprint(turtle));
    acq_graph_free(lines);
    acq_graph_free(turtle);
    const char *const bad[] = {"", "x", "/x", "http://e.org/a b", "1:x", ":"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        acq_error error = {0};
        acq_graph *none = NULL;
        params.base = bad[i];
        assert_int_equal(read_text("<a> <r> <c> .\n", ACQ_TURTLE, &params, &none, NULL, &error),
                         ACQ_ERR_USAGE);
        assert_non_null(strstr(error.message, "is not a whole IRI"));
    }
}

/* The examples of RFC 3986, section 5.4, and what they leave out. */
static void test_relative_iris_are_resolved_by_the_rfc(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q#s"},
        {"g#s", "http://a/b/c/g#s"},
        {"g?y#s", "http://a/b/c/g?y#s"},
        {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"},
        {"g;x?y#s", "http://a/b/c/g;x?y#s"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
        {"g#s/./x", "http://a/b/c/g#s/./x"},
        {"g#s/../x", "http://a/b/c/g#s/../x"},
        {"//g/x/../y/./z/..", "http://g/y/"},
        {"g/..", "http://a/b/c/"},
        {"?", "http://a/b/c/d;p?"},
        {"#", "http://a/b/c/d;p?q#"},
    };
    static const char *const others[][3] = {{"http://a", "g", "http://a/g"},
                                            {"http://a", "", "http://a"},
                                            {"http://a?q#f", "#s", "http://a?q#s"},
                                            {"http://a/b/../c/d", "e", "http://a/c/e"},
                                            {"http://a/b/../c/d", "#s", "http://a/b/../c/d#s"},
                                            {"urn:a:b", "c", "urn:c"},
                                            {"file:///x/y", "../z", "file:///z"},
                                            {"http://a/b/", "..//c", "http://a//c"}};
    acq_text out;
    acq_text_init(&out);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        acq_text_clear(&out);
        acq_iri_resolve(&out, cases[i][0], strlen(cases[i][0]), "http://a/b/c/d;p?q");
        assert_string_equal(out.bytes, cases[i][1]);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        acq_text_clear(&out);
        acq_iri_resolve(&out, others[i][1], strlen(others[i][1]), others[i][0]);
        assert_string_equal(out.bytes, others[i][2]);
    }
    acq_text_deinit(&out);
}

/* Words of every kind, with the end of what was read so far behind each of their bytes. */
static void test_turtle_reads_the_same_however_the_bytes_come(void **state)
{
    (void)state;
    const char *text =
        "\xEF\xBB\xBF@prefix e: <" E "> . PREFIX f\xc3\xa9.g: <" E "f/>\n"
        "@base <" E "d/> .\n"
        "e:a a e:B ; e:r _:b1, _:B1, _:x.y. <c> e:\\,d%20.e <\\u00E9> .\n"
        "e:b e:r \"\", '''a'b\\'''', \"\"\"l\n\"\"x\"\"\" ^^ e:t, 'y'@en-GB, 1, -2.5,\n"
        "+1.e-3.\n[ e:r ( e:x true [] () ) ] . # end\n"
        "f\xc3\xa9.g:z e:r <../q?a#b>, .5e1, false .\n"
        "graph e:g { e:a e:r e:c . [] e:r e:d }\n{ } e:i { e:j e:k e:l }";
    acq_read_params params = {.strict = true, .literals = true};
    acq_graph *whole = must_read(text, ACQ_TRIG, true, NULL);
    assert_int_equal(acq_graph_get_n_facts(whole), 27);
    for (size_t most = 1; most < 40; most++) {
        acq_memory_source source = {.name = "text",
                                    .bytes = text,
                                    .length = strlen(text),
                                    .syntax = ACQ_TRIG,
                                    .piece_bytes = most};
        acq_graph *graph = NULL;
        assert_int_equal(acq_graph_read_memory(&source, &params, &graph, NULL, NULL), ACQ_OK);
        assert_true(acq_graph_get_fingerprint(graph) == acq_graph_get_fingerprint(whole));
        acq_graph_free(graph);
    }
    acq_graph_free(whole);
}

/* A string of megabytes grows the buffer, and many prefixes are found in a table. */
static void test_long_words_and_many_prefixes_are_read(void **state)
{
    (void)state;
    enum { PREFIXES = 50000, LONG = 3 << 20 };
    acq_text text;
    acq_read_report report;
    acq_text_init(&text);
    for (int i = 0; i < PREFIXES; i++)
        acq_text_format(&text, "@prefix p%d: <" E "%d/> .\np%d:a p%d:r p%d:b .\n", i, i, i, i / 2,
                        i / 3);
    acq_text_add(&text, "<" E "a> <" E "r> \"\"\"");
    for (int i = 0; i < LONG / 16; i++)
        acq_text_add(&text, "sixteen bytes \\n\n");
    acq_text_add(&text, "\"\"\" .\n@prefix p1: <" E "other/x/> . p1:a <" E "r> ?");
    acq_graph *graph = NULL;
    acq_error error = {0};
    assert_int_equal(read_text(text.bytes, ACQ_TURTLE, NULL, &graph, &report, &error),
                     ACQ_ERR_PARSE);
    assert_int_equal(error.line, 2 * PREFIXES + LONG / 16 + 2);
    text.length--;
    acq_text_add(&text, "<" E "z> .");
    graph = must_read(text.bytes, ACQ_TURTLE, false, &report);
    assert_int_equal(report.lines, PREFIXES + 2);
    assert_int_equal(report.literals, 1);
    expect_fact(graph, E "other/x/a", E "r", E "z");
    expect_fact(graph, E "1/a", E "0/r", E "0/b");
    acq_graph_free(graph);
    acq_text_deinit(&text);
}

/* Brackets are called b1, b2, ...: a node of the text never is. */
static void test_labels_of_the_text_are_not_those_of_brackets(void **state)
{
    (void)state;
    acq_graph *graph =
        must_read(PREFIX "_:B1 e:r e:x . _:b1 e:r e:y . [] e:r e:z . _:b1x e:r e:u .\n"
                         "_:B1 e:s e:x . _:b1 e:s e:y . _:b0_1 e:r e:v . _:b e:r e:w .",
                  ACQ_TURTLE, false, NULL);
    assert_int_equal(acq_graph_get_n_entities(graph), 6 + 6);
    expect_fact(graph, "_:B1", E "r", E "x");
    expect_fact(graph, "_:b0_1", E "r", E "y");
    expect_fact(graph, "_:b1", E "r", E "z");
    expect_fact(graph, "_:B1x", E "r", E "u");
    expect_fact(graph, "_:B1", E "s", E "x");
    expect_fact(graph, "_:b0_1", E "s", E "y");
    expect_fact(graph, "_:B0_1", E "r", E "v");
    expect_fact(graph, "_:b", E "r", E "w");
    acq_graph_free(graph);
}

static void note_place(void *context, const acq_error *bad)
{
    acq_text_format(context, "%zu:%zu ", bad->line, bad->column);
}

static void test_statements_with_relative_iris_are_left_out(void **state)
{
    (void)state;
    acq_text places;
    acq_text_init(&places);
    acq_read_params params = {.bad_line = note_place, .context = &places};
    acq_read_report report;
    acq_graph *graph = NULL;
    assert_int_equal(read_text("<a> <b> <c> .\n<" E "a> <" E "r> <x>,\n <" E "b>, <y> .\n",
                               ACQ_TURTLE, &params, &graph, &report, NULL),
                     ACQ_OK);
    assert_string_equal(places.bytes, "1:1 2:35 3:20 ");
    assert_int_equal(report.bad, 3);
    assert_int_equal(report.lines, 4);
    assert_int_equal(acq_graph_get_n_facts(graph), 1);
    acq_text_deinit(&places);
    acq_graph_free(graph);
}

/* Lines in the middle of a file far larger than a chunk, with line ends of both kinds. */
static void test_places_in_turtle_are_exact(void **state)
{
    (void)state;
    for (size_t n = 1; n < 12000; n = n * 3 + 1) {
        acq_text text;
        acq_error error = {0};
        acq_graph *graph = NULL;
        acq_text_init(&text);
        acq_text_add(&text, n % 2 == 0 ? "\xEF\xBB\xBF" : "");
        for (size_t i = 1; i < n; i++)
            acq_text_format(&text, "<" E "%zu> <" E "r> \"\xc3\xa9\" .%s", i,
                            i % 3 == 0 ? "\r\n" : "\n");
        acq_text_add(&text, "<" E "a> <" E "r> nonsense .\n");
        assert_int_equal(read_text(text.bytes, ACQ_TURTLE, NULL, &graph, NULL, &error),
                         ACQ_ERR_PARSE);
        assert_int_equal(error.line, n);
        assert_int_equal(error.column, 35);
        acq_text_deinit(&text);
    }
}

static void write_file(char *path, const char *text)
{
    int file = mkstemps(path, (int)strlen(strrchr(path, '.')));
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

static void test_blank_nodes_of_two_files_differ(void **state)
{
    (void)state;
    char a[] = "blank-XXXXXX.nt", b[] = "blank-XXXXXX.ttl";
    write_file(a, "_:x <" E "r> _:y .\n_:x <" E "r> <" E "b> .\n<" E "b> " LABEL " \"B\" .\n");
    write_file(b, "_:x <" E "r> <" E "b> .\n[] <" E "r> <" E "b> .\n<" E "b> " LABEL " \"no\" .\n");
    const char *const paths[] = {a, b};
    acq_graph *one = NULL, *two = NULL;
    assert_int_equal(acq_graph_read(paths, 1, NULL, &one, NULL, NULL), ACQ_OK);
    assert_int_equal(acq_graph_read(paths, 2, NULL, &two, NULL, NULL), ACQ_OK);
    expect_fact(one, "_:x", E "r", "_:y");
    assert_int_equal(acq_graph_get_n_entities(one), 3);
    expect_fact(two, "_:f1_x", E "r", "_:f1_y");
    expect_fact(two, "_:f2_x", E "r", E "b");
    assert_int_equal(acq_graph_get_n_entities(two), 5);
    expect_name(two, E "b", "B");
    acq_graph_free(one);
    acq_graph_free(two);
    unlink(a);
    unlink(b);
}

/* A random term of N-Triples that Turtle reads in the same way. */
static void add_term(acq_text *text, acq_random *random, int which)
{
    static const char *const pieces[] = {"a",        "B",   "7",       "-",           "_",
                                         "\xc3\xa9", "x.y", "\\u00E9", "\\U0001F600", "%20"};
    static const char *const inside[] = {"a",   " ",   "\\n",     "\\\"", "\\\\",
                                         "\\t", "<>",  "\\u0041", "#",    "\xe2\x82\xac",
                                         "'",   "@en", "\\r",     "."};
    static const char *const ends[] = {"", "", "@en", "@de-AT", "^^<" XSD "string>", "^^<" E "t>"};
    uint64_t kind = acq_random_below(random, which == 1 ? 1 : which == 0 ? 4 : 8);
    if (kind < 3) {
        acq_text_add(text, "<" E);
        for (uint64_t i = acq_random_below(random, 4); i > 0; i--)
            acq_text_add(text, pieces[acq_random_below(random, 10)]);
        acq_text_add(text, ">");
    } else if (kind == 3) {
        acq_text_format(text, "_:n%u", (unsigned)acq_random_below(random, 9));
    } else {
        acq_text_add_char(text, '"');
        for (uint64_t i = acq_random_below(random, 6); i > 0; i--)
            acq_text_add(text, inside[acq_random_below(random, 14)]);
        acq_text_format(text, "\"%s", ends[acq_random_below(random, 6)]);
    }
}

static void write_statements(acq_text *text, acq_random *random, size_t n)
{
    static const char *const spaces[] = {" ", "\t", "  ", " \t "};
    for (size_t i = 0; i < n; i++) {
        for (int which = 0; which < 3; which++) {
            if (which == 1 && acq_random_below(random, 5) == 0)
                acq_text_add(text, LABEL);
            else
                add_term(text, random, which);
            acq_text_add(text, spaces[acq_random_below(random, 4)]);
        }
        acq_text_add(text, acq_random_below(random, 9) == 0 ? ". # <comment>\r\n" : ".\n");
    }
}

static void expect_same_names(const acq_graph *a, const acq_graph *b)
{
    assert_int_equal(acq_graph_get_n_entities(a), acq_graph_get_n_entities(b));
    for (acq_ent e = 0; e < acq_graph_get_n_entities(a); e++) {
        assert_string_equal(acq_graph_get_entity_key(a, e), acq_graph_get_entity_key(b, e));
        assert_string_equal(acq_graph_get_entity_name(a, e), acq_graph_get_entity_name(b, e));
    }
}

/* N-Triples is a part of Turtle: two parsers that share next to no code must agree. */
static void test_lines_mean_the_same_in_turtle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        acq_random random = acq_random_start(seed, 8);
        acq_read_report lines, turtle;
        acq_text text;
        acq_text_init(&text);
        acq_text_add(&text, "<" E "first> <" E "r> <" E "b> .\n");
        write_statements(&text, &random, 60);
        bool literals = seed % 2 == 0;
        acq_graph *a = must_read(text.bytes, ACQ_NTRIPLES, literals, &lines);
        acq_graph *b = must_read(text.bytes, ACQ_TURTLE, literals, &turtle);
        assert_memory_equal(&lines, &turtle, sizeof lines);
        assert_true(acq_graph_get_fingerprint(a) == acq_graph_get_fingerprint(b));
        expect_same_names(a, b);
        acq_graph_free(a);
        acq_graph_free(b);
        acq_text_deinit(&text);
    }
}

static acq_status put(void *self, const char *bytes, size_t length, acq_error *error)
{
    acq_text_add_bytes(self, bytes, length);
    return acq_text_finish(self, error);
}

static void write_graph(const acq_graph *graph, acq_text *out)
{
    acq_write_params params = {.format = ACQ_FORMAT_NT};
    acq_text_sink sink = {.put = put, .self = out};
    acq_text_init(out);
    assert_int_equal(acq_text_write(graph, &params, &sink, NULL, NULL), ACQ_OK);
}

/* Every fact of one relation, by keys, is in the other graph. */
static void expect_facts(const acq_graph *graph, acq_rel relation, const acq_graph *other)
{
    const char *key = acq_graph_get_relation_key(graph, relation);
    acq_rel r = acq_graph_find_relation(other, key, strlen(key));
    const acq_links *links = NULL;
    assert_int_not_equal(r, ACQ_NO_ID);
    assert_int_equal(acq_graph_open_links(graph, relation, &links, NULL), ACQ_OK);
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        acq_ent head = find(other, acq_graph_get_entity_key(graph, links->heads[i]));
        for (size_t j = 0; j < row.n; j++)
            assert_true(acq_graph_has_fact(
                other, head, r, find(other, acq_graph_get_entity_key(graph, row.tails[j]))));
    }
}

static void test_an_export_reads_back_as_the_same_graph(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        acq_random random = acq_random_start(seed, 13);
        acq_text text, exported;
        acq_text_init(&text);
        acq_text_add(&text, "<urn:anycq:plain%20name> <" E "r> <" E "b> .\n");
        write_statements(&text, &random, 50);
        acq_graph *graph = must_read(text.bytes, ACQ_NTRIPLES, true, NULL);
        write_graph(graph, &exported);
        acq_graph *again = must_read(exported.bytes, ACQ_NTRIPLES, true, NULL);
        assert_int_equal(acq_graph_get_n_facts(graph), acq_graph_get_n_facts(again));
        assert_int_equal(acq_graph_get_n_entities(graph), acq_graph_get_n_entities(again));
        for (acq_ent e = 0; e < acq_graph_get_n_entities(graph); e++)
            expect_name(again, acq_graph_get_entity_key(graph, e),
                        acq_graph_get_entity_name(graph, e));
        for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r += 2)
            expect_facts(graph, r, again);
        acq_graph_free(graph);
        acq_graph_free(again);
        acq_text_deinit(&text);
        acq_text_deinit(&exported);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms_become_keys),
        cmocka_unit_test(test_turtle_prefixes_and_bases_expand),
        cmocka_unit_test(test_turtle_brackets_become_blank_nodes),
        cmocka_unit_test(test_named_graphs_merge),
        cmocka_unit_test(test_every_term_of_a_quad_may_have_escapes),
        cmocka_unit_test(test_literals_are_left_out_and_counted),
        cmocka_unit_test(test_literals_are_entities_if_asked),
        cmocka_unit_test(test_the_best_label_is_shown),
        cmocka_unit_test(test_labels_that_are_not_alone_name_their_key),
        cmocka_unit_test(test_a_label_that_is_no_literal_is_a_fact),
        cmocka_unit_test(test_plain_names_come_back_from_rdf),
        cmocka_unit_test(test_a_base_may_come_from_outside),
        cmocka_unit_test(test_relative_iris_are_resolved_by_the_rfc),
        cmocka_unit_test(test_turtle_reads_the_same_however_the_bytes_come),
        cmocka_unit_test(test_long_words_and_many_prefixes_are_read),
        cmocka_unit_test(test_labels_of_the_text_are_not_those_of_brackets),
        cmocka_unit_test(test_statements_with_relative_iris_are_left_out),
        cmocka_unit_test(test_places_in_turtle_are_exact),
        cmocka_unit_test(test_blank_nodes_of_two_files_differ),
        cmocka_unit_test(test_lines_mean_the_same_in_turtle),
        cmocka_unit_test(test_an_export_reads_back_as_the_same_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
