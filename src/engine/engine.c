/* engine.c - prepare, search, verify, judge: once and in that order, for ask and check alike.
 *
 * prepare  normal form; of a predictor that makes rows, those that the question needs
 * search   the engine asked for; the policy search takes several checks at once
 * verify   nothing a search says is taken on trust: every assignment is scored again by the
 *          verifier, which reads the query's tree and not the normal form, and the two numbers
 *          must agree. A search may leave variables that occur nowhere without a value; any entity
 *          does for them, and the values of a check are those that were asked about
 * judge    where there is a calibrator: probabilities, among some more candidates if these could be
 *          likelier, and the decision by them; else the paper's rule if that was asked for */
#include "engine/engine.h"

#include <math.h>
#include <string.h>

#include "answer/answer.h"
#include "base/memory.h"
#include "calibrate/answer.h"
#include "engine/run.h"

static const double SAME_SCORE = 1e-9;

/* Candidates whose probabilities are compared: so many times the answers, at least so many, and
 * of scores at least this share of the last answer's; the search for them is cut short after so
 * much work, some ten milliseconds. Many weak supports make a p that no score tells, so more
 * are compared by p than by a prior. */
typedef struct comparison {
    uint64_t per_answer, least;
    double share;
} comparison;
static const comparison by_p = {4, 200, 0}, by_prior = {2, 20, .5};
enum { CANDIDATE_WORK = 1000000 };

static const double CALIBRATED_NEGATION = 1.0; /* only facts refute */
static const double LEAST_THRESHOLD = 1e-6;    /* thresholds are above 0 */
static const double LEAST_SECONDS = 1e-3;
/* Of the time that is left, the search's; the rest is for verifying and judging. */
static const double SEARCH_SHARE = 0.8;
enum { ANSWERS_PER_CLOCK = 64 };
static const double SECONDS_AFTER_STOP = 0.5; /* to give what was found before a stop */

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

void acq_engine_result_deinit(acq_engine_result *result)
{
    acq_predictor_free(result->prepared);
    acq_arena_deinit(&result->arena);
    *result = (acq_engine_result){0};
}

bool acq_engine_gives_p(const acq_engine_params *params, const acq_predictor *predictor)
{
    return acq_calibrator_knows_answers(acq_predictor_get_calibrator(predictor), params->prior) &&
           !acq_engine_is_fuzzy(params->engine) && !params->paper &&
           params->search.scoring.binarize <= 0;
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
    if (!params->has_negation_threshold && params->prior >= 0)
        scoring->negation_threshold = CALIBRATED_NEGATION;
    return settled;
}

double acq_engine_get_decisive(const acq_engine_params *params, const acq_engine_answer *answer)
{
    return params->prior < 0 ? answer->p : answer->p_prior;
}

double acq_run_get_seconds_left(const acq_engine_run *run)
{
    if (run->deadline_ns == INT64_MAX)
        return 0;
    return fmax((double)(run->deadline_ns - acq_clock_ns()) * 1e-9, LEAST_SECONDS);
}

/* From now on there is only time to give what was found. */
static void note_stop(acq_engine_run *run)
{
    int64_t soon = acq_clock_get_deadline(SECONDS_AFTER_STOP);
    run->params.search.stop = (acq_stop){0};
    run->deadline_ns = soon < run->deadline_ns ? soon : run->deadline_ns;
    run->is_stopped = true;
}

bool acq_run_must_end(acq_engine_run *run)
{
    acq_engine_result *result = run->result;
    if (acq_stop_is_wanted(run->params.search.stop))
        note_stop(run);
    if (acq_clock_ns() < run->deadline_ns)
        return false;
    result->complete = false;
    result->spent = run->is_stopped ? ACQ_SPENT_INTERRUPT : ACQ_SPENT_TIME;
    return true;
}

/* ---- prepare ---- */

