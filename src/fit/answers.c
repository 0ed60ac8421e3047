/* answers.c - see parts.h. Questions are shared out among threads; their rows are put together in
 * the order of the questions. */

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "calibrate/answer.h"
#include "fit/parts.h"

enum {
    TRIES = 4, /* draws of a question that is of use */
    LEAST_ANSWERS =
        5, /* of a small one for balanced sets, but for the last draw: as in the paper */
};

/* Small questions are drawn as the paper draws them, hub-like ones so that they lack a fact. */
typedef enum question_kind { KIND_SMALL, KIND_HUB, N_KINDS } question_kind;

/* One checked candidate. */
typedef struct answer_row {
    float features[ACQ_N_ANSWER_FEATURES];
    float weight;
    bool is_true;
    bool is_decided;   /* the search came to an end */
    bool is_supported; /* false: no features */
} answer_row;

typedef struct answered {
    answer_row *rows;
    size_t n, capacity;
    question_kind kind;
    uint32_t n_atoms, n_free;
} answered;

typedef struct answering {
    acq_trial_source source;
    const acq_sampler *sampler;
    const acq_fit_params *params;
    answered *questions;
} answering;

/* ---- one question ---- */

/* The same for all: trees do not ask for them. */
static void leave_lifts_out(float *features)
{
    static const acq_answer_feature lifts[] = {ACQ_ANSWER_lift,       ACQ_ANSWER_lift_sum,
                                               ACQ_ANSWER_lift_least, ACQ_ANSWER_free_lift,
                                               ACQ_ANSWER_row_facts,  ACQ_ANSWER_back_facts};
    for (size_t i = 0; i < sizeof lifts / sizeof *lifts; i++)
        features[lifts[i]] = 0;
}

static acq_status try_one(const answering *a, const acq_query *query, const acq_answer_field *field,
                          const acq_ent *values, answer_row *row, acq_error *error)
{
    const acq_predictor *completed = a->source.completed;
    acq_engine_params engine = acq_trial_choose_search(completed, 1, a->source.work);
    acq_engine_result result;
    acq_status status = acq_engine_check(query, completed, values, &engine, &result, error);
    row->is_supported = status == ACQ_OK && result.outcome == ACQ_ANSWERED;
    row->is_decided = row->is_supported || result.outcome == ACQ_NONE;
    if (row->is_supported)
        status = acq_answer_describe(query, completed, &engine.search.scoring,
                                     result.answers[0].values, row->features, error);
    if (status == ACQ_OK && row->is_supported)
        acq_answer_describe_field(field, row->features);
    acq_engine_result_deinit(&result);
    if (!a->params->use_lifts)
        leave_lifts_out(row->features);
    return status;
}

/* Trials that are alike in truth and of which something may be learnt. */
static size_t count_alike(const acq_trials *trials, bool is_true)
{
    size_t n = 0;
    for (size_t i = 0; i < trials->n; i++)
        n += trials->items[i].is_true == is_true && trials->items[i].is_seen;
    return n;
}

/* True trials together weigh as much as wrong ones. Only seen candidates count. Wrong ones are
 * drawn among the seen: with unseen true ones beside them, the trees would learn that an unseen
 * candidate is true. */
static acq_status add_rows(const answering *a, const acq_query *query, const acq_trials *trials,
                           answered *out, acq_error *error)
{
    const size_t n_alike[] = {count_alike(trials, false), count_alike(trials, true)};
    if (ACQ_RESERVE(out->rows, out->capacity, trials->n) != ACQ_OK)
        return acq_fail_memory(error);
    acq_answer_field field = {0}; /* none over rows that are made one by one, as of lifts */
    acq_engine_params engine = acq_trial_choose_search(a->source.completed, 1, a->source.work);
    acq_status status = ACQ_OK;
    if (a->params->use_lifts)
        status = acq_engine_find_field(query, a->source.completed, &engine, &field, error);
    for (size_t i = 0; i < trials->n && status == ACQ_OK; i++) {
        const acq_trial *trial = &trials->items[i];
        if (acq_trial_source_is_late(&a->source))
            break;
        answer_row row = {.is_true = trial->is_true};
        if (trial->is_seen && n_alike[!trial->is_true] > 0)
            row.weight = 1.0F / (float)n_alike[trial->is_true];
        status = try_one(a, query, &field, trial->values, &row, error);
        if (row.is_decided)
            out->rows[out->n++] = row;
    }
    return status;
}

