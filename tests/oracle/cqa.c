/* Ranks of hard answers against loops over all entities, the file that holds queries, and queries
 * made of nested ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/text.h"
#include "eval/eval.h"

enum { CASES = 2000, MOST = 40 };

static bool is_in(const acq_ent *list, size_t n, acq_ent entity)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == entity)
            return true;
    return false;
}

/* By the definition: every entity that is no answer, one by one. */
static acq_cqa_ranks rank_slowly(const double *scores, size_t n, const acq_cqa_query *query)
{
    acq_cqa_ranks sum = {0};
    for (size_t i = 0; i < query->n_hard; i++) {
        double rank = 1;
        for (acq_ent e = 0; e < n; e++) {
            if (is_in(query->easy, query->n_easy, e) || is_in(query->hard, query->n_hard, e))
                continue;
            rank += scores[e] > scores[query->hard[i]] ? 1.0 : 0.0;
            rank += scores[e] == scores[query->hard[i]] ? 0.5 : 0.0;
        }
        sum.mrr += 1 / rank;
        sum.hits1 += rank <= 1;
        sum.hits3 += rank <= 3;
        sum.hits10 += rank <= 10;
    }
    double m = (double)query->n_hard;
    return (acq_cqa_ranks){sum.mrr / m, sum.hits1 / m, sum.hits3 / m, sum.hits10 / m};
}

static void test_ranks_are_those_of_the_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        acq_random random = acq_random_start(seed, 3);
        size_t n = 2 + acq_random_below(&random, MOST - 2);
        double scores[MOST], room[MOST];
        acq_ent easy[MOST], hard[MOST];
        acq_cqa_query query = {.easy = easy, .hard = hard};
        uint64_t n_values = 1 + acq_random_below(&random, 12); /* few: ties */
        for (size_t i = 0; i < n; i++) {
            uint64_t kind = acq_random_below(&random, 5);
            scores[i] = (double)acq_random_below(&random, n_values) / 7;
            if (kind == 0)
                easy[query.n_easy++] = (acq_ent)i;
            else if (kind == 1)
                hard[query.n_hard++] = (acq_ent)i;
        }
        if (query.n_hard == 0)
            continue;
        acq_cqa_ranks fast = acq_cqa_rank(scores, n, &query, room);
        acq_cqa_ranks slow = rank_slowly(scores, n, &query);
        assert_true(fabs(fast.mrr - slow.mrr) < 1e-12);
        assert_true(fabs(fast.hits1 - slow.hits1) < 1e-12);
        assert_true(fabs(fast.hits3 - slow.hits3) < 1e-12);
        assert_true(fabs(fast.hits10 - slow.hits10) < 1e-12);
    }
}

static acq_cqa_file *parse(const char *text, acq_error *error)
{
    acq_cqa_file *file = NULL;
    acq_bench_limits limits = {.n_entities = 9, .n_relations = 4};
    acq_status status = acq_cqa_file_parse(text, strlen(text), limits, &file, error);
    assert_true((status == ACQ_OK) == (file != NULL));
    return file;
}

static void test_queries_without_a_meaning_go_alone(void **state)
{
    (void)state;
    acq_error error = {0};
    acq_cqa_file *file = parse(
        "{\"1p\": [{\"query\": [3, [1]], \"easy\": [], \"hard\": [2, 1]},"
        "{\"query\": [3, [7]], \"easy\": [], \"hard\": [2]},"
        "{\"query\": [30, [1]], \"easy\": [], \"hard\": [2]},"
        "{\"query\": [3, [1]], \"easy\": [1], \"hard\": []}, 7,"
        "{\"query\": 3, \"easy\": [], \"hard\": [1]}],"
        "\"2u\": [{\"query\": [[1, [0]], [2, [3]], [-1]], \"easy\": [4], \"hard\": [5]}]}",
        &error);
    assert_non_null(file);
    assert_int_equal(file->n_types, 2);
    assert_int_equal(file->n_queries, 2);
    assert_int_equal(file->n_left_out, 5);
    assert_non_null(strstr(file->why_out, "1p, query 2: a relation id that the graph lacks"));
    assert_int_equal(file->queries[0].hard[0], 1);
    assert_int_equal(file->queries[1].tree->root->kind, ACQ_SET_OR);
    acq_cqa_file_free(file);
    assert_null(parse("{\"1p\": [7]}", &error));
    assert_non_null(strstr(error.message, "no query to rank"));
}

typedef struct shape {
    const char *nested;
    uint32_t n_atoms, n_variables; /* of the query; 0 atoms: it is none */
} shape;

static void test_nested_queries_are_existential_ones_but_for_negated_paths(void **state)
{
    (void)state;
    static const shape shapes[] = {
        {"[1,[0]]", 1, 1},
        {"[1,[0,2,1]]", 3, 3},
        {"[[1,[0]],[2,[1]],[3,[2]]]", 3, 1},
        {"[[[1,[0]],[2,[1]]],[3]]", 3, 2},
        {"[[1,[0,1]],[2,[3]]]", 3, 2},
        {"[[[1,[0]],[2,[1,-2]]],[3]]", 3, 2},
        {"[[1,[0,1]],[2,[3,-2]]]", 3, 2},
        {"[[1,[0,1,-2]],[2,[3]]]", 0, 0},
        {"[[[1,[0]],[2,[1]],[-1]],[3]]", 3, 2},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        acq_text text;
        acq_query *query = NULL;
        acq_error error = {0};
        acq_text_init(&text);
        acq_text_format(&text, "{\"x\": [{\"query\": %s, \"easy\": [], \"hard\": [1]}]}",
                        shapes[i].nested);
        acq_cqa_file *file = parse(text.bytes, &error);
        assert_non_null(file);
        acq_status status = acq_set_tree_make_query(file->queries[0].tree, &query, &error);
        assert_int_equal(status, shapes[i].n_atoms > 0 ? ACQ_OK : ACQ_ERR_INPUT);
        if (status == ACQ_OK) {
            assert_int_equal(query->n_atoms, shapes[i].n_atoms);
            assert_int_equal(query->n_variables, shapes[i].n_variables);
            assert_int_equal(query->n_free, 1);
        }
        acq_query_free(query);
        acq_cqa_file_free(file);
        acq_text_deinit(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_are_those_of_the_definition),
        cmocka_unit_test(test_queries_without_a_meaning_go_alone),
        cmocka_unit_test(test_nested_queries_are_existential_ones_but_for_negated_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
