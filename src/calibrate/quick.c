/* quick.c - see quick.h. */
#include "calibrate/quick.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "calibrate/learn.h"
#include "calibrate/calibrator.h"
#include "models/neighbours.h"

enum {
    MOST_FACTS = 40000,
    MOST_RELATIONS = 1000, /* both directions */
    FEW_FACTS = 300,
    MOST_SAMPLES = 6, /* fewer where there are more facts */
    LEAST_SAMPLES = 2,
    SAMPLED_FACTS = 30000, /* of all samples together, about */
    PARTS = 12,            /* of the facts; a sample holds about one out */
    TOP = 20,
    ROWS = 20000,
    LEAST_DRAWN = 10000, /* rows of a large graph that are learnt from */
    MOST_DRAWN = 60000
};

static const double HELD = ACQ_HELD_SHARE;

/* Rows that are learnt from times facts^1.5: with more facts a row costs more and says more. */
static const double DRAWN_TIMES_FACTS = 1.5e12;

/* Goes up when the same graph would get other trees. */
static const char version[] = "quick-11";

bool acq_quick_is_small(const acq_graph *graph)
{
    return acq_graph_get_n_facts(graph) <= MOST_FACTS &&
           acq_graph_get_n_relations(graph) <= MOST_RELATIONS;
}

const char *acq_quick_get_note(const acq_graph *graph)
{
    return acq_graph_get_n_facts(graph) >= FEW_FACTS
               ? NULL
               : "the graph is too small to tell how good predictions are: p keeps close to how "
                 "often each relation's links are missing";
}

acq_candidates_params acq_quick_choose(const acq_graph *graph, acq_tail_choice tails,
                                       unsigned n_threads)
{
    return (acq_candidates_params){.rows =
                                       acq_quick_is_small(graph) ? ACQ_ROWS_BOTH : ACQ_ROWS_LARGER,
                                   .tails = tails,
                                   .top = TOP,
                                   .is_thorough = true,
                                   .held_share = HELD,
                                   .n_threads = n_threads};
}

acq_status acq_quick_evidence_init(acq_quick_evidence *evidence, const acq_graph *graph,
                                   acq_candidates_params *params, acq_error *error)
{
    acq_rules_params rules = ACQ_RULES_DEFAULT;
    rules.n_threads = params->n_threads;
    rules.stop = params->stop;
    *evidence = (acq_quick_evidence){0};
    acq_status status = acq_neighbours_new_row_model(graph, &evidence->neighbours, error);
    if (status == ACQ_OK)
        status = acq_rules_mine(graph, &rules, &evidence->rules, error);
    params->models[0] = evidence->neighbours;
    params->n_models = 1;
    params->rules = evidence->rules;
    return status;
}

void acq_quick_evidence_deinit(acq_quick_evidence *evidence)
{
    acq_rules_free(evidence->rules);
    acq_row_model_free(evidence->neighbours);
    *evidence = (acq_quick_evidence){0};
}

/* ---- learning ---- */

static unsigned count_samples(const acq_graph *graph)
{
    if (!acq_quick_is_small(graph))
        return 1;
    uint64_t n = SAMPLED_FACTS / (acq_graph_get_n_facts(graph) + 1);
    return n > MOST_SAMPLES ? MOST_SAMPLES : n < LEAST_SAMPLES ? LEAST_SAMPLES : (unsigned)n;
}

typedef struct quick_run {
    const acq_graph *graph;
    const acq_predictor *truth;
    acq_link_sample *sample;
    const acq_boost *prior;
    unsigned n_threads;
    const acq_stop *stop; /* the sample's too; NULL: none */
} quick_run;

static bool goes_on(void *context, const char *phase, double done, double total)
{
    const acq_stop *stop = context;
    (void)phase;
    (void)done;
    (void)total;
    return stop == NULL || !acq_stop_is_wanted(*stop);
}

/* Of the rows of a large graph. 0: all. */
static acq_status choose_share(const acq_graph *graph, double *out, acq_error *error)
{
    acq_status status = ACQ_OK;
    double n = 0;
    *out = 0;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph) && status == ACQ_OK; r += 2) {
        const acq_links *on = NULL, *back = NULL;
        status = acq_graph_open_links(graph, r, &on, error);
        if (status == ACQ_OK)
            status = acq_graph_open_links(graph, acq_inverse(r), &back, error);
        if (status == ACQ_OK)
            n += on->n_heads > back->n_heads ? on->n_heads : back->n_heads;
    }
    double n_facts = (double)acq_graph_get_n_facts(graph);
    double drawn =
        fmin(MOST_DRAWN, fmax(LEAST_DRAWN, DRAWN_TIMES_FACTS / (n_facts * sqrt(n_facts))));
    if (status == ACQ_OK && !acq_quick_is_small(graph) && n > drawn)
        *out = drawn / n;
    return status;
}

