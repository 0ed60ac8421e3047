/* links.c - asks for the new links row by row and sums up their ranks; see links.h.
 *
 * A thread takes a few rows of one relation at a time: a row model is cheaper so, and its scores
 * of one row do not depend on the others. */
#include "eval/eval.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "graph/build.h"

/* ---- the links that are asked for ---- */

/* The tails of one row of the truth that are not observed. */
static acq_status add_row(acq_links_plan *plan, acq_rel relation, acq_ent head, acq_row truth,
                          acq_row observed)
{
    size_t at = 0;
    for (size_t i = 0; i < truth.n; i++) {
        acq_ent tail = truth.tails[i];
        while (at < observed.n && observed.tails[at] < tail)
            at++;
        if (at < observed.n && observed.tails[at] == tail)
            continue;
        acq_status status = ACQ_RESERVE(plan->links, plan->room, plan->n + 1);
        if (status != ACQ_OK)
            return status;
        plan->links[plan->n++] = (acq_triple){head, relation, tail};
    }
    return ACQ_OK;
}

static acq_status add_relation(acq_links_plan *plan, const acq_predictor *truth, acq_rel relation,
                               acq_error *error)
{
    const acq_links *wanted, *observed;
    acq_status status = acq_predictor_open_links(truth, relation, &wanted, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(truth->graph, relation, &observed, error);
    if (status != ACQ_OK)
        return status;
    for (uint32_t i = 0; i < wanted->n_heads; i++) {
        acq_ent head = wanted->heads[i];
        acq_row row = acq_links_get_row_at(wanted, i);
        if (add_row(plan, relation, head, row, acq_links_get_row(observed, head)) != ACQ_OK)
            return acq_fail_memory(error);
    }
    return ACQ_OK;
}

static uint64_t hash_link(const acq_triple *link)
{
    uint64_t hash = acq_random_mix(link->relation);
    return acq_random_mix(acq_random_mix(hash ^ link->head) ^ link->tail);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Keeps the links with the `first` smallest hashes, in their order. Equal hashes at the end: those
 * that come first. */
acq_status acq_links_plan_draw(acq_links_plan *plan, size_t first, acq_error *error)
{
    uint64_t *hashes = acq_alloc(plan->n, sizeof *hashes);
    if (hashes == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < plan->n; i++)
        hashes[i] = hash_link(&plan->links[i]);
    qsort(hashes, plan->n, sizeof *hashes, compare_hashes);
    uint64_t last = hashes[first - 1];
    size_t n = 0;
    for (size_t i = 0; i < plan->n && n < first; i++) {
        if (hash_link(&plan->links[i]) <= last)
            plan->links[n++] = plan->links[i];
    }
    plan->n = n;
    acq_free(hashes);
    return ACQ_OK;
}

static acq_status cut(acq_links_plan *plan, size_t most_rows, acq_error *error)
{
    plan->items = acq_alloc(plan->n + 1, sizeof *plan->items);
    if (plan->items == NULL)
        return acq_fail_memory(error);
    size_t n_rows = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const acq_triple *link = &plan->links[i], *before = i == 0 ? NULL : link - 1;
        bool is_new = before == NULL || before->relation != link->relation;
        if (!is_new && before->head == link->head)
            continue;
        if (is_new || n_rows == most_rows) {
            plan->items[plan->n_items++] = i;
            n_rows = 0;
        }
        n_rows++;
    }
    plan->items[plan->n_items] = plan->n;
    return ACQ_OK;
}

acq_status acq_links_plan_init(acq_links_plan *plan, const acq_predictor *truth, uint64_t first,
                               size_t most_rows, acq_error *error)
{
    *plan = (acq_links_plan){0};
    acq_status status = ACQ_OK;
    acq_rel n_relations = acq_graph_get_n_relations(truth->graph);
    for (acq_rel i = 0; i < n_relations && status == ACQ_OK; i++)
        status = add_relation(plan, truth, i, error);
    if (status == ACQ_OK && first > 0 && first < plan->n)
        status = acq_links_plan_draw(plan, (size_t)first, error);
    return status == ACQ_OK ? cut(plan, most_rows, error) : status;
}

void acq_links_plan_deinit(acq_links_plan *plan)
{
    acq_free(plan->links);
    acq_free(plan->items);
    *plan = (acq_links_plan){0};
}

/* ---- the rank of true tails in one row of scores ---- */

/* What is left out of a ranking: what is true, observed, or known to hold besides. Sorted rows that
 * may share tails. */
enum { RANK_FILTERS = 3 };
typedef struct rank_filter {
    acq_row rows[RANK_FILTERS];
} rank_filter;

typedef struct link_rank {
    double rank;   /* from 1 */
    bool is_known; /* the predictor has a score for it */
} link_rank;

typedef struct standing {
    size_t better, equal;
} standing;

static standing count_scores(const float *scores, size_t n, float score)
{
    standing result = {0};
    for (size_t i = 0; i < n; i++) {
        result.better += scores[i] > score;
        result.equal += scores[i] == score;
    }
    return result;
}

/* The mean of the ranks before and after all equals. */
static double get_rank(standing place)
{
    return 1.0 + (double)place.better + (double)place.equal / 2;
}

static void forget(float *scores, acq_row row)
{
    for (size_t i = 0; i < row.n; i++)
        scores[row.tails[i]] = -INFINITY;
}

/* links: n of one row, their tails all filtered. scores: one per entity, finite; the filtered
 * ones are lost. O(entities) for each link. */
static void rank_dense(float *scores, size_t n_entities, const rank_filter *filter,
                       const acq_triple *links, size_t n, link_rank *out)
{
    for (size_t i = 0; i < n; i++)
        out[i].rank = (double)scores[links[i].tail];
    for (size_t i = 0; i < RANK_FILTERS; i++)
        forget(scores, filter->rows[i]);
    for (size_t i = 0; i < n; i++) {
        standing place = count_scores(scores, n_entities, (float)out[i].rank);
        out[i] = (link_rank){.rank = get_rank(place), .is_known = true};
    }
}

/* By one of the first n rows. */
static bool is_filtered(const rank_filter *filter, size_t n, acq_ent tail)
{
    for (size_t i = 0; i < n; i++)
        if (acq_row_find(filter->rows[i], tail) < filter->rows[i].n)
            return true;
    return false;
}

static size_t count_filtered(const rank_filter *filter)
{
    size_t n = 0;
    for (size_t i = 0; i < RANK_FILTERS; i++)
        for (size_t j = 0; j < filter->rows[i].n; j++)
            n += !is_filtered(filter, i, filter->rows[i].tails[j]);
    return n;
}

static float get_score(acq_row row, size_t i)
{
    return row.scores == NULL ? 1.0F : row.scores[i];
}

static size_t keep(acq_row row, const rank_filter *filter, float *kept)
{
    size_t n = 0;
    for (size_t i = 0; i < row.n; i++) {
        float score = get_score(row, i);
        if (score > 0 && !is_filtered(filter, RANK_FILTERS, row.tails[i]))
            kept[n++] = score;
    }
    return n;
}

/* row: what the predictor scores. kept: room for row.n floats. */
static void rank_sparse(acq_row row, size_t n_entities, const rank_filter *filter,
                        const acq_triple *links, size_t n, float *kept, link_rank *out)
{
    size_t n_kept = keep(row, filter, kept);
    standing last = {.better = n_kept, .equal = n_entities - count_filtered(filter) - n_kept};
    for (size_t i = 0; i < n; i++) {
        size_t at = acq_row_find(row, links[i].tail);
        float score = at < row.n ? get_score(row, at) : 0.0F;
        bool is_known = score > 0;
        standing place = is_known ? count_scores(kept, n_kept, score) : last;
        out[i] = (link_rank){.rank = get_rank(place), .is_known = is_known};
    }
}

/* ---- scores judged as probabilities ----
 *
 * Candidates: every link above 0 that is not observed, one direction of each. A candidate is true
 * when `truth` has it; one that only `filter` has is none. It is compared with the true share of
 * its relation's candidates, the best that one number per relation can do. */

/* The rows of one relation. */
typedef struct relation_rows {
    const acq_links *scored, *truth, *observed, *filter; /* filter may be NULL */
    const acq_links *inverse;                            /* observed, of the inverse relation */
} relation_rows;

typedef struct share {
    uint64_t n, n_true;
} share;

typedef struct candidate {
    double p;
    bool is_true;
    size_t of_case;
} candidate;

typedef void (*candidate_fn)(void *context, const candidate *one);

static bool has(acq_row row, acq_ent tail)
{
    return acq_row_find(row, tail) < row.n;
}

/* What the observed facts of a relation, and of its inverse, show of a head and a tail. */
static size_t find_case(const acq_links *observed, const acq_links *inverse, acq_ent head,
                        acq_ent tail)
{
    return (acq_links_get_row(observed, head).n > 0 ? ACQ_LINKS_HEAD_SEEN : 0) +
           (acq_links_get_row(inverse, tail).n > 0 ? ACQ_LINKS_TAIL_SEEN : 0);
}

static void visit_row(const relation_rows *rows, uint32_t i, candidate_fn visit, void *context)
{
    acq_ent head = rows->scored->heads[i];
    acq_row row = acq_links_get_row_at(rows->scored, i);
    acq_row truth = acq_links_get_row(rows->truth, head);
    acq_row observed = acq_links_get_row(rows->observed, head);
    acq_row filter = rows->filter == NULL ? (acq_row){0} : acq_links_get_row(rows->filter, head);
    for (size_t j = 0; j < row.n; j++) {
        acq_ent tail = row.tails[j];
        candidate one = {(double)get_score(row, j), has(truth, tail), 0};
        if (one.p <= 0 || has(observed, tail) || (!one.is_true && has(filter, tail)))
            continue;
        one.of_case = find_case(rows->observed, rows->inverse, head, tail);
        visit(context, &one);
    }
}

static void visit_all(const relation_rows *rows, candidate_fn visit, void *context)
{
    for (uint32_t i = 0; i < rows->scored->n_heads; i++)
        visit_row(rows, i, visit, context);
}

static void count_one(void *context, const candidate *one)
{
    share *all = context;
    all->n++;
    all->n_true += one->is_true;
}

typedef struct judgement {
    acq_eval_links_result *out;
    double base;
} judgement;

static void judge_one(void *context, const candidate *one)
{
    judgement *now = context;
    acq_reliability *tables[] = {&now->out->table, &now->out->cases[one->of_case].table};
    for (size_t i = 0; i < 2; i++)
        acq_reliability_add(tables[i], one->p, one->is_true, 1.0, now->base);
}

static acq_status open_rows(const acq_eval_links_params *params, acq_rel relation,
                            relation_rows *out, acq_error *error)
{
    const acq_predictor *predictor = params->predictor;
    *out = (relation_rows){0};
    acq_status status = acq_predictor_open_links(predictor, relation, &out->scored, error);
    if (status == ACQ_OK)
        status = acq_predictor_open_links(params->truth, relation, &out->truth, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(predictor->graph, relation, &out->observed, error);
    if (status == ACQ_OK)
        status =
            acq_graph_open_links(predictor->graph, acq_inverse(relation), &out->inverse, error);
    if (status == ACQ_OK && params->filter != NULL)
        status = acq_predictor_open_links(params->filter, relation, &out->filter, error);
    return status;
}

/* The likeliest tail of a row that is not observed; ACQ_NO_ID: there is none. */
static acq_ent find_best(const relation_rows *rows, acq_ent head)
{
    acq_row row = acq_links_get_row(rows->scored, head);
    acq_row observed = acq_links_get_row(rows->observed, head);
    acq_ent best = ACQ_NO_ID;
    float most = 0;
    for (size_t j = 0; j < row.n; j++) {
        float p = get_score(row, j);
        if (p > most && !has(observed, row.tails[j])) {
            most = p;
            best = row.tails[j];
        }
    }
    return best;
}

/* True links that are the best of a row of theirs; not those that are so in `other` already. */
static uint64_t count_first(const relation_rows *rows, const relation_rows *other)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < rows->scored->n_heads; i++) {
        acq_ent head = rows->scored->heads[i], tail = find_best(rows, head);
        n += tail != ACQ_NO_ID && has(acq_links_get_row(rows->truth, head), tail) &&
             (other == NULL || find_best(other, tail) != head);
    }
    return n;
}

