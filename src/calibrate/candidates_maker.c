/* candidates_maker.c - what candidates are made with: the links, the counts that describe them, the
 * features by name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "calibrate/candidates_parts.h"

static const char *const link_names[] = {
#define NAME(name, monotone) #name,
    ACQ_LINK_FEATURES(NAME)};
static const char *const rule_names[] = {ACQ_RULE_FEATURES(NAME)};
static const char *const row_names[] = {ACQ_ROW_FEATURES(NAME)};
static const char *const usual_names[] = {ACQ_USUAL_FEATURES(NAME)};
#undef NAME
#define MONOTONE(name, monotone) monotone,
static const int8_t link_monotone[] = {ACQ_LINK_FEATURES(MONOTONE)};
static const int8_t rule_monotone[] = {ACQ_RULE_FEATURES(MONOTONE)};
static const int8_t row_monotone[] = {ACQ_ROW_FEATURES(MONOTONE)};
static const int8_t usual_monotone[] = {ACQ_USUAL_FEATURES(MONOTONE)};
#undef MONOTONE

static acq_status add_feature(acq_candidates_maker *maker, const char *model, const char *side,
                              const char *name, int8_t monotone)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s%s%s%s", model, *model == '\0' ? "" : ".", side,
             *side == '\0' ? "" : ".", name);
    maker->names[maker->n_features] = acq_copy_string(text);
    if (maker->names[maker->n_features] == NULL)
        return ACQ_ERR_MEMORY;
    maker->monotone[maker->n_features++] = monotone;
    return ACQ_OK;
}

static acq_status add_model_features(acq_candidates_maker *maker, const char *kind,
                                     const char *side)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < ACQ_N_ROW_FEATURES && status == ACQ_OK; i++)
        status = add_feature(maker, kind, side, row_names[i], row_monotone[i]);
    return status;
}

static acq_status name_features(acq_candidates_maker *maker)
{
    const acq_candidates_params *params = &maker->params;
    size_t most = ACQ_N_LINK_FEATURES + ACQ_N_RULE_FEATURES + ACQ_N_USUAL_FEATURES + 4 +
                  params->n_models * 2 * (size_t)(ACQ_N_ROW_FEATURES + 1);
    maker->names = acq_zalloc(most, sizeof *maker->names);
    maker->monotone = acq_zalloc(most, sizeof *maker->monotone);
    if (maker->names == NULL || maker->monotone == NULL)
        return ACQ_ERR_MEMORY;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < ACQ_N_LINK_FEATURES && status == ACQ_OK; i++)
        status = add_feature(maker, "", "", link_names[i], link_monotone[i]);
    for (size_t i = 0; i < ACQ_N_RULE_FEATURES && status == ACQ_OK; i++)
        status = add_feature(maker, "rules", "", rule_names[i], rule_monotone[i]);
    for (size_t m = 0; m < params->n_models && status == ACQ_OK; m++) {
        status = add_model_features(maker, params->models[m]->kind, "row");
        if (status == ACQ_OK)
            status = add_model_features(maker, params->models[m]->kind, "back");
    }
    for (size_t i = 0; i < ACQ_N_USUAL_FEATURES && status == ACQ_OK; i++)
        status = add_feature(maker, "", "", usual_names[i], usual_monotone[i]);
    for (size_t m = 0; m <= params->n_models && status == ACQ_OK; m++) {
        const char *kind = m == 0 ? "rules" : params->models[m - 1]->kind;
        status = add_feature(maker, kind, "row", "due", 0);
        if (status == ACQ_OK)
            status = add_feature(maker, kind, "back", "due", 0);
    }
    if (status == ACQ_OK)
        status = add_feature(maker, "", "", "rest", 0);
    return status == ACQ_OK ? add_feature(maker, "", "", "moved", 0) : status;
}

static acq_status open_all_links(acq_candidates_maker *maker, acq_error *error)
{
    maker->links = acq_zalloc(maker->n_relations, sizeof *maker->links);
    if (maker->links == NULL)
        return acq_fail_memory(error);
    for (acq_rel r = 0; r < maker->n_relations; r++) {
        acq_status status = acq_graph_open_links(maker->graph, r, &maker->links[r], error);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

static acq_status open_counted_links(acq_candidates_maker *maker, acq_error *error)
{
    const acq_graph *graph = maker->params.counted;
    acq_status status = ACQ_OK;
    if (graph == NULL) {
        maker->counted = maker->links;
        return ACQ_OK;
    }
    if (acq_graph_get_n_relations(graph) != maker->n_relations ||
        acq_graph_get_n_entities(graph) != maker->n_entities)
        return acq_fail(error, ACQ_ERR_USAGE, "the counts are of a graph with other ids");
    maker->counted = acq_zalloc(maker->n_relations, sizeof *maker->counted);
    if (maker->counted == NULL)
        return acq_fail_memory(error);
    for (acq_rel r = 0; r < maker->n_relations && status == ACQ_OK; r++)
        status = acq_graph_open_links(graph, r, &maker->counted[r], error);
    return status;
}

float acq_candidates_grow(const acq_candidates_maker *maker, float n)
{
    enum { FEW = 4 };
    bool is_grown = maker->params.is_rest && n >= (float)FEW;
    return is_grown ? n / (float)(1 - maker->params.held_share) : n;
}

static acq_status count_degrees(acq_candidates_maker *maker, acq_error *error)
{
    maker->degrees = acq_zalloc(maker->n_entities, sizeof *maker->degrees);
    if (maker->degrees == NULL)
        return acq_fail_memory(error);
    for (acq_rel r = 0; r < maker->n_relations; r++) {
        const acq_links *links = maker->links[r];
        for (uint32_t i = 0; i < links->n_heads; i++)
            maker->degrees[links->heads[i]] += (float)(links->offsets[i + 1] - links->offsets[i]);
    }
    for (uint32_t e = 0; e < maker->n_entities; e++)
        maker->degrees[e] = log1pf(acq_candidates_grow(maker, maker->degrees[e]));
    return ACQ_OK;
}

/* The score of similar entities is the log of the share of them that have a tail, that of rules the
 * log-odds of such shares. */
