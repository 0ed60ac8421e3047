/* base_memory.c - checked allocation, growing arrays, arenas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

static void test_sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    assert_null(acq_alloc(SIZE_MAX, 2));
    assert_null(acq_zalloc(SIZE_MAX / 2, 3));
    char *block = acq_alloc(4, 1);
    assert_non_null(block);
    assert_null(acq_resize(block, SIZE_MAX, 8));
    acq_free(block);
}

static void test_zero_items_still_give_a_block(void **state)
{
    (void)state;
    void *a = acq_alloc(0, 8), *b = acq_zalloc(8, 0);
    assert_non_null(a);
    assert_non_null(b);
    acq_free(a);
    acq_free(b);
    acq_free(NULL);
}

static void test_zalloc_is_zeroed(void **state)
{
    (void)state;
    unsigned char *block = acq_zalloc(1000, 3);
    assert_non_null(block);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(block[i], 0);
    acq_free(block);
}

static void test_reserve_doubles_and_keeps_content(void **state)
{
    (void)state;
    int *array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(ACQ_RESERVE(array, capacity, i + 1), ACQ_OK);
        array[i] = (int)i;
    }
    assert_true(capacity >= 1000 && capacity < 2048);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(array[i], (int)i);
    int *before = array;
    assert_int_equal(ACQ_RESERVE(array, capacity, SIZE_MAX), ACQ_ERR_MEMORY);
    assert_ptr_equal(array, before);
    acq_free(array);
}

static void test_arena_pieces_are_aligned_and_apart(void **state)
{
    (void)state;
    acq_arena arena;
    acq_arena_init(&arena);
    char *pieces[200];
    for (size_t i = 0; i < 200; i++) {
        pieces[i] = acq_arena_alloc(&arena, i * 13, 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        memset(pieces[i], (int)i, i * 13);
    }
    for (size_t i = 0; i < 200; i++) {
        for (size_t j = 0; j < i * 13; j++)
            assert_int_equal((unsigned char)pieces[i][j], i);
    }
    acq_arena_deinit(&arena);
    acq_arena_deinit(&arena);
}

static void test_arena_reset_reuses_its_blocks(void **state)
{
    (void)state;
    acq_arena arena;
    acq_arena_init(&arena);
    assert_non_null(acq_arena_alloc(&arena, 100, 1));
    acq_arena_mark mark = acq_arena_get_mark(&arena);
    for (int i = 0; i < 500; i++)
        assert_non_null(acq_arena_alloc(&arena, 1000, 1));
    size_t reserved = arena.reserved;
    for (int round = 0; round < 20; round++) {
        acq_arena_reset(&arena, mark);
        for (int i = 0; i < 500; i++)
            assert_non_null(acq_arena_zalloc(&arena, 1000, 1));
        assert_int_equal(arena.reserved, reserved);
    }
    acq_arena_deinit(&arena);
}

static void test_arena_mark_of_an_empty_arena_resets_to_the_start(void **state)
{
    (void)state;
    acq_arena arena;
    acq_arena_init(&arena);
    acq_arena_mark mark = acq_arena_get_mark(&arena);
    void *first = acq_arena_alloc(&arena, 10, 1);
    acq_arena_reset(&arena, mark);
    assert_ptr_equal(acq_arena_alloc(&arena, 10, 1), first);
    acq_arena_deinit(&arena);
}

static void test_arena_gives_pieces_larger_than_its_blocks(void **state)
{
    (void)state;
    acq_arena arena;
    acq_arena_init(&arena);
    char *small = acq_arena_copy_string(&arena, "small and more", 5);
    char *large = acq_arena_zalloc(&arena, 10 * 1024 * 1024, 1);
    assert_non_null(large);
    assert_string_equal(small, "small");
    assert_int_equal(large[10 * 1024 * 1024 - 1], 0);
    assert_null(acq_arena_alloc(&arena, SIZE_MAX / 2, 4));
    assert_null(acq_arena_alloc(&arena, SIZE_MAX - 8, 1));
    acq_arena_deinit(&arena);
}

#ifdef ACQ_FAULTS
static void test_injected_failures_hit_the_chosen_allocation(void **state)
{
    (void)state;
    acq_faults_fail_at(2);
    void *a = acq_alloc(1, 1), *b = acq_alloc(1, 1), *c = acq_zalloc(1, 1);
    assert_non_null(a);
    assert_null(b);
    assert_non_null(c);
    assert_int_equal(acq_faults_count(), 3);
    acq_faults_fail_at(0);
    acq_free(a);
    acq_free(c);
}

static void test_arena_stays_usable_after_a_failure(void **state)
{
    (void)state;
    acq_arena arena;
    acq_arena_init(&arena);
    acq_faults_fail_at(1);
    assert_null(acq_arena_alloc(&arena, 1, 1));
    assert_non_null(acq_arena_alloc(&arena, 1, 1));
    acq_faults_fail_at(1);
    assert_null(acq_arena_alloc(&arena, 1 << 20, 1));
    acq_faults_fail_at(0);
    assert_non_null(acq_arena_alloc(&arena, 1 << 20, 1));
    acq_arena_deinit(&arena);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_that_overflow_are_refused),
        cmocka_unit_test(test_zero_items_still_give_a_block),
        cmocka_unit_test(test_zalloc_is_zeroed),
        cmocka_unit_test(test_reserve_doubles_and_keeps_content),
        cmocka_unit_test(test_arena_pieces_are_aligned_and_apart),
        cmocka_unit_test(test_arena_reset_reuses_its_blocks),
        cmocka_unit_test(test_arena_mark_of_an_empty_arena_resets_to_the_start),
        cmocka_unit_test(test_arena_gives_pieces_larger_than_its_blocks),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_injected_failures_hit_the_chosen_allocation),
        cmocka_unit_test(test_arena_stays_usable_after_a_failure),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
