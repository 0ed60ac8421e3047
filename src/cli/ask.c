/* ask.c - `anycq ask`: one query from the command line, or many from a file; `anycq check`: is this
 * tuple an answer?
 *
 * Many queries are answered in chunks, each by --threads threads into its own outputs, which
 * are then printed in the order of the file: what is printed does not depend on the number of
 * threads. A chunk ends where a pipe has no further line yet, so a program that writes a query
 * and waits for the answer gets it. A bad query is reported and the others still run. */
#include "base/memory.h"
#include "base/threads.h"
#include "cli/interrupt.h"
#include "cli/question.h"
#include "cli/setup.h"
#include "cli/table.h"

enum { CHUNK_PER_THREAD = 16 };

typedef struct batch {
    const acq_options *options;
    const acq_setup *setup;
    const acq_ask_params *params;
    size_t first;    /* number of item 0 of the chunk among all queries */
    acq_line *lines; /* of the chunk, as the others */
    acq_output *outputs;
    int *codes;
    bool *is_predicted; /* of the chunk's answers */
    bool is_noted;      /* the default predictor was mentioned */
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
    const acq_line *line = &b->lines[item];
    acq_output *output = &b->outputs[item];
    if (!b->options->json && b->options->separator == '\0')
        print_heading(line, i == 0, &output->data);
    acq_question question = {.options = b->options,
                             .graph = b->setup->graph,
                             .predictor = b->setup->predictor,
                             .params = b->params,
                             .text = line->text,
                             .file = b->options->queries.items[0],
                             .line = line,
                             .stream = i};
    b->codes[item] = acq_question_answer(&question, output);
    b->is_predicted[item] = question.is_predicted;
    return ACQ_OK;
}

static int run_chunk(batch *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        acq_output_init(&b->outputs[i]);
    int code = ACQ_EXIT_YES;
    acq_interrupt_hold(NULL, 0);
    if (acq_threads_run((unsigned)b->options->threads, n, answer_line, b) != ACQ_OK)
        code = ACQ_EXIT_SYSTEM;
    acq_interrupt_release();
    for (size_t i = 0; i < n; i++) {
        if (b->is_predicted[i] && !b->is_noted) {
            acq_setup_note_auto(b->options, b->setup->predictor, &b->outputs[i]);
            b->is_noted = true;
        }
        code = acq_report_worse(code, acq_output_finish(&b->outputs[i], b->codes[i]));
        acq_free(b->lines[i].text);
    }
    b->first += n;
    return code;
}

/* At most `room` lines; *n is 0 at the end of the file. After an error *n lines are there. */
static acq_status read_chunk(batch *b, acq_lines *lines, size_t room, size_t *n, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (*n = 0; status == ACQ_OK && *n < room; (*n)++) {
        status = acq_lines_next(lines, *n == 0, &b->lines[*n], error);
        if (status != ACQ_OK || b->lines[*n].text == NULL)
            break;
    }
    return status;
}

static int run_lines(batch *b, acq_lines *lines, size_t room)
{
    acq_error error = {0};
    acq_status status;
    size_t n;
    int code = ACQ_EXIT_YES;
    do {
        status = read_chunk(b, lines, room, &n, &error);
        if (n > 0)
            code = acq_report_worse(code, run_chunk(b, n));
    } while (status == ACQ_OK && n > 0 && !acq_interrupt_is_asked());
    if (acq_interrupt_is_asked())
        return ACQ_EXIT_INTERRUPTED;
    return status == ACQ_OK ? code : acq_report_worse(code, acq_report_failure(b->options, &error));
}

