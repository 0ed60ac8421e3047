/* completion_file.c - what is written comes back: scores, floors, facts, notes, refusals. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/threads.h"
#include "graph/build.h"
#include "predict/completion_file.h"
#include "unit/completion_case.h"

static acq_predictor *open_file(const acq_graph *graph, const char *path)
{
    acq_predictor *predictor = NULL;
    acq_error error = {0};
    if (acq_calibrator_open_completion(graph, path, &predictor, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return predictor;
}

static void write_file(const char *path, const acq_predictor *predictor, double floor)
{
    acq_error error = {0};
    if (case_write(path, predictor, floor, &error) != ACQ_OK)
        fail_msg("%s", error.message);
}

/* What a stored score must come back as. */
static float expected_score(float score, double floor, bool observed)
{
    if (observed)
        return 1.0F;
    float least = acq_score_decode(acq_score_encode_floor(floor));
    if (score < (float)floor || score < acq_score_decode(ACQ_CODE_LEAST))
        return 0.0F;
    float back = acq_score_decode(acq_score_encode(score));
    if (back > ACQ_SCORE_UNOBSERVED_MOST) /* a fact of the graph it was made for, now lost */
        return ACQ_SCORE_UNOBSERVED_MOST;
    return back < least ? least : back;
}

static void compare(const acq_predictor *wanted, const acq_predictor *found, double floor)
{
    for (acq_rel r = 0; r < CASE_RELATIONS; r++) {
        const acq_links *links = NULL;
        const char *reason = "";
        assert_int_equal(acq_predictor_open_links(found, r, &links, NULL), ACQ_OK);
        assert_true(acq_links_check(links, &reason));
        for (acq_ent h = 0; h < CASE_ENTITIES; h++) {
            for (acq_ent t = 0; t < CASE_ENTITIES; t++) {
                bool fact = acq_graph_has_fact(found->graph, h, r, t);
                float want = expected_score(acq_predictor_get_score(wanted, h, r, t), floor, fact);
                float got = acq_predictor_get_score(found, h, r, t);
                assert_true(got == want);
                assert_true(got == acq_predictor_get_score(found, t, acq_inverse(r), h));
                assert_true(fact || got <= ACQ_SCORE_UNOBSERVED_MOST);
            }
        }
    }
}

static void test_scores_come_back_at_every_floor(void **state)
{
    (void)state;
    const double floors[] = {0.0, 0.003, 0.25, 0.5, 0.9999, 1.0};
    char path[64];
    case_name_file(path, sizeof path);
    for (uint64_t seed = 0; seed < 12; seed++) {
        acq_graph *graph = completion_make_graph(seed, seed * 20);
        acq_predictor *scored = case_make_predictor(graph, seed, seed * 50);
        double floor = floors[seed % 6];
        write_file(path, scored, floor);
        acq_predictor *back = open_file(graph, path);
        compare(scored, back, floor);
        assert_null(acq_predictor_get_note(back));
        acq_predictor_free(back);
        acq_predictor_free(scored);
        acq_graph_free(graph);
    }
    unlink(path);
}

static void test_info_says_what_the_file_is(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(3, 50);
    acq_predictor *scored = case_make_predictor(graph, 3, 100);
    write_file(path, scored, 0.125);
    acq_completion_info info;
    assert_int_equal(acq_completion_read_info(path, &info, NULL), ACQ_OK);
    assert_int_equal(info.version, 1);
    assert_int_equal(info.n_entities, CASE_ENTITIES);
    assert_int_equal(info.n_relations, CASE_RELATIONS);
    assert_true(info.floor == 0.125);
    assert_false(info.certain);
    assert_true(info.graph_fingerprint == acq_graph_get_fingerprint(graph));
    assert_string_equal(info.predictor, "scored: a test");
    acq_predictor *back = open_file(graph, path);
    uint64_t n_links = 0;
    for (acq_rel r = 0; r < CASE_RELATIONS; r++) {
        const acq_links *links = NULL;
        assert_int_equal(acq_predictor_open_links(back, r, &links, NULL), ACQ_OK);
        n_links += links->n_links;
    }
    assert_int_equal(info.n_links, n_links);
    char label[128];
    snprintf(label, sizeof label, "completion:%s", path);
    assert_string_equal(back->name, label);
    acq_predictor_free(back);
    acq_predictor_free(scored);
    acq_graph_free(graph);
    unlink(path);
}

