/* reasons.h - why a predicted link has its p, in names.
 *
 *   source: the parts of a link (parts.h), rules, similar entities ──▶ texts with weights
 *
 * A predictor carries its source. That of rows made on demand measures the row of the link again.
 * That of a completion has what the fit kept in the file, since the models are gone: the rules, and
 * of every link from ACQ_REASONS_LEAST_P on the weights of its parts in steps of 1/16 and its
 * ranks. */
#ifndef ACQ_CALIBRATE_REASONS_H
#define ACQ_CALIBRATE_REASONS_H

#include "base/memory.h"
#include "calibrate/cover.h"
#include "calibrate/parts.h"

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
                               const acq_boost *trees, const float *odds, acq_error *error);
/* As bytes; *out freed with acq_free. cover: kept too; NULL: none. */
acq_status acq_kept_writer_finish(acq_kept_writer *writer, const acq_cover *cover, void **out,
                                  size_t *length, acq_error *error);

/* Gives a completion the source of what it holds, which is read when reasons are first asked for. A
 * completion that holds none gets none. */
acq_status acq_reasons_attach_kept(acq_predictor *completion, acq_error *error);

#endif
