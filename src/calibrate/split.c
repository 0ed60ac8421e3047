/* split.c - see learn.h. A copy of the names, then every fact that a rule lets stay. */
#include "calibrate/learn.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"
#include "predict/predictor.h"

typedef struct joined {
    uint64_t ends; /* of a fact, the smaller id first */
    acq_rel relation;
} joined;

#define ACQ_RADIX_ITEM     joined
#define ACQ_RADIX_KEY(one) ((one).ends)
#include "base/radix.h"

static const double MOST_DRAWN = .6; /* of the facts, where many of the drawn ones stay */
/* Of the facts of a relation whose facts come both ways, those that lack the other one. Where facts
 * are missing one by one more lack it than that, so these are missing in pairs. */
static const double MOST_ONE_WAY = .02;
enum { LEAST_PAIRED = 40 }; /* facts: with fewer it may be chance */

static const double DENSE = .25; /* of the facts, that another relation's say again */

typedef struct keep_rule {
    const acq_graph *whole;
    const acq_predictor *earlier; /* NULL: by share */
    acq_split_params params;
    bool *is_known;  /* entities of which some fact is not drawn */
    bool *is_paired; /* by pair of relations: r(a, b) and r(b, a) are drawn together */
} keep_rule;

/* relation is even. */
static bool is_drawn(const keep_rule *rule, acq_ent head, acq_rel relation, acq_ent tail)
{
    bool is_turned = rule->is_paired[relation / 2] && head > tail;
    uint64_t ends = is_turned ? (uint64_t)tail << 32 | head : (uint64_t)head << 32 | tail;
    acq_random random = acq_random_start(rule->params.seed, acq_random_mix(ends) ^ relation);
    double at = acq_random_unit(&random);
    if (rule->params.n_folds > 1)
        at += (double)rule->params.fold / rule->params.n_folds;
    return at - floor(at) < rule->params.share;
}

/* Does some link of the two entities, in either direction, stay? */
static bool stays_linked(const keep_rule *rule, acq_ent head, acq_ent tail)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(rule->whole); r++) {
        acq_ent from = r % 2 == 0 ? head : tail, to = r % 2 == 0 ? tail : head;
        if (acq_graph_has_fact(rule->whole, head, r, tail) && !is_drawn(rule, from, r & ~1U, to))
            return true;
    }
    return false;
}

static bool keeps(const keep_rule *rule, acq_ent head, acq_rel relation, acq_ent tail)
{
    if (rule->earlier != NULL)
        return acq_predictor_get_score(rule->earlier, head, relation, tail) > 0;
    return !is_drawn(rule, head, relation, tail) || !rule->is_known[head] ||
           !rule->is_known[tail] ||
           (rule->params.hold == ACQ_HOLD_PAIRS && stays_linked(rule, head, tail));
}

static acq_status find_paired(const keep_rule *rule, acq_error *error)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(rule->whole); r += 2) {
        const acq_links *links;
        uint64_t n = 0, n_both = 0;
        acq_status status = acq_graph_open_links(rule->whole, r, &links, error);
        if (status != ACQ_OK)
            return status;
        for (uint32_t i = 0; i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            for (size_t j = 0; j < row.n; j++) {
                bool is_loop = row.tails[j] == links->heads[i];
                n += !is_loop;
                n_both +=
                    !is_loop && acq_graph_has_fact(rule->whole, row.tails[j], r, links->heads[i]);
            }
        }
        rule->is_paired[r / 2] =
            n >= LEAST_PAIRED && (double)(n - n_both) < MOST_ONE_WAY * (double)n;
    }
    return ACQ_OK;
}

/* Who keeps a fact that is not drawn. */
static acq_status find_known(const keep_rule *rule, acq_error *error)
{
    memset(rule->is_known, 0, acq_graph_get_n_entities(rule->whole));
    for (acq_rel r = 0; r < acq_graph_get_n_relations(rule->whole); r += 2) {
        const acq_links *links;
        acq_status status = acq_graph_open_links(rule->whole, r, &links, error);
        if (status != ACQ_OK)
            return status;
        for (uint32_t i = 0; i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            for (size_t j = 0; j < row.n; j++)
                if (!is_drawn(rule, links->heads[i], r, row.tails[j]))
                    rule->is_known[links->heads[i]] = rule->is_known[row.tails[j]] = true;
        }
    }
    return ACQ_OK;
}

static acq_status copy_names(const acq_graph *whole, acq_graph_builder *builder)
{
    acq_status status = ACQ_OK;
    for (acq_ent e = 0; e < acq_graph_get_n_entities(whole) && status == ACQ_OK; e++) {
        const char *name = acq_graph_get_entity_key(whole, e);
        acq_ent id;
        status = acq_graph_builder_add_entity(builder, name, strlen(name), &id);
    }
    for (acq_rel r = 0; r < acq_graph_get_n_relations(whole) && status == ACQ_OK; r += 2) {
        const char *name = acq_graph_get_relation_key(whole, r);
        acq_rel id;
        status = acq_graph_builder_add_relation(builder, name, strlen(name), &id);
    }
    return status;
}

/* The facts that the rule keeps: *n of them, into the builder unless it is NULL. */
static acq_status copy_facts(const acq_graph *whole, const keep_rule *rule,
                             acq_graph_builder *builder, uint64_t *n, acq_error *error)
{
    *n = 0;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(whole); r += 2) {
        const acq_links *links;
        acq_status status = acq_graph_open_links(whole, r, &links, error);
        for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            for (size_t j = 0; j < row.n && status == ACQ_OK; j++) {
                if (!keeps(rule, links->heads[i], r, row.tails[j]))
                    continue;
                (*n)++;
                if (builder != NULL)
                    status = acq_graph_builder_add_fact(builder, links->heads[i], r, row.tails[j]);
            }
        }
        if (status != ACQ_OK)
            return status == ACQ_ERR_MEMORY ? acq_fail_memory(error) : status;
    }
    return ACQ_OK;
}

