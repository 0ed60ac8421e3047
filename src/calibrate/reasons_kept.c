/* reasons_kept.c - what a completion keeps for reasons, written by a fit and read when they are
 * first asked for (docs/formats.md has it byte by byte):
 *
 *   [ head | names of models | rules of each pair of relations | links of each pair | cover ]
 *
 * Links of a pair are those from ACQ_REASONS_LEAST_P on, by (head, tail) of the even relation: all
 * heads, all tails, then a record each: weights of the parts in steps of 1/16, ranks. With learnt
 * rules among the models (version 2) the best ones of these links follow, and the place of one
 * among them for each link. */
#include "calibrate/reasons.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "base/threads.h"
#include "calibrate/candidates_parts.h"
#include "models/neighbours.h"
#include "predict/completion.h"

enum { VERSION = 1, WITH_LEARNT = 2, NAME = 16, STEPS = 16, MOST_STEPS = 127, MOST_RANK = 255 };

static const char magic[4] = {'A', 'C', 'Q', 'R'};
static const char RULEBOOK[] = "rulebook";

typedef struct kept_head {
    char magic[4];
    uint32_t version, n_pairs, n_models, top, reserved;
} kept_head;

typedef struct kept_rule {
    uint32_t first, second;
    float confidence;
    uint32_t support;
} kept_rule;

typedef struct kept_learnt {
    uint32_t head, body[ACQ_RULEBOOK_HOPS], constant, other, support, pairs;
} kept_learnt;

/* Bytes of a link's record: the parts, then both ranks of each model. */
static size_t get_width(size_t n_models)
{
    return ACQ_PART_MODELS + 3 * n_models;
}

