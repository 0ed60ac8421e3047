/* write.c - see write.h. Sorting and encoding take one core while SQLite takes another:
 *
 *   sorter ─▶ [ part | part | part | part ] ─▶ next, next, ...
 *             made by a thread of its own      in order
 *
 *   given_back <= taken <= made <= given_back + N_SLOTS
 *
 * count parts from the beginning. Part i is in slot i % N_SLOTS; the taker has part taken - 1
 * until it asks for the next. A part takes up to 24 bytes per link while it is made. Without a
 * thread each part is made when it is asked for. */
#include "store/import/write.h"

#include <pthread.h>

#include "base/memory.h"
#include "store/database.h"

enum { N_SLOTS = 4 };

typedef struct part_ring {
    /* The maker's: */
    acq_sorter *sorter;
    acq_bulk_part slots[N_SLOTS];
    acq_sorted sorted; /* what the sorter gave last */
    size_t i_sorted;   /* links of it that are in parts */
    acq_rel directed;  /* of the last part, like the next two */
    uint32_t number;
    acq_ent last_head;

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t changed;
    uint64_t made, taken, given_back;
    bool is_at_end;  /* nothing more will be made */
    bool is_stopped; /* nobody wants more */
    acq_status status;
    acq_error error;
} part_ring;

/* Sees to it that there are sorted links left, unless there are no more. */
static acq_status look_ahead(part_ring *parts, acq_error *error)
{
    if (parts->i_sorted < parts->sorted.n)
        return ACQ_OK;
    parts->i_sorted = 0;
    return acq_sorter_next(parts->sorter, &parts->sorted, error);
}

static void begin_part(part_ring *parts, acq_bulk_part *part)
{
    bool goes_on = parts->sorted.relation == parts->directed;
    parts->directed = parts->sorted.relation;
    parts->number = goes_on ? parts->number + 1 : 0;
    acq_bulk_part_begin(part, parts->directed, parts->number,
                        goes_on ? parts->last_head : ACQ_NO_ID);
}

/* Moves sorted links into the part until one of them is at its end. */
static acq_status fill_part(part_ring *parts, acq_bulk_part *part)
{
    const acq_fact_key *links = parts->sorted.links;
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && parts->i_sorted < parts->sorted.n &&
           part->part.n_links < ACQ_PART_LINKS) {
        acq_fact_key link = links[parts->i_sorted++];
        status = acq_bulk_part_add(part, acq_fact_key_head(link), acq_fact_key_tail(link));
    }
    return status;
}

