/* question.c - see question.h. */
#include "cli/question.h"

#include <string.h>

#include "base/budget.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/setup.h"
#include "cli/view.h"
#include "engine/values.h"

/* Places in a text count from its own start; in a file of queries, from the file's. The text has
 * lost its indentation, so it is not shown where it had one. An error of the graph's file has
 * its own place. */
static int report(const acq_question *question, acq_error *error, acq_output *output)
{
    const char *source = error->line > 0 && question->indent == 0 ? question->text : NULL;
    if (question->file != NULL && error->file[0] == '\0') {
        error->line = question->line;
        error->column += error->column > 0 ? question->indent : 0;
        acq_error_set_file(error, question->file);
    }
    return acq_report_error(output, question->options, error, source);
}

static acq_status read_query(const acq_question *question, acq_output *output, acq_query **out,
                             acq_error *error)
{
    char hint[512] = "";
    acq_query *query;
    acq_status status = acq_query_parse(question->text, strlen(question->text), &query, error);
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
    return acq_values_find(query, question->predictor->graph, question->values, question->n_values,
                           values, error);
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
    const acq_question *question;
    acq_engine_params params;
    const acq_query *query;
    const acq_ent *values; /* check */
    acq_trace trace;
    acq_engine_result result;
    double ms;
} answering;

static int show(const answering *now, acq_output *output)
{
    const acq_question *question = now->question;
    const acq_predictor *prepared = now->result.prepared;
    acq_view view = {.options = question->options,
                     .params = &now->params,
                     .predictor = prepared == NULL ? question->predictor : prepared,
                     .query = now->query,
                     .text = question->text,
                     .line = question->line,
                     .result = &now->result,
                     .ms = now->ms,
                     .is_check = question->is_check,
                     .values = now->values,
                     .trace = question->options->trace ? &now->trace : NULL};
    size_t start = output->data.length;
    if (question->options->json)
        acq_view_print_json(&view, output);
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

static int run(const acq_question *question, const acq_query *query, const acq_ent *values,
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

int acq_question_answer(const acq_question *question, acq_output *output)
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

/* ---- files of queries: read whole and cut in place ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Appends the line [begin, end) unless it is blank or a comment. */
static acq_status add_line(acq_lines *lines, size_t *capacity, char *begin, char *end,
                           size_t number)
{
    char *start = begin;
    while (start < end && is_space(*start))
        start++;
    while (end > start && is_space(end[-1]))
        end--;
    *end = '\0';
    if (*start == '\0' || *start == '#')
        return ACQ_OK;
    if (ACQ_RESERVE(lines->items, *capacity, lines->n + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    lines->items[lines->n++] =
        (acq_line){.text = start, .number = number, .indent = (size_t)(start - begin)};
    return ACQ_OK;
}

static acq_status cut(acq_lines *lines, size_t n_bytes)
{
    char *begin = lines->bytes, *end_of_file = lines->bytes + n_bytes;
    if (n_bytes >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0)
        begin += 3;
    size_t capacity = 0;
    for (size_t number = 1; begin < end_of_file; number++) {
        char *end = memchr(begin, '\n', (size_t)(end_of_file - begin));
        end = end == NULL ? end_of_file : end;
        if (add_line(lines, &capacity, begin, end, number) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        begin = end + 1;
    }
    return ACQ_OK;
}

acq_status acq_lines_init(acq_lines *lines, const char *path, acq_error *error)
{
    *lines = (acq_lines){0};
    size_t n_bytes;
    acq_status status = acq_file_read(path, &lines->bytes, &n_bytes, error);
    if (status != ACQ_OK)
        return status;
    if (cut(lines, n_bytes) != ACQ_OK)
        return acq_fail_memory(error);
    if (lines->n > 0)
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_INPUT, "no query in this file; write one per line");
    acq_error_set_file(error, path);
    return ACQ_ERR_INPUT;
}

void acq_lines_deinit(acq_lines *lines)
{
    acq_free(lines->bytes);
    acq_free(lines->items);
    *lines = (acq_lines){0};
}
