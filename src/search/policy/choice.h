/* choice.h - from logits to a value: a clipped softmax over classes, weighted by their sizes.
 *
 *   o'(c) = max(o(c) - max over the term of o, -100)    p(value in c) = exp o'(c) / sum size exp o'
 *
 * In double: exp(-100) is no normal float. Every value keeps at least e^-100 / |D|. */
#ifndef ACQ_SEARCH_POLICY_CHOICE_H
#define ACQ_SEARCH_POLICY_CHOICE_H

#include "search/policy/walk.h"

/* Probability of one member of each class, by class number; the sum of size * p over the classes
 * of a term is 1. logits are those of the walk's rows. totals has room for the terms. */
void acq_choice_get_probabilities(const acq_walk *walk, const float *logits, double *p,
                                  double *totals);

/* Draws every free term from p: a class, then a member. Random numbers depend on (seed, stream,
 * step, term) alone. chosen gets the class of each free term; room is for n_terms doubles. */
void acq_choice_draw(const acq_walk *walk, const double *p, uint64_t seed, uint64_t stream,
                     uint64_t step, acq_ent *values, uint32_t *chosen, double *room);

/* dlogits of weight * sum over free terms of log(p(chosen) + floor), added to dlogits; room is for
 * 3 n_terms doubles. */
void acq_choice_backward(const acq_walk *walk, const float *logits, const double *p,
                         const uint32_t *chosen, double floor, double weight, double *room,
                         float *dlogits);

/* sum over free terms of log(p(chosen) + floor). */
double acq_choice_get_log(const acq_walk *walk, const double *p, const uint32_t *chosen,
                          double floor);

#endif
