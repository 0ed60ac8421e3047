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

#include "base/search.h"
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
    uint32_t i;
    ACQ_SEARCH(i, 0, links->n_heads, links->heads[i] < head);
    return i < links->n_heads && links->heads[i] == head ? i : ACQ_NO_ID;
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
    size_t i;
    ACQ_SEARCH(i, 0, row.n, row.tails[i] < tail);
    return i < row.n && row.tails[i] == tail ? i : row.n;
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

/* A link before it joins the rows: the general maker of acq_links takes a bag of them. */
typedef struct acq_link {
    acq_ent head;
    acq_ent tail;
    float score;
} acq_link;

/* Sorts `links` in place (by head, tail; a duplicate pair keeps its largest score) and builds
 * rows in one heap block, freed with acq_links_free. scored false: scores are taken as 1. */
acq_status acq_links_new(acq_link *links, size_t n, uint32_t n_entities, bool scored,
                         acq_links **out);
void acq_links_free(acq_links *links);

/* Checks every invariant of links.h; on failure *reason says which. Used after untrusted loads. */
bool acq_links_check(const acq_links *links, const char **reason);

/* The steps of acq_links_new one by one, for modules that store links. */

/* Stable sort by (head, tail); scratch has room for n. O(n) passes over the used bits. */
void acq_links_sort(acq_link *links, acq_link *scratch, size_t n, uint32_t n_entities);

/* Rows of sorted, distinct links in one heap block. */
acq_status acq_links_new_sorted(const acq_link *links, size_t n, uint32_t n_entities, bool scored,
                                acq_links **out);

/* An empty frame for rows that the caller fills in: the arrays are writable through `frame`.
 * Set heads, offsets, tails and scores, then call acq_links_seal for best and the bitmap. */
typedef struct acq_links_frame {
    acq_links *links;
    acq_ent *heads;
    uint32_t *offsets;
    acq_ent *tails;
    float *scores;
    float *best;
    uint64_t *bits;
    uint32_t *ranks;
} acq_links_frame;

acq_status acq_links_frame_new(acq_links_frame *frame, size_t n_heads, size_t n_links,
                               uint32_t n_entities, bool scored);
void acq_links_seal(acq_links_frame *frame);

#endif
