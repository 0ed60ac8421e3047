/* train_complex.c - `anycq train complex`: the options of ComplEx's trainer. */
#include "cli/train_fields.h"
#include "cli/train_links.h"

#define FIELD(option, member) ACQ_TRAIN_FIELD(acq_train_complex_params, option, member)

static const acq_train_field fields[] = {
    FIELD(rank, rank),
    FIELD(rate, rate),
    FIELD(batch, batch),
    FIELD(candidates, candidates),
    FIELD(n3, n3),
    FIELD(relation_weight, relation_weight),
    FIELD(init, scale),
    FIELD(epochs, epochs),
    FIELD(train_time, seconds),
    FIELD(checkpoint_every, checkpoint_seconds),
};

enum { N_FIELDS = sizeof fields / sizeof *fields };

static void read_params(const acq_options *options, acq_train_complex_params *params)
{
    acq_train_complex_params_init(params);
    if (options == NULL)
        return;
    acq_train_fields_take(fields, N_FIELDS, options, params);
    if (acq_options_has(options, last_rate)) /* a share of the rate */
        params->last_rate = options->last_rate / params->rate;
    if (options->f32)
        params->precision = ACQ_PRECISION_F32;
    params->seed = options->train_seed;
}

static void print_options(const acq_options *options, acq_text *out)
{
    acq_train_complex_params params;
    read_params(options, &params);
    acq_train_fields_print(fields, N_FIELDS, &params, out);
    acq_text_format(out, " last-rate=%g", params.rate * params.last_rate);
    if (options != NULL) /* not in the help, which is the same everywhere */
        acq_text_format(out, " products=%s", acq_train_complex_is_half(&params) ? "bf16" : "f32");
}

static acq_status check(const acq_options *options, acq_error *error)
{
    if (acq_options_has(options, rate) && options->rate <= 0)
        return acq_fail(error, ACQ_ERR_USAGE, "option --rate must be above 0");
    return ACQ_OK;
}

static acq_status train(const acq_train_task *task, void **model, acq_error *error)
{
    acq_complex *warm = NULL, *trained = NULL;
    acq_train_complex_params params;
    acq_status status = ACQ_OK;
    read_params(task->options, &params);
    if (task->options->warm != NULL)
        status = acq_complex_read(task->options->warm, task->graphs[0], &warm, error);
    params.warm = warm;
    params.n_threads = task->n_threads;
    params.checkpoint = task->checkpoint;
    params.resume = task->goes_on;
    params.progress = task->progress;
    params.context = task->context;
    if (status == ACQ_OK)
        status = acq_train_complex(task->graphs[0], &params, &trained, error);
    acq_complex_free(warm);
    *model = trained;
    return status;
}

static acq_status write(const acq_train_task *task, const void *model, const acq_metadata *metadata,
                        size_t n, acq_error *error)
{
    return acq_complex_write(task->options->output, model, task->graphs[0], metadata, n, error);
}

static void free_model(void *model)
{
    acq_complex_free(model);
}

const acq_train_kind acq_train_kind_complex = {.unit = "epochs",
                                               .most_graphs = 1,
                                               .print_options = print_options,
                                               .check = check,
                                               .train = train,
                                               .write = write,
                                               .free = free_model};
