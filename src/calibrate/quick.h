/* quick.h - a link calibrator that a graph teaches itself in about a second, without any
 * training: what similar entities have, mined rules, and how many tails are usual.
 *
 * A small graph (40,000 facts) makes candidates of the rows of both sides. A larger one has rows of
 * one side only, so that a question makes few of them, and learns from a sample of these.
 *
 * Several times a share of the facts is held out, each time other ones; the candidates of the rest
 * with their evidence are what trees learn from (learn.h). p assumes that the graph lacks 8 % of
 * the facts, at random. */
#ifndef ACQ_CALIBRATE_QUICK_H
#define ACQ_CALIBRATE_QUICK_H

#include "calibrate/calibrator.h"
#include "calibrate/learn.h"

/* Is the graph small? It depends on its size alone, so that p is the same everywhere. */
bool acq_quick_is_small(const acq_graph *graph);

/* What is known of links without training, as candidates.h wants it. */
typedef struct acq_quick_evidence {
    acq_row_model *neighbours;
    acq_rules *rules;
} acq_quick_evidence;

/* Deinit also after an error; asks params->stop. Fills the models and rules of params. */
acq_status acq_quick_evidence_init(acq_quick_evidence *evidence, const acq_graph *graph,
                                   acq_candidates_params *params, acq_error *error);
void acq_quick_evidence_deinit(acq_quick_evidence *evidence);

/* How the candidates of the graph itself are made. */
acq_candidates_params acq_quick_choose(const acq_graph *graph, acq_tail_choice tails,
                                       unsigned n_threads);

/* The candidates of several rests of the graph, with their labels (learn.h). NULL: nothing can be
 * held out of it. prior: see acq_learn_params. stop may be NULL, and outlives the sample. */
acq_status acq_quick_collect(const acq_graph *graph, unsigned n_threads, const acq_boost *prior,
                             const acq_stop *stop, acq_link_sample **out, acq_error *error);

/* Where the truth is known, for a prior to learn from: candidates of rests of the graph, or with
 * is_whole of the graph itself, with labels by the truth. */
acq_status acq_quick_collect_truth(const acq_graph *graph, const acq_predictor *truth,
                                   bool is_whole, unsigned n_threads, acq_link_sample **out,
                                   acq_error *error);

/* The shipped trees for the features of this maker; NULL: it has none of similar entities, or the
 * library no such trees. */
acq_status acq_quick_open_prior(const acq_candidates_maker *maker, acq_boost **out,
                                acq_error *error);

/* Fills calibrator->link, ->shifts, ->models and ->graph. Where the graph is too small to hold
 * facts out of it, every link has p 0. */
acq_status acq_quick_learn(const acq_graph *graph, unsigned n_threads, acq_stop stop,
                           acq_calibrator *out, acq_error *error);

/* What it has learnt, kept in a file. get: false where there is no file, or it is damaged, or of
 * another version of this, or of another graph; with may_be_earlier the file may be of any state of
 * this graph that had no more relations. put: a file that cannot be written is left out. */
bool acq_quick_get(const char *path, const acq_graph *graph, bool may_be_earlier,
                   acq_calibrator *out);
void acq_quick_put(const char *path, const acq_calibrator *learnt);

/* One sentence where the graph is so small that p says little; NULL: it is large enough. */
const char *acq_quick_get_note(const acq_graph *graph);

#endif
