/* rules_mine.c - mined rules and what they say, against loops over all pairs of entities. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"
#include "models/rules/rules.h"

enum { MOST_ENTITIES = 12, MOST_RELATIONS = 6, N_GRAPHS = 150, ALL = 1000000 };

typedef struct world {
    uint32_t n_entities, n_relations;
    bool is_fact[MOST_RELATIONS][MOST_ENTITIES][MOST_ENTITIES];
    acq_graph *graph;
} world;

static const acq_rules_params everything = {.most = ALL,
                                            .least_support = 1,
                                            .least_confidence = 0.0,
                                            .facts = ALL,
                                            .walks = ALL,
                                            .seed = 1,
                                            .n_threads = 2};

static void make_graph(world *w)
{
    char name[16];
    acq_graph_builder *builder = acq_graph_builder_new();
    for (uint32_t e = 0; e < w->n_entities; e++) {
        acq_ent id;
        snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (acq_rel r = 0; r < w->n_relations; r += 2) {
        acq_rel id;
        snprintf(name, sizeof name, "r%u", r);
        assert_int_equal(acq_graph_builder_add_relation(builder, name, strlen(name), &id), ACQ_OK);
        assert_int_equal(id, r);
        for (acq_ent x = 0; x < w->n_entities; x++) {
            for (acq_ent y = 0; y < w->n_entities; y++) {
                w->is_fact[r + 1][y][x] = w->is_fact[r][x][y];
                if (w->is_fact[r][x][y])
                    assert_int_equal(acq_graph_builder_add_fact(builder, x, r, y), ACQ_OK);
            }
        }
    }
    assert_int_equal(acq_graph_builder_finish(builder, &w->graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
}

/* Everything follows from the seed: sparse and dense graphs, with loops. */
static void init_world(world *w, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 0);
    memset(w, 0, sizeof *w);
    w->n_entities = 2 + (uint32_t)acq_random_below(&random, MOST_ENTITIES - 1);
    w->n_relations = 2 * (1 + (uint32_t)acq_random_below(&random, MOST_RELATIONS / 2));
    double density = acq_random_unit(&random) * acq_random_unit(&random);
    for (acq_rel r = 0; r < w->n_relations; r += 2) {
        for (acq_ent x = 0; x < w->n_entities; x++) {
            for (acq_ent y = 0; y < w->n_entities; y++)
                w->is_fact[r][x][y] = acq_random_unit(&random) < density;
        }
    }
    make_graph(w);
}

static bool body_links(const world *w, const acq_rule *rule, acq_ent x, acq_ent y)
{
    if (rule->second == ACQ_NO_ID)
        return w->is_fact[rule->first][x][y];
    for (acq_ent z = 0; z < w->n_entities; z++) {
        if (z != x && z != y && w->is_fact[rule->first][x][z] && w->is_fact[rule->second][z][y])
            return true;
    }
    return false;
}

/* Fills in support and confidence of rule->first, rule->second => r. */
static void judge(const world *w, acq_rel r, acq_rule *rule)
{
    uint32_t pairs = 0;
    rule->support = 0;
    for (acq_ent x = 0; x < w->n_entities; x++) {
        for (acq_ent y = 0; y < w->n_entities; y++) {
            bool is_pair = x != y && body_links(w, rule, x, y);
            pairs += is_pair;
            rule->support += is_pair && w->is_fact[r][x][y];
        }
    }
    rule->confidence = (float)((rule->support - 0.5) / (pairs + 5.0));
}

static const acq_rule *find(const acq_rule *rules, size_t n, acq_rel first, acq_rel second)
{
    for (size_t i = 0; i < n; i++) {
        if (rules[i].first == first && rules[i].second == second)
            return &rules[i];
    }
    return NULL;
}

static size_t check_bodies(const world *w, const acq_rules *rules, acq_rel r, acq_rel second)
{
    size_t n, n_found = 0;
    const acq_rule *mined = acq_rules_get(rules, r, &n);
    for (acq_rel first = 0; first < w->n_relations; first++) {
        acq_rule want = {.first = first, .second = second};
        const acq_rule *got = find(mined, n, first, second);
        judge(w, r, &want);
        bool is_wanted = want.support > 0 && !(first == r && second == ACQ_NO_ID);
        assert_int_equal(got != NULL, is_wanted);
        if (got == NULL)
            continue;
        n_found++;
        assert_int_equal(got->support, want.support);
        assert_true(got->confidence == want.confidence);
    }
    return n_found;
}

