/* Links have probabilities that the graph itself teaches: they are true on made-up
 * worlds, kept beside the graph, and made again when what is kept is not of this graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/quick.h"
#include "engine/open.h"
#include "graph/build.h"
#include "support/scale.h"
#include "support/scale.h"
#include "support/world.h"

/* ---- worlds as graphs ---- */

static acq_ent add_entity(acq_graph_builder *builder, const world *made, uint32_t entity)
{
    char name[64];
    acq_ent id;
    world_print_entity(made, entity, name, sizeof name);
    assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    return id;
}

static acq_graph *build(const world *made, bool all, size_t skip)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph;
    for (size_t i = 0; i < world_count(made); i++) {
        const world_fact *fact = world_get_fact(made, i);
        const char *relation = world_get_relation(made, fact->relation);
        acq_rel id;
        acq_ent head = add_entity(builder, made, fact->head);
        acq_ent tail = add_entity(builder, made, fact->tail);
        assert_int_equal(acq_graph_builder_add_relation(builder, relation, strlen(relation), &id),
                         ACQ_OK);
        if ((all || !fact->is_hidden) && i >= skip)
            assert_int_equal(acq_graph_builder_add_fact(builder, head, id, tail), ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static acq_predictor *open_quick(const acq_graph *graph, const char *path, unsigned n_threads)
{
    acq_predictor *predictor;
    acq_open_params params = {.graph_path = path, .n_threads = n_threads};
    assert_int_equal(acq_predictor_open_with(graph, "ultra", &params, &predictor, NULL, NULL),
                     ACQ_OK);
    return predictor;
}

static const acq_links *open_links(const acq_predictor *predictor, acq_rel relation)
{
    const acq_links *links;
    assert_int_equal(acq_predictor_open_links(predictor, relation, &links, NULL), ACQ_OK);
    return links;
}

static void assert_same(const acq_predictor *a, const acq_predictor *b)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(a->graph); r++) {
        const acq_links *x = open_links(a, r), *y = open_links(b, r);
        assert_int_equal(x->n_heads, y->n_heads);
        assert_int_equal(x->n_links, y->n_links);
        for (uint32_t i = 0; i < x->n_heads; i++) {
            acq_row row = acq_links_get_row_at(x, i), other = acq_links_get_row_at(y, i);
            assert_int_equal(row.n, other.n);
            assert_memory_equal(row.tails, other.tails, row.n * sizeof *row.tails);
            assert_memory_equal(row.scores, other.scores, row.n * sizeof *row.scores);
        }
    }
}

/* ---- what is stated is true ---- */

typedef struct truth_sums {
    double stated, truth, said, right, first;
} truth_sums;

static void sum_up(truth_sums *sums, const acq_predictor *predictor, const acq_graph *complete)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(complete); r += 2) {
        const acq_links *links = open_links(predictor, r);
        for (uint32_t i = 0; i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            for (size_t j = 0; j < row.n; j++) {
                acq_ent head = links->heads[i], tail = row.tails[j];
                if (acq_graph_has_fact(predictor->graph, head, r, tail))
                    continue;
                bool is_true = acq_graph_has_fact(complete, head, r, tail);
                double p = (double)row.scores[j];
                assert_true(row.scores[j] ==
                            acq_predictor_get_score(predictor, tail, acq_inverse(r), head));
                sums->stated += p;
                sums->truth += is_true;
                sums->said += p >= .5;
                sums->right += p >= .5 && is_true;
            }
        }
    }
}

