/* sparql_w3c.c - the W3C's tests of SPARQL 1.0 and 1.1, where they are present:
 * $ACQ_SHARED/w3c or ../shared/w3c beside the sources. Every entry of the manifests is run:
 *
 *   query evaluation   refused with a construct's name, or its solutions are the expected ones
 *   positive syntax    accepted, or refused with a construct's name
 *   negative syntax    refused
 *
 * Entailment and federation are other languages; their tests are left out. Of the rest at least 30
 * of 100 evaluation tests must be accepted, and every accepted one must be right. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "graph/graph.h"
#include "graph/text/read.h"
#include "support/results.h"

#define MF   "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
#define QT   "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
#define TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#define HERE "manifest:/"

typedef struct counts {
    size_t n, accepted, wrong, unnamed;
    size_t syntax, syntax_refused, syntax_unnamed;
    size_t negative, negative_accepted;
    size_t unread;  /* results in a format that is not read here */
    size_t no_data; /* data in RDF/XML; these queries are refused */
} counts;

/* What a refusal may name: constructs of SPARQL that are documented as not supported. */
static bool names_construct(const char *message)
{
    static const char *const NAMES[] = {
        "OPTIONAL", "BIND",     "GRAPH",    "SERVICE",  "subquery",  "GROUP BY",  "HAVING",
        "aggregate", "FROM",    "DESCRIBE", "update",   "function",  "MINUS inside EXISTS",
        "ORDER BY with LIMIT",  "regular expression",   "triple terms", "38 digits",
        "expressions and aggregates",
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strstr(message, NAMES[i]) != NULL)
            return true;
    }
    return false;
}

/* Tests whose expected result rests on RDF 1.0, where "a" and "a"^^xsd:string differ, or on an
 * extension of the standard. They are listed, with what we give being right by RDF 1.1. */
static bool is_of_rdf_10(const char *name)
{
    static const char *const NAMES[] = {""};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(name, NAMES[i]) == 0)
            return true;
    }
    return false;
}

typedef struct manifest {
    acq_graph *graph;
    const char *folder;
    counts *count;
} manifest;

static acq_row get_row(const acq_graph *graph, acq_ent entity, const char *relation)
{
    const acq_links *links = NULL;
    acq_rel r = acq_graph_find_relation(graph, relation, strlen(relation));
    if (r == ACQ_NO_ID)
        return (acq_row){0};
    assert_int_equal(acq_graph_open_links(graph, r, &links, NULL), ACQ_OK);
    return acq_links_get_row(links, entity);
}

static const char *strip(const char *key)
{
    return strncmp(key, HERE, strlen(HERE)) == 0 ? key + strlen(HERE) : key;
}

static const char *get(const acq_graph *graph, acq_ent entity, const char *relation)
{
    acq_row row = get_row(graph, entity, relation);
    return row.n == 0 ? NULL : strip(acq_graph_get_entity_key(graph, row.tails[0]));
}

static char *read_query(const manifest *m, const char *name)
{
    acq_text text = {0};
    char path[4096], buffer[4096];
    snprintf(path, sizeof path, "%s/%s", m->folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    acq_text_format(&text, "BASE <http://test/%s>\n", name);
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;)
        acq_text_add_bytes(&text, buffer, n);
    fclose(file);
    assert_false(text.failed);
    return text.bytes; /* freed by free */
}

/* ---- data ---- */

enum { MOST_FILES = 16 };

/* The files of a test by their names, and which of them are its default graph and its named ones:
 * those that the manifest lists, or those that the query names by FROM. */
typedef struct data_set {
    char *files[MOST_FILES], *iris[MOST_FILES];
    bool is_default[MOST_FILES], is_named[MOST_FILES];
    size_t n;
} data_set;

static void add_file(data_set *data, const char *name, size_t length, bool is_named)
{
    char iri[4096];
    size_t i = 0;
    while (i < data->n &&
           (strncmp(data->files[i], name, length) != 0 || data->files[i][length] != '\0'))
        i++;
    assert_true(i < MOST_FILES);
    if (i == data->n) {
        data->files[data->n] = strndup(name, length);
        snprintf(iri, sizeof iri, "http://test/%s", data->files[data->n]);
        data->iris[data->n++] = strdup(iri);
    }
    data->is_named[i] |= is_named;
    data->is_default[i] |= !is_named;
}

