/* candidates_row.c - rows of raw scores become candidates with half a feature vector each.
 *
 * Selection: the best unobserved tails by each model, by a partial sort of the row, and the tails
 * that rules propose most strongly. A tail chosen by one model gets the features of all. */
#include "calibrate/candidates_parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "models/neighbours.h"

struct acq_row_worker {
    const acq_candidates_maker *maker;
    void *scratch[ACQ_CANDIDATES_MODELS];
    acq_rules_scratch *rules;
    float *scores[ACQ_CANDIDATES_MODELS]; /* batch x entities; of a model with score_few one row,
                                             `nothing` everywhere between rows */
    acq_ent *order;                       /* entities, partly sorted */
    float *ranks[ACQ_CANDIDATES_MODELS];  /* by entity; negative: not chosen by this model */
    acq_ent *chosen;                      /* tails of the row */
    size_t n_chosen;
    uint8_t *is_chosen;   /* by entity */
    uint8_t *is_excluded; /* by entity: observed, or not allowed */
    acq_ent *pruned;      /* tails that models without score_few are asked for */
    float *pruned_scores; /* of these */
    acq_ent *proposed;    /* by rules */
    float *strength;      /* of these */
    size_t proposed_capacity, strength_capacity;
};

enum { ROWS_AT_ONCE = 128 };

size_t acq_row_worker_get_batch(const acq_candidates_maker *maker)
{
    size_t batch = ROWS_AT_ONCE;
    for (size_t m = 0; m < maker->params.n_models; m++)
        if (maker->params.models[m]->batch < batch)
            batch = maker->params.models[m]->batch;
    return batch < 1 ? 1 : batch;
}

void acq_found_deinit(acq_found *found)
{
    acq_free(found->heads);
    acq_free(found->tails);
    acq_free(found->half);
    *found = (acq_found){0};
}

void acq_row_worker_free(acq_row_worker *worker)
{
    if (worker == NULL)
        return;
    const acq_candidates_params *params = &worker->maker->params;
    for (size_t m = 0; m < params->n_models; m++) {
        if (worker->scratch[m] != NULL)
            params->models[m]->ops->free_scratch(params->models[m], worker->scratch[m]);
        acq_free(worker->scores[m]);
        acq_free(worker->ranks[m]);
    }
    acq_rules_scratch_free(worker->rules);
    acq_free(worker->order);
    acq_free(worker->chosen);
    acq_free(worker->is_chosen);
    acq_free(worker->is_excluded);
    acq_free(worker->pruned);
    acq_free(worker->pruned_scores);
    acq_free(worker->proposed);
    acq_free(worker->strength);
    acq_free(worker);
}

/* Does the model score a few tails of a row, and has `nothing` for all others? */
static bool is_few(const acq_candidates_maker *maker, size_t m)
{
    return maker->params.is_pruned || maker->params.models[m]->ops->score_few != NULL;
}

/* Is it asked for the tails that the others propose? */
static bool is_pruned(const acq_candidates_maker *maker, size_t m)
{
    return maker->params.is_pruned && maker->params.models[m]->ops->score_few == NULL;
}

static float get_nothing(const acq_candidates_maker *maker, size_t m)
{
    return is_pruned(maker, m) ? ACQ_NO_SCORE : maker->params.models[m]->nothing;
}

static acq_status open_model(acq_row_worker *worker, size_t m, acq_error *error)
{
    const acq_row_model *model = worker->maker->params.models[m];
    size_t n = worker->maker->n_entities;
    size_t batch = is_few(worker->maker, m) ? 1 : acq_row_worker_get_batch(worker->maker);
    worker->scores[m] = acq_alloc(batch * n, sizeof(float));
    worker->ranks[m] = acq_alloc(n, sizeof(float));
    if (worker->scores[m] == NULL || worker->ranks[m] == NULL)
        return acq_fail_memory(error);
    for (size_t t = 0; t < n; t++)
        worker->ranks[m][t] = -1.0F;
    for (size_t t = 0; t < n && is_few(worker->maker, m); t++)
        worker->scores[m][t] = get_nothing(worker->maker, m);
    return model->ops->open_scratch(model, &worker->scratch[m], error);
}

