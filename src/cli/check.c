/* check.c - `anycq check`: is this tuple an answer? */
#include "cli/question.h"
#include "cli/setup.h"

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
