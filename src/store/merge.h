/* merge.h - links with a few facts added and removed. */
#ifndef ACQ_STORE_MERGE_H
#define ACQ_STORE_MERGE_H

#include "graph/links.h"

typedef struct acq_change {
    acq_ent head, tail;
    bool is_added;
} acq_change;

/* By head, then tail. */
void acq_changes_sort(acq_change *changes, size_t n);

/* New links; changes are sorted, their ids in range. ACQ_ERR_INPUT when an addition is there
 * already or a removal is not, ACQ_ERR_MEMORY, ACQ_ERR_LIMIT. O(links + n). */
acq_status acq_links_merge(const acq_links *base, const acq_change *changes, size_t n,
                           acq_links **out);

#endif
