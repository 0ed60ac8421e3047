/* base.c - see parts.h. Sets of entities are lists with a stamp for each entity: an entity is in
 * the set when its stamp is the present one, so that no set is ever cleared. */
#include "generate/parts.h"

#include <string.h>

#include "base/memory.h"
#include "query/sample/parts.h"

enum {
    CHOICES = 64,      /* sets that step 5 draws before it gives up */
    SEED_TRIES = 256,  /* facts that are looked at for an unobserved one */
    MOST_MEMBERS = 512 /* terms of a query */
};

typedef struct entity_set {
    acq_ent *items;
    uint32_t *stamps;
    uint32_t n, stamp;
} entity_set;

typedef struct base_fact {
    acq_rel relation;
    uint32_t head, tail; /* members */
} base_fact;

struct acq_base_room {
    const acq_sampler *complete;
    const acq_graph *observed;
    entity_set near;   /* at most two steps from v */
    entity_set around; /* D */
    entity_set chosen; /* hubs, v and D': the members */
    uint32_t *member;  /* of an entity that is chosen: its number */
    uint32_t n_core;   /* v and the hubs are the first members */
    base_fact *facts;
    size_t n_facts, facts_capacity;
    uint32_t tree[MOST_MEMBERS], degree[MOST_MEMBERS];
};

static void deinit_set(entity_set *set)
{
    acq_free(set->items);
    acq_free(set->stamps);
}

