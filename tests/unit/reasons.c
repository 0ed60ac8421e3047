/* reasons.c - what predicted links are said to rest on: parts against the trees, the rules, similar
 * entities and ranks of a small company, what a fit keeps of them, and damage to it.
 *
 * The company: person p is member of team p % 6, team t is based in city t % 3, and nine persons in
 * ten work in the city of their team. Every seventh works_in is not known. */
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

#include "base/memory.h"
#include "calibrate/candidates_parts.h"
#include "calibrate/reasons.h"
#include "calibrate/calibrator.h"
#include "engine/open.h"
#include "fit/fit.h"
#include "fit/parts.h"
#include "graph/build.h"
#include "models/neighbours.h"
#include "predict/completion.h"
#include "train/train.h"

enum { N_PEOPLE = 70, N_TEAMS = 6, N_CITIES = 3, N_ENTITIES = N_PEOPLE + N_TEAMS + N_CITIES };
enum { MEMBER = 0, BASED = 2, WORKS = 4, N_RELATIONS = 6 };

static const char FILE_NAME[] = "reasons.completion", FOLDER[] = "reasons.completion.fit";

static acq_ent team(acq_ent person)
{
    return N_PEOPLE + person % N_TEAMS;
}

static acq_ent city(acq_ent person)
{
    return N_PEOPLE + N_TEAMS + person % N_TEAMS % N_CITIES;
}

static void add_names(acq_graph_builder *builder)
{
    static const char *const relations[] = {"member_of", "based_in", "works_in"};
    char name[16];
    acq_ent id;
    for (acq_ent e = 0; e < N_ENTITIES; e++) {
        const char *kind = e < N_PEOPLE ? "P" : e < N_PEOPLE + N_TEAMS ? "Team" : "City";
        snprintf(name, sizeof name, "%s%u", kind, e);
        assert_int_equal(acq_graph_builder_add_entity(builder, name, strlen(name), &id), ACQ_OK);
    }
    for (size_t r = 0; r < 3; r++)
        assert_int_equal(
            acq_graph_builder_add_relation(builder, relations[r], strlen(relations[r]), &id),
            ACQ_OK);
}

