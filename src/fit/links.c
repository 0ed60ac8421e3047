/* links.c - see parts.h. */
#include "fit/parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "calibrate/learn.h"
#include "calibrate/reasons.h"
#include "predict/completion.h"

enum { BLOCK = 1024 };

acq_status acq_link_progress_tell(const acq_link_progress *progress, const char *phase, double done,
                                  double total, acq_error *error)
{
    if (progress->report == NULL || progress->report(progress->context, phase, done, total))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INTERRUPTED, "stopped while %s", phase);
}

/* ---- completing ---- */

typedef struct scoring_job {
    const acq_candidates *found;
    const acq_link_rule *rule;
    float *scores;
} scoring_job;

static acq_status score_block(void *context, size_t item, unsigned thread)
{
    const scoring_job *job = context;
    const acq_candidates *found = job->found;
    const acq_link_rule *rule = job->rule;
    size_t first = item * BLOCK, end = first + BLOCK;
    acq_boost_shift shift = rule->shifts[found->relation / 2];
    (void)thread;
    end = end < found->n ? end : found->n;
    if (!rule->crossed)
        acq_candidates_score(found, first, end, (acq_boost_judge){rule->trees->all, shift},
                             job->scores);
    for (size_t i = first; i < end && rule->crossed; i++) {
        unsigned fold = acq_link_sample_get_fold(found->heads[i], found->tails[i]);
        acq_candidates_score(found, i, i + 1,
                             (acq_boost_judge){rule->trees->folds[1 - fold], shift}, job->scores);
    }
    return ACQ_OK;
}

acq_status acq_fit_score_links(const acq_candidates *found, const acq_link_rule *rule,
                               unsigned n_threads, float *scores)
{
    scoring_job job = {found, rule, scores};
    return acq_threads_run(n_threads, (found->n + BLOCK - 1) / BLOCK, score_block, &job);
}

/* How likely candidates of the rest were held out: facts that the graph lacks besides were not. */
static void turn_to_labels(const acq_link_rule *rule, float *scores, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double p = acq_boost_to_probability((double)scores[i]);
        double share = acq_boost_get_label_share(rule->missing, p);
        scores[i] = (float)log(share / (1 - share));
    }
}

static void add_step(float *scores, size_t n, double step)
{
    for (size_t i = 0; i < n; i++)
        scores[i] += (float)step;
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
    const acq_link_rule *rule;
    const acq_fit_params *params;
    acq_completion_writer *writer, *as_whole; /* the second may be NULL */
    acq_kept_writer *kept;                    /* for reasons; NULL: none are kept */
    const acq_calibrator *calibrator;
    acq_fit_report *report;
} completing;

/* In the whole graph the held-out facts are there. Leaves the scores as they were. */
static acq_status add_as_whole(const completing *c, const acq_candidates *found, float *scores,
                               acq_error *error)
{
    double step = log(c->rule->missing / (1 + c->rule->missing));
    acq_fit_report unused = {0};
    add_step(scores, found->n, step);
    acq_status status =
        add_relation(c->as_whole, found, scores, c->graph, c->params->floor, &unused, error);
    add_step(scores, found->n, -step);
    return status;
}

static acq_status complete_relation(const completing *c, acq_rel relation, acq_error *error)
{
    acq_candidates found;
    acq_status status = acq_candidates_collect(c->maker, relation, &found, error);
    if (status != ACQ_OK)
        return status;
    float *scores = acq_alloc(found.n, sizeof *scores);
    if (scores == NULL)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status = acq_fit_score_links(&found, c->rule, c->params->n_threads, scores);
    if (status == ACQ_OK && c->as_whole != NULL)
        status = add_as_whole(c, &found, scores, error);
    if (status == ACQ_OK && c->rule->crossed)
        turn_to_labels(c->rule, scores, found.n);
    if (status == ACQ_OK)
        status =
            add_relation(c->writer, &found, scores, c->graph, c->params->floor, c->report, error);
    if (status == ACQ_OK && c->kept != NULL)
        status = acq_kept_writer_add(c->kept, &found, acq_link_rule_get_judge(c->rule, relation),
                                     scores, error);
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
    if (status == ACQ_OK && c->as_whole != NULL)
        status = acq_completion_writer_finish(c->as_whole, error);
    acq_free(bytes);
    return status;
}

