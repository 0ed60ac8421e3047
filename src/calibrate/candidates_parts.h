/* candidates_parts.h - inside candidates: what one row gives, before the two sides are joined.
 *
 *   scores of a row ──▶ summary (log-sum-exp, observed mean, best unobserved)
 *                   └─▶ candidates, each with half a feature vector: rules, then each model's part
 */
#ifndef ACQ_CALIBRATE_CANDIDATES_PARTS_H
#define ACQ_CALIBRATE_CANDIDATES_PARTS_H

#include "calibrate/candidates.h"

/* Of the link itself: name, monotone. A side that was never seen counts as one that was seen once,
 * and `seen` can only raise the odds. */
#define ACQ_LINK_FEATURES(X)                                                                       \
    X(links, 0)          /* log of the relation's links */                                         \
    X(tails_per_head, 0) /* logs of means */                                                       \
    X(heads_per_tail, 0)                                                                           \
    X(tails, 0)     /* log of the observed tails of (head, relation) */                            \
    X(heads, 1)     /* log of the observed heads of (relation, tail) */                            \
    X(head_seen, 1) /* with the relation */                                                        \
    X(tail_seen, 1)                                                                                \
    X(head_degree, 0) /* logs */                                                                   \
    X(tail_degree, 0)

/* Of the rules that propose it. Not monotone: where a sure rule fires and the link is not there,
 * the link is likely an exception. */
#define ACQ_RULE_FEATURES(X)                                                                       \
    X(one_hop, 0)                                                                                  \
    X(two_hop, 0)                                                                                  \
    X(noisy_or, 0)                                                                                 \
    X(fired, 0)

/* Of one model's row. */
#define ACQ_ROW_FEATURES(X)                                                                        \
    X(score, 0)    /* raw */                                                                       \
    X(mass, 0)     /* log of its softmax */                                                        \
    X(expected, 0) /* the same times (observed tails + 1) */                                       \
    X(rank, 0)     /* log(1 + unobserved tails before it) */                                       \
    X(to_mean, 0)  /* score less the observed tails' mean */                                       \
    X(to_best, 0)  /* score less the best unobserved one's */                                      \
    X(beats, 0)    /* share of the observed tails that score less */

/* How many tails are usual, after the rows. `due`: log of how many tails this head probably lacks,
 * from how many it has and how many others have; a head that has the one tail of its kind lacks
 * none. `fits`: how usual the relation is with entities like this one. See candidates_usual.c. */
#define ACQ_USUAL_FEATURES(X)                                                                      \
    X(head_due, 0)                                                                                 \
    X(tail_due, 0)                                                                                 \
    X(head_fits, 0)                                                                                \
    X(tail_fits, 0)

/* Then, for the rules and for each model, of both rows (`due`): log of the tail's share of what is
 * proposed and not observed there, times what the head lacks. Were the share a probability, this
 * would be the link's.
 *
 * Trees learn in a rest, where there are more heads without a tail and more true candidates than in
 * the whole graph. Counts, confidences and shares are what they would be without held-out facts;
 * the last feature (`moved`) is what the rest means for the log-odds, by what candidates_usual.c
 * counts, and is added to those of the trees. It is 0 in a rest. `rest` is 1 everywhere: a prior
 * (quick.h) has met worlds with 1 and with 0, but what it makes of a 0 holds in those only. */

enum {
#define ACQ_FEATURE_ID(name, monotone) ACQ_USUAL_##name,
    ACQ_USUAL_FEATURES(ACQ_FEATURE_ID)
#undef ACQ_FEATURE_ID
        ACQ_N_USUAL_FEATURES
};

enum {
#define ACQ_FEATURE_ID(name, monotone) ACQ_LINK_##name,
    ACQ_LINK_FEATURES(ACQ_FEATURE_ID)
#undef ACQ_FEATURE_ID
        ACQ_N_LINK_FEATURES
};

enum {
#define ACQ_FEATURE_ID(name, monotone) ACQ_RULE_##name,
    ACQ_RULE_FEATURES(ACQ_FEATURE_ID)
#undef ACQ_FEATURE_ID
        ACQ_N_RULE_FEATURES
};

enum {
#define ACQ_FEATURE_ID(name, monotone) ACQ_ROW_##name,
    ACQ_ROW_FEATURES(ACQ_FEATURE_ID)
#undef ACQ_FEATURE_ID
        ACQ_N_ROW_FEATURES
};

