/* lift.c - see lift.h. */
#include "calibrate/lift.h"

#include <math.h>

static const double LEAST_EXPECTED = 1e-6, LEAST_SCORE = 1e-6;

/* One row that the link is in. */
typedef struct beside {
    double log_mean; /* of the unobserved tails' scores, over all tails */
    double log_facts;
} beside;

/* The sum of the scores that are not facts. */
static double find_expected(acq_row row)
{
    double sum = 0;
    for (size_t i = 0; row.scores != NULL && i < row.n; i++)
        sum += row.scores[i] < 1.0F ? (double)row.scores[i] : 0.0;
    return sum > LEAST_EXPECTED ? sum : LEAST_EXPECTED;
}

static acq_status look_beside(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                              beside *out, acq_error *error)
{
    const acq_links *scored, *facts, *tails;
    acq_status status = acq_predictor_open_links(predictor, relation, &scored, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(predictor->graph, relation, &facts, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(predictor->graph, acq_inverse(relation), &tails, error);
    if (status != ACQ_OK)
        return status;
    double expected = find_expected(acq_links_get_row(scored, head));
    size_t n_facts = acq_links_get_row(facts, head).n;
    if (n_facts == 0)
        expected = fmax(expected, 1.0);
    *out = (beside){.log_mean = log(expected / ((double)tails->n_heads + 1.0)),
                    .log_facts = log(fmax(1.0, (double)n_facts))};
    return ACQ_OK;
}

acq_status acq_lift_find(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                         acq_ent tail, double score, acq_lift *out, acq_error *error)
{
    beside row, back;
    acq_status status = look_beside(predictor, head, relation, &row, error);
    if (status == ACQ_OK)
        status = look_beside(predictor, tail, acq_inverse(relation), &back, error);
    if (status == ACQ_OK)
        *out = (acq_lift){.log_lift =
                              log(fmax(score, LEAST_SCORE)) - fmax(row.log_mean, back.log_mean),
                          .row_facts = row.log_facts,
                          .back_facts = back.log_facts};
    return status;
}
