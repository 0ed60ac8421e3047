/* apply.c - what the rules say about one (head, relation).
 *
 *   places   by entity: its entry, ACQ_NO_ID: none yet
 *   entries  one per tail that was reached, in the order of reaching
 *   bits     the tails reached: entries are read off in order, or sorted where they are few
 *
 * A rule counts once per tail; that it has fired there is known by its number in the entry. Rules
 * are taken in their order, so sums do not depend on anything but them. */
#include "models/rules/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "models/rules/parts.h"

const acq_rule *acq_rules_get(const acq_rules *rules, acq_rel relation, size_t *n)
{
    *n = rules->lists[relation].n;
    return rules->lists[relation].rules;
}

/* Undoes confidence = (support - 1/2) / (pairs + 5). */
uint32_t acq_rule_count_pairs(const acq_rule *rule)
{
    double pairs = ((double)rule->support - 0.5) / (double)rule->confidence - 5.0;
    return pairs > rule->support ? (uint32_t)lround(fmin(pairs, UINT32_MAX)) : rule->support;
}

/* An entity between x and y that is neither of them; ACQ_NO_ID: none. */
static acq_ent find_middle(acq_row of_x, acq_row of_y, acq_ent x, acq_ent y)
{
    acq_row few = of_x.n < of_y.n ? of_x : of_y, many = of_x.n < of_y.n ? of_y : of_x;
    for (size_t i = 0; i < few.n; i++) {
        acq_ent z = few.tails[i];
        if (z != x && z != y && acq_row_find(many, z) < many.n)
            return z;
    }
    return ACQ_NO_ID;
}

static bool is_fired(const acq_rules *rules, const acq_rule *rule, acq_ent head, acq_ent tail,
                     acq_ent *middle)
{
    acq_row row = acq_links_get_row(rules->links[rule->first], head);
    *middle = ACQ_NO_ID;
    if (rule->second == ACQ_NO_ID)
        return acq_row_find(row, tail) < row.n;
    acq_row back = acq_links_get_row(rules->links[acq_inverse(rule->second)], tail);
    *middle = find_middle(row, back, head, tail);
    return *middle != ACQ_NO_ID;
}

size_t acq_rules_find_fired(const acq_rules *rules, acq_ent head, acq_rel relation, acq_ent tail,
                            acq_fired_rule *out, size_t most, size_t *n_all)
{
    const acq_rule_list *list = &rules->lists[relation];
    size_t n = 0;
    *n_all = 0;
    for (size_t i = 0; i < list->n; i++) {
        acq_ent middle;
        if (!is_fired(rules, &list->rules[i], head, tail, &middle))
            continue;
        if (n < most)
            out[n++] = (acq_fired_rule){.rule = &list->rules[i], .middle = middle};
        (*n_all)++;
    }
    return n;
}

void acq_rules_free(acq_rules *rules)
{
    if (rules == NULL)
        return;
    for (acq_rel r = 0; rules->lists != NULL && r < rules->n_relations; r++)
        acq_free(rules->lists[r].rules);
    acq_free(rules->lists);
    acq_free(rules->links);
    acq_free(rules);
}

typedef struct entry {
    acq_ent tail;
    uint32_t last; /* rule that fired last */
    float one_hop, two_hop;
    double none; /* product of 1 - confidence */
    uint32_t n;
} entry;

struct acq_rules_scratch {
    uint32_t *places;
    uint64_t *bits;
    size_t n_words;
    entry *entries;
    acq_rule_evidence *sorted;
    size_t n, capacity, sorted_capacity;
    acq_row *rows; /* of one rule's second hop */
    acq_ent *middles;
    size_t n_rows, rows_capacity, middles_capacity;
};

