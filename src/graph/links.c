/* links.c - sparse rows in one heap block.
 *
 *   block: [ acq_links | bits | ranks | heads | offsets | tails | scores | best ]
 *
 * The bitmap is kept when n_entities / 8 bytes are at most twice those of heads and tails.
 * Making costs O(n) per radix pass plus one pass to fill the rows; checking every invariant of
 * links.h, after untrusted loads and in tests, O(links + n_entities / 64). Scores lie in (0, 1]: a
 * link that scores 0 is not stored. */
#include "graph/links.h"

#include <string.h>

#include "base/memory.h"

static bool wants_bitmap(size_t n_heads, size_t n_links, uint32_t n_entities)
{
    size_t bytes = (n_heads + n_links) * sizeof(acq_ent);
    return n_heads > 0 && n_entities / 8 <= 2 * bytes;
}

/* Byte sizes and places of the arrays behind the struct; false when they overflow. */
typedef struct layout {
    size_t bits, ranks, heads, offsets, tails, scores, best, end;
} layout;

static layout lay_out(size_t n_heads, size_t n_links, size_t n_words, bool scored)
{
    layout at;
    at.bits = (sizeof(acq_links) + 7) & ~(size_t)7;
    at.ranks = at.bits + n_words * sizeof(uint64_t);
    at.heads = at.ranks + n_words * sizeof(uint32_t);
    at.offsets = at.heads + n_heads * sizeof(acq_ent);
    at.tails = at.offsets + (n_heads + 1) * sizeof(uint32_t);
    at.scores = at.tails + n_links * sizeof(acq_ent);
    at.best = at.scores + (scored ? n_links * sizeof(float) : 0);
    at.end = at.best + (scored ? n_heads * sizeof(float) : 0);
    return at;
}

acq_status acq_links_frame_new(acq_links_frame *frame, size_t n_heads, size_t n_links,
                               uint32_t n_entities, bool scored)
{
    if (n_links >= UINT32_MAX || n_heads > n_links)
        return ACQ_ERR_LIMIT;
    bool bitmap = wants_bitmap(n_heads, n_links, n_entities);
    size_t n_words = bitmap ? ((size_t)n_entities + 63) / 64 : 0;
    layout at = lay_out(n_heads, n_links, n_words, scored);
    char *block = acq_alloc(1, at.end);
    if (block == NULL)
        return ACQ_ERR_MEMORY;
    *frame = (acq_links_frame){
        .links = (acq_links *)(void *)block,
        .heads = (acq_ent *)(void *)(block + at.heads),
        .offsets = (uint32_t *)(void *)(block + at.offsets),
        .tails = (acq_ent *)(void *)(block + at.tails),
        .scores = scored ? (float *)(void *)(block + at.scores) : NULL,
        .best = scored ? (float *)(void *)(block + at.best) : NULL,
        .bits = bitmap ? (uint64_t *)(void *)(block + at.bits) : NULL,
        .ranks = bitmap ? (uint32_t *)(void *)(block + at.ranks) : NULL,
    };
    *frame->links = (acq_links){
        .n_entities = n_entities,
        .n_heads = (uint32_t)n_heads,
        .n_links = (uint32_t)n_links,
        .heads = frame->heads,
        .offsets = frame->offsets,
        .tails = frame->tails,
        .scores = frame->scores,
        .best = frame->best,
        .bits = frame->bits,
        .ranks = frame->ranks,
    };
    return ACQ_OK;
}

static void fill_bitmap(acq_links_frame *frame)
{
    const acq_links *links = frame->links;
    size_t n_words = ((size_t)links->n_entities + 63) / 64;
    memset(frame->bits, 0, n_words * sizeof *frame->bits);
    for (uint32_t i = 0; i < links->n_heads; i++)
        frame->bits[links->heads[i] >> 6] |= 1ULL << (links->heads[i] & 63);
    uint32_t rank = 0;
    for (size_t w = 0; w < n_words; w++) {
        frame->ranks[w] = rank;
        rank += acq_count_bits(frame->bits[w]);
    }
}

static float largest(const float *scores, uint32_t begin, uint32_t end)
{
    float best = scores[begin];
    for (uint32_t i = begin + 1; i < end; i++)
        best = scores[i] > best ? scores[i] : best;
    return best;
}

void acq_links_seal(acq_links_frame *frame)
{
    if (frame->bits != NULL)
        fill_bitmap(frame);
    if (frame->best == NULL)
        return;
    for (uint32_t i = 0; i < frame->links->n_heads; i++)
        frame->best[i] = largest(frame->scores, frame->offsets[i], frame->offsets[i + 1]);
}

static size_t count_heads(const acq_link *links, size_t n)
{
    size_t n_heads = n > 0;
    for (size_t i = 1; i < n; i++)
        n_heads += links[i].head != links[i - 1].head;
    return n_heads;
}

