/* answers.c - see answers.h. Questions are shared out among threads; their rows are put together in
 * the order of the questions. */
#include "fit/answers.h"

#include <math.h>
#include <string.h>

#include "answer/probability.h"
#include "base/memory.h"
#include "base/threads.h"
#include "engine/engine.h"
#include "fit/questions.h"

enum {
    MOST_FREE = 3,
    SEARCH_WORK = 20000000,
    TRUE_MOST = 12,
    WRONG_MOST = 12,
    DRAWS = 200,
    QUESTIONS = 16000
};

/* One checked candidate. */
typedef struct answer_row {
    float features[ACQ_N_ANSWER_FEATURES];
    float natural, balanced; /* weights */
    bool is_true;
    bool is_supported; /* false: no features, p is 0 */
} answer_row;

typedef struct answered {
    answer_row *rows;
    size_t n, capacity;
    bool is_hub;
} answered;

typedef struct answering {
    const acq_graph *rest;
    const acq_sampler *sampler;
    const acq_predictor *completed, *truth;
    const acq_fit_params *params;
    answered *questions;
    acq_error *errors; /* one per thread */
    size_t first;      /* question of item 0 */
} answering;

static acq_engine_params choose_search(const acq_predictor *predictor, uint64_t limit)
{
    acq_engine_params engine = ACQ_ENGINE_DEFAULT;
    engine.search.limit = limit;
    engine.search.seconds = 0; /* a deadline would not repeat */
    engine.search.work = SEARCH_WORK;
    engine.search.scoring.threshold = acq_predictor_get_floor(predictor);
    if (engine.search.scoring.threshold <= 0)
        engine.search.scoring.threshold = .5;
    engine.search.scoring.negation_threshold = .5;
    engine.search.scoring = acq_scoring_round(engine.search.scoring);
    return engine;
}

/* ---- candidates ---- */

typedef struct tuple_set {
    acq_ent values[TRUE_MOST + WRONG_MOST][MOST_FREE];
    bool is_true[TRUE_MOST + WRONG_MOST];
    size_t n, n_true;
    double true_stands_for, wrong_stands_for; /* candidates that one of these stands for */
} tuple_set;

static bool has_tuple(const tuple_set *tuples, const acq_ent *values, uint32_t n_free)
{
    for (size_t i = 0; i < tuples->n; i++)
        if (memcmp(tuples->values[i], values, n_free * sizeof *values) == 0)
            return true;
    return false;
}

static void add_tuple(tuple_set *tuples, const acq_ent *values, uint32_t n_free, bool is_true)
{
    if (tuples->n == TRUE_MOST + WRONG_MOST || has_tuple(tuples, values, n_free))
        return;
    memcpy(tuples->values[tuples->n], values, n_free * sizeof *values);
    tuples->is_true[tuples->n++] = is_true;
    tuples->n_true += is_true;
}

static acq_status holds(const answering *a, const acq_query *query, const acq_ent *values,
                        bool *out, acq_error *error)
{
    acq_engine_params engine = choose_search(a->truth, 1);
    acq_search_result result;
    acq_status status = acq_engine_check(query, a->truth, values, &engine, &result, error);
    *out = status == ACQ_OK && result.outcome == ACQ_ANSWERED;
    acq_search_result_deinit(&result);
    return status;
}

/* The best answers by a predictor, as candidates. Those by the truth are true. */
static acq_status add_answers(const answering *a, const acq_query *query,
                              const acq_predictor *predictor, uint64_t limit, bool is_truth,
                              tuple_set *tuples, acq_error *error)
{
    acq_engine_params engine = choose_search(predictor, limit);
    acq_search_result result;
    acq_status status = acq_engine_ask(query, predictor, &engine, &result, error);
    for (size_t i = 0; i < result.n_answers && status == ACQ_OK; i++) {
        bool is_true = true;
        if (!is_truth)
            status = holds(a, query, result.answers[i].values, &is_true, error);
        if (status == ACQ_OK)
            add_tuple(tuples, result.answers[i].values, query->n_free, is_true);
    }
    acq_search_result_deinit(&result);
    return status;
}

/* Is the entity shown by the rest at this variable's end of every positive atom? */
static bool is_shown(const answering *a, const acq_query *query, acq_var variable, acq_ent entity)
{
    for (uint32_t i = 0; i < query->root->n_children; i++) {
        const acq_node *atom = query->root->children[i];
        const acq_links *links;
        if (atom->kind != ACQ_NODE_ATOM)
            continue;
        acq_rel relation = query->relations[atom->relation].id;
        acq_term ends[2] = {atom->left, atom->right};
        for (unsigned side = 0; side < 2; side++)
            if (ends[side].is_variable && ends[side].id == variable &&
                (acq_graph_open_links(a->rest, relation ^ side, &links, NULL) != ACQ_OK ||
                 acq_links_find(links, entity) == ACQ_NO_ID))
                return false;
    }
    return true;
}

