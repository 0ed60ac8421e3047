/* labels.h - the answers of a drafted query, easy and hard, and the tuples that are none.
 *
 * Easy answers hold in the observed graph, hard ones only in the complete one. All come from exact
 * search, whose every answer the verifier has scored again; a list that the search could not finish
 * within its work is of no use, so work is counted and not time: a seed gives one benchmark. */
#ifndef ACQ_GENERATE_LABELS_H
#define ACQ_GENERATE_LABELS_H

#include "engine/engine.h"
#include "generate/draft.h"

/* Both worlds, in the ids of the observed graph. */
typedef struct acq_worlds_pair {
    const acq_graph *observed_graph;
    const acq_predictor *observed, *complete; /* 1 for a fact, else 0 */
    uint64_t work;                            /* of a search */
} acq_worlds_pair;

/* Tuples of n_free values each. */
typedef struct acq_tuples {
    acq_ent *values;
    size_t n, capacity; /* capacity in values */
    uint32_t n_free;
    bool is_whole; /* all there are */
} acq_tuples;

void acq_tuples_deinit(acq_tuples *tuples);
acq_status acq_tuples_add(acq_tuples *tuples, const acq_ent *tuple);
bool acq_tuples_has(const acq_tuples *tuples, const acq_ent *tuple);

/* The answers in one world, `limit` of them at most (0: all). */
acq_status acq_labels_list(const acq_worlds_pair *worlds, const acq_predictor *world,
                           const acq_query *query, uint64_t limit, acq_tuples *out,
                           acq_error *error);

/* Does the tuple answer the query in this world? Undecided within the work: *is_sure is false. */
acq_status acq_labels_check(const acq_worlds_pair *worlds, const acq_predictor *world,
                            const acq_query *query, const acq_ent *tuple, bool *holds,
                            bool *is_sure, acq_error *error);

/* A candidate set for classification. */
typedef struct acq_candidate_set {
    acq_tuples correct, wrong;
    size_t n_easy;   /* of the correct ones */
    size_t n_unseen; /* of the correct ones: not seen at the place of the free variable */
} acq_candidate_set;

void acq_candidate_set_deinit(acq_candidate_set *set);

/* |C| = |W| = the number of answers clipped to [5, 10], as far as there are so many. A hard answer
 * is twice as likely to be drawn as an easy one. Wrong candidates are uniform among the entities
 * seen at the free variable's end of every positive atom that are no answers. matched: correct ones
 * are seen there too, so that nothing but the answer itself tells the two apart. A set that
 * cannot be made is empty. */
acq_status acq_candidate_set_draw(const acq_worlds_pair *worlds, const acq_query *query,
                                  const acq_tuples *easy, const acq_tuples *all, bool matched,
                                  acq_random *random, acq_candidate_set *out, acq_error *error);

/* An entity for the free variable of a query with one, such that the query does not hold: seen at
 * its end of every positive atom, or, near, one that satisfies all atoms but one. ACQ_NO_ID: none
 * was found. */
acq_status acq_labels_draw_wrong(const acq_worlds_pair *worlds, const acq_draft *draft, bool near,
                                 acq_random *random, acq_ent *out, acq_error *error);

#endif
