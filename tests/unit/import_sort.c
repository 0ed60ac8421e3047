/* import_sort.c - the sorter of facts against a plain one: sort all, count equal ones. Memory
 * from "everything fits" down to hundreds of runs on disk must give the same links and counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "store/import/sort.h"

static char folder[] = "/tmp/anycq-sort-XXXXXX";

/* A directed link, or a fact in the even direction with the one it was given in. */
typedef struct item {
    acq_rel relation;
    acq_fact_key link;
    unsigned given;
} item;

static int compare(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    return x->link < y->link ? -1 : x->link > y->link;
}

typedef struct expected {
    item *links; /* both directions, sorted, distinct */
    size_t n_links;
    acq_sort_counts counts;
} expected;

/* Takes the items that are equal to items[i]; returns the place behind them. */
static size_t take_equal(const item *items, size_t n, size_t i, expected *out)
{
    uint64_t given[2] = {0, 0};
    item first = items[i];
    for (; i < n && compare(&items[i], &first) == 0; i++)
        given[items[i].given]++;
    out->counts.duplicates += given[0] + given[1] - (given[0] > 0) - (given[1] > 0);
    out->counts.one_way += given[0] == 0 || given[1] == 0;
    out->links[out->n_links++] = (item){first.relation, first.link, 0};
    out->links[out->n_links++] = (item){first.relation + 1, acq_fact_key_turn(first.link), 0};
    return i;
}

static expected sort_plainly(const acq_triple *facts, size_t n)
{
    expected out = {.links = calloc(2 * n + 1, sizeof(item))};
    item *items = calloc(n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++) {
        acq_fact_key link = acq_fact_key_make(facts[i].head, facts[i].tail);
        unsigned odd = facts[i].relation & 1U;
        items[i] = (item){facts[i].relation - odd, odd ? acq_fact_key_turn(link) : link, odd};
    }
    qsort(items, n, sizeof *items, compare);
    for (size_t i = 0; i < n;)
        i = take_equal(items, n, i, &out);
    qsort(out.links, out.n_links, sizeof *out.links, compare);
    out.counts.given = n;
    free(items);
    return out;
}

static void check_links(acq_sorter *sorter, const expected *want)
{
    acq_sorted piece;
    acq_error error = {0};
    size_t at = 0;
    for (;;) {
        if (acq_sorter_next(sorter, &piece, &error) != ACQ_OK)
            fail_msg("%s", error.message);
        if (piece.n == 0)
            break;
        assert_true(at + piece.n <= want->n_links);
        for (size_t i = 0; i < piece.n; i++, at++) {
            assert_int_equal(piece.relation, want->links[at].relation);
            assert_true(piece.links[i] == want->links[at].link);
        }
    }
    assert_int_equal(at, want->n_links);
}

/* Returns the number of runs. */
static uint64_t check_sorter(const acq_triple *facts, size_t n, const expected *want, size_t memory,
                             unsigned threads)
{
    acq_sort_params params = {.folder = folder, .memory_bytes = memory, .threads = threads};
    acq_sorter *sorter = acq_sorter_new(&params);
    acq_sort_counts counts;
    for (size_t i = 0, piece; i < n; i += piece) {
        piece = i % 1000 + 1 < n - i ? i % 1000 + 1 : n - i;
        assert_int_equal(acq_sorter_add(sorter, facts + i, piece, NULL), ACQ_OK);
    }
    assert_int_equal(acq_sorter_finish(sorter, NULL), ACQ_OK);
    check_links(sorter, want);
    acq_sorter_get_counts(sorter, &counts);
    assert_int_equal(counts.duplicates, want->counts.duplicates);
    assert_int_equal(counts.one_way, want->counts.one_way);
    assert_int_equal(counts.given, n);
    acq_sorter_free(sorter);
    return counts.runs;
}

typedef struct shape {
    size_t n_facts;
    uint32_t n_entities, n_relations;
    bool both_ways;
    acq_ent base; /* added to every entity */
} shape;

static acq_triple *make_facts(const shape *s, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 1);
    acq_triple *facts = calloc(s->n_facts + 1, sizeof *facts);
    for (size_t i = 0; i < s->n_facts; i++) {
        /* Squaring makes low ids frequent. */
        double head = acq_random_unit(&random), relation = acq_random_unit(&random);
        facts[i].head = s->base + (acq_ent)(head * head * s->n_entities);
        facts[i].tail = s->base + (acq_ent)acq_random_below(&random, s->n_entities);
        facts[i].relation = (acq_rel)(relation * relation * s->n_relations) * 2;
        if (s->both_ways && acq_random_below(&random, 2) == 1)
            facts[i] = (acq_triple){facts[i].tail, facts[i].relation + 1, facts[i].head};
    }
    return facts;
}

