/* open.h - a predictor from its name on the command line. */
#ifndef ACQ_ENGINE_OPEN_H
#define ACQ_ENGINE_OPEN_H

#include "base/text.h"
#include "graph/text/read.h"
#include "predict/predictor.h"
#include "predict/rows.h"

typedef enum acq_spec_file { ACQ_SPEC_NO_FILE, ACQ_SPEC_MAY_FILE, ACQ_SPEC_FILE } acq_spec_file;

/* prefix of the name, does a file follow? */
#define ACQ_PREDICTORS(X)                                                                          \
    X(auto, ACQ_SPEC_NO_FILE)                                                                      \
    X(observed, ACQ_SPEC_NO_FILE)                                                                  \
    X(perfect, ACQ_SPEC_FILE)                                                                      \
    X(completion, ACQ_SPEC_FILE)                                                                   \
    X(complex, ACQ_SPEC_FILE)                                                                      \
    X(nbfnet, ACQ_SPEC_FILE)                                                                       \
    X(rules, ACQ_SPEC_FILE)                                                                        \
    X(ultra, ACQ_SPEC_MAY_FILE)

typedef struct acq_open_params {
    const acq_read_params *read; /* for the graph after perfect:; NULL: defaults */
    const char *graph_path;      /* `auto` looks for a completion beside it; NULL: it does not */
    acq_direction direction;     /* complex, nbfnet, ultra:MODEL */
    bool is_qto;                 /* complex: QTO's scale in place of FIT's */
    acq_row_choice rows;         /* complex, nbfnet, ultra: which rows are made */
    acq_tail_choice tails;       /* which tails these propose */
    double floor;                /* of their links; 0: the kind's own */
    double visit;        /* nbfnet, ultra: share of the entities that a row visits; 0: by size */
    size_t memory_bytes; /* of links kept; 0: no limit */
    unsigned n_threads;
    bool learnt_earlier; /* ultra: trees that an earlier state of the graph has kept count too */
} acq_open_params;

/* spec:
 *   observed, perfect:GRAPH, completion:FILE
 *   complex:MODEL                FIT's scale
 *   nbfnet:MODEL, ultra:MODEL    sigmoids, as published
 *   rules:MODEL                  the probability that the rules give together
 *   ultra                        shipped weights, probabilities by the shipped calibrator
 *   auto                         the graph's completion if it has one (the file GRAPH.completion,
 *                                in a folder the file `completion`), else ultra if this build has
 *                                weights, on large graphs by rows around what is asked, else
 *                                observed; the predictor's name says which
 * The graph after perfect: is read up to and including its test split. report, which may be NULL,
 * is filled for perfect: and zeroed for the others. ACQ_ERR_USAGE names what is known when the
 * spec is not. */
acq_status acq_predictor_open_with(const acq_graph *graph, const char *spec,
                                   const acq_open_params *params, acq_predictor **out,
                                   acq_perfect_report *report, acq_error *error);

/* The same with nothing but how to read. */
acq_status acq_predictor_open(const acq_graph *graph, const char *spec, const acq_read_params *read,
                              acq_predictor **out, acq_perfect_report *report, acq_error *error);

/* Checks the spelling only; opens nothing. */
acq_status acq_predictor_check_spec(const char *spec, acq_error *error);

/* Where `auto` looks for the completion of a graph: GRAPH.completion beside a file or a store,
 * `completion` in a folder. */
void acq_open_name_completion(const char *graph_path, acq_text *out);

#endif
