/* budget.c - deadlines on the monotonic clock; see budget.h. */
#include "base/budget.h"

#include <math.h>
#include <time.h>

enum { TICKS_PER_CLOCK = 20000 };

int64_t acq_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

acq_status acq_stop_check(acq_stop stop, acq_error *error)
{
    return acq_stop_is_wanted(stop) ? acq_fail(error, ACQ_ERR_INTERRUPTED, "stopped") : ACQ_OK;
}

int64_t acq_clock_get_deadline(double seconds)
{
    bool is_limit = isfinite(seconds) && seconds > 0 && seconds < 1e9;
    return is_limit ? acq_clock_ns() + (int64_t)(seconds * 1e9) : INT64_MAX;
}

void acq_budget_init(acq_budget *budget, double seconds, size_t memory_bytes)
{
    *budget = (acq_budget){
        .deadline_ns = acq_clock_get_deadline(seconds),
        .memory_limit = memory_bytes == 0 ? SIZE_MAX : memory_bytes,
        .ticks_left = TICKS_PER_CLOCK,
        .work_left = UINT64_MAX,
    };
}

static void charge_work(acq_budget *budget)
{
    uint64_t done = (uint64_t)(TICKS_PER_CLOCK - budget->ticks_left);
    if (budget->work_left == UINT64_MAX)
        return;
    budget->work_left -= done < budget->work_left ? done : budget->work_left;
    if (budget->work_left == 0)
        budget->spent = ACQ_SPENT_STEPS;
}

bool acq_budget_check(acq_budget *budget)
{
    if (budget->spent == ACQ_SPENT_NOTHING)
        charge_work(budget);
    budget->ticks_left = TICKS_PER_CLOCK;
    if (budget->spent != ACQ_SPENT_NOTHING)
        return false;
    if (acq_stop_is_wanted(budget->stop))
        budget->spent = ACQ_SPENT_INTERRUPT;
    else if (budget->deadline_ns != INT64_MAX && acq_clock_ns() >= budget->deadline_ns)
        budget->spent = ACQ_SPENT_TIME;
    return budget->spent == ACQ_SPENT_NOTHING;
}

bool acq_budget_check_memory(acq_budget *budget, size_t bytes)
{
    if (bytes > budget->memory_limit && budget->spent == ACQ_SPENT_NOTHING)
        budget->spent = ACQ_SPENT_MEMORY;
    return budget->spent == ACQ_SPENT_NOTHING;
}

const char *acq_spent_name(acq_spent spent)
{
    static const char *const names[] = {"", "time", "memory", "steps", "interrupt", "rows"};
    return names[spent];
}
