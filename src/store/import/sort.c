/* sort.c - the buffer in front of the two ways to sort; see sort.h.
 *
 * A buffered fact takes 12 bytes, its link in a bucket 8 more, and the other direction, where one
 * relation has all facts, another 8. The buffer's memory is the scratch of the radix sort. */
#include "store/import/sort.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "store/import/sort_memory.h"
#include "store/import/sort_merge.h"

enum {
    BYTES_PER_FACT = sizeof(acq_triple) + 2 * sizeof(acq_packed),
    LEAST_FACTS = 256,
    FACTS_PER_RUN = 32,
    FIRST_FACTS = 1 << 12,
};

struct acq_sorter {
    acq_sort_params params;
    size_t most; /* facts in the buffer; see get_most */
    acq_triple *facts;
    size_t n_facts, capacity;
    size_t n_groups; /* past all relations given; even */
    unsigned id_bits;
    acq_buckets buckets;
    acq_runs *runs;
    acq_memory_order *in_memory; /* after finish one of the two */
    acq_merge_order *merged;
    acq_sort_counts counts;
};

acq_sorter *acq_sorter_new(const acq_sort_params *params)
{
    acq_sorter *sorter = acq_zalloc(1, sizeof *sorter);
    if (sorter == NULL)
        return NULL;
    sorter->params = *params;
    acq_sorter_set_memory(sorter, params->memory_bytes);
    sorter->runs = acq_runs_new(params->folder);
    if (sorter->runs != NULL)
        return sorter;
    acq_free(sorter);
    return NULL;
}

static void free_buffer(acq_sorter *sorter)
{
    acq_buckets_deinit(&sorter->buckets);
    acq_free(sorter->facts);
    sorter->facts = NULL;
    sorter->n_facts = sorter->capacity = 0;
}

void acq_sorter_free(acq_sorter *sorter)
{
    if (sorter == NULL)
        return;
    acq_memory_order_free(sorter->in_memory);
    acq_merge_order_free(sorter->merged);
    acq_runs_free(sorter->runs);
    free_buffer(sorter);
    acq_free(sorter);
}

void acq_sorter_set_memory(acq_sorter *sorter, size_t bytes)
{
    sorter->params.memory_bytes = bytes;
    sorter->most = bytes / BYTES_PER_FACT;
}

/* Facts that go to disk together. Where there is hardly any memory runs get longer the more there
 * are: else there would be so many that the pages to merge them with need more. */
static size_t get_most(const acq_sorter *sorter)
{
    size_t least = LEAST_FACTS + FACTS_PER_RUN * (size_t)sorter->counts.runs;
    return sorter->most < least ? least : sorter->most;
}

static acq_status fill_buckets(acq_sorter *sorter)
{
    acq_status status =
        acq_buckets_fill(&sorter->buckets, sorter->facts, sorter->n_facts, sorter->n_groups);
    if (status == ACQ_OK && sorter->buckets.id_bits > sorter->id_bits)
        sorter->id_bits = sorter->buckets.id_bits;
    return status;
}

static acq_status sort_group(void *context, size_t group, unsigned thread)
{
    (void)thread;
    (void)acq_buckets_sort(context, group);
    return ACQ_OK;
}

/* The facts given in one direction, as a run; returns ACQ_OK without one if there are none. */
static acq_status write_run(acq_sorter *sorter, unsigned direction, acq_error *error)
{
    const acq_buckets *b = &sorter->buckets;
    bool is_started = false;
    acq_status status = ACQ_OK;
    for (size_t group = direction; status == ACQ_OK && group < b->n_groups; group += 2) {
        if (b->kept[group] == 0)
            continue;
        if (!is_started)
            status = acq_runs_start(sorter->runs, direction, error);
        is_started = true;
        if (status == ACQ_OK)
            status = acq_runs_put(sorter->runs, (uint32_t)(group / 2), b->links + b->starts[group],
                                  b->kept[group], error);
    }
    return status == ACQ_OK && is_started ? acq_runs_end(sorter->runs, error) : status;
}

