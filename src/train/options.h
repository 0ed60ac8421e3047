/* options.h - the options of a training by name: set from text, printed, and the identity that a
 * checkpoint must agree with. The names, ranges and help texts are those of one table. */
#ifndef ACQ_TRAIN_OPTIONS_H
#define ACQ_TRAIN_OPTIONS_H

#include "base/text.h"
#include "train/train.h"

/* ---- option table ----
 *
 * Every option of every training in one table: for the command line and its help,
 * for the library, and for what a checkpoint must agree with.
 *
 *   KIND(field, name, letter, argument, default, low, high, commands, help)
 *
 * A row is as in cli/options.h, which includes this table; `commands` means something there only.
 * What a row sets in the parameters of which training stands in options.c. */

#define ACQ_TRAIN_OPTIONS(FLAG, REAL, COUNT, TEXT, TIME)                                           \
    COUNT(train_seed, "seed", 0, "N", "1", 0, 1e18, ACQ_ON_train | ACQ_ON_fit,                     \
          "another seed, another model")                                                           \
    COUNT(dim, "dim", 0, "D", NULL, 1, 1024, ACQ_ON_policy, "width of the network")                \
    COUNT(rank, "rank", 0, "D", NULL, 1, 65536, ACQ_ON_complex | ACQ_ON_fit,                       \
          "complex numbers of a vector")                                                           \
    REAL(rate, "rate", 0, "R", NULL, 0, 1, ACQ_ON_rates, "learning rate at the start")             \
    REAL(last_rate, "last-rate", 0, "R", NULL, 0, 1, ACQ_ON_rates, "learning rate at the end")     \
    REAL(beta1, "beta1", 0, "B", NULL, 0, 0.999999, ACQ_ON_adam, "Adam: keep of the gradients")    \
    REAL(beta2, "beta2", 0, "B", NULL, 0, 0.999999999, ACQ_ON_adam, "Adam: keep of their squares") \
    REAL(decay, "decay", 0, "D", NULL, 0, 1, ACQ_ON_adam, "weight decay")                          \
    REAL(clip, "clip", 0, "NORM", NULL, 0, 1e9, ACQ_ON_adam, "largest norm of a gradient; 0: any") \
    REAL(average, "average", 0, "KEEP", NULL, 0, 0.999999, ACQ_ON_adam,                            \
         "what averaged weights keep at each update; 0: the last weights count")                   \
    COUNT(batch, "batch", 0, "N", NULL, 1, 1e6, ACQ_ON_complex | ACQ_ON_networks,                  \
          "questions (head, relation, ?) in a batch")                                              \
    COUNT(candidates, "candidates", 0, "N", NULL, 0, 1e9, ACQ_ON_complex,                          \
          "entities that the tails of a batch compete with, drawn at random; 0: all")              \
    REAL(n3, "n3", 0, "W", NULL, 0, 1e6, ACQ_ON_complex, "weight of the N3 norm of the vectors")   \
    REAL(relation_weight, "relation-weight", 0, "W", NULL, 0, 1e6, ACQ_ON_complex,                 \
         "weight of the loss of guessing the relation (default: by the graph's density)")          \
    FLAG(f32, "f32", 0, NULL, NULL, 0, 0, ACQ_ON_complex | ACQ_ON_fit,                             \
         "complex: multiply in f32, also where the processor is faster with bfloat16")             \
    FLAG(reciprocal, "reciprocal", 0, NULL, NULL, 0, 0, ACQ_ON_complex,                            \
         "vectors of their own for inverse relations, in place of conjugates")                     \
    REAL(init, "init", 0, "S", NULL, 1e-9, 1e3, ACQ_ON_complex, "spread of the initial values")    \
    COUNT(buckets, "buckets", 0, "N", NULL, 1, 64, ACQ_ON_complex,                                 \
          "entities in N parts, two of which are in memory at a time, the others on disk")         \
    FLAG(half_buckets, "bf16-buckets", 0, NULL, NULL, 0, 0, ACQ_ON_complex,                        \
         "with --buckets: bfloat16 on disk, half the room of f32")                                 \
    REAL(epochs, "epochs", 0, "N", NULL, 1e-6, 1e9, ACQ_ON_complex | ACQ_ON_fit,                   \
         "times to see every fact")                                                                \
    COUNT(train_negatives, "negatives", 0, "N", NULL, 0, 1e6, ACQ_ON_networks & ~ACQ_OF_gnnqe,     \
          "false tails that a true one is compared with; nbfnet: 0 for all")                       \
    COUNT(most_counted, "count-tails", 0, "N", NULL, 0, 1e9, ACQ_ON_train | ACQ_OF_nbfnet,         \
          "tails of a question that count for how often it is drawn; 0: all of them")              \
    REAL(temperature, "temperature", 0, "T", NULL, 0, 1e3, ACQ_ON_networks,                        \
         "how much the likely ones of these count more; 0: all the same")                          \
    REAL(edge_dropout, "edge-dropout", 0, "P", NULL, 0, 1, ACQ_ON_train | ACQ_OF_nbfnet,           \
         "share of direct links between a question's ends that are hidden from it")                \
    REAL(walk_dropout, "edge-dropout", 0, "P", NULL, 0, 1, ACQ_ON_train | ACQ_OF_gnnqe,            \
         "share of the links that a projection would walk along that are hidden from it")          \
    COUNT(most_entities, "entities", 0, "N", NULL, 0, 1e9, ACQ_ON_networks,                        \
          "most entities of the subgraph that a batch is trained on; 0: the whole graph")          \
    COUNT(most_edges, "edges", 0, "N", NULL, 0, 1e9, ACQ_ON_networks,                              \
          "most links of that subgraph, both directions")                                          \
    COUNT(most_near, "near", 0, "N", NULL, 0, 1e9, ACQ_ON_networks,                                \
          "most neighbours of one entity that it grows by; 0: all")                                \
    COUNT(most_around, "around", 0, "N", NULL, 0, 1e9, ACQ_ON_train | ACQ_OF_nbfnet,               \
          "each question on the N entities around its head; 0: subgraphs, as --entities says")     \
    COUNT(layers, "layers", 0, "N", NULL, 0, 8, ACQ_ON_train | ACQ_OF_nbfnet,                      \
          "layers of the network; 0: those of --warm, or 4")                                       \
    FLAG(sums, "sum", 0, NULL, NULL, 0, 0, ACQ_ON_train | ACQ_OF_nbfnet,                           \
         "nodes sum their messages, in place of mean, extremes and deviation")                     \
    REAL(visit_nodes, "visit-nodes", 0, "SHARE", NULL, 0, 1, ACQ_ON_train | ACQ_OF_nbfnet,         \
         "nodes that send in a layer, by a priority that is learnt; 0: all")                       \
    REAL(visit_edges, "visit-edges", 0, "SHARE", NULL, 0, 1, ACQ_ON_train | ACQ_OF_nbfnet,         \
         "links that a layer walks then, by the priority of who receives; 0: all")                 \
    FLAG(keep_pairs, "keep-pairs", 0, NULL, NULL, 0, 0, ACQ_ON_train | ACQ_OF_nbfnet,              \
         "do not hide other links between a question's ends")                                      \
    COUNT(group, "group", 0, "N", NULL, 1, 1e6, ACQ_ON_train | ACQ_OF_ultra,                       \
          "questions of one relation that share a subgraph; --batch is a multiple")                \
    COUNT(train_tails, "tails", 0, "N", NULL, 1, 1e6, ACQ_ON_train | ACQ_OF_ultra,                 \
          "most true tails of one question")                                                       \
    TEXT(warm, "warm", 0, "MODEL", NULL, 0, 0, ACQ_ON_complex | ACQ_ON_networks,                   \
         "begin with these weights in place of random ones")                                       \
    COUNT(train_queries, "queries", 0, "N", NULL, 1, 65536, ACQ_ON_policy, "queries in a batch")   \
    COUNT(rollouts, "rollouts", 0, "N", NULL, 1, 4096, ACQ_ON_policy, "episodes of each query")    \
    COUNT(train_steps, "steps", 0, "N", NULL, 1, 100000, ACQ_ON_policy,                            \
          "most steps of an episode")                                                              \
    REAL(discount, "discount", 0, "G", NULL, 0, 1, ACQ_ON_policy, "of later rewards")              \
    REAL(floor, "floor", 0, "P", NULL, 0, 1, ACQ_ON_policy, "P in the loss of log(p + P)")         \
    REAL(scale, "scale", 0, "S", NULL, 1e-6, 1e6, ACQ_ON_policy,                                   \
         "a solved query scores S, any other -S")                                                  \
    TEXT(rewards, "rewards", 0, "MODEL", NULL, 0, 0, ACQ_ON_policy,                                \
         "reward by this ComplEx model: an assignment scores the least of its links")              \
    REAL(reward_shift, "reward-shift", 0, "C", NULL, -1e6, 1e6, ACQ_ON_policy,                     \
         "what is taken off the scores of --rewards")                                              \
    FLAG(no_baseline, "no-baseline", 0, NULL, NULL, 0, 0, ACQ_ON_policy,                           \
         "rewards as they are, not compared to the other episodes of the query")                   \
    FLAG(no_pe, "no-pe", 0, NULL, NULL, 0, 0, ACQ_ON_policy, "train without PE labels")            \
    REAL(hub_share, "hub-share", 0, "S", NULL, 0, 1, ACQ_ON_policy,                                \
         "share of hub-like queries; the others have the nine small shapes")                       \
    REAL(hub_from, "hub-from", 0, "S", NULL, 0, 1, ACQ_ON_policy,                                  \
         "share of solved episodes from which on there are hub-like queries")                      \
    TEXT(hub_terms, "hub-terms", 0, "A-B", NULL, 0, 0, ACQ_ON_policy,                              \
         "hub-like queries have A to B terms")                                                     \
    REAL(check_share, "check-share", 0, "S", NULL, 0, 1, ACQ_ON_policy,                            \
         "share of queries whose first variable has a value, as in check")                         \
    TEXT(shape_mix, "shape-mix", 0, "NAME", NULL, 0, 0, ACQ_ON_policy,                             \
         "small shapes: even, or betae, ten of a positive one for one of a negated one")           \
    FLAG(last_weights, "last-weights", 0, NULL, NULL, 0, 0, ACQ_ON_policy,                         \
         "keep the last weights of each seed, not the best on queries kept aside")                 \
    COUNT(hubs, "hubs", 0, "N", NULL, 1, 1000, ACQ_ON_policy, "most hubs of a hub-like query")     \
    REAL(constants, "constants", 0, "C", NULL, 0, 1e6, ACQ_ON_policy,                              \
         "an entity with n neighbours becomes a constant with probability C/n^2")                  \
    REAL(leaves_out, "leaves-out", 0, "P", NULL, 0, 1, ACQ_ON_policy,                              \
         "probability that an entity with one neighbour is left out")                              \
    COUNT(most_atoms, "most-atoms", 0, "N", NULL, 1, 100000, ACQ_ON_policy,                        \
          "most atoms of a hub-like query")                                                        \
    COUNT(rule_facts, "facts", 0, "N", NULL, 1, 1e9, ACQ_ON_rules,                                 \
          "facts of each relation whose ends a batch walks between")                               \
    COUNT(rule_walks, "walks", 0, "N", NULL, 0, 1e6, ACQ_ON_rules,                                 \
          "walks of three hops between the ends of a fact")                                        \
    COUNT(rule_tries, "tries", 0, "N", NULL, 0, 1e9, ACQ_ON_rules,                                 \
          "new rules of three hops that a batch counts for each relation")                         \
    COUNT(rule_heads, "heads", 0, "N", NULL, 1, 1e9, ACQ_ON_rules,                                 \
          "most heads that a rule of several hops is counted on")                                  \
    COUNT(rule_most, "most", 0, "N", NULL, 1, 1e9, ACQ_ON_rules,                                   \
          "rules kept for each relation, and with constants for each relation and entity")         \
    COUNT(rule_support, "support", 0, "N", NULL, 1, 1e9, ACQ_ON_rules,                             \
          "least number of facts that a rule concludes")                                           \
    REAL(rule_confidence, "confidence", 0, "C", NULL, 0, 1, ACQ_ON_rules,                          \
         "least confidence of a rule")                                                             \
    REAL(rule_similarity, "similarity", 0, "S", NULL, 0, 1, ACQ_ON_rules,                          \
         "share of common conclusions from which on two rules say the same")                       \
    TEXT(rule_aggregate, "aggregate", 0, "WAY", NULL, 0, 0, ACQ_ON_rules,                          \
         "how rules count together: clusters, noisy-or or max")                                    \
    COUNT(rule_best, "best", 0, "N", NULL, 1, 64, ACQ_ON_rules,                                    \
          "rules, or clusters of rules, that count for a link")                                    \
    COUNT(batches, "batches", 0, "N", NULL, 0, 1e15, ACQ_ON_adam | ACQ_OF_rules,                   \
          "batches to train with; 0: until the time is over")                                      \
    TIME(train_time, "time", 0, "TIME", NULL, 0, 1e8, ACQ_ON_train,                                \
         "time for the whole command, as 90s or 2h; with --batches or --epochs the most")          \
    COUNT(seeds, "seeds", 0, "N", NULL, 1, 1000, ACQ_ON_policy,                                    \
          "train with so many seeds from --seed on, and keep the best")                            \
    COUNT(held_queries, "held-queries", 0, "N", NULL, 1, 1e6, ACQ_ON_policy,                       \
          "hub-like queries kept aside to choose the best by, with four small ones each")          \
    COUNT(held_steps, "held-steps", 0, "N", NULL, 1, 1e6, ACQ_ON_policy,                           \
          "steps of the search on these; small ones: a tenth")                                     \
    TEXT(held_terms, "held-terms", 0, "A-B", NULL, 0, 0, ACQ_ON_policy,                            \
         "the hub-like ones of these have A to B terms")                                           \
    FLAG(train_paper, "paper", 0, NULL, NULL, 0, 0, ACQ_ON_policy,                                 \
         "the paper's configuration in place of the defaults; other options count more")           \
    FLAG(paper_nell, "paper-nell", 0, NULL, NULL, 0, 0, ACQ_ON_policy,                             \
         "the paper's configuration for NELL in place of the defaults")                            \
    FLAG(resume, "resume", 0, NULL, NULL, 0, 0, ACQ_ON_train | ACQ_ON_fit,                         \
         "go on with what was interrupted")                                                        \
    TIME(checkpoint_every, "checkpoint-every", 0, "TIME", NULL, 0.001, 1e8, ACQ_ON_train,          \
         "how often to write what --resume goes on from")                                          \
    COUNT(train_threads, "threads", 0, "N", NULL, 1, 1024, ACQ_ON_train | ACQ_ON_fit,              \
          "threads to work with (default: one per processor)")