static size_t pad4(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* ---- records ---- */

static uint8_t pack_rank(uint32_t rank)
{
    return (uint8_t)(rank < MOST_RANK ? rank : MOST_RANK);
}

static void pack(const acq_link_parts *parts, uint8_t *out)
{
    size_t n_models = parts->n - ACQ_PART_MODELS;
    for (size_t i = 0; i < parts->n; i++) {
        double steps = nearbyint((double)parts->weights[i] * STEPS);
        *out++ = (uint8_t)(int8_t)fmax(-MOST_STEPS, fmin(MOST_STEPS, steps));
    }
    for (size_t m = 0; m < n_models; m++) {
        *out++ = pack_rank(parts->ranks[m]);
        *out++ = pack_rank(parts->back_ranks[m]);
    }
}

static void unpack(const uint8_t *record, size_t n_models, acq_link_parts *out)
{
    *out = (acq_link_parts){.n = ACQ_PART_MODELS + n_models};
    for (size_t i = 0; i < out->n; i++)
        out->weights[i] = (float)(int8_t)*record++ / STEPS;
    for (size_t m = 0; m < n_models; m++) {
        out->ranks[m] = *record++;
        out->back_ranks[m] = *record++;
    }
}

/* ---- writing ---- */

typedef struct bytes {
    uint8_t *all;
    size_t n, capacity;
} bytes;

static acq_status put(bytes *to, const void *piece, size_t length)
{
    if (ACQ_RESERVE(to->all, to->capacity, to->n + length) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (length > 0)
        memcpy(to->all + to->n, piece, length);
    to->n += length;
    return ACQ_OK;
}

static acq_status put_number(bytes *to, uint32_t number)
{
    return put(to, &number, sizeof number);
}

struct acq_kept_writer {
    const acq_candidates_maker *maker;
    const acq_row_model *rulebook; /* NULL: no learnt rules are evidence */
    void *scratch;                 /* of the rulebook */
    bytes links;                   /* of the pairs so far */
    uint32_t n_pairs;              /* of these */
};

acq_status acq_kept_writer_new(const acq_candidates_maker *maker, acq_kept_writer **out,
                               acq_error *error)
{
    acq_kept_writer *writer = acq_zalloc(1, sizeof *writer);
    if (writer == NULL)
        return acq_fail_memory(error);
    writer->maker = maker;
    for (size_t m = 0; m < maker->params.n_models; m++)
        if (strcmp(maker->params.models[m]->kind, RULEBOOK) == 0)
            writer->rulebook = maker->params.models[m];
    acq_status status = ACQ_OK;
    if (writer->rulebook != NULL)
        status = writer->rulebook->ops->open_scratch(writer->rulebook, &writer->scratch, error);
    if (status == ACQ_OK)
        *out = writer;
    else
        acq_kept_writer_free(writer);
    return status;
}

void acq_kept_writer_free(acq_kept_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->rulebook != NULL)
        writer->rulebook->ops->free_scratch(writer->rulebook, writer->scratch);
    acq_free(writer->links.all);
    acq_free(writer);
}

static int compare_links(const void *a, const void *b)
{
    const acq_kept_link *x = a, *y = b;
    if (x->head != y->head)
        return x->head < y->head ? -1 : 1;
    return (x->tail > y->tail) - (x->tail < y->tail);
}

static acq_kept_link make_link(const acq_part_meter *meter, const acq_candidates *found,
                               acq_boost_judge judge, size_t i)
{
    bool is_turned = found->relation % 2 == 1;
    acq_link_parts parts;
    acq_kept_link link = {.head = is_turned ? found->tails[i] : found->heads[i],
                          .tail = is_turned ? found->heads[i] : found->tails[i]};
    acq_part_meter_measure(meter, judge, i, &parts);
    if (is_turned)
        acq_link_parts_turn(&parts);
    pack(&parts, link.record);
    return link;
}

static acq_status put_links(acq_kept_writer *writer, const acq_kept_link *links, size_t n)
{
    static const uint8_t zeros[4];
    size_t width = get_width(writer->maker->params.n_models);
    bytes *to = &writer->links;
    acq_status status = put_number(to, (uint32_t)n);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status = put_number(to, links[i].head);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status = put_number(to, links[i].tail);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status = put(to, links[i].record, width);
    return status == ACQ_OK ? put(to, zeros, pad4(n * width) - n * width) : status;
}

/* ---- learnt rules ---- */

/* The same order in each run: cycles, then rules with constants, as the book has them. */
static int compare_rules(const void *a, const void *b)
{
    const acq_learnt_rule *const *x = a, *const *y = b;
    int kind = ((*x)->constant != ACQ_NO_ID) - ((*y)->constant != ACQ_NO_ID);
    return kind != 0 ? kind : (*x > *y) - (*x < *y);
}

/* The best rule of each link, which are sorted; NULL: none concludes it. */
static acq_status find_learnt(acq_kept_writer *writer, acq_rel relation, const acq_kept_link *links,
                              size_t n, const acq_learnt_rule **out, acq_error *error)
{
    acq_ent *tails = acq_alloc(n, sizeof *tails);
    acq_status status = tails == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        tails[i] = links[i].tail;
    for (size_t i = 0, end; i < n && status == ACQ_OK; i = end) {
        for (end = i + 1; end < n && links[end].head == links[i].head;)
            end++;
        status = acq_rulebook_find_best(writer->rulebook, writer->scratch, relation, links[i].head,
                                        tails + i, end - i, out + i, error);
    }
    acq_free(tails);
    return status;
}

static acq_status put_learnt_rule(bytes *to, const acq_learnt_rule *rule)
{
    kept_learnt kept = {rule->head,     {rule->body[0], rule->body[1], rule->body[2]},
                        rule->constant, rule->other,
                        rule->support,  rule->pairs};
    return put(to, &kept, sizeof kept);
}

/* Those that some link has, once each, then the place of each link's own. */
static acq_status put_rules_of_links(bytes *to, const acq_learnt_rule *const *rules, size_t n,
                                     const acq_learnt_rule **sorted)
{
    size_t n_some = 0, n_sorted = 0;
    for (size_t i = 0; i < n; i++)
        if (rules[i] != NULL)
            sorted[n_some++] = rules[i];
    if (n_some > 0)
        qsort(sorted, n_some, sizeof *sorted, compare_rules);
    for (size_t i = 0; i < n_some; i++)
        if (n_sorted == 0 || sorted[n_sorted - 1] != sorted[i])
            sorted[n_sorted++] = sorted[i];
    acq_status status = put_number(to, (uint32_t)n_sorted);
    for (size_t i = 0; i < n_sorted && status == ACQ_OK; i++)
        status = put_learnt_rule(to, sorted[i]);
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        size_t at = n_sorted;
        if (rules[i] != NULL)
            ACQ_SEARCH(at, 0, n_sorted, compare_rules(&sorted[at], &rules[i]) < 0);
        status = put_number(to, rules[i] == NULL ? ACQ_NO_ID : (uint32_t)at);
    }
    return status;
}

