/* reasons_rows.c - reasons of links whose rows are made on demand: the row is scored again, all its
 * candidates described, and the parts of the one measured. The last row is kept, since questions
 * are often about several links of one. */
#include "calibrate/reasons.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "calibrate/calibrator.h"
#include "calibrate/candidates_parts.h"
#include "calibrate/rows.h"

typedef struct row_source {
    acq_reason_source base;
    acq_row_scorer *scorer;           /* the predictor's */
    const acq_calibrator *calibrator; /* whose trees are there once the maker is */
    pthread_mutex_t lock;             /* guards all below */
    const acq_candidates_maker *maker;
    acq_candidates row;
    acq_ent head; /* of the row; ACQ_NO_ID: all rows of the relation */
    bool is_made;
    acq_part_meter *meter;
} row_source;

static void forget(row_source *self)
{
    acq_part_meter_free(self->meter);
    acq_candidates_deinit(&self->row);
    self->meter = NULL;
    self->is_made = false;
}

/* Where links are made from both of their rows, all rows of the relation. */
static acq_status make_row(row_source *self, acq_rel relation, acq_ent head, acq_error *error)
{
    bool is_whole = self->maker->params.rows == ACQ_ROWS_BOTH;
    head = is_whole ? ACQ_NO_ID : head;
    if (self->is_made && self->head == head && self->row.relation == relation)
        return ACQ_OK;
    forget(self);
    acq_status status =
        is_whole ? acq_candidates_collect(self->maker, relation, &self->row, error)
                 : acq_candidates_collect_row(self->maker, relation, head, &self->row, error);
    if (status == ACQ_OK)
        status = acq_part_meter_new(self->maker, &self->row, &self->meter, error);
    self->head = head;
    self->is_made = status == ACQ_OK;
    return status;
}

static bool is_before(const acq_candidates *row, size_t i, acq_ent head, acq_ent tail)
{
    return row->heads[i] < head || (row->heads[i] == head && row->tails[i] < tail);
}

static acq_status measure(row_source *self, acq_ent head, acq_rel relation, acq_ent tail,
                          acq_link_parts *out, acq_error *error)
{
    acq_status status = make_row(self, relation, head, error);
    const acq_candidates *row = &self->row;
    size_t i;
    *out = (acq_link_parts){0};
    if (status != ACQ_OK)
        return status;
    ACQ_SEARCH(i, 0, row->n, is_before(row, i, head, tail));
    if (i < row->n && row->heads[i] == head && row->tails[i] == tail)
        acq_part_meter_measure(self->meter, acq_calibrator_get_judge(self->calibrator, relation), i,
                               out);
    return ACQ_OK;
}

/* From the side that links are made from; with single rows also from the other. */
static acq_status measure_either(row_source *self, acq_ent head, acq_rel relation, acq_ent tail,
                                 acq_link_parts *out, acq_error *error)
{
    bool is_whole = self->maker->params.rows == ACQ_ROWS_BOTH;
    bool is_turned = !is_whole && acq_candidates_find_side(self->maker, relation) != relation;
    bool is_one_sided = self->maker->params.rows == ACQ_ROWS_LARGER;
    acq_status status = ACQ_OK;
    *out = (acq_link_parts){0};
    for (int i = 0; i < (is_whole || is_one_sided ? 1 : 2) && status == ACQ_OK && out->n == 0;
         i++) {
        status = is_turned ? measure(self, tail, acq_inverse(relation), head, out, error)
                           : measure(self, head, relation, tail, out, error);
        if (is_turned)
            acq_link_parts_turn(out);
        is_turned = !is_turned;
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
        if (strcmp(params->models[m]->kind, "neighbours") == 0)
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
                                   const acq_calibrator *calibrator, acq_error *error)
{
    static const acq_reason_source_ops ops = {.find_parts = find_parts, .free = free_source};
    row_source *self = acq_zalloc(1, sizeof *self);
    if (self == NULL)
        return acq_fail_memory(error);
    self->base = (acq_reason_source){.ops = &ops, .graph = predictor->graph};
    self->scorer = scorer;
    self->calibrator = calibrator;
    pthread_mutex_init(&self->lock, NULL);
    acq_predictor_set_reasons(predictor, &self->base, free_source);
    return ACQ_OK;
}
