/* threads.h - run one function over items 0..n-1 on several threads.
 *
 * Items are handed out one at a time; results must go to per-item places, so the output
 * does not depend on the number of threads. */
#ifndef ACQ_BASE_THREADS_H
#define ACQ_BASE_THREADS_H

#include "base/types.h"

/* thread counts from 0; a status other than ACQ_OK stops the handing out of items. */
typedef acq_status (*acq_work_fn)(void *context, size_t item, unsigned thread);

/* Returns the status of the lowest failed item. n_threads 0 counts as 1; the calling
 * thread is thread 0, and if others cannot be started it does their share. */
acq_status acq_threads_run(unsigned n_threads, size_t n_items, acq_work_fn work, void *context);

unsigned acq_threads_available(void);

#endif
