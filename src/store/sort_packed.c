/* sort_packed.c - LSD radix sort of packed links, and what follows a sort.
 *
 * Only the bits that ids use are looked at, cut into equal digits: long ones where there are many
 * links, short ones where clearing the counters would dominate. A pass in which all links agree
 * is skipped, sorted input costs one look, and a few links are sorted by insertion. */
#include "store/sort_packed.h"

#include <string.h>

enum { FEW = 32, MANY = 4096, SHORT_DIGIT = 8, LONG_DIGIT = 11, MOST_BINS = 1 << LONG_DIGIT };

static bool is_sorted(const acq_packed *links, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (links[i - 1] > links[i])
            return false;
    }
    return true;
}

static void insertion_sort(acq_packed *links, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        acq_packed moved = links[i];
        size_t j = i;
        for (; j > 0 && links[j - 1] > moved; j--)
            links[j] = links[j - 1];
        links[j] = moved;
    }
}

/* One stable pass by `bits` bits from `shift`; false when all links agree there. */
static bool pass(const acq_packed *from, acq_packed *to, size_t n, unsigned shift, unsigned bits)
{
    size_t starts[MOST_BINS];
    size_t n_bins = (size_t)1 << bits;
    uint64_t mask = n_bins - 1;
    memset(starts, 0, n_bins * sizeof *starts);
    for (size_t i = 0; i < n; i++)
        starts[from[i] >> shift & mask]++;
    if (starts[from[0] >> shift & mask] == n)
        return false;
    size_t sum = 0;
    for (size_t b = 0; b < n_bins; b++) {
        size_t count = starts[b];
        starts[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[starts[from[i] >> shift & mask]++] = from[i];
    return true;
}

void acq_packed_sort(acq_packed *links, acq_packed *scratch, size_t n, unsigned id_bits)
{
    if (is_sorted(links, n))
        return;
    if (n <= FEW) {
        insertion_sort(links, n);
        return;
    }
    unsigned digit = n < MANY ? SHORT_DIGIT : LONG_DIGIT;
    unsigned n_digits = (id_bits + digit - 1) / digit;
    unsigned width = (id_bits + n_digits - 1) / n_digits;
    acq_packed *from = links, *to = scratch;
    for (unsigned i = 0; i < 2 * n_digits; i++) {
        unsigned shift = (i / n_digits) * 32 + (i % n_digits) * width;
        if (pass(from, to, n, shift, width)) {
            acq_packed *swapped = from;
            from = to;
            to = swapped;
        }
    }
    if (from != links)
        memcpy(links, from, n * sizeof *links);
}

size_t acq_packed_unique(acq_packed *links, size_t n)
{
    size_t kept = n > 0;
    for (size_t i = 1; i < n; i++) {
        if (links[i] != links[kept - 1])
            links[kept++] = links[i];
    }
    return kept;
}

size_t acq_packed_unite(const acq_packed *a, size_t n_a, const acq_packed *b, size_t n_b,
                        acq_packed *out)
{
    size_t n = 0, i = 0, j = 0;
    while (i < n_a && j < n_b) {
        acq_packed least = a[i] < b[j] ? a[i] : b[j];
        i += a[i] == least;
        j += b[j] == least;
        out[n++] = least;
    }
    if (i < n_a)
        memcpy(out + n, a + i, (n_a - i) * sizeof *out);
    n += n_a - i;
    if (j < n_b)
        memcpy(out + n, b + j, (n_b - j) * sizeof *out);
    return n + n_b - j;
}
