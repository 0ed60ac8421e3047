/* pieces.h - inside the graph module: a stream cut at line ends.
 *
 *   stream  aaaa\nbb | bb\ncc\nd | dddd\n        read a megabyte at a time
 *   pieces  aaaa\n   | bbbb\ncc\n | ddddd\n      the cut line goes to the next piece */
#ifndef ACQ_GRAPH_TEXT_PIECES_H
#define ACQ_GRAPH_TEXT_PIECES_H

#include "graph/text/stream.h"

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

/* The next piece; the last one may be empty and may lack its line end. After a failure nothing
 * more comes. */
acq_status acq_cutter_next(acq_cutter *cutter, acq_piece *piece, acq_error *error);

/* Gives back the memory of a piece that was parsed, if a long line has made it large. */
void acq_piece_trim(acq_piece *piece);

/* Appends what comes next to the piece without cutting: for formats whose lines hang together. */
acq_status acq_cutter_extend(acq_cutter *cutter, acq_piece *piece, acq_error *error);

/* For the start of a stream: skips a UTF-8 byte order mark; refuses UTF-16. */
acq_status acq_skip_mark(const char **bytes, size_t *length, acq_error *error);

#endif
