/* sort_memory.c - batches of relation pairs, sorted on all threads; see sort_memory.h.
 *
 * A batch ends with the pair that brings it to BATCH_LINKS: enough for the start of the threads
 * not to count, little beside the buckets. A pair is sorted in its place, where the links of its
 * two groups become one list, and turned around into `turned`, at its distance from the batch. */
#include "store/import/sort_memory.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum { BATCH_LINKS = 1 << 18 };

typedef struct pair_state {
    size_t n; /* distinct links */
    uint64_t duplicates, one_way;
} pair_state;

struct acq_memory_order {
    acq_buckets *buckets;
    unsigned threads;
    acq_sort_counts *counts;
    acq_packed *turned; /* room for the largest batch */
    pair_state *pairs;  /* all */
    size_t begin, end;  /* the batch's pairs */
    size_t next;        /* the relation to hand out */
};

static size_t pair_start(const acq_buckets *b, size_t pair)
{
    return b->starts[2 * pair];
}

/* The pair behind the batch that begins with `begin`. */
static size_t find_end(const acq_buckets *b, size_t begin)
{
    size_t pair = begin, n_pairs = b->n_groups / 2;
    while (pair < n_pairs && pair_start(b, pair) - pair_start(b, begin) < BATCH_LINKS)
        pair++;
    return pair;
}

static size_t find_largest(const acq_buckets *b)
{
    size_t largest = 0, end;
    for (size_t begin = 0; begin < b->n_groups / 2; begin = end) {
        end = find_end(b, begin);
        size_t n = pair_start(b, end) - pair_start(b, begin);
        largest = n > largest ? n : largest;
    }
    return largest;
}

acq_memory_order *acq_memory_order_new(acq_buckets *buckets, unsigned threads,
                                       acq_sort_counts *counts)
{
    acq_memory_order *order = acq_zalloc(1, sizeof *order);
    if (order == NULL)
        return NULL;
    *order = (acq_memory_order){.buckets = buckets, .threads = threads, .counts = counts};
    order->turned = acq_alloc(find_largest(buckets), sizeof *order->turned);
    order->pairs = acq_zalloc(buckets->n_groups / 2, sizeof *order->pairs);
    if (order->turned != NULL && order->pairs != NULL)
        return order;
    acq_memory_order_free(order);
    return NULL;
}

void acq_memory_order_free(acq_memory_order *order)
{
    if (order == NULL)
        return;
    acq_free(order->turned);
    acq_free(order->pairs);
    acq_free(order);
}

/* Makes one sorted list of the pair's two sorted groups; returns its length. */
static size_t join_groups(const acq_buckets *b, size_t pair)
{
    size_t even = 2 * pair, odd = even + 1;
    acq_packed *place = b->links + b->starts[even];
    if (b->kept[odd] == 0)
        return b->kept[even];
    acq_packed *scratch = b->scratch + b->starts[even];
    size_t n =
        acq_packed_unite(place, b->kept[even], b->links + b->starts[odd], b->kept[odd], scratch);
    memcpy(place, scratch, n * sizeof *place);
    return n;
}

static acq_status sort_pair(void *context, size_t item, unsigned thread)
{
    (void)thread;
    acq_memory_order *order = context;
    acq_buckets *b = order->buckets;
    size_t pair = order->begin + item;
    pair_state *state = &order->pairs[pair];
    acq_packed *forward = b->links + pair_start(b, pair);
    acq_packed *turned = order->turned + (pair_start(b, pair) - pair_start(b, order->begin));
    state->duplicates = acq_buckets_sort(b, 2 * pair);
    state->duplicates += acq_buckets_sort(b, 2 * pair + 1);
    state->n = join_groups(b, pair);
    size_t in_both = b->kept[2 * pair] + b->kept[2 * pair + 1] - state->n;
    state->one_way = state->n - in_both;
    for (size_t i = 0; i < state->n; i++)
        turned[i] = acq_packed_turn(forward[i]);
    acq_packed_sort(turned, b->scratch + pair_start(b, pair), state->n, b->id_bits);
    return ACQ_OK;
}

static void sort_batch(acq_memory_order *order)
{
    order->begin = order->end;
    order->end = find_end(order->buckets, order->begin);
    (void)acq_threads_run(order->threads, order->end - order->begin, sort_pair, order);
    for (size_t pair = order->begin; pair < order->end; pair++) {
        order->counts->duplicates += order->pairs[pair].duplicates;
        order->counts->one_way += order->pairs[pair].one_way;
    }
}

void acq_memory_order_next(acq_memory_order *order, acq_sorted *out)
{
    const acq_buckets *b = order->buckets;
    *out = (acq_sorted){0};
    for (; out->n == 0 && order->next < b->n_groups; order->next++) {
        size_t pair = order->next / 2;
        if (pair == order->end)
            sort_batch(order);
        size_t at = pair_start(b, pair);
        *out = (acq_sorted){.relation = (acq_rel)order->next,
                            .links = order->next & 1U
                                         ? order->turned + (at - pair_start(b, order->begin))
                                         : b->links + at,
                            .n = order->pairs[pair].n};
    }
}
