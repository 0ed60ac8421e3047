/* model.c - would the model of the disk notice a loss? SQLite itself is put on it: with syncs it
 * loses nothing that it acknowledged, without them it soon does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/hash.h"
#include "durability/child.h"
#include "durability/options.h"
#include "durability/scratch.h"
#include "support/disk.h"
#include "support/vfs.h"

typedef struct round_plan {
    const char *path;
    const char *settings;
    disk_plan disk;
} round_plan;

enum { ROWS = 50, TRANSACTIONS = 40 };

static void run(sqlite3 *base, const char *sql)
{
    if (sqlite3_exec(base, sql, NULL, NULL, NULL) != SQLITE_OK)
        child_give_up(sql, NULL);
}

/* Transaction k writes ROWS rows with the number k, over those of earlier ones. */
static void write_rows(void *context, int reports)
{
    const round_plan *plan = context;
    sqlite3 *base;
    char sql[256];
    disk_set_plan(&plan->disk);
    vfs_install();
    if (sqlite3_open(plan->path, &base) != SQLITE_OK)
        child_give_up("open", NULL);
    run(base, plan->settings);
    run(base, "PRAGMA wal_autocheckpoint = 20; CREATE TABLE t(i INTEGER PRIMARY KEY, k, filler)");
    for (int k = 1; k <= TRANSACTIONS; k++) {
        snprintf(sql, sizeof sql,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
                 "INSERT OR REPLACE INTO t SELECT i, %d, zeroblob(i * %d %% 997) FROM n",
                 ROWS, k, k);
        run(base, sql);
        child_acknowledge(reports);
    }
    disk_fail_power();
}

static int read_number(sqlite3 *base, const char *sql)
{
    sqlite3_stmt *statement;
    int number = -1;
    if (sqlite3_prepare_v2(base, sql, -1, &statement, NULL) != SQLITE_OK)
        return -1;
    if (sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* Is everything there that was acknowledged, and nothing torn? */
static bool is_whole(const char *path, size_t acknowledged)
{
    sqlite3 *base;
    if (sqlite3_open(path, &base) != SQLITE_OK)
        return false;
    int last = read_number(base, "SELECT max(k) FROM t");
    bool whole = read_number(base, "SELECT count(*) FROM pragma_integrity_check "
                                   "WHERE integrity_check <> 'ok'") == 0;
    if (acknowledged > 0)
        whole = whole && read_number(base, "SELECT min(k) = max(k) FROM t") == 1 &&
                read_number(base, "SELECT count(*) FROM t") == ROWS;
    sqlite3_close(base);
    return whole &&
           (acknowledged == 0 || last == (int)acknowledged || last == (int)acknowledged + 1);
}

/* Number of rounds after which something was lost or torn. */
static uint64_t count_losses(const test_options *options, const char *settings)
{
    test_scratch scratch;
    scratch_name path;
    uint64_t losses = 0;
    size_t acknowledged;
    scratch_make(&scratch);
    for (uint64_t round = 0; round < options->rounds; round++) {
        acq_random random = acq_random_start(options->seed, round);
        round_plan plan = {.path = scratch_path(&scratch, "base", path),
                           .settings = settings,
                           .disk = {.mishap = DISK_POWER_FAILURE,
                                    .operations = DISK_CHANGES,
                                    .at = 1 + acq_random_below(&random, 900),
                                    .seed = acq_random_next(&random)}};
        test_child child = child_start(write_rows, &plan);
        assert_int_equal(child_wait(&child, &acknowledged), CHILD_KILLED);
        losses += !is_whole(plan.path, acknowledged);
        scratch_clear(&scratch);
    }
    scratch_remove(&scratch);
    return losses;
}

static void test_synced_transactions_survive(void **state)
{
    assert_int_equal(count_losses(*state, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"),
                     0);
    assert_int_equal(
        count_losses(*state, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA"), 0);
}

static void test_the_model_notices_missing_syncs(void **state)
{
    const test_options *options = *state;
    const char *const settings[] = {"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
                                    "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF",
                                    "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF"};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        uint64_t losses = count_losses(options, settings[i]);
        print_message("%s: %llu of %llu rounds lost something\n", settings[i],
                      (unsigned long long)losses, (unsigned long long)options->rounds);
        assert_true(losses > 0);
    }
}

int main(int argc, char **argv)
{
    test_options options = test_options_read(argc, argv, 8);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_synced_transactions_survive, &options),
        cmocka_unit_test_prestate(test_the_model_notices_missing_syncs, &options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
