/* paths.c - see parts.h: pairs that bodies link, lists of all links, counts of bodies.
 *
 * Few paths: all are followed, head by head, and each tail is marked once per head.
 * Many: with m(x, y) the number of paths between x and y, the number of pairs is
 *
 *   sum over paths p of 1 / m(p)  =  paths * mean of 1 / m(p),
 *
 * and a mean of numbers in (0, 1] needs no more than a sample. The number of paths by way of z is
 * a product of two row lengths, so a path is drawn by a walk over the z that both relations share;
 * m is the size of the intersection of two rows. Paths that touch x or y in between weigh 0. */
#include "models/rules/parts.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/search.h"

acq_status acq_pair_counter_init(acq_pair_counter *counter, const acq_links *const *links,
                                 uint32_t n_entities)
{
    *counter = (acq_pair_counter){.links = links, .n_entities = n_entities};
    counter->marks = acq_zalloc(n_entities, sizeof *counter->marks);
    return counter->marks == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

void acq_pair_counter_deinit(acq_pair_counter *counter)
{
    acq_free(counter->marks);
    counter->marks = NULL;
}

static double count_one_hop(const acq_links *links)
{
    uint32_t n = links->n_links;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        n -= acq_row_find(row, links->heads[i]) < row.n;
    }
    return n;
}

/* The entities in the middle: tails of the first relation that are heads of the second. */
typedef struct middles {
    const acq_links *back, *on; /* inverse of the first, second */
    uint32_t i, j;
} middles;

static bool next_middle(middles *m)
{
    while (m->i < m->back->n_heads && m->j < m->on->n_heads) {
        acq_ent a = m->back->heads[m->i], b = m->on->heads[m->j];
        if (a == b)
            return true;
        m->i += a < b;
        m->j += b < a;
    }
    return false;
}

static uint64_t count_here(const middles *m)
{
    return (uint64_t)acq_links_get_row_at(m->back, m->i).n * acq_links_get_row_at(m->on, m->j).n;
}

static void step(middles *m)
{
    m->i++;
    m->j++;
}

static uint64_t count_paths(const acq_links *back, const acq_links *on)
{
    uint64_t n = 0;
    for (middles m = {.back = back, .on = on}; next_middle(&m); step(&m))
        n += count_here(&m);
    return n;
}

static uint32_t start_mark(acq_pair_counter *counter)
{
    if (++counter->mark == 0) {
        memset(counter->marks, 0, counter->n_entities * sizeof *counter->marks);
        counter->mark = 1;
    }
    return counter->mark;
}

/* Tails that x reaches by way of z and did not reach before. */
static uint64_t mark_row(acq_pair_counter *counter, acq_row row, acq_ent x, acq_ent z)
{
    uint64_t n = 0;
    for (size_t j = 0; j < row.n; j++) {
        acq_ent y = row.tails[j];
        bool is_new = y != x && y != z && counter->marks[y] != counter->mark;
        if (is_new)
            counter->marks[y] = counter->mark;
        n += is_new;
    }
    return n;
}

static uint64_t count_all(acq_pair_counter *counter, const acq_links *first,
                          const acq_links *second)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < first->n_heads; i++) {
        acq_row row = acq_links_get_row_at(first, i);
        acq_ent x = first->heads[i];
        start_mark(counter);
        for (size_t j = 0; j < row.n; j++) {
            if (row.tails[j] != x)
                n += mark_row(counter, acq_links_get_row(second, row.tails[j]), x, row.tails[j]);
        }
    }
    return n;
}

/* Common entities of two rows but x and y. The shorter is walked, the longer one sought in. */
static uint32_t count_common(acq_row a, acq_row b, acq_ent x, acq_ent y)
{
    acq_row few = a.n < b.n ? a : b, many = a.n < b.n ? b : a;
    uint32_t n = 0;
    for (size_t i = 0; i < few.n; i++) {
        acq_ent z = few.tails[i];
        n += z != x && z != y && acq_row_find(many, z) < many.n;
    }
    return n;
}

/* 1 / m of the k-th path by way of m's middle. */
static double weigh(const acq_pair_counter *counter, acq_body body, const middles *m, uint64_t k)
{
    acq_row heads = acq_links_get_row_at(m->back, m->i);
    acq_row tails = acq_links_get_row_at(m->on, m->j);
    acq_ent x = heads.tails[k / tails.n], y = tails.tails[k % tails.n], z = m->on->heads[m->j];
    if (x == y || z == x || z == y)
        return 0.0;
    acq_row on = acq_links_get_row(counter->links[body.first], x);
    acq_row back = acq_links_get_row(counter->links[acq_inverse(body.second)], y);
    return 1.0 / count_common(on, back, x, y);
}

