/* scoring.h - thresholds, said once: how link scores become literal scores. Only the meaning is
 * here; the search and the verifier each implement it, so that one can check the other.
 *
 *   s(link)  = score, or with binarize B: 1 if score >= B else 0
 *   s(atom)  = s(link);  s(x = y) = 1 or 0
 *   s(!atom) = 1 - s(link) as a float, or with negation_threshold N: 1 if s(link) < N else 0
 *   and = min, or = max, exists = max over all entities; an answer has score >= threshold. */
#ifndef ACQ_PREDICT_SCORING_H
#define ACQ_PREDICT_SCORING_H

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

#endif
