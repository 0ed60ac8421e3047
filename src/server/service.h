/* service.h - what the server and the assistants' server do, without the way it is asked for: a
 * tool by its name, JSON in, JSON out.
 *
 *   graph        entities, relations, facts; with their names and counts
 *   names        entities whose name begins with a prefix
 *   ask          answers of a query, most likely first     check   is this tuple one?
 *   explain      check, with every atom, its fact, and the reasons of a predicted one
 *   predict      links of one entity                       suggest likely missing facts
 *
 * A set of graphs is opened once and never changes; a reload opens another set. */
#ifndef ACQ_SERVER_SERVICE_H
#define ACQ_SERVER_SERVICE_H

#include <jansson.h>
#include <stdatomic.h>

#include "base/types.h"

typedef struct acq_service_params {
    const char *const *paths; /* of graphs; the name of each is that of its file without ending */
    size_t n_paths;
    const char *predictor;
    double seconds;        /* most time of a request */
    uint64_t memory_bytes; /* of a request; 0: no limit */
    uint64_t most_answers; /* of a request */
} acq_service_params;

typedef struct acq_served_graph {
    char *name;
    acq_graph *graph;
    acq_predictor *predictor;
} acq_served_graph;

typedef struct acq_service {
    acq_service_params params;
    acq_served_graph *graphs;
    size_t n;
    atomic_int users; /* a set that was replaced is freed by its last user */
} acq_service;

/* One user: the caller. */
acq_status acq_service_open(const acq_service_params *params, acq_service **out, acq_error *error);
void acq_service_leave(acq_service *service);

/* By name; NULL or "": the first. */
const acq_served_graph *acq_service_find(const acq_service *service, const char *name);

/* One request under way. is_over is asked now and then: true ends the work with what was found. */
typedef struct acq_call {
    const acq_service *service;
    bool (*is_over)(void *context);
    void *context;
} acq_call;

/* The result, or an object with "error": code, message, and what to change. *status is HTTP's. */
json_t *acq_service_run(const acq_call *call, const char *tool, const json_t *arguments,
                        int *status);
bool acq_service_has(const char *tool);

/* An error as such an object. */
json_t *acq_service_fail(int status, const char *code, const char *message, int *out);
json_t *acq_service_fail_with(const acq_error *error, int *status);

/* Parameters of a question, limited by the service; call outlives them. */
acq_status acq_service_read_ask(const acq_call *call, const json_t *arguments, acq_ask_params *out,
                                acq_error *error);

json_t *acq_service_text(const char *text); /* never NULL for UTF-8 */

#endif
