/* learn.c - rounds that look for rules; see rulebook.h.
 *
 * A round gives every pair of relations to some thread. For rules with constants it takes its
 * share of the head atoms h(X, c), in both directions, and tallies all facts of the X that have
 * it. For cycles it takes some facts of the relation, tallies the paths of one and two hops
 * between their ends and some random ones of three hops, and counts the bodies that were met
 * twice. What was counted once is not counted again. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "models/rulebook/parts.h"

enum {
    PARTS = 8,           /* rounds that all head atoms are shared out over */
    MOST_MEMBERS = 1000, /* X of a head atom that are looked at */
    MOST_FACTS = 2000,   /* facts of one of them */
    MOST_PATHS = 300,    /* of two hops between the ends of a fact */
    FEW_PATHS = 4,       /* of three hops, for a walk */
    MOST_WORK = 30000,   /* links that a cycle may look at for one head */
    SMALL_TALLY = 1 << 13,
    RELATION_BITS = 21
};

static const uint64_t NO_HOP = (1U << RELATION_BITS) - 1;

struct acq_rule_worker {
    acq_walker walker;
    acq_tally tally;
    acq_meetings meetings;
    acq_tally_entry *found; /* of a tally, what was met twice */
    size_t n_found, found_room;
};

typedef struct acq_rule_worker worker;
typedef acq_learnt_list rule_list;
typedef acq_rule_subject subject;

void acq_rulebook_params_init(acq_rulebook_params *params)
{
    *params = (acq_rulebook_params){.facts = 500,
                                    .walks = 10,
                                    .tries = 200,
                                    .heads = 500,
                                    .most = 100,
                                    .support = 2,
                                    .confidence = .01,
                                    .similarity = .7,
                                    .aggregation = ACQ_RULES_CLUSTERS,
                                    .best = 10,
                                    .seed = 1,
                                    .n_threads = 1};
}

static uint64_t pack_body(const acq_rel *body)
{
    uint64_t key = 0;
    for (unsigned i = 0; i < ACQ_RULEBOOK_HOPS; i++)
        key = key << RELATION_BITS | (body[i] == ACQ_NO_ID ? NO_HOP : body[i]);
    return key;
}

