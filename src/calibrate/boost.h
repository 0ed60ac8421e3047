/* boost.h - boosted regression trees with the logistic loss: features in, log-odds out.
 *
 * Features are cut into at most 255 bins by their quantiles; a missing one (NaN) has a bin of its
 * own and goes to whichever side fits better. Trees grow level by level from histograms of the
 * loss's first and second derivatives. A monotone feature can only raise (or lower) the odds, in
 * every tree. The same input and seed give the same trees at any number of threads. */
#ifndef ACQ_CALIBRATE_BOOST_H
#define ACQ_CALIBRATE_BOOST_H

#include "base/memory.h"
#include "base/types.h"
#include "tensor/safetensors.h"

typedef struct acq_boost acq_boost;

typedef struct acq_boost_params {
    uint32_t n_trees;
    uint32_t depth;         /* at most 8 */
    double rate;            /* what a tree counts */
    double l2;              /* added to the second derivatives */
    double least_hessian;   /* of a leaf */
    double row_share;       /* of the rows, drawn anew for each tree; 1: all */
    const int8_t *monotone; /* one per feature: 1 rises, -1 falls, 0 free; NULL: all free */
    double missing;         /* see below; 0: labels are the truth */
    const acq_boost *prior; /* trees to start from, of as many features, without a curve; the result
                               is these and what was learnt besides. NULL: none */
    uint32_t n_bags;        /* the mean of so many boosts, each with a seed of its own; 0: 1 */
    uint64_t seed;
    unsigned n_threads;
    double seconds; /* most, then there are fewer trees; 0: no limit */
} acq_boost_params;

#define ACQ_BOOST_DEFAULT                                                                          \
    ((acq_boost_params){.n_trees = 200,                                                            \
                        .depth = 5,                                                                \
                        .rate = .1,                                                                \
                        .l2 = 1,                                                                   \
                        .least_hessian = 5,                                                        \
                        .row_share = .7,                                                           \
                        .seed = 1})

enum { ACQ_BOOST_LEAST_TREES = 8 }; /* whatever the time */

/* Rows to learn from; borrowed. */
typedef struct acq_boost_data {
    const float *x;        /* n rows of n_features; finite, or NaN: missing */
    const uint8_t *labels; /* 0 or 1 */
    const float *weights;  /* NULL: all 1 */
    size_t n;
    uint32_t n_features;
    const float *offsets; /* log-odds that are known beside the trees', one per row; NULL: none */
} acq_boost_data;

/* Labels that know only a part of what is true: a row is labelled 1 when it was held out, but some
 * of the others are true as well, facts that the graph lacked before. If it lacked `missing` times
 * as many as were held out, of rows that are true with probability p the share p / (1 + missing)
 * is labelled 1. Trees and curve are fitted so that they state p. */
static inline double acq_boost_get_label_share(double missing, double p)
{
    return p / (1 + missing);
}

/* With one label only, or no rows, the trees say that label's smoothed share and nothing else; with
 * a prior, what it says. */
acq_status acq_boost_fit(const acq_boost_data *data, const acq_boost_params *params,
                         acq_boost **out, acq_error *error);
void acq_boost_free(acq_boost *boost); /* NULL is legal */

/* The same trees for rows whose column map[i] holds what their column i did; no curve. */
acq_status acq_boost_copy_mapped(const acq_boost *boost, const uint32_t *map, uint32_t n_features,
                                 acq_boost **out, acq_error *error);

/* Puts a rising curve after the trees that makes their odds honest. log_odds: of data's rows, by
 * trees with the same options that have not seen them (another fold). */
void acq_boost_straighten(acq_boost *boost, const float *log_odds, const acq_boost_data *data,
                          double missing);

uint32_t acq_boost_get_n_features(const acq_boost *boost);
uint32_t acq_boost_get_n_trees(const acq_boost *boost);

/* Log-odds of one row. Shared between threads. */
double acq_boost_score(const acq_boost *boost, const float *x);
/* The same for n rows, faster; the same bits. */
void acq_boost_score_many(const acq_boost *boost, const float *x, size_t n, float *out);

/* By the prior alone, for rows that it is sure of: log-odds of ACQ_BOOST_SURE or more. -INFINITY:
 * there was none, or it is less sure. */
#define ACQ_BOOST_SURE 3.0F
double acq_boost_score_given(const acq_boost *boost, const float *x);

/* What a group of rows adds to the log-odds of the trees, and to those of a sure prior. The larger
 * sum counts: the labels of one graph can hardly tell p = 0.95 from p = 1, since some of what is
 * true has no label, so a prior that knows better stands unless labels speak against it. */
typedef struct acq_boost_shift {
    float learnt, given;
} acq_boost_shift;

#define ACQ_BOOST_NOT_GIVEN (-100.0F) /* the prior does not stand */

typedef struct acq_boost_judge {
    const acq_boost *trees;
    acq_boost_shift shift;
} acq_boost_judge;

void acq_boost_judge_many(acq_boost_judge judge, const float *x, size_t n, float *out);
double acq_boost_judge_one(acq_boost_judge judge, const float *x);

static inline double acq_boost_to_probability(double log_odds)
{
    return 1.0 / (1.0 + __builtin_exp(-log_odds));
}

/* As tensors "<prefix>.…" of a safetensors file with others beside them. Reading checks every
 * index, so that a damaged file can give wrong odds but never a wrong access. */
size_t acq_boost_get_n_shapes(void);
/* Names are in the arena; the only error is ACQ_ERR_MEMORY. */
acq_status acq_boost_get_shapes(const acq_boost *boost, const char *prefix, acq_arena *arena,
                                acq_shape *out);
/* tensors: those of the shapes, laid out in the block `values`. */
void acq_boost_store(const acq_boost *boost, const acq_tensor *tensors, float *values);
acq_status acq_boost_load(const acq_safetensors *file, const char *prefix, acq_boost **out,
                          acq_error *error);

/* ---- trees of two folds and of all rows, with curves ----
 *
 * folds[0] and folds[1] have learnt their own fold only, so each can score the other's rows. What
 * these scores turn out to be worth bends the odds of all three (acq_boost_straighten). No trees
 * are bent by rows that they score: the curve of folds[0] comes from how folds[1] does on fold 0.
 */

typedef struct acq_fold_trees {
    acq_boost *folds[2];
    acq_boost *all;
} acq_fold_trees;

void acq_fold_trees_deinit(acq_fold_trees *trees);

/* folds: 0 or 1 for each row. report may be NULL; false stops with ACQ_ERR_INTERRUPTED. */
acq_status acq_fold_trees_fit(const acq_boost_data *data, const uint8_t *folds,
                              const acq_boost_params *params,
                              bool (*report)(void *context, int step, int steps), void *context,
                              acq_fold_trees *out, acq_error *error);

/* p of a row by trees that have not learnt its fold. */
double acq_fold_trees_judge(const acq_fold_trees *trees, unsigned fold, const float *x);

/* The rows of one fold, side by side. */
typedef struct acq_fold_rows {
    float *x, *weights, *odds;
    uint8_t *labels;
    size_t n;
} acq_fold_rows;

/* Every `step`-th row of data is looked at. odds: of all rows, may be NULL. Call deinit whatever
 * the status. */
acq_status acq_fold_rows_init(acq_fold_rows *rows, const acq_boost_data *data, const uint8_t *folds,
                              unsigned fold, size_t step, const float *odds);
void acq_fold_rows_deinit(acq_fold_rows *rows);
acq_boost_data acq_fold_rows_view(const acq_fold_rows *rows, uint32_t n_features);

#endif
