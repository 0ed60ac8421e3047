/* links_check.c - every invariant of links.h, checked after untrusted loads and in tests.
 * O(links + n_entities / 64). Scores lie in (0, 1]: a link that scores 0 is not stored. */
#include "graph/build.h"

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
