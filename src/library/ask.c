/* ask.c - questions: parameters read and checked, then ask and check by the engine. A question is
 * watched while it runs: the budget of a search asks `is_stopped` wherever it reads the clock. */
#include "library/parts.h"

#include <string.h>

#include "base/memory.h"

static const char *const norms[ACQ_N_NORMS] = {"mixed", "product", "minimum"};

static acq_t_norm find_norm(const char *name)
{
    unsigned i = 0;
    while (name != NULL && i < ACQ_N_NORMS && strcmp(norms[i], name) != 0)
        i++;
    return (acq_t_norm)i;
}

const char *acq_get_engine(size_t i)
{
    return i < ACQ_N_ENGINES ? acq_engine_get_name((acq_engine_id)i) : NULL;
}

static acq_ask_params get_defaults(void)
{
    acq_engine_params engine = ACQ_ENGINE_DEFAULT;
    return (acq_ask_params){
        .engine = acq_engine_get_name(engine.engine),
        .binarize = engine.search.scoring.binarize,
        .negation_threshold = engine.search.scoring.negation_threshold,
        .limit = engine.search.limit,
        .seconds = engine.search.seconds,
        .memory_bytes = engine.search.memory_bytes,
        .steps = engine.search.steps,
        .seed = engine.search.seed,
        .restart = engine.search.policy.restart,
        .observed_pe = engine.search.policy.closed_world_pe,
        .paper = engine.paper,
        .prior = engine.prior,
        .min_p = engine.min_p,
        .row_seconds = engine.row_seconds,
    };
}

void acq_ask_params_init_sized(acq_ask_params *params, size_t size)
{
    acq_ask_params own = get_defaults();
    acq_sized_init(params, size, &own, sizeof own);
}

/* The negated comparisons also refuse NaN. */
static acq_status check_params(const acq_ask_params *params, acq_error *error)
{
    if (params->engine == NULL || acq_engine_find(params->engine) == ACQ_N_ENGINES)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "no engine \"%s\"; acq_get_engine lists them",
                        params->engine == NULL ? "" : params->engine);
    if (!(params->threshold >= 0 && params->threshold <= 1))
        return acq_fail(error, ACQ_ERR_USAGE, "threshold %g is not between 0 (the default) and 1",
                        params->threshold);
    if (!(params->binarize >= 0 && params->binarize <= 1))
        return acq_fail(error, ACQ_ERR_USAGE, "binarize %g is not between 0 and 1",
                        params->binarize);
    if (!(params->negation_threshold <= 1))
        return acq_fail(error, ACQ_ERR_USAGE, "negation threshold %g is above 1",
                        params->negation_threshold);
    if (!(params->seconds >= 0))
        return acq_fail(error, ACQ_ERR_USAGE, "seconds %g is no time limit; 0 means none",
                        params->seconds);
    if (!(params->row_seconds >= 0))
        return acq_fail(error, ACQ_ERR_USAGE, "row_seconds %g is no time limit; 0 means none",
                        params->row_seconds);
    if (!(params->negation_scale >= 0) || !(params->input_threshold >= 0))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "negation_scale and input_threshold must not be negative");
    if (params->t_norm != NULL && find_norm(params->t_norm) == ACQ_N_NORMS)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "no t-norm \"%.100s\"; use mixed, product or minimum", params->t_norm);
    if (!(params->prior < 1) || params->prior == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "prior %g is not between 0 and 1, nor negative for the natural one",
                        params->prior);
    if (!(params->min_p >= 0 && params->min_p <= 1))
        return acq_fail(error, ACQ_ERR_USAGE, "min_p %g is not between 0 and 1", params->min_p);
    return ACQ_OK;
}

static acq_scoring get_scoring(const acq_ask_params *params)
{
    acq_scoring scoring = ACQ_SCORING_DEFAULT;
    if (params->threshold > 0)
        scoring.threshold = params->threshold;
    scoring.binarize = params->binarize;
    scoring.negation_threshold = params->negation_threshold;
    return acq_scoring_round(scoring);
}

