/* row_predictor.c - links of a relation or of single rows, made under a lock and kept.
 *
 * Which links there are and what they score is decided in row_published.c and row_calibrated.c;
 * here observed facts join them with score 1 and both directions are made of the same numbers. */
#include "predict/row_predictor.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "predict/row_predictor_parts.h"

static const size_t CACHE_BYTES = (size_t)64 << 20;

/* ---- loading ---- */

static acq_status check_models(const acq_row_predictor *self, acq_error *error)
{
    const acq_row_predictor_params *params = &self->params;
    bool is_calibrated = params->scale == ACQ_SCALE_CALIBRATED;
    size_t n = params->evidence.n_models;
    if (is_calibrated && (params->calibrator == NULL || params->calibrator->link == NULL))
        return acq_fail(error, ACQ_ERR_USAGE, "calibrated links need a link calibrator");
    if (!is_calibrated && n != 1)
        return acq_fail(error, ACQ_ERR_USAGE, "a published scale is for one model, not %zu", n);
    return ACQ_OK;
}

/* As calibrators name them: "complex+ultra". */
static void print_models(const acq_evidence_params *evidence, char *out, size_t size)
{
    size_t n = 0;
    *out = '\0';
    for (size_t i = 0; i < evidence->n_models && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i > 0 ? "+" : "",
                              evidence->models[i]->kind);
}

/* A calibrator of other evidence would read the wrong numbers. */
static acq_status check_features(const acq_row_predictor *self, acq_error *error)
{
    char models[64];
    uint32_t has = acq_evidence_get_n_features(self->maker);
    const acq_calibrator *calibrator = self->params.calibrator;
    uint32_t wants = acq_boost_get_n_features(calibrator->link);
    print_models(&self->params.evidence, models, sizeof models);
    if (has == wants && strcmp(calibrator->models, models) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the calibrator reads %u features of %.60s and the predictor %.60s has %u of "
                    "%s; fit a calibrator for it",
                    wants, calibrator->models, self->name, has, models);
}

static acq_status load(acq_row_predictor *self, acq_error *error)
{
    acq_row_predictor_params *params = &self->params;
    acq_status status = ACQ_OK;
    if (self->is_loaded)
        return ACQ_OK;
    if (params->load != NULL)
        status = params->load(params->owned, &params->evidence, error);
    if (status == ACQ_OK)
        status = check_models(self, error);
    if (status == ACQ_OK && params->scale == ACQ_SCALE_CALIBRATED && self->maker == NULL)
        status = acq_evidence_maker_new(self->base.graph, &params->evidence, &self->maker, error);
    if (status == ACQ_OK && self->maker != NULL)
        status = check_features(self, error);
    if (status == ACQ_OK && self->maker != NULL && self->session == NULL)
        status = acq_evidence_session_new(self->maker, &self->session, error);
    self->is_loaded = status == ACQ_OK;
    return status;
}

/* ---- links of a relation ---- */

/* About what both directions take: tail and score, a share of heads and offsets. */
static size_t estimate_bytes(size_t n_links)
{
    return n_links * 2 * 3 * sizeof(float);
}

static acq_status check_memory(const acq_row_predictor *self, acq_rel relation, size_t n_bytes,
                               acq_error *error)
{
    size_t most = self->params.memory_bytes;
    if (most == 0 || self->n_bytes + n_bytes <= most)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_MEMORY,
                    "the predicted links of %.200s take more than the %zu MB that are left; write "
                    "them to a file with anycq complete, or raise --memory",
                    acq_graph_get_relation_name(self->base.graph, relation), most >> 20);
}

