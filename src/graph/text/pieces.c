/* pieces.c - see pieces.h. A line that is too long is read to its end in the memory that it has
 * already filled, so that the lines behind it can be read. */
#include "graph/text/pieces.h"

#include <string.h>

#include "base/memory.h"

enum { KEPT_BYTES = 4 * ACQ_PIECE_BYTES };

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
    piece->is_long = false;
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

/* Reads over the rest of a line; what follows its end is kept for the next piece. */
static acq_status skip_line(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    acq_status status = ACQ_OK;
    const char *stop = NULL;
    while (status == ACQ_OK && stop == NULL && !cutter->has_ended) {
        piece->length = 0;
        status = fill(cutter, piece, cutter->piece_bytes, error);
        if (status == ACQ_OK)
            stop = memchr(piece->bytes, '\n', piece->length);
    }
    size_t rest = stop == NULL ? 0 : piece->length - (size_t)(stop + 1 - piece->bytes);
    if (status == ACQ_OK && ACQ_RESERVE(cutter->rest, cutter->rest_capacity, rest) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status == ACQ_OK && rest > 0)
        memcpy(cutter->rest, stop + 1, rest);
    cutter->rest_length = rest;
    piece->length = 0;
    piece->is_long = true;
    return status;
}

/* Reads on until there is a line end to cut at. */
static acq_status take_lines(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    size_t target = cutter->piece_bytes;
    for (;;) {
        acq_status status = fill(cutter, piece, target, error);
        if (status != ACQ_OK || cutter->has_ended)
            return status;
        if (cut(cutter, piece, &status))
            return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
        if (piece->length >= ACQ_LINE_MOST)
            return skip_line(cutter, piece, error);
        target = 2 * piece->length < ACQ_LINE_MOST ? 2 * piece->length : ACQ_LINE_MOST;
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

void acq_piece_trim(acq_piece *piece)
{
    if (piece->capacity <= KEPT_BYTES)
        return;
    acq_free(piece->bytes);
    piece->bytes = NULL;
    piece->length = piece->capacity = 0;
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
