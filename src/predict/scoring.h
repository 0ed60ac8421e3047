/* scoring.h - thresholds, said once: how link scores become literal scores. Only the meaning is
 * here; the search and the verifier each implement it, so that one can check the other.
 *
 *   s(link)  = score, or with binarize B: 1 if score >= B else 0
 *   s(atom)  = s(link);  s(x = y) = 1 or 0
 *   s(!atom) = 1 - s(link), or with negation_threshold N: 1 if s(link) < N else 0
 *   and = min, or = max, exists = max over all entities; an answer has score >= threshold. */
#ifndef ACQ_PREDICT_SCORING_H
#define ACQ_PREDICT_SCORING_H

typedef struct acq_scoring {
    double threshold;          /* least score of an answer */
    double binarize;           /* 0: off */
    double negation_threshold; /* negative: off */
} acq_scoring;

#define ACQ_SCORING_DEFAULT                                                                        \
    ((acq_scoring){.threshold = 0.5, .binarize = 0.0, .negation_threshold = -1.0})

#endif
