/* row_published.c - links whose scores are one model's row on a published scale (rows.h).
 *
 * Rows are scored in blocks of at most the model's batch, blocks are shared out among the threads,
 * and their links put together in the order of the blocks. Sums of a scale are in double; the
 * largest logit is taken off first. */
#include "predict/rows.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

static const double TEMPERATURE = 20.0;

/* What a thread works with, made at its first block and kept: a scratch remembers what the rows of
 * its last relation share. */
typedef struct worker {
    void *scratch;
    float *scores; /* batch rows of all entities */
    acq_link *row; /* of all entities: the tails kept */
    acq_ent *few;  /* of a model that says which entities its row is about */
    size_t few_room;
    acq_error error;
} worker;

typedef struct published {
    acq_row_scorer base;
    acq_published_params params;
    const acq_graph *graph;
    worker *workers; /* one per thread; NULL: none yet */
    unsigned n_workers;
} published;

/* ---- scales ---- */

static bool is_finite(const float *scores, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(scores[i]))
            return false;
    }
    return true;
}

static void apply_sigmoid(float *scores, size_t n)
{
    for (size_t i = 0; i < n; i++)
        scores[i] = 1.0F / (1.0F + expf(-scores[i]));
}

/* scores become exp(tau (score - largest)); returns their sum. */
static double exponentiate(float *scores, size_t n)
{
    float largest = scores[0];
    double sum = 0.0;
    for (size_t i = 1; i < n; i++)
        largest = scores[i] > largest ? scores[i] : largest;
    for (size_t i = 0; i < n; i++) {
        scores[i] = (float)exp(TEMPERATURE * ((double)scores[i] - (double)largest));
        sum += (double)scores[i];
    }
    return sum;
}

static double add_observed(acq_row observed, const float *scores)
{
    double sum = 0.0;
    for (size_t i = 0; i < observed.n; i++)
        sum += (double)scores[observed.tails[i]];
    return sum;
}

/* Observed tails that the model knows. */
static size_t count_known(acq_row observed, const float *scores)
{
    size_t n = 0;
    for (size_t i = 0; i < observed.n; i++)
        n += scores[observed.tails[i]] != ACQ_NO_SCORE;
    return n;
}

/* What exp(...) is multiplied with, n_known the observed tails that have a score. Observed tails
 * that all vanish next to another one leave nothing to divide by: the scale is then as large as
 * floats go, and the clip makes it 1. */
static double find_factor(acq_row_scale scale, acq_row observed, size_t n_known,
                          const float *scores, double sum)
{
    if (n_known == 0)
        return 1.0 / sum;
    if (scale == ACQ_SCALE_QTO)
        return (double)n_known / sum;
    return (double)n_known / fmax(add_observed(observed, scores), 1e-300);
}

/* Rewrites the scores of all n entities in place; the results are in [0, 1], and 0 where the model
 * has no score. */
static void apply_scale(acq_row_scale scale, acq_row observed, float *scores, size_t n)
{
    size_t n_unknown = 0;
    while (n_unknown < n && scores[n_unknown] == ACQ_NO_SCORE)
        n_unknown++;
    if (n_unknown == n) {
        memset(scores, 0, n * sizeof *scores);
        return;
    }
    if (scale == ACQ_SCALE_SIGMOID) {
        apply_sigmoid(scores, n);
        return;
    }
    size_t n_known = count_known(observed, scores);
    double sum = exponentiate(scores, n);
    double factor = find_factor(scale, observed, n_known, scores, sum);
    for (size_t i = 0; i < n; i++)
        scores[i] = (float)fmin(factor * (double)scores[i], 1.0);
}

/* ---- rows ---- */

typedef struct job {
    const published *self;
    const acq_row_model *model;
    acq_rel relation;
    const acq_links *observed, *inverse;
    const acq_ent *heads;
    size_t n_heads, batch, n_blocks, n_entities;
    acq_link_list *blocks;
    worker *workers;
    unsigned n_workers;
    atomic_size_t n_links; /* so far, against the memory budget */
    acq_stop stop;
    bool proposes; /* the heads of LOGISTIC's other end, by raw scores */
} job;

