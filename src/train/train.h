/* train.h - the six trainings: ComplEx, NBFNet, GNN-QE, ULTRA, rules and the policy network.
 *
 * One loop runs them all (trainer.h); what each adds stands in its own file. What they share: the
 * same seed gives the same bits at any number of threads when no time limit shapes the schedule;
 * a loss or a gradient that is not finite is an error; progress that returns false stops a training
 * with ACQ_ERR_INTERRUPTED after its checkpoint is written, and `resume` goes on from there as if
 * it had never stopped. A checkpoint of other options or other graphs is refused.
 *
 * With `ranks` several processes train one model. They share out each batch: what one of them made
 * of its part all get, and add up in the order of one process, so NBFNet, GNN-QE, ULTRA and the
 * policy have its bits. Of ComplEx each has some components of all vectors, and scores are added
 * up: another order of sums, so the bits are those of one process only nearly. A checkpoint does
 * not depend on how many they were. */
#ifndef ACQ_TRAIN_TRAIN_H
#define ACQ_TRAIN_TRAIN_H

#include "base/types.h"
#include "models/complex/model.h"
#include "models/nbfnet/nbfnet.h"
#include "models/rulebook/rulebook.h"
#include "models/ultra/ultra.h"
#include "query/sample/sampler.h"
#include "search/policy/model.h"
#include "tensor/parameters.h"

/* what a training went through, as CSV and as a picture. */

typedef struct acq_curve_point {
    uint64_t seed, batch, episodes;
    double seconds;
    double solved; /* share of the episodes since the point before, 0 to 1 */
    double reward; /* their mean reward */
    double steps;  /* their mean number of steps */
    double loss, norm, rate;
    double hub_solved;  /* of hub-like queries; NAN: none yet */
    double held_solved; /* search success on generated queries kept aside; NAN: not measured here */
} acq_curve_point;

typedef struct acq_curve {
    acq_curve_point *points;
    size_t n, capacity;
} acq_curve;

void acq_curve_deinit(acq_curve *curve);
acq_status acq_curve_add(acq_curve *curve, const acq_curve_point *point);

/* One line per point, a header line first; NAN is an empty field. */
acq_status acq_curve_write_csv(const acq_curve *curve, const char *path, acq_error *error);
/* Does the file begin as write_csv begins one? */
bool acq_curve_is_one(const char *path);
/* Reads back what write_csv wrote, for --resume. */
acq_status acq_curve_read_csv(acq_curve *curve, const char *path, acq_error *error);
/* Solved rates against episodes, one line per seed, readable without colours; text as text. */
acq_status acq_curve_write_svg(const acq_curve *curve, const char *title, const char *path,
                               acq_error *error);

typedef struct acq_train_progress {
    const char *phase;
    double done, total; /* epochs, or batches: what the trainer counts in */
    double loss;        /* smoothed */
    double seconds;     /* since the start, resumed runs included */
    const char *text;   /* more for people, in place of the numbers; NULL: none */
} acq_train_progress;

typedef bool (*acq_train_progress_fn)(void *context, const acq_train_progress *now);

/* Of ComplEx's large products: bfloat16 where the processor has it, or one of the two anywhere. */
typedef enum acq_precision {
    ACQ_PRECISION_AUTO,
    ACQ_PRECISION_F32,
    ACQ_PRECISION_BF16
} acq_precision;

/* ComplEx: cross-entropy of tails, heads and relations, N3, Adagrad.
 *
 * Rows with the same (head, relation) are one row with several true tails, whose losses are summed:
 * the same loss as one row per fact, with fewer products. Both directions of a fact are rows, so
 * heads are predicted as tails of the inverse. The loss of relations is a softmax over all directed
 * relations, given head and tail; N3 is that of head, relation and tail of each fact.
 *
 * `buckets` > 1: entities lie in so many buckets, entity e in number e mod buckets. Two of them are
 * in memory at a time, with Adagrad's sums, and all facts between them are learnt, with a softmax
 * over the entities of both; facts within a bucket are shared out over its pairs. The others are on
 * disk, as the model is that comes out. Pairs follow each other so that one bucket stays: (0,1)
 * (0,2) ... (0,n-1) (1,n-1) ... (1,2) (2,3) ..., in every other epoch backwards. A checkpoint has
 * all vectors. `half_buckets`: those of entities on the disk are of bfloat16, with their sums.
 *
 * `candidates` > 0: a batch has rows of one relation, or of few, and its softmax runs over their
 * true tails and so many other entities: three quarters drawn among the tails of the relation,
 * the rest among all others, each with the weight that makes the sum unbiased. 0: over all. */
