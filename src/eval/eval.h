/* eval.h - runs an engine over benchmark query files and measures it.
 *
 * QAC: every candidate of every set is one decision: yes when the engine answers. QAR: every
 * instance is one decision: the best tuple, or None. Where the predictor has a calibrator, p
 * decides in both (engine/engine.h), for candidates of which the share `prior` is true. Undecided
 * counts as no or None, and is counted. Decisions go to their own slots and are summed up in file
 * order, so everything but the times is the same at any number of threads.
 *
 * A QAR tuple is right when the instance lists it. Published lists stop at 500 answers: when a
 * list is that long and lacks the tuple, the truth graph decides, or else the predictor if it is
 * perfect; without either the tuple counts as wrong, and as `unlisted`.
 *
 * Times are per decision: grounding (in QAC an equal share of the set's), normal form, search and
 * verification; not parsing, not judging. The policy search takes the candidates of a set in one
 * batch, whose time they share equally. The total pools the decisions of all files: QAC f1 is
 * the mean over all their candidate sets, shares are over all candidates, QAR counts are summed. */
#ifndef ACQ_EVAL_EVAL_H
#define ACQ_EVAL_EVAL_H

#include "base/text.h"
#include "base/types.h" /* acq_qac_metrics, acq_qar_metrics, acq_times */
#include "engine/engine.h"
#include "eval/files.h"
#include "calibrate/calibrator.h"
#include "graph/build.h"
#include "models/model.h"
#include "predict/predictor.h"
#include "query/sets.h"

/* ---- metrics ----
 *
 * What the evaluation reports, as pure functions of counted decisions.
 *
 * Shares and F1 values are percentages; a share of nothing is NAN. The definitions, once:
 *
 *   QAC, per candidate set: F1 = 2 TP / (2 TP + FP + FN), 0 where nothing correct was accepted;
 *   f1 is its mean over the sets. "Seen": the observed graph has the candidate, in some fact,
 *   at its end of every positive atom of the reading in force. f1_matched keeps only the seen ones
 * of the correct candidates, all the wrong ones, and drops a set that has no correct one left.
 *   auc_matched pools those candidates over all sets: the share of (correct, wrong) pairs in
 *   which the correct one has the larger p (score, without a calibrator), a tie counting one half.
 *   recall_seen, recall_unseen, wrong_accepted are shares of all candidates of their kind.
 *
 *   QAR: positives are the queries labelled e or h.
 *     recall    = correctly answered positives / positives
 *     precision = correctly answered positives / (those + answers given to "n" queries)
 *     f1_paper counts a wrong tuple for a positive query against precision too;
 *     f1_verified is f1 with answers judged by the verifier on the truth graph, where an answer
 *     to an "n" query is a mistake only if the verifier rejects it. */

/* The decisions on one candidate set. */
typedef struct acq_qac_counts {
    uint32_t correct, correct_yes; /* correct candidates, and how many of them got a yes */
    uint32_t seen, seen_yes;       /* the correct ones that pass the seen-test */
    uint32_t wrong, wrong_yes;
} acq_qac_counts;

/* One matched candidate for the area under the curve. */
typedef struct acq_scored {
    double score;
    bool is_correct;
} acq_scored;

double acq_metrics_f1(uint64_t true_yes, uint64_t false_yes, uint64_t false_no); /* 0 to 1 */

void acq_metrics_measure_qac(const acq_qac_counts *sets, size_t n, acq_qac_metrics *out);

/* The same sets as the answerer that always says yes decides them. */
acq_qac_counts acq_metrics_get_always_yes(acq_qac_counts set);

/* Area under the ROC curve as a percentage; sorts items. NAN unless both kinds are there. */
double acq_metrics_measure_auc(acq_scored *items, size_t n);

typedef enum acq_qar_verdict {
    ACQ_QAR_NONE,  /* no answer given */
    ACQ_QAR_RIGHT, /* a tuple that is an answer */
    ACQ_QAR_WRONG, /* a tuple that is not, as far as the judge can tell */
} acq_qar_verdict;

typedef struct acq_qar_item {
    char type;                /* 'e', 'h' or 'n' */
    acq_qar_verdict listed;   /* judged by the file's answer list */
    acq_qar_verdict verified; /* judged on the truth graph */
} acq_qar_item;

void acq_metrics_measure_qar(const acq_qar_item *items, size_t n, acq_qar_metrics *out);

/* Sorts values. All NAN when n is 0. */
void acq_metrics_measure_times(double *values, size_t n, acq_times *out);

/* ---- eval ---- */

/* False stops: ACQ_ERR_INTERRUPTED. */
typedef bool (*acq_eval_progress_fn)(void *context, size_t done, size_t all);

