/* threads.c - see threads.h. A shared counter hands the items out.
 *
 * A run of a pool is a round: its number tells the helpers that there is work. They look for it a
 * while and then sleep; the caller works too, and waits, in the same way, until all helpers have
 * left the round, so that a round's fields never change under one. Nobody gives the processor away
 * by sched_yield: a thread that does so again and again gets hardly any of it back from Linux
 * (6.18) while other processes want it. */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum { MOST_THREADS = 256, LOOKS = 2000 };

typedef struct job {
    acq_work_fn work;
    void *context;
    size_t n_items;
    atomic_size_t next;
    pthread_mutex_t lock; /* guards the two fields below */
    size_t failed_item;
    acq_status status;
} job;

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

static void take_items(job *shared, unsigned thread)
{
    for (;;) {
        size_t item = atomic_fetch_add(&shared->next, 1);
        if (item >= shared->n_items)
            return;
        acq_status status = shared->work(shared->context, item, thread);
        if (status != ACQ_OK)
            report(shared, item, status);
    }
}

/* ---- threads for one run ---- */

typedef struct worker {
    job *job;
    unsigned index;
    pthread_t handle;
} worker;

static void *run_worker(void *argument)
{
    worker *self = argument;
    take_items(self->job, self->index);
    return NULL;
}

acq_status acq_threads_run(unsigned n_threads, size_t n_items, acq_work_fn work, void *context)
{
    job shared = {.work = work, .context = context, .n_items = n_items, .failed_item = SIZE_MAX};
    worker workers[MOST_THREADS];
    unsigned started = 1;
    if (n_threads > MOST_THREADS)
        n_threads = MOST_THREADS;
    if (n_threads > n_items)
        n_threads = (unsigned)n_items;
    pthread_mutex_init(&shared.lock, NULL);
    for (; started < n_threads; started++) {
        worker *next = &workers[started];
        *next = (worker){.job = &shared, .index = started};
        if (pthread_create(&next->handle, NULL, run_worker, next) != 0)
            break;
    }
    take_items(&shared, 0);
    for (unsigned i = 1; i < started; i++)
        pthread_join(workers[i].handle, NULL);
    pthread_mutex_destroy(&shared.lock);
    return shared.status;
}

unsigned acq_threads_available(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

/* ---- a pool ---- */

struct acq_pool {
    pthread_t handles[MOST_THREADS];
    unsigned n_threads; /* with the caller's */
    job job;            /* of the round; its lock also guards the two conditions */
    pthread_cond_t wake, left;
    atomic_uint round;
    atomic_uint n_busy;   /* helpers in the round */
    atomic_uint n_asleep; /* helpers on `wake` */
    atomic_uint n_named;  /* helpers that have a number */
    atomic_bool is_left;  /* the caller sleeps on `left` */
    atomic_bool is_over;
};

/* Until the round is another one than `seen`: looks, then sleeps. */
static void wait_for_round(acq_pool *pool, unsigned seen)
{
    for (int i = 0; i < LOOKS; i++)
        if (atomic_load(&pool->round) != seen)
            return;
    pthread_mutex_lock(&pool->job.lock);
    atomic_fetch_add(&pool->n_asleep, 1);
    while (atomic_load(&pool->round) == seen)
        pthread_cond_wait(&pool->wake, &pool->job.lock);
    atomic_fetch_sub(&pool->n_asleep, 1);
    pthread_mutex_unlock(&pool->job.lock);
}

/* Until all helpers have left the round. */
static void wait_for_helpers(acq_pool *pool)
{
    for (int i = 0; i < LOOKS; i++)
        if (atomic_load(&pool->n_busy) == 0)
            return;
    pthread_mutex_lock(&pool->job.lock);
    atomic_store(&pool->is_left, true);
    while (atomic_load(&pool->n_busy) > 0)
        pthread_cond_wait(&pool->left, &pool->job.lock);
    atomic_store(&pool->is_left, false);
    pthread_mutex_unlock(&pool->job.lock);
}

static void leave_round(acq_pool *pool)
{
    if (atomic_fetch_sub(&pool->n_busy, 1) > 1 || !atomic_load(&pool->is_left))
        return;
    pthread_mutex_lock(&pool->job.lock);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->job.lock);
}

