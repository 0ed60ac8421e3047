/* pass.c - the memory of one query and what its layers run over, see network.h. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "models/nbfnet/network.h"

enum {
    D = ACQ_NBFNET_WIDTH,
    A = ACQ_NBFNET_AGGREGATES,
    H = ACQ_NBFNET_HIDDEN,
    L = ACQ_NBFNET_LAYERS,
    LINE = 16, /* floats of 64 bytes */
};

static const float least_scale = 0.01F;

static uint32_t count_edges(const acq_edges *edges, uint32_t node)
{
    return edges->begins[edges->rows[node + 1]] - edges->begins[edges->rows[node]];
}

void acq_nbfnet_fill_scales(const acq_edges *edges, float *scales)
{
    double sum = 0;
    for (uint32_t v = 0; v < edges->n_nodes; v++) {
        double scale = log1p(count_edges(edges, v));
        scales[v] = (float)scale;
        sum += scale;
    }
    double mean = sum > 0 ? sum / edges->n_nodes : 1;
    for (uint32_t v = 0; v < edges->n_nodes; v++)
        scales[v] = (float)(scales[v] / mean);
}

float acq_nbfnet_get_scale(float s, unsigned which)
{
    if (which == 0)
        return 1;
    return which == 1 ? s : 1 / (s > least_scale ? s : least_scale);
}

void acq_nbfnet_pass_deinit(acq_nbfnet_pass *pass)
{
    acq_edges_deinit(&pass->first);
    acq_free(pass->floats);
    acq_free(pass->numbers);
    *pass = (acq_nbfnet_pass){0};
}

static float *cut(float *block, size_t *used, size_t n)
{
    size_t begin = *used;
    *used += (n + LINE - 1) / LINE * LINE;
    return block == NULL ? NULL : block + begin;
}

static void lay_out_layer(acq_nbfnet_pass *pass, unsigned l, size_t n, float *block, size_t *used)
{
    acq_nbfnet_layer *layer = &pass->layers[l];
    layer->in = l == 0 ? cut(block, used, n * D) : pass->layers[l - 1].out;
    layer->aggregates = cut(block, used, layer->n_rows * A);
    layer->sums = cut(block, used, layer->n_nodes * D);
    layer->stats = cut(block, used, layer->n_nodes * 2);
    layer->fresh = cut(block, used, layer->n_nodes * D);
    layer->own = layer->nodes == NULL ? layer->in : cut(block, used, layer->n_nodes * D);
    layer->out = cut(block, used, layer->n_nodes * D);
}

/* Nothing is kept: a layer overwrites its states, and what is in between is shared. */
static void lay_out_shared(acq_nbfnet_pass *pass, size_t n, float *block, size_t *used)
{
    acq_nbfnet_layer *last = &pass->layers[L - 1];
    float *states = cut(block, used, n * D), *aggregates = cut(block, used, (n + 1) * A);
    float *sums = cut(block, used, n * D);
    for (unsigned l = 0; l < L; l++) {
        acq_nbfnet_layer *layer = &pass->layers[l];
        layer->in = layer->own = layer->out = states;
        layer->aggregates = aggregates;
        layer->sums = layer->fresh = sums;
    }
    if (last->nodes != NULL)
        last->own = last->out = cut(block, used, last->n_nodes * D);
    pass->boundary_slopes = NULL;
}

static void lay_out_backward(acq_nbfnet_pass *pass, const acq_nbfnet_input *input, float *block,
                             size_t *used)
{
    size_t n = input->edges->n_nodes;
    for (unsigned l = 0; l < L; l++)
        lay_out_layer(pass, l, n, block, used);
    pass->slopes = cut(block, used, n * D);
    pass->layer_room = cut(block, used, n * D);
    pass->aggregate_slopes = cut(block, used, (n + 1) * A);
    pass->hidden_slopes = cut(block, used, pass->layers[L - 1].n_nodes * H);
    pass->boundary_slopes = cut(block, used, input->n_heads * D);
}

/* Floats needed; with a block, also points the matrices into it. */
static size_t lay_out(acq_nbfnet_pass *pass, const acq_nbfnet_input *input, bool keeps,
                      float *block)
{
    size_t n = input->edges->n_nodes, used = 0;
    pass->boundary = cut(block, &used, input->n_heads * D);
    pass->products = cut(block, &used, (n + 1) * ACQ_NBFNET_SCALES * D);
    pass->hidden = cut(block, &used, pass->layers[L - 1].n_nodes * H);
    if (keeps)
        lay_out_backward(pass, input, block, &used);
    else
        lay_out_shared(pass, n, block, &used);
    return used;
}

static acq_status reserve_floats(acq_nbfnet_pass *pass, size_t need)
{
    if (need <= pass->floats_room)
        return ACQ_OK;
    float *floats = acq_alloc(need + need / 4, sizeof *floats);
    if (floats == NULL)
        return ACQ_ERR_MEMORY;
    acq_free(pass->floats);
    pass->floats = floats;
    pass->floats_room = need + need / 4;
    return ACQ_OK;
}

