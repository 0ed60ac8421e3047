/* hub.c - hub-like queries: the paper's "Base large query generation" at any size.
 *
 *   1. an entity v, and hubs at most two steps from it; the entities between them come along, so
 *      that the pattern is connected from the start
 *   2. around: the neighbours of v and of the hubs, a sample of them where there are many
 *   3. entities from around, in random order, join the pattern until it has its size; a leaf (an
 *      entity with one neighbour around) is left out with probability leaves_out, at sight
 *   4. all facts among the pattern's entities, each once, in either direction
 *   5. an entity that is neither v nor a hub becomes a constant with constants / degree^2
 *
 *            a ── b            v, h: centres. a, b are around, not leaves, and likely taken;
 *           /  \ /             l is a leaf: likely left out, likely a constant when taken
 *      l── v ── h
 *
 * As in the published queries, facts from an entity to itself are left out; only an entity that has
 * no other fact makes a pattern of one. All lists are bounded: O(centres * LISTED + terms *
 * relations at a term * log) at any degree. */
#include "query/sample/sampler.h"

#include <string.h>

#include "base/memory.h"
#include "query/sample/parts.h"

enum {
    PLACES = 64,  /* to try before a pattern below the least size is taken */
    LISTED = 512, /* neighbours of a centre */
    LOOKS = 128,  /* facts of an entity to tell whether it is a leaf */
    WALKS = 8,    /* to find a new hub */
};

/* An entity around, or a member of the pattern. */
typedef struct slot {
    acq_ent entity; /* ACQ_NO_ID: empty */
    uint32_t member;
} slot;

typedef struct hub_fact {
    acq_rel relation;
    uint32_t head, tail; /* members */
} hub_fact;

typedef struct member {
    acq_ent entity;
    uint32_t degree; /* facts of the pattern */
    uint32_t tree;   /* for most_atoms: members of one tree lead to one root */
    acq_place place; /* in the query */
} member;

typedef struct pattern {
    const acq_sampler *sampler;
    const acq_hub_params *params;
    acq_random *random;
    slot *table; /* open addressing, never more than half full */
    uint32_t n_slots;
    acq_ent *around;
    uint32_t n_around;
    member *members; /* v first; the centres are not in order */
    uint32_t n_members, n_terms, least_terms;
    acq_ent *centres;
    uint32_t n_centres;
    hub_fact *facts;
    size_t n_facts, facts_capacity;
    acq_literal *literals;
} pattern;

static void deinit(pattern *p)
{
    acq_free(p->table);
    acq_free(p->around);
    acq_free(p->members);
    acq_free(p->centres);
    acq_free(p->facts);
    acq_free(p->literals);
}

/* A power of two that leaves half of the slots empty. */
static size_t count_slots(size_t n_entries)
{
    size_t n = 1;
    while (n < 2 * n_entries)
        n *= 2;
    return n;
}

static acq_status init(pattern *p)
{
    uint32_t most_terms = p->params->most_terms;
    uint32_t most_hubs = p->params->most_hubs;
    uint32_t most_centres = most_hubs < most_terms ? most_hubs + 1 : most_terms;
    size_t most_entries = (size_t)most_centres * LISTED + most_terms;
    p->table = acq_alloc(count_slots(most_entries), sizeof *p->table);
    p->around = acq_alloc(most_entries, sizeof *p->around);
    p->members = acq_alloc(most_terms, sizeof *p->members);
    p->centres = acq_alloc(most_centres, sizeof *p->centres);
    bool ok = p->table != NULL && p->around != NULL && p->members != NULL && p->centres != NULL;
    return ok ? ACQ_OK : ACQ_ERR_MEMORY;
}

/* Makes the table empty, with room for that many entities. */
static void clear_table(pattern *p, size_t n_entries)
{
    p->n_slots = (uint32_t)count_slots(n_entries);
    memset(p->table, 0xff, p->n_slots * sizeof *p->table);
}

/* Where the entity is, or would be. */
static slot *find(const pattern *p, acq_ent entity)
{
    uint32_t mask = p->n_slots - 1;
    uint32_t i = (entity * 0x9e3779b1U) >> 7 & mask;
    while (p->table[i].entity != entity && p->table[i].entity != ACQ_NO_ID)
        i = (i + 1) & mask;
    return &p->table[i];
}

