/* learn.c - see learn.h. */
#include "calibrate/learn.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { MANY_TRUE = 1500 }; /* held out, that trees can learn more from than a prior knows */

/* How little a relation's shift is believed: as if so many candidates spoke for none, each with the
 * weight of one that is as likely as not. */
static const double SHIFT_DOUBT = .5;

/* How far the odds of all relations, and those of one, are moved so that the sum of p is what is
 * due: standard deviations of log-odds. */
static const double SPREAD_ALL = .3, SPREAD_ONE = .1;

/* The columns that make a candidate likely: near the top of a row, or with a rule. */
typedef struct likely_columns {
    uint32_t ranks[2 * ACQ_CANDIDATES_MODELS], n_ranks;
    uint32_t rule; /* ACQ_NO_ID: none */
} likely_columns;

struct acq_link_sample {
    acq_learn_params params;
    uint32_t n_features, n_relations;
    int8_t *monotone;
    likely_columns likely;
    size_t n, capacity[5];
    float *x;
    uint8_t *labels, *folds;
    float *weights;
    acq_rel *relations;
    double seconds;     /* for the trees; 0: no limit */
    double *met, *held; /* by pair of relations: candidates, and those held out */
};

/* ---- the sample ---- */

static likely_columns find_likely_columns(const acq_candidates_maker *maker)
{
    likely_columns columns = {.rule = ACQ_NO_ID};
    for (uint32_t i = 0; i < acq_candidates_get_n_features(maker); i++) {
        const char *name = acq_candidates_get_feature_name(maker, i);
        const char *dot = strrchr(name, '.');
        if (dot != NULL && strcmp(dot, ".rank") == 0)
            columns.ranks[columns.n_ranks++] = i;
        if (strcmp(name, "rules.noisy_or") == 0)
            columns.rule = i;
    }
    return columns;
}

static bool is_likely(const likely_columns *columns, const float *x)
{
    for (uint32_t i = 0; i < columns->n_ranks; i++)
        if (x[columns->ranks[i]] < 1.2F) /* among the first three */
            return true;
    return columns->rule != ACQ_NO_ID && x[columns->rule] > .2F;
}

acq_status acq_link_sample_new(const acq_candidates_maker *maker, uint32_t n_relations,
                               const acq_learn_params *params, acq_link_sample **out,
                               acq_error *error)
{
    acq_link_sample *sample = acq_zalloc(1, sizeof *sample);
    if (sample == NULL)
        return acq_fail_memory(error);
    sample->params = *params;
    sample->n_features = acq_candidates_get_n_features(maker);
    sample->n_relations = n_relations;
    sample->likely = find_likely_columns(maker);
    sample->monotone = acq_alloc(sample->n_features, sizeof *sample->monotone);
    sample->met = acq_zalloc(n_relations / 2 + 1, sizeof *sample->met);
    sample->held = acq_zalloc(n_relations / 2 + 1, sizeof *sample->held);
    if (sample->monotone == NULL || sample->met == NULL || sample->held == NULL) {
        acq_link_sample_free(sample);
        return acq_fail_memory(error);
    }
    memcpy(sample->monotone, acq_candidates_get_monotone(maker), sample->n_features);
    *out = sample;
    return ACQ_OK;
}

void acq_link_sample_free(acq_link_sample *sample)
{
    if (sample == NULL)
        return;
    acq_free(sample->monotone);
    acq_free(sample->x);
    acq_free(sample->labels);
    acq_free(sample->folds);
    acq_free(sample->weights);
    acq_free(sample->relations);
    acq_free(sample->met);
    acq_free(sample->held);
    acq_free(sample);
}

static double sum(const double *values, uint32_t n)
{
    double all = 0;
    for (uint32_t i = 0; i < n; i++)
        all += values[i];
    return all;
}

uint64_t acq_link_sample_count(const acq_link_sample *sample)
{
    return (uint64_t)sum(sample->met, sample->n_relations / 2);
}

uint64_t acq_link_sample_count_true(const acq_link_sample *sample)
{
    return (uint64_t)sum(sample->held, sample->n_relations / 2);
}

acq_boost_data acq_link_sample_get_data(const acq_link_sample *sample, const uint8_t **folds)
{
    if (folds != NULL)
        *folds = sample->folds;
    return (acq_boost_data){.x = sample->x,
                            .labels = sample->labels,
                            .weights = sample->weights,
                            .n = sample->n,
                            .n_features = sample->n_features};
}

