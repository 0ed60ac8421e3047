/* book.c - the rules of a learner as one book, in order and in clusters; see rulebook.h.
 *
 * Two rules say the same as far as they conclude the same links. The links that a rule concludes
 * are kept as a sketch: each link falls into one of 64 bins by its hash, and the smallest hash of
 * every bin is kept. The share of bins in which two sketches agree, among those that either fills,
 * estimates the share of links that both conclude (one-permutation MinHash). Rules are taken from
 * the most confident on; each joins the first cluster whose first rule is like it, or begins a
 * new one. Links of a cycle are those from some heads of the relation and from some tails. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "models/rulebook/parts.h"

enum { BINS = 64, PROBES = 60, MOST_ROW = 3000, EMPTY = -1, PROBE_WORK = 5000 };

static const char *const aggregations[ACQ_N_RULE_AGGREGATIONS] = {"clusters", "noisy-or", "max"};

const char *acq_rule_aggregation_get_name(acq_rule_aggregation aggregation)
{
    return aggregations[aggregation];
}

void acq_rulebook_free(acq_rulebook *book)
{
    if (book == NULL)
        return;
    acq_free(book->cycles);
    acq_free(book->constants);
    acq_free(book);
}

/* ---- from a learner, and back ---- */

static void append(acq_learnt_rule *to, size_t *n, const acq_learnt_list *from)
{
    if (from->n > 0)
        memcpy(to + *n, from->rules, from->n * sizeof *to);
    *n += from->n;
}

/* Of each relation the best cycles; is_whole: all that were counted. */
static void append_cycles(const acq_rule_learner *l, const acq_learnt_list *from, bool is_whole,
                          acq_rulebook *book)
{
    size_t first = book->n_cycles;
    for (size_t i = 0; i < from->n; i++)
        if (is_whole || acq_rule_learner_keeps(l, &from->rules[i]))
            book->cycles[book->n_cycles++] = from->rules[i];
    size_t n = book->n_cycles - first;
    if (n > 0)
        qsort(book->cycles + first, n, sizeof *book->cycles, acq_learnt_rule_compare);
    if (n > l->params.most && !is_whole)
        book->n_cycles = first + l->params.most;
}

acq_status acq_rule_learner_copy(const acq_rule_learner *l, bool is_whole, acq_rulebook **out,
                                 acq_error *error)
{
    acq_rulebook *book = acq_zalloc(1, sizeof *book);
    if (book == NULL)
        return acq_fail_memory(error);
    *book = (acq_rulebook){.aggregation = l->params.aggregation,
                           .best = l->params.best,
                           .n_entities = l->n_entities,
                           .n_relations = l->n_relations};
    size_t n = acq_rule_learner_count(l);
    book->cycles = acq_alloc(n, sizeof *book->cycles);
    book->constants = acq_alloc(n, sizeof *book->constants);
    book->cycles_room = book->constants_room = n;
    if (book->cycles == NULL || book->constants == NULL) {
        acq_rulebook_free(book);
        return acq_fail_memory(error);
    }
    for (acq_rel r = 0; r < l->n_relations; r++) {
        const acq_rule_subject *s = &l->subjects[r / 2];
        if (r % 2 == 0)
            append_cycles(l, &s->cycles, is_whole, book);
        append(book->constants, &book->n_constants, &s->constants[r % 2]);
    }
    if (book->n_constants > 0)
        qsort(book->constants, book->n_constants, sizeof *book->constants, acq_learnt_rule_compare);
    *out = book;
    return ACQ_OK;
}

/* ---- sketches ---- */

typedef struct sketch {
    int32_t bins[BINS]; /* EMPTY, or the smallest hash */
} sketch;

static void sketch_init(sketch *s)
{
    for (size_t i = 0; i < BINS; i++)
        s->bins[i] = EMPTY;
}

static void sketch_add(sketch *s, uint64_t link)
{
    uint64_t hash = acq_random_mix(link);
    int32_t *bin = &s->bins[hash % BINS];
    int32_t value = (int32_t)(hash >> 33);
    if (*bin == EMPTY || value < *bin)
        *bin = value;
}

static bool is_like(const sketch *a, const sketch *b, double similarity)
{
    uint32_t same = 0, filled = 0;
    for (size_t i = 0; i < BINS; i++) {
        filled += a->bins[i] != EMPTY || b->bins[i] != EMPTY;
        same += a->bins[i] == b->bins[i] && a->bins[i] != EMPTY;
    }
    return filled > 0 && (double)same >= similarity * (double)filled;
}

/* ---- clusters ---- */

/* What one thread needs. */
typedef struct helper {
    acq_walker walker;
    sketch *sketches; /* of the rules of one head */
    size_t n_sketches, sketches_room;
    uint32_t *leaders; /* the first rule of each cluster */
    size_t leaders_room;
} helper;

typedef struct job {
    const acq_rule_learner *learner;
    acq_rulebook *book;
    helper *helpers;
} job;

