/* completion_stored.h - inside the predict module: an open completion file whose header and
 * directory have been checked, and its pieces, each checked when it is read. */
#ifndef ACQ_PREDICT_COMPLETION_STORED_H
#define ACQ_PREDICT_COMPLETION_STORED_H

#include "predict/completion_merge.h"

typedef struct acq_completion_stored {
    int file;
    uint64_t length;
    acq_completion_header header;
    char name[ACQ_COMPLETION_NAME_MOST + 1 + 8]; /* padded with zeros */
    acq_completion_entry *entries;
} acq_completion_stored;

/* After an error there is nothing to close. The error names the file. */
acq_status acq_completion_stored_open(acq_completion_stored *in, const char *path,
                                      acq_error *error);
void acq_completion_stored_close(acq_completion_stored *in);

/* The block of a relation in fresh memory, freed with acq_free; checked by itself. */
acq_status acq_completion_stored_read_block(const acq_completion_stored *in, acq_rel relation,
                                            void **bytes, acq_completion_block *block,
                                            acq_error *error);

/* The calibrator as it lies in the file, padding included; freed with acq_free. */
acq_status acq_completion_stored_read_calibrator(const acq_completion_stored *in, void **bytes,
                                                 acq_error *error);

/* The one form of "this file is no good". */
acq_status acq_completion_fail(const char *reason, acq_error *error);

#endif
