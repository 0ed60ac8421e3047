/* complete.c - `anycq complete`: one predictor's scored links, written once. */
#include "cli/setup.h"
#include "predict/completion.h"

static acq_status complete(const acq_options *options, acq_setup *setup, acq_output *output,
                           acq_error *error)
{
    acq_status status = acq_setup_init(setup, options, options->args.items[0], output, error);
    if (status == ACQ_OK)
        status = acq_completion_write(options->output, setup->predictor, 0.0, error);
    acq_completion_info info;
    if (status == ACQ_OK)
        status = acq_completion_read_info(options->output, &info, error);
    if (status == ACQ_OK)
        acq_report_note(output, "%s: %llu links, both directions, of %u relations and %u entities",
                        options->output, (unsigned long long)info.n_links, info.n_relations / 2,
                        info.n_entities);
    return status;
}

int acq_cli_complete(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_setup setup = {0};
    acq_output_init(&output);
    acq_status status;
    if (options->output == NULL)
        status = acq_fail(&error, ACQ_ERR_USAGE, "complete needs a file to write: -o COMPLETION");
    else
        status = acq_setup_check_output(options->output, &error);
    if (status == ACQ_OK)
        status = complete(options, &setup, &output, &error);
    int code = ACQ_EXIT_YES;
    if (status != ACQ_OK)
        code = acq_report_error(&output, options, &error, NULL);
    acq_setup_deinit(&setup);
    return acq_output_finish(&output, code);
}
