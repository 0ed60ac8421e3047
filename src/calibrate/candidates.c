/* candidates.c - the candidates of a relation: from both sides, joined.
 *
 *   rows (r, h) of seen heads h      ──▶ found, by (h, t)  ┐
 *   rows (inverse(r), t) of seen t   ──▶ found, by (t, h)  ┴─ turned around, merged by (h, t)
 *
 * A candidate that only one side proposed still gets what can be said of the other row without
 * its scores: with a symmetric model the score is the same, and the row's summary gives mass,
 * distances and the least rank. Rows are taken in blocks, blocks are shared out among threads,
 * results are put together in the order of the blocks. */
#include "calibrate/candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/threads.h"
#include "calibrate/candidates_parts.h"

/* ---- one side: all rows of a relation ---- */

typedef struct row_side {
    const acq_candidates_maker *maker;
    acq_row_want want;
    size_t batch, n_blocks;
    acq_found *blocks;          /* one per block */
    acq_row_summary *summaries; /* one per row and model */
    acq_row_worker **workers;   /* one per thread, opened at first use */
    bool has_own_workers;       /* and not those of a session */
    acq_error *errors;          /* one per thread */
} row_side;

static void free_workers(acq_row_worker **workers, unsigned n)
{
    for (unsigned i = 0; workers != NULL && i < n; i++)
        acq_row_worker_free(workers[i]);
    acq_free(workers);
}

static void side_deinit(row_side *side)
{
    for (size_t i = 0; side->blocks != NULL && i < side->n_blocks; i++)
        acq_found_deinit(&side->blocks[i]);
    if (side->has_own_workers)
        free_workers(side->workers, side->maker->params.n_threads);
    acq_free(side->blocks);
    acq_free(side->summaries);
    acq_free(side->errors);
}

static acq_status score_block(void *context, size_t item, unsigned thread)
{
    row_side *side = context;
    size_t first = item * side->batch;
    acq_row_want want = side->want;
    if (acq_ranks_is_others(side->maker->params.ranks, item))
        return ACQ_OK;
    want.heads += first;
    want.n = want.n - first < side->batch ? want.n - first : side->batch;
    acq_status status = acq_stop_check(want.stop, &side->errors[thread]);
    if (status == ACQ_OK && side->workers[thread] == NULL)
        status = acq_row_worker_new(side->maker, &side->workers[thread], &side->errors[thread]);
    if (status == ACQ_OK)
        status = acq_row_worker_run(side->workers[thread], &want, &side->blocks[item],
                                    side->summaries + first * side->maker->params.n_models,
                                    &side->errors[thread]);
    return status;
}

/* Few rows are shared out among the threads all the same. */
static size_t choose_batch(const acq_candidates_maker *maker, size_t n_heads)
{
    const acq_ranks *ranks = maker->params.ranks;
    size_t batch = acq_row_worker_get_batch(maker), n_threads = maker->params.n_threads;
    n_threads *= ranks == NULL ? 1 : ranks->n;
    size_t share = (n_heads + n_threads - 1) / n_threads;
    return share > 0 && share < batch ? share : batch;
}

/* ---- ranks ----
 *
 * For each side the first sends a call and the heads, all score their blocks, and all get them. */

typedef struct call {
    uint64_t n, batch; /* heads; of a block */
    acq_rel relation;
    uint32_t goes_on; /* 0: there is no more to do */
} call;

/* A block among others; its heads, tails and halves follow. */
typedef struct packed_block {
    uint64_t item, n;
} packed_block;

static acq_status send_call(const row_side *side, acq_error *error)
{
    const acq_ranks *ranks = side->maker->params.ranks;
    call now = {side->want.n, side->batch, side->want.relation, 1};
    acq_ent *heads = acq_alloc(side->want.n, sizeof *heads);
    if (heads == NULL)
        return acq_fail_memory(error);
    memcpy(heads, side->want.heads, side->want.n * sizeof *heads);
    acq_status status = acq_ranks_follow(ranks, &now, sizeof now, error);
    if (status == ACQ_OK)
        status = acq_ranks_follow(ranks, heads, side->want.n * sizeof *heads, error);
    acq_free(heads);
    return status;
}