static void *help(void *argument)
{
    acq_pool *pool = argument;
    unsigned thread = atomic_fetch_add(&pool->n_named, 1) + 1, seen = 0;
    for (;;) {
        wait_for_round(pool, seen);
        seen++;
        if (atomic_load(&pool->is_over))
            return NULL;
        take_items(&pool->job, thread);
        leave_round(pool);
    }
}

static void start_round(acq_pool *pool)
{
    atomic_store(&pool->n_busy, pool->n_threads - 1);
    atomic_fetch_add(&pool->round, 1);
    if (atomic_load(&pool->n_asleep) > 0) {
        pthread_mutex_lock(&pool->job.lock);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->job.lock);
    }
}

acq_status acq_pool_new(unsigned n_threads, acq_pool **out, acq_error *error)
{
    acq_pool *pool = acq_zalloc(1, sizeof *pool);
    if (pool == NULL)
        return acq_fail_memory(error);
    pthread_mutex_init(&pool->job.lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->left, NULL);
    pool->n_threads = 1;
    while (pool->n_threads < n_threads && pool->n_threads < MOST_THREADS &&
           pthread_create(&pool->handles[pool->n_threads], NULL, help, pool) == 0)
        pool->n_threads++;
    *out = pool;
    return ACQ_OK;
}

void acq_pool_free(acq_pool *pool)
{
    if (pool == NULL)
        return;
    atomic_store(&pool->is_over, true);
    start_round(pool);
    for (unsigned i = 1; i < pool->n_threads; i++)
        pthread_join(pool->handles[i], NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->left);
    pthread_mutex_destroy(&pool->job.lock);
    acq_free(pool);
}

acq_status acq_pool_run(acq_pool *pool, size_t n_items, acq_work_fn work, void *context)
{
    pool->job.work = work;
    pool->job.context = context;
    pool->job.n_items = n_items;
    pool->job.failed_item = SIZE_MAX;
    pool->job.status = ACQ_OK;
    atomic_store(&pool->job.next, 0);
    bool is_shared = pool->n_threads > 1 && n_items > 1;
    if (is_shared)
        start_round(pool);
    take_items(&pool->job, 0);
    if (is_shared)
        wait_for_helpers(pool);
    return pool->job.status;
}

/* ---- ranks ---- */

acq_status acq_ranks_join(const acq_ranks *ranks, void *items, size_t n, size_t size,
                          acq_error *error)
{
    return ranks == NULL ? ACQ_OK : ranks->join(ranks->context, items, n * size, error);
}

acq_status acq_ranks_follow(const acq_ranks *ranks, void *bytes, size_t n, acq_error *error)
{
    if (!acq_ranks_is_first(ranks))
        memset(bytes, 0, n);
    return acq_ranks_join(ranks, bytes, n, 1, error);
}

acq_status acq_ranks_gather(const acq_ranks *ranks, void **bytes, size_t *n, size_t *begins,
                            acq_error *error)
{
    uint32_t n_ranks = ranks == NULL ? 1 : ranks->n, own = ranks == NULL ? 0 : ranks->rank;
    size_t *ends = acq_zalloc(n_ranks, sizeof *ends);
    if (ends == NULL)
        return acq_fail_memory(error);
    ends[own] = *n;
    acq_status status = acq_ranks_join(ranks, ends, n_ranks, sizeof *ends, error);
    for (uint32_t i = 1; i < n_ranks; i++)
        ends[i] += ends[i - 1];
    for (uint32_t i = 0; begins != NULL && i <= n_ranks; i++)
        begins[i] = i == 0 ? 0 : ends[i - 1];
    size_t first = own == 0 ? 0 : ends[own - 1], all = ends[n_ranks - 1];
    char *joined = ranks == NULL ? NULL : acq_zalloc(all, 1);
    acq_free(ends);
    if (ranks == NULL || status != ACQ_OK)
        return status;
    if (joined == NULL)
        return acq_fail_memory(error);
    if (*n > 0)
        memcpy(joined + first, *bytes, *n);
    acq_free(*bytes);
    *bytes = joined;
    *n = all;
    return acq_ranks_join(ranks, joined, all, 1, error);
}
