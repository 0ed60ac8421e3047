/* import.c - `anycq import`: sources of facts into a new store, all or nothing. */
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/table.h"

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

/* What an import tells. */
typedef struct import_report {
    acq_read_report read;
    acq_store_create_report made;
} import_report;

/* What names and facts may take: the command itself and what is being read need some too. */
static uint64_t get_memory(const acq_options *options)
{
    enum { OWN_MB = 24, LEAST_MB = 8 };
    uint64_t mb = options->import_memory;
    return (mb > OWN_MB + LEAST_MB ? mb - OWN_MB : LEAST_MB) << 20;
}

static acq_status import(const acq_options *options, acq_output *output, import_report *report,
                         acq_error *error)
{
    acq_status status = check_sources(options, error);
    if (status != ACQ_OK)
        return status;
    acq_reading reading;
    half_files half = {0};
    acq_graph_params read;
    acq_store_params params;
    acq_reading_init(&reading, output);
    acq_reading_init_params(&reading, options, &read);
    acq_store_params_init(&params);
    read.threads = (unsigned)options->import_threads;
    read.report = &report->read;
    params.read = &read;
    params.memory_bytes = get_memory(options);
    params.replace = options->replace;
    params.report = &report->made;
    params.begin = hold_half_files;
    params.context = &half;
    status =
        acq_store_create(options->args.items, options->args.n, options->output, &params, error);
    release_half_files(&half);
    const char *what = options->args.n == 1 ? options->args.items[0] : "all sources";
    acq_reading_finish(&reading, what, status == ACQ_OK ? &report->read : NULL);
    return status;
}

static double get_rate(const import_report *report)
{
    return report->made.seconds > 0 ? (double)report->read.lines / report->made.seconds : 0;
}

static void print(const acq_options *options, const import_report *report, acq_text *out)
{
    const acq_read_report *read = &report->read;
    acq_size_print_text(out, "graph", options->output);
    acq_size_print_count(out, "entities", report->made.entities);
    acq_size_print_count(out, "relations", report->made.relations);
    acq_size_print_count(out, "facts", report->made.facts);
    acq_size_print_read(out, read);
    acq_size_print_bytes(out, "size", report->made.file_bytes);
    char rate[64];
    acq_size_format_rate(get_rate(report), rate, sizeof rate);
    acq_text_format(out, "%-*s%.2f s, %s\n", ACQ_SIZE_LABEL, "time", report->made.seconds, rate);
    if (report->made.runs > 0)
        acq_size_print_count(out, "runs on disk", report->made.runs);
}

static void print_json(const acq_options *options, const import_report *report, acq_text *out)
{
    json_t *sources = json_array();
    for (size_t i = 0; i < options->args.n; i++)
        json_array_append_new(sources, acq_json_text(options->args.items[i]));
    json_t *object = json_object();
    json_object_set_new(object, "graph", acq_json_text(options->output));
    json_object_set_new(object, "sources", sources);
    json_object_set_new(object, "entities", acq_json_count(report->made.entities));
    json_object_set_new(object, "relations", acq_json_count(report->made.relations));
    json_object_set_new(object, "facts", acq_json_count(report->made.facts));
    acq_json_set_read(object, &report->read);
    json_object_set_new(object, "bytes", acq_json_count(report->made.file_bytes));
    json_object_set_new(object, "spilled_runs", acq_json_count(report->made.runs));
    json_object_set_new(object, "seconds", json_real(report->made.seconds));
    json_object_set_new(object, "triples_per_second", json_real(get_rate(report)));
    acq_json_add_line(out, object);
}

int acq_cli_import(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    import_report report = {.read.size = sizeof report.read, .made.size = sizeof report.made};
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
