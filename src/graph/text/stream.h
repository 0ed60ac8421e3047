/* stream.h - inside the graph module: the bytes of a source, in order, as they come.
 *
 * A regular file, a pipe, standard input ("-") or bytes in memory. What begins as a .gz is
 * decompressed, whatever its name; what is named .gz must be one. A .gz is one or more members,
 * each with its own checksum, read as one text; zeros behind the last are padding. Anything else
 * that is not whole and sound is an error. */
#ifndef ACQ_GRAPH_TEXT_STREAM_H
#define ACQ_GRAPH_TEXT_STREAM_H

#include "base/types.h"

typedef struct acq_gunzip acq_gunzip;

typedef struct acq_stream {
    const char *name; /* for messages */
    int file;         /* -1: memory */
    const char *memory;
    size_t memory_left;
    size_t most;   /* bytes of memory that one call gives; 0: as many as there is room for */
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
