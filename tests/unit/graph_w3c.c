/* graph_w3c.c - the W3C's tests of N-Triples, N-Quads, Turtle and TriG (RDF 1.1), where they are
 * present: $ACQ_SHARED/w3c/rdf11 or ../shared/w3c/rdf11 beside the sources. Every entry of the
 * manifests is run:
 *
 *   positive syntax   is read without a complaint
 *   negative syntax   is refused
 *   eval              is read as the same statements as its result in N-Triples or N-Quads
 *
 * Statements are compared merged and with their named graphs, up to the names of blank nodes, by colours: a node's colour is a hash of its statements with the colours of its
 * neighbours, refined as often as there are nodes. */
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
#include "graph/text/reader.h"

#define MF   "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
#define RDFT "http://www.w3.org/ns/rdftest#"
#define TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#define HERE "manifest:/"

typedef struct suite {
    const char *folder, *name; /* rdf-turtle, Turtle */
    size_t n_tests;
} suite;

typedef struct counts {
    size_t n, n_failed;
} counts;

static bool find_folder(const char *folder, char *path, size_t room)
{
    const char *shared = getenv("ACQ_SHARED");
    if (shared != NULL)
        snprintf(path, room, "%s/w3c/rdf11/%s", shared, folder);
    else
        snprintf(path, room, ACQ_SOURCE_DIR "/../shared/w3c/rdf11/%s", folder);
    return access(path, R_OK) == 0;
}

/* A file that holds no statement is no error to a parser. */
static acq_status read_file(const char *folder, const char *name, const char *base,
                            acq_graph **graph, acq_error *error)
{
    char path[4096], whole_base[4096];
    const char *const paths[] = {path};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(whole_base, sizeof whole_base, "%s%s", base == NULL ? "" : base, name);
    acq_read_params params = {
        .strict = true, .literals = true, .named_graphs = true,
        .base = base == NULL ? NULL : whole_base};
    acq_status status = acq_graph_read(paths, 1, &params, graph, NULL, error);
    bool is_empty = status == ACQ_ERR_INPUT && strstr(error->message, "the input is empty") != NULL;
    return is_empty ? ACQ_OK : status;
}

static bool is_blank(const char *key)
{
    return strncmp(key, "_:", 2) == 0;
}

/* The statements with the named graphs that they stand in. */
static uint64_t refine_graphs(const acq_graph *graph, const uint64_t *colours, uint64_t *next)
{
    uint64_t sum = 0;
    const acq_quads *quads = NULL;
    assert_int_equal(acq_graph_open_quads(graph, &quads, NULL), ACQ_OK);
    for (size_t i = 0; quads != NULL && i < quads->n; i++) {
        const acq_quad *item = &quads->items[i];
        const char *relation = acq_graph_get_relation_key(graph, item->relation);
        const char *name = acq_names_get(&quads->names, item->graph);
        acq_ent node = acq_graph_find_entity(graph, name, strlen(name));
        uint64_t colour = node != ACQ_NO_ID ? colours[node]
                          : is_blank(name)  ? 3
                                            : acq_hash_bytes(name, strlen(name), 0);
        uint64_t hash = acq_hash_word(acq_hash_bytes(relation, strlen(relation), 9), colour);
        hash = acq_random_mix(
            acq_hash_word(acq_hash_word(hash, colours[item->head]), colours[item->tail]));
        sum += hash;
        if (is_blank(acq_graph_get_entity_key(graph, item->head)))
            next[item->head] += acq_random_mix(hash + 1);
        if (is_blank(acq_graph_get_entity_key(graph, item->tail)))
            next[item->tail] += acq_random_mix(hash + 2);
        if (node != ACQ_NO_ID && is_blank(name))
            next[node] += acq_random_mix(hash + 3);
    }
    return sum;
}

/* One round of refinement; the sum over all statements with the colours before it. */
static uint64_t refine(const acq_graph *graph, const uint64_t *colours, uint64_t *next)
{
    for (acq_ent e = 0; e < acq_graph_get_n_entities(graph); e++)
        next[e] = colours[e];
    uint64_t sum = refine_graphs(graph, colours, next);
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r += 2) {
        const acq_links *links = NULL;
        const char *key = acq_graph_get_relation_key(graph, r);
        uint64_t name = acq_hash_bytes(key, strlen(key), 7);
        assert_int_equal(acq_graph_open_links(graph, r, &links, NULL), ACQ_OK);
        for (uint32_t i = 0; i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            acq_ent head = links->heads[i];
            for (size_t j = 0; j < row.n; j++) {
                acq_ent tail = row.tails[j];
                uint64_t hash = acq_random_mix(
                    acq_hash_word(acq_hash_word(name, colours[head]), colours[tail]));
                sum += hash;
                if (is_blank(acq_graph_get_entity_key(graph, head)))
                    next[head] += acq_random_mix(hash + 1);
                if (is_blank(acq_graph_get_entity_key(graph, tail)))
                    next[tail] += acq_random_mix(hash + 2);
            }
        }
    }
    return sum;
}

/* A hash of the statements that the names of blank nodes do not change; 0: none. */
static uint64_t hash_statements(const acq_graph *graph)
{
    if (graph == NULL)
        return 0;
    size_t n = acq_graph_get_n_entities(graph);
    uint64_t *colours = calloc(n, sizeof *colours), *next = calloc(n, sizeof *next), sum = 0;
    assert_true(colours != NULL && next != NULL);
    for (acq_ent e = 0; e < n; e++) {
        const char *key = acq_graph_get_entity_key(graph, e);
        colours[e] = is_blank(key) ? 1 : acq_hash_bytes(key, strlen(key), 0);
    }
    for (size_t round = 0; round <= n; round++) {
        sum = refine(graph, colours, next);
        memcpy(colours, next, n * sizeof *colours);
    }
    free(colours);
    free(next);
    return sum + acq_graph_get_n_facts(graph);
}

