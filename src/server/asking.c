/* asking.c - the tool `ask`: a formula by a cursor, SPARQL that is more than a formula by
 * acq_solve; whole or line by line. */
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "server/parts.h"

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
    acq_text text; /* of what is emitted next */
};

void acq_asking_free(acq_asking *a)
{
    if (a == NULL)
        return;
    acq_solutions_free(a->solutions);
    acq_query_free(a->query);
    acq_text_deinit(&a->text);
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

/* ---- one by one ---- */

static void emit_text(acq_asking *a, const char *kind)
{
    if (a->is_unwanted || a->text.failed)
        a->is_unwanted = true;
    else
        a->is_unwanted = !a->emit(a->context, kind, a->text.bytes, a->text.length);
    acq_text_clear(&a->text);
}

static void emit_object(acq_asking *a, const char *kind, json_t *value)
{
    char *dumped = value == NULL ? NULL : json_dumps(value, ACQ_SERVICE_STYLE);
    if (dumped == NULL)
        a->text.failed = true;
    else
        acq_text_add(&a->text, dumped);
    free(dumped);
    json_decref(value);
    emit_text(a, kind);
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
        emit_object(a, "progress",
                    json_pack("{s:s,s:I,s:I}", "phase", now->phase, "done", (json_int_t)now->done,
                              "total", (json_int_t)now->total));
    }
    return is_wanted(a);
}

static void tell_step(void *context, const acq_trace_step *step)
{
    emit_object(context, "step",
                json_pack("{s:I,s:f,s:f,s:I,s:f}", "step", (json_int_t)step->step, "score",
                          step->score, "best", step->best, "classes", (json_int_t)step->n_classes,
                          "ms", step->ms));
}

static void emit_failure(acq_asking *a, const acq_error *error)
{
    json_t *object = acq_service_fail_with(error, &a->failed);
    emit_object(a, "error", json_incref(json_object_get(object, "error")));
    json_decref(object);
}

static void emit_answers(acq_asking *a, const acq_result *some)
{
    size_t n = acq_result_get_n_answers(some);
    for (size_t i = 0; i < n && is_wanted(a); i++) {
        acq_answer_write(a->g, a->query, some, i, a->explains, &a->text);
        emit_text(a, "answer");
    }
}

static void emit_end(acq_asking *a, const acq_result *result)
{
    acq_answer_write_end(a->g, a->query, result, &a->params, a->explains, &a->text);
    emit_text(a, "result");
}

static acq_status run_cursor(acq_asking *a, acq_error *error)
{
    acq_cursor *cursor = NULL;
    const acq_result *some = NULL;
    acq_status status = acq_cursor_open(a->query, a->g->predictor, &a->params, &cursor, error);
    while (status == ACQ_OK) {
        status = acq_cursor_next_some(cursor, &some, error);
        if (status != ACQ_OK || some == NULL)
            break;
        emit_answers(a, some);
    }
    if (status == ACQ_OK)
        emit_end(a, acq_cursor_get_result(cursor));
    acq_cursor_free(cursor);
    return status;
}

/* What facts give is not asked for, so nothing can come first. */
static acq_status run_at_once(acq_asking *a, acq_error *error)
{
    acq_result *result = NULL;
    acq_status status = acq_ask(a->query, a->g->predictor, &a->params, &result, error);
    if (status == ACQ_OK) {
        emit_answers(a, result);
        emit_end(a, result);
    }
    acq_result_free(result);
    return status;
}

static void run_query(acq_asking *a)
{
    acq_error error = {0};
    a->params.progress = tell_progress;
    a->params.trace = a->traces ? tell_step : NULL;
    a->params.context = a;
    a->next_sign_ns = acq_clock_ns() + 500000000;
    acq_status status = a->params.new_only ? run_at_once(a, &error) : run_cursor(a, &error);
    if (status != ACQ_OK)
        emit_failure(a, &error);
}

void acq_asking_run(acq_asking *a, acq_emit_fn emit, void *context)
{
    a->emit = emit;
    a->context = context;
    if (a->query != NULL) {
        run_query(a);
        return;
    }
    for (size_t i = 0; i < acq_solutions_get_n(a->solutions) && is_wanted(a); i++) {
        acq_answer_write_row(a->g, a->solutions, i, &a->text);
        emit_text(a, "answer");
    }
    acq_answer_write_row_end(a->g, a->solutions, &a->text);
    emit_text(a, "result");
}

/* ---- the whole ---- */

typedef struct whole {
    acq_text answers, end;
    bool has_failed;
} whole;

static bool collect(void *context, const char *kind, const char *json, size_t length)
{
    whole *w = context;
    if (strcmp(kind, "answer") == 0) {
        acq_text_add(&w->answers, w->answers.length == 0 ? "" : ",");
        acq_text_add_bytes(&w->answers, json, length);
    } else if (strcmp(kind, "result") == 0 || strcmp(kind, "error") == 0) {
        acq_text_add_bytes(&w->end, json, length);
        w->has_failed = kind[0] == 'e';
    }
    return !w->answers.failed;
}

/* The answers stand before the brace that ends the result. */
void acq_asking_write(acq_asking *a, acq_text *out, int *status)
{
    whole w = {0};
    acq_asking_run(a, collect, &w);
    out->failed |= w.answers.failed || w.end.failed || w.end.length == 0;
    if (w.has_failed) {
        *status = a->failed;
        acq_text_format(out, "{\"error\":%s}\n", w.end.bytes);
    } else if (acq_text_make_room(out, w.end.length + w.answers.length + 32)) {
        acq_text_add_bytes(out, w.end.bytes, w.end.length - 1);
        acq_text_add(out, ",\"answers\":[");
        if (w.answers.length > 0)
            acq_text_add_bytes(out, w.answers.bytes, w.answers.length);
        acq_text_add(out, "]}\n");
    }
    acq_text_deinit(&w.answers);
    acq_text_deinit(&w.end);
}

json_t *acq_tools_ask(const acq_call *call, const json_t *arguments, int *status)
{
    json_t *object;
    acq_text text = {0};
    acq_asking *a = acq_asking_new(call, arguments, &object, status);
    if (a == NULL)
        return object;
    acq_asking_write(a, &text, status);
    object = acq_answer_parse(&text);
    acq_text_deinit(&text);
    acq_asking_free(a);
    return object;
}
