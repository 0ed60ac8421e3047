/* predictor.h - scored links, the one seam between knowledge and search.
 *
 * A predictor answers score(r,h,t) and row(r,h): tails with a score at or above its floor,
 * sparse and sorted by tail. Observed facts score exactly 1, everything else at most 0.9999,
 * below the floor exactly 0. score(r,h,t) == score(inverse(r),t,h), always.
 * Predictors are immutable and shared between threads. */
#ifndef ACQ_PREDICT_PREDICTOR_H
#define ACQ_PREDICT_PREDICTOR_H

#include "models/model.h"

/* ---- scoring ----
 *
 * Thresholds, said once: how link scores become literal scores. Only the meaning is
 * here; the search and the verifier each implement it, so that one can check the other.
 *
 *   s(link)  = score, or with binarize B: 1 if score >= B else 0
 *   s(atom)  = s(link);  s(x = y) = 1 or 0
 *   s(!atom) = 1 - s(link) as a float, or with negation_threshold N: 1 if s(link) < N else 0
 *   and = min, or = max, exists = max over all entities; an answer has score >= threshold. */

typedef struct acq_scoring {
    double threshold;          /* least score of an answer */
    double binarize;           /* 0: off */
    double negation_threshold; /* negative: off */
} acq_scoring;

/* volatile: gcc 12 loses a pair of conversions to float and back when it vectorises them. */
static inline double acq_scoring_round_one(double value)
{
    volatile float rounded = (float)value;
    return (double)rounded;
}

/* Link scores are floats: a threshold written as 0.9999 means the float of that name, so that a
 * score of 0.9999 reaches it. Whoever takes thresholds from outside applies this once. */
static inline acq_scoring acq_scoring_round(acq_scoring scoring)
{
    return (acq_scoring){.threshold = acq_scoring_round_one(scoring.threshold),
                         .binarize = acq_scoring_round_one(scoring.binarize),
                         .negation_threshold = acq_scoring_round_one(scoring.negation_threshold)};
}

#define ACQ_SCORING_DEFAULT                                                                        \
    ((acq_scoring){.threshold = 0.5, .binarize = 0.0, .negation_threshold = -1.0})

/* ---- predictor ---- */

typedef struct acq_predictor acq_predictor;

/* A row by itself, observed tails included, sorted by tail. */
typedef struct acq_scored_row {
    acq_ent *tails;
    float *scores;
    size_t n;
} acq_scored_row;

void acq_scored_row_deinit(acq_scored_row *row);

/* Rows that somebody wants: of n heads, sorted and distinct. `stop` is asked from any thread, and
 * ends the work with ACQ_ERR_INTERRUPTED. */
typedef struct acq_row_want {
    acq_rel relation;
    const acq_ent *heads;
    size_t n;
    acq_stop stop;
} acq_row_want;

typedef struct acq_predictor_ops {
    /* All links of a relation, borrowed: what a materialised predictor has. */
    acq_status (*open_links)(const acq_predictor *self, acq_rel relation, const acq_links **out,
                             acq_error *error);
    void (*free)(acq_predictor *self);
    /* What the user should know about this predictor, or NULL; the op itself may be NULL. */
    const char *(*get_note)(const acq_predictor *self);
    /* Links that score less are absent: the least threshold that makes sense. NULL: 0. */
    double (*get_floor)(const acq_predictor *self);
    /* Rows made without the rest of their relation: what the rows alone say, so the other side of a
     * link may say something else. NULL: open_links is no more work than a row. Out rows are the
     * caller's; on failure there are none. */
    acq_status (*copy_rows)(const acq_predictor *self, const acq_row_want *want,
                            acq_scored_row *out, acq_error *error);
    /* Makes what the first link has to wait for, as learning from the graph. Stopped, it begins
     * anew with the next call or link. NULL: nothing. */
    acq_status (*load)(const acq_predictor *self, acq_stop stop, acq_error *error);
    /* Lets go of the links of a relation and its inverse that were made by opening them. NULL: they
     * cost nothing. */
    void (*forget_links)(const acq_predictor *self, acq_rel relation);
} acq_predictor_ops;

/* What makes probabilities of a predictor's scores (calibrate/calibrator.h). A predictor carries
 * one for whoever asks; all it knows of it is how to free it and how to put it into a file. */
typedef struct acq_calibrator acq_calibrator;

