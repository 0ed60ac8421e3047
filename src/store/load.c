/* load.c - parts and changes to links; see catalog.h. The arrays of a part are read straight to where
 * they belong in the one block of the relation. */
#include "store/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "graph/links.h"
#include "store/format.h"

typedef struct change {
    acq_ent head, tail;
    bool is_added;
} change;

static uint64_t key_of(acq_ent head, acq_ent tail)
{
    return (uint64_t)head << 32 | tail;
}

static int compare(const void *a, const void *b)
{
    const change *x = a, *y = b;
    uint64_t left = key_of(x->head, x->tail), right = key_of(y->head, y->tail);
    return (left > right) - (left < right);
}

static void sort_changes(change *changes, size_t n)
{
    if (n > 1)
        qsort(changes, n, sizeof *changes, compare);
}

/* Where the result goes: counted always, filled when there is a frame. */
typedef struct sink {
    acq_links_frame *frame; /* NULL: only count */
    size_t n_heads, n_links;
    acq_ent last_head;
} sink;

static void put(sink *to, acq_ent head, acq_ent tail)
{
    if (to->n_links == 0 || to->last_head != head) {
        if (to->frame != NULL) {
            to->frame->heads[to->n_heads] = head;
            to->frame->offsets[to->n_heads] = (uint32_t)to->n_links;
        }
        to->last_head = head;
        to->n_heads++;
    }
    if (to->frame != NULL)
        to->frame->tails[to->n_links] = tail;
    to->n_links++;
}

/* Takes every change that comes before `until`; false when one of them is a removal. */
static bool put_additions(const change *changes, size_t n, size_t *i, uint64_t until, sink *to)
{
    for (; *i < n && key_of(changes[*i].head, changes[*i].tail) < until; ++*i) {
        if (!changes[*i].is_added)
            return false;
        put(to, changes[*i].head, changes[*i].tail);
    }
    return true;
}

/* False when a change does not fit the links. */
static bool merge(const acq_links *base, const change *changes, size_t n, sink *to)
{
    size_t i = 0;
    for (uint32_t row = 0; row < base->n_heads; row++) {
        acq_ent head = base->heads[row];
        for (uint32_t j = base->offsets[row]; j < base->offsets[row + 1]; j++) {
            uint64_t key = key_of(head, base->tails[j]);
            if (!put_additions(changes, n, &i, key, to))
                return false;
            if (i == n || key_of(changes[i].head, changes[i].tail) != key)
                put(to, head, base->tails[j]);
            else if (changes[i++].is_added)
                return false;
        }
    }
    return put_additions(changes, n, &i, UINT64_MAX, to);
}

static acq_status merge_changes(const acq_links *base, const change *changes, size_t n,
                                acq_links **out)
{
    sink counted = {0};
    acq_links_frame frame;
    if (!merge(base, changes, n, &counted))
        return ACQ_ERR_INPUT;
    acq_status status =
        acq_links_frame_new(&frame, counted.n_heads, counted.n_links, base->n_entities, false);
    if (status != ACQ_OK)
        return status;
    sink filled = {.frame = &frame};
    merge(base, changes, n, &filled);
    frame.offsets[filled.n_heads] = (uint32_t)filled.n_links;
    acq_links_seal(&frame);
    *out = frame.links;
    return ACQ_OK;
}

enum { WORD = sizeof(uint32_t) };

static void lock(const acq_loader *loader)
{
    if (loader->lock != NULL)
        pthread_mutex_lock(loader->lock);
}

static void unlock(const acq_loader *loader)
{
    if (loader->lock != NULL)
        pthread_mutex_unlock(loader->lock);
}

static acq_status fail_damaged(const acq_loader *loader, const char *reason, acq_error *error)
{
    return acq_db_fail_damaged(loader->db, reason, error);
}

/* The links so far of the direction that is being loaded. */
typedef struct loading {
    const acq_loader *loader;
    const acq_store_pair *pair;
    acq_rel directed;
    acq_links_frame frame;
    size_t n_heads, n_links;
    uint64_t sum; /* of the checksums of the parts */
} loading;

/* One part: its header, and the row of the frame that its first head belongs to. */
typedef struct part_reading {
    sqlite3_blob *blob;
    acq_part_header header;
    size_t first_row;
} part_reading;

static acq_status read_blob(const loading *l, sqlite3_blob *blob, void *to, size_t length,
                            size_t at, acq_error *error)
{
    int code = sqlite3_blob_read(blob, to, (int)length, (int)at);
    return code == SQLITE_OK ? ACQ_OK : acq_db_fail(l->loader->db, code, error);
}