static void pack_blocks(const row_side *side, acq_text *out)
{
    size_t width = acq_found_get_width(side->maker);
    for (size_t i = 0; i < side->n_blocks; i++) {
        const acq_found *found = &side->blocks[i];
        packed_block head = {i, found->n};
        if (found->n == 0)
            continue;
        acq_text_add_bytes(out, (const char *)&head, sizeof head);
        acq_text_add_bytes(out, (const char *)found->heads, found->n * sizeof *found->heads);
        acq_text_add_bytes(out, (const char *)found->tails, found->n * sizeof *found->tails);
        acq_text_add_bytes(out, (const char *)found->half, found->n * width * sizeof *found->half);
    }
}

/* Returns where the block ends. */
static const char *unpack_block(row_side *side, const char *at, bool *has_failed)
{
    packed_block head;
    memcpy(&head, at, sizeof head);
    acq_found *found = &side->blocks[head.item];
    size_t ids = head.n * sizeof *found->heads;
    size_t halves = head.n * acq_found_get_width(side->maker) * sizeof *found->half;
    at += sizeof head;
    if (acq_ranks_is_others(side->maker->params.ranks, head.item)) {
        found->heads = acq_alloc(ids, 1);
        found->tails = acq_alloc(ids, 1);
        found->half = acq_alloc(halves, 1);
        *has_failed = found->heads == NULL || found->tails == NULL || found->half == NULL;
        if (*has_failed)
            return at;
        memcpy(found->heads, at, ids);
        memcpy(found->tails, at + ids, ids);
        memcpy(found->half, at + 2 * ids, halves);
        found->n = head.n;
    }
    return at + 2 * ids + halves;
}

static acq_status join_blocks(row_side *side, acq_error *error)
{
    const acq_ranks *ranks = side->maker->params.ranks;
    size_t n_summaries = side->want.n * side->maker->params.n_models;
    acq_text own = {0};
    pack_blocks(side, &own);
    void *all = own.bytes;
    size_t n = own.length;
    bool has_failed = false;
    acq_status status =
        own.failed ? acq_fail_memory(error) : acq_ranks_gather(ranks, &all, &n, NULL, error);
    const char *at = all, *end = at + n;
    while (status == ACQ_OK && at < end && !has_failed)
        at = unpack_block(side, at, &has_failed);
    acq_free(all);
    if (has_failed)
        status = acq_fail_memory(error);
    return status == ACQ_OK
               ? acq_ranks_join(ranks, side->summaries, n_summaries, sizeof *side->summaries, error)
               : status;
}

/* ---- one side ---- */

/* workers: those of a session; NULL: its own. batch: of a block. */
static acq_status side_score(row_side *side, const acq_candidates_maker *maker,
                             acq_row_worker **workers, const acq_row_want *want, size_t batch,
                             acq_error *error)
{
    size_t n_models = maker->params.n_models;
    unsigned n_threads = maker->params.n_threads;
    *side = (row_side){.maker = maker,
                       .want = *want,
                       .batch = batch,
                       .n_blocks = (want->n + batch - 1) / batch,
                       .workers = workers,
                       .has_own_workers = workers == NULL};
    if (maker->params.ranks != NULL && acq_ranks_is_first(maker->params.ranks) &&
        send_call(side, error) != ACQ_OK)
        return ACQ_ERR_IO;
    side->blocks = acq_zalloc(side->n_blocks, sizeof *side->blocks);
    side->summaries = acq_zalloc(want->n * n_models, sizeof *side->summaries);
    if (workers == NULL)
        side->workers = acq_zalloc(n_threads, sizeof(acq_row_worker *));
    side->errors = acq_zalloc(n_threads, sizeof *side->errors);
    if (side->blocks == NULL || side->summaries == NULL || side->workers == NULL ||
        side->errors == NULL)
        return acq_fail_memory(error);
    acq_status status = acq_threads_run(n_threads, side->n_blocks, score_block, side);
    for (unsigned i = 0; i < n_threads && status != ACQ_OK; i++)
        if (side->errors[i].code == status)
            return acq_fail(error, status, "%s", side->errors[i].message);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    return maker->params.ranks == NULL ? ACQ_OK : join_blocks(side, error);
}

static acq_status side_run(row_side *side, const acq_candidates_maker *maker,
                           acq_row_worker **workers, const acq_row_want *want, acq_error *error)
{
    return side_score(side, maker, workers, want, choose_batch(maker, want->n), error);
}

static size_t side_count(const row_side *side)
{
    size_t n = 0;
    for (size_t i = 0; i < side->n_blocks; i++)
        n += side->blocks[i].n;
    return n;
}

