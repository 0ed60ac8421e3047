/* questions.h - inside fit: queries with free variables, drawn from the complete graph, and the
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
#ifndef ACQ_FIT_QUESTIONS_H
#define ACQ_FIT_QUESTIONS_H

#include "base/hash.h"
#include "engine/engine.h"
#include "fit/links.h"
#include "query/query.h"
#include "query/sample/sampler.h"

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

#endif
