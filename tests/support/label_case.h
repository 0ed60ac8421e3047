/* label_case.h - a random small problem with an observed graph beside the predictor, and the
 * labels of the computational graph from their definition: dense tables, no links, no classes. */
#ifndef ACQ_TESTS_SUPPORT_LABEL_CASE_H
#define ACQ_TESTS_SUPPORT_LABEL_CASE_H

#include "query/problem.h"
#include "search/policy/walk.h"
#include "support/case.h"

typedef struct label_case {
    test_case base; /* its predictor's graph is `graph` */
    bool observed[CASE_MOST_RELATIONS][CASE_MOST_ENTITIES][CASE_MOST_ENTITIES];
    acq_graph *graph;
    acq_problem *problem;
} label_case;

/* Everything follows from the seed. Most graphs have 1 to 30 entities; in some cases the free
 * variables are fixed. */
void label_case_init(label_case *c, uint64_t seed);
void label_case_deinit(label_case *c);

/* Cases that a test takes: ACQ_CASES of the environment, or the usual number. */
uint64_t label_case_count(uint64_t usual);

bool label_case_holds(const label_case *c, const acq_literal *literal, acq_ent left, acq_ent right);

/* LE: does the node (a literal, or a clause's tree) hold with the place at `a` and the other
 * variables of the problem at values? */
bool label_case_is_light(const label_case *c, const acq_branch *node, acq_place z, acq_ent a,
                         const acq_ent *values);
/* PE: can it? */
bool label_case_is_potential(const label_case *c, acq_pe pe, const acq_branch *node, acq_place z,
                             acq_ent a);

/* What a board calls term and node, in the problem's words. */
acq_place label_case_get_place(const acq_board *board, uint32_t term);
acq_branch label_case_get_branch(const acq_board *board, uint32_t node);
bool label_case_mentions(const acq_branch *node, acq_place z);

/* The board of the case; never NULL. */
acq_board *label_case_new_board(const label_case *c, acq_pe pe);

#endif
