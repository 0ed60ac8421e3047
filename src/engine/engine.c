/* engine.c - normal form, search, verification, and where there is a calibrator, probabilities.
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
#include "engine/judge.h"
#include "engine/prepare.h"
#include "calibrate/calibrator.h"

static const double SAME_SCORE = 1e-9;

/* Candidates whose probabilities are compared: so many times the answers, at least so many, and
 * of scores at least this share of the last answer's; the search for them is cut short after so
 * much work, some ten milliseconds. */
enum { CANDIDATES_PER_ANSWER = 2, LEAST_CANDIDATES = 20, CANDIDATE_WORK = 1000000 };
static const double CANDIDATE_SHARE = 0.5;

static const double CALIBRATED_NEGATION = 0.5;
static const double LEAST_THRESHOLD = 1e-6; /* thresholds are above 0 */

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

bool acq_engine_gives_p(const acq_engine_params *params, const acq_predictor *predictor)
{
    const acq_calibrator *calibrator = acq_predictor_get_calibrator(predictor);
    bool has_model = calibrator != NULL && (params->prior < 0 ? calibrator->answer != NULL
                                                              : calibrator->balanced != NULL);
    return has_model && !params->paper && params->search.scoring.binarize <= 0;
}

acq_engine_params acq_engine_settle(const acq_engine_params *params, const acq_predictor *predictor)
{
    acq_engine_params settled = *params;
    acq_scoring *scoring = &settled.search.scoring;
    if (!acq_engine_gives_p(params, predictor))
        return settled;
    if (!params->has_threshold)
        scoring->threshold =
            acq_scoring_round_one(fmax(acq_predictor_get_floor(predictor), LEAST_THRESHOLD));
    if (!params->has_negation_threshold)
        scoring->negation_threshold = CALIBRATED_NEGATION;
    return settled;
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

/* The answers of one search, verified. */
static acq_status run_search(const acq_query *query, const acq_predictor *predictor,
                             const acq_engine_params *params, const acq_problem *problem,
                             acq_search_result *result, acq_error *error)
{
    acq_status status =
        engines[params->engine].search(problem, predictor, &params->search, result, error);
    return status == ACQ_OK ? verify_all(query, predictor, NULL, params, result, error) : status;
}

/* What comes after the search of a check. */
static acq_status finish_check(const acq_query *query, const acq_predictor *predictor,
                               const acq_ent *fixed, const acq_engine_params *params,
                               acq_search_result *result, acq_error *error)
{
    acq_status status = verify_all(query, predictor, fixed, params, result, error);
    if (status == ACQ_OK && acq_engine_gives_p(params, predictor)) {
        status =
            acq_judge_rate(query, predictor, params, result->answers, result->n_answers, error);
        if (status == ACQ_OK)
            acq_judge_decide(params, query->n_variables, 1, result);
    }
    if (status == ACQ_OK)
        apply_paper_rule(params, result);
    return status;
}

static acq_status check_engine(const acq_engine_params *params, const acq_predictor *predictor,
                               acq_error *error)
{
    if (params->engine >= ACQ_N_ENGINES)
        return acq_fail(error, ACQ_ERR_USAGE, "no engine has the number %d", (int)params->engine);
    if (params->engine == ACQ_ENGINE_policy && params->search.policy.policy == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "the policy search needs weights; open some first");
    return acq_judge_check(predictor, error);
}

/* Could one that scores less have a larger p? Not if all answers are certain. */
static bool wants_more(const acq_query *query, const acq_engine_params *params,
                       const acq_search_result *result)
{
    uint64_t limit = params->search.limit;
    bool is_full = limit > 0 && result->n_answers == limit && query->n_free > 0;
    if (!is_full || !result->complete || !acq_engine_is_complete(params->engine))
        return false;
    for (size_t i = 0; i < result->n_answers; i++) {
        if (result->answers[i].p < 1.0)
            return true;
    }
    return false;
}

/* Parameters of a search for the candidates behind the best ones. */
static acq_engine_params widen(const acq_engine_params *params, const acq_search_result *found,
                               double seconds_spent)
{
    acq_engine_params wide = *params;
    acq_search_params *search = &wide.search;
    double last = found->answers[found->n_answers - 1].score;
    search->limit = params->search.limit > LEAST_CANDIDATES / CANDIDATES_PER_ANSWER
                        ? CANDIDATES_PER_ANSWER * params->search.limit
                        : LEAST_CANDIDATES;
    search->work = CANDIDATE_WORK;
    search->scoring.threshold =
        acq_scoring_round_one(fmax(search->scoring.threshold, CANDIDATE_SHARE * last));
    if (search->seconds > 0)
        search->seconds = fmax(search->seconds - seconds_spent, 1e-3);
    return wide;
}

static bool has_tuple(const acq_search_result *result, const acq_ent *values, uint32_t n_free)
{
    size_t i = 0;
    while (i < result->n_answers &&
           memcmp(result->answers[i].values, values, n_free * sizeof *values) != 0)
        i++;
    return i < result->n_answers;
}

/* Leaves in `more` what result does not have. */
static void keep_new(const acq_query *query, const acq_search_result *result,
                     acq_search_result *more)
{
    size_t n = 0;
    for (size_t i = 0; i < more->n_answers; i++) {
        if (!has_tuple(result, more->answers[i].values, query->n_free))
            more->answers[n++] = more->answers[i];
    }
    more->n_answers = n;
}

static acq_status append(const acq_query *query, const acq_search_result *more,
                         acq_search_result *result, acq_error *error)
{
    size_t n = result->n_answers + more->n_answers, bytes = query->n_variables * sizeof(acq_ent);
    acq_assignment *all = acq_arena_alloc(&result->arena, n, sizeof *all);
    if (all == NULL)
        return acq_fail_memory(error);
    memcpy(all, result->answers, result->n_answers * sizeof *all);
    for (size_t i = result->n_answers; i < n; i++) {
        all[i] = more->answers[i - result->n_answers];
        acq_ent *values = acq_arena_alloc(&result->arena, query->n_variables, sizeof *values);
        if (values == NULL)
            return acq_fail_memory(error);
        all[i].values = memcpy(values, all[i].values, bytes);
    }
    result->answers = all;
    result->n_answers = n;
    result->nodes += more->nodes;
    result->revisions += more->revisions;
    return ACQ_OK;
}

/* Adds candidates behind the answers found: as many as a bounded search finds. */
static acq_status add_candidates(const acq_query *query, const acq_predictor *predictor,
                                 const acq_engine_params *params, const acq_problem *problem,
                                 double seconds_spent, acq_search_result *result, acq_error *error)
{
    acq_engine_params wide = widen(params, result, seconds_spent);
    acq_search_result more;
    acq_status status = run_search(query, predictor, &wide, problem, &more, error);
    if (status == ACQ_OK) {
        keep_new(query, result, &more);
        status = acq_judge_rate(query, predictor, params, more.answers, more.n_answers, error);
    }
    if (status == ACQ_OK)
        status = append(query, &more, result, error);
    acq_search_result_deinit(&more);
    return status;
}

static acq_status ask_with_p(const acq_query *query, const acq_predictor *predictor,
                             const acq_engine_params *params, const acq_problem *problem,
                             acq_search_result *result, acq_error *error)
{
    int64_t begin = acq_clock_ns();
    acq_status status = run_search(query, predictor, params, problem, result, error);
    if (status == ACQ_OK)
        status =
            acq_judge_rate(query, predictor, params, result->answers, result->n_answers, error);
    if (status != ACQ_OK)
        return status;
    bool has_more = wants_more(query, params, result);
    if (has_more)
        status = add_candidates(query, predictor, params, problem,
                                (double)(acq_clock_ns() - begin) * 1e-9, result, error);
    acq_judge_decide(params, query->n_variables, params->search.limit, result);
    result->has_more = has_more;
    return status;
}

static acq_status ask_without_p(const acq_query *query, const acq_predictor *predictor,
                                const acq_engine_params *params, const acq_problem *problem,
                                acq_search_result *result, acq_error *error)
{
    acq_status status = run_search(query, predictor, params, problem, result, error);
    if (status == ACQ_OK)
        apply_paper_rule(params, result);
    return status;
}

acq_status acq_engine_ask(const acq_query *query, const acq_predictor *predictor,
                          const acq_engine_params *given, acq_search_result *result,
                          acq_error *error)
{
    *result = (acq_search_result){.outcome = ACQ_UNDECIDED};
    acq_status status = check_engine(given, predictor, error);
    if (status != ACQ_OK)
        return status;
    acq_engine_params params = acq_engine_settle(given, predictor);
    acq_problem *problem;
    uint32_t n_entities = acq_graph_get_n_entities(predictor->graph);
    status = acq_problem_new(query, n_entities, &problem, error);
    if (status != ACQ_OK)
        return status;
    if (acq_predictor_makes_rows(predictor))
        status = acq_engine_ask_by_rows(query, predictor, NULL, problem, &params, result, error);
    else if (acq_engine_gives_p(&params, predictor))
        status = ask_with_p(query, predictor, &params, problem, result, error);
    else
        status = ask_without_p(query, predictor, &params, problem, result, error);
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

static acq_status run_check(const acq_query *query, const acq_predictor *predictor,
                            const acq_ent *values, const acq_engine_params *params,
                            const acq_problem *problem, acq_search_result *result, acq_error *error)
{
    acq_status status =
        engines[params->engine].search(problem, predictor, &params->search, result, error);
    return status == ACQ_OK ? finish_check(query, predictor, values, params, result, error)
                            : status;
}

acq_status acq_engine_check(const acq_query *query, const acq_predictor *predictor,
                            const acq_ent *values, const acq_engine_params *params,
                            acq_search_result *result, acq_error *error)
{
    *result = (acq_search_result){.outcome = ACQ_UNDECIDED};
    acq_status status = check_engine(params, predictor, error);
    if (status != ACQ_OK)
        return status;
    acq_problem *problem;
    status = fix_problem(query, predictor, values, &problem, error);
    if (status != ACQ_OK)
        return status;
    acq_engine_params one = acq_engine_settle(params, predictor);
    one.search.limit = 1;
    status = acq_predictor_makes_rows(predictor)
                 ? acq_engine_ask_by_rows(query, predictor, values, problem, &one, result, error)
                 : run_check(query, predictor, values, &one, problem, result, error);
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
    acq_engine_params one = acq_engine_settle(params, predictor);
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
        status = finish_check(query, predictor, tuples[i], &one, &results[i], error);
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
    acq_status status = check_engine(params, predictor, error);
    if (status != ACQ_OK)
        return status;
    bool is_batch =
        params->engine == ACQ_ENGINE_policy && n > 1 && !acq_predictor_makes_rows(predictor);
    return is_batch ? check_in_batch(query, predictor, tuples, n, params, results, error)
                    : check_in_turn(query, predictor, tuples, n, params, results, error);
}