/* The graph's rest, or the graph itself. */
static acq_status collect_rest(quick_run *run, const acq_graph *rest, acq_error *error)
{
    acq_candidates_params params = acq_quick_choose(run->graph, ACQ_TAILS_ALL, run->n_threads);
    acq_learn_params learn = {.missing = 1,
                              .rows = ROWS,
                              .n_samples = count_samples(run->graph),
                              .prior = run->prior,
                              .seed = 1,
                              .n_threads = run->n_threads,
                              .report = goes_on,
                              .context = (void *)run->stop};
    acq_quick_evidence evidence;
    acq_candidates_maker *maker = NULL;
    params.counted = run->graph;
    params.stop = run->stop == NULL ? (acq_stop){0} : *run->stop;
    params.is_rest = rest != run->graph;
    acq_status status = acq_quick_evidence_init(&evidence, rest, &params, error);
    if (status == ACQ_OK)
        status = choose_share(run->graph, &params.row_share, error);
    if (status == ACQ_OK)
        status = acq_candidates_maker_new(rest, &params, &maker, error);
    if (status == ACQ_OK && run->sample == NULL)
        status = acq_link_sample_new(maker, acq_graph_get_n_relations(run->graph), &learn,
                                     &run->sample, error);
    if (status == ACQ_OK)
        status = acq_link_sample_collect(run->sample, maker, run->truth, error);
    acq_candidates_maker_free(maker);
    acq_quick_evidence_deinit(&evidence);
    return status;
}

/* *is_left: there is something to hold out. */
static acq_status collect_sample(quick_run *run, unsigned part, bool *is_left, acq_error *error)
{
    acq_graph *rest = NULL;
    acq_error unused = {0};
    acq_split_params split = {.share = HELD, .seed = 1, .fold = part, .n_folds = PARTS};
    acq_status status = acq_split_by_share(run->graph, &split, &rest, &unused);
    *is_left = status != ACQ_ERR_INPUT;
    if (status == ACQ_ERR_INPUT) /* every entity needs its only fact */
        return ACQ_OK;
    if (status != ACQ_OK)
        return acq_fail(error, status, "%s", unused.message);
    status = collect_rest(run, rest, error);
    acq_graph_free(rest);
    return status;
}

/* Trees that say nothing, of a graph that nothing can be held out of. */
static acq_status learn_nothing(acq_calibrator *out, acq_error *error)
{
    static const uint8_t labels[] = {0};
    static const float weights[] = {1e9F};
    acq_boost_data data = {.x = weights, .labels = labels, .weights = weights, .n = 1};
    acq_boost_params params = ACQ_BOOST_DEFAULT;
    return acq_boost_fit(&data, &params, &out->link, error);
}

/* n: pairs of relations. */
static acq_status fit_sample(acq_link_sample *sample, uint32_t n, acq_calibrator *out,
                             acq_link_quality *quality, acq_error *error)
{
    acq_fold_trees trees;
    acq_status status =
        acq_link_sample_fit(sample, &trees, out->shifts, &out->reliability, quality, error);
    if (status != ACQ_OK)
        return status;
    acq_link_shifts_move(out->shifts, n, acq_link_sample_get_missing(sample));
    out->link = trees.all;
    trees.all = NULL;
    acq_fold_trees_deinit(&trees);
    return acq_calibrator_set_quality(out, quality, n, error);
}

static acq_status fit(acq_link_sample *sample, uint32_t n, acq_calibrator *out, acq_error *error)
{
    if (sample == NULL)
        return learn_nothing(out, error);
    acq_link_quality *quality = acq_zalloc(n, sizeof *quality);
    acq_free(out->shifts); /* of a try that failed */
    out->shifts = acq_zalloc(n, sizeof *out->shifts);
    out->n_shifts = out->shifts == NULL ? 0 : n;
    acq_status status = quality == NULL || out->shifts == NULL
                            ? acq_fail_memory(error)
                            : fit_sample(sample, n, out, quality, error);
    acq_free(quality);
    return status;
}

/* What it was learnt from, and how. */
static void name_graph(uint64_t fingerprint, char *out, size_t size)
{
    snprintf(out, size, "%s %016llx", version, (unsigned long long)fingerprint);
}

/* Frees the sample on failure. */
static acq_status collect_samples(quick_run *run, acq_error *error)
{
    bool is_left = true;
    acq_status status = ACQ_OK;
    for (unsigned i = 0; i < count_samples(run->graph) && status == ACQ_OK && is_left; i++)
        status = collect_sample(run, i, &is_left, error);
    if (status != ACQ_OK)
        acq_link_sample_free(run->sample);
    return status;
}

acq_status acq_quick_open_prior(const acq_candidates_maker *maker, acq_boost **out,
                                acq_error *error)
{
    uint32_t map[ACQ_CANDIDATES_MOST_FEATURES];
    acq_boost *shipped = NULL;
    uint32_t n = acq_candidates_map_features(maker, "neighbours", map);
    *out = NULL;
    acq_status status = n == 0 ? ACQ_OK : acq_prior_new_shipped(&shipped, error);
    if (status == ACQ_OK && shipped != NULL && acq_boost_get_n_features(shipped) == n)
        status =
            acq_boost_copy_mapped(shipped, map, acq_candidates_get_n_features(maker), out, error);
    acq_boost_free(shipped);
    return status;
}

