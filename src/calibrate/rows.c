/* rows.c - links whose scores are the calibrator's probabilities: candidates and their features
 * from candidates.h, log-odds from the boosted trees. What is costly is made with the first row. */
#include "calibrate/rows.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "calibrate/reasons.h"

typedef struct calibrated {
    acq_row_scorer base;
    acq_calibrated_params params;
    const acq_graph *graph;
    char *name;
    pthread_mutex_t lock; /* guards the loading of what follows */
    acq_candidates_maker *maker;
    acq_candidates_session *session; /* the last to be made */
} calibrated;

/* ---- loading ---- */

/* As calibrators name them: "complex+ultra". */
static void print_models(const acq_candidates_params *candidates, char *out, size_t size)
{
    size_t n = 0;
    *out = '\0';
    for (size_t i = 0; i < candidates->n_models && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i > 0 ? "+" : "",
                              candidates->models[i]->kind);
}

/* A calibrator of other features would read the wrong numbers. */
static acq_status check_features(const calibrated *self, acq_error *error)
{
    char models[64];
    uint32_t has = acq_candidates_get_n_features(self->maker);
    const acq_calibrator *calibrator = self->params.calibrator;
    uint32_t wants = acq_boost_get_n_features(calibrator->link);
    print_models(&self->params.candidates, models, sizeof models);
    if (has >= wants && strcmp(calibrator->models, models) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the calibrator reads %u features of %.60s and the predictor %.60s has %u of "
                    "%s; fit a calibrator for it",
                    wants, calibrator->models, self->name, has, models);
}

/* Stopped, it goes on with the next call. */
static acq_status load_locked(calibrated *self, acq_stop stop, acq_error *error)
{
    acq_calibrated_params *params = &self->params;
    acq_status status = ACQ_OK;
    if (self->session != NULL)
        return ACQ_OK;
    params->candidates.stop = stop;
    if (params->load != NULL)
        status = params->load(params->owned, &params->candidates, error);
    if (status == ACQ_OK && params->learn != NULL)
        status = params->learn(params->owned, stop, params->calibrator, error);
    params->candidates.stop = (acq_stop){0};
    if (status == ACQ_OK && self->maker == NULL)
        status = acq_candidates_maker_new(self->graph, &params->candidates, &self->maker, error);
    if (status == ACQ_OK)
        status = check_features(self, error);
    return status == ACQ_OK ? acq_candidates_session_new(self->maker, &self->session, error)
                            : status;
}

static acq_status load(acq_row_scorer *base, acq_stop stop, acq_error *error)
{
    calibrated *self = (calibrated *)base;
    pthread_mutex_lock(&self->lock);
    acq_status status = load_locked(self, stop, error);
    pthread_mutex_unlock(&self->lock);
    return status;
}

acq_status acq_calibrated_open_maker(acq_row_scorer *scorer, const acq_candidates_maker **out,
                                     acq_error *error)
{
    const calibrated *self = (calibrated *)scorer;
    acq_status status = load(scorer, (acq_stop){0}, error);
    *out = status == ACQ_OK ? self->maker : NULL;
    return status;
}

/* ---- links ---- */

/* Candidates that reach the floor. With a head that the relation is not seen with, the tail must
 * be: at least one side of a link is. */
static acq_status keep(const calibrated *self, const acq_candidates *candidates, const float *odds,
                       bool turned, acq_link_list *out, acq_error *error)
{
    const acq_links *heads = NULL, *tails = NULL;
    acq_rel relation = candidates->relation;
    acq_status status = acq_graph_open_links(self->graph, relation, &heads, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(self->graph, acq_inverse(relation), &tails, error);
    for (size_t i = 0; i < candidates->n && status == ACQ_OK; i++) {
        acq_ent head = candidates->heads[i], tail = candidates->tails[i];
        double p = acq_boost_to_probability((double)odds[i]);
        if (!(p >= self->params.limits.floor) ||
            (acq_links_find(heads, head) == ACQ_NO_ID && acq_links_find(tails, tail) == ACQ_NO_ID))
            continue;
        if (acq_link_list_add(out, turned ? tail : head, turned ? head : tail,
                              acq_row_clip((float)p)) != ACQ_OK)
            status = acq_fail_memory(error);
    }
    return status;
}

static acq_status score(const calibrated *self, const acq_candidates *candidates, bool turned,
                        acq_link_list *out, acq_error *error)
{
    float *odds = acq_alloc(candidates->n, sizeof *odds);
    if (odds == NULL)
        return acq_fail_memory(error);
    acq_candidates_score(candidates, 0, candidates->n,
                         acq_calibrator_get_judge(self->params.calibrator, candidates->relation),
                         odds);
    acq_status status = keep(self, candidates, odds, turned, out, error);
    acq_free(odds);
    return status;
}

static acq_status find_links(acq_row_scorer *base, acq_rel relation, acq_link_list *out,
                             acq_error *error)
{
    calibrated *self = (calibrated *)base;
    acq_candidates candidates = {0};
    acq_status status = load(base, base->stop, error);
    if (status == ACQ_OK) {
        acq_candidates_set_stop(self->maker, base->stop);
        status = acq_candidates_collect(self->maker, relation, &candidates, error);
        acq_candidates_set_stop(self->maker, (acq_stop){0});
    }
    if (status == ACQ_OK)
        status = score(self, &candidates, candidates.relation != relation, out, error);
    acq_candidates_deinit(&candidates);
    return status;
}

static acq_status find_rows(acq_row_scorer *base, const acq_row_want *want, acq_link_list *out,
                            acq_error *error)
{
    calibrated *self = (calibrated *)base;
    acq_candidates candidates = {0};
    acq_status status = load(base, want->stop, error);
    if (status == ACQ_OK)
        status = acq_candidates_session_collect(self->session, want, &candidates, error);
    if (status == ACQ_OK)
        status = score(self, &candidates, false, out, error);
    acq_candidates_deinit(&candidates);
    return status;
}

/* ---- rows of one side ---- */

enum {
    WHOLE_ROWS = 16384, /* of a relation: all are made when the first is asked for */
    MOST_HEADS = 8192   /* of other relations, whose rows are looked at for one tail */
};

static bool is_whole(acq_row_scorer *base, acq_rel relation)
{
    const calibrated *self = (calibrated *)base;
    const acq_links *on = NULL, *back = NULL;
    return acq_graph_open_links(self->graph, relation, &on, NULL) == ACQ_OK &&
           acq_graph_open_links(self->graph, acq_inverse(relation), &back, NULL) == ACQ_OK &&
           on->n_heads <= WHOLE_ROWS && back->n_heads <= WHOLE_ROWS;
}

/* The wanted rows that there are. */
static acq_status find_on(calibrated *self, const acq_row_want *want, acq_link_list *out,
                          acq_error *error)
{
    acq_candidates candidates = {0};
    acq_row_want some = *want;
    acq_ent *heads = acq_alloc(want->n, sizeof *heads);
    if (heads == NULL)
        return acq_fail_memory(error);
    some.heads = heads;
    some.n = 0;
    for (size_t i = 0; i < want->n; i++)
        if (acq_candidates_has_row(self->maker, want->relation, want->heads[i]))
            heads[some.n++] = want->heads[i];
    acq_status status = acq_candidates_session_collect(self->session, &some, &candidates, error);
    if (status == ACQ_OK)
        status = score(self, &candidates, false, out, error);
    acq_candidates_deinit(&candidates);
    acq_free(heads);
    return status;
}

/* The same links from their other end. */
static acq_status find_back(calibrated *self, const acq_row_want *want, acq_link_list *out,
                            acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < want->n && status == ACQ_OK; i++) {
        acq_candidates candidates = {0};
        status = acq_candidates_session_collect_tail(self->session, acq_inverse(want->relation),
                                                     want->heads[i], MOST_HEADS, want->stop,
                                                     &candidates, error);
        if (status == ACQ_OK)
            status = score(self, &candidates, true, out, error);
        acq_candidates_deinit(&candidates);
    }
    return status;
}

