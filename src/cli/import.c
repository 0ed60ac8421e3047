/* import.c - `anycq import`: sources of facts into a new store, all or nothing. */
#include "cli/interrupt.h"
#include "cli/report.h"
#include "cli/progress.h"
#include "cli/width.h"
#include "store/import/import.h"

/* Where the store grows until it is complete, with what SQLite keeps beside it. */
typedef struct half_files {
    acq_text names[3];
} half_files;

/* The import has locked the file, so all of them are its own. Without memory for the names an
 * interrupt may leave them to the next import. */
static void hold_half_files(void *context, const char *partial)
{
    static const char *const endings[] = {"", "-journal", "-wal"};
    half_files *half = context;
    const char *paths[3];
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        acq_text_format(&half->names[i], "%s%s", partial, endings[i]);
        if (acq_text_finish(&half->names[i], NULL) == ACQ_OK)
            paths[n++] = half->names[i].bytes;
    }
    acq_interrupt_hold(paths, n);
}

static void release_half_files(half_files *half)
{
    acq_interrupt_release();
    for (size_t i = 0; i < 3; i++)
        acq_text_deinit(&half->names[i]);
}

static acq_status check_sources(const acq_options *options, acq_error *error)
{
    if (options->output == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "import needs a store to write: -o GRAPH");
    for (size_t i = 0; i < options->args.n; i++) {
        const char *path = options->args.items[i];
        if (!acq_store_is_database(path))
            continue;
        acq_fail(error, ACQ_ERR_USAGE,
                 "this is a store already; anycq export writes its facts as text, which import "
                 "takes");
        acq_error_set_file(error, path);
        return ACQ_ERR_USAGE;
    }
    return acq_reading_check_split(options, error);
}

static acq_status import(const acq_options *options, acq_output *output, acq_import_report *report,
                         acq_error *error)
{
    acq_status status = check_sources(options, error);
    if (status != ACQ_OK)
        return status;
    acq_reading reading;
    half_files half = {0};
    acq_reading_init(&reading, output);
    acq_import_params params = {.read = acq_reading_get_params(&reading, options),
                                .memory_bytes = (size_t)options->import_memory << 20,
                                .replace = options->replace,
                                .begin = hold_half_files,
                                .begin_context = &half};
    params.read.threads = (unsigned)options->import_threads;
    status =
        acq_import(options->args.items, options->args.n, options->output, &params, report, error);
    release_half_files(&half);
    const char *what = options->args.n == 1 ? options->args.items[0] : "all sources";
    acq_reading_finish(&reading, what, status == ACQ_OK ? &report->read : NULL);
    return status;
}

static double get_rate(const acq_import_report *report)
{
    return report->seconds > 0 ? (double)report->read.lines / report->seconds : 0;
}

static void print(const acq_options *options, const acq_import_report *report, acq_text *out)
{
    const acq_read_report *read = &report->read;
    acq_size_print_text(out, "graph", options->output);
    acq_size_print_count(out, "entities", report->n_entities);
    acq_size_print_count(out, "relations", report->n_relations);
    acq_size_print_count(out, "facts", report->n_facts);
    acq_size_print_read(out, read);
    acq_size_print_bytes(out, "size", report->file_bytes);
    char rate[64];
    acq_size_format_rate(get_rate(report), rate, sizeof rate);
    acq_text_format(out, "%-*s%.2f s, %s\n", ACQ_SIZE_LABEL, "time", report->seconds, rate);
    if (report->spilled_runs > 0)
        acq_size_print_count(out, "runs on disk", report->spilled_runs);
}

static void print_json(const acq_options *options, const acq_import_report *report, acq_text *out)
{
    json_t *sources = json_array();
    for (size_t i = 0; i < options->args.n; i++)
        json_array_append_new(sources, acq_json_text(options->args.items[i]));
    json_t *object = json_object();
    json_object_set_new(object, "graph", acq_json_text(options->output));
    json_object_set_new(object, "sources", sources);
    json_object_set_new(object, "entities", acq_json_count(report->n_entities));
    json_object_set_new(object, "relations", acq_json_count(report->n_relations));
    json_object_set_new(object, "facts", acq_json_count(report->n_facts));
    acq_json_set_read(object, &report->read);
    json_object_set_new(object, "bytes", acq_json_count(report->file_bytes));
    json_object_set_new(object, "spilled_runs", acq_json_count(report->spilled_runs));
    json_object_set_new(object, "seconds", json_real(report->seconds));
    json_object_set_new(object, "triples_per_second", json_real(get_rate(report)));
    acq_json_add_line(out, object);
}

int acq_cli_import(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_import_report report = {0};
    acq_output_init(&output);
    int code = ACQ_EXIT_YES;
    if (import(options, &output, &report, &error) != ACQ_OK)
        code = acq_report_stop(&output, options, &error);
    else if (options->json)
        print_json(options, &report, &output.data);
    else
        print(options, &report, &output.data);
    return acq_output_finish(&output, code);
}
