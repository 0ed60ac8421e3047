/* question.c - see question.h. */
#include "cli/question.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "cli/view.h"

/* Where memory is limited, running out of it is an undecided result. */
static int report_memory(const acq_question *question, uint64_t memory, acq_output *output)
{
    if (question->options->json) {
        json_t *object = json_object();
        json_object_set_new(object, "query", acq_json_text(question->text));
        if (question->line != NULL)
            json_object_set_new(object, "line", acq_json_count(question->line->number));
        json_object_set_new(object, "outcome", json_string("undecided"));
        json_object_set_new(object, "reason", json_string("memory"));
        json_object_set_new(object, "complete", json_false());
        json_object_set_new(object, "answers", json_array());
        acq_json_add_line(&output->data, object);
    } else {
        acq_text_format(&output->data,
                        "undecided: more than %llu MB are needed; give more with --memory MB\n",
                        (unsigned long long)memory);
    }
    return ACQ_EXIT_UNDECIDED;
}

/* Places in a text count from its own start; in a file of queries, from the file's. The text has
 * lost its indentation, so only one that begins and ends as in the file is shown with the error. */
static int report(const acq_question *question, acq_error *error, acq_output *output)
{
    uint64_t memory = acq_limits_get_memory(question->options);
    if (error->code == ACQ_ERR_MEMORY && memory > 0)
        return report_memory(question, memory, output);
    const acq_line *line = question->line;
    bool is_cut = line != NULL && (line->indent > 0 || line->column > 0);
    const char *source = error->line > 0 && !is_cut ? question->text : NULL;
    if (line != NULL)
        acq_line_move_error(line, question->file, error);
    return acq_report_error(output, question->options, error, source);
}

static acq_status read_query(const acq_question *question, acq_output *output, acq_query **out,
                             acq_error *error)
{
    acq_status status = ACQ_OK;
    if (question->line != NULL)
        status = acq_line_check(question->line, question->file, error);
    if (status == ACQ_OK)
        status = acq_query_new(question->graph, question->text, out, error);
    if (status == ACQ_OK && acq_query_get_hint(*out)[0] != '\0')
        acq_report_note(output, "%s", acq_query_get_hint(*out));
    return status;
}

static uint64_t choose_limit(const acq_question *question, const acq_query *query)
{
    const acq_options *options = question->options;
    uint64_t own = acq_query_get_limit(query);
    if (options->all)
        return 0;
    if (acq_options_has(options, limit))
        return options->limit;
    return own > 0 ? own : 1;
}

/* ---- one question under way ---- */

typedef struct asking {
    acq_question *question;
    acq_output *output;
    acq_bar bar;
    bool is_noted; /* that it takes long */
    acq_columns columns;
    acq_trace trace;
    acq_reason_view reasons;
    acq_view view;
} asking;

static const double LONG_SECONDS = 3.0;
static const char WORKING[] = "working on predictions";

/* Says once, before most of it is done, that the predictions take long. */
static void note_long(asking *a, const acq_progress *now)
{
    double spent = (double)(acq_clock_ns() - a->bar.start_ns) * 1e-9;
    double left = now->done == 0 ? 0 : spent * (double)(now->total - now->done) / (double)now->done;
    if (a->is_noted || strcmp(now->phase, "predicting") != 0 || left < LONG_SECONDS ||
        a->view.params->row_seconds > 0 || !a->output->streams)
        return;
    a->is_noted = true;
    acq_report_note(a->output,
                    "%llu rows of predicted links take about %.0f s; Ctrl-C gives what "
                    "was found",
                    (unsigned long long)now->total, spent + left);
    acq_output_relieve_notes(a->output);
}

static void trace(void *context, const acq_trace_step *step)
{
    acq_trace_add(&((asking *)context)->trace, step);
}

static bool watch(void *context, const acq_progress *now)
{
    asking *a = context;
    if (a->output->streams) {
        acq_bar_show_stage(&a->bar, now);
        note_long(a, now);
    }
    return !acq_interrupt_is_asked();
}

/* What has gathered goes out, so that answers are seen before more are searched for. */
static void send(asking *a)
{
    acq_bar_hide(&a->bar);
    if (a->output->streams)
        (void)acq_output_flush(a->output, 0);
}

static acq_status add_answers(asking *a, const acq_result *some, acq_error *error)
{
    size_t start = a->output->data.length;
    a->view.result = some;
    acq_result_get_stats(some, &a->view.stats);
    if (a->question->options->json)
        return ACQ_OK;
    acq_view_add(&a->view, a->output);
    acq_status status = acq_setup_check_names(a->question->graph, a->output, start, error);
    if (status == ACQ_OK)
        send(a);
    return status;
}