static acq_status put_learnt(acq_kept_writer *writer, acq_rel relation, const acq_kept_link *links,
                             size_t n, acq_error *error)
{
    if (writer->rulebook == NULL)
        return ACQ_OK;
    const acq_learnt_rule **rules = acq_alloc(n, sizeof *rules);
    const acq_learnt_rule **sorted = acq_alloc(n, sizeof *sorted);
    acq_status status = rules == NULL || sorted == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = find_learnt(writer, relation, links, n, rules, error);
    if (status == ACQ_OK && put_rules_of_links(&writer->links, rules, n, sorted) != ACQ_OK)
        status = acq_fail_memory(error);
    acq_free(rules);
    acq_free(sorted);
    return status;
}

static bool is_kept(float odds)
{
    return acq_boost_to_probability((double)odds) >= ACQ_REASONS_LEAST_P;
}

/* One thread measures a block of links. */
typedef struct measuring {
    const acq_part_meter *meter;
    const acq_candidates *found;
    acq_boost_judge judge;
    const size_t *chosen; /* candidates */
    size_t n;
    acq_kept_link *out;
} measuring;

enum { MEASURED = 512 }; /* links of an item */

static acq_status measure_block(void *context, size_t item, unsigned thread)
{
    const measuring *m = context;
    size_t first = item * MEASURED, end = first + MEASURED < m->n ? first + MEASURED : m->n;
    (void)thread;
    for (size_t i = first; i < end; i++)
        m->out[i] = make_link(m->meter, m->found, m->judge, m->chosen[i]);
    return ACQ_OK;
}

acq_status acq_kept_measure(const acq_candidates_maker *maker, const acq_candidates *found,
                            acq_boost_judge judge, const float *odds, acq_kept_link **out,
                            size_t *n, acq_error *error)
{
    acq_part_meter *meter = NULL;
    size_t n_kept = 0;
    size_t *chosen = acq_alloc(found->n, sizeof *chosen);
    for (size_t i = 0; i < found->n && chosen != NULL; i++)
        if (is_kept(odds[i]))
            chosen[n_kept++] = i;
    acq_kept_link *links = acq_zalloc(n_kept, sizeof *links);
    acq_status status = links == NULL || chosen == NULL
                            ? acq_fail_memory(error)
                            : acq_part_meter_new(maker, found, &meter, error);
    measuring m = {meter, found, judge, chosen, n_kept, links};
    if (status == ACQ_OK)
        status = acq_threads_run(maker->params.n_threads, (n_kept + MEASURED - 1) / MEASURED,
                                 measure_block, &m);
    acq_part_meter_free(meter);
    acq_free(chosen);
    if (status != ACQ_OK) {
        acq_free(links);
        return status;
    }
    *out = links;
    *n = n_kept;
    return ACQ_OK;
}

static acq_status put_pair(acq_kept_writer *writer, acq_rel relation, const acq_kept_link *links,
                           size_t n, acq_error *error)
{
    return put_links(writer, links, n) != ACQ_OK ? acq_fail_memory(error)
                                                 : put_learnt(writer, relation, links, n, error);
}

acq_status acq_kept_writer_put(acq_kept_writer *writer, acq_rel relation, acq_kept_link *links,
                               size_t n, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (n > 1)
        qsort(links, n, sizeof *links, compare_links);
    for (; status == ACQ_OK && writer->n_pairs < relation / 2; writer->n_pairs++)
        status = put_pair(writer, 0, NULL, 0, error); /* pairs that were left out */
    if (status == ACQ_OK)
        status = put_pair(writer, relation & ~1U, links, n, error);
    writer->n_pairs++;
    return status;
}

