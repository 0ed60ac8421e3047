/* parts.h - the steps of a fit, each a file of its own. First, the completion that a link
 * calibrator gives (links.c). */
#ifndef ACQ_FIT_PARTS_H
#define ACQ_FIT_PARTS_H

#include "base/hash.h"
#include "calibrate/boost.h"
#include "engine/engine.h"
#include "fit/fit.h"
#include "models/model.h"
#include "predict/predictor.h"
#include "query/query.h"
#include "query/sample/sampler.h"

typedef struct acq_link_progress {
    bool (*report)(void *context, const char *phase, double done, double total);
    void *context;
} acq_link_progress;

/* ACQ_ERR_INTERRUPTED: the report asked to stop. Without a report nothing happens. */
acq_status acq_link_progress_tell(const acq_link_progress *progress, const char *phase, double done,
                                  double total, acq_error *error);

/* How candidates get their p. */
typedef struct acq_link_rule {
    const acq_fold_trees *trees;
    const acq_boost_shift *shifts; /* by pair of relations */
    /* Of the rest: by the other fold's trees, and as the probability that the link was held out;
     * facts that the graph lacks besides are no facts there. `missing`: as in boost.h. */
    bool crossed;
    double missing;
    /* Of the rest, a second file: the same links with the odds that such ones have in the whole
     * graph, for what is learnt here and asked there. NULL: none. */
    const char *as_whole;
} acq_link_rule;

/* Of links of the whole graph. */
static inline acq_boost_judge acq_link_rule_get_judge(const acq_link_rule *rule, acq_rel relation)
{
    return (acq_boost_judge){rule->trees->all, rule->shifts[relation / 2]};
}

/* scores: room for the log-odds of every candidate. */
acq_status acq_fit_score_links(const acq_candidates *found, const acq_link_rule *rule,
                               unsigned n_threads, float *scores);

/* Every candidate of the maker's graph with its p, and the observed facts. calibrator: what is put
 * inside, may be NULL. */
acq_status acq_fit_write_links(const acq_candidates_maker *maker, const acq_graph *graph,
                               const acq_link_rule *rule, const acq_calibrator *calibrator,
                               const acq_fit_params *params, const acq_link_progress *progress,
                               const char *path, acq_fit_report *report, acq_error *error);

/* ---- models ----
 *
 * Inside fit: the predictors of one graph, trained or read back, and their evidence. */

typedef struct acq_fit_models {
    acq_complex *complex;
    acq_nbfnet *nbfnet;
    acq_ultra *ultra; /* weights that were tuned; NULL: as they were given */
    acq_rulebook *rulebook;
    acq_row_model *rows[ACQ_CANDIDATES_MODELS];
    size_t n_rows;
    acq_rules *rules;
    acq_candidates_maker *maker;
} acq_fit_models;

/* Of a graph that facts of `whole` were held out of. name: of the files in the folder. What the
 * folder has already is read and not made again. */
acq_status acq_fit_models_make(const acq_graph *rest, const acq_graph *whole, const char *name,
                               const acq_fit_params *params, acq_fit_models *out, acq_error *error);

/* The same for the whole graph, a part of which, the rest, `trained` knows: ComplEx starts from
 * there, ULTRA stays as it is. */
acq_status acq_fit_models_grow(const acq_graph *whole, const acq_graph *rest, const char *name,
                               const acq_fit_params *params, const acq_fit_models *trained,
                               acq_fit_models *out, acq_error *error);
void acq_fit_models_deinit(acq_fit_models *models);

/* Only what `trained` of grow needs, from its file. */
acq_status acq_fit_models_read(const acq_graph *rest, const char *name,
                               const acq_fit_params *params, acq_fit_models *out, acq_error *error);

/* What ACQ_HOLD_AUTO comes to: of a small graph facts are held out as they come. */
acq_status acq_fit_choose_hold(const acq_graph *graph, const acq_fit_params *params, acq_hold *out,
                               acq_error *error);

/* "complex+neighbours", "complex+ultra", ...: which models the evidence comes from. */
void acq_fit_print_models(const acq_fit_params *params, char *out, size_t size);