static acq_status make_links(acq_row_predictor *self, acq_rel relation, acq_error *error)
{
    acq_find_links_fn *find = self->params.scale == ACQ_SCALE_CALIBRATED ? acq_calibrated_find_links
                                                                         : acq_published_find_links;
    uint32_t n_entities = acq_graph_get_n_entities(self->base.graph);
    const acq_links *observed = NULL;
    acq_link_list list = {0};
    acq_status status = load(self, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(self->base.graph, relation, &observed, error);
    if (status == ACQ_OK)
        status = find(self, relation, &list, error);
    if (status == ACQ_OK && acq_link_list_add_all(&list, observed) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status = check_memory(self, relation, estimate_bytes(list.n), error);
    if (status == ACQ_OK)
        status = acq_link_list_make_both(&list, n_entities, &self->links[relation],
                                         &self->links[acq_inverse(relation)], error);
    if (status == ACQ_OK)
        self->n_bytes += estimate_bytes(self->links[relation]->n_links);
    acq_link_list_deinit(&list);
    return status;
}

static acq_status check_relation(const acq_predictor *self, acq_rel relation, acq_error *error)
{
    uint32_t n = acq_graph_get_n_relations(self->graph);
    return relation < n ? ACQ_OK
                        : acq_fail(error, ACQ_ERR_USAGE,
                                   "relation id %u is unknown: the graph has %u", relation, n);
}

static acq_status open_links(const acq_predictor *base, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    acq_row_predictor *self = (acq_row_predictor *)base;
    acq_status status = check_relation(base, relation, error);
    if (status != ACQ_OK)
        return status;
    pthread_mutex_lock(&self->lock);
    if (self->links[relation] == NULL)
        status = make_links(self, relation & ~1U, error);
    *out = self->links[relation];
    pthread_mutex_unlock(&self->lock);
    return status;
}

static void forget_links(const acq_predictor *base, acq_rel relation)
{
    acq_row_predictor *self = (acq_row_predictor *)base;
    acq_rel pair[] = {relation, acq_inverse(relation)};
    pthread_mutex_lock(&self->lock);
    if (self->links[relation] != NULL)
        self->n_bytes -= estimate_bytes(self->links[relation]->n_links);
    for (int i = 0; i < 2; i++) {
        acq_links_free(self->links[pair[i]]);
        self->links[pair[i]] = NULL;
    }
    pthread_mutex_unlock(&self->lock);
}

/* ---- single rows ---- */

/* Observed tails and found links of one head, merged by tail; they have none in common. */
static acq_status merge_row(acq_row observed, const acq_link *found, size_t n, acq_scored_row *out)
{
    acq_scored_row row = {.tails = acq_alloc(observed.n + n, sizeof *row.tails),
                          .scores = acq_alloc(observed.n + n, sizeof *row.scores)};
    if (row.tails == NULL || row.scores == NULL) {
        acq_scored_row_deinit(&row);
        return ACQ_ERR_MEMORY;
    }
    size_t i = 0, j = 0;
    while (i < observed.n || j < n) {
        bool is_observed = j == n || (i < observed.n && observed.tails[i] < found[j].tail);
        row.tails[row.n] = is_observed ? observed.tails[i] : found[j].tail;
        row.scores[row.n++] = is_observed ? 1.0F : found[j].score;
        i += is_observed;
        j += !is_observed;
    }
    *out = row;
    return ACQ_OK;
}

static acq_status copy_cached(acq_row_predictor *self, acq_rel relation, acq_ent head,
                              acq_scored_row *out)
{
    const acq_scored_row *row = acq_row_cache_get(self->cache, relation, head);
    if (row == NULL)
        return ACQ_OK;
    acq_scored_row copy = {.tails = acq_alloc(row->n, sizeof *copy.tails),
                           .scores = acq_alloc(row->n, sizeof *copy.scores),
                           .n = row->n};
    if (copy.tails == NULL || copy.scores == NULL) {
        acq_scored_row_deinit(&copy);
        return ACQ_ERR_MEMORY;
    }
    memcpy(copy.tails, row->tails, row->n * sizeof *copy.tails);
    memcpy(copy.scores, row->scores, row->n * sizeof *copy.scores);
    *out = copy;
    return ACQ_OK;
}

/* The rows that the cache has, and the heads of the others. */
static acq_status take_cached(acq_row_predictor *self, acq_rel relation, const acq_ent *heads,
                              size_t n, acq_scored_row *out, acq_ent *missing, size_t *n_missing)
{
    acq_status status = ACQ_OK;
    *n_missing = 0;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        status = copy_cached(self, relation, heads[i], &out[i]);
        if (out[i].tails == NULL)
            missing[(*n_missing)++] = heads[i];
    }
    return status;
}

/* Shares out the found links, which are sorted by head, to the rows that are not there yet. */
static acq_status share_out(acq_row_predictor *self, acq_rel relation, const acq_link_list *found,
                            const acq_ent *heads, size_t n, acq_scored_row *out)
{
    const acq_links *observed = NULL;
    acq_status status = acq_graph_open_links(self->base.graph, relation, &observed, NULL);
    size_t begin = 0;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        if (out[i].tails != NULL)
            continue;
        size_t end = begin;
        while (end < found->n && found->links[end].head == heads[i])
            end++;
        status = merge_row(acq_links_get_row(observed, heads[i]), found->links + begin, end - begin,
                           &out[i]);
        if (status == ACQ_OK)
            status = acq_row_cache_put(self->cache, relation, heads[i], &out[i]);
        begin = end;
    }
    return status;
}

static acq_status make_rows(acq_row_predictor *self, acq_rel relation, const acq_ent *heads,
                            size_t n, acq_scored_row *out, acq_ent *missing, acq_error *error)
{
    acq_find_rows_fn *find = self->params.scale == ACQ_SCALE_CALIBRATED ? acq_calibrated_find_rows
                                                                        : acq_published_find_rows;
    acq_link_list found = {0};
    size_t n_missing;
    acq_status status = take_cached(self, relation, heads, n, out, missing, &n_missing);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    if (n_missing == 0)
        return ACQ_OK;
    status = load(self, error);
    if (status == ACQ_OK)
        status = find(self, relation, missing, n_missing, &found, error);
    if (status == ACQ_OK && share_out(self, relation, &found, heads, n, out) != ACQ_OK)
        status = acq_fail_memory(error);
    acq_link_list_deinit(&found);
    return status;
}