/* The shortest list of entities that a positive atom shows at the variable; NULL: no atom. */
static const acq_links *find_shortest(const answering *a, const acq_query *query, acq_var variable)
{
    const acq_links *best = NULL;
    for (uint32_t i = 0; i < query->root->n_children; i++) {
        const acq_node *atom = query->root->children[i];
        if (atom->kind != ACQ_NODE_ATOM)
            continue;
        acq_rel relation = query->relations[atom->relation].id;
        acq_term ends[2] = {atom->left, atom->right};
        for (unsigned side = 0; side < 2; side++) {
            const acq_links *links;
            if (ends[side].is_variable && ends[side].id == variable &&
                acq_graph_open_links(a->rest, relation ^ side, &links, NULL) == ACQ_OK &&
                (best == NULL || links->n_heads < best->n_heads))
                best = links;
        }
    }
    return best;
}

/* How the draws among the shown entities went. */
typedef struct shown_draws {
    size_t n, n_true, n_wrong; /* draws, and those that were shown and true, shown and wrong */
} shown_draws;

static acq_status draw_shown(const answering *a, const acq_query *query, acq_ent entity,
                             tuple_set *tuples, shown_draws *draws, acq_error *error)
{
    bool is_true = false;
    draws->n++;
    if (!is_shown(a, query, 0, entity))
        return ACQ_OK;
    acq_status status = holds(a, query, &entity, &is_true, error);
    draws->n_true += is_true;
    draws->n_wrong += !is_true;
    if (status == ACQ_OK &&
        (is_true ? tuples->n_true < TRUE_MOST : tuples->n - tuples->n_true < WRONG_MOST))
        add_tuple(tuples, &entity, 1, is_true);
    return status;
}

/* Candidates of a query with one free variable: some of the entities shown at its place. The draws
 * also tell how many true and wrong ones there are. */
static acq_status add_shown(const answering *a, const acq_query *query, acq_random *random,
                            tuple_set *tuples, acq_error *error)
{
    const acq_links *list = find_shortest(a, query, 0);
    shown_draws draws = {0};
    acq_status status = ACQ_OK;
    for (size_t i = 0; list != NULL && list->n_heads > 0 && status == ACQ_OK && i < DRAWS &&
                       draws.n_wrong < WRONG_MOST;
         i++)
        status = draw_shown(a, query, list->heads[acq_random_below(random, list->n_heads)], tuples,
                            &draws, error);
    size_t n_wrong = tuples->n - tuples->n_true;
    if (draws.n > 0) {
        double each = (double)list->n_heads / (double)draws.n;
        tuples->true_stands_for = each * (double)draws.n_true / (double)tuples->n_true;
        tuples->wrong_stands_for = each * (double)draws.n_wrong / (double)n_wrong;
    }
    return status;
}

/* ---- one question ---- */

static acq_status check_tuple(const answering *a, const acq_query *query, const acq_ent *values,
                              answer_row *row, acq_error *error)
{
    acq_engine_params engine = choose_search(a->completed, 1);
    acq_search_result result;
    acq_status status = acq_engine_check(query, a->completed, values, &engine, &result, error);
    row->is_supported = status == ACQ_OK && result.outcome == ACQ_ANSWERED;
    if (row->is_supported)
        status = acq_answer_describe(query, a->completed, &engine.search.scoring,
                                     result.answers[0].values, row->features, error);
    acq_search_result_deinit(&result);
    return status;
}

/* What one candidate stands for, as a share of the question's population: questions weigh alike. */
static double get_natural(const tuple_set *tuples, bool is_true)
{
    double of_true = fmax(1.0, tuples->true_stands_for);
    double of_wrong = fmax(1.0, tuples->wrong_stands_for);
    double population =
        of_true * (double)tuples->n_true + of_wrong * (double)(tuples->n - tuples->n_true);
    return (is_true ? of_true : of_wrong) * (double)tuples->n / population;
}

static acq_status add_rows(const answering *a, const acq_query *query, const tuple_set *tuples,
                           answered *out, acq_error *error)
{
    size_t n_wrong = tuples->n - tuples->n_true;
    if (ACQ_RESERVE(out->rows, out->capacity, tuples->n) != ACQ_OK)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < tuples->n && status == ACQ_OK; i++) {
        answer_row *row = &out->rows[out->n++];
        bool is_true = tuples->is_true[i];
        *row = (answer_row){.is_true = is_true};
        row->natural = (float)get_natural(tuples, is_true);
        row->balanced = is_true ? 1.0F / (float)tuples->n_true : 1.0F / (float)n_wrong;
        status = check_tuple(a, query, tuples->values[i], row, error);
    }
    return status;
}

