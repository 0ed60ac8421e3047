/* threads.h - run one function over items 0..n-1 on several threads; and work that several
 * processes share.
 *
 * Items are handed out one at a time; results must go to per-item places, so the output
 * does not depend on the number of threads. acq_threads_run starts threads and joins them. A pool
 * keeps its threads between runs, for steps of a tenth of a millisecond, in which starting a
 * thread would cost more than it saves; one run at a time. */
#ifndef ACQ_BASE_THREADS_H
#define ACQ_BASE_THREADS_H

#include "base/types.h"

/* thread counts from 0; a status other than ACQ_OK stops the handing out of items. */
typedef acq_status (*acq_work_fn)(void *context, size_t item, unsigned thread);

/* Returns the status of the lowest failed item. n_threads 0 counts as 1; the calling
 * thread is thread 0, and if others cannot be started it does their share. */
acq_status acq_threads_run(unsigned n_threads, size_t n_items, acq_work_fn work, void *context);

unsigned acq_threads_available(void);

typedef struct acq_pool acq_pool;

/* n_threads with the caller's; 0 counts as 1. Threads that cannot be started are done without. */
acq_status acq_pool_new(unsigned n_threads, acq_pool **out, acq_error *error);
void acq_pool_free(acq_pool *pool); /* NULL is legal */

/* Returns the status of the lowest failed item. The calling thread is thread 0. */
acq_status acq_pool_run(acq_pool *pool, size_t n_items, acq_work_fn work, void *context);

/* ---- ranks ----
 *
 * Processes that share one piece of work (acq_ranks in anycq.h); NULL stands for one that is alone.
 * Whatever decides how the work goes on must be the same in all of them: a clock is not. */

/* Does another process do this piece of work? */
static inline bool acq_ranks_is_others(const acq_ranks *ranks, size_t i)
{
    return ranks != NULL && i % ranks->n != ranks->rank;
}

/* The one that writes, and whose clock counts. */
static inline bool acq_ranks_is_first(const acq_ranks *ranks)
{
    return ranks == NULL || ranks->rank == 0;
}

/* The items of all ranks, each of which has left zero what others do. */
acq_status acq_ranks_join(const acq_ranks *ranks, void *items, size_t n, size_t size,
                          acq_error *error);

/* What the first rank has in place of what is there. */
acq_status acq_ranks_follow(const acq_ranks *ranks, void *bytes, size_t n, acq_error *error);

/* The pieces of all ranks, one after the other, in place of this one's, which is freed with
 * acq_free as they are; *n is their bytes. begins: where each rank's begins, room for n + 1; may be
 * NULL. */
acq_status acq_ranks_gather(const acq_ranks *ranks, void **bytes, size_t *n, size_t *begins,
                            acq_error *error);

#endif
