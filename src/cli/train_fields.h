/* train_fields.h - options that are fields of a trainer's parameters, one row each, for reading
 * the command line, for the metadata of a model and for the help. */
#ifndef ACQ_CLI_TRAIN_FIELDS_H
#define ACQ_CLI_TRAIN_FIELDS_H

#include "base/text.h"
#include "cli/options.h"

typedef struct acq_train_field {
    enum acq_option_id option;
    size_t offset, size; /* of the field */
    bool is_real;        /* double; else an unsigned integer of `size` bytes */
} acq_train_field;

#define ACQ_TRAIN_FIELD(params, option_, member)                                                   \
    {                                                                                              \
        .option = ACQ_OPTION_##option_, .offset = offsetof(params, member),                        \
        .size = sizeof((params *)NULL)->member,                                                    \
        .is_real = _Generic(((params *)NULL)->member, double                                       \
                            : true, default                                                        \
                            : false)                                                               \
    }

/* What is given replaces what is there. */
void acq_train_fields_take(const acq_train_field *fields, size_t n, const acq_options *options,
                           void *params);

/* "rank=1000 rate=0.1 ...", by the names of the options. */
void acq_train_fields_print(const acq_train_field *fields, size_t n, const void *params,
                            acq_text *out);

/* The fields that every network of messages has besides its own. */
#define ACQ_TRAIN_NETWORK_FIELDS(FIELD)                                                            \
    FIELD(most_entities, most_entities), FIELD(most_edges, most_edges),                            \
        FIELD(most_near, most_near), FIELD(rate, optimizer.rate),                                  \
        FIELD(last_rate, optimizer.last_rate), FIELD(beta1, optimizer.beta1),                      \
        FIELD(beta2, optimizer.beta2), FIELD(decay, optimizer.decay), FIELD(clip, optimizer.clip), \
        FIELD(average, optimizer.average), FIELD(batches, batches), FIELD(train_time, seconds),    \
        FIELD(checkpoint_every, checkpoint_seconds)

#endif
