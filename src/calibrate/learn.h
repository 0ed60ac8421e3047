/* learn.h - candidates of a graph that facts were held out of, and the link trees that learn from
 * them which candidates were held out.
 *
 * One or several samples: facts are held out of a graph, candidates of the rest collected with
 * their features, the label is whether a candidate was held out. Samples of the same graph are
 * put together. All likely candidates are kept and a share of the others, weighted up. */
#ifndef ACQ_CALIBRATE_LEARN_H
#define ACQ_CALIBRATE_LEARN_H

#include "calibrate/calibrator.h"
#include "calibrate/candidates.h"
#include "graph/graph.h"
#include "predict/predictor.h"

/* ---- split ----
 *
 * A graph without the links that calibrators learn from.
 *
 * The rest has the ids of the whole: the same entities and relations, fewer facts. */

typedef enum acq_hold {
    ACQ_HOLD_LINKS,
    ACQ_HOLD_PAIRS, /* only links of entities that no other link joins then */
    ACQ_HOLD_AUTO   /* for the caller to choose by acq_split_choose_hold */
} acq_hold;

/* Pairs where at least a quarter of the facts join two entities that a fact of another relation
 * joins too: so many facts say another one again that a calibrator would learn mostly from those,
 * which are easy, and state too low what joins two entities for the first time. Facts that only
 * come both ways do not count: they are held out together. */
acq_status acq_split_choose_hold(const acq_graph *graph, acq_hold *out, acq_error *error);

typedef struct acq_split_params {
    double share; /* of the facts */
    acq_hold hold;
    uint64_t seed;
    unsigned fold, n_folds; /* several samples that share as little as they can; 0, 0: one */
} acq_split_params;

/* The facts of `whole` that `earlier` has too (by name). */
acq_status acq_split_by_earlier(const acq_graph *whole, const acq_graph *earlier, acq_graph **out,
                                acq_error *error);

/* Without a share of the facts, drawn by their hash. As every entity of a graph has facts, those of
 * the rest must: a drawn fact stays when all facts of one of its ends are drawn. Pairs: also when
 * another one links the same two entities and stays. Where (nearly) all facts of a relation come
 * both ways, r(a, b) and r(b, a), the two go together: what the graph lacks of such a relation it
 * lacks in pairs, else there were single ones. So many are drawn that the share goes, if it
 * can. A graph whose rest would be empty is refused, and one that nothing can be held out of. */
acq_status acq_split_by_share(const acq_graph *whole, const acq_split_params *params,
                              acq_graph **out, acq_error *error);

/* ---- learn ---- */

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
    uint32_t n_trees;   /* without a prior; 0: 120 */
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
 * candidates. Where a prior is sure, it stands unless the labels of the relation speak against it.
 * table and quality (one for each pair) may be NULL: how true p is on the graphs that
 * were collected, by trees that had not learnt from the candidate. */
/* The sample's `missing` becomes less where the surest candidates were held out more often than
 * it leaves room for: the graph lacks less then. */
acq_status acq_link_sample_fit(acq_link_sample *sample, acq_fold_trees *out,
                               acq_boost_shift *shifts, acq_reliability *table,
                               acq_link_quality *quality, acq_error *error);

/* From the shifts of a rest to those of the whole graph, where fewer candidates are true: it lacks
 * `missing` times as many facts as were held out. n: pairs of relations. */
void acq_link_shifts_move(acq_boost_shift *shifts, uint32_t n, double missing);

/* How many candidates of a pair of relations are true in the whole graph, by what was held out of
 * it: p of all candidates adds up to that. */
typedef struct acq_link_due {
    double n, variance;
} acq_link_due;

/* One for each pair. */
void acq_link_sample_get_dues(const acq_link_sample *sample, acq_link_due *out);

/* Moves the learnt odds towards sums of p that are what is due. whole: candidates of the whole
 * graph, whatever their labels. shifts: those of the whole graph. */
acq_status acq_link_shifts_balance(const acq_link_sample *whole, const acq_link_due *dues,
                                   const acq_boost *trees, acq_boost_shift *shifts,
                                   acq_error *error);

#endif
