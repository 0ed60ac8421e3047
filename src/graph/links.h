/* links.h - all links of one relation in one direction, as sparse sorted rows.
 *
 *   heads    [ 3 | 7 | 9 ]              sorted, only heads that have a link
 *   offsets  [ 0 | 2 | 3 | 6 ]          row i is tails[offsets[i] .. offsets[i+1])
 *   tails    [ 1 4 | 2 | 0 5 8 ]        sorted within a row
 *   scores   [ 1 .7| 1 | ... ]          parallel to tails; NULL: every link scores 1
 *   best     [ 1 | 1 | .9 ]             largest score of each row; NULL with scores
 *
 * The other direction of relation r is the acq_links of inverse(r). Finding a row costs
 * O(1) by a rank bitmap where the relation is dense enough to pay for one, else a binary
 * search over heads; nothing here is proportional to the number of entities except that
 * bitmap (n_entities / 8 bytes, kept only while it is smaller than the links themselves). */
#ifndef ACQ_GRAPH_LINKS_H
#define ACQ_GRAPH_LINKS_H

#include "base/types.h"

typedef struct acq_row {
    const acq_ent *tails;
    const float *scores; /* NULL: all 1 */
    size_t n;
} acq_row;

typedef struct acq_links {
    uint32_t n_entities; /* ids are below this */
    uint32_t n_heads;
    uint32_t n_links;
    const acq_ent *heads;
    const uint32_t *offsets; /* n_heads + 1 */
    const acq_ent *tails;
    const float *scores;
    const float *best;
    const uint64_t *bits;  /* bit h set: h is a head; NULL: no bitmap */
    const uint32_t *ranks; /* heads before word w of bits */
} acq_links;

/* Bits set in a word. Inline: without a compiler flag for newer CPUs the builtin is a call. */
static inline uint32_t acq_count_bits(uint64_t word)
{
    word -= (word >> 1) & 0x5555555555555555ULL;
    word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
    return (uint32_t)((word * 0x0101010101010101ULL) >> 56);
}

/* Row number of `head`, or ACQ_NO_ID. */
static inline uint32_t acq_links_find(const acq_links *links, acq_ent head)
{
    if (links->bits != NULL) {
        uint64_t word = links->bits[head >> 6];
        uint64_t bit = 1ULL << (head & 63);
        if ((word & bit) == 0)
            return ACQ_NO_ID;
        return links->ranks[head >> 6] + acq_count_bits(word & (bit - 1));
    }
    uint32_t low = 0, high = links->n_heads;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (links->heads[middle] < head)
            low = middle + 1;
        else
            high = middle;
    }
    return low < links->n_heads && links->heads[low] == head ? low : ACQ_NO_ID;
}

static inline acq_row acq_links_get_row_at(const acq_links *links, uint32_t i)
{
    uint32_t begin = links->offsets[i];
    return (acq_row){.tails = links->tails + begin,
                     .scores = links->scores == NULL ? NULL : links->scores + begin,
                     .n = links->offsets[i + 1] - begin};
}

static inline acq_row acq_links_get_row(const acq_links *links, acq_ent head)
{
    uint32_t i = acq_links_find(links, head);
    return i == ACQ_NO_ID ? (acq_row){0} : acq_links_get_row_at(links, i);
}

/* Position of `tail` in a row, or row.n. O(log n). */
static inline size_t acq_row_find(acq_row row, acq_ent tail)
{
    size_t low = 0, high = row.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (row.tails[middle] < tail)
            low = middle + 1;
        else
            high = middle;
    }
    return low < row.n && row.tails[low] == tail ? low : row.n;
}

/* Score of a link: 0 when it is not there. */
static inline float acq_links_get_score(const acq_links *links, acq_ent head, acq_ent tail)
{
    acq_row row = acq_links_get_row(links, head);
    size_t i = acq_row_find(row, tail);
    if (i == row.n)
        return 0.0F;
    return row.scores == NULL ? 1.0F : row.scores[i];
}

#endif
