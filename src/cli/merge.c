/* merge.c - `anycq merge`: the shards of a completion become the whole. */
#include "cli/new_completion.h"
#include "cli/setup.h"
#include "base/file.h"
#include "predict/completion.h"

static acq_status check(const acq_options *options, acq_error *error)
{
    if (options->output == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "merge needs a file to write: -o COMPLETION");
    return ACQ_OK;
}

static acq_status merge(const acq_options *options, acq_output *output, acq_error *error)
{
    char *half = acq_new_completion_hold(options->output);
    acq_status status =
        acq_completion_merge_files(options->args.items, options->args.n, options->output, error);
    acq_new_completion_release(half);
    return status == ACQ_OK ? acq_new_completion_note(options->output, output, error) : status;
}

int acq_cli_merge(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    int code = ACQ_EXIT_YES;
    acq_output_init(&output);
    acq_status status = check(options, &error);
    if (status == ACQ_OK)
        status = merge(options, &output, &error);
    if (status != ACQ_OK)
        code = acq_report_stop(&output, options, &error);
    return acq_output_finish(&output, code);
}
