/* service.h - what the server and the assistants' server do, without the way it is asked for: a
 * tool by its name, JSON in, JSON out.
 *
 *   graph        entities, relations, facts; with their names, counts and what their links are
 * worth names        entities whose name begins with a prefix ask          answers of a query, most
 * likely first     check   is this tuple one? explain      check, with every atom, its fact, and
 * the reasons of a predicted one predict      links of one entity                       suggest
 * likely missing facts add, remove  facts, where the service is writable
 *
 * A set of graphs is opened once and never changes; a reload puts another set in its place. */
#ifndef ACQ_SERVER_SERVICE_H
#define ACQ_SERVER_SERVICE_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/text.h"

/* Numbers have as many digits as the command prints. */
#define ACQ_SERVICE_STYLE (JSON_COMPACT | JSON_REAL_PRECISION(6))

typedef struct acq_service_params {
    const char *const *paths; /* of graphs; the name of each is that of its file without ending */
    size_t n_paths;
    const char *predictor;
    double seconds;        /* most time of a request */
    uint64_t memory_bytes; /* of a request; 0: no limit */
    uint64_t most_answers; /* of a request */
    bool is_writable;      /* facts may be added and removed */
    bool warms;            /* predictors that learn at first use do so when graphs are opened */
} acq_service_params;

typedef struct acq_served_graph {
    char *name;
    const char *path;
    acq_graph *graph;
    acq_predictor *predictor;
    acq_predictor *observed; /* facts alone */
    bool is_observed;        /* the predictor: nothing is predicted */
    int64_t n_changed;       /* facts added and removed since what its predictor has learnt */
    atomic_int users;        /* sets that it belongs to */
} acq_served_graph;

typedef struct acq_service {
    acq_service_params params;
    acq_served_graph **graphs;
    size_t n;
    atomic_int users; /* a set that was replaced is freed by its last user */
} acq_service;

/* The set that is served now. Learning takes seconds, so a graph does not learn anew after each
 * change: what it has learnt counts until 20 facts and 1 in 100 have changed; then a thread learns
 * anew, and questions go on with the old meanwhile. */
typedef struct acq_served {
    pthread_mutex_t lock; /* of what follows */
    acq_service *now;
    pthread_t learner;
    bool has_learner, is_learning; /* one that has ended is joined by the next */
    atomic_bool must_end;
} acq_served;

acq_status acq_served_init(acq_served *served, const acq_service_params *params, acq_error *error);
void acq_served_deinit(acq_served *served);

/* The set, which stays while it is used: each join wants a leave. */
acq_service *acq_served_join(acq_served *served);
void acq_service_leave(acq_service *service);

/* Opens the graph of this name anew, or all (NULL). After an error the old ones stay. n_changed: of
 * the one graph so many facts were changed; its predictor goes on with what it has learnt. */
acq_status acq_served_reload(acq_served *served, const char *name, uint64_t n_changed,
                             acq_error *error);

/* By name; NULL or "": the first. */
const acq_served_graph *acq_service_find(const acq_service *service, const char *name);

/* One request under way. is_over is asked now and then: true ends the work with what was found. */
typedef struct acq_call {
    const acq_service *service;
    acq_served *served;
    bool (*is_over)(void *context);
    void *context;
} acq_call;

/* The result, or an object with "error": code, message, and what to change. *status is HTTP's. */
json_t *acq_service_run(const acq_call *call, const char *tool, const json_t *arguments,
                        int *status);
bool acq_service_has(const acq_service_params *params, const char *tool);
bool acq_service_writes(const char *tool);

/* A question whose answers come one by one, facts first. Each is an object of JSON, of a kind:
 *
 *   progress   phase, done, total: a sign of life    step   of the policy search, with "trace"
 *   answer     as in the list of a whole result      result the rest of it, at the end
 */
typedef struct acq_asking acq_asking;

/* Told of one; false: nobody wants more. */
typedef bool (*acq_emit_fn)(void *context, const char *kind, const char *json, size_t length);

/* NULL: *failure is what is wrong. call outlives it; arguments need not. */
acq_asking *acq_asking_new(const acq_call *call, const json_t *arguments, json_t **failure,
                           int *status);
void acq_asking_run(acq_asking *asking, acq_emit_fn emit, void *context);

/* The same as one object: the result, with its answers. *status is HTTP's. */
void acq_asking_write(acq_asking *asking, acq_text *out, int *status);
void acq_asking_free(acq_asking *asking);

/* An error as such an object. */
json_t *acq_service_fail(int status, const char *code, const char *message, int *out);
json_t *acq_service_fail_with(const acq_error *error, int *status);

/* ---- arguments ---- */

/* A number, also one in a text, as URLs have it; out stays as it is without one. */
bool acq_argument_get_number(const json_t *arguments, const char *name, double low, double high,
                             double *out, acq_error *error);
bool acq_argument_get_count(const json_t *arguments, const char *name, double most, uint64_t *out,
                            acq_error *error); /* whole, from 1 */
const char *acq_argument_get_text(const json_t *arguments, const char *name);
bool acq_argument_is_true(const json_t *arguments, const char *name);

/* Parameters of a question, limited by the service; call and arguments outlive them. */
acq_status acq_service_read_ask(const acq_call *call, const json_t *arguments, acq_ask_params *out,
                                acq_error *error);

json_t *acq_service_text(const char *text); /* never NULL for UTF-8 */

#endif
