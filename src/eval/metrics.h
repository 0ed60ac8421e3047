/* metrics.h - what the evaluation reports, as pure functions of counted decisions.
 *
 * Shares and F1 values are percentages; a share of nothing is NAN. The definitions, once:
 *
 *   QAC, per candidate set: F1 = 2 TP / (2 TP + FP + FN), 0 where nothing correct was accepted;
 *   f1 is its mean over the sets. "Seen": the observed graph has the candidate, in some fact,
 *   at its end of every positive atom of the reading in force. f1_matched keeps only the seen ones
 * of the correct candidates, all the wrong ones, and drops a set that has no correct one left.
 *   auc_matched pools those candidates over all sets: the share of (correct, wrong) pairs in
 *   which the correct one has the larger p (score, without a calibrator), a tie counting one half.
 *   recall_seen, recall_unseen, wrong_accepted are shares of all candidates of their kind.
 *
 *   QAR: positives are the queries labelled e or h.
 *     recall    = correctly answered positives / positives
 *     precision = correctly answered positives / (those + answers given to "n" queries)
 *     f1_paper counts a wrong tuple for a positive query against precision too;
 *     f1_verified is f1 with answers judged by the verifier on the truth graph, where an answer
 *     to an "n" query is a mistake only if the verifier rejects it. */
#ifndef ACQ_EVAL_METRICS_H
#define ACQ_EVAL_METRICS_H

#include "base/types.h" /* acq_qac_metrics, acq_qar_metrics, acq_times */

/* The decisions on one candidate set. */
typedef struct acq_qac_counts {
    uint32_t correct, correct_yes; /* correct candidates, and how many of them got a yes */
    uint32_t seen, seen_yes;       /* the correct ones that pass the seen-test */
    uint32_t wrong, wrong_yes;
} acq_qac_counts;

/* One matched candidate for the area under the curve. */
typedef struct acq_scored {
    double score;
    bool is_correct;
} acq_scored;

double acq_metrics_f1(uint64_t true_yes, uint64_t false_yes, uint64_t false_no); /* 0 to 1 */

void acq_metrics_measure_qac(const acq_qac_counts *sets, size_t n, acq_qac_metrics *out);

/* The same sets as the answerer that always says yes decides them. */
acq_qac_counts acq_metrics_get_always_yes(acq_qac_counts set);

/* Area under the ROC curve as a percentage; sorts items. NAN unless both kinds are there. */
double acq_metrics_measure_auc(acq_scored *items, size_t n);

typedef enum acq_qar_verdict {
    ACQ_QAR_NONE,  /* no answer given */
    ACQ_QAR_RIGHT, /* a tuple that is an answer */
    ACQ_QAR_WRONG, /* a tuple that is not, as far as the judge can tell */
} acq_qar_verdict;

typedef struct acq_qar_item {
    char type;                /* 'e', 'h' or 'n' */
    acq_qar_verdict listed;   /* judged by the file's answer list */
    acq_qar_verdict verified; /* judged on the truth graph */
} acq_qar_item;

void acq_metrics_measure_qar(const acq_qar_item *items, size_t n, acq_qar_metrics *out);

/* Sorts values. All NAN when n is 0. */
void acq_metrics_measure_times(double *values, size_t n, acq_times *out);

#endif
