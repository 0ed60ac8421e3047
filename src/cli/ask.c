/* ask.c - `anycq ask`: one query from the command line, or many from a file; `anycq check`: is this
 * tuple an answer?
 *
 * Many queries are answered in chunks, each by --threads threads into its own outputs, which
 * are then printed in the order of the file: what is printed does not depend on the number of
 * threads. A bad query is reported and the others still run. */
#include "base/memory.h"
#include "base/threads.h"
#include "cli/question.h"
#include "cli/setup.h"
#include "cli/width.h"

enum { CHUNK_PER_THREAD = 16 };

typedef struct batch {
    const acq_options *options;
    const acq_predictor *predictor;
    acq_engine_params params;
    const acq_lines *lines;
    size_t first; /* line of item 0 of the chunk */
    acq_output *outputs;
    int *codes;
} batch;

static void print_heading(const acq_line *line, bool is_first, acq_text *out)
{
    if (!is_first)
        acq_text_add_char(out, '\n');
    size_t start = out->length;
    acq_text_format(out, "%zu: ", line->number);
    acq_width_add_cut(out, line->text, ACQ_COLUMNS - acq_width_since(out, start));
    acq_text_add_char(out, '\n');
}

static acq_status answer_line(void *context, size_t item, unsigned thread)
{
    (void)thread;
    batch *b = context;
    size_t i = b->first + item;
    const acq_line *line = &b->lines->items[i];
    acq_output *output = &b->outputs[item];
    if (!b->options->json)
        print_heading(line, i == 0, &output->data);
    acq_question question = {.options = b->options,
                             .predictor = b->predictor,
                             .params = b->params,
                             .text = line->text,
                             .file = b->options->queries.items[0],
                             .line = line->number,
                             .indent = line->indent,
                             .stream = i};
    b->codes[item] = acq_question_answer(&question, output);
    return ACQ_OK;
}

static int run_chunk(batch *b, size_t n, unsigned n_threads)
{
    for (size_t i = 0; i < n; i++)
        acq_output_init(&b->outputs[i]);
    int code = ACQ_EXIT_YES;
    if (acq_threads_run(n_threads, n, answer_line, b) != ACQ_OK)
        code = ACQ_EXIT_SYSTEM;
    for (size_t i = 0; i < n; i++)
        code = acq_report_worse(code, acq_output_finish(&b->outputs[i], b->codes[i]));
    return code;
}

static int run_lines(batch *b)
{
    unsigned n_threads = (unsigned)b->options->threads;
    size_t chunk = n_threads == 1 ? 1 : (size_t)n_threads * CHUNK_PER_THREAD;
    b->outputs = acq_zalloc(chunk, sizeof *b->outputs);
    b->codes = acq_zalloc(chunk, sizeof *b->codes);
    int code = ACQ_EXIT_YES;
    if (b->outputs == NULL || b->codes == NULL) {
        acq_error error = {0};
        acq_fail_memory(&error);
        code = acq_report_failure(b->options, &error);
        b->first = b->lines->n;
    }
    for (; b->first < b->lines->n; b->first += chunk) {
        size_t rest = b->lines->n - b->first;
        code = acq_report_worse(code, run_chunk(b, rest < chunk ? rest : chunk, n_threads));
    }
    acq_free(b->outputs);
    acq_free(b->codes);
    return code;
}

static int ask_many(const acq_options *options, const acq_predictor *predictor,
                    const acq_engine_params *params)
{
    acq_error error = {0};
    acq_lines lines;
    int code;
    if (acq_lines_init(&lines, options->queries.items[0], &error) == ACQ_OK) {
        batch b = {.options = options, .predictor = predictor, .params = *params, .lines = &lines};
        code = run_lines(&b);
    } else {
        code = acq_report_failure(options, &error);
    }
    acq_lines_deinit(&lines);
    return code;
}

static int ask_one(const acq_options *options, const acq_predictor *predictor,
                   const acq_engine_params *params, acq_output *output)
{
    acq_question question = {.options = options,
                             .predictor = predictor,
                             .params = *params,
                             .text = options->args.items[1]};
    return acq_question_answer(&question, output);
}

static acq_status check_options(const acq_options *options, acq_error *error)
{
    bool has_file = options->queries.n > 0, has_query = options->args.n == 2;
    if (!has_file && !has_query)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "ask needs a query, or a file of them with --queries FILE");
    if (has_file && has_query)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "ask takes a query or --queries FILE, not both (query \"%.100s\")",
                        options->args.items[1]);
    if (options->queries.n > 1)
        return acq_fail(error, ACQ_ERR_USAGE, "ask takes one --queries FILE, not %zu",
                        options->queries.n);
    if (options->all && acq_options_has(options, limit))
        return acq_fail(error, ACQ_ERR_USAGE, "ask takes --limit or --all, not both");
    return ACQ_OK;
}

static int ask(const acq_options *options, const acq_setup *setup, acq_engine_params *params,
               acq_output *output)
{
    params->search.policy.policy = setup->policy;
    if (options->queries.n == 0)
        return ask_one(options, setup->predictor, params, output);
    return acq_report_worse(acq_output_flush(output, ACQ_EXIT_YES),
                            ask_many(options, setup->predictor, params));
}

int acq_cli_ask(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_setup setup = {0};
    acq_engine_params params;
    acq_output_init(&output);
    output.streams = options->queries.n == 0;
    int code;
    if (check_options(options, &error) != ACQ_OK ||
        acq_setup_read_params(options, &params, &error) != ACQ_OK ||
        acq_setup_init(&setup, options, options->args.items[0], &output, &error) != ACQ_OK ||
        acq_setup_check_calibrator(options, &params, setup.predictor, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, NULL);
    else
        code = ask(options, &setup, &params, &output);
    acq_setup_deinit(&setup);
    return acq_output_finish(&output, code);
}

/* ---- check ---- */

static int check(const acq_options *options, const acq_setup *setup, acq_engine_params *params,
                 acq_output *output)
{
    params->search.policy.policy = setup->policy;
    acq_question question = {.options = options,
                             .predictor = setup->predictor,
                             .params = *params,
                             .text = options->args.items[1],
                             .values = options->args.items + 2,
                             .n_values = options->args.n - 2,
                             .is_check = true};
    return acq_question_answer(&question, output);
}

int acq_cli_check(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_setup setup = {0};
    acq_engine_params params;
    acq_output_init(&output);
    output.streams = true;
    int code;
    if (acq_setup_read_params(options, &params, &error) != ACQ_OK ||
        acq_setup_init(&setup, options, options->args.items[0], &output, &error) != ACQ_OK ||
        acq_setup_check_calibrator(options, &params, setup.predictor, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, NULL);
    else
        code = check(options, &setup, &params, &output);
    acq_setup_deinit(&setup);
    return acq_output_finish(&output, code);
}
