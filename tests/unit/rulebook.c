/* rulebook.c - learnt rules, their counts and their rows, against loops over all entities; files;
 * threads; rounds that go on from earlier ones; allocations that fail. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"
#include "models/rulebook/rulebook.h"

#define PATH "book.rules"

enum { MOST_ENTITIES = 10, MOST_RELATIONS = 6, N_GRAPHS = 60, ALL = 1000000, N_ROUNDS = 8 };

static char folder[] = "anycq-rulebook-XXXXXX";

typedef struct world {
    uint32_t n_entities, n_relations;
    bool is_fact[MOST_RELATIONS][MOST_ENTITIES][MOST_ENTITIES];
    acq_graph *graph;
} world;

static acq_rulebook_params choose_params(void)
{
    acq_rulebook_params params;
    acq_rulebook_params_init(&params);
    params.facts = params.tries = params.heads = params.most = ALL;
    params.walks = 60;
    params.confidence = 0;
    params.n_threads = 2;
    return params;
}

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
        for (acq_ent x = 0; x < w->n_entities; x++)
            for (acq_ent y = 0; y < w->n_entities; y++) {
                w->is_fact[r + 1][y][x] = w->is_fact[r][x][y];
                if (w->is_fact[r][x][y])
                    assert_int_equal(acq_graph_builder_add_fact(builder, x, r, y), ACQ_OK);
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
    w->n_entities = 3 + (uint32_t)acq_random_below(&random, MOST_ENTITIES - 2);
    w->n_relations = 2 * (1 + (uint32_t)acq_random_below(&random, MOST_RELATIONS / 2));
    double density = .1 + .4 * acq_random_unit(&random) * acq_random_unit(&random);
    for (acq_rel r = 0; r < w->n_relations; r += 2)
        for (acq_ent x = 0; x < w->n_entities; x++)
            for (acq_ent y = 0; y < w->n_entities; y++)
                w->is_fact[r][x][y] = acq_random_unit(&random) < density;
    make_graph(w);
}

static acq_rule_learner *run_rounds(const world *w, const acq_rulebook_params *params,
                                    uint64_t from, uint64_t end, acq_rule_learner *learner)
{
    if (learner == NULL)
        assert_int_equal(acq_rule_learner_new(w->graph, params, &learner, NULL), ACQ_OK);
    for (uint64_t round = from; round < end; round++)
        assert_int_equal(acq_rule_learner_run(learner, round, NULL), ACQ_OK);
    return learner;
}

static acq_rulebook *learn(const world *w, const acq_rulebook_params *params)
{
    acq_rulebook *book = NULL;
    acq_rule_learner *learner = run_rounds(w, params, 0, N_ROUNDS, NULL);
    assert_int_equal(acq_rule_learner_copy(learner, false, &book, NULL), ACQ_OK);
    assert_int_equal(acq_rule_learner_cluster(learner, book, NULL), ACQ_OK);
    acq_rule_learner_free(learner);
    return book;
}

/* ---- by definition ---- */

/* Is there a path of different entities from x to y? */
static bool has_path(const world *w, const acq_rel *body, unsigned n, acq_ent x, acq_ent y,
                     uint32_t visited)
{
    if (n == 1)
        return w->is_fact[body[0]][x][y];
    for (acq_ent z = 0; z < w->n_entities; z++)
        if (z != y && (visited >> z & 1) == 0 && w->is_fact[body[0]][x][z] &&
            has_path(w, body + 1, n - 1, z, y, visited | 1U << z))
            return true;
    return false;
}

static unsigned count_hops(const acq_learnt_rule *rule)
{
    return rule->body[1] == ACQ_NO_ID ? 1 : rule->body[2] == ACQ_NO_ID ? 2 : 3;
}

/* Does the rule conclude head(x, y)? */
static bool concludes(const world *w, const acq_learnt_rule *rule, acq_ent x, acq_ent y)
{
    if (x == y)
        return false;
    if (rule->constant == ACQ_NO_ID)
        return has_path(w, rule->body, count_hops(rule), x, y, 1U << x);
    if (y != rule->constant)
        return false;
    if (rule->other != ACQ_NO_ID)
        return x != rule->other && w->is_fact[rule->body[0]][x][rule->other];
    for (acq_ent a = 0; a < w->n_entities; a++)
        if (a != rule->constant && w->is_fact[rule->body[0]][x][a])
            return true;
    return false;
}

