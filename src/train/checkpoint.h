/* checkpoint.h - a training that can go on later: weights, optimizer and counters in one
 * safetensors file, written whole or not at all.
 *
 * The metadata hold the counters and a text of all options that shape the run; a checkpoint of
 * other options is refused with the difference. */
#ifndef ACQ_TRAIN_CHECKPOINT_H
#define ACQ_TRAIN_CHECKPOINT_H

#include "tensor/optimizer.h"
#include "tensor/parameters.h"

typedef struct acq_checkpoint {
    const acq_parameters *parameters; /* names and shapes; values are the weights */
    acq_optimizer *optimizer;
    const char *options; /* "dim=32 rate=0.001 ...", UTF-8 */
    uint64_t seed, batch, episodes;
    double seconds; /* spent so far */
    double solved;  /* running share of solved episodes */
    bool finished;
} acq_checkpoint;

acq_status acq_checkpoint_write(const acq_checkpoint *checkpoint, const char *path,
                                acq_error *error);
/* Fills weights, optimizer and counters. ACQ_ERR_INPUT when the file is of another run: the
 * message names the first option that differs and both values. */
acq_status acq_checkpoint_read(acq_checkpoint *checkpoint, const char *path, acq_error *error);

#endif
