/* questions.c - see parts.h. A drawn problem is a conjunction of literals over variables;
 * here it becomes a query's tree, one to three of its variables free. */
#include "fit/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "base/budget.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/threads.h"
#include "query/problem.h"
#include "query/query.h"

enum { TRIES = 60, MOST_TERMS = 24 };

/* ---- many ---- */

typedef struct questions_run {
    const acq_questions_job *job;
    acq_error *errors; /* one per thread */
    size_t first;
    int64_t deadline;
} questions_run;

static acq_status run_one(void *context, size_t item, unsigned thread)
{
    const questions_run *run = context;
    if (acq_clock_ns() >= run->deadline)
        return ACQ_OK;
    return run->job->one(run->job->context, run->first + item, &run->errors[thread]);
}

acq_status acq_questions_run(const acq_questions_job *job, const acq_link_progress *progress,
                             size_t *n_done, acq_error *error)
{
    enum { AT_ONCE = 50 };
    questions_run run = {.job = job,
                         .errors = acq_zalloc(job->n_threads, sizeof(acq_error)),
                         .deadline = acq_clock_get_deadline(job->seconds)};
    acq_status status = run.errors == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (; run.first < job->n && status == ACQ_OK; run.first += AT_ONCE) {
        size_t left = job->n - run.first;
        if (run.first > 0 && acq_clock_ns() >= run.deadline)
            break;
        status =
            acq_link_progress_tell(progress, job->phase, (double)run.first, (double)job->n, error);
        if (status == ACQ_OK)
            status =
                acq_threads_run(job->n_threads, left < AT_ONCE ? left : AT_ONCE, run_one, &run);
    }
    *n_done = run.first < job->n ? run.first : job->n;
    for (unsigned i = 0; i < job->n_threads && status != ACQ_OK && run.errors != NULL; i++)
        if (run.errors[i].code == status)
            (void)acq_fail(error, status, "%s", run.errors[i].message);
    acq_free(run.errors);
    return status;
}

/* ---- from literals to a tree ---- */

typedef struct query_tree {
    acq_query *query;
    const acq_problem *problem;
    uint32_t *numbers; /* of the problem's variables in the query */
} query_tree;

static void name_id(acq_query_name *name, const char *text, uint32_t id)
{
    *name = (acq_query_name){.text = text, .length = 1, .is_id = true, .id = id};
}

static acq_term add_term(query_tree *tree, acq_place place)
{
    if (place.is_variable)
        return (acq_term){true, tree->numbers[place.id]};
    acq_query *query = tree->query;
    for (uint32_t i = 0; i < query->n_constants; i++)
        if (query->constants[i].id == place.id)
            return (acq_term){false, i};
    name_id(&query->constants[query->n_constants], "c", place.id);
    return (acq_term){false, query->n_constants++};
}

static acq_node *add_literal(query_tree *tree, const acq_literal *literal)
{
    acq_query *query = tree->query;
    acq_node *atom = acq_arena_zalloc(&query->arena, 1, sizeof *atom);
    if (atom == NULL)
        return NULL;
    name_id(&query->relations[query->n_relations], "r", literal->relation);
    atom->kind = ACQ_NODE_ATOM;
    atom->relation = query->n_relations++;
    atom->left = add_term(tree, literal->left);
    atom->right = add_term(tree, literal->right);
    query->n_atoms++;
    if (!literal->is_negated)
        return atom;
    acq_node *negation = acq_arena_zalloc(&query->arena, 1, sizeof *negation);
    acq_node **child = acq_arena_alloc(&query->arena, 1, sizeof *child);
    if (negation == NULL || child == NULL)
        return NULL;
    *child = atom;
    *negation = (acq_node){.kind = ACQ_NODE_NOT, .children = child, .n_children = 1};
    return negation;
}

static acq_status allocate(acq_query *query, const acq_problem *problem)
{
    acq_arena *arena = &query->arena;
    query->variables = acq_arena_zalloc(arena, problem->n_variables, sizeof *query->variables);
    query->constants =
        acq_arena_zalloc(arena, 2 * (size_t)problem->n_literals, sizeof *query->constants);
    query->relations = acq_arena_zalloc(arena, problem->n_literals, sizeof *query->relations);
    query->root = acq_arena_zalloc(arena, 1, sizeof *query->root);
    if (query->root == NULL || query->variables == NULL || query->constants == NULL ||
        query->relations == NULL)
        return ACQ_ERR_MEMORY;
    query->root->kind = ACQ_NODE_AND;
    query->root->children = acq_arena_alloc(arena, problem->n_literals, sizeof(acq_node *));
    return query->root->children == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

/* numbers: the free variables have 0 .. n_free - 1. */
static acq_status make_query(const acq_problem *problem, uint32_t *numbers, uint32_t n_free,
                             acq_query **out)
{
    acq_query *query = acq_zalloc(1, sizeof *query);
    if (query == NULL)
        return ACQ_ERR_MEMORY;
    acq_arena_init(&query->arena);
    query->name = "Q";
    query->n_variables = problem->n_variables;
    query->n_free = n_free;
    acq_status status = allocate(query, problem);
    query_tree tree = {query, problem, numbers};
    for (uint32_t i = 0; i < problem->n_variables && status == ACQ_OK; i++)
        query->variables[i] = (acq_query_name){.text = "v", .length = 1};
    for (uint32_t i = 0; i < problem->n_literals && status == ACQ_OK; i++) {
        acq_node *node = add_literal(&tree, &problem->literals[i]);
        query->root->children[query->root->n_children++] = node;
        status = node == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
    }
    if (status == ACQ_OK)
        *out = query;
    else
        acq_query_free(query);
    return status;
}

/* ---- drawing ---- */

static acq_ent value_of(acq_place place, const acq_ent *answer)
{
    return place.is_variable ? answer[place.id] : place.id;
}

/* Does the rest lack a fact that the problem was read off? */
static bool needs_held(const acq_problem *problem, const acq_ent *answer, const acq_graph *rest)
{
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *literal = &problem->literals[i];
        if (!literal->is_negated &&
            !acq_graph_has_fact(rest, value_of(literal->left, answer), literal->relation,
                                value_of(literal->right, answer)))
            return true;
    }
    return false;
}

