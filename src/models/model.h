/* model.h - a trained link predictor: it scores whole rows, (head, relation, every entity).
 *
 * Raw scores are logits of whatever the model was trained for; they order a row and mean nothing
 * across models. What makes link scores of them stands in calibrate/rows.h (probabilities) and
 * predict/rows.h (as published). Models are immutable and shared between threads; what a
 * thread needs to work with is its scratch. */
#ifndef ACQ_MODELS_MODEL_H
#define ACQ_MODELS_MODEL_H

#include <float.h>

#include "base/budget.h"
#include "graph/graph.h"

typedef struct acq_row_model acq_row_model;

/* What a tail gets of which the model knows nothing, or whose head or relation it does not know: an
 * entity that came after the training. It is no link, whatever the others score. */
#define ACQ_NO_SCORE (-FLT_MAX)

typedef struct acq_row_request {
    acq_rel relation;
    const acq_ent *heads;
    size_t n_heads;
    const acq_ent *tails; /* sorted; NULL: all entities */
    size_t n_tails;       /* of all entities when tails is NULL */
    float *out;           /* n_heads rows of n_tails scores */
    acq_stop stop;        /* asked from the thread that scores; costly models ask it often */
} acq_row_request;

typedef struct acq_row_model_ops {
    acq_status (*open_scratch)(const acq_row_model *self, void **out, acq_error *error);
    void (*free_scratch)(const acq_row_model *self, void *scratch); /* NULL is legal */
    /* Scores are finite: weights whose sums are not are an error that names the model. A row's
     * scores do not depend on the rows beside it. Requests of the same relation in a row
     * are cheaper than mixed ones. */
    acq_status (*score)(const acq_row_model *self, void *scratch, const acq_row_request *request,
                        acq_error *error);
    void (*free)(acq_row_model *self);
    /* One pass for all heads at once: the boundary of entity i is degrees[i] times the query's
     * vector, out[i] the logit of tail i. NULL: the model has no such pass. */
    acq_status (*score_set)(const acq_row_model *self, void *scratch, acq_rel relation,
                            const float *degrees, float *out, acq_error *error);
    /* One row of a sparse model, at the cost of what it says: scores[t] is set for the *n entities
     * *tails, in no order, and every other t has `nothing`, as the caller had left there. The
     * list is borrowed until the next call. NULL: only whole rows. */
    acq_status (*score_few)(const acq_row_model *self, void *scratch, acq_rel relation,
                            acq_ent head, float *scores, const acq_ent **tails, size_t *n,
                            acq_error *error);
} acq_row_model_ops;

struct acq_row_model {
    const acq_row_model_ops *ops;
    const acq_graph *graph; /* borrowed: facts and ids */
    const char *kind;       /* "complex", "nbfnet", "ultra", "rules", "neighbours" */
    size_t batch;           /* rows that are best asked for together */
    bool is_symmetric;      /* score(r,h,t) == score(inverse(r),t,h) to the last bit */
    bool is_costly;         /* rows of a relation's smaller side are enough */
    bool is_sparse; /* a score of `nothing` or less means no evidence for the tail: */
    float nothing;  /* it is not proposed */
};

static inline void acq_row_model_free(acq_row_model *model) /* NULL is legal */
{
    if (model != NULL)
        model->ops->free(model);
}

#endif
