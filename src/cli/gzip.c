/* gzip.c - see gzip.h. */
#include "cli/gzip.h"

#include "base/memory.h"

enum { ROOM = 1 << 16, LARGEST_PIECE = 1 << 30, GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };

static voidpf allocate(voidpf context, uInt n, uInt size)
{
    (void)context;
    return acq_alloc(n, size);
}

static void release(voidpf context, voidpf block)
{
    (void)context;
    acq_free(block);
}

acq_status acq_gzip_init(acq_gzip *gzip, acq_text_sink next, acq_error *error)
{
    *gzip = (acq_gzip){.next = next, .stream = {.zalloc = allocate, .zfree = release}};
    int code = deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                            MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
    gzip->is_open = code == Z_OK;
    return gzip->is_open ? ACQ_OK : acq_fail_memory(error);
}

/* Compresses what the stream was given and passes on what comes out. */
static acq_status run(acq_gzip *gzip, int flush, acq_error *error)
{
    unsigned char room[ROOM];
    acq_status status = ACQ_OK;
    do {
        gzip->stream.next_out = room;
        gzip->stream.avail_out = ROOM;
        (void)deflate(&gzip->stream, flush); /* with input or room it cannot fail */
        size_t n = ROOM - gzip->stream.avail_out;
        if (n > 0)
            status = gzip->next.put(gzip->next.self, (const char *)room, n, error);
    } while (status == ACQ_OK && gzip->stream.avail_out == 0);
    return status;
}

static acq_status put(void *self, const char *bytes, size_t length, acq_error *error)
{
    acq_gzip *gzip = self;
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && length > 0) {
        size_t piece = length < LARGEST_PIECE ? length : LARGEST_PIECE;
        gzip->stream.next_in = (Bytef *)bytes;
        gzip->stream.avail_in = (uInt)piece;
        status = run(gzip, Z_NO_FLUSH, error);
        bytes += piece;
        length -= piece;
    }
    return status;
}

acq_text_sink acq_gzip_get_sink(acq_gzip *gzip)
{
    return (acq_text_sink){.put = put, .self = gzip};
}

acq_status acq_gzip_finish(acq_gzip *gzip, acq_error *error)
{
    return run(gzip, Z_FINISH, error);
}

void acq_gzip_deinit(acq_gzip *gzip)
{
    if (gzip->is_open)
        (void)deflateEnd(&gzip->stream);
    *gzip = (acq_gzip){0};
}
