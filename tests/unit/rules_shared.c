/* rules_shared.c - rules of the published benchmark graphs, where they are present: two threads
 * mine what one mines, and the time that mining and applying to many rows take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/threads.h"
#include "graph/text/read.h"
#include "models/rules/rules.h"

enum { N_THREADS = 2 };

static size_t most_rows = 20000; /* argument 1 */

static acq_graph *load(const char *folder)
{
    char path[4096];
    const char *shared = getenv("ACQ_SHARED");
    if (shared != NULL)
        snprintf(path, sizeof path, "%s/data/%s", shared, folder);
    else
        snprintf(path, sizeof path, ACQ_SOURCE_DIR "/../shared/data/%s", folder);
    if (access(path, R_OK) != 0) {
        print_message("skipped: %s is not there\n", path);
        return NULL;
    }
    const char *const paths[] = {path};
    acq_read_params params = {.split = "train", .strict = true};
    acq_read_report report;
    acq_graph *graph = NULL;
    acq_error error = {0};
    if (acq_graph_read(paths, 1, &params, &graph, &report, &error) != ACQ_OK)
        fail_msg("%s: %s", error.file, error.message);
    return graph;
}

static acq_rules *mine(const acq_graph *graph, unsigned n_threads)
{
    acq_rules_params params = ACQ_RULES_DEFAULT;
    acq_rules *rules = NULL;
    params.n_threads = n_threads;
    int64_t start = acq_clock_ns();
    assert_int_equal(acq_rules_mine(graph, &params, &rules, NULL), ACQ_OK);
    print_message("mined by %u threads in %.2f s\n", n_threads,
                  (double)(acq_clock_ns() - start) / 1e9);
    return rules;
}

static void compare(const acq_graph *graph, const acq_rules *a, const acq_rules *b)
{
    size_t n_all = 0;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++) {
        size_t n, m;
        const acq_rule *x = acq_rules_get(a, r, &n), *y = acq_rules_get(b, r, &m);
        assert_int_equal(n, m);
        if (n > 0)
            assert_memory_equal(x, y, n * sizeof *x);
        n_all += n;
    }
    print_message("%zu rules\n", n_all);
}

typedef struct job {
    const acq_graph *graph;
    const acq_rules *rules;
    acq_rules_scratch *scratches[N_THREADS];
    size_t n_rows[N_THREADS], n_entries[N_THREADS];
    size_t stride;
} job;

/* Every stride-th (head, relation) of a relation. */
static acq_status apply(void *context, size_t item, unsigned thread)
{
    job *j = context;
    const acq_links *links = NULL;
    acq_status status = acq_graph_open_links(j->graph, (acq_rel)item, &links, NULL);
    for (size_t i = 0; i < links->n_heads && status == ACQ_OK; i += j->stride) {
        const acq_rule_evidence *evidence;
        size_t n;
        status = acq_rules_apply(j->rules, links->heads[i], (acq_rel)item, j->scratches[thread],
                                 &evidence, &n, NULL);
        j->n_rows[thread]++;
        j->n_entries[thread] += n;
    }
    return status;
}

static void time_rows(const acq_graph *graph, const acq_rules *rules)
{
    size_t n_heads = 0;
    uint32_t n_relations = acq_graph_get_n_relations(graph);
    for (acq_rel r = 0; r < n_relations; r++) {
        const acq_links *links = NULL;
        assert_int_equal(acq_graph_open_links(graph, r, &links, NULL), ACQ_OK);
        n_heads += links->n_heads;
    }
    job j = {.graph = graph, .rules = rules, .stride = n_heads / most_rows + 1};
    for (unsigned i = 0; i < N_THREADS; i++)
        assert_int_equal(acq_rules_scratch_new(rules, &j.scratches[i], NULL), ACQ_OK);
    int64_t start = acq_clock_ns();
    assert_int_equal(acq_threads_run(N_THREADS, n_relations, apply, &j), ACQ_OK);
    size_t n = j.n_rows[0] + j.n_rows[1], n_entries = j.n_entries[0] + j.n_entries[1];
    print_message("%zu rows in %.2f s, %.0f tails a row\n", n,
                  (double)(acq_clock_ns() - start) / 1e9, (double)n_entries / (double)n);
    for (unsigned i = 0; i < N_THREADS; i++)
        acq_rules_scratch_free(j.scratches[i]);
}

static void check(const char *folder)
{
    acq_graph *graph = load(folder);
    if (graph == NULL)
        return;
    acq_rules *one = mine(graph, 1), *two = mine(graph, N_THREADS);
    compare(graph, one, two);
    time_rows(graph, one);
    acq_rules_free(one);
    acq_rules_free(two);
    acq_graph_free(graph);
}

static void test_fb15k237(void **state)
{
    (void)state;
    check("FB15k-237");
}

static void test_nell(void **state)
{
    (void)state;
    check("NELL");
}

int main(int argc, char **argv)
{
    if (argc > 1)
        most_rows = strtoull(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fb15k237),
        cmocka_unit_test(test_nell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