static acq_status init_set(entity_set *set, uint32_t n_entities)
{
    set->items = acq_alloc(n_entities, sizeof *set->items);
    set->stamps = acq_zalloc(n_entities, sizeof *set->stamps);
    return set->items == NULL || set->stamps == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

static void clear_set(entity_set *set, uint32_t n_entities)
{
    set->n = 0;
    if (++set->stamp == 0) {
        memset(set->stamps, 0, n_entities * sizeof *set->stamps);
        set->stamp = 1;
    }
}

static bool has(const entity_set *set, acq_ent entity)
{
    return set->stamps[entity] == set->stamp;
}

static void put(entity_set *set, acq_ent entity)
{
    if (has(set, entity))
        return;
    set->stamps[entity] = set->stamp;
    set->items[set->n++] = entity;
}

void acq_base_room_free(acq_base_room *room)
{
    if (room == NULL)
        return;
    deinit_set(&room->near);
    deinit_set(&room->around);
    deinit_set(&room->chosen);
    acq_free(room->member);
    acq_free(room->facts);
    acq_free(room);
}

acq_status acq_base_room_new(const acq_sampler *complete, const acq_graph *observed,
                             acq_base_room **out, acq_error *error)
{
    acq_base_room *room = acq_zalloc(1, sizeof *room);
    uint32_t n = complete->n_entities;
    if (room == NULL)
        return acq_fail_memory(error);
    room->complete = complete;
    room->observed = observed;
    room->member = acq_alloc(n, sizeof *room->member);
    if (room->member == NULL || init_set(&room->near, n) != ACQ_OK ||
        init_set(&room->around, n) != ACQ_OK || init_set(&room->chosen, n) != ACQ_OK) {
        acq_base_room_free(room);
        return acq_fail_memory(error);
    }
    *out = room;
    return ACQ_OK;
}

/* Every neighbour of an entity joins the set. */
static void put_neighbours(const acq_sampler *s, acq_ent entity, entity_set *set)
{
    for (uint32_t i = s->first_run[entity]; i < s->first_run[entity + 1]; i++) {
        acq_row row = acq_sampler_get_row(s, &s->runs[i]);
        for (size_t j = 0; j < row.n; j++)
            put(set, row.tails[j]);
    }
}

/* ---- steps 1 to 4 ---- */

static acq_ent draw_unobserved(const acq_base_room *room, acq_random *random)
{
    for (uint32_t i = 0; i < SEED_TRIES; i++) {
        acq_ent from = acq_sampler_draw_entity(room->complete, random);
        uint64_t n = acq_sampler_count_facts(room->complete, from);
        acq_sampler_step fact =
            acq_sampler_get_fact(room->complete, from, (uint32_t)acq_random_below(random, n));
        if (!acq_graph_has_fact(room->observed, fact.from, fact.relation, fact.to))
            return from;
    }
    return ACQ_NO_ID;
}

/* v and the hubs. False: there are not enough near v. */
static bool draw_core(acq_base_room *room, const acq_base_params *params, acq_random *random)
{
    const acq_sampler *s = room->complete;
    acq_ent v = params->from_unobserved ? draw_unobserved(room, random)
                                        : acq_sampler_draw_entity(s, random);
    if (v == ACQ_NO_ID)
        return false;
    clear_set(&room->near, s->n_entities);
    clear_set(&room->chosen, s->n_entities);
    put(&room->near, v);
    put_neighbours(s, v, &room->near);
    for (uint32_t i = 1, n = room->near.n; i < n; i++)
        put_neighbours(s, room->near.items[i], &room->near);
    if (room->near.n - 1 < params->n_hubs)
        return false;
    put(&room->chosen, v);
    while (room->chosen.n < params->n_hubs + 1)
        put(&room->chosen, room->near.items[1 + acq_random_below(random, room->near.n - 1)]);
    room->n_core = room->chosen.n;
    return true;
}

/* Has the entity at most one neighbour within D? */
static bool is_leaf(const acq_base_room *room, acq_ent entity)
{
    const acq_sampler *s = room->complete;
    acq_ent seen = ACQ_NO_ID;
    for (uint32_t i = s->first_run[entity]; i < s->first_run[entity + 1]; i++) {
        acq_row row = acq_sampler_get_row(s, &s->runs[i]);
        for (size_t j = 0; j < row.n; j++) {
            if (row.tails[j] == entity || row.tails[j] == seen || !has(&room->around, row.tails[j]))
                continue;
            if (seen != ACQ_NO_ID)
                return false;
            seen = row.tails[j];
        }
    }
    return true;
}

static void list_around(acq_base_room *room, const acq_base_params *params, acq_random *random)
{
    entity_set *around = &room->around;
    uint32_t kept = 0;
    clear_set(around, room->complete->n_entities);
    for (uint32_t i = 0; i < room->n_core; i++) {
        put(around, room->chosen.items[i]);
        put_neighbours(room->complete, room->chosen.items[i], around);
    }
    for (uint32_t i = 0; i < around->n; i++) {
        acq_ent entity = around->items[i];
        if (!is_leaf(room, entity) || acq_random_unit(random) >= params->p_out)
            around->items[kept++] = entity; /* stamps stay: leaves are those of the whole of D */
    }
    around->n = kept;
}

/* ---- step 5 ---- */

static uint32_t find_root(acq_base_room *room, uint32_t i)
{
    while (room->tree[i] != i)
        i = room->tree[i] = room->tree[room->tree[i]];
    return i;
}

static acq_status add_fact(acq_base_room *room, acq_rel relation, uint32_t head, uint32_t tail)
{
    if (head == tail)
        return ACQ_OK; /* as in the published queries */
    if (ACQ_RESERVE(room->facts, room->facts_capacity, room->n_facts + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    room->facts[room->n_facts++] = (base_fact){relation, head, tail};
    room->tree[find_root(room, head)] = find_root(room, tail);
    return ACQ_OK;
}

/* Facts of a row that lead to members: by its tails, or by the members in a long row. */
static acq_status add_row(acq_base_room *room, acq_rel relation, uint32_t head, acq_row row)
{
    acq_status status = ACQ_OK;
    bool is_long = row.n > 8 * (size_t)room->chosen.n;
    size_t n = is_long ? room->chosen.n : row.n;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        acq_ent tail = is_long ? room->chosen.items[i] : row.tails[i];
        bool is_in = is_long ? acq_row_find(row, tail) < row.n : has(&room->chosen, tail);
        if (is_in)
            status = add_fact(room, relation, head, room->member[tail]);
    }
    return status;
}

/* All facts among the members, each once, at the head of its even relation. */
static acq_status list_facts(acq_base_room *room)
{
    const acq_sampler *s = room->complete;
    acq_status status = ACQ_OK;
    room->n_facts = 0;
    for (uint32_t i = 0; i < room->chosen.n; i++) {
        room->member[room->chosen.items[i]] = i;
        room->tree[i] = i;
    }
    for (uint32_t head = 0; head < room->chosen.n; head++) {
        acq_ent entity = room->chosen.items[head];
        for (uint32_t i = s->first_run[entity]; i < s->first_run[entity + 1]; i++)
            if (s->runs[i].relation % 2 == 0 && status == ACQ_OK)
                status =
                    add_row(room, s->runs[i].relation, head, acq_sampler_get_row(s, &s->runs[i]));
    }
    return status;
}

static bool is_connected(acq_base_room *room)
{
    uint32_t root = find_root(room, 0);
    for (uint32_t i = 1; i < room->chosen.n; i++)
        if (find_root(room, i) != root)
            return false;
    return true;
}

/* n_min entities of D, by the first steps of a shuffle. */
static void draw_members(acq_base_room *room, uint32_t n_min, acq_random *random)
{
    acq_ent *items = room->around.items;
    while (room->chosen.n > room->n_core)
        room->chosen.stamps[room->chosen.items[--room->chosen.n]] = 0;
    for (uint32_t i = 0; i < n_min; i++) {
        uint32_t j = i + (uint32_t)acq_random_below(random, room->around.n - i);
        acq_ent entity = items[j];
        items[j] = items[i];
        items[i] = entity;
        put(&room->chosen, entity);
    }
}

static bool is_observed(const acq_base_room *room)
{
    const acq_ent *entities = room->chosen.items;
    for (size_t i = 0; i < room->n_facts; i++) {
        const base_fact *fact = &room->facts[i];
        if (!acq_graph_has_fact(room->observed, entities[fact->head], fact->relation,
                                entities[fact->tail]))
            return false;
    }
    return true;
}

static acq_status choose_members(acq_base_room *room, uint32_t n_min, acq_random *random,
                                 bool *is_chosen)
{
    *is_chosen = false;
    if (room->around.n < n_min)
        return ACQ_OK;
    for (uint32_t i = 0; i < CHOICES; i++) {
        draw_members(room, n_min, random);
        if (list_facts(room) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        if (!is_connected(room))
            continue;
        *is_chosen = !is_observed(room);
        return ACQ_OK;
    }
    return ACQ_OK;
}

/* ---- steps 6 and 7 ---- */

/* places: of the members. Returns the number of variables; v is variable 0. */
static uint32_t choose_places(acq_base_room *room, double p_const, acq_random *random,
                              acq_place *places)
{
    uint32_t n_variables = 0;
    memset(room->degree, 0, sizeof room->degree);
    for (size_t i = 0; i < room->n_facts; i++) {
        room->degree[room->facts[i].head]++;
        room->degree[room->facts[i].tail]++;
    }
    for (uint32_t i = 0; i < room->chosen.n; i++) {
        double degree = room->degree[i];
        bool is_constant = i >= room->n_core && acq_random_unit(random) * degree * degree < p_const;
        places[i] = (acq_place){.is_variable = !is_constant,
                                .id = is_constant ? room->chosen.items[i] : n_variables++};
    }
    return n_variables;
}

/* Facts in random order and either direction; those between two constants say nothing. */
static uint32_t write_literals(acq_base_room *room, const acq_place *places, acq_random *random,
                               acq_literal *literals)
{
    uint32_t n = 0;
    for (size_t i = 0; i < room->n_facts; i++) {
        size_t j = i + acq_random_below(random, room->n_facts - i);
        base_fact fact = room->facts[j];
        room->facts[j] = room->facts[i];
        acq_place head = places[fact.head], tail = places[fact.tail];
        bool turn = acq_random_below(random, 2) == 1;
        if (head.is_variable || tail.is_variable)
            literals[n++] =
                (acq_literal){.relation = turn ? acq_inverse(fact.relation) : fact.relation,
                              .left = turn ? tail : head,
                              .right = turn ? head : tail};
    }
    return n;
}

static acq_status write_draft(acq_base_room *room, const acq_base_params *params,
                              acq_random *random, acq_draft *out, acq_error *error)
{
    acq_place places[MOST_MEMBERS];
    uint32_t n_variables = choose_places(room, params->p_const, random, places);
    acq_literal *literals = acq_alloc(room->n_facts, sizeof *literals);
    if (literals == NULL)
        return acq_fail_memory(error);
    uint32_t n_literals = write_literals(room, places, random, literals);
    acq_status status = acq_draft_init(out, literals, n_literals, n_variables, error);
    acq_free(literals);
    if (status != ACQ_OK)
        return status;
    for (uint32_t i = 0; i < room->chosen.n; i++)
        if (places[i].is_variable)
            out->answer[places[i].id] = room->chosen.items[i];
    if (params->one_per_pair)
        status = acq_draft_thin(out, random, error);
    if (status != ACQ_OK)
        acq_draft_deinit(out);
    return status;
}

acq_status acq_base_draw(acq_base_room *room, const acq_base_params *params, acq_random *random,
                         bool *is_drawn, acq_draft *out, acq_error *error)
{
    *is_drawn = false;
    if ((uint64_t)params->n_hubs + params->n_min + 1 > MOST_MEMBERS)
        return acq_fail(error, ACQ_ERR_USAGE, "a query may have %d terms at most", MOST_MEMBERS);
    if (!draw_core(room, params, random))
        return ACQ_OK;
    list_around(room, params, random);
    bool is_chosen;
    if (choose_members(room, params->n_min, random, &is_chosen) != ACQ_OK)
        return acq_fail_memory(error);
    if (!is_chosen)
        return ACQ_OK;
    acq_status status = write_draft(room, params, random, out, error);
    *is_drawn = status == ACQ_OK;
    return status;
}
