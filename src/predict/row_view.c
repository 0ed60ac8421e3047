/* row_view.c - rows by (relation, head) in a hash table; links of a pair of relations are made of
 * the observed ones and the pair's rows when they are first opened, and again after rows came. */
#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "predict/rows.h"

/* ---- row cache ----
 *
 * The cache of rows.h: a hash table with chains, whose entries also form a list by
 * last use.
 *
 *   slots   [ . | * | . ]          chains by hash of (relation, head)
 *   newest ─▶ entry ⇄ entry ⇄ entry ◀─ oldest
 *
 * Each entry is one block: its tails and scores stand behind it. */

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

/* ---- row view ---- */

enum { FIRST_CAPACITY = 64 };

typedef struct kept_row {
    acq_rel relation;
    acq_ent head;
    acq_scored_row row;
} kept_row;

struct acq_row_view {
    acq_predictor base;
    const acq_predictor *source;
    kept_row *rows;
    size_t n, capacity;
    uint32_t *places; /* open addressing: number of a row + 1, 0: free */
    size_t n_places;  /* a power of two, at least twice the rows */
    pthread_mutex_t lock;
    acq_links **links; /* by relation; NULL: not made, or out of date */
    bool *has_rows;    /* by pair of relations */
};

static uint32_t *find_place(const acq_row_view *view, acq_rel relation, acq_ent head)
{
    size_t mask = view->n_places - 1;
    size_t i = (size_t)acq_random_mix((uint64_t)relation << 32 | head) & mask;
    while (view->places[i] != 0) {
        const kept_row *at = &view->rows[view->places[i] - 1];
        if (at->relation == relation && at->head == head)
            break;
        i = (i + 1) & mask;
    }
    return &view->places[i];
}

bool acq_row_view_has(const acq_row_view *view, acq_rel relation, acq_ent head)
{
    return *find_place(view, relation, head) != 0;
}

acq_row acq_row_view_get(const acq_row_view *view, acq_rel relation, acq_ent head)
{
    uint32_t place = *find_place(view, relation, head);
    if (place == 0)
        return (acq_row){0};
    const acq_scored_row *row = &view->rows[place - 1].row;
    return (acq_row){.tails = row->tails, .scores = row->scores, .n = row->n};
}

size_t acq_row_view_count(const acq_row_view *view)
{
    return view->n;
}

/* ---- adding rows ---- */

static acq_status grow_places(acq_row_view *view, size_t need)
{
    size_t n = view->n_places == 0 ? FIRST_CAPACITY : view->n_places;
    while (n < 2 * need)
        n *= 2;
    if (n == view->n_places)
        return ACQ_OK;
    uint32_t *places = acq_zalloc(n, sizeof *places);
    if (places == NULL)
        return ACQ_ERR_MEMORY;
    acq_free(view->places);
    view->places = places;
    view->n_places = n;
    for (size_t i = 0; i < view->n; i++)
        *find_place(view, view->rows[i].relation, view->rows[i].head) = (uint32_t)i + 1;
    return ACQ_OK;
}

static acq_status reserve(acq_row_view *view, size_t n)
{
    acq_status status = ACQ_RESERVE(view->rows, view->capacity, view->n + n);
    return status == ACQ_OK ? grow_places(view, view->n + n) : status;
}

static void forget_links(acq_row_view *view, acq_rel relation)
{
    for (acq_rel r = relation & ~1U; r <= (relation | 1U); r++) {
        acq_links_free(view->links[r]);
        view->links[r] = NULL;
    }
    view->has_rows[relation / 2] = true;
}

static void take_row(acq_row_view *view, acq_rel relation, acq_ent head, acq_scored_row row)
{
    *find_place(view, relation, head) = (uint32_t)++view->n;
    view->rows[view->n - 1] = (kept_row){.relation = relation, .head = head, .row = row};
}

static acq_status add_missing(acq_row_view *view, const acq_row_want *want, acq_error *error)
{
    if (reserve(view, want->n) != ACQ_OK)
        return acq_fail_memory(error);
    acq_scored_row *rows = acq_alloc(want->n, sizeof *rows);
    if (rows == NULL)
        return acq_fail_memory(error);
    acq_status status = view->source->ops->copy_rows(view->source, want, rows, error);
    for (size_t i = 0; i < want->n && status == ACQ_OK; i++)
        take_row(view, want->relation, want->heads[i], rows[i]);
    acq_free(rows);
    if (status == ACQ_OK)
        forget_links(view, want->relation);
    return status;
}