static void judge(const world *w, acq_learnt_rule *rule)
{
    rule->support = rule->pairs = 0;
    for (acq_ent x = 0; x < w->n_entities; x++)
        for (acq_ent y = 0; y < w->n_entities; y++) {
            bool is_pair = concludes(w, rule, x, y);
            rule->pairs += is_pair;
            rule->support += is_pair && w->is_fact[rule->head][x][y];
        }
}

static const acq_learnt_rule *find(const acq_learnt_rule *rules, size_t n,
                                   const acq_learnt_rule *wanted)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i].head == wanted->head && rules[i].constant == wanted->constant &&
            rules[i].other == wanted->other &&
            memcmp(rules[i].body, wanted->body, sizeof wanted->body) == 0)
            return &rules[i];
    return NULL;
}

static bool is_itself(const acq_learnt_rule *rule)
{
    return rule->head == rule->body[0] && count_hops(rule) == 1 &&
           (rule->constant == ACQ_NO_ID || rule->constant == rule->other);
}

/* How many of the rules that there are were found; those that were have the right counts. */
typedef struct tally {
    size_t n_there, n_found;
} tally;

static void look_for(const world *w, const acq_learnt_rule *rules, size_t n, acq_learnt_rule wanted,
                     tally *out)
{
    const acq_learnt_rule *got = find(rules, n, &wanted);
    judge(w, &wanted);
    bool is_there = wanted.support >= 2 && !is_itself(&wanted);
    assert_true(got == NULL || is_there);
    out->n_there += is_there;
    out->n_found += got != NULL;
    if (got == NULL)
        return;
    assert_int_equal(got->support, wanted.support);
    assert_int_equal(got->pairs, wanted.pairs);
}

static void look_for_cycles(const world *w, const acq_rulebook *book, unsigned n_hops, tally *out)
{
    uint32_t n = w->n_relations, n_bodies = 1;
    for (unsigned i = 0; i < n_hops; i++)
        n_bodies *= n;
    for (acq_rel head = 0; head < n; head += 2)
        for (uint32_t k = 0; k < n_bodies; k++) {
            acq_learnt_rule rule = {.head = head,
                                    .body = {k % n, n_hops < 2 ? ACQ_NO_ID : k / n % n,
                                             n_hops < 3 ? ACQ_NO_ID : k / n / n},
                                    .constant = ACQ_NO_ID,
                                    .other = ACQ_NO_ID};
            look_for(w, book->cycles, book->n_cycles, rule, out);
        }
}

static void look_for_constants(const world *w, const acq_rulebook *book, tally *out)
{
    for (acq_rel head = 0; head < w->n_relations; head++)
        for (acq_ent c = 0; c < w->n_entities; c++)
            for (acq_rel b = 0; b < w->n_relations; b++)
                for (acq_ent d = 0; d <= w->n_entities; d++) {
                    acq_learnt_rule rule = {.head = head,
                                            .body = {b, ACQ_NO_ID, ACQ_NO_ID},
                                            .constant = c,
                                            .other = d < w->n_entities ? d : ACQ_NO_ID};
                    look_for(w, book->constants, book->n_constants, rule, out);
                }
}

static void test_rules_and_counts_are_those_of_loops(void **state)
{
    (void)state;
    tally cycles[3] = {{0}}, constants = {0};
    for (uint64_t seed = 1; seed <= N_GRAPHS; seed++) {
        world w;
        init_world(&w, seed);
        acq_rulebook_params params = choose_params();
        acq_rulebook *book = learn(&w, &params);
        for (unsigned i = 0; i < 3; i++)
            look_for_cycles(&w, book, i + 1, &cycles[i]);
        look_for_constants(&w, book, &constants);
        acq_rulebook_free(book);
        acq_graph_free(w.graph);
    }
    assert_int_equal(cycles[0].n_found, cycles[0].n_there);
    assert_int_equal(cycles[1].n_found, cycles[1].n_there);
    assert_int_equal(constants.n_found, constants.n_there);
    /* walks of three hops are random, and many */
    assert_true((double)cycles[2].n_found > .98 * (double)cycles[2].n_there);
    assert_true(cycles[0].n_there > 100 && cycles[2].n_there > 3000 && constants.n_there > 2500);
}

/* ---- rows ---- */

