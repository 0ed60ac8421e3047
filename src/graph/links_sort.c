/* links_sort.c - links sorted by (head, tail), and each pair once. */
#include "graph/links_make.h"

static uint64_t key_of(const acq_link *link)
{
    return (uint64_t)link->head << 32 | link->tail;
}

#define ACQ_RADIX_ITEM      acq_link
#define ACQ_RADIX_KEY(link) key_of(&(link))
#include "base/radix.h"

static unsigned bits_of(uint32_t n_entities)
{
    return n_entities < 2 ? 1 : 32U - (unsigned)__builtin_clz(n_entities - 1);
}

void acq_links_sort(acq_link *links, acq_link *scratch, size_t n, uint32_t n_entities)
{
    radix_sort(links, scratch, n, bits_of(n_entities));
}

size_t acq_links_unique(acq_link *links, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && key_of(&links[kept - 1]) == key_of(&links[i])) {
            if (links[i].score > links[kept - 1].score)
                links[kept - 1].score = links[i].score;
            continue;
        }
        links[kept++] = links[i];
    }
    return kept;
}
