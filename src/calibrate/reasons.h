/* reasons.h - why a predicted link has its p, in names.
 *
 *   source: the parts of a link, rules, similar entities ──▶ texts with weights
 *
 * A predictor carries its source. That of rows made on demand measures the row of the link again.
 * That of a completion has what the fit kept in the file, since the models are gone: the rules, and
 * of every link from ACQ_REASONS_LEAST_P on the weights of its parts in steps of 1/16, its ranks
 * and the best of the learnt rules that conclude it. */
#ifndef ACQ_CALIBRATE_REASONS_H
#define ACQ_CALIBRATE_REASONS_H

#include "base/memory.h"
#include "calibrate/boost.h"
#include "calibrate/candidates.h"
#include "calibrate/cover.h"
#include "models/rulebook/rulebook.h"

/* ---- parts ----
 *
 * What the log-odds of a link were made of.
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

/* Where each part stands; behind them one per model. */
enum { ACQ_PART_RULES, ACQ_PART_HEAD, ACQ_PART_TAIL, ACQ_PART_MODELS };
enum { ACQ_MOST_PARTS = ACQ_PART_MODELS + ACQ_CANDIDATES_MODELS };

typedef struct acq_link_parts {
    size_t n; /* weights; 0: nothing is known of the link */
    float weights[ACQ_MOST_PARTS];
    /* By each model, from 1: place of the tail among the unobserved tails of (head, relation), and
     * of the head among those of (tail, inverse). 0: not asked. */
    uint32_t ranks[ACQ_CANDIDATES_MODELS], back_ranks[ACQ_CANDIDATES_MODELS];
    const acq_learnt_rule *learnt; /* the most confident one that concludes it; NULL: none */
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
void acq_part_meter_measure(const acq_part_meter *meter, acq_boost_judge judge, size_t i,
                            acq_link_parts *out);

/* ---- reasons ---- */

#define ACQ_REASONS_LEAST_P 0.01 /* of links whose parts a fit keeps */

typedef struct acq_reason_source_ops {
    /* relation is even. out->n 0: nothing is known of the link. Locked by the source. */
    acq_status (*find_parts)(acq_reason_source *self, acq_ent head, acq_rel relation, acq_ent tail,
                             acq_link_parts *out, acq_error *error);
    /* For sets that cover (cover.h); NULL: it has none. */
    acq_status (*open_cover)(acq_reason_source *self, const acq_cover **out, acq_error *error);
    void (*free)(acq_reason_source *self);
} acq_reason_source_ops;

/* What is below ops is there once parts have been found. */
struct acq_reason_source {
    const acq_reason_source_ops *ops;
    const acq_graph *graph;
    const char *models[ACQ_CANDIDATES_MODELS]; /* kinds */
    const acq_rules *rules;                    /* NULL: none */
    const acq_row_model *neighbours;           /* NULL: none */
    uint32_t top; /* a rank above it and the observed tails of the row means: not among these */
};

/* The reasons of a link that is not observed, those with the largest weights first, in the arena.
 * *note: why there are none, or NULL. */
acq_status acq_reasons_make(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                            acq_ent tail, acq_arena *arena, acq_reason **out, size_t *n,
                            const char **note, acq_error *error);

/* Gives a predictor whose rows this scorer makes (rows.h), by this calibrator's trees, its source.
 */
acq_status acq_reasons_attach_rows(acq_predictor *predictor, acq_row_scorer *scorer,
                                   const acq_calibrator *calibrator, acq_error *error);

/* ---- kept in a completion ---- */

/* Gathers what a fit keeps. */
typedef struct acq_kept_writer acq_kept_writer;
acq_status acq_kept_writer_new(const acq_candidates_maker *maker, acq_kept_writer **out,
                               acq_error *error);
void acq_kept_writer_free(acq_kept_writer *writer); /* NULL is legal */

/* The candidates of a relation, each pair of relations once, in rising order; odds: theirs. */
acq_status acq_kept_writer_add(acq_kept_writer *writer, const acq_candidates *found,
                               acq_boost_judge judge, const float *odds, acq_error *error);

/* The same in pieces: what is kept of some rows, in the direction of the even relation; *out freed
 * with acq_free. Then all of a pair of relations, in any order, which is sorted here. */
typedef struct acq_kept_link {
    uint32_t head, tail;
    uint8_t record[ACQ_MOST_PARTS + 2 * ACQ_CANDIDATES_MODELS]; /* as in the file */
} acq_kept_link;

acq_status acq_kept_measure(const acq_candidates_maker *maker, const acq_candidates *found,
                            acq_boost_judge judge, const float *odds, acq_kept_link **out,
                            size_t *n, acq_error *error);
acq_status acq_kept_writer_put(acq_kept_writer *writer, acq_rel relation, acq_kept_link *links,
                               size_t n, acq_error *error);

/* As bytes; *out freed with acq_free. cover: kept too; NULL: none. */
acq_status acq_kept_writer_finish(acq_kept_writer *writer, const acq_cover *cover, void **out,
                                  size_t *length, acq_error *error);

/* Gives a completion the source of what it holds, which is read when reasons are first asked for. A
 * completion that holds none gets none. */
acq_status acq_reasons_attach_kept(acq_predictor *completion, acq_error *error);

#endif
