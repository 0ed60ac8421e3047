/* base_run.c - budgets, random numbers, binary search and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdatomic.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/threads.h"

static void test_budget_without_limits_is_never_spent(void **state)
{
    (void)state;
    const double none[] = {0.0, -1.0, NAN, INFINITY, 1e300};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        acq_budget budget;
        acq_budget_init(&budget, none[i], 0);
        assert_true(acq_budget_check(&budget));
        assert_true(acq_budget_check_memory(&budget, SIZE_MAX));
        for (int k = 0; k < 100; k++)
            assert_true(acq_budget_tick(&budget, 1 << 20));
    }
}

static void test_budget_of_work_ends_at_the_same_place(void **state)
{
    (void)state;
    size_t n_ticks[2] = {0};
    for (int i = 0; i < 2; i++) {
        acq_budget budget;
        acq_budget_init(&budget, i == 0 ? 0 : 60, 0);
        budget.work_left = 1000000;
        while (acq_budget_tick(&budget, 7))
            n_ticks[i]++;
        assert_int_equal(budget.spent, ACQ_SPENT_STEPS);
        assert_false(acq_budget_tick(&budget, 1));
    }
    assert_int_equal(n_ticks[0], n_ticks[1]);
    assert_in_range(n_ticks[0] * 7, 950000, 1050000);
}

static void test_budget_ends_at_the_deadline_and_stays_spent(void **state)
{
    (void)state;
    acq_budget budget;
    acq_budget_init(&budget, 1e-9, 0);
    int64_t start = acq_clock_ns();
    while (acq_clock_ns() <= start + 1000)
        continue;
    assert_false(acq_budget_check(&budget));
    assert_int_equal(budget.spent, ACQ_SPENT_TIME);
    assert_false(acq_budget_tick(&budget, 1));
    assert_string_equal(acq_spent_name(budget.spent), "time");
}

static void test_ticks_reach_the_clock(void **state)
{
    (void)state;
    acq_budget budget;
    acq_budget_init(&budget, 0.001, 0);
    size_t ticks = 0;
    while (acq_budget_tick(&budget, 1))
        ticks++;
    assert_true(ticks > 0);
    assert_int_equal(budget.spent, ACQ_SPENT_TIME);
}

static void test_memory_over_the_limit_is_the_reason(void **state)
{
    (void)state;
    acq_budget budget;
    acq_budget_init(&budget, 0, 1000);
    assert_true(acq_budget_check_memory(&budget, 1000));
    assert_false(acq_budget_check_memory(&budget, 1001));
    assert_false(acq_budget_check(&budget));
    assert_int_equal(budget.spent, ACQ_SPENT_MEMORY);
    assert_string_equal(acq_spent_name(ACQ_SPENT_NOTHING), "");
    assert_string_equal(acq_spent_name(ACQ_SPENT_STEPS), "steps");
}

static bool is_third_call(void *context)
{
    return ++*(int *)context == 3;
}

static void test_a_stop_ends_work_where_the_clock_is_read(void **state)
{
    (void)state;
    int n_calls = 0;
    acq_budget budget;
    acq_budget_init(&budget, 0, 0);
    budget.stop = (acq_stop){.is_wanted = is_third_call, .context = &n_calls};
    while (acq_budget_tick(&budget, 7))
        continue;
    assert_int_equal(budget.spent, ACQ_SPENT_INTERRUPT);
    assert_int_equal(n_calls, 3);
    assert_false(acq_budget_check(&budget));
    assert_int_equal(n_calls, 3);
    assert_string_equal(acq_spent_name(budget.spent), "interrupt");
}

static void test_a_seed_fixes_the_numbers(void **state)
{
    (void)state;
    acq_random a = acq_random_start(42, 7), b = acq_random_start(42, 7);
    acq_random other_stream = acq_random_start(42, 8), other_seed = acq_random_start(43, 7);
    int same_stream = 0, same_seed = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = acq_random_next(&a);
        assert_true(value == acq_random_next(&b));
        same_stream += value == acq_random_next(&other_stream);
        same_seed += value == acq_random_next(&other_seed);
    }
    assert_int_equal(same_stream + same_seed, 0);
}

static void test_below_and_unit_are_even_and_in_range(void **state)
{
    (void)state;
    acq_random random = acq_random_start(1, 1);
    int counts[10] = {0};
    double sum = 0.0;
    for (int i = 0; i < 100000; i++) {
        uint64_t below = acq_random_below(&random, 10);
        assert_true(below < 10);
        counts[below]++;
        double unit = acq_random_unit(&random);
        assert_true(unit >= 0.0 && unit < 1.0);
        sum += unit;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(counts[i], 9500, 10500);
    assert_true(fabs(sum / 100000 - 0.5) < 0.005);
    assert_int_equal(acq_random_below(&random, 1), 0);
}

static void test_search_finds_the_first_place_of_every_value(void **state)
{
    (void)state;
    acq_random random = acq_random_start(3, 3);
    for (uint32_t n = 0; n < 40; n++) {
        uint32_t values[40], sum = 0;
        for (uint32_t i = 0; i < n; i++)
            values[i] = sum += (uint32_t)acq_random_below(&random, 3);
        for (uint32_t wanted = 0; wanted <= sum + 1; wanted++) {
            uint32_t first = 0, last = 0, at;
            const uint32_t *place;
            for (; first < n && values[first] < wanted; first++)
                continue;
            for (uint32_t i = 1; i < n; i++)
                last = values[i] <= wanted ? i : last;
            ACQ_SEARCH(at, 0, n, values[at] < wanted);
            assert_int_equal(at, first);
            ACQ_SEARCH(place, values, values + n, *place < wanted);
            assert_ptr_equal(place, values + first);
            assert_int_equal(acq_search_last(values, n, wanted), last);
        }
    }
}

enum { ITEMS = 10000 };

typedef struct tally {
    atomic_int seen[ITEMS];
    size_t fail_from; /* items from here fail */
} tally;

