/* sets.h - sorted sets of entities against rows of links, at a cutoff.
 *
 * Sizes differ by orders of magnitude in practice, so each operation walks the smaller side and
 * gallops through the larger one. `out` may be `set` itself. All return the size of the result. */
#ifndef ACQ_SEARCH_EXACT_SETS_H
#define ACQ_SEARCH_EXACT_SETS_H

#include "graph/links.h"
#include "search/exact/cutoff.h"

/* First index at or behind `from` with values[index] >= wanted, or n. O(log of the distance). */
uint32_t acq_exact_seek(const acq_ent *values, uint32_t from, uint32_t n, acq_ent wanted);

/* Is a so much longer than b that seeking in it beats walking along it? */
#ifndef ACQ_EXACT_FAR
#define ACQ_EXACT_FAR 8
#endif
static inline bool acq_exact_is_far_longer(size_t a, size_t b)
{
    return a / ACQ_EXACT_FAR > b;
}

/* Members with a positive literal: set & row. out: min(n, row.n). */
uint32_t acq_exact_keep_row(const acq_ent *set, uint32_t n, acq_row row, const cutoff *cut,
                            acq_ent *out);

/* Members without a link that makes the negated literal false: set \ row. out: n. */
uint32_t acq_exact_drop_row(const acq_ent *set, uint32_t n, acq_row row, const cutoff *cut,
                            acq_ent *out);

/* Tails of a row whose score makes the positive literal true. out: row.n. */
uint32_t acq_exact_copy_row(acq_row row, const cutoff *cut, acq_ent *out);

/* Union of two sets. out: n + m, distinct from both. */
uint32_t acq_exact_unite(const acq_ent *a, uint32_t n, const acq_ent *b, uint32_t m, acq_ent *out);

/* Ascending order; scratch has room for n. O(n) per byte of the largest value. */
void acq_exact_sort(acq_ent *set, acq_ent *scratch, uint32_t n);

#endif
