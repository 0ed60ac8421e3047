/* exact.c - exact search: the best answers and a proof that there are no better ones.
 *
 * With min and max the score of a query is the largest threshold T at which it is satisfiable
 * when every literal is read as true or false at T (search/literal.h). One answer: try T = 1 first
 * (an answer made of observed facts is the best there is), then the asked threshold, then "more
 * than the best so far" until that is proved impossible. Where every link scores 1, one pass
 * decides.
 *
 * K answers: the free nodes are branched on first, so each tuple is met once; a tuple's own best
 * score is found like that of a query without free variables, and the bar rises to the K-th. */
#include <math.h>

#include "base/memory.h"
#include "search/exact/state.h"
#include "search/literal.h"
#include "search/search.h"

typedef struct exact {
    const acq_problem *problem;
    const acq_predictor *predictor;
    const acq_search_params *params;
    acq_arena model_arena;
    model m;
    acq_budget budget;
    acq_arena arena; /* of the outer state */
    state s;
    acq_arena tuple_arena; /* of the state that scores one tuple */
    state tuple;
    acq_ent *values;      /* of the assignment found last, per variable */
    acq_ent *best_values; /* of the best one of the current tuple */
    acq_collector collector;
    bool one_pass; /* links are 0 or 1 at every threshold */
    uint32_t *free_nodes;
    uint32_t n_free;
} exact;

static acq_ent leaf_value(const state *s, uint32_t index)
{
    const model_edge *edge = s->m->nodes[index].edges[0];
    bool leaf_is_y = edge->y == index;
    uint32_t other = leaf_is_y ? edge->x : edge->y;
    const acq_links *links = leaf_is_y ? edge->atoms[0].xy : edge->atoms[0].yx;
    acq_row row = acq_links_get_row(links, s->domains[other].values[0]);
    size_t best = 0;
    for (size_t i = 1; row.scores != NULL && i < row.n; i++)
        if (row.scores[i] > row.scores[best])
            best = i;
    return row.tails[best]; /* NOLINT: the row of a solved leaf is not empty */
}

/* Reads the assignment off a solved state. */
static void read_values(exact *e, const state *s, acq_ent *values)
{
    for (uint32_t v = 0; v < e->problem->n_variables; v++) {
        acq_place place = e->m.places[v];
        if (!place.is_variable)
            values[v] = place.id;
        else if (e->m.nodes[place.id].is_leaf)
            values[v] = leaf_value(s, place.id);
        else
            values[v] = s->domains[place.id].values[0];
    }
}

static double score_values(const exact *e, const acq_ent *values)
{
    return acq_search_score(e->problem, e->predictor, &e->params->scoring, values);
}

/* A fresh start of `s` at threshold T, the free variables fixed to `fixed` unless it is NULL.
 * True: every node is fixed. False: proved impossible, or the budget is spent. */
static bool pass(exact *e, state *s, double threshold, const acq_ent *fixed)
{
    uint32_t n;
    acq_exact_undo_all(s);
    s->cut = acq_cutoff_at(&e->params->scoring, threshold);
    if (e->m.is_false)
        return false;
    for (uint32_t v = 0; fixed != NULL && v < e->problem->n_free; v++)
        if (e->m.places[v].is_variable && !acq_exact_restrict(s, e->m.places[v].id, fixed[v]))
            return false;
    if (!acq_exact_start(s) || !acq_exact_start_clauses(s) || !acq_exact_propagate(s))
        return false;
    uint32_t *nodes = acq_exact_list_nodes(s, &n);
    return nodes != NULL && acq_exact_solve(s, nodes, n);
}

static bool can_go_on(exact *e)
{
    return e->budget.spent == ACQ_SPENT_NOTHING && e->s.status == ACQ_OK &&
           e->tuple.status == ACQ_OK;
}