static acq_status check_values(const acq_engine_run *run, acq_error *error)
{
    const acq_query *query = run->query;
    for (uint32_t i = 0; run->values != NULL && i < query->n_free; i++) {
        if (run->values[i] >= acq_graph_get_n_entities(run->predictor->graph))
            return acq_fail(error, ACQ_ERR_USAGE, "the value of %s is not an entity of the graph",
                            query->variables[i].text);
    }
    return ACQ_OK;
}

static acq_status prepare(acq_engine_run *run, acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(run->predictor->graph);
    acq_status status = check_values(run, error);
    if (status == ACQ_OK)
        status = run->values == NULL ? acq_problem_new(run->query, n_entities, &run->problem, error)
                                     : acq_problem_new_fixed(run->query, n_entities, run->values,
                                                             &run->problem, error);
    if (status == ACQ_OK)
        status = acq_predictor_makes_rows(run->predictor) ? acq_prepare_rows(run, error)
                                                          : acq_prepare_links(run, error);
    if (run->is_stopped)
        note_stop(run);
    return status;
}

/* ---- search ---- */

static acq_status search_batch(acq_engine_run *runs, size_t n, acq_error *error)
{
    const acq_problem **problems = acq_alloc(n, sizeof *problems);
    acq_search_result *found = acq_zalloc(n, sizeof *found);
    acq_status status = problems == NULL || found == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        problems[i] = runs[i].problem;
    if (status == ACQ_OK)
        status = acq_search_policy_batch(problems, n, runs[0].predictor, &runs[0].params.search,
                                         found, error);
    for (size_t i = 0; i < n && found != NULL; i++)
        runs[i].found = found[i];
    acq_free(found);
    acq_free(problems);
    return status;
}

static acq_status search(acq_engine_run *runs, size_t n, acq_error *error)
{
    acq_engine_params *params = &runs[0].params;
    params->search.seconds = SEARCH_SHARE * acq_run_get_seconds_left(&runs[0]);
    return n > 1 ? search_batch(runs, n, error)
                 : engines[params->engine].search(runs[0].problem, runs[0].predictor,
                                                  &params->search, &runs[0].found, error);
}

/* ---- verify ---- */

static void fill_values(const acq_engine_run *run, acq_ent *values)
{
    for (uint32_t i = 0; i < run->query->n_variables; i++) {
        if (run->values != NULL && i < run->query->n_free)
            values[i] = run->values[i];
        else if (values[i] == ACQ_NO_ID)
            values[i] = 0;
    }
}

static acq_status verify_answer(const acq_engine_run *run, const acq_assignment *answer,
                                acq_error *error)
{
    const acq_scoring *scoring = &run->params.search.scoring;
    const char *name = acq_engine_get_name(run->params.engine);
    for (uint32_t i = 0; i < run->query->n_variables; i++) {
        if (answer->values[i] >= acq_graph_get_n_entities(run->predictor->graph))
            return acq_fail(error, ACQ_ERR_INTERNAL,
                            "the search gave %s a value outside the graph; please report this",
                            run->query->variables[i].text);
    }
    double score = acq_verify_score(run->query, run->predictor, scoring, answer->values);
    if (!(fabs(score - answer->score) <= SAME_SCORE))
        return acq_fail(error, ACQ_ERR_INTERNAL,
                        "the %s search gave an answer the score %.9g and the verifier %.9g; "
                        "please report this",
                        name, answer->score, score);
    if (score < scoring->threshold - SAME_SCORE)
        return acq_fail(error, ACQ_ERR_INTERNAL,
                        "the %s search gave an answer of score %.9g, below the threshold %.9g; "
                        "please report this",
                        name, score, scoring->threshold);
    return ACQ_OK;
}

