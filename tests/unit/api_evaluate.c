/* api_evaluate.c - evaluation, SQL and fits through the public library: the numbers that the
 * command prints, as structs and as lines; progress that stops; parameters and graphs that do not
 * fit. */
#include <math.h>
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

#define BENCH ACQ_SOURCE_DIR "/tests/data/bench/graph/"

static acq_graph *graph;
static acq_predictor *observed, *perfect;

static int set_up(void **state)
{
    (void)state;
    return acq_graph_open(BENCH "train_kg.tsv", NULL, &graph, NULL) != ACQ_OK ||
           acq_predictor_new(graph, "observed", NULL, &observed, NULL) != ACQ_OK ||
           acq_predictor_new(graph, "perfect:" BENCH "valid_kg.tsv", NULL, &perfect, NULL) !=
               ACQ_OK;
}

static int tear_down(void **state)
{
    (void)state;
    acq_predictor_free(perfect);
    acq_predictor_free(observed);
    acq_graph_free(graph);
    return 0;
}

static acq_evaluation *evaluate(const acq_predictor *predictor, acq_bench_task task,
                                const char *file, const acq_evaluate_params *params)
{
    const char *files[] = {file, file};
    acq_evaluation *evaluation = NULL;
    acq_error error = {0};
    if (acq_evaluate(predictor, task, files, 2, params, &evaluation, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return evaluation;
}

static void test_classification_has_a_row_for_each_file_and_a_total(void **state)
{
    (void)state;
    acq_evaluation *e = evaluate(observed, ACQ_TASK_QAC, BENCH "qac.json", NULL);
    assert_int_equal(acq_evaluation_get_n(e), 3);
    const acq_eval_row *first = acq_evaluation_get(e, 0), *total = acq_evaluation_get(e, 2);
    assert_string_equal(first->file, "qac.json");
    assert_string_equal(first->engine, "exact");
    assert_string_equal(first->atoms, "written");
    assert_float_equal(first->qac.f1, 25.0, 1e-3);
    assert_float_equal(first->qac.f1_matched, 66.6667, 1e-3);
    assert_float_equal(first->prior, 0.5, 0);
    assert_int_equal(first->n_decisions, 6);
    assert_string_equal(total->file, "total");
    assert_int_equal(total->n_decisions, 12);
    assert_non_null(strstr(acq_evaluation_get_json(e, 0), "\"f1\": 25.0000, "));
    assert_non_null(strstr(acq_evaluation_get_json(e, 2), "\"file\": \"total\", "));
    assert_non_null(strstr(acq_evaluation_get_table(e), "always yes"));
    assert_null(acq_evaluation_get(e, 3));
    assert_string_equal(acq_evaluation_get_json(e, 3), "");
    acq_evaluation_free(e);
}

static void test_retrieval_is_judged_by_the_truth(void **state)
{
    (void)state;
    acq_evaluate_params params;
    acq_evaluate_params_init(&params);
    params.truth = perfect;
    params.threads = 2;
    acq_evaluation *e = evaluate(perfect, ACQ_TASK_QAR, BENCH "qar.json", &params);
    const acq_eval_row *row = acq_evaluation_get(e, 0);
    assert_float_equal(row->qar.f1, 100.0, 1e-3);
    assert_float_equal(row->qar.f1_verified, 100.0, 1e-3);
    assert_int_equal(row->n_undecided, 0);
    acq_evaluation_free(e);
    params.truth = NULL;
    params.first = 1;
    e = evaluate(observed, ACQ_TASK_QAR, BENCH "qar.json", &params);
    row = acq_evaluation_get(e, 0);
    assert_int_equal(row->n_sets, 1);
    assert_true(isnan(row->qar.f1_verified));
    acq_evaluation_free(e);
}

static void expect_refused(const acq_evaluate_params *params, acq_status status, const char *part)
{
    const char *files[] = {BENCH "qac.json"};
    acq_evaluation *evaluation = NULL;
    acq_error error = {0};
    assert_int_equal(acq_evaluate(observed, ACQ_TASK_QAC, files, 1, params, &evaluation, &error),
                     status);
    assert_null(evaluation);
    if (strstr(error.message, part) == NULL)
        fail_msg("no \"%s\" in: %s", part, error.message);
}

static bool stop(void *context, const acq_progress *now)
{
    assert_true(now->done <= now->total);
    ++*(int *)context;
    return false;
}

static void test_what_does_not_fit_is_refused_and_progress_stops(void **state)
{
    (void)state;
    acq_graph *other_graph;
    acq_predictor *other;
    acq_evaluate_params params;
    acq_ask_params ask;
    int n_calls = 0;
    assert_int_equal(acq_graph_open(BENCH "train_kg.tsv", NULL, &other_graph, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new(other_graph, "observed", NULL, &other, NULL), ACQ_OK);
    acq_evaluate_params_init(&params);
    params.truth = other;
    expect_refused(&params, ACQ_ERR_USAGE, "params->truth is of another graph");
    params.truth = NULL;
    params.atoms = "some";
    expect_refused(&params, ACQ_ERR_USAGE, "no reading \"some\" of the atoms");
    assert_int_equal(acq_evaluate_check(&params, NULL), ACQ_ERR_USAGE);
    params.atoms = "pair";
    acq_ask_params_init(&ask);
    ask.engine = "warp";
    params.ask = &ask;
    expect_refused(&params, ACQ_ERR_USAGE, "no engine \"warp\"");
    ask.engine = "exact";
    params.progress = stop;
    params.context = &n_calls;
    params.threads = 1; /* of several, the one that tells may be late */
    expect_refused(&params, ACQ_ERR_INTERRUPTED, "interrupted");
    assert_int_equal(n_calls, 1);
    assert_int_equal(acq_evaluate(observed, ACQ_TASK_QAC, &(const char *){NULL}, 0, NULL,
                                  &(acq_evaluation *){NULL}, NULL),
                     ACQ_ERR_USAGE);
    acq_predictor_free(other);
    acq_graph_free(other_graph);
}

/* ---- links ---- */

static void test_links_are_ranked_and_decided(void **state)
{
    (void)state;
    acq_links_report report = {.size = sizeof report};
    acq_evaluate_links_params params;
    acq_predictor *negatives;
    acq_predictor_report facts = {.size = sizeof facts};
    assert_int_equal(acq_predictor_new_of_facts(graph, graph, "facts", &negatives, &facts, NULL),
                     ACQ_OK);
    assert_int_equal(facts.dropped_facts, 0);
    assert_string_equal(acq_predictor_get_name(negatives), "facts");
    assert_int_equal(acq_evaluate_links(perfect, perfect, NULL, &report, NULL), ACQ_OK);
    assert_int_equal(report.n_links, 4);
    assert_float_equal(report.mrr, 1.0, 0);
    assert_false(report.is_model || report.has_table || report.has_decisions);
    acq_evaluate_links_params_init(&params);
    params.negatives = negatives; /* all of them are observed: none is left */
    assert_int_equal(acq_evaluate_links(perfect, perfect, &params, &report, NULL), ACQ_OK);
    assert_true(report.has_decisions && isnan(report.prior));
    assert_int_equal(report.decisions.n_true, 2);
    assert_int_equal(report.decisions.true_yes, 2);
    assert_int_equal(report.decisions.n_false, 0);
    int n_calls = 0;
    params.progress = stop;
    params.context = &n_calls;
    params.threads = 1;
    assert_int_equal(acq_evaluate_links(perfect, perfect, &params, &report, NULL),
                     ACQ_ERR_INTERRUPTED);
    assert_int_equal(n_calls, 1);
    acq_predictor_free(negatives);
}

/* A model is ranked by its raw scores, and decides nothing. */
static void test_models_are_ranked_by_raw_scores(void **state)
{
    (void)state;
    char model[] = "/tmp/anycq-evaluate-XXXXXX", spec[64];
    close(mkstemp(model));
    const acq_graph *graphs[] = {graph};
    acq_train_option options[] = {{"rank", "4"}, {"epochs", "2"}, {"f32", NULL}, {"threads", "1"}};
    acq_train_params train;
    acq_train_params_init(&train);
    train.options = options;
    train.n_options = 4;
    assert_int_equal(acq_train("complex", graphs, 1, model, &train, NULL, NULL), ACQ_OK);
    snprintf(spec, sizeof spec, "complex:%s", model);
    acq_predictor *predictor;
    assert_int_equal(acq_predictor_new(graph, spec, NULL, &predictor, NULL), ACQ_OK);
    acq_links_report report = {.size = sizeof report};
    acq_evaluate_links_params params;
    acq_evaluate_links_params_init(&params);
    assert_int_equal(acq_evaluate_links(predictor, perfect, &params, &report, NULL), ACQ_OK);
    assert_true(report.is_model);
    assert_int_equal(report.n_ranked, 4);
    params.negatives = perfect;
    assert_int_equal(acq_evaluate_links(predictor, perfect, &params, &report, NULL), ACQ_ERR_USAGE);
    acq_predictor_free(predictor);
    unlink(model);
}

/* ---- SQL ---- */

typedef struct statements {
    char text[4096];
    int n, most;
} statements;

static acq_status take(void *context, const char *bytes, size_t length, acq_error *error)
{
    statements *s = context;
    (void)error;
    assert_true(length < sizeof s->text);
    memcpy(s->text, bytes, length);
    s->text[length] = '\0';
    return ++s->n < s->most ? ACQ_OK : ACQ_ERR_INTERRUPTED;
}

static void test_queries_become_sql(void **state)
{
    (void)state;
    statements s = {.most = 100};
    acq_error error = {0};
    assert_int_equal(acq_sql_translate("Q(x) := knows(x, \"Bo\")", take, &s, &error), ACQ_OK);
    assert_string_equal(s.text,
                        "SELECT DISTINCT f1.head AS \"x\" FROM facts AS f1 WHERE f1.relation "
                        "= 'knows' AND f1.tail = 'Bo';\n");
    assert_int_equal(acq_sql_translate("Q(x) := knows(x", take, &s, &error), ACQ_ERR_PARSE);
    assert_true(error.line == 1 && error.column > 1);
    assert_int_equal(acq_sql_translate_file(BENCH "qar.json", 0, take, &s, NULL), ACQ_OK);
    assert_int_equal(s.n, 4);
    assert_int_equal(acq_sql_translate_file(BENCH "qar.json", 2, take, &s, NULL), ACQ_OK);
    assert_int_equal(s.n, 6);
    s.most = 7;
    assert_int_equal(acq_sql_translate_file(BENCH "qac.json", 0, take, &s, NULL),
                     ACQ_ERR_INTERRUPTED);
    acq_error_clear(&error);
    assert_int_equal(acq_sql_translate_file(BENCH "kgindex.json", 0, take, &s, &error),
                     ACQ_ERR_INPUT);
    assert_string_not_equal(error.message, "");
}

/* ---- fits ---- */

static bool count(void *context, const acq_progress *now)
{
    assert_non_null(now->text);
    ++*(int *)context;
    return true;
}

static void expect_bad_fit(const acq_fit_completion_params *params, const char *message)
{
    acq_error error = {0};
    assert_int_equal(acq_fit_completion_check(params, &error), ACQ_ERR_USAGE);
    assert_string_equal(error.message, message);
}

static void test_fits_take_what_the_command_takes(void **state)
{
    (void)state;
    acq_fit_completion_params params;
    acq_fit_completion_params_init(&params);
    params.hold = "some";
    expect_bad_fit(&params, "no hold \"some\"; use auto, links or pairs");
    params.hold = "pairs";
    params.rows = "none";
    expect_bad_fit(&params, "no rows \"none\"; use both or smaller");
    params.rows = "smaller";
    params.models = "complex+some";
    expect_bad_fit(&params,
                   "no predictor \"complex+some\" to fit; use complex, nbfnet, ultra, rules, all, "
                   "or some, as in complex+rules");
    params.models = "complex";
    params.ultra = "weights";
    expect_bad_fit(&params, "weights of ultra are for the models ultra or all");
    params.ultra = NULL;
    params.tune_seconds = 60;
    expect_bad_fit(&params, "tune_seconds is for the models ultra or all");
    params.models = "all";
    params.tune_seconds = -1;
    expect_bad_fit(&params, "tune_seconds -1 is no time; 0 means none");
    params.tune_seconds = 0;
    params.ultra = "weights";
    assert_int_equal(acq_fit_completion_check(&params, NULL), ACQ_ERR_INPUT);
    params.ultra = NULL;
    params.top = 0;
    expect_bad_fit(&params, "epochs and top must be above 0");
}

/* The predictor that a fit made tells the table that the fit reported. */
static void check_kept_table(const acq_graph *world, const char *path, const acq_reliability *told)
{
    char spec[100];
    acq_predictor *fitted;
    acq_reliability kept;
    snprintf(spec, sizeof spec, "completion:%s", path);
    assert_int_equal(acq_predictor_new(world, spec, NULL, &fitted, NULL), ACQ_OK);
    assert_true(acq_predictor_get_reliability(fitted, &kept));
    assert_float_equal(kept.weight, told->weight, 1e-6 * told->weight);
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        assert_true(kept.bins[i].n == told->bins[i].n && kept.bins[i].low == told->bins[i].low);
        assert_float_equal(kept.bins[i].stated, told->bins[i].stated, 1e-6 * told->weight);
        assert_float_equal(kept.bins[i].truth, told->bins[i].truth, 1e-6 * told->weight);
    }
    acq_predictor_free(fitted);
}

static void test_a_fit_reports_its_tables(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* a fit takes seconds, with sanitizers too many of them; transcripts run some */
#endif
    char path[64], found[64], folder[] = "/tmp/anycq-evaluate-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(acq_completion_find_path(folder, found, sizeof found, NULL), ACQ_OK);
    snprintf(path, sizeof path, "%s/completion", folder);
    assert_string_equal(found, path);
    assert_int_equal(acq_completion_find_path(folder, found, 8, NULL), ACQ_ERR_LIMIT);
    acq_fit_completion_report report = {.size = sizeof report};
    acq_fit_completion_params params;
    acq_graph *world;
    acq_error error = {0};
    int n_calls = 0;
    assert_int_equal(
        acq_graph_open(ACQ_SOURCE_DIR "/tests/cli/data/films.tsv", NULL, &world, &error), ACQ_OK);
    acq_fit_completion_params_init(&params);
    params.rank = 4;
    params.epochs = 1;
    params.top = 3;
    params.no_rules = params.no_neighbours = params.no_lifts = params.f32 = true;
    params.tails = "seen";
    params.progress = count;
    params.context = &n_calls;
    params.report = &report;
    if (acq_fit_completion(world, path, &params, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    assert_true(n_calls > 0 && report.held > 0 && report.candidates > 0);
    assert_true(report.link_table.weight > 0);
    assert_float_equal(report.link_table.bins[12].high, 1.0, 0);
    assert_in_range((int)(1000 * acq_reliability_get_gap(&report.link_table, 0)), 0, 1000);
    check_kept_table(world, path, &report.link_table);
    acq_graph_free(world);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing else is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classification_has_a_row_for_each_file_and_a_total),
        cmocka_unit_test(test_retrieval_is_judged_by_the_truth),
        cmocka_unit_test(test_what_does_not_fit_is_refused_and_progress_stops),
        cmocka_unit_test(test_links_are_ranked_and_decided),
        cmocka_unit_test(test_models_are_ranked_by_raw_scores),
        cmocka_unit_test(test_queries_become_sql),
        cmocka_unit_test(test_fits_take_what_the_command_takes),
        cmocka_unit_test(test_a_fit_reports_its_tables),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
