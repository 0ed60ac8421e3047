/* solutions.h - the solutions of a SPARQL query: terms, and where predicted rows came from. */
#ifndef ACQ_LIBRARY_SOLUTIONS_H
#define ACQ_LIBRARY_SOLUTIONS_H

#include <pthread.h>

#include "base/text.h"
#include "library/parts.h"
#include "query/sparql/syntax.h"
#include "sparql/evaluate.h"

struct acq_solutions {
    acq_sparql_query *sparql;
    const acq_graph *graph;
    const acq_predictor *predictor; /* NULL: none */
    acq_terms terms;
    acq_solution_rows rows;
    size_t *answers;    /* of each row: its answer in `result` + 1; 0: made of facts; NULL: all are */
    acq_query *formula; /* NULL: it has none */
    acq_result *result; /* of the formula; NULL: not asked */
    const char *spent;
    bool has_p;
    acq_text warning, note;
    acq_arena texts; /* of literals, made when asked for */
    pthread_mutex_t lock;
};

/* Further rows, of width cells each. */
acq_status acq_solutions_add_row(acq_solutions *solutions, const uint32_t *cells, size_t answer,
                                 acq_error *error);

#endif
