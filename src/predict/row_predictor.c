/* row_predictor.c - links of a relation or of single rows, made under a lock and kept.
 *
 * Which links there are and what they score is the scorer's business (rows.h); here observed facts
 * join them with score 1 and both directions are made of the same numbers. */
#include "predict/rows.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"

static const size_t CACHE_BYTES = (size_t)64 << 20;

typedef struct row_predictor {
    acq_predictor base;
    acq_row_limits limits;
    char *name;
    pthread_mutex_t lock; /* guards all below */
    acq_row_scorer *scorer;
    acq_links **links; /* by relation; NULL: not made yet */
    size_t n_bytes;    /* of these */
    acq_row_cache *cache;
} row_predictor;

/* ---- lists of links ---- */

void acq_link_list_deinit(acq_link_list *list)
{
    acq_free(list->links);
    *list = (acq_link_list){0};
}

acq_status acq_link_list_add(acq_link_list *list, acq_ent head, acq_ent tail, float score)
{
    acq_status status = ACQ_RESERVE(list->links, list->capacity, list->n + 1);
    if (status == ACQ_OK)
        list->links[list->n++] = (acq_link){.head = head, .tail = tail, .score = score};
    return status;
}

acq_status acq_link_list_add_row(acq_link_list *list, acq_ent head, acq_row row)
{
    acq_status status = ACQ_RESERVE(list->links, list->capacity, list->n + row.n);
    for (size_t i = 0; i < row.n && status == ACQ_OK; i++)
        list->links[list->n++] = (acq_link){
            .head = head, .tail = row.tails[i], .score = row.scores == NULL ? 1.0F : row.scores[i]};
    return status;
}

acq_status acq_link_list_add_all(acq_link_list *list, const acq_links *links)
{
    acq_status status = ACQ_RESERVE(list->links, list->capacity, list->n + links->n_links);
    for (uint32_t i = 0; i < links->n_heads && status == ACQ_OK; i++)
        status = acq_link_list_add_row(list, links->heads[i], acq_links_get_row_at(links, i));
    return status;
}

void acq_link_list_turn(acq_link_list *list, size_t from)
{
    for (size_t i = from; i < list->n; i++) {
        acq_link link = list->links[i];
        list->links[i] = (acq_link){.head = link.tail, .tail = link.head, .score = link.score};
    }
}

acq_status acq_link_list_make_both(acq_link_list *list, uint32_t n_entities, acq_links **on,
                                   acq_links **back, acq_error *error)
{
    acq_links *forward = NULL, *turned = NULL;
    acq_status status = acq_links_new(list->links, list->n, n_entities, true, &forward);
    acq_link_list_turn(list, 0);
    if (status == ACQ_OK)
        status = acq_links_new(list->links, list->n, n_entities, true, &turned);
    if (status == ACQ_OK) {
        *on = forward;
        *back = turned;
        return ACQ_OK;
    }
    acq_links_free(forward);
    return status == ACQ_ERR_MEMORY
               ? acq_fail_memory(error)
               : acq_fail(error, status, "a relation has too many predicted links");
}

/* ---- links of a relation ---- */

/* About what both directions take: tail and score, a share of heads and offsets. */
static size_t estimate_bytes(size_t n_links)
{
    return n_links * 2 * 3 * sizeof(float);
}

static acq_status check_memory(const row_predictor *self, acq_rel relation, size_t n_bytes,
                               acq_error *error)
{
    size_t most = self->limits.memory_bytes;
    if (most == 0 || self->n_bytes + n_bytes <= most)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_MEMORY,
                    "the predicted links of %.200s take more than the %zu MB that are left; write "
                    "them to a file with anycq complete, or raise --memory",
                    acq_graph_get_relation_name(self->base.graph, relation), most >> 20);
}