acq_status acq_fit_write_links(const acq_candidates_maker *maker, const acq_graph *graph,
                               const acq_link_rule *rule, const acq_calibrator *calibrator,
                               const acq_fit_params *params, const acq_link_progress *progress,
                               const char *path, acq_fit_report *report, acq_error *error)
{
    acq_rel n_relations = acq_graph_get_n_relations(graph);
    completing c = {maker, graph, rule, params, .calibrator = calibrator, .report = report};
    acq_completion_params completion = {
        .predictor = "fit", .floor = params->floor, .has_reasons = !rule->crossed};
    void *packed = NULL;
    acq_status status = ACQ_OK;
    if (calibrator != NULL)
        status =
            acq_calibrator_write_memory(calibrator, &packed, &completion.calibrator_length, error);
    completion.calibrator = packed;
    if (status == ACQ_OK)
        status = acq_completion_writer_open(path, graph, &completion, &c.writer, error);
    if (status == ACQ_OK && rule->as_whole != NULL)
        status = acq_completion_writer_open(rule->as_whole, graph, &completion, &c.as_whole, error);
    if (status == ACQ_OK && !rule->crossed)
        status = acq_kept_writer_new(maker, &c.kept, error);
    report->links = 0;
    for (acq_rel r = 0; r < n_relations && status == ACQ_OK; r += 2) {
        status = acq_link_progress_tell(progress, "scoring links", r, n_relations, error);
        if (status == ACQ_OK)
            status = complete_relation(&c, r, error);
    }
    if (status == ACQ_OK)
        status = finish_completion(&c, error);
    acq_completion_writer_close(c.writer);
    acq_completion_writer_close(c.as_whole);
    acq_kept_writer_free(c.kept);
    acq_free(packed);
    return status;
}

/* ---- what each part of the evidence is worth ----
 *
 * Trees learn one fold with a part of the features left out, and state p of the other fold. Of a
 * large sample every so-manieth row is taken: parts are compared with each other, and the trees
 * that are kept learn from all. */

enum { PART_ROWS = 300000, PART_TREES = 60, PART_DEPTH = 6, PART_LEAST = 200 };

static acq_status take_rows(const acq_link_sample *sample, uint8_t fold, acq_fold_rows *out)
{
    const uint8_t *folds;
    acq_boost_data data = acq_link_sample_get_data(sample, &folds);
    return acq_fold_rows_init(out, &data, folds, fold, data.n / PART_ROWS + 1, NULL);
}

/* Does the feature belong to the part: "rules.", or the name of a model? */
static bool is_of_part(const char *feature, const char *part)
{
    size_t n = strlen(part);
    return strncmp(feature, part, n) == 0 && feature[n] == '.';
}

/* A feature that is the same everywhere says nothing. */
static void leave_part_out(const acq_candidates_maker *maker, const char *part, acq_fold_rows *rows)
{
    uint32_t width = acq_candidates_get_n_features(maker);
    for (uint32_t k = 0; k < width; k++)
        for (size_t i = 0;
             is_of_part(acq_candidates_get_feature_name(maker, k), part) && i < rows->n; i++)
            rows->x[i * width + k] = 0;
}

static double sum_loss(const acq_boost *trees, const acq_fold_rows *rows, uint32_t width,
                       double missing)
{
    double sum = 0;
    for (size_t i = 0; i < rows->n; i++) {
        double p = acq_boost_to_probability(acq_boost_score(trees, rows->x + i * width));
        double share = acq_boost_get_label_share(missing, p);
        share = fmin(fmax(share, 1e-9), 1 - 1e-9);
        sum -= (double)rows->weights[i] * log(rows->labels[i] ? share : 1 - share);
    }
    return sum;
}

