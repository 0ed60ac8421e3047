/* relation_net.c - see relation_net.h. */
#include "models/ultra/relation_net.h"

#include <string.h>

enum { D = ACQ_ULTRA_WIDTH };

static acq_status add_row(acq_edges *edges, const acq_relation_graph *graph, acq_rel row)
{
    for (unsigned kind = 0; kind < ACQ_ULTRA_KINDS; kind++) {
        uint32_t begin = graph->offsets[kind][row], end = graph->offsets[kind][row + 1];
        if (acq_edges_add_group(edges, kind, kind, end - begin) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        for (uint32_t i = begin; i < end; i++)
            acq_edges_add_source(edges, graph->columns[kind][i]);
    }
    acq_edges_finish_node(edges, row);
    return ACQ_OK;
}

acq_status acq_relation_edges_init(acq_edges *edges, const acq_graph *graph, acq_error *error)
{
    acq_relation_graph relations;
    *edges = (acq_edges){0};
    acq_status status = acq_relation_graph_init(&relations, graph, error);
    if (status != ACQ_OK)
        return status;
    status = acq_edges_start(edges, relations.n_relations, ACQ_ULTRA_KINDS);
    for (acq_rel r = 0; r < relations.n_relations && status == ACQ_OK; r++)
        status = add_row(edges, &relations, r);
    acq_relation_graph_deinit(&relations);
    if (status == ACQ_OK)
        return ACQ_OK;
    acq_edges_deinit(edges);
    return acq_fail_memory(error);
}

/* The boundary and the first state: ones at the query relation. */
static void add_boundary(float *rows, acq_rel query)
{
    for (size_t i = 0; i < D; i++)
        rows[query * D + i] += 1.0F;
}

void acq_ultra_compute_vectors(const acq_ultra_network *network, const acq_edges *edges,
                               acq_rel query, float *vectors, float *work)
{
    size_t n = edges->n_nodes, length = n * D;
    float *states = vectors, *next = work, *messages = work + length;
    acq_messages pass = acq_edges_get_messages(edges);
    pass.width = pass.ld_in = pass.ld_out = D;
    pass.out = messages;
    memset(states, 0, length * sizeof *states);
    add_boundary(states, query);
    for (size_t l = 0; l < ACQ_ULTRA_LAYERS; l++) {
        size_t kinds = acq_ultra_relation_tensor(l, ACQ_ULTRA_RELATIONS);
        pass.vectors = acq_ultra_get(network->model, kinds);
        pass.in = states;
        memset(messages, 0, length * sizeof *messages);
        add_boundary(messages, query);
        network->kernels->gather(&pass, n, NULL);
        acq_ultra_apply(network, &network->relation[l], n, states, messages, next);
        float *done = states;
        states = next;
        next = done;
    }
    _Static_assert(ACQ_ULTRA_LAYERS % 2 == 0, "the last states are in vectors");
}