static void list_files(const manifest *m, acq_ent action, const char *query, data_set *out)
{
    acq_row data = get_row(m->graph, action, QT "data");
    acq_row named = get_row(m->graph, action, QT "graphData");
    for (size_t i = 0; i < data.n + named.n; i++) {
        bool is_named = i >= data.n;
        acq_ent file = is_named ? named.tails[i - data.n] : data.tails[i];
        const char *name = strip(acq_graph_get_entity_key(m->graph, file));
        add_file(out, name, strlen(name), is_named);
    }
    const char *at = out->n == 0 ? query : "";
    while ((at = strstr(at, "FROM")) != NULL) {
        const char *open = strchr(at, '<'), *close = open == NULL ? NULL : strchr(open, '>');
        if (close == NULL)
            break;
        add_file(out, open + 1, (size_t)(close - open - 1), strncmp(at, "FROM NAMED", 10) == 0);
        at = close;
    }
}

static void free_files(data_set *data)
{
    for (size_t i = 0; i < data->n; i++) {
        free(data->files[i]);
        free(data->iris[i]);
    }
}

typedef struct quads_file {
    FILE *file;
    const char *iri;
    size_t i;
    acq_text line;
} quads_file;

/* Nodes of several files are told apart. */
static void put_term(quads_file *out, const char *term, size_t length)
{
    bool is_blank = length > 2 && strncmp(term, "_:", 2) == 0;
    if (is_blank)
        fprintf(out->file, "_:f%zu_%.*s ", out->i, (int)length - 2, term + 2);
    else
        fprintf(out->file, "%.*s ", (int)length, term);
}

/* A line of N-Triples as one of N-Quads. */
static void put_line(quads_file *out, const char *line)
{
    size_t subject = strcspn(line, " "), predicate = strcspn(line + subject + 1, " ");
    const char *object = line + subject + predicate + 2, *end = object + strlen(object) - 2;
    put_term(out, line, subject);
    put_term(out, line + subject + 1, predicate);
    put_term(out, object, (size_t)(end - object));
    fprintf(out->file, "<%s> .\n", out->iri);
}

static acq_status put_text(void *self, const char *bytes, size_t length, acq_error *error)
{
    quads_file *out = self;
    (void)error;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != '\n') {
            acq_text_add_char(&out->line, bytes[i]);
            continue;
        }
        put_line(out, out->line.bytes);
        acq_text_clear(&out->line);
    }
    return ACQ_OK;
}

static void put_file(const manifest *m, const data_set *data, size_t i, FILE *file)
{
    char path[4096];
    const char *const paths[] = {path};
    acq_graph *graph = NULL;
    acq_error error = {0};
    acq_write_params write = {.format = ACQ_FORMAT_NT};
    acq_read_params params = {
        .strict = true, .literals = true, .base = data->iris[i], .format = "ttl"};
    quads_file out = {.file = file, .iri = data->iris[i], .i = i};
    acq_text_sink sink = {.put = put_text, .self = &out};
    int length = snprintf(path, sizeof path, "%s/%s", m->folder, data->files[i]);
    if (strcmp(path + length - 4, ".rdf") == 0) {
        m->count->no_data++; /* RDF/XML: the query must be refused all the same */
        return;
    }
    if (acq_graph_read(paths, 1, &params, &graph, NULL, &error) != ACQ_OK)
        fail_msg("%s:%zu: %s", error.file, error.line, error.message);
    assert_int_equal(acq_text_write(graph, &write, &sink, NULL, &error), ACQ_OK);
    acq_text_deinit(&out.line);
    acq_graph_free(graph);
}