/* What there is no time to verify is not given. One answer always is. */
static acq_status verify(acq_engine_run *run, acq_error *error)
{
    acq_search_result *found = &run->found;
    acq_status status = ACQ_OK;
    if (found->spent == ACQ_SPENT_INTERRUPT)
        note_stop(run);
    for (size_t i = 0; i < found->n_answers && status == ACQ_OK; i++) {
        if (i % ANSWERS_PER_CLOCK == 1 && acq_run_must_end(run)) {
            found->n_answers = i;
            found->complete = false;
            found->spent = run->result->spent;
            break;
        }
        fill_values(run, found->answers[i].values);
        status = verify_answer(run, &found->answers[i], error);
    }
    return status;
}

/* ---- judge ---- */

/* Could a candidate that scores less have a larger p? Not if all answers are certain. */
static bool wants_more(acq_engine_run *run)
{
    const acq_engine_result *result = run->result;
    bool is_full = run->values == NULL && run->query->n_free > 0 && result->n_answers > 0 &&
                   result->n_answers == run->params.search.limit;
    if (!is_full || !result->complete || !acq_engine_is_complete(run->params.engine) ||
        acq_run_must_end(run))
        return false;
    for (size_t i = 0; i < result->n_answers; i++) {
        if (acq_engine_get_decisive(&run->params, &result->answers[i]) < 1.0)
            return true;
    }
    return false;
}

/* Turns the run's search into one for the candidates behind the answers. */
static void widen(const acq_engine_run *run, acq_search_params *search)
{
    const comparison *by = run->params.prior < 0 ? &by_p : &by_prior;
    double last = run->result->answers[run->result->n_answers - 1].score;
    search->limit =
        search->limit > by->least / by->per_answer ? by->per_answer * search->limit : by->least;
    search->work = CANDIDATE_WORK;
    search->scoring.threshold =
        acq_scoring_round_one(fmax(search->scoring.threshold, by->share * last));
}

static acq_engine_answer take_answer(const acq_assignment *found)
{
    return (acq_engine_answer){.score = found->score,
                               .p = NAN,
                               .p_prior = NAN,
                               .p_if_answered = NAN,
                               .values = found->values};
}

/* Takes over what the search has found, and its memory. */
static acq_status take_found(acq_engine_run *run, acq_error *error)
{
    acq_engine_result *result = run->result;
    acq_search_result *found = &run->found;
    result->arena = found->arena;
    acq_arena_init(&found->arena);
    result->outcome = found->outcome;
    result->complete = found->complete;
    result->spent = found->spent;
    result->effort = found->effort;
    result->note = found->note;
    if (found->n_answers == 0)
        return ACQ_OK;
    result->answers = acq_arena_alloc(&result->arena, found->n_answers, sizeof *result->answers);
    if (result->answers == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < found->n_answers; i++)
        result->answers[i] = take_answer(&found->answers[i]);
    result->n_answers = found->n_answers;
    return ACQ_OK;
}

static bool has_tuple(const acq_engine_result *result, const acq_ent *values, uint32_t n_free)
{
    size_t i = 0;
    while (i < result->n_answers &&
           memcmp(result->answers[i].values, values, n_free * sizeof *values) != 0)
        i++;
    return i < result->n_answers;
}

/* Appends the answers of a wider search that the result does not have yet, without a p. */
static acq_status append_new(acq_engine_run *wide, acq_error *error)
{
    acq_engine_result *result = wide->result;
    const acq_search_result *found = &wide->found;
    size_t n = result->n_answers, bytes = wide->query->n_variables * sizeof(acq_ent);
    acq_engine_answer *all = acq_arena_alloc(&result->arena, n + found->n_answers, sizeof *all);
    if (all == NULL)
        return acq_fail_memory(error);
    memcpy(all, result->answers, n * sizeof *all);
    for (size_t i = 0; i < found->n_answers; i++) {
        if (has_tuple(result, found->answers[i].values, wide->query->n_free))
            continue;
        acq_ent *values = acq_arena_alloc(&result->arena, bytes, 1);
        if (values == NULL)
            return acq_fail_memory(error);
        memcpy(values, found->answers[i].values, bytes);
        all[n] = take_answer(&found->answers[i]);
        all[n++].values = values;
    }
    result->answers = all;
    result->n_answers = n;
    result->effort.nodes += found->effort.nodes;
    result->effort.revisions += found->effort.revisions;
    return ACQ_OK;
}

