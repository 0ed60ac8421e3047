/* network.c - see network.h. */
#include "search/fuzzy/network.h"

#include <math.h>

#include "base/memory.h"

struct acq_fuzzy_network {
    const acq_row_model *model;
    double least;
    void *scratch;
    float *boundary, *logits; /* n_entities */
};

void acq_fuzzy_network_free(acq_fuzzy_network *network)
{
    if (network == NULL)
        return;
    network->model->ops->free_scratch(network->model, network->scratch);
    acq_free(network->boundary);
    acq_free(network->logits);
    acq_free(network);
}

acq_status acq_fuzzy_network_new(const acq_row_model *model, double least, acq_fuzzy_network **out,
                                 acq_error *error)
{
    size_t n = acq_graph_get_n_entities(model->graph);
    acq_fuzzy_network *network = acq_zalloc(1, sizeof *network);
    if (network == NULL)
        return acq_fail_memory(error);
    network->model = model;
    network->least = least;
    network->boundary = acq_alloc(n, sizeof *network->boundary);
    network->logits = acq_alloc(n, sizeof *network->logits);
    acq_status status = network->boundary == NULL || network->logits == NULL
                            ? acq_fail_memory(error)
                            : model->ops->open_scratch(model, &network->scratch, error);
    if (status == ACQ_OK)
        *out = network;
    else
        acq_fuzzy_network_free(network);
    return status;
}

static void fill_boundary(acq_fuzzy_network *network, const acq_fuzzy_set *from, uint32_t n)
{
    double rest = from->rest < network->least ? 0.0 : from->rest;
    for (uint32_t i = 0; i < n; i++)
        network->boundary[i] = (float)rest;
    for (uint32_t i = 0; i < from->n; i++)
        network->boundary[from->entities[i]] =
            (float)(from->degrees[i] < network->least ? 0.0 : from->degrees[i]);
}

acq_status acq_fuzzy_network_project(acq_fuzzy_run *run, acq_rel relation,
                                     const acq_fuzzy_set *from, acq_fuzzy_set *out,
                                     acq_error *error)
{
    acq_fuzzy_network *network = run->params.context;
    uint32_t n = run->n_entities;
    if (acq_fuzzy_run_must_end(run))
        return ACQ_ERR_INTERRUPTED;
    fill_boundary(network, from, n);
    acq_status status = network->model->ops->score_set(
        network->model, network->scratch, relation, network->boundary, network->logits, error);
    if (status != ACQ_OK)
        return status;
    if (acq_fuzzy_set_init(out, n) != ACQ_OK)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < n; i++) {
        out->entities[i] = i;
        out->degrees[i] = 1.0 / (1.0 + exp(-(double)network->logits[i]));
    }
    out->n = n;
    run->n_rows++;
    return ACQ_OK;
}
