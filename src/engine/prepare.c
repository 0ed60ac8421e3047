/* prepare.c - the loop around rows that are made when a question needs them; see run.h. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/run.h"

/* Of the time limit, what is kept for the last search, for verifying and judging: so much of it,
 * and so many times what the last search took. */
static const double SHARE_KEPT = 0.15;
static const double SEARCHES_KEPT = 2.0;
static const double LONG_CHUNK = 0.25; /* seconds: more rows at once would take too long */
/* Where p decides, rows are made for candidates of such a share of the best score too. */
static const double COMPARED_SHARE = 0.5;
enum { FIRST_CHUNK = 4, MOST_ROWS_AT_ONCE = 256 };

/* What ends the making of rows, asked by every thread that makes some. The caller's own function
 * is asked only from the thread of the question. */
typedef struct row_end {
    pthread_t owner;
    acq_stop stop;       /* the caller's */
    int64_t deadline_ns; /* of rows; before the first is made, of all that is done here */
    acq_spent by;        /* what the deadline is due to: time or rows */
    atomic_int spent;    /* acq_spent: what ended it */
} row_end;

typedef struct preparation {
    const acq_engine_run *run;
    const acq_problem *problem;
    acq_search_params search;
    acq_row_view *view;
    acq_wanted_plan *plan;
    acq_wanted_rows wanted;
    double least;    /* score of the last answer of the last search; -1: more are asked for */
    double share;    /* of `least`: answers that score so much less are worth comparing */
    size_t n_denied; /* rows that negated atoms of the answers depend on and that are not there */
    bool is_loaded;  /* the predictor: what it must learn first is not counted as time of rows */
    bool is_done;    /* no row that is left could change the answers */
    row_end end;     /* what ended the loop before it was done */
    size_t chunk;
    double search_seconds; /* of the last search */
    acq_outcome facts;     /* what they say alone */
} preparation;

/* ---- the end ---- */

static bool is_over(void *context)
{
    row_end *end = context;
    if (end->spent != ACQ_SPENT_NOTHING)
        return true;
    if (acq_clock_ns() >= end->deadline_ns)
        end->spent = (int)end->by;
    else if (pthread_equal(pthread_self(), end->owner) && acq_stop_is_wanted(end->stop))
        end->spent = ACQ_SPENT_INTERRUPT;
    return end->spent != ACQ_SPENT_NOTHING;
}

static void start_end(row_end *end, const acq_engine_run *run)
{
    int64_t now = acq_clock_ns(), of_all = run->deadline_ns;
    if (of_all != INT64_MAX && of_all > now)
        of_all -= (int64_t)((double)(of_all - now) * SHARE_KEPT);
    end->owner = pthread_self();
    end->stop = run->params.search.stop;
    end->by = ACQ_SPENT_TIME;
    end->deadline_ns = of_all;
    atomic_init(&end->spent, ACQ_SPENT_NOTHING);
}

/* The clock of rows starts. */
static void start_rows(preparation *p)
{
    int64_t of_rows = acq_clock_get_deadline(p->run->params.row_seconds);
    if (of_rows >= p->end.deadline_ns)
        return;
    p->end.by = ACQ_SPENT_ROWS;
    p->end.deadline_ns = of_rows;
}

/* False: it was stopped. */
static acq_status load(const acq_predictor *predictor, row_end *end, bool *is_loaded,
                       acq_error *error)
{
    acq_error own = {0};
    *is_loaded = true;
    if (predictor->ops->load == NULL)
        return ACQ_OK;
    acq_status status = predictor->ops->load(predictor, (acq_stop){is_over, end}, &own);
    *is_loaded = status == ACQ_OK;
    if (status == ACQ_ERR_INTERRUPTED && is_over(end))
        return ACQ_OK;
    if (status != ACQ_OK && error != NULL)
        *error = own;
    return status;
}