acq_status acq_row_worker_new(const acq_candidates_maker *maker, acq_row_worker **out,
                              acq_error *error)
{
    size_t n = maker->n_entities;
    acq_row_worker *worker = acq_zalloc(1, sizeof *worker);
    if (worker == NULL)
        return acq_fail_memory(error);
    worker->maker = maker;
    worker->order = acq_alloc(n, sizeof *worker->order);
    worker->chosen = acq_alloc(n, sizeof *worker->chosen);
    worker->pruned = acq_alloc(n, sizeof *worker->pruned);
    worker->pruned_scores = acq_alloc(n, sizeof *worker->pruned_scores);
    worker->is_chosen = acq_zalloc(n, 1);
    worker->is_excluded = acq_zalloc(n, 1);
    acq_status status = ACQ_OK;
    if (worker->order == NULL || worker->chosen == NULL || worker->pruned == NULL ||
        worker->pruned_scores == NULL || worker->is_chosen == NULL || worker->is_excluded == NULL)
        status = acq_fail_memory(error);
    for (size_t m = 0; m < maker->params.n_models && status == ACQ_OK; m++)
        status = open_model(worker, m, error);
    if (status == ACQ_OK && maker->params.rules != NULL)
        status = acq_rules_scratch_new(maker->params.rules, &worker->rules, error);
    if (status == ACQ_OK)
        *out = worker;
    else
        acq_row_worker_free(worker);
    return status;
}

/* ---- choosing ---- */

/* What a model says about a row. */
typedef struct scored_tails {
    const float *scores; /* by entity; NULL: not asked */
    const acq_ent *few;  /* all others score `nothing`; NULL: no such list */
    size_t n_few;
} scored_tails;

/* Does a come before b? Higher scores first, then lower ids: no two are equal. */
static inline bool before(const float *scores, acq_ent a, acq_ent b)
{
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
}

