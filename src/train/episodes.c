/* episodes.c - see episodes.h. */
#include "train/source.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "search/literal.h"

typedef struct rollout {
    acq_walk walk;
    uint64_t stream;
    acq_ent *values;
    uint32_t *chosen;
    acq_ent *assignment; /* of the problem's variables */
    double best, *gains; /* score so far; of each step, what it adds to that */
    uint32_t length;     /* steps taken */
    bool is_running, is_solved;
    uint32_t row_before; /* of its class 0 in the step before */
} rollout;

/* Where a rollout's rows are in one step. */
typedef struct span {
    uint32_t first, n;
    double log_p;
} span;

struct acq_episode_room {
    acq_rows batch;
    acq_scratch scratch;
    acq_arena arena; /* of one unit */
    acq_step **steps;
    float **slopes; /* of each step: d log P / d logits, per row */
    size_t *slopes_capacity;
    uint32_t n_steps;
    double *p, *terms;
    size_t p_capacity, terms_capacity;
};

/* One call of acq_episodes_run. */
typedef struct unit {
    acq_episode_room *room;
    const acq_policy *policy;
    const acq_episode_query *queries;
    const acq_episode_params *params;
    size_t n_queries, n_rollouts;
    acq_board **boards;
    rollout *rollouts; /* those of query q from q * params->rollouts on */
    span *spans;       /* [steps x rollouts] */
    float *weights;    /* [steps x rollouts]: of log P in the loss */
    uint32_t n_taken;  /* steps */
    acq_episode_counts *counts;
    acq_error *error;
} unit;

acq_status acq_episode_room_new(acq_episode_room **out)
{
    acq_episode_room *room = acq_zalloc(1, sizeof *room);
    if (room == NULL)
        return ACQ_ERR_MEMORY;
    acq_arena_init(&room->arena);
    *out = room;
    return ACQ_OK;
}

void acq_episode_room_free(acq_episode_room *room)
{
    if (room == NULL)
        return;
    for (uint32_t i = 0; i < room->n_steps; i++) {
        acq_step_free(room->steps[i]);
        acq_free(room->slopes[i]);
    }
    acq_free(room->steps);
    acq_free(room->slopes);
    acq_free(room->slopes_capacity);
    acq_rows_deinit(&room->batch);
    acq_scratch_deinit(&room->scratch);
    acq_arena_deinit(&room->arena);
    acq_free(room->p);
    acq_free(room->terms);
    acq_free(room);
}

