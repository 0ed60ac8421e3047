/* reading.h - which of several parallel atoms count: the three readings of a benchmark formula.
 *
 *   r1(x,y) & r2(y,x) & r3(x,y)     written        all three
 *                                   pair           r3(x,y): the last of the unordered pair {x,y}
 *                                   ordered-pair   r2(y,x) & r3(x,y): the last of each (head, tail)
 *
 * A negated atom is an atom of its pair too. Terms are the formula's own: s1 and s2 differ even
 * when both are grounded to one id. Equalities are no atoms and all stay. */
#ifndef ACQ_QUERY_READING_H
#define ACQ_QUERY_READING_H

#include "query/query.h"

typedef enum acq_atoms_reading {
    ACQ_ATOMS_WRITTEN,
    ACQ_ATOMS_PAIR,
    ACQ_ATOMS_ORDERED_PAIR,
    ACQ_N_ATOMS_READINGS
} acq_atoms_reading;

/* "written", "pair", "ordered-pair"; ACQ_N_ATOMS_READINGS when unknown. */
acq_atoms_reading acq_atoms_reading_find(const char *name);
const char *acq_atoms_reading_get_name(acq_atoms_reading reading);

/* Is the reading defined for this query? ACQ_ERR_INPUT otherwise, with the place. */
acq_status acq_query_check_reading(const acq_query *query, acq_atoms_reading reading,
                                   acq_error *error);

/* A new query with the atoms that count; groundings and bound ids are kept. The last two readings
 * exist only for conjunctions of atoms, negated atoms and equalities (ACQ_ERR_INPUT otherwise).
 * Expected cost: linear in the number of atoms. */
acq_status acq_query_apply_reading(const acq_query *query, acq_atoms_reading reading,
                                   acq_query **out, acq_error *error);

#endif
