/* reader.c - a store as a graph: one connection, one read transaction from open to free, so one
 * snapshot; see store.h and graph/stored.h.
 *
 * Threads share the connection under `lock`. Links are found without a lock once they are there;
 * a thread that needs a relation which another one loads waits for it (`loaded`), and relations
 * load side by side except while SQLite is asked. */
#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "graph/build.h"
#include "graph/stored.h"
#include "store/catalog.h"
#include "store/database.h"

/* Names of entities that were asked for, kept as long as the graph.
 *
 *   pages    [ . | * | . | ... ]        one per 4096 ids, made when one of them is asked for
 *   page     [ . | . | * | ... ]        one record per id
 *   record   shown, "key\0label\0"      in the arena
 *
 * Finding takes no lock; adding is for one thread at a time. */
typedef struct name_record {
    const char *shown; /* the label, or the key */
    char key[];
} name_record;

typedef struct name_page name_page;

typedef struct name_cache {
    _Atomic(name_page *) *pages;
    size_t n_pages;
    acq_arena arena;
} name_cache;

enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS };

struct name_page {
    _Atomic(const name_record *) records[PAGE];
};

static acq_status init_names(name_cache *cache, uint32_t n_entities)
{
    *cache = (name_cache){.n_pages = ((size_t)n_entities + PAGE - 1) >> PAGE_BITS};
    acq_arena_init(&cache->arena);
    cache->pages = acq_zalloc(cache->n_pages, sizeof *cache->pages);
    return cache->pages == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

static void deinit_names(name_cache *cache)
{
    for (size_t i = 0; cache->pages != NULL && i < cache->n_pages; i++)
        acq_free(atomic_load_explicit(&cache->pages[i], memory_order_relaxed));
    acq_free(cache->pages);
    acq_arena_deinit(&cache->arena);
    *cache = (name_cache){0};
}

static const name_record *find_record(const name_cache *cache, acq_ent entity)
{
    name_page *page =
        atomic_load_explicit(&cache->pages[entity >> PAGE_BITS], memory_order_acquire);
    return page == NULL ? NULL
                        : atomic_load_explicit(&page->records[entity % PAGE], memory_order_acquire);
}

static name_page *make_page(name_cache *cache, acq_ent entity)
{
    _Atomic(name_page *) *place = &cache->pages[entity >> PAGE_BITS];
    name_page *page = atomic_load_explicit(place, memory_order_relaxed);
    if (page != NULL)
        return page;
    page = acq_zalloc(1, sizeof *page);
    if (page != NULL)
        atomic_store_explicit(place, page, memory_order_release);
    return page;
}

static name_record *make_record(acq_arena *arena, const char *key, size_t key_length,
                                const char *label, size_t label_length)
{
    size_t room = sizeof(name_record) + key_length + 1 + (label == NULL ? 0 : label_length + 1);
    name_record *record = acq_arena_alloc(arena, 1, room);
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

static acq_status add_record(name_cache *cache, acq_ent entity, const char *key, size_t key_length,
                             const char *label, size_t label_length, const name_record **out)
{
    *out = find_record(cache, entity);
    if (*out != NULL)
        return ACQ_OK;
    name_page *page = make_page(cache, entity);
    name_record *record =
        page == NULL ? NULL : make_record(&cache->arena, key, key_length, label, label_length);
    if (record == NULL)
        return ACQ_ERR_MEMORY;
    atomic_store_explicit(&page->records[entity % PAGE], record, memory_order_release);
    *out = record;
    return ACQ_OK;
}

typedef struct reader {
    acq_db db;
    acq_catalog catalog; /* its names are the graph's once it is open */
    acq_entity_finder finder;
    name_cache names;
    _Atomic(acq_links *) *links; /* by directed relation; NULL: not loaded */
    bool *is_loading;
    acq_quads quads;         /* is_kept: they are loaded */
    pthread_mutex_t lock;    /* db, finder, quads and adding to names */
    pthread_mutex_t waiting; /* is_loading */
    pthread_cond_t loaded;   /* some is_loading became false */
} reader;

static void free_reader(void *self)
{
    reader *me = self;
    for (size_t r = 0; me->links != NULL && r < me->catalog.meta.n_relations; r++)
        acq_links_free(atomic_load_explicit(&me->links[r], memory_order_relaxed));
    acq_free(me->links);
    acq_free(me->is_loading);
    acq_quads_deinit(&me->quads);
    deinit_names(&me->names);
    acq_entity_finder_deinit(&me->finder);
    acq_catalog_deinit(&me->catalog);
    acq_db_close(&me->db);
    pthread_mutex_destroy(&me->lock);
    pthread_mutex_destroy(&me->waiting);
    pthread_cond_destroy(&me->loaded);
    acq_free(me);
}

/* True: the caller is the one to load the relation. False: it is loaded. */
static bool claim(reader *me, acq_rel relation)
{
    pthread_mutex_lock(&me->waiting);
    while (me->is_loading[relation])
        pthread_cond_wait(&me->loaded, &me->waiting);
    bool is_mine = atomic_load_explicit(&me->links[relation], memory_order_relaxed) == NULL;
    if (is_mine)
        me->is_loading[relation] = true;
    pthread_mutex_unlock(&me->waiting);
    return is_mine;
}

static void publish(reader *me, acq_rel relation, acq_links *links)
{
    pthread_mutex_lock(&me->waiting);
    if (links != NULL)
        atomic_store_explicit(&me->links[relation], links, memory_order_release);
    me->is_loading[relation] = false;
    pthread_cond_broadcast(&me->loaded);
    pthread_mutex_unlock(&me->waiting);
}

static acq_status open_links(void *self, acq_rel relation, const acq_links **out, acq_error *error)
{
    reader *me = self;
    acq_links *links = atomic_load_explicit(&me->links[relation], memory_order_acquire);
    acq_status status = ACQ_OK;
    if (links == NULL && claim(me, relation)) {
        const acq_loader loader = {.db = &me->db, .catalog = &me->catalog, .lock = &me->lock};
        status = acq_load_links(&loader, relation, &links, error);
        if (status == ACQ_OK && acq_db_check_unchanged(&me->db, error) != ACQ_OK) {
            acq_links_free(links);
            links = NULL;
            status = ACQ_ERR_IO;
        }
        publish(me, relation, links);
    } else if (links == NULL) {
        links = atomic_load_explicit(&me->links[relation], memory_order_acquire);
    }
    if (status == ACQ_OK)
        *out = links;
    return status;
}

static acq_status read_record(reader *me, acq_ent entity, const name_record **out, acq_error *error)
{
    acq_store_entity row;
    pthread_mutex_lock(&me->lock);
    acq_status status = acq_entity_read(&me->finder, entity, &row, error);
    if (status == ACQ_OK)
        status = acq_db_check_unchanged(&me->db, error);
    if (status == ACQ_OK && add_record(&me->names, entity, row.key, row.key_length, row.label,
                                       row.label_length, out) != ACQ_OK)
        status = acq_fail_memory(error);
    pthread_mutex_unlock(&me->lock);
    return status;
}

static acq_status read_name(void *self, acq_ent entity, bool is_shown, const char **out,
                            acq_error *error)
{
    reader *me = self;
    if (entity >= me->catalog.meta.n_entities)
        return acq_fail(error, ACQ_ERR_USAGE, "entity id %u is unknown: the graph has %u", entity,
                        (uint32_t)me->catalog.meta.n_entities);
    const name_record *record = find_record(&me->names, entity);
    acq_status status = record == NULL ? read_record(me, entity, &record, error) : ACQ_OK;
    if (status == ACQ_OK)
        *out = is_shown ? record->shown : record->key;
    return status;
}

static acq_status find_entity(void *self, const char *name, size_t length, acq_ent *out,
                              acq_error *error)
{
    reader *me = self;
    acq_ent found = ACQ_NO_ID;
    pthread_mutex_lock(&me->lock);
    acq_status status = acq_entity_find(&me->finder, name, length, &found, error);
    pthread_mutex_unlock(&me->lock);
    if (status == ACQ_OK)
        status = acq_db_check_unchanged(&me->db, error);
    if (status == ACQ_OK)
        *out = found;
    return status;
}

static acq_status each_name(void *self, const char *prefix, size_t length, acq_name_fn visit,
                            void *context, acq_error *error)
{
    reader *me = self;
    const acq_names_visit params = {.db = &me->db,
                                    .catalog = &me->catalog,
                                    .lock = &me->lock,
                                    .visit = visit,
                                    .context = context};
    return acq_entity_visit_names(&params, prefix, length, error);
}

static acq_status open_quads(void *self, const acq_quads **out, acq_error *error)
{
    reader *me = self;
    acq_status status = ACQ_OK;
    *out = NULL;
    if (me->catalog.format < ACQ_STORE_FORMAT_GRAPHS)
        return ACQ_OK;
    pthread_mutex_lock(&me->lock);
    if (!me->quads.is_kept) {
        const acq_loader loader = {.db = &me->db, .catalog = &me->catalog};
        status = acq_load_graphs(&loader, &me->quads, error);
        if (status == ACQ_OK && acq_db_check_unchanged(&me->db, error) != ACQ_OK) {
            acq_quads_deinit(&me->quads);
            status = ACQ_ERR_IO;
        }
    }
    pthread_mutex_unlock(&me->lock);
    if (status == ACQ_OK)
        *out = &me->quads;
    return status;
}

/* Room for what will be loaded. */
static acq_status make_room(reader *me, acq_error *error)
{
    size_t n_relations = (size_t)me->catalog.meta.n_relations;
    me->links = acq_zalloc(n_relations, sizeof *me->links);
    me->is_loading = acq_zalloc(n_relations, sizeof *me->is_loading);
    if (me->links == NULL || me->is_loading == NULL ||
        init_names(&me->names, (uint32_t)me->catalog.meta.n_entities) != ACQ_OK)
        return acq_fail_memory(error);
    return ACQ_OK;
}

static acq_status open_snapshot(reader *me, const char *path, acq_error *error)
{
    acq_status status = acq_db_open_to_read(&me->db, path, error);
    if (status == ACQ_OK)
        status = acq_catalog_read(&me->db, &me->catalog, error);
    if (status == ACQ_OK)
        status = acq_db_check_unchanged(&me->db, error);
    if (status == ACQ_OK)
        status = acq_entity_finder_init(&me->finder, &me->db, &me->catalog.meta, me->catalog.format,
                                        error);
    return status == ACQ_OK ? make_room(me, error) : status;
}

/* Hands the reader over to a graph, which frees it from now on. */
static acq_status make_graph(reader *me, acq_graph **out, acq_error *error)
{
    static const acq_graph_ops ops = {.open_links = open_links,
                                      .read_name = read_name,
                                      .find_entity = find_entity,
                                      .each_name = each_name,
                                      .open_quads = open_quads,
                                      .free = free_reader};
    const acq_store_meta *meta = &me->catalog.meta;
    acq_stored_graph stored = {
        .ops = &ops,
        .self = me,
        .relations = me->catalog.relations,
        .relation_labels = me->catalog.relation_labels,
        .n_entities = (uint32_t)meta->n_entities,
        .n_relations = (uint32_t)meta->n_relations,
        .n_facts = meta->n_facts,
        .sums = {.n_entities = meta->n_entities,
                 .entities = meta->entity_sum,
                 .n_relations = me->catalog.relations.n_ids,
                 .relations = acq_names_sum(&me->catalog.relations),
                 .facts = meta->fact_sum},
        .is_rdf = meta->is_rdf,
    };
    acq_names_init(&me->catalog.relations);
    acq_names_init(&me->catalog.relation_labels);
    return acq_graph_new_stored(&stored, out) == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

acq_status acq_store_open(const char *path, acq_graph **out, acq_error *error)
{
    reader *me = acq_zalloc(1, sizeof *me);
    if (me == NULL)
        return acq_fail_memory(error);
    pthread_mutex_init(&me->lock, NULL);
    pthread_mutex_init(&me->waiting, NULL);
    pthread_cond_init(&me->loaded, NULL);
    acq_status status = open_snapshot(me, path, error);
    if (status != ACQ_OK) {
        free_reader(me);
        return status;
    }
    return make_graph(me, out, error);
}

acq_status acq_graph_open_path(const char *path, const acq_read_params *params, acq_graph **out,
                               acq_read_report *report, acq_error *error)
{
    bool is_store = false;
    acq_status status = acq_store_file_is_database(path, &is_store, error);
    if (status != ACQ_OK)
        return status;
    if (!is_store)
        return acq_graph_read(&path, 1, params, out, report, error);
    if (report != NULL)
        *report = (acq_read_report){0};
    return acq_store_open(path, out, error);
}

acq_status acq_store_read_info(const char *path, acq_store_info *out, acq_error *error)
{
    acq_db db;
    acq_catalog catalog;
    acq_store_info info = {0};
    acq_status status = acq_db_open_to_read(&db, path, error);
    if (status != ACQ_OK)
        return status;
    status = acq_catalog_read(&db, &catalog, error);
    if (status == ACQ_OK && acq_db_check_unchanged(&db, error) != ACQ_OK) {
        acq_catalog_deinit(&catalog);
        status = ACQ_ERR_IO;
    }
    acq_db_close(&db);
    if (status != ACQ_OK)
        return status;
    info.format = catalog.format;
    info.n_changes = catalog.meta.n_changes;
    info.is_rdf = catalog.meta.is_rdf;
    memcpy(info.sources, catalog.meta.sources, sizeof info.sources);
    acq_catalog_deinit(&catalog);
    status = acq_store_file_sizes(path, &info.file_bytes, &info.wal_bytes, error);
    if (status == ACQ_OK)
        *out = info;
    return status;
}
