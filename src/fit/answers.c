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

enum { MOST_FREE = 3, TRUE_MOST = 24, WRONG_MOST = 24, QUESTIONS = 3000 };

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
    engine.search.seconds = 1.0;
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
    double n_population; /* wrong candidates that the drawn ones stand for */
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

/* Candidates of a query with one free variable: some of the entities shown at its place. */
static acq_status add_shown(const answering *a, const acq_query *query, acq_random *random,
                            tuple_set *tuples, acq_error *error)
{
    const acq_links *list = find_shortest(a, query, 0);
    acq_status status = ACQ_OK;
    size_t n_shown = 0, n_tried = 0, n_wrong = 0;
    for (size_t i = 0; list != NULL && list->n_heads > 0 && i < 20 * WRONG_MOST; i++) {
        acq_ent entity = list->heads[acq_random_below(random, list->n_heads)];
        bool is_true;
        n_tried++;
        if (!is_shown(a, query, 0, entity))
            continue;
        n_shown++;
        if (n_wrong == WRONG_MOST || has_tuple(tuples, &entity, 1))
            continue;
        status = holds(a, query, &entity, &is_true, error);
        if (status != ACQ_OK)
            return status;
        n_wrong += !is_true;
        add_tuple(tuples, &entity, 1, is_true);
    }
    if (n_tried > 0)
        tuples->n_population =
            (double)list->n_heads * (double)n_shown / (double)n_tried - (double)tuples->n_true;
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

static acq_status add_rows(const answering *a, const acq_query *query, const tuple_set *tuples,
                           answered *out, acq_error *error)
{
    size_t n_wrong = tuples->n - tuples->n_true;
    double population =
        tuples->n_population > (double)n_wrong ? tuples->n_population : (double)n_wrong;
    if (ACQ_RESERVE(out->rows, out->capacity, tuples->n) != ACQ_OK)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < tuples->n && status == ACQ_OK; i++) {
        answer_row *row = &out->rows[out->n++];
        bool is_true = tuples->is_true[i];
        *row = (answer_row){.is_true = is_true};
        row->natural = is_true ? 1.0F : (float)(population / (double)n_wrong);
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

typedef struct answer_sample {
    float *x;
    uint8_t *labels;
    float *natural, *balanced;
    size_t n;
} answer_sample;

static void answer_sample_deinit(answer_sample *sample)
{
    acq_free(sample->x);
    acq_free(sample->labels);
    acq_free(sample->natural);
    acq_free(sample->balanced);
}

/* Supported rows of the questions whose number modulo 2 is `fold`; 2: of all. */
static acq_status gather(const answered *questions, size_t n_questions, size_t fold,
                         answer_sample *out)
{
    size_t n = 0;
    for (size_t q = 0; q < n_questions; q++)
        n += questions[q].n;
    *out = (answer_sample){.x = acq_alloc(n * ACQ_N_ANSWER_FEATURES, sizeof(float)),
                           .labels = acq_alloc(n, 1),
                           .natural = acq_alloc(n, sizeof(float)),
                           .balanced = acq_alloc(n, sizeof(float))};
    if (out->x == NULL || out->labels == NULL || out->natural == NULL || out->balanced == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t q = 0; q < n_questions; q++)
        for (size_t i = 0; i < questions[q].n; i++) {
            const answer_row *row = &questions[q].rows[i];
            if (!row->is_supported || (fold < 2 && q % 2 != fold))
                continue;
            memcpy(out->x + out->n * ACQ_N_ANSWER_FEATURES, row->features, sizeof row->features);
            out->labels[out->n] = row->is_true;
            out->natural[out->n] = row->natural;
            out->balanced[out->n++] = row->balanced;
        }
    return ACQ_OK;
}

static acq_status fit_boosts(const answered *questions, size_t n_questions, size_t fold,
                             const acq_fit_params *params, acq_boost **natural,
                             acq_boost **balanced, acq_error *error)
{
    acq_boost_params boost = ACQ_BOOST_DEFAULT;
    boost.monotone = acq_answer_monotone;
    boost.depth = 4;
    boost.n_trees = 150;
    boost.rate = .08;
    boost.seed = params->seed;
    boost.n_threads = params->n_threads;
    answer_sample sample;
    acq_status status = gather(questions, n_questions, fold, &sample);
    if (status != ACQ_OK)
        acq_fail_memory(error);
    acq_boost_data data = {sample.x, sample.labels, sample.natural, sample.n,
                           ACQ_N_ANSWER_FEATURES};
    if (status == ACQ_OK)
        status = acq_boost_fit(&data, &boost, natural, error);
    data.weights = sample.balanced;
    boost.least_hessian = .5; /* the weights of a question add up to two */
    if (status == ACQ_OK)
        status = acq_boost_fit(&data, &boost, balanced, error);
    answer_sample_deinit(&sample);
    return status;
}

/* Each question's rows by trees of the other fold. */
static acq_status fill_table(const answered *questions, size_t n_questions,
                             const acq_fit_params *params, acq_reliability *table, acq_error *error)
{
    acq_boost *natural[2] = {0}, *balanced[2] = {0};
    acq_status status = ACQ_OK;
    for (size_t fold = 0; fold < 2 && status == ACQ_OK; fold++)
        status = fit_boosts(questions, n_questions, fold, params, &natural[fold], &balanced[fold],
                            error);
    acq_reliability_init(table);
    double n_true = 0, n = 0;
    for (size_t q = 0; q < n_questions; q++)
        for (size_t i = 0; i < questions[q].n; i++) {
            n += (double)questions[q].rows[i].natural;
            n_true += questions[q].rows[i].is_true ? (double)questions[q].rows[i].natural : 0;
        }
    for (size_t q = 0; q < n_questions && status == ACQ_OK; q++)
        for (size_t i = 0; i < questions[q].n; i++) {
            const answer_row *row = &questions[q].rows[i];
            double p =
                row->is_supported
                    ? acq_boost_to_probability(acq_boost_score(natural[1 - q % 2], row->features))
                    : 0.0;
            acq_reliability_add(table, p, row->is_true, (double)row->natural, n_true / n);
        }
    for (size_t fold = 0; fold < 2; fold++) {
        acq_boost_free(natural[fold]);
        acq_boost_free(balanced[fold]);
    }
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
        status = fit_boosts(a.questions, QUESTIONS, 2, params, &calibrator->answer,
                            &calibrator->balanced, error);
    if (status == ACQ_OK)
        status = fill_table(a.questions, QUESTIONS, params, &report->answer_table, error);
    for (size_t q = 0; a.questions != NULL && q < QUESTIONS; q++)
        acq_free(a.questions[q].rows);
    acq_free(a.questions);
    acq_free(a.errors);
    acq_sampler_free(sampler);
    return status;
}
