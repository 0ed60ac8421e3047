/* name_cache.h - names of entities that were asked for, kept as long as the graph.
 *
 *   pages    [ . | * | . | ... ]        one per 4096 ids, made when one of them is asked for
 *   page     [ . | . | * | ... ]        one record per id
 *   record   shown, "key\0label\0"      in the arena
 *
 * Finding takes no lock; adding is for one thread at a time. */
#ifndef ACQ_STORE_NAME_CACHE_H
#define ACQ_STORE_NAME_CACHE_H

#include <stdatomic.h>

#include "base/arena.h"

typedef struct acq_name_record {
    const char *shown; /* the label, or the key */
    char key[];
} acq_name_record;

typedef struct acq_name_page acq_name_page;

typedef struct acq_name_cache {
    _Atomic(acq_name_page *) *pages;
    size_t n_pages;
    acq_arena arena;
} acq_name_cache;

acq_status acq_name_cache_init(acq_name_cache *cache, uint32_t n_entities); /* ACQ_ERR_MEMORY */
void acq_name_cache_deinit(acq_name_cache *cache);

/* NULL: not asked for yet. */
const acq_name_record *acq_name_cache_find(const acq_name_cache *cache, acq_ent entity);

/* The record there is now, an older one if somebody was faster. label NULL: none. ACQ_ERR_MEMORY.
 */
acq_status acq_name_cache_add(acq_name_cache *cache, acq_ent entity, const char *key,
                              size_t key_length, const char *label, size_t label_length,
                              const acq_name_record **out);

#endif
