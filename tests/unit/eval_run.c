/* Evaluation on a graph small enough to decide by hand.
 *
 *   observed   p: 0->1 0->2    q: 1->3 5->6 5->7
 *   complete   observed and    q: 2->4 1->7
 *
 * p has id 0 and q id 2. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/text.h"
#include "eval/eval.h"
#include "graph/build.h"

#define assert_near(value, expected) assert_true(fabs((value) - (expected)) < 1e-9)

enum { N_ENTITIES = 8 };

typedef struct world {
    acq_graph *observed, *complete;
    acq_predictor *closed, *perfect;
} world;

static acq_graph *build(const uint32_t (*facts)[3], size_t n)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph;
    acq_ent entity;
    acq_rel relation;
    for (char name = 'a'; name < 'a' + N_ENTITIES; name++)
        assert_int_equal(acq_graph_builder_add_entity(builder, &name, 1, &entity), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "p", 1, &relation), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "q", 1, &relation), ACQ_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(acq_graph_builder_add_fact(builder, facts[i][0], facts[i][1], facts[i][2]),
                         ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static int set_up(void **state)
{
    static const uint32_t facts[][3] = {{0, 0, 1}, {0, 0, 2}, {1, 2, 3}, {5, 2, 6},
                                        {5, 2, 7}, {2, 2, 4}, {1, 2, 7}};
    static world all;
    all.observed = build(facts, 5);
    all.complete = build(facts, 7);
    assert_int_equal(acq_predictor_new_observed(all.observed, &all.closed, NULL), ACQ_OK);
    assert_int_equal(
        acq_predictor_new_perfect(all.observed, all.complete, "complete", &all.perfect, NULL, NULL),
        ACQ_OK);
    *state = &all;
    return 0;
}

static int tear_down(void **state)
{
    world *all = *state;
    acq_predictor_free(all->closed);
    acq_predictor_free(all->perfect);
    acq_graph_free(all->observed);
    acq_graph_free(all->complete);
    return 0;
}

static acq_bench_file *parse(const char *json, const char *name, acq_bench_task task)
{
    acq_bench_file *file = NULL;
    acq_error error = {0};
    acq_bench_limits limits = {N_ENTITIES, 4};
    acq_status status = acq_bench_file_parse(json, strlen(json), name, task, limits, &file, &error);
    if (status != ACQ_OK)
        fail_msg("%s", error.message);
    return file;
}

static acq_eval_params params_for(acq_bench_task task, const acq_predictor *predictor)
{
    acq_eval_params params = ACQ_EVAL_DEFAULT;
    params.task = task;
    params.predictor = predictor;
    return params;
}

static acq_eval_row run(const acq_eval_params *params, const acq_bench_file *file)
{
    acq_eval_row rows[2];
    acq_error error = {0};
    const acq_bench_file *files[] = {file};
    if (acq_eval_run(params, files, 1, rows, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return rows[0];
}

/* 3 is observed; 7 and 4 follow in the complete graph, and the observed one shows only 7 with an
 * incoming q; 6 is wrong. */
static const char qac_json[] =
    "{\"(r1(s1,e1))&(r2(e1,f1))\": ["
    "[{\"s1\": 0, \"r1\": 0, \"r2\": 2}, {\"f1\": [[3], [4], [7]]}, {\"f1\": [[6]]}],"
    "[{\"s1\": 0, \"r1\": 0, \"r2\": 2}, {\"f1\": [[4]]}, {\"f1\": [[6]]}]]}";

static void test_qac_measures_follow_from_the_decisions(void **state)
{
    const world *all = *state;
    acq_bench_file *file = parse(qac_json, "qac.json", ACQ_TASK_QAC);
    acq_eval_params params = params_for(ACQ_TASK_QAC, all->closed);
    acq_eval_row row = run(&params, file);
    assert_int_equal(row.n_queries, 1);
    assert_int_equal(row.n_sets, 2);
    assert_int_equal(row.n_decisions, 6);
    assert_near(row.qac.f1, 25.0);                /* 1/2 and 0 */
    assert_near(row.qac.f1_matched, 200.0 / 3.0); /* the second set is dropped */
    assert_near(row.qac.recall_seen, 50.0);
    assert_near(row.qac.recall_unseen, 0.0);
    assert_near(row.qac.wrong_accepted, 0.0);
    assert_near(row.auc_matched, 75.0); /* 3 above 6, 7 level with it */
    assert_near(row.always_yes.f1, 100.0 * (6.0 / 7.0 + 2.0 / 3.0) / 2.0);
    assert_near(row.always_yes.f1_matched, 80.0);
    assert_string_equal(row.atoms, "written");
    acq_bench_file_free(file);
}

