/* pieces.h - inside the graph module: a stream cut at line ends.
 *
 *   stream  aaaa\nbb | bb\ncc\nd | dddd\n        read a megabyte at a time
 *   pieces  aaaa\n   | bbbb\ncc\n | ddddd\n      the cut line goes to the next piece */
#ifndef ACQ_GRAPH_TEXT_PIECES_H
#define ACQ_GRAPH_TEXT_PIECES_H

#include "base/types.h"

/* ---- stream ----
 *
 * Inside the graph module: the bytes of a source, in order, as they come.
 *
 * A regular file, a pipe, standard input ("-") or bytes in memory. What begins as a .gz is
 * decompressed, whatever its name; what is named .gz must be one. A .gz is one or more members,
 * each with its own checksum, read as one text; zeros behind the last are padding. Anything else
 * that is not whole and sound is an error. */

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

/* ---- pieces ---- */

typedef struct acq_piece {
    char *bytes;
    size_t length, capacity;
    bool is_first; /* of its stream */
    bool is_long;  /* one line, of which the rest was left out: longer than ACQ_LINE_MOST */
    uint64_t done; /* of the stream, once this piece was read */
} acq_piece;

typedef struct acq_cutter {
    acq_stream *stream;
    size_t piece_bytes;
    char *rest; /* the beginning of a line */
    size_t rest_length, rest_capacity;
    bool has_started;
    bool has_ended; /* nothing comes after the last piece */
} acq_cutter;

/* Three names of 64 KB need far less than the longest line; only a literal of RDF may not. */
enum { ACQ_PIECE_BYTES = 1 << 19, ACQ_LINE_MOST = 16 << 20 };

/* piece_bytes 0: ACQ_PIECE_BYTES. */
void acq_cutter_init(acq_cutter *cutter, acq_stream *stream, size_t piece_bytes);
void acq_cutter_deinit(acq_cutter *cutter);

/* Appends what comes next to the piece without cutting: for formats whose lines hang together. */
acq_status acq_cutter_extend(acq_cutter *cutter, acq_piece *piece, acq_error *error);

/* For the start of a stream: skips a UTF-8 byte order mark; refuses UTF-16. */
acq_status acq_skip_mark(const char **bytes, size_t *length, acq_error *error);

#endif
