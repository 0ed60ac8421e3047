/* making.h - inside models.h: the trainings, completions and fits behind rows, and how long they
 * may take. */
#ifndef ACQ_REPRODUCE_MAKING_H
#define ACQ_REPRODUCE_MAKING_H

#include "base/text.h"
#include "reproduce/models.h"

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
const char *acq_repro_thing_get_spec(acq_repro_thing t); /* of the predictor to complete */
const char *acq_repro_thing_get_direction(acq_repro_thing t);

/* What a thing is made of and how, as one line; the identity of what was made. */
void acq_repro_thing_describe(const acq_repro_models *models, acq_repro_thing t, uint64_t from_hash,
                              acq_text *out);

/* Makes it of the open graph at `path`, and the line beside it in PATH.made. from: the file of its
 * source; NULL: none. */
acq_status acq_repro_thing_make(acq_repro_models *models, acq_repro_thing t, const char *path,
                                const char *from, acq_text *description, acq_error *error);

#endif
