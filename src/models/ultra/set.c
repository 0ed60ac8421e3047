/* set.c - see set.h. */
#include "models/ultra/set.h"

#include <string.h>

#include "base/memory.h"

enum {
    D = ACQ_ULTRA_WIDTH,
    PAIR = ACQ_ULTRA_PAIR,
    LAYERS = ACQ_ULTRA_LAYERS,
    BLOCK = ACQ_ULTRA_BLOCK
};

acq_status acq_ultra_set_init(acq_ultra_set *set, uint32_t n_entities)
{
    size_t n = (size_t)n_entities * D;
    acq_ultra_array arrays[] = {{&set->states, n}, {&set->next, n}};
    set->nodes = acq_alloc(n_entities, sizeof *set->nodes);
    if (set->nodes == NULL || acq_ultra_allocate(arrays, 2, &set->block) != ACQ_OK) {
        acq_ultra_set_deinit(set);
        return ACQ_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < n_entities; i++)
        set->nodes[i] = i;
    return ACQ_OK;
}

void acq_ultra_set_deinit(acq_ultra_set *set)
{
    acq_free(set->nodes);
    acq_free(set->block);
    *set = (acq_ultra_set){0};
}

static void add_boundary(const acq_ultra_set_run *run, size_t node, float *to)
{
    float degree = run->degrees[node];
    for (size_t j = 0; j < D && degree != 0; j++)
        to[j] += degree * run->query[j];
}

/* One layer for n <= BLOCK entities from `first` on. */
static void run_block(const acq_ultra_set *set, const acq_ultra_set_run *run, size_t layer,
                      size_t first, size_t n)
{
    _Alignas(64) float pairs[BLOCK * PAIR];
    acq_messages messages = acq_edges_get_messages(run->edges);
    messages.width = messages.ld_in = D;
    messages.vectors = run->projected[layer];
    messages.in = set->states;
    messages.out = pairs + D;
    messages.ld_out = PAIR;
    run->network->kernels->gather_rows(&messages, n, set->nodes + first);
    for (size_t i = 0; i < n; i++) {
        memcpy(pairs + i * PAIR, set->states + (first + i) * D, D * sizeof *pairs);
        add_boundary(run, first + i, pairs + i * PAIR + D);
    }
    acq_ultra_apply_to_pairs(run->network, &run->network->layers[ACQ_ENTITY_NET][layer], n, pairs,
                             NULL, set->next + first * D);
}

void acq_ultra_set_score(acq_ultra_set *set, const acq_ultra_set_run *run, float *out)
{
    size_t n_nodes = run->edges->n_nodes;
    memset(set->states, 0, n_nodes * D * sizeof *set->states);
    for (size_t v = 0; v < n_nodes; v++)
        add_boundary(run, v, set->states + v * D);
    for (size_t layer = 0; layer < LAYERS; layer++) {
        for (size_t v = 0; v < n_nodes; v += BLOCK)
            run_block(set, run, layer, v, n_nodes - v < BLOCK ? n_nodes - v : BLOCK);
        float *states = set->next;
        set->next = set->states;
        set->states = states;
    }
    for (size_t v = 0; v < n_nodes; v += BLOCK)
        acq_ultra_score(run->network, run->score_bias, n_nodes - v < BLOCK ? n_nodes - v : BLOCK,
                        set->states + v * D, out + v);
}
