/* completion_read.c - a completion file as predictor.
 *
 * Opening reads the header, the directory and the calibrator. A relation is read, checked and
 * merged with the observed facts when it is first asked for, both directions together, under a
 * lock; later calls take the finished links from an atomic pointer without locking. Stored and
 * observed rows, both sorted, are merged in one pass: O(stored + observed) time and memory.
 *
 * Of a file with very many links single rows are read where they lie, and a question makes only
 * those that it needs, as with a model (copy_rows): a few microseconds each, and no memory. */
#include "predict/completion.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "graph/build.h"
#include "graph/links.h"
#include "predict/completion_file.h"

typedef struct completion {
    acq_predictor base;
    acq_completion_stored stored;
    char *path;
    char *label; /* completion:PATH */
    bool stale;  /* made for other facts */
    pthread_mutex_t lock;
    _Atomic(acq_links *) *links; /* NULL: not yet opened */
    float *decode;               /* score of each code; made for the first relation */
} completion;

acq_status acq_completion_read_info(const char *path, acq_completion_info *out, acq_error *error)
{
    acq_completion_stored in;
    acq_status status = acq_completion_stored_open(&in, path, error);
    if (status != ACQ_OK)
        return status;
    *out = (acq_completion_info){
        .version = in.header.version,
        .n_entities = in.header.n_entities,
        .n_relations = in.header.n_relations,
        .n_links = in.header.n_links,
        .dictionary_fingerprint = in.header.dictionary_fingerprint,
        .graph_fingerprint = in.header.graph_fingerprint,
        .floor = in.header.floor,
        .certain = (in.header.flags & ACQ_COMPLETION_CERTAIN) != 0,
        .has_calibrator = in.header.calibrator_length > 0,
        .has_reasons = in.header.reasons_length > 0,
        .shard = {in.header.shard_part, in.header.shard_of},
    };
    memcpy(out->predictor, in.name, in.header.name_length);
    acq_completion_stored_close(&in);
    return ACQ_OK;
}

/* ---- links of a relation ---- */

/* Walks the links of some rows in (head, tail) order. */
typedef struct cursor {
    const acq_links *rows;
    uint32_t row, link;
} cursor;

static uint64_t key_at(const cursor *c)
{
    if (c->row == c->rows->n_heads)
        return UINT64_MAX;
    return (uint64_t)c->rows->heads[c->row] << 32 | c->rows->tails[c->link];
}

static void advance(cursor *c)
{
    if (++c->link == c->rows->offsets[c->row + 1])
        c->row++;
}

static float stored_score(uint16_t code, const float *decode, bool certain)
{
    bool lowered = code == ACQ_CODE_CERTAIN && !certain;
    return lowered ? ACQ_SCORE_UNOBSERVED_MOST : decode[code];
}

/* Writes the union to `out`; *scored tells whether any link scores less than 1. */
static size_t merge_links(const acq_completion_block *block, const acq_links *observed,
                          const float *decode, bool certain, acq_link *out, bool *scored)
{
    cursor stored = {.rows = &block->rows}, facts = {.rows = observed};
    size_t n = 0;
    for (;;) {
        uint64_t a = key_at(&stored), b = key_at(&facts);
        uint64_t key = a < b ? a : b;
        if (key == UINT64_MAX)
            return n;
        float score = b == key ? 1.0F : stored_score(block->codes[stored.link], decode, certain);
        out[n++] = (acq_link){(acq_ent)(key >> 32), (acq_ent)key, score};
        *scored = *scored || score < 1.0F;
        if (a == key)
            advance(&stored);
        if (b == key)
            advance(&facts);
    }
}

/* Stored links and observed ones: a fact scores 1; unless `certain`, any other link scores at most
 * 0.9999. decode has ACQ_CODES scores. */
static acq_status merge(const acq_completion_block *block, const acq_links *observed,
                        const float *decode, bool certain, acq_links **out)
{
    size_t room = (size_t)block->rows.n_links + observed->n_links;
    acq_link *links = acq_alloc(room, sizeof *links);
    if (links == NULL)
        return ACQ_ERR_MEMORY;
    bool scored = false;
    size_t n = merge_links(block, observed, decode, certain, links, &scored);
    acq_status status = acq_links_new_sorted(links, n, observed->n_entities, scored, out);
    acq_free(links);
    return status;
}