static void test_new_facts_win_and_lost_facts_are_predictions(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *before = completion_make_graph(5, 60), *after = completion_make_graph(6, 60);
    acq_predictor *scored = case_make_predictor(before, 5, 100);
    write_file(path, scored, 0.0);
    acq_predictor *back = open_file(after, path);
    assert_non_null(acq_predictor_get_note(back));
    compare(scored, back, 0.0);
    acq_predictor_free(back);
    acq_predictor_free(scored);
    acq_graph_free(before);
    acq_graph_free(after);
    unlink(path);
}

static void test_a_perfect_completion_stays_zero_or_one(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(7, 20), *complete = completion_make_graph(8, 200);
    acq_predictor *perfect = NULL;
    assert_int_equal(acq_predictor_new_perfect(graph, complete, NULL, &perfect, NULL, NULL),
                     ACQ_OK);
    write_file(path, perfect, 0.5);
    acq_completion_info info;
    assert_int_equal(acq_completion_read_info(path, &info, NULL), ACQ_OK);
    assert_true(info.certain);
    acq_predictor *back = open_file(graph, path);
    for (acq_rel r = 0; r < CASE_RELATIONS; r++) {
        const acq_links *links = NULL;
        assert_int_equal(acq_predictor_open_links(back, r, &links, NULL), ACQ_OK);
        assert_null(links->scores);
        for (acq_ent h = 0; h < CASE_ENTITIES; h++) {
            for (acq_ent t = 0; t < CASE_ENTITIES; t++) {
                bool truth =
                    acq_graph_has_fact(complete, h, r, t) || acq_graph_has_fact(graph, h, r, t);
                assert_true(acq_predictor_get_score(back, h, r, t) == (truth ? 1.0F : 0.0F));
            }
        }
    }
    acq_predictor_free(back);
    acq_predictor_free(perfect);
    acq_graph_free(complete);
    acq_graph_free(graph);
    unlink(path);
}

static void test_the_writer_takes_either_direction_and_lowers_learned_ones(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(9, 0);
    acq_link links[] = {{1, 2, 1.0F}, {3, 4, 0.99995F}, {5, 6, 0.25F}};
    acq_links *rows = NULL;
    acq_completion_writer *writer = NULL;
    acq_completion_params params = {.predictor = "learned", .floor = 0.1};
    assert_int_equal(acq_links_new(links, 3, CASE_ENTITIES, true, &rows), ACQ_OK);
    assert_int_equal(acq_completion_writer_open(path, graph, &params, &writer, NULL), ACQ_OK);
    assert_int_equal(acq_completion_writer_add(writer, 3, rows, NULL), ACQ_OK);
    assert_int_equal(acq_completion_writer_add(writer, 3, rows, NULL), ACQ_ERR_USAGE);
    assert_int_equal(acq_completion_writer_add(writer, 2, rows, NULL), ACQ_ERR_USAGE);
    assert_int_equal(acq_completion_writer_add(writer, CASE_RELATIONS, rows, NULL), ACQ_ERR_USAGE);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(acq_completion_writer_finish(writer, NULL), ACQ_OK);
    acq_completion_writer_close(writer);
    acq_predictor *back = open_file(graph, path);
    assert_true(acq_predictor_get_score(back, 2, 2, 1) == 0.9999F);
    assert_true(acq_predictor_get_score(back, 3, 3, 4) == 0.9999F);
    assert_true(acq_predictor_get_score(back, 5, 3, 6) > 0.2499F);
    assert_int_equal(acq_predictor_get_row(back, 1, 0).n, 0);
    acq_predictor_free(back);
    acq_links_free(rows);
    acq_graph_free(graph);
    unlink(path);
    assert_int_equal(case_count_files(path), 0);
}

/* The unobserved links of one relation, by threes. */
typedef struct pieces_case {
    acq_link links[CASE_ENTITIES * CASE_ENTITIES];
    size_t n;
} pieces_case;

