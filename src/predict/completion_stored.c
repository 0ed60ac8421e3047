/* completion_stored.c - reading a completion file: nothing is used before it is checked. Pieces are
 * read, not mapped, so a file cut off later is an error and not a signal. */
#include "predict/completion_stored.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum { LARGEST_READ = 1 << 30 };

static acq_status fail_io(acq_error *error)
{
    return acq_fail(error, ACQ_ERR_IO, "cannot read the completion: %s", strerror(errno));
}

acq_status acq_completion_fail(const char *reason, acq_error *error)
{
    return acq_fail(error, ACQ_ERR_INPUT, "the completion cannot be used: %s", reason);
}

static acq_status get(int file, void *bytes, size_t length, uint64_t at, acq_error *error)
{
    char *p = bytes;
    while (length > 0) {
        size_t piece = length < LARGEST_READ ? length : LARGEST_READ;
        ssize_t done = pread(file, p, piece, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_io(error);
        if (done == 0)
            return acq_completion_fail("it is cut off; copy or make it again", error);
        p += done;
        at += (uint64_t)done;
        length -= (size_t)done;
    }
    return ACQ_OK;
}

static acq_status open_file(acq_completion_stored *in, const char *path, acq_error *error)
{
    struct stat info;
    in->file = open(path, O_RDONLY | O_CLOEXEC);
    if (in->file < 0 && (errno == ENOENT || errno == ENOTDIR))
        return acq_fail(error, ACQ_ERR_INPUT, "there is no such file; check the path");
    if (in->file < 0 || fstat(in->file, &info) != 0)
        return fail_io(error);
    if (!S_ISREG(info.st_mode))
        return acq_fail(error, ACQ_ERR_INPUT, "this is not a file; name a completion file");
    in->length = (uint64_t)info.st_size;
    return ACQ_OK;
}

/* The header of either version; what version 1 lacks is 0. */
static acq_status read_fields(acq_completion_stored *in, acq_error *error)
{
    acq_completion_header *header = &in->header;
    size_t common = offsetof(acq_completion_header, calibrator_length);
    if (in->length < common)
        return acq_completion_fail("it is cut off; copy or make it again", error);
    acq_status status = get(in->file, header, common, 0, error);
    if (status == ACQ_OK) {
        const char *reason = acq_completion_check_frame(header, in->length);
        status = reason == NULL ? ACQ_OK : acq_completion_fail(reason, error);
    }
    if (status == ACQ_OK)
        status = get(in->file, (char *)header + common,
                     acq_completion_get_header_size(header) - common, common, error);
    return status;
}

static acq_status read_header(acq_completion_stored *in, acq_error *error)
{
    const char *reason;
    size_t known = in->length < 8 ? (size_t)in->length : 8;
    acq_status status = get(in->file, &in->header, known, 0, error);
    if (status != ACQ_OK)
        return status;
    if (known == 0 || memcmp(in->header.magic, ACQ_COMPLETION_MAGIC, known) != 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this is not a completion file; make one with anycq complete");
    status = read_fields(in, error);
    if (status != ACQ_OK)
        return status;
    status = get(in->file, in->name, acq_pad8(in->header.name_length),
                 acq_completion_get_header_size(&in->header), error);
    if (status != ACQ_OK)
        return status;
    reason = acq_completion_check_header(&in->header, in->name, in->length);
    return reason == NULL ? ACQ_OK : acq_completion_fail(reason, error);
}

static acq_status read_directory(acq_completion_stored *in, acq_error *error)
{
    in->entries = acq_alloc(in->header.n_relations, sizeof *in->entries);
    if (in->entries == NULL)
        return acq_fail_memory(error);
    acq_status status = get(in->file, in->entries, in->header.n_relations * sizeof *in->entries,
                            in->header.directory_offset, error);
    if (status != ACQ_OK)
        return status;
    const char *reason = acq_completion_check_directory(&in->header, in->entries);
    return reason == NULL ? ACQ_OK : acq_completion_fail(reason, error);
}

void acq_completion_stored_close(acq_completion_stored *in)
{
    if (in->file >= 0)
        close(in->file);
    acq_free(in->entries);
}

acq_status acq_completion_stored_open(acq_completion_stored *in, const char *path, acq_error *error)
{
    *in = (acq_completion_stored){.file = -1};
    acq_status status = open_file(in, path, error);
    if (status == ACQ_OK)
        status = read_header(in, error);
    if (status == ACQ_OK)
        status = read_directory(in, error);
    if (status != ACQ_OK) {
        acq_completion_stored_close(in);
        acq_error_set_file(error, path);
    }
    return status;
}

acq_status acq_completion_stored_read_block(const acq_completion_stored *in, acq_rel relation,
                                            void **bytes, acq_completion_block *block,
                                            acq_error *error)
{
    const acq_completion_entry *entry = &in->entries[relation];
    void *memory = acq_alloc(1, entry->length);
    if (memory == NULL)
        return acq_fail_memory(error);
    acq_status status = get(in->file, memory, entry->length, entry->offset, error);
    if (status == ACQ_OK) {
        const char *reason = "a block does not match its checksum; copy or make it again";
        *block = acq_completion_view_block(memory, entry, in->header.n_entities);
        if (acq_completion_block_checksum(memory, entry->length, relation) == entry->checksum)
            reason = acq_completion_check_block(block);
        if (reason != NULL)
            status = acq_completion_fail(reason, error);
    }
    if (status != ACQ_OK)
        acq_free(memory);
    else
        *bytes = memory;
    return status;
}

acq_status acq_completion_stored_read_calibrator(const acq_completion_stored *in, void **bytes,
                                                 acq_error *error)
{
    const acq_completion_header *header = &in->header;
    uint64_t length = header->calibrator_length;
    void *memory = acq_alloc(1, acq_pad8(length));
    if (memory == NULL)
        return acq_fail_memory(error);
    acq_status status =
        get(in->file, memory, acq_pad8(length), acq_completion_get_blocks_end(header), error);
    if (status == ACQ_OK &&
        acq_completion_calibrator_checksum(memory, length) != header->calibrator_checksum)
        status = acq_completion_fail(
            "its calibrator does not match its checksum; copy or make it again", error);
    if (status != ACQ_OK)
        acq_free(memory);
    else
        *bytes = memory;
    return status;
}
