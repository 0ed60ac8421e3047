/* sort_buckets.c - count, scatter, sort. */
#include "store/import/sort_buckets.h"

#include <string.h>

#include "base/memory.h"

static acq_status make_room(acq_buckets *b, size_t n, size_t n_groups)
{
    if (n > b->capacity) {
        acq_free(b->links);
        b->capacity = 0;
        b->links = acq_alloc(n, sizeof *b->links);
        if (b->links == NULL)
            return ACQ_ERR_MEMORY;
        b->capacity = n;
    }
    acq_free(b->starts);
    acq_free(b->kept);
    b->n_groups = n_groups;
    b->starts = acq_zalloc(n_groups + 1, sizeof *b->starts);
    b->kept = acq_zalloc(n_groups, sizeof *b->kept);
    return b->starts == NULL || b->kept == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

/* Where each group begins, and which bits its entities use. */
static void survey(acq_buckets *b, const acq_triple *facts, size_t n)
{
    uint32_t used = 1;
    for (size_t i = 0; i < n; i++) {
        b->starts[facts[i].relation + 1]++;
        used |= facts[i].head | facts[i].tail;
    }
    for (size_t g = 0; g < b->n_groups; g++)
        b->starts[g + 1] += b->starts[g];
    b->id_bits = 32U - (unsigned)__builtin_clz(used);
}

/* Moves the facts behind their starts; afterwards starts[g] is again where group g begins. */
static void scatter(acq_buckets *b, const acq_triple *facts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        acq_packed link = acq_packed_make(facts[i].head, facts[i].tail);
        acq_rel group = facts[i].relation;
        b->links[b->starts[group]++] = group & 1U ? acq_packed_turn(link) : link;
    }
    memmove(b->starts + 1, b->starts, b->n_groups * sizeof *b->starts);
    b->starts[0] = 0;
}

acq_status acq_buckets_fill(acq_buckets *buckets, acq_triple *facts, size_t n, size_t n_groups)
{
    acq_status status = make_room(buckets, n, n_groups);
    if (status != ACQ_OK)
        return status;
    survey(buckets, facts, n);
    scatter(buckets, facts, n);
    buckets->scratch = (acq_packed *)(void *)facts;
    return ACQ_OK;
}

void acq_buckets_deinit(acq_buckets *buckets)
{
    acq_free(buckets->links);
    acq_free(buckets->starts);
    acq_free(buckets->kept);
    *buckets = (acq_buckets){0};
}

size_t acq_buckets_sort(acq_buckets *buckets, size_t group)
{
    size_t start = buckets->starts[group], n = buckets->starts[group + 1] - start;
    acq_packed_sort(buckets->links + start, buckets->scratch + start, n, buckets->id_bits);
    buckets->kept[group] = acq_packed_unique(buckets->links + start, n);
    return n - buckets->kept[group];
}