static int compare_down(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The weights of the rules that conclude a link; of clusters each the best. */
static size_t list_weights(const world *w, const acq_rulebook *book, acq_ent x, acq_rel r,
                           acq_ent y, double *out)
{
    size_t n = 0;
    uint32_t *clusters = malloc((book->n_cycles + book->n_constants) * sizeof *clusters);
    assert_non_null(clusters);
    for (size_t i = 0; i < book->n_cycles + book->n_constants; i++) {
        bool is_cycle = i < book->n_cycles;
        const acq_learnt_rule *rule =
            is_cycle ? &book->cycles[i] : &book->constants[i - book->n_cycles];
        bool is_on = rule->head == r && concludes(w, rule, x, y);
        bool is_back = rule->head == (r ^ 1U) && concludes(w, rule, y, x);
        /* of a link and its inverse, rules with constants are in the book for both */
        uint32_t cluster = rule->cluster * 4 + (is_cycle ? 0 : is_on ? 1 : 2);
        for (int k = 0; k < 2; k++) {
            if (k == 0 ? !is_on : !is_back)
                continue;
            double weight = -log1p(-acq_learnt_rule_get_confidence(rule));
            size_t j = 0;
            while (j < n && !(book->aggregation == ACQ_RULES_CLUSTERS && clusters[j] == cluster))
                j++;
            if (j == n)
                out[n++] = 0;
            clusters[j] = cluster;
            out[j] = fmax(out[j], weight);
        }
    }
    free(clusters);
    return n;
}

static double aggregate(const acq_rulebook *book, double *weights, size_t n)
{
    double sum = 0, factor = 1;
    qsort(weights, n, sizeof *weights, compare_down);
    for (size_t i = 0; i < n; i++) {
        bool is_max = book->aggregation == ACQ_RULES_MAXIMUM;
        if (!is_max && i >= book->best)
            break;
        sum += factor * weights[i];
        factor *= is_max ? 1.0 / 1024 : 1;
    }
    return sum;
}

static double score_link(const world *w, const acq_rulebook *book, acq_ent x, acq_rel r, acq_ent y)
{
    double *weights = malloc((2 * (book->n_cycles + book->n_constants) + 1) * sizeof *weights);
    assert_non_null(weights);
    double n_heads = 0, n_own = 0;
    for (acq_ent h = 0; h < w->n_entities; h++) {
        bool has = false;
        for (acq_ent t = 0; t < w->n_entities; t++)
            has = has || w->is_fact[r][h][t];
        n_heads += has;
        n_own += w->is_fact[r][h][y];
    }
    double sum = aggregate(book, weights, list_weights(w, book, x, r, y, weights));
    free(weights);
    return log(expm1(sum + 1e-6 + 1e-3 * n_own / (1 + n_heads)));
}

/* The most confident rule that concludes each link. */
static void check_best(const world *w, const acq_rulebook *book, const acq_row_model *model,
                       void *scratch, acq_rel r, acq_ent x)
{
    const acq_ent tails[] = {0, 2};
    const acq_learnt_rule *best[2];
    double *weights = malloc((2 * (book->n_cycles + book->n_constants) + 1) * sizeof *weights);
    assert_non_null(weights);
    assert_int_equal(acq_rulebook_find_best(model, scratch, r, x, tails, 2, best, NULL), ACQ_OK);
    for (int i = 0; i < 2; i++) {
        size_t n = list_weights(w, book, x, r, tails[i], weights);
        qsort(weights, n, sizeof *weights, compare_down);
        assert_int_equal(best[i] != NULL, n > 0);
        if (n > 0)
            assert_true(fabs(-log1p(-acq_learnt_rule_get_confidence(best[i])) - weights[0]) < 1e-6);
    }
    free(weights);
}

static void check_rows(const world *w, const acq_rulebook *book)
{
    acq_row_model *model = NULL;
    void *scratch = NULL;
    float row[MOST_ENTITIES], some[2];
    const acq_ent tails[] = {0, 2};
    assert_int_equal(acq_rulebook_new_row_model(book, w->graph, &model, NULL), ACQ_OK);
    assert_int_equal(model->ops->open_scratch(model, &scratch, NULL), ACQ_OK);
    for (acq_rel r = 0; r < w->n_relations; r++)
        for (acq_ent x = 0; x < w->n_entities; x++) {
            acq_row_request request = {
                .relation = r, .heads = &x, .n_heads = 1, .n_tails = w->n_entities, .out = row};
            assert_int_equal(model->ops->score(model, scratch, &request, NULL), ACQ_OK);
            for (acq_ent y = 0; y < w->n_entities; y++)
                assert_true(fabs((double)row[y] - score_link(w, book, x, r, y)) < 1e-4);
            request.tails = tails;
            request.n_tails = 2;
            request.out = some;
            assert_int_equal(model->ops->score(model, scratch, &request, NULL), ACQ_OK);
            assert_true(some[0] == row[0] && some[1] == row[2]);
            check_best(w, book, model, scratch, r, x);
        }
    model->ops->free_scratch(model, scratch);
    acq_row_model_free(model);
}

static void test_rows_are_those_of_the_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= N_GRAPHS / 2; seed++) {
        world w;
        init_world(&w, seed);
        acq_rulebook_params params = choose_params();
        params.most = seed % 2 == 0 ? 5 : ALL;
        params.best = 1 + (uint32_t)(seed % 7);
        params.walks = 5;
        params.similarity = .3 * (double)(seed % 4);
        acq_rulebook *book = learn(&w, &params);
        for (unsigned i = 0; i < ACQ_N_RULE_AGGREGATIONS; i++) {
            book->aggregation = (acq_rule_aggregation)i;
            check_rows(&w, book);
        }
        acq_rulebook_free(book);
        acq_graph_free(w.graph);
    }
}

