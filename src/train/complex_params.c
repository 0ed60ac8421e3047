/* complex_params.c - the options of a ComplEx training: defaults and checks. */
#include <math.h>

#include "base/threads.h"
#include "models/complex/parts.h"
#include "train/complex_trainer.h"

void acq_train_complex_params_init(acq_train_complex_params *params)
{
    *params = (acq_train_complex_params){
        .rank = 256,
        .rate = .1,
        .last_rate = .1,
        .batch = 64,
        .candidates = 600,
        .n3 = .07,
        .relation_weight = -1,
        .scale = 1e-3,
        .epochs = 14,
        .n_threads = acq_threads_available(),
        .checkpoint_seconds = 60,
    };
}

bool acq_train_complex_is_half(const acq_train_complex_params *params)
{
    return params->precision == ACQ_PRECISION_BF16 ||
           (params->precision == ACQ_PRECISION_AUTO && acq_bf16_is_fast());
}

static acq_status check_positive(const char *name, double value, acq_error *error)
{
    if (value > 0 && isfinite(value))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE, "%s of ComplEx must be above 0, not %g", name, value);
}

static acq_status check_not_negative(const char *name, double value, acq_error *error)
{
    if (value >= 0 && isfinite(value))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE, "%s of ComplEx must not be below 0, not %g", name, value);
}

static acq_status check_warm(const acq_graph *graph, const acq_train_complex_params *params,
                             acq_error *error)
{
    const acq_complex *warm = params->warm;
    if (warm == NULL)
        return ACQ_OK;
    if (warm->rank != params->rank)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the vectors to start from have rank %u, not %u; ask for the same rank",
                        warm->rank, params->rank);
    if (warm->n_entities > acq_graph_get_n_entities(graph) ||
        warm->n_relations > acq_graph_get_n_relations(graph))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the vectors to start from are of a larger graph; start from random ones");
    return ACQ_OK;
}

acq_status acq_complex_check_params(const acq_graph *graph, const acq_train_complex_params *params,
                                    acq_error *error)
{
    acq_status status =
        acq_complex_check_sizes(acq_graph_get_n_relations(graph), params->rank, error);
    if (status == ACQ_OK && params->batch == 0)
        status = acq_fail(error, ACQ_ERR_USAGE, "a batch of ComplEx needs at least one row");
    if (status == ACQ_OK && params->candidates == 1)
        status = acq_fail(error, ACQ_ERR_USAGE,
                          "ComplEx draws at least two candidates, or takes all with 0");
    if (status == ACQ_OK)
        status = check_positive("the rate", params->rate, error);
    if (status == ACQ_OK)
        status = check_positive("the last rate", params->last_rate, error);
    if (status == ACQ_OK)
        status = check_positive("the scale", params->scale, error);
    if (status == ACQ_OK)
        status = check_positive("the number of epochs", params->epochs, error);
    if (status == ACQ_OK)
        status = check_not_negative("the weight of N3", params->n3, error);
    if (status == ACQ_OK)
        status =
            check_not_negative("the weight of relations", fabs(params->relation_weight), error);
    if (status == ACQ_OK)
        status = check_not_negative("the time", params->seconds, error);
    return status == ACQ_OK ? check_warm(graph, params, error) : status;
}
