/* completion_format.c - lengths, checksums and checks of a completion file's frame.
 *
 * Checks run before any number of the file is used as a size or a place: first the fixed
 * fields against the length of the file, then checksums, then each directory entry. */
#include "predict/completion_format.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

uint64_t acq_completion_block_length(uint32_t n_heads, uint32_t n_links)
{
    uint64_t words = 2 * (uint64_t)n_heads + 1 + n_links;
    return acq_pad8(words * sizeof(uint32_t) + (uint64_t)n_links * sizeof(uint16_t));
}

uint64_t acq_completion_header_checksum(const acq_completion_header *header, const char *name)
{
    uint32_t size = acq_completion_get_header_size(header);
    uint32_t end = offsetof(acq_completion_header, calibrator_length);
    uint64_t hash = acq_hash_bytes(header, offsetof(acq_completion_header, checksum), 0);
    if (size > end)
        hash = acq_hash_bytes((const char *)header + end, size - end, hash);
    return acq_hash_bytes(name, acq_pad8(header->name_length), hash);
}

uint64_t acq_completion_block_checksum(const void *block, size_t length, acq_rel relation)
{
    return acq_hash_bytes(block, length, (uint64_t)relation + 1);
}

uint64_t acq_completion_calibrator_checksum(const void *padded, uint64_t length)
{
    return length == 0 ? 0 : acq_hash_bytes(padded, acq_pad8(length), length);
}

uint64_t acq_completion_directory_checksum(const acq_completion_entry *entries, uint32_t n)
{
    return acq_hash_bytes(entries, (size_t)n * sizeof *entries, n);
}

const char *acq_completion_check_frame(const acq_completion_header *header, uint64_t length)
{
    if (header->version > ACQ_COMPLETION_VERSION)
        return "it was written by a newer version of anycq; upgrade to read it";
    if (header->version == 0)
        return "its version number is 0; it is damaged, make it again";
    if (header->file_length > length)
        return "it is cut off; copy or make it again";
    if (header->file_length < length)
        return "it has bytes after its end; copy or make it again";
    if (header->name_length > ACQ_COMPLETION_NAME_MOST ||
        header->header_length !=
            acq_completion_get_header_size(header) + acq_pad8(header->name_length) ||
        header->header_length > length)
        return "its header is damaged; copy or make it again";
    return NULL;
}

const char *acq_completion_check_header(const acq_completion_header *header, const char *name,
                                        uint64_t length)
{
    if (acq_completion_header_checksum(header, name) != header->checksum)
        return "its header does not match its checksum; copy or make it again";
    uint64_t directory = (uint64_t)header->n_relations * sizeof(acq_completion_entry);
    if (header->directory_offset < header->header_length || header->directory_offset > length ||
        header->directory_offset % 8 != 0 || length - header->directory_offset != directory)
        return "its directory is misplaced; make it again";
    if (header->n_relations % 2 != 0)
        return "it has an odd number of relations; make it again";
    if (!(header->floor >= 0.0 && header->floor <= 1.0))
        return "its floor is not a score; make it again";
    if (header->calibrator_length > header->directory_offset ||
        acq_pad8(header->calibrator_length) > header->directory_offset - header->header_length)
        return "its calibrator does not fit into the file; make it again";
    if (header->shard_of == 0 ? header->shard_part != 0
                              : header->shard_of == 1 || header->shard_part >= header->shard_of)
        return "it says to be an impossible shard; make it again";
    if (memchr(name, '\0', header->name_length) != NULL)
        return "its predictor's name holds a NUL byte; make it again";
    return NULL;
}

static const char *check_entry(const acq_completion_header *header,
                               const acq_completion_entry *entry)
{
    if (entry->n_links == UINT32_MAX || entry->n_heads > entry->n_links ||
        entry->n_heads > header->n_entities)
        return "a directory entry has impossible counts; make it again";
    if (entry->length != acq_completion_block_length(entry->n_heads, entry->n_links))
        return "a block's length does not fit its counts; make it again";
    uint64_t end = acq_completion_get_blocks_end(header);
    if (entry->offset % 8 != 0 || entry->offset < header->header_length || entry->length > end ||
        entry->offset > end - entry->length)
        return "a block lies outside the file; make it again";
    return NULL;
}

const char *acq_completion_check_directory(const acq_completion_header *header,
                                           const acq_completion_entry *entries)
{
    uint64_t bytes = 0, links = 0;
    if (acq_completion_directory_checksum(entries, header->n_relations) !=
        header->directory_checksum)
        return "its directory does not match its checksum; copy or make it again";
    for (uint32_t r = 0; r < header->n_relations; r++) {
        const char *reason = check_entry(header, &entries[r]);
        if (reason != NULL)
            return reason;
        if (entries[r].n_links != entries[r ^ 1U].n_links)
            return "the two directions of a relation differ in size; make it again";
        bytes += entries[r].length;
        links += entries[r].n_links;
    }
    if (bytes != acq_completion_get_blocks_end(header) - header->header_length)
        return "its blocks do not fill the file; make it again";
    return links == header->n_links ? NULL : "its number of links is wrong; make it again";
}
