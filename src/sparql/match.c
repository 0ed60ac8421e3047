/* match.c - triples: links, variables as relations, property paths.
 *
 * A path is walked from an end that is bound, or from every node of the graph when none is. A
 * sequence and an alternative count each way once; ?, * and + give each node once (SPARQL 1.1,
 * 18.4). A path of no step leads from a term to itself: from any term that the query names, from
 * others only if they are nodes of the graph. */
#include <string.h>

#include "base/memory.h"
#include "sparql/machine.h"

/* ---- binding ---- */

static uint32_t get_end(const acq_machine *m, acq_plan_end end)
{
    return end.is_variable ? m->row[end.id] : end.id;
}

/* Binds the end to a term if it can be; *was says whether there is something to take back. */
static bool set_end(acq_machine *m, acq_plan_end end, uint32_t term, bool *was_unbound)
{
    uint32_t now = get_end(m, end);
    *was_unbound = now == ACQ_NO_ID;
    if (*was_unbound)
        m->row[end.id] = term;
    return *was_unbound || now == term;
}

static void take_back(acq_machine *m, acq_plan_end end, bool was_unbound)
{
    if (was_unbound)
        m->row[end.id] = ACQ_NO_ID;
}

static bool tick(acq_machine *m)
{
    return acq_budget_tick(&m->budget, 64);
}

static const acq_links *open_links(acq_machine *m, acq_rel relation)
{
    const acq_links *links = NULL;
    acq_status status = acq_graph_open_links(m->graph, relation, &links, m->error);
    if (status != ACQ_OK)
        acq_machine_fail(m, status);
    return status == ACQ_OK ? links : NULL;
}

/* ---- graphs ---- */

/* Does the fact stand in a graph that is active? */
static bool is_active(const acq_machine *m, acq_ent head, acq_rel relation, acq_ent tail)
{
    bool is_back = relation % 2 != 0;
    acq_quad item = {.relation = is_back ? acq_inverse(relation) : relation,
                     .head = is_back ? tail : head,
                     .tail = is_back ? head : tail};
    for (size_t i = 0; !m->active.is_all && i < m->active.n; i++) {
        item.graph = m->active.graphs[i];
        if (acq_quads_has(m->quads, item))
            return true;
    }
    return m->active.is_all;
}

/* ---- links ---- */

typedef struct match {
    acq_machine *m;
    const acq_plan_step *step;
    const acq_plan_after *after;
} match;

/* Both ends known: goes on if they fit. */
static bool go_on(const match *at, uint32_t head, uint32_t tail)
{
    acq_machine *m = at->m;
    bool head_new, tail_new = false, goes_on = true;
    if (!tick(m))
        return false;
    if (set_end(m, at->step->subject, head, &head_new)) {
        if (set_end(m, at->step->object, tail, &tail_new))
            goes_on = acq_machine_run(m, at->step->next, at->after);
        take_back(m, at->step->object, tail_new);
    }
    take_back(m, at->step->subject, head_new);
    return goes_on;
}

/* links: of the relation, or of its inverse when not is_forward. */
static bool match_row(const match *at, const acq_links *links, acq_rel relation, uint32_t from,
                      bool is_forward)
{
    bool goes_on = true;
    if (from >= at->m->terms->n_entities)
        return true;
    acq_row row = acq_links_get_row(links, from);
    for (size_t i = 0; goes_on && i < row.n; i++) {
        uint32_t head = is_forward ? from : row.tails[i], tail = is_forward ? row.tails[i] : from;
        goes_on = is_active(at->m, head, relation, tail) ? go_on(at, head, tail) : tick(at->m);
    }
    return goes_on;
}

/* All facts of a relation in the one graph that is active, as far as they are facts still. */
static bool match_graph(const match *at, const acq_links *links, acq_rel relation)
{
    acq_machine *m = at->m;
    const acq_quads *quads = m->quads;
    acq_quad first = {.graph = m->active.graphs[0], .relation = relation};
    bool goes_on = true;
    for (size_t i = acq_quads_find(quads, first); goes_on && i < quads->n; i++) {
        const acq_quad *item = &quads->items[i];
        if (item->graph != first.graph || item->relation != relation)
            break;
        goes_on = acq_links_get_score(links, item->head, item->tail) > 0
                      ? go_on(at, item->head, item->tail)
                      : tick(m);
    }
    return goes_on;
}

