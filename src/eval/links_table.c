/* links_table.c - see links_table.h. */
#include "eval/links_table.h"

/* The rows of one relation. */
typedef struct relation_rows {
    const acq_links *scored, *truth, *observed, *filter; /* filter may be NULL */
} relation_rows;

typedef struct share {
    uint64_t n, n_true;
} share;

typedef void (*candidate_fn)(void *context, double p, bool is_true);

static bool has(acq_row row, acq_ent tail)
{
    return acq_row_find(row, tail) < row.n;
}

static void visit_row(const relation_rows *rows, uint32_t i, candidate_fn visit, void *context)
{
    acq_ent head = rows->scored->heads[i];
    acq_row row = acq_links_get_row_at(rows->scored, i);
    acq_row truth = acq_links_get_row(rows->truth, head);
    acq_row observed = acq_links_get_row(rows->observed, head);
    acq_row filter = rows->filter == NULL ? (acq_row){0} : acq_links_get_row(rows->filter, head);
    for (size_t j = 0; j < row.n; j++) {
        double p = row.scores == NULL ? 1.0 : (double)row.scores[j];
        bool is_true = has(truth, row.tails[j]);
        if (p > 0 && !has(observed, row.tails[j]) && (is_true || !has(filter, row.tails[j])))
            visit(context, p, is_true);
    }
}

static void visit_all(const relation_rows *rows, candidate_fn visit, void *context)
{
    for (uint32_t i = 0; i < rows->scored->n_heads; i++)
        visit_row(rows, i, visit, context);
}

static void count_one(void *context, double p, bool is_true)
{
    share *all = context;
    (void)p;
    all->n++;
    all->n_true += is_true;
}

typedef struct judgement {
    acq_reliability *table;
    double base;
} judgement;

static void judge_one(void *context, double p, bool is_true)
{
    judgement *now = context;
    acq_reliability_add(now->table, p, is_true, 1.0, now->base);
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
    if (status == ACQ_OK && params->filter != NULL)
        status = acq_predictor_open_links(params->filter, relation, &out->filter, error);
    return status;
}

acq_status acq_links_table_fill(const acq_eval_links_params *params, acq_reliability *out,
                                acq_error *error)
{
    acq_rel n_relations = acq_graph_get_n_relations(params->predictor->graph);
    acq_reliability_init(out);
    for (acq_rel i = 0; i < n_relations; i += 2) {
        relation_rows rows;
        share all = {0};
        acq_status status = open_rows(params, i, &rows, error);
        if (status != ACQ_OK)
            return status;
        visit_all(&rows, count_one, &all);
        judgement now = {out, all.n == 0 ? 0.0 : (double)all.n_true / (double)all.n};
        visit_all(&rows, judge_one, &now);
    }
    return ACQ_OK;
}
