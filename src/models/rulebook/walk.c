/* walk.c - where the body of a cycle leads, and how often it is right; see parts.h. */
#include <string.h>

#include "base/memory.h"
#include "models/rulebook/parts.h"

enum {
    MOST_PAIRS = 6000, /* that a sampled cycle is counted on */
    FIRST_PAIRS = 800, /* after which one that is hardly ever right is left */
    HARDLY = 400       /* pairs for each one that is right */
};

acq_status acq_rulebook_open_links(const acq_graph *graph, const acq_links ***out, acq_error *error)
{
    uint32_t n = acq_graph_get_n_relations(graph);
    const acq_links **links = acq_zalloc(n, sizeof(*links));
    acq_status status = links == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (acq_rel r = 0; r < n && status == ACQ_OK; r++)
        status = acq_graph_open_links(graph, r, &links[r], error);
    if (status == ACQ_OK)
        *out = links;
    else
        acq_free((void *)links);
    return status;
}

acq_status acq_walker_init(acq_walker *w, const acq_links *const *links, uint32_t n_entities,
                           uint64_t most)
{
    *w = (acq_walker){.links = links, .n_entities = n_entities, .most = most};
    bool is_made = true;
    for (unsigned i = 0; i < ACQ_RULEBOOK_HOPS; i++) {
        w->hops[i].ends = acq_alloc(n_entities, sizeof *w->hops[i].ends);
        w->marks[i] = acq_zalloc(n_entities, sizeof *w->marks[i]);
        is_made = is_made && w->hops[i].ends != NULL && w->marks[i] != NULL;
        w->hops[i].relation = ACQ_NO_ID;
    }
    w->before = acq_alloc(n_entities, sizeof *w->before);
    w->has_others = acq_alloc(n_entities, sizeof *w->has_others);
    return is_made && w->before != NULL && w->has_others != NULL ? ACQ_OK : ACQ_ERR_MEMORY;
}

void acq_walker_deinit(acq_walker *w)
{
    for (unsigned i = 0; i < ACQ_RULEBOOK_HOPS; i++) {
        acq_free(w->hops[i].ends);
        acq_free(w->marks[i]);
    }
    acq_free(w->before);
    acq_free(w->has_others);
    *w = (acq_walker){0};
}

static void forget_from(acq_walker *w, unsigned hop)
{
    for (; hop < ACQ_RULEBOOK_HOPS; hop++)
        w->hops[hop].relation = ACQ_NO_ID;
}

void acq_walker_start(acq_walker *w, acq_ent head)
{
    w->head = head;
    forget_from(w, 0);
}

/* An empty set for the ends of a hop. */
static acq_walk_hop *start_hop(acq_walker *w, unsigned i, acq_rel relation)
{
    acq_walk_hop *hop = &w->hops[i];
    if (++w->last[i] == 0) {
        memset(w->marks[i], 0, w->n_entities * sizeof *w->marks[i]);
        w->last[i] = 1;
    }
    hop->n = 0;
    hop->relation = relation;
    hop->is_cut = false;
    forget_from(w, i + 1);
    return hop;
}

static void make_first(acq_walker *w, acq_rel relation)
{
    acq_walk_hop *hop = start_hop(w, 0, relation);
    acq_row row = acq_links_get_row(w->links[relation], w->head);
    w->work += row.n;
    for (size_t i = 0; i < row.n; i++)
        if (row.tails[i] != w->head)
            hop->ends[hop->n++] = row.tails[i];
}

/* Not by way of the head, nor around the last entity. */
static void make_second(acq_walker *w, acq_rel relation)
{
    acq_walk_hop *hop = start_hop(w, 1, relation);
    uint64_t end = w->work + w->most;
    for (size_t i = 0; i < w->hops[0].n && !hop->is_cut; i++) {
        acq_ent from = w->hops[0].ends[i];
        acq_row row = acq_links_get_row(w->links[relation], from);
        w->work += row.n + 1;
        hop->is_cut = w->work > end;
        for (size_t j = 0; j < row.n; j++) {
            acq_ent z = row.tails[j];
            if (z == w->head || z == from)
                continue;
            if (w->marks[1][z] == w->last[1]) {
                w->has_others[z] = true;
                continue;
            }
            w->marks[1][z] = w->last[1];
            w->before[z] = from;
            w->has_others[z] = false;
            hop->ends[hop->n++] = z;
        }
    }
}