typedef struct acq_eval_params {
    acq_bench_task task;
    const acq_predictor *predictor; /* its graph is the observed one */
    const acq_predictor *truth;     /* judges QAR answers; NULL: none */
    bool is_perfect;                /* predictor may judge what a cut-off list lacks */
    acq_engine_params engine;
    bool has_atoms; /* `atoms` instead of each file's own reading */
    acq_atoms_reading atoms;
    double prior; /* share of true candidates, for calibrated probabilities */
    size_t first; /* instances taken of each file; 0: all */
    unsigned n_threads;
    int64_t deadline_ns;           /* what is not decided then is undecided; 0: none */
    const acq_ranks *ranks;        /* processes that share the instances; NULL: none */
    double *decision_ms;           /* NULL, or room for the time of every decision, in file order */
    acq_eval_progress_fn progress; /* called from the calling thread; may be NULL */
    void *context;
} acq_eval_params;

#define ACQ_EVAL_DEFAULT                                                                           \
    ((acq_eval_params){.engine = ACQ_ENGINE_DEFAULT, .prior = 0.5, .n_threads = 1})

/* `engine` with the prior. */
acq_engine_params acq_eval_get_engine(const acq_eval_params *params);

/* rows has room for n_files + 1, the last one being the total. All files are of params->task. */
acq_status acq_eval_run(const acq_eval_params *given, const acq_bench_file *const *files,
                        size_t n_files, acq_eval_row *rows, acq_error *error);

/* ---- rows as text (print.c): a table for people, one JSON object per line for programs ---- */

/* rows[n - 1] is the total. At most 80 columns. For QAC each row is followed by that of the
 * answerer that always says yes. A value that does not exist is "-". */
void acq_eval_print_table(acq_text *text, const acq_eval_row *rows, size_t n);

/* One object and a newline. A value that does not exist is null. */
void acq_eval_print_json(acq_text *text, const acq_eval_row *row);

/* ---- decide ----
 *
 * Decisions by the engine: the candidates of a set, the answer of a query, single links.
 *
 * A worker is the state of one thread: its own copy of the formula it works on, with the reading
 * applied, which grounding fills with the ids of one instance after the other. */

typedef struct acq_decision {
    bool is_correct;   /* QAC: the label of the candidate */
    bool is_seen;      /* QAC: see acq_explain_is_seen */
    bool is_yes;       /* QAC */
    bool is_undecided; /* the budget ran out */
    bool is_unlisted;  /* QAR: not in a list that may be cut off, and no truth graph to ask */
    acq_qar_item item; /* QAR */
    double rank;       /* of the answer: its score, or with a calibrator the p of the likeliest
                          candidate; 0 without one */
    double ms;
    uint64_t nodes, revisions;
    uint64_t classes; /* policy, like flops */
    double flops;
} acq_decision;

typedef struct acq_eval_worker {
    const acq_eval_params *params;
    const acq_bench_file *file;
    acq_atoms_reading atoms;
    size_t i_formula; /* of `query`; SIZE_MAX: none yet */
    acq_query *query;
    uint64_t stream; /* number in the file of the instance's first decision: seeds its search */
} acq_eval_worker;

void acq_eval_worker_init(acq_eval_worker *worker, const acq_eval_params *params,
                          const acq_bench_file *file);
void acq_eval_worker_deinit(acq_eval_worker *worker);

/* Decisions an instance takes: QAC one per candidate, the correct ones first; QAR one. */
size_t acq_eval_count_decisions(const acq_bench_file *file, const acq_bench_instance *instance);

acq_status acq_eval_decide_qac(acq_eval_worker *worker, const acq_bench_instance *instance,
                               acq_decision *out, acq_error *error);
acq_status acq_eval_decide_qar(acq_eval_worker *worker, const acq_bench_instance *instance,
                               acq_decision *out, acq_error *error);

/* Yes or no for single links: true ones that were not observed against false ones that somebody
 * verified. The decision is that of `check` for Q(x) := relation(head, x) and the tail. */
typedef struct acq_links_decide_params {
    const acq_predictor *predictor;
    const acq_predictor *truth, *negatives; /* 0/1 in the observed graph's ids */
    acq_engine_params engine;               /* with its prior */
    uint64_t first;                         /* at most so many of each, drawn by hash; 0: all */
    unsigned n_threads;
    bool (*progress)(void *context, double done); /* share; may be NULL; false: stop */
    void *context;
} acq_links_decide_params;

acq_status acq_links_decide(const acq_links_decide_params *params, acq_links_decisions *out,
                            acq_error *error);

/* ---- links ----
 *
 * Link prediction judged: filtered MRR and Hits@k, and how good the probabilities are.
 *
 * Every link of `truth` that `observed` lacks is asked in both directions: (h, r, ?) for each
 * directed id. Filter: other tails that are observed, true in `truth` or in `filter`, are left out
 * of the ranking. Ties: the rank is the mean of the best and the worst rank among equals. A
 * predictor that has no row for (h, r), or no score for t, ties t with all entities that have none.
 * The same is said of each of four cases: are h and t seen, that is, has `observed` a fact of r
 * with h as its head, and one with t as its tail?
 *
 * Ranks go to their own slots and are summed up in the order of the links, so everything but the
 * time is the same at any number of threads. */

