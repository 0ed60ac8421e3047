/* collect.h - the K best distinct answers seen so far.
 *
 * Bounded: a heap with the worst kept answer on top, so a better one replaces it in O(log K).
 * Unbounded (limit 0): a growing list. Finishing sorts best first, then by values. */
#ifndef ACQ_SEARCH_COLLECT_H
#define ACQ_SEARCH_COLLECT_H

#include "search/search.h"

typedef struct acq_collector {
    acq_search_result *result;
    uint32_t n_variables;
    uint64_t limit; /* 0: none */
    size_t capacity;
    acq_assignment *answers; /* heap memory until finish */
} acq_collector;

void acq_collector_init(acq_collector *collector, acq_search_result *result, uint32_t n_variables,
                        uint64_t limit);
void acq_collector_deinit(acq_collector *collector);

/* Copies the answer if it is among the K best; the caller offers each tuple once. */
acq_status acq_collector_offer(acq_collector *collector, const acq_ent *values, double score);

/* The least score a new answer needs to be kept: `floor` until K answers are there, then more
 * than the worst of them. Above 1: nothing can be added. */
double acq_collector_get_bar(const acq_collector *collector, double floor);

/* Moves the answers to the result, sorted. */
acq_status acq_collector_finish(acq_collector *collector);

#endif
