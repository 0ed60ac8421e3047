/* open.h - a predictor from its name on the command line. */
#ifndef ACQ_ENGINE_OPEN_H
#define ACQ_ENGINE_OPEN_H

#include "graph/read.h"
#include "predict/predictor.h"

/* prefix of the name, does a file follow?, in this version? */
#define ACQ_PREDICTORS(X)                                                                          \
    X(auto, false, true)                                                                           \
    X(observed, false, true)                                                                       \
    X(perfect, true, true)                                                                         \
    X(completion, true, true)                                                                      \
    X(complex, true, false)                                                                        \
    X(nbfnet, true, false)                                                                         \
    X(ultra, false, false)

/* spec: "auto", "observed", "perfect:GRAPH" or "completion:FILE". The graph after perfect: is
 * read with `read` (NULL: defaults), a folder up to and including its test split. report, which
 * may be NULL, is filled for perfect: and zeroed for the others. ACQ_ERR_USAGE names what is
 * known when the spec is not. */
acq_status acq_predictor_open(const acq_graph *graph, const char *spec, const acq_read_params *read,
                              acq_predictor **out, acq_perfect_report *report, acq_error *error);

/* Checks the spelling only; opens nothing. */
acq_status acq_predictor_check_spec(const char *spec, acq_error *error);

#endif
