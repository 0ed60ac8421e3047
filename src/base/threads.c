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

static void report(job *job, size_t item, acq_status status)
{
    pthread_mutex_lock(&job->lock);
    if (item < job->failed_item) {
        job->failed_item = item;
        job->status = status;
    }
    pthread_mutex_unlock(&job->lock);
    atomic_store(&job->next, job->n_items);
}

static void *run_worker(void *argument)
{
    worker *self = argument;
    job *job = self->job;
    for (;;) {
        size_t item = atomic_fetch_add(&job->next, 1);
        if (item >= job->n_items)
            return NULL;
        acq_status status = job->work(job->context, item, self->index);
        if (status != ACQ_OK)
            report(job, item, status);
    }
}

acq_status acq_threads_run(unsigned n_threads, size_t n_items, acq_work_fn work, void *context)
{
    job job = {.work = work, .context = context, .n_items = n_items, .failed_item = SIZE_MAX};
    worker workers[MOST_THREADS];
    pthread_t handles[MOST_THREADS];
    unsigned started = 1;
    if (n_threads > MOST_THREADS)
        n_threads = MOST_THREADS;
    if (n_threads > n_items)
        n_threads = (unsigned)n_items;
    pthread_mutex_init(&job.lock, NULL);
    for (; started < n_threads; started++) {
        workers[started] = (worker){.job = &job, .index = started};
        if (pthread_create(&handles[started], NULL, run_worker, &workers[started]) != 0)
            break;
    }
    workers[0] = (worker){.job = &job, .index = 0};
    run_worker(&workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(handles[i], NULL);
    pthread_mutex_destroy(&job.lock);
    return job.status;
}

unsigned acq_threads_available(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}