/* Two relations with the same facts say the same, a third with others does not. */
static void test_rules_with_the_same_conclusions_are_one_cluster(void **state)
{
    (void)state;
    world w = {.n_entities = 10, .n_relations = 6};
    acq_rulebook_params params = choose_params();
    uint32_t clusters[6];
    for (acq_ent e = 0; e < 4; e++)
        w.is_fact[0][e][e + 5] = w.is_fact[2][e][e + 5] = w.is_fact[4][e + 5][e] = true;
    w.is_fact[2][0][9] = w.is_fact[2][1][9] = true; /* hardly changes what is concluded */
    make_graph(&w);
    params.walks = 0;
    params.similarity = .6;
    acq_rulebook *book = learn(&w, &params);
    memset(clusters, 0xff, sizeof clusters);
    for (size_t i = 0; i < book->n_cycles; i++)
        if (book->cycles[i].head == 0 && book->cycles[i].body[1] == ACQ_NO_ID)
            clusters[book->cycles[i].body[0]] = book->cycles[i].cluster;
    assert_int_not_equal(clusters[2], ACQ_NO_ID);
    assert_int_equal(clusters[2], clusters[5]);
    acq_rulebook_free(book);
    params.similarity = 1;
    book = learn(&w, &params);
    for (size_t i = 0; i < book->n_cycles; i++)
        if (book->cycles[i].head == 0 && book->cycles[i].body[1] == ACQ_NO_ID)
            clusters[book->cycles[i].body[0]] = book->cycles[i].cluster;
    assert_int_not_equal(clusters[2], clusters[5]);
    acq_rulebook_free(book);
    acq_graph_free(w.graph);
}

/* ---- the same rules ---- */

static void assert_same(const acq_rulebook *a, const acq_rulebook *b)
{
    assert_int_equal(a->n_cycles, b->n_cycles);
    assert_int_equal(a->n_constants, b->n_constants);
    if (a->n_cycles > 0)
        assert_memory_equal(a->cycles, b->cycles, a->n_cycles * sizeof *a->cycles);
    if (a->n_constants > 0)
        assert_memory_equal(a->constants, b->constants, a->n_constants * sizeof *a->constants);
}

static acq_rulebook_params choose_small(void)
{
    acq_rulebook_params params = choose_params();
    params.facts = 4; /* of each relation: rounds differ */
    params.walks = 3;
    params.tries = 2;
    params.most = 8;
    params.confidence = .1;
    return params;
}

static void test_threads_change_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        world w;
        init_world(&w, seed);
        acq_rulebook_params params = choose_small();
        acq_rulebook *two = learn(&w, &params);
        params.n_threads = 1;
        acq_rulebook *one = learn(&w, &params);
        assert_same(one, two);
        acq_rulebook_free(one);
        acq_rulebook_free(two);
        acq_graph_free(w.graph);
    }
}