/* relation(subject, object) for one relation. */
static bool match_links(const match *at, acq_rel relation)
{
    acq_machine *m = at->m;
    uint32_t head = get_end(m, at->step->subject), tail = get_end(m, at->step->object);
    uint32_t n_entities = m->terms->n_entities;
    if (relation == ACQ_NO_ID)
        return true;
    bool is_back = head == ACQ_NO_ID && tail != ACQ_NO_ID;
    const acq_links *links = open_links(m, is_back ? acq_inverse(relation) : relation);
    if (links == NULL)
        return false;
    if (head != ACQ_NO_ID && tail != ACQ_NO_ID) {
        bool is_there = head < n_entities && tail < n_entities &&
                        acq_links_get_score(links, head, tail) > 0 &&
                        is_active(m, head, relation, tail);
        return !is_there || go_on(at, head, tail);
    }
    if (head != ACQ_NO_ID || is_back)
        return match_row(at, links, relation, is_back ? tail : head, !is_back);
    if (!m->active.is_all && m->active.n == 1 && relation % 2 == 0)
        return match_graph(at, links, relation);
    bool goes_on = true;
    for (uint32_t i = 0; goes_on && i < links->n_heads; i++)
        goes_on = match_row(at, links, relation, links->heads[i], true);
    return goes_on;
}

/* A variable as a relation: all relations that have a name of their own. */
static bool match_variable(const match *at)
{
    acq_machine *m = at->m;
    acq_plan_end variable = at->step->path->variable;
    uint32_t now = get_end(m, variable);
    bool goes_on = true;
    if (now != ACQ_NO_ID)
        return match_links(at, acq_terms_get_relation(m->terms, now));
    for (acq_rel r = 0; goes_on && r < acq_graph_get_n_relations(m->graph); r++) {
        uint32_t term;
        if (!acq_graph_is_named(m->graph, r))
            continue;
        if (acq_terms_add_relation(m->terms, r, &term) != ACQ_OK)
            return acq_machine_fail(m, acq_fail_memory(m->error));
        m->row[variable.id] = term;
        goes_on = match_links(at, r);
        m->row[variable.id] = ACQ_NO_ID;
    }
    return goes_on;
}

/* ---- nodes ---- */

static void mark_heads(acq_machine *m, const acq_links *links)
{
    for (uint32_t i = 0; i < links->n_heads; i++)
        acq_bits_set(m->nodes, links->heads[i]);
}

static bool mark_all(acq_machine *m)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(m->graph); r++) {
        const acq_links *links = open_links(m, r);
        if (links == NULL)
            return false;
        mark_heads(m, links);
    }
    return true;
}

/* The ends of the facts in one graph. */
static bool mark_graph(acq_machine *m, uint32_t graph)
{
    const acq_quads *quads = m->quads;
    for (size_t i = acq_quads_find(quads, (acq_quad){.graph = graph});
         i < quads->n && quads->items[i].graph == graph; i++) {
        const acq_quad *item = &quads->items[i];
        const acq_links *links = open_links(m, item->relation);
        if (links == NULL || !tick(m))
            return false;
        if (acq_links_get_score(links, item->head, item->tail) <= 0)
            continue;
        acq_bits_set(m->nodes, item->head);
        acq_bits_set(m->nodes, item->tail);
    }
    return true;
}

/* The entities that some active fact is about. */
static bool find_nodes(acq_machine *m)
{
    size_t n_words = (size_t)m->terms->n_entities / 64 + 1;
    if (m->nodes != NULL && m->nodes_of == m->active.graphs)
        return true;
    if (m->nodes == NULL)
        m->nodes = acq_alloc(n_words, sizeof *m->nodes);
    if (m->nodes == NULL)
        return acq_machine_fail(m, acq_fail_memory(m->error));
    memset(m->nodes, 0, n_words * sizeof *m->nodes);
    m->nodes_of = m->active.graphs;
    if (!acq_budget_tick(&m->budget, 64 + n_words))
        return false;
    bool goes_on = !m->active.is_all || mark_all(m);
    for (size_t i = 0; goes_on && !m->active.is_all && i < m->active.n; i++)
        goes_on = mark_graph(m, m->active.graphs[i]);
    return goes_on;
}

static bool is_node(acq_machine *m, uint32_t term)
{
    return find_nodes(m) && term < m->terms->n_entities && acq_bits_has(m->nodes, term);
}

/* ---- paths ---- */

/* A walk from one node: where it arrives, once for each way. */
typedef struct walk {
    acq_machine *m;
    bool (*arrive)(void *context, uint32_t node);
    void *context;
} walk;

/* The ends of a path: forward or against it, and whether the query names the term there. */
typedef struct ends {
    bool is_forward, from_term, to_term;
} ends;

static bool walk_path(const walk *w, const acq_plan_path *path, ends of, uint32_t node);

