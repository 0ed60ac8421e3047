/* new_completion.c - see new_completion.h. */
#include "cli/new_completion.h"

#include "base/file.h"
#include "base/memory.h"
#include "cli/interrupt.h"
#include "predict/completion.h"

char *acq_new_completion_hold(const char *path)
{
    char *half = acq_new_file_copy_temporary(path);
    acq_interrupt_hold((const char *const *)&half, half != NULL);
    return half;
}

void acq_new_completion_release(char *half)
{
    acq_interrupt_release();
    acq_free(half);
}

static void note_whole(const char *path, const acq_completion_info *info, acq_output *output)
{
    acq_report_note(output, "%s: %llu links, both directions, of %u relations and %u entities",
                    path, (unsigned long long)info->n_links, info->n_relations / 2,
                    info->n_entities);
}

acq_status acq_new_completion_note(const char *path, acq_output *output, acq_error *error)
{
    acq_completion_info info;
    acq_status status = acq_completion_read_info(path, &info, error);
    if (status != ACQ_OK)
        return status;
    if (info.shard.of <= 1)
        note_whole(path, &info, output);
    else
        acq_report_note(output,
                        "%s: %llu links, both directions, shard %u of %u; merge makes a completion "
                        "of all shards",
                        path, (unsigned long long)info.n_links, info.shard.part + 1, info.shard.of);
    return ACQ_OK;
}
