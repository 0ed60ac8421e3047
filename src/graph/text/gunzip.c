/* gunzip.c - see gunzip.h. zlib does the work and takes its memory from us. */
#include "graph/text/gunzip.h"

#include <string.h>

#define ZLIB_CONST /* next_in is const */
#include <zlib.h>

#include "base/memory.h"

enum { GZIP_ONLY = 15 + 16 }; /* zlib: the largest window, and a gzip header is a must */

struct acq_gunzip {
    z_stream z;
    bool is_inside;  /* a member has begun and not ended */
    bool is_padding; /* zeros behind the last member */
};

bool acq_gunzip_is_magic(const char *bytes, size_t length)
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

acq_gunzip *acq_gunzip_new(void)
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

void acq_gunzip_free(acq_gunzip *gunzip)
{
    if (gunzip == NULL)
        return;
    inflateEnd(&gunzip->z);
    acq_free(gunzip);
}

void acq_gunzip_feed(acq_gunzip *gunzip, const char *bytes, size_t length)
{
    gunzip->z.next_in = (const Bytef *)bytes;
    gunzip->z.avail_in = (uInt)length;
}

bool acq_gunzip_is_hungry(const acq_gunzip *gunzip)
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

acq_status acq_gunzip_read(acq_gunzip *gunzip, char *buffer, size_t room, size_t *got,
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

acq_status acq_gunzip_end(const acq_gunzip *gunzip, acq_error *error)
{
    if (!gunzip->is_inside)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the compressed data ends too early; get or make the file again");
}
