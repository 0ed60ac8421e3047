/* parts.h - what the log-odds of a link were made of.
 *
 * The features of a link (candidates.h) fall into parts: the rules that conclude it, what each
 * model says of it, how many facts of the relation its head has, and its tail. The weight of a part
 * is
 *
 *   odds of the link - odds of the same link without the part,
 *
 * by the trees that gave the link its p. Without rules: no rule fires. Without a model: the model
 * says what it says of the candidate of the same row that it likes least. Without facts: the head
 * (the tail) was never seen with the relation. Weights need not add up, since trees look at parts
 * together. */
#ifndef ACQ_CALIBRATE_PARTS_H
#define ACQ_CALIBRATE_PARTS_H

#include "calibrate/boost.h"
#include "calibrate/candidates.h"

/* Where each part stands; behind them one per model. */
enum { ACQ_PART_RULES, ACQ_PART_HEAD, ACQ_PART_TAIL, ACQ_PART_MODELS };
enum { ACQ_MOST_PARTS = ACQ_PART_MODELS + ACQ_CANDIDATES_MODELS };

typedef struct acq_link_parts {
    size_t n; /* weights; 0: nothing is known of the link */
    float weights[ACQ_MOST_PARTS];
    /* By each model, from 1: place of the tail among the unobserved tails of (head, relation), and
     * of the head among those of (tail, inverse). 0: not asked. */
    uint32_t ranks[ACQ_CANDIDATES_MODELS], back_ranks[ACQ_CANDIDATES_MODELS];
} acq_link_parts;

/* The same link seen from its tail. */
void acq_link_parts_turn(acq_link_parts *parts);

/* Measures links of one list of candidates, which must be all of their rows. */
typedef struct acq_part_meter acq_part_meter;
acq_status acq_part_meter_new(const acq_candidates_maker *maker, const acq_candidates *found,
                              acq_part_meter **out, acq_error *error);
void acq_part_meter_free(acq_part_meter *meter); /* NULL is legal */

/* Features of candidate i without one of its parts, into x. */
void acq_part_meter_leave_out(const acq_part_meter *meter, size_t i, size_t part, float *x);

/* The parts of candidate i, in the direction of found->relation. Shared between threads. */
void acq_part_meter_measure(const acq_part_meter *meter, const acq_boost *trees, size_t i,
                            acq_link_parts *out);

#endif
