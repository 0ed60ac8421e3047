/* share.c - one writer and four readers at once, as processes and as threads of one process.
 * Usage: PROGRAM [SECONDS [SEED]].
 *
 * What a reader sees of the writer's batches (batches.h) is never
 *
 *   torn    a batch in part, a left without its right, two relations of different times
 *   stale   behind what was acknowledged before the reader opened the store
 *   early   ahead of what the writer had begun when the store was open
 *   moving  something else when the same graph is asked later
 *
 * Every reader has several threads on each graph, which load its relations at the same time, and
 * comes back to old graphs whose relations it has not all asked for yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/hash.h"
#include "durability/batches.h"
#include "durability/options.h"
#include "durability/scratch.h"
#include "store/import/import.h"
#include "store/store.h"

enum {
    N_READERS = 4,
    N_THREADS = 2,   /* of each reader, on one graph */
    N_SNAPSHOTS = 3, /* graphs that a reader keeps */
};

/* ---- the readers ---- */

/* What one graph must show: batches low..high. */
typedef struct snapshot {
    acq_graph *graph;
    uint64_t low, high;
} snapshot;

/* The row of a head, named; in the other direction with `inverse`. */
static acq_row get_row(const setting *s, const acq_graph *graph, const char *head,
                       const char *relation, bool inverse)
{
    acq_error error = {0};
    const acq_links *links = NULL;
    acq_ent h = acq_graph_find_entity(graph, head, strlen(head));
    acq_rel r = acq_graph_find_relation(graph, relation, strlen(relation));
    if (acq_graph_get_failure(graph, &error) != ACQ_OK || r == ACQ_NO_ID ||
        acq_graph_open_links(graph, inverse ? acq_inverse(r) : r, &links, &error) != ACQ_OK) {
        board_complain(s, "reading %s of %s: %s", relation, head, error.message);
        return (acq_row){0};
    }
    return h == ACQ_NO_ID ? (acq_row){0} : acq_links_get_row(links, h);
}

static bool has_item(const acq_graph *graph, acq_row row, const batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        acq_ent item = acq_graph_find_entity(graph, b->items[i], strlen(b->items[i]));
        if (item == ACQ_NO_ID || acq_row_find(row, item) == row.n)
            return false;
    }
    return true;
}

/* A slot shows its batch, whole and alone, in both relations. */
static void check_slot(const setting *s, const snapshot *seen, uint64_t number)
{
    bool is_kept = number >= seen->low && number <= seen->high;
    batch b;
    batch_make(s->seed, number, &b);
    acq_row right = get_row(s, seen->graph, b.slot, "right", false);
    acq_row left = get_row(s, seen->graph, b.slot, "left", true);
    if (right.n != (is_kept ? b.n : 0) || left.n != right.n ||
        (is_kept && (!has_item(seen->graph, right, &b) || !has_item(seen->graph, left, &b))))
        board_complain(s, "torn: batch %llu of %llu..%llu has %zu right and %zu left of %zu",
                       (unsigned long long)number, (unsigned long long)seen->low,
                       (unsigned long long)seen->high, right.n, left.n, b.n);
}

static void check_clock(const setting *s, const snapshot *seen)
{
    batch b;
    acq_row row = get_row(s, seen->graph, "clock", "made", false);
    uint64_t n = seen->high + 1 - seen->low;
    if (row.n != n)
        board_complain(s, "moving: %zu batches and not %llu..%llu", row.n,
                       (unsigned long long)seen->low, (unsigned long long)seen->high);
    for (uint64_t k = seen->low; k <= seen->high; k++) {
        batch_make(s->seed, k, &b);
        acq_ent name = acq_graph_find_entity(seen->graph, b.name, strlen(b.name));
        if (name == ACQ_NO_ID || acq_row_find(row, name) == row.n)
            board_complain(s, "torn: batch %llu of %llu..%llu is missing", (unsigned long long)k,
                           (unsigned long long)seen->low, (unsigned long long)seen->high);
    }
}

/* The number of answers of a query, through the public library. */
static size_t count_answers(const setting *s, const acq_graph *graph, const char *text)
{
    acq_error error = {0};
    acq_query *query = NULL;
    acq_predictor *predictor = NULL;
    acq_result *result = NULL;
    acq_ask_params params;
    size_t n = SIZE_MAX;
    acq_ask_params_init(&params);
    params.limit = 0;
    if (acq_query_new(graph, text, &query, &error) == ACQ_OK &&
        acq_predictor_new(graph, "observed", NULL, &predictor, &error) == ACQ_OK &&
        acq_ask(query, predictor, &params, &result, &error) == ACQ_OK)
        n = acq_result_get_n_answers(result);
    else
        board_complain(s, "asking %s: %s", text, error.message);
    acq_result_free(result);
    acq_predictor_free(predictor);
    acq_query_free(query);
    return n;
}

