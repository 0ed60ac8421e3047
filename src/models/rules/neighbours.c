/* neighbours.c - lists by transposition: the links are dealt out to their heads first, then, head
 * by head, to their tails; so each list is sorted without comparing. */
#include "models/rules/neighbours.h"

#include <string.h>

#include "base/memory.h"
#include "base/search.h"

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
                         acq_neighbour *out)
{
    for (acq_rel r = 0; r < n_relations; r++) {
        for (uint32_t i = 0; i < links[r]->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links[r], i);
            size_t *at = &next[links[r]->heads[i]];
            for (size_t j = 0; j < row.n; j++)
                out[(*at)++] = (acq_neighbour){.entity = row.tails[j], .relation = r};
        }
    }
}

/* Since links come in both directions, dealing them to their tails gives the same lists, sorted. */
static void deal_by_tail(const acq_neighbour *from, const size_t *offsets, uint32_t n_entities,
                         size_t *next, acq_neighbour *out)
{
    for (acq_ent e = 0; e < n_entities; e++) {
        for (size_t i = offsets[e]; i < offsets[e + 1]; i++)
            out[next[from[i].entity]++] =
                (acq_neighbour){.entity = e, .relation = acq_inverse(from[i].relation)};
    }
}

acq_status acq_neighbours_init(acq_neighbours *neighbours, const acq_links *const *links,
                               uint32_t n_relations, uint32_t n_entities)
{
    size_t n = 0;
    for (acq_rel r = 0; r < n_relations; r++)
        n += links[r]->n_links;
    size_t *offsets = acq_zalloc((size_t)n_entities + 1, sizeof *offsets);
    size_t *next = acq_alloc((size_t)n_entities + 1, sizeof *next);
    acq_neighbour *unsorted = acq_alloc(n, sizeof *unsorted);
    acq_neighbour *all = acq_alloc(n, sizeof *all);
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
    *neighbours = (acq_neighbours){.offsets = offsets, .all = all};
    if (is_made)
        return ACQ_OK;
    acq_neighbours_deinit(neighbours);
    return ACQ_ERR_MEMORY;
}

void acq_neighbours_deinit(acq_neighbours *neighbours)
{
    acq_free(neighbours->offsets);
    acq_free(neighbours->all);
    *neighbours = (acq_neighbours){0};
}

typedef struct list {
    const acq_neighbour *at, *end;
} list;

static list get_list(const acq_neighbours *neighbours, acq_ent e)
{
    return (list){.at = neighbours->all + neighbours->offsets[e],
                  .end = neighbours->all + neighbours->offsets[e + 1]};
}

/* The first place whose entity is not below `entity`. */
static const acq_neighbour *seek(list from, acq_ent entity)
{
    const acq_neighbour *at;
    ACQ_SEARCH(at, from.at, from.end, at->entity < entity);
    return at;
}

static const acq_neighbour *walk(list from, acq_ent entity)
{
    while (from.at < from.end && from.at->entity < entity)
        from.at++;
    return from.at;
}

static uint32_t count_group(list from)
{
    const acq_neighbour *end = from.at;
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

acq_status acq_neighbours_meet(const acq_neighbours *neighbours, acq_ent x, acq_ent y,
                               acq_meetings *out)
{
    list of_x = get_list(neighbours, x), of_y = get_list(neighbours, y);
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

uint32_t acq_neighbours_between(const acq_neighbours *neighbours, acq_ent x, acq_ent y,
                                const acq_neighbour **out)
{
    list of_x = get_list(neighbours, x);
    of_x.at = seek(of_x, y);
    *out = of_x.at;
    return of_x.at < of_x.end && of_x.at->entity == y ? count_group(of_x) : 0;
}
