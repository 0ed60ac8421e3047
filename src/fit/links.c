/* links.c - see links.h. */
#include "fit/links.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"
#include "calibrate/reasons.h"
#include "fit/split.h"
#include "predict/completion.h"

enum { LEAST_ROWS = 500000, BLOCK = 4096 };

static acq_status report_relation(const acq_link_progress *progress, const char *phase,
                                  acq_rel relation, acq_rel n, acq_error *error)
{
    if (progress->report == NULL || progress->report(progress->context, phase, relation, n))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INTERRUPTED, "stopped while %s", phase);
}

/* ---- the sample that trees learn from ---- */

typedef struct link_sample {
    uint32_t n_features;
    size_t n, capacity[6];
    float *x;
    uint8_t *labels, *folds;
    float *weights;
    acq_rel *relations;
    double *base; /* by pair of relations: share of true candidates */
} link_sample;

static void sample_deinit(link_sample *sample)
{
    acq_free(sample->x);
    acq_free(sample->labels);
    acq_free(sample->folds);
    acq_free(sample->weights);
    acq_free(sample->relations);
    acq_free(sample->base);
}

static acq_status sample_add(link_sample *sample, const float *x, acq_rel relation, unsigned fold,
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

/* The columns that make a candidate likely: near the top of a row, or with a rule. */
typedef struct likely_columns {
    uint32_t ranks[2 * ACQ_CANDIDATES_MODELS], n_ranks;
    uint32_t rule; /* ACQ_NO_ID: none */
} likely_columns;

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

typedef struct collecting {
    const acq_candidates_maker *maker;
    const acq_predictor *truth;
    likely_columns likely;
    double share; /* of the other candidates that are kept */
    uint64_t seed;
    link_sample *sample;
    acq_fit_report *report;
} collecting;

static acq_status keep_candidates(const collecting *c, const acq_candidates *found)
{
    link_sample *sample = c->sample;
    double n_true = 0;
    for (size_t i = 0; i < found->n; i++) {
        const float *x = found->features + i * sample->n_features;
        acq_ent head = found->heads[i], tail = found->tails[i];
        bool label = acq_predictor_get_score(c->truth, head, found->relation, tail) > 0;
        n_true += label;
        acq_random random =
            acq_random_start(c->seed ^ found->relation, (uint64_t)head << 32 | tail);
        bool is_kept = label || is_likely(&c->likely, x);
        if (!is_kept && acq_random_unit(&random) >= c->share)
            continue;
        acq_status status = sample_add(sample, x, found->relation, acq_split_get_fold(head, tail),
                                       label, is_kept ? 1.0 : 1.0 / c->share);
        if (status != ACQ_OK)
            return status;
    }
    c->report->covered += (uint64_t)n_true;
    c->report->candidates += found->n;
    sample->base[found->relation / 2] = (n_true + .5) / ((double)found->n + 1);
    return ACQ_OK;
}

static acq_status collect_sample(const collecting *c, acq_rel n_relations,
                                 const acq_link_progress *progress, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (acq_rel r = 0; r < n_relations && status == ACQ_OK; r += 2) {
        acq_candidates found;
        status = report_relation(progress, "collecting evidence", r, n_relations, error);
        if (status == ACQ_OK)
            status = acq_candidates_collect(c->maker, r, &found, error);
        if (status != ACQ_OK)
            break;
        if (keep_candidates(c, &found) != ACQ_OK)
            status = acq_fail_memory(error);
        acq_candidates_deinit(&found);
    }
    return status;
}

/* ---- trees ---- */

static void fill_table(const link_sample *sample, const acq_fold_trees *trees,
                       acq_reliability *table)
{
    acq_reliability_init(table);
    for (size_t i = 0; i < sample->n; i++) {
        double p =
            acq_fold_trees_judge(trees, sample->folds[i], sample->x + i * sample->n_features);
        acq_reliability_add(table, p, sample->labels[i], sample->weights[i],
                            sample->base[sample->relations[i] / 2]);
    }
}

static acq_boost_params choose_boost(const acq_candidates_maker *maker,
                                     const acq_fit_params *params, uint64_t n_true)
{
    acq_boost_params boost = ACQ_BOOST_DEFAULT;
    boost.n_trees = 120;
    boost.depth = 6;
    boost.least_hessian = fmin(50, fmax(1, (double)n_true / 200)); /* small graphs: small leaves */
    boost.monotone = acq_candidates_get_monotone(maker);
    boost.seed = params->seed;
    boost.n_threads = params->n_threads;
    boost.seconds = acq_fit_get_seconds(params, ACQ_FIT_LINKS);
    return boost;
}

/* Two completions take this evidence again, of the rest and of the whole graph. */
static acq_status keep_time(acq_fit_params *params, double seconds, acq_error *error)
{
    static const double COMPLETIONS = 3.0;
    double spent = (double)(acq_clock_ns() - params->begin_ns) * 1e-9;
    params->kept = COMPLETIONS * seconds;
    if (params->seconds <= 0 || spent + params->kept < params->seconds)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_LIMIT,
                    "the time does not suffice: evidence took %.1f s and is needed twice "
                    "more; go on with --resume --time %.0f or more",
                    seconds, ceil(1.2 * (spent + params->kept) + 1));
}

