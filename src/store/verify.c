/* verify.c - reads a whole store and checks all that it says; see store.h.
 *
 *   SQLite's own check of its pages
 *   entities: ids without a gap, checksums, sums, labels
 *   indexes: in order, and the same names with the same ids; by sums, for SQLite's way of looking
 *       each name up takes a minute for 5 million
 *   links: parts, order, ranges; the two directions of a relation say the same
 *   totals: facts, fingerprints, changes; no row that nobody counts */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "graph/build.h"
#include "store/catalog.h"
#include "store/database.h"

enum { STEPS_PER_LOOK = 100000, ROWS_PER_LOOK = 100000 };

typedef struct verifying {
    acq_db db;
    acq_catalog catalog;
    acq_progress_fn progress;
    void *context;
    acq_progress stage;
} verifying;

static acq_status report(verifying *v, const char *phase, uint64_t done, uint64_t total,
                         acq_error *error)
{
    v->stage = (acq_progress){.phase = phase, .done = done, .total = total};
    if (v->progress == NULL || v->progress(v->context, &v->stage))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INTERRUPTED, "interrupted");
}

static int look_for_stop(void *context)
{
    verifying *v = context;
    return !v->progress(v->context, &v->stage);
}

static acq_status fail_damaged(const verifying *v, const char *reason, acq_error *error)
{
    return acq_db_fail_damaged(&v->db, reason, error);
}

/* What SQLite says of a page, without the heading above it. A page that could not be read or kept
 * in memory need not be damaged: it then ends in "error code=" and SQLite's number. */
static acq_status fail_integrity(const verifying *v, const char *text, acq_error *error)
{
    static const char mark[] = "error code=";
    const char *code = strstr(text, mark), *line = strchr(text, '\n');
    int number = code == NULL ? SQLITE_OK : atoi(code + strlen(mark));
    if ((number & 0xff) == SQLITE_IOERR || (number & 0xff) == SQLITE_NOMEM)
        return acq_db_fail(&v->db, number, error);
    return fail_damaged(v, line == NULL ? text : line + 1, error);
}

static acq_status check_integrity(verifying *v, acq_error *error)
{
    sqlite3_stmt *rows = NULL;
    bool has_row = false;
    const char *text = NULL;
    size_t length = 0;
    acq_status status = report(v, "checking pages", 0, 0, error);
    if (v->progress != NULL)
        sqlite3_progress_handler(v->db.handle, STEPS_PER_LOOK, look_for_stop, v);
    if (status == ACQ_OK)
        status = acq_db_prepare(&v->db, "PRAGMA quick_check(1)", &rows, error);
    if (status == ACQ_OK)
        status = acq_db_step(&v->db, rows, &has_row, error);
    if (status == ACQ_OK && has_row)
        status = acq_db_read_text(&v->db, rows, 0, &text, &length, error);
    if (status == ACQ_OK && (text == NULL || strcmp(text, "ok") != 0))
        status = fail_integrity(v, text == NULL ? "SQLite cannot check it" : text, error);
    sqlite3_finalize(rows);
    sqlite3_progress_handler(v->db.handle, 0, NULL, NULL);
    return status;
}

typedef struct entity_totals {
    uint64_t n, sum, n_labels, label_sum;
} entity_totals;

static acq_status take_entities(verifying *v, sqlite3_stmt *rows, entity_totals *totals,
                                acq_error *error)
{
    uint64_t n_entities = v->catalog.meta.n_entities;
    bool has_row = false;
    acq_status status = acq_db_step(&v->db, rows, &has_row, error);
    while (status == ACQ_OK && has_row) {
        acq_store_entity row;
        status = acq_entity_take(&v->db, rows, &v->catalog.meta, &row, error);
        if (status != ACQ_OK)
            return status;
        if (row.id != totals->n)
            return fail_damaged(v, "an entity is missing", error);
        totals->n++;
        totals->sum += acq_hash_name(row.id, row.key, row.key_length);
        if (row.label != NULL) {
            totals->label_sum += acq_hash_name(row.id, row.label, row.label_length);
            totals->n_labels++;
        }
        if (totals->n % ROWS_PER_LOOK == 0)
            status = report(v, "checking names", totals->n, n_entities, error);
        if (status == ACQ_OK)
            status = acq_db_step(&v->db, rows, &has_row, error);
    }
    return status;
}

