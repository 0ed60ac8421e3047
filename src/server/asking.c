/* asking.c - the tool `ask`: a formula by a cursor, SPARQL that is more than a formula by
 * acq_solve; whole or line by line. */
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "server/answers.h"
#include "server/tools.h"

struct acq_asking {
    const acq_call *call;
    const acq_served_graph *g;
    acq_query *query;         /* NULL: SPARQL without a formula */
    acq_solutions *solutions; /* of it */
    acq_ask_params params;
    bool explains, traces;
    acq_emit_fn emit;
    void *context;
    bool is_unwanted; /* emit said so */
    int failed;       /* HTTP's status of the error that was emitted */
    int64_t next_sign_ns;
};

void acq_asking_free(acq_asking *a)
{
    if (a == NULL)
        return;
    acq_solutions_free(a->solutions);
    acq_query_free(a->query);
    acq_free(a);
}

/* SPARQL that has no formula, or whose error the algebra words better. */
static acq_status solve(acq_asking *a, const char *text, bool has_limit, acq_error *error)
{
    acq_solve_params params;
    acq_solve_params_init(&params);
    params.ask = &a->params;
    params.most = has_limit ? a->params.limit : a->call->service->params.most_answers;
    params.default_limit = has_limit ? 0 : a->params.limit;
    acq_query_free(a->query);
    a->query = NULL;
    *error = (acq_error){0};
    return acq_solve(a->g->graph, text, a->g->predictor, &params, &a->solutions, error);
}

static acq_status open_asking(acq_asking *a, const json_t *arguments, acq_error *error)
{
    const char *text = acq_argument_get_text(arguments, "query");
    bool has_limit = json_object_get(arguments, "limit") != NULL;
    if (text == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "give the query as \"query\"");
    acq_status status = acq_service_read_ask(a->call, arguments, &a->params, error);
    if (status != ACQ_OK)
        return status;
    status = acq_query_new(a->g->graph, text, &a->query, error);
    bool is_refused = error->code == ACQ_ERR_PARSE || error->code == ACQ_ERR_NAME;
    bool is_solved = status == ACQ_OK ? acq_query_needs_solve(a->query) : is_refused;
    if (acq_is_sparql(text) && is_solved)
        return solve(a, text, has_limit, error);
    uint64_t own = status == ACQ_OK ? acq_query_get_limit(a->query) : 0;
    uint64_t most = has_limit ? a->params.limit : a->call->service->params.most_answers;
    if (own > 0)
        a->params.limit = own < most ? own : most;
    return status;
}

acq_asking *acq_asking_new(const acq_call *call, const json_t *arguments, json_t **failure,
                           int *status)
{
    acq_error error = {0};
    const acq_served_graph *g =
        acq_service_find(call->service, acq_argument_get_text(arguments, "graph"));
    *status = 200;
    *failure = acq_tools_check_arguments("ask", g, arguments, status);
    if (*failure != NULL)
        return NULL;
    acq_asking *a = acq_zalloc(1, sizeof *a);
    if (a == NULL) {
        acq_fail_memory(&error);
        *failure = acq_service_fail_with(&error, status);
        return NULL;
    }
    a->call = call;
    a->g = g;
    a->explains = acq_argument_is_true(arguments, "explain");
    a->traces = acq_argument_is_true(arguments, "trace");
    if (open_asking(a, arguments, &error) == ACQ_OK)
        return a;
    *failure = acq_service_fail_with(&error, status);
    acq_asking_free(a);
    return NULL;
}

/* ---- lines ---- */

static void emit_line(acq_asking *a, const char *kind, json_t *value)
{
    if (!a->is_unwanted)
        a->is_unwanted = !a->emit(a->context, json_pack("{s:o}", kind, value));
    else
        json_decref(value);
}

static bool is_wanted(acq_asking *a)
{
    return !a->is_unwanted && (a->call->is_over == NULL || !a->call->is_over(a->call->context));
}

/* A sign of life every half second. */
static bool tell_progress(void *context, const acq_progress *now)
{
    acq_asking *a = context;
    int64_t clock = acq_clock_ns();
    if (clock >= a->next_sign_ns) {
        a->next_sign_ns = clock + 500000000;
        emit_line(a, "progress",
                  json_pack("{s:s,s:I,s:I}", "phase", now->phase, "done", (json_int_t)now->done,
                            "total", (json_int_t)now->total));
    }
    return is_wanted(a);
}

static void tell_step(void *context, const acq_trace_step *step)
{
    acq_asking *a = context;
    emit_line(a, "step",
              json_pack("{s:I,s:f,s:f,s:I,s:f}", "step", (json_int_t)step->step, "score",
                        step->score, "best", step->best, "classes", (json_int_t)step->n_classes,
                        "ms", step->ms));
}

static void emit_failure(acq_asking *a, const acq_error *error)
{
    json_t *object = acq_service_fail_with(error, &a->failed);
    emit_line(a, "error", json_incref(json_object_get(object, "error")));
    json_decref(object);
}

static void run_cursor(acq_asking *a)
{
    acq_error error = {0};
    acq_cursor *cursor = NULL;
    const acq_result *some = NULL;
    a->params.progress = tell_progress;
    a->params.trace = a->traces ? tell_step : NULL;
    a->params.context = a;
    a->next_sign_ns = acq_clock_ns() + 500000000;
    acq_status status = acq_cursor_open(a->query, a->g->predictor, &a->params, &cursor, &error);
    while (status == ACQ_OK) {
        status = acq_cursor_next_some(cursor, &some, &error);
        if (status != ACQ_OK || some == NULL)
            break;
        for (size_t i = 0; i < acq_result_get_n_answers(some) && is_wanted(a); i++)
            emit_line(a, "answer", acq_answer_make(a->g, a->query, some, i, a->explains));
    }
    if (status == ACQ_OK)
        emit_line(a, "result",
                  acq_answer_make_end(a->g, a->query, acq_cursor_get_result(cursor), &a->params,
                                      a->explains));
    else
        emit_failure(a, &error);
    acq_cursor_free(cursor);
}

void acq_asking_run(acq_asking *a, acq_emit_fn emit, void *context)
{
    a->emit = emit;
    a->context = context;
    if (a->query != NULL) {
        run_cursor(a);
        return;
    }
    for (size_t i = 0; i < acq_solutions_get_n(a->solutions) && is_wanted(a); i++)
        emit_line(a, "answer", acq_answer_make_row(a->g, a->solutions, i));
    emit_line(a, "result", acq_answer_make_row_end(a->g, a->solutions));
}

/* ---- the whole ---- */

typedef struct whole {
    json_t *answers, *end; /* end: the result, or {"error": ...} */
} whole;

static bool collect(void *context, json_t *line)
{
    whole *w = context;
    json_t *answer = json_object_get(line, "answer"), *result = json_object_get(line, "result");
    if (answer != NULL)
        json_array_append(w->answers, answer);
    else if (result != NULL)
        w->end = json_incref(result);
    else if (json_object_get(line, "error") != NULL)
        w->end = json_incref(line);
    json_decref(line);
    return line != NULL;
}

json_t *acq_tools_ask(const acq_call *call, const json_t *arguments, int *status)
{
    json_t *failure;
    acq_asking *a = acq_asking_new(call, arguments, &failure, status);
    if (a == NULL)
        return failure;
    whole w = {.answers = json_array()};
    acq_asking_run(a, collect, &w);
    if (json_object_get(w.end, "error") == NULL)
        json_object_set(w.end, "answers", w.answers);
    else
        *status = a->failed;
    json_decref(w.answers);
    acq_asking_free(a);
    return w.end;
}
