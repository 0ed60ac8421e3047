/* api.c - the public functions of anycq.h that are not already those of a module.
 *
 * Thin: names become ids, public parameters become internal ones, and a result keeps the
 * query and the predictor it came from, so that answers can be read by name. */
#include "anycq.h"

#include <math.h>
#include <string.h>

#include "answer/explain.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "engine/open.h"
#include "engine/values.h"
#include "store/import/import.h"

struct acq_result {
    const acq_query *query;
    const acq_predictor *predictor;
    acq_scoring scoring;
    acq_engine_result search;
};

struct acq_evidence_list {
    acq_arena arena; /* owns facts */
    acq_fact *facts;
    size_t n;
    bool is_observed;
};

const char *acq_get_version(void)
{
    return ACQ_VERSION;
}

void acq_graph_params_init(acq_graph_params *params)
{
    *params = (acq_graph_params){0};
}

static acq_read_params get_read_params(const acq_graph_params *params)
{
    if (params == NULL)
        return (acq_read_params){0};
    return (acq_read_params){.split = params->split,
                             .format = params->format,
                             .strict = params->strict,
                             .bad_line = params->left_out,
                             .progress = params->progress,
                             .context = params->context,
                             .threads = params->threads,
                             .base = params->base,
                             .literals = params->literals};
}

acq_status acq_graph_open(const char *path, const acq_graph_params *params, acq_graph **out,
                          acq_error *error)
{
    acq_read_params read = get_read_params(params);
    return acq_graph_open_path(path, &read, out, NULL, error);
}

void acq_store_params_init(acq_store_params *params)
{
    *params = (acq_store_params){0};
}

acq_status acq_store_create(const char *const *sources, size_t n_sources, const char *path,
                            const acq_store_params *given, acq_error *error)
{
    acq_store_params params = given == NULL ? (acq_store_params){0} : *given;
    acq_import_params import = {.read = get_read_params(&params.read),
                                .memory_bytes = (size_t)params.memory_bytes,
                                .replace = params.replace};
    acq_import_report unread;
    return acq_import(sources, n_sources, path, &import, &unread, error);
}

acq_status acq_query_new(const acq_graph *graph, const char *text, acq_query **out,
                         acq_error *error)
{
    acq_query *query;
    acq_status status = acq_query_parse(text, strlen(text), &query, error);
    if (status != ACQ_OK)
        return status;
    status = acq_query_bind(query, graph, NULL, 0, error);
    if (status != ACQ_OK) {
        acq_query_free(query);
        return status;
    }
    *out = query;
    return ACQ_OK;
}

size_t acq_query_get_n_variables(const acq_query *query)
{
    return query->n_variables;
}

size_t acq_query_get_n_free(const acq_query *query)
{
    return query->n_free;
}

const char *acq_query_get_variable(const acq_query *query, size_t i)
{
    return i < query->n_variables ? query->variables[i].text : NULL;
}

acq_status acq_predictor_new(const acq_graph *graph, const char *spec, acq_predictor **out,
                             acq_error *error)
{
    return acq_predictor_open(graph, spec, NULL, out, NULL, error);
}

