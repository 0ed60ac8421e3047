/* walk.c - see walk.h: starting, copying, assigning, drawing, checking. */
#include "search/policy/walk.h"

#include <string.h>

#include "base/memory.h"

/* ---- members ---- */

enum { N_WORDS = 7, FIRST_CAPACITY = 64 };

/* The arrays of the classes are parts of one block, so that growing is one allocation. */
static void place_arrays(acq_walk *walk, uint32_t *block, size_t capacity)
{
    walk->class_terms = block;
    walk->sizes = block + capacity;
    walk->origins = block + 2 * capacity;
    walk->starts = block + 3 * capacity;
    walk->next = block + 4 * capacity;
    walk->hits = block + 5 * capacity;
    walk->covered = block + 6 * capacity;
    walk->assigned = (uint8_t *)(block + N_WORDS * capacity);
    walk->labels = walk->assigned + capacity;
    walk->inner = walk->labels + capacity * walk->board->most_edges;
    walk->capacity = capacity;
}

static void copy_words(uint32_t *to, const uint32_t *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
}

static void copy_arrays(acq_walk *to, const acq_walk *from)
{
    size_t n = from->n_classes;
    copy_words(to->class_terms, from->class_terms, n);
    copy_words(to->sizes, from->sizes, n);
    copy_words(to->origins, from->origins, n);
    copy_words(to->starts, from->starts, n);
    copy_words(to->next, from->next, n);
    copy_words(to->hits, from->hits, n);
    copy_words(to->covered, from->covered, n);
    memcpy(to->assigned, from->assigned, n);
    memcpy(to->labels, from->labels, n * from->board->most_edges);
    memcpy(to->inner, from->inner, n * from->board->most_inner);
}

/* Makes room for n classes in all. */
static acq_status reserve_classes(acq_walk *walk, size_t n)
{
    const acq_board *board = walk->board;
    size_t bytes = N_WORDS * sizeof(uint32_t) + 1 + (size_t)board->most_edges + board->most_inner;
    size_t capacity = walk->capacity == 0 ? FIRST_CAPACITY : walk->capacity;
    if (n <= walk->capacity)
        return ACQ_OK;
    while (capacity < n)
        capacity *= 2;
    uint32_t *block = acq_alloc(capacity, bytes);
    if (block == NULL)
        return ACQ_ERR_MEMORY;
    acq_walk old = *walk;
    place_arrays(walk, block, capacity);
    if (old.capacity > 0)
        copy_arrays(walk, &old);
    acq_free(old.class_terms);
    walk->bytes += (capacity - old.capacity) * bytes;
    return ACQ_OK;
}

