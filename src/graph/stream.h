/* stream.h - inside the graph module: the bytes of a source, in order, as they come.
 * A regular file, a pipe, standard input ("-") or bytes in memory. */
#ifndef ACQ_GRAPH_STREAM_H
#define ACQ_GRAPH_STREAM_H

#include "base/types.h"

typedef struct acq_stream {
    const char *name; /* for messages */
    int file;         /* -1: memory */
    const char *memory;
    size_t memory_left;
    uint64_t done; /* bytes taken from the file */
} acq_stream;

/* The path is borrowed. */
acq_status acq_stream_open(acq_stream *stream, const char *path, acq_error *error);
void acq_stream_open_memory(acq_stream *stream, const char *name, const char *bytes, size_t length);
void acq_stream_close(acq_stream *stream);

/* Up to `room` bytes; 0 only at the end. */
acq_status acq_stream_read(acq_stream *stream, char *buffer, size_t room, size_t *got,
                           acq_error *error);

#endif
