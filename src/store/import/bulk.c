/* bulk.c - writes a store once, from front to end; see write.h.
 *
 * One transaction without a journal; rows of names are inserted many at a time, which takes 60 %
 * of the time of one at a time; indexes last, by SQLite's external sort. Its runs are as long as
 * the cache is large, and they are sorted by comparing keys all over: 16 MB is faster than more. */
#include "store/import/write.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { CACHE_KB = 16 << 10, STEPS_PER_LOOK = 10000, STEPS_PER_ROW = 11 };

/* What is known of a pair before its names. */
typedef struct bulk_pair {
    uint64_t n_links[2], n_heads[2], parts_sum[2];
    uint32_t n_parts[2];
} bulk_pair;

struct acq_bulk {
    acq_db db;
    sqlite3_stmt *put_entity, *put_entities, *put_part, *put_pair; /* entities: ACQ_BULK_ROWS */
    acq_store_meta meta;
    bulk_pair *pairs; /* zeroed up to n_pairs */
    size_t n_pairs, pairs_capacity;
    acq_bulk_progress_fn progress;
    void *progress_context;
    uint64_t looks; /* of the progress handler */
};

/* A statement that inserts n entities at once. */
static acq_status prepare_entities(const acq_db *db, size_t n, sqlite3_stmt **out, acq_error *error)
{
    acq_text sql;
    acq_text_init(&sql);
    acq_text_add(&sql, "INSERT INTO entity(id, key, checksum, label) VALUES");
    for (size_t i = 0; i < n; i++)
        acq_text_add(&sql, i == 0 ? "(?, ?, ?, ?)" : ", (?, ?, ?, ?)");
    acq_status status = acq_text_finish(&sql, error);
    if (status == ACQ_OK)
        status = acq_db_prepare(db, sql.bytes, out, error);
    acq_text_deinit(&sql);
    return status;
}

/* The marks are on disk before anything else: whoever finds a half-made file knows whose it is. */
static acq_status prepare(acq_bulk *bulk, unsigned threads, acq_error *error)
{
    const acq_db *db = &bulk->db;
    char sql[256];
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF;"
             "PRAGMA synchronous = OFF; PRAGMA cache_size = -%d; PRAGMA threads = %u; BEGIN",
             ACQ_STORE_PAGE, CACHE_KB, threads);
    acq_status status = acq_db_run(db, sql, error);
    if (status == ACQ_OK)
        status = acq_format_create_tables(db, error);
    if (status == ACQ_OK)
        status = acq_db_run(db, "COMMIT; BEGIN", error);
    if (status == ACQ_OK)
        status = prepare_entities(db, 1, &bulk->put_entity, error);
    if (status == ACQ_OK)
        status = prepare_entities(db, ACQ_BULK_ROWS, &bulk->put_entities, error);
    if (status == ACQ_OK)
        status = acq_db_prepare(db, "INSERT INTO links VALUES(?1, ?2)", &bulk->put_part, error);
    if (status == ACQ_OK)
        status = acq_pair_prepare_write(db, &bulk->put_pair, error);
    return status;
}

acq_status acq_bulk_open(const char *path, const acq_bulk_params *params, acq_bulk **out,
                         acq_error *error)
{
    const acq_bulk_params given = params == NULL ? (acq_bulk_params){0} : *params;
    acq_bulk *bulk = acq_zalloc(1, sizeof *bulk);
    if (bulk == NULL)
        return acq_fail_memory(error);
    acq_status status = acq_db_open_vfs(&bulk->db, path, ACQ_DB_CREATE, given.vfs, error);
    if (status == ACQ_OK)
        status = prepare(bulk, given.threads, error);
    if (status != ACQ_OK) {
        acq_bulk_free(bulk);
        return status;
    }
    *out = bulk;
    return ACQ_OK;
}

static void finalize_statements(acq_bulk *bulk)
{
    sqlite3_finalize(bulk->put_entity);
    sqlite3_finalize(bulk->put_entities);
    sqlite3_finalize(bulk->put_part);
    sqlite3_finalize(bulk->put_pair);
    bulk->put_entity = bulk->put_entities = bulk->put_part = bulk->put_pair = NULL;
}

void acq_bulk_free(acq_bulk *bulk)
{
    if (bulk == NULL)
        return;
    finalize_statements(bulk);
    acq_db_close(&bulk->db);
    acq_free(bulk->pairs);
    acq_free(bulk);
}

/* An index takes about STEPS_PER_ROW steps of SQLite's machine for each row, half of them to read
 * the table, half to write what was sorted. */
static int look(void *context)
{
    acq_bulk *bulk = context;
    double rows = (double)bulk->meta.n_entities + (double)bulk->meta.n_labels + 1;
    double done = (double)++bulk->looks * STEPS_PER_LOOK / (STEPS_PER_ROW * rows);
    return bulk->progress != NULL &&
           !bulk->progress(bulk->progress_context, done < 1.0 ? done : 1.0);
}

