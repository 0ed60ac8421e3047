/* packed.c - weights of NBFNet laid out for products, see network.h. */
#include "models/nbfnet/network.h"

enum { D = ACQ_NBFNET_WIDTH, A = ACQ_NBFNET_AGGREGATES, H = ACQ_NBFNET_HIDDEN };

static acq_status init_layer(acq_nbfnet_products *layer, bool trainable)
{
    if (acq_packed_init(&layer->own, D, D) != ACQ_OK ||
        (trainable && acq_packed_init(&layer->own_back, D, D) != ACQ_OK))
        return ACQ_ERR_MEMORY;
    for (unsigned k = 0; k < ACQ_NBFNET_SCALES; k++)
        if (acq_packed_init(&layer->scaled[k], A, D) != ACQ_OK ||
            (trainable && acq_packed_init(&layer->scaled_back[k], D, A) != ACQ_OK))
            return ACQ_ERR_MEMORY;
    return ACQ_OK;
}

acq_status acq_nbfnet_packed_init(acq_nbfnet_packed *packed, const acq_nbfnet *model,
                                  bool trainable)
{
    acq_status status = ACQ_OK;
    *packed = (acq_nbfnet_packed){
        .model = model, .kernels = acq_kernels_get_best(), .trainable = trainable};
    for (unsigned l = 0; l < ACQ_NBFNET_LAYERS && status == ACQ_OK; l++)
        status = init_layer(&packed->layers[l], trainable);
    if (status == ACQ_OK)
        status = acq_packed_init(&packed->state, D, H);
    if (status == ACQ_OK && trainable)
        status = acq_packed_init(&packed->state_back, H, D);
    if (status == ACQ_OK)
        acq_nbfnet_packed_fill(packed);
    else
        acq_nbfnet_packed_deinit(packed);
    return status;
}

void acq_nbfnet_packed_deinit(acq_nbfnet_packed *packed)
{
    for (unsigned l = 0; l < ACQ_NBFNET_LAYERS; l++) {
        acq_nbfnet_products *layer = &packed->layers[l];
        acq_packed_deinit(&layer->own);
        acq_packed_deinit(&layer->own_back);
        for (unsigned k = 0; k < ACQ_NBFNET_SCALES; k++) {
            acq_packed_deinit(&layer->scaled[k]);
            acq_packed_deinit(&layer->scaled_back[k]);
        }
    }
    acq_packed_deinit(&packed->state);
    acq_packed_deinit(&packed->state_back);
}

static void fill(acq_packed *forward, acq_packed *back, const float *w, size_t ldw)
{
    acq_packed_fill(forward, w, ldw);
    if (back->panels != NULL)
        acq_packed_fill_transposed(back, w, ldw);
}

void acq_nbfnet_packed_fill(acq_nbfnet_packed *packed)
{
    for (unsigned l = 0; l < ACQ_NBFNET_LAYERS; l++) {
        acq_nbfnet_products *layer = &packed->layers[l];
        const float *w =
            acq_nbfnet_get(packed->model, acq_nbfnet_layer_tensor(l, ACQ_NBFNET_LINEAR));
        fill(&layer->own, &layer->own_back, w, ACQ_NBFNET_INPUTS);
        for (unsigned k = 0; k < ACQ_NBFNET_SCALES; k++)
            fill(&layer->scaled[k], &layer->scaled_back[k], w + D + k * A, ACQ_NBFNET_INPUTS);
    }
    fill(&packed->state, &packed->state_back, acq_nbfnet_get(packed->model, ACQ_NBFNET_SCORE_0), H);
}
