/* complete.c - `anycq complete`: one predictor's scored links, written once; `anycq merge`: the
 * shards of a completion become the whole.
 *
 * Relation by relation, so that an interrupt is heeded between two of them; the file appears whole
 * or not at all. With --shard only every n-th relation is made, for merge. Under mpirun each rank
 * makes its shard beside the output, and the first one merges them. */
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/setup.h"

/* ---- what both share ---- */

/* Holds interrupts; the name of the half-written file for the release. NULL (out of memory): an
 * interrupt may leave the file. */
static char *hold(const char *path)
{
    char *half = acq_new_file_copy_temporary(path);
    acq_interrupt_hold((const char *const *)&half, half != NULL);
    return half;
}

static void release(char *half)
{
    acq_interrupt_release();
    acq_free(half);
}

/* Reads the file's head back and notes what it holds. */
static acq_status note_file(const char *path, acq_output *output, acq_error *error)
{
    acq_completion_report report = {.size = sizeof report};
    acq_status status = acq_completion_read_report(path, &report, error);
    if (status != ACQ_OK)
        return status;
    if (report.of_parts == 0)
        acq_report_note(output, "%s: %llu links, both directions, of %u relations and %u entities",
                        path, (unsigned long long)report.n_links, report.n_relations / 2,
                        report.n_entities);
    else
        acq_report_note(output,
                        "%s: %llu links, both directions, shard %u of %u; merge makes a completion "
                        "of all shards",
                        path, (unsigned long long)report.n_links, report.part, report.of_parts);
    return ACQ_OK;
}

static bool show(void *context, const acq_progress *now)
{
    acq_bar_show(context, now->done, now->total);
    return !acq_interrupt_is_asked();
}

static acq_status merge(const char *const *parts, size_t n, const char *path, acq_error *error)
{
    acq_bar bar;
    char *half = hold(path);
    acq_bar_init(&bar, "relations");
    acq_status status = acq_merge(parts, n, path, show, &bar, error);
    acq_bar_deinit(&bar);
    release(half);
    return status;
}

/* ---- complete ---- */

static acq_status write_links(const acq_options *options, const acq_setup *setup,
                              acq_complete_params *params, const char *path, acq_error *error)
{
    acq_bar bar;
    char *half = hold(path);
    params->floor = options->links_floor;
    params->progress = show;
    params->context = &bar;
    acq_bar_init(&bar, "relations");
    acq_status status = acq_complete(setup->predictor, path, params, error);
    acq_bar_deinit(&bar);
    release(half);
    return status;
}

/* ---- ranks ---- */

static acq_status name_shard(const char *output, uint32_t i, uint32_t n, char **out,
                             acq_error *error)
{
    acq_text path;
    acq_text_init(&path);
    acq_text_format(&path, "%s.shard-%u-of-%u", output, i + 1, n);
    acq_status status = acq_text_take(&path, out, error);
    acq_text_deinit(&path);
    return status;
}

/* The first rank makes the whole of the shards of all, which are then no longer needed. */
static acq_status merge_shards(const acq_ranks *ranks, const char *output, acq_error *error)
{
    char **paths = acq_zalloc(ranks->n, sizeof(char *));
    acq_status status = paths == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (uint32_t i = 0; status == ACQ_OK && i < ranks->n; i++)
        status = name_shard(output, i, ranks->n, &paths[i], error);
    if (status == ACQ_OK) {
        status = merge((const char *const *)paths, ranks->n, output, error);
    }
    for (uint32_t i = 0; paths != NULL && i < ranks->n; i++) {
        if (status == ACQ_OK)
            unlink(paths[i]);
        acq_free(paths[i]);
    }
    acq_free(paths);
    return status;
}

static acq_status complete_together(const acq_options *options, const acq_setup *setup,
                                    const acq_ranks *ranks, acq_error *error)
{
    acq_complete_params params;
    char *path = NULL;
    acq_complete_params_init(&params);
    params.part = ranks->rank + 1;
    params.of_parts = ranks->n;
    acq_status status =
        options->shard == NULL
            ? name_shard(options->output, ranks->rank, ranks->n, &path, error)
            : acq_fail(error, ACQ_ERR_USAGE, "ranks make shards of their own; leave --shard out");
    if (status == ACQ_OK)
        status = write_links(options, setup, &params, path, error);
    if (status == ACQ_OK)
        status = acq_ranks_wait(error);
    if (status == ACQ_OK && ranks->rank == 0)
        status = merge_shards(ranks, options->output, error);
    acq_free(path);
    return status;
}

static acq_status complete(const acq_options *options, acq_setup *setup, acq_output *output,
                           acq_error *error)
{
    const acq_ranks *ranks = acq_ranks_get();
    acq_complete_params params;
    acq_complete_params_init(&params);
    acq_status status = acq_shard_parse(options->shard, &params.part, &params.of_parts, error);
    if (status == ACQ_OK)
        status = acq_setup_init(setup, options, options->args.items[0], output, error);
    if (status == ACQ_OK)
        status = ranks != NULL ? complete_together(options, setup, ranks, error)
                               : write_links(options, setup, &params, options->output, error);
    if (status == ACQ_OK && (ranks == NULL || ranks->rank == 0))
        status = note_file(options->output, output, error);
    return status;
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

/* ---- merge ---- */

static acq_status merge_files(const acq_options *options, acq_output *output, acq_error *error)
{
    if (options->output == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "merge needs a file to write: -o COMPLETION");
    acq_status status = merge(options->args.items, options->args.n, options->output, error);
    return status == ACQ_OK ? note_file(options->output, output, error) : status;
}

int acq_cli_merge(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    int code = ACQ_EXIT_YES;
    acq_output_init(&output);
    if (merge_files(options, &output, &error) != ACQ_OK)
        code = acq_report_stop(&output, options, &error);
    return acq_output_finish(&output, code);
}
