/* mine.c - rules in three passes, each shared out among the threads.
 *
 *   1. for each even relation: the bodies that link its facts, and how many facts each links.
 *      A body is read off where the neighbours of a fact's two ends meet
 *   2. every body that was met often enough: the pairs that it links (body.h), once
 *   3. for each relation: confidences, the best rules; its inverse gets them turned around
 *
 * Where a relation has many facts one is drawn from each of `facts` equal parts of them, where a
 * fact has many paths one from each of `walks` parts. What is drawn follows from the seed and the
 * numbers of relation and fact, so threads do not matter. */
#include "models/rules/rules.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/threads.h"
#include "models/rules/parts.h"

enum {
    EXACT_PATHS = 16,      /* times `walks`: bodies of so many paths are counted in full */
    BODIES_AT_A_TIME = 64, /* an item of pass 2 */
};

typedef struct found {
    uint64_t key; /* of the body */
    double support;
} found;

typedef struct found_list {
    found *all;
    size_t n;
} found_list;

typedef struct worker {
    acq_tally tally;
    acq_meetings meetings;
    acq_pair_counter counter;
} worker;

typedef struct miner {
    const acq_rules_params *params;
    acq_rules *rules;
    acq_adjacency adjacency;
    worker *workers;
    unsigned n_workers;
    found_list *lists; /* of even relations */
    uint64_t *keys;    /* of the bodies to count, sorted, turned to the smaller of two keys */
    double *pairs;     /* of these */
    size_t n_keys;
} miner;

static acq_status tally_one_hop(const miner *m, worker *w, acq_ent x, acq_rel r, acq_ent y,
                                uint32_t fact)
{
    const acq_adjacent *links;
    uint32_t n = acq_adjacency_between(&m->adjacency, x, y, &links);
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < n && status == ACQ_OK; i++) {
        acq_body body = {.first = links[i].relation, .second = ACQ_NO_ID};
        if (body.first != r)
            status = acq_tally_add(&w->tally, body, fact);
    }
    return status;
}

static acq_status tally_two_hops(const miner *m, worker *w, acq_random *random, uint32_t fact)
{
    const acq_meetings *meetings = &w->meetings;
    uint64_t n = meetings->n_paths <= m->params->walks ? meetings->n_paths : m->params->walks;
    double part = n == 0 ? 0.0 : (double)meetings->n_paths / (double)n;
    bool is_all = n == meetings->n_paths;
    acq_status status = ACQ_OK;
    uint64_t begin = 0;
    size_t i = 0;
    for (uint64_t k = 0; k < n && status == ACQ_OK; k++) {
        uint64_t at = is_all ? k : (uint64_t)(part * ((double)k + acq_random_unit(random)));
        const acq_meeting *here = &meetings->all[i];
        while (at >= begin + (uint64_t)here->n_x * here->n_y && i + 1 < meetings->n) {
            begin += (uint64_t)here->n_x * here->n_y;
            here = &meetings->all[++i];
        }
        acq_body body = {
            .first = here->of_x[(at - begin) / here->n_y].relation,
            .second = acq_inverse(here->of_y[(at - begin) % here->n_y].relation),
        };
        status = acq_tally_add(&w->tally, body, fact);
    }
    return status;
}

/* The i-th fact of links, x: its head. */
static acq_ent get_fact(const acq_links *links, uint32_t i, acq_ent *y)
{
    *y = links->tails[i];
    return links->heads[acq_search_last(links->offsets, links->n_heads, i)];
}