static acq_status find_one_sided(acq_row_scorer *base, const acq_row_want *want, acq_link_list *out,
                                 acq_error *error)
{
    calibrated *self = (calibrated *)base;
    acq_status status = load(base, want->stop, error);
    if (status != ACQ_OK)
        return status;
    return acq_candidates_find_side(self->maker, want->relation) == want->relation
               ? find_on(self, want, out, error)
               : find_back(self, want, out, error);
}

/* ---- the scorer ---- */

static void free_calibrated(acq_row_scorer *base)
{
    calibrated *self = (calibrated *)base;
    acq_candidates_session_free(self->session);
    acq_candidates_maker_free(self->maker);
    if (self->params.free_owned != NULL)
        self->params.free_owned(self->params.owned);
    pthread_mutex_destroy(&self->lock);
    acq_free(self->name);
    acq_free(self);
}

static acq_status new_scorer(const acq_graph *graph, const char *name,
                             const acq_calibrated_params *params, acq_row_scorer **out,
                             acq_error *error)
{
    static const acq_row_scorer_ops ops = {
        .load = load, .find_links = find_links, .find_rows = find_rows, .free = free_calibrated};
    static const acq_row_scorer_ops whole_ops = {
        .load = load, .find_links = find_links, .free = free_calibrated};
    static const acq_row_scorer_ops one_sided_ops = {.load = load,
                                                     .find_links = find_links,
                                                     .find_rows = find_one_sided,
                                                     .is_whole = is_whole,
                                                     .free = free_calibrated};
    bool is_one_sided = params->candidates.rows == ACQ_ROWS_LARGER;
    calibrated *self = acq_zalloc(1, sizeof *self);
    if (self == NULL) {
        if (params->free_owned != NULL)
            params->free_owned(params->owned);
        return acq_fail_memory(error);
    }
    *self = (calibrated){.base.ops = is_one_sided                     ? &one_sided_ops
                                     : params->candidates.is_thorough ? &whole_ops
                                                                      : &ops,
                         .params = *params,
                         .graph = graph,
                         .name = acq_copy_string(name)};
    pthread_mutex_init(&self->lock, NULL);
    acq_status status = ACQ_OK;
    if (self->name == NULL)
        status = acq_fail_memory(error);
    else if (params->calibrator == NULL ||
             (params->calibrator->link == NULL && params->learn == NULL))
        status = acq_fail(error, ACQ_ERR_USAGE, "calibrated links need a link calibrator");
    if (status == ACQ_OK)
        *out = &self->base;
    else
        free_calibrated(&self->base);
    return status;
}

acq_status acq_predictor_new_calibrated(const acq_graph *graph, const char *name,
                                        const acq_calibrated_params *params, acq_predictor **out,
                                        acq_error *error)
{
    acq_row_scorer *scorer = NULL;
    acq_predictor *made = NULL;
    acq_status status = new_scorer(graph, name, params, &scorer, error);
    if (status == ACQ_OK)
        status = acq_predictor_new_rows(graph, name, scorer, &params->limits, &made, error);
    if (status != ACQ_OK) {
        acq_calibrator_free(params->calibrator);
        return status;
    }
    made->has_cheap_rows = params->candidates.rows == ACQ_ROWS_LARGER;
    acq_calibrator_attach(params->calibrator, made);
    status = acq_reasons_attach_rows(made, scorer, params->calibrator, error);
    if (status == ACQ_OK)
        *out = made;
    else
        acq_predictor_free(made);
    return status;
}