static acq_status read_part_header(const loading *l, uint32_t number, part_reading *part,
                                   acq_error *error)
{
    unsigned char bytes[ACQ_PART_HEADER];
    int length = sqlite3_blob_bytes(part->blob);
    if (length < ACQ_PART_HEADER)
        return fail_damaged(l->loader, "a part of the links is cut off", error);
    acq_status status = read_blob(l, part->blob, bytes, sizeof bytes, 0, error);
    if (status != ACQ_OK)
        return status;
    const char *reason = acq_part_read_header(bytes, (uint64_t)length, &part->header);
    if (reason == NULL && (part->header.directed != l->directed || part->header.number != number))
        reason = "a part of the links belongs elsewhere";
    return reason == NULL ? ACQ_OK : fail_damaged(l->loader, reason, error);
}

/* A part that goes on with the last row begins there: its first head is that row's again. */
static acq_status place_part(const loading *l, part_reading *part, acq_error *error)
{
    uint32_t first = 0;
    acq_status status = read_blob(l, part->blob, &first, WORD, ACQ_PART_HEADER, error);
    if (status != ACQ_OK)
        return status;
    acq_part_swap(&first, 1);
    bool goes_on = l->n_heads > 0 && l->frame.heads[l->n_heads - 1] == first;
    part->first_row = l->n_heads - goes_on;
    if (part->first_row + part->header.n_heads > l->frame.links->n_heads ||
        l->n_links + part->header.n_links > l->frame.links->n_links)
        return fail_damaged(l->loader, "a relation has more links than it counts", error);
    return ACQ_OK;
}

static acq_status read_arrays(const loading *l, const part_reading *part, acq_error *error)
{
    size_t head_bytes = (size_t)part->header.n_heads * WORD;
    size_t tail_bytes = (size_t)part->header.n_links * WORD;
    size_t row = part->first_row, at = ACQ_PART_HEADER;
    acq_status status = read_blob(l, part->blob, l->frame.heads + row, head_bytes, at, error);
    at += head_bytes;
    if (status == ACQ_OK)
        status = read_blob(l, part->blob, l->frame.offsets + row + 1, head_bytes, at, error);
    at += head_bytes;
    if (status == ACQ_OK)
        status = read_blob(l, part->blob, l->frame.tails + l->n_links, tail_bytes, at, error);
    return status;
}

static acq_status read_part(const loading *l, uint32_t number, part_reading *part, acq_error *error)
{
    sqlite3 *handle = l->loader->db->handle;
    int code = sqlite3_blob_open(handle, "main", "links", "body", acq_part_id(l->directed, number),
                                 0, &part->blob);
    if (code == SQLITE_ERROR)
        return fail_damaged(l->loader, "a part of the links is missing", error);
    if (code != SQLITE_OK)
        return acq_db_fail(l->loader->db, code, error);
    acq_status status = read_part_header(l, number, part, error);
    if (status == ACQ_OK)
        status = place_part(l, part, error);
    if (status == ACQ_OK)
        status = read_arrays(l, part, error);
    sqlite3_blob_close(part->blob);
    return status;
}

/* Verifies what was read and turns the lengths into offsets. */
static acq_status take_part(loading *l, const part_reading *part, acq_error *error)
{
    const acq_part_header *header = &part->header;
    uint32_t *heads = l->frame.heads + part->first_row;
    uint32_t *ends = l->frame.offsets + part->first_row + 1;
    uint32_t *tails = l->frame.tails + l->n_links;
    if (acq_part_checksum(header, heads, ends, tails) != header->checksum)
        return fail_damaged(l->loader, "a part of the links does not match its checksum", error);
    acq_part_swap(heads, header->n_heads);
    acq_part_swap(ends, header->n_heads);
    acq_part_swap(tails, header->n_links);
    uint64_t end = l->n_links;
    for (uint32_t i = 0; i < header->n_heads; i++) {
        if (heads[i] >= l->frame.links->n_entities) /* the bitmap has no room for it */
            return fail_damaged(l->loader, "a head is out of range", error);
        if (ends[i] == 0)
            return fail_damaged(l->loader, "a row of links is empty", error);
        end += ends[i];
        ends[i] = (uint32_t)end;
    }
    if (end != l->n_links + header->n_links)
        return fail_damaged(l->loader, "the rows of links do not fill their part", error);
    l->n_heads = part->first_row + header->n_heads;
    l->n_links = (size_t)end;
    l->sum += header->checksum;
    return ACQ_OK;
}

