/* budget.h - what a search may spend: time and memory, checked in every loop; and whether somebody
 * wants it to end.
 *
 * Reading the clock costs about 20 ns, so hot loops call acq_budget_tick with the work
 * they did; the clock is read once per ~20,000 units, far below the promised 50 ms. A limit on the
 * work itself stops at the same place on every machine. */
#ifndef ACQ_BASE_BUDGET_H
#define ACQ_BASE_BUDGET_H

#include "base/types.h"

typedef enum acq_spent {
    ACQ_SPENT_NOTHING = 0,
    ACQ_SPENT_TIME,
    ACQ_SPENT_MEMORY,
    ACQ_SPENT_STEPS,
    ACQ_SPENT_INTERRUPT, /* the caller's stop function said so */
    ACQ_SPENT_ROWS,      /* the time for rows of predicted links, of all time only a part */
} acq_spent;

/* A caller's way to end a long call: asked wherever the clock is read, from the thread that works.
 * is_wanted NULL: never. */
typedef struct acq_stop {
    bool (*is_wanted)(void *context);
    void *context;
} acq_stop;

static inline bool acq_stop_is_wanted(acq_stop stop)
{
    return stop.is_wanted != NULL && stop.is_wanted(stop.context);
}

/* ACQ_ERR_INTERRUPTED where it is. */
acq_status acq_stop_check(acq_stop stop, acq_error *error);

typedef struct acq_budget {
    int64_t deadline_ns; /* monotonic clock; INT64_MAX: none */
    size_t memory_limit; /* bytes; SIZE_MAX: none */
    int64_t ticks_left;  /* until the clock is read again */
    uint64_t work_left;  /* units of work, as ticks count them; UINT64_MAX: any */
    acq_stop stop;
    acq_spent spent;
} acq_budget;

int64_t acq_clock_ns(void); /* monotonic */

/* When so many seconds are over from now; INT64_MAX: seconds is no limit (see acq_budget_init). */
int64_t acq_clock_get_deadline(double seconds);

/* seconds <= 0 or not finite: no deadline. memory_bytes 0: no limit. Any work, and no stop: the
 * caller may set work_left and stop afterwards; work that runs out counts as steps. */
void acq_budget_init(acq_budget *budget, double seconds, size_t memory_bytes);

/* Reads the clock and asks `stop` now. False when the budget is spent. */
bool acq_budget_check(acq_budget *budget);

/* False when `bytes` is over the limit: the reason becomes memory. */
bool acq_budget_check_memory(acq_budget *budget, size_t bytes);

/* Counts `work` units; false when the budget is spent. */
static inline bool acq_budget_tick(acq_budget *budget, size_t work)
{
    budget->ticks_left -= (int64_t)work;
    return budget->ticks_left > 0 ? budget->spent == ACQ_SPENT_NOTHING : acq_budget_check(budget);
}

const char *
acq_spent_name(acq_spent spent); /* "", "time", "memory", "steps", "interrupt", "rows" */

#endif