/* without: a person who is member of no team; N_PEOPLE: nobody. */
static acq_graph *make_company(acq_ent without)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_graph *graph = NULL;
    add_names(builder);
    for (acq_ent p = 0; p < N_PEOPLE; p++) {
        acq_ent where = p % 10 == 9 ? N_PEOPLE + N_TEAMS + (p / 10) % N_CITIES : city(p);
        if (p != without)
            assert_int_equal(acq_graph_builder_add_fact(builder, p, MEMBER, team(p)), ACQ_OK);
        if (p % 7 != 0)
            assert_int_equal(acq_graph_builder_add_fact(builder, p, WORKS, where), ACQ_OK);
    }
    for (acq_ent t = 0; t < N_TEAMS; t++)
        assert_int_equal(acq_graph_builder_add_fact(builder, N_PEOPLE + t, BASED,
                                                    N_PEOPLE + N_TEAMS + t % N_CITIES),
                         ACQ_OK);
    assert_int_equal(acq_graph_builder_finish(builder, &graph, NULL), ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

/* ---- parts ---- */

typedef struct case_parts {
    acq_graph *graph;
    acq_rules *rules;
    acq_row_model *neighbours, *learnt; /* the second may be NULL */
    acq_rulebook *book;
    acq_candidates_maker *maker;
    acq_candidates found;
    acq_boost *trees; /* learnt that a rule makes a link true */
} case_parts;

/* Nine candidates in ten are true as they are, and false if no rule concludes them. */
static void fit_trees(case_parts *c)
{
    enum { COPIES = 20 }; /* of each, half of them without rules */
    size_t width = c->maker->n_features, n = COPIES * c->found.n;
    float *x = malloc(n * width * sizeof *x);
    uint8_t *labels = malloc(n);
    for (size_t i = 0; i < n; i++) {
        float *row = x + i * width;
        memcpy(row, c->found.features + i / COPIES * width, width * sizeof *x);
        labels[i] = (i % 2 == 1) != (i % 20 < 2);
        if (i % 2 == 0)
            memset(row + ACQ_N_LINK_FEATURES, 0, ACQ_N_RULE_FEATURES * sizeof *row);
    }
    acq_boost_params params = ACQ_BOOST_DEFAULT;
    acq_boost_data data = {x, labels, NULL, n, (uint32_t)width, NULL};
    params.n_trees = 20;
    assert_int_equal(acq_boost_fit(&data, &params, &c->trees, NULL), ACQ_OK);
    free(x);
    free(labels);
}

static void learn_rules(case_parts *c)
{
    acq_train_rules_params params;
    acq_train_rules_params_init(&params);
    assert_int_equal(acq_train_rules(c->graph, &params, &c->book, NULL), ACQ_OK);
    assert_int_equal(acq_rulebook_new_row_model(c->book, c->graph, &c->learnt, NULL), ACQ_OK);
    c->learnt->kind = "rulebook";
}

static void case_init(case_parts *c, bool has_learnt)
{
    *c = (case_parts){.graph = make_company(N_PEOPLE)};
    assert_int_equal(acq_rules_mine(c->graph, &ACQ_RULES_DEFAULT, &c->rules, NULL), ACQ_OK);
    assert_int_equal(acq_neighbours_new_row_model(c->graph, &c->neighbours, NULL), ACQ_OK);
    if (has_learnt)
        learn_rules(c);
    acq_candidates_params params = {.models = {c->neighbours, c->learnt},
                                    .n_models = has_learnt ? 2 : 1,
                                    .rules = c->rules,
                                    .top = 8,
                                    .n_threads = 1};
    assert_int_equal(acq_candidates_maker_new(c->graph, &params, &c->maker, NULL), ACQ_OK);
    assert_int_equal(acq_candidates_collect(c->maker, WORKS, &c->found, NULL), ACQ_OK);
    fit_trees(c);
}

static void case_deinit(case_parts *c)
{
    acq_boost_free(c->trees);
    acq_candidates_deinit(&c->found);
    acq_candidates_maker_free(c->maker);
    acq_row_model_free(c->neighbours);
    acq_row_model_free(c->learnt);
    acq_rulebook_free(c->book);
    acq_rules_free(c->rules);
    acq_graph_free(c->graph);
}

static void test_a_weight_is_what_leaving_the_part_out_costs(void **state)
{
    (void)state;
    case_parts c;
    acq_part_meter *meter = NULL;
    size_t n_lower = 0;
    case_init(&c, false);
    assert_int_equal(acq_part_meter_new(c.maker, &c.found, &meter, NULL), ACQ_OK);
    for (size_t i = 0; i < c.found.n; i++) {
        const float *x = c.found.features + i * c.maker->n_features;
        float without[256];
        acq_link_parts parts;
        acq_part_meter_measure(meter, (acq_boost_judge){c.trees, {0, ACQ_BOOST_NOT_GIVEN}}, i,
                               &parts);
        assert_int_equal(parts.n, ACQ_PART_MODELS + 1);
        for (size_t part = 0; part < parts.n; part++) {
            acq_part_meter_leave_out(meter, i, part, without);
            double p = acq_boost_to_probability(acq_boost_score(c.trees, x));
            double less = acq_boost_to_probability(acq_boost_score(c.trees, without));
            assert_true((parts.weights[part] > 0) == (less < p));
        }
        acq_part_meter_leave_out(meter, i, ACQ_PART_RULES, without);
        for (size_t k = 0; k < ACQ_N_RULE_FEATURES; k++)
            assert_true(without[ACQ_N_LINK_FEATURES + k] == 0);
        assert_memory_equal(without, x, ACQ_N_LINK_FEATURES * sizeof *x);
        n_lower += parts.weights[ACQ_PART_RULES] > 1;
    }
    assert_true(n_lower >= 5); /* the missing links that the rule concludes */
    acq_part_meter_free(meter);
    acq_part_meter_free(NULL);
    case_deinit(&c);
}

static void test_parts_turn_with_their_link(void **state)
{
    (void)state;
    acq_link_parts parts = {.n = 4, .weights = {1, 2, 3, 4}, .ranks = {5}, .back_ranks = {6}};
    acq_link_parts_turn(&parts);
    assert_true(parts.weights[ACQ_PART_HEAD] == 3 && parts.weights[ACQ_PART_TAIL] == 2);
    assert_int_equal(parts.ranks[0], 6);
    assert_int_equal(parts.back_ranks[0], 5);
}

/* ---- sentences ---- */

typedef struct told {
    acq_arena arena;
    acq_reason *reasons;
    size_t n;
    const char *note;
} told;

static void ask(const acq_predictor *predictor, acq_ent head, acq_rel relation, acq_ent tail,
                told *out)
{
    acq_error error = {0};
    acq_arena_init(&out->arena);
    if (acq_reasons_make(predictor, head, relation, tail, &out->arena, &out->reasons, &out->n,
                         &out->note, &error) != ACQ_OK)
        fail_msg("%s", error.message);
}

static const acq_reason *find(const told *t, const char *kind)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->reasons[i].kind, kind) == 0)
            return &t->reasons[i];
    return NULL;
}