static acq_status load_all_parts(loading *l, acq_error *error)
{
    unsigned side = l->directed & 1;
    acq_status status = ACQ_OK;
    l->frame.offsets[0] = 0;
    for (uint32_t i = 0; status == ACQ_OK && i < l->pair->n_parts[side]; i++) {
        part_reading part = {0};
        lock(l->loader);
        status = read_part(l, i, &part, error);
        unlock(l->loader);
        if (status == ACQ_OK)
            status = take_part(l, &part, error);
    }
    if (status != ACQ_OK)
        return status;
    if (l->n_heads != l->frame.links->n_heads || l->n_links != l->frame.links->n_links ||
        l->sum != l->pair->parts_sum[side])
        return fail_damaged(l->loader, "the links of a relation are not those it counts", error);
    const char *reason = NULL;
    acq_links_seal(&l->frame);
    return acq_links_check(l->frame.links, &reason) ? ACQ_OK
                                                    : fail_damaged(l->loader, reason, error);
}

acq_status acq_load_parts(const acq_loader *loader, acq_rel directed, acq_links **out,
                          acq_error *error)
{
    const acq_store_pair *pair = &loader->catalog->pairs[directed / 2];
    loading l = {.loader = loader, .pair = pair, .directed = directed};
    acq_status status = acq_links_frame_new(&l.frame, pair->n_heads[directed & 1], pair->n_links,
                                            (uint32_t)loader->catalog->meta.n_entities, false);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    status = load_all_parts(&l, error);
    if (status == ACQ_OK)
        *out = l.frame.links;
    else
        acq_links_free(l.frame.links);
    return status;
}

typedef struct change_list {
    change *changes;
    size_t n;
    uint64_t sum;
} change_list;

static acq_status take_change(const acq_loader *loader, sqlite3_stmt *row, acq_rel directed,
                              change_list *list, acq_error *error)
{
    uint64_t head = acq_db_get_u64(row, 0), tail = acq_db_get_u64(row, 1);
    bool is_added = sqlite3_column_int64(row, 2) != 0;
    uint64_t n_entities = loader->catalog->meta.n_entities;
    if (head >= n_entities || tail >= n_entities ||
        list->n == loader->catalog->pairs[directed / 2].n_changes)
        return fail_damaged(loader, "a change is out of range", error);
    list->sum += acq_change_hash(directed & ~1U, (acq_ent)head, (acq_ent)tail, is_added);
    bool swaps = directed % 2 != 0;
    list->changes[list->n++] = (change){.head = (acq_ent)(swaps ? tail : head),
                                        .tail = (acq_ent)(swaps ? head : tail),
                                        .is_added = is_added};
    return ACQ_OK;
}

static acq_status read_change_rows(const acq_loader *loader, acq_rel directed, change_list *list,
                                   acq_error *error)
{
    sqlite3_stmt *rows = NULL;
    bool has_row = false;
    acq_status status = acq_db_prepare(loader->db,
                                       "SELECT head, tail, added FROM change WHERE relation = ?1 "
                                       "ORDER BY head, tail",
                                       &rows, error);
    if (status == ACQ_OK) {
        acq_db_bind_u64(rows, 1, directed & ~1U);
        status = acq_db_step(loader->db, rows, &has_row, error);
    }
    while (status == ACQ_OK && has_row) {
        status = take_change(loader, rows, directed, list, error);
        if (status == ACQ_OK)
            status = acq_db_step(loader->db, rows, &has_row, error);
    }
    sqlite3_finalize(rows);
    return status;
}

static acq_status read_changes(const acq_loader *loader, acq_rel directed, change_list *list,
                               acq_error *error)
{
    const acq_store_pair *pair = &loader->catalog->pairs[directed / 2];
    list->changes = acq_alloc(pair->n_changes, sizeof *list->changes);
    if (list->changes == NULL)
        return acq_fail_memory(error);
    lock(loader);
    acq_status status = read_change_rows(loader, directed, list, error);
    unlock(loader);
    if (status == ACQ_OK && (list->n != pair->n_changes || list->sum != pair->changes_sum))
        status = fail_damaged(loader, "the changes of a relation do not match their sum", error);
    if (status == ACQ_OK && directed % 2 != 0)
        sort_changes(list->changes, list->n);
    return status;
}

static acq_status apply_changes(const acq_loader *loader, const acq_links *base,
                                const change_list *list, acq_links **out, acq_error *error)
{
    acq_status status = merge_changes(base, list->changes, list->n, out);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(error);
    return status == ACQ_OK ? ACQ_OK
                            : fail_damaged(loader, "a change does not fit the links", error);
}