void acq_ask_params_init(acq_ask_params *params)
{
    acq_engine_params engine = ACQ_ENGINE_DEFAULT;
    *params = (acq_ask_params){
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

static acq_status read_params(const acq_ask_params *given, acq_engine_params *out, acq_error *error)
{
    acq_ask_params params;
    acq_ask_params_init(&params);
    if (given != NULL)
        params = *given;
    acq_status status = check_params(&params, error);
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

/* A query of another graph would hold ids that this one does not have. */
static acq_status check_same_graph(const acq_query *query, const acq_graph *graph, acq_error *error)
{
    bool fits = true;
    for (uint32_t i = 0; i < query->n_constants; i++)
        fits = fits && query->constants[i].id < acq_graph_get_n_entities(graph);
    for (uint32_t i = 0; i < query->n_relations; i++)
        fits = fits && query->relations[i].id < acq_graph_get_n_relations(graph);
    if (fits)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE, "the query and the predictor belong to different graphs");
}

static acq_status new_result(const acq_query *query, const acq_predictor *predictor,
                             const acq_ask_params *given, acq_engine_params *params,
                             acq_result **out, acq_error *error)
{
    acq_status status = read_params(given, params, error);
    if (status == ACQ_OK)
        status = check_same_graph(query, predictor->graph, error);
    if (status != ACQ_OK)
        return status;
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
                      const acq_ask_params *given, acq_result **out, acq_error *error)
{
    acq_engine_params params;
    acq_result *result = NULL;
    acq_policy *own;
    acq_status status = new_result(query, predictor, given, &params, &result, error);
    if (status != ACQ_OK)
        return status;
    status = open_weights(&params, &own, error);
    if (status == ACQ_OK)
        status = ids == NULL
                     ? acq_engine_ask(query, predictor, &params, &result->search, error)
                     : acq_engine_check(query, predictor, ids, &params, &result->search, error);
    acq_policy_free(own);
    return finish(status, predictor, result, out, error);
}

acq_status acq_ask(const acq_query *query, const acq_predictor *predictor,
                   const acq_ask_params *given, acq_result **out, acq_error *error)
{
    return run(query, predictor, NULL, given, out, error);
}

acq_status acq_check(const acq_query *query, const acq_predictor *predictor,
                     const char *const *values, size_t n_values, const acq_ask_params *given,
                     acq_result **out, acq_error *error)
{
    acq_ent *ids = acq_alloc(n_values, sizeof *ids);
    if (ids == NULL)
        return acq_fail_memory(error);
    acq_status status = acq_values_find(query, predictor->graph, values, n_values, ids, error);
    if (status == ACQ_OK)
        status = run(query, predictor, ids, given, out, error);
    acq_free(ids);
    return status;
}

acq_result_outcome acq_result_get_outcome(const acq_result *result)
{
    switch (result->search.outcome) {
    case ACQ_ANSWERED:
        return ACQ_RESULT_ANSWERED;
    case ACQ_NONE:
        return ACQ_RESULT_NONE;
    case ACQ_UNDECIDED:
        break;
    }
    return ACQ_RESULT_UNDECIDED;
}

bool acq_result_is_complete(const acq_result *result)
{
    return result->search.complete;
}

const char *acq_result_get_spent(const acq_result *result)
{
    return acq_spent_name(result->search.spent);
}

const char *acq_result_get_note(const acq_result *result)
{
    return result->search.note == NULL ? "" : result->search.note;
}

uint64_t acq_result_get_nodes(const acq_result *result)
{
    return result->search.effort.nodes;
}

size_t acq_result_get_n_answers(const acq_result *result)
{
    return result->search.n_answers;
}

double acq_result_get_score(const acq_result *result, size_t i_answer)
{
    return i_answer < result->search.n_answers ? result->search.answers[i_answer].score : 0.0;
}

double acq_result_get_probability(const acq_result *result, size_t i_answer)
{
    return i_answer < result->search.n_answers ? result->search.answers[i_answer].p : NAN;
}

double acq_result_get_best_probability(const acq_result *result)
{
    return result->search.likeliest == NULL ? NAN : result->search.likeliest->p;
}

acq_ent acq_result_get_entity(const acq_result *result, size_t i_answer, size_t i_variable)
{
    if (i_answer >= result->search.n_answers || i_variable >= result->query->n_variables)
        return ACQ_NO_ID;
    return result->search.answers[i_answer].values[i_variable];
}

const char *acq_result_get_value_at(const acq_result *result, size_t i_answer, size_t i_variable)
{
    acq_ent value = acq_result_get_entity(result, i_answer, i_variable);
    if (value == ACQ_NO_ID)
        return NULL;
    return acq_graph_get_entity_name(result->predictor->graph, value);
}

const char *acq_result_get_value(const acq_result *result, size_t i_answer, const char *variable)
{
    for (uint32_t i = 0; i < result->query->n_variables; i++) {
        if (strcmp(result->query->variables[i].text, variable) == 0)
            return acq_result_get_value_at(result, i_answer, i);
    }
    return NULL;
}

void acq_result_free(acq_result *result)
{
    if (result == NULL)
        return;
    acq_engine_result_deinit(&result->search);
    acq_free(result);
}

static acq_fact_kind fact_kind(acq_evidence_kind kind)
{
    switch (kind) {
    case ACQ_EVIDENCE_OBSERVED:
        return ACQ_FACT_OBSERVED;
    case ACQ_EVIDENCE_PREDICTED:
        return ACQ_FACT_PREDICTED;
    case ACQ_EVIDENCE_ABSENT:
        return ACQ_FACT_ABSENT;
    case ACQ_EVIDENCE_EQUALITY:
        break;
    }
    return ACQ_FACT_EQUALITY;
}

static acq_fact make_fact(const acq_result *result, const acq_evidence *evidence)
{
    const acq_graph *graph = result->predictor->graph;
    bool is_atom = evidence->kind != ACQ_EVIDENCE_EQUALITY;
    acq_fact fact = {.relation = "",
                     .head = acq_graph_get_entity_name(graph, evidence->left),
                     .tail = acq_graph_get_entity_name(graph, evidence->right),
                     .is_negated = evidence->is_negated,
                     .kind = fact_kind(evidence->kind),
                     .link = evidence->link,
                     .score = evidence->score,
                     .is_used = evidence->used};
    if (is_atom) {
        acq_rel relation = result->query->relations[evidence->node->relation].id;
        fact.relation = acq_graph_get_relation_name(graph, relation);
        fact.is_inverse = !acq_graph_is_named(graph, relation);
    }
    return fact;
}

static acq_status fill_list(const acq_result *result, size_t i_answer, acq_evidence_list *list,
                            acq_error *error)
{
    acq_evidence *evidence;
    acq_status status = acq_explain(result->query, result->predictor, &result->scoring,
                                    result->search.answers[i_answer].values, &list->arena,
                                    &evidence, &list->n, error);
    if (status != ACQ_OK)
        return status;
    list->facts = acq_arena_alloc(&list->arena, list->n, sizeof *list->facts);
    if (list->facts == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < list->n; i++)
        list->facts[i] = make_fact(result, &evidence[i]);
    list->is_observed = acq_explain_is_observed(evidence, list->n);
    return ACQ_OK;
}

acq_status acq_result_explain(const acq_result *result, size_t i_answer, acq_evidence_list **out,
                              acq_error *error)
{
    if (i_answer >= result->search.n_answers)
        return acq_fail(error, ACQ_ERR_USAGE, "there is no answer %zu: the result has %zu",
                        i_answer, result->search.n_answers);
    acq_evidence_list *list = acq_zalloc(1, sizeof *list);
    if (list == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&list->arena);
    acq_status status = fill_list(result, i_answer, list, error);
    if (status != ACQ_OK) {
        acq_evidence_list_free(list);
        return status;
    }
    *out = list;
    return ACQ_OK;
}

size_t acq_evidence_list_get_n(const acq_evidence_list *list)
{
    return list->n;
}

const acq_fact *acq_evidence_list_get(const acq_evidence_list *list, size_t i)
{
    return i < list->n ? &list->facts[i] : NULL;
}

bool acq_evidence_list_is_observed(const acq_evidence_list *list)
{
    return list->is_observed;
}

void acq_evidence_list_free(acq_evidence_list *list)
{
    if (list == NULL)
        return;
    acq_arena_deinit(&list->arena);
    acq_free(list);
}