static acq_status reserve_numbers(acq_nbfnet_pass *pass, const acq_nbfnet_input *input)
{
    size_t n = input->edges->n_nodes;
    if (ACQ_RESERVE(pass->numbers, pass->numbers_room, 4 * n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    pass->slots = pass->numbers;
    pass->rows = pass->slots + n;
    pass->reached = pass->rows + n;
    pass->zeros = pass->reached + n;
    memset(pass->slots, 0xff, n * sizeof *pass->slots);
    for (size_t i = 0; i < input->n_heads; i++)
        pass->slots[input->heads[i]] = (uint32_t)i;
    return ACQ_OK;
}

/* The edges of a group that come from heads. */
static acq_status find_sources(acq_nbfnet_pass *pass, const acq_edges *edges, uint32_t g)
{
    bool is_open = false;
    uint32_t end = edges->begins[g + 1];
    for (uint32_t s = edges->begins[g]; s < end; s++) {
        if (pass->slots[edges->sources[s]] == ACQ_NO_ID)
            continue;
        if (!is_open && acq_edges_add_group(&pass->first, edges->relations[g], edges->reversed[g],
                                            end - s) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        is_open = true;
        acq_edges_add_source(&pass->first, edges->sources[s]);
    }
    return ACQ_OK;
}

/* Nodes that are heads or receive from one, with the edges they receive along. */
static acq_status find_reached(acq_nbfnet_pass *pass, const acq_edges *edges)
{
    pass->n_reached = 0;
    if (acq_edges_start(&pass->first, edges->n_nodes, edges->n_relations) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t v = 0; v < edges->n_nodes; v++) {
        uint32_t before = pass->first.n_edges;
        for (uint32_t g = edges->rows[v]; g < edges->rows[v + 1]; g++)
            if (find_sources(pass, edges, g) != ACQ_OK)
                return ACQ_ERR_MEMORY;
        uint32_t found = pass->first.n_edges - before;
        pass->rows[v] = 0;
        if (found == 0 && pass->slots[v] == ACQ_NO_ID)
            continue;
        acq_edges_finish_node(&pass->first, pass->n_reached);
        pass->reached[pass->n_reached] = v;
        pass->zeros[pass->n_reached] = count_edges(edges, v) - found;
        pass->rows[v] = ++pass->n_reached;
    }
    return ACQ_OK;
}

static void plan_layers(acq_nbfnet_pass *pass, const acq_nbfnet_input *input)
{
    size_t n = input->edges->n_nodes;
    for (unsigned l = 0; l < L; l++)
        pass->layers[l] = (acq_nbfnet_layer){.n_nodes = n, .n_rows = n};
    pass->layers[0].rows = pass->rows;
    pass->layers[0].n_rows = (size_t)pass->n_reached + 1;
    if (input->targets == NULL)
        return;
    pass->layers[L - 1].nodes = input->targets;
    pass->layers[L - 1].n_nodes = pass->layers[L - 1].n_rows = input->n_targets;
}

acq_status acq_nbfnet_pass_prepare(acq_nbfnet_pass *pass, const acq_nbfnet_input *input, bool keeps)
{
    if (reserve_numbers(pass, input) != ACQ_OK || find_reached(pass, input->edges) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    plan_layers(pass, input);
    if (reserve_floats(pass, lay_out(pass, input, keeps, NULL)) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    lay_out(pass, input, keeps, pass->floats);
    return ACQ_OK;
}

acq_messages acq_nbfnet_get_messages(const acq_nbfnet_pass *pass, const acq_nbfnet_input *input,
                                     unsigned layer)
{
    acq_messages messages = acq_edges_get_messages(layer == 0 ? &pass->first : input->edges);
    messages.width = D;
    messages.vectors = input->vectors[layer];
    messages.in = pass->layers[layer].in;
    messages.ld_in = D;
    return messages;
}

uint32_t acq_nbfnet_start_row(const acq_nbfnet_pass *pass, unsigned layer, size_t row,
                              acq_pna_start *start)
{
    const uint32_t *nodes = layer == 0 ? pass->reached : pass->layers[layer].nodes;
    uint32_t node = nodes == NULL ? (uint32_t)row : nodes[row];
    uint32_t slot = pass->slots[node];
    *start = (acq_pna_start){0};
    if (layer == 0)
        start->n_zero = pass->zeros[row];
    if (slot != ACQ_NO_ID) {
        start->boundary = pass->boundary + (size_t)slot * D;
        if (pass->boundary_slopes != NULL)
            start->dboundary = pass->boundary_slopes + (size_t)slot * D;
    }
    return layer == 0 ? (uint32_t)row : node;
}