static acq_status count_item(void *context, size_t item, unsigned thread)
{
    tally *t = context;
    (void)thread;
    atomic_fetch_add(&t->seen[item], 1);
    return item >= t->fail_from ? (item % 2 == 0 ? ACQ_ERR_IO : ACQ_ERR_INPUT) : ACQ_OK;
}

static void test_every_item_runs_once_at_any_thread_count(void **state)
{
    (void)state;
    static tally t;
    const unsigned threads[] = {0, 1, 2, 7, 1000};
    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
        for (size_t i = 0; i < ITEMS; i++)
            atomic_store(&t.seen[i], 0);
        t.fail_from = SIZE_MAX;
        assert_int_equal(acq_threads_run(threads[k], ITEMS, count_item, &t), ACQ_OK);
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(atomic_load(&t.seen[i]), 1);
    }
    assert_int_equal(acq_threads_run(4, 0, count_item, &t), ACQ_OK);
    assert_true(acq_threads_available() >= 1);
}

static void test_the_lowest_failed_item_gives_the_status(void **state)
{
    (void)state;
    static tally t;
    for (unsigned threads = 1; threads < 6; threads++) {
        t.fail_from = 5001;
        assert_int_equal(acq_threads_run(threads, ITEMS, count_item, &t), ACQ_ERR_INPUT);
        t.fail_from = 0;
        assert_int_equal(acq_threads_run(threads, ITEMS, count_item, &t), ACQ_ERR_IO);
    }
}

static void test_a_pool_runs_every_item_of_every_round(void **state)
{
    (void)state;
    static tally t;
    const unsigned threads[] = {0, 1, 2, 7};
    for (size_t k = 0; k < sizeof threads / sizeof threads[0]; k++) {
        acq_pool *pool;
        assert_int_equal(acq_pool_new(threads[k], &pool, NULL), ACQ_OK);
        for (size_t i = 0; i < ITEMS; i++)
            atomic_store(&t.seen[i], 0);
        t.fail_from = SIZE_MAX;
        for (size_t round = 0; round < 300; round++)
            assert_int_equal(acq_pool_run(pool, round % 40, count_item, &t), ACQ_OK);
        for (size_t i = 0; i < 39; i++)
            assert_int_equal(atomic_load(&t.seen[i]), 300 / 40 * (39 - i) + (i < 19 ? 19 - i : 0));
        usleep(20000); /* helpers fall asleep and must wake up */
        assert_int_equal(acq_pool_run(pool, ITEMS, count_item, &t), ACQ_OK);
        assert_int_equal(atomic_load(&t.seen[ITEMS - 1]), 1);
        t.fail_from = 5001;
        assert_int_equal(acq_pool_run(pool, ITEMS, count_item, &t), ACQ_ERR_INPUT);
        acq_pool_free(pool);
    }
}

static acq_status dawdle(void *context, size_t item, unsigned thread)
{
    tally *t = context;
    if (thread > 0)
        usleep(2000); /* the caller falls asleep meanwhile */
    atomic_fetch_add(&t->seen[item], 1);
    return ACQ_OK;
}

static void test_a_pool_waits_for_slow_helpers(void **state)
{
    (void)state;
    static tally t;
    acq_pool *pool;
    enum { ROUNDS = 50 };
    assert_int_equal(acq_pool_new(4, &pool, NULL), ACQ_OK);
    for (int round = 0; round < ROUNDS; round++) {
        assert_int_equal(acq_pool_run(pool, 12, dawdle, &t), ACQ_OK);
        for (size_t i = 0; i < 12; i++)
            assert_int_equal(atomic_load(&t.seen[i]), round + 1);
    }
    acq_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget_without_limits_is_never_spent),
        cmocka_unit_test(test_budget_of_work_ends_at_the_same_place),
        cmocka_unit_test(test_budget_ends_at_the_deadline_and_stays_spent),
        cmocka_unit_test(test_ticks_reach_the_clock),
        cmocka_unit_test(test_memory_over_the_limit_is_the_reason),
        cmocka_unit_test(test_a_stop_ends_work_where_the_clock_is_read),
        cmocka_unit_test(test_a_seed_fixes_the_numbers),
        cmocka_unit_test(test_search_finds_the_first_place_of_every_value),
        cmocka_unit_test(test_below_and_unit_are_even_and_in_range),
        cmocka_unit_test(test_every_item_runs_once_at_any_thread_count),
        cmocka_unit_test(test_the_lowest_failed_item_gives_the_status),
        cmocka_unit_test(test_a_pool_runs_every_item_of_every_round),
        cmocka_unit_test(test_a_pool_waits_for_slow_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