static acq_status fill_table(const acq_eval_links_params *params, acq_eval_links_result *out,
                             acq_error *error)
{
    acq_rel n_relations = acq_graph_get_n_relations(params->predictor->graph);
    acq_reliability_init(&out->table);
    for (size_t i = 0; i < ACQ_LINKS_CASES; i++)
        acq_reliability_init(&out->cases[i].table);
    for (acq_rel i = 0; i < n_relations; i += 2) {
        relation_rows rows, back;
        share all = {0};
        acq_status status = open_rows(params, i, &rows, error);
        if (status == ACQ_OK)
            status = open_rows(params, acq_inverse(i), &back, error);
        if (status != ACQ_OK)
            return status;
        visit_all(&rows, count_one, &all);
        judgement now = {out, all.n == 0 ? 0.0 : (double)all.n_true / (double)all.n};
        visit_all(&rows, judge_one, &now);
        out->n_first += count_first(&rows, NULL) + count_first(&back, &rows);
    }
    return ACQ_OK;
}

/* ---- the run ---- */

enum { SPARSE_ROWS = 64 }; /* of a piece of work where rows are only looked up */

typedef struct worker {
    void *scratch;  /* of the model */
    float *scores;  /* rows of all entities */
    acq_ent *heads; /* of these rows */
    acq_error error;
} worker;