/* One path from each of n equal parts of all of them. */
static double estimate(const acq_pair_counter *counter, acq_body body, uint64_t n_paths, uint32_t n,
                       uint64_t seed)
{
    acq_random random = acq_random_start(seed, acq_body_get_key(body));
    middles m = {.back = counter->links[acq_inverse(body.first)],
                 .on = counter->links[body.second]};
    double sum = 0.0, part = (double)n_paths / n;
    uint64_t begin = 0;
    bool is_there = next_middle(&m);
    for (uint32_t k = 0; k < n && is_there; k++) {
        uint64_t at = (uint64_t)(part * (k + acq_random_unit(&random)));
        while (is_there && at >= begin + count_here(&m)) {
            begin += count_here(&m);
            step(&m);
            is_there = next_middle(&m);
        }
        sum += is_there ? weigh(counter, body, &m, at - begin) : 0.0;
    }
    return sum * part;
}

double acq_pair_counter_count(acq_pair_counter *counter, acq_body body, uint64_t most_paths,
                              uint32_t n_samples, uint64_t seed)
{
    if (body.second == ACQ_NO_ID)
        return count_one_hop(counter->links[body.first]);
    const acq_links *const *links = counter->links;
    uint64_t n_paths = count_paths(links[acq_inverse(body.first)], links[body.second]);
    if (n_paths > most_paths)
        return estimate(counter, body, n_paths, n_samples, seed);
    acq_body turned = acq_body_turn(body);
    bool is_shorter = links[turned.first]->n_links < links[body.first]->n_links;
    acq_body way = is_shorter ? turned : body;
    return (double)count_all(counter, links[way.first], links[way.second]);
}

/* ---- all links of an entity ---- */

enum { FAR_LONGER = 16 }; /* from this ratio on, seek in the longer list */

static void count_heads(const acq_links *const *links, uint32_t n_relations, size_t *offsets)
{
    for (acq_rel r = 0; r < n_relations; r++) {
        for (uint32_t i = 0; i < links[r]->n_heads; i++)
            offsets[links[r]->heads[i] + 1] += acq_links_get_row_at(links[r], i).n;
    }
}

/* Every list holds its links by relation; next[e] ends as the end of e's list. */
static void deal_by_head(const acq_links *const *links, uint32_t n_relations, size_t *next,
                         acq_adjacent *out)
{
    for (acq_rel r = 0; r < n_relations; r++) {
        for (uint32_t i = 0; i < links[r]->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links[r], i);
            size_t *at = &next[links[r]->heads[i]];
            for (size_t j = 0; j < row.n; j++)
                out[(*at)++] = (acq_adjacent){.entity = row.tails[j], .relation = r};
        }
    }
}

/* Since links come in both directions, dealing them to their tails gives the same lists, sorted. */
static void deal_by_tail(const acq_adjacent *from, const size_t *offsets, uint32_t n_entities,
                         size_t *next, acq_adjacent *out)
{
    for (acq_ent e = 0; e < n_entities; e++) {
        for (size_t i = offsets[e]; i < offsets[e + 1]; i++)
            out[next[from[i].entity]++] =
                (acq_adjacent){.entity = e, .relation = acq_inverse(from[i].relation)};
    }
}

acq_status acq_adjacency_init(acq_adjacency *adjacency, const acq_links *const *links,
                              uint32_t n_relations, uint32_t n_entities)
{
    size_t n = 0;
    for (acq_rel r = 0; r < n_relations; r++)
        n += links[r]->n_links;
    size_t *offsets = acq_zalloc((size_t)n_entities + 1, sizeof *offsets);
    size_t *next = acq_alloc((size_t)n_entities + 1, sizeof *next);
    acq_adjacent *unsorted = acq_alloc(n, sizeof *unsorted);
    acq_adjacent *all = acq_alloc(n, sizeof *all);
    bool is_made = offsets != NULL && next != NULL && unsorted != NULL && all != NULL;
    if (is_made) {
        count_heads(links, n_relations, offsets);
        for (uint32_t e = 0; e < n_entities; e++)
            offsets[e + 1] += offsets[e];
        memcpy(next, offsets, ((size_t)n_entities + 1) * sizeof *next);
        deal_by_head(links, n_relations, next, unsorted);
        memcpy(next, offsets, ((size_t)n_entities + 1) * sizeof *next);
        deal_by_tail(unsorted, offsets, n_entities, next, all);
    }
    acq_free(unsorted);
    acq_free(next);
    *adjacency = (acq_adjacency){.offsets = offsets, .all = all};
    if (is_made)
        return ACQ_OK;
    acq_adjacency_deinit(adjacency);
    return ACQ_ERR_MEMORY;
}

void acq_adjacency_deinit(acq_adjacency *adjacency)
{
    acq_free(adjacency->offsets);
    acq_free(adjacency->all);
    *adjacency = (acq_adjacency){0};
}

