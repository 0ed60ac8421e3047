/* pass.c - the memory of one query and what its layers run over, see network.h. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "models/nbfnet/network.h"

enum {
    D = ACQ_NBFNET_WIDTH,
    H = ACQ_NBFNET_HIDDEN,
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
    for (unsigned l = 0; l < ACQ_NBFNET_MOST_LAYERS; l++)
        acq_edges_deinit(&pass->visited[l]);
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

/* What memory is laid out for. */
typedef struct plan {
    acq_nbfnet_pass *pass;
    const acq_nbfnet *model;
    const acq_nbfnet_input *input;
    size_t n;      /* all nodes */
    unsigned last; /* layer */
} plan;

/* Where it visits, senders and receivers are counted later: at most all nodes. */
static void lay_out_visit(const plan *p, unsigned l, bool keeps, float *block, size_t *used)
{
    acq_nbfnet_layer *layer = &p->pass->layers[l];
    layer->weights = cut(block, used, p->n);
    layer->sent = cut(block, used, p->n * D);
    layer->after = keeps ? cut(block, used, p->n * D) : layer->in;
}

static void lay_out_layer(const plan *p, unsigned l, float *block, size_t *used)
{
    acq_nbfnet_layer *layer = &p->pass->layers[l], *before = layer - (l > 0);
    bool visits = p->pass->visits && l > 0;
    if (l == 0)
        layer->in = cut(block, used, p->n * D);
    else
        layer->in = p->pass->visits && l > 1 ? before->after : before->out;
    layer->aggregates = cut(block, used, layer->n_rows * acq_nbfnet_count_aggregates(p->model));
    layer->sums = cut(block, used, layer->n_nodes * D);
    layer->stats = cut(block, used, layer->n_nodes * 2);
    layer->fresh = cut(block, used, layer->n_nodes * D);
    layer->own = layer->nodes == NULL && !visits ? layer->in : cut(block, used, layer->n_nodes * D);
    layer->out = cut(block, used, layer->n_nodes * D);
    if (visits)
        lay_out_visit(p, l, true, block, used);
}

/* Nothing is kept: a layer overwrites its states, and what is in between is shared. */
static void lay_out_shared(const plan *p, float *block, size_t *used)
{
    acq_nbfnet_layer *layers = p->pass->layers, *last = &layers[p->last];
    float *states = cut(block, used, p->n * D);
    float *aggregates = cut(block, used, (p->n + 1) * acq_nbfnet_count_aggregates(p->model));
    float *sums = cut(block, used, p->n * D);
    float *rows = p->pass->visits ? cut(block, used, p->n * D) : states;
    for (unsigned l = 0; l <= p->last; l++) {
        acq_nbfnet_layer *layer = &layers[l];
        layer->in = states;
        layer->own = layer->out = l == 0 ? states : rows;
        layer->aggregates = aggregates;
        layer->sums = layer->fresh = sums;
    }
    if (last->nodes != NULL)
        last->own = last->out = cut(block, used, last->n_nodes * D);
    size_t before = *used;
    for (unsigned l = 1; l <= p->last && p->pass->visits; l++) {
        *used = before;
        lay_out_visit(p, l, false, block, used);
    }
    p->pass->boundary_slopes = NULL;
}

static void lay_out_backward(const plan *p, float *block, size_t *used)
{
    acq_nbfnet_pass *pass = p->pass;
    size_t n_results = p->input->targets == NULL ? p->n : p->input->n_targets;
    for (unsigned l = 0; l <= p->last; l++)
        lay_out_layer(p, l, block, used);
    pass->slopes = cut(block, used, p->n * D);
    pass->layer_room = cut(block, used, p->n * D);
    pass->aggregate_slopes = cut(block, used, (p->n + 1) * acq_nbfnet_count_aggregates(p->model));
    pass->hidden_slopes = cut(block, used, (pass->visits ? p->n : n_results) * H);
    pass->boundary_slopes = cut(block, used, p->input->n_heads * D);
    pass->row_slopes = pass->visits ? cut(block, used, p->n * D) : NULL;
}

