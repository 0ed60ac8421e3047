/* graph_names.c - the dictionary, hashing and UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "graph/names.h"
#include "base/text.h"

static void test_ids_are_dense_and_names_come_back(void **state)
{
    (void)state;
    acq_names names;
    char name[32];
    acq_names_init(&names);
    assert_int_equal(acq_names_find(&names, "e0", 2), ACQ_NO_ID);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t id = 0;
        int n = snprintf(name, sizeof name, "e%u", i);
        assert_int_equal(acq_names_add(&names, name, (size_t)n, 1, &id), ACQ_OK);
        assert_int_equal(id, i);
        assert_int_equal(acq_names_add(&names, name, (size_t)n, 1, &id), ACQ_OK);
        assert_int_equal(id, i);
    }
    acq_names_trim(&names);
    for (uint32_t i = 0; i < 20000; i++) {
        int n = snprintf(name, sizeof name, "e%u", i);
        assert_int_equal(acq_names_find(&names, name, (size_t)n), i);
        assert_string_equal(acq_names_get(&names, i), name);
    }
    assert_int_equal(acq_names_find(&names, "e", 1), ACQ_NO_ID);
    assert_int_equal(acq_names_find(&names, "e200001", 7), ACQ_NO_ID);
    assert_null(acq_names_get(&names, 20000));
    acq_names_deinit(&names);
}

static void test_a_prefix_is_another_name(void **state)
{
    (void)state;
    acq_names names;
    uint32_t a = 9, b = 9, c = 9;
    acq_names_init(&names);
    assert_int_equal(acq_names_add(&names, "abcd", 2, 1, &a), ACQ_OK);
    assert_int_equal(acq_names_add(&names, "abcd", 4, 1, &b), ACQ_OK);
    assert_int_equal(acq_names_add(&names, "", 0, 1, &c), ACQ_OK);
    assert_int_equal(a, 0);
    assert_int_equal(b, 1);
    assert_int_equal(c, 2);
    assert_string_equal(acq_names_get(&names, 0), "ab");
    assert_string_equal(acq_names_get(&names, 2), "");
    acq_names_deinit(&names);
}

static void test_steps_leave_ids_unnamed(void **state)
{
    (void)state;
    acq_names names;
    uint32_t id = 9;
    acq_names_init(&names);
    assert_int_equal(acq_names_add(&names, "r", 1, 2, &id), ACQ_OK);
    assert_int_equal(id, 0);
    assert_int_equal(acq_names_add(&names, "s", 1, 2, &id), ACQ_OK);
    assert_int_equal(id, 2);
    assert_null(acq_names_get(&names, 1));
    assert_int_equal(names.n_ids, 3);
    acq_names_deinit(&names);
}

static void test_bad_names_and_ids_are_refused(void **state)
{
    (void)state;
    acq_names names;
    static char longest[ACQ_NAME_MOST + 1];
    memset(longest, 'x', sizeof longest);
    acq_names_init(&names);
    assert_int_equal(acq_names_put(&names, 0, "a\0b", 3), ACQ_ERR_INPUT);
    assert_int_equal(acq_names_put(&names, 0, longest, sizeof longest), ACQ_ERR_LIMIT);
    assert_int_equal(acq_names_put(&names, ACQ_NO_ID, "a", 1), ACQ_ERR_LIMIT);
    assert_int_equal(names.n_ids, 0);
    assert_int_equal(acq_names_put(&names, 0, longest, ACQ_NAME_MOST), ACQ_OK);
    assert_int_equal(acq_names_find(&names, longest, ACQ_NAME_MOST), 0);
    assert_int_equal(acq_names_find(&names, longest, sizeof longest), ACQ_NO_ID);
    acq_names_deinit(&names);
}

static void test_the_hash_does_not_depend_on_the_order(void **state)
{
    (void)state;
    acq_names forward, backward, other;
    const char *const words[] = {"a", "bb", "ccc", "dddddddd", "eeeeeeeee"};
    acq_names_init(&forward);
    acq_names_init(&backward);
    acq_names_init(&other);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(acq_names_put(&forward, i, words[i], strlen(words[i])), ACQ_OK);
        assert_int_equal(acq_names_put(&backward, 4 - i, words[4 - i], strlen(words[4 - i])),
                         ACQ_OK);
        assert_int_equal(acq_names_put(&other, 4 - i, words[i], strlen(words[i])), ACQ_OK);
    }
    assert_true(acq_names_sum(&forward) == acq_names_sum(&backward));
    assert_true(acq_names_sum(&forward) != acq_names_sum(&other));
    acq_names_deinit(&forward);
    acq_names_deinit(&backward);
    acq_names_deinit(&other);
}

static void test_the_hash_of_bytes_is_fixed(void **state)
{
    (void)state;
    /* Stored in files: a change here needs a new version of the completion format. */
    assert_true(acq_hash_bytes("", 0, 0) == 0xabe877b46b8cd617ULL);
    assert_true(acq_hash_bytes("anycq", 5, 0) == 0xae80b84c22977b15ULL);
    assert_true(acq_hash_bytes("twelve bytes", 12, 7) == 0x3ceeb7e89d1d86bdULL);
    assert_true(acq_hash_bytes("a\0", 2, 0) != acq_hash_bytes("a", 1, 0));
}

/* Slow reference: decode by the definition, then check the range and the shortest form. */
static size_t check_slowly(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t length = p[i] < 0x80       ? 1
                        : p[i] >> 5 == 6  ? 2
                        : p[i] >> 4 == 14 ? 3
                        : p[i] >> 3 == 30 ? 4
                                          : 0;
        if (length == 0 || i + length > n)
            return i;
        uint32_t code = length == 1 ? p[i] : p[i] & (0x7FU >> length);
        for (size_t k = 1; k < length; k++) {
            if (p[i + k] >> 6 != 2)
                return i;
            code = code << 6 | (p[i + k] & 0x3FU);
        }
        const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
        if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
            return i;
        i += length;
    }
    return n;
}

static void test_utf8_agrees_with_its_definition(void **state)
{
    (void)state;
    for (uint32_t x = 0; x < 1U << 24; x += (x & 0x8080U) == 0 ? 7 : 1) {
        unsigned char text[4] = {(unsigned char)(x >> 16), (unsigned char)(x >> 8),
                                 (unsigned char)x, 0x80};
        size_t n = 3 + (x & 1U);
        assert_int_equal(acq_utf8_check((const char *)text, n), check_slowly(text, n));
    }
    acq_random random = acq_random_start(3, 3);
    for (int round = 0; round < 20000; round++) {
        unsigned char text[40];
        size_t n = acq_random_below(&random, 40);
        for (size_t i = 0; i < n; i++)
            text[i] =
                (unsigned char)(acq_random_below(&random, 8) ? 'a' : acq_random_next(&random));
        assert_int_equal(acq_utf8_check((const char *)text, n), check_slowly(text, n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_are_dense_and_names_come_back),
        cmocka_unit_test(test_a_prefix_is_another_name),
        cmocka_unit_test(test_steps_leave_ids_unnamed),
        cmocka_unit_test(test_bad_names_and_ids_are_refused),
        cmocka_unit_test(test_the_hash_does_not_depend_on_the_order),
        cmocka_unit_test(test_the_hash_of_bytes_is_fixed),
        cmocka_unit_test(test_utf8_agrees_with_its_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
