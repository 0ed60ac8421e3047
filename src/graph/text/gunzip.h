/* gunzip.h - inside the graph module: compressed bytes in, text out, as they come.
 *
 * A .gz is one or more members, each with its own checksum, read as one text; zeros behind the
 * last are padding. Anything else that is not whole and sound is an error. */
#ifndef ACQ_GRAPH_TEXT_GUNZIP_H
#define ACQ_GRAPH_TEXT_GUNZIP_H

#include "base/types.h"

typedef struct acq_gunzip acq_gunzip;

/* Do these first bytes begin a .gz? No UTF-8 text begins so. */
bool acq_gunzip_is_magic(const char *bytes, size_t length);

acq_gunzip *acq_gunzip_new(void); /* NULL: out of memory */
void acq_gunzip_free(acq_gunzip *gunzip);

/* Gives the next compressed bytes, which are borrowed until they are used up. */
void acq_gunzip_feed(acq_gunzip *gunzip, const char *bytes, size_t length);
bool acq_gunzip_is_hungry(const acq_gunzip *gunzip); /* all bytes are used up */

/* Up to `room` bytes of text. 0 when it is hungry, or at the end. */
acq_status acq_gunzip_read(acq_gunzip *gunzip, char *buffer, size_t room, size_t *got,
                           acq_error *error);

/* There are no more compressed bytes: is the text whole? */
acq_status acq_gunzip_end(const acq_gunzip *gunzip, acq_error *error);

#endif