const int8_t *acq_link_sample_get_monotone(const acq_link_sample *sample)
{
    return sample->monotone;
}

unsigned acq_link_sample_get_fold(acq_ent head, acq_ent tail)
{
    uint64_t low = head < tail ? head : tail, high = head < tail ? tail : head;
    return (unsigned)(acq_random_mix(acq_random_mix(low << 32 | high) + 1) >> 63);
}

static acq_status add(acq_link_sample *sample, const float *x, acq_rel relation, unsigned fold,
                      bool label, double weight)
{
    size_t n = sample->n + 1;
    if (ACQ_RESERVE(sample->x, sample->capacity[0], n * sample->n_features) != ACQ_OK ||
        ACQ_RESERVE(sample->labels, sample->capacity[1], n) != ACQ_OK ||
        ACQ_RESERVE(sample->folds, sample->capacity[2], n) != ACQ_OK ||
        ACQ_RESERVE(sample->weights, sample->capacity[3], n) != ACQ_OK ||
        ACQ_RESERVE(sample->relations, sample->capacity[4], n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    memcpy(sample->x + sample->n * sample->n_features, x, sample->n_features * sizeof *x);
    sample->labels[sample->n] = label;
    sample->folds[sample->n] = (uint8_t)fold;
    sample->weights[sample->n] = (float)weight;
    sample->relations[sample->n++] = relation;
    return ACQ_OK;
}

static acq_status keep_candidates(acq_link_sample *sample, const acq_candidates *found,
                                  const acq_predictor *truth, double share)
{
    for (size_t i = 0; i < found->n; i++) {
        const float *x = found->features + i * sample->n_features;
        acq_ent head = found->heads[i], tail = found->tails[i];
        bool label = acq_predictor_get_score(truth, head, found->relation, tail) > 0;
        sample->held[found->relation / 2] += label;
        acq_random random =
            acq_random_start(sample->params.seed ^ found->relation, (uint64_t)head << 32 | tail);
        bool is_kept = label || is_likely(&sample->likely, x);
        if (!is_kept && acq_random_unit(&random) >= share)
            continue;
        acq_status status = add(sample, x, found->relation, acq_link_sample_get_fold(head, tail),
                                label, is_kept ? 1.0 : 1.0 / share);
        if (status != ACQ_OK)
            return status;
    }
    sample->met[found->relation / 2] += (double)found->n;
    return ACQ_OK;
}

/* Of the candidates that are not likely, the share that is kept. */
static double choose_share(const acq_link_sample *sample, const acq_candidates_maker *maker)
{
    double expected = 0;
    for (acq_rel r = 0; r < sample->n_relations; r += 2)
        expected += (double)acq_candidates_count_rows(maker, r);
    expected *= acq_candidates_get_top(maker) * fmax(1, sample->params.n_samples);
    return fmin(1, sample->params.rows / fmax(1, expected));
}

/* The collecting of one graph's candidates. */
typedef struct collecting {
    acq_link_sample *sample;
    const acq_candidates_maker *maker;
    const acq_predictor *truth;
    acq_candidates_session *session;
    acq_ent *heads; /* of one relation */
    double share;   /* of the candidates that are not likely */
} collecting;

static acq_status tell(const acq_link_sample *sample, double relation, acq_error *error)
{
    static const char phase[] = "collecting evidence";
    const acq_learn_params *params = &sample->params;
    if (params->report == NULL ||
        params->report(params->context, phase, relation, sample->n_relations))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INTERRUPTED, "stopped while %s", phase);
}

/* Takes the candidates that were found. */
static acq_status keep_found(const collecting *c, acq_candidates *found, acq_error *error)
{
    acq_status status = keep_candidates(c->sample, found, c->truth, c->share) == ACQ_OK
                            ? ACQ_OK
                            : acq_fail_memory(error);
    acq_candidates_deinit(found);
    return status;
}

/* Rows of one side, some thousand at a time, so that memory does not grow with the relation. */
static acq_status collect_pieces(const collecting *c, acq_rel relation, acq_error *error)
{
    enum { ROWS = 4096 };
    acq_rel side = acq_candidates_find_side(c->maker, relation);
    size_t n = acq_candidates_list_heads(c->maker, side, c->heads);
    acq_status status = ACQ_OK;
    for (size_t first = 0; first < n && status == ACQ_OK; first += ROWS) {
        acq_row_want want = {.relation = side,
                             .heads = c->heads + first,
                             .n = n - first < ROWS ? n - first : ROWS,
                             .stop = acq_candidates_get_stop(c->maker)};
        acq_candidates found;
        status = tell(c->sample, relation + 2.0 * (double)first / (double)n, error);
        if (status == ACQ_OK)
            status = acq_candidates_session_collect(c->session, &want, &found, error);
        if (status == ACQ_OK)
            status = keep_found(c, &found, error);
    }
    return status;
}

static acq_status collect_relation(const collecting *c, acq_rel relation, acq_error *error)
{
    acq_candidates found;
    if (c->session != NULL)
        return collect_pieces(c, relation, error);
    acq_status status = acq_candidates_collect(c->maker, relation, &found, error);
    return status == ACQ_OK ? keep_found(c, &found, error) : status;
}

acq_status acq_link_sample_collect(acq_link_sample *sample, const acq_candidates_maker *maker,
                                   const acq_predictor *truth, acq_error *error)
{
    collecting c = {sample, maker, truth, .share = choose_share(sample, maker)};
    acq_status status = ACQ_OK;
    if (acq_candidates_is_one_sided(maker)) {
        status = acq_candidates_session_new(maker, &c.session, error);
        c.heads = acq_alloc(acq_candidates_get_n_entities(maker), sizeof *c.heads);
        if (status == ACQ_OK && c.heads == NULL)
            status = acq_fail_memory(error);
    }
    for (acq_rel r = 0; r < sample->n_relations && status == ACQ_OK; r += 2) {
        status = tell(sample, r, error);
        if (status == ACQ_OK)
            status = collect_relation(&c, r, error);
    }
    acq_candidates_session_free(c.session);
    acq_free(c.heads);
    return status;
}

/* ---- trees ---- */

static acq_boost_params choose_boost(const acq_link_sample *sample)
{
    acq_boost_params boost = ACQ_BOOST_DEFAULT;
    double n_true = (double)acq_link_sample_count_true(sample);
    boost.n_trees = sample->params.n_trees > 0 ? sample->params.n_trees : 120;
    boost.depth = n_true < 3000 ? 4 : 6;
    boost.least_hessian = fmin(50, fmax(1, n_true / 200)); /* small graphs: small leaves */
    boost.n_bags = sample->params.n_bags;
    boost.prior = sample->params.prior;
    if (boost.prior != NULL) { /* what is left to learn is little, the less the fewer there are */
        boost.n_trees = n_true < MANY_TRUE ? 30 : 120;
        boost.depth = 3;
        boost.rate = .05;
        boost.row_share = 1; /* nothing is drawn, so there is nothing to take a mean of */
        boost.n_bags = 1;
    }
    boost.seconds = sample->seconds / 2; /* trees may be fitted twice */
    boost.monotone = sample->monotone;
    boost.missing = sample->params.missing;
    boost.seed = sample->params.seed;
    boost.n_threads = sample->params.n_threads;
    return boost;
}

static bool report_fold(void *context, int step, int steps)
{
    const acq_learn_params *params = context;
    return params->report == NULL ||
           params->report(params->context, "fitting the link calibrator", step, steps);
}

/* Log-odds of every row by trees that have not learnt its fold. */
static float *score_crossed(const acq_link_sample *sample, const acq_fold_trees *trees)
{
    float *odds = acq_alloc(sample->n, sizeof *odds);
    for (size_t i = 0; i < sample->n && odds != NULL; i++)
        odds[i] = (float)acq_boost_score(trees->folds[1 - sample->folds[i]],
                                         sample->x + i * (size_t)sample->n_features);
    return odds;
}

/* First and second derivative of the loss by a number that is added to the odds of a relation. */
typedef struct slope_sum {
    double first, second;
} slope_sum;

static void add_slopes(const acq_link_sample *sample, const float *odds,
                       const acq_boost_shift *shifts, slope_sum *sums)
{
    for (size_t i = 0; i < sample->n; i++) {
        uint32_t pair = sample->relations[i] / 2;
        double weight = (double)sample->weights[i], share = 1 + sample->params.missing;
        double p = acq_boost_to_probability((double)odds[i] + (double)shifts[pair].learnt);
        double open = p * (1 - p) / (share - p);
        sums[pair].first += weight * (sample->labels[i] ? p - 1 : open);
        sums[pair].second += weight * open * (1 - p);
    }
}

/* The likeliest shifts, if shifts are normally distributed around 0. */
static acq_status find_shifts(const acq_link_sample *sample, const float *odds,
                              acq_boost_shift *shifts)
{
    enum { STEPS = 12 };
    uint32_t n = sample->n_relations / 2;
    slope_sum *sums = acq_alloc(n, sizeof *sums);
    if (sums == NULL)
        return ACQ_ERR_MEMORY;
    memset(shifts, 0, n * sizeof *shifts);
    for (int step = 0; step < STEPS; step++) {
        memset(sums, 0, n * sizeof *sums);
        add_slopes(sample, odds, shifts, sums);
        for (uint32_t i = 0; i < n; i++) {
            double doubt = SHIFT_DOUBT * fmax(1, sample->params.n_samples);
            double change =
                (sums[i].first + doubt * (double)shifts[i].learnt) / (sums[i].second + doubt);
            shifts[i].learnt -= (float)fmax(-1, fmin(1, change));
        }
    }
    acq_free(sums);
    return ACQ_OK;
}

static double get_loss(const acq_link_sample *sample, double odds, size_t i)
{
    double p = acq_boost_to_probability(odds);
    double share = acq_boost_get_label_share(sample->params.missing, p);
    share = fmin(fmax(share, 1e-9), 1 - 1e-9);
    return -(double)sample->weights[i] * log(sample->labels[i] ? share : 1 - share);
}

/* Where the prior stands: what its odds lose against the learnt ones, on the candidates of a
 * relation that it is sure of, is less than chance would take. */
static acq_status find_given(const acq_link_sample *sample, const acq_boost *trees,
                             const float *odds, acq_boost_shift *shifts)
{
    static const double CHANCE = 2; /* log-likelihood: two standard deviations */
    uint32_t n = sample->n_relations / 2;
    double *lost = acq_zalloc(n, sizeof *lost);
    if (lost == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < sample->n && sample->params.prior != NULL; i++) {
        uint32_t pair = sample->relations[i] / 2;
        double given = acq_boost_score_given(trees, sample->x + i * (size_t)sample->n_features);
        if (given >= (double)ACQ_BOOST_SURE)
            lost[pair] += get_loss(sample, given, i) -
                          get_loss(sample, (double)odds[i] + (double)shifts[pair].learnt, i);
    }
    for (uint32_t i = 0; i < n; i++)
        shifts[i].given =
            sample->params.prior != NULL && lost[i] < CHANCE ? 0 : ACQ_BOOST_NOT_GIVEN;
    acq_free(lost);
    return ACQ_OK;
}

/* From the trees' odds to those that count. */
static void judge_all(const acq_link_sample *sample, const acq_fold_trees *trees,
                      const acq_boost_shift *shifts, float *odds)
{
    for (size_t i = 0; i < sample->n; i++)
        odds[i] = (float)acq_boost_judge_one(
            (acq_boost_judge){trees->folds[1 - sample->folds[i]], shifts[sample->relations[i] / 2]},
            sample->x + i * (size_t)sample->n_features);
}

typedef struct judged {
    double p, base, weight;
} judged;

static judged judge_row(const acq_link_sample *sample, const float *odds, size_t i)
{
    uint32_t pair = sample->relations[i] / 2;
    double rate = (sample->held[pair] + .5) / (sample->met[pair] + 1);
    return (judged){acq_boost_to_probability((double)odds[i]), (1 + sample->params.missing) * rate,
                    (double)sample->weights[i]};
}

/* For every one held out `missing` others are as true as that, as far as there are others. */
static void fill_table(const acq_link_sample *sample, const float *odds, acq_reliability *table)
{
    for (size_t i = 0; i < sample->n; i++) {
        judged row = judge_row(sample, odds, i);
        acq_reliability_add(table, row.p, sample->labels[i], row.weight, row.base);
    }
    for (size_t i = 0; i < sample->n; i++) {
        judged row = judge_row(sample, odds, i);
        if (sample->labels[i])
            acq_reliability_add_true(table, row.p, row.weight * sample->params.missing, row.base);
    }
}

static void fill_quality(const acq_link_sample *sample, const float *odds,
                         acq_link_quality *quality)
{
    double missing = sample->params.missing, n_samples = fmax(1, sample->params.n_samples);
    for (size_t i = 0; i < sample->n; i++) {
        judged row = judge_row(sample, odds, i);
        acq_link_quality *own = &quality[sample->relations[i] / 2];
        if (row.p < .5)
            continue;
        own->said += row.weight / n_samples;
        own->right += sample->labels[i] ? row.weight * (1 + missing) / n_samples : 0;
    }
    for (uint32_t pair = 0; pair < sample->n_relations / 2; pair++) {
        quality[pair].held = (uint64_t)sample->held[pair];
        quality[pair].right = fmin(quality[pair].right, quality[pair].said);
    }
}

void acq_link_sample_set_seconds(acq_link_sample *sample, double seconds)
{
    sample->seconds = seconds;
}

uint32_t acq_link_sample_count_trees(const acq_link_sample *sample)
{
    acq_boost_params boost = choose_boost(sample);
    uint32_t before = boost.prior == NULL ? 0 : acq_boost_get_n_trees(boost.prior);
    return before + boost.n_trees * (boost.n_bags > 1 ? boost.n_bags : 1);
}

double acq_link_sample_get_missing(const acq_link_sample *sample)
{
    return sample->params.missing;
}

/* What is sure is labelled 1 or missing besides: the share of the labels bounds what is missing. A
 * bound by few candidates is doubtful, so it is taken half-way, by its logarithm. */
static double find_missing(const acq_link_sample *sample, const float *odds)
{
    enum { LEAST = 30 };            /* labels that say something */
    static const double SURE = 2.2; /* log-odds: p = .9 */
    double sums[2] = {0, 0};
    for (size_t i = 0; i < sample->n; i++)
        if ((double)odds[i] >= SURE)
            sums[sample->labels[i]] += (double)sample->weights[i];
    double bound = sums[1] < LEAST ? sample->params.missing : sums[0] / sums[1];
    bound = sqrt(bound * sample->params.missing);
    return fmax(.1, fmin(bound, sample->params.missing));
}

/* Trees, and the odds of the sample by those of the other fold. */
static acq_status fit_trees(const acq_link_sample *sample, acq_fold_trees *out, float **odds,
                            acq_error *error)
{
    acq_boost_params boost = choose_boost(sample);
    acq_boost_data data = acq_link_sample_get_data(sample, NULL);
    acq_fold_trees_deinit(out);
    acq_free(*odds);
    *odds = NULL;
    acq_status status = acq_fold_trees_fit(&data, sample->folds, &boost, report_fold,
                                           (void *)&sample->params, out, error);
    if (status != ACQ_OK)
        return status;
    *odds = score_crossed(sample, out);
    return *odds == NULL ? acq_fail_memory(error) : ACQ_OK;
}

/* Shifts, and the odds of the sample with them. */
static acq_status shift(const acq_link_sample *sample, const acq_fold_trees *trees,
                        acq_boost_shift *shifts, float *odds, acq_error *error)
{
    acq_status status = find_shifts(sample, odds, shifts);
    if (status == ACQ_OK)
        status = find_given(sample, trees->all, odds, shifts);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    judge_all(sample, trees, shifts, odds);
    return ACQ_OK;
}

acq_status acq_link_sample_fit(acq_link_sample *sample, acq_fold_trees *out,
                               acq_boost_shift *shifts, acq_reliability *table,
                               acq_link_quality *quality, acq_error *error)
{
    float *odds = NULL;
    *out = (acq_fold_trees){0};
    acq_status status = fit_trees(sample, out, &odds, error);
    double missing = status == ACQ_OK ? find_missing(sample, odds) : 0;
    if (status == ACQ_OK && missing < .8 * sample->params.missing) {
        sample->params.missing = missing;
        status = fit_trees(sample, out, &odds, error);
    }
    if (status == ACQ_OK)
        status = shift(sample, out, shifts, odds, error);
    if (table != NULL)
        acq_reliability_init(table);
    if (status == ACQ_OK && table != NULL)
        fill_table(sample, odds, table);
    if (status == ACQ_OK && quality != NULL)
        fill_quality(sample, odds, quality);
    if (status != ACQ_OK)
        acq_fold_trees_deinit(out);
    acq_free(odds);
    return status;
}

void acq_link_shifts_move(acq_boost_shift *shifts, uint32_t n, double missing)
{
    float by = missing > 0 ? (float)log(missing / (1 + missing)) : 0;
    for (uint32_t i = 0; i < n; i++) {
        shifts[i].learnt += by;
        shifts[i].given += shifts[i].given > ACQ_BOOST_NOT_GIVEN ? by : 0;
    }
}

/* ---- the sum of p ---- */

void acq_link_sample_get_dues(const acq_link_sample *sample, acq_link_due *out)
{
    double each = sample->params.missing / fmax(1, sample->params.n_samples);
    for (uint32_t i = 0; i < sample->n_relations / 2; i++)
        out[i] = (acq_link_due){each * sample->held[i], each * each * sample->held[i]};
}

/* The rows of a whole graph, and how far the odds of a pair of relations are moved. */
typedef struct balance {
    const acq_link_sample *whole;
    const acq_link_due *dues;
    float *learnt, *given; /* log-odds of the rows by the trees, and by a sure prior or -infinity */
    double *stated, *slopes, *moves; /* by pair: sum of p, its slope by the move, the move */
    double all;                      /* move of all pairs */
    uint32_t n;
} balance;

static acq_status balance_init(balance *b, const acq_boost *trees, const acq_boost_shift *shifts)
{
    const acq_link_sample *whole = b->whole;
    b->learnt = acq_alloc(whole->n, sizeof *b->learnt);
    b->given = acq_alloc(whole->n, sizeof *b->given);
    b->stated = acq_zalloc(b->n, sizeof *b->stated);
    b->slopes = acq_zalloc(b->n, sizeof *b->slopes);
    b->moves = acq_zalloc(b->n, sizeof *b->moves);
    if (b->learnt == NULL || b->given == NULL || b->stated == NULL || b->slopes == NULL ||
        b->moves == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < whole->n; i++) {
        const float *x = whole->x + i * (size_t)whole->n_features;
        const acq_boost_shift *shift = &shifts[whole->relations[i] / 2];
        float moved = x[whole->n_features - 1];
        bool stands = shift->given > ACQ_BOOST_NOT_GIVEN;
        b->learnt[i] = (float)acq_boost_score(trees, x) + shift->learnt + moved;
        b->given[i] =
            stands ? (float)acq_boost_score_given(trees, x) + shift->given + moved : -INFINITY;
    }
    return ACQ_OK;
}

static void balance_deinit(balance *b)
{
    acq_free(b->learnt);
    acq_free(b->given);
    acq_free(b->stated);
    acq_free(b->slopes);
    acq_free(b->moves);
}

static void sum_stated(balance *b)
{
    memset(b->stated, 0, b->n * sizeof *b->stated);
    memset(b->slopes, 0, b->n * sizeof *b->slopes);
    for (size_t i = 0; i < b->whole->n; i++) {
        uint32_t pair = b->whole->relations[i] / 2;
        double odds = (double)b->learnt[i] + b->all + b->moves[pair];
        bool is_given = (double)b->given[i] > odds;
        double p = acq_boost_to_probability(is_given ? (double)b->given[i] : odds);
        b->stated[pair] += (double)b->whole->weights[i] * p;
        b->slopes[pair] += is_given ? 0 : (double)b->whole->weights[i] * p * (1 - p);
    }
}

/* A step towards the likeliest move, if moves are normally distributed around 0 and what is due as
 * doubtful as its variance says; never more than half a log-odds. */
static double find_step(acq_link_due due, double stated, double slope, double move, double spread)
{
    double doubt = due.variance + 1, stiff = 1 / (spread * spread);
    double step =
        ((due.n - stated) * slope / doubt - move * stiff) / (slope * slope / doubt + stiff);
    return fmax(-.5, fmin(.5, step));
}

static void move_all(balance *b)
{
    acq_link_due due = {0, 0};
    double stated = 0, slope = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        due.n += b->dues[i].n;
        due.variance += b->dues[i].variance;
        stated += b->stated[i];
        slope += b->slopes[i];
    }
    b->all += find_step(due, stated, slope, b->all, SPREAD_ALL);
}

acq_status acq_link_shifts_balance(const acq_link_sample *whole, const acq_link_due *dues,
                                   const acq_boost *trees, acq_boost_shift *shifts,
                                   acq_error *error)
{
    enum { STEPS = 8 };
    balance b = {.whole = whole, .dues = dues, .n = whole->n_relations / 2};
    acq_status status = balance_init(&b, trees, shifts);
    for (int step = 0; step < 2 * STEPS && status == ACQ_OK; step++) {
        sum_stated(&b);
        if (step < STEPS)
            move_all(&b);
        for (uint32_t i = 0; i < b.n && step >= STEPS; i++)
            b.moves[i] += find_step(dues[i], b.stated[i], b.slopes[i], b.moves[i], SPREAD_ONE);
    }
    for (uint32_t i = 0; i < b.n && status == ACQ_OK; i++)
        shifts[i].learnt += (float)(b.all + b.moves[i]);
    balance_deinit(&b);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}