static acq_status answer_question(const answering *a, uint64_t key, answered *out, acq_error *error)
{
    acq_question question;
    acq_random random = acq_random_start(a->params->seed ^ 0x71, key);
    acq_status status =
        acq_question_draw(a->sampler, a->rest, a->params->seed, key, &question, error);
    if (status != ACQ_OK || question.query == NULL)
        return status;
    tuple_set tuples = {0};
    const acq_query *query = question.query;
    out->is_hub = question.is_hub;
    status = add_answers(a, query, a->truth, TRUE_MOST, true, &tuples, error);
    if (status == ACQ_OK && query->n_free == 1)
        status = add_shown(a, query, &random, &tuples, error);
    else if (status == ACQ_OK)
        status = add_answers(a, query, a->completed, WRONG_MOST / 2, false, &tuples, error);
    if (status == ACQ_OK && tuples.n_true > 0 && tuples.n_true < tuples.n)
        status = add_rows(a, query, &tuples, out, error);
    acq_query_free(question.query);
    return status;
}

static acq_status answer_item(void *context, size_t item, unsigned thread)
{
    const answering *a = context;
    return answer_question(a, a->first + item, &a->questions[a->first + item], &a->errors[thread]);
}

/* ---- trees ---- */

/* All rows that have a support. */
typedef struct answer_sample {
    float *x, *natural, *balanced;
    uint8_t *labels, *folds;
    size_t n;
} answer_sample;

static void answer_sample_deinit(answer_sample *sample)
{
    acq_free(sample->x);
    acq_free(sample->natural);
    acq_free(sample->balanced);
    acq_free(sample->labels);
    acq_free(sample->folds);
}

static size_t get_fold(size_t question)
{
    return question % 2;
}

static void add_row(answer_sample *out, const answer_row *row, size_t question)
{
    memcpy(out->x + out->n * ACQ_N_ANSWER_FEATURES, row->features, sizeof row->features);
    out->natural[out->n] = row->natural;
    out->balanced[out->n] = row->balanced;
    out->folds[out->n] = (uint8_t)get_fold(question);
    out->labels[out->n++] = row->is_true;
}

static acq_status gather(const answered *questions, size_t n_questions, answer_sample *out)
{
    size_t n = 0;
    for (size_t q = 0; q < n_questions; q++)
        n += questions[q].n;
    *out = (answer_sample){.x = acq_alloc(n * ACQ_N_ANSWER_FEATURES, sizeof(float)),
                           .natural = acq_alloc(n, sizeof(float)),
                           .balanced = acq_alloc(n, sizeof(float)),
                           .labels = acq_alloc(n, 1),
                           .folds = acq_alloc(n, 1)};
    if (out->x == NULL || out->natural == NULL || out->balanced == NULL || out->labels == NULL ||
        out->folds == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t q = 0; q < n_questions; q++)
        for (size_t i = 0; i < questions[q].n; i++)
            if (questions[q].rows[i].is_supported)
                add_row(out, &questions[q].rows[i], q);
    return ACQ_OK;
}

static acq_boost_params choose_boost(const acq_fit_params *params, double least_hessian)
{
    acq_boost_params boost = ACQ_BOOST_DEFAULT;
    boost.monotone = acq_answer_monotone;
    boost.depth = 4;
    boost.n_trees = 120;
    boost.least_hessian = least_hessian;
    boost.seed = params->seed;
    boost.n_threads = params->n_threads;
    return boost;
}

/* Share of true candidates, by natural weights. */
static double find_base_rate(const answered *questions, size_t n_questions)
{
    double n_true = 0, n = 0;
    for (size_t q = 0; q < n_questions; q++)
        for (size_t i = 0; i < questions[q].n; i++) {
            double weight = (double)questions[q].rows[i].natural;
            n += weight;
            n_true += questions[q].rows[i].is_true ? weight : 0;
        }
    return n > 0 ? n_true / n : 0;
}

static void fill_table(const answered *questions, size_t n_questions, const acq_fold_trees *trees,
                       acq_reliability *table)
{
    double base = find_base_rate(questions, n_questions);
    acq_reliability_init(table);
    for (size_t q = 0; q < n_questions; q++)
        for (size_t i = 0; i < questions[q].n; i++) {
            const answer_row *row = &questions[q].rows[i];
            double p = row->is_supported
                           ? acq_fold_trees_judge(trees, (unsigned)get_fold(q), row->features)
                           : 0.0;
            acq_reliability_add(table, p, row->is_true, (double)row->natural, base);
        }
}

