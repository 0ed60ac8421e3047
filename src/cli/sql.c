/* sql.c - commands that only translate: `anycq sql`, queries as SQL statements, one per line, each
 * with its semicolon (acq_sql_translate), and `anycq draw`. No graph is read. */
#include <string.h>

#include "base/memory.h"
#include "cli/options.h"
#include "cli/question.h"
#include "cli/report.h"
#include "cli/setup.h"

static acq_status put(void *out, const char *bytes, size_t length, acq_error *error)
{
    (void)error; /* memory that is missing shows when the output is flushed */
    acq_text_add_bytes(out, bytes, length);
    return ACQ_OK;
}

static acq_status print_line(const acq_line *line, const char *path, acq_text *out,
                             acq_error *error)
{
    acq_status status = acq_line_check(line, path, error);
    if (status == ACQ_OK)
        status = acq_sql_translate(line->text, put, out, error);
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
        code = acq_sql_translate_file(options->queries.items[0], options->first, put, &output.data,
                                      &error) == ACQ_OK
                   ? ACQ_EXIT_YES
                   : acq_report_error(&output, options, &error, NULL);
    else if (options->queries.n == 1)
        code = print_lines(options, &output);
    else if (acq_sql_translate(options->args.items[0], put, &output.data, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, options->args.items[0]);
    return acq_output_finish(&output, code);
}

/* ---- draw ----
 *
 * `anycq draw`: a picture of a query. */

int acq_cli_draw(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_output_init(&output);
    int code = ACQ_EXIT_YES;
    acq_status status =
        options->output == NULL
            ? acq_fail(&error, ACQ_ERR_USAGE, "say where to draw: -o FILE.svg")
            : acq_setup_check_outputs(options, &error);
    if (status == ACQ_OK)
        status = acq_draw(options->args.items[0], options->output, &error);
    if (status != ACQ_OK)
        code = acq_report_error(&output, options, &error,
                                error.file[0] == '\0' ? options->args.items[0] : NULL);
    return acq_output_finish(&output, code);
}