/* One pass whose assignment, if any, is kept as the best so far: its score, or 0. */
static double pass_for_score(exact *e, state *s, double threshold, const acq_ent *fixed)
{
    if (!pass(e, s, threshold, fixed))
        return 0.0;
    read_values(e, s, e->best_values);
    double score = score_values(e, e->best_values);
    if (score < threshold) /* the propagators let something through: a bug, not a result */
        s->status = ACQ_ERR_INTERNAL;
    return score;
}

/* The best score at or above `least`, with its assignment in best_values; 0: there is none. Cut
 * short by the budget it is the best score found. */
static double climb_thresholds(exact *e, state *s, double least, const acq_ent *fixed)
{
    double best = e->one_pass || least < 1.0 ? pass_for_score(e, s, 1.0, fixed) : 0.0;
    if (e->one_pass || best > 0.0 || !can_go_on(e))
        return best;
    best = pass_for_score(e, s, least, fixed);
    while (best > 0.0 && best < 1.0 && can_go_on(e)) {
        double better = pass_for_score(e, s, nextafter(best, 2.0), fixed);
        if (better == 0.0)
            break;
        best = better;
    }
    return best;
}

static void search_one(exact *e)
{
    double best = climb_thresholds(e, &e->s, e->params->scoring.threshold, NULL);
    if (best > 0.0 && acq_collector_offer(&e->collector, e->best_values, best) != ACQ_OK)
        e->s.status = ACQ_ERR_MEMORY;
}

static void read_free_values(exact *e)
{
    for (uint32_t v = 0; v < e->problem->n_free; v++) {
        acq_place place = e->m.places[v];
        e->values[v] = place.is_variable ? e->s.domains[place.id].values[0] : place.id;
    }
}

/* What a kept answer costs besides the search: its memory, held up to three times while answers
 * are sorted, and the time to sort and verify it later, which the deadline must leave room for. */
static void charge_answer(exact *e)
{
    enum { NS_PER_ANSWER = 150, NS_PER_LITERAL = 40 };
    uint32_t n_literals = e->problem->n_literals + e->problem->n_clauses;
    size_t answers = 3 * e->collector.capacity * sizeof(acq_assignment);
    if (e->budget.deadline_ns != INT64_MAX && e->params->limit == 0)
        e->budget.deadline_ns -= NS_PER_ANSWER + (int64_t)NS_PER_LITERAL * n_literals;
    e->s.other_memory = answers + e->collector.result->arena.reserved + e->model_arena.reserved +
                        e->tuple_arena.reserved;
    acq_budget_check_memory(&e->budget, acq_exact_get_memory(&e->s));
    acq_budget_tick(&e->budget, n_literals);
}

static bool keep_tuple(exact *e, double score)
{
    if (score > 0.0 && acq_collector_offer(&e->collector, e->best_values, score) != ACQ_OK)
        e->s.status = ACQ_ERR_MEMORY;
    if (score > 0.0)
        charge_answer(e);
    return can_go_on(e);
}

/* All nodes are fixed, where links score 0 or 1. */
static bool take_solved(exact *e)
{
    read_values(e, &e->s, e->best_values);
    double score = score_values(e, e->best_values);
    if (score < 1.0)
        e->s.status = ACQ_ERR_INTERNAL;
    return keep_tuple(e, score);
}

/* All free nodes of the outer state are fixed: score this tuple and keep it. */
static bool take_tuple(exact *e, uint32_t *nodes, uint32_t n)
{
    double least = acq_collector_get_bar(&e->collector, e->params->scoring.threshold);
    if (e->one_pass)
        return acq_exact_solve(&e->s, nodes, n) ? take_solved(e) : can_go_on(e);
    read_free_values(e);
    return keep_tuple(e, climb_thresholds(e, &e->tuple, least, e->values));
}

/* The open free node with the smallest domain, or ACQ_NO_ID. */
static uint32_t choose_free(exact *e)
{
    uint32_t best = ACQ_NO_ID;
    for (uint32_t i = 0; i < e->n_free; i++) {
        uint32_t node = e->free_nodes[i];
        if (!is_fixed(&e->s, node) &&
            (best == ACQ_NO_ID || e->s.domains[node].n < e->s.domains[best].n))
            best = node;
    }
    e->budget.ticks_left -= e->n_free / 4;
    return best;
}

