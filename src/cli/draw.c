/* draw.c - `anycq draw`: a picture of a query. */
#include "cli/options.h"
#include "cli/report.h"
#include "cli/setup.h"

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
