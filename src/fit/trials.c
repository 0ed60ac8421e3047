/* trials.c - see trials.h.
 *
 * All answers are listed, by the truth and by the rest's facts:
 *
 *   truth, sorted      [ 3 5 8 9 12 ... ]      to tell wrong ones by
 *   hidden, then open  [ 8 12 | 3 5 9 ... ]    to draw true ones from; drawn ones move to the front
 *                                              of their part */
#include "fit/trials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/shown.h"
#include "base/memory.h"

enum {
    SEARCH_WORK = 20000000,
    MOST_ANSWERS = 3000, /* of a question; with more it is of no use */
    MOST_TRUE = 10,
    SEVERAL_TRUE = 12,
    SEVERAL_WRONG = 6,
    DRAWS = 200, /* for wrong ones */
};

acq_engine_params acq_trial_choose_search(const acq_predictor *predictor, uint64_t limit)
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

static bool has_tuple(const acq_trials *trials, const acq_ent *values, uint32_t n_free)
{
    for (size_t i = 0; i < trials->n; i++)
        if (memcmp(trials->items[i].values, values, n_free * sizeof *values) == 0)
            return true;
    return false;
}

static void add(acq_trials *trials, const acq_ent *values, uint32_t n_free, bool is_true)
{
    if (trials->n == ACQ_TRIAL_MOST || has_tuple(trials, values, n_free))
        return;
    acq_trial *trial = &trials->items[trials->n++];
    *trial = (acq_trial){.is_true = is_true, .stands_for = 1};
    memcpy(trial->values, values, n_free * sizeof *values);
    trials->n_true += is_true;
}

/* ---- several free variables ---- */

static acq_status holds(const acq_trial_source *source, const acq_query *query,
                        const acq_ent *values, bool *out, acq_error *error)
{
    acq_engine_params engine = acq_trial_choose_search(source->truth, 1);
    acq_engine_result result;
    acq_status status = acq_engine_check(query, source->truth, values, &engine, &result, error);
    *out = status == ACQ_OK && result.outcome == ACQ_ANSWERED;
    acq_engine_result_deinit(&result);
    return status;
}

/* The best answers by a predictor. */
static acq_status add_answers(const acq_trial_source *source, const acq_query *query,
                              const acq_predictor *predictor, uint64_t limit, acq_trials *out,
                              acq_error *error)
{
    acq_engine_params engine = acq_trial_choose_search(predictor, limit);
    acq_engine_result result;
    acq_status status = acq_engine_ask(query, predictor, &engine, &result, error);
    for (size_t i = 0; i < result.n_answers && status == ACQ_OK; i++) {
        bool is_true = predictor == source->truth;
        if (!is_true)
            status = holds(source, query, result.answers[i].values, &is_true, error);
        if (status == ACQ_OK)
            add(out, result.answers[i].values, query->n_free, is_true);
    }
    acq_engine_result_deinit(&result);
    return status;
}

/* ---- one free variable: true ones ---- */

typedef struct answer_list {
    acq_ent *values;
    size_t n, capacity;
    bool is_whole;
} answer_list;

static int compare_entities(const void *left, const void *right)
{
    acq_ent a = *(const acq_ent *)left, b = *(const acq_ent *)right;
    return (a > b) - (a < b);
}

static bool has_answer(const answer_list *list, acq_ent entity)
{
    return list->n > 0 &&
           bsearch(&entity, list->values, list->n, sizeof *list->values, compare_entities) != NULL;
}

/* Sorted. */
static acq_status list_answers(const acq_query *query, const acq_predictor *predictor,
                               answer_list *out, acq_error *error)
{
    acq_engine_params engine = acq_trial_choose_search(predictor, MOST_ANSWERS);
    acq_engine_result result;
    acq_status status = acq_engine_ask(query, predictor, &engine, &result, error);
    if (status == ACQ_OK && ACQ_RESERVE(out->values, out->capacity, result.n_answers) != ACQ_OK)
        status = acq_fail_memory(error);
    for (size_t i = 0; i < result.n_answers && status == ACQ_OK; i++)
        out->values[out->n++] = result.answers[i].values[0];
    out->is_whole = status == ACQ_OK && result.complete && result.n_answers < MOST_ANSWERS;
    acq_engine_result_deinit(&result);
    if (out->n > 0)
        qsort(out->values, out->n, sizeof *out->values, compare_entities);
    return status;
}

/* A part of the list to draw from without repetition. */
typedef struct pile {
    acq_ent *values;
    size_t n, n_drawn;
} pile;

static void draw_from(pile *from, acq_random *random)
{
    size_t i = from->n_drawn + (size_t)acq_random_below(random, from->n - from->n_drawn);
    acq_ent drawn = from->values[i];
    from->values[i] = from->values[from->n_drawn];
    from->values[from->n_drawn++] = drawn;
}

