/* rows.c - what the rules say of a row; see rulebook.h.
 *
 * Cycles are followed from the head, in the order of their bodies, so that those which begin alike
 * share their first hops. Rules with constants are looked up from two sides: by the facts of the
 * head, which conclude their constants, and by the head as the constant of an inverse relation,
 * which concludes all entities that have the body. Every conclusion is a hit (tail, cluster,
 * weight), weight = -log(1 - confidence); hits are sorted by tail and cluster and summed up:
 *
 *   p = 1 - exp(-sum),      raw score = log(p / (1 - p)) = log(exp(sum) - 1)
 *
 * How often the relation has the tail is added as a tiny weight, below that of any rule. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/edges.h"
#include "models/rulebook/parts.h"

enum {
    BATCH = 8,
    MOST_WORK = 20000,   /* links that one cycle may look at */
    MOST_HITS = 1 << 18, /* of one row; the most confident rules come first */
    MOST_ENDS = 4000,    /* conclusions of one rule that count */
    MOST_BEST = 64
};

static const double LEAST = 1e-6;      /* weight of a tail without evidence */
static const double USUAL = 1e-3;      /* weight of a tail that each head of the relation has */
static const double NEXT = 1.0 / 1024; /* of the rule that breaks a tie */

typedef struct hit {
    acq_ent tail;
    uint32_t cluster;
    float weight;
    const acq_learnt_rule *rule;
} hit;

#define ACQ_RADIX_ITEM     hit
#define ACQ_RADIX_KEY(one) ((uint64_t)(one).tail << 32 | (one).cluster)
#include "base/radix.h"

typedef struct rulebook_rows {
    acq_row_model base;
    const acq_rulebook *book;
    const acq_links **links;
    acq_edges edges;      /* all facts of an entity */
    uint32_t *by_body;    /* cycles of each relation in the order of their bodies */
    uint32_t *by_turned;  /* and of their bodies turned around */
    size_t *cycle_begins; /* by relation: where its cycles begin; n_relations + 1 */
    uint32_t *by_facts;   /* rules with constants by head, body, other */
    size_t *begins;       /* by relation: where its rules with constants begin, in both orders */
} rulebook_rows;

typedef struct row_scratch {
    acq_walker walker;
    hit *hits, *sorted;
    size_t n_hits, hits_room, sorted_room;
    float *row; /* of all entities */
} row_scratch;

/* ---- hits ---- */