static acq_status read_piece(void *context, size_t piece, const acq_link **links, size_t *n,
                             acq_error *error)
{
    pieces_case *all = context;
    size_t first = 3 * piece;
    (void)error;
    *links = all->links + first;
    *n = all->n - first < 3 ? all->n - first : 3;
    return ACQ_OK;
}

/* Last links first: pieces have no order. */
static void list_unobserved(const acq_predictor *scored, acq_rel relation, pieces_case *out)
{
    out->n = 0;
    for (acq_ent h = CASE_ENTITIES; h-- > 0;)
        for (acq_ent t = 0; t < CASE_ENTITIES; t++) {
            float score = acq_predictor_get_score(scored, h, relation, t);
            if (score > 0 && !acq_graph_has_fact(scored->graph, h, relation, t))
                out->links[out->n++] = (acq_link){h, t, score};
        }
}

static void write_pieces(const char *path, const acq_predictor *scored, double floor, size_t most)
{
    static pieces_case all;
    acq_completion_writer *writer = NULL;
    acq_completion_params params = {.predictor = scored->name, .floor = floor, .certain = true};
    assert_int_equal(acq_completion_writer_open(path, scored->graph, &params, &writer, NULL),
                     ACQ_OK);
    for (acq_rel r = 0; r < CASE_RELATIONS; r += 2) {
        list_unobserved(scored, r, &all);
        acq_link_pieces pieces = {(all.n + 2) / 3, read_piece, &all};
        assert_int_equal(acq_completion_writer_add_pieces(writer, r, &pieces, most, NULL), ACQ_OK);
    }
    assert_int_equal(acq_completion_writer_finish(writer, NULL), ACQ_OK);
    acq_completion_writer_close(writer);
}

static void check_same_bytes(const char *path, const char *other)
{
    char *a = NULL, *b = NULL;
    size_t n = 0, m = 0;
    assert_int_equal(acq_file_read(path, &a, &n, NULL), ACQ_OK);
    assert_int_equal(acq_file_read(other, &b, &m, NULL), ACQ_OK);
    assert_int_equal(n, m);
    assert_memory_equal(a, b, n);
    acq_free(a);
    acq_free(b);
}

static void test_pieces_give_the_same_file(void **state)
{
    (void)state;
    char path[64], other[80];
    case_name_file(path, sizeof path);
    snprintf(other, sizeof other, "%s.other", path);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        acq_graph *graph = completion_make_graph(seed, seed * 20);
        acq_predictor *scored = case_make_predictor(graph, seed, seed * 50);
        double floor = seed % 2 == 0 ? .25 : 0;
        write_file(path, scored, floor);
        write_pieces(other, scored, floor, 1 + seed * seed);
        check_same_bytes(path, other);
        acq_predictor_free(scored);
        acq_graph_free(graph);
    }
    unlink(path);
    unlink(other);
}

static void check_rows(const acq_predictor *whole, const acq_predictor *single)
{
    for (acq_rel r = 0; r < CASE_RELATIONS; r++)
        for (acq_ent h = 0; h < CASE_ENTITIES; h++) {
            acq_row wanted = acq_predictor_get_row(whole, h, r);
            acq_scored_row row;
            acq_row_want want = {.relation = r, .heads = &h, .n = 1};
            assert_int_equal(single->ops->copy_rows(single, &want, &row, NULL), ACQ_OK);
            assert_int_equal(row.n, wanted.n);
            for (size_t i = 0; i < row.n; i++) {
                assert_int_equal(row.tails[i], wanted.tails[i]);
                assert_true(row.scores[i] == (wanted.scores == NULL ? 1.0F : wanted.scores[i]));
            }
            acq_scored_row_deinit(&row);
        }
}

