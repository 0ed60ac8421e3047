/* ask.c - questions: parameters read and checked, ask and check. */
#include "library/parts.h"

#include <string.h>

#include "base/memory.h"

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
                        "no engine \"%s\"; use exact, policy, climb or random",
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

static acq_status read_params(const char *function, const acq_ask_params *given,
                              acq_engine_params *out, acq_error *error)
{
    acq_ask_params params = get_defaults();
    acq_status status = acq_sized_read(function, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = check_params(&params, error);
    if (status != ACQ_OK)
        return status;
    *out = (acq_engine_params){
        .engine = acq_engine_find(params.engine),
        .search = {.scoring = get_scoring(&params),
                   .limit = params.limit,
                   .seconds = params.seconds,
                   .memory_bytes = params.memory_bytes,
                   .steps = params.steps,
                   .seed = params.seed,
                   .policy = {.policy = params.policy,
                              .restart = params.restart,
                              .closed_world_pe = params.observed_pe}},
        .paper = params.paper,
        .has_threshold = params.threshold > 0,
        .has_negation_threshold = params.negation_threshold >= 0,
        .prior = params.prior,
        .min_p = params.min_p,
    };
    return ACQ_OK;
}

static acq_status new_result(const acq_query *query, const acq_predictor *predictor,
                             acq_engine_params *params, acq_result **out, acq_error *error)
{
    acq_result *result = acq_zalloc(1, sizeof *result);
    if (result == NULL)
        return acq_fail_memory(error);
    *params = acq_engine_settle(params, predictor);
    result->query = query;
    result->predictor = predictor;
    result->scoring = params->search.scoring;
    *out = result;
    return ACQ_OK;
}

/* What a stored graph could not read would have counted as absent. */
static acq_status finish(acq_status status, const acq_predictor *predictor, acq_result *result,
                         acq_result **out, acq_error *error)
{
    if (status == ACQ_OK)
        status = acq_graph_get_failure(predictor->graph, error);
    if (result->search.prepared != NULL)
        result->predictor = result->search.prepared;
    if (status == ACQ_OK)
        *out = result;
    else
        acq_result_free(result);
    return status;
}

/* The weights of a call that needs some and names none; *own is NULL when there is nothing to free
 * after the call. */
static acq_status open_weights(acq_engine_params *params, acq_policy **own, acq_error *error)
{
    *own = NULL;
    if (params->engine != ACQ_ENGINE_policy || params->search.policy.policy != NULL)
        return ACQ_OK;
    acq_status status = acq_policy_open("shipped", 0, own, error);
    params->search.policy.policy = *own;
    return status;
}

/* ids: the values of a check; NULL: an ask. */
static acq_status run(const acq_query *query, const acq_predictor *predictor, const acq_ent *ids,
                      acq_engine_params *params, acq_result **out, acq_error *error)
{
    acq_result *result = NULL;
    acq_policy *own;
    acq_status status = new_result(query, predictor, params, &result, error);
    if (status != ACQ_OK)
        return status;
    status = open_weights(params, &own, error);
    if (status == ACQ_OK)
        status = ids == NULL
                     ? acq_engine_ask(query, predictor, params, &result->search, error)
                     : acq_engine_check(query, predictor, ids, params, &result->search, error);
    acq_policy_free(own);
    return finish(status, predictor, result, out, error);
}

acq_status acq_ask(const acq_query *query, const acq_predictor *predictor,
                   const acq_ask_params *given, acq_result **out, acq_error *error)
{
    ACQ_REQUIRE(query, error);
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    acq_engine_params params;
    acq_status status = read_params(__func__, given, &params, error);
    if (status == ACQ_OK)
        status = acq_library_check_graph(__func__, query, predictor, error);
    return status == ACQ_OK ? run(query, predictor, NULL, &params, out, error) : status;
}

static acq_status check(const acq_query *query, const acq_predictor *predictor,
                        const char *const *values, size_t n_values, acq_engine_params *params,
                        acq_result **out, acq_error *error)
{
    acq_ent *ids = acq_alloc(n_values, sizeof *ids);
    if (ids == NULL)
        return acq_fail_memory(error);
    acq_status status =
        acq_query_find_values(query, predictor->graph, values, n_values, ids, error);
    if (status == ACQ_OK)
        status = run(query, predictor, ids, params, out, error);
    acq_free(ids);
    return status;
}

acq_status acq_check(const acq_query *query, const acq_predictor *predictor,
                     const char *const *values, size_t n_values, const acq_ask_params *given,
                     acq_result **out, acq_error *error)
{
    ACQ_REQUIRE(query, error);
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    if (n_values > 0)
        ACQ_REQUIRE(values, error);
    for (size_t i = 0; i < n_values; i++)
        ACQ_REQUIRE(values[i], error);
    acq_engine_params params;
    acq_status status = read_params(__func__, given, &params, error);
    if (status == ACQ_OK)
        status = acq_library_check_graph(__func__, query, predictor, error);
    return status == ACQ_OK ? check(query, predictor, values, n_values, &params, out, error)
                            : status;
}
