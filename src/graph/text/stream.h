/* stream.h - inside the graph module: the bytes of a source, in order, as they come.
 *
 * A regular file, a pipe, standard input ("-") or bytes in memory. What begins as a .gz is
 * decompressed, whatever its name; what is named .gz must be one. */
#ifndef ACQ_GRAPH_TEXT_STREAM_H
#define ACQ_GRAPH_TEXT_STREAM_H

#include "graph/text/gunzip.h"

typedef struct acq_stream {
    const char *name; /* for messages */
    int file;         /* -1: memory */
    const char *memory;
    size_t memory_left;
    uint64_t done; /* bytes taken from the file */
    char *chunk;   /* bytes taken and not yet handed out */
    size_t chunk_at, chunk_length;
    bool has_started;   /* the first bytes have been looked at */
    acq_gunzip *gunzip; /* NULL: not compressed */
} acq_stream;

/* The path is borrowed. */
acq_status acq_stream_open(acq_stream *stream, const char *path, acq_error *error);
void acq_stream_open_memory(acq_stream *stream, const char *name, const char *bytes, size_t length);
void acq_stream_close(acq_stream *stream);

/* Up to `room` bytes; 0 only at the end. */
acq_status acq_stream_read(acq_stream *stream, char *buffer, size_t room, size_t *got,
                           acq_error *error);

#endif