static int finish(asking *a, const acq_result *result)
{
    acq_question *question = a->question;
    acq_error error = {0};
    size_t start = a->output->data.length;
    acq_trace_finish(&a->trace);
    a->view.result = result;
    question->is_predicted =
        question->is_predicted || acq_result_get_outcome(result) != ACQ_RESULT_ANSWERED;
    acq_result_get_stats(result, &a->view.stats);
    acq_bar_hide(&a->bar);
    if (question->options->json)
        acq_view_print_json(&a->view, a->output);
    else
        acq_view_end(&a->view, a->output);
    if (acq_setup_check_names(question->graph, a->output, start, &error) != ACQ_OK)
        return report(question, &error, a->output);
    return acq_view_get_exit_code(&a->view);
}

static int ask(asking *a, const acq_query *query, const acq_ask_params *params)
{
    const acq_question *question = a->question;
    acq_error error = {0};
    acq_cursor *cursor = NULL;
    const acq_result *some = NULL;
    acq_status status = acq_cursor_open(query, question->predictor, params, &cursor, &error);
    while (status == ACQ_OK) {
        status = acq_cursor_next_some(cursor, &some, &error);
        if (status != ACQ_OK || some == NULL)
            break;
        status = add_answers(a, some, &error);
    }
    int code = status == ACQ_OK ? finish(a, acq_cursor_get_result(cursor))
                                : report(question, &error, a->output);
    acq_cursor_free(cursor);
    return code;
}

/* A check, or an ask whose answers come together: those that facts do not give. */
static int ask_at_once(asking *a, const acq_query *query, const acq_ask_params *params)
{
    const acq_question *question = a->question;
    acq_error error = {0};
    acq_result *result = NULL;
    acq_status status = question->is_check
                            ? acq_check(query, question->predictor, question->values,
                                        question->n_values, params, &result, &error)
                            : acq_ask(query, question->predictor, params, &result, &error);
    if (status == ACQ_OK && acq_result_get_n_answers(result) > 0)
        status = add_answers(a, result, &error);
    int code = status == ACQ_OK ? finish(a, result) : report(question, &error, a->output);
    acq_result_free(result);
    return code;
}

/* With limits on the whole command, the question has what reading left of them, and printing needs
 * some time too. */
static void limit(const acq_question *question, acq_ask_params *params)
{
    static const double PRINTING = 0.05, LEAST = 1e-3;
    double left = acq_options_get_seconds_left(question->options);
    size_t memory = acq_limits_get_memory_left(question->options);
    params->memory_bytes = memory < params->memory_bytes ? memory : params->memory_bytes;
    if (isinf(left))
        return;
    double kept = fmin(PRINTING * left, 0.5);
    params->seconds = fmax(left - kept, LEAST);
    params->row_seconds = 0;
}

static int run(acq_question *question, const acq_query *query, acq_output *output)
{
    asking a = {.question = question,
                .output = output,
                .reasons = {.graph = question->graph, .predictor = question->predictor}};
    acq_trace_init(&a.trace, output, question->options->json);
    acq_bar_init(&a.bar, "");
    if (output->streams)
        acq_bar_keep_alive(&a.bar, WORKING);
    acq_ask_params params = *question->params;
    params.limit = choose_limit(question, query);
    params.stream = question->stream;
    params.progress = watch;
    params.trace = question->options->trace ? trace : NULL;
    params.context = &a;
    limit(question, &params);
    a.view = (acq_view){.options = question->options,
                        .params = &params,
                        .graph = question->graph,
                        .predictor = question->predictor,
                        .query = query,
                        .text = question->text,
                        .line = question->line == NULL ? 0 : question->line->number,
                        .is_check = question->is_check,
                        .trace = question->options->trace ? &a.trace : NULL,
                        .is_predicted = &question->is_predicted,
                        .reasons = &a.reasons,
                        .columns = &a.columns};
    a.view.stats.size = sizeof a.view.stats;
    int code = question->is_check || params.new_only ? ask_at_once(&a, query, &params)
                                                     : ask(&a, query, &params);
    acq_trace_deinit(&a.trace);
    acq_free(a.columns.widths);
    acq_bar_deinit(&a.bar);
    return code;
}

static bool watch_interrupt(void *context, const acq_progress *now)
{
    (void)context;
    (void)now;
    return !acq_interrupt_is_asked();
}

/* SPARQL that is more than a formula, or names what the graph does not have. */
static int solve(acq_question *question, acq_output *output)
{
    acq_error error = {0};
    acq_ask_params params = *question->params;
    int code = ACQ_EXIT_YES;
    params.progress = watch_interrupt;
    limit(question, &params);
    return acq_cli_solve(question, &params, output, &code, &error) == ACQ_OK
               ? code
               : report(question, &error, output);
}

