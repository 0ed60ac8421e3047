/* sort_merge.c - the merge of all runs, and each pair's links turned around; see sort.h.
 *
 *   runs ─merge─▶ piece of 2k ─▶ caller
 *                   └─turn─▶ turned ──full──▶ sorted run
 *                               └──end of the pair──▶ sort (and merge) ─▶ pieces of 2k+1
 *
 * A quarter of the memory each is for reading the runs, for `turned`, for the scratch of its sort
 * and for reading a pair's own runs. */
#include "store/import/sort.h"

#include "base/memory.h"

enum { PIECE_LINKS = 1 << 14, LEAST_TURNED = 1 << 9, TURNED_PER_RUN = 32 };

/* What comes next. */
typedef enum stage { FORWARD, TURNED_RUNS, NEXT_PAIR } stage;

struct acq_merge_order {
    acq_merge_params params;
    stage stage;
    acq_run_item ahead; /* the next link of the merge, if has_ahead */
    bool has_ahead;
    uint32_t pair;
    acq_fact_key *piece; /* PIECE_LINKS */
    acq_fact_key *turned, *scratch;
    size_t n_turned, most_turned;
    acq_runs *turned_runs;
};

/* The more runs there are, the more there may be of one pair: as in sort.c. */
static size_t get_most_turned(const acq_merge_params *params)
{
    size_t most = params->memory_bytes / 4 / sizeof(acq_fact_key);
    size_t least = LEAST_TURNED + TURNED_PER_RUN * acq_runs_get_n(params->runs);
    return most < least ? least : most;
}

acq_status acq_merge_order_new(const acq_merge_params *params, acq_merge_order **out,
                               acq_error *error)
{
    acq_merge_order *order = acq_zalloc(1, sizeof *order);
    if (order == NULL)
        return acq_fail_memory(error);
    order->params = *params;
    order->most_turned = get_most_turned(params);
    order->piece = acq_alloc(PIECE_LINKS, sizeof *order->piece);
    order->turned = acq_alloc(order->most_turned, sizeof *order->turned);
    order->scratch = acq_alloc(order->most_turned, sizeof *order->scratch);
    order->turned_runs = acq_runs_new(params->folder);
    acq_status status = ACQ_OK;
    if (order->piece == NULL || order->turned == NULL || order->scratch == NULL ||
        order->turned_runs == NULL)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status = acq_runs_merge(params->runs, params->memory_bytes / 4, error);
    if (status == ACQ_OK)
        status = acq_runs_next(params->runs, &order->ahead, &order->has_ahead, error);
    order->pair = order->ahead.pair;
    if (status == ACQ_OK)
        *out = order;
    else
        acq_merge_order_free(order);
    return status;
}

void acq_merge_order_free(acq_merge_order *order)
{
    if (order == NULL)
        return;
    acq_free(order->piece);
    acq_free(order->turned);
    acq_free(order->scratch);
    acq_runs_free(order->turned_runs);
    acq_free(order);
}

static void count(acq_sort_counts *counts, const uint32_t given[2])
{
    counts->duplicates += (given[0] > 1 ? given[0] - 1 : 0) + (given[1] > 1 ? given[1] - 1 : 0);
    counts->one_way += given[0] == 0 || given[1] == 0;
}

static acq_status spill_turned(acq_merge_order *order, acq_error *error)
{
    acq_runs *runs = order->turned_runs;
    acq_fact_key_sort(order->turned, order->scratch, order->n_turned, order->params.id_bits);
    acq_status status = acq_runs_start(runs, 0, error);
    if (status == ACQ_OK)
        status = acq_runs_put(runs, order->pair, order->turned, order->n_turned, error);
    if (status == ACQ_OK)
        status = acq_runs_end(runs, error);
    order->n_turned = 0;
    return status;
}

static acq_status turn(acq_merge_order *order, acq_fact_key link, acq_error *error)
{
    acq_status status = order->n_turned < order->most_turned ? ACQ_OK : spill_turned(order, error);
    order->turned[order->n_turned++] = acq_fact_key_turn(link);
    return status;
}

/* Links of the current pair until the piece is full, each also turned around. */
static acq_status fill_forward(acq_merge_order *order, size_t *n, acq_error *error)
{
    acq_status status = ACQ_OK;
    *n = 0;
    while (status == ACQ_OK && *n < PIECE_LINKS && order->has_ahead &&
           order->ahead.pair == order->pair) {
        count(order->params.counts, order->ahead.given);
        order->piece[(*n)++] = order->ahead.link;
        status = turn(order, order->ahead.link, error);
        if (status == ACQ_OK)
            status = acq_runs_next(order->params.runs, &order->ahead, &order->has_ahead, error);
    }
    return status;
}

static acq_status fill_from_runs(acq_merge_order *order, size_t *n, acq_error *error)
{
    acq_run_item item;
    bool found = true;
    acq_status status = ACQ_OK;
    *n = 0;
    while (status == ACQ_OK && *n < PIECE_LINKS && found) {
        status = acq_runs_next(order->turned_runs, &item, &found, error);
        if (status == ACQ_OK && found)
            order->piece[(*n)++] = item.link;
    }
    return status;
}

/* The pair has ended and its turned links are in memory: they come next, at once. */
static void hand_out_turned(acq_merge_order *order, acq_sorted *out)
{
    acq_fact_key_sort(order->turned, order->scratch, order->n_turned, order->params.id_bits);
    *out =
        (acq_sorted){.relation = 2 * order->pair + 1, .links = order->turned, .n = order->n_turned};
    order->stage = NEXT_PAIR;
}

static acq_status start_turned_runs(acq_merge_order *order, acq_error *error)
{
    order->stage = TURNED_RUNS;
    acq_status status = spill_turned(order, error);
    if (status != ACQ_OK)
        return status;
    return acq_runs_merge(order->turned_runs, order->params.memory_bytes / 4, error);
}

static void start_pair(acq_merge_order *order)
{
    acq_runs_clear(order->turned_runs);
    order->n_turned = 0;
    order->pair = order->ahead.pair;
    order->stage = FORWARD;
}

static acq_status next_forward(acq_merge_order *order, acq_sorted *out, acq_error *error)
{
    *out = (acq_sorted){.relation = 2 * order->pair, .links = order->piece};
    acq_status status = fill_forward(order, &out->n, error);
    if (status != ACQ_OK || out->n > 0)
        return status;
    if (acq_runs_get_n(order->turned_runs) > 0)
        return start_turned_runs(order, error);
    hand_out_turned(order, out);
    return ACQ_OK;
}

static acq_status next_from_runs(acq_merge_order *order, acq_sorted *out, acq_error *error)
{
    *out = (acq_sorted){.relation = 2 * order->pair + 1, .links = order->piece};
    acq_status status = fill_from_runs(order, &out->n, error);
    if (out->n == 0)
        order->stage = NEXT_PAIR;
    return status;
}

acq_status acq_merge_order_next(acq_merge_order *order, acq_sorted *out, acq_error *error)
{
    acq_status status = ACQ_OK;
    *out = (acq_sorted){0};
    do {
        if (order->stage == NEXT_PAIR)
            start_pair(order);
        if (order->stage == FORWARD)
            status = next_forward(order, out, error);
        if (status == ACQ_OK && order->stage == TURNED_RUNS)
            status = next_from_runs(order, out, error);
    } while (status == ACQ_OK && out->n == 0 && order->has_ahead);
    return status;
}