static void test_rules_are_those_of_brute_force(void **state)
{
    (void)state;
    size_t n_all = 0;
    for (uint64_t seed = 1; seed <= N_GRAPHS; seed++) {
        world w;
        acq_rules *rules = NULL;
        init_world(&w, seed);
        assert_int_equal(acq_rules_mine(w.graph, &everything, &rules, NULL), ACQ_OK);
        for (acq_rel r = 0; r < w.n_relations; r++) {
            size_t n, n_found = check_bodies(&w, rules, r, ACQ_NO_ID);
            for (acq_rel second = 0; second < w.n_relations; second++)
                n_found += check_bodies(&w, rules, r, second);
            const acq_rule *mined = acq_rules_get(rules, r, &n);
            assert_int_equal(n, n_found);
            for (size_t i = 1; i < n; i++)
                assert_true(mined[i - 1].confidence >= mined[i].confidence);
            n_all += n;
        }
        acq_rules_free(rules);
        acq_graph_free(w.graph);
    }
    assert_true(n_all > 1000);
}

/* What the rules say about one link, by definition. */
static acq_rule_evidence weigh(const world *w, const acq_rules *rules, acq_ent x, acq_rel r,
                               acq_ent y)
{
    size_t n;
    const acq_rule *list = acq_rules_get(rules, r, &n);
    acq_rule_evidence evidence = {.tail = y};
    double none = 1.0;
    for (size_t i = 0; i < n; i++) {
        if (!body_links(w, &list[i], x, y))
            continue;
        float *best = list[i].second == ACQ_NO_ID ? &evidence.one_hop : &evidence.two_hop;
        *best = fmaxf(*best, list[i].confidence);
        none *= 1.0 - (double)list[i].confidence;
        evidence.n++;
    }
    evidence.noisy_or = (float)(1.0 - none);
    return evidence;
}

static void check_row(const world *w, const acq_rules *rules, acq_ent x, acq_rel r,
                      acq_rules_scratch *scratch)
{
    const acq_rule_evidence *got;
    size_t n, at = 0;
    assert_int_equal(acq_rules_apply(rules, x, r, scratch, &got, &n, NULL), ACQ_OK);
    for (acq_ent y = 0; y < w->n_entities; y++) {
        acq_rule_evidence want = weigh(w, rules, x, r, y);
        if (want.n == 0)
            continue;
        assert_true(at < n);
        assert_int_equal(got[at].tail, y);
        assert_int_equal(got[at].n, want.n);
        assert_true(got[at].one_hop == want.one_hop);
        assert_true(got[at].two_hop == want.two_hop);
        assert_true(fabsf(got[at].noisy_or - want.noisy_or) < 1e-6F);
        at++;
    }
    assert_int_equal(at, n);
}

static void test_evidence_is_that_of_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= N_GRAPHS; seed++) {
        world w;
        acq_rules *rules = NULL;
        acq_rules_scratch *scratch = NULL;
        acq_rules_params params = everything;
        params.most = seed % 2 == 0 ? 3 : ALL;
        init_world(&w, seed);
        assert_int_equal(acq_rules_mine(w.graph, &params, &rules, NULL), ACQ_OK);
        assert_int_equal(acq_rules_scratch_new(rules, &scratch, NULL), ACQ_OK);
        for (acq_rel r = 0; r < w.n_relations; r++) {
            for (acq_ent x = 0; x < w.n_entities; x++)
                check_row(&w, rules, x, r, scratch);
        }
        acq_rules_scratch_free(scratch);
        acq_rules_free(rules);
        acq_graph_free(w.graph);
    }
}

