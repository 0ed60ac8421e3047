/* completion_file.c - scores as codes, checks of a completion file's frame, and its pieces.
 *
 * Checks run before any number of the file is used as a size or a place: first the fixed
 * fields against the length of the file, then checksums, then each directory entry, and each block
 * when it is read. Pieces are read, not mapped, so a file cut off later is an error and not a
 * signal. */
#include "predict/completion_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/search.h"
#include "graph/build.h"

enum { LARGEST_READ = 1 << 30 };

/* ---- codes ---- */

/* logit(0.9999) spread over the codes above one half. */
static const double STEP = 9.21024036697585 / (ACQ_CODE_PREDICTED - ACQ_CODE_HALF);

float acq_score_decode(uint16_t code)
{
    if (code == 0)
        return 0.0F;
    if (code == ACQ_CODE_CERTAIN)
        return 1.0F;
    if (code == ACQ_CODE_PREDICTED)
        return ACQ_SCORE_UNOBSERVED_MOST;
    double logit = ((int)code - ACQ_CODE_HALF) * STEP;
    return (float)(1.0 / (1.0 + exp(-logit)));
}

uint16_t acq_score_encode(float score)
{
    if (score >= 1.0F)
        return ACQ_CODE_CERTAIN;
    if (score >= ACQ_SCORE_UNOBSERVED_MOST)
        return ACQ_CODE_PREDICTED;
    if (!(score > 0.0F))
        return 0;
    double logit = log((double)score / (1.0 - (double)score));
    double code = ACQ_CODE_HALF + nearbyint(logit / STEP);
    return (uint16_t)(code < ACQ_CODE_LEAST       ? ACQ_CODE_LEAST
                      : code > ACQ_CODE_PREDICTED ? ACQ_CODE_PREDICTED
                                                  : code);
}

uint16_t acq_score_encode_floor(double floor)
{
    uint16_t code;
    ACQ_SEARCH(code, ACQ_CODE_LEAST, ACQ_CODE_CERTAIN, acq_score_decode(code) < (float)floor);
    return code;
}

/* ---- the frame ---- */

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

uint64_t acq_completion_attached_checksum(const void *padded, uint64_t length)
{
    return length == 0 ? 0 : acq_hash_bytes(padded, acq_pad8(length), length);
}

uint64_t acq_completion_directory_checksum(const acq_completion_entry *entries, uint32_t n)
{
    return acq_hash_bytes(entries, (size_t)n * sizeof *entries, n);
}

/* NULL, or why the header cannot be used; `length` is that of the file. */
static const char *check_frame(const acq_completion_header *header, uint64_t length)
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

/* The same after the whole header has been read; name is padded. */
static const char *check_header(const acq_completion_header *header, const char *name,
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
    uint64_t room = header->directory_offset - header->header_length;
    if (header->calibrator_length > room || acq_pad8(header->calibrator_length) > room)
        return "its calibrator does not fit into the file; make it again";
    room -= acq_pad8(header->calibrator_length);
    if (header->reasons_length > room || acq_pad8(header->reasons_length) > room)
        return "its reasons do not fit into the file; make it again";
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

static const char *check_directory(const acq_completion_header *header,
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

/* ---- blocks ---- */

static acq_completion_block view_block(const void *bytes, const acq_completion_entry *entry,
                                       uint32_t n_entities)
{
    const uint32_t *words = bytes;
    const uint32_t *offsets = words + entry->n_heads;
    const uint32_t *tails = offsets + entry->n_heads + 1;
    return (acq_completion_block){.rows = {.n_entities = n_entities,
                                           .n_heads = entry->n_heads,
                                           .n_links = entry->n_links,
                                           .heads = words,
                                           .offsets = offsets,
                                           .tails = tails},
                                  .codes = (const uint16_t *)(tails + entry->n_links)};
}

/* NULL, or which invariant the block breaks. O(links). */
static const char *check_block(const acq_completion_block *block)
{
    const char *reason = NULL;
    if (!acq_links_check(&block->rows, &reason))
        return reason;
    for (uint32_t i = 0; i < block->rows.n_links; i++) {
        if (block->codes[i] == 0)
            return "a score is not in (0, 1]";
    }
    return NULL;
}

uint64_t acq_completion_hash_block(const acq_completion_block *block, bool inverse)
{
    const acq_links *rows = &block->rows;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rows->n_heads; i++) {
        for (uint32_t j = rows->offsets[i]; j < rows->offsets[i + 1]; j++) {
            uint64_t head = inverse ? rows->tails[j] : rows->heads[i];
            uint64_t tail = inverse ? rows->heads[i] : rows->tails[j];
            sum += acq_random_mix((head << 32 | tail) + block->codes[j] * 0x9fb21c651e98df25ULL);
        }
    }
    return sum;
}

/* ---- an open file ---- */

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
    in->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not be waited for */
    if (in->file < 0 && (errno == ENOENT || errno == ENOTDIR))
        return acq_fail(error, ACQ_ERR_INPUT, "there is no such file; check the path");
    if (in->file < 0 || fstat(in->file, &info) != 0)
        return fail_io(error);
    if (!S_ISREG(info.st_mode))
        return acq_fail(error, ACQ_ERR_INPUT, "this is not a regular file; name a completion file");
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
        const char *reason = check_frame(header, in->length);
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
    reason = check_header(&in->header, in->name, in->length);
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
    const char *reason = check_directory(&in->header, in->entries);
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
        *block = view_block(memory, entry, in->header.n_entities);
        if (acq_completion_block_checksum(memory, entry->length, relation) == entry->checksum)
            reason = check_block(block);
        if (reason != NULL)
            status = acq_completion_fail(reason, error);
    }
    if (status != ACQ_OK)
        acq_free(memory);
    else
        *bytes = memory;
    return status;
}