static acq_status tally_facts(const miner *m, worker *w, acq_rel r, uint32_t n)
{
    const acq_links *links = m->rules->links[r];
    acq_random random = acq_random_start(m->params->seed, r);
    double part = n == 0 ? 0.0 : (double)links->n_links / n;
    acq_status status = ACQ_OK;
    for (uint32_t k = 0; k < n && status == ACQ_OK; k++) {
        uint32_t at = n == links->n_links ? k : (uint32_t)(part * (k + acq_random_unit(&random)));
        acq_ent y, x = get_fact(links, at, &y);
        if (x == y)
            continue;
        status = tally_one_hop(m, w, x, r, y, k + 1);
        if (status == ACQ_OK)
            status = acq_adjacency_meet(&m->adjacency, x, y, &w->meetings);
        if (status == ACQ_OK)
            status = tally_two_hops(m, w, &random, k + 1);
    }
    return status;
}

static int compare_found(const void *a, const void *b)
{
    const found *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* The bodies that were met often enough, by key. */
static acq_status keep_found(const miner *m, const acq_tally *tally, double scale, found_list *out)
{
    size_t n = 0;
    for (size_t i = 0; i < tally->capacity; i++)
        n += tally->entries[i].hits >= m->params->least_support;
    out->all = acq_alloc(n, sizeof *out->all);
    if (out->all == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < tally->capacity; i++) {
        const acq_tally_entry *entry = &tally->entries[i];
        if (entry->last != 0 && entry->hits >= m->params->least_support)
            out->all[out->n++] = (found){.key = entry->key, .support = entry->hits * scale};
    }
    qsort(out->all, out->n, sizeof *out->all, compare_found);
    return ACQ_OK;
}

static acq_status find_bodies(void *context, size_t item, unsigned thread)
{
    miner *m = context;
    worker *w = &m->workers[thread];
    acq_rel r = (acq_rel)(2 * item);
    uint32_t n_links = m->rules->links[r]->n_links;
    uint32_t n = n_links < m->params->facts ? n_links : m->params->facts;
    acq_tally_clear(&w->tally);
    acq_status status = acq_stop_check(m->params->stop, NULL);
    if (status == ACQ_OK)
        status = tally_facts(m, w, r, n);
    double scale = n == 0 ? 1.0 : (double)n_links / n;
    return status == ACQ_OK ? keep_found(m, &w->tally, scale, &m->lists[item]) : status;
}

static uint64_t get_smaller_key(uint64_t key)
{
    uint64_t turned = acq_body_get_key(acq_body_turn(acq_body_from_key(key)));
    return turned < key ? turned : key;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static acq_status gather_keys(miner *m)
{
    size_t n_lists = m->rules->n_relations / 2, n = 0;
    for (size_t i = 0; i < n_lists; i++)
        n += m->lists[i].n;
    m->keys = acq_alloc(n, sizeof *m->keys);
    m->pairs = acq_alloc(n, sizeof *m->pairs);
    if (m->keys == NULL || m->pairs == NULL)
        return ACQ_ERR_MEMORY;
    n = 0;
    for (size_t i = 0; i < n_lists; i++) {
        for (size_t j = 0; j < m->lists[i].n; j++)
            m->keys[n++] = get_smaller_key(m->lists[i].all[j].key);
    }
    qsort(m->keys, n, sizeof *m->keys, compare_keys);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || m->keys[i] != m->keys[i - 1])
            m->keys[m->n_keys++] = m->keys[i];
    }
    return ACQ_OK;
}

static acq_status count_pairs(void *context, size_t item, unsigned thread)
{
    miner *m = context;
    size_t begin = item * BODIES_AT_A_TIME, end = begin + BODIES_AT_A_TIME;
    uint64_t most = (uint64_t)EXACT_PATHS * m->params->walks;
    for (size_t i = begin; i < end && i < m->n_keys; i++) {
        if (acq_stop_is_wanted(m->params->stop))
            return ACQ_ERR_INTERRUPTED;
        m->pairs[i] =
            acq_pair_counter_count(&m->workers[thread].counter, acq_body_from_key(m->keys[i]), most,
                                   m->params->walks, m->params->seed);
    }
    return ACQ_OK;
}

static double get_pairs(const miner *m, uint64_t key)
{
    uint64_t wanted = get_smaller_key(key);
    size_t i;
    ACQ_SEARCH(i, 0, m->n_keys, m->keys[i] < wanted);
    return m->pairs[i];
}

