/* draft.h - a query while it is being made: literals over variables and entities, its variables
 * free, existential or turned into constants as the benchmark needs them.
 *
 *   literals   (r, v1, v0) (r', c, v1) ...     variables 0 .. n_free - 1 are free
 *   answer     [ e0 e1 ... ]                   the assignment that it was read off, by variable
 *
 * All literals are joined by "and", but those in [or_begin, or_end), which are joined by "or". */
#ifndef ACQ_GENERATE_DRAFT_H
#define ACQ_GENERATE_DRAFT_H

#include "base/hash.h"
#include "base/text.h"
#include "query/problem.h"

typedef struct acq_draft {
    acq_literal *literals;
    uint32_t n_literals;
    uint32_t n_variables, n_free;
    uint32_t or_begin, or_end; /* equal: no "or" */
    acq_ent *answer;           /* n_variables; NULL: it was read off nothing */
} acq_draft;

void acq_draft_deinit(acq_draft *draft);
acq_status acq_draft_copy(const acq_draft *from, acq_draft *out, acq_error *error);

/* Copies of the literals, with room for n_variables values in answer. */
acq_status acq_draft_init(acq_draft *draft, const acq_literal *literals, uint32_t n_literals,
                          uint32_t n_variables, acq_error *error);

/* One more free variable: the existential one `variable` changes places with the first of them. */
void acq_draft_free_variable(acq_draft *draft, uint32_t variable);

/* The free variable 0 becomes the constant `value`, and the variables behind it move up. */
void acq_draft_fix(acq_draft *draft, acq_ent value);

/* Draws one atom for each pair of terms; those left out are gone. */
acq_status acq_draft_thin(acq_draft *draft, acq_random *random, acq_error *error);

/* In the benchmark's syntax: relations r1 .., constants s1 .., variables f1 .. and e1 .., and the
 * grounding beside it as a JSON object. */
void acq_draft_print(const acq_draft *draft, acq_text *formula, acq_text *grounding);

/* The query as an evaluation reads it; its ids are those of `graph`. */
acq_status acq_draft_make_query(const acq_draft *draft, acq_query **out, acq_error *error);

/* Gives the query's constants and relations their names in the graph, for printing. */
void acq_draft_name_query(acq_query *query, const acq_graph *graph);

#endif
