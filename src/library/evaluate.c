/* evaluate.c - an engine and a predictor judged on query files (eval/eval.h) or by links that were
 * not seen (eval/links.h), for programs. */
#include "library/parts.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/threads.h"
#include "eval/eval.h"
#include "generate/generate.h"
#include "predict/rows.h"

static const double DEFAULT_PRIOR = 0.5;

static double get_prior(const acq_library_question *question)
{
    return question->params.prior > 0 ? question->params.prior : DEFAULT_PRIOR;
}

static unsigned count_threads(unsigned wanted)
{
    return wanted > 0 ? wanted : acq_threads_available();
}

static acq_status check_same_graph(const acq_predictor *predictor, const acq_predictor *other,
                                   const char *name, acq_error *error)
{
    if (other == NULL || other->graph == predictor->graph)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "%s is of another graph than the predictor; make both with the graph of one "
                    "acq_graph_open",
                    name);
}

/* ---- progress ---- */

enum { TELL_NS = 100000000, STEPS = 1000 };

typedef struct teller {
    acq_progress_fn progress; /* NULL: none */
    void *context;
    const char *phase;
    int64_t told_ns;
} teller;

static bool tell(void *context, size_t done, size_t all)
{
    teller *t = context;
    int64_t now = acq_clock_ns();
    if (t->progress == NULL || now - t->told_ns < TELL_NS)
        return true;
    t->told_ns = now;
    return t->progress(t->context, &(acq_progress){.phase = t->phase, .done = done, .total = all});
}

static bool tell_share(void *context, double done)
{
    return tell(context, (size_t)(done * STEPS), STEPS);
}

/* ---- query files ---- */

struct acq_evaluation {
    acq_library_question question; /* its weights, which rows name */
    acq_bench_file **files;
    size_t n_files;
    acq_eval_row *rows; /* one per file and the total */
    acq_text *lines;    /* the same as JSON */
    acq_text table;
};

void acq_evaluate_params_init_sized(acq_evaluate_params *params, size_t size)
{
    acq_evaluate_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

/* Deinit the question on success. */
static acq_status read_params(const char *function, const acq_evaluate_params *given,
                              acq_evaluate_params *params, acq_eval_params *out,
                              acq_library_question *question, acq_error *error)
{
    *params = (acq_evaluate_params){0};
    *out = ACQ_EVAL_DEFAULT;
    acq_status status = acq_sized_read(function, given, params, sizeof *params, error);
    if (status != ACQ_OK)
        return status;
    out->has_atoms = params->atoms != NULL;
    if (out->has_atoms)
        out->atoms = acq_atoms_reading_find(params->atoms);
    if (out->has_atoms && out->atoms == ACQ_N_ATOMS_READINGS)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "no reading \"%.100s\" of the atoms; use written, pair or ordered-pair",
                        params->atoms);
    status = acq_library_read_ask(function, params->ask, question, error);
    if (status != ACQ_OK)
        return status;
    out->truth = params->truth;
    out->engine = question->params;
    out->prior = get_prior(question);
    out->first = (size_t)params->first;
    out->ranks = params->ranks;
    out->n_threads = count_threads(params->threads);
    out->deadline_ns = params->seconds > 0 ? acq_clock_get_deadline(params->seconds) : 0;
    return ACQ_OK;
}

acq_status acq_evaluate_check(const acq_evaluate_params *given, acq_error *error)
{
    acq_evaluate_params params;
    acq_eval_params unused;
    acq_library_question question = {0};
    acq_status status = read_params(__func__, given, &params, &unused, &question, error);
    acq_library_question_deinit(&question);
    return status;
}

static acq_status read_file(const char *path, const acq_eval_params *params, acq_bench_file **out,
                            acq_error *error)
{
    const acq_graph *graph = params->predictor->graph;
    acq_bench_limits limits = {acq_graph_get_n_entities(graph), acq_graph_get_n_relations(graph)};
    acq_bench_file *file;
    acq_status status = acq_bench_file_read(path, params->task, limits, &file, error);
    if (status != ACQ_OK)
        return status;
    acq_atoms_reading atoms = params->has_atoms ? params->atoms : acq_bench_file_get_atoms(file);
    status = acq_bench_file_keep_readable(file, atoms, error);
    if (status == ACQ_OK)
        *out = file;
    else
        acq_bench_file_free(file);
    return status;
}