static bool mentions(const acq_reason *reason, const char *words)
{
    return reason != NULL && strstr(reason->text, words) != NULL;
}

static void check_rules(const acq_reason *reason)
{
    assert_non_null(reason);
    assert_true(mentions(reason, "works_in(X, Y) holds where member_of(X, Z) & based_in(Z, Y) do"));
    assert_true(mentions(reason, "(here Z is Team70)"));
    assert_true(reason->n_rules > 0 && reason->rules[0].middle_id == team(0));
    assert_string_equal(reason->rules[0].middle, "Team70");
    assert_true(reason->rules[0].support <= reason->rules[0].cases);
    assert_int_equal(reason->count, reason->rules[0].support);
}

static void check_order(const told *t)
{
    for (size_t i = 1; i < t->n; i++)
        assert_true(t->reasons[i - 1].weight >= t->reasons[i].weight);
}

/* ---- fitted ---- */

static acq_predictor *fit(const acq_graph *graph)
{
    acq_fit_params params;
    acq_fit_report report;
    acq_error error = {0};
    acq_predictor *predictor = NULL;
    acq_fit_params_init(&params);
    params.complex.rank = 16;
    params.complex.epochs = 20;
    params.n_questions = 200;
    params.n_threads = 1;
    params.folder = FOLDER;
    if (acq_fit(graph, FILE_NAME, &params, &report, &error) != ACQ_OK ||
        acq_calibrator_open_completion(graph, FILE_NAME, &predictor, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    return predictor;
}

static void check_similar(const acq_graph *graph, const acq_reason *reason, acq_ent tail)
{
    if (reason == NULL)
        return;
    assert_true(reason->n_entities == reason->count && reason->count <= reason->total);
    for (size_t i = 0; i < reason->n_entities; i++)
        assert_true(acq_graph_has_fact(graph, reason->entities[i], WORKS, tail));
}

/* The scores of held-out links are kept too: pooled here, since few were held out. */
static void check_cover(const acq_predictor *predictor)
{
    const acq_cover *cover = NULL;
    const acq_cover_list *list;
    acq_reason_source *source = predictor->reasons;
    assert_int_equal(source->ops->open_cover(source, &cover, NULL), ACQ_OK);
    assert_int_equal(cover->n_relations, N_RELATIONS);
    double some = acq_cover_get_bound(cover, WORKS, .3, &list);
    assert_true(list->n > 5 && list == &cover->lists[N_RELATIONS]);
    assert_true(some <= acq_cover_get_bound(cover, WORKS, .8, &list));
}

static void test_a_fit_keeps_what_its_links_rest_on(void **state)
{
    (void)state;
    acq_graph *graph = make_company(N_PEOPLE);
    acq_predictor *predictor = fit(graph);
    size_t n_links = 0, n_ranked = 0, n_ruled = 0;
    for (acq_ent p = 0; p < N_PEOPLE; p += 7) {
        told t, back;
        float score = acq_predictor_get_score(predictor, p, WORKS, city(p));
        ask(predictor, p, WORKS, city(p), &t);
        ask(predictor, city(p), WORKS ^ 1, p, &back);
        assert_int_equal(t.n, back.n); /* the same link from its other end */
        for (size_t i = 0; i < t.n; i++)
            assert_string_equal(t.reasons[i].text, back.reasons[i].text);
        check_order(&t);
        assert_int_equal(t.n > 0, score >= (float)ACQ_REASONS_LEAST_P);
        n_links += t.n > 0;
        n_ranked += mentions(find(&t, "rank"), "ComplEx ranks");
        n_ruled += mentions(find(&t, "rules"), "member_of(X, Z) & based_in(Z, Y)");
        check_similar(graph, find(&t, "similar"), city(p));
        acq_arena_deinit(&t.arena);
        acq_arena_deinit(&back.arena);
    }
    assert_true(n_links >= 8 && n_ranked + n_ruled > 0);
    check_cover(predictor);
    acq_predictor_free(predictor);
    acq_graph_free(graph);
}

/* ---- zero-shot ---- */

static float predict(const acq_graph *graph, acq_ent person, told *t)
{
    acq_predictor *predictor = NULL;
    acq_error error = {0};
    acq_scored_row row = {0};
    float score = 0;
    if (acq_predictor_open(graph, "ultra", NULL, &predictor, NULL, &error) != ACQ_OK ||
        acq_predictor_copy_row(predictor, WORKS, person, &row, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < row.n; i++)
        score = row.tails[i] == city(person) ? row.scores[i] : score;
    if (t != NULL)
        ask(predictor, person, WORKS, city(person), t);
    acq_scored_row_deinit(&row);
    acq_predictor_free(predictor);
    return score;
}

/* The fact that the rule names is taken away: the link is less likely. */
static void test_without_what_a_reason_names_p_falls(void **state)
{
    (void)state;
    told t;
    if (!acq_shipped_has_ultra())
        skip();
    acq_graph *graph = make_company(N_PEOPLE), *without = make_company(0);
    float score = predict(graph, 0, &t);
    check_rules(find(&t, "rules"));
    assert_true(find(&t, "rules")->weight > 0);
    if (find(&t, "rank") != NULL) /* on small graphs rules and counts may be all there is */
        assert_true(mentions(find(&t, "rank"), "ULTRA ranks"));
    check_order(&t);
    check_similar(graph, find(&t, "similar"), city(0));
    assert_true(predict(without, 0, NULL) < score);
    acq_arena_deinit(&t.arena);
    acq_graph_free(graph);
    acq_graph_free(without);
}

/* ---- kept bytes ---- */

/* A completion of no links that keeps these bytes. */
static acq_status keep(const acq_graph *graph, const void *bytes, size_t length)
{
    acq_completion_params params = {.predictor = "fit", .floor = .1, .has_reasons = true};
    acq_completion_writer *writer = NULL;
    assert_int_equal(acq_completion_writer_open(FILE_NAME, graph, &params, &writer, NULL), ACQ_OK);
    acq_status status = acq_completion_writer_attach_reasons(writer, bytes, length, NULL);
    if (status == ACQ_OK)
        status = acq_completion_writer_finish(writer, NULL);
    acq_completion_writer_close(writer);
    return status;
}

static void pack(const case_parts *c, void **bytes, size_t *length)
{
    acq_kept_writer *writer = NULL;
    acq_boost_judge judge = {c->trees, {0, ACQ_BOOST_NOT_GIVEN}};
    float *odds = malloc(c->found.n * sizeof *odds);
    acq_boost_score_many(c->trees, c->found.features, c->found.n, odds);
    assert_int_equal(acq_kept_writer_new(c->maker, &writer, NULL), ACQ_OK);
    assert_int_equal(acq_kept_writer_add(writer, &c->found, judge, odds, NULL), ACQ_OK);
    assert_int_equal(acq_kept_writer_finish(writer, NULL, bytes, length, NULL), ACQ_OK);
    acq_kept_writer_free(writer);
    free(odds);
}

static acq_status open_and_ask(const acq_graph *graph, told *out)
{
    acq_predictor *predictor = NULL;
    acq_error error = {0};
    acq_arena_init(&out->arena);
    assert_int_equal(acq_calibrator_open_completion(graph, FILE_NAME, &predictor, NULL), ACQ_OK);
    acq_status status = acq_reasons_make(predictor, 0, WORKS, city(0), &out->arena, &out->reasons,
                                         &out->n, &out->note, &error);
    if (status != ACQ_OK)
        assert_true(strstr(error.message, "again") || strstr(error.message, "upgrade"));
    else if (out->n > 0)
        check_rules(find(out, "rules"));
    acq_predictor_free(predictor);
    return status;
}

/* The link of person 0 has a learnt rule, about works_in, which its counts speak for. */
static void check_learnt(const acq_graph *graph, bool has_learnt)
{
    acq_predictor *predictor = NULL;
    acq_link_parts parts;
    assert_int_equal(acq_calibrator_open_completion(graph, FILE_NAME, &predictor, NULL), ACQ_OK);
    acq_reason_source *source = predictor->reasons;
    assert_int_equal(source->ops->find_parts(source, 0, WORKS, city(0), &parts, NULL), ACQ_OK);
    assert_int_equal(parts.learnt != NULL, has_learnt);
    if (has_learnt) {
        assert_int_equal(parts.learnt->head & ~1U, WORKS);
        assert_true(acq_learnt_rule_get_confidence(parts.learnt) > .3);
    }
    acq_predictor_free(predictor);
}

static void check_kept(bool has_learnt)
{
    case_parts c;
    void *bytes = NULL;
    size_t length = 0, n_refused = 0;
    told t;
    case_init(&c, has_learnt);
    pack(&c, &bytes, &length);
    assert_int_equal(keep(c.graph, bytes, length), ACQ_OK);
    assert_int_equal(open_and_ask(c.graph, &t), ACQ_OK);
    assert_true(t.n > 0);
    acq_arena_deinit(&t.arena);
    check_learnt(c.graph, has_learnt);
    for (size_t cut = 4; cut < length; cut += 1 + cut / 7) { /* cut off */
        assert_int_equal(keep(c.graph, bytes, cut), ACQ_OK);
        assert_int_equal(open_and_ask(c.graph, &t), ACQ_ERR_INPUT);
        acq_arena_deinit(&t.arena);
    }
    for (size_t i = 0; i < 120; i++) { /* a count, a name or an id that cannot be */
        uint8_t *at = (uint8_t *)bytes + i, kept = *at;
        *at ^= 0xff;
        assert_int_equal(keep(c.graph, bytes, length), ACQ_OK);
        n_refused += open_and_ask(c.graph, &t) == ACQ_ERR_INPUT;
        acq_arena_deinit(&t.arena);
        *at = kept;
    }
    assert_true(n_refused > 20);
    acq_free(bytes);
    case_deinit(&c);
}

static void test_kept_reasons_come_back_or_are_refused(void **state)
{
    (void)state;
    check_kept(false);
    check_kept(true);
}

static void test_a_completion_without_reasons_says_so(void **state)
{
    (void)state;
    acq_graph *graph = make_company(N_PEOPLE);
    acq_predictor *observed = NULL;
    acq_completion_writer *writer = NULL;
    acq_completion_params params = {.predictor = "fit", .floor = .1};
    told t;
    assert_int_equal(acq_completion_writer_open(FILE_NAME, graph, &params, &writer, NULL), ACQ_OK);
    assert_int_equal(acq_completion_writer_attach_reasons(writer, "x", 1, NULL), ACQ_ERR_USAGE);
    acq_completion_writer_close(writer);
    assert_int_equal(acq_predictor_new_observed(graph, &observed, NULL), ACQ_OK);
    ask(observed, 0, WORKS, city(0), &t);
    assert_int_equal(t.n, 0);
    assert_non_null(strstr(t.note, "no probabilities"));
    acq_arena_deinit(&t.arena);
    acq_predictor_free(observed);
    acq_graph_free(graph);
}

#ifdef ACQ_FAULTS
static void test_reasons_survive_every_failed_allocation(void **state)
{
    (void)state;
    case_parts c;
    void *bytes = NULL;
    size_t length = 0;
    case_init(&c, true);
    pack(&c, &bytes, &length);
    assert_int_equal(keep(c.graph, bytes, length), ACQ_OK);
    acq_status status = ACQ_ERR_MEMORY;
    for (size_t n = 1; status != ACQ_OK && n < 5000; n++) {
        acq_predictor *predictor = NULL;
        acq_error error = {0};
        told t = {0};
        acq_arena_init(&t.arena);
        acq_faults_fail_at(n);
        status = acq_calibrator_open_completion(c.graph, FILE_NAME, &predictor, &error);
        if (status == ACQ_OK)
            status = acq_reasons_make(predictor, 0, WORKS, city(0), &t.arena, &t.reasons, &t.n,
                                      &t.note, &error);
        acq_faults_fail_at(0);
        if (status != ACQ_OK)
            assert_int_equal(error.code, ACQ_ERR_MEMORY);
        acq_arena_deinit(&t.arena);
        acq_predictor_free(predictor);
    }
    assert_int_equal(status, ACQ_OK);
    acq_free(bytes);
    case_deinit(&c);
}
#endif

static int tear_down(void **state)
{
    (void)state;
    unlink(FILE_NAME);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_weight_is_what_leaving_the_part_out_costs),
        cmocka_unit_test(test_parts_turn_with_their_link),
        cmocka_unit_test(test_a_fit_keeps_what_its_links_rest_on),
        cmocka_unit_test(test_without_what_a_reason_names_p_falls),
        cmocka_unit_test(test_kept_reasons_come_back_or_are_refused),
        cmocka_unit_test(test_a_completion_without_reasons_says_so),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_reasons_survive_every_failed_allocation),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