/* An end that is the only way to the entity before it would be met twice. */
static void make_third(acq_walker *w, acq_rel relation)
{
    acq_walk_hop *hop = start_hop(w, 2, relation);
    uint64_t end = w->work + w->most;
    for (size_t i = 0; i < w->hops[1].n && !hop->is_cut; i++) {
        acq_ent z = w->hops[1].ends[i];
        acq_row row = acq_links_get_row(w->links[relation], z);
        acq_ent only = w->has_others[z] ? ACQ_NO_ID : w->before[z];
        w->work += row.n + 1;
        hop->is_cut = w->work > end;
        for (size_t j = 0; j < row.n; j++) {
            acq_ent y = row.tails[j];
            if (y == w->head || y == z || y == only || w->marks[2][y] == w->last[2])
                continue;
            w->marks[2][y] = w->last[2];
            hop->ends[hop->n++] = y;
        }
    }
}

const acq_ent *acq_walker_follow(acq_walker *w, const acq_rel *body, size_t *n)
{
    unsigned n_hops = acq_learnt_rule_get_hops(body);
    if (w->hops[0].relation != body[0])
        make_first(w, body[0]);
    if (n_hops > 1 && w->hops[1].relation != body[1])
        make_second(w, body[1]);
    if (n_hops > 2 && w->hops[2].relation != body[2])
        make_third(w, body[2]);
    *n = w->hops[n_hops - 1].n;
    return w->hops[n_hops - 1].ends;
}

/* ---- counting ---- */

/* Adds what the body says of one head. */
static void count_head(acq_walker *w, acq_rel relation, const acq_rel *body, acq_ent head,
                       acq_learnt_rule *sum)
{
    size_t n;
    acq_walker_start(w, head);
    const acq_ent *ends = acq_walker_follow(w, body, &n);
    acq_row row = acq_links_get_row(w->links[relation], head);
    sum->pairs += (uint32_t)n;
    for (size_t i = 0; i < n && row.n > 0; i++)
        sum->support += acq_row_find(row, ends[i]) < row.n;
}

/* Counted from the side with more heads: each of them has fewer pairs, and more of them fit. */
static acq_rel choose_side(const acq_walker *w, const acq_learnt_rule *rule, acq_rel *body)
{
    acq_rel turned[ACQ_RULEBOOK_HOPS];
    acq_learnt_rule_turn(rule->body, turned);
    bool is_turned = w->links[turned[0]]->n_heads > w->links[rule->body[0]]->n_heads;
    memcpy(body, is_turned ? turned : rule->body, sizeof turned);
    return is_turned ? acq_inverse(rule->head) : rule->head;
}

static bool is_hopeless(const acq_learnt_rule *sum)
{
    return sum->pairs > FIRST_PAIRS && sum->support * (uint64_t)HARDLY < sum->pairs;
}

static uint64_t find_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

acq_stride acq_stride_draw(acq_random *random, uint64_t n)
{
    acq_stride stride = {.n = n, .start = acq_random_below(random, n)};
    stride.step = 1 + acq_random_below(random, n);
    while (find_divisor(stride.step, n) != 1)
        stride.step++;
    return stride;
}

void acq_walker_count(acq_walker *w, acq_learnt_rule *rule, uint32_t heads, uint64_t seed)
{
    acq_rel body[ACQ_RULEBOOK_HOPS], relation = choose_side(w, rule, body);
    const acq_links *links = w->links[body[0]];
    uint64_t key = (uint64_t)body[0] << 42 ^ (uint64_t)body[1] << 21 ^ body[2];
    acq_random random = acq_random_start(seed ^ acq_random_mix(relation), key);
    uint32_t n = links->n_heads < heads ? links->n_heads : heads;
    rule->support = rule->pairs = 0;
    if (n == 0)
        return;
    acq_stride order = acq_stride_draw(&random, links->n_heads);
    for (uint32_t i = 0; i < n && rule->pairs <= MOST_PAIRS && !is_hopeless(rule); i++)
        count_head(w, relation, body, links->heads[acq_stride_get(&order, i)], rule);
}

uint32_t acq_rulebook_count_pairs(const acq_links *const *links, acq_rel body, acq_ent constant,
                                  acq_ent other)
{
    acq_row row = acq_links_get_row(links[acq_inverse(body)], other);
    uint32_t n = (uint32_t)row.n;
    n -= acq_row_find(row, constant) < row.n;
    n -= other != constant && acq_row_find(row, other) < row.n;
    return n;
}

uint32_t acq_rulebook_count_any(const acq_links *const *links, acq_rel body, acq_ent constant)
{
    acq_row only = acq_links_get_row(links[acq_inverse(body)], constant);
    uint32_t n = links[body]->n_heads;
    bool is_counted = false; /* the constant itself, as a head */
    for (size_t i = 0; i < only.n; i++) {
        bool has_no_other = acq_links_get_row(links[body], only.tails[i]).n == 1;
        n -= has_no_other;
        is_counted = is_counted || (has_no_other && only.tails[i] == constant);
    }
    return n - (!is_counted && acq_links_find(links[body], constant) != ACQ_NO_ID);
}
