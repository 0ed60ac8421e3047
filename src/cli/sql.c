/* sql.c - `anycq sql`: queries as SQL statements, one per line, each with its semicolon.
 *
 * No graph is read: names stay names. Instances of a benchmark file are grounded in integer
 * ids, so their statements run on tables of ids. */
#include "query/sql.h"

#include <string.h>

#include "base/memory.h"
#include "eval/files.h"
#include "cli/question.h"
#include "cli/options.h"
#include "cli/report.h"
#include "query/benchmark/formula.h"

static void add_statement(acq_text *out, const acq_text *statement)
{
    for (size_t i = 0; i < statement->length; i++)
        acq_text_add_char(out, statement->bytes[i] == '\n' ? ' ' : statement->bytes[i]);
    acq_text_add(out, ";\n");
}

static acq_status print_query(const acq_query *query, bool use_ids, acq_text *out, acq_error *error)
{
    acq_sql_params params = ACQ_SQL_DEFAULT;
    params.use_ids = use_ids;
    acq_text statement;
    acq_text_init(&statement);
    acq_status status = acq_query_print_sql(query, &params, &statement, error);
    if (status == ACQ_OK)
        add_statement(out, &statement);
    acq_text_deinit(&statement);
    return status;
}

static acq_status print_text(const char *text, acq_text *out, acq_error *error)
{
    acq_query *query;
    acq_status status = acq_query_parse(text, strlen(text), &query, error);
    if (status != ACQ_OK)
        return status;
    status = print_query(query, false, out, error);
    acq_query_free(query);
    return status;
}

static acq_status print_line(const acq_line *line, const char *path, acq_text *out,
                             acq_error *error)
{
    acq_status status = acq_line_check(line, path, error);
    if (status == ACQ_OK)
        status = print_text(line->text, out, error);
    if (status != ACQ_OK)
        acq_line_move_error(line, path, error);
    return status;
}

static int print_lines(const acq_options *options, acq_output *output)
{
    acq_error error = {0};
    acq_lines lines;
    acq_line line = {0};
    const char *path = options->queries.items[0];
    size_t most = acq_options_has(options, first) ? (size_t)options->first : SIZE_MAX;
    int code = ACQ_EXIT_YES;
    acq_status status = acq_lines_init(&lines, path, &error);
    while (status == ACQ_OK && lines.n < most) {
        status = acq_lines_next(&lines, true, &line, &error);
        if (status != ACQ_OK || line.text == NULL)
            break;
        acq_error bad = {0};
        if (print_line(&line, path, &output->data, &bad) != ACQ_OK)
            code = acq_report_worse(code, acq_report_error(output, options, &bad, NULL));
        acq_free(line.text);
        code = acq_output_flush(output, code);
    }
    if (status != ACQ_OK)
        code = acq_report_worse(code, acq_report_error(output, options, &error, NULL));
    acq_lines_deinit(&lines);
    return code;
}

static acq_status print_instance(const acq_bench_file *file, const acq_bench_instance *instance,
                                 acq_text *out, acq_error *error)
{
    const acq_bench_formula *formula = &file->formulas[instance->formula];
    acq_status status = acq_query_ground_pairs(formula->query, formula->names, instance->ids,
                                               formula->n_names, error);
    return status == ACQ_OK ? print_query(formula->query, true, out, error) : status;
}

/* The two kinds of files differ in what an instance holds: the one that its name promises is
 * tried first, and its error counts when neither fits. */
static acq_status read_benchmark(const char *path, acq_bench_file **out, acq_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    bool is_retrieval = strncmp(name, "qar", 3) == 0;
    acq_bench_limits any = {.n_entities = UINT32_MAX, .n_relations = UINT32_MAX};
    acq_bench_task likely = is_retrieval ? ACQ_TASK_QAR : ACQ_TASK_QAC;
    acq_bench_task other = is_retrieval ? ACQ_TASK_QAC : ACQ_TASK_QAR;
    acq_status status = acq_bench_file_read(path, likely, any, out, error);
    if (status == ACQ_OK || status == ACQ_ERR_IO || status == ACQ_ERR_MEMORY)
        return status;
    return acq_bench_file_read(path, other, any, out, NULL) == ACQ_OK ? ACQ_OK : status;
}

static int print_benchmark(const acq_options *options, acq_output *output)
{
    acq_error error = {0};
    acq_bench_file *file;
    acq_status status = read_benchmark(options->queries.items[0], &file, &error);
    if (status != ACQ_OK)
        return acq_report_error(output, options, &error, NULL);
    size_t n = file->n_instances;
    if (acq_options_has(options, first) && options->first < n)
        n = options->first;
    for (size_t i = 0; status == ACQ_OK && i < n; i++)
        status = print_instance(file, &file->instances[i], &output->data, &error);
    acq_bench_file_free(file);
    return status == ACQ_OK ? ACQ_EXIT_YES : acq_report_error(output, options, &error, NULL);
}

static bool is_json(const char *path)
{
    size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

static acq_status check_options(const acq_options *options, acq_error *error)
{
    if (options->queries.n > 1)
        return acq_fail(error, ACQ_ERR_USAGE, "sql takes one --queries FILE, not %zu",
                        options->queries.n);
    if (options->queries.n + options->args.n != 1)
        return acq_fail(error, ACQ_ERR_USAGE, "sql takes either a query or --queries FILE");
    return ACQ_OK;
}

int acq_cli_sql(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_output_init(&output);
    int code = ACQ_EXIT_YES;
    if (check_options(options, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, NULL);
    else if (options->queries.n == 1 && is_json(options->queries.items[0]))
        code = print_benchmark(options, &output);
    else if (options->queries.n == 1)
        code = print_lines(options, &output);
    else if (print_text(options->args.items[0], &output.data, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, options->args.items[0]);
    return acq_output_finish(&output, code);
}
