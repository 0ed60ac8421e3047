/* links.c - sparse rows in one heap block.
 *
 *   block: [ acq_links | bits | ranks | heads | offsets | tails | scores | best ]
 *
 * The bitmap is kept when n_entities / 8 bytes are at most twice those of heads and tails.
 * Making costs O(n) per radix pass (links_sort.c) plus one pass to fill the rows. */
#include "graph/links_make.h"

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

acq_status acq_links_parts_new(acq_links_parts *parts, size_t n_heads, size_t n_links,
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
    *parts = (acq_links_parts){
        .links = (acq_links *)(void *)block,
        .heads = (acq_ent *)(void *)(block + at.heads),
        .offsets = (uint32_t *)(void *)(block + at.offsets),
        .tails = (acq_ent *)(void *)(block + at.tails),
        .scores = scored ? (float *)(void *)(block + at.scores) : NULL,
        .best = scored ? (float *)(void *)(block + at.best) : NULL,
        .bits = bitmap ? (uint64_t *)(void *)(block + at.bits) : NULL,
        .ranks = bitmap ? (uint32_t *)(void *)(block + at.ranks) : NULL,
    };
    *parts->links = (acq_links){
        .n_entities = n_entities,
        .n_heads = (uint32_t)n_heads,
        .n_links = (uint32_t)n_links,
        .heads = parts->heads,
        .offsets = parts->offsets,
        .tails = parts->tails,
        .scores = parts->scores,
        .best = parts->best,
        .bits = parts->bits,
        .ranks = parts->ranks,
    };
    return ACQ_OK;
}

static void fill_bitmap(acq_links_parts *parts)
{
    const acq_links *links = parts->links;
    size_t n_words = ((size_t)links->n_entities + 63) / 64;
    memset(parts->bits, 0, n_words * sizeof *parts->bits);
    for (uint32_t i = 0; i < links->n_heads; i++)
        parts->bits[links->heads[i] >> 6] |= 1ULL << (links->heads[i] & 63);
    uint32_t rank = 0;
    for (size_t w = 0; w < n_words; w++) {
        parts->ranks[w] = rank;
        rank += acq_count_bits(parts->bits[w]);
    }
}

static float largest(const float *scores, uint32_t begin, uint32_t end)
{
    float best = scores[begin];
    for (uint32_t i = begin + 1; i < end; i++)
        best = scores[i] > best ? scores[i] : best;
    return best;
}

void acq_links_seal(acq_links_parts *parts)
{
    if (parts->bits != NULL)
        fill_bitmap(parts);
    if (parts->best == NULL)
        return;
    for (uint32_t i = 0; i < parts->links->n_heads; i++)
        parts->best[i] = largest(parts->scores, parts->offsets[i], parts->offsets[i + 1]);
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
    acq_links_parts parts;
    acq_status status = acq_links_parts_new(&parts, count_heads(links, n), n, n_entities, scored);
    if (status != ACQ_OK)
        return status;
    size_t row = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || links[i].head != links[i - 1].head) {
            parts.heads[row] = links[i].head;
            parts.offsets[row++] = (uint32_t)i;
        }
        parts.tails[i] = links[i].tail;
        if (scored)
            parts.scores[i] = links[i].score;
    }
    parts.offsets[row] = (uint32_t)n;
    acq_links_seal(&parts);
    *out = parts.links;
    return ACQ_OK;
}

acq_status acq_links_new(acq_link *links, size_t n, uint32_t n_entities, bool scored,
                         acq_links **out)
{
    acq_link *scratch = acq_alloc(n, sizeof *scratch);
    if (scratch == NULL)
        return ACQ_ERR_MEMORY;
    acq_links_sort(links, scratch, n, n_entities);
    acq_free(scratch);
    return acq_links_new_sorted(links, acq_links_unique(links, n), n_entities, scored, out);
}

void acq_links_free(acq_links *links)
{
    acq_free(links);
}
