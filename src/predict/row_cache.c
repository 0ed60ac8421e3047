/* row_cache.c - the cache of rows.h: a hash table with chains, whose entries also form a list by
 * last use.
 *
 *   slots   [ . | * | . ]          chains by hash of (relation, head)
 *   newest ─▶ entry ⇄ entry ⇄ entry ◀─ oldest
 *
 * Each entry is one block: its tails and scores stand behind it. */
#include "predict/rows.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { FIRST_SLOTS = 1024 };

typedef struct entry {
    struct entry *next;          /* in the chain */
    struct entry *newer, *older; /* in the list */
    uint64_t key;
    size_t n_bytes;
    acq_scored_row row;
} entry;

struct acq_row_cache {
    entry **slots;
    size_t n_slots; /* a power of two */
    entry *newest, *oldest;
    size_t most_bytes;
    acq_row_cache_counts counts;
};

acq_row_cache *acq_row_cache_new(size_t most_bytes)
{
    acq_row_cache *cache = acq_zalloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    cache->most_bytes = most_bytes;
    cache->n_slots = FIRST_SLOTS;
    cache->slots = acq_zalloc(cache->n_slots, sizeof(entry *));
    if (cache->slots != NULL)
        return cache;
    acq_free(cache);
    return NULL;
}

void acq_row_cache_free(acq_row_cache *cache)
{
    if (cache == NULL)
        return;
    for (entry *e = cache->newest; e != NULL;) {
        entry *older = e->older;
        acq_free(e);
        e = older;
    }
    acq_free(cache->slots);
    acq_free(cache);
}

static uint64_t make_key(acq_rel relation, acq_ent head)
{
    return (uint64_t)relation << 32 | head;
}

static entry **find_slot(const acq_row_cache *cache, uint64_t key)
{
    return &cache->slots[(size_t)acq_random_mix(key) & (cache->n_slots - 1)];
}

static void unlink_use(acq_row_cache *cache, entry *e)
{
    *(e->newer == NULL ? &cache->newest : &e->newer->older) = e->older;
    *(e->older == NULL ? &cache->oldest : &e->older->newer) = e->newer;
}

static void link_newest(acq_row_cache *cache, entry *e)
{
    e->newer = NULL;
    e->older = cache->newest;
    *(cache->newest == NULL ? &cache->oldest : &cache->newest->newer) = e;
    cache->newest = e;
}

const acq_scored_row *acq_row_cache_get(acq_row_cache *cache, acq_rel relation, acq_ent head)
{
    uint64_t key = make_key(relation, head);
    entry *e = *find_slot(cache, key);
    while (e != NULL && e->key != key)
        e = e->next;
    if (e == NULL) {
        cache->counts.misses++;
        return NULL;
    }
    cache->counts.hits++;
    unlink_use(cache, e);
    link_newest(cache, e);
    return &e->row;
}

static void evict(acq_row_cache *cache, entry *e)
{
    entry **at = find_slot(cache, e->key);
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    unlink_use(cache, e);
    cache->counts.n_rows--;
    cache->counts.n_bytes -= e->n_bytes;
    cache->counts.evicted++;
    acq_free(e);
}

/* More slots are a matter of speed: when there is no memory for them, the chains grow. */
static void grow(acq_row_cache *cache)
{
    size_t n = 2 * cache->n_slots;
    entry **slots = acq_zalloc(n, sizeof(entry *));
    if (slots == NULL)
        return;
    acq_free(cache->slots);
    cache->slots = slots;
    cache->n_slots = n;
    for (entry *e = cache->newest; e != NULL; e = e->older) {
        entry **at = find_slot(cache, e->key);
        e->next = *at;
        *at = e;
    }
}

static entry *make_entry(uint64_t key, const acq_scored_row *row, size_t n_bytes)
{
    entry *e = acq_alloc(1, n_bytes);
    if (e == NULL)
        return NULL;
    acq_ent *tails = (acq_ent *)(e + 1);
    float *scores = (float *)(tails + row->n);
    *e = (entry){.key = key, .n_bytes = n_bytes, .row = {tails, scores, row->n}};
    if (row->n > 0) {
        memcpy(tails, row->tails, row->n * sizeof *tails);
        memcpy(scores, row->scores, row->n * sizeof *scores);
    }
    return e;
}

acq_status acq_row_cache_put(acq_row_cache *cache, acq_rel relation, acq_ent head,
                             const acq_scored_row *row)
{
    uint64_t key = make_key(relation, head);
    size_t n_bytes = sizeof(entry) + row->n * (sizeof *row->tails + sizeof *row->scores);
    if (n_bytes > cache->most_bytes)
        return ACQ_OK;
    while (cache->counts.n_bytes + n_bytes > cache->most_bytes)
        evict(cache, cache->oldest);
    entry *e = make_entry(key, row, n_bytes);
    if (e == NULL)
        return ACQ_ERR_MEMORY;
    if (cache->counts.n_rows >= cache->n_slots)
        grow(cache);
    entry **at = find_slot(cache, key);
    e->next = *at;
    *at = e;
    link_newest(cache, e);
    cache->counts.n_rows++;
    cache->counts.n_bytes += n_bytes;
    return ACQ_OK;
}

acq_row_cache_counts acq_row_cache_get_counts(const acq_row_cache *cache)
{
    return cache->counts;
}
