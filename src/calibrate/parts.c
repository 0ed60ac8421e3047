/* parts.c - see parts.h. The candidate that a model likes least in a row is found once for all rows
 * of the list: rows (head, relation) lie together, those from the tails are gathered by entity. */
#include "calibrate/parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "calibrate/candidates_parts.h"

enum { SIDES = 2 }; /* row and back */

struct acq_part_meter {
    const acq_candidates_maker *maker;
    const acq_candidates *found;
    uint32_t *least[ACQ_CANDIDATES_MODELS][SIDES]; /* by head or tail: a candidate; ACQ_NO_ID */
};

static size_t get_column(size_t model, size_t side)
{
    return ACQ_N_LINK_FEATURES + ACQ_N_RULE_FEATURES + (SIDES * model + side) * ACQ_N_ROW_FEATURES;
}

static const float *get_features(const acq_part_meter *meter, size_t i)
{
    return meter->found->features + i * meter->maker->n_features;
}

static acq_ent get_row(const acq_candidates *found, size_t i, size_t side)
{
    return side == 0 ? found->heads[i] : found->tails[i];
}

/* One pass over the list: of each row the candidate with the least score. */
static acq_status find_least(acq_part_meter *meter, size_t model, size_t side)
{
    size_t column = get_column(model, side) + ACQ_ROW_score, n = meter->maker->n_entities;
    uint32_t *least = meter->least[model][side] = acq_alloc(n, sizeof *least);
    if (least == NULL)
        return ACQ_ERR_MEMORY;
    memset(least, 0xff, n * sizeof *least);
    for (size_t i = 0; i < meter->found->n; i++) {
        uint32_t *best = &least[get_row(meter->found, i, side)];
        float score = get_features(meter, i)[column];
        if (!isnan(score) && (*best == ACQ_NO_ID || score < get_features(meter, *best)[column]))
            *best = (uint32_t)i;
    }
    return ACQ_OK;
}

acq_status acq_part_meter_new(const acq_candidates_maker *maker, const acq_candidates *found,
                              acq_part_meter **out, acq_error *error)
{
    acq_part_meter *meter = acq_zalloc(1, sizeof *meter);
    if (meter == NULL)
        return acq_fail_memory(error);
    *meter = (acq_part_meter){.maker = maker, .found = found};
    acq_status status = ACQ_OK;
    for (size_t m = 0; m < maker->params.n_models; m++)
        for (size_t side = 0; side < SIDES && status == ACQ_OK; side++)
            status = find_least(meter, m, side);
    if (status == ACQ_OK) {
        *out = meter;
        return ACQ_OK;
    }
    acq_part_meter_free(meter);
    return acq_fail_memory(error);
}

void acq_part_meter_free(acq_part_meter *meter)
{
    if (meter == NULL)
        return;
    for (size_t m = 0; m < ACQ_CANDIDATES_MODELS; m++)
        for (size_t side = 0; side < SIDES; side++)
            acq_free(meter->least[m][side]);
    acq_free(meter);
}

/* Has as many facts as if it were never seen; if it never was, it is now. */
static void change_seen(float *seen, float *count)
{
    *count = 0.0F;
    *seen = *seen > 0 ? 0.0F : 1.0F;
}

static void leave_out_model(const acq_part_meter *meter, size_t i, size_t model, float *x)
{
    for (size_t side = 0; side < SIDES; side++) {
        size_t column = get_column(model, side);
        uint32_t least = meter->least[model][side][get_row(meter->found, i, side)];
        if (least != ACQ_NO_ID && !isnan(x[column + ACQ_ROW_score]))
            memcpy(x + column, get_features(meter, least) + column, ACQ_N_ROW_FEATURES * sizeof *x);
    }
}

void acq_part_meter_leave_out(const acq_part_meter *meter, size_t i, size_t part, float *x)
{
    memcpy(x, get_features(meter, i), meter->maker->n_features * sizeof *x);
    if (part == ACQ_PART_RULES)
        memset(x + ACQ_N_LINK_FEATURES, 0, ACQ_N_RULE_FEATURES * sizeof *x);
    else if (part == ACQ_PART_HEAD)
        change_seen(&x[ACQ_LINK_head_seen], &x[ACQ_LINK_tails]);
    else if (part == ACQ_PART_TAIL)
        change_seen(&x[ACQ_LINK_tail_seen], &x[ACQ_LINK_heads]);
    else
        leave_out_model(meter, i, part - ACQ_PART_MODELS, x);
}

static uint32_t read_rank(float feature)
{
    return isnan(feature) ? 0 : (uint32_t)lround(expm1((double)feature)) + 1;
}

void acq_part_meter_measure(const acq_part_meter *meter, const acq_boost *trees, size_t i,
                            acq_link_parts *out)
{
    float without[ACQ_N_LINK_FEATURES + ACQ_N_RULE_FEATURES +
                  ACQ_CANDIDATES_MODELS * SIDES * ACQ_N_ROW_FEATURES];
    const float *x = get_features(meter, i);
    size_t n_models = meter->maker->params.n_models;
    double odds = acq_boost_score(trees, x);
    *out = (acq_link_parts){.n = ACQ_PART_MODELS + n_models};
    for (size_t part = 0; part < out->n; part++) {
        acq_part_meter_leave_out(meter, i, part, without);
        out->weights[part] = (float)(odds - acq_boost_score(trees, without));
    }
    for (size_t m = 0; m < n_models; m++) {
        out->ranks[m] = read_rank(x[get_column(m, 0) + ACQ_ROW_rank]);
        out->back_ranks[m] = read_rank(x[get_column(m, 1) + ACQ_ROW_rank]);
    }
}

void acq_link_parts_turn(acq_link_parts *parts)
{
    float head = parts->weights[ACQ_PART_HEAD];
    parts->weights[ACQ_PART_HEAD] = parts->weights[ACQ_PART_TAIL];
    parts->weights[ACQ_PART_TAIL] = head;
    for (size_t m = 0; m < ACQ_CANDIDATES_MODELS; m++) {
        uint32_t rank = parts->ranks[m];
        parts->ranks[m] = parts->back_ranks[m];
        parts->back_ranks[m] = rank;
    }
}
