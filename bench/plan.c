/* plan.c - the walk, the atoms, and who is a constant; see planted.h for the rules. */
#include "plan.h"

enum {
    N_HUBS = 3,
    N_CANDIDATES = 6,
    MOST_PARALLEL = 3,
    MOST_STEPS = 200,
    LEAST_CONSTANTS = 2,
    MOST_CONSTANTS = 4
};

static bool has_entity(const plan *p, uint32_t entity)
{
    for (uint32_t i = 0; i < p->n_terms; i++)
        if (p->entities[i] == entity)
            return true;
    return false;
}

/* Number of collected entities that `entity` is linked to. */
static uint32_t count_linked(const plan *p, const incidence *index, uint32_t entity)
{
    synthetic_triple unused;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_terms; i++)
        n += incidence_between(index, entity, p->entities[i], &unused, 1);
    return n;
}

/* The best of a few neighbours of one collected entity. */
static void step(plan *p, const incidence *index, acq_random *random)
{
    uint32_t from_hubs = (uint32_t)acq_random_below(random, 2);
    uint32_t n = from_hubs != 0 && p->n_terms > N_HUBS ? N_HUBS : p->n_terms;
    uint32_t from = p->entities[acq_random_below(random, n)], best = from, most = 0;
    for (uint32_t i = 0; i < N_CANDIDATES; i++) {
        uint32_t at = (uint32_t)acq_random_below(random, incidence_degree(index, from));
        synthetic_triple t = incidence_get(index, from, at);
        uint32_t other = t.head == from ? t.tail : t.head;
        uint32_t linked = has_entity(p, other) ? 0 : count_linked(p, index, other);
        if (linked > most) {
            most = linked;
            best = other;
        }
    }
    if (most > 0)
        p->entities[p->n_terms++] = best;
}

static bool walk(plan *p, const incidence *index, acq_random *random)
{
    uint32_t i = (uint32_t)acq_random_below(random, index->graph->n_triples);
    uint32_t range = PLAN_MOST_TERMS - PLAN_LEAST_TERMS + 1;
    uint32_t n = PLAN_LEAST_TERMS + (uint32_t)acq_random_below(random, range);
    p->n_terms = 1;
    p->entities[0] = synthetic_get(index->graph, i).head;
    for (uint32_t steps = 0; p->n_terms < n && steps < MOST_STEPS; steps++)
        step(p, index, random);
    return p->n_terms == n;
}

static void link_terms(plan *p, const incidence *index, uint32_t a, uint32_t b)
{
    synthetic_triple found[MOST_PARALLEL];
    uint32_t n = incidence_between(index, p->entities[a], p->entities[b], found, MOST_PARALLEL);
    for (uint32_t i = 0; i < n && p->n_atoms < PLAN_MOST_ATOMS; i++) {
        bool forward = found[i].head == p->entities[a];
        p->atoms[p->n_atoms++] = (plan_atom){
            .head = forward ? a : b, .relation = found[i].relation, .tail = forward ? b : a};
    }
}

static void link_all(plan *p, const incidence *index)
{
    p->n_atoms = 0;
    for (uint32_t a = 0; a < p->n_terms; a++)
        for (uint32_t b = a + 1; b < p->n_terms; b++)
            link_terms(p, index, a, b);
}

/* neighbours[i]: bit j set when an atom joins terms i and j. */
static void join_terms(const plan *p, uint32_t neighbours[PLAN_MOST_TERMS])
{
    for (uint32_t i = 0; i < p->n_terms; i++)
        neighbours[i] = 0;
    for (uint32_t i = 0; i < p->n_atoms; i++) {
        neighbours[p->atoms[i].head] |= 1U << p->atoms[i].tail;
        neighbours[p->atoms[i].tail] |= 1U << p->atoms[i].head;
    }
}

