/* bytes.h - inside the graph module: a stream byte by byte, for a parser that wants it so.
 *
 *   chunk  [ 2 of the one before | new bytes ....... at ....... end ]
 *
 * Taking a byte is a comparison and a load; the place of the last one is worked out when somebody
 * asks. A byte order mark is skipped, and a NUL byte is no text. */
#ifndef ACQ_GRAPH_TEXT_BYTES_H
#define ACQ_GRAPH_TEXT_BYTES_H

#include "graph/text/stream.h"

typedef struct acq_bytes {
    acq_stream *stream;
    char *chunk;
    const char *at, *end;         /* what has not been taken yet; at[-1] and at[-2] have */
    uint64_t offset;              /* of the chunk in the text */
    uint64_t start, start_before; /* of the line that is being read, and of the one before */
    size_t line;                  /* lines begun so far */
    bool has_started, has_ended, has_nul;
} acq_bytes;

acq_status acq_bytes_init(acq_bytes *bytes, acq_stream *stream, acq_error *error);
void acq_bytes_deinit(acq_bytes *bytes);

/* Gets more once at == end; at the end of the stream there is none and has_ended is set. */
acq_status acq_bytes_refill(acq_bytes *bytes, acq_error *error);

/* The next byte, which there must be. */
static inline char acq_bytes_take(acq_bytes *bytes)
{
    char c = *bytes->at++;
    if (c == '\n') {
        bytes->line++;
        bytes->start_before = bytes->start;
        bytes->start = bytes->offset + (uint64_t)(bytes->at - bytes->chunk);
    }
    return c;
}

/* Where the last byte is that was taken; both count from 1. */
void acq_bytes_get_place(const acq_bytes *bytes, size_t *line, size_t *column);

#endif
