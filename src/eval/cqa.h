/* cqa.h - ranking of hard answers, as the literature on complex query answering measures.
 *
 *   { TYPE: [ {"query": NESTED, "easy": [id, ...], "hard": [id, ...]}, ... ], ... }
 *   NESTED = id | [NESTED, [relation, ...]] | [NESTED, NESTED, ...] | [NESTED, ..., [-1]]
 *
 * as BetaE nests queries: a path from an anchor, -2 in it negates; a list is an intersection, or
 * with [-1] behind it a union. Every entity gets a score. The rank of a hard answer is among the
 * entities that are no answers, easy or hard (filtered); of entities with its own score one half
 * counts, so a tie gives the mean rank. 1/rank and Hits@k are meant over the hard answers of a
 * query, then over the queries of a type; the total is the mean over types. */
#ifndef ACQ_EVAL_CQA_H
#define ACQ_EVAL_CQA_H

#include "eval/eval.h"
#include "query/sets.h"

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
    size_t n_left_out; /* without a meaning, or without a hard answer */
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

/* scores: of all n entities; answers: easy and hard ones, sorted. room: n values. The means over the
 * hard answers. */
acq_cqa_ranks acq_cqa_rank(const double *scores, size_t n, const acq_cqa_query *query,
                           double *room);

/* rows: one for each type of the file, and the total. `first`: queries of each type; 0: all. */
acq_status acq_cqa_run(const acq_eval_params *params, const acq_cqa_file *file, acq_cqa_row *rows,
                       acq_error *error);

#endif
