/* reasons_rows.c - reasons of links whose rows are made on demand: the row is scored again, all its
 * candidates described, and the parts of the one measured. The last row is kept, since questions
 * are often about several links of one. */
#include "calibrate/reasons.h"

#include <pthread.h>

#include "base/memory.h"
#include "base/search.h"
#include "calibrate/candidates_parts.h"
#include "calibrate/rows.h"

typedef struct row_source {
    acq_reason_source base;
    acq_row_scorer *scorer; /* the predictor's */
    const acq_boost *trees;
    pthread_mutex_t lock; /* guards all below */
    const acq_candidates_maker *maker;
    acq_candidates row;
    acq_ent head; /* of the row; ACQ_NO_ID: none */
    acq_part_meter *meter;
} row_source;

static void forget(row_source *self)
{
    acq_part_meter_free(self->meter);
    acq_candidates_deinit(&self->row);
    self->meter = NULL;
    self->head = ACQ_NO_ID;
}

static acq_status make_row(row_source *self, acq_rel relation, acq_ent head, acq_error *error)
{
    if (self->head == head && self->row.relation == relation)
        return ACQ_OK;
    forget(self);
    acq_status status =
        acq_calibrated_describe_row(self->scorer, relation, head, &self->row, error);
    if (status == ACQ_OK)
        status = acq_part_meter_new(self->maker, &self->row, &self->meter, error);
    if (status == ACQ_OK)
        self->head = head;
    return status;
}

static acq_status measure(row_source *self, acq_ent head, acq_rel relation, acq_ent tail,
                          acq_link_parts *out, acq_error *error)
{
    acq_status status = make_row(self, relation, head, error);
    size_t i, n = self->row.n;
    *out = (acq_link_parts){0};
    if (status != ACQ_OK)
        return status;
    ACQ_SEARCH(i, 0, n, self->row.tails[i] < tail);
    if (i < n && self->row.tails[i] == tail)
        acq_part_meter_measure(self->meter, self->trees, i, out);
    return ACQ_OK;
}

/* From the side that materialised links are made from; else from the other. */
static acq_status measure_either(row_source *self, acq_ent head, acq_rel relation, acq_ent tail,
                                 acq_link_parts *out, acq_error *error)
{
    bool is_turned = acq_candidates_find_smaller(self->maker, relation) != relation;
    acq_status status = ACQ_OK;
    *out = (acq_link_parts){0};
    for (int i = 0; i < 2 && status == ACQ_OK && out->n == 0; i++, is_turned = !is_turned) {
        status = is_turned ? measure(self, tail, acq_inverse(relation), head, out, error)
                           : measure(self, head, relation, tail, out, error);
        if (is_turned)
            acq_link_parts_turn(out);
    }
    return status;
}

static void take_models(row_source *self)
{
    const acq_candidates_params *params = &self->maker->params;
    self->base.rules = params->rules;
    self->base.top = params->top;
    for (size_t m = 0; m < params->n_models; m++) {
        self->base.models[m] = params->models[m]->kind;
        if (params->models[m]->is_sparse)
            self->base.neighbours = params->models[m];
    }
}

static acq_status find_parts(acq_reason_source *base, acq_ent head, acq_rel relation, acq_ent tail,
                             acq_link_parts *out, acq_error *error)
{
    row_source *self = (row_source *)base;
    pthread_mutex_lock(&self->lock);
    acq_status status = ACQ_OK;
    if (self->maker == NULL) {
        status = acq_calibrated_open_maker(self->scorer, &self->maker, error);
        if (status == ACQ_OK)
            take_models(self);
    }
    if (status == ACQ_OK)
        status = measure_either(self, head, relation, tail, out, error);
    pthread_mutex_unlock(&self->lock);
    return status;
}

static void free_source(acq_reason_source *base)
{
    row_source *self = (row_source *)base;
    forget(self);
    pthread_mutex_destroy(&self->lock);
    acq_free(self);
}

acq_status acq_reasons_attach_rows(acq_predictor *predictor, acq_row_scorer *scorer,
                                   const acq_boost *trees, acq_error *error)
{
    static const acq_reason_source_ops ops = {.find_parts = find_parts, .free = free_source};
    row_source *self = acq_zalloc(1, sizeof *self);
    if (self == NULL)
        return acq_fail_memory(error);
    self->base = (acq_reason_source){.ops = &ops, .graph = predictor->graph};
    self->scorer = scorer;
    self->trees = trees;
    self->head = ACQ_NO_ID;
    pthread_mutex_init(&self->lock, NULL);
    acq_predictor_set_reasons(predictor, &self->base, free_source);
    return ACQ_OK;
}