static acq_status read_files(acq_evaluation *e, const char *const *files, size_t n,
                             const acq_eval_params *params, acq_error *error)
{
    acq_status status = ACQ_OK;
    e->files = acq_zalloc(n, sizeof(acq_bench_file *));
    e->rows = acq_zalloc(n + 1, sizeof *e->rows);
    e->lines = acq_zalloc(n + 1, sizeof *e->lines);
    if (e->files == NULL || e->rows == NULL || e->lines == NULL)
        return acq_fail_memory(error);
    for (; e->n_files < n && status == ACQ_OK; e->n_files += status == ACQ_OK)
        status = read_file(files[e->n_files], params, &e->files[e->n_files], error);
    return status;
}

static acq_status print(acq_evaluation *e, acq_error *error)
{
    acq_eval_print_table(&e->table, e->rows, e->n_files + 1);
    acq_status status = acq_text_finish(&e->table, error);
    for (size_t i = 0; i <= e->n_files && status == ACQ_OK; i++) {
        acq_eval_print_json(&e->lines[i], &e->rows[i]);
        status = acq_text_finish(&e->lines[i], error);
    }
    return status;
}

static acq_status evaluate(acq_evaluation *e, acq_eval_params *eval, const char *const *files,
                           size_t n_files, acq_error *error)
{
    acq_status status =
        check_same_graph(eval->predictor, eval->truth, "acq_evaluate: params->truth", error);
    if (status == ACQ_OK)
        status = read_files(e, files, n_files, eval, error);
    if (status == ACQ_OK)
        status =
            acq_eval_run(eval, (const acq_bench_file *const *)e->files, n_files, e->rows, error);
    return status == ACQ_OK ? print(e, error) : status;
}

acq_status acq_evaluate(const acq_predictor *predictor, acq_bench_task task,
                        const char *const *files, size_t n_files, const acq_evaluate_params *given,
                        acq_evaluation **out, acq_error *error)
{
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(files, error);
    ACQ_REQUIRE(out, error);
    for (size_t i = 0; i < n_files; i++)
        ACQ_REQUIRE(files[i], error);
    if (n_files == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "acq_evaluate: there is no file");
    acq_evaluation *e = acq_zalloc(1, sizeof *e);
    if (e == NULL)
        return acq_fail_memory(error);
    acq_evaluate_params params;
    acq_eval_params eval;
    acq_status status = read_params(__func__, given, &params, &eval, &e->question, error);
    teller t = {.progress = params.progress, .context = params.context, .phase = "evaluating"};
    eval.task = task;
    eval.predictor = predictor;
    eval.is_perfect = strncmp(predictor->name, "perfect:", strlen("perfect:")) == 0;
    eval.progress = tell;
    eval.context = &t;
    if (status == ACQ_OK)
        status = evaluate(e, &eval, files, n_files, error);
    if (status == ACQ_OK)
        *out = e;
    else
        acq_evaluation_free(e);
    return status;
}

size_t acq_evaluation_get_n(const acq_evaluation *evaluation)
{
    return evaluation == NULL ? 0 : evaluation->n_files + 1;
}

const acq_eval_row *acq_evaluation_get(const acq_evaluation *evaluation, size_t i)
{
    return i < acq_evaluation_get_n(evaluation) ? &evaluation->rows[i] : NULL;
}

const char *acq_evaluation_get_json(const acq_evaluation *evaluation, size_t i)
{
    return i < acq_evaluation_get_n(evaluation) ? evaluation->lines[i].bytes : "";
}

const char *acq_evaluation_get_table(const acq_evaluation *evaluation)
{
    return evaluation == NULL ? "" : evaluation->table.bytes;
}

