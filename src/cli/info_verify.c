/* info_verify.c - `anycq info --verify`: is every byte of a store in order? */
#include "cli/info.h"
#include "cli/report.h"
#include "cli/progress.h"
#include "base/file.h"
#include "store/store.h"

static acq_status check_store(const char *path, acq_error *error)
{
    if (acq_store_is_database(path))
        return ACQ_OK;
    acq_status status =
        acq_file_get_kind(path) == ACQ_FILE_MISSING
            ? acq_fail(error, ACQ_ERR_INPUT, "there is no such file; check the path")
            : acq_fail(error, ACQ_ERR_USAGE,
                       "this is no store, and only a store can be verified; --strict checks every "
                       "line of a text");
    acq_error_set_file(error, path);
    return status;
}

static acq_status verify(const char *path, acq_output *output, acq_error *error)
{
    acq_status status = check_store(path, error);
    if (status != ACQ_OK)
        return status;
    acq_reading reading;
    acq_reading_init(&reading, output);
    status = acq_store_verify(path, acq_reading_show_stage, &reading, error);
    acq_reading_finish(&reading, path, NULL);
    return status;
}

int acq_info_verify(const acq_options *options, acq_output *output)
{
    const char *path = options->args.items[0];
    acq_error error = {0};
    if (verify(path, output, &error) != ACQ_OK)
        return acq_report_error(output, options, &error, NULL);
    if (options->json) {
        json_t *object = json_object();
        json_object_set_new(object, "graph", acq_json_text(path));
        json_object_set_new(object, "verified", json_true());
        acq_json_add_line(&output->data, object);
    } else {
        acq_text_add(&output->data, "in order: every name and every link was read and checked\n");
    }
    return ACQ_EXIT_YES;
}
