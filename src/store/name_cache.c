/* name_cache.c - records by id in two levels; see name_cache.h. */
#include "store/name_cache.h"

#include <string.h>

#include "base/memory.h"

enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS };

struct acq_name_page {
    _Atomic(const acq_name_record *) records[PAGE];
};

acq_status acq_name_cache_init(acq_name_cache *cache, uint32_t n_entities)
{
    *cache = (acq_name_cache){.n_pages = ((size_t)n_entities + PAGE - 1) >> PAGE_BITS};
    acq_arena_init(&cache->arena);
    cache->pages = acq_zalloc(cache->n_pages, sizeof *cache->pages);
    return cache->pages == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

void acq_name_cache_deinit(acq_name_cache *cache)
{
    for (size_t i = 0; cache->pages != NULL && i < cache->n_pages; i++)
        acq_free(atomic_load_explicit(&cache->pages[i], memory_order_relaxed));
    acq_free(cache->pages);
    acq_arena_deinit(&cache->arena);
    *cache = (acq_name_cache){0};
}

const acq_name_record *acq_name_cache_find(const acq_name_cache *cache, acq_ent entity)
{
    acq_name_page *page =
        atomic_load_explicit(&cache->pages[entity >> PAGE_BITS], memory_order_acquire);
    return page == NULL ? NULL
                        : atomic_load_explicit(&page->records[entity % PAGE], memory_order_acquire);
}

static acq_name_page *make_page(acq_name_cache *cache, acq_ent entity)
{
    _Atomic(acq_name_page *) *place = &cache->pages[entity >> PAGE_BITS];
    acq_name_page *page = atomic_load_explicit(place, memory_order_relaxed);
    if (page != NULL)
        return page;
    page = acq_zalloc(1, sizeof *page);
    if (page != NULL)
        atomic_store_explicit(place, page, memory_order_release);
    return page;
}

static acq_name_record *make_record(acq_arena *arena, const char *key, size_t key_length,
                                    const char *label, size_t label_length)
{
    size_t room = sizeof(acq_name_record) + key_length + 1 + (label == NULL ? 0 : label_length + 1);
    acq_name_record *record = acq_arena_alloc(arena, 1, room);
    if (record == NULL)
        return NULL;
    memcpy(record->key, key, key_length);
    record->key[key_length] = '\0';
    record->shown = record->key;
    if (label != NULL) {
        char *copy = record->key + key_length + 1;
        memcpy(copy, label, label_length);
        copy[label_length] = '\0';
        record->shown = copy;
    }
    return record;
}

acq_status acq_name_cache_add(acq_name_cache *cache, acq_ent entity, const char *key,
                              size_t key_length, const char *label, size_t label_length,
                              const acq_name_record **out)
{
    *out = acq_name_cache_find(cache, entity);
    if (*out != NULL)
        return ACQ_OK;
    acq_name_page *page = make_page(cache, entity);
    acq_name_record *record =
        page == NULL ? NULL : make_record(&cache->arena, key, key_length, label, label_length);
    if (record == NULL)
        return ACQ_ERR_MEMORY;
    atomic_store_explicit(&page->records[entity % PAGE], record, memory_order_release);
    *out = record;
    return ACQ_OK;
}
