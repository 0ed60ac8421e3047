/* row_predictor_cache.c - the cache of rows against a list that is searched from its newest end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "predict/rows.h"

enum { N_KEYS = 3000, N_USES = 6000, ROW = 4, MOST_ROWS = 1500 };

static acq_scored_row make_row(uint32_t key, acq_ent *tails, float *scores)
{
    for (uint32_t i = 0; i < ROW; i++) {
        tails[i] = key + i;
        scores[i] = (float)key;
    }
    return (acq_scored_row){.tails = tails, .scores = scores, .n = ROW};
}

/* What one row of ROW links takes. */
static size_t measure_row(void)
{
    acq_row_cache *cache = acq_row_cache_new((size_t)1 << 20);
    acq_ent tails[ROW];
    float scores[ROW];
    acq_scored_row row = make_row(1, tails, scores);
    assert_int_equal(acq_row_cache_put(cache, 0, 0, &row), ACQ_OK);
    size_t n = acq_row_cache_get_counts(cache).n_bytes;
    acq_row_cache_free(cache);
    return n;
}

static void test_the_last_used_rows_stay(void **state)
{
    (void)state;
    static uint64_t last_use[N_KEYS];
    acq_row_cache *cache = acq_row_cache_new(MOST_ROWS * measure_row());
    acq_random random = acq_random_start(1, 1);
    uint64_t n_hits = 0;
    memset(last_use, 0, sizeof last_use);
    for (uint64_t use = 1; use <= N_USES; use++) {
        uint32_t key = (uint32_t)acq_random_below(&random, N_KEYS);
        acq_ent tails[ROW];
        float scores[ROW];
        size_t n_newer = 0;
        for (uint32_t other = 0; other < N_KEYS; other++)
            n_newer += last_use[other] > last_use[key];
        const acq_scored_row *got = acq_row_cache_get(cache, key % 7, key);
        assert_int_equal(got != NULL, last_use[key] > 0 && n_newer < MOST_ROWS);
        if (got != NULL) {
            assert_int_equal(got->n, ROW);
            assert_int_equal(got->tails[1], key + 1);
            assert_true(got->scores[3] == (float)key);
            n_hits++;
        } else {
            acq_scored_row row = make_row(key, tails, scores);
            assert_int_equal(acq_row_cache_put(cache, key % 7, key, &row), ACQ_OK);
        }
        last_use[key] = use;
    }
    acq_row_cache_counts counts = acq_row_cache_get_counts(cache);
    assert_int_equal(counts.hits, n_hits);
    assert_int_equal(counts.misses, N_USES - n_hits);
    assert_int_equal(counts.n_rows, MOST_ROWS);
    assert_int_equal(counts.evicted, counts.misses - MOST_ROWS);
    acq_row_cache_free(cache);
}

static void test_a_row_that_does_not_fit_is_not_kept(void **state)
{
    (void)state;
    acq_row_cache *cache = acq_row_cache_new(16);
    acq_ent tails[ROW];
    float scores[ROW];
    acq_scored_row row = make_row(1, tails, scores);
    assert_int_equal(acq_row_cache_put(cache, 1, 2, &row), ACQ_OK);
    assert_null(acq_row_cache_get(cache, 1, 2));
    acq_row_cache_free(cache);
    acq_row_cache_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_last_used_rows_stay),
        cmocka_unit_test(test_a_row_that_does_not_fit_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