/* Small and hub-like ones take turns; keys leave room for a third kind, and tell the folds. */
static uint64_t get_key(size_t question)
{
    return question / N_KINDS * 3 + 1 + question % N_KINDS;
}

static acq_status answer_question(const answering *a, size_t question, answered *out,
                                  acq_error *error)
{
    uint64_t key = get_key(question);
    acq_random random = acq_random_start(a->params->seed ^ 0x71, key);
    acq_status status = ACQ_OK;
    out->kind = (question_kind)(question % N_KINDS);
    for (unsigned i = 0; i < TRIES && out->n == 0 && status == ACQ_OK; i++) {
        acq_query *query = NULL;
        if (acq_trial_source_is_late(&a->source))
            break;
        acq_trials trials = {0};
        size_t least = out->kind == KIND_SMALL && i + 1 < TRIES ? LEAST_ANSWERS : 1;
        status = acq_question_draw(a->sampler, a->source.rest, out->kind == KIND_HUB,
                                   out->kind == KIND_HUB, a->params->seed, key * TRIES + i, &query,
                                   error);
        if (status == ACQ_OK && query != NULL)
            status = acq_trials_draw(&a->source, query, least, &random, &trials, error);
        if (status == ACQ_OK && trials.n > 0) {
            out->n_atoms = query->n_atoms;
            out->n_free = query->n_free;
            status = add_rows(a, query, &trials, out, error);
        }
        acq_query_free(query);
    }
    if (acq_trial_source_is_late(&a->source))
        out->n = 0; /* some of its trials are missing */
    return status;
}

static acq_status answer_item(void *context, size_t item, acq_error *error)
{
    const answering *a = context;
    return answer_question(a, item, &a->questions[item], error);
}

/* ---- trees ---- */

/* The rows that have a support and a weight. */
typedef struct answer_sample {
    float *x, *weights;
    uint8_t *labels, *folds;
    size_t n;
} answer_sample;

static void answer_sample_deinit(answer_sample *sample)
{
    acq_free(sample->x);
    acq_free(sample->weights);
    acq_free(sample->labels);
    acq_free(sample->folds);
}

static size_t get_fold(size_t question)
{
    return get_key(question) % 2;
}

static void add_row(answer_sample *out, const answer_row *row, size_t question)
{
    if (!row->is_supported || row->weight == 0)
        return;
    memcpy(out->x + out->n * ACQ_N_ANSWER_FEATURES, row->features, sizeof row->features);
    out->weights[out->n] = row->weight;
    out->folds[out->n] = (uint8_t)get_fold(question);
    out->labels[out->n++] = row->is_true;
}

static acq_status gather(const answered *questions, size_t n_questions, answer_sample *out)
{
    size_t n = 0;
    for (size_t q = 0; q < n_questions; q++)
        n += questions[q].n;
    *out = (answer_sample){.x = acq_alloc(n * ACQ_N_ANSWER_FEATURES, sizeof(float)),
                           .weights = acq_alloc(n, sizeof(float)),
                           .labels = acq_alloc(n, 1),
                           .folds = acq_alloc(n, 1)};
    if (out->x == NULL || out->weights == NULL || out->labels == NULL || out->folds == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t q = 0; q < n_questions; q++)
        for (size_t i = 0; i < questions[q].n; i++)
            add_row(out, &questions[q].rows[i], q);
    return ACQ_OK;
}

static acq_boost_params choose_boost(const acq_fit_params *params)
{
    acq_boost_params boost = ACQ_BOOST_DEFAULT;
    boost.monotone = acq_answer_monotone;
    boost.depth = 4;
    boost.n_trees = 120;
    boost.least_hessian = 2;
    boost.seed = params->seed;
    boost.n_threads = params->n_threads;
    return boost;
}