/* All files as named graphs. */
static acq_graph *read_graphs(const manifest *m, const data_set *data)
{
    char path[] = "/tmp/acq_w3c_XXXXXX.nq";
    const char *const paths[] = {path};
    acq_graph *graph = NULL;
    acq_error error = {0};
    acq_read_params params = {.strict = true, .literals = true, .named_graphs = true};
    int handle = mkstemps(path, 3);
    FILE *file = fdopen(handle, "w");
    assert_non_null(file);
    for (size_t i = 0; i < data->n; i++)
        put_file(m, data, i, file);
    fclose(file);
    acq_status status = acq_graph_read(paths, 1, &params, &graph, NULL, &error);
    unlink(path);
    if (status != ACQ_OK)
        fail_msg("%s:%zu: %s", error.file, error.line, error.message);
    return graph;
}

/* The default graph alone, merged; none: a graph without facts. */
static acq_graph *read_data(const manifest *m, const data_set *data)
{
    char path[MOST_FILES][4096] = {ACQ_SOURCE_DIR "/tests/data/query/empty.ttl"};
    const char *paths[MOST_FILES] = {path[0]};
    acq_error error = {0};
    acq_graph *graph = NULL;
    acq_read_params params = {
        .strict = true, .literals = true, .base = "http://test/data", .format = "ttl"};
    size_t n = data->n;
    for (size_t i = 0; i < n; i++) {
        int length = snprintf(path[i], sizeof path[i], "%s/%s", m->folder, data->files[i]);
        paths[i] = path[i];
        if (strcmp(path[i] + length - 4, ".rdf") == 0) {
            m->count->no_data++; /* RDF/XML: the query must be refused all the same */
            paths[0] = ACQ_SOURCE_DIR "/tests/data/query/empty.ttl";
            n = 1;
        }
    }
    if (acq_graph_read(paths, n == 0 ? 1 : n, &params, &graph, NULL, &error) != ACQ_OK)
        fail_msg("%s:%zu: %s", error.file, error.line, error.message);
    return graph;
}

static results *convert(const acq_solutions *solutions)
{
    results *r = results_new();
    size_t n = acq_solutions_get_n_variables(solutions);
    r->is_boolean = acq_solutions_get_form(solutions) == ACQ_SOLUTIONS_BOOLEAN;
    r->boolean = acq_solutions_get_n(solutions) > 0;
    r->is_graph = acq_solutions_get_form(solutions) == ACQ_SOLUTIONS_STATEMENTS;
    for (size_t i = 0; i < n; i++)
        results_column(r, acq_solutions_get_variable(solutions, i));
    for (size_t row = 0; row < acq_solutions_get_n(solutions) && !r->is_boolean; row++) {
        char **cells = results_add_row(r);
        for (size_t i = 0; i < n; i++) {
            acq_rdf_value value = acq_solutions_get_term(solutions, row, i);
            if (value.kind != ACQ_RDF_UNBOUND)
                results_set(r, cells, r->columns[i], strdup(value.key));
        }
    }
    return r;
}

static void print_rows(const char *title, const results *r)
{
    print_message("  %s: %zu rows%s\n", title, r->n_rows,
                  r->is_boolean ? (r->boolean ? " yes" : " no") : "");
    for (size_t i = 0; i < r->n_rows && i < 12; i++) {
        for (size_t j = 0; j < r->n_columns; j++)
            print_message("    %s=%s", r->columns[j], r->rows[i][j] ? r->rows[i][j] : "-");
        print_message("\n");
    }
}

static results_rule rule_of(const manifest *m, acq_ent entry, const char *query)
{
    if (get(m->graph, entry, MF "resultCardinality") != NULL)
        return RESULTS_LAX;
    return strcasestr(query, "ORDER BY") != NULL && strcasestr(query, "CONSTRUCT") == NULL
               ? RESULTS_ORDERED
               : RESULTS_BAG;
}

static void compare(const manifest *m, acq_ent entry, const char *query,
                    const acq_solutions *solutions)
{
    char path[4096];
    const char *result = get(m->graph, entry, MF "result");
    const char *name = acq_graph_get_entity_key(m->graph, entry);
    snprintf(path, sizeof path, "%s/%s", m->folder, result == NULL ? "none.none" : result);
    results *expected = results_read(path), *got = convert(solutions);
    if (expected == NULL) {
        m->count->unread++;
        print_message("NOT COMPARED %s\n", path);
    } else if (!results_match(expected, got, rule_of(m, entry, query)) && !is_of_rdf_10(name)) {
        m->count->wrong++;
        print_message("WRONG %s %s\n", m->folder, name);
        print_rows("expected", expected);
        print_rows("got", got);
    }
    results_free(expected);
    results_free(got);
}