static acq_engine_params make_engine_params(const acq_ask_params *params)
{
    return (acq_engine_params){
        .engine = acq_engine_find(params->engine),
        .search = {.scoring = get_scoring(params),
                   .limit = params->limit,
                   .seconds = params->seconds,
                   .memory_bytes = params->memory_bytes,
                   .steps = params->steps,
                   .seed = params->seed,
                   .stream = params->stream,
                   .policy = {.policy = params->policy,
                              .restart = params->restart,
                              .closed_world_pe = params->observed_pe,
                              .trace = params->trace,
                              .context = params->context},
                   .negation_scale = params->negation_scale,
                   .t_norm = find_norm(params->t_norm),
                   .sql_library = params->sql_library,
                   .input_threshold = params->input_threshold},
        .paper = params->paper,
        .has_threshold = params->threshold > 0,
        .has_negation_threshold = params->negation_threshold >= 0,
        .prior = params->prior,
        .min_p = params->min_p,
        .row_seconds = params->row_seconds,
    };
}

/* A question that needs weights and names none opens the shipped ones. */
static acq_status open_weights(acq_library_question *question, acq_error *error)
{
    acq_engine_params *params = &question->params;
    if (params->engine != ACQ_ENGINE_policy || params->search.policy.policy != NULL)
        return ACQ_OK;
    acq_status status = acq_policy_open("shipped", 0, &question->own_policy, error);
    params->search.policy.policy = question->own_policy;
    return status;
}

