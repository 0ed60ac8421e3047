/* stream.c - see stream.h.
 *
 * The first chunk is read into a buffer of our own to see what it is. After that, plain bytes go
 * straight to the caller, and compressed ones keep coming through the buffer. */
#include "graph/text/stream.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/file.h"

enum { CHUNK = 64 * 1024 };

acq_status acq_stream_open(acq_stream *stream, const char *path, acq_error *error)
{
    *stream = (acq_stream){.name = strcmp(path, "-") == 0 ? "standard input" : path};
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
    acq_free(stream->chunk);
    acq_gunzip_free(stream->gunzip);
}

static size_t read_memory(acq_stream *stream, char *buffer, size_t room)
{
    size_t n = room < stream->memory_left ? room : stream->memory_left;
    if (n > 0) {
        memcpy(buffer, stream->memory, n);
        stream->memory += n;
        stream->memory_left -= n;
    }
    return n;
}

/* Bytes as they are in the file. */
static acq_status read_raw(acq_stream *stream, char *buffer, size_t room, size_t *got,
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

static acq_status read_chunk(acq_stream *stream, acq_error *error)
{
    stream->chunk_at = 0;
    return read_raw(stream, stream->chunk, CHUNK, &stream->chunk_length, error);
}

/* A pipe may give one byte at first; what a file is takes two. */
static acq_status read_first_chunk(acq_stream *stream, acq_error *error)
{
    size_t got = 1;
    acq_status status = ACQ_OK;
    stream->chunk = acq_alloc(CHUNK, 1);
    if (stream->chunk == NULL)
        return acq_fail_memory(error);
    while (status == ACQ_OK && got > 0 && stream->chunk_length < 2) {
        status = read_raw(stream, stream->chunk + stream->chunk_length,
                          CHUNK - stream->chunk_length, &got, error);
        stream->chunk_length += status == ACQ_OK ? got : 0;
    }
    return status;
}

static acq_status start(acq_stream *stream, acq_error *error)
{
    size_t n = strlen(stream->name);
    acq_status status = read_first_chunk(stream, error);
    if (status != ACQ_OK)
        return status;
    stream->has_started = true;
    if (acq_gunzip_is_magic(stream->chunk, stream->chunk_length)) {
        stream->gunzip = acq_gunzip_new();
        return stream->gunzip == NULL ? acq_fail_memory(error) : ACQ_OK;
    }
    if (n >= 3 && strcasecmp(stream->name + n - 3, ".gz") == 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this is not a .gz file; name it by what it holds, or compress it");
    return ACQ_OK;
}

static acq_status read_plain(acq_stream *stream, char *buffer, size_t room, size_t *got,
                             acq_error *error)
{
    size_t left = stream->chunk_length - stream->chunk_at;
    if (left == 0)
        return read_raw(stream, buffer, room, got, error);
    *got = room < left ? room : left;
    memcpy(buffer, stream->chunk + stream->chunk_at, *got);
    stream->chunk_at += *got;
    return ACQ_OK;
}

/* The gunzip borrows the chunk until it is hungry. */
static acq_status read_compressed(acq_stream *stream, char *buffer, size_t room, size_t *got,
                                  acq_error *error)
{
    acq_gunzip *gunzip = stream->gunzip;
    acq_status status = ACQ_OK;
    *got = 0;
    while (status == ACQ_OK && *got == 0) {
        if (acq_gunzip_is_hungry(gunzip)) {
            if (stream->chunk_at == stream->chunk_length)
                status = read_chunk(stream, error);
            if (status != ACQ_OK || stream->chunk_length == 0)
                return status == ACQ_OK ? acq_gunzip_end(gunzip, error) : status;
            acq_gunzip_feed(gunzip, stream->chunk, stream->chunk_length);
            stream->chunk_at = stream->chunk_length;
        }
        status = acq_gunzip_read(gunzip, buffer, room, got, error);
    }
    return status;
}

acq_status acq_stream_read(acq_stream *stream, char *buffer, size_t room, size_t *got,
                           acq_error *error)
{
    acq_status status = stream->has_started ? ACQ_OK : start(stream, error);
    if (status != ACQ_OK)
        return status;
    return stream->gunzip == NULL ? read_plain(stream, buffer, room, got, error)
                                  : read_compressed(stream, buffer, room, got, error);
}