acq_status acq_rules_scratch_new(const acq_rules *rules, acq_rules_scratch **out, acq_error *error)
{
    acq_rules_scratch *scratch = acq_zalloc(1, sizeof *scratch);
    if (scratch == NULL)
        return acq_fail_memory(error);
    scratch->n_words = ((size_t)rules->n_entities + 63) / 64;
    scratch->places = acq_alloc(rules->n_entities, sizeof *scratch->places);
    scratch->bits = acq_zalloc(scratch->n_words, sizeof *scratch->bits);
    if (scratch->places == NULL || scratch->bits == NULL) {
        acq_rules_scratch_free(scratch);
        return acq_fail_memory(error);
    }
    memset(scratch->places, 0xff, rules->n_entities * sizeof *scratch->places);
    *out = scratch;
    return ACQ_OK;
}

void acq_rules_scratch_free(acq_rules_scratch *scratch)
{
    if (scratch == NULL)
        return;
    acq_free(scratch->places);
    acq_free(scratch->bits);
    acq_free(scratch->entries);
    acq_free(scratch->sorted);
    acq_free(scratch->rows);
    acq_free(scratch->middles);
    acq_free(scratch);
}

static void forget(acq_rules_scratch *scratch)
{
    for (size_t i = 0; i < scratch->n; i++) {
        acq_ent tail = scratch->entries[i].tail;
        scratch->places[tail] = ACQ_NO_ID;
        scratch->bits[tail >> 6] = 0;
    }
    scratch->n = 0;
}

/* Room for n more tails has been made. */
static void fire(acq_rules_scratch *scratch, acq_ent tail, const acq_rule *rule, uint32_t number)
{
    uint32_t place = scratch->places[tail];
    if (place == ACQ_NO_ID) {
        place = scratch->places[tail] = (uint32_t)scratch->n++;
        scratch->bits[tail >> 6] |= 1ULL << (tail & 63);
        scratch->entries[place] = (entry){.tail = tail, .last = ACQ_NO_ID, .none = 1.0};
    }
    entry *e = &scratch->entries[place];
    if (e->last == number)
        return;
    float *best = rule->second == ACQ_NO_ID ? &e->one_hop : &e->two_hop;
    *best = *best < rule->confidence ? rule->confidence : *best;
    e->none *= 1.0 - (double)rule->confidence;
    e->last = number;
    e->n++;
}

static acq_status reserve(acq_rules_scratch *scratch, size_t n)
{
    return ACQ_RESERVE(scratch->entries, scratch->capacity, scratch->n + n);
}

static acq_status apply_one_hop(const acq_rules *rules, acq_ent head, const acq_rule *rule,
                                uint32_t number, acq_rules_scratch *scratch)
{
    acq_row row = acq_links_get_row(rules->links[rule->first], head);
    acq_status status = reserve(scratch, row.n);
    for (size_t i = 0; i < row.n && status == ACQ_OK; i++)
        fire(scratch, row.tails[i], rule, number);
    return status;
}

/* The rows of the second hop, and their lengths together. */
static acq_status gather_rows(const acq_rules *rules, acq_ent head, const acq_rule *rule,
                              acq_rules_scratch *scratch, uint64_t *n_paths)
{
    acq_row row = acq_links_get_row(rules->links[rule->first], head);
    const acq_links *second = rules->links[rule->second];
    acq_status status = ACQ_RESERVE(scratch->rows, scratch->rows_capacity, row.n);
    if (status == ACQ_OK)
        status = ACQ_RESERVE(scratch->middles, scratch->middles_capacity, row.n);
    *n_paths = scratch->n_rows = 0;
    for (size_t i = 0; i < row.n && status == ACQ_OK; i++) {
        acq_row next = acq_links_get_row(second, row.tails[i]);
        if (next.n == 0 || row.tails[i] == head)
            continue;
        scratch->middles[scratch->n_rows] = row.tails[i];
        scratch->rows[scratch->n_rows++] = next;
        *n_paths += next.n;
    }
    return status;
}