void acq_evaluation_free(acq_evaluation *e)
{
    if (e == NULL)
        return;
    for (size_t i = 0; e->files != NULL && i < e->n_files; i++)
        acq_bench_file_free(e->files[i]);
    for (size_t i = 0; e->lines != NULL && i <= e->n_files; i++)
        acq_text_deinit(&e->lines[i]);
    acq_free(e->files);
    acq_free(e->rows);
    acq_free(e->lines);
    acq_text_deinit(&e->table);
    acq_library_question_deinit(&e->question);
    acq_free(e);
}

/* ---- rankings ---- */

struct acq_ranking {
    acq_cqa_file *file;
    acq_cqa_row *rows;
};

void acq_ranking_free(acq_ranking *ranking)
{
    if (ranking == NULL)
        return;
    acq_cqa_file_free(ranking->file);
    acq_free(ranking->rows);
    acq_free(ranking);
}

static acq_status rank_file(acq_ranking *ranking, const char *path, const acq_eval_params *eval,
                            acq_error *error)
{
    const acq_graph *graph = eval->predictor->graph;
    acq_bench_limits limits = {acq_graph_get_n_entities(graph), acq_graph_get_n_relations(graph)};
    acq_status status = acq_cqa_file_read(path, limits, &ranking->file, error);
    if (status != ACQ_OK)
        return status;
    ranking->rows = acq_zalloc(ranking->file->n_types + 1, sizeof *ranking->rows);
    return ranking->rows == NULL ? acq_fail_memory(error)
                                 : acq_cqa_run(eval, ranking->file, ranking->rows, error);
}

acq_status acq_rank_file(const acq_predictor *predictor, const char *path,
                         const acq_evaluate_params *given, acq_ranking **out, acq_error *error)
{
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(path, error);
    ACQ_REQUIRE(out, error);
    acq_evaluate_params params;
    acq_eval_params eval;
    acq_library_question question = {0};
    acq_ranking *ranking = acq_zalloc(1, sizeof *ranking);
    if (ranking == NULL)
        return acq_fail_memory(error);
    acq_status status = read_params(__func__, given, &params, &eval, &question, error);
    teller t = {.progress = params.progress, .context = params.context, .phase = "ranking"};
    eval.predictor = predictor;
    eval.progress = tell;
    eval.context = &t;
    if (status == ACQ_OK)
        status = rank_file(ranking, path, &eval, error);
    acq_library_question_deinit(&question);
    if (status == ACQ_OK)
        *out = ranking;
    else
        acq_ranking_free(ranking);
    return status;
}

size_t acq_ranking_get_n(const acq_ranking *ranking)
{
    return ranking == NULL ? 0 : ranking->file->n_types + 1;
}

const acq_cqa_row *acq_ranking_get(const acq_ranking *ranking, size_t i)
{
    return i < acq_ranking_get_n(ranking) ? &ranking->rows[i] : NULL;
}

size_t acq_ranking_get_left_out(const acq_ranking *ranking, const char **why)
{
    if (why != NULL)
        *why = ranking == NULL ? NULL : ranking->file->why_out;
    return ranking == NULL ? 0 : ranking->file->n_left_out;
}

/* ---- links ---- */

