/* prepare.c - the loop around rows that are made when a question needs them; see run.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/run.h"
#include "engine/wanted.h"

static const double SHARE_OF_ROWS = 0.5;           /* of the time limit */
static const double SHARE_WITH_ANSWERS = 1.0 / 30; /* once there are answers */
static const double LONG_CHUNK = 0.25; /* seconds: more rows at once would take too long */
/* Where p decides, rows are made for candidates of such a share of the best score too. */
static const double COMPARED_SHARE = 0.5;
static const double SECONDS_AFTER_STOP = 0.5; /* to find again what was found before a stop */
enum { FIRST_CHUNK = 4, MOST_ROWS_AT_ONCE = 256 };

typedef struct preparation {
    const acq_problem *problem;
    acq_search_params search;
    acq_row_view *view;
    acq_wanted_plan *plan;
    acq_wanted_rows wanted;
    double least;     /* score of the last answer of the last search; -1: more are asked for */
    double share;     /* of `least`: answers that score so much less are worth comparing */
    bool has_answers; /* of the last search */
    bool is_done;     /* no row that is left could change the answers */
    acq_spent spent;  /* what ended the loop before it was done */
    size_t chunk;
    int64_t begin_ns;
} preparation;

static double get_seconds(const preparation *p)
{
    return (double)(acq_clock_ns() - p->begin_ns) * 1e-9;
}

/* Notes why in p->spent. */
static bool must_end(preparation *p)
{
    double share = p->has_answers && p->search.limit > 0 ? SHARE_WITH_ANSWERS : SHARE_OF_ROWS;
    if (p->spent == ACQ_SPENT_NOTHING && acq_stop_is_wanted(p->search.stop))
        p->spent = ACQ_SPENT_INTERRUPT;
    if (p->spent == ACQ_SPENT_NOTHING && p->search.seconds > 0 &&
        get_seconds(p) > share * p->search.seconds)
        p->spent = ACQ_SPENT_TIME;
    return p->spent != ACQ_SPENT_NOTHING;
}

/* ---- adding rows ---- */

static int compare_rows(const void *a, const void *b)
{
    const acq_wanted_row *x = a, *y = b;
    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    return (x->head > y->head) - (x->head < y->head);
}

/* The heads of rows[0..n), all of one relation, without repetitions. */
static size_t list_heads(const acq_wanted_row *rows, size_t n, acq_ent *heads)
{
    size_t n_heads = 0;
    for (size_t i = 0; i < n; i++) {
        if (n_heads == 0 || heads[n_heads - 1] != rows[i].head)
            heads[n_heads++] = rows[i].head;
    }
    return n_heads;
}

/* Makes the first n wanted rows, relation by relation; sorts them. */
static acq_status add_rows(preparation *p, size_t n, acq_error *error)
{
    acq_wanted_row *rows = p->wanted.rows;
    acq_ent *heads = acq_alloc(n, sizeof *heads);
    if (heads == NULL)
        return acq_fail_memory(error);
    qsort(rows, n, sizeof *rows, compare_rows);
    acq_status status = ACQ_OK;
    for (size_t begin = 0, end; begin < n && status == ACQ_OK; begin = end) {
        for (end = begin; end < n && rows[end].relation == rows[begin].relation;)
            end++;
        size_t n_heads = list_heads(rows + begin, end - begin, heads);
        status = acq_row_view_add(p->view, rows[begin].relation, heads, n_heads, error);
    }
    acq_free(heads);
    return status;
}

/* The next rows: twice as many as before while that is quick. */
static acq_status add_chunk(preparation *p, acq_error *error)
{
    size_t n = p->wanted.n < p->chunk ? p->wanted.n : p->chunk;
    double before = get_seconds(p);
    acq_status status = add_rows(p, n, error);
    double seconds = get_seconds(p) - before;
    if (seconds < LONG_CHUNK / 2 && p->chunk < MOST_ROWS_AT_ONCE)
        p->chunk *= 2;
    else if (seconds > LONG_CHUNK && p->chunk > 1)
        p->chunk /= 2;
    return status;
}

/* ---- searching ---- */

static void note_answers(preparation *p, const acq_search_result *result)
{
    bool is_full =
        result->n_answers > 0 && (p->problem->n_free == 0 || result->n_answers == p->search.limit);
    p->has_answers = result->n_answers > 0;
    p->least = is_full && result->complete ? result->answers[result->n_answers - 1].score : -1.0;
}

/* Searches the view. The rows that the answers' negated atoms depend on become the wanted ones. */
static acq_status search(preparation *p, acq_error *error)
{
    acq_search_params params = p->search;
    acq_search_result result;
    if (params.seconds > 0)
        params.seconds = fmax(params.seconds * SHARE_OF_ROWS - get_seconds(p), 1e-3);
    acq_status status =
        acq_search_exact(p->problem, acq_row_view_get_predictor(p->view), &params, &result, error);
    p->wanted.n = 0;
    for (size_t i = 0; i < result.n_answers && status == ACQ_OK; i++)
        status =
            acq_wanted_find_negated(p->plan, p->view, result.answers[i].values, &p->wanted, error);
    if (status == ACQ_OK)
        note_answers(p, &result);
    acq_search_result_deinit(&result);
    return status;
}

