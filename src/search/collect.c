/* collect.c - see collect.h. */
#include "search/collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void acq_collector_init(acq_collector *collector, acq_search_result *result, uint32_t n_variables,
                        uint64_t limit)
{
    *collector = (acq_collector){.result = result, .n_variables = n_variables, .limit = limit};
}

void acq_collector_deinit(acq_collector *collector)
{
    acq_free(collector->answers);
    collector->answers = NULL;
}

static bool is_full(const acq_collector *c)
{
    return c->limit != 0 && c->result->n_answers >= c->limit;
}

double acq_collector_get_bar(const acq_collector *collector, double floor)
{
    if (!is_full(collector))
        return floor;
    return fmax(floor, nextafter(collector->answers[0].score, INFINITY));
}

static void swap(acq_assignment *a, acq_assignment *b)
{
    acq_assignment copy = *a;
    *a = *b;
    *b = copy;
}

static void sift_up(acq_assignment *heap, size_t i)
{
    for (; i > 0 && heap[i].score < heap[(i - 1) / 2].score; i = (i - 1) / 2)
        swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(acq_assignment *heap, size_t n, size_t i)
{
    for (;;) {
        size_t least = i, left = 2 * i + 1, right = left + 1;
        if (left < n && heap[left].score < heap[least].score)
            least = left;
        if (right < n && heap[right].score < heap[least].score)
            least = right;
        if (least == i)
            return;
        swap(&heap[i], &heap[least]);
        i = least;
    }
}

acq_status acq_collector_offer(acq_collector *collector, const acq_ent *values, double score)
{
    acq_search_result *result = collector->result;
    size_t bytes = collector->n_variables * sizeof *values;
    if (is_full(collector)) {
        if (score <= collector->answers[0].score)
            return ACQ_OK;
        collector->answers[0].score = score;
        memcpy(collector->answers[0].values, values, bytes);
        sift_down(collector->answers, result->n_answers, 0);
        return ACQ_OK;
    }
    acq_ent *copy = acq_arena_alloc(&result->arena, collector->n_variables, sizeof *copy);
    if (copy == NULL ||
        ACQ_RESERVE(collector->answers, collector->capacity, result->n_answers + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    memcpy(copy, values, bytes);
    collector->answers[result->n_answers++] = (acq_assignment){.score = score, .values = copy};
    sift_up(collector->answers, result->n_answers - 1);
    return ACQ_OK;
}

static int compare(const void *left, const void *right, void *context)
{
    const acq_assignment *a = left, *b = right;
    const uint32_t *n = context;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    for (uint32_t i = 0; i < *n; i++)
        if (a->values[i] != b->values[i])
            return a->values[i] < b->values[i] ? -1 : 1;
    return 0;
}

acq_status acq_collector_finish(acq_collector *collector)
{
    acq_search_result *result = collector->result;
    size_t n = result->n_answers;
    result->answers = acq_arena_alloc(&result->arena, n, sizeof *result->answers);
    if (result->answers == NULL) {
        result->n_answers = 0;
        return ACQ_ERR_MEMORY;
    }
    if (n > 0) {
        memcpy(result->answers, collector->answers, n * sizeof *result->answers);
        qsort_r(result->answers, n, sizeof *result->answers, compare, &collector->n_variables);
    }
    return ACQ_OK;
}
