/* train_ultra.c - `anycq train ultra`: the options of ULTRA's trainer. */
#include "train/ultra.h"

#include "cli/train_fields.h"
#include "cli/train_links.h"

#define FIELD(option, member) ACQ_TRAIN_FIELD(acq_train_ultra_params, option, member)

static const acq_train_field fields[] = {
    FIELD(batch, batch),
    FIELD(group, group),
    FIELD(train_tails, tails),
    FIELD(train_negatives, negatives),
    FIELD(temperature, temperature),
    ACQ_TRAIN_NETWORK_FIELDS(FIELD),
};

enum { N_FIELDS = sizeof fields / sizeof *fields };

static void read_params(const acq_options *options, acq_train_ultra_params *params)
{
    acq_train_ultra_params_init(params);
    if (options == NULL)
        return;
    if (acq_options_has(options, train_time))
        params->batches = 0; /* the schedule follows the clock, unless batches are given too */
    acq_train_fields_take(fields, N_FIELDS, options, params);
    params->seed = options->train_seed;
}

static void print_options(const acq_options *options, acq_text *out)
{
    acq_train_ultra_params params;
    read_params(options, &params);
    acq_train_fields_print(fields, N_FIELDS, &params, out);
}

static acq_status check(const acq_options *options, acq_error *error)
{
    acq_train_ultra_params params;
    read_params(options, &params);
    if (params.group == 0 || params.batch % params.group != 0)
        return acq_fail(error, ACQ_ERR_USAGE, "option --batch must be a multiple of --group, %u",
                        params.group);
    return acq_train_check_end(params.batches, params.seconds, error);
}

static acq_status train(const acq_train_task *task, void **model, acq_error *error)
{
    acq_ultra *warm = NULL, *trained = NULL;
    acq_train_ultra_params params;
    acq_status status = ACQ_OK;
    read_params(task->options, &params);
    if (task->options->warm != NULL)
        status = acq_ultra_read(task->options->warm, &warm, error);
    params.warm = warm;
    params.n_threads = task->n_threads;
    params.checkpoint = task->checkpoint;
    params.resume = task->goes_on;
    params.progress = task->progress;
    params.context = task->context;
    if (status == ACQ_OK)
        status = acq_train_ultra(task->graphs, task->n_graphs, &params, &trained, error);
    acq_ultra_free(warm);
    *model = trained;
    return status;
}

static acq_status write(const acq_train_task *task, const void *model, const acq_metadata *metadata,
                        size_t n, acq_error *error)
{
    return acq_ultra_write(task->options->output, model, metadata, n, error);
}

static void free_model(void *model)
{
    acq_ultra_free(model);
}

const acq_train_kind acq_train_kind_ultra = {.unit = "batches",
                                             .most_graphs = SIZE_MAX,
                                             .print_options = print_options,
                                             .check = check,
                                             .train = train,
                                             .write = write,
                                             .free = free_model};