static void test_single_rows_are_those_of_their_relation(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        acq_graph *graph = completion_make_graph(seed, seed * 20);
        acq_graph *after = completion_make_graph(seed + 1, seed * 20); /* other facts */
        acq_predictor *scored = case_make_predictor(graph, seed, seed * 50), *single = NULL;
        write_file(path, scored, .01);
        acq_predictor *whole = open_file(after, path);
        assert_int_equal(acq_predictor_new_completion_rows(after, path, 0, &single, NULL), ACQ_OK);
        assert_true(acq_predictor_makes_rows(single));
        assert_false(acq_predictor_makes_rows(whole));
        check_rows(whole, single);
        acq_predictor_free(single);
        acq_predictor_free(whole);
        acq_predictor_free(scored);
        acq_graph_free(after);
        acq_graph_free(graph);
    }
    unlink(path);
}

static void test_broken_links_are_not_written(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(9, 0);
    acq_completion_writer *writer = NULL;
    acq_completion_params params = {.predictor = "learned", .floor = 0.1};
    acq_error error = {0};
    acq_ent heads[] = {1}, tails[] = {2};
    uint32_t offsets[] = {0, 1};
    float scores[] = {0.0F / 0.0F}, best[] = {0.0F / 0.0F};
    acq_links rows = {.n_entities = CASE_ENTITIES,
                      .n_heads = 1,
                      .n_links = 1,
                      .heads = heads,
                      .offsets = offsets,
                      .tails = tails,
                      .scores = scores,
                      .best = best};
    assert_int_equal(acq_completion_writer_open(path, graph, &params, &writer, NULL), ACQ_OK);
    assert_int_equal(acq_completion_writer_add(writer, 0, &rows, &error), ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "a score is not in (0, 1]"));
    acq_completion_writer_close(writer);
    acq_completion_writer_close(NULL);
    assert_int_equal(case_count_files(path), 0);
    params.floor = 0.0F / 0.0F;
    assert_int_equal(acq_completion_writer_open(path, graph, &params, &writer, NULL),
                     ACQ_ERR_USAGE);
    acq_graph_free(graph);
}

static void test_files_that_cannot_be_written_leave_nothing(void **state)
{
    (void)state;
    char path[64], below[128];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(10, 30);
    acq_predictor *scored = case_make_predictor(graph, 10, 30);
    acq_error error = {0};
    snprintf(below, sizeof below, "%s/nowhere", path);
    assert_int_equal(case_write(below, scored, 0.1, &error), ACQ_ERR_IO);
    assert_string_equal(error.file, below);
    assert_int_equal(mkdir(path, 0777), 0);
    error = (acq_error){0};
    assert_int_equal(case_write(path, scored, 0.1, &error), ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "not a regular file"));
    assert_int_equal(case_count_files(path), 1);
    error = (acq_error){0};
    acq_predictor *back = NULL;
    assert_int_equal(acq_calibrator_open_completion(graph, path, &back, &error), ACQ_ERR_INPUT);
    rmdir(path);
    assert_int_equal(mkfifo(path, 0666), 0); /* a special file is never replaced */
    assert_int_equal(case_write(path, scored, 0.1, NULL), ACQ_ERR_USAGE);
    assert_int_equal(unlink(path), 0);
    acq_predictor_free(scored);
    acq_graph_free(graph);
}

/* Nobody writes into the pipe: a test that waits for it ends by the alarm. */
static void test_a_pipe_is_refused_as_completion_and_as_shard(void **state)
{
    (void)state;
    char path[64], output[80];
    acq_error error = {0}, shard = {0};
    acq_predictor *back = NULL;
    case_name_file(path, sizeof path);
    snprintf(output, sizeof output, "%s-whole", path);
    const char *const parts[] = {path};
    acq_graph *graph = completion_make_graph(10, 30);
    assert_int_equal(mkfifo(path, 0666), 0);
    alarm(60);
    assert_int_equal(acq_calibrator_open_completion(graph, path, &back, &error), ACQ_ERR_INPUT);
    assert_int_equal(acq_completion_merge_files(parts, 1, output, NULL, NULL, &shard),
                     ACQ_ERR_INPUT);
    alarm(0);
    assert_string_equal(error.message, "this is not a regular file; name a completion file");
    assert_string_equal(shard.message, error.message);
    assert_string_equal(error.file, path);
    assert_int_equal(unlink(path), 0);
    acq_graph_free(graph);
}

