/* completion_merge.c - stored rows and observed rows, both sorted, become one set of rows.
 * One pass in (head, tail) order; O(stored + observed) time and memory. */
#include "predict/completion_merge.h"

#include "base/memory.h"
#include "base/random.h"
#include "graph/build.h"
#include "graph/links_make.h"
#include "predict/quantise.h"

acq_completion_block acq_completion_view_block(const void *bytes, const acq_completion_entry *entry,
                                               uint32_t n_entities)
{
    const uint32_t *words = bytes;
    const uint32_t *offsets = words + entry->n_heads;
    const uint32_t *tails = offsets + entry->n_heads + 1;
    return (acq_completion_block){.rows = {.n_entities = n_entities,
                                           .n_heads = entry->n_heads,
                                           .n_links = entry->n_links,
                                           .heads = words,
                                           .offsets = offsets,
                                           .tails = tails},
                                  .codes = (const uint16_t *)(tails + entry->n_links)};
}

const char *acq_completion_check_block(const acq_completion_block *block)
{
    const char *reason = NULL;
    if (!acq_links_check(&block->rows, &reason))
        return reason;
    for (uint32_t i = 0; i < block->rows.n_links; i++) {
        if (block->codes[i] == 0)
            return "a score is not in (0, 1]";
    }
    return NULL;
}

uint64_t acq_completion_hash_block(const acq_completion_block *block, bool inverse)
{
    const acq_links *rows = &block->rows;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rows->n_heads; i++) {
        for (uint32_t j = rows->offsets[i]; j < rows->offsets[i + 1]; j++) {
            uint64_t head = inverse ? rows->tails[j] : rows->heads[i];
            uint64_t tail = inverse ? rows->heads[i] : rows->tails[j];
            sum += acq_random_mix((head << 32 | tail) + block->codes[j] * 0x9fb21c651e98df25ULL);
        }
    }
    return sum;
}

/* Walks the links of some rows in (head, tail) order. */
typedef struct cursor {
    const acq_links *rows;
    uint32_t row, link;
} cursor;

static uint64_t key_at(const cursor *c)
{
    if (c->row == c->rows->n_heads)
        return UINT64_MAX;
    return (uint64_t)c->rows->heads[c->row] << 32 | c->rows->tails[c->link];
}

static void advance(cursor *c)
{
    if (++c->link == c->rows->offsets[c->row + 1])
        c->row++;
}

static float stored_score(uint16_t code, const float *decode, bool certain)
{
    bool lowered = code == ACQ_CODE_CERTAIN && !certain;
    return lowered ? ACQ_SCORE_UNOBSERVED_MOST : decode[code];
}

/* Writes the union to `out`; *scored tells whether any link scores less than 1. */
static size_t merge_links(const acq_completion_block *block, const acq_links *observed,
                          const float *decode, bool certain, acq_link *out, bool *scored)
{
    cursor stored = {.rows = &block->rows}, facts = {.rows = observed};
    size_t n = 0;
    for (;;) {
        uint64_t a = key_at(&stored), b = key_at(&facts);
        uint64_t key = a < b ? a : b;
        if (key == UINT64_MAX)
            return n;
        float score = b == key ? 1.0F : stored_score(block->codes[stored.link], decode, certain);
        out[n++] = (acq_link){(acq_ent)(key >> 32), (acq_ent)key, score};
        *scored = *scored || score < 1.0F;
        if (a == key)
            advance(&stored);
        if (b == key)
            advance(&facts);
    }
}

acq_status acq_completion_merge(const acq_completion_block *block, const acq_links *observed,
                                const float *decode, bool certain, acq_links **out)
{
    size_t room = (size_t)block->rows.n_links + observed->n_links;
    acq_link *links = acq_alloc(room, sizeof *links);
    if (links == NULL)
        return ACQ_ERR_MEMORY;
    bool scored = false;
    size_t n = merge_links(block, observed, decode, certain, links, &scored);
    acq_status status = acq_links_new_sorted(links, n, observed->n_entities, scored, out);
    acq_free(links);
    return status;
}