acq_status acq_kept_writer_add(acq_kept_writer *writer, const acq_candidates *found,
                               acq_boost_judge judge, const float *odds, acq_error *error)
{
    acq_kept_link *links = NULL;
    size_t n = 0;
    acq_status status = acq_kept_measure(writer->maker, found, judge, odds, &links, &n, error);
    if (status == ACQ_OK)
        status = acq_kept_writer_put(writer, found->relation, links, n, error);
    acq_free(links);
    return status;
}

static acq_status put_rules(const acq_rules *rules, uint32_t n_pairs, bytes *to)
{
    acq_status status = ACQ_OK;
    for (uint32_t pair = 0; pair < n_pairs && status == ACQ_OK; pair++) {
        size_t n = 0;
        const acq_rule *list = rules == NULL ? NULL : acq_rules_get(rules, 2 * pair, &n);
        status = put_number(to, (uint32_t)n);
        for (size_t i = 0; i < n && status == ACQ_OK; i++) {
            kept_rule rule = {list[i].first, list[i].second, list[i].confidence, list[i].support};
            status = put(to, &rule, sizeof rule);
        }
    }
    return status;
}

/* Of each relation and of the two pools: links held out, scores kept, these. */
static acq_status put_cover(const acq_cover *cover, bytes *to)
{
    acq_status status = put_number(to, cover == NULL ? 0 : cover->n_relations);
    for (uint32_t i = 0; cover != NULL && i < cover->n_relations + 2 && status == ACQ_OK; i++) {
        const acq_cover_list *list = &cover->lists[i];
        status = put_number(to, list->n);
        if (status == ACQ_OK)
            status = put_number(to, list->n_kept);
        if (status == ACQ_OK)
            status = put(to, list->scores, list->n_kept * sizeof *list->scores);
    }
    return status;
}

acq_status acq_kept_writer_finish(acq_kept_writer *writer, const acq_cover *cover, void **out,
                                  size_t *length, acq_error *error)
{
    const acq_candidates_params *params = &writer->maker->params;
    kept_head head = {.version = writer->rulebook != NULL ? WITH_LEARNT : VERSION,
                      .n_pairs = writer->n_pairs,
                      .n_models = (uint32_t)params->n_models,
                      .top = params->top};
    bytes all = {0};
    memcpy(head.magic, magic, sizeof magic);
    acq_status status = put(&all, &head, sizeof head);
    for (size_t m = 0; m < params->n_models && status == ACQ_OK; m++) {
        char text[NAME] = {0};
        strncpy(text, params->models[m]->kind, NAME - 1);
        status = put(&all, text, NAME);
    }
    if (status == ACQ_OK)
        status = put_rules(params->rules, writer->n_pairs, &all);
    if (status == ACQ_OK)
        status = put(&all, writer->links.all, writer->links.n);
    if (status == ACQ_OK)
        status = put_cover(cover, &all);
    if (status != ACQ_OK) {
        acq_free(all.all);
        return acq_fail_memory(error);
    }
    *out = all.all;
    *length = all.n;
    return ACQ_OK;
}

/* ---- reading ---- */

typedef struct kept_pair {
    uint32_t n;
    const uint32_t *heads, *tails;
    const uint8_t *records;
    acq_learnt_rule *learnt;
    const uint32_t *places; /* of each link's rule among these; NULL: there are none */
} kept_pair;

typedef struct kept_source {
    acq_reason_source base;
    const acq_predictor *completion;
    pthread_mutex_t lock; /* guards all below */
    bool is_loaded;
    void *memory; /* the bytes, which pairs point into */
    kept_pair *pairs;
    uint32_t n_pairs, n_models;
    bool has_learnt;
    acq_rules *rules;
    acq_row_model *neighbours;
    acq_cover cover;
} kept_source;

/* What is left of the bytes. */
typedef struct rest {
    const uint8_t *at, *end;
} rest;

