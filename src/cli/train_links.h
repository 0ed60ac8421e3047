/* train_links.h - `anycq train complex|nbfnet|ultra`: what the three kinds of link predictors have
 * in common is in train_links.c, what is special in one table each. */
#ifndef ACQ_CLI_TRAIN_LINKS_H
#define ACQ_CLI_TRAIN_LINKS_H

#include "cli/train_common.h"
#include "tensor/safetensors.h"
#include "train/complex.h"

/* What a trainer gets besides its own options. */
typedef struct acq_train_task {
    const acq_options *options;
    const acq_graph *const *graphs;
    size_t n_graphs;
    const char *checkpoint;
    bool goes_on; /* from the checkpoint */
    unsigned n_threads;
    bool (*progress)(void *context, const acq_train_progress *now);
    void *context;
} acq_train_task;

typedef struct acq_train_kind {
    const char *unit;   /* what progress counts in */
    size_t most_graphs; /* that it can be trained on */
    /* The options that shape a training; options NULL: the defaults. */
    void (*print_options)(const acq_options *options, acq_text *out);
    acq_status (*check)(const acq_options *options, acq_error *error); /* before anything is read */
    acq_status (*train)(const acq_train_task *task, void **model, acq_error *error);
    acq_status (*write)(const acq_train_task *task, const void *model, const acq_metadata *metadata,
                        size_t n, acq_error *error);
    void (*free)(void *model); /* NULL is legal */
} acq_train_kind;

extern const acq_train_kind acq_train_kind_complex, acq_train_kind_nbfnet, acq_train_kind_ultra;

/* NULL: the policy. */
const acq_train_kind *acq_train_kind_get(acq_variant_id variant);

#endif