/* With the graphs that the manifest chooses. */
static acq_status solve_graphs(const acq_graph *graph, const char *query, const data_set *data,
                               acq_solutions **out, acq_error *error)
{
    const char *merged[MOST_FILES], *named[MOST_FILES];
    acq_solve_params params;
    acq_solve_params_init(&params);
    params.default_graphs = merged;
    params.named_graphs = named;
    for (size_t i = 0; i < data->n; i++) {
        if (data->is_default[i])
            merged[params.n_default_graphs++] = data->iris[i];
        if (data->is_named[i])
            named[params.n_named_graphs++] = data->iris[i];
    }
    return acq_solve(graph, query, NULL, &params, out, error);
}

static void run_evaluation(const manifest *m, acq_ent entry)
{
    acq_row actions = get_row(m->graph, entry, MF "action");
    assert_true(actions.n == 1);
    const char *name = get(m->graph, actions.tails[0], QT "query");
    if (name == NULL)
        return;
    char *query = read_query(m, name);
    acq_solutions *solutions = NULL;
    acq_error error = {0};
    m->count->n++;
    size_t no_data = m->count->no_data;
    data_set data = {.n = 0};
    list_files(m, actions.tails[0], query, &data);
    bool is_chosen = strstr(query, "FROM") != NULL, has_graphs = is_chosen;
    for (size_t i = 0; i < data.n; i++)
        has_graphs |= data.is_named[i];
    has_graphs |= strcasestr(query, "GRAPH ") != NULL && data.n > 0;
    acq_graph *graph = has_graphs ? read_graphs(m, &data) : read_data(m, &data);
    bool has_data = m->count->no_data == no_data;
    acq_status status = has_graphs && !is_chosen
                            ? solve_graphs(graph, query, &data, &solutions, &error)
                            : acq_solve(graph, query, NULL, NULL, &solutions, &error);
    free_files(&data);
    if (status == ACQ_OK) {
        assert_true(has_data);
        m->count->accepted++;
        assert_string_equal(acq_solutions_get_spent(solutions), "");
        compare(m, entry, query, solutions);
    } else if (!names_construct(error.message)) {
        m->count->unnamed++;
        print_message("UNNAMED %s/%s: %zu:%zu: %s\n", m->folder, name, error.line, error.column,
                      error.message);
    }
    acq_solutions_free(solutions);
    acq_graph_free(graph);
    free(query);
}

static void run_syntax(const manifest *m, acq_ent entry, bool is_positive)
{
    const char *const paths[] = {ACQ_SOURCE_DIR "/tests/data/query/empty.ttl"};
    acq_read_params params = {.format = "ttl", .named_graphs = true};
    char *query = read_query(m, get(m->graph, entry, MF "action"));
    acq_graph *graph = NULL;
    acq_solutions *solutions = NULL;
    acq_error error = {0};
    assert_int_equal(acq_graph_read(paths, 1, &params, &graph, NULL, NULL), ACQ_OK);
    bool is_accepted = acq_solve(graph, query, NULL, NULL, &solutions, &error) == ACQ_OK;
    if (is_positive) {
        m->count->syntax++;
        m->count->syntax_refused += !is_accepted;
        if (!is_accepted && !names_construct(error.message)) {
            m->count->syntax_unnamed++;
            print_message("SYNTAX %s/%s: %s\n", m->folder, get(m->graph, entry, MF "action"),
                          error.message);
        }
    } else {
        m->count->negative++;
        m->count->negative_accepted += is_accepted;
        if (is_accepted)
            print_message("ACCEPTED %s/%s\n", m->folder, get(m->graph, entry, MF "action"));
    }
    acq_solutions_free(solutions);
    acq_graph_free(graph);
    free(query);
}