static size_t get_batch(const acq_row_model *model)
{
    return model->batch > 0 ? model->batch : 1;
}

/* Rows of few tails are scored one by one. */
static bool is_sparse(const job *j)
{
    acq_row_scale scale = j->self->params.scale;
    return j->model->ops->score_few != NULL &&
           (scale == ACQ_SCALE_SIGMOID || scale == ACQ_SCALE_LOGISTIC);
}

static acq_status open_worker(const job *j, worker *w)
{
    size_t n_rows = is_sparse(j) ? 1 : get_batch(j->model);
    acq_free(w->scores);
    acq_free(w->row);
    w->scores = acq_alloc(j->n_entities * n_rows, sizeof *w->scores);
    w->row = acq_alloc(j->n_entities, sizeof *w->row);
    if (w->scores == NULL || w->row == NULL)
        return acq_fail_memory(&w->error);
    return j->model->ops->open_scratch(j->model, &w->scratch, &w->error);
}

/* Best first, then by tail. */
static int compare_scores(const void *a, const void *b)
{
    const acq_link *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->tail > y->tail) - (x->tail < y->tail);
}

static int compare_tails(const void *a, const void *b)
{
    const acq_link *x = a, *y = b;
    return (x->tail > y->tail) - (x->tail < y->tail);
}

static bool may_propose(const job *j, acq_row observed, acq_ent tail)
{
    bool must_be_seen = observed.n == 0 || j->self->params.tails == ACQ_TAILS_SEEN;
    return !must_be_seen || acq_links_find(j->inverse, tail) != ACQ_NO_ID;
}

static bool is_chosen(const job *j, acq_row observed, acq_ent tail, float score)
{
    return (double)score >= j->self->params.limits.floor && score > 0.0F &&
           may_propose(j, observed, tail);
}

/* The first of n links that are kept, at most `top` and as many as are observed. */
static size_t cut(const job *j, acq_row observed, acq_link *links, size_t n)
{
    uint32_t top = j->self->params.top;
    if (top == 0 || n <= top + observed.n)
        return n;
    qsort(links, n, sizeof *links, compare_scores);
    n = top + observed.n;
    qsort(links, n, sizeof *links, compare_tails);
    return n;
}

/* The unobserved tails of one row that reach the floor. */
static size_t choose(const job *j, acq_ent head, acq_row observed, const float *scores,
                     acq_link *out)
{
    size_t n = 0, next = 0;
    for (acq_ent tail = 0; tail < j->n_entities; tail++) {
        bool is_observed = next < observed.n && observed.tails[next] == tail;
        next += is_observed;
        if (!is_observed && is_chosen(j, observed, tail, scores[tail]))
            out[n++] = (acq_link){.head = head, .tail = tail, .score = scores[tail]};
    }
    return cut(j, observed, out, n);
}

/* By tools/fit_near_scale, of CoDEx-M and WN18RR: a constant, the log of a tail's share of the
 * row's softmax times observed tails + 1, how far that is past -1, the score, log(1 + rank), log(1
 * + observed tails). p rises with the score. */
static const double logistic[] = {0.9010, 1.6559, -0.8982, -0.3803, -0.1062, -0.0582};

enum { LOGISTIC_TAILS = 20, PROPOSED = 8 };

/* Unobserved tails of a row about n_few entities, in the order of their raw scores. */
static size_t list_few(acq_ent head, acq_row observed, const worker *w, size_t n_few, acq_link *out)
{
    size_t n = 0;
    for (size_t i = 0; i < n_few; i++)
        if (acq_row_find(observed, w->few[i]) == observed.n)
            out[n++] = (acq_link){.head = head, .tail = w->few[i], .score = w->scores[w->few[i]]};
    if (n > 0)
        qsort(out, n, sizeof *out, compare_scores);
    return n;
}

