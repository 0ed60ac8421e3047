/* prepared.c - see prepared.h. */
#include "models/ultra/prepared.h"

#include <string.h>

#include "base/memory.h"
#include "models/ultra/pieces.h"
#include "models/ultra/relation_net.h"

enum { D = ACQ_ULTRA_WIDTH, LAYERS = ACQ_ULTRA_LAYERS };

acq_status acq_ultra_prepared_init(acq_ultra_prepared *prepared, uint32_t n_nodes,
                                   uint32_t n_relations)
{
    size_t nodes = (size_t)n_nodes * D, relations = (size_t)n_relations * D, n = 0;
    acq_piece pieces[3 * LAYERS + 4];
    *prepared = (acq_ultra_prepared){.relation = ACQ_NO_ID};
    pieces[n++] = (acq_piece){&prepared->vectors, relations};
    pieces[n++] = (acq_piece){&prepared->work, 2 * relations};
    pieces[n++] = (acq_piece){&prepared->scores, n_nodes};
    pieces[n++] = (acq_piece){&prepared->score_bias, 2 * D};
    for (size_t l = 0; l < LAYERS; l++)
        pieces[n++] = (acq_piece){&prepared->projected[l], relations};
    for (size_t l = 1; l < LAYERS; l++) {
        pieces[n++] = (acq_piece){&prepared->states[l], nodes};
        pieces[n++] = (acq_piece){&prepared->messages[l], nodes};
    }
    return acq_pieces_allocate(pieces, n, &prepared->block);
}

void acq_ultra_prepared_deinit(acq_ultra_prepared *prepared)
{
    acq_free(prepared->block);
    *prepared = (acq_ultra_prepared){0};
}

/* Without a head the first layer gives every node the same state. */
static void start_background(acq_ultra_prepared *prepared, const acq_ultra_network *network,
                             size_t n_nodes)
{
    float zeros[D] = {0}, state[D];
    acq_ultra_apply(network, &network->entity[0], 1, zeros, zeros, state);
    for (size_t v = 0; v < n_nodes; v++)
        memcpy(prepared->states[1] + v * D, state, sizeof state);
}

static void gather_background(acq_ultra_prepared *prepared, const acq_ultra_network *network,
                              const acq_edges *entities, size_t l)
{
    acq_messages pass = acq_edges_get_messages(entities);
    pass.width = pass.ld_in = pass.ld_out = D;
    pass.vectors = prepared->projected[l];
    pass.in = prepared->states[l];
    pass.out = prepared->messages[l];
    memset(pass.out, 0, (size_t)entities->n_nodes * D * sizeof *pass.out);
    network->kernels->gather(&pass, entities->n_nodes, NULL);
}

static void score_background(acq_ultra_prepared *prepared, const acq_ultra_network *network,
                             size_t n_nodes)
{
    const float *states = prepared->states[LAYERS - 1], *messages = prepared->messages[LAYERS - 1];
    float last[ACQ_ULTRA_BLOCK * D];
    for (size_t v = 0; v < n_nodes; v += ACQ_ULTRA_BLOCK) {
        size_t n = n_nodes - v < ACQ_ULTRA_BLOCK ? n_nodes - v : ACQ_ULTRA_BLOCK;
        acq_ultra_apply(network, &network->entity[LAYERS - 1], n, states + v * D, messages + v * D,
                        last);
        acq_ultra_score(network, prepared->score_bias, n, last, prepared->scores + v);
    }
}

void acq_ultra_prepare(acq_ultra_prepared *prepared, const acq_ultra_network *network,
                       const acq_edges *relations, const acq_edges *entities, acq_rel relation)
{
    size_t n_nodes = entities->n_nodes;
    acq_ultra_compute_vectors(network, relations, acq_ultra_get_query(network->model, relation),
                              prepared->vectors, prepared->work);
    for (size_t l = 0; l < LAYERS; l++)
        acq_ultra_project(network, l, relations->n_nodes, prepared->vectors,
                          prepared->projected[l]);
    acq_ultra_start_score(network, prepared->vectors + relation * D, prepared->score_bias);
    start_background(prepared, network, n_nodes);
    for (size_t l = 1; l < LAYERS; l++) {
        gather_background(prepared, network, entities, l);
        if (l + 1 < LAYERS)
            acq_ultra_apply(network, &network->entity[l], n_nodes, prepared->states[l],
                            prepared->messages[l], prepared->states[l + 1]);
    }
    score_background(prepared, network, n_nodes);
    prepared->relation = relation;
}