static void check_queries(const setting *s, const snapshot *seen, uint64_t number)
{
    char text[256];
    batch b;
    batch_make(s->seed, number, &b);
    snprintf(text, sizeof text, "Q(x) := left(x, \"%s\") & right(\"%s\", x)", b.slot, b.slot);
    size_t n = count_answers(s, seen->graph, text);
    if (n != SIZE_MAX && n != b.n)
        board_complain(s, "torn: %zu answers and not %zu in batch %llu", n, b.n,
                       (unsigned long long)number);
    n = count_answers(s, seen->graph, "Q(x, y) := left(x, y) & !right(y, x)");
    if (n != SIZE_MAX && n != 0)
        board_complain(s, "torn: %zu left without right", n);
}

typedef struct look {
    const setting *setting;
    const snapshot *seen;
    uint64_t seed;
} look;

/* Some checks in random order: relations are loaded by whoever comes first. */
static void *check_snapshot(void *context)
{
    const look *l = context;
    const setting *s = l->setting;
    const snapshot *seen = l->seen;
    acq_random random = acq_random_start(l->seed, 0);
    uint64_t span = seen->high + 1 - seen->low;
    for (int i = 0; i < 6 && !atomic_load(&s->board->is_wrong); i++) {
        uint64_t number = seen->low + acq_random_below(&random, span);
        uint64_t kind = acq_random_below(&random, 4);
        if (kind == 0)
            check_clock(s, seen);
        else if (kind == 1)
            check_queries(s, seen, number);
        else if (kind == 2)
            check_slot(s, seen, number);
        else
            check_slot(s, seen, seen->low - 1); /* empty by now */
        atomic_fetch_add(&s->board->answers, 1);
    }
    return NULL;
}

/* The highest and lowest batch that the clock shows, whatever it shows otherwise. */
static bool find_range(const setting *s, snapshot *seen)
{
    acq_row row = get_row(s, seen->graph, "clock", "made", false);
    seen->low = UINT64_MAX;
    seen->high = 0;
    for (size_t i = 0; i < row.n; i++) {
        const char *name = acq_graph_get_entity_name(seen->graph, row.tails[i]);
        uint64_t number = strtoull(name + strlen("batch "), NULL, 10);
        seen->low = number < seen->low ? number : seen->low;
        seen->high = number > seen->high ? number : seen->high;
    }
    return row.n > 0;
}

/* Opens the store as it is now: not staler than what was acknowledged, not ahead of the writer. */
static bool take_snapshot(const setting *s, snapshot *seen)
{
    acq_error error = {0};
    uint64_t added = atomic_load(&s->board->added), removed = atomic_load(&s->board->removed);
    if (acq_graph_open_path(s->store, NULL, &seen->graph, NULL, &error) != ACQ_OK) {
        board_complain(s, "opening: %s", error.message);
        return false;
    }
    uint64_t begun = atomic_load(&s->board->begun), leaving = atomic_load(&s->board->leaving);
    if (!find_range(s, seen))
        board_complain(s, "the clock shows nothing");
    else if (seen->high < added || seen->low <= removed)
        board_complain(s, "stale: batches %llu..%llu, when %llu had come and %llu had gone",
                       (unsigned long long)seen->low, (unsigned long long)seen->high,
                       (unsigned long long)added, (unsigned long long)removed);
    else if (seen->high > begun || seen->low > leaving + 1)
        board_complain(s, "early: batches %llu..%llu, when %llu was coming and %llu going",
                       (unsigned long long)seen->low, (unsigned long long)seen->high,
                       (unsigned long long)begun, (unsigned long long)leaving);
    atomic_fetch_add(&s->board->looks, 1);
    return true;
}

