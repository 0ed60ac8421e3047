/* complete.c - `anycq complete`: one predictor's scored links, written once.
 *
 * Relation by relation, so that an interrupt is heeded between two of them; the file appears whole
 * or not at all. With --shard only every n-th relation is made, for anycq merge. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

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

static acq_status write_links(const acq_predictor *predictor, acq_completion_writer *writer,
                              acq_shard shard, acq_error *error)
{
    acq_progress progress;
    acq_status status = ACQ_OK;
    acq_rel n = acq_graph_get_n_relations(predictor->graph);
    acq_progress_init(&progress, "relations");
    for (acq_rel i = 0; i < n && status == ACQ_OK; i += 2) {
        const acq_links *links;
        acq_progress_show(&progress, i / 2, n / 2);
        if (!acq_shard_has(shard, i))
            continue;
        status = acq_predictor_open_links(predictor, i, &links, error);
        if (status == ACQ_OK)
            status = acq_completion_writer_add(writer, i, links, error);
        acq_predictor_forget_links(predictor, i);
        if (status == ACQ_OK)
            status = acq_new_completion_check(error);
    }
    acq_progress_deinit(&progress);
    return status;
}

static acq_status write_file(const acq_options *options, const acq_predictor *predictor,
                             acq_shard shard, acq_error *error)
{
    acq_completion_writer *writer = NULL;
    acq_completion_params params = {
        .predictor = predictor->name,
        .floor = fmax(options->links_floor, acq_predictor_get_floor(predictor)),
        .certain = true,
        .calibrator = acq_predictor_get_calibrator(predictor),
        .shard = shard};
    acq_status status =
        acq_completion_writer_open(options->output, predictor->graph, &params, &writer, error);
    if (status == ACQ_OK)
        status = write_links(predictor, writer, shard, error);
    if (status == ACQ_OK)
        status = acq_completion_writer_finish(writer, error);
    acq_completion_writer_close(writer);
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
