/* bytes.c - see bytes.h. */
#include "graph/text/bytes.h"

#include <string.h>

#include "base/memory.h"
#include "graph/text/pieces.h"

enum { KEPT = 2, CHUNK = 64 * 1024, MARK = 3 };

acq_status acq_bytes_init(acq_bytes *bytes, acq_stream *stream, acq_error *error)
{
    *bytes = (acq_bytes){.stream = stream, .line = 1};
    bytes->chunk = acq_zalloc(KEPT + CHUNK, 1);
    if (bytes->chunk == NULL)
        return acq_fail_memory(error);
    bytes->at = bytes->end = bytes->chunk + KEPT;
    return ACQ_OK;
}

void acq_bytes_deinit(acq_bytes *bytes)
{
    acq_free(bytes->chunk);
}

void acq_bytes_get_place(const acq_bytes *bytes, size_t *line, size_t *column)
{
    bool is_line_end = bytes->at[-1] == '\n';
    uint64_t next = bytes->offset + (uint64_t)(bytes->at - bytes->chunk);
    *line = bytes->line - is_line_end;
    *column = (size_t)(next - (is_line_end ? bytes->start_before : bytes->start));
    if (*column == 0)
        *column = 1; /* nothing was taken yet */
}

/* At the start, enough to see a byte order mark, though a pipe may give less at a time. */
static acq_status read_more(acq_bytes *bytes, size_t *length, acq_error *error)
{
    char *start = bytes->chunk + KEPT;
    size_t need = bytes->has_started ? 1 : MARK, got = 1;
    acq_status status = ACQ_OK;
    for (*length = 0; status == ACQ_OK && got > 0 && *length < need;) {
        status = acq_stream_read(bytes->stream, start + *length, CHUNK - *length, &got, error);
        *length += status == ACQ_OK ? got : 0;
    }
    return status;
}

static acq_status start_text(acq_bytes *bytes, size_t *length, acq_error *error)
{
    acq_status status = acq_skip_mark(&bytes->at, length, error);
    bytes->start = bytes->start_before = (uint64_t)(bytes->at - bytes->chunk);
    bytes->has_started = true;
    return status;
}

static acq_status fail_nul(const acq_bytes *bytes, acq_error *error)
{
    size_t line, column;
    acq_bytes_get_place(bytes, &line, &column);
    return acq_fail_at(error, ACQ_ERR_PARSE, line, column,
                       "a NUL byte follows; is this a text file? Remove it");
}

acq_status acq_bytes_refill(acq_bytes *bytes, acq_error *error)
{
    size_t length;
    if (bytes->has_nul)
        return fail_nul(bytes, error);
    memcpy(bytes->chunk, bytes->end - KEPT, KEPT);
    bytes->offset += (uint64_t)(bytes->end - bytes->chunk) - KEPT;
    bytes->at = bytes->end = bytes->chunk + KEPT;
    acq_status status = read_more(bytes, &length, error);
    if (status == ACQ_OK && !bytes->has_started)
        status = start_text(bytes, &length, error);
    if (status != ACQ_OK)
        return status;
    const char *nul = length == 0 ? NULL : memchr(bytes->at, '\0', length);
    bytes->has_nul = nul != NULL;
    bytes->has_ended = length == 0;
    bytes->end = bytes->has_nul ? nul : bytes->at + length;
    return bytes->at == bytes->end && bytes->has_nul ? fail_nul(bytes, error) : ACQ_OK;
}
