/* sort_packed.c - packed links sorted, and what follows a sort. */
#include "store/import/sort_packed.h"

#define ACQ_RADIX_ITEM      acq_packed
#define ACQ_RADIX_KEY(link) (link)
#include "base/radix.h"

void acq_packed_sort(acq_packed *links, acq_packed *scratch, size_t n, unsigned id_bits)
{
    radix_sort(links, scratch, n, id_bits);
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