/* Numbers the variables so that the free ones come first: the one that the drawing began with, as
 * in the paper, and others at random. */
static void number_variables(uint32_t n, uint32_t n_free, acq_random *random, uint32_t *numbers)
{
    uint32_t order[MOST_TERMS];
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = 1; i < n_free; i++) {
        uint32_t j = i + (uint32_t)acq_random_below(random, n - i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (uint32_t i = 0; i < n; i++)
        numbers[order[i]] = i;
}

/* The small shapes that the paper classifies answers of, and single links. */
static const acq_shape_id classified[] = {ACQ_SHAPE_1p, ACQ_SHAPE_2p,  ACQ_SHAPE_3p, ACQ_SHAPE_pi,
                                          ACQ_SHAPE_ip, ACQ_SHAPE_inp, ACQ_SHAPE_pin};

static acq_shape_id draw_shape(bool is_open, acq_random *random)
{
    return is_open ? (acq_shape_id)acq_random_below(random, ACQ_N_SHAPES)
                   : classified[acq_random_below(random, sizeof classified / sizeof *classified)];
}

static acq_status draw_problem(const acq_sampler *sampler, bool is_hub, bool is_open,
                               acq_random *random, acq_problem **out, acq_ent *answer,
                               acq_error *error)
{
    acq_hub_params hub = ACQ_HUB_DEFAULT;
    hub.most_terms = 20;
    return is_hub ? acq_sampler_draw_hub(sampler, &hub, random, out, answer, error)
                  : acq_sampler_draw_shape(sampler, draw_shape(is_open, random), random, out,
                                           answer, error);
}

static acq_status apply_pair_reading(acq_query **query, acq_error *error)
{
    acq_query *read;
    acq_status status = acq_query_apply_reading(*query, ACQ_ATOMS_PAIR, &read, error);
    if (status != ACQ_OK)
        return status;
    acq_query_free(*query);
    *query = read;
    return ACQ_OK;
}

acq_status acq_question_draw(const acq_sampler *sampler, const acq_graph *rest, bool is_hub,
                             bool is_open, uint64_t seed, uint64_t key, acq_query **out,
                             acq_error *error)
{
    acq_random random = acq_random_start(seed, key);
    *out = NULL;
    for (int i = 0; i < TRIES; i++) {
        acq_problem *problem;
        acq_ent answer[MOST_TERMS];
        uint32_t numbers[MOST_TERMS], n_free = 1;
        acq_status status =
            draw_problem(sampler, is_hub, is_open, &random, &problem, answer, error);
        if (status != ACQ_OK)
            return status;
        if ((is_open && !needs_held(problem, answer, rest)) || problem->n_variables == 0) {
            acq_problem_free(problem);
            continue;
        }
        if (is_hub && acq_random_below(&random, 3) == 0)
            n_free += (uint32_t)acq_random_below(&random, 3);
        n_free = n_free < problem->n_variables ? n_free : problem->n_variables;
        number_variables(problem->n_variables, n_free, &random, numbers);
        status = make_query(problem, numbers, n_free, out);
        acq_problem_free(problem);
        if (status != ACQ_OK)
            return acq_fail_memory(error);
        return is_hub && acq_random_below(&random, 2) == 0 ? apply_pair_reading(out, error)
                                                           : ACQ_OK;
    }
    return ACQ_OK;
}

/* Some entity that has the relation. */
static acq_status draw_seen(const acq_graph *rest, acq_rel relation, acq_random *random,
                            acq_ent *entity, acq_error *error)
{
    const acq_links *links;
    acq_status status = acq_graph_open_links(rest, relation, &links, error);
    if (status == ACQ_OK && links->n_heads > 0)
        *entity = links->heads[acq_random_below(random, links->n_heads)];
    return status;
}

static void replace(acq_problem *problem, acq_ent from, acq_ent to)
{
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        acq_place *ends[2] = {&problem->literals[i].left, &problem->literals[i].right};
        for (unsigned side = 0; side < 2; side++)
            if (!ends[side]->is_variable && ends[side]->id == from)
                ends[side]->id = to;
    }
}