typedef struct list {
    const acq_adjacent *at, *end;
} list;

static list get_list(const acq_adjacency *adjacency, acq_ent e)
{
    return (list){.at = adjacency->all + adjacency->offsets[e],
                  .end = adjacency->all + adjacency->offsets[e + 1]};
}

/* The first place whose entity is not below `entity`. */
static const acq_adjacent *seek(list from, acq_ent entity)
{
    const acq_adjacent *at;
    ACQ_SEARCH(at, from.at, from.end, at->entity < entity);
    return at;
}

static const acq_adjacent *walk(list from, acq_ent entity)
{
    while (from.at < from.end && from.at->entity < entity)
        from.at++;
    return from.at;
}

static uint32_t count_group(list from)
{
    const acq_adjacent *end = from.at;
    while (end < from.end && end->entity == from.at->entity)
        end++;
    return (uint32_t)(end - from.at);
}

static acq_status append(acq_meetings *out, list of_x, list of_y)
{
    acq_status status = ACQ_RESERVE(out->all, out->capacity, out->n + 1);
    if (status != ACQ_OK)
        return status;
    acq_meeting *made = &out->all[out->n++];
    *made = (acq_meeting){.of_x = of_x.at, .of_y = of_y.at};
    made->n_x = count_group(of_x);
    made->n_y = count_group(of_y);
    out->n_paths += (uint64_t)made->n_x * made->n_y;
    return ACQ_OK;
}

acq_status acq_adjacency_meet(const acq_adjacency *adjacency, acq_ent x, acq_ent y,
                              acq_meetings *out)
{
    list of_x = get_list(adjacency, x), of_y = get_list(adjacency, y);
    ptrdiff_t n_x = of_x.end - of_x.at, n_y = of_y.end - of_y.at;
    bool x_is_short = n_x * FAR_LONGER < n_y, y_is_short = n_y * FAR_LONGER < n_x;
    acq_status status = ACQ_OK;
    out->n = 0;
    out->n_paths = 0;
    while (of_x.at < of_x.end && of_y.at < of_y.end && status == ACQ_OK) {
        acq_ent z = of_x.at->entity;
        if (z < of_y.at->entity) {
            z = of_y.at->entity;
            of_x.at = y_is_short ? seek(of_x, z) : walk(of_x, z);
        } else if (z > of_y.at->entity) {
            of_y.at = x_is_short ? seek(of_y, z) : walk(of_y, z);
        } else {
            if (z != x && z != y)
                status = append(out, of_x, of_y);
            of_x.at += count_group(of_x);
            of_y.at += count_group(of_y);
        }
    }
    return status;
}

uint32_t acq_adjacency_between(const acq_adjacency *adjacency, acq_ent x, acq_ent y,
                               const acq_adjacent **out)
{
    list of_x = get_list(adjacency, x);
    of_x.at = seek(of_x, y);
    *out = of_x.at;
    return of_x.at < of_x.end && of_x.at->entity == y ? count_group(of_x) : 0;
}

/* ---- counts of bodies ---- */

enum { FIRST_CAPACITY = 1024 };

void acq_tally_deinit(acq_tally *tally)
{
    acq_free(tally->entries);
    *tally = (acq_tally){0};
}

void acq_tally_clear(acq_tally *tally)
{
    if (tally->n > 0)
        memset(tally->entries, 0, tally->capacity * sizeof *tally->entries);
    tally->n = 0;
}

static acq_tally_entry *find(const acq_tally *tally, uint64_t key)
{
    size_t mask = tally->capacity - 1;
    size_t i = (size_t)acq_random_mix(key) & mask;
    while (tally->entries[i].last != 0 && tally->entries[i].key != key)
        i = (i + 1) & mask;
    return &tally->entries[i];
}

static acq_status grow(acq_tally *tally)
{
    acq_tally larger = {.n = tally->n};
    larger.capacity = tally->capacity == 0 ? FIRST_CAPACITY : 2 * tally->capacity;
    larger.entries = acq_zalloc(larger.capacity, sizeof *larger.entries);
    if (larger.entries == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < tally->capacity; i++) {
        if (tally->entries[i].last != 0)
            *find(&larger, tally->entries[i].key) = tally->entries[i];
    }
    acq_free(tally->entries);
    *tally = larger;
    return ACQ_OK;
}

acq_status acq_tally_add(acq_tally *tally, acq_body body, uint32_t fact)
{
    if (2 * tally->n >= tally->capacity && grow(tally) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    uint64_t key = acq_body_get_key(body);
    acq_tally_entry *entry = find(tally, key);
    if (entry->last == 0)
        *entry = (acq_tally_entry){.key = key}, tally->n++;
    entry->hits += entry->last != fact;
    entry->last = fact;
    return ACQ_OK;
}
