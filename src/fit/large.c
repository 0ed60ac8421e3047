/* large.c - see parts.h. Questions are shared out among threads and kept in their order, so a seed
 * repeats at any number of threads. */

#include <math.h>

#include "base/memory.h"
#include "calibrate/worlds.h"
#include "fit/parts.h"

enum {
    CANDIDATES = 12, /* of a question */
    WORK = 400000,   /* of a measurement: a tenth of what an ask may take */
    GRID = 20,       /* shares of joint worlds that are tried */
    NEWTON_STEPS = 20,
    LEAST_CASES = 100, /* fewer teach nothing: what is usual stays */
    HELD = 10,         /* what the usual curve weighs, in cases */
};

/* p by independent worlds, and by joint ones alone: any other share lies between. */
typedef struct measured {
    double independent, joint;
} measured;

typedef struct candidate {
    measured p;
    bool is_true;
} candidate;

typedef struct question {
    candidate candidates[CANDIDATES];
    size_t n;
    measured any;
    bool has_answer; /* and free variables */
    bool is_denial;  /* some atom is negated */
} question;

typedef struct asking {
    const acq_graph *rest;
    const acq_predictor *completed, *truth;
    const acq_sampler *sampler;
    const acq_fit_params *params;
    question *questions;
} asking;

static double mix(measured p, double joint)
{
    return (1 - joint) * p.independent + joint * p.joint;
}

/* ---- one question ---- */

/* Both kinds of worlds of a thread. */
typedef struct both_worlds {
    acq_worlds *independent, *joint;
} both_worlds;

static acq_status measure_one(acq_worlds *worlds, const acq_problem *problem, double *p,
                              bool *is_whole, acq_error *error)
{
    acq_budget budget;
    acq_budget_init(&budget, 0, 0);
    budget.work_left = WORK;
    acq_status status = acq_worlds_measure(worlds, problem, NULL, &budget, p, error);
    *is_whole = *is_whole && budget.spent == ACQ_SPENT_NOTHING;
    return status;
}

/* values NULL: with any values of the free variables. */
static acq_status measure(const both_worlds *worlds, const acq_query *query, uint32_t n_entities,
                          const acq_ent *values, measured *out, bool *is_whole, acq_error *error)
{
    acq_problem *problem = NULL;
    acq_status status = acq_problem_new_fixed(query, n_entities, values, &problem, error);
    if (status == ACQ_OK)
        status = measure_one(worlds->independent, problem, &out->independent, is_whole, error);
    if (status == ACQ_OK)
        status = measure_one(worlds->joint, problem, &out->joint, is_whole, error);
    acq_problem_free(problem);
    return status;
}

static acq_engine_params choose_search(const asking *a, const acq_predictor *predictor,
                                       uint64_t limit)
{
    acq_engine_params engine =
        acq_trial_choose_search(predictor, limit, acq_fit_get_work(a->params));
    engine.search.scoring.negation_threshold = -1;
    return engine;
}

/* Does it hold? values NULL: for any values of the free variables. */
static acq_status is_true(const asking *a, const acq_query *query, const acq_ent *values, bool *out,
                          acq_error *error)
{
    acq_engine_params engine = choose_search(a, a->truth, 1);
    acq_engine_result result;
    acq_status status = values == NULL
                            ? acq_engine_ask(query, a->truth, &engine, &result, error)
                            : acq_engine_check(query, a->truth, values, &engine, &result, error);
    *out = status == ACQ_OK && result.outcome == ACQ_ANSWERED;
    acq_engine_result_deinit(&result);
    return status;
}

static acq_status add_candidate(const asking *a, const both_worlds *worlds, const acq_query *query,
                                const acq_ent *values, question *out, acq_error *error)
{
    candidate *one = &out->candidates[out->n];
    bool is_whole = true;
    acq_status status = measure(worlds, query, acq_graph_get_n_entities(a->rest), values, &one->p,
                                &is_whole, error);
    if (status == ACQ_OK && is_whole && one->p.independent < 1) {
        status = is_true(a, query, values, &one->is_true, error);
        out->n++;
    }
    return status;
}

static bool has_denial(const acq_query *query)
{
    uint32_t i = 0;
    while (i < query->root->n_children && query->root->children[i]->kind != ACQ_NODE_NOT)
        i++;
    return i < query->root->n_children;
}

static acq_status ask(const asking *a, const both_worlds *worlds, const acq_query *query,
                      question *out, acq_error *error)
{
    acq_engine_params engine = choose_search(a, a->completed, CANDIDATES);
    acq_engine_result result;
    bool is_whole = true;
    out->is_denial = has_denial(query);
    acq_status status = acq_engine_ask(query, a->completed, &engine, &result, error);
    for (size_t i = 0; i < result.n_answers && i < CANDIDATES && status == ACQ_OK; i++)
        status = add_candidate(a, worlds, query, result.answers[i].values, out, error);
    acq_engine_result_deinit(&result);
    if (status == ACQ_OK && out->n > 0)
        status = measure(worlds, query, acq_graph_get_n_entities(a->rest), NULL, &out->any,
                         &is_whole, error);
    if (status == ACQ_OK && out->n > 0 && is_whole && query->n_free > 0)
        status = is_true(a, query, NULL, &out->has_answer, error);
    return status;
}

static acq_status open_worlds(const asking *a, both_worlds *out, acq_error *error)
{
    acq_status status = acq_worlds_new(a->completed, 0, &out->independent, error);
    return status == ACQ_OK ? acq_worlds_new(a->completed, 1, &out->joint, error) : status;
}

