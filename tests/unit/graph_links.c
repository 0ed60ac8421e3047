/* graph_links.c - rows against a plain table of booleans, and every invariant broken once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "graph/build.h"

enum { MOST = 300 };

typedef struct table {
    float score[MOST][MOST]; /* 0: no link */
    uint32_t n;              /* entities */
} table;

static size_t fill_random(table *t, acq_link *links, size_t n, acq_random *random, bool scored)
{
    memset(t->score, 0, sizeof t->score);
    for (size_t i = 0; i < n; i++) {
        acq_ent head = (acq_ent)acq_random_below(random, t->n);
        acq_ent tail = (acq_ent)acq_random_below(random, t->n);
        float score = scored ? (float)(1 + acq_random_below(random, 100)) / 100.0F : 1.0F;
        links[i] = (acq_link){head, tail, scored ? score : 0.0F};
        if (score > t->score[head][tail])
            t->score[head][tail] = score;
    }
    return n;
}

static void compare(const table *t, const acq_links *links)
{
    const char *reason = "";
    size_t n_links = 0;
    if (!acq_links_check(links, &reason))
        fail_msg("%s", reason);
    for (acq_ent h = 0; h < t->n; h++) {
        acq_row row = acq_links_get_row(links, h);
        size_t n = 0;
        for (acq_ent e = 0; e < t->n; e++) {
            assert_true(acq_links_get_score(links, h, e) == t->score[h][e]);
            n += t->score[h][e] > 0.0F;
        }
        assert_int_equal(row.n, n);
        n_links += n;
    }
    assert_int_equal(links->n_links, n_links);
}

static void test_rows_agree_with_a_table(void **state)
{
    (void)state;
    static table t;
    static acq_link links[20000];
    acq_random random = acq_random_start(11, 0);
    for (int round = 0; round < 120; round++) {
        t.n = 1 + (uint32_t)acq_random_below(&random, MOST);
        size_t n = acq_random_below(&random, round % 3 == 0 ? 20000 : round % 3 == 1 ? 1000 : 40);
        bool scored = round % 2 == 0;
        fill_random(&t, links, n, &random, scored);
        acq_links *made;
        assert_int_equal(acq_links_new(links, n, t.n, scored, &made), ACQ_OK);
        assert_true((made->scores != NULL) == scored);
        compare(&t, made);
        acq_links_free(made);
    }
}

static void test_large_ids_sort_by_all_their_bits(void **state)
{
    (void)state;
    enum { N = 20000 };
    acq_link *links = malloc(N * sizeof *links);
    acq_random random = acq_random_start(5, 5);
    for (size_t i = 0; i < N; i++)
        links[i] = (acq_link){(acq_ent)acq_random_below(&random, 4000000000U),
                              (acq_ent)acq_random_below(&random, 4000000000U), 1.0F};
    acq_links *made;
    const char *reason = "";
    assert_int_equal(acq_links_new(links, N, 4000000000U, false, &made), ACQ_OK);
    assert_null(made->bits);
    assert_true(acq_links_check(made, &reason));
    for (size_t i = 0; i < N; i++)
        assert_true(acq_links_get_score(made, links[i].head, links[i].tail) == 1.0F);
    acq_links_free(made);
    free(links);
}

static void test_bitmap_only_where_it_is_smaller(void **state)
{
    (void)state;
    acq_link links[10];
    acq_links *made;
    for (uint32_t i = 0; i < 10; i++)
        links[i] = (acq_link){i, i, 1.0F};
    assert_int_equal(acq_links_new(links, 10, 1000, false, &made), ACQ_OK);
    assert_non_null(made->bits);
    acq_links_free(made);
    assert_int_equal(acq_links_new(links, 10, 1000000, false, &made), ACQ_OK);
    assert_null(made->bits);
    assert_int_equal(acq_links_find(made, 9), 9);
    assert_int_equal(acq_links_find(made, 999999), ACQ_NO_ID);
    acq_links_free(made);
}

static void test_no_links_is_a_set_of_rows_too(void **state)
{
    (void)state;
    acq_links *made;
    assert_int_equal(acq_links_new(NULL, 0, 100, true, &made), ACQ_OK);
    assert_true(acq_links_check(made, NULL));
    assert_int_equal(acq_links_get_row(made, 5).n, 0);
    acq_links_free(made);
    acq_links_free(NULL);
}

static void test_a_repeated_pair_keeps_its_largest_score(void **state)
{
    (void)state;
    acq_link links[] = {{2, 3, 0.25F}, {2, 3, 0.75F}, {1, 1, 0.5F}, {2, 3, 0.5F}};
    acq_links *made;
    assert_int_equal(acq_links_new(links, 4, 10, true, &made), ACQ_OK);
    assert_int_equal(made->n_links, 2);
    assert_true(acq_links_get_score(made, 2, 3) == 0.75F);
    acq_links_free(made);
}