/* ---- what is usual (candidates_usual.c) ---- */

typedef struct acq_usual acq_usual;

/* Of a maker whose links are open; borrowed. */
acq_status acq_usual_new(const acq_candidates_maker *maker, acq_usual **out, acq_error *error);
void acq_usual_free(acq_usual *usual); /* NULL is legal */

/* NaN: not known. */
float acq_usual_get_due(const acq_usual *usual, acq_rel relation, acq_ent entity);
float acq_usual_get_fit(const acq_usual *usual, acq_rel relation, acq_ent entity);
/* What holding out did to one side of a candidate, as a log; 0 where none was. */
float acq_usual_get_moved(const acq_usual *usual, acq_rel relation, acq_ent entity);

struct acq_candidates_maker {
    acq_candidates_params params;
    const acq_graph *graph;
    uint32_t n_entities, n_relations;
    const acq_links **links;            /* by relation id */
    const acq_links **counted;          /* the same, or of params.counted */
    float *degrees;                     /* log(1 + links of an entity) */
    float grown[ACQ_CANDIDATES_MODELS]; /* what a score would be more by with the held-out facts */
    acq_usual *usual;
    uint32_t n_features;
    char **names;
    int8_t *monotone;
};

/* What so many facts would be if none were held out. A small number is a kind of its own. */
float acq_candidates_grow(const acq_candidates_maker *maker, float n);

/* What a model says about a row as a whole. */
typedef struct acq_row_summary {
    float log_sum;  /* of exp(score) over all tails */
    float observed; /* mean score of the observed tails; NaN: none */
    float best;     /* score of the best unobserved tail */
    float last;     /* log(1 + candidates by this model): the rank of any other tail, at least */
    float open;     /* log_sum over the tails that are not observed */
} acq_row_summary;

/* Candidates of some rows, by head and then by tail; `half` has acq_found_get_width floats each. */
typedef struct acq_found {
    size_t n, capacity, half_capacity;
    acq_ent *heads, *tails;
    size_t heads_capacity, tails_capacity;
    float *half;
} acq_found;

/* The side with fewer entities. */
static inline acq_rel acq_candidates_find_smaller(const acq_candidates_maker *maker,
                                                  acq_rel relation)
{
    acq_rel even = relation & ~1U;
    return maker->links[even]->n_heads <= maker->links[acq_inverse(even)]->n_heads
               ? even
               : acq_inverse(even);
}

/* Is the model not asked for rows of this relation? */
static inline bool acq_candidates_skips(const acq_candidates_maker *maker, size_t m,
                                        acq_rel relation)
{
    return maker->params.rows == ACQ_ROWS_BOTH && !maker->params.is_thorough &&
           maker->params.models[m]->is_costly &&
           acq_candidates_find_smaller(maker, relation) != relation;
}

/* Where the logs of shares begin in half a feature vector: of the rules, then of each model. */
static inline size_t acq_found_get_shares(const acq_candidates_maker *maker)
{
    return ACQ_N_RULE_FEATURES + maker->params.n_models * ACQ_N_ROW_FEATURES;
}

static inline size_t acq_found_get_width(const acq_candidates_maker *maker)
{
    return ACQ_N_RULE_FEATURES + maker->params.n_models * (ACQ_N_ROW_FEATURES + 1) + 1;
}

void acq_found_deinit(acq_found *found);

/* What a thread works with. */
typedef struct acq_row_worker acq_row_worker;
acq_status acq_row_worker_new(const acq_candidates_maker *maker, acq_row_worker **out,
                              acq_error *error);
void acq_row_worker_free(acq_row_worker *worker);
size_t acq_row_worker_get_batch(const acq_candidates_maker *maker);

/* Scores n rows of one relation and appends their candidates to `found`; summaries has n times
 * n_models entries. n is at most the batch. */
acq_status acq_row_worker_run(acq_row_worker *worker, const acq_row_want *want, acq_found *found,
                              acq_row_summary *summaries, acq_error *error);

/* A head whose row may propose a tail, and how strongly what was found says so. */
typedef struct acq_promise {
    acq_ent head;
    float value;
} acq_promise;

/* By the rules, and by what is like the tail's heads. *out is the caller's, in no order. */
acq_status acq_row_worker_find_heads(acq_row_worker *worker, acq_rel relation, acq_ent tail,
                                     acq_promise **out, size_t *n, acq_error *error);

#endif