static acq_status add_hit(row_scratch *s, acq_ent tail, uint32_t cluster,
                          const acq_learnt_rule *rule)
{
    if (ACQ_RESERVE(s->hits, s->hits_room, s->n_hits + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    double p = acq_learnt_rule_get_confidence(rule);
    s->hits[s->n_hits++] = (hit){tail, cluster, (float)-log1p(-p), rule};
    return ACQ_OK;
}

/* Cycles, rules with the tail as constant and those with the head have clusters of their own. */
enum { OF_CYCLES = 1 << 30, OF_HEAD = 1 << 29 };

static acq_status follow_cycles(const rulebook_rows *r, row_scratch *s, acq_rel relation,
                                acq_ent head)
{
    const uint32_t *order = relation % 2 == 0 ? r->by_body : r->by_turned;
    acq_status status = ACQ_OK;
    acq_walker_start(&s->walker, head);
    for (size_t i = r->cycle_begins[relation & ~1U]; i < r->cycle_begins[(relation & ~1U) + 1];
         i++) {
        const acq_learnt_rule *rule = &r->book->cycles[order[i]];
        acq_rel body[ACQ_RULEBOOK_HOPS];
        size_t n;
        if (relation % 2 == 0)
            memcpy(body, rule->body, sizeof body);
        else
            acq_learnt_rule_turn(rule->body, body);
        const acq_ent *ends = acq_walker_follow(&s->walker, body, &n);
        n = n < MOST_ENDS ? n : MOST_ENDS;
        for (size_t j = 0; j < n && status == ACQ_OK; j++)
            status = add_hit(s, ends[j], rule->cluster | OF_CYCLES, rule);
    }
    return status;
}

/* Rules of the relation whose body is b(X, other), where the head has that fact. */
static acq_status look_up(const rulebook_rows *r, row_scratch *s, acq_rel relation, acq_ent head,
                          acq_rel body, acq_ent other)
{
    const acq_learnt_rule *rules = r->book->constants;
    size_t end = r->begins[relation + 1], i;
    acq_row row = acq_links_get_row(r->links[body], head);
    acq_status status = ACQ_OK;
    ACQ_SEARCH(i, r->begins[relation], end,
               rules[r->by_facts[i]].body[0] < body ||
                   (rules[r->by_facts[i]].body[0] == body && rules[r->by_facts[i]].other < other));
    for (; i < end && status == ACQ_OK; i++) {
        const acq_learnt_rule *rule = &rules[r->by_facts[i]];
        if (rule->body[0] != body || rule->other != other)
            break;
        bool has_other =
            other != ACQ_NO_ID || row.n > 1 || (row.n == 1 && row.tails[0] != rule->constant);
        if (rule->constant != head && has_other)
            status = add_hit(s, rule->constant, rule->cluster, rule);
    }
    return status;
}

/* What the facts of the head conclude. */
static acq_status follow_facts(const rulebook_rows *r, row_scratch *s, acq_rel relation,
                               acq_ent head)
{
    const acq_edges *edges = &r->edges;
    acq_status status = ACQ_OK;
    if (r->begins[relation] == r->begins[relation + 1])
        return ACQ_OK;
    for (uint32_t g = edges->rows[head]; g < edges->rows[head + 1] && status == ACQ_OK; g++) {
        acq_rel body = edges->relations[g];
        for (uint32_t i = edges->begins[g]; i < edges->begins[g + 1] && status == ACQ_OK; i++)
            if (edges->sources[i] != head)
                status = look_up(r, s, relation, head, body, edges->sources[i]);
        if (status == ACQ_OK)
            status = look_up(r, s, relation, head, body, ACQ_NO_ID);
    }
    return status;
}

/* All X but the constant that have the body of a rule. */
static acq_status conclude_members(const rulebook_rows *r, row_scratch *s,
                                   const acq_learnt_rule *rule)
{
    const acq_links *links = r->links[rule->body[0]];
    bool is_any = rule->other == ACQ_NO_ID;
    acq_row row = {0};
    if (!is_any)
        row = acq_links_get_row(r->links[acq_inverse(rule->body[0])], rule->other);
    size_t n = is_any ? links->n_heads : row.n;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < n && i < MOST_ENDS && status == ACQ_OK; i++) {
        acq_ent x = is_any ? links->heads[i] : row.tails[i];
        acq_row own = is_any ? acq_links_get_row_at(links, (uint32_t)i) : (acq_row){0};
        if (x == rule->constant || x == rule->other ||
            (is_any && own.n == 1 && own.tails[0] == rule->constant))
            continue;
        status = add_hit(s, x, rule->cluster | OF_HEAD, rule);
    }
    return status;
}

/* The rules in which the head is the constant: of relation(head, X) = inverse(X, head). */
static acq_status follow_constant(const rulebook_rows *r, row_scratch *s, acq_rel relation,
                                  acq_ent head)
{
    acq_rel own = acq_inverse(relation);
    const acq_learnt_rule *rules = r->book->constants;
    size_t end = r->begins[own + 1], i;
    acq_status status = ACQ_OK;
    ACQ_SEARCH(i, r->begins[own], end, rules[i].constant < head);
    for (; i < end && rules[i].constant == head && s->n_hits < MOST_HITS && status == ACQ_OK; i++)
        status = conclude_members(r, s, &rules[i]);
    return status;
}

/* ---- from hits to scores ---- */

/* The largest weights first, `most` of them. */
static size_t keep_best(double *best, size_t n, size_t most, double weight)
{
    size_t i = n < most ? n : most;
    for (; i > 0 && best[i - 1] < weight; i--)
        if (i < most)
            best[i] = best[i - 1];
    if (i < most)
        best[i] = weight;
    return n < most ? n + 1 : most;
}

/* Hits of one tail, sorted by cluster. */
static double aggregate(const acq_rulebook *book, const hit *hits, size_t n)
{
    double best[MOST_BEST], sum = 0, factor = 1;
    bool is_max = book->aggregation == ACQ_RULES_MAXIMUM;
    size_t most = is_max || book->best == 0 || book->best > MOST_BEST ? MOST_BEST : book->best;
    size_t n_best = 0;
    for (size_t i = 0; i < n;) {
        double weight = (double)hits[i].weight;
        uint32_t cluster = hits[i++].cluster;
        for (; book->aggregation == ACQ_RULES_CLUSTERS && i < n && hits[i].cluster == cluster; i++)
            weight = fmax(weight, (double)hits[i].weight);
        n_best = keep_best(best, n_best, most, weight);
    }
    for (size_t i = 0; i < n_best; i++, factor *= is_max ? NEXT : 1)
        sum += factor * best[i];
    return sum;
}

static float get_score(double weight)
{
    return (float)(weight > 30 ? weight : log(expm1(weight)));
}

/* The row of a head before any rule: how often the relation has each tail. */
static double weigh_usual(const rulebook_rows *r, acq_rel relation, acq_ent tail)
{
    acq_row row = acq_links_get_row(r->links[acq_inverse(relation)], tail);
    return LEAST + USUAL * (double)row.n / (1.0 + (double)r->links[relation]->n_heads);
}

static void fill_usual(const rulebook_rows *r, acq_rel relation, float *out)
{
    const acq_links *back = r->links[acq_inverse(relation)];
    uint32_t n = acq_graph_get_n_entities(r->base.graph);
    float least = get_score(LEAST);
    for (uint32_t e = 0; e < n; e++)
        out[e] = least;
    for (uint32_t i = 0; i < back->n_heads; i++)
        out[back->heads[i]] = get_score(weigh_usual(r, relation, back->heads[i]));
}

static acq_status sum_up(const rulebook_rows *r, row_scratch *s, acq_rel relation)
{
    if (s->n_hits == 0)
        return ACQ_OK;
    if (ACQ_RESERVE(s->sorted, s->sorted_room, s->n_hits) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    radix_sort(s->hits, s->sorted, s->n_hits, 32);
    for (size_t i = 0, next; i < s->n_hits; i = next) {
        acq_ent tail = s->hits[i].tail;
        for (next = i + 1; next < s->n_hits && s->hits[next].tail == tail;)
            next++;
        double weight = aggregate(r->book, s->hits + i, next - i);
        s->row[tail] = get_score(weight + weigh_usual(r, relation, tail));
    }
    return ACQ_OK;
}

static acq_status score_row(const rulebook_rows *r, row_scratch *s, acq_rel relation, acq_ent head)
{
    s->n_hits = 0;
    fill_usual(r, relation, s->row);
    acq_status status = ACQ_OK;
    if (relation < r->book->n_relations)
        status = follow_cycles(r, s, relation, head);
    if (status == ACQ_OK && relation < r->book->n_relations)
        status = follow_facts(r, s, relation, head);
    if (status == ACQ_OK && relation < r->book->n_relations)
        status = follow_constant(r, s, relation, head);
    return status == ACQ_OK ? sum_up(r, s, relation) : status;
}

/* ---- the row model ---- */

static acq_status score(const acq_row_model *self, void *scratch, const acq_row_request *request,
                        acq_error *error)
{
    const rulebook_rows *r = (const rulebook_rows *)self;
    row_scratch *s = scratch;
    for (size_t i = 0; i < request->n_heads; i++) {
        float *out = request->out + i * request->n_tails;
        acq_status status = acq_stop_check(request->stop, error);
        if (status != ACQ_OK)
            return status;
        if (score_row(r, s, request->relation, request->heads[i]) != ACQ_OK)
            return acq_fail_memory(error);
        for (size_t j = 0; j < request->n_tails; j++)
            out[j] = s->row[request->tails == NULL ? j : request->tails[j]];
    }
    return ACQ_OK;
}

/* Hits are sorted by tail, then in the order that rules were followed. */
static const acq_learnt_rule *find_best(const row_scratch *s, acq_ent tail)
{
    size_t i;
    const hit *best = NULL;
    ACQ_SEARCH(i, 0, s->n_hits, s->hits[i].tail < tail);
    for (; i < s->n_hits && s->hits[i].tail == tail; i++)
        if (best == NULL || s->hits[i].weight > best->weight)
            best = &s->hits[i];
    return best == NULL ? NULL : best->rule;
}

acq_status acq_rulebook_find_best(const acq_row_model *model, void *scratch, acq_rel relation,
                                  acq_ent head, const acq_ent *tails, size_t n,
                                  const acq_learnt_rule **out, acq_error *error)
{
    row_scratch *s = scratch;
    if (score_row((const rulebook_rows *)model, s, relation, head) != ACQ_OK)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n; i++)
        out[i] = find_best(s, tails[i]);
    return ACQ_OK;
}

static void free_scratch(const acq_row_model *self, void *scratch)
{
    row_scratch *s = scratch;
    (void)self;
    if (s == NULL)
        return;
    acq_walker_deinit(&s->walker);
    acq_free(s->hits);
    acq_free(s->sorted);
    acq_free(s->row);
    acq_free(s);
}

static acq_status open_scratch(const acq_row_model *self, void **out, acq_error *error)
{
    const rulebook_rows *r = (const rulebook_rows *)self;
    uint32_t n = acq_graph_get_n_entities(self->graph);
    row_scratch *s = acq_zalloc(1, sizeof *s);
    if (s == NULL)
        return acq_fail_memory(error);
    s->row = acq_alloc(n, sizeof *s->row);
    if (s->row == NULL || acq_walker_init(&s->walker, r->links, n, MOST_WORK) != ACQ_OK) {
        free_scratch(self, s);
        return acq_fail_memory(error);
    }
    *out = s;
    return ACQ_OK;
}

static void free_rows(acq_row_model *self)
{
    rulebook_rows *r = (rulebook_rows *)self;
    acq_edges_deinit(&r->edges);
    acq_free((void *)r->links);
    acq_free(r->by_body);
    acq_free(r->by_turned);
    acq_free(r->cycle_begins);
    acq_free(r->by_facts);
    acq_free(r->begins);
    acq_free(r);
}

/* ---- orders ---- */

typedef struct place {
    acq_rel head;
    acq_rel body[ACQ_RULEBOOK_HOPS];
    acq_ent other;
    uint32_t rule;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    const uint32_t keys[][2] = {{x->head, y->head},       {x->body[0], y->body[0]},
                                {x->body[1], y->body[1]}, {x->body[2], y->body[2]},
                                {x->other, y->other},     {x->rule, y->rule}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Rules in the order of head, body and the entity in it. */
static acq_status order_rules(const acq_learnt_rule *rules, size_t n, bool is_turned,
                              uint32_t **out)
{
    place *places = acq_alloc(n, sizeof *places);
    *out = acq_alloc(n, sizeof **out);
    acq_status status = places == NULL || *out == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        places[i] = (place){.head = rules[i].head, .other = rules[i].other, .rule = (uint32_t)i};
        if (is_turned)
            acq_learnt_rule_turn(rules[i].body, places[i].body);
        else
            memcpy(places[i].body, rules[i].body, sizeof places[i].body);
    }
    if (status == ACQ_OK && n > 0)
        qsort(places, n, sizeof *places, compare_places);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        (*out)[i] = places[i].rule;
    acq_free(places);
    return status;
}

static acq_status find_begins(const acq_learnt_rule *rules, size_t n, uint32_t n_relations,
                              size_t **out)
{
    *out = acq_alloc((size_t)n_relations + 2, sizeof **out);
    if (*out == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t r = 0, i = 0; r <= n_relations + 1; r++) {
        while (i < n && rules[i].head < r)
            i++;
        (*out)[r] = i;
    }
    return ACQ_OK;
}

static acq_status order_all(rulebook_rows *r, acq_error *error)
{
    const acq_rulebook *b = r->book;
    if (order_rules(b->cycles, b->n_cycles, false, &r->by_body) != ACQ_OK ||
        order_rules(b->cycles, b->n_cycles, true, &r->by_turned) != ACQ_OK ||
        order_rules(b->constants, b->n_constants, false, &r->by_facts) != ACQ_OK ||
        find_begins(b->cycles, b->n_cycles, b->n_relations, &r->cycle_begins) != ACQ_OK ||
        find_begins(b->constants, b->n_constants, b->n_relations, &r->begins) != ACQ_OK)
        return acq_fail_memory(error);
    return ACQ_OK;
}

acq_status acq_rulebook_new_row_model(const acq_rulebook *book, const acq_graph *graph,
                                      acq_row_model **out, acq_error *error)
{
    static const acq_row_model_ops ops = {.open_scratch = open_scratch,
                                          .free_scratch = free_scratch,
                                          .score = score,
                                          .free = free_rows};
    rulebook_rows *r = acq_zalloc(1, sizeof *r);
    if (r == NULL)
        return acq_fail_memory(error);
    r->book = book;
    r->base = (acq_row_model){.ops = &ops,
                              .graph = graph,
                              .kind = "rules",
                              .batch = BATCH,
                              .is_sparse = true,
                              .nothing = get_score(LEAST + USUAL)};
    acq_status status = acq_rulebook_open_links(graph, &r->links, error);
    if (status == ACQ_OK)
        status = acq_edges_init(&r->edges, graph, error);
    if (status == ACQ_OK)
        status = order_all(r, error);
    if (status == ACQ_OK)
        *out = &r->base;
    else
        free_rows(&r->base);
    return status;
}