static acq_status spill(acq_sorter *sorter, acq_error *error)
{
    if (fill_buckets(sorter) != ACQ_OK)
        return acq_fail_memory(error);
    const acq_buckets *b = &sorter->buckets;
    (void)acq_threads_run(sorter->params.threads, b->n_groups, sort_group, &sorter->buckets);
    sorter->counts.duplicates += sorter->n_facts;
    for (size_t group = 0; group < b->n_groups; group++)
        sorter->counts.duplicates -= b->kept[group];
    sorter->n_facts = 0;
    acq_status status = write_run(sorter, 0, error);
    if (status == ACQ_OK)
        status = write_run(sorter, 1, error);
    sorter->counts.runs = acq_runs_get_n(sorter->runs);
    if (sorter->capacity > get_most(sorter))
        free_buffer(sorter); /* others have got some of its memory */
    return status;
}

/* Room for at least one more fact, up to the limit. */
static acq_status grow(acq_sorter *sorter)
{
    size_t capacity = sorter->capacity < FIRST_FACTS ? FIRST_FACTS : 2 * sorter->capacity;
    if (capacity > get_most(sorter))
        capacity = get_most(sorter);
    acq_triple *moved = acq_resize(sorter->facts, capacity, sizeof *moved);
    if (moved == NULL)
        return ACQ_ERR_MEMORY;
    sorter->facts = moved;
    sorter->capacity = capacity;
    return ACQ_OK;
}

static acq_status make_room(acq_sorter *sorter, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (sorter->n_facts >= get_most(sorter))
        status = spill(sorter, error);
    if (status == ACQ_OK && sorter->n_facts == sorter->capacity && grow(sorter) != ACQ_OK)
        status = acq_fail_memory(error);
    return status;
}

static void note_relations(acq_sorter *sorter, const acq_triple *facts, size_t n)
{
    size_t last = 0;
    for (size_t i = 0; i < n; i++)
        last = facts[i].relation > last ? facts[i].relation : last;
    if (n > 0 && (last | 1U) + 1 > sorter->n_groups)
        sorter->n_groups = (last | 1U) + 1;
}

acq_status acq_sorter_add(acq_sorter *sorter, const acq_triple *facts, size_t n, acq_error *error)
{
    note_relations(sorter, facts, n);
    sorter->counts.given += n;
    while (n > 0) {
        acq_status status = make_room(sorter, error);
        if (status != ACQ_OK)
            return status;
        size_t most = get_most(sorter);
        size_t room = (sorter->capacity < most ? sorter->capacity : most) - sorter->n_facts;
        size_t piece = n < room ? n : room;
        memcpy(sorter->facts + sorter->n_facts, facts, piece * sizeof *facts);
        sorter->n_facts += piece;
        facts += piece;
        n -= piece;
    }
    return ACQ_OK;
}

static acq_status finish_in_memory(acq_sorter *sorter, acq_error *error)
{
    if (fill_buckets(sorter) == ACQ_OK)
        sorter->in_memory =
            acq_memory_order_new(&sorter->buckets, sorter->params.threads, &sorter->counts);
    return sorter->in_memory == NULL ? acq_fail_memory(error) : ACQ_OK;
}

static acq_status finish_runs(acq_sorter *sorter, acq_error *error)
{
    acq_status status = sorter->n_facts == 0 ? ACQ_OK : spill(sorter, error);
    free_buffer(sorter);
    if (status != ACQ_OK)
        return status;
    acq_merge_params params = {.runs = sorter->runs,
                               .folder = sorter->params.folder,
                               .memory_bytes = sorter->params.memory_bytes,
                               .id_bits = sorter->id_bits,
                               .counts = &sorter->counts};
    return acq_merge_order_new(&params, &sorter->merged, error);
}

acq_status acq_sorter_finish(acq_sorter *sorter, acq_error *error)
{
    return sorter->counts.runs == 0 ? finish_in_memory(sorter, error) : finish_runs(sorter, error);
}

acq_status acq_sorter_next(acq_sorter *sorter, acq_sorted *out, acq_error *error)
{
    if (sorter->merged != NULL)
        return acq_merge_order_next(sorter->merged, out, error);
    acq_memory_order_next(sorter->in_memory, out);
    return ACQ_OK;
}

void acq_sorter_get_counts(const acq_sorter *sorter, acq_sort_counts *out)
{
    *out = sorter->counts;
}