static acq_status merge_one(const completion *me, acq_rel relation,
                            const acq_completion_block *block, acq_links **out, acq_error *error)
{
    const acq_links *observed = NULL;
    bool certain = (me->stored.header.flags & ACQ_COMPLETION_CERTAIN) != 0;
    acq_status status = acq_graph_open_links(me->base.graph, relation, &observed, error);
    if (status != ACQ_OK)
        return status;
    status = merge(block, observed, me->decode, certain, out);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(error);
    if (status != ACQ_OK)
        return acq_fail(error, status, "relation %u has too many links", relation);
    return ACQ_OK;
}

static acq_status make_decode(completion *me, acq_error *error)
{
    if (me->decode != NULL)
        return ACQ_OK;
    me->decode = acq_alloc(ACQ_CODES, sizeof *me->decode);
    if (me->decode == NULL)
        return acq_fail_memory(error);
    for (uint32_t code = 0; code < ACQ_CODES; code++)
        me->decode[code] = acq_score_decode((uint16_t)code);
    return ACQ_OK;
}

static acq_status merge_both(completion *me, acq_rel even, const acq_completion_block blocks[2],
                             acq_error *error)
{
    acq_links *merged[2] = {NULL, NULL};
    if (acq_completion_hash_block(&blocks[0], false) != acq_completion_hash_block(&blocks[1], true))
        return acq_completion_fail("the two directions of a relation differ; make it again", error);
    acq_status status = make_decode(me, error);
    if (status == ACQ_OK)
        status = merge_one(me, even, &blocks[0], &merged[0], error);
    if (status == ACQ_OK)
        status = merge_one(me, acq_inverse(even), &blocks[1], &merged[1], error);
    if (status != ACQ_OK) {
        acq_links_free(merged[0]);
        return status;
    }
    atomic_store_explicit(&me->links[even], merged[0], memory_order_release);
    atomic_store_explicit(&me->links[acq_inverse(even)], merged[1], memory_order_release);
    return ACQ_OK;
}

/* Reads both directions of a pair; the lock is held. */
static acq_status load_pair(completion *me, acq_rel even, acq_error *error)
{
    acq_completion_block blocks[2];
    void *bytes[2] = {NULL, NULL};
    acq_status status =
        acq_completion_stored_read_block(&me->stored, even, &bytes[0], &blocks[0], error);
    if (status == ACQ_OK)
        status = acq_completion_stored_read_block(&me->stored, acq_inverse(even), &bytes[1],
                                                  &blocks[1], error);
    if (status == ACQ_OK)
        status = merge_both(me, even, blocks, error);
    acq_free(bytes[0]);
    acq_free(bytes[1]);
    acq_error_set_file(status == ACQ_OK ? NULL : error, me->path);
    return status;
}

static acq_status open_links(const acq_predictor *self, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    completion *me = (completion *)self;           /* const to users: what loads is a cache */
    if (relation >= me->stored.header.n_relations) /* newer than the completion: facts only */
        return acq_graph_open_links(self->graph, relation, out, error);
    acq_links *links = atomic_load_explicit(&me->links[relation], memory_order_acquire);
    acq_status status = ACQ_OK;
    if (links == NULL) {
        pthread_mutex_lock(&me->lock);
        if (atomic_load_explicit(&me->links[relation], memory_order_relaxed) == NULL)
            status = load_pair(me, relation & ~1U, error);
        links = atomic_load_explicit(&me->links[relation], memory_order_relaxed);
        pthread_mutex_unlock(&me->lock);
    }
    if (status == ACQ_OK)
        *out = links;
    return status;
}

/* ---- rows ---- */