static acq_status split(const acq_graph *whole, const keep_rule *rule, acq_graph **out,
                        acq_error *error)
{
    uint64_t n = 0;
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_status status = builder == NULL ? ACQ_ERR_MEMORY : copy_names(whole, builder);
    if (status == ACQ_ERR_MEMORY)
        acq_fail_memory(error);
    if (status == ACQ_OK)
        status = copy_facts(whole, rule, builder, &n, error);
    if (status == ACQ_OK && n == acq_graph_get_n_facts(whole))
        status = acq_fail(error, ACQ_ERR_INPUT,
                          "no fact is left to calibrate with: the graph has too few facts to hold "
                          "some out, or none that the earlier one lacks");
    if (status == ACQ_OK && n == 0)
        status = acq_fail(error, ACQ_ERR_INPUT,
                          "no fact is left to learn from; are these two versions of one graph?");
    if (status == ACQ_OK)
        status = acq_graph_builder_finish(builder, out, error);
    acq_graph_builder_free(builder);
    return status;
}

acq_status acq_split_by_earlier(const acq_graph *whole, const acq_graph *earlier, acq_graph **out,
                                acq_error *error)
{
    acq_predictor *kept;
    acq_status status = acq_predictor_new_perfect(whole, earlier, "earlier", &kept, NULL, error);
    if (status != ACQ_OK)
        return status;
    status = split(whole, &(keep_rule){.earlier = kept}, out, error);
    acq_predictor_free(kept);
    return status;
}

static acq_status count_held(const acq_graph *whole, const keep_rule *rule, double *out,
                             acq_error *error)
{
    uint64_t n_kept;
    acq_status status = find_known(rule, error);
    if (status == ACQ_OK)
        status = copy_facts(whole, rule, NULL, &n_kept, error);
    if (status == ACQ_OK)
        *out = (double)(acq_graph_get_n_facts(whole) - n_kept);
    return status;
}

/* Some drawn facts stay: more are drawn, so that the share that was asked for goes, or as much of
 * it as can: from some share on fewer go, since more of the drawn ones stay. */
static acq_status raise_share(const acq_graph *whole, keep_rule *rule, acq_error *error)
{
    enum { TRIES = 8 };
    double wanted = rule->params.share * (double)acq_graph_get_n_facts(whole), held;
    double best = rule->params.share, best_miss = INFINITY;
    for (int i = 0; i < TRIES && best_miss > .03 * wanted; i++) {
        acq_status status = count_held(whole, rule, &held, error);
        if (status != ACQ_OK)
            return status;
        if (fabs(held - wanted) < best_miss) {
            best_miss = fabs(held - wanted);
            best = rule->params.share;
        }
        double factor = held == 0 ? 2.0 : wanted / held;
        rule->params.share = fmin(MOST_DRAWN, rule->params.share * fmin(2.0, fmax(.5, factor)));
    }
    rule->params.share = best;
    return find_known(rule, error);
}

acq_status acq_split_by_share(const acq_graph *whole, const acq_split_params *params,
                              acq_graph **out, acq_error *error)
{
    keep_rule rule = {.whole = whole, .params = *params};
    rule.is_known = acq_alloc(acq_graph_get_n_entities(whole), sizeof *rule.is_known);
    rule.is_paired = acq_zalloc(acq_graph_get_n_relations(whole) / 2 + 1, sizeof *rule.is_paired);
    acq_status status =
        rule.is_known == NULL || rule.is_paired == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = find_paired(&rule, error);
    if (status == ACQ_OK)
        status = raise_share(whole, &rule, error);
    if (status == ACQ_OK)
        status = split(whole, &rule, out, error);
    acq_free(rule.is_known);
    acq_free(rule.is_paired);
    return status;
}

/* ---- what to hold out ---- */

static size_t list_joined(const acq_links *links, acq_rel relation, joined *out)
{
    size_t n = 0;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        acq_ent head = links->heads[i];
        for (size_t j = 0; j < row.n; j++) {
            acq_ent tail = row.tails[j], low = head < tail ? head : tail;
            out[n++] = (joined){(uint64_t)low << 32 | (head ^ tail ^ low), relation};
        }
    }
    return n;
}

/* Facts whose ends a fact of another relation joins, of sorted ones. */
static size_t count_doubles(const joined *all, size_t n)
{
    size_t n_doubles = 0;
    for (size_t i = 0, end; i < n; i = end) {
        bool is_double = false;
        for (end = i + 1; end < n && all[end].ends == all[i].ends; end++)
            is_double = is_double || all[end].relation != all[i].relation;
        n_doubles += is_double ? end - i : 0;
    }
    return n_doubles;
}

acq_status acq_split_choose_hold(const acq_graph *graph, acq_hold *out, acq_error *error)
{
    size_t n = acq_graph_get_n_facts(graph), found = 0;
    joined *all = acq_alloc(n, sizeof *all), *other = acq_alloc(n, sizeof *other);
    acq_status status = all == NULL || other == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph) && status == ACQ_OK; r += 2) {
        const acq_links *links;
        status = acq_graph_open_links(graph, r, &links, error);
        if (status == ACQ_OK)
            found += list_joined(links, r, all + found);
    }
    if (status == ACQ_OK) {
        radix_sort(all, other, found, 32);
        *out = (double)count_doubles(all, found) >= DENSE * (double)found ? ACQ_HOLD_PAIRS
                                                                          : ACQ_HOLD_LINKS;
    }
    acq_free(all);
    acq_free(other);
    return status;
}
