/* predictor.c - the dispatch of the seam, and the predictor that knows only the facts. */
#include "predict/predictor.h"

#include "base/memory.h"

acq_status acq_predictor_open_links(const acq_predictor *predictor, acq_rel relation,
                                    const acq_links **out, acq_error *error)
{
    return predictor->ops->open_links(predictor, relation, out, error);
}

float acq_predictor_get_score(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                              acq_ent tail)
{
    const acq_links *links = NULL;
    if (acq_predictor_open_links(predictor, relation, &links, NULL) != ACQ_OK)
        return 0.0F;
    return head < links->n_entities ? acq_links_get_score(links, head, tail) : 0.0F;
}

acq_row acq_predictor_get_row(const acq_predictor *predictor, acq_ent head, acq_rel relation)
{
    const acq_links *links = NULL;
    if (acq_predictor_open_links(predictor, relation, &links, NULL) != ACQ_OK)
        return (acq_row){0};
    return head < links->n_entities ? acq_links_get_row(links, head) : (acq_row){0};
}

void acq_predictor_forget_links(const acq_predictor *predictor, acq_rel relation)
{
    if (predictor->ops->forget_links != NULL)
        predictor->ops->forget_links(predictor, relation);
}

void acq_scored_row_deinit(acq_scored_row *row)
{
    acq_free(row->tails);
    acq_free(row->scores);
    *row = (acq_scored_row){0};
}

bool acq_predictor_makes_rows(const acq_predictor *predictor)
{
    return predictor->ops->copy_rows != NULL;
}

static acq_status copy_row(acq_row row, acq_scored_row *out)
{
    acq_scored_row copy = {.tails = acq_alloc(row.n, sizeof *copy.tails),
                           .scores = acq_alloc(row.n, sizeof *copy.scores)};
    if (copy.tails == NULL || copy.scores == NULL) {
        acq_scored_row_deinit(&copy);
        return ACQ_ERR_MEMORY;
    }
    for (; copy.n < row.n; copy.n++) {
        copy.tails[copy.n] = row.tails[copy.n];
        copy.scores[copy.n] = row.scores == NULL ? 1.0F : row.scores[copy.n];
    }
    *out = copy;
    return ACQ_OK;
}

acq_status acq_predictor_copy_row(const acq_predictor *predictor, acq_rel relation, acq_ent head,
                                  acq_scored_row *out, acq_error *error)
{
    if (acq_predictor_makes_rows(predictor))
        return predictor->ops->copy_rows(
            predictor, &(acq_row_want){.relation = relation, .heads = &head, .n = 1}, out, error);
    const acq_links *links = NULL;
    acq_status status = acq_predictor_open_links(predictor, relation, &links, error);
    if (status != ACQ_OK)
        return status;
    status = copy_row(acq_links_get_row(links, head), out);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

void acq_predictor_set_calibrator(acq_predictor *predictor, acq_calibrator *calibrator,
                                  const acq_calibrator_ops *ops)
{
    const acq_calibrator_ops *before = predictor->calibrator_ops;
    if (before != NULL && before->free != NULL)
        before->free(predictor->calibrator);
    predictor->calibrator = calibrator;
    predictor->calibrator_ops = ops;
}

void acq_predictor_set_reasons(acq_predictor *predictor, acq_reason_source *reasons,
                               void (*free_reasons)(acq_reason_source *reasons))
{
    if (predictor->reasons != NULL)
        predictor->free_reasons(predictor->reasons);
    predictor->reasons = reasons;
    predictor->free_reasons = free_reasons;
}

void acq_predictor_free(acq_predictor *predictor)
{
    if (predictor == NULL)
        return;
    acq_predictor_set_reasons(predictor, NULL, NULL);
    acq_predictor_set_calibrator(predictor, NULL, NULL);
    predictor->ops->free(predictor);
}

const char *acq_predictor_get_note(const acq_predictor *predictor)
{
    return predictor == NULL || predictor->ops->get_note == NULL
               ? NULL
               : predictor->ops->get_note(predictor);
}

const acq_calibrator *acq_predictor_get_calibrator(const acq_predictor *predictor)
{
    return predictor->calibrator;
}

double acq_predictor_get_floor(const acq_predictor *predictor)
{
    return predictor == NULL || predictor->ops->get_floor == NULL
               ? 0.0
               : predictor->ops->get_floor(predictor);
}

static acq_status open_observed(const acq_predictor *self, acq_rel relation, const acq_links **out,
                                acq_error *error)
{
    return acq_graph_open_links(self->graph, relation, out, error);
}

static void free_observed(acq_predictor *self)
{
    acq_free(self);
}

acq_status acq_predictor_new_observed(const acq_graph *graph, acq_predictor **out, acq_error *error)
{
    static const acq_predictor_ops ops = {.open_links = open_observed, .free = free_observed};
    acq_predictor *predictor = acq_alloc(1, sizeof *predictor);
    if (predictor == NULL)
        return acq_fail_memory(error);
    *predictor = (acq_predictor){.ops = &ops, .graph = graph, .name = "observed"};
    *out = predictor;
    return ACQ_OK;
}
