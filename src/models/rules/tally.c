/* tally.c - open addressing, doubled at half load. */
#include "models/rules/tally.h"

#include <string.h>

#include "base/memory.h"
#include "base/random.h"

enum { FIRST_CAPACITY = 1024 };

void acq_tally_deinit(acq_tally *tally)
{
    acq_free(tally->entries);
    *tally = (acq_tally){0};
}

void acq_tally_clear(acq_tally *tally)
{
    if (tally->n > 0)
        memset(tally->entries, 0, tally->capacity * sizeof *tally->entries);
    tally->n = 0;
}

static acq_tally_entry *find(const acq_tally *tally, uint64_t key)
{
    size_t mask = tally->capacity - 1;
    size_t i = (size_t)acq_random_mix(key) & mask;
    while (tally->entries[i].last != 0 && tally->entries[i].key != key)
        i = (i + 1) & mask;
    return &tally->entries[i];
}

static acq_status grow(acq_tally *tally)
{
    acq_tally larger = {.n = tally->n};
    larger.capacity = tally->capacity == 0 ? FIRST_CAPACITY : 2 * tally->capacity;
    larger.entries = acq_zalloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < tally->capacity; i++) {
        if (tally->entries[i].last != 0)
            *find(&larger, tally->entries[i].key) = tally->entries[i];
    }
    acq_free(tally->entries);
    *tally = larger;
    return ACQ_OK;
}

acq_status acq_tally_add(acq_tally *tally, acq_body body, uint32_t fact)
{
    if (2 * tally->n >= tally->capacity && grow(tally) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    uint64_t key = acq_body_get_key(body);
    acq_tally_entry *entry = find(tally, key);
    if (entry->last == 0)
        *entry = (acq_tally_entry){.key = key}, tally->n++;
    entry->hits += entry->last != fact;
    entry->last = fact;
    return ACQ_OK;
}
