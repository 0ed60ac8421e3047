/* links.c - a ring of parts between a maker and a taker; see import_links.h.
 *
 *   given_back <= taken <= made <= given_back + N_SLOTS
 *
 * count parts from the beginning. Part i is in slot i % N_SLOTS; the taker has part taken - 1
 * until it asks for the next. A part takes up to 24 bytes per link while it is made. */
#include "store/import/links.h"

#include <pthread.h>

#include "base/memory.h"

enum { N_SLOTS = 4 };

struct acq_link_parts {
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
};

/* Sees to it that there are sorted links left, unless there are no more. */
static acq_status look_ahead(acq_link_parts *parts, acq_error *error)
{
    if (parts->i_sorted < parts->sorted.n)
        return ACQ_OK;
    parts->i_sorted = 0;
    return acq_sorter_next(parts->sorter, &parts->sorted, error);
}

static void begin_part(acq_link_parts *parts, acq_bulk_part *part)
{
    bool goes_on = parts->sorted.relation == parts->directed;
    parts->directed = parts->sorted.relation;
    parts->number = goes_on ? parts->number + 1 : 0;
    acq_bulk_part_begin(part, parts->directed, parts->number,
                        goes_on ? parts->last_head : ACQ_NO_ID);
}

/* Moves sorted links into the part until one of them is at its end. */
static acq_status fill_part(acq_link_parts *parts, acq_bulk_part *part)
{
    const acq_packed *links = parts->sorted.links;
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && parts->i_sorted < parts->sorted.n &&
           part->part.n_links < ACQ_PART_LINKS) {
        acq_packed link = links[parts->i_sorted++];
        status = acq_bulk_part_add(part, acq_packed_head(link), acq_packed_tail(link));
    }
    return status;
}

/* One part; without links there are no more. */
static acq_status make_part(acq_link_parts *parts, acq_bulk_part *part, acq_error *error)
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
static bool wait_for_slot(acq_link_parts *parts)
{
    while (parts->made - parts->given_back == N_SLOTS && !parts->is_stopped)
        pthread_cond_wait(&parts->changed, &parts->lock);
    return !parts->is_stopped;
}

static void *run_maker(void *argument)
{
    acq_link_parts *parts = argument;
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

acq_status acq_link_parts_new(acq_sorter *sorter, bool with_thread, acq_link_parts **out,
                              acq_error *error)
{
    acq_link_parts *parts = acq_zalloc(1, sizeof *parts);
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

void acq_link_parts_free(acq_link_parts *parts)
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

static acq_status take_part(acq_link_parts *parts, const acq_bulk_part **out, acq_error *error)
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

acq_status acq_link_parts_next(acq_link_parts *parts, const acq_bulk_part **out, acq_error *error)
{
    if (parts->has_thread)
        return take_part(parts, out, error);
    acq_status status = make_part(parts, &parts->slots[0], error);
    *out = status == ACQ_OK && parts->slots[0].part.n_links > 0 ? &parts->slots[0] : NULL;
    return status;
}