/* FOLDER/NAME.KIND; *out freed with acq_free. */
char *acq_fit_make_path(const acq_fit_params *params, const char *name, const char *kind);

/* Tells params->part how much the log-loss of held-out links rises without each model, and without
 * the rules. */
acq_status acq_fit_judge_parts(const acq_link_sample *sample, const acq_fit_models *models,
                               const acq_fit_params *params, acq_error *error);

/* See acq_link_shifts_balance. */
acq_status acq_fit_balance_links(const acq_fit_models *whole, const acq_graph *graph,
                                 const acq_link_due *dues, const acq_fit_params *params,
                                 acq_calibrator *calibrator, acq_error *error);

/* ---- questions ----
 *
 * Inside fit: queries with free variables, drawn from the complete graph, and the
 * candidates that they are tried with, true and wrong ones.
 *
 * One free variable: as the paper makes its sets for classification. Up to ten true ones, each of
 * them with two chances in three one that the facts of the rest do not give, as far as there are
 * both; as many wrong ones, drawn among the entities that are seen in the rest at the variable's
 * end of every positive atom. Questions whose answers all follow from the rest's facts have no
 * trials. Wrong ones are all seen, so the trees must not learn from unseen true ones. These are
 * there to be judged: the p at which F1 is best depends on them.
 *
 * Several: true answers as the search finds them, and the best ones by the completion. */

/* Many questions, shared out among threads. */
typedef struct acq_questions_job {
    const char *phase;
    size_t n;
    unsigned n_threads;
    acq_status (*one)(void *context, size_t question, acq_error *error);
    void *context;
    double seconds; /* most; 0: no limit. Some questions are left out then */
} acq_questions_job;

/* *n_done: the first so many have been looked at. */
acq_status acq_questions_run(const acq_questions_job *job, const acq_link_progress *progress,
                             size_t *n_done, acq_error *error);

/* The question that `key` stands for, from facts of the sampler's graph: a small shape, or a
 * hub-like one; half of these have one atom per pair of terms. Open ones have a fact that `rest`
 * lacks. *out freed with acq_query_free; NULL: none was found in a number of tries. */
acq_status acq_question_draw(const acq_sampler *sampler, const acq_graph *rest, bool is_hub,
                             bool is_open, uint64_t seed, uint64_t key, acq_query **out,
                             acq_error *error);

/* The question that `key` stands for, read off the rest, whose sampler it is: a small shape or, one
 * in five, a hub-like one. In half of them each constant gives way to another entity that the rest
 * shows at one of its places. *out freed with acq_query_free; NULL: none was found. */
acq_status acq_question_draw_at_large(const acq_sampler *sampler, const acq_graph *rest,
                                      uint64_t seed, uint64_t key, acq_query **out,
                                      acq_error *error);

enum { ACQ_TRIAL_MOST_FREE = 3, ACQ_TRIAL_MOST = 24 };

typedef struct acq_trial_source {
    const acq_graph *rest;
    const acq_predictor *observed;  /* the rest's facts */
    const acq_predictor *completed; /* its links with their p */
    const acq_predictor *truth;     /* 1 for links that hold; the rest's ids */
    uint64_t work;                  /* of a search; 0: much */
    int64_t deadline_ns;            /* what is drawn after it is of no use; 0: none */
} acq_trial_source;

/* Is there no more time for trials? */
bool acq_trial_source_is_late(const acq_trial_source *source);

typedef struct acq_trial {
    acq_ent values[ACQ_TRIAL_MOST_FREE];
    bool is_true;
    bool is_seen;
    double stands_for; /* candidates of the query, of those that could have been drawn */
} acq_trial;

typedef struct acq_trials {
    acq_trial items[ACQ_TRIAL_MOST];
    size_t n, n_true;
} acq_trials;

/* How fit searches: by work, not by the clock, so that a run repeats. */
acq_engine_params acq_trial_choose_search(const acq_predictor *predictor, uint64_t limit,
                                          uint64_t work);

/* out->n is 0 where the question is of no use, as one with fewer answers than `least`. */
acq_status acq_trials_draw(const acq_trial_source *source, const acq_query *query, size_t least,
                           acq_random *random, acq_trials *out, acq_error *error);