static double find_log_sum(const worker *w, size_t n_few)
{
    double most = (double)w->scores[w->few[0]], sum = 0;
    for (size_t i = 1; i < n_few; i++)
        most = fmax(most, (double)w->scores[w->few[i]]);
    for (size_t i = 0; i < n_few; i++)
        sum += exp((double)w->scores[w->few[i]] - most);
    return most + log(sum);
}

static size_t choose_likely(const job *j, acq_ent head, acq_row observed, const worker *w,
                            size_t n_few, acq_link *out)
{
    size_t n_open = list_few(head, observed, w, n_few, out), n = 0;
    double log_sum = n_few == 0 ? 0 : find_log_sum(w, n_few), seen = log1p((double)observed.n);
    for (size_t i = 0; i < n_open && i < LOGISTIC_TAILS; i++) {
        double score = (double)out[i].score, share = score - log_sum + seen;
        double x = logistic[0] + logistic[1] * share + logistic[2] * fmax(0, share + 1) +
                   logistic[3] * score + logistic[4] * log1p((double)i) + logistic[5] * seen;
        float p = (float)(1 / (1 + exp(-x)));
        if (is_chosen(j, observed, out[i].tail, p))
            out[n++] = (acq_link){.head = head, .tail = out[i].tail, .score = p};
    }
    if (n > 0)
        qsort(out, n, sizeof *out, compare_tails);
    return n;
}

static size_t propose(acq_ent head, acq_row observed, const worker *w, size_t n_few, acq_link *out)
{
    size_t n = list_few(head, observed, w, n_few, out);
    return n < PROPOSED ? n : PROPOSED;
}

/* The same of a row about n entities, sorted, whose scores are not scaled yet. */
static size_t choose_few(const job *j, acq_ent head, acq_row observed, const worker *w,
                         size_t n_few, acq_link *out)
{
    size_t n = 0;
    for (size_t i = 0; i < n_few; i++) {
        acq_ent tail = w->few[i];
        float score = w->scores[tail];
        apply_sigmoid(&score, 1);
        if (is_chosen(j, observed, tail, score) && acq_row_find(observed, tail) == observed.n)
            out[n++] = (acq_link){.head = head, .tail = tail, .score = score};
    }
    return cut(j, observed, out, n);
}

/* The n links in w->row. */
static acq_status keep_links(job *j, worker *w, size_t n, acq_link_list *out)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status =
            acq_link_list_add(out, w->row[i].head, w->row[i].tail, acq_row_clip(w->row[i].score));
    if (status != ACQ_OK)
        return acq_fail_memory(&w->error);
    size_t most = j->self->params.limits.memory_bytes;
    size_t n_links = atomic_fetch_add(&j->n_links, n) + n;
    if (most > 0 && n_links > most / sizeof(acq_link))
        return acq_fail(&w->error, ACQ_ERR_MEMORY,
                        "the predicted links of %.200s take more than %zu MB; write them to a file "
                        "with anycq complete, or raise --memory",
                        acq_graph_get_relation_name(j->self->graph, j->relation), most >> 20);
    return ACQ_OK;
}

static acq_status fail_not_finite(const job *j, worker *w)
{
    return acq_fail(&w->error, ACQ_ERR_INPUT,
                    "the %s model gives scores that are not finite; train it anew", j->model->kind);
}

static acq_status keep_row(job *j, worker *w, acq_ent head, float *scores, acq_link_list *out)
{
    acq_row observed = acq_links_get_row(j->observed, head);
    if (!is_finite(scores, j->n_entities)) /* nothing is proved by it */
        return fail_not_finite(j, w);
    apply_scale(j->self->params.scale, observed, scores, j->n_entities);
    return keep_links(j, w, choose(j, head, observed, scores, w->row), out);
}

static int compare_entities(const void *a, const void *b)
{
    acq_ent x = *(const acq_ent *)a, y = *(const acq_ent *)b;
    return (x > y) - (x < y);
}

