/* options.h - the options of a training by name: set from text, printed, and the identity that a
 * checkpoint must agree with. The names, ranges and help texts are those of option_table.h. */
#ifndef ACQ_TRAIN_OPTIONS_H
#define ACQ_TRAIN_OPTIONS_H

#include "base/text.h"
#include "train/train.h"

typedef enum acq_train_kind {
    ACQ_TRAIN_COMPLEX,
    ACQ_TRAIN_NBFNET,
    ACQ_TRAIN_GNNQE, /* its settings are nbfnet's */
    ACQ_TRAIN_ULTRA,
    ACQ_TRAIN_RULES,
    ACQ_TRAIN_POLICY,
    ACQ_N_TRAIN_KINDS
} acq_train_kind;

const char *acq_train_kind_get_name(acq_train_kind kind); /* "complex" */
acq_train_kind acq_train_kind_find(const char *name);     /* ACQ_N_TRAIN_KINDS: there is none */

typedef union acq_train_settings {
    acq_train_complex_params complex;
    acq_train_nbfnet_params nbfnet;
    acq_train_ultra_params ultra;
    acq_train_rules_params rules;
    acq_train_policy_params policy;
} acq_train_settings;

/* The defaults of the command, seed 1; the policy's own are the paper's with the flag "paper". */
void acq_train_options_init(acq_train_kind kind, acq_train_settings *params);

/* What is given replaces what is there, in the order of the table; the last of several with the
 * same name counts. A time without a number of batches lets the schedule follow the clock. "resume"
 * and "warm" are no parameters: whoever runs a training asks for them with find. */
acq_status acq_train_options_set(acq_train_kind kind, const acq_train_option *options, size_t n,
                                 acq_train_settings *params, acq_error *error);

/* The last value of an option, *value; false: it is not given. */
bool acq_train_options_find(const acq_train_option *options, size_t n, const char *name,
                            const char **value);

/* "rank=1000 rate=0.1 ...": every option of the kind but seed and threads. */
void acq_train_options_print(acq_train_kind kind, const void *params, acq_text *out);

/* What shapes the weights of a run: every option but threads and the time between checkpoints, the
 * weights it starts from (NULL: random ones) and the graphs. Numbers to the last bit. */
acq_status acq_train_print_identity(acq_train_kind kind, const void *params,
                                    const acq_graph *const *graphs, size_t n_graphs,
                                    const acq_parameters *warm, acq_text *out, acq_error *error);

#endif
