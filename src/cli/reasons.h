/* reasons.h - what --explain tells of a predicted link, for a person and as JSON:
 *
 *     +2.1  lives_in(X, Y) holds where born_in(X, Y) does, in 34 of 51 cases
 *     -0.4  1 other fact lives_in(Ann, ...) is known; 98 % of those that have any have no more
 */
#ifndef ACQ_CLI_REASONS_H
#define ACQ_CLI_REASONS_H

#include <jansson.h>

#include "cli/report.h"

typedef struct acq_reason_view {
    const acq_graph *graph;
    const acq_predictor *predictor;
    char note[128]; /* why a link had no reasons; "": none lacked them */
} acq_reason_view;

/* Lines of at most ACQ_COLUMNS, indented. Memory failures show in out. */
void acq_reason_view_print(acq_reason_view *view, acq_ent head, acq_rel relation, acq_ent tail,
                           size_t indent, acq_text *out);

/* An array of objects: kind, text, weight, and what the kind has: rules (body, middle, support,
 * cases), entities (names), model, rank, of, back_rank, back_of, count, total. */
json_t *acq_reason_view_make_json(acq_reason_view *view, acq_ent head, acq_rel relation,
                                  acq_ent tail);

/* Says once why links had no reasons. */
void acq_reason_view_note(const acq_reason_view *view, acq_output *output);

#endif