/* ---- options ---- */

typedef enum acq_train_kind {
    ACQ_TRAIN_COMPLEX,
    ACQ_TRAIN_NBFNET,
    ACQ_TRAIN_GNNQE, /* its settings are nbfnet's */
    ACQ_TRAIN_ULTRA,
    ACQ_TRAIN_RULES,
    ACQ_TRAIN_POLICY,
    ACQ_N_TRAIN_KINDS
} acq_train_kind;

const char *acq_train_kind_get_name(acq_train_kind kind); /* "complex" */
acq_train_kind acq_train_kind_find(const char *name);     /* ACQ_N_TRAIN_KINDS: there is none */

typedef union acq_train_settings {
    acq_train_complex_params complex;
    acq_train_nbfnet_params nbfnet;
    acq_train_ultra_params ultra;
    acq_train_rules_params rules;
    acq_train_policy_params policy;
} acq_train_settings;

/* The defaults of the command, seed 1; the policy's own are the paper's with the flag "paper". */
void acq_train_options_init(acq_train_kind kind, acq_train_settings *params);

/* What is given replaces what is there, in the order of the table; the last of several with the
 * same name counts. A time without a number of batches lets the schedule follow the clock. "resume"
 * and "warm" are no parameters: whoever runs a training asks for them with find. */