static int ask_many(const acq_options *options, const acq_setup *setup,
                    const acq_ask_params *params)
{
    acq_error error = {0};
    acq_lines lines;
    size_t room = options->threads == 1 ? 1 : (size_t)options->threads * CHUNK_PER_THREAD;
    batch b = {.options = options,
               .setup = setup,
               .params = params,
               .lines = acq_zalloc(room, sizeof *b.lines),
               .outputs = acq_zalloc(room, sizeof *b.outputs),
               .codes = acq_zalloc(room, sizeof *b.codes),
               .is_predicted = acq_zalloc(room, sizeof *b.is_predicted)};
    acq_status status = acq_lines_init(&lines, options->queries.items[0], &error);
    bool has_room = b.lines != NULL && b.outputs != NULL && b.codes != NULL;
    if (status == ACQ_OK && (!has_room || b.is_predicted == NULL))
        status = acq_fail_memory(&error);
    int code = status == ACQ_OK ? run_lines(&b, &lines, room) : acq_report_failure(options, &error);
    acq_lines_deinit(&lines);
    acq_free(b.lines);
    acq_free(b.outputs);
    acq_free(b.codes);
    acq_free(b.is_predicted);
    return code;
}

/* A query of the command line. An interrupt gives what was found. */
static int answer_one(acq_question *question, acq_output *output)
{
    acq_interrupt_hold(NULL, 0);
    int code = acq_question_answer(question, output);
    if (question->is_predicted)
        acq_setup_note_auto(question->options, question->predictor, output);
    acq_interrupt_release();
    return acq_interrupt_is_asked() ? ACQ_EXIT_INTERRUPTED : code;
}

