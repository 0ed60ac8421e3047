/* names.c - open addressing with linear probing over one string pool; see names.h.
 *
 * A slot packs the upper half of the hash with id + 1, so a probe compares strings only when
 * 32 bits agree; growing rebuilds the slots from the stored halves of the hashes. */
#include "graph/names.h"

#include <string.h>

#include "base/memory.h"
#include "graph/fingerprint.h"

enum { FIRST_SLOTS = 16 };

static const size_t NO_START = SIZE_MAX;

void acq_names_init(acq_names *names)
{
    *names = (acq_names){0};
}

void acq_names_deinit(acq_names *names)
{
    acq_free(names->pool);
    acq_free(names->entries);
    acq_free(names->slots);
    *names = (acq_names){0};
}

static uint32_t half_hash(const char *name, size_t length)
{
    return (uint32_t)(acq_hash_bytes(name, length, 0) >> 32);
}

static uint64_t slot_of(uint32_t half, uint32_t id)
{
    return (uint64_t)half << 32 | (uint64_t)(id + 1);
}

static bool entry_equals(const acq_names *names, uint32_t id, const char *name, size_t length)
{
    acq_name_entry entry = names->entries[id];
    return entry.length == length && memcmp(names->pool + entry.start, name, length) == 0;
}

uint32_t acq_names_find(const acq_names *names, const char *name, size_t length)
{
    if (names->n_slots == 0)
        return ACQ_NO_ID;
    uint32_t half = half_hash(name, length);
    size_t mask = names->n_slots - 1;
    for (size_t i = half & mask; names->slots[i] != 0; i = (i + 1) & mask) {
        uint32_t id = (uint32_t)names->slots[i] - 1;
        if (names->slots[i] >> 32 == half && entry_equals(names, id, name, length))
            return id;
    }
    return ACQ_NO_ID;
}

static void insert_slot(uint64_t *slots, size_t n_slots, uint64_t slot)
{
    size_t mask = n_slots - 1;
    size_t i = (slot >> 32) & mask;
    while (slots[i] != 0)
        i = (i + 1) & mask;
    slots[i] = slot;
}

static acq_status grow_slots(acq_names *names)
{
    if (names->n_names + 1 <= names->n_slots / 2)
        return ACQ_OK;
    size_t n_slots = names->n_slots == 0 ? FIRST_SLOTS : names->n_slots * 2;
    uint64_t *slots = acq_zalloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < names->n_slots; i++) {
        if (names->slots[i] != 0)
            insert_slot(slots, n_slots, names->slots[i]);
    }
    acq_free(names->slots);
    names->slots = slots;
    names->n_slots = n_slots;
    return ACQ_OK;
}

acq_status acq_names_put(acq_names *names, uint32_t id, const char *name, size_t length)
{
    if (id >= ACQ_NO_ID - 1 || length > ACQ_NAME_MOST)
        return ACQ_ERR_LIMIT;
    if (length > 0 && memchr(name, '\0', length) != NULL)
        return ACQ_ERR_INPUT;
    if (ACQ_RESERVE(names->entries, names->ids_capacity, (size_t)id + 1) != ACQ_OK ||
        ACQ_RESERVE(names->pool, names->pool_capacity, names->pool_used + length + 1) != ACQ_OK ||
        grow_slots(names) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (; names->n_ids <= id; names->n_ids++)
        names->entries[names->n_ids] = (acq_name_entry){.start = NO_START};
    names->entries[id] = (acq_name_entry){.start = names->pool_used, .length = length};
    if (length > 0)
        memcpy(names->pool + names->pool_used, name, length);
    names->pool[names->pool_used + length] = '\0';
    names->pool_used += length + 1;
    insert_slot(names->slots, names->n_slots, slot_of(half_hash(name, length), id));
    names->n_names++;
    return ACQ_OK;
}

acq_status acq_names_add(acq_names *names, const char *name, size_t length, uint32_t step,
                         uint32_t *out)
{
    uint32_t id = acq_names_find(names, name, length);
    if (id == ACQ_NO_ID) {
        size_t next = (names->n_ids + step - 1) / step * step;
        if (next >= ACQ_NO_ID - 1)
            return ACQ_ERR_LIMIT;
        id = (uint32_t)next;
        acq_status status = acq_names_put(names, id, name, length);
        if (status != ACQ_OK)
            return status;
    }
    *out = id;
    return ACQ_OK;
}

const char *acq_names_get(const acq_names *names, uint32_t id)
{
    if (id >= names->n_ids || names->entries[id].start == NO_START)
        return NULL;
    return names->pool + names->entries[id].start;
}

static void shrink(void **block, size_t *capacity, size_t used, size_t size)
{
    if (used == 0 || used == *capacity)
        return;
    void *moved = acq_resize(*block, used, size);
    if (moved == NULL)
        return;
    *block = moved;
    *capacity = used;
}

void acq_names_trim(acq_names *names)
{
    shrink((void **)&names->pool, &names->pool_capacity, names->pool_used, 1);
    shrink((void **)&names->entries, &names->ids_capacity, names->n_ids, sizeof *names->entries);
}

uint64_t acq_names_sum(const acq_names *names)
{
    uint64_t sum = 0;
    for (size_t id = 0; id < names->n_ids; id++) {
        acq_name_entry entry = names->entries[id];
        if (entry.start != NO_START)
            sum += acq_hash_name((uint32_t)id, names->pool + entry.start, entry.length);
    }
    return sum;
}
