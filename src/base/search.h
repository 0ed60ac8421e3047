/* search.h - binary search in sorted arrays: the only one of the project.
 *
 * A macro, because arrays of ids, of structs, of bit patterns and of list nodes are all searched
 * and a call through a comparison costs more than the search. O(log n) evaluations of `is_before`.
 */
#ifndef ACQ_BASE_SEARCH_H
#define ACQ_BASE_SEARCH_H

#include <stdint.h>

/* Sets `at`, a number or a pointer of the caller, to the first place in [first, end) where
 * `is_before`, an expression of `at`, is false; to `end` where there is none. Every place with a
 * true `is_before` lies before every other; where end < first, `at` becomes `first`. */
#define ACQ_SEARCH(at, first, end, is_before)                                                      \
    do {                                                                                           \
        __typeof__(at) search_low_ = (first), search_high_ = (end);                                \
        while (search_low_ < search_high_) {                                                       \
            (at) = search_low_ + (search_high_ - search_low_) / 2;                                 \
            if (is_before)                                                                         \
                search_low_ = (at) + 1;                                                            \
            else                                                                                   \
                search_high_ = (at);                                                               \
        }                                                                                          \
        (at) = search_low_;                                                                        \
    } while (0)

/* The last i with values[i] <= wanted, in ascending values; 0 where there is none. */
static inline uint32_t acq_search_last(const uint32_t *values, uint32_t n, uint32_t wanted)
{
    uint32_t i;
    ACQ_SEARCH(i, 1, n, values[i] <= wanted);
    return i - 1;
}

#endif