static void check_fired(const world *w, const acq_rules *rules, acq_ent x, acq_rel r, acq_ent y)
{
    acq_fired_rule fired[4];
    size_t n_all, n_list, n_seen = 0, n = acq_rules_find_fired(rules, x, r, y, fired, 4, &n_all);
    const acq_rule *list = acq_rules_get(rules, r, &n_list);
    for (size_t i = 0; i < n_list; i++) {
        if (!body_links(w, &list[i], x, y))
            continue;
        if (n_seen < 4) {
            acq_ent z = fired[n_seen].middle;
            assert_ptr_equal(fired[n_seen].rule, &list[i]);
            assert_true(list[i].second == ACQ_NO_ID
                            ? z == ACQ_NO_ID
                            : z != x && z != y && w->is_fact[list[i].first][x][z] &&
                                  w->is_fact[list[i].second][z][y]);
        }
        n_seen++;
    }
    assert_int_equal(n_all, n_seen);
    assert_int_equal(n, n_seen < 4 ? n_seen : 4);
}

static uint32_t count_pairs(const world *w, const acq_rule *rule)
{
    uint32_t n = 0;
    for (acq_ent x = 0; x < w->n_entities; x++)
        for (acq_ent y = 0; y < w->n_entities; y++)
            n += x != y && body_links(w, rule, x, y);
    return n;
}

/* Copies of the lists of even relations are the same rules. */
static acq_rules *copy_rules(const world *w, const acq_rules *rules)
{
    const acq_rule *lists[MOST_RELATIONS / 2];
    size_t n[MOST_RELATIONS / 2];
    acq_rules *copy = NULL;
    for (acq_rel r = 0; r < w->n_relations; r += 2)
        lists[r / 2] = acq_rules_get(rules, r, &n[r / 2]);
    assert_int_equal(acq_rules_new(w->graph, lists, n, w->n_relations / 2, &copy, NULL), ACQ_OK);
    return copy;
}

static void test_rules_that_fire_are_named(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= N_GRAPHS / 3; seed++) {
        world w;
        acq_rules *mined = NULL;
        init_world(&w, seed);
        assert_int_equal(acq_rules_mine(w.graph, &everything, &mined, NULL), ACQ_OK);
        acq_rules *rules = copy_rules(&w, mined);
        acq_rules_free(mined);
        for (acq_rel r = 0; r < w.n_relations; r++) {
            size_t n;
            const acq_rule *list = acq_rules_get(rules, r, &n);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(acq_rule_count_pairs(&list[i]), count_pairs(&w, &list[i]));
            for (acq_ent x = 0; x < w.n_entities; x++)
                for (acq_ent y = 0; y < w.n_entities; y++)
                    check_fired(&w, rules, x, r, y);
        }
        acq_rules_free(rules);
        acq_graph_free(w.graph);
    }
}

static void test_rules_of_no_relation_are_refused(void **state)
{
    (void)state;
    world w;
    acq_rules *rules = NULL;
    acq_rule rule = {.first = 99, .second = ACQ_NO_ID, .confidence = .5F, .support = 2};
    const acq_rule *list = &rule;
    size_t n = 1;
    init_world(&w, 4);
    assert_int_equal(acq_rules_new(w.graph, &list, &n, 1, &rules, NULL), ACQ_ERR_INPUT);
    rule = (acq_rule){.first = 0, .second = 1, .confidence = NAN, .support = 2};
    assert_int_equal(acq_rules_new(w.graph, &list, &n, 1, &rules, NULL), ACQ_ERR_INPUT);
    n = 0;
    assert_int_equal(acq_rules_new(w.graph, &list, &n, 1000, &rules, NULL), ACQ_ERR_INPUT);
    acq_graph_free(w.graph);
}

static void test_rules_of_an_inverse_are_turned_around(void **state)
{
    (void)state;
    world w;
    acq_rules *rules = NULL;
    init_world(&w, 4);
    assert_int_equal(acq_rules_mine(w.graph, &everything, &rules, NULL), ACQ_OK);
    for (acq_rel r = 0; r < w.n_relations; r++) {
        size_t n, m;
        const acq_rule *on = acq_rules_get(rules, r, &n), *back = acq_rules_get(rules, r ^ 1, &m);
        assert_int_equal(n, m);
        for (size_t i = 0; i < n; i++) {
            bool is_short = on[i].second == ACQ_NO_ID;
            assert_int_equal(back[i].first, (is_short ? on[i].first : on[i].second) ^ 1U);
            assert_int_equal(back[i].second, is_short ? ACQ_NO_ID : on[i].first ^ 1U);
            assert_true(back[i].confidence == on[i].confidence);
        }
    }
    acq_rules_free(rules);
    acq_graph_free(w.graph);
}