/* At the cost of what the row says. */
static acq_status score_few(job *j, worker *w, acq_ent head, acq_link_list *out)
{
    const acq_ent *few = NULL;
    size_t n = 0;
    acq_status status = j->model->ops->score_few(j->model, w->scratch, j->relation, head, w->scores,
                                                 &few, &n, &w->error);
    if (status != ACQ_OK)
        return status;
    if (ACQ_RESERVE(w->few, w->few_room, n) != ACQ_OK)
        return acq_fail_memory(&w->error);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(w->scores[few[i]]))
            return fail_not_finite(j, w);
        w->few[i] = few[i];
    }
    if (n > 0)
        qsort(w->few, n, sizeof *w->few, compare_entities);
    acq_row observed = acq_links_get_row(j->observed, head);
    status = acq_stop_check(j->stop, &w->error);
    if (status != ACQ_OK)
        return status;
    if (j->proposes)
        n = propose(head, observed, w, n, w->row);
    else if (j->self->params.scale == ACQ_SCALE_LOGISTIC)
        n = choose_likely(j, head, observed, w, n, w->row);
    else
        n = choose_few(j, head, observed, w, n, w->row);
    return keep_links(j, w, n, out);
}

static acq_status score_block(void *context, size_t item, unsigned thread)
{
    job *j = context;
    worker *w = &j->workers[thread];
    size_t first = item * j->batch, n = j->n_heads - first;
    n = n < j->batch ? n : j->batch;
    acq_status status = w->scratch == NULL ? open_worker(j, w) : ACQ_OK;
    acq_row_request request = {.relation = j->relation,
                               .heads = j->heads + first,
                               .n_heads = n,
                               .n_tails = j->n_entities,
                               .out = w->scores,
                               .stop = j->stop};
    for (size_t i = 0; i < n && status == ACQ_OK && is_sparse(j); i++)
        status = score_few(j, w, j->heads[first + i], &j->blocks[item]);
    if (status != ACQ_OK || is_sparse(j))
        return status;
    status = j->model->ops->score(j->model, w->scratch, &request, &w->error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status =
            keep_row(j, w, j->heads[first + i], w->scores + i * j->n_entities, &j->blocks[item]);
    return status;
}

static acq_status join(const job *j, acq_link_list *out)
{
    size_t n = out->n;
    for (size_t b = 0; b < j->n_blocks; b++)
        n += j->blocks[b].n;
    acq_status status = ACQ_RESERVE(out->links, out->capacity, n);
    for (size_t b = 0; b < j->n_blocks && status == ACQ_OK; b++) {
        for (size_t i = 0; i < j->blocks[b].n; i++)
            out->links[out->n++] = j->blocks[b].links[i];
    }
    return status;
}

/* The model and the workers, once. */
static acq_status load(published *self, acq_error *error)
{
    acq_published_params *params = &self->params;
    if (self->workers != NULL)
        return ACQ_OK;
    acq_status status =
        params->load == NULL ? ACQ_OK : params->load(params->owned, &params->model, error);
    if (status != ACQ_OK)
        return status;
    self->workers = acq_zalloc(self->n_workers, sizeof *self->workers);
    return self->workers == NULL ? acq_fail_memory(error) : ACQ_OK;
}

static acq_status start_job(job *j, published *self, acq_rel relation, acq_error *error)
{
    acq_status status = load(self, error);
    *j = (job){.self = self,
               .model = self->params.model,
               .relation = relation,
               .n_entities = acq_graph_get_n_entities(self->graph),
               .workers = self->workers,
               .n_workers = self->n_workers};
    if (status == ACQ_OK)
        status = acq_graph_open_links(self->graph, relation, &j->observed, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(self->graph, acq_inverse(relation), &j->inverse, error);
    return status;
}

static acq_status run_job(job *j, acq_link_list *out, acq_error *error)
{
    size_t share = (j->n_heads + j->n_workers - 1) / j->n_workers, batch = get_batch(j->model);
    j->batch = share > 0 && share < batch ? share : batch;
    j->n_blocks = (j->n_heads + j->batch - 1) / j->batch;
    j->blocks = acq_zalloc(j->n_blocks, sizeof *j->blocks);
    if (j->blocks == NULL)
        return acq_fail_memory(error);
    for (unsigned i = 0; i < j->n_workers; i++)
        j->workers[i].error = (acq_error){0};
    acq_status status = acq_threads_run(j->n_workers, j->n_blocks, score_block, j);
    for (unsigned i = 0; i < j->n_workers && status != ACQ_OK; i++) {
        if (j->workers[i].error.code == status)
            return acq_fail(error, status, "%s", j->workers[i].error.message);
    }
    if (status == ACQ_OK)
        status = join(j, out);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

static void end_job(job *j)
{
    for (size_t b = 0; j->blocks != NULL && b < j->n_blocks; b++)
        acq_link_list_deinit(&j->blocks[b]);
    acq_free(j->blocks);
}

static acq_status find_some(acq_row_scorer *base, const acq_row_want *want, bool proposes,
                            acq_link_list *out, acq_error *error)
{
    job j;
    acq_status status = start_job(&j, (published *)base, want->relation, error);
    j.proposes = proposes;
    j.heads = want->heads;
    j.n_heads = want->n;
    j.stop = want->stop;
    if (status == ACQ_OK)
        status = run_job(&j, out, error);
    end_job(&j);
    return status;
}

static acq_status find_rows(acq_row_scorer *base, const acq_row_want *want, acq_link_list *out,
                            acq_error *error)
{
    return find_some(base, want, false, out, error);
}

/* All rows of the heads that the relation is seen with. */
static acq_status find_side(published *self, acq_rel relation, acq_link_list *out, acq_error *error)
{
    const acq_links *observed = NULL;
    acq_status status = acq_graph_open_links(self->graph, relation, &observed, error);
    if (status != ACQ_OK)
        return status;
    acq_row_want want = {.relation = relation, .heads = observed->heads, .n = observed->n_heads};
    return find_rows(&self->base, &want, out, error);
}

static acq_status has_fewer_heads(const published *self, acq_rel relation, bool *out,
                                  acq_error *error)
{
    const acq_links *on = NULL, *back = NULL;
    acq_status status = acq_graph_open_links(self->graph, relation, &on, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(self->graph, acq_inverse(relation), &back, error);
    *out = status == ACQ_OK && on->n_heads <= back->n_heads;
    return status;
}

static acq_status find_links(acq_row_scorer *base, acq_rel relation, acq_link_list *out,
                             acq_error *error)
{
    published *self = (published *)base;
    bool is_forward = self->params.direction == ACQ_DIRECTION_FORWARD;
    bool is_smaller = self->params.rows == ACQ_ROWS_SMALLER && !is_forward;
    bool has_fewer = true;
    acq_status status = is_smaller ? has_fewer_heads(self, relation, &has_fewer, error) : ACQ_OK;
    if (status == ACQ_OK && (!is_smaller || has_fewer))
        status = find_side(self, relation, out, error);
    size_t n = out->n;
    if (status == ACQ_OK && !is_forward && (!is_smaller || !has_fewer))
        status = find_side(self, acq_inverse(relation), out, error);
    acq_link_list_turn(out, n);
    return status;
}

/* ---- probabilities: rows of one side ---- */

static acq_status find_larger(const published *self, acq_rel relation, acq_rel *out,
                              acq_error *error)
{
    bool has_fewer;
    acq_rel even = relation & ~1U;
    acq_status status = has_fewer_heads(self, acq_inverse(even), &has_fewer, error);
    *out = has_fewer ? even : acq_inverse(even);
    return status;
}

/* The links of one entity from their other end: what the rows of proposed heads say of it. */
static acq_status find_back(acq_row_scorer *base, const acq_row_want *want, size_t i,
                            acq_link_list *out, acq_error *error)
{
    acq_link_list proposed = {0}, found = {0};
    size_t before = out->n;
    acq_ent heads[PROPOSED];
    acq_row_want asked = *want, rows = *want;
    asked.heads = want->heads + i;
    asked.n = 1;
    acq_status status = find_some(base, &asked, true, &proposed, error);
    for (size_t k = 0; k < proposed.n && status == ACQ_OK; k++)
        heads[k] = proposed.links[k].tail;
    rows.relation = acq_inverse(want->relation);
    rows.heads = heads;
    rows.n = proposed.n;
    if (status == ACQ_OK)
        status = find_some(base, &rows, false, &found, error);
    for (size_t k = 0; k < found.n && status == ACQ_OK; k++)
        if (found.links[k].tail == want->heads[i] &&
            acq_link_list_add(out, want->heads[i], found.links[k].head, found.links[k].score) !=
                ACQ_OK)
            status = acq_fail_memory(error);
    if (out->n > before)
        qsort(out->links + before, out->n - before, sizeof *out->links, compare_tails);
    acq_link_list_deinit(&proposed);
    acq_link_list_deinit(&found);
    return status;
}

static acq_status find_likely_rows(acq_row_scorer *base, const acq_row_want *want,
                                   acq_link_list *out, acq_error *error)
{
    acq_rel side;
    acq_status status = find_larger((const published *)base, want->relation, &side, error);
    if (status == ACQ_OK && side == want->relation)
        return find_some(base, want, false, out, error);
    for (size_t i = 0; i < want->n && status == ACQ_OK; i++)
        status = find_back(base, want, i, out, error);
    return status;
}

static acq_status find_likely_links(acq_row_scorer *base, acq_rel relation, acq_link_list *out,
                                    acq_error *error)
{
    acq_rel side;
    size_t before = out->n;
    acq_status status = find_larger((const published *)base, relation, &side, error);
    if (status == ACQ_OK)
        status = find_side((published *)base, side, out, error);
    if (side != relation)
        acq_link_list_turn(out, before);
    return status;
}

/* ---- the scorer ---- */

static acq_status load_first(acq_row_scorer *base, acq_stop stop, acq_error *error)
{
    acq_status status = acq_stop_check(stop, error);
    return status == ACQ_OK ? load((published *)base, error) : status;
}

static void free_published(acq_row_scorer *base)
{
    published *self = (published *)base;
    const acq_row_model *model = self->params.model;
    for (unsigned i = 0; self->workers != NULL && i < self->n_workers; i++) {
        model->ops->free_scratch(model, self->workers[i].scratch);
        acq_free(self->workers[i].scores);
        acq_free(self->workers[i].row);
        acq_free(self->workers[i].few);
    }
    acq_free(self->workers);
    if (self->params.free_owned != NULL)
        self->params.free_owned(self->params.owned);
    acq_free(self);
}

static acq_status open_model(acq_row_scorer *base, const acq_row_model **out, acq_error *error)
{
    published *self = (published *)base;
    acq_status status = load(self, error);
    *out = self->params.model;
    return status;
}

acq_status acq_predictor_new_published(const acq_graph *graph, const char *name,
                                       const acq_published_params *params, acq_predictor **out,
                                       acq_error *error)
{
    static const acq_row_scorer_ops both = {.find_links = find_links,
                                            .find_rows = find_rows,
                                            .free = free_published,
                                            .open_model = open_model};
    /* One direction alone cannot be had from a row of the other. */
    static const acq_row_scorer_ops forward = {
        .find_links = find_links, .free = free_published, .open_model = open_model};
    static const acq_row_scorer_ops likely = {.load = load_first,
                                              .find_links = find_likely_links,
                                              .find_rows = find_likely_rows,
                                              .free = free_published,
                                              .open_model = open_model};
    published *self = acq_zalloc(1, sizeof *self);
    if (self == NULL) {
        if (params->free_owned != NULL)
            params->free_owned(params->owned);
        return acq_fail_memory(error);
    }
    *self = (published){.base.ops = params->scale == ACQ_SCALE_LOGISTIC          ? &likely
                                    : params->direction == ACQ_DIRECTION_FORWARD ? &forward
                                                                                 : &both,
                        .params = *params,
                        .graph = graph,
                        .n_workers = params->n_threads > 0 ? params->n_threads : 1};
    if (params->model == NULL && params->load == NULL) {
        free_published(&self->base);
        return acq_fail(error, ACQ_ERR_USAGE, "a published scale needs a model");
    }
    return acq_predictor_new_rows(graph, name, &self->base, &params->limits, out, error);
}