static void test_rounds_go_on_from_earlier_ones(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        world w;
        init_world(&w, seed);
        acq_rulebook_params params = choose_small();
        acq_rulebook *whole = learn(&w, &params), *kept = NULL, *book = NULL;
        acq_rule_learner *first = run_rounds(&w, &params, 0, 3, NULL), *then = NULL;
        assert_int_equal(acq_rule_learner_copy(first, true, &kept, NULL), ACQ_OK);
        acq_rule_learner_free(first);
        assert_int_equal(acq_rule_learner_new(w.graph, &params, &then, NULL), ACQ_OK);
        assert_int_equal(acq_rule_learner_add(then, kept, NULL), ACQ_OK);
        run_rounds(&w, &params, 3, N_ROUNDS, then);
        assert_int_equal(acq_rule_learner_copy(then, false, &book, NULL), ACQ_OK);
        assert_int_equal(acq_rule_learner_cluster(then, book, NULL), ACQ_OK);
        assert_same(whole, book);
        acq_rule_learner_free(then);
        acq_rulebook_free(whole);
        acq_rulebook_free(kept);
        acq_rulebook_free(book);
        acq_graph_free(w.graph);
    }
}

/* ---- files ---- */

static void test_files_keep_everything(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        world w, other;
        acq_rulebook *read = NULL;
        acq_rulebook_file *file = NULL;
        init_world(&w, seed);
        init_world(&other, seed + 1000);
        acq_rulebook_params params = choose_small();
        params.aggregation = (acq_rule_aggregation)(seed % ACQ_N_RULE_AGGREGATIONS);
        acq_rulebook *book = learn(&w, &params);
        assert_int_equal(acq_rulebook_write(PATH, book, w.graph, NULL, 0, NULL), ACQ_OK);
        assert_true(acq_rulebook_is_one(PATH));
        assert_int_equal(acq_rulebook_read(PATH, w.graph, &read, NULL), ACQ_OK);
        assert_same(book, read);
        assert_int_equal(read->aggregation, book->aggregation);
        assert_int_equal(read->best, book->best);
        assert_int_equal(acq_rulebook_open(PATH, &file, NULL), ACQ_OK);
        assert_same(book, acq_rulebook_file_get(file));
        /* a graph that has grown is served */
        if (other.n_entities < w.n_entities || other.n_relations < w.n_relations) {
            acq_rulebook *none = NULL;
            assert_int_equal(acq_rulebook_read(PATH, other.graph, &none, NULL), ACQ_ERR_INPUT);
            assert_null(none);
        }
        acq_rulebook_close(file);
        acq_rulebook_free(read);
        acq_rulebook_free(book);
        acq_graph_free(w.graph);
        acq_graph_free(other.graph);
    }
}

static void test_rules_are_printed_with_names(void **state)
{
    (void)state;
    world w = {.n_entities = 10, .n_relations = 4};
    acq_learnt_rule cycle = {0, {2, 1, 3}, ACQ_NO_ID, ACQ_NO_ID, 4, 9, 0};
    acq_learnt_rule constants[] = {{1, {2, ACQ_NO_ID, ACQ_NO_ID}, 7, 3, 5, 5, 0},
                                   {1, {3, ACQ_NO_ID, ACQ_NO_ID}, 7, ACQ_NO_ID, 2, 5, 1}};
    acq_rulebook book = {.cycles = &cycle,
                         .n_cycles = 1,
                         .constants = constants,
                         .n_constants = 2,
                         .best = 5,
                         .n_entities = 10,
                         .n_relations = 4};
    acq_rulebook_file *file = NULL;
    acq_text text = {0};
    w.is_fact[0][0][1] = true;
    make_graph(&w);
    assert_int_equal(acq_rulebook_write(PATH, &book, w.graph, NULL, 0, NULL), ACQ_OK);
    assert_int_equal(acq_rulebook_open(PATH, &file, NULL), ACQ_OK);
    acq_rulebook_file_print(file, &cycle, &text);
    acq_text_add(&text, "; ");
    acq_rulebook_file_print(file, &constants[0], &text);
    acq_text_add(&text, "; ");
    acq_rulebook_file_print(file, &constants[1], &text);
    assert_string_equal(text.bytes, "r0(X, Y) <= r2(X, A), inverse(r0)(A, B), inverse(r2)(B, Y); "
                                    "inverse(r0)(X, \"e7\") <= r2(X, \"e3\"); "
                                    "inverse(r0)(X, \"e7\") <= inverse(r2)(X, A)");
    acq_text_deinit(&text);
    acq_rulebook_close(file);
    acq_graph_free(w.graph);
}