static bool walk_link(const walk *w, acq_rel relation, bool is_forward, uint32_t node)
{
    acq_machine *m = w->m;
    bool goes_on = true;
    if (relation == ACQ_NO_ID || node >= m->terms->n_entities)
        return true;
    const acq_links *links = open_links(m, is_forward ? relation : acq_inverse(relation));
    if (links == NULL)
        return false;
    acq_row row = acq_links_get_row(links, node);
    acq_rel directed = is_forward ? relation : acq_inverse(relation);
    for (size_t i = 0; goes_on && i < row.n; i++)
        goes_on = tick(m) && (!is_active(m, node, directed, row.tails[i]) ||
                              w->arrive(w->context, row.tails[i]));
    return goes_on;
}

/* The rest of a sequence, from where a step has arrived. */
typedef struct rest {
    const walk *outer;
    const acq_plan_path *step; /* the next one, in the walk's direction */
    ends of;
} rest;

static bool walk_rest(void *context, uint32_t node)
{
    const rest *r = context;
    const acq_plan_path *after = r->of.is_forward ? r->step->next : r->step->previous;
    ends of = {.is_forward = r->of.is_forward,
               .from_term = r->of.from_term,
               .to_term = after == NULL && r->of.to_term};
    if (after == NULL)
        return walk_path(r->outer, r->step, of, node);
    rest next = {.outer = r->outer, .step = after, .of = r->of};
    next.of.from_term = false;
    walk inner = {.m = r->outer->m, .arrive = walk_rest, .context = &next};
    return walk_path(&inner, r->step, of, node);
}

static bool walk_alternatives(const walk *w, const acq_plan_path *path, ends of, uint32_t node)
{
    bool goes_on = true;
    for (const acq_plan_path *one = path->children; goes_on && one != NULL; one = one->next)
        goes_on = walk_path(w, one, of, node);
    return goes_on;
}

static bool is_listed(const acq_plan_path *set, bool is_inverse, acq_rel relation)
{
    for (const acq_plan_path *one = set->children; one != NULL; one = one->next) {
        const acq_plan_path *link = one->kind == ACQ_PATH_INVERSE ? one->children : one;
        if ((one->kind == ACQ_PATH_INVERSE) == is_inverse && link->relation == relation)
            return true;
    }
    return false;
}

static bool has_direction(const acq_plan_path *set, bool is_inverse)
{
    for (const acq_plan_path *one = set->children; one != NULL; one = one->next) {
        if ((one->kind == ACQ_PATH_INVERSE) == is_inverse)
            return true;
    }
    return set->children == NULL && !is_inverse;
}

/* Any relation but those listed, in the directions that are listed. */
static bool walk_negated(const walk *w, const acq_plan_path *path, bool is_forward, uint32_t node)
{
    const acq_graph *graph = w->m->graph;
    bool goes_on = true;
    for (int inverse = 0; inverse < 2; inverse++) {
        if (!has_direction(path, inverse))
            continue;
        for (acq_rel r = 0; goes_on && r < acq_graph_get_n_relations(graph); r++) {
            if (acq_graph_is_named(graph, r) && !is_listed(path, inverse, r))
                goes_on = walk_link(w, r, is_forward != (bool)inverse, node);
        }
    }
    return goes_on;
}

/* ? * +: each node that is reached, once. */
typedef struct reached {
    acq_machine *m;
    uint32_t *nodes; /* in the order of arrival */
    size_t n, capacity;
    uint32_t *slots; /* open addressing: index + 1; 0: free */
    size_t n_slots;
} reached;

static size_t find_slot(const reached *r, uint32_t node)
{
    size_t at = (size_t)(node * 0x9E3779B97F4A7C15ULL >> 20) & (r->n_slots - 1);
    while (r->slots[at] != 0 && r->nodes[r->slots[at] - 1] != node)
        at = (at + 1) & (r->n_slots - 1);
    return at;
}

static bool grow_slots(reached *r)
{
    size_t n = r->n_slots == 0 ? 64 : r->n_slots * 2;
    uint32_t *slots = acq_zalloc(n, sizeof *slots);
    if (slots == NULL)
        return false;
    acq_free(r->slots);
    r->slots = slots;
    r->n_slots = n;
    for (size_t i = 0; i < r->n; i++)
        slots[find_slot(r, r->nodes[i])] = (uint32_t)i + 1;
    return true;
}

static bool reach(void *context, uint32_t node)
{
    reached *r = context;
    acq_machine *m = r->m;
    bool is_good = tick(m);
    if (is_good && r->n * 2 >= r->n_slots && !grow_slots(r))
        return acq_machine_fail(m, acq_fail_memory(m->error));
    if (!is_good || r->slots[find_slot(r, node)] != 0)
        return is_good;
    if (ACQ_RESERVE(r->nodes, r->capacity, r->n + 1) != ACQ_OK)
        return acq_machine_fail(m, acq_fail_memory(m->error));
    size_t slot = find_slot(r, node);
    r->nodes[r->n++] = node;
    r->slots[slot] = (uint32_t)r->n;
    return acq_budget_check_memory(&m->budget, m->kept_bytes + r->capacity * 12);
}