/* Into a walk without classes. */
static acq_status copy_classes(acq_walk *walk, const acq_walk *from)
{
    if (reserve_classes(walk, (size_t)from->n_classes + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    copy_arrays(walk, from);
    walk->n_classes = from->n_classes;
    return ACQ_OK;
}

/* The first class of a term is the term's number; room must be there. */
static void add_first_class(acq_walk *walk, uint32_t term, uint32_t size)
{
    const acq_board *board = walk->board;
    uint32_t c = walk->n_classes++;
    walk->class_terms[c] = term;
    walk->sizes[c] = size;
    walk->origins[c] = c;
    walk->starts[c] = 0;
    walk->next[c] = ACQ_NO_ID;
    walk->hits[c] = 0;
    walk->assigned[c] = 0;
    memset(walk->labels + (size_t)c * board->most_edges, 0, board->most_edges);
    memset(walk->inner + (size_t)c * board->most_inner, 0, board->most_inner);
}

/* A class of `size` members of `parent`, which keeps the others. */
static uint32_t add_class(acq_walk *walk, uint32_t parent, uint32_t size, uint32_t start)
{
    size_t n_edges = walk->board->most_edges, n_inner = walk->board->most_inner;
    uint32_t c = walk->n_classes++, first = walk->class_terms[parent];
    walk->class_terms[c] = first;
    walk->sizes[c] = size;
    walk->sizes[parent] -= size;
    walk->origins[c] = walk->origins[parent];
    walk->starts[c] = start;
    walk->next[c] = walk->next[first];
    walk->next[first] = c;
    walk->hits[c] = 0;
    walk->assigned[c] = 0;
    memcpy(walk->labels + c * n_edges, walk->labels + parent * n_edges, n_edges);
    memcpy(walk->inner + c * n_inner, walk->inner + parent * n_inner, n_inner);
    return c;
}

static acq_status reserve_slots(acq_walk *walk, acq_walk_members *m, size_t n)
{
    size_t n_untouched = m->rest == ACQ_NO_ID ? 0 : walk->sizes[m->rest];
    size_t before = m->capacity;
    acq_status status =
        ACQ_RESERVE(m->slots, m->capacity, m->n_slots + (n < n_untouched ? n : n_untouched));
    walk->bytes += (m->capacity - before) * sizeof *m->slots;
    return status;
}

/* Moves the member in a slot to the end of the hit front of its class. */
static void hit_slot(acq_walk *walk, acq_walk_members *m, uint32_t slot, uint32_t *n_hit)
{
    acq_walk_slot *from = &m->slots[slot];
    uint32_t c = from->class_number;
    if (walk->hits[c] == 0)
        walk->covered[(*n_hit)++] = c;
    uint32_t front = walk->starts[c] + walk->hits[c]++;
    if (front == slot)
        return;
    acq_ent value = from->value, displaced = m->slots[front].value;
    from->value = displaced;
    m->where[displaced] = slot + 1;
    m->slots[front].value = value;
    m->where[value] = front + 1;
}

static void hit_all(acq_walk *walk, acq_walk_members *m, const acq_ent *set, size_t n,
                    uint32_t *n_hit)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t place = m->where[set[i]];
        if (place != 0) {
            hit_slot(walk, m, place - 1, n_hit);
            continue;
        }
        m->slots[m->n_slots++] = (acq_walk_slot){.value = set[i], .class_number = m->rest};
        m->where[set[i]] = (uint32_t)m->n_slots;
    }
}

static void label_slots(acq_walk_members *m, size_t start, size_t end, uint32_t c)
{
    for (size_t i = start; i < end; i++)
        m->slots[i].class_number = c;
}

/* The untouched values that were hit are the slots from `first` on. */
static uint32_t cut_rest(acq_walk *walk, acq_walk_members *m, size_t first)
{
    uint32_t n = (uint32_t)(m->n_slots - first), c = m->rest;
    if (n == walk->sizes[c]) {
        walk->starts[c] = (uint32_t)first;
        m->rest = ACQ_NO_ID;
        return c;
    }
    c = add_class(walk, c, n, (uint32_t)first);
    label_slots(m, first, m->n_slots, c);
    return c;
}

static uint32_t cut_class(acq_walk *walk, acq_walk_members *m, uint32_t c)
{
    uint32_t n = walk->hits[c], start = walk->starts[c];
    walk->hits[c] = 0;
    if (n == walk->sizes[c])
        return c;
    walk->starts[c] += n;
    c = add_class(walk, c, n, start);
    label_slots(m, start, (size_t)start + n, c);
    return c;
}