/* Every byte in turn: an error, or the rules as they were (a changed letter of a name is one). */
static void test_damaged_files_are_refused_or_right(void **state)
{
    (void)state;
    world w;
    char *bytes;
    size_t length, n_refused = 0;
    init_world(&w, 3);
    acq_rulebook_params params = choose_small();
    acq_rulebook *book = learn(&w, &params);
    assert_int_equal(acq_rulebook_write(PATH, book, w.graph, NULL, 0, NULL), ACQ_OK);
    assert_int_equal(acq_file_read(PATH, &bytes, &length, NULL), ACQ_OK);
    for (size_t i = 0; i < length; i++) {
        acq_rulebook *read = NULL;
        acq_rulebook_file *file = NULL;
        bytes[i] ^= 0x11;
        assert_int_equal(acq_new_file_write(PATH, "it", bytes, length, NULL), ACQ_OK);
        bytes[i] ^= 0x11;
        acq_status status = acq_rulebook_read(PATH, w.graph, &read, NULL);
        if (status == ACQ_OK)
            assert_same(book, read);
        n_refused += status != ACQ_OK;
        acq_rulebook_free(read);
        (void)acq_rulebook_is_one(PATH);
        if (acq_rulebook_open(PATH, &file, NULL) == ACQ_OK)
            acq_rulebook_close(file);
    }
    for (size_t cut = 0; cut < length; cut += 7) {
        acq_rulebook *read = NULL;
        assert_int_equal(acq_new_file_write(PATH, "it", bytes, cut, NULL), ACQ_OK);
        assert_int_not_equal(acq_rulebook_read(PATH, w.graph, &read, NULL), ACQ_OK);
    }
    assert_true(n_refused > length / 2);
    acq_free(bytes);
    acq_rulebook_free(book);
    acq_graph_free(w.graph);
}

/* What no rule can be, each with checksums in order. */
static void test_impossible_rules_are_refused(void **state)
{
    (void)state;
    const acq_learnt_rule bad_cycles[] = {
        {1, {2, ACQ_NO_ID, ACQ_NO_ID}, ACQ_NO_ID, ACQ_NO_ID, 2, 5, 0}, /* an odd head */
        {4, {2, ACQ_NO_ID, ACQ_NO_ID}, ACQ_NO_ID, ACQ_NO_ID, 2, 5, 0}, /* no such relation */
        {0, {9, ACQ_NO_ID, ACQ_NO_ID}, ACQ_NO_ID, ACQ_NO_ID, 2, 5, 0},
        {0, {ACQ_NO_ID, ACQ_NO_ID, ACQ_NO_ID}, ACQ_NO_ID, ACQ_NO_ID, 2, 5, 0},
        {0, {2, ACQ_NO_ID, 1}, ACQ_NO_ID, ACQ_NO_ID, 2, 5, 0}, /* a gap */
        {0, {2, 1, 1}, ACQ_NO_ID, ACQ_NO_ID, 6, 5, 0}, /* right more often than it is said */
    };
    const acq_learnt_rule bad_constants[] = {
        {0, {2, ACQ_NO_ID, ACQ_NO_ID}, 10, 1, 2, 5, 0}, /* no such entity */
        {0, {2, ACQ_NO_ID, ACQ_NO_ID}, 1, 10, 2, 5, 0},
        {0, {2, ACQ_NO_ID, ACQ_NO_ID}, ACQ_NO_ID, 1, 2, 5, 0},
    };
    for (size_t i = 0; i < 9; i++) {
        acq_learnt_rule rule = i < 6 ? bad_cycles[i] : bad_constants[i - 6];
        acq_rulebook book = {.n_entities = 10, .n_relations = 4}, got = book;
        acq_parameters parameters;
        *(i < 6 ? &book.cycles : &book.constants) = &rule;
        *(i < 6 ? &book.n_cycles : &book.n_constants) = 1;
        assert_int_equal(acq_rulebook_pack(&book, &parameters, NULL), ACQ_OK);
        assert_int_equal(acq_rulebook_unpack(&got, &parameters, NULL), ACQ_ERR_INPUT);
        assert_null(got.cycles);
        acq_parameters_deinit(&parameters);
    }
    acq_learnt_rule twice[] = {{0, {2, 1, 1}, ACQ_NO_ID, ACQ_NO_ID, 2, 5, 0},
                               {0, {2, 1, 1}, ACQ_NO_ID, ACQ_NO_ID, 2, 5, 0}};
    acq_rulebook book = {.cycles = twice, .n_cycles = 2, .n_entities = 10, .n_relations = 4};
    acq_rulebook got = {.n_entities = 10, .n_relations = 4};
    acq_parameters parameters;
    assert_int_equal(acq_rulebook_pack(&book, &parameters, NULL), ACQ_OK);
    assert_int_equal(acq_rulebook_unpack(&got, &parameters, NULL), ACQ_ERR_INPUT);
    acq_parameters_deinit(&parameters);
}

