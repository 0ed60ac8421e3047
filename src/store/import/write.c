/* write.c - see import_write.h. */
#include "store/import/write.h"

#include "base/memory.h"
#include "store/import/links.h"
#include "store/import/vfs.h"

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
    acq_link_parts *parts;
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
    acq_stage now = {.phase = phase, .done = done, .total = total, .facts = writer->n_facts};
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
    acq_status status = acq_link_parts_next(p->parts, &part, p->error);
    while (status == ACQ_OK && part != NULL) {
        status = write_part(p, part);
        if (status == ACQ_OK)
            status = acq_link_parts_next(p->parts, &part, p->error);
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
        status = acq_link_parts_new(sorter, writer->params.threads > 1, &p.parts, error);
    if (status == ACQ_OK)
        status = write_parts(&p);
    if (status == ACQ_OK)
        status = write_rows(&p, dictionary->entities.n_ids);
    if (status == ACQ_OK)
        status = write_relations(&p);
    acq_link_parts_free(p.parts);
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
