/* links.c - asks for the new links row by row and sums up their ranks; see links.h.
 *
 * A thread takes a few rows of one relation at a time: a row model is cheaper so, and its scores
 * of one row do not depend on the others. */
#include "eval/links.h"

#include <math.h>
#include <stdatomic.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/threads.h"
#include "eval/links_plan.h"
#include "eval/links_rank.h"
#include "eval/links_table.h"

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
    acq_link_rank *ranks; /* one per link */
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

static acq_status open_filter(const evaluation *run, const acq_triple *link, acq_rank_filter *out,
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
        *out = (acq_rank_filter){
            {acq_links_get_row(truth, link->head), acq_links_get_row(observed, link->head),
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
        acq_rank_filter filter;
        next = find_row_end(&run->plan, i, end);
        status = open_filter(run, links, &filter, &me->error);
        if (status == ACQ_OK)
            status = check_scores(run, links, scores, &me->error);
        if (status == ACQ_OK)
            acq_rank_dense(scores, run->n_entities, &filter, links, next - i, &run->ranks[i]);
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
        acq_rank_filter filter;
        next = find_row_end(&run->plan, i, end);
        status = open_filter(run, links, &filter, &me->error);
        if (status == ACQ_OK)
            acq_rank_sparse(acq_links_get_row(scored, links->head), run->n_entities, &filter, links,
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

static void sum_up(const evaluation *run, acq_eval_links_result *out)
{
    out->n_links = run->plan.n;
    for (size_t i = 0; i < run->plan.n; i++) {
        const acq_link_rank *one = &run->ranks[i];
        out->mrr += 1 / one->rank;
        out->hits1 += one->rank <= 1;
        out->hits3 += one->rank <= 3;
        out->hits10 += one->rank <= 10;
        out->n_ranked += one->is_known;
    }
    double n = (double)out->n_links;
    out->mrr /= n;
    out->hits1 /= n;
    out->hits3 /= n;
    out->hits10 /= n;
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
    run->ranks = acq_alloc(run->plan.n, sizeof *run->ranks);
    if (run->ranks == NULL)
        return acq_fail_memory(error);
    status = rank_all(run, error);
    if (status != ACQ_OK)
        return status;
    sum_up(run, out);
    out->has_table = params->with_table;
    return params->with_table ? acq_links_table_fill(params, &out->table, error) : ACQ_OK;
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