/* ---- joining ---- */

/* A candidate of one side, as it will stand in the joined list. */
typedef struct met {
    acq_ent head, tail; /* of the even relation */
    const float *half;
} met;

/* Candidates of the row side in order (the row's head first). */
static void list_forward(const row_side *side, met *out)
{
    size_t width = acq_found_get_width(side->maker);
    for (size_t b = 0; b < side->n_blocks; b++) {
        const acq_found *found = &side->blocks[b];
        for (size_t i = 0; i < found->n; i++)
            *out++ = (met){found->heads[i], found->tails[i], found->half + i * width};
    }
}

/* The same turned around: a stable counting sort by what are tails of the side. starts has
 * n_entities + 1 zeros. */
static void list_turned(const row_side *side, uint32_t *starts, met *out)
{
    size_t width = acq_found_get_width(side->maker);
    for (size_t b = 0; b < side->n_blocks; b++)
        for (size_t i = 0; i < side->blocks[b].n; i++)
            starts[side->blocks[b].tails[i] + 1]++;
    for (uint32_t e = 0; e < side->maker->n_entities; e++)
        starts[e + 1] += starts[e];
    for (size_t b = 0; b < side->n_blocks; b++) {
        const acq_found *found = &side->blocks[b];
        for (size_t i = 0; i < found->n; i++)
            out[starts[found->tails[i]]++] =
                (met){found->tails[i], found->heads[i], found->half + i * width};
    }
}

static acq_status list_side(const row_side *side, bool is_turned, met **out, acq_error *error)
{
    size_t n = side_count(side);
    uint32_t *starts = acq_zalloc((size_t)side->maker->n_entities + 1, sizeof *starts);
    *out = acq_alloc(n, sizeof **out);
    acq_status status = starts == NULL || *out == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK && is_turned)
        list_turned(side, starts, *out);
    else if (status == ACQ_OK)
        list_forward(side, *out);
    acq_free(starts);
    return status;
}

static float log_count(const acq_candidates_maker *maker, const acq_links *links, acq_ent entity)
{
    size_t n = acq_links_get_row(links, entity).n;
    return n == 0 ? 0.0F : logf(acq_candidates_grow(maker, (float)n));
}

static void describe_link(const acq_candidates_maker *maker, acq_rel relation, acq_ent head,
                          acq_ent tail, float *out)
{
    const acq_links *forward = maker->links[relation], *counted = maker->counted[relation];
    const acq_links *back = maker->links[acq_inverse(relation)];
    const acq_links *counted_back = maker->counted[acq_inverse(relation)];
    float n = (float)counted->n_links;
    out[ACQ_LINK_links] = log1pf(n);
    out[ACQ_LINK_tails_per_head] = logf((n + 1.0F) / ((float)counted->n_heads + 1.0F));
    out[ACQ_LINK_heads_per_tail] = logf((n + 1.0F) / ((float)counted_back->n_heads + 1.0F));
    out[ACQ_LINK_tails] = log_count(maker, forward, head);
    out[ACQ_LINK_heads] = log_count(maker, back, tail);
    out[ACQ_LINK_head_seen] = acq_links_find(forward, head) != ACQ_NO_ID ? 1.0F : 0.0F;
    out[ACQ_LINK_tail_seen] = acq_links_find(back, tail) != ACQ_NO_ID ? 1.0F : 0.0F;
    out[ACQ_LINK_head_degree] = maker->degrees[head];
    out[ACQ_LINK_tail_degree] = maker->degrees[tail];
}

static void describe_usual(const acq_candidates_maker *maker, acq_rel relation, acq_ent head,
                           acq_ent tail, float *out)
{
    acq_rel back = acq_inverse(relation);
    out[ACQ_USUAL_head_due] = acq_usual_get_due(maker->usual, relation, head);
    out[ACQ_USUAL_tail_due] = acq_usual_get_due(maker->usual, back, tail);
    out[ACQ_USUAL_head_fits] = acq_usual_get_fit(maker->usual, relation, head);
    out[ACQ_USUAL_tail_fits] = acq_usual_get_fit(maker->usual, back, tail);
}

static void fill_nan(float *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = NAN;
}