typedef struct evaluation {
    const acq_eval_links_params *params;
    const acq_graph *graph;
    size_t n_entities, most_rows;
    unsigned n_threads;
    acq_links_plan plan;
    link_rank *ranks; /* one per link */
    worker *workers;
    atomic_size_t n_done;
} evaluation;

static acq_status worker_init(worker *one, const evaluation *run, acq_error *error)
{
    const acq_row_model *model = run->params->model;
    size_t n_rows = model == NULL ? 1 : run->most_rows;
    one->scores = acq_alloc(n_rows * run->n_entities, sizeof *one->scores);
    one->heads = acq_alloc(n_rows, sizeof *one->heads);
    if (one->scores == NULL || one->heads == NULL)
        return acq_fail_memory(error);
    return model == NULL ? ACQ_OK : model->ops->open_scratch(model, &one->scratch, error);
}

static void worker_deinit(worker *one, const acq_row_model *model)
{
    if (model != NULL)
        model->ops->free_scratch(model, one->scratch);
    acq_free(one->scores);
    acq_free(one->heads);
}

static acq_status open_workers(evaluation *run, acq_error *error)
{
    run->workers = acq_zalloc(run->n_threads, sizeof *run->workers);
    if (run->workers == NULL)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (unsigned i = 0; i < run->n_threads && status == ACQ_OK; i++)
        status = worker_init(&run->workers[i], run, error);
    return status;
}