acq_status acq_quick_collect(const acq_graph *graph, unsigned n_threads, const acq_boost *prior,
                             const acq_stop *stop, acq_link_sample **out, acq_error *error)
{
    acq_predictor *observed = NULL;
    acq_status status = acq_predictor_new_observed(graph, &observed, error);
    quick_run run = {
        .graph = graph, .truth = observed, .prior = prior, .n_threads = n_threads, .stop = stop};
    if (status == ACQ_OK)
        status = collect_samples(&run, error);
    acq_predictor_free(observed);
    if (status == ACQ_OK)
        *out = run.sample;
    return status;
}

acq_status acq_quick_collect_truth(const acq_graph *graph, const acq_predictor *truth,
                                   bool is_whole, unsigned n_threads, acq_link_sample **out,
                                   acq_error *error)
{
    quick_run run = {.graph = graph, .truth = truth, .n_threads = n_threads};
    acq_status status = ACQ_OK;
    if (!is_whole)
        status = collect_samples(&run, error);
    else if ((status = collect_rest(&run, graph, error)) != ACQ_OK)
        acq_link_sample_free(run.sample);
    if (status == ACQ_OK)
        *out = run.sample;
    return status;
}

/* The whole graph has better evidence than its rests, so that p may be too low there. */
static acq_status balance(const acq_graph *graph, const acq_link_sample *sample, unsigned n_threads,
                          const acq_stop *stop, acq_calibrator *out, acq_error *error)
{
    acq_predictor *observed = NULL;
    acq_link_due *dues = acq_alloc(out->n_shifts, sizeof *dues);
    if (dues == NULL)
        return acq_fail_memory(error);
    acq_link_sample_get_dues(sample, dues);
    acq_status status = acq_predictor_new_observed(graph, &observed, error);
    quick_run run = {.graph = graph, .truth = observed, .n_threads = n_threads, .stop = stop};
    if (status == ACQ_OK)
        status = collect_rest(&run, graph, error);
    if (status == ACQ_OK)
        status = acq_link_shifts_balance(run.sample, dues, out->link, out->shifts, error);
    acq_link_sample_free(run.sample);
    acq_predictor_free(observed);
    acq_free(dues);
    return status;
}

acq_status acq_quick_learn(const acq_graph *graph, unsigned n_threads, acq_stop stop,
                           acq_calibrator *out, acq_error *error)
{
    acq_link_sample *sample = NULL;
    acq_boost *prior = NULL;
    acq_status status = ACQ_OK;
    if (acq_quick_is_small(graph)) /* a prior knows rows of both sides, and a large graph enough */
        status = acq_prior_new_shipped(&prior, error);
    if (status == ACQ_OK)
        status = acq_quick_collect(graph, n_threads, prior, &stop, &sample, error);
    if (status == ACQ_OK)
        status = fit(sample, acq_graph_get_n_relations(graph) / 2, out, error);
    if (status == ACQ_OK && sample != NULL && acq_quick_is_small(graph))
        status = balance(graph, sample, n_threads, &stop, out, error);
    snprintf(out->models, sizeof out->models, "neighbours");
    name_graph(acq_graph_get_fingerprint(graph), out->graph, sizeof out->graph);
    acq_link_sample_free(sample);
    acq_boost_free(prior);
    return status;
}

/* ---- the file ---- */

static bool is_of(const acq_calibrator *kept, const acq_graph *graph, bool may_be_earlier)
{
    char wanted[sizeof kept->graph];
    uint32_t n_pairs = acq_graph_get_n_relations(graph) / 2;
    name_graph(acq_graph_get_fingerprint(graph), wanted, sizeof wanted);
    if (strcmp(kept->graph, wanted) == 0)
        return kept->n_shifts == 0 || kept->n_shifts == n_pairs;
    return may_be_earlier && strncmp(kept->graph, version, sizeof version - 1) == 0 &&
           kept->graph[sizeof version - 1] == ' ' && kept->n_shifts <= n_pairs;
}

bool acq_quick_get(const char *path, const acq_graph *graph, bool may_be_earlier,
                   acq_calibrator *out)
{
    acq_calibrator *kept = NULL;
    bool is_good = acq_calibrator_read(path, &kept, NULL) == ACQ_OK && kept->link != NULL &&
                   is_of(kept, graph, may_be_earlier);
    if (is_good) {
        out->link = kept->link;
        out->shifts = kept->shifts;
        out->n_shifts = kept->n_shifts;
        out->quality = kept->quality;
        out->n_quality = kept->n_quality;
        out->reliability = kept->reliability;
        memcpy(out->models, kept->models, sizeof out->models);
        memcpy(out->graph, kept->graph, sizeof out->graph);
        kept->link = NULL;
        kept->shifts = NULL;
        kept->quality = NULL;
    }
    acq_calibrator_free(kept);
    return is_good;
}

void acq_quick_put(const char *path, const acq_calibrator *learnt)
{
    acq_calibrator links = *learnt;
    links.balanced = NULL;
    (void)acq_calibrator_write(path, &links, NULL);
}
