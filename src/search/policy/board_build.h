/* board_build.h - the passes that make a board, in the order in which they run. */
#ifndef ACQ_SEARCH_POLICY_BOARD_BUILD_H
#define ACQ_SEARCH_POLICY_BOARD_BUILD_H

#include "search/policy/board.h"

typedef struct acq_board_builder {
    const acq_problem *problem;
    acq_board *board;
    acq_error *error;
    uint32_t n_occurrences;   /* of literals: the top-level ones, then the leaves of the clauses */
    uint32_t *variable_terms; /* term of each variable of the problem */
    uint32_t *numbers;        /* of the literal of each occurrence */
} acq_board_builder;

/* Terms and distinct literals: board_build.c. */
acq_status acq_board_add_terms(acq_board_builder *builder);
acq_status acq_board_add_literals(acq_board_builder *builder);
acq_status acq_board_add_nodes(acq_board_builder *builder);

/* Touches, edges and the leaves at them: board_edges.c. */
acq_status acq_board_add_touches(acq_board_builder *builder);
acq_status acq_board_add_edges(acq_board_builder *builder);

/* Links, cuts, possibility: board.c. The bound: board_bound.c. */
acq_status acq_board_open_links(acq_board_builder *builder);
acq_status acq_board_add_bound(acq_board_builder *builder);

#endif