/* Weighted shares of true candidates. */
typedef struct share {
    double n_true, n;
} share;

static void share_add(share *sum, double weight, bool is_true)
{
    sum->n += weight;
    sum->n_true += is_true ? weight : 0;
}

/* Never 0 or 1, but for 0 where there are none. */
static double share_get(const share *sum)
{
    return sum->n > 0 ? (sum->n_true + .01) / (sum->n + .02) : 0;
}

/* Do facts settle it? */
static bool is_settled(const answer_row *row)
{
    return row->is_supported && acq_answer_is_certain(row->features);
}

/* Wrong trials of questions with several free variables are all supported: they say nothing of what
 * is not. */
static void measure_shares(const answered *questions, size_t n_questions, acq_calibrator *out)
{
    share unsupported = {0}, open = {0};
    for (size_t q = 0; q < n_questions; q++) {
        bool is_link = questions[q].n_atoms == 1;
        for (size_t i = 0; i < questions[q].n; i++) {
            const answer_row *row = &questions[q].rows[i];
            if (is_link && !is_settled(row))
                share_add(&open, (double)row->weight, row->is_true);
            if (!row->is_supported && questions[q].n_free == 1)
                share_add(&unsupported, (double)row->weight, row->is_true);
        }
    }
    out->unsupported_balanced = share_get(&unsupported);
    out->open_balanced = share_get(&open);
}

static double judge_row(const acq_fold_trees *trees, size_t question, const answer_row *row,
                        double unsupported)
{
    return row->is_supported
               ? acq_fold_trees_judge(trees, (unsigned)get_fold(question), row->features)
               : unsupported;
}

/* ---- where a yes serves F1 best ---- */

static double get_step_p(size_t step)
{
    return (double)(step + 1) / (ACQ_FIT_DECISION_STEPS + 1);
}

/* Of one question: 2 TP / (2 TP + FP + FN). */
static double find_f1(double least, const double *p, const bool *is_true, size_t n)
{
    size_t hits = 0, n_yes = 0, n_true = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_yes = p[i] >= least;
        hits += is_yes && is_true[i];
        n_yes += is_yes;
        n_true += is_true[i];
    }
    return n_yes + n_true == 0 ? 0 : 2.0 * (double)hits / (double)(n_yes + n_true);
}

void acq_fit_decision_add(acq_fit_decision_tally *tally, const double *p, const bool *is_true,
                          size_t n)
{
    tally->n++;
    for (size_t step = 0; step < ACQ_FIT_DECISION_STEPS; step++)
        tally->sums[step] += find_f1(get_step_p(step), p, is_true, n);
}

acq_fit_decision acq_fit_decision_choose(const acq_fit_decision_tally *tally)
{
    size_t best = ACQ_FIT_DECISION_STEPS / 2;
    if (tally->n == 0)
        return (acq_fit_decision){0};
    for (size_t step = 0; step < ACQ_FIT_DECISION_STEPS; step++)
        if (tally->sums[step] > tally->sums[best])
            best = step;
    double n = (double)tally->n;
    return (acq_fit_decision){.p = get_step_p(best),
                              .f1 = tally->sums[best] / n,
                              .f1_half = tally->sums[ACQ_FIT_DECISION_STEPS / 2] / n};
}

/* As the paper's sets are: small ones with several atoms and at least so many answers. */
static bool is_papers(const answered *question)
{
    size_t n_true = 0;
    for (size_t i = 0; i < question->n; i++)
        n_true += question->rows[i].is_true;
    return question->kind == KIND_HUB
               ? n_true > 0
               : question->kind == KIND_SMALL && question->n_atoms > 1 && n_true >= LEAST_ANSWERS;
}

/* Where yes should begin for F1, by the balanced trees. As in the paper's sets, true candidates
 * that are not seen are among them. */
