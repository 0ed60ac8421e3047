/* train_case.c - see train_case.h. */
#include "unit/train_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static size_t get_index(const train_case *c, acq_ent head, acq_rel relation, acq_ent tail)
{
    bool is_inverse = relation & 1;
    size_t from = is_inverse ? tail : head, to = is_inverse ? head : tail;
    return ((size_t)(relation / 2) * c->n_entities + from) * c->n_entities + to;
}

void train_case_init(train_case *c, uint32_t n_entities, uint32_t n_pairs)
{
    *c = (train_case){.n_entities = n_entities, .n_relations = 2 * n_pairs};
    c->facts = calloc((size_t)n_pairs * n_entities * n_entities, sizeof *c->facts);
    c->builder = acq_graph_builder_new();
    char name[16];
    for (uint32_t i = 0; i < n_entities; i++) {
        acq_ent id;
        int length = snprintf(name, sizeof name, "e%u", i);
        assert_int_equal(acq_graph_builder_add_entity(c->builder, name, (size_t)length, &id),
                         ACQ_OK);
    }
    for (uint32_t i = 0; i < n_pairs; i++) {
        acq_rel id;
        int length = snprintf(name, sizeof name, "r%u", i);
        assert_int_equal(acq_graph_builder_add_relation(c->builder, name, (size_t)length, &id),
                         ACQ_OK);
    }
}

void train_case_add(train_case *c, acq_ent head, acq_rel relation, acq_ent tail)
{
    c->facts[get_index(c, head, relation, tail)] = true;
    assert_int_equal(acq_graph_builder_add_fact(c->builder, head, relation, tail), ACQ_OK);
}

void train_case_finish(train_case *c)
{
    acq_error error = {0};
    assert_int_equal(acq_graph_builder_finish(c->builder, &c->graph, &error), ACQ_OK);
    assert_int_equal(acq_sampler_new(c->graph, &c->sampler, &error), ACQ_OK);
}

void train_case_deinit(train_case *c)
{
    acq_sampler_free(c->sampler);
    acq_graph_free(c->graph);
    acq_graph_builder_free(c->builder);
    free(c->facts);
}

static void add_random_facts(train_case *c, uint32_t n_facts, acq_random *random)
{
    for (uint32_t i = 0; i < n_facts; i++) {
        acq_ent head = (acq_ent)acq_random_below(random, c->n_entities);
        acq_ent tail = (acq_ent)acq_random_below(random, c->n_entities);
        train_case_add(c, head, (acq_rel)acq_random_below(random, c->n_relations), tail);
    }
    train_case_finish(c);
}

void train_case_init_random(train_case *c, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 99);
    uint32_t n_entities = 1 + (uint32_t)acq_random_below(&random, 40);
    train_case_init(c, n_entities, 1 + (uint32_t)acq_random_below(&random, TRAIN_CASE_MOST_PAIRS));
    add_random_facts(c, 1 + (uint32_t)acq_random_below(&random, 6ULL * n_entities), &random);
}

void train_case_init_dense(train_case *c, uint32_t n_entities, uint32_t n_pairs, uint32_t n_facts)
{
    acq_random random = acq_random_start(3, 98);
    train_case_init(c, n_entities, n_pairs);
    add_random_facts(c, n_facts, &random);
}

bool train_case_has(const train_case *c, acq_ent head, acq_rel relation, acq_ent tail)
{
    return c->facts[get_index(c, head, relation, tail)];
}

static acq_ent get_value(acq_place place, const acq_ent *answer)
{
    return place.is_variable ? answer[place.id] : place.id;
}

void train_case_check(const train_case *c, const acq_problem *problem, const acq_ent *answer)
{
    uint32_t seen = 0;
    assert_int_equal(problem->n_entities, c->n_entities);
    assert_int_equal(problem->n_free + problem->n_fixed + problem->n_clauses, 0);
    assert_true(problem->n_variables > 0 && problem->n_literals > 0);
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *l = &problem->literals[i];
        acq_ent left = get_value(l->left, answer), right = get_value(l->right, answer);
        assert_false(l->is_equality);
        assert_true(l->left.is_variable || l->right.is_variable);
        assert_true(left < c->n_entities && right < c->n_entities && l->relation < c->n_relations);
        assert_true(train_case_has(c, left, l->relation, right) != l->is_negated);
        seen |= l->left.is_variable ? 1U << l->left.id : 0;
        seen |= l->right.is_variable ? 1U << l->right.id : 0;
    }
    assert_int_equal(seen, (1U << problem->n_variables) - 1);
}

static acq_triple get_fact(const acq_literal *l, const acq_ent *answer)
{
    acq_ent left = get_value(l->left, answer), right = get_value(l->right, answer);
    bool is_inverse = l->relation & 1;
    return (acq_triple){.head = is_inverse ? right : left,
                        .relation = l->relation & ~1U,
                        .tail = is_inverse ? left : right};
}

void train_case_check_distinct(const acq_problem *problem, const acq_ent *answer)
{
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        for (uint32_t j = 0; j < i; j++) {
            acq_triple a = get_fact(&problem->literals[i], answer);
            acq_triple b = get_fact(&problem->literals[j], answer);
            assert_false(a.head == b.head && a.relation == b.relation && a.tail == b.tail);
        }
    }
}

static uint32_t find_term(train_terms *terms, acq_ent entity)
{
    for (uint32_t i = 0; i < terms->n; i++) {
        if (terms->entities[i] == entity)
            return i;
    }
    assert_true(terms->n < TRAIN_CASE_MOST_TERMS);
    terms->entities[terms->n] = entity;
    return terms->n++;
}

/* Spreads from term 0 along the literals until nothing is new. */
static bool is_connected(train_terms *terms, const acq_problem *problem, const acq_ent *answer)
{
    uint32_t reached = 1, before = 0;
    while (reached != before) {
        before = reached;
        for (uint32_t i = 0; i < problem->n_literals; i++) {
            const acq_literal *l = &problem->literals[i];
            uint32_t both = 1U << find_term(terms, get_value(l->left, answer)) |
                            1U << find_term(terms, get_value(l->right, answer));
            if (reached & both)
                reached |= both;
        }
    }
    return reached == (1U << terms->n) - 1;
}

void train_terms_init(train_terms *terms, const acq_problem *problem, const acq_ent *answer)
{
    *terms = (train_terms){0};
    for (uint32_t i = 0; i < problem->n_variables; i++)
        assert_int_equal(find_term(terms, answer[i]), i); /* all different */
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        find_term(terms, get_value(problem->literals[i].left, answer));
        find_term(terms, get_value(problem->literals[i].right, answer));
    }
    terms->n_constants = terms->n - problem->n_variables;
    terms->is_connected = is_connected(terms, problem, answer);
}

uint32_t train_terms_count_facts(const train_terms *terms, const train_case *c)
{
    uint32_t n = 0, n_variables = terms->n - terms->n_constants;
    for (uint32_t i = 0; i < terms->n; i++) {
        for (uint32_t j = 0; j < terms->n; j++) {
            if (i == j || (i >= n_variables && j >= n_variables))
                continue;
            for (acq_rel r = 0; r < c->n_relations; r += 2)
                n += train_case_has(c, terms->entities[i], r, terms->entities[j]);
        }
    }
    return n;
}