acq_status acq_train_options_set(acq_train_kind kind, const acq_train_option *options, size_t n,
                                 acq_train_settings *params, acq_error *error);

/* The last value of an option, *value; false: it is not given. */
bool acq_train_options_find(const acq_train_option *options, size_t n, const char *name,
                            const char **value);

/* "rank=1000 rate=0.1 ...": every option of the kind but seed and threads. */
void acq_train_options_print(acq_train_kind kind, const void *params, acq_text *out);

/* What shapes the weights of a run: every option but threads and the time between checkpoints, the
 * weights it starts from (NULL: random ones) and the graphs. Numbers to the last bit. */
acq_status acq_train_print_identity(acq_train_kind kind, const void *params,
                                    const acq_graph *const *graphs, size_t n_graphs,
                                    const acq_parameters *warm, acq_text *out, acq_error *error);

/* ---- run ----
 *
 * A training from options to files, of any kind.
 *
 *   MODEL                        the weights, with how they came to be in the metadata
 *   MODEL.checkpoint             while it trains; of the policy MODEL.seedN.checkpoint, one per
 * seed MODEL.csv, MODEL.svg         the curve of a policy
 *
 * Checkpoints are taken away when MODEL is there. A training that was interrupted is not begun anew
 * by accident: without "resume" its checkpoint is in the way. */