static void choose_decisions(const answered *questions, size_t n_questions,
                             const acq_fold_trees *trees, double unsupported,
                             acq_fit_report *report)
{
    acq_fit_decision_tally tallies[2] = {0};
    for (size_t q = 0; q < n_questions; q++) {
        double p[ACQ_TRIAL_MOST];
        bool is_true[ACQ_TRIAL_MOST];
        for (size_t i = 0; i < questions[q].n; i++) {
            const answer_row *row = &questions[q].rows[i];
            is_true[i] = row->is_true;
            p[i] = judge_row(trees, q, row, unsupported);
        }
        if (is_papers(&questions[q]))
            acq_fit_decision_add(&tallies[questions[q].kind == KIND_HUB], p, is_true,
                                 questions[q].n);
    }
    report->small = acq_fit_decision_choose(&tallies[0]);
    report->hub = acq_fit_decision_choose(&tallies[1]);
}

/* ---- the calibrator ---- */

/* Takes the trees of all rows out. */
static acq_boost *keep_all(acq_fold_trees *trees)
{
    acq_boost *all = trees->all;
    trees->all = NULL;
    acq_fold_trees_deinit(trees);
    return all;
}

/* Trees of two folds and of all rows. */
static acq_status fit_sample(const answered *questions, size_t n_questions,
                             const acq_fit_params *params, acq_fold_trees *out, acq_error *error)
{
    answer_sample sample;
    acq_status status = gather(questions, n_questions, &sample);
    if (status != ACQ_OK)
        acq_fail_memory(error);
    acq_boost_params boost = choose_boost(params);
    boost.seconds = acq_fit_get_seconds(params, ACQ_FIT_ANSWERS);
    acq_boost_data data = {.x = sample.x,
                           .labels = sample.labels,
                           .weights = sample.weights,
                           .n = sample.n,
                           .n_features = ACQ_N_ANSWER_FEATURES};
    if (status == ACQ_OK)
        status = acq_fold_trees_fit(&data, sample.folds, &boost, NULL, NULL, out, error);
    answer_sample_deinit(&sample);
    return status;
}

static acq_status fit_trees(const answered *questions, size_t n_questions,
                            const acq_fit_params *params, acq_calibrator *calibrator,
                            acq_fit_report *report, acq_error *error)
{
    acq_fold_trees trees;
    measure_shares(questions, n_questions, calibrator);
    acq_status status = fit_sample(questions, n_questions, params, &trees, error);
    if (status == ACQ_OK) {
        choose_decisions(questions, n_questions, &trees, calibrator->unsupported_balanced, report);
        calibrator->balanced = keep_all(&trees);
    }
    return status;
}

acq_status acq_fit_answer_trees(const acq_graph *rest, const acq_graph *whole,
                                const acq_predictor *completed, const acq_predictor *truth,
                                const acq_fit_params *params, const acq_link_progress *progress,
                                acq_calibrator *calibrator, acq_fit_report *report,
                                acq_error *error)
{
    size_t n = params->n_questions / 3 * N_KINDS, n_done = 0;
    double seconds = acq_fit_get_seconds(params, ACQ_FIT_QUESTIONS);
    acq_sampler *sampler = NULL;
    acq_predictor *observed = NULL;
    answering a = {.questions = acq_zalloc(n, sizeof(answered)), .params = params};
    acq_status status = a.questions == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = acq_sampler_new(whole, &sampler, error);
    if (status == ACQ_OK)
        status = acq_predictor_new_observed(rest, &observed, error);
    a.sampler = sampler;
    a.source = (acq_trial_source){rest,
                                  observed,
                                  completed,
                                  truth,
                                  acq_fit_get_work(params),
                                  params->seconds > 0 ? acq_clock_get_deadline(seconds) : 0};
    if (status == ACQ_OK)
        status = acq_questions_run(&(acq_questions_job){"answering questions", n, params->n_threads,
                                                        answer_item, &a, seconds},
                                   progress, &n_done, error);
    report->n_questions = n_done;
    report->all_questions = n;
    if (status == ACQ_OK)
        status = fit_trees(a.questions, n_done, params, calibrator, report, error);
    for (size_t q = 0; a.questions != NULL && q < n; q++)
        acq_free(a.questions[q].rows);
    acq_free(a.questions);
    acq_predictor_free(observed);
    acq_sampler_free(sampler);
    return status;
}