acq_status acq_library_read_ask(const char *function, const acq_ask_params *given,
                                acq_library_question *out, acq_error *error)
{
    acq_ask_params params = get_defaults();
    acq_status status = acq_sized_read(function, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = check_params(&params, error);
    if (status != ACQ_OK)
        return status;
    *out = (acq_library_question){.params = make_engine_params(&params),
                                  .progress = params.progress,
                                  .context = params.context,
                                  .is_new = params.new_only};
    return open_weights(out, error);
}

acq_status acq_library_read_question(const char *function, const acq_query *query,
                                     const acq_predictor *predictor, const acq_ask_params *given,
                                     acq_library_question *out, acq_error *error)
{
    acq_status status = acq_library_check_graph(function, query, predictor, error);
    if (status == ACQ_OK)
        status = acq_library_read_ask(function, given, out, error);
    if (status != ACQ_OK)
        return status;
    out->query = query;
    out->predictor = predictor;
    out->params = acq_engine_settle(&out->params, predictor);
    return ACQ_OK;
}

void acq_library_question_deinit(acq_library_question *question)
{
    acq_policy_free(question->own_policy);
    question->own_policy = NULL;
}

/* ---- a question under way ---- */

typedef struct watch {
    const acq_library_question *question;
    int64_t begin_ns, told_ns;
    size_t rows_made, rows_wanted;
    bool is_stopped;
} watch;

enum { TELL_NS = 100000000 };

static void note_rows(void *context, size_t made, size_t wanted)
{
    watch *w = context;
    w->rows_made = made;
    w->rows_wanted = wanted;
}

static bool is_stopped(void *context)
{
    watch *w = context;
    const acq_library_question *question = w->question;
    int64_t now = acq_clock_ns();
    if (question->stop != NULL && atomic_load(question->stop))
        w->is_stopped = true;
    if (w->is_stopped || question->progress == NULL || now - w->told_ns < TELL_NS)
        return w->is_stopped;
    acq_progress progress = {.phase = "searching",
                             .done = (uint64_t)(now - w->begin_ns) / 1000000,
                             .total = (uint64_t)(question->params.search.seconds * 1000)};
    if (w->rows_made < w->rows_wanted)
        progress =
            (acq_progress){.phase = "predicting", .done = w->rows_made, .total = w->rows_wanted};
    w->told_ns = now;
    w->is_stopped = !question->progress(question->context, &progress);
    return w->is_stopped;
}

static acq_result *new_result(const acq_library_question *question, const acq_ent *values)
{
    acq_result *result = acq_zalloc(1, sizeof *result);
    if (result == NULL)
        return NULL;
    uint32_t n = question->query->n_free;
    result->query = question->query;
    result->predictor = question->predictor;
    result->params = question->params;
    result->params.search.policy = (acq_policy_options){0}; /* the caller's, for the call */
    result->has_p = acq_engine_gives_p(&question->params, question->predictor);
    result->search.outcome = ACQ_UNDECIDED;
    result->values = values == NULL ? NULL : acq_alloc(n, sizeof *values);
    if (values != NULL && result->values == NULL) {
        acq_free(result);
        return NULL;
    }
    if (n > 0 && values != NULL)
        memcpy(result->values, values, n * sizeof *values);
    return result;
}

static void finish(acq_result *result, double seconds)
{
    if (result->search.prepared != NULL)
        result->predictor = result->search.prepared;
    result->seconds = seconds;
}

/* Lets the engine check all tuples; what it makes goes to the results, also after an error. */
static acq_status check_all(const acq_library_question *question, const acq_engine_params *params,
                            size_t n, acq_result **results, acq_error *error)
{
    const acq_ent **tuples = acq_alloc(n, sizeof *tuples);
    acq_engine_result *made = acq_zalloc(n, sizeof *made);
    acq_status status = tuples == NULL || made == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        tuples[i] = results[i]->values;
    if (status == ACQ_OK)
        status = acq_engine_check_many(question->query, question->predictor, tuples, n, params,
                                       made, error);
    for (size_t i = 0; i < n && made != NULL; i++)
        results[i]->search = made[i];
    acq_free(made);
    acq_free(tuples);
    return status;
}

static acq_status ask(const acq_library_question *question, const acq_engine_params *params,
                      acq_engine_result *out, acq_error *error)
{
    return question->of_facts
               ? acq_engine_ask_facts(question->query, question->predictor, params,
                                      question->most_facts, out, error)
               : acq_engine_ask(question->query, question->predictor, params, out, error);
}

static acq_status run(const acq_library_question *question, bool is_check, size_t n,
                      acq_result **results, acq_error *error)
{
    watch w = {.question = question, .begin_ns = acq_clock_ns()};
    acq_engine_params params = question->params;
    bool is_watched = question->progress != NULL || question->stop != NULL;
    w.told_ns = w.begin_ns;
    if (is_watched)
        params.search.stop = (acq_stop){.is_wanted = is_stopped, .context = &w};
    params.tell_rows = note_rows;
    params.context = &w;
    acq_status status = is_check ? check_all(question, &params, n, results, error)
                                 : ask(question, &params, &results[0]->search, error);
    double seconds = (double)(acq_clock_ns() - w.begin_ns) * 1e-9;
    for (size_t i = 0; i < n; i++)
        finish(results[i], seconds / (double)n);
    /* What a stored graph could not read would have counted as absent. */
    return status == ACQ_OK ? acq_graph_get_failure(question->predictor->graph, error) : status;
}

acq_status acq_library_answer(const acq_library_question *question, const acq_ent *tuples, size_t n,
                              acq_result **results, acq_error *error)
{
    size_t n_results = tuples == NULL ? 1 : n, n_made = 0;
    acq_status status = ACQ_OK;
    for (; n_made < n_results && status == ACQ_OK; n_made += status == ACQ_OK) {
        const acq_ent *values = tuples == NULL ? NULL : tuples + n_made * question->query->n_free;
        results[n_made] = new_result(question, values);
        status = results[n_made] == NULL ? acq_fail_memory(error) : ACQ_OK;
    }
    if (status == ACQ_OK)
        status = run(question, tuples != NULL, n_results, results, error);
    for (size_t i = 0; i < n_made && status != ACQ_OK; i++) {
        acq_result_free(results[i]);
        results[i] = NULL;
    }
    return status;
}

static acq_status answer(const acq_library_question *question, acq_result **out, acq_error *error)
{
    if (question->is_new)
        return acq_library_ask_new(question, out, error);
    if (question->query->n_free > 0 && question->params.search.limit > 0)
        return acq_library_ask_best(question, out, error);
    return acq_library_answer(question, NULL, 0, out, error);
}

acq_status acq_ask(const acq_query *query, const acq_predictor *predictor,
                   const acq_ask_params *params, acq_result **out, acq_error *error)
{
    ACQ_REQUIRE(query, error);
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    acq_library_question question = {0};
    acq_result *result = NULL;
    acq_status status =
        acq_library_read_question(__func__, query, predictor, params, &question, error);
    if (status == ACQ_OK)
        status = answer(&question, &result, error);
    acq_library_question_deinit(&question);
    if (status == ACQ_OK)
        *out = result;
    return status;
}

/* ---- checks ---- */

static acq_status require_values(const char *function, const char *const *values, size_t n,
                                 acq_error *error)
{
    if (values == NULL && n > 0)
        return acq_fail(error, ACQ_ERR_USAGE, "%s: values is NULL", function);
    for (size_t i = 0; i < n; i++) {
        if (values[i] == NULL)
            return acq_fail(error, ACQ_ERR_USAGE, "%s: values[%zu] is NULL", function, i);
    }
    return ACQ_OK;
}

/* The entities of n tuples. With several, an unknown name is told with the number of its tuple. */
static acq_status find_values(const acq_library_question *question, const char *const *values,
                              size_t n, acq_ent *out, acq_error *error)
{
    const acq_query *query = question->query;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        size_t first = i * query->n_free;
        acq_error own = {0};
        status = acq_query_find_values(query, question->predictor->graph, values + first,
                                       query->n_free, out + first, &own);
        if (status == ACQ_ERR_NAME && n > 1)
            acq_fail(error, status, "tuple %zu: %.480s", i, own.message);
        else if (status != ACQ_OK && error != NULL && error->code == ACQ_OK)
            *error = own;
    }
    return status;
}