void acq_evaluate_links_params_init_sized(acq_evaluate_links_params *params, size_t size)
{
    acq_evaluate_links_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

static acq_status check_graphs(const acq_predictor *predictor, const acq_predictor *truth,
                               const acq_evaluate_links_params *params, acq_error *error)
{
    acq_status status = check_same_graph(predictor, truth, "acq_evaluate_links: truth", error);
    if (status == ACQ_OK)
        status = check_same_graph(predictor, params->filter, "acq_evaluate_links: params->filter",
                                  error);
    return status == ACQ_OK ? check_same_graph(predictor, params->negatives,
                                               "acq_evaluate_links: params->negatives", error)
                            : status;
}

static acq_status rank(const acq_predictor *predictor, const acq_predictor *truth,
                       const acq_evaluate_links_params *params, acq_links_report *report,
                       acq_error *error)
{
    const acq_row_model *model;
    acq_status status = acq_predictor_open_model(predictor, &model, error);
    if (status != ACQ_OK)
        return status;
    if (model != NULL && params->negatives != NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "raw scores decide nothing: negatives need another predictor than %.100s",
                        predictor->name);
    teller t = {.progress = params->progress, .context = params->context, .phase = "ranking"};
    acq_eval_links_params eval = {.truth = truth,
                                  .filter = params->filter,
                                  .predictor = predictor,
                                  .model = model,
                                  .with_table = acq_predictor_is_calibrated(predictor),
                                  .first = params->first,
                                  .ranks = params->ranks,
                                  .n_threads = count_threads(params->threads),
                                  .progress = tell_share,
                                  .context = &t};
    status = acq_eval_links(&eval, report, error);
    report->is_model = model != NULL;
    return status;
}

static acq_status decide(const acq_predictor *predictor, const acq_predictor *truth,
                         const acq_evaluate_links_params *params, acq_links_report *report,
                         acq_error *error)
{
    acq_library_question question = {0};
    acq_status status = acq_library_read_ask("acq_evaluate_links", params->ask, &question, error);
    if (status != ACQ_OK)
        return status;
    teller t = {.progress = params->progress, .context = params->context, .phase = "deciding"};
    acq_links_decide_params decide = {.predictor = predictor,
                                      .truth = truth,
                                      .negatives = params->negatives,
                                      .engine = question.params,
                                      .first = params->first,
                                      .n_threads = count_threads(params->threads),
                                      .progress = tell_share,
                                      .context = &t};
    decide.engine.prior = get_prior(&question);
    report->has_decisions = true;
    report->prior = acq_engine_gives_p(&decide.engine, predictor) ? decide.engine.prior : NAN;
    status = acq_links_decide(&decide, &report->decisions, error);
    acq_library_question_deinit(&question);
    return status;
}

acq_status acq_evaluate_links(const acq_predictor *predictor, const acq_predictor *truth,
                              const acq_evaluate_links_params *given, acq_links_report *report,
                              acq_error *error)
{
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(truth, error);
    ACQ_REQUIRE(report, error);
    acq_evaluate_links_params params = {0};
    acq_links_report own = {0};
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = check_graphs(predictor, truth, &params, error);
    if (status == ACQ_OK)
        status = rank(predictor, truth, &params, &own, error);
    if (status == ACQ_OK && params.negatives != NULL)
        status = decide(predictor, truth, &params, &own, error);
    if (status == ACQ_OK)
        acq_sized_fill(report, &own, sizeof own);
    return status;
}

/* ---- generate ----
 *
 * Benchmarks made from two graphs (generate/generate.h), for programs. */

void acq_generate_params_init_sized(acq_generate_params *params, size_t size)
{
    acq_generate_params own = {.seed = 1, .constants = -1, .leaves = -1};
    acq_sized_init(params, size, &own, sizeof own);
}

acq_status acq_generate(const acq_graph *observed, const acq_graph *complete, const char *path,
                        const acq_generate_params *given, acq_generate_report *report,
                        acq_error *error)
{
    ACQ_REQUIRE(observed, error);
    ACQ_REQUIRE(complete, error);
    ACQ_REQUIRE(path, error);
    acq_generate_params params = {.seed = 1, .constants = -1, .leaves = -1};
    acq_generate_report own = {0};
    acq_graph *aligned = NULL;
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = acq_generate_settle(&params, error);
    if (status == ACQ_OK)
        status = acq_generate_align(observed, complete, &aligned, error);
    if (status == ACQ_OK)
        status = acq_generate_run(observed, aligned != NULL ? aligned : complete, path, &params,
                                  &own, error);
    if (aligned != NULL)
        own.n_left_out = acq_graph_get_n_facts(complete) - acq_graph_get_n_facts(aligned);
    acq_graph_free(aligned);
    if (report != NULL)
        acq_sized_fill(report, &own, sizeof own);
    return status;
}
