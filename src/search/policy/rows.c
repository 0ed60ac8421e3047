/* rows.c - rows, terms and nodes of several walks in one numbering; see network.h. */
#include "base/memory.h"
#include "search/policy/network.h"

void acq_rows_deinit(acq_rows *batch)
{
    acq_free(batch->terms);
    acq_free(batch->origins);
    acq_free(batch->labels);
    acq_free(batch->assigned);
    acq_free(batch->first_edges);
    acq_free(batch->edge_nodes);
    *batch = (acq_rows){0};
}

void acq_rows_clear(acq_rows *batch)
{
    batch->n_rows = batch->n_terms = batch->n_nodes = batch->n_edges = 0;
}

/* All arrays of one length share a capacity: the last one reserved moves it. */
static acq_status reserve(acq_rows *batch, size_t rows, size_t terms, size_t edges)
{
    size_t old = batch->rows_capacity, c1 = old, c2 = old, c3 = old;
    if (ACQ_RESERVE(batch->terms, c1, rows) != ACQ_OK ||
        ACQ_RESERVE(batch->origins, c2, rows) != ACQ_OK ||
        ACQ_RESERVE(batch->labels, c3, rows) != ACQ_OK ||
        ACQ_RESERVE(batch->assigned, batch->rows_capacity, rows) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (ACQ_RESERVE(batch->first_edges, batch->terms_capacity, terms + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    return ACQ_RESERVE(batch->edge_nodes, batch->edges_capacity, edges);
}

static void add_rows(acq_rows *batch, const acq_walk *walk, uint32_t first_before)
{
    size_t row = batch->n_rows;
    for (uint32_t c = 0; c < walk->n_classes; c++, row++) {
        batch->terms[row] = (uint32_t)batch->n_terms + walk->class_terms[c];
        batch->origins[row] =
            first_before == ACQ_NO_ID ? ACQ_NO_ID : first_before + walk->origins[c];
        batch->labels[row] = walk->labels + (size_t)c * walk->board->most_edges;
        batch->assigned[row] = walk->assigned[c];
    }
    batch->n_rows = row;
}

acq_status acq_rows_add(acq_rows *batch, const acq_walk *walk, uint32_t first_before)
{
    const acq_board *board = walk->board;
    uint32_t n_edges = board->first_edges[board->n_terms];
    if (reserve(batch, batch->n_rows + walk->n_classes, batch->n_terms + board->n_terms,
                batch->n_edges + n_edges) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    add_rows(batch, walk, first_before);
    for (uint32_t t = 0; t <= board->n_terms; t++)
        batch->first_edges[batch->n_terms + t] = (uint32_t)batch->n_edges + board->first_edges[t];
    for (uint32_t e = 0; e < n_edges; e++)
        batch->edge_nodes[batch->n_edges + e] = (uint32_t)batch->n_nodes + board->edge_nodes[e];
    batch->n_terms += board->n_terms;
    batch->n_nodes += board->n_nodes;
    batch->n_edges += n_edges;
    return ACQ_OK;
}
