/* labels.c - see parts.h. */
#include "generate/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "base/memory.h"

enum {
    LEAST_SET = 5,
    DRAWS = 400,       /* entities that are tried as wrong candidates */
    NEAR_ANSWERS = 64, /* of a query without one of its atoms */
    NEAR_TRIES = 12,   /* atoms that are left out in turn */
};

void acq_tuples_deinit(acq_tuples *tuples)
{
    acq_free(tuples->values);
    *tuples = (acq_tuples){0};
}

acq_status acq_tuples_add(acq_tuples *tuples, const acq_ent *tuple)
{
    size_t n = tuples->n_free;
    if (ACQ_RESERVE(tuples->values, tuples->capacity, (tuples->n + 1) * n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    memcpy(tuples->values + tuples->n++ * n, tuple, n * sizeof *tuple);
    return ACQ_OK;
}

bool acq_tuples_has(const acq_tuples *tuples, const acq_ent *tuple)
{
    size_t size = tuples->n_free * sizeof *tuple;
    for (size_t i = 0; i < tuples->n; i++)
        if (memcmp(tuples->values + i * tuples->n_free, tuple, size) == 0)
            return true;
    return false;
}

static acq_engine_params choose_search(const acq_worlds_pair *worlds, uint64_t limit)
{
    acq_engine_params engine = ACQ_ENGINE_DEFAULT;
    engine.search.limit = limit;
    engine.search.seconds = 0; /* a deadline would not repeat */
    engine.search.work = worlds->work;
    return engine;
}

acq_status acq_labels_list(const acq_worlds_pair *worlds, const acq_predictor *world,
                           const acq_query *query, uint64_t limit, acq_tuples *out,
                           acq_error *error)
{
    acq_engine_params engine = choose_search(worlds, limit);
    acq_engine_result result;
    *out = (acq_tuples){.n_free = query->n_free};
    acq_status status = acq_engine_ask(query, world, &engine, &result, error);
    for (size_t i = 0; i < result.n_answers && status == ACQ_OK; i++)
        if (acq_tuples_add(out, result.answers[i].values) != ACQ_OK)
            status = acq_fail_memory(error);
    out->is_whole = result.complete && (limit == 0 || result.n_answers < limit);
    acq_engine_result_deinit(&result);
    if (status != ACQ_OK)
        acq_tuples_deinit(out);
    return status;
}

acq_status acq_labels_check(const acq_worlds_pair *worlds, const acq_predictor *world,
                            const acq_query *query, const acq_ent *tuple, bool *holds,
                            bool *is_sure, acq_error *error)
{
    acq_engine_params engine = choose_search(worlds, 1);
    acq_engine_result result;
    acq_status status = acq_engine_check(query, world, tuple, &engine, &result, error);
    *holds = result.outcome == ACQ_ANSWERED;
    *is_sure = result.outcome != ACQ_UNDECIDED;
    acq_engine_result_deinit(&result);
    return status;
}

/* ---- candidate sets ---- */

void acq_candidate_set_deinit(acq_candidate_set *set)
{
    acq_tuples_deinit(&set->correct);
    acq_tuples_deinit(&set->wrong);
    *set = (acq_candidate_set){0};
}

typedef struct weighted {
    acq_ent entity;
    bool is_easy, is_seen;
    double key; /* random, larger for larger weights: the first n by it are a weighted sample */
} weighted;

static int compare_keys(const void *left, const void *right)
{
    const weighted *a = left, *b = right;
    return (a->key < b->key) - (a->key > b->key);
}

/* Answers in random order, hard ones twice as likely to be early (Efraimidis and Spirakis). */
static acq_status order_answers(const acq_worlds_pair *worlds, const acq_query *query,
                                const acq_tuples *easy, const acq_tuples *all, acq_random *random,
                                weighted **out)
{
    weighted *list = acq_alloc(all->n, sizeof *list);
    if (list == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < all->n; i++) {
        const acq_ent *tuple = &all->values[i];
        bool is_easy = acq_tuples_has(easy, tuple);
        list[i] = (weighted){.entity = *tuple,
                             .is_easy = is_easy,
                             .is_seen = acq_explain_is_seen(query, worlds->observed_graph, tuple),
                             .key = log(1.0 - acq_random_unit(random)) / (is_easy ? 1.0 : 2.0)};
    }
    qsort(list, all->n, sizeof *list, compare_keys);
    *out = list;
    return ACQ_OK;
}

/* A relation at the free variable whose ends there are fewest: heads to draw from. */
static acq_status find_pool(const acq_worlds_pair *worlds, const acq_query *query,
                            const acq_node *node, bool is_negated, const acq_links **pool,
                            acq_error *error)
{
    acq_status status = ACQ_OK;
    if (node->kind == ACQ_NODE_ATOM) {
        const acq_term *ends[] = {&node->left, &node->right};
        for (unsigned side = 0; side < 2 && !is_negated && status == ACQ_OK; side++) {
            const acq_links *links;
            if (!ends[side]->is_variable || ends[side]->id != 0)
                continue;
            acq_rel relation = query->relations[node->relation].id ^ side;
            status = acq_graph_open_links(worlds->observed_graph, relation, &links, error);
            if (status == ACQ_OK && (*pool == NULL || links->n_heads < (*pool)->n_heads))
                *pool = links;
        }
        return status;
    }
    bool below = node->kind == ACQ_NODE_NOT ? !is_negated : is_negated;
    for (uint32_t i = 0; i < node->n_children && status == ACQ_OK; i++)
        status = find_pool(worlds, query, node->children[i], below, pool, error);
    return status;
}

/* Up to `most` entities that are seen where the free variable stands and are no answers. */
static acq_status draw_wrong(const acq_worlds_pair *worlds, const acq_query *query,
                             const acq_tuples *all, size_t most, acq_random *random,
                             acq_tuples *out, acq_error *error)
{
    const acq_links *pool = NULL;
    acq_status status = find_pool(worlds, query, query->root, false, &pool, error);
    uint64_t n = pool == NULL ? acq_graph_get_n_entities(worlds->observed_graph) : pool->n_heads;
    *out = (acq_tuples){.n_free = 1};
    for (uint32_t i = 0; i < DRAWS && n > 0 && out->n < most && status == ACQ_OK; i++) {
        acq_ent entity = (acq_ent)acq_random_below(random, n);
        entity = pool == NULL ? entity : pool->heads[entity];
        if (acq_tuples_has(all, &entity) || acq_tuples_has(out, &entity) ||
            !acq_explain_is_seen(query, worlds->observed_graph, &entity))
            continue;
        if (acq_tuples_add(out, &entity) != ACQ_OK)
            status = acq_fail_memory(error);
    }
    return status;
}

static acq_status fill(acq_candidate_set *set, const weighted *list, size_t n, size_t size,
                       bool matched)
{
    set->correct = (acq_tuples){.n_free = 1};
    for (size_t i = 0; i < n && set->correct.n < size; i++) {
        if (matched && !list[i].is_seen)
            continue;
        if (acq_tuples_add(&set->correct, &list[i].entity) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        set->n_easy += list[i].is_easy;
        set->n_unseen += !list[i].is_seen;
    }
    return ACQ_OK;
}

static size_t clip(size_t n, size_t most)
{
    return n < LEAST_SET ? LEAST_SET : n > most ? most : n;
}

acq_status acq_candidate_set_draw(const acq_worlds_pair *worlds, const acq_query *query,
                                  const acq_tuples *easy, const acq_tuples *all, size_t most,
                                  bool matched, acq_random *random, acq_candidate_set *out,
                                  acq_error *error)
{
    weighted *list = NULL;
    *out = (acq_candidate_set){0};
    if (order_answers(worlds, query, easy, all, random, &list) != ACQ_OK)
        return acq_fail_memory(error);
    size_t n_usable = 0, size = clip(all->n, most);
    for (size_t i = 0; i < all->n; i++)
        n_usable += !matched || list[i].is_seen;
    size = n_usable < size ? n_usable : size;
    acq_status status = draw_wrong(worlds, query, all, size, random, &out->wrong, error);
    if (status == ACQ_OK && fill(out, list, all->n, out->wrong.n, matched) != ACQ_OK)
        status = acq_fail_memory(error);
    acq_free(list);
    if (status != ACQ_OK)
        acq_candidate_set_deinit(out);
    return status;
}

/* ---- what makes a query false ---- */

static bool has_free(const acq_draft *draft)
{
    for (uint32_t i = 0; i < draft->n_literals; i++) {
        const acq_literal *l = &draft->literals[i];
        if ((l->left.is_variable && l->left.id == 0) || (l->right.is_variable && l->right.id == 0))
            return true;
    }
    return false;
}

/* The first answer of the draft that `all` lacks; ACQ_NO_ID: none. */
static acq_status find_other(const acq_worlds_pair *worlds, const acq_draft *draft,
                             const acq_tuples *all, acq_ent *out, acq_error *error)
{
    acq_query *query = NULL;
    acq_tuples found = {0};
    if (!has_free(draft)) /* the atom left out was the only one with it */
        return ACQ_OK;
    acq_status status = acq_draft_make_query(draft, &query, error);
    if (status == ACQ_OK)
        status =
            acq_labels_list(worlds, worlds->complete, query, NEAR_ANSWERS + all->n, &found, error);
    for (size_t i = 0; status == ACQ_OK && i < found.n && *out == ACQ_NO_ID; i++)
        if (!acq_tuples_has(all, &found.values[i]))
            *out = found.values[i];
    acq_tuples_deinit(&found);
    acq_query_free(query);
    return status;
}

/* An entity that satisfies all atoms but one. */
static acq_status draw_near(const acq_worlds_pair *worlds, const acq_draft *draft,
                            const acq_tuples *all, acq_random *random, acq_ent *out,
                            acq_error *error)
{
    acq_status status = ACQ_OK;
    bool can = draft->n_literals > 1 && draft->n_free == 1;
    for (uint32_t i = 0; i < NEAR_TRIES && can && *out == ACQ_NO_ID && status == ACQ_OK; i++) {
        acq_draft without;
        uint32_t gone = (uint32_t)acq_random_below(random, draft->n_literals);
        status = acq_draft_copy(draft, &without, error);
        if (status != ACQ_OK)
            return status;
        without.literals[gone] = without.literals[--without.n_literals];
        status = find_other(worlds, &without, all, out, error);
        acq_draft_deinit(&without);
    }
    return status;
}

acq_status acq_labels_draw_wrong(const acq_worlds_pair *worlds, const acq_draft *draft, bool near,
                                 acq_random *random, acq_ent *out, acq_error *error)
{
    acq_query *query = NULL;
    acq_tuples all = {0}, wrong = {0};
    *out = ACQ_NO_ID;
    acq_status status = acq_draft_make_query(draft, &query, error);
    if (status == ACQ_OK)
        status = acq_labels_list(worlds, worlds->complete, query, 0, &all, error);
    if (status == ACQ_OK && all.is_whole && near)
        status = draw_near(worlds, draft, &all, random, out, error);
    else if (status == ACQ_OK && all.is_whole)
        status = draw_wrong(worlds, query, &all, 1, random, &wrong, error);
    if (status == ACQ_OK && wrong.n > 0)
        *out = wrong.values[0];
    acq_tuples_deinit(&all);
    acq_tuples_deinit(&wrong);
    acq_query_free(query);
    return status;
}
