/* question.c - see question.h. */
#include "cli/question.h"

#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/setup.h"
#include "cli/view.h"

/* Places in a text count from its own start; in a file of queries, from the file's. The text has
 * lost its indentation, so only one that begins and ends as in the file is shown with the error. */
static int report(const acq_question *question, acq_error *error, acq_output *output)
{
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

static int show(acq_question *question, acq_view *view, acq_output *output)
{
    size_t start = output->data.length;
    question->is_predicted = acq_result_get_outcome(view->result) != ACQ_RESULT_ANSWERED;
    acq_reason_view reasons = {.graph = question->graph, .predictor = question->predictor};
    view->is_predicted = &question->is_predicted;
    view->reasons = &reasons;
    view->stats.size = sizeof view->stats;
    acq_result_get_stats(view->result, &view->stats);
    if (question->options->json)
        acq_view_print_json(view, output);
    else if (question->options->separator != '\0')
        acq_view_print_table(view, output);
    else
        acq_view_print(view, output);
    acq_error error = {0};
    if (acq_setup_check_names(question->graph, output, start, &error) != ACQ_OK)
        return report(question, &error, output);
    return acq_view_get_exit_code(view);
}

static acq_status search(const acq_question *question, const acq_query *query,
                         const acq_ask_params *params, acq_result **out, acq_error *error)
{
    if (!question->is_check)
        return acq_ask(query, question->predictor, params, out, error);
    return acq_check(query, question->predictor, question->values, question->n_values, params, out,
                     error);
}

static int run(acq_question *question, const acq_query *query, acq_output *output)
{
    acq_error error = {0};
    acq_result *result = NULL;
    acq_trace trace;
    acq_trace_init(&trace, output, question->options->json);
    acq_ask_params params = *question->params;
    params.limit = choose_limit(question, query);
    params.stream = question->stream;
    params.trace = question->options->trace ? acq_trace_add : NULL;
    params.context = &trace;
    acq_status status = search(question, query, &params, &result, &error);
    acq_trace_finish(&trace);
    acq_view view = {.options = question->options,
                     .params = &params,
                     .graph = question->graph,
                     .predictor = question->predictor,
                     .query = query,
                     .text = question->text,
                     .line = question->line == NULL ? 0 : question->line->number,
                     .result = result,
                     .is_check = question->is_check,
                     .trace = question->options->trace ? &trace : NULL};
    int code = status == ACQ_OK ? show(question, &view, output) : report(question, &error, output);
    acq_trace_deinit(&trace);
    acq_result_free(result);
    return code;
}

int acq_question_answer(acq_question *question, acq_output *output)
{
    acq_error error = {0};
    acq_query *query;
    if (read_query(question, output, &query, &error) != ACQ_OK)
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
