/* shapes.h - the fourteen small types of the literature, drawn from the complete graph.
 *
 *   1p 2p 3p 2i 3i ip pi           conjunctions
 *   2in 3in inp pin pni            with a negated atom
 *   2u up                          with a union
 *
 * Eleven are drawn as training draws them (query/sample/sampler.h); pni, 2u and up here, from
 * the same facts. */
#ifndef ACQ_GENERATE_SHAPES_H
#define ACQ_GENERATE_SHAPES_H

#include "generate/draft.h"
#include "query/sample/sampler.h"

enum { ACQ_N_SMALL_TYPES = 14 };

const char *acq_small_type_get_name(unsigned type);
unsigned acq_small_type_find(const char *name); /* ACQ_N_SMALL_TYPES: unknown */

/* A query of this type; variable 0 is the free one. *is_drawn false: the place does not fit. */
acq_status acq_small_draw(const acq_sampler *complete, unsigned type, acq_random *random,
                          bool *is_drawn, acq_draft *out, acq_error *error);

/* The query as BetaE nests it: [anchor, [relation, ...]], lists of these for intersections, -1 for
 * a union and -2 for a negation. */
void acq_small_print_nested(unsigned type, const acq_draft *draft, acq_text *out);

/* pni only, where BetaE means something else than the formula: the answers of r3(s2, f) that no
 * e1 with r1(s1, e1) leads to by r2. The drafts of these two sets. */
acq_status acq_small_split_pni(const acq_draft *draft, acq_draft *kept, acq_draft *taken_out,
                               acq_error *error);
bool acq_small_is_pni(unsigned type);

#endif
