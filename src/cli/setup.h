/* setup.h - the graph, predictor and weights that a command line names, opened with their notes. */
#ifndef ACQ_CLI_SETUP_H
#define ACQ_CLI_SETUP_H

#include "base/file.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/report.h"

/* ---- ranks ----
 *
 * Processes that mpirun has started together share the work of a command (ranks.c). Without
 * mpirun, or in a build without MPI, there is one. */

/* Before anything is printed. Of several ranks only the first writes to standard output; what the
 * others write to standard error is kept, and shown when they fail. */
acq_status acq_ranks_begin(acq_error *error);

/* Ends this rank with an exit code, which it returns; one that stands for a failure ends all of
 * them. */
int acq_ranks_end(int code);

/* NULL: this process is alone. */
const acq_ranks *acq_ranks_get(void);

/* Waits until all ranks are here. */
acq_status acq_ranks_wait(acq_error *error);

/* ---- shards ----
 *
 * Without mpirun: a run with --shard I/N leaves its part in -o FILE, and one with --merge takes the
 * parts of all from files and has only to sum them up. */

/* "2/8": the second of eight. NULL: 0, 0. */
acq_status acq_shard_parse(const char *text, uint32_t *part, uint32_t *of_parts, acq_error *error);

typedef struct acq_shared_work {
    acq_ranks ranks; /* what it is to the work: one of N processes, or none of them */
    bool is_shard, is_merge;
    acq_text identity, joined; /* of a shard: what it has left for the others */
    acq_work_shard *shards;    /* of a merge */
    size_t n_shards, at;       /* how much of each was taken */
} acq_shared_work;

/* By --shard and --merge of an evaluation of this graph; without them by mpirun. Refuses options
 * that do not go together. Deinit also after an error. */
acq_status acq_shared_work_init(acq_shared_work *work, const acq_options *options,
                                const acq_graph *graph, acq_error *error);
void acq_shared_work_deinit(acq_shared_work *work);
const acq_ranks *acq_shared_work_get_ranks(const acq_shared_work *work);

/* Of a shard: writes -o FILE. */
acq_status acq_shared_work_finish(const acq_shared_work *work, const acq_options *options,
                                  acq_output *output, acq_error *error);

/* ---- what a command line names ---- */

typedef struct acq_setup {
    acq_graph *graph;
    acq_read_report report; /* of reading the graph */
    acq_predictor *predictor;
    acq_policy *policy; /* of --weights; NULL: another engine than policy */
} acq_setup;

/* A store, or a graph read with --split, --strict, --base and --literals; what was left out is
 * noted. report may be NULL. */
acq_status acq_setup_read_graph(const acq_options *options, const char *path, acq_output *output,
                                acq_graph **out, acq_read_report *report, acq_error *error);

/* Only a store can be changed: anything else is an error with the remedy. */
acq_status acq_setup_require_store(const char *path, acq_error *error);

/* Nothing that the command reads may be lost by what it writes at `path` and beside it, nor a
 * store, nor a link that leads nowhere yet. */
acq_status acq_setup_check_output(const acq_options *options, const char *path, acq_error *error);

/* The same for -o and --svg, before a command does anything. */
acq_status acq_setup_check_outputs(const acq_options *options, acq_error *error);

/* A pipe gives what it holds once: a command line that names one twice is refused. */
acq_status acq_setup_check_pipes(const acq_options *options, acq_error *error);

/* What --predictor auto, the default, came to. complete and eval say so at the start; ask, check
 * and predict once, after an answer that does not rest on facts alone. */
void acq_setup_note_auto(const acq_options *options, const acq_predictor *predictor,
                         acq_output *output);

/* Were all names read that have been printed since byte `start`? If not, they are taken back: a
 * name that a store could not read is an error and no answer. */
acq_status acq_setup_check_names(const acq_graph *graph, acq_output *output, size_t start,
                                 acq_error *error);

/* The graph at `path`, the predictor of --predictor and, with --engine policy, the weights of
 * --weights. Deinit also after an error. */
acq_status acq_setup_init(acq_setup *setup, const acq_options *options, const char *path,
                          acq_output *output, acq_error *error);
void acq_setup_deinit(acq_setup *setup);

/* Of these the weights and, if it is wanted, the predictor, for the graph that is in `setup`. After
 * an error neither is there. */
acq_status acq_setup_open_believed(acq_setup *setup, const acq_options *options,
                                   bool with_predictor, const char *path, acq_output *output,
                                   acq_error *error);

/* A relation by its name; an unknown one is an error with the nearest known name. */
acq_status acq_setup_find_relation(const acq_graph *graph, const char *name, acq_rel *out,
                                   acq_error *error);

/* Engine, thresholds and budgets from the options; the weights are left to the caller. Refuses what
 * this version lacks, and options of another engine. */
acq_status acq_setup_read_ask(const acq_options *options, acq_ask_params *out, acq_error *error);

/* Is an option that is given (text not NULL) one of these two words? */
acq_status acq_setup_check_choice(enum acq_option_id option, const char *text, const char *first,
                                  const char *second, acq_error *error);

/* --rows and --tails. */
acq_status acq_setup_check_candidates(const acq_options *options, acq_error *error);

/* Refuses --min-p and --prior where answers get no probability. */
acq_status acq_setup_check_calibrator(const acq_options *options, const acq_predictor *predictor,
                                      acq_error *error);

#endif
