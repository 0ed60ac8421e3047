/* models.h - the links and weights that rows run on: given, made by a run before, or made now.
 *
 *   ROOT/FB15k-237/train/complex    of one observed graph: set, split, name
 *   ROOT/ultraquery                 weights for any graph
 *
 * looked for, with and without ".safetensors", below --models, below FOLDER/models, and below the
 * output's own models/, where what is made is kept beside a line that says what it was made of:
 * made anew when that changed. A training that was interrupted goes on where it was.
 *
 * Names: complex, nbfnet and gnnqe (models), complex.completion, nbfnet.completion,
 * ultra.completion and fit.completion (links), policy and policy-no-pe (weights of the search),
 * ultra and ultraquery (any graph). */
#ifndef ACQ_REPRODUCE_MODELS_H
#define ACQ_REPRODUCE_MODELS_H

#include "base/text.h"
#include "reproduce/plan.h"

typedef struct acq_repro_models {
    acq_repro_plan *plan;
    const acq_repro_subject *subject; /* whose graphs are open */
    acq_graph *observed, *complete;   /* complete NULL: not needed yet */
    int64_t deadline_ns;
    int64_t begin_ns; /* of the completion that is made */
    bool is_slow;     /* it was given up: it would have taken longer than it may */
    size_t n_made;
    /* the callback of long calls; context is the models */
    const char *busy; /* what is made */
    size_t jobs_done;
} acq_repro_models;

/* What a row's links are. Everything but the numbers lives as long as the plan. */
typedef struct acq_repro_source {
    const char *spec; /* for acq_predictor_new; NULL: not to be had */
    const char *direction, *scaling, *rows, *tails;
    double floor;
    double visit;           /* share of the entities that a row visits; 0: all */
    double input_threshold; /* of the engine ultraquery */
    const char *how;        /* for readers */
    const char *why_not;    /* with spec NULL */
    uint64_t hash;          /* of the model's file, or of the graph */
} acq_repro_source;

void acq_repro_models_init(acq_repro_models *models, acq_repro_plan *plan);
void acq_repro_models_deinit(acq_repro_models *models);

/* Opens the subject's observed graph in place of another's. */
acq_status acq_repro_models_turn(acq_repro_models *models, const acq_repro_subject *subject,
                                 acq_error *error);

/* A model that cannot be made is no error but has a reason; only an interrupt or an output that
 * cannot be written is. */
acq_status acq_repro_models_get_links(acq_repro_models *models, const acq_repro_subject *subject,
                                      acq_repro_links links, acq_repro_source *out,
                                      acq_error *error);

/* The same for the policy search: spec is for acq_policy_open. trained: EACH. */
acq_status acq_repro_models_get_weights(acq_repro_models *models, const acq_repro_subject *trained,
                                        acq_repro_weights weights, acq_repro_source *out,
                                        acq_error *error);

/* For each training. */
double acq_repro_get_model_seconds(const acq_repro_settings *settings);
/* For the links of a model; 0: any time. With --quick what takes longer is given up, and rows are
 * made as questions need them. */
double acq_repro_get_links_seconds(const acq_repro_settings *settings);

bool acq_repro_models_is_late(const acq_repro_models *models);

/* For whatever takes long: tells, and says false when it is to stop. */
bool acq_repro_models_progress(void *context, const acq_progress *now);
/* The same for what makes a model: it stops with the time, and goes on in the next run. */
bool acq_repro_models_make_on(void *context, const acq_progress *now);

/* Times the steps of the policy search on the retrieval queries of a data set's 3-hub files
 * (steps.c), or takes what a run before this kept. */
acq_status acq_repro_time_steps(acq_repro_models *models, const acq_repro_subject *subject,
                                acq_error *error);

/* Makes a folder and those above it. */
acq_status acq_repro_make_folder(const char *path, acq_error *error);

/* Refuses a link: no output is written through one. */
acq_status acq_repro_check_place(const char *path, acq_error *error);
acq_status acq_repro_write(const char *path, const char *what, const acq_text *text,
                           acq_error *error);

/* Text in the plan's arena. NULL: out of memory. */
const char *acq_repro_print(acq_repro_plan *plan, const char *format, ...) ACQ_PRINTF(2, 3);

/* ---- making ----
 *
 * Inside models.h: the trainings, completions and fits behind rows, and how long they
 * may take. */

typedef enum acq_repro_thing {
    ACQ_THING_COMPLEX,
    ACQ_THING_COMPLEX_LINKS,
    ACQ_THING_NBFNET_BEGIN,
    ACQ_THING_NBFNET,
    ACQ_THING_NBFNET_LINKS,
    ACQ_THING_GNNQE,
    ACQ_THING_ULTRA_LINKS,
    ACQ_THING_FIT_LINKS,
    ACQ_THING_POLICY,
    ACQ_THING_POLICY_NO_PE,
    ACQ_THING_NO_THING,
} acq_repro_thing;

const char *acq_repro_thing_get_name(acq_repro_thing t); /* of its file */
/* What it begins with, or completes. */
acq_repro_thing acq_repro_thing_get_source(acq_repro_thing t);
/* How a completion opens the predictor that it completes: all but the model's file and the words
 * for readers. */
acq_repro_source acq_repro_thing_get_links(const acq_repro_models *models, acq_repro_thing t);

/* What a thing is made of and how, as one line; the identity of what was made. */
void acq_repro_thing_describe(const acq_repro_models *models, acq_repro_thing t, uint64_t from_hash,
                              acq_text *out);

/* Makes it of the open graph at `path`, and the line beside it in PATH.made. from: the file of its
 * source; NULL: none. */
acq_status acq_repro_thing_make(acq_repro_models *models, acq_repro_thing t, const char *path,
                                const char *from, acq_text *description, acq_error *error);

#endif
