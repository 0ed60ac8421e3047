/* question.c - see question.h. */
#include "cli/question.h"

#include <string.h>

#include "base/budget.h"
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
    char hint[512] = "";
    acq_query *query;
    acq_status status = ACQ_OK;
    if (question->line != NULL)
        status = acq_line_check(question->line, question->file, error);
    if (status == ACQ_OK)
        status = acq_query_parse(question->text, strlen(question->text), &query, error);
    if (status != ACQ_OK)
        return status;
    status = acq_query_bind(query, question->predictor->graph, hint, sizeof hint, error);
    if (status != ACQ_OK) {
        acq_query_free(query);
        return status;
    }
    if (hint[0] != '\0')
        acq_report_note(output, "%s", hint);
    *out = query;
    return ACQ_OK;
}

/* The entities that a check asks about; *out is NULL for an ask. */
static acq_status find_values(const acq_question *question, const acq_query *query, acq_ent **out,
                              acq_error *error)
{
    *out = NULL;
    if (!question->is_check)
        return ACQ_OK;
    acq_ent *values = acq_alloc(query->n_free, sizeof *values);
    if (values == NULL)
        return acq_fail_memory(error);
    *out = values;
    return acq_query_find_values(query, question->predictor->graph, question->values,
                                 question->n_values, values, error);
}

static uint64_t choose_limit(const acq_question *question, const acq_query *query)
{
    const acq_options *options = question->options;
    if (options->all)
        return 0;
    if (acq_options_has(options, limit))
        return options->limit;
    return query->limit > 0 ? query->limit : 1;
}

/* Everything that belongs to the answering of one question. */
typedef struct answering {
    acq_question *question;
    acq_engine_params params;
    const acq_query *query;
    const acq_ent *values; /* check */
    acq_trace trace;
    acq_engine_result result;
    double ms;
} answering;

static int show(const answering *now, acq_output *output)
{
    acq_question *question = now->question;
    const acq_predictor *prepared = now->result.prepared;
    acq_view view = {.options = question->options,
                     .params = &now->params,
                     .predictor = prepared == NULL ? question->predictor : prepared,
                     .query = now->query,
                     .text = question->text,
                     .line = question->line == NULL ? 0 : question->line->number,
                     .result = &now->result,
                     .ms = now->ms,
                     .is_check = question->is_check,
                     .values = now->values,
                     .trace = question->options->trace ? &now->trace : NULL,
                     .is_predicted = &question->is_predicted};
    question->is_predicted = now->result.outcome != ACQ_ANSWERED;
    size_t start = output->data.length;
    if (question->options->json)
        acq_view_print_json(&view, output);
    else if (question->options->separator != '\0')
        acq_view_print_table(&view, output);
    else
        acq_view_print(&view, output);
    acq_error error = {0};
    if (acq_setup_check_names(question->predictor->graph, output, start, &error) != ACQ_OK)
        return report(question, &error, output);
    return acq_view_get_exit_code(&view);
}

static acq_status search(answering *now, acq_error *error)
{
    const acq_question *question = now->question;
    const acq_predictor *predictor = question->predictor;
    int64_t start = acq_clock_ns();
    acq_status status = question->is_check ? acq_engine_check(now->query, predictor, now->values,
                                                              &now->params, &now->result, error)
                                           : acq_engine_ask(now->query, predictor, &now->params,
                                                            &now->result, error);
    now->ms = (double)(acq_clock_ns() - start) / 1e6;
    acq_trace_finish(&now->trace);
    return status;
}

static int run(acq_question *question, const acq_query *query, const acq_ent *values,
               acq_output *output)
{
    acq_error error = {0};
    answering now = {.question = question,
                     .params = acq_engine_settle(&question->params, question->predictor),
                     .query = query,
                     .values = values};
    acq_search_params *params = &now.params.search;
    params->limit = choose_limit(question, query);
    params->stream = question->stream;
    acq_trace_init(&now.trace, output, question->options->json);
    if (question->options->trace) {
        params->policy.trace = acq_trace_add;
        params->policy.context = &now.trace;
    }
    int code =
        search(&now, &error) == ACQ_OK ? show(&now, output) : report(question, &error, output);
    acq_trace_deinit(&now.trace);
    acq_engine_result_deinit(&now.result);
    return code;
}

int acq_question_answer(acq_question *question, acq_output *output)
{
    acq_error error = {0};
    acq_query *query;
    acq_ent *values = NULL;
    if (read_query(question, output, &query, &error) != ACQ_OK)
        return report(question, &error, output);
    int code = find_values(question, query, &values, &error) == ACQ_OK
                   ? run(question, query, values, output)
                   : report(question, &error, output);
    acq_free(values);
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
