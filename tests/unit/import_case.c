/* import_case.c - see import_case.h. */
#include "unit/import_case.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "store/store.h"

static char scratch[] = "/tmp/anycq-import-XXXXXX";

static uint32_t draw_skewed(acq_random *random, uint32_t n)
{
    double unit = acq_random_unit(random);
    return (uint32_t)(unit * unit * n);
}

void import_case_write(const char *path, const import_shape *shape, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 7);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < shape->n_lines; i++) {
        uint32_t head = draw_skewed(&random, shape->n_entities);
        uint32_t relation = draw_skewed(&random, shape->n_relations);
        uint32_t tail = (uint32_t)acq_random_below(&random, shape->n_entities);
        fprintf(file, "entity %u\trelation %u\tentity %u\n", head, relation, tail);
    }
    assert_int_equal(fclose(file), 0);
}

static void write_index(const char *folder, const import_shape *shape)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/kgindex.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"r\": {", file);
    for (uint32_t r = 0; r < 2 * shape->n_relations; r++)
        fprintf(file, "%s\"%cr%u\": %u", r == 0 ? "" : ", ", r % 2 == 0 ? '+' : '-', r / 2, r);
    fputs("}, \"e\": {", file);
    for (uint32_t e = 0; e < shape->n_entities; e++)
        fprintf(file, "%s\"e%u\": %u", e == 0 ? "" : ", ", e, e);
    fputs("}}\n", file);
    assert_int_equal(fclose(file), 0);
}

void import_case_write_benchmark(const char *folder, const import_shape *shape, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 8);
    char path[4096];
    mkdir(folder, 0777);
    write_index(folder, shape);
    snprintf(path, sizeof path, "%s/train_kg.tsv", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < shape->n_lines; i++) {
        uint32_t head = draw_skewed(&random, shape->n_entities);
        uint32_t relation = 2 * draw_skewed(&random, shape->n_relations);
        uint32_t tail = (uint32_t)acq_random_below(&random, shape->n_entities);
        uint64_t given = acq_random_below(&random, 8);
        if (given != 0)
            fprintf(file, "%u\t%u\t%u\n", head, relation, tail);
        if (given != 1)
            fprintf(file, "%u\t%u\t%u\n", tail, relation + 1, head);
    }
    assert_int_equal(fclose(file), 0);
}

static void compare_names(const acq_graph *want, const acq_graph *got)
{
    for (acq_ent e = 0; e < acq_graph_get_n_entities(want); e++) {
        assert_string_equal(acq_graph_get_entity_key(got, e), acq_graph_get_entity_key(want, e));
        assert_string_equal(acq_graph_get_entity_name(got, e), acq_graph_get_entity_name(want, e));
    }
    for (acq_rel r = 0; r < acq_graph_get_n_relations(want); r++) {
        assert_int_equal(acq_graph_is_named(got, r), acq_graph_is_named(want, r));
        assert_string_equal(acq_graph_get_relation_key(got, r),
                            acq_graph_get_relation_key(want, r));
        assert_string_equal(acq_graph_get_relation_name(got, r),
                            acq_graph_get_relation_name(want, r));
    }
}

static void compare_links(const acq_graph *want, const acq_graph *got, acq_rel relation)
{
    const acq_links *a = NULL, *b = NULL;
    acq_error error = {0};
    assert_int_equal(acq_graph_open_links(want, relation, &a, NULL), ACQ_OK);
    if (acq_graph_open_links(got, relation, &b, &error) != ACQ_OK)
        fail_msg("relation %u: %s", relation, error.message);
    assert_int_equal(a->n_heads, b->n_heads);
    assert_int_equal(a->n_links, b->n_links);
    if (a->n_links == 0)
        return;
    assert_memory_equal(a->heads, b->heads, a->n_heads * sizeof *a->heads);
    assert_memory_equal(a->offsets, b->offsets, (a->n_heads + 1) * sizeof *a->offsets);
    assert_memory_equal(a->tails, b->tails, a->n_links * sizeof *a->tails);
}

void import_case_compare(const acq_graph *want, const acq_graph *got)
{
    assert_int_equal(acq_graph_get_n_entities(got), acq_graph_get_n_entities(want));
    assert_int_equal(acq_graph_get_n_relations(got), acq_graph_get_n_relations(want));
    assert_int_equal(acq_graph_get_n_facts(got), acq_graph_get_n_facts(want));
    assert_int_equal(acq_graph_is_rdf(got), acq_graph_is_rdf(want));
    assert_true(acq_graph_get_dictionary_fingerprint(got) ==
                acq_graph_get_dictionary_fingerprint(want));
    assert_true(acq_graph_get_fingerprint(got) == acq_graph_get_fingerprint(want));
    compare_names(want, got);
    for (acq_rel r = 0; r < acq_graph_get_n_relations(want); r++)
        compare_links(want, got, r);
    assert_int_equal(acq_graph_get_failure(got, NULL), ACQ_OK);
}

acq_import_report import_case_run(const char *source, const char *output,
                                  const acq_import_params *params)
{
    acq_import_report report = {0};
    acq_error error = {0};
    if (acq_import(&source, 1, output, params, &report, &error) != ACQ_OK)
        fail_msg("%s:%zu: %s", error.file, error.line, error.message);
    return report;
}

static void compare_reports(const acq_import_report *got, const acq_read_report *want,
                            const acq_graph *graph)
{
    assert_int_equal(got->read.lines, want->lines);
    assert_int_equal(got->read.bad, want->bad);
    assert_int_equal(got->read.duplicates, want->duplicates);
    assert_int_equal(got->read.completed, want->completed);
    assert_int_equal(got->read.literals, want->literals);
    assert_int_equal(got->read.labels, want->labels);
    assert_int_equal(got->n_facts, acq_graph_get_n_facts(graph));
    assert_int_equal(got->n_entities, acq_graph_get_n_entities(graph));
    assert_int_equal(got->n_relations, acq_graph_get_n_relations(graph) / 2);
}

acq_import_report import_case_check(const char *source, const acq_import_params *params)
{
    acq_graph *want = NULL, *got = NULL;
    acq_read_report read;
    acq_error error = {0};
    acq_import_report report = import_case_run(source, "checked", params);
    if (acq_graph_read(&source, 1, params == NULL ? NULL : &params->read, &want, &read, &error) !=
            ACQ_OK ||
        acq_store_open("checked", &got, &error) != ACQ_OK)
        fail_msg("%s: %s", error.file, error.message);
    import_case_compare(want, got);
    compare_reports(&report, &read, want);
    struct stat info;
    assert_int_equal(stat("checked", &info), 0);
    assert_int_equal(report.file_bytes, info.st_size);
    acq_graph_free(want);
    acq_graph_free(got);
    assert_int_equal(unlink("checked"), 0);
    unlink("checked-wal");
    unlink("checked-shm");
    return report;
}

bool import_case_exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

size_t import_case_count_files(const char *folder)
{
    size_t n = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open))
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open);
    return n;
}

void import_case_enter(void)
{
    assert_non_null(mkdtemp(scratch));
    assert_int_equal(chdir(scratch), 0);
}

/* One level of folders is all that the tests make. */
static void remove_files(const char *folder, bool with_folders)
{
    DIR *open = opendir(folder);
    char path[4096];
    for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0 && with_folders)
            remove_files(path, false);
    }
    closedir(open);
    rmdir(folder);
}

void import_case_leave(void)
{
    assert_int_equal(chdir("/"), 0);
    remove_files(scratch, true);
}