/* Is it SPARQL that acq_solve is for? Other engines, --new and checks know formulas only. */
static bool is_solved(const acq_question *question, const acq_query *query, const acq_error *error)
{
    bool needs = query == NULL ? error->code == ACQ_ERR_PARSE || error->code == ACQ_ERR_NAME
                               : acq_query_needs_solve(query);
    return needs && !question->is_check && !question->params->new_only &&
           strcmp(question->params->engine, "exact") == 0 && acq_is_sparql(question->text);
}

int acq_question_answer(acq_question *question, acq_output *output)
{
    acq_error error = {0};
    acq_query *query = NULL;
    acq_status status = read_query(question, output, &query, &error);
    if (is_solved(question, query, &error)) {
        acq_query_free(query);
        return solve(question, output);
    }
    if (status != ACQ_OK)
        return report(question, &error, output);
    int code = run(question, query, output);
    acq_query_free(query);
    return code;
}

/* ---- files of queries ---- */

acq_status acq_lines_init(acq_lines *lines, const char *path, acq_error *error)
{
    bool is_file = acq_file_get_kind(path) == ACQ_FILE_REGULAR;
    *lines = (acq_lines){.path = path, .file = -1, .is_file = is_file};
    return acq_file_open(path, &lines->file, error);
}

void acq_lines_deinit(acq_lines *lines)
{
    if (lines->file >= 0)
        acq_file_close(lines->file);
    acq_free(lines->bytes);
    *lines = (acq_lines){.file = -1};
}

/* Reads more behind what is there. */
static acq_status read_more(acq_lines *lines, acq_error *error)
{
    enum { PIECE = 1 << 16 };
    if (lines->begin > 0)
        memmove(lines->bytes, lines->bytes + lines->begin, lines->end - lines->begin);
    lines->end -= lines->begin;
    lines->begin = 0;
    if (ACQ_RESERVE(lines->bytes, lines->capacity, lines->end + PIECE) != ACQ_OK)
        return acq_fail_memory(error);
    size_t got;
    acq_status status =
        acq_file_read_some(lines->file, lines->path, lines->bytes + lines->end, PIECE, &got, error);
    if (status != ACQ_OK)
        return status;
    lines->end += got;
    lines->is_over = got == 0;
    return ACQ_OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Leaves *out without text where the line [begin, end) is blank or a comment. */
static acq_status cut_line(acq_lines *lines, const char *begin, const char *end, acq_line *out,
                           acq_error *error)
{
    static const char mark[] = "\xef\xbb\xbf";
    const char *start = begin;
    if (lines->number++ == 0 && end - start >= 3 && memcmp(start, mark, 3) == 0)
        begin = start += 3;
    while (start < end && is_space(*start))
        start++;
    while (end > start && is_space(end[-1]))
        end--;
    if (start == end || *start == '#')
        return ACQ_OK;
    size_t length = (size_t)(end - start);
    const char *zero = memchr(start, '\0', length);
    char *text = acq_alloc(length + 1, 1);
    if (text == NULL)
        return acq_fail_memory(error);
    memcpy(text, start, length);
    text[length] = '\0';
    *out = (acq_line){.text = text,
                      .number = lines->number,
                      .indent = (size_t)(start - begin),
                      .column = zero == NULL ? 0 : (size_t)(zero - begin) + 1};
    lines->n++;
    return ACQ_OK;
}

acq_status acq_lines_next(acq_lines *lines, bool may_wait, acq_line *out, acq_error *error)
{
    *out = (acq_line){0};
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && out->text == NULL) {
        size_t rest = lines->end - lines->begin;
        char *begin = rest == 0 ? NULL : lines->bytes + lines->begin;
        char *end = rest == 0 ? NULL : memchr(begin, '\n', rest);
        if (end == NULL && !lines->is_over) {
            if (!may_wait && !lines->is_file)
                return ACQ_OK;
            status = read_more(lines, error);
            continue;
        }
        if (rest == 0)
            break;
        end = end == NULL ? begin + rest : end;
        status = cut_line(lines, begin, end, out, error);
        lines->begin += (size_t)(end - begin) + (end < begin + rest);
    }
    if (status != ACQ_OK || out->text != NULL || lines->n > 0)
        return status;
    acq_fail(error, ACQ_ERR_INPUT, "no query in this file; write one per line");
    acq_error_set_file(error, lines->path);
    return ACQ_ERR_INPUT;
}

void acq_line_move_error(const acq_line *line, const char *path, acq_error *error)
{
    if (error->file[0] != '\0')
        return;
    error->column += error->column > 0 ? line->indent : 0;
    error->line = line->number;
    acq_error_set_file(error, path);
}

acq_status acq_line_check(const acq_line *line, const char *path, acq_error *error)
{
    if (line->column == 0)
        return ACQ_OK;
    acq_fail_at(error, ACQ_ERR_PARSE, line->number, line->column,
                "a zero byte in a query; write queries as UTF-8 text");
    acq_error_set_file(error, path);
    return ACQ_ERR_PARSE;
}