/* Where yes should begin for F1, by the balanced trees. */
static void choose_decisions(const answered *questions, size_t n_questions,
                             const acq_fold_trees *trees, acq_fit_report *report)
{
    acq_decision_tally tallies[2] = {0};
    for (size_t q = 0; q < n_questions; q++) {
        double p[TRUE_MOST + WRONG_MOST];
        bool is_true[TRUE_MOST + WRONG_MOST];
        for (size_t i = 0; i < questions[q].n; i++) {
            const answer_row *row = &questions[q].rows[i];
            is_true[i] = row->is_true;
            p[i] = row->is_supported
                       ? acq_fold_trees_judge(trees, (unsigned)get_fold(q), row->features)
                       : 0.0;
        }
        if (questions[q].n > 0)
            acq_decision_add(&tallies[questions[q].is_hub], p, is_true, questions[q].n);
    }
    report->small = acq_decision_choose(&tallies[0]);
    report->hub = acq_decision_choose(&tallies[1]);
}

/* Takes the trees of all rows out. */
static acq_boost *keep_all(acq_fold_trees *trees)
{
    acq_boost *all = trees->all;
    trees->all = NULL;
    acq_fold_trees_deinit(trees);
    return all;
}

static acq_status fit_trees(const answered *questions, size_t n_questions,
                            const acq_fit_params *params, acq_calibrator *calibrator,
                            acq_fit_report *report, acq_error *error)
{
    acq_fold_trees trees;
    answer_sample sample;
    acq_status status = gather(questions, n_questions, &sample);
    acq_boost_params natural = choose_boost(params, fmin(20, fmax(1, (double)sample.n / 1000)));
    acq_boost_params balanced = choose_boost(params, 2); /* a question's weights add up to two */
    if (status != ACQ_OK)
        acq_fail_memory(error);
    acq_boost_data data = {sample.x, sample.labels, sample.natural, sample.n,
                           ACQ_N_ANSWER_FEATURES};
    if (status == ACQ_OK)
        status = acq_fold_trees_fit(&data, sample.folds, &natural, NULL, NULL, &trees, error);
    if (status == ACQ_OK) {
        fill_table(questions, n_questions, &trees, &report->answer_table);
        calibrator->answer = keep_all(&trees);
        data.weights = sample.balanced;
        status = acq_fold_trees_fit(&data, sample.folds, &balanced, NULL, NULL, &trees, error);
    }
    if (status == ACQ_OK) {
        choose_decisions(questions, n_questions, &trees, report);
        calibrator->balanced = keep_all(&trees);
    }
    answer_sample_deinit(&sample);
    return status;
}

static acq_status ask_questions(answering *a, size_t n, const acq_link_progress *progress,
                                acq_error *error)
{
    enum { AT_ONCE = 50 };
    acq_status status = ACQ_OK;
    for (; a->first < n && status == ACQ_OK; a->first += AT_ONCE) {
        size_t left = n - a->first;
        if (progress->report != NULL && !progress->report(progress->context, "answering questions",
                                                          (double)a->first, (double)n))
            return acq_fail(error, ACQ_ERR_INTERRUPTED, "stopped while answering questions");
        status =
            acq_threads_run(a->params->n_threads, left < AT_ONCE ? left : AT_ONCE, answer_item, a);
    }
    for (unsigned i = 0; i < a->params->n_threads && status != ACQ_OK; i++)
        if (a->errors[i].code == status)
            return acq_fail(error, status, "%s", a->errors[i].message);
    return status;
}

acq_status acq_fit_answer_trees(const acq_graph *rest, const acq_graph *whole,
                                const acq_predictor *completed, const acq_predictor *truth,
                                const acq_fit_params *params, const acq_link_progress *progress,
                                acq_calibrator *calibrator, acq_fit_report *report,
                                acq_error *error)
{
    acq_sampler *sampler = NULL;
    answering a = {.rest = rest,
                   .completed = completed,
                   .truth = truth,
                   .params = params,
                   .questions = acq_zalloc(QUESTIONS, sizeof(answered)),
                   .errors = acq_zalloc(params->n_threads, sizeof(acq_error))};
    acq_status status = a.questions == NULL || a.errors == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = acq_sampler_new(whole, &sampler, error);
    a.sampler = sampler;
    if (status == ACQ_OK)
        status = ask_questions(&a, QUESTIONS, progress, error);
    if (status == ACQ_OK)
        status = fit_trees(a.questions, QUESTIONS, params, calibrator, report, error);
    for (size_t q = 0; a.questions != NULL && q < QUESTIONS; q++)
        acq_free(a.questions[q].rows);
    acq_free(a.questions);
    acq_free(a.errors);
    acq_sampler_free(sampler);
    return status;
}
