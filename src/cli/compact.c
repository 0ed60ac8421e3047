/* compact.c - `anycq compact`: the changes of a store folded into its links. */
#include "cli/report.h"
#include "cli/setup.h"
#include "cli/width.h"
#include "store/store.h"

static acq_status compact(const char *path, uint64_t *n_folded, acq_store_info *after,
                          acq_error *error)
{
    acq_store_writer *writer;
    acq_status status = acq_setup_require_store(path, error);
    if (status == ACQ_OK)
        status = acq_store_writer_open(path, &writer, error);
    if (status != ACQ_OK)
        return status;
    status = acq_store_compact(writer, n_folded, error);
    acq_store_writer_free(writer);
    return status == ACQ_OK ? acq_store_read_info(path, after, error) : status;
}

static void print_json(const char *path, uint64_t n_folded, const acq_store_info *after,
                       acq_text *out)
{
    json_t *object = json_object();
    json_object_set_new(object, "graph", acq_json_text(path));
    json_object_set_new(object, "folded", acq_json_count(n_folded));
    json_object_set_new(object, "bytes", acq_json_count(after->file_bytes));
    acq_json_add_line(out, object);
}

int acq_cli_compact(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_store_info after;
    uint64_t n_folded = 0;
    const char *path = options->args.items[0];
    acq_output_init(&output);
    int code = ACQ_EXIT_YES;
    if (compact(path, &n_folded, &after, &error) != ACQ_OK) {
        code = acq_report_error(&output, options, &error, NULL);
    } else if (options->json) {
        print_json(path, n_folded, &after, &output.data);
    } else {
        acq_text_format(&output.data, "folded in %llu change%s; the store has ",
                        (unsigned long long)n_folded, n_folded == 1 ? "" : "s");
        acq_size_add_bytes(&output.data, after.file_bytes);
        acq_text_add_char(&output.data, '\n');
    }
    return acq_output_finish(&output, code);
}
