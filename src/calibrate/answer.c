/* answer.c - the features of an answer and what p they have.
 *
 * The used positive atoms become one list of distinct links, sorted by the pair of entities they
 * join, so that parallel and repeated atoms are neighbours:
 *
 *   (Ada, Rome) born_in  .3      one pair: least .3
 *   (Ada, Rome) lives_in .7
 *   (Ada, Bo)   knows    1       observed: no predicted pair */
#include "calibrate/answer.h"

#include <math.h>
#include <stdlib.h>

static const double LEAST_SCORE = 1e-6, MOST_SCORE = 1 - 1e-4;
static const double LEAST_EXPECTED = 1e-6; /* tails of a row */

const int8_t acq_answer_monotone[ACQ_N_ANSWER_FEATURES] = {
#define MONOTONE(name, monotone) [ACQ_ANSWER_##name] = (monotone),
    ACQ_ANSWER_FEATURES(MONOTONE)
#undef MONOTONE
};

const char *acq_answer_get_feature_name(acq_answer_feature feature)
{
    static const char *const names[ACQ_N_ANSWER_FEATURES] = {
#define NAME(name, monotone) #name,
        ACQ_ANSWER_FEATURES(NAME)
#undef NAME
    };
    return names[feature];
}

static double logit(double score)
{
    double s = score < LEAST_SCORE ? LEAST_SCORE : score > MOST_SCORE ? MOST_SCORE : score;
    return log(s / (1.0 - s));
}

static double log_of(double score)
{
    return log(score < LEAST_SCORE ? LEAST_SCORE : score);
}

/* A link that a used positive atom asks for, in its even direction. */
typedef struct needed {
    acq_ent low, high; /* the pair */
    acq_rel relation;  /* even */
    acq_ent head;      /* tells r(a, b) from r(b, a) */
    bool touches_free; /* one of its atoms has a free variable */
    bool is_predicted;
    double score;
} needed;

static bool is_free(const acq_query *query, acq_term term)
{
    return term.is_variable && term.id < query->n_free;
}

static needed make_needed(const acq_query *query, const acq_evidence *evidence)
{
    acq_rel relation = query->relations[evidence->node->relation].id;
    acq_ent left = evidence->left, right = evidence->right;
    return (needed){.low = left < right ? left : right,
                    .high = left < right ? right : left,
                    .relation = relation & ~1U,
                    .head = (relation & 1U) == 0 ? left : right,
                    .touches_free = is_free(query, evidence->node->left) ||
                                    is_free(query, evidence->node->right),
                    .is_predicted = evidence->kind != ACQ_EVIDENCE_OBSERVED,
                    .score = evidence->link};
}

