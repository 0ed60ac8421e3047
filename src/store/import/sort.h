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
#include "store/import/sort_packed.h"

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
    const acq_packed *links; /* until the next call */
    size_t n;                /* 0: there are no more links */
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

#endif