static acq_status group(helper *h, acq_learnt_rule *rules, size_t n, double similarity)
{
    uint32_t n_clusters = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = 0;
        while (c < n_clusters && !is_like(&h->sketches[h->leaders[c]], &h->sketches[i], similarity))
            c++;
        rules[i].cluster = c;
        if (c < n_clusters)
            continue;
        if (ACQ_RESERVE(h->leaders, h->leaders_room, (size_t)n_clusters + 1) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        h->leaders[n_clusters++] = (uint32_t)i;
    }
    return ACQ_OK;
}

/* What all rules conclude from some entities that have the relation. */
static void sketch_side(const acq_rule_learner *l, helper *h, acq_rel relation,
                        const acq_learnt_rule *rules, size_t n)
{
    const acq_links *links = l->links[relation];
    acq_random random = acq_random_start(l->params.seed, relation);
    acq_stride order = acq_stride_draw(&random, links->n_heads);
    uint32_t n_probes = links->n_heads < PROBES ? links->n_heads : PROBES;
    for (uint32_t p = 0; p < n_probes; p++) {
        acq_ent head = links->heads[acq_stride_get(&order, p)];
        acq_walker_start(&h->walker, head);
        for (size_t i = 0; i < n; i++) {
            acq_rel turned[ACQ_RULEBOOK_HOPS];
            size_t n_ends;
            acq_learnt_rule_turn(rules[i].body, turned);
            const acq_ent *ends =
                acq_walker_follow(&h->walker, relation % 2 == 0 ? rules[i].body : turned, &n_ends);
            for (size_t j = 0; j < n_ends && j < MOST_ROW; j++)
                sketch_add(&h->sketches[i], (uint64_t)head << 32 | ends[j]);
        }
    }
}

static acq_status start_sketches(helper *h, size_t n)
{
    if (ACQ_RESERVE(h->sketches, h->sketches_room, n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < n; i++)
        sketch_init(&h->sketches[i]);
    return ACQ_OK;
}

/* The X that one rule with constants concludes. */
static void sketch_constant(const acq_links *const *links, const acq_learnt_rule *rule, sketch *out)
{
    const acq_links *heads = links[rule->body[0]];
    acq_row row = {.tails = heads->heads, .n = heads->n_heads};
    if (rule->other != ACQ_NO_ID)
        row = acq_links_get_row(links[acq_inverse(rule->body[0])], rule->other);
    /* where there are many, the same ones are left out of all */
    for (size_t i = 0; i < row.n; i++)
        if (row.n <= MOST_ROW || row.tails[i] % (row.n / MOST_ROW + 1) == 0)
            sketch_add(out, row.tails[i]);
}

static acq_status cluster_constants(const job *j, helper *h, acq_learnt_rule *rules, size_t n)
{
    acq_status status = start_sketches(h, n);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        sketch_constant(j->learner->links, &rules[i], &h->sketches[i]);
    return status == ACQ_OK ? group(h, rules, n, j->learner->params.similarity) : status;
}

/* Where the rules of this head begin. */
static size_t find_first(const acq_learnt_rule *rules, size_t n, acq_rel head)
{
    size_t i;
    ACQ_SEARCH(i, 0, n, rules[i].head < head);
    return i;
}

static acq_status cluster_relation(void *context, size_t item, unsigned thread)
{
    const job *j = context;
    helper *h = &j->helpers[thread];
    acq_rulebook *book = j->book;
    acq_rel head = (acq_rel)item;
    size_t begin = find_first(book->cycles, book->n_cycles, head);
    size_t n = find_first(book->cycles, book->n_cycles, head + 1) - begin;
    acq_status status = start_sketches(h, n);
    if (n > 0 && status == ACQ_OK) {
        sketch_side(j->learner, h, head, book->cycles + begin, n);
        sketch_side(j->learner, h, acq_inverse(head), book->cycles + begin, n);
        status = group(h, book->cycles + begin, n, j->learner->params.similarity);
    }
    begin = find_first(book->constants, book->n_constants, head);
    size_t end = find_first(book->constants, book->n_constants, head + 1);
    for (size_t next; begin < end && status == ACQ_OK; begin = next) {
        next = begin + 1;
        while (next < end && book->constants[next].constant == book->constants[begin].constant)
            next++;
        status = cluster_constants(j, h, book->constants + begin, next - begin);
    }
    return status;
}

static void free_helper(helper *h)
{
    acq_walker_deinit(&h->walker);
    acq_free(h->sketches);
    acq_free(h->leaders);
}

acq_status acq_rule_learner_cluster(const acq_rule_learner *l, acq_rulebook *book, acq_error *error)
{
    job j = {.learner = l, .book = book};
    j.helpers = acq_zalloc(l->n_workers, sizeof *j.helpers);
    acq_status status = j.helpers == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
    for (unsigned i = 0; i < l->n_workers && status == ACQ_OK; i++)
        status = acq_walker_init(&j.helpers[i].walker, l->links, l->n_entities, PROBE_WORK);
    if (status == ACQ_OK)
        status = acq_threads_run(l->n_workers, l->n_relations, cluster_relation, &j);
    for (unsigned i = 0; j.helpers != NULL && i < l->n_workers; i++)
        free_helper(&j.helpers[i]);
    acq_free(j.helpers);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}