static void follow_all(acq_rules_scratch *scratch, const acq_rule *rule, uint32_t number)
{
    for (size_t i = 0; i < scratch->n_rows; i++) {
        acq_row row = scratch->rows[i];
        for (size_t j = 0; j < row.n; j++) {
            if (row.tails[j] != scratch->middles[i])
                fire(scratch, row.tails[j], rule, number);
        }
    }
}

/* One path from each of n equal parts of all of them. */
static void follow_some(acq_rules_scratch *scratch, const acq_rule *rule, uint32_t number,
                        uint64_t n_paths, uint32_t n, acq_random random)
{
    double part = (double)n_paths / n;
    uint64_t begin = 0;
    size_t i = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint64_t at = (uint64_t)(part * (k + acq_random_unit(&random)));
        while (at >= begin + scratch->rows[i].n && i + 1 < scratch->n_rows)
            begin += scratch->rows[i++].n;
        acq_ent tail = scratch->rows[i].tails[at - begin];
        if (tail != scratch->middles[i])
            fire(scratch, tail, rule, number);
    }
}

static acq_status apply_two_hops(const acq_rules *rules, acq_ent head, const acq_rule *rule,
                                 uint32_t number, acq_rules_scratch *scratch)
{
    uint64_t n_paths;
    acq_status status = gather_rows(rules, head, rule, scratch, &n_paths);
    bool is_all = n_paths <= rules->walks;
    if (status == ACQ_OK)
        status = reserve(scratch, is_all ? (size_t)n_paths : rules->walks);
    if (status != ACQ_OK)
        return status;
    uint64_t body = (uint64_t)rule->first << 32 | rule->second;
    if (is_all)
        follow_all(scratch, rule, number);
    else
        follow_some(scratch, rule, number, n_paths, rules->walks,
                    acq_random_start(acq_random_mix(rules->seed ^ body), head));
    return ACQ_OK;
}

static acq_rule_evidence make_evidence(const entry *e)
{
    return (acq_rule_evidence){.tail = e->tail,
                               .one_hop = e->one_hop,
                               .two_hop = e->two_hop,
                               .noisy_or = (float)(1.0 - e->none),
                               .n = e->n};
}

static int compare(const void *a, const void *b)
{
    const acq_rule_evidence *x = a, *y = b;
    return (x->tail > y->tail) - (x->tail < y->tail);
}

static void sort_few(acq_rules_scratch *scratch)
{
    for (size_t i = 0; i < scratch->n; i++)
        scratch->sorted[i] = make_evidence(&scratch->entries[i]);
    qsort(scratch->sorted, scratch->n, sizeof *scratch->sorted, compare);
}

static void read_bits(acq_rules_scratch *scratch)
{
    size_t n = 0;
    for (size_t w = 0; w < scratch->n_words; w++) {
        for (uint64_t word = scratch->bits[w]; word != 0; word &= word - 1) {
            size_t tail = w * 64 + (size_t)__builtin_ctzll(word);
            scratch->sorted[n++] = make_evidence(&scratch->entries[scratch->places[tail]]);
        }
    }
}

acq_status acq_rules_apply(const acq_rules *rules, acq_ent head, acq_rel relation,
                           acq_rules_scratch *scratch, const acq_rule_evidence **out, size_t *n,
                           acq_error *error)
{
    const acq_rule_list *list = &rules->lists[relation];
    acq_status status = ACQ_OK;
    forget(scratch);
    for (uint32_t i = 0; i < list->n && status == ACQ_OK; i++) {
        const acq_rule *rule = &list->rules[i];
        status = rule->second == ACQ_NO_ID ? apply_one_hop(rules, head, rule, i, scratch)
                                           : apply_two_hops(rules, head, rule, i, scratch);
    }
    if (status == ACQ_OK)
        status = ACQ_RESERVE(scratch->sorted, scratch->sorted_capacity, scratch->n);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    if (scratch->n > 0 && scratch->n * 8 < scratch->n_words)
        sort_few(scratch);
    else
        read_bits(scratch);
    *out = scratch->sorted;
    *n = scratch->n;
    return ACQ_OK;
}