static uint32_t most_linked_variable(const plan *p, const incidence *index)
{
    uint32_t best = 0, most = 0;
    for (uint32_t i = 0; i < p->n_terms; i++) {
        uint32_t degree = incidence_degree(index, p->entities[i]);
        if (!p->is_constant[i] && degree > most) {
            most = degree;
            best = i;
        }
    }
    return best;
}

/* What has most links says least about its neighbours; every fourth constant is any term. */
static void choose_constants(plan *p, const incidence *index, acq_random *random)
{
    uint32_t range = MOST_CONSTANTS - LEAST_CONSTANTS + 1;
    uint32_t n = LEAST_CONSTANTS + (uint32_t)acq_random_below(random, range);
    for (uint32_t i = 0; i < p->n_terms; i++)
        p->is_constant[i] = p->is_free[i] = false;
    for (; n > 0; n--) {
        uint32_t any = (uint32_t)acq_random_below(random, p->n_terms);
        bool is_any = acq_random_below(random, 4) == 0;
        p->is_constant[is_any ? any : most_linked_variable(p, index)] = true;
    }
}

/* Variables that hang on one other variable, or on none, are taken away again and again: what is
 * left then lies on cycles or between them. */
static bool has_cycle(const plan *p, const uint32_t *neighbours)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < p->n_terms; i++)
        left |= p->is_constant[i] ? 0 : 1U << i;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < p->n_terms; i++) {
            uint32_t around = neighbours[i] & left;
            if ((left >> i & 1) != 0 && (around & (around - 1)) == 0) {
                left &= ~(1U << i);
                changed = true;
            }
        }
    }
    return left != 0;
}

/* Atoms between constants ask nothing. Constants that lose their last atom go with them. */
static bool drop_ground(plan *p)
{
    uint32_t kept = 0, used = 0;
    for (uint32_t i = 0; i < p->n_atoms; i++)
        if (!p->is_constant[p->atoms[i].head] || !p->is_constant[p->atoms[i].tail])
            p->atoms[kept++] = p->atoms[i];
    p->n_atoms = kept;
    for (uint32_t i = 0; i < kept; i++)
        used |= 1U << p->atoms[i].head | 1U << p->atoms[i].tail;
    return used == (1U << p->n_terms) - 1;
}

static void choose_free(plan *p, acq_random *random)
{
    uint32_t wanted = 1 + (uint32_t)acq_random_below(random, 3);
    while (wanted > 0) {
        uint32_t i = (uint32_t)acq_random_below(random, p->n_terms);
        if (p->is_constant[i] || p->is_free[i])
            continue;
        p->is_free[i] = true;
        wanted--;
    }
}

bool plan_make(plan *p, const incidence *index, acq_random *random)
{
    uint32_t neighbours[PLAN_MOST_TERMS];
    if (!walk(p, index, random))
        return false;
    link_all(p, index);
    join_terms(p, neighbours);
    choose_constants(p, index, random);
    if (!has_cycle(p, neighbours) || !drop_ground(p))
        return false;
    choose_free(p, random);
    return true;
}

void plan_deny(plan *p, const incidence *index, acq_random *random)
{
    uint32_t wanted = 1 + (uint32_t)acq_random_below(random, 2);
    while (wanted > 0 && p->n_atoms < PLAN_MOST_ATOMS) {
        plan_atom atom = {.head = (uint32_t)acq_random_below(random, p->n_terms),
                          .tail = (uint32_t)acq_random_below(random, p->n_terms),
                          .relation = p->atoms[acq_random_below(random, p->n_atoms)].relation,
                          .is_negated = true};
        synthetic_triple link = {p->entities[atom.head], atom.relation, p->entities[atom.tail]};
        bool is_ground = p->is_constant[atom.head] && p->is_constant[atom.tail];
        if (atom.head == atom.tail || is_ground || incidence_has(index, link))
            continue;
        p->atoms[p->n_atoms++] = atom;
        wanted--;
    }
}