typedef struct acq_train_complex_params {
    uint32_t rank;
    acq_precision precision;
    double rate;            /* Adagrad's, for the first half */
    double last_rate;       /* share of it at the end: linear in the second half; 1: constant */
    uint32_t batch;         /* rows */
    uint32_t candidates;    /* 0: all entities; else at least 2 */
    double n3;              /* weight of the N3 norm */
    double relation_weight; /* of the loss of relations; negative: .3 where entities have 10 facts
                               or more on average, both directions counted, else 0 */
    double scale;           /* of the initial values */
    bool reciprocal;        /* inverse relations have vectors of their own */
    uint32_t buckets;       /* of entities; 0 or 1: all vectors are in memory */
    bool half_buckets;      /* on the disk of bfloat16 */
    double epochs;
    double seconds;   /* most; 0: no limit. Epochs then shrink: the schedule follows the time */
    int64_t begin_ns; /* when these seconds began (acq_clock_ns); 0: with the training */
    uint64_t seed;
    unsigned n_threads;
    /* Start from these vectors, of this graph or a smaller one; NULL: from random ones. The first
     * of the epochs then only prepares Adagrad, so two or three are the least that helps. */
    const acq_complex *warm;
    const char *checkpoint; /* path; NULL: none */
    double checkpoint_seconds;
    bool resume;
    acq_train_progress_fn progress;
    void *context;
    const acq_ranks *ranks; /* each trains some components of all vectors; NULL: none */
} acq_train_complex_params;

void acq_train_complex_params_init(acq_train_complex_params *params);

/* Whether large products are of bfloat16 on this processor. */
bool acq_train_complex_is_half(const acq_train_complex_params *params);

acq_status acq_train_complex(const acq_graph *graph, const acq_train_complex_params *params,
                             acq_complex **out, acq_error *error);

/* How many buckets keep a training within so many bytes of memory; 1: none are needed. */
uint32_t acq_train_complex_count_buckets(const acq_graph *graph, uint32_t rank, uint64_t bytes);

/* NBFNet on one-hop queries of one graph.
 *
 * A query is drawn as a fact in one of its two directions: (head, relation), and every tail of that
 * row is hidden with the chance `edge_dropout`, that of the fact always (at most
 * ACQ_NBFNET_MOST_POSITIVES of them). The hidden tails are the positives; their links are taken out
 * of the graph, for all queries of the batch where these share one. Loss: binary cross-entropy,
 * half of it the mean over the positives and half over strict negatives with self-adversarial
 * weights, which are softmax(score / temperature). Adam. A query runs on the entities around its
 * head, or a batch's queries share one sampled subgraph or the whole graph; degrees are always
 * those of the whole graph. */
enum { ACQ_NBFNET_MOST_POSITIVES = 32 };

typedef struct acq_train_nbfnet_params {
    uint32_t batch;
    uint32_t negatives;    /* per query; 0: all nodes that are no tail of it */
    uint32_t most_counted; /* tails of a (head, relation) that count for how often it is drawn; 0:
                            * all, so that facts are drawn alike */
    double temperature;
    double edge_dropout;
    bool drops_pairs;       /* hides all links between the head and a positive */
    uint32_t most_entities; /* of a subgraph; 0: the whole graph */
    uint32_t most_edges;    /* of a subgraph, both directions; 0: no limit */
    uint32_t most_near;     /* neighbours taken of one entity; 0: no limit */
    uint32_t layers;        /* 0: those of warm, or 4 */
    bool sums;              /* messages are summed, not aggregated by PNA; not with warm */
    double visit_nodes;     /* share of the nodes that send in layers after the first, by a learnt
                             * priority; 0: all, or as warm has it */
    double visit_edges;     /* share of the edges that these then walk; 0: all */
    uint32_t most_around;   /* each question on this many entities around its head, as rows that
                             * visit a part of the graph, without subgraphs; 0: not so */
    acq_optimizer_params optimizer;
    uint64_t batches; /* length of the schedule; 0: by time alone */
    double seconds;   /* most; 0: no limit. The schedule then follows it */
    int64_t begin_ns; /* when these seconds began (acq_clock_ns); 0: with the training */
    uint64_t seed;
    unsigned n_threads;
    const acq_nbfnet *warm; /* start from these weights; NULL: from random ones */
    const char *checkpoint; /* path; NULL: none */
    double checkpoint_seconds;
    bool resume;
    acq_train_progress_fn progress;
    void *context;
    const acq_ranks *ranks; /* share out the queries of a batch; NULL: none */
} acq_train_nbfnet_params;

