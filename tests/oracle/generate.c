/* Generated benchmarks against brute force: on graphs of a few entities every assignment of every
 * query is tried, in both graphs, from the query's tree alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/memory.h"
#include "eval/files.h"
#include "generate/generate.h"
#include "graph/build.h"
#include "query/query.h"

enum { N = 9, N_RELATIONS = 6, ALL = 1, SEEN = 0 };

typedef struct pair {
    acq_graph *graphs[2]; /* observed, complete */
} pair;

static acq_graph *make_graph(uint64_t seed, double share)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    acq_random random = acq_random_start(seed, 1);
    char name[16];
    acq_ent ids[N];
    acq_rel relations[N_RELATIONS / 2];
    for (int i = 0; i < N; i++) {
        int n = snprintf(name, sizeof name, "e%d", i);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, (size_t)n, &ids[i]), ACQ_OK);
    }
    for (int i = 0; i < N_RELATIONS / 2; i++) {
        int n = snprintf(name, sizeof name, "r%d", i);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, (size_t)n, &relations[i]),
                         ACQ_OK);
    }
    for (int i = 0; i < 34; i++) {
        acq_ent head = ids[acq_random_below(&random, N)], tail = ids[acq_random_below(&random, N)];
        acq_rel relation = relations[acq_random_below(&random, N_RELATIONS / 2)];
        bool is_kept = acq_random_unit(&random) < share;
        if (is_kept)
            assert_int_equal(acq_graph_builder_add_fact(builder, head, relation, tail), ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static pair make_pair(uint64_t seed)
{
    return (pair){{make_graph(seed, .7), make_graph(seed, 2)}};
}

static void free_pair(pair *p)
{
    acq_graph_free(p->graphs[0]);
    acq_graph_free(p->graphs[1]);
}

static acq_ent value(const acq_query *query, acq_term term, const acq_ent *values)
{
    return term.is_variable ? values[term.id] : query->constants[term.id].id;
}

static bool is_true(const acq_query *query, const acq_node *node, const acq_graph *graph,
                    const acq_ent *values)
{
    if (node->kind == ACQ_NODE_ATOM)
        return acq_graph_has_fact(graph, value(query, node->left, values),
                                  query->relations[node->relation].id,
                                  value(query, node->right, values));
    if (node->kind == ACQ_NODE_NOT)
        return !is_true(query, node->children[0], graph, values);
    bool is_and = node->kind == ACQ_NODE_AND;
    for (uint32_t i = 0; i < node->n_children; i++)
        if (is_true(query, node->children[i], graph, values) != is_and)
            return !is_and;
    return is_and;
}

/* Does some assignment of the variables from `variable` on make it true? */
static bool has_support(const acq_query *query, const acq_graph *graph, acq_ent *values,
                        uint32_t variable)
{
    if (variable == query->n_variables)
        return is_true(query, query->root, graph, values);
    for (acq_ent e = 0; e < N; e++) {
        values[variable] = e;
        if (has_support(query, graph, values, variable + 1))
            return true;
    }
    return false;
}

static bool holds(const acq_query *query, const acq_graph *graph, const acq_ent *tuple)
{
    acq_ent values[32];
    memcpy(values, tuple, query->n_free * sizeof *tuple);
    return has_support(query, graph, values, query->n_free);
}

static bool has_any(const acq_query *query, const acq_graph *graph)
{
    acq_ent values[32];
    return has_support(query, graph, values, 0);
}

static char *generate(const pair *p, acq_generate_params *params, acq_generate_report *report,
                      acq_status *status, acq_error *error)
{
    char path[] = "/tmp/acq_generate_XXXXXX";
    int file = mkstemp(path);
    char *bytes = NULL;
    size_t length;
    assert_true(file >= 0);
    close(file);
    *report = (acq_generate_report){.size = sizeof *report};
    assert_int_equal(acq_generate_settle(params, error), ACQ_OK);
    *status = acq_generate_run(p->graphs[SEEN], p->graphs[ALL], path, params, report, error);
    if (*status == ACQ_OK)
        assert_int_equal(acq_file_read(path, &bytes, &length, NULL), ACQ_OK);
    unlink(path);
    return bytes;
}

static acq_generate_params params_of(const char *kind, uint64_t seed)
{
    return (acq_generate_params){.kind = kind,
                                 .count = 6,
                                 .seed = seed,
                                 .hubs = 3,
                                 .terms = 3,
                                 .constants = 3,
                                 .leaves = .5,
                                 .threads = 1,
                                 .published_sets = true};
}

static void check_candidates(const acq_query *query, const pair *p, const acq_bench_tuples *tuples,
                             bool wanted)
{
    for (size_t i = 0; i < tuples->n; i++)
        assert_int_equal(holds(query, p->graphs[ALL], tuples->values + i * query->n_free), wanted);
}

static size_t check_file(const char *bytes, acq_bench_task task, const pair *p)
{
    acq_bench_file *file;
    acq_bench_limits limits = {N, N_RELATIONS};
    acq_error error = {0};
    acq_status status =
        acq_bench_file_parse(bytes, strlen(bytes), "x.json", task, limits, &file, &error);
    if (status != ACQ_OK)
        fail_msg("%s\n%s", error.message, bytes);
    assert_int_equal(file->dirt.n_left_out, 0);
    for (size_t i = 0; i < file->n_instances; i++) {
        const acq_bench_instance *one = &file->instances[i];
        const acq_bench_formula *formula = &file->formulas[one->formula];
        assert_int_equal(
            acq_query_ground_pairs(formula->query, formula->names, one->ids, formula->n_names, NULL),
            ACQ_OK);
        check_candidates(formula->query, p, &one->correct, true);
        check_candidates(formula->query, p, &one->wrong, false);
        if (task == ACQ_TASK_QAC)
            assert_int_equal(one->correct.n, one->wrong.n);
        else {
            assert_int_equal(one->type != 'n', has_any(formula->query, p->graphs[ALL]));
            if (one->type != 'n')
                assert_int_equal(one->type == 'e', has_any(formula->query, p->graphs[SEEN]));
        }
    }
    size_t n = file->n_instances;
    acq_bench_file_free(file);
    return n;
}

static void test_candidate_sets_are_right(void **state)
{
    (void)state;
    size_t n = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        pair p = make_pair(seed);
        acq_generate_params params = params_of("qac", seed);
        acq_generate_report report;
        acq_status status;
        char *bytes = generate(&p, &params, &report, &status, NULL);
        if (status == ACQ_OK)
            n += check_file(bytes, ACQ_TASK_QAC, &p);
        acq_free(bytes);
        free_pair(&p);
    }
    assert_true(n > 100);
}

static void test_questions_are_right_for_one_to_three_free_variables(void **state)
{
    (void)state;
    size_t n = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        pair p = make_pair(seed);
        acq_generate_params params = params_of("qar", seed);
        acq_generate_report report;
        acq_status status;
        params.free_variables = 1 + seed % 3;
        params.near_negatives = seed % 2 == 0;
        params.one_per_pair = seed % 4 == 0;
        params.from_unobserved = seed % 5 == 0;
        char *bytes = generate(&p, &params, &report, &status, NULL);
        if (status == ACQ_OK)
            n += check_file(bytes, ACQ_TASK_QAR, &p);
        acq_free(bytes);
        free_pair(&p);
    }
    assert_true(n > 100);
}