/* ---- allocations that fail ---- */

#ifdef ACQ_FAULTS

static acq_status use_rules(const world *w, acq_rulebook *book, acq_error *error)
{
    acq_rulebook *read = NULL;
    acq_rulebook_file *file = NULL;
    acq_row_model *model = NULL;
    void *scratch = NULL;
    acq_ent head = 1;
    float row[MOST_ENTITIES];
    acq_row_request request = {
        .relation = 0, .heads = &head, .n_heads = 1, .n_tails = w->n_entities, .out = row};
    acq_status status = acq_rulebook_write(PATH, book, w->graph, NULL, 0, error);
    if (status == ACQ_OK)
        status = acq_rulebook_read(PATH, w->graph, &read, error);
    if (status == ACQ_OK)
        status = acq_rulebook_open(PATH, &file, error);
    if (status == ACQ_OK)
        status = acq_rulebook_new_row_model(read, w->graph, &model, error);
    if (status == ACQ_OK)
        status = model->ops->open_scratch(model, &scratch, error);
    if (status == ACQ_OK)
        status = model->ops->score(model, scratch, &request, error);
    if (model != NULL)
        model->ops->free_scratch(model, scratch);
    acq_row_model_free(model);
    acq_rulebook_close(file);
    acq_rulebook_free(read);
    return status;
}

static acq_status learn_and_use(const world *w, acq_error *error)
{
    acq_rulebook_params params = choose_small();
    acq_rule_learner *learner = NULL, *next = NULL;
    acq_rulebook *book = NULL;
    params.n_threads = 1;
    acq_status status = acq_rule_learner_new(w->graph, &params, &learner, error);
    for (uint64_t round = 0; round < 2 && status == ACQ_OK; round++)
        status = acq_rule_learner_run(learner, round, error);
    if (status == ACQ_OK)
        status = acq_rule_learner_copy(learner, false, &book, error);
    if (status == ACQ_OK)
        status = acq_rule_learner_cluster(learner, book, error);
    if (status == ACQ_OK)
        status = acq_rule_learner_new(w->graph, &params, &next, error);
    if (status == ACQ_OK)
        status = acq_rule_learner_add(next, book, error);
    if (status == ACQ_OK)
        status = use_rules(w, book, error);
    acq_rulebook_free(book);
    acq_rule_learner_free(learner);
    acq_rule_learner_free(next);
    return status;
}

static void test_every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    world w;
    acq_status status = ACQ_ERR_MEMORY;
    init_world(&w, 3);
    for (size_t n = 1; status != ACQ_OK && n < 20000; n++) {
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = learn_and_use(&w, &error);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || status == ACQ_ERR_MEMORY);
        assert_int_equal(error.code, status);
    }
    assert_int_equal(status, ACQ_OK);
    acq_graph_free(w.graph);
}

#endif

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(PATH);
    return chdir("..") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_and_counts_are_those_of_loops),
        cmocka_unit_test(test_rows_are_those_of_the_definition),
        cmocka_unit_test(test_rules_with_the_same_conclusions_are_one_cluster),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_rounds_go_on_from_earlier_ones),
        cmocka_unit_test(test_files_keep_everything),
        cmocka_unit_test(test_rules_are_printed_with_names),
        cmocka_unit_test(test_damaged_files_are_refused_or_right),
        cmocka_unit_test(test_impossible_rules_are_refused),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_an_error),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
