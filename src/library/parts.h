/* parts.h - what the files of the public library share.
 *
 * The library is thin: public parameters become internal ones, names become ids, and results keep
 * what they came from so that they can be read by name. How every function here is made:
 *
 *   acq_status acq_thing_do(const acq_graph *graph, const acq_do_params *given, acq_thing **out,
 *                           acq_error *error)
 *   {
 *       ACQ_REQUIRE(graph, error);                           refuses NULL by name
 *       ACQ_REQUIRE(out, error);
 *       acq_do_params params = defaults;
 *       acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
 *       ...
 *   }
 *
 * ACQ_REQUIRE and acq_sized_... are in base/types.h: some public functions live in their modules.
 */
#ifndef ACQ_LIBRARY_PARTS_H
#define ACQ_LIBRARY_PARTS_H

#include "engine/engine.h"
#include "graph/text/read.h"

/* Public parameters of reading (NULL: defaults), checked on behalf of `function`. */
acq_status acq_library_read_params(const char *function, const acq_graph_params *given,
                                   acq_read_params *out, acq_error *error);

/* What is asked together must be of one graph: the handle that one acq_graph_open made. Another
 * handle, even of the same file, may hold other facts under other ids. */
acq_status acq_library_check_graph(const char *function, const acq_query *query,
                                   const acq_predictor *predictor, acq_error *error);

struct acq_result {
    const acq_query *query;
    const acq_predictor *predictor; /* by which answers were scored */
    acq_scoring scoring;
    acq_engine_result search;
};

#endif