static void put_members(pattern *p)
{
    for (uint32_t i = 0; i < p->n_members; i++)
        *find(p, p->members[i].entity) = (slot){.entity = p->members[i].entity, .member = i};
}

static bool is_member(const pattern *p, acq_ent entity)
{
    for (uint32_t i = 0; i < p->n_members; i++) {
        if (p->members[i].entity == entity)
            return true;
    }
    return false;
}

static void add_member(pattern *p, acq_ent entity)
{
    p->members[p->n_members++] = (member){.entity = entity};
}

static acq_ent draw_neighbour(const pattern *p, acq_ent entity)
{
    uint32_t n_facts = acq_sampler_count_facts(p->sampler, entity);
    uint32_t i = (uint32_t)acq_random_below(p->random, n_facts);
    return acq_sampler_get_fact(p->sampler, entity, i).to;
}

/* A new hub two steps from v, and the entity between. Of several walks, which prefer entities of
 * high degree, one is taken with weight 1 / degree. False: every walk ended in the pattern. */
static bool add_hub(pattern *p)
{
    acq_ent middle = ACQ_NO_ID, hub = ACQ_NO_ID;
    double total = 0;
    for (uint32_t i = 0; i < WALKS; i++) {
        acq_ent near = draw_neighbour(p, p->members[0].entity);
        acq_ent far = draw_neighbour(p, near);
        double weight = 1.0 / acq_sampler_count_facts(p->sampler, far);
        if (is_member(p, far))
            continue;
        total += weight;
        if (acq_random_unit(p->random) * total < weight)
            middle = near, hub = far;
    }
    if (hub == ACQ_NO_ID)
        return false;
    if (!is_member(p, middle))
        add_member(p, middle);
    if (hub != middle)
        add_member(p, hub);
    p->centres[p->n_centres++] = hub;
    return true;
}

static void add_centres(pattern *p)
{
    acq_ent first = acq_sampler_draw_entity(p->sampler, p->random);
    p->n_members = p->n_centres = 0;
    add_member(p, first);
    p->centres[p->n_centres++] = first;
    uint64_t n_hubs = 1 + acq_random_below(p->random, p->params->most_hubs);
    while (p->n_centres <= n_hubs && p->n_members + 2 <= p->n_terms && add_hub(p))
        continue;
}

static void add_around(pattern *p, acq_ent entity)
{
    slot *s = find(p, entity);
    if (s->entity != ACQ_NO_ID)
        return;
    s->entity = entity;
    p->around[p->n_around++] = entity;
}

static void list_all(pattern *p, acq_ent centre)
{
    const acq_sampler *s = p->sampler;
    for (uint32_t i = s->first_run[centre]; i < s->first_run[centre + 1]; i++) {
        acq_row row = acq_sampler_get_row(s, &s->runs[i]);
        for (size_t j = 0; j < row.n; j++)
            add_around(p, row.tails[j]);
    }
}

static void list_some(pattern *p, acq_ent centre)
{
    for (uint32_t i = 0; i < LISTED; i++)
        add_around(p, draw_neighbour(p, centre));
}

/* False when there cannot be enough for the least size. */
static bool list_around(pattern *p)
{
    size_t n_listed = p->n_members;
    for (uint32_t i = 0; i < p->n_centres; i++) {
        uint32_t n_facts = acq_sampler_count_facts(p->sampler, p->centres[i]);
        n_listed += n_facts < LISTED ? n_facts : LISTED;
    }
    if (n_listed < p->least_terms)
        return false;
    clear_table(p, n_listed);
    put_members(p);
    p->n_around = 0;
    for (uint32_t i = 0; i < p->n_centres; i++) {
        bool is_small = acq_sampler_count_facts(p->sampler, p->centres[i]) <= LISTED;
        (is_small ? list_all : list_some)(p, p->centres[i]);
    }
    return true;
}

