/* facts.c - answers of a query with negated atoms that can be told before the whole question is
 * asked: their positive atoms are observed facts, and what they deny is judged by the predictor.
 *
 *   search   the facts alone, where a negated atom holds unless it is a fact
 *   better   the best assignment of each tuple by the predictor, as a check finds it. Where every
 *            negated atom is required and has no existential variable, the facts' own is the best:
 *            its score is that of the denied links, which all assignments share
 *   judge    p, as of any answer
 *
 * So the numbers are those of the whole question. Whether a tuple is among its answers is sure
 * where all are asked for. Of the K best ones it is where nothing can be better. */
#include <math.h>
#include <stdlib.h>

#include "answer/answer.h"
#include "base/memory.h"
#include "calibrate/worlds.h"
#include "engine/run.h"

enum { CHUNK = 64 };

typedef struct fact_run {
    acq_engine_run run;
    acq_problem *problem;
    acq_search_result found;
    bool is_simple; /* the facts' assignment is the best */
    bool gives_p;
    double most_p; /* that an answer can have */
    size_t n_best; /* answers that nothing can be better than */
} fact_run;

/* ---- what is denied ---- */

static bool has_open_end(const acq_problem *problem, const acq_literal *literal)
{
    return (literal->left.is_variable && literal->left.id >= problem->n_free) ||
           (literal->right.is_variable && literal->right.id >= problem->n_free);
}

static bool denies(const acq_branch *branch)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        return branch->literal.is_negated && !branch->literal.is_equality;
    for (uint32_t i = 0; i < branch->n_children; i++)
        if (denies(branch->children[i]))
            return true;
    return false;
}

static bool is_simple(const acq_problem *problem)
{
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *literal = &problem->literals[i];
        if (literal->is_negated && !literal->is_equality && has_open_end(problem, literal))
            return false;
    }
    for (uint32_t i = 0; i < problem->n_clauses; i++)
        if (denies(problem->clauses[i]))
            return false;
    return true;
}

/* An answer that denies a link is not certain. */
static double get_most_p(const acq_problem *problem)
{
    for (uint32_t i = 0; i < problem->n_literals; i++)
        if (problem->literals[i].is_negated && !problem->literals[i].is_equality)
            return (double)(ACQ_N_WORLDS - 1) / ACQ_N_WORLDS;
    return 1;
}

/* ---- search ---- */

static acq_status search(fact_run *f, uint64_t limit, acq_error *error)
{
    const acq_engine_run *run = &f->run;
    acq_search_params params = run->params.search;
    acq_predictor *observed = NULL;
    acq_status status = acq_predictor_new_observed(run->predictor->graph, &observed, error);
    if (status != ACQ_OK)
        return status;
    params.scoring = ACQ_SCORING_DEFAULT;
    params.scoring.threshold = 1;
    params.limit = limit;
    params.seconds = acq_run_get_seconds_left(run);
    status = acq_search_exact(f->problem, observed, &params, &f->found, error);
    acq_predictor_free(observed);
    return status;
}

/* ---- better ---- */

/* The best assignment of the tuple takes the place of the one by facts. */
static acq_status better(const acq_engine_run *run, acq_ent *values, acq_error *error)
{
    acq_problem *fixed = NULL;
    acq_search_result best = {0};
    acq_search_params params = run->params.search;
    params.limit = 1;
    params.seconds = acq_run_get_seconds_left(run);
    acq_status status = acq_problem_new_fixed(
        run->query, acq_graph_get_n_entities(run->predictor->graph), values, &fixed, error);
    if (status == ACQ_OK)
        status = acq_search_exact(fixed, run->predictor, &params, &best, error);
    for (uint32_t i = run->query->n_free;
         i < run->query->n_variables && status == ACQ_OK && best.n_answers > 0; i++)
        values[i] = best.answers[0].values[i];
    acq_search_result_deinit(&best);
    acq_problem_free(fixed);
    return status;
}

/* An entity for every variable: any will do for those that occur nowhere. */
static acq_status complete(const fact_run *f, acq_engine_answer *answer, acq_error *error)
{
    const acq_engine_run *run = &f->run;
    acq_status status = f->is_simple ? ACQ_OK : better(run, answer->values, error);
    for (uint32_t i = 0; i < run->query->n_variables; i++)
        if (answer->values[i] == ACQ_NO_ID)
            answer->values[i] = 0;
    if (status == ACQ_OK)
        answer->score = acq_verify_score(run->query, run->predictor, &run->params.search.scoring,
                                         answer->values);
    return status;
}

