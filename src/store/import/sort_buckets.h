/* sort_buckets.h - facts grouped by the relation they were given with, and sorted in each group.
 *
 * Group r holds the facts given with relation r, all turned to the even direction, so that the
 * groups 2k and 2k+1 of a pair can be compared. */
#ifndef ACQ_STORE_IMPORT_SORT_BUCKETS_H
#define ACQ_STORE_IMPORT_SORT_BUCKETS_H

#include "graph/build.h"
#include "store/import/sort_packed.h"

typedef struct acq_buckets {
    acq_packed *links;
    acq_packed *scratch; /* as long as links; borrowed */
    size_t capacity;     /* of links */
    size_t *starts;      /* n_groups + 1 */
    size_t *kept;        /* distinct links at the start of each group, once it is sorted */
    size_t n_groups;     /* even */
    unsigned id_bits;    /* every entity is below 2^id_bits */
} acq_buckets;

/* Empties the buckets and fills them again; the facts' own memory becomes the scratch. Relations
 * are below n_groups. ACQ_ERR_MEMORY. */
acq_status acq_buckets_fill(acq_buckets *buckets, acq_triple *facts, size_t n, size_t n_groups);
void acq_buckets_deinit(acq_buckets *buckets);

/* Different groups may be sorted at the same time. Returns the number of links dropped. */
size_t acq_buckets_sort(acq_buckets *buckets, size_t group);

#endif