static acq_status judge_part(const acq_link_sample *sample, const acq_candidates_maker *maker,
                             const acq_fit_params *params, acq_fold_rows rows[2], double *loss,
                             acq_error *error)
{
    uint32_t width = acq_candidates_get_n_features(maker);
    acq_boost *trees = NULL;
    acq_boost_params boost = ACQ_BOOST_DEFAULT;
    boost.n_trees = PART_TREES;
    boost.depth = PART_DEPTH;
    boost.monotone = acq_link_sample_get_monotone(sample);
    boost.missing = acq_link_sample_get_missing(sample);
    boost.seed = params->seed;
    boost.n_threads = params->n_threads;
    acq_boost_data data = acq_fold_rows_view(&rows[0], width);
    acq_status status = acq_boost_fit(&data, &boost, &trees, error);
    if (status == ACQ_OK)
        *loss = sum_loss(trees, &rows[1], width, boost.missing);
    acq_boost_free(trees);
    return status;
}

/* part NULL: with everything. */
static acq_status judge_without(const acq_link_sample *sample, const acq_candidates_maker *maker,
                                const acq_fit_params *params, const char *part, double *loss,
                                acq_error *error)
{
    acq_fold_rows rows[2] = {{0}, {0}};
    acq_status status = ACQ_OK;
    for (uint8_t fold = 0; fold < 2 && status == ACQ_OK; fold++) {
        status = take_rows(sample, fold, &rows[fold]);
        if (status == ACQ_OK && part != NULL)
            leave_part_out(maker, part, &rows[fold]);
    }
    if (status != ACQ_OK)
        acq_fail_memory(error);
    if (status == ACQ_OK)
        status = judge_part(sample, maker, params, rows, loss, error);
    acq_fold_rows_deinit(&rows[0]);
    acq_fold_rows_deinit(&rows[1]);
    return status;
}

acq_status acq_fit_judge_parts(const acq_link_sample *sample, const acq_fit_models *models,
                               const acq_fit_params *params, acq_error *error)
{
    double all = 0, without = 0;
    if (params->part == NULL || acq_link_sample_count_true(sample) < PART_LEAST)
        return ACQ_OK;
    acq_status status = judge_without(sample, models->maker, params, NULL, &all, error);
    for (size_t m = 0; m <= models->n_rows && status == ACQ_OK; m++) {
        const char *name = m < models->n_rows ? models->rows[m]->kind : "rules";
        if (m == models->n_rows && models->rules == NULL)
            break;
        status = judge_without(sample, models->maker, params, name, &without, error);
        if (status == ACQ_OK && all > 0)
            params->part(params->part_context,
                         &(acq_fit_part){.name = name, .worth = without / all - 1});
    }
    return status;
}

/* ---- the sum of p ---- */

acq_status acq_fit_balance_links(const acq_fit_models *whole, const acq_graph *graph,
                                 const acq_link_due *dues, const acq_fit_params *params,
                                 acq_calibrator *calibrator, acq_error *error)
{
    acq_learn_params learn = {.rows = 20000, .seed = params->seed, .n_threads = params->n_threads};
    acq_link_sample *sample = NULL;
    acq_predictor *observed = NULL;
    acq_status status = acq_predictor_new_observed(graph, &observed, error);
    if (status == ACQ_OK)
        status = acq_link_sample_new(whole->maker, acq_graph_get_n_relations(graph), &learn,
                                     &sample, error);
    if (status == ACQ_OK)
        status = acq_link_sample_collect(sample, whole->maker, observed, error);
    if (status == ACQ_OK)
        status = acq_link_shifts_balance(sample, dues, calibrator->link, calibrator->shifts, error);
    acq_link_sample_free(sample);
    acq_predictor_free(observed);
    return status;
}
