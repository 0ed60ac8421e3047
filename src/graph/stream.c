/* stream.c - see stream.h. */
#include "graph/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "graph/file.h"

acq_status acq_stream_open(acq_stream *stream, const char *path, acq_error *error)
{
    *stream = (acq_stream){.name = path};
    return acq_file_open(path, &stream->file, error);
}

void acq_stream_open_memory(acq_stream *stream, const char *name, const char *bytes, size_t length)
{
    *stream = (acq_stream){.name = name, .file = -1, .memory = bytes, .memory_left = length};
}

void acq_stream_close(acq_stream *stream)
{
    if (stream->file >= 0)
        acq_file_close(stream->file);
}

static size_t read_memory(acq_stream *stream, char *buffer, size_t room)
{
    size_t n = room < stream->memory_left ? room : stream->memory_left;
    if (n > 0)
        memcpy(buffer, stream->memory, n);
    stream->memory += n;
    stream->memory_left -= n;
    return n;
}

acq_status acq_stream_read(acq_stream *stream, char *buffer, size_t room, size_t *got,
                           acq_error *error)
{
    acq_status status = ACQ_OK;
    if (stream->file >= 0)
        status = acq_file_read_some(stream->file, stream->name, buffer, room, got, error);
    else
        *got = read_memory(stream, buffer, room);
    if (status == ACQ_OK)
        stream->done += *got;
    return status;
}