static acq_status reserve_steps(acq_episode_room *room, uint32_t n)
{
    size_t c1 = room->n_steps, c2 = room->n_steps, c3 = room->n_steps;
    if (n <= room->n_steps)
        return ACQ_OK;
    if (ACQ_RESERVE(room->steps, c1, n) != ACQ_OK || ACQ_RESERVE(room->slopes, c2, n) != ACQ_OK ||
        ACQ_RESERVE(room->slopes_capacity, c3, n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (; room->n_steps < n; room->n_steps++) {
        room->slopes[room->n_steps] = NULL;
        room->slopes_capacity[room->n_steps] = 0;
        if (acq_step_new(&room->steps[room->n_steps]) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
    return ACQ_OK;
}

static acq_ent get_value(const acq_place *place, const acq_ent *values)
{
    return place->is_variable ? values[place->id] : place->id;
}

/* The least of the literals by the model; queries for training have nothing else. */
static double score_by_model(const unit *u, const acq_problem *problem, const acq_ent *values)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *l = &problem->literals[i];
        acq_ent left = get_value(&l->left, values), right = get_value(&l->right, values);
        double score = l->is_equality
                           ? (left == right ? 1.0 : -1.0) * u->params->score_scale
                           : acq_complex_score(u->params->rewards, left, l->relation, right) -
                                 u->params->reward_shift;
        least = fmin(least, l->is_negated ? -score : score);
    }
    return least;
}

/* What the assignment adds to the best score so far; nothing at the start. */
static void take_gain(const unit *u, rollout *r, const acq_problem *problem)
{
    double score = u->params->rewards != NULL ? score_by_model(u, problem, r->assignment)
                   : r->is_solved             ? u->params->score_scale
                                              : -u->params->score_scale;
    if (r->length > 0)
        r->gains[r->length - 1] = fmax(0, score - r->best);
    r->best = fmax(r->best, score);
}

/* Is the rollout's assignment an answer? Then it is done. */
static void judge(const unit *u, size_t i)
{
    rollout *r = &u->rollouts[i];
    const acq_episode_query *query = &u->queries[i / u->params->rollouts];
    const acq_board *board = r->walk.board;
    acq_walk_get_assignment(&r->walk, r->assignment);
    r->is_solved |= acq_search_score(query->problem, query->predictor, &board->scoring,
                                     r->assignment) >= board->scoring.threshold;
    bool is_done = r->is_solved && u->params->rewards == NULL;
    r->is_running = !is_done && board->n_free_terms > 0;
    take_gain(u, r, query->problem);
}

static acq_status start_rollout(unit *u, size_t i, const acq_walk *first)
{
    rollout *r = &u->rollouts[i];
    acq_arena *arena = &u->room->arena;
    const acq_board *board = first->board;
    r->stream = i % u->params->rollouts;
    r->row_before = ACQ_NO_ID;
    r->best = -INFINITY;
    r->gains = acq_arena_zalloc(arena, u->params->steps, sizeof *r->gains);
    r->values = acq_arena_alloc(arena, board->n_terms, sizeof *r->values);
    r->chosen = acq_arena_alloc(arena, board->n_terms, sizeof *r->chosen);
    r->assignment = acq_arena_alloc(arena, board->n_variables, sizeof *r->assignment);
    bool is_full = r->values == NULL || r->chosen == NULL || r->assignment == NULL;
    if (is_full || r->gains == NULL || acq_walk_init_copy(&r->walk, first) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_random random =
        acq_random_start(u->queries[i / u->params->rollouts].key, 0x7374617274ULL + r->stream);
    acq_walk_draw_uniform(&r->walk, &random, r->values);
    if (acq_walk_set(&r->walk, r->values) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    judge(u, i);
    return ACQ_OK;
}

static acq_status start_query(unit *u, size_t q)
{
    const acq_episode_query *query = &u->queries[q];
    acq_scoring scoring = ACQ_SCORING_DEFAULT;
    acq_walk first = {0};
    acq_status status =
        acq_board_new(query->problem, query->predictor, &scoring,
                      u->policy->uses_pe ? ACQ_PE_EXACT : ACQ_PE_NONE, &u->boards[q], u->error);
    if (status == ACQ_OK)
        status = acq_walk_init(&first, u->boards[q]);
    for (size_t k = 0; k < u->params->rollouts && status == ACQ_OK; k++)
        status = start_rollout(u, q * u->params->rollouts + k, &first);
    acq_walk_deinit(&first);
    return status;
}

static acq_status fill_batch(unit *u, uint32_t step, bool *any)
{
    acq_rows *batch = &u->room->batch;
    *any = false;
    acq_rows_clear(batch);
    for (size_t i = 0; i < u->n_rollouts; i++) {
        rollout *r = &u->rollouts[i];
        span *s = &u->spans[step * u->n_rollouts + i];
        *s = (span){.first = (uint32_t)batch->n_rows};
        if (!r->is_running)
            continue;
        *any = true;
        s->n = r->walk.n_classes;
        if (acq_rows_add(batch, &r->walk, r->row_before) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        r->row_before = s->first;
    }
    return ACQ_OK;
}

static acq_status move(unit *u, size_t i, uint32_t step, const float *logits)
{
    acq_episode_room *room = u->room;
    rollout *r = &u->rollouts[i];
    span *s = &u->spans[step * u->n_rollouts + i];
    size_t n_terms = r->walk.board->n_terms;
    if (ACQ_RESERVE(room->p, room->p_capacity, s->n) != ACQ_OK ||
        ACQ_RESERVE(room->terms, room->terms_capacity, 3 * n_terms) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_choice_get_probabilities(&r->walk, logits, room->p, room->terms);
    acq_choice_draw(&r->walk, room->p, u->queries[i / u->params->rollouts].key, r->stream, step,
                    r->values, r->chosen, room->terms);
    s->log_p = acq_choice_get_log(&r->walk, room->p, r->chosen, u->params->floor);
    acq_choice_backward(&r->walk, logits, room->p, r->chosen, u->params->floor, 1.0, room->terms,
                        room->slopes[step] + s->first);
    if (acq_walk_set(&r->walk, r->values) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    r->length++;
    judge(u, i);
    return ACQ_OK;
}

static acq_status take_step(unit *u, uint32_t step)
{
    acq_episode_room *room = u->room;
    size_t n = room->batch.n_rows;
    if (acq_step_forward(room->steps[step], u->policy, &room->batch,
                         step == 0 ? NULL : room->steps[step - 1], true) != ACQ_OK ||
        ACQ_RESERVE(room->slopes[step], room->slopes_capacity[step], n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    u->counts->flops += acq_step_count_flops(u->policy, &room->batch);
    memset(room->slopes[step], 0, n * sizeof **room->slopes);
    const float *logits = acq_step_get_logits(room->steps[step]);
    for (size_t i = 0; i < u->n_rollouts; i++) {
        const span *s = &u->spans[step * u->n_rollouts + i];
        if (s->n > 0 && move(u, i, step, logits + s->first) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
    return ACQ_OK;
}

static acq_status run_forward(unit *u)
{
    acq_status status = reserve_steps(u->room, u->params->steps);
    bool any = true;
    for (uint32_t step = 0; step < u->params->steps && status == ACQ_OK; step++) {
        status = fill_batch(u, step, &any);
        if (status == ACQ_OK && any)
            status = take_step(u, step);
        if (!any)
            break;
        u->n_taken = step + 1;
    }
    return status;
}

/* Discounted rewards from each step on. */
static void set_returns(const unit *u)
{
    for (size_t i = 0; i < u->n_rollouts; i++) {
        const rollout *r = &u->rollouts[i];
        double value = 0;
        for (uint32_t step = r->length; step-- > 0;) {
            value = r->gains[step] + u->params->discount * value;
            u->weights[step * u->n_rollouts + i] = (float)value;
        }
    }
}

/* Takes off the mean return of the other rollouts that were still under way at the step. */
static void take_off_baseline(const unit *u, size_t q, uint32_t step)
{
    size_t first = q * u->params->rollouts;
    float *weights = &u->weights[step * u->n_rollouts + first];
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t k = 0; k < u->params->rollouts; k++)
        if (u->rollouts[first + k].length > step) {
            sum += weights[k];
            n++;
        }
    for (uint32_t k = 0; k < u->params->rollouts && n > 1; k++)
        if (u->rollouts[first + k].length > step)
            weights[k] -= (float)((sum - weights[k]) / (n - 1));
}

/* Steps up to the last one that counts: where no rollout has a weight the gradient is 0. */
static uint32_t count_weighted_steps(const unit *u)
{
    size_t n = u->n_taken * u->n_rollouts;
    while (n > 0 && u->weights[n - 1] == 0)
        n--;
    return (uint32_t)((n + u->n_rollouts - 1) / u->n_rollouts); /* NOLINT: a unit has rollouts */
}

static acq_status run_backward(unit *u, float *gradient)
{
    acq_episode_room *room = u->room;
    double scale = -u->params->weight / u->params->steps;
    for (uint32_t step = count_weighted_steps(u); step-- > 0;) {
        for (size_t i = 0; i < u->n_rollouts; i++) {
            const span *s = &u->spans[step * u->n_rollouts + i];
            double weight = scale * (double)u->weights[step * u->n_rollouts + i];
            for (uint32_t row = s->first; row < s->first + s->n; row++)
                room->slopes[step][row] *= (float)weight;
            if (s->n > 0)
                u->counts->loss += weight * s->log_p;
        }
        if (acq_step_backward(room->steps[step], u->policy,
                              step == 0 ? NULL : room->steps[step - 1], room->slopes[step],
                              gradient, &room->scratch) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
    return ACQ_OK;
}

static void count(const unit *u)
{
    acq_episode_counts *counts = u->counts;
    counts->episodes += u->n_rollouts;
    for (size_t i = 0; i < u->n_rollouts; i++) {
        const rollout *r = &u->rollouts[i];
        counts->solved += r->is_solved;
        counts->steps += r->length;
        for (uint32_t step = 0; step < r->length; step++)
            counts->reward += r->gains[step];
    }
}

static acq_status allocate(unit *u)
{
    acq_arena *arena = &u->room->arena;
    size_t places = u->n_rollouts * u->params->steps;
    u->boards = acq_arena_zalloc(arena, u->n_queries, sizeof *u->boards);
    u->rollouts = acq_arena_zalloc(arena, u->n_rollouts, sizeof *u->rollouts);
    u->spans = acq_arena_zalloc(arena, places, sizeof *u->spans);
    u->weights = acq_arena_zalloc(arena, places, sizeof *u->weights);
    bool is_full = u->boards == NULL || u->rollouts == NULL || u->spans == NULL;
    return is_full || u->weights == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

static acq_status run(unit *u, float *gradient)
{
    acq_status status = ACQ_OK;
    for (size_t q = 0; q < u->n_queries && status == ACQ_OK; q++)
        status = start_query(u, q);
    if (status == ACQ_OK)
        status = run_forward(u);
    if (status != ACQ_OK)
        return status;
    count(u);
    set_returns(u);
    for (size_t q = 0; q < u->n_queries && u->params->baseline; q++)
        for (uint32_t step = 0; step < u->n_taken; step++)
            take_off_baseline(u, q, step);
    return run_backward(u, gradient);
}

acq_status acq_episodes_run(acq_episode_room *room, const acq_policy *policy,
                            const acq_episode_query *queries, size_t n_queries,
                            const acq_episode_params *params, float *gradient,
                            acq_episode_counts *counts, acq_error *error)
{
    unit u = {.room = room,
              .policy = policy,
              .queries = queries,
              .params = params,
              .n_queries = n_queries,
              .n_rollouts = n_queries * params->rollouts,
              .counts = counts,
              .error = error};
    acq_arena_mark mark = acq_arena_get_mark(&room->arena);
    acq_status status = allocate(&u);
    if (status == ACQ_OK) {
        status = run(&u, gradient);
        for (size_t i = 0; i < u.n_rollouts; i++)
            acq_walk_deinit(&u.rollouts[i].walk);
        for (size_t q = 0; q < n_queries; q++)
            acq_board_free(u.boards[q]);
    }
    acq_arena_reset(&room->arena, mark);
    return status == ACQ_ERR_MEMORY ? acq_fail_memory(error) : status;
}
