/* json.h - a JSON text as a tree in an arena.
 *
 * Strict (RFC 8259): no byte but the value and blanks, strings in UTF-8 without NUL, no name twice
 * in an object, no number beyond what it is kept in, limited depth. Every allocation is the
 * arena's, so a text is never called bad, and never read in part, because memory ran out. Linear in
 * the text, but for sorting the names of each object. */
#ifndef ACQ_BASE_JSON_H
#define ACQ_BASE_JSON_H

#include "base/memory.h"

enum { ACQ_JSON_MOST_DEPTH = 512 };

typedef enum acq_json_kind {
    ACQ_JSON_NULL,
    ACQ_JSON_FALSE,
    ACQ_JSON_TRUE,
    ACQ_JSON_INTEGER,
    ACQ_JSON_REAL,
    ACQ_JSON_TEXT,
    ACQ_JSON_ARRAY,
    ACQ_JSON_OBJECT
} acq_json_kind;

typedef struct acq_json {
    acq_json_kind kind;
    const char *name; /* as a member of an object; NUL-terminated */
    int64_t integer;
    double real;
    const char *text;       /* TEXT: NUL-terminated */
    struct acq_json *first; /* ARRAY, OBJECT: the n parts, in their order */
    struct acq_json *next;  /* in the array or object around it */
    size_t n;
} acq_json;

/* On bad text ACQ_ERR_INPUT with line and column. */
acq_status acq_json_parse(const char *text, size_t length, acq_arena *arena, const acq_json **out,
                          acq_error *error);

/* The same, as Python's reader takes a text, for files that others wrote: a byte order mark before
 * the value is skipped, and of members with one name the last counts, at the place of the first.
 * *n_repeated gets the number of members that do not count. */
acq_status acq_json_parse_loose(const char *text, size_t length, acq_arena *arena,
                                const acq_json **out, size_t *n_repeated, acq_error *error);

/* The member of an object; NULL when there is none. Linear. */
const acq_json *acq_json_get(const acq_json *object, const char *name);

#endif
