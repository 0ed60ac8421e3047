/* eval.h - runs an engine over benchmark query files and measures it.
 *
 * QAC: every candidate of every set is one decision: yes when the engine answers. QAR: every
 * instance is one decision: the best tuple, or None. Where the predictor has a calibrator, p
 * decides in both (engine/engine.h), for candidates of which the share `prior` is true. Undecided
 * counts as no or None, and is counted. Decisions go to their own slots and are summed up in file
 * order, so everything but the times is the same at any number of threads.
 *
 * A QAR tuple is right when the instance lists it. Published lists stop at 500 answers: when a
 * list is that long and lacks the tuple, the truth graph decides, or else the predictor if it is
 * perfect; without either the tuple counts as wrong, and as `unlisted`.
 *
 * Times are per decision: grounding (in QAC an equal share of the set's), normal form, search and
 * verification; not parsing, not judging. The policy search takes the candidates of a set in one
 * batch, whose time they share equally. The total pools the decisions of all files: QAC f1 is
 * the mean over all their candidate sets, shares are over all candidates, QAR counts are summed. */
#ifndef ACQ_EVAL_EVAL_H
#define ACQ_EVAL_EVAL_H

#include "base/text.h"
#include "eval/files.h"
#include "eval/metrics.h"
#include "engine/engine.h"

/* False stops: ACQ_ERR_INTERRUPTED. */
typedef bool (*acq_eval_progress_fn)(void *context, size_t done, size_t all);

typedef struct acq_eval_params {
    acq_bench_task task;
    const acq_predictor *predictor; /* its graph is the observed one */
    const acq_predictor *truth;     /* judges QAR answers; NULL: none */
    bool is_perfect;                /* predictor may judge what a cut-off list lacks */
    acq_engine_params engine;
    bool has_atoms; /* `atoms` instead of each file's own reading */
    acq_atoms_reading atoms;
    double prior; /* share of true candidates, for calibrated probabilities */
    size_t first; /* instances taken of each file; 0: all */
    unsigned n_threads;
    int64_t deadline_ns;           /* what is not decided then is undecided; 0: none */
    double *decision_ms;           /* NULL, or room for the time of every decision, in file order */
    acq_eval_progress_fn progress; /* called from the calling thread; may be NULL */
    void *context;
} acq_eval_params;

#define ACQ_EVAL_DEFAULT                                                                           \
    ((acq_eval_params){.engine = ACQ_ENGINE_DEFAULT, .prior = 0.5, .n_threads = 1})

/* `engine` with the prior. */
acq_engine_params acq_eval_get_engine(const acq_eval_params *params);

/* rows has room for n_files + 1, the last one being the total. All files are of params->task. */
acq_status acq_eval_run(const acq_eval_params *params, const acq_bench_file *const *files,
                        size_t n_files, acq_eval_row *rows, acq_error *error);

/* ---- rows as text (print.c): a table for people, one JSON object per line for programs ---- */

/* rows[n - 1] is the total. At most 80 columns. For QAC each row is followed by that of the
 * answerer that always says yes. A value that does not exist is "-". */
void acq_eval_print_table(acq_text *text, const acq_eval_row *rows, size_t n);

/* One object and a newline. A value that does not exist is null. */
void acq_eval_print_json(acq_text *text, const acq_eval_row *row);

#endif
