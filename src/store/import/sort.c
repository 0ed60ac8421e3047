/* sort.c - the buffer in front of the two ways to sort; see sort.h.
 *
 * A buffered fact takes 12 bytes, its link in a bucket 8 more, and the other direction, where one
 * relation has all facts, another 8. The buffer's memory is the scratch of the radix sort. */
#include "store/import/sort.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

/* Facts grouped by the relation they were given with, and sorted in each group. Group r holds the
 * facts given with relation r, all turned to the even direction, so that the groups 2k and 2k+1 of
 * a pair can be compared. */
typedef struct bucket_set {
    acq_fact_key *links;
    acq_fact_key *scratch; /* as long as links; borrowed */
    size_t capacity;       /* of links */
    size_t *starts;        /* n_groups + 1 */
    size_t *kept;          /* distinct links at the start of each group, once it is sorted */
    size_t n_groups;       /* even */
    unsigned id_bits;      /* every entity is below 2^id_bits */
} bucket_set;

static acq_status size_buckets(bucket_set *b, size_t n, size_t n_groups)
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
static void survey(bucket_set *b, const acq_triple *facts, size_t n)
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
static void scatter(bucket_set *b, const acq_triple *facts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        acq_fact_key link = acq_fact_key_make(facts[i].head, facts[i].tail);
        acq_rel group = facts[i].relation;
        b->links[b->starts[group]++] = group & 1U ? acq_fact_key_turn(link) : link;
    }
    memmove(b->starts + 1, b->starts, b->n_groups * sizeof *b->starts);
    b->starts[0] = 0;
}

static acq_status fill_buckets(bucket_set *buckets, acq_triple *facts, size_t n, size_t n_groups)
{
    acq_status status = size_buckets(buckets, n, n_groups);
    if (status != ACQ_OK)
        return status;
    survey(buckets, facts, n);
    scatter(buckets, facts, n);
    buckets->scratch = (acq_fact_key *)(void *)facts;
    return ACQ_OK;
}

static void deinit_buckets(bucket_set *buckets)
{
    acq_free(buckets->links);
    acq_free(buckets->starts);
    acq_free(buckets->kept);
    *buckets = (bucket_set){0};
}

static size_t sort_bucket(bucket_set *buckets, size_t group)
{
    size_t start = buckets->starts[group], n = buckets->starts[group + 1] - start;
    acq_fact_key_sort(buckets->links + start, buckets->scratch + start, n, buckets->id_bits);
    buckets->kept[group] = acq_fact_key_unique(buckets->links + start, n);
    return n - buckets->kept[group];
}

enum { BATCH_LINKS = 1 << 18 };

typedef struct pair_state {
    size_t n; /* distinct links */
    uint64_t duplicates, one_way;
} pair_state;

/* Links in order from buckets, when all facts fit in memory. Pairs of relations are taken in
 * batches: all threads sort a batch, each pair both ways, then its links are handed out one
 * direction after the other. */
typedef struct sorted_buckets {
    bucket_set *buckets;
    unsigned threads;
    acq_sort_counts *counts;
    acq_fact_key *turned; /* room for the largest batch */
    pair_state *pairs;    /* all */
    size_t begin, end;    /* the batch's pairs */
    size_t next;          /* the relation to hand out */
} sorted_buckets;

static size_t pair_start(const bucket_set *b, size_t pair)
{
    return b->starts[2 * pair];
}

/* The pair behind the batch that begins with `begin`. */
static size_t find_end(const bucket_set *b, size_t begin)
{
    size_t pair = begin, n_pairs = b->n_groups / 2;
    while (pair < n_pairs && pair_start(b, pair) - pair_start(b, begin) < BATCH_LINKS)
        pair++;
    return pair;
}

static size_t find_largest(const bucket_set *b)
{
    size_t largest = 0, end;
    for (size_t begin = 0; begin < b->n_groups / 2; begin = end) {
        end = find_end(b, begin);
        size_t n = pair_start(b, end) - pair_start(b, begin);
        largest = n > largest ? n : largest;
    }
    return largest;
}

static void sorted_buckets_free(sorted_buckets *order)
{
    if (order == NULL)
        return;
    acq_free(order->turned);
    acq_free(order->pairs);
    acq_free(order);
}