/* ---- judge ---- */

/* The answers from `first` on, as far as the time goes: at most a chunk. */
static acq_status judge_chunk(fact_run *f, size_t first, acq_error *error)
{
    acq_engine_result *result = f->run.result;
    size_t n = 0, left = f->found.n_answers - first;
    acq_status status = ACQ_OK;
    acq_engine_answer *chunk = result->answers + result->n_answers;
    for (size_t i = 0; i < left && i < CHUNK && status == ACQ_OK; i++) {
        chunk[n] = (acq_engine_answer){.p = NAN,
                                       .p_prior = NAN,
                                       .p_if_answered = NAN,
                                       .values = f->found.answers[first + i].values};
        status = complete(f, &chunk[n], error);
        n += chunk[n].score >= f->run.params.search.scoring.threshold;
    }
    if (status == ACQ_OK && f->gives_p)
        status = acq_judge_rate(&f->run, chunk, n, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        bool is_best = chunk[i].score >= 1 && (!f->gives_p || chunk[i].p >= f->most_p);
        if ((f->gives_p && isnan(chunk[i].p)) || (f->run.params.search.limit > 0 && !is_best))
            continue;
        result->answers[result->n_answers++] = chunk[i];
        f->n_best += is_best;
    }
    return status;
}

static bool is_full(const fact_run *f)
{
    uint64_t limit = f->run.params.search.limit;
    return limit > 0 && f->n_best >= limit;
}

static int compare(const void *a, const void *b, void *context)
{
    const acq_engine_answer *x = a, *y = b;
    const acq_query *query = context;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    for (uint32_t i = 0; i < query->n_variables; i++)
        if (x->values[i] != y->values[i])
            return x->values[i] < y->values[i] ? -1 : 1;
    return 0;
}

/* The decision, where there are answers to decide about. */
static acq_status decide(fact_run *f, acq_error *error)
{
    acq_engine_result *result = f->run.result;
    uint64_t limit = f->run.params.search.limit;
    acq_status status = ACQ_OK;
    if (result->n_answers > 0 && f->gives_p) {
        status = acq_judge_decide(&f->run, error);
    } else if (result->n_answers > 0) {
        qsort_r(result->answers, result->n_answers, sizeof *result->answers, compare,
                (void *)f->run.query);
        result->n_answers =
            limit > 0 && limit < result->n_answers ? (size_t)limit : result->n_answers;
    }
    result->outcome = result->n_answers > 0 ? ACQ_ANSWERED : ACQ_UNDECIDED;
    result->complete = limit > 0 && result->n_answers == limit;
    return status;
}

/* Takes over what the search has found, judged. */
static acq_status judge(fact_run *f, uint64_t most, acq_error *error)
{
    acq_engine_result *result = f->run.result;
    result->arena = f->found.arena;
    acq_arena_init(&f->found.arena);
    result->spent = f->found.spent;
    result->effort = f->found.effort;
    result->facts = f->found.outcome;
    result->has_more = most > 0 && f->found.n_answers == most;
    result->answers =
        acq_arena_alloc(&result->arena, f->found.n_answers + 1, sizeof *result->answers);
    if (result->answers == NULL)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < f->found.n_answers && status == ACQ_OK && !is_full(f); i += CHUNK) {
        if (acq_run_must_end(&f->run))
            break;
        status = judge_chunk(f, i, error);
    }
    return status == ACQ_OK ? decide(f, error) : status;
}

acq_status acq_engine_ask_facts(const acq_query *query, const acq_predictor *predictor,
                                const acq_engine_params *params, uint64_t most,
                                acq_engine_result *result, acq_error *error)
{
    *result = (acq_engine_result){.outcome = ACQ_UNDECIDED, .facts = ACQ_UNDECIDED, .p_whole = NAN};
    fact_run f = {.run = {.query = query,
                          .params = acq_engine_settle(params, predictor),
                          .predictor = predictor,
                          .deadline_ns = acq_clock_get_deadline(params->search.seconds),
                          .result = result},
                  .gives_p = acq_engine_gives_p(params, predictor)};
    acq_status status =
        acq_problem_new(query, acq_graph_get_n_entities(predictor->graph), &f.problem, error);
    f.run.problem = f.problem;
    if (status == ACQ_OK) {
        f.is_simple = is_simple(f.problem);
        f.most_p = get_most_p(f.problem);
        status = search(&f, most, error);
    }
    if (status == ACQ_OK)
        status = judge(&f, most, error);
    acq_search_result_deinit(&f.found);
    acq_problem_free(f.problem);
    return status;
}