/* Floats needed; with a block, also points the matrices into it. */
static size_t lay_out(const plan *p, bool keeps, float *block)
{
    acq_nbfnet_pass *pass = p->pass;
    size_t used = 0, n_results = p->input->targets == NULL ? p->n : p->input->n_targets;
    pass->boundary = cut(block, &used, p->input->n_heads * D);
    pass->products = cut(block, &used, (p->n + 1) * acq_nbfnet_count_scales(p->model) * D);
    pass->hidden = cut(block, &used, (pass->visits ? p->n : n_results) * H);
    pass->results_room = pass->visits ? cut(block, &used, n_results * D) : NULL;
    pass->priorities = pass->visits ? cut(block, &used, p->n) : NULL;
    if (keeps)
        lay_out_backward(p, block, &used);
    else
        lay_out_shared(p, block, &used);
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

static acq_status reserve_numbers(acq_nbfnet_pass *pass, const acq_nbfnet_input *input,
                                  unsigned n_layers)
{
    size_t n = input->edges->n_nodes, lists = 8 + 2 * (size_t)n_layers;
    if (ACQ_RESERVE(pass->numbers, pass->numbers_room, lists * n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    pass->slots = pass->numbers;
    pass->rows = pass->slots + n;
    pass->reached = pass->rows + n;
    pass->zeros = pass->reached + n;
    pass->order = pass->zeros + n;
    pass->counts = pass->order + n;
    pass->places = pass->counts + n;
    pass->marks = pass->places + n;
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

/* marks: which nodes may be heads or receive from one. What a head receives from it sends to. */
static void mark_reached(acq_nbfnet_pass *pass, const acq_nbfnet_input *input)
{
    const acq_edges *edges = input->edges;
    memset(pass->marks, input->is_one_way ? 1 : 0, edges->n_nodes * sizeof *pass->marks);
    for (size_t i = 0; i < input->n_heads && !input->is_one_way; i++) {
        uint32_t head = input->heads[i];
        pass->marks[head] = 1;
        for (uint32_t s = edges->begins[edges->rows[head]];
             s < edges->begins[edges->rows[head + 1]]; s++)
            pass->marks[edges->sources[s]] = 1;
    }
}

/* Nodes that are heads or receive from one, with the edges they receive along. */
static acq_status find_reached(acq_nbfnet_pass *pass, const acq_nbfnet_input *input)
{
    const acq_edges *edges = input->edges;
    mark_reached(pass, input);
    memset(pass->rows, 0, edges->n_nodes * sizeof *pass->rows);
    pass->n_reached = 0;
    if (acq_edges_start(&pass->first, edges->n_nodes, edges->n_relations) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t v = 0; v < edges->n_nodes; v++) {
        uint32_t before = pass->first.n_edges;
        if (pass->marks[v] == 0)
            continue;
        for (uint32_t g = edges->rows[v]; g < edges->rows[v + 1]; g++)
            if (find_sources(pass, edges, g) != ACQ_OK)
                return ACQ_ERR_MEMORY;
        uint32_t found = pass->first.n_edges - before;
        if (found == 0 && pass->slots[v] == ACQ_NO_ID)
            continue;
        acq_edges_finish_node(&pass->first, pass->n_reached);
        pass->reached[pass->n_reached] = v;
        pass->zeros[pass->n_reached] = count_edges(edges, v) - found;
        pass->rows[v] = ++pass->n_reached;
    }
    return ACQ_OK;
}

static void plan_layers(const plan *p)
{
    acq_nbfnet_pass *pass = p->pass;
    for (unsigned l = 0; l <= p->last; l++) {
        acq_nbfnet_layer *layer = &pass->layers[l];
        *layer = (acq_nbfnet_layer){.n_nodes = p->n, .n_rows = p->n};
        layer->senders = pass->marks + (2 * (size_t)l + 1) * p->n; /* used where it visits */
        layer->receivers = layer->senders + p->n;
    }
    pass->layers[0].rows = pass->rows;
    pass->layers[0].n_rows = (size_t)pass->n_reached + 1;
    if (p->input->targets == NULL || pass->visits)
        return;
    pass->layers[p->last].nodes = p->input->targets;
    pass->layers[p->last].n_nodes = pass->layers[p->last].n_rows = p->input->n_targets;
}

acq_status acq_nbfnet_pass_prepare(acq_nbfnet_pass *pass, const acq_nbfnet *model,
                                   const acq_nbfnet_input *input, bool keeps)
{
    plan p = {pass, model, input, input->edges->n_nodes, model->shape.layers - 1};
    pass->visits = model->shape.weighs || input->visit.nodes > 0;
    if (reserve_numbers(pass, input, model->shape.layers) != ACQ_OK ||
        find_reached(pass, input) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    plan_layers(&p);
    if (reserve_floats(pass, lay_out(&p, keeps, NULL)) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    lay_out(&p, keeps, pass->floats);
    return ACQ_OK;
}

/* ---- what a layer visits ---- */

static bool is_before(const float *priorities, uint32_t a, uint32_t b)
{
    return priorities[a] > priorities[b] || (!(priorities[a] < priorities[b]) && a < b);
}

/* Hoare's partition of order[low, high) around its middle; the end of its first part. */
static size_t split(const float *priorities, uint32_t *order, size_t low, size_t high)
{
    uint32_t pivot = order[low + (high - low - 1) / 2];
    for (size_t i = low, j = high - 1;; i++, j--) {
        while (is_before(priorities, order[i], pivot))
            i++;
        while (is_before(priorities, pivot, order[j]))
            j--;
        if (i >= j)
            return j + 1;
        uint32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* Puts first the nodes of the highest priority whose costs (NULL: 1 each) do not exceed the budget
 * together, and returns how many these are. */
static size_t select_first(const float *priorities, uint32_t *order, size_t n,
                           const uint32_t *costs, uint64_t budget)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t end = high - low == 1 ? high : split(priorities, order, low, high);
        uint64_t cost = 0;
        for (size_t i = low; i < end; i++)
            cost += costs == NULL ? 1 : costs[order[i]];
        if (cost <= budget) {
            budget -= cost;
            low = end;
        } else if (end - low == 1) {
            break;
        } else {
            high = end;
        }
    }
    return low;
}

/* The first of order, ascending; places of all n nodes: 1 + place in the list, or 0. */
static void list_ascending(const uint32_t *order, size_t n_first, size_t n, uint32_t *places,
                           uint32_t *list)
{
    uint32_t count = 0;
    memset(places, 0, n * sizeof *places);
    for (size_t i = 0; i < n_first; i++)
        places[order[i]] = 1;
    for (uint32_t v = 0; v < n; v++)
        if (places[v] != 0) {
            list[count++] = v;
            places[v] = count;
        }
}

static size_t get_share(float share, size_t n)
{
    double most = ceil((double)share * (double)n);
    return share == 0 || most >= (double)n ? n : (size_t)most;
}

static void choose_senders(acq_nbfnet_pass *pass, const acq_nbfnet_input *input,
                           acq_nbfnet_layer *layer)
{
    size_t n = input->edges->n_nodes;
    for (uint32_t v = 0; v < n; v++)
        pass->order[v] = v;
    layer->n_senders =
        select_first(pass->priorities, pass->order, n, NULL, get_share(input->visit.nodes, n));
    list_ascending(pass->order, layer->n_senders, n, pass->places, layer->senders);
}

/* Of each node: its edges from senders. What a node receives from is what it sends to. */
static void count_received(acq_nbfnet_pass *pass, const acq_nbfnet_input *input,
                           const acq_nbfnet_layer *layer)
{
    const acq_edges *edges = input->edges;
    memset(pass->counts, 0, edges->n_nodes * sizeof *pass->counts);
    for (uint32_t v = 0; v < edges->n_nodes && input->is_one_way; v++)
        for (uint32_t s = edges->begins[edges->rows[v]]; s < edges->begins[edges->rows[v + 1]]; s++)
            pass->counts[v] += pass->places[edges->sources[s]] != 0;
    for (size_t i = 0; i < layer->n_senders && !input->is_one_way; i++) {
        uint32_t begin = edges->begins[edges->rows[layer->senders[i]]];
        uint32_t end = edges->begins[edges->rows[layer->senders[i] + 1]];
        for (uint32_t s = begin; s < end; s++)
            pass->counts[edges->sources[s]]++;
    }
}

/* The edges to a node from senders, by their places. */
static acq_status add_received(acq_nbfnet_pass *pass, const acq_edges *edges, uint32_t node,
                               acq_edges *out)
{
    uint32_t left = pass->counts[node];
    for (uint32_t g = edges->rows[node]; g < edges->rows[node + 1] && left > 0; g++) {
        uint32_t begin = edges->begins[g], end = edges->begins[g + 1], before = out->n_edges;
        if (acq_edges_add_group(out, edges->relations[g], edges->reversed[g], end - begin + 1) !=
            ACQ_OK)
            return ACQ_ERR_MEMORY;
        uint32_t *to = out->sources + before;
        for (uint32_t s = begin; s < end; s++) {
            uint32_t place = pass->places[edges->sources[s]];
            *to = place - 1;
            to += place != 0;
        }
        out->n_edges = (uint32_t)(to - out->sources);
        left -= out->n_edges - before;
    }
    return ACQ_OK;
}

/* Candidates in order: nodes that senders reach, and those that nothing could. */
static size_t list_candidates(acq_nbfnet_pass *pass, const acq_nbfnet_input *input, bool is_last)
{
    bool has_targets = is_last && input->targets != NULL;
    size_t n = has_targets ? input->n_targets : input->edges->n_nodes, count = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t v = has_targets ? input->targets[i] : (uint32_t)i;
        if (pass->counts[v] > 0 || count_edges(input->edges, v) == 0)
            pass->order[count++] = v;
    }
    return count;
}

acq_status acq_nbfnet_pass_choose(acq_nbfnet_pass *pass, const acq_nbfnet *model,
                                  const acq_nbfnet_input *input, unsigned layer)
{
    const acq_edges *edges = input->edges;
    acq_nbfnet_layer *at = &pass->layers[layer];
    acq_edges *visited = &pass->visited[layer];
    choose_senders(pass, input, at);
    count_received(pass, input, at);
    size_t n = list_candidates(pass, input, layer + 1 == model->shape.layers);
    n = select_first(pass->priorities, pass->order, n, pass->counts,
                     get_share(input->visit.edges, edges->n_edges));
    list_ascending(pass->order, n, edges->n_nodes, pass->marks, at->receivers);
    at->nodes = at->receivers;
    at->n_nodes = at->n_rows = n;
    if (acq_edges_start(visited, (uint32_t)n, edges->n_relations) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        if (add_received(pass, edges, at->receivers[i], visited) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        acq_edges_finish_node(visited, i);
    }
    return ACQ_OK;
}

/* ---- messages ---- */

acq_messages acq_nbfnet_get_messages(const acq_nbfnet_pass *pass, const acq_nbfnet_input *input,
                                     unsigned layer)
{
    bool visits = pass->visits && layer > 0;
    const acq_edges *edges = visits ? &pass->visited[layer] : input->edges;
    acq_messages messages = acq_edges_get_messages(layer == 0 ? &pass->first : edges);
    messages.width = D;
    messages.vectors = input->vectors[layer];
    messages.in = visits ? pass->layers[layer].sent : pass->layers[layer].in;
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
    return layer == 0 || pass->visits ? (uint32_t)row : node;
}