/* Each constant gives way to one that is seen where it stands first. */
static acq_status exchange_constants(acq_problem *problem, const acq_graph *rest,
                                     acq_random *random, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *literal = &problem->literals[i];
        const acq_place *ends[2] = {&literal->left, &literal->right};
        for (unsigned side = 0; side < 2 && status == ACQ_OK; side++) {
            if (ends[side]->is_variable || literal->is_negated)
                continue;
            acq_ent from = ends[side]->id, to = from;
            status = draw_seen(rest, literal->relation ^ side, random, &to, error);
            replace(problem, from, to);
        }
    }
    return status;
}

acq_status acq_question_draw_at_large(const acq_sampler *sampler, const acq_graph *rest,
                                      uint64_t seed, uint64_t key, acq_query **out,
                                      acq_error *error)
{
    acq_random random = acq_random_start(seed, key);
    bool is_hub = acq_random_below(&random, 5) == 0;
    acq_problem *problem = NULL;
    acq_ent answer[MOST_TERMS];
    uint32_t numbers[MOST_TERMS];
    *out = NULL;
    acq_status status = draw_problem(sampler, is_hub, true, &random, &problem, answer, error);
    if (status == ACQ_OK && acq_random_below(&random, 2) == 0)
        status = exchange_constants(problem, rest, &random, error);
    if (status == ACQ_OK && problem->n_variables > 0) {
        number_variables(problem->n_variables, 1, &random, numbers);
        if (make_query(problem, numbers, 1, out) != ACQ_OK)
            status = acq_fail_memory(error);
    }
    acq_problem_free(problem);
    return status;
}

/* ---- candidates ----
 *
 * All answers are listed, by the truth and by the rest's facts:
 *
 *   truth, sorted      [ 3 5 8 9 12 ... ]      to tell wrong ones by
 *   hidden, then open  [ 8 12 | 3 5 9 ... ]    to draw true ones from; drawn ones move to the front
 *                                              of their part */

enum {
    SEARCH_WORK = 20000000,
    MOST_ANSWERS = 3000, /* of a question; with more it is of no use */
    MOST_TRUE = 10,
    SEVERAL_TRUE = 12,
    SEVERAL_WRONG = 6,
    DRAWS = 200, /* for wrong ones */
};

acq_engine_params acq_trial_choose_search(const acq_predictor *predictor, uint64_t limit,
                                          uint64_t work)
{
    acq_engine_params engine = ACQ_ENGINE_DEFAULT;
    engine.search.limit = limit;
    engine.search.seconds = 0; /* a deadline would not repeat */
    engine.search.work = work > 0 ? work : SEARCH_WORK;
    engine.search.scoring.threshold = acq_predictor_get_floor(predictor);
    if (engine.search.scoring.threshold <= 0)
        engine.search.scoring.threshold = .5;
    engine.search.scoring.negation_threshold = 1;
    engine.search.scoring = acq_scoring_round(engine.search.scoring);
    return engine;
}

bool acq_trial_source_is_late(const acq_trial_source *source)
{
    return source->deadline_ns > 0 && acq_clock_ns() >= source->deadline_ns;
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
    acq_engine_params engine = acq_trial_choose_search(source->truth, 1, source->work);
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
    acq_engine_params engine = acq_trial_choose_search(predictor, limit, source->work);
    acq_engine_result result;
    acq_status status = acq_engine_ask(query, predictor, &engine, &result, error);
    for (size_t i = 0; i < result.n_answers && status == ACQ_OK; i++) {
        bool is_true = predictor == source->truth;
        if (acq_trial_source_is_late(source))
            break;
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
    size_t i;
    ACQ_SEARCH(i, 0, list->n, list->values[i] < entity);
    return i < list->n && list->values[i] == entity;
}

/* Sorted. */
static acq_status list_answers(const acq_query *query, const acq_predictor *predictor,
                               uint64_t work, answer_list *out, acq_error *error)
{
    acq_engine_params engine = acq_trial_choose_search(predictor, MOST_ANSWERS, work);
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

/* The shortest list of entities that are seen at the free variable of a positive atom; NULL: no
 * atom. */
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
    if (list == NULL || list->n_heads == 0)
        return;
    for (; n_draws < DRAWS; n_draws++) {
        acq_ent entity = list->heads[acq_random_below(random, list->n_heads)];
        if (has_answer(truth, entity) || !acq_explain_is_seen(query, source->rest, &entity))
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
    acq_status status = list_answers(query, source->truth, source->work, &truth, error);
    if (status == ACQ_OK && truth.is_whole && truth.n > 0 && truth.n >= least)
        status = list_answers(query, source->observed, source->work, &observed, error);
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
        out->items[i].is_seen = acq_explain_is_seen(query, source->rest, out->items[i].values);
    if (out->n_true == 0 || out->n_true == out->n)
        *out = (acq_trials){0};
    return status;
}
