/* policy.c - the AnyCQ search: the network proposes, the best assignment is kept.
 *
 *   draw a uniform assignment; score it
 *   each step: labels and classes of the assignment (walk.h), one step of the network on the
 *   classes (network.h), a new assignment from its distributions (walk.h); score it
 *
 * Several problems run side by side, their rows in one product; a problem that is finished
 * leaves. Problem i of a batch has its own random numbers, and a row's result does not depend on
 * the rows beside it, so a batch gives what single searches give.
 *
 * It ends early when the score cannot improve: when it reaches the board's bound. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "search/policy/network.h"
#include "search/policy/walk.h"
#include "search/search.h"

enum {
    POLICY_STEPS = 200, /* when the caller gives none */
    SEAT_TERMS = 64,    /* free terms that run side by side, about */
    MOST_SEATS = 32,
};

typedef struct seat {
    acq_guess guess;
    uint64_t stream;
    acq_board *board;
    acq_walk first; /* before any assignment: what restarts are copied from */
    acq_walk walk;
    acq_ent *values; /* of the free terms */
    uint32_t *chosen;
    uint32_t row, row_before; /* of its class 0 in this step and the one before */
    bool is_running;
} seat;

typedef struct table {
    const acq_policy *policy;
    const acq_search_params *params;
    seat *seats;
    size_t n_seats;
    acq_rows batch;
    acq_step *steps[2]; /* this one and the one before, in turn */
    double *p;          /* of the classes of one seat */
    double *room;       /* of the terms of one seat */
    size_t p_capacity, room_capacity;
    uint64_t step;
    int64_t clock; /* when the step began */
} table;

static void seat_deinit(seat *s)
{
    acq_walk_deinit(&s->walk);
    acq_walk_deinit(&s->first);
    acq_board_free(s->board);
    *s = (seat){0};
}

/* Nothing can reach the threshold, and the user should hear why. */
static acq_status note_bound(seat *s, acq_error *error)
{
    static const char what[] = "no assignment can reach the threshold";
    char note[240];
    const acq_board *board = s->board;
    const acq_literal *why = board->why == ACQ_NO_ID ? NULL : &board->literals[board->why].literal;
    const char *name =
        why == NULL ? "" : acq_graph_get_relation_name(board->predictor->graph, why->relation);
    if (why == NULL)
        snprintf(note, sizeof note, "%s", what);
    else if (why->is_negated)
        snprintf(note, sizeof note, "%s: a link of \"%.100s\" that it denies is there", what, name);
    else
        snprintf(note, sizeof note, "%s: no link of \"%.100s\" that fits does", what, name);
    acq_search_result *result = s->guess.result;
    result->note = acq_arena_copy_string(&result->arena, note, strlen(note));
    return result->note == NULL ? acq_fail_memory(error) : ACQ_OK;
}