static acq_status make_links(row_predictor *self, acq_rel relation, acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(self->base.graph);
    const acq_links *observed = NULL;
    acq_link_list list = {0};
    acq_status status = acq_graph_open_links(self->base.graph, relation, &observed, error);
    if (status == ACQ_OK)
        status = self->scorer->ops->find_links(self->scorer, relation, &list, error);
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
    row_predictor *self = (row_predictor *)base;
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
    row_predictor *self = (row_predictor *)base;
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

static acq_status copy_row(acq_row row, acq_scored_row *out)
{
    acq_scored_row copy = {.tails = acq_alloc(row.n, sizeof *copy.tails),
                           .scores = acq_alloc(row.n, sizeof *copy.scores),
                           .n = row.n};
    if (copy.tails == NULL || copy.scores == NULL) {
        acq_scored_row_deinit(&copy);
        return ACQ_ERR_MEMORY;
    }
    if (row.tails != NULL && row.scores != NULL) { /* an empty row may have neither */
        memcpy(copy.tails, row.tails, row.n * sizeof *copy.tails);
        memcpy(copy.scores, row.scores, row.n * sizeof *copy.scores);
    }
    *out = copy;
    return ACQ_OK;
}

static acq_status copy_cached(row_predictor *self, acq_rel relation, acq_ent head,
                              acq_scored_row *out)
{
    const acq_scored_row *row = acq_row_cache_get(self->cache, relation, head);
    return row == NULL
               ? ACQ_OK
               : copy_row((acq_row){.tails = row->tails, .scores = row->scores, .n = row->n}, out);
}

/* The rows that the cache has, and the heads of the others. */
static acq_status take_cached(row_predictor *self, acq_rel relation, const acq_ent *heads, size_t n,
                              acq_scored_row *out, acq_ent *missing, size_t *n_missing)
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
static acq_status share_out(row_predictor *self, acq_rel relation, const acq_link_list *found,
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

/* Rows of a relation whose links are made all at once. */
static acq_status slice_links(row_predictor *self, const acq_row_want *want, acq_scored_row *out,
                              acq_error *error)
{
    acq_status status = ACQ_OK;
    self->scorer->stop = want->stop;
    if (self->links[want->relation] == NULL)
        status = make_links(self, want->relation & ~1U, error);
    self->scorer->stop = (acq_stop){0};
    for (size_t i = 0; i < want->n && status == ACQ_OK; i++) {
        acq_row row = acq_links_get_row(self->links[want->relation], want->heads[i]);
        if (copy_row(row, &out[i]) != ACQ_OK)
            status = acq_fail_memory(error);
    }
    return status;
}

static acq_status make_rows(row_predictor *self, const acq_row_want *want, acq_scored_row *out,
                            acq_ent *missing, acq_error *error)
{
    acq_link_list found = {0};
    acq_row_want rest = *want;
    const acq_row_scorer_ops *scorer = self->scorer->ops;
    if (scorer->is_whole != NULL && scorer->is_whole(self->scorer, want->relation))
        return slice_links(self, want, out, error);
    acq_status status =
        take_cached(self, want->relation, want->heads, want->n, out, missing, &rest.n);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    if (rest.n == 0)
        return ACQ_OK;
    rest.heads = missing;
    status = self->scorer->ops->find_rows(self->scorer, &rest, &found, error);
    if (status == ACQ_OK &&
        share_out(self, want->relation, &found, want->heads, want->n, out) != ACQ_OK)
        status = acq_fail_memory(error);
    acq_link_list_deinit(&found);
    return status;
}

static acq_status copy_rows(const acq_predictor *base, const acq_row_want *want,
                            acq_scored_row *out, acq_error *error)
{
    row_predictor *self = (row_predictor *)base;
    acq_status status = check_relation(base, want->relation, error);
    if (status != ACQ_OK)
        return status;
    acq_ent *missing = acq_alloc(want->n, sizeof *missing);
    if (missing == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < want->n; i++)
        out[i] = (acq_scored_row){0};
    pthread_mutex_lock(&self->lock);
    status = make_rows(self, want, out, missing, error);
    pthread_mutex_unlock(&self->lock);
    acq_free(missing);
    for (size_t i = 0; i < want->n && status != ACQ_OK; i++)
        acq_scored_row_deinit(&out[i]);
    return status;
}

/* ---- the predictor ---- */

static acq_status load(const acq_predictor *base, acq_stop stop, acq_error *error)
{
    row_predictor *self = (row_predictor *)base;
    if (self->scorer->ops->load == NULL)
        return ACQ_OK;
    pthread_mutex_lock(&self->lock);
    acq_status status = self->scorer->ops->load(self->scorer, stop, error);
    pthread_mutex_unlock(&self->lock);
    return status;
}

static void free_rows(acq_predictor *base)
{
    row_predictor *self = (row_predictor *)base;
    uint32_t n_relations = acq_graph_get_n_relations(base->graph);
    for (acq_rel r = 0; self->links != NULL && r < n_relations; r++)
        acq_links_free(self->links[r]);
    acq_free(self->links);
    self->scorer->ops->free(self->scorer);
    acq_row_cache_free(self->cache);
    pthread_mutex_destroy(&self->lock);
    acq_free(self->name);
    acq_free(self);
}

static double get_floor(const acq_predictor *base)
{
    return ((const row_predictor *)base)->limits.floor;
}

static const char *get_note(const acq_predictor *base)
{
    return ((const row_predictor *)base)->limits.note;
}

acq_row_cache_counts acq_row_predictor_get_counts(const acq_predictor *predictor)
{
    row_predictor *self = (row_predictor *)predictor;
    pthread_mutex_lock(&self->lock);
    acq_row_cache_counts counts = acq_row_cache_get_counts(self->cache);
    pthread_mutex_unlock(&self->lock);
    return counts;
}

static const acq_predictor_ops ops = {.open_links = open_links,
                                      .free = free_rows,
                                      .get_note = get_note,
                                      .get_floor = get_floor,
                                      .copy_rows = copy_rows,
                                      .load = load,
                                      .forget_links = forget_links};
static const acq_predictor_ops no_rows_ops = {.open_links = open_links,
                                              .free = free_rows,
                                              .get_note = get_note,
                                              .get_floor = get_floor,
                                              .load = load,
                                              .forget_links = forget_links};

acq_status acq_predictor_open_model(const acq_predictor *predictor, const acq_row_model **out,
                                    acq_error *error)
{
    row_predictor *self = (row_predictor *)predictor;
    bool has_scorer = predictor->ops == &ops || predictor->ops == &no_rows_ops;
    *out = NULL;
    if (!has_scorer || self->scorer->ops->open_model == NULL)
        return ACQ_OK;
    pthread_mutex_lock(&self->lock);
    acq_status status = self->scorer->ops->open_model(self->scorer, out, error);
    pthread_mutex_unlock(&self->lock);
    return status;
}

static acq_status make_parts(row_predictor *self, const char *name)
{
    const acq_graph *graph = self->base.graph;
    size_t cache_bytes = self->limits.cache_bytes;
    self->links = acq_zalloc(acq_graph_get_n_relations(graph), sizeof(acq_links *));
    self->name = acq_copy_string(name);
    self->cache = acq_row_cache_new(cache_bytes == 0 ? CACHE_BYTES : cache_bytes);
    self->base.name = self->name;
    bool is_made = self->links != NULL && self->name != NULL && self->cache != NULL;
    return is_made ? ACQ_OK : ACQ_ERR_MEMORY;
}

acq_status acq_predictor_new_rows(const acq_graph *graph, const char *name, acq_row_scorer *scorer,
                                  const acq_row_limits *limits, acq_predictor **out,
                                  acq_error *error)
{
    row_predictor *self = acq_zalloc(1, sizeof *self);
    if (self == NULL) {
        scorer->ops->free(scorer);
        return acq_fail_memory(error);
    }
    bool has_rows = scorer->ops->find_rows != NULL;
    self->base = (acq_predictor){.ops = has_rows ? &ops : &no_rows_ops, .graph = graph};
    self->limits = *limits;
    self->scorer = scorer;
    pthread_mutex_init(&self->lock, NULL);
    if (make_parts(self, name) != ACQ_OK) {
        free_rows(&self->base);
        return acq_fail_memory(error);
    }
    *out = &self->base;
    return ACQ_OK;
}
