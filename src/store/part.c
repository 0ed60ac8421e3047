/* part.c - links to bytes and the checks on the way back; see part.h.
 *
 * The checksum chains acq_hash_bytes over the numbers of the header, heads, lengths and tails, so
 * that a reader can take the arrays to where they belong and still verify them. */
#include "store/part.h"

#include <endian.h>
#include <string.h>

#include "base/memory.h"
#include "base/hash.h"

static const char MAGIC[4] = {'A', 'C', 'Q', 'L'};

enum { WORD = sizeof(uint32_t) };

void acq_part_begin(acq_part *part, acq_rel directed, uint32_t number)
{
    part->directed = directed;
    part->number = number;
    part->n_heads = 0;
    part->n_links = 0;
}

void acq_part_deinit(acq_part *part)
{
    acq_free(part->heads);
    acq_free(part->lengths);
    acq_free(part->tails);
    acq_free(part->body);
    *part = (acq_part){0};
}

acq_status acq_part_add(acq_part *part, acq_ent head, acq_ent tail)
{
    if (part->n_links == part->tails_capacity &&
        ACQ_RESERVE(part->tails, part->tails_capacity, part->n_links + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (part->n_heads == 0 || part->heads[part->n_heads - 1] != head) {
        if (ACQ_RESERVE(part->heads, part->heads_capacity, part->n_heads + 1) != ACQ_OK ||
            ACQ_RESERVE(part->lengths, part->lengths_capacity, part->n_heads + 1) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        part->heads[part->n_heads] = head;
        part->lengths[part->n_heads++] = 0;
    }
    part->lengths[part->n_heads - 1]++;
    part->tails[part->n_links++] = tail;
    return ACQ_OK;
}

void acq_part_swap(uint32_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        numbers[i] = le32toh(numbers[i]);
}

uint64_t acq_part_checksum(const acq_part_header *header, const void *heads, const void *lengths,
                           const void *tails)
{
    uint64_t hash = acq_hash_word(header->directed, header->number);
    hash = acq_hash_word(hash, header->n_heads);
    hash = acq_hash_word(hash, header->n_links);
    hash = acq_hash_bytes(heads, (size_t)header->n_heads * WORD, hash);
    hash = acq_hash_bytes(lengths, (size_t)header->n_heads * WORD, hash);
    return acq_hash_bytes(tails, (size_t)header->n_links * WORD, hash);
}

static unsigned char *put_array(unsigned char *at, uint32_t *numbers, size_t n)
{
    acq_part_swap(numbers, n);
    if (n > 0)
        memcpy(at, numbers, n * WORD);
    return at + n * WORD;
}

static void put_header(unsigned char *at, const acq_part_header *header)
{
    uint32_t numbers[5] = {header->directed, header->number, header->n_heads, header->n_links, 0};
    uint64_t checksum = htole64(header->checksum);
    acq_part_swap(numbers, 5);
    memcpy(at, MAGIC, sizeof MAGIC);
    memcpy(at + sizeof MAGIC, numbers, sizeof numbers);
    memcpy(at + sizeof MAGIC + sizeof numbers, &checksum, sizeof checksum);
}

acq_status acq_part_encode(acq_part *part, uint64_t *checksum)
{
    size_t length = ACQ_PART_HEADER + WORD * (2 * part->n_heads + part->n_links);
    if (ACQ_RESERVE(part->body, part->body_capacity, length) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_part_header header = {.directed = part->directed,
                              .number = part->number,
                              .n_heads = (uint32_t)part->n_heads,
                              .n_links = (uint32_t)part->n_links};
    unsigned char *heads = part->body + ACQ_PART_HEADER;
    unsigned char *lengths = put_array(heads, part->heads, part->n_heads);
    unsigned char *tails = put_array(lengths, part->lengths, part->n_heads);
    put_array(tails, part->tails, part->n_links);
    header.checksum = acq_part_checksum(&header, heads, lengths, tails);
    put_header(part->body, &header);
    part->body_length = length;
    *checksum = header.checksum;
    return ACQ_OK;
}

const char *acq_part_read_header(const unsigned char bytes[ACQ_PART_HEADER], uint64_t body_length,
                                 acq_part_header *out)
{
    uint32_t numbers[5];
    uint64_t checksum;
    memcpy(numbers, bytes + sizeof MAGIC, sizeof numbers);
    memcpy(&checksum, bytes + sizeof MAGIC + sizeof numbers, sizeof checksum);
    acq_part_swap(numbers, 5);
    *out = (acq_part_header){.directed = numbers[0],
                             .number = numbers[1],
                             .n_heads = numbers[2],
                             .n_links = numbers[3],
                             .checksum = le64toh(checksum)};
    if (memcmp(bytes, MAGIC, sizeof MAGIC) != 0 || numbers[4] != 0)
        return "a part of the links has no mark";
    if (out->n_heads == 0 || out->n_heads > out->n_links || out->n_links > ACQ_PART_MOST_LINKS ||
        body_length != ACQ_PART_HEADER + (uint64_t)WORD * (2ULL * out->n_heads + out->n_links))
        return "a part of the links has the wrong length";
    return NULL;
}