static void test_any_memory_gives_the_same_links(void **state)
{
    (void)state;
    const shape shapes[] = {
        {20000, 300, 1, false, 0},
        {20000, 30, 7, true, 0},
        {20000, 5000, 100, true, 0},
        {20000, 2, 3, true, 0},
        {30000, 100000, 100000, true, 0},
        {9000, 70000, 40, true, UINT32_MAX - 70001},
        {40, 6, 2, true, 0},
        {1, 1, 1, false, 0},
        {0, 1, 1, false, 0},
    };
    const size_t memories[] = {1 << 24, 300000, 40000, 0};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        acq_triple *facts = make_facts(&shapes[i], i + 1);
        expected want = sort_plainly(facts, shapes[i].n_facts);
        for (size_t m = 0; m < 4; m++) {
            if (memories[m] < 40000 && shapes[i].n_relations > 1000)
                continue; /* a run's work is at least proportional to the relations */
            for (unsigned threads = 1; threads <= 3; threads += 2) {
                uint64_t runs = check_sorter(facts, shapes[i].n_facts, &want, memories[m], threads);
                assert_int_equal(runs > 0,
                                 shapes[i].n_facts * 28 > memories[m] && shapes[i].n_facts > 256);
            }
        }
        free(want.links);
        free(facts);
    }
}

/* Their number grows with the root of the facts, for each takes memory when they are merged. */
static void test_runs_stay_few_without_memory(void **state)
{
    (void)state;
    const shape s = {100000, 5000, 3, false, 0};
    acq_triple *facts = make_facts(&s, 5);
    expected want = sort_plainly(facts, s.n_facts);
    assert_in_range(check_sorter(facts, s.n_facts, &want, 0, 1), 10, 80);
    free(want.links);
    free(facts);
}

static void test_memory_may_shrink_while_facts_arrive(void **state)
{
    (void)state;
    const shape s = {20000, 500, 10, true, 0};
    acq_triple *facts = make_facts(&s, 77);
    expected want = sort_plainly(facts, s.n_facts);
    acq_sort_params params = {.folder = folder, .memory_bytes = 1 << 20, .threads = 2};
    acq_sorter *sorter = acq_sorter_new(&params);
    for (size_t i = 0; i < s.n_facts; i += 100) {
        assert_int_equal(acq_sorter_add(sorter, facts + i, 100, NULL), ACQ_OK);
        acq_sorter_set_memory(sorter, (1 << 20) / (i / 1000 + 1));
    }
    assert_int_equal(acq_sorter_finish(sorter, NULL), ACQ_OK);
    check_links(sorter, &want);
    acq_sort_counts counts;
    acq_sorter_get_counts(sorter, &counts);
    assert_true(counts.runs > 3);
    assert_int_equal(counts.duplicates, want.counts.duplicates);
    acq_sorter_free(sorter);
    free(want.links);
    free(facts);
}

static acq_status sort_all(const acq_triple *facts, size_t n, const acq_sort_params *params,
                           acq_error *error)
{
    acq_sorted piece = {.n = 1};
    acq_sorter *sorter = acq_sorter_new(params);
    if (sorter == NULL)
        return acq_fail_memory(error);
    acq_status status = acq_sorter_add(sorter, facts, n, error);
    if (status == ACQ_OK)
        status = acq_sorter_finish(sorter, error);
    while (status == ACQ_OK && piece.n > 0)
        status = acq_sorter_next(sorter, &piece, error);
    acq_sorter_free(sorter);
    return status;
}

static void test_a_folder_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    const shape s = {2000, 500, 10, true, 0};
    acq_triple *facts = make_facts(&s, 78);
    acq_sort_params params = {.folder = "/nowhere/at/all"};
    acq_error error = {0};
    assert_int_equal(sort_all(facts, s.n_facts, &params, &error), ACQ_ERR_IO);
    assert_non_null(strstr(error.message, "temporary file"));
    assert_string_equal(error.file, "/nowhere/at/all");
    free(facts);
}

static void test_no_room_on_disk_is_an_error(void **state)
{
    (void)state;
    const shape s = {200000, 50000, 2, false, 0};
    acq_triple *facts = make_facts(&s, 79);
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t room = 10000; room < 2000000; room *= 3) {
        acq_sort_params params = {.folder = folder, .memory_bytes = 200000};
        acq_error error = {0};
        small = (struct rlimit){.rlim_cur = room, .rlim_max = old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
        acq_status status = sort_all(facts, s.n_facts, &params, &error);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(status, room < 1600000 ? ACQ_ERR_IO : ACQ_OK);
        if (status != ACQ_OK)
            assert_non_null(strstr(error.message, "File too large"));
    }
    free(facts);
}

#ifdef ACQ_FAULTS
static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    const shape s = {3000, 50, 3, true, 0};
    acq_triple *facts = make_facts(&s, 80);
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        acq_sort_params params = {.folder = folder, .memory_bytes = in_memory ? 1 << 20 : 10000};
        acq_status status = ACQ_ERR_MEMORY;
        size_t n = 1;
        for (; status != ACQ_OK; n++) {
            acq_error error = {0};
            acq_faults_fail_at(n);
            status = sort_all(facts, s.n_facts, &params, &error);
            acq_faults_fail_at(0);
            assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
            assert_int_equal(error.code, status);
        }
        assert_true(n > 5);
    }
    free(facts);
}
#endif

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

/* Fails when a run was left behind. */
static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_memory_gives_the_same_links),
        cmocka_unit_test(test_runs_stay_few_without_memory),
        cmocka_unit_test(test_memory_may_shrink_while_facts_arrive),
        cmocka_unit_test(test_a_folder_that_cannot_be_written_is_named),
        cmocka_unit_test(test_no_room_on_disk_is_an_error),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