static void unpack_body(uint64_t key, acq_rel *body)
{
    for (unsigned i = ACQ_RULEBOOK_HOPS; i-- > 0; key >>= RELATION_BITS)
        body[i] = (key & NO_HOP) == NO_HOP ? ACQ_NO_ID : (acq_rel)(key & NO_HOP);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int acq_learnt_rule_compare(const void *a, const void *b)
{
    const acq_learnt_rule *x = a, *y = b;
    double p = acq_learnt_rule_get_confidence(x), q = acq_learnt_rule_get_confidence(y);
    int order = compare_numbers(x->head, y->head);
    order = order == 0 ? compare_numbers(x->constant, y->constant) : order;
    order = order == 0 ? (p < q) - (p > q) : order;
    order = order == 0 ? compare_numbers(y->support, x->support) : order;
    for (unsigned i = 0; i < ACQ_RULEBOOK_HOPS && order == 0; i++)
        order = compare_numbers(x->body[i], y->body[i]);
    return order == 0 ? compare_numbers(x->other, y->other) : order;
}

static acq_status add_rule(rule_list *list, const acq_learnt_rule *rule)
{
    acq_status status = ACQ_RESERVE(list->rules, list->room, list->n + 1);
    if (status == ACQ_OK)
        list->rules[list->n++] = *rule;
    return status;
}

bool acq_rule_learner_keeps(const acq_rule_learner *l, const acq_learnt_rule *rule)
{
    return rule->support >= l->params.support &&
           acq_learnt_rule_get_confidence(rule) >= l->params.confidence;
}

/* A tally that grew large would be slow to clear. */
static void clear_tally(acq_tally *tally)
{
    if (tally->capacity > SMALL_TALLY)
        acq_tally_deinit(tally);
    else
        acq_tally_clear(tally);
}

/* What was tallied for at least `least` facts. */
static acq_status find_frequent(worker *w, uint32_t least)
{
    w->n_found = 0;
    for (size_t i = 0; i < w->tally.capacity; i++) {
        if (w->tally.entries[i].last == 0 || w->tally.entries[i].hits < least)
            continue;
        if (ACQ_RESERVE(w->found, w->found_room, w->n_found + 1) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        w->found[w->n_found++] = w->tally.entries[i];
    }
    return ACQ_OK;
}

/* ---- rules with constants ---- */

/* A head atom h(X, c), and the X that have it. */
typedef struct atom {
    acq_rel head;
    acq_ent constant;
    acq_row members;
} atom;

static acq_status tally_fact(worker *w, const atom *a, acq_ent x, const acq_adjacent *fact,
                             uint32_t number)
{
    acq_body own = {fact->relation, fact->entity}, any = {fact->relation, ACQ_NO_ID};
    bool is_itself = fact->relation == a->head && fact->entity == a->constant;
    acq_status status =
        is_itself || fact->entity == x ? ACQ_OK : acq_tally_add(&w->tally, own, number);
    if (status == ACQ_OK && fact->entity != a->constant)
        status = acq_tally_add(&w->tally, any, number);
    return status;
}

/* All facts of X, or some of them. */
static acq_status tally_member(const acq_rule_learner *l, worker *w, const atom *a, acq_ent x,
                               uint32_t number)
{
    const acq_adjacent *facts = l->adjacency.all + l->adjacency.offsets[x];
    size_t n = l->adjacency.offsets[x + 1] - l->adjacency.offsets[x];
    acq_random random = acq_random_start(l->params.seed, ((uint64_t)x << 32) ^ a->constant);
    size_t most = n < MOST_FACTS ? n : MOST_FACTS;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < most && status == ACQ_OK; i++) {
        size_t at = n <= MOST_FACTS ? i : (size_t)acq_random_below(&random, n);
        status = tally_fact(w, a, x, &facts[at], number);
    }
    return status;
}

static acq_status tally_members(const acq_rule_learner *l, worker *w, const atom *a, bool *is_whole)
{
    acq_random random = acq_random_start(l->params.seed, ((uint64_t)a->head << 32) | a->constant);
    acq_stride order = acq_stride_draw(&random, a->members.n);
    size_t n = a->members.n < MOST_MEMBERS ? a->members.n : MOST_MEMBERS;
    acq_status status = ACQ_OK;
    *is_whole = n == a->members.n;
    clear_tally(&w->tally);
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        acq_ent x = a->members.tails[acq_stride_get(&order, i)];
        *is_whole =
            *is_whole && l->adjacency.offsets[x + 1] - l->adjacency.offsets[x] <= MOST_FACTS;
        if (x != a->constant)
            status = tally_member(l, w, a, x, (uint32_t)i + 1);
    }
    return status;
}

/* X of the atom, but c, that have b(X, d), or b(X, A) with an A but c. */
static uint32_t count_support(const acq_rule_learner *l, const atom *a, acq_rel body, acq_ent other)
{
    uint32_t n = 0;
    const acq_links *links = l->links[body];
    for (size_t i = 0; i < a->members.n; i++) {
        acq_ent x = a->members.tails[i];
        acq_row row = x == a->constant ? (acq_row){0} : acq_links_get_row(links, x);
        bool has_other = row.n > 1 || (row.n == 1 && row.tails[0] != a->constant);
        n += other == ACQ_NO_ID ? has_other : x != other && acq_row_find(row, other) < row.n;
    }
    return n;
}

static acq_learnt_rule make_constant(const acq_rule_learner *l, const atom *a,
                                     const acq_tally_entry *entry, bool is_whole)
{
    acq_body body = acq_body_from_key(entry->key);
    const acq_links *const *links = l->links;
    acq_learnt_rule rule = {.head = a->head,
                            .body = {body.first, ACQ_NO_ID, ACQ_NO_ID},
                            .constant = a->constant,
                            .other = body.second};
    rule.pairs = rule.other == ACQ_NO_ID
                     ? acq_rulebook_count_any(links, body.first, a->constant)
                     : acq_rulebook_count_pairs(links, body.first, a->constant, rule.other);
    rule.support = is_whole ? entry->hits : count_support(l, a, body.first, rule.other);
    return rule;
}