/* One free node in work: the values it has left and where to go back to. */
typedef struct free_level {
    value_cursor cursor;
    tree_plan tree; /* with steps: every value can be extended by following them */
    state_mark mark;
} free_level;

static bool is_last_free(const exact *e, uint32_t node)
{
    for (uint32_t i = 0; i < e->n_free; i++)
        if (e->free_nodes[i] != node && !is_fixed(&e->s, e->free_nodes[i]))
            return false;
    return true;
}

static free_level open_free_level(exact *e, uint32_t node)
{
    free_level level = {.cursor = acq_exact_values(&e->s, node)};
    if (e->one_pass && is_last_free(e, node))
        level.tree = acq_exact_plan_tree(&e->s, node);
    level.mark = acq_exact_get_mark(&e->s);
    return level;
}

/* Extends the next value of the level's node along the tree; false: there is none, or the tree is
 * none after all, and the value is left to next_free_value. */
static bool next_tree_value(exact *e, free_level *level)
{
    state *s = &e->s;
    acq_ent value;
    acq_exact_undo(s, level->mark);
    if (!acq_exact_go_on(s, 1) || !acq_exact_next_value(s, &level->cursor, &value))
        return false;
    s->nodes++;
    if (acq_exact_follow_tree(s, &level->tree, value))
        return true;
    level->tree.steps = NULL;
    level->cursor.next--;
    return false;
}

/* Fixes the next value of the level's node that survives propagation; false: there is none. */
static bool next_free_value(exact *e, free_level *level)
{
    state *s = &e->s;
    acq_ent value;
    acq_exact_undo(s, level->mark);
    while (acq_exact_go_on(s, 1) && acq_exact_next_value(s, &level->cursor, &value)) {
        double bar = acq_collector_get_bar(&e->collector, e->params->scoring.threshold);
        s->cut = acq_cutoff_at(&e->params->scoring, bar);
        s->nodes++;
        if (acq_exact_fix(s, level->cursor.node, value) && acq_exact_propagate(s))
            return true;
        acq_exact_undo(s, level->mark);
    }
    return false;
}

/* Meets every tuple of the free nodes once, until nothing more can be kept. */
static void enumerate(exact *e, uint32_t *nodes, uint32_t n)
{
    free_level *levels = acq_arena_alloc(&e->model_arena, e->n_free, sizeof *levels);
    uint32_t depth = 0, node = choose_free(e);
    if (levels == NULL) {
        e->s.status = ACQ_ERR_MEMORY;
        return;
    }
    if (node == ACQ_NO_ID) {
        take_tuple(e, nodes, n);
        return;
    }
    levels[depth++] = open_free_level(e, node);
    while (depth > 0 && acq_collector_get_bar(&e->collector, 0.0) <= 1.0) {
        if (levels[depth - 1].tree.steps != NULL && next_tree_value(e, &levels[depth - 1])) {
            if (!take_solved(e))
                return;
            continue;
        }
        if (!next_free_value(e, &levels[depth - 1])) {
            depth--;
            continue;
        }
        node = choose_free(e);
        if (node != ACQ_NO_ID)
            levels[depth++] = open_free_level(e, node);
        else if (!take_tuple(e, nodes, n))
            return;
    }
}

static void search_many(exact *e)
{
    uint32_t n;
    acq_exact_undo_all(&e->s);
    e->s.cut = acq_cutoff_at(&e->params->scoring, e->params->scoring.threshold);
    if (e->m.is_false || !acq_exact_start(&e->s) || !acq_exact_start_clauses(&e->s) ||
        !acq_exact_propagate(&e->s))
        return;
    uint32_t *nodes = acq_exact_list_nodes(&e->s, &n);
    if (nodes != NULL)
        enumerate(e, nodes, n);
}

