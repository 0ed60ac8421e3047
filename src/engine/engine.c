/* engine.c - normal form, search, verification.
 *
 * Nothing a search says is taken on trust: every assignment is scored again by the verifier,
 * which reads the query's tree and not the normal form, and the two numbers must agree. A
 * search may leave variables that occur nowhere without a value; any entity does for them, and
 * the values of a check are those that were asked about. */
#include "engine/engine.h"

#include <math.h>
#include <string.h>

#include "answer/verify.h"
#include "base/memory.h"

static const double SAME_SCORE = 1e-9;

typedef struct engine_entry {
    const char *name;
    acq_search_fn search;
    bool complete;
} engine_entry;

static const engine_entry engines[ACQ_N_ENGINES] = {
#define ENGINE_ENTRY(name, function, complete) {#name, function, complete},
    ACQ_ENGINES(ENGINE_ENTRY)
#undef ENGINE_ENTRY
};

acq_engine_id acq_engine_find(const char *name)
{
    unsigned i = 0;
    while (i < ACQ_N_ENGINES && strcmp(engines[i].name, name) != 0)
        i++;
    return (acq_engine_id)i;
}

const char *acq_engine_get_name(acq_engine_id engine)
{
    return engine < ACQ_N_ENGINES ? engines[engine].name : "unknown";
}

bool acq_engine_is_complete(acq_engine_id engine)
{
    return engine < ACQ_N_ENGINES && engines[engine].complete;
}

/* fixed: the values of a check, NULL in an ask. */
static void fill_values(const acq_query *query, const acq_ent *fixed, acq_ent *values)
{
    for (uint32_t i = 0; i < query->n_variables; i++) {
        if (fixed != NULL && i < query->n_free)
            values[i] = fixed[i];
        else if (values[i] == ACQ_NO_ID)
            values[i] = 0;
    }
}

static acq_status check_values(const acq_query *query, const acq_predictor *predictor,
                               const acq_ent *values, acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(predictor->graph);
    for (uint32_t i = 0; i < query->n_variables; i++) {
        if (values[i] >= n_entities)
            return acq_fail(error, ACQ_ERR_INTERNAL,
                            "the search gave %s a value outside the graph; please report this",
                            query->variables[i].text);
    }
    return ACQ_OK;
}

static acq_status verify_answer(const acq_query *query, const acq_predictor *predictor,
                                const acq_engine_params *params, const acq_assignment *answer,
                                acq_error *error)
{
    const acq_scoring *scoring = &params->search.scoring;
    if (check_values(query, predictor, answer->values, error) != ACQ_OK)
        return ACQ_ERR_INTERNAL;
    double score = acq_verify_score(query, predictor, scoring, answer->values);
    if (!(fabs(score - answer->score) <= SAME_SCORE))
        return acq_fail(error, ACQ_ERR_INTERNAL,
                        "the %s search gave an answer the score %.9g and the verifier %.9g; "
                        "please report this",
                        acq_engine_get_name(params->engine), answer->score, score);
    if (score < scoring->threshold - SAME_SCORE)
        return acq_fail(error, ACQ_ERR_INTERNAL,
                        "the %s search gave an answer of score %.9g, below the threshold %.9g; "
                        "please report this",
                        acq_engine_get_name(params->engine), score, scoring->threshold);
    return ACQ_OK;
}