/* The best rules of one head atom. */
static acq_status learn_atom(const acq_rule_learner *l, worker *w, const atom *a, rule_list *out)
{
    bool is_whole;
    size_t first = out->n;
    acq_status status = tally_members(l, w, a, &is_whole);
    if (status == ACQ_OK)
        status = find_frequent(w, l->params.support < 2 ? 1 : 2);
    for (size_t i = 0; i < w->n_found && status == ACQ_OK; i++) {
        acq_learnt_rule rule = make_constant(l, a, &w->found[i], is_whole);
        if (acq_rule_learner_keeps(l, &rule))
            status = add_rule(out, &rule);
    }
    if (status != ACQ_OK)
        return status;
    if (out->n > first)
        qsort(out->rules + first, out->n - first, sizeof *out->rules, acq_learnt_rule_compare);
    if (out->n - first > l->params.most)
        out->n = first + l->params.most;
    return ACQ_OK;
}

static bool is_due(const acq_rule_learner *l, acq_rel head, acq_ent constant)
{
    return acq_random_mix(((uint64_t)head << 32 | constant) ^ l->params.seed) % PARTS == l->round;
}

static acq_status learn_constants(const acq_rule_learner *l, worker *w, acq_rel head,
                                  rule_list *out)
{
    const acq_links *back = l->links[acq_inverse(head)];
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < back->n_heads && status == ACQ_OK; i++) {
        atom a = {head, back->heads[i], acq_links_get_row_at(back, i)};
        if (a.members.n >= l->params.support && is_due(l, head, a.constant))
            status = learn_atom(l, w, &a, out);
    }
    return status;
}

/* ---- cycles ---- */

/* A fact whose ends are walked between. */
typedef struct journey {
    acq_rel head;
    acq_ent x, y;
    uint32_t number; /* of the fact in this round, from 1 */
    acq_random random;
} journey;

static acq_status tally_body(worker *w, const acq_rel *body, uint32_t number)
{
    return acq_tally_add(&w->tally, acq_body_from_key(pack_body(body)), number);
}

static acq_status tally_one_hop(const acq_rule_learner *l, worker *w, const journey *j)
{
    const acq_adjacent *direct;
    uint32_t n = acq_adjacency_between(&l->adjacency, j->x, j->y, &direct);
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < n && status == ACQ_OK; i++) {
        acq_rel body[] = {direct[i].relation, ACQ_NO_ID, ACQ_NO_ID};
        if (direct[i].relation != j->head)
            status = tally_body(w, body, j->number);
    }
    return status;
}

/* The k-th path of a meeting: the relations of its two hops. */
static void get_path(const acq_meeting *m, uint64_t k, acq_rel *out)
{
    out[0] = m->of_x[k / m->n_y].relation;
    out[1] = acq_inverse(m->of_y[k % m->n_y].relation);
}

static acq_status tally_all_paths(worker *w, uint32_t number)
{
    acq_rel body[ACQ_RULEBOOK_HOPS] = {0, 0, ACQ_NO_ID};
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < w->meetings.n; i++) {
        const acq_meeting *m = &w->meetings.all[i];
        for (uint64_t k = 0; k < (uint64_t)m->n_x * m->n_y && status == ACQ_OK; k++) {
            get_path(m, k, body);
            status = tally_body(w, body, number);
        }
    }
    return status;
}

/* The path at a place among all of them. */
static const acq_meeting *find_path(const worker *w, uint64_t at, acq_rel *out)
{
    const acq_meeting *m = w->meetings.all;
    for (; at >= (uint64_t)m->n_x * m->n_y; m++)
        at -= (uint64_t)m->n_x * m->n_y;
    get_path(m, at, out);
    return m;
}