/* Rows that a test may break: three heads, six links, in arrays of their own. */
typedef struct broken {
    acq_ent heads[3];
    uint32_t offsets[4];
    acq_ent tails[6];
    float scores[6], best[3];
    uint64_t bits[2];
    uint32_t ranks[2];
    acq_links links;
} broken;

static void make_whole(broken *b)
{
    *b = (broken){.heads = {3, 7, 70},
                  .offsets = {0, 2, 3, 6},
                  .tails = {1, 4, 2, 0, 5, 99},
                  .scores = {1.0F, 0.7F, 1.0F, 0.2F, 0.9F, 0.1F},
                  .best = {1.0F, 1.0F, 0.9F},
                  .bits = {1ULL << 3 | 1ULL << 7, 1ULL << 6},
                  .ranks = {0, 2}};
    b->links = (acq_links){.n_entities = 100,
                           .n_heads = 3,
                           .n_links = 6,
                           .heads = b->heads,
                           .offsets = b->offsets,
                           .tails = b->tails,
                           .scores = b->scores,
                           .best = b->best,
                           .bits = b->bits,
                           .ranks = b->ranks};
}

static void expect(const broken *b, const char *reason)
{
    const char *found = "";
    assert_false(acq_links_check(&b->links, &found));
    assert_string_equal(found, reason);
    assert_false(acq_links_check(&b->links, NULL));
}

#define BREAK(change, reason)                                                                      \
    do {                                                                                           \
        broken b;                                                                                  \
        make_whole(&b);                                                                            \
        change;                                                                                    \
        expect(&b, reason);                                                                        \
    } while (0)

static void test_check_finds_each_broken_frame(void **state)
{
    (void)state;
    broken whole;
    make_whole(&whole);
    assert_true(acq_links_check(&whole.links, NULL));
    BREAK(b.links.heads = NULL, "an array is missing");
    BREAK(b.links.offsets = NULL, "an array is missing");
    BREAK(b.links.tails = NULL, "an array is missing");
    BREAK(b.links.best = NULL, "scores and best scores do not come together");
    BREAK(b.links.scores = NULL, "scores and best scores do not come together");
    BREAK(b.links.ranks = NULL, "bitmap and ranks do not come together");
    BREAK(b.offsets[0] = 1, "the first row does not start at 0");
    BREAK(b.offsets[3] = 5, "the last row does not end at the number of links");
    BREAK(b.links.n_links = 7, "the last row does not end at the number of links");
}

static void test_check_finds_each_broken_row(void **state)
{
    (void)state;
    BREAK(b.heads[2] = 100, "a head is out of range");
    BREAK(b.heads[1] = 3, "heads are not sorted");
    BREAK(b.heads[0] = 8, "heads are not sorted");
    BREAK(b.offsets[1] = 3, "a row is empty or offsets decrease");
    BREAK(b.offsets[2] = 1, "a row is empty or offsets decrease");
    BREAK(b.offsets[2] = 4000000000U, "an offset is out of range");
    BREAK(b.tails[5] = 100, "a tail is out of range");
    BREAK(b.tails[0] = 4, "the tails of a row are not sorted");
    BREAK(b.tails[4] = 0, "the tails of a row are not sorted");
}

static void test_check_finds_each_broken_score_and_bit(void **state)
{
    (void)state;
    BREAK(b.scores[3] = 0.0F, "a score is not in (0, 1]");
    BREAK(b.scores[3] = -0.5F, "a score is not in (0, 1]");
    BREAK(b.scores[3] = 1.5F, "a score is not in (0, 1]");
    BREAK(b.scores[3] = 0.0F / 0.0F, "a score is not in (0, 1]");
    BREAK(b.best[2] = 1.0F, "a best score is not the largest of its row");
    BREAK(b.best[2] = 0.0F / 0.0F, "a best score is not the largest of its row");
    BREAK(b.ranks[1] = 1, "a rank does not count the heads before it");
    BREAK(b.bits[1] |= 1ULL << 9, "the bitmap does not hold as many bits as there are heads");
    BREAK(b.bits[1] = 1ULL << 9, "a head is missing in the bitmap");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_agree_with_a_table),
        cmocka_unit_test(test_large_ids_sort_by_all_their_bits),
        cmocka_unit_test(test_bitmap_only_where_it_is_smaller),
        cmocka_unit_test(test_no_links_is_a_set_of_rows_too),
        cmocka_unit_test(test_a_repeated_pair_keeps_its_largest_score),
        cmocka_unit_test(test_check_finds_each_broken_frame),
        cmocka_unit_test(test_check_finds_each_broken_row),
        cmocka_unit_test(test_check_finds_each_broken_score_and_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
