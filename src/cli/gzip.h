/* gzip.h - a sink of text that compresses on the way to another. The same text gives the same
 * bytes: no name and no time goes into the header. */
#ifndef ACQ_CLI_GZIP_H
#define ACQ_CLI_GZIP_H

#include <zlib.h>

#include "graph/text/write.h"

typedef struct acq_gzip {
    z_stream stream;
    acq_text_sink next;
    bool is_open;
} acq_gzip;

/* Deinit also after an error. */
acq_status acq_gzip_init(acq_gzip *gzip, acq_text_sink next, acq_error *error);
acq_text_sink acq_gzip_get_sink(acq_gzip *gzip);
acq_status acq_gzip_finish(acq_gzip *gzip, acq_error *error);
void acq_gzip_deinit(acq_gzip *gzip);

#endif