/* What a row's summary says of a tail that it did not choose. */
static void describe_by_summary(const acq_row_summary *summary, size_t n_observed, float score,
                                float *out)
{
    out[ACQ_ROW_score] = score;
    out[ACQ_ROW_mass] = score - summary->log_sum;
    out[ACQ_ROW_expected] = out[ACQ_ROW_mass] + (float)log1p((double)n_observed);
    out[ACQ_ROW_rank] = summary->last;
    out[ACQ_ROW_to_mean] = score - summary->observed;
    out[ACQ_ROW_to_best] = score - summary->best;
    out[ACQ_ROW_beats] = NAN;
}

/* One half of a model's features: from the side that met the link, else from the row's summary. */
static void describe_half(const row_side *side, size_t m, const float *half, const float *other,
                          acq_ent row_head, float *out)
{
    size_t at = ACQ_N_RULE_FEATURES + m * ACQ_N_ROW_FEATURES;
    if (half != NULL) {
        memcpy(out, half + at, ACQ_N_ROW_FEATURES * sizeof *out);
        return;
    }
    fill_nan(out, ACQ_N_ROW_FEATURES);
    if (side == NULL || !side->maker->params.models[m]->is_symmetric)
        return;
    size_t i;
    ACQ_SEARCH(i, 0, side->want.n, side->want.heads[i] < row_head);
    if (i < side->want.n && side->want.heads[i] == row_head)
        describe_by_summary(&side->summaries[i * side->maker->params.n_models + m],
                            acq_links_get_row(side->maker->links[side->want.relation], row_head).n,
                            other[at + ACQ_ROW_score], out);
}

/* forward or back is NULL where that side did not meet the link. */
static void join_one(const acq_candidates_maker *maker, acq_rel relation,
                     const row_side *forward_side, const row_side *back_side, const met *link,
                     const float *forward, const float *back, float *out)
{
    describe_link(maker, relation, link->head, link->tail, out);
    out += ACQ_N_LINK_FEATURES;
    for (size_t i = 0; i < ACQ_N_RULE_FEATURES; i++) {
        float a = forward == NULL ? 0.0F : forward[i], b = back == NULL ? 0.0F : back[i];
        *out++ = a > b ? a : b;
    }
    for (size_t m = 0; m < maker->params.n_models; m++) {
        describe_half(forward_side, m, forward, back, link->head, out);
        out += ACQ_N_ROW_FEATURES;
        describe_half(back_side, m, back, forward, link->tail, out);
        out += ACQ_N_ROW_FEATURES;
    }
    describe_usual(maker, relation, link->head, link->tail, out);
    const float *usual = out;
    size_t shares = acq_found_get_shares(maker);
    out += ACQ_N_USUAL_FEATURES;
    for (size_t m = 0; m <= maker->params.n_models; m++) {
        *out++ = forward == NULL ? NAN : forward[shares + m] + usual[ACQ_USUAL_head_due];
        *out++ = back == NULL ? NAN : back[shares + m] + usual[ACQ_USUAL_tail_due];
    }
    *out++ = 1.0F;
    *out = acq_usual_get_moved(maker->usual, relation, link->head) +
           acq_usual_get_moved(maker->usual, acq_inverse(relation), link->tail);
}

static bool is_less(const met *a, const met *b)
{
    return a->head < b->head || (a->head == b->head && a->tail < b->tail);
}

typedef struct join_plan {
    acq_rel relation; /* whose rows are `forward`; features are oriented along it */
    const row_side *forward, *back;
    const met *a, *b;
    size_t n_a, n_b;
} join_plan;

static size_t count_joined(const join_plan *join)
{
    size_t i = 0, j = 0, n = 0;
    for (; i < join->n_a || j < join->n_b; n++) {
        bool takes_a = j == join->n_b || (i < join->n_a && !is_less(&join->b[j], &join->a[i]));
        bool takes_b = i == join->n_a || (j < join->n_b && !is_less(&join->a[i], &join->b[j]));
        i += takes_a;
        j += takes_b;
    }
    return n;
}

static void merge(const acq_candidates_maker *maker, const join_plan *join, acq_candidates *out)
{
    size_t i = 0, j = 0;
    for (size_t k = 0; i < join->n_a || j < join->n_b; k++) {
        bool takes_a = j == join->n_b || (i < join->n_a && !is_less(&join->b[j], &join->a[i]));
        bool takes_b = i == join->n_a || (j < join->n_b && !is_less(&join->a[i], &join->b[j]));
        const met *link = takes_a ? &join->a[i] : &join->b[j];
        out->heads[k] = link->head;
        out->tails[k] = link->tail;
        join_one(maker, join->relation, join->forward, join->back, link,
                 takes_a ? join->a[i].half : NULL, takes_b ? join->b[j].half : NULL,
                 out->features + k * maker->n_features);
        i += takes_a;
        j += takes_b;
    }
}

