/* pieces.c - see pieces.h. A line may be as long as MOST_LINE; what is longer is no text. */
#include "graph/pieces.h"

#include <string.h>

#include "base/memory.h"

enum { MOST_LINE = 64 << 20 };

void acq_cutter_init(acq_cutter *cutter, acq_stream *stream, size_t piece_bytes)
{
    *cutter = (acq_cutter){.stream = stream,
                           .piece_bytes = piece_bytes == 0 ? ACQ_PIECE_BYTES : piece_bytes};
}

void acq_cutter_deinit(acq_cutter *cutter)
{
    acq_free(cutter->rest);
}

/* Appends up to `target` bytes in all, fewer only at the end of the stream. */
static acq_status fill(acq_cutter *cutter, acq_piece *piece, size_t target, acq_error *error)
{
    if (ACQ_RESERVE(piece->bytes, piece->capacity, target) != ACQ_OK)
        return acq_fail_memory(error);
    while (piece->length < target && !cutter->has_ended) {
        size_t got;
        acq_status status = acq_stream_read(cutter->stream, piece->bytes + piece->length,
                                            target - piece->length, &got, error);
        if (status != ACQ_OK)
            return status;
        piece->length += got;
        cutter->has_ended = got == 0;
    }
    return ACQ_OK;
}

static acq_status start_piece(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    if (ACQ_RESERVE(piece->bytes, piece->capacity, cutter->rest_length) != ACQ_OK)
        return acq_fail_memory(error);
    if (cutter->rest_length > 0)
        memcpy(piece->bytes, cutter->rest, cutter->rest_length);
    piece->length = cutter->rest_length;
    piece->is_first = !cutter->has_started;
    cutter->rest_length = 0;
    cutter->has_started = true;
    return ACQ_OK;
}

/* Keeps what follows the last line end for the next piece; false: there is no line end. */
static bool cut(acq_cutter *cutter, acq_piece *piece, acq_status *status)
{
    const char *stop = memrchr(piece->bytes, '\n', piece->length);
    if (stop == NULL)
        return false;
    size_t kept = (size_t)(stop - piece->bytes) + 1, rest = piece->length - kept;
    *status = ACQ_RESERVE(cutter->rest, cutter->rest_capacity, rest);
    if (*status == ACQ_OK && rest > 0)
        memcpy(cutter->rest, stop + 1, rest);
    cutter->rest_length = rest;
    piece->length = kept;
    return true;
}

/* Reads on until there is a line end to cut at. */
static acq_status take_lines(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    for (size_t target = cutter->piece_bytes;; target = 2 * piece->length) {
        acq_status status = fill(cutter, piece, target, error);
        if (status != ACQ_OK || cutter->has_ended)
            return status;
        if (cut(cutter, piece, &status))
            return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
        if (piece->length >= MOST_LINE)
            return acq_fail(error, ACQ_ERR_LIMIT,
                            "a line has more than %d bytes; is this a text file?", MOST_LINE);
    }
}

static acq_status end_piece(acq_cutter *cutter, acq_piece *piece, acq_status status)
{
    piece->done = cutter->stream->done;
    cutter->has_ended = cutter->has_ended || status != ACQ_OK;
    return status;
}

acq_status acq_cutter_next(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    acq_status status = start_piece(cutter, piece, error);
    if (status == ACQ_OK)
        status = take_lines(cutter, piece, error);
    return end_piece(cutter, piece, status);
}

acq_status acq_cutter_extend(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    piece->is_first = piece->is_first || !cutter->has_started;
    cutter->has_started = true;
    return end_piece(cutter, piece,
                     fill(cutter, piece, piece->length + cutter->piece_bytes, error));
}

acq_status acq_skip_mark(const char **bytes, size_t *length, acq_error *error)
{
    if (*length >= 3 && memcmp(*bytes, "\xEF\xBB\xBF", 3) == 0) {
        *bytes += 3;
        *length -= 3;
    } else if (*length >= 2 &&
               (memcmp(*bytes, "\xFF\xFE", 2) == 0 || memcmp(*bytes, "\xFE\xFF", 2) == 0)) {
        return acq_fail_at(error, ACQ_ERR_INPUT, 1, 1,
                           "the text is UTF-16; convert the file to UTF-8");
    }
    return ACQ_OK;
}