static void run_type(const manifest *m, const char *kind)
{
    char name[200];
    const acq_links *links = NULL;
    snprintf(name, sizeof name, MF "%s", kind);
    acq_ent type = acq_graph_find_entity(m->graph, name, strlen(name));
    acq_rel r = acq_graph_find_relation(m->graph, TYPE, strlen(TYPE));
    if (type == ACQ_NO_ID || r == ACQ_NO_ID)
        return;
    assert_int_equal(acq_graph_open_links(m->graph, acq_inverse(r), &links, NULL), ACQ_OK);
    acq_row entries = acq_links_get_row(links, type);
    for (size_t i = 0; i < entries.n; i++) {
        if (strcmp(kind, "QueryEvaluationTest") == 0)
            run_evaluation(m, entries.tails[i]);
        else
            run_syntax(m, entries.tails[i], strncmp(kind, "Positive", 8) == 0);
    }
}

static void run_folder(const char *folder, counts *count)
{
    static const char *const kinds[] = {"QueryEvaluationTest", "PositiveSyntaxTest",
                                        "PositiveSyntaxTest11", "NegativeSyntaxTest",
                                        "NegativeSyntaxTest11"};
    char path[8192];
    const char *const paths[] = {path};
    acq_error error = {0};
    manifest m = {.folder = folder, .count = count};
    acq_read_params params = {.strict = true, .base = HERE, .literals = true};
    snprintf(path, sizeof path, "%s/manifest.ttl", folder);
    if (access(path, R_OK) != 0)
        return;
    if (acq_graph_read(paths, 1, &params, &m.graph, NULL, &error) != ACQ_OK)
        fail_msg("%s:%zu: %s", path, error.line, error.message);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        run_type(&m, kinds[i]);
    acq_graph_free(m.graph);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_other_language(const char *name)
{
    return strcmp(name, "entailment") == 0 || strcmp(name, "service") == 0 ||
           strcmp(name, "syntax-fed") == 0 || name[0] == '.';
}

static bool run_suite(const char *suite, counts *count)
{
    char path[2048], folder[4096], *names[200];
    size_t n = 0;
    const char *shared = getenv("ACQ_SHARED");
    if (shared != NULL)
        snprintf(path, sizeof path, "%s/w3c/%s", shared, suite);
    else
        snprintf(path, sizeof path, ACQ_SOURCE_DIR "/../shared/w3c/%s", suite);
    DIR *all = opendir(path);
    if (all == NULL) {
        print_message("skipped: %s is not there\n", path);
        return false;
    }
    for (struct dirent *one; (one = readdir(all)) != NULL && n < 200;) {
        if (!is_other_language(one->d_name))
            names[n++] = strdup(one->d_name);
    }
    closedir(all);
    qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; i < n; i++) {
        snprintf(folder, sizeof folder, "%s/%s", path, names[i]);
        run_folder(folder, count);
        free(names[i]);
    }
    print_message("%s: %zu evaluation tests, %zu accepted, %zu of these wrong, %zu not compared, "
                  "%zu refused without a name; positive syntax %zu, %zu refused, %zu without a "
                  "name; negative syntax %zu, %zu accepted\n",
                  suite, count->n, count->accepted, count->wrong, count->unread, count->unnamed,
                  count->syntax, count->syntax_refused, count->syntax_unnamed, count->negative,
                  count->negative_accepted);
    return true;
}

static size_t n_tests, n_accepted;

static void check_suite(const char *suite)
{
    counts count = {0};
    if (!run_suite(suite, &count))
        return;
    n_tests += count.n;
    n_accepted += count.accepted;
    assert_int_equal(count.wrong, 0);
    assert_int_equal(count.unread, 0);
    assert_int_equal(count.unnamed, 0);
    assert_int_equal(count.syntax_unnamed, 0);
    assert_int_equal(count.negative_accepted, 0);
}

static void test_sparql_10(void **state)
{
    (void)state;
    check_suite("sparql10");
}

static void test_sparql_11(void **state)
{
    (void)state;
    check_suite("sparql11");
}

static void test_three_in_ten_are_accepted(void **state)
{
    (void)state;
    assert_true(n_accepted * 10 >= n_tests * 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sparql_10),
        cmocka_unit_test(test_sparql_11),
        cmocka_unit_test(test_three_in_ten_are_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