static acq_status copy_rows(const acq_predictor *base, acq_rel relation, const acq_ent *heads,
                            size_t n, acq_scored_row *out, acq_error *error)
{
    acq_row_predictor *self = (acq_row_predictor *)base;
    acq_status status = check_relation(base, relation, error);
    if (status != ACQ_OK)
        return status;
    acq_ent *missing = acq_alloc(n, sizeof *missing);
    if (missing == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n; i++)
        out[i] = (acq_scored_row){0};
    pthread_mutex_lock(&self->lock);
    status = make_rows(self, relation, heads, n, out, missing, error);
    pthread_mutex_unlock(&self->lock);
    acq_free(missing);
    for (size_t i = 0; i < n && status != ACQ_OK; i++)
        acq_scored_row_deinit(&out[i]);
    return status;
}

/* ---- the predictor ---- */

static void free_rows(acq_predictor *base)
{
    acq_row_predictor *self = (acq_row_predictor *)base;
    uint32_t n_relations = acq_graph_get_n_relations(base->graph);
    for (acq_rel r = 0; self->links != NULL && r < n_relations; r++)
        acq_links_free(self->links[r]);
    acq_free(self->links);
    acq_published_free_workers(self);
    acq_evidence_session_free(self->session);
    acq_evidence_maker_free(self->maker);
    acq_row_cache_free(self->cache);
    if (self->params.free_owned != NULL)
        self->params.free_owned(self->params.owned);
    pthread_mutex_destroy(&self->lock);
    acq_free(self->name);
    acq_free(self);
}

static const struct acq_calibrator *get_calibrator(const acq_predictor *base)
{
    const acq_row_predictor *self = (const acq_row_predictor *)base;
    return self->params.scale == ACQ_SCALE_CALIBRATED ? self->params.calibrator : NULL;
}

static double get_floor(const acq_predictor *base)
{
    return ((const acq_row_predictor *)base)->params.floor;
}

acq_row_cache_counts acq_row_predictor_get_counts(const acq_predictor *base)
{
    acq_row_predictor *self = (acq_row_predictor *)base;
    pthread_mutex_lock(&self->lock);
    acq_row_cache_counts counts = acq_row_cache_get_counts(self->cache);
    pthread_mutex_unlock(&self->lock);
    return counts;
}

/* One direction alone cannot be had from a row of the other. */
static const acq_predictor_ops ops = {.open_links = open_links,
                                      .free = free_rows,
                                      .get_calibrator = get_calibrator,
                                      .get_floor = get_floor,
                                      .copy_rows = copy_rows,
                                      .forget_links = forget_links};
static const acq_predictor_ops forward_ops = {.open_links = open_links,
                                              .free = free_rows,
                                              .get_calibrator = get_calibrator,
                                              .get_floor = get_floor,
                                              .forget_links = forget_links};

static acq_status make_parts(acq_row_predictor *self, const char *name)
{
    const acq_graph *graph = self->base.graph;
    size_t cache_bytes = self->params.cache_bytes;
    self->links = acq_zalloc(acq_graph_get_n_relations(graph), sizeof(acq_links *));
    self->name = acq_copy_string(name);
    self->cache = acq_row_cache_new(cache_bytes == 0 ? CACHE_BYTES : cache_bytes);
    self->base.name = self->name;
    bool is_made = self->links != NULL && self->name != NULL && self->cache != NULL;
    return is_made ? ACQ_OK : ACQ_ERR_MEMORY;
}

acq_status acq_predictor_new_rows(const acq_graph *graph, const char *name,
                                  const acq_row_predictor_params *params, acq_predictor **out,
                                  acq_error *error)
{
    acq_row_predictor *self = acq_zalloc(1, sizeof *self);
    if (self == NULL) {
        if (params->free_owned != NULL)
            params->free_owned(params->owned);
        return acq_fail_memory(error);
    }
    bool is_forward = params->direction == ACQ_DIRECTION_FORWARD;
    self->base = (acq_predictor){.ops = is_forward ? &forward_ops : &ops, .graph = graph};
    self->params = *params;
    pthread_mutex_init(&self->lock, NULL);
    acq_status status = make_parts(self, name);
    if (status == ACQ_OK && params->load == NULL)
        status = check_models(self, error);
    if (status == ACQ_OK) {
        *out = &self->base;
        return ACQ_OK;
    }
    free_rows(&self->base);
    return status == ACQ_ERR_MEMORY ? acq_fail_memory(error) : status;
}