typedef struct acq_calibrator_ops {
    void (*free)(acq_calibrator *calibrator); /* NULL: it is borrowed */
    /* As bytes; *out freed with acq_free. */
    acq_status (*write_memory)(const acq_calibrator *calibrator, void **out, size_t *length,
                               acq_error *error);
} acq_calibrator_ops;

/* What tells of what a link's score was made (calibrate/reasons.h), carried in the same way. */
typedef struct acq_reason_source acq_reason_source;

/* The largest score of a link that is not an observed fact (0/1 predictors apart). */
#define ACQ_SCORE_UNOBSERVED_MOST 0.9999F

struct acq_predictor {
    const acq_predictor_ops *ops;
    const acq_graph *graph;     /* the observed graph, borrowed: its ids are the predictor's */
    const char *name;           /* as on the command line: "observed", "perfect:...", ... */
    acq_calibrator *calibrator; /* NULL: its scores are no probabilities */
    const acq_calibrator_ops *calibrator_ops; /* NULL: borrowed, and not for files */
    bool has_cheap_rows;                      /* all rows that a question may need can be made */
    acq_reason_source *reasons;               /* NULL: none */
    void (*free_reasons)(acq_reason_source *reasons);
};

acq_status acq_predictor_open_links(const acq_predictor *predictor, acq_rel relation,
                                    const acq_links **out, acq_error *error);

/* The two questions. A relation that cannot be opened scores 0. */
float acq_predictor_get_score(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                              acq_ent tail);
acq_row acq_predictor_get_row(const acq_predictor *predictor, acq_ent head, acq_rel relation);

/* Nobody uses the links of this relation and its inverse any more; opening makes them anew. */
void acq_predictor_forget_links(const acq_predictor *predictor, acq_rel relation);

/* Does it make rows one at a time, so that open_links of a relation is work that a question about
 * a few rows should not do? */
bool acq_predictor_makes_rows(const acq_predictor *predictor);

/* One row in the cheapest way there is; *out is the caller's. */
acq_status acq_predictor_copy_row(const acq_predictor *predictor, acq_rel relation, acq_ent head,
                                  acq_scored_row *out, acq_error *error);

void acq_predictor_free(acq_predictor *predictor); /* NULL is legal; the graph stays */

/* One sentence that a command should show on stderr, borrowed; NULL: nothing to say. */
const char *acq_predictor_get_note(const acq_predictor *predictor);

double acq_predictor_get_floor(const acq_predictor *predictor);

/* Borrowed; NULL: its scores are no probabilities. */
const acq_calibrator *acq_predictor_get_calibrator(const acq_predictor *predictor);
/* From now on the predictor carries this one; the one before is freed. */
void acq_predictor_set_calibrator(acq_predictor *predictor, acq_calibrator *calibrator,
                                  const acq_calibrator_ops *ops);

/* The predictor takes the source over. */
void acq_predictor_set_reasons(acq_predictor *predictor, acq_reason_source *reasons,
                               void (*free_reasons)(acq_reason_source *reasons));

/* The observed graph itself: 1 for a fact, else 0. */
acq_status acq_predictor_new_observed(const acq_graph *graph, acq_predictor **out,
                                      acq_error *error);

typedef struct acq_perfect_report {
    uint64_t unknown_entities; /* names of the complete graph that the observed one lacks */
    uint64_t dropped_facts;    /* facts left out for that reason, or an unknown relation */
    uint64_t denied_facts;     /* observed facts that the complete graph lacks: they score 0 */
} acq_perfect_report;

/* 1 for a fact of `complete`, else 0, in the ids of `graph`: names are matched when the two
 * dictionaries differ. complete may be freed afterwards. report may be NULL. */
acq_status acq_predictor_new_perfect(const acq_graph *graph, const acq_graph *complete,
                                     const char *label, acq_predictor **out,
                                     acq_perfect_report *report, acq_error *error);

/* A completion file (predict/completion.h) as predictor; observed facts win with score 1. The
 * calibrator in the file is left alone: acq_calibrator_open_completion (calibrate/calibrator.h)
 * opens both. */
acq_status acq_predictor_new_completion(const acq_graph *graph, const char *path,
                                        acq_predictor **out, acq_error *error);

/* The same; a file with more than `most_links` links, both directions, makes rows one at a time. */
acq_status acq_predictor_new_completion_rows(const acq_graph *graph, const char *path,
                                             uint64_t most_links, acq_predictor **out,
                                             acq_error *error);

#endif
