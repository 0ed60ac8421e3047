/* answer.h - the evidence of an answer's best assignment, and how likely the answer is among
 * candidates of which a stated share is true (--prior). How likely it is as such: worlds.h.
 *
 * Features describe the support, not the names: the scores of the positive atoms, how many are
 * observed and predicted, how much these score above the mean of their rows (lift), the size of the
 * query, the scores of its negated atoms, and other supports. A calibrator (calibrate/calibrator.h)
 * maps them to p.
 *
 * Atoms that say the same link, in either direction, count once. Logits and logs are of scores
 * clipped to [1e-6, 1 - 1e-4]; an observed fact has the logit of 1 - 1e-4 and the log 0. */
#ifndef ACQ_CALIBRATE_ANSWER_H
#define ACQ_CALIBRATE_ANSWER_H

#include "answer/answer.h"
#include "calibrate/calibrator.h"

/* name, monotone direction (1: can only raise p) */
#define ACQ_ANSWER_FEATURES(X)                                                                     \
    X(least, 1)          /* logit of the least link score of the used positive atoms */            \
    X(second, 1)         /* of the second least; where there is none, of a fact */                 \
    X(third, 1)          /* of the third */                                                        \
    X(sum, 1)            /* sum of log scores of the predicted ones: log of their product */       \
    X(mean, 1)           /* mean logit of the predicted ones; NaN: none is */                      \
    X(predicted, 0)      /* number of predicted positive atoms */                                  \
    X(observed, 0)       /* number of observed ones */                                             \
    X(share, 0)          /* predicted / positive */                                                \
    X(pairs, 0)          /* pairs of entities that have a predicted one */                         \
    X(pairs_sum, 1)      /* sum over these of the log of their least score */                      \
    X(atoms, 0)          /* atoms of the query */                                                  \
    X(variables, 0)      /* variables of the query */                                              \
    X(free, 0)           /* free ones */                                                           \
    X(negated, 0)        /* negated atoms used */                                                  \
    X(against, -1)       /* logit of the largest link score of one; NaN: none has any */           \
    X(denied, 1)         /* sum over these of log(1 - link score) */                               \
    X(free_least, 1)     /* logit of the least positive atom that touches a free variable */       \
    X(free_sum, 1)       /* sum of log scores of the predicted ones among these */                 \
    X(free_predicted, 0) /* predicted positive atoms that touch a free variable */                 \
    X(free_atoms, 0)     /* positive atoms that touch a free variable */                           \
    X(supports, 1)       /* log(1 + other values of single variables that would do) */             \
    X(supports_sum, 1)   /* log(1 + sum of the least scores with these) */                         \
    X(paths, 1)          /* sum + denied + what these values add (below); at most 0 */             \
    X(lift, 1)           /* log of the lift of the least predicted one */                          \
    X(lift_sum, 1)       /* sum of these logs over the predicted ones */                           \
    X(lift_least, 1)     /* the least */                                                           \
    X(free_lift, 1)      /* the least of those that touch a free variable; NaN: none */            \
    X(row_facts, 0)  /* log of the facts in the row of the least predicted one; none is as one */  \
    X(back_facts, 0) /* in the row of its other direction */                                       \
    X(field_least, -1)    /* log of the share of the field that has this least score or more */    \
    X(field_paths, -1)    /* the same by `paths` */                                                \
    X(field_mean, 0)      /* logit of the field's mean least score */                              \
    X(field_supported, 0) /* share of the field that has a support */

typedef enum acq_answer_feature {
#define ACQ_ANSWER_FEATURE(name, monotone) ACQ_ANSWER_##name,
    ACQ_ANSWER_FEATURES(ACQ_ANSWER_FEATURE)
#undef ACQ_ANSWER_FEATURE
        ACQ_N_ANSWER_FEATURES
} acq_answer_feature;

extern const int8_t acq_answer_monotone[ACQ_N_ANSWER_FEATURES];
const char *acq_answer_get_feature_name(acq_answer_feature feature);

/* The field of a question: some of the values that the graph has seen at the place of its first
 * free variable, but for those that facts make answers, with what supports them. An answer that few
 * of them come near to is likelier than one that is one of many. */
enum { ACQ_FIELD_MOST = 32 };

typedef struct acq_answer_field {
    bool is_found;
    size_t n;                    /* 0: not known */
    float least[ACQ_FIELD_MOST]; /* features of the values; -inf: no support */
    float paths[ACQ_FIELD_MOST];
} acq_answer_field;

/* Do the trees for a prior ask for the field? */
bool acq_answer_wants_field(const acq_calibrator *calibrator);

/* Adds a value by its features; NULL: it has no support. What facts settle is left out. */
void acq_answer_field_add(acq_answer_field *field, const float *features);

/* features: ACQ_N_ANSWER_FEATURES floats, those of the field NaN. values: one entity per variable;
 * those of existential ones may be exchanged for likelier ones, which never lowers the answer's
 * score (below), so that features and explanation are of the same assignment. Cost: one look-up per
 * atom and a walk over the shortest row of each existential variable, some ten microseconds in all.
 */
acq_status acq_answer_describe(const acq_query *query, const acq_predictor *predictor,
                               const acq_scoring *scoring, acq_ent *values, float *features,
                               acq_error *error);
/* Then the features of an empty field, or of one that was found. */
void acq_answer_describe_field(const acq_answer_field *field, float *features);

/* Observed facts alone, and nothing negated: p is 1 whatever a calibrator says. */
bool acq_answer_is_certain(const float *features);

/* p of an answer with these features, with a prior (acq_calibrator_get_prior_p). */
double acq_answer_get_prior_p(const acq_calibrator *calibrator, const float *features,
                              double prior);

/* The same of an answer that no link supports; NaN where the calibrator does not know: it has
 * learnt this from conjunctions of atoms without negation, and values that are seen at their
 * places. */
double acq_answer_get_unsupported_p(const acq_query *query, const acq_predictor *predictor,
                                    const acq_ent *values, double prior);

/* Fails when the predictor's calibrator reads other features than this version has. */
acq_status acq_answer_check_calibrator(const acq_predictor *predictor, acq_error *error);

/* ---- other supports (supports.c) ----
 *
 * Other values of single existential variables that would make the answer true, all other values
 * staying as they are. A value does when every used literal that touches its variable reaches half
 * the answer's least score with it. On the way each variable takes the likeliest value that does
 * not lower the least score: searches maximise the least score alone, so whatever else they chose
 * is arbitrary. */

typedef struct acq_supports {
    uint64_t n;       /* other values that would do, all existential variables together */
    double least_sum; /* of the least scores of their literals */
    double gain;      /* sum over the variables of the log of: the chance that one of the values
                         does, over that of the present one, were literals independent */
} acq_supports;

/* evidence: of the answer at `values` (acq_explain); values: one per variable, those of
 * existential ones may be exchanged, *changed says whether. Cost: at most a few thousand look-ups,
 * a few hundred for each variable; scratch in `arena`. */
acq_status acq_supports_find(const acq_query *query, const acq_predictor *predictor,
                             const acq_scoring *scoring, const acq_evidence *evidence, size_t n,
                             acq_ent *values, acq_arena *arena, acq_supports *out, bool *changed,
                             acq_error *error);

#endif