void acq_bulk_set_progress(acq_bulk *bulk, acq_bulk_progress_fn progress, void *context)
{
    bulk->progress = progress;
    bulk->progress_context = context;
}

void acq_bulk_set_salt(acq_bulk *bulk, uint64_t salt)
{
    bulk->meta.salt = salt;
}

/* Binds the i-th entity of a statement, which is the next one of the store. */
static void bind_entity(acq_bulk *bulk, sqlite3_stmt *put, int i, const acq_bulk_entity *entity)
{
    acq_pair_name key = entity->key, label = entity->label;
    acq_ent id = (acq_ent)bulk->meta.n_entities++;
    acq_store_entity row = {.id = id,
                            .key = key.text,
                            .label = label.text,
                            .key_length = key.length,
                            .label_length = label.length};
    acq_db_bind_u64(put, 4 * i + 1, id);
    acq_db_bind_text(put, 4 * i + 2, key.text, key.length);
    acq_db_bind_u64(put, 4 * i + 3, acq_entity_checksum(bulk->meta.salt, &row));
    acq_db_bind_text(put, 4 * i + 4, label.text, label.length);
    bulk->meta.entity_sum += acq_hash_name(id, key.text, key.length);
    bulk->meta.n_labels += label.text != NULL;
}

acq_status acq_bulk_add_entities(acq_bulk *bulk, const acq_bulk_entity *entities, size_t n,
                                 acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0, rows; status == ACQ_OK && i < n; i += rows) {
        rows = n - i < ACQ_BULK_ROWS ? 1 : ACQ_BULK_ROWS;
        sqlite3_stmt *put = rows == 1 ? bulk->put_entity : bulk->put_entities;
        for (size_t j = 0; j < rows; j++)
            bind_entity(bulk, put, (int)j, &entities[i + j]);
        status = acq_db_finish(&bulk->db, put, error);
    }
    return status;
}

static bulk_pair *pair_of(acq_bulk *bulk, acq_rel directed)
{
    return &bulk->pairs[directed / 2];
}

static acq_status make_pairs(acq_bulk *bulk, size_t n, acq_error *error)
{
    if (n <= bulk->n_pairs)
        return ACQ_OK;
    if (ACQ_RESERVE(bulk->pairs, bulk->pairs_capacity, n) != ACQ_OK)
        return acq_fail_memory(error);
    for (; bulk->n_pairs < n; bulk->n_pairs++)
        bulk->pairs[bulk->n_pairs] = (bulk_pair){0};
    return ACQ_OK;
}

void acq_bulk_part_begin(acq_bulk_part *part, acq_rel directed, uint32_t number, acq_ent last_head)
{
    acq_part_begin(&part->part, directed, number);
    part->last_head = last_head;
    part->n_heads = part->fact_sum = part->checksum = 0;
}

acq_status acq_bulk_part_add(acq_bulk_part *part, acq_ent head, acq_ent tail)
{
    acq_rel directed = part->part.directed;
    part->n_heads += head != part->last_head;
    part->last_head = head;
    if (directed % 2 == 0)
        part->fact_sum += acq_hash_fact(directed, head, tail);
    return acq_part_add(&part->part, head, tail);
}

acq_status acq_bulk_part_encode(acq_bulk_part *part)
{
    return acq_part_encode(&part->part, &part->checksum);
}

void acq_bulk_part_deinit(acq_bulk_part *part)
{
    acq_part_deinit(&part->part);
}

acq_status acq_bulk_put_part(acq_bulk *bulk, const acq_bulk_part *part, acq_error *error)
{
    const acq_part *made = &part->part;
    unsigned side = made->directed & 1;
    acq_status status = make_pairs(bulk, (size_t)made->directed / 2 + 1, error);
    if (status != ACQ_OK)
        return status;
    bulk_pair *pair = pair_of(bulk, made->directed);
    if (pair->n_links[side] + made->n_links >= UINT32_MAX)
        return acq_fail(error, ACQ_ERR_LIMIT, "a relation has more than %u facts", UINT32_MAX - 1);
    sqlite3_bind_int64(bulk->put_part, 1, acq_part_id(made->directed, made->number));
    sqlite3_bind_blob64(bulk->put_part, 2, made->body, made->body_length, SQLITE_STATIC);
    status = acq_db_finish(&bulk->db, bulk->put_part, error);
    pair->n_links[side] += made->n_links;
    pair->n_heads[side] += part->n_heads;
    pair->parts_sum[side] += part->checksum;
    pair->n_parts[side] = made->number + 1;
    bulk->meta.fact_sum += part->fact_sum;
    return status;
}