static const char *const types[] = {"1p",  "2p",  "3p",  "2i",  "3i",  "ip", "pi",
                                    "2in", "3in", "inp", "pin", "pni", "2u", "up"};

static void test_all_fourteen_types_are_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < 14; i++) {
        size_t n = 0;
        for (uint64_t seed = 1; seed <= 6; seed++) {
            pair p = make_pair(seed);
            acq_generate_params params = params_of("small", seed);
            acq_generate_report report;
            acq_status status;
            params.type = types[i];
            char *bytes = generate(&p, &params, &report, &status, NULL);
            if (status == ACQ_OK)
                n += check_file(bytes, ACQ_TASK_QAC, &p);
            acq_free(bytes);
            free_pair(&p);
        }
        assert_true(n > 5);
    }
}

/* ---- BetaE's nesting, by sets of bits ---- */

static unsigned project(const acq_graph *graph, unsigned set, acq_rel relation)
{
    unsigned out = 0;
    for (acq_ent h = 0; h < N; h++)
        for (acq_ent t = 0; t < N; t++)
            if ((set >> h & 1) != 0 && acq_graph_has_fact(graph, h, relation, t))
                out |= 1U << t;
    return out;
}

/* nested = [ nested or id, [relation, ...] ] | [nested, nested, ..., [-1]] */
static unsigned evaluate(const acq_json *json, const acq_graph *graph)
{
    if (json->kind == ACQ_JSON_INTEGER)
        return 1U << json->integer;
    const acq_json *last = json->first;
    while (last->next != NULL)
        last = last->next;
    bool is_list = last->kind == ACQ_JSON_ARRAY && last->first->kind == ACQ_JSON_INTEGER &&
                   last->first->next == NULL && last->first->integer == -1;
    bool is_path = !is_list && json->n == 2 && last->first->kind == ACQ_JSON_INTEGER &&
                   (last->first->next == NULL || last->first->next->kind == ACQ_JSON_INTEGER);
    if (is_path) {
        unsigned set = evaluate(json->first, graph);
        for (const acq_json *r = last->first; r != NULL; r = r->next)
            set = r->integer == -2 ? ~set & ((1U << N) - 1) : project(graph, set, (acq_rel)r->integer);
        return set;
    }
    unsigned set = is_list ? 0 : (1U << N) - 1;
    for (const acq_json *part = json->first; part != NULL && !(is_list && part == last);
         part = part->next)
        set = is_list ? set | evaluate(part, graph) : set & evaluate(part, graph);
    return set;
}

