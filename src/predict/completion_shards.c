/* completion_shards.c - the shards of a completion become one file.
 *
 * All files are opened and compared before anything is written. Then each pair of relations is
 * copied from the shard that has it, in rising order, checked on the way: the blocks are the same
 * bytes, only their places change. Memory for the largest block. */
#include "predict/completion.h"

#include <string.h>

#include "base/memory.h"
#include "predict/completion_file.h"

typedef struct shards {
    const char *const *paths; /* as given */
    size_t n;
    size_t n_open;
    acq_completion_stored *files;
    bool (*progress)(void *context, uint64_t done, uint64_t of); /* may be NULL */
    void *context;
} shards;

static acq_status open_all(shards *all, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < all->n && status == ACQ_OK; i++) {
        status = acq_completion_stored_open(&all->files[i], all->paths[i], error);
        all->n_open += status == ACQ_OK;
    }
    return status;
}

/* What two shards of one completion must share; NULL, or what differs. */
static const char *compare(const acq_completion_stored *a, const acq_completion_stored *b)
{
    const acq_completion_header *x = &a->header, *y = &b->header;
    if (x->n_entities != y->n_entities || x->n_relations != y->n_relations ||
        x->dictionary_fingerprint != y->dictionary_fingerprint)
        return "dictionary";
    if (x->graph_fingerprint != y->graph_fingerprint)
        return "graph";
    if (x->name_length != y->name_length || memcmp(a->name, b->name, x->name_length) != 0)
        return "predictor";
    if (x->floor != y->floor)
        return "floor";
    if (x->calibrator_length != y->calibrator_length ||
        x->calibrator_checksum != y->calibrator_checksum)
        return "calibrator";
    return x->shard_of != y->shard_of ? "number of shards" : NULL;
}

/* Whether a shard has links of no relations but its own. */
static bool keeps_to_itself(const acq_completion_stored *file)
{
    acq_shard shard = {file->header.shard_part, file->header.shard_of};
    for (acq_rel r = 0; r < file->header.n_relations; r++) {
        if (file->entries[r].n_links > 0 && !acq_shard_has(shard, r))
            return false;
    }
    return true;
}

static acq_status check_one(const shards *all, size_t i, acq_error *error)
{
    const acq_completion_stored *file = &all->files[i];
    const char *different = compare(&all->files[0], file);
    if (file->header.shard_of == 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this completion is whole; only shards can be merged");
    if (different != NULL)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this shard has another %s than %.200s; make both of them alike", different,
                        all->paths[0]);
    if (!keeps_to_itself(file))
        return acq_completion_fail("it has links of another shard's relations; make it again",
                                   error);
    return ACQ_OK;
}

/* The place of a part among the first n files; n: it is not there. */
static size_t find_part(const shards *all, size_t n, uint32_t part)
{
    size_t i = 0;
    while (i < n && all->files[i].header.shard_part != part)
        i++;
    return i;
}

static acq_status check_once(const shards *all, size_t i, acq_error *error)
{
    const acq_completion_header *header = &all->files[i].header;
    size_t before = find_part(all, i, header->shard_part);
    if (before == i)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "shard %u of %u is there twice, also as %.200s; name each once",
                    header->shard_part + 1, header->shard_of, all->paths[before]);
}

static acq_status check_complete(const shards *all, acq_error *error)
{
    uint32_t of = all->files[0].header.shard_of;
    for (uint32_t part = 0; part < of; part++) {
        if (find_part(all, all->n, part) == all->n)
            return acq_fail(error, ACQ_ERR_INPUT,
                            "shard %u of %u is missing; make it with --shard %u/%u and name it too",
                            part + 1, of, part + 1, of);
    }
    return ACQ_OK;
}

static acq_status check_all(const shards *all, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < all->n && status == ACQ_OK; i++) {
        status = check_one(all, i, error);
        if (status == ACQ_OK)
            status = check_once(all, i, error);
        if (status != ACQ_OK)
            acq_error_set_file(error, all->paths[i]);
    }
    return status == ACQ_OK ? check_complete(all, error) : status;
}

static acq_status copy_block(const shards *all, acq_rel relation, acq_completion_output *output,
                             acq_error *error)
{
    size_t place = find_part(all, all->n, relation / 2 % all->files[0].header.shard_of);
    const acq_completion_stored *file = &all->files[place];
    acq_completion_block block;
    void *bytes = NULL;
    acq_status status = acq_completion_stored_read_block(file, relation, &bytes, &block, error);
    if (status != ACQ_OK) {
        acq_error_set_file(error, all->paths[place]);
        return status;
    }
    status = acq_completion_output_put(output, relation, bytes, block.rows.n_heads,
                                       block.rows.n_links, error);
    acq_free(bytes);
    return status;
}

static acq_status tell(const shards *all, uint64_t done, uint64_t of, acq_error *error)
{
    if (all->progress == NULL || all->progress(all->context, done, of))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INTERRUPTED, "stopped while merging");
}

static acq_status write_whole(const shards *all, const void *calibrator, const char *path,
                              acq_error *error)
{
    acq_completion_header facts = all->files[0].header;
    acq_completion_output output;
    facts.shard_part = facts.shard_of = 0;
    facts.reasons_length = 0; /* those of a shard are not the whole's */
    for (size_t i = 0; i < all->n; i++)
        facts.flags |= all->files[i].header.flags;
    acq_status status =
        acq_completion_output_init(&output, path, &facts, all->files[0].name, calibrator, error);
    for (acq_rel r = 0; r < facts.n_relations && status == ACQ_OK; r++) {
        status = r % 2 == 0 ? tell(all, r / 2, facts.n_relations / 2, error) : ACQ_OK;
        if (status == ACQ_OK)
            status = copy_block(all, r, &output, error);
    }
    if (status == ACQ_OK)
        status = tell(all, facts.n_relations / 2, facts.n_relations / 2, error);
    if (status == ACQ_OK)
        status = acq_completion_output_finish(&output, error);
    acq_completion_output_deinit(&output);
    return status;
}

static acq_status merge(shards *all, const char *output, acq_error *error)
{
    void *calibrator = NULL;
    acq_status status = open_all(all, error);
    if (status == ACQ_OK)
        status = check_all(all, error);
    if (status == ACQ_OK && all->files[0].header.calibrator_length > 0) {
        status = acq_completion_stored_read_calibrator(&all->files[0], &calibrator, error);
        if (status != ACQ_OK)
            acq_error_set_file(error, all->paths[0]);
    }
    if (status == ACQ_OK)
        status = write_whole(all, calibrator, output, error);
    acq_free(calibrator);
    return status;
}

acq_status acq_completion_merge_files(const char *const *paths, size_t n, const char *output,
                                      bool (*progress)(void *context, uint64_t done, uint64_t of),
                                      void *context, acq_error *error)
{
    if (n == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "name the shards to merge");
    shards all = {.paths = paths,
                  .n = n,
                  .files = acq_alloc(n, sizeof *all.files),
                  .progress = progress,
                  .context = context};
    acq_status status = all.files == NULL ? acq_fail_memory(error) : merge(&all, output, error);
    for (size_t i = 0; i < all.n_open; i++)
        acq_completion_stored_close(&all.files[i]);
    acq_free(all.files);
    return status;
}
