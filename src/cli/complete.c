/* complete.c - `anycq complete`: one predictor's scored links, written once.
 *
 * Relation by relation, so that an interrupt is heeded between two of them; the file appears whole
 * or not at all. With --shard only every n-th relation is made, for anycq merge. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "cli/interrupt.h"
#include "cli/new_completion.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "predict/completion.h"

/* "2/8": the second of eight. */
static acq_status read_shard(const char *text, acq_shard *out, acq_error *error)
{
    enum { MOST = 100000 };
    char *end = NULL;
    unsigned long part = 0, of = 0;
    *out = (acq_shard){0};
    if (text == NULL)
        return ACQ_OK;
    if (isdigit((unsigned char)text[0]))
        part = strtoul(text, &end, 10);
    if (end != NULL && *end == '/' && isdigit((unsigned char)end[1]))
        of = strtoul(end + 1, &end, 10);
    if (end == NULL || *end != '\0' || part < 1 || of < part || of > MOST)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --shard needs two numbers up to %d, like 1/8 to 8/8, not "
                        "\"%.100s\"",
                        MOST, text);
    *out = (acq_shard){.part = (uint32_t)(part - 1), .of = (uint32_t)of};
    return ACQ_OK;
}

static bool show(void *context, uint64_t done, uint64_t of)
{
    acq_bar_show(context, done, of);
    return !acq_interrupt_is_asked();
}

static acq_status write_file(const acq_options *options, const acq_predictor *predictor,
                             acq_shard shard, acq_error *error)
{
    acq_bar progress;
    acq_completion_write_params params = {
        .floor = fmax(options->links_floor, acq_predictor_get_floor(predictor)),
        .shard = shard,
        .progress = show,
        .context = &progress};
    acq_bar_init(&progress, "relations");
    acq_status status = acq_completion_write(options->output, predictor, &params, error);
    acq_bar_deinit(&progress);
    return status;
}

static acq_status complete(const acq_options *options, acq_setup *setup, acq_output *output,
                           acq_error *error)
{
    acq_shard shard;
    acq_status status = read_shard(options->shard, &shard, error);
    if (status == ACQ_OK)
        status = acq_setup_init(setup, options, options->args.items[0], output, error);
    if (status != ACQ_OK)
        return status;
    char *half = acq_new_completion_hold(options->output);
    status = write_file(options, setup->predictor, shard, error);
    acq_new_completion_release(half);
    return status == ACQ_OK ? acq_new_completion_note(options->output, output, error) : status;
}

int acq_cli_complete(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_setup setup = {0};
    int code = ACQ_EXIT_YES;
    acq_output_init(&output);
    acq_status status =
        options->output == NULL
            ? acq_fail(&error, ACQ_ERR_USAGE, "complete needs a file to write: -o COMPLETION")
            : complete(options, &setup, &output, &error);
    if (status != ACQ_OK)
        code = acq_report_stop(&output, options, &error);
    acq_setup_deinit(&setup);
    return acq_output_finish(&output, code);
}