void acq_train_nbfnet_params_init(acq_train_nbfnet_params *params);

acq_status acq_train_nbfnet(const acq_graph *graph, const acq_train_nbfnet_params *params,
                            acq_nbfnet **out, acq_error *error);

/* The same network inside GNN-QE's programs over fuzzy sets (gnnqe.h): small queries with the
 * shapes of BetaE's files, in their shares. edge_dropout is the share of walked edges that are
 * hidden; negatives and drops_pairs are not used. The model is an NBFNet. */
void acq_train_gnnqe_params_init(acq_train_nbfnet_params *params);

acq_status acq_train_gnnqe(const acq_graph *graph, const acq_train_nbfnet_params *params,
                           acq_nbfnet **out, acq_error *error);

/* ULTRA on several graphs, mixed in proportion to their facts.
 *
 * A batch consists of groups: queries of one relation of one graph, which share one sampled
 * subgraph (entities around the heads and tails), from which their own links are removed; the
 * relation graph is that of the whole training graph. Loss: binary cross-entropy of the true tails
 * against strict negatives with self-adversarial weights, AdamW. */
typedef struct acq_train_ultra_params {
    uint32_t batch;         /* queries */
    uint32_t group;         /* queries of one relation and one subgraph; batch is a multiple */
    uint32_t tails;         /* most true tails of a head that one query asks for */
    uint32_t negatives;     /* per query */
    double temperature;     /* of the self-adversarial weights; 0: equal weights */
    uint32_t most_entities; /* of the largest subgraphs; 0: the whole graph */
    uint32_t most_edges;    /* of a subgraph, both directions; 0: no limit */
    uint32_t most_near;     /* neighbours of one entity that a subgraph grows by; 0: no limit */
    acq_optimizer_params optimizer;
    uint64_t batches; /* length of the schedule; 0: by time */
    double seconds;   /* most; 0: no limit */
    int64_t begin_ns; /* when these seconds began (acq_clock_ns); 0: with the training */
    uint64_t seed;
    unsigned n_threads;
    const acq_ultra *warm; /* NULL: initial weights */
    const char *checkpoint;
    double checkpoint_seconds;
    bool resume;
    acq_train_progress_fn progress;
    void *context;
    const acq_ranks *ranks; /* share out the groups of a batch; NULL: none */
} acq_train_ultra_params;

void acq_train_ultra_params_init(acq_train_ultra_params *params);

/* For weights that are trained already, to be tuned to this graph: the whole of it, unless it is
 * very large. The caller sets the time. */
void acq_train_ultra_tune_init(acq_train_ultra_params *params, const acq_graph *graph,
                               const acq_ultra *warm);

acq_status acq_train_ultra(const acq_graph *const *graphs, size_t n_graphs,
                           const acq_train_ultra_params *params, acq_ultra **out, acq_error *error);

/* Rules that predict links by themselves: a batch is a round of their learner. Without --batches it
 * ends when the time is over, or when a round finds hardly anything new. */
typedef struct acq_train_rules_params {
    acq_rulebook_params learn; /* but for seed and threads, which are below */
    uint64_t batches;          /* most; 0: by time alone */
    double seconds;            /* most; 0: no limit */
    int64_t begin_ns;          /* when these seconds began (acq_clock_ns); 0: with the training */
    uint64_t seed;
    unsigned n_threads;
    const char *checkpoint; /* path; NULL: none */
    double checkpoint_seconds;
    bool resume;
    acq_train_progress_fn progress;
    void *context;
} acq_train_rules_params;