static acq_status make_candidates(const acq_candidates_maker *maker, const join_plan *join,
                                  acq_candidates *out, acq_error *error)
{
    size_t n = count_joined(join);
    *out = (acq_candidates){.relation = join->relation,
                            .n = n,
                            .n_features = maker->n_features,
                            .heads = acq_alloc(n, sizeof *out->heads),
                            .tails = acq_alloc(n, sizeof *out->tails),
                            .features = acq_alloc(n * maker->n_features, sizeof(float))};
    if (out->heads == NULL || out->tails == NULL || out->features == NULL) {
        acq_candidates_deinit(out);
        return acq_fail_memory(error);
    }
    merge(maker, join, out);
    return ACQ_OK;
}

void acq_candidates_score(const acq_candidates *found, size_t begin, size_t end,
                          acq_boost_judge judge, float *odds)
{
    enum { BLOCK = 16 };
    float rows[BLOCK * ACQ_CANDIDATES_MOST_FEATURES];
    size_t width = found->n_features, read = acq_boost_get_n_features(judge.trees);
    for (size_t first = begin; first < end; first += BLOCK) {
        size_t n = end - first < BLOCK ? end - first : BLOCK;
        for (size_t i = 0; i < n; i++)
            memcpy(rows + i * read, found->features + (first + i) * width, read * sizeof *rows);
        acq_boost_judge_many(judge, rows, n, odds + first);
        for (size_t i = first; i < first + n; i++)
            odds[i] += found->features[(i + 1) * width - 1];
    }
}

void acq_candidates_deinit(acq_candidates *candidates)
{
    acq_free(candidates->heads);
    acq_free(candidates->tails);
    acq_free(candidates->features);
    *candidates = (acq_candidates){0};
}

/* The rows of all heads that the relation is seen with. */
static acq_row_want want_all(const acq_candidates_maker *maker, acq_rel relation)
{
    const acq_links *links = maker->links[relation];
    return (acq_row_want){.relation = relation,
                          .heads = links->heads,
                          .n = links->n_heads,
                          .stop = maker->params.stop};
}

/* From which share on a relation is usual for an entity. */
static const float FITS = .05F;

/* The least number of rows that are drawn where there are as many. */
static const double LEAST_DRAWN = 25;

bool acq_candidates_has_row(const acq_candidates_maker *maker, acq_rel relation, acq_ent head)
{
    return acq_links_find(maker->links[relation], head) != ACQ_NO_ID ||
           (maker->params.is_thorough && acq_usual_get_fit(maker->usual, relation, head) >= FITS);
}

static bool is_drawn(acq_rel relation, acq_ent head, double share)
{
    acq_random random = acq_random_start(relation, head);
    return acq_random_unit(&random) < share;
}

size_t acq_candidates_list_heads(const acq_candidates_maker *maker, acq_rel relation, acq_ent *out)
{
    const acq_links *links = maker->links[relation];
    double share = maker->params.row_share <= 0
                       ? 1
                       : fmax(maker->params.row_share, LEAST_DRAWN / fmax(1, links->n_heads));
    size_t n = 0;
    for (acq_ent e = 0; e < maker->n_entities && maker->params.is_thorough; e++)
        if ((share >= 1 || is_drawn(relation, e, share)) &&
            acq_candidates_has_row(maker, relation, e))
            out[n++] = e;
    if (!maker->params.is_thorough) {
        memcpy(out, links->heads, links->n_heads * sizeof *out);
        n = links->n_heads;
    }
    return n;
}

static acq_status collect_both(const acq_candidates_maker *maker, acq_rel relation,
                               acq_candidates *out, acq_error *error)
{
    row_side forward = {0}, back = {0};
    met *a = NULL, *b = NULL;
    acq_ent *heads = acq_alloc(2 * (size_t)maker->n_entities, sizeof *heads);
    if (heads == NULL)
        return acq_fail_memory(error);
    acq_row_want on = want_all(maker, relation), turned = want_all(maker, acq_inverse(relation));
    on.heads = heads;
    on.n = acq_candidates_list_heads(maker, relation, heads);
    turned.heads = heads + on.n;
    turned.n = acq_candidates_list_heads(maker, acq_inverse(relation), heads + on.n);
    acq_status status = side_run(&forward, maker, NULL, &on, error);
    if (status == ACQ_OK)
        status = side_run(&back, maker, NULL, &turned, error);
    if (status == ACQ_OK)
        status = list_side(&forward, false, &a, error);
    if (status == ACQ_OK)
        status = list_side(&back, true, &b, error);
    if (status == ACQ_OK) {
        join_plan join = {relation, &forward, &back, a, b, side_count(&forward), side_count(&back)};
        status = make_candidates(maker, &join, out, error);
    }
    acq_free(a);
    acq_free(b);
    side_deinit(&forward);
    side_deinit(&back);
    acq_free(heads);
    return status;
}