/* Searches that take long need the time that rows would take. */
static bool must_end(preparation *p)
{
    double left = acq_run_get_seconds_left(p->run);
    if (!is_over(&p->end) && left > 0 && left < SEARCHES_KEPT * p->search_seconds)
        p->end.spent = ACQ_SPENT_TIME;
    return is_over(&p->end);
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

/* Makes the first n wanted rows, relation by relation, until it is over; sorts them. */
static acq_status add_rows(preparation *p, size_t n, acq_error *error)
{
    acq_error own = {0};
    acq_wanted_row *rows = p->wanted.rows;
    acq_ent *heads = acq_alloc(n, sizeof *heads);
    if (heads == NULL)
        return acq_fail_memory(error);
    qsort(rows, n, sizeof *rows, compare_rows);
    acq_status status = ACQ_OK;
    if (!p->is_loaded) {
        status = load(p->run->predictor, &p->end, &p->is_loaded, error);
        start_rows(p);
        n = p->is_loaded ? n : 0;
    }
    for (size_t begin = 0, end; begin < n && status == ACQ_OK; begin = end) {
        for (end = begin; end < n && rows[end].relation == rows[begin].relation;)
            end++;
        acq_row_want want = {.relation = rows[begin].relation,
                             .heads = heads,
                             .n = list_heads(rows + begin, end - begin, heads),
                             .stop = {is_over, &p->end}};
        status = acq_row_view_add(p->view, &want, &own);
    }
    acq_free(heads);
    if (status == ACQ_ERR_INTERRUPTED && is_over(&p->end))
        return ACQ_OK;
    if (status != ACQ_OK && error != NULL)
        *error = own;
    return status;
}

/* The next rows: twice as many as before while that is quick. */
static acq_status add_chunk(preparation *p, acq_error *error)
{
    size_t n = p->wanted.n < p->chunk ? p->wanted.n : p->chunk;
    int64_t before = acq_clock_ns();
    acq_status status = add_rows(p, n, error);
    double seconds = (double)(acq_clock_ns() - before) * 1e-9;
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
    p->least = is_full && result->complete ? result->answers[result->n_answers - 1].score : -1.0;
    if (acq_row_view_count(p->view) == 0)
        p->facts = result->outcome;
}

/* Searches the view. The rows that the answers' negated atoms depend on become the wanted ones. */
static acq_status search(preparation *p, acq_error *error)
{
    acq_search_params params = p->search;
    acq_search_result result;
    int64_t before = acq_clock_ns();
    double left = acq_run_get_seconds_left(p->run);
    if (left > 0)
        params.seconds = left / SEARCHES_KEPT;
    acq_status status =
        acq_search_exact(p->problem, acq_row_view_get_predictor(p->view), &params, &result, error);
    p->search_seconds = (double)(acq_clock_ns() - before) * 1e-9;
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

/* Sorts them. */
static size_t count_distinct(acq_wanted_rows *wanted)
{
    size_t n = 0;
    if (wanted->n > 0)
        qsort(wanted->rows, wanted->n, sizeof *wanted->rows, compare_rows);
    for (size_t i = 0; i < wanted->n; i++)
        n += i == 0 || compare_rows(&wanted->rows[i - 1], &wanted->rows[i]) != 0;
    return n;
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

static size_t count_left_out(const preparation *p)
{
    size_t n = 0;
    while (n < p->wanted.n && p->wanted.rows[n].bound > p->least)
        n++;
    return n;
}

static void tell(const preparation *p)
{
    const acq_engine_params *params = &p->run->params;
    size_t n_made = acq_row_view_count(p->view);
    if (params->tell_rows != NULL)
        params->tell_rows(params->context, n_made, n_made + count_left_out(p));
}

static acq_status make_rows(preparation *p, acq_error *error)
{
    acq_status status = ACQ_OK;
    while (status == ACQ_OK) {
        status = search_with_negated(p, error);
        p->n_denied = count_distinct(&p->wanted);
        bool is_looked_up = p->n_denied == 0;
        if (status == ACQ_OK)
            status = acq_wanted_find(p->plan, p->view, &p->wanted, error);
        if (status != ACQ_OK)
            break;
        p->is_done = is_looked_up && get_bound(p) <= p->least;
        tell(p);
        if ((p->is_done && is_enough(p)) || must_end(p))
            break;
        status = add_chunk(p, error);
    }
    return status;
}

/* Hands the view over to the run. */
static void hand_over(preparation *p, acq_engine_run *run)
{
    acq_spent spent = (acq_spent)p->end.spent;
    acq_engine_result *result = run->result;
    run->predictor = acq_row_view_get_predictor(p->view);
    run->left_out_by = p->is_done ? ACQ_SPENT_NOTHING : spent;
    run->is_stopped = spent == ACQ_SPENT_INTERRUPT;
    run->is_open = p->least < 1.0 && acq_wanted_is_open(p->plan);
    result->facts = p->facts;
    result->n_rows = acq_row_view_count(p->view);
    result->n_rows_left = p->is_done ? 0 : count_left_out(p) + p->n_denied;
    run->view = p->view;
    run->plan = p->plan;
    p->plan = NULL;
}

/* With all rows of the question p does not depend on which of them were made first. */
static double choose_share(const acq_engine_params *params, const acq_predictor *predictor)
{
    if (!acq_engine_gives_p(params, predictor))
        return 1.0;
    return predictor->has_cheap_rows ? 0.0 : COMPARED_SHARE;
}

acq_status acq_prepare_rows(acq_engine_run *run, acq_error *error)
{
    const acq_predictor *predictor = run->predictor;
    preparation p = {.run = run,
                     .problem = run->problem,
                     .search = run->params.search,
                     .share = choose_share(&run->params, predictor),
                     .chunk = FIRST_CHUNK,
                     .facts = ACQ_UNDECIDED};
    start_end(&p.end, run);
    p.is_loaded = predictor->ops->load == NULL;
    if (p.is_loaded)
        start_rows(&p);
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

acq_status acq_prepare_links(acq_engine_run *run, acq_error *error)
{
    row_end end;
    bool is_loaded;
    start_end(&end, run);
    acq_status status = load(run->predictor, &end, &is_loaded, error);
    if (status != ACQ_OK || is_loaded)
        return status;
    acq_row_view *view = NULL;
    status = acq_row_view_new(run->predictor, &view, error);
    if (status != ACQ_OK)
        return status;
    run->view = view;
    run->predictor = run->result->prepared = acq_row_view_get_predictor(view);
    run->left_out_by = (acq_spent)end.spent;
    run->is_stopped = end.spent == ACQ_SPENT_INTERRUPT;
    run->is_unlearnt = true;
    return acq_wanted_plan_new(run->problem, run->predictor->graph, &run->params.search.scoring,
                               &run->plan, error);
}

acq_status acq_prepare_denies_unknown(const acq_engine_run *run, const acq_ent *values, bool *out,
                                      acq_error *error)
{
    acq_wanted_rows wanted = {0};
    acq_status status = ACQ_OK;
    if (run->plan != NULL && run->left_out_by != ACQ_SPENT_NOTHING)
        status = acq_wanted_find_negated(run->plan, run->view, values, &wanted, error);
    *out = wanted.n > 0;
    acq_free(wanted.rows);
    return status;
}

static void write_note(const acq_engine_run *run, char *text, size_t room)
{
    const acq_engine_result *result = run->result;
    if (run->is_unlearnt)
        snprintf(text, room,
                 "only facts were looked at: there was no time to learn how likely links are; "
                 "--time SECONDS gives more");
    else if (run->left_out_by == ACQ_SPENT_NOTHING)
        snprintf(text, room,
                 "no constant leads to some variable: only entities seen with its relations were "
                 "tried");
    else
        snprintf(text, room,
                 "%zu of %zu rows of predicted links were looked at; --time SECONDS gives them "
                 "longer, and anycq fit makes all of them once",
                 result->n_rows, result->n_rows + result->n_rows_left);
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
