/* question.c - see question.h. */
#include "cli/question.h"

#include <string.h>

#include "base/budget.h"
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
    acq_search_result result;
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
    acq_search_result_deinit(&now.result);
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