static acq_status sum_entities(verifying *v, entity_totals *totals, acq_error *error)
{
    const acq_store_meta *meta = &v->catalog.meta;
    sqlite3_stmt *rows = NULL;
    acq_status status =
        acq_db_prepare(&v->db,
                       v->catalog.format > 1 ? ACQ_ENTITY_SELECT "ORDER BY id"
                                             : ACQ_ENTITY_SELECT_FIRST "ORDER BY id",
                       &rows, error);
    if (status == ACQ_OK)
        status = take_entities(v, rows, totals, error);
    sqlite3_finalize(rows);
    if (status == ACQ_OK && (totals->n != meta->n_entities || totals->sum != meta->entity_sum ||
                             totals->n_labels != meta->n_labels))
        status = fail_damaged(v, "the entities are not those it counts", error);
    return status;
}

/* What an index holds. */
typedef struct index_totals {
    uint64_t n, sum;
    acq_text last; /* the name before */
} index_totals;

static bool is_rising(const index_totals *totals, const char *name, size_t length)
{
    size_t shorter = length < totals->last.length ? length : totals->last.length;
    int order = totals->n == 0 ? -1 : memcmp(totals->last.bytes, name, shorter);
    return order < 0 || (order == 0 && totals->last.length < length);
}

static acq_status take_index(verifying *v, sqlite3_stmt *rows, index_totals *totals,
                             acq_error *error)
{
    bool has_row = false;
    acq_status status = acq_db_step(&v->db, rows, &has_row, error);
    while (status == ACQ_OK && has_row) {
        const char *name = NULL;
        size_t length = 0;
        status = acq_db_read_text(&v->db, rows, 1, &name, &length, error);
        if (status == ACQ_OK && (name == NULL || !is_rising(totals, name, length)))
            status = fail_damaged(v, "its index of names is out of order", error);
        if (status != ACQ_OK)
            return status;
        totals->n++;
        totals->sum += acq_hash_name((acq_ent)acq_db_get_u64(rows, 0), name, length);
        acq_text_clear(&totals->last);
        acq_text_add_bytes(&totals->last, name, length);
        status = acq_text_finish(&totals->last, error);
        if (status == ACQ_OK && totals->n % ROWS_PER_LOOK == 0)
            status = report(v, "checking the index", totals->n, v->catalog.meta.n_entities, error);
        if (status == ACQ_OK)
            status = acq_db_step(&v->db, rows, &has_row, error);
    }
    return status;
}

/* sql asks an index alone for id and name, in its order. */
static acq_status check_index(verifying *v, const char *sql, uint64_t n, uint64_t sum,
                              acq_error *error)
{
    sqlite3_stmt *rows = NULL;
    index_totals totals = {0};
    acq_text_init(&totals.last);
    acq_status status = acq_db_prepare(&v->db, sql, &rows, error);
    if (status == ACQ_OK)
        status = take_index(v, rows, &totals, error);
    sqlite3_finalize(rows);
    acq_text_deinit(&totals.last);
    if (status == ACQ_OK && (totals.n != n || totals.sum != sum))
        status = fail_damaged(v, "its index of names is wrong", error);
    return status;
}

static acq_status check_entities(verifying *v, acq_error *error)
{
    entity_totals totals = {0};
    acq_status status = sum_entities(v, &totals, error);
    if (status == ACQ_OK)
        status = check_index(v, "SELECT id, key FROM entity INDEXED BY entity_key ORDER BY key",
                             totals.n, totals.sum, error);
    if (status == ACQ_OK && v->catalog.format > 1)
        status = check_index(v,
                             "SELECT id, label FROM entity INDEXED BY entity_label "
                             "WHERE label IS NOT NULL ORDER BY label",
                             totals.n_labels, totals.label_sum, error);
    return status;
}

/* Sum of the hashes of the facts, whichever direction they are read in. */
static uint64_t sum_facts(const acq_links *links, acq_rel directed)
{
    uint64_t sum = 0;
    bool swaps = directed % 2 != 0;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        for (size_t j = 0; j < row.n; j++)
            sum += swaps ? acq_hash_fact(directed ^ 1U, row.tails[j], links->heads[i])
                         : acq_hash_fact(directed, links->heads[i], row.tails[j]);
    }
    return sum;
}