acq_status acq_row_view_add(acq_row_view *view, const acq_row_want *want, acq_error *error)
{
    acq_ent *missing = acq_alloc(want->n, sizeof *missing);
    if (missing == NULL)
        return acq_fail_memory(error);
    acq_row_want rest = {.relation = want->relation, .heads = missing, .stop = want->stop};
    for (size_t i = 0; i < want->n; i++) {
        if (!acq_row_view_has(view, want->relation, want->heads[i]))
            missing[rest.n++] = want->heads[i];
    }
    acq_status status = rest.n == 0 ? ACQ_OK : add_missing(view, &rest, error);
    acq_free(missing);
    return status;
}

/* ---- links ---- */

static acq_status gather(const acq_row_view *view, const acq_links *observed, acq_rel even,
                         acq_link_list *list)
{
    acq_status status = acq_link_list_add_all(list, observed);
    for (size_t i = 0; i < view->n && status == ACQ_OK; i++) {
        const kept_row *at = &view->rows[i];
        acq_row row = {.tails = at->row.tails, .scores = at->row.scores, .n = at->row.n};
        size_t begin = list->n;
        if ((at->relation & ~1U) != even)
            continue;
        status = acq_link_list_add_row(list, at->head, row);
        if (at->relation != even)
            acq_link_list_turn(list, begin);
    }
    return status;
}

static acq_status make_links(acq_row_view *view, acq_rel even, acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(view->base.graph);
    const acq_links *observed = NULL;
    acq_link_list list = {0};
    acq_status status = acq_graph_open_links(view->base.graph, even, &observed, error);
    if (status == ACQ_OK && gather(view, observed, even, &list) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status = acq_link_list_make_both(&list, n_entities, &view->links[even],
                                         &view->links[even + 1], error);
    acq_link_list_deinit(&list);
    return status;
}

static acq_status open_links(const acq_predictor *base, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    acq_row_view *view = (acq_row_view *)base;
    if (relation >= acq_graph_get_n_relations(base->graph) || !view->has_rows[relation / 2])
        return acq_graph_open_links(base->graph, relation, out, error);
    acq_status status = ACQ_OK;
    pthread_mutex_lock(&view->lock);
    if (view->links[relation] == NULL)
        status = make_links(view, relation & ~1U, error);
    *out = view->links[relation];
    pthread_mutex_unlock(&view->lock);
    return status;
}

/* ---- the predictor ---- */

static void free_view(acq_predictor *base)
{
    acq_row_view_free((acq_row_view *)base);
}

static const char *get_note(const acq_predictor *base)
{
    return acq_predictor_get_note(((const acq_row_view *)base)->source);
}

static double get_floor(const acq_predictor *base)
{
    return acq_predictor_get_floor(((const acq_row_view *)base)->source);
}

acq_status acq_row_view_new(const acq_predictor *source, acq_row_view **out, acq_error *error)
{
    static const acq_predictor_ops ops = {
        .open_links = open_links, .free = free_view, .get_note = get_note, .get_floor = get_floor};
    acq_row_view *view = acq_zalloc(1, sizeof *view);
    if (view == NULL)
        return acq_fail_memory(error);
    uint32_t n_relations = acq_graph_get_n_relations(source->graph);
    view->base = (acq_predictor){.ops = &ops,
                                 .graph = source->graph,
                                 .name = source->name,
                                 .calibrator = source->calibrator}; /* borrowed */
    view->source = source;
    view->links = acq_zalloc(n_relations, sizeof(acq_links *));
    view->has_rows = acq_zalloc(n_relations / 2, sizeof *view->has_rows);
    pthread_mutex_init(&view->lock, NULL);
    bool is_made = view->links != NULL && view->has_rows != NULL;
    if (is_made && grow_places(view, 0) == ACQ_OK) {
        *out = view;
        return ACQ_OK;
    }
    acq_row_view_free(view);
    return acq_fail_memory(error);
}

void acq_row_view_free(acq_row_view *view)
{
    if (view == NULL)
        return;
    uint32_t n_relations = acq_graph_get_n_relations(view->base.graph);
    for (acq_rel r = 0; view->links != NULL && r < n_relations; r++)
        acq_links_free(view->links[r]);
    for (size_t i = 0; i < view->n; i++)
        acq_scored_row_deinit(&view->rows[i].row);
    pthread_mutex_destroy(&view->lock);
    acq_free(view->rows);
    acq_free(view->places);
    acq_free(view->links);
    acq_free(view->has_rows);
    acq_free(view);
}

acq_predictor *acq_row_view_get_predictor(acq_row_view *view)
{
    return &view->base;
}
