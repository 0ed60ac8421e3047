/* turtle.h - inside the graph module: the words of Turtle and TriG, read from a stream.
 *
 *   buffer  [ ... | word at hand, whole ...... | bytes not looked at yet ... | NUL ]
 *                 ^ start                      ^ at                          ^ end
 *
 * A NUL stands behind the last byte, so that scanning needs no test for the end: it stops at every
 * NUL and, if it is that one, asks for more, which moves the word at hand to the front. Memory is
 * that of the longest word. A function that returns false has left the reason in batch->error, with
 * its place. */
#ifndef ACQ_GRAPH_TEXT_TURTLE_H
#define ACQ_GRAPH_TEXT_TURTLE_H

#include "graph/text/rdf.h"
#include "graph/text/stream.h"

typedef struct acq_turtle {
    acq_stream *stream;
    acq_merger *merger;
    acq_batch *batch;
    char *buffer;
    size_t capacity;
    char *start, *at, *end;
    uint64_t offset;     /* of the buffer in the text */
    uint64_t line_start; /* of the line in which `start` is */
    size_t line;         /* its number, from 1 */
    bool has_started;
    bool has_ended;    /* there is nothing behind `end` */
    acq_status status; /* of the merger */
} acq_turtle;

/* The stream, the merger and the batch are borrowed. */
acq_status acq_turtle_init(acq_turtle *t, acq_stream *stream, acq_merger *merger, acq_batch *batch);
void acq_turtle_deinit(acq_turtle *t);

/* Something has failed. */
bool acq_turtle_is_over(const acq_turtle *t);

/* Notes what is wrong at a byte of the word at hand; false. The second is for what the grammar does
 * not allow; it says so. */
bool acq_turtle_fail(acq_turtle *t, const char *place, acq_status code, const char *format, ...)
    ACQ_PRINTF(4, 5);
bool acq_turtle_bad(acq_turtle *t, const char *place, const char *format, ...) ACQ_PRINTF(3, 4);

/* Skips blanks and comments and looks at the next byte; NUL at the end of the text and after a
 * failure. The next word begins here. */
char acq_turtle_next(acq_turtle *t);

/* Goes on behind the one byte that acq_turtle_next saw. */
void acq_turtle_take(acq_turtle *t);

/* Goes on behind these bytes, if they come next. */
bool acq_turtle_take_word(acq_turtle *t, const char *word);

/* A term with the place of the word at hand. */
acq_rdf_term acq_turtle_start_term(const acq_turtle *t, acq_term_kind kind);

/* Each of the next reads one word that begins here. Texts stay valid until the next word, or as
 * long as the buffer that they had to be put together in. */

/* <...> without its brackets. */
bool acq_turtle_read_iriref(acq_turtle *t, acq_text *buffer, const char **text, size_t *length);

/* The part of a prefixed name before its colon, or a bare word: then *is_prefix is false. */
bool acq_turtle_read_word(acq_turtle *t, size_t *length, bool *is_prefix);

/* Appends what stands behind the colon, which is the next byte. */
bool acq_turtle_read_local(acq_turtle *t, acq_text *out);

/* _:label without _: */
bool acq_turtle_read_label(acq_turtle *t, const char **label, size_t *length);

/* The text of a string in quotes of any of the four kinds; in the buffer. */
bool acq_turtle_read_string(acq_turtle *t, acq_text *buffer);

/* @language without @ */
bool acq_turtle_read_language(acq_turtle *t, const char **language, size_t *length);

/* A number, from `start` to `at`; *type is the IRI of its type. */
bool acq_turtle_read_number(acq_turtle *t, const char **type);

#endif