static void test_a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(13, 100);
    acq_predictor *scored = case_make_predictor(graph, 13, 100);
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t bytes = 0; bytes < 4000; bytes += 500) {
        acq_error error = {0};
        small = (struct rlimit){.rlim_cur = bytes, .rlim_max = old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        acq_status status = case_write(path, scored, 0.0, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, ACQ_ERR_IO);
        assert_non_null(strstr(error.message, "cannot write the completion"));
        assert_int_equal(case_count_files(path), 0);
    }
    signal(SIGXFSZ, handler);
    acq_predictor_free(scored);
    acq_graph_free(graph);
}

static void test_scores_at_the_floor_never_fall_below_it(void **state)
{
    (void)state;
    char path[64] = "./";
    case_name_file(path + 2, sizeof path - 2);
    acq_graph *graph = completion_make_graph(14, 0);
    for (double floor = 0.0011; floor < 0.99; floor *= 1.7) {
        acq_link link = {1, 2, (float)floor};
        acq_links *rows = NULL;
        acq_completion_writer *writer = NULL;
        acq_completion_params params = {.predictor = "learned", .floor = floor};
        assert_int_equal(acq_links_new(&link, 1, CASE_ENTITIES, true, &rows), ACQ_OK);
        assert_int_equal(acq_completion_writer_open(path, graph, &params, &writer, NULL), ACQ_OK);
        assert_int_equal(acq_completion_writer_add(writer, 0, rows, NULL), ACQ_OK);
        assert_int_equal(acq_completion_writer_finish(writer, NULL), ACQ_OK);
        acq_completion_writer_close(writer);
        acq_links_free(rows);
        acq_predictor *back = open_file(graph, path);
        const acq_links *links = NULL;
        float score = acq_predictor_get_score(back, 1, 0, 2);
        assert_true(score >= (float)floor && score < (float)floor * 1.001F);
        assert_int_equal(acq_predictor_open_links(back, CASE_RELATIONS, &links, NULL),
                         ACQ_ERR_USAGE);
        acq_predictor_free(back);
    }
    acq_graph_free(graph);
    unlink(path);
}

/* The facts of `graph` and one more, about a new entity by a new relation. */
static acq_graph *grow(const acq_graph *graph)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *grown = NULL;
    uint32_t id, entity, relation;
    for (acq_ent e = 0; e < acq_graph_get_n_entities(graph); e++) {
        const char *name = acq_graph_get_entity_name(graph, e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r += 2) {
        const char *name = acq_graph_get_relation_name(graph, r);
        const acq_links *links;
        assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
        assert_int_equal(acq_graph_open_links(graph, r, &links, NULL), ACQ_OK);
        for (uint32_t i = 0; i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            for (size_t k = 0; k < row.n; k++)
                assert_int_equal(
                    acq_graph_builder_add_fact(builder, links->heads[i], r, row.tails[k]), ACQ_OK);
        }
    }
    assert_int_equal(acq_graph_builder_add_entity(builder, "new", 3, &entity), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "newer", 5, &relation), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_fact(builder, entity, relation, 0), ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &grown, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return grown;
}

static void test_a_graph_that_grew_keeps_its_completion(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(12, 30), *grown = grow(graph);
    acq_predictor *scored = case_make_predictor(graph, 12, 60), *back = NULL, *after = NULL;
    write_file(path, scored, 0.1);
    assert_int_equal(acq_calibrator_open_completion(graph, path, &back, NULL), ACQ_OK);
    assert_int_equal(acq_calibrator_open_completion(grown, path, &after, NULL), ACQ_OK);
    for (acq_rel r = 0; r < CASE_RELATIONS; r++) {
        const acq_links *ours, *theirs;
        assert_int_equal(back->ops->open_links(back, r, &ours, NULL), ACQ_OK);
        assert_int_equal(after->ops->open_links(after, r, &theirs, NULL), ACQ_OK);
        assert_int_equal(theirs->n_entities, CASE_ENTITIES + 1);
        assert_int_equal(acq_links_get_row(theirs, CASE_ENTITIES).n, 0);
        for (acq_ent h = 0; h < CASE_ENTITIES; h++) {
            for (acq_ent t = 0; t < CASE_ENTITIES; t++)
                assert_true(acq_links_get_score(ours, h, t) == acq_links_get_score(theirs, h, t));
        }
    }
    const acq_links *links;
    assert_int_equal(after->ops->open_links(after, CASE_RELATIONS, &links, NULL), ACQ_OK);
    assert_true(acq_links_get_score(links, CASE_ENTITIES, 0) == 1.0F);
    assert_non_null(after->ops->get_note(after));
    acq_predictor_free(after);
    acq_predictor_free(back);
    acq_predictor_free(scored);
    acq_graph_free(grown);
    acq_graph_free(graph);
    unlink(path);
}