/* ---- one row ---- */

/* The place of a head in a block, or ACQ_NO_ID: halves of the file's list, then a page of it. */
static acq_status find_head(const acq_completion_stored *in, const acq_completion_entry *entry,
                            acq_ent head, uint32_t *out, acq_error *error)
{
    enum { PAGE = 1024 };
    acq_ent page[PAGE], one = 0;
    uint32_t low = 0, high = entry->n_heads, i;
    acq_status status = ACQ_OK;
    while (high - low > PAGE && status == ACQ_OK) {
        uint32_t middle = low + (high - low) / 2;
        status = get(in->file, &one, sizeof one, entry->offset + middle * sizeof one, error);
        low = one <= head ? middle : low;
        high = one <= head ? high : middle;
    }
    uint32_t n = high - low;
    if (status == ACQ_OK)
        status = get(in->file, page, n * sizeof *page, entry->offset + low * sizeof *page, error);
    if (status != ACQ_OK)
        return status;
    ACQ_SEARCH(i, 0, n, page[i] < head);
    *out = i < n && page[i] == head ? low + i : ACQ_NO_ID;
    return ACQ_OK;
}

static acq_status check_row(const acq_completion_stored *in, const acq_completion_row *row,
                            acq_error *error)
{
    bool is_good = true;
    for (size_t i = 0; i < row->n; i++)
        is_good &= row->codes[i] != 0 && row->tails[i] < in->header.n_entities &&
                   (i == 0 || row->tails[i - 1] < row->tails[i]);
    return is_good ? ACQ_OK : acq_completion_fail("a row is damaged; copy or make it again", error);
}

static acq_status read_row(const acq_completion_stored *in, const acq_completion_entry *entry,
                           uint32_t place, acq_completion_row *row, acq_error *error)
{
    uint32_t span[2];
    uint64_t offsets = entry->offset + (uint64_t)entry->n_heads * sizeof *span;
    uint64_t tails = offsets + ((uint64_t)entry->n_heads + 1) * sizeof *span;
    uint64_t codes = tails + (uint64_t)entry->n_links * sizeof *span;
    acq_status status =
        get(in->file, span, sizeof span, offsets + (uint64_t)place * sizeof *span, error);
    if (status != ACQ_OK)
        return status;
    if (span[0] > span[1] || span[1] > entry->n_links)
        return acq_completion_fail("a row is damaged; copy or make it again", error);
    row->n = span[1] - span[0];
    if (ACQ_RESERVE(row->tails, row->tails_room, row->n) != ACQ_OK ||
        ACQ_RESERVE(row->codes, row->codes_room, row->n) != ACQ_OK)
        return acq_fail_memory(error);
    status = get(in->file, row->tails, row->n * sizeof *row->tails,
                 tails + (uint64_t)span[0] * sizeof *row->tails, error);
    if (status == ACQ_OK)
        status = get(in->file, row->codes, row->n * sizeof *row->codes,
                     codes + (uint64_t)span[0] * sizeof *row->codes, error);
    return status == ACQ_OK ? check_row(in, row, error) : status;
}

acq_status acq_completion_stored_read_row(const acq_completion_stored *in, acq_rel relation,
                                          acq_ent head, acq_completion_row *row, acq_error *error)
{
    const acq_completion_entry *entry = &in->entries[relation];
    uint32_t place = ACQ_NO_ID;
    row->n = 0;
    acq_status status = find_head(in, entry, head, &place, error);
    return status == ACQ_OK && place != ACQ_NO_ID ? read_row(in, entry, place, row, error) : status;
}

void acq_completion_row_deinit(acq_completion_row *row)
{
    acq_free(row->tails);
    acq_free(row->codes);
    *row = (acq_completion_row){0};
}

/* What lies between the blocks and the directory, padding included. */
static acq_status read_attached(const acq_completion_stored *in, uint64_t at, uint64_t length,
                                uint64_t checksum, const char *damaged, void **bytes,
                                acq_error *error)
{
    void *memory = acq_alloc(1, acq_pad8(length));
    if (memory == NULL)
        return acq_fail_memory(error);
    acq_status status = get(in->file, memory, acq_pad8(length), at, error);
    if (status == ACQ_OK && acq_completion_attached_checksum(memory, length) != checksum)
        status = acq_completion_fail(damaged, error);
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
    return read_attached(in, acq_completion_get_blocks_end(header), header->calibrator_length,
                         header->calibrator_checksum,
                         "its calibrator does not match its checksum; copy or make it again", bytes,
                         error);
}

acq_status acq_completion_stored_read_reasons(const acq_completion_stored *in, void **bytes,
                                              acq_error *error)
{
    const acq_completion_header *header = &in->header;
    return read_attached(in, acq_completion_get_reasons_begin(header), header->reasons_length,
                         header->reasons_checksum,
                         "its reasons do not match their checksum; copy or make it again", bytes,
                         error);
}