typedef struct acq_train_run_params {
    acq_train_kind kind;
    const acq_graph *const *graphs; /* one; several for ultra and policy */
    const char *const *names;       /* of the graphs, for the metadata; NULL: none */
    size_t n_graphs;
    const acq_train_option *options;
    size_t n_options;
    const char *output;  /* MODEL */
    const char *version; /* for the metadata; NULL: none */
    const char *commit;
    int64_t begin_ns;               /* when the option "time" began (acq_clock_ns); 0: now */
    acq_train_progress_fn progress; /* may be NULL; comes from one thread at a time */
    void *context;
    const acq_ranks *ranks; /* the first writes; NULL: none. Of rules they are not used */
} acq_train_run_params;

typedef struct acq_train_report {
    const char *unit;  /* what `done` counts: "epochs" or "batches" */
    double done, loss; /* loss: 0 for a policy */
    double seconds;    /* earlier runs that were resumed included */
    uint64_t seed;     /* of the policy: the best one */
    unsigned n_threads;
    uint64_t n_rules;   /* 0 but for rules */
    acq_text options;   /* "rank=256 rate=0.1 ..." */
    uint64_t episodes;  /* from here on: of a policy */
    double held_solved; /* share of the queries kept aside, of the best seed */
    uint32_t n_seeds;
    uint64_t first_seed;
    double *seeds_held; /* of each seed */
    size_t n_held_hubs; /* hub-like ones of these queries, as many as fit the time */
    uint32_t dim;
    bool uses_pe;
} acq_train_report;

/* Deinit the report also after an error. ACQ_ERR_INTERRUPTED: the message says how far it came. */
acq_status acq_train_run(const acq_train_run_params *params, acq_train_report *report,
                         acq_error *error);
void acq_train_report_deinit(acq_train_report *report);

/* The checkpoint of the i-th seed (0 for what has no seeds) of a model; freed with acq_free, NULL:
 * out of memory. */
char *acq_train_copy_checkpoint(acq_train_kind kind, const char *output, uint64_t seed);

#endif
