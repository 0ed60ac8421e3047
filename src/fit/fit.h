/* fit.h - from facts to calibrated scored links.
 *
 *   1. links are held out of the graph (or: what was added since `earlier`)
 *   2. the predictors are trained on the rest, rules mined, similar entities found
 *   3. candidates of the rest with their evidence; label: held out or not
 *   4. the link calibrator is fitted, in two folds as well, so that every candidate also has a p
 * from trees that have not seen its label: these give the reliability table
 *   5. the rest's completion by the two folds; queries, generated from the whole graph, are
 *      answered over it; the answer calibrator is fitted on them, its table by two folds of queries
 *   6. the predictors go on training on everything, rules are mined again
 *   7. candidates of the whole graph, the calibrator, the completion with the calibrator inside
 *
 * Trained models, and the checkpoints of a training, are kept in FOLDER (OUTPUT.fit) until the
 * completion is there: an interrupted fit goes on with them and makes the rest again. Deterministic
 * for a seed, which of a small graph is that of trained models only. */
#ifndef ACQ_FIT_FIT_H
#define ACQ_FIT_FIT_H

#include "base/text.h"
#include "calibrate/calibrator.h"
#include "calibrate/candidates.h"
#include "calibrate/learn.h"
#include "train/train.h"

/* How much a fit may cost: some 2, 15 and 120 minutes on two cores for a graph with 300,000 facts.
 */
typedef enum acq_fit_effort {
    ACQ_FIT_QUICK,  /* learnt rules, similar entities */
    ACQ_FIT_NORMAL, /* ComplEx, similar entities */
    ACQ_FIT_BEST    /* ComplEx by its whole recipe, rules, ULTRA where its rows can be afforded */
} acq_fit_effort;

typedef struct acq_fit_params {
    acq_fit_effort effort; /* what `chooses` goes by, and the length of trainings */
    bool use_complex, use_nbfnet, use_ultra, use_rulebook;
    bool chooses; /* models by effort and by the size of the graph: none where it is small */
    const acq_ultra *ultra;   /* weights; NULL: the shipped ones */
    double tune_seconds;      /* they are trained on for so long, for each sample; 0: as they are */
    const acq_graph *earlier; /* NULL: hold links out */
    double hold_share;        /* of the facts, in each sample */
    acq_hold hold;            /* pairs: only links of entities that no other link joins then */
    acq_train_complex_params complex;
    acq_train_nbfnet_params nbfnet;
    acq_train_rules_params rulebook;
    double seconds;   /* what the whole may take; 0: as long as the epochs take */
    int64_t begin_ns; /* when these seconds began (acq_clock_ns); 0: with the fit */
    double kept;      /* of the time, for the completions that are still to be made */
    acq_stop stop;    /* the fit's own: asked from any thread */
    double floor;     /* of the completion */
    uint32_t top;
    acq_row_choice rows;
    acq_tail_choice tails;
    bool use_rules, use_neighbours;
    bool in_pieces; /* also of a graph that is not large (parts.h) */
    bool use_lifts; /* false: answers over rows that questions make one by one (calibrate/lift.h) */
    uint32_t n_questions; /* that the answer calibrator learns from */
    uint64_t seed;
    unsigned n_threads;
    const char *folder; /* where steps are kept */
    bool resume;
    bool keeps;      /* trained models stay in the folder, for the next fit to go on with */
    const char *svg; /* reliability diagram; NULL: none */
    bool (*progress)(void *context, const acq_train_progress *now);
    void *context;
    void (*relation)(void *relation_context, const acq_fit_relation *quality); /* NULL: not told */
    void *relation_context;
    void (*note)(void *note_context,
                 const char *text); /* one sentence for people; NULL: not told */
    void *note_context;
    void (*part)(void *part_context, const acq_fit_part *part); /* NULL: not measured */
    void *part_context;
    const acq_ranks *ranks; /* NULL: none; see fit.c */
} acq_fit_params;

void acq_fit_params_init(acq_fit_params *params);

typedef acq_fit_completion_report acq_fit_report; /* public: anycq.h */

/* Sets the models and trainings of params->effort for this graph; what is not `chooses` stays, and
 * so do rank and epochs of ComplEx that are above 0. acq_fit does it. */
void acq_fit_choose(const acq_graph *graph, acq_fit_params *params);

/* In one line what a fit of this graph will do. */
acq_status acq_fit_print_plan(const acq_graph *graph, const acq_fit_params *params, acq_text *out,
                              acq_error *error);

/* With a time limit a step has its share of what is left, less what is kept for completions:
 * trainings have fewer epochs then, calibrators fewer trees and questions. */
typedef enum acq_fit_step {
    ACQ_FIT_MODELS, /* trained on the rest */
    ACQ_FIT_LINKS,  /* trees */
    ACQ_FIT_QUESTIONS,
    ACQ_FIT_ANSWERS, /* trees */
    ACQ_FIT_AT_LARGE,
    ACQ_FIT_WHOLE, /* models go on with all facts */
} acq_fit_step;

/* Seconds that this step may take from now on; 0: as many as it needs. */
double acq_fit_get_seconds(const acq_fit_params *params, acq_fit_step step);

/* Of one search, by the time of the whole; 0: as much as is of use. */
uint64_t acq_fit_get_work(const acq_fit_params *params);

acq_status acq_fit(const acq_graph *graph, const char *output, const acq_fit_params *params,
                   acq_fit_report *report, acq_error *error);

#endif