/* Adds candidates behind the answers, rated: as many as a bounded search finds. */
static acq_status add_candidates(acq_engine_run *run, acq_error *error)
{
    acq_engine_result *result = run->result;
    acq_engine_run wide = *run;
    size_t n_before = result->n_answers;
    wide.found = (acq_search_result){0};
    widen(run, &wide.params.search);
    acq_status status = search(&wide, 1, error);
    if (status == ACQ_OK)
        status = verify(&wide, error);
    if (status == ACQ_OK)
        status = append_new(&wide, error);
    bool has_all = wide.found.complete && wide.found.n_answers < wide.params.search.limit;
    result->has_more = run->params.prior >= 0 || !has_all;
    if (status == ACQ_OK)
        status =
            acq_judge_rate(run, result->answers + n_before, result->n_answers - n_before, error);
    acq_search_result_deinit(&wide.found);
    return status;
}

static acq_status judge_by_p(acq_engine_run *run, acq_error *error)
{
    acq_engine_result *result = run->result;
    acq_status status = acq_judge_rate(run, result->answers, result->n_answers, error);
    if (status != ACQ_OK)
        return status;
    result->has_more = wants_more(run);
    if (result->has_more)
        status = add_candidates(run, error);
    if (status == ACQ_OK)
        status = acq_judge_decide(run, error);
    return status;
}

/* The paper's rule: None after the last step. */
static void apply_paper_rule(const acq_engine_run *run)
{
    acq_engine_result *result = run->result;
    bool gave_up = result->outcome == ACQ_UNDECIDED && result->spent == ACQ_SPENT_STEPS;
    if (run->params.paper && gave_up && !acq_engine_is_complete(run->params.engine))
        result->outcome = ACQ_NONE;
}

static acq_status judge(acq_engine_run *run, acq_error *error)
{
    acq_status status = take_found(run, error);
    if (status == ACQ_OK && acq_engine_gives_p(&run->params, run->predictor))
        status = judge_by_p(run, error);
    else if (status == ACQ_OK)
        apply_paper_rule(run);
    return status == ACQ_OK ? acq_prepare_admit(run, error) : status;
}

/* ---- the way of a question ---- */

static acq_status for_each(acq_engine_run *runs, size_t n,
                           acq_status (*stage)(acq_engine_run *run, acq_error *error),
                           acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status = stage(&runs[i], error);
    return status;
}

/* One question, or n checks that one batch of the policy search takes. */
static acq_status answer(acq_engine_run *runs, size_t n, acq_error *error)
{
    acq_answer_field field = {0};
    for (size_t i = 0; i < n; i++)
        runs[i].params.field = runs[i].params.field == NULL ? &field : runs[i].params.field;
    acq_status status = for_each(runs, n, prepare, error);
    if (status == ACQ_OK)
        status = search(runs, n, error);
    if (status == ACQ_OK)
        status = for_each(runs, n, verify, error);
    if (status == ACQ_OK)
        status = for_each(runs, n, judge, error);
    for (size_t i = 0; i < n; i++) {
        acq_search_result_deinit(&runs[i].found);
        acq_wanted_plan_free(runs[i].plan);
        acq_problem_free(runs[i].problem);
    }
    return status;
}

static acq_status check_params(const acq_query *query, const acq_predictor *predictor,
                               const acq_engine_params *params, acq_error *error)
{
    if (params->engine >= ACQ_N_ENGINES)
        return acq_fail(error, ACQ_ERR_USAGE, "no engine has the number %d", (int)params->engine);
    if (params->engine == ACQ_ENGINE_policy && params->search.policy.policy == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "the policy search needs weights; open some first");
    if (query->graph != NULL && query->graph != predictor->graph)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the query was read for another graph than the predictor's; read it again "
                        "with the predictor's graph");
    return acq_answer_check_calibrator(predictor, error);
}

