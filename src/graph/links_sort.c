/* links_sort.c - sort links by (head, tail) without comparing: LSD radix passes.
 *
 * Each id is cut into as few digits as its bits need; digits are short for small inputs so
 * that clearing the histogram does not dominate. A pass whose items share one digit is
 * skipped, sorted input costs one look, and a few links are sorted by insertion. */
#include "graph/links_make.h"

#include <string.h>

enum { FEW = 32, MANY = 4096, SHORT_DIGIT = 8, LONG_DIGIT = 11, LONG_BINS = 1 << LONG_DIGIT };

static uint64_t key_of(const acq_link *link)
{
    return (uint64_t)link->head << 32 | link->tail;
}

static bool is_sorted(const acq_link *links, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (key_of(&links[i - 1]) > key_of(&links[i]))
            return false;
    }
    return true;
}

static void insertion_sort(acq_link *links, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        acq_link moved = links[i];
        size_t j = i;
        for (; j > 0 && key_of(&links[j - 1]) > key_of(&moved); j--)
            links[j] = links[j - 1];
        links[j] = moved;
    }
}

/* One stable pass by `bits` bits of the key from `shift`; false when all items agree there. */
static bool pass(const acq_link *from, acq_link *to, size_t n, unsigned shift, unsigned bits)
{
    size_t starts[LONG_BINS];
    size_t n_bins = (size_t)1 << bits;
    uint64_t mask = n_bins - 1;
    memset(starts, 0, n_bins * sizeof *starts);
    for (size_t i = 0; i < n; i++)
        starts[key_of(&from[i]) >> shift & mask]++;
    if (starts[key_of(&from[0]) >> shift & mask] == n)
        return false;
    size_t sum = 0;
    for (size_t b = 0; b < n_bins; b++) {
        size_t count = starts[b];
        starts[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[starts[key_of(&from[i]) >> shift & mask]++] = from[i];
    return true;
}

static unsigned bits_of(uint32_t n_entities)
{
    return n_entities < 2 ? 1 : 32U - (unsigned)__builtin_clz(n_entities - 1);
}

void acq_links_sort(acq_link *links, acq_link *scratch, size_t n, uint32_t n_entities)
{
    if (is_sorted(links, n))
        return;
    if (n <= FEW) {
        insertion_sort(links, n);
        return;
    }
    unsigned used = bits_of(n_entities);
    unsigned digit = n < MANY ? SHORT_DIGIT : LONG_DIGIT;
    unsigned n_digits = (used + digit - 1) / digit;
    unsigned width = (used + n_digits - 1) / n_digits;
    acq_link *from = links, *to = scratch;
    for (unsigned i = 0; i < 2 * n_digits; i++) {
        unsigned shift = (i / n_digits) * 32 + (i % n_digits) * width;
        if (pass(from, to, n, shift, width)) {
            acq_link *swapped = from;
            from = to;
            to = swapped;
        }
    }
    if (from != links)
        memcpy(links, from, n * sizeof *links);
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