static void test_qac_with_the_perfect_predictor_is_perfect(void **state)
{
    const world *all = *state;
    acq_bench_file *file = parse(qac_json, "qac.json", ACQ_TASK_QAC);
    acq_eval_params params = params_for(ACQ_TASK_QAC, all->perfect);
    acq_eval_row row = run(&params, file);
    assert_near(row.qac.f1, 100.0);
    assert_near(row.qac.f1_matched, 100.0);
    assert_near(row.auc_matched, 100.0);
    assert_int_equal(row.n_undecided, 0);
    acq_bench_file_free(file);
}

static void test_first_takes_candidate_sets_in_file_order(void **state)
{
    const world *all = *state;
    acq_bench_file *file = parse(qac_json, "qac.json", ACQ_TASK_QAC);
    acq_eval_params params = params_for(ACQ_TASK_QAC, all->closed);
    params.first = 1;
    acq_eval_row row = run(&params, file);
    assert_int_equal(row.n_sets, 1);
    assert_int_equal(row.n_decisions, 4);
    assert_near(row.qac.f1, 50.0);
    acq_bench_file_free(file);
}

static void test_negated_atoms_take_no_part_in_the_seen_test(void **state)
{
    const world *all = *state;
    acq_bench_file *file =
        parse("{\"(r1(s1,f1))&(!(r2(f1,s2)))\": [[{\"s1\": 0, \"s2\": 3, \"r1\": 0, \"r2\": 2}, "
              "{\"f1\": [[2]]}, {\"f1\": [[1]]}]]}",
              "qac.json", ACQ_TASK_QAC);
    acq_eval_params params = params_for(ACQ_TASK_QAC, all->closed);
    acq_eval_row row = run(&params, file);
    assert_near(row.qac.f1, 100.0);
    assert_near(row.qac.recall_seen, 100.0); /* 2 has no outgoing q, and need not */
    acq_bench_file_free(file);
}

static void test_hub_files_of_qac_are_read_by_pairs_unless_told_otherwise(void **state)
{
    const world *all = *state;
    acq_bench_file *file = parse("{\"(r1(s1,f1))&(r2(s1,f1))\": [[{\"s1\": 1, \"r1\": 0, \"r2\": "
                                 "2}, {\"f1\": [[3]]}, {\"f1\": [[6]]}]]}",
                                 "x/qac_3hub.json", ACQ_TASK_QAC);
    acq_eval_params params = params_for(ACQ_TASK_QAC, all->closed);
    acq_eval_row row = run(&params, file);
    assert_string_equal(row.atoms, "pair");
    assert_string_equal(row.file, "qac_3hub.json");
    assert_near(row.qac.f1, 100.0); /* only q(1, f1) counts */
    params.has_atoms = true;
    params.atoms = ACQ_ATOMS_WRITTEN;
    row = run(&params, file);
    assert_string_equal(row.atoms, "written");
    assert_near(row.qac.f1, 0.0);
    acq_bench_file_free(file);
}

static const char qar_json[] =
    "{\"(r1(s1,e1))&(r2(e1,f1))\": [[{\"s1\": 0, \"r1\": 0, \"r2\": 2}, {\"f1\": [[3], [4], [7]]}, "
    "\"e\"]],"
    "\"(r2(s1,f1))\": [[{\"s1\": 2, \"r2\": 2}, {\"f1\": [[4]]}, \"h\"],"
    "[{\"s1\": 7, \"r2\": 2}, {\"f1\": []}, \"n\"]]}";

static void test_qar_closed_world_answers_what_is_observed(void **state)
{
    const world *all = *state;
    acq_bench_file *file = parse(qar_json, "qar.json", ACQ_TASK_QAR);
    acq_eval_params params = params_for(ACQ_TASK_QAR, all->closed);
    acq_eval_row row = run(&params, file);
    assert_int_equal(row.n_queries, 2);
    assert_int_equal(row.n_decisions, 3);
    assert_near(row.qar.recall, 50.0);
    assert_near(row.qar.precision, 100.0);
    assert_near(row.qar.recall_easy, 100.0);
    assert_near(row.qar.recall_hard, 0.0);
    assert_near(row.qar.f1, 200.0 / 3.0);
    assert_true(isnan(row.qar.f1_verified) && isnan(row.prior));
    params.truth = all->perfect;
    row = run(&params, file);
    assert_near(row.qar.f1_verified, 200.0 / 3.0);
    acq_bench_file_free(file);
}