static acq_status check(const acq_library_question *question, const char *const *values, size_t n,
                        acq_result **results, acq_error *error)
{
    size_t n_values;
    if (__builtin_mul_overflow(n, (size_t)question->query->n_free, &n_values))
        return acq_fail_memory(error);
    acq_ent *ids = acq_alloc(n_values, sizeof *ids);
    acq_status status =
        ids == NULL ? acq_fail_memory(error) : find_values(question, values, n, ids, error);
    if (status == ACQ_OK)
        status = acq_library_answer(question, ids, n, results, error);
    acq_free(ids);
    return status;
}

acq_status acq_check(const acq_query *query, const acq_predictor *predictor,
                     const char *const *values, size_t n_values, const acq_ask_params *params,
                     acq_result **out, acq_error *error)
{
    ACQ_REQUIRE(query, error);
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    acq_library_question question = {0};
    acq_result *result = NULL;
    acq_status status = require_values(__func__, values, n_values, error);
    if (status == ACQ_OK && n_values != query->n_free) /* says which are free */
        status = acq_query_find_values(query, predictor->graph, values, n_values, NULL, error);
    if (status == ACQ_OK)
        status = acq_library_read_question(__func__, query, predictor, params, &question, error);
    if (status == ACQ_OK)
        status = check(&question, values, 1, &result, error);
    acq_library_question_deinit(&question);
    if (status == ACQ_OK)
        *out = result;
    return status;
}

acq_status acq_check_many(const acq_query *query, const acq_predictor *predictor,
                          const char *const *values, size_t n_tuples, const acq_ask_params *params,
                          acq_result **results, acq_error *error)
{
    ACQ_REQUIRE(query, error);
    ACQ_REQUIRE(predictor, error);
    if (n_tuples > 0)
        ACQ_REQUIRE(results, error);
    acq_library_question question = {0};
    acq_status status = require_values(__func__, values, n_tuples * query->n_free, error);
    if (status == ACQ_OK)
        status = acq_library_read_question(__func__, query, predictor, params, &question, error);
    if (status == ACQ_OK && n_tuples > 0)
        status = check(&question, values, n_tuples, results, error);
    acq_library_question_deinit(&question);
    return status;
}