/* The next n items of `size` bytes; NULL: there are not so many. */
static const void *take(rest *from, size_t n, size_t size)
{
    const uint8_t *at = from->at;
    if (n > (size_t)(from->end - at) / size)
        return NULL;
    from->at += n * size;
    return at;
}

static acq_status fail_damaged(acq_error *error)
{
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the reasons that the completion keeps are damaged; fit "
                    "it again");
}

static acq_status read_head(kept_source *self, rest *from, acq_error *error)
{
    const kept_head *head = take(from, 1, sizeof *head);
    if (head == NULL || memcmp(head->magic, magic, sizeof magic) != 0)
        return fail_damaged(error);
    self->has_learnt = head->version == WITH_LEARNT;
    if (head->version != VERSION && !self->has_learnt)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the completion's reasons were kept by a newer version; upgrade");
    const char *names = take(from, head->n_models, NAME);
    if (head->n_models > ACQ_CANDIDATES_MODELS || names == NULL ||
        head->n_pairs > acq_graph_get_n_relations(self->base.graph) / 2)
        return fail_damaged(error);
    for (uint32_t m = 0; m < head->n_models; m++) {
        self->base.models[m] = names + (size_t)m * NAME;
        if (memchr(self->base.models[m], '\0', NAME) == NULL)
            return fail_damaged(error);
    }
    self->n_pairs = head->n_pairs;
    self->n_models = head->n_models;
    self->base.top = head->top;
    return ACQ_OK;
}

/* Of one pair, in fresh memory; the graph's ids are checked where the rules are made. */
static acq_status read_list(rest *from, acq_rule **out, size_t *n, acq_error *error)
{
    const uint32_t *count = take(from, 1, sizeof *count);
    const kept_rule *kept = count == NULL ? NULL : take(from, *count, sizeof *kept);
    if (kept == NULL)
        return fail_damaged(error);
    *out = acq_alloc(*count, sizeof **out);
    if (*out == NULL)
        return acq_fail_memory(error);
    for (*n = 0; *n < *count; (*n)++) {
        const kept_rule *rule = &kept[*n];
        (*out)[*n] = (acq_rule){.first = rule->first,
                                .second = rule->second,
                                .confidence = rule->confidence,
                                .support = rule->support};
    }
    return ACQ_OK;
}

static acq_status read_rules(kept_source *self, rest *from, acq_error *error)
{
    acq_rule **lists = acq_zalloc(self->n_pairs, sizeof *lists);
    size_t *n = acq_zalloc(self->n_pairs, sizeof *n);
    acq_status status = lists == NULL || n == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (uint32_t i = 0; i < self->n_pairs && status == ACQ_OK; i++)
        status = read_list(from, &lists[i], &n[i], error);
    acq_error own = {0};
    if (status == ACQ_OK)
        status = acq_rules_new(self->base.graph, (const acq_rule *const *)lists, n, self->n_pairs,
                               &self->rules, &own);
    if (own.code == ACQ_ERR_INPUT)
        status = fail_damaged(error);
    else if (own.code != ACQ_OK)
        status = acq_fail(error, own.code, "%s", own.message);
    for (uint32_t i = 0; lists != NULL && i < self->n_pairs; i++)
        acq_free(lists[i]);
    acq_free(lists);
    acq_free(n);
    return status;
}

static bool is_relation(const kept_source *self, uint32_t relation)
{
    return relation < acq_graph_get_n_relations(self->base.graph);
}

/* Names are looked up by these ids. */
static bool is_rule(const kept_source *self, const kept_learnt *rule)
{
    uint32_t n_entities = acq_graph_get_n_entities(self->base.graph);
    bool is_one = is_relation(self, rule->head) && is_relation(self, rule->body[0]);
    for (unsigned i = 1; i < ACQ_RULEBOOK_HOPS; i++)
        is_one = is_one && (rule->body[i] == ACQ_NO_ID || is_relation(self, rule->body[i]));
    return is_one && (rule->constant == ACQ_NO_ID || rule->constant < n_entities) &&
           (rule->other == ACQ_NO_ID || rule->other < n_entities);
}