/* A list of 500 that lacks the answer 3. */
static acq_bench_file *cut_list(void)
{
    acq_text text;
    acq_text_init(&text);
    acq_text_add(&text, "{\"(r1(s1,e1))&(r2(e1,f1))\": [[{\"s1\": 0, \"r1\": 0, \"r2\": 2}, "
                        "{\"f1\": [[4]");
    for (int i = 1; i < ACQ_BENCH_LIST_END; i++)
        acq_text_add(&text, ", [7]");
    acq_text_add(&text, "]}, \"e\"]]}");
    acq_bench_file *file = parse(text.bytes, "qar.json", ACQ_TASK_QAR);
    acq_text_deinit(&text);
    return file;
}

static void test_a_cut_list_is_completed_by_the_truth_graph(void **state)
{
    const world *all = *state;
    acq_bench_file *file = cut_list();
    acq_eval_params params = params_for(ACQ_TASK_QAR, all->closed);
    acq_eval_row row = run(&params, file);
    assert_int_equal(row.n_unlisted, 1);
    assert_near(row.qar.f1, 0.0);
    params.truth = all->perfect;
    row = run(&params, file);
    assert_int_equal(row.n_unlisted, 0);
    assert_near(row.qar.f1, 100.0);
    acq_bench_file_free(file);
}

static void test_a_cut_list_is_completed_by_a_perfect_predictor(void **state)
{
    const world *all = *state;
    acq_bench_file *file = cut_list();
    acq_eval_params params = params_for(ACQ_TASK_QAR, all->perfect);
    params.is_perfect = true;
    acq_eval_row row = run(&params, file);
    assert_int_equal(row.n_unlisted, 0);
    assert_near(row.qar.f1, 100.0);
    assert_true(isnan(row.qar.f1_verified));
    acq_bench_file_free(file);
}

static void test_total_pools_the_decisions_of_all_files(void **state)
{
    const world *all = *state;
    acq_bench_file *one = parse(qac_json, "qac_3hub.json", ACQ_TASK_QAC);
    acq_bench_file *two = parse(qac_json, "qac.json", ACQ_TASK_QAC);
    const acq_bench_file *files[] = {one, two};
    acq_eval_row rows[3];
    acq_eval_params params = params_for(ACQ_TASK_QAC, all->closed);
    assert_int_equal(acq_eval_run(&params, files, 2, rows, NULL), ACQ_OK);
    assert_string_equal(rows[2].file, "total");
    assert_string_equal(rows[2].atoms, "mixed");
    assert_int_equal(rows[2].n_queries, 2);
    assert_int_equal(rows[2].n_decisions, 12);
    assert_near(rows[2].qac.f1, 25.0);
    assert_near(rows[2].auc_matched, 75.0);
    acq_bench_file_free(one);
    acq_bench_file_free(two);
}

/* Everything but the times. */
static void test_results_do_not_depend_on_the_number_of_threads(void **state)
{
    const world *all = *state;
    acq_bench_file *file = parse(qac_json, "qac.json", ACQ_TASK_QAC);
    acq_eval_params params = params_for(ACQ_TASK_QAC, all->perfect);
    params.engine.engine = ACQ_ENGINE_random;
    params.engine.search.steps = 3; /* some are found, some are not */
    acq_eval_row first = run(&params, file);
    for (unsigned n = 2; n <= 4; n++) {
        params.n_threads = n;
        acq_eval_row row = run(&params, file);
        assert_memory_equal(&row.qac, &first.qac, sizeof row.qac);
        assert_int_equal(row.n_undecided, first.n_undecided);
        assert_int_equal(row.nodes, first.nodes);
    }
    acq_bench_file_free(file);
}