/* Rows of one side only; features oriented along the rows. */
static acq_status collect_side(const acq_candidates_maker *maker, acq_row_worker **workers,
                               const acq_row_want *want, acq_candidates *out, acq_error *error)
{
    row_side side = {0};
    met *list = NULL;
    acq_status status = side_run(&side, maker, workers, want, error);
    if (status == ACQ_OK)
        status = list_side(&side, false, &list, error);
    if (status == ACQ_OK) {
        join_plan join = {
            .relation = want->relation, .forward = &side, .a = list, .n_a = side_count(&side)};
        status = make_candidates(maker, &join, out, error);
    }
    acq_free(list);
    side_deinit(&side);
    return status;
}

acq_status acq_candidates_collect(const acq_candidates_maker *maker, acq_rel relation,
                                  acq_candidates *out, acq_error *error)
{
    *out = (acq_candidates){.relation = relation};
    if (maker->params.rows == ACQ_ROWS_BOTH)
        return collect_both(maker, relation, out, error);
    acq_row_want want = want_all(maker, acq_candidates_find_side(maker, relation));
    acq_ent *heads = acq_alloc(maker->n_entities, sizeof *heads);
    if (heads == NULL)
        return acq_fail_memory(error);
    want.heads = heads;
    want.n = acq_candidates_list_heads(maker, want.relation, heads);
    acq_status status = collect_side(maker, NULL, &want, out, error);
    acq_free(heads);
    return status;
}

acq_rel acq_candidates_find_side(const acq_candidates_maker *maker, acq_rel relation)
{
    acq_rel even = relation & ~1U, odd = acq_inverse(even);
    if (maker->params.rows != ACQ_ROWS_LARGER)
        return acq_candidates_find_smaller(maker, relation);
    return maker->counted[even]->n_heads >= maker->counted[odd]->n_heads ? even : odd;
}

acq_status acq_candidates_collect_row(const acq_candidates_maker *maker, acq_rel relation,
                                      acq_ent head, acq_candidates *out, acq_error *error)
{
    *out = (acq_candidates){.relation = relation};
    acq_row_want want = {.relation = relation, .heads = &head, .n = 1};
    return collect_side(maker, NULL, &want, out, error);
}

struct acq_candidates_session {
    const acq_candidates_maker *maker;
    acq_row_worker **workers; /* one per thread, opened at first use */
};

acq_status acq_candidates_session_new(const acq_candidates_maker *maker,
                                      acq_candidates_session **out, acq_error *error)
{
    acq_candidates_session *session = acq_zalloc(1, sizeof *session);
    if (session == NULL)
        return acq_fail_memory(error);
    session->maker = maker;
    session->workers = acq_zalloc(maker->params.n_threads, sizeof(acq_row_worker *));
    if (session->workers == NULL) {
        acq_free(session);
        return acq_fail_memory(error);
    }
    *out = session;
    return ACQ_OK;
}

void acq_candidates_session_free(acq_candidates_session *session)
{
    if (session == NULL)
        return;
    free_workers(session->workers, session->maker->params.n_threads);
    acq_free(session);
}

acq_status acq_candidates_session_collect(acq_candidates_session *session, const acq_row_want *want,
                                          acq_candidates *out, acq_error *error)
{
    *out = (acq_candidates){.relation = want->relation};
    return collect_side(session->maker, session->workers, want, out, error);
}

static acq_status serve_call(acq_candidates_session *session, const call *now, acq_error *error)
{
    const acq_candidates_maker *maker = session->maker;
    row_side side = {0};
    acq_ent *heads = acq_alloc(now->n, sizeof *heads);
    acq_row_want want = {
        .relation = now->relation, .heads = heads, .n = now->n, .stop = maker->params.stop};
    if (heads == NULL)
        return acq_fail_memory(error);
    acq_status status = acq_ranks_follow(maker->params.ranks, heads, now->n * sizeof *heads, error);
    if (status == ACQ_OK)
        status = side_score(&side, maker, session->workers, &want, now->batch, error);
    side_deinit(&side);
    acq_free(heads);
    return status;
}

