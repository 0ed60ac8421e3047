/* sparql.c - SPARQL's algebra written down plainly (sparql_algebra.c) against acq_solve: the same
 * bag of solutions on random graphs and queries. Shares no code with it: terms are numbers of a
 * small pool whose values are in a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "anycq.h"
#include "oracle/sparql_case.h"
#include "support/scale.h"

enum { N_CASES = SCALE(6000, 1500) };

static int find_term(const acq_rdf_value *v)
{
    for (int t = 0; t < POOL; t++) {
        const char *s = POOL_OF[t].text;
        size_t n = strlen(s);
        if (POOL_OF[t].kind == IRI
                ? v->kind == ACQ_RDF_IRI && strncmp(v->text, s + 1, n - 2) == 0 &&
                      v->text[n - 2] == '\0'
                : strcmp(v->key, s) == 0)
            return t;
    }
    return NONE;
}

static int compare_rows(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(row));
}

static size_t unique(row *rows, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || memcmp(&rows[i], &rows[kept - 1], sizeof *rows) != 0)
            rows[kept++] = rows[i];
    }
    return kept;
}

/* Read from a text, or kept in a store beside it. */
static acq_graph *write_graph(const graph *g, const char *file_name, bool is_stored)
{
    acq_store_params create;
    char store[256];
    acq_graph_params params;
    acq_graph *out = NULL;
    acq_error error = {0};
    FILE *file = fopen(file_name, "w");
    assert_non_null(file);
    for (int i = 0; i < g->n; i++) {
        for (int k = -1; k < GRAPHS; k++) {
            if (k < 0 ? g->in[i] == 0 : g->in[i] >> k & 1)
                fprintf(file, "%s %s %s %s .\n", POOL_OF[g->triples[i].s].text,
                        POOL_OF[g->triples[i].p].text, POOL_OF[g->triples[i].o].text,
                        k < 0 ? "" : POOL_OF[NAME_OF[k]].text);
        }
    }
    fclose(file);
    acq_graph_params_init(&params);
    params.literals = true;
    params.named_graphs = true;
    params.strict = true;
    params.threads = 1;
    acq_status status = ACQ_OK;
    if (is_stored) {
        const char *const sources[] = {file_name};
        snprintf(store, sizeof store, "%s.acq", file_name);
        acq_store_params_init(&create);
        create.read = &params;
        status = acq_store_create(sources, 1, store, &create, &error);
    }
    if (status == ACQ_OK)
        status = acq_graph_open(is_stored ? store : file_name, is_stored ? NULL : &params, &out,
                                &error);
    if (status != ACQ_OK)
        fail_msg("%s", error.message);
    return out;
}

/* FROM and FROM NAMED in one case of eight. */
static void draw_sources(world *w, graph *from)
{
    unsigned merged = draw(1 << GRAPHS) | draw(1 << GRAPHS);
    unsigned named = draw(1 << GRAPHS) | draw(1 << GRAPHS);
    if (draw(8) > 0 || merged + named == 0)
        return;
    *from = get_part(w->whole, merged);
    w->g = from;
    w->named = named;
    for (unsigned k = 0; k < GRAPHS; k++) {
        if (merged >> k & 1)
            put("FROM %s ", POOL_OF[NAME_OF[k]].text);
        if (named >> k & 1)
            put("FROM NAMED %s ", POOL_OF[NAME_OF[k]].text);
    }
}

static void run_case(unsigned seed, const char *file_name, size_t *n_rows, size_t *n_left_out)
{
    graph g, from;
    world w = {.g = &g, .whole = &g, .named = 7, .substitution = empty_row()};
    acq_solutions *solutions = NULL;
    acq_error error = {0};
    bool too_large;
    start_case(seed);
    draw_graph(&g);
    group *where = draw_group(2, true);
    bool is_distinct = draw(4) == 0;
    unsigned n_selected = 1 + draw(VARS);
    put("SELECT %s", is_distinct ? "DISTINCT " : "");
    for (unsigned v = 0; v < n_selected; v++)
        put("?v%u ", v);
    draw_sources(&w, &from);
    put_group(where);
    bag expected = get_solutions(&w, where, &too_large);
    if (too_large) {
        ++*n_left_out;
        free(expected.rows);
        return;
    }
    for (size_t i = 0; i < expected.n; i++) {
        for (unsigned v = n_selected; v < VARS; v++)
            expected.rows[i].v[v] = NONE;
    }
    acq_graph *facts = write_graph(&g, file_name, seed % 40 == 0);
    if (acq_solve(facts, get_text(), NULL, NULL, &solutions, &error) != ACQ_OK)
        fail_msg("case %u: %zu:%zu: %s\n%s", seed, error.line, error.column, error.message,
                 get_text());
    size_t n = acq_solutions_get_n(solutions);
    row *got = malloc((n + 1) * sizeof *got);
    for (size_t i = 0; i < n; i++) {
        got[i] = empty_row();
        for (unsigned v = 0; v < n_selected; v++) {
            acq_rdf_value found = acq_solutions_get_term(solutions, i, v);
            if (found.kind != ACQ_RDF_UNBOUND)
                got[i].v[v] = (int8_t)find_term(&found);
        }
    }
    qsort(expected.rows, expected.n, sizeof(row), compare_rows);
    qsort(got, n, sizeof(row), compare_rows);
    if (is_distinct)
        expected.n = unique(expected.rows, expected.n);
    if (n != expected.n || memcmp(got, expected.rows, n * sizeof(row)) != 0)
        fail_msg("case %u: %zu solutions, expected %zu\n%s\ngraph: %s", seed, n, expected.n,
                 get_text(), file_name);
    *n_rows += n > 0;
    free(got);
    free(expected.rows);
    acq_solutions_free(solutions);
    acq_graph_free(facts);
}

static void test_solutions_are_those_of_the_algebra(void **unused)
{
    char file_name[] = "/tmp/acq_sparql_XXXXXX.nq";
    char store[256];
    size_t n_rows = 0, n_left_out = 0;
    (void)unused;
    int file = mkstemps(file_name, 3);
    assert_true(file >= 0);
    close(file);
    for (unsigned seed = 1; seed <= N_CASES; seed++)
        run_case(seed, file_name, &n_rows, &n_left_out);
    print_message("%d cases, %zu left out, %zu with solutions\n", N_CASES, n_left_out, n_rows);
    assert_true(n_left_out * 10 < N_CASES && n_rows * 10 > N_CASES * 3);
    unlink(file_name);
    snprintf(store, sizeof store, "%s.acq", file_name);
    unlink(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solutions_are_those_of_the_algebra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