/* ---- answers ----
 *
 * Inside fit: the trees for answers among candidates of which a stated share is true
 * (--prior).
 *
 * Questions are drawn from the whole graph (questions.c), candidates as the paper draws them
 * (trials.h). Each is checked over the rest's completion; the features of its best support are a
 * row to learn from. A candidate without any support has the share of true ones among such.
 *
 * True and wrong candidates of a question weigh one half each. */

/* completed: the rest's links with their p; truth: 1 for links that hold. Both have the rest's
 * ids, and whole is the graph that questions are read off. Fills calibrator->balanced and its
 * shares. */
acq_status acq_fit_answer_trees(const acq_graph *rest, const acq_graph *whole,
                                const acq_predictor *completed, const acq_predictor *truth,
                                const acq_fit_params *params, const acq_link_progress *progress,
                                acq_calibrator *calibrator, acq_fit_report *report,
                                acq_error *error);

/* From which p on a yes serves F1 best.
 * p >= 0.5 is right more often than wrong. F1 asks for more yeses than that: it is largest when
 * they begin at about half of itself. Where exactly is read off generated questions, judged by
 * trees that have not learnt them; it is told, and never used unless --min-p says so. */
enum { ACQ_FIT_DECISION_STEPS = 49 }; /* p = 0.02, 0.04, ... 0.98 */

/* Zeroed: nothing yet. */
typedef struct acq_fit_decision_tally {
    size_t n;                            /* questions */
    double sums[ACQ_FIT_DECISION_STEPS]; /* of their F1, with yes from that p on */
} acq_fit_decision_tally;

/* One question: p and truth of its n candidates, of which some are true. */
void acq_fit_decision_add(acq_fit_decision_tally *tally, const double *p, const bool *is_true,
                          size_t n);

acq_fit_decision acq_fit_decision_choose(const acq_fit_decision_tally *tally);

/* ---- pieces ----
 *
 * A graph whose rows times entities are very many is fitted in pieces: rows from one side, of which
 * a sample teaches the trees; a model that scores all entities is asked only for what rules and
 * similar entities propose (candidates.h, is_pruned); links are written some thousand rows at a
 * time, so that a stop loses seconds. */

bool acq_fit_is_large(const acq_graph *graph);

/* The choices for such a graph; told in one line by params->note. */
void acq_fit_plan_pieces(const acq_graph *graph, acq_fit_params *params);

/* Draws as many rows for the trees as there is time for, after a trial of a few: sets the maker's
 * share of rows, and what a row takes. */
acq_status acq_fit_draw_rows(acq_candidates_maker *maker, acq_rel n_relations,
                             const acq_fit_params *params, double *row_seconds, acq_error *error);

typedef struct acq_pieces_job {
    const acq_candidates_maker *maker; /* of the whole graph */
    const acq_graph *graph;
    const acq_link_rule *rule;
    const acq_calibrator *calibrator; /* goes inside */
    const acq_fit_params *params;
    const acq_link_progress *progress;
    double row_seconds; /* about; 0: not known */
    acq_fit_report *report;
} acq_pieces_job;

acq_status acq_fit_write_pieces(const acq_pieces_job *job, const char *path, acq_error *error);

/* ---- large ----
 *
 * Inside fit: questions at large, from which the numbers of an answer's p are learnt.
 *
 * Questions are read off the rest, without a look at what was held out; in half of them each
 * constant gives way to another entity that is seen at its place. So some have an answer and
 * some have not, as with people. Of each the best candidates are kept. Learnt are
 *
 *   joint       the share of joint worlds (calibrate/worlds.h) that makes p of the candidates
 * likeliest if_answered the curve from p / p of any answer to p_if_answered, on questions that have
 * an answer
 *
 * and the table of stated and true shares is filled. */

/* completed: the rest's links with their p; truth: 1 for links that hold; both with the rest's ids.
 */
acq_status acq_fit_at_large(const acq_graph *rest, const acq_predictor *completed,
                            const acq_predictor *truth, const acq_fit_params *params,
                            const acq_link_progress *progress, acq_calibrator *calibrator,
                            acq_fit_report *report, acq_error *error);

#endif
