/* plan_break.c - makes a planted query unanswerable, with a proof: see planted.h. */
#include <stdlib.h>

#include "plan.h"

enum { MOST_CANDIDATES = 4096, MOST_SCANNED = 1 << 20, N_DRAWS = 200 };

/* Sorted entities that a term may stand for. */
typedef struct candidates {
    uint32_t n;
    uint32_t entities[MOST_CANDIDATES];
} candidates;

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static bool contains(const candidates *set, uint32_t entity)
{
    return bsearch(&entity, set->entities, set->n, sizeof entity, compare) != NULL;
}

/* Does the atom link the term to a constant? */
static bool anchors(const plan *p, const plan_atom *atom, uint32_t term)
{
    return !atom->is_negated && ((atom->head == term && p->is_constant[atom->tail]) ||
                                 (atom->tail == term && p->is_constant[atom->head]));
}

/* The triple that the atom says if `term` stands for `entity`. */
static synthetic_triple say(const plan *p, const plan_atom *atom, uint32_t term, uint32_t entity)
{
    return (synthetic_triple){.head = atom->head == term ? entity : p->entities[atom->head],
                              .relation = atom->relation,
                              .tail = atom->tail == term ? entity : p->entities[atom->tail]};
}

static bool all_anchors_hold(const plan *p, const incidence *index, uint32_t term, uint32_t entity,
                             const plan_atom *except)
{
    for (uint32_t i = 0; i < p->n_atoms; i++) {
        const plan_atom *atom = &p->atoms[i];
        if (atom != except && anchors(p, atom, term) &&
            !incidence_has(index, say(p, atom, term, entity)))
            return false;
    }
    return true;
}

/* The anchor whose constant has the fewest links, or NULL. */
static const plan_atom *best_anchor(const plan *p, const incidence *index, uint32_t term,
                                    const plan_atom *except)
{
    const plan_atom *best = NULL;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < p->n_atoms; i++) {
        const plan_atom *atom = &p->atoms[i];
        if (atom == except || !anchors(p, atom, term))
            continue;
        uint32_t constant = atom->head == term ? atom->tail : atom->head;
        uint32_t degree = incidence_degree(index, p->entities[constant]);
        if (degree < least) {
            least = degree;
            best = atom;
        }
    }
    return best;
}

/* What the constants around a term, without the atom `except`, leave of it. False: nothing limits
 * it, or too little does. */
static bool find_candidates(const plan *p, const incidence *index, uint32_t term,
                            const plan_atom *except, candidates *out)
{
    out->n = 0;
    if (p->is_constant[term]) {
        out->entities[out->n++] = p->entities[term];
        return true;
    }
    const plan_atom *anchor = best_anchor(p, index, term, except);
    if (anchor == NULL)
        return false;
    bool is_head = anchor->head == term;
    uint32_t constant = p->entities[is_head ? anchor->tail : anchor->head];
    for (uint32_t i = 0; i < incidence_degree(index, constant); i++) {
        synthetic_triple t = incidence_get(index, constant, i);
        if (t.relation != anchor->relation || (is_head ? t.tail : t.head) != constant)
            continue;
        uint32_t entity = is_head ? t.head : t.tail;
        if (!all_anchors_hold(p, index, term, entity, except))
            continue;
        if (out->n == MOST_CANDIDATES)
            return false;
        out->entities[out->n++] = entity;
    }
    qsort(out->entities, out->n, sizeof *out->entities, compare);
    return true;
}

/* Marks the relations that lead from one of heads to one of tails. False: too much to scan. */
static bool mark_relations(const incidence *index, const candidates *heads, const candidates *tails,
                           bool *marked)
{
    bool by_head = heads->n <= tails->n;
    const candidates *from = by_head ? heads : tails, *to = by_head ? tails : heads;
    uint32_t scanned = 0;
    for (uint32_t i = 0; i < from->n; i++) {
        uint32_t degree = incidence_degree(index, from->entities[i]);
        scanned += degree;
        if (scanned > MOST_SCANNED)
            return false;
        for (uint32_t k = 0; k < degree; k++) {
            synthetic_triple t = incidence_get(index, from->entities[i], k);
            if ((by_head ? t.head : t.tail) == from->entities[i] &&
                contains(to, by_head ? t.tail : t.head))
                marked[t.relation] = true;
        }
    }
    return true;
}

static bool break_atom(plan *p, const incidence *index, plan_atom *atom, acq_random *random)
{
    candidates heads, tails;
    bool marked[SYNTHETIC_MOST_RELATIONS] = {false};
    if (!find_candidates(p, index, atom->head, atom, &heads) ||
        !find_candidates(p, index, atom->tail, atom, &tails) ||
        !mark_relations(index, &heads, &tails, marked))
        return false;
    for (uint32_t i = 0; i < N_DRAWS; i++) {
        uint32_t relation = synthetic_draw_relation(index->graph, acq_random_next(random));
        if (marked[relation])
            continue;
        atom->relation = relation;
        return true;
    }
    return false;
}

bool plan_break(plan *p, const incidence *index, acq_random *random)
{
    uint32_t first = (uint32_t)acq_random_below(random, p->n_atoms);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < p->n_atoms; i++) {
            plan_atom *atom = &p->atoms[(first + i) % p->n_atoms];
            bool is_anchor = p->is_constant[atom->head] || p->is_constant[atom->tail];
            /* First atoms between variables: their conflict takes a join to see. */
            if (!atom->is_negated && is_anchor == (pass == 1) && break_atom(p, index, atom, random))
                return true;
        }
    return false;
}