/* The stored row, in which observed facts score 1. */
static acq_status merge_row(const completion *me, const acq_completion_row *stored, acq_row facts,
                            acq_scored_row *out, acq_error *error)
{
    bool certain = (me->stored.header.flags & ACQ_COMPLETION_CERTAIN) != 0;
    size_t room = stored->n + facts.n, i = 0, j = 0;
    out->tails = acq_alloc(room, sizeof *out->tails);
    out->scores = acq_alloc(room, sizeof *out->scores);
    if (out->tails == NULL || out->scores == NULL)
        return acq_fail_memory(error);
    while (i < stored->n || j < facts.n) {
        bool takes_fact = i == stored->n || (j < facts.n && facts.tails[j] <= stored->tails[i]);
        bool is_both = takes_fact && i < stored->n && facts.tails[j] == stored->tails[i];
        out->tails[out->n] = takes_fact ? facts.tails[j] : stored->tails[i];
        out->scores[out->n++] =
            takes_fact ? 1.0F : stored_score(stored->codes[i], me->decode, certain);
        i += !takes_fact || is_both;
        j += takes_fact;
    }
    return ACQ_OK;
}

static acq_status copy_row(const completion *me, const acq_row_want *want, size_t i,
                           acq_completion_row *stored, acq_scored_row *out, acq_error *error)
{
    const acq_links *observed = NULL;
    acq_status status = acq_graph_open_links(me->base.graph, want->relation, &observed, error);
    stored->n = 0;
    if (status == ACQ_OK && want->relation < me->stored.header.n_relations &&
        want->heads[i] < me->stored.header.n_entities)
        status = acq_completion_stored_read_row(&me->stored, want->relation, want->heads[i], stored,
                                                error);
    if (status != ACQ_OK) {
        acq_error_set_file(error, me->path);
        return status;
    }
    return merge_row(me, stored, acq_links_get_row(observed, want->heads[i]), out, error);
}

static acq_status copy_rows(const acq_predictor *self, const acq_row_want *want,
                            acq_scored_row *out, acq_error *error)
{
    completion *me = (completion *)self;
    acq_completion_row stored = {0};
    pthread_mutex_lock(&me->lock);
    acq_status status = make_decode(me, error);
    pthread_mutex_unlock(&me->lock);
    for (size_t i = 0; i < want->n; i++)
        out[i] = (acq_scored_row){0};
    for (size_t i = 0; i < want->n && status == ACQ_OK; i++) {
        status = acq_stop_check(want->stop, error);
        if (status == ACQ_OK)
            status = copy_row(me, want, i, &stored, &out[i], error);
    }
    for (size_t i = 0; i < want->n && status != ACQ_OK; i++)
        acq_scored_row_deinit(&out[i]);
    acq_completion_row_deinit(&stored);
    return status;
}

static const char *get_note(const acq_predictor *self)
{
    const completion *me = (const completion *)self;
    return me->stale ? "the completion was made before the facts of this graph changed; observed "
                       "facts count, make it again to predict from them"
                     : NULL;
}

static double get_floor(const acq_predictor *self)
{
    return ((const completion *)self)->stored.header.floor;
}

static void free_completion(acq_predictor *self)
{
    completion *me = (completion *)self;
    for (uint32_t r = 0; me->links != NULL && r < me->stored.header.n_relations; r++)
        acq_links_free(atomic_load_explicit(&me->links[r], memory_order_relaxed));
    acq_free(me->links);
    acq_free(me->decode);
    acq_free(me->path);
    acq_free(me->label);
    acq_completion_stored_close(&me->stored);
    pthread_mutex_destroy(&me->lock);
    acq_free(me);
}

/* The ids of the completion mean the same in the graph, which may have got more since. */
static bool knows_names(const acq_graph *graph, const acq_completion_header *header)
{
    return header->n_entities <= acq_graph_get_n_entities(graph) &&
           header->n_relations <= acq_graph_get_n_relations(graph) &&
           header->dictionary_fingerprint ==
               acq_graph_hash_first_names(graph, header->n_entities, header->n_relations);
}

static acq_status check_whole(const completion *me, acq_error *error)
{
    const acq_completion_header *header = &me->stored.header;
    if (header->shard_of == 0)
        return ACQ_OK;
    acq_status status =
        acq_fail(error, ACQ_ERR_INPUT,
                 "this is shard %u of %u of a completion; put all of them together with anycq "
                 "merge",
                 header->shard_part + 1, header->shard_of);
    acq_error_set_file(error, me->path);
    return status;
}