static int ask_one(const acq_options *options, const acq_setup *setup, const acq_ask_params *params,
                   acq_output *output)
{
    acq_question question = {.options = options,
                             .graph = setup->graph,
                             .predictor = setup->predictor,
                             .params = params,
                             .text = options->args.items[1]};
    return answer_one(&question, output);
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

/* ---- --cover C: the smallest set of entities that contains the true one with probability C ----
 */

typedef struct covering {
    const acq_options *options;
    const acq_setup *setup;
    const acq_query *query;
    acq_covering *set;
    acq_cover_report report;
} covering;

static void print_set(const covering *s, acq_text *out)
{
    for (size_t i = 0; i < acq_covering_get_n(s->set); i++) {
        const acq_covered *one = acq_covering_get(s->set, i);
        acq_width_add(out, acq_query_get_variable(s->query, 0));
        acq_text_add(out, " = ");
        acq_width_add(out, acq_graph_get_entity_name(s->setup->graph, one->entity));
        if (one->p > 0)
            acq_text_format(out, "  p %.4g", one->p);
        acq_text_add_char(out, '\n');
    }
    if (acq_covering_get_n(s->set) == 0)
        acq_text_add(out, "none\n");
}

static void print_set_table(const covering *s, acq_text *out)
{
    const char *const names[] = {acq_query_get_variable(s->query, 0), "p"};
    acq_table table = {.out = out, .separator = s->options->separator};
    acq_table_add_line(&table, names, 2);
    for (size_t i = 0; i < acq_covering_get_n(s->set); i++) {
        const acq_covered *one = acq_covering_get(s->set, i);
        acq_table_add_text(&table, acq_graph_get_entity_name(s->setup->graph, one->entity));
        acq_table_add_number(&table, one->p);
        acq_table_end_line(&table);
    }
}

static void print_set_json(const covering *s, acq_text *out)
{
    json_t *set = json_array(), *object = json_object();
    for (size_t i = 0; i < acq_covering_get_n(s->set); i++) {
        const acq_covered *one = acq_covering_get(s->set, i);
        json_t *member = json_object();
        json_object_set_new(member, "name",
                            acq_json_text(acq_graph_get_entity_name(s->setup->graph, one->entity)));
        json_object_set_new(member, "p", json_real(one->p));
        json_array_append_new(set, member);
    }
    json_object_set_new(object, "query", acq_json_text(s->options->args.items[1]));
    json_object_set_new(object, "cover", json_real(s->report.level));
    json_object_set_new(object, "size", acq_json_count(acq_covering_get_n(s->set)));
    json_object_set_new(object, "set", set);
    json_object_set_new(object, "observed", acq_json_count(s->report.observed));
    json_object_set_new(object, "held", acq_json_count(s->report.held));
    json_object_set_new(object, "pooled", json_boolean(s->report.is_pooled));
    acq_json_add_line(out, object);
}

static void show_set(const covering *s, acq_output *output)
{
    const acq_cover_report *report = &s->report;
    if (s->options->json)
        print_set_json(s, &output->data);
    else if (s->options->separator != '\0')
        print_set_table(s, &output->data);
    else
        print_set(s, &output->data);
    if (acq_covering_get_n(s->set) == 0)
        acq_report_note(output,
                        "an empty set: the share %g of the %llu facts%s that fit held out was "
                        "likelier than anything here",
                        report->level, (unsigned long long)report->held,
                        report->is_pooled ? " of all relations" : "");
    else
        acq_report_note(output,
                        "%zu of %llu entities; a missing one is among them with probability %g, if "
                        "missing facts are like the %llu%s that fit held out",
                        acq_covering_get_n(s->set), (unsigned long long)report->entities,
                        report->level, (unsigned long long)report->held,
                        report->is_pooled ? " of all relations" : "");
}

static int cover(const acq_options *options, const acq_setup *setup, acq_output *output)
{
    acq_error error = {0};
    acq_cover_params params;
    acq_query *query = NULL;
    covering s = {.options = options, .setup = setup, .report.size = sizeof s.report};
    acq_cover_params_init(&params);
    params.level = options->cover;
    if (options->args.n < 2)
        acq_fail(&error, ACQ_ERR_USAGE, "--cover takes one query on the command line");
    else if (acq_query_new(setup->graph, options->args.items[1], &query, &error) == ACQ_OK)
        (void)acq_cover_find(query, setup->predictor, &params, &s.set, &error);
    s.query = query;
    acq_covering_get_report(s.set, &s.report);
    if (error.code == ACQ_OK) {
        show_set(&s, output);
        (void)acq_setup_check_names(setup->graph, output, 0, &error);
    }
    int code = error.code == ACQ_OK
                   ? (acq_covering_get_n(s.set) > 0 ? ACQ_EXIT_YES : ACQ_EXIT_NO)
                   : acq_report_error(output, options, &error,
                                      error.line > 0 ? options->args.items[1] : NULL);
    acq_covering_free(s.set);
    acq_query_free(query);
    return code;
}

/* ---- the commands ---- */

static int ask(const acq_options *options, const acq_setup *setup, acq_ask_params *params,
               acq_output *output)
{
    params->policy = setup->policy;
    if (acq_options_has(options, cover))
        return cover(options, setup, output);
    if (options->queries.n == 0)
        return ask_one(options, setup, params, output);
    int flushed = acq_output_flush(output, ACQ_EXIT_YES), code = ask_many(options, setup, params);
    return code == ACQ_EXIT_INTERRUPTED ? code : acq_report_worse(flushed, code);
}

int acq_cli_ask(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_setup setup = {0};
    acq_ask_params params;
    acq_output_init(&output);
    output.streams = options->queries.n == 0;
    int code;
    if (check_options(options, &error) != ACQ_OK ||
        acq_setup_read_ask(options, &params, &error) != ACQ_OK ||
        acq_setup_init(&setup, options, options->args.items[0], &output, &error) != ACQ_OK ||
        acq_setup_check_calibrator(options, setup.predictor, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, NULL);
    else
        code = ask(options, &setup, &params, &output);
    acq_setup_deinit(&setup);
    return acq_output_finish(&output, code);
}

/* ---- check ---- */

static int check(const acq_options *options, const acq_setup *setup, acq_ask_params *params,
                 acq_output *output)
{
    params->policy = setup->policy;
    acq_question question = {.options = options,
                             .graph = setup->graph,
                             .predictor = setup->predictor,
                             .params = params,
                             .text = options->args.items[1],
                             .values = options->args.items + 2,
                             .n_values = options->args.n - 2,
                             .is_check = true};
    return answer_one(&question, output);
}

int acq_cli_check(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_setup setup = {0};
    acq_ask_params params;
    acq_output_init(&output);
    output.streams = true;
    int code;
    if (acq_setup_read_ask(options, &params, &error) != ACQ_OK ||
        acq_setup_init(&setup, options, options->args.items[0], &output, &error) != ACQ_OK ||
        acq_setup_check_calibrator(options, setup.predictor, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, NULL);
    else
        code = check(options, &setup, &params, &output);
    acq_setup_deinit(&setup);
    return acq_output_finish(&output, code);
}
