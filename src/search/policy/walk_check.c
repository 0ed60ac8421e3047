/* walk_check.c - the invariants of a walk, said once and checked slowly. */
#include "search/policy/walk_members.h"

static const char *check_class(const acq_walk *walk, uint32_t c)
{
    const acq_board *board = walk->board;
    uint32_t term = walk->class_terms[c];
    if (term >= board->n_terms)
        return "a class has no term";
    if (walk->sizes[c] == 0)
        return "a class is empty";
    if (walk->hits[c] != 0)
        return "a split was not finished";
    if (c < walk->n_before ? walk->origins[c] != c
                           : walk->n_before > 0 && walk->origins[c] >= walk->n_before)
        return "an origin is not a class of the step before";
    if (walk->class_terms[walk->origins[c]] != term)
        return "an origin belongs to another term";
    if (walk->assigned[c] && acq_walk_find_class(walk, term, walk->values[term]) != c)
        return "an assigned class does not hold the value";
    return walk->assigned[c] && walk->sizes[c] != 1 ? "an assigned class has other members" : NULL;
}

static const char *check_slot(const acq_walk *walk, uint32_t term, uint32_t slot)
{
    const acq_walk_members *m = &walk->members[term];
    uint32_t c = m->slots[slot].class_number;
    if (m->where[m->slots[slot].value] != slot + 1)
        return "a value is not where it should be";
    if (c >= walk->n_classes || walk->class_terms[c] != term || c == m->rest)
        return "a value is in a class of another kind";
    return slot < walk->starts[c] || slot - walk->starts[c] >= walk->sizes[c]
               ? "a class is not a segment"
               : NULL;
}

static const char *check_sizes(const acq_walk *walk, uint32_t term, uint64_t domain)
{
    uint64_t sum = 0, n_classes = 0, n_listed = 0;
    for (uint32_t c = 0; c < walk->n_classes; c++) {
        sum += walk->class_terms[c] == term ? walk->sizes[c] : 0;
        n_classes += walk->class_terms[c] == term;
    }
    for (uint32_t c = term; c != ACQ_NO_ID; c = walk->next[c])
        n_listed++;
    if (sum != domain)
        return "the sizes of a term's classes do not sum up to its domain";
    return n_listed != n_classes ? "a term's list lacks classes" : NULL;
}

static const char *check_members(const acq_walk *walk, uint32_t term)
{
    const acq_walk_members *m = &walk->members[term];
    uint64_t n_untouched = 0;
    const char *why = check_sizes(walk, term, walk->board->n_entities);
    for (uint32_t i = 0; why == NULL && i < m->n_slots; i++)
        why = check_slot(walk, term, i);
    for (acq_ent e = 0; e < walk->board->n_entities; e++)
        n_untouched += m->where[e] == 0;
    if (why == NULL && n_untouched + m->n_slots != walk->board->n_entities)
        return "a value has a place without a slot";
    if (why == NULL && n_untouched != (m->rest == ACQ_NO_ID ? 0 : walk->sizes[m->rest]))
        return "the rest has the wrong size";
    if (why == NULL && walk->is_set && (m->current == ACQ_NO_ID || !walk->assigned[m->current]))
        return "a variable has no assigned class";
    return why;
}

const char *acq_walk_check(const acq_walk *walk)
{
    const char *why = NULL;
    for (uint32_t c = 0; why == NULL && c < walk->n_classes; c++)
        why = check_class(walk, c);
    for (uint32_t t = 0; why == NULL && t < walk->board->n_terms; t++)
        why = t < walk->board->n_free_terms ? check_members(walk, t) : check_sizes(walk, t, 1);
    return why;
}