static void close_workers(evaluation *run)
{
    for (unsigned i = 0; run->workers != NULL && i < run->n_threads; i++)
        worker_deinit(&run->workers[i], run->params->model);
    acq_free(run->workers);
}

/* Where the row that begins at link `from` ends. */
static size_t find_row_end(const acq_links_plan *plan, size_t from, size_t end)
{
    size_t i = from + 1;
    while (i < end && plan->links[i].head == plan->links[from].head)
        i++;
    return i;
}

static acq_status open_filter(const evaluation *run, const acq_triple *link, rank_filter *out,
                              acq_error *error)
{
    const acq_predictor *also = run->params->filter;
    const acq_links *truth, *observed, *others;
    acq_status status = acq_predictor_open_links(run->params->truth, link->relation, &truth, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(run->graph, link->relation, &observed, error);
    if (status == ACQ_OK && also != NULL)
        status = acq_predictor_open_links(also, link->relation, &others, error);
    if (status == ACQ_OK)
        *out = (rank_filter){{acq_links_get_row(truth, link->head),
                              acq_links_get_row(observed, link->head),
                              also == NULL ? (acq_row){0} : acq_links_get_row(others, link->head)}};
    return status;
}

static acq_status check_scores(const evaluation *run, const acq_triple *link, const float *scores,
                               acq_error *error)
{
    for (size_t i = 0; i < run->n_entities; i++) {
        if (!isfinite(scores[i]))
            return acq_fail(error, ACQ_ERR_INPUT,
                            "the model's score of %.100s for %.100s is not a finite number; its "
                            "weights are damaged or its training failed",
                            acq_graph_get_relation_name(run->graph, link->relation),
                            acq_graph_get_entity_name(run->graph, link->head));
    }
    return ACQ_OK;
}

static acq_status score_rows(const evaluation *run, worker *me, size_t begin, size_t end)
{
    const acq_row_model *model = run->params->model;
    acq_row_request request = {.relation = run->plan.links[begin].relation,
                               .heads = me->heads,
                               .n_tails = run->n_entities,
                               .out = me->scores};
    for (size_t i = begin; i < end; i = find_row_end(&run->plan, i, end))
        me->heads[request.n_heads++] = run->plan.links[i].head;
    return model->ops->score(model, me->scratch, &request, &me->error);
}

static acq_status rank_by_model(const evaluation *run, worker *me, size_t begin, size_t end)
{
    acq_status status = score_rows(run, me, begin, end);
    float *scores = me->scores;
    for (size_t i = begin, next; i < end && status == ACQ_OK; i = next) {
        const acq_triple *links = &run->plan.links[i];
        rank_filter filter;
        next = find_row_end(&run->plan, i, end);
        status = open_filter(run, links, &filter, &me->error);
        if (status == ACQ_OK)
            status = check_scores(run, links, scores, &me->error);
        if (status == ACQ_OK)
            rank_dense(scores, run->n_entities, &filter, links, next - i, &run->ranks[i]);
        scores += run->n_entities;
    }
    return status;
}

static acq_status rank_by_predictor(const evaluation *run, worker *me, size_t begin, size_t end)
{
    const acq_links *scored;
    acq_rel relation = run->plan.links[begin].relation;
    acq_status status =
        acq_predictor_open_links(run->params->predictor, relation, &scored, &me->error);
    for (size_t i = begin, next; i < end && status == ACQ_OK; i = next) {
        const acq_triple *links = &run->plan.links[i];
        rank_filter filter;
        next = find_row_end(&run->plan, i, end);
        status = open_filter(run, links, &filter, &me->error);
        if (status == ACQ_OK)
            rank_sparse(acq_links_get_row(scored, links->head), run->n_entities, &filter, links,
                        next - i, me->scores, &run->ranks[i]);
    }
    return status;
}

static acq_status rank_item(void *context, size_t item, unsigned thread)
{
    evaluation *run = context;
    const acq_eval_links_params *params = run->params;
    worker *me = &run->workers[thread];
    size_t begin = run->plan.items[item], end = run->plan.items[item + 1];
    if (acq_ranks_is_others(params->ranks, item))
        return ACQ_OK;
    acq_status status = params->model != NULL ? rank_by_model(run, me, begin, end)
                                              : rank_by_predictor(run, me, begin, end);
    size_t done = atomic_fetch_add(&run->n_done, end - begin) + end - begin;
    if (status != ACQ_OK || thread != 0 || params->progress == NULL)
        return status;
    if (params->progress(params->context, (double)done / (double)run->plan.n))
        return ACQ_OK;
    return acq_fail(&me->error, ACQ_ERR_INTERRUPTED, "interrupted");
}

static acq_status rank_all(evaluation *run, acq_error *error)
{
    acq_status status = acq_threads_run(run->n_threads, run->plan.n_items, rank_item, run);
    for (unsigned i = 0; i < run->n_threads; i++) {
        if (error != NULL && error->code == ACQ_OK && run->workers[i].error.code == status)
            *error = run->workers[i].error;
    }
    return status;
}

static void add_rank(const link_rank *one, acq_links_case *sums)
{
    sums->n_links++;
    sums->n_ranked += one->is_known;
    sums->mrr += 1 / one->rank;
    sums->hits1 += one->rank <= 1;
    sums->hits3 += one->rank <= 3;
    sums->hits10 += one->rank <= 10;
}

static void take_means(acq_links_case *sums)
{
    double n = sums->n_links == 0 ? 1 : (double)sums->n_links;
    sums->mrr /= n;
    sums->hits1 /= n;
    sums->hits3 /= n;
    sums->hits10 /= n;
}

static acq_status sum_up(const evaluation *run, acq_eval_links_result *out, acq_error *error)
{
    acq_links_case all = {0};
    for (size_t i = 0; i < run->plan.n; i++) {
        const acq_triple *link = &run->plan.links[i];
        const acq_links *observed, *inverse;
        acq_status status = acq_graph_open_links(run->graph, link->relation, &observed, error);
        if (status == ACQ_OK)
            status = acq_graph_open_links(run->graph, acq_inverse(link->relation), &inverse, error);
        if (status != ACQ_OK)
            return status;
        add_rank(&run->ranks[i], &all);
        add_rank(&run->ranks[i], &out->cases[find_case(observed, inverse, link->head, link->tail)]);
    }
    take_means(&all);
    for (size_t i = 0; i < ACQ_LINKS_CASES; i++)
        take_means(&out->cases[i]);
    out->n_links = all.n_links;
    out->n_ranked = all.n_ranked;
    out->mrr = all.mrr;
    out->hits1 = all.hits1;
    out->hits3 = all.hits3;
    out->hits10 = all.hits10;
    return ACQ_OK;
}

static acq_status evaluate(evaluation *run, acq_eval_links_result *out, acq_error *error)
{
    const acq_eval_links_params *params = run->params;
    acq_status status =
        acq_links_plan_init(&run->plan, params->truth, params->first, run->most_rows, error);
    if (status == ACQ_OK && run->plan.n == 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the truth has no link that the observed graph lacks: nothing to predict");
    if (status == ACQ_OK)
        status = open_workers(run, error);
    if (status != ACQ_OK)
        return status;
    run->ranks = acq_zalloc(run->plan.n, sizeof *run->ranks);
    if (run->ranks == NULL)
        return acq_fail_memory(error);
    status = rank_all(run, error);
    if (status == ACQ_OK)
        status = acq_ranks_join(params->ranks, run->ranks, run->plan.n, sizeof *run->ranks, error);
    if (status != ACQ_OK)
        return status;
    status = sum_up(run, out, error);
    out->has_table = params->with_table;
    return status == ACQ_OK && params->with_table ? fill_table(params, out, error) : status;
}

acq_status acq_eval_links(const acq_eval_links_params *params, acq_eval_links_result *out,
                          acq_error *error)
{
    const acq_graph *graph = params->truth->graph;
    int64_t begin = acq_clock_ns();
    evaluation run = {.params = params,
                      .graph = graph,
                      .n_entities = acq_graph_get_n_entities(graph),
                      .most_rows = params->model == NULL ? SPARSE_ROWS : params->model->batch,
                      .n_threads = params->n_threads > 0 ? params->n_threads : 1};
    acq_eval_links_result result = {0};
    acq_status status = evaluate(&run, &result, error);
    result.seconds = (double)(acq_clock_ns() - begin) * 1e-9;
    if (status == ACQ_OK)
        *out = result;
    close_workers(&run);
    acq_free(run.ranks);
    acq_links_plan_deinit(&run.plan);
    return status;
}
