/* stream.c - see pieces.h. zlib decompresses and takes its memory from us.
 *
 * The first chunk is read into a buffer of our own to see what it is. After that, plain bytes go
 * straight to the caller, and compressed ones keep coming through the buffer. */
#include "graph/text/pieces.h"

#include <string.h>

#define ZLIB_CONST /* next_in is const */
#include <zlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

enum {
    CHUNK = 64 * 1024,
    GZIP_ONLY = 15 + 16, /* zlib: the largest window, and a gzip header is a must */
};

struct acq_gunzip {
    z_stream z;
    bool is_inside;  /* a member has begun and not ended */
    bool is_padding; /* zeros behind the last member */
};

/* Do these first bytes begin a .gz? No UTF-8 text begins so. */
static bool is_gzip(const char *bytes, size_t length)
{
    return length >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

static void *allocate(void *context, unsigned n, unsigned size)
{
    (void)context;
    return acq_zalloc(n, size);
}

static void release(void *context, void *block)
{
    (void)context;
    acq_free(block);
}

static acq_gunzip *gunzip_new(void)
{
    acq_gunzip *gunzip = acq_zalloc(1, sizeof *gunzip);
    if (gunzip == NULL)
        return NULL;
    gunzip->z.zalloc = allocate;
    gunzip->z.zfree = release;
    gunzip->is_inside = true;
    if (inflateInit2(&gunzip->z, GZIP_ONLY) != Z_OK) {
        acq_free(gunzip);
        return NULL;
    }
    return gunzip;
}

static void gunzip_free(acq_gunzip *gunzip)
{
    if (gunzip == NULL)
        return;
    inflateEnd(&gunzip->z);
    acq_free(gunzip);
}

/* Gives the next compressed bytes, which are borrowed until they are used up. */
static void gunzip_feed(acq_gunzip *gunzip, const char *bytes, size_t length)
{
    gunzip->z.next_in = (const Bytef *)bytes;
    gunzip->z.avail_in = (uInt)length;
}

/* All bytes are used up. */
static bool is_hungry(const acq_gunzip *gunzip)
{
    return gunzip->z.avail_in == 0;
}

static acq_status fail_damaged(const acq_gunzip *gunzip, acq_error *error)
{
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the compressed data is damaged (%s); get or make the file again",
                    gunzip->z.msg == NULL ? "no reason known" : gunzip->z.msg);
}

/* Between members: zeros, or the first byte of the next. */
static acq_status start_member(acq_gunzip *gunzip, acq_error *error)
{
    z_stream *z = &gunzip->z;
    while (z->avail_in > 0 && *z->next_in == 0) {
        gunzip->is_padding = true;
        z->next_in++;
        z->avail_in--;
    }
    if (z->avail_in == 0)
        return ACQ_OK;
    if (gunzip->is_padding || *z->next_in != 0x1f)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "something else follows the compressed data; remove it, or get or make the "
                        "file again");
    gunzip->is_inside = true;
    return inflateReset(z) == Z_OK ? ACQ_OK : fail_damaged(gunzip, error);
}

/* Up to `room` bytes of text. 0 when it is hungry, or at the end. */
static acq_status gunzip_read(acq_gunzip *gunzip, char *buffer, size_t room, size_t *got,
                              acq_error *error)
{
    z_stream *z = &gunzip->z;
    uInt space = room < UINT32_MAX / 2 ? (uInt)room : UINT32_MAX / 2;
    z->next_out = (Bytef *)buffer;
    z->avail_out = space;
    while (z->avail_in > 0 && z->avail_out > 0) {
        if (!gunzip->is_inside) {
            acq_status status = start_member(gunzip, error);
            if (status != ACQ_OK)
                return status;
            continue;
        }
        int result = inflate(z, Z_NO_FLUSH);
        if (result == Z_MEM_ERROR)
            return acq_fail_memory(error);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            return fail_damaged(gunzip, error);
        gunzip->is_inside = result != Z_STREAM_END;
    }
    *got = space - z->avail_out;
    return ACQ_OK;
}

/* There are no more compressed bytes: is the text whole? */
static acq_status gunzip_end(const acq_gunzip *gunzip, acq_error *error)
{
    if (!gunzip->is_inside)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the compressed data ends too early; get or make the file again");
}

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
    gunzip_free(stream->gunzip);
}

static size_t read_memory(acq_stream *stream, char *buffer, size_t room)
{
    size_t n = room < stream->memory_left ? room : stream->memory_left;
    if (stream->most > 0 && stream->most < n)
        n = stream->most;
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
    if (is_gzip(stream->chunk, stream->chunk_length)) {
        stream->gunzip = gunzip_new();
        return stream->gunzip == NULL ? acq_fail_memory(error) : ACQ_OK;
    }
    if (n >= 3 && acq_is_same_word(stream->name + n - 3, ".gz", 3))
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
        if (is_hungry(gunzip)) {
            if (stream->chunk_at == stream->chunk_length)
                status = read_chunk(stream, error);
            if (status != ACQ_OK || stream->chunk_length == 0)
                return status == ACQ_OK ? gunzip_end(gunzip, error) : status;
            gunzip_feed(gunzip, stream->chunk, stream->chunk_length);
            stream->chunk_at = stream->chunk_length;
        }
        status = gunzip_read(gunzip, buffer, room, got, error);
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