/* Several threads on one graph. */
static void check_together(const setting *s, const snapshot *seen, acq_random *random)
{
    pthread_t threads[N_THREADS];
    look looks[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        looks[i] = (look){.setting = s, .seen = seen, .seed = acq_random_next(random)};
        if (pthread_create(&threads[i], NULL, check_snapshot, &looks[i]) != 0)
            abort();
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

typedef struct reader {
    const setting *setting;
    uint64_t number;
} reader;

static void *read_all(void *context)
{
    const reader *r = context;
    const setting *s = r->setting;
    acq_random random = acq_random_start(s->seed, 1000 + r->number);
    snapshot kept[N_SNAPSHOTS] = {{0}};
    while (!board_is_over(s)) {
        snapshot *seen = &kept[acq_random_below(&random, N_SNAPSHOTS)];
        if (seen->graph == NULL && !take_snapshot(s, seen))
            break;
        if (atomic_load(&s->board->is_wrong))
            break;
        check_together(s, seen, &random);
        if (acq_random_below(&random, 2) == 0) {
            acq_graph_free(seen->graph);
            seen->graph = NULL;
        }
    }
    for (int i = 0; i < N_SNAPSHOTS; i++)
        acq_graph_free(kept[i].graph);
    return NULL;
}

/* ---- the tests ---- */

static void make_store(const test_scratch *scratch, const setting *s)
{
    scratch_name source;
    const char *path = scratch_path(scratch, "source.tsv", source);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("clock\tkept in\tstore\n", file);
    fclose(file);
    acq_error error = {0};
    acq_import_report report;
    if (acq_import(&path, 1, s->store, &(acq_import_params){0}, &report, &error) != ACQ_OK)
        fail_msg("import: %s", error.message);
    acq_store_writer *writer;
    assert_int_equal(acq_store_writer_open(s->store, &writer, &error), ACQ_OK);
    assert_true(batch_add(s, writer, 1));
    acq_store_writer_free(writer);
}

typedef struct stage {
    test_scratch scratch;
    scratch_name store;
    setting setting;
} stage;

static void set_up(stage *g, const test_options *options)
{
    board *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    scratch_make(&g->scratch);
    g->setting = (setting){.board = shared,
                           .store = scratch_path(&g->scratch, "store", g->store),
                           .seed = options->seed,
                           .end = INT64_MAX};
    make_store(&g->scratch, &g->setting);
    g->setting.end = acq_clock_ns() + (int64_t)options->rounds * 1000000000;
}

static void tear_down(stage *g, const char *how)
{
    board *b = g->setting.board;
    acq_error error = {0};
    if (atomic_load(&b->is_wrong))
        fail_msg("%s: %s", how, b->what);
    print_message("%s: %llu batches added, %llu removed; %llu graphs opened, %llu checks\n", how,
                  (unsigned long long)b->added, (unsigned long long)b->removed,
                  (unsigned long long)b->looks, (unsigned long long)b->answers);
    assert_true(b->added > BATCH_MOST_KEPT && b->answers > N_READERS);
    if (acq_store_verify(g->store, NULL, NULL, &error) != ACQ_OK)
        fail_msg("%s: %s", how, error.message);
    munmap(b, sizeof *b);
    scratch_remove(&g->scratch);
}

static pid_t start_process(void *(*work)(void *), void *context)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        work(context);
        exit(0);
    }
    return pid;
}

static void end_process(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_processes_share_a_store(void **state)
{
    stage g;
    reader readers[N_READERS];
    pid_t processes[N_READERS + 1];
    set_up(&g, *state);
    processes[N_READERS] = start_process(batch_write_all, &g.setting);
    for (int i = 0; i < N_READERS; i++) {
        readers[i] = (reader){.setting = &g.setting, .number = (uint64_t)i};
        processes[i] = start_process(read_all, &readers[i]);
    }
    for (int i = 0; i <= N_READERS; i++)
        end_process(processes[i]);
    tear_down(&g, "processes");
}

static void test_threads_share_a_store(void **state)
{
    stage g;
    reader readers[N_READERS];
    pthread_t threads[N_READERS + 1];
    set_up(&g, *state);
    assert_int_equal(pthread_create(&threads[N_READERS], NULL, batch_write_all, &g.setting), 0);
    for (int i = 0; i < N_READERS; i++) {
        readers[i] = (reader){.setting = &g.setting, .number = (uint64_t)i};
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
    }
    for (int i = 0; i <= N_READERS; i++)
        pthread_join(threads[i], NULL);
    tear_down(&g, "threads");
}

int main(int argc, char **argv)
{
    test_options options = test_options_read(argc, argv, 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_processes_share_a_store, &options),
        cmocka_unit_test_prestate(test_threads_share_a_store, &options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
