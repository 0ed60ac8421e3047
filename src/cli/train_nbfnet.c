/* train_nbfnet.c - `anycq train nbfnet`: the options of NBFNet's trainer. */
#include "train/nbfnet.h"

#include "cli/train_fields.h"
#include "cli/train_links.h"

#define FIELD(option, member) ACQ_TRAIN_FIELD(acq_train_nbfnet_params, option, member)

static const acq_train_field fields[] = {
    FIELD(batch, batch),
    FIELD(train_negatives, negatives),
    FIELD(temperature, temperature),
    FIELD(edge_dropout, edge_dropout),
    ACQ_TRAIN_NETWORK_FIELDS(FIELD),
};

enum { N_FIELDS = sizeof fields / sizeof *fields };

static void read_params(const acq_options *options, acq_train_nbfnet_params *params)
{
    acq_train_nbfnet_params_init(params);
    if (options == NULL)
        return;
    if (acq_options_has(options, train_time))
        params->batches = 0; /* the schedule follows the clock, unless batches are given too */
    acq_train_fields_take(fields, N_FIELDS, options, params);
    if (options->keep_pairs)
        params->drops_pairs = false;
    params->seed = options->train_seed;
}

static void print_options(const acq_options *options, acq_text *out)
{
    acq_train_nbfnet_params params;
    read_params(options, &params);
    acq_train_fields_print(fields, N_FIELDS, &params, out);
    acq_text_add(out, params.drops_pairs ? "" : " keep-pairs");
}

static acq_status check(const acq_options *options, acq_error *error)
{
    acq_train_nbfnet_params params;
    read_params(options, &params);
    return acq_train_check_end(params.batches, params.seconds, error);
}

static acq_status train(const acq_train_task *task, void **model, acq_error *error)
{
    acq_nbfnet *warm = NULL, *trained = NULL;
    acq_train_nbfnet_params params;
    acq_status status = ACQ_OK;
    read_params(task->options, &params);
    if (task->options->warm != NULL)
        status = acq_nbfnet_read(task->options->warm, task->graphs[0], &warm, error);
    params.warm = warm;
    params.n_threads = task->n_threads;
    params.checkpoint = task->checkpoint;
    params.resume = task->goes_on;
    params.progress = task->progress;
    params.context = task->context;
    if (status == ACQ_OK)
        status = acq_train_nbfnet(task->graphs[0], &params, &trained, error);
    acq_nbfnet_free(warm);
    *model = trained;
    return status;
}

static acq_status write(const acq_train_task *task, const void *model, const acq_metadata *metadata,
                        size_t n, acq_error *error)
{
    return acq_nbfnet_write(task->options->output, model, task->graphs[0], metadata, n, error);
}

static void free_model(void *model)
{
    acq_nbfnet_free(model);
}

const acq_train_kind acq_train_kind_nbfnet = {.unit = "batches",
                                              .most_graphs = 1,
                                              .print_options = print_options,
                                              .check = check,
                                              .train = train,
                                              .write = write,
                                              .free = free_model};