/* Adds what was drawn. */
static void add_pile(const pile *from, acq_trials *out)
{
    for (size_t i = 0; i < from->n_drawn; i++) {
        add(out, &from->values[i], 1, true);
        out->items[out->n - 1].stands_for = (double)from->n / (double)from->n_drawn;
    }
}

/* Puts the answers that `observed` lacks first; returns their number. */
static size_t part_hidden(acq_ent *values, size_t n, const answer_list *observed)
{
    size_t n_hidden = 0;
    for (size_t i = 0; i < n; i++)
        if (!has_answer(observed, values[i])) {
            acq_ent kept = values[n_hidden];
            values[n_hidden++] = values[i];
            values[i] = kept;
        }
    return n_hidden;
}

/* values: all answers, put into another order. */
static void add_true(acq_ent *values, size_t n, const answer_list *observed, acq_random *random,
                     acq_trials *out)
{
    size_t n_hidden = part_hidden(values, n, observed), n_wanted = n < MOST_TRUE ? n : MOST_TRUE;
    pile hidden = {values, n_hidden, 0}, open = {values + n_hidden, n - n_hidden, 0};
    for (size_t i = 0; i < n_wanted && n_hidden > 0; i++) {
        bool takes_hidden = open.n_drawn == open.n ||
                            (hidden.n_drawn < hidden.n && acq_random_below(random, 3) < 2);
        draw_from(takes_hidden ? &hidden : &open, random);
    }
    add_pile(&hidden, out);
    add_pile(&open, out);
}

/* ---- wrong ones ---- */

/* The shortest list of entities that a positive atom shows at the free variable; NULL: no atom. */
static const acq_links *find_shortest(const acq_graph *rest, const acq_query *query)
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
            if (ends[side].is_variable && ends[side].id == 0 &&
                acq_graph_open_links(rest, relation ^ side, &links, NULL) == ACQ_OK &&
                (best == NULL || links->n_heads < best->n_heads))
                best = links;
        }
    }
    return best;
}

/* The draws also tell how many wrong ones there are. */
static void add_wrong(const acq_trial_source *source, const acq_query *query,
                      const answer_list *truth, acq_random *random, acq_trials *out)
{
    const acq_links *list = find_shortest(source->rest, query);
    size_t n_draws = 0, n_hits = 0, first = out->n;
    for (; list != NULL && list->n_heads > 0 && n_draws < DRAWS; n_draws++) {
        acq_ent entity = list->heads[acq_random_below(random, list->n_heads)];
        if (has_answer(truth, entity) || !acq_answer_is_shown(query, source->rest, &entity))
            continue;
        n_hits++;
        if (out->n < 2 * first)
            add(out, &entity, 1, false);
    }
    for (size_t i = first; i < out->n; i++)
        out->items[i].stands_for = fmax(1.0, (double)list->n_heads * (double)n_hits /
                                                 (double)n_draws / (double)(out->n - first));
}

static acq_status draw_single(const acq_trial_source *source, const acq_query *query, size_t least,
                              acq_random *random, acq_trials *out, acq_error *error)
{
    answer_list truth = {0}, observed = {0};
    acq_ent *values = NULL;
    acq_status status = list_answers(query, source->truth, &truth, error);
    if (status == ACQ_OK && truth.is_whole && truth.n > 0 && truth.n >= least)
        status = list_answers(query, source->observed, &observed, error);
    if (status == ACQ_OK && truth.is_whole && observed.is_whole) {
        values = acq_alloc(truth.n, sizeof *values);
        status = values == NULL ? acq_fail_memory(error) : ACQ_OK;
    }
    if (values != NULL) {
        memcpy(values, truth.values, truth.n * sizeof *values);
        add_true(values, truth.n, &observed, random, out);
        add_wrong(source, query, &truth, random, out);
    }
    acq_free(values);
    acq_free(truth.values);
    acq_free(observed.values);
    return status;
}

acq_status acq_trials_draw(const acq_trial_source *source, const acq_query *query, size_t least,
                           acq_random *random, acq_trials *out, acq_error *error)
{
    *out = (acq_trials){0};
    acq_status status = ACQ_OK;
    if (query->n_free == 1) {
        status = draw_single(source, query, least, random, out, error);
    } else {
        status = add_answers(source, query, source->truth, SEVERAL_TRUE, out, error);
        if (status == ACQ_OK)
            status = add_answers(source, query, source->completed, SEVERAL_WRONG, out, error);
    }
    for (size_t i = 0; i < out->n; i++)
        out->items[i].is_shown = acq_answer_is_shown(query, source->rest, out->items[i].values);
    if (out->n_true == 0 || out->n_true == out->n)
        *out = (acq_trials){0};
    return status;
}
