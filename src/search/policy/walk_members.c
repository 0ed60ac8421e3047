/* walk_members.c - see walk_parts.h. */
#include "search/policy/walk_parts.h"

#include <string.h>

#include "base/memory.h"

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

acq_status acq_walk_reserve_classes(acq_walk *walk, size_t n)
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

acq_status acq_walk_copy_classes(acq_walk *walk, const acq_walk *from)
{
    if (acq_walk_reserve_classes(walk, (size_t)from->n_classes + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    copy_arrays(walk, from);
    walk->n_classes = from->n_classes;
    return ACQ_OK;
}

void acq_walk_add_first_class(acq_walk *walk, uint32_t term, uint32_t size)
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
    if (acq_walk_reserve_classes(walk, (size_t)walk->n_classes + n_hit + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < n_hit; i++)
        walk->covered[i] = cut_class(walk, m, walk->covered[i]);
    if (m->n_slots > n_slots)
        walk->covered[n_hit++] = cut_rest(walk, m, n_slots);
    *n_covered = n_hit;
    return ACQ_OK;
}