static void test_another_dictionary_is_refused(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(11, 30);
    acq_predictor *scored = case_make_predictor(graph, 11, 30), *back = NULL;
    write_file(path, scored, 0.1);
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *other = NULL;
    acq_error error = {0};
    assert_int_equal(acq_graph_builder_finish(builder, &other, NULL), ACQ_OK);
    assert_int_equal(acq_calibrator_open_completion(other, path, &back, &error), ACQ_ERR_INPUT);
    assert_null(back);
    assert_non_null(strstr(error.message, "belongs to another graph"));
    assert_string_equal(error.file, path);
    error = (acq_error){0};
    assert_int_equal(acq_calibrator_open_completion(graph, "no-such-file", &back, &error),
                     ACQ_ERR_INPUT);
    assert_string_equal(error.message, "there is no such file; check the path");
    acq_graph_builder_free(builder);
    acq_graph_free(other);
    acq_predictor_free(scored);
    acq_graph_free(graph);
    unlink(path);
}

typedef struct race {
    const acq_predictor *predictor;
    const acq_links *seen[64][CASE_RELATIONS];
} race;

static acq_status open_all(void *context, size_t item, unsigned thread)
{
    race *r = context;
    (void)thread;
    for (acq_rel k = 0; k < CASE_RELATIONS; k++) {
        acq_rel relation = (acq_rel)((k + item) % CASE_RELATIONS);
        acq_status status =
            acq_predictor_open_links(r->predictor, relation, &r->seen[item][relation], NULL);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

static void test_threads_share_what_the_first_one_loads(void **state)
{
    (void)state;
    char path[64];
    case_name_file(path, sizeof path);
    acq_graph *graph = completion_make_graph(12, 200);
    acq_predictor *scored = case_make_predictor(graph, 12, 300);
    write_file(path, scored, 0.0);
    for (int round = 0; round < 10; round++) {
        acq_predictor *back = open_file(graph, path);
        race r = {.predictor = back};
        assert_int_equal(acq_threads_run(8, 64, open_all, &r), ACQ_OK);
        for (int i = 1; i < 64; i++)
            assert_memory_equal(r.seen[i], r.seen[0], sizeof r.seen[0]);
        acq_predictor_free(back);
    }
    acq_predictor_free(scored);
    acq_graph_free(graph);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores_come_back_at_every_floor),
        cmocka_unit_test(test_info_says_what_the_file_is),
        cmocka_unit_test(test_new_facts_win_and_lost_facts_are_predictions),
        cmocka_unit_test(test_a_perfect_completion_stays_zero_or_one),
        cmocka_unit_test(test_the_writer_takes_either_direction_and_lowers_learned_ones),
        cmocka_unit_test(test_pieces_give_the_same_file),
        cmocka_unit_test(test_single_rows_are_those_of_their_relation),
        cmocka_unit_test(test_broken_links_are_not_written),
        cmocka_unit_test(test_files_that_cannot_be_written_leave_nothing),
        cmocka_unit_test(test_a_pipe_is_refused_as_completion_and_as_shard),
        cmocka_unit_test(test_a_full_disk_leaves_nothing),
        cmocka_unit_test(test_scores_at_the_floor_never_fall_below_it),
        cmocka_unit_test(test_a_graph_that_grew_keeps_its_completion),
        cmocka_unit_test(test_another_dictionary_is_refused),
        cmocka_unit_test(test_threads_share_what_the_first_one_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
