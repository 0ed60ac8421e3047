/* train.c - `anycq train`: which kind of model, and what every kind needs. */
#include "cli/train.h"

#include "cli/setup.h"
#include "cli/train_links.h"

static acq_status check_kind(const acq_options *options, acq_error *error)
{
    acq_variant_id kind = acq_options_get_variant(options);
    if (kind == ACQ_VARIANT_policy || acq_train_kind_get(kind) != NULL)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "no model \"%.100s\" to train; use train complex, nbfnet, ultra or policy",
                    options->args.items[0]);
}

static acq_status check_output(const acq_options *options, acq_error *error)
{
    if (options->output == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "train needs a file to write: -o MODEL");
    return ACQ_OK;
}

static acq_status check(const acq_options *options, acq_error *error)
{
    acq_status status = check_kind(options, error);
    if (status == ACQ_OK && options->args.n < 2)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "train needs a graph to train on: anycq train %s GRAPH... -o MODEL",
                        options->args.items[0]);
    return status == ACQ_OK ? check_output(options, error) : status;
}

int acq_cli_train(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    int code;
    acq_output_init(&output);
    if (check(options, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, NULL);
    else if (acq_options_get_variant(options) == ACQ_VARIANT_policy)
        code = acq_train_policy_command(options, &output);
    else
        code = acq_train_links_command(options, &output);
    return acq_output_finish(&output, code);
}
