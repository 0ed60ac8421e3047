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

#include <stdatomic.h>

#include "base/text.h"
#include "engine/engine.h"
#include "graph/text/read.h"
#include "train/train.h"

/* Public parameters of reading (NULL: defaults), checked on behalf of `function`; *report is the
 * caller's to be filled, or NULL. */
acq_status acq_library_read_params(const char *function, const acq_graph_params *given,
                                   acq_read_params *out, acq_read_report **report,
                                   acq_error *error);

/* A parameter that is one of two words; NULL is the first. *out is true for `second`. */
acq_status acq_library_choose(const char *field, const char *word, const char *first,
                              const char *second, bool *out, acq_error *error);

/* Tells the caller of a training or a fit how it goes, in words too: "training  4.5 of 12.0 epochs
 * loss 3.211", unless the training has a text of its own. */
typedef struct acq_library_listener {
    acq_progress_fn progress; /* NULL: none */
    void *context;
    const char *phase; /* NULL: the training's own */
    const char *unit;  /* of what is done; "": none */
    double scale;      /* 1000: done and total are told in thousandths */
    acq_text text;
} acq_library_listener;

bool acq_library_tell(void *listener, const acq_train_progress *now);

/* What is asked together must be of one graph: the handle that one acq_graph_open made. Another
 * handle, even of the same file, may hold other facts under other ids. */
acq_status acq_library_check_graph(const char *function, const acq_query *query,
                                   const acq_predictor *predictor, acq_error *error);

/* SPARQL compares literals by value, a formula by identity: refused where that matters. */
acq_status acq_library_check_values(const acq_query *query, const acq_graph *graph,
                                    acq_error *error);

/* The parameters of a question, read and checked on behalf of `function`, in force for this
 * predictor. `progress` and `context` are the caller's. */
typedef struct acq_library_question {
    const acq_query *query;
    const acq_predictor *predictor;
    acq_engine_params params;
    acq_progress_fn progress;
    void *context;
    acq_policy *own_policy; /* opened because the engine needs weights and none were named */
    atomic_bool *stop;      /* of a cursor; NULL: none */
    bool is_new;            /* only answers that facts do not give */
    bool of_facts;          /* only answers whose positive atoms are facts (acq_engine_ask_facts) */
    uint64_t most_facts;    /* of the first so many tuples */
} acq_library_question;

/* The same without a query and a predictor, and not yet in force for one. */
acq_status acq_library_read_ask(const char *function, const acq_ask_params *given,
                                acq_library_question *out, acq_error *error);

acq_status acq_library_read_question(const char *function, const acq_query *query,
                                     const acq_predictor *predictor, const acq_ask_params *given,
                                     acq_library_question *out, acq_error *error);
void acq_library_question_deinit(acq_library_question *question);

struct acq_result {
    const acq_query *query;
    const acq_predictor *predictor; /* by which answers were scored */
    acq_engine_params params;       /* in force */
    acq_ent *values;                /* of a check, owned; NULL: an ask */
    bool has_p;                     /* answers have probabilities */
    bool is_new;                    /* answers that facts give were left out */
    double seconds;
    acq_engine_result search;
};

/* By its number or ACQ_LIKELIEST; NULL: no such one. */
const acq_engine_answer *acq_library_get_answer(const acq_result *result, size_t i);

/* An ask (tuples NULL) with one result, or checks of n tuples, each of query->n_free entities. */
acq_status acq_library_answer(const acq_library_question *question, const acq_ent *tuples, size_t n,
                              acq_result **results, acq_error *error);

/* An ask with a limit: what a cursor hands out (cursor.c). */
acq_status acq_library_ask_best(const acq_library_question *question, acq_result **out,
                                acq_error *error);

/* An ask without the answers that facts give (new.c). */
acq_status acq_library_ask_new(const acq_library_question *question, acq_result **out,
                               acq_error *error);

#endif