static acq_status prepare(exact *e, bool many, acq_error *error)
{
    uint32_t n = e->problem->n_variables;
    acq_status status =
        acq_exact_model_build(e->problem, e->predictor, many, &e->model_arena, &e->m, error);
    if (status != ACQ_OK)
        return status;
    e->one_pass = e->m.is_binary || e->params->scoring.binarize > 0;
    e->free_nodes = acq_arena_alloc(&e->model_arena, e->m.n_nodes, sizeof *e->free_nodes);
    for (uint32_t i = 0; e->free_nodes != NULL && i < e->m.n_nodes; i++)
        if (e->m.nodes[i].is_free)
            e->free_nodes[e->n_free++] = i;
    e->values = acq_arena_alloc(&e->model_arena, n, sizeof *e->values);
    e->best_values = acq_arena_alloc(&e->model_arena, n, sizeof *e->best_values);
    if (e->values == NULL || e->best_values == NULL || e->free_nodes == NULL)
        return ACQ_ERR_MEMORY;
    status = acq_exact_state_init(&e->s, &e->m, &e->arena, &e->budget);
    if (status == ACQ_OK && many && !e->one_pass)
        status = acq_exact_state_init(&e->tuple, &e->m, &e->tuple_arena, &e->budget);
    return status;
}

static void report(exact *e, acq_search_result *result)
{
    result->complete = e->budget.spent == ACQ_SPENT_NOTHING;
    result->spent = e->budget.spent;
    if (result->n_answers > 0)
        result->outcome = ACQ_ANSWERED;
    else
        result->outcome = result->complete ? ACQ_NONE : ACQ_UNDECIDED;
    result->effort.nodes = e->s.nodes + e->tuple.nodes;
    result->effort.revisions = e->s.revisions + e->tuple.revisions;
    e->s.other_memory = e->model_arena.reserved + result->arena.reserved +
                        e->collector.capacity * sizeof(acq_assignment);
    result->effort.memory_peak = acq_exact_get_memory(&e->s);
    if (e->tuple.arena != NULL)
        result->effort.memory_peak += acq_exact_get_memory(&e->tuple);
}

static acq_status run(exact *e, bool many, acq_search_result *result, acq_error *error)
{
    acq_status status = prepare(e, many, error);
    if (status != ACQ_OK)
        return status;
    if (many)
        search_many(e);
    else
        search_one(e);
    status = e->s.status != ACQ_OK ? e->s.status : e->tuple.status;
    if (status == ACQ_OK)
        status = acq_collector_finish(&e->collector);
    report(e, result);
    return status;
}

acq_status acq_search_exact(const acq_problem *problem, const acq_predictor *predictor,
                            const acq_search_params *params, acq_search_result *result,
                            acq_error *error)
{
    exact e = {.problem = problem, .predictor = predictor, .params = params};
    bool many = params->limit != 1 && problem->n_free > 0;
    *result = (acq_search_result){0};
    acq_arena_init(&result->arena);
    acq_status status = acq_search_check_scoring(&params->scoring, error);
    if (status != ACQ_OK)
        return status;
    acq_budget_init(&e.budget, params->seconds, params->memory_bytes);
    e.budget.stop = params->stop;
    if (params->work > 0)
        e.budget.work_left = params->work;
    acq_collector_init(&e.collector, result, problem->n_variables, many ? params->limit : 1);
    status = run(&e, many, result, error);
    acq_collector_deinit(&e.collector);
    acq_exact_state_deinit(&e.s);
    acq_exact_state_deinit(&e.tuple);
    acq_arena_deinit(&e.arena);
    acq_arena_deinit(&e.tuple_arena);
    acq_arena_deinit(&e.model_arena);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(error);
    if (status == ACQ_ERR_INTERNAL)
        return acq_fail(error, status, "exact search found an assignment below its threshold");
    return status;
}