static bool report_fold(void *context, int step, int steps)
{
    const acq_link_progress *progress = context;
    return progress->report == NULL ||
           progress->report(progress->context, "fitting the link calibrator", step, steps);
}

static double count_rows(const acq_candidates_maker *maker, acq_rel n_relations)
{
    double n = 0;
    for (acq_rel r = 0; r < n_relations; r += 2)
        n += (double)acq_candidates_count_rows(maker, r);
    return n;
}

acq_status acq_fit_link_trees(const acq_candidates_maker *maker, const acq_graph *graph,
                              const acq_predictor *truth, const acq_fit_params *params,
                              const acq_link_progress *progress, acq_fold_trees *out,
                              acq_fit_report *report, acq_error *error)
{
    acq_rel n_relations = acq_graph_get_n_relations(graph);
    link_sample sample = {.n_features = acq_candidates_get_n_features(maker),
                          .base = acq_zalloc(n_relations / 2 + 1, sizeof(double))};
    double expected = count_rows(maker, n_relations) * params->top;
    collecting c = {.maker = maker,
                    .truth = truth,
                    .likely = find_likely_columns(maker),
                    .share = expected <= LEAST_ROWS ? 1.0 : LEAST_ROWS / expected,
                    .seed = params->seed,
                    .sample = &sample,
                    .report = report};
    acq_status status = sample.base == NULL ? acq_fail_memory(error) : ACQ_OK;
    *out = (acq_fold_trees){0};
    acq_fit_params timed = *params;
    int64_t before = acq_clock_ns();
    if (status == ACQ_OK)
        status = collect_sample(&c, n_relations, progress, error);
    report->collect_seconds = (double)(acq_clock_ns() - before) * 1e-9;
    if (status == ACQ_OK)
        status = keep_time(&timed, report->collect_seconds, error);
    acq_boost_params boost = choose_boost(maker, &timed, report->covered);
    acq_boost_data data = {sample.x, sample.labels, sample.weights, sample.n, sample.n_features};
    if (status == ACQ_OK)
        status = acq_fold_trees_fit(&data, sample.folds, &boost, report_fold, (void *)progress, out,
                                    error);
    if (status == ACQ_OK) {
        report->n_trees = acq_boost_get_n_trees(out->all);
        report->all_trees = boost.n_trees;
        fill_table(&sample, out, &report->link_table);
    }
    sample_deinit(&sample);
    return status;
}

/* ---- completing ---- */

typedef struct scoring_job {
    const acq_candidates *found;
    const acq_fold_trees *trees;
    uint32_t n_features;
    bool crossed;
    float *scores;
} scoring_job;

static acq_status score_block(void *context, size_t item, unsigned thread)
{
    const scoring_job *job = context;
    size_t first = item * BLOCK, end = first + BLOCK;
    (void)thread;
    end = end < job->found->n ? end : job->found->n;
    const float *x = job->found->features;
    if (!job->crossed) {
        acq_boost_score_many(job->trees->all, x + first * job->n_features, end - first,
                             job->scores + first);
        return ACQ_OK;
    }
    for (size_t i = first; i < end; i++) {
        unsigned fold = acq_split_get_fold(job->found->heads[i], job->found->tails[i]);
        job->scores[i] =
            (float)acq_boost_score(job->trees->folds[1 - fold], x + i * job->n_features);
    }
    return ACQ_OK;
}

/* p of every candidate above the floor, then the observed facts. */
static acq_status list_links(const acq_candidates *found, const float *scores,
                             const acq_links *observed, double floor, acq_link **out, size_t *n_out)
{
    acq_link *links = acq_alloc(found->n + observed->n_links, sizeof *links);
    if (links == NULL)
        return ACQ_ERR_MEMORY;
    size_t n = 0;
    for (size_t i = 0; i < found->n; i++) {
        float p = (float)acq_boost_to_probability((double)scores[i]);
        if ((double)p >= floor)
            links[n++] = (acq_link){found->heads[i], found->tails[i],
                                    p > ACQ_SCORE_UNOBSERVED_MOST ? ACQ_SCORE_UNOBSERVED_MOST : p};
    }
    for (uint32_t i = 0; i < observed->n_heads; i++) {
        acq_row row = acq_links_get_row_at(observed, i);
        for (size_t j = 0; j < row.n; j++)
            links[n++] = (acq_link){observed->heads[i], row.tails[j], 1.0F};
    }
    *out = links;
    *n_out = n;
    return ACQ_OK;
}

