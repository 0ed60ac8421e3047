/* sort.h - facts in any order to links in order of relation, head, tail, each once.
 *
 *   add ─▶ buffer ──fits──▶ buckets by relation ─▶ radix sort ─────────────▶ next
 *            └──full──▶ buckets, sorted ─▶ a run on disk ─▶ merge of all runs ─▶ next
 *
 * Both directions of a relation come out, first the even one. A fact may be given in either
 * direction or both. Time is linear in the facts while they fit, then grows with the logarithm of
 * the number of runs; memory is what the caller allows, at 28 bytes for each buffered fact. */
#ifndef ACQ_STORE_IMPORT_SORT_H
#define ACQ_STORE_IMPORT_SORT_H

#include "graph/build.h"

/* Links as single words, head in the upper half, so that comparing words compares (head, tail): two
 * thirds of the memory of an acq_link, and sorted without its score. */
typedef uint64_t acq_fact_key;

static inline acq_fact_key acq_fact_key_make(acq_ent head, acq_ent tail)
{
    return (acq_fact_key)head << 32 | tail;
}

static inline acq_ent acq_fact_key_head(acq_fact_key link)
{
    return (acq_ent)(link >> 32);
}

static inline acq_ent acq_fact_key_tail(acq_fact_key link)
{
    return (acq_ent)link;
}

/* The same link, seen from its tail. */
static inline acq_fact_key acq_fact_key_turn(acq_fact_key link)
{
    return link << 32 | link >> 32;
}

/* Ascending; scratch has room for n. Every id is below 2^id_bits. O(n) passes over the used bits.
 */
void acq_fact_key_sort(acq_fact_key *links, acq_fact_key *scratch, size_t n, unsigned id_bits);

/* Leaves each of the sorted links once; returns how many are left. */
size_t acq_fact_key_unique(acq_fact_key *links, size_t n);

/* Both inputs are sorted and distinct, and so is the union in `out`; returns its size. */
size_t acq_fact_key_unite(const acq_fact_key *a, size_t n_a, const acq_fact_key *b, size_t n_b,
                          acq_fact_key *out);

typedef struct acq_sorter acq_sorter;

typedef struct acq_sort_params {
    const char *folder;  /* for runs; kept by the caller */
    size_t memory_bytes; /* a few facts fit, whatever it says, and more as runs add up */
    unsigned threads;    /* 0 counts as 1 */
} acq_sort_params;

acq_sorter *acq_sorter_new(const acq_sort_params *params); /* NULL: out of memory */
void acq_sorter_free(acq_sorter *sorter);

/* Others need more: from now on the facts get `bytes`. */
void acq_sorter_set_memory(acq_sorter *sorter, size_t bytes);

acq_status acq_sorter_add(acq_sorter *sorter, const acq_triple *facts, size_t n, acq_error *error);

/* There are no more facts: next may be called. */
acq_status acq_sorter_finish(acq_sorter *sorter, acq_error *error);

/* Some links of one direction of a relation; the pieces of a direction follow each other. */
typedef struct acq_sorted {
    acq_rel relation;
    const acq_fact_key *links; /* until the next call */
    size_t n;                  /* 0: there are no more links */
} acq_sorted;

acq_status acq_sorter_next(acq_sorter *sorter, acq_sorted *out, acq_error *error);

/* The first two are complete when there are no more links. */
typedef struct acq_sort_counts {
    uint64_t duplicates; /* facts that were given before, in the same direction */
    uint64_t one_way;    /* facts that were given in one direction only */
    uint64_t given;      /* to acq_sorter_add */
    uint64_t runs;       /* 0: all facts fitted */
} acq_sort_counts;

void acq_sorter_get_counts(const acq_sorter *sorter, acq_sort_counts *out);

/* ---- sort runs ----
 *
 * Sorted runs of links in a temporary file, and the merge of all of them.
 *
 *   file   [ run | run | run | ... ]                 no name: gone with its descriptor
 *   run    [ relation pair, n, n links | ... ]       pairs ascending, links ascending in each
 *
 * A run also has a direction, the one in which its facts were given, so that the merge can tell
 * a fact that was given both ways. One pass merges any number of runs: each has a buffer, and
 * all buffers together stay within the memory given, down to one page each. */

typedef struct acq_runs acq_runs;

/* The file lies in `folder`, which the caller keeps; it is made when the first run starts. NULL:
 * out of memory. */
acq_runs *acq_runs_new(const char *folder);
void acq_runs_free(acq_runs *runs);

size_t acq_runs_get_n(const acq_runs *runs);

/* A run, written from start to end. The links of one put are sorted and distinct; a pair may come
 * in several puts that go on where the last one ended. */
acq_status acq_runs_start(acq_runs *runs, unsigned direction, acq_error *error);
acq_status acq_runs_put(acq_runs *runs, uint32_t pair, const acq_fact_key *links, size_t n,
                        acq_error *error);
acq_status acq_runs_end(acq_runs *runs, acq_error *error);

/* A distinct link and the number of runs of each direction that hold it. */
typedef struct acq_run_item {
    acq_fact_key link;
    uint32_t pair;
    uint32_t given[2];
} acq_run_item;

acq_status acq_runs_merge(acq_runs *runs, size_t memory_bytes, acq_error *error);

/* The next item by (pair, link); *found is false behind the last. */
acq_status acq_runs_next(acq_runs *runs, acq_run_item *out, bool *found, acq_error *error);

/* Forgets all runs and keeps the file for new ones. */
void acq_runs_clear(acq_runs *runs);

/* ---- merging ---- */

/* Links in order from runs on disk. The runs are merged in the even direction; meanwhile the links
 * of a pair are turned around and collected; when the pair ends they are sorted and handed out,
 * from memory if they fit, else from runs of their own. */
typedef struct acq_merge_order acq_merge_order;

typedef struct acq_merge_params {
    acq_runs *runs; /* written; the caller's */
    const char *folder;
    size_t memory_bytes;
    unsigned id_bits;
    acq_sort_counts *counts; /* added to; the caller's */
} acq_merge_params;

acq_status acq_merge_order_new(const acq_merge_params *params, acq_merge_order **out,
                               acq_error *error);
void acq_merge_order_free(acq_merge_order *order);

acq_status acq_merge_order_next(acq_merge_order *order, acq_sorted *out, acq_error *error);

#endif
