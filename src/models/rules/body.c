/* body.c - counting the pairs of a body.
 *
 * Few paths: all are followed, head by head, and each tail is marked once per head.
 * Many: with m(x, y) the number of paths between x and y, the number of pairs is
 *
 *   sum over paths p of 1 / m(p)  =  paths * mean of 1 / m(p),
 *
 * and a mean of numbers in (0, 1] needs no more than a sample. The number of paths by way of z is
 * a product of two row lengths, so a path is drawn by a walk over the z that both relations share;
 * m is the size of the intersection of two rows. Paths that touch x or y in between weigh 0. */
#include "models/rules/body.h"

#include <string.h>

#include "base/memory.h"
#include "base/random.h"

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