static acq_status add_relation(acq_completion_writer *writer, const acq_candidates *found,
                               const float *scores, const acq_graph *graph, double floor,
                               acq_fit_report *report, acq_error *error)
{
    const acq_links *observed;
    acq_links *links = NULL;
    acq_link *list = NULL;
    size_t n = 0;
    acq_status status = acq_graph_open_links(graph, found->relation, &observed, error);
    if (status != ACQ_OK)
        return status;
    status = list_links(found, scores, observed, floor, &list, &n);
    if (status == ACQ_OK)
        status = acq_links_new(list, n, observed->n_entities, true, &links);
    acq_free(list);
    if (status != ACQ_OK)
        return acq_fail_memory(error);
    report->links += n - observed->n_links;
    status = acq_completion_writer_add(writer, found->relation, links, error);
    acq_links_free(links);
    return status;
}

typedef struct completing {
    const acq_candidates_maker *maker;
    const acq_graph *graph;
    const acq_fold_trees *trees;
    bool crossed;
    const acq_fit_params *params;
    acq_completion_writer *writer;
    acq_kept_writer *kept; /* for reasons; NULL: none are kept */
    const acq_calibrator *calibrator;
    acq_fit_report *report;
} completing;

static acq_status complete_relation(const completing *c, acq_rel relation, acq_error *error)
{
    acq_candidates found;
    acq_status status = acq_candidates_collect(c->maker, relation, &found, error);
    if (status != ACQ_OK)
        return status;
    float *scores = acq_alloc(found.n, sizeof *scores);
    scoring_job job = {&found, c->trees, acq_candidates_get_n_features(c->maker), c->crossed,
                       scores};
    if (scores == NULL)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status =
            acq_threads_run(c->params->n_threads, (found.n + BLOCK - 1) / BLOCK, score_block, &job);
    if (status == ACQ_OK)
        status =
            add_relation(c->writer, &found, scores, c->graph, c->params->floor, c->report, error);
    if (status == ACQ_OK && c->kept != NULL)
        status = acq_kept_writer_add(c->kept, &found, c->trees->all, scores, error);
    acq_free(scores);
    acq_candidates_deinit(&found);
    return status;
}

static acq_status finish_completion(const completing *c, acq_error *error)
{
    void *bytes = NULL;
    size_t length = 0;
    acq_status status = ACQ_OK;
    if (c->kept != NULL)
        status = acq_kept_writer_finish(
            c->kept, c->calibrator == NULL ? NULL : c->calibrator->cover, &bytes, &length, error);
    if (status == ACQ_OK && c->kept != NULL)
        status = acq_completion_writer_attach_reasons(c->writer, bytes, length, error);
    if (status == ACQ_OK)
        status = acq_completion_writer_finish(c->writer, error);
    acq_free(bytes);
    return status;
}

acq_status acq_fit_write_links(const acq_candidates_maker *maker, const acq_graph *graph,
                               const acq_fold_trees *trees, bool crossed,
                               const acq_calibrator *calibrator, const acq_fit_params *params,
                               const acq_link_progress *progress, const char *path,
                               acq_fit_report *report, acq_error *error)
{
    acq_rel n_relations = acq_graph_get_n_relations(graph);
    completing c = {maker,           graph, trees, crossed, params, .calibrator = calibrator,
                    .report = report};
    acq_completion_params completion = {
        .predictor = "fit", .floor = params->floor, .has_reasons = !crossed};
    void *packed = NULL;
    acq_status status = ACQ_OK;
    if (calibrator != NULL)
        status =
            acq_calibrator_write_memory(calibrator, &packed, &completion.calibrator_length, error);
    completion.calibrator = packed;
    if (status == ACQ_OK)
        status = acq_completion_writer_open(path, graph, &completion, &c.writer, error);
    if (status == ACQ_OK && !crossed)
        status = acq_kept_writer_new(maker, &c.kept, error);
    report->links = 0;
    for (acq_rel r = 0; r < n_relations && status == ACQ_OK; r += 2) {
        status = report_relation(progress, "scoring links", r, n_relations, error);
        if (status == ACQ_OK)
            status = complete_relation(&c, r, error);
    }
    if (status == ACQ_OK)
        status = finish_completion(&c, error);
    acq_completion_writer_close(c.writer);
    acq_kept_writer_free(c.kept);
    acq_free(packed);
    return status;
}