/* A symmetric relation in a graph with nothing else. */
static void test_one_relation_finds_its_symmetry(void **state)
{
    (void)state;
    world w = {.n_entities = 10, .n_relations = 2};
    acq_rules *rules = NULL;
    size_t n;
    for (acq_ent x = 0; x < 10; x += 2)
        w.is_fact[0][x][x + 1] = w.is_fact[0][x + 1][x] = true;
    make_graph(&w);
    assert_int_equal(acq_rules_mine(w.graph, &ACQ_RULES_DEFAULT, &rules, NULL), ACQ_OK);
    const acq_rule *rule = acq_rules_get(rules, 0, &n);
    assert_int_equal(n, 1);
    assert_int_equal(rule->first, 1);
    assert_int_equal(rule->second, ACQ_NO_ID);
    assert_int_equal(rule->support, 10);
    assert_true(rule->confidence == (float)(9.5 / 15.0));
    acq_rules_free(rules);
    acq_graph_free(w.graph);
}

static void test_an_empty_graph_has_no_rules(void **state)
{
    (void)state;
    for (uint32_t n_relations = 0; n_relations <= 2; n_relations += 2) {
        world w = {.n_entities = n_relations, .n_relations = n_relations};
        acq_rules *rules = NULL;
        acq_rules_scratch *scratch = NULL;
        make_graph(&w);
        assert_int_equal(acq_rules_mine(w.graph, &ACQ_RULES_DEFAULT, &rules, NULL), ACQ_OK);
        assert_int_equal(acq_rules_scratch_new(rules, &scratch, NULL), ACQ_OK);
        for (acq_rel r = 0; r < n_relations; r++)
            check_row(&w, rules, 0, r, scratch);
        acq_rules_scratch_free(scratch);
        acq_rules_free(rules);
        acq_graph_free(w.graph);
    }
    acq_rules_free(NULL);
    acq_rules_scratch_free(NULL);
}

