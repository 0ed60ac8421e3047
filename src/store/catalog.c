/* catalog.c - reads the small tables; see catalog.h. */
#include "store/catalog.h"

#include "base/memory.h"

typedef struct reading {
    const acq_db *db;
    acq_catalog *catalog;
} reading;

static acq_status put_name(const acq_db *db, acq_names *names, acq_rel id,
                           const acq_pair_name *name, acq_error *error)
{
    if (name->text == NULL)
        return ACQ_OK;
    if (acq_names_find(names, name->text, name->length) != ACQ_NO_ID)
        return acq_db_fail_damaged(db, "two relations have the same name", error);
    acq_status status = acq_names_put(names, id, name->text, name->length);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(error);
    return status == ACQ_OK ? ACQ_OK
                            : acq_db_fail_damaged(db, "a relation's name is not valid", error);
}

static const char *check_pair(const acq_store_pair *pair, const acq_catalog *catalog)
{
    if (pair->keys[0].text == NULL && pair->keys[1].text == NULL)
        return "a relation has no name";
    if (pair->n_links >= UINT32_MAX || pair->n_links > catalog->file_bytes / sizeof(acq_ent))
        return "a relation counts more links than the file can hold";
    if (pair->n_changes > catalog->file_bytes)
        return "a relation counts more changes than the file can hold";
    for (int i = 0; i < 2; i++) {
        if (pair->n_heads[i] > pair->n_links || pair->n_parts[i] > pair->n_links ||
            pair->n_parts[i] >> ACQ_STORE_PART_BITS != 0)
            return "a relation counts more rows than links";
    }
    return NULL;
}

static acq_status take_pair(void *context, const acq_store_pair *pair, acq_error *error)
{
    reading *r = context;
    acq_catalog *catalog = r->catalog;
    const char *reason = check_pair(pair, catalog);
    if (reason != NULL)
        return acq_db_fail_damaged(r->db, reason, error);
    if (ACQ_RESERVE(catalog->pairs, catalog->pairs_capacity, catalog->n_pairs + 1) != ACQ_OK)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (acq_rel side = 0; status == ACQ_OK && side < 2; side++) {
        acq_rel id = pair->relation + side;
        status = put_name(r->db, &catalog->relations, id, &pair->keys[side], error);
        if (status == ACQ_OK)
            status = put_name(r->db, &catalog->relation_labels, id, &pair->labels[side], error);
    }
    acq_store_pair *kept = &catalog->pairs[catalog->n_pairs++];
    *kept = *pair;
    for (int side = 0; side < 2; side++)
        kept->keys[side] = kept->labels[side] = (acq_pair_name){0};
    return status;
}

static acq_status read_size(const acq_db *db, uint64_t *out, acq_error *error)
{
    int64_t n_pages = 0, page_size = 0;
    acq_status status = acq_db_read_number(db, "PRAGMA page_count", &n_pages, error);
    if (status == ACQ_OK)
        status = acq_db_read_number(db, "PRAGMA page_size", &page_size, error);
    if (status == ACQ_OK)
        *out = (uint64_t)n_pages * (uint64_t)page_size;
    return status;
}

acq_status acq_catalog_read(const acq_db *db, acq_catalog *out, acq_error *error)
{
    *out = (acq_catalog){0};
    reading r = {.db = db, .catalog = out};
    acq_status status = acq_format_check(db, &out->format, error);
    if (status == ACQ_OK)
        status = acq_meta_read(db, &out->meta, error);
    if (status == ACQ_OK)
        status = read_size(db, &out->file_bytes, error);
    if (status == ACQ_OK && out->meta.n_entities > out->file_bytes)
        status = acq_db_fail_damaged(db, "it counts more entities than the file can hold", error);
    if (status == ACQ_OK)
        status = acq_pairs_read(db, out->format, &out->meta, take_pair, &r, error);
    if (status != ACQ_OK)
        acq_catalog_deinit(out);
    return status;
}

void acq_catalog_deinit(acq_catalog *catalog)
{
    acq_names_deinit(&catalog->relations);
    acq_names_deinit(&catalog->relation_labels);
    acq_free(catalog->pairs);
    *catalog = (acq_catalog){0};
}

static acq_pair_name name_of(const acq_names *names, acq_rel id)
{
    const char *text = acq_names_get(names, id);
    return text == NULL ? (acq_pair_name){0}
                        : (acq_pair_name){.text = text, .length = names->entries[id].length};
}

acq_store_pair acq_catalog_get_pair(const acq_catalog *catalog, size_t i)
{
    acq_store_pair pair = catalog->pairs[i];
    for (acq_rel side = 0; side < 2; side++) {
        pair.keys[side] = name_of(&catalog->relations, pair.relation + side);
        pair.labels[side] = name_of(&catalog->relation_labels, pair.relation + side);
    }
    return pair;
}