static sorted_buckets *sorted_buckets_new(bucket_set *buckets, unsigned threads,
                                          acq_sort_counts *counts)
{
    sorted_buckets *order = acq_zalloc(1, sizeof *order);
    if (order == NULL)
        return NULL;
    *order = (sorted_buckets){.buckets = buckets, .threads = threads, .counts = counts};
    order->turned = acq_alloc(find_largest(buckets), sizeof *order->turned);
    order->pairs = acq_zalloc(buckets->n_groups / 2, sizeof *order->pairs);
    if (order->turned != NULL && order->pairs != NULL)
        return order;
    sorted_buckets_free(order);
    return NULL;
}

/* Makes one sorted list of the pair's two sorted groups; returns its length. */
static size_t join_groups(const bucket_set *b, size_t pair)
{
    size_t even = 2 * pair, odd = even + 1;
    acq_fact_key *place = b->links + b->starts[even];
    if (b->kept[odd] == 0)
        return b->kept[even];
    acq_fact_key *scratch = b->scratch + b->starts[even];
    size_t n =
        acq_fact_key_unite(place, b->kept[even], b->links + b->starts[odd], b->kept[odd], scratch);
    memcpy(place, scratch, n * sizeof *place);
    return n;
}

static acq_status sort_pair(void *context, size_t item, unsigned thread)
{
    (void)thread;
    sorted_buckets *order = context;
    bucket_set *b = order->buckets;
    size_t pair = order->begin + item;
    pair_state *state = &order->pairs[pair];
    acq_fact_key *forward = b->links + pair_start(b, pair);
    acq_fact_key *turned = order->turned + (pair_start(b, pair) - pair_start(b, order->begin));
    state->duplicates = sort_bucket(b, 2 * pair);
    state->duplicates += sort_bucket(b, 2 * pair + 1);
    state->n = join_groups(b, pair);
    size_t in_both = b->kept[2 * pair] + b->kept[2 * pair + 1] - state->n;
    state->one_way = state->n - in_both;
    for (size_t i = 0; i < state->n; i++)
        turned[i] = acq_fact_key_turn(forward[i]);
    acq_fact_key_sort(turned, b->scratch + pair_start(b, pair), state->n, b->id_bits);
    return ACQ_OK;
}

static void sort_batch(sorted_buckets *order)
{
    order->begin = order->end;
    order->end = find_end(order->buckets, order->begin);
    (void)acq_threads_run(order->threads, order->end - order->begin, sort_pair, order);
    for (size_t pair = order->begin; pair < order->end; pair++) {
        order->counts->duplicates += order->pairs[pair].duplicates;
        order->counts->one_way += order->pairs[pair].one_way;
    }
}

static void sorted_buckets_next(sorted_buckets *order, acq_sorted *out)
{
    const bucket_set *b = order->buckets;
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

enum {
    BYTES_PER_FACT = sizeof(acq_triple) + 2 * sizeof(acq_fact_key),
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
    bucket_set buckets;
    acq_runs *runs;
    sorted_buckets *in_memory; /* after finish one of the two */
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
    deinit_buckets(&sorter->buckets);
    acq_free(sorter->facts);
    sorter->facts = NULL;
    sorter->n_facts = sorter->capacity = 0;
}

void acq_sorter_free(acq_sorter *sorter)
{
    if (sorter == NULL)
        return;
    sorted_buckets_free(sorter->in_memory);
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

static acq_status distribute(acq_sorter *sorter)
{
    acq_status status =
        fill_buckets(&sorter->buckets, sorter->facts, sorter->n_facts, sorter->n_groups);
    if (status == ACQ_OK && sorter->buckets.id_bits > sorter->id_bits)
        sorter->id_bits = sorter->buckets.id_bits;
    return status;
}

static acq_status sort_group(void *context, size_t group, unsigned thread)
{
    (void)thread;
    (void)sort_bucket(context, group);
    return ACQ_OK;
}

/* The facts given in one direction, as a run; returns ACQ_OK without one if there are none. */
static acq_status write_run(acq_sorter *sorter, unsigned direction, acq_error *error)
{
    const bucket_set *b = &sorter->buckets;
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
    if (distribute(sorter) != ACQ_OK)
        return acq_fail_memory(error);
    const bucket_set *b = &sorter->buckets;
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
    if (distribute(sorter) == ACQ_OK)
        sorter->in_memory =
            sorted_buckets_new(&sorter->buckets, sorter->params.threads, &sorter->counts);
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
    sorted_buckets_next(sorter->in_memory, out);
    return ACQ_OK;
}

void acq_sorter_get_counts(const acq_sorter *sorter, acq_sort_counts *out)
{
    *out = sorter->counts;
}