static acq_rule make_rule(const miner *m, const found *f)
{
    acq_body body = acq_body_from_key(f->key);
    double pairs = fmax(get_pairs(m, f->key), f->support);
    return (acq_rule){.first = body.first,
                      .second = body.second,
                      .confidence = (float)((f->support - 0.5) / (pairs + 5.0)),
                      .support = (uint32_t)lround(f->support)};
}

/* Most confident first; the rest makes the order complete. */
static int compare_rules(const void *a, const void *b)
{
    const acq_rule *x = a, *y = b;
    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    if (x->support != y->support)
        return x->support < y->support ? 1 : -1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

static acq_status turn_rules(const acq_rule_list *from, acq_rule_list *to)
{
    to->rules = acq_alloc(from->n, sizeof *to->rules);
    if (to->rules == NULL)
        return ACQ_ERR_MEMORY;
    for (; to->n < from->n; to->n++) {
        const acq_rule *rule = &from->rules[to->n];
        acq_body body = acq_body_turn((acq_body){.first = rule->first, .second = rule->second});
        to->rules[to->n] = *rule;
        to->rules[to->n].first = body.first;
        to->rules[to->n].second = body.second;
    }
    return ACQ_OK;
}

static acq_status choose_rules(void *context, size_t item, unsigned thread)
{
    (void)thread;
    miner *m = context;
    const found_list *from = &m->lists[item];
    acq_rule_list *to = &m->rules->lists[2 * item];
    to->rules = acq_alloc(from->n, sizeof *to->rules);
    if (to->rules == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < from->n; i++) {
        acq_rule rule = make_rule(m, &from->all[i]);
        if (rule.confidence > 0.0F && rule.confidence >= m->params->least_confidence)
            to->rules[to->n++] = rule;
    }
    qsort(to->rules, to->n, sizeof *to->rules, compare_rules);
    to->n = to->n < m->params->most ? to->n : m->params->most;
    return turn_rules(to, &m->rules->lists[2 * item + 1]);
}

static acq_status open_rules(const acq_graph *graph, const acq_rules_params *params,
                             acq_rules **out, acq_error *error)
{
    acq_rules *rules = acq_zalloc(1, sizeof *rules);
    if (rules == NULL)
        return acq_fail_memory(error);
    *rules = (acq_rules){.n_relations = acq_graph_get_n_relations(graph),
                         .n_entities = acq_graph_get_n_entities(graph),
                         .walks = params->walks,
                         .seed = params->seed};
    rules->links = acq_alloc(rules->n_relations, sizeof *rules->links);
    rules->lists = acq_zalloc(rules->n_relations, sizeof *rules->lists);
    bool is_made = rules->links != NULL && rules->lists != NULL;
    acq_status status = is_made ? ACQ_OK : acq_fail_memory(error);
    for (acq_rel r = 0; r < rules->n_relations && status == ACQ_OK; r++)
        status = acq_graph_open_links(graph, r, &rules->links[r], error);
    if (status == ACQ_OK)
        *out = rules;
    else
        acq_rules_free(rules);
    return status;
}

static bool is_known(const acq_rules *rules, const acq_rule *rule)
{
    return rule->first < rules->n_relations &&
           (rule->second == ACQ_NO_ID || rule->second < rules->n_relations) &&
           rule->confidence > 0 && rule->confidence <= 1;
}

static acq_status copy_rules(acq_rules *rules, size_t pair, const acq_rule *from, size_t n,
                             acq_error *error)
{
    acq_rule_list *to = &rules->lists[2 * pair];
    to->rules = acq_alloc(n, sizeof *to->rules);
    if (to->rules == NULL)
        return acq_fail_memory(error);
    for (; to->n < n; to->n++) {
        if (!is_known(rules, &from[to->n]))
            return acq_fail(error, ACQ_ERR_INPUT, "rule %zu of relation %zu is impossible", to->n,
                            2 * pair);
        to->rules[to->n] = from[to->n];
    }
    return turn_rules(to, &rules->lists[2 * pair + 1]) == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

acq_status acq_rules_new(const acq_graph *graph, const acq_rule *const *lists, const size_t *n,
                         size_t n_lists, acq_rules **out, acq_error *error)
{
    acq_rules *rules = NULL;
    acq_status status = open_rules(graph, &ACQ_RULES_DEFAULT, &rules, error);
    if (status != ACQ_OK)
        return status;
    if (n_lists > rules->n_relations / 2)
        status = acq_fail(error, ACQ_ERR_INPUT, "rules of %zu relations, and the graph has %u",
                          n_lists, rules->n_relations / 2);
    for (size_t i = 0; i < n_lists && status == ACQ_OK; i++)
        status = copy_rules(rules, i, lists[i], n[i], error);
    if (status == ACQ_OK)
        *out = rules;
    else
        acq_rules_free(rules);
    return status;
}

static void deinit_miner(miner *m)
{
    for (size_t i = 0; m->lists != NULL && i < m->rules->n_relations / 2; i++)
        acq_free(m->lists[i].all);
    for (unsigned i = 0; m->workers != NULL && i < m->n_workers; i++) {
        acq_tally_deinit(&m->workers[i].tally);
        acq_free(m->workers[i].meetings.all);
        acq_pair_counter_deinit(&m->workers[i].counter);
    }
    acq_adjacency_deinit(&m->adjacency);
    acq_free(m->lists);
    acq_free(m->workers);
    acq_free(m->keys);
    acq_free(m->pairs);
}

static acq_status init_miner(miner *m, acq_rules *rules, const acq_rules_params *params)
{
    *m = (miner){.params = params, .rules = rules};
    m->n_workers = params->n_threads > 0 ? params->n_threads : 1;
    m->workers = acq_zalloc(m->n_workers, sizeof *m->workers);
    m->lists = acq_zalloc(rules->n_relations / 2, sizeof *m->lists);
    if (m->workers == NULL || m->lists == NULL)
        return ACQ_ERR_MEMORY;
    acq_status status = ACQ_OK;
    for (unsigned i = 0; i < m->n_workers && status == ACQ_OK; i++)
        status = acq_pair_counter_init(&m->workers[i].counter, rules->links, rules->n_entities);
    if (status == ACQ_OK)
        status =
            acq_adjacency_init(&m->adjacency, rules->links, rules->n_relations, rules->n_entities);
    return status;
}

static acq_status run_passes(miner *m)
{
    unsigned n_threads = m->n_workers;
    size_t n_pairs = m->rules->n_relations / 2;
    acq_status status = acq_threads_run(n_threads, n_pairs, find_bodies, m);
    if (status == ACQ_OK)
        status = gather_keys(m);
    size_t n_items = (m->n_keys + BODIES_AT_A_TIME - 1) / BODIES_AT_A_TIME;
    if (status == ACQ_OK)
        status = acq_threads_run(n_threads, n_items, count_pairs, m);
    if (status == ACQ_OK)
        status = acq_threads_run(n_threads, n_pairs, choose_rules, m);
    return status;
}

acq_status acq_rules_mine(const acq_graph *graph, const acq_rules_params *params, acq_rules **out,
                          acq_error *error)
{
    acq_rules *rules = NULL;
    acq_status status = open_rules(graph, params, &rules, error);
    if (status != ACQ_OK)
        return status;
    miner m;
    status = init_miner(&m, rules, params);
    if (status == ACQ_OK)
        status = run_passes(&m);
    deinit_miner(&m);
    if (status == ACQ_OK) {
        *out = rules;
        return ACQ_OK;
    }
    acq_rules_free(rules);
    return status == ACQ_ERR_INTERRUPTED ? acq_stop_check(params->stop, error)
                                         : acq_fail_memory(error);
}