acq_status acq_bulk_add_pair(acq_bulk *bulk, const acq_pair_name keys[2],
                             const acq_pair_name labels[2], acq_error *error)
{
    acq_rel relation = (acq_rel)bulk->meta.n_relations;
    acq_status status = make_pairs(bulk, (size_t)relation / 2 + 1, error);
    if (status != ACQ_OK)
        return status;
    const bulk_pair *known = pair_of(bulk, relation);
    if (known->n_links[0] != known->n_links[1])
        return acq_fail(error, ACQ_ERR_INTERNAL, "the directions of relation %u differ", relation);
    acq_store_pair pair = {
        .relation = relation,
        .keys = {keys[0], keys[1]},
        .labels = {labels[0], labels[1]},
        .n_links = known->n_links[0],
        .n_heads = {known->n_heads[0], known->n_heads[1]},
        .n_parts = {known->n_parts[0], known->n_parts[1]},
        .parts_sum = {known->parts_sum[0], known->parts_sum[1]},
    };
    status = acq_pair_write(&bulk->db, bulk->put_pair, &pair, error);
    bulk->meta.n_relations += 2;
    bulk->meta.n_facts += pair.n_links;
    bulk->meta.relation_rows += acq_pair_checksum(&pair);
    return status;
}

/* Facts from `from` on that one row takes, as its body. */
static size_t fill_graph_body(const acq_quads *quads, size_t from, uint32_t graph, uint32_t *body)
{
    size_t n = 0;
    while (n < ACQ_GRAPH_PART_FACTS && from + n < quads->n && quads->items[from + n].graph == graph) {
        const acq_quad *item = &quads->items[from + n];
        body[3 * n] = item->relation;
        body[3 * n + 1] = item->head;
        body[3 * n + 2] = item->tail;
        n++;
    }
    acq_part_swap(body, 3 * n);
    return n;
}

/* All rows of one graph, at least one; *from moves behind its facts. */
static acq_status put_graph(acq_bulk *bulk, sqlite3_stmt *put, const acq_quads *quads,
                            uint32_t graph, size_t *from, uint32_t *body, acq_error *error)
{
    const char *name = acq_names_get(&quads->names, graph);
    size_t length = strlen(name);
    acq_status status = ACQ_OK;
    for (uint32_t part = 0;
         status == ACQ_OK && (part == 0 || (*from < quads->n && quads->items[*from].graph == graph));
         part++) {
        size_t n = fill_graph_body(quads, *from, graph, body), bytes = 3 * n * sizeof *body;
        int64_t id = acq_part_id(graph, part);
        uint64_t checksum = acq_graph_row_checksum(id, name, length, body, bytes);
        sqlite3_bind_int64(put, 1, id);
        acq_db_bind_text(put, 2, name, length);
        sqlite3_bind_blob64(put, 3, body, bytes, SQLITE_STATIC);
        acq_db_bind_u64(put, 4, checksum);
        status = acq_db_finish(&bulk->db, put, error);
        bulk->meta.graph_rows += checksum;
        *from += n;
    }
    return status;
}

acq_status acq_bulk_put_graphs(acq_bulk *bulk, const acq_quads *quads, acq_error *error)
{
    sqlite3_stmt *put = NULL;
    size_t from = 0;
    uint32_t *body = acq_alloc((size_t)3 * ACQ_GRAPH_PART_FACTS, sizeof *body);
    acq_status status =
        body == NULL ? acq_fail_memory(error) : acq_format_add_graphs(&bulk->db, error);
    if (status == ACQ_OK)
        status = acq_db_prepare(&bulk->db, "INSERT INTO graph VALUES(?1, ?2, ?3, ?4)", &put, error);
    for (uint32_t graph = 0; status == ACQ_OK && graph < quads->names.n_ids; graph++)
        status = put_graph(bulk, put, quads, graph, &from, body, error);
    sqlite3_finalize(put);
    acq_free(body);
    return status;
}

acq_status acq_bulk_finish(acq_bulk *bulk, const char *sources, bool is_rdf, acq_error *error)
{
    const acq_db *db = &bulk->db;
    if (bulk->n_pairs > bulk->meta.n_relations / 2)
        return acq_fail(error, ACQ_ERR_INTERNAL, "links of a relation without a name");
    bulk->meta.is_rdf = is_rdf;
    bulk->meta.imported = acq_meta_hash(&bulk->meta);
    acq_meta_set_sources(&bulk->meta, sources);
    acq_status status = acq_meta_write(db, &bulk->meta, error);
    finalize_statements(bulk);
    sqlite3_progress_handler(db->handle, STEPS_PER_LOOK, look, bulk);
    if (status == ACQ_OK)
        status = acq_format_create_indexes(db, error);
    sqlite3_progress_handler(db->handle, 0, NULL, NULL);
    /* What was written without care is synced by the commit that follows it. */
    if (status == ACQ_OK)
        status =
            acq_db_run(db, "COMMIT; PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL", error);
    if (status == ACQ_OK)
        acq_db_close(&bulk->db);
    return status;
}

const acq_store_meta *acq_bulk_get_meta(const acq_bulk *bulk)
{
    return &bulk->meta;
}
