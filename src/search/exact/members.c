/* members.c - see members.h. */
#include "search/exact/members.h"

#include <string.h>

#include "base/memory.h"

static size_t count_words(uint32_t n_entities)
{
    return (size_t)n_entities / 64 + 1;
}

acq_status acq_exact_members_init(members *set, uint32_t n_entities)
{
    *set = (members){0};
    if (n_entities > ACQ_EXACT_BITMAP_ENTITIES)
        return ACQ_OK;
    set->bits = acq_zalloc(count_words(n_entities), sizeof *set->bits);
    set->touched = acq_alloc(count_words(n_entities), sizeof *set->touched);
    return set->bits == NULL || set->touched == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

void acq_exact_members_deinit(members *set)
{
    acq_free(set->bits);
    acq_free(set->touched);
    acq_free(set->slots);
    *set = (members){0};
}

acq_status acq_exact_members_open(members *set, size_t n)
{
    size_t n_slots = 16;
    while (set->n_touched > 0)
        set->bits[set->touched[--set->n_touched]] = 0;
    if (set->bits != NULL)
        return ACQ_OK;
    while (n_slots < 2 * n)
        n_slots *= 2;
    if (n_slots - 1 > UINT32_MAX || ACQ_RESERVE(set->slots, set->capacity, n_slots) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    set->mask = (uint32_t)(n_slots - 1);
    memset(set->slots, 0, n_slots * sizeof *set->slots);
    return ACQ_OK;
}

size_t acq_exact_members_get_memory(const members *set, uint32_t n_entities)
{
    if (set->bits != NULL)
        return count_words(n_entities) * (sizeof *set->bits + sizeof *set->touched);
    return set->capacity * sizeof *set->slots;
}
