/* seed_files.c - writing and reading what a run goes on from; see seed_run.h. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/budget.h"
#include "train/checkpoint.h"
#include "train/seed_run.h"

enum { MOST_PATH = 4096 };

static bool print_path(const acq_seed_run *run, const char *ending, char *out)
{
    int n = snprintf(out, MOST_PATH, "%s.seed%llu.%s", run->school->params->checkpoint,
                     (unsigned long long)run->seed, ending);
    return n > 0 && n < MOST_PATH;
}

acq_status acq_seed_write_best(acq_seed_run *run)
{
    char path[MOST_PATH], solved[32], steps[32], judged[16];
    if (run->school->params->checkpoint == NULL || !print_path(run, "best", path))
        return ACQ_OK;
    snprintf(solved, sizeof solved, "%.17g", run->best_held.solved);
    snprintf(steps, sizeof steps, "%.17g", run->best_held.steps);
    snprintf(judged, sizeof judged, "%u", run->n_judged);
    acq_metadata metadata[] = {{"solved", solved}, {"steps", steps}, {"judged", judged}};
    return acq_policy_write(run->best, path, metadata, 3, &run->error);
}

static acq_checkpoint get_checkpoint(acq_seed_run *run)
{
    return (acq_checkpoint){.parameters = &run->policy->parameters,
                            .optimizer = &run->optimizer,
                            .options = run->school->options,
                            .seed = run->seed,
                            .batch = run->batch,
                            .episodes = run->episodes,
                            .seconds = acq_seed_get_seconds(run),
                            .solved = run->solved,
                            .finished = acq_seed_is_over(run)};
}

acq_status acq_seed_write_checkpoint(acq_seed_run *run)
{
    char path[MOST_PATH];
    run->last_checkpoint = acq_clock_ns();
    if (run->school->params->checkpoint == NULL)
        return ACQ_OK;
    if (!print_path(run, "checkpoint", path))
        return acq_fail(&run->error, ACQ_ERR_USAGE, "the name of the model is too long");
    acq_checkpoint checkpoint = get_checkpoint(run);
    return acq_checkpoint_write(&checkpoint, path, &run->error);
}

/* The best weights so far of a run that goes on; without them judging begins anew. */
static acq_status load_best(acq_seed_run *run, const char *path)
{
    acq_safetensors *file;
    if (access(path, R_OK) != 0)
        return ACQ_OK;
    acq_status status = acq_safetensors_read(path, &file, &run->error);
    if (status != ACQ_OK)
        return status;
    const char *solved = acq_safetensors_get_metadata(file, "solved");
    const char *steps = acq_safetensors_get_metadata(file, "steps");
    const char *judged = acq_safetensors_get_metadata(file, "judged");
    status = acq_safetensors_load(file, &run->best->parameters, &run->error);
    if (status == ACQ_OK && solved != NULL && steps != NULL && judged != NULL) {
        run->best_held = (acq_held_result){strtod(solved, NULL), strtod(steps, NULL)};
        run->n_judged = (unsigned)strtoul(judged, NULL, 10);
        acq_policy_pack(run->best);
    }
    acq_safetensors_free(file);
    return status;
}

acq_status acq_seed_load(acq_seed_run *run)
{
    char path[MOST_PATH], best[MOST_PATH];
    const acq_train_policy_params *params = run->school->params;
    if (params->checkpoint == NULL || !print_path(run, "checkpoint", path) ||
        !print_path(run, "best", best))
        return ACQ_OK;
    if (!params->resume || access(path, F_OK) != 0) {
        unlink(best); /* of a run that nobody goes on with */
        return ACQ_OK;
    }
    acq_checkpoint checkpoint = get_checkpoint(run);
    acq_status status = acq_checkpoint_read(&checkpoint, path, &run->error);
    if (status != ACQ_OK)
        return status;
    run->batch = checkpoint.batch;
    run->episodes = checkpoint.episodes;
    run->seconds_loaded = checkpoint.seconds;
    run->solved = checkpoint.solved;
    acq_policy_pack(run->policy);
    return load_best(run, best);
}

void acq_train_policy_remove_checkpoints(const acq_train_policy_params *params)
{
    acq_school all = {.params = params};
    char path[MOST_PATH];
    for (uint32_t i = 0; i < params->n_seeds && params->checkpoint != NULL; i++) {
        acq_seed_run run = {.school = &all, .seed = params->seed + i};
        if (print_path(&run, "checkpoint", path))
            unlink(path);
        if (print_path(&run, "best", path))
            unlink(path);
    }
}