acq_status acq_walk_split(acq_walk *walk, uint32_t term, const acq_ent *set, size_t n,
                          uint32_t *n_covered)
{
    acq_walk_members *m = &walk->members[term];
    size_t n_slots = m->n_slots;
    uint32_t n_hit = 0;
    if (reserve_slots(walk, m, n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    hit_all(walk, m, set, n, &n_hit);
    if (reserve_classes(walk, (size_t)walk->n_classes + n_hit + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < n_hit; i++)
        walk->covered[i] = cut_class(walk, m, walk->covered[i]);
    if (m->n_slots > n_slots)
        walk->covered[n_hit++] = cut_rest(walk, m, n_slots);
    *n_covered = n_hit;
    return ACQ_OK;
}

/* ---- walk ---- */

enum { MOST_MISSES = 64 };

/* members, values and the flags are parts of one block. */
static acq_status allot(acq_walk *walk)
{
    const acq_board *board = walk->board;
    size_t n_terms = board->n_terms, n_free = board->n_free_terms;
    size_t bytes = n_free * sizeof *walk->members + n_terms * (sizeof *walk->values + 1) +
                   board->n_literals + board->most_leaves;
    size_t n_places = n_free * board->n_entities;
    walk->members = acq_zalloc(1, bytes);
    if (walk->members == NULL)
        return ACQ_ERR_MEMORY;
    walk->values = (acq_ent *)(walk->members + n_free);
    walk->holds = (bool *)(walk->values + n_terms);
    walk->changed = walk->holds + board->n_literals;
    walk->leaves = (uint8_t *)(walk->changed + n_terms);
    walk->bytes += bytes + n_places * sizeof(uint32_t);
    if (n_free == 0)
        return ACQ_OK;
    uint32_t *where = acq_zalloc(n_places, sizeof *where);
    for (size_t t = 0; where != NULL && t < n_free; t++)
        walk->members[t].where = where + t * board->n_entities;
    return where == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

static void add_first_classes(acq_walk *walk)
{
    const acq_board *board = walk->board;
    for (uint32_t t = 0; t < board->n_terms; t++) {
        bool is_free = t < board->n_free_terms;
        add_first_class(walk, t, is_free ? board->n_entities : 1);
        walk->values[t] = board->terms[t].value;
        walk->assigned[t] = !is_free;
        if (!is_free)
            continue;
        walk->members[t].current = ACQ_NO_ID;
        walk->members[t].rest = t;
    }
}

acq_status acq_walk_init(acq_walk *walk, const acq_board *board)
{
    *walk = (acq_walk){.board = board};
    acq_status status = allot(walk);
    if (status == ACQ_OK)
        status = reserve_classes(walk, (size_t)board->n_terms + 1);
    if (status == ACQ_OK) {
        add_first_classes(walk);
        status = acq_walk_add_potential(walk);
    }
    if (status != ACQ_OK)
        acq_walk_deinit(walk);
    return status;
}

void acq_walk_deinit(acq_walk *walk)
{
    size_t n_free = walk->members == NULL ? 0 : walk->board->n_free_terms;
    for (size_t t = 0; t < n_free; t++)
        acq_free(walk->members[t].slots);
    if (n_free > 0)
        acq_free(walk->members[0].where);
    acq_free(walk->members);
    acq_free(walk->class_terms);
    acq_free(walk->list);
    *walk = (acq_walk){0};
}

static acq_status copy_members(acq_walk *walk, acq_walk_members *to, const acq_walk_members *from)
{
    uint32_t *where = to->where;
    acq_walk_slot *slots = acq_alloc(from->n_slots, sizeof *slots);
    if (slots == NULL)
        return ACQ_ERR_MEMORY;
    *to = *from;
    to->where = where;
    to->slots = slots;
    to->capacity = from->n_slots;
    walk->bytes += from->n_slots * sizeof *slots;
    if (from->n_slots > 0)
        memcpy(slots, from->slots, from->n_slots * sizeof *slots);
    for (size_t i = 0; i < from->n_slots; i++)
        where[slots[i].value] = (uint32_t)i + 1;
    return ACQ_OK;
}

acq_status acq_walk_init_copy(acq_walk *walk, const acq_walk *from)
{
    const acq_board *board = from->board;
    *walk = (acq_walk){.board = board};
    acq_status status = allot(walk);
    if (status == ACQ_OK)
        status = copy_classes(walk, from);
    for (uint32_t t = 0; status == ACQ_OK && t < board->n_free_terms; t++)
        status = copy_members(walk, &walk->members[t], &from->members[t]);
    if (status != ACQ_OK) {
        acq_walk_deinit(walk);
        return status;
    }
    memcpy(walk->values, from->values, board->n_terms * sizeof *walk->values);
    return ACQ_OK;
}

void acq_walk_draw_uniform(const acq_walk *walk, acq_random *random, acq_ent *values)
{
    for (uint32_t t = 0; t < walk->board->n_free_terms; t++)
        values[t] = (acq_ent)acq_random_below(random, walk->board->n_entities);
}

static void note_changes(acq_walk *walk, const acq_ent *values)
{
    const acq_board *board = walk->board;
    for (uint32_t t = 0; t < board->n_terms; t++)
        walk->changed[t] =
            !walk->is_set || (t < board->n_free_terms && walk->values[t] != values[t]);
    if (board->n_free_terms > 0)
        memcpy(walk->values, values, board->n_free_terms * sizeof *values);
    for (uint32_t i = 0; i < board->n_literals; i++) {
        uint32_t left = board->literals[i].left, right = board->literals[i].right;
        if (walk->changed[left] || walk->changed[right])
            walk->holds[i] = acq_board_holds(board, i, walk->values[left], walk->values[right]);
    }
}

/* The value assigned becomes a class of its own; one that no longer is stays so. */
static acq_status assign(acq_walk *walk, uint32_t term)
{
    acq_walk_members *m = &walk->members[term];
    uint32_t n_covered = 0;
    if (acq_walk_split(walk, term, &walk->values[term], 1, &n_covered) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (m->current != ACQ_NO_ID)
        walk->assigned[m->current] = 0;
    m->current = walk->covered[0];
    walk->assigned[m->current] = 1;
    return ACQ_OK;
}

acq_status acq_walk_set(acq_walk *walk, const acq_ent *values)
{
    for (uint32_t c = walk->n_before; c < walk->n_classes; c++)
        walk->origins[c] = c;
    walk->n_before = walk->n_classes;
    note_changes(walk, values);
    if (acq_walk_update_labels(walk) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t t = 0; t < walk->board->n_free_terms; t++)
        if (walk->changed[t] && assign(walk, t) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    walk->is_set = true;
    return ACQ_OK;
}

/* Exactly uniform: a value that was never touched, by rejection; if these are rare, by counting. */
static acq_ent draw_untouched(const acq_walk *walk, const acq_walk_members *m, acq_random *random)
{
    uint32_t n_entities = walk->board->n_entities;
    for (int i = 0; i < MOST_MISSES; i++) {
        acq_ent value = (acq_ent)acq_random_below(random, n_entities);
        if (m->where[value] == 0)
            return value;
    }
    uint64_t left = acq_random_below(random, walk->sizes[m->rest]);
    acq_ent value = 0;
    while (m->where[value] != 0 || left-- > 0)
        value++;
    return value;
}

acq_ent acq_walk_draw_member(const acq_walk *walk, uint32_t class_number, acq_random *random)
{
    uint32_t term = walk->class_terms[class_number];
    if (term >= walk->board->n_free_terms)
        return walk->values[term];
    const acq_walk_members *m = &walk->members[term];
    if (class_number == m->rest)
        return draw_untouched(walk, m, random);
    uint64_t i = acq_random_below(random, walk->sizes[class_number]);
    return m->slots[walk->starts[class_number] + i].value;
}

uint32_t acq_walk_find_class(const acq_walk *walk, uint32_t term, acq_ent value)
{
    if (term >= walk->board->n_free_terms)
        return term;
    const acq_walk_members *m = &walk->members[term];
    uint32_t place = m->where[value];
    return place == 0 ? m->rest : m->slots[place - 1].class_number;
}

void acq_walk_get_assignment(const acq_walk *walk, acq_ent *values)
{
    const acq_board *board = walk->board;
    for (uint32_t v = 0; v < board->n_variables; v++)
        values[v] = ACQ_NO_ID;
    for (uint32_t t = 0; t < board->n_free_terms; t++)
        values[board->terms[t].variable] = walk->values[t];
}

/* ---- the invariants of a walk, said once and checked slowly ---- */

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