/* Has the entity one neighbour around, or none? */
static bool is_leaf(const pattern *p, acq_ent entity)
{
    uint32_t n_facts = acq_sampler_count_facts(p->sampler, entity);
    uint32_t n_looks = n_facts < LOOKS ? n_facts : LOOKS;
    acq_ent seen = ACQ_NO_ID;
    for (uint32_t i = 0; i < n_looks; i++) {
        uint32_t i_fact = n_facts <= LOOKS ? i : (uint32_t)acq_random_below(p->random, n_facts);
        acq_ent neighbour = acq_sampler_get_fact(p->sampler, entity, i_fact).to;
        if (neighbour == entity || neighbour == seen || find(p, neighbour)->entity == ACQ_NO_ID)
            continue;
        if (seen != ACQ_NO_ID)
            return false;
        seen = neighbour;
    }
    return true;
}

static void add_terms(pattern *p)
{
    while (p->n_members < p->n_terms && p->n_around > 0) {
        uint64_t i = acq_random_below(p->random, p->n_around);
        acq_ent entity = p->around[i];
        p->around[i] = p->around[--p->n_around];
        if (!is_leaf(p, entity) || acq_random_unit(p->random) >= p->params->leaves_out)
            add_member(p, entity);
    }
}

/* When all neighbours of v were left out, one comes in after all. */
static void add_neighbour(pattern *p)
{
    acq_ent first = p->members[0].entity;
    uint32_t n_facts = acq_sampler_count_facts(p->sampler, first);
    for (uint32_t i = 0; i < n_facts && p->n_members == 1; i++) {
        acq_ent neighbour = acq_sampler_get_fact(p->sampler, first, i).to;
        if (neighbour != first)
            add_member(p, neighbour);
    }
}

static void draw_entities(pattern *p)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        add_centres(p);
        if (list_around(p))
            add_terms(p);
        if (p->n_members >= p->least_terms)
            return;
    }
    if (p->n_members == 1)
        add_neighbour(p);
}