static acq_engine_run begin_run(const acq_query *query, const acq_predictor *predictor,
                                const acq_ent *values, const acq_engine_params *params,
                                acq_engine_result *result)
{
    acq_engine_run run = {.query = query,
                          .values = values,
                          .params = acq_engine_settle(params, predictor),
                          .predictor = predictor,
                          .deadline_ns = acq_clock_get_deadline(params->search.seconds),
                          .result = result};
    if (values != NULL)
        run.params.search.limit = 1;
    return run;
}

static acq_status answer_one(const acq_query *query, const acq_predictor *predictor,
                             const acq_ent *values, const acq_engine_params *params,
                             acq_engine_result *result, acq_error *error)
{
    *result = (acq_engine_result){.outcome = ACQ_UNDECIDED, .facts = ACQ_UNDECIDED, .p_whole = NAN};
    acq_status status = check_params(query, predictor, params, error);
    if (status != ACQ_OK)
        return status;
    if (acq_engine_is_fuzzy(params->engine))
        return values == NULL
                   ? acq_engine_fuzzy_ask(query, predictor, params, result, error)
                   : acq_engine_fuzzy_check(query, predictor, &values, 1, params, result, error);
    acq_engine_run run = begin_run(query, predictor, values, params, result);
    return answer(&run, 1, error);
}

acq_status acq_engine_ask(const acq_query *query, const acq_predictor *predictor,
                          const acq_engine_params *params, acq_engine_result *result,
                          acq_error *error)
{
    return answer_one(query, predictor, NULL, params, result, error);
}

acq_status acq_engine_check(const acq_query *query, const acq_predictor *predictor,
                            const acq_ent *values, const acq_engine_params *params,
                            acq_engine_result *result, acq_error *error)
{
    return answer_one(query, predictor, values, params, result, error);
}

static acq_status check_in_turn(const acq_query *query, const acq_predictor *predictor,
                                const acq_ent *const *tuples, size_t n,
                                const acq_engine_params *params, acq_engine_result *results,
                                acq_error *error)
{
    acq_engine_params one = *params;
    acq_answer_field field = {0};
    acq_status status = ACQ_OK;
    one.field = params->field == NULL ? &field : params->field;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        one.search.stream = params->search.stream + i;
        status = acq_engine_check(query, predictor, tuples[i], &one, &results[i], error);
    }
    return status;
}

static acq_status check_in_batch(const acq_query *query, const acq_predictor *predictor,
                                 const acq_ent *const *tuples, size_t n,
                                 const acq_engine_params *params, acq_engine_result *results,
                                 acq_error *error)
{
    acq_engine_run *runs = acq_alloc(n, sizeof *runs);
    if (runs == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n; i++)
        runs[i] = begin_run(query, predictor, tuples[i], params, &results[i]);
    acq_status status = answer(runs, n, error);
    acq_free(runs);
    return status;
}

acq_status acq_engine_check_many(const acq_query *query, const acq_predictor *predictor,
                                 const acq_ent *const *tuples, size_t n,
                                 const acq_engine_params *params, acq_engine_result *results,
                                 acq_error *error)
{
    for (size_t i = 0; i < n; i++)
        results[i] =
            (acq_engine_result){.outcome = ACQ_UNDECIDED, .facts = ACQ_UNDECIDED, .p_whole = NAN};
    acq_status status = check_params(query, predictor, params, error);
    if (status != ACQ_OK)
        return status;
    if (acq_engine_is_fuzzy(params->engine))
        return acq_engine_fuzzy_check(query, predictor, tuples, n, params, results, error);
    bool is_batch =
        params->engine == ACQ_ENGINE_policy && n > 1 && !acq_predictor_makes_rows(predictor);
    return is_batch ? check_in_batch(query, predictor, tuples, n, params, results, error)
                    : check_in_turn(query, predictor, tuples, n, params, results, error);
}
