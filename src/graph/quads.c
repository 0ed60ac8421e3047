/* quads.c - which facts stand in which named graphs; see graph.h. */
#include <stdlib.h>

#include "base/memory.h"
#include "graph/parts.h"

int acq_quad_compare(const void *left, const void *right)
{
    const acq_quad *a = left, *b = right;
    if (a->graph != b->graph)
        return a->graph < b->graph ? -1 : 1;
    if (a->relation != b->relation)
        return a->relation < b->relation ? -1 : 1;
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    return a->tail < b->tail ? -1 : a->tail > b->tail;
}

void acq_quads_sort(acq_quads *quads)
{
    size_t kept = 0;
    if (quads->n > 0)
        qsort(quads->items, quads->n, sizeof *quads->items, acq_quad_compare);
    for (size_t i = 0; i < quads->n; i++) {
        if (i == 0 || acq_quad_compare(&quads->items[kept - 1], &quads->items[i]) != 0)
            quads->items[kept++] = quads->items[i];
    }
    quads->n = kept;
}

void acq_quads_deinit(acq_quads *quads)
{
    acq_names_deinit(&quads->names);
    acq_free(quads->items);
    *quads = (acq_quads){0};
}

size_t acq_quads_find(const acq_quads *quads, acq_quad item)
{
    size_t i;
    ACQ_SEARCH(i, 0, quads->n, acq_quad_compare(&quads->items[i], &item) < 0);
    return i;
}

bool acq_quads_has(const acq_quads *quads, acq_quad item)
{
    size_t i = acq_quads_find(quads, item);
    return i < quads->n && acq_quad_compare(&quads->items[i], &item) == 0;
}

acq_status acq_graph_open_quads(const acq_graph *graph, const acq_quads **out, acq_error *error)
{
    if (graph->ops != NULL)
        return graph->ops->open_quads(graph->self, out, error);
    *out = graph->quads.is_kept ? &graph->quads : NULL;
    return ACQ_OK;
}