static unsigned bits_of(const acq_json *list)
{
    unsigned set = 0;
    for (const acq_json *at = list->first; at != NULL; at = at->next)
        set |= 1U << at->integer;
    return set;
}

static void test_rankings_have_all_easy_and_hard_answers(void **state)
{
    (void)state;
    size_t n = 0, n_types = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        pair p = make_pair(seed);
        acq_generate_params params = params_of("cqa", seed);
        acq_generate_report report;
        acq_status status;
        char *bytes = generate(&p, &params, &report, &status, NULL);
        acq_arena arena;
        const acq_json *root;
        assert_int_equal(status, ACQ_OK);
        acq_arena_init(&arena);
        assert_int_equal(acq_json_parse(bytes, strlen(bytes), &arena, &root, NULL), ACQ_OK);
        n_types = root->n > n_types ? root->n : n_types;
        for (const acq_json *type = root->first; type != NULL; type = type->next)
            for (const acq_json *one = type->first; one != NULL; one = one->next, n++) {
                unsigned all = evaluate(acq_json_get(one, "query"), p.graphs[ALL]);
                unsigned seen = evaluate(acq_json_get(one, "query"), p.graphs[SEEN]);
                assert_int_equal(bits_of(acq_json_get(one, "easy")), all & seen);
                assert_int_equal(bits_of(acq_json_get(one, "hard")), all & ~seen);
                assert_true((all & ~seen) != 0);
            }
        acq_arena_deinit(&arena);
        acq_free(bytes);
        free_pair(&p);
    }
    assert_true(n > 300);
    assert_int_equal(n_types, 14);
}

static void test_the_file_does_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    pair p = make_pair(3);
    acq_generate_report report;
    acq_status status;
    acq_generate_params params = params_of("qar", 5);
    char *one = generate(&p, &params, &report, &status, NULL);
    params.threads = 3;
    char *three = generate(&p, &params, &report, &status, NULL);
    assert_non_null(one);
    assert_string_equal(one, three);
    acq_free(one);
    acq_free(three);
    free_pair(&p);
}

static void test_matched_sets_hold_seen_candidates_only(void **state)
{
    (void)state;
    uint64_t n_unseen = 0, n = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        pair p = make_pair(seed);
        acq_generate_report report;
        acq_status status;
        acq_generate_params params = params_of("small", seed);
        acq_free(generate(&p, &params, &report, &status, NULL));
        n_unseen += report.n_unseen;
        params.published_sets = false;
        acq_free(generate(&p, &params, &report, &status, NULL));
        assert_int_equal(report.n_unseen, 0);
        n += report.n_candidates;
        free_pair(&p);
    }
    assert_true(n_unseen > 0 && n > 0);
}

static void test_a_graph_that_is_too_small_says_so(void **state)
{
    (void)state;
    pair p = make_pair(1);
    acq_generate_report report;
    acq_status status;
    acq_error error = {0};
    acq_generate_params params = params_of("qac", 1);
    params.terms = 60;
    assert_null(generate(&p, &params, &report, &status, &error));
    assert_int_equal(status, ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "use fewer terms"));
    free_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_candidate_sets_are_right),
        cmocka_unit_test(test_questions_are_right_for_one_to_three_free_variables),
        cmocka_unit_test(test_all_fourteen_types_are_right),
        cmocka_unit_test(test_rankings_have_all_easy_and_hard_answers),
        cmocka_unit_test(test_the_file_does_not_depend_on_the_number_of_threads),
        cmocka_unit_test(test_matched_sets_hold_seen_candidates_only),
        cmocka_unit_test(test_a_graph_that_is_too_small_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
