/* trainer.h - the one loop of every training: schedule, finite check, progress, checkpoint.
 *
 *   read the checkpoint, if resumed; write one, so that its place is known to be good
 *   until the schedule is over or progress says stop:
 *     loss and gradient of batch `step`      the model's
 *     both finite?                           else an error that names the batch
 *     update at this share of the schedule   Adam here, anything else the model's
 *     what the model does between batches    judging, points of a curve
 *     a checkpoint, when one is due
 *   a last checkpoint
 *
 * A batch depends on the seed and its number alone, so a training that was stopped goes on from its
 * checkpoint with the batches it would have had. The schedule is the share of the batches or of the
 * time that is over, whichever is more. A checkpoint is a safetensors file with
 * every tensor of the model once per part ("weights/NAME", "first/NAME", ...), the counters and the
 * identity in the metadata; it replaces the one before whole or not at all.
 *
 * Ranks run the same loop: the model's `compute` shares out a batch and gives all of them the whole
 * gradient, so weights stay equal everywhere. Before each batch they agree on what a clock or a
 * person decides (time, stop, checkpoint), by the first rank, which alone writes; any of them can
 * stop all. */
#ifndef ACQ_TRAIN_TRAINER_H
#define ACQ_TRAIN_TRAINER_H

#include "base/threads.h"
#include "tensor/parameters.h"
#include "tensor/safetensors.h"
#include "train/options.h"
#include "train/train.h"

enum { ACQ_TRAINER_MOST_PARTS = 5, ACQ_TRAINER_MOST_NUMBERS = 5 };

typedef struct acq_trainer_part { /* floats in the layout of the parameters */
    const char *name;
    float *values;
    bool is_square; /* sums or means of squares, of which a root will be taken: never below 0 */
} acq_trainer_part;

typedef struct acq_trainer_number { /* what else a checkpoint keeps */
    const char *name;
    double *value;
} acq_trainer_number;

typedef struct acq_trainer_ops {
    /* Loss and gradient of batch `step`. */
    acq_status (*compute)(void *self, uint64_t step, double *loss, acq_error *error);
    /* NULL with an optimizer. *norm is that of the gradient, or not finite when that is not. */
    void (*update)(void *self, double share, double *norm);
    void (*changed)(void *self); /* the weights have; may be NULL */
    /* May be NULL. *saves: a checkpoint is due now. */
    acq_status (*between)(void *self, bool *saves, acq_error *error);
    /* For what grows while it trains; NULL: parameters keep their shapes. Gives the parameters what
     * a checkpoint shall keep, or with a file the shapes that it has, as "weights/NAME"; take: the
     * values of a file have been read into them. */
    acq_status (*shape)(void *self, const acq_safetensors *file, acq_error *error);
    acq_status (*take)(void *self, acq_error *error);
} acq_trainer_ops;

typedef struct acq_trainer {
    const acq_trainer_ops *ops;
    void *self;
    const char *phase; /* in progress */
    uint64_t n_steps;  /* batches of the schedule; 0: by time alone */
    double seconds;    /* most; 0: no limit */
    int64_t begin_ns;  /* when they began; 0: with the run */
    double kept;       /* of them, for what comes after the run */
    double epochs;     /* that the steps make up; 0: progress counts batches */
    acq_parameters *parameters;
    acq_optimizer *optimizer;                       /* NULL: ops->update */
    float *gradient;                                /* the optimizer's */
    acq_trainer_part parts[ACQ_TRAINER_MOST_PARTS]; /* besides weights and the optimizer's own */
    size_t n_parts;
    acq_trainer_number numbers[ACQ_TRAINER_MOST_NUMBERS];
    size_t n_numbers;
    const char *identity;   /* "--rate=0.1 --batch=64 ... graph=...": what a checkpoint must have */
    const char *checkpoint; /* path; NULL: none */
    bool is_large; /* the parameters are larger than memory: a checkpoint is made on the disk */
    double checkpoint_seconds;
    bool resume;
    acq_train_progress_fn progress; /* may be NULL */
    void *context;
    const acq_ranks *ranks; /* processes that share each batch; NULL: none */

    uint64_t step; /* batches done; from here on the trainer's own */
    double norm;   /* of the last gradient */
    double loss_sum, loss_weight, seconds_before;
    double lead;         /* seconds that are not the run's own */
    double step_seconds; /* that the last step took */
    int64_t began, saved;
    double agreed; /* with ranks: the seconds of the first, as it last told them */
} acq_trainer;

/* What the params of ComplEx, NBFNet and ULTRA say of any run. */
#define ACQ_TRAINER_OF_PARAMS(params)                                                              \
    .seconds = (params)->seconds, .begin_ns = (params)->begin_ns,                                  \
    .checkpoint = (params)->checkpoint, .checkpoint_seconds = (params)->checkpoint_seconds,        \
    .resume = (params)->resume, .progress = (params)->progress, .context = (params)->context,      \
    .ranks = (params)->ranks

/* ACQ_ERR_INTERRUPTED when progress said so. */
acq_status acq_trainer_run(acq_trainer *trainer, acq_error *error);

/* What the identity of a run is printed from, see options.h. */
typedef struct acq_trainer_origin {
    acq_train_kind kind;
    const void *params;
    const acq_graph *const *graphs;
    size_t n_graphs;
    const acq_parameters *warm; /* may be NULL */
} acq_trainer_origin;

/* The same with the identity of `from`. Afterwards the parameters hold the optimizer's average, if
 * it keeps one. */
acq_status acq_trainer_run_from(acq_trainer *trainer, const acq_trainer_origin *from,
                                acq_error *error);

/* Of earlier runs too. With ranks those of the first, at the start of the batch. */
double acq_trainer_get_seconds(const acq_trainer *trainer);
double acq_trainer_get_share(const acq_trainer *trainer); /* of the schedule, 0 to 1 */
double acq_trainer_get_loss(const acq_trainer *trainer);  /* smoothed; 0 before the first batch */

/* Both fail with the file's name in the error. A file of another run is ACQ_ERR_INPUT, the message
 * has the first option that differs with both values; nothing is changed then. */
acq_status acq_trainer_write(const acq_trainer *trainer, acq_error *error);
acq_status acq_trainer_read(acq_trainer *trainer, acq_error *error);

#endif
