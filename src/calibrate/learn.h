/* learn.h - candidates of a graph that facts were held out of, and the link trees that learn from
 * them which candidates were held out.
 *
 * One or several samples: facts are held out of a graph, candidates of the rest collected with
 * their features, the label is whether a candidate was held out. Samples of the same graph are
 * put together. All likely candidates are kept and a share of the others, weighted up. */
#ifndef ACQ_CALIBRATE_LEARN_H
#define ACQ_CALIBRATE_LEARN_H

#include "calibrate/candidates.h"
#include "calibrate/reliability.h"
#include "predict/predictor.h"

/* What the trees are worth on one pair of relations, by trees that had not seen the candidates. */
typedef struct acq_link_quality {
    uint64_t held;      /* held out, all samples together */
    double said, right; /* candidates of one graph with p >= 0.5, and about how many are true */
} acq_link_quality;

typedef struct acq_link_sample acq_link_sample;

typedef struct acq_learn_params {
    double missing;     /* facts that a graph lacks, over those held out of it (boost.h), at most */
    double rows;        /* about so many candidates are kept besides the likely ones */
    unsigned n_samples; /* how many will be collected */
    uint32_t n_bags;    /* boosts whose mean is taken; 0: 1 */
    const acq_boost *prior; /* what is known of links elsewhere, to start from; NULL: nothing */
    uint64_t seed;
    unsigned n_threads;
    bool (*report)(void *context, const char *phase, double done, double total); /* or NULL */
    void *context;
} acq_learn_params;

/* maker: whose features; those of all samples must be the same. params are copied. */
acq_status acq_link_sample_new(const acq_candidates_maker *maker, uint32_t n_relations,
                               const acq_learn_params *params, acq_link_sample **out,
                               acq_error *error);
void acq_link_sample_free(acq_link_sample *sample); /* NULL is legal */

/* Adds the candidates of the maker's graph; truth: 1 for links that hold, in its ids; held: how
 * many it lacks. */
acq_status acq_link_sample_collect(acq_link_sample *sample, const acq_candidates_maker *maker,
                                   const acq_predictor *truth, acq_error *error);

/* The candidates that were kept, and their folds; borrowed. */
acq_boost_data acq_link_sample_get_data(const acq_link_sample *sample, const uint8_t **folds);

const int8_t *acq_link_sample_get_monotone(const acq_link_sample *sample); /* see candidates.h */

uint64_t acq_link_sample_count(const acq_link_sample *sample);      /* candidates met */
uint64_t acq_link_sample_count_true(const acq_link_sample *sample); /* held out among them */

/* What fitting may take; 0: no limit. How many trees there are without one. */
void acq_link_sample_set_seconds(acq_link_sample *sample, double seconds);
uint32_t acq_link_sample_count_trees(const acq_link_sample *sample);

double acq_link_sample_get_missing(const acq_link_sample *sample);

/* Which of the two folds of the trees a pair of entities belongs to: 0 or 1, the same in both
 * directions. */
unsigned acq_link_sample_get_fold(acq_ent head, acq_ent tail);

/* Trees of two folds and of all, and for each pair of relations what is added to their log-odds
 * (shifts: room for n_relations / 2): relations differ in ways that trees learn only from many
 * candidates. table and quality (one for each pair) may be NULL: how true p is on the graphs that
 * were collected, by trees that had not learnt from the candidate. */
/* The sample's `missing` becomes less where the surest candidates were held out more often than
 * it leaves room for: the graph lacks less then. */
acq_status acq_link_sample_fit(acq_link_sample *sample, acq_fold_trees *out, float *shifts,
                               acq_reliability *table, acq_link_quality *quality, acq_error *error);

/* From the shifts of a rest to those of the whole graph, where fewer candidates are true. */
void acq_link_sample_move(const acq_link_sample *sample, float *shifts);

#endif