static void test_probabilities_are_true_on_worlds_nobody_has_seen(void **state)
{
    (void)state;
    static const char *const names[] = {"company", "hospital", "university", "supply"};
    truth_sums sums = {0};
    for (uint64_t seed = 0; seed < SCALE(4, 1); seed++) {
        world *made = world_new(names[seed], 1500, .08, 700 + seed);
        acq_graph *observed = build(made, false, 0), *complete = build(made, true, 0);
        acq_predictor *predictor = open_quick(observed, NULL, 2);
        assert_null(acq_predictor_get_note(predictor));
        sum_up(&sums, predictor, complete);
        acq_predictor_free(predictor);
        acq_graph_free(observed);
        acq_graph_free(complete);
        world_free(made);
    }
    print_message("stated %.1f true %.0f, said %.0f right %.0f\n", sums.stated, sums.truth,
                  sums.said, sums.right);
    if (SCALE(true, false)) {
        assert_true(fabs(sums.stated - sums.truth) < .25 * sums.truth);
        assert_true(sums.said >= 20 && sums.right >= .7 * sums.said);
    }
}

/* ---- both ways ---- */

enum { PEOPLE = 500, ARCS = 1500 };

static void add_arc(acq_graph_builder *builder, acq_rel relation, uint32_t a, uint32_t b)
{
    char names[2][16];
    acq_ent ids[2];
    snprintf(names[0], sizeof names[0], "p%u", a);
    snprintf(names[1], sizeof names[1], "p%u", b);
    for (int i = 0; i < 2; i++)
        assert_int_equal(acq_graph_builder_add_entity(builder, names[i], strlen(names[i]), &ids[i]),
                         ACQ_OK);
    assert_int_equal(acq_graph_builder_add_fact(builder, ids[0], relation, ids[1]), ACQ_OK);
}

/* "friend" is always returned, "likes" mostly; 8 % of the facts are hidden. */
static acq_graph *build_both_ways(uint64_t seed, bool all)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_random random = acq_random_start(seed, 0);
    static const char *const names[] = {"friend", "likes"};
    static const double returned[] = {1, .8};
    acq_rel ids[2];
    acq_graph *graph;
    for (int r = 0; r < 2; r++)
        assert_int_equal(
            acq_graph_builder_add_relation(builder, names[r], strlen(names[r]), &ids[r]), ACQ_OK);
    for (uint32_t i = 1; i < PEOPLE; i++) /* the same ids in both graphs */
        add_arc(builder, ids[1], i - 1, i);
    for (uint32_t i = 0; i < 2 * ARCS; i++) {
        uint32_t a = (uint32_t)(acq_random_unit(&random) * PEOPLE);
        uint32_t b = (uint32_t)(acq_random_unit(&random) * PEOPLE);
        bool is_returned = acq_random_unit(&random) < returned[i % 2];
        bool is_there = acq_random_unit(&random) >= .08, is_back = acq_random_unit(&random) >= .08;
        if (a != b && (all || is_there))
            add_arc(builder, ids[i % 2], a, b);
        if (a != b && is_returned && (all || is_back))
            add_arc(builder, ids[i % 2], b, a);
    }
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

/* Mean p of the missing links whose inverse is known, and the share of true ones. */
static truth_sums sum_returned(const acq_predictor *predictor, const acq_graph *complete,
                               acq_rel relation)
{
    truth_sums sums = {0};
    const acq_links *links = open_links(predictor, relation);
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        for (size_t j = 0; j < row.n; j++) {
            acq_ent head = links->heads[i], tail = row.tails[j];
            if (acq_graph_has_fact(predictor->graph, head, relation, tail) ||
                !acq_graph_has_fact(predictor->graph, tail, relation, head))
                continue;
            sums.said++;
            sums.stated += (double)row.scores[j];
            sums.truth += acq_graph_has_fact(complete, head, relation, tail);
        }
    }
    return sums;
}

/* Labels can hardly tell a relation that always comes both ways from one that nearly does; the
 * prior knows that there are such relations, and stands until labels speak against it. */
static void test_what_always_comes_both_ways_is_nearly_certain(void **state)
{
    (void)state;
    acq_graph *observed = build_both_ways(5, false), *complete = build_both_ways(5, true);
    acq_predictor *predictor = open_quick(observed, NULL, 2);
    truth_sums friends = sum_returned(predictor, complete, 0);
    truth_sums likes = sum_returned(predictor, complete, 2);
    print_message("friend: %.0f links, stated %.3f, true %.3f; likes: %.0f, %.3f, %.3f\n",
                  friends.said, friends.stated / friends.said, friends.truth / friends.said,
                  likes.said, likes.stated / likes.said, likes.truth / likes.said);
    assert_true(friends.said > 150 && likes.said > 150);
    assert_true(friends.stated / friends.said > .97);
    assert_true(fabs(likes.stated - likes.truth) < .15 * likes.said);
    acq_predictor_free(predictor);
    acq_graph_free(observed);
    acq_graph_free(complete);
}