static bool is_same(const acq_graph *a, const acq_graph *b)
{
    return hash_statements(a) == hash_statements(b) &&
           (a == NULL || acq_graph_get_n_entities(a) == acq_graph_get_n_entities(b));
}

/* The other end of an entry's property, without the manifest's base; NULL: it has none. */
static const char *get_property(const acq_graph *manifest, acq_ent entry, const char *relation)
{
    const acq_links *links = NULL;
    acq_rel r = acq_graph_find_relation(manifest, relation, strlen(relation));
    if (r == ACQ_NO_ID)
        return NULL;
    assert_int_equal(acq_graph_open_links(manifest, r, &links, NULL), ACQ_OK);
    acq_row row = acq_links_get_row(links, entry);
    if (row.n == 0)
        return NULL;
    const char *key = acq_graph_get_entity_key(manifest, row.tails[0]);
    return strncmp(key, HERE, strlen(HERE)) == 0 ? key + strlen(HERE) : key;
}

/* Runs one entry; false: not as expected. */
static bool run_entry(const acq_graph *manifest, acq_ent entry, const char *folder,
                      const char *base, const char *kind)
{
    acq_graph *graph = NULL, *expected = NULL;
    acq_error error = {0};
    const char *action = get_property(manifest, entry, MF "action");
    const char *result = get_property(manifest, entry, MF "result");
    bool is_line = strstr(kind, "NTriples") != NULL || strstr(kind, "NQuads") != NULL;
    assert_non_null(action);
    acq_status status = read_file(folder, action, is_line ? NULL : base, &graph, &error);
    bool is_good = status == ACQ_OK;
    if (strstr(kind, "Negative") != NULL) {
        is_good = !is_good && (status == ACQ_ERR_PARSE || status == ACQ_ERR_INPUT);
    } else if (is_good && strstr(kind, "Eval") != NULL) {
        assert_non_null(result);
        is_good = read_file(folder, result, NULL, &expected, &error) == ACQ_OK &&
                  is_same(graph, expected);
    }
    if (!is_good)
        print_message("%s %s: %zu:%zu: %s\n", kind, action, error.line, error.column,
                      status == ACQ_OK ? "read otherwise than expected" : error.message);
    acq_graph_free(graph);
    acq_graph_free(expected);
    return is_good;
}

static void run_kind(const acq_graph *manifest, const char *kind, const char *folder,
                     const char *base, counts *count)
{
    const acq_links *links = NULL;
    acq_rel inverse = acq_inverse(acq_graph_find_relation(manifest, TYPE, strlen(TYPE)));
    acq_ent type = acq_graph_find_entity(manifest, kind, strlen(kind));
    if (type == ACQ_NO_ID)
        return;
    assert_int_equal(acq_graph_open_links(manifest, inverse, &links, NULL), ACQ_OK);
    acq_row entries = acq_links_get_row(links, type);
    for (size_t i = 0; i < entries.n; i++) {
        count->n++;
        count->n_failed +=
            !run_entry(manifest, entries.tails[i], folder, base, kind + strlen(RDFT));
    }
}

static void run_suite(const suite *of)
{
    static const char *const kinds[] = {"PositiveSyntax", "NegativeSyntax", "Eval", "NegativeEval"};
    char folder[2048], path[4096], kind[200];
    const char *const paths[] = {path};
    acq_graph *manifest = NULL;
    acq_error error = {0};
    counts count = {0};
    if (!find_folder(of->folder, folder, sizeof folder)) {
        print_message("skipped: %s is not there\n", folder);
        return;
    }
    snprintf(path, sizeof path, "%s/manifest.ttl", folder);
    acq_read_params params = {.strict = true, .base = HERE};
    if (acq_graph_read(paths, 1, &params, &manifest, NULL, &error) != ACQ_OK)
        fail_msg("%s:%zu: %s", path, error.line, error.message);
    acq_ent self = acq_graph_find_entity(manifest, HERE, strlen(HERE));
    const char *base = get_property(manifest, self, MF "assumedTestBase");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        snprintf(kind, sizeof kind, RDFT "Test%s%s", of->name, kinds[i]);
        run_kind(manifest, kind, folder, base, &count);
    }
    print_message("%s: %zu tests, %zu failed\n", of->folder, count.n, count.n_failed);
    acq_graph_free(manifest);
    assert_int_equal(count.n, of->n_tests);
    assert_int_equal(count.n_failed, 0);
}

static void test_ntriples(void **state)
{
    (void)state;
    run_suite(&(suite){"rdf-n-triples", "NTriples", 70});
}

static void test_nquads(void **state)
{
    (void)state;
    run_suite(&(suite){"rdf-n-quads", "NQuads", 87});
}

static void test_turtle(void **state)
{
    (void)state;
    run_suite(&(suite){"rdf-turtle", "Turtle", 313});
}

static void test_trig(void **state)
{
    (void)state;
    run_suite(&(suite){"rdf-trig", "Trig", 356});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ntriples),
        cmocka_unit_test(test_nquads),
        cmocka_unit_test(test_turtle),
        cmocka_unit_test(test_trig),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