acq_status acq_candidates_serve(const acq_candidates_maker *maker, acq_error *error)
{
    acq_candidates_session *session = NULL;
    call now = {.goes_on = 1};
    acq_status status = acq_candidates_session_new(maker, &session, error);
    while (status == ACQ_OK) {
        status = acq_ranks_follow(maker->params.ranks, &now, sizeof now, error);
        if (status != ACQ_OK || now.goes_on == 0)
            break;
        status = serve_call(session, &now, error);
    }
    acq_candidates_session_free(session);
    return status;
}

acq_status acq_candidates_dismiss(const acq_candidates_maker *maker, acq_error *error)
{
    call none = {0};
    return acq_ranks_follow(maker->params.ranks, &none, sizeof none, error);
}

/* ---- one tail, from the side of its heads ---- */

static int compare_promises(const void *a, const void *b)
{
    const acq_promise *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->head > y->head) - (x->head < y->head);
}

static int compare_heads(const void *a, const void *b)
{
    const acq_ent *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Heads with a row that lack the tail, by what was found of them, times what they lack. */
static size_t choose_heads(const acq_candidates_maker *maker, acq_rel relation, acq_ent tail,
                           acq_promise *found, size_t n, size_t most, acq_ent *out)
{
    acq_row observed = acq_links_get_row(maker->links[acq_inverse(relation)], tail);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        acq_ent head = found[i].head;
        float due = acq_usual_get_due(maker->usual, relation, head);
        if (acq_row_find(observed, head) < observed.n ||
            !acq_candidates_has_row(maker, relation, head))
            continue;
        found[kept++] = (acq_promise){head, found[i].value * (isnan(due) ? 1.0F : expf(due))};
    }
    if (kept > most) {
        qsort(found, kept, sizeof *found, compare_promises);
        kept = most;
    }
    for (size_t i = 0; i < kept; i++)
        out[i] = found[i].head;
    if (kept > 0)
        qsort(out, kept, sizeof *out, compare_heads);
    return kept;
}

/* Leaves the candidates with this tail. */
static void keep_tail(acq_candidates *found, acq_ent tail)
{
    size_t n = 0, width = found->n_features;
    for (size_t i = 0; i < found->n; i++) {
        if (found->tails[i] != tail)
            continue;
        found->heads[n] = found->heads[i];
        found->tails[n] = tail;
        memmove(found->features + n++ * width, found->features + i * width,
                width * sizeof *found->features);
    }
    found->n = n;
}

acq_status acq_candidates_session_collect_tail(acq_candidates_session *session, acq_rel relation,
                                               acq_ent tail, size_t most, acq_stop stop,
                                               acq_candidates *out, acq_error *error)
{
    const acq_candidates_maker *maker = session->maker;
    acq_row_worker **worker = &session->workers[0];
    acq_ent *heads = acq_alloc(most, sizeof *heads);
    acq_promise *found = NULL;
    size_t n = 0;
    *out = (acq_candidates){.relation = relation};
    acq_status status = heads == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK && *worker == NULL)
        status = acq_row_worker_new(maker, worker, error);
    if (status == ACQ_OK)
        status = acq_row_worker_find_heads(*worker, relation, tail, &found, &n, error);
    if (status == ACQ_OK) {
        acq_row_want want = {.relation = relation, .heads = heads, .stop = stop};
        want.n = choose_heads(maker, relation, tail, found, n, most, heads);
        status = collect_side(maker, session->workers, &want, out, error);
    }
    if (status == ACQ_OK)
        keep_tail(out, tail);
    acq_free(found);
    acq_free(heads);
    return status;
}

uint64_t acq_candidates_count_rows(const acq_candidates_maker *maker, acq_rel relation)
{
    uint64_t a = maker->links[relation]->n_heads;
    uint64_t b = maker->links[acq_inverse(relation)]->n_heads;
    if (maker->params.rows == ACQ_ROWS_BOTH)
        return a + b;
    if (maker->params.rows == ACQ_ROWS_LARGER)
        return a > b ? a : b;
    return a < b ? a : b;
}
