/* threads.c - a shared counter and joinable threads; see threads.h. */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_THREADS = 256 };

typedef struct job {
    acq_work_fn work;
    void *context;
    size_t n_items;
    atomic_size_t next;
    pthread_mutex_t lock; /* guards the two fields below */
    size_t failed_item;
    acq_status status;
} job;

typedef struct worker {
    job *job;
    unsigned index;
} worker;

static void report(job *shared, size_t item, acq_status status)
{
    pthread_mutex_lock(&shared->lock);
    if (item < shared->failed_item) {
        shared->failed_item = item;
        shared->status = status;
    }
    pthread_mutex_unlock(&shared->lock);
    atomic_store(&shared->next, shared->n_items);
}

static void *run_worker(void *argument)
{
    worker *self = argument;
    job *shared = self->job;
    for (;;) {
        size_t item = atomic_fetch_add(&shared->next, 1);
        if (item >= shared->n_items)
            return NULL;
        acq_status status = shared->work(shared->context, item, self->index);
        if (status != ACQ_OK)
            report(shared, item, status);
    }
}

acq_status acq_threads_run(unsigned n_threads, size_t n_items, acq_work_fn work, void *context)
{
    job shared = {.work = work, .context = context, .n_items = n_items, .failed_item = SIZE_MAX};
    worker workers[MOST_THREADS];
    pthread_t handles[MOST_THREADS];
    unsigned started = 1;
    if (n_threads > MOST_THREADS)
        n_threads = MOST_THREADS;
    if (n_threads > n_items)
        n_threads = (unsigned)n_items;
    pthread_mutex_init(&shared.lock, NULL);
    for (; started < n_threads; started++) {
        workers[started] = (worker){.job = &shared, .index = started};
        if (pthread_create(&handles[started], NULL, run_worker, &workers[started]) != 0)
            break;
    }
    workers[0] = (worker){.job = &shared, .index = 0};
    run_worker(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(handles[i], NULL);
    pthread_mutex_destroy(&shared.lock);
    return shared.status;
}

unsigned acq_threads_available(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}