acq_status acq_completion_copy_calibrator(const acq_predictor *predictor, void **out,
                                          size_t *length, acq_error *error)
{
    const completion *me = (const completion *)predictor;
    *length = me->stored.header.calibrator_length;
    if (*length == 0)
        return ACQ_OK;
    acq_status status = acq_completion_stored_read_calibrator(&me->stored, out, error);
    acq_error_set_file(error, me->path);
    return status;
}

bool acq_completion_has_reasons(const acq_predictor *predictor)
{
    return ((const completion *)predictor)->stored.header.reasons_length > 0;
}

acq_status acq_completion_copy_reasons(const acq_predictor *predictor, void **out, size_t *length,
                                       acq_error *error)
{
    const completion *me = (const completion *)predictor;
    *length = me->stored.header.reasons_length;
    if (*length == 0)
        return ACQ_OK;
    acq_status status = acq_completion_stored_read_reasons(&me->stored, out, error);
    acq_error_set_file(error, me->path);
    return status;
}

static acq_status check_graph(completion *me, acq_error *error)
{
    const acq_completion_header *header = &me->stored.header;
    const acq_graph *graph = me->base.graph;
    bool is_known = knows_names(graph, header);
    acq_status failed = acq_graph_get_failure(graph, error);
    if (failed != ACQ_OK)
        return failed;
    if (!is_known) {
        acq_status status = acq_fail(
            error, ACQ_ERR_INPUT,
            "the completion belongs to another graph (%u entities there, %u here, or other "
            "names); make one with anycq complete",
            header->n_entities, acq_graph_get_n_entities(graph));
        acq_error_set_file(error, me->path);
        return status;
    }
    me->stale = header->graph_fingerprint != acq_graph_get_fingerprint(graph);
    return ACQ_OK;
}

static acq_status make_names(completion *me, const char *path, acq_error *error)
{
    static const char prefix[] = "completion:";
    size_t length = strlen(path);
    me->path = acq_copy_string(path);
    me->label = acq_alloc(sizeof prefix + length, 1);
    if (me->path == NULL || me->label == NULL)
        return acq_fail_memory(error);
    memcpy(me->label, prefix, sizeof prefix - 1);
    memcpy(me->label + sizeof prefix - 1, path, length + 1);
    me->base.name = me->label;
    return ACQ_OK;
}

static acq_status open_for_graph(completion *me, const char *path, acq_error *error)
{
    acq_status status = acq_completion_stored_open(&me->stored, path, error);
    if (status != ACQ_OK) {
        me->stored = (acq_completion_stored){.file = -1};
        return status;
    }
    status = make_names(me, path, error);
    if (status == ACQ_OK)
        status = check_whole(me, error);
    if (status == ACQ_OK)
        status = check_graph(me, error);
    if (status != ACQ_OK)
        return status;
    me->links = acq_zalloc(me->stored.header.n_relations, sizeof *me->links);
    return me->links == NULL ? acq_fail_memory(error) : ACQ_OK;
}

acq_status acq_predictor_new_completion_rows(const acq_graph *graph, const char *path,
                                             uint64_t most_links, acq_predictor **out,
                                             acq_error *error)
{
    static const acq_predictor_ops ops = {.open_links = open_links,
                                          .free = free_completion,
                                          .get_note = get_note,
                                          .get_floor = get_floor};
    static const acq_predictor_ops row_ops = {.open_links = open_links,
                                              .free = free_completion,
                                              .get_note = get_note,
                                              .get_floor = get_floor,
                                              .copy_rows = copy_rows};
    completion *me = acq_zalloc(1, sizeof *me);
    if (me == NULL)
        return acq_fail_memory(error);
    me->base = (acq_predictor){.ops = &ops, .graph = graph, .name = "completion"};
    pthread_mutex_init(&me->lock, NULL);
    acq_status status = open_for_graph(me, path, error);
    if (status != ACQ_OK) {
        free_completion(&me->base);
        return status;
    }
    if (me->stored.header.n_links > most_links) {
        me->base.ops = &row_ops;
        me->base.has_cheap_rows = true;
    }
    *out = &me->base;
    return ACQ_OK;
}

acq_status acq_predictor_new_completion(const acq_graph *graph, const char *path,
                                        acq_predictor **out, acq_error *error)
{
    enum { MANY_LINKS = 1 << 25 };
    return acq_predictor_new_completion_rows(graph, path, MANY_LINKS, out, error);
}