acq_status acq_load_links(const acq_loader *loader, acq_rel directed, acq_links **out,
                          acq_error *error)
{
    acq_links *base = NULL;
    change_list list = {0};
    acq_status status = acq_load_parts(loader, directed, &base, error);
    if (status != ACQ_OK)
        return status;
    if (loader->catalog->pairs[directed / 2].n_changes == 0) {
        *out = base;
        return ACQ_OK;
    }
    status = read_changes(loader, directed, &list, error);
    if (status == ACQ_OK)
        status = apply_changes(loader, base, &list, out, error);
    acq_free(list.changes);
    acq_links_free(base);
    return status;
}

/* ---- graphs ---- */

/* NULL, or what is wrong with a row that begins or continues the last graph so far. */
static const char *take_graph_name(acq_quads *out, int64_t id, uint32_t *part, const char *name,
                                   size_t length)
{
    uint32_t graph = (uint32_t)out->names.n_ids, added;
    if (id == acq_part_id(graph, 0)) {
        *part = 0;
        bool is_new = acq_names_add(&out->names, name, length, 1, &added) == ACQ_OK &&
                      added == graph && length > 0;
        return is_new ? NULL : "two graphs have one name";
    }
    bool goes_on = graph > 0 && id == acq_part_id(graph - 1, ++*part) &&
                   acq_names_find(&out->names, name, length) == graph - 1;
    return goes_on ? NULL : "a row of a graph is missing";
}

static const char *take_graph_body(const acq_store_meta *meta, acq_quads *out, const char *body,
                                   size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t numbers[3];
        memcpy(numbers, body + i * sizeof numbers, sizeof numbers);
        acq_part_swap(numbers, 3);
        acq_quad item = {(uint32_t)out->names.n_ids - 1, numbers[0], numbers[1], numbers[2]};
        if (item.relation % 2 != 0 || item.relation >= meta->n_relations ||
            item.head >= meta->n_entities || item.tail >= meta->n_entities)
            return "a graph has facts of unknown names";
        if (out->n > 0 && acq_quad_compare(&out->items[out->n - 1], &item) >= 0)
            return "the facts of a graph are out of order";
        out->items[out->n++] = item;
    }
    return NULL;
}

static acq_status take_graph_row(const acq_loader *loader, sqlite3_stmt *row, acq_quads *out,
                                 uint32_t *part, uint64_t *sum, acq_error *error)
{
    enum { FACT = 3 * sizeof(uint32_t) };
    const char *name, *problem = NULL;
    size_t length;
    int64_t id = sqlite3_column_int64(row, 0);
    acq_status status = acq_db_read_text(loader->db, row, 1, &name, &length, error);
    if (status != ACQ_OK)
        return status;
    const char *body = sqlite3_column_blob(row, 2);
    size_t bytes = (size_t)sqlite3_column_bytes(row, 2);
    uint64_t checksum = acq_db_get_u64(row, 3);
    if (name == NULL || bytes % FACT != 0 || (body == NULL && bytes > 0) ||
        checksum != acq_graph_row_checksum(id, name, length, body, bytes))
        problem = "a row of a graph does not match its checksum";
    if (problem == NULL)
        problem = take_graph_name(out, id, part, name, length);
    if (problem == NULL && ACQ_RESERVE(out->items, out->capacity, out->n + bytes / FACT) != ACQ_OK)
        return acq_fail_memory(error);
    if (problem == NULL)
        problem = take_graph_body(&loader->catalog->meta, out, body, bytes / FACT);
    *sum += checksum;
    return problem == NULL ? ACQ_OK : acq_db_fail_damaged(loader->db, problem, error);
}

acq_status acq_load_graphs(const acq_loader *loader, acq_quads *out, acq_error *error)
{
    sqlite3_stmt *row = NULL;
    bool has_row = false;
    uint32_t part = 0;
    uint64_t sum = 0;
    acq_quads quads = {.is_kept = true};
    acq_status status = acq_db_prepare(
        loader->db, "SELECT id, name, body, checksum FROM graph ORDER BY id", &row, error);
    if (status == ACQ_OK)
        status = acq_db_step(loader->db, row, &has_row, error);
    while (status == ACQ_OK && has_row) {
        status = take_graph_row(loader, row, &quads, &part, &sum, error);
        if (status == ACQ_OK)
            status = acq_db_step(loader->db, row, &has_row, error);
    }
    sqlite3_finalize(row);
    if (status == ACQ_OK && sum != loader->catalog->meta.graph_rows)
        status = acq_db_fail_damaged(loader->db, "the graphs are not those it counts", error);
    if (status == ACQ_OK)
        *out = quads;
    else
        acq_quads_deinit(&quads);
    return status;
}