/* n people who know each other around a hub: r0 and r2 agree but for every tenth pair. */
static acq_graph *make_large(uint32_t n)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    char name[16];
    acq_ent id;
    acq_rel r0, r2, r4;
    for (uint32_t e = 0; e < n; e++) {
        snprintf(name, sizeof name, "e%u", e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    assert_int_equal(acq_graph_builder_add_relation(builder, "r0", 2, &r0), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "r2", 2, &r2), ACQ_OK);
    assert_int_equal(acq_graph_builder_add_relation(builder, "r4", 2, &r4), ACQ_OK);
    acq_random random = acq_random_start(7, 7);
    for (acq_ent x = 1; x < n; x++) {
        assert_int_equal(acq_graph_builder_add_fact(builder, x, r4, 0), ACQ_OK);
        for (int i = 0; i < 20; i++) {
            acq_ent y = 1 + (acq_ent)acq_random_below(&random, n - 1);
            assert_int_equal(acq_graph_builder_add_fact(builder, x, r2, y), ACQ_OK);
            if (acq_random_below(&random, 10) > 0)
                assert_int_equal(acq_graph_builder_add_fact(builder, x, r0, y), ACQ_OK);
        }
    }
    acq_graph *graph = NULL;
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static bool equals(const acq_rules *a, const acq_rules *b)
{
    for (acq_rel r = 0; r < 6; r++) {
        size_t n, m;
        const acq_rule *x = acq_rules_get(a, r, &n), *y = acq_rules_get(b, r, &m);
        if (n != m || memcmp(x, y, n * sizeof *x) != 0)
            return false;
    }
    return true;
}

/* Samples of facts and paths: near the full counts, and the same for any number of threads. */
static void test_samples_are_near_and_repeat(void **state)
{
    (void)state;
    acq_graph *graph = make_large(300);
    acq_rules_params few = everything;
    acq_rules *full = NULL, *one = NULL, *three = NULL;
    few.facts = 2000;
    few.walks = 100;
    few.n_threads = 1;
    assert_int_equal(acq_rules_mine(graph, &everything, &full, NULL), ACQ_OK);
    assert_int_equal(acq_rules_mine(graph, &few, &one, NULL), ACQ_OK);
    few.n_threads = 3;
    assert_int_equal(acq_rules_mine(graph, &few, &three, NULL), ACQ_OK);
    assert_true(equals(one, three));
    assert_false(equals(one, full));
    size_t n, m;
    const acq_rule *all = acq_rules_get(full, 0, &n), *some = acq_rules_get(one, 0, &m);
    assert_true(fabsf(all[0].confidence - 0.9F) < 0.02F);
    for (size_t i = 0; i < n; i++) {
        const acq_rule *same = find(some, m, all[i].first, all[i].second);
        if (all[i].support > 1000)
            assert_true(same != NULL &&
                        fabsf(same->confidence - all[i].confidence) < 0.2F * all[i].confidence);
    }
    acq_rules_free(full);
    acq_rules_free(one);
    acq_rules_free(three);
    acq_graph_free(graph);
}

/* A capped application reaches some of the tails, always the same, with the same confidences. */
static void test_capped_walks_reach_a_part(void **state)
{
    (void)state;
    acq_graph *graph = make_large(300);
    acq_rules_params params = everything;
    acq_rules *rules = NULL, *capped = NULL;
    acq_rules_scratch *a = NULL, *b = NULL;
    params.least_support = 1000;
    assert_int_equal(acq_rules_mine(graph, &params, &rules, NULL), ACQ_OK);
    params.walks = 50;
    assert_int_equal(acq_rules_mine(graph, &params, &capped, NULL), ACQ_OK);
    assert_int_equal(acq_rules_scratch_new(rules, &a, NULL), ACQ_OK);
    assert_int_equal(acq_rules_scratch_new(capped, &b, NULL), ACQ_OK);
    const acq_rule_evidence *all, *part;
    size_t n, m, again;
    assert_int_equal(acq_rules_apply(rules, 5, 0, a, &all, &n, NULL), ACQ_OK);
    assert_int_equal(acq_rules_apply(capped, 5, 0, b, &part, &m, NULL), ACQ_OK);
    assert_true(m > 20 && m < n);
    uint64_t sum = 0;
    for (size_t i = 0; i < m; i++)
        sum += part[i].tail;
    assert_int_equal(acq_rules_apply(capped, 5, 0, b, &part, &again, NULL), ACQ_OK);
    assert_int_equal(again, m);
    for (size_t i = 0; i < m; i++)
        sum -= part[i].tail;
    assert_int_equal(sum, 0);
    acq_rules_scratch_free(a);
    acq_rules_scratch_free(b);
    acq_rules_free(rules);
    acq_rules_free(capped);
    acq_graph_free(graph);
}

#ifdef ACQ_FAULTS
static acq_status mine_and_apply(const acq_graph *graph, acq_error *error)
{
    acq_rules_params params = everything;
    acq_rules *rules = NULL;
    acq_rules_scratch *scratch = NULL;
    const acq_rule_evidence *evidence;
    size_t n;
    params.n_threads = 1;
    acq_status status = acq_rules_mine(graph, &params, &rules, error);
    if (status == ACQ_OK)
        status = acq_rules_scratch_new(rules, &scratch, error);
    if (status == ACQ_OK)
        status = acq_rules_apply(rules, 0, 0, scratch, &evidence, &n, error);
    acq_rules_scratch_free(scratch);
    acq_rules_free(rules);
    return status;
}

static void test_every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    world w;
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 0;
    init_world(&w, 4);
    while (status != ACQ_OK) {
        acq_error error = {0};
        acq_faults_fail_at(++n);
        status = mine_and_apply(w.graph, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(error.code, status);
    }
    assert_true(n > 20);
    acq_graph_free(w.graph);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_are_those_of_brute_force),
        cmocka_unit_test(test_evidence_is_that_of_brute_force),
        cmocka_unit_test(test_rules_that_fire_are_named),
        cmocka_unit_test(test_rules_of_no_relation_are_refused),
        cmocka_unit_test(test_rules_of_an_inverse_are_turned_around),
        cmocka_unit_test(test_one_relation_finds_its_symmetry),
        cmocka_unit_test(test_an_empty_graph_has_no_rules),
        cmocka_unit_test(test_samples_are_near_and_repeat),
        cmocka_unit_test(test_capped_walks_reach_a_part),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_an_error),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
