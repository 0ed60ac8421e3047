/* radix.h - sort items by a 64-bit key made of two ids, without comparing: LSD radix passes.
 *
 * A template: define ACQ_RADIX_ITEM and ACQ_RADIX_KEY(item), include this once in a .c file, and
 * call radix_sort. Only the bits that ids use are looked at, cut into equal digits: long ones where
 * there are many items, short ones where clearing the counters would dominate. A pass in which
 * all items agree is skipped, sorted input costs one look, and a few items are sorted by
 * insertion. */
#ifndef ACQ_BASE_RADIX_H
#define ACQ_BASE_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    RADIX_FEW = 32,
    RADIX_MANY = 4096,
    RADIX_SHORT = 8,
    RADIX_LONG = 11,
    RADIX_BINS = 1 << RADIX_LONG
};

static bool radix_is_sorted(const ACQ_RADIX_ITEM *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (ACQ_RADIX_KEY(items[i - 1]) > ACQ_RADIX_KEY(items[i]))
            return false;
    }
    return true;
}

static void radix_sort_few(ACQ_RADIX_ITEM *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        ACQ_RADIX_ITEM moved = items[i];
        size_t j = i;
        for (; j > 0 && ACQ_RADIX_KEY(items[j - 1]) > ACQ_RADIX_KEY(moved); j--)
            items[j] = items[j - 1];
        items[j] = moved;
    }
}

/* One stable pass by `bits` bits of the key from `shift`; false when all items agree there. */
static bool radix_pass(const ACQ_RADIX_ITEM *from, ACQ_RADIX_ITEM *to, size_t n, unsigned shift,
                       unsigned bits)
{
    size_t starts[RADIX_BINS];
    size_t n_bins = (size_t)1 << bits;
    uint64_t mask = n_bins - 1;
    memset(starts, 0, n_bins * sizeof *starts);
    for (size_t i = 0; i < n; i++)
        starts[ACQ_RADIX_KEY(from[i]) >> shift & mask]++;
    if (starts[ACQ_RADIX_KEY(from[0]) >> shift & mask] == n)
        return false;
    size_t sum = 0;
    for (size_t b = 0; b < n_bins; b++) {
        size_t count = starts[b];
        starts[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[starts[ACQ_RADIX_KEY(from[i]) >> shift & mask]++] = from[i];
    return true;
}

/* Stable; scratch has room for n. Each half of the key is below 2^id_bits, id_bits at least 1. */
static void radix_sort(ACQ_RADIX_ITEM *items, ACQ_RADIX_ITEM *scratch, size_t n, unsigned id_bits)
{
    if (radix_is_sorted(items, n))
        return;
    if (n <= RADIX_FEW) {
        radix_sort_few(items, n);
        return;
    }
    unsigned digit = n < RADIX_MANY ? RADIX_SHORT : RADIX_LONG;
    unsigned n_digits = (id_bits + digit - 1) / digit;
    unsigned width = (id_bits + n_digits - 1) / n_digits;
    ACQ_RADIX_ITEM *from = items, *to = scratch;
    for (unsigned i = 0; i < 2 * n_digits; i++) {
        unsigned shift = (i / n_digits) * 32 + (i % n_digits) * width;
        if (radix_pass(from, to, n, shift, width)) {
            ACQ_RADIX_ITEM *swapped = from;
            from = to;
            to = swapped;
        }
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
}

#endif
