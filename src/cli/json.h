/* json.h - JSON values from our strings and numbers. Built with jansson; NULL, its sign of a
 * failed allocation, passes through every call and makes the line fail as a whole. */
#ifndef ACQ_CLI_JSON_H
#define ACQ_CLI_JSON_H

#include <jansson.h>

#include "base/text.h"
#include "graph/text/read.h"

/* Bytes that are no UTF-8 become U+FFFD: JSON cannot hold them. */
json_t *acq_json_text(const char *text);

json_t *acq_json_count(uint64_t n);
json_t *acq_json_hash(uint64_t hash); /* 16 hexadecimal digits */

/* What reading found, as members of `object`. */
void acq_json_set_read(json_t *object, const acq_read_report *report);

/* Appends value and releases it; a failure shows in acq_text_finish. */
void acq_json_add(acq_text *out, json_t *value);

/* Appends value as one line and releases it; a failure shows in acq_text_finish. */
void acq_json_add_line(acq_text *out, json_t *value);

#endif