static acq_status verify_all(const acq_query *query, const acq_predictor *predictor,
                             const acq_ent *fixed, const acq_engine_params *params,
                             acq_search_result *result, acq_error *error)
{
    for (size_t i = 0; i < result->n_answers; i++) {
        fill_values(query, fixed, result->answers[i].values);
        acq_status status = verify_answer(query, predictor, params, &result->answers[i], error);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

/* The paper's rule: None after the last step. */
static void apply_paper_rule(const acq_engine_params *params, acq_search_result *result)
{
    bool gave_up = result->outcome == ACQ_UNDECIDED && result->spent == ACQ_SPENT_STEPS;
    if (params->paper && gave_up && !acq_engine_is_complete(params->engine))
        result->outcome = ACQ_NONE;
}

static acq_status finish(const acq_query *query, const acq_predictor *predictor,
                         const acq_ent *fixed, const acq_engine_params *params,
                         acq_search_result *result, acq_error *error)
{
    acq_status status = verify_all(query, predictor, fixed, params, result, error);
    if (status == ACQ_OK)
        apply_paper_rule(params, result);
    return status;
}

static acq_status run(const acq_query *query, const acq_predictor *predictor, const acq_ent *fixed,
                      const acq_engine_params *params, const acq_problem *problem,
                      acq_search_result *result, acq_error *error)
{
    acq_status status =
        engines[params->engine].search(problem, predictor, &params->search, result, error);
    return status == ACQ_OK ? finish(query, predictor, fixed, params, result, error) : status;
}

static acq_status check_engine(const acq_engine_params *params, acq_error *error)
{
    if (params->engine >= ACQ_N_ENGINES)
        return acq_fail(error, ACQ_ERR_USAGE, "no engine has the number %d", (int)params->engine);
    if (params->engine == ACQ_ENGINE_policy && params->search.policy.policy == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "the policy search needs weights; open some first");
    return ACQ_OK;
}

acq_status acq_engine_ask(const acq_query *query, const acq_predictor *predictor,
                          const acq_engine_params *params, acq_search_result *result,
                          acq_error *error)
{
    *result = (acq_search_result){.outcome = ACQ_UNDECIDED};
    if (check_engine(params, error) != ACQ_OK)
        return ACQ_ERR_USAGE;
    acq_problem *problem;
    uint32_t n_entities = acq_graph_get_n_entities(predictor->graph);
    acq_status status = acq_problem_new(query, n_entities, &problem, error);
    if (status != ACQ_OK)
        return status;
    status = run(query, predictor, NULL, params, problem, result, error);
    acq_problem_free(problem);
    return status;
}

/* The problem of one tuple. */
static acq_status fix_problem(const acq_query *query, const acq_predictor *predictor,
                              const acq_ent *values, acq_problem **out, acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(predictor->graph);
    for (uint32_t i = 0; i < query->n_free; i++) {
        if (values[i] >= n_entities)
            return acq_fail(error, ACQ_ERR_USAGE, "the value of %s is not an entity of the graph",
                            query->variables[i].text);
    }
    return acq_problem_new_fixed(query, n_entities, values, out, error);
}

acq_status acq_engine_check(const acq_query *query, const acq_predictor *predictor,
                            const acq_ent *values, const acq_engine_params *params,
                            acq_search_result *result, acq_error *error)
{
    *result = (acq_search_result){.outcome = ACQ_UNDECIDED};
    if (check_engine(params, error) != ACQ_OK)
        return ACQ_ERR_USAGE;
    acq_problem *problem;
    acq_status status = fix_problem(query, predictor, values, &problem, error);
    if (status != ACQ_OK)
        return status;
    acq_engine_params one = *params;
    one.search.limit = 1;
    status = run(query, predictor, values, &one, problem, result, error);
    acq_problem_free(problem);
    return status;
}

static acq_status check_in_turn(const acq_query *query, const acq_predictor *predictor,
                                const acq_ent *const *tuples, size_t n,
                                const acq_engine_params *params, acq_search_result *results,
                                acq_error *error)
{
    acq_engine_params one = *params;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        one.search.stream = params->search.stream + i;
        status = acq_engine_check(query, predictor, tuples[i], &one, &results[i], error);
    }
    return status;
}

/* Problems of tuples[0..*n_made). */
static acq_status make_problems(const acq_query *query, const acq_predictor *predictor,
                                const acq_ent *const *tuples, size_t n, acq_problem **problems,
                                size_t *n_made, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (*n_made = 0; *n_made < n && status == ACQ_OK; *n_made += status == ACQ_OK)
        status = fix_problem(query, predictor, tuples[*n_made], &problems[*n_made], error);
    return status;
}

static acq_status check_in_batch(const acq_query *query, const acq_predictor *predictor,
                                 const acq_ent *const *tuples, size_t n,
                                 const acq_engine_params *params, acq_search_result *results,
                                 acq_error *error)
{
    acq_engine_params one = *params;
    one.search.limit = 1;
    size_t n_made = 0;
    acq_problem **problems = acq_alloc(n, sizeof *problems);
    acq_status status = problems == NULL
                            ? acq_fail_memory(error)
                            : make_problems(query, predictor, tuples, n, problems, &n_made, error);
    if (status == ACQ_OK)
        status = acq_search_policy_batch((const acq_problem *const *)problems, n, predictor,
                                         &one.search, results, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status = finish(query, predictor, tuples[i], &one, &results[i], error);
    for (size_t i = 0; i < n_made; i++)
        acq_problem_free(problems[i]);
    acq_free(problems);
    return status;
}

acq_status acq_engine_check_many(const acq_query *query, const acq_predictor *predictor,
                                 const acq_ent *const *tuples, size_t n,
                                 const acq_engine_params *params, acq_search_result *results,
                                 acq_error *error)
{
    for (size_t i = 0; i < n; i++)
        results[i] = (acq_search_result){.outcome = ACQ_UNDECIDED};
    if (check_engine(params, error) != ACQ_OK)
        return ACQ_ERR_USAGE;
    bool is_batch = params->engine == ACQ_ENGINE_policy && n > 1;
    return is_batch ? check_in_batch(query, predictor, tuples, n, params, results, error)
                    : check_in_turn(query, predictor, tuples, n, params, results, error);
}