/* One part; without links there are no more. */
static acq_status make_part(part_ring *parts, acq_bulk_part *part, acq_error *error)
{
    acq_status status = look_ahead(parts, error);
    if (status != ACQ_OK)
        return status;
    begin_part(parts, part);
    while (parts->sorted.n > 0 && parts->sorted.relation == parts->directed &&
           part->part.n_links < ACQ_PART_LINKS) {
        if (fill_part(parts, part) != ACQ_OK)
            return acq_fail_memory(error);
        status = look_ahead(parts, error);
        if (status != ACQ_OK)
            return status;
    }
    parts->last_head = part->last_head;
    return acq_bulk_part_encode(part) == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

/* Waits for a free slot; false: nobody wants more. The lock is held. */
static bool wait_for_slot(part_ring *parts)
{
    while (parts->made - parts->given_back == N_SLOTS && !parts->is_stopped)
        pthread_cond_wait(&parts->changed, &parts->lock);
    return !parts->is_stopped;
}

static void *run_maker(void *argument)
{
    part_ring *parts = argument;
    pthread_mutex_lock(&parts->lock);
    while (!parts->is_at_end && wait_for_slot(parts)) {
        acq_bulk_part *part = &parts->slots[parts->made % N_SLOTS];
        pthread_mutex_unlock(&parts->lock);
        acq_status status = make_part(parts, part, &parts->error);
        pthread_mutex_lock(&parts->lock);
        parts->status = status;
        parts->is_at_end = status != ACQ_OK || part->part.n_links == 0;
        parts->made += !parts->is_at_end;
        pthread_cond_signal(&parts->changed);
    }
    pthread_mutex_unlock(&parts->lock);
    return NULL;
}

static acq_status parts_new(acq_sorter *sorter, bool with_thread, part_ring **out, acq_error *error)
{
    part_ring *parts = acq_zalloc(1, sizeof *parts);
    if (parts == NULL)
        return acq_fail_memory(error);
    parts->sorter = sorter;
    parts->directed = ACQ_NO_ID;
    pthread_mutex_init(&parts->lock, NULL);
    pthread_cond_init(&parts->changed, NULL);
    parts->has_thread = with_thread && pthread_create(&parts->thread, NULL, run_maker, parts) == 0;
    *out = parts;
    return ACQ_OK;
}

static void parts_free(part_ring *parts)
{
    if (parts == NULL)
        return;
    if (parts->has_thread) {
        pthread_mutex_lock(&parts->lock);
        parts->is_stopped = true;
        pthread_cond_signal(&parts->changed);
        pthread_mutex_unlock(&parts->lock);
        pthread_join(parts->thread, NULL);
    }
    for (size_t i = 0; i < N_SLOTS; i++)
        acq_bulk_part_deinit(&parts->slots[i]);
    pthread_cond_destroy(&parts->changed);
    pthread_mutex_destroy(&parts->lock);
    acq_free(parts);
}

static acq_status take_part(part_ring *parts, const acq_bulk_part **out, acq_error *error)
{
    pthread_mutex_lock(&parts->lock);
    parts->given_back = parts->taken;
    pthread_cond_signal(&parts->changed);
    while (parts->made == parts->taken && !parts->is_at_end)
        pthread_cond_wait(&parts->changed, &parts->lock);
    bool found = parts->made > parts->taken;
    *out = found ? &parts->slots[parts->taken++ % N_SLOTS] : NULL;
    acq_status status = found ? ACQ_OK : parts->status;
    pthread_mutex_unlock(&parts->lock);
    if (status != ACQ_OK && error != NULL && error->code == ACQ_OK)
        *error = parts->error;
    return status;
}

static acq_status parts_next(part_ring *parts, const acq_bulk_part **out, acq_error *error)
{
    if (parts->has_thread)
        return take_part(parts, out, error);
    acq_status status = make_part(parts, &parts->slots[0], error);
    *out = status == ACQ_OK && parts->slots[0].part.n_links > 0 ? &parts->slots[0] : NULL;
    return status;
}

enum { ROWS_PER_LOOK = 1 << 15 };

struct acq_import_writer {
    acq_import_writer_params params;
    acq_temporary_vfs *vfs;
    acq_bulk *bulk;
    uint64_t n_facts; /* given to the sorter */
};

/* What is being put. */
typedef struct putting {
    acq_import_writer *writer;
    const acq_dictionary *dictionary;
    acq_names entity_labels, relation_labels;
    part_ring *parts;
    uint32_t n_rows;               /* of entities, written */
    uint64_t n_links, total_links; /* the total counts facts as often as they were given */
    acq_error *error;
} putting;

acq_status acq_import_writer_new(const acq_import_writer_params *params, acq_import_writer **out,
                                 acq_error *error)
{
    acq_import_writer *writer = acq_zalloc(1, sizeof *writer);
    if (writer == NULL)
        return acq_fail_memory(error);
    writer->params = *params;
    acq_status status = acq_temporary_vfs_new(params->folder, &writer->vfs);
    if (status != ACQ_OK) {
        acq_fail_memory(error);
    } else {
        acq_bulk_params bulk = {.threads = params->threads > 1 ? params->threads - 1 : 0,
                                .vfs = acq_temporary_vfs_get_name(writer->vfs)};
        status = acq_bulk_open(params->path, &bulk, &writer->bulk, error);
    }
    if (status == ACQ_OK)
        *out = writer;
    else
        acq_import_writer_free(writer);
    return status;
}

void acq_import_writer_free(acq_import_writer *writer)
{
    if (writer == NULL)
        return;
    acq_bulk_free(writer->bulk);
    acq_temporary_vfs_free(writer->vfs);
    acq_free(writer);
}

/* False: that is far enough. */
static bool report(const acq_import_writer *writer, const char *phase, uint64_t done,
                   uint64_t total)
{
    acq_progress now = {.phase = phase, .done = done, .total = total, .facts = writer->n_facts};
    return writer->params.progress == NULL || writer->params.progress(writer->params.context, &now);
}

static acq_status report_links(const putting *p)
{
    if (report(p->writer, "links", p->n_links + p->n_rows,
               p->total_links + p->dictionary->entities.n_ids))
        return ACQ_OK;
    return acq_fail(p->error, ACQ_ERR_INTERRUPTED, "the import was interrupted");
}

static acq_pair_name name_of(const acq_names *names, uint32_t id)
{
    const char *text = acq_names_get(names, id);
    return (acq_pair_name){text, text == NULL ? 0 : names->entries[id].length};
}

/* The next rows, all in one statement of SQLite if there are ACQ_BULK_ROWS left. */
static acq_status write_some_rows(putting *p, size_t n)
{
    acq_bulk_entity rows[ACQ_BULK_ROWS];
    for (uint32_t i = 0; i < n; i++)
        rows[i] = (acq_bulk_entity){name_of(&p->dictionary->entities, p->n_rows + i),
                                    name_of(&p->entity_labels, p->n_rows + i)};
    p->n_rows += (uint32_t)n;
    return acq_bulk_add_entities(p->writer->bulk, rows, n, p->error);
}

static acq_status write_rows(putting *p, size_t end)
{
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && p->n_rows < end) {
        size_t left = p->dictionary->entities.n_ids - p->n_rows;
        status = write_some_rows(p, left < ACQ_BULK_ROWS ? left : ACQ_BULK_ROWS);
        if (status == ACQ_OK && p->n_rows % ROWS_PER_LOOK == 0)
            status = report_links(p);
    }
    return status;
}