static void grow_scores(acq_candidates_maker *maker)
{
    const acq_candidates_params *params = &maker->params;
    for (size_t m = 0; m < params->n_models && params->is_rest; m++)
        if (strcmp(params->models[m]->kind, "neighbours") == 0 ||
            strcmp(params->models[m]->kind, "rulebook") == 0)
            maker->grown[m] = (float)-log(1 - params->held_share);
}

acq_status acq_candidates_maker_new(const acq_graph *graph, const acq_candidates_params *params,
                                    acq_candidates_maker **out, acq_error *error)
{
    acq_candidates_maker *maker = acq_zalloc(1, sizeof *maker);
    if (maker == NULL)
        return acq_fail_memory(error);
    maker->params = *params;
    maker->params.n_threads = params->n_threads < 1 ? 1 : params->n_threads;
    maker->graph = graph;
    maker->n_entities = acq_graph_get_n_entities(graph);
    maker->n_relations = acq_graph_get_n_relations(graph);
    acq_status status = open_all_links(maker, error);
    if (status == ACQ_OK)
        status = open_counted_links(maker, error);
    if (status == ACQ_OK)
        status = count_degrees(maker, error);
    if (status == ACQ_OK)
        status = acq_usual_new(maker, &maker->usual, error);
    if (status == ACQ_OK && name_features(maker) != ACQ_OK)
        status = acq_fail_memory(error);
    grow_scores(maker);
    if (status == ACQ_OK)
        *out = maker;
    else
        acq_candidates_maker_free(maker);
    return status;
}

void acq_candidates_maker_free(acq_candidates_maker *maker)
{
    if (maker == NULL)
        return;
    for (uint32_t i = 0; maker->names != NULL && i < maker->n_features; i++)
        acq_free(maker->names[i]);
    acq_free(maker->names);
    acq_free(maker->monotone);
    if (maker->counted != maker->links)
        acq_free(maker->counted);
    acq_usual_free(maker->usual);
    acq_free(maker->links);
    acq_free(maker->degrees);
    acq_free(maker);
}

uint32_t acq_candidates_map_features(const acq_candidates_maker *maker, const char *kind,
                                     uint32_t *map)
{
    enum { SIDES = 2, MODEL = SIDES * ACQ_N_ROW_FEATURES };
    const acq_candidates_params *params = &maker->params;
    uint32_t n = 0, m = 0, models = (uint32_t)params->n_models;
    while (m < models && strcmp(params->models[m]->kind, kind) != 0)
        m++;
    if (m == models)
        return 0;
    uint32_t first = ACQ_N_LINK_FEATURES + ACQ_N_RULE_FEATURES, usual = first + models * MODEL;
    for (uint32_t i = 0; i < first; i++)
        map[n++] = i;
    for (uint32_t i = 0; i < MODEL; i++)
        map[n++] = first + m * MODEL + i;
    for (uint32_t i = 0; i < ACQ_N_USUAL_FEATURES + SIDES; i++) /* with those of the rules */
        map[n++] = usual + i;
    for (uint32_t i = 0; i < SIDES; i++)
        map[n++] = usual + ACQ_N_USUAL_FEATURES + (m + 1) * SIDES + i;
    map[n++] = maker->n_features - 2;
    map[n++] = maker->n_features - 1;
    return n;
}

uint32_t acq_candidates_get_n_features(const acq_candidates_maker *maker)
{
    return maker->n_features;
}

const char *acq_candidates_get_feature_name(const acq_candidates_maker *maker, uint32_t i)
{
    return maker->names[i];
}

const int8_t *acq_candidates_get_monotone(const acq_candidates_maker *maker)
{
    return maker->monotone;
}

uint32_t acq_candidates_get_top(const acq_candidates_maker *maker)
{
    return maker->params.top;
}

void acq_candidates_set_stop(acq_candidates_maker *maker, acq_stop stop)
{
    maker->params.stop = stop;
}

void acq_candidates_set_row_share(acq_candidates_maker *maker, double share)
{
    maker->params.row_share = share;
}

acq_stop acq_candidates_get_stop(const acq_candidates_maker *maker)
{
    return maker->params.stop;
}

uint32_t acq_candidates_get_n_entities(const acq_candidates_maker *maker)
{
    return maker->n_entities;
}

bool acq_candidates_is_one_sided(const acq_candidates_maker *maker)
{
    return maker->params.rows != ACQ_ROWS_BOTH;
}