static acq_status ask_item(void *context, size_t item, acq_error *error)
{
    const asking *a = context;
    both_worlds worlds = {0};
    acq_query *query = NULL;
    acq_status status = acq_question_draw_at_large(a->sampler, a->rest, a->params->seed ^ 0x1a,
                                                   item, &query, error);
    if (status == ACQ_OK && query != NULL)
        status = open_worlds(a, &worlds, error);
    if (status == ACQ_OK && query != NULL)
        status = ask(a, &worlds, query, &a->questions[item], error);
    acq_worlds_free(worlds.independent);
    acq_worlds_free(worlds.joint);
    acq_query_free(query);
    return status;
}

/* ---- what is learnt ---- */

static double get_log_loss(double p, bool is_true)
{
    double clipped = fmin(fmax(p, 1e-4), 1 - 1e-4);
    return -log(is_true ? clipped : 1 - clipped);
}

static double sum_loss(const question *questions, size_t n, double joint)
{
    double sum = 0;
    for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < questions[q].n; i++) {
            const candidate *one = &questions[q].candidates[i];
            sum += get_log_loss(mix(one->p, joint), one->is_true);
        }
    return sum;
}

static double choose_joint(const question *questions, size_t n)
{
    double best = 0, least = INFINITY;
    for (int step = 0; step <= GRID; step++) {
        double joint = (double)step / GRID, loss = sum_loss(questions, n, joint);
        if (loss < least) {
            least = loss;
            best = joint;
        }
    }
    return best;
}

/* Has it an answer that is not certain? */
static bool teaches_curve(const question *one)
{
    return one->has_answer && one->any.independent < 1;
}

/* One step towards the likeliest slope and shift of a logistic curve, both held near (1, 0) where
 * few cases tell. */
static void step_curve(const question *questions, size_t n, double joint, double *slope,
                       double *shift)
{
    double g[2] = {HELD * (*slope - 1), HELD * *shift}, h[3] = {HELD, 0, HELD};
    for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < questions[q].n && teaches_curve(&questions[q]); i++) {
            const candidate *one = &questions[q].candidates[i];
            double x =
                acq_calibrator_get_share_logit(mix(one->p, joint), mix(questions[q].any, joint));
            double p = 1 / (1 + exp(-(*slope * x + *shift)));
            double left = p - one->is_true, weight = p * (1 - p);
            g[0] += left * x;
            g[1] += left;
            h[0] += weight * x * x;
            h[1] += weight * x;
            h[2] += weight;
        }
    double det = h[0] * h[2] - h[1] * h[1];
    *slope = fmin(fmax(*slope - (h[2] * g[0] - h[1] * g[1]) / det, .2), 5);
    *shift = fmin(fmax(*shift - (h[0] * g[1] - h[1] * g[0]) / det, -5), 5);
}

static double find_share(const question *questions, size_t n)
{
    double n_true = .5, n_all = 1;
    for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < questions[q].n; i++, n_all++)
            n_true += questions[q].candidates[i].is_true;
    return n_true / n_all;
}

static void fill_tables(const question *questions, size_t n, const acq_calibrator *calibrator,
                        acq_fit_report *report)
{
    double base = find_share(questions, n), joint = calibrator->joint;
    acq_reliability_init(&report->answer_table);
    acq_reliability_init(&report->denial_table);
    acq_reliability_init(&report->if_table);
    for (size_t q = 0; q < n; q++)
        for (size_t i = 0; i < questions[q].n; i++) {
            const candidate *one = &questions[q].candidates[i];
            double p = mix(one->p, joint);
            acq_reliability_add(&report->answer_table, p, one->is_true, 1, base);
            if (questions[q].is_denial)
                acq_reliability_add(&report->denial_table, p, one->is_true, 1, base);
            p = acq_calibrator_get_p_if_answered(calibrator, p, mix(questions[q].any, joint));
            if (questions[q].has_answer)
                acq_reliability_add(&report->if_table, p, one->is_true, 1, base);
        }
}

static void learn(const question *questions, size_t n, acq_calibrator *calibrator,
                  acq_fit_report *report)
{
    size_t n_cases = 0;
    for (size_t q = 0; q < n; q++)
        n_cases += questions[q].n;
    if (n_cases >= LEAST_CASES) {
        calibrator->joint = choose_joint(questions, n);
        for (int step = 0; step < NEWTON_STEPS; step++)
            step_curve(questions, n, calibrator->joint, &calibrator->if_slope,
                       &calibrator->if_shift);
    }
    fill_tables(questions, n, calibrator, report);
}

acq_status acq_fit_at_large(const acq_graph *rest, const acq_predictor *completed,
                            const acq_predictor *truth, const acq_fit_params *params,
                            const acq_link_progress *progress, acq_calibrator *calibrator,
                            acq_fit_report *report, acq_error *error)
{
    size_t n = params->n_questions / 3, n_done = 0;
    acq_sampler *sampler = NULL;
    asking a = {.rest = rest,
                .completed = completed,
                .truth = truth,
                .params = params,
                .questions = acq_zalloc(n, sizeof(question))};
    acq_status status = a.questions == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = acq_sampler_new(rest, &sampler, error);
    a.sampler = sampler;
    if (status == ACQ_OK)
        status = acq_questions_run(
            &(acq_questions_job){"asking at large", n, params->n_threads, ask_item, &a,
                                 acq_fit_get_seconds(params, ACQ_FIT_AT_LARGE)},
            progress, &n_done, error);
    if (status == ACQ_OK)
        learn(a.questions, n_done, calibrator, report);
    acq_sampler_free(sampler);
    acq_free(a.questions);
    return status;
}
