/* tally.h - how many facts of a relation each body links: a hash table from bodies to counts,
 * in which a body counts once per fact however many paths it has. */
#ifndef ACQ_MODELS_RULES_TALLY_H
#define ACQ_MODELS_RULES_TALLY_H

#include "models/rules/body.h"

typedef struct acq_tally_entry {
    uint64_t key; /* of the body */
    uint32_t hits;
    uint32_t last; /* the fact that was counted last; 0: the place is free */
} acq_tally_entry;

typedef struct acq_tally {
    acq_tally_entry *entries;
    size_t n, capacity; /* a power of two */
} acq_tally;

void acq_tally_deinit(acq_tally *tally);

/* Forgets all counts; the memory stays. */
void acq_tally_clear(acq_tally *tally);

/* fact counts from 1 and does not fall. */
acq_status acq_tally_add(acq_tally *tally, acq_body body, uint32_t fact);

#endif
