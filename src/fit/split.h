/* split.h - inside fit: the graph without the links that calibrators learn from.
 *
 * The rest has the ids of the whole: the same entities and relations, fewer facts. */
#ifndef ACQ_FIT_SPLIT_H
#define ACQ_FIT_SPLIT_H

#include "fit/fit.h"

/* The facts of `whole` that `earlier` has too (by name). */
acq_status acq_split_by_earlier(const acq_graph *whole, const acq_graph *earlier, acq_graph **out,
                                acq_error *error);

/* Without a share of the facts, drawn by their hash. As every entity of a graph has facts, those of
 * the rest must: a drawn fact stays when all facts of one of its ends are drawn. Pairs: also when
 * another one links the same two entities and stays. So many are drawn that the share goes, if it
 * can. A graph whose rest would be empty is refused, and one that nothing can be held out of. */
acq_status acq_split_by_share(const acq_graph *whole, double share, acq_fit_hold hold,
                              uint64_t seed, acq_graph **out, acq_error *error);

/* Which of the two folds a pair of entities belongs to: 0 or 1, the same in both directions. */
unsigned acq_split_get_fold(acq_ent head, acq_ent tail);

#endif