typedef struct acq_eval_links_params {
    const acq_predictor *truth;     /* 0/1 in the observed graph's ids: acq_predictor_new_perfect */
    const acq_predictor *filter;    /* more links that hold, not asked for; NULL: none are known */
    const acq_predictor *predictor; /* a completion or any other: ranks by its scores */
    const acq_row_model *model;     /* or raw scores: ranks by these; then predictor may be NULL */
    bool with_table;                /* judge the predictor's scores as probabilities */
    uint64_t first;                 /* at most so many links, drawn by hash; 0: all */
    const acq_ranks *ranks;         /* processes that share the ranking; NULL: none */
    unsigned n_threads;
    bool (*progress)(void *context, double done); /* share; may be NULL; false: stop */
    void *context;
} acq_eval_links_params;

typedef acq_links_report acq_eval_links_result; /* public: anycq.h; without decisions */

acq_status acq_eval_links(const acq_eval_links_params *params, acq_eval_links_result *out,
                          acq_error *error);

/* The links that an evaluation asks for, cut into pieces of work.
 *
 *   links  [ r0 h0 t1 | r0 h0 t4 | r0 h3 t2 | r1 h1 t0 | ... ]   by relation, head, tail
 *   items  [ 0                              | 3        | ... ]   each of one relation, with at most
 *                                                                `most_rows` heads */
typedef struct acq_links_plan {
    acq_triple *links;
    size_t n, room;
    size_t *items; /* n_items + 1 */
    size_t n_items;
} acq_links_plan;

/* The links of `truth` that its graph lacks, at most `first` of them (0: all), drawn by hash.
 * Deinit also after an error. */
acq_status acq_links_plan_init(acq_links_plan *plan, const acq_predictor *truth, uint64_t first,
                               size_t most_rows, acq_error *error);
/* Keeps `first` of the links, drawn by hash, in their order; fewer than there are, at least 1. The
 * items are not those of what is left. */
acq_status acq_links_plan_draw(acq_links_plan *plan, size_t first, acq_error *error);
void acq_links_plan_deinit(acq_links_plan *plan);

/* ---- complex query answering ----
 *
 * Ranking of hard answers, as the literature on complex query answering measures.
 *
 *   { TYPE: [ {"query": NESTED, "easy": [id, ...], "hard": [id, ...]}, ... ], ... }
 *   NESTED = id | [NESTED, [relation, ...]] | [NESTED, NESTED, ...] | [NESTED, ..., [-1]]
 *
 * as BetaE nests queries: a path from an anchor, -2 in it negates; a list is an intersection, or
 * with [-1] behind it a union. Every entity gets a score. The rank of a hard answer is among the
 * entities that are no answers, easy or hard (filtered); of entities with its own score one half
 * counts, so a tie gives the mean rank. 1/rank and Hits@k are meant over the hard answers of a
 * query, then over the queries of a type; the total is the mean over types. */

typedef struct acq_cqa_query {
    acq_set_tree *tree;
    acq_ent *easy, *hard; /* sorted, in the file's arena */
    size_t n_easy, n_hard;
} acq_cqa_query;

typedef struct acq_cqa_type {
    const char *name;
    size_t first, n; /* its queries */
} acq_cqa_type;

typedef struct acq_cqa_file {
    acq_arena arena;
    acq_cqa_type *types;
    size_t n_types;
    acq_cqa_query *queries;
    size_t n_queries;
    size_t n_left_out;   /* without a meaning, or without a hard answer */
    const char *why_out; /* the first of these; NULL: there is none */
} acq_cqa_file;

acq_status acq_cqa_file_parse(const char *bytes, size_t length, acq_bench_limits limits,
                              acq_cqa_file **out, acq_error *error);
acq_status acq_cqa_file_read(const char *path, acq_bench_limits limits, acq_cqa_file **out,
                             acq_error *error);
void acq_cqa_file_free(acq_cqa_file *file);

/* Sums over hard answers. */
typedef struct acq_cqa_ranks {
    double mrr, hits1, hits3, hits10;
} acq_cqa_ranks;

/* scores: of all n entities; answers: easy and hard ones, sorted. room: n values. The means over
 * the hard answers. */
acq_cqa_ranks acq_cqa_rank(const double *scores, size_t n, const acq_cqa_query *query,
                           double *room);

/* rows: one for each type of the file, and the total. `first`: queries of each type; 0: all. */
acq_status acq_cqa_run(const acq_eval_params *params, const acq_cqa_file *file, acq_cqa_row *rows,
                       acq_error *error);

#endif