acq_status acq_links_new_sorted(const acq_link *links, size_t n, uint32_t n_entities, bool scored,
                                acq_links **out)
{
    acq_links_frame frame;
    acq_status status = acq_links_frame_new(&frame, count_heads(links, n), n, n_entities, scored);
    if (status != ACQ_OK)
        return status;
    size_t row = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || links[i].head != links[i - 1].head) {
            frame.heads[row] = links[i].head;
            frame.offsets[row++] = (uint32_t)i;
        }
        frame.tails[i] = links[i].tail;
        if (scored)
            frame.scores[i] = links[i].score;
    }
    frame.offsets[row] = (uint32_t)n;
    acq_links_seal(&frame);
    *out = frame.links;
    return ACQ_OK;
}

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

/* Keeps the largest score of each pair; links are sorted. Returns the number left. */
static size_t keep_largest(acq_link *links, size_t n)
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

acq_status acq_links_new(acq_link *links, size_t n, uint32_t n_entities, bool scored,
                         acq_links **out)
{
    acq_link *scratch = acq_alloc(n, sizeof *scratch);
    if (scratch == NULL)
        return ACQ_ERR_MEMORY;
    acq_links_sort(links, scratch, n, n_entities);
    acq_free(scratch);
    return acq_links_new_sorted(links, keep_largest(links, n), n_entities, scored, out);
}

void acq_links_free(acq_links *links)
{
    acq_free(links);
}

static const char *check_frame(const acq_links *links)
{
    if (links->heads == NULL || links->offsets == NULL || links->tails == NULL)
        return "an array is missing";
    if ((links->scores == NULL) != (links->best == NULL))
        return "scores and best scores do not come together";
    if ((links->bits == NULL) != (links->ranks == NULL))
        return "bitmap and ranks do not come together";
    if (links->offsets[0] != 0)
        return "the first row does not start at 0";
    if (links->offsets[links->n_heads] != links->n_links)
        return "the last row does not end at the number of links";
    return NULL;
}

/* The loops over all heads and links count faults and keep no early exit, so that the compiler can
 * look at many at a time. */
static const char *check_heads(const acq_links *links)
{
    uint32_t n_outside = 0, n_unsorted = 0, n_empty = 0, n_beyond = 0;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        n_outside += links->heads[i] >= links->n_entities;
        n_empty += links->offsets[i] >= links->offsets[i + 1];
        n_beyond += links->offsets[i + 1] > links->n_links;
    }
    for (uint32_t i = 1; i < links->n_heads; i++)
        n_unsorted += links->heads[i - 1] >= links->heads[i];
    if (n_outside > 0)
        return "a head is out of range";
    if (n_unsorted > 0)
        return "heads are not sorted";
    if (n_beyond > 0)
        return "an offset is out of range";
    return n_empty > 0 ? "a row is empty or offsets decrease" : NULL;
}

/* Tails may fall where a row begins and nowhere else: so there are as many falls in all as there
 * are at those places. */
static const char *check_tails(const acq_links *links)
{
    uint32_t n_outside = 0, n_falls = 0, n_allowed = 0;
    if (links->n_links > 0)
        n_outside += links->tails[0] >= links->n_entities;
    for (uint32_t i = 1; i < links->n_links; i++) {
        n_outside += links->tails[i] >= links->n_entities;
        n_falls += links->tails[i - 1] >= links->tails[i];
    }
    for (uint32_t row = 1; row < links->n_heads; row++) {
        uint32_t begin = links->offsets[row];
        n_allowed += links->tails[begin - 1] >= links->tails[begin];
    }
    if (n_outside > 0)
        return "a tail is out of range";
    return n_falls == n_allowed ? NULL : "the tails of a row are not sorted";
}

static const char *check_scores(const acq_links *links, uint32_t row)
{
    float best = 0.0F;
    for (uint32_t i = links->offsets[row]; i < links->offsets[row + 1]; i++) {
        float score = links->scores[i];
        if (!(score > 0.0F && score <= 1.0F))
            return "a score is not in (0, 1]";
        best = score > best ? score : best;
    }
    return best == links->best[row] ? NULL : "a best score is not the largest of its row";
}

static const char *check_bitmap(const acq_links *links)
{
    size_t n_words = ((size_t)links->n_entities + 63) / 64;
    uint32_t rank = 0;
    for (size_t w = 0; w < n_words; w++) {
        if (links->ranks[w] != rank)
            return "a rank does not count the heads before it";
        rank += acq_count_bits(links->bits[w]);
    }
    if (rank != links->n_heads)
        return "the bitmap does not hold as many bits as there are heads";
    for (uint32_t i = 0; i < links->n_heads; i++) {
        if ((links->bits[links->heads[i] >> 6] >> (links->heads[i] & 63) & 1) == 0)
            return "a head is missing in the bitmap";
    }
    return NULL;
}

static const char *check(const acq_links *links)
{
    const char *reason = check_frame(links);
    if (reason == NULL)
        reason = check_heads(links);
    if (reason == NULL)
        reason = check_tails(links);
    for (uint32_t row = 0; reason == NULL && links->scores != NULL && row < links->n_heads; row++)
        reason = check_scores(links, row);
    if (reason == NULL && links->bits != NULL)
        reason = check_bitmap(links);
    return reason;
}

bool acq_links_check(const acq_links *links, const char **reason)
{
    const char *found = check(links);
    if (found != NULL && reason != NULL)
        *reason = found;
    return found == NULL;
}