static acq_status sum_direction(verifying *v, acq_rel directed, uint64_t *sum, uint64_t *n_links,
                                acq_error *error)
{
    const acq_loader loader = {.db = &v->db, .catalog = &v->catalog};
    acq_links *links = NULL;
    acq_status status = acq_load_links(&loader, directed, &links, error);
    if (status != ACQ_OK)
        return status;
    *sum = sum_facts(links, directed);
    *n_links = links->n_links;
    acq_links_free(links);
    return ACQ_OK;
}

static acq_status check_links(verifying *v, acq_error *error)
{
    const acq_store_meta *meta = &v->catalog.meta;
    uint64_t n_facts = 0, fact_sum = 0, n_changes = 0;
    acq_status status = ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < v->catalog.n_pairs; i++) {
        acq_rel relation = v->catalog.pairs[i].relation;
        uint64_t sums[2] = {0}, n_links[2] = {0};
        status = report(v, "checking links", n_facts, meta->n_facts, error);
        for (acq_rel side = 0; status == ACQ_OK && side < 2; side++)
            status = sum_direction(v, relation + side, &sums[side], &n_links[side], error);
        if (status == ACQ_OK && (sums[0] != sums[1] || n_links[0] != n_links[1]))
            status = fail_damaged(v, "the two directions of a relation differ", error);
        n_facts += n_links[0];
        fact_sum += sums[0];
        n_changes += v->catalog.pairs[i].n_changes;
    }
    if (status == ACQ_OK &&
        (n_facts != meta->n_facts || fact_sum != meta->fact_sum || n_changes != meta->n_changes))
        status = fail_damaged(v, "the facts are not those it counts", error);
    return status;
}

static acq_status check_count(const verifying *v, const char *sql, uint64_t expected,
                              acq_error *error)
{
    int64_t n = 0;
    acq_status status = acq_db_read_number(&v->db, sql, &n, error);
    if (status == ACQ_OK && (uint64_t)n != expected)
        status = fail_damaged(v, "it has rows that belong to nothing", error);
    return status;
}

static acq_status check_counts(const verifying *v, acq_error *error)
{
    uint64_t n_parts = 0;
    for (size_t i = 0; i < v->catalog.n_pairs; i++)
        n_parts += (uint64_t)v->catalog.pairs[i].n_parts[0] + v->catalog.pairs[i].n_parts[1];
    acq_status status = check_count(v, "SELECT count(*) FROM links", n_parts, error);
    return status == ACQ_OK
               ? check_count(v, "SELECT count(*) FROM change", v->catalog.meta.n_changes, error)
               : status;
}

static acq_status check_graphs(const verifying *v, acq_error *error)
{
    const acq_loader loader = {.db = &v->db, .catalog = &v->catalog};
    acq_quads quads = {0};
    acq_status status = ACQ_OK;
    if (v->catalog.format >= ACQ_STORE_FORMAT_GRAPHS)
        status = acq_load_graphs(&loader, &quads, error);
    acq_quads_deinit(&quads);
    return status;
}

static acq_status check_all(verifying *v, acq_error *error)
{
    acq_status status = check_integrity(v, error);
    if (status == ACQ_OK)
        status = check_entities(v, error);
    if (status == ACQ_OK)
        status = check_links(v, error);
    if (status == ACQ_OK)
        status = check_counts(v, error);
    if (status == ACQ_OK)
        status = check_graphs(v, error);
    return status;
}

acq_status acq_store_verify(const char *path, acq_progress_fn progress, void *context,
                            acq_error *error)
{
    ACQ_REQUIRE(path, error);
    verifying v = {.progress = progress, .context = context};
    acq_status status = acq_db_open_to_read(&v.db, path, error);
    if (status != ACQ_OK)
        return status;
    status = acq_catalog_read(&v.db, &v.catalog, error);
    if (status == ACQ_OK)
        status = check_all(&v, error);
    if (status == ACQ_OK)
        status = acq_db_check_unchanged(&v.db, error);
    acq_catalog_deinit(&v.catalog);
    acq_db_close(&v.db);
    return status;
}
