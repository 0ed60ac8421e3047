/* parts.c - see reasons.h. Features belong to parts by their names: "rules...." and "MODEL.row...."
 * are of the rules and of a model. The candidate that a model likes least in a row is found once
 * for all rows of the list. */
#include "calibrate/reasons.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "calibrate/boost_parts.h"
#include "calibrate/candidates_parts.h"

enum { SIDES = 2, NO_PART = ACQ_MOST_PARTS }; /* row and back */

/* What a feature becomes when its part is left out. */
typedef enum neutral { ZERO, UNKNOWN, LEAST } neutral;

typedef struct column {
    uint8_t part, side; /* side: of a model */
    uint8_t neutral;
} column;

struct acq_part_meter {
    const acq_candidates_maker *maker;
    const acq_candidates *found;
    column columns[ACQ_BOOST_MOST_FEATURES];
    uint32_t scores[ACQ_CANDIDATES_MODELS][SIDES], ranks[ACQ_CANDIDATES_MODELS][SIDES];
    uint32_t *least[ACQ_CANDIDATES_MODELS][SIDES]; /* by head or tail: a candidate; ACQ_NO_ID */
};

/* ---- which feature belongs to what ---- */

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

/* The features of the link itself that tell what its head, or its tail, has. */
static column read_own(const char *name)
{
    static const struct {
        const char *name;
        column column;
    } own[] = {{"tails", {.part = ACQ_PART_HEAD, .neutral = ZERO}},
               {"head_seen", {.part = ACQ_PART_HEAD, .neutral = ZERO}},
               {"head_due", {.part = ACQ_PART_HEAD, .neutral = UNKNOWN}},
               {"heads", {.part = ACQ_PART_TAIL, .neutral = ZERO}},
               {"tail_seen", {.part = ACQ_PART_TAIL, .neutral = ZERO}},
               {"tail_due", {.part = ACQ_PART_TAIL, .neutral = UNKNOWN}}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i].name) == 0)
            return own[i].column;
    return (column){.part = NO_PART};
}

static void read_column(acq_part_meter *meter, uint32_t i)
{
    const acq_candidates_params *params = &meter->maker->params;
    const char *name = acq_candidates_get_feature_name(meter->maker, i);
    const char *dot = strchr(name, '.');
    size_t length = dot == NULL ? 0 : (size_t)(dot - name);
    column *out = &meter->columns[i];
    *out = read_own(name);
    if (dot != NULL && strncmp(name, "rules.", length + 1) == 0)
        *out =
            (column){.part = ACQ_PART_RULES, .neutral = ends_with(name, ".due") ? UNKNOWN : ZERO};
    for (uint8_t m = 0; m < params->n_models && dot != NULL; m++) {
        const char *kind = params->models[m]->kind;
        if (strlen(kind) != length || strncmp(kind, name, length) != 0)
            continue;
        uint8_t side = strncmp(dot, ".row.", 5) == 0 ? 0 : 1;
        *out = (column){.part = ACQ_PART_MODELS + m, .side = side, .neutral = LEAST};
        if (ends_with(name, ".score"))
            meter->scores[m][side] = i;
        if (ends_with(name, ".rank"))
            meter->ranks[m][side] = i;
    }
}

/* ---- the least liked of each row ---- */

static const float *get_features(const acq_part_meter *meter, size_t i)
{
    return meter->found->features + i * acq_candidates_get_n_features(meter->maker);
}

static acq_ent get_row(const acq_candidates *found, size_t i, size_t side)
{
    return side == 0 ? found->heads[i] : found->tails[i];
}

static acq_status find_least(acq_part_meter *meter, size_t model, size_t side)
{
    size_t score_column = meter->scores[model][side], n = meter->maker->n_entities;
    uint32_t *least = meter->least[model][side] = acq_alloc(n, sizeof *least);
    if (least == NULL)
        return ACQ_ERR_MEMORY;
    memset(least, 0xff, n * sizeof *least);
    for (size_t i = 0; i < meter->found->n; i++) {
        uint32_t *best = &least[get_row(meter->found, i, side)];
        float score = get_features(meter, i)[score_column];
        if (!isnan(score) &&
            (*best == ACQ_NO_ID || score < get_features(meter, *best)[score_column]))
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
    meter->maker = maker;
    meter->found = found;
    for (uint32_t i = 0; i < acq_candidates_get_n_features(maker); i++)
        read_column(meter, i);
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

/* ---- leaving out ---- */

static float replace(const acq_part_meter *meter, size_t i, uint32_t feature, float value)
{
    const column *c = &meter->columns[feature];
    switch ((neutral)c->neutral) {
    case ZERO:
        return 0.0F;
    case UNKNOWN:
        return NAN;
    case LEAST:
        break;
    }
    size_t model = c->part - ACQ_PART_MODELS;
    uint32_t least = meter->least[model][c->side][get_row(meter->found, i, c->side)];
    bool is_asked = !isnan(get_features(meter, i)[meter->scores[model][c->side]]);
    return least != ACQ_NO_ID && is_asked ? get_features(meter, least)[feature] : value;
}

void acq_part_meter_leave_out(const acq_part_meter *meter, size_t i, size_t part, float *x)
{
    const float *from = get_features(meter, i);
    for (uint32_t k = 0; k < acq_candidates_get_n_features(meter->maker); k++)
        x[k] = meter->columns[k].part == part ? replace(meter, i, k, from[k]) : from[k];
}

static uint32_t read_rank(float feature)
{
    return isnan(feature) ? 0 : (uint32_t)lround(expm1((double)feature)) + 1;
}

void acq_part_meter_measure(const acq_part_meter *meter, acq_boost_judge judge, size_t i,
                            acq_link_parts *out)
{
    float without[ACQ_BOOST_MOST_FEATURES];
    const float *x = get_features(meter, i);
    size_t n_models = meter->maker->params.n_models;
    double odds = acq_boost_judge_one(judge, x);
    *out = (acq_link_parts){.n = ACQ_PART_MODELS + n_models};
    for (size_t part = 0; part < out->n; part++) {
        acq_part_meter_leave_out(meter, i, part, without);
        out->weights[part] = (float)(odds - acq_boost_judge_one(judge, without));
    }
    for (size_t m = 0; m < n_models; m++) {
        out->ranks[m] = read_rank(x[meter->ranks[m][0]]);
        out->back_ranks[m] = read_rank(x[meter->ranks[m][1]]);
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