/* Candidates of a set go through one batch: as if each were alone, at any number of threads. */
static void test_policy_decides_a_set_in_one_batch(void **state)
{
    const world *all = *state;
    acq_bench_file *file = parse(qac_json, "qac.json", ACQ_TASK_QAC);
    acq_eval_params params = params_for(ACQ_TASK_QAC, all->perfect);
    acq_policy *policy;
    assert_int_equal(acq_policy_open("untrained:4", 1, &policy, NULL), ACQ_OK);
    params.engine.engine = ACQ_ENGINE_policy;
    params.engine.search.policy.policy = policy;
    params.engine.search.steps = 2; /* some are found, some are not */
    acq_eval_row first = run(&params, file);
    assert_string_equal(first.weights, "untrained");
    assert_true(first.classes_mean > 0 && first.gflop > 0);
    assert_true(first.qac.f1 > 0 && first.n_undecided > 1);
    for (unsigned n = 2; n <= 4; n++) {
        params.n_threads = n;
        acq_eval_row row = run(&params, file);
        assert_memory_equal(&row.qac, &first.qac, sizeof row.qac);
        assert_int_equal(row.nodes, first.nodes);
        assert_near(row.classes_mean, first.classes_mean);
    }
    params.engine.search.steps = 500;
    assert_near(run(&params, file).qac.f1, 100.0);
    acq_policy_free(policy);
    acq_bench_file_free(file);
}

static bool count_calls(void *context, size_t done, size_t all)
{
    size_t *last = context;
    assert_true(done > *last && done <= all);
    *last = done;
    return true;
}

static void test_progress_ends_at_the_last_instance(void **state)
{
    const world *all = *state;
    acq_bench_file *file = parse(qar_json, "qar.json", ACQ_TASK_QAR);
    acq_eval_params params = params_for(ACQ_TASK_QAR, all->closed);
    size_t last = 0;
    params.progress = count_calls;
    params.context = &last;
    run(&params, file);
    assert_int_equal(last, 3);
    acq_bench_file_free(file);
}

static void test_a_reading_that_does_not_apply_is_an_error_with_its_place(void **state)
{
    const world *all = *state;
    acq_bench_file *file = parse("{\"(r1(s1,f1))|(r2(s1,f1))\": [[{\"s1\": 1, \"r1\": 0, \"r2\": "
                                 "2}, {\"f1\": [[3]]}, {\"f1\": [[6]]}]]}",
                                 "qac.json", ACQ_TASK_QAC);
    const acq_bench_file *files[] = {file};
    acq_eval_params params = params_for(ACQ_TASK_QAC, all->closed);
    acq_eval_row rows[2];
    acq_error error = {0};
    params.has_atoms = true;
    params.atoms = ACQ_ATOMS_PAIR;
    assert_int_equal(acq_eval_run(&params, files, 1, rows, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "formula 1: "));
    assert_string_equal(error.file, "qac.json");
    acq_bench_file_free(file);
}

#ifdef ACQ_FAULTS
static void test_every_failed_allocation_is_reported(void **state)
{
    const world *all = *state;
    acq_bench_file *file = parse(qar_json, "qar.json", ACQ_TASK_QAR);
    const acq_bench_file *files[] = {file};
    acq_eval_params params = params_for(ACQ_TASK_QAR, all->closed);
    acq_eval_row rows[2];
    acq_status status = ACQ_ERR_MEMORY;
    params.truth = all->perfect;
    for (size_t n = 1; status != ACQ_OK; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = acq_eval_run(&params, files, 1, rows, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || (status == ACQ_ERR_MEMORY && error.code == status));
    }
    acq_bench_file_free(file);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qac_measures_follow_from_the_decisions),
        cmocka_unit_test(test_qac_with_the_perfect_predictor_is_perfect),
        cmocka_unit_test(test_first_takes_candidate_sets_in_file_order),
        cmocka_unit_test(test_negated_atoms_take_no_part_in_the_seen_test),
        cmocka_unit_test(test_hub_files_of_qac_are_read_by_pairs_unless_told_otherwise),
        cmocka_unit_test(test_qar_closed_world_answers_what_is_observed),
        cmocka_unit_test(test_a_cut_list_is_completed_by_the_truth_graph),
        cmocka_unit_test(test_a_cut_list_is_completed_by_a_perfect_predictor),
        cmocka_unit_test(test_total_pools_the_decisions_of_all_files),
        cmocka_unit_test(test_results_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(test_policy_decides_a_set_in_one_batch),
        cmocka_unit_test(test_progress_ends_at_the_last_instance),
        cmocka_unit_test(test_a_reading_that_does_not_apply_is_an_error_with_its_place),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