/* Answers whose negated atoms have been looked up, unless time is up. */
static acq_status search_with_negated(preparation *p, acq_error *error)
{
    acq_status status = search(p, error);
    while (status == ACQ_OK && p->wanted.n > 0 && !must_end(p)) {
        status = add_rows(p, p->wanted.n, error);
        if (status == ACQ_OK)
            status = search(p, error);
    }
    return status;
}

/* ---- the loop ---- */

/* What no answer that is not in the view yet can exceed. */
static double get_bound(const preparation *p)
{
    return p->wanted.n == 0 ? -1.0 : p->wanted.rows[0].bound;
}

static bool is_enough(const preparation *p)
{
    return p->least >= 1.0 || get_bound(p) <= p->share * p->least;
}

static acq_status make_rows(preparation *p, acq_error *error)
{
    acq_status status = ACQ_OK;
    while (status == ACQ_OK) {
        status = search_with_negated(p, error);
        bool is_looked_up = p->wanted.n == 0;
        if (status == ACQ_OK)
            status = acq_wanted_find(p->plan, p->view, &p->wanted, error);
        if (status != ACQ_OK)
            break;
        p->is_done = is_looked_up && get_bound(p) <= p->least;
        if ((p->is_done && is_enough(p)) || must_end(p))
            break;
        status = add_chunk(p, error);
    }
    return status;
}

static size_t count_left_out(const preparation *p)
{
    size_t n = 0;
    while (n < p->wanted.n && p->wanted.rows[n].bound > p->least)
        n++;
    return n;
}

/* Hands the view over to the run, with the time that is left. */
static void hand_over(preparation *p, acq_engine_run *run)
{
    acq_search_params *search = &run->params.search;
    run->predictor = acq_row_view_get_predictor(p->view);
    run->begin_ns = acq_clock_ns();
    run->n_left_out = count_left_out(p);
    run->left_out_by = p->is_done ? ACQ_SPENT_NOTHING : p->spent;
    run->is_open = p->least < 1.0 && acq_wanted_is_open(p->plan);
    if (search->seconds > 0)
        search->seconds = fmax(search->seconds - get_seconds(p), 1e-3);
    if (p->spent == ACQ_SPENT_INTERRUPT) {
        search->stop = (acq_stop){0};
        search->seconds =
            search->seconds > 0 ? fmin(search->seconds, SECONDS_AFTER_STOP) : SECONDS_AFTER_STOP;
    }
}

acq_status acq_prepare_rows(acq_engine_run *run, acq_error *error)
{
    const acq_predictor *predictor = run->predictor;
    preparation p = {.problem = run->problem,
                     .search = run->params.search,
                     .share = acq_engine_gives_p(&run->params, predictor) ? COMPARED_SHARE : 1.0,
                     .chunk = FIRST_CHUNK,
                     .begin_ns = acq_clock_ns()};
    acq_status status = acq_row_view_new(predictor, &p.view, error);
    if (status != ACQ_OK)
        return status;
    run->result->prepared = acq_row_view_get_predictor(p.view);
    status = acq_wanted_plan_new(p.problem, predictor->graph, &p.search.scoring, &p.plan, error);
    if (status == ACQ_OK)
        status = make_rows(&p, error);
    if (status == ACQ_OK)
        hand_over(&p, run);
    acq_wanted_plan_free(p.plan);
    acq_free(p.wanted.rows);
    return status;
}

static void write_note(const acq_engine_run *run, char *text, size_t room)
{
    if (run->left_out_by == ACQ_SPENT_NOTHING)
        snprintf(text, room,
                 "no constant leads to some variable: only entities seen with its relations were "
                 "tried");
    else
        snprintf(text, room,
                 "%zu rows of predicted links were left out; more --time makes them, and anycq fit "
                 "makes all of them once",
                 run->n_left_out);
}

acq_status acq_prepare_admit(acq_engine_run *run, acq_error *error)
{
    acq_engine_result *result = run->result;
    char text[200];
    if (run->left_out_by == ACQ_SPENT_NOTHING && !run->is_open)
        return ACQ_OK;
    write_note(run, text, sizeof text);
    result->complete = false;
    if (run->left_out_by != ACQ_SPENT_NOTHING)
        result->spent = run->left_out_by;
    if (result->outcome == ACQ_NONE)
        result->outcome = ACQ_UNDECIDED;
    result->note = acq_arena_copy_string(&result->arena, text, strlen(text));
    return result->note == NULL ? acq_fail_memory(error) : ACQ_OK;
}
