/* rows.c - links whose scores are the calibrator's probabilities: candidates and their
 * features from evidence.h, odds from the boosted trees. */
#include <stdint.h>

#include "base/memory.h"
#include "predict/row_predictor_parts.h"

/* Candidates that reach the floor. With a head that the relation is not seen with, the tail must
 * be: at least one side of a link is. */
static acq_status keep(const acq_row_predictor *self, const acq_candidates *candidates,
                       const float *odds, bool turned, acq_link_list *out, acq_error *error)
{
    const acq_links *heads = NULL, *tails = NULL;
    acq_rel relation = candidates->relation;
    acq_status status = acq_graph_open_links(self->base.graph, relation, &heads, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(self->base.graph, acq_inverse(relation), &tails, error);
    for (size_t i = 0; i < candidates->n && status == ACQ_OK; i++) {
        acq_ent head = candidates->heads[i], tail = candidates->tails[i];
        double p = acq_boost_to_probability((double)odds[i]);
        if (!(p >= self->params.floor) ||
            (acq_links_find(heads, head) == ACQ_NO_ID && acq_links_find(tails, tail) == ACQ_NO_ID))
            continue;
        if (acq_link_list_add(out, turned ? tail : head, turned ? head : tail,
                              acq_row_clip((float)p)) != ACQ_OK)
            status = acq_fail_memory(error);
    }
    return status;
}

static acq_status score(const acq_row_predictor *self, const acq_candidates *candidates,
                        bool turned, acq_link_list *out, acq_error *error)
{
    float *odds = acq_alloc(candidates->n, sizeof *odds);
    if (odds == NULL)
        return acq_fail_memory(error);
    acq_boost_score_many(self->params.calibrator->link, candidates->features, candidates->n, odds);
    acq_status status = keep(self, candidates, odds, turned, out, error);
    acq_free(odds);
    return status;
}

acq_status acq_calibrated_find_links(acq_row_predictor *self, acq_rel relation, acq_link_list *out,
                                     acq_error *error)
{
    acq_candidates candidates;
    acq_status status = acq_evidence_collect(self->maker, relation, &candidates, error);
    if (status == ACQ_OK)
        status = score(self, &candidates, candidates.relation != relation, out, error);
    acq_candidates_deinit(&candidates);
    return status;
}

acq_status acq_calibrated_find_rows(acq_row_predictor *self, acq_rel relation, const acq_ent *heads,
                                    size_t n, acq_link_list *out, acq_error *error)
{
    acq_candidates candidates;
    acq_status status =
        acq_evidence_session_collect(self->session, relation, heads, n, &candidates, error);
    if (status == ACQ_OK)
        status = score(self, &candidates, false, out, error);
    acq_candidates_deinit(&candidates);
    return status;
}
