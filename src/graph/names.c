/* names.c - open addressing with linear probing over one string pool; see names.h.
 *
 * A slot packs the upper half of the hash with id + 1, so a probe compares strings only when
 * 32 bits agree; growing rebuilds the slots from the stored halves of the hashes. */
#include "graph/names.h"

#include <string.h>

#include "base/memory.h"

enum { FIRST_SLOTS = 16, GROUP = 32 };

static const uint64_t NO_START = (1ULL << 48) - 1;

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

void acq_names_clear(acq_names *names)
{
    if (names->n_slots > 0)
        memset(names->slots, 0, names->n_slots * sizeof *names->slots);
    names->pool_used = names->n_ids = names->n_names = 0;
}

static bool entry_equals(const acq_names *names, uint32_t id, const char *name, size_t length)
{
    acq_name_entry entry = names->entries[id];
    return entry.length == length && memcmp(names->pool + entry.start, name, length) == 0;
}

/* The id of a name, or ACQ_NO_ID with the free slot where its search ended. */
static inline uint32_t probe(const acq_names *names, const char *name, size_t length, uint32_t hash,
                             size_t *place)
{
    size_t mask = names->n_slots - 1, i = hash & mask;
    for (; names->slots[i] != 0; i = (i + 1) & mask) {
        uint32_t id = (uint32_t)names->slots[i] - 1;
        if (names->slots[i] >> 32 == hash && entry_equals(names, id, name, length))
            return id;
    }
    *place = i;
    return ACQ_NO_ID;
}

uint32_t acq_names_find(const acq_names *names, const char *name, size_t length)
{
    size_t place;
    return names->n_slots == 0 ? ACQ_NO_ID
                               : probe(names, name, length, acq_names_hash(name, length), &place);
}

static size_t find_free(const uint64_t *slots, size_t n_slots, uint32_t hash)
{
    size_t i = hash & (n_slots - 1);
    while (slots[i] != 0)
        i = (i + 1) & (n_slots - 1);
    return i;
}

/* Makes room for one more name at most half full. */
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
            slots[find_free(slots, n_slots, (uint32_t)(names->slots[i] >> 32))] = names->slots[i];
    }
    acq_free(names->slots);
    names->slots = slots;
    names->n_slots = n_slots;
    return ACQ_OK;
}

/* Room for one more name in all parts but the slots. */
static inline acq_status reserve(acq_names *names, uint32_t id, size_t length)
{
    size_t bytes = names->pool_used + length + 1;
    if (id < names->ids_capacity && bytes <= names->pool_capacity)
        return ACQ_OK;
    if (ACQ_RESERVE(names->entries, names->ids_capacity, (size_t)id + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    return ACQ_RESERVE(names->pool, names->pool_capacity, bytes);
}

/* Puts a name where its probe sequence found a free slot; there is room for it. */
static acq_status put_at(acq_names *names, size_t place, uint32_t id, const char *name,
                         size_t length, uint32_t hash)
{
    if (id >= ACQ_NO_ID - 1 || length > ACQ_NAME_MOST)
        return ACQ_ERR_LIMIT;
    if (reserve(names, id, length) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (; names->n_ids <= id; names->n_ids++)
        names->entries[names->n_ids] = (acq_name_entry){.start = NO_START};
    names->entries[id] =
        (acq_name_entry){.start = names->pool_used & NO_START, .length = (uint16_t)length};
    if (length > 0)
        memcpy(names->pool + names->pool_used, name, length);
    names->pool[names->pool_used + length] = '\0';
    names->pool_used += length + 1;
    names->slots[place] = (uint64_t)hash << 32 | (uint64_t)(id + 1);
    names->n_names++;
    return ACQ_OK;
}

acq_status acq_names_put(acq_names *names, uint32_t id, const char *name, size_t length)
{
    uint32_t hash = acq_names_hash(name, length);
    if (length > 0 && memchr(name, '\0', length) != NULL)
        return ACQ_ERR_INPUT;
    if (grow_slots(names) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    return put_at(names, find_free(names->slots, names->n_slots, hash), id, name, length, hash);
}

acq_status acq_names_add_hashed(acq_names *names, const char *name, size_t length, uint32_t hash,
                                uint32_t step, uint32_t *out)
{
    size_t place = 0, next = (names->n_ids + step - 1) / step * step;
    if (grow_slots(names) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    uint32_t id = probe(names, name, length, hash, &place);
    if (id == ACQ_NO_ID) {
        if (next >= ACQ_NO_ID - 1)
            return ACQ_ERR_LIMIT;
        id = (uint32_t)next;
        acq_status status = put_at(names, place, id, name, length, hash);
        if (status != ACQ_OK)
            return status;
    }
    *out = id;
    return ACQ_OK;
}

acq_status acq_names_add(acq_names *names, const char *name, size_t length, uint32_t step,
                         uint32_t *out)
{
    if (length > 0 && memchr(name, '\0', length) != NULL)
        return ACQ_ERR_INPUT;
    return acq_names_add_hashed(names, name, length, acq_names_hash(name, length), step, out);
}

/* The first id in a name's probe sequence that has its hash, most likely its own. */
static uint32_t guess_id(const acq_names *names, uint32_t hash)
{
    size_t mask = names->n_slots - 1;
    for (size_t i = hash & mask; names->slots[i] != 0; i = (i + 1) & mask) {
        if (names->slots[i] >> 32 == hash)
            return (uint32_t)names->slots[i] - 1;
    }
    return ACQ_NO_ID;
}

/* Looking a name up touches its slot, its entry and its text, each a miss in a large table. For a
 * group of names each step is started for all before the next step waits for any. */
static void fetch_ahead(const acq_names *names, const uint32_t *hashes, size_t n)
{
    uint32_t ids[GROUP];
    if (names->n_slots == 0)
        return;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&names->slots[hashes[i] & (names->n_slots - 1)]);
    for (size_t i = 0; i < n; i++) {
        ids[i] = guess_id(names, hashes[i]);
        if (ids[i] != ACQ_NO_ID)
            __builtin_prefetch(&names->entries[ids[i]]);
    }
    for (size_t i = 0; i < n; i++) {
        if (ids[i] != ACQ_NO_ID)
            __builtin_prefetch(names->pool + names->entries[ids[i]].start);
    }
}

acq_status acq_names_add_all(acq_names *names, const acq_names *from, const uint32_t *hashes,
                             uint32_t step, uint32_t *ids)
{
    for (size_t start = 0; start < from->n_ids; start += GROUP) {
        size_t left = from->n_ids - start, n = left < GROUP ? left : GROUP;
        fetch_ahead(names, hashes + start, n);
        for (size_t i = start; i < start + n; i++) {
            acq_name_entry entry = from->entries[i];
            acq_status status = acq_names_add_hashed(names, from->pool + entry.start, entry.length,
                                                     hashes[i], step, &ids[i]);
            if (status != ACQ_OK)
                return status;
        }
    }
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
