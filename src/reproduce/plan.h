/* plan.h - the tables as a list of jobs: one evaluation of one part of one data set.
 *
 * Rows of several tables that ask for the same evaluation share a job. A job's identity is a hash
 * of all that its numbers depend on: its questions, graph, links, weights, options and the build.
 * Its result is kept under its name with that identity; a result of another one is not used. */
#ifndef ACQ_REPRODUCE_PLAN_H
#define ACQ_REPRODUCE_PLAN_H

#include "reproduce/paper.h"
#include "reproduce/reproduce.h"

/* One row of an evaluation: a file, or the total of several. */
typedef struct acq_repro_cell {
    bool is_there;
    double f1, matched, wrong, always_yes, recall_easy, recall_hard, ms;
    uint64_t decisions, correct, right, easy, undecided, sets;
    uint64_t first; /* instances taken of each file; 0: all */
} acq_repro_cell;

typedef struct acq_repro_job {
    const char *name; /* "FB15k-237 valid qac 2p policy nbfnet shipped": also of its file */
    const acq_repro_subject *subject;
    const acq_repro_subject *trained; /* EACH: the weights' data set; else NULL */
    const acq_repro_row *row;         /* the first that asks for it */
    acq_repro_part part;
    bool is_qac;
    double seconds;                          /* of a question */
    uint64_t files;                          /* hash of its questions */
    uint64_t first;                          /* instances taken of each file; 0: all */
    bool is_done;                            /* cells are filled */
    bool is_kept;                            /* by a run before this */
    const char *how;                         /* what the links were, as its result says */
    acq_repro_cell cells[ACQ_MOST_FREE + 1]; /* qac: the first; qar: k = 1, 2, 3, total */
    struct acq_repro_job *next;
} acq_repro_job;

/* The mean time of a step of the policy search on one query. */
typedef struct acq_repro_step {
    const acq_repro_subject *subject;
    unsigned variables, literals;
    uint64_t steps;
    double ms;
    struct acq_repro_step *next;
} acq_repro_step;

/* A graph or a model that numbers came from, for the manifest. */
typedef struct acq_repro_input {
    const char *kind, *name; /* "graph", "FB15k-237 train"; "model", its path */
    uint64_t hash;           /* a graph's fingerprint; of a file's bytes */
    struct acq_repro_input *next;
} acq_repro_input;

typedef struct acq_repro_plan {
    const acq_repro_settings *settings;
    acq_repro_folder folder;
    acq_repro_job *jobs;
    size_t n_jobs;
    acq_repro_input *inputs;
    acq_repro_step *steps;
    bool has_gnnqe; /* engines that a library may lack */
} acq_repro_plan;

/* Is the table wanted? */
bool acq_repro_plan_has_table(const acq_repro_plan *plan, const acq_repro_table *table);

/* Deinit also after an error. settings are borrowed. */
acq_status acq_repro_plan_init(acq_repro_plan *plan, const acq_repro_settings *settings,
                               acq_error *error);
void acq_repro_plan_deinit(acq_repro_plan *plan);

/* The job behind a row's column; NULL: none, as the folder lacks it. `trained` as in the job. */
acq_repro_job *acq_repro_plan_find(const acq_repro_plan *plan, const acq_repro_subject *subject,
                                   const acq_repro_subject *trained, const acq_repro_row *row,
                                   acq_repro_part part, bool is_qac);

/* The result that a run before this left in DIR/jobs: taken if it has this identity. A file that
 * cannot be read counts as none. */
acq_status acq_repro_job_read(acq_repro_plan *plan, acq_repro_job *job, uint64_t identity,
                              acq_error *error);

/* Keeps an evaluation as the job's result, whole or not at all, and fills its cells. */
acq_status acq_repro_job_write(acq_repro_plan *plan, acq_repro_job *job, uint64_t identity,
                               const acq_evaluation *evaluation, double seconds, acq_error *error);

/* Were most of its questions not reached, so that its numbers say nothing? The engine of observed
 * facts is judged under its time limit all the same. */
bool acq_repro_job_is_cut(const acq_repro_job *job);

/* The number of a cell, as the row measures; NAN: none. */
double acq_repro_cell_measure(const acq_repro_cell *cell, acq_repro_measure measure);

/* The cell of a table's column; NULL: no result. */
const acq_repro_cell *acq_repro_plan_get_cell(const acq_repro_plan *plan,
                                              const acq_repro_table *table,
                                              const acq_repro_row *row,
                                              const acq_repro_subject *subject,
                                              const acq_repro_subject *trained, size_t column);

/* For everything, with --quick. */
#define ACQ_REPRO_QUICK_SECONDS 840.0

/* What a row's time limit is here: --quick has less than the paper, and more with more time; SQL,
 * which needs its time, has one part in sixty. */
double acq_repro_get_limit(const acq_repro_settings *settings, const acq_repro_row *row);

/* Is the figure of step times wanted? It is the table "steps". */
bool acq_repro_plan_has_steps(const acq_repro_plan *plan);

/* Twice the same is kept once. */
acq_status acq_repro_plan_add_input(acq_repro_plan *plan, const char *kind, const char *name,
                                    uint64_t hash, acq_error *error);

/* How many instances of each file; 0: all. */
uint64_t acq_repro_get_first(const acq_repro_settings *settings, bool is_qac, bool is_hub);

#endif