static void swap(acq_ent *a, acq_ent *b)
{
    acq_ent kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's partition of [low, high): returns the first place of the second part. */
static size_t partition(const float *scores, acq_ent *order, size_t low, size_t high)
{
    acq_ent pivot = order[low + (high - low - 1) / 2];
    size_t i = low, j = high - 1;
    for (;;) {
        while (before(scores, order[i], pivot))
            i++;
        while (before(scores, pivot, order[j]))
            j--;
        if (i >= j)
            return j + 1;
        swap(&order[i++], &order[j--]);
    }
}

/* Puts the best k of n entities first, in any order. */
static void select_best(const float *scores, acq_ent *order, size_t n, size_t k)
{
    size_t low = 0, high = n;
    while (low < k && k < high && high - low > 1) {
        size_t split = partition(scores, order, low, high);
        if (k <= split)
            high = split;
        else
            low = split;
    }
}

static void sort_prefix(const float *scores, acq_ent *order, size_t n)
{
    for (size_t gap = n / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            acq_ent entity = order[i];
            size_t j = i;
            for (; j >= gap && before(scores, entity, order[j - gap]); j -= gap)
                order[j] = order[j - gap];
            order[j] = entity;
        }
}

static void choose(acq_row_worker *worker, acq_ent tail)
{
    if (worker->is_chosen[tail] == 0) {
        worker->is_chosen[tail] = 1;
        worker->chosen[worker->n_chosen++] = tail;
    }
}

/* A bound that about four times `most` entities reach, from a sample of the row. */
static float find_bound(const float *scores, size_t n, size_t most)
{
    enum { SAMPLE = 512 };
    float sample[SAMPLE];
    acq_ent order[SAMPLE];
    if (n <= 4 * SAMPLE || most * 8 > n)
        return -INFINITY;
    for (size_t i = 0; i < SAMPLE; i++) {
        sample[i] = scores[i * n / SAMPLE];
        order[i] = (acq_ent)i;
    }
    size_t k = most * 4 * SAMPLE / n + 8;
    if (k >= SAMPLE)
        return -INFINITY;
    select_best(sample, order, SAMPLE, k);
    float bound = INFINITY;
    for (size_t i = 0; i < k; i++)
        bound = sample[order[i]] < bound ? sample[order[i]] : bound;
    return bound;
}

/* The least score that a model proposes a tail with. */
static float get_least(const acq_row_model *model)
{
    return model->is_sparse ? nextafterf(model->nothing, INFINITY) : -INFINITY;
}

/* Entities at or above the bound that are not excluded, in ascending order. */
static size_t gather(acq_row_worker *worker, const float *scores, float bound)
{
    size_t n = 0, n_entities = worker->maker->n_entities;
    for (size_t t = 0; t < n_entities; t++)
        if (scores[t] >= bound && !worker->is_excluded[t])
            worker->order[n++] = (acq_ent)t;
    return n;
}

/* The same of a model that says which entities its row is about, in no order. */
static size_t gather_few(acq_row_worker *worker, const scored_tails *row, float bound)
{
    size_t n = 0;
    for (size_t i = 0; i < row->n_few; i++)
        if (row->scores[row->few[i]] >= bound && !worker->is_excluded[row->few[i]])
            worker->order[n++] = row->few[i];
    return n;
}

static size_t gather_most(acq_row_worker *worker, const scored_tails *row, float least, size_t most)
{
    if (row->few != NULL)
        return gather_few(worker, row, least);
    float bound = find_bound(row->scores, worker->maker->n_entities, most);
    size_t n = gather(worker, row->scores, fmaxf(bound, least));
    return n < most && bound > least ? gather(worker, row->scores, least) : n;
}

/* The best `most` unobserved tails by one model, with their ranks. */
static void choose_by_model(acq_row_worker *worker, size_t m, const scored_tails *row, size_t most,
                            acq_row_summary *summary)
{
    const float *scores = row->scores;
    float least = get_least(worker->maker->params.models[m]);
    size_t n = gather_most(worker, row, least, most);
    size_t taken = n < most ? n : most;
    if (taken < n)
        select_best(scores, worker->order, n, taken);
    sort_prefix(scores, worker->order, taken);
    for (size_t i = 0; i < taken; i++) {
        worker->ranks[m][worker->order[i]] = (float)log1p((double)i);
        choose(worker, worker->order[i]);
    }
    summary->best = taken > 0 ? scores[worker->order[0]] : NAN;
    summary->last = (float)log1p((double)taken);
}

static acq_status choose_by_rules(acq_row_worker *worker, const acq_rule_evidence *evidence,
                                  size_t n, size_t most, acq_error *error)
{
    if (ACQ_RESERVE(worker->proposed, worker->proposed_capacity, n) != ACQ_OK ||
        ACQ_RESERVE(worker->strength, worker->strength_capacity, n) != ACQ_OK)
        return acq_fail_memory(error);
    size_t n_open = 0;
    for (size_t i = 0; i < n; i++) {
        worker->strength[i] = evidence[i].noisy_or;
        if (!worker->is_excluded[evidence[i].tail])
            worker->proposed[n_open++] = (acq_ent)i;
    }
    if (most < n_open)
        select_best(worker->strength, worker->proposed, n_open, most);
    for (size_t i = 0; i < n_open && i < most; i++)
        choose(worker, evidence[worker->proposed[i]].tail);
    return ACQ_OK;
}

/* ---- features ---- */

static float find_log_sum_few(const scored_tails *row, float nothing, size_t n)
{
    float most = nothing;
    for (size_t i = 0; i < row->n_few; i++)
        most = fmaxf(most, row->scores[row->few[i]]);
    double sum = (double)(n - row->n_few) * (double)expf(nothing - most);
    for (size_t i = 0; i < row->n_few; i++)
        sum += (double)expf(row->scores[row->few[i]] - most);
    return most + (float)log(sum);
}

static float find_log_sum(const float *scores, size_t n)
{
    float most = -INFINITY;
    for (size_t i = 0; i < n; i++)
        most = scores[i] > most ? scores[i] : most;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        if (scores[i] > most - 20.0F)
            sum += (double)expf(scores[i] - most);
    return most + (float)log(sum);
}

/* The log-sum without the observed tails; -inf: nothing else counts. */
static float find_open(const float *scores, acq_row observed, float log_sum)
{
    double share = 1;
    for (size_t i = 0; i < observed.n; i++)
        share -= (double)expf(scores[observed.tails[i]] - log_sum);
    return share > 1e-4 ? log_sum + (float)log(share) : log_sum - 9.2F;
}

static float find_mean(const float *scores, acq_row observed)
{
    double sum = 0;
    for (size_t i = 0; i < observed.n; i++)
        sum += (double)scores[observed.tails[i]];
    return observed.n == 0 ? NAN : (float)(sum / (double)observed.n);
}

static float find_beaten(const float *scores, acq_row observed, float score)
{
    size_t n = 0;
    for (size_t i = 0; i < observed.n; i++)
        n += scores[observed.tails[i]] < score;
    return observed.n == 0 ? NAN : (float)n / (float)observed.n;
}

static void describe_by_model(const acq_row_worker *worker, size_t m, const float *scores,
                              acq_row observed, const acq_row_summary *summary, acq_ent tail,
                              float *out)
{
    if (scores == NULL) {
        for (size_t i = 0; i < ACQ_N_ROW_FEATURES; i++)
            out[i] = NAN;
        return;
    }
    float score = scores[tail], rank = worker->ranks[m][tail];
    out[ACQ_ROW_score] = score + worker->maker->grown[m];
    out[ACQ_ROW_mass] = score - summary->log_sum;
    out[ACQ_ROW_expected] = out[ACQ_ROW_mass] + (float)log1p((double)observed.n);
    out[ACQ_ROW_rank] = rank < 0 ? summary->last : rank;
    out[ACQ_ROW_to_mean] = score - summary->observed;
    out[ACQ_ROW_to_best] = score - summary->best;
    out[ACQ_ROW_beats] = find_beaten(scores, observed, score);
}

/* Confidences are shares of facts that are there: where some were held out they are less. */
static float scale(const acq_row_worker *worker, float confidence)
{
    const acq_candidates_params *params = &worker->maker->params;
    return params->is_rest ? fminf(.999F, confidence / (float)(1 - params->held_share))
                           : confidence;
}

static void describe_by_rules(const acq_row_worker *worker, const acq_rule_evidence *evidence,
                              size_t n, acq_ent tail, float *out)
{
    const acq_rule_evidence none = {0};
    size_t i;
    ACQ_SEARCH(i, 0, n, evidence[i].tail < tail);
    const acq_rule_evidence *found = i < n && evidence[i].tail == tail ? &evidence[i] : &none;
    out[ACQ_RULE_one_hop] = scale(worker, found->one_hop);
    out[ACQ_RULE_two_hop] = scale(worker, found->two_hop);
    out[ACQ_RULE_noisy_or] = scale(worker, found->noisy_or);
    out[ACQ_RULE_fired] = (float)found->n;
}

/* One row of a batch. */
typedef struct scored_row {
    acq_rel relation;
    acq_ent head;
    acq_row observed;
    scored_tails tails[ACQ_CANDIDATES_MODELS];
    acq_row_summary *summaries;
    const acq_rule_evidence *evidence;
    size_t n_evidence;
    float rules_open; /* log of the sum of noisy_or over the tails that are not observed */
} scored_row;

static void describe_shares(const acq_row_worker *worker, const scored_row *row, const float *half,
                            float *out)
{
    float noisy_or = half[ACQ_RULE_noisy_or];
    *out++ = noisy_or > 0 ? logf(noisy_or) - row->rules_open : NAN;
    for (size_t m = 0; m < worker->maker->params.n_models; m++)
        *out++ = half[ACQ_N_RULE_FEATURES + m * ACQ_N_ROW_FEATURES + ACQ_ROW_score] -
                 row->summaries[m].open;
}

static acq_status append(acq_row_worker *worker, const scored_row *row, acq_found *found,
                         acq_error *error)
{
    size_t width = acq_found_get_width(worker->maker), need = found->n + worker->n_chosen;
    if (ACQ_RESERVE(found->heads, found->heads_capacity, need) != ACQ_OK ||
        ACQ_RESERVE(found->tails, found->tails_capacity, need) != ACQ_OK ||
        ACQ_RESERVE(found->half, found->half_capacity, need * width) != ACQ_OK)
        return acq_fail_memory(error);
    for (size_t i = 0; i < worker->n_chosen; i++, found->n++) {
        acq_ent tail = worker->chosen[i];
        float *half = found->half + found->n * width;
        found->heads[found->n] = row->head;
        found->tails[found->n] = tail;
        describe_by_rules(worker, row->evidence, row->n_evidence, tail, half);
        for (size_t m = 0; m < worker->maker->params.n_models; m++)
            describe_by_model(worker, m, row->tails[m].scores, row->observed, &row->summaries[m],
                              tail, half + ACQ_N_RULE_FEATURES + m * ACQ_N_ROW_FEATURES);
        describe_shares(worker, row, half, half + acq_found_get_shares(worker->maker));
    }
    return ACQ_OK;
}

static void sort_entities(acq_ent *list, size_t n)
{
    for (size_t gap = n / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            acq_ent entity = list[i];
            size_t j = i;
            for (; j >= gap && entity < list[j - gap]; j -= gap)
                list[j] = list[j - gap];
            list[j] = entity;
        }
}

static void exclude(acq_row_worker *worker, acq_row observed, uint8_t value)
{
    for (size_t i = 0; i < observed.n; i++)
        worker->is_excluded[observed.tails[i]] = value;
}

static void forget_choice(acq_row_worker *worker)
{
    for (size_t i = 0; i < worker->n_chosen; i++) {
        worker->is_chosen[worker->chosen[i]] = 0;
        for (size_t m = 0; m < worker->maker->params.n_models; m++)
            worker->ranks[m][worker->chosen[i]] = -1.0F;
    }
    worker->n_chosen = 0;
}

static float sum_open(const acq_row_worker *worker, const acq_rule_evidence *evidence, size_t n)
{
    double sum = 1e-6;
    for (size_t i = 0; i < n; i++)
        sum += worker->is_excluded[evidence[i].tail] ? 0 : (double)evidence[i].noisy_or;
    return (float)log(sum);
}

static void run_model(acq_row_worker *worker, size_t m, scored_row *row, size_t most)
{
    const scored_tails *tails = &row->tails[m];
    acq_row_summary *summary = &row->summaries[m];
    size_t n = worker->maker->n_entities;
    summary->log_sum = tails->few == NULL
                           ? find_log_sum(tails->scores, n)
                           : find_log_sum_few(tails, get_nothing(worker->maker, m), n);
    summary->observed = find_mean(tails->scores, row->observed);
    summary->open = find_open(tails->scores, row->observed, summary->log_sum);
    choose_by_model(worker, m, tails, most, summary);
}

/* What others chose, what is observed, and all tails of a relation that has few; sorted. */
static size_t list_pruned(acq_row_worker *worker, const scored_row *row)
{
    enum { FEW_TAILS = 512 };
    const acq_links *range = worker->maker->links[acq_inverse(row->relation)];
    size_t n = 0;
    for (size_t i = 0; i < worker->n_chosen; i++)
        worker->pruned[n++] = worker->chosen[i];
    for (size_t i = 0; i < row->observed.n; i++)
        worker->pruned[n++] = row->observed.tails[i];
    for (uint32_t i = 0; i < range->n_heads && range->n_heads <= FEW_TAILS; i++) {
        acq_ent tail = range->heads[i];
        if (worker->is_chosen[tail] == 0 && acq_row_find(row->observed, tail) == row->observed.n)
            worker->pruned[n++] = tail;
    }
    sort_entities(worker->pruned, n);
    return n;
}

static acq_status score_pruned(acq_row_worker *worker, size_t m, scored_row *row, size_t n,
                               acq_error *error)
{
    const acq_row_model *model = worker->maker->params.models[m];
    acq_row_request request = {.relation = row->relation,
                               .heads = &row->head,
                               .n_heads = 1,
                               .tails = worker->pruned,
                               .n_tails = n,
                               .out = worker->pruned_scores};
    acq_status status = model->ops->score(model, worker->scratch[m], &request, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        worker->scores[m][worker->pruned[i]] = worker->pruned_scores[i];
    row->tails[m] = (scored_tails){worker->scores[m], worker->pruned, n};
    return status;
}

/* Models that are asked last: for what the others propose. */
static acq_status run_pruned(acq_row_worker *worker, scored_row *row, size_t most, acq_error *error)
{
    const acq_candidates_maker *maker = worker->maker;
    acq_status status = ACQ_OK;
    size_t n = 0;
    if (!maker->params.is_pruned)
        return ACQ_OK;
    n = list_pruned(worker, row);
    for (size_t m = 0; m < maker->params.n_models && status == ACQ_OK; m++) {
        if (!is_pruned(maker, m))
            continue;
        status = score_pruned(worker, m, row, n, error);
        if (status == ACQ_OK)
            run_model(worker, m, row, most);
    }
    return status;
}

static acq_status run_row(acq_row_worker *worker, scored_row *row, acq_found *found,
                          acq_error *error)
{
    const acq_candidates_params *params = &worker->maker->params;
    size_t most = params->top + row->observed.n;
    acq_status status = ACQ_OK;
    if (params->rules != NULL)
        status = acq_rules_apply(params->rules, row->head, row->relation, worker->rules,
                                 &row->evidence, &row->n_evidence, error);
    if (status != ACQ_OK)
        return status;
    exclude(worker, row->observed, 1);
    for (size_t m = 0; m < params->n_models; m++) {
        if (row->tails[m].scores != NULL)
            run_model(worker, m, row, most);
    }
    status = choose_by_rules(worker, row->evidence, row->n_evidence, most, error);
    if (status == ACQ_OK)
        status = run_pruned(worker, row, most, error);
    row->rules_open = sum_open(worker, row->evidence, row->n_evidence);
    sort_entities(worker->chosen, worker->n_chosen);
    if (status == ACQ_OK)
        status = append(worker, row, found, error);
    exclude(worker, row->observed, 0);
    forget_choice(worker);
    return status;
}

/* Entities that are never seen as tails of the relation, when only seen ones may be proposed. */
static void restrict_tails(acq_row_worker *worker, acq_rel relation, bool restricts)
{
    const acq_links *tails = worker->maker->links[acq_inverse(relation)];
    if (worker->maker->params.tails == ACQ_TAILS_ALL)
        return;
    memset(worker->is_excluded, restricts ? 1 : 0, worker->maker->n_entities);
    for (uint32_t i = 0; i < tails->n_heads && restricts; i++)
        worker->is_excluded[tails->heads[i]] = 0;
}

/* Whole rows of the models that make no others. */
static acq_status score_batch(acq_row_worker *worker, const acq_row_want *want, acq_error *error)
{
    const acq_candidates_maker *maker = worker->maker;
    acq_status status = ACQ_OK;
    for (size_t m = 0; m < maker->params.n_models && status == ACQ_OK; m++) {
        const acq_row_model *model = maker->params.models[m];
        if (is_few(maker, m) || acq_candidates_skips(maker, m, want->relation))
            continue;
        acq_row_request request = {.relation = want->relation,
                                   .heads = want->heads,
                                   .n_heads = want->n,
                                   .n_tails = maker->n_entities,
                                   .out = worker->scores[m],
                                   .stop = want->stop};
        status = model->ops->score(model, worker->scratch[m], &request, error);
    }
    return status;
}

/* The i-th row of the batch: where its scores are, or they are made. */
static acq_status take_scores(acq_row_worker *worker, scored_row *row, size_t i, acq_error *error)
{
    const acq_candidates_maker *maker = worker->maker;
    acq_status status = ACQ_OK;
    for (size_t m = 0; m < maker->params.n_models && status == ACQ_OK; m++) {
        const acq_row_model *model = maker->params.models[m];
        scored_tails *tails = &row->tails[m];
        if (is_pruned(maker, m) || acq_candidates_skips(maker, m, row->relation))
            continue;
        tails->scores = worker->scores[m];
        if (model->ops->score_few == NULL)
            tails->scores += i * maker->n_entities;
        else
            status = model->ops->score_few(model, worker->scratch[m], row->relation, row->head,
                                           worker->scores[m], &tails->few, &tails->n_few, error);
    }
    return status;
}

static void forget_few(acq_row_worker *worker, const scored_row *row)
{
    for (size_t m = 0; m < worker->maker->params.n_models; m++)
        for (size_t i = 0; i < row->tails[m].n_few; i++)
            worker->scores[m][row->tails[m].few[i]] = get_nothing(worker->maker, m);
}

acq_status acq_row_worker_run(acq_row_worker *worker, const acq_row_want *want, acq_found *found,
                              acq_row_summary *summaries, acq_error *error)
{
    const acq_candidates_maker *maker = worker->maker;
    acq_rel relation = want->relation;
    acq_status status = score_batch(worker, want, error);
    for (size_t i = 0; i < want->n && status == ACQ_OK; i++) {
        scored_row one = {.relation = relation,
                          .head = want->heads[i],
                          .observed = acq_links_get_row(maker->links[relation], want->heads[i]),
                          .summaries = summaries + i * maker->params.n_models};
        restrict_tails(worker, relation, true);
        status = take_scores(worker, &one, i, error);
        if (status == ACQ_OK)
            status = run_row(worker, &one, found, error);
        restrict_tails(worker, relation, false);
        forget_few(worker, &one);
    }
    return status;
}

/* ---- heads that may propose a tail ---- */

enum { MOST_LIKED = 2000 }; /* heads of a tail that others are compared with */

/* worker->strength by entity, as `is_chosen` marks and `chosen` lists. */
static void promise_head(acq_row_worker *worker, float *values, acq_ent head, float value)
{
    if (worker->is_chosen[head] == 0)
        values[head] = 0;
    choose(worker, head);
    values[head] += value;
}

static acq_status promise_by_rules(acq_row_worker *worker, acq_rel relation, acq_ent tail,
                                   float *values, acq_error *error)
{
    const acq_rule_evidence *evidence = NULL;
    size_t n = 0;
    if (worker->rules == NULL)
        return ACQ_OK;
    acq_status status = acq_rules_apply(worker->maker->params.rules, tail, acq_inverse(relation),
                                        worker->rules, &evidence, &n, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        promise_head(worker, values, evidence[i].tail, evidence[i].noisy_or);
    return status;
}

/* Evenly spaced where the tail has very many heads. */
static size_t sample_row(acq_row row, acq_ent *out)
{
    size_t n = row.n < MOST_LIKED ? row.n : MOST_LIKED;
    for (size_t i = 0; i < n; i++)
        out[i] = row.tails[i * row.n / n];
    return n;
}

static acq_status promise_by_model(acq_row_worker *worker, size_t m, acq_row heads, float *values,
                                   acq_error *error)
{
    acq_ent some[MOST_LIKED];
    acq_neighbour *like = NULL;
    size_t n = 0;
    acq_status status =
        acq_neighbours_find_like_any(worker->maker->params.models[m], worker->scratch[m], some,
                                     sample_row(heads, some), &like, &n, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        promise_head(worker, values, like[i].entity, like[i].like);
    acq_free(like);
    return status;
}

acq_status acq_row_worker_find_heads(acq_row_worker *worker, acq_rel relation, acq_ent tail,
                                     acq_promise **out, size_t *n, acq_error *error)
{
    const acq_candidates_maker *maker = worker->maker;
    acq_row heads = acq_links_get_row(maker->links[acq_inverse(relation)], tail);
    float *values = acq_alloc(maker->n_entities, sizeof *values);
    acq_status status = values == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = promise_by_rules(worker, relation, tail, values, error);
    for (size_t m = 0; m < maker->params.n_models && status == ACQ_OK; m++)
        if (strcmp(maker->params.models[m]->kind, "neighbours") == 0)
            status = promise_by_model(worker, m, heads, values, error);
    *n = worker->n_chosen;
    *out = acq_alloc(*n + 1, sizeof **out);
    if (status == ACQ_OK && *out == NULL)
        status = acq_fail_memory(error);
    for (size_t i = 0; i < *n && status == ACQ_OK; i++)
        (*out)[i] = (acq_promise){worker->chosen[i], values[worker->chosen[i]]};
    forget_choice(worker);
    acq_free(values);
    return status;
}