static acq_status add_fact(pattern *p, acq_rel relation, uint32_t head, uint32_t tail)
{
    if (tail == ACQ_NO_ID || (head == tail && p->n_members > 1))
        return ACQ_OK;
    if (ACQ_RESERVE(p->facts, p->facts_capacity, p->n_facts + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    p->facts[p->n_facts++] = (hub_fact){.relation = relation, .head = head, .tail = tail};
    return ACQ_OK;
}

/* The facts of a row that lead to members: looks each tail up, or each member in a long row. */
static acq_status add_row(pattern *p, acq_rel relation, uint32_t head, acq_row row)
{
    acq_status status = ACQ_OK;
    bool is_long = row.n > 4 * (size_t)p->n_members;
    size_t n = is_long ? p->n_members : row.n;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        if (!is_long)
            status = add_fact(p, relation, head, find(p, row.tails[i])->member);
        else if (acq_row_find(row, p->members[i].entity) < row.n)
            status = add_fact(p, relation, head, (uint32_t)i);
    }
    return status;
}

/* Every fact is met once, at the head of its even relation. */
static acq_status add_facts(pattern *p)
{
    const acq_sampler *s = p->sampler;
    clear_table(p, p->n_members);
    put_members(p);
    for (uint32_t head = 0; head < p->n_members; head++) {
        acq_ent entity = p->members[head].entity;
        for (uint32_t i = s->first_run[entity]; i < s->first_run[entity + 1]; i++) {
            acq_rel relation = s->runs[i].relation;
            if ((relation & 1) == 0 &&
                add_row(p, relation, head, acq_sampler_get_row(s, &s->runs[i])) != ACQ_OK)
                return ACQ_ERR_MEMORY;
        }
    }
    return ACQ_OK;
}

static void shuffle_facts(pattern *p)
{
    for (size_t i = p->n_facts; i > 1; i--) {
        size_t j = acq_random_below(p->random, i);
        hub_fact fact = p->facts[j];
        p->facts[j] = p->facts[i - 1];
        p->facts[i - 1] = fact;
    }
}

static uint32_t find_root(const pattern *p, uint32_t i)
{
    while (p->members[i].tree != i)
        i = p->members[i].tree;
    return i;
}

/* Keeps most_atoms random facts, first those of a tree that connects the members. */
static void drop_facts(pattern *p)
{
    size_t n_tree = 0;
    if (p->n_facts <= p->params->most_atoms)
        return;
    for (uint32_t i = 0; i < p->n_members; i++)
        p->members[i].tree = i;
    for (size_t i = 0; i < p->n_facts; i++) {
        hub_fact fact = p->facts[i];
        uint32_t head = find_root(p, fact.head), tail = find_root(p, fact.tail);
        if (head == tail)
            continue;
        p->members[head].tree = tail;
        p->facts[i] = p->facts[n_tree];
        p->facts[n_tree++] = fact;
    }
    p->n_facts = p->params->most_atoms;
}

static bool is_centre(const pattern *p, acq_ent entity)
{
    for (uint32_t i = 0; i < p->n_centres; i++) {
        if (p->centres[i] == entity)
            return true;
    }
    return false;
}

/* Returns the number of variables; v is variable 0. */
static uint32_t choose_places(pattern *p)
{
    uint32_t n_variables = 0;
    for (size_t i = 0; i < p->n_facts; i++) {
        p->members[p->facts[i].head].degree++;
        p->members[p->facts[i].tail].degree++;
    }
    for (uint32_t i = 0; i < p->n_members; i++) {
        member *m = &p->members[i];
        double degree = m->degree;
        bool is_constant = !is_centre(p, m->entity) &&
                           acq_random_unit(p->random) * degree * degree < p->params->constants;
        m->place =
            (acq_place){.is_variable = !is_constant, .id = is_constant ? m->entity : n_variables++};
    }
    return n_variables;
}

/* Facts between two constants say nothing and are left out. */
static acq_status write_literals(pattern *p, uint32_t *n_literals)
{
    p->literals = acq_alloc(p->n_facts, sizeof *p->literals);
    if (p->literals == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < p->n_facts; i++) {
        acq_place head = p->members[p->facts[i].head].place;
        acq_place tail = p->members[p->facts[i].tail].place;
        acq_rel relation = p->facts[i].relation;
        bool turn = acq_random_below(p->random, 2) == 1;
        if (head.is_variable || tail.is_variable)
            p->literals[(*n_literals)++] =
                (acq_literal){.relation = turn ? acq_inverse(relation) : relation,
                              .left = turn ? tail : head,
                              .right = turn ? head : tail};
    }
    return ACQ_OK;
}

static void write_answer(const pattern *p, acq_ent *answer)
{
    for (uint32_t i = 0; i < p->n_members; i++) {
        if (p->members[i].place.is_variable)
            answer[p->members[i].place.id] = p->members[i].entity;
    }
}

/* More than most_atoms + 1 terms cannot be connected. */
static void draw_size(pattern *p)
{
    const acq_hub_params *params = p->params;
    uint64_t most = (uint64_t)params->most_atoms + 1;
    if (most > params->most_terms)
        most = params->most_terms;
    uint64_t least = params->least_terms < 2 ? 2 : params->least_terms;
    if (least > most)
        least = most;
    p->least_terms = (uint32_t)least;
    p->n_terms = (uint32_t)(least + acq_random_below(p->random, most - least + 1));
}

static acq_status draw(pattern *p, acq_problem **out, acq_ent *answer, acq_error *error)
{
    uint32_t n_literals = 0;
    if (init(p) != ACQ_OK)
        return acq_fail_memory(error);
    draw_size(p);
    draw_entities(p);
    if (add_facts(p) != ACQ_OK)
        return acq_fail_memory(error);
    shuffle_facts(p);
    drop_facts(p);
    uint32_t n_variables = choose_places(p);
    if (write_literals(p, &n_literals) != ACQ_OK)
        return acq_fail_memory(error);
    acq_status status = acq_problem_new_literals(n_variables, p->sampler->n_entities, p->literals,
                                                 n_literals, out, error);
    if (status == ACQ_OK && answer != NULL)
        write_answer(p, answer);
    return status;
}

acq_status acq_sampler_draw_hub(const acq_sampler *sampler, const acq_hub_params *params,
                                acq_random *random, acq_problem **out, acq_ent *answer,
                                acq_error *error)
{
    if (params->most_terms < 2 || params->most_terms > ACQ_HUB_MOST_TERMS ||
        params->least_terms > params->most_terms || params->most_hubs < 1 || params->most_atoms < 1)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "hub-like queries need 2 to %d terms, a hub and an atom, and the least "
                        "number of terms must not exceed the most",
                        ACQ_HUB_MOST_TERMS);
    pattern p = {.sampler = sampler, .params = params, .random = random};
    acq_status status = draw(&p, out, answer, error);
    deinit(&p);
    return status;
}