/* A uniform assignment without memory of earlier ones. */
static acq_status begin(seat *s, const acq_search_params *params, uint64_t step)
{
    uint64_t key = acq_random_start(params->seed, s->stream).key;
    acq_random random = acq_random_start(key ^ (step << 1), 0);
    bool restarts = params->policy.restart > 0;
    acq_walk_deinit(&s->walk);
    if (restarts && s->first.board == NULL && acq_walk_init(&s->first, s->board) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if ((restarts ? acq_walk_init_copy(&s->walk, &s->first) : acq_walk_init(&s->walk, s->board)) !=
        ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_walk_draw_uniform(&s->walk, &random, s->values);
    s->row_before = ACQ_NO_ID;
    return acq_walk_set(&s->walk, s->values);
}

static acq_status open_board(seat *s, const table *t, acq_error *error)
{
    const acq_search_params *params = t->params;
    acq_pe pe = params->policy.closed_world_pe ? ACQ_PE_OBSERVED : ACQ_PE_EXACT;
    acq_arena *arena = &s->guess.result->arena;
    acq_status status = acq_board_new(s->guess.problem, s->guess.predictor, &params->scoring,
                                      t->policy->uses_pe ? pe : ACQ_PE_NONE, &s->board, error);
    if (status != ACQ_OK)
        return status;
    s->guess.bound = params->policy.all_steps ? INFINITY : s->board->bound;
    s->values = acq_arena_alloc(arena, s->board->n_terms, sizeof *s->values);
    s->chosen = acq_arena_alloc(arena, s->board->n_terms, sizeof *s->chosen);
    if (s->values == NULL || s->chosen == NULL)
        return acq_fail_memory(error);
    return ACQ_OK;
}

/* What the first classes will take at least: labels, and a place for every value. */
static size_t foresee_bytes(const acq_board *board)
{
    return (size_t)board->n_terms * board->most_edges +
           sizeof(uint32_t) * (size_t)board->n_free_terms * board->n_entities;
}

static size_t count_bytes(const table *t, const seat *s)
{
    size_t shared = acq_step_get_bytes(t->steps[0]) + acq_step_get_bytes(t->steps[1]);
    return s->guess.result->arena.reserved + s->board->arena.reserved + s->first.bytes +
           s->walk.bytes + shared / t->n_seats;
}

static void trace(const table *t, const seat *s, double flops)
{
    const acq_policy_options *options = &t->params->policy;
    if (options->trace == NULL)
        return;
    acq_trace_step step = {.step = t->step,
                           .score = s->guess.score,
                           .best = s->guess.best_score,
                           .n_classes = s->walk.n_classes,
                           .ms = (double)(acq_clock_ns() - t->clock) * 1e-6,
                           .flops = flops};
    options->trace(options->context, &step);
}

/* Scores the walk's assignment; afterwards is_running says whether the seat goes on. */
static void judge(table *t, seat *s, double flops)
{
    acq_guess *guess = &s->guess;
    acq_search_result *result = guess->result;
    acq_walk_get_assignment(&s->walk, guess->values);
    bool goes_on = acq_guess_step(guess) && s->board->n_free_terms > 0;
    size_t bytes = count_bytes(t, s);
    result->effort.classes = s->walk.n_classes;
    result->effort.flops += flops;
    if (result->effort.memory_peak < bytes)
        result->effort.memory_peak = bytes;
    trace(t, s, flops);
    s->is_running = goes_on && acq_budget_check(&guess->budget) &&
                    acq_budget_check_memory(&guess->budget, bytes);
}

/* Board, first classes and first assignment of one problem. */
static acq_status sit_down(table *t, seat *s, const acq_problem *problem,
                           const acq_predictor *predictor, acq_search_result *result,
                           acq_error *error)
{
    acq_status status = acq_guess_init(&s->guess, problem, predictor, t->params, result, error);
    if (status != ACQ_OK || problem->n_entities == 0)
        return status;
    s->guess.steps_left = 1 + (t->params->steps == 0 ? POLICY_STEPS : t->params->steps);
    acq_budget_init(&s->guess.budget, t->params->seconds * (double)t->n_seats,
                    t->params->memory_bytes);
    s->guess.budget.stop = t->params->stop;
    status = open_board(s, t, error);
    if (status != ACQ_OK)
        return status;
    if (s->guess.bound < t->params->scoring.threshold)
        return note_bound(s, error);
    if (!acq_budget_check(&s->guess.budget) ||
        !acq_budget_check_memory(&s->guess.budget, foresee_bytes(s->board)))
        return ACQ_OK;
    if (begin(s, t->params, 0) != ACQ_OK)
        return acq_fail_memory(error);
    judge(t, s, 0);
    return ACQ_OK;
}

/* The rows of all seats that go on; false: none does. */
static acq_status fill_batch(table *t, bool *any)
{
    *any = false;
    acq_rows_clear(&t->batch);
    for (size_t i = 0; i < t->n_seats; i++) {
        seat *s = &t->seats[i];
        if (!s->is_running)
            continue;
        *any = true;
        s->row = (uint32_t)t->batch.n_rows;
        if (acq_rows_add(&t->batch, &s->walk, s->row_before) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        s->row_before = s->row;
    }
    return ACQ_OK;
}

/* The next assignment of one seat from its rows' logits. */
static acq_status move(table *t, seat *s, const float *logits)
{
    uint64_t restart = t->params->policy.restart;
    if (restart > 0 && t->step % restart == 0)
        return begin(s, t->params, t->step);
    if (ACQ_RESERVE(t->p, t->p_capacity, s->walk.n_classes) != ACQ_OK ||
        ACQ_RESERVE(t->room, t->room_capacity, s->board->n_terms) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_choice_get_probabilities(&s->walk, logits, t->p, t->room);
    acq_choice_draw(&s->walk, t->p, t->params->seed, s->stream, t->step, s->values, s->chosen,
                    t->room);
    return acq_walk_set(&s->walk, s->values);
}

static acq_status take_step(table *t)
{
    acq_step *now = t->steps[t->step % 2], *before = t->steps[(t->step + 1) % 2];
    if (acq_step_forward(now, t->policy, &t->batch, before, false) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    double flops = acq_step_count_flops(t->policy, &t->batch) / (double)t->batch.n_rows;
    for (size_t i = 0; i < t->n_seats; i++) {
        seat *s = &t->seats[i];
        if (!s->is_running)
            continue;
        double share = flops * s->walk.n_classes;
        if (move(t, s, acq_step_get_logits(now) + s->row) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        judge(t, s, share);
    }
    return ACQ_OK;
}

static acq_status run(table *t)
{
    for (;;) {
        bool any;
        t->step++;
        t->clock = acq_clock_ns();
        if (fill_batch(t, &any) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        if (!any)
            return ACQ_OK;
        if (take_step(t) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
}

static acq_status finish(seat *s, acq_error *error)
{
    acq_search_result *result = s->guess.result;
    if (result->effort.nodes > 0)
        result->effort.nodes--; /* the initial assignment is no step */
    return acq_guess_finish(&s->guess, error);
}

static acq_status run_table(table *t, const acq_problem *const *problems,
                            const acq_predictor *predictor, acq_search_result *results,
                            acq_error *error)
{
    acq_status status = ACQ_OK;
    t->step = 0;
    for (size_t i = 0; i < t->n_seats && status == ACQ_OK; i++) {
        t->clock = acq_clock_ns();
        status = sit_down(t, &t->seats[i], problems[i], predictor, &results[i], error);
    }
    if (status == ACQ_OK && run(t) != ACQ_OK)
        status = acq_fail_memory(error);
    for (size_t i = 0; i < t->n_seats && status == ACQ_OK; i++)
        status = finish(&t->seats[i], error);
    for (size_t i = 0; i < t->n_seats; i++)
        seat_deinit(&t->seats[i]);
    return status;
}

/* How many of the problems, from the first on, run side by side. */
static size_t count_seats(const acq_problem *const *problems, size_t n)
{
    size_t terms = 0, seats = 0;
    while (seats < n && seats < MOST_SEATS && (seats == 0 || terms < SEAT_TERMS))
        terms += problems[seats++]->n_variables;
    return seats;
}

static void table_deinit(table *t)
{
    acq_rows_deinit(&t->batch);
    acq_step_free(t->steps[0]);
    acq_step_free(t->steps[1]);
    acq_free(t->p);
    acq_free(t->room);
    acq_free(t->seats);
}

acq_status acq_search_policy_batch(const acq_problem *const *problems, size_t n,
                                   const acq_predictor *predictor, const acq_search_params *params,
                                   acq_search_result *results, acq_error *error)
{
    table t = {.policy = params->policy.policy, .params = params};
    for (size_t i = 0; i < n; i++) {
        results[i] = (acq_search_result){0};
        acq_arena_init(&results[i].arena);
    }
    if (t.policy == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "the policy search needs weights");
    acq_status status = ACQ_OK;
    t.seats = acq_zalloc(n < MOST_SEATS ? n : MOST_SEATS, sizeof *t.seats);
    if (t.seats == NULL || acq_step_new(&t.steps[0]) != ACQ_OK ||
        acq_step_new(&t.steps[1]) != ACQ_OK)
        status = acq_fail_memory(error);
    for (size_t i = 0; i < n && status == ACQ_OK; i += t.n_seats) {
        t.n_seats = count_seats(problems + i, n - i);
        for (size_t k = 0; k < t.n_seats; k++)
            t.seats[k].stream = params->stream + i + k;
        status = run_table(&t, problems + i, predictor, results + i, error);
    }
    table_deinit(&t);
    return status;
}

acq_status acq_search_policy(const acq_problem *problem, const acq_predictor *predictor,
                             const acq_search_params *params, acq_search_result *result,
                             acq_error *error)
{
    return acq_search_policy_batch(&problem, 1, predictor, params, result, error);
}
