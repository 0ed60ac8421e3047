/* train.c - `anycq train`: which kind of model, and what every kind needs. */
#include "cli/train.h"

#include <string.h>

#include "cli/setup.h"

static acq_status check_kind(const char *kind, acq_error *error)
{
    static const char *const later[] = {"complex", "nbfnet", "ultra"};
    if (strcmp(kind, "policy") == 0)
        return ACQ_OK;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        if (strcmp(kind, later[i]) == 0)
            return acq_fail(error, ACQ_ERR_USAGE,
                            "train %s is not in this version; use train policy", kind);
    }
    return acq_fail(error, ACQ_ERR_USAGE, "no model \"%.100s\" to train; use train policy", kind);
}

static acq_status check_output(const acq_options *options, acq_error *error)
{
    if (options->output == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "train needs a file to write: -o MODEL");
    return acq_setup_check_output(options->output, error);
}

int acq_cli_train(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_output_init(&output);
    acq_status status = check_kind(options->args.items[0], &error);
    if (status == ACQ_OK && options->args.n < 2)
        status = acq_fail(&error, ACQ_ERR_USAGE,
                          "train needs a graph to train on: anycq train policy GRAPH... -o MODEL");
    if (status == ACQ_OK)
        status = check_output(options, &error);
    int code = status == ACQ_OK ? acq_train_policy_command(options, &output)
                                : acq_report_error(&output, options, &error, NULL);
    return acq_output_finish(&output, code);
}
