/* completion_output.c - see completion_output.h. The header comes last: until then the file has
 * zeros in its place and no name. */
#include "predict/completion_output.h"

#include <string.h>

#include "base/memory.h"

/* The least version that can say all of it. */
static uint32_t get_version(const acq_completion_header *facts)
{
    return facts->calibrator_length == 0 && facts->shard_of == 0 ? 1 : ACQ_COMPLETION_VERSION;
}

static void fill_header(acq_completion_output *output, const acq_completion_header *facts)
{
    acq_completion_header *header = &output->header;
    *header = *facts;
    memcpy(header->magic, ACQ_COMPLETION_MAGIC, sizeof header->magic);
    header->version = get_version(facts);
    header->name_length = (uint32_t)strlen(output->name);
    header->header_length =
        acq_completion_get_header_size(header) + (uint32_t)acq_pad8(header->name_length);
    header->calibrator_checksum =
        acq_completion_calibrator_checksum(output->calibrator, header->calibrator_length);
    header->n_links = 0;
    output->at = header->header_length;
}

acq_status acq_completion_output_init(acq_completion_output *output, const char *path,
                                      const acq_completion_header *facts, const char *name,
                                      const void *calibrator, acq_error *error)
{
    *output = (acq_completion_output){.file = {.file = -1}, .calibrator = calibrator};
    memcpy(output->name, name, strlen(name));
    fill_header(output, facts);
    acq_status status = acq_new_file_init(&output->file, path, "the completion", error);
    output->entries = acq_zalloc(facts->n_relations, sizeof *output->entries);
    if (status == ACQ_OK && output->entries == NULL)
        status = acq_fail_memory(error);
    return status;
}

acq_status acq_completion_output_put(acq_completion_output *output, acq_rel relation,
                                     const void *block, uint32_t n_heads, uint32_t n_links,
                                     acq_error *error)
{
    uint64_t length = acq_completion_block_length(n_heads, n_links);
    output->entries[relation] = (acq_completion_entry){
        .offset = output->at,
        .length = length,
        .n_heads = n_heads,
        .n_links = n_links,
        .checksum = acq_completion_block_checksum(block, length, relation),
    };
    acq_status status = acq_new_file_put(&output->file, block, length, output->at, error);
    output->at += length;
    output->header.n_links += n_links;
    return status;
}

/* The bytes at the end of the file. */
static acq_status append(acq_completion_output *output, const void *bytes, uint64_t length,
                         acq_error *error)
{
    acq_status status =
        length == 0 ? ACQ_OK : acq_new_file_put(&output->file, bytes, length, output->at, error);
    output->at += length;
    return status;
}

static acq_status put_header(acq_completion_output *output, acq_error *error)
{
    acq_completion_header *header = &output->header;
    uint32_t size = acq_completion_get_header_size(header);
    header->file_length = output->at;
    header->checksum = acq_completion_header_checksum(header, output->name);
    acq_status status =
        acq_new_file_put(&output->file, output->name, acq_pad8(header->name_length), size, error);
    return status == ACQ_OK ? acq_new_file_put(&output->file, header, size, 0, error) : status;
}

acq_status acq_completion_output_finish(acq_completion_output *output, acq_error *error)
{
    acq_completion_header *header = &output->header;
    acq_status status =
        append(output, output->calibrator, acq_pad8(header->calibrator_length), error);
    header->directory_offset = output->at;
    header->directory_checksum =
        acq_completion_directory_checksum(output->entries, header->n_relations);
    if (status == ACQ_OK)
        status =
            append(output, output->entries, header->n_relations * sizeof *output->entries, error);
    if (status == ACQ_OK)
        status = put_header(output, error);
    return status == ACQ_OK ? acq_new_file_finish(&output->file, error) : status;
}

void acq_completion_output_deinit(acq_completion_output *output)
{
    acq_new_file_deinit(&output->file);
    acq_free(output->entries);
}