static acq_status tally_two_hops(const acq_rule_learner *l, worker *w, journey *j)
{
    acq_rel body[ACQ_RULEBOOK_HOPS] = {0, 0, ACQ_NO_ID};
    acq_status status = acq_adjacency_meet(&l->adjacency, j->x, j->y, &w->meetings);
    if (status == ACQ_OK && w->meetings.n_paths <= MOST_PATHS)
        return tally_all_paths(w, j->number);
    for (uint32_t i = 0; i < MOST_PATHS && status == ACQ_OK; i++) {
        find_path(w, acq_random_below(&j->random, w->meetings.n_paths), body);
        status = tally_body(w, body, j->number);
    }
    return status;
}

/* One random hop from one end, then paths of two hops from there to the other. */
static acq_status walk_three_hops(const acq_rule_learner *l, worker *w, journey *j)
{
    bool is_turned = (acq_random_next(&j->random) & 1) != 0;
    acq_ent from = is_turned ? j->y : j->x, to = is_turned ? j->x : j->y;
    const acq_adjacent *first = l->adjacency.all + l->adjacency.offsets[from];
    size_t n = l->adjacency.offsets[from + 1] - l->adjacency.offsets[from];
    first += acq_random_below(&j->random, n);
    if (first->entity == j->x || first->entity == j->y)
        return ACQ_OK;
    acq_status status = acq_adjacency_meet(&l->adjacency, first->entity, to, &w->meetings);
    for (uint32_t i = 0; i < FEW_PATHS && w->meetings.n_paths > 0 && status == ACQ_OK; i++) {
        acq_rel body[ACQ_RULEBOOK_HOPS] = {first->relation}, turned[ACQ_RULEBOOK_HOPS];
        uint64_t at = acq_random_below(&j->random, w->meetings.n_paths);
        const acq_meeting *m = find_path(w, at, body + 1);
        acq_learnt_rule_turn(body, turned);
        if (m->of_x->entity != from)
            status = tally_body(w, is_turned ? turned : body, j->number);
    }
    return status;
}

static acq_status tally_journey(const acq_rule_learner *l, worker *w, journey *j, bool is_first)
{
    acq_status status = is_first ? tally_one_hop(l, w, j) : ACQ_OK;
    if (status == ACQ_OK && is_first)
        status = tally_two_hops(l, w, j);
    for (uint32_t i = 0; i < l->params.walks && status == ACQ_OK; i++)
        status = walk_three_hops(l, w, j);
    return status;
}

/* The number-th link of a relation. */
static journey start_journey(const acq_rule_learner *l, acq_rel head, uint32_t number)
{
    const acq_links *links = l->links[head];
    return (journey){.head = head,
                     .x = links->heads[acq_search_last(links->offsets, links->n_heads, number)],
                     .y = links->tails[number]};
}

/* Rounds go through the facts in one order; when they begin anew, only walks are new. */
static acq_status tally_journeys(const acq_rule_learner *l, worker *w, acq_rel head)
{
    uint32_t n = l->links[head]->n_links;
    uint32_t n_facts = n < l->params.facts ? n : l->params.facts;
    acq_random random = acq_random_start(l->params.seed, head);
    acq_stride order = acq_stride_draw(&random, n);
    acq_status status = ACQ_OK;
    clear_tally(&w->tally);
    for (uint32_t i = 0; i < n_facts && status == ACQ_OK; i++) {
        uint64_t at = l->round * n_facts + i;
        journey j = start_journey(l, head, (uint32_t)acq_stride_get(&order, at % n));
        j.number = i + 1;
        j.random = acq_random_start(l->params.seed ^ (uint64_t)head << 32, at);
        if (j.x != j.y)
            status = tally_journey(l, w, &j, at < n);
    }
    return status;
}

static bool has_seen(const subject *s, size_t n, uint64_t key)
{
    size_t i;
    ACQ_SEARCH(i, 0, n, s->seen[i] < key);
    return i < n && s->seen[i] == key;
}

