/* merge.c - two sorted sequences into one, in two passes: count, then fill; see merge.h. */
#include "store/merge.h"

#include <stdlib.h>

#include "graph/links_make.h"

static uint64_t key_of(acq_ent head, acq_ent tail)
{
    return (uint64_t)head << 32 | tail;
}

static int compare(const void *a, const void *b)
{
    const acq_change *x = a, *y = b;
    uint64_t left = key_of(x->head, x->tail), right = key_of(y->head, y->tail);
    return (left > right) - (left < right);
}

void acq_changes_sort(acq_change *changes, size_t n)
{
    if (n > 1)
        qsort(changes, n, sizeof *changes, compare);
}

/* Where the result goes: counted always, filled when there is a frame. */
typedef struct sink {
    acq_links_parts *frame; /* NULL: only count */
    size_t n_heads, n_links;
    acq_ent last_head;
} sink;

static void put(sink *to, acq_ent head, acq_ent tail)
{
    if (to->n_links == 0 || to->last_head != head) {
        if (to->frame != NULL) {
            to->frame->heads[to->n_heads] = head;
            to->frame->offsets[to->n_heads] = (uint32_t)to->n_links;
        }
        to->last_head = head;
        to->n_heads++;
    }
    if (to->frame != NULL)
        to->frame->tails[to->n_links] = tail;
    to->n_links++;
}

/* Takes every change that comes before `until`; false when one of them is a removal. */
static bool put_additions(const acq_change *changes, size_t n, size_t *i, uint64_t until, sink *to)
{
    for (; *i < n && key_of(changes[*i].head, changes[*i].tail) < until; ++*i) {
        if (!changes[*i].is_added)
            return false;
        put(to, changes[*i].head, changes[*i].tail);
    }
    return true;
}

/* False when a change does not fit the links. */
static bool merge(const acq_links *base, const acq_change *changes, size_t n, sink *to)
{
    size_t i = 0;
    for (uint32_t row = 0; row < base->n_heads; row++) {
        acq_ent head = base->heads[row];
        for (uint32_t j = base->offsets[row]; j < base->offsets[row + 1]; j++) {
            uint64_t key = key_of(head, base->tails[j]);
            if (!put_additions(changes, n, &i, key, to))
                return false;
            if (i == n || key_of(changes[i].head, changes[i].tail) != key)
                put(to, head, base->tails[j]);
            else if (changes[i++].is_added)
                return false;
        }
    }
    return put_additions(changes, n, &i, UINT64_MAX, to);
}

acq_status acq_links_merge(const acq_links *base, const acq_change *changes, size_t n,
                           acq_links **out)
{
    sink counted = {0};
    acq_links_parts frame;
    if (!merge(base, changes, n, &counted))
        return ACQ_ERR_INPUT;
    acq_status status =
        acq_links_parts_new(&frame, counted.n_heads, counted.n_links, base->n_entities, false);
    if (status != ACQ_OK)
        return status;
    sink filled = {.frame = &frame};
    merge(base, changes, n, &filled);
    frame.offsets[filled.n_heads] = (uint32_t)filled.n_links;
    acq_links_seal(&frame);
    *out = frame.links;
    return ACQ_OK;
}