static acq_status read_learnt(const kept_source *self, rest *from, kept_pair *pair,
                              acq_error *error)
{
    const uint32_t *n = take(from, 1, sizeof *n);
    const kept_learnt *kept = n == NULL ? NULL : take(from, *n, sizeof *kept);
    pair->places = kept == NULL ? NULL : take(from, pair->n, sizeof *pair->places);
    if (pair->places == NULL)
        return fail_damaged(error);
    pair->learnt = acq_alloc(*n, sizeof *pair->learnt);
    if (pair->learnt == NULL)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < *n; i++) {
        pair->learnt[i] =
            (acq_learnt_rule){.head = kept[i].head,
                              .body = {kept[i].body[0], kept[i].body[1], kept[i].body[2]},
                              .constant = kept[i].constant,
                              .other = kept[i].other,
                              .support = kept[i].support,
                              .pairs = kept[i].pairs};
        if (!is_rule(self, &kept[i]))
            return fail_damaged(error);
    }
    for (uint32_t i = 0; i < pair->n; i++)
        if (pair->places[i] != ACQ_NO_ID && pair->places[i] >= *n)
            return fail_damaged(error);
    return ACQ_OK;
}

static acq_status read_links(kept_source *self, rest *from, acq_error *error)
{
    size_t width = get_width(self->n_models);
    self->pairs = acq_zalloc(self->n_pairs, sizeof *self->pairs);
    if (self->pairs == NULL)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < self->n_pairs; i++) {
        kept_pair *pair = &self->pairs[i];
        const uint32_t *count = take(from, 1, sizeof *count);
        size_t n = count == NULL ? 0 : *count;
        pair->heads = take(from, n, sizeof *pair->heads);
        pair->tails = take(from, n, sizeof *pair->tails);
        pair->records = take(from, pad4(n * width), 1);
        if (count == NULL || pair->heads == NULL || pair->tails == NULL || pair->records == NULL)
            return fail_damaged(error);
        pair->n = *count;
        acq_status status = self->has_learnt ? read_learnt(self, from, pair, error) : ACQ_OK;
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

static acq_status read_scores(rest *from, acq_cover_list *list, acq_error *error)
{
    const uint32_t *counts = take(from, 2, sizeof *counts);
    const float *scores = counts == NULL ? NULL : take(from, counts[1], sizeof *scores);
    if (scores == NULL || counts[1] > counts[0] || (counts[0] > 0 && counts[1] == 0))
        return fail_damaged(error);
    list->scores = acq_alloc(counts[1], sizeof *list->scores);
    if (list->scores == NULL)
        return acq_fail_memory(error);
    list->n = counts[0];
    for (; list->n_kept < counts[1]; list->n_kept++) {
        list->scores[list->n_kept] = scores[list->n_kept];
        if (!(scores[list->n_kept] >= (list->n_kept == 0 ? 0 : scores[list->n_kept - 1])))
            return fail_damaged(error);
    }
    return ACQ_OK;
}

static acq_status read_cover(kept_source *self, rest *from, acq_error *error)
{
    const uint32_t *n = take(from, 1, sizeof *n);
    if (n == NULL || *n > 2 * self->n_pairs)
        return fail_damaged(error);
    acq_status status = ACQ_OK;
    if (*n > 0) {
        self->cover.lists = acq_zalloc((size_t)*n + 2, sizeof *self->cover.lists);
        self->cover.n_relations = *n;
        status = self->cover.lists == NULL ? acq_fail_memory(error) : ACQ_OK;
    }
    for (uint32_t i = 0; *n > 0 && i < *n + 2 && status == ACQ_OK; i++)
        status = read_scores(from, &self->cover.lists[i], error);
    if (status == ACQ_OK && from->at != from->end)
        status = fail_damaged(error);
    return status;
}

static bool uses_neighbours(const kept_source *self)
{
    for (uint32_t m = 0; m < self->n_models; m++)
        if (strcmp(self->base.models[m], "neighbours") == 0)
            return true;
    return false;
}

static acq_status load(kept_source *self, acq_error *error)
{
    size_t length;
    if (self->is_loaded)
        return ACQ_OK;
    acq_status status =
        acq_completion_copy_reasons(self->completion, &self->memory, &length, error);
    rest from = {self->memory, (const uint8_t *)self->memory + (status == ACQ_OK ? length : 0)};
    if (status == ACQ_OK)
        status = read_head(self, &from, error);
    if (status == ACQ_OK)
        status = read_rules(self, &from, error);
    if (status == ACQ_OK)
        status = read_links(self, &from, error);
    if (status == ACQ_OK)
        status = read_cover(self, &from, error);
    if (status == ACQ_OK && uses_neighbours(self))
        status = acq_neighbours_new_row_model(self->base.graph, &self->neighbours, error);
    self->base.rules = self->rules;
    self->base.neighbours = self->neighbours;
    self->is_loaded = status == ACQ_OK;
    return status;
}

static void unload(kept_source *self)
{
    acq_rules_free(self->rules);
    acq_row_model_free(self->neighbours);
    acq_cover_deinit(&self->cover);
    for (uint32_t i = 0; self->pairs != NULL && i < self->n_pairs; i++)
        acq_free(self->pairs[i].learnt);
    acq_free(self->pairs);
    acq_free(self->memory);
    self->rules = NULL;
    self->neighbours = NULL;
    self->pairs = NULL;
    self->memory = NULL;
}

static uint64_t get_key(acq_ent head, acq_ent tail)
{
    return (uint64_t)head << 32 | tail;
}

static void find(const kept_source *self, acq_rel relation, acq_ent head, acq_ent tail,
                 acq_link_parts *out)
{
    *out = (acq_link_parts){0};
    if (relation / 2 >= self->n_pairs)
        return;
    const kept_pair *pair = &self->pairs[relation / 2];
    uint64_t wanted = get_key(head, tail);
    size_t i;
    ACQ_SEARCH(i, 0, pair->n, get_key(pair->heads[i], pair->tails[i]) < wanted);
    if (i == pair->n || get_key(pair->heads[i], pair->tails[i]) != wanted)
        return;
    unpack(pair->records + i * get_width(self->n_models), self->n_models, out);
    if (pair->places != NULL && pair->places[i] != ACQ_NO_ID)
        out->learnt = &pair->learnt[pair->places[i]];
}

static acq_status load_locked(kept_source *self, acq_error *error)
{
    pthread_mutex_lock(&self->lock);
    acq_status status = load(self, error);
    if (status != ACQ_OK)
        unload(self);
    pthread_mutex_unlock(&self->lock);
    return status;
}

static acq_status find_parts(acq_reason_source *base, acq_ent head, acq_rel relation, acq_ent tail,
                             acq_link_parts *out, acq_error *error)
{
    kept_source *self = (kept_source *)base;
    acq_status status = load_locked(self, error);
    if (status == ACQ_OK)
        find(self, relation, head, tail, out);
    return status;
}

static acq_status open_cover(acq_reason_source *base, const acq_cover **out, acq_error *error)
{
    kept_source *self = (kept_source *)base;
    acq_status status = load_locked(self, error);
    *out = status == ACQ_OK && self->cover.n_relations > 0 ? &self->cover : NULL;
    return status;
}

static void free_source(acq_reason_source *base)
{
    kept_source *self = (kept_source *)base;
    unload(self);
    pthread_mutex_destroy(&self->lock);
    acq_free(self);
}

acq_status acq_reasons_attach_kept(acq_predictor *completion, acq_error *error)
{
    static const acq_reason_source_ops ops = {
        .find_parts = find_parts, .open_cover = open_cover, .free = free_source};
    if (!acq_completion_has_reasons(completion))
        return ACQ_OK;
    kept_source *self = acq_zalloc(1, sizeof *self);
    if (self == NULL)
        return acq_fail_memory(error);
    self->base = (acq_reason_source){.ops = &ops, .graph = completion->graph};
    self->completion = completion;
    pthread_mutex_init(&self->lock, NULL);
    acq_predictor_set_reasons(completion, &self->base, free_source);
    return ACQ_OK;
}