static int compare_keys(const void *a, const void *b)
{
    return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void sort_seen(subject *s)
{
    if (s->n_seen > 0)
        qsort(s->seen, s->n_seen, sizeof *s->seen, compare_keys);
}

static int compare_entries(const void *a, const void *b)
{
    const acq_tally_entry *x = a, *y = b;
    if (x->hits != y->hits)
        return x->hits < y->hits ? 1 : -1;
    return compare_numbers(x->key, y->key);
}

/* Short bodies are few and all counted; of the long ones the most frequent. */
static bool is_tried(const acq_rule_learner *l, const acq_rel *body, uint32_t *n_long)
{
    return acq_learnt_rule_get_hops(body) < ACQ_RULEBOOK_HOPS || (*n_long)++ < l->params.tries;
}

static acq_status count_cycles(const acq_rule_learner *l, worker *w, acq_rel head, subject *s)
{
    size_t n_before = s->n_seen;
    uint32_t n_long = 0;
    acq_status status = ACQ_OK;
    if (w->n_found > 0)
        qsort(w->found, w->n_found, sizeof *w->found, compare_entries);
    for (size_t i = 0; i < w->n_found && status == ACQ_OK; i++) {
        acq_learnt_rule rule = {.head = head, .constant = ACQ_NO_ID, .other = ACQ_NO_ID};
        uint64_t key = w->found[i].key;
        unpack_body(key, rule.body);
        if (has_seen(s, n_before, key) || !is_tried(l, rule.body, &n_long))
            continue;
        if (ACQ_RESERVE(s->seen, s->seen_room, s->n_seen + 1) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        s->seen[s->n_seen++] = key;
        acq_walker_count(&w->walker, &rule, l->params.heads, l->params.seed);
        status = add_rule(&s->cycles, &rule);
    }
    sort_seen(s);
    return status;
}

static acq_status add_known(subject *s, const acq_learnt_rule *rule)
{
    bool is_cycle = rule->constant == ACQ_NO_ID;
    if (is_cycle && ACQ_RESERVE(s->seen, s->seen_room, s->n_seen + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (add_rule(is_cycle ? &s->cycles : &s->constants[rule->head % 2], rule) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (is_cycle)
        s->seen[s->n_seen++] = pack_body(rule->body);
    return ACQ_OK;
}

acq_status acq_rule_learner_add(acq_rule_learner *l, const acq_rulebook *book, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < book->n_cycles && status == ACQ_OK; i++)
        status = add_known(&l->subjects[book->cycles[i].head / 2], &book->cycles[i]);
    for (size_t i = 0; i < book->n_constants && status == ACQ_OK; i++)
        status = add_known(&l->subjects[book->constants[i].head / 2], &book->constants[i]);
    for (uint32_t i = 0; i < l->n_relations / 2; i++)
        sort_seen(&l->subjects[i]);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

static acq_status learn_cycles(const acq_rule_learner *l, worker *w, acq_rel head, subject *s)
{
    acq_status status = tally_journeys(l, w, head);
    if (status == ACQ_OK)
        status = find_frequent(w, l->params.support < 2 ? 1 : 2);
    return status == ACQ_OK ? count_cycles(l, w, head, s) : status;
}

/* ---- the learner ---- */

static acq_status learn_subject(void *context, size_t item, unsigned thread)
{
    acq_rule_learner *l = context;
    acq_rel head = l->order[item];
    subject *s = &l->subjects[head / 2];
    worker *w = &l->workers[thread];
    acq_status status = ACQ_OK;
    if (l->links[head]->n_links == 0)
        return ACQ_OK;
    for (acq_rel i = 0; i < 2 && status == ACQ_OK && l->round < PARTS; i++)
        status = learn_constants(l, w, head + i, &s->constants[i]);
    return status == ACQ_OK ? learn_cycles(l, w, head, s) : status;
}

acq_status acq_rule_learner_run(acq_rule_learner *l, uint64_t round, acq_error *error)
{
    l->round = round;
    acq_status status = acq_threads_run(l->n_workers, l->n_relations / 2, learn_subject, l);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

uint64_t acq_rule_learner_get_n_rounds(const acq_rule_learner *l)
{
    uint64_t n = PARTS;
    for (acq_rel r = 0; r < l->n_relations; r += 2) {
        uint64_t own = (l->links[r]->n_links + (uint64_t)l->params.facts - 1) / l->params.facts;
        n = own > n ? own : n;
    }
    return n;
}

size_t acq_rule_learner_count(const acq_rule_learner *l)
{
    size_t n = 0;
    for (uint32_t i = 0; i < l->n_relations / 2; i++)
        n +=
            l->subjects[i].cycles.n + l->subjects[i].constants[0].n + l->subjects[i].constants[1].n;
    return n;
}

static void order_subjects(acq_rule_learner *l)
{
    uint32_t n = l->n_relations / 2;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = i;
        uint32_t size = l->links[2 * i]->n_links;
        for (; j > 0 && l->links[l->order[j - 1]]->n_links < size; j--)
            l->order[j] = l->order[j - 1];
        l->order[j] = 2 * i;
    }
}

static acq_status open_learner(acq_rule_learner *l, acq_error *error)
{
    acq_status status = acq_rulebook_open_links(l->graph, &l->links, error);
    if (status != ACQ_OK)
        return status;
    l->subjects = acq_zalloc(l->n_relations / 2, sizeof *l->subjects);
    l->order = acq_alloc(l->n_relations / 2, sizeof *l->order);
    l->workers = acq_zalloc(l->n_workers, sizeof *l->workers);
    if (l->subjects == NULL || l->order == NULL || l->workers == NULL)
        return acq_fail_memory(error);
    status = acq_adjacency_init(&l->adjacency, l->links, l->n_relations, l->n_entities);
    for (unsigned i = 0; i < l->n_workers && status == ACQ_OK; i++)
        status = acq_walker_init(&l->workers[i].walker, l->links, l->n_entities, MOST_WORK);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    order_subjects(l);
    return ACQ_OK;
}

acq_status acq_rule_learner_new(const acq_graph *graph, const acq_rulebook_params *params,
                                acq_rule_learner **out, acq_error *error)
{
    if (acq_graph_get_n_relations(graph) >= NO_HOP)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "rules are learnt of at most %llu relations, and the graph has %u",
                        (unsigned long long)NO_HOP / 2, acq_graph_get_n_relations(graph) / 2);
    acq_rule_learner *l = acq_zalloc(1, sizeof *l);
    if (l == NULL)
        return acq_fail_memory(error);
    l->graph = graph;
    l->params = *params;
    l->n_entities = acq_graph_get_n_entities(graph);
    l->n_relations = acq_graph_get_n_relations(graph);
    l->n_workers = params->n_threads > 0 ? params->n_threads : 1;
    acq_status status = open_learner(l, error);
    if (status == ACQ_OK)
        *out = l;
    else
        acq_rule_learner_free(l);
    return status;
}

static void free_worker(worker *w)
{
    acq_walker_deinit(&w->walker);
    acq_tally_deinit(&w->tally);
    acq_free(w->meetings.all);
    acq_free(w->found);
}

void acq_rule_learner_free(acq_rule_learner *l)
{
    if (l == NULL)
        return;
    for (uint32_t i = 0; l->subjects != NULL && i < l->n_relations / 2; i++) {
        acq_free(l->subjects[i].cycles.rules);
        acq_free(l->subjects[i].constants[0].rules);
        acq_free(l->subjects[i].constants[1].rules);
        acq_free(l->subjects[i].seen);
    }
    for (unsigned i = 0; l->workers != NULL && i < l->n_workers; i++)
        free_worker(&l->workers[i]);
    acq_adjacency_deinit(&l->adjacency);
    acq_free(l->subjects);
    acq_free(l->order);
    acq_free(l->workers);
    acq_free((void *)l->links);
    acq_free(l);
}