/* Somebody who lives somewhere lives nowhere else. */
static void test_a_head_with_its_only_tail_gets_no_other(void **state)
{
    (void)state;
    world *made = world_new("company", 1500, .08, 31);
    acq_graph *observed = build(made, false, 0);
    acq_predictor *predictor = open_quick(observed, NULL, 2);
    acq_rel relation = acq_graph_find_relation(observed, "lives_in", strlen("lives_in"));
    const acq_links *links = open_links(predictor, relation);
    size_t n_rows = 0;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        size_t n_facts = 0;
        float most = 0;
        for (size_t j = 0; j < row.n; j++) {
            bool is_fact = acq_graph_has_fact(observed, links->heads[i], relation, row.tails[j]);
            n_facts += is_fact;
            most = is_fact || row.scores[j] < most ? most : row.scores[j];
        }
        n_rows += n_facts == 1;
        assert_true(n_facts == 0 || most < .1F);
    }
    assert_true(n_rows > 50);
    acq_predictor_free(predictor);
    acq_graph_free(observed);
    world_free(made);
}

/* ---- larger graphs ---- */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static bool is_wanted(void *context)
{
    (void)context;
    return true;
}

/* Both ends of some links say the same, and so do all links of the relation. */
static void check_ends(const acq_predictor *predictor, const acq_predictor *other, acq_rel r)
{
    const acq_links *heads = NULL;
    assert_int_equal(acq_graph_open_links(predictor->graph, r, &heads, NULL), ACQ_OK);
    for (uint32_t i = 0; i < heads->n_heads; i += heads->n_heads / 8 + 1) {
        acq_scored_row row, back;
        acq_row whole = acq_links_get_row(open_links(other, r), heads->heads[i]);
        assert_int_equal(acq_predictor_copy_row(predictor, r, heads->heads[i], &row, NULL), ACQ_OK);
        assert_int_equal(row.n, whole.n);
        assert_memory_equal(row.scores, whole.scores, row.n * sizeof *row.scores);
        for (size_t j = 0; j < row.n && j < 3; j++) {
            acq_row turned;
            assert_int_equal(
                acq_predictor_copy_row(predictor, acq_inverse(r), row.tails[j], &back, NULL),
                ACQ_OK);
            turned = (acq_row){.tails = back.tails, .scores = back.scores, .n = back.n};
            size_t at = acq_row_find(turned, heads->heads[i]);
            assert_true(at < back.n && back.scores[at] == row.scores[j]);
            acq_scored_row_deinit(&back);
        }
        acq_scored_row_deinit(&row);
    }
}

/* Stopped twice, learning leaves nothing behind. */
static void check_stopped(const acq_predictor *predictor)
{
    acq_stop stop = {is_wanted, NULL};
    for (int i = 0; i < 2; i++)
        assert_int_equal(predictor->ops->load(predictor, stop, NULL), ACQ_ERR_INTERRUPTED);
}