static bool walk_closure(const walk *w, const acq_plan_path *path, ends of, uint32_t node)
{
    acq_machine *m = w->m;
    reached r = {.m = m};
    walk inner = {.m = m, .arrive = reach, .context = &r};
    ends step = {.is_forward = of.is_forward, .from_term = true};
    bool is_there = of.from_term || of.to_term || is_node(m, node);
    bool goes_on = m->status == ACQ_OK;
    if (!goes_on || !is_there)
        return goes_on;
    if (path->kind != ACQ_PATH_SOME)
        goes_on = reach(&r, node);
    size_t from = r.n;
    if (goes_on)
        goes_on = walk_path(&inner, path->children, step, node);
    bool repeats = path->kind != ACQ_PATH_OPTIONAL;
    for (size_t i = from; goes_on && repeats && i < r.n; i++)
        goes_on = walk_path(&inner, path->children, step, r.nodes[i]);
    for (size_t i = 0; goes_on && i < r.n; i++)
        goes_on = w->arrive(w->context, r.nodes[i]);
    acq_free(r.nodes);
    acq_free(r.slots);
    return goes_on;
}

static bool walk_path(const walk *w, const acq_plan_path *path, ends of, uint32_t node)
{
    switch (path->kind) {
    case ACQ_PATH_LINK:
        return walk_link(w, path->relation, of.is_forward, node);
    case ACQ_PATH_INVERSE:
        of.is_forward = !of.is_forward;
        return walk_path(w, path->children, of, node);
    case ACQ_PATH_SEQUENCE: {
        rest all = {.outer = w, .step = of.is_forward ? path->children : path->last, .of = of};
        return walk_rest(&all, node);
    }
    case ACQ_PATH_ALTERNATIVE:
        return walk_alternatives(w, path, of, node);
    case ACQ_PATH_NEGATED:
        return walk_negated(w, path, of.is_forward, node);
    case ACQ_PATH_OPTIONAL:
    case ACQ_PATH_ANY:
    case ACQ_PATH_SOME:
        return walk_closure(w, path, of, node);
    case ACQ_PATH_VARIABLE:
        break;
    }
    return true;
}

/* ---- a path between two ends ---- */

typedef struct path_match {
    match at;
    uint32_t from; /* the end that the walk began at */
    bool is_forward;
} path_match;

static bool arrive(void *context, uint32_t node)
{
    const path_match *p = context;
    return p->is_forward ? go_on(&p->at, p->from, node) : go_on(&p->at, node, p->from);
}

/* Does the query name the term there, or the solution around an EXISTS? */
static bool is_term(const acq_machine *m, acq_plan_end end)
{
    return !end.is_variable || m->base[end.id] != ACQ_NO_ID;
}

static bool match_from(const match *at, uint32_t from, bool is_forward)
{
    acq_machine *m = at->m;
    const acq_plan_step *step = at->step;
    path_match p = {.at = *at, .from = from, .is_forward = is_forward};
    walk w = {.m = m, .arrive = arrive, .context = &p};
    bool subject = is_term(m, step->subject), object = is_term(m, step->object);
    ends of = {.is_forward = is_forward,
               .from_term = is_forward ? subject : object,
               .to_term = is_forward ? object : subject};
    return walk_path(&w, step->path, of, from);
}

static bool match_path(const match *at)
{
    acq_machine *m = at->m;
    uint32_t head = get_end(m, at->step->subject), tail = get_end(m, at->step->object);
    bool goes_on = true;
    if (head != ACQ_NO_ID || tail != ACQ_NO_ID)
        return match_from(at, head != ACQ_NO_ID ? head : tail, head != ACQ_NO_ID);
    for (uint32_t e = 0; goes_on && e < m->terms->n_entities; e++) {
        if (!find_nodes(m)) /* a step behind may have asked for those of another graph */
            return false;
        if (acq_bits_has(m->nodes, e))
            goes_on = match_from(at, e, true);
    }
    return goes_on;
}

bool acq_machine_match(acq_machine *m, const acq_plan_step *step, const acq_plan_after *after)
{
    match at = {.m = m, .step = step, .after = after};
    const acq_plan_path *path = step->path;
    if (path->kind == ACQ_PATH_LINK)
        return match_links(&at, path->relation);
    if (path->kind == ACQ_PATH_VARIABLE)
        return match_variable(&at);
    return match_path(&at);
}