static acq_status write_part(putting *p, const acq_bulk_part *part)
{
    acq_status status = acq_bulk_put_part(p->writer->bulk, part, p->error);
    p->n_links += part->part.n_links;
    double share = (double)p->n_links / (double)p->total_links;
    if (status == ACQ_OK)
        status = write_rows(p, (size_t)(share * (double)p->dictionary->entities.n_ids));
    return status == ACQ_OK ? report_links(p) : status;
}

static acq_status write_parts(putting *p)
{
    const acq_bulk_part *part = NULL;
    acq_status status = parts_next(p->parts, &part, p->error);
    while (status == ACQ_OK && part != NULL) {
        status = write_part(p, part);
        if (status == ACQ_OK)
            status = parts_next(p->parts, &part, p->error);
    }
    return status;
}

static acq_status write_relations(putting *p)
{
    const acq_names *keys = &p->dictionary->relations, *labels = &p->relation_labels;
    acq_status status = ACQ_OK;
    for (uint32_t id = 0; status == ACQ_OK && id < keys->n_ids; id += 2) {
        acq_pair_name pair_keys[2] = {name_of(keys, id), name_of(keys, id + 1)};
        acq_pair_name pair_labels[2] = {name_of(labels, id), name_of(labels, id + 1)};
        status = acq_bulk_add_pair(p->writer->bulk, pair_keys, pair_labels, p->error);
    }
    return status;
}

static acq_status settle_labels(putting *p)
{
    const acq_dictionary *dictionary = p->dictionary;
    if (acq_dictionary_settle_labels(dictionary, &dictionary->entities, &p->entity_labels) !=
            ACQ_OK ||
        acq_dictionary_settle_labels(dictionary, &dictionary->relations, &p->relation_labels) !=
            ACQ_OK)
        return acq_fail_memory(p->error);
    return ACQ_OK;
}

/* From all names with their ids: another import has another salt, unless it has the same rows. */
static uint64_t find_salt(const putting *p)
{
    uint64_t sum = 0;
    for (uint32_t id = 0; id < p->dictionary->entities.n_ids; id++) {
        acq_pair_name key = name_of(&p->dictionary->entities, id);
        acq_pair_name label = name_of(&p->entity_labels, id);
        sum += acq_hash_name(id, key.text, key.length);
        if (label.text != NULL)
            sum += acq_random_mix(acq_hash_name(id, label.text, label.length));
    }
    return sum == 0 ? 1 : sum;
}

acq_status acq_import_writer_put(acq_import_writer *writer, const acq_dictionary *dictionary,
                                 acq_sorter *sorter, acq_error *error)
{
    acq_sort_counts counts;
    acq_sorter_get_counts(sorter, &counts);
    writer->n_facts = counts.given;
    putting p = {.writer = writer,
                 .dictionary = dictionary,
                 .total_links = 2 * counts.given,
                 .error = error};
    acq_status status = settle_labels(&p);
    if (status == ACQ_OK)
        acq_bulk_set_salt(writer->bulk, find_salt(&p));
    if (status == ACQ_OK)
        status = parts_new(sorter, writer->params.threads > 1, &p.parts, error);
    if (status == ACQ_OK)
        status = write_parts(&p);
    if (status == ACQ_OK)
        status = write_rows(&p, dictionary->entities.n_ids);
    if (status == ACQ_OK)
        status = write_relations(&p);
    if (status == ACQ_OK && dictionary->quads.is_kept)
        status = acq_bulk_put_graphs(writer->bulk, &dictionary->quads, error);
    parts_free(p.parts);
    acq_names_deinit(&p.entity_labels);
    acq_names_deinit(&p.relation_labels);
    return status;
}

static bool report_index(void *context, double done)
{
    const acq_import_writer *writer = context;
    uint64_t total = acq_bulk_get_meta(writer->bulk)->n_entities;
    return report(writer, "names", (uint64_t)(done * (double)total), total);
}

acq_status acq_import_writer_finish(acq_import_writer *writer, const char *sources, bool is_rdf,
                                    acq_error *error)
{
    if (!report_index(writer, 0.0))
        return acq_fail(error, ACQ_ERR_INTERRUPTED, "the import was interrupted");
    acq_bulk_set_progress(writer->bulk, report_index, writer);
    return acq_bulk_finish(writer->bulk, sources, is_rdf, error);
}

const acq_store_meta *acq_import_writer_get_meta(const acq_import_writer *writer)
{
    return acq_bulk_get_meta(writer->bulk);
}