/* A larger graph learns too, from a sample; links have one number and learning can be stopped. */
static void test_a_larger_graph_makes_rows(void **state)
{
    (void)state;
    truth_sums sums = {0};
    world *made = world_new("company", 46000, .08, 801);
    acq_graph *observed = build(made, false, 0), *complete = build(made, true, 0);
    static const char path[] = "quick_large.tsv", kept[] = "quick_large.tsv.calibrator";
    unlink(kept);
    write_text(path, "any file");
    acq_predictor *predictor = open_quick(observed, path, 1),
                  *other = open_quick(observed, path, 2);
    assert_false(acq_quick_is_small(observed));
    assert_true(acq_predictor_makes_rows(predictor) && predictor->has_cheap_rows);
    check_stopped(predictor);
    assert_int_not_equal(access(kept, F_OK), 0);
    for (acq_rel r = 0; r < SCALE(4, 0); r++) /* learning takes too long with sanitizers */
        check_ends(predictor, other, r);
    if (SCALE(1, 0) == 1) {
        sum_up(&sums, predictor, complete);
        print_message("stated %.1f true %.0f, said %.0f right %.0f\n", sums.stated, sums.truth,
                      sums.said, sums.right);
        assert_true(fabs(sums.stated - sums.truth) < .25 * sums.truth);
        assert_true(sums.said >= 20 && sums.right >= .7 * sums.said);
    }
    acq_predictor_free(predictor);
    acq_predictor_free(other);
    acq_graph_free(observed);
    acq_graph_free(complete);
    world_free(made);
    unlink(path);
    unlink(kept);
}

/* ---- what is kept ---- */

static bool is_kept_of(const char *path, const acq_graph *graph, bool may_be_earlier)
{
    acq_calibrator *kept = acq_calibrator_new();
    bool is_good = acq_quick_get(path, graph, may_be_earlier, kept);
    acq_calibrator_free(kept);
    return is_good;
}

static bool is_kept(const char *path, const acq_graph *graph)
{
    return is_kept_of(path, graph, false);
}

static void test_what_was_learnt_is_kept_for_this_graph_alone(void **state)
{
    (void)state;
    static const char path[] = "quick_links.tsv", kept[] = "quick_links.tsv.calibrator";
    world *made = world_new("supply", 500, .08, 5);
    acq_graph *graph = build(made, false, 0), *other = build(made, false, 3);
    unlink(kept);
    write_text(path, "any file");
    acq_predictor *first = open_quick(graph, path, 1), *again;
    assert_int_not_equal(access(kept, F_OK), 0); /* nothing is learnt before it is needed */
    (void)open_links(first, 0);
    assert_true(is_kept(kept, graph));
    assert_false(is_kept(kept, other));
    assert_true(is_kept_of(kept, other, true)); /* grown, say */
    again = open_quick(graph, path, 2);
    assert_same(first, again);
    acq_predictor_free(again);
    for (int i = 0; i < 2; i++) { /* damaged, then of another graph */
        if (i == 0)
            write_text(kept, "no calibrator");
        again = open_quick(i == 0 ? graph : other, path, 2);
        (void)open_links(again, 0);
        assert_true(is_kept(kept, i == 0 ? graph : other));
        if (i == 0)
            assert_same(first, again);
        acq_predictor_free(again);
    }
    acq_predictor_free(first);
    acq_graph_free(graph);
    acq_graph_free(other);
    world_free(made);
    unlink(path);
    unlink(kept);
}

static void test_a_tiny_graph_says_that_it_is_one(void **state)
{
    (void)state;
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph;
    acq_ent ids[3];
    acq_rel relation;
    static const char *const names[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(acq_graph_builder_add_entity(builder, names[i], 1, &ids[i]), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "r", 1, &relation), ACQ_OK);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(acq_graph_builder_add_fact(builder, ids[i], relation, ids[i + 1]), ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    acq_predictor *predictor = open_quick(graph, NULL, 1);
    assert_non_null(acq_predictor_get_note(predictor));
    assert_true(acq_predictor_get_score(predictor, ids[0], relation, ids[1]) == 1);
    assert_true(acq_predictor_get_score(predictor, ids[2], relation, ids[0]) < .5F);
    acq_predictor_free(predictor);
    acq_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probabilities_are_true_on_worlds_nobody_has_seen),
        cmocka_unit_test(test_what_always_comes_both_ways_is_nearly_certain),
        cmocka_unit_test(test_a_head_with_its_only_tail_gets_no_other),
        cmocka_unit_test(test_a_larger_graph_makes_rows),
        cmocka_unit_test(test_what_was_learnt_is_kept_for_this_graph_alone),
        cmocka_unit_test(test_a_tiny_graph_says_that_it_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
