/* pool.h - threads that stay between runs: for steps of a tenth of a millisecond, in which starting
 * a thread would cost more than it saves. Otherwise as threads.h: items are handed out one at a
 * time, and results must go to per-item places. One run at a time. */
#ifndef ACQ_BASE_POOL_H
#define ACQ_BASE_POOL_H

#include "base/threads.h"

typedef struct acq_pool acq_pool;

/* n_threads with the caller's; 0 counts as 1. Threads that cannot be started are done without. */
acq_status acq_pool_new(unsigned n_threads, acq_pool **out, acq_error *error);
void acq_pool_free(acq_pool *pool); /* NULL is legal */

/* Returns the status of the lowest failed item. The calling thread is thread 0. */
acq_status acq_pool_run(acq_pool *pool, size_t n_items, acq_work_fn work, void *context);

#endif