void acq_train_rules_params_init(acq_train_rules_params *params);

acq_status acq_train_rules(const acq_graph *graph, const acq_train_rules_params *params,
                           acq_rulebook **out, acq_error *error);

/* The policy network, by REINFORCE on generated queries.
 *
 * A batch is `queries` queries with `rollouts` episodes each. An episode starts from a uniform
 * assignment and takes `steps` steps or until it is solved. Reward of a step: how much it improves
 * on the best score so far (+-score_scale for satisfied or not). Loss: minus the mean over steps of
 * log P(step) times the discounted sum of this and later rewards, less the mean of the other
 * rollouts of the same query (baseline). Adam, gradient clipped, averaged weights.
 *
 * Everything random comes from (seed, batch, query, rollout, step), gradients are summed in the
 * order of the queries. */
typedef struct acq_train_policy_params {
    uint32_t dim;
    bool uses_pe;
    uint64_t seed; /* the first; n_seeds of them in a row */
    uint32_t n_seeds;
    uint32_t queries, rollouts, steps;
    bool baseline; /* leave-one-out over the rollouts */
    double discount;
    double floor;               /* in log(p + floor) */
    double score_scale;         /* 5: a satisfied assignment scores 5, any other -5 */
    const acq_complex *rewards; /* of the one graph: scores are its own, see source.h; NULL: none */
    double reward_shift;        /* taken off these */
    acq_optimizer_params optimizer;
    uint64_t batches; /* length of the schedule; 0: by time alone */
    double seconds;   /* most, for all seeds; 0: no limit. The schedule then follows it */
    int64_t begin_ns; /* when these seconds began (acq_clock_ns); 0: with the training */
    double hub_share; /* of the queries, once small ones are solved */
    double hub_from;  /* share of solved episodes at which hub-like queries begin */
    acq_hub_params hub;
    double check_share; /* of the queries: the first variable has its value, as in classification */
    acq_shape_mix mix;  /* of the small queries */
    bool keeps_last;    /* the last weights judged count, not the best */
    uint32_t held_queries, held_steps; /* hub-like queries that choose the seed, with small ones */
    acq_hub_params held_hub;
    unsigned n_threads;
    const char *checkpoint; /* path: .seedN.checkpoint follows; NULL: none */
    double checkpoint_seconds;
    bool resume;
    void (*progress)(void *context, const acq_curve_point *point);
    bool (*should_stop)(void *context); /* asked between batches; may be NULL */
    void *context;
    const acq_ranks *ranks; /* share out the queries of a batch, and the judging; NULL: none. Seeds
                               train one after the other then */
} acq_train_policy_params;

/* Defaults where they were measured best on two cores; the paper's: d = 128, batches of 4, no
 * baseline, Adam 5e-6 to a tenth over 500,000 batches, small shapes only, no averaging; of its
 * release the mix of shapes. For NELL: batches of one query, episodes of 12 steps, 200,000 batches,
 * a shift of 4. */
void acq_train_policy_params_init(acq_train_policy_params *params);
void acq_train_policy_params_init_paper(acq_train_policy_params *params);
void acq_train_policy_params_init_paper_nell(acq_train_policy_params *params);

typedef struct acq_train_policy_result {
    acq_policy *policy; /* averaged weights of the best seed */
    uint64_t seed;
    double held_solved;         /* of the best */
    double *seeds_held;         /* of each seed */
    uint64_t episodes, batches; /* over all seeds */
    double seconds;             /* earlier runs that were resumed included */
    size_t n_held_hubs; /* hub-like queries kept aside that were used: as many as fit the time */
    bool stopped;       /* by should_stop: checkpoints are written, the policy is the best judged */
    acq_curve curve;
} acq_train_policy_result;

/* graphs: each a training graph of its own; the predictor is the graph itself. */
acq_status acq_train_policy(const acq_graph *const *graphs, size_t n_graphs,
                            const acq_train_policy_params *params, acq_train_policy_result *result,
                            acq_error *error);
void acq_train_policy_result_deinit(acq_train_policy_result *result);

/* Takes the checkpoints of all seeds away; for when the model has been written. */
void acq_train_policy_remove_checkpoints(const acq_train_policy_params *params);

#endif