static int compare_ids(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_needed(const void *left, const void *right)
{
    const needed *a = left, *b = right;
    int order = compare_ids(a->low, b->low);
    order = order != 0 ? order : compare_ids(a->high, b->high);
    order = order != 0 ? order : compare_ids(a->relation, b->relation);
    return order != 0 ? order : compare_ids(a->head, b->head);
}

/* The distinct links, sorted; returns their number. */
static size_t collect_links(const acq_query *query, const acq_evidence *evidence, size_t n,
                            needed *out)
{
    size_t n_all = 0, n_out = 0;
    for (size_t i = 0; i < n; i++) {
        const acq_evidence *e = &evidence[i];
        if (e->used && !e->is_negated && e->kind != ACQ_EVIDENCE_EQUALITY)
            out[n_all++] = make_needed(query, e);
    }
    qsort(out, n_all, sizeof *out, compare_needed);
    for (size_t i = 0; i < n_all; i++) {
        if (n_out > 0 && compare_needed(&out[n_out - 1], &out[i]) == 0)
            out[n_out - 1].touches_free |= out[i].touches_free;
        else
            out[n_out++] = out[i];
    }
    return n_out;
}

/* The three least scores; 1 where there are fewer. */
static void keep_least(double least[3], double score)
{
    for (int i = 0; i < 3; i++) {
        if (score < least[i]) {
            double next = least[i];
            least[i] = score;
            score = next;
        }
    }
}

static void describe_scores(const needed *links, size_t n, float *f)
{
    double least[3] = {1, 1, 1}, sum = 0, logits = 0;
    size_t n_predicted = 0;
    for (size_t i = 0; i < n; i++) {
        keep_least(least, links[i].is_predicted ? links[i].score : 1.0);
        if (!links[i].is_predicted)
            continue;
        n_predicted++;
        sum += log_of(links[i].score);
        logits += logit(links[i].score);
    }
    f[ACQ_ANSWER_least] = (float)logit(least[0]);
    f[ACQ_ANSWER_second] = (float)logit(least[1]);
    f[ACQ_ANSWER_third] = (float)logit(least[2]);
    f[ACQ_ANSWER_sum] = (float)sum;
    f[ACQ_ANSWER_mean] = n_predicted == 0 ? NAN : (float)(logits / (double)n_predicted);
    f[ACQ_ANSWER_predicted] = (float)n_predicted;
    f[ACQ_ANSWER_observed] = (float)(n - n_predicted);
    f[ACQ_ANSWER_share] = n == 0 ? 0.0F : (float)n_predicted / (float)n;
}

static void describe_free(const needed *links, size_t n, float *f)
{
    double least = 1, sum = 0;
    size_t n_predicted = 0, n_free = 0;
    for (size_t i = 0; i < n; i++) {
        if (!links[i].touches_free)
            continue;
        n_free++;
        if (!links[i].is_predicted)
            continue;
        n_predicted++;
        sum += log_of(links[i].score);
        least = links[i].score < least ? links[i].score : least;
    }
    f[ACQ_ANSWER_free_least] = (float)logit(least);
    f[ACQ_ANSWER_free_sum] = (float)sum;
    f[ACQ_ANSWER_free_predicted] = (float)n_predicted;
    f[ACQ_ANSWER_free_atoms] = (float)n_free;
}

static void describe_pairs(const needed *links, size_t n, float *f)
{
    double sum = 0;
    size_t n_pairs = 0;
    for (size_t i = 0; i < n;) {
        double least = 1;
        bool is_predicted = false;
        acq_ent low = links[i].low, high = links[i].high;
        for (; i < n && links[i].low == low && links[i].high == high; i++) {
            is_predicted = is_predicted || links[i].is_predicted;
            least = links[i].is_predicted && links[i].score < least ? links[i].score : least;
        }
        n_pairs += is_predicted;
        sum += is_predicted ? log_of(least) : 0.0;
    }
    f[ACQ_ANSWER_pairs] = (float)n_pairs;
    f[ACQ_ANSWER_pairs_sum] = (float)sum;
}

static void describe_negated(const acq_evidence *evidence, size_t n, float *f)
{
    double most = 0, denied = 0;
    size_t n_negated = 0;
    for (size_t i = 0; i < n; i++) {
        const acq_evidence *e = &evidence[i];
        if (!e->used || !e->is_negated || e->kind == ACQ_EVIDENCE_EQUALITY)
            continue;
        n_negated++;
        most = e->link > most ? e->link : most;
        denied += log_of(1.0 - e->link);
    }
    f[ACQ_ANSWER_negated] = (float)n_negated;
    f[ACQ_ANSWER_against] = most > 0 ? (float)logit(most) : NAN;
    f[ACQ_ANSWER_denied] = (float)denied;
}

static void describe_query(const acq_query *query, size_t n_atoms, float *f)
{
    f[ACQ_ANSWER_atoms] = (float)n_atoms;
    f[ACQ_ANSWER_variables] = (float)query->n_variables;
    f[ACQ_ANSWER_free] = (float)query->n_free;
}

static void describe_supports(const acq_supports *supports, float *f)
{
    double paths = (double)f[ACQ_ANSWER_sum] + (double)f[ACQ_ANSWER_denied] + supports->gain;
    f[ACQ_ANSWER_supports] = (float)log1p((double)supports->n);
    f[ACQ_ANSWER_supports_sum] = (float)log1p(supports->least_sum);
    f[ACQ_ANSWER_paths] = (float)(paths < 0 ? paths : 0.0);
}

/* ---- field ---- */

bool acq_answer_wants_field(const acq_calibrator *calibrator)
{
    return calibrator != NULL && calibrator->balanced != NULL &&
           acq_boost_get_n_features(calibrator->balanced) > ACQ_ANSWER_field_least;
}

void acq_answer_field_add(acq_answer_field *field, const float *features)
{
    if (field->n == ACQ_FIELD_MOST || (features != NULL && acq_answer_is_certain(features)))
        return;
    field->least[field->n] = features == NULL ? -INFINITY : features[ACQ_ANSWER_least];
    field->paths[field->n++] = features == NULL ? -INFINITY : features[ACQ_ANSWER_paths];
}

/* Log of the share of values that reach this one; equal ones count one half, and so does one that
 * was not looked at. */
static float find_share(const float *values, size_t n, float value)
{
    double above = .5;
    for (size_t i = 0; i < n; i++)
        above += values[i] > value ? 1 : values[i] == value ? .5 : 0;
    return (float)log(above / ((double)n + 1));
}

void acq_answer_describe_field(const acq_answer_field *field, float *features)
{
    float *f = features;
    double sum = 0, supported = 0, n = (double)field->n;
    for (size_t i = 0; i < field->n; i++) {
        bool is_supported = field->least[i] > -INFINITY;
        supported += is_supported;
        sum += is_supported ? 1 / (1 + exp(-(double)field->least[i])) : 0;
    }
    bool is_empty = field->n == 0;
    f[ACQ_ANSWER_field_least] =
        is_empty ? NAN : find_share(field->least, field->n, f[ACQ_ANSWER_least]);
    f[ACQ_ANSWER_field_paths] =
        is_empty ? NAN : find_share(field->paths, field->n, f[ACQ_ANSWER_paths]);
    f[ACQ_ANSWER_field_mean] = is_empty ? NAN : (float)logit(sum / n);
    f[ACQ_ANSWER_field_supported] = is_empty ? NAN : (float)(supported / n);
}

/* ---- lifts ----
 *
 * A row (head, relation) has an expected number of unobserved tails: the sum of their scores.
 * Spread evenly over all tails that the relation is observed with, each would have the mean; the
 * lift is the score over that mean. Of the two rows that a link is in, the one with the smaller
 * lift counts. An entity that the relation is never observed with may have no row of its own: one
 * tail is expected there at least, so that being unknown does not lift a link.
 *
 * Rows that questions make one by one are not both there: calibrators for such are fitted without
 * lifts (fit.h, use_lifts). */

typedef struct lift {
    double log_lift;
    double row_facts, back_facts; /* logs of the facts in its two rows; none counts as one */
} lift;

/* One row that the link is in. */
typedef struct beside {
    double log_mean; /* of the unobserved tails' scores, over all tails */
    double log_facts;
} beside;

/* The sum of the scores that are not facts. */
static double find_expected(acq_row row)
{
    double sum = 0;
    for (size_t i = 0; row.scores != NULL && i < row.n; i++)
        sum += row.scores[i] < 1.0F ? (double)row.scores[i] : 0.0;
    return sum > LEAST_EXPECTED ? sum : LEAST_EXPECTED;
}

static acq_status look_beside(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                              beside *out, acq_error *error)
{
    const acq_links *scored, *facts, *tails;
    acq_status status = acq_predictor_open_links(predictor, relation, &scored, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(predictor->graph, relation, &facts, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(predictor->graph, acq_inverse(relation), &tails, error);
    if (status != ACQ_OK)
        return status;
    double expected = find_expected(acq_links_get_row(scored, head));
    size_t n_facts = acq_links_get_row(facts, head).n;
    if (n_facts == 0)
        expected = fmax(expected, 1.0);
    *out = (beside){.log_mean = log(expected / ((double)tails->n_heads + 1.0)),
                    .log_facts = log(fmax(1.0, (double)n_facts))};
    return ACQ_OK;
}

/* Cost: a walk over the two rows. */
static acq_status find_lift(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                            acq_ent tail, double score, lift *out, acq_error *error)
{
    beside row, back;
    acq_status status = look_beside(predictor, head, relation, &row, error);
    if (status == ACQ_OK)
        status = look_beside(predictor, tail, acq_inverse(relation), &back, error);
    if (status == ACQ_OK)
        *out = (lift){.log_lift = log(fmax(score, LEAST_SCORE)) - fmax(row.log_mean, back.log_mean),
                      .row_facts = row.log_facts,
                      .back_facts = back.log_facts};
    return status;
}

/* NaN: none yet. */
static void keep_smaller(float *least, double value)
{
    if (!((double)*least <= value))
        *least = (float)value;
}

static acq_status describe_lifts(const acq_predictor *predictor, const needed *links, size_t n,
                                 float *f, acq_error *error)
{
    double sum = 0, least_score = INFINITY;
    f[ACQ_ANSWER_lift] = f[ACQ_ANSWER_lift_least] = f[ACQ_ANSWER_free_lift] = NAN;
    f[ACQ_ANSWER_row_facts] = f[ACQ_ANSWER_back_facts] = NAN;
    for (size_t i = 0; i < n; i++) {
        const needed *link = &links[i];
        lift found;
        if (!link->is_predicted)
            continue;
        acq_ent tail = link->head == link->low ? link->high : link->low;
        acq_status status =
            find_lift(predictor, link->head, link->relation, tail, link->score, &found, error);
        if (status != ACQ_OK)
            return status;
        sum += found.log_lift;
        keep_smaller(&f[ACQ_ANSWER_lift_least], found.log_lift);
        if (link->touches_free)
            keep_smaller(&f[ACQ_ANSWER_free_lift], found.log_lift);
        bool is_tied = link->score == least_score;
        if (link->score > least_score ||
            (is_tied && !(found.log_lift < (double)f[ACQ_ANSWER_lift])))
            continue;
        least_score = link->score;
        f[ACQ_ANSWER_lift] = (float)found.log_lift;
        f[ACQ_ANSWER_row_facts] = (float)found.row_facts;
        f[ACQ_ANSWER_back_facts] = (float)found.back_facts;
    }
    f[ACQ_ANSWER_lift_sum] = isinf(least_score) ? NAN : (float)sum;
    return ACQ_OK;
}

static acq_status describe(const acq_query *query, const acq_predictor *predictor,
                           const acq_scoring *scoring, acq_ent *values, acq_arena *arena,
                           float *features, acq_error *error)
{
    acq_evidence *evidence;
    acq_supports supports;
    size_t n;
    bool changed = false;
    acq_status status = acq_explain(query, predictor, scoring, values, arena, &evidence, &n, error);
    if (status == ACQ_OK)
        status = acq_supports_find(query, predictor, scoring, evidence, n, values, arena, &supports,
                                   &changed, error);
    if (status == ACQ_OK && changed)
        status = acq_explain(query, predictor, scoring, values, arena, &evidence, &n, error);
    if (status != ACQ_OK)
        return status;
    needed *links = acq_arena_alloc(arena, n, sizeof *links);
    if (links == NULL)
        return acq_fail_memory(error);
    size_t n_links = collect_links(query, evidence, n, links);
    describe_scores(links, n_links, features);
    describe_free(links, n_links, features);
    describe_pairs(links, n_links, features);
    describe_negated(evidence, n, features);
    describe_query(query, n, features);
    describe_supports(&supports, features);
    return describe_lifts(predictor, links, n_links, features, error);
}

acq_status acq_answer_describe(const acq_query *query, const acq_predictor *predictor,
                               const acq_scoring *scoring, acq_ent *values, float *features,
                               acq_error *error)
{
    static const acq_answer_field none = {0};
    acq_arena arena;
    acq_arena_init(&arena);
    acq_status status = describe(query, predictor, scoring, values, &arena, features, error);
    acq_answer_describe_field(&none, features);
    acq_arena_deinit(&arena);
    return status;
}

/* ---- p ---- */

bool acq_answer_is_certain(const float *features)
{
    return features[ACQ_ANSWER_predicted] == 0 && features[ACQ_ANSWER_negated] == 0;
}

double acq_answer_get_prior_p(const acq_calibrator *calibrator, const float *features, double prior)
{
    return acq_answer_is_certain(features)
               ? 1.0
               : acq_calibrator_get_prior_p(calibrator, features, prior);
}

static bool has_positive_atoms_only(const acq_node *node)
{
    bool is_positive = node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_AND;
    for (uint32_t i = 0; i < node->n_children && is_positive; i++)
        is_positive = has_positive_atoms_only(node->children[i]);
    return is_positive;
}

double acq_answer_get_unsupported_p(const acq_query *query, const acq_predictor *predictor,
                                    const acq_ent *values, double prior)
{
    if (predictor->calibrator == NULL || !has_positive_atoms_only(query->root) ||
        !acq_explain_is_seen(query, predictor->graph, values))
        return NAN;
    return acq_calibrator_get_unsupported_p(predictor->calibrator, prior);
}

/* The field came last: trees of before do not ask for it. */
static bool knows_features(const acq_boost *trees)
{
    uint32_t n = acq_boost_get_n_features(trees);
    return n == ACQ_N_ANSWER_FEATURES || n == ACQ_ANSWER_field_least;
}

acq_status acq_answer_check_calibrator(const acq_predictor *predictor, acq_error *error)
{
    const acq_calibrator *calibrator = predictor->calibrator;
    if (calibrator == NULL || calibrator->balanced == NULL || knows_features(calibrator->balanced))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the calibrator of %.200s reads other features of answers than this version "
                    "has; make it anew with anycq fit",
                    predictor->name);
}
